// A process lives through all that can become of a store, and dies at each kill point there is
// (noam/base/kill_point.h): what it was told to be done is done, and what it was about to do is done or not, and can be
// done again.

#include "noam/base/kill_point.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/compiled.h"
#include "tests/faults/process.h"
#include "tests/faults/roles.h"
#include "tests/faults/told.h"
#include "tests/faults/workload.h"
#include "tests/support.h"

namespace noam::tests::faults {

namespace fs = std::filesystem;

namespace {

constexpr const char* note_name = "counters";
constexpr std::int64_t loads = 4;

std::atomic<std::size_t> deadly_point = kill_point_names.size();
std::atomic<std::size_t> deadly_visit = 0;
std::array<std::atomic<std::size_t>, kill_point_names.size()> visits;

void visit(KillPoint point) {
  const auto index = static_cast<std::size_t>(point);
  if (++visits[index] == deadly_visit && index == deadly_point) ::kill(::getpid(), SIGKILL);
}

void tell(const Json& line) {
  const std::string text = line.dump() + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
}

// Of two rows. Every second load is large, so that its commit is tables of its own.
constexpr std::size_t table_bytes = 1'000;
std::array<std::string, 2> loaded_names(std::int64_t load) {
  const std::string name = "loaded" + std::to_string(load);
  return {name, name + "too" + std::string(load % 2 == 0 ? 0 : table_bytes, '.')};
}

// What went wrong; empty: nothing.
std::string load_rows(runtime::Session& session, std::int64_t load) {
  const auto& entities = session.model().entities;
  const auto counter =
      std::find_if(entities.begin(), entities.end(), [](const auto& e) { return e.name == "Counter"; });
  runtime::LoadBatch batch;
  batch.entity = static_cast<model::EntityId>(counter - entities.begin());
  for (const std::string& name : loaded_names(load)) {
    auto& row = batch.rows.emplace_back(counter->fields.size());
    for (std::size_t i = 0; i < counter->fields.size(); ++i) {
      if (counter->fields[i].name == "name") row[i] = name;
      if (counter->fields[i].name == "value") row[i] = 0;
      if (counter->fields[i].name == "trail") row[i] = model::Datum::List{};
    }
  }
  batch.note = note_name;
  if (load > 0) batch.note_before = std::to_string(load);
  batch.note_text = [load](const auto&) { return std::to_string(load + 1); };
  const runtime::Loaded loaded = session.load(batch);
  if (loaded.failure) return loaded.failure->message;
  for (const auto& refused : loaded.rows)
    if (refused) return "refused: " + refused->reason;
  return loaded.rows.size() == batch.rows.size() ? "" : "rows are missing";
}

// An entry of each copy goes, behind the session's back.
bool harm(runtime::Session& session) {
  for (const design::Upkeep& upkeep : session.program().upkeep) {
    const auto page = session.store().scan(upkeep.family, "", nullptr, stores::no_deadline);
    if (!page) return false;
    if (page->items.empty()) continue;
    const std::uint32_t collection = session.program().design.families[upkeep.family].collection;
    const auto& item = page->items.front();
    const stores::WriteBatch batch{{}, {stores::Delete{{{collection, item.block}, upkeep.family, item.entry.key}}}};
    if (!session.store().commit(batch, stores::no_deadline)) return false;
  }
  return true;
}

int failed(const std::string& what) {
  tell({{"failed", what}});
  return 2;
}

}  // namespace

// MODEL DESIGN FOLDER POINT VISIT SEED: each step is told before it begins and when it is done.
int live_until_killed(const RoleArguments& arguments) {
  const auto model = model_of(read_file(arguments[0]));
  const std::string store = arguments[2] + "/store";
  deadly_point = std::stoull(arguments[3]);
  deadly_visit = std::stoull(arguments[4]);
  Random random(std::stoull(arguments[5]));
  at_kill_point = visit;
  {
    auto opened = open(model, arguments[1], store, stores::Existing::Allowed, nullptr, table_bytes);
    if (!opened) return failed(opened.error().message);
    tell({{"opened", true}});
    std::vector<Json> commands = first_commands(random);
    for (int i = 0; i < 12; ++i) commands.push_back(command_by_chance(random, random.below(writer_count)));
    for (const Json& command : commands) {
      tell({{"send", command}});
      tell({{"answer", opened->session->answer(command)}});
    }
    for (std::int64_t load = 0; load < loads; ++load) {
      tell({{"load", load}});
      if (const std::string wrong = load_rows(*opened->session, load); !wrong.empty()) return failed(wrong);
      tell({{"loaded", load}});
    }
    tell({{"harm", true}});
    if (!harm(*opened->session)) return failed("no copy can be harmed");
    const auto repaired = opened->session->repair();
    if (!repaired || repaired->differences.empty()) return failed("nothing was repaired");
    tell({{"repaired", true}});
    if (const auto done = opened->store->back_up(arguments[2] + "/backup"); !done) return failed(done.error().message);
    tell({{"backed up", true}});
    const auto restored = stores::restore_rocksdb_store(arguments[2] + "/backup", arguments[2] + "/restored");
    if (!restored) return failed(restored.error().message);
    tell({{"restored", true}});
  }
  Json counts = Json::array();
  for (const auto& count : visits) counts.push_back(count.load());
  tell({{"visits", counts}});
  return 0;
}

namespace {

class KillPoints : public ::testing::Test {
 protected:
  struct Seen {
    std::vector<std::size_t> visits;  // where it came to the end
    std::size_t acknowledged = 0;
    bool unknown = false;  // something was begun and not answered
  };

