#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "noam/base/json.h"
#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"
#include "noam/language/statements.h"

// `noam shell`: statements as they are typed, one after the other (docs/commands/shell.md).
namespace noam::cli {

struct ShellOptions {
  OpeningOptions opening;
  std::string after;  // a file of requests that are run before; `-`: standard input
};

Command add_shell_command(CommandLine& line, ShellOptions& options);
int run_shell(const ShellOptions& options);

// Answers lines on standard output; what is wrong with one is said on standard error.
class Shell {
 public:
  enum class Next : std::uint8_t { GoOn, Leave, Broken };  // Broken: nobody takes the answers

  // `interrupted` ends what is running, and what is being written. It and the session must outlive this.
  Shell(runtime::Session& session, std::string strategy, const std::atomic<bool>& interrupted)
      : session_(session), strategy_(std::move(strategy)), interrupted_(interrupted) {}

  Next answer(std::string_view line);

 private:
  Next run_dot_command(std::string_view line);
  Next run_statement(std::string_view line);
  Next run_json(std::string_view line);
  Next next_page();
  Next refresh(const std::string& query);
  Next sweep();
  Next verify();
  Next read_file(const std::string& path);
  Next help();

  // An answer of the session to a request.
  Next print(const Json& request, const Json& answer, double seconds);
  // Line by line, as long as nobody interrupts.
  Next write(std::string_view text);
  void complain(const std::string& message) const;
  [[nodiscard]] Result<model::StatementRef> find(const std::string& name) const;
  [[nodiscard]] bool is_for_shell(std::string_view line) const;
  // A statement that was typed; the error may suggest a word of the shell.
  [[nodiscard]] Result<language::Statement> find_typed(std::string_view name) const;
  Next set(bool& what, const std::string& name, const std::string& to);

  runtime::Session& session_;
  std::string strategy_;  // that the data lies under
  const std::atomic<bool>& interrupted_;
  bool json_ = false;
  bool timing_ = true;
  bool wide_ = false;
  std::optional<Json> next_;  // the request for the page after the last
  bool paged_ = false;        // there was one before
  std::string where_;         // `file:3: `, while a file is read
  unsigned depth_ = 0;        // of files that read files
};

// `0.8 ms`, `12 ms`, `1.25 s`.
std::string duration_text(double seconds);

}  // namespace noam::cli
