#include <algorithm>

#include <fmt/format.h>

#include "tests/property/generate_internal.h"

// What the application knows, and values of its types from small domains: keys collide, references dangle, ties happen.
namespace noam::tests::property {

namespace {

Type optional_of(Type type) { return model::optional(std::move(type)); }

Type enumeration(std::vector<std::string> texts) {
  Type type = model::scalar(TypeKind::Enumeration);
  type.names = std::move(texts);
  return type;
}

Type map_of(Type key, Type value) {
  Type type;
  type.kind = TypeKind::Map;
  type.arguments = {std::move(key), std::move(value)};
  return type;
}

Type value_type(std::size_t value) {
  Type type = model::scalar(TypeKind::Value);
  type.id = static_cast<std::uint32_t>(value);
  return type;
}

Type reference_to(std::size_t entity) { return model::reference(static_cast<model::EntityId>(entity)); }

const char* prefix(const Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "b";
    case TypeKind::Int:
      return "i";
    case TypeKind::Float:
      return "x";
    case TypeKind::Decimal:
      return "d";
    case TypeKind::Text:
      return "t";
    case TypeKind::Timestamp:
      return "at";
    case TypeKind::Date:
      return "on";
    case TypeKind::Reference:
      return "r";
    case TypeKind::Value:
      return "val";
    case TypeKind::List:
      return "l";
    case TypeKind::Set:
      return "s";
    case TypeKind::Map:
      return "m";
    default:
      return "f";
  }
}

// The field as it is written.
Field written(const FieldPlan& field, const std::string& type, const std::string& initial, bool single_key) {
  Field out;
  out.name = field.name;
  out.type = type;
  if (single_key) out.marks.emplace_back("key");
  if (field.automatic) out.marks.emplace_back("auto");
  if (field.owner) out.marks.emplace_back("owner");
  if (!initial.empty()) out.marks.push_back("= " + initial);
  if (!field.inverse.empty()) out.marks.push_back("inverse " + field.inverse);
  return out;
}

}  // namespace

std::string Generator::type_text(const Type& type) const {
  std::string out;
  switch (type.kind) {
    case TypeKind::Bool:
      out = "bool";
      break;
    case TypeKind::Int:
      out = "int";
      break;
    case TypeKind::Float:
      out = "float";
      break;
    case TypeKind::Decimal:
      out = "decimal";
      break;
    case TypeKind::Text:
      out = "text";
      break;
    case TypeKind::Bytes:
      out = "bytes";
      break;
    case TypeKind::Timestamp:
      out = "timestamp";
      break;
    case TypeKind::Date:
      out = "date";
      break;
    case TypeKind::Uuid:
      out = "uuid";
      break;
    case TypeKind::TimeUuid:
      out = "timeuuid";
      break;
    case TypeKind::Inet:
      out = "inet";
      break;
    case TypeKind::Json:
      out = "json";
      break;
    case TypeKind::Enumeration:
      for (const std::string& text : type.names) out += fmt::format("{}\"{}\"", out.empty() ? "" : " | ", text);
      return "(" + out + ")" + (type.optional ? "?" : "");
    case TypeKind::Reference:
      out = entities_[type.id].name;
      break;
    case TypeKind::Value:
      out = values_[type.id].name;
      break;
    case TypeKind::List:
      return "list<" + type_text(type.arguments[0]) + ">";
    case TypeKind::Set:
      return "set<" + type_text(type.arguments[0]) + ">";
    case TypeKind::Map:
      return "map<" + type_text(type.arguments[0]) + ", " + type_text(type.arguments[1]) + ">";
    default:
      break;
  }
  if (type.max_length > 0) out += fmt::format("({})", type.max_length);
  return out + (type.optional ? "?" : "");
}

bool Generator::comparable(const Type& type) const {
  switch (type.kind) {
    case TypeKind::Json:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows:
    case TypeKind::Unknown:
      return false;
    case TypeKind::Value: {
      const auto holds_json = [&](const FieldPlan& field) {
        const Type& inner = field.type.is_collection() ? field.type.element() : field.type;
        return inner.kind == TypeKind::Json || (inner.kind == TypeKind::Value && !comparable(inner));
      };
      const auto& fields = values_[type.id].fields;
      return std::none_of(fields.begin(), fields.end(), holds_json);
    }
    default:
      return true;
  }
}

