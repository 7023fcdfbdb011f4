#include "noam/stores/counters.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include "noam/stores/encoding.h"

namespace noam::stores {
namespace {

using model::Datum;
using model::Decimal;
using rocksdb::Slice;

constexpr std::size_t width = 3;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::string operand(const Key& addends, std::uint32_t vanishes = 0, std::size_t columns = width) {
  return write_addends(Add{{}, addends, vanishes}, columns);
}

std::string merged(const std::optional<std::string>& value, const std::vector<std::string>& operands) {
  std::string out;
  Slice operand_taken;
  const Slice key("key");
  const Slice below = value ? Slice(*value) : Slice();
  const std::vector<Slice> list(operands.begin(), operands.end());
  rocksdb::MergeOperator::MergeOperationOutput output(out, operand_taken);
  const rocksdb::MergeOperator::MergeOperationInput input(key, value ? &below : nullptr, list, nullptr);
  EXPECT_TRUE(counter_merging()->FullMergeV2(input, &output));
  return out;
}

std::optional<std::string> combined(const std::vector<std::string>& operands) {
  std::string out;
  const std::deque<Slice> list(operands.begin(), operands.end());
  if (!counter_merging()->PartialMergeMulti(Slice("key"), list, &out, nullptr)) return std::nullopt;
  return out;
}

TEST(Counters, AreMadeOfWhatWasAdded) {
  const std::string one = operand({1, Decimal(2)});
  EXPECT_EQ(merged({}, {one}), write_values({1, Decimal(2), Datum()}));
  EXPECT_EQ(merged({}, {one, one, operand({Datum(), Datum(), 5})}), write_values({2, Decimal(4), 5}));
  EXPECT_EQ(merged(write_values({7, Datum(), "text"}), {one}), write_values({8, Decimal(2), "text"}));
}

TEST(Counters, AreGoneAtZeroAndBeginAnew) {
  const std::string down = operand({-1});
  const std::string value = write_values({1, Decimal(9), "text"});
  EXPECT_TRUE(is_gone(merged(value, {down})));
  EXPECT_EQ(merged(value, {down, operand({2})}), write_values({2, Datum(), Datum()}));
  EXPECT_EQ(merged(std::string(), {operand({2})}), write_values({2, Datum(), Datum()}));
}

TEST(Counters, SayWhatIsWrongAndStaySo) {
  const std::string one = operand({1});
  const std::string full = merged(write_values({most, Datum(), Datum()}), {one});
  EXPECT_EQ(damage_of(full), "a count does not fit into 64 bits");
  EXPECT_EQ(merged(full, {one, operand({-1})}), full);
  EXPECT_EQ(damage_of(merged(write_values({"text", Datum(), Datum()}), {one})),
            "only an int can be added to an int, and a decimal to a decimal");
  EXPECT_EQ(damage_of(merged("\x7F", {one})), "the number to add to is unreadable");
  EXPECT_EQ(damage_of(merged({}, {one, "\x7F"})), "the number to add is unreadable");
  EXPECT_EQ(damage_of(merged({}, {one, ""})), "the number to add is unreadable");
  Key columns;
  EXPECT_FALSE(read_values(full, columns));
  EXPECT_FALSE(damage_of(write_values({most, Datum(), "text"})));
}

TEST(Counters, AreSummedUpWithoutAValueWhereThatIsTheSame) {
  const auto count = [](std::int64_t number) { return operand({number}, 0, 1); };
  EXPECT_EQ(combined({count(1), count(2), count(-5)}), count(-2));
  EXPECT_EQ(combined({operand({Decimal(1)}, 0, 1), operand({Decimal(2)}, 0, 1)}), operand({Decimal(3)}, 0, 1));
  // Of several columns one that comes to 0 in between takes the others with it.
  EXPECT_EQ(combined({operand({1, 1}), operand({2, 1})}), std::nullopt);
  EXPECT_EQ(combined({count(most), count(1)}), std::nullopt);
  EXPECT_EQ(combined({count(1), operand({Decimal(2)}, 0, 1)}), std::nullopt);
  EXPECT_EQ(combined({count(1), operand({Datum()}, 0, 1)}), std::nullopt);
  EXPECT_EQ(combined({count(1), "\x7F"}), std::nullopt);
}

// In a database, whatever is flushed, compacted and looked at in between.
TEST(Counters, AreTheSameAfterTablesAreMerged) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  const std::string folder = testing::TempDir() + "/counters-" + std::to_string(::getpid());
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = counter_merging();
  options.compaction_filter_factory = counter_clearing();
  options.max_successive_merges = 4;
  options.level0_file_num_compaction_trigger = 2;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, folder, &opened).ok());
  const std::unique_ptr<rocksdb::DB> database(opened);
  using State = std::map<std::string, Key>;
  State state;
  struct Moment {
    const rocksdb::Snapshot* snapshot;
    State state;
  };
  std::vector<Moment> moments;
  const auto compare = [&](const rocksdb::Snapshot* at, const State& expected) {
    rocksdb::ReadOptions reading;
    reading.snapshot = at;
    State found;
    const std::unique_ptr<rocksdb::Iterator> entries(database->NewIterator(reading));
    for (entries->SeekToFirst(); entries->Valid(); entries->Next())
      if (!is_gone(entries->value().ToStringView())) {
        EXPECT_TRUE(read_values(entries->value().ToStringView(), found[entries->key().ToString()]));
      }
    EXPECT_TRUE(entries->status().ok());
    EXPECT_EQ(found, expected);
  };
  for (int step = 0; step < 3'000 && !testing::Test::HasFailure(); ++step) {
    const bool narrow = below(2) == 0;
    const std::string key = (narrow ? "narrow" : "wide") + std::to_string(below(5));
    const std::size_t columns = narrow ? 1 : width;
    const int kind = below(20);
    if (kind == 0) {
      ASSERT_TRUE(database->Delete({}, key).ok());
      state.erase(key);
    } else if (kind == 1) {
      Key value(columns);
      value[0] = below(3);
      ASSERT_TRUE(database->Put({}, key, write_values(value)).ok());
      state[key] = value;
    } else {
      Key addends(columns);
      addends[0] = below(5) - 2;
      if (!narrow && below(2) == 0) addends[1] = Decimal(below(5) - 2);
      const std::uint32_t vanishes = !narrow && below(10) == 0 ? 1 : 0;
      ASSERT_TRUE(database->Merge({}, key, operand(addends, vanishes, columns)).ok());
      std::optional<Key> value;
      if (const auto at = state.find(key); at != state.end()) value = at->second;
      ASSERT_TRUE(add_to(value, addends, vanishes, columns));
      if (value)
        state[key] = *value;
      else
        state.erase(key);
    }
    if (below(40) == 0) {
      ASSERT_TRUE(database->Flush({}).ok());
    }
    if (below(400) == 0) {
      ASSERT_TRUE(database->CompactRange({}, nullptr, nullptr).ok());
    }
    if (below(100) == 0) moments.push_back({database->GetSnapshot(), state});
    if (below(20) == 0) compare(nullptr, state);
    if (!moments.empty() && below(100) == 0) {
      compare(moments.front().snapshot, moments.front().state);
      database->ReleaseSnapshot(moments.front().snapshot);
      moments.erase(moments.begin());
    }
  }
  for (const Moment& moment : moments) {
    compare(moment.snapshot, moment.state);
    database->ReleaseSnapshot(moment.snapshot);
  }
  ASSERT_TRUE(database->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_TRUE(database->CompactRange({}, nullptr, nullptr).ok());
  compare(nullptr, state);
  ASSERT_TRUE(database->Close().ok());
  std::filesystem::remove_all(folder);
}

// What is gone takes no place for ever.
TEST(Counters, AreDroppedWhenGone) {
  const std::string folder = testing::TempDir() + "/counters-gone-" + std::to_string(::getpid());
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = counter_merging();
  options.compaction_filter_factory = counter_clearing();
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, folder, &opened).ok());
  const std::unique_ptr<rocksdb::DB> database(opened);
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_TRUE(database->Merge({}, key, operand({1}, 0, 1)).ok());
    if (i % 10 == 0) {
      ASSERT_TRUE(database->Flush({}).ok());
    }
    ASSERT_TRUE(database->Merge({}, key, operand({-1}, 0, 1)).ok());
  }
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(database->CompactRange(all, nullptr, nullptr).ok());
  ASSERT_TRUE(database->CompactRange(all, nullptr, nullptr).ok());
  std::unique_ptr<rocksdb::Iterator> entries(database->NewIterator({}));
  entries->SeekToFirst();
  EXPECT_FALSE(entries->Valid());
  entries.reset();
  std::uint64_t keys = 1;
  ASSERT_TRUE(database->GetIntProperty("rocksdb.estimate-num-keys", &keys));
  EXPECT_EQ(keys, 0U);
  ASSERT_TRUE(database->Close().ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace noam::stores
