// What a commit changes, when it conflicts, and what it refuses.

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "tests/contract/store_contract.h"

namespace noam::tests {
namespace {

using model::Datum;
using stores::Add;
using stores::Append;
using stores::Change;
using stores::Delete;
using stores::Entry;
using stores::EntryRef;
using stores::Key;
using stores::Outcome;
using stores::Put;
using stores::ReadRequest;
using stores::Version;
using stores::WriteBatch;

TEST_P(StoreContract, PutsReplacesAndDeletes) {
  const EntryRef one = entry("b", sample::numbers, {1});
  const EntryRef two = entry("b", sample::numbers, {2});
  ASSERT_EQ(commit({Put{one, {"one"}}, Put{two, {"two"}}}), Outcome::Applied);
  EXPECT_EQ(columns(one), Key{"one"});
  EXPECT_EQ(columns(two), Key{"two"});

  ASSERT_EQ(commit({Put{one, {"ONE"}}, Delete{two}}), Outcome::Applied);
  EXPECT_EQ(columns(one), Key{"ONE"});
  EXPECT_EQ(columns(two), std::nullopt);

  // Deleting what is not there, in a block that is or is not there, changes nothing.
  ASSERT_EQ(commit({Delete{two}}), Outcome::Applied);
  ASSERT_EQ(commit({Delete{entry("nowhere", sample::numbers, {1})}}), Outcome::Applied);
  EXPECT_EQ(read(block("b"), sample::numbers).entries, (std::vector<Entry>{{{1}, {"ONE"}}}));

  ASSERT_EQ(commit({Delete{one}}), Outcome::Applied);
  EXPECT_TRUE(read(block("b"), sample::numbers).entries.empty());
  ASSERT_EQ(commit({Put{one, {"again"}}}), Outcome::Applied);
  EXPECT_EQ(columns(one), Key{"again"});
}

TEST_P(StoreContract, PutsColumnsThatAreAbsent) {
  const EntryRef head = entry("b", sample::head);
  ASSERT_EQ(commit({Put{head, {Datum(), Datum()}}}), Outcome::Applied);
  EXPECT_EQ(columns(head), (Key{Datum(), Datum()}));
  ASSERT_EQ(commit({Put{head, {"", 0}}}), Outcome::Applied);
  EXPECT_EQ(columns(head), (Key{"", 0}));
}

TEST_P(StoreContract, AppliesAnEmptyBatch) { EXPECT_EQ(commit(WriteBatch{}), Outcome::Applied); }

TEST_P(StoreContract, AddsToWhatIsThere) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  ASSERT_EQ(commit({Put{count, {5, decimal("1.50"), "kept", Datum()}}}), Outcome::Applied);
  ASSERT_EQ(commit({Add{count, {2, decimal("-0.25"), Datum(), 7}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{7, decimal("1.25"), "kept", 7}));
  ASSERT_EQ(commit({Add{count, {Datum(), Datum(), Datum(), -7}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{7, decimal("1.25"), "kept", 0}));
  // Other columns may become 0.
  ASSERT_EQ(commit({Add{count, {-6, decimal("-1.25"), Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{1, decimal("0"), "kept", 0}));
}

TEST_P(StoreContract, AddsToNothing) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  ASSERT_EQ(commit({Add{count, {1, decimal("0.1"), Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{1, decimal("0.1"), Datum(), Datum()}));
  ASSERT_EQ(commit({Add{count, {1, decimal("0.2"), Datum(), 3}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{2, decimal("0.3"), Datum(), 3}));
}

TEST_P(StoreContract, DeletesWhatAnAddBringsToZero) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  ASSERT_EQ(commit({Put{count, {2, decimal("8"), "gone with it", 4}}}), Outcome::Applied);
  ASSERT_EQ(commit({Add{count, {-2, Datum(), Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), std::nullopt);
  EXPECT_TRUE(scan(sample::counts).empty());

  // It begins anew, with nothing.
  ASSERT_EQ(commit({Add{count, {1, Datum(), Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{1, Datum(), Datum(), Datum()}));

  // Another column may be the one that counts.
  ASSERT_EQ(commit({Add{count, {-1, Datum(), Datum(), 2}, 3}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{0, Datum(), Datum(), 2}));
  ASSERT_EQ(commit({Add{count, {5, Datum(), Datum(), -2}, 3}}), Outcome::Applied);
  EXPECT_EQ(columns(count), std::nullopt);

  // A decimal, too.
  ASSERT_EQ(commit({Add{count, {1, decimal("0.5"), Datum(), Datum()}, 1}}), Outcome::Applied);
  ASSERT_EQ(commit({Add{count, {1, decimal("-0.50"), Datum(), Datum()}, 1}}), Outcome::Applied);
  EXPECT_EQ(columns(count), std::nullopt);

  // Nothing comes of nothing.
  ASSERT_EQ(commit({Add{count, {0, Datum(), Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), std::nullopt);
}

TEST_P(StoreContract, AddsBelowZeroAndBeyondAnyDecimalOfAField) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  const Datum large = decimal("9999999999999999999999999999999999");
  ASSERT_EQ(commit({Add{count, {-1, large, Datum(), std::numeric_limits<std::int64_t>::max() - 1}, 0}}),
            Outcome::Applied);
  ASSERT_EQ(commit({Add{count, {-1, large, Datum(), 1}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{-2, Datum(large.as_decimal() + large.as_decimal()), Datum(),
                                 std::numeric_limits<std::int64_t>::max()}));
}

// There is no right value, so none is shown: the commit is an error and nothing has changed, or every read is one until
// the entry is put or deleted.
TEST_P(StoreContract, ShowsNoWrongValueWhereAnAddDoesNotFit) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  const EntryRef other = entry("b", sample::counts, {"d"});
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Key full{1, Datum(), "text", most};
  const ReadRequest all{block("b"), sample::counts, {}, {}, false, 0};
  const Key without{Datum(), Datum(), Datum(), Datum()};
  for (const Key& addends : {Key{1, Datum(), Datum(), 1}, Key{1, Datum(), 1, Datum()}, Key{1, Datum(), decimal("1"), 0},
                             Key{decimal("1"), Datum(), Datum(), Datum()}}) {
    ASSERT_EQ(commit({Put{count, full}, Put{other, {7, Datum(), Datum(), Datum()}}}), Outcome::Applied);
    const auto outcome = store->commit({{}, {Add{count, addends, 0}}}, stores::no_deadline);
    stores::Answers answers;
    if (!outcome) {
      EXPECT_EQ(columns(count), full);
    } else {
      // What is added later makes it no better.
      (void)store->commit({{}, {Add{count, {1, Datum(), Datum(), Datum()}, 0}}}, stores::no_deadline);
      for (const ReadRequest& request : {all, ReadRequest{block("b"), sample::counts, {{"c"}}, {{"c"}}, false, 0}}) {
        const auto read = store->read({&request, 1}, nullptr, stores::no_deadline, answers);
        ASSERT_FALSE(read);
        EXPECT_NE(read.error().message.find("damaged: an entry"), std::string::npos) << read.error().message;
      }
      EXPECT_FALSE(store->scan(sample::counts, "", nullptr, stores::no_deadline));
    }
    EXPECT_EQ(columns(other), (Key{7, Datum(), Datum(), Datum()}));
    ASSERT_EQ(commit({Delete{count}}), Outcome::Applied);
    EXPECT_EQ(columns(count), std::nullopt);
    EXPECT_EQ(scan(sample::counts).size(), 1U);
  }
}

// A counter grows without being looked at.
TEST_P(StoreContract, ConflictsWhereAnEntryChangedAndNotBesideIt) {
  NOAM_NEEDS_WATCHED_ENTRIES();
  const EntryRef one = entry("b", sample::numbers, {1});
  const EntryRef two = entry("b", sample::numbers, {2});
  ASSERT_EQ(commit({Put{one, {"one"}}}), Outcome::Applied);
  const Version before = version(block("b"));
  // What lies beside it in its block, or has the same key elsewhere, is another.
  ASSERT_EQ(commit({{unchanged(two, before)}, {Put{two, {"two"}}}}), Outcome::Applied);
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"head", 1}}}), Outcome::Applied);
  ASSERT_EQ(commit({Put{entry("c", sample::numbers, {1}), {"other"}}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(one, before)}, {Put{one, {"ONE"}}}}), Outcome::Applied);
  // It changed, it appeared, it went.
  EXPECT_EQ(commit({{unchanged(one, before)}, {Put{one, {"again"}}}}), Outcome::Conflict);
  EXPECT_EQ(commit({{unchanged(two, before)}, {Put{two, {"again"}}}}), Outcome::Conflict);
  const Version now = version(block("b"));
  ASSERT_EQ(commit({Delete{one}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(one, now)}, {}}), Outcome::Conflict);
  // Who relies on the block relies on all of it.
  EXPECT_EQ(commit({{unchanged(two, now), unchanged(block("b"), now)}, {Put{two, {"again"}}}}), Outcome::Conflict);
  EXPECT_EQ(commit({{unchanged(two, now)}, {Put{two, {"again"}}}}), Outcome::Applied);
  EXPECT_EQ(columns(two), Key{"again"});
}

Datum list(std::vector<Datum> elements) { return Datum(Datum::List(std::move(elements))); }

TEST_P(StoreContract, AppendsToLists) {
  const EntryRef lists = entry("b", sample::lists, {"c"});
  ASSERT_EQ(commit({Put{lists, {list({1, 2}), "kept", list({list({})}), Datum()}}}), Outcome::Applied);
  ASSERT_EQ(commit({Append{lists, {list({3})}}}), Outcome::Applied);
  EXPECT_EQ(columns(lists), (Key{list({1, 2, 3}), "kept", list({list({})}), Datum()}));
  // Several at once, to several columns, of any kind, and nothing.
  ASSERT_EQ(commit({Append{lists, {list({4, 5}), Datum(), list({list({}), list({Datum(), decimal("0.5")})})}}}),
            Outcome::Applied);
  ASSERT_EQ(commit({Append{lists, {Datum(), Datum(), list({}), Datum()}}}), Outcome::Applied);
  const Key all{list({1, 2, 3, 4, 5}), "kept", list({list({}), list({}), list({Datum(), decimal("0.5")})}), Datum()};
  EXPECT_EQ(columns(lists), all);
  EXPECT_EQ(read(block("b"), sample::lists).entries, (std::vector<Entry>{{{"c"}, all}}));
  ASSERT_EQ(scan(sample::lists).size(), 1U);
  EXPECT_EQ(scan(sample::lists)[0].entry.columns, all);
  // What is put or deleted afterwards is all there is.
  ASSERT_EQ(commit({Put{lists, {list({9}), Datum(), Datum(), Datum()}}}), Outcome::Applied);
  ASSERT_EQ(commit({Append{lists, {list({8})}}}), Outcome::Applied);
  EXPECT_EQ(columns(lists), (Key{list({9, 8}), Datum(), Datum(), Datum()}));
  ASSERT_EQ(commit({Delete{lists}}), Outcome::Applied);
  EXPECT_EQ(columns(lists), std::nullopt);
}

TEST_P(StoreContract, AppendsManyTimes) {
  const EntryRef lists = entry("b", sample::lists, {"c"});
  Datum::List expected;
  ASSERT_EQ(commit({Put{lists, {list({}), Datum(), Datum(), 0}}}), Outcome::Applied);
  const auto before = version(block("b"), sample::lists);
  for (int i = 0; i < 100; ++i) {
    expected.emplace_back(i);
    ASSERT_EQ(commit({Append{lists, {list({expected.back()})}}}), Outcome::Applied);
    ASSERT_EQ(columns(lists), (Key{Datum(expected), Datum(), Datum(), 0}));
  }
  // It is a change as others are.
  EXPECT_EQ(commit({{unchanged(block("b"), sample::lists, before)}, {Append{lists, {list({1})}}}}), Outcome::Conflict);
  EXPECT_EQ(columns(lists), (Key{Datum(expected), Datum(), Datum(), 0}));
}

TEST_P(StoreContract, ShowsNoWrongValueWhereAnAppendDoesNotFit) {
  const EntryRef lists = entry("b", sample::lists, {"c"});
  const auto expect_no_value = [&](const std::optional<Key>& before, const Key& elements) {
    if (before)
      ASSERT_EQ(commit({Put{lists, *before}}), Outcome::Applied);
    else
      ASSERT_EQ(commit({Delete{lists}}), Outcome::Applied);
    if (store->commit({{}, {Append{lists, elements}}}, stores::no_deadline)) {
      stores::Answers answers;
      ReadRequest request;
      request.block = lists.block;
      request.family = lists.family;
      EXPECT_FALSE(store->read({&request, 1}, nullptr, stores::no_deadline, answers)) << "there is no right value";
      (void)store->commit({{}, {Append{lists, elements}}}, stores::no_deadline);
      EXPECT_FALSE(store->read({&request, 1}, nullptr, stores::no_deadline, answers));
      ASSERT_EQ(commit({Delete{lists}}), Outcome::Applied);
      EXPECT_EQ(columns(lists), std::nullopt);
    } else {
      EXPECT_EQ(columns(lists), before) << "refused: nothing changed";
    }
  };
  expect_no_value(std::nullopt, {list({1})});
  if (!GetParam().typed) expect_no_value(Key{1, Datum(), Datum(), Datum()}, {list({1})});
  expect_no_value(Key{Datum(), Datum(), Datum(), Datum()}, {list({1})});
  expect_no_value(Key{Datum(), "text", Datum(), Datum()}, {Datum(), list({1})});
  expect_no_value(Key{list({}), Datum(), Datum(), Datum()}, {Datum(1)});
  expect_no_value(Key{list({}), Datum(), Datum(), Datum()}, {Datum(), Datum(), Datum(), Datum(), list({1})});
}

TEST_P(StoreContract, AsksNoSizeOfAnAdd) {
  reopen({.max_entry_bytes = 100});
  const EntryRef count = entry("b", sample::counts, {"c"});
  ASSERT_EQ(commit({Put{count, {1, Datum(), std::string(60, 'x'), Datum()}}}), Outcome::Applied);
  const Datum large = decimal(std::string(34, '9') + std::string(66, '0'));
  EXPECT_EQ(commit({Add{count, {1, large, Datum(), Datum()}, 0}}), Outcome::Applied);
  EXPECT_EQ(columns(count), (Key{2, large, std::string(60, 'x'), Datum()}));
}

// Each: the version was read, then this happened, and a batch that relies on the version comes after it.
TEST_P(StoreContract, ConflictsWithABlockThatChanged) {
  const EntryRef number = entry("b", sample::numbers, {1});
  const EntryRef count = entry("b", sample::counts, {"c"});
  const EntryRef head = entry("b", sample::head);
  ASSERT_EQ(commit({Put{number, {"x"}}, Put{count, {5, Datum(), Datum(), Datum()}}}), Outcome::Applied);

  const std::vector<Change> meanwhile = {Put{number, {"y"}},
                                         Put{entry("b", sample::numbers, {2}), {"new"}},
                                         Delete{number},
                                         Add{count, {1, Datum(), Datum(), Datum()}, 0},
                                         Add{count, {-6, Datum(), Datum(), Datum()}, 0},
                                         Put{head, {"other family", 1}}};
  for (const Change& change : meanwhile) {
    const std::uint32_t family = stores::entry_of(change).family;
    const Version before = version(block("b"), family);
    ASSERT_EQ(commit({change}), Outcome::Applied);
    const WriteBatch late{{unchanged(block("b"), family, before)}, {Put{entry("b", sample::numbers, {99}), {"late"}}}};
    EXPECT_EQ(commit(late), Outcome::Conflict);
    EXPECT_EQ(columns(entry("b", sample::numbers, {99})), std::nullopt);
  }
}

TEST_P(StoreContract, ConflictsWithAnAbsentBlockThatAppeared) {
  const Version before = version(block("b"));
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"first", 1}}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {Put{entry("b", sample::head), {"second", 2}}}}),
            Outcome::Conflict);
  EXPECT_EQ(columns(entry("b", sample::head)), (Key{"first", 1}));
}

TEST_P(StoreContract, ConflictsWithABlockThatVanished) {
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  const Version before = version(block("b"));
  ASSERT_EQ(commit({Delete{entry("b", sample::head)}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {Put{entry("b", sample::numbers, {1}), {"y"}}}}),
            Outcome::Conflict);
  EXPECT_TRUE(read(block("b"), sample::numbers).entries.empty());
}

TEST_P(StoreContract, ConflictsWithABlockThatAppearedAndVanished) {
  const Version before = version(block("b"));
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  ASSERT_EQ(commit({Delete{entry("b", sample::head)}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {Put{entry("b", sample::head), {"y", 1}}}}), Outcome::Conflict);
}

TEST_P(StoreContract, ConflictsWithOneThatOnlyReadTheBlock) {
  NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS();
  // Two commands read both and each writes one: the second must not see the first too late.
  const Version first_a = version(block("a"));
  const Version first_b = version(block("b"));
  const Version second_a = version(block("a"));
  const Version second_b = version(block("b"));
  EXPECT_EQ(commit({{unchanged(block("a"), first_a), unchanged(block("b"), first_b)},
                    {Put{entry("a", sample::head), {"first", 1}}}}),
            Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("a"), second_a), unchanged(block("b"), second_b)},
                    {Put{entry("b", sample::head), {"second", 2}}}}),
            Outcome::Conflict);
  EXPECT_EQ(columns(entry("b", sample::head)), std::nullopt);
}

TEST_P(StoreContract, ConflictsWithACollectionThatChanged) {
  NOAM_NEEDS_WATCHED_COLLECTIONS();
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  const auto version_of = [&](std::uint32_t family) {
    return store->scan(family, "", nullptr, stores::no_deadline)->version;
  };
  const std::vector<Change> meanwhile = {
      Put{entry("new", sample::numbers, {1}), {"appears"}},
      Put{entry("b", sample::head), {"changes", 2}},
      Delete{entry("b", sample::head)},
      Add{entry("c", sample::counts, {"c"}), {1, Datum(), Datum(), Datum()}, 0},
  };
  for (const Change& change : meanwhile) {
    const Version blocks = version_of(sample::head);
    const Version others = version_of(sample::other_head);
    ASSERT_EQ(commit({change}), Outcome::Applied);
    EXPECT_EQ(commit({{unchanged_collection(sample::blocks, blocks)}, {}}), Outcome::Conflict);
    EXPECT_EQ(commit({{unchanged_collection(sample::others, others)}, {}}), Outcome::Applied);
    EXPECT_EQ(commit({{unchanged_collection(sample::blocks, version_of(sample::head))}, {}}), Outcome::Applied);
  }
  // A block's own version tells at least as much.
  const Version block_version = version(block("b"));
  EXPECT_EQ(
      commit({{unchanged_collection(sample::blocks, version_of(sample::head)), unchanged(block("b"), block_version)},
              {Put{entry("b", sample::head), {"y", 3}}}}),
      Outcome::Applied);
}

// Versions of blocks may be shared, so one conflict too many is allowed, and many are not.
TEST_P(StoreContract, LeavesOtherBlocksAlone) {
  int conflicts = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "b" + std::to_string(i);
    if (i % 2 == 0) {
      ASSERT_EQ(commit({Put{entry(name, sample::head), {"x", i}}}), Outcome::Applied);
    }
    const Version before = version(block(name));
    ASSERT_EQ(commit({Put{entry("busy" + std::to_string(i), sample::head), {"x", i}}}), Outcome::Applied);
    ASSERT_EQ(commit({Put{{other_block(i, name), sample::other_head, {}}, {i}}}), Outcome::Applied);
    const WriteBatch batch{{unchanged(block(name), before)}, {Put{entry(name, sample::head), {"y", i}}}};
    if (commit(batch) == Outcome::Conflict) ++conflicts;
  }
  EXPECT_LE(conflicts, 1);
}

TEST_P(StoreContract, KeepsAVersionAsLongAsNothingChanges) {
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  const Version before = version(block("b"));
  read(block("b"), sample::head);
  scan(sample::head);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {Put{entry("b", sample::head), {"y", 1}}}}), Outcome::Applied);
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {Put{entry("b", sample::head), {"z", 1}}}}), Outcome::Conflict);
  EXPECT_EQ(columns(entry("b", sample::head)), (Key{"y", 1}));
}

