#include "noam/stores/blocks/protocol.h"

#include <algorithm>
#include <set>
#include <utility>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/stores/in_time.h"

namespace noam::stores::blocks {

namespace {

constexpr std::size_t most_heads = 4'096;
constexpr std::size_t most_seen = 4'096;
constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_pause{100};
// From the third attempt on, a transaction holds its home, too.
constexpr std::uint32_t conflicts_before_home_is_held = 2;
constexpr int repeats_of_forget = 3;

bool has(const std::vector<TransactionId>& ids, const TransactionId& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Whatever became of a write that somebody else may have made before.
Result<void> written(const Result<Written>& outcome) {
  if (!outcome) return outcome.error();
  return {};
}

Head without_hold(Head head) {
  head.holder = nobody;
  head.hold.clear();
  return head;
}

}  // namespace

// One run of commit().
struct Protocol::Attempt {
  TransactionId id{};
  const Plan& plan;
  bool pure = false;
  bool holds_home = false;
  Deadline by;
  std::chrono::steady_clock::time_point began;
  std::map<UnitRef, Head> held;  // the heads of the units that it holds, or may
};

void Protocol::begin(std::vector<std::uint32_t> collections, std::int64_t deployed) {
  const std::lock_guard lock(lock_);
  collections_ = std::move(collections);
  deployed_ = deployed;
}

// --- Numbers ---------------------------------------------------------------------------------------------------------

// Of a head that is new: higher than any that stood there before it was collected.
std::uint64_t Protocol::fresh_number(std::int64_t microseconds) const {
  if (broken(Breakage::NumbersRestart)) return 1;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(microseconds - deployed_, 1));
}

std::uint64_t Protocol::next_version(std::uint64_t version, const TransactionId& by) const {
  return version == 0 ? fresh_number(milliseconds_of(by) * 1'000) : version + 1;
}

std::uint64_t Protocol::next_sequence(std::uint64_t sequence, std::uint64_t fresh) {
  return sequence == 0 ? fresh : sequence + 1;
}

TransactionId Protocol::new_transaction() {
  if (broken(Breakage::TransactionIdReused)) return make_transaction(1, deployed_, 1);
  return make_transaction(around_.microseconds() / 1'000, around_.random(), around_.random());
}

// --- What is known of heads ------------------------------------------------------------------------------------------

void Protocol::remember(const UnitRef& unit, const Head& head) {
  if (head.holder != nobody) return;
  const std::lock_guard lock(lock_);
  if (heads_.size() >= most_heads) {
    older_heads_ = std::move(heads_);
    heads_.clear();
  }
  heads_[unit] = head;
}

std::optional<Head> Protocol::known_head(const UnitRef& unit, std::uint64_t sequence) const {
  auto head = last_head(unit);
  if (head && head->sequence != sequence) head.reset();
  return head;
}

std::optional<Head> Protocol::last_head(const UnitRef& unit) const {
  const std::lock_guard lock(lock_);
  for (const auto* heads : {&heads_, &older_heads_}) {
    const auto found = heads->find(unit);
    if (found != heads->end()) return found->second;
  }
  return std::nullopt;
}

Result<Head> Protocol::read_head(const UnitRef& unit, Deadline by) {
  std::vector<UnitAnswer> answers;
  NOAM_RETURN_IF_ERROR(store_.read({{unit, {}}}, Fresh::Linearizable, by, answers));
  return std::move(answers[0].head);
}

Result<Hold> Protocol::hold_of(const UnitRef& unit, const Head& head) const {
  return read_hold(head.hold, unit, collections_[unit.part]);
}

Result<Written> Protocol::write(const UnitRef& unit, std::variant<UnitWrite::Sequence, UnitWrite::Held> condition,
                                std::vector<Change> changes, Head head, Deadline by) {
  std::vector<Written> out;
  NOAM_RETURN_IF_ERROR(store_.write({{UnitWrite{unit, condition, std::move(changes), head}}}, by, out));
  if (out[0] == Written::Done) remember(unit, head);
  return out[0];
}

bool Protocol::is_copied(const KeptGuard& guard) const {
  const std::lock_guard lock(lock_);
  return copied_.contains(guard.id);
}

void Protocol::copy_guards(const Head& head) {
  constexpr std::size_t ahead = 4;
  const auto guards = read_guards(head.guards);
  if (!guards || guards->kept.size() < options_.guards_in_head || broken(Breakage::GuardDropped)) return;
  const auto end = guards->kept.begin() + static_cast<std::ptrdiff_t>(std::min(ahead, guards->kept.size()));
  std::vector<KeptGuard> next(guards->kept.begin(), end);
  std::erase_if(next, [this](const KeptGuard& guard) { return is_copied(guard); });
  if (next.empty()) return;
  around_.later([this, next = std::move(next)] {
    for (const KeptGuard& guard : next) {
      if (is_copied(guard) || !store_.keep_command(guard.id, guard.columns, no_deadline)) continue;
      const std::lock_guard lock(lock_);
      if (copied_.size() >= most_seen) copied_.clear();
      copied_.insert(guard.id);
    }
  });
}

// --- Holds of others -------------------------------------------------------------------------------------------------

Result<Protocol::Judged> Protocol::judge(const UnitRef& unit, const Head& head, const Hold& hold, Deadline by) {
  Judged out;
  if (hold.home == unit) return out;
  NOAM_ASSIGN_OR_RETURN(out.home, read_head(hold.home, by));
  NOAM_ASSIGN_OR_RETURN(const auto marks, read_done(out.home.done));
  const bool committed =
      std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.transaction == head.holder; });
  if (committed && !broken(Breakage::DoneMarkIgnored))
    out.judgement = Judgement::Committed;
  else if (out.home.holder != head.holder && (out.home.sequence != hold.base || broken(Breakage::JudgedByHoldOnly)))
    out.judgement = Judgement::Over;
  return out;
}

bool Protocol::patience_is_over(const TransactionId& of, const Hold& hold) {
  if (broken(Breakage::PatienceWithoutEnd)) return false;
  const auto now = around_.steady();
  const std::lock_guard lock(lock_);
  if (first_seen_.size() >= most_seen) first_seen_.clear();
  const auto seen = first_seen_.try_emplace(of, now).first->second;
  return now - seen >= options_.patience + hold.units * options_.patience_a_unit;
}

// What a held unit becomes when its transaction has committed.
Result<Head> Protocol::finished(const Head& head, const TransactionId& by, const std::vector<KeptGuard>& added,
                                Deadline until) {
  Head out = without_hold(head);
  out.version = next_version(head.version, by);
  out.sequence = head.sequence + 1;
  out.last = add_to_last(head.last, by);
  if (added.empty()) return out;
  NOAM_ASSIGN_OR_RETURN(Guards guards, read_guards(head.guards));
  guards.kept.insert(guards.kept.end(), added.begin(), added.end());
  // Those that nobody may repeat any more just go. Others have to be found elsewhere before they go from here.
  const std::int64_t old = around_.microseconds() / 1'000 - options_.guards.count();
  std::erase_if(guards.kept, [&](const KeptGuard& guard) { return time_of(guard) < old; });
  while (guards.kept.size() > options_.guards_in_head) {
    const KeptGuard& oldest = guards.kept.front();
    if (!broken(Breakage::GuardDropped) && !is_copied(oldest))
      NOAM_RETURN_IF_ERROR(store_.keep_command(oldest.id, oldest.columns, until));
    guards.newest_dropped = std::max(guards.newest_dropped, time_of(oldest));
    guards.kept.erase(guards.kept.begin());
  }
  out.guards = write_guards(guards);
  return out;
}

Result<void> Protocol::settle(const UnitRef& unit, const Head& head, Deadline by) {
  const TransactionId id = head.holder;
  NOAM_ASSIGN_OR_RETURN(const Hold hold, hold_of(unit, head));
  NOAM_ASSIGN_OR_RETURN(const Judged judged, judge(unit, head, hold, by));
  const auto remove = [&]() -> Result<void> {
    Head after = without_hold(head);
    if (!broken(Breakage::RemovalLeavesSequence)) ++after.sequence;
    return written(write(unit, UnitWrite::Held{id}, {}, std::move(after), by));
  };
  switch (judged.judgement) {
    case Judgement::Committed: {
      NOAM_ASSIGN_OR_RETURN(Head after, finished(head, id, hold.guards, by));
      return written(write(unit, UnitWrite::Held{id}, hold.changes, std::move(after), by));
    }
    case Judgement::Over:
      return remove();
    case Judgement::Alive:
      break;
  }
  if (!patience_is_over(id, hold)) return {};
  if (hold.home == unit || broken(Breakage::RemovedWithoutFence)) return remove();
  // A head that has moved on: the transaction cannot commit there any more.
  Head fenced = without_hold(judged.home);
  if (!broken(Breakage::FenceLeavesSequence))
    fenced.sequence = next_sequence(judged.home.sequence, fresh_number(around_.microseconds()));
  return written(write(hold.home, UnitWrite::Sequence{judged.home.sequence}, {}, std::move(fenced), by));
}

Result<void> Protocol::read(const std::vector<UnitRead>& units, Fresh fresh, Reader reader, Deadline by,
                            std::vector<UnitAnswer>& out) {
  NOAM_RETURN_IF_ERROR(store_.read(units, fresh, by, out));
  std::chrono::milliseconds pause = first_pause;
  for (;;) {
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Head& head = out[i].head;
      if (head.holder == nobody) {
        if (units[i].head == HeadPart::Whole) remember(units[i].unit, head);
        continue;
      }
      if (units[i].head == HeadPart::Marks && head.hold.empty()) {
        held.push_back(i);
        continue;
      }
      if (reader == Reader::Query) {
        if (broken(Breakage::ReaderIgnoresHolds)) continue;
        NOAM_ASSIGN_OR_RETURN(const Hold hold, hold_of(units[i].unit, head));
        if (hold.pure || broken(Breakage::ReaderPassesAllHolds)) {
          NOAM_ASSIGN_OR_RETURN(const Judged judged, judge(units[i].unit, head, hold, by));
          if (judged.judgement == Judgement::Alive) continue;
        }
      }
      held.push_back(i);
    }
    if (held.empty()) return {};
    for (const std::size_t i : held)
      if (!out[i].head.hold.empty()) NOAM_RETURN_IF_ERROR(settle(units[i].unit, out[i].head, by));
    NOAM_RETURN_IF_ERROR(in_time(by));
    std::vector<UnitRead> again;
    for (const std::size_t i : held) again.push_back({units[i].unit, units[i].ranges, HeadPart::Whole});
    std::vector<UnitAnswer> answers;
    NOAM_RETURN_IF_ERROR(store_.read(again, Fresh::Linearizable, by, answers));
    bool moved = false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Head& before = out[held[i]].head;
      // Of a head without its hold, nothing was known so far.
      moved = moved || before.hold.empty() || answers[i].head.sequence != before.sequence;
      out[held[i]] = std::move(answers[i]);
    }
    if (moved) continue;
    around_.wait(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

Result<bool> Protocol::validate(const std::map<UnitRef, Version>& seen, Deadline by) {
  if (seen.empty()) return true;
  std::vector<UnitRead> units;
  for (const auto& [unit, version] : seen) units.push_back({unit, {}});
  std::vector<UnitAnswer> answers;
  NOAM_RETURN_IF_ERROR(store_.read(units, Fresh::Linearizable, by, answers));
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Head& head = answers[i].head;
    if (head.version != seen.at(units[i].unit).number) return false;
    if (head.holder == nobody || broken(Breakage::QueryValidatesVersionsOnly)) continue;
    NOAM_ASSIGN_OR_RETURN(const Hold hold, hold_of(units[i].unit, head));
    if (!hold.pure && !broken(Breakage::ReaderPassesAllHolds)) return false;
    if (broken(Breakage::PureHoldNotRechecked)) continue;
    NOAM_ASSIGN_OR_RETURN(const Judged judged, judge(units[i].unit, head, hold, by));
    if (judged.judgement != Judgement::Alive) return false;
  }
  return true;
}

// --- Commit ----------------------------------------------------------------------------------------------------------

bool Protocol::may_go_on(const Attempt& attempt) const {
  return in_time(attempt.by).has_value() && around_.steady() - attempt.began < options_.longest_attempt;
}

Result<Outcome> Protocol::commit(const Plan& plan, Deadline by) {
  Attempt attempt{new_transaction(), plan, true, false, by, around_.steady(), {}};
  for (const auto& [unit, version] : plan.reads) attempt.pure = attempt.pure && plan.writes.contains(unit);
  std::size_t units = plan.writes.size();
  for (const auto& [unit, version] : plan.reads) units += plan.writes.contains(unit) ? 0 : 1;
  if (units > 1 && units <= store_.capabilities().units_at_once) return commit_group(plan, attempt.id, by);
  {
    const std::lock_guard lock(lock_);
    const auto found = conflicts_.find(plan.home);
    const bool contended = found != conflicts_.end() && found->second >= conflicts_before_home_is_held;
    attempt.holds_home = (!attempt.pure && !broken(Breakage::HomeNotHeld)) || (contended && plan.writes.size() > 1);
  }
  const auto run = [&]() -> Result<Outcome> {
    if (broken(Breakage::ValidatedBeforePrepare)) {
      NOAM_ASSIGN_OR_RETURN(const bool valid, validate_others(attempt));
      if (!valid) return Outcome::Conflict;
    }
    NOAM_ASSIGN_OR_RETURN(const bool prepared, prepare(attempt));
    if (!prepared) return Outcome::Conflict;
    if (!broken(Breakage::ValidatedBeforePrepare)) {
      NOAM_ASSIGN_OR_RETURN(const bool valid, validate_others(attempt));
      if (!valid) return Outcome::Conflict;
    }
    if (broken(Breakage::AcknowledgedEarly)) {
      around_.later([this, copy = plan, attempt] {
        Attempt rest{attempt.id, copy, attempt.pure, attempt.holds_home, attempt.by, attempt.began, attempt.held};
        const auto decided = decide(rest);
        if (decided && *decided == Outcome::Conflict) abort(rest);
      });
      return Outcome::Applied;
    }
    return decide(attempt);
  };
  auto outcome = run();
  if (!outcome || *outcome == Outcome::Conflict) abort(attempt);
  {
    const std::lock_guard lock(lock_);
    if (conflicts_.size() >= most_seen) conflicts_.clear();
    if (outcome && *outcome == Outcome::Conflict)
      ++conflicts_[plan.home];
    else
      conflicts_.erase(plan.home);
  }
  if (outcome && *outcome == Outcome::Applied && !plan.writes.at(plan.home).guards.empty())
    if (const auto head = last_head(plan.home)) copy_guards(*head);
  if (outcome && *outcome == Outcome::Applied && plan.writes.size() > 1) {
    // The caller need not wait for this: whoever meets a hold sees that it is committed.
    around_.later([this, copy = plan, id = attempt.id, held = attempt.held, began = attempt.began] {
      Attempt rest{id, copy, true, false, no_deadline, began, held};
      finish(rest);
    });
  }
  return outcome;
}

// All in one write of the database.
Result<Outcome> Protocol::commit_group(const Plan& plan, const TransactionId& id, Deadline by) {
  std::vector<UnitWrite> group;
  for (const auto& [unit, version] : plan.reads)
    if (!plan.writes.contains(unit)) group.push_back({unit, UnitWrite::Sequence{version.sequence}, {}, std::nullopt});
  std::map<UnitRef, Head> after;
  for (const auto& [unit, write] : plan.writes) {
    NOAM_ASSIGN_OR_RETURN(Head head, finished(write.before, id, write.guards, by));
    head.sequence = next_sequence(write.before.sequence, fresh_number(around_.microseconds()));
    group.push_back({unit, UnitWrite::Sequence{write.before.sequence}, write.changes, head});
    after[unit] = std::move(head);
  }
  for (;;) {
    std::vector<Written> out;
    NOAM_RETURN_IF_ERROR(store_.write({group}, by, out));
    if (out[0] == Written::Done) {
      for (const auto& [unit, head] : after) remember(unit, head);
      return Outcome::Applied;
    }
    if (out[0] == Written::Failed) {
      // It may have been written before, by a try whose outcome was unknown.
      NOAM_ASSIGN_OR_RETURN(const Head head, read_head(plan.home, by));
      if (has(read_last(head.last), id)) return Outcome::Applied;
      if (head.version >= after[plan.home].version && read_last(head.last).size() >= remembered_transactions &&
          head.version - after[plan.home].version >= remembered_transactions)
        return Outcome::Unknown;
      return Outcome::Conflict;
    }
    if (!in_time(by)) return Outcome::Unknown;
    around_.wait(first_pause);
  }
}

// Holds all units but the home, which is held if another unit was only read. False: somebody was faster.
Result<bool> Protocol::prepare(Attempt& attempt) {
  const Plan& plan = attempt.plan;
  std::vector<std::vector<UnitWrite>> open;
  const std::uint64_t fresh = fresh_number(milliseconds_of(attempt.id) * 1'000);
  for (const auto& [unit, write] : plan.writes) {
    if (unit == plan.home && !attempt.holds_home) continue;
    const Hold hold{plan.home,     plan.writes.at(plan.home).before.sequence,
                    attempt.pure,  static_cast<std::uint32_t>(plan.writes.size()),
                    write.changes, write.guards};
    Head head = write.before;
    head.sequence = next_sequence(head.sequence, fresh);
    head.holder = attempt.id;
    head.hold = write_hold(hold);
    attempt.held[unit] = head;
    std::vector<Change> early;
    if (broken(Breakage::PrepareChangesEntries)) early = write.changes;
    std::variant<UnitWrite::Sequence, UnitWrite::Held> condition = UnitWrite::Sequence{write.before.sequence};
    if (broken(Breakage::PrepareIgnoresSequence)) condition = UnitWrite::Held{nobody};
    open.push_back({UnitWrite{unit, condition, std::move(early), std::move(head)}});
  }
  while (!open.empty()) {
    std::vector<Written> out;
    NOAM_RETURN_IF_ERROR(store_.write(open, attempt.by, out));
    std::vector<std::vector<UnitWrite>> again;
    std::vector<UnitRead> failed;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (out[i] == Written::Unknown && broken(Breakage::UnknownTakenForFailed)) return false;
      if (out[i] == Written::Unknown)
        again.push_back(std::move(open[i]));
      else if (out[i] == Written::Failed)
        failed.push_back({open[i][0].unit, {}});
    }
    if (!failed.empty()) {
      // A try whose outcome was unknown may have been written after all.
      std::vector<UnitAnswer> answers;
      NOAM_RETURN_IF_ERROR(store_.read(failed, Fresh::Linearizable, attempt.by, answers));
      for (const UnitAnswer& answer : answers)
        if (answer.head.holder != attempt.id) return false;
    }
    open = std::move(again);
    if (!may_go_on(attempt)) return false;
    if (!open.empty()) around_.wait(first_pause);
  }
  return true;
}

// Those that were read and are not written: unchanged, and held by nobody.
Result<bool> Protocol::validate_others(const Attempt& attempt) {
  if (broken(Breakage::ValidationSkipped)) return true;
  std::vector<UnitRead> units;
  for (const auto& [unit, version] : attempt.plan.reads)
    if (!attempt.plan.writes.contains(unit)) units.push_back({unit, {}});
  if (units.empty()) return true;
  std::vector<UnitAnswer> answers;
  NOAM_RETURN_IF_ERROR(store_.read(units, Fresh::Linearizable, attempt.by, answers));
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Head& head = answers[i].head;
    if (head.version != attempt.plan.reads.at(units[i].unit).number) return false;
    if (head.holder != nobody && !broken(Breakage::ValidationIgnoresHold)) return false;
  }
  return may_go_on(attempt);
}

