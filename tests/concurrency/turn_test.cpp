// Whoever meets others three times runs alone the fourth time: no statement waits for the others to end.

#include <atomic>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"

namespace noam::tests::concurrency {
namespace {

const char* const counters = R"(
model counters

entity Counter { id: int key   n: int }

command make($id) { insert Counter { id: $id, n: 0 } }
command count($id) { update Counter[$id] { n: n + 1 } }
command look_at($ids: list<Counter>, $id) {
  for $i in $ids { require Counter[$i].n >= 0 }
  update Counter[$id] { n: n + 1 }
}

query total { select sum(c.n) as n from Counter c }
query kept refresh every 1 hour {
  select c.id, c.n, (select count(*) from Counter d where d.n <= c.n) as place from Counter c
}
)";

class Turn : public ::testing::TestWithParam<const char*> {};

TEST_P(Turn, ComesAfterThreeConflicts) {
  constexpr std::size_t most = 3;
  constexpr int many = 60;
  Database database(model_of(counters), GetParam());
  for (int i = 0; i < many; ++i) ASSERT_EQ(database.run("make", {{"id", i}}), "applied");
  Json ids = Json::array();
  for (int i = 0; i < many; ++i) ids.push_back(i);

  Findings findings;
  std::atomic<std::size_t> worst = 0;
  const auto watched = [&](const std::string& name, const std::function<void()>& work) {
    const std::size_t before = InterruptedStore::conflicts_of_thread();
    work();
    const std::size_t met = InterruptedStore::conflicts_of_thread() - before;
    if (met > most) findings.add(name + " had to be tried again " + std::to_string(met) + " times");
    if (met > worst) worst = met;
  };
  in_threads(thread_count, [&](int thread) {
    if (thread == 0) {
      for (int i = 0; i < 6; ++i) {
        watched("a command", [&] {
          if (database.run("look_at", {{"ids", ids}, {"id", 0}}) != "applied") findings.add("not applied");
        });
        watched("a refresh", [&] {
          if (!database.session().refresh("kept")) findings.add("not refreshed");
        });
      }
      return;
    }
    for (int i = 0; i < 80; ++i)
      watched("a count", [&] {
        if (database.run("count", {{"id", thread}}) != "applied") findings.add("not applied");
      });
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(worst, 0U);
  EXPECT_EQ(database.rows("total")[0]["n"], 7 * 80 + 6);
}

INSTANTIATE_TEST_SUITE_P(Designs, Turn, ::testing::Values("eao", "etf", "normalized"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
