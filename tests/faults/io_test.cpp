// Calls to the file system fail, or the power goes: what was acknowledged is there, what is unknown can be repeated.

#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/compiled.h"
#include "tests/faults/faulty_files.h"
#include "tests/faults/process.h"
#include "tests/faults/told.h"
#include "tests/faults/workload.h"
#include "tests/support.h"

namespace noam::tests::faults {
namespace {

struct Figures {
  std::size_t runs = 0;
  std::size_t acknowledged = 0;
  std::size_t unknown = 0;

  void print(const char* what) const {
    std::printf("%s: %zu runs, %zu commands acknowledged, %zu unknown, %s\n", what, runs, acknowledged, unknown,
                ::testing::Test::HasFailure() ? "something is lost or wrong" : "0 lost");
  }
};

// One store, from its beginning over several sessions, on files that are faulty.
class FaultyStore {
 public:
  FaultyStore(const std::shared_ptr<const model::Model>& model, std::string design, Fault fault, std::uint64_t seed,
              std::size_t table_bytes)
      : model_(model),
        design_(std::move(design)),
        table_bytes_(table_bytes),
        files_(std::make_shared<FaultyFiles>(fault)),
        env_(rocksdb::NewCompositeEnv(files_)),
        random_(seed),
        told_(model) {}

  // Some commands in several sessions, by one thread. After a command whose outcome is unknown the store is opened
  // again.
  void work(std::size_t commands) {
    std::vector<Json> left = first_commands(random_);
    const std::size_t first = left.size();
    while (left.size() < first + commands) left.push_back(command_by_chance(random_, random_.below(writer_count)));
    std::size_t next = 0;
    while (next < left.size() && !files_->power_is_gone()) {
      // An opening may fail once, where the fault is.
      auto opened = open(model_, design_, path(), stores::Existing::Allowed, env_.get(), table_bytes_);
      if (!opened) {
        ASSERT_FALSE(files_->hit().empty()) << opened.error().message;
        ++failed_openings_;
        ASSERT_LE(failed_openings_, 1U) << opened.error().message;
        continue;
      }
      const std::size_t end = std::min(left.size(), next + first);
      for (; next < end; ++next) {
        const Json answer = opened->session->answer(left[next]);
        if (next % 7 == 0) (void)opened->session->answer(request("all_counters"));
        if (!Told::is_known(answer)) {
          ASSERT_FALSE(files_->hit().empty()) << answer.dump();
          ++unknown_;
          ASSERT_LE(unknown_, 1U) << answer.dump();  // of one fault
          // What a failed write has left nobody knows as long as this store is open, though it may be seen.
          const Json again = opened->session->answer(left[next]);
          if (files_->hit().ends_with(".log") && !files_->hit().starts_with("read")) {
            ASSERT_EQ(again.value("outcome", ""), "unknown") << again.dump();
          }
          if (Told::is_known(again)) told_.acknowledge(left[next++], again);
          break;
        }
        told_.acknowledge(left[next], answer);
      }
    }
    // The power is gone, and this one is not answered.
    if (next < left.size()) in_doubt_.push_back(left[next]);
  }

