#include "noam/targets/target.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/targets/cassandra/cassandra.h"
#include "noam/targets/couchbase/couchbase.h"
#include "noam/targets/dynamodb/dynamodb.h"
#include "noam/targets/hbase/hbase.h"
#include "noam/targets/mongodb/mongodb.h"
#include "noam/targets/oracle_nosql/oracle_nosql.h"
#include "noam/targets/redis/redis.h"

namespace noam::targets {

namespace {

const std::array all = {
    Target{"cassandra", "Apache Cassandra 5", "CQL tables; an entry is a row, what a block has once is static",
           &cassandra::capabilities, cassandra::options, cassandra::reserved, cassandra::generate, cassandra::measure,
           cassandra::statements},
    Target{"mongodb", "MongoDB", "collections of documents; a block is a document, entries with keys are documents too",
           &mongodb::capabilities, mongodb::options, mongodb::reserved, mongodb::generate, mongodb::measure,
           mongodb::statements},
    Target{"dynamodb", "Amazon DynamoDB", "tables of items; a block is an item, other entries items under a sort key",
           &dynamodb::capabilities, dynamodb::options, dynamodb::reserved, dynamodb::generate, dynamodb::measure,
           dynamodb::statements},
    Target{"hbase", "Apache HBase 2", "tables of rows; a block is a row, keyed entries have a column family",
           &hbase::capabilities, hbase::options, hbase::reserved, hbase::generate, hbase::measure, hbase::statements},
    Target{"redis", "Redis 7",
           "hashes and sorted sets under a block's hash tag; functions that change a block as a whole",
           &redis::capabilities, redis::options, redis::reserved, redis::generate, redis::measure, redis::statements},
    Target{"oracle-nosql", "Oracle NoSQL Database", "tables with child tables for elements; and keys and values",
           &oracle_nosql::capabilities, oracle_nosql::options, oracle_nosql::reserved, oracle_nosql::generate,
           oracle_nosql::measure, oracle_nosql::statements},
    Target{"couchbase", "Couchbase Server 7", "JSON documents and SQL++; laid out as for MongoDB",
           &couchbase::capabilities, couchbase::options, couchbase::reserved, couchbase::generate, couchbase::measure,
           couchbase::statements},
};

}  // namespace

std::span<const Target> all_targets() { return all; }

Result<const Target*> find_target(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Target& target : all) {
    if (target.name == name) return &target;
    names.push_back(target.name);
  }
  return Error{fmt::format("no target `{}`; the targets are {}", name, fmt::join(names, ", "))};
}

std::vector<Warning> check_design(const Target& target, const Outline& outline) {
  std::vector<Warning> out = beyond(*target.capabilities, target.measure(outline));
  for (const CollectionOutline& collection : outline.collections) {
    for (const model::TargetOption& option : collection.options) {
      if (option.target != target.name) continue;
      std::vector<std::string_view> names;
      for (const Option& known : target.options) names.push_back(known.name);
      if (std::find(names.begin(), names.end(), option.name) != names.end()) continue;
      out.push_back({"unknown-option",
                     fmt::format("{} has no option `{}`, which {} uses", target.name, option.name, collection.name),
                     names.empty() ? std::string("it has no options")
                                   : fmt::format("its options are {}", fmt::join(names, ", "))});
    }
  }
  return out;
}

}  // namespace noam::targets
