#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "noam/language/parser.h"
#include "noam/language/printer.h"
#include "tests/support.h"

namespace noam::tests {

TEST(Examples, AreThere) {
  for (const char* name : {"blog", "game", "shortener", "microblog", "eventlog", "rubis"})
    EXPECT_TRUE(std::filesystem::exists(source_dir() / "examples" / name / (std::string(name) + ".noam"))) << name;
}

TEST(Examples, AreCheckedWithoutAWord) {
  for (const auto& file : files_below("examples", ".noam")) {
    const ProgramRun run = run_noam({"check", file.string()});
    EXPECT_EQ(run.code, 0) << file;
    EXPECT_EQ(run.out + run.err, "") << file;
  }
}

TEST(Examples, AreInTheirLayout) {
  for (const auto& file : files_below("examples", ".noam")) {
    const ProgramRun run = run_noam({"fmt", "--check", file.string()});
    EXPECT_EQ(run.code, 0) << file << run.out << run.err;
  }
}

TEST(Examples, AreShownAsTextAndJson) {
  for (const auto& file : files_below("examples", ".noam")) {
    const ProgramRun text = run_noam({"show", file.string()});
    EXPECT_EQ(text.code, 0) << file << text.err;
    EXPECT_GT(text.out.size(), 500U);
    const ProgramRun json = run_noam({"show", "--json", file.string()});
    EXPECT_EQ(json.code, 0) << file << json.err;
    const auto parsed = Json::parse(json.out);
    EXPECT_EQ(parsed["model"], file.stem().string());
    EXPECT_FALSE(parsed["entities"].empty());
    EXPECT_FALSE(parsed["queries"].empty());
    EXPECT_FALSE(parsed["commands"].empty());
    for (const char* kind : {"mermaid", "dot"}) {
      const ProgramRun drawn = run_noam({"show", "--diagram", std::string(kind), file.string()});
      EXPECT_EQ(drawn.code, 0) << file;
      EXPECT_GT(drawn.out.size(), 100U);
    }
  }
}

// Whatever is legal in an example: printed and parsed again, it is the same tree; printed twice, the same text.
TEST(Examples, ComeBackFromThePrinterAsTheyWere) {
  for (const auto& file : files_below("examples", ".noam")) {
    SCOPED_TRACE(file.string());
    const language::SourceFile source(file.string(), read_file(file));
    language::Diagnostics diagnostics;
    const language::Tree tree = language::parse(source, diagnostics);
    const language::SourceFile printed("printed", language::print(tree, source));
    const language::Tree again = language::parse(printed, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_EQ(language::dump(tree), language::dump(again));
    EXPECT_EQ(language::print(again, printed), printed.text());
  }
}

}  // namespace noam::tests
