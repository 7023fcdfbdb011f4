#include "noam/targets/mongodb/schema.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "noam/schemas/keys.h"
#include "noam/targets/mongodb/dialect.h"
#include "noam/targets/mongodb/values.h"

namespace noam::targets::mongodb {

using documents::Kind;
using documents::Layout;
using documents::Part;
using documents::Placed;
using documents::Shape;
using documents::version_field;
using model::TypeKind;

namespace {

Js object_of(Js required, Js properties) {
  Js out = Js::object();
  out.add("bsonType", string_literal("object"));
  if (!required.empty()) out.add("required", std::move(required));
  out.add("properties", std::move(properties));
  return out;
}

class KindSchema {
 public:
  KindSchema(const Layout& layout, const Kind& kind) : layout_(layout), kind_(kind) {}

  [[nodiscard]] Js run() {
    properties_.add("_id", id());
    required_.add(string_literal("_id"));
    if (kind_.simple()) {
      properties_.add(kind_.id[0].name, schema_of(layout_, kind_.id[0].column->type));
      required_.add(string_literal(kind_.id[0].name));
    }
    for (const Part& part : kind_.id)
      if (!part.order.empty()) need(part.order, text());
    for (const Placed& placed : kind_.families) add(placed);
    if (kind_.versioned) need(version_field, version());
    for (const std::string& name : needed()) required_.add(string_literal(name));
    Js out = object_of(std::move(required_), std::move(properties_));
    if (!patterns_.empty()) out.add("patternProperties", std::move(patterns_));
    return out;
  }

 private:
  static Js text() { return std::move(Js::object().add("bsonType", string_literal("string"))); }
  [[nodiscard]] Js version() const { return schema_of(layout_, model::scalar(TypeKind::Int)); }

  void need(const std::string& name, Js schema) {
    required_.add(string_literal(name));
    property(name, std::move(schema));
  }

  // Families that are told apart by a constant may have fields of one name and type.
  void property(const std::string& name, Js schema) {
    if (known_.insert(name).second) properties_.add(name, std::move(schema));
  }

  [[nodiscard]] Js id() const {
    if (kind_.simple()) return schema_of(layout_, kind_.id[0].column->type);
    Js required = Js::array();
    Js parts = Js::object();
    for (const Part& part : kind_.id) {
      required.add(string_literal(part.name));
      parts.add(part.name, key_schema_of(layout_, part.column->type));
    }
    return object_of(std::move(required), std::move(parts));
  }

  void add(const Placed& placed) {
    switch (placed.shape) {
      case Shape::Fields:
      case Shape::Document:
        for (const auto& [name, column] : placed.columns()) property(name, schema_of(layout_, *column));
        break;
      case Shape::Subdocument:
        property(placed.name, columns(placed, {}));
        break;
      case Shape::Elements: {
        Js schema = Js::object();
        schema.add("bsonType", string_literal("array")).add("items", element(placed));
        if (placed.family->elements == TypeKind::Set) schema.add("uniqueItems", "true");
        property(placed.name, std::move(schema));
        break;
      }
      case Shape::Flat:
        patterns_.add(fmt::format("^{}\\[", placed.name), element(placed));
        break;
      case Shape::Embedded: {
        Js schema = Js::object();
        schema.add("bsonType", string_literal("array")).add("items", columns(placed, placed.key));
        property(placed.name, std::move(schema));
        break;
      }
    }
  }

  [[nodiscard]] Js element(const Placed& placed) const {
    const FamilyOutline& family = *placed.family;
    if (family.elements == TypeKind::List) return key_schema_of(layout_, family.values[0].type);
    if (family.elements == TypeKind::Set) return key_schema_of(layout_, family.key[0].type);
    return object_of(Js::array().add(string_literal("key")).add(string_literal("value")),
                     Js::object()
                         .add("key", key_schema_of(layout_, family.key[0].type))
                         .add("value", key_schema_of(layout_, family.values[0].type)));
  }

