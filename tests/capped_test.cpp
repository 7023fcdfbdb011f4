#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/runtime/session.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"

// Copies with a limit: what is read for them, and how long they become.
namespace noam::tests {
namespace {

using model::Datum;

constexpr const char* text = R"(
model capped

entity User { name: text key }
entity Note {
  id: int key
  author: User inverse notes
  at: int
  body: text
}

query newest($name) { select n.id, n.body from User u, u.notes n where u.name = $name order by n.at desc limit 2 }

command join($name) { insert User { name: $name } }
command write($id, $author, $at, $body) { insert Note { id: $id, author: $author, at: $at, body: $body } }
command correct($id, $body) { update Note[$id] { body: $body } }
command move($id, $at) { update Note[$id] { at: $at } }
command forget($id) { delete Note[$id] }

design capped {
  collection users of User u by name { entry ε: *  copy notes [n.at desc, n.id desc]: n.body from u.notes n limit 3 }
  collection notes of Note n by id { entry ε: * }
  collection by_author of Note n by n.author as author { copy [n.id] }
}
)";

// Tells which families are read.
class WatchedStore final : public ForwardingStore {
 public:
  WatchedStore() : ForwardingStore(stores::open_memory_store()) {}

  std::vector<std::uint32_t> read_families;

  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    for (const stores::ReadRequest& request : requests) read_families.push_back(request.family);
    return behind_->read(requests, at, by, out);
  }
};

class Capped : public ::testing::Test {
 protected:
  Capped() {
    auto session = open_session(model_of(text), "capped", store_);
    EXPECT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
    const auto& families = session_->program().design.families;
    while (!families[notes_].limit) ++notes_;
    run("join", {"ann"});
  }

  void run(std::string_view command, std::vector<Datum> arguments) {
    const auto outcome = session_->command(*session_->prepare_command(command), std::move(arguments));
    ASSERT_EQ(outcome.kind, runtime::OutcomeKind::Applied) << outcome.reason;
  }

  void write(std::int64_t id, std::int64_t at) { run("write", {id, "ann", at, "note"}); }

  std::vector<std::int64_t> newest() {
    std::vector<std::int64_t> out;
    const auto rows = session_->query(*session_->prepare_query("newest"), {"ann"});
    EXPECT_TRUE(rows);
    for (const auto& row : rows->rows) out.push_back(row[0].as_int());
    return out;
  }

  // The times of what is held, in its order.
  std::vector<std::int64_t> held() {
    std::vector<std::int64_t> out;
    const auto page = store_.scan(notes_, {}, nullptr, stores::no_deadline);
    for (const auto& item : page->items) out.push_back(item.entry.key[0].as_int());
    return out;
  }

  void expect_right() {
    const auto found = session_->verify();
    ASSERT_TRUE(found);
    for (const auto& difference : found->differences) ADD_FAILURE() << difference.what;
  }

  WatchedStore store_;
  std::unique_ptr<runtime::Session> session_;
  std::uint32_t notes_ = 0;  // the family
};

TEST_F(Capped, GrowsALittleBeyondItsLimit) {
  std::size_t most = 0;
  for (std::int64_t i = 0; i < 500; ++i) {
    write(i, i);
    most = std::max(most, held().size());
  }
  EXPECT_GE(held().size(), 3U);
  EXPECT_LT(most, 100U) << "every eighth addition cuts";
  EXPECT_GT(most, 4U) << "not every addition does";
  EXPECT_EQ(newest(), (std::vector<std::int64_t>{499, 498}));
  expect_right();
}

TEST_F(Capped, TakesWhatIsNewWithoutALook) {
  write(1, 1);
  store_.read_families.clear();
  for (std::int64_t i = 2; i < 6; ++i) write(i, i);
  std::size_t looks = 0;
  for (const std::uint32_t family : store_.read_families) looks += family == notes_ ? 1 : 0;
  EXPECT_LE(looks, 1U) << "to cut it";
}

TEST_F(Capped, IsFilledUpWhereOneOfTheFirstGoes) {
  for (std::int64_t i = 0; i < 100; ++i) write(i, i);
  for (std::int64_t i = 99; i > 90; --i) {
    run("forget", {i});
    EXPECT_EQ(newest(), (std::vector<std::int64_t>{i - 1, i - 2}));
    expect_right();
  }
}

TEST_F(Capped, LeavesAloneWhatWentBehindLongAgo) {
  for (std::int64_t i = 0; i < 100; ++i) write(i, i);
  const auto before = held();
  ASSERT_GT(before.back(), 0);
  run("correct", {std::int64_t{0}, "better"});
  run("forget", {std::int64_t{1}});
  EXPECT_EQ(held(), before);
  expect_right();
}

TEST_F(Capped, FollowsWhatMoves) {
  for (std::int64_t i = 0; i < 100; ++i) write(i, i);
  run("move", {std::int64_t{5}, std::int64_t{1'000}});  // from behind to the front
  EXPECT_EQ(newest(), (std::vector<std::int64_t>{5, 99}));
  expect_right();
  run("move", {std::int64_t{5}, std::int64_t{-1}});  // and back
  EXPECT_EQ(newest(), (std::vector<std::int64_t>{99, 98}));
  run("correct", {std::int64_t{99}, "better"});
  expect_right();
}

}  // namespace
}  // namespace noam::tests
