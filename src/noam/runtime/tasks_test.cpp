#include "noam/runtime/tasks.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/runtime/sweeper.h"

namespace noam::runtime {
namespace {

constexpr std::int64_t start = 1'700'000'000'000;

TEST(SimulatedScheduler, RunsTasksInTheOrderOfTheirTimes) {
  SimulatedScheduler time(start);
  std::string seen;
  const auto note = [&](char name) {
    return [&seen, &time, name] { seen += name + std::to_string(time.now() - start) + " "; };
  };
  time.at(start + 30, note('c'));
  time.at(start + 10, note('a'));
  time.at(start + 10, note('b'));
  time.at(start - 5, note('p'));  // long due
  time.at(start + 31, note('d'));
  EXPECT_EQ(seen, "") << "nothing runs while time stands still";
  EXPECT_EQ(time.next(), start);
  time.advance_to(start + 30);
  EXPECT_EQ(seen, "p0 a10 b10 c30 ");
  EXPECT_EQ(time.now(), start + 30);
  EXPECT_EQ(time.next(), start + 31);
  time.advance_by(100);
  EXPECT_EQ(seen, "p0 a10 b10 c30 d31 ");
  EXPECT_EQ(time.now(), start + 130);
  EXPECT_EQ(time.next(), std::nullopt);
}

TEST(SimulatedScheduler, RunsWhatTasksAskFor) {
  SimulatedScheduler time(start);
  std::vector<std::int64_t> seen;
  const std::function<void()> again = [&] {
    seen.push_back(time.now() - start);
    time.at(time.now() + 10, again);
  };
  time.at(start, again);
  time.advance_to(start + 35);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 10, 20, 30}));
}

TEST(SimulatedScheduler, ForgetsWhatIsCancelled) {
  SimulatedScheduler time(start);
  int runs = 0;
  const auto task = time.at(start + 10, [&] { ++runs; });
  time.at(start + 10, [&] { ++runs; });
  time.cancel(task);
  time.cancel(task);
  time.advance_by(100);
  EXPECT_EQ(runs, 1);
}

TEST(SimulatedScheduler, DrawsTheOrderOfOneTimeFromItsSeed) {
  const auto order = [](std::optional<std::uint64_t> seed) {
    SimulatedScheduler time(start, seed);
    std::string seen;
    for (char name = 'a'; name <= 'h'; ++name) time.at(start + 1, [&seen, name] { seen += name; });
    time.advance_by(1);
    return seen;
  };
  EXPECT_EQ(order(std::nullopt), "abcdefgh");
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(order(seed), order(seed));
    orders.insert(order(seed));
  }
  EXPECT_GT(orders.size(), 4U);
}

TEST(ThreadScheduler, RunsTasksWhenTheirTimeHasCome) {
  ThreadScheduler time;
  std::promise<std::string> all;
  std::string seen;
  const std::int64_t now = time.now();
  time.at(now + 60, [&] { all.set_value(seen + "c"); });
  time.at(now + 30, [&] { seen += "b"; });
  time.at(now - 5, [&] { seen += "a"; });
  const auto cancelled = time.at(now + 40, [&] { seen += "x"; });
  time.cancel(cancelled);
  EXPECT_EQ(all.get_future().get(), "abc");
  EXPECT_GE(time.now(), now + 60);
}

TEST(ThreadScheduler, EndsAtOnceWhateverIsToCome) {
  const auto begin = std::chrono::steady_clock::now();
  bool run = false;
  {
    ThreadScheduler time;
    time.at(time.now() + 3'600'000, [&] { run = true; });
  }
  { const ThreadScheduler idle; }
  EXPECT_FALSE(run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ThreadScheduler, WaitsForATaskThatIsCancelledWhileItRuns) {
  ThreadScheduler time;
  std::promise<void> begun;
  std::atomic<bool> done = false;
  const auto task = time.at(0, [&] {
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = true;
  });
  begun.get_future().get();
  time.cancel(task);
  EXPECT_TRUE(done);
}

TEST(ThreadScheduler, LetsATaskCancelItself) {
  ThreadScheduler time;
  std::promise<void> done;
  std::promise<Scheduler::TaskId> known;
  const auto own = known.get_future().share();
  known.set_value(time.at(time.now() + 20, [&] {
    time.cancel(own.get());
    done.set_value();
  }));
  done.get_future().get();
}

TEST(Sweeper, TriesAgainAfterGrowingWaits) {
  SimulatedScheduler time(start);
  std::vector<std::int64_t> tries;
  std::vector<std::string> told;
  int failures = 12;
  std::vector<Duty> duties;
  duties.push_back({"count", [&]() -> Result<std::int64_t> {
                      tries.push_back((time.now() - start) / 1'000);
                      if (failures-- > 0) return Error{"not now"};
                      return time.now() + 10'000;
                    }});
  const Sweeper sweeper(time, std::move(duties), [&](const std::string& duty, const Error& error) {
    told.push_back(duty + ": " + error.message);
  });
  EXPECT_TRUE(tries.empty());
  time.advance_by(1'531'000);
  EXPECT_EQ(tries, (std::vector<std::int64_t>{0,     1,     3,     7,     15,    31,    63,    127,   255,
                                              511,   811,   1'111, 1'411, 1'421, 1'431, 1'441, 1'451, 1'461,
                                              1'471, 1'481, 1'491, 1'501, 1'511, 1'521, 1'531}));
  EXPECT_EQ(told, std::vector<std::string>(12, "count: not now"));
  // After a success, the waits are short again.
  failures = 1;
  tries.clear();
  time.advance_by(11'000);
  EXPECT_EQ(tries, (std::vector<std::int64_t>{1'541, 1'542}));
}

TEST(Sweeper, EndsWithoutWaitingForWhatIsToCome) {
  SimulatedScheduler time(start);
  int runs = 0;
  {
    std::vector<Duty> duties;
    for (int i = 0; i < 3; ++i)
      duties.push_back({"d", [&]() -> Result<std::int64_t> {
                          ++runs;
                          return time.now() + 1'000;
                        }});
    const Sweeper sweeper(time, std::move(duties), {});
    time.advance_by(500);
  }
  EXPECT_EQ(runs, 3);
  time.advance_by(10'000);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(time.next(), std::nullopt);
}

TEST(Sweeper, EndsWhileItsDutiesRunOnAThread) {
  ThreadScheduler time;
  std::atomic<int> runs = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<Duty> duties;
    for (int i = 0; i < 3; ++i)
      duties.push_back({"d", [&]() -> Result<std::int64_t> {
                          ++runs;
                          return time.now();
                        }});
    auto sweeper = std::make_unique<Sweeper>(time, std::move(duties), Sweeper::OnFailure());
    const int before = runs;
    while (runs < before + 10) std::this_thread::yield();
    sweeper.reset();
    const int after = runs;
    std::this_thread::yield();
    EXPECT_EQ(runs, after);
  }
}

}  // namespace
}  // namespace noam::runtime
