// Requests of HTTP and their responses, without a network.

#include "noam/server/service.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/forwarding_store.h"

namespace noam::tests {
namespace {

using server::Request;
using server::Response;

constexpr const char* text = R"(
model posts
entity User { name: text key  age: int? }
entity Post { author: User owner  number: int key  tags: set<text>  body: text }
query posts_of($name, $n) { select p.number, p.body from Post p where p.author = $name order by p.number limit $n }
query with_bodies($bodies: list<text>) { select p.number from Post p where p.body in $bodies }
query by_cursor($cursor) { select p.number from Post p where p.body = $cursor order by p.number limit 1 }
query sum { select sum(u.age) as ages from User u }
command register($name, $age) { insert User { name: $name, age: $age } }
command post($author, $number, $tags, $body) { insert Post { author: $author, number: $number, tags: $tags, body: $body } }
command older($name) { update User[$name] { age: age + 1 } }
)";

class FailingReads : public ForwardingStore {
 public:
  FailingReads() : ForwardingStore(stores::open_memory_store()) {}
  std::optional<Error> on_read;
  std::optional<Error> on_commit;

  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at, stores::Deadline by,
                    stores::Answers& out) override {
    if (on_read) return *on_read;
    return behind_->read(requests, at, by, out);
  }
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    if (on_commit) return *on_commit;
    return behind_->commit(batch, by);
  }
};

class Http : public testing::Test {
 protected:
  void SetUp() override {
    auto session = open_session(model_of(text), "eao", store);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
    service = std::make_unique<server::Service>(*session_);
  }

  Response get(std::string_view target) {
    Request request;
    request.method = "GET";
    request.target = target;
    return service->answer(request);
  }
  Response post(std::string_view target, std::string_view body, std::string_view id = {},
                std::string_view type = "application/json") {
    Request request;
    request.method = "POST";
    request.target = target;
    request.body = body;
    request.content_type = type;
    request.idempotency_key = id;
    return service->answer(request);
  }
  static std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers)
      if (key == name) return value;
    return "";
  }
  // The status, and the code if there is one.
  static std::string brief(const Response& response) {
    const Json body = Json::parse(response.body);
    if (!body.contains("code")) return std::to_string(response.status);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(body["status"].get<std::int64_t>(), response.status);
    EXPECT_FALSE(body["detail"].get<std::string>().empty());
    return std::to_string(response.status) + " " + body["code"].get<std::string>();
  }
  static std::string detail(const Response& response) {
    return Json::parse(response.body)["detail"].get<std::string>();
  }

  FailingReads store;
  std::unique_ptr<server::Service> service;

 private:
  std::unique_ptr<runtime::Session> session_;
};

TEST_F(Http, RunsQueriesAndCommands) {
  const Response registered = post("/c/register", R"({"name":"ann","age":null})");
  EXPECT_EQ(registered.status, 200);
  EXPECT_EQ(registered.body, R"({"outcome":"applied"})");
  EXPECT_TRUE(model::parse_command_id(header(registered, "Idempotency-Key")));
  EXPECT_EQ(brief(post("/c/post", R"({"author":"ann","number":1,"tags":["a","b"],"body":""})")), "200");
  EXPECT_EQ(get("/q/posts_of?name=ann&n=10").body, R"({"rows":[{"number":1,"body":""}]})");
  EXPECT_EQ(post("/q/posts_of", R"({"name":"ann","n":10})").body, R"({"rows":[{"number":1,"body":""}]})");
  EXPECT_EQ(get("/q/with_bodies?bodies=%5B%22b%22%2C%22%22%5D").body, R"({"rows":[{"number":1}]})");
  EXPECT_EQ(get("/q/by_cursor?cursor=").body, R"({"rows":[{"number":1}]})");
}

TEST_F(Http, TurnsPages) {
  post("/c/register", R"({"name":"a b&c","age":1})");
  for (int i = 0; i < 3; ++i)
    post("/c/post", Json{{"author", "a b&c"}, {"number", i}, {"tags", Json::array()}, {"body", "x"}}.dump());
  std::string target = "/q/posts_of?name=a+b%26c&n=2";
  const Response first = get(target);
  const std::string link = header(first, "Link");
  ASSERT_TRUE(link.starts_with("</q/posts_of?name=a%20b%26c&n=2&cursor=")) << link;
  ASSERT_TRUE(link.ends_with(">; rel=\"next\"")) << link;
  const Response second = get(std::string_view(link).substr(1, link.find('>') - 1));
  EXPECT_EQ(second.body, R"({"rows":[{"number":2,"body":"x"}]})");
  EXPECT_EQ(header(second, "Link"), "");
  // One of its parameters has the name of the cursor.
  const Response other = get("/q/by_cursor?cursor=x");
  const std::string next = header(other, "Link");
  ASSERT_TRUE(next.starts_with("</q/by_cursor?cursor=x&_cursor=")) << next;
  EXPECT_EQ(get(std::string_view(next).substr(1, next.find('>') - 1)).body.substr(0, 21), R"({"rows":[{"number":1})");
  // The same by POST.
  const Response posted = post("/q/posts_of", R"({"name":"a b&c","n":2})");
  const std::string more = header(posted, "Link");
  EXPECT_EQ(post(std::string_view(more).substr(1, more.find('>') - 1), R"({"name":"a b&c","n":2})").body,
            R"({"rows":[{"number":2,"body":"x"}]})");
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=2&cursor=AAAA")), "400 request");
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=2&cursor=")), "400 request");
}

