#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/scenario.h"

namespace noam::tests {

namespace {

// The two lines that a scenario begins with, so that what follows begins in line 3.
std::string begun(const std::string& rest) {
  return "model examples/game/game.noam\nclock 2026-03-01T10:00:00.000Z\n" + rest;
}

Scenario scenario_of(const std::string& rest) {
  ParsedScenario parsed = parse_scenario(begun(rest));
  for (const ScenarioError& error : parsed.errors) ADD_FAILURE() << to_string("scenario", error);
  return std::move(parsed.scenario);
}

// The errors, one a line.
std::string errors_of(const std::string& text) {
  std::string out;
  for (const ScenarioError& error : parse_scenario(text).errors)
    out += std::to_string(error.line) + ": " + error.message + "\n";
  return out;
}

std::string errors_after_beginning(const std::string& rest) { return errors_of(begun(rest)); }

std::string contradictions_of(const std::string& rest) {
  const ModelPointer model = model_of(R"(model notes
entity Note { id: int key   text: text }
query note($id) { select n.id, n.text from Note n where n.id = $id }
query all { select n.id from Note n order by n.id }
query few refresh every 1 hour { select n.id from Note n order by n.id limit 2 }
command write($id, $text) { insert Note { id: $id, text: $text } }
)");
  std::string out;
  for (const ScenarioError& error : contradictions(scenario_of(rest), *model))
    out += std::to_string(error.line) + ": " + error.message + "\n";
  return out;
}

}  // namespace

TEST(ScenarioParser, ReadsTheModelAndTheClock) {
  const Scenario scenario = scenario_of("clock 2026-03-01T11:00:00.000+01:00\n");
  EXPECT_EQ(scenario.model, "examples/game/game.noam");
  ASSERT_EQ(scenario.steps.size(), 2U);
  EXPECT_EQ(scenario.steps[0].kind, StepKind::Clock);
  EXPECT_EQ(scenario.steps[0].time, 1772359200000);
  EXPECT_EQ(scenario.steps[0].time, scenario.steps[1].time);
}

TEST(ScenarioParser, ReadsCommandsAndTheirOutcomes) {
  const Scenario scenario = scenario_of(
      "command win username=mary ---- applied\n"
      "command @first win username=mary\n"
      "---- refused absent\n"
      "command log\n"
      "  ---- applied keys $a _ $b\n"
      "command purge ---- applied count 3\n"
      "command both ---- applied keys _ count 0\n");
  ASSERT_EQ(scenario.steps.size(), 6U);
  const Step& win = scenario.steps[1];
  EXPECT_EQ(win.kind, StepKind::Command);
  EXPECT_EQ(win.line, 3U);
  EXPECT_EQ(win.name, "win");
  EXPECT_EQ(win.id, "");
  EXPECT_EQ(win.parameters, (Json{{"username", "mary"}}));
  EXPECT_EQ(win.expected.kind, AnswerKind::Applied);
  EXPECT_TRUE(win.expected.keys.empty());
  EXPECT_FALSE(win.expected.count);
  EXPECT_EQ(scenario.steps[2].id, "first");
  EXPECT_EQ(scenario.steps[2].expected.kind, AnswerKind::Refused);
  EXPECT_EQ(scenario.steps[2].expected.code, "absent");
  EXPECT_EQ(scenario.steps[3].parameters, Json::object());
  EXPECT_EQ(scenario.steps[3].expected.keys, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(scenario.steps[4].expected.count, 3);
  EXPECT_EQ(scenario.steps[5].expected.keys, (std::vector<std::string>{""}));
  EXPECT_EQ(scenario.steps[5].expected.count, 0);
}

TEST(ScenarioParser, ReadsQueriesAndTheirRows) {
  const Scenario scenario = scenario_of(
      "query a ---- no rows\n"
      "query b\n"
      "---- rows\n"
      "# a comment is no row\n"
      "x  y\n"
      "1  one\n"
      "2  absent\n"
      "\n"
      "query c p=1 ---- rows in order and more\n"
      "x\n"
      "1\n"
      "\n"
      "command d ---- applied\n"
      "next ---- rows in order\n"
      "x\n"
      "2\n"
      "\n"
      "query e ---- error value\n"
      "refresh f\n"
      "expire\n");
  ASSERT_EQ(scenario.steps.size(), 9U);
  EXPECT_EQ(scenario.questions(), 5U);
  EXPECT_EQ(scenario.steps[1].expected.kind, AnswerKind::Rows);
  EXPECT_TRUE(scenario.steps[1].expected.rows.empty());
  const ExpectedAnswer& rows = scenario.steps[2].expected;
  EXPECT_EQ(rows.columns, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0], (Json{{"x", 1}, {"y", "one"}}));
  EXPECT_EQ(rows.rows[1], (Json{{"x", 2}, {"y", nullptr}}));
  EXPECT_FALSE(rows.ordered);
  EXPECT_FALSE(rows.more);
  EXPECT_TRUE(scenario.steps[3].expected.ordered);
  EXPECT_TRUE(scenario.steps[3].expected.more);
  const Step& next = scenario.steps[5];
  EXPECT_EQ(next.kind, StepKind::Next);
  EXPECT_EQ(next.name, "c");
  EXPECT_EQ(next.parameters, (Json{{"p", 1}}));
  EXPECT_TRUE(next.expected.ordered);
  EXPECT_FALSE(next.expected.more);
  EXPECT_EQ(scenario.steps[6].expected.kind, AnswerKind::Error);
  EXPECT_EQ(scenario.steps[6].expected.code, "value");
  EXPECT_EQ(scenario.steps[7].kind, StepKind::Refresh);
  EXPECT_EQ(scenario.steps[7].name, "f");
  EXPECT_EQ(scenario.steps[8].kind, StepKind::Expire);
}

TEST(ScenarioParser, ReadsValues) {
  const Scenario scenario = scenario_of(
      "command make ---- applied keys $made\n"
      "command a text=mary quoted=\"two  words \\\" = {\" int=-7 float=0.5 bool=true none=absent ip=2001:db8::1\n"
      "  day=2026-03-01 digits=\"7\" empty=\"\" unicode=東京 escape=\"\\u00e9\" list=[1, \"] }\",\n"
      "  null] object={\"a\": {\"b\": \"$made\"}} made=$made dollar=\"$5\" url=https://a.example/?x=1\n"
      "---- applied\n");
  EXPECT_EQ(scenario.steps[2].parameters, (Json{
                                              {"text", "mary"},
                                              {"quoted", "two  words \" = {"},
                                              {"int", -7},
                                              {"float", 0.5},
                                              {"bool", true},
                                              {"none", nullptr},
                                              {"ip", "2001:db8::1"},
                                              {"day", "2026-03-01"},
                                              {"digits", "7"},
                                              {"empty", ""},
                                              {"unicode", "東京"},
                                              {"escape", "é"},
                                              {"list", {1, "] }", nullptr}},
                                              {"object", {{"a", {{"b", "$made"}}}}},
                                              {"made", "$made"},
                                              {"dollar", "$5"},
                                              {"url", "https://a.example/?x=1"},
                                          }));
}

TEST(ScenarioParser, AsksForTheModelAndTheClockFirst) {
  EXPECT_EQ(errors_of(""), "1: a scenario begins with `model <file>`\n");
  EXPECT_EQ(errors_of("# nothing\n\n"), "1: a scenario begins with `model <file>`\n");
  EXPECT_EQ(errors_of("\nclock 2026-03-01T10:00:00.000Z\nexpire\n"), "2: a scenario begins with `model <file>`\n");
  EXPECT_EQ(errors_of("model a.noam\nexpire\nexpire\n"), "2: `clock <timestamp>` comes before anything happens\n");
  EXPECT_EQ(errors_of("model\n"), "1: `model` takes the file of the model\n");
  EXPECT_EQ(errors_of("model a.noam b.noam\n"), "1: `model` takes the file of the model\n");
  EXPECT_EQ(errors_after_beginning("model b.noam\n"), "3: `model` stands once, at the beginning\n");
}

TEST(ScenarioParser, RefusesAWrongClock) {
  const std::string form = "`clock` takes a timestamp such as 2026-03-01T10:00:00.000Z\n";
  EXPECT_EQ(errors_after_beginning("clock\n"), "3: " + form);
  EXPECT_EQ(errors_after_beginning("clock noon\n"), "3: " + form);
  EXPECT_EQ(errors_after_beginning("clock 2026-02-29T10:00:00.000Z\n"), "3: " + form);
  EXPECT_EQ(errors_after_beginning("clock 2026-03-02T10:00:00.000Z UTC\n"), "3: " + form);
  EXPECT_EQ(errors_after_beginning("clock 2026-03-01T09:59:59.999Z\n"), "3: the clock does not go backwards\n");
  EXPECT_EQ(errors_after_beginning("clock 2026-03-01T10:00:00.000Z\n"), "");
}

TEST(ScenarioParser, RefusesLinesThatItDoesNotKnow) {
  EXPECT_EQ(errors_after_beginning("\ncomand win\n\nquery x ---- no rows\nxyz\n"),
            "4: `comand` begins no line: model, clock, command, query, next, refresh or expire\n"
            "7: `xyz` begins no line: model, clock, command, query, next, refresh or expire\n");
  EXPECT_EQ(errors_after_beginning("---- applied\n"),
            "3: `----` begins no line: model, clock, command, query, next, refresh or expire\n");
  EXPECT_EQ(errors_after_beginning("expire now\n"), "3: `expire` stands alone\n");
  EXPECT_EQ(errors_after_beginning("refresh\nrefresh a b\n"),
            "3: `refresh` takes the name of a query\n4: `refresh` takes the name of a query\n");
}

TEST(ScenarioParser, RefusesALineThatGoesOnWithNothing) {
  const std::string message = "a line that begins with a blank goes on with the line before it, which is empty\n";
  EXPECT_EQ(errors_of(" model a.noam\n"), "1: " + message);
  EXPECT_EQ(errors_after_beginning("expire\n\n  x=1\n"), "5: " + message);
}

TEST(ScenarioParser, AsksForAnAnswer) {
  EXPECT_EQ(errors_after_beginning("command win\n"), "3: an answer must follow: `---- …`\n");
  EXPECT_EQ(errors_after_beginning("query x\n\n---- no rows\n"),
            "3: an answer must follow: `---- …`\n"
            "5: `----` begins no line: model, clock, command, query, next, refresh or expire\n");
  EXPECT_EQ(errors_after_beginning("query x\nexpire\n"), "3: an answer must follow: `---- …`\n");
}

TEST(ScenarioParser, RefusesAnswersThatAreNone) {
  EXPECT_EQ(errors_after_beginning("command x ----\n"), "3: `` is no answer of a command\n");
  EXPECT_EQ(errors_after_beginning("command x\n---- no rows\n"), "4: `no rows` is no answer of a command\n");
  EXPECT_EQ(errors_after_beginning("command x ---- error value\n"), "3: `error value` is no answer of a command\n");
  EXPECT_EQ(errors_after_beginning("command x ---- refused\n"), "3: `refused` is no answer of a command\n");
  EXPECT_EQ(errors_after_beginning("command x ---- refused a b\n"), "3: `refused a b` is no answer of a command\n");
  EXPECT_EQ(errors_after_beginning("query x ---- applied\n"), "3: `applied` is no answer of a query\n");
  EXPECT_EQ(errors_after_beginning("query x ---- refused value\n"), "3: `refused value` is no answer of a query\n");
  EXPECT_EQ(errors_after_beginning("query x ---- rows and more\n"), "3: `rows and more` is no answer of a query\n");
  EXPECT_EQ(errors_after_beginning("command x ---- applied keys\n"),
            "3: `keys` is followed by names such as $a, or _\n");
  EXPECT_EQ(errors_after_beginning("command x ---- applied keys a\n"),
            "3: `keys` is followed by names such as $a, or _\n");
  EXPECT_EQ(errors_after_beginning("command x ---- applied twice\n"),
            "3: `twice` does not belong here: applied [keys $a _ …] [count n]\n");
  EXPECT_EQ(errors_after_beginning("command x ---- applied count\n"),
            "3: `count` does not belong here: applied [keys $a _ …] [count n]\n");
  EXPECT_EQ(errors_after_beginning("command x\n  ---- applied count many\n"), "4: `count` is followed by a number\n");
}

TEST(ScenarioParser, RefusesWrongNames) {
  EXPECT_EQ(errors_after_beginning("command ---- applied\n"), "3: the name of a statement is missing\n");
  EXPECT_EQ(errors_after_beginning("query x=1 ---- no rows\n"), "3: the name of a statement is missing\n");
  EXPECT_EQ(errors_after_beginning("command @ win ---- applied\n"), "3: `@` is followed by a name\n");
  EXPECT_EQ(errors_after_beginning("query @a x ---- no rows\n"), "3: the name of a statement is missing\n");
  EXPECT_EQ(errors_after_beginning("command win mary ---- applied\n"), "3: `mary` is no `parameter=value`\n");
  EXPECT_EQ(errors_after_beginning("command win\n  a=1\n  =2 ---- applied\n"), "5: `=2` is no `parameter=value`\n");
  EXPECT_EQ(errors_after_beginning("command win a=1\n  a=2 ---- applied\n"), "4: `a` is given twice\n");
  EXPECT_EQ(errors_after_beginning("command win a=1\n# a comment\n  a=2 ---- applied\n"), "5: `a` is given twice\n");
}

TEST(ScenarioParser, RefusesWrongValues) {
  EXPECT_EQ(errors_after_beginning("command x a= ---- applied\n"),
            "3: a value is missing; the empty text is written \"\"\n");
  EXPECT_EQ(errors_after_beginning("command x a=null ---- applied\n"), "3: no value is written `absent`\n");
  EXPECT_EQ(errors_after_beginning("command x a={b:1} ---- applied\n"), "3: `{b:1}` is no JSON\n");
  EXPECT_EQ(errors_after_beginning("command x a=\"b\"c ---- applied\n"), "3: `\"b\"c` is no JSON\n");
  EXPECT_EQ(errors_after_beginning("command x\n  a=[1, ---- applied\n"),
            "3: an answer must follow: `---- …`\n4: `[1, ---- applied` is no JSON\n");
  EXPECT_EQ(errors_after_beginning("command x a=\"b ---- applied\n"),
            "3: `\"b ---- applied` is no JSON\n3: an answer must follow: `---- …`\n");
  EXPECT_EQ(errors_after_beginning("command x a=$ ---- applied\n"), "3: `$`: `$` is followed by a name\n");
}

TEST(ScenarioParser, RefusesNamesThatAreBoundNowhereAbove) {
  EXPECT_EQ(errors_after_beginning("command x a=$b ---- applied keys $b\n"), "3: `$b` is bound nowhere above\n");
  EXPECT_EQ(errors_after_beginning("query x a={\"b\": [\"$c\"]} ---- no rows\n"), "3: `$c` is bound nowhere above\n");
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\ny\n1\n$z\n"), "7: `$z` is bound nowhere above\n");
}

TEST(ScenarioParser, RefusesRowsThatDoNotFit) {
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\n"), "4: the names of the columns are missing\n");
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\n\na\n1\n"),
            "4: the names of the columns are missing\n"
            "6: `a` begins no line: model, clock, command, query, next, refresh or expire\n"
            "7: `1` begins no line: model, clock, command, query, next, refresh or expire\n");
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\na b\n"), "4: no row follows: say `no rows`\n");
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\na b\n1 2\n1\n1 2 3\n"),
            "7: 1 values for 2 columns\n8: 3 values for 2 columns\n");
  EXPECT_EQ(errors_after_beginning("query x\n---- rows\na a 1\n1 2 3\n"),
            "5: the column `a` stands twice\n5: `1` is no name of a column\n");
  EXPECT_EQ(errors_after_beginning("query x ---- no rows\na\n"),
            "4: `a` begins no line: model, clock, command, query, next, refresh or expire\n");
}

