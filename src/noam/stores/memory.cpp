#include "noam/stores/memory.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/base/fair_shared_mutex.h"
#include "noam/design/layout.h"
#include "noam/stores/encoding.h"
#include "noam/stores/heat.h"
#include "noam/stores/in_time.h"

namespace noam::stores {
namespace {

using model::Datum;

// Commits are counted from 1. The number of a commit is the moment at which it became true.
using Moment = std::uint64_t;

// The first parts of a key, to look for where the keys that begin with them begin and end.
struct Prefix {
  const Key& parts;
};

// Of the entries of a family in a block. The vector is that of the family and outlives the entries.
class EntryOrder {
 public:
  using is_transparent = void;

  explicit EntryOrder(const std::vector<bool>& descending) : descending_(&descending) {}

  bool operator()(const Key& a, const Key& b) const {
    const auto order = compare(a, b);
    return std::is_neq(order) ? std::is_lt(order) : a.size() < b.size();
  }
  bool operator()(const Key& key, Prefix prefix) const { return std::is_lt(compare(key, prefix)); }
  bool operator()(Prefix prefix, const Key& key) const { return std::is_gt(compare(key, prefix)); }

  // Before, among or after the keys that begin with these parts.
  [[nodiscard]] std::strong_ordering compare(const Key& key, Prefix prefix) const {
    const auto order = compare(key, prefix.parts);
    if (std::is_neq(order) || key.size() >= prefix.parts.size()) return order;
    return std::strong_ordering::less;
  }

 private:
  // By the parts that both have.
  [[nodiscard]] std::strong_ordering compare(const Key& a, const Key& b) const {
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i) {
      const bool descending = i < descending_->size() && (*descending_)[i];
      const auto order = descending ? b[i] <=> a[i] : a[i] <=> b[i];
      if (std::is_neq(order)) return order;
    }
    return std::strong_ordering::equal;
  }

  const std::vector<bool>* descending_;
};

struct State {
  Moment since = 0;
  std::optional<Key> columns;  // nothing: the entry was gone
};

// Of an entry, ascending by moment. Before the first state the entry was not there.
struct History {
  std::vector<State> states;
  bool to_clear = false;  // it stands in the list of those to clear up

  [[nodiscard]] const Key* at(Moment moment) const {
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      if (state->since <= moment) return state->columns ? &*state->columns : nullptr;
    }
    return nullptr;
  }

  // Keeps the last state and what one of these snapshots (ascending) sees. A snapshot that is yet to come sees the last
  // state, so what was dropped is never missed.
  void drop_unseen(const std::vector<Moment>& snapshots) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const bool last = i + 1 == states.size();
      if (!last) {
        if (broken(Breakage::SnapshotForgets)) continue;
        const auto viewer = std::lower_bound(snapshots.begin(), snapshots.end(), states[i].since);
        if (viewer == snapshots.end() || *viewer >= states[i + 1].since) continue;
      }
      if (kept == 0 && !states[i].columns) continue;
      if (kept != i) states[kept] = std::move(states[i]);
      ++kept;
    }
    states.resize(kept);
  }
};

using Entries = std::map<Key, History, EntryOrder>;

struct Block {
  std::vector<Entries> families;  // by their place in the collection

  [[nodiscard]] bool empty() const {
    return std::all_of(families.begin(), families.end(), [](const Entries& entries) { return entries.empty(); });
  }
};

using Blocks = std::map<Key, Block>;

struct FamilyLayout {
  std::uint32_t collection = 0;
  std::size_t place = 0;  // in its collection
  std::size_t width = 0;
  std::vector<bool> descending;
};

struct Place {
  std::uint32_t collection;
  Blocks::iterator block;
  std::size_t family;
  Entries::iterator entry;
};

struct ScanPlace {
  Key block;
  Key entry;
};

std::string write_place(const Key& block, const Key& entry) { return write_values({Datum(block), Datum(entry)}); }

