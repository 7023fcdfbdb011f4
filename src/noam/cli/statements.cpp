#include "noam/cli/statements.h"

#include <utility>

#include <fmt/format.h>

#include "noam/base/json_text.h"
#include "noam/language/suggest.h"
#include "noam/model/datum_json.h"
#include "noam/model/json_text.h"
#include "noam/model/scalars.h"

namespace noam::cli {

using model::TypeKind;

std::vector<std::string_view> statement_names(const model::Model& model) {
  std::vector<std::string_view> names;
  for (const model::Query& query : model.queries) names.push_back(query.name);
  for (const model::Command& command : model.commands) names.push_back(command.name);
  return names;
}

std::string remedy(std::string_view name, const std::vector<std::string_view>& names, std::string_view otherwise) {
  constexpr std::size_t few = 12;
  if (const auto near = language::closest(name, names)) return fmt::format("did you mean `{}`?", *near);
  if (names.empty()) return "there is none";
  return names.size() <= few ? fmt::format("there is {}", fmt::join(names, ", ")) : std::string(otherwise);
}

Result<Statement> find_statement(const model::Model& model, std::string_view name, std::string_view otherwise) {
  for (const model::Query& query : model.queries)
    if (query.name == name) return Statement{query.name, &query, &query.parameters};
  for (const model::Command& command : model.commands)
    if (command.name == name) return Statement{command.name, nullptr, &command.parameters};
  return Error{fmt::format("no query or command `{}`; {}", name, remedy(name, statement_names(model), otherwise))};
}

const model::Parameter* find_parameter(const Statement& statement, std::string_view name) {
  for (const model::Parameter& parameter : *statement.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

Error no_parameter(const Statement& statement, std::string_view name) {
  std::vector<std::string_view> names;
  for (const model::Parameter& parameter : *statement.parameters) names.push_back(parameter.name);
  return Error{fmt::format("`{}` has no parameter `{}`; {}", statement.name, name,
                           remedy(name, names, "`noam show` lists them"))};
}

Result<Json> read_argument(const model::Model& model, const model::Type& type, const std::string& text) {
  switch (type.kind) {
    case TypeKind::Text:
    case TypeKind::Enumeration:
      return Json(text);
    case TypeKind::Reference: {
      const model::Entity& entity = model.entity(type.entity());
      if (entity.key.size() == 1) return read_argument(model, entity.fields[entity.key[0]].type, text);
      break;
    }
    case TypeKind::Int:
      if (const auto number = model::parse_int(text)) return Json(*number);
      break;
    case TypeKind::Float:
      if (const auto number = model::parse_float(text)) return Json(*number);
      break;
    default:
      break;
  }
  model::Type required = type;
  required.optional = false;
  if (text.empty())
    return Error{fmt::format("a value is missing; {} is no text, so nothing is no value", to_string(model, required))};
  auto read = parse_json(text);
  if (read)
    if (const auto wrong = model::refuse_rounded(model, type, read->rounded, {}, {})) return Error{wrong->reason};
  Json* const json = read ? &read->json : nullptr;
  switch (type.kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
      return json != nullptr ? std::move(*json) : Json(text);
    case TypeKind::Json:
    case TypeKind::Reference:
    case TypeKind::Value:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
      if (json == nullptr)
        return Error{fmt::format("{} is given as JSON, and this is none", to_string(model, required))};
      return std::move(*json);
    default:
      // A string in JSON, with its quotes or without. What else JSON may be (1234 and true are base64) is that, too.
      return json != nullptr && (json->is_string() || json->is_null()) ? std::move(*json) : Json(text);
  }
}

Result<void> add_argument(const model::Model& model, const Statement& statement, const std::string& name,
                          const std::string& text, Json& params) {
  const model::Parameter* parameter = find_parameter(statement, name);
  if (parameter == nullptr) return no_parameter(statement, name);
  if (params.contains(name)) return Error{fmt::format("`{}` is given twice", name)};
  auto value = read_argument(model, parameter->type, text);
  if (!value) return Error{fmt::format("{}: {}", name, value.error().message)};
  params[name] = std::move(*value);
  return {};
}

}  // namespace noam::cli
