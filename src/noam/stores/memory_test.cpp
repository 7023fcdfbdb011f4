#include "noam/stores/memory.h"

#include <limits>

#include <gtest/gtest.h>

#include "noam/design/layout.h"

namespace noam::stores {
namespace {

using model::Datum;
using model::Decimal;

// One collection, with one family: number -> number, sum.
design::Design small_design() {
  design::Design design;
  design.name = "small";
  design.collections.resize(1);
  design.collections[0].families = {0};
  design.families.resize(1);
  design.families[0].key.resize(1);
  design.families[0].cells.resize(2);
  design.layout = design::describe_layout(design, model::Model{});
  return design;
}

EntryRef entry(const std::string& block, int key) { return {{0, {block}}, 0, {key}}; }

Outcome commit(Store& store, std::vector<Change> changes) {
  const auto outcome = store.commit({{}, std::move(changes)}, no_deadline);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? outcome->outcome : Outcome::Unknown;
}

TEST(MemoryStore, KeepsOneStateOfAnEntryThatNoSnapshotSees) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  for (int i = 0; i < 10; ++i) commit(*store, {Put{entry("b", 1), {i, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 1, 1}));
  commit(*store, {Delete{entry("b", 1)}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{0, 0, 0}));
}

TEST(MemoryStore, KeepsAStateForEachSnapshotAndDropsItAfterwards) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  commit(*store, {Put{entry("b", 1), {0, Datum()}}, Put{entry("b", 2), {0, Datum()}}});
  auto first = store->snapshot();
  auto first_again = store->snapshot();
  for (int i = 0; i < 10; ++i) commit(*store, {Put{entry("b", 1), {i, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 2, 3}));
  auto second = store->snapshot();
  for (int i = 0; i < 10; ++i) commit(*store, {Put{entry("b", 1), {i, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 2, 4}));
  commit(*store, {Delete{entry("b", 1)}, Delete{entry("b", 2)}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 2, 5}));

  first.reset();
  commit(*store, {Put{entry("c", 1), {0, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{2, 3, 6}));
  first_again.reset();
  second.reset();
  commit(*store, {Put{entry("c", 1), {0, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 1, 1}));
}

TEST(MemoryStore, DropsAStateThatWasReplacedWhenTheSnapshotWasTaken) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  commit(*store, {Put{entry("b", 1), {1, Datum()}}});
  auto first = store->snapshot();
  commit(*store, {Put{entry("b", 1), {2, Datum()}}});
  const auto second = store->snapshot();
  first.reset();
  commit(*store, {Put{entry("b", 1), {3, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 1, 2}));
}

TEST(MemoryStore, ClearsUpWhatALongSnapshotLeft) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  const auto put_all = [&](int value) {
    for (int i = 0; i < 1'000; ++i) commit(*store, {Put{entry(std::to_string(i % 10), i), {value, Datum()}}});
  };
  put_all(1);
  auto snapshot = store->snapshot();
  put_all(2);
  put_all(3);
  EXPECT_EQ(memory_use(*store), (MemoryUse{10, 1'000, 2'000}));
  snapshot.reset();
  for (int i = 0; i < 20; ++i) commit(*store, {Put{entry("0", 0), {4, Datum()}}});
  EXPECT_EQ(memory_use(*store), (MemoryUse{10, 1'000, 1'000}));
}

TEST(MemoryStore, HoldsEntriesAsLongAsASnapshotSeesThem) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  commit(*store, {Put{entry("b", 1), {0, Datum()}}});
  auto snapshot = store->snapshot();
  commit(*store, {Delete{entry("b", 1)}});
  design::Design other = small_design();
  other.families[0].key[0].descending = true;
  other.layout = design::describe_layout(other, model::Model{});
  EXPECT_FALSE(store->deploy(other));
  snapshot.reset();
  EXPECT_TRUE(store->deploy(other));
}

TEST(MemoryStore, KnowsItsHottestBlocks) {
  MemoryOptions options;
  options.heat_one_in = 1;
  const auto store = open_memory_store(options);
  ASSERT_TRUE(store->deploy(small_design()));
  // One commit writes a block once, however many of its entries.
  commit(*store,
         {Put{entry("b", 1), {0, Datum()}}, Put{entry("b", 2), {0, Datum()}}, Put{entry("c", 1), {0, Datum()}}});
  std::vector<ReadRequest> requests(4);
  for (std::size_t i = 0; i < requests.size(); ++i)
    requests[i].block = {0, {std::vector{"c", "b", "c", "not there"}[i]}};
  Answers answers;
  ASSERT_TRUE(store->read(requests, nullptr, no_deadline, answers));
  const std::vector<HotBlock> expected = {{{0, {"c"}}, 2, 1, 3.0 / 6}, {{0, {"b"}}, 1, 1, 2.0 / 6}};
  EXPECT_EQ(store->hottest(2), expected);
}

TEST(MemoryStore, TellsWhatItDoesNotKnow) {
  const auto store = open_memory_store();
  const ReadRequest request{{0, {"b"}}, 0, {}, {}, false, 0};
  Answers answers;
  EXPECT_EQ(store->read({&request, 1}, nullptr, no_deadline, answers).error().message,
            "no design was deployed to the store");
  EXPECT_EQ(store->scan(0, "", nullptr, no_deadline).error().message, "no design was deployed to the store");
  EXPECT_EQ(store->commit({{}, {Delete{entry("b", 1)}}}, no_deadline).error().message,
            "no design was deployed to the store");

  ASSERT_TRUE(store->deploy(small_design()));
  EXPECT_EQ(store->scan(1, "", nullptr, no_deadline).error().message, "the design of the store has no family 1");
  EXPECT_EQ(store->scan(0, "nonsense", nullptr, no_deadline).error().message, "invalid scan position");
  EXPECT_EQ(store->commit({{}, {Delete{{{1, {"b"}}, 0, {1}}}}}, no_deadline).error().message,
            "family 0 of the store's design is not in collection 1");
  EXPECT_EQ(store->commit({{Expect{1, std::nullopt, {}}}, {}}, no_deadline).error().message,
            "the design of the store has no collection 1");
}

TEST(MemoryStore, ChangesNothingWhereAnAddFails) {
  const auto store = open_memory_store();
  ASSERT_TRUE(store->deploy(small_design()));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  commit(*store, {Put{entry("b", 1), {most, Datum()}}, Put{entry("b", 2), {1, "text"}}});
  const Change first = Put{entry("b", 3), {1, Datum()}};
  EXPECT_EQ(store->commit({{}, {first, Add{entry("b", 1), {1}, 0}}}, no_deadline).error().message,
            "a count does not fit into 64 bits");
  EXPECT_EQ(store->commit({{}, {first, Add{entry("b", 2), {1, 1}, 0}}}, no_deadline).error().message,
            "only an int can be added to an int, and a decimal to a decimal");
  EXPECT_EQ(memory_use(*store), (MemoryUse{1, 2, 2}));
}

std::optional<Key> sum_of(std::optional<Key> columns, const Key& addends, std::uint32_t vanishes, std::size_t width) {
  EXPECT_TRUE(add_to(columns, addends, vanishes, width));
  return columns;
}

TEST(Add, BeginsWithNothingInEachColumn) { EXPECT_EQ(sum_of({}, {2}, 0, 3), (Key{2, Datum(), Datum()})); }

TEST(Add, VanishesAtZeroOnly) {
  const Key columns = {1, Decimal(1)};
  EXPECT_EQ(sum_of(columns, {-1}, 0, 2), std::nullopt);
  EXPECT_EQ(sum_of(columns, {-1}, 1, 2), (Key{0, Decimal(1)}));
  EXPECT_EQ(sum_of(columns, {Datum(), Decimal(-1)}, 1, 2), std::nullopt);
  EXPECT_EQ(sum_of(columns, {-2}, 0, 2), (Key{-1, Decimal(1)}));
  // Absent is not 0.
  EXPECT_EQ(sum_of({}, {1}, 1, 2), (Key{1, Datum()}));
}

TEST(References, AreOrderedByBlockFamilyAndKey) {
  EXPECT_LT((BlockRef{0, {"b"}}), (BlockRef{1, {"a"}}));
  EXPECT_LT((BlockRef{0, {"a"}}), (BlockRef{0, {"a", 1}}));
  EXPECT_LT((EntryRef{{0, {"a"}}, 1, {5}}), (EntryRef{{0, {"b"}}, 0, {1}}));
  EXPECT_LT((EntryRef{{0, {"a"}}, 0, {5}}), (EntryRef{{0, {"a"}}, 1, {1}}));
  EXPECT_LT((EntryRef{{0, {"a"}}, 1, {1}}), (EntryRef{{0, {"a"}}, 1, {5}}));
}

}  // namespace
}  // namespace noam::stores
