// Requests of HTTP and their responses, without a network.

#include "noam/server/service.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "tests/compiled.h"
#include "tests/failing_store.h"

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

class Http : public testing::Test {
 protected:
  void SetUp() override {
    auto session = open_session(model_of(text), "eao", store);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
    service = std::make_unique<server::Service>(*session_);
  }

  Response get(std::string_view target, std::string_view token = {}, std::string_view host = {}) {
    Request request;
    request.method = "GET";
    request.target = target;
    const std::string authorization = token.empty() ? "" : "Bearer " + std::string(token);
    request.authorization = authorization;
    request.host = host;
    return service->answer(request);
  }
  Response post_as(std::string_view token, std::string_view target, std::string_view body) {
    Request request;
    request.method = "POST";
    request.target = target;
    request.content_type = "application/json";
    const std::string authorization = "bearer " + std::string(token);
    request.authorization = authorization;
    request.body = body;
    return service->answer(request);
  }
  Result<void> allow(const std::string& tokens) {
    NOAM_ASSIGN_OR_RETURN(auto access, server::Access::parse(tokens, session_->model()));
    service->set_access(std::move(access));
    return {};
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

  FailingStore store;
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

std::string digest(const std::string& token) { return server::hexadecimal_digest(token); }

// What is public, and three tokens: r1, w1 and g1.
std::string file_of_tokens() {
  const auto token = [](const char* name, const std::string& text_of, Json may) {
    return Json{{"name", name}, {"sha256", digest(text_of)}, {"may", std::move(may)}};
  };
  return Json{{"public", Json::array({"sum"})},
              {"tokens",
               Json::array({token("reader", "r1", Json::array({"read"})), token("writer", "w1", Json::array({"write"})),
                            token("register", "g1", Json::array({"register", "posts_of"}))})}}
      .dump();
}

TEST_F(Http, AsksForTokens) {
  ASSERT_TRUE(allow(file_of_tokens()));
  const std::string ann = R"({"name":"ann","age":1})";
  EXPECT_EQ(brief(get("/q/sum")), "200");
  const Response needed = get("/q/posts_of?name=ann&n=1");
  EXPECT_EQ(brief(needed), "401 request");
  EXPECT_EQ(header(needed, "WWW-Authenticate"), "Bearer realm=\"noam\"");
  EXPECT_EQ(brief(post("/c/register", ann)), "401 request");
  EXPECT_EQ(brief(get("/q/sum", "r2")), "401 request") << "an unknown token is not as good as none";
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=1", "r1")), "200");
  EXPECT_EQ(brief(post_as("r1", "/c/register", ann)), "403 request");
  EXPECT_EQ(brief(post_as("w1", "/c/register", ann)), "200");
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=1", "w1")), "403 request");
  EXPECT_EQ(brief(get("/q/sum", "w1")), "200") << "what is public needs no role";
  EXPECT_EQ(brief(post_as("g1", "/c/older", R"({"name":"ann"})")), "403 request");
  EXPECT_EQ(brief(get("/q/posts_of?name=ann&n=1", "g1")), "200");
  EXPECT_EQ(brief(get("/healthz")), "200");
  // The statements that the caller may use.
  EXPECT_EQ(Json::parse(get("/openapi.json").body)["paths"].contains("/q/posts_of"), false);
  EXPECT_EQ(Json::parse(get("/openapi.json").body)["paths"].contains("/q/sum"), true);
  EXPECT_EQ(Json::parse(get("/openapi.json", "g1").body)["paths"].contains("/c/register"), true);
  EXPECT_EQ(Json::parse(get("/openapi.json", "g1").body)["paths"].contains("/c/older"), false);
  // Without anything public, nobody without a token learns anything.
  ASSERT_TRUE(allow(R"({"tokens":[]})"));
  for (const char* page : {"/q/sum", "/q/none", "/openapi.json", "/"})
    EXPECT_EQ(brief(get(page)), "401 request") << page;
}

TEST_F(Http, AsksForTokensLineByLine) {
  ASSERT_TRUE(allow(file_of_tokens()));
  Request request;
  request.method = "POST";
  request.target = "/batch";
  request.content_type = "application/x-ndjson";
  request.authorization = "Bearer r1";
  const auto begun = service->begin_batch(request);
  ASSERT_TRUE(std::holds_alternative<server::Service::Batch>(begun));
  const auto& batch = std::get<server::Service::Batch>(begun);
  EXPECT_EQ(service->answer_line(batch, R"({"run":"sum"})"), R"({"rows":[{"ages":0}]})");
  EXPECT_EQ(service->answer_line(batch, R"({"run":"register","params":{"name":"ann","age":1}})"),
            R"({"error":{"code":"request","reason":"`reader` may not use `register`"}})");
  EXPECT_NE(service->answer_line(batch, "[").find("invalid JSON"), std::string::npos);
  // Of a member that is given twice, the last counts, here and where it is run.
  EXPECT_NE(
      service->answer_line(batch, R"({"run":"sum","run":"register","params":{"name":"ann","age":1}})").find("may not"),
      std::string::npos);
  request.authorization = "Bearer r2";
  EXPECT_TRUE(std::holds_alternative<Response>(service->begin_batch(request)));
}

TEST_F(Http, CountsWhatItDoes) {
  post("/c/register", R"({"name":"ann","age":1})");
  post("/c/register", R"({"name":"ann","age":1})");
  get("/q/sum");
  get("/nothing");
  Request request;
  request.method = "POST";
  request.target = "/batch";
  request.content_type = "application/jsonl";
  const auto begun = service->begin_batch(request);
  (void)service->answer_line(std::get<server::Service::Batch>(begun), R"({"run":"sum"})");
  const Response response = get("/metrics");
  EXPECT_EQ(response.status, 200);
  for (const char* line : {"noam_request_seconds_count{statement=\"register\",kind=\"command\"} 2\n",
                           "noam_request_seconds_count{statement=\"sum\",kind=\"query\"} 2\n",
                           "noam_request_seconds_bucket{statement=\"sum\",kind=\"query\",le=\"+Inf\"} 2\n",
                           "noam_not_applied_total{statement=\"register\",code=\"exists\"} 1\n",
                           "noam_other_requests_total{status=\"404\"} 1\n", "noam_copies{state=\"broken\"} 0\n"})
    EXPECT_NE(response.body.find(line), std::string::npos) << line << response.body;
  EXPECT_EQ(response.body.find("ann"), std::string::npos);
  ASSERT_TRUE(allow(file_of_tokens()));
  EXPECT_EQ(brief(get("/metrics")), "401 request");
  EXPECT_EQ(brief(get("/metrics", "r1")), "403 request");
}

TEST_F(Http, RefusesNamesThatItDoesNotHave) {
  service->set_hosts({"localhost", "127.0.0.1", "[::1]", "shop.example"});
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "shop.example"})
    EXPECT_EQ(brief(get("/q/sum", {}, host)), "200") << host;
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "[::2]:80", "shop.example.", "127.0.0.1.nip.io"})
    EXPECT_EQ(brief(get("/q/sum", {}, host)), "421 request") << host;
  EXPECT_EQ(brief(get("/healthz", {}, "10.0.0.7")), "200");
}

