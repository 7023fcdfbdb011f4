#include "noam/model/datum_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/base/json_text.h"
#include "noam/model/json_text.h"
#include "noam/model/scalars.h"
#include "noam/model/spot.h"

namespace noam::model {

namespace {

constexpr std::size_t most_key_bytes = 1024;

std::string dumped(const Json& json) { return json.dump(); }

// What was given, as a reason shows it: in full where it is short.
std::string shown(const Json& json) {
  if (json.is_array()) return "an array";
  if (json.is_object()) return "an object";
  return shortened(dumped(json));
}

Refusal refusal(std::string code, const std::string& place, const std::string& reason) {
  return {std::move(code), place.empty() ? reason : fmt::format("{}: {}", place, reason)};
}

std::string member(const std::string& place, const std::string& name) {
  return place.empty() || name.empty() ? place + name : fmt::format("{}.{}", place, name);
}

std::string position(const std::string& place, std::size_t at) { return fmt::format("{}[{}]", place, at); }

const Field& key_field(const Entity& entity, std::size_t part) { return entity.fields[entity.key[part]]; }

// One part of a reference: the reference itself where the key has one part.
const Datum& key_part(const Entity& entity, const Datum& key, std::size_t part) {
  return entity.key.size() == 1 ? key : key.as_list()[part];
}

class JsonReader {
 public:
  explicit JsonReader(const Model& model) : model_(model) {}

  DatumOrRefusal read(const Type& type, const Json& json, const std::string& place) {
    if (json.is_null()) {
      if (type.optional) return Datum();
      return refusal("required", place, "a value is required");
    }
    switch (type.kind) {
      case TypeKind::Reference:
        return read_reference(type, json, place);
      case TypeKind::Value:
        return read_value(type, json, place);
      case TypeKind::List:
      case TypeKind::Set:
        return read_elements(type, json, place);
      case TypeKind::Map:
        return read_map(type, json, place);
      case TypeKind::Row:
        return read_row(type, json, place);
      case TypeKind::Rows:
        return read_rows(type, json, place);
      default: {
        auto datum = read_scalar(type, json);
        if (datum.absent()) return unexpected(type, json, place);
        return datum;
      }
    }
  }

 private:
  [[nodiscard]] Refusal unexpected(const Type& type, const Json& json, const std::string& place) const {
    Type required = type;
    required.optional = false;
    return refusal("value", place, fmt::format("expected {}, not {}", to_string(model_, required), shown(json)));
  }

  // Absent where it is none of the type.
  static Datum read_scalar(const Type& type, const Json& json) {
    switch (type.kind) {
      case TypeKind::Bool:
        return json.is_boolean() ? Datum(json.get<bool>()) : Datum();
      case TypeKind::Int:
      case TypeKind::Duration:
        return read_int(json);
      case TypeKind::Float:
        return read_float(json);
      case TypeKind::Decimal:
        if (json.is_number_unsigned()) return Decimal::from_canonical(std::to_string(json.get<std::uint64_t>()));
        if (json.is_number_integer()) return Decimal(json.get<std::int64_t>());
        break;
      case TypeKind::Json:
        return read_json_text(json);
      default:
        break;
    }
    return json.is_string() ? read_string(type, json.text()) : Datum();
  }

  static Datum read_int(const Json& json) {
    if (!json.is_number_integer()) return {};
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > most) return {};
    return json.get<std::int64_t>();
  }

  static Datum read_float(const Json& json) {
    if (!json.is_number()) return {};
    const auto number = json.get<double>();
    return std::isfinite(number) ? Datum(number) : Datum();
  }

  static Datum read_json_text(const Json& json) {
    auto text = json.try_dump();
    return text ? Datum(std::move(*text)) : Datum();
  }

