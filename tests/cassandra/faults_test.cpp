// Three nodes with three copies of everything. Eight clients go on with their work while nodes are killed, cut off,
// paused and killed together.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/cql/session.h"
#include "noam/model/command_id.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/cassandra/cassandra.h"
#include "tests/cassandra/bank.h"
#include "tests/cassandra/three_nodes.h"
#include "tests/compiled.h"
#include "tests/concurrency/history.h"
#include "tests/property/random.h"

namespace noam::tests {
namespace {

using concurrency::Event;
using concurrency::History;
using property::Random;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int client_count = 8;

std::int64_t now_in_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A session on a store of its own, as another process would have it.
struct Opened {
  std::unique_ptr<stores::Store> store;
  std::unique_ptr<runtime::Session> session;
};

Opened open(const stores::cassandra::Place& place, std::chrono::milliseconds timeout) {
  Opened out;
  auto behind = stores::cassandra::open_block_store(place, true);
  if (!behind) {
    ADD_FAILURE() << behind.error().message;
    return out;
  }
  out.store = stores::blocks::open_block_layer(std::move(*behind));
  runtime::SessionOptions options;
  options.timeout = timeout;
  auto session = open_session(bank::the_model(), bank::the_design, *out.store, std::move(options));
  if (session)
    out.session = std::move(*session);
  else
    ADD_FAILURE() << session.error().message;
  return out;
}

// So that reasons can be counted.
std::string without_numbers(const std::string& reason) {
  std::string out;
  for (const char c : reason) {
    if (c < '0' || c > '9')
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

// How long one command took, until the client knew what became of it.
struct Wait {
  std::size_t phase = 0;
  double seconds = 0;
  int calls = 0;
};

// What all clients did, and what they were told.
class Work {
 public:
  explicit Work(std::uint64_t seed) : seed_(seed) {}

  // A whole bank, and groups beside it: by their numbers from 1, 0 is the bank.
  using Histories = std::map<std::size_t, History>;

  // Begins a phase of the test: waits are counted for each.
  void begin(const std::string& phase) {
    const std::lock_guard lock(lock_);
    std::cout << "  " << phase << std::endl;
    phases_.push_back(phase);
    phase_ = phases_.size() - 1;
  }
  void stop() { stopping_ = true; }

  void run_client(int number, runtime::Session& session);

  // Asks until there is an answer that says what became of it. Nothing: the client gives up for now, and the statement
  // is left for repeat_unknown(). For queries, an error is no answer.
  bool ask(int client, runtime::Session& session, std::size_t group, Json request, bool may_leave, Random& random);
  // Repeats what a client left.
  void repeat_unknown(runtime::Session& session, Random& random);

  [[nodiscard]] const Histories& histories() const { return histories_; }
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  [[nodiscard]] std::string report() const;
  [[nodiscard]] std::map<std::string, std::size_t> refusals() const { return refusals_; }
  [[nodiscard]] std::map<std::string, std::size_t> reasons() const { return reasons_; }

 private:
  bool repeat(runtime::Session& session, std::size_t group, Event& event, Wait& wait, bool may_leave, Random& random);

  const std::uint64_t seed_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> moments_ = 0;
  std::atomic<std::uint64_t> ids_ = 0;
  std::atomic<std::size_t> group_statements_ = 0;
  std::atomic<std::size_t> phase_ = 0;

  mutable std::mutex lock_;
  std::vector<std::string> phases_;
  Histories histories_;
  std::vector<std::pair<std::size_t, Event>> left_;
  std::vector<Wait> waits_;
  std::map<std::size_t, std::size_t> unknown_;  // answers, by phase
  std::map<std::string, std::size_t> refusals_;
  std::map<std::string, std::size_t> reasons_;  // of unknown answers and errors
};

bool Work::repeat(runtime::Session& session, std::size_t group, Event& event, Wait& wait, bool may_leave,
                  Random& random) {
  const bool command = bank::is_command(event.request);
  const auto began = steady_clock::now();
  for (;;) {
    if (event.begin == 0 || !command) event.begin = ++moments_;
    ++wait.calls;
    Json answer = session.answer(event.request);
    const bool known = command ? answer.value("outcome", std::string()) != "unknown" : answer.contains("rows");
    if (known) {
      event.answer = std::move(answer);
      event.end = ++moments_;
      event.guess = event.end;
      wait.seconds += std::chrono::duration<double>(steady_clock::now() - began).count();
      const std::lock_guard lock(lock_);
      if (command && event.answer["outcome"] == "refused") ++refusals_[event.answer["code"].get<std::string>()];
      if (command) waits_.push_back(wait);
      histories_[group].push_back(std::move(event));
      return true;
    }
    {
      const std::lock_guard lock(lock_);
      if (command) ++unknown_[phase_];
      ++reasons_[without_numbers((command ? answer : answer["error"])["reason"].get<std::string>())];
    }
    if (may_leave && (!command || random.chance(10))) {
      const std::lock_guard lock(lock_);
      if (command) left_.emplace_back(group, std::move(event));
      return false;
    }
    if (steady_clock::now() - began > 5min) {
      ADD_FAILURE() << "there is no answer: " << answer.dump();
      return false;
    }
    std::this_thread::sleep_for(500ms);
  }
}

bool Work::ask(int client, runtime::Session& session, std::size_t group, Json request, bool may_leave, Random& random) {
  Event event;
  event.thread = client;
  if (bank::is_command(request))
    request["id"] = model::make_command_id(now_in_milliseconds(), ++ids_, random.next()).text();
  event.request = std::move(request);
  Wait wait;
  wait.phase = phase_;
  return repeat(session, group, event, wait, may_leave, random);
}

void Work::repeat_unknown(runtime::Session& session, Random& random) {
  for (auto& [group, event] : left_) {
    Wait wait;
    wait.phase = phase_;
    repeat(session, group, event, wait, false, random);
  }
}

void Work::run_client(int number, runtime::Session& session) {
  Random random(seed_ * 100 + static_cast<std::uint64_t>(number));
  for (std::size_t step = 0; !stopping_; ++step) {
    if (random.chance(35)) {
      const std::size_t at = group_statements_++;
      const std::size_t group = at / bank::statements_of_a_group;
      ask(number, session, group + 1, bank::random_statement_of_group(random, group, at % bank::statements_of_a_group),
          true, random);
    } else {
      ask(number, session, 0, bank::random_statement(random, fmt::format("{}.{}", number, step)), true, random);
    }
  }
}

std::string Work::report() const {
  std::string out;
  for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
    std::vector<double> seconds;
    std::size_t repeated = 0;
    for (const Wait& wait : waits_) {
      if (wait.phase != phase) continue;
      seconds.push_back(wait.seconds);
      repeated += wait.calls > 1 ? 1 : 0;
    }
    if (seconds.empty()) continue;
    std::sort(seconds.begin(), seconds.end());
    const auto percentile = [&](std::size_t percent) {
      return seconds[std::min(seconds.size() - 1, seconds.size() * percent / 100)];
    };
    const auto unknown = unknown_.find(phase);
    out += fmt::format(
        "{:<34} {:>6} commands; median {:>6.3f} s, 99 % {:>7.3f} s, longest {:>7.3f} s; {} unknown answers, "
        "{} repeated\n",
        phases_[phase], seconds.size(), percentile(50), percentile(99), seconds.back(),
        unknown == unknown_.end() ? 0 : unknown->second, repeated);
  }
  return out;
}

// What is left in the heads of all tables of the keyspace.
std::string left_behind(cql::Session& session, const std::string& keyspace) {
  std::string out;
  const auto columns = session.execute(
      fmt::format("SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = '{}'", keyspace));
  if (!columns.ok()) return columns.failure().message;
  std::size_t tables = 0;
  for (std::size_t i = 0; i < columns.row_count(); ++i) {
    if (columns.row(i)[1].bytes() != "noam_tx") continue;
    ++tables;
    const std::string table(columns.row(i)[0].bytes());
    const auto rows = session.execute(fmt::format("SELECT noam_tx, noam_done FROM {}.{}", keyspace, table));
    if (!rows.ok()) return rows.failure().message;
    for (std::size_t r = 0; r < rows.row_count(); ++r) {
      const std::string_view holder = rows.row(r)[0].bytes();
      if (std::any_of(holder.begin(), holder.end(), [](char c) { return c != 0; })) out += "a hold in " + table + "\n";
      if (!rows.row(r)[1].bytes().empty()) out += "a mark in " + table + "\n";
    }
  }
  return tables > 0 ? out : "there are no tables";
}

void expect_nothing_is_wrong(const Work& work, const Json& moves, std::int64_t start) {
  const auto counters = bank::wrong_counters(work.histories().at(0));
  EXPECT_FALSE(counters) << *counters;
  const auto began = steady_clock::now();
  const auto order = bank::not_in_order(work.histories().at(0), moves, start);
  EXPECT_FALSE(order) << *order;
  std::size_t statements = 0;
  for (const auto& [group, events] : work.histories()) {
    if (group == 0) continue;
    History history = events;
    std::sort(history.begin(), history.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
    const auto wrong = concurrency::not_serialisable(*bank::the_model(), history, start, 200'000);
    EXPECT_FALSE(wrong) << "group " << group << ": " << *wrong;
    statements += history.size();
  }
  std::cout << fmt::format("{} statements about the bank, {} about {} groups; checked in {:.1f} s\n",
                           work.histories().at(0).size(), statements, work.histories().size() - 1,
                           std::chrono::duration<double>(steady_clock::now() - began).count());
}

// Which faults: those that NOAM_FAULTS lists, else all.
bool wanted(const std::string& fault) {
  const char* const given = std::getenv("NOAM_FAULTS");
  return given == nullptr || std::string(given).find(fault) != std::string::npos;
}

void make_faults(const ThreeNodes& nodes, Work& work) {
  const auto wait = [](std::chrono::seconds time) { std::this_thread::sleep_for(time); };
  work.begin("no fault");
  wait(25s);
  if (wanted("kill")) {
    work.begin("one node killed");
    nodes.kill({2});
    wait(30s);
    work.begin("and brought back");
    nodes.restart({2});
    wait(15s);
  }
  if (wanted("cut") && nodes.has_network()) {
    work.begin("one node cut off");
    nodes.cut({3});
    wait(40s);
    work.begin("and connected again");
    nodes.mend({3});
    wait(20s);
  }
  if (wanted("pause")) {
    work.begin("one node paused");
    nodes.pause({1});
    wait(25s);
    work.begin("and resumed");
    nodes.resume({1});
    wait(15s);
  }
  if (wanted("all")) {
    work.begin("all nodes killed, and restarted");
    nodes.kill({1, 2, 3});
    wait(2s);
    nodes.restart({1, 2, 3});
    wait(20s);
  }
  work.begin("no fault any more");
  wait(10s);
}

TEST(FaultsOnThreeNodes, LoseNothingThatWasAcknowledged) {
  const auto nodes = ThreeNodes::given();
  if (!nodes) GTEST_SKIP() << "NOAM_TEST_CASSANDRA_CLUSTER is not set; `make test-cassandra-faults` sets it";
  ASSERT_TRUE(nodes->is_complete());
  const std::uint64_t seed = std::random_device{}();
  const std::int64_t start = now_in_milliseconds();
  stores::cassandra::Place place;
  place.cluster = nodes->options();
  place.keyspace = fmt::format("noam_faults_{:08x}", seed);
  place.replication = 3;
  std::cout << "seed " << seed << ", keyspace " << place.keyspace << std::endl;

  Work work(seed);
  Random random(seed);
  work.begin("opening");
  const Opened first = open(place, 0ms);
  ASSERT_TRUE(first.session);
  for (Json& request : bank::opening()) ASSERT_TRUE(work.ask(0, *first.session, 0, std::move(request), false, random));
  {
    std::vector<Opened> opened;
    // Some give up waiting early, and are told more often that the outcome is unknown.
    for (int client = 0; client < client_count; ++client)
      opened.push_back(open(place, client % 2 == 0 ? 0ms : 6'000ms));
    for (const Opened& one : opened) ASSERT_TRUE(one.session);
    std::vector<std::thread> clients;
    for (int client = 0; client < client_count; ++client)
      clients.emplace_back(
          [&, client] { work.run_client(client + 1, *opened[static_cast<std::size_t>(client)].session); });
    make_faults(*nodes, work);
    work.stop();
    for (std::thread& client : clients) client.join();
  }
  std::cout << work.left() << " commands of unknown outcome are repeated by another client\n";
  work.repeat_unknown(*first.session, random);

  // What nobody needs any more.
  auto observer = cql::Session::connect(nodes->options());
  ASSERT_TRUE(observer) << observer.error().message;
  for (int i = 0; i < 20; ++i) {
    const auto swept = first.session->sweep();
    EXPECT_TRUE(swept) << swept.error().message;
    if (left_behind(**observer, place.keyspace).empty()) break;
    std::this_thread::sleep_for(1s);
  }
  const auto verified = first.session->verify();
  ASSERT_TRUE(verified) << verified.error().message;
  for (const runtime::Difference& difference : verified->differences)
    ADD_FAILURE() << difference.collection << ": " << difference.what;
  EXPECT_TRUE(verified->unknown.empty());
  EXPECT_EQ(left_behind(**observer, place.keyspace), "");

  for (Json& request : bank::closing()) EXPECT_TRUE(work.ask(0, *first.session, 0, std::move(request), false, random));
  std::set<std::size_t> groups;
  for (const auto& [group, history] : work.histories())
    if (group > 0) groups.insert(group);
  for (const std::size_t group : groups)
    for (Json& request : bank::closing_of_group(group - 1))
      EXPECT_TRUE(work.ask(0, *first.session, group, std::move(request), false, random));
  const Json moves = first.session->answer({{"run", "moves"}});
  ASSERT_TRUE(moves.contains("rows")) << moves.dump();

  std::cout << work.report();
  for (const auto& [code, count] : work.refusals()) {
    std::cout << fmt::format("refused {} times: {}\n", count, code);
    static const std::set<std::string> of_the_bank = {"absent", "exists", "require", "required"};
    EXPECT_TRUE(of_the_bank.contains(code)) << code;
  }
  for (const auto& [reason, count] : work.reasons()) std::cout << fmt::format("{} times: {}\n", count, reason);
  expect_nothing_is_wrong(work, moves["rows"], start);
  if (!testing::Test::HasFailure()) (void)(*observer)->execute("DROP KEYSPACE " + place.keyspace);
}

}  // namespace
}  // namespace noam::tests
