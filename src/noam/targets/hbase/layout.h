#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/datum.h"
#include "noam/targets/outline.h"

// Where everything lies: tables, column families, qualifiers.
namespace noam::targets::hbase {

// A row key, or the beginning of a qualifier. One text is its own bytes; else bytes that sort as the parts do.
struct Key {
  bool plain = false;
  std::vector<std::string> names;  // one a part: the qualifier, or its end, that shows it beside; empty: none
};

enum class Shape : std::uint8_t {
  Cells,     // a cell a value, in the family `e`
  Elements,  // a cell an element, in the family `e`: `rounds[0000000000]`
  Entries,   // cells whose qualifiers begin with the key of the entry, in a family of their own
};

struct PlacedFamily {
  const FamilyOutline* family = nullptr;
  std::uint32_t table = 0;
  std::string column_family;
  Shape shape = Shape::Cells;
  Key key;                             // Entries
  bool bare = false;                   // Entries: one cell an entry, whose qualifier is the key
  std::string elements;                // Elements: what is before the bracket
  std::vector<std::string> names;      // one a value: its qualifier, or the end of it; empty: it is in a key
  std::optional<std::string> version;  // where this is the head of an aggregate
  std::optional<std::string> marker;   // a cell that says that there is an entry, where no other does
};

struct Table {
  std::string name;  // with its namespace
  const CollectionOutline* collection = nullptr;
  Key row;
  std::vector<std::string> column_families;
  std::vector<const FamilyOutline*> families;

  [[nodiscard]] bool has_cells() const;  // the family `e`
};

inline constexpr const char* cells_family = "e";

class Layout {
 public:
  // The outline must outlive it.
  explicit Layout(const Outline& outline);

  [[nodiscard]] const Outline& outline() const { return outline_; }
  [[nodiscard]] const std::string& space() const { return namespace_; }
  // What a column is called in Ruby, with its `$`.
  [[nodiscard]] std::string variable(const Column& column) const { return "$" + variables_.at(column.name); }
  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  [[nodiscard]] const PlacedFamily& placed(const FamilyOutline& family) const;
  [[nodiscard]] const Table& table(const FamilyOutline& family) const { return tables_[placed(family).table]; }

 private:
  void place(const CollectionOutline& collection, std::string name);
  void place_cells(Table& table, const std::vector<const FamilyOutline*>& families);
  void place_entries(const std::string& column_family, const std::vector<const FamilyOutline*>& families);

  const Outline& outline_;
  std::string namespace_;
  std::map<std::string, std::string> variables_;
  std::vector<Table> tables_;
  std::vector<std::optional<PlacedFamily>> placed_;  // by FamilyOutline::index
};

// The bytes of a key.
std::string key_bytes(const std::vector<Column>& columns, const Key& key, const std::vector<model::Datum>& values);

// What is in the brackets of an element.
std::string element_text(const model::Model& model, const FamilyOutline& family, const model::Datum& key);

}  // namespace noam::targets::hbase
