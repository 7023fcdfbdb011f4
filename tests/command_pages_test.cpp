#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/console_story.h"
#include "tests/support.h"

// docs/commands/ has a page for each command. What a page says of options is compared with `noam COMMAND --help`, and
// what its examples show with what noam prints. The manual pages are made of it.
namespace noam::tests {

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

fs::path pages() { return source_dir() / "docs/commands"; }

std::string page_of(const std::string& command) { return read_file(pages() / (command + ".md")); }

// The lines below a heading of the help, up to an empty one, that begin an entry: `  --json    …`.
std::vector<std::string> entries_of(const std::string& help, const std::string& heading) {
  static const std::regex entry("^  ([^ ].*)$");
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : lines_of(help)) {
    std::smatch found;
    if (line.empty())
      inside = false;
    else if (line == heading)
      inside = true;
    else if (inside && std::regex_match(line, found, entry))
      out.push_back(found[1]);
  }
  return out;
}

// From the names of files alone: this is asked before the tests run.
std::vector<std::string> pages_with_examples() {
  std::vector<std::string> out;
  for (const fs::path& page : files_below("docs/commands", ".md"))
    if (page.stem() != "README") out.push_back(page.stem().string());
  return out;
}

std::string help_of(const std::string& command) {
  const ProgramRun run = run_noam({command, "--help"});
  EXPECT_EQ(run.code, 0) << command;
  return run.out;
}

std::vector<std::string> all_commands() {
  std::vector<std::string> out;
  for (const std::string& entry : entries_of(run_noam({"--help"}).out, "Subcommands:"))
    out.push_back(entry.substr(0, entry.find(' ')));
  return out;
}

// `FILE`, `-o`, `--output`: what a command takes, by its help.
Names taken_by(const std::string& help) {
  Names out;
  for (const std::string& entry : entries_of(help, "Positionals:")) out.insert(entry.substr(0, entry.find(' ')));
  for (const std::string& entry : entries_of(help, "Options:")) {
    const std::string names = entry.substr(0, entry.find(' '));
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(',', at), names.size());
      out.insert(names.substr(at, end - at));
      at = end + 1;
    }
  }
  return out;
}

// What stands in backquotes in the first column of the table of options.
Names described_on(const std::string& page) {
  static const std::regex name("`([^` ]+)[^`]*`");
  Names out;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("## ")) inside = line == "## Options";
    if (!inside || !line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), name); at != std::sregex_iterator(); ++at)
      out.insert((*at)[1]);
  }
  return out;
}

struct Mention {
  std::string command;  // empty: another program
  std::string option;
};

// Every `--option` in the code of a page. It belongs to the last `noam COMMAND` before it in the same code, else to the
// command of the page.
std::vector<Mention> mentions_on(const std::string& page, const std::string& command) {
  static const std::regex code("`([^`]+)`");
  static const std::regex word("[^ \\[\\]()'\"|;&]+|[|;&]");
  std::vector<Mention> out;
  const auto look = [&](const std::string& text, bool is_console) {
    std::string now = is_console ? "" : command;
    std::string before;
    for (std::sregex_iterator at(text.begin(), text.end(), word); at != std::sregex_iterator(); ++at) {
      const std::string one = at->str();
      if (one == "|" || one == ";" || one == "&") {
        // `[--json | --diagram]` goes on with the same command.
        if (is_console && text.find('[') == std::string::npos) now.clear();
      } else if (before == "noam" && one[0] != '-' && one != "COMMAND") {
        now = one;
      } else if (one.starts_with("--") && one.size() > 2) {
        out.push_back({now, one.substr(0, one.find('='))});
      }
      before = one;
    }
  };
  bool fenced = false;
  bool synopsis = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) fenced = !fenced;
    if (line.starts_with("## ")) synopsis = line == "## Synopsis";
    if (synopsis && line.starts_with("    ")) {
      look(line, false);
    } else if (fenced || line.starts_with("    ")) {
      if (line.find("$ ") != std::string::npos || line.starts_with("    noam ")) look(line, true);
    } else {
      for (std::sregex_iterator at(line.begin(), line.end(), code); at != std::sregex_iterator(); ++at)
        look((*at)[1], false);
    }
  }
  return out;
}

