#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "noam/design/draw.h"
#include "noam/language/source.h"
#include "noam/model/layout.h"
#include "tests/compiled.h"
#include "tests/support.h"

// `noam design --draw`. What is drawn as text is in tests/golden/designs, and in docs/design.md.
namespace noam::tests {

namespace {

std::string example(const std::string& path) { return (source_dir() / "examples" / path).string(); }

// Every design that an example has, and the strategies.
std::vector<design::Program> all_designs() {
  std::vector<design::Program> out;
  for (const auto& file : files_below("examples", ".noam")) {
    const ModelPointer model = model_of_file(file);
    for (const std::string& name : strategies_of(*model)) out.push_back(program_of(model, name));
  }
  return out;
}

std::string unescaped(std::string text) {
  for (const auto& [from, to] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""), std::pair("&amp;", "&")})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at, std::string_view(from).size(), to);
  return text;
}

// Texts lie on the page, each beside and under the others.
void expect_legible(const std::string& svg) {
  struct Text {
    double left, right, baseline;
    std::string text;
  };
  std::vector<Text> texts;
  double height = 0;
  for (const std::string& line : lines_of(svg)) {
    static const std::regex size(R"re(<svg .*viewBox="0 0 680 (\d+)".*)re");
    static const std::regex text(R"re(<text x="(\d+)" y="(\d+)" fill="[^"]*"( class="(.)")?>(.*)</text>)re");
    std::smatch found;
    if (std::regex_match(line, found, size)) height = std::stod(found[1]);
    if (!std::regex_match(line, found, text)) continue;
    const std::string held = unescaped(found[5]);
    // The widest of the usual fonts: 0.602 of its size.
    const double width = static_cast<double>(model::display_width(held)) * (found[4] == "t" ? 14 : 12) * 0.602;
    texts.push_back({std::stod(found[1]), std::stod(found[1]) + width, std::stod(found[2]), held});
  }
  ASSERT_GT(height, 0);
  ASSERT_FALSE(texts.empty());
  for (const Text& text : texts) {
    EXPECT_LE(text.right, 680) << text.text;
    EXPECT_LE(text.baseline, height - 4) << text.text;
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Text& a = texts[i];
      const Text& b = texts[j];
      if (std::abs(a.baseline - b.baseline) >= 14) continue;
      EXPECT_TRUE(a.right <= b.left || b.right <= a.left) << a.text << " and " << b.text;
    }
}

class Drawing : public testing::Test {
 protected:
  static ProgramRun design(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"design", example("game/game.noam")});
    return run_noam(arguments);
  }
  static void expect_wrong_use(const ProgramRun& run, const std::string& mentions) {
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
    EXPECT_EQ(run.err.rfind("noam: ", 0), 0U) << run.err;
    EXPECT_NE(run.err.find(mentions), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  std::string file(const std::string& name, std::string_view text) const {
    write_file(folder.path() / name, text);
    return path(name);
  }

  TemporaryFolder folder;
};

}  // namespace

// docs/figures/README.md: its commands make the pictures beside it.
TEST_F(Drawing, MakesTheFiguresOfTheDocumentation) {
  std::size_t made = 0;
  for (const std::string& line : lines_of(read_file(source_dir() / "docs/figures/README.md"))) {
    if (line.rfind("    noam ", 0) != 0) continue;
    SCOPED_TRACE(line);
    std::istringstream stream(line.substr(9));
    std::vector<std::string> arguments;
    for (std::string word; stream >> word;)
      arguments.push_back(word.rfind("examples/", 0) == 0 ? (source_dir() / word).string() : word);
    const std::filesystem::path figure = source_dir() / arguments.back();
    arguments.back() = std::getenv("NOAM_UPDATE_GOLDEN") != nullptr ? figure.string() : path("figure.svg");
    const ProgramRun run = run_noam(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out + run.err, "");
    EXPECT_EQ(read_file(figure), read_file(arguments.back()));
    expect_legible(read_file(figure));
    ++made;
  }
  EXPECT_EQ(made, files_below("docs/figures", ".svg").size());
  EXPECT_GE(made, 6U);
}

TEST_F(Drawing, IsLegibleOfEveryDesign) {
  for (const design::Program& program : all_designs()) {
    SCOPED_TRACE(program.model->name + " " + program.design.name);
    for (const std::string& text : {design::draw_blocks_text(program), design::draw_tables_text(program)}) {
      EXPECT_FALSE(text.empty());
      EXPECT_EQ(text.back(), '\n');
      for (const std::string& line : lines_of(text)) EXPECT_LE(model::display_width(line), model::page_width) << line;
    }
    expect_legible(design::draw_blocks_svg(program));
    expect_legible(design::draw_tables_svg(program));
  }
}

