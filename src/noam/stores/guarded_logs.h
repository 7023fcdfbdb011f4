#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rocksdb/file_system.h>
#include <rocksdb/status.h>

namespace noam::stores {

// The files of a database, whose logs are synced by another thread than the one that writes. A RocksDB that was built
// with its assertions stops the program where a log is synced after a write to it has failed. So a write that fails
// waits for the sync that goes on, and none begins after it.
//
// And where a table is taken into the database and that fails, RocksDB deletes it, though its manifest may name it:
// then the database could never be opened again. So a table that was linked into the database by this thread stays,
// until it is known to be there or not. One that is not needed goes when the database is opened.
//
// And RocksDB 7.8 does not ask whether the first block of such a table could be read: where it could not, the table has
// no first and no last key, overlaps with nothing, and comes to lie below what is older. So it is read as a whole when
// it is opened, which is asked for.
class GuardedLogs : public rocksdb::FileSystemWrapper {
 public:
  explicit GuardedLogs(const std::shared_ptr<rocksdb::FileSystem>& files) : FileSystemWrapper(files) {}

  [[nodiscard]] const char* Name() const override { return "noam.guarded_logs"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* out,
                                    rocksdb::IODebugContext* debug) override;

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* out,
                                        rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // While it lives, this thread takes the tables at these paths into the database.
  class Taking {
   public:
    explicit Taking(const std::vector<std::string>& tables);
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;
    ~Taking();
  };

  // Carries out the sync, or tells what a write has failed with.
  template <typename Sync>
  rocksdb::Status sync(const Sync& all_logs) {
    const std::lock_guard lock(mutex_);
    return failure_.ok() ? all_logs() : rocksdb::Status(failure_);
  }

  [[nodiscard]] bool failed() const {
    const std::lock_guard lock(mutex_);
    return !failure_.ok();
  }

  // Gives back what a write to a log has come to.
  rocksdb::IOStatus written(rocksdb::IOStatus status);

 private:
  mutable std::mutex mutex_;
  rocksdb::IOStatus failure_;
};

}  // namespace noam::stores
