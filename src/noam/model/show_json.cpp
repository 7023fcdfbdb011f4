#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/estimates.h"
#include "noam/model/show.h"
#include "noam/model/writing.h"

// docs/json.md tells programs what to count on here: what changes a member's meaning raises `schema`.
namespace noam::model {

namespace {

constexpr int schema = 1;

// Whole numbers without a point.
Json number(double value) {
  constexpr double exact = 9'007'199'254'740'992.0;
  if (value == std::floor(value) && std::abs(value) <= exact) return static_cast<std::int64_t>(value);
  return value;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

template <typename T, typename Make>
Json array(const std::vector<T>& items, const Make& make) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

Json span(const Span& where) { return {{"begin", where.begin}, {"end", where.end}}; }

Json statistic(const Statistic& figures) {
  return {{"count", number(figures.count)}, {"distinct", number(figures.distinct)}, {"zipf", number(figures.zipf)}};
}

Json estimate(const std::optional<Estimate>& value) {
  if (!value) return nullptr;
  return {{"value", number(value->value)}, {"derived", value->derived}};
}

Json name_or_null(const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); }

std::string field_name(const std::vector<Field>& fields, std::uint32_t index) {
  return index < fields.size() ? fields[index].name : "";
}

std::string entity_name(const Model& model, EntityId id) {
  const auto index = static_cast<std::size_t>(id);
  return index < model.entities.size() ? model.entities[index].name : "";
}

Json type(const Model& model, const Type& of) {
  Json out = {{"text", to_string(model, of)}, {"kind", kind_name(of.kind)}, {"optional", of.optional}};
  switch (of.kind) {
    case TypeKind::Text:
    case TypeKind::Bytes:
      out["max_length"] = of.max_length > 0 ? Json(of.max_length) : Json(nullptr);
      break;
    case TypeKind::Enumeration:
      out["texts"] = of.names;
      break;
    case TypeKind::Reference:
      out["entity"] = entity_name(model, of.entity());
      break;
    case TypeKind::Value:
      out["value"] = of.id < model.values.size() ? model.values[of.id].name : "";
      break;
    case TypeKind::List:
    case TypeKind::Set:
      if (!of.arguments.empty()) out["element"] = type(model, of.arguments[0]);
      break;
    case TypeKind::Map:
      if (of.arguments.size() == 2) {
        out["key"] = type(model, of.arguments[0]);
        out["element"] = type(model, of.arguments[1]);
      }
      break;
    case TypeKind::Row:
    case TypeKind::Rows:
      out["columns"] = Json::array();
      for (std::size_t i = 0; i < of.names.size() && i < of.arguments.size(); ++i) {
        out["columns"].push_back({{"name", of.names[i]}, {"type", type(model, of.arguments[i])}});
      }
      break;
    default:
      break;
  }
  return out;
}

// Data

Json fields(const Model& model, const std::vector<Field>& all) {
  return array(all, [&](const Field& field) {
    return Json{
        {"name", name_or_null(field.name)},
        {"type", type(model, field.type)},
        {"auto", field.automatic},
        {"hidden", field.hidden},
        {"default", field.initial ? Json(to_string(model, *field.initial, {}, {})) : Json(nullptr)},
        {"role", field.role ? Json(*field.role) : Json(nullptr)},
        {"statistic", statistic(field.statistic)},
        {"about_bytes", number(field.about_bytes)},
        {"average_bytes", number(average_bytes(model, field))},
        {"span", span(field.span)},
    };
  });
}

Json ttl(const Entity& entity) {
  if (!entity.ttl) return nullptr;
  return {{"minutes", entity.ttl->minutes},
          {"from", entity.ttl->from ? Json(field_name(entity.fields, *entity.ttl->from)) : Json(nullptr)}};
}

Json entities(const Model& model) {
  Json out = Json::array();
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const Entity& entity = model.entities[i];
    out.push_back({
        {"name", entity.name},
        {"transient", entity.transient},
        {"key", array(entity.key, [&](std::uint32_t part) { return name_or_null(field_name(entity.fields, part)); })},
        {"fields", fields(model, entity.fields)},
        {"inverses", entity.inverses},
        {"owners", entity.owners},
        {"ttl", ttl(entity)},
        {"require", array(entity.require, [&](const Expr& expr) { return Json(to_string(model, expr, {}, {})); })},
        {"statistic", statistic(entity.statistic)},
        {"instances", estimate(instances(model, static_cast<EntityId>(i)))},
        {"average_bytes", number(average_bytes(model, entity))},
        {"span", span(entity.span)},
    });
  }
  return out;
}

Json values(const Model& model) {
  return array(model.values, [&](const Value& value) {
    return Json{{"name", value.name}, {"fields", fields(model, value.fields)}, {"span", span(value.span)}};
  });
}

Json roles(const Model& model) {
  return array(model.roles, [&](const Role& role) {
    return Json{
        {"from", entity_name(model, role.from)},
        {"field", name_or_null(field_name(model.entity(role.from).fields, role.field))},
        {"to", entity_name(model, role.to)},
        {"inverse", name_or_null(role.inverse)},
        {"many", role.many},
        {"optional", role.optional},
        {"owner", role.owner},
        {"symmetric", role.symmetric},
        {"map_key", role.map_key},
        {"forward", estimate(forward_fan_out(model, role))},
        {"backward", estimate(backward_fan_out(model, role))},
        {"backward_statistic", statistic(role.backward)},
    };
  });
}

// Statements

Json parameters(const Model& model, const std::vector<Parameter>& all) {
  return array(all, [&](const Parameter& parameter) {
    return Json{{"name", parameter.name},
                {"type", type(model, parameter.type)},
                {"declared", parameter.declared},
                {"span", span(parameter.span)}};
  });
}

const char* source_kind(SourceKind kind) {
  switch (kind) {
    case SourceKind::Entity:
      return "entity";
    case SourceKind::Path:
      return "path";
    case SourceKind::Instance:
      return "instance";
    case SourceKind::Refreshed:
      return "refreshed";
    case SourceKind::History:
      return "history";
    case SourceKind::Words:
      return "words";
    case SourceKind::References:
      return "references";
    case SourceKind::Target:
      return "target";
    case SourceKind::Inserted:
      return "inserted";
    case SourceKind::Loop:
      return "loop";
  }
  return "unknown";
}

Json from(const Scope& scope, const std::vector<std::uint32_t>& variables) {
  return array(variables, [&](std::uint32_t index) -> Json {
    if (index >= scope.variables.size()) return nullptr;
    const Variable& variable = scope.variables[index];
    return {{"variable", variable.name},
            {"kind", source_kind(variable.kind)},
            {"source", written_source(scope, variable)},
            {"type", type(scope.model, variable.type)}};
  });
}

Json text_or_null(const Scope& scope, const std::optional<Expr>& expr) {
  return expr ? Json(written(scope, *expr)) : Json(nullptr);
}

Json select(const Scope& scope, const Select& of) {
  const auto column = [&](const Column& each) {
    const bool whole =
        each.aggregate && each.expr.type.kind == TypeKind::Reference && each.expr.type.id < scope.model.entities.size();
    return Json{
        {"name", each.name},
        {"expression", written(scope, each.expr)},
        {"type", type(scope.model, each.expr.type)},
        {"aggregate", each.aggregate},
        {"without", array(each.without,
                          [&](std::uint32_t field) {
                            return whole ? Json(field_name(scope.model.fields(each.expr.type), field)) : Json(nullptr);
                          })},
    };
  };
  const auto term = [&](const OrderTerm& each) {
    const OrderTerm ascending{each.expr, false};
    return Json{{"expression", written(scope, of, ascending)}, {"descending", each.descending}};
  };
  return {
      {"text", written(scope, of)},
      {"distinct", of.distinct},
      {"folded", of.folded},
      {"columns", array(of.columns, column)},
      {"from", from(scope, of.from)},
      {"where", text_or_null(scope, of.where)},
      {"group_by", array(of.group_by, [&](const Expr& expr) { return Json(written(scope, expr)); })},
      {"order_by", array(of.order_by, term)},
      {"limit", text_or_null(scope, of.limit)},
  };
}

Json queries(const Model& model) {
  return array(model.queries, [&](const Query& query) {
    const Scope scope{model, query.variables, query.parameters};
    return Json{
        {"name", query.name},
        {"parameters", parameters(model, query.parameters)},
        {"refresh", query.refresh ? Json{{"every_minutes", query.refresh->every_minutes}, {"keep", query.refresh->keep}}
                                  : Json(nullptr)},
        {"select", select(scope, query.select)},
        {"row", type(model, query.row)},
        {"span", span(query.span)},
    };
  });
}

const char* change_kind(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Insert:
      return "insert";
    case ChangeKind::Put:
      return "put";
    case ChangeKind::Update:
      return "update";
    case ChangeKind::UpdateWhere:
      return "update_where";
    case ChangeKind::Delete:
      return "delete";
    case ChangeKind::DeleteWhere:
      return "delete_where";
    case ChangeKind::Append:
      return "append";
    case ChangeKind::Add:
      return "add";
    case ChangeKind::Remove:
      return "remove";
    case ChangeKind::RemoveKey:
      return "remove_key";
    case ChangeKind::RemoveAt:
      return "remove_at";
    case ChangeKind::RemoveWhere:
      return "remove_where";
    case ChangeKind::PutInto:
      return "put_into";
    case ChangeKind::Require:
      return "require";
    case ChangeKind::For:
      return "for";
  }
  return "unknown";
}

