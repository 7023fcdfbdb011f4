#include "noam/targets/mongodb/values.h"

#include <cmath>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/model/scalars.h"

namespace noam::targets::mongodb {

using documents::Layout;
using documents::Member;
using documents::Node;
using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

std::string long_literal(std::int64_t number) { return fmt::format("NumberLong(\"{}\")", number); }

// The shell takes whole numbers for 32-bit ones.
std::string double_literal(double number) {
  const std::string text = model::print_float(number);
  return number == std::floor(number) && std::abs(number) < 4294967296.0 ? fmt::format("new Double({})", text) : text;
}

Js json_literal(const Json& json) {
  if (json.is_object()) {
    Js out = Js::object();
    for (const auto& member : json.items()) out.add(member.key(), json_literal(member.value()));
    return out;
  }
  if (json.is_array()) {
    Js out = Js::array();
    for (const auto& element : json) out.add(json_literal(element));
    return out;
  }
  if (json.is_number_integer()) return long_literal(json.get<std::int64_t>());
  if (json.is_number_float()) return double_literal(json.get<double>());
  return json.dump();
}

Js json_literal(const Datum& datum) {
  if (const auto json = documents::kept_json(datum)) return json_literal(*json);
  return std::move(Js::object().add(documents::json_text_field, string_literal(datum.as_string())));
}

Js scalar_literal(TypeKind type, const Datum& datum) {
  const auto text = [&] { return documents::scalar_text(type, datum); };
  switch (type) {
    case TypeKind::Bool:
      return text();
    case TypeKind::Int:
      return long_literal(datum.as_int());
    case TypeKind::Float:
      return double_literal(datum.as_double());
    case TypeKind::Decimal:
      return datum.as_decimal().fits() ? fmt::format("NumberDecimal(\"{}\")", text()) : string_literal(text());
    case TypeKind::Timestamp:
      return fmt::format("ISODate(\"{}\")", text());
    case TypeKind::Date:
      return fmt::format("ISODate(\"{}T00:00:00.000Z\")", text());
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
      return fmt::format("UUID(\"{}\")", text());
    case TypeKind::Bytes:
      return fmt::format("BinData(0, \"{}\")", text());
    case TypeKind::Json:
      return json_literal(datum);
    default:
      return string_literal(text());
  }
}

Js bson_type(std::initializer_list<const char*> names) {
  if (names.size() == 1) return string_literal(*names.begin());
  Js out = Js::array();
  for (const char* name : names) out.add(string_literal(name));
  return out;
}

Js of_type(std::initializer_list<const char*> names) {
  return std::move(Js::object().add("bsonType", bson_type(names)));
}

Js array_of(Js items) { return std::move(of_type({"array"}).add("items", std::move(items))); }

// Elements that may be absent are null.
Js element_schema(const Layout& layout, const Type& type) { return key_schema_of(layout, type); }

Js object_schema(const std::vector<Member>& members, const Layout& layout) {
  Js out = of_type({"object"});
  Js required = Js::array();
  Js properties = Js::object();
  for (const Member& member : members) {
    if (!member.type->optional) required.add(string_literal(member.name));
    properties.add(member.name, schema_of(layout, *member.type));
  }
  if (!required.empty()) out.add("required", std::move(required));
  if (!properties.empty()) out.add("properties", std::move(properties));
  return out;
}

Js map_schema(const Layout& layout, const Type& type) {
  const Type& value = type.arguments[1];
  Js entry = of_type({"object"});
  entry.add("required", Js::array().add(string_literal("key")).add(string_literal("value")));
  entry.add(
      "properties",
      Js::object().add("key", element_schema(layout, type.arguments[0])).add("value", element_schema(layout, value)));
  return array_of(std::move(entry));
}

Js text_schema(const Type& type) {
  Js out = of_type({"string"});
  if (type.kind == TypeKind::Text && type.max_length > 0) out.add("maxLength", std::to_string(type.max_length));
  return out;
}

Js enumeration_schema(const Type& type) {
  Js texts = Js::array();
  for (const std::string& name : type.names) texts.add(string_literal(name));
  return std::move(of_type({"string"}).add("enum", std::move(texts)));
}

}  // namespace

Js literal(const Node& node) {
  if (node.kind == Node::Kind::Scalar) return node.datum.absent() ? Js("null") : scalar_literal(node.type, node.datum);
  Js out = node.kind == Node::Kind::Object ? Js::object() : Js::array();
  for (const Node& member : node.members) out.add(member.name, literal(member));
  return out;
}

Js schema_of(const Layout& layout, const Type& declared) {
  const Type& type = documents::kept_type(layout.model(), declared);
  switch (type.kind) {
    case TypeKind::Bool:
      return of_type({"bool"});
    case TypeKind::Int:  // drivers write small numbers as 32 bits
      return of_type({"long", "int"});
    case TypeKind::Float:
      return of_type({"double", "long", "int"});
    case TypeKind::Decimal:
      return of_type({"decimal"});
    case TypeKind::Timestamp:
    case TypeKind::Date:
      return of_type({"date"});
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Bytes:
      return of_type({"binData"});
    case TypeKind::Enumeration:
      return enumeration_schema(type);
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::Row:
      return object_schema(documents::members_of(layout, type), layout);
    case TypeKind::Rows:
      return array_of(object_schema(documents::members_of(layout, type), layout));
    case TypeKind::List:
      return array_of(element_schema(layout, type.element()));
    case TypeKind::Set:
      return std::move(array_of(element_schema(layout, type.element())).add("uniqueItems", "true"));
    case TypeKind::Map:
      return map_schema(layout, type);
    case TypeKind::Json:
      return Js::object();
    default:
      return text_schema(type);
  }
}

Js key_schema_of(const Layout& layout, const Type& type) {
  if (!type.optional) return schema_of(layout, type);
  Js any = Js::array();
  any.add(of_type({"null"})).add(schema_of(layout, type));
  return std::move(Js::object().add("anyOf", std::move(any)));
}

Js schema_of(const Layout& layout, const Column& column) {
  const bool kept_sum = column.place.kind == design::Place::Kind::Hidden && column.type.kind == TypeKind::Decimal;
  return kept_sum ? of_type({"decimal", "string"}) : schema_of(layout, column.type);
}

bool sorts(const model::Model& model, const Type& declared) {
  const Type& type = documents::kept_type(model, declared);
  switch (type.kind) {
    case TypeKind::Bytes:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
      return false;
    case TypeKind::Reference: {
      for (const Type& part : key_types(model, type))
        if (!sorts(model, part)) return false;
      return true;
    }
    default:
      return true;
  }
}

}  // namespace noam::targets::mongodb
