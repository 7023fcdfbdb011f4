#include "noam/model/json_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace noam::model {

namespace {

std::string place_name(std::string name, JsonPath::const_iterator from, JsonPath::const_iterator to) {
  for (; from != to; ++from) {
    if (const auto* member = std::get_if<std::string>(&*from))
      name += "." + *member;
    else
      name += fmt::format("[{}]", std::get<std::size_t>(*from));
  }
  return name;
}

// Whether the path leads into a json.
bool leads_into_json(const Model& model, const Type& type, JsonPath::const_iterator from, JsonPath::const_iterator to) {
  if (type.kind == TypeKind::Json) return true;
  if (from == to) return false;
  const auto* member = std::get_if<std::string>(&*from);
  switch (type.kind) {
    case TypeKind::Value:
      for (const Field& field : model.fields(type))
        if (member != nullptr && field.name == *member) return leads_into_json(model, field.type, from + 1, to);
      return false;
    case TypeKind::List:
    case TypeKind::Set:
      return leads_into_json(model, type.element(), from + 1, to);
    case TypeKind::Map:  // an object, or an array of [key, value]
      if (member == nullptr && ++from == to) return false;
      return leads_into_json(model, type.arguments[1], from + 1, to);
    default:
      return false;
  }
}

}  // namespace

std::optional<Refusal> refuse_rounded(const Model& model, const Type& type, const std::vector<RoundedInteger>& rounded,
                                      const JsonPath& outer, const std::string& name) {
  for (const RoundedInteger& one : rounded) {
    if (one.path.size() < outer.size() || !std::equal(outer.begin(), outer.end(), one.path.begin())) continue;
    const auto from = one.path.begin() + static_cast<std::ptrdiff_t>(outer.size());
    if (!leads_into_json(model, type, from, one.path.end())) continue;
    const std::string reason = fmt::format("the integer {} does not fit into 64 bits", one.digits.substr(0, 60));
    return Refusal{"value", name.empty() ? reason : place_name(name, from, one.path.end()) + ": " + reason};
  }
  return std::nullopt;
}

}  // namespace noam::model