bool Generator::ordered(const Type& type) const { return comparable(type) && type.kind != TypeKind::Value; }

Type Generator::scalar_type(bool key_like) {
  switch (random_.weighted(
      {8, overflow_ ? 60U : 20U, key_like ? 0U : 6U, 8, 24, 4, 12, 6, 4, 3, 4, key_like ? 0U : 3U, 8})) {
    case 0:
      return model::scalar(TypeKind::Bool);
    case 1:
      return model::scalar(TypeKind::Int);
    case 2:
      return model::scalar(TypeKind::Float);
    case 3:
      return model::scalar(TypeKind::Decimal);
    case 4: {
      Type type = model::scalar(TypeKind::Text);
      if (random_.chance(15)) type.max_length = static_cast<std::uint32_t>(random_.between(4, 8));
      return type;
    }
    case 5: {
      Type type = model::scalar(TypeKind::Bytes);
      if (random_.chance(20)) type.max_length = 2;
      return type;
    }
    case 6:
      return model::scalar(TypeKind::Timestamp);
    case 7:
      return model::scalar(TypeKind::Date);
    case 8:
      return model::scalar(TypeKind::Uuid);
    case 9:
      return model::scalar(TypeKind::TimeUuid);
    case 10:
      return model::scalar(TypeKind::Inet);
    case 11:
      return model::scalar(TypeKind::Json);
    default:
      return random_.chance(50) ? enumeration({"open", "paid", "shipped"}) : enumeration({"low", "high"});
  }
}

Type Generator::key_type() {
  switch (random_.weighted({55, 20, 5, 4, 4, 3, 3, 2, 2, 2})) {
    case 0: {
      Type type = model::scalar(TypeKind::Text);
      if (random_.chance(20)) type.max_length = 8;
      return type;
    }
    case 1:
      return model::scalar(TypeKind::Int);
    case 2:
      return model::scalar(TypeKind::Timestamp);
    case 3:
      return model::scalar(TypeKind::Date);
    case 4:
      return model::scalar(TypeKind::Uuid);
    case 5:
      return model::scalar(TypeKind::Decimal);
    case 6:
      return model::scalar(TypeKind::Bytes);
    case 7:
      return model::scalar(TypeKind::Inet);
    case 8:
      return model::scalar(TypeKind::TimeUuid);
    default:
      return enumeration({"open", "paid", "shipped"});
  }
}

void Generator::make_data() {
  const std::size_t count = random_.weighted({0, 20, 35, 30, 15});
  for (std::size_t i = 0; i < count; ++i) {
    EntityPlan entity;
    entity.name = name("E");
    entities_.push_back(std::move(entity));
  }
  if (count >= 2 && with("transient") && random_.chance(28)) entities_.back().transient = true;
  make_values();
  for (std::size_t i = 0; i < count; ++i) {
    make_key(i);
    make_fields(i);
    make_references(i);
  }
  for (std::size_t i = 0; i < count; ++i) finish_entity(i);
  for (const ValuePlan& value : values_) {
    Value out;
    out.name = value.name;
    for (const FieldPlan& field : value.fields)
      out.fields.push_back(
          written(field, type_text(field.type), field.has_default ? default_of(field.type) : std::string(), false));
    out_.values.push_back(std::move(out));
  }
}

void Generator::make_values() {
  const std::size_t count = random_.weighted({40, 40, 20});
  for (std::size_t i = 0; i < count; ++i) {
    ValuePlan value;
    value.name = name("V");
    const std::size_t fields = random_.between(1, 3);
    for (std::size_t f = 0; f < fields; ++f) {
      FieldPlan field;
      field.type = scalar_type(false);
      // An entity whose instances may be referred to: the transient one is the last.
      const std::size_t targets = entities_.size() - (entities_.back().transient ? 1 : 0);
      if (random_.chance(25)) field.type = reference_to(random_.below(targets));
      if (i > 0 && random_.chance(25)) field.type = value_type(i - 1);
      if (random_.chance(15)) field.type = model::collection_of(TypeKind::List, scalar_type(false));
      if (random_.chance(7)) field.type = model::collection_of(TypeKind::Set, scalar_type(true));
      if (!field.type.is_collection() && random_.chance(30)) field.type.optional = true;
      field.name = name(prefix(field.type));
      field.has_default = field.type.kind != TypeKind::Reference && field.type.kind != TypeKind::Value &&
                          field.type.kind != TypeKind::Json && random_.chance(15);
      value.fields.push_back(std::move(field));
    }
    values_.push_back(std::move(value));
  }
}

