#include "noam/runtime/session.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "noam/base/check.h"
#include "noam/model/scalars.h"
#include "noam/runtime/base_entries.h"
#include "noam/runtime/command_run.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/transaction.h"
#include "noam/runtime/upkeep.h"

namespace noam::runtime {

using Json = nlohmann::ordered_json;
using model::Datum;

namespace {

constexpr std::int64_t id_window = 3'600'000;  // how long an id is remembered
constexpr int conflicts_before_queueing = 3;

}  // namespace

std::int64_t system_time() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct Session::State {
  explicit State(const design::Program& program) : bases(program) {}

  BaseEntries bases;
  std::mutex queue;  // commands that met others too often run one after another
  std::mutex random_lock;
  std::mt19937_64 random{std::random_device{}()};
};

Session::Session(design::Program program, stores::Store& store, SessionOptions options)
    : program_(std::move(program)), store_(store), options_(std::move(options)) {
  state_ = std::make_unique<State>(program_);
}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(std::shared_ptr<const model::Model> model, const std::string& strategy,
                                               stores::Store& store, SessionOptions options) {
  NOAM_ASSIGN_OR_RETURN(design::Program program, design::make_program(std::move(model), strategy));
  NOAM_RETURN_IF_ERROR(store.deploy(program.design));
  return std::unique_ptr<Session>(new Session(std::move(program), store, std::move(options)));
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

// Values in the order of the parameters. The error's code is that of a refusal.
Result<std::vector<Datum>> bind(const std::vector<model::Parameter>& parameters, const Arguments& arguments,
                                bool query) {
  std::vector<Datum> out(parameters.size());
  for (const Argument& argument : arguments) {
    const auto at = std::find_if(parameters.begin(), parameters.end(),
                                 [&](const model::Parameter& parameter) { return parameter.name == argument.name; });
    if (at == parameters.end())
      return Error{fmt::format("no parameter `{}`", argument.name), query ? "request" : "value"};
    out[static_cast<std::size_t>(at - parameters.begin())] = argument.value;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (out[i].absent() && !parameters[i].type.optional)
      return Error{fmt::format("`{}` is required", parameters[i].name), "required"};
  }
  return out;
}

// A cursor is the position after which the next page begins: the values that rows are ordered by, and for which query.
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

std::string make_cursor(std::string_view query, const Row& position) {
  Json list = Json::array();
  list.push_back(std::string(query));
  for (const Datum& datum : position) list.push_back(datum_json(datum));
  return model::print_base64(list.dump());
}

std::optional<Row> read_cursor(std::string_view query, std::string_view cursor, std::size_t terms) {
  const auto text = model::parse_base64(cursor);
  if (!text) return std::nullopt;
  const Json list = Json::parse(*text, nullptr, false);
  if (!list.is_array() || list.size() != terms + 1 || list[0] != query) return std::nullopt;
  Row row;
  for (std::size_t i = 1; i < list.size(); ++i) {
    auto made = datum_from(list[i]);
    if (!made) return std::nullopt;
    row.push_back(std::move(*made));
  }
  return row;
}

}  // namespace

Result<Rows> Session::query(std::string_view name, const Arguments& arguments, std::string_view cursor) {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr) return Error{fmt::format("no query `{}`", name), "request"};
  NOAM_ASSIGN_OR_RETURN(auto parameters, bind(query->parameters, arguments, true));
  const design::Plan& plan = program_.queries[static_cast<std::size_t>(query - program_.model->queries.data())];
  Rows out;
  out.columns = query->row.names;
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline());
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  if (query->refresh) {
    // The answer of the last refresh.
    design::Plan last;
    design::Step step;
    step.kind = design::StepKind::Refreshed;
    step.query = static_cast<std::uint32_t>(query - program_.model->queries.data());
    for (std::uint32_t i = 0; i < query->row.names.size(); ++i) {
      step.outputs.push_back({{design::Place::Kind::Cell, i, {}}, i, query->row.arguments[i]});
      model::Expr slot;
      slot.kind = model::ExprKind::Slot;
      slot.index = i;
      last.columns.push_back({query->row.names[i], std::move(slot)});
    }
    last.slots = static_cast<std::uint32_t>(query->row.names.size());
    last.steps.push_back(std::move(step));
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(last, {Row{}}));
    out.rows = std::move(rows[0]);
    return out;
  }
  std::optional<Row> after;
  if (!cursor.empty()) {
    if (!query->select.limit) return Error{fmt::format("query `{}` has no pages: it has no `limit`", name), "cursor"};
    after = read_cursor(name, cursor, plan.order_by.size());
    if (!after) return Error{"not a cursor of this query", "cursor"};
  }
  NOAM_ASSIGN_OR_RETURN(PageOfRows page, executor.page(plan, after));
  out.rows = std::move(page.rows);
  if (page.position) out.cursor = make_cursor(name, *page.position);
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
  const Json json = Json::parse(text, nullptr, false);
  check(json.is_object(), "an outcome is kept as it was written");
  for (const Json& key : json["keys"])
    for (std::uint32_t i = 0; i < model.entities.size(); ++i)
      if (model.entities[i].name == key[0].get<std::string>())
        out.keys.emplace_back(static_cast<model::EntityId>(i), *datum_from(key[1]));
  if (json.contains("count")) out.count = json["count"].get<std::int64_t>();
  return out;
}