Result<ScanPlace> read_place(std::string_view text) {
  Key both;
  if (!read_values(text, both) || both.size() != 2 || !both[0].is_list() || !both[1].is_list())
    return Error{"invalid scan position"};
  return ScanPlace{both[0].as_list(), both[1].as_list()};
}

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const MemoryOptions& options)
      : options_(options), touched_(stripes), entries_touched_(stripes), heat_({.one_in = options.heat_one_in}) {
    capabilities_.max_entry_bytes = options.max_entry_bytes;
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Result<void> deploy(const Blueprint& blueprint) override;
  [[nodiscard]] std::optional<Deployment> deployment() const override;
  std::unique_ptr<Snapshot> snapshot(Use use) override;
  Result<void> read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) override;
  Result<Committed> commit(const WriteBatch& batch, Deadline by) override;
  Result<ScanPage> scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) override;
  [[nodiscard]] std::vector<HotBlock> hottest(std::size_t most) const override { return heat_.hottest(most); }

  void release(Moment snapshot);
  [[nodiscard]] MemoryUse use() const;

 private:
  // Blocks share counters of when they were last touched, so that absent ones have one too: a block may seem touched
  // because another was, never the other way round.
  static constexpr std::size_t stripes = 1U << 16U;

  [[nodiscard]] std::shared_lock<FairSharedMutex> lock_to_read() const { return std::shared_lock(mutex_); }
  [[nodiscard]] std::unique_lock<FairSharedMutex> lock_to_write() const { return std::unique_lock(mutex_); }

  [[nodiscard]] Result<void> knows(const BlockRef& block, std::uint32_t family) const;
  [[nodiscard]] Moment moment_of(const Snapshot* at) const;
  [[nodiscard]] Answer answer(const ReadRequest& request, Moment moment) const;
  [[nodiscard]] static std::size_t stripe_of(std::uint32_t collection, const Key& block);
  [[nodiscard]] static std::size_t stripe_of(std::size_t block_stripe, std::uint32_t family, const Key& entry);
  [[nodiscard]] Result<bool> holds(const Expect& expect) const;
  [[nodiscard]] const Key* current(const EntryRef& entry) const;
  [[nodiscard]] Result<std::optional<Key>> result_of(const Change& change) const;
  [[nodiscard]] Block make_block(std::uint32_t collection) const;
  [[nodiscard]] std::vector<Moment> live_snapshots();
  void write(const EntryRef& entry, std::optional<Key> columns, const std::vector<Moment>& snapshots);
  void settle(const Place& place, const std::vector<Moment>& snapshots);
  void clear_up(std::size_t at_most, const std::vector<Moment>& snapshots);

  const MemoryOptions options_;
  Capabilities capabilities_;

  mutable FairSharedMutex mutex_;  // guards what follows, down to the next mutex; taken before that
  std::optional<Deployment> deployment_;
  std::vector<FamilyLayout> families_;
  std::vector<Blocks> collections_;
  std::vector<Moment> collections_touched_;
  std::vector<Moment> touched_;           // by stripe of the block, and
  std::vector<Moment> entries_touched_;   // by that of the entry
  Moment now_ = 0;                        // the last commit
  std::multimap<Moment, Place> unclear_;  // entries with states for snapshots, by their last state when put here

  std::mutex snapshots_mutex_;
  std::map<Moment, std::size_t> snapshots_;  // how many are alive

  Heat heat_;
};

class MemorySnapshot final : public Snapshot {
 public:
  MemorySnapshot(MemoryStore& store, Moment moment) : store_(store), moment_(moment) {}
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;
  ~MemorySnapshot() override { store_.release(moment_); }

  [[nodiscard]] bool of(const Store& store) const { return &store_ == &store; }
  [[nodiscard]] Moment moment() const { return moment_; }

 private:
  MemoryStore& store_;
  const Moment moment_;
};

Result<void> MemoryStore::deploy(const Blueprint& blueprint) {
  const design::Design& design = blueprint.design;
  const auto lock = lock_to_write();
  if (deployment_ && deployment_->layout == design.layout) return {};

  clear_up(std::numeric_limits<std::size_t>::max(), live_snapshots());
  const bool empty = std::all_of(collections_.begin(), collections_.end(), [](const Blocks& b) { return b.empty(); });
  if (!empty) {
    std::vector<std::string> differences = design::layout_differences(deployment_->layout, design.layout);
    if (differences.empty()) differences.emplace_back("its collections or families are in another order");
    return other_design(*deployment_, differences);
  }

  // What was read under another design is not what is there now.
  if (deployment_) ++now_;
  std::fill(touched_.begin(), touched_.end(), now_);
  std::fill(entries_touched_.begin(), entries_touched_.end(), now_);
  heat_.clear();
  deployment_ = Deployment{design.name, design.layout, deployment_ ? deployment_->version + 1 : 1, 0};
  collections_.assign(design.collections.size(), Blocks());
  collections_touched_.assign(design.collections.size(), now_);
  families_.clear();
  std::vector<std::size_t> places(design.collections.size());
  for (const design::Family& family : design.families) {
    check(family.collection < design.collections.size(), "a family lies in a collection of its design");
    FamilyLayout layout;
    layout.collection = family.collection;
    layout.place = places[family.collection]++;
    layout.width = family.width();
    for (const model::Part& part : family.key) layout.descending.push_back(part.descending);
    families_.push_back(std::move(layout));
  }
  return {};
}

