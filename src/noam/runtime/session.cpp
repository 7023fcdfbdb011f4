#include "noam/runtime/session.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <shared_mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/base/json_text.h"
#include "noam/design/print.h"
#include "noam/model/json_text.h"
#include "noam/model/packed.h"
#include "noam/model/scalars.h"
#include "noam/runtime/arguments.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/command_run.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/own_blocks.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"
#include "noam/runtime/whole_collections.h"

namespace noam::runtime {

using model::Datum;
using stores::Committed;

// An instance is due on no day that is over by more than this.
constexpr std::int64_t clocks_may_differ = 3'600'000;

Session::Session(design::Program program, stores::Store& store, SessionOptions options)
    : program_(std::move(program)), store_(store), options_(std::move(options)) {
  if (!options_.clock && options_.scheduler != nullptr)
    options_.clock = [scheduler = options_.scheduler] { return scheduler->now(); };
  if (!options_.clock) options_.clock = system_time;
  state_ = std::make_unique<State>(program_);
}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(design::Program program, stores::Store& store, SessionOptions options) {
  if (!store.capabilities().watches_collections) NOAM_RETURN_IF_ERROR(relies_on_no_collection(program));
  // Who shares a store wants to know what lies there.
  const std::string text = store.capabilities().shared ? design::print_design(program) : std::string();
  NOAM_RETURN_IF_ERROR(store.deploy({program.design, *program.model, program.model->text.text, text}));
  std::unique_ptr<Session> session(new Session(std::move(program), store, std::move(options)));
  NOAM_RETURN_IF_ERROR(session->read_states());
  session->state_->states_read = session->options_.clock();
  return session;
}

stores::Deadline Session::deadline() const {
  if (options_.timeout.count() == 0) return stores::no_deadline;
  return std::chrono::steady_clock::now() + options_.timeout;
}

void Session::pause(int attempt) {
  constexpr int longest = 9;  // 2^9 ms
  const std::chrono::milliseconds most(std::int64_t{1} << std::min(attempt, longest));
  if (options_.pause) {
    options_.pause(most);
    return;
  }
  std::chrono::milliseconds time{};
  {
    const std::lock_guard lock(state_->random_lock);
    time = std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, most.count())(state_->random));
  }
  std::this_thread::sleep_for(time);
}

model::CommandId Session::new_id() {
  const std::lock_guard lock(state_->random_lock);
  return model::make_command_id(options_.clock(), state_->random(), state_->random());
}

namespace {

template <typename Statement>
const Statement* find(const std::vector<Statement>& all, std::string_view name) {
  for (const Statement& statement : all)
    if (statement.name == name) return &statement;
  return nullptr;
}

std::optional<std::size_t> find_parameter(const std::vector<model::Parameter>& parameters, std::string_view name) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return i;
  return std::nullopt;
}

// The code of an argument that nobody asked for.
const char* surplus(bool query) { return query ? "request" : "value"; }

// What is asked of a parameter.
struct Asked {
  const std::vector<model::Parameter>& parameters;
  const std::vector<std::uint32_t>& limits;  // which of them are limits
  bool query;
};

Result<std::vector<Datum>> with_good_limits(const Asked& asked, std::vector<Datum> values) {
  for (const std::uint32_t limit : asked.limits)
    if (values[limit].is_int() && values[limit].as_int() < 0)
      return Error{fmt::format("{}: a limit must not be negative", asked.parameters[limit].name), "value"};
  return values;
}

Result<std::vector<Datum>> ask(const model::Model& model, const Asked& asked, std::vector<Datum> values) {
  const std::vector<model::Parameter>& parameters = asked.parameters;
  if (values.size() > parameters.size())
    return Error{fmt::format("{} arguments for {} parameters", values.size(), parameters.size()), surplus(asked.query)};
  values.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (values[i].absent() && !parameters[i].type.optional)
      return Error{fmt::format("`{}` is required", parameters[i].name), "required"};
    if (const auto wrong = mismatch(model, parameters[i].type, values[i], parameters[i].name))
      return Error{wrong->reason, wrong->code};
  }
  return with_good_limits(asked, std::move(values));
}

