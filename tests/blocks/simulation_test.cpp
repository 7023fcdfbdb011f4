// Transactions over blocks, where everything goes wrong that can.

#include "tests/blocks/simulation.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace noam::tests::blocks {
namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* const given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

// NOAM_SEED begins with another seed, NOAM_SEEDS tries more of them.
TEST(BlockSimulation, HasASerialOrder) {
  const std::uint64_t first = number_of("NOAM_SEED", 1);
  const std::uint64_t count = number_of("NOAM_SEEDS", 2'000);
  SimulationResult sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const SimulationResult result = simulate(seed);
    ASSERT_FALSE(result.wrong) << "NOAM_SEED=" << seed << " NOAM_SEEDS=1\n" << *result.wrong;
    sum.steps += result.steps;
    sum.commands += result.commands;
    sum.killed += result.killed;
    sum.unknown += result.unknown;
    sum.writes += result.writes;
  }
  // Else nothing has gone wrong, and this shows nothing.
  if (count >= 1'000) {
    EXPECT_GT(sum.killed, count / 10);
    EXPECT_GT(sum.unknown, count / 2);
  }
  RecordProperty("steps", std::to_string(sum.steps));
  std::cout << count << " seeds: " << sum.steps << " steps, " << sum.commands << " commands applied, " << sum.writes
            << " writes, " << sum.unknown << " of them unknown, " << sum.killed << " processes killed\n";
}

TEST(BlockSimulation, DoesTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationResult first = simulate(seed);
    const SimulationResult second = simulate(seed);
    EXPECT_EQ(first.steps, second.steps) << seed;
    EXPECT_EQ(first.writes, second.writes) << seed;
  }
}

}  // namespace
}  // namespace noam::tests::blocks
