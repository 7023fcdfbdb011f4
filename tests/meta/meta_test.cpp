// The test of the tests. Noam is broken at one place at a time, and some check of the suite has to notice.

#include <array>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/meta/breakage_switch.h"
#include "tests/meta/checks.h"

namespace noam::tests::meta {
namespace {

struct Named {
  Breakage breakage;
  const char* name;
};

void PrintTo(const Named& one, std::ostream* out) { *out << one.name; }

constexpr std::array breakages = {
    Named{Breakage::LimitBeforeFilter, "LimitBeforeFilter"},
    Named{Breakage::LimitBeforeCheck, "LimitBeforeCheck"},
    Named{Breakage::EqualityTakenAsAsked, "EqualityTakenAsAsked"},
    Named{Breakage::OrderTakenAsDelivered, "OrderTakenAsDelivered"},
    Named{Breakage::FoldTakenForKnown, "FoldTakenForKnown"},
    Named{Breakage::FilteredCopyTakenForAll, "FilteredCopyTakenForAll"},
    Named{Breakage::PartialBaseBinds, "PartialBaseBinds"},
    Named{Breakage::KnownNotCompared, "KnownNotCompared"},
    Named{Breakage::TiesFromTheFirst, "TiesFromTheFirst"},
    Named{Breakage::TieTheOtherWay, "TieTheOtherWay"},
    Named{Breakage::RangeBoundExclusive, "RangeBoundExclusive"},
    Named{Breakage::OptionalRowDropped, "OptionalRowDropped"},
    Named{Breakage::DanglingShown, "DanglingShown"},
    Named{Breakage::WordFoundTwice, "WordFoundTwice"},
    Named{Breakage::FoldedEntryIsOneRow, "FoldedEntryIsOneRow"},
    Named{Breakage::PageRepeatsARow, "PageRepeatsARow"},
    Named{Breakage::MoreThanThereIs, "MoreThanThereIs"},
    Named{Breakage::LastBucketMissed, "LastBucketMissed"},
    Named{Breakage::AbsentEqualsAbsent, "AbsentEqualsAbsent"},
    Named{Breakage::LengthNotKept, "LengthNotKept"},
    Named{Breakage::AnswerOfAnotherRow, "AnswerOfAnotherRow"},
    Named{Breakage::CopySkipped, "CopySkipped"},
    Named{Breakage::IndirectChangeMissed, "IndirectChangeMissed"},
    Named{Breakage::CountOffByOne, "CountOffByOne"},
    Named{Breakage::StaleKeyLeft, "StaleKeyLeft"},
    Named{Breakage::CappedNotRefilled, "CappedNotRefilled"},
    Named{Breakage::ExtremeKept, "ExtremeKept"},
    Named{Breakage::DistinctCountedTwice, "DistinctCountedTwice"},
    Named{Breakage::EmptyGroupStays, "EmptyGroupStays"},
    Named{Breakage::LastFieldUnwatched, "LastFieldUnwatched"},
    Named{Breakage::ListInOtherOrder, "ListInOtherOrder"},
    Named{Breakage::RequireNotAsked, "RequireNotAsked"},
    Named{Breakage::EntityRequireNotAsked, "EntityRequireNotAsked"},
    Named{Breakage::OwnerNotAsked, "OwnerNotAsked"},
    Named{Breakage::PartsStay, "PartsStay"},
    Named{Breakage::KeyMadeTwice, "KeyMadeTwice"},
    Named{Breakage::OneSideForgotten, "OneSideForgotten"},
    Named{Breakage::DueTooLate, "DueTooLate"},
    Named{Breakage::EventsStay, "EventsStay"},
    Named{Breakage::OverflowStored, "OverflowStored"},
    Named{Breakage::RefreshKeepsOneMore, "RefreshKeepsOneMore"},
    Named{Breakage::ExpiresUnasked, "ExpiresUnasked"},
    Named{Breakage::BulkNotAskedAgain, "BulkNotAskedAgain"},
    Named{Breakage::RepeatAppliedAgain, "RepeatAppliedAgain"},
    Named{Breakage::VerifyComparesNothing, "VerifyComparesNothing"},
    Named{Breakage::ReadsNotExpected, "ReadsNotExpected"},
    Named{Breakage::AbsenceNotExpected, "AbsenceNotExpected"},
    Named{Breakage::CollectionNotExpected, "CollectionNotExpected"},
    Named{Breakage::OwnChangesUnseen, "OwnChangesUnseen"},
    Named{Breakage::BrokenCopyRead, "BrokenCopyRead"},
    Named{Breakage::LastCommitOverlooked, "LastCommitOverlooked"},
    Named{Breakage::SnapshotSeesLaterWrites, "SnapshotSeesLaterWrites"},
    Named{Breakage::SnapshotForgets, "SnapshotForgets"},
    Named{Breakage::BumpBeforeWrite, "BumpBeforeWrite"},
    Named{Breakage::LatchForgotten, "LatchForgotten"},
    Named{Breakage::TableUnnumbered, "TableUnnumbered"},
    Named{Breakage::MemoryNotBeforeTable, "MemoryNotBeforeTable"},
    Named{Breakage::SyncNotWaitedFor, "SyncNotWaitedFor"},
    Named{Breakage::SyncTooEarly, "SyncTooEarly"},
    Named{Breakage::CounterMergedTwice, "CounterMergedTwice"},
    Named{Breakage::GoneShown, "GoneShown"},
    Named{Breakage::AppendForgotten, "AppendForgotten"},
};
// Those of transactions over blocks have theirs in block_test.cpp.
static_assert(breakages.size() == static_cast<std::size_t>(Breakage::AppendForgotten), "each has its test");

class Broken : public ::testing::TestWithParam<Named> {};

TEST_P(Broken, IsNoticed) {
  const BreakageSwitch made(GetParam().breakage);
  const std::vector<Check> checks = all_checks();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto wrong = run_isolated(checks[i]);
    if (!wrong) continue;
    std::cout << GetParam().name << " is noticed by check " << i + 1 << " of " << checks.size() << ", "
              << checks[i].name << ":\n"
              << *wrong << std::endl;
    return;
  }
  FAIL() << GetParam().name << " is noticed by none of " << checks.size() << " checks";
}

INSTANTIATE_TEST_SUITE_P(Each, Broken, ::testing::ValuesIn(breakages),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Unbroken, IsRightForEveryCheck) {
  for (const Check& check : all_checks()) EXPECT_EQ(run_isolated(check).value_or(""), "") << check.name;
}

}  // namespace
}  // namespace noam::tests::meta
