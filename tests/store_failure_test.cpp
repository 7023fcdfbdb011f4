// What a caller is told if the store fails: whether anything was written.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "noam/model/command_id.h"
#include "noam/runtime/session.h"
#include "tests/compiled.h"
#include "tests/failing_store.h"

namespace noam::tests {
namespace {

constexpr const char* text = R"(
model notes
entity Note { id: int key  words: text }
command write($id, $words) { insert Note { id: $id, words: $words } }
)";

class StoreFailure : public testing::Test {
 protected:
  void SetUp() override {
    auto session = runtime::Session::open(program_of(text, "eao"), store);
    ASSERT_TRUE(session);
    session_ = std::move(*session);
  }

  Json write(bool with_id) {
    Json request{{"run", "write"}, {"params", {{"id", ++last_}, {"words", "some"}}}};
    if (with_id) request["id"] = model::make_command_id(runtime::system_time(), 1, last_).text();
    return session_->answer(request);
  }

  FailingStore store;

 private:
  std::unique_ptr<runtime::Session> session_;
  int last_ = 0;
};

TEST_F(StoreFailure, BeforeACommitIsARefusal) {
  store.on_read = Error{"no right to read"};
  EXPECT_EQ(write(false), (Json{{"outcome", "refused"}, {"code", "store"}, {"reason", "no right to read"}}));
  store.on_read.reset();
  store.on_commit = Error{"no right to write", stores::store_code};
  EXPECT_EQ(write(false), (Json{{"outcome", "refused"}, {"code", "store"}, {"reason", "no right to write"}}));
}

TEST_F(StoreFailure, IsUnknownWhereTheCommandMayBeARepeat) {
  store.on_read = Error{"no right to read"};
  EXPECT_EQ(write(true)["outcome"], "unknown");
  store.on_read.reset();
  store.on_commit = Error{"no right to write", stores::store_code};
  EXPECT_EQ(write(true)["outcome"], "unknown");
}

TEST_F(StoreFailure, OfACommitIsUnknown) {
  store.on_commit = Error{"the line is dead"};
  EXPECT_EQ(write(false)["outcome"], "unknown");
  EXPECT_EQ(write(true)["outcome"], "unknown");
}

}  // namespace
}  // namespace noam::tests