TEST(ScenarioParser, GoesOnOnlyWhereThereIsMore) {
  const std::string message = "`next` goes on with a query whose rows were said to be `and more`\n";
  EXPECT_EQ(errors_after_beginning("next ---- no rows\n"), "3: " + message);
  EXPECT_EQ(errors_after_beginning("query x\n---- rows in order\na\n1\n\nnext ---- no rows\n"), "8: " + message);
  EXPECT_EQ(
      errors_after_beginning("query x\n---- rows in order and more\na\n1\n\nnext ---- no rows\nnext ---- no rows\n"),
      "9: " + message);
  EXPECT_EQ(errors_after_beginning("query x\n---- rows in order and more\na\n1\n\nnext x ---- no rows\n"),
            "8: `next` stands alone\n");
}

TEST(ScenarioParser, TellsAllErrorsOfAText) {
  EXPECT_EQ(errors_of("clock noon\nquery x\n---- rows\na\n1 2\n\n  y\n"),
            "1: a scenario begins with `model <file>`\n"
            "1: `clock` takes a timestamp such as 2026-03-01T10:00:00.000Z\n"
            "2: `clock <timestamp>` comes before anything happens\n"
            "3: no row follows: say `no rows`\n"
            "5: 2 values for 1 columns\n"
            "7: a line that begins with a blank goes on with the line before it, which is empty\n");
}

