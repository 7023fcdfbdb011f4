#include "noam/runtime/session.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <shared_mutex>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/base/json_text.h"
#include "noam/model/json_text.h"
#include "noam/model/packed.h"
#include "noam/model/scalars.h"
#include "noam/runtime/arguments.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/command_run.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/session_state.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"

namespace noam::runtime {

using model::Datum;

namespace {

constexpr std::int64_t id_window = 3'600'000;  // how long an id is remembered

}  // namespace

std::uint32_t family_for(const design::Design& design, design::Purpose purpose) {
  for (std::uint32_t i = 0; i < design.families.size(); ++i)
    if (design.families[i].purpose == purpose) return i;
  fail_check("a design has a place for what noam notes");
}

stores::EntryRef note_entry(const design::Design& design, const std::string& name) {
  const std::uint32_t family = family_for(design, design::Purpose::Notes);
  return {{design.families[family].collection, {Datum(name)}}, family, {}};
}

Session::Session(design::Program program, stores::Store& store, SessionOptions options)
    : program_(std::move(program)), store_(store), options_(std::move(options)) {
  if (!options_.clock && options_.scheduler != nullptr)
    options_.clock = [scheduler = options_.scheduler] { return scheduler->now(); };
  if (!options_.clock) options_.clock = system_time;
  state_ = std::make_unique<State>(program_);
}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(design::Program program, stores::Store& store, SessionOptions options) {
  NOAM_RETURN_IF_ERROR(store.deploy(program.design));
  std::unique_ptr<Session> session(new Session(std::move(program), store, std::move(options)));
  NOAM_RETURN_IF_ERROR(session->read_states());
  return session;
}

stores::Deadline Session::deadline() const {
  if (options_.timeout.count() == 0) return stores::no_deadline;
  return std::chrono::steady_clock::now() + options_.timeout;
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

Json datum_json(const Datum& datum) {
  if (datum.absent()) return nullptr;
  if (datum.is_bool()) return datum.as_bool();
  if (datum.is_int()) return datum.as_int();
  if (datum.is_double()) return Json{{"f", datum.as_double()}};
  if (datum.is_decimal()) return Json{{"d", datum.as_decimal().text()}};
  if (datum.is_string()) return Json{{"s", model::print_base64(datum.as_string())}};
  Json list = Json::array();
  for (const Datum& item : datum.as_list()) list.push_back(datum_json(item));
  return list;
}

std::optional<Datum> datum_from(const Json& json, int depth = 0) {
  if (depth > 64) return std::nullopt;
  if (json.is_null()) return Datum();
  if (json.is_boolean()) return Datum(json.get<bool>());
  if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX))
    return Datum(json.get<std::int64_t>());
  if (json.is_array()) {
    Datum::List items;
    for (const Json& item : json) {
      auto made = datum_from(item, depth + 1);
      if (!made) return std::nullopt;
      items.push_back(std::move(*made));
    }
    return Datum(std::move(items));
  }
  if (!json.is_object() || json.size() != 1) return std::nullopt;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "f" && value.is_number()) return Datum(value.get<double>());
  if (kind == "d" && value.is_string()) {
    auto made = model::Decimal::parse(value.get<std::string>());
    return made ? std::optional<Datum>(Datum(std::move(*made))) : std::nullopt;
  }
  if (kind == "s" && value.is_string()) {
    auto made = model::parse_base64(value.get<std::string>());
    return made ? std::optional<Datum>(Datum(std::move(*made))) : std::nullopt;
  }
  return std::nullopt;
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
  Rows out;
  out.columns = query.row.names;
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline(), &state_->copies);
  transaction.watch(options_.interrupted);
  transaction.use_for(state_->reads_once[index] != 0 ? Transaction::Use::Glance : Transaction::Use::Query);
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
  NOAM_ASSIGN_OR_RETURN(PageOfRows page, executor.page(plan, after));
  out.rows = std::move(page.rows);
  if (page.position) out.cursor = make_cursor(query, environment.parameters, *page.position);
  return out;
}

