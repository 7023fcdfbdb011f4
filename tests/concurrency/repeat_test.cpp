// One command sent by several threads under one id is one command, and changes of many instances lose none.

#include <algorithm>
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "noam/model/command_id.h"
#include "tests/concurrency/database.h"

namespace noam::tests::concurrency {
namespace {

const char* const counters = R"(
model counters

entity Counter { id: int key   n: int   group: int }
entity Ticket { id: uuid key auto   counter: Counter inverse tickets }

command make($id, $group) { insert Counter { id: $id, n: 0, group: $group } }
command draw($id) {
  update Counter[$id] { n: n + 1 }
  insert Ticket { counter: $id }
}
command count_all($group) { update Counter c where c.group = $group { n: c.n + 1 } }
command leave_all($group) { delete Counter c where c.group = $group }

query all { select c.id, c.n, count(c.tickets) as tickets from Counter c order by c.id }
query total { select sum(c.n) as n from Counter c }

design kept {
  collection all of Counter c by "all" as list { copy [c.id as counter]: c.n, count(c.tickets) as tickets }
  collection sums of Counter c by "all" as list { copy ε: sum(c.n) as n }
}
)";

class Repeat : public ::testing::TestWithParam<const char*> {
 protected:
  void make(int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(database.run("make", {{"id", i}, {"group", 1}}), "applied");
  }

  Database database{read_model(counters), GetParam()};
};

TEST_P(Repeat, AppliesACommandOnce) {
  constexpr int rounds = 30;
  make(1);
  for (int round = 0; round < rounds; ++round) {
    const std::string id = command_id(7, static_cast<std::uint64_t>(round));
    std::vector<Json> answers(thread_count);
    in_threads(thread_count, [&](int thread) {
      answers[static_cast<std::size_t>(thread)] = database.answer(request("draw", {{"id", 0}}, id));
    });
    // All are told the same, keys included.
    ASSERT_EQ(answers[0]["outcome"], "applied");
    ASSERT_EQ(answers[0]["keys"].size(), 1U);
    for (const Json& answer : answers) ASSERT_EQ(answer, answers[0]);
  }
  const Json row = database.rows("all")[0];
  EXPECT_EQ(row["n"], rounds);
  EXPECT_EQ(row["tickets"], rounds);
  EXPECT_EQ(database.differences(), "");
}

// A change of many instances is a command for each: together they count as often as they say.
TEST_P(Repeat, LosesNoInstanceOfABulkChange) {
  make(6);
  std::atomic<std::int64_t> counted = 0;
  Findings findings;
  in_threads(thread_count, [&](int thread) {
    for (int i = 0; i < 10; ++i) {
      const bool bulk = (thread + i) % 2 == 0;
      const Json answer = bulk ? database.answer(request("count_all", {{"group", 1}}))
                               : database.answer(request("draw", {{"id", i % 6}}));
      if (answer.value("outcome", "") != "applied") findings.add(answer.dump());
      counted += bulk ? answer.value("count", std::int64_t{0}) : 1;
    }
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_EQ(counted, 8 * 5 * 6 + 8 * 5);
  EXPECT_EQ(database.rows("total")[0]["n"], counted.load());
  EXPECT_EQ(database.differences(), "");
}

// Each is deleted once, whoever asks.
TEST_P(Repeat, DeletesEachOnce) {
  make(20);
  std::atomic<std::int64_t> deleted = 0;
  in_threads(thread_count, [&](int) {
    deleted += database.answer(request("leave_all", {{"group", 1}})).value("count", std::int64_t{0});
  });
  EXPECT_EQ(deleted, 20);
  EXPECT_EQ(database.rows("all").size(), 0U);
  EXPECT_EQ(database.differences(), "");
}

INSTANTIATE_TEST_SUITE_P(Designs, Repeat, ::testing::Values("eao", "etf", "normalized", "kept"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
