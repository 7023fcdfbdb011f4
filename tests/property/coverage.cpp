#include "tests/property/coverage.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace noam::tests::property {

namespace {

using model::ExprKind;
using model::TypeKind;

constexpr std::array type_names = {"unknown", "bool",        "int",       "float", "decimal",  "text",
                                   "bytes",   "timestamp",   "date",      "uuid",  "timeuuid", "inet",
                                   "json",    "enumeration", "reference", "value", "list",     "set",
                                   "map",     "duration",    "row",       "rows"};

constexpr std::array function_names = {"none",          "and",          "or",
                                       "not",           "equal",        "less",
                                       "less or equal", "greater",      "greater or equal",
                                       "between",       "in",           "contains",
                                       "contains all",  "contains any", "starts with",
                                       "is absent",     "coalesce",     "add",
                                       "subtract",      "multiply",     "negate",
                                       "to decimal",    "greatest",     "least",
                                       "minute",        "hour",         "day",
                                       "week",          "month",        "year",
                                       "now",           "uuid",         "random_text",
                                       "position",      "key",          "shard"};

constexpr std::array fold_names = {"none", "count", "sum", "min", "max", "avg"};

constexpr std::array source_names = {"entity", "path",       "instance", "refreshed", "history",
                                     "words",  "references", "target",   "inserted",  "loop"};

constexpr std::array change_names = {"insert",       "put",          "update",   "update where", "delete",
                                     "delete where", "append",       "add",      "remove",       "remove key",
                                     "remove at",    "remove where", "put into", "require",      "for"};

template <typename Names, typename Kind>
std::string name_of(const Names& names, Kind kind) {
  return names[static_cast<std::size_t>(kind)];
}

class Walk {
 public:
  Walk(const Case& one, const model::Model& model) : one_(one), model_(model) {}

  std::set<std::string> run() {
    data();
    for (const model::Query& query : model_.queries) {
      variables_ = &query.variables;
      note(query.refresh ? "query refreshed" : "query");
      if (query.refresh && query.refresh->keep > 1) note("query refreshed, several kept");
      select(query.select, 0);
      for (const model::Parameter& parameter : query.parameters) {
        note("parameter of type " + name_of(type_names, parameter.type.kind));
        if (parameter.type.optional) note("parameter optional");
      }
    }
    for (const model::Command& command : model_.commands) {
      variables_ = &command.variables;
      changes(command.changes, false);
      if (command.changes.size() > 1) note("command of several changes");
    }
    for (const model::WrittenDesign& design : model_.designs) written(design);
    note("design asked for: " + one_.design);
    for (const Step& step : one_.steps) {
      static constexpr std::array kinds = {"run", "continue", "time", "refresh", "expire"};
      note("step " + name_of(kinds, step.kind));
      if (step.wrong) note("step wrong");
    }
    return std::move(out_);
  }

 private:
  void note(const std::string& feature) { out_.insert(feature); }

  void type(const model::Type& of, const std::string& where) {
    note(where + name_of(type_names, of.kind) + (of.optional ? "?" : ""));
    for (const model::Type& argument : of.arguments) type(argument, where + name_of(type_names, of.kind) + " of ");
  }

  void data() {
    for (const model::Entity& entity : model_.entities) {
      if (entity.transient) note("entity transient");
      if (entity.ttl) note(entity.ttl->from ? "entity ttl from" : "entity ttl");
      if (!entity.require.empty()) note("entity require");
      if (entity.key.size() > 1) note("key compound");
      if (entity.owners.size() > 1) note("owner several");
      for (const std::uint32_t part : entity.key) {
        const model::Field& field = entity.fields[part];
        note("key of " + name_of(type_names, field.type.kind));
        if (field.automatic) note(field.hidden ? "key hidden" : "key auto " + name_of(type_names, field.type.kind));
      }
      for (const model::Field& field : entity.fields) {
        type(field.type, "field of ");
        if (field.initial) note("field with default");
      }
    }
    for (const model::Value& value : model_.values)
      for (const model::Field& field : value.fields) type(field.type, "value with ");
    for (const model::Role& role : model_.roles) {
      const TypeKind kind = model_.entity(role.from).fields[role.field].type.kind;
      const std::string of = name_of(type_names, kind);
      if (role.symmetric)
        note("role symmetric");
      else
        note("role " + of + (role.map_key ? " key" : "") + (role.inverse.empty() ? "" : " with inverse"));
      if (role.from == role.to) note("role to itself");
      if (role.owner) note(role.optional ? "owner optional" : "owner");
    }
  }

