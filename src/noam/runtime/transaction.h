#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/design.h"
#include "noam/runtime/copies.h"
#include "noam/stores/store.h"

namespace noam::runtime {

// Orders entry keys of one family as its blocks do.
struct KeyOrder {
  const std::vector<model::Part>* parts = nullptr;  // of the family's key; they outlive it

  bool operator()(const stores::Key& a, const stores::Key& b) const;
  // Of the parts that both have: less, equal, greater.
  [[nodiscard]] int compare(const stores::Key& a, const stores::Key& b) const;
};

// What one statement reads, and what it is about to write. Reads see one moment of the store with the statement's own
// changes on top, in layers: what is written goes to the newest; a reader may be shown all of them, or all but that.
class Transaction {
 public:
  enum class Use : std::uint8_t {
    Change,  // what it reads must not have changed when it commits
    Query,   // reads one moment, and that is all
    Glance,  // a query that reads once: one read is of one moment by itself
  };
  // Whether what it reads has to be looked at again before it counts.
  [[nodiscard]] bool is_validated() const {
    return use_ == Use::Change || (use_ == Use::Query && !store_.capabilities().snapshots);
  }

  // Plans may not read the copies that are not ready; without `copies`, all. Without a moment, that of the first read.
  Transaction(stores::Store& store, const design::Design& design, stores::Deadline by,
              const CopyStates* copies = nullptr, std::shared_ptr<const stores::Snapshot> at = nullptr)
      : store_(store), design_(design), by_(by), copies_(copies), snapshot_(std::move(at)) {}

  void use_for(Use use) { use_ = use; }
  // The moment is this one.
  void begin() { moment(); }

  // From now on reads end with the code `interrupted` once this is true (null: never). It must outlive the transaction.
  void watch(const std::atomic<bool>* interrupted) { interrupted_ = interrupted; }
  // For loops that are long between reads.
  [[nodiscard]] bool interrupted() const {
    return interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed);
  }
  static Error interruption() { return Error{"interrupted", "interrupted"}; }

  enum class Moment : std::uint8_t { Before, Now };  // without the newest layer, or with it

  // Whether a plan may rely on what lies in the family. What changes something because of it must not commit if another
  // process finds the copy broken meanwhile.
  Result<void> may_read(std::uint32_t family) {
    if (copies_ == nullptr) return {};
    NOAM_RETURN_IF_ERROR(copies_->may_read(family));
    if (use_ == Use::Change && store_.capabilities().shared) copies_read_.insert(family);
    return {};
  }

  Result<void> read(std::span<const stores::ReadRequest> requests, Moment moment, stores::Answers& out);
  // The columns of one entry, if it is there.
  Result<std::optional<stores::Key>> read_entry(const stores::EntryRef& entry, Moment moment);
  // All entries of a family.
  Result<std::vector<stores::ScanPage::Item>> scan(std::uint32_t family, Moment moment);

  void put(stores::EntryRef entry, stores::Key columns);
  void erase(stores::EntryRef entry);
  // Where the column `vanishes` comes to nothing, the others must, too.
  void add(stores::EntryRef entry, stores::Key addends, std::uint32_t vanishes);
  [[nodiscard]] const stores::Capabilities& capabilities() const { return store_.capabilities(); }
  // Of an entry, as the store wants it; 0: no matter.
  [[nodiscard]] std::size_t max_entry_bytes() const { return store_.capabilities().max_entry_bytes; }
  // To lists of an entry that is there.
  void append(stores::EntryRef entry, stores::Key elements);
  // A block that may hold far more entries of a copy than its limit says; to be cut when this is done.
  struct Overfull {
    stores::BlockRef block;
    std::uint32_t family = 0;
  };
  void note_overfull(stores::BlockRef block, std::uint32_t family) { overfull_.push_back({std::move(block), family}); }
  [[nodiscard]] const std::vector<Overfull>& overfull() const { return overfull_; }
  // What was written so far belongs to `Before` from here on.
  void settle();

  // All changes, with what must not have changed meanwhile.
  [[nodiscard]] stores::WriteBatch batch() const;
  stores::WriteBatch take_batch();            // the same of one that is not needed any more
  stores::WriteBatch take_reads();            // without the changes
  [[nodiscard]] std::size_t changed() const;  // entries

 private:
  struct Pending {
    enum class Kind : std::uint8_t { Put, Delete, Add, Append };
    Kind kind = Kind::Put;
    stores::Key columns;  // Put: the value; Add: addends; Append: elements
    std::uint32_t vanishes = 0;
  };
  struct BlockFamily {
    stores::BlockRef block;
    std::uint32_t family = 0;
  };
  struct BlockFamilyView {  // to look one up
    const stores::BlockRef& block;
    std::uint32_t family;
  };
  struct BlockOrder {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.family != b.family ? a.family < b.family : a.block < b.block;
    }
  };
  using Entries = std::map<stores::Key, Pending, KeyOrder>;
  using Layer = std::map<BlockFamily, Entries, BlockOrder>;

  // Behind all that was written: the rows of a load mostly come in order.
  static bool lies_behind(const Layer& layer, const BlockFamilyView& at) {
    return layer.empty() || BlockOrder()(std::prev(layer.end())->first, at);
  }
  Entries& entries_of(Layer& layer, stores::BlockRef&& block, std::uint32_t family);
  static bool changes(const Layer& layer, const stores::ReadRequest& request) {
    const BlockFamilyView at{request.block, request.family};
    return !lies_behind(layer, at) && layer.contains(at);
  }
  // On top of what is pending for the entry.
  void note(stores::EntryRef entry, Pending pending);
  // What it asks for must not have changed when this commits: one entry, or whatever lies in the block.
  void rely_on(const stores::ReadRequest& request, stores::Version version);
  // Several copies may depend on the same things, which a new instance does not yet have: these are looked for once.
  Result<void> read_store(std::span<const stores::ReadRequest> requests, stores::Answers& out);
  const stores::Snapshot* moment();
  void merge(Pending& below, Pending above);
  std::optional<stores::Key> applied(const std::optional<stores::Key>& below, const Pending& pending);

  stores::Store& store_;
  const design::Design& design_;
  stores::Deadline by_;
  const CopyStates* copies_;
  const std::atomic<bool>* interrupted_ = nullptr;
  std::shared_ptr<const stores::Snapshot> snapshot_;
  Use use_ = Use::Change;
  Layer settled_;
  Layer newest_;
  std::vector<std::pair<stores::ReadRequest, stores::Version>> nothing_;  // some that found nothing
  std::vector<stores::Expect> read_;                                      // the same perhaps several times
  std::map<std::uint32_t, stores::Version> collections_;                  // scanned
  std::vector<Overfull> overfull_;
  std::set<std::uint32_t> copies_read_;
  bool torn_ = false;  // something was read that was never so at one moment
};

}  // namespace noam::runtime
