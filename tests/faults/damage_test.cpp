// One byte of a store is wrong: whatever is asked of it then is answered rightly, or not at all.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/compiled.h"
#include "tests/faults/folders.h"
#include "tests/faults/process.h"
#include "tests/faults/roles.h"
#include "tests/faults/workload.h"
#include "tests/support.h"

namespace noam::tests::faults {

namespace fs = std::filesystem;

namespace {

Json all_answers(runtime::Session& session) {
  Json out = Json::array();
  for (const Json& question : all_questions()) out.push_back(session.answer(question));
  return out;
}

}  // namespace

// MODEL DESIGN FOLDER COMMANDS: carries out the commands of a file, and is gone without closing the store.
int fill_and_die(const RoleArguments& arguments) {
  const auto model = model_of(read_file(arguments[0]));
  auto opened = open(model, arguments[1], arguments[2]);
  if (!opened) return 2;
  for (const Json& command : Json::parse(read_file(arguments[3]))) opened->session->answer(command);
  return ::raise(SIGKILL);
}

// MODEL DESIGN FOLDER: what can be told of a store, as one line of JSON.
int inspect(const RoleArguments& arguments) {
  const auto model = model_of(read_file(arguments[0]));
  Json found;
  {
    auto opened = open(model, arguments[1], arguments[2]);
    if (!opened) {
      found["opening"] = opened.error().message;
    } else {
      const auto verification = opened->session->verify();
      if (!verification) found["verifying"] = verification.error().message;
      found["differences"] = verification ? verification->differences.size() : 0;
      if (const auto checked = opened->store->check_files(); !checked) found["checking"] = checked.error().message;
      found["answers"] = all_answers(*opened->session);
    }
  }
  std::puts(found.dump().c_str());
  return 0;
}

namespace {

struct Place {
  std::string file;  // from the folder on
  std::size_t at = 0;
  unsigned char flipped = 0;

  [[nodiscard]] std::string text() const { return fmt::format("{} at {} xor {:#04x}", file, at, flipped); }
};

void flip(const fs::path& folder, const Place& place) {
  std::string bytes = read_file(folder / place.file);
  bytes[place.at] = static_cast<char>(static_cast<unsigned char>(bytes[place.at]) ^ place.flipped);
  write_file(folder / place.file, bytes);
}

// What became of a damaged store.
enum class Fate { Right, NotOpened, NotAnswered, Lost, Wrong };
constexpr const char* fate_names[] = {"right", "not opened", "not answered", "lost its end", "wrong"};

class Damaged : public ::testing::TestWithParam<const char*> {
 protected:
  Damaged() : start_(seed()), random_(start_), model_(model_of(microblog_text())) {
    write_file(model_path(), microblog_text());
  }

  [[nodiscard]] std::string model_path() const { return (folder_.path() / "blog.noam").string(); }
  [[nodiscard]] std::string commands_path() const { return (folder_.path() / "commands.json").string(); }
  [[nodiscard]] fs::path store() const { return folder_.path() / "store"; }
  [[nodiscard]] fs::path copy() const { return folder_.path() / "copy"; }
  [[nodiscard]] std::string design() const { return GetParam(); }

  // Several sessions, so that there are several tables. With four of them RocksDB begins to merge them whenever the
  // store is opened, and waits a second where it can't: only where there is time for that.
  void fill_store() {
    const int sessions = places_ > 100 ? 5 : 2;
    for (int session = 0; session < sessions; ++session) {
      auto opened = open(model_, design(), store().string(), stores::Existing::Allowed);
      ASSERT_TRUE(opened) << opened.error().message;
      if (session == 0)
        for (const Json& command : first_commands(random_)) opened->session->answer(command);
      for (int i = 0; i < 120; ++i) opened->session->answer(command_by_chance(random_, random_.below(writer_count)));
      whole_ = all_answers(*opened->session);
    }
  }

  // A log with content. What it answers after each of the commands in it is worked out on a copy.
  void fill_log() {
    Json commands = Json::array();
    for (int i = 0; i < 80; ++i) commands.push_back(command_by_chance(random_, random_.below(writer_count)));
    write_file(commands_path(), commands.dump());
    fs::copy(store(), copy(), fs::copy_options::recursive);
    {
      auto opened = open(model_, design(), copy().string());
      ASSERT_TRUE(opened) << opened.error().message;
      for (const Json& command : commands) {
        before_.push_back(all_answers(*opened->session));
        opened->session->answer(command);
      }
      whole_ = all_answers(*opened->session);
    }
    fs::remove_all(copy());
    const Ended died = run(as("fill", {model_path(), design(), store().string(), commands_path()}));
    ASSERT_EQ(died.code, killed) << died.err;
  }

