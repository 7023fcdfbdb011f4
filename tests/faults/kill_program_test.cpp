// The program is killed while it loads, backs up, restores, repairs and deploys: what it was about is there and right,
// or is not there.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/faults/folders.h"
#include "tests/faults/process.h"
#include "tests/faults/workload.h"
#include "tests/support.h"

namespace noam::tests::faults {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

std::string url(const fs::path& folder) { return "rocksdb:" + folder.string(); }

// --- load ------------------------------------------------------------------------------------------------------------

// A file of tweets: its lines, those that are good as they are exported, and the others with what is wrong with them.
struct TweetFile {
  std::string text = "id,author,at,content,language\n";
  std::size_t lines = 1;
  std::vector<std::string> good;
  std::map<std::size_t, std::string> bad;  // by line, from 1

  explicit TweetFile(std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string id = std::to_string(1'000'000 + i);  // in the order of keys
      const std::string author = "user" + std::to_string(i % 40);
      const std::string at = "2024-05-01T12:00:00." + std::to_string(100 + i % 900) + "Z";
      add(id, author, at, "row " + std::to_string(i), "en", "");
      if (i % (rows / 4) == 7) add(id, author, at, "twice", "en", "exists");
      if (i % (rows / 4) == 19) add("9" + id, author, "yesterday", "no time", "en", "value");
      if (i % (rows / 4) == 31) add("9" + id, author, at, "no such language", "english", "value");
    }
  }

 private:
  void add(const std::string& id, const std::string& author, const std::string& at, const std::string& content,
           const std::string& language, const std::string& problem) {
    text.append(id).append(",").append(author).append(",").append(at).append(",");
    text.append(content).append(",").append(language).append("\n");
    ++lines;
    if (!problem.empty()) {
      bad[lines] = problem;
      return;
    }
    const Json tweet{
        {"id", std::stoll(id)}, {"author", author}, {"at", at}, {"content", content}, {"language", language}};
    good.push_back(tweet.dump());
  }
};

