#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "noam/cli/sample.h"
#include "noam/design/program.h"
#include "noam/targets/oracle_nosql/oracle_nosql.h"
#include "tests/outlined.h"
#include "tests/support.h"

// What Oracle NoSQL Database is given.
namespace noam::tests {

namespace {

std::string file(const design::Program& program, const std::string& path) {
  return file_of(targets::oracle_nosql::generate(targets::outline(program), nullptr), path);
}

std::string figure3(const std::string& strategy, const std::string& path) {
  const design::Program program = example_program("game", strategy);
  const auto sample = cli::read_sample(program, {(source_dir() / "examples/game/figure3").string()});
  EXPECT_TRUE(sample) << sample.error().message;
  return file_of(targets::oracle_nosql::generate(targets::outline(program), &*sample), path);
}

}  // namespace

TEST(OracleTarget, HasAPairAnAggregateAsInFigure4a) {
  for (const char* strategy : {"figure9", "eao"}) {
    const auto lines = lines_of(figure3(strategy, "data.kv"));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0],
              "/Player/mary/-\t"
              R"({"username":"mary","first_name":"Mary","last_name":"Wilson",)"
              R"("games":[{"game":"2345","opponent":"rick"},{"game":"2611","opponent":"ann"}]})");
    EXPECT_EQ(lines[2].substr(0, 40), "/Game/2345/-\t{\"id\":\"2345\",\"first_player\"");
  }
}

TEST(OracleTarget, HasAPairAnEntryAsInFigure4b) {
  EXPECT_EQ(figure3("figure8", "data.kv"),
            "/Player/mary/-/username\t\"mary\"\n"
            "/Player/mary/-/first_name\t\"Mary\"\n"
            "/Player/mary/-/last_name\t\"Wilson\"\n"
            "/Player/mary/-/games[0]\t{\"game\":\"2345\",\"opponent\":\"rick\"}\n"
            "/Player/mary/-/games[1]\t{\"game\":\"2611\",\"opponent\":\"ann\"}\n"
            "/Player/rick/-/username\t\"rick\"\n"
            "/Player/rick/-/first_name\t\"Ricky\"\n"
            "/Player/rick/-/last_name\t\"Doe\"\n"
            "/Player/rick/-/score\t42\n"
            "/Player/rick/-/games[0]\t{\"game\":\"2345\",\"opponent\":\"mary\"}\n"
            "/Player/rick/-/games[1]\t{\"game\":\"7425\",\"opponent\":\"ann\"}\n"
            "/Player/rick/-/games[2]\t{\"game\":\"1241\",\"opponent\":\"johnny\"}\n"
            "/Game/2345/-/id\t\"2345\"\n"
            "/Game/2345/-/first_player\t\"mary\"\n"
            "/Game/2345/-/second_player\t\"rick\"\n"
            "/Game/2345/-/rounds[0]\t{\"moves\":\"north, east\",\"comments\":\"well played\"}\n"
            "/Game/2345/-/rounds[1]\t{\"moves\":\"east, south\",\"actions\":\"opens a door\",\"spell\":\"light\"}\n");
}

TEST(OracleTarget, KeepsElementsInAChildTable) {
  EXPECT_EQ(file(example_program("game", "figure11"), "schema.ddl"),
            R"(CREATE TABLE IF NOT EXISTS Game (
  id STRING,
  first_player STRING,
  second_player STRING,
  noam_length_of_rounds LONG,
  noam_version LONG,
  PRIMARY KEY(SHARD(id))
);

CREATE TABLE IF NOT EXISTS Game.rounds (
  position LONG,
  value RECORD(moves STRING, comments STRING, actions STRING, spell STRING),
  PRIMARY KEY(position)
);

CREATE TABLE IF NOT EXISTS Player (
  username STRING,
  first_name STRING,
  last_name STRING,
  score LONG,
  games ARRAY(RECORD(game STRING, opponent STRING)),
  noam_version LONG,
  PRIMARY KEY(SHARD(username))
);
)");
}

