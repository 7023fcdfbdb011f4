#include <gtest/gtest.h>

#include "tests/scenario.h"

// The runner against an engine that says what it is told to: it must see what is right, and everything that is not.
namespace noam::tests {

namespace {

class ToldEngine : public Engine {
 public:
  explicit ToldEngine(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  Json answer(const Json& request) override {
    heard.push_back(request);
    return Json::parse(answers_.at(next_++));
  }
  void set_time(std::int64_t milliseconds) override { heard.emplace_back("clock " + std::to_string(milliseconds)); }
  void refresh(const std::string& query) override { heard.emplace_back("refresh " + query); }
  void expire() override { heard.emplace_back("expire"); }

  std::vector<Json> heard;

 private:
  std::vector<std::string> answers_;
  std::size_t next_ = 0;
};

Scenario scenario_of(const std::string& rest) {
  ParsedScenario parsed = parse_scenario("model a.noam\nclock 1970-01-01T00:00:00.001Z\n" + rest);
  for (const ScenarioError& error : parsed.errors) ADD_FAILURE() << to_string("scenario", error);
  return std::move(parsed.scenario);
}

// The lines that failed.
std::vector<std::size_t> failed(const std::string& rest, std::vector<std::string> answers) {
  ToldEngine engine(std::move(answers));
  std::vector<std::size_t> lines;
  for (const ScenarioFailure& failure : run_scenario(scenario_of(rest), engine)) lines.push_back(failure.line);
  return lines;
}

using Lines = std::vector<std::size_t>;

const std::string rows = "query q\n---- rows\na b\n1 x\n2 absent\n";
const std::string ordered = "query q\n---- rows in order\na b\n1 x\n2 absent\n";

}  // namespace

TEST(ScenarioRunner, AsksAsTheScenarioSays) {
  ToldEngine engine({R"({"outcome": "applied", "keys": ["k1"]})", R"({"rows": [{"a": 1}], "cursor": "c"})",
                     R"({"outcome": "applied"})", R"({"rows": []})"});
  const auto failures = run_scenario(scenario_of("command make p=1 ---- applied keys $k\n"
                                                 "refresh r\n"
                                                 "query q key=$k list=[\"$k\"]\n---- rows in order and more\na\n1\n\n"
                                                 "command @x make ---- applied\n"
                                                 "expire\n"
                                                 "next ---- no rows\n"),
                                     engine);
  EXPECT_TRUE(failures.empty());
  ASSERT_EQ(engine.heard.size(), 7U);
  EXPECT_EQ(engine.heard[0], "clock 1");
  EXPECT_EQ(engine.heard[1], Json::parse(R"({"run": "make", "params": {"p": 1}})"));
  EXPECT_EQ(engine.heard[2], "refresh r");
  EXPECT_EQ(engine.heard[3], Json::parse(R"({"run": "q", "params": {"key": "k1", "list": ["k1"]}})"));
  EXPECT_EQ(engine.heard[4],
            Json::parse(R"({"run": "make", "params": {}, "id": "00000000-0001-7000-8000-000000000001"})"));
  EXPECT_EQ(engine.heard[5], "expire");
  EXPECT_EQ(engine.heard[6], Json::parse(R"({"run": "q", "params": {"key": "k1", "list": ["k1"]}, "cursor": "c"})"));
}

TEST(ScenarioRunner, RepeatsAnIdWithTheTimeItHad) {
  const std::string applied = R"({"outcome": "applied"})";
  ToldEngine engine({applied, applied, applied});
  run_scenario(scenario_of("command @a x ---- applied\n"
                           "clock 2026-03-01T10:00:00.000Z\n"
                           "command @a x ---- applied\n"
                           "command @b x ---- applied\n"),
               engine);
  ASSERT_EQ(engine.heard.size(), 5U);
  EXPECT_EQ(engine.heard[1]["id"], "00000000-0001-7000-8000-000000000001");
  EXPECT_EQ(engine.heard[3]["id"], "00000000-0001-7000-8000-000000000001");
  EXPECT_EQ(engine.heard[4]["id"], "019ca8d7-2d00-7000-8000-000000000002");
}

TEST(ScenarioRunner, SeesOutcomes) {
  const std::string applied = "command x ---- applied\n";
  EXPECT_EQ(failed(applied, {R"({"outcome": "applied"})"}), Lines{});
  EXPECT_EQ(failed(applied, {R"({"outcome": "applied", "keys": []})"}), Lines{});
  EXPECT_EQ(failed(applied, {R"({"outcome": "applied", "keys": ["a"]})"}), Lines{3});
  EXPECT_EQ(failed(applied, {R"({"outcome": "applied", "count": 1})"}), Lines{3});
  EXPECT_EQ(failed(applied, {R"({"outcome": "refused", "code": "absent", "reason": "no"})"}), Lines{3});
  EXPECT_EQ(failed(applied, {R"({"outcome": "unknown"})"}), Lines{3});
  EXPECT_EQ(failed(applied, {R"({"error": {"code": "value", "reason": "no"}})"}), Lines{3});
  EXPECT_EQ(failed(applied, {R"({"rows": []})"}), Lines{3});
  EXPECT_EQ(failed(applied, {"null"}), Lines{3});

  const std::string refused = "command x ---- refused absent\n";
  EXPECT_EQ(failed(refused, {R"({"outcome": "refused", "code": "absent", "reason": "no"})"}), Lines{});
  EXPECT_EQ(failed(refused, {R"({"outcome": "refused", "code": "exists", "reason": "no"})"}), Lines{3});
  EXPECT_EQ(failed(refused, {R"({"outcome": "applied"})"}), Lines{3});

  const std::string counted = "command x ---- applied count 2\n";
  EXPECT_EQ(failed(counted, {R"({"outcome": "applied", "count": 2})"}), Lines{});
  EXPECT_EQ(failed(counted, {R"({"outcome": "applied", "count": 3})"}), Lines{3});
  EXPECT_EQ(failed(counted, {R"({"outcome": "applied"})"}), Lines{3});
}

TEST(ScenarioRunner, SeesKeys) {
  const std::string twice = "command x ---- applied keys $a _\ncommand x ---- applied keys $a _\n";
  const std::string first = R"({"outcome": "applied", "keys": ["k", "l"]})";
  EXPECT_EQ(failed(twice, {first, R"({"outcome": "applied", "keys": ["k", "m"]})"}), Lines{});
  EXPECT_EQ(failed(twice, {first, R"({"outcome": "applied", "keys": ["l", "k"]})"}), Lines{4});
  EXPECT_EQ(failed(twice, {first, R"({"outcome": "applied", "keys": ["k"]})"}), Lines{4});
  EXPECT_EQ(failed(twice, {first, R"({"outcome": "applied", "keys": ["k", "l", "m"]})"}), Lines{4});

  const std::string used = "command x ---- applied keys $a\nquery q\n---- rows\nb\n{\"c\": [\"$a\"]}\n";
  const std::string key = R"({"outcome": "applied", "keys": ["k"]})";
  EXPECT_EQ(failed(used, {key, R"({"rows": [{"b": {"c": ["k"]}}]})"}), Lines{});
  EXPECT_EQ(failed(used, {key, R"({"rows": [{"b": {"c": ["$a"]}}]})"}), Lines{4});
}

TEST(ScenarioRunner, ComparesRowsAsABagOrInOrder) {
  const std::string in_order = R"({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": null}]})";
  const std::string reversed = R"({"rows": [{"b": null, "a": 2}, {"b": "x", "a": 1}]})";
  EXPECT_EQ(failed(rows, {in_order}), Lines{});
  EXPECT_EQ(failed(rows, {reversed}), Lines{});
  EXPECT_EQ(failed(ordered, {in_order}), Lines{});
  EXPECT_EQ(failed(ordered, {reversed}), Lines{3});
}