TEST_F(Drawing, LeavesOutWhatNoamKeepsForItself) {
  for (const design::Program& program : all_designs()) {
    const std::string text = design::draw_tables_text(program);
    EXPECT_EQ(text.find(" outcome "), std::string::npos) << text;
    EXPECT_EQ(text.find(" weight "), std::string::npos) << text;
  }
}

TEST_F(Drawing, ShowsDataOfAnyKind) {
  const std::string model =
      file("odd.noam",
           "model odd\n"
           "value Place { street: text  tags: set<text> ~3  numbers: map<text, int> ~3 }\n"
           "entity Thing ~100 { name: text key  place: Place  about: json?\n"
           "  kind: \"small & <fine>\" | \"large\" | \"larger than most of the others are\" }\n"
           "entity Part ~100 { thing: Thing owner inverse parts ~5  number: int  key(thing, number) }\n"
           "query thing($name) { select t from Thing t where t.name = $name }\n");
  const std::string things = file(
      "Thing.jsonl",
      R"({"name": "two words & <tags>", "place": {"street": "日本語の長い名前日本語の長い名前日本語の長い名前日本語の長い名前\n",)"
      R"( "tags": ["b", "a"], "numbers": {"x": 1}}, "about": {"a": [1, null]}, "kind": "small & <fine>"})"
      "\n");
  const std::string parts = file("Part.jsonl", "{\"thing\": \"two words & <tags>\", \"number\": 1}\n");
  for (const std::string strategy : {"eao", "etf", "normalized"}) {
    SCOPED_TRACE(strategy);
    const std::vector<std::string> arguments{"design", model,         "--strategy", strategy,      "--draw",
                                             "blocks", "--with-data", things,       "--with-data", parts};
    const ProgramRun text = run_noam(arguments);
    EXPECT_EQ(text.code, 0) << text.err;
    for (const char* part :
         {"\"two words & <tags>\"", "{\"a\", \"b\"}", "{x: 1}", "{\"a\":[1,null]}", "日本語の長い名前"})
      EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
    for (const std::string& line : lines_of(text.out)) EXPECT_LE(model::display_width(line), 100U) << line;
    std::vector<std::string> as_svg = arguments;
    as_svg.emplace_back("--svg");
    const ProgramRun svg = run_noam(as_svg);
    EXPECT_EQ(svg.code, 0) << svg.err;
    EXPECT_NE(svg.out.find("&quot;two words &amp; &lt;tags&gt;&quot;"), std::string::npos) << svg.out;
    expect_legible(svg.out);
  }
}

TEST_F(Drawing, SaysHowMuchIsNotShown) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    std::string rounds;
    for (int j = 0; j < 8; ++j) rounds += std::string(j > 0 ? ", " : "") + R"({"moves": "m"})";
    text += R"({"id": "g)" + std::to_string(i) + R"(", "first_player": "a", "second_player": "b", "rounds": [)" +
            rounds + "]}\n";
  }
  const std::string games = file("Game.jsonl", text);
  const ProgramRun apart = design({"--strategy", "figure8", "--draw", "blocks", "--with-data", games});
  EXPECT_NE(apart.out.find("│ rounds[5]     │ ⟨moves: \"m\"⟩ ┃\n"), std::string::npos) << apart.out;
  EXPECT_EQ(apart.out.find("rounds[6]"), std::string::npos);
  EXPECT_NE(apart.out.find("│ rounds[…]     │ 2 more"), std::string::npos) << apart.out;
  EXPECT_NE(apart.out.find("\n… 6 more blocks\n"), std::string::npos) << apart.out;
  EXPECT_NE(apart.out.find("Player\n  no blocks\n"), std::string::npos) << apart.out;
  const ProgramRun whole = design({"--strategy", "eao", "--draw", "blocks", "--with-data", games});
  EXPECT_NE(whole.out.find("… 2 more]⟩"), std::string::npos) << whole.out;
}