  // Half of the places by the size of files, half by their number: most bytes are in tables, most variety is not.
  Place place_by_chance() {
    std::vector<std::pair<std::string, std::size_t>> files;
    std::size_t sum = 0;
    for (const auto& [name, text] : contents(store())) {
      if (text.empty()) continue;
      files.emplace_back(name, text.size());
      sum += text.size();
    }
    std::size_t file = random_.below(files.size());
    if (random_.chance(50)) {
      std::size_t at = random_.below(sum);
      for (file = 0; at >= files[file].second; ++file) at -= files[file].second;
    }
    return {files[file].first, random_.below(files[file].second), static_cast<unsigned char>(random_.between(1, 255))};
  }

  // Every record of the log, or manifest: where it begins.
  std::vector<std::size_t> records_of(const std::string& file) {
    constexpr std::size_t block = 32768;
    constexpr std::size_t header = 7;
    const std::string text = read_file(store() / file);
    std::vector<std::size_t> out;
    for (std::size_t at = 0; at + header <= text.size();) {
      if (block - at % block < header) {
        at += block - at % block;
        continue;
      }
      out.push_back(at);
      at += header + static_cast<unsigned char>(text[at + 4]) + 256U * static_cast<unsigned char>(text[at + 5]);
    }
    return out;
  }

  // That a message is one line that says where.
  static void expect_clear(const std::string& message, const fs::path& folder) {
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_NE(message.find(folder.string()), std::string::npos) << message;
    EXPECT_EQ(message.find("in use"), std::string::npos) << message;
  }

  // Asks the copy; `lost` is how many commands it forgot where it lost some.
  Fate ask(std::size_t& lost) {
    const Ended ended = run(as("inspect", {model_path(), design(), copy().string()}));
    EXPECT_FALSE(ended.hung);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    if (ended.hung || ended.code != 0) return Fate::Wrong;
    const Json found = Json::parse(ended.out);
    if (found.contains("opening")) {
      expect_clear(found["opening"].text(), copy());
      return Fate::NotOpened;
    }
    if (found["differences"] != 0) return Fate::Wrong;
    bool told = false;
    for (const char* step : {"verifying", "checking"}) {
      if (!found.contains(step)) continue;
      expect_clear(found[step].text(), copy());
      told = true;
    }
    const Json& answers = found["answers"];
    if (answers == whole_) return told ? Fate::NotAnswered : Fate::Right;
    const auto earlier = std::find(before_.begin(), before_.end(), answers);
    if (earlier != before_.end()) {
      lost = static_cast<std::size_t>(before_.end() - earlier);
      return Fate::Lost;
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == whole_[i]) continue;
      if (!answers[i].contains("error")) return Fate::Wrong;
      expect_clear(answers[i]["error"]["reason"].text(), copy());
    }
    return Fate::NotAnswered;
  }

  // The same through the program: the right answer, or one line that says where something is wrong.
  void ask_program() {
    const std::vector<std::string> at{"--store", "rocksdb:" + copy().string()};
    for (std::vector<std::string> command : {std::vector<std::string>{"verify", model_path()},
                                             {"run", model_path(), "all_counters", "--json"},
                                             {"run", model_path(), "newest", "username=user00", "--json"}}) {
      command.insert(command.end(), at.begin(), at.end());
      const Ended ended = noam(command);
      EXPECT_FALSE(ended.hung);
      if (ended.code == 0) {
        if (command[0] == "run") {
          const auto asked = std::find_if(questions_.begin(), questions_.end(),
                                          [&](const Json& question) { return question["run"] == command[2]; });
          EXPECT_EQ(Json::parse(ended.out), whole_[static_cast<std::size_t>(asked - questions_.begin())]);
        }
        continue;
      }
      EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
      // A query that is refused its answer has that as its answer.
      const bool as_answer = ended.err.empty();
      const std::string message = as_answer ? Json::parse(ended.out)["error"]["reason"].get<std::string>() : ended.err;
      EXPECT_TRUE(as_answer || (message.starts_with("noam: ") && message.ends_with("\n"))) << message;
      expect_clear(as_answer ? message : message.substr(0, message.size() - 1), copy());
    }
  }

  void damage_copy(const Place& place) const {
    fs::remove_all(copy());
    fs::copy(store(), copy(), fs::copy_options::recursive);
    flip(copy(), place);
  }

