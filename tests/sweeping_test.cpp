#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/model/scalars.h"
#include "noam/runtime/session.h"
#include "noam/runtime/tasks.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"
#include "tests/support.h"

// What a session does by itself when its time has come: refreshes, expiry, forgetting ids. Time is simulated.
namespace noam::tests {

namespace {

constexpr std::int64_t second = 1'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
const std::int64_t noon = *model::parse_timestamp("2026-06-01T12:00:00Z");

// A memory store that can be told to fail.
class FailingStore : public ForwardingStore {
 public:
  FailingStore() : ForwardingStore(stores::open_memory_store()) {}

  bool failing = false;
  std::size_t refused_commits = 0;  // the next ones, with this outcome
  stores::Outcome refused_with = stores::Outcome::Unknown;

  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    if (failing) return Error{"no answer"};
    return behind_->read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (failing) return Error{"no answer"};
    if (refused_commits > 0) {
      --refused_commits;
      return refused_with;
    }
    return behind_->commit(batch, by);
  }
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* at,
                                stores::Deadline by) override {
    if (failing) return Error{"no answer"};
    return behind_->scan(family, after, at, by);
  }
};

class Simulation {
 public:
  explicit Simulation(const std::string& path, std::optional<std::uint64_t> seed = std::nullopt)
      : time(noon, seed), model_(model_of_file(path)) {
    open();
  }

  // Another session of the same store.
  runtime::Session& open() {
    runtime::SessionOptions options;
    options.scheduler = &time;
    options.on_failed_task = [this](const std::string& task, const Error& error) {
      failures.push_back(std::to_string((time.now() - noon) / second) + " " + task + ": " + error.message);
    };
    auto session = open_session(model_, "eao", store, std::move(options));
    EXPECT_TRUE(session);
    sessions_.push_back(std::move(*session));
    return *sessions_.back();
  }
  void close() { sessions_.clear(); }

  runtime::Session& session() { return *sessions_.front(); }

  void run(const std::string& name, const Json& params) {
    const Json answer = session().answer(Json{{"run", name}, {"params", params}});
    EXPECT_EQ(answer.value("outcome", ""), "applied") << answer;
  }
  std::string rows(const std::string& name, const Json& params = Json::object()) {
    const Json answer = session().answer(Json{{"run", name}, {"params", params}});
    return answer.contains("rows") ? answer["rows"].dump() : answer.dump();
  }

  FailingStore store;
  runtime::SimulatedScheduler time;
  std::vector<std::string> failures;

 private:
  std::shared_ptr<const model::Model> model_;
  std::vector<std::unique_ptr<runtime::Session>> sessions_;
};

const char* const types = "tests/models/types.noam";
const char* const microblog = "examples/microblog/microblog.noam";

// When `top_accounts` was refreshed, in minutes after noon.
std::set<std::int64_t> refreshes(Simulation& simulation) {
  std::set<std::int64_t> found;
  const Json rows = Json::parse(
      simulation.rows("accounts_series", {{"from", "2026-01-01T00:00:00Z"}, {"to", "2027-01-01T00:00:00Z"}}));
  for (const Json& row : rows)
    found.insert((*model::parse_timestamp(row["refreshed"].get<std::string>()) - noon) / minute);
  return found;
}

}  // namespace

TEST(Sweeping, IsNotBegunByItself) {
  Simulation simulation(types);
  simulation.run("put_thing", {{"id", "a"}, {"number", 5}});
  simulation.time.advance_by(24 * hour);
  EXPECT_EQ(simulation.rows("largest"), "[]");
  EXPECT_EQ(simulation.time.next(), std::nullopt);
}

TEST(Sweeping, RefreshesQueriesAtTheirTimes) {
  Simulation simulation(types);
  simulation.run("put_thing", {{"id", "a"}, {"number", 5}});
  simulation.session().start_sweeping();
  simulation.session().start_sweeping();
  EXPECT_EQ(simulation.rows("largest"), "[]");
  simulation.time.advance_by(0);
  EXPECT_EQ(simulation.rows("largest"), R"([{"id":"a","number":5}])") << "at once, for it never was";
  simulation.run("set_number", {{"id", "a"}, {"number", 6}});
  simulation.time.advance_to(noon + hour - 1);
  EXPECT_EQ(simulation.rows("largest"), R"([{"id":"a","number":5}])");
  simulation.time.advance_to(noon + hour);
  EXPECT_EQ(simulation.rows("largest"), R"([{"id":"a","number":6}])");
  EXPECT_EQ(simulation.failures, std::vector<std::string>{});
}

