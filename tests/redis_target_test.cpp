#include <string>

#include <gtest/gtest.h>

#include "noam/cli/sample.h"
#include "noam/design/program.h"
#include "noam/targets/redis/layout.h"
#include "noam/targets/redis/redis.h"
#include "tests/outlined.h"
#include "tests/support.h"

// What Redis is given. tests/servers/test_redis.py runs it.
namespace noam::tests {

namespace {

std::string file(const design::Program& program, const std::string& path) {
  return file_of(targets::redis::generate(targets::outline(program), nullptr), path);
}

void expect_lines(const std::string& text, const std::vector<std::string>& wanted) {
  const auto lines = lines_of(text);
  for (const std::string& line : wanted)
    EXPECT_NE(std::find(lines.begin(), lines.end(), line), lines.end()) << line << "\nis not in\n" << text;
}

}  // namespace

TEST(RedisTarget, HasABlockInAHash) {
  const design::Program program = example_program("game", "figure8");
  const auto sample = cli::read_sample(program, {(source_dir() / "examples/game/figure3").string()});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto generated = targets::redis::generate(targets::outline(program), &*sample);
  EXPECT_EQ(
      lines_of(file_of(generated, "data.redis"))[0],
      R"(HSET game:Player:{mary} noam_length_of_games 2 noam_version 1 first_name Mary last_name Wilson )"
      R"(games[0] "{\"game\":\"2345\",\"opponent\":\"rick\"}" games[1] "{\"game\":\"2611\",\"opponent\":\"ann\"}")");
}

TEST(RedisTarget, ReadsAndWritesWithCompleteRequests) {
  expect_lines(
      file(example_program("game", "figure11"), "statements.redis"),
      {"HMGET game:Game:{$id} first_player second_player noam_length_of_rounds noam_version",
       "FCALL_RO game_Game_rounds_read 1 game:Game:{$id}",
       "FCALL game_Game_rounds_put 1 game:Game:{$id} noam_version $noam_version position $position value $value",
       "FCALL game_Player_append 1 game:Player:{$username} noam_version $noam_version games $games"});
  expect_lines(file(example_program("shortener", "seed000"), "statements.redis"),
               {"FCALL_RO shortener_url_hours_read 2 shortener:url:{$short}:hours shortener:url:{$short}:hours:order "
                "hour_from $hour_from",
                "FCALL shortener_url_hours_add 2 shortener:url:{$short}:hours shortener:url:{$short}:hours:order "
                "hour $hour visits $visits"});
  expect_lines(file(example_program("microblog", "seed003"), "statements.redis"),
               {"ZRANGE microblog:User_by_follows:{$element}:entries:order - + BYLEX",
                "HEXISTS microblog:users:{$username} follows[$follows]",
                "HMGET microblog:users:{$username} numbers.followers numbers.follows"});
}

TEST(RedisTarget, WritesAnAggregateInOneCall) {
  expect_lines(file(example_program("game", "figure8"), "statements.redis"),
               {"FCALL game_together 4 game:Player:{$username} game:Player:{$username} game:Player:{$username} "
                "game:Player:{$username} game_Player_username_insert 1 2 noam_length_of_games $noam_length_of_games "
                "game_Player_first_name_put 1 4 noam_version 0 first_name $first_name "
                "game_Player_last_name_put 1 4 noam_version 0 last_name $last_name "
                "game_Player_score_put 1 4 noam_version 0 score $score"});
}

TEST(RedisTarget, ScansKeysWhereNoKeyIsGiven) {
  expect_lines(file(example_program("microblog", "seed003"), "statements.redis"),
               {"SCAN $cursor MATCH microblog:users:{*} COUNT 1000"});
}

TEST(RedisTarget, TellsWhereVersionsAre) {
  const design::Program program = example_program("microblog", "seed003");
  const targets::Outline outline = targets::outline(program);
  const targets::redis::Layout layout(outline);
  for (const auto& family : layout.families()) {
    const std::string& label = family.family->label;
    if (label == "users.follows") {
      ASSERT_TRUE(family.version);
      EXPECT_FALSE(family.version->other_key);
      EXPECT_EQ(family.version->parts, 0U);
    } else if (label == "tweets_by_authors (base)") {
      ASSERT_TRUE(family.version);
      EXPECT_EQ(family.version->parts, 2U);
    } else if (!family.family->base) {
      EXPECT_FALSE(family.version) << label;
    }
  }
  const design::Program pairs = example_program("game", "independent_pairs");
  const targets::Outline apart = targets::outline(pairs);
  const targets::redis::Layout layout_apart(apart);
  for (const auto& family : layout_apart.families()) EXPECT_EQ(family.apart, family.family->label == "GameRound");
}

TEST(RedisTarget, IsMadeTheSameEachTime) {
  const design::Program program = example_program("eventlog", "seed004");
  const auto once = targets::redis::generate(targets::outline(program), nullptr);
  const auto again = targets::redis::generate(targets::outline(program), nullptr);
  ASSERT_EQ(once.files.size(), again.files.size());
  for (std::size_t i = 0; i < once.files.size(); ++i) EXPECT_EQ(once.files[i].text, again.files[i].text);
}

}  // namespace noam::tests
