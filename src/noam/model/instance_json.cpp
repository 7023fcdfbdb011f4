#include "noam/model/instance_json.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "noam/base/json_text.h"

namespace noam::model {

std::string member_name(const Entity& entity, std::size_t field) {
  if (!entity.fields[field].hidden) return entity.fields[field].name;
  std::string name = "_key";
  const auto taken = [&](const Field& other) { return other.name == name; };
  while (std::any_of(entity.fields.begin(), entity.fields.end(), taken)) name.insert(0, "_");
  return name;
}

FieldsOrRefusal read_instance_json(const Model& model, const Entity& entity, const JsonText& text) {
  if (!text.json.is_object()) return Refusal{"value", "an instance is an object: {\"field\": value, …}"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entity.fields.size(); ++i) names.push_back(member_name(entity, i));
  for (const auto& member : text.json.items())
    if (std::find(names.begin(), names.end(), member.key()) == names.end())
      return Refusal{"value", fmt::format("no field `{}` in {}", shortened(member.key()), entity.name)};
  Datum::List fields(entity.fields.size());
  for (std::size_t i = 0; i < entity.fields.size(); ++i) {
    const Field& field = entity.fields[i];
    const auto given = text.json.find(names[i]);
    if (given == text.json.end()) {
      if (!field.automatic) fields[i] = initial_value(field);
      if (fields[i].absent() && !field.type.optional && !field.automatic)
        return Refusal{"required", fmt::format("{}: a value is required", names[i])};
      continue;
    }
    if (field.automatic && given->is_null()) continue;
    auto datum = read_json(model, field.type, *given, names[i]);
    if (!datum) return datum.refusal();
    if (auto wrong = refuse_rounded(model, field.type, text.rounded, {names[i]}, names[i])) return std::move(*wrong);
    fields[i] = std::move(*datum);
  }
  return fields;
}

Json write_instance_json(const Model& model, const Entity& entity, const Datum::List& fields) {
  auto out = Json::object();
  for (std::size_t i = 0; i < entity.fields.size(); ++i) {
    const Field& field = entity.fields[i];
    if (!fields[i].absent())
      out[member_name(entity, i)] = write_json(model, field.type, fields[i]);
    else if (field.initial)
      out[member_name(entity, i)] = nullptr;
  }
  return out;
}

}  // namespace noam::model