// The entity that a change changes; none for `require` and `for`.
Json changed_entity(const Scope& scope, const Change& change) {
  if (change.kind == ChangeKind::Require || change.kind == ChangeKind::For) return nullptr;
  return name_or_null(entity_name(scope.model, change.entity));
}

Json changes(const Scope& scope, const std::vector<Change>& all) {
  const auto text = [&](const Expr& expr) {
    return expr.kind == ExprKind::Unknown ? Json(nullptr) : Json(written(scope, expr));
  };
  return array(all, [&](const Change& change) {
    const auto named = change.element ? change.element : change.variable;
    const Variable* variable = named && *named < scope.variables.size() ? &scope.variables[*named] : nullptr;
    Json out = {{"kind", change_kind(change.kind)}, {"then", change.then}, {"entity", changed_entity(scope, change)}};
    out["variable"] = variable != nullptr ? name_or_null(variable->name) : Json(nullptr);
    out["target"] = text(change.target);
    out["path"] = text(change.path);
    out["key"] = text(change.key);
    out["argument"] =
        change.kind == ChangeKind::For && variable != nullptr ? text(variable->source) : text(change.argument);
    out["all"] = change.all;
    out["assignments"] = array(change.assignments, [&](const Assignment& assignment) {
      return Json{{"target", written(scope, assignment.target)}, {"value", written(scope, assignment.value)}};
    });
    out["where"] = text_or_null(scope, change.where);
    out["limit"] = text_or_null(scope, change.limit);
    out["body"] = changes(scope, change.body);
    out["span"] = span(change.span);
    return out;
  });
}

