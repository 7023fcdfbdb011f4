// Post, follow, unfollow, like and go, all at once: in the end every timeline is what the base data says.

#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/property/compare.h"
#include "tests/property/random.h"
#include "tests/reference/reference.h"
#include "tests/support.h"

namespace noam::tests::concurrency {
namespace {

using property::Random;

const std::vector<std::string> names{"ann", "bob", "cy", "dee", "eve"};
constexpr std::size_t tweets = 24;

std::shared_ptr<const model::Model> microblog() {
  return model_of(read_file(source_dir() / "examples/microblog/microblog.noam") + R"(
command leave($username) { delete User[$username] }
command restore($username, $id, $follows: set<User>, $likes: set<Tweet>, $shares: set<Tweet>) {
  put User { username: $username, id: $id, follows: $follows, likes: $likes, shares: $shares }
}
query all_users { select u from User u }
query all_tweets { select t from Tweet t }
query first_page($username) {
  select t.id, t.content, count(t.liked_by) as likes
  from User u, u.follows a, a.tweets t
  where u.username = $username
  order by t.at desc
  limit 3
}

// A page that is cut short, and so refilled whenever something goes.
design capped {
  collection pages of User u by u.username as username {
    copy [t.at desc as at, t.id desc as tweet]: t.content, count(t.liked_by) as likes
        from u.follows a, a.tweets t limit 3
  }
  rest etf
}
)");
}

Json command_by_chance(Random& random) {
  const std::string& name = random.pick(names);
  const std::string& other = random.pick(names);
  const std::size_t tweet = random.below(tweets);
  const std::size_t chance = random.below(100);
  if (chance < 4) return request("leave", {{"username", name}});
  if (chance < 12) return request("register", {{"username", name}, {"id", name[0]}});
  if (chance < 40) {
    static const std::vector<std::string> contents{"good morning", "good night", "hello", "morning, all"};
    return request("post", {{"id", tweet},
                            {"author", name},
                            {"at", "2024-05-01T12:00:00.00" + std::to_string(random.below(4)) + "Z"},
                            {"content", random.pick(contents)},
                            {"language", "en"}});
  }
  if (chance < 50) return request("delete_tweet", {{"id", tweet}});
  if (chance < 66) return request("follow", {{"follower", name}, {"followed", other}});
  if (chance < 74) return request("unfollow", {{"follower", name}, {"followed", other}});
  if (chance < 88) return request("like", {{"username", name}, {"tweet", tweet}});
  if (chance < 92) return request("unlike", {{"username", name}, {"tweet", tweet}});
  if (chance < 97) return request("share", {{"username", name}, {"tweet", tweet}});
  return request("unshare", {{"username", name}, {"tweet", tweet}});
}

std::vector<Json> all_questions() {
  std::vector<Json> out{request("all_users"), request("all_tweets")};
  for (const std::string& name : names) {
    for (const char* query : {"newest", "most_liked", "numbers", "followers_of", "followed_by", "first_page"})
      out.push_back(request(query, {{"username", name}}));
    out.push_back(request("posts_of", {{"author", name}}));
  }
  for (const char* words : {"morning", "good", "hello", "good night"})
    out.push_back(request("most_liked_with", {{"words", words}}));
  for (std::size_t i = 0; i < tweets; ++i) out.push_back(request("tweet", {{"id", i}}));
  return out;
}

class Microblog : public ::testing::TestWithParam<const char*> {};

TEST_P(Microblog, EndsWithEveryTimelineRight) {
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  const auto model = microblog();
  Database database(model, GetParam());
  for (const std::string& name : names)
    ASSERT_EQ(database.run("register", {{"username", name}, {"id", name[0]}}), "applied");

  Findings findings;
  std::atomic<int> applied = 0;
  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    for (int i = 0; i < 80; ++i) {
      const Json answer = database.answer(command_by_chance(random));
      const std::string code = answer.value("code", "");
      if (answer.value("outcome", "") == "applied")
        ++applied;
      else if (code != "exists" && code != "absent")
        findings.add(answer.dump());
    }
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(applied, 0);
  EXPECT_GT(database.store().conflicts(), 0);
  EXPECT_EQ(database.differences(), "");

  // The same base data, and whatever is asked of it.
  reference::Reference reference(*model);
  reference.set_time(start_time);
  for (const Json& row : database.rows("all_users"))
    ASSERT_EQ(reference.answer(request("restore", row["u"]))["outcome"], "applied") << row.dump();
  for (const Json& row : database.rows("all_tweets"))
    ASSERT_EQ(reference.answer(request("post", row["t"]))["outcome"], "applied") << row.dump();
  for (const Json& question : all_questions()) {
    const Json answer = database.answer(question);
    const Json expected = reference.answer(question);
    const auto difference = property::difference(*model, question, answer, expected);
    EXPECT_FALSE(difference) << question.dump() << ": " << *difference << "\n"
                             << answer.dump() << "\n"
                             << expected.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Designs, Microblog, ::testing::Values("eao", "etf", "normalized", "seed003", "capped"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
