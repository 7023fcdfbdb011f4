#include "tests/reference/reference.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "noam/base/check.h"
#include "noam/model/scalars.h"

namespace noam::reference {

using model::Expr;
using model::ExprKind;
using model::Refusal;
namespace {

constexpr std::int64_t id_window_ms = 3'600'000;

Json error(const std::string& code, const std::string& reason) {
  return {{"error", {{"code", code}, {"reason", reason}}}};
}

Json refused(const Refusal& refusal) {
  return {{"outcome", "refused"}, {"code", refusal.code}, {"reason", refusal.reason}};
}

// The parameters that limits are taken from, wherever they stand in a statement.
class LimitParameters {
 public:
  explicit LimitParameters(const model::Query& query) {
    look(query.select);
    for (const model::Variable& variable : query.variables) look(variable.source);
  }
  explicit LimitParameters(const model::Command& command) {
    for (const model::Variable& variable : command.variables) look(variable.source);
    look(command.changes);
  }

  std::vector<std::uint32_t> found;

 private:
  void take(const std::optional<Expr>& limit) {
    if (limit && limit->kind == ExprKind::Parameter) found.push_back(limit->index);
  }
  void look(const Expr& expr) {
    for (const Expr& operand : expr.operands) look(operand);
    for (const model::Select& select : expr.select) look(select);
  }
  void look(const model::Select& select) {
    for (const model::Column& column : select.columns) look(column.expr);
    if (select.where) look(*select.where);
    for (const Expr& group : select.group_by) look(group);
    for (const model::OrderTerm& term : select.order_by) look(term.expr);
    take(select.limit);
  }
  void look(const std::vector<model::Change>& changes) {
    for (const model::Change& change : changes) {
      for (const Expr* expr : {&change.target, &change.path, &change.argument, &change.key}) look(*expr);
      for (const model::Assignment& assignment : change.assignments) {
        look(assignment.target);
        look(assignment.value);
      }
      if (change.where) look(*change.where);
      take(change.limit);
      look(change.body);
    }
  }
};

// A cursor is the query's name, its parameters but the limit, the position of the last row, and a sum over all of it,
// as bytes in base64.
void write_number(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> static_cast<unsigned>(shift)));
}

void write_text(std::string& out, std::string_view text) {
  write_number(out, text.size());
  out += text;
}

void write_datum(std::string& out, const Datum& datum) {
  if (datum.absent()) {
    out += '-';
  } else if (datum.is_bool()) {
    out += datum.as_bool() ? 't' : 'f';
  } else if (datum.is_int()) {
    out += 'i';
    write_number(out, static_cast<std::uint64_t>(datum.as_int()));
  } else if (datum.is_double()) {
    std::uint64_t bits = 0;
    const double number = datum.as_double();
    std::memcpy(&bits, &number, sizeof bits);
    out += 'd';
    write_number(out, bits);
  } else if (datum.is_decimal()) {
    out += 'n';
    write_text(out, datum.as_decimal().text());
  } else if (datum.is_string()) {
    out += 's';
    write_text(out, datum.as_string());
  } else {
    out += '[';
    write_number(out, datum.as_list().size());
    for (const Datum& element : datum.as_list()) write_datum(out, element);
  }
}

Datum::List asked_for(const model::Query& query, Datum::List parameters) {
  const auto& limit = query.select.limit;
  if (limit && limit->kind == ExprKind::Parameter) parameters[limit->index] = {};
  return parameters;
}

std::string write_cursor(const model::Query& query, const Datum::List& parameters, const Datum::List& position) {
  std::string bytes;
  write_text(bytes, query.name);
  write_datum(bytes, asked_for(query, parameters));
  write_datum(bytes, position);
  write_number(bytes, hash_value(Datum(bytes)));
  return model::print_base64(bytes);
}

// Reads what the functions above wrote; `good` turns false where it is something else.
class CursorReader {
 public:
  explicit CursorReader(std::string_view bytes) : rest_(bytes) {}