// Values in the order of the parameters. The error's code is that of a refusal.
Result<std::vector<Datum>> bind(const model::Model& model, const Asked& asked, const Arguments& arguments) {
  const std::vector<model::Parameter>& parameters = asked.parameters;
  std::vector<Datum> out(parameters.size());
  std::vector<bool> given(parameters.size());
  for (const Argument& argument : arguments) {
    const auto at = find_parameter(parameters, argument.name);
    if (!at) return Error{fmt::format("no parameter `{}`", model::shortened(argument.name)), surplus(asked.query)};
    if (given[*at]) return Error{fmt::format("`{}` is given twice", argument.name), surplus(asked.query)};
    given[*at] = true;
    out[*at] = argument.value;
  }
  return ask(model, asked, std::move(out));
}

// The same of the member `params` of a request.
Result<std::vector<Datum>> read_parameters(const model::Model& model, const Asked& asked, const Json& params,
                                           const std::vector<RoundedInteger>& rounded) {
  const std::vector<model::Parameter>& parameters = asked.parameters;
  for (const auto& member : params.items())
    if (!find_parameter(parameters, member.key()))
      return Error{fmt::format("no parameter `{}`", model::shortened(member.key())), surplus(asked.query)};
  std::vector<Datum> out(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const model::Parameter& parameter = parameters[i];
    const auto given = params.find(parameter.name);
    if (given == params.end()) {
      if (!parameter.type.optional) return Error{fmt::format("`{}` is required", parameter.name), "required"};
      continue;
    }
    auto datum = model::read_json(model, parameter.type, *given, parameter.name);
    if (!datum) return Error{datum.refusal().reason, datum.refusal().code};
    if (const auto wrong =
            model::refuse_rounded(model, parameter.type, rounded, {"params", parameter.name}, parameter.name))
      return Error{wrong->reason, wrong->code};
    out[i] = std::move(*datum);
  }
  return with_good_limits(asked, std::move(out));
}

// A cursor is the position after which the next page begins: the values that rows are ordered by. Before them stands a
// sum over these, the query and its parameters, so that it is taken for what it was made for alone. Pages may be of
// different length: the parameter that is the limit does not count.
std::string cursor_sum(const model::Query& query, const std::vector<Datum>& parameters, std::string_view position) {
  std::string all;
  model::append_packed(query.name, all);
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    const bool limit = query.select.limit->kind == model::ExprKind::Parameter && query.select.limit->index == i;
    model::append_packed(limit ? Datum() : parameters[i], all);
  }
  all += position;
  XXH64_canonical_t sum{};
  XXH64_canonicalFromHash(&sum, XXH3_64bits(all.data(), all.size()));
  return {std::begin(sum.digest), std::end(sum.digest)};
}

std::string make_cursor(const model::Query& query, const std::vector<Datum>& parameters, const Row& row) {
  std::string position;
  model::append_packed(row, position);
  return model::print_base64(cursor_sum(query, parameters, position) + position);
}

std::optional<Row> read_cursor(const model::Query& query, const std::vector<Datum>& parameters, std::string_view cursor,
                               std::size_t terms) {
  const auto bytes = model::parse_base64(cursor);
  if (!bytes || bytes->size() < sizeof(XXH64_canonical_t)) return std::nullopt;
  std::string_view position = std::string_view(*bytes).substr(sizeof(XXH64_canonical_t));
  if (!bytes->starts_with(cursor_sum(query, parameters, position))) return std::nullopt;
  Datum row;
  if (!model::take_packed(position, nullptr, row) || !position.empty()) return std::nullopt;
  if (!row.is_list() || row.as_list().size() != terms) return std::nullopt;
  return row.as_list();
}

}  // namespace

