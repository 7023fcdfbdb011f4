#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "noam/base/kill_point.h"
#include "noam/runtime/command_run.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"

namespace noam::runtime {

using model::Datum;

namespace {

Result<std::optional<std::string>> noted(Transaction& transaction, const design::Design& design,
                                         const std::string& name) {
  NOAM_ASSIGN_OR_RETURN(const auto found, transaction.read_entry(note_entry(design, name), Transaction::Moment::Now));
  if (!found) return std::optional<std::string>();
  return std::optional(std::string((*found)[0].as_string()));
}

// Nothing where the rows may be committed together; else why not.
Result<RowOutcome> run_rows(CommandRun& run, const LoadBatch& batch, std::size_t end, std::vector<RowOutcome>& out) {
  const std::size_t begin = out.size();
  NOAM_RETURN_IF_ERROR(run.load_rows(batch.entity, std::span(batch.rows).subspan(begin, end - begin),
                                     static_cast<std::uint32_t>(begin), batch.stop_at_refusal, out));
  return run.finish_load();
}

}  // namespace

Result<std::optional<std::string>> Session::read_note(const std::string& name) {
  Transaction transaction(store_, program_.design, deadline(), &state_->copies);
  return noted(transaction, program_.design, name);
}

Loaded Session::load(const LoadBatch& batch) {
  Loaded out;
  out.note = batch.note_before;
  const model::CommandId id = new_id();
  // Where a row asks what copies say of those before it, copies follow row by row, and each looks at all of them.
  constexpr std::size_t most_that_settle = 200;
  const bool settles = program_.entities[static_cast<std::size_t>(batch.entity)].require.reads_copies;
  std::size_t most = settles ? std::min(batch.rows.size(), most_that_settle) : batch.rows.size();  // how many at once
  RowOutcome alone;
  for (;;) {
    const std::size_t begin = out.rows.size();
    std::size_t end = begin;
    Loaded next;
    bool refused = false;
    const auto outcome = until_settled([&](int attempt) {
      // Fewer rows are in the way of fewer others.
      if (attempt > 1) most = std::max<std::size_t>((end - begin + 1) / 2, 1);
      end = std::min(begin + most, batch.rows.size());
      next = out;
      refused = alone.has_value();
      return load_some(batch, id, end, alone, next);
    });
    if (!outcome) {
      out.failure = outcome.error();
      return out;
    }
    switch (*outcome) {
      case stores::Outcome::Applied:
        next.most_at_once = std::max(out.most_at_once, next.rows.size() - begin);
        out = std::move(next);
        kill_point(KillPoint::LoadApplied);
        if (out.rows.size() == batch.rows.size()) return out;
        if (batch.stop_at_refusal && out.rows.back()) return out;
        alone.reset();
        most = settles ? std::min(2 * most, most_that_settle) : 2 * most;
        break;
      case stores::Outcome::TooLarge:
        if (refused || begin == end) {
          out.failure = Error{fmt::format("the store rejected the record of the load's progress: {}",
                                          alone ? alone->reason : "it is too large")};
          return out;
        }
        most = (end - begin + 1) / 2;
        if (end - begin > 1) alone.reset();
        break;
      case stores::Outcome::Conflict:
      case stores::Outcome::Already:
      case stores::Outcome::Unknown:
        out.failure = Error{"the store did not report the outcome"};
        return out;
    }
  }
}

Result<stores::Committed> Session::load_some(const LoadBatch& batch, const model::CommandId& id, std::size_t end,
                                             RowOutcome& alone, Loaded& out) {
  Transaction transaction(store_, program_.design, deadline(), &state_->copies);
  if (!batch.note.empty()) {
    NOAM_ASSIGN_OR_RETURN(const auto note, noted(transaction, program_.design, batch.note));
    if (note != out.note) return Error{"another process loads the same file at the same time"};
  }
  if (alone) {
    out.rows.push_back(alone);
  } else {
    Environment environment;
    environment.model = program_.model.get();
    environment.id = id;
    environment.now = id.milliseconds();
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    const auto refused = run_rows(run, batch, end, out.rows);
    // Not the fault of any row.
    if (!refused) {
      const std::string& code = refused.error().code;
      if (stores::is_failure(refused.error()) || code == "broken" || code == "interrupted" ||
          code == stores::conflict_code)
        return refused.error();
    }
    alone = refused ? *refused : model::Refusal{refused.error().code, refused.error().message};
    if (alone) return stores::Outcome::TooLarge;
  }
  if (!batch.note.empty()) {
    out.note = batch.note_text(out.rows);
    transaction.put(note_entry(program_.design, batch.note), {Datum(*out.note)});
  }
  const stores::WriteBatch writes = transaction.take_batch();
  if (writes.changes.empty()) return stores::Outcome::Applied;
  NOAM_ASSIGN_OR_RETURN(stores::Committed outcome, commit(transaction, writes, deadline()));
  if (outcome == stores::Outcome::TooLarge) alone = model::Refusal{"limit", too_large(writes)};
  return outcome;
}

namespace {

// Positions in `keys`, which ascend: each after those of its owners, where there is no circle.
std::vector<std::size_t> owners_first(const std::vector<Datum>& keys, const std::vector<Datum::List>& owners) {
  enum class Mark : std::uint8_t { Unseen, Open, Done };
  std::vector<Mark> marks(keys.size(), Mark::Unseen);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<std::size_t> path{i};
    while (!path.empty()) {
      const std::size_t at = path.back();
      if (marks[at] != Mark::Unseen) {
        if (marks[at] == Mark::Open) out.push_back(at);
        marks[at] = Mark::Done;
        path.pop_back();
        continue;
      }
      marks[at] = Mark::Open;
      for (const Datum& owner : owners[at]) {
        const auto found = std::lower_bound(keys.begin(), keys.end(), owner);
        if (found == keys.end() || !(*found == owner)) continue;
        const auto position = static_cast<std::size_t>(found - keys.begin());
        if (marks[position] == Mark::Unseen) path.push_back(position);
      }
    }
  }
  return out;
}

}  // namespace