namespace {

Outcome refused(std::string code, std::string reason) {
  Outcome out;
  out.kind = OutcomeKind::Refused;
  out.code = std::move(code);
  out.reason = std::move(reason);
  return out;
}

Outcome unknown(std::string reason) {
  Outcome out;
  out.kind = OutcomeKind::Unknown;
  out.reason = std::move(reason);
  return out;
}

// A failure of the store is unknown; one with a code was decided before anything was written.
Outcome failed(const Error& error) {
  return error.code.empty() ? unknown(error.message) : refused(error.code, error.message);
}

std::string outcome_text(const model::Model& model, const Outcome& outcome) {
  Json json = Json::object();
  Json keys = Json::array();
  for (const auto& [entity, key] : outcome.keys)
    keys.push_back(Json::array({model.entity(entity).name, datum_json(key)}));
  json["keys"] = std::move(keys);
  if (outcome.count) json["count"] = *outcome.count;
  return json.dump();
}

Outcome outcome_from(const model::Model& model, const std::string& text) {
  Outcome out;
  const Json json = Json::read(text).value_or(Json());
  check(json.is_object(), "an outcome is kept as it was written");
  for (const Json& key : json["keys"])
    for (std::uint32_t i = 0; i < model.entities.size(); ++i)
      if (model.entities[i].name == key[0].get<std::string>())
        out.keys.emplace_back(static_cast<model::EntityId>(i), *datum_from(key[1]));
  if (json.contains("count")) out.count = json["count"].get<std::int64_t>();
  return out;
}

stores::EntryRef guard_entry(const design::Design& design, const model::CommandId& id) {
  const std::uint32_t family = family_for(design, design::Purpose::Guard);
  return {{design.families[family].collection, {Datum(std::string(id.bytes.begin(), id.bytes.end()))}}, family, {}};
}

// What stands under an id: the outcome of its command, or what a bulk change has begun.
struct Guard {
  std::optional<std::string> text;  // none: nothing is known of the id
  stores::Version version;
};

Result<Guard> read_guard(Transaction& transaction, const design::Design& design, const model::CommandId& id) {
  stores::ReadRequest request;
  const stores::EntryRef entry = guard_entry(design, id);
  request.block = entry.block;
  request.family = entry.family;
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(transaction.read({&request, 1}, Transaction::Moment::Now, answers));
  Guard out;
  out.version = answers[0].version;
  if (!answers[0].entries.empty()) out.text = answers[0].entries[0].columns[0].as_string();
  return out;
}

stores::Put guard_put(const design::Design& design, const model::CommandId& id, std::string text) {
  return {guard_entry(design, id), {std::move(text), id.milliseconds()}};
}

// A bulk change that has begun: the instances it is about were chosen at its start. Who repeats it takes these, and its
// parameters.
struct Begun {
  std::string command;
  std::vector<Datum> parameters;
  std::vector<Datum> keys;
};

std::string begun_text(const Begun& begun) {
  return Json{{"command", begun.command},
              {"parameters", datum_json(Datum(begun.parameters))},
              {"todo", datum_json(Datum(begun.keys))}}
      .dump();
}

// Nothing where it is an outcome.
std::optional<Begun> begun_from(const std::string& text) {
  const Json json = Json::read(text).value_or(Json());
  check(json.is_object(), "what is kept under an id is as it was written");
  if (!json.contains("todo")) return std::nullopt;
  auto parameters = datum_from(json["parameters"]);
  auto keys = datum_from(json["todo"]);
  check(parameters && parameters->is_list() && keys && keys->is_list(), "a bulk change is kept as it was written");
  return Begun{json["command"].get<std::string>(), parameters->as_list(), keys->as_list()};
}

Outcome other_command(const Begun& begun) {
  return refused("value", fmt::format("the command id belongs to a `{}` that is not complete", begun.command));
}

Outcome expired() { return refused("expired", "the command id is older than an hour"); }

}  // namespace

Outcome Session::command(std::string_view name, const Arguments& arguments, const std::optional<model::CommandId>& id) {
  const model::Command* command = find(program_.model->commands, name);
  if (command == nullptr) return refused("request", fmt::format("no command `{}`", model::shortened(name)));
  const auto index = static_cast<std::size_t>(command - program_.model->commands.data());
  return decide(*command, bind(*program_.model, {command->parameters, state_->command_limits[index], false}, arguments),
                id);
}

