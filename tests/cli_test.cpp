#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/language/codes.h"
#include "tests/support.h"

// The program as a person or a script meets it: what it prints, and how it ends.
namespace noam::tests {

namespace {

const char* const fine = "model shop\nentity Product { sku: text key  price: decimal }\n";
const char* const wrong = "model shop\nentity Product { sku: text key  price: decimals }\n";

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Cli : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) const {
    const auto path = folder.path() / name;
    write_file(path, text);
    return path.string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }

  // Wrong use: exit code 2, one line on standard error that names the thing, nothing on standard output.
  static void expect_wrong_use(const ProgramRun& run, const std::string& mentions) {
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_EQ(run.err.rfind("noam: ", 0), 0U) << run.err;
    EXPECT_NE(run.err.find(mentions), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }

  // A wrong model: exit code 1, a diagnostic with this code, no crash.
  static void expect_wrong_model(const ProgramRun& run, const std::string& code) {
    EXPECT_EQ(run.code, 1) << run.out << run.err;
    EXPECT_NE(run.out.find("[" + code + "]"), std::string::npos) << run.out.substr(0, 2000);
    EXPECT_EQ(run.err, "");
  }

  TemporaryFolder folder;
};

}  // namespace

TEST_F(Cli, SaysNothingAboutAFineModel) {
  const ProgramRun run = run_noam({"check", file("shop.noam", fine)});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out + run.err, "");
}

namespace {

// What the program prints on a terminal.
std::string on_terminal(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{noam_program()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& one : all) argv.push_back(one.data());
  argv.push_back(nullptr);
  int descriptor = -1;
  const pid_t process = ::forkpty(&descriptor, nullptr, nullptr, nullptr);
  if (process == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  EXPECT_GT(process, 0);
  std::string out;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(count));
  ::close(descriptor);
  ::waitpid(process, nullptr, 0);
  std::erase(out, '\r');
  return out;
}

}  // namespace

TEST_F(Cli, SaysOnATerminalThatAModelIsFine) {
  const std::string good = file("shop.noam", fine);
  const std::string other = file("other.noam", "model other\nentity Product { sku: text key }\n");
  const std::string bad = file("bad.noam", "model bad\nentity Product { sku: decimals key }\n");
  EXPECT_EQ(on_terminal({"check", good}), good + ": ok\n");
  EXPECT_EQ(on_terminal({"check", good, other}), good + ": ok\n" + other + ": ok\n");
  EXPECT_EQ(on_terminal({"check", good, "--target", "mongodb"}), good + ": ok\n");
  EXPECT_EQ(on_terminal({"check", good, "--json"}), "[]\n");
  const std::string mixed = on_terminal({"check", bad, good});
  EXPECT_EQ(mixed.find(bad + ": ok"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find(bad + ": 1 error\n" + good + ": ok\n"), std::string::npos) << mixed;
  // A lint alone is no error, but not nothing.
  const std::string lint = file("lint.noam",
                                "model lint\nentity Product { sku: text key }\n"
                                "query some { select p.sku from Product p limit 3 }\n");
  EXPECT_EQ(on_terminal({"check", lint}).find(": ok"), std::string::npos);
}

TEST_F(Cli, TellsWhatIsWrongAndEndsWithOne) {
  const ProgramRun run = run_noam({"check", file("shop.noam", wrong)});
  expect_wrong_model(run, "unknown-type");
  EXPECT_NE(run.out.find("did you mean `decimal`?"), std::string::npos);
  EXPECT_NE(run.out.find("1 error"), std::string::npos);
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "colours are for terminals";
}

TEST_F(Cli, PrintsLintsButEndsWithZero) {
  const std::string text = std::string(fine) + "query some { select p.sku from Product p limit 3 }\n";
  const ProgramRun run = run_noam({"check", file("shop.noam", text)});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.out.find("lint: "), std::string::npos);
  EXPECT_NE(run.out.find("[limit-without-order]"), std::string::npos);
}