std::vector<std::string> headings_of(const std::string& page) {
  std::vector<std::string> out;
  bool fenced = false;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced && line.starts_with("## ")) out.push_back(line.substr(3));
  }
  return out;
}

}  // namespace

TEST(CommandPages, AreOneForEachCommand) {
  const std::vector<std::string> commands = all_commands();
  EXPECT_GE(commands.size(), 20U);
  Names expected(commands.begin(), commands.end());
  expected.insert("README");
  Names found;
  for (const fs::path& page : files_below("docs/commands", ".md")) found.insert(page.stem().string());
  EXPECT_EQ(found, expected);
}

TEST(CommandPages, FollowOneTemplate) {
  const std::vector<std::string> template_headings = {"Synopsis", "Description", "Options",
                                                      "Examples", "Exit codes",  "See also"};
  const std::string index = page_of("README");
  for (const std::string& command : all_commands()) {
    const std::string page = page_of(command);
    const std::vector<std::string> lines = lines_of(page);
    ASSERT_GT(lines.size(), 3U) << command;
    EXPECT_EQ(lines[0], "# noam " + command);
    EXPECT_EQ(headings_of(page), template_headings) << command;
    EXPECT_NE(index.find("| [noam " + command + "](" + command + ".md) | " + lines[2] + " |"), std::string::npos)
        << "the index has another purpose of " << command << " than its page: " << lines[2];
  }
}

TEST(CommandPages, DescribeTheOptionsOfTheProgram) {
  for (const std::string& command : all_commands()) {
    const Names taken = taken_by(help_of(command));
    EXPECT_GE(taken.size(), 3U) << "the help of " << command << " has at least -h, --help and one more";
    EXPECT_EQ(described_on(page_of(command)), taken)
        << "on the left docs/commands/" << command << ".md, on the right `noam " << command << " --help`";
  }
  Names general = taken_by(run_noam({"--help"}).out);
  EXPECT_EQ(general, (Names{"-h", "--help", "--version"}));
  for (const char* common : {"FILE", "--store", "--strategy", "--json"}) general.insert(common);
  EXPECT_EQ(described_on(page_of("README")), general);
}

TEST(CommandPages, NameNoOptionsThatDoNotExist) {
  std::map<std::string, Names> taken;
  for (const std::string& command : all_commands()) taken[command] = taken_by(help_of(command));
  taken["README"] = described_on(page_of("README"));
  std::size_t checked = 0;
  for (const fs::path& page : files_below("docs/commands", ".md")) {
    for (const Mention& mention : mentions_on(read_file(page), page.stem().string())) {
      if (mention.command.empty()) continue;
      ++checked;
      EXPECT_EQ(taken[mention.command].count(mention.option), 1U)
          << page.filename().string() << ": `noam " << mention.command << "` has no " << mention.option;
    }
  }
  EXPECT_GT(checked, 200U);
}

class CommandPage : public testing::TestWithParam<std::string> {};

TEST_P(CommandPage, ShowsWhatNoamPrints) {
  const TemporaryFolder folder;
  fs::copy(source_dir() / "examples", folder.path() / "examples", fs::copy_options::recursive);
  expect_story(pages() / (GetParam() + ".md"), folder.path());
}

INSTANTIATE_TEST_SUITE_P(All, CommandPage, testing::ValuesIn(pages_with_examples()),
                         [](const auto& page) { return page.param; });

// --- Manual pages ----------------------------------------------------------------------------------------------------

namespace {

ProgramRun make_man(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{(source_dir() / "tools/make_man").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command);
}

}  // namespace

TEST(ManualPages, AreOneForEachCommand) {
  const TemporaryFolder folder;
  const fs::path man = folder.path() / "man/man1";
  const ProgramRun run = make_man({man.string()});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out + run.err, "");
  Names expected{"noam.1"};
  for (const std::string& command : all_commands()) expected.insert("noam-" + command + ".1");
  Names found;
  for (const fs::directory_entry& entry : fs::directory_iterator(man)) found.insert(entry.path().filename().string());
  EXPECT_EQ(found, expected);
  for (const std::string& command : all_commands()) {
    const std::string text = read_file(man / ("noam-" + command + ".1"));
    EXPECT_NE(text.find("\n.SH NAME\nnoam\\-" + command + " \\- "), std::string::npos) << text.substr(0, 300);
    for (const char* section : {"SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT CODES", "SEE ALSO"})
      EXPECT_NE(text.find("\n.SH " + std::string(section) + "\n"), std::string::npos) << command << " " << section;
    for (const std::string& name : taken_by(help_of(command))) {
      const std::string shown = std::regex_replace(name, std::regex("-"), "\\-");
      EXPECT_NE(text.find("\\fB" + shown), std::string::npos) << command << " " << name;
    }
  }
}