  // Many commands by several threads, until the power goes.
  void work_in_threads(std::size_t calls) {
    auto opened = open(model_, design_, path(), stores::Existing::Allowed, env_.get(), table_bytes_);
    ASSERT_TRUE(opened) << opened.error().message;
    for (const Json& command : first_commands(random_)) told_.acknowledge(command, opened->session->answer(command));
    const std::size_t last = files_->calls() + calls;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (std::size_t writer = 0; writer < writer_count; ++writer) {
      threads.emplace_back([&, writer, seed = random_.next()] {
        Random random(seed);
        while (true) {
          const Json command = command_by_chance(random, writer);
          const Json answer = opened->session->answer(command);
          const std::lock_guard lock(mutex);
          if (!Told::is_known(answer)) {
            in_doubt_.push_back(command);
            return;
          }
          told_.acknowledge(command, answer);
          if (files_->calls() >= last) files_->let_power_go();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // What is there afterwards, on files that are as they should be.
  void check(bool all_that_was_not_synced, Figures& figures) {
    if (files_->power_is_gone()) files_->lose(random_, all_that_was_not_synced);
    const auto good_files = std::make_shared<FaultyFiles>(Fault{});
    const auto good_env = rocksdb::NewCompositeEnv(good_files);
    auto opened = open(model_, design_, path(), stores::Existing::Allowed, good_env.get());
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(differences(*opened->session), "");
    for (const Json& command : in_doubt_) told_.repeat(*opened->session, command);
    told_.check(*opened->session, random_);
    ++figures.runs;
    figures.acknowledged += told_.acknowledged();
    figures.unknown += unknown_ + told_.repeated();
  }

  [[nodiscard]] const FaultyFiles& files() const { return *files_; }

 private:
  [[nodiscard]] std::string path() const { return (folder_.path() / "store").string(); }

  TemporaryFolder folder_;
  std::shared_ptr<const model::Model> model_;
  std::string design_;
  std::size_t table_bytes_;
  std::shared_ptr<FaultyFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
  Random random_;
  Told told_;
  std::vector<Json> in_doubt_;
  std::size_t failed_openings_ = 0;
  std::size_t unknown_ = 0;
};

// RocksDB ends the program where an assertion of its own does not hold; then nobody else would tell what was tried.
std::string tried;
void tell_what_was_tried(int /*signal*/) { (void)!::write(STDERR_FILENO, tried.data(), tried.size()); }

class Files : public ::testing::Test {
 protected:
  void SetUp() override { std::signal(SIGABRT, tell_what_was_tried); }
  void TearDown() override { std::signal(SIGABRT, SIG_DFL); }

  static constexpr std::size_t no_tables = 0;
  static constexpr std::size_t tables = 100;  // most commits are tables of their own, and some are not

  // The fault at the first call, the second, and so on, until one comes to its end before it.
  void at_every_call(Fault::Kind kind, const char* name, std::size_t table_bytes = no_tables, const char* of = "") {
    const std::uint64_t start = seed();
    SCOPED_TRACE("NOAM_SEED=" + std::to_string(start));
    // Of so many calls one: all of them take a while.
    const std::size_t step = amount("NOAM_IO_STEP", *of == 0 ? 53 : 3);
    Figures figures;
    bool done = false;
    for (std::size_t at = 1 + start % step; !done && !HasFailure(); at += step) {
      tried = fmt::format("{}: NOAM_SEED={}, call {}\n", name, start, at);
      FaultyStore store(model_, "seed003", {kind, at, of}, start, table_bytes);
      store.work(20);
      SCOPED_TRACE("call " + std::to_string(at) + ", " + store.files().hit());
      done = store.files().hit().empty();
      store.check(at / step % 2 == 0, figures);
    }
    figures.print(name);
    EXPECT_GT(figures.runs, 5U);
    EXPECT_GT(figures.acknowledged, 0U);
  }

  std::shared_ptr<const model::Model> model_ = model_of(microblog_text());
};

TEST_F(Files, AnyCallMayFail) { at_every_call(Fault::Kind::Fails, "one call fails"); }

TEST_F(Files, AnyCallMayFindTheDiskFull) { at_every_call(Fault::Kind::NoSpace, "the disk is full at one call"); }

TEST_F(Files, PowerMayGoAtAnyCall) { at_every_call(Fault::Kind::PowerGoes, "the power goes at one call"); }

TEST_F(Files, AnyCallOfTablesMayFail) { at_every_call(Fault::Kind::Fails, "one call fails, with tables", tables); }

// RocksDB 7.8 takes a table whose first block can't be read for one without a first key.
TEST_F(Files, AnyReadOfATableMayFail) {
  at_every_call(Fault::Kind::Fails, "one read of a table fails", tables, "read of table-");
}

TEST_F(Files, PowerMayGoAtAnyCallOfTables) {
  at_every_call(Fault::Kind::PowerGoes, "the power goes at one call, with tables", tables);
}

TEST_F(Files, PowerMayGoWhileManyWrite) {
  const std::uint64_t start = seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(start));
  const std::size_t rounds = amount("NOAM_POWER_ROUNDS", 6);
  Random random(start);
  Figures figures;
  for (std::size_t round = 0; round < rounds && !HasFailure(); ++round) {
    tried = fmt::format("the power goes while four write: NOAM_SEED={}, round {}\n", start, round);
    FaultyStore store(model_, round % 2 == 0 ? "seed003" : "eao", {}, start + round,
                      round % 3 == 0 ? tables : no_tables);
    store.work_in_threads(random.between(20, 300));
    store.check(round % 2 == 0, figures);
  }
  figures.print("the power goes while four write");
  EXPECT_GT(figures.unknown, 0U);
}

}  // namespace
}  // namespace noam::tests::faults