Result<Rows> Session::query(std::string_view name, const Arguments& arguments, std::string_view cursor) {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr) return Error{fmt::format("no query `{}`", model::shortened(name)), "request"};
  const auto index = static_cast<std::size_t>(query - program_.model->queries.data());
  NOAM_ASSIGN_OR_RETURN(auto parameters,
                        bind(*program_.model, {query->parameters, state_->query_limits[index], true}, arguments));
  return run_query(*query, std::move(parameters), cursor);
}

std::optional<PreparedQuery> Session::prepare_query(std::string_view name) const {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr) return std::nullopt;
  return PreparedQuery{static_cast<std::uint32_t>(query - program_.model->queries.data())};
}

std::optional<PreparedCommand> Session::prepare_command(std::string_view name) const {
  const model::Command* command = find(program_.model->commands, name);
  if (command == nullptr) return std::nullopt;
  return PreparedCommand{static_cast<std::uint32_t>(command - program_.model->commands.data())};
}

Result<Rows> Session::query(PreparedQuery query, std::vector<Datum> arguments, std::string_view cursor) {
  const model::Query& found = program_.model->queries[query.index];
  NOAM_ASSIGN_OR_RETURN(auto parameters,
                        ask(*program_.model, {found.parameters, state_->query_limits[query.index], true},
                            std::move(arguments)));
  return run_query(found, std::move(parameters), cursor);
}

Outcome Session::command(PreparedCommand command, std::vector<Datum> arguments,
                         const std::optional<model::CommandId>& id) {
  const model::Command& found = program_.model->commands[command.index];
  return decide(
      found,
      ask(*program_.model, {found.parameters, state_->command_limits[command.index], false}, std::move(arguments)), id);
}

Outcome Session::command(std::string_view name, const Arguments& arguments, const std::optional<model::CommandId>& id) {
  const auto prepared = prepare_command(name);
  if (!prepared) return refused("request", fmt::format("no command `{}`", model::shortened(name)));
  const model::Command& command = program_.model->commands[prepared->index];
  return decide(command,
                bind(*program_.model, {command.parameters, state_->command_limits[prepared->index], false}, arguments),
                id);
}

Result<Rows> Session::run_query(const model::Query& query, std::vector<Datum> parameters, std::string_view cursor) {
  const auto index = static_cast<std::uint32_t>(&query - program_.model->queries.data());
  const design::Plan& plan = program_.queries[index];
  std::optional<Row> after;
  if (!cursor.empty()) {
    if (query.refresh || !query.select.limit)
      return Error{fmt::format("query `{}` takes no `cursor`: {}", query.name,
                               query.refresh ? "it returns its last refresh" : "it has no `limit`"),
                   "request"};
    after = read_cursor(query, parameters, cursor, plan.order_by.size());
    if (!after)
      return Error{fmt::format("the `cursor` is not one of query `{}` with these parameters", query.name), "request"};
  }
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.now = options_.clock();
  // Without snapshots, a glance is at what is there now, which costs more than what was committed.
  const bool fast = options_.reads == Reads::Fast && !store_.capabilities().snapshots;
  const auto use = state_->reads_once[index] != 0 && !fast ? Transaction::Use::Glance : Transaction::Use::Query;
  NOAM_RETURN_IF_ERROR(renew_states(false));

  const stores::Deadline by = deadline();  // of all attempts
  for (int attempt = 0;; ++attempt) {
    if (attempt > 0) pause(attempt);
    Transaction transaction(store_, program_.design, by, &state_->copies);
    transaction.watch(options_.interrupted);
    transaction.use_for(use);
    auto rows = answer_query(query, after, environment, transaction);
    if (!transaction.is_validated() || options_.reads == Reads::Fast || broken(Breakage::QueryNotValidated)) {
      if (rows || rows.error().code != stores::conflict_code) return rows;
      continue;
    }
    // An error, too, may be due to what was never so.
    if (!rows && stores::is_failure(rows.error())) return rows;
    if (!rows && rows.error().code == stores::conflict_code) continue;
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome valid, store_.commit(transaction.take_reads(), by));
    if (valid != stores::Outcome::Conflict) return rows;
  }
}