TEST(ManualPages, AreMadeOfAllThatPagesHave) {
  const TemporaryFolder folder;
  write_file(
      folder.path() / "check.md",
      "# noam check\n\nLook at `it`.\n\n## See also\n\nSome *text*, **bold**,\nand `code-here`: [noam fmt](fmt.md), "
      "[x.md](../x.md#y), [z](#z).\n\n- one\n  more\n- `.two`\n\n| A | B | C |\n| --- | --- | --- |\n"
      "| `on\\|off` | b | `c` |\n\n```\n.a \\b é\n```\n\n    $ x\n\n    y\n\n### Sub\n");
  const fs::path man = folder.path() / "man";
  const ProgramRun run = make_man({man.string(), folder.path().string()});
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string text = read_file(man / "noam-check.1");
  EXPECT_EQ(text.substr(text.find(".SH NAME")),
            ".SH NAME\nnoam\\-check \\- look at it\n.SH SEE ALSO\n.PP\n"
            "Some \\fItext\\fP, \\fBbold\\fP, and \\fBcode\\-here\\fP: \\fBnoam\\-fmt\\fP(1), \\fIdocs/x.md\\fP, z.\n"
            ".IP \\(bu 2\none more\n.IP \\(bu 2\n\\fB.two\\fP\n.TP\n\\fBon|off\\fP\nb\n.br\nC: \\fBc\\fP\n"
            ".PP\n.RS 4\n.nf\n\\&.a \\eb \\[u00E9]\n.fi\n.RE\n.PP\n.RS 4\n.nf\n$ x\n\ny\n.fi\n.RE\n.SS Sub\n");
}

TEST(ManualPages, AreRefusedWhereAPageHasSomethingElse) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"> a quotation\n", ":5: a quotation"},
      {"1. one\n", ":5: a list with numbers"},
      {"* one\n", ":5: a list with another mark than `-`"},
      {"- one\n  - two\n", ":6: a list in a list"},
      {"- one\ntwo\n", ":6: a line of a list that is not indented by two"},
      {"#### Deep\n", ":5: a heading of this level"},
      {"Text\n====\n", ":6: a line or an underlined heading"},
      {"A <b>tag</b>.\n", ": HTML"},
      {"![a](b.png)\n", ": a picture"},
      {"A [bracket].\n", ": a bracket that is no link"},
      {"One `backquote.\n", ": a backquote without its partner"},
      {"One * asterisk.\n", ": an asterisk without its partner"},
      {"[a]: b\n", ":5: a link by reference"},
      {"```\ncode\n", ":5: a block of code without its end"},
      {"| A | B |\n| a | b |\n", ":6: not the line below the head of a table"},
      {"| A | B |\n| --- | --- |\n| a |\n", ":7: a row of 1 cells in a table of 2"},
      {"a\tb\n", ":5: a tab"},
  };
  for (const auto& [text, expected] : all) {
    const TemporaryFolder folder;
    write_file(folder.path() / "check.md", "# noam check\n\nPurpose.\n\n" + text);
    const fs::path man = folder.path() / "man";
    const ProgramRun run = make_man({man.string(), folder.path().string()});
    EXPECT_EQ(run.code, 1) << text;
    EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
    EXPECT_TRUE(run.err.starts_with("make_man: ")) << run.err;
    EXPECT_NE(run.err.find("check.md:"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(expected), std::string::npos) << run.err << "is not about " << expected;
    EXPECT_FALSE(fs::exists(man)) << "a page is written, or none";
  }
  EXPECT_EQ(make_man({}).code, 2);
}

}  // namespace noam::tests
