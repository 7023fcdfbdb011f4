#include "noam/language/analysis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/numbers.h"
#include "noam/language/rules.h"
#include "noam/language/suggest.h"

namespace noam::language {

using model::TypeKind;

namespace {

struct ScalarName {
  std::string_view name;
  TypeKind kind;
};

constexpr ScalarName scalars[] = {
    {"bool", TypeKind::Bool},           {"int", TypeKind::Int},   {"float", TypeKind::Float},
    {"decimal", TypeKind::Decimal},     {"text", TypeKind::Text}, {"bytes", TypeKind::Bytes},
    {"timestamp", TypeKind::Timestamp}, {"date", TypeKind::Date}, {"uuid", TypeKind::Uuid},
    {"timeuuid", TypeKind::TimeUuid},   {"inet", TypeKind::Inet}, {"json", TypeKind::Json},
};

struct ForeignType {
  std::string_view theirs;
  std::string_view hint;
};

// What people bring from other databases and languages.
constexpr ForeignType foreign_types[] = {
    {"string", "write `text`"},
    {"str", "write `text`"},
    {"varchar", "write `text`; `text(20)` holds at most 20 code points"},
    {"char", "write `text`; `text(2)` holds at most 2 code points"},
    {"ascii", "write `text`"},
    {"nvarchar", "write `text`; `text(20)` holds at most 20 code points"},
    {"integer", "write `int`, which has 64 bits"},
    {"bigint", "write `int`, which has 64 bits"},
    {"smallint", "write `int`, which has 64 bits"},
    {"tinyint", "write `int`, which has 64 bits"},
    {"long", "write `int`, which has 64 bits"},
    {"int64", "write `int`, which has 64 bits"},
    {"int32", "write `int`, which has 64 bits"},
    {"varint", "write `int` (64 bits) or `decimal` (34 digits)"},
    {"serial", "write `uuid key auto`: noam does not generate sequential numbers"},
    {"double", "write `float`, which has 64 bits"},
    {"real", "write `float`, which has 64 bits"},
    {"number", "write `int`, `float` or `decimal`"},
    {"numeric", "write `decimal`, which has 34 digits"},
    {"money", "write `decimal`, which has 34 digits"},
    {"boolean", "write `bool`"},
    {"datetime", "write `timestamp`, which has milliseconds and is UTC"},
    {"time", "write `timestamp`, which has milliseconds and is UTC"},
    {"timestamptz", "write `timestamp`, which is UTC"},
    {"blob", "write `bytes`"},
    {"binary", "write `bytes`"},
    {"bytea", "write `bytes`"},
    {"jsonb", "write `json`"},
    {"object", "write `json`, or declare a `value` with its fields"},
    {"document", "write `json`, or declare a `value` with its fields"},
    {"guid", "write `uuid`"},
    {"objectid", "write `uuid` or `timeuuid`"},
    {"ip", "write `inet`"},
    {"counter",
     "do not declare counters: write a query that counts, and the design decides whether to store the count"},
    {"array", "write `list<T>`, or `set<T>` if order and duplicates do not matter"},
    {"vector", "write `list<T>`"},
    {"dict", "write `map<K, V>`"},
    {"dictionary", "write `map<K, V>`"},
    {"enum", "write its texts: `\"open\" | \"paid\"`"},
    {"frozen", "remove it: the design decides where a value is stored"},
    {"tuple", "declare a `value` with named fields"},
};

// Deeper than any database takes, and shallow enough to be walked by recursion.
constexpr std::size_t max_data_depth = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<TypeKind> scalar_kind(std::string_view name) {
  for (const ScalarName& scalar : scalars)
    if (scalar.name == name) return scalar.kind;
  return std::nullopt;
}

bool is_type_word(std::string_view name) {
  return scalar_kind(name).has_value() || name == "list" || name == "set" || name == "map";
}

// After these, part of the text may be missing from the tree: what depends on it is not reported once more.
bool loses_text(DiagnosticCode code) {
  switch (code) {
    case DiagnosticCode::ForeignSyntax:
    case DiagnosticCode::ClauseOrder:
    case DiagnosticCode::DuplicateClause:
    case DiagnosticCode::MissingModel:
      return false;
    default:
      return true;
  }
}

template <typename Visitor>
void for_each_field(const EntityDecl& entity, Visitor visit) {
  for (const EntityMember& member : entity.members)
    if (const Field* field = std::get_if<Field>(&member)) visit(*field);
}

}  // namespace

model::Model analyze(const Tree& tree, const SourceFile& source, Diagnostics& diagnostics) {
  return Analyzer(tree, source, diagnostics).run();
}

model::Model Analyzer::run() {
  note_syntax_errors();
  if (!tree_.model.missing()) model_.name = tree_.model.text;
  declare_names();
  declare_data();
  data_errors_ = diagnostics_->has_errors();
  read_defaults_and_requirements();
  read_queries();
  read_commands();
  read_groups_and_mixes();
  read_designs();
  if (!diagnostics_->has_errors()) check_rules(model_, *diagnostics_);
  return std::move(model_);
}

void Analyzer::note_syntax_errors() {
  const std::string_view whole = source_.text();
  for (const Diagnostic& diagnostic : diagnostics_->all()) {
    if (diagnostic.severity != Severity::Error) continue;
    parse_errors_.push_back(diagnostic.span);
    if (loses_text(diagnostic.code)) syntax_errors_.push_back(diagnostic.span);
    if (diagnostic.code != DiagnosticCode::UnknownDeclaration && diagnostic.code != DiagnosticCode::ForeignSyntax &&
        diagnostic.code != DiagnosticCode::NotInLanguage)
      continue;
    // `entitty User {`: the declaration is lost, and what refers to `User` is not to be reported once more.
    const auto skip_blanks = [&](std::size_t at) {
      while (at < whole.size() && (whole[at] == ' ' || whole[at] == '\t')) ++at;
      return at;
    };
    const std::size_t at = skip_blanks(diagnostic.span.end);
    const std::size_t end = std::min(whole.find_first_of(" \t\r\n{}()~:,", at), whole.size());
    const std::size_t next = skip_blanks(end);
    if (end > at && next < whole.size() && (whole[next] == '{' || whole[next] == '~' || whole[next] == '('))
      lost_names_.insert(whole.substr(at, end - at));
  }
  const auto by_place = [](Span a, Span b) { return a.begin < b.begin; };
  std::sort(parse_errors_.begin(), parse_errors_.end(), by_place);
  std::sort(syntax_errors_.begin(), syntax_errors_.end(), by_place);
}

bool Analyzer::any_inside(const std::vector<Span>& errors, Span span) {
  const auto first = std::lower_bound(errors.begin(), errors.end(), span.begin,
                                      [](Span error, std::uint32_t begin) { return error.begin < begin; });
  return first != errors.end() && first->begin <= span.end;
}

bool Analyzer::broken(Span span) const { return any_inside(syntax_errors_, span); }

void Analyzer::declare_names() {
  std::unordered_map<std::string_view, Span> type_names;
  std::unordered_map<std::string_view, Span> statement_names;
  const auto take_type_name = [&](const Name& name, const char* what) {
    if (name.missing()) return;
    if (is_type_word(name.text)) {
      error(DiagnosticCode::DuplicateEntity, name.span,
            fmt::format("`{}` is a built-in type and cannot be the name of {}", name.text, what));
      return;
    }
    const auto [at, fresh] = type_names.emplace(name.text, name.span);
    if (!fresh)
      error(DiagnosticCode::DuplicateEntity, name.span, fmt::format("`{}` declared twice", name.text))
          .label(at->second, "first declared here");
  };
  const auto take_statement_name = [&](const Name& name) {
    if (name.missing()) return false;
    const auto [at, fresh] = statement_names.emplace(name.text, name.span);
    if (!fresh)
      error(DiagnosticCode::DuplicateStatement, name.span, fmt::format("`{}` declared twice", name.text))
          .label(at->second, "first declared here")
          .hint("queries, commands and groups share one namespace");
    return fresh;
  };
  for (const Declaration& declaration : tree_.declarations) {
    if (const auto* value = std::get_if<ValueDecl>(&declaration)) {
      const auto id = static_cast<model::ValueId>(model_.values.size());
      take_type_name(value->name, "a value");
      if (!value->name.missing()) values_.emplace(value->name.text, id);
      model_.values.push_back({std::string(value->name.text), {}, value->name.span});
      value_decls_.push_back(value);
    } else if (const auto* entity = std::get_if<EntityDecl>(&declaration)) {
      const auto id = static_cast<model::EntityId>(model_.entities.size());
      take_type_name(entity->name, "an entity");
      if (!entity->name.missing()) entities_.emplace(entity->name.text, id);
      model::Entity made;
      made.name = entity->name.text;
      made.transient = entity->transient;
      made.span = entity->name.span;
      model_.entities.push_back(std::move(made));
      entity_decls_.push_back(entity);
    } else if (const auto* query = std::get_if<QueryDecl>(&declaration)) {
      const auto index = static_cast<std::uint32_t>(query_decls_.size());
      if (take_statement_name(query->name)) statements_.emplace(query->name.text, model::StatementRef{false, index});
      query_decls_.push_back(query);
    } else if (const auto* command = std::get_if<CommandDecl>(&declaration)) {
      const auto index = static_cast<std::uint32_t>(command_decls_.size());
      if (take_statement_name(command->name)) statements_.emplace(command->name.text, model::StatementRef{true, index});
      command_decls_.push_back(command);
    } else if (const auto* group = std::get_if<GroupDecl>(&declaration)) {
      const auto index = static_cast<std::uint32_t>(group_decls_.size());
      if (take_statement_name(group->name)) groups_.emplace(group->name.text, index);
      group_decls_.push_back(group);
    }
  }
  query_state_.assign(query_decls_.size(), Reading::Not);
  model_.queries.resize(query_decls_.size());
  for (const QueryDecl* query : query_decls_) {
    if (!query->refresh || query->name.missing()) continue;
    const auto clash = type_names.find(query->name.text);
    if (clash != type_names.end())
      error(DiagnosticCode::DuplicateStatement, query->name.span,
            fmt::format("the refreshed query `{}` has the same name as a type", query->name.text))
          .label(clash->second, "the type is declared here");
  }
}

void Analyzer::declare_data() {
  std::size_t members = 0;
  for (const ValueDecl* value : value_decls_) members += value->fields.size();
  for (const EntityDecl* entity : entity_decls_) members += entity->members.size() + 1;
  members_.reserve(members);
  for (std::size_t i = 0; i < value_decls_.size(); ++i) {
    const auto id = static_cast<model::ValueId>(i);
    if (broken(value_decls_[i]->span)) broken_owners_.insert(owner_of(id));
    std::vector<const Field*> written;
    for (const Field& field : value_decls_[i]->fields) written.push_back(&field);
    read_fields(written, false, model_.values[i].name, model_.values[i].fields, owner_of(id));
  }
  for (std::size_t i = 0; i < entity_decls_.size(); ++i) read_entity(*entity_decls_[i], static_cast<std::uint32_t>(i));
  find_value_cycles();
  for (std::size_t i = 0; i < entity_decls_.size(); ++i) read_keys(*entity_decls_[i], static_cast<std::uint32_t>(i));
  find_key_cycles();
  connect_roles();
}

void Analyzer::read_entity(const EntityDecl& entity, std::uint32_t index) {
  model::Entity& made = model_.entities[index];
  const auto id = static_cast<model::EntityId>(index);
  if (broken(entity.span)) broken_owners_.insert(owner_of(id));
  made.statistic = read_statistic(entity.statistic);
  std::vector<const Field*> written;
  for_each_field(entity, [&](const Field& field) { written.push_back(&field); });
  read_fields(written, true, made.name, made.fields, owner_of(id));
}

void Analyzer::read_fields(const std::vector<const Field*>& written, bool in_entity, const std::string& owner_name,
                           std::vector<model::Field>& fields, std::uint32_t member_owner) {
  fields.reserve(written.size() + 1);
  for (const Field* field : written) {
    model::Field made;
    made.name = field->name.text;
    made.span = field->name.span;
    made.type = read_type(field->type);
    made.statistic = read_statistic(field->statistic);
    check_statistic(*field, made);
    made.automatic = field->automatic;
    // Of a collection it is about the last of what it holds.
    const TypeExpr* innermost = &field->type;
    while (!innermost->about && !innermost->arguments.empty()) innermost = &innermost->arguments.back();
    if (innermost->about) made.about_bytes = read_number(innermost->length);
    if (!field->name.missing()) {
      const auto [at, fresh] = members_.emplace(MemberKey{member_owner, field->name.text},
                                                MemberRef{false, static_cast<std::uint32_t>(fields.size())});
      if (!fresh)
        error(DiagnosticCode::DuplicateField, field->name.span,
              fmt::format("`{}` declared twice in `{}`", field->name.text, owner_name))
            .label(fields[at->second.index].span, "first declared here");
    }
    if (!in_entity) {
      if (field->key)
        error(DiagnosticCode::KeyType, field->key_span, "a value has no key")
            .hint("remove `key`, or declare an `entity`");
      if (field->inverse)
        error(DiagnosticCode::InverseType, field->inverse_span, "a reference inside a value has no inverse")
            .hint(fmt::format("move the reference to the entity, or make `{}` an entity", owner_name));
      if (field->owner)
        error(DiagnosticCode::OwnerType, field->owner_span, "a value has no owner: it is part of its entity")
            .hint(fmt::format("remove `owner`, or make `{}` an entity", owner_name));
    }
    if (field->automatic && !field->key)
      error(DiagnosticCode::AutoKey, field->auto_span, fmt::format("`auto` on `{}`, which is not a key", made.name))
          .hint("noam generates only keys; write `key auto`, or give the value in the command: `uuid()`, `now()`");
    fields.push_back(std::move(made));
  }
}

// `~` says how many there are: of the elements of a collection, of those that refer.
void Analyzer::check_statistic(const Field& written, const model::Field& field) {
  const model::Type& type = field.type;
  if (!type.known()) return;
  if (written.statistic.count && !type.is_collection()) {
    auto report = error(DiagnosticCode::StatisticValue, written.statistic.count->span,
                        fmt::format("`{}` is a single `{}` and has no number of elements", field.name, text(type)));
    if (type.kind == TypeKind::Reference)
      report.hint("write how many refer to one instance after the inverse: `… inverse name ~50`");
    else if (type.kind == TypeKind::Text || type.kind == TypeKind::Bytes || type.kind == TypeKind::Json)
      report.hint(fmt::format("write the average length in parentheses: `{}(~80)`", text(model::scalar(type.kind))));
    else
      report.hint("write the number of different values as `distinct ~50`");
  }
}

model::Type Analyzer::read_type(const TypeExpr& type) {
  model::Type made;
  switch (type.kind) {
    case TypeSyntax::Unknown:
      return made;
    case TypeSyntax::Named:
      made = read_named_type(type);
      break;
    case TypeSyntax::Enumeration: {
      made.kind = TypeKind::Enumeration;
      for (const Text& one : type.texts) {
        if (one.value.empty())
          error(DiagnosticCode::Enumeration, one.span, "an empty text in an enumeration")
              .hint("if there may be no value, make the field optional: `(\"a\" | \"b\")?`");
        else if (std::find(made.names.begin(), made.names.end(), one.value) != made.names.end())
          error(DiagnosticCode::Enumeration, one.span, fmt::format("\"{}\" twice in an enumeration", one.value));
        made.names.push_back(one.value);
      }
      break;
    }
    case TypeSyntax::List:
    case TypeSyntax::Set:
    case TypeSyntax::Map: {
      made.kind = type.kind == TypeSyntax::List  ? TypeKind::List
                  : type.kind == TypeSyntax::Set ? TypeKind::Set
                                                 : TypeKind::Map;
      for (const TypeExpr& argument : type.arguments) made.arguments.push_back(read_type(argument));
      const std::size_t wanted = made.kind == TypeKind::Map ? 2 : 1;
      if (made.arguments.size() != wanted) return {};
      for (const model::Type& argument : made.arguments)
        if (!argument.known()) return {};
      if (made.kind == TypeKind::Map) check_element(type.arguments[0], made.arguments[0], "a map key", true);
      if (made.kind == TypeKind::Set) check_element(type.arguments[0], made.arguments[0], "a set element", true);
      if (made.kind == TypeKind::List) check_element(type.arguments[0], made.arguments[0], "a list element", false);
      if (made.kind == TypeKind::Map) check_element(type.arguments[1], made.arguments[1], "a map value", false);
      for (const model::Type& argument : made.arguments)
        if (argument.is_collection()) return {};
      break;
    }
  }
  if (type.optional) {
    if (made.is_collection()) {
      error(DiagnosticCode::OptionalCollection, type.optional_span, fmt::format("`{}` cannot be optional", text(made)))
          .hint("remove the `?`: a collection can be empty, but never absent");
    } else {
      made.optional = true;
    }
  }
  return made;
}

model::Type Analyzer::read_named_type(const TypeExpr& type) {
  model::Type made;
  if (type.name.missing()) return made;
  const std::string_view name = type.name.text;
  const Span length_span{type.name.span.end, type.optional ? type.optional_span.begin : type.span.end};
  const auto length_refused = [&](const std::string& what) {
    if (type.length.missing()) return;
    error(DiagnosticCode::LengthType, length_span, fmt::format("{} has no length", what))
        .hint("`text(8)` and `bytes(8)` set a limit; `text(~80)`, `bytes(~80)` and `json(~80)` an average length");
  };
  if (const auto entity = entities_.find(name); entity != entities_.end()) {
    length_refused("a reference");
    return model::reference(entity->second);
  }
  if (const auto value = values_.find(name); value != values_.end()) {
    length_refused("a value");
    made.kind = TypeKind::Value;
    made.id = static_cast<std::uint32_t>(value->second);
    return made;
  }
  if (const auto kind = scalar_kind(name)) {
    made.kind = *kind;
    const bool limited = *kind == TypeKind::Text || *kind == TypeKind::Bytes;
    if (!limited && *kind != TypeKind::Json) {
      length_refused(fmt::format("`{}`", name));
    } else if (!type.length.missing() && !type.about) {
      if (!limited) {
        error(DiagnosticCode::LengthType, length_span, "`json` has no limit")
            .hint("write `json(~80)` for an average length");
      } else if (const auto length = read_integer(type.length, "a length")) {
        if (*length <= 0 || *length > 1'000'000'000)
          error(DiagnosticCode::StatisticValue, type.length.span, "a length must be between 1 and 1_000_000_000");
        else
          made.max_length = static_cast<std::uint32_t>(*length);
      }
    } else if (!type.length.missing()) {
      read_count(type.length, "a length", false);
    }
    return made;
  }
  if (lost_names_.contains(name)) return made;
  if (name == "list" || name == "set" || name == "map") {
    error(DiagnosticCode::UnknownType, type.span, fmt::format("`{}` without the type of its elements", name))
        .hint(name == "map" ? "write `map<text, int>`" : fmt::format("write `{}<text>`", name));
    return made;
  }
  std::string hint;
  const std::string small = lower(name);
  for (const ForeignType& foreign : foreign_types)
    if (foreign.theirs == small) hint = foreign.hint;
  if (hint.empty()) {
    std::vector<std::string_view> candidates;
    for (const ScalarName& scalar : scalars) candidates.push_back(scalar.name);
    candidates.insert(candidates.end(), {"list", "set", "map"});
    add_names(entities_, candidates);
    add_names(values_, candidates);
    std::sort(candidates.begin(), candidates.end());
    if (const auto near = closest(name, candidates)) hint = fmt::format("did you mean `{}`?", *near);
  }
  if (hint.empty()) hint = "declare it as an `entity` or a `value`, or use a built-in type";
  error(DiagnosticCode::UnknownType, type.name.span, fmt::format("unknown type `{}`", name)).hint(hint);
  return made;
}

void Analyzer::check_element(const TypeExpr& written, const model::Type& type, const char* what, bool key_like) {
  if (!type.known()) return;
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    error(DiagnosticCode::ElementType, written.span, fmt::format("{} cannot be {}", why, what)).hint(hint);
  };
  if (type.is_collection()) {
    refuse("a collection", "put the inner collection into a `value`, and use a collection of that");
  } else if (type.optional) {
    error(DiagnosticCode::ElementType, written.optional_span, fmt::format("{} cannot be optional", what))
        .hint("remove the `?`");
  } else if (key_like && type.kind == TypeKind::Float) {
    refuse("a `float`", "equality of floats is unreliable: use `decimal` or `int`");
  } else if (key_like && type.kind == TypeKind::Json) {
    refuse("`json`", "json cannot be compared: use a scalar or a reference");
  } else if (key_like && type.kind == TypeKind::Value) {
    refuse(fmt::format("the value `{}`", text(type)),
           "use a scalar or a reference; lists and map values may hold values");
  }
}

void Analyzer::check_key_type(const Field& field, const model::Field& read, Span span, const std::string& entity) {
  if (!read.type.known()) return;
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    error(DiagnosticCode::KeyType, span, message).hint(hint);
  };
  const std::string name = read.name;
  if (read.type.optional)
    refuse(fmt::format("`{}` is optional and cannot be in the key of `{}`", name, entity),
           "remove the `?`: every part of a key is required");
  else if (read.type.is_collection())
    refuse(fmt::format("`{}` is a collection and cannot be in the key of `{}`", name, entity),
           "use scalars and references");
  else if (read.type.kind == TypeKind::Value)
    refuse(fmt::format("`{}` is a value and cannot be in the key of `{}`", name, entity),
           "move the fields of the value to the entity, and list them in `key (…)`");
  else if (read.type.kind == TypeKind::Float)
    refuse(fmt::format("`{}` is a float and cannot be in the key of `{}`", name, entity),
           "equality of floats is unreliable: use `decimal` or `int`");
  else if (read.type.kind == TypeKind::Json)
    refuse(fmt::format("`{}` is json and cannot be in the key of `{}`", name, entity),
           "json cannot be compared: use a scalar or a reference");
  if (field.initial && !field.automatic)
    error(DiagnosticCode::DefaultValue, field.initial->span, fmt::format("the key `{}` has a default", name))
        .hint("two instances would have the same key; give the key in the command, or write `uuid key auto`");
}

