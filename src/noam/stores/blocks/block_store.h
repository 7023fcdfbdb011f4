#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/design.h"
#include "noam/stores/store.h"

// What a database has to do so that open_block_layer() makes a whole store of it: read a block at one moment, and write
// a block under a condition.
namespace noam::stores::blocks {

// What the database changes atomically. If the families of a block lie in several tables, each of them is a part, and
// the block is a unit in each.
struct UnitRef {
  std::uint32_t part = 0;
  Key block;

  bool operator==(const UnitRef&) const = default;
  std::strong_ordering operator<=>(const UnitRef& other) const;
};

// 16 bytes: the time in milliseconds, and random bits. Zero: none.
using TransactionId = std::array<unsigned char, 16>;

// What lies beside the entries of a unit. The texts are those of records.h; the database only keeps them.
struct Head {
  std::uint64_t version = 0;   // moves with every committed change of the entries; 0: never written
  std::uint64_t sequence = 0;  // moves with every change of the head but one; 0: there is no head
  TransactionId holder{};      // who is about to change the unit
  std::string hold;            // and how
  std::string last;            // the transactions that made the last versions
  std::string done;            // transactions that committed here and may have holds elsewhere
  std::string guards;          // of the commands that were applied here

  bool operator==(const Head&) const = default;
};

// Some entries of a family of the unit, as in a ReadRequest.
struct UnitRange {
  std::uint32_t family = 0;
  Bound from;
  Bound to;
  bool reverse = false;
  std::size_t limit = 0;

  bool operator==(const UnitRange&) const = default;
};

// How much of a head is asked for: version, sequence and holder; or all of it.
enum class HeadPart : std::uint8_t { Marks, Whole };

struct UnitRead {
  UnitRef unit;
  std::vector<UnitRange> ranges;  // none: the head alone
  HeadPart head = HeadPart::Whole;
};

struct UnitAnswer {
  Head head;
  struct Range {
    std::vector<Entry> entries;
    bool more = false;
  };
  std::vector<Range> ranges;  // as asked
};

struct UnitWrite {
  UnitRef unit;
  struct Sequence {  // the head has this sequence
    std::uint64_t is = 0;
  };
  struct Held {  // the unit is held by this transaction
    TransactionId by{};
  };
  std::variant<Sequence, Held> condition;
  std::vector<Change> changes;  // puts and deletes only
  std::optional<Head> head;     // afterwards; none: the unit is only asked whether the condition holds; without a
                                // sequence: there is no head any more
};

// Failed: a condition did not hold, nothing was written. Unknown: it may have been written, or may be later.
enum class Written : std::uint8_t { Done, Failed, Unknown };

// Linearizable: as of now. Committed: of one moment, but perhaps of an earlier one.
enum class Fresh : std::uint8_t { Linearizable, Committed };

// What a walk over all units shows of each: its entries, with the marks of its head; or the whole head.
enum class Walk : std::uint8_t { Entries, Heads };

struct UnitPage {
  struct Item {
    Key block;
    Head head;
    bool empty = false;                                    // there are no entries
    std::vector<std::pair<std::uint32_t, Entry>> entries;  // with their families, each family in its order
  };
  std::vector<Item> items;  // whole units, each of one moment
  std::string next;         // empty: that was all
};

struct BlockCapabilities {
  std::size_t units_at_once = 1;      // written, all or none, under conditions
  std::size_t max_entry_bytes = 0;    // of an entry that is put; 0: no limit
  std::size_t max_unit_bytes = 0;     // of what one write changes in a unit; 0: no limit
  std::size_t max_commit_blocks = 0;  // 0: no limit
  bool durable = true;
  bool spreads_own = false;  // one block must not grow for ever, or take all the load
};

// Safe to use from several threads.
class BlockStore {
 public:
  BlockStore() = default;
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;
  virtual ~BlockStore() = default;

  [[nodiscard]] virtual const BlockCapabilities& capabilities() const = 0;

  // As those of Store.
  virtual Result<void> deploy(const Blueprint& blueprint) = 0;
  [[nodiscard]] virtual std::optional<Deployment> deployment() const = 0;

  // Where the entries of a family lie. Parts are counted from 0; each belongs to one collection.
  [[nodiscard]] virtual std::uint32_t part_of(std::uint32_t family) const = 0;

  // Whether a part holds nothing but counters of the database: no heads, and no writes but add().
  [[nodiscard]] virtual bool counts(std::uint32_t /*part*/) const { return false; }
  // Adds to counters, each by itself. What fails may have been added.
  virtual Result<void> add(const std::vector<Add>& /*adds*/, Deadline /*by*/) { return {}; }

  // One answer for each, in their order; head and entries of a unit are of one moment.
  virtual Result<void> read(const std::vector<UnitRead>& units, Fresh fresh, Deadline by,
                            std::vector<UnitAnswer>& out) = 0;

  // Each group all or none, several groups at the same time. One outcome for each group. A group has at most
  // `units_at_once` units. An error: the database does not take one of them, so to send it again is of no use; nothing
  // is known of the others.
  virtual Result<void> write(const std::vector<std::vector<UnitWrite>>& groups, Deadline by,
                             std::vector<Written>& out) = 0;

  // Commands that a head has no more room for, by their ids. A plain write, which may be repeated; kept for three hours
  // at least.
  virtual Result<void> keep_command(const std::string& id, const Key& columns, Deadline by) = 0;
  virtual Result<std::optional<Key>> kept_command(const std::string& id, Deadline by) = 0;

  // Units of a part, from where `after` (empty: the beginning) left off. Also those without entries, if they have a
  // head.
  virtual Result<UnitPage> scan(std::uint32_t part, Walk what, const std::string& after, Deadline by) = 0;
};

}  // namespace noam::stores::blocks
