#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/console_story.h"
#include "tests/support.h"

namespace noam::tests {

namespace {

std::string readme() { return read_file(source_dir() / "README.md"); }

// Where the commands of the page begin: the folder of the project after `make build`, as far as they need it.
void copy_project(const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder / "build");
  std::filesystem::copy(source_dir() / "examples", folder / "examples", std::filesystem::copy_options::recursive);
}

// What stands in the fenced block with this mark.
std::string fenced_block(const std::string& markdown, const std::string& mark) {
  const std::string fence = "```" + mark + "\n";
  const std::size_t begin = markdown.find(fence) + fence.size();
  return markdown.substr(begin, markdown.find("```\n", begin) - begin);
}

}  // namespace

// A reader who pastes every command of the page, from top to bottom, sees all that it shows.
TEST(Readme, ShowsWhatAReaderSees) {
  const TemporaryFolder folder;
  copy_project(folder.path());
  expect_story(source_dir() / "README.md", folder.path(), 19, {"export"});
}

TEST(Readme, ShowsTheModelThatTheReaderCopies) {
  EXPECT_EQ(fenced_block(readme(), "noam"), read_file(source_dir() / "examples/blog/blog.noam"));
  EXPECT_NE(readme().find("\n$ cp -r examples/blog build/try\n$ cd build/try\n"), std::string::npos);
}

// One character in the last line that each command prints.
TEST(Readme, NoticesEveryChangedCharacter) {
  std::string changed = readme();
  std::size_t changes = 0;
  for (const StoryStep& step : story_steps(readme())) {
    if (step.kind != StoryStep::Kind::Command || step.printed.empty()) continue;
    const std::string& line = step.printed.back();
    std::size_t at = 0;
    for (std::size_t number = 1; number < step.end; ++number) at = changed.find('\n', at) + 1;
    at += step.indent.size();
    ASSERT_EQ(changed.substr(at, line.size()), line);
    changed[at] = changed[at] == '#' ? '?' : '#';
    ++changes;
  }
  const TemporaryFolder folder;
  copy_project(folder.path());
  EXPECT_EQ(play_story(changed, folder.path()).differences.size(), changes);
}

// Programs are shown only in consoles, where they are run; beside them, `make` is named.
TEST(Readme, NamesTargetsOfTheMakefile) {
  const auto known = make_targets(read_file(source_dir() / "Makefile"));
  const std::string text = readme();
  static const std::regex make("`make ([a-z-]+)");
  std::size_t named = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), make); at != std::sregex_iterator(); ++at, ++named)
    EXPECT_NE(std::find(known.begin(), known.end(), (*at)[1].str()), known.end()) << (*at)[0];
  EXPECT_GE(named, 2U);
}

}  // namespace noam::tests
