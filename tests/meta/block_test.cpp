// The test of the simulation of transactions over blocks: with one rule left out, a kept seed shows what goes wrong.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/blocks/simulation.h"
#include "tests/meta/breakage_switch.h"
#include "tests/meta/checks.h"

namespace noam::tests::meta {
namespace {

struct Kept {
  Breakage breakage;
  const char* name;
  std::uint64_t seed;  // that shows it
};

void PrintTo(const Kept& one, std::ostream* out) { *out << one.name; }

constexpr std::array kept = {
    Kept{Breakage::ValidationSkipped, "ValidationSkipped", 27},
    Kept{Breakage::ValidatedBeforePrepare, "ValidatedBeforePrepare", 280},
    Kept{Breakage::ValidationIgnoresHold, "ValidationIgnoresHold", 3381},
    Kept{Breakage::HomeNotHeld, "HomeNotHeld", 1332},
    Kept{Breakage::PrepareChangesEntries, "PrepareChangesEntries", 16},
    Kept{Breakage::DoneMarkIgnored, "DoneMarkIgnored", 1},
    Kept{Breakage::NoDoneMark, "NoDoneMark", 1},
    Kept{Breakage::ForgottenEarly, "ForgottenEarly", 1},
    Kept{Breakage::ForgottenUnsure, "ForgottenUnsure", 11019},
    Kept{Breakage::JudgedByHoldOnly, "JudgedByHoldOnly", 1},
    Kept{Breakage::RemovedWithoutFence, "RemovedWithoutFence", 157},
    Kept{Breakage::FenceLeavesSequence, "FenceLeavesSequence", 16},
    Kept{Breakage::RemovalLeavesSequence, "RemovalLeavesSequence", 1216},
    Kept{Breakage::PatienceWithoutEnd, "PatienceWithoutEnd", 2},
    Kept{Breakage::UnknownTakenForFailed, "UnknownTakenForFailed", 11},
    Kept{Breakage::UnknownTakenForDone, "UnknownTakenForDone", 91},
    Kept{Breakage::UnknownReadBack, "UnknownReadBack", 129},
    Kept{Breakage::ReaderIgnoresHolds, "ReaderIgnoresHolds", 471},
    Kept{Breakage::ReaderPassesAllHolds, "ReaderPassesAllHolds", 7671},
    Kept{Breakage::PureHoldNotRechecked, "PureHoldNotRechecked", 3632},
    Kept{Breakage::QueryValidatesVersionsOnly, "QueryValidatesVersionsOnly", 2178},
    Kept{Breakage::GuardMissing, "GuardMissing", 1},
    Kept{Breakage::GuardDropped, "GuardDropped", 488},
};

static_assert(kept.size() == static_cast<std::size_t>(Breakage::GuardDropped) -
                                 static_cast<std::size_t>(Breakage::AppendForgotten),
              "each has its seed");

std::optional<std::string> wrong_with(Breakage breakage, std::uint64_t seed) {
  const Check check{"", [breakage, seed] {
                      const BreakageSwitch made(breakage);
                      return blocks::simulate(seed).wrong;
                    }};
  return run_isolated(check);
}

class BrokenBlocks : public ::testing::TestWithParam<Kept> {};

TEST_P(BrokenBlocks, IsNoticed) {
  const auto wrong = wrong_with(GetParam().breakage, GetParam().seed);
  EXPECT_TRUE(wrong) << "seed " << GetParam().seed << " does not show it any more; NOAM_SEARCH=100000 with "
                     << "--gtest_filter=BlockSeeds.* looks for others";
  EXPECT_EQ(blocks::simulate(GetParam().seed).wrong.value_or(""), "");
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenBlocks, ::testing::ValuesIn(kept),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Prints the first seed of each that shows it, of as many as NOAM_SEARCH says.
TEST(BlockSeeds, AreSearched) {
  const char* const most = std::getenv("NOAM_SEARCH");
  if (most == nullptr) GTEST_SKIP() << "only asked for";
  for (const Kept& one : kept) {
    std::uint64_t seed = 1;
    const std::uint64_t last = std::strtoull(most, nullptr, 10);
    for (; seed <= last; ++seed) {
      const BreakageSwitch made(one.breakage);
      if (blocks::simulate(seed).wrong) break;
    }
    std::cout << one.name << ": " << (seed <= last ? std::to_string(seed) : "none") << std::endl;
  }
}

}  // namespace
}  // namespace noam::tests::meta
