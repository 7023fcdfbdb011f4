#include "noam/cli/shell_command.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "noam/cli/answers.h"
#include "noam/cli/files.h"
#include "noam/cli/line_editor.h"
#include "noam/cli/lines.h"
#include "noam/cli/report.h"
#include "noam/cli/shell_line.h"
#include "noam/cli/verify_command.h"
#include "noam/design/print.h"
#include "noam/language/statements.h"
#include "noam/language/suggest.h"
#include "noam/model/json_text.h"
#include "noam/model/layout.h"
#include "noam/model/show.h"

namespace noam::cli {

namespace {

constexpr unsigned deepest_file = 16;
constexpr std::size_t written_at_once = 4096;

std::string line_of(const Json& json) { return json.dump() + "\n"; }

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A descriptor that is closed in the end.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string duration_text(double seconds) {
  const double milliseconds = seconds * 1000;
  if (milliseconds < 9.95) return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 999.5) return fmt::format("{:.0f} ms", milliseconds);
  return fmt::format("{:.2f} s", seconds);
}

void Shell::complain(const std::string& message) const { cli::complain(where_ + message); }

Shell::Next Shell::write(std::string_view text) {
  while (!text.empty()) {
    if (interrupted_) {
      complain("interrupted");
      return Next::GoOn;
    }
    // Some lines at once, at least one.
    std::size_t end = text.rfind('\n', written_at_once);
    if (end == std::string_view::npos) end = text.find('\n');
    end = end == std::string_view::npos ? text.size() : end + 1;
    if (const auto written = write_output(text.substr(0, end)); !written) {
      complain(written.error().message);
      return Next::Broken;
    }
    text.remove_prefix(end);
  }
  return Next::GoOn;
}

Shell::Next Shell::answer(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return Next::GoOn;
  line.remove_prefix(begin);
  if (line.starts_with("//")) return Next::GoOn;
  if (line.front() == '.') return run_dot_command(line);
  if (line.front() == '{') return run_json(line);
  return is_for_shell(line) ? run_dot_command("." + std::string(line)) : run_statement(line);
}

// `exit`, `quit` and `help` are for the shell, unless the model has a statement of this name and arguments follow.
bool Shell::is_for_shell(std::string_view line) const {
  const DotCommand typed = read_dot_command(line);
  const auto& words = shell_words();
  if (std::find(words.begin(), words.end(), typed.name) == words.end()) return false;
  return typed.argument.empty() || !language::find_statement(session_.model(), typed.name, "");
}

Result<language::Statement> Shell::find_typed(std::string_view name) const {
  auto statement = language::find_statement(session_.model(), name, "type `.statements` for the list");
  if (statement) return statement;
  // Someone who wants to leave is not led to a command that changes data.
  std::vector<std::string_view> names = language::statement_names(session_.model());
  names.insert(names.begin(), shell_words().begin(), shell_words().end());
  const auto near = language::closest(name, names);
  if (near && std::find(shell_words().begin(), shell_words().end(), *near) != shell_words().end())
    return Error{fmt::format("no query or command `{}`; did you mean `{}`?", name, *near)};
  return statement;
}

Shell::Next Shell::run_statement(std::string_view line) {
  const auto typed = read_statement(line);
  if (!typed) {
    complain(typed.error().message);
    return Next::GoOn;
  }
  const auto statement = find_typed(typed->name);
  if (!statement) {
    complain(statement.error().message);
    return Next::GoOn;
  }
  Json params = Json::object();
  for (const TypedArgument& argument : typed->arguments) {
    // In a json quotes are part of the value.
    const model::Parameter* parameter = language::find_parameter(*statement, argument.name);
    const bool as_typed = parameter != nullptr && parameter->type.kind == model::TypeKind::Json;
    const auto added = language::add_argument(session_.model(), *statement, argument.name,
                                              as_typed ? argument.raw : argument.text, params);
    if (!added) {
      complain(added.error().message);
      return Next::GoOn;
    }
  }
  const Json request{{"run", typed->name}, {"params", std::move(params)}};
  const Stopwatch watch;
  Json answer = session_.answer(request);
  const double seconds = watch.seconds();
  if (!json_) language::add_example(session_.model(), *statement, request["params"], answer);
  return print(request, answer, seconds);
}

Shell::Next Shell::run_json(std::string_view line) {
  const Stopwatch watch;
  const Json answer = Json::parse(answer_request(session_, line));
  const double seconds = watch.seconds();
  const auto request = parse_json(line);
  return print(request ? request->json : Json::object(), answer, seconds);
}

Shell::Next Shell::print(const Json& request, const Json& answer, double seconds) {
  if (answer.contains("rows")) {
    next_.reset();
    paged_ = answer.contains("cursor") || request.contains("cursor");
    if (answer.contains("cursor")) {
      next_ = request;
      (*next_)["cursor"] = answer["cursor"];
    }
  }
  if (json_) return write(line_of(answer));
  if (answer.contains("error")) {
    complain(answer["error"]["code"] == "interrupted" ? "interrupted" : error_text(answer));
    return Next::GoOn;
  }
  const std::string time = timing_ ? duration_text(seconds) : "";
  if (answer.contains("outcome")) return write(outcome_text(answer) + (timing_ ? fmt::format("({})\n", time) : ""));
  const auto statement = language::find_statement(session_.model(), request["run"].get<std::string>(), "");
  const std::size_t width =
      wide_ ? std::numeric_limits<std::size_t>::max() : terminal_width().value_or(model::page_width);
  std::string text = rows_text(statement->query->row, answer["rows"], width, timing_ ? ", " + time : "");
  if (next_) text += "more rows: .next\n";
  return write(text);
}

Shell::Next Shell::run_dot_command(std::string_view line) {
  DotCommand command = read_dot_command(line);
  if (command.name == ".exit") command.name = ".quit";
  const DotCommandInfo* info = nullptr;
  std::vector<std::string_view> names;
  for (const DotCommandInfo& one : dot_commands()) {
    if (one.name == command.name) info = &one;
    names.push_back(one.name);
  }
  if (info == nullptr) {
    complain(fmt::format("no command `{}`; {}", command.name,
                         language::remedy(command.name, names, "type `.help` for the list")));
    return Next::GoOn;
  }
  if (info->takes == Takes::Nothing && !command.argument.empty()) {
    complain(fmt::format("`{}` takes no argument", info->name));
    return Next::GoOn;
  }
  if (info->takes != Takes::Nothing && command.argument.empty() && info->takes != Takes::Switch) {
    complain(fmt::format("`{}`: missing {}", info->name, info->form));
    return Next::GoOn;
  }
  if (command.name == ".quit") return Next::Leave;
  if (command.name == ".help") return help();
  if (command.name == ".statements") return write(model::show_signatures(session_.model()));
  if (command.name == ".design") return write(design::print_design(session_.program()));
  if (command.name == ".next") return next_page();
  if (command.name == ".json") return set(json_, command.name, command.argument);
  if (command.name == ".timing") return set(timing_, command.name, command.argument);
  if (command.name == ".wide") return set(wide_, command.name, command.argument);
  if (command.name == ".refresh") return refresh(command.argument);
  if (command.name == ".sweep") return sweep();
  if (command.name == ".verify") return verify();
  if (command.name == ".read") return read_file(command.argument);
  const auto statement = find(command.argument);
  if (!statement) {
    complain(statement.error().message);
    return Next::GoOn;
  }
  return write(command.name == ".show" ? model::show_statement(session_.model(), *statement)
                                       : design::print_plans(session_.program(), *statement));
}

Result<model::StatementRef> Shell::find(const std::string& name) const {
  const model::Model& model = session_.model();
  NOAM_ASSIGN_OR_RETURN(const language::Statement statement,
                        language::find_statement(model, name, "type `.statements` for the list"));
  model::StatementRef out;
  out.command = statement.query == nullptr;
  if (out.command)
    while (model.commands[out.index].name != name) ++out.index;
  else
    out.index = static_cast<std::uint32_t>(statement.query - model.queries.data());
  return out;
}

Shell::Next Shell::set(bool& what, const std::string& name, const std::string& to) {
  if (to == "on" || to == "off") {
    what = to == "on";
    return Next::GoOn;
  }
  if (!to.empty()) {
    complain(fmt::format("`{}` must be `on` or `off`", name));
    return Next::GoOn;
  }
  return write(fmt::format("{} is {}\n", name, what ? "on" : "off"));
}

Shell::Next Shell::next_page() {
  if (!next_) {
    complain(paged_ ? "that was the last page" : "the last query has only one page");
    return Next::GoOn;
  }
  const Json request = *next_;
  const Stopwatch watch;
  const Json answer = session_.answer(request);
  return print(request, answer, watch.seconds());
}

Shell::Next Shell::refresh(const std::string& query) {
  std::vector<std::string_view> names;
  for (const model::Query& one : session_.model().queries)
    if (one.refresh) names.push_back(one.name);
  if (std::find(names.begin(), names.end(), query) == names.end()) {
    complain(fmt::format("no refreshed query `{}`; {}", query,
                         language::remedy(query, names, "type `.statements` for the list")));
    return Next::GoOn;
  }
  return run_json(Json{{"refresh", query}}.dump());
}

Shell::Next Shell::sweep() {
  if (json_) return run_json(R"({"sweep": true})");
  const Stopwatch watch;
  const auto gone = session_.sweep();
  if (!gone) {
    complain(gone.error().message);
    return Next::GoOn;
  }
  return write(fmt::format("{} deleted{}\n", model::counted(*gone, "instance", "instances"),
                           timing_ ? fmt::format(" ({})", duration_text(watch.seconds())) : ""));
}

Shell::Next Shell::verify() {
  const auto found = session_.verify();
  if (!found) {
    complain(found.error().message);
    return Next::GoOn;
  }
  return write(json_ ? verification_json(*found, strategy_, std::nullopt)
                     : verification_text(*found, strategy_, std::nullopt));
}

Shell::Next Shell::read_file(const std::string& path) {
  if (depth_ == deepest_file) {
    complain(fmt::format("{}: `.read` cannot be nested more than {} deep", path, deepest_file));
    return Next::GoOn;
  }
  const OpenFile file(path);
  if (file.descriptor() < 0) {
    complain(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    return Next::GoOn;
  }
  const std::string outside = where_;
  ++depth_;
  LineReader reader(file.descriptor());
  std::string line;
  Next next = Next::GoOn;
  for (std::size_t number = 1; next == Next::GoOn && !interrupted_; ++number) {
    const LineKind kind = reader.next(line);
    if (kind == LineKind::End) break;
    where_ = fmt::format("{}:{}: ", path, number);
    if (kind == LineKind::Failed) {
      complain(fmt::format("cannot be read: {}", std::strerror(errno)));
      break;
    }
    if (kind == LineKind::TooLong)
      complain(fmt::format("the line is longer than {} MiB", longest_line >> 20U));
    else
      next = answer(line);
  }
  --depth_;
  where_ = outside;
  // `.quit` ends the file that it stands in.
  return next == Next::Leave ? Next::GoOn : next;
}

Shell::Next Shell::help() {
  model::Table table({}, std::string::npos);
  for (const DotCommandInfo& info : dot_commands())
    table.add({fmt::format("{}{}{}", info.name, info.form.empty() ? "" : " ", info.form), std::string(info.help)});
  return write(
      "Type a statement of the model with its parameters, or a line of JSON:\n"
      "\n"
      "  newest username=ann\n"
      "  write author=ann content=\"two words\" tags=[\"a\", \"b\"]\n"
      "  {\"run\": \"newest\", \"params\": {\"username\": \"ann\"}}\n"
      "\n"
      "Put a text with blanks in double quotes (escapes as in a model) or single quotes (no escapes, as in\n"
      "sh). Lists, maps and values are JSON. A parameter that is not given is absent.\n"
      "\n"
      "Tab completes names. The arrow keys and Ctrl-R find earlier lines. Ctrl-C drops a line, or interrupts\n"
      "an answer. `help`, `quit` and `exit` also work without a dot; if the model has a statement of that\n"
      "name, type it with its parameters, or as JSON. Commands of the shell start with a dot:\n"
      "\n" +
      table.print(2));
}

// --- The command -----------------------------------------------------------------------------------------------------

namespace {

// Of the process: a signal knows nothing else.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a handler of signals may set it");

extern "C" void interrupt(int /*signal*/) { interrupted = true; }

// Ctrl-C ends what is running, and not the shell. Calls that wait are woken.
void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

int answer_typed(Shell& shell, const model::Model& model, const Opened& opened) {
  catch_interrupts();
  fmt::print("{} on {} under `{}`; type `help` for help, `quit` to leave\n", model.name, opened.url, opened.strategy);
  LineEditor editor(
      model.name + "> ", [&](std::string_view line) { return complete(model, line); }, HistoryFile(history_path()));
  std::string line;
  while (true) {
    std::fflush(stdout);
    switch (editor.next(line)) {
      case TypedKind::Dropped:
        continue;
      case TypedKind::End:
        std::fputs("\n", stdout);
        std::fflush(stdout);
        return exit_fine;
      case TypedKind::Line:
        break;
    }
    std::fflush(stdout);
    interrupted = false;
    switch (shell.answer(line)) {
      case Shell::Next::GoOn:
        break;
      case Shell::Next::Leave:
        return exit_fine;
      case Shell::Next::Broken:
        return exit_wrong_use;
    }
  }
}

int answer_piped(Shell& shell) {
  LineReader reader(STDIN_FILENO);
  std::string line;
  while (true) {
    switch (reader.next(line)) {
      case LineKind::Line:
        break;
      case LineKind::TooLong:
        complain(fmt::format("the line is longer than {} MiB", longest_line >> 20U));
        continue;
      case LineKind::Failed:
        return complain(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
      case LineKind::End:
        return exit_fine;
    }
    const Shell::Next next = shell.answer(line);
    if (next != Shell::Next::GoOn) return next == Shell::Next::Leave ? exit_fine : exit_wrong_use;
  }
}

}  // namespace

Command add_shell_command(CommandLine& line, ShellOptions& options) {
  Command command = line.add_command("shell", "Run statements interactively");
  add_opening_options(command, options.opening);
  command.add_option("--after", options.after,
                     "First run the requests of this file, JSON lines as for `noam run --batch`");
  command.footer(
      "A line is a statement with its parameters, as for `noam run`, or a line of JSON. Type `.help` for more.\n"
      "Tab completes names. The history is kept in $XDG_STATE_HOME/noam/history, or in the file $NOAM_HISTORY if set\n"
      "(empty: no history). If standard input is not a terminal, there is no prompt, and errors do not stop the run.\n"
      "Exit codes: 0 end of input or `.quit`, whatever the answers; 1 the model has errors; 2 usage error (files,\n"
      "arguments, stores).\n"
      "Example: noam shell game.noam\n"
      "         echo 'player username=mary' | noam shell game.noam\n"
      "More:    docs/commands/shell.md");
  return command;
}

int run_shell(const ShellOptions& options) {
  // If the reader of the answers goes away, writing fails and the error is reported.
  std::signal(SIGPIPE, SIG_IGN);
  if (options.opening.path == "-")
    return complain("the shell reads statements from standard input: the model must be a file");
  if (options.after == "-") return complain("the shell reads statements from standard input: --after must be a file");
  runtime::SessionOptions session_options;
  session_options.interrupted = &interrupted;
  OpeningOptions opening = options.opening;
  if (!options.after.empty()) opening.otherwise = "memory:";
  const Opened opened = open_model(opening, std::move(session_options));
  if (!opened.session) return opened.code;
  if (!options.after.empty()) {
    const auto before = answer_file(*opened.session, options.after);
    if (!before) return complain(before.error().message);
    if (before->refused + before->unknown + before->errors > 0)
      complain(fmt::format("{}: {}", options.after, answered_text(*before)));
  }
  Shell shell(*opened.session, opened.strategy, interrupted);
  const bool typed = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  return typed ? answer_typed(shell, opened.session->model(), opened) : answer_piped(shell);
}

}  // namespace noam::cli