void Analyzer::read_keys(const EntityDecl& entity, std::uint32_t index) {
  model::Entity& made = model_.entities[index];
  const auto id = static_cast<model::EntityId>(index);
  std::vector<const Field*> fields;
  for_each_field(entity, [&](const Field& field) { fields.push_back(&field); });
  const KeyClause* clause = nullptr;
  const Field* single = nullptr;
  std::uint32_t single_index = 0;
  bool several = false;
  for (const EntityMember& member : entity.members) {
    if (const auto* key = std::get_if<KeyClause>(&member)) {
      if (clause != nullptr)
        error(DiagnosticCode::SeveralKeys, key->span, fmt::format("a second key of `{}`", made.name))
            .label(clause->span, "the first is here");
      else
        clause = key;
    }
  }
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]->key) continue;
    if (clause != nullptr) {
      error(DiagnosticCode::SeveralKeys, fields[i]->key_span,
            fmt::format("`{}` is marked as key, but `{}` also has a `key (…)`", fields[i]->name.text, made.name))
          .label(clause->span, "the other key is here")
          .hint("name all parts of the key in `key (…)`");
    } else if (single != nullptr) {
      if (several) continue;
      several = true;
      std::string parts;
      for (const Field* field : fields)
        if (field->key) parts += (parts.empty() ? "" : ", ") + std::string(field->name.text);
      error(DiagnosticCode::SeveralKeys, fields[i]->key_span,
            fmt::format("`{}` has a second key field, `{}`", made.name, fields[i]->name.text))
          .label(single->key_span, "the first is here")
          .hint(fmt::format("write a compound key as `key ({})`", parts));
    } else {
      single = fields[i];
      single_index = i;
    }
  }
  if (clause != nullptr) {
    for (const Name& part : clause->parts) {
      if (part.missing()) continue;
      const auto found = members_.find(MemberKey{owner_of(id), part.text});
      if (found == members_.end()) {
        report_unknown_member(model::reference(id), part);
        continue;
      }
      const std::uint32_t field = found->second.index;
      if (std::find(made.key.begin(), made.key.end(), field) != made.key.end()) {
        error(DiagnosticCode::DuplicateClause, part.span, fmt::format("`{}` twice in the key", part.text));
        continue;
      }
      made.key.push_back(field);
      check_key_type(*fields[field], made.fields[field], part.span, made.name);
      if (fields[field]->automatic && !fields[field]->key) continue;  // reported with the field
    }
  } else if (single != nullptr) {
    made.key.push_back(single_index);
    const model::Type& type = made.fields[single_index].type;
    check_key_type(*single, made.fields[single_index], single->type.span, made.name);
    if (single->automatic && type.known() && type.kind != TypeKind::Uuid && type.kind != TypeKind::TimeUuid)
      error(DiagnosticCode::AutoKey, single->auto_span,
            fmt::format("noam cannot generate keys of type `{}`", text(type)))
          .label(single->type.span, "declared here")
          .hint("use `uuid`, or `timeuuid` if the keys must be in the order of time");
  }
  if (made.key.empty()) {
    model::Field hidden;
    hidden.type = model::scalar(TypeKind::TimeUuid);
    hidden.automatic = true;
    hidden.hidden = true;
    hidden.span = made.span;
    made.key.push_back(static_cast<std::uint32_t>(made.fields.size()));
    made.fields.push_back(std::move(hidden));
    if (clause != nullptr) broken_owners_.insert(owner_of(id));
  }
}

