#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/cli/line_editor.h"
#include "noam/cli/shell_command.h"
#include "noam/cli/shell_line.h"
#include "tests/support.h"

// `noam shell` as a person meets it, on a terminal, and as a script does.
namespace noam::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;

constexpr const char* tab = "\t";
constexpr const char* enter = "\r";
constexpr const char* arrow_up = "\x1B[A";
constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";
constexpr const char* ctrl_r = "\x12";

std::string microblog() { return (source_dir() / "examples/microblog/microblog.noam").string(); }
std::string morning() { return (source_dir() / "examples/microblog/morning.jsonl").string(); }

// The program on a terminal of its own.
class Terminal {
 public:
  using Variables = std::map<std::string, std::string>;

  explicit Terminal(const std::vector<std::string>& arguments, const Variables& variables,
                    unsigned short columns = 100) {
    std::vector<std::string> all{noam_program(), "shell"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(all.size() + 1);
    for (std::string& one : all) argv.push_back(one.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_row = 40;
    size.ws_col = columns;
    process_ = ::forkpty(&descriptor_, nullptr, nullptr, &size);
    if (process_ == 0) {
      ::setenv("TERM", "xterm", 1);
      ::setenv("NOAM_HISTORY", "", 1);
      ::setenv("HOME", "/nonexistent", 1);
      ::unsetenv("XDG_STATE_HOME");
      for (const auto& [name, value] : variables) {
        if (name == "XDG_STATE_HOME") ::unsetenv("NOAM_HISTORY");
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    EXPECT_GT(process_, 0);
  }
  ~Terminal() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(descriptor_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys) const {
    while (!keys.empty()) {
      const ssize_t written = ::write(descriptor_, keys.data(), keys.size());
      ASSERT_GT(written, 0);
      keys.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // What appears up to this text, and it; what comes later stays for the next look. While nothing new comes,
  // `meanwhile` is called now and then.
  std::string until(const std::string& text, const std::function<void()>& meanwhile = {}) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
      if (const std::size_t at = seen_.find(text); at != std::string::npos) {
        std::string out = seen_.substr(0, at + text.size());
        seen_.erase(0, at + text.size());
        return out;
      }
      pollfd ready{descriptor_, POLLIN, 0};
      if (::poll(&ready, 1, 100) > 0) {
        if (!read_some()) break;
      } else if (meanwhile) {
        meanwhile();
      }
      if (std::chrono::steady_clock::now() > deadline) break;
    }
    ADD_FAILURE() << "`" << text << "` did not appear, but:\n" << seen_;
    return std::exchange(seen_, {});
  }

  // The exit code, once it has left.
  int leave() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (bool there = true; there;) {
      pollfd ready{descriptor_, POLLIN, 0};
      if (::poll(&ready, 1, 100) > 0) there = read_some();
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "it did not leave, but:\n" << seen_;
        return -1;
      }
    }
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t count = ::read(descriptor_, buffer, sizeof buffer);
    if (count <= 0) return false;  // EIO: the other side is gone
    seen_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int descriptor_ = -1;
  pid_t process_ = -1;
  std::string seen_;
};

constexpr const char* prompt = "microblog> ";

}  // namespace

TEST(Shell, AnswersWhatIsTyped) {
  Terminal terminal({microblog(), "--after", morning()}, {});
  terminal.until(prompt);
  terminal.type(std::string("newest username=ann") + enter);
  const std::string answer = terminal.until(prompt);
  EXPECT_NE(answer.find("104  2026-06-01T08:17:00.000Z  cleo    The coffee was a mistake"), std::string::npos)
      << answer;
  EXPECT_NE(answer.find("(3 rows, "), std::string::npos) << answer;
  terminal.type(std::string("register username=ann id=9") + enter);
  EXPECT_NE(terminal.until(prompt).find(R"(refused: User "ann" already exists)"), std::string::npos);
  terminal.type(std::string("nwest") + enter);
  EXPECT_NE(terminal.until(prompt).find("did you mean `newest`?"), std::string::npos);
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, IsLeftByTheUsualWords) {
  for (const char* word : {"exit", "quit", ".quit", ".exit"}) {
    SCOPED_TRACE(word);
    Terminal terminal({microblog(), "--store", "memory:"}, {});
    terminal.until(prompt);
    terminal.type(std::string("help") + enter);
    terminal.until(".quit");
    terminal.until(prompt);
    terminal.type(std::string(word) + enter);
    EXPECT_EQ(terminal.leave(), 0);
  }
}

TEST(Shell, CompletesStatementsAndParameters) {
  Terminal terminal({microblog(), "--after", morning()}, {});
  terminal.until(prompt);
  terminal.type(std::string("newe") + tab + tab + "ann" + enter);
  EXPECT_NE(terminal.until("rows").find("The coffee was a mistake"), std::string::npos);
  terminal.until(prompt);
  // Two begin so: what they share is put in, and then they are listed.
  terminal.type(std::string("po") + tab + tab);
  terminal.until("post      posts_of\r\n");
  terminal.type(std::string("s_of author=cleo") + enter);
  EXPECT_NE(terminal.until("(2 rows").find("Dog walked"), std::string::npos);
  terminal.until(prompt);
  terminal.type(std::string(".qu") + tab + enter);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, RemembersLinesAlsoTheNextDay) {
  const TemporaryFolder folder;
  const Terminal::Variables variables{{"XDG_STATE_HOME", folder.path().string()}};
  {
    Terminal terminal({microblog(), "--after", morning()}, variables);
    terminal.until(prompt);
    for (int i = 0; i < 2; ++i) {
      terminal.type(std::string("posts_of author=cleo") + enter);
      terminal.until("(2 rows");
      terminal.until(prompt);
    }
    terminal.type(std::string(arrow_up) + enter);
    terminal.until("(2 rows");
    terminal.until(prompt);
    terminal.type(std::string(".timing off") + enter);
    terminal.until(prompt);
    terminal.type(ctrl_d);
    EXPECT_EQ(terminal.leave(), 0);
  }
  EXPECT_EQ(read_file(folder.path() / "noam/history"), "posts_of author=cleo\n.timing off\n");
  Terminal terminal({microblog(), "--after", morning()}, variables);
  terminal.until(prompt);
  terminal.type(std::string(arrow_up) + arrow_up + enter);
  terminal.until("(2 rows");
  terminal.until(prompt);
  terminal.type(std::string(ctrl_r) + "tim" + enter);
  terminal.until(prompt);
  terminal.type(std::string(".timing") + enter);
  terminal.until(".timing is off");
  terminal.until(prompt);
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, LivesWithoutAPlaceForItsHistory) {
  Terminal terminal({microblog(), "--store", "memory:"}, {{"XDG_STATE_HOME", "/proc/nowhere"}});
  terminal.until(prompt);
  terminal.type(std::string("tweet id=1") + enter);
  terminal.until("(0 rows");
  terminal.until(prompt);
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, DropsALineAtCtrlC) {
  Terminal terminal({microblog(), "--after", morning()}, {});
  terminal.until(prompt);
  terminal.type(std::string("delete_tweet id=103") + ctrl_c);
  terminal.until(prompt);
  terminal.type(std::string("tweet id=103") + enter);
  terminal.until("(1 row");
  terminal.until(prompt);
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, PrintsRowsThatDoNotFitOneValueALine) {
  Terminal terminal({microblog(), "--after", morning()}, {}, 60);
  terminal.until(prompt);
  terminal.type(std::string("posts_of author=cleo") + enter);
  EXPECT_NE(terminal.until(prompt).find("content   The coffee was a mistake\r\n"), std::string::npos);
  terminal.type(std::string(".wide on") + enter);
  terminal.until(prompt);
  terminal.type(std::string("posts_of author=cleo") + enter);
  EXPECT_NE(terminal.until("(2 rows").find("104  2026-06-01T08:17:00.000Z  The coffee was a mistake"),
            std::string::npos);
  terminal.until(prompt);
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

namespace {

// A model with many instances.
struct Many {
  explicit Many(int count) {
    write_file(folder.path() / "many.noam",
               "model many\n"
               "entity Note { id: int key  words: text }\n"
               "query all { select n.id, n.words from Note n }\n"
               "query one($id) { select n.words from Note n where n.id = $id }\n"
               "query triples { select a.id as a, b.id as b, c.id as c from Note a, Note b, Note c }\n"
               "command write($id, $words) { insert Note { id: $id, words: $words } }\n");
    std::string requests;
    for (int i = 1; i <= count; ++i)
      requests += "{\"run\": \"write\", \"params\": {\"id\": " + std::to_string(i) +
                  ", \"words\": \"some words that fill a line\"}}\n";
    write_file(folder.path() / "many.jsonl", requests);
  }
  [[nodiscard]] std::vector<std::string> arguments() const {
    return {(folder.path() / "many.noam").string(), "--after", (folder.path() / "many.jsonl").string()};
  }

  TemporaryFolder folder;
};

}  // namespace

TEST(Shell, StopsALongAnswerAtCtrlC) {
  const Many many(30'000);
  Terminal terminal(many.arguments(), {});
  terminal.until("many> ");
  terminal.type(std::string("all") + enter);
  // Nobody reads on, so the shell waits in the midst of it.
  terminal.until("some words that fill a line\r\n");
  terminal.type(ctrl_c);
  const std::string rest = terminal.until("interrupted\r\n");
  EXPECT_EQ(rest.find("30000"), std::string::npos);
  terminal.until("many> ");
  terminal.type(std::string("one id=30000") + enter);
  terminal.until("(1 row");
  terminal.until("many> ");
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

TEST(Shell, EndsARunningQueryAtCtrlC) {
  const Many many(250);
  Terminal terminal(many.arguments(), {});
  terminal.until("many> ");
  terminal.type(std::string("triples") + enter);
  // Before the query runs Ctrl-C is a key of the editor; so it is pressed until it works.
  const std::string answer = terminal.until("noam: interrupted\r\n", [&] { terminal.type(ctrl_c); });
  EXPECT_EQ(answer.find("rows"), std::string::npos);
  terminal.until("many> ");
  terminal.type(std::string("one id=250") + enter);
  terminal.until("(1 row");
  terminal.until("many> ");
  terminal.type(ctrl_d);
  EXPECT_EQ(terminal.leave(), 0);
}

// --- Without a terminal ----------------------------------------------------------------------------------------------

namespace {

ProgramRun piped(const std::string& input) { return run_noam({"shell", microblog(), "--after", morning()}, input); }

}  // namespace

TEST(PipedShell, AnswersLinesWithoutAPrompt) {
  const ProgramRun run = piped(
      ".timing off\n"
      "\n"
      "// a remark\n"
      "posts_of author=\"cleo\"\n"
      "{\"run\": \"posts_of\", \"params\": {\"author\": \"dora\"}}\n"
      "register username=zoe id=77\n"
      "register username=zoe id=77\n"
      ".json on\n"
      "tweet id=103");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            " id  at                        content                         language  likes  shares\n"
            "104  2026-06-01T08:17:00.000Z  The coffee was a mistake        en            0       1\n"
            "102  2026-06-01T08:03:00.000Z  Dog walked, coffee made, rain!  en            2       0\n"
            "(2 rows)\n"
            " id  at                        content       language  likes  shares\n"
            "103  2026-06-01T08:04:00.000Z  Guten Morgen  de            0       0\n"
            "(1 row)\n"
            "applied\n"
            "refused: User \"zoe\" already exists [exists]\n"
            "{\"rows\":[{\"tweet\":{\"id\":103,\"author\":\"dora\",\"at\":\"2026-06-01T08:04:00.000Z\",\"content\":"
            "\"Guten Morgen\",\"language\":\"de\"},\"likes\":0,\"shares\":0}]}\n");
}

TEST(PipedShell, GoesOnAfterErrors) {
  const ProgramRun run = piped(
      "nwest\n"
      "newest nobody=ann\n"
      "newest username=\"ann\n"
      "newest username=ann username=ann\n"
      "tweet id=five\n"
      ".shw newest\n"
      ".show\n"
      ".show nwest\n"
      ".json maybe\n"
      ".quit now\n"
      ".refresh newest\n"
      ".read /no/such/file\n"
      "{\"run\": 5}\n"
      ".next\n"
      ".timing off\n"
      "tweet id=1\n");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "(0 rows)\n");
  EXPECT_EQ(run.err,
            "noam: no query or command `nwest`; did you mean `newest`?\n"
            "noam: `newest` has no parameter `nobody`; available: username\n"
            "noam: username: `\"` is not closed\n"
            "noam: `username` is given twice\n"
            "noam: id: expected int, not \"five\"; for example id=42 [value]\n"
            "noam: no command `.shw`; did you mean `.show`?\n"
            "noam: `.show`: missing STATEMENT\n"
            "noam: no query or command `nwest`; did you mean `newest`?\n"
            "noam: `.json` must be `on` or `off`\n"
            "noam: `.quit` takes no argument\n"
            "noam: no refreshed query `newest`; available: top_accounts, top_followers\n"
            "noam: /no/such/file: cannot be read: No such file or directory\n"
            "noam: `run` must be the name of a query or command [request]\n"
            "noam: the last query has only one page\n");
}

TEST(PipedShell, TakesSingleQuotesAsShDoes) {
  const TemporaryFolder folder;
  write_file(
      folder.path() / "notes.noam",
      "model notes\n"
      "entity Note { id: int key  text: text  tags: list<text>  about: json? }\n"
      "query note($id) { select n.text, n.tags, n.about from Note n where n.id = $id }\n"
      "command write($id, $text, $tags, $about) { insert Note { id: $id, text: $text, tags: $tags, about: $about "
      "} }\n");
  const ProgramRun run = run_noam({"shell", (folder.path() / "notes.noam").string(), "--store", "memory:"},
                                  ".timing off\n"
                                  "write id=1 text='it is \"so\", a\\nb' tags='[\"a b\"]' about='{\"a\": 1}'\n"
                                  "write 'id=2' 'text=two words' tags=[] 'about=\"x\"'\n"
                                  ".json on\n"
                                  "note id=1\n"
                                  "note id=2\n"
                                  "note id='1\n");
  EXPECT_EQ(run.out,
            "applied\napplied\n"
            R"({"rows":[{"text":"it is \"so\", a\\nb","tags":["a b"],"about":{"a":1}}]})"
            "\n"
            R"({"rows":[{"text":"two words","tags":[],"about":"x"}]})"
            "\n");
  EXPECT_EQ(run.err, "noam: id: `'` is not closed; put a text that starts with it in double quotes\n");
}

