// What noam answers on Cassandra is what it answers in memory: the scenarios, and random programs against the reference
// evaluator.

#include "tests/scenario.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cassandra/on_cassandra.h"
#include "tests/compiled.h"
#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"
#include "tests/support.h"

namespace noam::tests {
namespace {

class ScenariosOnCassandra : public OnCassandra {};

struct Named {
  std::string name;
  Scenario scenario;
};

// By their models.
std::map<std::string, std::vector<Named>> scenarios() {
  std::map<std::string, std::vector<Named>> out;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    const std::string name = path.lexically_relative(source_dir()).string();
    ParsedScenario parsed = parse_scenario(read_file(path));
    EXPECT_TRUE(parsed.errors.empty()) << name;
    out[parsed.scenario.model].push_back({name, std::move(parsed.scenario)});
  }
  return out;
}

// Each design is deployed once. NOAM_DESIGNS=1: one design of each model, another one each day.
TEST_F(ScenariosOnCassandra, HoldUnderEveryDesign) {
  const char* const limit = std::getenv("NOAM_DESIGNS");
  const std::size_t most = limit != nullptr ? std::strtoull(limit, nullptr, 10) : 0;
  const std::time_t today = std::time(nullptr) / 86'400;
  std::size_t runs = 0;
  for (const auto& [file, all] : scenarios()) {
    const ModelPointer model = model_of_file(file);
    std::vector<std::string> designs = strategies_of(*model);
    if (most != 0 && designs.size() > most) {
      std::rotate(designs.begin(), designs.begin() + today % static_cast<std::time_t>(designs.size()), designs.end());
      designs.resize(most);
    }
    for (const std::string& design : designs) {
      std::cout << file << " under " << design << std::endl;
      keyspace().drop_tables();
      for (const auto& [name, scenario] : all) {
        keyspace().clear();
        SessionEngine engine(*model, design, keyspace());
        if (engine.needs_whole_collections()) break;
        ASSERT_EQ(engine.problem(), "") << name << " under " << design;
        for (const ScenarioFailure& failure : run_scenario(scenario, engine))
          ADD_FAILURE() << "under " << design << ": " << to_string(name, failure);
        EXPECT_EQ(engine.verify().value_or(""), "") << name << " under " << design;
        engine.reopen();
        EXPECT_EQ(engine.verify().value_or(""), "") << name << " under " << design << ", opened again";
        ++runs;
      }
    }
  }
  EXPECT_GT(runs, 5U);
}

// In one keyspace that is used again.
TEST_F(ScenariosOnCassandra, AndSoDoRandomPrograms) {
  property::Suite suite = property::suite_from_environment(20);
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr) suite.first_seed = 5'001;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  // Where a block is found by other parameters, nobody looks for the id of a command that had these.
  suite.options.without.insert("reuse");
  property::Engines engines;
  engines.tested = [&](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    keyspace().drop_tables();
    auto engine = std::make_unique<SessionEngine>(model, design, keyspace());
    return engine->needs_whole_collections() ? nullptr : std::move(engine);
  };
  engines.reference = [](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<reference::Reference>(model);
  };
  engines.verify = [](Engine& tested) { return dynamic_cast<SessionEngine&>(tested).verify(); };
  property::DriverOptions options;
  options.isolated = false;  // the driver of Cassandra does not go with a fork
  options.seconds = 120;
  const property::SuiteReport report = run_suite(suite, engines, options);
  std::cout << text(report);
  EXPECT_LE(report.not_taken * 2, report.cases);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

}  // namespace
}  // namespace noam::tests