TEST_P(StoreContract, ChangesNothingWhereOneExpectationFails) {
  NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS();
  const EntryRef kept = entry("kept", sample::numbers, {1});
  const EntryRef count = entry("counted", sample::counts, {"c"});
  ASSERT_EQ(commit({Put{kept, {"kept"}}, Put{count, {1, Datum(), Datum(), Datum()}}}), Outcome::Applied);
  const Version changed = version(block("changed"));
  const Version others = version(block("kept"));
  const Version counted = version(block("counted"));
  ASSERT_EQ(commit({Put{entry("changed", sample::head), {"x", 1}}}), Outcome::Applied);

  const std::vector<Change> changes = {Put{entry("new", sample::numbers, {1}), {"new"}}, Delete{kept},
                                       Add{count, {1, Datum(), Datum(), Datum()}, 0}};
  for (const bool first : {true, false}) {
    WriteBatch batch{{unchanged(block("kept"), others), unchanged(block("counted"), counted)}, changes};
    batch.expects.insert(first ? batch.expects.begin() : batch.expects.end(), unchanged(block("changed"), changed));
    EXPECT_EQ(commit(batch), Outcome::Conflict);
  }
  EXPECT_EQ(columns(entry("new", sample::numbers, {1})), std::nullopt);
  EXPECT_EQ(columns(kept), Key{"kept"});
  EXPECT_EQ(columns(count), (Key{1, Datum(), Datum(), Datum()}));
  // It has not even touched them.
  EXPECT_EQ(commit({{unchanged(block("kept"), others), unchanged(block("counted"), counted)}, {}}), Outcome::Applied);
}