void Generator::make_key(std::size_t index) {
  EntityPlan& entity = entities_[index];
  const auto add = [&](Type type) {
    FieldPlan field;
    field.type = std::move(type);
    field.name = name("k");
    field.key = true;
    entity.key.push_back(entity.fields.size());
    entity.fields.push_back(std::move(field));
  };
  if (entity.transient) {
    if (random_.chance(70)) {
      entity.hidden_key = true;
      return;
    }
    add(model::scalar(random_.chance(50) ? TypeKind::TimeUuid : TypeKind::Uuid));
    entity.fields.back().automatic = true;
    return;
  }
  const bool earlier = index > 0 && !entities_[index - 1].transient;
  switch (random_.weighted({60, 10, 6, 7, 6, earlier ? 16U : 0U, earlier ? 4U : 0U})) {
    case 0:
      add(key_type());
      break;
    case 1:
      add(model::scalar(TypeKind::Uuid));
      entity.fields.back().automatic = true;
      break;
    case 2:
      add(model::scalar(TypeKind::TimeUuid));
      entity.fields.back().automatic = true;
      break;
    case 3:
      entity.hidden_key = true;
      break;
    case 4:
      add(key_type());
      add(key_type());
      break;
    case 5: {  // a relationship: references in the key
      add(reference_to(random_.below(index)));
      if (random_.chance(50))
        add(reference_to(random_.below(index)));
      else
        add(key_type());
      for (const std::size_t part : entity.key) {
        FieldPlan& field = entity.fields[part];
        if (field.type.kind != TypeKind::Reference) continue;
        if (random_.chance(60)) field.inverse = name("back");
        if (with("owners") && random_.chance(40)) field.owner = true;
      }
      break;
    }
    default:
      add(reference_to(random_.below(index)));
      if (random_.chance(60)) entity.fields.back().inverse = name("back");
      break;
  }
}

void Generator::make_fields(std::size_t index) {
  EntityPlan& entity = entities_[index];
  const std::size_t count = random_.between(entity.transient ? 2 : 1, 4);
  for (std::size_t i = 0; i < count; ++i) {
    FieldPlan field;
    const std::size_t kind = entity.transient ? 0 : random_.weighted({70, values_.empty() ? 0U : 12U, 8, 8, 8});
    switch (kind) {
      case 0:
        field.type = scalar_type(false);
        break;
      case 1:
        field.type = value_type(random_.below(values_.size()));
        break;
      case 2:
        field.type = model::collection_of(TypeKind::List, !values_.empty() && random_.chance(50)
                                                              ? value_type(random_.below(values_.size()))
                                                              : scalar_type(false));
        break;
      case 3:
        field.type = model::collection_of(TypeKind::Set, scalar_type(true));
        break;
      default:
        field.type =
            map_of(scalar_type(true), !values_.empty() && random_.chance(40) ? value_type(random_.below(values_.size()))
                                                                             : scalar_type(false));
        break;
    }
    if (!field.type.is_collection() && random_.chance(25)) field.type.optional = true;
    field.name = name(prefix(field.type));
    if (!entity.transient && has_literal(field.type) && random_.chance(15)) field.has_default = true;
    entity.fields.push_back(std::move(field));
  }
  if (entity.transient) {
    FieldPlan field;
    field.type = model::scalar(TypeKind::Timestamp);
    field.name = name("at");
    entity.fields.push_back(std::move(field));
  }
}