Result<Rows> Session::answer_query(const model::Query& query, const std::optional<std::vector<Datum>>& after,
                                   const Environment& environment, Transaction& transaction) {
  const auto index = static_cast<std::uint32_t>(&query - program_.model->queries.data());
  Rows out;
  out.columns = query.row.names;
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  if (query.refresh) {
    // The answer of the last refresh.
    design::Plan last;
    design::Step step;
    step.kind = design::StepKind::Refreshed;
    step.query = index;
    for (std::uint32_t i = 0; i < query.row.names.size(); ++i) {
      step.outputs.push_back({{design::Place::Kind::Cell, i, {}}, i, query.row.arguments[i]});
      model::Expr slot;
      slot.kind = model::ExprKind::Slot;
      slot.index = i;
      last.columns.push_back({query.row.names[i], std::move(slot)});
    }
    last.slots = static_cast<std::uint32_t>(query.row.names.size());
    last.steps.push_back(std::move(step));
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(last, {Row{}}));
    out.rows = std::move(rows[0]);
    return out;
  }
  NOAM_ASSIGN_OR_RETURN(PageOfRows page, executor.page(program_.queries[index], after));
  out.rows = std::move(page.rows);
  if (page.position) out.cursor = make_cursor(query, environment.parameters, *page.position);
  return out;
}

Result<Committed> Session::commit(const Transaction& done, const stores::WriteBatch& batch, stores::Deadline by) {
  NOAM_ASSIGN_OR_RETURN(Committed committed, store_.commit(batch, by));
  if (committed == stores::Outcome::Applied) cut_overfull(done);
  return committed;
}

Result<void> Session::refresh(std::string_view name) {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr || !query->refresh)
    return Error{fmt::format("no refreshed query `{}`", model::shortened(name)), "request"};
  const auto index = static_cast<std::uint32_t>(query - program_.model->queries.data());
  Environment environment;
  environment.model = program_.model.get();
  const auto committed = until_settled([&](int) -> Result<Committed> {
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    transaction.begin();
    environment.now = options_.clock();  // not before what is read: a refresh that ended meanwhile is not the later one
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(program_.queries[index], {Row{}}));
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    NOAM_RETURN_IF_ERROR(run.refresh(index, environment.now, rows[0]));
    return commit(transaction, transaction.take_batch(), deadline());
  });
  if (!committed) return committed.error();
  if (*committed != stores::Outcome::Applied) return Error{"the store rejected the refreshed rows"};
  return {};
}

Result<std::optional<std::int64_t>> Session::last_refresh(std::uint32_t query) {
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Refreshed || family.members_of != query || !family.key.empty()) continue;
    stores::ReadRequest request;
    request.block = {family.collection, own_block()};
    request.family = f;
    stores::Answers answers;
    NOAM_RETURN_IF_ERROR(store_.read({&request, 1}, nullptr, deadline(), answers));
    if (answers[0].entries.empty()) return std::optional<std::int64_t>();
    return std::optional(answers[0].entries[0].columns[0].as_int());
  }
  fail_check("a refreshed query has a place for its rows");
}

Result<std::int64_t> Session::refresh_when_due(const model::Query& query, Scheduler& scheduler) {
  constexpr std::int64_t minute = 60'000;
  const std::int64_t every = query.refresh->every_minutes * minute;
  // Another session may have refreshed it. Where the clock was set back, a refresh before the last would not be seen;
  // then it is looked at again in time.
  NOAM_ASSIGN_OR_RETURN(const auto last,
                        last_refresh(static_cast<std::uint32_t>(&query - program_.model->queries.data())));
  const std::int64_t now = scheduler.now();
  if (last && *last > now - every) return std::min(*last, now) + every;
  NOAM_ASSIGN_OR_RETURN(const bool ours, has_lease("refresh/" + query.name, now));
  if (!ours) return now + std::min(every, minute);
  NOAM_RETURN_IF_ERROR(refresh(query.name));
  return now + every;
}

