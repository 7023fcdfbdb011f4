// The judge of histories is judged here, by histories written by hand.

#include "tests/concurrency/history.h"

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"

namespace noam::tests::concurrency {
namespace {

class HandmadeHistory : public ::testing::Test {
 protected:
  HandmadeHistory() {
    applied(0, 1, 2, "make", {{"id", "a"}, {"n", 1}});
    applied(0, 3, 4, "make", {{"id", "b"}, {"n", 1}});
  }

  void call(int thread, std::uint64_t begin, std::uint64_t end, const std::string& name, const Json& params,
            const Json& answer, const std::string& id = {}) {
    Event event;
    event.thread = thread;
    event.begin = begin;
    event.end = end;
    event.request = request(name, params, id);
    event.answer = answer;
    history.push_back(std::move(event));
  }
  void applied(int thread, std::uint64_t begin, std::uint64_t end, const std::string& name, const Json& params,
               const std::string& id = {}) {
    call(thread, begin, end, name, params, {{"outcome", "applied"}}, id);
  }
  void refused(int thread, std::uint64_t begin, std::uint64_t end, const std::string& name, const Json& params,
               const std::string& code) {
    call(thread, begin, end, name, params, {{"outcome", "refused"}, {"code", code}, {"reason", "some"}});
  }
  void sees(int thread, std::uint64_t begin, std::uint64_t end, int a, int b) {
    call(thread, begin, end, "both", Json::object(),
         {{"rows", Json::array({{{"id", "a"}, {"n", a}}, {{"id", "b"}, {"n", b}}})}});
  }

  std::optional<std::string> judge(std::size_t most_tries = 20'000) {
    return not_serialisable(*model_, history, start_time, most_tries);
  }

  History history;

 private:
  std::shared_ptr<const model::Model> model_ = model_of(R"(
model cells
entity Cell { id: text key   n: int }
command make($id, $n) { insert Cell { id: $id, n: $n } }
command set($id, $n) { update Cell[$id] { n: $n } }
command set_both($n) { update Cell["a"] { n: $n }   update Cell["b"] { n: $n } }
command count($id) { update Cell[$id] { n: n + 1 } }
command leave($id, $other) { require Cell[$other].n = 1   update Cell[$id] { n: 0 } }
command advance($from) { require Cell["a"].n = $from   update Cell["a"] { n: $from + 1 } }
command set_twice($n) { update Cell["a"] { n: $n }   require $n < 10   update Cell["b"] { n: $n } }
query both { select c.id, c.n from Cell c order by c.id }
)");
};

TEST_F(HandmadeHistory, IsSerialisableOneAfterTheOther) {
  applied(1, 5, 6, "set", {{"id", "a"}, {"n", 7}});
  sees(2, 7, 8, 7, 1);
  applied(1, 9, 10, "count", {{"id", "b"}});
  sees(1, 11, 12, 7, 2);
  EXPECT_EQ(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsSerialisableInAnotherOrderThanThatOfTheBeginnings) {
  applied(1, 5, 20, "set", {{"id", "a"}, {"n", 7}});
  applied(2, 6, 21, "set", {{"id", "a"}, {"n", 8}});
  sees(3, 7, 22, 8, 1);
  sees(4, 30, 31, 7, 1);
  EXPECT_EQ(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsSerialisableWhateverTheGuesses) {
  // Only one order is right.
  for (int i = 1; i <= 8; ++i) applied(i, 5, 40, "advance", {{"from", i}});
  sees(0, 50, 51, 9, 1);
  std::uint64_t guess = 1'000;
  for (Event& event : history) event.guess = --guess;
  EXPECT_EQ(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForALostUpdate) {
  applied(1, 5, 10, "count", {{"id", "a"}});
  applied(2, 6, 11, "count", {{"id", "a"}});
  sees(1, 12, 13, 2, 1);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForWriteSkew) {
  applied(1, 5, 10, "leave", {{"id", "a"}, {"other", "b"}});
  applied(2, 6, 11, "leave", {{"id", "b"}, {"other", "a"}});
  EXPECT_NE(judge(), std::nullopt);
  // Whether anybody looks or not.
  sees(1, 12, 13, 0, 0);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForAStaleRead) {
  applied(1, 5, 6, "set", {{"id", "a"}, {"n", 7}});
  sees(2, 7, 8, 1, 1);
  EXPECT_NE(judge(), std::nullopt);
  // While the command ran, either is right.
  history.back().begin = 6;
  EXPECT_EQ(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForAReadThatGoesBack) {
  applied(1, 5, 20, "set", {{"id", "a"}, {"n", 7}});
  sees(2, 6, 7, 7, 1);
  sees(2, 8, 9, 1, 1);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForAReadOfHalfACommand) {
  applied(1, 5, 10, "set_both", {{"n", 7}});
  sees(2, 6, 11, 7, 1);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForAReadOfARefusedCommand) {
  refused(1, 5, 10, "set_twice", {{"n", 10}}, "require");
  EXPECT_EQ(judge(), std::nullopt);
  sees(2, 6, 11, 10, 1);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForTwoReadersWhoSeeTwoOrders) {
  applied(1, 5, 20, "set", {{"id", "a"}, {"n", 7}});
  applied(2, 5, 20, "set", {{"id", "b"}, {"n", 8}});
  sees(3, 6, 19, 7, 1);
  EXPECT_EQ(judge(), std::nullopt);
  sees(4, 6, 19, 1, 8);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForARefusalWithoutReason) {
  refused(1, 5, 10, "leave", {{"id", "a"}, {"other", "b"}}, "require");
  EXPECT_NE(judge(), std::nullopt);
  // With somebody at the same time there is one.
  applied(2, 6, 11, "set", {{"id", "b"}, {"n", 2}});
  EXPECT_EQ(judge(), std::nullopt);
  history[2].answer["code"] = "absent";
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsRefusedForARepeatThatCounts) {
  const std::string id = command_id(1, 1);
  applied(1, 5, 10, "count", {{"id", "a"}}, id);
  applied(2, 6, 11, "count", {{"id", "a"}}, id);
  sees(1, 12, 13, 2, 1);
  EXPECT_EQ(judge(), std::nullopt);
  history.pop_back();
  sees(1, 12, 13, 3, 1);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(HandmadeHistory, IsToldWithTheEventsThatDoNotFit) {
  applied(1, 5, 6, "set", {{"id", "a"}, {"n", 7}});
  sees(2, 7, 8, 1, 1);
  const std::string why = judge().value_or("");
  EXPECT_NE(why.find("3 of 4 events can be put in order"), std::string::npos) << why;
  EXPECT_NE(why.find("thread 2, from 7 to 8"), std::string::npos) << why;
}

TEST_F(HandmadeHistory, IsNotTakenForGoodWhenTheTriesEnd) {
  applied(1, 5, 6, "set", {{"id", "a"}, {"n", 7}});
  EXPECT_EQ(judge(3), std::nullopt);
  EXPECT_NE(judge(2).value_or("").find("more to try"), std::string::npos);
}

}  // namespace
}  // namespace noam::tests::concurrency