  void expr(const model::Expr& of, int depth) {
    switch (of.kind) {
      case ExprKind::Call:
        note("function " + name_of(function_names, of.function));
        break;
      case ExprKind::Fold:
        note(std::string("fold ") + (of.distinct ? "distinct " : "") + name_of(fold_names, of.fold));
        break;
      case ExprKind::CountOf:
        note(of.operands[0].kind == ExprKind::Inverse ? "count of inverse" : "count of collection");
        break;
      case ExprKind::Inverse:
        note("inverse");
        break;
      case ExprKind::Element:
        note(of.operands[0].type.kind == TypeKind::Map ? "element of map" : "element of list");
        break;
      case ExprKind::Instance:
        note(of.operands.size() > 1 ? "instance by several" : "instance");
        break;
      case ExprKind::Record:
        note("record");
        break;
      case ExprKind::Field:
        if (of.operands[0].type.kind == TypeKind::Reference && of.operands[0].kind != ExprKind::Variable)
          note("path through reference");
        break;
      case ExprKind::Select: {
        static constexpr std::array shapes = {"rows", "row", "scalar"};
        note("nested " + name_of(shapes, of.select[0].shape));
        break;
      }
      default:
        break;
    }
    for (const model::Expr& operand : of.operands) expr(operand, depth);
    for (const model::Select& nested : of.select) select(nested, depth + 1);
  }

  void source(const model::Variable& variable) {
    std::string of = name_of(source_names, variable.kind);
    if (variable.kind == model::SourceKind::Path) {
      of = variable.source.kind == ExprKind::Inverse ? "inverse" : name_of(type_names, variable.source.type.kind);
      if (variable.type.kind == TypeKind::Reference && of != "reference" && of != "inverse") of += " of references";
    }
    note("source " + of);
    expr(variable.source, 0);
  }

  void select(const model::Select& of, int depth) {
    for (const std::uint32_t variable : of.from) {
      source((*variables_)[variable]);
      const model::Type& bound = (*variables_)[variable].type;
      if (bound.kind == TypeKind::Reference && model_.entity(bound.entity()).transient) note("query over transient");
    }
    if (depth == 0) note(fmt::format("query with {} sources", std::min<std::size_t>(of.from.size(), 3)));
    for (const model::Column& column : of.columns) {
      expr(column.expr, depth);
      if (column.aggregate) note(column.without.empty() ? "column aggregate" : "column aggregate without");
    }
    if (of.where) expr(*of.where, depth);
    for (const model::Expr& group : of.group_by) {
      note(group.kind == ExprKind::Variable ? "group by variable" : "group by");
      expr(group, depth);
    }
    for (const model::OrderTerm& term : of.order_by) {
      note(term.descending ? "order desc" : "order asc");
      expr(term.expr, depth);
    }
    if (of.distinct) note("distinct");
    if (of.limit) note(of.limit->kind == ExprKind::Parameter ? "limit parameter" : "limit literal");
  }

  void changes(const std::vector<model::Change>& list, bool inside) {
    for (const model::Change& change : list) {
      note("change " + name_of(change_names, change.kind) + (change.all ? " all" : ""));
      if (change.then) note("change then");
      if (inside) note("change in loop");
      if (change.kind == model::ChangeKind::Insert && !(*variables_)[*change.variable].name.empty()) note("insert as");
      for (const model::Expr* of : {&change.target, &change.path, &change.argument, &change.key}) expr(*of, 0);
      for (const model::Assignment& assignment : change.assignments) {
        if (change.kind == model::ChangeKind::Update) {
          const ExprKind last = assignment.target.kind;
          const bool deep = assignment.target.operands[0].kind != ExprKind::Variable;
          note(std::string("update of ") + (last == ExprKind::Element ? "element" : deep ? "inner field" : "field"));
        }
        expr(assignment.value, 0);
      }
      if (change.where) expr(*change.where, 0);
      if (change.limit) note("change with limit");
      changes(change.body, true);
    }
  }

  void cells(const std::vector<model::Cell>& list) {
    for (const model::Cell& cell : list) {
      if (cell.shape == model::CellShape::Plain) {
        if (cell.expr.kind == ExprKind::Fold)
          note(std::string("copy fold ") + (cell.expr.distinct ? "distinct " : "") +
               name_of(fold_names, cell.expr.fold));
        else if (cell.expr.kind == ExprKind::CountOf)
          note("copy column count");
        else
          note("copy column");
        continue;
      }
      note(cell.shape == model::CellShape::Object ? "copy object"
           : cell.from.empty()                    ? "copy list of rows"
                                                  : "copy nested list");
      cells(cell.cells);
    }
  }