Texts lines_of(const std::string& text) {
  Texts out;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// `noam: …/Tweet.csv:19: reason [code]`: where, and the code.
void take_bad_lines(const std::string& err, std::multimap<std::size_t, std::string>& out) {
  const std::string file = "Tweet.csv:";
  for (const std::string& line : lines_of(err)) {
    const std::size_t at = line.find(file);
    const std::size_t code = line.rfind('[');
    ASSERT_TRUE(at != std::string::npos && code != std::string::npos && line.back() == ']') << line;
    out.emplace(std::stoull(line.substr(at + file.size())), line.substr(code + 1, line.size() - code - 2));
  }
}

TEST(Killed, LoadGoesOnWhereItEnded) {
  const std::size_t files = (amount("NOAM_PROGRAM_KILLS", 12) + 11) / 12;
  const std::uint64_t start = seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start));
  Random random(start);
  const TweetFile file(4'000);
  std::size_t kills = 0;
  std::size_t told = 0;
  std::size_t i = 0;
  std::chrono::microseconds whole(0);  // a load to its end
  // Where all were quicker than was thought, there is another try.
  for (; (i < files || (kills == 0 && i < files + 10)) && !HasFailure(); ++i) {
    const TemporaryFolder folder;
    const std::string model = (folder.path() / "blog.noam").string();
    const std::string data = (folder.path() / "Tweet.csv").string();
    const std::string store = url(folder.path() / "store");
    write_file(model, microblog_text());
    write_file(data, file.text);
    const std::string strategy = i % 2 == 0 ? "seed003" : "eao";
    const Ended made = noam({"deploy", model, "--store", store, "--strategy", strategy});
    ASSERT_EQ(made.code, 0) << made.err;
    if (i < 2) {
      const std::string other = url(folder.path() / "other");
      ASSERT_EQ(noam({"deploy", model, "--store", other, "--strategy", strategy}).code, 0);
      const auto began = std::chrono::steady_clock::now();
      ASSERT_EQ(noam({"load", model, data, "--store", other}).code, 3);
      whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    }

    const std::size_t before = kills;
    std::multimap<std::size_t, std::string> bad;
    const Texts load{"load", model, data, "--store", store};
    Ended ended;
    // Longer and longer, so that it ends on slow machines, too.
    for (std::size_t attempt = 0;; ++attempt) {
      const auto most = static_cast<std::size_t>(whole.count()) * (20 + attempt) / 20;
      ended = noam_killed_after(load, std::chrono::microseconds(random.between(most / 20, most)));
      // The last line may have been cut off.
      take_bad_lines(ended.err, bad);
      if (ended.code != killed) break;
      ++kills;
    }
    if (kills == before) whole = whole * 4 / 5;
    // Who was killed behind the last commit leaves nothing to do.
    ASSERT_TRUE(ended.code == 3 || ended.code == 0) << ended.code << ended.err;

    const Ended again = noam({"load", model, data, "--store", store, "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    const Json report = Json::parse(again.out)["files"][0];
    EXPECT_EQ(report["end"], "already_loaded");
    EXPECT_EQ(report["skipped_before"], file.good.size());
    EXPECT_EQ(report["bad_before"], file.bad.size());
    EXPECT_EQ(report["lines"], file.lines);
    // Each bad line was told at most once: who was killed between the commit and the telling told nobody.
    for (const auto& [line, code] : bad) {
      ASSERT_TRUE(file.bad.contains(line)) << line;
      EXPECT_EQ(code, file.bad.at(line)) << line;
      EXPECT_EQ(bad.count(line), 1U) << line;
    }
    told += bad.size();

    const Ended exported = noam({"export", model, "--store", store, "--entity", "Tweet"});
    ASSERT_EQ(exported.code, 0) << exported.err;
    EXPECT_TRUE(lines_of(exported.out) == file.good) << "the export is not what was good in the file";
    const Ended verified = noam({"verify", model, "--store", store});
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  }
  std::printf("%zu files: %zu kills, %zu of %zu bad lines told\n", i, kills, told, i * file.bad.size());
  EXPECT_GT(kills, 0U);
}

// --- backup, restore, repair, deploy ---------------------------------------------------------------------------------

// A model and a store with some hundred entries, and what it answers.
class KilledProgram : public ::testing::Test {
 protected:
  KilledProgram() : start_(seed()), random_(start_), model_(model_of(microblog_text())) {
    write_file(model_path(), microblog_text());
  }

  void fill_store(const std::string& design) {
    design_ = design;
    auto opened = open(model_, design_, store().string(), stores::Existing::Refused);
    ASSERT_TRUE(opened) << opened.error().message;
    for (const Json& command : first_commands(random_)) opened->session->answer(command);
    for (int i = 0; i < 600; ++i) opened->session->answer(command_by_chance(random_, random_.below(writer_count)));
    for (const Json& question : all_questions()) answers_.push_back(opened->session->answer(question));
  }

  // That a store is what the one that was filled is.
  void expect_whole(const fs::path& folder) {
    auto opened = open(model_, design_, folder.string());
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(differences(*opened->session), "");
    const std::vector<Json> questions = all_questions();
    for (std::size_t i = 0; i < questions.size(); ++i)
      ASSERT_EQ(opened->session->answer(questions[i]), answers_[i]) << questions[i].dump();
  }

  // Once to its end, to see how long it takes.
  void try_out(const Texts& arguments) {
    const auto began = std::chrono::steady_clock::now();
    const Ended ended = noam(arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
    time_ = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  }

  // Killed at a moment within the time that it takes, which is another whenever the machine is busy.
  bool kill_within(const Texts& arguments) {
    const std::chrono::microseconds moment(random_.below(static_cast<std::size_t>(time_.count())));
    const Ended ended = noam_killed_after(arguments, moment);
    EXPECT_TRUE(ended.code == killed || ended.code == 0) << ended.code << ended.err;
    const bool was_killed = ended.code == killed;
    time_ = was_killed ? time_ * 21 / 20 : time_ * 4 / 5;
    return was_killed;
  }

  // Of a process that was killed.
  void count(bool was_killed, bool there) {
    EXPECT_TRUE(there || was_killed);
    if (!was_killed) return;
    ++kills_;
    ++(there ? whole_ : nothing_);
  }

  [[nodiscard]] std::string model_path() const { return (folder_.path() / "blog.noam").string(); }
  [[nodiscard]] fs::path store() const { return folder_.path() / "store"; }
  [[nodiscard]] fs::path backup() const { return folder_.path() / "backup"; }
  [[nodiscard]] fs::path target() const { return folder_.path() / "target"; }

  // What a killed process left is in nobody's way; but where all are kept, they fill the disk.
  void remove_leftovers() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().filename().string().find(".new-") != std::string::npos) fs::remove_all(entry.path());
  }

  void tell(const char* what) const {
    std::printf("%zu times %s: %zu killed, of these %zu with nothing there, %zu with all there\n", rounds_, what,
                kills_, nothing_, whole_);
    EXPECT_GT(kills_, 0U);
  }

  const std::size_t rounds_ = amount("NOAM_PROGRAM_KILLS", 20) / 4;  // of each command
  const std::uint64_t start_;
  Random random_;
  TemporaryFolder folder_;
  std::shared_ptr<const model::Model> model_;
  std::string design_;
  std::vector<Json> answers_;
  std::chrono::microseconds time_{};
  std::size_t kills_ = 0;
  std::size_t nothing_ = 0;
  std::size_t whole_ = 0;
};

TEST_F(KilledProgram, BackupIsThereOrNot) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store("seed003"));
  const Texts command{"backup", model_path(), "--store", url(store()), "--to", target().string()};
  ASSERT_NO_FATAL_FAILURE(try_out(command));
  for (std::size_t i = 0; i < rounds_ && !HasFailure(); ++i) {
    fs::remove_all(target());
    const bool was_killed = kill_within(command);
    const bool there = fs::exists(target());
    count(was_killed, there);
    if (there) expect_whole(target());
    expect_whole(store());
    remove_leftovers();
    EXPECT_EQ(names_in(folder_.path()),
              there ? Texts({"blog.noam", "store", "target"}) : Texts({"blog.noam", "store"}));
  }
  tell("backup");
}