TEST(ScenarioContradictions, AreNoneWhereTheScenarioFitsItsModel) {
  EXPECT_EQ(contradictions_of("command write id=1 text=a ---- applied\n"
                              "refresh few\n"
                              "query all\n---- rows in order\nid\n1\n\n"
                              "query note id=1\n---- rows\ntext id\na 1\n\n"
                              "query few ---- no rows\nexpire\n"),
            "");
}

TEST(ScenarioContradictions, AreFoundWithTheirLines) {
  EXPECT_EQ(contradictions_of("command delete id=1 ---- applied\n"
                              "query nothing ---- no rows\n"
                              "query write id=1 ---- no rows\n"
                              "refresh all\n"
                              "refresh nothing\n"
                              "command write id=1 txt=a ---- refused required\n"
                              "query note id=1 text=a ---- error value\n"
                              "query all\n---- rows\nid\n1\n\n"
                              "query note id=1\n---- rows in order\nid text\n1 a\n\n"
                              "query all\n---- rows in order\nid text\n1 a\n"),
            "3: no command `delete`\n"
            "4: no query `nothing`\n"
            "5: no query `write`\n"
            "6: `all` is not refreshed\n"
            "7: no query `nothing`\n"
            "8: `write` has no parameter `txt`\n"
            "9: `note` has no parameter `text`\n"
            "10: the rows of `all` come in order\n"
            "15: the rows of `note` come in any order\n"
            "20: the columns of `all` are id\n");
}

}  // namespace noam::tests
