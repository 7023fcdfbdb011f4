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

// A file whose bytes have been read.
class ReadFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit ReadFile(std::string bytes) : bytes_(std::move(bytes)) {}

  // Who reads expects the bytes in the scratch.
  IOStatus Read(std::uint64_t offset, std::size_t size, const IOOptions& /*options*/, Slice* out, char* scratch,
                IODebugContext* /*debug*/) const override {
    *out = Slice(scratch, offset < bytes_.size() ? bytes_.copy(scratch, size, offset) : 0);
    return IOStatus::OK();
  }

 private:
  const std::string bytes_;
};

// What this thread takes, and what it has linked for that.
thread_local const std::vector<std::string>* taken = nullptr;
thread_local std::vector<std::string> linked;

}  // namespace

GuardedLogs::Taking::Taking(const std::vector<std::string>& tables) { taken = &tables; }

GuardedLogs::Taking::~Taking() {
  taken = nullptr;
  linked.clear();
}

IOStatus GuardedLogs::NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile>* out, IODebugContext* debug) {
  if (taken == nullptr || std::find(taken->begin(), taken->end(), path) == taken->end())
    return FileSystemWrapper::NewRandomAccessFile(path, options, out, debug);
  std::string bytes;
  IOStatus status = rocksdb::ReadFileToString(target(), path, &bytes);
  if (status.ok()) *out = std::make_unique<ReadFile>(std::move(bytes));
  return status;
}

IOStatus GuardedLogs::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                               IODebugContext* debug) {
  if (taken != nullptr) linked.push_back(to);
  return FileSystemWrapper::LinkFile(from, to, options, debug);
}

IOStatus GuardedLogs::DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  if (std::find(linked.begin(), linked.end(), path) != linked.end()) return IOStatus::OK();
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
