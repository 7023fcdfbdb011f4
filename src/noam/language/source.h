#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/base/span.h"

namespace noam::language {

// Lines and columns count from one; a column is a code point, not a byte.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  bool operator==(const Position&) const = default;
};

// A text and its name. Any bytes are allowed: what is wrong with them, the lexer says.
class SourceFile {
 public:
  SourceFile(std::string name, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view text(Span span) const;

  // Where a byte offset lies; an offset past the end is the end.
  [[nodiscard]] Position position(std::uint32_t offset) const;

  [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }
  // A line counted from one, without its line break.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t line_start(std::uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
  std::vector<std::uint32_t> code_points_before_;  // each stretch of the text
};

// A model is a text of kilobytes; what is larger than this is refused, not read.
inline constexpr std::size_t max_source_bytes = 64U * 1024 * 1024;

// The file as it lies on disk. Says in one line why it can't be read: missing, a directory, no permission, too large.
Result<SourceFile> read_source(const std::string& path);

}  // namespace noam::language
