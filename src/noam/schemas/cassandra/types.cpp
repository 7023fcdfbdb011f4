#include "noam/schemas/cassandra/types.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/datum_json.h"
#include "noam/schemas/plain.h"

namespace noam::schemas::cassandra {

using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

// Cassandra 5.0, src/resources/org/apache/cassandra/cql3/reserved_keywords.txt; then the types of CQL, and names it
// keeps for types to come (the CQL reference, appendix B); then keyspaces of its own (SchemaConstants).
constexpr std::string_view reserved_text =
    "add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop entries "
    "execute from full grant if in index infinity insert into is keyspace limit materialized modify nan norecursive "
    "not null of on or order primary rename revoke schema select set table to token truncate unlogged update use "
    "using view where with";
constexpr std::string_view type_text =
    "ascii bigint blob boolean counter date decimal double duration float frozen inet int list map smallint text time "
    "timestamp timeuuid tinyint tuple uuid varchar varint vector bitstring byte complex enum interval macaddr";
constexpr std::string_view keyspace_text =
    "system system_auth system_cluster_metadata system_distributed system_schema system_traces system_views "
    "system_virtual_schema";
constexpr auto reserved_words = split_words<word_count(reserved_text)>(reserved_text);
constexpr auto type_words = split_words<word_count(type_text)>(type_text);
constexpr auto keyspace_words = split_words<word_count(keyspace_text)>(keyspace_text);

constexpr auto all_words = [] {
  std::array<std::string_view, reserved_words.size() + type_words.size() + keyspace_words.size()> out;
  auto* at = std::copy(reserved_words.begin(), reserved_words.end(), out.begin());
  at = std::copy(type_words.begin(), type_words.end(), at);
  std::copy(keyspace_words.begin(), keyspace_words.end(), at);
  return out;
}();

std::string frozen_if(bool frozen, std::string name) { return frozen ? fmt::format("frozen<{}>", name) : name; }

}  // namespace

const std::span<const std::string_view> reserved = all_words;

NameRules name_rules() {
  NameRules rules;
  rules.longest = 48;  // of tables and keyspaces (SchemaConstants.NAME_LENGTH); of columns for legibility
  rules.lower_case = true;
  rules.tells_case = false;
  rules.reserved = reserved_words;
  return rules;
}

NameRules type_name_rules() {
  NameRules rules = name_rules();
  rules.reserved = std::span(all_words).first(reserved_words.size() + type_words.size());
  return rules;
}

NameRules keyspace_rules() {
  NameRules rules = name_rules();
  rules.reserved = all_words;
  return rules;
}

std::string text_literal(std::string_view text) {
  // A file is no place for bytes that nobody sees.
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' ' && c != '\n' && c != '\t'; }))
    return fmt::format("blob_as_text(0x{})", hexadecimal(text));
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

bool is_marked(const model::Model& model, const Type& type) {
  return is_text(model, type) || resolved(model, type).kind == TypeKind::Bytes;
}

bool is_text(const model::Model& model, const Type& type) {
  const TypeKind kind = resolved(model, type).kind;
  return kind == TypeKind::Text || kind == TypeKind::Enumeration;
}

Datum neutral(const model::Model& model, const Type& type) {
  const auto each = [&](const auto& types) {
    Datum::List out;
    for (const Type& at : types) out.push_back(neutral(model, at));
    return out;
  };
  switch (type.kind) {
    case TypeKind::Bool:
      return false;
    case TypeKind::Int:
    case TypeKind::Timestamp:
    case TypeKind::Date:
      return 0;
    case TypeKind::Float:
      return 0.0;
    case TypeKind::Decimal:
      return model::Decimal();
    case TypeKind::Uuid:
      return std::string(16, '\0');
    case TypeKind::TimeUuid:  // version 1, as its type wants it; in the order in which timeuuids are kept
      return std::string("\x10\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0", 16);
    case TypeKind::Inet:
      return std::string("\4\0\0\0\0", 5);
    case TypeKind::Reference: {
      std::vector<Type> types;
      const model::Entity& entity = model.entity(type.entity());
      for (const std::uint32_t part : entity.key) types.push_back(entity.fields[part].type);
      return types.size() == 1 ? neutral(model, types[0]) : Datum(each(types));
    }
    case TypeKind::Value: {
      std::vector<Type> types;
      for (const model::Field& field : model.value(type.value()).fields) types.push_back(field.type);
      return each(types);
    }
    case TypeKind::Row:
      return each(type.arguments);
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Rows:
      return Datum::List();
    default:
      return std::string();
  }
}