void Analyzer::find_value_cycles() {
  enum class Seen : std::uint8_t { Not, Now, Done };
  std::vector<Seen> seen(model_.values.size(), Seen::Not);
  value_holds_json_.assign(model_.values.size(), false);
  // An explicit stack: a chain of values may be as long as the file.
  struct Frame {
    std::size_t value;
    std::size_t field;
  };
  for (std::size_t start = 0; start < model_.values.size(); ++start) {
    if (seen[start] != Seen::Not) continue;
    std::vector<Frame> stack{{start, 0}};
    seen[start] = Seen::Now;
    while (!stack.empty()) {
      Frame& top = stack.back();
      std::vector<model::Field>& fields = model_.values[top.value].fields;
      if (top.field == fields.size()) {
        seen[top.value] = Seen::Done;
        value_holds_json_[top.value] = std::any_of(fields.begin(), fields.end(),
                                                   [&](const model::Field& field) { return holds_json(field.type); });
        stack.pop_back();
        continue;
      }
      model::Field& field = fields[top.field++];
      const model::Type& inner = field.type.is_collection() ? field.type.element() : field.type;
      if (inner.kind != TypeKind::Value) continue;
      if (seen[inner.id] == Seen::Now) {
        error(DiagnosticCode::ValueCycle, field.span,
              fmt::format("`{}` contains `{}`, which contains it again", model_.values[top.value].name,
                          model_.values[inner.id].name))
            .label(model_.values[inner.id].span, "declared here")
            .hint("make one of them an entity, and use a reference to it");
        field.type = {};
      } else if (seen[inner.id] == Seen::Not) {
        if (stack.size() >= max_data_depth) {
          error(DiagnosticCode::NestedTooDeep, field.span,
                fmt::format("values nested more than {} levels deep", max_data_depth));
          field.type = {};
          continue;
        }
        seen[inner.id] = Seen::Now;
        stack.push_back({inner.id, 0});
      }
    }
  }
}

