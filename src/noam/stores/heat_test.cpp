#include "noam/stores/heat.h"

#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

namespace noam::stores {
namespace {

BlockRef block(int number) { return {0, {number}}; }

void touch(Heat& heat, int number, int times, Access access = Access::Read) {
  for (int i = 0; i < times; ++i) heat.touch(block(number), access);
}

TEST(Heat, CountsReadsAndWritesOfBlocks) {
  Heat heat({.one_in = 1});
  touch(heat, 1, 5);
  touch(heat, 2, 6);
  touch(heat, 1, 9, Access::Write);
  const std::vector<HotBlock> expected = {{block(1), 5, 9, 0.7}, {block(2), 6, 0, 0.3}};
  EXPECT_EQ(heat.hottest(10), expected);
  EXPECT_EQ(heat.hottest(1), std::vector(1, expected[0]));
  EXPECT_EQ(heat.accesses(), 20U);
  heat.clear();
  EXPECT_TRUE(heat.hottest(10).empty());
  EXPECT_EQ(heat.accesses(), 0U);
}

TEST(Heat, TellsBlocksOfTwoCollectionsApart) {
  Heat heat({.one_in = 1});
  heat.touch({0, {"a"}}, Access::Read);
  heat.touch({1, {"a"}}, Access::Read);
  EXPECT_EQ(heat.hottest(10).size(), 2U);
}

// Of a million blocks, each asked for once, and one that is asked for by every tenth access.
TEST(Heat, FindsTheHotOneAmongMoreBlocksThanItCounts) {
  Heat heat({.counters = 16, .one_in = 1});
  for (int i = 0; i < 100'000; ++i) {
    heat.touch(block(i), Access::Read);
    if (i % 9 == 0) heat.touch(block(-1), Access::Write);
  }
  const std::vector<HotBlock> found = heat.hottest(16);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].block, block(-1));
  EXPECT_LE(found[0].writes, 11'112U);
  EXPECT_GT(found[0].writes, 11'000U);
  EXPECT_NEAR(found[0].share, 0.1, 0.01);
  // What is certain of the others is next to nothing.
  EXPECT_LE(found[1].reads, 2U);
}

// What the way of counting promises, whatever comes in whatever order.
TEST(Heat, KeepsWhoeverIsAskedForMoreOftenThanOneInTheCounters) {
  constexpr std::size_t counters = 8;
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (int run = 0; run < 50; ++run) {
    Heat heat({.counters = counters, .one_in = 1});
    std::map<int, std::uint64_t> asked;
    const int total = 200 + static_cast<int>(random() % 2'000);
    const std::size_t some = 1 + random() % 6;
    for (int i = 0; i < total; ++i) {
      const int number = static_cast<int>(random() % (random() % 2 == 0 ? some : 500));
      heat.touch(block(number), Access::Read);
      ++asked[number];
    }
    std::map<int, std::uint64_t> found;
    for (const HotBlock& hot : heat.hottest(counters)) found[static_cast<int>(hot.block.key[0].as_int())] = hot.reads;
    for (const auto& [number, times] : found) EXPECT_LE(times, asked[number]) << number;
    for (const auto& [number, times] : asked) {
      if (times <= static_cast<std::uint64_t>(total) / counters) continue;
      EXPECT_TRUE(found.contains(number)) << number;
    }
  }
}

TEST(Heat, ScalesASampleUp) {
  Heat heat({.one_in = 16});
  for (int i = 0; i < 160'000; ++i) {
    // A rhythm of the sample's own length.
    heat.touch(block(i % 16), Access::Read);
    if (i % 2 == 0) heat.touch(block(100), Access::Write);
  }
  EXPECT_NEAR(static_cast<double>(heat.accesses()), 240'000, 12'000);
  const std::vector<HotBlock> found = heat.hottest(100);
  ASSERT_EQ(found.size(), 17U);
  EXPECT_EQ(found[0].block, block(100));
  EXPECT_NEAR(found[0].share, 1.0 / 3, 0.03);
  EXPECT_EQ(found[0].reads, 0U);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_NEAR(static_cast<double>(found[i].reads), 10'000, 3'000);
}

TEST(Heat, AddsUpWhenMerged) {
  Heat a({.counters = 3, .one_in = 1});
  Heat b({.counters = 3, .one_in = 1});
  touch(a, 1, 10);
  touch(a, 2, 4);
  touch(b, 1, 1, Access::Write);
  touch(b, 3, 20);
  touch(b, 4, 2);
  a.merge(b);
  const std::vector<HotBlock> expected = {
      {block(3), 20, 0, 20.0 / 37}, {block(1), 10, 1, 11.0 / 37}, {block(2), 4, 0, 4.0 / 37}};
  EXPECT_EQ(a.hottest(10), expected);
  EXPECT_EQ(a.accesses(), 37U);
}

TEST(Heat, SurvivesAsBytes) {
  Heat heat({.one_in = 1});
  heat.touch({3, {"text", 7, true, 0.5, model::Decimal::from_canonical("1.5"), model::Datum(), Key{1, "x"}}},
             Access::Write);
  touch(heat, 1, 3);
  Heat again({.one_in = 1});
  touch(again, 1, 1);
  ASSERT_TRUE(again.merge_bytes(heat.to_bytes()));
  EXPECT_EQ(again.accesses(), 5U);
  const std::vector<HotBlock> found = again.hottest(10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].reads, 4U);
  EXPECT_EQ(found[1].block, heat.hottest(10)[1].block);
  EXPECT_EQ(found[1].writes, 1U);
}

TEST(Heat, RefusesOtherBytes) {
  Heat heat({.one_in = 1});
  touch(heat, 1, 3);
  const std::string bytes = heat.to_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(heat.merge_bytes(std::string_view(bytes).substr(0, length))) << length;
  EXPECT_FALSE(heat.merge_bytes(bytes + "x"));
  EXPECT_FALSE(heat.merge_bytes("something else"));
  EXPECT_FALSE(Heat().merge_bytes(bytes)) << "another sample";
  EXPECT_EQ(heat.accesses(), 3U);
}

TEST(Heat, IsSafeFromSeveralThreads) {
  Heat heat({.counters = 8, .one_in = 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&heat, t] {
      for (int i = 0; i < 5'000; ++i) {
        heat.touch(block(7), Access::Read);
        heat.touch(block(100 * t + i % 50), Access::Write);
        if (i % 1'000 == 0) {
          EXPECT_LE(heat.hottest(3).size(), 3U);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heat.accesses(), 40'000U);
  EXPECT_EQ(heat.hottest(1).at(0).reads, 20'000U);
}

}  // namespace
}  // namespace noam::stores
