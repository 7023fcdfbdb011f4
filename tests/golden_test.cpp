#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/support.h"

// tests/golden/diagnostics: wrong models, each followed by what noam says about it, in lines that begin with `//>`.
// NOAM_UPDATE_GOLDEN=1 writes those lines anew; the review reads the difference.
namespace noam::tests {

namespace {

struct Golden {
  std::string input;
  std::string expected;
};

Golden split(const std::string& text) {
  Golden golden;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    if (line.rfind("//>", 0) == 0)
      golden.expected += line.substr(line.rfind("//> ", 0) == 0 ? 4 : 3);
    else
      golden.input += line;
    at = end;
  }
  return golden;
}

std::string as_comments(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    out += line.empty() ? "//>\n" : "//> " + line + "\n";
    at = end + 1;
  }
  return out;
}

// Diagnoses the text; `duplicate-model` takes a second file, so the text is looked at beside another of that name.
Compilation diagnose(const std::string& name, const language::SourceFile& source) {
  if (name.rfind("duplicate-model", 0) != 0) return compile(source);
  std::vector<language::SourceFile> sources;
  sources.emplace_back("first.noam", std::string(source.text()));
  sources.push_back(source);
  return std::move(compile_all(sources)[1]);
}

}  // namespace

TEST(GoldenDiagnostics, SayWhatTheFilesSay) {
  const bool update = std::getenv("NOAM_UPDATE_GOLDEN") != nullptr;
  const auto files = files_below("tests/golden/diagnostics", ".noam");
  ASSERT_GE(files.size(), 120U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const std::string name = file.filename().string();
    const std::string text = read_file(file);
    const Golden golden = split(text);
    const language::SourceFile source(name, golden.input);
    const Compilation compilation = diagnose(name, source);
    const std::string said = language::render(compilation.diagnostics, source);
    EXPECT_FALSE(compilation.diagnostics.empty()) << "a golden diagnostic without a diagnostic";
    if (update)
      write_file(file, golden.input + as_comments(said));
    else
      EXPECT_EQ(as_comments(golden.expected), as_comments(said));
  }
}

TEST(GoldenDiagnostics, ShowEveryCode) {
  std::set<language::DiagnosticCode> shown;
  for (const auto& file : files_below("tests/golden/diagnostics", ".noam")) {
    const std::string name = file.filename().string();
    const language::SourceFile source(name, split(read_file(file)).input);
    const Compilation compilation = diagnose(name, source);
    for (const auto& diagnostic : compilation.diagnostics.all()) shown.insert(diagnostic.code);
  }
  for (const language::CodeInfo& row : language::all_codes())
    EXPECT_TRUE(shown.contains(row.code)) << "no golden file shows " << row.name;
}

// A file named after a code shows that code: `unknown-field_typo.noam`.
TEST(GoldenDiagnostics, AreNamedAfterWhatTheyShow) {
  for (const auto& file : files_below("tests/golden/diagnostics", ".noam")) {
    const std::string name = file.filename().string();
    const std::string code = name.substr(0, name.find_first_of("_."));
    if (code == "many") continue;
    SCOPED_TRACE(name);
    const auto wanted = language::find_code(code);
    ASSERT_TRUE(wanted.has_value()) << "no code " << code;
    const language::SourceFile source(name, split(read_file(file)).input);
    bool found = false;
    const Compilation compilation = diagnose(name, source);
    for (const auto& diagnostic : compilation.diagnostics.all()) found |= diagnostic.code == *wanted;
    EXPECT_TRUE(found);
  }
}

}  // namespace noam::tests
