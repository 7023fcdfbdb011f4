#include "noam/cli/load_command.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/support.h"

// `noam load` and `noam export` as a person or a program meets them.
namespace noam::tests {

namespace {

using Json = nlohmann::ordered_json;

std::string game() { return (source_dir() / "examples/game/game.noam").string(); }

class LoadCommand : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, text);
    return path(name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // Without the folder, and without how long it took.
  [[nodiscard]] std::string plain(std::string text) const {
    const std::string place = folder_.path().string() + "/";
    for (std::size_t at = 0; (at = text.find(place)) != std::string::npos;) text.erase(at, place.size());
    return std::regex_replace(text, std::regex(R"(\([0-9]+\.[0-9] s\))"), "(0.0 s)");
  }
  ProgramRun load(std::vector<std::string> arguments, std::string_view input = {}) {
    arguments.insert(arguments.begin(), {"load", game()});
    ProgramRun run = run_noam(arguments, input);
    run.out = plain(run.out);
    run.err = plain(run.err);
    return run;
  }
  void expect_wrong_use(const std::vector<std::string>& arguments, const std::string& message,
                        std::string_view input = {}) {
    const ProgramRun run = load(arguments, input);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.err, "noam: " + message + "\n");
    EXPECT_EQ(run.out, "");
  }

  TemporaryFolder folder_;
};

}  // namespace

TEST_F(LoadCommand, LoadsAFileAndTellsItsBadLines) {
  const std::string players = file("Player.csv",
                                   "username,first_name,last_name,score\n"
                                   "mary,Mary,Wilson,\n"
                                   "rick,Rick,\"O\"\"Hara, Jr.\",3\n"
                                   "rick,Richard,Snow,1\n");
  const ProgramRun run = load({players});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "Player.csv: 2 loaded, 1 bad (0.0 s)\n");
  EXPECT_EQ(run.err, "noam: Player.csv:4: Player \"rick\" exists [exists]\n");
}

TEST_F(LoadCommand, LoadsStandardInput) {
  const ProgramRun run = load({"-", "--entity", "Player", "--format", "csv", "--delimiter", "\\t"},
                              "username\tfirst_name\tlast_name\nmary\tMary\tWilson\n");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "<stdin>: 1 loaded (0.0 s)\n");
  EXPECT_EQ(run.err, "");
}

TEST_F(LoadCommand, LoadsFilesOfOtherNames) {
  const std::string text = R"({"username": "a", "first_name": "A", "last_name": "A"})";
  EXPECT_EQ(load({file("people.txt", text), "--entity", "Player", "--format", "jsonl"}).code, 0);
  EXPECT_EQ(load({file("player.NDJSON", text)}).code, 0);
  EXPECT_EQ(load({file("Player.tsv", "username\tfirst_name\tlast_name\na\tA\tA\n")}).code, 0);
}

TEST_F(LoadCommand, PrintsTheFirstBadLinesAndHowManyMore) {
  std::string text;
  for (int i = 0; i < 1'030; ++i) text += "{}\n";
  const ProgramRun run = load({file("Player.jsonl", text)});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "Player.jsonl: 0 loaded, 1,030 bad (0.0 s)\n");
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 21);
  EXPECT_EQ(run.err.rfind("noam: Player.jsonl:1: username: a value is required [required]\n", 0), 0U);
  EXPECT_NE(run.err.find("noam: Player.jsonl: 1,010 more bad lines\n"), std::string::npos) << run.err;
}

TEST_F(LoadCommand, TellsAllAsJson) {
  const std::string players = file("Player.jsonl", R"({"username": "a", "first_name": "A", "last_name": "A"})"
                                                   "\n{}\n");
  const ProgramRun run = load({players, "--json"});
  EXPECT_EQ(run.code, 3);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["files"].size(), 1U);
  EXPECT_EQ(json["files"][0].dump(),
            R"({"file":"Player.jsonl","entity":"Player","end":"complete","records":2,"loaded":1,"bad":1,)"
            R"("skipped_before":0,"lines":2,"errors":[{"line":2,"code":"required","reason":"username: a value is )"
            R"(required"}]})");
}

