#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/command_id.h"
#include "noam/model/scalars.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/reference/reference.h"
#include "tests/support.h"

// Wrong requests: each gets an answer that names what is wrong with it, changes nothing, and the next one is taken. The
// reference evaluator, which has no store and so no limit of one, answers with the same codes.
namespace noam::tests {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
const std::int64_t noon = *model::parse_timestamp("2026-06-01T12:00:00Z");

std::string id_at(std::int64_t time) { return model::make_command_id(time, 7, 7).text(); }

// A request that is wrong, what is answered, and a word of the reason.
struct Wrong {
  std::string line;
  std::string answer;  // `error CODE`, `refused CODE`
  std::string mentions;
  bool of_store = false;  // it is the store that refuses it
};

struct Case {
  std::string model;                // a path in the project
  std::vector<std::string> before;  // requests that make something to be broken
  std::vector<Wrong> wrong;
  std::string good;  // a command that can be applied afterwards, as it could have been before
};

std::string run(const std::string& name, const std::string& params) {
  return R"({"run":")" + name + R"(","params":)" + params + "}";
}

std::string brief(const Json& answer) {
  if (answer.contains("error")) return "error " + answer["error"]["code"].get<std::string>();
  if (answer.contains("rows")) return "rows";
  const std::string outcome = answer["outcome"].get<std::string>();
  return outcome == "refused" ? "refused " + answer["code"].get<std::string>() : outcome;
}

std::string reason(const Json& answer) {
  return (answer.contains("error") ? answer["error"] : answer).value("reason", std::string());
}

std::string shown(const std::string& line) { return line.substr(0, 200); }

// Everything in a store.
using Contents = std::vector<std::pair<stores::Key, stores::Entry>>;
Contents contents(stores::Store& store, const design::Design& design) {
  Contents all;
  for (std::uint32_t family = 0; family < design.families.size(); ++family) {
    std::string after;
    do {
      const auto page = store.scan(family, after, nullptr, stores::no_deadline);
      EXPECT_TRUE(page);
      if (!page) return all;
      for (const auto& item : page->items) all.emplace_back(item.block, item.entry);
      after = page->next;
    } while (!after.empty());
  }
  return all;
}

void expect_refused(const Case& one) {
  const auto model = model_of_file(one.model);
  for (const char* strategy : {"eao", "etf"}) {
    SCOPED_TRACE(one.model + " under " + strategy);
    const auto store = stores::open_memory_store({.max_entry_bytes = mebibyte});
    runtime::SessionOptions options;
    options.clock = [] { return noon; };
    const auto opened = open_session(model, strategy, *store, options);
    ASSERT_TRUE(opened) << opened.error().message;
    runtime::Session& session = **opened;
    reference::Reference reference(*model);
    reference.set_time(noon);
    for (const std::string& line : one.before) {
      EXPECT_EQ(brief(Json::parse(session.answer_line(line))), "applied") << shown(line);
      EXPECT_EQ(brief(Json::parse(reference.answer_line(line))), "applied") << shown(line);
    }
    const Contents before = contents(*store, session.program().design);
    const Json kept = reference.dump();
    EXPECT_FALSE(before.empty());
    for (const Wrong& wrong : one.wrong) {
      const Json answer = Json::parse(session.answer_line(wrong.line));
      EXPECT_EQ(brief(answer), wrong.answer) << shown(wrong.line) << "\n" << shown(answer.dump());
      EXPECT_NE(reason(answer).find(wrong.mentions), std::string::npos) << shown(wrong.line) << "\n" << reason(answer);
      EXPECT_LT(reason(answer).size(), 300U) << shown(wrong.line);
      EXPECT_EQ(contents(*store, session.program().design), before) << shown(wrong.line);
      if (wrong.of_store) continue;
      EXPECT_EQ(brief(Json::parse(reference.answer_line(wrong.line))), wrong.answer)
          << "reference: " << shown(wrong.line);
      EXPECT_EQ(reference.dump(), kept) << shown(wrong.line);
    }
    const auto verified = session.verify();
    ASSERT_TRUE(verified);
    EXPECT_TRUE(verified->differences.empty());
    EXPECT_EQ(brief(Json::parse(session.answer_line(one.good))), "applied");
    EXPECT_NE(contents(*store, session.program().design), before);
  }
}

}  // namespace