std::uint32_t guard_family(const design::Design& design) {
  for (std::uint32_t i = 0; i < design.families.size(); ++i)
    if (design.families[i].purpose == design::Purpose::Guard) return i;
  fail_check("a design has a place for the ids of commands");
}

stores::EntryRef guard_entry(const design::Design& design, const model::CommandId& id) {
  const std::uint32_t family = guard_family(design);
  return {{design.families[family].collection, {Datum(std::string(id.bytes.begin(), id.bytes.end()))}}, family, {}};
}

}  // namespace

Outcome Session::command(std::string_view name, const Arguments& arguments, const std::optional<model::CommandId>& id) {
  const model::Command* command = find(program_.model->commands, name);
  if (command == nullptr) return refused("request", fmt::format("no command `{}`", name));
  auto parameters = bind(command->parameters, arguments, false);
  const model::CommandId used = id ? *id : new_id();
  if (id && id->milliseconds() < options_.clock() - id_window)
    return refused("expired", "the command id is older than an hour");
  if (!parameters) {
    // A repeat of what was applied has its outcome, whatever its parameters.
    if (id) {
      const auto before = applied_before(used);
      if (before && *before) return **before;
    }
    return refused(parameters.error().code, parameters.error().message);
  }
  const design::CommandPlan& plan =
      program_.commands[static_cast<std::size_t>(command - program_.model->commands.data())];
  if (command->bulk) return run_bulk(*command, plan, std::move(*parameters), used, id.has_value());
  return run_command(*command, plan, std::move(*parameters), used, id.has_value());
}

Result<std::optional<Outcome>> Session::applied_before(const model::CommandId& id) {
  stores::ReadRequest request;
  const stores::EntryRef entry = guard_entry(program_.design, id);
  request.block = entry.block;
  request.family = entry.family;
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(store_.read({&request, 1}, nullptr, deadline(), answers));
  if (answers[0].entries.empty()) return std::optional<Outcome>();
  return std::optional<Outcome>(outcome_from(*program_.model, answers[0].entries[0].columns[0].as_string()));
}

Outcome Session::run_command(const model::Command& command, const design::CommandPlan& plan,
                             std::vector<Datum> parameters, const model::CommandId& id, bool look_up) {
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.id = id;
  environment.now = id.milliseconds();
  std::unique_lock queue(state_->queue, std::defer_lock);
  const stores::Deadline by = deadline();
  for (int attempt = 0;; ++attempt) {
    if (attempt == conflicts_before_queueing) queue.lock();
    Transaction transaction(store_, program_.design, by);
    if (look_up) {
      stores::ReadRequest request;
      const stores::EntryRef entry = guard_entry(program_.design, id);
      request.block = entry.block;
      request.family = entry.family;
      stores::Answers answers;
      const auto read = transaction.read({&request, 1}, Transaction::Moment::Now, answers);
      if (!read) return unknown(read.error().message);
      if (!answers[0].entries.empty())
        return outcome_from(*program_.model, answers[0].entries[0].columns[0].as_string());
    }
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    const auto done = run.run(command, plan);
    if (!done) return failed(done.error());
    if (*done) return refused((*done)->code, (*done)->reason);
    Outcome outcome;
    outcome.keys = run.generated();
    if (look_up)
      transaction.put(guard_entry(program_.design, id), {outcome_text(*program_.model, outcome), id.milliseconds()});
    const auto committed = store_.commit(transaction.batch(), by);
    if (!committed) return unknown(committed.error().message);
    switch (*committed) {
      case stores::Outcome::Applied:
        return outcome;
      case stores::Outcome::Conflict:
        continue;
      case stores::Outcome::TooLarge:
        return refused("limit", "an entry would be larger than the store allows");
      case stores::Outcome::Unknown:
        return unknown("the store does not tell");
    }
  }
}

