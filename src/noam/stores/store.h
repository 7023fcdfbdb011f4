#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/design.h"
#include "noam/design/plan.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

// Where blocks are kept. A store knows collections, families and the order of their keys; nothing of the model.
namespace noam::stores {

using Key = std::vector<model::Datum>;
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline no_deadline = Deadline::max();
// The code of an error of `read` or `scan`: what was read before has changed. Run the whole again.
inline constexpr const char* conflict_code = "conflict";
// The code of an error of `commit` that came before anything was written. After its other errors, something may have
// been written.
inline constexpr const char* store_code = "store";
// The code of an error where the deadline has passed.
inline constexpr const char* timeout_code = "timeout";
// Whether the store has failed; other errors say what is wrong with what was asked.
inline bool is_failure(const Error& error) {
  return error.code.empty() || error.code == store_code || error.code == timeout_code;
}

// What one commit can span, atomically.
enum class Scope : std::uint8_t { Block, Database };

struct Capabilities {
  Scope scope = Scope::Database;
  bool snapshots = true;               // reads of one snapshot are of one moment
  bool durable = false;                // what was applied survives the end of the process
  bool shared = false;                 // other processes may use it at the same time
  bool watches_entries = true;         // a commit that relies on an entry does not mind changes beside it
  bool watches_collections = true;     // a commit may rely on a whole collection
  bool spreads_own = false;            // what noam orders for itself lies in many blocks, not in one
  std::size_t max_entry_bytes = 0;     // key and value; 0: no limit
  std::size_t max_commit_changes = 0;  // changes in a commit; 0: no limit
  std::size_t max_commit_blocks = 0;   // blocks that a commit changes; 0: no limit

  bool operator==(const Capabilities&) const = default;
};

struct BlockRef {
  std::uint32_t collection = 0;
  Key key;

  bool operator==(const BlockRef&) const = default;
  std::strong_ordering operator<=>(const BlockRef& other) const;
};

// Of a block, or of a collection. Opaque; only the store that gave it can tell what it means.
struct Version {
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;

  bool operator==(const Version&) const = default;
};

struct EntryRef {
  BlockRef block;
  std::uint32_t family = 0;
  Key key;

  bool operator==(const EntryRef&) const = default;
  std::strong_ordering operator<=>(const EntryRef& other) const;  // by block, family, and key, all ascending
};

// One end of a range of entries: the first parts of an entry key. The entries that begin with just these parts belong
// to the range where it is inclusive. No parts: no bound.
struct Bound {
  Key parts;
  bool inclusive = true;

  bool operator==(const Bound&) const = default;
};

// Some entries of one family in one block, in the order of their keys (`descending` parts count backwards, so `from` is
// what comes first in that order), or in the reverse of it, where `from` and `to` mean what they meant: `limit` then
// takes the entries before `to`.
struct ReadRequest {
  BlockRef block;
  std::uint32_t family = 0;
  Bound from;
  Bound to;
  bool reverse = false;
  std::size_t limit = 0;  // 0: all
  // Not the entries, but one without a key, whose only column is the list of the first columns of them all.
  bool gathered = false;
  // Not the entries, but rows of these columns made of them. Must outlive the request. Not together with `gathered`.
  const std::vector<design::ShownColumn>* shown = nullptr;
};

struct Entry {
  Key key;
  Key columns;

  bool operator==(const Entry&) const = default;
};

struct Answer {
  std::vector<Entry> entries;
  std::vector<Key> rows;  // where they are `shown`; of the entries then only the last is there, if there are `limit`
  Version version;        // of the block, absent or not
  bool more = false;      // there were more than `limit`
};
using Answers = std::vector<Answer>;

struct Put {
  EntryRef entry;
  Key columns;

  bool operator==(const Put&) const = default;
};
struct Delete {
  EntryRef entry;

  bool operator==(const Delete&) const = default;
};
// Adds to columns that are numbers, without reading them: an int to an int (or to nothing), a decimal to a decimal. An
// absent addend leaves its column alone. An entry that is not there begins with nothing in each column; one whose
// column `vanishes` becomes 0 is deleted. Where something is no number, or an int does not fit into 64 bits, there is
// no right value: a store that looks refuses the commit with an error, one that does not applies it, and from then on
// every read that meets the entry is an error that says so, until it is put or deleted. Never is there a wrong value.
// `max_entry_bytes` is not asked of it.
struct Add {
  EntryRef entry;
  Key addends;
  std::uint32_t vanishes = 0;

  bool operator==(const Add&) const = default;
};
// Appends to columns that are lists, without reading them: of each column a list of what comes to its end; an absent
// one leaves its column alone. Where the entry is not there, or a column is no list, there is no right value, as with
// an Add. Nor is `max_entry_bytes` asked: who appends knows how large the entry is.
struct Append {
  EntryRef entry;
  Key elements;

  bool operator==(const Append&) const = default;
};
using Change = std::variant<Put, Delete, Add, Append>;

// What a command saw and relies on: nothing in the block (or, without a block, in the whole collection) has changed
// since that version; or, with an entry of the block, there or not, only that one has not. A database may keep the
// families of a block apart; there the version is that of the family that was read.
struct Expect {
  struct Single {
    std::uint32_t family = 0;
    Key key;

