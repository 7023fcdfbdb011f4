// What a statement asks of a database of blocks.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/runtime/session.h"
#include "noam/stores/blocks/layer.h"
#include "tests/blocks/simulated_blocks.h"
#include "tests/compiled.h"

namespace noam::tests::blocks {
namespace {

constexpr const char* text = R"(
model bank
entity Account { id: int key  owner: text  balance: int }
query account($id) { select a.owner, a.balance from Account a where a.id = $id }
command open($id, $owner) { insert Account { id: $id, owner: $owner, balance: 100 } }
command withdraw($id, $amount) {
  require Account[$id].balance >= $amount
  update Account[$id] { balance: balance - $amount }
}
command transfer($from, $to, $amount) {
  require Account[$from].balance >= $amount
  update Account[$from] { balance: balance - $amount }
  update Account[$to] { balance: balance + $amount }
}
)";

class RoundTrips : public testing::Test {
 protected:
  RoundTrips() { open(runtime::Reads::Exact); }

  void open(runtime::Reads reads) {
    session_.reset();
    store_ = stores::blocks::open_block_layer(database_.connect(), surroundings());
    runtime::SessionOptions options;
    options.reads = reads;
    auto session = open_session(model_of(text), "eao", *store_, options);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }

  void run(const std::string& command, const runtime::Arguments& arguments) {
    const runtime::Outcome outcome = session_->command(command, arguments);
    ASSERT_EQ(outcome.kind, runtime::OutcomeKind::Applied) << outcome.reason;
  }

  struct Asked {
    std::uint64_t reads = 0;
    std::uint64_t linearizable_reads = 0;
    std::uint64_t writes = 0;

    bool operator==(const Asked&) const = default;
  };
  // Since it was called before.
  Asked asked() {
    const Asked now{database_.reads(), database_.linearizable_reads(), database_.writes()};
    const Asked out{now.reads - before_.reads, now.linearizable_reads - before_.linearizable_reads,
                    now.writes - before_.writes};
    before_ = now;
    return out;
  }

 private:
  // What is left for later is done at once.
  static stores::blocks::Surroundings surroundings() {
    stores::blocks::Surroundings out = stores::blocks::this_machine();
    out.later = [](const std::function<void()>& work) { work(); };
    return out;
  }

  Database database_;
  std::unique_ptr<stores::Store> store_;
  std::unique_ptr<runtime::Session> session_;
  Asked before_;

 protected:
  runtime::Session& session() { return *session_; }
};

TEST_F(RoundTrips, OfACommandOnOneBlockAreOneReadAndOneWrite) {
  run("open", {{"id", 1}, {"owner", "mary"}});
  (void)asked();
  run("withdraw", {{"id", 1}, {"amount", 10}});
  EXPECT_EQ(asked(), (Asked{1, 0, 1}));
}

TEST_F(RoundTrips, OfATransferAreOneReadOfEachBlockAndTheWritesOfTheProtocol) {
  run("open", {{"id", 1}, {"owner", "mary"}});
  run("open", {{"id", 2}, {"owner", "joe"}});
  (void)asked();
  run("transfer", {{"from", 1}, {"to", 2}, {"amount", 10}});
  // Hold, commit, finish and forget.
  EXPECT_EQ(asked(), (Asked{2, 0, 4}));
}

TEST_F(RoundTrips, OfAQueryOfOneBlockAreOneRead) {
  run("open", {{"id", 1}, {"owner", "mary"}});
  (void)asked();
  ASSERT_TRUE(session().query("account", {{"id", 1}}));
  EXPECT_EQ(asked(), (Asked{1, 1, 0}));
  open(runtime::Reads::Fast);
  (void)asked();
  ASSERT_TRUE(session().query("account", {{"id", 1}}));
  EXPECT_EQ(asked(), (Asked{1, 0, 0}));
}

}  // namespace
}  // namespace noam::tests::blocks
