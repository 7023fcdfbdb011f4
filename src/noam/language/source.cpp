#include "noam/language/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noam/base/check.h"

namespace noam::language {

namespace {

// Code points are counted once a stretch of this many bytes, so that a column is found quickly in a long line too.
constexpr std::size_t stretch = 1024;

std::uint32_t count_code_points(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::uint32_t>(std::count_if(text.begin(), text.end(), begins));
}

}  // namespace

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  check(text_.size() < std::numeric_limits<std::uint32_t>::max(), "a source is small enough for its spans");
  line_starts_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
  }
  code_points_before_.reserve(text_.size() / stretch + 1);
  std::uint32_t counted = 0;
  for (std::size_t at = 0; at <= text_.size(); at += stretch) {
    code_points_before_.push_back(counted);
    counted += count_code_points(std::string_view(text_).substr(at, stretch));
  }
}

std::string_view SourceFile::text(Span span) const {
  const std::size_t begin = std::min<std::size_t>(span.begin, text_.size());
  const std::size_t end = std::clamp<std::size_t>(span.end, begin, text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

Position SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next_line = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(next_line - line_starts_.begin());
  const auto code_points = [&](std::uint32_t at) {
    const std::size_t whole = at / stretch;
    return code_points_before_[whole] + count_code_points(text({static_cast<std::uint32_t>(whole * stretch), at}));
  };
  return {line, code_points(offset) - code_points(line_starts_[line - 1]) + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  const std::uint32_t begin = line_start(number);
  const bool last = number == line_count();
  std::string_view line = text({begin, last ? static_cast<std::uint32_t>(text_.size()) : line_starts_[number] - 1});
  if (!last && line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::uint32_t SourceFile::line_start(std::uint32_t number) const {
  check(number >= 1 && number <= line_count(), "a line that the source has");
  return line_starts_[number - 1];
}

namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Error reason(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return {fmt::format("{}: no such file", path)};
    case EISDIR:
      return {fmt::format("{}: a directory, not a file", path)};
    case EACCES:
    case EPERM:
      return {fmt::format("{}: no permission to read it", path)};
    default:
      return {fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error))};
  }
}

}  // namespace

Result<SourceFile> read_source(const std::string& path) {
  const File file(path);
  if (file.descriptor() < 0) return reason(path, errno);
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) return reason(path, errno);
  if (S_ISDIR(status.st_mode)) return reason(path, EISDIR);

  // A pipe has no size, and a file may grow while it is read: the bound is asked of what came.
  const auto announced = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  const Error too_large{fmt::format("{}: larger than the limit of {} MiB", path, max_source_bytes / (1024 * 1024))};
  if (announced > max_source_bytes) return too_large;
  std::string text(announced + 1, '\0');
  std::size_t length = 0;
  while (true) {
    if (length == text.size()) text.resize(text.size() * 2 + 4096);
    const ssize_t got = ::read(file.descriptor(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return reason(path, errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > max_source_bytes) return too_large;
  }
  text.resize(length);
  return SourceFile(path, std::move(text));
}

}  // namespace noam::language