TEST(PipedShell, KeepsItsWordsFromStatementsOfTheSameName) {
  const TemporaryFolder folder;
  write_file(folder.path() / "doors.noam",
             "model doors\n"
             "entity Door { id: int key  open: bool }\n"
             "query doors { select d.id, d.open from Door d order by d.id }\n"
             "query help($id) { select d.open from Door d where d.id = $id }\n"
             "command exist($id) { insert Door { id: $id, open: true } }\n"
             "command exit($id) { delete Door[$id] }\n"
             "command qwit { delete Door d where d.open = true }\n");
  const auto run = [&](const std::string& input) {
    return run_noam({"shell", (folder.path() / "doors.noam").string(), "--store", "memory:"}, ".timing off\n" + input);
  };
  // With its arguments it is the statement, without them the word of the shell.
  const ProgramRun all = run("exist id=1\nexist id=2\nhelp id=1\nexit id=1\ndoors\nexit\nexist id=3\n");
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.err, "");
  EXPECT_EQ(all.out, "applied\napplied\nopen\ntrue\n(1 row)\napplied\nid  open\n 2  true\n(1 row)\n");
  const ProgramRun help = run("help\n");
  EXPECT_NE(help.out.find("Commands of the shell start with a dot:\n"), std::string::npos) << help.out;
  // Nobody who wants to leave is led to what changes data.
  const ProgramRun quit = run("exist id=1\nquit now\nquitt\nhelpp\nquit\nexist id=2\n");
  EXPECT_EQ(quit.out, "applied\n");
  EXPECT_EQ(quit.err,
            "noam: `.quit` takes no argument\n"
            "noam: no query or command `quitt`; did you mean `quit`?\n"
            "noam: no query or command `helpp`; did you mean `help`?\n");
}