TEST_F(KilledProgram, RestoredStoreIsThereOrNot) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store("eao"));
  const Ended made = noam({"backup", model_path(), "--store", url(store()), "--to", backup().string()});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto before = contents(backup());
  const Texts command{"restore", model_path(), "--store", url(target()), "--from", backup().string()};
  ASSERT_NO_FATAL_FAILURE(try_out(command));
  for (std::size_t i = 0; i < rounds_ && !HasFailure(); ++i) {
    fs::remove_all(target());
    const bool was_killed = kill_within(command);
    const bool there = fs::exists(target());
    count(was_killed, there);
    if (there) expect_whole(target());
    EXPECT_TRUE(contents(backup()) == before) << "the backup was changed";
    remove_leftovers();
  }
  tell("restore");
}

TEST_F(KilledProgram, RepairLeavesNoWrongAnswer) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  ASSERT_NO_FATAL_FAILURE(fill_store("seed003"));
  const auto run = [&](const char* what) { return Texts{what, model_path(), "--store", url(store())}; };
  const auto break_it = [&] {
    const Ended broken = noam(run("drill"));
    ASSERT_EQ(broken.code, 0) << broken.err;
    // From here on queries do not read it.
    ASSERT_EQ(noam(run("verify")).code, 3);
  };
  ASSERT_NO_FATAL_FAILURE(break_it());
  ASSERT_NO_FATAL_FAILURE(try_out(run("repair")));
  const std::vector<Json> questions = all_questions();
  for (std::size_t i = 0; i < rounds_ && !HasFailure(); ++i) {
    ASSERT_NO_FATAL_FAILURE(break_it());
    const bool was_killed = kill_within(run("repair"));
    std::size_t refused = 0;
    {
      auto opened = open(model_, design_, store().string());
      ASSERT_TRUE(opened) << opened.error().message;
      for (std::size_t q = 0; q < questions.size(); ++q) {
        const Json answer = opened->session->answer(questions[q]);
        const bool is_broken = answer.contains("error") && answer["error"]["code"] == "broken";
        if (is_broken)
          ++refused;
        else
          EXPECT_EQ(answer, answers_[q]) << questions[q].dump();
      }
    }
    count(was_killed, refused == 0);
    ASSERT_EQ(noam(run("repair")).code, 0);
    expect_whole(store());
  }
  tell("repair");
}

TEST_F(KilledProgram, DeployCanBeRepeated) {
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start_));
  const Texts command{"deploy", model_path(), "--store", url(target()), "--strategy", "seed003"};
  const Texts verify{"verify", model_path(), "--store", url(target())};
  ASSERT_NO_FATAL_FAILURE(try_out(command));
  for (std::size_t i = 0; i < rounds_ && !HasFailure(); ++i) {
    fs::remove_all(target());
    const bool was_killed = kill_within(command);
    const Ended verified = noam(verify);
    if (verified.code != 0) {
      EXPECT_EQ(verified.code, 2) << verified.out;
      EXPECT_TRUE(verified.err.starts_with("noam: store `" + target().string() + "` does not exist;") ||
                  verified.err.starts_with("noam: store `" + url(target()) + "` is empty, no design was deployed;"))
          << verified.err;
    }
    count(was_killed, verified.code == 0);
    const Ended again = noam(command);
    ASSERT_EQ(again.code, 0) << again.err;
    const Ended ran = noam({"run", model_path(), "register", "username=ann", "id=1", "--store", url(target())});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_EQ(noam(verify).code, 0);
    remove_leftovers();
  }
  tell("deploy");
}

}  // namespace
}  // namespace noam::tests::faults
