// The test of the simulation of transactions over blocks: with one rule left out, a kept seed shows what goes wrong.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
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
    Kept{Breakage::ValidationSkipped, "ValidationSkipped", 2},
    Kept{Breakage::ValidatedBeforePrepare, "ValidatedBeforePrepare", 1193},
    Kept{Breakage::ValidationIgnoresHold, "ValidationIgnoresHold", 278},
    Kept{Breakage::HomeNotHeld, "HomeNotHeld", 1533},
    Kept{Breakage::PrepareChangesEntries, "PrepareChangesEntries", 2},
    Kept{Breakage::DoneMarkIgnored, "DoneMarkIgnored", 17},
    Kept{Breakage::NoDoneMark, "NoDoneMark", 17},
    Kept{Breakage::ForgottenEarly, "ForgottenEarly", 19},
    Kept{Breakage::ForgottenUnsure, "ForgottenUnsure", 16912},
    Kept{Breakage::JudgedByHoldOnly, "JudgedByHoldOnly", 18},
    Kept{Breakage::RemovedWithoutFence, "RemovedWithoutFence", 2473},
    Kept{Breakage::FenceLeavesSequence, "FenceLeavesSequence", 145},
    Kept{Breakage::RemovalLeavesSequence, "RemovalLeavesSequence", 2134},
    Kept{Breakage::PatienceWithoutEnd, "PatienceWithoutEnd", 2},
    Kept{Breakage::UnknownTakenForFailed, "UnknownTakenForFailed", 88},
    Kept{Breakage::UnknownTakenForDone, "UnknownTakenForDone", 16},
    Kept{Breakage::UnknownReadBack, "UnknownReadBack", 91},
    Kept{Breakage::ReaderIgnoresHolds, "ReaderIgnoresHolds", 156},
    Kept{Breakage::ReaderPassesAllHolds, "ReaderPassesAllHolds", 5658},
    Kept{Breakage::PureHoldNotRechecked, "PureHoldNotRechecked", 440},
    Kept{Breakage::QueryValidatesVersionsOnly, "QueryValidatesVersionsOnly", 440},
    Kept{Breakage::GuardMissing, "GuardMissing", 17},
    Kept{Breakage::GuardDropped, "GuardDropped", 471},
    Kept{Breakage::AcknowledgedEarly, "AcknowledgedEarly", 2},
    Kept{Breakage::PrepareIgnoresSequence, "PrepareIgnoresSequence", 22},
    Kept{Breakage::CommitOnNewerHead, "CommitOnNewerHead", 200},
    Kept{Breakage::FinishBlind, "FinishBlind", 144},
    Kept{Breakage::FinishAnyHold, "FinishAnyHold", 3},
    Kept{Breakage::ForgetBlind, "ForgetBlind", 16337},
    Kept{Breakage::LastIdOnly, "LastIdOnly", 8041},
    Kept{Breakage::TransactionIdReused, "TransactionIdReused", 3},
    Kept{Breakage::AbortAfterUnknown, "AbortAfterUnknown", 16},
    Kept{Breakage::QueryNotValidated, "QueryNotValidated", 18},
    Kept{Breakage::RefusalNotValidated, "RefusalNotValidated", 197},
    Kept{Breakage::GravestoneEarly, "GravestoneEarly", 4264},
    Kept{Breakage::NumbersRestart, "NumbersRestart", 92362},
    Kept{Breakage::GuardByState, "GuardByState", 52},
};

static_assert(kept.size() == static_cast<std::size_t>(Breakage::GuardByState) -
                                 static_cast<std::size_t>(Breakage::AppendForgotten),
              "each has its seed");

// Of a database that breaks its promises; the simulation has to notice that, too.
struct KeptFault {
  blocks::Fault fault;
  const char* name;
  std::uint64_t seed;
};

void PrintTo(const KeptFault& one, std::ostream* out) { *out << one.name; }

constexpr std::array kept_faults = {
    KeptFault{blocks::Fault::StaleHeadReads, "StaleHeadReads", 41},
    KeptFault{blocks::Fault::ConditionNotAtomic, "ConditionNotAtomic", 6},
    KeptFault{blocks::Fault::AcknowledgedWriteLost, "AcknowledgedWriteLost", 16},
    KeptFault{blocks::Fault::GravestoneMissing, "GravestoneMissing", 164},
};

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

class BrokenDatabases : public ::testing::TestWithParam<KeptFault> {};

TEST_P(BrokenDatabases, AreNoticed) {
  const KeptFault& one = GetParam();
  EXPECT_TRUE(run_isolated({"", [&one] { return blocks::simulate(one.seed, one.fault).wrong; }}));
  EXPECT_EQ(blocks::simulate(one.seed).wrong.value_or(""), "");
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenDatabases, ::testing::ValuesIn(kept_faults),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Prints the first seed of each that shows it, of as many as NOAM_SEARCH says; NOAM_SEARCH_FOR names one of them.
TEST(BlockSeeds, AreSearched) {
  const char* const most = std::getenv("NOAM_SEARCH");
  if (most == nullptr) GTEST_SKIP() << "only asked for";
  const std::uint64_t last = std::strtoull(most, nullptr, 10);
  // A process of its own takes time, so many seeds share one.
  constexpr std::uint64_t together = 500;
  const char* const only = std::getenv("NOAM_SEARCH_FOR");
  const auto search = [&](const char* name, const std::function<bool(std::uint64_t)>& is_wrong) {
    if (only != nullptr && std::string(only) != name) return;
    std::uint64_t found = 0;
    for (std::uint64_t first = 1; found == 0 && first <= last; first += together) {
      const auto first_of = [&](std::uint64_t from, std::uint64_t to) -> std::optional<std::string> {
        for (std::uint64_t seed = from; seed < to; ++seed)
          if (is_wrong(seed)) return std::to_string(seed);
        return std::nullopt;
      };
      const auto some = run_isolated({"", [&] { return first_of(first, first + together); }});
      if (!some) continue;
      found = std::strtoull(some->c_str(), nullptr, 10);
      // One that stops the program tells no number.
      for (std::uint64_t seed = first; found == 0 && seed < first + together; ++seed)
        if (run_isolated({"", [&] { return first_of(seed, seed + 1); }})) found = seed;
    }
    std::cout << name << ": " << (found > 0 ? std::to_string(found) : "none") << std::endl;
  };
  for (const Kept& one : kept)
    search(one.name, [&](std::uint64_t seed) {
      const BreakageSwitch made(one.breakage);
      return blocks::simulate(seed).wrong.has_value();
    });
  for (const KeptFault& one : kept_faults)
    search(one.name, [&](std::uint64_t seed) { return blocks::simulate(seed, one.fault).wrong.has_value(); });
}

}  // namespace
}  // namespace noam::tests::meta
