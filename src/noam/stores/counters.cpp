#include "noam/stores/counters.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "noam/base/breakage.h"
#include "noam/stores/appends.h"
#include "noam/stores/encoding.h"

namespace noam::stores {

using rocksdb::Slice;

namespace {

// No values begin with it: they begin with their number.
constexpr std::string_view damage_mark = "\xFF\xFF\xFF\xFF damaged: ";

std::string damaged(std::string_view reason) { return std::string(damage_mark).append(reason); }

struct Addends {
  Key values;
  std::uint32_t vanishes = 0;
};

bool read_addends(const Slice& operand, Addends& out) {
  if (!read_values({operand.data(), operand.size()}, out.values) || out.values.empty() || !out.values[0].is_int())
    return false;
  out.vanishes = static_cast<std::uint32_t>(out.values[0].as_int());
  out.values.erase(out.values.begin());
  return true;
}

constexpr std::uint32_t never_vanishes = UINT32_MAX;

std::string appended(const Slice* value, const std::vector<Slice>& operands) {
  if (value == nullptr || is_gone({value->data(), value->size()}))
    return damaged("the list to append to is missing or unreadable");
  if (damage_of({value->data(), value->size()})) return value->ToString();
  std::vector<std::string_view> all;
  all.reserve(operands.size());
  for (const Slice& operand : operands) all.emplace_back(operand.data(), operand.size());
  auto made = append_elements({value->data(), value->size()}, all);
  return made ? std::move(*made) : damaged("the elements to append do not fit the list");
}

std::string merged(const Slice* value, const std::vector<Slice>& operands) {
  if (!operands.empty() && is_elements({operands[0].data(), operands[0].size()})) return appended(value, operands);
  std::optional<Key> columns;
  if (value != nullptr && !is_gone({value->data(), value->size()})) {
    if (damage_of({value->data(), value->size()})) return value->ToString();
    if (!read_values({value->data(), value->size()}, columns.emplace()))
      return damaged("the number to add to is unreadable");
  }
  Addends next;
  for (const Slice& operand : operands) {
    next.values.clear();
    if (!read_addends(operand, next)) return damaged("the number to add is unreadable");
    const std::uint32_t vanishes = broken(Breakage::GoneShown) ? never_vanishes : next.vanishes;
    if (broken(Breakage::CounterMergedTwice) && columns) (void)add_to(columns, next.values, never_vanishes, 0);
    const auto done = add_to(columns, next.values, vanishes, next.values.size());
    if (!done) return damaged(done.error().message);
  }
  return columns ? write_values(*columns) : std::string();
}

// RocksDB drops what is below where a merge fails, silently; so none does. Nor may an exception pass through it: where
// there is no memory left, the process ends, and what is on disk is as good as before.
class CounterMerging final : public rocksdb::MergeOperator {
 public:
  [[nodiscard]] const char* Name() const override { return "noam.counters"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const noexcept override {
    out->new_value = merged(in.existing_value, in.operand_list);
    return true;
  }

  // Only what comes to the same for every value below: elements, or a single number. Where there are more, and the one
  // that counts comes to 0 between two operands, the others begin anew there.
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands, std::string* out,
                         rocksdb::Logger* /*logger*/) const noexcept override {
    if (!operands.empty() && is_elements({operands[0].data(), operands[0].size()})) {
      std::vector<std::string_view> all;
      for (const Slice& operand : operands) all.emplace_back(operand.data(), operand.size());
      auto joined = join_elements(all);
      if (joined) *out = std::move(*joined);
      return joined.has_value();
    }
    std::optional<Key> sum;
    for (const Slice& operand : operands) {
      Addends next;
      if (!read_addends(operand, next) || next.values.size() != 1 || next.vanishes != 0 || next.values[0].absent())
        return false;
      if (!add_to(sum, next.values, never_vanishes, 1)) return false;
    }
    *out = write_addends(Add{{}, std::move(*sum), 0}, 1);
    return true;
  }
};

class CounterClearing final : public rocksdb::CompactionFilter {
 public:
  [[nodiscard]] const char* Name() const override { return "noam.counters"; }
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType type, const Slice& value, std::string* /*changed*/,
                    std::string* /*skip_until*/) const override {
    return type == ValueType::kValue && is_gone({value.data(), value.size()}) ? Decision::kRemove : Decision::kKeep;
  }
};

class CounterClearingFactory final : public rocksdb::CompactionFilterFactory {
 public:
  [[nodiscard]] const char* Name() const override { return "noam.counters"; }
  [[nodiscard]] bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override {
    return reason == rocksdb::TableFileCreationReason::kFlush ||
           reason == rocksdb::TableFileCreationReason::kCompaction;
  }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& /*context*/) override {
    return std::make_unique<CounterClearing>();
  }
};

}  // namespace

std::string write_addends(const Add& add, std::size_t width) {
  Key values;
  values.reserve(1 + std::max(width, add.addends.size()));
  values.emplace_back(static_cast<std::int64_t>(add.vanishes));
  values.insert(values.end(), add.addends.begin(), add.addends.end());
  values.resize(1 + std::max(width, add.addends.size()));
  return write_values(values);
}

std::string merge_addends(std::optional<std::string_view> value, std::string_view addends) {
  const Slice below = value ? Slice(*value) : Slice();
  return merged(value ? &below : nullptr, {Slice(addends)});
}

std::shared_ptr<rocksdb::MergeOperator> counter_merging() { return std::make_shared<CounterMerging>(); }
std::shared_ptr<rocksdb::CompactionFilterFactory> counter_clearing() {
  return std::make_shared<CounterClearingFactory>();
}

std::optional<std::string_view> damage_of(std::string_view value) {
  if (!value.starts_with(damage_mark)) return std::nullopt;
  return value.substr(damage_mark.size());
}

}  // namespace noam::stores