void Analyzer::find_key_cycles() {
  enum class Seen : std::uint8_t { Not, Now, Done };
  std::vector<Seen> seen(model_.entities.size(), Seen::Not);
  struct Frame {
    std::size_t entity;
    std::size_t part;
  };
  for (std::size_t start = 0; start < model_.entities.size(); ++start) {
    if (seen[start] != Seen::Not) continue;
    std::vector<Frame> stack{{start, 0}};
    seen[start] = Seen::Now;
    while (!stack.empty()) {
      Frame& top = stack.back();
      model::Entity& entity = model_.entities[top.entity];
      if (top.part == entity.key.size()) {
        seen[top.entity] = Seen::Done;
        stack.pop_back();
        continue;
      }
      model::Field& field = entity.fields[entity.key[top.part++]];
      if (field.type.kind != TypeKind::Reference) continue;
      const std::size_t to = field.type.id;
      if (seen[to] == Seen::Now) {
        error(DiagnosticCode::KeyCycle, field.span,
              fmt::format("the key of `{}` contains the key of `{}`, which contains it again", entity.name,
                          model_.entities[to].name))
            .label(model_.entities[to].span, "declared here")
            .hint("give one of them a key of its own, such as `id: uuid key auto`");
        field.type = {};
        broken_owners_.insert(static_cast<std::uint32_t>(top.entity));
      } else if (seen[to] == Seen::Not) {
        if (stack.size() >= max_data_depth) {
          error(DiagnosticCode::NestedTooDeep, field.span,
                fmt::format("keys nested more than {} levels deep", max_data_depth));
          field.type = {};
          continue;
        }
        seen[to] = Seen::Now;
        stack.push_back({to, 0});
      }
    }
  }
}