    bool operator==(const Single&) const = default;
  };
  std::uint32_t collection = 0;
  std::optional<Key> block;
  Version version;
  std::optional<Single> entry = std::nullopt;
  std::optional<std::uint32_t> family = std::nullopt;
};

// A command's id, and what a repeat of the command is told. It is written together with the changes, and is not one of
// them.
struct Guard {
  EntryRef entry;       // by the id, in the family of the design that is there for guards
  Key columns;          // of this entry; none: nothing is to be kept, the commit only asks whether something is
  std::int64_t at = 0;  // the time of the id, in milliseconds
  // A block that follows from the command, its parameters and the id alone: where a database changes one block at a
  // time, the guard is kept there, and not in a block of its own.
  struct Beside {
    BlockRef block;
    std::uint32_t family = 0;
  };
  std::optional<Beside> beside = std::nullopt;
};

struct WriteBatch {
  std::vector<Expect> expects;
  std::vector<Change> changes;  // at most one of an entry
  std::optional<Guard> guard = std::nullopt;
};

// Already: the guard was there before, so nothing was changed, whatever became of the expectations.
enum class Outcome : std::uint8_t { Applied, Conflict, TooLarge, Unknown, Already };

struct Committed {
  Outcome outcome = Outcome::Applied;
  Key kept = {};         // Already: the columns of the guard
  std::string why = {};  // TooLarge, if not for an entry or the number of changes; Unknown, if the store says more

  Committed(Outcome what) : outcome(what) {}  // NOLINT: most outcomes have nothing else to tell
  Committed(Outcome what, Key columns) : outcome(what), kept(std::move(columns)) {}
  operator Outcome() const { return outcome; }  // NOLINT
};

// What a store is made for. What it refers to must outlive the call that it is given to.
struct Blueprint {
  const design::Design& design;
  const model::Model& model;          // that the types of the design are of
  std::string_view text = {};         // of the model; empty: unknown
  std::string_view design_text = {};  // empty: unknown

  Blueprint(const design::Design& of, const model::Model& types, std::string_view model_text = {},
            std::string_view text_of_design = {})
      : design(of), model(types), text(model_text), design_text(text_of_design) {}
  // Of a design without entities and values.
  Blueprint(const design::Design& of);  // NOLINT
};

// The design that a store was made for.
struct Deployment {
  std::string design;         // its name: a strategy, or a design of the model
  std::string layout;         // of the design (design/layout.h)
  std::uint32_t version = 1;  // counts the designs that the store had
  std::int64_t at = 0;        // milliseconds since 1970
  bool by_another = false;    // another process was faster
};

// What is read for: to change something that depends on it, or to tell it.
enum class Use : std::uint8_t { Change, Query };

// One moment of the store, or, if it has no snapshots, what was read so far: a read that does not fit to what was read
// before is an error with the code `conflict`. Then only a commit that expects all of it tells whether it was of one
// moment. Must not outlive the store.
class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  virtual ~Snapshot() = default;
};

// A page of all entries of a family, block by block, blocks in any order, which stays the same while nothing changes.
struct ScanPage {
  struct Item {
    Key block;
    Entry entry;
  };
  std::vector<Item> items;
  std::string next;  // where to go on; empty: that was all
  Version version;   // of the collection
};

// A block that is asked for often. The numbers are estimates, at least what was seen of it.
struct HotBlock {
  BlockRef block;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  double share = 0;  // of all accesses to the store, from 0 to 1

  bool operator==(const HotBlock&) const = default;
};

// A place where blocks are kept. Safe to use from several threads.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  // Makes room for the collections of the design. Does nothing where it is there already; an error where what is there
  // is of another design.
  virtual Result<void> deploy(const Blueprint& blueprint) = 0;
  // What was deployed; nothing: nothing yet.
  [[nodiscard]] virtual std::optional<Deployment> deployment() const = 0;

  virtual std::unique_ptr<Snapshot> snapshot(Use use = Use::Query) = 0;

  // One answer a request, in their order, with the version of its block. An absent block is an answer, not an error.
  // Without a snapshot each request sees its own moment, but those of one block that follow each other see the same.
  virtual Result<void> read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) = 0;

  // All of the batch or none of it, if every expectation holds. `Conflict`: one did not. Where the store is durable,
  // what was applied survives, and so does all that was there to be seen before it, also before a batch without
  // changes, and before a guard that is told. An error with the code `store` means that nothing was
  // written; after any other error, the batch may have been applied.
  virtual Result<Committed> commit(const WriteBatch& batch, Deadline by) = 0;

  // Some of the entries of a family, from where `after` (empty: the beginning) left off.
  virtual Result<ScanPage> scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) = 0;

  // Whether the family is kept outside of commits, by counters of the database: after a failure they may be off.
  [[nodiscard]] virtual bool approximate(std::uint32_t /*family*/) const { return false; }

  // Does what the store needs done now and then, and what others have left undone. How much there was.
  virtual Result<std::size_t> tidy(Deadline /*by*/) { return 0; }

  // Where most of the load goes, the hottest block first. Scans do not count. A store that does not look knows none.
  [[nodiscard]] virtual std::vector<HotBlock> hottest(std::size_t /*most*/) const { return {}; }
};

// What stores have in common.

const EntryRef& entry_of(const Change& change);

// What was read, as a request for it `gathered` is answered.
void gather(Answer& answer);
// What was read of the block, as a request for it with `shown` is answered.
void show(const ReadRequest& request, Answer& answer);

// What counts against `max_entry_bytes`.
std::size_t entry_bytes(const Key& key, const Key& columns);

// Adds to the columns of an entry (none: it is not there, and has so many). Where the one that `vanishes` comes to 0,
// none are left. An error where something is no number, or the result does not fit; then they are worth nothing.
Result<void> add_to(std::optional<Key>& columns, const Key& addends, std::uint32_t vanishes, std::size_t width);
// Appends to them, likewise.
Result<void> append_to(std::optional<Key>& columns, const Key& elements);

// What is told to who deploys where entries of another design lie.
Error other_design(const Deployment& deployed, const std::vector<std::string>& differences,
                   std::string_view what = "the store holds entries of");

}  // namespace noam::stores