TEST(BadInput, OfTheGame) {
  const std::string player = R"({"username":"eve","first_name":"Eve","last_name":"E"})";
  expect_refused(
      {"examples/game/game.noam",
       {run("new_player", R"({"username":"mary","first_name":"Mary","last_name":"W"})"),
        run("start_game", R"({"id":"g1","first":"mary","second":"rick"})"),
        run("add_round", R"({"id":"g1","round":{"moves":"e4","spell":"rain"}})")},
       {
           // Lines that are no requests.
           {"", "error request", "byte 1"},
           {"new_player", "error request", "JSON"},
           {"[]", "error request", "object"},
           {"{\"run\":\"game\"", "error request", "byte 14"},
           {run("game", R"({"id":"g1"})") + run("game", R"({"id":"g1"})"), "error request", "byte"},
           {run("game", R"({"id":"g1"})") + std::string(1, '\0'), "error request", "NUL"},
           {std::string("\0", 1), "error request", "NUL"},
           {"{\"run\":\"game\",\"params\":{\"id\":\"g\xff\"}}", "error request", "byte 32"},
           {"{\"run\":\"game\",\"params\":{\"id\":\"\xed\xa0\x80\"}}", "error request", "byte"},
           {run("game", R"({"id":"\ud800"})"), "error request", "byte"},
           {run("game", R"({"id":"\udc00x"})"), "error request", "byte"},
           {std::string(100'000, '['), "error request", "200 deep"},
           {run("add_round", R"({"id":"g1","round":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
            "error request", "200 deep"},
           {run("add_round", R"({"id":"g1","round":)" + std::string(300, '{')), "error request", "byte"},
           // Members of a request.
           {"{}", "error request", "`run`"},
           {R"({"run":7})", "error request", "`run`"},
           {R"({"run":"game","run":null})", "error request", "`run`"},
           {R"({"run":"gaem","params":{"id":"g1"}})", "error request", "`gaem`"},
           {R"({"run":"game","params":[1]})", "error request", "`params`"},
           {R"({"run":"game","params":null})", "error request", "`params`"},
           {R"({"run":"game","params":{"id":"g1"},"parms":{}})", "error request", "`parms`"},
           {R"({"run":"game","params":{"id":"g1"},"id":")" + id_at(noon) + "\"}", "error request", "`id`"},
           {R"({"run":"win","params":{"username":"mary"},"id":"mary"})", "error request", "`id`"},
           {R"({"run":"win","params":{"username":"mary"},"id":7})", "error request", "`id`"},
           {R"({"run":"win","params":{"username":"mary"},"id":"ffffffff-ffff-7000-8000-000000000000"})",
            "error request", "9999"},
           // Names as long as a line may be are not repeated.
           {run(std::string(mebibyte, 'x'), "{}"), "error request", "xxx…"},
           {run("game", "{\"" + std::string(mebibyte, 'x') + "\":1}"), "error request", "xxx…"},
           {run("win", "{\"" + std::string(mebibyte, 'x') + "\":1}"), "refused value", "xxx…"},
           {run("win", R"({"username":")" + std::string(mebibyte, 'x') + "\"}"), "refused absent", "xxx…"},
           {run("add_round", R"({"id":"g1","round":{"moves":"m",")" + std::string(mebibyte, 'x') + "\":1}}"),
            "refused value", "xxx…"},
           {run("add_round", R"({"id":"g1","round":")" + std::string(mebibyte, 'x') + "\"}"), "refused value", "xxx…"},
           {R"({"run":"win","params":{"username":"mary"},"cursor":"x"})", "error request", "`cursor`"},
           {R"({"run":"game","params":{"id":"g1"},"cursor":"WyJnYW1lIl0="})", "error request", "`cursor`"},
           // Parameters.
           {run("game", R"({"id":"g1","ID":1})"), "error request", "`ID`"},
           {run("game", "{}"), "error required", "`id`"},
           {run("game", R"({"id":null})"), "error required", "id"},
           {run("game", R"({"id":1})"), "error value", "id"},
           {run("game", R"({"id":["g1"]})"), "error value", "id"},
           {run("game", R"({"id":"a\u0000"})"), "error value", "id"},
           {run("new_player", R"({"username":"eve","first_name":"Eve"})"), "refused required", "`last_name`"},
           {run("new_player", R"({"username":"eve","first_name":null,"last_name":"E"})"), "refused required",
            "first_name"},
           {run("new_player", R"({"username":"eve","first_name":true,"last_name":"E"})"), "refused value",
            "first_name"},
           {run("new_player", R"({"username":"eve","first_name":"Eve","last_name":"E","score":1})"), "refused value",
            "`score`"},
           {run("new_player", R"({"username":"","first_name":"Eve","last_name":"E"})"), "refused key", "username"},
           {run("new_player",
                R"({"username":")" + std::string(1'025, 'x') + R"(","first_name":"Eve","last_name":"E"})"),
            "refused key", "1025 bytes"},
           {run("new_player", R"({"username":"mary","first_name":"Eve","last_name":"E"})"), "refused exists",
            "Player \"mary\""},
           {run("start_game", R"({"id":"g2","first":"","second":"rick"})"), "refused key", "first_player"},
           {run("start_game", R"({"id":"g2","first":"mary","second":")" + std::string(2'000, 'y') + "\"}"),
            "refused key", "second_player"},
           {run("win", R"({"username":"nobody"})"), "refused absent", "Player \"nobody\""},
           {run("add_round", R"({"id":"g2","round":{"moves":"e4"}})"), "refused absent", "Game \"g2\""},
           {run("add_round", R"({"id":"g1","round":{"spell":"rain"}})"), "refused required", "round.moves"},
           {run("add_round", R"({"id":"g1","round":{"moves":"e4","colour":"red"}})"), "refused value", "`colour`"},
           {run("add_round", R"({"id":"g1","round":"e4"})"), "refused value", "round"},
           {run("add_round", R"({"id":"g1","round":{"moves":["e4"]}})"), "refused value", "round.moves"},
           {run("add_round_checked", R"({"id":"g1","round":{"moves":"e4","spell":"rain"}})"), "refused require",
            "$round.spell) = 0` does not hold"},
           {run("comment_round", R"({"id":"g1","position":1,"comments":"!"})"), "refused position",
            "`rounds[$position]"},
           {run("comment_round", R"({"id":"g1","position":-2,"comments":"!"})"), "refused position", "list position"},
           {run("comment_round", R"({"id":"g1","position":9223372036854775807,"comments":"!"})"), "refused position",
            "list position"},
           {run("comment_round", R"({"id":"g1","position":-9223372036854775808,"comments":"!"})"), "refused position",
            "list position"},
           {run("comment_round", R"({"id":"g1","position":0.0,"comments":"!"})"), "refused value", "position"},
           {run("comment_round", R"({"id":"g1","position":99999999999999999999,"comments":"!"})"), "refused value",
            "position"},
           {run("add_round", R"({"id":"g1","round":{"moves":")" + std::string(mebibyte + 1, 'x') + "\"}}"),
            "refused limit", "1048576", true},
           // A repeat, and one that comes too late.
           {R"({"run":"new_player","params":)" + player + R"(,"id":")" + id_at(noon - 3'600'001) + "\"}",
            "refused expired", "hour"},
           {R"({"run":"new_player","params":{},"id":")" + id_at(noon - 3'600'001) + "\"}", "refused expired", "hour"},
       },
       run("new_player", player)});
}

