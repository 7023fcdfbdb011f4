#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "noam/base/result.h"
#include "noam/cql/session.h"
#include "noam/stores/blocks/block_store.h"
#include "noam/stores/cassandra/place.h"

// A keyspace of Apache Cassandra: a table for what of a collection can lie in one, a partition for a block.
// docs/transactions.md has how several partitions are changed together.
namespace noam::stores::cassandra {

// With `create`, the keyspace is created if it is missing, and deploy() makes its tables; else something must have been
// deployed to it.
Result<std::unique_ptr<blocks::BlockStore>> open_block_store(const Place& place, bool create);
// On a session that was connected with the options of the place, and that the caller may use, too.
Result<std::unique_ptr<blocks::BlockStore>> open_block_store(std::shared_ptr<cql::Session> session, const Place& place,
                                                             bool create);

// Writes all that `from` holds, a store with the same design and blocks spread as here, to a keyspace that nobody has
// opened yet; it is created if it is missing. Nobody can open it before the end, so the writes need no conditions.
// If it fails, call it again. How many entries.
Result<std::uint64_t> fill(const Place& place, const Blueprint& blueprint, Store& from,
                           const std::function<void(std::uint64_t)>& progress);

}  // namespace noam::stores::cassandra
