#include "tests/scenario.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/reference/reference.h"
#include "tests/support.h"

// tests/scenarios: every file of it, against the models and on the engines.
namespace noam::tests {

namespace {

struct ScenarioFile {
  std::string name;
  Scenario scenario;
  std::vector<ScenarioError> errors;
};

std::vector<ScenarioFile> scenario_files() {
  std::vector<ScenarioFile> files;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    ParsedScenario parsed = parse_scenario(read_file(path));
    files.push_back(
        {path.lexically_relative(source_dir()).string(), std::move(parsed.scenario), std::move(parsed.errors)});
  }
  return files;
}

}  // namespace

TEST(ScenarioFiles, AreWithoutErrors) {
  for (const ScenarioFile& file : scenario_files())
    for (const ScenarioError& error : file.errors) ADD_FAILURE() << to_string(file.name, error);
}

TEST(ScenarioFiles, FitTheirModels) {
  for (const ScenarioFile& file : scenario_files())
    for (const ScenarioError& error : contradictions(file.scenario, *model_of_file(file.scenario.model)))
      ADD_FAILURE() << to_string(file.name, error);
}

TEST(ScenarioFiles, RunEveryStatementOfTheExamples) {
  std::map<std::string, std::set<std::string>> run;  // by model
  std::size_t questions = 0;
  for (const ScenarioFile& file : scenario_files()) {
    questions += file.scenario.questions();
    for (const Step& step : file.scenario.steps)
      if (step.expected.kind == AnswerKind::Applied || step.expected.kind == AnswerKind::Rows)
        run[file.scenario.model].insert(step.name);
  }
  for (const auto& path : files_below("examples", ".noam")) {
    const std::string name = path.lexically_relative(source_dir()).string();
    const ModelPointer model = model_of_file(path);
    for (const model::Query& query : model->queries)
      EXPECT_TRUE(run[name].count(query.name) != 0) << name << ": " << query.name;
    for (const model::Command& command : model->commands)
      EXPECT_TRUE(run[name].count(command.name) != 0) << name << ": " << command.name;
  }
  EXPECT_GE(questions, 300U);
}

// Every code that something in the examples can be refused for (`limit` takes 100,000 entries, which no plain text
// has).
TEST(ScenarioFiles, AreRefusedForEveryCode) {
  std::set<std::string> codes;
  for (const ScenarioFile& file : scenario_files())
    for (const Step& step : file.scenario.steps)
      if (step.expected.kind == AnswerKind::Refused) codes.insert(step.expected.code);
  EXPECT_EQ(codes, (std::set<std::string>{"absent", "exists", "expired", "key", "overflow", "owner", "position",
                                          "require", "required", "value"}));
}

TEST(ScenarioFiles, HoldOnTheReference) {
  for (const ScenarioFile& file : scenario_files()) {
    reference::Reference engine(*model_of_file(file.scenario.model));
    for (const ScenarioFailure& failure : run_scenario(file.scenario, engine))
      ADD_FAILURE() << to_string(file.name, failure);
  }
}

}  // namespace noam::tests