  bool good = true;

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  std::uint64_t number() {
    std::uint64_t read = 0;
    for (const char byte : take(8)) read = (read << 8U) | static_cast<unsigned char>(byte);
    return read;
  }
  std::string text() { return std::string(take(number())); }
  Datum datum() {
    const std::string_view tag = take(1);
    if (!good || tag == "-") return {};
    switch (tag[0]) {
      case 't':
        return true;
      case 'f':
        return false;
      case 'i':
        return static_cast<std::int64_t>(number());
      case 'd': {
        const std::uint64_t bits = number();
        double read = 0;
        std::memcpy(&read, &bits, sizeof read);
        return read;
      }
      case 'n':
        return model::Decimal::from_canonical(text());
      case 's':
        return text();
      case '[': {
        Datum::List list;
        for (std::uint64_t left = number(); left > 0 && good; --left) list.push_back(datum());
        return list;
      }
      default:
        good = false;
        return {};
    }
  }

 private:
  std::string_view take(std::uint64_t bytes) {
    good = good && bytes <= rest_.size();
    if (!good) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
};

std::optional<Datum::List> read_cursor(const model::Query& query, const Datum::List& parameters,
                                       const std::string& cursor, std::size_t parts) {
  constexpr std::size_t sum_bytes = 8;
  const auto bytes = model::parse_base64(cursor);
  if (!bytes || bytes->size() < sum_bytes) return std::nullopt;
  const std::string summed = bytes->substr(0, bytes->size() - sum_bytes);
  std::string sum;
  write_number(sum, hash_value(Datum(summed)));
  if (!bytes->ends_with(sum)) return std::nullopt;
  CursorReader reader(summed);
  if (reader.text() != query.name || !reader.good) return std::nullopt;
  if (reader.datum() != Datum(asked_for(query, parameters))) return std::nullopt;
  const Datum position = reader.datum();
  if (!reader.good || !reader.at_end() || !position.is_list() || position.as_list().size() != parts)
    return std::nullopt;
  return position.as_list();
}

// How many values tell where a row of this select lies.
std::size_t position_parts(const model::Select& select) {
  const std::size_t ties = select.distinct ? select.columns.size()
                           : select.folded ? select.group_by.size()
                                           : select.from.size();
  return select.order_by.size() + ties;
}

}  // namespace

Reference::Reference(model::Model model)
    : model_(std::move(model)), state_(model_.entities.size()), refreshes_(model_.queries.size()) {}

model::CommandId Reference::make_id() {
  const std::uint64_t count = ++made_ids_;
  return model::make_command_id(clock_, count, count * 0x9E3779B97F4A7C15U);
}

std::string Reference::answer_line(std::string_view line) {
  const auto request = parse_json(line);
  if (!request) return error("request", request.error().message).dump();
  rounded_ = request->rounded;
  const Json answered = answer(request->json);
  rounded_.clear();
  return answered.dump();
}

Json Reference::answer(const Json& request) {
  if (!request.is_object() || !request.contains("run") || !request["run"].is_string())
    return error("request", "a request names what is to be run");
  for (const auto& member : request.items())
    if (member.key() != "run" && member.key() != "params" && member.key() != "id" && member.key() != "cursor")
      return error("request", "no member " + member.key());
  const std::string name = request["run"].get<std::string>();
  Call call;
  call.params = request.contains("params") ? request["params"] : Json::object();
  if (!call.params.is_object()) return error("request", "params are an object");
  if (request.contains("id") && !request["id"].is_null()) {
    if (request["id"].is_string()) call.id = model::parse_command_id(request["id"].get<std::string>());
    if (!call.id) return error("request", "a command id is a UUIDv7");
  }
  if (request.contains("cursor") && !request["cursor"].is_null()) {
    if (!request["cursor"].is_string()) return error("request", "a cursor is a text");
    call.cursor = request["cursor"].get<std::string>();
    if (call.cursor->empty()) return error("request", "a cursor is not empty");
  }
  for (const model::Command& command : model_.commands)
    if (command.name == name) return run_command(command, call);
  for (std::uint32_t i = 0; i < model_.queries.size(); ++i)
    if (model_.queries[i].name == name) return run_query(i, call);
  return error("request", "no statement `" + name + "`");
}

