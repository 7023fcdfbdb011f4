#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/base/json.h"
#include "noam/base/kill_point.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"

namespace noam::runtime {

using model::Datum;

namespace {

// For people: as JSON of its type where it is a value of that, else as it looks. What is damaged may be anything.
Json readable(const model::Model& model, const model::Type* type, const Datum& datum) {
  if (datum.absent()) return nullptr;
  const bool typed = type != nullptr && type->kind != model::TypeKind::Unknown && !mismatch(model, *type, datum, {});
  if (typed) return model::write_json(model, *type, datum);
  if (datum.is_list()) {
    Json list = Json::array();
    for (const Datum& item : datum.as_list()) list.push_back(readable(model, nullptr, item));
    return list;
  }
  if (datum.is_string()) return datum.as_string();
  if (datum.is_double()) return datum.as_double();
  if (datum.is_decimal()) return datum.as_decimal().text();
  if (datum.is_bool()) return datum.as_bool();
  return datum.as_int();
}

std::string text_of(const Json& json) { return json.dump(); }

std::string parts_text(const model::Model& model, const std::vector<model::Part>& parts, const stores::Key& key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i)
    out += (i == 0 ? "" : ", ") + text_of(readable(model, i < parts.size() ? &parts[i].expr.type : nullptr, key[i]));
  return out;
}

// `["ann"] timeline[2026-06-01T08:17:00.000Z, 104]`: the block's key, and the entry in it.
std::string entry_text(const design::Program& program, const design::Family& family, const EntryKey& key) {
  const design::Collection& collection = program.design.collection_of(family);
  std::string out = fmt::format("[{}]", parts_text(*program.model, collection.by, key.first));
  if (!family.name.empty() || key.second.empty()) out += " " + (family.name.empty() ? "ε" : family.name);
  if (!key.second.empty())
    out += fmt::format("{}[{}]", family.name.empty() ? " " : "", parts_text(*program.model, family.key, key.second));
  return out;
}

// What is wrong in an entry: the columns that differ, as they are and as they should be.
std::string columns_text(const design::Program& program, const design::Family& family, const stores::Key& is,
                         const stores::Key& should) {
  std::string out;
  for (std::size_t i = 0; i < std::max(is.size(), should.size()); ++i) {
    const Datum nothing;
    const Datum& have = i < is.size() ? is[i] : nothing;
    const Datum& want = i < should.size() ? should[i] : nothing;
    if (have == want) continue;
    const model::Cell* cell = i < family.cells.size() ? &family.cells[i] : nullptr;
    const bool plain = cell != nullptr && cell->shape == model::CellShape::Plain;
    const model::Type* type = plain ? &cell->expr.type : nullptr;
    out += fmt::format("{}{} is {}, should be {}", out.empty() ? "" : "; ", cell != nullptr ? cell->name : "a count",
                       text_of(readable(*program.model, type, have)), text_of(readable(*program.model, type, want)));
  }
  return out;
}

}  // namespace

Result<std::vector<Difference>> Session::compare(std::uint32_t index, bool write,
                                                 const std::shared_ptr<const stores::Snapshot>& at,
                                                 Verification& verification) {
  const design::Upkeep& upkeep = program_.upkeep[index];
  const design::Family& family = program_.design.families[upkeep.family];
  const std::string& collection = program_.design.collection_of(family).name;
  std::vector<Difference> out;
  if (!upkeep.all) {
    verification.unknown.push_back(fmt::format("{}: folds of transient instances, which are not stored", collection));
    return out;
  }
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  for (int attempt = 0;; ++attempt) {
    out.clear();
    std::optional<State::Turn> turn;
    if (write) turn.emplace(*state_, attempt);
    Transaction transaction(store_, program_.design, deadline(), nullptr, at);
    transaction.watch(options_.interrupted);
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(*upkeep.all, {Row{}}));
    if (broken(Breakage::VerifyComparesNothing)) return out;
    auto expected = derive_entries(program_, upkeep, rows[0]);
    auto behind = cut_entries(program_, upkeep, expected);
    NOAM_ASSIGN_OR_RETURN(const auto items, transaction.scan(upkeep.family, Transaction::Moment::Now));
    std::set<EntryKey> seen;
    const auto ref = [&](const EntryKey& key) {
      return stores::EntryRef{{family.collection, key.first}, upkeep.family, key.second};
    };
    const auto differs = [&](DifferenceKind kind, const EntryKey& key, const std::string& how) {
      out.push_back({kind, collection, entry_text(program_, family, key) + " " + how, upkeep.family});
    };
    for (const auto& item : items) {
      const EntryKey key{item.block, item.entry.key};
      seen.insert(key);
      if (const auto more = behind.find(key); more != behind.end()) expected.insert(behind.extract(more));
      const auto wanted = expected.find(key);
      if (wanted == expected.end()) {
        differs(DifferenceKind::Extra, key, "should not exist");
        transaction.erase(ref(key));
      } else if (wanted->second != item.entry.columns) {
        differs(DifferenceKind::Wrong, key,
                "is wrong: " + columns_text(program_, family, item.entry.columns, wanted->second));
        transaction.put(ref(key), wanted->second);
      }
    }
    for (const auto& [key, columns] : expected) {
      if (seen.contains(key)) continue;
      differs(DifferenceKind::Missing, key, "is missing");
      transaction.put(ref(key), columns);
    }
    verification.entries += expected.size();
    if (!write) return out;
    const bool marked = state_->copies.of(upkeep.family) != CopyState::Ready;
    if (out.empty() && !marked) return out;
    if (marked) transaction.erase(note_entry(program_.design, CopyStates::note_name(program_.design, upkeep.family)));
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(transaction.batch(), deadline()));
    if (outcome == stores::Outcome::Conflict) continue;
    if (outcome != stores::Outcome::Applied) return Error{"the store rejected the repair"};
    kill_point(KillPoint::RepairApplied);
    state_->copies.set(upkeep.family, CopyState::Ready);
    return out;
  }
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
    if (answers[i].entries.empty()) continue;
    const Datum& noted = answers[i].entries[0].columns[0];
    state_->copies.set(families[i],
                       noted == Datum(state_name(CopyState::Building)) ? CopyState::Building : CopyState::Broken);
  }
  return {};
}