TEST(BadInput, OfTheShortener) {
  const std::string visit = R"("at":"2026-06-01T11:00:00Z","ip":"10.0.0.1")";
  expect_refused(
      {"examples/shortener/shortener.noam",
       {run("shorten", R"({"short":"noam","long":"https://example.org/"})"),
        run("visit", R"({"short":"noam",)" + visit + "}")},
       {
           {run("shorten", R"({"short":"ninechars","long":"x"})"), "refused value", "short"},
           {run("shorten", R"({"short":"noam","long":"x"})"), "refused exists", "Url \"noam\""},
           {run("shorten", R"({"short":"","long":"x"})"), "refused key", "short"},
           {run("shorten", R"({"short":"a","long":")" + std::string(mebibyte + 1, 'x') + "\"}"), "refused limit",
            "1048576", true},
           {run("redirect", R"({"short":"nobody","long":"x"})"), "refused absent", "Url \"nobody\""},
           {run("redirect", R"({"short":"noam"})"), "refused required", "`long`"},
           {run("visit", R"({"short":"nobody",)" + visit + "}"), "refused owner", "Url \"nobody\""},
           {run("visit", R"({"short":"noam",)" + visit + R"(,"country":"DEU"})"), "refused value", "country"},
           {run("visit", R"({"short":"noam","at":"2026-06-01T11:00:00Z","ip":"10.0.0.256"})"), "refused value", "ip"},
           {run("visit", R"({"short":"noam","at":"2026-06-01T11:00:00Z","ip":"10.0.0.1/8"})"), "refused value", "ip"},
           {run("visit", R"({"short":"noam","at":"2026-06-01T11:00:00Z","ip":"fe80::1%eth0"})"), "refused value", "ip"},
           {run("visit", R"({"short":"noam","at":"2026-06-01 11:00","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"2026-02-29T11:00:00Z","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"2026-06-01T11:00:00.0001Z","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"0000-12-31T23:59:59Z","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":1780311600000,"ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"2026-06-30T23:59:60Z","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"9999-12-31T23:59:59-01:00","ip":"::1"})"), "refused value", "at"},
           {run("visit", R"({"short":"noam","at":"2026-06-01T11:00:00+24:00","ip":"::1"})"), "refused value", "at"},
           {run("visits_by_hour", R"({"short":true})"), "error value", "short"},
           {run("hours_since", R"({"short":"noam"})"), "error required", "`since`"},
           {run("hours_since", R"({"short":"noam","since":"yesterday"})"), "error value", "since"},
       },
       run("visit", R"({"short":"noam",)" + visit + R"(,"country":"DE"})")});
}