TEST(ScenarioRunner, SeesWhatIsWrongWithRows) {
  for (const std::string& query : {rows, ordered}) {
    EXPECT_EQ(failed(query, {R"({"rows": []})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": 1, "b": "x"}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": null}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": 1, "b": "x"}, {"a": 2}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": ""}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": null, "c": 3}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": [{"a": "1", "b": "x"}, {"a": 2, "b": null}]})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"error": {"code": "value", "reason": "no"}})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"outcome": "applied"})"}), Lines{3});
    EXPECT_EQ(failed(query, {R"({"rows": 7})"}), Lines{3});
  }
}

TEST(ScenarioRunner, TakesNumbersAsNumbers) {
  const std::string numbers = "query q\n---- rows\na\n[1, 2.5, 9223372036854775807, 1e300]\n";
  EXPECT_EQ(failed(numbers, {R"({"rows": [{"a": [1.0, 2.50, 9223372036854775807, 1e+300]}]})"}), Lines{});
  EXPECT_EQ(failed(numbers, {R"({"rows": [{"a": [1, 2.5, 9223372036854775806, 1e300]}]})"}), Lines{3});
  EXPECT_EQ(failed(numbers, {R"({"rows": [{"a": [1, 2.5000000000000004, 9223372036854775807, 1e300]}]})"}), Lines{3});
}

TEST(ScenarioRunner, SeesErrorsOfQueries) {
  const std::string query = "query q ---- error value\n";
  EXPECT_EQ(failed(query, {R"({"error": {"code": "value", "reason": "no"}})"}), Lines{});
  EXPECT_EQ(failed(query, {R"({"error": {"code": "required", "reason": "no"}})"}), Lines{3});
  EXPECT_EQ(failed(query, {R"({"rows": []})"}), Lines{3});
}

TEST(ScenarioRunner, SeesCursors) {
  const std::string more = "query q\n---- rows in order and more\na\n1\n\nnext ---- no rows\n";
  const std::string row = R"("rows": [{"a": 1}])";
  EXPECT_EQ(failed(more, {"{" + row + R"(, "cursor": "c"})", R"({"rows": []})"}), Lines{});
  EXPECT_EQ(failed(more, {"{" + row + R"(, "cursor": "c"})", R"({"rows": [], "cursor": "d"})"}), Lines{8});
  EXPECT_EQ(failed(more, {"{" + row + "}"}), (Lines{3, 8}));
  EXPECT_EQ(failed(ordered, {R"({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": null}], "cursor": "c"})"}), Lines{3});
}

TEST(ScenarioRunner, GoesOnAfterAFailureAndTellsWhatWasFound) {
  ToldEngine engine({R"({"outcome": "refused", "code": "exists", "reason": "no"})", R"({"rows": [{"a": 2}]})"});
  const auto failures = run_scenario(scenario_of("command x p=1 ---- applied\nquery q\n---- rows\na\n1\n"), engine);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(to_string("f", failures[0]),
            "f:3: x {\"p\":1}\n  expected: applied\n"
            "  found: {\"outcome\":\"refused\",\"code\":\"exists\",\"reason\":\"no\"}");
  EXPECT_EQ(to_string("f", failures[1]), "f:4: q\n  expected: \n    {\"a\":1}\n  found: \n    {\"a\":2}");
}

}  // namespace noam::tests
