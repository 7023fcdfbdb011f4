#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/base/kill_point.h"
#include "noam/design/derived_rows.h"
#include "noam/runtime/differences.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"

namespace noam::runtime {

using model::Datum;
using stores::Committed;
using stores::EntryRef;

namespace {

void correct(Transaction& transaction, const design::Design& design, const design::Upkeep& upkeep,
             const EntryDifference& difference) {
  stores::EntryRef entry{
      {design.families[upkeep.family].collection, difference.key.first}, upkeep.family, difference.key.second};
  if (difference.should)
    transaction.put(std::move(entry), *difference.should);
  else
    transaction.erase(std::move(entry));
}

// What is seen so often, with growing pauses, is not due to commands that run meanwhile.
constexpr int most_looks = 8;
constexpr int most_passes = 5;

}  // namespace

// How the entries of a copy that differ are looked at again, if the store has no snapshots: base data and copies were
// not read at one moment then, and a command in between looks like a difference.
class Session::SecondLook {
 public:
  SecondLook(Session& session, const design::Upkeep& upkeep)
      : session_(session), upkeep_(upkeep), plan_(design::plan_entry(session.program_, upkeep)) {}

  // Whether all copies that it relies on are right.
  [[nodiscard]] bool is_sure(const std::function<bool(std::uint32_t copy)>& is_right) const {
    if (!plan_) return false;
    const auto read = design::families_read(plan_->plan);
    return std::all_of(read.begin(), read.end(), [&](std::uint32_t family) {
      return !session_.program_.design.families[family].copy() || is_right(family);
    });
  }
  // No: the entry cannot be found without looking through a collection.
  [[nodiscard]] bool can_find(const EntryKey& key) const {
    if (!plan_) return false;
    const Row seed = seed_of(key);
    return std::none_of(seed.begin(), seed.end(), [](const Datum& part) { return part.absent(); });
  }

  // What differs in the entry, or in its block if the copy has a limit, at one moment; `write`: it is corrected then.
  Result<std::vector<EntryDifference>> look(const EntryKey& key, bool write) {
    std::vector<EntryDifference> out;
    std::size_t most = SIZE_MAX;  // corrections in one commit
    const auto committed = session_.until_settled([&](int) -> Result<Committed> {
      Transaction transaction(session_.store_, session_.program_.design, session_.deadline());
      transaction.watch(session_.options_.interrupted);
      if (!write) transaction.use_for(Transaction::Use::Query);
      NOAM_ASSIGN_OR_RETURN(out, differences(transaction, key));
      if (!write) return session_.store_.commit(transaction.take_reads(), session_.deadline());
      for (std::size_t i = 0; i < std::min(most, out.size()); ++i)
        correct(transaction, session_.program_.design, upkeep_, out[i]);
      NOAM_ASSIGN_OR_RETURN(Committed done, session_.store_.commit(transaction.take_batch(), session_.deadline()));
      if (done != stores::Outcome::TooLarge || std::min(most, out.size()) < 2) return done;
      most = std::min(most, out.size()) / 2;
      return stores::Outcome::Conflict;
    });
    if (!committed) return committed.error();
    if (*committed != stores::Outcome::Applied) return Error{"the store rejected the repair"};
    if (write) kill_point(KillPoint::RepairApplied);
    if (write && most < out.size()) {
      NOAM_ASSIGN_OR_RETURN(auto rest, look(key, write));
      if (rest.size() >= out.size()) return Error{"the repair does not come to an end"};
    }
    return out;
  }

 private:
  [[nodiscard]] const design::Family& family() const { return session_.program_.design.families[upkeep_.family]; }

  [[nodiscard]] Row seed_of(const EntryKey& key) const {
    Row seed = key.first;
    if (!plan_->whole_block) seed.insert(seed.end(), key.second.begin(), key.second.end());
    return seed;
  }