void Analyzer::connect_roles() {
  for (std::size_t i = 0; i < entity_decls_.size(); ++i) {
    std::uint32_t field = 0;
    for_each_field(*entity_decls_[i],
                   [&](const Field& written) { connect_role(static_cast<std::uint32_t>(i), written, field++); });
  }
}

void Analyzer::connect_role(std::uint32_t index, const Field& written, std::uint32_t field) {
  model::Entity& from = model_.entities[index];
  model::Field& made = from.fields[field];
  const model::Type& type = made.type;
  const model::Type* target = nullptr;
  bool map_key = false;
  if (type.kind == TypeKind::Reference) {
    target = &type;
  } else if (type.is_collection()) {
    if (type.element().kind == TypeKind::Reference) target = &type.element();
    if (type.kind == TypeKind::Map && type.arguments[0].kind == TypeKind::Reference) {
      if (target != nullptr && written.inverse) {
        error(DiagnosticCode::InverseType, written.inverse_span,
              fmt::format("both the keys and the values of `{}` are references, so `inverse` is ambiguous", made.name))
            .hint("make the relationship an entity");
        return;
      }
      if (target == nullptr) {
        target = &type.arguments[0];
        map_key = true;
      }
    }
  }
  if (target == nullptr) {
    if (!type.known()) {
      if (written.inverse) lost_names_.insert(written.inverse->text);
      return;
    }
    if (written.inverse)
      error(DiagnosticCode::InverseType, written.inverse_span,
            fmt::format("`{}` has the type `{}`, which is not a reference, so it has no inverse", made.name,
                        text(type)))
          .label(written.type.span, "declared here")
          .hint("`inverse` needs a field whose type is an entity, or a collection of one");
    if (written.owner)
      error(DiagnosticCode::OwnerType, written.owner_span,
            fmt::format("`{}` has the type `{}` and cannot be an owner", made.name, text(type)))
          .hint("an owner must be a reference to one entity: `order: Order owner inverse lines`");
    return;
  }
  model::Role role;
  role.from = static_cast<model::EntityId>(index);
  role.field = field;
  role.to = target->entity();
  role.many = type.is_collection();
  role.optional = type.optional;
  role.owner = written.owner;
  role.map_key = map_key;
  role.backward = read_statistic(written.inverse_statistic);
  const auto role_index = static_cast<std::uint32_t>(model_.roles.size());
  if (written.owner) {
    if (role.many)
      error(DiagnosticCode::OwnerType, written.owner_span,
            fmt::format("`{}` is a collection and cannot be an owner", made.name))
          .hint("an owner must be a single reference: `order: Order owner inverse lines`");
    else if (type.optional && role.to != role.from)
      error(DiagnosticCode::OwnerOptional, written.type.optional_span,
            fmt::format("the owner `{}` is optional", made.name))
          .hint("remove the `?`: only an owner of the same entity can be optional, for the root of a tree");
    else
      from.owners.push_back(role_index);
  }
  if (written.inverse && !written.inverse->missing()) {
    const Name& back = *written.inverse;
    model::Entity& to = model_.entities[static_cast<std::size_t>(role.to)];
    if (role.to == role.from && back.text == made.name) {
      role.symmetric = true;
      role.inverse = back.text;
      if (type.kind != TypeKind::Set)
        error(DiagnosticCode::SymmetricType, written.type.span,
              fmt::format("`{}` is its own inverse, so it is symmetric, but it has the type `{}`", made.name,
                          text(type)))
            .hint(fmt::format(
                "a symmetric role must be a set: `{}: set<{}> inverse {}`; or give the inverse another name", made.name,
                to.name, made.name));
    } else {
      const auto [at, fresh] = members_.emplace(MemberKey{owner_of(role.to), back.text}, MemberRef{true, role_index});
      if (fresh) {
        role.inverse = back.text;
        to.inverses.push_back(role_index);
      } else {
        const MemberRef& other = at->second;
        const Span place = other.inverse ? model_.entities[static_cast<std::size_t>(model_.roles[other.index].from)]
                                               .fields[model_.roles[other.index].field]
                                               .span
                                         : to.fields[other.index].span;
        auto report = error(DiagnosticCode::DuplicateInverse, back.span,
                            fmt::format("`{}` already has `{}`", to.name, back.text));
        report.label(place, other.inverse ? "the inverse of this field" : "declared here");
        const bool both_ways =
            !other.inverse && to.fields[other.index].type.known() &&
            (to.fields[other.index].type.is_collection() || to.fields[other.index].type.kind == TypeKind::Reference);
        report.hint(
            both_ways
                ? fmt::format("declare a relationship once: remove the field `{}.{}`, which `inverse` already declares",
                              to.name, back.text)
                : "give the inverse another name");
      }
    }
  }
  made.role = role_index;
  model_.roles.push_back(std::move(role));
}

