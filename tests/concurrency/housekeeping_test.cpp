// What the runtime does on its own while commands run: it sweeps, refreshes, verifies and repairs.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/model/command_id.h"
#include "noam/model/scalars.h"
#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/property/random.h"
#include "tests/temporary_store.h"

namespace noam::tests::concurrency {
namespace {

using property::Random;

const char* const board = R"(
model board

entity Topic { name: text key   weight: int }
entity Note { id: int key   topic: Topic inverse notes   at: timestamp   text: text   ttl 10 minutes from at }
entity Reply { id: int key   note: Note owner inverse replies   text: text }

command open($name, $weight) { insert Topic { name: $name, weight: $weight } }
command weigh($name, $weight) { update Topic[$name] { weight: $weight } }
command shift($from, $to, $by) {
  update Topic[$from] { weight: weight - $by }
  update Topic[$to] { weight: weight + $by }
}
command write($id, $topic, $at, $text) { insert Note { id: $id, topic: $topic, at: $at, text: $text } }
command erase($id) { require (select count(*) from Note[$id] n) = 1   delete Note[$id] }
command move($id, $topic) { update Note[$id] { topic: $topic } }
command reply($id, $note, $text) { insert Reply { id: $id, note: $note, text: $text } }
command move_notes($from, $to) { update Note n where n.topic = $from { topic: $to } }

query topics { select t.name, t.weight, count(t.notes) as notes from Topic t order by t.name }
query notes { select n.id, n.at, count(n.replies) as replies from Note n }
query replies { select r.id, r.note from Reply r }
query of_topic($name) { select n.id, n.text from Topic t, t.notes n where t.name = $name order by n.at desc, n.id }
query weight refresh every 1 hour keep 4 { select sum(t.weight) as total, count(*) as n from Topic t }
query busiest refresh every 1 hour keep 2 { select t.name, t.weight from Topic t order by t.weight desc }
query last_weight { select w.refreshed from weight w }
query weights { select w.refreshed, w.total, w.n from weight history w }
query busy { select b.name, b.weight from busiest b }
query busy_times { select distinct b.refreshed from busiest history b order by refreshed }
query series { select b.refreshed, b.name from busiest history b order by b.refreshed desc, b.name }
query standing($name) { select b.refreshed, b.weight from busiest b where b.name = $name }

design kept {
  collection topics of Topic t by name {
    entry ε: weight
    copy notes[n.at desc as at, n.id as note]: n.text, count(n.replies) as replies from t.notes n
    copy numbers: count(t.notes) as n
  }
  collection notes of Note n by id { entry ε: topic, at, text   copy numbers: count(n.replies) as replies }
  collection replies of Reply r by note { entry [id]: text }
  collection series of busiest history b by "all" as series { copy [b.refreshed desc as at]: rows [ b.name ] }
  collection standing of busiest b by b.name as name { copy ε: b.refreshed, b.weight }
  collection words of Note n, words(n.text) w by w as word { copy [n.id] }
}
)";

constexpr int topics = 4;
constexpr int weight_of_each = 10;
constexpr std::int64_t time_to_live = 600'000;

std::string topic(std::size_t i) { return "t" + std::to_string(i % topics); }

void open_board(Database& database) {
  for (std::size_t i = 0; i < topics; ++i)
    ASSERT_EQ(database.run("open", {{"name", topic(i)}, {"weight", weight_of_each}}), "applied");
}

class Housekeeping : public ::testing::TestWithParam<const char*> {};

// Two sweep and refresh, one refreshes and looks, one verifies and repairs, four write.
TEST_P(Housekeeping, IsDoneWhileCommandsRun) {
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  Database database(model_of(board), GetParam());
  open_board(database);
  ASSERT_FALSE(HasFatalFailure());
  Findings findings;
  std::atomic<std::size_t> written = 0;
  std::atomic<std::size_t> erased = 0;
  std::atomic<std::size_t> swept = 0;
  const auto sweep = [&] {
    const auto gone = database.session().sweep();
    if (gone)
      swept += *gone;
    else
      findings.add("sweep: " + gone.error().message);
  };
  // Without snapshots, a refresh that looks through a collection is not of one moment (docs/transactions.md).
  const bool whole = database.store().capabilities().snapshots;
  const auto check_weights = [&](const Json& rows) {
    std::set<std::string> refreshes;
    for (const Json& row : rows) {
      refreshes.insert(row["refreshed"].get<std::string>());
      if (!whole) continue;
      if (row["total"] != topics * weight_of_each || row["n"] != topics)
        findings.add("not a whole state: " + row.dump());
    }
    if (refreshes.size() > 4) findings.add(std::to_string(refreshes.size()) + " refreshes are kept");
  };

  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    if (thread < 2) {
      for (int i = 0; i < 20; ++i) {
        database.pass_time(45'000);
        sweep();
        if (const auto done = database.session().refresh("weight"); !done)
          findings.add("refresh: " + done.error().message);
      }
      return;
    }
    if (thread == 2) {
      for (int i = 0; i < 12; ++i) {
        for (const char* query : {"weight", "busiest"})
          if (const auto done = database.session().refresh(query); !done)
            findings.add("refresh: " + done.error().message);
        check_weights(database.rows("weights"));
        std::int64_t total = 0;
        for (const Json& row : database.rows("busy")) total += row["weight"].get<std::int64_t>();
        if (whole && total != topics * weight_of_each) findings.add("busiest is not of a whole state");
      }
      return;
    }
    if (thread == 3) {
      for (int i = 0; i < 10; ++i) {
        if (const std::string wrong = database.differences(); !wrong.empty()) findings.add(wrong);
        const auto repaired = database.session().repair();
        if (!repaired)
          findings.add("repair: " + repaired.error().message);
        else if (!repaired->differences.empty())
          findings.add("there was something to repair");
      }
      return;
    }
    for (int i = 0; i < 80; ++i) {
      const std::int64_t now = database.time();
      const std::string id = model::make_command_id(now, random.next(), random.next()).text();
      std::string outcome;
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2: {
          const auto age = static_cast<std::int64_t>(random.below(900'000));
          outcome = database.run("write",
                                 {{"id", random.below(60)},
                                  {"topic", topic(random.below(topics))},
                                  {"at", model::print_timestamp(now - age)},
                                  {"text", "some words " + std::to_string(i % 3)}},
                                 id);
          if (outcome == "applied") ++written;
          break;
        }
        case 3:
          outcome = database.run("erase", {{"id", random.below(60)}}, id);
          if (outcome == "applied") ++erased;
          break;
        case 4:
          outcome = database.run("move", {{"id", random.below(60)}, {"topic", topic(random.below(topics))}}, id);
          break;
        case 5:
          outcome = database.run("reply", {{"id", random.below(200)}, {"note", random.below(60)}, {"text", "so"}}, id);
          break;
        case 6:
          outcome = database.run("move_notes",
                                 {{"from", topic(random.below(topics))}, {"to", topic(random.below(topics))}}, id);
          break;
        default:
          outcome = database.run(
              "shift", {{"from", topic(random.below(topics))}, {"to", topic(random.below(topics))}, {"by", i % 5}}, id);
      }
      if (outcome != "applied" && outcome != "exists" && outcome != "absent" && outcome != "require" &&
          outcome != "owner")
        findings.add("a command was " + outcome);
    }
  });

  sweep();
  // The last refresh is the one with the latest time.
  const Json weights = database.rows("weights");
  check_weights(weights);
  std::string latest;
  for (const Json& row : weights) latest = std::max(latest, row["refreshed"].get<std::string>());
  EXPECT_EQ(database.rows("last_weight"), Json::array({{{"refreshed", latest}}})) << weights.dump();
  EXPECT_EQ(findings.text(), "");
  EXPECT_EQ(database.differences(), "");
  // Each note went once, by a command or because it was due, or it is there and not due yet.
  const Json notes = database.rows("notes");
  EXPECT_EQ(written, erased + swept + notes.size());
  EXPECT_GT(swept, 0U);
  for (const Json& note : notes)
    EXPECT_GT(*model::parse_timestamp(note["at"].get<std::string>()) + time_to_live, database.time());

  // Hours later nothing is left of the notes.
  database.pass_time(10'000'000);
  sweep();
  EXPECT_EQ(database.rows("notes").size(), 0U);
  EXPECT_EQ(database.rows("replies").size(), 0U);
  EXPECT_EQ(written, erased + swept);
  EXPECT_EQ(database.differences(), "");
}

// All threads sweep the same: each note goes once.
TEST_P(Housekeeping, SweepsEachOnce) {
  Database database(model_of(board), GetParam());
  open_board(database);
  ASSERT_FALSE(HasFatalFailure());
  constexpr std::size_t notes = 150;  // more than one look of the sweeper takes
  for (std::size_t i = 0; i < notes; ++i)
    ASSERT_EQ(database.run("write", {{"id", i},
                                     {"topic", topic(i)},
                                     {"at", model::print_timestamp(start_time + static_cast<std::int64_t>(i))},
                                     {"text", "a word"}}),
              "applied");
  database.pass_time(time_to_live + 99);
  std::atomic<std::size_t> swept = 0;
  Findings findings;
  in_threads(thread_count, [&](int) {
    const auto gone = database.session().sweep();
    if (gone)
      swept += *gone;
    else
      findings.add(gone.error().message);
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_EQ(swept, 100U);
  EXPECT_EQ(database.rows("notes").size(), 50U);
  EXPECT_EQ(database.differences(), "");
}

// The last refresh is the one with the latest time, whenever it was carried out; nothing is left of those that are not
// kept.
TEST_P(Housekeeping, KeepsTheLatestRefreshesOfAClockSetBack) {
  Database database(model_of(board), GetParam());
  const auto refresh_at = [&](std::int64_t minutes, int weight) {
    database.set_time(start_time + minutes * 60'000);
    ASSERT_EQ(database.run("weigh", {{"name", "t0"}, {"weight", weight}}), "applied");
    const auto done = database.session().refresh("busiest");
    ASSERT_TRUE(done) << done.error().message;
  };
  const auto minutes = [&] {
    std::vector<std::int64_t> out;
    for (const Json& row : database.rows("busy_times"))
      out.push_back((*model::parse_timestamp(row["refreshed"].get<std::string>()) - start_time) / 60'000);
    return out;
  };
  const auto weight = [&] {
    const Json rows = database.rows("busy");
    EXPECT_EQ(rows.size(), 1U) << rows;
    EXPECT_EQ(database.rows("standing", {{"name", "t0"}}).at(0)["weight"], rows.at(0)["weight"]);
    return rows.at(0)["weight"].get<int>();
  };
  const auto held = [&] {
    const design::Design& design = database.session().program().design;
    std::size_t rows = 0;
    for (std::uint32_t f = 0; f < design.families.size(); ++f) {
      const design::Family& family = design.families[f];
      if (family.purpose != design::Purpose::Refreshed || family.key.empty()) continue;
      if (database.session().model().queries[family.members_of].name == "busiest") rows += database.entries(f);
    }
    return rows;
  };
  using Times = std::vector<std::int64_t>;
  ASSERT_EQ(database.run("open", {{"name", "t0"}, {"weight", 0}}), "applied");
  refresh_at(100, 1);
  refresh_at(40, 2);  // earlier, and kept: there is room
  EXPECT_EQ(minutes(), (Times{40, 100}));
  EXPECT_EQ(weight(), 1);
  refresh_at(20, 3);  // too early to be kept
  EXPECT_EQ(minutes(), (Times{40, 100}));
  EXPECT_EQ(weight(), 1);
  EXPECT_EQ(held(), 2U);
  refresh_at(60, 4);  // takes the place of an earlier one
  EXPECT_EQ(minutes(), (Times{60, 100}));
  EXPECT_EQ(weight(), 1);
  refresh_at(60, 5);  // of the same time again
  EXPECT_EQ(minutes(), (Times{60, 100}));
  EXPECT_EQ(weight(), 1);
  refresh_at(100, 6);
  EXPECT_EQ(minutes(), (Times{60, 100}));
  EXPECT_EQ(weight(), 6);
  refresh_at(120, 7);
  EXPECT_EQ(minutes(), (Times{100, 120}));
  EXPECT_EQ(weight(), 7);
  EXPECT_EQ(held(), 2U);
  EXPECT_EQ(database.rows("series").size(), 2U);
  EXPECT_EQ(database.differences(), "");
}

// The session's own thread sweeps and refreshes by the clock of the machine, until the session ends.
TEST_P(Housekeeping, IsDoneByTheSessionItself) {
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  InterruptedStore store(open_test_store());
  Findings findings;
  runtime::SessionOptions options;
  options.sweep_every = std::chrono::milliseconds(1);
  options.on_failed_task = [&](const std::string& task, const Error& error) { findings.add(task + error.message); };
  auto session = open_session(model_of(board), GetParam(), store, options);
  ASSERT_TRUE(session) << session.error().message;
  const auto run = [&](const std::string& name, const Json& params) {
    return (*session)->answer(request(name, params)).value("outcome", "");
  };
  for (std::size_t i = 0; i < topics; ++i)
    ASSERT_EQ(run("open", {{"name", topic(i)}, {"weight", weight_of_each}}), "applied");
  (*session)->start_sweeping();
  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    if (thread == 0) (*session)->start_sweeping();  // has begun already
    for (int i = 0; i < 25; ++i) {
      // All of them are due.
      run("write", {{"id", random.below(20)},
                    {"topic", topic(random.below(topics))},
                    {"at", "2024-05-01T12:00:00Z"},
                    {"text", "some words"}});
      run("reply", {{"id", random.below(100)}, {"note", random.below(20)}, {"text", "so"}});
      run("shift", {{"from", topic(random.below(topics))}, {"to", topic(random.below(topics))}, {"by", i % 5}});
      if (thread == 1) {
        const auto found = (*session)->verify();
        if (!found || !found->differences.empty()) findings.add("verify");
      }
    }
  });
  EXPECT_EQ(findings.text(), "");
  // The first refresh was at once.
  const Json weights = (*session)->answer(request("weights"))["rows"];
  EXPECT_GE(weights.size(), 1U);
  for (const Json& row : weights) EXPECT_EQ(row["total"], topics * weight_of_each);
}

INSTANTIATE_TEST_SUITE_P(Designs, Housekeeping, ::testing::Values("eao", "etf", "normalized", "kept"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
