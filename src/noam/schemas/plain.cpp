#include "noam/schemas/plain.h"

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/base/json.h"
#include "noam/model/datum_json.h"

namespace noam::schemas {

using model::Datum;
using model::Model;
using model::Type;
using model::TypeKind;
const Type& resolved(const Model& model, const Type& type) {
  if (type.kind != TypeKind::Reference) return type;
  const model::Entity& entity = model.entity(type.entity());
  return entity.key.size() == 1 ? resolved(model, entity.fields[entity.key[0]].type) : type;
}

bool is_scalar(const Model& model, const Type& type) {
  switch (resolved(model, type).kind) {
    case TypeKind::Unknown:
    case TypeKind::Reference:
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

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string plain_text(const Model& model, const Type& type, const Datum& datum) {
  const Type& at = resolved(model, type);
  check(is_scalar(model, at) && !datum.absent(), "a text is of a scalar that is there");
  if (at.kind == TypeKind::Bytes) return hexadecimal(datum.as_string());
  if (at.kind == TypeKind::Json) return std::string(datum.as_string());
  if (datum.is_decimal()) return datum.as_decimal().text();  // a sum of ints, too, where it is beyond 64 bits
  const Json json = model::write_json(model, at, datum);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

Json plain_json(const Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return nullptr;
  const auto member = [&](Json& out, const std::string& name, const Type& of, const Datum& inner) {
    if (!inner.absent()) out[name] = plain_json(model, of, inner);
  };
  const auto object = [&](const Datum& row, const auto& name_of, const auto& type_of) {
    Json out = Json::object();
    for (std::size_t i = 0; i < row.as_list().size(); ++i) member(out, name_of(i), type_of(i), row.as_list()[i]);
    return out;
  };
  const auto row = [&](const Datum& of) {
    return object(
        of, [&](std::size_t i) { return type.names[i]; },
        [&](std::size_t i) -> const Type& { return type.arguments[i]; });
  };
  switch (type.kind) {
    case TypeKind::Value: {
      const auto& fields = model.fields(type);
      return object(
          datum, [&](std::size_t i) { return fields[i].name; },
          [&](std::size_t i) -> const Type& { return fields[i].type; });
    }
    case TypeKind::Row:
      return row(datum);
    case TypeKind::Rows: {
      Json out = Json::array();
      for (const Datum& at : datum.as_list()) out.push_back(row(at));
      return out;
    }
    case TypeKind::List:
    case TypeKind::Set: {
      Json out = Json::array();
      for (const Datum& at : datum.as_list()) out.push_back(plain_json(model, type.element(), at));
      return out;
    }
    case TypeKind::Map: {
      const bool named = is_scalar(model, type.arguments[0]);
      Json out = named ? Json::object() : Json::array();
      for (const Datum& entry : datum.as_list()) {
        const Datum& key = entry.as_list()[0];
        Json value = plain_json(model, type.arguments[1], entry.as_list()[1]);
        if (named)
          out[plain_text(model, type.arguments[0], key)] = std::move(value);
        else
          out.push_back(Json::array({plain_json(model, type.arguments[0], key), std::move(value)}));
      }
      return out;
    }
    case TypeKind::Int:
      if (datum.is_decimal()) return plain_text(model, type, datum);
      [[fallthrough]];
    default:
      return model::write_json(model, type, datum);
  }
}

std::string text_of(const Model& model, const Type& type, const Datum& datum) {
  return is_scalar(model, type) ? plain_text(model, type, datum) : plain_json(model, type, datum).dump();
}

model::EntityId entity_of(const Outline& outline, const FamilyOutline& base) {
  const design::Design& design = *outline.design;
  const design::Family& family = design.families[base.index];
  return design.collection_of(family).variables[family.from[0]].type.entity();
}

const FamilyOutline& head_of(const Outline& outline, const FamilyOutline& base) {
  const model::EntityId entity = entity_of(outline, base);
  for (const CollectionOutline& collection : outline.collections)
    for (const FamilyOutline& family : collection.families)
      if (family.base && family.existence && entity_of(outline, family) == entity) return family;
  fail_check("every entity has a head");
}

}  // namespace noam::schemas