void Analyzer::read_defaults_and_requirements() {
  for (std::size_t i = 0; i < value_decls_.size(); ++i)
    for (std::size_t f = 0; f < value_decls_[i]->fields.size(); ++f)
      read_default(value_decls_[i]->fields[f], model_.values[i].fields[f]);
  for (std::size_t i = 0; i < entity_decls_.size(); ++i) {
    const EntityDecl& entity = *entity_decls_[i];
    const auto id = static_cast<model::EntityId>(i);
    std::size_t f = 0;
    for_each_field(entity, [&](const Field& field) { read_default(field, model_.entities[i].fields[f++]); });
    const TtlClause* ttl = nullptr;
    for (const EntityMember& member : entity.members) {
      if (const auto* clause = std::get_if<TtlClause>(&member)) {
        if (ttl != nullptr) {
          error(DiagnosticCode::DuplicateClause, clause->span, fmt::format("a second ttl of `{}`", entity.name.text))
              .label(ttl->span, "the first is here");
          continue;
        }
        ttl = clause;
        if (entity.transient) {
          error(DiagnosticCode::TransientEntity, clause->span,
                fmt::format("the transient entity `{}` cannot have a ttl", entity.name.text))
              .label(entity.transient_span, "its instances are not stored")
              .hint("remove the ttl or `transient`");
          continue;
        }
        model::Ttl made;
        made.minutes = read_duration(clause->period, DiagnosticCode::Ttl);
        if (clause->from && !clause->from->missing()) {
          const auto found = members_.find(MemberKey{owner_of(id), clause->from->text});
          if (found == members_.end() || found->second.inverse) {
            report_unknown_member(model::reference(id), *clause->from);
          } else {
            const model::Field& field = model_.entities[i].fields[found->second.index];
            if (field.type.known() && field.type.kind != TypeKind::Timestamp && field.type.kind != TypeKind::Date)
              error(DiagnosticCode::Ttl, clause->from->span,
                    fmt::format("`{}` has the type `{}`, but a ttl needs a time", field.name, text(field.type)))
                  .label(field.span, "declared here")
                  .hint("a ttl counts from a timestamp or a date or, without `from`, from the insert");
            made.from = found->second.index;
          }
        }
        model_.entities[i].ttl = made;
      } else if (const auto* require = std::get_if<RequireClause>(&member)) {
        if (broken(require->span)) continue;
        Body body;
        body.place = Place::EntityRequire;
        body.own_only = "a `require` of an entity";
        model::Variable self;
        self.kind = model::SourceKind::Target;
        self.type = model::reference(id);
        self.span = entity.name.span;
        body.self = add_variable(body, std::move(self));
        model::Expr condition = read_predicate(body, require->condition, "require");
        if (entity.transient)
          error(DiagnosticCode::TransientEntity, require->span,
                fmt::format("the transient entity `{}` cannot have a `require`", entity.name.text))
              .label(entity.transient_span, "its instances are not stored")
              .hint("move the condition to the command that inserts it");
        model_.entities[i].require.push_back(std::move(condition));
      }
    }
  }
}

