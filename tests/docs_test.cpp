#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/support.h"

// Every piece of noam in the documentation is checked. A block marked `noam` is a whole model; `noam continues` goes on
// with the model of its section; `noam wrong CODE` shows a mistake, and must be answered with that code. Behind each of
// them `file=NAME` may follow: then the model is that of the file, which goes on through the page.
namespace noam::tests {

namespace {

struct Block {
  std::string mark;  // what follows ```
  std::string text;
  std::size_t line = 0;
  bool new_section = false;  // the first block after a heading of the second level
};

std::vector<Block> blocks_of(const std::string& markdown) {
  std::vector<Block> blocks;
  std::size_t at = 0;
  std::size_t line_number = 0;
  bool inside = false;
  bool new_section = true;
  while (at < markdown.size()) {
    const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
    const std::string line = markdown.substr(at, end - at);
    at = end + 1;
    ++line_number;
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) {
        blocks.push_back({line.substr(3), "", line_number, new_section});
        new_section = false;
      }
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (line.rfind("## ", 0) == 0) {
      new_section = true;
    }
  }
  return blocks;
}

// Code has no links.
std::string without_code(const std::string& markdown) {
  static const std::regex span("`[^`\n]*`");
  std::string out;
  bool fenced = false;
  for (const std::string& line : lines_of(markdown)) {
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    if (!fenced && line.rfind("    ", 0) != 0) out += std::regex_replace(line, span, "`") + "\n";
  }
  return out;
}

// What a heading is called in links: small letters, and hyphens for blanks; no marks.
std::set<std::string> anchors_in(const std::string& markdown) {
  std::set<std::string> out;
  bool fenced = false;
  for (const std::string& line : lines_of(markdown)) {
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    const std::size_t level = line.find_first_not_of('#');
    if (fenced || level == 0 || level == std::string::npos || line[level] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(level + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == ' ')
        anchor += '-';
      else if (byte >= 128 || std::isalnum(byte) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(byte));
    }
    // The second one of a name has a number.
    std::string name = anchor;
    for (int i = 1; !out.insert(name).second; ++i) name = anchor + "-" + std::to_string(i);
  }
  return out;
}

bool has_code(const language::Diagnostics& diagnostics, language::DiagnosticCode code) {
  for (const auto& diagnostic : diagnostics.all())
    if (diagnostic.code == code) return true;
  return false;
}

void expect_legal(const std::string& text, const std::string& where) {
  const language::SourceFile source(where, text);
  const Compilation compilation = compile(source);
  EXPECT_TRUE(compilation.diagnostics.empty()) << language::render(compilation.diagnostics, source);
}

}  // namespace

TEST(Documentation, SnippetsAreWhatTheySayTheyAre) {
  std::size_t checked = 0;
  std::vector<std::filesystem::path> pages = files_below("docs", ".md");
  pages.push_back(source_dir() / "README.md");
  for (const auto& example : files_below("examples", ".md")) pages.push_back(example);
  for (const auto& page : pages) {
    std::string section;
    std::map<std::string, std::string> files;
    for (const Block& block : blocks_of(read_file(page))) {
      if (block.new_section) section.clear();
      if (block.mark.rfind("noam", 0) != 0) continue;
      ++checked;
      const std::string where = page.filename().string() + ":" + std::to_string(block.line);
      SCOPED_TRACE(where);
      const std::size_t file = std::min(block.mark.find(" file="), block.mark.size());
      const std::string mark = block.mark.substr(0, file);
      std::string& running = file == block.mark.size() ? section : files[block.mark.substr(file)];
      if (mark == "noam") {
        running = block.text;
        expect_legal(running, where);
      } else if (mark == "noam continues") {
        running += block.text;
        expect_legal(running, where);
      } else {
        ASSERT_EQ(mark.rfind("noam wrong ", 0), 0U) << "an unknown mark: " << block.mark;
        const auto code = language::find_code(mark.substr(11));
        ASSERT_TRUE(code.has_value()) << block.mark;
        const language::SourceFile source(where, running + block.text);
        const Compilation compilation = compile(source);
        EXPECT_TRUE(has_code(compilation.diagnostics, *code)) << language::render(compilation.diagnostics, source);
      }
    }
  }
  EXPECT_GT(checked, 30U);
}

