#include "tests/faults/faulty_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tests/support.h"

namespace noam::tests::faults {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

// As one path is one name.
std::string plain(const std::string& path) { return fs::path(path).lexically_normal().string(); }

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

class FaultyWritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyWritableFile(FaultyFiles& files, std::string path, std::unique_ptr<rocksdb::FSWritableFile>&& file)
      : FSWritableFileOwnerWrapper(std::move(file)), files_(files), path_(std::move(path)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status = files_.call("write", path_);
    return status.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    const IOStatus status = files_.call("write", path_);
    return status.ok() ? FSWritableFileOwnerWrapper::Append(data, options, verification, debug) : status;
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status = files_.call("truncate", path_);
    return status.ok() ? FSWritableFileOwnerWrapper::Truncate(size, options, debug) : status;
  }
  IOStatus Allocate(std::uint64_t offset, std::uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    const IOStatus status = files_.call("allocate", path_);
    return status.ok() ? FSWritableFileOwnerWrapper::Allocate(offset, size, options, debug) : status;
  }
  IOStatus RangeSync(std::uint64_t offset, std::uint64_t size, const IOOptions& options,
                     IODebugContext* debug) override {
    const IOStatus status = files_.call("sync of a range", path_);
    return status.ok() ? FSWritableFileOwnerWrapper::RangeSync(offset, size, options, debug) : status;
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return sync(); }
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return sync(); }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    // It is closed all the same.
    const IOStatus status = files_.call("close", path_);
    const IOStatus closed = FSWritableFileOwnerWrapper::Close(options, debug);
    return status.ok() ? closed : status;
  }

 private:
  // What is written while it goes on may be on disk or not. Nothing is really synced: no power will really go.
  IOStatus sync() {
    std::error_code failed;
    const std::uint64_t bytes = fs::file_size(path_, failed);
    return files_.sync(path_, failed ? 0 : bytes);
  }

  FaultyFiles& files_;
  std::string path_;
};

class FaultySequentialFile : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  FaultySequentialFile(FaultyFiles& files, std::string path, std::unique_ptr<rocksdb::FSSequentialFile>&& file)
      : FSSequentialFileOwnerWrapper(std::move(file)), files_(files), path_(std::move(path)) {}
  IOStatus Read(std::size_t size, const IOOptions& options, Slice* out, char* scratch, IODebugContext* debug) override {
    const IOStatus status = files_.call("read", path_);
    return status.ok() ? FSSequentialFileOwnerWrapper::Read(size, options, out, scratch, debug) : status;
  }

 private:
  FaultyFiles& files_;
  std::string path_;
};

class FaultyRandomAccessFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyRandomAccessFile(FaultyFiles& files, std::string path, std::unique_ptr<rocksdb::FSRandomAccessFile>&& file)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), files_(files), path_(std::move(path)) {}
  IOStatus Read(std::uint64_t offset, std::size_t size, const IOOptions& options, Slice* out, char* scratch,
                IODebugContext* debug) const override {
    const IOStatus status = files_.call("read", path_);
    return status.ok() ? FSRandomAccessFileOwnerWrapper::Read(offset, size, options, out, scratch, debug) : status;
  }

 private:
  FaultyFiles& files_;
  std::string path_;
};

class FaultyDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyDirectory(FaultyFiles& files, std::string path, std::unique_ptr<rocksdb::FSDirectory>&& directory)
      : FSDirectoryWrapper(std::move(directory)), files_(files), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return files_.sync_folder(path_); }
  IOStatus FsyncWithDirOptions(const IOOptions& /*options*/, IODebugContext* /*debug*/,
                               const rocksdb::DirFsyncOptions& /*why*/) override {
    return files_.sync_folder(path_);
  }

 private:
  FaultyFiles& files_;
  std::string path_;
};

}  // namespace

FaultyFiles::FaultyFiles(Fault fault) : FileSystemWrapper(rocksdb::FileSystem::Default()), fault_(fault) {}

std::size_t FaultyFiles::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::string FaultyFiles::hit() const {
  const std::lock_guard lock(mutex_);
  return hit_;
}