  Result<std::vector<EntryDifference>> differences(Transaction& transaction, const EntryKey& key) {
    Environment environment;
    environment.model = session_.program_.model.get();
    environment.now = session_.options_.clock();
    Executor executor(transaction, session_.program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(plan_->plan, {seed_of(key)}));
    std::erase_if(rows[0], [&](const Row& row) {
      const EntryKey of = entry_key(session_.program_, upkeep_, row);
      return of.first != key.first || (!plan_->whole_block && of.second != key.second);
    });
    stores::ReadRequest request;
    request.block = {family().collection, key.first};
    request.family = upkeep_.family;
    if (!plan_->whole_block) request.from = request.to = {key.second};
    stores::Answers answers;
    NOAM_RETURN_IF_ERROR(transaction.read({&request, 1}, Transaction::Moment::Now, answers));
    std::vector<stores::ScanPage::Item> stored;
    for (stores::Entry& entry : answers[0].entries) stored.push_back({key.first, std::move(entry)});
    std::size_t compared = 0;
    return differences_of(session_.program_, upkeep_, rows[0], stored, compared);
  }

  Session& session_;
  const design::Upkeep& upkeep_;
  const std::optional<design::EntryRows> plan_;
};

// Of all entries of a copy. If the store has no snapshots, what is found may never have been so, and what `write` puts
// in its place may be late.
Result<std::vector<EntryDifference>> Session::compare(const design::Upkeep& upkeep, bool write,
                                                      const std::shared_ptr<const stores::Snapshot>& at,
                                                      std::size_t& compared) {
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  std::vector<EntryDifference> out;
  const auto attempt = [&](int) -> Result<Committed> {
    out.clear();
    Transaction transaction(store_, program_.design, deadline(), nullptr, at);
    transaction.watch(options_.interrupted);
    // Nobody can watch all that is looked through.
    if (!store_.capabilities().watches_collections) transaction.use_for(Transaction::Use::Glance);
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(*upkeep.all, {Row{}}));
    if (broken(Breakage::VerifyComparesNothing)) return stores::Outcome::Applied;
    NOAM_ASSIGN_OR_RETURN(const auto items, transaction.scan(upkeep.family, Transaction::Moment::Now));
    std::size_t entries = 0;
    out = differences_of(program_, upkeep, rows[0], items, entries);
    const bool marked = state_->copies.of(upkeep.family) != CopyState::Ready;
    if (!write || (out.empty() && !marked)) {
      compared += entries;
      return stores::Outcome::Applied;
    }
    for (const EntryDifference& difference : out) correct(transaction, program_.design, upkeep, difference);
    if (marked) transaction.erase(note_entry(program_.design, CopyStates::note_name(program_.design, upkeep.family)));
    NOAM_ASSIGN_OR_RETURN(Committed done, store_.commit(transaction.batch(), deadline()));
    if (done == stores::Outcome::Applied) {
      compared += entries;
      kill_point(KillPoint::RepairApplied);
      state_->copies.set(upkeep.family, CopyState::Ready);
    }
    return done;
  };
  NOAM_ASSIGN_OR_RETURN(const Committed committed, write ? until_settled(attempt) : attempt(0));
  if (committed != stores::Outcome::Applied) return Error{"the store rejected the repair"};
  return out;
}

Result<void> Session::mark(std::uint32_t family, CopyState to) {
  if (state_->copies.of(family) == to) return {};
  stores::WriteBatch batch;
  stores::EntryRef entry = note_entry(program_.design, CopyStates::note_name(program_.design, family));
  if (to == CopyState::Ready)
    batch.changes.emplace_back(stores::Delete{std::move(entry)});
  else
    batch.changes.emplace_back(stores::Put{std::move(entry), {Datum(state_name(to))}});
  NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(batch, deadline()));
  if (outcome != stores::Outcome::Applied) return Error{"the store rejected the state of a copy"};
  state_->copies.set(family, to);
  if (store_.capabilities().shared) NOAM_RETURN_IF_ERROR(read_states());
  return {};
}

