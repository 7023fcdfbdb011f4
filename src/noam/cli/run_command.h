#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"

// `noam run`: one statement, or many as lines of JSON (docs/commands/run.md).
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
  std::string reads;  // exact, fast; empty: exact
};

Command add_run_command(CommandLine& line, RunOptions& options);
int run_statements(const RunOptions& options);

// The exit code that tells a script what an answer says.
int exit_code(const Json& answer);

}  // namespace noam::cli
