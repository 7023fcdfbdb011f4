#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "noam/base/result.h"
#include "noam/stores/store.h"

namespace rocksdb {  // NOLINT(readability-identifier-naming): not ours
class Env;
}

namespace noam::stores {

enum class Existing : std::uint8_t {
  Required,  // the store is there, else an error
  Allowed,   // made where it is not there
  Refused,   // made; an error where it is there
};

struct RocksdbOptions {
  Existing existing = Existing::Required;
  bool sync = true;                                      // a commit is on disk before it is told to be applied
  std::size_t max_entry_bytes = std::size_t{64} << 20U;  // larger entries are TooLarge; 0: no limit
  std::size_t scan_page = 1'000;                         // entries a page
  std::size_t cache_bytes = std::size_t{256} << 20U;     // of blocks read, in memory
  std::size_t buffer_bytes = std::size_t{64} << 20U;     // of what is written, in memory, before it goes to tables
  std::size_t table_bytes = std::size_t{512} << 10U;     // a commit of so many is tables of its own; 0: none is
  bool spreads_own = false;                              // as a store on servers does, which this one is to fill
  rocksdb::Env* env = nullptr;                           // files and threads; none: those of the machine
};

// A store in a folder of this machine, used by one process at a time.
class EmbeddedStore : public Store {
 public:
  // A copy of this moment in a new folder, which can be opened as a store. Commands go on meanwhile. Nothing is left
  // where it fails.
  virtual Result<void> back_up(const std::string& folder) = 0;
  // Everything so far is on disk. Only of use without `sync`.
  virtual Result<void> sync() = 0;
  // Reads every byte and compares it with its checksum. The error names the file that is damaged.
  virtual Result<void> check_files() = 0;
  // What it takes on disk.
  [[nodiscard]] virtual std::uint64_t bytes_on_disk() const = 0;
};

// The folder's layout, and what an entry is there, is in docs/storage.md. The error is one line: no such folder, one
// that is no store, or of a newer noam, or damaged, or in use.
Result<std::unique_ptr<EmbeddedStore>> open_rocksdb_store(const std::string& folder,
                                                          const RocksdbOptions& options = {});

// A new store, made of a backup, after every byte of it was compared with its checksum. How many bytes it has. Nothing
// is left where it fails.
Result<std::uint64_t> restore_rocksdb_store(const std::string& backup, const std::string& folder);

}  // namespace noam::stores
