#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "tests/property/case.h"
#include "tests/property/compare.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"

// The cases that once went wrong, made small: a line on what it was, the design, the model, what is asked of it.
namespace noam::tests::property {

namespace {

namespace fs = std::filesystem;

struct Found {
  std::string name;
  std::string design;
  std::string model;
  std::vector<std::string> lines;
};

bool begins(const std::string& line, const char* with) { return line.rfind(with, 0) == 0; }

Found read(const fs::path& path) {
  Found out;
  out.name = path.stem().string();
  std::ifstream file(path);
  enum class Part { Head, Model, Lines } part = Part::Head;
  for (std::string line; std::getline(file, line);) {
    if (part == Part::Head && begins(line, "model ")) part = Part::Model;
    if (part == Part::Model && (begins(line, "{\"run\"") || begins(line, "// "))) part = Part::Lines;
    if (part == Part::Head && begins(line, "design ")) out.design = line.substr(7);
    if (part == Part::Model) out.model += line + "\n";
    if (part == Part::Lines && !line.empty()) out.lines.push_back(line);
  }
  return out;
}

std::vector<fs::path> all() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(NOAM_FOUND_CASES)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class FoundCase : public testing::TestWithParam<fs::path> {};

TEST_P(FoundCase, StaysRight) {
  const Found found = read(GetParam());
  ASSERT_FALSE(found.design.empty());
  const language::SourceFile source(found.name, found.model);
  const Compilation compiled = compile(source);
  ASSERT_FALSE(compiled.diagnostics.has_errors()) << found.model;
  ASSERT_FALSE(found.lines.empty());
  std::vector<std::string> designs = strategies_of(*compiled.model);  // the one that went wrong, and the others
  ASSERT_NE(std::find(designs.begin(), designs.end(), found.design), designs.end()) << found.design;
  for (const std::string& design : designs) {
    SCOPED_TRACE("under " + design);
    SessionEngine tested(*compiled.model, design);
    ASSERT_EQ(tested.problem(), "");
    reference::Reference reference(*compiled.model);
    const std::vector<Engine*> engines{&tested, &reference};
    for (Engine* engine : engines) engine->set_time(first_clock);
    for (const std::string& line : found.lines) {
      SCOPED_TRACE(line);
      if (begins(line, "// clock ")) {
        for (Engine* engine : engines) engine->set_time(std::stoll(line.substr(9)));
      } else if (begins(line, "// refresh ")) {
        for (Engine* engine : engines) engine->refresh(line.substr(11));
      } else if (line == "// expire") {
        for (Engine* engine : engines) engine->expire();
      } else if (line != "// verify") {
        const Json request = Json::parse(line);
        const Json answer = tested.answer(request);
        const Json right = reference.answer(request);
        EXPECT_EQ(difference(*compiled.model, request, answer, right), std::nullopt) << answer.dump() << "\n"
                                                                                     << right.dump();
      }
    }
    EXPECT_EQ(tested.verify(), std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Found, FoundCase, testing::ValuesIn(all()),
                         [](const auto& one) { return one.param.stem().string(); });

}  // namespace

}  // namespace noam::tests::property
