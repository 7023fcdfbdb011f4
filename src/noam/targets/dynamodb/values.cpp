#include "noam/targets/dynamodb/values.h"

#include "noam/model/datum_json.h"
#include "noam/model/scalars.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/outline.h"

namespace noam::targets::dynamodb {

using model::Datum;
using model::Model;
using model::Type;
using model::TypeKind;
namespace {

// Of scalars: S, N, B or BOOL. Nothing for what is made of others.
std::string scalar_letter(const Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "BOOL";
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Decimal:
    case TypeKind::Duration:
      return "N";
    case TypeKind::Bytes:
      return "B";
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
    case TypeKind::Json:
      return "S";
    case TypeKind::Unknown:
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows:
      return {};
  }
  return {};
}

// Numbers and texts as DynamoDB's JSON has them: as strings; bytes in base64.
std::string scalar_text(const Model& model, const Type& type, const Datum& datum) {
  if (type.kind == TypeKind::Json || type.kind == TypeKind::Text) return std::string(datum.as_string());
  if (datum.is_decimal()) return datum.as_decimal().text();  // a sum of ints, too, where it is beyond 64 bits
  const Json json = model::write_json(model, type, datum);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

Json sequence(const Model& model, const Type& element, const Datum::List& list) {
  Json out = Json::array();
  for (const Datum& datum : list) {
    auto value = attribute_value(model, element, datum);
    out.push_back(value ? *std::move(value) : Json{{"NULL", true}});
  }
  return out;
}

void add_member(Json& out, const std::string& name, std::optional<Json> value) {
  if (value) out[name] = *std::move(value);
}

Json row(const Model& model, const Type& type, const Datum& datum) {
  Json out = Json::object();
  for (std::size_t i = 0; i < type.names.size(); ++i)
    add_member(out, type.names[i], attribute_value(model, type.arguments[i], datum.as_list()[i]));
  return {{"M", std::move(out)}};
}

Json value(const Model& model, const Type& type, const Datum& datum) {
  Json out = Json::object();
  const auto& fields = model.fields(type);
  for (std::size_t i = 0; i < fields.size(); ++i)
    add_member(out, fields[i].name, attribute_value(model, fields[i].type, datum.as_list()[i]));
  return {{"M", std::move(out)}};
}

Json map(const Model& model, const Type& type, const Datum& datum) {
  const Type& key = resolved(model, type.arguments[0]);
  const bool named = scalar_letter(key) == "S";
  Json out = named ? Json::object() : Json::array();
  for (const Datum& entry : datum.as_list()) {
    const Datum::List& pair = entry.as_list();
    auto inner = attribute_value(model, type.arguments[1], pair[1]);
    Json shown = inner ? *std::move(inner) : Json{{"NULL", true}};
    if (named)
      out[never_empty(pair[0], scalar_text(model, key, pair[0]))] = std::move(shown);
    else
      out.push_back({{"L", Json::array({*attribute_value(model, key, pair[0]), std::move(shown)})}});
  }
  return {{named ? "M" : "L", std::move(out)}};
}

std::optional<Json> set(const Model& model, const Type& type, const Datum& datum) {
  const Type& element = resolved(model, type.arguments[0]);
  const std::string letter = type_letter(model, type);
  if (datum.as_list().empty()) return std::nullopt;
  if (letter == "L") return Json{{"L", sequence(model, element, datum.as_list())}};
  Json out = Json::array();
  for (const Datum& at : datum.as_list()) out.push_back(scalar_text(model, element, at));
  return Json{{letter, std::move(out)}};
}

Json parts(const Model& model, const Type& reference, const Datum& datum) {
  Json out = Json::array();
  const std::vector<Type> types = key_types(model, reference);
  for (std::size_t i = 0; i < types.size(); ++i) out.push_back(*attribute_value(model, types[i], datum.as_list()[i]));
  return {{"L", std::move(out)}};
}

Json rows(const Model& model, const Type& type, const Datum& datum) {
  Json out = Json::array();
  for (const Datum& at : datum.as_list()) out.push_back(row(model, type, at));
  return {{"L", std::move(out)}};
}

}  // namespace

std::string type_letter(const Model& model, const Type& type) {
  const Type& at = resolved(model, type);
  switch (at.kind) {
    case TypeKind::Value:
    case TypeKind::Row:
      return "M";
    case TypeKind::Map:
      return scalar_letter(resolved(model, at.arguments[0])) == "S" ? "M" : "L";
    case TypeKind::Set: {
      const std::string element = scalar_letter(resolved(model, at.arguments[0]));
      return element == "S" || element == "N" || element == "B" ? element + "S" : "L";
    }
    default: {
      const std::string letter = scalar_letter(at);
      return letter.empty() ? "L" : letter;
    }
  }
}

std::optional<Json> attribute_value(const Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return std::nullopt;
  const Type& at = resolved(model, type);
  switch (at.kind) {
    case TypeKind::Reference:
      return parts(model, at, datum);
    case TypeKind::Value:
      return value(model, at, datum);
    case TypeKind::List:
      return Json{{"L", sequence(model, at.arguments[0], datum.as_list())}};
    case TypeKind::Set:
      return set(model, at, datum);
    case TypeKind::Map:
      return map(model, at, datum);
    case TypeKind::Row:
      return row(model, at, datum);
    case TypeKind::Rows:
      return rows(model, at, datum);
    case TypeKind::Bool:
      return Json{{"BOOL", datum.as_bool()}};
    default:
      return Json{{scalar_letter(at), scalar_text(model, at, datum)}};
  }
}

std::optional<char> key_letter(const Model& model, const Type& type, bool sorted) {
  const Type& at = resolved(model, type);
  const std::string letter = scalar_letter(at);
  if (letter == "S") {
    // Their texts sort otherwise than their bytes.
    const bool another_order = at.kind == TypeKind::TimeUuid || at.kind == TypeKind::Inet || at.kind == TypeKind::Json;
    return sorted && another_order ? std::nullopt : std::optional('S');
  }
  if (letter == "B") return 'B';
  if (letter == "N" && !type.optional) return 'N';
  return std::nullopt;
}

Json key_value(const Model& model, const Type& type, const Datum& datum) {
  const Type& at = resolved(model, type);
  const std::string letter = scalar_letter(at);
  if (letter == "B") {
    const std::string_view bytes = datum.absent() ? std::string_view() : datum.as_string();
    return {{"B", model::print_base64(never_empty(datum, bytes))}};
  }
  const std::string text = datum.absent() ? std::string() : scalar_text(model, at, datum);
  return {{letter, letter == "S" ? never_empty(datum, text) : text}};
}

std::string name_text(const Model& model, const Type& type, const Datum& datum) {
  return scalar_text(model, resolved(model, type), datum);
}

}  // namespace noam::targets::dynamodb
