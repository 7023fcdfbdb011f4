#include "noam/runtime/arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "noam/model/json_text.h"
#include "noam/model/scalars.h"
#include "noam/model/spot.h"

namespace noam::runtime {

using model::Datum;
using model::Refusal;
using model::Spot;
using model::Type;
using model::TypeKind;

namespace {

// Years 1 to 9999.
constexpr std::int64_t first_day = -719'162;
constexpr std::int64_t last_day = 2'932'896;
constexpr std::int64_t day_milliseconds = 86'400'000;

bool is_inet(std::string_view held) {
  constexpr std::size_t four = 1 + 4;
  constexpr std::size_t six = 1 + 16;
  return (held.size() == four && held[0] == '\4') || (held.size() == six && held[0] == '\6');
}

bool is_scalar(const Type& type, const Datum& datum) {
  constexpr std::size_t uuid_bytes = 16;
  switch (type.kind) {
    case TypeKind::Bool:
      return datum.is_bool();
    case TypeKind::Int:
    case TypeKind::Duration:
      return datum.is_int();
    case TypeKind::Timestamp:
      return datum.is_int() && datum.as_int() >= first_day * day_milliseconds &&
             datum.as_int() < (last_day + 1) * day_milliseconds;
    case TypeKind::Date:
      return datum.is_int() && datum.as_int() >= first_day && datum.as_int() <= last_day;
    case TypeKind::Float:
      return datum.is_double() && std::isfinite(datum.as_double());
    case TypeKind::Decimal:
      return datum.is_decimal();
    case TypeKind::Text:
      return datum.is_string() && model::is_utf8_text(datum.as_string());
    case TypeKind::Enumeration:
      return datum.is_string() &&
             std::find(type.names.begin(), type.names.end(), datum.as_string()) != type.names.end();
    case TypeKind::Bytes:
      return datum.is_string();
    case TypeKind::Json: {
      if (!datum.is_string()) return false;
      const auto read = parse_json(datum.as_string());
      return read && read->rounded.empty();
    }
    case TypeKind::Uuid:
      return datum.is_string() && datum.as_string().size() == uuid_bytes;
    case TypeKind::TimeUuid:
      return datum.is_string() && datum.as_string().size() == uuid_bytes &&
             model::is_timeuuid(model::from_sortable(datum.as_string()));
    case TypeKind::Inet:
      return datum.is_string() && is_inet(datum.as_string());
    default:
      return false;
  }
}

const char* kind_of(const Datum& datum) {
  if (datum.is_bool()) return "a bool";
  if (datum.is_int()) return "an int";
  if (datum.is_double()) return "a double";
  if (datum.is_decimal()) return "a decimal";
  return datum.is_string() ? "a string" : "a list";
}

class Matcher {
 public:
  explicit Matcher(const model::Model& model) : model_(model) {}

  std::optional<Refusal> ask(const Type& type, const Datum& datum, const Spot& place) const {
    if (datum.absent()) {
      if (type.optional) return std::nullopt;
      return Refusal{"required", fmt::format("{}: a value is required", place.text())};
    }
    switch (type.kind) {
      case TypeKind::Reference: {
        const model::Entity& entity = model_.entity(type.entity());
        if (entity.key.size() == 1) return ask(entity.fields[entity.key[0]].type, datum, place);
        if (!is_list_of(datum, entity.key.size())) return unexpected(type, datum, place);
        for (std::size_t i = 0; i < entity.key.size(); ++i) {
          const model::Field& field = entity.fields[entity.key[i]];
          if (auto wrong = ask(field.type, datum.as_list()[i], Spot(place, field.name))) return wrong;
        }
        return std::nullopt;
      }
      case TypeKind::Value: {
        const auto& fields = model_.fields(type);
        if (!is_list_of(datum, fields.size())) return unexpected(type, datum, place);
        for (std::size_t i = 0; i < fields.size(); ++i)
          if (auto wrong = ask(fields[i].type, datum.as_list()[i], Spot(place, fields[i].name))) return wrong;
        return std::nullopt;
      }
      case TypeKind::List:
      case TypeKind::Set:
        return ask_elements(type, datum, place);
      case TypeKind::Map:
        return ask_entries(type, datum, place);
      default:
        return is_scalar(type, datum) ? std::nullopt : std::optional(unexpected(type, datum, place));
    }
  }