Json commands(const Model& model) {
  return array(model.commands, [&](const Command& command) {
    const Scope scope{model, command.variables, command.parameters};
    return Json{{"name", command.name},
                {"parameters", parameters(model, command.parameters)},
                {"bulk", command.bulk},
                {"changes", changes(scope, command.changes)},
                {"span", span(command.span)}};
  });
}

// Groups and mixes

std::string statement_name(const Model& model, const StatementRef& statement) {
  if (statement.command) return statement.index < model.commands.size() ? model.commands[statement.index].name : "";
  return statement.index < model.queries.size() ? model.queries[statement.index].name : "";
}

Json groups(const Model& model) {
  return array(model.groups, [&](const Group& group) {
    return Json{{"name", group.name},
                {"statements",
                 array(group.statements,
                       [&](const StatementRef& statement) { return Json(statement_name(model, statement)); })},
                {"span", span(group.span)}};
  });
}

Json mixes(const Model& model) {
  return array(model.mixes, [&](const Mix& mix) {
    double sum = 0;
    for (const auto& weight : mix.weights) sum += weight.weight;
    return Json{{"name", mix.name},
                {"like", name_or_null(mix.like)},
                {"rate_per_second", number(mix.rate_per_second)},
                {"weights", array(mix.weights,
                                  [&](const Weight& weight) {
                                    return Json{{"statement", statement_name(model, weight.statement)},
                                                {"weight", number(weight.weight)},
                                                {"share", number(sum > 0 ? weight.weight / sum : 0)}};
                                  })},
                {"span", span(mix.span)}};
  });
}