std::vector<std::pair<std::string, CopyState>> Session::copies() const {
  std::vector<std::pair<std::string, CopyState>> out;
  for (const design::Upkeep& upkeep : program_.upkeep)
    out.emplace_back(program_.design.collection_of(program_.design.families[upkeep.family]).name,
                     state_->copies.of(upkeep.family));
  return out;
}

Result<Verification> Session::verify(const Progress& progress) {
  Verification out;
  const std::size_t steps = program_.model->entities.size() + program_.upkeep.size();
  std::size_t step = 0;
  const auto advance = [&](const std::string& what) {
    if (progress) progress(what, step++, steps);
  };
  // One moment for all of it: commands go on meanwhile.
  const std::shared_ptr<const stores::Snapshot> at = store_.snapshot();
  NOAM_RETURN_IF_ERROR(verify_bases(at, out, advance));
  for (std::uint32_t i = 0; i < program_.upkeep.size(); ++i) {
    const std::uint32_t family = program_.upkeep[i].family;
    advance(program_.design.collection_of(program_.design.families[family]).name);
    NOAM_ASSIGN_OR_RETURN(auto found, compare(i, false, at, out));
    if (program_.upkeep[i].all)
      NOAM_RETURN_IF_ERROR(mark(family, found.empty() ? CopyState::Ready : CopyState::Broken));
    out.differences.insert(out.differences.end(), found.begin(), found.end());
  }
  return out;
}

// What lies in bases is what their instances say.
Result<void> Session::verify_bases(const std::shared_ptr<const stores::Snapshot>& at, Verification& out,
                                   const std::function<void(const std::string&)>& advance) {
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline(), nullptr, at);
  transaction.watch(options_.interrupted);
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  std::map<std::uint32_t, std::map<EntryKey, stores::Key>> expected;
  for (std::uint32_t i = 0; i < program_.model->entities.size(); ++i) {
    const model::Entity& entity = program_.model->entities[i];
    advance(entity.name);
    if (entity.transient) continue;
    NOAM_ASSIGN_OR_RETURN(const auto keys, executor.run(program_.entities[i].all, {Row{}}));
    NOAM_ASSIGN_OR_RETURN(const auto loaded, executor.run(program_.entities[i].load, keys[0]));
    for (std::size_t of = 0; of < loaded.size(); ++of) {
      const Row& row = loaded[of][0];
      if (row[0].absent()) {
        out.differences.push_back(
            {DifferenceKind::Base, entity.name,
             fmt::format("{} cannot be found by its key",
                         model::instance_name(*program_.model, static_cast<model::EntityId>(i), keys[0][of][0])),
             0});
        continue;
      }
      const auto fields = static_cast<std::ptrdiff_t>(entity.fields.size());
      const Datum due = entity.ttl ? row[entity.fields.size() + 1] : Datum();
      for (auto& [entry, columns] : state_->bases.of(static_cast<model::EntityId>(i),
                                                     Datum::List(row.begin() + 1, row.begin() + 1 + fields), due))
        expected[entry.family][{entry.block.key, entry.key}] = columns;
    }
  }
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Base) continue;
    const std::string& collection = program_.design.collection_of(family).name;
    NOAM_ASSIGN_OR_RETURN(const auto items, transaction.scan(f, Transaction::Moment::Now));
    out.entries += items.size();
    auto& wanted = expected[f];
    const auto differs = [&](const EntryKey& key, const char* how) {
      out.differences.push_back({DifferenceKind::Base, collection, entry_text(program_, family, key) + how, f});
    };
    for (const auto& item : items) {
      const EntryKey key{item.block, item.entry.key};
      const auto found = wanted.find(key);
      if (found == wanted.end()) {
        differs(key, " belongs to no instance");
        continue;
      }
      if (found->second != item.entry.columns) differs(key, " differs from its instance");
      wanted.erase(found);
    }
    for (const auto& [key, columns] : wanted) differs(key, " is missing");
  }
  return {};
}

Result<Verification> Session::repair(const Progress& progress) {
  Verification out;
  for (std::uint32_t i = 0; i < program_.upkeep.size(); ++i) {
    const std::uint32_t family = program_.upkeep[i].family;
    if (progress)
      progress(program_.design.collection_of(program_.design.families[family]).name, i, program_.upkeep.size());
    // What was broken is not to be trusted half-made.
    if (state_->copies.of(family) == CopyState::Broken) NOAM_RETURN_IF_ERROR(mark(family, CopyState::Building));
    NOAM_ASSIGN_OR_RETURN(auto found, compare(i, true, nullptr, out));
    out.differences.insert(out.differences.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace noam::runtime