void FaultyFiles::let_power_go() {
  const std::lock_guard lock(mutex_);
  power_is_gone_ = true;
}

bool FaultyFiles::power_is_gone() const {
  const std::lock_guard lock(mutex_);
  return power_is_gone_;
}

IOStatus FaultyFiles::call(const char* what, const std::string& path) {
  const std::lock_guard lock(mutex_);
  return call_held(what, path);
}

IOStatus FaultyFiles::call_held(const char* what, const std::string& path) {
  if (power_is_gone_) return IOStatus::IOError("the power is gone");
  std::string words = fmt::format("{} of {}", what, fs::path(path).filename().string());
  if (words.starts_with(fault_.of)) ++calls_;
  if (calls_ != fault_.at || !hit_.empty() || fault_.kind == Fault::Kind::None) return IOStatus::OK();
  hit_ = std::move(words);
  if (fault_.kind == Fault::Kind::NoSpace) return IOStatus::NoSpace(hit_);
  power_is_gone_ = fault_.kind == Fault::Kind::PowerGoes;
  return IOStatus::IOError(hit_);
}

IOStatus FaultyFiles::sync(const std::string& path, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  IOStatus status = call_held("sync", path);
  if (!status.ok()) return status;
  const auto reach = [&](const std::string& name) { synced_bytes_[name] = std::max(synced_bytes_[name], bytes); };
  reach(path);
  for (const auto& [from, to] : linked_) {
    if (path == from && synced_bytes_.contains(to)) reach(to);
    if (path == to && synced_bytes_.contains(from)) reach(from);
  }
  return status;
}

IOStatus FaultyFiles::sync_folder(const std::string& path) {
  const std::lock_guard lock(mutex_);
  IOStatus status = call_held("sync", path);
  if (!status.ok()) return status;
  for (auto& [name, on_disk] : in_folder_)
    if (folder_of(name) == path) on_disk = true;
  std::erase_if(renamed_, [&](const Renamed& one) { return folder_of(one.to) == path; });
  return status;
}

void FaultyFiles::lose(property::Random& random, bool all_that_was_not_synced) {
  const std::lock_guard lock(mutex_);
  power_is_gone_ = true;
  const auto lost = [&] { return all_that_was_not_synced || random.chance(50); };
  std::error_code failed;
  // The last change first. One that came through leaves those before it as they are, too: a journal has an order.
  while (!renamed_.empty() && lost()) {
    const Renamed& one = renamed_.back();
    fs::rename(one.to, one.from, failed);
    if (const auto node = synced_bytes_.extract(one.to)) synced_bytes_[one.from] = node.mapped();
    if (const auto node = in_folder_.extract(one.to)) in_folder_[one.from] = node.mapped();
    if (one.before) write_file(one.to, *one.before);
    renamed_.pop_back();
  }
  // And what was made before it.
  const bool some_came_through = !renamed_.empty();
  for (const auto& [path, named] : in_folder_) {
    const bool on_disk = named || some_came_through;
    if (!fs::exists(path, failed)) continue;
    if (!on_disk && lost()) {
      fs::remove(path, failed);
      continue;
    }
    const std::uint64_t size = fs::file_size(path, failed);
    const std::uint64_t safe = std::min(synced_bytes_[path], size);
    if (size > safe) fs::resize_file(path, lost() ? safe : safe + random.below(size - safe + 1), failed);
  }
}

IOStatus FaultyFiles::NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSSequentialFile>* out, IODebugContext* debug) {
  IOStatus status = call("open", path);
  if (status.ok()) status = FileSystemWrapper::NewSequentialFile(path, options, out, debug);
  if (status.ok()) *out = std::make_unique<FaultySequentialFile>(*this, plain(path), std::move(*out));
  return status;
}

IOStatus FaultyFiles::NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile>* out, IODebugContext* debug) {
  IOStatus status = call("open", path);
  if (status.ok()) status = FileSystemWrapper::NewRandomAccessFile(path, options, out, debug);
  if (status.ok()) *out = std::make_unique<FaultyRandomAccessFile>(*this, plain(path), std::move(*out));
  return status;
}