bool holds_itself(const model::Model& model, model::ValueId id) {
  std::set<std::uint32_t> seen;
  const std::function<bool(const Type&)> reaches = [&](const Type& type) -> bool {
    if (type.kind == TypeKind::Value) {
      if (type.value() == id && !seen.empty()) return true;
      if (!seen.insert(type.id).second) return false;
      const auto& fields = model.value(type.value()).fields;
      return std::any_of(fields.begin(), fields.end(), [&](const model::Field& at) { return reaches(at.type); });
    }
    return std::any_of(type.arguments.begin(), type.arguments.end(), reaches);
  };
  Type start;
  start.kind = TypeKind::Value;
  start.id = static_cast<std::uint32_t>(id);
  return reaches(start);
}

bool is_packed(const Type& type) {
  if (type.kind != TypeKind::List && type.kind != TypeKind::Set && type.kind != TypeKind::Map) return false;
  return std::any_of(type.arguments.begin(), type.arguments.end(),
                     [](const Type& element) { return element.optional || is_packed(element); });
}

bool is_ordered_alike(const model::Model& model, const Type& type) {
  switch (type.kind) {
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
      return false;
    case TypeKind::Reference: {
      const std::vector<Type> parts = key_types(model, type);
      return std::all_of(parts.begin(), parts.end(), [&](const Type& part) { return is_ordered_alike(model, part); });
    }
    case TypeKind::Value:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows:
      return false;
    default:
      return true;
  }
}

std::string Types::name(const Type& type, bool frozen) { return name(type, frozen, "row"); }

std::string Types::name(const Type& type, bool frozen, const std::string& called) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "boolean";
    case TypeKind::Int:
      return "bigint";
    case TypeKind::Float:
      return "double";
    case TypeKind::Decimal:
      return "decimal";
    case TypeKind::Bytes:
      return "blob";
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
    case TypeKind::Reference: {
      const model::Entity& entity = model_.entity(type.entity());
      if (entity.key.size() == 1) return name(entity.fields[entity.key[0]].type, frozen);
      std::vector<std::string> parts;
      for (const std::uint32_t part : entity.key) parts.push_back(name(entity.fields[part].type, true));
      return fmt::format("frozen<tuple<{}>>", fmt::join(parts, ", "));
    }
    case TypeKind::Value:
      return holds_itself(model_, type.value()) ? "text" : fmt::format("frozen<{}>", value_name(type.value()));
    case TypeKind::List:
      if (is_packed(type)) return "blob";
      return frozen_if(frozen || type.optional, fmt::format("list<{}>", element_name(type.element(), called)));
    case TypeKind::Set:
      if (is_packed(type)) return "blob";
      return frozen_if(frozen || type.optional, fmt::format("set<{}>", element_name(type.element(), called)));
    case TypeKind::Map:
      if (is_packed(type)) return "blob";
      return frozen_if(frozen || type.optional, fmt::format("map<{}, {}>", element_name(type.arguments[0], called),
                                                            element_name(type.arguments[1], called)));
    case TypeKind::Row:
      return fmt::format("frozen<{}>", row(type, called).name);
    case TypeKind::Rows:
      return frozen_if(frozen, fmt::format("list<frozen<{}>>", row(type, called).name));
    default:
      return "text";
  }
}

// In a collection, Cassandra takes the address ::ffff:1.2.3.4 for 1.2.3.4; bytes stay as they are.
std::string Types::element_name(const Type& type, const std::string& called) {
  return resolved(model_, type).kind == TypeKind::Inet ? "blob" : name(type, true, called);
}

std::string Types::element_literal(const Type& type, const Datum& datum) {
  if (datum.absent() || resolved(model_, type).kind != TypeKind::Inet) return literal(type, datum);
  return "0x" + hexadecimal(model::from_inet(datum.as_string()));
}

void Types::create(const std::string& name, const std::vector<std::string>& fields,
                   const std::vector<std::string>& types) {
  std::string text = fmt::format("CREATE TYPE IF NOT EXISTS {} (\n", name);
  for (std::size_t i = 0; i < fields.size(); ++i)
    text += fmt::format("    {} {}{}\n", fields[i], types[i], i + 1 < fields.size() ? "," : "");
  created_.push_back(text + ");");
}

