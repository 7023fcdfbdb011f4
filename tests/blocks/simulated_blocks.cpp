#include "tests/blocks/simulated_blocks.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/layout.h"
#include "noam/stores/encoding.h"

namespace noam::tests::blocks {

using db::Head;
using db::UnitAnswer;
using db::UnitRange;
using db::UnitRead;
using db::UnitRef;
using db::UnitWrite;
using db::Written;
using model::Datum;
using stores::Bound;
using stores::Entry;
using stores::Key;

namespace {

struct Order {
  const std::vector<bool>* descending;

  // Of the parts that both have.
  [[nodiscard]] std::strong_ordering compare(const Key& a, const Key& b) const {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const bool backwards = i < descending->size() && (*descending)[i];
      const auto order = backwards ? b[i] <=> a[i] : a[i] <=> b[i];
      if (std::is_neq(order)) return order;
    }
    return std::strong_ordering::equal;
  }
  bool operator()(const Key& a, const Key& b) const {
    const auto order = compare(a, b);
    return std::is_neq(order) ? std::is_lt(order) : a.size() < b.size();
  }
};

using Entries = std::map<Key, Key, Order>;

// A unit at one moment.
struct Unit {
  Head head;
  std::map<std::uint32_t, Entries> families;

  [[nodiscard]] bool empty() const {
    return head == Head{} &&
           std::all_of(families.begin(), families.end(), [](const auto& one) { return one.second.empty(); });
  }
};
using UnitPointer = std::shared_ptr<const Unit>;

struct FamilyLayout {
  std::uint32_t part = 0;
  std::vector<bool> descending;
};

}  // namespace

struct Database::State {
  explicit State(DatabaseOptions of) : options(std::move(of)) {}

  const DatabaseOptions options;
  mutable std::mutex lock;  // never held while on the way
  std::optional<stores::Deployment> deployment;
  std::vector<FamilyLayout> families;
  std::map<UnitRef, std::vector<UnitPointer>> units;  // the states of each, the last is now
  std::map<std::string, Key> commands;
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t linearizable_reads = 0;

  [[nodiscard]] UnitPointer unit(const UnitRef& ref, std::size_t behind) const {
    static const auto nothing = std::make_shared<const Unit>();
    const auto found = units.find(ref);
    if (found == units.end() || found->second.empty()) return nothing;
    const auto& states = found->second;
    return states[states.size() - 1 - std::min(behind, states.size() - 1)];
  }

  [[nodiscard]] bool holds(const UnitWrite& write) const {
    const Head& head = unit(write.unit, 0)->head;
    if (const auto* sequence = std::get_if<UnitWrite::Sequence>(&write.condition)) return head.sequence == sequence->is;
    return head.holder == std::get<UnitWrite::Held>(write.condition).by;
  }

  void apply(const UnitWrite& write) {
    if (!write.head) return;
    auto next = std::make_shared<Unit>(*unit(write.unit, 0));
    next->head = *write.head;
    for (const stores::Change& change : write.changes) {
      const stores::EntryRef& entry = stores::entry_of(change);
      auto& entries = next->families.try_emplace(entry.family, Order{&families[entry.family].descending}).first->second;
      if (const auto* put = std::get_if<stores::Put>(&change))
        entries.insert_or_assign(entry.key, put->columns);
      else
        entries.erase(entry.key);
    }
    const bool free = next->head.holder == db::TransactionId{} && next->head.done.empty();
    const bool forgets =
        options.fault == Fault::GravestoneMissing && free &&
        std::all_of(next->families.begin(), next->families.end(), [](const auto& one) { return one.second.empty(); });
    if (next->head.sequence == 0 || forgets) next->head = Head{};
    auto& states = units[write.unit];
    states.push_back(std::move(next));
    if (states.size() > options.history + 1) states.erase(states.begin());
    if (states.size() == 1 && states[0]->empty()) units.erase(write.unit);
  }

  [[nodiscard]] bool holds(const std::vector<UnitWrite>& group) const {
    check(!group.empty() && group.size() <= options.capabilities.units_at_once, "a group is as large as it may be");
    return std::all_of(group.begin(), group.end(), [&](const UnitWrite& one) { return holds(one); });
  }
  void apply(const std::vector<UnitWrite>& group) {
    for (const UnitWrite& one : group) apply(one);
  }