  static Datum read_string(const Type& type, const std::string& text) {
    const auto datum = [](auto&& parsed) { return parsed ? Datum(std::move(*parsed)) : Datum(); };
    switch (type.kind) {
      case TypeKind::Text:
        return is_utf8_text(text) ? Datum(text) : Datum();
      case TypeKind::Enumeration:
        return std::find(type.names.begin(), type.names.end(), text) == type.names.end() ? Datum() : Datum(text);
      case TypeKind::Decimal:
        return datum(Decimal::parse(text));
      case TypeKind::Bytes:
        return datum(parse_base64(text));
      case TypeKind::Timestamp:
        return datum(parse_timestamp(text));
      case TypeKind::Date:
        return datum(parse_date(text));
      case TypeKind::Uuid:
        return datum(parse_uuid(text));
      case TypeKind::TimeUuid: {
        const auto raw = parse_uuid(text);
        return raw && is_timeuuid(*raw) ? Datum(to_sortable(*raw)) : Datum();
      }
      case TypeKind::Inet: {
        const auto raw = parse_inet(text);
        return raw ? Datum(to_inet(*raw)) : Datum();
      }
      default:
        return {};
    }
  }

  DatumOrRefusal read_reference(const Type& type, const Json& json, const std::string& place) {
    const Entity& entity = model_.entity(type.entity());
    if (entity.key.size() == 1) return read(key_field(entity, 0).type, json, place);
    if (!json.is_array()) return unexpected(type, json, place);
    if (json.size() != entity.key.size()) {
      return refusal("value", place,
                     fmt::format("a key of {} has {} parts, not {}", entity.name, entity.key.size(), json.size()));
    }
    Datum::List parts;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const Field& field = key_field(entity, i);
      auto part = read(field.type, json[i], member(place, field.name));
      if (!part) return part;
      parts.push_back(std::move(*part));
    }
    return Datum(std::move(parts));
  }

  DatumOrRefusal read_value(const Type& type, const Json& json, const std::string& place) {
    if (!json.is_object()) return unexpected(type, json, place);
    const Value& value = model_.value(type.value());
    for (const auto& [name, given] : json.items()) {
      const auto named = [&name = name](const Field& field) { return field.name == name; };
      if (std::none_of(value.fields.begin(), value.fields.end(), named)) {
        return refusal("value", place, fmt::format("{} has no `{}`", value.name, shortened(name)));
      }
    }
    Datum::List fields;
    for (const Field& field : value.fields) {
      const auto given = json.find(field.name);
      if (given == json.end()) {
        fields.push_back(initial_value(field));
        if (fields.back().absent() && !field.type.optional) {
          return refusal("required", member(place, field.name), "a value is required");
        }
        continue;
      }
      auto datum = read(field.type, *given, member(place, field.name));
      if (!datum) return datum;
      fields.push_back(std::move(*datum));
    }
    return Datum(std::move(fields));
  }

  DatumOrRefusal read_elements(const Type& type, const Json& json, const std::string& place) {
    if (!json.is_array()) return unexpected(type, json, place);
    Datum::List elements;
    for (std::size_t i = 0; i < json.size(); ++i) {
      auto element = read(type.element(), json[i], position(place, i));
      if (!element) return element;
      elements.push_back(std::move(*element));
    }
    return type.kind == TypeKind::Set ? make_set(std::move(elements)) : Datum(std::move(elements));
  }

  DatumOrRefusal read_map(const Type& type, const Json& json, const std::string& place) {
    Datum::List entries;
    if (json.is_object()) {
      for (const auto& [name, value] : json.items()) {
        auto entry = read_entry(type, name, value, fmt::format("{}[{}]", place, shortened(dumped(name))));
        if (!entry) return entry;
        entries.push_back(std::move(*entry));
      }
    } else if (json.is_array()) {
      for (std::size_t i = 0; i < json.size(); ++i) {
        if (!json[i].is_array() || json[i].size() != 2) {
          return refusal("value", position(place, i), fmt::format("expected [key, value], not {}", shown(json[i])));
        }
        auto entry = read_entry(type, json[i][0], json[i][1], position(place, i));
        if (!entry) return entry;
        entries.push_back(std::move(*entry));
      }
    } else {
      return unexpected(type, json, place);
    }
    return make_map(std::move(entries));
  }