std::optional<Refusal> Reference::read_parameters(const std::vector<model::Parameter>& parameters,
                                                  const std::vector<std::uint32_t>& limits, const Json& given,
                                                  std::vector<Datum>& read) const {
  for (const model::Parameter& parameter : parameters) {
    const auto found = given.find(parameter.name);
    if (found == given.end() || found->is_null()) {
      if (!parameter.type.optional) return Refusal{"required", "$" + parameter.name + " is required"};
      read.emplace_back();
      continue;
    }
    auto datum = model::read_json(model_, parameter.type, *found);
    if (!datum) return datum.refusal();
    if (auto refusal = model::refuse_rounded(model_, parameter.type, rounded_, {"params", parameter.name}, "$"))
      return refusal;
    read.push_back(std::move(*datum));
  }
  for (const std::uint32_t limit : limits)
    if (read[limit].is_int() && read[limit].as_int() < 0)
      return Refusal{"value", "$" + parameters[limit].name + " is a limit, and negative"};
  return std::nullopt;
}

namespace {

std::optional<std::string> unknown_name(const std::vector<model::Parameter>& parameters, const Json& given) {
  for (const auto& member : given.items()) {
    const bool known = std::any_of(parameters.begin(), parameters.end(),
                                   [&](const model::Parameter& parameter) { return parameter.name == member.key(); });
    if (!known) return member.key();
  }
  return std::nullopt;
}

}  // namespace

Json Reference::run_command(const model::Command& command, const Call& call) {
  if (call.cursor) return error("request", "a command has no cursor");
  if (call.id) {
    if (call.id->milliseconds() < clock_ - id_window_ms) return refused({"expired", "the command id is too old"});
  }
  if (const auto unknown = unknown_name(command.parameters, call.params))
    return refused({"value", "no parameter $" + *unknown});
  std::vector<Datum> parameters;
  if (const auto refusal = read_parameters(command.parameters, LimitParameters(command).found, call.params, parameters))
    return refused(*refusal);
  const model::CommandId id = call.id ? *call.id : make_id();
  if (const auto before = applied_.find(id.text()); before != applied_.end()) {
    if (before->second.command != command.name || before->second.parameters != parameters)
      return refused({"value", "the command id belongs to another command"});
    return before->second.outcome;
  }
  const std::vector<Datum> given = parameters;
  Json outcome = {{"outcome", "applied"}};
  if (command.bulk) {
    outcome = run_bulk(command, parameters, id);
  } else {
    State next = state_;
    Execution execution(model_, next, refreshes_, command, std::move(parameters), id);
    if (const auto refusal = execution.run()) return refused(*refusal);
    state_ = std::move(next);
    for (const auto& [type, key] : execution.generated_keys())
      outcome["keys"].push_back(model::write_json(model_, type, key));
  }
  applied_[id.text()] = {command.name, given, outcome};
  return outcome;
}

// Each instance is a command of its own; one that is refused is skipped.
Json Reference::run_bulk(const model::Command& command, const std::vector<Datum>& parameters,
                         const model::CommandId& id) {
  const model::Change& bulk = command.changes[0];
  const std::vector<Datum> keys = Execution(model_, state_, refreshes_, command, parameters, id).matching(bulk);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    State next = state_;
    Execution part(model_, next, refreshes_, command, parameters, model::part_of(id, i));
    if (!part.run_on(bulk, keys[i])) continue;
    state_ = std::move(next);
    ++count;
  }
  return {{"outcome", "applied"}, {"count", count}};
}

Json Reference::write_row(const model::Query& query, const Datum::List& columns) const {
  Json row = Json::object();
  for (std::size_t i = 0; i < columns.size(); ++i)
    row[query.row.names[i]] = model::write_json(model_, query.row.arguments[i], columns[i]);
  return row;
}