Outcome Session::run_bulk(const model::Command& command, const design::CommandPlan& plan, std::vector<Datum> parameters,
                          const model::CommandId& id, bool look_up) {
  if (look_up) {
    const auto before = applied_before(id);
    if (!before) return unknown(before.error().message);
    if (*before) return **before;
  }
  Environment environment;
  environment.model = program_.model.get();
  environment.parameters = std::move(parameters);
  environment.id = id;
  environment.now = id.milliseconds();
  std::vector<Datum> keys;
  {
    Transaction transaction(store_, program_.design, deadline());
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    auto found = run.find_bulk(command, plan);
    if (!found) return failed(found.error());
    keys = std::move(*found);
  }
  Outcome outcome;
  outcome.count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    environment.id = model::part_of(id, i);
    for (bool again = true; again;) {
      again = false;
      Transaction transaction(store_, program_.design, deadline());
      CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
      bool applied = false;
      const auto done = run.run_bulk(command, plan, keys[i], applied);
      if (!done && done.error().code.empty()) return unknown(done.error().message);
      if (!done || *done || !applied) continue;  // refused, or it does not match any more: skipped
      const auto committed = store_.commit(transaction.batch(), deadline());
      if (!committed) return unknown(committed.error().message);
      if (*committed == stores::Outcome::Unknown) return unknown("the store does not tell");
      if (*committed == stores::Outcome::Conflict) again = true;
      if (*committed == stores::Outcome::Applied) ++*outcome.count;
    }
  }
  if (look_up) {
    stores::WriteBatch batch;
    batch.changes.emplace_back(
        stores::Put{guard_entry(program_.design, id), {outcome_text(*program_.model, outcome), id.milliseconds()}});
    const auto committed = store_.commit(batch, deadline());
    if (!committed || *committed != stores::Outcome::Applied) return unknown("the outcome could not be noted");
  }
  return outcome;
}

Result<void> Session::refresh(std::string_view name) {
  const model::Query* query = find(program_.model->queries, name);
  if (query == nullptr || !query->refresh) return Error{fmt::format("no refreshed query `{}`", name), "request"};
  const auto index = static_cast<std::uint32_t>(query - program_.model->queries.data());
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  for (;;) {
    Transaction transaction(store_, program_.design, deadline());
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(program_.queries[index], {Row{}}));
    CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
    NOAM_RETURN_IF_ERROR(run.refresh(index, environment.now, rows[0]));
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(transaction.batch(), deadline()));
    if (outcome == stores::Outcome::Conflict) continue;
    if (outcome != stores::Outcome::Applied) return Error{"the store did not take the refreshed rows"};
    return {};
  }
}

Result<std::size_t> Session::sweep() {
  std::size_t gone = 0;
  const std::int64_t now = options_.clock();
  for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Due) continue;
    const auto entity = static_cast<model::EntityId>(family.members_of);
    for (;;) {
      stores::ReadRequest request;
      request.block = {family.collection, {Datum(std::int64_t{0})}};
      request.family = f;
      request.to.parts = {Datum(now)};
      request.limit = 100;
      stores::Answers answers;
      NOAM_RETURN_IF_ERROR(store_.read({&request, 1}, nullptr, deadline(), answers));
      if (answers[0].entries.empty()) break;
      for (const stores::Entry& entry : answers[0].entries) {
        for (bool again = true; again;) {
          again = false;
          Environment environment;
          environment.model = program_.model.get();
          environment.now = now;
          Transaction transaction(store_, program_.design, deadline());
          CommandRun run(program_, state_->bases, transaction, environment, options_.max_fanout);
          NOAM_ASSIGN_OR_RETURN(const bool expired, run.expire(entity, entry.key[1], now));
          if (!expired) break;
          NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(transaction.batch(), deadline()));
          if (outcome == stores::Outcome::Conflict) again = true;
          if (outcome == stores::Outcome::Applied) ++gone;
        }
      }
    }
  }
  // Ids that nobody may repeat any more.
  const std::uint32_t guards = guard_family(program_.design);
  std::string after;
  do {
    NOAM_ASSIGN_OR_RETURN(const stores::ScanPage page, store_.scan(guards, after, nullptr, deadline()));
    stores::WriteBatch batch;
    for (const auto& item : page.items)
      if (item.entry.columns[1].as_int() < now - id_window)
        batch.changes.emplace_back(
            stores::Delete{{{program_.design.families[guards].collection, item.block}, guards, item.entry.key}});
    if (!batch.changes.empty()) {
      NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(batch, deadline()));
      (void)outcome;
    }
    after = page.next;
  } while (!after.empty());
  return gone;
}