TEST(BadInput, OfTheMicroblog) {
  const std::string tweet = R"("author":"ann","at":"2026-06-01T11:00:00Z","content":"x","language":"en")";
  const std::string again = id_at(noon);
  expect_refused(
      {"examples/microblog/microblog.noam",
       {run("register", R"({"username":"ann","id":1})"),
        R"({"run":"register","params":{"username":"ben","id":2},"id":")" + again + "\"}",
        run("follow", R"({"follower":"ann","followed":"ben"})"), run("post", R"({"id":1,)" + tweet + "}")},
       {
           {run("register", R"({"username":"cat","id":1.5})"), "refused value", "id"},
           {run("register", R"({"username":"cat","id":"3"})"), "refused value", "id"},
           {run("register", R"({"username":"cat","id":1e400})"), "error request", "1e400"},
           {run("register", R"({"username":"cat","id":NaN})"), "error request", "byte"},
           {run("register", R"({"username":"cat","id":9223372036854775808})"), "refused value", "id"},
           {run("register", R"({"username":"cat","id":-9223372036854775809})"), "refused value", "id"},
           {run("register", R"({"username":"cat","id":1,"id":"2"})"), "refused value", "id"},
           {run("post", R"({"id":1,)" + tweet + "}"), "refused exists", "Tweet 1"},
           {run("post", R"({"id":2,"author":"","at":"2026-06-01T11:00:00Z","content":"x","language":"en"})"),
            "refused key", "author"},
           {run("post", R"({"id":2,"author":"ann","at":"2026-06-01T11:00:00Z","content":"x","language":"english"})"),
            "refused value", "language"},
           {run("post", R"({"id":2,"author":"ann","at":"2026-06-01T11:00:00Z","content":null,"language":"en"})"),
            "refused required", "content"},
           {run("follow", R"({"follower":"nobody","followed":"ben"})"), "refused absent", "User \"nobody\""},
           {run("follow", R"({"follower":"ann","followed":""})"), "refused key", "follows"},
           {run("follow", R"({"follower":"ann","followed":["ben"]})"), "refused value", "followed"},
           {run("like", R"({"username":"ann","tweet":"1"})"), "refused value", "tweet"},
           {run("tweet", R"({"id":"1"})"), "error value", "id"},
           {run("accounts_series", R"({"from":"2026-06-01T00:00:00Z"})"), "error required", "`to`"},
           // Cursors of nothing, of a query without pages, of a refreshed one.
           {R"({"run":"newest","params":{"username":"ann"},"cursor":"x"})", "error request", "`cursor`"},
           {R"({"run":"newest","params":{"username":"ann"},"cursor":""})", "error request", "`cursor`"},
           {R"({"run":"newest","params":{"username":"ann"},"cursor":["x"]})", "error request", "`cursor`"},
           {R"({"run":"newest","params":{"username":"ann"},"cursor":"WyJuZXdlc3QiLDEsMSwxXQ=="})", "error request",
            "`cursor`"},
           {R"({"run":"posts_of","params":{"author":"ann"},"cursor":"x"})", "error request", "`cursor`"},
           {R"({"run":"top_accounts","cursor":"x"})", "error request", "`cursor`"},
           {run("top_accounts", R"({"n":1})"), "error request", "`n`"},
           // The id of a command that was applied, with other parameters, with another command, with a wrong value.
           {R"({"run":"register","params":{"username":"cat","id":3},"id":")" + again + "\"}", "refused value",
            "other parameters"},
           {R"({"run":"follow","params":{"follower":"ann","followed":"ben"},"id":")" + again + "\"}", "refused value",
            "another command"},
           {R"({"run":"follow","params":{"follower":5,"followed":"ben"},"id":")" + again + "\"}", "refused value",
            "follower"},
       },
       run("register", R"({"username":"cat","id":3})")});
}

TEST(BadInput, OfTheEventLog) {
  const std::string event = R"("time":"2026-06-01T11:00:00Z","event_type":"click")";
  expect_refused(
      {"examples/eventlog/eventlog.noam",
       {run("log", R"({"time":"2026-06-01T11:00:00Z","event_type":"click","data":{"x":1}})"),
        run("register", R"({"email":"ann@example.org","tags":["a","b"]})")},
       {
           {run("log", "{" + event + "}"), "refused required", "`data`"},
           {run("log", "{" + event + R"(,"data":null})"), "refused required", "data"},
           {run("log", "{" + event + R"(,"data":{"n":18446744073709551616}})"), "refused value", "data.n"},
           {run("log", "{" + event + R"(,"data":[1,[-9223372036854775809]]})"), "refused value", "data[1][0]"},
           {run("log", "{" + event + R"(,"data":{"n":1e999}})"), "error request", "1e999"},
           {run("log", "{" + event + R"(,"data":Infinity})"), "error request", "byte"},
           {run("log", "{" + event + R"(,"data":"\ud83d"})"), "error request", "byte"},
           {run("log", "{" + event + R"(,"data":"\u0000","id":"x"})"), "refused value", "`id`"},
           {run("log", "{" + event + R"(,"data":")" + std::string(mebibyte + 1, 'x') + "\"}"), "refused limit",
            "1048576", true},
           {run("latest_events", R"({"hour":"2026-06-01","event_type":"click"})"), "error value", "hour"},
           {run("register", R"({"email":"ben@example.org","tags":"a"})"), "refused value", "tags"},
           {run("register", R"({"email":"ben@example.org","tags":["a",null]})"), "refused required", "tags[1]"},
           {run("register", R"({"email":"ben@example.org","tags":[["a"]]})"), "refused value", "tags[0]"},
           {run("register", R"({"email":"ann@example.org","tags":[]})"), "refused exists", "ann@example.org"},
           {run("login", R"({"email":"ann@example.org","device":"phone","login":{"at":"2026-06-01T11:00:00Z"}})"),
            "refused required", "login.ip"},
           {run("login",
                R"({"email":"ann@example.org","device":null,"login":{"at":"2026-06-01T11:00:00Z","ip":"::1"}})"),
            "refused required", "device"},
           {run("login", R"({"email":"ann@example.org","device":"phone","login":[1,2]})"), "refused value", "login"},
           {run("prefer", R"({"email":"nobody","name":"theme","setting":"dark"})"), "refused absent", "nobody"},
           {run("prefer", R"({"email":"ann@example.org","name":"theme","setting":{"a":1}})"), "refused value",
            "setting"},
           {run("add_animal", R"({"name":"","species":"s","genus":"g","family":"f"})"), "refused key", "name"},
           {run("events_between",
                R"({"event_type":"click","from":"2026-06-01T00:00:00Z","to":"2026-06-31T00:00:00Z"})"),
            "error value", "to"},
       },
       run("log", "{" + event + R"(,"data":{"n":18446744073709551615,"f":1e300}})")});
}