Result<void> Session::read_states() {
  std::vector<stores::ReadRequest> requests;
  std::vector<std::uint32_t> families;
  for (const design::Upkeep& upkeep : program_.upkeep) {
    stores::EntryRef entry = note_entry(program_.design, CopyStates::note_name(program_.design, upkeep.family));
    stores::ReadRequest request;
    request.block = std::move(entry.block);
    request.family = entry.family;
    requests.push_back(std::move(request));
    families.push_back(upkeep.family);
  }
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(store_.read(requests, nullptr, deadline(), answers));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    state_->copies.set_version(families[i], answers[i].version);
    CopyState state = CopyState::Ready;
    if (!answers[i].entries.empty())
      state = answers[i].entries[0].columns[0] == Datum(state_name(CopyState::Building)) ? CopyState::Building
                                                                                         : CopyState::Broken;
    state_->copies.set(families[i], state);
  }
  return {};
}

Result<void> Session::renew_states(bool anyway) {
  if (!store_.capabilities().shared || program_.upkeep.empty()) return {};
  const std::int64_t every = options_.states_every.count();
  const std::int64_t now = options_.clock();
  const std::int64_t age = std::abs(now - state_->states_read);
  if (!anyway && (every == 0 || age < every)) return {};
  std::unique_lock lock(state_->states_lock, std::defer_lock);
  // One looks for all, who wait for it only if it takes long.
  if (anyway || age >= 2 * every)
    lock.lock();
  else if (!lock.try_lock())
    return {};
  NOAM_RETURN_IF_ERROR(read_states());
  state_->states_read = now;
  return {};
}

std::vector<std::pair<std::string, CopyState>> Session::copies() const {
  std::vector<std::pair<std::string, CopyState>> out;
  for (const design::Upkeep& upkeep : program_.upkeep)
    out.emplace_back(program_.design.collection_of(program_.design.families[upkeep.family]).name,
                     state_->copies.of(upkeep.family));
  return out;
}

// What differs at one moment, of what seemed to. Where that cannot be seen, what looks the same several times.
Result<std::vector<EntryDifference>> Session::confirmed(const design::Upkeep& upkeep,
                                                        std::vector<EntryDifference> found,
                                                        const std::set<std::uint32_t>& doubtful) {
  if (found.empty()) return found;
  SecondLook second(*this, upkeep);
  const bool sure = second.is_sure([&](std::uint32_t copy) { return !doubtful.contains(copy); });
  std::vector<EntryDifference> out;
  std::vector<EntryDifference> others;
  std::set<EntryKey> reported;
  for (EntryDifference& difference : found) {
    if (!sure || !second.can_find(difference.key)) {
      others.push_back(std::move(difference));
      continue;
    }
    NOAM_ASSIGN_OR_RETURN(auto now, second.look(difference.key, false));
    for (EntryDifference& one : now)
      if (reported.insert(one.key).second) out.push_back(std::move(one));
  }
  NOAM_ASSIGN_OR_RETURN(others, lasting(upkeep, std::move(others)));
  for (EntryDifference& one : others) out.push_back(std::move(one));
  return out;
}

// Those that look the same each time.
Result<std::vector<EntryDifference>> Session::lasting(const design::Upkeep& upkeep,
                                                      std::vector<EntryDifference> found) {
  for (int i = 1; i < most_looks && !found.empty(); ++i) {
    pause(i);
    std::size_t compared = 0;
    NOAM_ASSIGN_OR_RETURN(const auto again, compare(upkeep, false, nullptr, compared));
    std::erase_if(found, [&](const EntryDifference& one) {
      return std::none_of(again.begin(), again.end(),
                          [&](const EntryDifference& other) { return other.key == one.key && other.what == one.what; });
    });
  }
  return found;
}

