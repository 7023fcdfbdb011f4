#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/model/datum_json.h"
#include "noam/runtime/copies.h"
#include "noam/runtime/tasks.h"
#include "noam/stores/store.h"

namespace noam {
struct RoundedInteger;
}

// The face of the library: a model and a design on a store.
namespace noam::runtime {

class Transaction;
struct EntryDifference;
struct Environment;
struct Receipt;

// Milliseconds since 1970. Given from outside, so that time can be simulated.
using Clock = std::function<std::int64_t()>;

// Where a store has no snapshots: whether a query that reads several blocks looks again whether all that it read was so
// at one moment, or does without it.
enum class Reads : std::uint8_t { Exact, Fast };

struct SessionOptions {
  Clock clock;                                    // none: that of the scheduler, else that of the machine
  Scheduler* scheduler = nullptr;                 // runs what is to be done later; it must outlive the session
  std::chrono::milliseconds sweep_every{60'000};  // how often start_sweeping() looks for what is due
  // What a task of start_sweeping() met: its name, and the error. It is tried again later, whether this is there or
  // not.
  std::function<void(const std::string& task, const Error& error)> on_failed_task;
  Reads reads = Reads::Exact;
  // How often to look whether another process has found a copy broken, or repaired it; 0: only when the session opens.
  std::chrono::milliseconds states_every{2'000};
  std::size_t max_fanout = 100'000;      // entries that one command may touch
  std::chrono::milliseconds timeout{0};  // of a statement; 0: none
  // Waits for a random time up to this before another attempt of what was in conflict with another process. None: the
  // thread sleeps.
  std::function<void(std::chrono::milliseconds)> pause;
  // Where this becomes true, what runs ends soon: a query with the error `interrupted`, a command that was not sent to
  // the store yet is refused with that code. Who sets it takes it back. It must outlive the session.
  const std::atomic<bool>* interrupted = nullptr;
};

// A parameter by its name, without the $.
struct Argument {
  std::string name;
  model::Datum value;
};
using Arguments = std::vector<Argument>;

// The answer of a query. Its data may be held in memory that the store has read: who wants a part of it for long keeps
// that part's memory.
struct Rows {
  std::span<const std::string> columns;  // of the session's model
  std::vector<std::vector<model::Datum>> rows;
  std::string cursor;  // empty: that was all
};

enum class OutcomeKind : std::uint8_t { Applied, Refused, Unknown };

// What became of a command. Three outcomes, never two: after `Unknown`, repeat it with the same id.
struct Outcome {
  OutcomeKind kind = OutcomeKind::Applied;
  std::string code;                                            // Refused
  std::string reason;                                          // Refused, Unknown
  std::vector<std::pair<model::EntityId, model::Datum>> keys;  // generated, in the order of the inserts
  std::optional<std::int64_t> count;                           // bulk changes: those applied
};

// Of a copy an entry that is missing, should not be there, or is wrong; or something is wrong with a base, which nobody
// can make again.
enum class DifferenceKind : std::uint8_t { Missing, Extra, Wrong, Base };

// One entry that is not what it should be.
struct Difference {
  DifferenceKind kind = DifferenceKind::Wrong;
  std::string collection;
  std::string what;  // one line for a person
  std::uint32_t family = 0;
};

// Told before each step of long work: what it is about, and how many steps of how many were done.
using Progress = std::function<void(const std::string& what, std::size_t done, std::size_t all)>;

struct Verification {
  std::vector<Difference> differences;
  std::vector<std::string> unknown;  // what can't be made again from the bases, one line each
  std::size_t entries = 0;           // compared
};

// What became of one row of a load. Nothing: it was applied.
using RowOutcome = std::optional<model::Refusal>;

// Rows of one entity that are inserted together, each as `insert` would, later ones seeing those before them.
struct LoadBatch {
  model::EntityId entity{};
  std::vector<model::Datum::List> rows;  // the fields in their order; absent: not given
  bool stop_at_refusal = false;          // the rows after one that is refused are not looked at
  // How far the load came, written in the commit of the rows it speaks of. Without a name none is kept.
  std::string note;
  std::optional<std::string> note_before;  // what stands there; where it is another, somebody else loads, too
  // What to write there once the first rows, those that have an outcome, are decided.
  std::function<std::string(const std::vector<RowOutcome>&)> note_text;
};

struct Loaded {
  std::vector<RowOutcome> rows;     // of the first rows; of all where nothing failed and it was not stopped
  std::optional<Error> failure;     // then nobody can tell of the rows after these, but the note
  std::optional<std::string> note;  // what stands there now, where nothing failed
  std::size_t most_at_once = 0;     // rows of one commit
};

// The refreshed queries of a model, those that others read before these.
std::vector<const model::Query*> in_order_of_refresh(const model::Model& model);

// A query or a command that was found by its name. Belongs to one session.
struct PreparedQuery {
  std::uint32_t index = 0;
};
struct PreparedCommand {
  std::uint32_t index = 0;
};

// Safe to use from several threads. The store must outlive it.
class Session {
 public:
  // Deploys the program's design on the store.
  static Result<std::unique_ptr<Session>> open(design::Program program, stores::Store& store,
                                               SessionOptions options = {});

  [[nodiscard]] const model::Model& model() const { return *program_.model; }
  [[nodiscard]] const design::Program& program() const { return program_; }
  [[nodiscard]] stores::Store& store() const { return store_; }

  // With a cursor: the page after it. Arguments are checked against the types of the parameters; one that is left out
  // is absent. An error has a code: `request` (no such query or parameter, an argument given twice, a cursor that this
  // query with these arguments did not give), `value`, `required`, `overflow`, `interrupted`, or none where the store
  // failed.
  Result<Rows> query(std::string_view name, const Arguments& arguments, std::string_view cursor = {});

  // The same with less to look up: arguments in the order of the parameters.
  [[nodiscard]] std::optional<PreparedQuery> prepare_query(std::string_view name) const;
  [[nodiscard]] std::optional<PreparedCommand> prepare_command(std::string_view name) const;
  Result<Rows> query(PreparedQuery query, std::vector<model::Datum> arguments, std::string_view cursor = {});
  Outcome command(PreparedCommand command, std::vector<model::Datum> arguments,
                  const std::optional<model::CommandId>& id = std::nullopt);

  // Without an id, one is made; then only the store's own answer tells whether it was applied. Refused with the codes
  // of docs/json.md, and with `request` where the model has no such command: that is not looked up by its id.
  Outcome command(std::string_view name, const Arguments& arguments,
                  const std::optional<model::CommandId>& id = std::nullopt);

  // One line of JSON for one request (docs/json.md). Never fails: what is wrong is in the answer. Who parses the
  // request answers for the numbers in it: integers beyond 64 bits are rounded when they are read; told of them,
  // `answer` refuses those in a json, as `answer_line` does.
  Json answer(const Json& request);
  Json answer(const Json& request, const std::vector<RoundedInteger>& rounded);
  std::string answer_line(std::string_view line);

  // From now on, refreshes queries at their `every`, and sweeps, as long as the session lives: on the scheduler, or
  // where none was given on a thread of its own. A query that was never refreshed, or longer ago than its `every`, is
  // refreshed at once. What fails is tried again after growing waits (see Sweeper). Several sessions of one store may
  // do so. Nothing where it has begun already.
  void start_sweeping();

  // Carries out a refreshed query now.
  Result<void> refresh(std::string_view name);
  // Deletes what is due, and forgets ids of commands that are too old to be repeated. How many instances went. An error
  // where the store does not let one go, with the code `limit` where it never will; then the others went all the same.
  Result<std::size_t> sweep();

  // Inserts many rows in as few commits as the store and `max_fanout` allow. A row that is refused (the codes of
  // docs/json.md) keeps no other from being inserted.
  Loaded load(const LoadBatch& batch);
  // What a load, or somebody else, noted under this name.
  Result<std::optional<std::string>> read_note(const std::string& name);

  // Every instance of the entities, all of one moment, entity by entity: in the order of keys, but an instance that
  // belongs to one of its own entity comes after that. Transient entities have none. An error of `take` ends it.
  Result<void> read_instances(
      const std::vector<model::EntityId>& entities,
      const std::function<Result<void>(model::EntityId entity, const model::Datum::List& fields)>& take);

  // Compares every copy with what its bases say, at one moment, while commands go on. A copy that differs is `broken`
  // from then on, and plans do not read it: an error or a refusal with the code `broken`.
  Result<Verification> verify(const Progress& progress = {});
  // Makes copies what they should be, and ready. What it found, and wrote. Nothing of a base is changed.
  Result<Verification> repair(const Progress& progress = {});
  // The collection and state of every copy.
  [[nodiscard]] std::vector<std::pair<std::string, CopyState>> copies() const;

 private:
  struct State;
  Session(design::Program program, stores::Store& store, SessionOptions options);

  Result<Rows> run_query(const model::Query& query, std::vector<model::Datum> parameters, std::string_view cursor);
  // One attempt. After the row with these values of `order by`.
  Result<Rows> answer_query(const model::Query& query, const std::optional<std::vector<model::Datum>>& after,
                            const Environment& environment, Transaction& transaction);
  // What becomes of a command whose parameters may be wrong.
  Outcome decide(const model::Command& command, Result<std::vector<model::Datum>> parameters,
                 const std::optional<model::CommandId>& id);
  // One call of a command.
  struct Call {
    const model::Command& command;
    const design::CommandPlan& plan;
    model::CommandId id;
    bool repeatable;  // its caller knows the id
    std::string sum;  // of its parameters, if it is repeatable
  };
  Outcome run_command(const Call& call, const Environment& environment);
  Outcome run_bulk(const Call& call, Environment& environment);
  // The keys that a bulk change is about: noted under its id if it is the first of it, else those that were. An outcome
  // if it has ended already, or can't begin.
  std::optional<Outcome> begin_bulk(const Call& call, Environment& environment, std::vector<model::Datum>& keys);
  // One instance of it: whether it was changed, now or before, or skipped. The environment's id is that of the part.
  Result<bool> run_part(const Call& call, const Environment& environment, const model::Datum& key);
  // What a repeat is told of the command that has its id.
  [[nodiscard]] Outcome told_again(const Call& call, const Receipt& kept) const;
  // The only loop of attempts. Calls `attempt(n)`, n from 0, until its commit is not in conflict with others.
  template <typename Attempt>
  Result<stores::Committed> until_settled(const Attempt& attempt);
  // And what follows from it.
  Result<stores::Committed> commit(const Transaction& done, const stores::WriteBatch& batch, stores::Deadline by);
  // Whether an id is forgotten, or may be: then it can't be told whether its command was applied.
  [[nodiscard]] bool is_too_old(const model::CommandId& id) const;
  [[nodiscard]] std::string too_large(const stores::WriteBatch& batch) const;
  // When a refreshed query was last refreshed; nothing: never.
  Result<std::optional<std::int64_t>> last_refresh(std::uint32_t query);
  // One instance that is due. False where it is not any more.
  Result<bool> expire(model::EntityId entity, const model::Datum& key, std::int64_t now);
  Result<void> forget_ids(std::int64_t now);
  Result<std::optional<std::int64_t>> swept_until(model::EntityId entity);
  Result<void> note_swept(model::EntityId entity, std::int64_t now);
  Result<std::int64_t> earliest_due(std::uint32_t family, std::int64_t otherwise);
  Result<std::int64_t> refresh_when_due(const model::Query& query, Scheduler& scheduler);
  [[nodiscard]] stores::Deadline deadline() const;
  class SecondLook;
  Result<std::vector<EntryDifference>> compare(const design::Upkeep& upkeep, bool write,
                                               const std::shared_ptr<const stores::Snapshot>& at,
                                               std::size_t& compared);
  Result<std::vector<EntryDifference>> confirmed(const design::Upkeep& upkeep, std::vector<EntryDifference> found,
                                                 const std::set<std::uint32_t>& doubtful);
  Result<std::vector<EntryDifference>> lasting(const design::Upkeep& upkeep, std::vector<EntryDifference> found);
  Result<void> repair_entries(const design::Upkeep& upkeep, const std::set<std::uint32_t>& repaired, Verification& out);
  [[nodiscard]] std::string approximate(const design::Upkeep& upkeep, std::size_t differences) const;
  void report(const design::Upkeep& upkeep, const std::vector<EntryDifference>& differences, Verification& out) const;
  Result<void> verify_bases(const std::shared_ptr<const stores::Snapshot>& at, Verification& out,
                            const std::function<void(const std::string&)>& advance);
  struct BaseDifference;
  Result<std::vector<BaseDifference>> compare_bases(const std::shared_ptr<const stores::Snapshot>& at,
                                                    std::size_t& compared,
                                                    const std::function<void(const std::string&)>& advance);
  Result<std::vector<BaseDifference>> look_again(const BaseDifference& doubted);
  [[nodiscard]] Difference as_reported(const BaseDifference& one) const;
  [[nodiscard]] std::vector<std::pair<stores::EntryRef, stores::Key>> base_entries(
      model::EntityId id, const std::vector<model::Datum>& loaded) const;
  Result<void> mark(std::uint32_t family, CopyState to);
  Result<void> read_states();
  // The same, if another process may have changed them.
  Result<void> renew_states(bool anyway);
  // Whether this session alone does some work of all processes for the next time. A lease that is not renewed ends.
  Result<bool> has_lease(const std::string& work, std::int64_t now);
  model::CommandId new_id();
  // Before the attempt n of what was in conflict with another process: at random, longer each time.
  void pause(int attempt);
  // Of copies with a limit, what a commit has made far longer than that.
  void cut_overfull(const Transaction& done);
  // One attempt at the rows of a load before `end` that `out` does not have yet. `TooLarge`: not all of them at once,
  // and `alone` says why; where it says so before, that is what the next row is refused with.
  Result<stores::Committed> load_some(const LoadBatch& batch, const model::CommandId& id, std::size_t end,
                                      RowOutcome& alone, Loaded& out);

  design::Program program_;
  stores::Store& store_;
  SessionOptions options_;
  std::unique_ptr<State> state_;

 public:
  ~Session();
};

}  // namespace noam::runtime
