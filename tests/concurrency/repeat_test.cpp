// One command sent by several threads under one id is one command, and changes of many instances lose none.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/model/command_id.h"
#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/forwarding_store.h"
#include "tests/temporary_store.h"

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
command take_all($group, $to) { update Counter c where c.group = $group { n: c.n + 1, group: $to } }
command leave_some($group, $limit) { delete Counter c where c.group = $group limit $limit }
command move($id, $group) { update Counter[$id] { group: $group } }
command leave_all($group) { delete Counter c where c.group = $group }

query all { select c.id, c.n, c.group, count(c.tickets) as tickets from Counter c order by c.id }
query total { select sum(c.n) as n from Counter c }

design kept {
  collection all of Counter c by "all" as list { copy [c.id as counter]: c.n, count(c.tickets) as tickets }
  collection sums of Counter c by "all" as list { copy ε: sum(c.n) as n }
}
)";

// A memory store that loses the answer of one commit: of the one after so many others.
class LosingStore : public ForwardingStore {
 public:
  LosingStore() : ForwardingStore(open_test_store()) {}

  enum class Loss : std::uint8_t { AnswerUnknown, AnswerError, CommitUnknown, CommitError };

  // From here on. The commit is carried out where only its answer is lost.
  void lose(std::size_t after, Loss what) {
    left_ = after;
    loss_ = what;
    lost_ = false;
  }
  [[nodiscard]] bool lost() const { return lost_; }

  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (lost_ || left_-- > 0) return behind_->commit(batch, by);
    lost_ = true;
    if (loss_ == Loss::AnswerUnknown || loss_ == Loss::AnswerError)
      if (const auto done = behind_->commit(batch, by); !done || *done != stores::Outcome::Applied) return done;
    if (loss_ == Loss::AnswerError || loss_ == Loss::CommitError) return Error{"the line is dead"};
    return stores::Outcome::Unknown;
  }

 private:
  std::size_t left_ = 0;
  Loss loss_ = Loss::AnswerUnknown;
  bool lost_ = true;
};

std::string counter_row(int id, int n, int group) {
  return Json{{"id", id}, {"n", n}, {"group", group}, {"tickets", 0}}.dump();
}

class Repeat : public ::testing::TestWithParam<const char*> {
 protected:
  void make(int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(database.run("make", {{"id", i}, {"group", 1}}), "applied");
  }

