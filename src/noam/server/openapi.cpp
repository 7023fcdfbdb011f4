#include "noam/server/openapi.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/design/program.h"
#include "noam/model/model.h"
#include "noam/server/service.h"
#include "noam/server/url.h"

namespace noam::server {

namespace {

using model::Type;
using model::TypeKind;

Json ref(const std::string& kind, const std::string& name) {
  return Json{{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

// JSON Schema of the values of a model, as docs/json.md writes and reads them.
class Schemas {
 public:
  explicit Schemas(const model::Model& model) : model_(model) {}

  Json of(const Type& type) {
    Json out = required(type);
    if (!type.optional) return out;
    return Json{{"anyOf", Json::array({std::move(out), Json{{"type", "null"}}})}};
  }

  // Those of the values of the model that were named so far.
  Json values() {
    // Values may name others.
    Json out = Json::object();
    for (std::size_t done = 0; done < named_.size(); ++done)
      out[model_.value(named_[done]).name] = fields(named_[done]);
    return out;
  }

 private:
  Json required(const Type& type) {
    switch (type.kind) {
      case TypeKind::Bool:
        return {{"type", "boolean"}};
      case TypeKind::Int:
        return {{"type", "integer"},
                {"format", "int64"},
                {"minimum", std::numeric_limits<std::int64_t>::min()},
                {"maximum", std::numeric_limits<std::int64_t>::max()}};
      case TypeKind::Float:
        return {{"type", "number"}, {"format", "double"}};
      case TypeKind::Decimal:
        return {{"type", "string"}, {"pattern", "^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$"}};
      case TypeKind::Bytes:
        return {{"type", "string"}, {"contentEncoding", "base64"}};
      case TypeKind::Timestamp:
        return {{"type", "string"}, {"format", "date-time"}};
      case TypeKind::Date:
        return {{"type", "string"}, {"format", "date"}};
      case TypeKind::Uuid:
      case TypeKind::TimeUuid:
        return {{"type", "string"}, {"format", "uuid"}};
      case TypeKind::Inet:
        return {{"type", "string"}, {"description", "an IPv4 or IPv6 address"}};
      case TypeKind::Json:
        return Json::object();
      case TypeKind::Enumeration:
        return {{"type", "string"}, {"enum", Json(type.names)}};
      case TypeKind::Reference:
        return reference(type);
      case TypeKind::Value:
        if (std::find(named_.begin(), named_.end(), type.value()) == named_.end()) named_.push_back(type.value());
        return ref("schemas", model_.value(type.value()).name);
      case TypeKind::Row:
        return row(type);
      case TypeKind::Rows:
        return {{"type", "array"}, {"items", row(type)}};
      case TypeKind::List:
        return {{"type", "array"}, {"items", of(type.element())}};
      case TypeKind::Set:
        return {{"type", "array"}, {"items", of(type.element())}, {"description", "a set: each element counts once"}};
      case TypeKind::Map:
        return {{"type", "array"}, {"items", pair({of(type.arguments[0]), of(type.arguments[1])})}};
      default:
        return text(type);
    }
  }

  static Json text(const Type& type) {
    Json out{{"type", "string"}};
    if (type.max_length != 0) out["maxLength"] = type.max_length;
    return out;
  }

  static Json pair(std::vector<Json> parts) {
    const std::size_t size = parts.size();
    return {{"type", "array"}, {"prefixItems", Json(std::move(parts))}, {"minItems", size}, {"maxItems", size}};
  }

  Json reference(const Type& type) {
    const model::Entity& entity = model_.entity(type.entity());
    std::vector<Json> parts;
    for (const std::uint32_t field : entity.key) parts.push_back(of(entity.fields[field].type));
    Json out = parts.size() == 1 ? std::move(parts[0]) : pair(std::move(parts));
    out["description"] = fmt::format("the key of {}", entity.name);
    return out;
  }

  Json row(const Type& type) {
    Json properties = Json::object();
    for (std::size_t i = 0; i < type.names.size(); ++i) properties[type.names[i]] = of(type.arguments[i]);
    return {{"type", "object"}, {"properties", std::move(properties)}, {"required", Json(type.names)}};
  }

  Json fields(model::ValueId id) {
    Json properties = Json::object();
    Json needed = Json::array();
    for (const model::Field& field : model_.value(id).fields) {
      properties[field.name] = of(field.type);
      if (!field.type.optional && !field.initial && !field.type.is_collection()) needed.push_back(field.name);
    }
    Json out{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!needed.empty()) out["required"] = std::move(needed);
    return out;
  }

  const model::Model& model_;
  std::vector<model::ValueId> named_;
};

class Description {
 public:
  Description(const runtime::Session& session, const Rights& rights)
      : session_(session), model_(session.model()), rights_(rights), schemas_(session.model()) {}

  Json document() {
    Json paths = Json::object();
    for (std::size_t i = 0; i < model_.queries.size(); ++i)
      if (rights_.queries[i])
        paths["/q/" + escaped(model_.queries[i].name)] = query(model_.queries[i], session_.program().queries[i]);
    for (std::size_t i = 0; i < model_.commands.size(); ++i)
      if (rights_.commands[i]) paths["/c/" + escaped(model_.commands[i].name)] = command(model_.commands[i]);
    paths["/batch"] = batch();
    paths["/healthz"] = health("Whether the server lives");
    paths["/readyz"] = health("Whether the server takes requests");
    Json schemas{{"Problem", problem_schema()}, {"Applied", applied()}};
    schemas.update(schemas_.values());
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", model_.name},
              {"version", "1"},
              {"description", "The queries and commands of a noam model. docs/http.md describes them."}}},
            {"paths", std::move(paths)},
            {"components",
             {{"schemas", std::move(schemas)}, {"responses", {{"Problem", response("An error", "Problem", true)}}}}}};
  }

 private:
  static Json response(const std::string& about, const std::string& schema, bool problem) {
    return {{"description", about},
            {"content",
             {{problem ? "application/problem+json" : "application/json", {{"schema", ref("schemas", schema)}}}}}};
  }

  static Json responses(Json good) { return {{"200", std::move(good)}, {"default", ref("responses", "Problem")}}; }

  static Json problem_schema() {
    return {{"type", "object"},
            {"properties",
             {{"type", {{"type", "string"}}},
              {"title", {{"type", "string"}}},
              {"status", {{"type", "integer"}}},
              {"detail", {{"type", "string"}}},
              {"code", {{"type", "string"}}}}},
            {"required", Json::array({"type", "title", "status", "detail", "code"})}};
  }

  static Json applied() {
    return {{"type", "object"},
            {"properties",
             {{"outcome", {{"const", "applied"}}},
              {"keys", {{"type", "array"}, {"description", "generated keys, in the order of the inserts"}}},
              {"count", {{"type", "integer"}, {"description", "of a bulk change: how many instances it changed"}}}}},
            {"required", Json::array({"outcome"})}};
  }

  // All parameters as an object.
  Json body(const std::vector<model::Parameter>& parameters) {
    Json properties = Json::object();
    Json needed = Json::array();
    for (const model::Parameter& parameter : parameters) {
      properties[parameter.name] = schemas_.of(parameter.type);
      if (!parameter.type.optional) needed.push_back(parameter.name);
    }
    Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!needed.empty()) schema["required"] = std::move(needed);
    return {{"required", true}, {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
  }

  // One in the URL. What is not written as it is there is JSON.
  Json parameter(const model::Parameter& one) {
    Type type = one.type;
    type.optional = false;
    Json out{{"name", one.name}, {"in", "query"}, {"required", !one.type.optional}};
    const bool plain = !type.is_collection() && type.kind != TypeKind::Value && type.kind != TypeKind::Json &&
                       (type.kind != TypeKind::Reference || model_.entity(type.entity()).key.size() == 1);
    if (plain)
      out["schema"] = schemas_.of(type);
    else
      out["content"] = Json{{"application/json", {{"schema", schemas_.of(type)}}}};
    return out;
  }

  Json query(const model::Query& query, const design::Plan& plan) {
    Type row;
    row.kind = TypeKind::Rows;
    row.names = query.row.names;
    for (const auto& column : plan.columns) row.arguments.push_back(column.expr.type);
    Json schema{{"type", "object"},
                {"properties", {{"rows", schemas_.of(row)}, {"cursor", {{"type", "string"}}}}},
                {"required", Json::array({"rows"})}};
    const Json good{
        {"description", "The rows"},
        {"headers",
         {{"Link",
           {{"description", "the URL of the next page, if there are more rows"}, {"schema", {{"type", "string"}}}}}}},
        {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
    Json parameters = Json::array();
    for (const model::Parameter& one : query.parameters) parameters.push_back(parameter(one));
    const Json cursor{
        {"name", cursor_name(query)}, {"in", "query"}, {"schema", {{"type", "string"}, {"minLength", 1}}}};
    parameters.push_back(cursor);
    return {
        {"get",
         {{"operationId", "get_" + query.name}, {"parameters", std::move(parameters)}, {"responses", responses(good)}}},
        {"post",
         {{"operationId", "post_" + query.name},
          {"parameters", Json::array({cursor})},
          {"requestBody", body(query.parameters)},
          {"responses", responses(good)}}}};
  }

  Json command(const model::Command& command) {
    const Json id{{"name", "Idempotency-Key"},
                  {"in", "header"},
                  {"description", "the id of the command, a UUIDv7; a repeat with the same id is done once"},
                  {"schema", {{"type", "string"}}}};
    return {{"post",
             {{"operationId", command.name},
              {"parameters", Json::array({id})},
              {"requestBody", body(command.parameters)},
              {"responses", responses(response("The command was applied", "Applied", false))}}}};
  }

  static Json batch() {
    const Json lines{{"application/x-ndjson", {{"schema", {{"type", "string"}}}}}};
    return {{"post",
             {{"operationId", "batch"},
              {"description", "lines of JSON, each answered by a line"},
              {"requestBody", {{"required", true}, {"content", lines}}},
              {"responses", responses({{"description", "a line for each line"}, {"content", lines}})}}}};
  }

  static Json health(const std::string& about) {
    const Json status{{"type", "object"}, {"properties", {{"status", {{"type", "string"}}}}}};
    return {{"get",
             {{"description", about},
              {"responses",
               {{"200", {{"description", "It does"}, {"content", {{"application/json", {{"schema", status}}}}}}}}}}}};
  }

  const runtime::Session& session_;
  const model::Model& model_;
  const Rights& rights_;
  Schemas schemas_;
};

}  // namespace

Json describe(const runtime::Session& session, const Rights& rights) { return Description(session, rights).document(); }

}  // namespace noam::server
