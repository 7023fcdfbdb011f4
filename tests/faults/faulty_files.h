#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "tests/property/random.h"

// The files of this machine, as they are where a call fails or the power goes.
namespace noam::tests::faults {

struct Fault {
  enum class Kind { None, Fails, NoSpace, PowerGoes };
  Kind kind = Kind::None;
  std::size_t at = 0;   // which call, from 1
  std::string of = {};  // of those whose words begin so
};

// Remembers what would be there after a loss of power: of a file what was synced, in a folder what was there when it
// was synced last. What is deleted is gone at once. Safe to use from several threads.
class FaultyFiles : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFiles(Fault fault);

  [[nodiscard]] const char* Name() const override { return "FaultyFiles"; }

  [[nodiscard]] std::size_t calls() const;
  // The call that the fault hit, in words; empty: none so far.
  [[nodiscard]] std::string hit() const;
  void let_power_go();
  [[nodiscard]] bool power_is_gone() const;
  // To be called when nobody uses them any more. Of what was not synced a part of any length may have come through.
  void lose(property::Random& random, bool all_that_was_not_synced);

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* out,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* out,
                                        rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* out,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* out,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* out, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetChildren(const std::string& path, const rocksdb::IOOptions& options,
                                std::vector<std::string>* out, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) override;

  // For the files.
  rocksdb::IOStatus call(const char* what, const std::string& path);
  // What was synced is remembered in the same step: the power does not go between the two.
  rocksdb::IOStatus sync(const std::string& path, std::uint64_t bytes);
  rocksdb::IOStatus sync_folder(const std::string& path);

 private:
  // With the mutex held.
  rocksdb::IOStatus call_held(const char* what, const std::string& path);

  // A change to a folder that is not on disk.
  struct Renamed {
    std::string from;
    std::string to;
    std::optional<std::string> before;  // what was at `to`
  };

  mutable std::mutex mutex_;
  const Fault fault_;
  std::size_t calls_ = 0;
  std::string hit_;
  bool power_is_gone_ = false;
  std::map<std::string, std::uint64_t> synced_bytes_;  // of files that were written since
  std::map<std::string, bool> in_folder_;              // of the same: whether their name is on disk
  std::vector<Renamed> renamed_;
  std::vector<std::pair<std::string, std::string>> linked_;  // two names of one file
};

}  // namespace noam::tests::faults