void Generator::make_references(std::size_t index) {
  const std::size_t targets = entities_.size() - (entities_.back().transient ? 1 : 0);
  if (targets == 0) return;
  const auto add = [&](Type type, bool owner, unsigned inverse) {
    FieldPlan field;
    field.type = std::move(type);
    field.owner = owner;
    field.name = name(prefix(field.type));
    if (random_.chance(inverse)) field.inverse = name("back");
    entities_[index].fields.push_back(std::move(field));
  };
  if (entities_[index].transient) {
    add(reference_to(random_.below(index)), true, 100);
    if (random_.chance(40)) add(reference_to(random_.below(index)), random_.chance(30), 60);
    return;
  }
  if (random_.chance(65)) {
    Type type = reference_to(random_.below(targets));
    type.optional = random_.chance(25);
    add(std::move(type), false, 75);
  }
  if (index > 0 && with("owners") && random_.chance(25)) add(reference_to(random_.below(index)), true, 75);
  if (with("owners") && random_.chance(7)) add(optional_of(reference_to(index)), true, 75);
  if (random_.chance(20)) add(optional_of(reference_to(index)), false, 75);
  if (random_.chance(25)) add(model::collection_of(TypeKind::Set, reference_to(random_.below(targets))), false, 65);
  if (random_.chance(10)) add(model::collection_of(TypeKind::List, reference_to(random_.below(targets))), false, 65);
  if (random_.chance(10)) {
    if (random_.chance(50))
      add(map_of(reference_to(random_.below(targets)), scalar_type(false)), false, 65);
    else
      add(map_of(scalar_type(true), reference_to(random_.below(targets))), false, 65);
  }
  if (with("symmetric") && random_.chance(9)) {
    add(model::collection_of(TypeKind::Set, reference_to(index)), false, 0);
    FieldPlan& field = entities_[index].fields.back();
    field.symmetric = true;
    field.inverse = field.name;
  }
}

std::string Generator::default_of(const Type& type) {
  if (type.is_collection() && random_.chance(50)) return "{}";
  return sample(type, true).literal;
}

void Generator::finish_entity(std::size_t index) {
  EntityPlan& entity = entities_[index];
  for (const FieldPlan& field : entity.fields) {
    if (field.inverse.empty() || field.symmetric) continue;
    const Type* to = &field.type;
    if (to->is_collection())
      to = to->kind == TypeKind::Map && to->arguments[0].kind == TypeKind::Reference ? to->arguments.data()
                                                                                     : &to->arguments.back();
    entities_[to->id].inverses.push_back({field.inverse, index});
  }
  Entity out;
  out.name = entity.name;
  out.transient = entity.transient;
  for (const FieldPlan& field : entity.fields)
    out.fields.push_back(written(field, type_text(field.type),
                                 field.has_default ? default_of(field.type) : std::string(),
                                 field.key && entity.key.size() == 1));
  if (entity.key.size() > 1)
    for (const std::size_t part : entity.key) out.key.push_back(entity.fields[part].name);
  if (!entity.transient) {
    if (random_.chance(15)) {
      const std::string condition = own_condition(entity);
      if (!condition.empty()) out.require.push_back(condition);
    }
    if (with("ttl") && random_.chance(12)) {
      out.ttl = random_.chance(50) ? "ttl 2 hours" : "ttl 1 day";
      for (const FieldPlan& field : entity.fields)
        if ((field.type.kind == TypeKind::Timestamp || field.type.kind == TypeKind::Date) && random_.chance(70)) {
          out.ttl += " from " + field.name;
          break;
        }
    }
  }
  out_.entities.push_back(std::move(out));
}

// A condition that an instance mostly meets.
std::string Generator::own_condition(const EntityPlan& entity) {
  std::vector<const FieldPlan*> fields;
  for (const FieldPlan& field : entity.fields)
    if (!field.key) fields.push_back(&field);
  if (fields.empty()) return {};
  const FieldPlan& field = *random_.pick(fields);
  if (field.type.is_collection()) return fmt::format("count({}) <= 2", field.name);
  if (field.type.optional && random_.chance(50)) return fmt::format("{} is absent or true", field.name);
  switch (field.type.kind) {
    case TypeKind::Int:
    case TypeKind::Decimal:
    case TypeKind::Float:
      return fmt::format("not {} < 0", field.name);
    case TypeKind::Text:
      return fmt::format("{} != \"\"", field.name);
    case TypeKind::Json:
      return {};
    case TypeKind::Bool:
      return fmt::format("{} or not {}", field.name, field.name);
    default:
      if (!ordered(field.type) || !has_literal(field.type)) return {};
      return fmt::format("{} {} {}", field.name, random_.chance(50) ? "!=" : ">=", literal(field.type));
  }
}

bool Generator::has_literal(const Type& type) const {
  switch (type.kind) {
    case TypeKind::Value:
      return false;  // its literal stands in commands only
    case TypeKind::List:
    case TypeKind::Set:
      return type.element().kind != TypeKind::Reference && has_literal(type.element());
    case TypeKind::Map:
      // `{ true: 1 }` is not read as a map.
      return type.arguments[0].kind != TypeKind::Reference && type.arguments[1].kind != TypeKind::Reference &&
             type.arguments[0].kind != TypeKind::Bool && has_literal(type.arguments[0]) &&
             has_literal(type.arguments[1]);
    default:
      return true;
  }
}