// Links to other pages, to headings, to files and folders of the project. Those to other places are not asked.
TEST(Documentation, LinksLeadSomewhere) {
  namespace fs = std::filesystem;
  static const std::regex link("\\]\\(([^)\\s]+)\\)");
  std::map<fs::path, std::set<std::string>> anchors;
  const auto anchors_of = [&](const fs::path& page) -> const std::set<std::string>& {
    const auto [at, is_new] = anchors.try_emplace(page);
    if (is_new) at->second = anchors_in(read_file(page));
    return at->second;
  };
  std::vector<fs::path> pages;
  for (const char* folder : {"docs", "examples", "bench", "tests"})
    for (const fs::path& page : files_below(folder, ".md")) pages.push_back(page);
  pages.push_back(source_dir() / "README.md");
  std::size_t checked = 0;
  for (const fs::path& page : pages) {
    const std::string text = without_code(read_file(page));
    for (std::sregex_iterator at(text.begin(), text.end(), link); at != std::sregex_iterator(); ++at) {
      const std::string target = (*at)[1];
      if (target.find("://") != std::string::npos || target.rfind("mailto:", 0) == 0) continue;
      ++checked;
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path file = hash == 0 ? page : fs::weakly_canonical(page.parent_path() / target.substr(0, hash));
      const std::string where = fs::relative(page, source_dir()).string() + ": " + target;
      if (!fs::exists(file)) {
        ADD_FAILURE() << where << " does not exist";
      } else if (hash < target.size()) {
        EXPECT_EQ(anchors_of(file).count(target.substr(hash + 1)), 1U) << where << ": there is no such heading";
      }
    }
  }
  EXPECT_GT(checked, 200U);
}

// docs/store.md tells what to do at a message. Between `...` and numbers, it is in the text of the program.
TEST(Documentation, QuotesMessagesThatTheProgramHas) {
  static const std::regex message("^[|] .*`.*`.* [|] ");
  static const std::regex span("`([^`]+)`");
  static const std::regex gap("[.]{3}|[0-9]+");
  static const std::regex joint("\"\\s*\"");  // a literal over several lines
  std::string program;
  for (const auto& file : files_below("src", ".cpp")) program += read_file(file);
  program = std::regex_replace(program, joint, "");
  bool inside = false;
  std::size_t checked = 0;
  for (const std::string& line : lines_of(read_file(source_dir() / "docs/store.md"))) {
    if (line.rfind("## ", 0) == 0) inside = line == "## When something is wrong";
    std::smatch row;
    if (!inside || !std::regex_search(line, row, message)) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), span); at != std::sregex_iterator(); ++at) {
      const std::string quoted = (*at)[1];
      for (std::sregex_token_iterator part(quoted.begin(), quoted.end(), gap, -1); part != std::sregex_token_iterator();
           ++part) {
        const std::string text = part->str();
        const std::size_t begin = text.find_first_not_of(" ,:");
        if (begin == std::string::npos) continue;
        const std::string fragment = text.substr(begin, text.find_last_not_of(" ,:") - begin + 1);
        // What the operating system and RocksDB say is not ours.
        if (fragment == "No space left on device" || fragment == "Corruption") continue;
        ++checked;
        EXPECT_NE(program.find(fragment), std::string::npos) << fragment;
      }
    }
  }
  EXPECT_GE(checked, 8U);
}

TEST(Documentation, HasTheWholeGrammar) {
  const std::string grammar = read_file(source_dir() / "docs/grammar.ebnf");
  bool found = false;
  for (const Block& block : blocks_of(read_file(source_dir() / "docs/language.md")))
    found |= block.mark == "ebnf" && block.text == grammar;
  EXPECT_TRUE(found) << "docs/language.md ends with the text of docs/grammar.ebnf";
}

TEST(Documentation, ExplainsEveryCodeByExample) {
  for (const language::CodeInfo& row : language::all_codes()) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_GT(row.explanation.size(), 60U);
    const language::SourceFile wrong("wrong.noam", std::string(row.wrong));
    std::vector<language::SourceFile> sources;
    if (row.code == language::DiagnosticCode::DuplicateModel) sources.push_back(wrong);
    sources.push_back(wrong);
    const auto compilations = compile_all(sources);
    EXPECT_TRUE(has_code(compilations.back().diagnostics, row.code))
        << language::render(compilations.back().diagnostics, wrong);
    expect_legal(std::string(row.right), "right.noam");
  }
}

}  // namespace noam::tests