TEST(OracleTarget, LoadsRowsOfParentAndChild) {
  const std::string data = figure3("figure11", "data.sql");
  expect_part(data, R"(UPSERT INTO Game (id, first_player, second_player, noam_length_of_rounds, noam_version) )"
                    R"(VALUES ("2345", "mary", "rick", 2, 1);)");
  expect_part(data, R"(UPSERT INTO Game.rounds (id, position, value) )"
                    R"(VALUES ("2345", 0, {"moves": "north, east", "comments": "well played"});)");
}

TEST(OracleTarget, WalksDescendingKeysBackwards) {
  expect_part(file(example_program("microblog", "seed003"), "statements.sql"),
              "DECLARE $username STRING; $noam_limit LONG;\n"
              "SELECT date_time, tweet_id, author, content, language, number_of_likes, number_of_shares\n"
              "FROM caches_by_users\n"
              "WHERE username = $username\n"
              "ORDER BY username DESC, date_time DESC, tweet_id DESC\n"
              "LIMIT $noam_limit;\n");
}

TEST(OracleTarget, EncodesAKeyOfMixedDirections) {
  const design::Program program = program_of(R"(model m
entity Note { id: int key  group: text  rank: int  text: text }
design d { collection notes of Note n by group { entry [rank desc, id]: text } }
query notes($group) { select n.id, n.text from Note n where n.group = $group order by n.rank desc, n.id }
)",
                                             "d");
  expect_part(file(program, "schema.ddl"), R"(CREATE TABLE IF NOT EXISTS notes (
  group_ STRING,
  noam_key STRING,
  rank LONG,
  id LONG,
  text STRING,
  noam_version LONG,
  PRIMARY KEY(SHARD(group_), noam_key)
);)");
  expect_part(file(program, "statements.sql"),
              "DECLARE $group_ STRING;\n"
              "SELECT rank, id, text, noam_version\n"
              "FROM notes\n"
              "WHERE group_ = $group_\n"
              "ORDER BY group_, noam_key;\n");
}

TEST(OracleTarget, RaisesTheVersionWithEveryWrite) {
  const std::string statements = file(example_program("game", "figure9"), "statements.sql");
  expect_part(statements,
              "INSERT INTO Player (username, first_name, last_name, score, games, noam_version)\n"
              "VALUES ($username, $first_name, $last_name, $score, $games, 1);\n");
  expect_part(statements,
              "noam_version = $noam_next_version\nWHERE username = $username AND noam_version = $noam_version;\n");
  expect_part(statements,
              "UPDATE Game t\nADD t.rounds $rounds[], SET t.noam_version = t.noam_version + 1\nWHERE t.id = $id;\n");
}

TEST(OracleTarget, WritesARowInOneStatement) {
  expect_part(file(example_program("game", "figure8"), "statements.sql"),
              "UPDATE Player\nSET first_name = $first_name, last_name = $last_name, noam_version = $noam_next_version\n"
              "WHERE username = $username AND noam_version = $noam_version;\n");
}

TEST(OracleTarget, AddsToCounters) {
  expect_part(file(example_program("shortener", "seed001"), "statements.sql"),
              "INSERT INTO hourcounters (short_url, hour, value)\nVALUES ($short_url, $hour, 0);\n");
  expect_part(file(example_program("shortener", "seed001"), "statements.sql"),
              "UPDATE hourcounters\nSET value = value + $value_\nWHERE short_url = $short_url AND hour = $hour;\n");
}

TEST(OracleTarget, WarnsOfTheLimitsOfTheCloud) {
  const design::Program program = example_program("microblog", "seed003");
  const auto measures = targets::oracle_nosql::measure(targets::outline(program));
  const auto warnings = targets::beyond(targets::oracle_nosql::capabilities, measures);
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings[0].code, "beyond-advice");
  expect_part(warnings[0].message, "a block of users reaches 161");
}

}  // namespace noam::tests