TEST(PipedShell, TurnsPages) {
  const TemporaryFolder folder;
  write_file(folder.path() / "pages.noam",
             "model pages\n"
             "entity Note { id: int key }\n"
             "query some($from) { select n.id from Note n where n.id > $from order by n.id limit 2 }\n"
             "command write($id) { insert Note { id: $id } }\n");
  write_file(folder.path() / "notes.txt", "write id=1\nwrite id=2\nwrite id=3\nwrit id=4\n.quit\nwrite id=5\n");
  const ProgramRun run = run_noam({"shell", (folder.path() / "pages.noam").string(), "--store", "memory:"},
                                  ".timing off\n.read " + (folder.path() / "notes.txt").string() +
                                      "\nsome from=0\n.next\n.next\nsome from=9\n.next\n");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out,
            "applied\napplied\napplied\n"
            "id\n 1\n 2\n(2 rows)\nmore rows: .next\n"
            "id\n 3\n(1 row)\n"
            "(0 rows)\n");
  EXPECT_EQ(run.err, "noam: " + (folder.path() / "notes.txt").string() +
                         ":4: no query or command `writ`; did you mean `write`?\n"
                         "noam: that was the last page\n"
                         "noam: the last query has only one page\n");
}

TEST(PipedShell, HasCommandsOfItsOwn) {
  const ProgramRun run = piped(
      ".timing off\n.show tweet\n.explain tweet\n.refresh top_accounts\ntop_accounts\n.sweep\n.verify\n.statements\n"
      ".design\n.help\n.timing\n");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* expected : {"  tweet($id: int)\n    walks    Tweet[id = $id]", "query tweet($id)",
                               "look up Tweet [t.id = $id]", "applied\nusername", "0 instances deleted\n",
                               ", no differences\n", "commands\n  register($username: text, $id: int)\n",
                               "collection Tweet of Tweet", ".read FILE", ".timing is off\n"})
    EXPECT_NE(run.out.find(expected), std::string::npos) << expected << "\n" << run.out;
}

