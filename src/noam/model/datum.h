#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "noam/model/decimal.h"
#include "noam/model/expression.h"
#include "noam/model/type.h"

namespace noam::model {

// One value of a database: a scalar, or something made of them. Its type says what it is:
//
//   any optional      absent
//   bool              bool
//   int               int64
//   timestamp, date   int64: milliseconds, days since 1970
//   float             double, finite, never -0
//   decimal           Decimal
//   text, enumeration string, UTF-8
//   json              string, JSON text
//   bytes             string
//   uuid              string of 16 bytes
//   timeuuid          string of 16 bytes, its time first, so that bytes sort as timeuuids do (see to_sortable)
//   inet              string: '\4' and 4 bytes, or '\6' and 16 bytes
//   reference         the key of its target: the part itself where it has one part, else the list of its parts
//   value             the list of its fields
//   list              the list of its elements
//   set               the list of its elements, ascending, each once
//   map               the list of its entries, each a list of key and value, keys ascending, each once
//   row               the list of its columns; rows: a list of them
//
// So the order of values of one type needs no type: absent first, false before true, numbers as numbers, strings as
// unsigned bytes, lists element by element.
class Datum {
 public:
  using List = std::vector<Datum>;

  Datum() = default;  // absent
  // Not from pointers, which would be bools.
  Datum(bool value) : held_(value) {}                            // NOLINT: values as they are written
  Datum(std::int64_t value) : held_(value) {}                    // NOLINT
  Datum(int value) : held_(static_cast<std::int64_t>(value)) {}  // NOLINT
  Datum(double value) : held_(value == 0 ? 0.0 : value) {}       // NOLINT
  Datum(Decimal value) : held_(std::move(value)) {}              // NOLINT
  Datum(std::string value) : held_(std::move(value)) {}          // NOLINT
  Datum(const char* value) : held_(std::string(value)) {}        // NOLINT
  Datum(List value) : held_(std::move(value)) {}                 // NOLINT

  [[nodiscard]] bool absent() const { return held_.index() == 0; }
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(held_); }
  [[nodiscard]] bool is_int() const { return std::holds_alternative<std::int64_t>(held_); }
  [[nodiscard]] bool is_double() const { return std::holds_alternative<double>(held_); }
  [[nodiscard]] bool is_decimal() const { return std::holds_alternative<Decimal>(held_); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(held_); }
  [[nodiscard]] bool is_list() const { return std::holds_alternative<List>(held_); }

  // Each only where it is one.
  [[nodiscard]] bool as_bool() const { return std::get<bool>(held_); }
  [[nodiscard]] std::int64_t as_int() const { return std::get<std::int64_t>(held_); }
  [[nodiscard]] double as_double() const { return std::get<double>(held_); }
  [[nodiscard]] const Decimal& as_decimal() const { return std::get<Decimal>(held_); }
  [[nodiscard]] const std::string& as_string() const { return std::get<std::string>(held_); }
  [[nodiscard]] const List& as_list() const { return std::get<List>(held_); }
  [[nodiscard]] List& as_list() { return std::get<List>(held_); }

  // A predicate: absent is false.
  [[nodiscard]] bool holds() const { return is_bool() && as_bool(); }

  friend bool operator==(const Datum& a, const Datum& b);
  friend std::strong_ordering operator<=>(const Datum& a, const Datum& b);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, Decimal, std::string, List> held_;
};

std::size_t hash_value(const Datum& datum);

// A constant of a checked model, and back (scalars only).
Datum from_literal(const Type& type, const Literal& literal);
Literal to_literal(const Type& type, const Datum& datum);

// The 16 raw bytes of a timeuuid (version 1) with its time first, and back.
std::string to_sortable(std::string_view raw);
std::string from_sortable(std::string_view sortable);
// Raw address bytes with their family before them, and back.
std::string to_inet(std::string_view raw);
std::string from_inet(std::string_view inet);

// A set or a map of elements or entries in any order. Of equal elements one is kept, of equal keys the last.
Datum make_set(Datum::List elements);
Datum make_map(Datum::List entries);

// What a field has that nothing was given for: absent, or an empty collection.
Datum nothing(const Type& type);

// About how many bytes it takes, for figures and limits: strings by their length, numbers 8.
std::size_t bytes_of(const Datum& datum);

}  // namespace noam::model
