#include "tests/temporary_store.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "noam/base/check.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/memory.h"
#include "tests/blocks/simulated_blocks.h"
#include "tests/forwarding_store.h"
#include "tests/temporary_folder.h"

namespace noam::tests {

stores::RocksdbOptions small_store() {
  stores::RocksdbOptions options;
  options.sync = false;
  options.cache_bytes = std::size_t{1} << 20U;
  options.buffer_bytes = std::size_t{1} << 20U;
  return options;
}

namespace {

class TemporaryStore : public ForwardingStore {
 public:
  TemporaryStore(std::unique_ptr<TemporaryFolder> folder, std::unique_ptr<stores::Store> store)
      : ForwardingStore(std::move(store)), folder_(std::move(folder)) {}
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;
  ~TemporaryStore() override { behind_.reset(); }  // before its folder

 private:
  std::unique_ptr<TemporaryFolder> folder_;
};

}  // namespace

std::unique_ptr<stores::Store> make_temporary_store(stores::RocksdbOptions options) {
  auto folder = std::make_unique<TemporaryFolder>();
  options.existing = stores::Existing::Refused;
  auto store = stores::open_rocksdb_store((folder->path() / "store").string(), options);
  check(store.has_value(), "a temporary store can be made");
  return std::make_unique<TemporaryStore>(std::move(folder), std::move(*store));
}

std::unique_ptr<stores::Store> open_test_store() {
  const char* const named = std::getenv("NOAM_TEST_STORE");
  const std::string kind = named != nullptr ? named : "memory";
  if (kind == "rocksdb") return make_temporary_store();
  if (kind == "blocks") {
    // The tests have clocks of their own; for this one, no id is ever old.
    stores::blocks::Surroundings around = stores::blocks::this_machine();
    around.microseconds = [] { return std::int64_t{0}; };
    return stores::blocks::open_block_layer(blocks::Database().connect(), std::move(around));
  }
  check(kind == "memory", "NOAM_TEST_STORE is memory, rocksdb or blocks");
  return stores::open_memory_store();
}

}  // namespace noam::tests
