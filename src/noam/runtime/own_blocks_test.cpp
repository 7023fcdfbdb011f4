#include "noam/runtime/own_blocks.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace noam::runtime {
namespace {

using model::Datum;

constexpr std::int64_t day = 86'400'000;

TEST(OwnBlocks, AreOneUnlessTheStoreSpreadsThem) {
  const stores::Capabilities one;
  EXPECT_EQ(due_block(one, Datum(5 * day), Datum("a")), own_block());
  EXPECT_EQ(due_blocks(one, 0, 100 * day), std::vector<stores::Key>{own_block()});
  EXPECT_EQ(refreshed_block(one, Datum(5 * day)), own_block());
}

TEST(OwnBlocks, OfWhatIsDueAreFoundByItsTime) {
  stores::Capabilities many;
  many.spreads_own = true;
  EXPECT_EQ(due_blocks(many, 5 * day, 5 * day).size(), 16U);
  EXPECT_EQ(due_blocks(many, 5 * day, 7 * day - 1).size(), 32U);
  for (const std::int64_t due : {std::int64_t{-1}, std::int64_t{0}, day - 1, day, 20'000 * day + 1}) {
    for (const char* key : {"a", "b", "c", "d"}) {
      const auto blocks = due_blocks(many, due, due);
      EXPECT_EQ(std::count(blocks.begin(), blocks.end(), due_block(many, Datum(due), Datum(key))), 1) << due;
    }
  }
  EXPECT_NE(refreshed_block(many, Datum(1)), refreshed_block(many, Datum(2)));
}

}  // namespace
}  // namespace noam::runtime
