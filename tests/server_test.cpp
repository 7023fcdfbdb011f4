// What comes over a connection, and what goes back.

#include "noam/server/server.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"
#include "tests/http_client.h"

namespace noam::tests {
namespace {

constexpr const char* text = R"(
model notes
entity Note { id: int key  words: text }
query words($id) { select n.words from Note n where n.id = $id }
command write($id, $words) { insert Note { id: $id, words: $words } }
)";

// A memory store whose commits can be held up.
class HeldStore : public ForwardingStore {
 public:
  HeldStore() : ForwardingStore(stores::open_memory_store()) {}

  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    {
      std::unique_lock lock(lock_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !held_; });
      --waiting_;
    }
    return behind_->commit(batch, by);
  }
  void hold(bool held) {
    const std::lock_guard lock(lock_);
    held_ = held;
    changed_.notify_all();
  }
  void wait_for_one() {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool held_ = false;
  int waiting_ = 0;
};

class Served : public testing::Test {
 protected:
  void SetUp() override { start({}); }
  void TearDown() override { stop(); }

  void start(server::ServerOptions options) {
    stop();
    if (!session_) {
      auto session = open_session(model_of(text), "eao", store);
      ASSERT_TRUE(session);
      session_ = std::move(*session);
      service_ = std::make_unique<server::Service>(*session_);
      log_ = std::move(*server::RequestLog::open(""));
    }
    options.port = 0;
    auto listening = server::Server::listen(*service_, *log_, options);
    ASSERT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
    port = server->port();
    running_ = std::thread([this] { server->run(); });
  }
  void stop() {
    if (!running_.joinable()) return;
    server->stop();
    running_.join();
  }

  static std::string request(const std::string& line, const std::string& body = {}, const std::string& more = {}) {
    std::string out = line + " HTTP/1.1\r\nHost: localhost\r\n" + more;
    if (!body.empty())
      out += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    return out + "\r\n" + body;
  }
  static std::string status(const std::string& response) { return response.substr(0, 12); }

  HeldStore store;
  std::unique_ptr<server::Server> server;
  std::uint16_t port = 0;

 private:
  std::unique_ptr<runtime::Session> session_;
  std::unique_ptr<server::Service> service_;
  std::unique_ptr<server::RequestLog> log_;
  std::thread running_;
};