  DatumOrRefusal read_entry(const Type& type, const Json& key, const Json& value, const std::string& place) {
    auto key_datum = read(type.arguments[0], key, place);
    if (!key_datum) return key_datum;
    auto value_datum = read(type.arguments[1], value, place);
    if (!value_datum) return value_datum;
    return Datum(Datum::List{std::move(*key_datum), std::move(*value_datum)});
  }

  DatumOrRefusal read_row(const Type& type, const Json& json, const std::string& place) {
    if (!json.is_object()) return unexpected(type, json, place);
    for (const auto& [name, given] : json.items()) {
      if (std::find(type.names.begin(), type.names.end(), name) == type.names.end()) {
        return refusal("value", place, fmt::format("the row has no `{}`", shortened(name)));
      }
    }
    Datum::List columns;
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      const auto given = json.find(type.names[i]);
      if (given == json.end() || given->is_null()) {
        columns.push_back(nothing(type.arguments[i]));
        continue;
      }
      auto column = read(type.arguments[i], *given, member(place, type.names[i]));
      if (!column) return column;
      columns.push_back(std::move(*column));
    }
    return Datum(std::move(columns));
  }

  DatumOrRefusal read_rows(const Type& type, const Json& json, const std::string& place) {
    if (!json.is_array()) return unexpected(type, json, place);
    Datum::List rows;
    for (std::size_t i = 0; i < json.size(); ++i) {
      auto row = read_row(type, json[i], position(place, i));
      if (!row) return row;
      rows.push_back(std::move(*row));
    }
    return Datum(std::move(rows));
  }

  const Model& model_;
};

Json write_scalar(const Type& type, const Datum& datum) {
  switch (type.kind) {
    case TypeKind::Bool:
      return datum.as_bool();
    case TypeKind::Int:
    case TypeKind::Duration:
      return datum.as_int();
    case TypeKind::Float:
      return datum.as_double();
    case TypeKind::Decimal:
      return datum.as_decimal().text();
    case TypeKind::Text:
    case TypeKind::Enumeration:
      return datum.as_string();
    case TypeKind::Bytes:
      return print_base64(datum.as_string());
    case TypeKind::Timestamp:
      return print_timestamp(datum.as_int());
    case TypeKind::Date:
      return print_date(datum.as_int());
    case TypeKind::Uuid:
      return print_uuid(datum.as_string());
    case TypeKind::TimeUuid:
      return print_uuid(from_sortable(datum.as_string()));
    case TypeKind::Inet:
      return print_inet(from_inet(datum.as_string()));
    case TypeKind::Json: {
      auto read = parse_json(datum.as_string());
      check(read.has_value(), "a json holds JSON");
      return std::move(read->json);
    }
    default:
      fail_check("what is written has a type");
  }
}

Json write_row(const Model& model, const Type& type, const Datum& row) {
  auto out = Json::object();
  for (std::size_t i = 0; i < type.names.size(); ++i) {
    out[type.names[i]] = write_json(model, type.arguments[i], row.as_list()[i]);
  }
  return out;
}

Datum constant_value(const Expr& expr) {
  if (expr.kind == ExprKind::Constant) return from_literal(expr.type, expr.constant);
  Datum::List operands;
  for (const Expr& operand : expr.operands) operands.push_back(constant_value(operand));
  switch (expr.kind) {
    case ExprKind::List:
      return expr.type.kind == TypeKind::Set ? make_set(std::move(operands)) : Datum(std::move(operands));
    case ExprKind::Map: {
      Datum::List entries;
      for (std::size_t i = 0; i + 1 < operands.size(); i += 2) {
        entries.emplace_back(Datum::List{std::move(operands[i]), std::move(operands[i + 1])});
      }
      return make_map(std::move(entries));
    }
    case ExprKind::Record:
      return operands;
    case ExprKind::Instance:
      return operands.size() == 1 ? std::move(operands.front()) : Datum(std::move(operands));
    default:
      fail_check("a default is a constant");
  }
}

// Asks the limits and presence of everything inside a value, then whether its references are keys.
class Storability {
 public:
  explicit Storability(const Model& model) : model_(model) {}

