#pragma once

#include <filesystem>
#include <memory>

#include "noam/stores/rocksdb.h"
#include "noam/stores/store.h"

namespace noam::tests {

// A folder of its own, gone with this. In memory where the machine has such a place: then a test costs no disk.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Options under which many stores can be opened and closed in a short time.
stores::RocksdbOptions small_store();

// An empty store in a folder of its own, which goes with it.
std::unique_ptr<stores::Store> make_temporary_store(stores::RocksdbOptions options = small_store());

}  // namespace noam::tests
