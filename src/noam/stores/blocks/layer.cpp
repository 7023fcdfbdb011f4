#include "noam/stores/blocks/layer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/stores/in_time.h"

namespace noam::stores::blocks {

namespace {

// What was seen of each unit. A second look must see the same.
class LayerSnapshot final : public Snapshot {
 public:
  explicit LayerSnapshot(Use use) : use_(use) {}

  [[nodiscard]] Use use() const { return use_; }

  // False: it was seen with another version.
  bool see(const UnitRef& unit, const Version& version) const {
    const std::lock_guard lock(lock_);
    const auto [at, fresh] = seen_.try_emplace(unit, Seen{version, {}});
    const Version& before = at->second.version;
    return fresh || (before.number == version.number && (use_ == Use::Query || before.sequence == version.sequence));
  }

  // Commands ask for the same entries several times: for a condition, to work out what to write, and for the copies.
  void remember(const UnitRef& unit, const UnitRange& asked, const UnitAnswer::Range& answer) const {
    if (use_ != Use::Change || answer.entries.size() > most_entries) return;
    const std::lock_guard lock(lock_);
    const auto found = seen_.find(unit);
    if (found != seen_.end() && found->second.ranges.size() < most_ranges)
      found->second.ranges.emplace_back(asked, answer);
  }
  [[nodiscard]] std::optional<std::pair<Version, UnitAnswer::Range>> known(const UnitRef& unit,
                                                                           const UnitRange& asked) const {
    if (use_ != Use::Change) return std::nullopt;
    const std::lock_guard lock(lock_);
    const auto found = seen_.find(unit);
    if (found == seen_.end()) return std::nullopt;
    for (const auto& [range, answer] : found->second.ranges)
      if (range == asked) return std::pair(found->second.version, answer);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_entries = 64;  // of a range that is remembered
  static constexpr std::size_t most_ranges = 16;   // of a unit

  struct Seen {
    Version version;
    std::vector<std::pair<UnitRange, UnitAnswer::Range>> ranges;
  };
  const Use use_;
  mutable std::mutex lock_;
  mutable std::map<UnitRef, Seen> seen_;
};

class BlockLayer final : public Store {
 public:
  BlockLayer(std::unique_ptr<BlockStore> behind, Surroundings around, const ProtocolOptions& options)
      : behind_(std::move(behind)), protocol_(*behind_, around_, options), around_(std::move(around)) {
    const BlockCapabilities& can = behind_->capabilities();
    capabilities_.snapshots = false;
    capabilities_.shared = true;
    capabilities_.watches_entries = false;
    capabilities_.watches_collections = false;
    capabilities_.durable = can.durable;
    capabilities_.spreads_own = can.spreads_own;
    capabilities_.max_entry_bytes = can.max_entry_bytes;
    capabilities_.max_commit_blocks = can.max_commit_blocks;
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Result<void> deploy(const Blueprint& blueprint) override;
  [[nodiscard]] std::optional<Deployment> deployment() const override { return behind_->deployment(); }
  std::unique_ptr<Snapshot> snapshot(Use use) override { return std::make_unique<LayerSnapshot>(use); }
  Result<void> read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) override;
  Result<Committed> commit(const WriteBatch& batch, Deadline by) override;
  Result<ScanPage> scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) override;
  Result<std::size_t> tidy(Deadline by) override;
  [[nodiscard]] bool approximate(std::uint32_t family) const override {
    return family < families_.size() && behind_->counts(families_[family].part);
  }

 private:
  // A commit that is being put together.
  struct Assembly {
    std::map<UnitRef, Version> reads;
    struct Unit {
      std::vector<const Change*> changes;
      std::vector<UnitRange> needed;  // entries whose columns are needed: one for each Add and Append, in their order
      bool keeps_guard = false;
    };
    std::map<UnitRef, Unit> units;  // that are written, or asked for a guard
    std::optional<UnitRef> guard;
    std::map<UnitRef, UnitAnswer> answers;
    std::vector<const Change*> counted;  // of counters of the database
  };