TEST_F(Cli, SilencesALintWhereTheTextSaysSo) {
  for (const char* query :
       {"query some { select p.sku from Product p limit 3 }  // allow: limit-without-order\n",
        "// allow: limit-without-order\nquery some { select p.sku from Product p limit 3 }\n",
        "// allow: limit-without-order\nquery some {\n  select p.sku\n  from Product p\n  limit 3\n}\n",
        "query some {\n  select p.sku\n  from Product p\n  limit 3\n}  // allow: limit-without-order\n"}) {
    const ProgramRun run = run_noam({"check", file("shop.noam", std::string(fine) + query)});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(Cli, GivesDiagnosticsAsJsonWithOffsetsLinesAndColumns) {
  // The column counts code points, the offsets bytes.
  const std::string text = "model shop\nvalue Größe { länge: in }\nentity A { id: text key  größe: Größe }\n";
  const ProgramRun run = run_noam({"check", "--json", file("shop.noam", text)});
  EXPECT_EQ(run.code, 1);
  const auto json = Json::parse(run.out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["code"], "unknown-type");
  EXPECT_EQ(json[0]["severity"], "error");
  EXPECT_EQ(json[0]["span"]["begin"], text.find("in }"));
  EXPECT_EQ(json[0]["span"]["end"], text.find("in }") + 2);
  EXPECT_EQ(json[0]["span"]["start"]["line"], 2);
  EXPECT_EQ(json[0]["span"]["start"]["column"], 22);
  EXPECT_EQ(json[0]["span"]["stop"]["column"], 24);
  const ProgramRun nothing = run_noam({"check", "--json", file("fine.noam", fine)});
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(Json::parse(nothing.out), Json::array());
}

TEST_F(Cli, ReadsStandardInput) {
  EXPECT_EQ(run_noam({"check", "-"}, fine).code, 0);
  expect_wrong_model(run_noam({"check", "-"}, wrong), "unknown-type");
  EXPECT_EQ(run_noam({"fmt", "-"}, "model   shop\n").out, "model shop\n");
}

TEST_F(Cli, RefusesWrongUseInOneLine) {
  expect_wrong_use(run_noam({}), "--help");
  expect_wrong_use(run_noam({"chek", "a.noam"}), "chek");
  expect_wrong_use(run_noam({"check"}), "FILE");
  expect_wrong_use(run_noam({"check", "--jsno", file("a.noam", fine)}), "--jsno");
  expect_wrong_use(run_noam({"show", file("a.noam", fine), "--diagram", "visio"}), "visio");
  expect_wrong_use(run_noam({"show", file("a.noam", fine), "--json", "--diagram", "dot"}), "--json");
  expect_wrong_use(run_noam({"explain", "no-such-code"}), "no-such-code");
}

TEST_F(Cli, RefusesFilesThatCantBeRead) {
  expect_wrong_use(run_noam({"check", path("missing.noam")}), "missing.noam: no such file");
  expect_wrong_use(run_noam({"check", folder.path().string()}), "a directory");
  expect_wrong_use(run_noam({"show", path("missing.noam")}), "missing.noam");
  expect_wrong_use(run_noam({"fmt", path("missing.noam")}), "missing.noam");
}

TEST_F(Cli, RefusesAFileWithoutPermission) {
  const std::string secret = file("secret.noam", fine);
  ::chmod(secret.c_str(), 0000);
  if (::geteuid() != 0) {
    expect_wrong_use(run_noam({"check", secret}), "secret.noam");
    return;
  }
  // Root may read everything: ask as nobody, from a folder that nobody can reach, with a copy of the program.
  ::chmod(folder.path().c_str(), 0755);
  std::filesystem::copy_file(noam_program(), path("noam"));
  ::chmod(path("noam").c_str(), 0755);
  expect_wrong_use(run_program({"setpriv", "--reuid=65534", "--clear-groups", path("noam"), "check", secret}),
                   "permission");
}

TEST_F(Cli, RefusesAnEmptyFile) {
  for (const char* text : {"", "\n\n", "// nothing but a comment\n", " \t\r\n"})
    expect_wrong_model(run_noam({"check", file("empty.noam", text)}), "missing-model");
}

TEST_F(Cli, RefusesAHugeFile) {
  const std::string huge = file("huge.noam", fine);
  std::filesystem::resize_file(huge, 100'000'000);
  expect_wrong_use(run_noam({"check", huge}), "huge.noam");
}

TEST_F(Cli, RefusesBytesThatAreNoText) {
  expect_wrong_model(run_noam({"check", file("a.noam", "model shop // caf\xe9\nentity A { id: text key }\n")}),
                     "invalid-utf8");
  expect_wrong_model(run_noam({"check", file("b.noam", std::string("model shop\0\n", 12))}), "control-character");
  std::string noise;
  unsigned state = 1;
  for (int i = 0; i < 200'000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24U);
  const ProgramRun run = run_noam({"check", file("noise.noam", noise)});
  EXPECT_EQ(run.code, 1);
  EXPECT_LT(run.out.size(), 5'000'000U);
}

TEST_F(Cli, RefusesTenThousandBrackets) {
  for (const std::string open : {"(", "[", "{", "not ", "-", "list<", "(select x from "}) {
    std::string text = "model shop\nentity A { id: text key  n: int }\nquery q { select a.id from A a where a.n = ";
    for (int i = 0; i < 10'000; ++i) text += open;
    const ProgramRun run = run_noam({"check", file("deep.noam", text)});
    EXPECT_EQ(run.code, 1) << open;
    EXPECT_NE(run.out.find("error: "), std::string::npos);
  }
  std::string sum = "model shop\nentity A { id: text key  n: int }\nquery q { select a.n";
  for (int i = 0; i < 100'000; ++i) sum += " + 1";
  EXPECT_EQ(run_noam({"check", file("sum.noam", sum + " as n from A a }\n")}).code, 1);
}

TEST_F(Cli, RefusesTwoFilesThatDefineTheSameModel) {
  const ProgramRun run = run_noam({"check", file("a.noam", fine), file("b.noam", fine)});
  expect_wrong_model(run, "duplicate-model");
  EXPECT_NE(run.out.find("a.noam"), std::string::npos);
}

TEST_F(Cli, GoesOnAfterAFileThatCantBeRead) {
  const ProgramRun run = run_noam({"check", path("missing.noam"), file("shop.noam", wrong)});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("missing.noam"), std::string::npos);
  EXPECT_NE(run.out.find("[unknown-type]"), std::string::npos);
}

TEST_F(Cli, FormatsInPlaceAndOnlyOnce) {
  const std::string shop =
      file("shop.noam", "model shop   // the shop\nentity   Product{sku:text key price:decimal}\n");
  ::chmod(shop.c_str(), 0640);
  EXPECT_EQ(run_noam({"fmt", "--check", shop}).code, 1);
  EXPECT_EQ(run_noam({"fmt", shop}).code, 0);
  const std::string formatted = read_file(shop);
  EXPECT_NE(formatted.find("// the shop"), std::string::npos);
  EXPECT_NE(formatted.find("entity Product { sku: text key  price: decimal }"), std::string::npos) << formatted;
  struct stat info {};
  ::stat(shop.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_EQ(run_noam({"fmt", "--check", shop}).code, 0);
  EXPECT_EQ(run_noam({"fmt", shop}).code, 0);
  EXPECT_EQ(read_file(shop), formatted);
}

TEST_F(Cli, TellsAsJsonWhatBecameOfEachFile) {
  const std::string shop = file("shop.noam", "model   shop\n");
  const std::string bad = file("bad.noam", "model\n");
  const auto before = Json::parse(run_noam({"fmt", "--check", "--json", shop}).out);
  EXPECT_EQ(before[0]["canonical"], false);
  EXPECT_EQ(before[0]["written"], false);
  const ProgramRun run = run_noam({"fmt", "--json", shop, bad});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.err, "");
  const auto json = Json::parse(run.out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["written"], true);
  EXPECT_EQ(json[1]["written"], false);
  EXPECT_FALSE(json[1]["diagnostics"].empty());
  EXPECT_EQ(read_file(shop), "model shop\n");
  EXPECT_EQ(Json::parse(run_noam({"fmt", "--json", "-"}, "model   shop\n").out)[0]["text"], "model shop\n");
}

TEST_F(Cli, LeavesAFileAloneThatItCantParse) {
  const char* const text = "model shop\nentity Product { sku text key \n";
  const std::string shop = file("shop.noam", text);
  const ProgramRun run = run_noam({"fmt", shop});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("not formatted"), std::string::npos);
  EXPECT_EQ(read_file(shop), text);
}

TEST_F(Cli, FormatsThroughALink) {
  const std::string shop = file("shop.noam", "model   shop\n");
  std::filesystem::create_symlink(shop, path("link.noam"));
  EXPECT_EQ(run_noam({"fmt", path("link.noam")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.noam")));
  EXPECT_EQ(read_file(shop), "model shop\n");
}

TEST_F(Cli, SaysWhenItsOutputCantBeWritten) {
  const ProgramRun run = run_program({"sh", "-c", std::string(noam_program()) + " explain > /dev/full"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("standard output"), std::string::npos);
}

TEST_F(Cli, ExplainsEveryCode) {
  const ProgramRun list = run_noam({"explain"});
  EXPECT_EQ(list.code, 0);
  for (const language::CodeInfo& row : language::all_codes()) EXPECT_NE(list.out.find(row.name), std::string::npos);
  const ProgramRun one = run_noam({"explain", "keys-do-not-determine"});
  EXPECT_EQ(one.code, 0);
  EXPECT_NE(one.out.find("wrong:"), std::string::npos);
  EXPECT_NE(one.out.find("right:"), std::string::npos);
  EXPECT_EQ(Json::parse(run_noam({"explain", "syntax", "--json"}).out)["code"], "syntax");
  EXPECT_GT(Json::parse(run_noam({"explain", "--json"}).out).size(), 100U);
}

TEST_F(Cli, TeachesByItsHelp) {
  for (const std::string command : {"check", "fmt", "show", "explain"}) {
    const ProgramRun run = run_noam({command, "--help"});
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.out.find("Example"), std::string::npos) << command;
    EXPECT_EQ(run.err, "");
  }
  const ProgramRun all = run_noam({"--help"});
  EXPECT_EQ(all.code, 0);
  EXPECT_NE(all.out.find("Exit codes"), std::string::npos);
  EXPECT_EQ(run_noam({"--version"}).out.rfind("noam ", 0), 0U);
}

}  // namespace noam::tests