TEST(PipedShell, HasAPageWithAllItsCommands) {
  const std::string page = read_file(source_dir() / "docs/commands/shell.md");
  for (const cli::DotCommandInfo& info : cli::dot_commands())
    EXPECT_NE(page.find("\n| `" + std::string(info.name) + (info.form.empty() ? "` |" : " ")), std::string::npos)
        << info.name;
}

TEST(PipedShell, RefusesWrongUse) {
  EXPECT_EQ(run_noam({"shell", "-"}).code, 2);
  EXPECT_EQ(run_noam({"shell", microblog(), "--after", "-"}).code, 2);
  EXPECT_EQ(run_noam({"shell", "/no/such/file"}).code, 2);
  EXPECT_EQ(run_noam({"shell", microblog(), "--store", "memory:", "--strategy", "none"}).code, 2);
}

TEST(ShellHistory, KeepsTheLastThousand) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "history").string();
  cli::HistoryFile history(path);
  EXPECT_TRUE(history.load().empty());
  for (int i = 0; i < 2'500; ++i) history.add("line " + std::to_string(i));
  const auto lines = history.load();
  ASSERT_EQ(lines.size(), 1'000U);
  EXPECT_EQ(lines.front(), "line 1500");
  EXPECT_EQ(lines.back(), "line 2499");
  EXPECT_EQ(read_file(path).find("line 1500\n"), 0U) << "the file was cut";
  cli::HistoryFile none(std::nullopt);
  none.add("x");
  EXPECT_TRUE(none.load().empty());
}

TEST(ShellTiming, IsReadable) {
  EXPECT_EQ(cli::duration_text(0.00012), "0.1 ms");
  EXPECT_EQ(cli::duration_text(0.0123), "12 ms");
  EXPECT_EQ(cli::duration_text(0.9997), "1.00 s");
  EXPECT_EQ(cli::duration_text(12.345), "12.35 s");
}

}  // namespace noam::tests