TEST_F(Drawing, GoesIntoAFile) {
  const std::string printed = design({"--draw", "tables"}).out;
  const std::string svg = design({"--draw", "tables", "--svg"}).out;
  EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
  EXPECT_EQ(design({"--draw", "tables", "-o", path("a.txt")}).out, "");
  EXPECT_EQ(read_file(path("a.txt")), printed);
  EXPECT_EQ(design({"--draw", "tables", "--output", path("a.svg")}).code, 0);
  EXPECT_EQ(read_file(path("a.svg")), svg);
  // What was there is replaced, through a link, too.
  std::filesystem::create_symlink(path("a.txt"), path("link.txt"));
  EXPECT_EQ(design({"--draw", "blocks", "--svg", "-o", path("link.txt")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.txt")));
  EXPECT_EQ(read_file(path("a.txt")), design({"--draw", "blocks", "--svg"}).out);
  struct stat info {};
  ASSERT_EQ(::stat(path("a.svg").c_str(), &info), 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(info.st_mode & 0777U, 0666U & ~mask);
}

TEST_F(Drawing, OfNothingSaysSo) {
  const std::string empty = file("empty.noam", "model empty\n");
  EXPECT_EQ(run_noam({"design", empty, "--draw", "blocks"}).out, "no collections\n");
  EXPECT_EQ(run_noam({"design", empty, "--draw", "tables"}).out, "no collections\n");
  expect_legible(run_noam({"design", empty, "--draw", "blocks", "--svg"}).out);
  expect_legible(run_noam({"design", empty, "--draw", "tables", "--svg"}).out);
}

TEST_F(Drawing, RefusesWhatDoesNotGoTogether) {
  expect_wrong_use(design({"--draw", "circles"}), "circles");
  expect_wrong_use(design({"--draw"}), "--draw");
  expect_wrong_use(design({"--svg"}), "--svg needs --draw blocks or --draw tables");
  expect_wrong_use(design({"-o", path("a.svg")}), "--output needs --draw");
  expect_wrong_use(design({"--with-data", example("game/figure3")}), "--with-data needs --draw");
  expect_wrong_use(design({"--draw", "tables", "--with-data", example("game/figure3")}), "tables show no data");
  expect_wrong_use(design({"--draw", "tables", "--json"}), "--draw and --json cannot be used together");
  expect_wrong_use(design({"--draw", "tables", "--explain"}), "--draw and --explain cannot be used together");
  expect_wrong_use(design({"--draw", "tables", "--mix", "play"}), "--draw and --mix cannot be used together");
  expect_wrong_use(design({"--draw", "blocks", "--strategy", "figure99"}), "figure99");
}

TEST_F(Drawing, WritesNothingWhereTheDataIsWrong) {
  const std::string bad = file("Player.jsonl", "{\"username\": \"a\"}\n");
  const std::string picture = path("a.svg");
  expect_wrong_use(design({"--draw", "blocks", "--with-data", bad, "-o", picture}),
                   "Player.jsonl:1: first_name: a value is required [required]");
  expect_wrong_use(design({"--draw", "blocks", "--with-data", path("nowhere"), "-o", picture}), "nowhere");
  expect_wrong_use(design({"--draw", "blocks", "--with-data", "-", "-o", picture}),
                   "data cannot come from standard input here");
  expect_wrong_use(design({"--draw", "blocks", "--with-data", bad, "--with-data", bad, "-o", picture}), "given twice");
  EXPECT_FALSE(std::filesystem::exists(picture));
}

TEST_F(Drawing, CreatesTheFolderOfAPicture) {
  EXPECT_EQ(design({"--draw", "tables", "-o", path("new/folder/a.svg")}).code, 0);
  expect_legible(read_file(path("new/folder/a.svg")));
  // A folder that was created for a picture that cannot be written is removed.
  expect_wrong_use(design({"--draw", "tables", "-o", path("other/folder/") + std::string(300, 'a')}),
                   "File name too long");
  EXPECT_FALSE(std::filesystem::exists(path("other")));
}

TEST_F(Drawing, SaysWhereItCannotBeWritten) {
  expect_wrong_use(design({"--draw", "tables", "-o", path("a.svg/")}), "a.svg/: cannot be written");
  expect_wrong_use(design({"--draw", "tables", "-o", folder.path().string()}), "not a regular file");
  expect_wrong_use(design({"--draw", "tables", "-o", "/dev/null"}), "/dev/null: cannot be written: not a regular file");
  if (::geteuid() != 0) {
    const std::string kept = file("kept.svg", "old");
    std::filesystem::permissions(kept, std::filesystem::perms::owner_read);
    expect_wrong_use(design({"--draw", "tables", "-o", kept}), "cannot be written");
    EXPECT_EQ(read_file(kept), "old");
  }
  // Nothing is left behind.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename().string(), "kept.svg");
}

}  // namespace noam::tests
