#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "noam/base/result.h"
#include "noam/cql/options.h"

namespace noam::stores::cassandra {

// Which keyspace, and how to talk to its cluster.
struct Place {
  cql::Options cluster;
  std::string keyspace;
  std::optional<unsigned> replication = std::nullopt;  // of a keyspace that is created; none: 1 on one node, else 3
  // Smaller than what the database takes, for tests.
  std::size_t max_entry_bytes = 0;
  std::size_t scan_rows = 1'000;
  // Another design may be deployed to a keyspace without entries. Only if no other process has it open: what that one
  // writes meanwhile would be lost.
  bool replaces_designs = false;
  // Told, line by line, of each request and what the server did for it. None: the server is not asked.
  std::function<void(const std::string&)> trace = {};
  // Told why nothing happens for some time.
  std::function<void(const std::string&)> note = {};
};

// `//HOST,HOST/KEYSPACE?option=value&…`, what follows `cassandra:` in a URL. docs/cassandra.md lists the options.
Result<Place> parse_place(std::string_view rest);

// `cassandra://host:9042,host:9042/keyspace`, without user and password.
std::string show(const Place& place);

}  // namespace noam::stores::cassandra
