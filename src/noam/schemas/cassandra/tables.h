#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noam/schemas/cassandra/types.h"
#include "noam/schemas/outline.h"

// The tables of a design. A table is what of a collection can lie in one: rows under one clustering key, and what a
// block has once. What can't (a second clustering key, native counters beside other columns) has a table of its own.
namespace noam::schemas::cassandra {

// A part of a key. One that may be absent, and is no text, has a column before it that says whether it is there.
struct KeyPart {
  std::string name;
  std::string type;
  std::string presence;  // the name of that column; empty: none
  bool descending = false;
  const Column* column = nullptr;  // of the first family that has it
  // It holds bytes that sort as noam orders the values (model::append_ordered), because Cassandra orders them in
  // another way. The value itself stands in this column; empty: only the bytes are there.
  bool ordered = false;
  std::string beside = {};
};

struct TableColumn {
  std::string name;
  std::string type;
  bool is_static = false;
  const Column* column = nullptr;  // none: it is noam's own
};

// What a store of noam keeps for each partition, so that several can be changed together (docs/transactions.md). Static
// if the table has clustering columns.
struct HeadColumns {
  std::string version;
  std::string sequence;
  std::string holder;
  std::string hold;
  std::string last;
  std::string done;
  std::string guards;

  [[nodiscard]] std::vector<std::string> all() const { return {version, sequence, holder, hold, last, done, guards}; }
};

struct Table {
  std::string name;
  const CollectionOutline* collection = nullptr;
  std::vector<const FamilyOutline*> families;
  std::vector<KeyPart> partition;
  std::vector<KeyPart> clustering;
  std::vector<TableColumn> columns;
  bool counters = false;  // all its columns are native counters; there is no head then
  HeadColumns head;
  // What generated statements compare: the version of the head, if `version_of_block`, else a column of each row;
  // empty: it has none.
  std::string version;
  bool version_of_block = false;
};

// Where a family is.
struct FamilyPlace {
  std::size_t table = 0;
  std::vector<std::string> values;  // the column of each; empty where a part of the key says it
  std::string live = {};  // the column that tells a store whether the entry is there; empty: there is a row if it is
};

struct Layout {
  std::string keyspace;
  std::vector<std::string> created_types;
  std::vector<Table> tables;
  std::map<std::uint32_t, FamilyPlace> families;  // by index in the design
  std::vector<Warning> warnings;

  // Of the created types, each behind those that it is made of.
  [[nodiscard]] std::vector<std::string> type_names() const;
  [[nodiscard]] const Table& table_of(const FamilyOutline& family) const {
    return tables[families.at(family.index).table];
  }
};

// `types` learns the names that the layout needs.
Layout lay_out(const Outline& outline, Types& types);

// A type that the design asks for instead, `with cassandra(types: "likes int, ts timeuuid")`, where it can hold it.
bool can_hold(std::string_view cql_type, const model::Type& type);

}  // namespace noam::schemas::cassandra