std::optional<Deployment> MemoryStore::deployment() const {
  const auto lock = lock_to_read();
  return deployment_;
}

std::unique_ptr<Snapshot> MemoryStore::snapshot(Use /*use*/) {
  // While it is shared nobody commits, so the moment is registered before anything after it could be cleared up.
  const auto lock = lock_to_read();
  const std::lock_guard snapshots_lock(snapshots_mutex_);
  ++snapshots_[now_];
  return std::make_unique<MemorySnapshot>(*this, now_);
}

void MemoryStore::release(Moment snapshot) {
  const std::lock_guard lock(snapshots_mutex_);
  const auto found = snapshots_.find(snapshot);
  if (--found->second == 0) snapshots_.erase(found);
}

std::vector<Moment> MemoryStore::live_snapshots() {
  const std::lock_guard lock(snapshots_mutex_);
  std::vector<Moment> moments;
  moments.reserve(snapshots_.size());
  for (const auto& [moment, count] : snapshots_) moments.push_back(moment);
  return moments;
}

MemoryUse MemoryStore::use() const {
  const auto lock = lock_to_read();
  MemoryUse use;
  for (const Blocks& blocks : collections_) {
    use.blocks += blocks.size();
    for (const auto& [key, block] : blocks) {
      for (const Entries& entries : block.families) {
        use.entries += entries.size();
        for (const auto& [entry_key, history] : entries) use.states += history.states.size();
      }
    }
  }
  return use;
}

Result<void> MemoryStore::knows(const BlockRef& block, std::uint32_t family) const {
  if (!deployment_) return Error{"no design was deployed to the store"};
  if (family >= families_.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  if (families_[family].collection != block.collection) {
    return Error{fmt::format("family {} of the store's design is not in collection {}", family, block.collection)};
  }
  return {};
}

Moment MemoryStore::moment_of(const Snapshot* at) const {
  if (at == nullptr || broken(Breakage::SnapshotSeesLaterWrites)) return now_;
  const auto* snapshot = dynamic_cast<const MemorySnapshot*>(at);
  check(snapshot != nullptr && snapshot->of(*this), "a snapshot is used on the store that made it");
  return snapshot->moment();
}

Result<void> MemoryStore::read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) {
  out.clear();
  NOAM_RETURN_IF_ERROR(in_time(by));
  const auto lock = lock_to_read();
  for (const ReadRequest& request : requests) NOAM_RETURN_IF_ERROR(knows(request.block, request.family));
  out.reserve(requests.size());
  const Moment moment = moment_of(at);
  for (const ReadRequest& request : requests) {
    heat_.touch(request.block, Access::Read);
    out.push_back(answer(request, moment));
    if (request.gathered) gather(out.back());
    if (request.shown != nullptr) show(request, out.back());
  }
  return {};
}

// Takes entries as long as they are within the range.
template <typename Iterator, typename Within>
void take(Iterator entry, Iterator end, const Within& within, Moment moment, std::size_t limit, Answer& out) {
  for (; entry != end && within(entry->first); ++entry) {
    const Key* columns = entry->second.at(moment);
    if (columns == nullptr) continue;
    if (limit != 0 && out.entries.size() == limit) {
      out.more = true;
      return;
    }
    out.entries.push_back({entry->first, *columns});
  }
}

Answer MemoryStore::answer(const ReadRequest& request, Moment moment) const {
  Answer out;
  out.version.number = moment;
  const Blocks& blocks = collections_[request.block.collection];
  const auto block = blocks.find(request.block.key);
  if (block == blocks.end()) return out;
  const Entries& entries = block->second.families[families_[request.family].place];
  const EntryOrder order = entries.key_comp();
  const Prefix from{request.from.parts};
  const Prefix to{request.to.parts};

  // Bounds may cross, so each end is found by search and the other by looking.
  if (request.reverse) {
    const auto begins = [&](const Key& key) {
      if (from.parts.empty()) return true;
      const auto place = order.compare(key, from);
      return std::is_gt(place) || (std::is_eq(place) && request.from.inclusive);
    };
    const auto end = to.parts.empty()       ? entries.end()
                     : request.to.inclusive ? entries.upper_bound(to)
                                            : entries.lower_bound(to);
    take(std::make_reverse_iterator(end), entries.rend(), begins, moment, request.limit, out);
  } else {
    const auto ends = [&](const Key& key) {
      if (to.parts.empty()) return true;
      const auto place = order.compare(key, to);
      return std::is_lt(place) || (std::is_eq(place) && request.to.inclusive);
    };
    const auto begin = from.parts.empty()       ? entries.begin()
                       : request.from.inclusive ? entries.lower_bound(from)
                                                : entries.upper_bound(from);
    take(begin, entries.end(), ends, moment, request.limit, out);
  }
  return out;
}

