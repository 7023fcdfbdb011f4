#include "noam/stores/guarded_logs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace noam::stores {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

class GuardedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedLog(GuardedLogs& logs, std::unique_ptr<rocksdb::FSWritableFile>&& file)
      : FSWritableFileOwnerWrapper(std::move(file)), logs_(logs) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return logs_.written(FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    return logs_.written(FSWritableFileOwnerWrapper::Append(data, options, verification, debug));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return logs_.written(FSWritableFileOwnerWrapper::Flush(options, debug));
  }

 private:
  GuardedLogs& logs_;
};

// What this thread has linked while it keeps such.
thread_local bool keeps = false;
thread_local std::vector<std::string> kept;

}  // namespace

GuardedLogs::Keeping::Keeping() { keeps = true; }

GuardedLogs::Keeping::~Keeping() {
  keeps = false;
  kept.clear();
}

IOStatus GuardedLogs::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                               IODebugContext* debug) {
  if (keeps) kept.push_back(to);
  return FileSystemWrapper::LinkFile(from, to, options, debug);
}

IOStatus GuardedLogs::DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  if (keeps && std::find(kept.begin(), kept.end(), path) != kept.end()) return IOStatus::OK();
  return FileSystemWrapper::DeleteFile(path, options, debug);
}

IOStatus GuardedLogs::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* out, IODebugContext* debug) {
  IOStatus status = FileSystemWrapper::NewWritableFile(path, options, out, debug);
  if (status.ok() && path.ends_with(".log")) *out = std::make_unique<GuardedLog>(*this, std::move(*out));
  return status;
}

IOStatus GuardedLogs::written(IOStatus status) {
  if (status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status;
  return status;
}

}  // namespace noam::stores