TEST(Sweeping, RefreshesWhatOthersReadBeforeThem) {
  Simulation simulation(microblog);
  for (const char* name : {"ann", "ben"}) simulation.run("register", {{"username", name}, {"id", 1}});
  simulation.run("follow", {{"follower", "ann"}, {"followed", "ben"}});
  simulation.session().start_sweeping();
  simulation.time.advance_by(0);
  EXPECT_EQ(simulation.rows("top_followers"), R"([{"username":"ann","follows":1}])");
}

TEST(Sweeping, DeletesWhatIsDue) {
  Simulation simulation(types);
  simulation.session().start_sweeping();
  simulation.run("make", {{"id", "a"}});
  simulation.run("enter", {{"id", "a"}, {"at", "2026-06-01T12:00:00Z"}, {"amounts", {1}}});
  simulation.run("enter", {{"id", "a"}, {"at", "2026-06-01T12:00:30Z"}, {"amounts", {2}}});
  const auto amounts = [&] { return Json::parse(simulation.rows("amounts", {{"id", "a"}}))[0]["all"].size(); };
  simulation.time.advance_to(noon + hour - 1);
  EXPECT_EQ(amounts(), 2U);
  simulation.time.advance_to(noon + hour);
  EXPECT_EQ(amounts(), 1U);
  simulation.time.advance_to(noon + hour + minute);
  EXPECT_EQ(amounts(), 0U);
  const auto verified = simulation.session().verify();
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->differences.empty());
}

TEST(Sweeping, TellsWhatTheStoreDoesNotLetGo) {
  Simulation simulation(types);
  simulation.run("make", {{"id", "a"}});
  for (const char* at : {"2026-06-01T12:00:00Z", "2026-06-01T12:00:01Z", "2026-06-01T12:00:02Z"})
    simulation.run("enter", {{"id", "a"}, {"at", at}, {"amounts", {1}}});
  const auto left = [&] { return Json::parse(simulation.rows("amounts", {{"id", "a"}}))[0]["all"].size(); };
  simulation.time.advance_to(noon + 2 * hour);

  simulation.store.refused_with = stores::Outcome::Unknown;
  simulation.store.refused_commits = 1;
  auto swept = simulation.session().sweep();
  ASSERT_FALSE(swept);
  EXPECT_NE(swept.error().message.find("is expired; the store did not report whether it was deleted"),
            std::string::npos)
      << swept.error().message;
  EXPECT_EQ(swept.error().message.find("Entry"), 0U) << swept.error().message;
  EXPECT_EQ(left(), 3U);

  // The others do not wait for one that is too large.
  simulation.store.refused_with = stores::Outcome::TooLarge;
  simulation.store.refused_commits = 1;
  swept = simulation.session().sweep();
  ASSERT_FALSE(swept);
  EXPECT_EQ(swept.error().code, "limit");
  EXPECT_NE(swept.error().message.find("is expired but cannot be deleted: "), std::string::npos)
      << swept.error().message;
  EXPECT_EQ(left(), 1U);

  swept = simulation.session().sweep();
  ASSERT_TRUE(swept);
  EXPECT_EQ(*swept, 1U);
  EXPECT_EQ(left(), 0U);

  // Ids that are not forgotten are told, too.
  EXPECT_EQ(
      simulation.session().answer({{"run", "make"},
                                   {"params", {{"id", "b"}}},
                                   {"id", model::make_command_id(simulation.time.now(), 1, 2).text()}})["outcome"],
      "applied");
  simulation.time.advance_by(2 * hour);
  simulation.store.refused_commits = 1;
  swept = simulation.session().sweep();
  ASSERT_FALSE(swept);
  EXPECT_EQ(swept.error().message, "the store rejected the deletion of old command ids");
  EXPECT_TRUE(simulation.session().sweep());
}

TEST(Sweeping, ForgetsIdsThatAreTooOld) {
  Simulation simulation(types);
  simulation.session().start_sweeping();
  const auto id = model::make_command_id(noon, 1, 2).text();
  const Json request = {{"run", "make"}, {"params", {{"id", "a"}}}, {"id", id}};
  const auto kept = [&] {
    const design::Design& design = simulation.session().program().design;
    for (std::uint32_t family = 0; family < design.families.size(); ++family)
      if (design.families[family].purpose == design::Purpose::Guard)
        return simulation.store.scan(family, "", nullptr, stores::no_deadline)->items.size();
    return std::size_t{99};
  };
  EXPECT_EQ(simulation.session().answer(request)["outcome"], "applied");
  EXPECT_EQ(kept(), 1U);
  simulation.time.advance_to(noon + hour);
  EXPECT_EQ(kept(), 1U) << "it may still be repeated";
  EXPECT_EQ(simulation.session().answer(request)["outcome"], "applied");
  simulation.time.advance_to(noon + hour + minute);
  EXPECT_EQ(simulation.session().answer(request)["code"], "expired");
  EXPECT_EQ(kept(), 1U) << "a commit that began in time may still look for it";
  simulation.time.advance_to(noon + hour + 11 * minute);
  EXPECT_EQ(kept(), 0U);
}