  [[nodiscard]] UnitAnswer::Range range(const Unit& unit, const UnitRange& asked) const {
    UnitAnswer::Range out;
    const auto found = unit.families.find(asked.family);
    if (found == unit.families.end()) return out;
    const Order order{&families[asked.family].descending};
    const auto within = [&](const Key& key) {
      const auto beyond = [&](const Bound& bound, bool lower) {
        if (bound.parts.empty()) return false;
        const auto at = order.compare(key, bound.parts);
        const bool shorter = std::is_eq(at) && key.size() < bound.parts.size();
        if (std::is_eq(at) && !shorter) return !bound.inclusive;
        return lower ? std::is_lt(at) || shorter : std::is_gt(at);
      };
      return !beyond(asked.from, true) && !beyond(asked.to, false);
    };
    for (const auto& [key, columns] : found->second)
      if (within(key)) out.entries.push_back({key, columns});
    if (asked.reverse) std::reverse(out.entries.begin(), out.entries.end());
    if (asked.limit != 0 && out.entries.size() > asked.limit) {
      out.entries.resize(asked.limit);
      out.more = true;
    }
    return out;
  }
};

namespace {

Head marks_of(const Head& head) { return {head.version, head.sequence, head.holder, {}, {}, {}, {}}; }

class Connection final : public db::BlockStore {
 public:
  Connection(std::shared_ptr<Database::State> state, Weather* weather)
      : owned_(std::move(state)), state_(*owned_), weather_(weather) {}

  [[nodiscard]] const db::BlockCapabilities& capabilities() const override { return state_.options.capabilities; }

  Result<void> deploy(const stores::Blueprint& blueprint) override {
    const design::Design& design = blueprint.design;
    const std::lock_guard lock(state_.lock);
    if (state_.deployment && state_.deployment->layout == design.layout) return {};
    if (std::any_of(state_.units.begin(), state_.units.end(), [](const auto& unit) {
          return std::any_of(unit.second.back()->families.begin(), unit.second.back()->families.end(),
                             [](const auto& family) { return !family.second.empty(); });
        })) {
      std::vector<std::string> differences = design::layout_differences(state_.deployment->layout, design.layout);
      if (differences.empty()) differences.emplace_back("its collections or families are in another order");
      return stores::other_design(*state_.deployment, differences);
    }
    state_.units.clear();
    state_.deployment =
        stores::Deployment{design.name, design.layout, state_.deployment ? state_.deployment->version + 1 : 1, 1};
    state_.families.clear();
    for (std::uint32_t f = 0; f < design.families.size(); ++f) {
      FamilyLayout layout;
      layout.part = state_.options.parts == Parts::OneAFamily ? f : design.families[f].collection;
      for (const model::Part& part : design.families[f].key) layout.descending.push_back(part.descending);
      state_.families.push_back(std::move(layout));
    }
    return {};
  }

  [[nodiscard]] std::optional<stores::Deployment> deployment() const override {
    const std::lock_guard lock(state_.lock);
    return state_.deployment;
  }

  [[nodiscard]] std::uint32_t part_of(std::uint32_t family) const override { return state_.families[family].part; }

  Result<void> read(const std::vector<UnitRead>& units, db::Fresh fresh, stores::Deadline /*by*/,
                    std::vector<UnitAnswer>& out) override {
    out.clear();
    for (const UnitRead& read : units) {
      if (weather_ != nullptr) weather_->on_the_way(false);
      const bool stale = fresh == db::Fresh::Committed || state_.options.fault == Fault::StaleHeadReads;
      const std::size_t behind = weather_ != nullptr && stale ? weather_->staleness() : 0;
      const std::lock_guard lock(state_.lock);
      ++state_.reads;
      if (fresh == db::Fresh::Linearizable) ++state_.linearizable_reads;
      const UnitPointer unit = state_.unit(read.unit, behind);
      UnitAnswer answer;
      answer.head = read.head == db::HeadPart::Whole ? unit->head : marks_of(unit->head);
      for (const UnitRange& range : read.ranges) answer.ranges.push_back(state_.range(*unit, range));
      out.push_back(std::move(answer));
    }
    return {};
  }

