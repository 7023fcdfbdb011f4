#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/stores/blocks/block_store.h"

// The texts of a head.
namespace noam::stores::blocks {

inline constexpr TransactionId nobody{};
inline constexpr std::size_t remembered_transactions = 8;

// The first bytes of an id are a time.
TransactionId make_transaction(std::int64_t milliseconds, std::uint64_t random_a, std::uint64_t random_b);
std::int64_t milliseconds_of(const TransactionId& id);

// A command that was applied.
struct KeptGuard {
  std::string id;
  Key columns;  // of the guard; the last of them is the id's time
};

// What a transaction is about to do to a unit.
struct Hold {
  UnitRef home;             // where it commits
  std::uint64_t base = 0;   // the sequence of the home when the transaction read it
  bool pure = false;        // the transaction reads no unit that it does not write
  std::uint32_t units = 1;  // of the transaction
  std::vector<Change> changes;
  std::vector<KeptGuard> guards;
};
std::string write_hold(const Hold& hold);
Result<Hold> read_hold(std::string_view bytes, const UnitRef& unit, std::uint32_t collection);

std::vector<TransactionId> read_last(std::string_view bytes);
// With one more behind the others.
std::string add_to_last(std::string_view bytes, const TransactionId& id);

// A transaction, and the units that may still be held by it.
struct Mark {
  TransactionId transaction{};
  std::vector<UnitRef> units;
};
std::string write_done(const std::vector<Mark>& marks);
Result<std::vector<Mark>> read_done(std::string_view bytes);

struct Guards {
  std::vector<KeptGuard> kept;      // the oldest first
  std::int64_t newest_dropped = 0;  // the latest time of an id that is not kept here any more
};
std::string write_guards(const Guards& guards);
Result<Guards> read_guards(std::string_view bytes);
std::int64_t time_of(const KeptGuard& guard);

}  // namespace noam::stores::blocks