TEST(BadInput, OfTheAuctions) {
  const std::string user = R"("firstname":"A","lastname":"B","nickname":"ab","password":"p","email":"e")";
  const std::string region = R"("region":"00000000-0000-4000-8000-000000000001")";
  const std::string item = R"("item":"00000000-0000-4000-8000-000000000002")";
  expect_refused(
      {"examples/rubis/rubis.noam",
       {run("register_user", "{" + user + R"(,"date":"2026-06-01",)" + region + "}")},
       {
           {run("register_user", "{" + user + R"(,"date":"2026-02-30",)" + region + "}"), "refused value", "date"},
           {run("register_user", "{" + user + R"(,"date":"2026-6-1",)" + region + "}"), "refused value", "date"},
           {run("register_user", "{" + user + R"(,"date":"10000-01-01",)" + region + "}"), "refused value", "date"},
           {run("register_user", "{" + user + R"(,"date":20605,)" + region + "}"), "refused value", "date"},
           {run("register_user", "{" + user + R"(,"date":"2026-06-01","region":"europe"})"), "refused value", "region"},
           {run("register_user",
                "{" + user + R"(,"date":"2026-06-01","region":"00000000-0000-4000-8000-00000000000"})"),
            "refused value", "region"},
           {run("register_user",
                "{" + user + R"(,"date":"2026-06-01","region":"{00000000-0000-4000-8000-000000000001}"})"),
            "refused value", "region"},
           {run("register_user", "{" + user + R"(,"date":"2026-06-01"})"), "refused required", "`region`"},
           {run("set_item_bidding", "{" + item + R"(,"nb_of_bids":1,"max_bid":"1.5"})"), "refused value", "max_bid"},
           {run("set_item_bidding", "{" + item + R"(,"nb_of_bids":1,"max_bid":"NaN"})"), "refused value", "max_bid"},
           {run("set_item_bidding", "{" + item + R"(,"nb_of_bids":1,"max_bid":-1e309})"), "error request", "-1e309"},
           {run("set_item_bidding", "{" + item + R"(,"nb_of_bids":1e0,"max_bid":1})"), "refused value", "nb_of_bids"},
           {run("set_item_bidding", "{" + item + R"(,"nb_of_bids":1,"max_bid":1})"), "refused absent",
            "Item \"00000000-0000-4000-8000-000000000002\""},
           {run("items_in_category", R"({"category":"00000000-0000-4000-8000-000000000003","date":"today"})"),
            "error value", "date"},
           {run("items_in_category", R"({"category":3,"date":"2026-06-01"})"), "error value", "category"},
           {run("all_regions", R"({"region":1})"), "error request", "`region`"},
       },
       run("register_user", "{" + user + R"(,"date":"2026-06-01",)" + region + "}")});
}

TEST(BadInput, OfEveryType) {
  std::string amounts = "[1";
  for (int i = 0; i < 1'000; ++i) amounts += ",1";
  amounts += "]";
  const auto put = [](const std::string& field) { return run("put_thing", R"({"id":"a",)" + field + "}"); };
  expect_refused(
      {"tests/models/types.noam",
       {put(R"("number":9223372036854775807)"), run("make_place", R"({"town":"x","number":1})")},
       {
           {put(R"("yes":1)"), "refused value", "yes"},
           {put(R"("yes":"true")"), "refused value", "yes"},
           {put(R"("number":true)"), "refused value", "number"},
           {put(R"("number":13)"), "refused require", "`number != 13 or"},
           {put(R"("ratio":"0.5")"), "refused value", "ratio"},
           {put(R"("price":0.5)"), "refused value", "price"},
           {put(R"("price":"1e101")"), "refused value", "price"},
           {put(R"("price":"12345678901234567890123456789012345")"), "refused value", "price"},
           {put(R"("price":"")"), "refused value", "price"},
           {put(R"("price":"NaN")"), "refused value", "price"},
           {put(R"("short":"four")"), "refused value", "short"},
           {put(R"("state":"lost")"), "refused value", "state"},
           {put(R"("bits":"AA=")"), "refused value", "bits"},
           {put(R"("bits":"AB==")"), "refused value", "bits"},
           {put(R"("token":"0")"), "refused value", "token"},
           {put(R"("event":"00000000-0000-4000-8000-000000000000")"), "refused value", "event"},
           {put(R"("other":"")"), "refused key", "other"},
           {put(R"("other":")" + std::string(41, 'x') + "\""), "refused value", "other"},
           {put(R"("place":["x"])"), "refused value", "place"},
           {put(R"("place":{"town":"x","number":1})"), "refused value", "place"},
           {put(R"("place":["x",null])"), "refused required", "place.number"},
           {put(R"("place":["",1])"), "refused key", "place"},
           {put(R"("place":[")" + std::string(1'017, 'x') + "\",1]"), "refused key", "1025 bytes"},
           {put(R"("point":{"x":1,"y":"2"})"), "refused value", "point.y"},
           {put(R"("point":{"x":1,"label":"longer"})"), "refused value", "point.label"},
           {put(R"("name":"\u0000")"), "refused value", "name"},
           {put(R"("name":")" + std::string(mebibyte + 1, 'x') + "\""), "refused limit", "1048576", true},
           {run("make", R"({"id":")" + std::string(41, 'x') + "\"}"), "refused value", "id"},
           {run("double", R"({"id":"a"})"), "refused overflow", "number: "},
           {run("fill", R"({"id":"a","numbers":[1,"2"],"points":[],"tags":[],"near":[],"prices":[],"visits":[]})"),
            "refused value", "numbers[1]"},
           {run("fill", R"({"id":"a","numbers":[],"points":[],"tags":[],"near":[["x"]],"prices":[],"visits":[]})"),
            "refused value", "near[0]"},
           {run("fill", R"({"id":"a","numbers":[],"points":[],"tags":[],"near":[],"prices":{"k":"one"},"visits":[]})"),
            "refused value", "prices"},
           {run("fill", R"({"id":"a","numbers":[],"points":[],"tags":[],"near":[],"prices":[["k"]],"visits":[]})"),
            "refused value", "prices[0]"},
           {run("fill", R"({"id":"a","numbers":[],"points":[],"tags":[],"near":[],"prices":[],"visits":{"x":1}})"),
            "refused value", "visits"},
           {run("fill", R"({"id":"a","numbers":[],"points":[],"tags":null,"near":[],"prices":[],"visits":[]})"),
            "refused required", "tags"},
           {run("enter", R"({"id":"a","at":"2026-06-01T11:00:00Z","amounts":)" + amounts + "}"), "refused limit",
            "`$amounts` has 1001 elements"},
           {run("enter", R"({"id":"b","at":"2026-06-01T11:00:00Z","amounts":[1]})"), "refused owner", "Thing \"b\""},
           {run("set_position", R"({"id":"a","position":0,"number":1})"), "refused position", "`numbers[$position]`"},
           {run("drop_some", R"({"tag":"x","n":-1})"), "refused value", "n"},
           {run("first_things", R"({"n":-1})"), "error value", "n"},
           {run("first_things", R"({"n":-9223372036854775808})"), "error value", "n"},
           {run("first_things", R"({"n":1.0})"), "error value", "n"},
           {run("find", R"({"state":"lost"})"), "error value", "state"},
           {run("any_of", R"({"ids":["a",5]})"), "error value", "ids[1]"},
           {R"({"run":"largest","cursor":"x"})", "error request", "`cursor`"},
           {R"({"run":"things","cursor":")" + std::string(100'000, 'A') + "\"}", "error request", "`cursor`"},
       },
       run("enter",
           R"({"id":"a","at":"2026-06-01T11:00:00Z","amounts":)" + amounts.substr(0, amounts.size() - 3) + "]}")});
}

