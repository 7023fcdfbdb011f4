#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/targets/outline.h"

// Where everything lies: tables, items, attributes.
namespace noam::targets::dynamodb {

// A part of a key, and the attribute that shows it.
struct KeyPart {
  const Column* column = nullptr;
  std::string attribute;
};

// The partition key or the sort key of a table. One part that DynamoDB holds (and sorts) as noam does is the attribute
// itself; else `attribute` has bytes that sort as the parts do, and the parts stand beside it.
struct Key {
  std::string attribute;
  char letter = 'S';
  bool made = false;  // the bytes of all parts
  std::vector<KeyPart> parts;

  [[nodiscard]] bool backwards() const { return !made && parts[0].column->descending; }
};

struct Table {
  std::string name;
  const CollectionOutline* collection = nullptr;
  Key partition;
  std::optional<Key> sort;
  std::vector<const FamilyOutline*> families;

  // Where an item is a block, that of all its families.
  [[nodiscard]] bool item_a_block() const { return !sort; }
};

enum class Shape : std::uint8_t {
  Plain,     // an attribute a column
  Map,       // one attribute with all columns
  Elements,  // an attribute an element: `games[0]`
};

struct PlacedFamily {
  const FamilyOutline* family = nullptr;
  std::uint32_t table = 0;
  Shape shape = Shape::Plain;
  std::string attribute;           // Map: its name; Elements: what is before the bracket
  std::vector<std::string> names;  // one a value: its attribute, or its name in the map; empty: it is in the key
  std::string version;             // the attribute that counts the changes of the aggregate, where this is its head
  std::string present;  // the attribute that an item with an entry of the family has, where that is to be asked
  bool marked = false;  // `present` is there for that alone
};

class Layout {
 public:
  // The outline must outlive it.
  explicit Layout(const Outline& outline);

  [[nodiscard]] const Outline& outline() const { return outline_; }
  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  [[nodiscard]] const PlacedFamily& placed(const FamilyOutline& family) const;
  [[nodiscard]] const Table& table(const FamilyOutline& family) const { return tables_[placed(family).table]; }

  // Families whose entries may lie in one item with those of this one; itself is one of them.
  [[nodiscard]] std::vector<const FamilyOutline*> item_mates(const FamilyOutline& family) const;

 private:
  void place(const CollectionOutline& collection);
  void add_table(const CollectionOutline& collection, std::string end, std::vector<const FamilyOutline*> families,
                 bool sorted);
  void name_tables();

  const Outline& outline_;
  std::vector<Table> tables_;
  std::vector<std::string> ends_;                    // of tables: what follows the name of the collection
  std::vector<std::optional<PlacedFamily>> placed_;  // by FamilyOutline::index
};

}  // namespace noam::targets::dynamodb