namespace {

std::uint64_t hash_of(std::uint64_t hash, const Key& parts) {
  for (const Datum& part : parts) hash = (hash + hash_value(part)) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

}  // namespace

std::size_t MemoryStore::stripe_of(std::uint32_t collection, const Key& block) {
  return hash_of(collection, block) % stripes;
}

std::size_t MemoryStore::stripe_of(std::size_t block_stripe, std::uint32_t family, const Key& entry) {
  return hash_of(block_stripe * 31 + family, entry) % stripes;
}

Result<bool> MemoryStore::holds(const Expect& expect) const {
  if (expect.collection >= collections_.size()) {
    return Error{fmt::format("the design of the store has no collection {}", expect.collection)};
  }
  Moment touched = collections_touched_[expect.collection];
  if (expect.block) {
    const std::size_t block = stripe_of(expect.collection, *expect.block);
    touched =
        expect.entry ? entries_touched_[stripe_of(block, expect.entry->family, expect.entry->key)] : touched_[block];
  }
  if (broken(Breakage::LastCommitOverlooked) && touched == now_) return true;
  return touched <= expect.version.number;
}

const Key* MemoryStore::current(const EntryRef& entry) const {
  const Blocks& blocks = collections_[entry.block.collection];
  const auto block = blocks.find(entry.block.key);
  if (block == blocks.end()) return nullptr;
  const Entries& entries = block->second.families[families_[entry.family].place];
  const auto found = entries.find(entry.key);
  return found == entries.end() ? nullptr : found->second.at(now_);
}

Result<std::optional<Key>> MemoryStore::result_of(const Change& change) const {
  std::optional<Key> columns;
  if (const auto* add = std::get_if<Add>(&change)) {
    if (const Key* before = current(add->entry)) columns = *before;
    NOAM_RETURN_IF_ERROR(add_to(columns, add->addends, add->vanishes, families_[add->entry.family].width));
  }
  if (const auto* append = std::get_if<Append>(&change)) {
    if (const Key* before = current(append->entry)) columns = *before;
    NOAM_RETURN_IF_ERROR(append_to(columns, append->elements));
  }
  if (const auto* put = std::get_if<Put>(&change)) columns = put->columns;
  return columns;
}

Result<Committed> MemoryStore::commit(const WriteBatch& batch, Deadline by) {
  NOAM_RETURN_IF_ERROR(in_time(by));
  const auto lock = lock_to_write();
  for (const Change& change : batch.changes) {
    const EntryRef& entry = entry_of(change);
    NOAM_RETURN_IF_ERROR(knows(entry.block, entry.family));
  }
  if (batch.guard) {
    NOAM_RETURN_IF_ERROR(knows(batch.guard->entry.block, batch.guard->entry.family));
    const Key* kept = current(batch.guard->entry);
    if (kept != nullptr && !broken(Breakage::RepeatAppliedAgain)) return Committed{Outcome::Already, *kept};
  }
  for (const Expect& expect : batch.expects) {
    NOAM_ASSIGN_OR_RETURN(const bool held, holds(expect));
    if (!held) return Outcome::Conflict;
  }

  // Whatever can go wrong does so before the first change.
  std::vector<std::optional<Key>> results;
  results.reserve(batch.changes.size());
  for (const Change& change : batch.changes) {
    NOAM_ASSIGN_OR_RETURN(auto columns, result_of(change));
    const bool too_large = options_.max_entry_bytes != 0 && std::holds_alternative<Put>(change) &&
                           entry_bytes(entry_of(change).key, *columns) > options_.max_entry_bytes;
    if (too_large) return Outcome::TooLarge;
    results.push_back(std::move(columns));
  }
  const bool guarded = batch.guard && !batch.guard->columns.empty();
  if (guarded && options_.max_entry_bytes != 0 &&
      entry_bytes(batch.guard->entry.key, batch.guard->columns) > options_.max_entry_bytes)
    return Outcome::TooLarge;
  if (batch.changes.empty() && !guarded) return Outcome::Applied;

  ++now_;
  const std::vector<Moment> snapshots = live_snapshots();
  for (std::size_t i = 0; i < batch.changes.size(); ++i) {
    const EntryRef& entry = entry_of(batch.changes[i]);
    write(entry, std::move(results[i]), snapshots);
    if (i == 0 || entry.block != entry_of(batch.changes[i - 1]).block) heat_.touch(entry.block, Access::Write);
  }
  if (guarded) {
    write(batch.guard->entry, batch.guard->columns, snapshots);
    heat_.touch(batch.guard->entry.block, Access::Write);
  }
  // More than a commit can add, so that the rest shrinks, and no commit pays for all that a snapshot left.
  clear_up(2 * batch.changes.size() + 64, snapshots);
  return Outcome::Applied;
}

Block MemoryStore::make_block(std::uint32_t collection) const {
  Block block;
  for (const FamilyLayout& family : families_) {
    if (family.collection == collection) block.families.emplace_back(EntryOrder(family.descending));
  }
  return block;
}

void MemoryStore::write(const EntryRef& entry, std::optional<Key> columns, const std::vector<Moment>& snapshots) {
  const std::uint32_t collection = entry.block.collection;
  const std::size_t stripe = stripe_of(collection, entry.block.key);
  touched_[stripe] = now_;
  entries_touched_[stripe_of(stripe, entry.family, entry.key)] = now_;
  collections_touched_[collection] = now_;

  const std::size_t family = families_[entry.family].place;
  Blocks& blocks = collections_[collection];
  auto block = blocks.find(entry.block.key);
  if (block == blocks.end()) {
    if (!columns) return;
    block = blocks.emplace(entry.block.key, make_block(collection)).first;
  }
  Entries& entries = block->second.families[family];
  auto found = entries.find(entry.key);
  if (found == entries.end()) {
    if (!columns) return;
    found = entries.try_emplace(entry.key).first;
  }
  std::vector<State>& states = found->second.states;
  check(states.empty() || states.back().since < now_, "a batch changes an entry once");
  states.push_back({now_, std::move(columns)});
  settle({collection, block, family, found}, snapshots);
}

// Drops what nobody sees any more, and remembers an entry that is not clear yet.
void MemoryStore::settle(const Place& place, const std::vector<Moment>& snapshots) {
  History& history = place.entry->second;
  history.drop_unseen(snapshots);
  if (history.to_clear) return;
  if (history.states.empty()) {
    place.block->second.families[place.family].erase(place.entry);
    if (place.block->second.empty()) collections_[place.collection].erase(place.block);
  } else if (history.states.size() > 1) {
    history.to_clear = true;
    unclear_.emplace(history.states.back().since, place);
  }
}

void MemoryStore::clear_up(std::size_t at_most, const std::vector<Moment>& snapshots) {
  const Moment oldest = snapshots.empty() ? now_ : snapshots.front();
  for (; at_most > 0 && !unclear_.empty() && unclear_.begin()->first <= oldest; --at_most) {
    const Place place = unclear_.begin()->second;
    unclear_.erase(unclear_.begin());
    place.entry->second.to_clear = false;
    settle(place, snapshots);
  }
}

Result<ScanPage> MemoryStore::scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) {
  NOAM_RETURN_IF_ERROR(in_time(by));
  std::optional<ScanPlace> last;
  if (!after.empty()) {
    NOAM_ASSIGN_OR_RETURN(last, read_place(after));
  }
  const auto lock = lock_to_read();
  if (!deployment_) return Error{"no design was deployed to the store"};
  if (family >= families_.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  const FamilyLayout& layout = families_[family];
  const Moment moment = moment_of(at);
  const std::size_t page_size = std::max<std::size_t>(options_.scan_page, 1);
  const Blocks& blocks = collections_[layout.collection];

  ScanPage page;
  page.version.number = moment;
  for (auto block = last ? blocks.lower_bound(last->block) : blocks.begin(); block != blocks.end(); ++block) {
    const Entries& entries = block->second.families[layout.place];
    auto entry = last && last->block == block->first ? entries.upper_bound(last->entry) : entries.begin();
    for (; entry != entries.end(); ++entry) {
      const Key* columns = entry->second.at(moment);
      if (columns == nullptr) continue;
      if (page.items.size() == page_size) {
        page.next = write_place(page.items.back().block, page.items.back().entry.key);
        return page;
      }
      page.items.push_back({block->first, {entry->first, *columns}});
    }
  }
  return page;
}

}  // namespace

std::unique_ptr<Store> open_memory_store(const MemoryOptions& options) {
  return std::make_unique<MemoryStore>(options);
}

MemoryUse memory_use(const Store& store) {
  const auto* memory = dynamic_cast<const MemoryStore*>(&store);
  check(memory != nullptr, "only a memory store tells its use");
  return memory->use();
}

}  // namespace noam::stores
