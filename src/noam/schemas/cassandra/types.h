#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/model/model.h"
#include "noam/schemas/names.h"

namespace noam::schemas::cassandra {

// Words that no name may be.
extern const std::span<const std::string_view> reserved;

// Names of keyspaces, tables, columns and types: unquoted, so small letters.
NameRules name_rules();
// Of a type of one's own: no type of CQL bears that name.
NameRules type_name_rules();
NameRules keyspace_rules();

// CQL types of the types of a model. Values become types of their own, which must be created first.
class Types {
 public:
  explicit Types(const model::Model& model) : model_(model), namer_(type_name_rules()) {}

  // `frozen`: as a part of a key or of something else.
  std::string name(const model::Type& type, bool frozen = false);
  // The same; `called` names a row that has no name of its own.
  std::string name(const model::Type& type, bool frozen, const std::string& called);
  // `CREATE TYPE …`, in an order in which each finds those it is made of.
  [[nodiscard]] const std::vector<std::string>& created() const { return created_; }

  // A constant of the type, as `name` has it.
  std::string literal(const model::Type& type, const model::Datum& datum);

 private:
  struct Made {
    std::string name;
    std::vector<std::string> fields;
  };

  std::string value_name(model::ValueId id);
  std::string element_name(const model::Type& type, const std::string& called);
  std::string element_literal(const model::Type& type, const model::Datum& datum);
  const Made& row(const model::Type& type, const std::string& called);
  void create(const std::string& name, const std::vector<std::string>& fields, const std::vector<std::string>& types);
  std::string fields_literal(const Made& made, const std::vector<model::Type>& types, const model::Datum& datum);

  const model::Model& model_;
  Namer namer_;
  std::map<std::uint32_t, Made> values_;
  std::vector<std::pair<model::Type, Made>> rows_;
  std::vector<std::string> created_;
};

// A value that holds values of its own type, in some depth: kept as JSON.
bool holds_itself(const model::Model& model, model::ValueId id);
// A collection whose elements may be absent, which one of CQL can't hold: kept as bytes.
bool is_packed(const model::Type& type);
// Whether Cassandra orders values of the type as noam does. Not so uuids, which it orders by their version first, and
// addresses, of which it compares bytes whatever their length.
bool is_ordered_alike(const model::Model& model, const model::Type& type);

// A text or bytes, or a reference that is one: in a key, what is absent or empty is marked (schemas::never_empty).
bool is_marked(const model::Model& model, const model::Type& type);
// A text, or a reference that is one.
bool is_text(const model::Model& model, const model::Type& type);
// What stands in a column of the type where nothing is meant.
model::Datum neutral(const model::Model& model, const model::Type& type);

// In single quotes; by its bytes where it has some that can't be printed.
std::string text_literal(std::string_view text);

}  // namespace noam::schemas::cassandra