void Analyzer::read_default(const Field& written, model::Field& field) {
  if (!written.initial) return;
  const Expr& initial = *written.initial;
  const bool negative =
      initial.kind == ExprKind::Unary && initial.op == Operator::Negate && initial.operands[0].kind == ExprKind::Number;
  switch (initial.kind) {
    case ExprKind::Unknown:
      return;
    case ExprKind::Number:
    case ExprKind::Text:
    case ExprKind::True:
    case ExprKind::False:
    case ExprKind::Typed:
    case ExprKind::List:
    case ExprKind::Braces:
    case ExprKind::Absent:
      break;
    default:
      if (negative) break;
      error(DiagnosticCode::DefaultValue, initial.span, "a default must be a literal")
          .hint("compute the value in the command: `insert … { created: now() }`");
      return;
  }
  if (field.automatic) {
    error(DiagnosticCode::DefaultValue, initial.span,
          fmt::format("`{}` is generated by noam and cannot have a default", field.name))
        .label(written.auto_span, "generated because of `auto`");
    return;
  }
  Body body;
  field.initial = read_stored(body, initial, field.type, fmt::format("`{}`", field.name));
}

std::optional<std::int64_t> Analyzer::read_integer(const Number& number, const char* what) {
  if (number.missing()) return std::nullopt;
  const auto value = integer_value(number.text);
  if (!value && !any_inside(parse_errors_, number.span))
    error(DiagnosticCode::NumberRange, number.span,
          number.text.find('.') != std::string_view::npos ? fmt::format("{} must be a whole number", what)
                                                          : fmt::format("{} that does not fit 64 bits", what));
  return value;
}

std::optional<double> Analyzer::read_number(const Number& number) {
  if (number.missing()) return std::nullopt;
  return number_value(number.text);
}

std::optional<double> Analyzer::read_count(const std::optional<Number>& number, const char* what, bool zero_allowed) {
  if (!number || number->missing()) return std::nullopt;
  const auto value = number_value(number->text);
  if (!value) return std::nullopt;  // reported by the lexer
  if (!std::isfinite(*value) || *value > 1e18) {
    error(DiagnosticCode::StatisticValue, number->span, fmt::format("{} that is too large", what));
    return std::nullopt;
  }
  if (*value == 0 && !zero_allowed) {
    error(DiagnosticCode::StatisticValue, number->span, fmt::format("{} of 0", what))
        .hint("leave it out if you do not know it");
    return std::nullopt;
  }
  return value;
}

model::Statistic Analyzer::read_statistic(const Statistic& statistic) {
  model::Statistic made;
  made.count = read_count(statistic.count, "a statistic", true);
  made.distinct = read_count(statistic.distinct, "a number of distinct values", false);
  made.zipf = read_count(statistic.zipf, "a skew", true);
  return made;
}

