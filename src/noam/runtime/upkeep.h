#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/runtime/evaluate.h"
#include "noam/runtime/transaction.h"

namespace noam::runtime {

// What became of one aggregate since the copies were right.
struct AggregateChange {
  model::EntityId entity{};
  model::Datum key;
  std::optional<model::Datum::List> before;  // its fields; none: it was not there
  std::optional<model::Datum::List> after;
  // Events went with their owner: `before` has what a copy knew of them, and that copy has forgotten them already.
  bool forgotten = false;
};

// The rows of a refreshed query that went and came, each: time, position, columns.
struct RefreshChange {
  std::uint32_t query = 0;
  std::vector<Row> removed;
  std::vector<Row> added;
  std::vector<Row> last_removed;  // of the last refresh as it was, and
  std::vector<Row> last_added;    // as it is
};

// The key of an entry: that of its block, and its own.
using EntryKey = std::pair<stores::Key, stores::Key>;

// The one derivation of a copy: the value of an entry from the derived rows that share it (Upkeep says what they are).
stores::Key derive_entry(const design::Program& program, const design::Upkeep& upkeep, std::vector<Row> rows);
EntryKey entry_key(const design::Program& program, const design::Upkeep& upkeep, const Row& row);
// All entries of a copy from all its rows: grouped, and folded.
std::map<EntryKey, stores::Key> derive_entries(const design::Program& program, const design::Upkeep& upkeep,
                                               const std::vector<Row>& rows);
// Leaves those that must be there: of a copy with a limit, the first of each block. The others, which may be, come
// back.
std::map<EntryKey, stores::Key> cut_entries(const design::Program& program, const design::Upkeep& upkeep,
                                            std::map<EntryKey, stores::Key>& entries);

// Brings all copies up to date with what changed: `Before` is the state in which they were right, `Now` holds the
// changed bases. Writes go to the transaction.
Result<void> keep_copies(const design::Program& program, Transaction& transaction, const Environment& environment,
                         const std::vector<AggregateChange>& changes, const std::vector<RefreshChange>& refreshes);

}  // namespace noam::runtime
