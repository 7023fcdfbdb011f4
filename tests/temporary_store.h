#pragma once

#include <memory>

#include "noam/stores/rocksdb.h"
#include "noam/stores/store.h"

namespace noam::tests {

// Options under which many stores can be opened and closed in a short time.
stores::RocksdbOptions small_store();

// An empty store in a folder of its own, which goes with it.
std::unique_ptr<stores::Store> make_temporary_store(stores::RocksdbOptions options = small_store());

// An empty store of the kind that NOAM_TEST_STORE names: memory, rocksdb, or blocks (a simulated database that changes
// one block at a time). Without it, in memory.
std::unique_ptr<stores::Store> open_test_store();

}  // namespace noam::tests
