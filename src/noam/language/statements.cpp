#include "noam/language/statements.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json_text.h"
#include "noam/language/suggest.h"
#include "noam/model/datum_json.h"
#include "noam/model/json_text.h"
#include "noam/model/scalars.h"

namespace noam::language {

using model::TypeKind;

std::vector<std::string_view> statement_names(const model::Model& model) {
  std::vector<std::string_view> names;
  for (const model::Query& query : model.queries) names.push_back(query.name);
  for (const model::Command& command : model.commands) names.push_back(command.name);
  return names;
}

std::string remedy(std::string_view name, const std::vector<std::string_view>& names, std::string_view otherwise) {
  constexpr std::size_t few = 12;
  if (const auto near = closest(name, names)) return fmt::format("did you mean `{}`?", *near);
  if (names.empty()) return "none available";
  return names.size() <= few ? fmt::format("available: {}", fmt::join(names, ", ")) : std::string(otherwise);
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
                           remedy(name, names, "run `noam show` for the list"))};
}

namespace {

std::string with_article(const std::string& name) {
  constexpr std::string_view vowels = "aeioAEIO";
  return (vowels.find(name.front()) == std::string_view::npos ? "a " : "an ") + name;
}

Error missing_value(const model::Model& model, const model::Type& type) {
  if (type.is_collection())
    return Error{fmt::format("missing value: write {} for an empty {}", type.kind == TypeKind::Map ? "{}" : "[]",
                             type.kind == TypeKind::Map   ? "map"
                             : type.kind == TypeKind::Set ? "set"
                                                          : "list")};
  return Error{fmt::format("missing value: {} cannot be empty", with_article(to_string(model, type)))};
}

std::string json_text(const std::string& text) { return Json(text).dump(); }

// A value of the type, as JSON.
std::string example_json(const model::Model& model, const model::Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "true";
    case TypeKind::Int:
      return "42";
    case TypeKind::Float:
      return "1.5";
    case TypeKind::Decimal:
      return R"("9.99")";
    case TypeKind::Bytes:
      return R"("aGk=")";
    case TypeKind::Timestamp:
      return R"("2026-01-31T08:30:00Z")";
    case TypeKind::Date:
      return R"("2026-01-31")";
    case TypeKind::Uuid:
      return R"("0198c1f2-7a5e-7000-8000-0123456789ab")";
    case TypeKind::TimeUuid:
      return R"("5f2b1c80-fe83-11f0-8000-0123456789ab")";
    case TypeKind::Inet:
      return R"("192.0.2.1")";
    case TypeKind::Json:
      return R"({"a": 1})";
    case TypeKind::Enumeration:
      return json_text(type.names.empty() ? std::string() : type.names.front());
    case TypeKind::Reference: {
      const model::Entity& entity = model.entity(type.entity());
      std::vector<std::string> parts;
      for (const std::uint32_t field : entity.key) parts.push_back(example_json(model, entity.fields[field].type));
      return parts.size() == 1 ? parts.front() : fmt::format("[{}]", fmt::join(parts, ", "));
    }
    case TypeKind::Value: {
      std::vector<std::string> members;
      for (const model::Field& field : model.fields(type))
        if (!field.type.optional && !field.initial && !field.hidden)
          members.push_back(fmt::format("{}: {}", json_text(field.name), example_json(model, field.type)));
      return fmt::format("{{{}}}", fmt::join(members, ", "));
    }
    case TypeKind::List:
    case TypeKind::Set:
      return fmt::format("[{}]", example_json(model, type.element()));
    case TypeKind::Map: {
      const std::string key = example_json(model, type.arguments[0]);
      const std::string value = example_json(model, type.arguments[1]);
      return key.front() == '"' ? fmt::format("{{{}: {}}}", key, value) : fmt::format("[[{}, {}]]", key, value);
    }
    default:
      return R"("text")";
  }
}

// As a shell takes it for one word.
std::string quoted_word(const std::string& text) {
  constexpr std::string_view plain = "-_./:,+=@%";
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || plain.find(c) != std::string_view::npos;
  });
  if (bare) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string example_of(const model::Model& model, const model::Parameter& parameter) {
  const std::string text = example_json(model, parameter.type);
  // Texts are typed as they are.
  const bool bare = text.front() == '"';
  return parameter.name + "=" + quoted_word(bare ? Json::parse(text).get<std::string>() : text);
}

void add_example(const model::Model& model, const Statement& statement, const Json& params, Json& answer) {
  Json* const refusal = answer.contains("error")                                       ? &answer["error"]
                        : answer.contains("outcome") && answer["outcome"] == "refused" ? &answer
                                                                                       : nullptr;
  if (refusal == nullptr) return;
  const std::string reason = (*refusal)["reason"].get<std::string>();
  for (const model::Parameter& parameter : *statement.parameters) {
    if (!params.contains(parameter.name)) continue;
    const auto read = model::read_json(model, parameter.type, params[parameter.name], parameter.name);
    if (read || read.refusal().reason != reason) continue;
    (*refusal)["reason"] = fmt::format("{}; for example {}", reason, example_of(model, parameter));
    return;
  }
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
  if (text.empty()) return missing_value(model, required);
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
      if (json == nullptr) return Error{fmt::format("expected {} as JSON", to_string(model, required))};
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
  if (!value)
    return Error{fmt::format("{}: {}; for example {}", name, value.error().message, example_of(model, *parameter))};
  params[name] = std::move(*value);
  return {};
}

}  // namespace noam::language