std::string Types::value_name(model::ValueId id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (const auto known = values_.find(index); known != values_.end()) return known->second.name;
  const model::Value& value = model_.value(id);
  Made made;
  made.name = namer_.give(value.name);
  Namer fields(name_rules());
  std::vector<std::string> types;
  for (const model::Field& field : value.fields) {
    made.fields.push_back(fields.give(field.name));
    types.push_back(name(field.type, true));
  }
  create(made.name, made.fields, types);
  return values_.emplace(index, std::move(made)).first->second.name;
}

const Types::Made& Types::row(const Type& type, const std::string& called) {
  for (const auto& [known, made] : rows_)
    if (known.names == type.names && known.arguments == type.arguments) return made;
  Made made;
  made.name = namer_.give(called);
  Namer fields(name_rules());
  std::vector<std::string> types;
  for (std::size_t i = 0; i < type.names.size(); ++i) {
    made.fields.push_back(fields.give(type.names[i]));
    types.push_back(name(type.arguments[i], true, fmt::format("{}_{}", called, type.names[i])));
  }
  create(made.name, made.fields, types);
  rows_.emplace_back(type, std::move(made));
  return rows_.back().second;
}

std::string Types::fields_literal(const Made& made, const std::vector<Type>& types, const Datum& datum) {
  std::vector<std::string> out;
  const Datum::List& values = datum.as_list();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].absent()) out.push_back(fmt::format("{}: {}", made.fields[i], literal(types[i], values[i])));
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string Types::literal(const Type& type, const Datum& datum) {
  if (datum.absent()) return "null";
  const auto each = [&](const Type& element) {
    std::vector<std::string> out;
    for (const Datum& at : datum.as_list()) out.push_back(element_literal(element, at));
    return fmt::format("{}", fmt::join(out, ", "));
  };
  switch (type.kind) {
    case TypeKind::Bool:
      return datum.as_bool() ? "true" : "false";
    case TypeKind::Int:
      return std::to_string(datum.as_int());
    case TypeKind::Float:
      return fmt::format("{}", datum.as_double());
    case TypeKind::Decimal:
      return datum.as_decimal().text();
    case TypeKind::Bytes:
      return "0x" + hexadecimal(datum.as_string());
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
      return model::write_json(model_, type, datum).get<std::string>();
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Inet:
      return text_literal(model::write_json(model_, type, datum).get<std::string>());
    case TypeKind::Text:
    case TypeKind::Json:
    case TypeKind::Enumeration:
      return text_literal(datum.as_string());
    case TypeKind::Reference: {
      const model::Entity& entity = model_.entity(type.entity());
      if (entity.key.size() == 1) return literal(entity.fields[entity.key[0]].type, datum);
      std::vector<std::string> parts;
      for (std::size_t i = 0; i < entity.key.size(); ++i)
        parts.push_back(literal(entity.fields[entity.key[i]].type, datum.as_list()[i]));
      return fmt::format("({})", fmt::join(parts, ", "));
    }
    case TypeKind::Value: {
      if (holds_itself(model_, type.value())) return text_literal(model::write_json(model_, type, datum).dump());
      value_name(type.value());
      std::vector<Type> types;
      for (const model::Field& field : model_.value(type.value()).fields) types.push_back(field.type);
      return fields_literal(values_.at(type.id), types, datum);
    }
    case TypeKind::List:
      return fmt::format("[{}]", each(type.element()));
    case TypeKind::Set:
      return fmt::format("{{{}}}", each(type.element()));
    case TypeKind::Map: {
      std::vector<std::string> out;
      for (const Datum& at : datum.as_list())
        out.push_back(fmt::format("{}: {}", element_literal(type.arguments[0], at.as_list()[0]),
                                  element_literal(type.arguments[1], at.as_list()[1])));
      return fmt::format("{{{}}}", fmt::join(out, ", "));
    }
    case TypeKind::Row:
      return fields_literal(row(type, "row"), type.arguments, datum);
    case TypeKind::Rows: {
      std::vector<std::string> out;
      for (const Datum& at : datum.as_list()) out.push_back(fields_literal(row(type, "row"), type.arguments, at));
      return fmt::format("[{}]", fmt::join(out, ", "));
    }
    default:
      return text_literal(model::write_json(model_, type, datum).dump());
  }
}

}  // namespace noam::schemas::cassandra
