#include "noam/cli/load_command.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "tests/support.h"

// `noam load` and `noam export` as a person or a program meets them.
namespace noam::tests {

namespace {

std::string game() { return (source_dir() / "examples/game/game.noam").string(); }

class LoadCommand : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    write_file(folder.path() / name, text);
    return path(name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }

  // Without the folder, and without how long it took.
  [[nodiscard]] std::string plain(std::string text) const {
    const std::string place = folder.path().string() + "/";
    for (std::size_t at = 0; (at = text.find(place)) != std::string::npos;) text.erase(at, place.size());
    return std::regex_replace(text, std::regex(R"(\([0-9]+\.[0-9] s\))"), "(0.0 s)");
  }
  ProgramRun load(std::vector<std::string> arguments, std::string_view input = {}) {
    arguments.insert(arguments.begin(), {"load", game(), "--store", store});
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

  TemporaryFolder folder;
  std::string store = "memory:";
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
  EXPECT_EQ(run.err, "noam: Player.csv:4: Player \"rick\" already exists [exists]\n");
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
            R"("skipped_before":0,"bad_before":0,"lines":2,)"
            R"("errors":[{"line":2,"code":"required","reason":"username: a value is )"
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
            "noam: Player.csv:4: Player \"b\" already exists [exists]\n"
            "noam: Player.csv: stopped at a bad line; loaded up to line 3; fix the line and repeat the command to "
            "continue there\n");
}

TEST_F(LoadCommand, RefusesWrongUse) {
  const std::string players = file("Player.csv", "username,first_name,last_name\na,A,A\n");
  expect_wrong_use({path("Player.jsonl")}, "Player.jsonl: cannot be read: No such file or directory");
  expect_wrong_use({file("Plyer.csv", "")},
                   "Plyer.csv: the name of the file is not an entity: rename it, or give --entity; did you mean "
                   "`Player`? available: "
                   "Player, Game");
  expect_wrong_use({players, "--entity", "player"},
                   "no entity `player`; did you mean `Player`? available: Player, Game");
  expect_wrong_use({file("Player.txt", "")},
                   "Player.txt: unknown format; name the file .jsonl, .ndjson, .json, .csv or .tsv, or give --format "
                   "jsonl or --format csv");
  expect_wrong_use({"-"}, "standard input has no name: give --entity and --format");
  expect_wrong_use({players, "--delimiter", ";;"}, "--delimiter `;;`: must be one character, such as `;`, or `\\t`");
  expect_wrong_use({players, "--delimiter", "\""}, "--delimiter `\"`: must be one character, such as `;`, or `\\t`");
  expect_wrong_use({file("Game.jsonl", ""), "--delimiter", ";"},
                   "Game.jsonl: --delimiter can be used with CSV files only");
  expect_wrong_use({players, players}, "Player.csv: given twice");
  expect_wrong_use(
      {players, "--delimiter", ";"},
      "Player.csv:1: column `username,first_name,last_name` is not a field of Player; did you mean --delimiter "
      "','? available: username, first_name, last_name, score, games");
  file("empty/notes.txt", "");
  expect_wrong_use({path("empty")},
                   "empty: nothing to load: no file in this folder ends in .jsonl, .ndjson, .json, .csv or .tsv");
  expect_wrong_use({path("empty"), "--entity", "Player"}, "empty: --entity cannot be used with a folder");
  if (::geteuid() != 0) {
    std::filesystem::permissions(players, std::filesystem::perms::none);
    expect_wrong_use({players}, "Player.csv: cannot be read: Permission denied");
  }
  const ProgramRun both =
      run_noam({"load", "-", "-", "--store", "memory:", "--entity", "Player", "--format", "csv"}, "");
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.err, "noam: standard input cannot be both the model and the data\n");
  EXPECT_EQ(load({}).code, 2);
  EXPECT_EQ(load({players, "--format", "xml"}).code, 2);
}

TEST_F(LoadCommand, LooksAtAllFilesBeforeItLoadsOne) {
  const std::string players = file("Player.csv", "username,first_name,last_name\na,A,A\n");
  expect_wrong_use({players, file("Game.csv", "id\ng1\n")},
                   "Game.csv:1: missing column `first_player`, which Game requires");
}