  // One life, and what is left of it.
  Seen live(std::size_t point, std::size_t number) {
    Seen seen;
    const TemporaryFolder folder;
    const std::string model_path = (folder.path() / "model.noam").string();
    write_file(model_path, microblog_text());
    const Ended ended = run(as("live", {model_path, "seed003", folder.path().string(), std::to_string(point),
                                        std::to_string(number), std::to_string(start_)}));
    EXPECT_FALSE(ended.hung);
    EXPECT_EQ(ended.code, number == 0 ? 0 : killed) << ended.err << ended.out;

    Told told(model_);
    std::optional<Json> call;
    constexpr std::int64_t none = -1;
    std::int64_t load = none;  // going on
    std::int64_t loaded = 0;
    bool harmed = false;
    std::map<std::string, bool> done;
    std::size_t begin = 0;
    for (std::size_t end = ended.out.find('\n'); end != std::string::npos; end = ended.out.find('\n', begin)) {
      const Json line = Json::parse(ended.out.substr(begin, end - begin));
      begin = end + 1;
      EXPECT_FALSE(line.contains("failed")) << line.dump();
      done[line.begin().key()] = true;
      if (line.contains("send")) call = line["send"];
      if (line.contains("answer")) {
        told.acknowledge(*call, line["answer"]);
        call.reset();
      }
      if (line.contains("load")) load = line["load"].get<std::int64_t>();
      if (line.contains("loaded")) {
        loaded = line["loaded"].get<std::int64_t>() + 1;
        tell_loaded(told, loaded - 1);
        load = none;
      }
      if (line.contains("harm")) harmed = true;
      if (line.contains("repaired")) harmed = false;
      if (!line.contains("visits")) continue;
      seen.visits.clear();
      for (const Json& visits : line["visits"]) seen.visits.push_back(visits.get<std::size_t>());
    }
    seen.acknowledged = told.acknowledged();
    seen.unknown = call || load != none;

    auto opened = open(model_, "seed003", (folder.path() / "store").string(),
                       done["opened"] ? stores::Existing::Required : stores::Existing::Allowed);
    EXPECT_TRUE(opened) << opened.error().message;
    if (!opened) return seen;
    // What was about to become a table is gone.
    for (const auto& file : fs::directory_iterator(folder.path() / "store"))
      EXPECT_FALSE(file.path().filename().string().starts_with("table-")) << file.path();
    runtime::Session& session = *opened->session;
    if (harmed) {
      EXPECT_TRUE(session.repair());
    }
    EXPECT_EQ(differences(session), "");
    if (call) told.repeat(session, *call);
    // The rows and the note are there, or none of them.
    if (load != none) {
      const std::string all = session.answer(request("all_counters")).dump();
      if (all.find(loaded_names(load)[0]) != std::string::npos) {
        tell_loaded(told, load);
        loaded = load + 1;
      }
    }
    EXPECT_EQ(*session.read_note(note_name), loaded == 0 ? std::nullopt : std::optional(std::to_string(loaded)));
    told.check(session, random_);

    // A backup, and what is restored of it, is there whole or not at all.
    for (const auto& [name, told_as] : {std::pair("backup", "backed up"), std::pair("restored", "restored")}) {
      const fs::path path = folder.path() / name;
      EXPECT_TRUE(fs::exists(path) || !done[told_as]) << name;
      if (!fs::exists(path)) continue;
      auto other = open(model_, "seed003", path.string());
      EXPECT_TRUE(other) << other.error().message;
      if (other) told.check(*other->session, random_);
    }
    return seen;
  }

  static void tell_loaded(Told& told, std::int64_t load) {
    for (const std::string& name : loaded_names(load))
      told.acknowledge(request("make_counter", {{"name", name}}), {{"outcome", "applied"}});
  }

  const std::uint64_t start_ = seed();
  Random random_{start_};
  std::shared_ptr<const model::Model> model_ = model_of(microblog_text());
};

TEST_F(KillPoints, AreVisitedAndLoseNothing) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  const Seen whole = live(kill_point_names.size(), 0);
  ASSERT_EQ(whole.visits.size(), kill_point_names.size());
  // How many visits of each, at most.
  const std::size_t most = amount("NOAM_KILL_VISITS", 1);
  std::size_t kills = 0;
  std::size_t acknowledged = 0;
  std::size_t unknown = 0;
  for (std::size_t point = 0; point < kill_point_names.size() && !HasFailure(); ++point) {
    const std::size_t all = whole.visits[point];
    ASSERT_GT(all, 0U) << kill_point_names[point] << " is never reached";
    for (std::size_t i = 0; i < std::min(all, most) && !HasFailure(); ++i) {
      // Every one where there is time for all, else by chance.
      const std::size_t number = all <= most ? i + 1 : random_.between(1, all);
      SCOPED_TRACE(std::string(kill_point_names[point]) + ", visit " + std::to_string(number));
      const Seen seen = live(point, number);
      ++kills;
      acknowledged += seen.acknowledged;
      unknown += seen.unknown ? 1 : 0;
    }
  }
  std::printf("%zu kills at %zu points: %zu commands acknowledged, %zu unknown, %s\n", kills, kill_point_names.size(),
              acknowledged, unknown, HasFailure() ? "something is lost or wrong" : "0 lost");
}

}  // namespace
}  // namespace noam::tests::faults
