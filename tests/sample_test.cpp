#include "noam/cli/sample.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/design/narration.h"
#include "noam/language/source.h"
#include "tests/outlined.h"
#include "tests/support.h"

// Data as it lies under a design.
namespace noam::tests {

namespace {

using model::Datum;

design::Program game(const std::string& strategy) { return example_program("game", strategy); }

std::string figure3() { return (source_dir() / "examples/game/figure3").string(); }

std::vector<design::SampleEntry> family(const design::Program& program, const design::Sample& sample,
                                        const std::string& label) {
  EXPECT_EQ(sample.families.size(), program.design.families.size());
  for (std::uint32_t i = 0; i < sample.families.size(); ++i)
    if (design::family_label(program.design, i) == label) return sample.families[i];
  ADD_FAILURE() << "no family " << label;
  return {};
}

class SampleFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    write_file(folder.path() / name, text);
    return (folder.path() / name).string();
  }
  static void expect_error(const Result<design::Sample>& sample, const std::string& message) {
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().message, message);
  }

  TemporaryFolder folder;
};

}  // namespace

TEST(Sample, HasTheAggregatesOfFigure3AnEntryAFieldAndAnElement) {
  const design::Program program = game("figure8");
  const auto sample = cli::read_sample(program, {figure3()});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto names = family(program, *sample, "Player.first_name");
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].block, std::vector<Datum>{"mary"});
  EXPECT_TRUE(names[0].key.empty());
  ASSERT_FALSE(names[0].values.empty());
  EXPECT_EQ(names[0].values[0], Datum("Mary"));
  EXPECT_EQ(names[1].block, std::vector<Datum>{"rick"});
  const auto games = family(program, *sample, "Player.games");
  ASSERT_EQ(games.size(), 5U);
  EXPECT_EQ(games[3].block, std::vector<Datum>{"rick"});
  EXPECT_EQ(games[3].key, std::vector<Datum>{1});
  EXPECT_EQ(games[3].values[0], Datum(Datum::List{"7425", "ann"}));
  const auto rounds = family(program, *sample, "Game.rounds");
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[1].values[0].as_list()[1], Datum()) << "no comments";
}

TEST(Sample, IsTheSameEachTime) {
  const design::Program program = game("normalized");
  const auto once = cli::read_sample(program, {figure3()});
  const auto again = cli::read_sample(program, {figure3()});
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->families, again->families);
}

TEST(Sample, LeavesOutWhatNoamKeepsForItself) {
  const design::Program program = game("eao");
  const auto sample = cli::read_sample(program, {figure3()});
  ASSERT_TRUE(sample) << sample.error().message;
  for (std::size_t i = 0; i < sample->families.size(); ++i)
    EXPECT_EQ(sample->families[i].empty(), program.design.families[i].of_noam()) << i;
}

TEST_F(SampleFiles, FollowTheOrderOfTheKeysAndCount) {
  const design::Program program = program_of(read_file(source_dir() / "examples/shortener/shortener.noam"), "seed001");
  const std::string urls =
      file("Url.csv", "short,long,created,custom\nab,https://a.example,2024-05-01T12:00:00Z,true\n");
  const std::string visits = file("Visit.csv",
                                  "url,at,country,ip\n"
                                  "ab,2024-05-01T13:10:00Z,it,10.0.0.1\n"
                                  "ab,2024-05-01T13:20:00Z,,10.0.0.2\n"
                                  "ab,2024-05-01T14:10:00Z,it,10.0.0.1\n");
  const auto sample = cli::read_sample(program, {urls, visits});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto hours = family(program, *sample, "hourcounters");
  ASSERT_EQ(hours.size(), 2U);
  EXPECT_GT(hours[0].key[0], hours[1].key[0]) << "the last hour first";
  EXPECT_EQ(hours[0].values[0], Datum(1));
  EXPECT_EQ(hours[1].values[0], Datum(2));
  const auto countries = family(program, *sample, "countrycounters");
  ASSERT_EQ(countries.size(), 2U);
  EXPECT_EQ(countries[0].key[0], Datum()) << "absent is a country, too";
  EXPECT_EQ(family(program, *sample, "uniquecounter")[0].values[0], Datum(2));
}

TEST_F(SampleFiles, HaveTheRowsOfRefreshedQueries) {
  const std::string text =
      "model blog\n"
      "entity User ~10 { name: text(20) key  follows: set<User> ~3 inverse followers ~3 }\n"
      "query top refresh every 1 hour { select u.name, count(u.followers) as n from User u order by n desc limit 2 }\n"
      "command follow($who, $whom) { add $whom to User[$who].follows }\n";
  const design::Program program = program_of(text, "eao");
  const auto sample =
      cli::read_sample(program, {file("User.jsonl", "{\"name\": \"a\", \"follows\": [\"b\"]}\n{\"name\": \"b\"}\n")});
  ASSERT_TRUE(sample) << sample.error().message;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < sample->families.size(); ++i)
    if (program.design.families[i].purpose == design::Purpose::Refreshed && !program.design.families[i].key.empty())
      rows += sample->families[i].size();
  EXPECT_EQ(rows, 2U);
}

TEST_F(SampleFiles, AreRefusedInOneLine) {
  const design::Program program = game("eao");
  const std::string bad = file("Player.jsonl",
                               "{\"username\": \"a\", \"first_name\": \"A\", \"last_name\": \"A\"}\n"
                               "{\"username\": \"b\"}\n{}\n");
  expect_error(cli::read_sample(program, {bad}), bad + ":2: first_name: a value is required [required]");
  const std::string twice = file("Player.csv", "username,first_name,last_name\na,A,A\na,B,B\n");
  expect_error(cli::read_sample(program, {twice}), twice + ":3: Player \"a\" already exists [exists]");
  expect_error(cli::read_sample(program, {"-"}), "data cannot come from standard input here: give files or folders");
  const std::string other = file("Playr.jsonl", "");
  expect_error(cli::read_sample(program, {other}),
               other + ": the name of the file is not an entity; did you mean `Player`? available: Player, Game");
  const std::string text = file("Player.txt", "");
  expect_error(cli::read_sample(program, {text}),
               text + ": unknown format; name the file .jsonl, .ndjson, .json, .csv or .tsv");
  const auto missing = cli::read_sample(program, {(folder.path() / "no" / "Player.csv").string()});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("Player.csv"), std::string::npos) << missing.error().message;
}

}  // namespace noam::tests