  void written(const model::WrittenDesign& design) {
    note("rest " + design.rest);
    for (const model::WrittenCollection& collection : design.collections) {
      variables_ = &collection.variables;
      for (const std::uint32_t variable : collection.from) {
        const model::Variable& of = collection.variables[variable];
        if (of.kind != model::SourceKind::Entity) note("collection of " + name_of(source_names, of.kind));
      }
      const auto parts = [&](const std::vector<model::Part>& list, const std::string& where) {
        for (const model::Part& part : list) {
          if (part.expr.kind == ExprKind::Constant) note(where + " constant");
          if (part.expr.kind == ExprKind::CountOf) note(where + " count");
          if (part.expr.kind == ExprKind::Call) note(where + " " + name_of(function_names, part.expr.function));
          if (part.descending) note(where + " desc");
        }
      };
      for (const model::WrittenFamily& family : collection.families) {
        const std::string kind = family.copy ? "copy" : "base";
        parts(collection.by, kind + " block key");
        parts(family.key, kind + " entry key");
        if (!family.copy) {
          if (family.elements) note("base entry an element");
          if (family.field && !family.elements) note("base entry a field");
          if (!family.key.empty()) note("base under entry key");
          if (collection.from.size() > 1) note("base elements apart");
          if (!family.field) note("base entry of several");
          continue;
        }
        note(
            fmt::format("copy over {} sources", std::min<std::size_t>(collection.from.size() + family.from.size(), 3)));
        if (family.cells.empty()) note("copy of keys");
        if (family.where) note("copy where");
        if (family.limit) note("copy limit");
        if (!family.from.empty()) note("copy with sources of its own");
        if (!family.path.empty()) note("copy with path");
        for (const std::vector<std::uint32_t>* list : {&collection.from, &family.from})
          for (const std::uint32_t variable : *list) {
            const model::Type& bound = collection.variables[variable].type;
            if (bound.kind == TypeKind::Reference && model_.entity(bound.entity()).transient) note("copy of transient");
          }
        cells(family.cells);
      }
    }
  }

  const Case& one_;
  const model::Model& model_;
  const std::vector<model::Variable>* variables_ = nullptr;
  std::set<std::string> out_;
};

}  // namespace

std::set<std::string> features(const Case& one, const model::Model& model) { return Walk(one, model).run(); }

std::set<std::string> wanted_features() {
  std::set<std::string> out = {"entity transient",
                               "entity ttl",
                               "entity ttl from",
                               "entity require",
                               "key compound",
                               "key hidden",
                               "key auto uuid",
                               "key auto timeuuid",
                               "key of reference",
                               "owner",
                               "owner optional",
                               "owner several",
                               "role symmetric",
                               "role to itself",
                               "role reference with inverse",
                               "role list with inverse",
                               "role set with inverse",
                               "role map with inverse",
                               "role map key with inverse",
                               "field with default",
                               "value with reference",
                               "value with value",
                               "value with list",
                               "query refreshed",
                               "query refreshed, several kept",
                               "query over transient",
                               "query with 1 sources",
                               "query with 2 sources",
                               "query with 3 sources",
                               "parameter optional",
                               "distinct",
                               "limit literal",
                               "limit parameter",
                               "order asc",
                               "order desc",
                               "group by",
                               "group by variable",
                               "column aggregate",
                               "column aggregate without",
                               "nested rows",
                               "nested row",
                               "nested scalar",
                               "path through reference",
                               "element of list",
                               "element of map",
                               "instance",
                               "instance by several",
                               "count of inverse",
                               "count of collection",
                               "record",
                               "source inverse",
                               "source reference",
                               "source list",
                               "source set",
                               "source map",
                               "source list of references",
                               "source set of references",
                               "source map of references",
                               "command of several changes",
                               "change then",
                               "change in loop",
                               "insert as",
                               "update of element",
                               "update of inner field",
                               "update of field",
                               "change with limit",
                               "change append all",
                               "change add all",
                               "change remove all",
                               "base entry an element",
                               "base entry a field",
                               "base under entry key",
                               "base elements apart",
                               "base entry of several",
                               "base block key constant",
                               "base block key shard",
                               "base block key month",
                               "copy over 1 sources",
                               "copy over 2 sources",
                               "copy over 3 sources",
                               "copy of keys",
                               "copy where",
                               "copy limit",
                               "copy with sources of its own",
                               "copy with path",
                               "copy of transient",
                               "copy column",
                               "copy column count",
                               "copy object",
                               "copy nested list",
                               "copy list of rows",
                               "copy fold count",
                               "copy fold distinct count",
                               "copy fold sum",
                               "copy fold min",
                               "copy fold max",
                               "copy block key constant",
                               "copy block key shard",
                               "copy block key count",
                               "copy entry key count",
                               "copy entry key desc",
                               "collection of words",
                               "collection of references",
                               "collection of refreshed",
                               "rest eao",
                               "rest etf",
                               "rest normalized",
                               "step run",
                               "step continue",
                               "step time",
                               "step refresh",
                               "step expire",
                               "step wrong"};
  for (std::size_t i = 1; i < source_names.size() - 3; ++i)
    if (i != 1 && i != 5 && i != 6) out.insert(std::string("source ") + source_names[i]);
  for (std::size_t i = 0; i < change_names.size(); ++i) out.insert(std::string("change ") + change_names[i]);
  for (std::size_t i = 1; i < fold_names.size(); ++i) out.insert(std::string("fold ") + fold_names[i]);
  out.insert("fold distinct count");
  for (std::size_t i = 1; i < function_names.size() - 1; ++i) out.insert(std::string("function ") + function_names[i]);
  for (std::size_t i = 1; i <= static_cast<std::size_t>(TypeKind::Map); ++i)
    out.insert(std::string("field of ") + type_names[i]);
  return out;
}

}  // namespace noam::tests::property