Outcome Session::decide(const model::Command& command, Result<std::vector<Datum>> parameters,
                        const std::optional<model::CommandId>& id) {
  const model::CommandId used = id ? *id : new_id();
  if (id && is_too_old(*id)) return expired();
  if (id && id->milliseconds() > model::last_command_time)
    return refused("value", "the time in the command id is after the year 9999");
  if (!parameters) {
    // A repeat of what was applied has its outcome, whatever its parameters.
    if (id) {
      const auto before = applied_before(used);
      if (before && *before) return **before;
    }
    return refused(parameters.error().code, parameters.error().message);
  }
  const design::CommandPlan& plan =
      program_.commands[static_cast<std::size_t>(&command - program_.model->commands.data())];
  if (command.bulk) return run_bulk(command, plan, std::move(*parameters), used, id.has_value());
  return run_command(command, plan, std::move(*parameters), used, id.has_value());
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
  return "an entry would be larger than the limit of the store";
}

Result<std::optional<Outcome>> Session::applied_before(const model::CommandId& id) {
  Transaction transaction(store_, program_.design, deadline(), &state_->copies);
  NOAM_ASSIGN_OR_RETURN(const Guard guard, read_guard(transaction, program_.design, id));
  if (!guard.text || begun_from(*guard.text)) return std::optional<Outcome>();
  return std::optional<Outcome>(told_again(*guard.text));
}

// What a guard says may be there to be read, and not yet to stay.
Outcome Session::told_again(const std::string& text) {
  const auto stays = store_.commit({}, deadline());
  if (!stays) return unknown(stays.error().message);
  if (*stays != stores::Outcome::Applied) return unknown("the store did not report the outcome");
  return outcome_from(*program_.model, text);
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

Outcome Session::run_command(const model::Command& command, const design::CommandPlan& plan,
                             std::vector<Datum> parameters, const model::CommandId& id, bool look_up) {
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.id = id;
  environment.now = id.milliseconds();
  const stores::Deadline by = deadline();
  for (int attempt = 0;; ++attempt) {
    const State::Turn turn(*state_, attempt);
    Transaction transaction(store_, program_.design, by, &state_->copies);
    if (look_up) {
      const auto guard = read_guard(transaction, program_.design, id);
      if (!guard) return unknown(guard.error().message);
      if (guard->text && !broken(Breakage::RepeatAppliedAgain)) {
        if (const auto begun = begun_from(*guard->text)) return other_command(*begun);
        return told_again(*guard->text);
      }
      // Asked after the look: then it was not a sweep that took the id away.
      if (is_too_old(id)) return expired();
    }
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    const auto done = run.run(command, plan);
    if (!done) return failed(done.error());
    if (*done) return refused((*done)->code, (*done)->reason);
    Outcome outcome;
    outcome.keys = run.generated();
    if (look_up) {
      stores::Put guard = guard_put(program_.design, id, outcome_text(*program_.model, outcome));
      transaction.put(std::move(guard.entry), std::move(guard.columns));
    }
    const stores::WriteBatch batch = transaction.take_batch();
    const auto committed = store_.commit(batch, by);
    if (!committed) return unknown(committed.error().message);
    switch (*committed) {
      case stores::Outcome::Applied:
        cut_overfull(transaction);
        return outcome;
      case stores::Outcome::Conflict:
        continue;
      case stores::Outcome::TooLarge:
        return refused("limit", too_large(batch));
      case stores::Outcome::Unknown:
        return unknown("the store did not report the outcome");
    }
  }
}

// A bulk change is three steps, so that each instance is changed once however often it is repeated, and by whom: the
// instances it is about are noted under its id; each is changed together with a guard of its own; the outcome takes the
// place of the note. Without an id that a caller gave, nobody can repeat it, and nothing is noted.
Outcome Session::run_bulk(const model::Command& command, const design::CommandPlan& plan, std::vector<Datum> parameters,
                          const model::CommandId& id, bool look_up) {
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.id = id;
  environment.now = id.milliseconds();
  std::vector<Datum> keys;
  if (const auto ended = begin_bulk(command, plan, environment, look_up, keys)) return *ended;
  Outcome outcome;
  outcome.count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    environment.id = model::part_of(id, i);
    const auto applied = run_part(command, plan, environment, keys[i], look_up);
    if (!applied && applied.error().code == "interrupted")
      return *outcome.count == 0 && !look_up ? failed(applied.error())
                                             : unknown(fmt::format("interrupted after {} of {} instances were changed",
                                                                   *outcome.count, keys.size()));
    if (!applied) return unknown(applied.error().message);
    if (*applied) ++*outcome.count;
  }
  if (look_up && !keys.empty()) {
    // Whoever else comes to the end comes to the same outcome.
    stores::WriteBatch batch;
    batch.changes.emplace_back(guard_put(program_.design, id, outcome_text(*program_.model, outcome)));
    const auto committed = store_.commit(batch, deadline());
    if (!committed) return unknown(committed.error().message);
    if (*committed != stores::Outcome::Applied) return unknown("the outcome could not be stored");
  }
  return outcome;
}