namespace {

std::string entry_text(const EntryKey& key) {
  Json json = Json::array({datum_json(Datum(key.first)), datum_json(Datum(key.second))});
  return json.dump();
}

}  // namespace

Result<std::vector<Difference>> Session::compare(std::uint32_t index, bool write, Verification& verification,
                                                 std::size_t& written) {
  const design::Upkeep& upkeep = program_.upkeep[index];
  const design::Family& family = program_.design.families[upkeep.family];
  const std::string& collection = program_.design.collection_of(family).name;
  std::vector<Difference> out;
  if (!upkeep.all) {
    verification.unknown.push_back(fmt::format("{}: folds of transient instances, which are not kept", collection));
    return out;
  }
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  for (;;) {
    out.clear();
    Transaction transaction(store_, program_.design, deadline());
    Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(*upkeep.all, {Row{}}));
    const auto expected = derive_entries(program_, upkeep, rows[0]);
    NOAM_ASSIGN_OR_RETURN(const auto items, transaction.scan(upkeep.family, Transaction::Moment::Now));
    std::set<EntryKey> seen;
    const auto ref = [&](const EntryKey& key) {
      return stores::EntryRef{{family.collection, key.first}, upkeep.family, key.second};
    };
    for (const auto& item : items) {
      const EntryKey key{item.block, item.entry.key};
      seen.insert(key);
      const auto at = expected.find(key);
      if (at == expected.end()) {
        out.push_back({collection, fmt::format("{} should not be there", entry_text(key))});
        transaction.erase(ref(key));
      } else if (at->second != item.entry.columns) {
        out.push_back({collection, fmt::format("{} is {}, and should be {}", entry_text(key),
                                               datum_json(Datum(item.entry.columns)).dump(),
                                               datum_json(Datum(at->second)).dump())});
        transaction.put(ref(key), at->second);
      }
    }
    for (const auto& [key, columns] : expected) {
      if (seen.contains(key)) continue;
      out.push_back({collection, fmt::format("{} is missing", entry_text(key))});
      transaction.put(ref(key), columns);
    }
    verification.entries += expected.size();
    if (!write || out.empty()) return out;
    NOAM_ASSIGN_OR_RETURN(const stores::Outcome outcome, store_.commit(transaction.batch(), deadline()));
    if (outcome == stores::Outcome::Conflict) continue;
    if (outcome != stores::Outcome::Applied) return Error{"the store did not take the repair"};
    written += out.size();
    return out;
  }
}