Result<bool> Session::has_lease(const std::string& work, std::int64_t now) {
  if (!store_.capabilities().shared) return true;
  constexpr std::int64_t shortest = 60'000;
  const std::int64_t until = now + std::max(shortest, 2 * options_.sweep_every.count());
  Transaction transaction(store_, program_.design, deadline());
  const stores::EntryRef note = note_entry(program_.design, "lease/" + work);
  NOAM_ASSIGN_OR_RETURN(const auto held, transaction.read_entry(note, Transaction::Moment::Now));
  if (held && (*held)[0].is_string()) {
    // `SESSION MILLISECONDS`
    const std::string_view text = (*held)[0].as_string();
    const std::size_t space = std::min(text.find(' '), text.size() - 1);
    std::int64_t ends = 0;
    (void)std::from_chars(text.data() + space + 1, text.data() + text.size(), ends);
    // One that ends later than any lease can is of a clock that was wrong.
    if (text.substr(0, space) != state_->session_name && ends > now && ends <= 2 * until - now) return false;
  }
  transaction.put(note, {Datum(fmt::format("{} {}", state_->session_name, until))});
  NOAM_ASSIGN_OR_RETURN(const Committed done, store_.commit(transaction.take_batch(), deadline()));
  return done == stores::Outcome::Applied;
}

std::vector<const model::Query*> in_order_of_refresh(const model::Model& model) {
  std::vector<const model::Query*> out;
  std::set<const model::Query*> seen;
  const std::function<void(const model::Query&)> visit = [&](const model::Query& query) {
    if (!query.refresh || !seen.insert(&query).second) return;
    for (const model::Variable& variable : query.variables)
      if (variable.kind == model::SourceKind::Refreshed || variable.kind == model::SourceKind::History)
        visit(model.queries[variable.query]);
    out.push_back(&query);
  };
  for (const model::Query& query : model.queries) visit(query);
  return out;
}

void Session::start_sweeping() {
  const std::lock_guard lock(state_->sweeping);
  if (state_->sweeper) return;
  if (options_.scheduler == nullptr) state_->own_scheduler = std::make_unique<ThreadScheduler>();
  Scheduler& scheduler = options_.scheduler != nullptr ? *options_.scheduler : *state_->own_scheduler;
  std::vector<Duty> duties;
  for (const model::Query* query : in_order_of_refresh(*program_.model))
    duties.push_back(
        {"refresh " + query->name, [this, query, &scheduler] { return refresh_when_due(*query, scheduler); }});
  duties.push_back({"sweep", [this, &scheduler]() -> Result<std::int64_t> {
                      NOAM_ASSIGN_OR_RETURN(const bool ours, has_lease("sweep", scheduler.now()));
                      if (!ours) return scheduler.now() + options_.sweep_every.count();
                      NOAM_ASSIGN_OR_RETURN(const std::size_t gone, sweep());
                      (void)gone;
                      return scheduler.now() + options_.sweep_every.count();
                    }});
  state_->sweeper = std::make_unique<Sweeper>(scheduler, std::move(duties), options_.on_failed_task);
}

namespace {

std::string swept_note(const model::Model& model, model::EntityId entity) {
  return "swept/" + model.entity(entity).name;
}

}  // namespace

// Nothing that is due before this is left. None: nobody has swept so far.
Result<std::optional<std::int64_t>> Session::swept_until(model::EntityId entity) {
  NOAM_ASSIGN_OR_RETURN(const auto note, read_note(swept_note(*program_.model, entity)));
  if (!note) return std::optional<std::int64_t>();
  std::int64_t out = 0;
  (void)std::from_chars(note->data(), note->data() + note->size(), out);
  return std::optional(out);
}