  [[nodiscard]] Result<UnitRef> unit_of(const BlockRef& block, std::uint32_t family) const;
  [[nodiscard]] Result<std::optional<Assembly>> assemble(const WriteBatch& batch) const;
  // Their heads, and what they need. False: something expected has changed. `fresh` is for those that are written, on
  // the condition that they are as they were seen.
  Result<bool> look(Assembly& assembly, Fresh fresh, Deadline by);
  // What is kept of the command.
  Result<std::optional<Key>> kept(const Guard& guard, const Assembly& assembly, Deadline by);
  [[nodiscard]] static bool is_put(const Assembly::Unit& unit, const EntryRef& entry);
  Result<std::vector<Change>> settled_changes(const Assembly::Unit& unit, const UnitAnswer& answer) const;
  Result<Committed> try_commit(const WriteBatch& batch, Fresh fresh, Deadline by);
  Result<void> count(const std::vector<const Change*>& changes, Deadline by);

  const std::unique_ptr<BlockStore> behind_;
  Protocol protocol_;
  Capabilities capabilities_;
  struct FamilyLayout {
    std::uint32_t collection = 0;
    std::uint32_t part = 0;
    std::size_t width = 0;
    bool guards = false;
  };
  std::vector<FamilyLayout> families_;
  std::uint32_t parts_ = 0;
  // The last member: what was left for later is done before the others go.
  const Surroundings around_;
};

Result<void> BlockLayer::deploy(const Blueprint& blueprint) {
  const design::Design& design = blueprint.design;
  NOAM_RETURN_IF_ERROR(behind_->deploy(blueprint));
  families_.clear();
  parts_ = 0;
  std::vector<std::uint32_t> collections;
  for (std::uint32_t f = 0; f < design.families.size(); ++f) {
    const design::Family& family = design.families[f];
    const std::uint32_t part = behind_->part_of(f);
    families_.push_back({family.collection, part, family.width(), family.purpose == design::Purpose::Guard});
    parts_ = std::max(parts_, part + 1);
    collections.resize(parts_);
    collections[part] = family.collection;
  }
  const auto deployed = behind_->deployment();
  check(deployed.has_value(), "what was deployed is there");
  protocol_.begin(std::move(collections), deployed->at * 1'000);
  return {};
}

Result<UnitRef> BlockLayer::unit_of(const BlockRef& block, std::uint32_t family) const {
  if (families_.empty()) return Error{"no design was deployed to the store"};
  if (family >= families_.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  if (families_[family].collection != block.collection)
    return Error{fmt::format("family {} of the store's design is not in collection {}", family, block.collection)};
  return UnitRef{families_[family].part, block.key};
}

// --- Reading ---------------------------------------------------------------------------------------------------------

Result<void> BlockLayer::read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) {
  out.clear();
  NOAM_RETURN_IF_ERROR(in_time(by));
  const auto* snapshot = dynamic_cast<const LayerSnapshot*>(at);
  check(at == nullptr || snapshot != nullptr, "a snapshot is used on the store that made it");
  const bool for_command = snapshot != nullptr && snapshot->use() == Use::Change;
  // Each unit is read once, with all that is asked of it.
  std::vector<UnitRead> units;
  std::map<UnitRef, std::size_t> numbers;
  struct Place {  // of a request: its range in its unit
    std::size_t request = 0;
    std::size_t unit = 0;
    std::size_t range = 0;
  };
  std::vector<Place> places;
  out.resize(requests.size());
  const auto answer = [&](std::size_t request, const Version& version, UnitAnswer::Range range) {
    out[request].version = version;
    out[request].entries = std::move(range.entries);
    out[request].more = range.more;
    if (requests[request].gathered) gather(out[request]);
    if (requests[request].shown != nullptr) show(requests[request], out[request]);
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ReadRequest& request = requests[i];
    NOAM_ASSIGN_OR_RETURN(UnitRef unit, unit_of(request.block, request.family));
    UnitRange range{request.family, request.from, request.to, request.reverse, request.limit};
    if (snapshot != nullptr) {
      if (auto known = snapshot->known(unit, range)) {
        answer(i, known->first, std::move(known->second));
        continue;
      }
    }
    const auto [number, fresh] = numbers.try_emplace(unit, units.size());
    if (fresh) units.push_back({std::move(unit), {}, for_command ? HeadPart::Whole : HeadPart::Marks});
    std::vector<UnitRange>& ranges = units[number->second].ranges;
    places.push_back({i, number->second, ranges.size()});
    ranges.push_back(std::move(range));
  }
  if (units.empty()) return {};
  const auto reader = for_command ? Protocol::Reader::Command : Protocol::Reader::Query;
  std::vector<UnitAnswer> answers;
  NOAM_RETURN_IF_ERROR(
      protocol_.read(units, snapshot != nullptr ? Fresh::Committed : Fresh::Linearizable, reader, by, answers));
  if (snapshot != nullptr) {
    for (std::size_t i = 0; i < units.size(); ++i)
      if (!snapshot->see(units[i].unit, {answers[i].head.version, answers[i].head.sequence}))
        return Error{"what was read has changed meanwhile", conflict_code};
  }
  for (const Place& place : places) {
    UnitAnswer& read = answers[place.unit];
    UnitAnswer::Range& range = read.ranges[place.range];
    if (snapshot != nullptr) snapshot->remember(units[place.unit].unit, units[place.unit].ranges[place.range], range);
    answer(place.request, {read.head.version, read.head.sequence}, std::move(range));
  }
  return {};
}

Result<ScanPage> BlockLayer::scan(std::uint32_t family, const std::string& after, const Snapshot* /*at*/, Deadline by) {
  NOAM_RETURN_IF_ERROR(in_time(by));
  if (families_.empty()) return Error{"no design was deployed to the store"};
  if (family >= families_.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  const std::uint32_t part = families_[family].part;
  NOAM_ASSIGN_OR_RETURN(UnitPage page, behind_->scan(part, Walk::Entries, after, by));
  ScanPage out;
  out.next = std::move(page.next);
  for (UnitPage::Item& item : page.items) {
    if (item.head.holder == nobody) {
      for (auto& [of, entry] : item.entries)
        if (of == family) out.items.push_back({item.block, std::move(entry)});
      continue;
    }
    std::vector<UnitAnswer> answers;
    const UnitRead read{UnitRef{part, item.block}, {{.family = family, .from = {}, .to = {}}}, HeadPart::Marks};
    NOAM_RETURN_IF_ERROR(protocol_.read({read}, Fresh::Linearizable, Protocol::Reader::Query, by, answers));
    for (Entry& entry : answers[0].ranges[0].entries) out.items.push_back({item.block, std::move(entry)});
  }
  return out;
}

// --- Committing ------------------------------------------------------------------------------------------------------

// Whether the caller puts the entry, and does not only add to it.
bool BlockLayer::is_put(const Assembly::Unit& unit, const EntryRef& entry) {
  return std::any_of(unit.changes.begin(), unit.changes.end(), [&](const Change* change) {
    return std::holds_alternative<Put>(*change) && entry_of(*change) == entry;
  });
}

// Nothing: two expectations contradict each other.
Result<std::optional<BlockLayer::Assembly>> BlockLayer::assemble(const WriteBatch& batch) const {
  Assembly out;
  for (const Expect& expect : batch.expects) {
    if (!expect.block || !expect.family)
      return Error{"a commit relies on a whole collection, which this database cannot watch"};
    NOAM_ASSIGN_OR_RETURN(UnitRef unit, unit_of({expect.collection, *expect.block}, *expect.family));
    if (behind_->counts(unit.part)) continue;
    const auto [at, fresh] = out.reads.try_emplace(std::move(unit), expect.version);
    if (!fresh && at->second != expect.version) return std::optional<Assembly>();
  }
  for (const Change& change : batch.changes) {
    const EntryRef& entry = entry_of(change);
    NOAM_ASSIGN_OR_RETURN(UnitRef unit, unit_of(entry.block, entry.family));
    if (behind_->counts(unit.part)) {
      out.counted.push_back(&change);
      continue;
    }
    Assembly::Unit& into = out.units[std::move(unit)];
    into.changes.push_back(&change);
    if (!std::holds_alternative<Put>(change) && !std::holds_alternative<Delete>(change))
      into.needed.push_back({entry.family, {entry.key}, {entry.key}, false, 0});
  }
  if (batch.guard) {
    const EntryRef& entry = batch.guard->entry;
    const BlockRef& block = batch.guard->beside ? batch.guard->beside->block : entry.block;
    NOAM_ASSIGN_OR_RETURN(out.guard, unit_of(block, batch.guard->beside ? batch.guard->beside->family : entry.family));
    if (broken(Breakage::GuardByState) && !out.units.empty() && batch.guard->beside)
      out.guard = out.units.rbegin()->first;
    Assembly::Unit& into = out.units[*out.guard];
    into.keeps_guard = !batch.guard->columns.empty();
    if (!batch.guard->beside) into.needed.push_back({entry.family, {entry.key}, {entry.key}, false, 0});
  }
  return std::optional(std::move(out));
}

Result<bool> BlockLayer::look(Assembly& assembly, Fresh fresh, Deadline by) {
  std::vector<UnitRead> written;
  std::vector<UnitRead> asked;
  for (const auto& [unit, what] : assembly.units) {
    const auto read = assembly.reads.find(unit);
    const bool is_written = !what.changes.empty() || what.keeps_guard;
    if (read != assembly.reads.end() && what.needed.empty()) {
      if (auto head = protocol_.known_head(unit, read->second.sequence)) {
        assembly.answers[unit].head = std::move(*head);
        continue;
      }
    }
    (is_written ? written : asked).push_back({unit, what.needed, HeadPart::Whole});
  }
  bool as_expected = true;
  const auto read = [&](const std::vector<UnitRead>& units, Fresh how) -> Result<void> {
    if (units.empty()) return {};
    std::vector<UnitAnswer> answers;
    NOAM_RETURN_IF_ERROR(protocol_.read(units, how, Protocol::Reader::Command, by, answers));
    for (std::size_t i = 0; i < units.size(); ++i) {
      const auto expected = assembly.reads.find(units[i].unit);
      const Head& head = answers[i].head;
      if (expected != assembly.reads.end() && Version{head.version, head.sequence} != expected->second)
        as_expected = false;
      assembly.answers[units[i].unit] = std::move(answers[i]);
    }
    return {};
  };
  NOAM_RETURN_IF_ERROR(read(written, fresh));
  NOAM_RETURN_IF_ERROR(read(asked, Fresh::Linearizable));
  return as_expected;
}

Result<std::optional<Key>> BlockLayer::kept(const Guard& guard, const Assembly& assembly, Deadline by) {
  if (broken(Breakage::GuardMissing)) return std::optional<Key>();
  const UnitAnswer& answer = assembly.answers.at(*assembly.guard);
  if (!guard.beside) {
    // The entry itself.
    const std::vector<Entry>& found = answer.ranges.back().entries;
    return found.empty() ? std::optional<Key>() : std::optional(found[0].columns);
  }
  const std::string id(guard.entry.block.key[0].as_string());
  NOAM_ASSIGN_OR_RETURN(const Guards guards, read_guards(answer.head.guards));
  for (const KeptGuard& one : guards.kept)
    if (one.id == id) return std::optional(one.columns);
  if (guard.at > guards.newest_dropped) return std::optional<Key>();
  return behind_->kept_command(id, by);
}

// Adds and appends become the values that they lead to.
Result<std::vector<Change>> BlockLayer::settled_changes(const Assembly::Unit& unit, const UnitAnswer& answer) const {
  std::vector<Change> out;
  std::size_t next = 0;
  for (const Change* change : unit.changes) {
    const auto* add = std::get_if<Add>(change);
    const auto* append = std::get_if<Append>(change);
    if (add == nullptr && append == nullptr) {
      out.push_back(*change);
      continue;
    }
    const std::vector<Entry>& found = answer.ranges[next++].entries;
    std::optional<Key> columns = found.empty() ? std::nullopt : std::optional(found[0].columns);
    const EntryRef& entry = entry_of(*change);
    if (add != nullptr) {
      NOAM_RETURN_IF_ERROR(add_to(columns, add->addends, add->vanishes, families_[entry.family].width));
    } else {
      NOAM_RETURN_IF_ERROR(append_to(columns, append->elements));
    }
    if (columns)
      out.emplace_back(Put{entry, std::move(*columns)});
    else
      out.emplace_back(Delete{entry});
  }
  return out;
}

Result<Committed> BlockLayer::try_commit(const WriteBatch& batch, Fresh fresh, Deadline by) {
  NOAM_ASSIGN_OR_RETURN(auto assembled, assemble(batch));
  if (!assembled) return Outcome::Conflict;
  Assembly& assembly = *assembled;
  NOAM_ASSIGN_OR_RETURN(const bool as_expected, look(assembly, fresh, by));
  if (batch.guard) {
    NOAM_ASSIGN_OR_RETURN(auto before, kept(*batch.guard, assembly, by));
    if (before) return Committed{Outcome::Already, std::move(*before)};
  }
  if (!as_expected) return Outcome::Conflict;

  Protocol::Plan plan;
  plan.reads = std::move(assembly.reads);
  for (const auto& [unit, what] : assembly.units) {
    if (what.changes.empty() && !what.keeps_guard) continue;
    const UnitAnswer& answer = assembly.answers.at(unit);
    Protocol::Write write;
    write.before = answer.head;
    auto changes = settled_changes(what, answer);
    // What was seen may have been so only before.
    if (!changes && fresh == Fresh::Committed) return try_commit(batch, Fresh::Linearizable, by);
    if (!changes) return changes.error();
    write.changes = std::move(*changes);
    if (what.keeps_guard) {
      if (batch.guard->beside)
        write.guards.push_back({std::string(batch.guard->entry.block.key[0].as_string()), batch.guard->columns});
      else
        write.changes.emplace_back(Put{batch.guard->entry, batch.guard->columns});
    }
    const std::size_t most = behind_->capabilities().max_unit_bytes;
    const std::size_t most_of_entry = capabilities_.max_entry_bytes;
    std::size_t bytes = 0;
    for (const Change& change : write.changes) {
      const auto* put = std::get_if<Put>(&change);
      const std::size_t of_entry = entry_bytes(entry_of(change).key, put != nullptr ? put->columns : Key());
      if (put != nullptr && most_of_entry != 0 && of_entry > most_of_entry && is_put(what, entry_of(change)))
        return Outcome::TooLarge;
      bytes += of_entry;
    }
    if (most != 0 && bytes > most) {
      Committed out = Outcome::TooLarge;
      out.why = fmt::format("{} bytes change in one block; the limit of the store is {}", bytes, most);
      return out;
    }
    plan.writes.emplace(unit, std::move(write));
  }
  if (plan.writes.empty()) {
    NOAM_ASSIGN_OR_RETURN(const bool valid, protocol_.validate(plan.reads, by));
    if (!valid) return Outcome::Conflict;
    const auto counted = count(assembly.counted, by);
    Committed out = counted ? Outcome::Applied : Outcome::Unknown;
    if (!counted) out.why = counted.error().message;
    return out;
  }
  const std::size_t most = capabilities_.max_commit_blocks;
  if (most != 0 && plan.writes.size() > most) {
    Committed out = Outcome::TooLarge;
    out.why = fmt::format("{} blocks change in one commit; the limit of the store is {}", plan.writes.size(), most);
    return out;
  }
  const bool at_guard = assembly.guard && plan.writes.contains(*assembly.guard);
  plan.home = at_guard ? *assembly.guard : plan.writes.begin()->first;
  NOAM_ASSIGN_OR_RETURN(const Outcome outcome, protocol_.commit(plan, by));
  // The rest is applied whatever becomes of them.
  if (outcome == Outcome::Applied) (void)count(assembly.counted, by);
  return outcome;
}

// Counters of a database can only be added to, so another value is what is missing to it.
Result<void> BlockLayer::count(const std::vector<const Change*>& changes, Deadline by) {
  std::vector<Add> adds;
  std::vector<UnitRead> reads;
  for (const Change* change : changes) {
    if (const auto* add = std::get_if<Add>(change)) {
      adds.push_back(*add);
      continue;
    }
    if (std::holds_alternative<Append>(*change)) return Error{"a counter is not a list"};
    const EntryRef& entry = entry_of(*change);
    NOAM_ASSIGN_OR_RETURN(UnitRef unit, unit_of(entry.block, entry.family));
    reads.push_back(
        {std::move(unit), {{.family = entry.family, .from = {entry.key}, .to = {entry.key}}}, HeadPart::Marks});
  }
  std::vector<UnitAnswer> answers;
  if (!reads.empty()) NOAM_RETURN_IF_ERROR(behind_->read(reads, Fresh::Committed, by, answers));
  std::size_t next = 0;
  for (const Change* change : changes) {
    if (std::holds_alternative<Add>(*change)) continue;
    const EntryRef& entry = entry_of(*change);
    const std::vector<Entry>& found = answers[next++].ranges[0].entries;
    const auto* put = std::get_if<Put>(change);
    Add add{entry, Key(families_[entry.family].width), 0};
    for (std::size_t i = 0; i < add.addends.size(); ++i) {
      const auto number = [&](const Key* columns) {
        return columns != nullptr && i < columns->size() && (*columns)[i].is_int() ? (*columns)[i].as_int() : 0;
      };
      add.addends[i] =
          number(put != nullptr ? &put->columns : nullptr) - number(found.empty() ? nullptr : &found[0].columns);
    }
    adds.push_back(std::move(add));
  }
  return adds.empty() ? Result<void>() : behind_->add(adds, by);
}

Result<Committed> BlockLayer::commit(const WriteBatch& batch, Deadline by) {
  constexpr int longest = 8;  // 2^8 ms
  for (int attempt = 0;; ++attempt) {
    NOAM_RETURN_IF_ERROR(in_time(by));
    // A write takes only what is as it was seen, so that an older moment costs another attempt and nothing else.
    auto outcome = try_commit(batch, attempt == 0 ? Fresh::Committed : Fresh::Linearizable, by);
    // Only one write decides, and what becomes of that is an outcome.
    if (!outcome && outcome.error().code.empty()) return Error{outcome.error().message, store_code};
    // Nothing has changed that the caller relies on.
    if (!outcome || *outcome != Outcome::Conflict || !batch.expects.empty()) return outcome;
    const std::uint64_t most = std::uint64_t{1} << std::min(attempt, longest);
    around_.wait(std::chrono::milliseconds(around_.random() % (most + 1)));
  }
}

Result<std::size_t> BlockLayer::tidy(Deadline by) {
  std::size_t done = 0;
  for (std::uint32_t part = 0; part < parts_; ++part) {
    if (behind_->counts(part)) continue;
    NOAM_ASSIGN_OR_RETURN(const std::size_t here, protocol_.tidy(part, by));
    done += here;
  }
  return done;
}

// Does one thing after the other, on a thread of its own. What is left at its end is done by others.
class LaterThread {
 public:
  LaterThread() : thread_([this] { run(); }) {}
  LaterThread(const LaterThread&) = delete;
  LaterThread& operator=(const LaterThread&) = delete;
  ~LaterThread() {
    {
      const std::lock_guard lock(lock_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(lock_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(lock_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !work_.empty(); });
      if (work_.empty()) return;
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

Surroundings this_machine() {
  struct Chance {
    std::mutex lock;
    std::mt19937_64 random{(std::uint64_t{std::random_device{}()} << 32U) ^ std::random_device{}()};
  };
  const auto chance = std::make_shared<Chance>();
  const auto later = std::make_shared<LaterThread>();
  return {
      .microseconds =
          [] {
            return std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                .count();
          },
      .steady = [] { return std::chrono::steady_clock::now(); },
      .wait = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
      .random =
          [chance] {
            const std::lock_guard lock(chance->lock);
            return chance->random();
          },
      .later = [later](std::function<void()> work) { later->post(std::move(work)); },
  };
}

std::unique_ptr<Store> open_block_layer(std::unique_ptr<BlockStore> behind, Surroundings around,
                                        const ProtocolOptions& options) {
  return std::make_unique<BlockLayer>(std::move(behind), std::move(around), options);
}

}  // namespace noam::stores::blocks