// The one write that decides. After it was sent, only an answer of the database tells what became of it.
Result<Outcome> Protocol::decide(Attempt& attempt) {
  const UnitRef& home = attempt.plan.home;
  const Write& write = attempt.plan.writes.at(home);
  const auto held = attempt.held.find(home);
  const Head& before = held != attempt.held.end() ? held->second : write.before;
  NOAM_ASSIGN_OR_RETURN(Head after, finished(before, attempt.id, write.guards, attempt.by));
  after.sequence = next_sequence(before.sequence, fresh_number(milliseconds_of(attempt.id) * 1'000));
  if (attempt.plan.writes.size() > 1 && !broken(Breakage::NoDoneMark)) {
    NOAM_ASSIGN_OR_RETURN(auto marks, read_done(before.done));
    Mark mark{attempt.id, {}};
    for (const auto& [unit, other] : attempt.plan.writes)
      if (unit != home) mark.units.push_back(unit);
    marks.push_back(std::move(mark));
    after.done = write_done(marks);
  }
  if (!may_go_on(attempt)) return Outcome::Conflict;
  bool sent_before = false;
  for (;;) {
    const auto sent = this->write(home, UnitWrite::Sequence{before.sequence}, write.changes, after, attempt.by);
    if (!sent && sent_before) return Outcome::Unknown;
    if (!sent) return sent.error();
    switch (*sent) {
      case Written::Done:
        return Outcome::Applied;
      case Written::Failed: {
        if (broken(Breakage::CommitOnNewerHead)) {
          NOAM_ASSIGN_OR_RETURN(const Head newer, read_head(home, attempt.by));
          if (newer.version == before.version && newer.holder == nobody) {
            after.sequence = newer.sequence + 1;
            const auto done = this->write(home, UnitWrite::Sequence{newer.sequence}, write.changes, after, attempt.by);
            if (done && *done == Written::Done) return Outcome::Applied;
          }
        }
        if (!sent_before) return Outcome::Conflict;
        const auto now = read_head(home, attempt.by);
        if (!now) {
          if (!in_time(attempt.by)) return Outcome::Unknown;
          around_.wait(first_pause);
          continue;
        }
        const auto last = read_last(now->last);
        const auto marks = read_done(now->done);
        if (!marks) return Outcome::Unknown;
        const bool marked =
            std::any_of(marks->begin(), marks->end(), [&](const Mark& mark) { return mark.transaction == attempt.id; });
        if (broken(Breakage::LastIdOnly))
          return !last.empty() && last.back() == attempt.id ? Outcome::Applied : Outcome::Conflict;
        if (marked || has(last, attempt.id)) return Outcome::Applied;
        // It would have made one version; if that is too far back to be listed, nobody can tell.
        const bool listed = now->version == before.version || last.size() < remembered_transactions ||
                            (before.version != 0 && now->version < after.version + remembered_transactions);
        return listed ? Outcome::Conflict : Outcome::Unknown;
      }
      case Written::Unknown:
        if (broken(Breakage::UnknownTakenForDone)) return Outcome::Applied;
        if (broken(Breakage::UnknownTakenForFailed)) return Outcome::Conflict;
        if (broken(Breakage::UnknownReadBack)) {
          NOAM_ASSIGN_OR_RETURN(const Head now, read_head(home, attempt.by));
          return has(read_last(now.last), attempt.id) ? Outcome::Applied : Outcome::Conflict;
        }
        if (broken(Breakage::AbortAfterUnknown)) abort(attempt);
        sent_before = true;
        if (!may_go_on(attempt)) return Outcome::Unknown;
        around_.wait(first_pause);
        break;
    }
  }
}

// Nothing of it will come about; those that meet a hold which is left here will see that.
void Protocol::abort(const Attempt& attempt) {
  std::vector<std::vector<UnitWrite>> removals;
  for (const auto& [unit, head] : attempt.held) {
    Head after = without_hold(head);
    if (!broken(Breakage::RemovalLeavesSequence)) ++after.sequence;
    removals.push_back({UnitWrite{unit, UnitWrite::Held{attempt.id}, {}, std::move(after)}});
  }
  if (removals.empty()) return;
  std::vector<Written> out;
  (void)store_.write(removals, attempt.by, out);  // others do what is left
}

void Protocol::finish(const Attempt& attempt) {
  std::vector<std::vector<UnitWrite>> open;
  for (const auto& [unit, head] : attempt.held) {
    if (unit == attempt.plan.home) continue;
    const Write& write = attempt.plan.writes.at(unit);
    auto after = finished(head, attempt.id, write.guards, attempt.by);
    if (!after) return;
    std::variant<UnitWrite::Sequence, UnitWrite::Held> condition = UnitWrite::Held{attempt.id};
    if (broken(Breakage::FinishBlind) || broken(Breakage::FinishAnyHold)) {
      const auto now = read_head(unit, attempt.by);
      if (!now) return;
      if (broken(Breakage::FinishBlind)) condition = UnitWrite::Sequence{now->sequence};
      if (broken(Breakage::FinishAnyHold) && now->holder != nobody) condition = UnitWrite::Held{now->holder};
    }
    open.push_back({UnitWrite{unit, condition, write.changes, std::move(*after)}});
  }
  if (broken(Breakage::ForgottenEarly)) forget(attempt.plan.home, attempt.id, attempt.by);
  const auto began = around_.steady();
  while (!open.empty()) {
    std::vector<Written> out;
    // If not, the mark stays, and whoever meets a hold finishes it.
    if (!store_.write(open, attempt.by, out)) return;
    std::vector<std::vector<UnitWrite>> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (out[i] == Written::Done) remember(open[i][0].unit, *open[i][0].head);
      if (out[i] == Written::Unknown) again.push_back(std::move(open[i]));
    }
    open = std::move(again);
    if (around_.steady() - began > options_.longest_attempt) return;
    if (!open.empty()) around_.wait(first_pause);
  }
  forget(attempt.plan.home, attempt.id, attempt.by);
}

// Every hold is gone. The sequence stays: nobody who has read the head has to look again.
void Protocol::forget(const UnitRef& home, const TransactionId& id, Deadline by) {
  for (int i = 0; i < repeats_of_forget; ++i) {
    // Often nobody has changed it since this commit. Marks are only added with another sequence, so that none is lost.
    const auto known = i == 0 ? last_head(home) : std::nullopt;
    const auto head = known ? Result<Head>(*known) : read_head(home, by);
    if (!head) return;
    auto marks = read_done(head->done);
    if (!marks) return;
    if (std::erase_if(*marks, [&](const Mark& mark) { return mark.transaction == id; }) == 0) {
      if (known) continue;
      return;
    }
    Head after = *head;
    if (broken(Breakage::ForgetBlind)) {
      const auto now = read_head(home, by);
      if (now) after = *now;
    }
    after.done = write_done(*marks);
    const UnitWrite::Sequence as_read{after.sequence};
    const auto outcome = write(home, as_read, {}, std::move(after), by);
    if (!outcome || *outcome != Written::Failed) return;
  }
}

// --- Tidying up ------------------------------------------------------------------------------------------------------

Result<std::size_t> Protocol::tidy(std::uint32_t part, Deadline by) {
  std::size_t done = 0;
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(const UnitPage page, store_.scan(part, Walk::Heads, after, by));
    for (const UnitPage::Item& item : page.items) {
      const UnitRef unit{part, item.block};
      if (item.head.holder != nobody) {
        std::vector<UnitAnswer> answers;
        NOAM_RETURN_IF_ERROR(read({{unit, {}}}, Fresh::Linearizable, Reader::Command, by, answers));
        ++done;
      }
      NOAM_ASSIGN_OR_RETURN(const auto marks, read_done(item.head.done));
      for (const Mark& mark : marks) {
        bool all_gone = true;
        for (const UnitRef& other : mark.units) {
          NOAM_ASSIGN_OR_RETURN(const Head head, read_head(other, by));
          if (head.holder != mark.transaction) continue;
          NOAM_RETURN_IF_ERROR(settle(other, head, by));
          NOAM_ASSIGN_OR_RETURN(const Head now, read_head(other, by));
          all_gone = all_gone && now.holder != mark.transaction;
        }
        if (!all_gone && !broken(Breakage::ForgottenUnsure)) continue;
        forget(unit, mark.transaction, by);
        ++done;
      }
      if (!item.empty || item.head.holder != nobody || !marks.empty()) continue;
      // A block without entries keeps its head until nobody can be about to rely on it.
      const std::int64_t old = around_.microseconds() - options_.gravestones.count() * 1'000;
      const auto last = read_last(item.head.last);
      NOAM_ASSIGN_OR_RETURN(const Guards guards, read_guards(item.head.guards));
      std::int64_t newest_id = guards.newest_dropped;
      for (const KeptGuard& guard : guards.kept) newest_id = std::max(newest_id, time_of(guard));
      const std::int64_t kept_since = around_.microseconds() / 1'000 - options_.guards.count();
      const bool young = static_cast<std::int64_t>(item.head.sequence) > old - deployed_ || newest_id >= kept_since ||
                         (!last.empty() && milliseconds_of(last.back()) * 1'000 > old);
      if (young && !broken(Breakage::GravestoneEarly)) continue;
      (void)write(unit, UnitWrite::Sequence{item.head.sequence}, {}, Head{}, by);
      ++done;
    }
    after = page.next;
  } while (!after.empty());
  return done;
}

}  // namespace noam::stores::blocks