Sample Generator::scalar_sample(const Type& type) {
  const auto quoted = [](const char* type_name, const std::string& text) {
    return Sample{fmt::format("{} \"{}\"", type_name, text), text};
  };
  switch (type.kind) {
    case TypeKind::Bool: {
      const bool value = random_.chance(50);
      return {value ? "true" : "false", value};
    }
    case TypeKind::Int: {
      if (overflow_ && random_.chance(18)) {
        const std::int64_t large = random_.chance(70) ? INT64_MAX : INT64_MIN + 1;
        return {std::to_string(large), large};
      }
      const std::int64_t value = random_.chance(6) ? -1 : static_cast<std::int64_t>(random_.below(4));
      return {std::to_string(value), value};
    }
    case TypeKind::Float: {
      static const std::vector<std::pair<const char*, double>> values = {{"0.5", 0.5}, {"0", 0.0},   {"-1.5", -1.5},
                                                                         {"2", 2.0},   {"0.1", 0.1}, {"3.25", 3.25}};
      if (overflow_ && random_.chance(10)) return {"float \"1e308\"", 1e308};
      const auto& [literal, number] = skewed(values);
      return {literal, number};
    }
    case TypeKind::Decimal: {
      static const std::vector<std::string> values = {"0", "1", "1.5", "-2.25", "2", "0.1", "10"};
      if (overflow_ && random_.chance(10)) {
        const std::string large = "9999999999999999999999999999999999";
        return {large, large};
      }
      const std::string& value = skewed(values);
      return {value, value};
    }
    case TypeKind::Text: {
      static const std::vector<std::string> values = {"a", "b", "red", "blue sky", "Red-Straße 7", "ab", ""};
      std::string value = skewed(values);
      if (type.max_length > 0 && !random_.chance(4)) {
        static const std::vector<std::string> short_values = {"a", "b", "red", "ab"};
        value = skewed(short_values);
      }
      return {fmt::format("\"{}\"", value), value};
    }
    case TypeKind::Bytes: {
      static const std::vector<std::string> values = {"AA==", "AQ==", "//8=", "", "AQI="};
      return quoted("bytes", skewed(values));
    }
    case TypeKind::Timestamp: {
      static const std::vector<std::string> values = {"2025-12-28T00:00:00.000Z", "2025-12-28T00:59:59.999Z",
                                                      "2025-12-28T01:00:00.000Z", "2025-12-28T23:30:00.000Z",
                                                      "2025-12-29T00:00:00.000Z", "2025-12-31T23:59:59.999Z",
                                                      "2026-01-01T00:00:00.000Z", "2026-01-01T12:34:56.789Z"};
      return quoted("timestamp", skewed(values));
    }
    case TypeKind::Date: {
      static const std::vector<std::string> values = {"2025-12-27", "2025-12-28", "2025-12-29", "2026-01-01"};
      return quoted("date", skewed(values));
    }
    case TypeKind::Uuid: {
      static const std::vector<std::string> values = {"00000000-0000-4000-8000-000000000001",
                                                      "00000000-0000-4000-8000-000000000002",
                                                      "ffffffff-0000-4000-8000-000000000003"};
      return quoted("uuid", skewed(values));
    }
    case TypeKind::TimeUuid: {
      // The one with the smaller bytes has the later time.
      static const std::vector<std::string> values = {"00000001-0001-11f0-8000-000000000001",
                                                      "ffffffff-0000-11f0-8000-000000000001",
                                                      "00000001-0001-11f0-8000-000000000002"};
      return quoted("timeuuid", skewed(values));
    }
    case TypeKind::Inet: {
      static const std::vector<std::string> values = {"10.0.0.1", "192.168.0.1", "::1", "::ffff:10.0.0.1"};
      return quoted("inet", skewed(values));
    }
    case TypeKind::Json: {
      static const std::vector<std::string> values = {"1", R"("x")", R"({"a":[1,null]})", "[]"};
      const std::string& value = skewed(values);
      std::string literal;
      for (const char c : value) {
        if (c == '"') literal += '\\';
        literal += c;
      }
      return {fmt::format("json \"{}\"", literal), Json::parse(value)};
    }
    case TypeKind::Enumeration: {
      const std::string& value = skewed(type.names);
      return {fmt::format("\"{}\"", value), value};
    }
    default:
      return {"0", 0};
  }
}

