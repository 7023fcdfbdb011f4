#include "noam/runtime/transaction.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "noam/stores/memory.h"

namespace noam::runtime {

namespace {

using model::Datum;
using stores::EntryRef;
using stores::Key;

// One collection with one family: a number, backwards -> two numbers.
design::Design small_design() {
  design::Design design;
  design.name = "small";
  design.collections.resize(1);
  design.collections[0].families = {0};
  design.families.resize(1);
  design.families[0].key.resize(1);
  design.families[0].key[0].descending = true;
  design.families[0].cells.resize(2);
  return design;
}

EntryRef entry(int block, int key) { return {{0, {block}}, 0, {key}}; }

class TransactionTest : public testing::Test {
 protected:
  TransactionTest() : design_(small_design()), store_(stores::open_memory_store()) {
    EXPECT_TRUE(store_->deploy(design_));
  }

  Transaction begin() { return {*store_, design_, stores::no_deadline}; }

  stores::Outcome commit(const Transaction& transaction) {
    const auto outcome = store_->commit(transaction.batch(), stores::no_deadline);
    EXPECT_TRUE(outcome);
    return outcome ? outcome->outcome : stores::Outcome::Unknown;
  }

  static std::vector<stores::Entry> read(Transaction& transaction, int block, Transaction::Moment moment,
                                         std::size_t limit = 0, bool reverse = false) {
    stores::ReadRequest request;
    request.block = {0, {block}};
    request.limit = limit;
    request.reverse = reverse;
    stores::Answers answers;
    EXPECT_TRUE(transaction.read({&request, 1}, moment, answers));
    return answers[0].entries;
  }

  // Entries 5 and 7 are in the store, and 6 is about to come.
  Transaction begin_between_two() {
    Transaction before = begin();
    before.put(entry(1, 5), {50, 2});
    before.put(entry(1, 7), {70, 2});
    EXPECT_EQ(commit(before), stores::Outcome::Applied);
    Transaction transaction = begin();
    transaction.put(entry(1, 6), {60, 2});
    return transaction;
  }

