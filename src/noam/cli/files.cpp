#include "noam/cli/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

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
    if (count < 0) return file_problem("standard input", "can't be read");
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > language::max_source_bytes)
      return Error{
          fmt::format("standard input: larger than {} MiB, which no model is", language::max_source_bytes >> 20U)};
  }
  return language::SourceFile("<stdin>", std::move(text));
}

namespace {

// Beside the file first, then in its place.
Result<void> write_as_one(const std::string& path, const std::string& real, mode_t mode, std::string_view text) {
  std::string temporary = real + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return file_problem(path, "can't be written");
  const bool written = write_all(file, text) && ::fchmod(file, mode) == 0 && ::fsync(file) == 0;
  const bool closed = ::close(file) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), real.c_str()) != 0) {
    const Error error = file_problem(path, "can't be written");
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
  if (::stat(real.c_str(), &info) != 0) return file_problem(path, "can't be read");
  if (::access(real.c_str(), W_OK) != 0) return file_problem(path, "can't be written");
  return write_as_one(path, real, info.st_mode & 07777U, text);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return Error{fmt::format("{}: can't be written: it is no file", path)};
    return replace_file(path, text);
  }
  if (errno != ENOENT || path.empty()) return file_problem(path, "can't be written");
  // As others make files: all may read and write it whom the mask does not keep from it.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return write_as_one(path, path, 0666U & ~mask, text);
}

Result<void> write_output(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) return file_problem("standard output", "can't be written");
  return {};
}

}  // namespace noam::cli
