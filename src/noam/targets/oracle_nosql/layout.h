#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/datum.h"
#include "noam/targets/outline.h"

// Tables: one a collection, with child tables for what a block has several of.
namespace noam::targets::oracle_nosql {

// A column of a primary key, or one that shows a part of it.
struct KeyColumn {
  std::string name;
  std::string type;
  const Column* column = nullptr;
  std::vector<std::size_t> leaf;  // of a reference by several parts, which of them
  model::Type leaf_type;
  bool text = false;      // the value as a text, where a key can't hold its type
  bool optional = false;  // never null: see never_null()
};

struct ValueColumn {
  std::string name;
  std::string type;
  const FamilyOutline* family = nullptr;
  const Column* column = nullptr;
};

struct Table {
  std::string name;  // `Game.rounds`
  const CollectionOutline* collection = nullptr;
  std::vector<const FamilyOutline*> families;
  bool child = false;            // has the columns of `block` from its parent
  std::vector<KeyColumn> block;  // the shard key
  std::vector<KeyColumn> key;    // the rest of the primary key; where it is encoded, what it is made of
  std::string encoded;           // `noam_key`, the primary key's column where `key` does not sort right
  bool descending = false;       // queries walk it backwards
  std::vector<ValueColumn> values;
  std::string version;  // `noam_version`, where the head of an aggregate is here
  std::vector<std::pair<const FamilyOutline*, std::string>> markers;  // columns that tell that an entry is there
};

class Layout {
 public:
  // The outline must outlive it.
  explicit Layout(const Outline& outline);

  [[nodiscard]] const Outline& outline() const { return outline_; }
  [[nodiscard]] const std::vector<Table>& tables() const { return tables_; }
  [[nodiscard]] const Table& table(const FamilyOutline& family) const;
  // The table of its collection, or the parent of its table.
  [[nodiscard]] const Table& root(const FamilyOutline& family) const;
  // What lies beside the entries of others in a row.
  [[nodiscard]] bool shares_row(const FamilyOutline& family) const { return table(family).families.size() > 1; }
  // The column that tells that there is an entry, if there is one for that.
  [[nodiscard]] std::optional<std::string> marker(const FamilyOutline& family) const;

  // The value of a column of a key, as it is written in SQL.
  [[nodiscard]] std::string key_literal(const KeyColumn& column, const model::Datum& part) const;
  // The hexadecimal digits of bytes that sort as the key does.
  [[nodiscard]] static std::string encoded_key(const FamilyOutline& family, const std::vector<model::Datum>& key);

 private:
  void place(const CollectionOutline& collection, const std::string& name);

  const Outline& outline_;
  std::vector<Table> tables_;
};

}  // namespace noam::targets::oracle_nosql