std::int64_t Analyzer::read_duration(const Duration& duration, DiagnosticCode code) {
  const auto amount = read_integer(duration.amount, "a duration");
  const auto minutes = unit_minutes(duration.unit.text);
  if (!amount || !minutes) return 0;
  constexpr std::int64_t longest = std::int64_t{10'000} * 366 * 24 * 60;
  if (*amount == 0 || *amount > longest / *minutes) {
    error(code, duration.span, *amount == 0 ? "a duration of zero" : "a duration of more than 10_000 years");
    return 0;
  }
  return *amount * *minutes;
}

void Analyzer::read_groups_and_mixes() {
  const auto find_statement = [&](const Name& name, bool in_mix) -> std::optional<model::StatementRef> {
    const auto found = statements_.find(name.text);
    if (found != statements_.end()) return found->second;
    if (lost_names_.contains(name.text)) return std::nullopt;
    std::vector<std::string_view> candidates;
    add_names(statements_, candidates);
    if (in_mix) add_names(groups_, candidates);
    std::sort(candidates.begin(), candidates.end());
    auto report = error(DiagnosticCode::UnknownStatement, name.span,
                        fmt::format("unknown statement{} `{}`", in_mix ? " or group" : "", name.text));
    if (!in_mix && groups_.contains(name.text))
      report.hint("a group lists queries and commands, not groups");
    else if (const auto near = closest(name.text, candidates))
      report.hint(fmt::format("did you mean `{}`?", *near));
    else
      report.hint("declare it as a query or a command");
    return std::nullopt;
  };
  for (const GroupDecl* group : group_decls_) {
    model::Group made;
    made.name = group->name.text;
    made.span = group->name.span;
    std::unordered_map<std::string_view, Span> seen;
    for (const Name& name : group->statements) {
      if (name.missing()) continue;
      const auto [at, fresh] = seen.emplace(name.text, name.span);
      if (!fresh) {
        error(DiagnosticCode::DuplicateEntry, name.span, fmt::format("`{}` twice in group `{}`", name.text, made.name))
            .label(at->second, "first here");
        continue;
      }
      if (const auto statement = find_statement(name, false)) made.statements.push_back(*statement);
    }
    model_.groups.push_back(std::move(made));
  }

  std::vector<const MixDecl*> mixes;
  std::unordered_map<std::string_view, std::size_t> names;
  for (const Declaration& declaration : tree_.declarations) {
    const auto* mix = std::get_if<MixDecl>(&declaration);
    if (mix == nullptr) continue;
    if (!mix->name.missing()) {
      const auto [at, fresh] = names.emplace(mix->name.text, mixes.size());
      if (!fresh)
        error(DiagnosticCode::DuplicateMix, mix->name.span, fmt::format("mix `{}` declared twice", mix->name.text))
            .label(mixes[at->second]->name.span, "first declared here");
    }
    mixes.push_back(mix);
  }

  // The entries of one mix over those of the mix it is like, which is worked out first.
  struct Entries {
    std::vector<std::pair<std::string_view, double>> weights;
    std::unordered_map<std::string_view, std::size_t> index;
    std::optional<double> rate;
    bool done = false;
  };
  std::vector<Entries> all(mixes.size());
  const auto own_entries = [&](std::size_t at) {
    const MixDecl& mix = *mixes[at];
    Entries& out = all[at];
    out.done = true;
    std::unordered_map<std::string_view, Span> seen;
    for (const MixEntry& entry : mix.entries) {
      if (entry.name.missing()) continue;
      if (!groups_.contains(entry.name.text) && !find_statement(entry.name, true)) continue;
      const auto [before, fresh] = seen.emplace(entry.name.text, entry.name.span);
      if (!fresh) {
        error(DiagnosticCode::DuplicateEntry, entry.name.span,
              fmt::format("`{}` twice in mix `{}`", entry.name.text, mix.name.text))
            .label(before->second, "first here");
        continue;
      }
      const auto weight = read_number(entry.weight);
      if (!weight) continue;  // reported by the lexer
      if (!std::isfinite(*weight) || *weight > 1e15) {
        error(DiagnosticCode::MixValue, entry.weight.span, "a weight that is too large");
        continue;
      }
      const auto [place, added] = out.index.emplace(entry.name.text, out.weights.size());
      if (added)
        out.weights.emplace_back(entry.name.text, *weight);
      else
        out.weights[place->second].second = *weight;
    }
    if (mix.rate) {
      auto rate = read_number(*mix.rate);
      if (rate && (*rate <= 0 || !std::isfinite(*rate))) {
        error(DiagnosticCode::MixValue, mix.rate->span, "a rate of zero");
        rate.reset();
      }
      if (rate && mix.rate_unit.text == "min") *rate /= 60;
      if (rate && mix.rate_unit.text == "hour") *rate /= 3600;
      if (rate && mix.rate_unit.text == "day") *rate /= 86400;
      if (rate) out.rate = rate;
    }
  };
  for (std::size_t start = 0; start < mixes.size(); ++start) {
    std::vector<std::size_t> chain;
    std::unordered_set<std::size_t> in_chain;
    for (std::size_t at = start; !all[at].done;) {
      chain.push_back(at);
      in_chain.insert(at);
      if (!mixes[at]->like || mixes[at]->like->missing()) break;
      const Name& like = *mixes[at]->like;
      const auto found = names.find(like.text);
      if (found == names.end()) {
        std::vector<std::string_view> candidates;
        add_names(names, candidates);
        std::sort(candidates.begin(), candidates.end());
        auto report = error(DiagnosticCode::UnknownMix, like.span, fmt::format("unknown mix `{}`", like.text));
        if (const auto near = closest(like.text, candidates)) report.hint(fmt::format("did you mean `{}`?", *near));
        break;
      }
      if (in_chain.contains(found->second)) {
        error(DiagnosticCode::MixCycle, like.span,
              fmt::format("mix `{}` is like `{}`, which depends on it", mixes[at]->name.text, like.text))
            .label(mixes[found->second]->name.span, "this one")
            .hint("write the weights of one of them in full");
        break;
      }
      at = found->second;
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      const MixDecl& mix = *mixes[*at];
      if (mix.like) {
        const auto found = names.find(mix.like->text);
        if (found != names.end() && all[found->second].done) all[*at] = all[found->second];
      }
      own_entries(*at);
    }
  }
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    model::Mix made;
    made.name = mixes[i]->name.text;
    made.span = mixes[i]->name.span;
    if (mixes[i]->like) made.like = mixes[i]->like->text;
    made.rate_per_second = all[i].rate;
    std::unordered_map<std::uint64_t, std::size_t> at;
    double sum = 0;
    const auto add = [&](model::StatementRef ref, double weight) {
      sum += weight;
      const std::uint64_t key = (static_cast<std::uint64_t>(ref.command) << 32U) | ref.index;
      const auto [place, fresh] = at.emplace(key, made.weights.size());
      if (fresh)
        made.weights.push_back({ref, weight});
      else
        made.weights[place->second].weight += weight;
    };
    for (const auto& [name, weight] : all[i].weights) {
      if (const auto group = groups_.find(name); group != groups_.end())
        for (const model::StatementRef ref : model_.groups[group->second].statements) add(ref, weight);
      else if (const auto statement = statements_.find(name); statement != statements_.end())
        add(statement->second, weight);
    }
    if (sum == 0 && !mixes[i]->name.missing() && !broken(mixes[i]->span) && !mixes[i]->entries.empty() &&
        !made.weights.empty())
      error(DiagnosticCode::MixValue, mixes[i]->name.span, fmt::format("all weights of mix `{}` are 0", made.name));
    else if (mixes[i]->entries.empty() && !mixes[i]->like && !broken(mixes[i]->span))
      error(DiagnosticCode::MixValue, mixes[i]->name.span, fmt::format("mix `{}` has no statements", made.name))
          .hint("list statements or groups with their weights: `mix day { newest 100  post 3 }`");
    model_.mixes.push_back(std::move(made));
  }
}

std::uint32_t Analyzer::add_variable(Body& body, model::Variable variable) {
  const auto index = static_cast<std::uint32_t>(body.variables.size());
  body.variables.push_back(std::move(variable));
  return index;
}

}  // namespace noam::language