std::optional<Outcome> Session::begin_bulk(const model::Command& command, const design::CommandPlan& plan,
                                           Environment& environment, bool look_up, std::vector<Datum>& keys) {
  const model::CommandId id = environment.id;
  for (;;) {
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    Guard guard;
    if (look_up) {
      auto read = read_guard(transaction, program_.design, id);
      if (!read) return unknown(read.error().message);
      guard = std::move(*read);
    }
    if (guard.text) {
      auto begun = begun_from(*guard.text);
      if (!begun) return told_again(*guard.text);
      if (begun->command != command.name) return other_command(*begun);
      environment.parameters = std::move(begun->parameters);
      keys = std::move(begun->keys);
      return std::nullopt;
    }
    if (look_up && is_too_old(id)) return expired();
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    auto found = run.find_bulk(command, plan);
    if (!found) return failed(found.error());
    keys = std::move(*found);
    if (!look_up) return std::nullopt;
    // Only the first to note them decides which they are. Other commands may change them meanwhile: each is asked
    // again.
    Outcome none;
    none.count = 0;
    stores::WriteBatch batch;
    batch.changes.emplace_back(guard_put(program_.design, id,
                                         keys.empty() ? outcome_text(*program_.model, none)
                                                      : begun_text({command.name, environment.parameters, keys})));
    const stores::BlockRef& block = stores::entry_of(batch.changes[0]).block;
    batch.expects.push_back({block.collection, block.key, guard.version});
    const auto committed = store_.commit(batch, deadline());
    if (!committed) return unknown(committed.error().message);
    switch (*committed) {
      case stores::Outcome::Applied:
        return std::nullopt;
      case stores::Outcome::Conflict:
        continue;
      case stores::Outcome::TooLarge:
        return refused("limit", too_large(batch));
      case stores::Outcome::Unknown:
        return unknown("the store did not report the outcome");
    }
  }
}

Result<bool> Session::run_part(const model::Command& command, const design::CommandPlan& plan,
                               const Environment& environment, const Datum& key, bool look_up) {
  const model::CommandId& id = environment.id;
  bool skip = false;  // the store does not take the change
  for (int attempt = 0;; ++attempt) {
    const State::Turn turn(*state_, attempt);
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    if (look_up) {
      NOAM_ASSIGN_OR_RETURN(const Guard guard, read_guard(transaction, program_.design, id));
      if (guard.text) return outcome_from(*program_.model, *guard.text).count == 1;
      if (is_too_old(id)) return Error{"the command id became older than an hour before all instances were changed"};
    }
    transaction.watch(options_.interrupted);
    bool applied = false;
    if (!skip) {
      CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
      const auto done = run.run_bulk(command, plan, key, applied);
      if (!done && (done.error().code.empty() || done.error().code == "interrupted")) return done.error();
      applied = applied && done && !*done;
    }
    if (!applied && !look_up) return false;  // refused, or it does not match any more
    stores::WriteBatch batch = transaction.take_batch();
    if (!applied) batch.changes.clear();
    if (look_up) {
      Outcome outcome;
      outcome.count = applied ? 1 : 0;
      batch.changes.emplace_back(guard_put(program_.design, id, outcome_text(*program_.model, outcome)));
    }
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome committed, store_.commit(batch, deadline()));
    switch (committed) {
      case stores::Outcome::Applied:
        cut_overfull(transaction);
        return applied;
      case stores::Outcome::Conflict:
        continue;
      case stores::Outcome::TooLarge:
        if (!look_up) return false;
        if (!applied) return Error{"the store rejected the guard of an instance"};
        skip = true;
        continue;
      case stores::Outcome::Unknown:
        return Error{"the store did not report the outcome"};
    }
  }
}