// --- Cursors ---------------------------------------------------------------------------------------------------------

namespace {

// A session of a model on a memory store, under eao.
struct Opened {
  explicit Opened(const std::string& path, runtime::SessionOptions options = {})
      : store(stores::open_memory_store()),
        session(std::move(*open_session(model_of_file(path), "eao", *store, std::move(options)))) {}

  Json answer(const std::string& line) const { return Json::parse(session->answer_line(line)); }

  std::unique_ptr<stores::Store> store;
  std::unique_ptr<runtime::Session> session;
};

}  // namespace

TEST(BadInput, ACursorIsGoodForItsQueryAndParametersAlone) {
  const Opened opened("examples/microblog/microblog.noam");
  for (const char* name : {"ann", "ben", "cat"})
    ASSERT_EQ(brief(opened.answer(run("register", R"({"username":")" + std::string(name) + R"(","id":1})"))),
              "applied");
  for (const char* name : {"ann", "cat"})
    ASSERT_EQ(brief(opened.answer(run("follow", R"({"follower":")" + std::string(name) + R"(","followed":"ben"})"))),
              "applied");
  for (int i = 0; i < 60; ++i)
    ASSERT_EQ(brief(opened.answer(run("post", R"({"author":"ben","content":"x","language":"en","id":)" +
                                                  std::to_string(i) + R"(,"at":"2026-06-01T11:00:00Z"})"))),
              "applied");
  const auto page = [&](const std::string& query, const std::string& username, const std::string& cursor) {
    return opened.answer(Json{{"run", query}, {"params", {{"username", username}}}, {"cursor", cursor}}.dump());
  };
  const Json first = opened.answer(run("newest", R"({"username":"ann"})"));
  const std::string cursor = first["cursor"].get<std::string>();
  EXPECT_EQ(page("newest", "ann", cursor)["rows"].size(), 25U);
  EXPECT_EQ(brief(page("newest", "cat", cursor)), "error request") << "of other parameters";
  EXPECT_EQ(brief(page("most_liked", "ann", cursor)), "error request") << "of another query";
  EXPECT_EQ(brief(page("numbers", "ann", cursor)), "error request") << "it has no pages";
  EXPECT_EQ(brief(opened.answer(Json{{"run", "top_accounts"}, {"cursor", cursor}}.dump())), "error request");
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    std::string mangled = cursor;
    mangled[i] = mangled[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(brief(page("newest", "ann", mangled)), "error request") << i;
    EXPECT_EQ(brief(page("newest", "ann", cursor.substr(0, i))), "error request") << i;
  }
}

TEST(BadInput, PagesMayBeOfDifferentLength) {
  const Opened opened("tests/models/types.noam");
  for (const char* id : {"a", "b", "c", "d"})
    ASSERT_EQ(brief(opened.answer(run("make", R"({"id":")" + std::string(id) + "\"}"))), "applied");
  const std::string cursor = opened.answer(run("first_things", R"({"n":1})"))["cursor"].get<std::string>();
  EXPECT_EQ(opened.answer(R"({"run":"first_things","params":{"n":2},"cursor":")" + cursor + "\"}")["rows"].dump(),
            R"([{"id":"c"},{"id":"b"}])");
}

