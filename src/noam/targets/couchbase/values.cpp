#include "noam/targets/couchbase/values.h"

#include "noam/base/json.h"

namespace noam::targets::couchbase {

using documents::Node;
using model::Datum;
using model::TypeKind;
namespace {

Json scalar_json(TypeKind type, const Datum& datum) {
  switch (type) {
    case TypeKind::Bool:
      return datum.as_bool();
    case TypeKind::Int:
      return datum.as_int();
    case TypeKind::Float:
      return datum.as_double();
    case TypeKind::Json: {
      if (auto json = documents::kept_json(datum)) return *json;
      Json out = Json::object();
      out[documents::json_text_field] = datum.as_string();
      return out;
    }
    default:
      return documents::scalar_text(type, datum);
  }
}

}  // namespace

Json json_of(const Node& node) {
  if (node.kind == Node::Kind::Scalar) return node.datum.absent() ? Json() : scalar_json(node.type, node.datum);
  Json out = node.kind == Node::Kind::Object ? Json::object() : Json::array();
  for (const Node& member : node.members) {
    if (node.kind == Node::Kind::Object)
      out[member.name] = json_of(member);
    else
      out.push_back(json_of(member));
  }
  return out;
}

bool sorts(const model::Model& model, const model::Type& declared) {
  switch (documents::kept_type(model, declared).kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Uuid:
      return true;
    default:
      return false;
  }
}

}  // namespace noam::targets::couchbase
