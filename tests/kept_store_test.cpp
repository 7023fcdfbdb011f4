#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "tests/support.h"

// Stores of every format there was are opened by the program of today: tests/kept has one of each.
namespace noam::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> kept_formats() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/kept"))
    if (entry.is_directory()) out.push_back(entry.path().filename().string());
  return out;
}

class KeptStore : public testing::TestWithParam<std::string> {
 protected:
  KeptStore() { fs::copy(kept() / "store", folder_.path() / "store", fs::copy_options::recursive); }

  [[nodiscard]] static fs::path kept() { return source_dir() / "tests/kept" / GetParam(); }

  ProgramRun run(const std::string& command, const std::vector<std::string>& more, std::string_view input = {}) {
    std::vector<std::string> arguments{command, (source_dir() / "tests/kept/kept.noam").string(), "--store",
                                       "rocksdb:" + (folder_.path() / "store").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_noam(arguments, input);
  }

  // What was exported when it was made.
  void expect_all_there(const std::string& to) {
    const ProgramRun exported = run("export", {"--to", (folder_.path() / to).string()});
    ASSERT_EQ(exported.code, 0) << exported.err;
    for (const char* file : {"User.jsonl", "Note.jsonl", "View.jsonl"})
      EXPECT_EQ(read_file(folder_.path() / to / file), read_file(kept() / "data" / file)) << file;
  }

  TemporaryFolder folder_;
};

TEST_P(KeptStore, Opens) {
  expect_all_there("first");
  const ProgramRun verified = run("verify", {});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  expect_all_there("second");  // it was closed meanwhile
}

TEST_P(KeptStore, AnswersAndGoesOn) {
  const ProgramRun asked = run("run", {"--batch"},
                               R"({"run":"newest","params":{"name":"ann"}})"
                               "\n"
                               R"({"run":"seen","params":{"id":1}})"
                               "\n"
                               R"({"run":"seen_by","params":{"by":"bob"}})"
                               "\n"
                               R"({"run":"add_line","params":{"id":1,"text":"another","times":11}})"
                               "\n"
                               R"({"run":"forget","params":{"id":10}})"
                               "\n"
                               R"({"run":"newest","params":{"name":"ann"}})"
                               "\n");
  std::vector<std::string> answers;
  for (const std::string& line : lines_of(asked.out)) {
    auto answer = Json::parse(line);
    answer.erase("cursor");  // is good for one version of the program
    answers.push_back(answer.dump());
  }
  const std::vector<std::string> expected{
      R"({"rows":[{"id":10,"name":"bob","body":"the last"},{"id":7,"name":"bob","body":"note 7 ✓"},)"
      R"({"id":6,"name":"bob","body":"note 6 ✓"}]})",
      R"({"rows":[{"views":3}]})",
      R"({"rows":[{"by":"bob","n":2,"weight":"0.002"}]})",
      R"({"outcome":"applied"})",
      R"({"outcome":"applied"})",
      R"({"rows":[{"id":7,"name":"bob","body":"note 7 ✓"},{"id":6,"name":"bob","body":"note 6 ✓"},)"
      R"({"id":5,"name":"bob","body":"note 5 ✓"}]})"};
  EXPECT_EQ(answers, expected);
  const ProgramRun verified = run("verify", {});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

INSTANTIATE_TEST_SUITE_P(Formats, KeptStore, testing::ValuesIn(kept_formats()), [](const auto& format) {
  std::string name = format.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

}  // namespace
}  // namespace noam::tests