Json Reference::run_query(std::uint32_t index, const Call& call) {
  const model::Query& query = model_.queries[index];
  if (call.id) return error("request", "a query has no id");
  if (const auto unknown = unknown_name(query.parameters, call.params))
    return error("request", "no parameter $" + *unknown);
  std::vector<Datum> parameters;
  if (const auto refusal = read_parameters(query.parameters, LimitParameters(query).found, call.params, parameters))
    return error(refusal->code, refusal->reason);
  Json answer = {{"rows", Json::array()}};
  if (query.refresh) {
    if (call.cursor) return error("request", "a refreshed query has no pages");
    if (!refreshes_[index].empty())
      for (const Datum& row : std::prev(refreshes_[index].end())->second)
        answer["rows"].push_back(write_row(query, row.as_list()));
    return answer;
  }
  const std::size_t parts = position_parts(query.select);
  std::optional<Datum::List> after;
  if (call.cursor) {
    if (query.select.limit) after = read_cursor(query, parameters, *call.cursor, parts);
    if (!after) return error("request", "no cursor of this query with these parameters");
  }
  Evaluation evaluation(Setting{model_, state_, refreshes_, query.variables, parameters, clock_, std::nullopt});
  const std::vector<Row> rows = evaluation.rows(query.select);
  if (evaluation.take_overflow()) return error("overflow", "a sum does not fit");
  const auto limit = evaluation.limit(query.select.limit);
  auto at = rows.begin();
  if (after) {
    const std::vector<bool> descending = Evaluation::directions(query.select, parts);
    while (at != rows.end() && !Evaluation::before(*after, at->position, descending)) ++at;
  }
  for (; at != rows.end() && (!limit || static_cast<std::int64_t>(answer["rows"].size()) < *limit); ++at)
    answer["rows"].push_back(write_row(query, at->columns));
  if (at != rows.end() && *limit > 0) answer["cursor"] = write_cursor(query, parameters, std::prev(at)->position);
  return answer;
}

void Reference::refresh(const std::string& name) {
  for (std::uint32_t i = 0; i < model_.queries.size(); ++i) {
    const model::Query& query = model_.queries[i];
    if (query.name != name || !query.refresh) continue;
    Evaluation evaluation(Setting{model_, state_, refreshes_, query.variables, {}, clock_, std::nullopt});
    std::vector<Row> rows = evaluation.rows(query.select);
    if (evaluation.take_overflow()) return;  // it stays as it was
    if (const auto limit = evaluation.limit(query.select.limit);
        limit && rows.size() > static_cast<std::size_t>(*limit))
      rows.resize(static_cast<std::size_t>(*limit));
    Datum::List kept;
    for (Row& row : rows) kept.emplace_back(std::move(row.columns));
    refreshes_[i][clock_] = std::move(kept);
    while (static_cast<std::int64_t>(refreshes_[i].size()) > query.refresh->keep)
      refreshes_[i].erase(refreshes_[i].begin());
    return;
  }
  check(false, "a refreshed query is refreshed");
}

void Reference::expire() {
  for (std::size_t entity = 0; entity < state_.size(); ++entity) {
    std::vector<Datum> due;
    for (const auto& [key, aggregate] : state_[entity])
      if (aggregate.due && *aggregate.due <= clock_) due.push_back(key);
    for (const Datum& key : due) delete_instance(model_, state_, static_cast<model::EntityId>(entity), key);
  }
}

Json Reference::dump() const {
  Json all = Json::object();
  for (std::size_t i = 0; i < state_.size(); ++i) {
    const model::Entity& entity = model_.entities[i];
    Json instances = Json::array();
    for (const auto& [key, aggregate] : state_[i]) {
      const auto id = static_cast<model::EntityId>(i);
      instances.push_back(Json::array({model::write_json(model_, model::reference(id), key),
                                       model::write_aggregate_json(model_, entity, aggregate.fields, {})}));
    }
    all[entity.name] = std::move(instances);
  }
  return all;
}

}  // namespace noam::reference
