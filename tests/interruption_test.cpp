#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"

// Statements that are asked to end before they have.
namespace noam::tests {

namespace {

constexpr const char* text = R"(
model notes
entity Note { id: int key  words: text }
entity Reader { name: text key  read: set<Note> }
query all { select n.id, n.words from Note n }
query of($id) { select n.words from Note n where n.id = $id }
query pairs { select a.id as a, b.id as b from Note a, Note b }
command write($id, $words) { insert Note { id: $id, words: $words } }
command rewrite($words) { update Note n where n.id > 0 { words: $words } }
)";

// A memory store that does something before each call.
class WatchedStore : public ForwardingStore {
 public:
  WatchedStore() : ForwardingStore(stores::open_memory_store()) {}

  std::function<void()> before_read;
  std::function<void()> before_commit;
  std::size_t commits = 0;

  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    if (before_read) before_read();
    return behind_->read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (before_commit) before_commit();
    ++commits;
    return behind_->commit(batch, by);
  }
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* at,
                                stores::Deadline by) override {
    if (before_read) before_read();
    return behind_->scan(family, after, at, by);
  }
};

class Interruption : public testing::Test {
 protected:
  Interruption() {
    runtime::SessionOptions options;
    options.interrupted = &interrupted_;
    auto opened = open_session(model_of(text), "eao", store_, options);
    EXPECT_TRUE(opened) << opened.error().message;
    session_ = std::move(*opened);
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(run("write", {{"id", i}, {"words", "old"}}), R"({"outcome":"applied"})");
  }

  std::string run(const std::string& statement, const Json& params, const std::string& id = {}) {
    Json request{{"run", statement}, {"params", params}};
    if (!id.empty()) request["id"] = id;
    return session_->answer(request).dump();
  }
  std::size_t with_words(const std::string& words) {
    const Json answer = Json::parse(run("all", Json::object()));
    std::size_t count = 0;
    for (const Json& row : answer["rows"]) count += row["words"] == words ? 1 : 0;
    return count;
  }
  std::string new_id() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return model::make_command_id(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), 1, ++ids_).text();
  }

  std::atomic<bool> interrupted_ = false;
  WatchedStore store_;
  std::unique_ptr<runtime::Session> session_;
  std::uint64_t ids_ = 0;
};

}  // namespace

TEST_F(Interruption, EndsAQueryAndNotTheNext) {
  interrupted_ = true;
  const std::string expected = R"({"error":{"code":"interrupted","reason":"interrupted"}})";
  EXPECT_EQ(run("all", Json::object()), expected);
  EXPECT_EQ(run("of", {{"id", 1}}), expected);
  interrupted_ = false;
  EXPECT_EQ(run("of", {{"id", 1}}), R"({"rows":[{"words":"old"}]})");
}

TEST_F(Interruption, EndsAQueryBetweenTwoReads) {
  std::size_t reads = 0;
  store_.before_read = [&] {
    ++reads;
    interrupted_ = true;
  };
  EXPECT_EQ(run("pairs", Json::object()), R"({"error":{"code":"interrupted","reason":"interrupted"}})");
  EXPECT_EQ(reads, 1U);
}

TEST_F(Interruption, RefusesACommandThatWasNotSent) {
  const std::size_t commits = store_.commits;
  interrupted_ = true;
  EXPECT_EQ(run("write", {{"id", 6}, {"words", "new"}}),
            R"({"outcome":"refused","code":"interrupted","reason":"interrupted"})");
  EXPECT_EQ(run("rewrite", {{"words", "new"}}), R"({"outcome":"refused","code":"interrupted","reason":"interrupted"})");
  EXPECT_EQ(store_.commits, commits);
  interrupted_ = false;
  EXPECT_EQ(with_words("old"), 5U);
  EXPECT_EQ(with_words("new"), 0U);
}

TEST_F(Interruption, DoesNotReachACommandThatWasSent) {
  store_.before_commit = [&] { interrupted_ = true; };
  EXPECT_EQ(run("write", {{"id", 6}, {"words", "new"}}), R"({"outcome":"applied"})");
  interrupted_ = false;
  EXPECT_EQ(with_words("new"), 1U);
}

TEST_F(Interruption, TellsARepeatWhatBecameOfTheFirst) {
  const std::string id = new_id();
  EXPECT_EQ(run("write", {{"id", 6}, {"words", "new"}}, id), R"({"outcome":"applied"})");
  interrupted_ = true;
  EXPECT_EQ(run("write", {{"id", 6}, {"words", "new"}}, id), R"({"outcome":"applied"})");
}

TEST_F(Interruption, OfABulkChangeIsMadeGoodByARepeat) {
  const std::string id = new_id();
  std::size_t commits = 0;
  store_.before_commit = [&] {
    if (++commits == 3) interrupted_ = true;  // the note, and two instances
  };
  EXPECT_EQ(run("rewrite", {{"words", "new"}}, id),
            R"({"outcome":"unknown","reason":"interrupted after 2 of 5 instances were changed"})");
  interrupted_ = false;
  EXPECT_EQ(with_words("new"), 2U);
  EXPECT_EQ(run("rewrite", {{"words", "new"}}, id), R"({"outcome":"applied","count":5})");
  EXPECT_EQ(with_words("new"), 5U);
}

}  // namespace noam::tests
