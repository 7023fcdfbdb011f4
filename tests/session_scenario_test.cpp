#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/compiled.h"
#include "tests/scenario.h"
#include "tests/session_engine.h"
#include "tests/support.h"

namespace noam::tests {

namespace {

// Every scenario, under every strategy and every design of its model: the same answers, and every copy right, also
// after the store was closed and opened again.
void run_all(Where where) {
  std::size_t runs = 0;
  std::size_t refused = 0;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    const std::string name = path.lexically_relative(source_dir()).string();
    const ParsedScenario parsed = parse_scenario(read_file(path));
    ASSERT_TRUE(parsed.errors.empty()) << name;
    const ModelPointer model = model_of_file(parsed.scenario.model);
    for (const std::string& design : strategies_of(*model)) {
      SessionEngine engine(*model, design, where);
      if (engine.needs_whole_collections()) {
        ++refused;
        continue;
      }
      ASSERT_EQ(engine.problem(), "") << name << " under " << design;
      for (const ScenarioFailure& failure : run_scenario(parsed.scenario, engine))
        ADD_FAILURE() << "under " << design << ": " << to_string(name, failure);
      EXPECT_EQ(engine.verify().value_or(""), "") << name << " under " << design;
      engine.reopen();
      EXPECT_EQ(engine.verify().value_or(""), "") << name << " under " << design << ", opened again";
      ++runs;
    }
  }
  EXPECT_GE(runs, 100U);
  EXPECT_LE(refused, runs / 10);
}

}  // namespace

TEST(ScenarioFiles, HoldUnderEveryDesignInMemory) { run_all(Where::Memory); }

TEST(ScenarioFiles, HoldUnderEveryDesignInAFolder) { run_all(Where::Folder); }

TEST(ScenarioFiles, HoldUnderEveryDesignInADatabaseOfBlocks) { run_all(Where::Blocks); }

}  // namespace noam::tests
