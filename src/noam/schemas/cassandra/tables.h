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
};

struct TableColumn {
  std::string name;
  std::string type;
  bool is_static = false;
  const Column* column = nullptr;  // none: `noam_version`
};

struct Table {
  std::string name;
  const CollectionOutline* collection = nullptr;
  std::vector<const FamilyOutline*> families;
  std::vector<KeyPart> partition;
  std::vector<KeyPart> clustering;
  std::vector<TableColumn> columns;
  bool counters = false;  // all its columns are native counters
  std::string version;    // the name of `noam_version`, where it has one; of the partition where `version_of_block`
  bool version_of_block = false;
};

// Where a family is.
struct FamilyPlace {
  std::size_t table = 0;
  std::vector<std::string> values;  // the column of each; empty where a part of the key says it
};

struct Layout {
  std::string keyspace;
  std::vector<std::string> created_types;
  std::vector<Table> tables;
  std::map<std::uint32_t, FamilyPlace> families;  // by index in the design
  std::vector<Warning> warnings;

  [[nodiscard]] const Table& table_of(const FamilyOutline& family) const {
    return tables[families.at(family.index).table];
  }
};

// `types` learns the names that the layout needs.
Layout lay_out(const Outline& outline, Types& types);

// A type that the design asks for instead, `with cassandra(types: "likes int, ts timeuuid")`, where it can hold it.
bool can_hold(std::string_view cql_type, const model::Type& type);

}  // namespace noam::schemas::cassandra
