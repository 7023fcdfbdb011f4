#include "noam/runtime/statistics.h"

#include <gtest/gtest.h>

namespace noam::runtime {
namespace {

using model::Datum;

TEST(Spread, IsExactOfSmallNumbers) {
  Spread spread;
  EXPECT_EQ(spread.average(), 0);
  EXPECT_EQ(spread.at(0.5), 0U);
  for (std::uint64_t i = 1; i <= 100; ++i) spread.add(i);
  EXPECT_EQ(spread.count(), 100U);
  EXPECT_DOUBLE_EQ(spread.average(), 50.5);
  EXPECT_EQ(spread.at(0.5), 50U);
  EXPECT_EQ(spread.at(0.99), 99U);
  EXPECT_EQ(spread.at(1), 100U);
  EXPECT_EQ(spread.largest(), 100U);
  spread.add(0, 300);
  EXPECT_EQ(spread.at(0.75), 0U);
  EXPECT_EQ(spread.at(0.76), 4U);
}

TEST(Spread, IsNearToLargeNumbers) {
  for (const std::uint64_t number : {1'023ULL, 1'024ULL, 1'025ULL, 2'047ULL, 2'048ULL, 1'000'000ULL, 1ULL << 62U,
                                     (1ULL << 63U) + 12'345ULL, ~0ULL}) {
    Spread spread;
    spread.add(number);
    EXPECT_EQ(spread.at(0.5), number) << "never above the largest";
    spread.add(~0ULL, 9);
    const std::uint64_t found = spread.at(0.1);
    EXPECT_GE(found, number);
    EXPECT_LE(found - number, number / 32) << number;
  }
}

TEST(ValueSample, IsExactAsLongAsThereAreFew) {
  ValueSample sample;
  for (int i = 0; i < 16'384; ++i)
    for (int times = 0; times < 2; ++times) sample.add(i);
  EXPECT_TRUE(sample.exact());
  EXPECT_EQ(sample.distinct(), 16'384);
  for (const auto& [hash, count] : sample.counts()) EXPECT_EQ(count, 2U);
}

TEST(ValueSample, IsNearWhereThereAreMany) {
  ValueSample sample;
  for (int i = 0; i < 300'000; ++i) sample.add(Datum("value " + std::to_string(i)));
  for (int i = 0; i < 300'000; ++i) sample.add(Datum("value " + std::to_string(i)));
  EXPECT_FALSE(sample.exact());
  EXPECT_LE(sample.counts().size(), ValueSample::most);
  EXPECT_NEAR(sample.distinct(), 300'000, 12'000);
  // Those in the sample were counted from the beginning.
  for (const auto& [hash, count] : sample.counts()) EXPECT_EQ(count, 2U);
}

}  // namespace
}  // namespace noam::runtime
