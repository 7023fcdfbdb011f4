#include "tests/damage.h"

#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/compiled.h"
#include "tests/scenario.h"
#include "tests/support.h"

namespace noam::tests {

TEST(Damage, IsToldAndMended) {
  std::size_t runs = 0;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    const ParsedScenario parsed = parse_scenario(read_file(path));
    const ModelPointer model = model_of_file(parsed.scenario.model);
    for (const std::string& design : strategies_of(*model)) {
      SessionEngine engine(*model, design);
      run_scenario(parsed.scenario, engine);
      EXPECT_EQ(unseen_damage(engine).value_or(""), "") << path << " under " << design;
      ++runs;
    }
  }
  EXPECT_GE(runs, 100U);
}

TEST(Damage, IsReadByNobody) { EXPECT_EQ(use_of_broken_copy().value_or(""), ""); }

}  // namespace noam::tests