// A key as it may be asked for: mostly one that is there.
Sample Generator::reference_sample(std::size_t index) {
  Sample out = fresh_key(index);
  const std::vector<Json>& live = live_[index];
  if (!live.empty() && random_.chance(85)) out.json = random_.pick(live);
  return out;
}

// Any key of the entity.
Sample Generator::fresh_key(std::size_t index) {
  const EntityPlan& entity = entities_[index];
  if (entity.hidden_key) return scalar_sample(model::scalar(TypeKind::TimeUuid));
  const auto part = [&](std::size_t field) {
    const FieldPlan& key = entity.fields[field];
    if (key.type.kind == TypeKind::Reference) return reference_sample(key.type.id);
    Sample out = scalar_sample(key.type);
    // An empty key is refused, and an error of the text.
    while (out.literal == "\"\"" || out.literal == "bytes \"\"") out = scalar_sample(key.type);
    return out;
  };
  if (entity.key.size() == 1) return part(entity.key[0]);
  Sample out;
  out.json = Json::array();
  for (const std::size_t field : entity.key) {
    const Sample one = part(field);
    out.literal += (out.literal.empty() ? "" : ", ") + one.literal;
    out.json.push_back(one.json);
  }
  out.literal = entity.name + "[" + out.literal + "]";
  return out;
}

Sample Generator::sample(const Type& type, bool stored) {
  switch (type.kind) {
    case TypeKind::Reference:
      return reference_sample(type.id);
    case TypeKind::Value: {
      Sample out;
      out.json = Json::object();
      for (const FieldPlan& field : values_[type.id].fields) {
        const bool may_lack = field.type.optional || field.has_default || field.type.is_collection();
        if (may_lack && random_.chance(35)) continue;
        if (field.type.optional && random_.chance(15)) {
          out.json[field.name] = nullptr;
          out.literal += fmt::format("{}{}: absent", out.literal.empty() ? "" : ", ", field.name);
          continue;
        }
        const Sample inner = sample(field.type, stored);
        out.json[field.name] = inner.json;
        out.literal += fmt::format("{}{}: {}", out.literal.empty() ? "" : ", ", field.name, inner.literal);
      }
      out.literal = "{ " + out.literal + " }";
      return out;
    }
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map: {
      Sample out;
      out.json = Json::array();
      const std::size_t count = random_.weighted({15, 35, 30, 20});
      for (std::size_t i = 0; i < count; ++i) {
        const Sample inner = sample(type.arguments.front(), stored);
        if (type.kind == TypeKind::Map) {
          const Sample value = sample(type.arguments.back(), stored);
          out.json.push_back(Json::array({inner.json, value.json}));
          out.literal += fmt::format("{}{}: {}", out.literal.empty() ? "" : ", ", inner.literal, value.literal);
        } else {
          out.json.push_back(inner.json);
          out.literal += (out.literal.empty() ? "" : ", ") + inner.literal;
        }
      }
      out.literal = type.kind == TypeKind::Map ? "{ " + out.literal + " }" : "[" + out.literal + "]";
      return out;
    }
    default: {
      Sample out = scalar_sample(type);
      // A literal that is too long for its field is an error of the text.
      while (stored && type.max_length > 0 && out.literal.size() > type.max_length + 2 && type.kind == TypeKind::Text)
        out = scalar_sample(type);
      return out;
    }
  }
}

Json Generator::json_of(const Type& type, bool stored) {
  if (type.optional && random_.chance(15)) return nullptr;
  return sample(type, stored).json;
}

Json Generator::wrong_json(const Type& type) {
  if (random_.chance(25)) return nullptr;
  switch (type.kind) {
    case TypeKind::Text:
    case TypeKind::Bytes:
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
    case TypeKind::Decimal:
    case TypeKind::Bool:
      return 17;
    case TypeKind::Enumeration:
      return "none of them";
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
      return "no collection";
    case TypeKind::Reference:
      return {{"no", "key"}};
    case TypeKind::Json:
      return nullptr;
    default:
      return "no number";
  }
}

}  // namespace noam::tests::property
