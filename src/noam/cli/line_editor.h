#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/cli/shell_line.h"

// A line that a person types on a terminal, with editing, history and completion.
namespace noam::cli {

// The lines of earlier days, one a line in a file. Whatever can't be read or written is as if it were not there.
class HistoryFile {
 public:
  static constexpr std::size_t most = 1'000;  // that are kept

  // No path: nothing is kept.
  explicit HistoryFile(std::optional<std::string> path) : path_(std::move(path)) {}

  // The oldest first.
  [[nodiscard]] std::vector<std::string> load();
  // At once, so that several shells may add to one file, and nothing is lost with one.
  void add(std::string_view line);

 private:
  std::optional<std::string> path_;
};

// $NOAM_HISTORY (empty: none), else in $XDG_STATE_HOME, else below $HOME.
std::optional<std::string> history_path();

enum class TypedKind : std::uint8_t { Line, Dropped, End };  // Dropped: by Ctrl-C

struct EditorState;

// Uses standard input and output, which are a terminal. One at a time.
class LineEditor {
 public:
  using Completer = std::function<Completion(std::string_view line)>;

  LineEditor(std::string prompt, Completer completer, HistoryFile history);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The line without its line break.
  TypedKind next(std::string& line);

 private:
  std::unique_ptr<EditorState> state_;
};

// Columns of the terminal that standard output is; nothing where it is none, or does not tell.
std::optional<std::size_t> terminal_width();

}  // namespace noam::cli
