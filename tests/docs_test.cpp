#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "noam/cli/compile.h"
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
