#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace noam::model {

enum class EntityId : std::uint32_t {};
enum class ValueId : std::uint32_t {};

enum class TypeKind : std::uint8_t {
  Unknown,  // an error was reported; fits everything
  Bool,
  Int,
  Float,
  Decimal,
  Text,
  Bytes,
  Timestamp,
  Date,
  Uuid,
  TimeUuid,
  Inet,
  Json,
  Enumeration,
  Reference,  // the key of an entity
  Value,
  List,
  Set,
  Map,
  Duration,  // in expressions only
  Row,       // of a nested select with `limit 1`, or of a refreshed query
  Rows,      // of a nested select
};

struct Type {
  TypeKind kind = TypeKind::Unknown;
  bool optional = false;           // may be absent
  std::uint32_t max_length = 0;    // text(8): code points; bytes(8): bytes; 0: no limit
  std::uint32_t id = 0;            // Reference: EntityId; Value: ValueId
  std::vector<std::string> names;  // Enumeration: its texts; Row, Rows: its columns
  std::vector<Type> arguments;     // List, Set: element; Map: key, value; Row, Rows: types of the columns

  bool operator==(const Type&) const = default;

  [[nodiscard]] EntityId entity() const { return static_cast<EntityId>(id); }
  [[nodiscard]] ValueId value() const { return static_cast<ValueId>(id); }
  [[nodiscard]] bool known() const { return kind != TypeKind::Unknown; }
  [[nodiscard]] bool is_collection() const {
    return kind == TypeKind::List || kind == TypeKind::Set || kind == TypeKind::Map;
  }
  [[nodiscard]] bool is_number() const {
    return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Decimal;
  }
  // What a variable over it ranges over: the element, or the map's value.
  [[nodiscard]] const Type& element() const { return arguments.back(); }
};

inline Type scalar(TypeKind kind) {
  Type type;
  type.kind = kind;
  return type;
}

inline Type reference(EntityId entity) {
  Type type;
  type.kind = TypeKind::Reference;
  type.id = static_cast<std::uint32_t>(entity);
  return type;
}

inline Type collection_of(TypeKind kind, Type element) {
  Type type;
  type.kind = kind;
  type.arguments.push_back(std::move(element));
  return type;
}

inline Type optional(Type type) {
  type.optional = true;
  return type;
}

}  // namespace noam::model