TEST_P(StoreContract, RefusesWhatIsTooLarge) {
  reopen({.max_entry_bytes = 1'000});
  ASSERT_EQ(store->capabilities().max_entry_bytes, 1'000U);
  const EntryRef small = entry("b", sample::numbers, {1});
  const EntryRef large = entry("b", sample::numbers, {2});
  EXPECT_EQ(commit({Put{small, {std::string(900, 'x')}}}), Outcome::Applied);
  EXPECT_EQ(commit({Put{large, {std::string(1'100, 'x')}}}), Outcome::TooLarge);
  EXPECT_EQ(columns(large), std::nullopt);
  // All or none, wherever it stands in the batch.
  EXPECT_EQ(commit({Delete{small}, Put{large, {std::string(1'100, 'x')}}}), Outcome::TooLarge);
  EXPECT_EQ(commit({Put{large, {std::string(1'100, 'x')}}, Delete{small}}), Outcome::TooLarge);
  EXPECT_EQ(columns(small), Key{std::string(900, 'x')});
  // The key counts, too.
  EXPECT_EQ(commit({Put{entry("b", sample::mixed, {std::string(600, 'k'), 1, decimal("1")}), {1}}}), Outcome::Applied);
  EXPECT_EQ(
      commit({Put{entry("b", sample::counts, {std::string(600, 'k')}), {1, Datum(), std::string(600, 'x'), Datum()}}}),
      Outcome::TooLarge);
}

TEST_P(StoreContract, TakesLargeBatches) {
  std::vector<Change> changes;
  for (int i = 0; i < 5'000; ++i) changes.emplace_back(Put{entry("b", sample::numbers, {i}), {std::to_string(i)}});
  ASSERT_EQ(commit(changes), Outcome::Applied);
  const auto answer = read(block("b"), sample::numbers);
  ASSERT_EQ(answer.entries.size(), 5'000U);
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_EQ(answer.entries[static_cast<std::size_t>(i)], (Entry{{i}, {std::to_string(i)}}));
  }
}

TEST_P(StoreContract, DeploysTheSameDesignTwice) {
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  const Version before = version(block("b"));
  EXPECT_TRUE(store->deploy(sample_design()));

  // Where and under which name it was written does not matter.
  design::Design moved = sample_design();
  moved.name = "renamed";
  for (design::Family& family : moved.families) {
    for (model::Part& part : family.key) part.span = part.expr.span = {10, 20};
    for (model::Cell& cell : family.cells) cell.span = cell.expr.span = {30, 40};
  }
  EXPECT_TRUE(store->deploy(described(moved)));
  EXPECT_EQ(columns(entry("b", sample::head)), (Key{"x", 1}));
  EXPECT_EQ(commit({{unchanged(block("b"), before)}, {}}), Outcome::Applied);
}

TEST_P(StoreContract, RefusesAnotherDesignWhereThereAreEntries) {
  ASSERT_EQ(commit({Put{entry("b", sample::numbers, {1}), {"x"}}, Put{entry("b", sample::numbers, {2}), {"y"}}}),
            Outcome::Applied);
  std::vector<design::Design> different(6, sample_design());
  different[0].families[sample::numbers].key[0].descending = true;
  different[1].families[sample::numbers].cells.pop_back();
  different[2].families.pop_back();
  different[2].collections[sample::commands].families.clear();
  different[3].collections[sample::blocks].name = "renamed";
  different[4].families[sample::numbers].key[0].expr.type = model::scalar(model::TypeKind::Text);
  different[5].families[sample::head].existence = true;
  for (const design::Design& design : different) {
    const auto deployed = store->deploy(described(design));
    ASSERT_FALSE(deployed);
    EXPECT_NE(deployed.error().message.find("another design"), std::string::npos) << deployed.error().message;
    EXPECT_EQ(deployed.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(read(block("b"), sample::numbers).entries, (std::vector<Entry>{{{1}, {"x"}}, {{2}, {"y"}}}));
}

TEST_P(StoreContract, TakesAnotherDesignWhereThereIsNothing) {
  const EntryRef one = entry("b", sample::numbers, {1});
  const EntryRef two = entry("b", sample::numbers, {2});
  ASSERT_EQ(commit({Put{one, {"x"}}}), Outcome::Applied);
  ASSERT_EQ(commit({Delete{one}}), Outcome::Applied);
  design::Design different = sample_design();
  different.families[sample::numbers].key[0].descending = true;
  const auto deployed = store->deploy(described(different));
  ASSERT_TRUE(deployed) << deployed.error().message;
  ASSERT_EQ(commit({Put{one, {"x"}}, Put{two, {"y"}}}), Outcome::Applied);
  EXPECT_EQ(read(block("b"), sample::numbers).entries, (std::vector<Entry>{{{2}, {"y"}}, {{1}, {"x"}}}));
}

// --- Guards ----------------------------------------------------------------------------------------------------------

TEST_P(StoreContract, TellsWhatAGuardKeeps) {
  const EntryRef one = entry("b", sample::numbers, {1});
  const auto with = [&](stores::Guard guard, std::vector<Change> changes, std::vector<stores::Expect> expects = {}) {
    return *store->commit({std::move(expects), std::move(changes), std::move(guard)}, stores::no_deadline);
  };
  EXPECT_EQ(with(guard("first"), {}).outcome, Outcome::Applied);
  ASSERT_EQ(with(guard("first", "made one"), {Put{one, {"one"}}}).outcome, Outcome::Applied);
  const auto asked = with(guard("first"), {});
  EXPECT_EQ(asked.outcome, Outcome::Already);
  ASSERT_EQ(asked.kept.size(), 2U);
  EXPECT_EQ(asked.kept[0], Datum("made one"));
  // Nothing of a repeat is applied, and nothing is kept anew.
  const auto again = with(guard("first", "made two"), {Put{one, {"two"}}});
  EXPECT_EQ(again.outcome, Outcome::Already);
  EXPECT_EQ(again.kept[0], Datum("made one"));
  EXPECT_EQ(columns(one), Key{"one"});
  EXPECT_EQ(with(guard("second"), {}).outcome, Outcome::Applied);
  EXPECT_EQ(with(guard("second", "nothing changed"), {}).outcome, Outcome::Applied);
  EXPECT_EQ(with(guard("second"), {}).outcome, Outcome::Already);

  // It says more than that what it relies on has changed.
  const Version before = version(block("b"));
  ASSERT_EQ(commit({Put{one, {"three"}}}), Outcome::Applied);
  EXPECT_EQ(with(guard("first", "x"), {Put{one, {"four"}}}, {unchanged(block("b"), before)}).outcome, Outcome::Already);
  EXPECT_EQ(with(guard("third", "x"), {Put{one, {"four"}}}, {unchanged(block("b"), before)}).outcome,
            Outcome::Conflict);
  EXPECT_EQ(with(guard("third"), {}).outcome, Outcome::Applied);

  // A guard is an entry: it can be put anew, is found by a scan, and can be forgotten.
  ASSERT_EQ(commit({Put{guard("first").entry, {"replaced", 1}}}), Outcome::Applied);
  EXPECT_EQ(with(guard("first"), {}).kept[0], Datum("replaced"));
  EXPECT_EQ(scan(sample::guards()).size(), 2U);
  ASSERT_EQ(commit({Delete{guard("first").entry}}), Outcome::Applied);
  EXPECT_EQ(with(guard("first"), {}).outcome, Outcome::Applied);
}

TEST_P(StoreContract, AppliesACommitOnceWhoeverRepeatsIt) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  constexpr int ids = 20;
  std::vector<std::thread> threads;
  std::atomic<int> applied = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int id = 0; id < ids; ++id) {
        const WriteBatch batch{{}, {Add{count, {1, Datum(), Datum(), Datum()}, 0}}, guard(std::to_string(id), "x")};
        const auto outcome = store->commit(batch, stores::no_deadline);
        ASSERT_TRUE(outcome) << outcome.error().message;
        ASSERT_TRUE(*outcome == Outcome::Applied || *outcome == Outcome::Already);
        if (*outcome == Outcome::Applied) ++applied;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, ids);
  EXPECT_EQ(columns(count), (Key{ids, Datum(), Datum(), Datum()}));
}

// A guard may lie beside what it guards, and be many.
TEST_P(StoreContract, KeepsGuardsBesideABlock) {
  const EntryRef count = entry("b", sample::counts, {"c"});
  // Ids of an hour ago are forgotten.
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto add = [&](int id) {
    stores::Guard guard = StoreContract::guard("id " + std::to_string(id), std::to_string(id));
    guard.at = now + id;
    guard.columns[1] = guard.at;
    guard.beside = {count.block, count.family};
    return *store->commit({{}, {Add{count, {1, Datum(), Datum(), Datum()}, 0}}, guard}, stores::no_deadline);
  };
  constexpr int many = 200;
  for (int id = 0; id < many; ++id) ASSERT_EQ(add(id).outcome, Outcome::Applied);
  for (int id = 0; id < many; ++id) {
    const auto again = add(id);
    ASSERT_EQ(again.outcome, Outcome::Already) << id;
    ASSERT_EQ(again.kept[0], Datum(std::to_string(id)));
  }
  EXPECT_EQ(columns(count), (Key{many, Datum(), Datum(), Datum()}));
}

TEST_P(StoreContract, BeginsNothingAfterTheDeadline) {
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const EntryRef head = entry("b", sample::head);
  const WriteBatch batch{{}, {Put{head, {"x", 1}}}};
  const auto outcome = store->commit(batch, past);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "deadline passed");
  EXPECT_EQ(columns(head), std::nullopt);

  stores::Answers answers;
  const stores::ReadRequest request{block("b"), sample::head, {}, {}, false, 0};
  const auto done = store->read({&request, 1}, nullptr, past, answers);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "deadline passed");
  const auto page = store->scan(sample::head, "", nullptr, past);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message, "deadline passed");

  const auto soon = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  EXPECT_EQ(*store->commit(batch, soon), Outcome::Applied);
}

}  // namespace
}  // namespace noam::tests
