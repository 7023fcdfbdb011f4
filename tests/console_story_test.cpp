#include "tests/console_story.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support.h"

namespace noam::tests {

namespace {

using Kind = StoryStep::Kind;
using Texts = std::vector<std::string>;

const char* const page =
    "# A page\n"
    "\n"
    "Save this as `list.txt`:\n"
    "\n"
    "```text file=list.txt\n"
    "one\n"
    "```\n"
    "\n"
    "    $ cat list.txt\n"
    "    one\n"
    "\n"
    "Then add to `list.txt`:\n"
    "```text continues file=list.txt\n"
    "two\n"
    "```\n"
    "\n"
    "```console\n"
    "$ cat list.txt\n"
    "one\n"
    "two\n"
    "\n"
    "$ echo 'some (0.2 s)' |\n"
    "  cat\n"
    "some (1.25 s)\n"
    "$ make test SERVERS=redis   # all of them\n"
    "$ other --program\n"
    "```\n";

}  // namespace

TEST(ConsoleStory, FindsTheStepsOfAPage) {
  const auto steps = story_steps(page);
  ASSERT_EQ(steps.size(), 7U);
  EXPECT_EQ(steps[0].kind, Kind::File);
  EXPECT_EQ(steps[0].path, "list.txt");
  EXPECT_EQ(steps[0].text, "one\n");
  EXPECT_TRUE(steps[0].announced);
  EXPECT_EQ(steps[1].kind, Kind::Command);
  EXPECT_EQ(steps[1].line, 9U);
  EXPECT_EQ(steps[1].text, "cat list.txt");
  EXPECT_EQ(steps[1].printed, Texts{"one"});
  EXPECT_EQ(steps[2].text, "one\ntwo\n");
  EXPECT_EQ(steps[3].printed, (Texts{"one", "two"})) << "the empty line before the next command is not printed";
  EXPECT_EQ(steps[4].text, "echo 'some (0.2 s)' |\n  cat");
  EXPECT_EQ(steps[5].kind, Kind::Make);
  EXPECT_EQ(steps[5].targets, Texts{"test"});
  EXPECT_EQ(steps[6].kind, Kind::Other);
}

TEST(ConsoleStory, PlaysThemInAFolder) {
  const TemporaryFolder folder;
  const StoryResult result = play_story(page, folder.path());
  EXPECT_EQ(result.differences, Texts{});
  EXPECT_EQ(result.commands, 3U);
  EXPECT_EQ(result.updated, page);
  EXPECT_EQ(read_file(folder.path() / "list.txt"), "one\ntwo\n");
}

TEST(ConsoleStory, NoticesEveryChangedCharacter) {
  const std::string right =
      "    $ printf 'one\\n\\ntwo (3 rows, 0.1 ms)\\n'\n"
      "    one\n"
      "\n"
      "    two (3 rows, 7 ms)\n"
      "\n"
      "    $ echo end >&2\n"
      "    end\n";
  const TemporaryFolder folder;
  EXPECT_EQ(play_story(right, folder.path()).differences, Texts{});
  for (const char* shown : {"one", "two", "3 rows", "end"}) {
    std::string changed = right;
    changed[changed.rfind(shown)] = '#';
    const StoryResult result = play_story(changed, folder.path());
    EXPECT_EQ(result.differences.size(), 1U) << changed;
    EXPECT_EQ(play_story(result.updated, folder.path()).differences, Texts{}) << result.updated;
  }
  for (const char* line : {"    one\n", "    end\n"}) {
    std::string shorter = right;
    shorter.erase(shorter.rfind(line), std::string(line).size());
    EXPECT_EQ(play_story(shorter, folder.path()).differences.size(), 1U) << shorter;
  }
  EXPECT_EQ(play_story(right + "    more\n", folder.path()).differences.size(), 1U);
}

TEST(ConsoleStory, LetsTimesAndSizesDifferAndNoOtherNumbers) {
  const TemporaryFolder folder;
  const auto agree = [&](const std::string& printed, const std::string& shown) {
    return play_story("    $ echo '" + printed + "'\n    " + shown + "\n", folder.path()).differences.empty();
  };
  EXPECT_TRUE(agree("5 loaded (0.2 s)", "5 loaded (17.1 ms)"));
  EXPECT_TRUE(agree("monday: 28 kB, from games", "monday: 1.2 MB, from games"));
  EXPECT_FALSE(agree("5 loaded (0.2 s)", "6 loaded (0.2 s)"));
  EXPECT_FALSE(agree("monday: 28 rows", "monday: 29 rows"));
  EXPECT_FALSE(agree("  look up Game: 28 kB", "  look up Game: 29 kB"));
  EXPECT_FALSE(agree("0.2 s", "0.3 s"));
}

TEST(ConsoleStory, WritesAnewOnlyWhatDiffers) {
  const TemporaryFolder folder;
  const StoryResult result = play_story(
      "Text.\n\n    $ echo '(0.1 s)'\n    (9.9 s)\n    $ printf 'a\\n\\nb\\n'\n    c\n\nMore.\n\n```\n$ echo x\n```\n",
      folder.path());
  EXPECT_EQ(result.differences.size(), 2U);
  EXPECT_EQ(result.updated,
            "Text.\n\n    $ echo '(0.1 s)'\n    (9.9 s)\n    $ printf 'a\\n\\nb\\n'\n    a\n\n    b\n\nMore.\n\n"
            "```\n$ echo x\nx\n```\n");
}

TEST(ConsoleStory, RunsNoamWithHereDocumentsAndExitCodes) {
  const TemporaryFolder folder;
  const StoryResult result = play_story(
      "Save `m.noam`:\n\n```noam file=m.noam\nmodel m\nentity A { id: int key }\n```\n\n"
      "```\n$ noam check m.noam\n$ noam check - <<'END'\nmodel\nEND\n$ echo $?\n1\n```\n",
      folder.path());
  ASSERT_EQ(result.differences.size(), 1U) << "the one whose output is not shown";
  EXPECT_NE(result.differences[0].find("<stdin>"), std::string::npos) << result.differences[0];
  EXPECT_EQ(result.commands, 3U);
}

TEST(ConsoleStory, GoesToFoldersOfTheStoryAndNoOthers) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "a/b");
  const std::string page =
      "Save `x` here:\n\n    $ cd a/b\n\n```text file=x\nhere\n```\n\n"
      "    $ cat x\n    here\n    $ cd ../..\n    $ cat a/b/x\n    here\n";
  EXPECT_EQ(story_steps(page)[0].kind, Kind::Folder);
  EXPECT_EQ(story_steps(page)[0].path, "a/b");
  EXPECT_EQ(play_story(page, folder.path()).differences, Texts{});
  EXPECT_EQ(play_story(page, folder.path()).commands, 2U);
  for (const char* place : {"missing", "..", "../..", "/", "a/b/x"}) {
    const StoryResult result = play_story(fmt::format("    $ cd {}\n    $ echo on\n    on\n", place), folder.path());
    ASSERT_EQ(result.differences.size(), 1U) << place;
    EXPECT_NE(result.differences[0].find("no such folder"), std::string::npos) << result.differences[0];
  }
}

TEST(ConsoleStory, GoesOnWithoutWhatIsWrong) {
  const auto steps =
      story_steps("```noam file=a\n1\n```\n```noam wrong code file=a\n2\n```\n```noam continues file=a\n3\n```\n");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].text, "1\n2\n");
  EXPECT_EQ(steps[2].text, "1\n3\n");
  EXPECT_FALSE(steps[0].announced);
}

TEST(ConsoleStory, LeavesOtherBlocksAlone) {
  EXPECT_TRUE(story_steps("```json\n$ noam x\n```\n- item\n    $ noam in a paragraph\n\n    no command\n").empty());
}

TEST(ConsoleStory, KnowsWhatMakeMakes) {
  EXPECT_EQ(make_targets("JOBS := 1\nbuild: x   ## The program\n\tcmake\ntest-servers: build\n.PHONY: build\n"),
            (Texts{"build", "test-servers"}));
}

}  // namespace noam::tests