TEST(Sweeping, TriesAgainWhereTheStoreFails) {
  Simulation simulation(types);
  simulation.run("put_thing", {{"id", "a"}, {"number", 5}});
  simulation.session().start_sweeping();
  simulation.store.failing = true;
  simulation.time.advance_by(5 * second);
  EXPECT_EQ(simulation.failures, (std::vector<std::string>{"0 refresh largest: no answer", "0 sweep: no answer",
                                                           "1 refresh largest: no answer", "1 sweep: no answer",
                                                           "3 refresh largest: no answer", "3 sweep: no answer"}));
  simulation.store.failing = false;
  EXPECT_EQ(simulation.rows("largest"), "[]");
  simulation.time.advance_by(2 * second);
  EXPECT_EQ(simulation.rows("largest"), R"([{"id":"a","number":5}])");
  EXPECT_EQ(simulation.failures.size(), 6U);
  EXPECT_EQ(simulation.time.next(), noon + 7 * second + minute);
}

TEST(Sweeping, IsDoneOnceByManySessions) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Simulation simulation(microblog, seed);
    simulation.run("register", {{"username", "ann"}, {"id", 1}});
    simulation.session().start_sweeping();
    simulation.open().start_sweeping();
    simulation.time.advance_by(20 * minute);
    simulation.open().start_sweeping();
    simulation.time.advance_by(3 * hour);
    EXPECT_EQ(refreshes(simulation), (std::set<std::int64_t>{0, 60, 120, 180}));
  }
}

TEST(Sweeping, GoesOnWhereTheLastSessionEnded) {
  Simulation simulation(microblog);
  simulation.run("register", {{"username", "ann"}, {"id", 1}});
  simulation.session().start_sweeping();
  simulation.time.advance_by(10 * minute);
  simulation.close();
  EXPECT_EQ(simulation.time.next(), std::nullopt) << "nothing is left to be run";
  simulation.time.advance_by(20 * minute);
  simulation.open().start_sweeping();
  simulation.time.advance_by(29 * minute);
  EXPECT_EQ(refreshes(simulation), (std::set<std::int64_t>{0}));
  simulation.time.advance_by(minute);
  EXPECT_EQ(refreshes(simulation), (std::set<std::int64_t>{0, 60}));
  simulation.close();
  simulation.time.advance_by(150 * minute);
  simulation.open().start_sweeping();
  simulation.time.advance_by(0);
  EXPECT_EQ(refreshes(simulation), (std::set<std::int64_t>{0, 60, 210})) << "long due: at once, and once";
}

TEST(Sweeping, TakesTheSameWayWithTheSameSeed) {
  const auto failures = [](std::uint64_t seed) {
    Simulation simulation(microblog, seed);
    simulation.session().start_sweeping();
    simulation.store.failing = true;
    simulation.time.advance_by(10 * minute);
    return simulation.failures;
  };
  std::set<std::vector<std::string>> ways;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    EXPECT_EQ(failures(seed), failures(seed));
    ways.insert(failures(seed));
  }
  EXPECT_GT(ways.size(), 1U);
}

TEST(Sweeping, RunsOnAThreadOfItsOwnAndEndsAtOnce) {
  const auto store = stores::open_memory_store();
  auto session = open_session(model_of_file(types), "eao", *store);
  ASSERT_TRUE(session);
  const auto answer = [&](const std::string& line) { return Json::parse((*session)->answer_line(line)); };
  EXPECT_EQ(answer(R"({"run":"put_thing","params":{"id":"a","number":5}})")["outcome"], "applied");
  (*session)->start_sweeping();
  const auto begin = std::chrono::steady_clock::now();
  while (answer(R"({"run":"largest"})")["rows"].empty() &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(30))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(answer(R"({"run":"largest"})")["rows"].dump(), R"([{"id":"a","number":5}])");
  const auto end = std::chrono::steady_clock::now();
  session->reset();
  EXPECT_LT(std::chrono::steady_clock::now() - end, std::chrono::seconds(5)) << "the next refresh is an hour away";
}

}  // namespace noam::tests