  Database database{model_of(counters), GetParam()};
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

TEST_P(Repeat, AppliesABulkChangeOnce) {
  make(6);
  std::vector<Json> answers(thread_count);
  const std::string id = command_id(9, 1);
  in_threads(thread_count, [&](int thread) {
    answers[static_cast<std::size_t>(thread)] = database.answer(request("count_all", {{"group", 1}}, id));
  });
  EXPECT_EQ(database.rows("total")[0]["n"], 6);
  for (const Json& answer : answers) EXPECT_EQ(answer.dump(), R"({"outcome":"applied","count":6})");
}

// It stops wherever an answer can be lost; the repeat goes on from there, with the instances of its start.
TEST_P(Repeat, GoesOnWithABulkChangeThatStoppedHalfway) {
  using Loss = LosingStore::Loss;
  struct Change {
    const char* command;
    Json params;
    std::vector<std::string> rows;  // afterwards
  };
  const std::vector<Change> changes = {
      {"count_all",
       {{"group", 1}},
       {counter_row(1, 1, 1), counter_row(2, 1, 1), counter_row(3, 1, 1), counter_row(4, 1, 1), counter_row(5, 1, 1)}},
      {"take_all",
       {{"group", 1}, {"to", 2}},
       {counter_row(1, 1, 2), counter_row(2, 1, 2), counter_row(3, 1, 2), counter_row(4, 1, 2), counter_row(5, 1, 2)}},
      {"leave_some", {{"group", 1}, {"limit", 3}}, {counter_row(4, 0, 1), counter_row(5, 0, 1)}},
  };
  const auto model = model_of(counters);
  for (const Change& change : changes) {
    for (const Loss loss : {Loss::AnswerUnknown, Loss::AnswerError, Loss::CommitUnknown, Loss::CommitError}) {
      for (std::size_t after = 0;; ++after) {
        SCOPED_TRACE(std::string(change.command) + " loses " + std::to_string(static_cast<int>(loss)) + " after " +
                     std::to_string(after));
        auto made = std::make_unique<LosingStore>();
        LosingStore& store = *made;
        Database tested(model, GetParam(), std::move(made));
        for (int i = 1; i <= 5; ++i) ASSERT_EQ(tested.run("make", {{"id", i}, {"group", 1}}), "applied");
        const std::string id = command_id(3, after);
        const std::string expected = change.params.contains("limit") ? "3" : "5";
        store.lose(after, loss);
        const Json first = tested.answer(request(change.command, change.params, id));
        if (!store.lost()) {
          EXPECT_GT(after, 3U) << "a commit for each instance, and before and after them";
          EXPECT_EQ(first.dump(), R"({"outcome":"applied","count":)" + expected + "}");
          break;
        }
        ASSERT_EQ(first["outcome"], "unknown");
        // What matches only now is not taken, once it was begun, and other parameters are refused.
        const bool begun = after > 0 || loss == Loss::AnswerUnknown || loss == Loss::AnswerError;
        if (begun) {
          ASSERT_EQ(tested.run("make", {{"id", 0}, {"group", 1}}), "applied");
        }
        if (begun) {
          Json other = change.params;
          other["group"] = 7;
          EXPECT_EQ(tested.answer(request(change.command, other, id))["code"], "value");
        }
        const Json second = tested.answer(request(change.command, change.params, id));
        EXPECT_EQ(second.dump(), R"({"outcome":"applied","count":)" + expected + "}");
        EXPECT_EQ(tested.answer(request(change.command, change.params, id)), second);
        std::vector<std::string> rows;
        for (const Json& row : tested.rows("all")) rows.push_back(row.dump());
        std::vector<std::string> wanted = change.rows;
        if (begun) wanted.insert(wanted.begin(), counter_row(0, 0, 1));
        EXPECT_EQ(rows, wanted);
        EXPECT_EQ(tested.differences(), "");
      }
    }
  }
}

// One that was skipped stays so, though it would match when the change is repeated.
TEST_P(Repeat, SkipsAnInstanceOfABulkChangeForGood) {
  auto made = std::make_unique<LosingStore>();
  LosingStore& store = *made;
  Database tested(model_of(counters), GetParam(), std::move(made));
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(tested.run("make", {{"id", i}, {"group", 1}}), "applied");
  const std::string id = command_id(4, 1);
  const Json counting = request("count_all", {{"group", 1}}, id);
  store.lose(1, LosingStore::Loss::CommitUnknown);  // all were noted, none is changed
  ASSERT_EQ(tested.answer(counting)["outcome"], "unknown");
  ASSERT_EQ(tested.run("move", {{"id", 2}, {"group", 9}}), "applied");
  store.lose(3, LosingStore::Loss::CommitUnknown);  // only the outcome is missing
  ASSERT_EQ(tested.answer(counting)["outcome"], "unknown");
  ASSERT_EQ(tested.run("move", {{"id", 2}, {"group", 1}}), "applied");
  EXPECT_EQ(tested.answer(counting).dump(), R"({"outcome":"applied","count":2})");
  EXPECT_EQ(tested.rows("total")[0]["n"], 2);
}

// An id is of one command.
TEST_P(Repeat, RefusesAnotherCommandUnderTheIdOfABulkChange) {
  auto made = std::make_unique<LosingStore>();
  LosingStore& store = *made;
  Database tested(model_of(counters), GetParam(), std::move(made));
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(tested.run("make", {{"id", i}, {"group", 1}}), "applied");
  const std::string id = command_id(5, 1);
  store.lose(2, LosingStore::Loss::AnswerUnknown);
  ASSERT_EQ(tested.run("count_all", {{"group", 1}}, id), "unknown");
  for (const Json& other : {request("draw", {{"id", 1}}, id), request("leave_all", {{"group", 1}}, id)})
    EXPECT_EQ(tested.answer(other).dump(), R"({"outcome":"refused","code":"value",)"
                                           R"("reason":"the command id belongs to another command, `count_all`"})");
  EXPECT_EQ(tested.answer(request("count_all", {{"group", 2}}, id)).dump(),
            R"({"outcome":"refused","code":"value",)"
            R"("reason":"the command id belongs to `count_all` with other parameters"})");
  EXPECT_EQ(tested.run("count_all", {{"group", "1"}}, id), "value");
  EXPECT_EQ(tested.run("count_all", {{"group", 1}}, id), "applied");
  EXPECT_EQ(tested.run("count_all", {{"group", 2}}, id), "value");
  EXPECT_EQ(tested.answer(request("count_all", {{"group", 1}}, id)).dump(), R"({"outcome":"applied","count":3})");
  EXPECT_EQ(tested.run("draw", {{"id", 1}}, id), "value");
  EXPECT_EQ(tested.rows("total")[0]["n"], 3);
}

// Guards of its instances go with the others. What has not ended by then is not repeated.
TEST_P(Repeat, ForgetsABulkChangeThatIsTooOld) {
  auto made = std::make_unique<LosingStore>();
  LosingStore& store = *made;
  Database tested(model_of(counters), GetParam(), std::move(made));
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(tested.run("make", {{"id", i}, {"group", 1}}), "applied");
  const auto guards = [&] {
    const design::Design& design = tested.session().program().design;
    for (std::uint32_t family = 0; family < design.families.size(); ++family)
      if (design.families[family].purpose == design::Purpose::Guard)
        return store.scan(family, "", nullptr, stores::no_deadline)->items.size();
    return std::size_t{99};
  };
  ASSERT_EQ(tested.run("count_all", {{"group", 1}}, command_id(6, 1)), "applied");
  EXPECT_EQ(guards(), 4U);
  store.lose(2, LosingStore::Loss::AnswerUnknown);
  ASSERT_EQ(tested.run("count_all", {{"group", 1}}, command_id(6, 2)), "unknown");
  EXPECT_EQ(guards(), 7U);
  tested.pass_time(3'600'000);
  ASSERT_TRUE(tested.session().sweep());
  EXPECT_EQ(guards(), 7U);
  tested.pass_time(1);
  EXPECT_EQ(tested.run("count_all", {{"group", 1}}, command_id(6, 2)), "expired");
  // It is kept for longer than it can be repeated.
  tested.pass_time(600'000);
  ASSERT_TRUE(tested.session().sweep());
  EXPECT_EQ(guards(), 0U);
  EXPECT_EQ(tested.rows("total")[0]["n"], 5);
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
