#include "noam/targets/oracle_nosql/types.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/scalars.h"
#include "noam/schemas/plain.h"
#include "noam/targets/oracle_nosql/oracle_nosql.h"

namespace noam::targets::oracle_nosql {

using model::Datum;
using model::Model;
using model::Type;
using model::TypeKind;

namespace {

// The keywords of the SQL grammar. It takes most of them as names, the documentation none ("Name Constraints": "You
// cannot use keywords as table, index, or field names").
constexpr std::string_view keyword_text =
    "account add admin all alter always ancestors and any anyatomic anyjsonatomic anyrecord array array_collect as "
    "asc before between binary boolean by cache cascade case cast collection comment count create cycle days declare "
    "default delete desc descendants describe disable distinct double drop elementof elements else enable end enum "
    "es_replicas es_shards exists extract false fields first float force force_index force_primary_index freeze from "
    "frozen fulltext generated geometry grant group hours identified identity if image in increment index indexes "
    "insert integer into is join json key keyof keys last left lifetime limit local lock long map maxvalue merge "
    "minutes minvalue modify mr_counter namespace namespaces nested no not null nulls number of offset on only or "
    "order outer override password patch per point prefer_indexes prefer_primary_index primary put rdiv record region "
    "regions remove returning revoke role roles row scalar schema seconds select seq_transform set shard show start "
    "string table tables then timestamp to true ttl type unfreeze unique unlock unnest update upsert user users using "
    "uuid values when where with sys";
constexpr auto keywords = split_words<word_count(keyword_text)>(keyword_text);

bool is_identifier(std::string_view text) { return !text.empty() && legal_name(field_rules, text) == text; }

// Values of ENUM are identifiers.
bool fits_enum(const Type& type) { return std::all_of(type.names.begin(), type.names.end(), is_identifier); }

struct RecordField {
  std::string name;
  const Type* type = nullptr;
};

// The fields of what is a RECORD: a value, a row, a reference by several parts.
std::vector<RecordField> record_fields(const Model& model, const Type& type) {
  Namer names(field_rules);
  std::vector<RecordField> out;
  if (type.kind == TypeKind::Value) {
    for (const model::Field& field : model.fields(type)) out.push_back({names.give(field.name), &field.type});
  } else if (type.kind == TypeKind::Reference) {
    const model::Entity& entity = model.entity(type.entity());
    for (const std::uint32_t part : entity.key)
      out.push_back({names.give(entity.fields[part].name), &entity.fields[part].type});
  } else {
    for (std::size_t i = 0; i < type.names.size(); ++i) out.push_back({names.give(type.names[i]), &type.arguments[i]});
  }
  return out;
}

std::string record_text(const Model& model, const Type& type) {
  std::vector<std::string> fields;
  for (const RecordField& field : record_fields(model, type))
    fields.push_back(fmt::format("{} {}", field.name, type_text(model, *field.type)));
  return fields.empty() ? "JSON" : fmt::format("RECORD({})", fmt::join(fields, ", "));
}

std::string map_text(const Model& model, const Type& type) {
  const std::string value = type_text(model, type.arguments[1]);
  if (is_scalar(model, type.arguments[0])) return fmt::format("MAP({})", value);
  return fmt::format("ARRAY(RECORD(key_ {}, value {}))", type_text(model, type.arguments[0]), value);
}

std::string record_literal(const Model& model, const Type& type, const Datum& datum) {
  std::vector<std::string> members;
  const auto fields = record_fields(model, type);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Datum& value = datum.as_list()[i];
    if (!value.absent())
      members.push_back(fmt::format("{}: {}", text_literal(fields[i].name), literal(model, *fields[i].type, value)));
  }
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

std::string array_literal(const std::vector<std::string>& elements) {
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

std::string map_literal(const Model& model, const Type& type, const Datum& datum) {
  const bool named = is_scalar(model, type.arguments[0]);
  std::vector<std::string> entries;
  for (const Datum& entry : datum.as_list()) {
    const Datum& key = entry.as_list()[0];
    const std::string value = literal(model, type.arguments[1], entry.as_list()[1]);
    entries.push_back(
        named ? fmt::format("{}: {}", text_literal(plain_text(model, type.arguments[0], key)), value)
              : fmt::format("{{\"key_\": {}, \"value\": {}}}", literal(model, type.arguments[0], key), value));
  }
  return named ? fmt::format("{{{}}}", fmt::join(entries, ", ")) : array_literal(entries);
}

std::string list_literal(const Model& model, const Type& element, const Datum& datum) {
  std::vector<std::string> elements;
  for (const Datum& at : datum.as_list()) elements.push_back(literal(model, element, at));
  return array_literal(elements);
}

}  // namespace

const std::span<const std::string_view> reserved = keywords;
const NameRules field_rules{.longest = 64, .tells_case = false, .reserved = keywords};
const NameRules table_rules{.longest = 120, .tells_case = false, .reserved = keywords};

std::string type_text(const Model& model, const Type& type) {
  const Type& at = resolved(model, type);
  switch (at.kind) {
    case TypeKind::Bool:
      return "BOOLEAN";
    case TypeKind::Int:
    case TypeKind::Duration:
      return "LONG";
    case TypeKind::Float:
      return "DOUBLE";
    case TypeKind::Decimal:
      return "NUMBER";
    case TypeKind::Bytes:
      return "BINARY";
    case TypeKind::Timestamp:
      return "TIMESTAMP(3)";
    case TypeKind::Date:
      return "TIMESTAMP(0)";
    case TypeKind::Json:
    case TypeKind::Unknown:
      return "JSON";
    case TypeKind::Enumeration:
      return fits_enum(at) ? fmt::format("ENUM({})", fmt::join(at.names, ", ")) : "STRING";
    case TypeKind::Text:
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
      return "STRING";
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::Row:
      return record_text(model, at);
    case TypeKind::Rows:
      return fmt::format("ARRAY({})", record_text(model, at));
    case TypeKind::List:
    case TypeKind::Set:
      return fmt::format("ARRAY({})", type_text(model, at.element()));
    case TypeKind::Map:
      return map_text(model, at);
  }
  return "JSON";
}

std::string column_type(const Model& model, const Type& type) {
  const TypeKind kind = resolved(model, type).kind;
  return kind == TypeKind::Uuid || kind == TypeKind::TimeUuid ? "STRING AS UUID" : type_text(model, type);
}

// Primary keys take INTEGER, LONG, FLOAT, DOUBLE, NUMBER, STRING, ENUM, BOOLEAN and TIMESTAMP (Java Direct Driver
// Developer's Guide, "Primary Keys"). An ENUM sorts by its place in the list, so it is a STRING there.
bool sorts_in_key(const Model& model, const Type& type) {
  switch (resolved(model, type).kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Decimal:
    case TypeKind::Timestamp:
    case TypeKind::Date:
      return !type.optional;
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Uuid:
      return true;
    default:
      return false;
  }
}

std::string text_literal(std::string_view text) {
  return Json(text).dump();  // the escapes of its strings are those of JSON
}

std::string literal(const Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return "NULL";
  const Type& at = resolved(model, type);
  switch (at.kind) {
    case TypeKind::Decimal:
      return plain_text(model, at, datum) + "n";
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Duration:
    case TypeKind::Json:
      return plain_text(model, at, datum);
    case TypeKind::Bytes:
      return text_literal(model::print_base64(datum.as_string()));
    case TypeKind::Timestamp: {
      std::string text = plain_text(model, at, datum);
      text.pop_back();  // the Z: timestamps have no zone, and are UTC
      return text_literal(text);
    }
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::Row:
      return record_literal(model, at, datum);
    case TypeKind::Rows: {
      std::vector<std::string> rows;
      for (const Datum& row : datum.as_list()) rows.push_back(record_literal(model, at, row));
      return array_literal(rows);
    }
    case TypeKind::List:
    case TypeKind::Set:
      return list_literal(model, at.element(), datum);
    case TypeKind::Map:
      return map_literal(model, at, datum);
    default:
      return text_literal(plain_text(model, at, datum));
  }
}

std::string never_null(const std::string* text) {
  if (text == nullptr) return "\1";
  return text->empty() || text->front() == '\1' ? "\1\1" + *text : *text;
}

}  // namespace noam::targets::oracle_nosql