  std::optional<Refusal> limits(const Type& type, const Datum& datum, const Spot& place) const {
    if (datum.absent()) {
      if (type.optional) return std::nullopt;
      return refusal("required", place.text(), "a value is required");
    }
    switch (type.kind) {
      case TypeKind::Text:
      case TypeKind::Bytes:
        return length(type, datum.as_string(), place);
      case TypeKind::Enumeration:
        if (std::find(type.names.begin(), type.names.end(), datum.as_string()) != type.names.end()) return std::nullopt;
        return refusal("value", place.text(),
                       fmt::format("expected {}, not {}", to_string(model_, scalar_type(type)),
                                   shown(Json(datum.as_string()))));
      default:
        return inside(type, datum, place,
                      [this](const Type& part, const Datum& held, const Spot& at) { return limits(part, held, at); });
    }
  }

  std::optional<Refusal> keys(const Type& type, const Datum& datum, const Spot& place) const {
    if (datum.absent()) return std::nullopt;
    if (type.kind == TypeKind::Reference) return key(type, datum, place);
    return inside(type, datum, place,
                  [this](const Type& part, const Datum& held, const Spot& at) { return keys(part, held, at); });
  }

 private:
  static Type scalar_type(Type type) {
    type.optional = false;
    return type;
  }

  static std::optional<Refusal> length(const Type& type, std::string_view held, const Spot& place) {
    if (type.max_length == 0) return std::nullopt;
    const bool text = type.kind == TypeKind::Text;
    const std::size_t length = text ? code_points(held) : held.size();
    if (length <= type.max_length) return std::nullopt;
    return refusal("value", place.text(),
                   fmt::format("{} {}, at most {} fit", length, text ? "characters" : "bytes", type.max_length));
  }

  // Asks each part of what is made of parts. Of several that are refused, one whose value is wrong counts more than one
  // that is missing.
  template <typename Ask>
  std::optional<Refusal> inside(const Type& type, const Datum& datum, const Spot& place, const Ask& ask) const {
    std::optional<Refusal> worst;
    const auto part = [&](const Type& of, const Datum& held, const Spot& at) {
      if (worst && worst->code == "value") return;
      auto refused = ask(of, held, at);
      if (refused && (!worst || refused->code == "value")) worst = std::move(refused);
    };
    switch (type.kind) {
      case TypeKind::Reference: {
        const Entity& entity = model_.entity(type.entity());
        for (std::size_t i = 0; i < entity.key.size(); ++i) {
          const Field& field = key_field(entity, i);
          part(field.type, key_part(entity, datum, i), entity.key.size() == 1 ? place : Spot(place, field.name));
        }
        break;
      }
      case TypeKind::Value: {
        const auto& fields = model_.fields(type);
        for (std::size_t i = 0; i < fields.size(); ++i)
          part(fields[i].type, datum.as_list()[i], Spot(place, fields[i].name));
        break;
      }
      case TypeKind::List:
      case TypeKind::Set: {
        const auto& elements = datum.as_list();
        for (std::size_t i = 0; i < elements.size(); ++i) part(type.element(), elements[i], Spot(place, i));
        break;
      }
      case TypeKind::Map: {
        const auto& entries = datum.as_list();
        for (std::size_t i = 0; i < entries.size(); ++i)
          for (std::size_t side = 0; side < 2; ++side)
            part(type.arguments[side], entries[i].as_list()[side], Spot(place, i));
        break;
      }
      default:
        break;
    }
    return worst;
  }

  std::optional<Refusal> key(const Type& type, const Datum& datum, const Spot& place) const {
    if (auto refused = not_empty(type, datum, place)) return refused;
    const std::size_t bytes = key_bytes(model_, type, datum);
    if (bytes <= most_key_bytes) return std::nullopt;
    return refusal("key", place.text(), fmt::format("{} bytes, a key takes at most {}", bytes, most_key_bytes));
  }