  Result<void> write(const std::vector<std::vector<UnitWrite>>& groups, stores::Deadline /*by*/,
                     std::vector<Written>& out) override {
    out.clear();
    for (const auto& group : groups) {
      using Fate = Weather::Fate;
      if (weather_ != nullptr) weather_->on_the_way(true);
      const Fate fate = weather_ != nullptr ? weather_->fate_of_write() : Fate::Arrives;
      if (fate == Fate::Late) {
        weather_->deliver_late([this_state = &state_, group] {
          const std::lock_guard lock(this_state->lock);
          if (this_state->holds(group)) this_state->apply(group);
        });
      }
      const bool arrives = fate == Fate::Arrives || fate == Fate::AnswerLost;
      if (state_.options.fault == Fault::AcknowledgedWriteLost && fate == Fate::Lost) {
        out.push_back(Written::Done);
        continue;
      }
      std::unique_lock lock(state_.lock);
      ++state_.writes;
      bool written = arrives && state_.holds(group);
      if (state_.options.fault == Fault::ConditionNotAtomic && weather_ != nullptr) {
        lock.unlock();
        weather_->on_the_way(true);
        lock.lock();
      }
      if (written) state_.apply(group);
      out.push_back(fate != Fate::Arrives ? Written::Unknown : written ? Written::Done : Written::Failed);
    }
    return {};
  }

  Result<void> keep_command(const std::string& id, const Key& columns, stores::Deadline /*by*/) override {
    if (weather_ != nullptr) weather_->on_the_way(false);
    const std::lock_guard lock(state_.lock);
    state_.commands[id] = columns;
    return {};
  }

  Result<std::optional<Key>> kept_command(const std::string& id, stores::Deadline /*by*/) override {
    if (weather_ != nullptr) weather_->on_the_way(false);
    const std::lock_guard lock(state_.lock);
    const auto found = state_.commands.find(id);
    return found == state_.commands.end() ? std::optional<Key>() : std::optional(found->second);
  }

  Result<db::UnitPage> scan(std::uint32_t part, db::Walk what, const std::string& after,
                            stores::Deadline /*by*/) override {
    if (weather_ != nullptr) weather_->on_the_way(false);
    const std::lock_guard lock(state_.lock);
    Key from;
    if (!after.empty() && !stores::read_values(after, from)) return Error{"invalid scan position"};
    db::UnitPage out;
    auto at = after.empty() ? state_.units.lower_bound({part, {}}) : state_.units.upper_bound({part, from});
    for (; at != state_.units.end() && at->first.part == part; ++at) {
      if (out.items.size() == std::max<std::size_t>(state_.options.scan_page, 1)) {
        out.next = stores::write_values(out.items.back().block);
        return out;
      }
      const Unit& unit = *at->second.back();
      if (unit.empty()) continue;
      db::UnitPage::Item item{at->first.block, what == db::Walk::Heads ? unit.head : marks_of(unit.head), true, {}};
      for (const auto& [family, entries] : unit.families) {
        item.empty = item.empty && entries.empty();
        if (what == db::Walk::Heads) continue;
        for (const auto& [key, columns] : entries) item.entries.emplace_back(family, Entry{key, columns});
      }
      out.items.push_back(std::move(item));
    }
    return out;
  }

 private:
  const std::shared_ptr<Database::State> owned_;
  Database::State& state_;
  Weather* const weather_;
};

}  // namespace

Database::Database(DatabaseOptions options) : state_(std::make_shared<State>(std::move(options))) {}
Database::~Database() = default;

std::unique_ptr<db::BlockStore> Database::connect(Weather* weather) {
  return std::make_unique<Connection>(state_, weather);
}

void Database::for_each(
    const std::function<void(const db::UnitRef&, const db::Head&, std::size_t entries)>& visit) const {
  const std::lock_guard lock(state_->lock);
  for (const auto& [ref, states] : state_->units) {
    std::size_t entries = 0;
    for (const auto& [family, all] : states.back()->families) entries += all.size();
    visit(ref, states.back()->head, entries);
  }
}

std::uint64_t Database::writes() const {
  const std::lock_guard lock(state_->lock);
  return state_->writes;
}
std::uint64_t Database::reads() const {
  const std::lock_guard lock(state_->lock);
  return state_->reads;
}

std::uint64_t Database::linearizable_reads() const {
  const std::lock_guard lock(state_->lock);
  return state_->linearizable_reads;
}

}  // namespace noam::tests::blocks
