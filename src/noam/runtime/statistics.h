#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "noam/base/result.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"

// What a database holds, in numbers: as they are, beside what the model says.
namespace noam::runtime {

// Many numbers in a bounded space: each is exact up to 1,024, larger ones to one in 32.
class Spread {
 public:
  void add(std::uint64_t number, std::uint64_t times = 1);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double average() const;  // exact; of nothing: 0
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  // The number that this share (0.99) of them does not exceed.
  [[nodiscard]] std::uint64_t at(double share) const;

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t largest_ = 0;
  std::vector<std::uint64_t> buckets_;
};

// Different values, and how often each came, in a bounded space: all of them as long as they are few; then those whose
// hashes fall into a half, a quarter and so on, with exact counts (Gibbons, "Distinct sampling", 2001).
class ValueSample {
 public:
  static constexpr std::size_t most = 16'384;

  void add(const model::Datum& value);

  [[nodiscard]] double distinct() const;
  [[nodiscard]] bool exact() const { return level_ == 0; }
  // Of those in the sample: hash and count. Each stands for `weight()` values.
  [[nodiscard]] const std::unordered_map<std::uint64_t, std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t weight() const { return std::uint64_t{1} << level_; }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> counts_;
  unsigned level_ = 0;  // how many of the lowest bits of a hash are 0
};

// Of a field of an entity, or of a value wherever it lies.
struct FieldStatistics {
  std::uint64_t present = 0;
  std::uint64_t absent = 0;
  Spread bytes;         // of each text, bytes or json in it
  Spread lengths;       // of collections
  ValueSample values;   // of scalars and references, also as elements (of maps: the keys)
  bool counted = true;  // whether `values` says something: not of values and jsons
};

struct EntityStatistics {
  bool kept = true;  // false: transient, nobody can count them
  std::uint64_t instances = 0;
  std::vector<FieldStatistics> fields;
};

// How many instances refer to one, over all there are; a list that refers to it twice counts twice. Not measured where
// instances are not kept, where there are none on either side, and of symmetric roles, whose two sides share the work.
struct RoleStatistics {
  bool measured = false;
  double average = 0;
  Spread fan_out;
  bool exact = true;  // else `fan_out` is of a sample of those referred to
};

struct BlockSize {
  stores::Key key;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;

  bool operator==(const BlockSize&) const = default;
};

// Of a family or of a collection. Bytes are as stores::entry_bytes counts them.
struct Stored {
  std::uint64_t blocks = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t most_entries = 0;  // in one block
  std::uint64_t most_bytes = 0;

  bool operator==(const Stored&) const = default;
};

struct CollectionStatistics {
  Stored stored;
  std::vector<BlockSize> largest;  // by bytes, the largest first
};

struct Statistics {
  std::vector<EntityStatistics> entities;            // as in the model
  std::vector<std::vector<FieldStatistics>> values;  // of the fields of values
  std::vector<RoleStatistics> roles;
  std::vector<Stored> families;  // as in the design
  std::vector<CollectionStatistics> collections;
  std::vector<stores::HotBlock> hottest;  // before it was measured
};

// Reads everything once, page by page, in one moment of the store. Keeps in memory a page, what is above, and of
// collections with several families two numbers a block. `top`: how many of the largest and hottest blocks.
Result<Statistics> measure(Session& session, std::size_t top);

}  // namespace noam::runtime