TEST_F(Served, AnswersOneRequestAfterTheOther) {
  HttpClient client(port);
  ASSERT_TRUE(client.say(request("POST /c/write", R"({"id":1,"words":"one"})")));
  EXPECT_TRUE(client.hear_one().ends_with(R"({"outcome":"applied"})"));
  // Two at once.
  client.say(request("GET /q/words?id=1") + request("GET /q/words?id=2"));
  EXPECT_TRUE(client.hear_one().ends_with(R"({"rows":[{"words":"one"}]})"));
  EXPECT_TRUE(client.hear_one().ends_with(R"({"rows":[]})"));
  // In pieces.
  for (const char c : request("GET /q/words?id=1")) client.say({&c, 1});
  EXPECT_TRUE(client.hear_one().ends_with(R"({"rows":[{"words":"one"}]})"));
  // A body in chunks.
  client.say(
      "POST /q/words HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\n{\"id\"\r\n3\r\n:1}\r\n0\r\n\r\n");
  EXPECT_TRUE(client.hear_one().ends_with(R"({"rows":[{"words":"one"}]})"));
  client.say(request("GET /q/words?id=1", "", "Connection: close\r\n"));
  const std::string last = client.hear_all();
  EXPECT_NE(last.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(last.ends_with(R"({"rows":[{"words":"one"}]})"));
}

TEST_F(Served, HasHeadsWithoutBodies) {
  HttpClient client(port);
  client.say(request("HEAD /q/words?id=1") + request("GET /q/words?id=1", "", "Connection: close\r\n"));
  const std::string heard = client.hear_all();
  EXPECT_EQ(heard.find("Content-Length: 11\r\n"), heard.rfind("Content-Length: 11\r\n", 200));
  EXPECT_EQ(heard.find("{"), heard.rfind("{"));
}

TEST_F(Served, InvitesABodyThatWaitsForIt) {
  HttpClient client(port);
  const std::string body = R"({"id":1})";
  client.say(
      "POST /q/words HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n"
      "Content-Length: 8\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say(body);
  EXPECT_EQ(status(client.hear_one()), "HTTP/1.1 200");
}

TEST_F(Served, RefusesWhatIsTooLargeWithoutReadingIt) {
  HttpClient announced(port);
  announced.say(
      "POST /c/write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n");
  EXPECT_EQ(status(announced.hear_one()), "HTTP/1.1 413");
  HttpClient endless(port);
  endless.say(
      "POST /c/write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string piece = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 200 && endless.say(piece); ++i) {
  }
  EXPECT_EQ(status(endless.hear_one()), "HTTP/1.1 413");
  HttpClient header(port);
  header.say("GET /q/words?id=1 HTTP/1.1\r\nX: " + std::string(100'000, 'x'));
  EXPECT_EQ(status(header.hear_one()), "HTTP/1.1 431");
}

TEST_F(Served, RefusesWhatIsNoHttp) {
  for (const std::string wrong :
       {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/7.0\r\n\r\n", "GET / HTTP/1.1\r\nA B: c\r\n\r\n",
        "POST /c/write HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        "POST /c/write HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /c/write HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    SCOPED_TRACE(wrong);
    HttpClient client(port);
    client.say(wrong);
    EXPECT_EQ(status(client.hear_one()), "HTTP/1.1 400");
    EXPECT_EQ(client.hear_all(), "");
  }
}

TEST_F(Served, GivesUpOnWhoIsSlow) {
  server::ServerOptions options;
  options.idle_timeout = std::chrono::seconds(1);
  options.header_timeout = std::chrono::seconds(1);
  options.body_timeout = std::chrono::seconds(1);
  start(options);
  HttpClient silent(port);
  HttpClient slow(port);
  slow.say("GET /q/words?id=1 HTTP/1.1\r\nHost");
  HttpClient slow_body(port);
  slow_body.say("POST /c/write HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{");
  EXPECT_EQ(silent.hear_all(), "");
  EXPECT_EQ(status(slow.hear_one()), "HTTP/1.1 408");
  EXPECT_EQ(status(slow_body.hear_one()), "HTTP/1.1 408");
}

TEST_F(Served, AnswersLinesAsTheyCome) {
  HttpClient client(port);
  client.say(
      "POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto line = [&](const std::string& body) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", body.size());
    client.say(size + body + "\r\n");
  };
  EXPECT_EQ(status(client.hear("\r\n\r\n")), "HTTP/1.1 200");
  line("{\"run\":\"write\",\"params\":{\"id\":1,\"words\":\"one\"}}\n");
  EXPECT_EQ(client.hear("}\n\r\n"), "16\r\n{\"outcome\":\"applied\"}\n\r\n");
  line("{\"run\":\"words\",\"par");
  line("ams\":{\"id\":1}}\r\n");
  EXPECT_EQ(client.hear("}\n\r\n"), "1b\r\n{\"rows\":[{\"words\":\"one\"}]}\n\r\n");
  line("nothing");
  client.say("0\r\n\r\n");
  const std::string rest = client.hear("0\r\n\r\n");
  EXPECT_NE(rest.find("invalid JSON"), std::string::npos);
  EXPECT_TRUE(rest.ends_with("0\r\n\r\n"));
  // The connection goes on.
  client.say(request("GET /q/words?id=1"));
  EXPECT_TRUE(client.hear_one().ends_with(R"({"rows":[{"words":"one"}]})"));
}

TEST_F(Served, DoesNotReadLinesOfWhoDoesNotReadAnswers) {
  HttpClient writer(port);
  writer.say(request("POST /c/write", R"({"id":1,"words":")" + std::string(10'000, 'x') + "\"}"));
  writer.hear_one();
  HttpClient client(port);
  client.take_little();
  client.say(
      "POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000000000\r\n\r\n");
  std::string lines;
  for (int i = 0; i < 1'000; ++i) lines += "{\"run\":\"words\",\"params\":{\"id\":1}}\n";
  // Answers are 300 times as long as questions. What is taken fits into buffers.
  constexpr std::size_t most = std::size_t{64} << 20U;
  EXPECT_LT(client.say_until_full(lines, most), most);
  // Others are served.
  writer.say(request("GET /healthz"));
  EXPECT_EQ(status(writer.hear_one()), "HTTP/1.1 200");
}

TEST_F(Served, FinishesWhatRunsBeforeItEnds) {
  HttpClient idle(port);
  idle.say(request("GET /healthz"));
  idle.hear_one();
  HttpClient client(port);
  store.hold(true);
  client.say(request("POST /c/write", R"({"id":1,"words":"one"})"));
  store.wait_for_one();
  server->stop();
  EXPECT_EQ(idle.hear_all(), "");
  store.hold(false);
  const std::string answer = client.hear_all();
  EXPECT_TRUE(answer.ends_with(R"({"outcome":"applied"})")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  stop();
  EXPECT_FALSE(HttpClient(port).connected());
}

TEST_F(Served, FinishesTheCommandOfAClientThatIsGone) {
  store.hold(true);
  {
    HttpClient client(port);
    client.say(request("POST /c/write", R"({"id":1,"words":"one"})"));
    store.wait_for_one();
  }
  store.hold(false);
  HttpClient other(port);
  for (int i = 0; i < 1'000; ++i) {
    other.say(request("GET /q/words?id=1"));
    if (other.hear_one().ends_with(R"({"rows":[{"words":"one"}]})")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL() << "it was never carried out";
}

TEST_F(Served, ServesManyAtOnce) {
  constexpr int clients = 500;
  std::vector<std::unique_ptr<HttpClient>> all;
  for (int i = 0; i < clients; ++i) all.push_back(std::make_unique<HttpClient>(port));
  for (int i = 0; i < clients; ++i)
    all[static_cast<std::size_t>(i)]->say(
        request("POST /c/write", "{\"id\":" + std::to_string(i) + ",\"words\":\"x\"}"));
  for (const auto& client : all) EXPECT_TRUE(client->hear_one().ends_with(R"({"outcome":"applied"})"));
}

TEST(Listening, SaysWhatIsWrong) {
  auto store = stores::open_memory_store();
  auto session = open_session(model_of(text), "eao", *store);
  ASSERT_TRUE(session);
  server::Service service(**session);
  const auto log = server::RequestLog::open("");
  server::ServerOptions options;
  options.port = 0;
  const auto first = server::Server::listen(service, **log, options);
  ASSERT_TRUE(first);
  options.port = (*first)->port();
  const auto second = server::Server::listen(service, **log, options);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos);
  options.address = "nowhere";
  EXPECT_EQ(server::Server::listen(service, **log, options).error().message, "`nowhere` is not an address");
  EXPECT_FALSE(server::RequestLog::open("/no/such/folder/log"));
}

}  // namespace
}  // namespace noam::tests