// Designs

Json part(const Scope& scope, const Part& of) {
  return {{"name", name_or_null(of.name)},
          {"expression", written(scope, of.expr)},
          {"type", type(scope.model, of.expr.type)},
          {"descending", of.descending}};
}

Json parts(const Scope& scope, const std::vector<Part>& all) {
  return array(all, [&](const Part& each) { return part(scope, each); });
}

Json cells(const Scope& scope, const std::vector<Cell>& all) {
  return array(all, [&](const Cell& cell) {
    if (cell.shape == CellShape::Plain) {
      return Json{{"shape", "plain"},
                  {"name", name_or_null(cell.name)},
                  {"expression", written(scope, cell.expr)},
                  {"type", type(scope.model, cell.expr.type)}};
    }
    return Json{{"shape", cell.shape == CellShape::Object ? "object" : "list"},
                {"name", name_or_null(cell.name)},
                {"cells", cells(scope, cell.cells)},
                {"from", from(scope, cell.from)},
                {"order_by", parts(scope, cell.order_by)},
                {"limit", cell.limit ? Json(*cell.limit) : Json(nullptr)}};
  });
}

Json families(const Scope& scope, const std::vector<WrittenFamily>& all) {
  return array(all, [&](const WrittenFamily& family) {
    return Json{{"kind", family.copy ? "copy" : "entry"},
                {"pattern", written_path(scope, family, std::nullopt)},
                {"path", family.path},
                {"elements", family.elements},
                {"key", parts(scope, family.key)},
                {"cells", cells(scope, family.cells)},
                {"from", from(scope, family.from)},
                {"where", text_or_null(scope, family.where)},
                {"limit", family.limit ? Json(*family.limit) : Json(nullptr)},
                {"span", span(family.span)}};
  });
}

Json designs(const Model& model) {
  const std::vector<Parameter> no_parameters;
  const auto collection = [&](const WrittenCollection& of) {
    const Scope scope{model, of.variables, no_parameters};
    return Json{
        {"name", of.name},
        {"from", from(scope, of.from)},
        {"by", parts(scope, of.by)},
        {"options",
         array(of.options,
               [&](const TargetOption& option) {
                 return Json{{"target", option.target}, {"name", option.name}, {"value", written(scope, option.value)}};
               })},
        {"families", families(scope, of.families)},
        {"span", span(of.span)}};
  };
  return array(model.designs, [&](const WrittenDesign& design) {
    return Json{{"name", design.name},
                {"targets", design.targets},
                {"collections", array(design.collections, collection)},
                {"rest", name_or_null(design.rest)},
                {"span", span(design.span)}};
  });
}

}  // namespace

std::string show_json(const Model& model) {
  const Json out = {
      {"schema", schema},      {"model", model.name},       {"entities", entities(model)}, {"values", values(model)},
      {"roles", roles(model)}, {"queries", queries(model)}, {"commands", commands(model)}, {"groups", groups(model)},
      {"mixes", mixes(model)}, {"designs", designs(model)},
  };
  return out.dump(2) + '\n';
}

}  // namespace noam::model