// Whether a limit inside would be reached or not.
TEST(BadInput, ALimitIsNeverNegativeWhereverItStands) {
  const ModelPointer model = model_of(R"(model limits
entity A { id: int key }
entity B { id: int key   a: A inverse bs }
query nested($n: int) { select a.id, (select b.id from a.bs b order by b.id limit $n) as bs from A a }
query paged($n: int) { select a.id from A a order by a.id limit $n }
query optional($n: int?) { select a.id from A a order by a.id limit $n }
command few($n: int) { require (select count(*) from A a limit $n) < 9   insert A { id: 1 } }
command drop($n: int) { delete A a where a.id > 0 limit $n }
)");
  const auto store = stores::open_memory_store();
  const auto session = open_session(model, "eao", *store);
  ASSERT_TRUE(session);
  reference::Reference reference(*model);
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {run("nested", R"({"n":-1})"), "error value"},
           {run("paged", R"({"n":-1})"), "error value"},
           {R"({"run":"paged","params":{"n":-1},"cursor":"x"})", "error value"},
           {run("optional", R"({"n":-1})"), "error value"},
           {run("optional", R"({"n":null})"), "rows"},
           {run("few", R"({"n":-1})"), "refused value"},
           {run("drop", R"({"n":-1})"), "refused value"},
           {run("nested", R"({"n":0})"), "rows"},
           {run("drop", R"({"n":9223372036854775807})"), "applied"},
       }) {
    const Json answer = Json::parse((*session)->answer_line(line));
    EXPECT_EQ(brief(answer), expected) << line;
    if (answer.contains("error")) {
      EXPECT_EQ(reason(answer), "n: a limit must not be negative");
    }
    EXPECT_EQ(brief(Json::parse(reference.answer_line(line))), expected) << "reference: " << line;
  }
  EXPECT_FALSE((*session)->query("nested", {{"n", -1}}));
}

// --- The typed interface ---------------------------------------------------------------------------------------------

namespace {

using model::Datum;

std::string brief(const runtime::Outcome& outcome) {
  return outcome.kind == runtime::OutcomeKind::Applied ? "applied" : outcome.code + ": " + outcome.reason;
}
std::string brief(const Result<runtime::Rows>& rows) {
  return rows ? std::to_string(rows->rows.size()) + " rows" : rows.error().code + ": " + rows.error().message;
}

}  // namespace