Result<void> Session::read_instances(
    const std::vector<model::EntityId>& entities,
    const std::function<Result<void>(model::EntityId entity, const Datum::List& fields)>& take) {
  constexpr std::size_t at_once = 500;
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline(), &state_->copies);
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  for (const model::EntityId id : entities) {
    const model::Entity& entity = program_.model->entity(id);
    if (entity.transient) continue;
    const design::EntityPlan& plan = program_.entities[static_cast<std::size_t>(id)];
    NOAM_ASSIGN_OR_RETURN(const auto all, executor.run(plan.all, {Row{}}));
    std::vector<Datum> keys;
    for (const Row& row : all[0]) keys.push_back(row[0]);
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> own_roles;  // to owners of the same entity
    for (const std::uint32_t role : entity.owners)
      if (program_.model->roles[role].to == id) own_roles.push_back(role);
    std::vector<Datum::List> kept;  // where their order is not that of keys
    std::vector<Datum::List> owners;
    for (std::size_t begin = 0; begin < keys.size(); begin += at_once) {
      std::vector<Row> seeds;
      for (std::size_t i = begin; i < std::min(begin + at_once, keys.size()); ++i) seeds.push_back({keys[i]});
      NOAM_ASSIGN_OR_RETURN(auto loaded, executor.run(plan.load, seeds));
      for (std::size_t i = 0; i < loaded.size(); ++i) {
        Row& row = loaded[i][0];
        if (row[0].absent())
          return Error{fmt::format("{} cannot be found by its key; run `noam verify` for details",
                                   model::instance_name(*program_.model, id, seeds[i][0]))};
        Datum::List fields(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(entity.fields.size()));
        if (own_roles.empty()) {
          NOAM_RETURN_IF_ERROR(take(id, fields));
          continue;
        }
        owners.emplace_back();
        for (const std::uint32_t role : own_roles) owners.back().push_back(fields[program_.model->roles[role].field]);
        kept.push_back(std::move(fields));
      }
    }
    if (own_roles.empty()) continue;
    for (const std::size_t at : owners_first(keys, owners)) NOAM_RETURN_IF_ERROR(take(id, kept[at]));
  }
  return {};
}

}  // namespace noam::runtime
