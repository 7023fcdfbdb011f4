// Many threads for a long time, on one store: at every moment all copies are right, and all readers see one moment.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/faults/process.h"
#include "tests/faults/workload.h"
#include "tests/support.h"
#include "tests/threads.h"

namespace noam::tests::faults {
namespace {

constexpr int writers = 8;
constexpr int readers = 4;

// What holds in every state: numbers are those of what they count, read in the same query, and rows are in order.
std::string soak_text() {
  return microblog_text() + R"(
query likes_twice { select t.id, t.at, count(t.liked_by) as likes, (select u.username from t.liked_by u) as likers
                    from Tweet t order by t.at desc }
query follows_twice { select u.username, count(u.followers) as followers,
                             (select f.username from u.followers f) as followed_by
                      from User u order by followers desc, u.username }
command forget($name) { update Counter[$name] { trail: {} } }
query counters { select c.name, c.value, c.trail from Counter c order by c.name }
)";
}

// A follower or liker that is gone still refers: it is counted, and not among those that are seen. So the number is
// never smaller than the list; nobody leaves in this test, so it is never larger either.
void check_numbers(const Json& rows, const char* number, const char* list, Findings& findings) {
  for (const Json& row : rows)
    if (row[number].get<std::size_t>() != row[list].size()) findings.add("counted wrongly: " + row.dump());
}

void check_order(const Json& rows, const char* column, Findings& findings) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i - 1][column] < rows[i][column]) findings.add("not in order: " + rows.dump());
}

class Reader {
 public:
  Reader(runtime::Session& session, Findings& findings) : session_(session), findings_(findings) {}

  void ask(Random& random) {
    switch (random.below(5)) {
      case 0: {
        const Json rows = read(request("likes_twice"));
        check_numbers(rows, "likes", "likers", findings_);
        check_order(rows, "at", findings_);
        break;
      }
      case 1: {
        const Json rows = read(request("follows_twice"));
        check_numbers(rows, "followers", "followed_by", findings_);
        check_order(rows, "followers", findings_);
        break;
      }
      case 2: {
        const Json rows = read(request("most_liked_with", {{"words", "morning"}}));
        check_order(rows, "likes", findings_);
        break;
      }
      case 3: {
        const Json rows = read(request("newest", {{"username", "user00"}}));
        check_order(rows, "at", findings_);
        break;
      }
      default:
        check_counters(read(request("counters")));
    }
  }

 private:
  Json read(const Json& question) {
    Json answer = session_.answer(question);
    if (answer.contains("rows")) return std::move(answer["rows"]);
    findings_.add(question.dump() + ": " + answer.dump());
    return Json::array();
  }

  // `count_and_say` adds one to a counter and its trail, and a thousand to the one of all, all at once: that has more
  // thousands than all trails have elements. They grow only, the trails as long as nobody forgets them.
  void check_counters(const Json& rows) {
    std::size_t said = 0;
    std::int64_t of_all = 0;
    for (const Json& row : rows) {
      said += row["trail"].size();
      const auto value = row["value"].get<std::int64_t>();
      if (row["name"] == "all") of_all = value;
      std::int64_t& before = seen_[row["name"].text()];
      if (value < before) findings_.add("a counter went back: " + row.dump());
      before = value;
    }
    if (said > static_cast<std::size_t>(of_all) / 1000) findings_.add("half a command was seen: " + rows.dump());
  }

  runtime::Session& session_;
  Findings& findings_;
  std::map<std::string, std::int64_t> seen_;
};

TEST(Soak, EveryMomentIsRight) {
  const std::chrono::seconds time(amount("NOAM_SOAK_SECONDS", 3));
  const std::uint64_t start = seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start));
  const TemporaryFolder folder;
  const std::string store = (folder.path() / "store").string();
  const auto model = model_of(soak_text());
  Json counters;
  std::atomic<std::size_t> commands = 0;
  std::atomic<std::size_t> counts = 0;  // of commands that were applied
  std::atomic<std::size_t> queries = 0;
  std::size_t verifications = 0;
  {
    auto opened = open(model, "seed003", store, stores::Existing::Refused);
    ASSERT_TRUE(opened) << opened.error().message;
    runtime::Session& session = *opened->session;
    Random random(start);
    for (const Json& command : first_commands(random)) ASSERT_EQ(session.answer(command)["outcome"], "applied");

    Findings findings;
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i) {
      threads.emplace_back([&, i] {
        Random chance(start + static_cast<std::uint64_t>(i) + 1);
        while (!stop) {
          Json command = command_by_chance(chance, chance.below(writer_count));
          // Trails would grow as long as it runs.
          if (chance.below(200) == 0) command = request("forget", {{"name", "counter" + std::to_string(i / 2)}});
          const std::string name = command["run"].get<std::string>();
          if (name == "leave") continue;
          // An id is looked up and kept only where it is given.
          if (chance.chance(50)) command.erase("id");
          const Json answer = session.answer(command);
          ++commands;
          const std::string code = answer.value("code", "");
          if (answer.value("outcome", "") == "applied")
            counts += name == "count_up" ? 1U : name == "count_and_say" ? 1001U : 0U;
          else if (code != "exists" && code != "absent")
            findings.add(answer.dump());
        }
      });
    }
    for (int i = 0; i < readers; ++i) {
      threads.emplace_back([&, i] {
        Random chance(start + 100 + static_cast<std::uint64_t>(i));
        Reader reader(session, findings);
        while (!stop) {
          reader.ask(chance);
          ++queries;
        }
      });
    }
    const Instant end = in(time);
    do {
      if (const std::string wrong = differences(session); !wrong.empty()) findings.add(wrong);
      ++verifications;
    } while (std::chrono::steady_clock::now() < end && findings.text().empty());
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(findings.text(), "");
    EXPECT_EQ(differences(session), "");
    counters = session.answer(request("counters"));
  }
  std::size_t sum = 0;
  for (const Json& row : counters["rows"]) sum += row["value"].get<std::size_t>();
  EXPECT_EQ(sum, counts);
  EXPECT_GT(commands, 0U);
  EXPECT_GT(queries, 0U);

  auto again = open(model, "seed003", store);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(differences(*again->session), "");
  EXPECT_EQ(again->session->answer(request("counters")), counters);
  std::printf("%zu commands, %zu queries, verified %zu times\n", commands.load(), queries.load(), verifications);
}

}  // namespace
}  // namespace noam::tests::faults