TEST(TypedInterface, ChecksTheTypesOfArguments) {
  const Opened opened("tests/models/types.noam");
  runtime::Session& session = *opened.session;
  const auto put = [&](const std::string& name, Datum value) {
    return brief(session.command("put_thing", {{"id", "a"}, {name, std::move(value)}}));
  };
  const auto fill = [&](const std::string& name, const Datum& value) {
    runtime::Arguments arguments = {{"id", "a"}};
    for (const char* field : {"numbers", "points", "tags", "near", "prices", "visits"})
      arguments.push_back({field, field == name ? value : Datum(Datum::List())});
    return brief(session.command("fill", arguments));
  };
  using List = Datum::List;
  const std::string inet = "\4\12" + std::string(3, '\1');

  EXPECT_EQ(put("yes", true), "applied");
  EXPECT_EQ(put("yes", 1), "value: yes: expected bool, not an int");
  EXPECT_EQ(put("number", "5"), "value: number: expected int, not a string");
  EXPECT_EQ(put("number", 5.0), "value: number: expected int, not a double");
  EXPECT_EQ(put("ratio", 1), "value: ratio: expected float, not an int");
  EXPECT_EQ(put("ratio", std::numeric_limits<double>::infinity()), "value: ratio: expected float, not a double");
  EXPECT_EQ(put("ratio", std::numeric_limits<double>::quiet_NaN()), "value: ratio: expected float, not a double");
  EXPECT_EQ(put("price", model::Decimal(5)), "applied");
  EXPECT_EQ(put("price", 5), "value: price: expected decimal, not an int");
  EXPECT_EQ(put("name", 5), "value: name: expected text, not an int");
  EXPECT_EQ(put("name", "\xff"), "value: name: expected text, not a string");
  EXPECT_EQ(put("name", std::string(1, '\0')), "value: name: expected text, not a string");
  EXPECT_EQ(put("short", "four"), "value: short: 4 characters, at most 3 fit");
  EXPECT_EQ(put("state", "paid"), "applied");
  EXPECT_EQ(put("state", "lost"), "value: state: expected \"open\" | \"paid\", not a string");
  EXPECT_EQ(put("bits", "\xff"), "applied");
  EXPECT_EQ(put("bits", List{}), "value: bits: expected bytes, not a list");
  EXPECT_EQ(put("at", *model::parse_timestamp("9999-12-31T23:59:59.999Z")), "applied");
  EXPECT_EQ(put("at", *model::parse_timestamp("9999-12-31T23:59:59.999Z") + 1),
            "value: at: expected timestamp, not an int");
  EXPECT_EQ(put("at", *model::parse_timestamp("0001-01-01T00:00:00Z")), "applied");
  EXPECT_EQ(put("at", *model::parse_timestamp("0001-01-01T00:00:00Z") - 1),
            "value: at: expected timestamp, not an int");
  EXPECT_EQ(put("day", *model::parse_date("9999-12-31")), "applied");
  EXPECT_EQ(put("day", *model::parse_date("9999-12-31") + 1), "value: day: expected date, not an int");
  EXPECT_EQ(put("day", *model::parse_date("0001-01-01") - 1), "value: day: expected date, not an int");
  EXPECT_EQ(put("token", std::string(16, 'x')), "applied");
  EXPECT_EQ(put("token", std::string(15, 'x')), "value: token: expected uuid, not a string");
  EXPECT_EQ(put("event", model::to_sortable(*model::parse_uuid("00000000-0000-1000-8000-000000000000"))), "applied");
  EXPECT_EQ(put("event", std::string(16, 'x')), "value: event: expected timeuuid, not a string");
  EXPECT_EQ(put("address", inet), "applied");
  EXPECT_EQ(put("address", inet.substr(1)), "value: address: expected inet, not a string");
  EXPECT_EQ(put("note", R"({"a": [1]})"), "applied");
  EXPECT_EQ(put("note", "{"), "value: note: expected json, not a string");
  EXPECT_EQ(put("note", "99999999999999999999"), "value: note: expected json, not a string");
  EXPECT_EQ(put("other", "b"), "applied");
  EXPECT_EQ(put("other", List{"b"}), "value: other: expected text(40), not a list");
  EXPECT_EQ(put("place", List{"x", 1}), "applied");
  EXPECT_EQ(put("place", List{"x"}), "value: place: expected Place, not a list");
  EXPECT_EQ(put("place", List{1, "x"}), "value: place.town: expected text, not an int");
  EXPECT_EQ(put("place", List{"x", Datum()}), "required: place.number: a value is required");
  EXPECT_EQ(put("point", List{1, 2.0, Datum()}), "applied");
  EXPECT_EQ(put("point", List{1, 2, Datum()}), "value: point.y: expected float, not an int");
  EXPECT_EQ(put("point", 1), "value: point: expected Point, not an int");
  EXPECT_EQ(fill("numbers", List{1, 1}), "applied");
  EXPECT_EQ(fill("numbers", List{1, "x"}), "value: numbers[1]: expected int, not a string");
  EXPECT_EQ(fill("numbers", 1), "value: numbers: expected list<int>, not an int");
  EXPECT_EQ(fill("tags", List{"a", "b"}), "applied");
  EXPECT_EQ(fill("tags", List{"b", "a"}),
            "value: tags[1]: the elements of a set must be in ascending order, without duplicates");
  EXPECT_EQ(fill("tags", List{"a", "a"}),
            "value: tags[1]: the elements of a set must be in ascending order, without duplicates");
  EXPECT_EQ(fill("prices", List{List{"a", model::Decimal(1)}}), "applied");
  EXPECT_EQ(fill("prices", List{List{"a"}}), "value: prices[0]: an entry of a map must be a key and a value");
  EXPECT_EQ(fill("prices", List{List{"a", 1}}), "value: prices[0]: expected decimal, not an int");
  EXPECT_EQ(fill("visits", List{List{List{"y", 1}, 1}, List{List{"x", 1}, 1}}),
            "value: visits[1]: the keys of a map must be in ascending order, without duplicates");
  EXPECT_EQ(fill("visits", Datum()), "required: `visits` is required");

  EXPECT_EQ(brief(session.query("first_things", {{"n", 1}})), "1 rows");
  EXPECT_EQ(brief(session.query("first_things", {{"n", "1"}})), "value: n: expected int, not a string");
  EXPECT_EQ(brief(session.query("first_things", {})), "required: `n` is required");
  const auto verified = session.verify();
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->differences.empty());
}

TEST(TypedInterface, ChecksTheTimeOfAnId) {
  runtime::SessionOptions options;
  options.clock = [] { return noon; };
  const Opened opened("tests/models/types.noam", std::move(options));
  const auto make = [&](std::int64_t time) {
    return brief(opened.session->command("make", {{"id", "a"}}, model::make_command_id(time, 1, 1)));
  };
  EXPECT_EQ(make(noon - 3'600'001), "expired: the command id is older than an hour");
  EXPECT_EQ(make(model::last_command_time + 1), "value: the time in the command id is after the year 9999");
  EXPECT_EQ(make(model::last_command_time), "applied");
}

TEST(TypedInterface, ChecksTheNames) {
  const Opened opened("tests/models/types.noam");
  runtime::Session& session = *opened.session;
  EXPECT_EQ(brief(session.command("nothing", {})), "request: no command `nothing`");
  EXPECT_EQ(brief(session.command("thing", {{"id", "a"}})), "request: no command `thing`") << "it is a query";
  EXPECT_EQ(brief(session.query("make", {{"id", "a"}})), "request: no query `make`");
  EXPECT_EQ(brief(session.command("make", {{"id", "a"}, {"more", 1}})), "value: no parameter `more`");
  EXPECT_EQ(brief(session.command("make", {{"id", "a"}, {"id", "b"}})), "value: `id` is given twice");
  EXPECT_EQ(brief(session.query("thing", {{"id", "a"}, {"more", 1}})), "request: no parameter `more`");
  EXPECT_EQ(brief(session.query("thing", {{"id", "a"}, {"id", "b"}})), "request: `id` is given twice");
  EXPECT_EQ(brief(session.query("things", {}, "x")),
            "request: the `cursor` is not one of query `things` with these parameters");
  EXPECT_EQ(brief(session.query("largest", {}, "x")),
            "request: query `largest` takes no `cursor`: it returns its last refresh");
  EXPECT_FALSE(session.refresh("things"));
  EXPECT_EQ(brief(session.query("total", {})), "1 rows");
}

}  // namespace noam::tests