TEST_F(LoadCommand, GoesOnAndComesBackThroughTheEmbeddedStore) {
  store = "rocksdb:" + path("store");
  std::string text = "username,first_name,last_name\n";
  for (int i = 0; i < 1'000; ++i) text += "u" + std::to_string(i) + ",F,\"L, \"\"x\"\"\"\n";
  const std::string players = file("data/Player.csv", text);
  file("data/Game.jsonl", R"({"id": "g1", "first_player": "u1", "second_player": "u2", "rounds": [{"moves": "e4"}]})");
  const ProgramRun early = load({players});
  EXPECT_EQ(early.code, 2);
  EXPECT_NE(early.err.find("noam deploy"), std::string::npos) << early.err;
  ASSERT_EQ(run_noam({"deploy", game(), "--store", store}).code, 0);
  const ProgramRun first = load({path("data")});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, "data/Player.csv: 1,000 loaded (0.0 s)\ndata/Game.jsonl: 1 loaded (0.0 s)\n");
  const ProgramRun second = load({players});
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.out, "data/Player.csv: already loaded, 1,000 of Player; use --again to load it again\n");
  file("data/Player.csv", text + "v1,F,L\nu1,F,L\n");
  const ProgramRun third = load({players, "--json"});
  EXPECT_EQ(third.code, 3);
  const Json grown = Json::parse(third.out)["files"][0];
  EXPECT_EQ(grown["loaded"], 1);
  EXPECT_EQ(grown["skipped_before"], 1'000);
  EXPECT_EQ(grown["errors"][0]["line"], 1'003);
  file("data/Player.csv", "username,first_name,last_name\n");
  expect_wrong_use(
      {players},
      "data/Player.csv: has changed since its first 1003 lines were loaded; use --again to load it from the start");
  EXPECT_EQ(load({players, "--again"}).out, "data/Player.csv: 0 loaded (0.0 s)\n");

  // What is exported loads into another store, under another design, and is exported as it was.
  const ProgramRun exported = run_noam({"export", game(), "--store", store, "--to", path("backup")});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(plain(exported.out), "backup/Player.jsonl: 1001 instances\nbackup/Game.jsonl: 1 instance\n");
  EXPECT_EQ(run_noam({"export", game(), "--store", store, "--to", path("backup")}).code, 2);
  const std::string other = "rocksdb:" + path("other");
  ASSERT_EQ(run_noam({"deploy", game(), "--store", other, "--strategy", "normalized"}).code, 0);
  EXPECT_EQ(run_noam({"load", game(), "--store", other, path("backup")}).code, 0);
  EXPECT_EQ(run_noam({"verify", game(), "--store", other}).code, 0);
  const ProgramRun again =
      run_noam({"export", game(), "--store", other, "--to", path("again"), "--format", "jsonl", "--json"});
  EXPECT_EQ(Json::parse(again.out)["files"][0]["instances"], 1'001);
  for (const char* name : {"Player.jsonl", "Game.jsonl"})
    EXPECT_EQ(read_file(path("again/") + name), read_file(path("backup/") + name));
  const ProgramRun printed = run_noam({"export", game(), "--store", other, "--entity", "Game", "--format", "csv"});
  EXPECT_EQ(
      printed.out,
      "id,first_player,second_player,rounds\n"
      "g1,u1,u2,\"[{\"\"moves\"\":\"\"e4\"\",\"\"comments\"\":null,\"\"actions\"\":null,\"\"spell\"\":null}]\"\n");
}

TEST_F(LoadCommand, ExportsIntoNewFoldersOrLeavesNothing) {
  store = "rocksdb:" + path("data");
  ASSERT_EQ(run_noam({"deploy", game(), "--store", store}).code, 0);
  const auto export_to = [&](const std::string& to, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"export", game(), "--store", store, "--to", to};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_noam(arguments);
  };
  EXPECT_EQ(export_to(path("a/b/c")).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("a/b/c/Player.jsonl")));
  // A folder stands where a file would go.
  std::filesystem::create_directories(path("taken/Game.jsonl/x"));
  const ProgramRun taken = export_to(path("taken"), {"--force"});
  EXPECT_EQ(taken.code, 2) << taken.out;
  EXPECT_EQ(plain(taken.err), "noam: taken/Game.jsonl: cannot be written: it is a folder\n");
  for (const auto& entry : std::filesystem::directory_iterator(path("taken")))
    EXPECT_EQ(entry.path().filename(), "Game.jsonl");
  write_file(path("file"), "");
  const ProgramRun below = export_to(path("file/new/folder"));
  EXPECT_EQ(below.code, 2);
  EXPECT_EQ(plain(below.err), "noam: file/new/folder: cannot be created: Not a directory\n");
  EXPECT_EQ(plain(export_to(path("file")).err), "noam: file: not a folder\n");
  // Where the last of them cannot be created, none stays.
  EXPECT_EQ(export_to(path("new/folder/" + std::string(300, 'a'))).code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST(ExportCommand, RefusesWrongUse) {
  const auto message = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"export", game(), "--store", "memory:"});
    const ProgramRun run = run_noam(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_EQ(message({}), "noam: give --entity E to write one entity to standard output, or --to FOLDER for several\n");
  EXPECT_EQ(message({"--entity", "Plyer"}),
            "noam: no entity `Plyer`; did you mean `Player`? available: Player, Game\n");
  EXPECT_EQ(message({"--entity", "Player", "--json"}), "noam: --json and --force need --to FOLDER\n");
}

}  // namespace noam::tests
