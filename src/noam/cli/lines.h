#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "noam/base/result.h"
#include "noam/runtime/session.h"

// Lines of JSON: one request a line, one answer a line (docs/json.md).
namespace noam::cli {

inline constexpr std::size_t longest_line = std::size_t{64} << 20U;

// The answer to one line, without a line break: of Session::answer_line, and of `refresh` and `sweep`.
std::string answer_request(runtime::Session& session, std::string_view line);
// The answer to a line that was too long to be kept.
std::string answer_too_long();

enum class LineKind : std::uint8_t { Line, TooLong, End, Failed };

// The lines that a descriptor gives, each as soon as it is there. The last one needs no line break.
class LineReader {
 public:
  explicit LineReader(int descriptor, std::size_t longest = longest_line)
      : descriptor_(descriptor), longest_(longest) {}

  // The line without its line break. `TooLong` is told once the line is over. After `Failed`, errno tells why.
  LineKind next(std::string& line);

 private:
  int descriptor_;
  std::size_t longest_;
  std::string buffer_;     // what was read
  std::size_t begin_ = 0;  // of what was not given away yet
  bool skipping_ = false;  // of a line that is too long
};

// What became of the requests of a file.
struct Answered {
  std::size_t applied = 0;
  std::size_t refused = 0;
  std::size_t unknown = 0;
  std::size_t queries = 0;
  std::size_t errors = 0;  // queries that could not be answered
};

// Runs the requests of a file (`-`: standard input). A line that is no request ends it: whoever wrote it meant
// something else, and the error names the line.
Result<Answered> answer_file(runtime::Session& session, const std::string& path);

// `3 requests: 2 applied, 1 refused`
std::string answered_text(const Answered& answered);

}  // namespace noam::cli
