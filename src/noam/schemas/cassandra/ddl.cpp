#include "noam/schemas/cassandra/ddl.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "noam/base/check.h"

namespace noam::schemas::cassandra {

std::vector<std::string> column_names(const std::vector<KeyPart>& parts) {
  std::vector<std::string> out;
  for (const KeyPart& part : parts) {
    if (!part.presence.empty()) out.push_back(part.presence);
    out.push_back(part.name);
  }
  return out;
}

std::string clustering_order(const Table& table, bool reverse) {
  std::vector<std::string> out;
  for (const KeyPart& part : table.clustering) {
    const char* direction = part.descending != reverse ? "DESC" : "ASC";
    if (!part.presence.empty()) out.push_back(fmt::format("{} {}", part.presence, direction));
    out.push_back(fmt::format("{} {}", part.name, direction));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string create_table(const Table& table, const std::string& keyspace) {
  std::vector<std::string> lines;
  for (const auto* parts : {&table.partition, &table.clustering})
    for (const KeyPart& part : *parts) {
      if (!part.presence.empty()) lines.push_back(part.presence + " boolean");
      lines.push_back(fmt::format("{} {}", part.name, part.type));
    }
  for (const TableColumn& column : table.columns)
    lines.push_back(fmt::format("{} {}{}", column.name, column.type, column.is_static ? " static" : ""));
  const std::vector<std::string> partition = column_names(table.partition);
  std::vector<std::string> key = {partition.size() == 1 ? partition[0]
                                                        : fmt::format("({})", fmt::join(partition, ", "))};
  for (std::string& name : column_names(table.clustering)) key.push_back(std::move(name));
  lines.push_back(fmt::format("PRIMARY KEY ({})", fmt::join(key, ", ")));
  std::string out =
      fmt::format("CREATE TABLE IF NOT EXISTS {}{} (\n    {}\n)", keyspace.empty() ? std::string() : keyspace + ".",
                  table.name, fmt::join(lines, ",\n    "));
  std::vector<std::string> with;
  if (std::any_of(table.clustering.begin(), table.clustering.end(),
                  [](const KeyPart& part) { return part.descending; }))
    with.push_back(fmt::format("CLUSTERING ORDER BY ({})", clustering_order(table, false)));
  if (const auto caching = table.collection->option("cassandra", "caching")) with.push_back("caching = " + *caching);
  // A repair by a read writes only what the read covers: a later reader could see a new head with old rows.
  if (!table.head.version.empty()) with.emplace_back("read_repair = 'NONE'");
  if (!with.empty()) out += fmt::format(" WITH {}", fmt::join(with, "\n  AND "));
  return out + ";\n";
}

std::vector<std::string> create_all(const Layout& layout, const std::string& keyspace) {
  std::vector<std::string> out;
  for (const std::string& type : layout.created_types)
    out.push_back((keyspace.empty() ? type : qualified_type(type, keyspace)) + "\n");
  for (const Table& table : layout.tables) out.push_back(create_table(table, keyspace));
  return out;
}

std::string qualified_type(const std::string& create_type, const std::string& keyspace) {
  constexpr std::string_view begin = "CREATE TYPE IF NOT EXISTS ";
  check(create_type.starts_with(begin), "a type is created if it does not exist");
  return fmt::format("{}{}.{}", begin, keyspace, std::string_view(create_type).substr(begin.size()));
}

}  // namespace noam::schemas::cassandra