  design::Design design_;
  std::unique_ptr<stores::Store> store_;
};

constexpr auto Before = Transaction::Moment::Before;
constexpr auto Now = Transaction::Moment::Now;

}  // namespace

TEST_F(TransactionTest, ShowsItsOwnChangesNowAndNotBefore) {
  Transaction transaction = begin();
  transaction.put(entry(1, 5), {1, 2});
  EXPECT_TRUE(read(transaction, 1, Before).empty());
  EXPECT_EQ(read(transaction, 1, Now).size(), 1U);
  transaction.settle();
  EXPECT_EQ(read(transaction, 1, Before).size(), 1U);
  transaction.erase(entry(1, 5));
  EXPECT_EQ(read(transaction, 1, Before).size(), 1U);
  EXPECT_TRUE(read(transaction, 1, Now).empty());
}

TEST_F(TransactionTest, GathersWithItsOwnChanges) {
  Transaction transaction = begin_between_two();
  transaction.erase(entry(1, 5));
  stores::ReadRequest request;
  request.block = {0, {1}};
  request.gathered = true;
  for (const auto& [moment, list] : {std::pair(Before, Key{70, 50}), std::pair(Now, Key{70, 60})}) {
    stores::Answers answers;
    EXPECT_TRUE(transaction.read({&request, 1}, moment, answers));
    ASSERT_EQ(answers[0].entries.size(), 1U);
    EXPECT_EQ(answers[0].entries[0].columns, Key{model::Datum(list)});
  }
}

TEST_F(TransactionTest, ShowsRowsWithItsOwnChanges) {
  Transaction transaction = begin_between_two();
  using design::Place;
  const std::vector<design::ShownColumn> columns{
      {{{{Place::Kind::Cell, 0, {}}, false}}, false},
      {{{{Place::Kind::Block, 0, {}}, false}, {{Place::Kind::Key, 0, {}}, false}}, true}};
  stores::ReadRequest request;
  request.block = {0, {1}};
  request.limit = 2;
  request.shown = &columns;
  const auto row = [](int cell, int key) { return Key{cell, Datum::List{1, key}}; };
  for (const auto& [moment, last] : {std::pair(Before, 5), std::pair(Now, 6)}) {
    stores::Answers answers;
    EXPECT_TRUE(transaction.read({&request, 1}, moment, answers));
    EXPECT_EQ(answers[0].rows, (std::vector<Key>{row(70, 7), row(last * 10, last)}));
    EXPECT_EQ(answers[0].entries, (std::vector<stores::Entry>{{{last}, {last * 10, 2}}}));
    EXPECT_EQ(answers[0].more, moment == Now);
  }
}

TEST_F(TransactionTest, ConflictsWithWhatChangedWhatItHasRead) {
  Transaction first = begin();
  read(first, 1, Now);
  first.put(entry(2, 1), {1, 1});
  Transaction second = begin();
  second.put(entry(1, 1), {1, 1});
  EXPECT_EQ(commit(second), stores::Outcome::Applied);
  EXPECT_EQ(commit(first), stores::Outcome::Conflict);
}

TEST_F(TransactionTest, ConflictsWithAnEntryThatCameAfterItReadAll) {
  Transaction first = begin();
  EXPECT_TRUE(first.scan(0, Now));
  first.put(entry(2, 1), {1, 1});
  Transaction second = begin();
  second.put(entry(3, 1), {1, 1});
  EXPECT_EQ(commit(second), stores::Outcome::Applied);
  EXPECT_EQ(commit(first), stores::Outcome::Conflict);
}

TEST_F(TransactionTest, AddsWithoutReading) {
  Transaction first = begin();
  first.add(entry(1, 1), {1, 10}, 0);
  Transaction second = begin();
  second.add(entry(1, 1), {2, 5}, 0);
  EXPECT_EQ(commit(first), stores::Outcome::Applied);
  EXPECT_EQ(commit(second), stores::Outcome::Applied);
  Transaction third = begin();
  EXPECT_EQ(read(third, 1, Now)[0].columns, (Key{3, 15}));
  third.add(entry(1, 1), {-3, 0}, 0);
  EXPECT_TRUE(read(third, 1, Now).empty());  // what is counted down to nothing goes
  EXPECT_EQ(read(third, 1, Before)[0].columns, (Key{3, 15}));
}

TEST_F(TransactionTest, SeesOneMomentOfTheStore) {
  Transaction reader = begin();
  Transaction later = begin();
  reader.begin();
  Transaction writer = begin();
  writer.put(entry(1, 1), {1, 1});
  EXPECT_EQ(commit(writer), stores::Outcome::Applied);
  EXPECT_TRUE(read(reader, 1, Now).empty());
  // Who has not begun sees the moment of the first read.
  EXPECT_EQ(read(later, 1, Now).size(), 1U);
  Transaction another = begin();
  another.put(entry(1, 2), {1, 1});
  EXPECT_EQ(commit(another), stores::Outcome::Applied);
  EXPECT_EQ(read(later, 1, Now).size(), 1U);
}

// Whatever is put, deleted and added in whatever layer, reads are those of plain maps. Counts and sums become nothing
// together, as those of copies do.
TEST_F(TransactionTest, ReadsAsPlainMapsWould) {
  using Block = std::map<int, Key, std::greater<>>;
  std::map<int, Block> stored;
  std::mt19937 random(7);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int round = 0; round < 60; ++round) {
    std::map<int, Block> before = stored;
    std::map<int, Block> now = stored;
    Transaction transaction = begin();
    for (int step = 0; step < 30; ++step) {
      const int block = draw(2);
      const int key = draw(6);
      Block& held = now[block];
      switch (draw(8)) {
        case 0:
        case 1: {
          const int count = draw(3) + 1;
          const Key columns{count, 10 * count};
          transaction.put(entry(block, key), columns);
          held[key] = columns;
          break;
        }
        case 2:
          transaction.erase(entry(block, key));
          held.erase(key);
          break;
        case 3: {
          const int by = draw(5) - 2;
          transaction.add(entry(block, key), {by, 10 * by}, 0);
          Key& columns = held.try_emplace(key, Key{0, 0}).first->second;
          columns = {columns[0].as_int() + by, columns[1].as_int() + 10 * by};
          if (columns[0].as_int() == 0) held.erase(key);
          break;
        }
        case 4:
          transaction.settle();
          before = now;
          break;
        default: {
          const auto moment = draw(2) == 0 ? Before : Now;
          const auto limit = static_cast<std::size_t>(draw(4));
          const bool reverse = draw(2) == 0;
          const Block& right = (moment == Before ? before : now)[block];
          std::vector<stores::Entry> expected;
          for (const auto& [at, columns] : right) expected.push_back({{at}, columns});
          if (reverse) std::reverse(expected.begin(), expected.end());
          if (limit > 0 && expected.size() > limit) expected.resize(limit);
          ASSERT_EQ(read(transaction, block, moment, limit, reverse), expected) << round << ", " << step;
        }
      }
    }
    ASSERT_EQ(commit(transaction), stores::Outcome::Applied);
    stored = now;
  }
}

}  // namespace noam::runtime
