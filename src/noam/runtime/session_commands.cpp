#include <utility>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/runtime/command_run.h"
#include "noam/runtime/receipts.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"

// Commands: once each, however often they are repeated under one id, and by whom.
namespace noam::runtime {

using model::Datum;
using stores::Committed;

namespace {

Outcome unknown(std::string reason) {
  Outcome out;
  out.kind = OutcomeKind::Unknown;
  out.reason = std::move(reason);
  return out;
}

// Whether an error says what becomes of the command; others are the store's, or call for another attempt.
bool is_decision(const Error& error) { return !stores::is_failure(error) && error.code != stores::conflict_code; }

// If the store failed before anything was written, the command is refused. But with an id, an earlier call may have
// applied it, so then its outcome is unknown.
Outcome failed(const Error& error, bool written, bool repeatable) {
  if (is_decision(error)) return refused(error.code, error.message);
  if (written || repeatable) return unknown(error.message);
  return refused(error.code.empty() ? stores::store_code : error.code, error.message);
}

Outcome expired() { return refused("expired", "the command id is older than an hour"); }

constexpr const char* not_reported = "the store did not report the outcome";

}  // namespace

Outcome refused(std::string code, std::string reason) {
  Outcome out;
  out.kind = OutcomeKind::Refused;
  out.code = std::move(code);
  out.reason = std::move(reason);
  return out;
}

Outcome Session::decide(const model::Command& command, Result<std::vector<Datum>> parameters,
                        const std::optional<model::CommandId>& id) {
  const model::CommandId used = id ? *id : new_id();
  if (id && is_too_old(*id)) return expired();
  if (id && id->milliseconds() > model::last_command_time)
    return refused("value", "the time in the command id is after the year 9999");
  if (!parameters) return refused(parameters.error().code, parameters.error().message);
  const Call call{command, program_.commands[static_cast<std::size_t>(&command - program_.model->commands.data())],
                  used, id.has_value(), id ? sum_of(*parameters) : std::string()};
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(*parameters);
  environment.id = used;
  environment.now = used.milliseconds();
  return command.bulk ? run_bulk(call, environment) : run_command(call, environment);
}

// Which of the changes the store does not take.
std::string Session::too_large(const stores::WriteBatch& batch) const {
  const stores::Capabilities& can = store_.capabilities();
  for (const stores::Change& change : batch.changes) {
    const auto* put = std::get_if<stores::Put>(&change);
    if (put == nullptr || can.max_entry_bytes == 0) continue;
    const std::size_t bytes = stores::entry_bytes(put->entry.key, put->columns);
    if (bytes > can.max_entry_bytes)
      return fmt::format("an entry of {} would have {} bytes; the limit of the store is {}",
                         program_.design.collection_of(program_.design.families[put->entry.family]).name, bytes,
                         can.max_entry_bytes);
  }
  if (can.max_commit_changes != 0 && batch.changes.size() > can.max_commit_changes)
    return fmt::format("{} changes in one commit; the limit of the store is {}", batch.changes.size(),
                       can.max_commit_changes);
  if (can.max_commit_blocks != 0)
    return fmt::format("more than {} bytes in one block, or more than {} blocks in one commit", can.max_entry_bytes,
                       can.max_commit_blocks);
  return "an entry would be larger than the limit of the store";
}

bool Session::is_too_old(const model::CommandId& id) const { return id.milliseconds() < options_.clock() - id_window; }

// Nobody waits for this, and nobody is told: where it does not come about, a later one will do it.
void Session::cut_overfull(const Transaction& done) {
  for (const Transaction::Overfull& overfull : done.overfull()) {
    const std::size_t most = *program_.design.families[overfull.family].limit;
    Transaction transaction(store_, program_.design, deadline());
    stores::ReadRequest request;
    request.block = overfull.block;
    request.family = overfull.family;
    stores::Answers answers;
    if (!transaction.read({&request, 1}, Transaction::Moment::Now, answers)) return;
    std::vector<stores::Entry>& entries = answers[0].entries;
    if (entries.size() <= most) continue;
    for (std::size_t i = most; i < entries.size(); ++i)
      transaction.erase({overfull.block, overfull.family, std::move(entries[i].key)});
    if (!store_.commit(transaction.take_batch(), deadline())) return;
  }
}

// What a repeat is told of the command that has its id.
Outcome Session::told_again(const Call& call, const Receipt& kept) const {
  if (!kept.command.empty() && kept.command != call.command.name)
    return refused("value", fmt::format("the command id belongs to another command, `{}`", kept.command));
  if (!kept.sum.empty() && kept.sum != call.sum)
    return refused("value", fmt::format("the command id belongs to `{}` with other parameters", call.command.name));
  return kept.outcome;
}

Outcome Session::run_command(const Call& call, const Environment& environment) {
  const stores::Deadline by = deadline();
  Outcome outcome;
  stores::WriteBatch batch;
  bool sent = false;
  const auto committed = until_settled([&](int) -> Result<Committed> {
    sent = false;  // what was sent before has changed nothing
    Transaction transaction(store_, program_.design, by, &state_->copies);
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    const auto done = run.run(call.command, call.plan);
    if (!done && !is_decision(done.error())) return done.error();
    outcome = !done   ? refused(done.error().code, done.error().message)
              : *done ? refused((*done)->code, (*done)->reason)
                      : Outcome();
    if (outcome.kind == OutcomeKind::Applied) {
      outcome.keys = run.generated();
      batch = transaction.take_batch();
    } else {
      // Refused, unless it was applied before, or what it relies on was never so.
      const bool sure = store_.capabilities().snapshots || broken(Breakage::RefusalNotValidated);
      if (!call.repeatable && sure) return stores::Outcome::Applied;
      batch = sure ? stores::WriteBatch() : transaction.take_reads();
    }
    if (call.repeatable) {
      // Asked as late as can be: what is kept of this id is kept for longer than any commit takes.
      if (is_too_old(call.id)) {
        outcome = expired();
        return stores::Outcome::Applied;
      }
      batch.guard = outcome.kind == OutcomeKind::Applied
                        ? guard_of(program_, call.id, {call.command.name, call.sum, outcome, std::nullopt})
                        : question(program_, call.id);
      const auto& place =
          state_->receipt_places[static_cast<std::size_t>(&call.command - program_.model->commands.data())];
      if (place && store_.capabilities().shared) batch.guard->beside = beside(*place, state_->bases, environment);
    }
    sent = true;
    return commit(transaction, batch, by);
  });
  if (!committed)
    return failed(committed.error(), sent && committed.error().code != stores::store_code, call.repeatable);
  switch (*committed) {
    case stores::Outcome::Applied:
      return outcome;
    case stores::Outcome::Already:
      return told_again(call, read_receipt(*program_.model, committed->kept));
    case stores::Outcome::TooLarge:
      return refused("limit", committed->why.empty() ? too_large(batch) : committed->why);
    case stores::Outcome::Conflict:
    case stores::Outcome::Unknown:
      break;
  }
  return unknown(committed->why.empty() ? not_reported : committed->why);
}

// A bulk change is three steps, so that each instance is changed once however often it is repeated, and by whom: the
// instances it is about are noted under its id; each is changed together with a receipt of its own; the outcome takes
// the place of the note. Without an id that a caller gave, nobody can repeat it, and nothing is noted.
Outcome Session::run_bulk(const Call& call, Environment& environment) {
  std::vector<Datum> keys;
  if (const auto ended = begin_bulk(call, environment, keys)) return *ended;
  Outcome outcome;
  outcome.count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    environment.id = model::part_of(call.id, i);
    const auto applied = run_part(call, environment, keys[i]);
    if (!applied && applied.error().code == "interrupted")
      return *outcome.count == 0 && !call.repeatable
                 ? refused(applied.error().code, applied.error().message)
                 : unknown(
                       fmt::format("interrupted after {} of {} instances were changed", *outcome.count, keys.size()));
    if (!applied) return unknown(applied.error().message);
    if (*applied) ++*outcome.count;
  }
  if (call.repeatable && !keys.empty()) {
    // Whoever else comes to the end comes to the same outcome.
    stores::WriteBatch batch;
    stores::Guard guard = guard_of(program_, call.id, {call.command.name, call.sum, outcome, std::nullopt});
    batch.changes.emplace_back(stores::Put{std::move(guard.entry), std::move(guard.columns)});
    const auto committed = store_.commit(batch, deadline());
    if (!committed) return unknown(committed.error().message);
    if (*committed != stores::Outcome::Applied) return unknown("the outcome could not be stored");
  }
  return outcome;
}