Result<void> Session::refresh(std::string_view name) {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr || !query->refresh)
    return Error{fmt::format("no refreshed query `{}`", model::shortened(name)), "request"};
  const auto index = static_cast<std::uint32_t>(query - program_.model->queries.data());
  Environment environment;
  environment.model = program_.model.get();
  for (int attempt = 0;; ++attempt) {
    const State::Turn turn(*state_, attempt);
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    transaction.begin();
    environment.now = options_.clock();  // not before what is read: a refresh that ended meanwhile is not the later one
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(program_.queries[index], {Row{}}));
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    NOAM_RETURN_IF_ERROR(run.refresh(index, environment.now, rows[0]));
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(transaction.take_batch(), deadline()));
    if (outcome == stores::Outcome::Conflict) continue;
    if (outcome != stores::Outcome::Applied) return Error{"the store rejected the refreshed rows"};
    cut_overfull(transaction);
    return {};
  }
}

Result<std::optional<std::int64_t>> Session::last_refresh(std::uint32_t query) {
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Refreshed || family.members_of != query || !family.key.empty()) continue;
    stores::ReadRequest request;
    request.block = {family.collection, {Datum(std::int64_t{0})}};
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
  NOAM_RETURN_IF_ERROR(refresh(query.name));
  return now + every;
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
                      NOAM_ASSIGN_OR_RETURN(const std::size_t gone, sweep());
                      (void)gone;
                      return scheduler.now() + options_.sweep_every.count();
                    }});
  state_->sweeper = std::make_unique<Sweeper>(scheduler, std::move(duties), options_.on_failed_task);
}

Result<std::size_t> Session::sweep() {
  std::size_t gone = 0;
  std::optional<Error> left;  // the first that could not go
  const std::int64_t now = options_.clock();
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Due) continue;
    const auto entity = static_cast<model::EntityId>(family.members_of);
    // Page by page, each once: one that can't go stands in nobody's way.
    stores::ReadRequest request;
    request.block = {family.collection, {Datum(std::int64_t{0})}};
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
  NOAM_RETURN_IF_ERROR(forget_ids(now));
  if (left) return *left;
  return gone;
}

Result<bool> Session::expire(model::EntityId entity, const Datum& key, std::int64_t now) {
  const auto name = [&] { return model::instance_name(*program_.model, entity, key); };
  for (int attempt = 0;; ++attempt) {
    const State::Turn turn(*state_, attempt);
    Environment environment;
    environment.model = program_.model.get();
    environment.now = now;
    Transaction transaction(store_, program_.design, deadline(), &state_->copies);
    transaction.watch(options_.interrupted);
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    NOAM_ASSIGN_OR_RETURN(const bool expired, run.expire(entity, key, now));
    if (!expired) return false;
    const stores::WriteBatch batch = transaction.take_batch();
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(batch, deadline()));
    switch (outcome) {
      case stores::Outcome::Applied:
        cut_overfull(transaction);
        return true;
      case stores::Outcome::Conflict:
        continue;
      case stores::Outcome::TooLarge:
        return Error{fmt::format("{} is expired but cannot be deleted: {}", name(), too_large(batch)), "limit"};
      case stores::Outcome::Unknown:
        return Error{fmt::format("{} is expired; the store did not report whether it was deleted", name())};
    }
  }
}

// Those that nobody may repeat any more.
Result<void> Session::forget_ids(std::int64_t now) {
  const std::uint32_t guards = family_for(program_.design, design::Purpose::Guard);
  const std::size_t most = store_.capabilities().max_commit_changes;
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(const stores::ScanPage page, store_.scan(guards, after, nullptr, deadline()));
    stores::WriteBatch batch;
    const auto commit = [&]() -> Result<void> {
      if (batch.changes.empty()) return {};
      NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(batch, deadline()));
      if (outcome != stores::Outcome::Applied) return Error{"the store rejected the deletion of old command ids"};
      batch.changes.clear();
      return {};
    };
    for (const auto& item : page.items) {
      if (item.entry.columns[1].as_int() >= now - id_window) continue;
      batch.changes.emplace_back(
          stores::Delete{{{program_.design.families[guards].collection, item.block}, guards, item.entry.key}});
      if (batch.changes.size() == most) NOAM_RETURN_IF_ERROR(commit());
    }
    NOAM_RETURN_IF_ERROR(commit());
    after = page.next;
  } while (!after.empty());
  return {};
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
