#pragma once

#include <string>

#include "noam/schemas/cassandra/tables.h"

// The statements that make what a layout describes. Each does nothing if it was run before.
namespace noam::schemas::cassandra {

// All of them: types, and then tables. Each ends in `;` and a line break. `keyspace` stands before the names, if it is
// not empty.
std::vector<std::string> create_all(const Layout& layout, const std::string& keyspace = {});

// `keyspace` stands before the name, if it is not empty.
std::string create_table(const Table& table, const std::string& keyspace = {});
// `CREATE TYPE …` of the layout, for another keyspace than the one that is in use.
std::string qualified_type(const std::string& create_type, const std::string& keyspace);

// `has_x, x`: the columns of parts of a key, in their order.
std::vector<std::string> column_names(const std::vector<KeyPart>& parts);
// `a DESC, b ASC`: the clustering order, or its reverse.
std::string clustering_order(const Table& table, bool reverse);

}  // namespace noam::schemas::cassandra