Result<void> Session::note_swept(model::EntityId entity, std::int64_t now) {
  Transaction transaction(store_, program_.design, deadline());
  transaction.put(note_entry(program_.design, swept_note(*program_.model, entity)),
                  {Datum(std::to_string(now - clocks_may_differ))});
  // If another one has swept meanwhile, its note will do.
  NOAM_RETURN_IF_ERROR(store_.commit(transaction.take_batch(), deadline()));
  return {};
}

// The earliest time at which anything is due; `otherwise` if nothing is.
Result<std::int64_t> Session::earliest_due(std::uint32_t family, std::int64_t otherwise) {
  std::int64_t out = otherwise;
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(const stores::ScanPage page, store_.scan(family, after, nullptr, deadline()));
    for (const auto& item : page.items) out = std::min(out, item.entry.key[0].as_int());
    after = page.next;
  } while (!after.empty());
  return out;
}

Result<std::size_t> Session::sweep() {
  std::size_t gone = 0;
  std::optional<Error> left;  // the first that could not go
  const std::int64_t now = options_.clock();
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Due) continue;
    const auto entity = static_cast<model::EntityId>(family.members_of);
    std::optional<std::int64_t> before;
    std::int64_t from = 0;
    if (store_.capabilities().spreads_own) {
      NOAM_ASSIGN_OR_RETURN(before, swept_until(entity));
      if (before) {
        from = *before;
      } else {
        NOAM_ASSIGN_OR_RETURN(from, earliest_due(f, now - clocks_may_differ));
      }
    }
    for (const stores::Key& block : due_blocks(store_.capabilities(), from, now)) {
      // Page by page, each once: one that can't go stands in nobody's way.
      stores::ReadRequest request;
      request.block = {family.collection, block};
      request.family = f;
      request.to.parts = {Datum(now)};
      request.limit = 100;
      for (bool more = true; more;) {
        stores::Answers answers;
        NOAM_RETURN_IF_ERROR(store_.read({&request, 1}, nullptr, deadline(), answers));
        more = answers[0].more;
        for (const stores::Entry& entry : answers[0].entries) {
          const auto expired = expire(entity, entry.key[1], now);
          if (expired && *expired) ++gone;
          if (!expired && expired.error().code != "limit") return expired.error();
          if (!expired && !left) left = expired.error();
        }
        if (more) request.from = {answers[0].entries.back().key, false};
      }
    }
    // Not each time: it is about days.
    constexpr std::int64_t day = 86'400'000;
    const bool moved = !before || (now - clocks_may_differ) / day > *before / day;
    if (!left && store_.capabilities().spreads_own && moved) NOAM_RETURN_IF_ERROR(note_swept(entity, now));
  }
  NOAM_RETURN_IF_ERROR(forget_ids(now));
  NOAM_RETURN_IF_ERROR(store_.tidy(deadline()));
  if (left) return *left;
  return gone;
}

Result<bool> Session::expire(model::EntityId entity, const Datum& key, std::int64_t now) {
  const auto name = [&] { return model::instance_name(*program_.model, entity, key); };
  bool expired = false;
  stores::WriteBatch batch;
  const auto committed = until_settled([&](int) -> Result<Committed> {
    Environment environment;
    environment.model = program_.model.get();
    environment.now = now;
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    NOAM_ASSIGN_OR_RETURN(expired, run.expire(entity, key, now));
    if (!expired) return stores::Outcome::Applied;
    batch = transaction.take_batch();
    return commit(transaction, batch, deadline());
  });
  if (!committed) return committed.error();
  if (*committed == stores::Outcome::Applied) return expired;
  if (*committed == stores::Outcome::TooLarge)
    return Error{fmt::format("{} is expired but cannot be deleted: {}", name(), too_large(batch)), "limit"};
  return Error{fmt::format("{} is expired; the store did not report whether it was deleted", name())};
}

// --- Lines of JSON ---------------------------------------------------------------------------------------------------