  // Of an entry inside a document. Where several families share an array, what one of them asks for is not asked of
  // all.
  [[nodiscard]] Js columns(const Placed& placed, const std::vector<Part>& key) const {
    Js required = Js::array();
    Js properties = Js::object();
    for (const Part& part : key) {
      required.add(string_literal(part.name));
      properties.add(part.name, key_schema_of(layout_, part.column->type));
      if (!part.order.empty()) properties.add(part.order, text());
    }
    const bool shared = std::count_if(kind_.families.begin(), kind_.families.end(),
                                      [&](const Placed& other) { return other.name == placed.name; }) > 1;
    for (const auto& [name, column] : placed.columns()) {
      if (!column->type.optional && !shared) required.add(string_literal(name));
      properties.add(name, schema_of(layout_, *column));
    }
    if (placed.versioned) properties.add(version_field, version());
    return object_of(std::move(required), std::move(properties));
  }

  // What no document lacks: what lives in it, or else what each of its families has.
  [[nodiscard]] std::vector<std::string> needed() const {
    std::vector<std::string> out;
    bool first = true;
    for (const Placed& placed : kind_.families) {
      if (kind_.versioned && !placed.family->base) continue;
      const std::vector<std::string> fields = always(placed);
      if (first || kind_.versioned)
        out.insert(out.end(), fields.begin(), fields.end());
      else
        out.erase(std::remove_if(out.begin(), out.end(),
                                 [&](const std::string& name) {
                                   return std::find(fields.begin(), fields.end(), name) == fields.end();
                                 }),
                  out.end());
      first = false;
    }
    return out;
  }

  [[nodiscard]] std::vector<std::string> always(const Placed& placed) const {
    if (placed.shape == Shape::Flat || placed.shape == Shape::Embedded) return {};
    if (placed.shape == Shape::Elements && !kind_.versioned) return {};
    if (placed.shape == Shape::Elements) return {placed.name};
    // Where there are others beside it, a document may be there without this entry: a copy may have no row, and of an
    // aggregate an entry that has empty collections alone is not there.
    const auto& values = placed.family->values;
    const bool there = placed.family->existence || kind_.families.size() == 1 ||
                       (placed.family->base && std::any_of(values.begin(), values.end(), always_there));
    if (!there) return {};
    if (placed.shape == Shape::Subdocument) return {placed.name};
    std::vector<std::string> out;
    for (const auto& [name, column] : placed.columns())
      if (!column->type.optional) out.push_back(name);
    return out;
  }

  const Layout& layout_;
  const Kind& kind_;
  Js required_ = Js::array();
  Js properties_ = Js::object();
  Js patterns_ = Js::object();
  std::set<std::string> known_;
};

}  // namespace

Js index_keys(const Kind& kind) {
  Js keys = Js::object();
  if (!kind.entries) return keys;
  for (const Part& part : kind.id) keys.add(sort_field(part), part.column->descending ? "-1" : "1");
  return keys;
}

std::string schema_script(const Outline& outline, const Layout& layout) {
  std::string out = fmt::format(
      "// The collections and indexes of the model `{0}` under the design `{1}`. It may be run again:\n"
      "//   mongosh \"mongodb://localhost/{0}\" schema.js\n\n"
      "function collection(name, schema) {{\n"
      "  const options = {{ validator: {{ $jsonSchema: schema }} }};\n"
      "  if (!db.getCollectionNames().includes(name)) db.createCollection(name, options);\n"
      "  else db.runCommand({{ collMod: name, ...options }});\n"
      "}}\n",
      outline.model().name, outline.program->design.name);
  for (const Kind& kind : layout.kinds()) {
    const std::string begin = fmt::format("collection({}, ", string_literal(kind.name));
    out += fmt::format("\n{}{});\n", begin, KindSchema(layout, kind).run().print(begin.size() + 2, 0));
    if (Js keys = index_keys(kind); !keys.empty())
      out += print_calls(kind.name,
                         {{"createIndex", {std::move(keys), std::move(Js::object().add("name", "\"in_order\""))}}}) +
             ";\n";
  }
  return out;
}

}  // namespace noam::targets::mongodb