Result<Verification> Session::verify(const Progress& progress) {
  Verification out;
  const std::size_t steps = program_.model->entities.size() + program_.upkeep.size();
  std::size_t step = 0;
  const auto advance = [&](const std::string& what) {
    if (progress) progress(what, step++, steps);
  };
  // One moment for all of it: commands go on meanwhile.
  const bool snapshots = store_.capabilities().snapshots;
  std::shared_ptr<const stores::Snapshot> at;
  if (snapshots) at = store_.snapshot();
  NOAM_RETURN_IF_ERROR(verify_bases(at, out, advance));
  std::map<std::uint32_t, std::vector<EntryDifference>> found;  // by family
  std::set<std::uint32_t> doubtful;
  for (const design::Upkeep& upkeep : program_.upkeep) {
    const std::string& collection = program_.design.collection_of(program_.design.families[upkeep.family]).name;
    advance(collection);
    if (!upkeep.all) {
      out.unknown.push_back(fmt::format("{}: folds of transient instances, which are not stored", collection));
      continue;
    }
    NOAM_ASSIGN_OR_RETURN(found[upkeep.family], compare(upkeep, false, at, out.entries));
    if (!found[upkeep.family].empty()) doubtful.insert(upkeep.family);
  }
  for (const design::Upkeep& upkeep : program_.upkeep) {
    if (!upkeep.all) continue;
    std::vector<EntryDifference>& differences = found[upkeep.family];
    if (store_.approximate(upkeep.family)) {
      if (!differences.empty()) out.unknown.push_back(approximate(upkeep, differences.size()));
      continue;
    }
    if (!snapshots) {
      NOAM_ASSIGN_OR_RETURN(differences, confirmed(upkeep, std::move(differences), doubtful));
      if (differences.empty()) doubtful.erase(upkeep.family);
    }
    NOAM_RETURN_IF_ERROR(mark(upkeep.family, differences.empty() ? CopyState::Ready : CopyState::Broken));
    report(upkeep, differences, out);
  }
  return out;
}

std::string Session::approximate(const design::Upkeep& upkeep, std::size_t differences) const {
  return fmt::format("{}: counters of the database are approximate; {} of them differ{}",
                     program_.design.collection_of(program_.design.families[upkeep.family]).name, differences,
                     differences > 0 ? ", `noam repair` corrects them" : "");
}

void Session::report(const design::Upkeep& upkeep, const std::vector<EntryDifference>& differences,
                     Verification& out) const {
  const std::string& collection = program_.design.collection_of(program_.design.families[upkeep.family]).name;
  for (const EntryDifference& one : differences)
    out.differences.push_back({one.kind, collection, one.what, upkeep.family});
}

// An entry of a base that is not what its instance says.
struct Session::BaseDifference {
  DifferenceKind kind = DifferenceKind::Wrong;  // Missing, Extra, or Wrong
  EntryRef entry;
  std::optional<Instance> instance;  // if it is known
  // If it is no entry, but an instance of this that is not found by its key.
  std::optional<model::EntityId> entity = std::nullopt;
  std::string what = {};

  bool operator==(const BaseDifference&) const = default;
};

// What lies in bases is what their instances say.
Result<std::vector<Session::BaseDifference>> Session::compare_bases(
    const std::shared_ptr<const stores::Snapshot>& at, std::size_t& compared,
    const std::function<void(const std::string&)>& advance) {
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline(), nullptr, at);
  transaction.watch(options_.interrupted);
  if (!store_.capabilities().watches_collections) transaction.use_for(Transaction::Use::Glance);
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  std::vector<BaseDifference> out;
  struct Wanted {
    stores::Key columns;
    Instance instance;
  };
  std::map<std::uint32_t, std::map<EntryRef, Wanted>> expected;
  for (std::uint32_t i = 0; i < program_.model->entities.size(); ++i) {
    const model::Entity& entity = program_.model->entities[i];
    const auto id = static_cast<model::EntityId>(i);
    advance(entity.name);
    if (entity.transient) continue;
    NOAM_ASSIGN_OR_RETURN(const auto keys, executor.run(program_.entities[i].all, {Row{}}));
    NOAM_ASSIGN_OR_RETURN(const auto loaded, executor.run(program_.entities[i].load, keys[0]));
    for (std::size_t of = 0; of < loaded.size(); ++of) {
      const Instance instance{id, keys[0][of][0]};
      if (loaded[of][0][0].absent()) {
        out.push_back(
            {DifferenceKind::Missing,
             {},
             std::nullopt,
             id,
             fmt::format("{} cannot be found by its key", model::instance_name(*program_.model, id, instance.second))});
        continue;
      }
      for (auto& [entry, columns] : base_entries(id, loaded[of][0]))
        expected[entry.family][entry] = {std::move(columns), instance};
    }
  }
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    if (program_.design.families[f].purpose != design::Purpose::Base) continue;
    NOAM_ASSIGN_OR_RETURN(const auto items, transaction.scan(f, Transaction::Moment::Now));
    compared += items.size();
    auto& wanted = expected[f];
    for (const auto& item : items) {
      const EntryRef entry{{program_.design.families[f].collection, item.block}, f, item.entry.key};
      const auto found = wanted.find(entry);
      if (found == wanted.end()) {
        out.push_back({DifferenceKind::Extra, entry, state_->bases.instance_of(entry)});
        continue;
      }
      if (found->second.columns != item.entry.columns)
        out.push_back({DifferenceKind::Wrong, entry, found->second.instance});
      wanted.erase(found);
    }
    for (const auto& [entry, of] : wanted) out.push_back({DifferenceKind::Missing, entry, of.instance});
  }
  return out;
}

