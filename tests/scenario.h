#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/model.h"
#include "tests/engine.h"

// Scenarios: what is done to a model and what it then answers, as plain text. tests/scenarios/README.md has the form.
namespace noam::tests {

enum class AnswerKind : std::uint8_t { Applied, Refused, Rows, Error };

struct ExpectedAnswer {
  AnswerKind kind = AnswerKind::Applied;
  std::string code;                   // Refused, Error
  std::vector<std::string> keys;      // Applied: a name without its $; empty: any key
  std::optional<std::int64_t> count;  // Applied: of a bulk change
  bool ordered = false;               // Rows
  bool more = false;                  // Rows: a cursor comes with them
  std::vector<std::string> columns;   // Rows: none where there are no rows
  std::vector<Json> rows;             // Rows: objects; a text `$name` stands for a key that was bound

  bool operator==(const ExpectedAnswer&) const = default;
};

enum class StepKind : std::uint8_t { Clock, Command, Query, Next, Refresh, Expire };

struct Step {
  StepKind kind = StepKind::Expire;
  std::size_t line = 0;     // from 1
  std::string name;         // Command, Query, Next (of the query that goes on), Refresh
  std::string id;           // Command: the name of its id; empty: the engine makes one
  Json parameters;          // Command, Query, Next
  std::int64_t time = 0;    // Clock
  ExpectedAnswer expected;  // Command, Query, Next

  bool operator==(const Step&) const = default;
};

struct Scenario {
  std::string model;  // its file, from the root of the project
  std::vector<Step> steps;

  bool operator==(const Scenario&) const = default;

  [[nodiscard]] std::size_t questions() const;  // queries, and further pages of them
};

struct ScenarioError {
  std::size_t line = 0;
  std::string message;

  bool operator==(const ScenarioError&) const = default;
};

struct ParsedScenario {
  Scenario scenario;                  // to be used only where there are no errors
  std::vector<ScenarioError> errors;  // in the order of lines
};

ParsedScenario parse_scenario(std::string_view text);

// Where the scenario does not fit its model: unknown statements, parameters and columns, and rows that are said to be
// ordered, or not, against what the query says.
std::vector<ScenarioError> contradictions(const Scenario& scenario, const model::Model& model);

struct ScenarioFailure {
  std::size_t line = 0;
  std::string statement;
  std::string expected;
  std::string found;
};

// Runs the steps on an engine that is empty, all of them whatever fails on the way.
std::vector<ScenarioFailure> run_scenario(const Scenario& scenario, Engine& engine);

std::string to_string(const std::string& file, const ScenarioError& error);
std::string to_string(const std::string& file, const ScenarioFailure& failure);

}  // namespace noam::tests