IOStatus FaultyFiles::NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* out, IODebugContext* debug) {
  IOStatus status = call("open", path);
  if (!status.ok()) return status;
  const std::string name = plain(path);
  const bool there = fs::exists(name);
  status = FileSystemWrapper::NewWritableFile(path, options, out, debug);
  if (!status.ok()) return status;
  *out = std::make_unique<FaultyWritableFile>(*this, name, std::move(*out));
  const std::lock_guard lock(mutex_);
  synced_bytes_[name] = 0;
  in_folder_.try_emplace(name, there);
  return status;
}

IOStatus FaultyFiles::ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSWritableFile>* out, IODebugContext* debug) {
  IOStatus status = call("open", path);
  if (!status.ok()) return status;
  const std::string name = plain(path);
  const bool there = fs::exists(name);
  const std::uint64_t size = there ? fs::file_size(name) : 0;
  status = FileSystemWrapper::ReopenWritableFile(path, options, out, debug);
  if (!status.ok()) return status;
  *out = std::make_unique<FaultyWritableFile>(*this, name, std::move(*out));
  const std::lock_guard lock(mutex_);
  synced_bytes_.try_emplace(name, size);
  in_folder_.try_emplace(name, there);
  return status;
}

IOStatus FaultyFiles::NewDirectory(const std::string& path, const IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* out, IODebugContext* debug) {
  IOStatus status = call("open", path);
  if (status.ok()) status = FileSystemWrapper::NewDirectory(path, options, out, debug);
  std::string name = plain(path);
  if (name.ends_with('/')) name.pop_back();
  if (status.ok()) *out = std::make_unique<FaultyDirectory>(*this, name, std::move(*out));
  return status;
}

IOStatus FaultyFiles::GetChildren(const std::string& path, const IOOptions& options, std::vector<std::string>* out,
                                  IODebugContext* debug) {
  const IOStatus status = call("list", path);
  return status.ok() ? FileSystemWrapper::GetChildren(path, options, out, debug) : status;
}

IOStatus FaultyFiles::DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  IOStatus status = call("delete", path);
  if (status.ok()) status = FileSystemWrapper::DeleteFile(path, options, debug);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  synced_bytes_.erase(plain(path));
  in_folder_.erase(plain(path));
  std::erase_if(linked_, [&](const auto& link) { return link.first == plain(path) || link.second == plain(path); });
  return status;
}

IOStatus FaultyFiles::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                                 IODebugContext* debug) {
  IOStatus status = call("rename", to);
  if (!status.ok()) return status;
  Renamed renamed{plain(from), plain(to), std::nullopt};
  if (fs::exists(renamed.to)) renamed.before = read_file(renamed.to);
  status = FileSystemWrapper::RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (const auto node = synced_bytes_.extract(renamed.from)) synced_bytes_[renamed.to] = node.mapped();
  if (const auto node = in_folder_.extract(renamed.from)) in_folder_[renamed.to] = node.mapped();
  renamed_.push_back(std::move(renamed));
  return status;
}

IOStatus FaultyFiles::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                               IODebugContext* debug) {
  IOStatus status = call("link", to);
  if (status.ok()) status = FileSystemWrapper::LinkFile(from, to, options, debug);
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  // What was written before these were looked at is on disk.
  const auto known = synced_bytes_.find(plain(from));
  synced_bytes_[plain(to)] = known != synced_bytes_.end() ? known->second : fs::file_size(plain(from));
  in_folder_[plain(to)] = false;
  linked_.emplace_back(plain(from), plain(to));
  return status;
}

IOStatus FaultyFiles::CreateDir(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  const IOStatus status = call("make a folder", path);
  return status.ok() ? FileSystemWrapper::CreateDir(path, options, debug) : status;
}

IOStatus FaultyFiles::CreateDirIfMissing(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  const IOStatus status = call("make a folder", path);
  return status.ok() ? FileSystemWrapper::CreateDirIfMissing(path, options, debug) : status;
}

}  // namespace noam::tests::faults