Difference Session::as_reported(const BaseDifference& one) const {
  if (one.entity) return {DifferenceKind::Base, program_.model->entity(*one.entity).name, one.what, 0};
  const design::Family& family = program_.design.families[one.entry.family];
  const char* const how = one.kind == DifferenceKind::Extra     ? "belongs to no instance"
                          : one.kind == DifferenceKind::Missing ? "is missing"
                                                                : "differs from its instance";
  return {DifferenceKind::Base, program_.design.collection_of(family).name,
          entry_text(program_, family, {one.entry.block.key, one.entry.key}) + " " + how, one.entry.family};
}

// The entries of an instance that was loaded.
std::vector<std::pair<EntryRef, stores::Key>> Session::base_entries(model::EntityId id, const Row& loaded) const {
  const model::Entity& entity = program_.model->entity(id);
  const auto fields = static_cast<std::ptrdiff_t>(entity.fields.size());
  const Datum due = entity.ttl ? loaded[entity.fields.size() + 1] : Datum();
  return state_->bases.of(id, Datum::List(loaded.begin() + 1, loaded.begin() + 1 + fields), due);
}

// What is wrong, at one moment, with an instance, or with an entry that has to be of this one.
Result<std::vector<Session::BaseDifference>> Session::look_again(const BaseDifference& doubted) {
  const Instance& instance = *doubted.instance;
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  std::vector<BaseDifference> out;
  const auto committed = until_settled([&](int) -> Result<Committed> {
    out.clear();
    Transaction transaction(store_, program_.design, deadline());
    transaction.watch(options_.interrupted);
    transaction.use_for(Transaction::Use::Query);
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    const design::Plan& load = program_.entities[static_cast<std::size_t>(instance.first)].load;
    NOAM_ASSIGN_OR_RETURN(const auto loaded, executor.run(load, {{instance.second}}));
    std::map<EntryRef, stores::Key> wanted;
    if (!loaded[0][0][0].absent())
      for (auto& [entry, columns] : base_entries(instance.first, loaded[0][0])) wanted[entry] = std::move(columns);
    for (const auto& [entry, columns] : wanted) {
      NOAM_ASSIGN_OR_RETURN(const auto held, transaction.read_entry(entry, Transaction::Moment::Now));
      if (!held)
        out.push_back({DifferenceKind::Missing, entry, instance});
      else if (*held != columns)
        out.push_back({DifferenceKind::Wrong, entry, instance});
    }
    if (!wanted.contains(doubted.entry)) {
      NOAM_ASSIGN_OR_RETURN(const auto held, transaction.read_entry(doubted.entry, Transaction::Moment::Now));
      if (held) out.push_back({DifferenceKind::Extra, doubted.entry, instance});
    }
    return store_.commit(transaction.take_reads(), deadline());
  });
  if (!committed) return committed.error();
  return out;
}