Result<Verification> Session::verify() {
  Verification out;
  std::size_t written = 0;
  // Bases: what lies there is what their instances say.
  Environment environment;
  environment.model = program_.model.get();
  environment.now = options_.clock();
  Transaction transaction(store_, program_.design, deadline());
  Executor executor(transaction, program_.design, environment, Transaction::Moment::Now);
  std::map<std::uint32_t, std::map<EntryKey, stores::Key>> expected;
  for (std::uint32_t i = 0; i < program_.model->entities.size(); ++i) {
    const model::Entity& entity = program_.model->entities[i];
    if (entity.transient) continue;
    NOAM_ASSIGN_OR_RETURN(const auto keys, executor.run(program_.entities[i].all, {Row{}}));
    NOAM_ASSIGN_OR_RETURN(const auto loaded, executor.run(program_.entities[i].load, keys[0]));
    for (std::size_t at = 0; at < loaded.size(); ++at) {
      const Row& row = loaded[at][0];
      if (row[0].absent()) {
        out.differences.push_back(
            {entity.name,
             fmt::format("{} can't be found by its key",
                         model::instance_name(*program_.model, static_cast<model::EntityId>(i), keys[0][at][0]))});
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
    for (const auto& item : items) {
      const auto at = wanted.find({item.block, item.entry.key});
      if (at == wanted.end()) {
        out.differences.push_back(
            {collection, fmt::format("{} belongs to nobody", entry_text({item.block, item.entry.key}))});
        continue;
      }
      if (at->second != item.entry.columns)
        out.differences.push_back(
            {collection, fmt::format("{} is not what its instance says", entry_text({item.block, item.entry.key}))});
      wanted.erase(at);
    }
    for (const auto& [key, columns] : wanted)
      out.differences.push_back({collection, fmt::format("{} is missing", entry_text(key))});
  }
  for (std::uint32_t i = 0; i < program_.upkeep.size(); ++i) {
    NOAM_ASSIGN_OR_RETURN(auto found, compare(i, false, out, written));
    out.differences.insert(out.differences.end(), found.begin(), found.end());
  }
  return out;
}

Result<std::size_t> Session::repair() {
  std::size_t written = 0;
  Verification verification;
  for (std::uint32_t i = 0; i < program_.upkeep.size(); ++i) {
    NOAM_ASSIGN_OR_RETURN(const auto found, compare(i, true, verification, written));
    (void)found;
  }
  return written;
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

Json Session::answer(const Json& request) {
  const model::Model& model = *program_.model;
  if (!request.is_object()) return error_json("request", "a request is an object: {\"run\": …}");
  for (const auto& [name, value] : request.items())
    if (name != "run" && name != "params" && name != "id" && name != "cursor")
      return error_json("request", fmt::format("no member `{}` in a request", name));
  if (!request.contains("run") || !request["run"].is_string())
    return error_json("request", "`run` names a query or a command");
  const std::string name = request["run"].get<std::string>();
  const Json params = request.value("params", Json::object());
  if (!params.is_object()) return error_json("request", "`params` is an object");
  const model::Query* query = find(model.queries, name);
  const model::Command* command = find(model.commands, name);
  if (query == nullptr && command == nullptr)
    return error_json("request", fmt::format("no query or command `{}`", name));
  const auto& parameters = query != nullptr ? query->parameters : command->parameters;

  std::optional<model::CommandId> id;
  if (request.contains("id") && !request["id"].is_null()) {
    if (query != nullptr) return error_json("request", "a query has no `id`");
    if (request["id"].is_string()) id = model::parse_command_id(request["id"].get<std::string>());
    if (!id) return error_json("request", "`id` is a UUIDv7");
  }
  std::string cursor;
  if (request.contains("cursor") && !request["cursor"].is_null()) {
    if (query == nullptr) return error_json("request", "a command has no `cursor`");
    if (!request["cursor"].is_string()) return error_json("cursor", "a cursor is a text");
    cursor = request["cursor"].get<std::string>();
    if (cursor.empty()) return error_json("cursor", "not a cursor of this query");
  }

  Arguments arguments;
  std::optional<model::Refusal> wrong;
  const auto parameter_named = [&](const std::string& key) {
    return std::find_if(parameters.begin(), parameters.end(),
                        [&](const model::Parameter& parameter) { return parameter.name == key; });
  };
  for (const auto& [key, value] : params.items())
    if (!wrong && parameter_named(key) == parameters.end())
      wrong = model::Refusal{query != nullptr ? "request" : "value", fmt::format("no parameter `{}`", key)};
  for (const model::Parameter& parameter : parameters) {
    if (wrong) break;
    if (!params.contains(parameter.name)) {
      if (!parameter.type.optional) wrong = model::Refusal{"required", fmt::format("`{}` is required", parameter.name)};
      continue;
    }
    auto datum = model::read_json(model, parameter.type, params[parameter.name], parameter.name);
    if (datum)
      arguments.push_back({parameter.name, std::move(*datum)});
    else
      wrong = datum.refusal();
  }
  if (query != nullptr) {
    if (wrong) return error_json(wrong->code, wrong->reason);
    const auto rows = this->query(name, arguments, cursor);
    if (!rows) return error_json(rows.error().code, rows.error().message);
    const design::Plan& plan = program_.queries[static_cast<std::size_t>(query - model.queries.data())];
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
  if (wrong) {
    if (id && id->milliseconds() < options_.clock() - id_window)
      return outcome_json(model, refused("expired", "the command id is older than an hour"));
    if (id) {
      const auto before = applied_before(*id);
      if (before && *before) return outcome_json(model, **before);
    }
    return outcome_json(model, refused(wrong->code, wrong->reason));
  }
  return outcome_json(model, this->command(name, arguments, id));
}

std::string Session::answer_line(std::string_view line) {
  // Deeper than any value may be is no value.
  int depth = 0;
  bool too_deep = false;
  const auto watch = [&](int, Json::parse_event_t event, Json&) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start)
      too_deep = ++depth > 200 || too_deep;
    if (event == Json::parse_event_t::object_end || event == Json::parse_event_t::array_end) --depth;
    return !too_deep;
  };
  const Json request = Json::parse(line, watch, false);
  const Json out = too_deep || request.is_discarded() ? error_json("request", "not a line of JSON") : answer(request);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace noam::runtime