std::optional<Outcome> Session::begin_bulk(const Call& call, Environment& environment, std::vector<Datum>& keys) {
  std::optional<Outcome> ended;
  stores::WriteBatch batch;
  const auto committed = until_settled([&](int) -> Result<Committed> {
    ended.reset();
    if (call.repeatable) {
      // A search would be in vain for one that has begun.
      stores::ReadRequest request;
      stores::EntryRef entry = receipt_entry(program_.design, call.id);
      request.block = std::move(entry.block);
      request.family = entry.family;
      stores::Answers answers;
      NOAM_RETURN_IF_ERROR(store_.read({&request, 1}, nullptr, deadline(), answers));
      if (!answers[0].entries.empty()) {
        batch.guard = question(program_, call.id);
        return store_.commit(batch, deadline());
      }
      if (is_too_old(call.id)) {
        ended = expired();
        return stores::Outcome::Applied;
      }
    }
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    auto found = run.find_bulk(call.command, call.plan);
    if (!found && found.error().code == stores::conflict_code) return found.error();
    if (!found) {
      ended = failed(found.error(), false, call.repeatable);
      return stores::Outcome::Applied;
    }
    keys = std::move(*found);
    if (!call.repeatable) return stores::Outcome::Applied;
    // Only the first to note them decides which they are. Other commands may change them meanwhile: each is asked
    // again.
    Receipt receipt{call.command.name, call.sum, {}, std::nullopt};
    if (keys.empty())
      receipt.outcome.count = 0;
    else
      receipt.todo = keys;
    batch.guard = guard_of(program_, call.id, receipt);
    return store_.commit(batch, deadline());
  });
  if (!committed) return unknown(committed.error().message);
  switch (*committed) {
    case stores::Outcome::Applied:
      return ended;
    case stores::Outcome::Already: {
      Receipt kept = read_receipt(*program_.model, committed->kept);
      Outcome told = told_again(call, kept);
      if (told.kind != OutcomeKind::Applied || !kept.todo) return told;
      keys = std::move(*kept.todo);
      return std::nullopt;
    }
    case stores::Outcome::TooLarge:
      return refused("limit", too_large(batch));
    case stores::Outcome::Conflict:
    case stores::Outcome::Unknown:
      break;
  }
  return unknown(not_reported);
}