namespace {

Json error_json(const std::string& code, const std::string& reason) {
  return Json{{"error", {{"code", code.empty() ? "store" : code}, {"reason", reason}}}};
}

Json outcome_json(const model::Model& model, const Outcome& outcome) {
  Json out = Json::object();
  switch (outcome.kind) {
    case OutcomeKind::Applied: {
      out["outcome"] = "applied";
      if (!outcome.keys.empty()) {
        Json keys = Json::array();
        for (const auto& [entity, key] : outcome.keys)
          keys.push_back(model::write_json(model, model::reference(entity), key));
        out["keys"] = std::move(keys);
      }
      if (outcome.count) out["count"] = *outcome.count;
      break;
    }
    case OutcomeKind::Refused:
      out["outcome"] = "refused";
      out["code"] = outcome.code;
      out["reason"] = outcome.reason;
      break;
    case OutcomeKind::Unknown:
      out["outcome"] = "unknown";
      out["reason"] = outcome.reason;
      break;
  }
  return out;
}

}  // namespace

Json Session::answer(const Json& request) { return answer(request, {}); }

Json Session::answer(const Json& request, const std::vector<RoundedInteger>& rounded) {
  const model::Model& model = *program_.model;
  if (!request.is_object()) return error_json("request", "a request must be an object: {\"run\": …}");
  for (const auto& member : request.items())
    if (member.key() != "run" && member.key() != "params" && member.key() != "id" && member.key() != "cursor")
      return error_json("request", fmt::format("unknown member `{}` in a request", model::shortened(member.key())));
  if (!request.contains("run") || !request["run"].is_string())
    return error_json("request", "`run` must be the name of a query or command");
  const std::string& name = request["run"].text();
  const Json none = Json::object();
  const Json& params = request.contains("params") ? request["params"] : none;
  if (!params.is_object()) return error_json("request", "`params` must be an object");
  const model::Query* query = find(model.queries, name);
  const model::Command* command = find(model.commands, name);
  if (query == nullptr && command == nullptr)
    return error_json("request", fmt::format("no query or command `{}`", model::shortened(name)));

  std::optional<model::CommandId> id;
  if (request.contains("id") && !request["id"].is_null()) {
    if (query != nullptr) return error_json("request", "a query takes no `id`");
    if (request["id"].is_string()) id = model::parse_command_id(request["id"].text());
    if (!id) return error_json("request", "`id` must be a UUIDv7 with a time up to the year 9999");
  }
  std::string cursor;
  if (request.contains("cursor") && !request["cursor"].is_null()) {
    if (query == nullptr) return error_json("request", "a command takes no `cursor`");
    if (!request["cursor"].is_string()) return error_json("request", "a `cursor` must be a text");
    cursor = request["cursor"].get<std::string>();
    if (cursor.empty()) return error_json("request", "a `cursor` must not be empty");
  }

  if (query == nullptr) {
    const auto index = static_cast<std::size_t>(command - model.commands.data());
    return outcome_json(
        model,
        decide(*command,
               read_parameters(model, {command->parameters, state_->command_limits[index], false}, params, rounded),
               id));
  }
  const auto index = static_cast<std::size_t>(query - model.queries.data());
  auto parameters = read_parameters(model, {query->parameters, state_->query_limits[index], true}, params, rounded);
  if (!parameters) return error_json(parameters.error().code, parameters.error().message);
  const auto rows = run_query(*query, std::move(*parameters), cursor);
  if (!rows) return error_json(rows.error().code, rows.error().message);
  const design::Plan& plan = program_.queries[index];
  Json list = Json::array();
  for (const auto& row : rows->rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[rows->columns[i]] = model::write_json(model, plan.columns[i].expr.type, row[i]);
    list.push_back(std::move(object));
  }
  Json out = Json::object();
  out["rows"] = std::move(list);
  if (!rows->cursor.empty()) out["cursor"] = rows->cursor;
  return out;
}

std::string Session::answer_line(std::string_view line) {
  const auto request = parse_json(line);
  const Json out = request ? answer(request->json, request->rounded)
                           : error_json("request", "invalid JSON: " + request.error().message);
  return out.dump();
}

}  // namespace noam::runtime
