#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include "noam/stores/store.h"

// Adds in the embedded store. A commit writes what is to be added and reads nothing; RocksDB makes values of it when
// somebody reads, or when it merges tables. So it is with Appends (appends.h), which the same operator merges.
namespace noam::stores {

// What is written for an Add to an entry of so many columns.
std::string write_addends(const Add& add, std::size_t width);

// What it makes of a value (none: there is none).
std::string merge_addends(std::optional<std::string_view> value, std::string_view addends);

// Makes values of such: what `add_to` would make, one after the other.
std::shared_ptr<rocksdb::MergeOperator> counter_merging();

// Drops entries that are gone.
std::shared_ptr<rocksdb::CompactionFilterFactory> counter_clearing();

// A value may say that an Add took the entry: nobody sees it.
inline bool is_gone(std::string_view value) { return value.empty(); }

// Or that no value came of an Add, with the reason. It stays so until the entry is put or deleted.
std::optional<std::string_view> damage_of(std::string_view value);

}  // namespace noam::stores