Result<bool> Session::run_part(const Call& call, const Environment& environment, const Datum& key) {
  const model::CommandId& id = environment.id;
  bool applied = false;
  bool skip = false;  // the store does not take the change
  const auto committed = until_settled([&](int) -> Result<Committed> {
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    applied = false;
    if (!skip) {
      CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
      const auto done = run.run_bulk(call.command, call.plan, key, applied);
      if (!done && (!is_decision(done.error()) || done.error().code == "interrupted")) return done.error();
      applied = applied && done && !*done;
    }
    if (!applied && !call.repeatable) return stores::Outcome::Applied;  // refused, or it does not match any more
    stores::WriteBatch batch = transaction.take_batch();
    if (!applied) batch.changes.clear();
    if (call.repeatable) {
      if (is_too_old(id)) return Error{"the command id became older than an hour before all instances were changed"};
      Receipt receipt{call.command.name, call.sum, {}, std::nullopt};
      receipt.outcome.count = applied ? 1 : 0;
      batch.guard = guard_of(program_, id, receipt);
    }
    NOAM_ASSIGN_OR_RETURN(Committed done, commit(transaction, batch, deadline()));
    if (done == stores::Outcome::TooLarge && call.repeatable && applied) {
      skip = true;
      return stores::Outcome::Conflict;
    }
    return done;
  });
  if (!committed) return committed.error();
  switch (*committed) {
    case stores::Outcome::Applied:
      return applied;
    case stores::Outcome::Already:
      return read_receipt(*program_.model, committed->kept).outcome.count == 1;
    case stores::Outcome::TooLarge:
      if (!call.repeatable) return false;
      return Error{"the store rejected the receipt of an instance"};
    case stores::Outcome::Conflict:
    case stores::Outcome::Unknown:
      break;
  }
  return Error{not_reported};
}

// Those that nobody may repeat any more.
Result<void> Session::forget_ids(std::int64_t now) {
  const std::uint32_t guards = family_for(program_.design, design::Purpose::Guard);
  const std::size_t most = store_.capabilities().max_commit_changes;
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(const stores::ScanPage page, store_.scan(guards, after, nullptr, deadline()));
    stores::WriteBatch batch;
    const auto forget = [&]() -> Result<void> {
      if (batch.changes.empty()) return {};
      NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(batch, deadline()));
      if (outcome != stores::Outcome::Applied) return Error{"the store rejected the deletion of old command ids"};
      batch.changes.clear();
      return {};
    };
    for (const auto& item : page.items) {
      if (item.entry.columns[1].as_int() >= now - id_kept) continue;
      batch.changes.emplace_back(
          stores::Delete{{{program_.design.families[guards].collection, item.block}, guards, item.entry.key}});
      if (batch.changes.size() == most) NOAM_RETURN_IF_ERROR(forget());
    }
    NOAM_RETURN_IF_ERROR(forget());
    after = page.next;
  } while (!after.empty());
  return {};
}

}  // namespace noam::runtime
