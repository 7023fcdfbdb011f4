// Several processes on one store: what one finds out about a copy, and who does the work of all.

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "noam/runtime/notes.h"
#include "noam/runtime/session.h"
#include "noam/runtime/tasks.h"
#include "noam/stores/blocks/layer.h"
#include "tests/blocks/simulated_blocks.h"
#include "tests/compiled.h"

namespace noam::tests {
namespace {

const char* const ledger = R"(
model ledger
entity Account { name: text key  group: text  balance: int }
query of_group($g) { select a.name, a.balance from Account a where a.group = $g }
query richest refresh every 10 minutes { select a.name, a.balance as n from Account a order by n desc limit 3 }
command open($name, $group) { insert Account { name: $name, group: $group, balance: 10 } }
command close_group($g) { require (select count(*) from Account a where a.group = $g) > 0  insert Account { name: $g, group: "closed", balance: 0 } }
design by_group {
  collection accounts of Account a by name { entry ε: * }
  collection groups of Account a by a.group as group { copy [a.name]: a.balance }
}
)";

class SeveralSessions : public testing::Test {
 protected:
  // A process: a connection, and a session on it.
  struct Process {
    std::int64_t now = 1'780'000'000'000;
    std::unique_ptr<stores::Store> store;
    std::unique_ptr<runtime::SimulatedScheduler> scheduler;
    std::unique_ptr<runtime::Session> session;
  };

  std::unique_ptr<Process> start(bool sweeping = false) {
    auto out = std::make_unique<Process>();
    out->store = stores::blocks::open_block_layer(database_.connect());
    runtime::SessionOptions options;
    if (sweeping) {
      out->scheduler = std::make_unique<runtime::SimulatedScheduler>(out->now);
      options.scheduler = out->scheduler.get();
    } else {
      options.clock = [process = out.get()] { return process->now; };
    }
    auto session = open_session(model_, "by_group", *out->store, std::move(options));
    EXPECT_TRUE(session) << session.error().message;
    if (session) out->session = std::move(*session);
    return out;
  }

  static std::string run(Process& process, const std::string& name, const std::string& params) {
    return process.session->answer_line(R"({"run": ")" + name + R"(", "params": )" + params + "}");
  }

  // An entry of the copy that belongs to nobody.
  void damage(Process& process) const {
    const design::Design& design = process.session->program().design;
    for (std::uint32_t f = 0; f < design.families.size(); ++f) {
      const std::uint32_t collection = design.families[f].collection;
      if (design.collections[collection].name != "groups") continue;
      const auto done = process.store->commit({{}, {stores::Put{{{collection, {"north"}}, f, {"nobody"}}, {5}}}},
                                              stores::no_deadline);
      EXPECT_TRUE(done && *done == stores::Outcome::Applied);
    }
  }

  const ModelPointer model_ = model_of(ledger);
  blocks::Database database_;
};

TEST_F(SeveralSessions, LearnThatACopyIsBrokenWithinFiveSeconds) {
  const auto one = start();
  const auto other = start();
  ASSERT_NE(run(*one, "open", R"({"name": "ann", "group": "north"})").find("applied"), std::string::npos);
  damage(*one);
  ASSERT_EQ(one->session->verify()->differences.size(), 1U);
  EXPECT_NE(run(*one, "of_group", R"({"g": "north"})").find("broken"), std::string::npos);
  // The other one does not know yet, and a query of its may read the copy.
  EXPECT_EQ(run(*other, "of_group", R"({"g": "north"})").find("broken"), std::string::npos);
  other->now += 5'000;
  EXPECT_NE(run(*other, "of_group", R"({"g": "north"})").find("broken"), std::string::npos);

  ASSERT_EQ(one->session->repair()->differences.size(), 1U);
  other->now += 5'000;
  EXPECT_EQ(run(*other, "of_group", R"({"g": "north"})").find("broken"), std::string::npos);
}

// However short the time: the commit looks whether the copy that it has read is as it was thought to be.
TEST_F(SeveralSessions, CommitNothingThatReliesOnABrokenCopy) {
  const auto one = start();
  const auto other = start();
  ASSERT_NE(run(*one, "open", R"({"name": "ann", "group": "north"})").find("applied"), std::string::npos);
  damage(*one);
  ASSERT_EQ(one->session->verify()->differences.size(), 1U);
  EXPECT_NE(run(*other, "close_group", R"({"g": "north"})").find(R"("code":"broken")"), std::string::npos);
  ASSERT_TRUE(one->session->repair());
  EXPECT_NE(run(*other, "close_group", R"({"g": "north"})").find("broken"), std::string::npos) << "for two seconds";
  other->now += 5'000;
  EXPECT_NE(run(*other, "close_group", R"({"g": "north"})").find("applied"), std::string::npos);
}

TEST_F(SeveralSessions, RefreshOnceForAll) {
  const auto one = start(true);
  const auto other = start(true);
  one->session->start_sweeping();
  other->session->start_sweeping();
  for (int minutes = 0; minutes < 60; ++minutes) {
    one->scheduler->advance_by(60'000);
    other->scheduler->advance_by(60'000);
  }
  const auto leases = [&](Process& process, const std::string& name) {
    return process.session->read_note("lease/" + name)->value_or("");
  };
  // Who was first has it, and renews it.
  EXPECT_EQ(leases(*one, "sweep"), leases(*other, "sweep"));
  EXPECT_NE(leases(*one, "sweep"), "");
  EXPECT_NE(leases(*one, "refresh/richest"), "");
}

TEST_F(SeveralSessions, TakeTheWorkOfAProcessThatIsGone) {
  auto one = start(true);
  const auto other = start(true);
  one->session->start_sweeping();
  one->scheduler->advance_by(60'000);
  const std::string before = *other->session->read_note("lease/sweep").value();
  one.reset();
  other->session->start_sweeping();
  for (int minutes = 0; minutes < 10; ++minutes) other->scheduler->advance_by(60'000);
  const std::string after = *other->session->read_note("lease/sweep").value();
  EXPECT_NE(before.substr(0, before.find(' ')), after.substr(0, after.find(' ')));
}

}  // namespace
}  // namespace noam::tests