  // One place, in a copy of the store.
  void damage(const Place& place) {
    SCOPED_TRACE(place.text());
    if (random_.chance(15)) {
      damage_copy(place);
      ask_program();
    }
    damage_copy(place);
    std::size_t lost = 0;
    const Fate fate = ask(lost);
    EXPECT_NE(fate, Fate::Wrong);
    EXPECT_NE(fate, Fate::Lost) << lost << " commands are lost";
    ++fates_[kind_of(place.file)][fate];
    if (fate != Fate::NotOpened) return;
    // Who tried to open it has harmed nothing.
    fs::copy_file(store() / place.file, copy() / place.file, fs::copy_options::overwrite_existing);
    EXPECT_EQ(ask(lost), Fate::Right) << "after the byte was put right again";
  }

  // `MANIFEST-000036` is a MANIFEST, `000019.sst` a .sst
  static std::string kind_of(const std::string& file) {
    const fs::path path = fs::path(file).filename();
    const std::string name = path.string();
    return path.has_extension() && name[0] == '0' ? path.extension().string() : name.substr(0, name.find('-'));
  }

  void tell() const {
    for (const auto& [kind, fates] : fates_) {
      std::string line = kind + ":";
      for (const auto& [fate, count] : fates) line += fmt::format(" {} {}", count, fate_names[static_cast<int>(fate)]);
      std::puts(line.c_str());
    }
  }

  const std::size_t places_ = amount("NOAM_CORRUPT_PLACES", 60) / 4;  // two kinds of stores, two designs
  const std::uint64_t start_;
  Random random_;
  TemporaryFolder folder_;
  std::shared_ptr<const model::Model> model_;
  const std::vector<Json> questions_ = all_questions();
  Json whole_;                // what is answered
  std::vector<Json> before_;  // and was before each command that lies in the log
  std::map<std::string, std::map<Fate, std::size_t>> fates_;
};

TEST_P(Damaged, ClosedStoreIsRightOrSaysSo) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store());
  for (std::size_t i = 0; i < places_; ++i) damage(place_by_chance());
  tell();
}

TEST_P(Damaged, KilledStoreIsRightOrSaysSo) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store());
  ASSERT_NO_FATAL_FAILURE(fill_log());
  for (std::size_t i = 0; i < places_; ++i) damage(place_by_chance());
  tell();
}

// A record that is longer than the file is taken for one that was being written when the machine stopped, and one of
// a type for files that are written again for what was there before: what is behind it is forgotten. No byte of a
// header may look like that.
TEST_P(Damaged, NoHeaderOfARecordLosesWhatIsBehindIt) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store());
  ASSERT_NO_FATAL_FAILURE(fill_log());
  const std::size_t most = std::max<std::size_t>(places_ / 4, 4);
  for (const auto& [file, text] : contents(store())) {
    if (text.empty() || (!file.ends_with(".log") && file.find("MANIFEST-") == std::string::npos)) continue;
    const std::vector<std::size_t> records = records_of(file);
    // The last one always, others by chance.
    for (std::size_t i = 0; i < std::min(most, records.size()); ++i) {
      const std::size_t record = i == 0 ? records.back() : random_.pick(records);
      damage({file, record + 5, 0x80});
      damage({file, record + 6, 0x04});
      damage({file, record + random_.below(7), static_cast<unsigned char>(random_.between(1, 255))});
    }
  }
  tell();
}

// A killed process leaves a log that ends anywhere: within the last record, what was in that is not there, and nothing
// else is missing.
TEST_P(Damaged, LogThatEndsEarlyLosesItsLastRecordAlone) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store());
  ASSERT_NO_FATAL_FAILURE(fill_log());
  std::string log;
  for (const auto& [file, text] : contents(store()))
    if (file.ends_with(".log") && !text.empty()) log = file;
  const std::size_t size = fs::file_size(store() / log);
  const std::size_t last = records_of(log).back();
  // The commands after the last one that changed something are refused ones.
  std::size_t changed = before_.size();
  while (changed > 0 && before_[changed - 1] == whole_) --changed;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t end = i == 0 ? last : i == 1 ? size - 1 : random_.between(last, size - 1);
    SCOPED_TRACE(fmt::format("{} of {} bytes, the last record begins at {}", end, size, last));
    fs::remove_all(copy());
    fs::copy(store(), copy(), fs::copy_options::recursive);
    fs::resize_file(copy() / log, end);
    const Ended ended = run(as("inspect", {model_path(), design(), copy().string()}));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json found = Json::parse(ended.out);
    ASSERT_FALSE(found.contains("opening")) << found["opening"];
    EXPECT_EQ(found["differences"], 0);
    EXPECT_TRUE(found["answers"] == whole_ || found["answers"] == before_[changed - 1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Designs, Damaged, ::testing::Values("seed003", "eao"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::faults