TEST_F(Http, SaysWhatIsWrongWithTokens) {
  const std::string one = R"({"name":"a","sha256":")" + digest("x") + "\"";
  for (const auto& [text_of, wrong] : std::vector<std::pair<std::string, std::string>>{
           {"", "no valid JSON"},
           {"[]", "must be an object"},
           {R"({"token":[]})", "unknown member `token`"},
           {R"({"public":"sum"})", "public: must be an array"},
           {R"({"public":["admin"]})", "public: `admin` and `metrics` need a token"},
           {R"({"public":["sums"]})", "public: `sums` is no role (read, write, admin, metrics) and no statement"},
           {R"({"tokens":{}})", "tokens: must be an array"},
           {R"({"tokens":[{}]})", "each has a `name`"},
           {R"({"tokens":[{"name":"a","sha256":"12","may":[]}]})", "token `a`: `sha256` must be 64"},
           {R"({"tokens":[)" + one + "}]}", "token `a`: `may` is missing"},
           {R"({"tokens":[)" + one + R"(,"may":[7]}]})", "token `a`: must be an array of roles"},
           {R"({"tokens":[)" + one + R"(,"may":[]},)" + one + R"(,"may":[]}]})", "there are two of this name"}}) {
    const auto allowed = allow(text_of);
    ASSERT_FALSE(allowed) << text_of;
    EXPECT_NE(allowed.error().message.find(wrong), std::string::npos) << allowed.error().message;
  }
  EXPECT_FALSE(server::Access::read("/no/such/file", *model_of(text)));
}

}  // namespace
}  // namespace noam::tests