 private:
  static bool is_list_of(const Datum& datum, std::size_t size) {
    return datum.is_list() && datum.as_list().size() == size;
  }
  [[nodiscard]] Refusal unexpected(Type type, const Datum& datum, const Spot& place) const {
    type.optional = false;
    return {"value", fmt::format("{}: expected {}, not {}", place.text(), to_string(model_, type), kind_of(datum))};
  }

  [[nodiscard]] std::optional<Refusal> ask_elements(const Type& type, const Datum& datum, const Spot& place) const {
    if (!datum.is_list()) return unexpected(type, datum, place);
    const Datum::List& elements = datum.as_list();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (auto wrong = ask(type.element(), elements[i], Spot(place, i))) return wrong;
      if (type.kind == TypeKind::Set && i > 0 && !(elements[i - 1] < elements[i]))
        return Refusal{"value", fmt::format("{}: the elements of a set must be in ascending order, without duplicates",
                                            Spot(place, i).text())};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Refusal> ask_entries(const Type& type, const Datum& datum, const Spot& place) const {
    if (!datum.is_list()) return unexpected(type, datum, place);
    const Datum::List& entries = datum.as_list();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!is_list_of(entries[i], 2))
        return Refusal{"value", fmt::format("{}: an entry of a map must be a key and a value", Spot(place, i).text())};
      for (std::size_t part = 0; part < 2; ++part)
        if (auto wrong = ask(type.arguments[part], entries[i].as_list()[part], Spot(place, i))) return wrong;
      if (i > 0 && !(entries[i - 1].as_list()[0] < entries[i].as_list()[0]))
        return Refusal{"value", fmt::format("{}: the keys of a map must be in ascending order, without duplicates",
                                            Spot(place, i).text())};
    }
    return std::nullopt;
  }

  const model::Model& model_;
};

class LimitFinder {
 public:
  std::vector<std::uint32_t> found;

  void look(const model::Expr& expr) {
    for (const model::Expr& operand : expr.operands) look(operand);
    for (const model::Select& select : expr.select) look(select);
  }
  void look(const model::Select& select) {
    for (const model::Column& column : select.columns) look(column.expr);
    if (select.where) look(*select.where);
    for (const model::Expr& group : select.group_by) look(group);
    for (const model::OrderTerm& term : select.order_by) look(term.expr);
    take(select.limit);
  }
  void look(const std::vector<model::Variable>& variables) {
    for (const model::Variable& variable : variables) look(variable.source);
  }
  void look(const std::vector<model::Change>& changes) {
    for (const model::Change& change : changes) {
      for (const model::Expr* expr : {&change.target, &change.path, &change.argument, &change.key}) look(*expr);
      for (const model::Assignment& assignment : change.assignments) {
        look(assignment.target);
        look(assignment.value);
      }
      if (change.where) look(*change.where);
      take(change.limit);
      look(change.body);
    }
  }

 private:
  void take(const std::optional<model::Expr>& limit) {
    if (limit && limit->kind == model::ExprKind::Parameter) found.push_back(limit->index);
  }
};

}  // namespace

std::vector<std::uint32_t> limit_parameters(const model::Query& query) {
  LimitFinder finder;
  finder.look(query.variables);
  finder.look(query.select);
  return std::move(finder.found);
}

std::vector<std::uint32_t> limit_parameters(const model::Command& command) {
  LimitFinder finder;
  finder.look(command.variables);
  finder.look(command.changes);
  return std::move(finder.found);
}

std::optional<Refusal> mismatch(const model::Model& model, const Type& type, const Datum& datum,
                                const std::string& name) {
  return Matcher(model).ask(type, datum, name);
}

}  // namespace noam::runtime
