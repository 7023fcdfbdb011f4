#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "noam/base/result.h"
#include "noam/cli/opening.h"
#include "noam/model/model.h"

// `noam run`: one statement, or many as lines of JSON (docs/run.md).
namespace noam::cli {

struct RunOptions {
  OpeningOptions opening;
  std::string statement;
  std::vector<std::string> arguments;  // name=value
  std::optional<std::string> params;   // JSON
  std::optional<std::string> id;
  std::optional<std::string> cursor;
  std::string after;  // a file of requests that are run before; `-`: standard input
  bool json = false;
  bool batch = false;
};

CLI::App* add_run_command(CLI::App& app, RunOptions& options);
int run_statements(const RunOptions& options);

// What a value on the command line stands for, as JSON of the type: texts are taken as they are, and so are other
// scalars where they are written as in JSON but without quotes; everything else is JSON. What is no value of the type
// is handed on, for the session to refuse; an error where it is not even JSON.
Result<nlohmann::ordered_json> read_argument(const model::Model& model, const model::Type& type,
                                             const std::string& text);

// The exit code that tells a script what an answer says.
int exit_code(const nlohmann::ordered_json& answer);

// The rows of an answer for a person: columns under their names, or, where they are too wide for a page, one value a
// line. `row` is the type of a row.
std::string rows_text(const model::Type& row, const nlohmann::ordered_json& rows);

}  // namespace noam::cli