TEST_F(LoadCommand, EndsAtTheFirstBadLineWhereItIsStrict) {
  const std::string header = "username,first_name,last_name\n";
  const std::string players = file("Player.csv", header + "a,A,A\nb,B,B\nb,B,B\nc,C,C\n");
  const std::string games = file("Game.jsonl", "");
  const ProgramRun run = load({players, games, "--strict"});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "Player.csv: 2 loaded, 1 bad (0.0 s)\n");
  EXPECT_EQ(run.err,
            "noam: Player.csv:4: Player \"b\" exists [exists]\n"
            "noam: Player.csv: stopped at a bad line; loaded up to line 3; once it is mended, the same command goes on "
            "there\n");
}

TEST_F(LoadCommand, RefusesWrongUse) {
  const std::string players = file("Player.csv", "username,first_name,last_name\na,A,A\n");
  expect_wrong_use({path("Player.jsonl")}, "Player.jsonl: can't be read: No such file or directory");
  expect_wrong_use({file("Plyer.csv", "")},
                   "Plyer.csv: a file is named after its entity, or --entity says it; did you mean `Player`? there are "
                   "Player, Game");
  expect_wrong_use({players, "--entity", "player"},
                   "no entity `player`; did you mean `Player`? there are Player, Game");
  expect_wrong_use(
      {file("Player.txt", "")},
      "Player.txt: is it JSON lines (.jsonl, .ndjson, .json) or comma-separated (.csv, .tsv)? Say --format "
      "jsonl or --format csv");
  expect_wrong_use({"-"}, "standard input has no name: say what it is with --entity and --format");
  expect_wrong_use({players, "--delimiter", ";;"}, "--delimiter `;;`: it is one character, such as `;`, or `\\t`");
  expect_wrong_use({players, "--delimiter", "\""}, "--delimiter `\"`: it is one character, such as `;`, or `\\t`");
  expect_wrong_use({file("Game.jsonl", ""), "--delimiter", ";"},
                   "Game.jsonl: --delimiter is for comma-separated values");
  expect_wrong_use({players, players}, "Player.csv: is given twice");
  expect_wrong_use({players, "--delimiter", ";"},
                   "Player.csv:1: column `username,first_name,last_name` is no field of Player; perhaps --delimiter "
                   "','? there are username, first_name, last_name, score, games");
  file("empty/notes.txt", "");
  expect_wrong_use({path("empty")},
                   "empty: nothing to load in this folder: no file ends in .jsonl, .ndjson, .json, .csv or .tsv");
  expect_wrong_use({path("empty"), "--entity", "Player"}, "empty: --entity is for a file, and this is a folder");
  if (::geteuid() != 0) {
    std::filesystem::permissions(players, std::filesystem::perms::none);
    expect_wrong_use({players}, "Player.csv: can't be read: Permission denied");
  }
  const ProgramRun both = run_noam({"load", "-", "-", "--entity", "Player", "--format", "csv"}, "");
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.err, "noam: standard input is the model or the data, not both\n");
  EXPECT_EQ(run_noam({"load", game()}).code, 2);
  EXPECT_EQ(run_noam({"load", game(), players, "--format", "xml"}).code, 2);
}

TEST_F(LoadCommand, LooksAtAllFilesBeforeItLoadsOne) {
  const std::string players = file("Player.csv", "username,first_name,last_name\na,A,A\n");
  expect_wrong_use({players, file("Game.csv", "id\ng1\n")},
                   "Game.csv:1: column `first_player` is missing, and Game requires it");
}

TEST(ExportCommand, RefusesWrongUse) {
  const auto message = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"export", game()});
    const ProgramRun run = run_noam(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_EQ(message({}), "noam: to standard output goes one entity, --entity E; for more say --to FOLDER\n");
  EXPECT_EQ(message({"--entity", "Plyer"}), "noam: no entity `Plyer`; did you mean `Player`? there are Player, Game\n");
  EXPECT_EQ(message({"--entity", "Player", "--json"}), "noam: --json and --force go with --to FOLDER\n");
}

}  // namespace noam::tests