  std::optional<Refusal> not_empty(const Type& type, const Datum& datum, const Spot& place) const {
    if (type.kind == TypeKind::Text || type.kind == TypeKind::Bytes || type.kind == TypeKind::Enumeration) {
      if (!datum.as_string().empty()) return std::nullopt;
      return refusal("key", place.text(),
                     fmt::format("a key is never empty {}", type.kind == TypeKind::Bytes ? "bytes" : "text"));
    }
    return inside(type, datum, place,
                  [this](const Type& part, const Datum& held, const Spot& at) { return not_empty(part, held, at); });
  }

  const Model& model_;
};

}  // namespace

DatumOrRefusal read_json(const Model& model, const Type& type, const Json& json, const std::string& name) {
  return JsonReader(model).read(type, json, name);
}

Json write_json(const Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return nullptr;
  switch (type.kind) {
    case TypeKind::Reference: {
      const Entity& entity = model.entity(type.entity());
      if (entity.key.size() == 1) return write_json(model, key_field(entity, 0).type, datum);
      auto out = Json::array();
      for (std::size_t i = 0; i < entity.key.size(); ++i) {
        out.push_back(write_json(model, key_field(entity, i).type, datum.as_list()[i]));
      }
      return out;
    }
    case TypeKind::Value: {
      auto out = Json::object();
      const auto& fields = model.fields(type);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        out[fields[i].name] = write_json(model, fields[i].type, datum.as_list()[i]);
      }
      return out;
    }
    case TypeKind::List:
    case TypeKind::Set: {
      auto out = Json::array();
      for (const Datum& element : datum.as_list()) out.push_back(write_json(model, type.element(), element));
      return out;
    }
    case TypeKind::Map: {
      auto out = Json::array();
      for (const Datum& entry : datum.as_list()) {
        auto pair = Json::array();
        for (std::size_t i = 0; i < 2; ++i) pair.push_back(write_json(model, type.arguments[i], entry.as_list()[i]));
        out.push_back(std::move(pair));
      }
      return out;
    }
    case TypeKind::Row:
      return write_row(model, type, datum);
    case TypeKind::Rows: {
      auto out = Json::array();
      for (const Datum& row : datum.as_list()) out.push_back(write_row(model, type, row));
      return out;
    }
    default:
      return write_scalar(type, datum);
  }
}

Json write_aggregate_json(const Model& model, const Entity& entity, const Datum& fields,
                          const std::vector<std::uint32_t>& without) {
  auto out = Json::object();
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    const Field& field = entity.fields[i];
    if (field.hidden || std::find(without.begin(), without.end(), i) != without.end()) continue;
    out[field.name] = write_json(model, field.type, fields.as_list()[i]);
  }
  return out;
}

Datum initial_value(const Field& field) { return field.initial ? constant_value(*field.initial) : nothing(field.type); }

std::optional<Refusal> storable(const Model& model, const Type& type, const Datum& datum, const std::string& name) {
  const Storability storability(model);
  if (auto refused = storability.limits(type, datum, name)) return refused;
  return storability.keys(type, datum, name);
}

std::optional<Refusal> storable_key(const Model& model, EntityId entity, const Datum& key) {
  const Entity& of = model.entity(entity);
  return storable(model, reference(entity), key, of.key.size() == 1 ? key_field(of, 0).name : std::string());
}

std::size_t key_bytes(const Model& model, const Type& type, const Datum& datum) {
  if (datum.absent()) return 0;
  switch (type.kind) {
    case TypeKind::Bool:
      return 1;
    case TypeKind::Date:
      return 4;
    case TypeKind::Int:
    case TypeKind::Timestamp:
    case TypeKind::Float:
      return 8;
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
      return 16;
    case TypeKind::Inet:
      return 17;
    case TypeKind::Decimal:
      return 20;
    case TypeKind::Reference: {
      const Entity& entity = model.entity(type.entity());
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < entity.key.size(); ++i) {
        bytes += key_bytes(model, key_field(entity, i).type, key_part(entity, datum, i));
      }
      return bytes;
    }
    default:
      return bytes_of(datum);
  }
}

std::string instance_name(const Model& model, EntityId entity, const Datum& key) {
  constexpr std::size_t longest = 200;
  return fmt::format("{} {}", model.entity(entity).name,
                     shortened(dumped(write_json(model, reference(entity), key)), longest));
}

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace noam::model
