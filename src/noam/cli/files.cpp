#include "noam/cli/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noam/base/file_io.h"

namespace noam::cli {

Result<language::SourceFile> read_input(const std::string& path) {
  if (path != "-") return language::read_source(path);
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_problem("standard input", "cannot be read");
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > language::max_source_bytes)
      return Error{fmt::format("standard input: larger than the limit of {} MiB", language::max_source_bytes >> 20U)};
  }
  return language::SourceFile("<stdin>", std::move(text));
}

namespace {

// As others make files: all may read and write it whom the mask does not keep from it.
mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

// Beside the file first, then in its place.
Result<void> write_as_one(const std::string& path, const std::string& real, mode_t mode, std::string_view text) {
  std::string temporary = real + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return file_problem(path, "cannot be written");
  const bool written = write_all(file, text) && ::fchmod(file, mode) == 0 && ::fsync(file) == 0;
  const bool closed = ::close(file) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), real.c_str()) != 0) {
    const Error error = file_problem(path, "cannot be written");
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view text) {
  // Through links to the file itself, so that a link stays one.
  std::error_code failed;
  const std::string real = std::filesystem::canonical(path, failed).string();
  if (failed) return Error{fmt::format("{}: {}", path, failed.message())};
  struct stat info {};
  if (::stat(real.c_str(), &info) != 0) return file_problem(path, "cannot be read");
  if (::access(real.c_str(), W_OK) != 0) return file_problem(path, "cannot be written");
  return write_as_one(path, real, info.st_mode & 07777U, text);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return Error{fmt::format("{}: cannot be written: not a regular file", path)};
    return replace_file(path, text);
  }
  if (errno != ENOENT || path.empty()) return file_problem(path, "cannot be written");
  return write_as_one(path, path, mode_of_new_files(), text);
}

NewFolders::~NewFolders() {
  for (auto folder = created_.rbegin(); folder != created_.rend(); ++folder) ::rmdir(folder->c_str());
}

Result<void> NewFolders::create(const std::filesystem::path& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> missing;  // parents last
  for (std::filesystem::path at = folder; !at.empty() && !std::filesystem::exists(at, failed); at = at.parent_path())
    missing.push_back(at);
  if (missing.empty() && !folder.empty() && !std::filesystem::is_directory(folder, failed))
    return Error{fmt::format("{}: not a folder", folder.string())};
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    constexpr mode_t usual = 0777;
    if (::mkdir(at->c_str(), usual) == 0)
      created_.push_back(*at);
    else if (errno != EEXIST)
      return file_problem(folder.string(), "cannot be created");
  }
  return {};
}

std::filesystem::path folder_around(const std::filesystem::path& path) {
  // `a/b/` is `b` in `a`.
  return path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
}

namespace {

// Files under names that nobody sees, which become visible together or go.
class Staged {
 public:
  Staged() = default;
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    for (const auto& [temporary, name] : files_) ::unlink(temporary.c_str());
  }

  Result<void> open(const std::string& folder) { return folders_.create(folder); }

  Result<void> add(const std::string& name, std::string_view text) {
    std::string temporary = name + ".XXXXXX";
    const int file = ::mkstemp(temporary.data());
    if (file < 0) return file_problem(name, "cannot be written");
    files_.emplace_back(temporary, name);
    const bool written = write_all(file, text) && ::fchmod(file, mode_of_new_files()) == 0 && ::fsync(file) == 0;
    if (const bool closed = ::close(file) == 0; !written || !closed) return file_problem(name, "cannot be written");
    return {};
  }

  Result<void> show() {
    while (!files_.empty()) {
      const auto& [temporary, name] = files_.back();
      if (::rename(temporary.c_str(), name.c_str()) != 0) return file_problem(name, "cannot be written");
      files_.pop_back();
      folders_.keep();
    }
    return {};
  }

 private:
  NewFolders folders_;
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace

Result<void> write_folder(const std::string& folder, const std::vector<NamedText>& files, bool replace) {
  std::vector<std::string> there;
  for (const NamedText& file : files) {
    std::error_code failed;
    const auto at = std::filesystem::path(folder) / file.name;
    if (std::filesystem::is_directory(at, failed))
      return Error{fmt::format("{}: cannot be written: it is a folder", at.string())};
    if (std::filesystem::exists(std::filesystem::symlink_status(at, failed))) there.push_back(file.name);
  }
  if (!there.empty() && !replace)
    return Error{fmt::format("{}: {} already {}; use --force to replace", folder, fmt::join(there, ", "),
                             there.size() == 1 ? "exists" : "exist")};
  Staged staged;
  NOAM_RETURN_IF_ERROR(staged.open(folder));
  for (const NamedText& file : files)
    NOAM_RETURN_IF_ERROR(staged.add((std::filesystem::path(folder) / file.name).string(), file.text));
  return staged.show();
}

Result<void> write_output(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) return file_problem("standard output", "cannot be written");
  return {};
}

}  // namespace noam::cli