Result<void> Session::verify_bases(const std::shared_ptr<const stores::Snapshot>& at, Verification& out,
                                   const std::function<void(const std::string&)>& advance) {
  NOAM_ASSIGN_OR_RETURN(auto found, compare_bases(at, out.entries, advance));
  if (!store_.capabilities().snapshots) {
    std::vector<BaseDifference> sure;
    const auto is_new = [&](const BaseDifference& one) {
      return std::find(sure.begin(), sure.end(), one) == sure.end();
    };
    std::vector<BaseDifference> others;
    for (BaseDifference& one : found) {
      if (!one.instance) {
        others.push_back(std::move(one));
        continue;
      }
      NOAM_ASSIGN_OR_RETURN(auto now, look_again(one));
      for (BaseDifference& difference : now)
        if (is_new(difference)) sure.push_back(std::move(difference));
    }
    for (int i = 1; i < most_looks && !others.empty(); ++i) {
      pause(i);
      std::size_t compared = 0;
      NOAM_ASSIGN_OR_RETURN(const auto again, compare_bases(at, compared, [](const std::string&) {}));
      std::erase_if(others, [&](const BaseDifference& one) {
        return std::find(again.begin(), again.end(), one) == again.end();
      });
    }
    sure.insert(sure.end(), others.begin(), others.end());
    found = std::move(sure);
  }
  for (const BaseDifference& one : found) out.differences.push_back(as_reported(one));
  return {};
}

Result<Verification> Session::repair(const Progress& progress) {
  Verification out;
  std::set<std::uint32_t> repaired;
  for (std::size_t i = 0; i < program_.upkeep.size(); ++i) {
    const design::Upkeep& upkeep = program_.upkeep[i];
    const std::string& collection = program_.design.collection_of(program_.design.families[upkeep.family]).name;
    if (progress) progress(collection, i, program_.upkeep.size());
    if (!upkeep.all) {
      out.unknown.push_back(fmt::format("{}: folds of transient instances, which are not stored", collection));
      continue;
    }
    // What was broken is not to be trusted half-made.
    if (state_->copies.of(upkeep.family) == CopyState::Broken)
      NOAM_RETURN_IF_ERROR(mark(upkeep.family, CopyState::Building));
    if (store_.capabilities().snapshots || store_.approximate(upkeep.family)) {
      NOAM_ASSIGN_OR_RETURN(const auto found, compare(upkeep, true, nullptr, out.entries));
      report(upkeep, found, out);
    } else {
      NOAM_RETURN_IF_ERROR(repair_entries(upkeep, repaired, out));
    }
    repaired.insert(upkeep.family);
  }
  return out;
}

// Where base data and copies cannot be read at one moment: entry by entry, until nothing differs any more.
Result<void> Session::repair_entries(const design::Upkeep& upkeep, const std::set<std::uint32_t>& repaired,
                                     Verification& out) {
  std::optional<SecondLook> second;
  for (int pass = 0; pass < most_passes; ++pass) {
    if (pass > 0) pause(pass);
    std::size_t compared = 0;
    NOAM_ASSIGN_OR_RETURN(const auto found, compare(upkeep, false, nullptr, compared));
    if (pass == 0) out.entries += compared;
    if (found.empty()) return mark(upkeep.family, CopyState::Ready);
    if (!second) second.emplace(*this, upkeep);
    const bool sure = second->is_sure([&](std::uint32_t copy) { return repaired.contains(copy); });
    if (!sure || !std::all_of(found.begin(), found.end(), [&](const auto& one) { return second->can_find(one.key); })) {
      NOAM_ASSIGN_OR_RETURN(const auto left, lasting(upkeep, found));
      if (left.empty()) return mark(upkeep.family, CopyState::Ready);
      NOAM_ASSIGN_OR_RETURN(const auto corrected, compare(upkeep, true, nullptr, compared));
      report(upkeep, corrected, out);
      continue;
    }
    bool right = true;
    for (const EntryDifference& difference : found) {
      NOAM_ASSIGN_OR_RETURN(const auto corrected, second->look(difference.key, true));
      report(upkeep, corrected, out);
      right = right && corrected.empty();
    }
    // Each was right at one moment: what seemed to differ is due to commands that run meanwhile.
    if (right) return mark(upkeep.family, CopyState::Ready);
  }
  return Error{fmt::format("`{}` still differs after {} passes; run it again when fewer commands run",
                           program_.design.collection_of(program_.design.families[upkeep.family]).name, most_passes)};
}

}  // namespace noam::runtime