TEST_F(Http, RepeatsACommandOnce) {
  const std::string id = model::make_command_id(runtime::system_time(), 1, 2).text();
  post("/c/register", R"({"name":"ann","age":1})");
  for (int i = 0; i < 3; ++i) {
    const Response done = post("/c/older", R"({"name":"ann"})", "\"" + id + "\"");
    EXPECT_EQ(done.status, 200);
    EXPECT_EQ(header(done, "Idempotency-Key"), id);
  }
  EXPECT_EQ(get("/q/sum").body, R"({"rows":[{"ages":2}]})");
  EXPECT_EQ(brief(post("/c/older", R"({"name":"ben"})", id)), "422 value");
  EXPECT_EQ(brief(post("/c/register", R"({"name":"ben","age":1})", id)), "422 value");
  EXPECT_EQ(brief(post("/c/older", R"({"name":"ann"})", "7")), "400 request");
  const std::string old = model::make_command_id(runtime::system_time() - 4'000'000, 1, 2).text();
  EXPECT_EQ(brief(post("/c/older", R"({"name":"ann"})", old)), "410 expired");
}

TEST_F(Http, HasAStatusForEachCode) {
  post("/c/register", R"({"name":"ann","age":9223372036854775807})");
  EXPECT_EQ(brief(post("/c/register", R"({"name":"ann","age":1})")), "409 exists");
  EXPECT_EQ(brief(post("/c/older", R"({"name":"zoe"})")), "409 absent");
  EXPECT_EQ(brief(post("/c/post", R"({"author":"zoe","number":1,"tags":[],"body":""})")), "409 owner");
  EXPECT_EQ(brief(post("/c/older", R"({"name":"ann"})")), "422 overflow");
  EXPECT_EQ(brief(post("/c/register", R"({"age":1})")), "422 required");
  EXPECT_EQ(brief(post("/c/register", R"({"name":7,"age":1})")), "422 value");
  EXPECT_EQ(brief(post("/c/register", R"({"name":"","age":1})")), "422 key");
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=many")), "422 value");
  EXPECT_EQ(brief(get("/q/posts_of?n=1")), "422 required");
  post("/c/register", R"({"name":"ben","age":1})");
  EXPECT_EQ(brief(get("/q/sum")), "422 overflow");
}

TEST_F(Http, RefusesWhatIsNoRequest) {
  EXPECT_EQ(brief(get("/q/post_of")), "404 request");
  EXPECT_NE(detail(get("/q/post_of")).find("did you mean `posts_of`?"), std::string::npos);
  EXPECT_NE(detail(get("/q/register")).find("use POST /c/register"), std::string::npos);
  EXPECT_NE(detail(post("/c/sum", "{}")).find("use GET /q/sum"), std::string::npos);
  for (const char* page : {"/", "/q", "/q/", "/q/sum/", "/c/register/x", "/other"})
    EXPECT_EQ(brief(get(page)), "404 request") << page;
  const Response wrong = get("/c/register");
  EXPECT_EQ(brief(wrong), "405 request");
  EXPECT_EQ(header(wrong, "Allow"), "POST");
  EXPECT_EQ(brief(get("/q/sum?x=1")), "400 request");
  EXPECT_EQ(brief(get("/q/posts_of?name=a&name=b&n=1")), "400 request");
  EXPECT_EQ(brief(get("/q/posts_of?name=%")), "400 request");
  EXPECT_EQ(brief(post("/c/register", "{")), "400 request");
  EXPECT_EQ(brief(post("/c/register", "[]")), "400 request");
  EXPECT_EQ(brief(post("/c/register", R"({"name":"x","nme":1})")), "422 value");
  EXPECT_EQ(brief(post("/c/register?name=x", "{}")), "400 request");
  EXPECT_EQ(brief(post("/q/sum?x=1", "{}")), "400 request");
  // A form of another site can send these without asking.
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""})
    EXPECT_EQ(brief(post("/c/register", R"({"name":"x","age":1})", {}, type)), "415 request") << type;
  EXPECT_EQ(brief(post("/c/register", R"({"name":"x","age":1})", {}, "application/json; charset=utf-8")), "200");
}

TEST_F(Http, TellsFailuresOfTheStore) {
  store.on_read = Error{"the disk is gone"};
  const Response query = get("/q/posts_of?name=ann&n=1");
  EXPECT_EQ(brief(query), "503 store");
  EXPECT_EQ(header(query, "Retry-After"), "1");
  store.on_read = Error{"deadline passed", stores::timeout_code};
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=1")), "504 timeout");
  store.on_read.reset();
  store.on_commit = Error{"the disk is gone"};
  const Response command = post("/c/register", R"({"name":"x","age":1})");
  EXPECT_EQ(brief(command), "503 unknown");
  EXPECT_EQ(header(command, "Retry-After"), "1");
  EXPECT_TRUE(model::parse_command_id(header(command, "Idempotency-Key")));
}

}  // namespace
}  // namespace noam::tests
