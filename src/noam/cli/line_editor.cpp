#include "noam/cli/line_editor.h"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "noam/base/check.h"
#include "noam/cli/files.h"
#include "noam/model/layout.h"

namespace noam::cli {

std::vector<std::string> HistoryFile::load() {
  std::vector<std::string> lines;
  if (!path_) return lines;
  std::ifstream file(*path_);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(std::move(line));
  if (lines.size() <= most) return lines;
  const bool long_enough_to_be_cut = lines.size() > 2 * most;
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  if (long_enough_to_be_cut) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    (void)replace_file(*path_, text).has_value();
  }
  return lines;
}

void HistoryFile::add(std::string_view line) {
  if (!path_) return;
  const int file = ::open(path_->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string text = std::string(line) + '\n';
  (void)(::write(file, text.data(), text.size()) < 0);
  ::close(file);
}

std::optional<std::string> history_path() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::getenv("NOAM_HISTORY") != nullptr) {
    const std::string path = variable("NOAM_HISTORY");
    return path.empty() ? std::nullopt : std::optional(path);
  }
  std::string folder = variable("XDG_STATE_HOME");
  if (folder.empty() || folder.front() != '/') {
    folder = variable("HOME");
    if (folder.empty()) return std::nullopt;
    folder += "/.local/state";
  }
  folder += "/noam";
  std::error_code failed;  // then the file can't be written, either
  std::filesystem::create_directories(folder, failed);
  return folder + "/history";
}

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

struct EditorState {
  EditorState(std::string the_prompt, LineEditor::Completer the_completer, HistoryFile the_file)
      : prompt(std::move(the_prompt)), completer(std::move(the_completer)), file(std::move(the_file)) {}

  std::string prompt;
  LineEditor::Completer completer;
  HistoryFile file;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string last;                  // line of the history
  std::optional<std::string> asked;  // what stood before the cursor when Tab could put nothing in
  bool dropped = false;
};

namespace {

constexpr std::size_t narrow = 80;

// Candidates in columns.
void list(const std::vector<std::string>& candidates) {
  std::size_t widest = 1;
  for (const std::string& candidate : candidates) widest = std::max(widest, model::display_width(candidate));
  const std::size_t columns = std::max<std::size_t>(1, terminal_width().value_or(narrow) / (widest + 2));
  std::string text = "\n";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool last = i + 1 == candidates.size() || (i + 1) % columns == 0;
    text += last ? candidates[i] + '\n' : model::pad_right(candidates[i], widest + 2);
  }
  std::fputs(text.c_str(), stdout);
}

EditorState& state_of(EditLine* editor) {
  void* state = nullptr;
  el_get(editor, EL_CLIENTDATA, &state);
  check(state != nullptr, "the editor knows its line");
  return *static_cast<EditorState*>(state);
}

char* prompt_of(EditLine* editor) { return state_of(editor).prompt.data(); }

unsigned char complete_line(EditLine* editor, int /*key*/) {
  EditorState& state = state_of(editor);
  const LineInfo* info = el_line(editor);
  const std::string line(info->buffer, info->cursor);
  const Completion completion = state.completer(line);
  if (completion.candidates.empty()) return CC_REFRESH_BEEP;
  const std::string all = common_prefix(completion.candidates);
  const std::size_t typed = line.size() - completion.begin;
  if (all.size() > typed) {
    const std::string rest = all.substr(typed);
    if (el_insertstr(editor, rest.c_str()) != 0) return CC_REFRESH_BEEP;
    state.asked = line + rest;
    return CC_REFRESH;
  }
  if (completion.candidates.size() == 1) return CC_REFRESH;
  if (state.asked != line) {
    state.asked = line;
    return CC_REFRESH_BEEP;
  }
  list(completion.candidates);
  return CC_REDISPLAY;
}

unsigned char drop_line(EditLine* editor, int /*key*/) {
  state_of(editor).dropped = true;
  std::fputs("^C\n", stdout);
  return CC_NEWLINE;
}

// While it lives Ctrl-C is a key like others, else it is a signal. The editor takes what it finds over into the modes
// it sets.
class InterruptAsKey {
 public:
  InterruptAsKey() : known_(::tcgetattr(STDIN_FILENO, &before_) == 0) { set(_POSIX_VDISABLE); }
  ~InterruptAsKey() { set(before_.c_cc[VINTR]); }
  InterruptAsKey(const InterruptAsKey&) = delete;
  InterruptAsKey& operator=(const InterruptAsKey&) = delete;

 private:
  void set(cc_t key) const {
    termios now{};
    if (!known_ || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
    now.c_cc[VINTR] = key;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }

  termios before_{};
  bool known_;
};

// noam speaks UTF-8, whatever the machine is set to.
void speak_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

LineEditor::LineEditor(std::string prompt, Completer completer, HistoryFile history)
    : state_(std::make_unique<EditorState>(std::move(prompt), std::move(completer), std::move(history))) {
  speak_utf8();
  EditorState& state = *state_;
  state.history = history_init();
  state.editor = el_init("noam", stdin, stdout, stderr);
  check(state.history != nullptr && state.editor != nullptr, "there is memory for a line");
  ::history(state.history, &state.event, H_SETSIZE, static_cast<int>(HistoryFile::most));
  for (const std::string& line : state.file.load()) {
    ::history(state.history, &state.event, H_ENTER, line.c_str());
    state.last = line;
  }
  el_set(state.editor, EL_CLIENTDATA, static_cast<void*>(&state));
  el_set(state.editor, EL_PROMPT, prompt_of);
  el_set(state.editor, EL_HIST, ::history, state.history);
  el_set(state.editor, EL_EDITOR, "emacs");
  el_set(state.editor, EL_SIGNAL, 1);
  el_set(state.editor, EL_ADDFN, "noam-complete", "Complete statements and parameters", complete_line);
  el_set(state.editor, EL_ADDFN, "noam-drop", "Drop the line", drop_line);
  el_set(state.editor, EL_BIND, "^I", "noam-complete", nullptr);
  el_set(state.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(state.editor, EL_BIND, "^W", "ed-delete-prev-word", nullptr);
  el_set(state.editor, EL_BIND, "^C", "noam-drop", nullptr);
  el_source(state.editor, nullptr);  // ~/.editrc
}

LineEditor::~LineEditor() {
  el_end(state_->editor);
  history_end(state_->history);
}

TypedKind LineEditor::next(std::string& line) {
  EditorState& state = *state_;
  state.dropped = false;
  state.asked.reset();
  int count = 0;
  const char* typed = nullptr;
  {
    const InterruptAsKey as_key;
    // Before the prompt is seen: a key that the terminal takes for itself (Ctrl-D) would be lost.
    el_set(state.editor, EL_PREP_TERM, 1);
    typed = el_gets(state.editor, &count);
  }
  if (state.dropped) return TypedKind::Dropped;
  if (typed == nullptr || count <= 0) return TypedKind::End;
  line.assign(typed, static_cast<std::size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  const bool empty = line.find_first_not_of(" \t") == std::string::npos;
  if (!empty && line != state.last) {
    ::history(state.history, &state.event, H_ENTER, line.c_str());
    state.file.add(line);
    state.last = line;
  }
  return TypedKind::Line;
}

}  // namespace noam::cli
