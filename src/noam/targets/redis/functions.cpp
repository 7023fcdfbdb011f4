#include "noam/targets/redis/functions.h"

#include <fmt/format.h>

#include "noam/schemas/plain.h"
#include "noam/targets/redis/library.h"

namespace noam::targets::redis {

using model::Type;
using model::TypeKind;

namespace {

const char* shape_name(Shape shape) {
  switch (shape) {
    case Shape::Fields:
      return "fields";
    case Shape::Elements:
      return "elements";
    case Shape::Ordered:
      return "ordered";
  }
  return "";
}

// What the library calls the type of a text.
const char* kind_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "bool";
    case TypeKind::Int:
    case TypeKind::Duration:
      return "int";
    case TypeKind::Float:
      return "float";
    case TypeKind::Decimal:
      return "decimal";
    case TypeKind::Bytes:
      return "bytes";
    case TypeKind::Timestamp:
      return "timestamp";
    case TypeKind::Date:
      return "date";
    case TypeKind::Uuid:
      return "uuid";
    case TypeKind::TimeUuid:
      return "timeuuid";
    case TypeKind::Inet:
      return "inet";
    default:
      return "text";
  }
}

std::string value_kind(const model::Model& model, const Type& type) {
  if (!is_scalar(model, type)) return "json";
  const Type& at = resolved(model, type);
  if (at.kind == TypeKind::Json) return "json";
  return at.kind == TypeKind::Bytes ? "raw" : kind_of(at);
}

void add_kinds(const model::Model& model, const Type& type, std::vector<std::string>& out) {
  const Type& at = resolved(model, type);
  if (at.kind == TypeKind::Reference) {
    for (const Type& part : key_types(model, at)) add_kinds(model, part, out);
  } else {
    out.push_back(fmt::format("'{}'", kind_of(at)));
  }
}

std::string part_table(const model::Model& model, const PlacedColumn& part) {
  std::vector<std::string> kinds;
  add_kinds(model, part.column->type, kinds);
  return fmt::format("{{name = '{}', kinds = {{{}}}{}{}}}", part.argument, fmt::join(kinds, ", "),
                     part.column->descending ? ", descending = true" : "",
                     part.column->type.optional ? ", optional = true" : "");
}

std::string column_table(const model::Model& model, const PlacedColumn& column) {
  return fmt::format("{{name = '{}', field = '{}', kind = '{}'{}{}}}", column.argument, column.field,
                     value_kind(model, column.column->type), column.column->type.optional ? ", optional = true" : "",
                     is_list(*column.column) ? ", list = true" : "");
}

// The argument whose sum tells how many rows share the entry.
std::string weight_of(const Layout& layout, const PlacedFamily& family) {
  const auto& weight = layout.outline().program->logics[family.family->index].weight;
  if (!family.family->adds || !weight) return {};
  for (const PlacedColumn& column : family.columns)
    if (column.column->place == *weight) return column.field;
  return {};
}

std::string family_table(const Layout& layout, const PlacedFamily& family) {
  const model::Model& model = layout.outline().model();
  std::string out = fmt::format("  {{  -- {}\n    shape = '{}', keys = {}", family.family->label,
                                shape_name(family.shape), layout.keys(family, "").size());
  const auto flag = [&](bool holds, const char* name) {
    if (holds) out += fmt::format(", {} = true", name);
  };
  flag(family.hash, "hash");
  flag(family.head, "head");
  flag(family.plain_key, "plain");
  flag(family.natural, "natural");
  flag(family.single, "single");
  if (!family.marker.empty()) out += fmt::format(", marker = '{}'", family.marker);
  if (family.family->limit) out += fmt::format(", limit = {}", *family.family->limit);
  const std::string weight = weight_of(layout, family);
  if (!weight.empty()) out += fmt::format(", weight = '{}'", weight);
  if (family.version) {
    out += fmt::format(",\n    version = {{field = '{}', parts = {}", family.version->field, family.version->parts);
    flag(family.version->other_key, "other_key");
    flag(family.version->parts == 1 && !family.family->key[0].type.optional &&
             is_scalar(model, family.family->key[0].type),
         "plain");
    out += "}";
  }
  const auto list = [&](const char* name, const std::vector<PlacedColumn>& columns, const auto& table) {
    out += fmt::format(",\n    {} = {{", name);
    for (const PlacedColumn& column : columns) out += "\n      " + table(model, column) + ",";
    out += columns.empty() ? "}" : "\n    }";
  };
  list("key", family.key, part_table);
  list("columns", family.columns, column_table);
  return out + "\n  },\n";
}

}  // namespace

bool is_list(const Column& column) {
  return column.place.kind == design::Place::Kind::Cell && column.type.kind == TypeKind::List;
}

std::string function_name(const PlacedFamily& family, WriteKind kind) {
  return fmt::format("{}_{}", family.functions, write_name(kind));
}

std::string changing_function(const PlacedFamily& family) { return family.functions + "_change"; }

bool has_changing_function(const PlacedFamily& family) {
  return !family.family->adds && family.family->elements == TypeKind::Unknown && family.columns.size() > 1;
}

std::vector<std::string> function_kinds(const PlacedFamily& family) {
  std::vector<std::string> out;
  for (const WriteKind kind : ways_to_write(*family.family)) {
    out.emplace_back(write_name(kind));
    if (kind == WriteKind::Put && has_changing_function(family)) out.emplace_back("change");
  }
  if (family.shape != Shape::Fields) out.emplace_back("read");
  return out;
}

std::string reading_function(const PlacedFamily& family) { return family.functions + "_read"; }

std::string together_function(const Layout& layout) { return layout.library() + "_together"; }

bool erases_by_adding(const Layout& layout, const PlacedFamily& family) { return !weight_of(layout, family).empty(); }

std::string functions_file(const Layout& layout) {
  std::string out = fmt::format(
      "#!lua name={0}\n"
      "-- Functions for the blocks of the model {0}. Load with: redis-cli -x FUNCTION LOAD REPLACE < functions.lua\n"
      "-- README.md tells what they take and answer; statements.redis calls them.\n\n"
      "local library = '{0}'\n\n"
      "-- What lies where.\nlocal families = {{\n",
      layout.library());
  std::string calls;
  for (std::size_t i = 0; i < layout.families().size(); ++i) {
    const PlacedFamily& family = layout.families()[i];
    out += family_table(layout, family);
    for (const std::string& kind : function_kinds(family))
      calls += fmt::format("  {{name = '{}_{}', family = {}, kind = '{}'}},\n", family.functions, kind, i + 1, kind);
  }
  out += fmt::format("}}\n\nlocal calls = {{\n{}}}\n", calls);
  return out + std::string(library_code);
}

}  // namespace noam::targets::redis
