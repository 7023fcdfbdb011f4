#include "noam/cli/run_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/cli/answers.h"
#include "noam/cli/lines.h"
#include "noam/cli/opening.h"
#include "noam/cli/verify_command.h"
#include "noam/language/statements.h"
#include "noam/model/datum_json.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/console_story.h"
#include "tests/support.h"

// `noam run` and `noam verify` as a person or a program meets them: what is read, what is printed, and how it ends.
namespace noam::tests {

namespace fs = std::filesystem;

namespace {

std::string types() { return (source_dir() / "tests/models/types.noam").string(); }
std::string example(const std::string& name) { return (source_dir() / "examples" / name / (name + ".noam")).string(); }

// The answers to a batch on the model of all types. Each line is JSON, and there is one for each line of the input.
std::vector<Json> answers(const std::string& input, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run", types(), "--batch"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramRun run = run_noam(arguments, input);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.out.empty() || run.out.back() == '\n');
  std::vector<Json> all;
  for (const std::string& line : lines_of(run.out)) {
    all.push_back(Json::read(line).value_or(Json()));
    EXPECT_TRUE(all.back().is_object()) << line;
  }
  return all;
}

// `applied`, `refused CODE`, `error CODE`, or the rows.
std::string brief(const Json& answer) {
  if (answer.contains("error")) return "error " + answer["error"]["code"].get<std::string>();
  if (answer.contains("rows")) return answer["rows"].dump();
  const std::string outcome = answer["outcome"].get<std::string>();
  return outcome == "refused" ? "refused " + answer["code"].get<std::string>() : outcome;
}

std::vector<std::string> briefs(const std::string& input, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all;
  for (const Json& answer : answers(input, more)) all.push_back(brief(answer));
  return all;
}

using Texts = std::vector<std::string>;

// Wrong use: exit code 2, one line on standard error that names the thing, nothing on standard output.
void expect_wrong_use(const ProgramRun& run, const std::string& mentions) {
  EXPECT_EQ(run.code, 2) << run.out << run.err;
  EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
  EXPECT_EQ(run.err.rfind("noam: ", 0), 0U) << run.err;
  EXPECT_NE(run.err.find(mentions), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

}  // namespace

// --- Parameters ------------------------------------------------------------------------------------------------------

TEST(RunParameters, AreReadByTheirTypes) {
  const auto model = model_of_file(types());
  const auto parameter_type = [&](const std::string& name) -> const model::Type& {
    for (const model::Command& command : model->commands)
      if (command.name == "put_thing" || command.name == "fill")
        for (const model::Parameter& parameter : command.parameters)
          if (parameter.name == name) return parameter.type;
    throw std::runtime_error("no parameter " + name);
  };
  const auto read = [&](const std::string& name, const std::string& text) {
    const auto json = language::read_argument(*model, parameter_type(name), text);
    return json ? json->dump() : "error";
  };
  struct Case {
    const char* name;
    const char* text;
    const char* json;
  };
  for (const auto& [name, text, json] : std::vector<Case>{
           {"name", "two words", R"("two words")"},
           {"name", "", R"("")"},
           {"name", "null", R"("null")"},
           {"name", "5", R"("5")"},
           {"name", "\"x\"", R"("\"x\"")"},
           {"name", "a=b", R"("a=b")"},
           {"name", " x ", R"(" x ")"},
           {"state", "open", R"("open")"},
           {"state", "", R"("")"},
           {"yes", "true", "true"},
           {"yes", "null", "null"},
           {"yes", "yes", R"("yes")"},
           {"yes", "", "error"},
           {"number", "-5", "-5"},
           {"number", "9223372036854775807", "9223372036854775807"},
           {"number", "1.5", "1.5"},
           {"number", "five", R"("five")"},
           {"number", "\"5\"", R"("5")"},
           {"number", "", "error"},
           {"ratio", "0.5", "0.5"},
           {"ratio", "2", "2.0"},
           {"ratio", "1e-3", "0.001"},
           {"price", "12.50", R"("12.50")"},
           {"price", "\"12.50\"", R"("12.50")"},
           {"price", "12345678901234567890.12345", R"("12345678901234567890.12345")"},
           {"price", "null", "null"},
           {"bits", "AAEC", R"("AAEC")"},
           {"bits", "1234", R"("1234")"},
           {"bits", "true", R"("true")"},
           {"bits", "\"\"", R"("")"},
           {"bits", "\"null\"", R"("null")"},
           {"bits", "null", "null"},
           {"bits", "", "error"},
           {"at", "2024-02-29T23:59:59.999Z", R"("2024-02-29T23:59:59.999Z")"},
           {"at", "\"2024-02-29T23:59:59.999Z\"", R"("2024-02-29T23:59:59.999Z")"},
           {"day", "2024-02-29", R"("2024-02-29")"},
           {"token", "00000000-0000-4000-8000-000000000001", R"("00000000-0000-4000-8000-000000000001")"},
           {"event", "00000000-0000-1000-8000-000000000000", R"("00000000-0000-1000-8000-000000000000")"},
           {"address", "::1", R"("::1")"},
           {"address", "10.0.0.1", R"("10.0.0.1")"},
           {"note", R"({"b": [1, null]})", R"({"b":[1,null]})"},
           {"note", "\"x\"", R"("x")"},
           {"note", "x", "error"},
           {"other", "null", R"("null")"},
           {"other", "a b", R"("a b")"},
           {"place", R"(["x", 1])", R"(["x",1])"},
           {"place", "x", "error"},
           {"point", R"({"x": 1})", R"({"x":1})"},
           {"point", "null", "null"},
           {"point", "", "error"},
           {"numbers", "[3, 1]", "[3,1]"},
           {"numbers", "3", "3"},
           {"tags", R"(["b"])", R"(["b"])"},
           {"prices", R"({"a": "1.0"})", R"({"a":"1.0"})"},
           {"visits", R"([[["x", 1], 2]])", R"([[["x",1],2]])"},
           {"visits", "[[", "error"},
           {"visits", "[]]", "error"},
       }) {
    EXPECT_EQ(read(name, text), json) << name << "=" << text;
  }
  EXPECT_EQ(read("numbers", std::string(100'000, '[')), "error");
  EXPECT_EQ(read("note", std::string(100'000, '[') + std::string(100'000, ']')), "error");
  EXPECT_EQ(read("note", std::string("1\0 2", 4)), "error");
}

TEST(RunParameters, ArriveAtTheStatement) {
  // Whatever the type, the thing that was put is there: as the same command says in the same batch.
  const ProgramRun put = run_noam({"run",
                                   types(),
                                   "put_thing",
                                   "id=a",
                                   "yes=true",
                                   "number=-5",
                                   "ratio=0.5",
                                   "price=12.50",
                                   "name=two words",
                                   "short=äöü",
                                   "state=open",
                                   "bits=AAEC",
                                   "at=2024-02-29T23:59:59.999Z",
                                   "day=2024-02-29",
                                   "token=00000000-0000-4000-8000-00000000000A",
                                   "event=00000000-0000-1000-8000-000000000000",
                                   "address=10.0.0.1",
                                   "note={\"a\": 1}",
                                   "other=b",
                                   "place=[\"x\", 1]",
                                   "point={\"x\": 1}"});
  EXPECT_EQ(put.out, "applied\n") << put.err;
  EXPECT_EQ(put.code, 0);
  const auto refused = [&](const std::string& argument, const std::string& out) {
    const ProgramRun run = run_noam({"run", types(), "put_thing", "id=a", argument});
    EXPECT_EQ(run.out, out) << argument;
    EXPECT_EQ(run.code, 3) << argument;
    EXPECT_EQ(run.err, "");
  };
  refused("yes=1", "refused: yes: expected bool, not 1; for example yes=true [value]\n");
  refused("number=five", "refused: number: expected int, not \"five\"; for example number=42 [value]\n");
  refused("number=9223372036854775808",
          "refused: number: expected int, not 9223372036854775808; for example number=42 [value]\n");
  refused("state=lost", "refused: state: expected \"open\" | \"paid\", not \"lost\"; for example state=open [value]\n");
  refused("short=four", "refused: short: 4 characters, at most 3 fit [value]\n");
  refused("day=2023-02-29", "refused: day: expected date, not \"2023-02-29\"; for example day=2026-01-31 [value]\n");
  refused("place=[\"x\"]",
          "refused: place: a key of Place has 2 parts, not 1; for example place='[\"text\", 42]' [value]\n");
  refused("number=13", "refused: `number != 13 or number is absent` would not hold for Thing \"a\" [require]\n");
  refused("name=\xff", "refused: name: expected text, not \"\xef\xbf\xbd\"; for example name=text [value]\n");
}

TEST(RunParameters, MayComeAsJson) {
  const auto run = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", types(), "set_number"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_noam(arguments);
  };
  EXPECT_EQ(run({"--params", R"({"id": "a", "number": 1})"}).out, "refused: no Thing \"a\" [absent]\n");
  EXPECT_EQ(run({"--params", R"({"number": 1})", "id=a"}).out, "refused: no Thing \"a\" [absent]\n");
  EXPECT_EQ(run({"--params", R"({"number": null})", "id=a"}).out, "refused: no Thing \"a\" [absent]\n");
  expect_wrong_use(run({"--params", R"({"id": "a"})", "id=a"}), "`id` is given twice");
  expect_wrong_use(run({"id=a", "id=a"}), "`id` is given twice");
  expect_wrong_use(run({"--params", R"({"id": "a")"}), "--params");
  expect_wrong_use(run({"--params", "[]"}), "--params");
  expect_wrong_use(run({"--params", ""}), "--params");
  expect_wrong_use(run({"--params", R"({"id": "a", "numbr": 1})"}), "did you mean `number`?");
}

TEST(RunParameters, ThatAreWrongAreNamed) {
  expect_wrong_use(run_noam({"run", types(), "set_number", "id=a", "numbr=1"}), "did you mean `number`?");
  expect_wrong_use(run_noam({"run", types(), "set_number", "id=a", "colour=red"}), "available: id, number");
  expect_wrong_use(run_noam({"run", types(), "total", "x=1"}), "none available");
  expect_wrong_use(run_noam({"run", types(), "set_number", "a"}), "`a` is not `name=value`");
  expect_wrong_use(run_noam({"run", types(), "set_number", "id=a", "number="}),
                   "number: missing value: an int cannot be empty; for example number=42");
  expect_wrong_use(run_noam({"run", types(), "put_thing", "id=a", "note=x"}),
                   "note: expected json as JSON; for example note='{\"a\": 1}'");
  expect_wrong_use(run_noam({"run", types(), "put_thing", "id=a", "note=[99999999999999999999]"}),
                   "note: the integer 99999999999999999999 does not fit into 64 bits");
  expect_wrong_use(
      run_noam({"run", types(), "put_thing", "id=a", "--params", R"({"note":{"x":99999999999999999999}})"}),
      "note.x: the integer 99999999999999999999 does not fit into 64 bits");
  // Of a query a wrong value is wrong use, of a command it is refused.
  expect_wrong_use(run_noam({"run", types(), "first_things", "n=many"}),
                   "n: expected int, not \"many\"; for example n=42 [value]");
  expect_wrong_use(run_noam({"run", types(), "first_things", "n=-1"}), "[value]");
  expect_wrong_use(run_noam({"run", types(), "thing"}), "[required]");
  EXPECT_EQ(run_noam({"run", types(), "make"}).code, 3);
}

// --- What is printed -------------------------------------------------------------------------------------------------

TEST(RunOutput, IsATableOrALineOfJson) {
  const ProgramRun table = run_noam({"run", types(), "total"});
  EXPECT_EQ(table.out, "total  things\n    0       0\n(1 row)\n");
  EXPECT_EQ(table.code, 0);
  EXPECT_EQ(run_noam({"run", types(), "things"}).out, "(0 rows)\n");
  EXPECT_EQ(run_noam({"run", types(), "total", "--json"}).out, "{\"rows\":[{\"total\":0,\"things\":0}]}\n");
  const ProgramRun refused = run_noam({"run", types(), "set_number", "id=a", "number=1", "--json"});
  EXPECT_EQ(refused.out, "{\"outcome\":\"refused\",\"code\":\"absent\",\"reason\":\"no Thing \\\"a\\\"\"}\n");
  EXPECT_EQ(refused.code, 3);
  const ProgramRun error = run_noam({"run", types(), "thing", "--json"});
  EXPECT_EQ(Json::parse(error.out)["error"]["code"], "required");
  EXPECT_EQ(error.code, 2);
  EXPECT_EQ(error.err, "");
}

TEST(RunOutput, ShowsRowsForAPerson) {
  const auto model = model_of_file(types());
  const auto query = [&](const std::string& name) -> const model::Query& {
    for (const model::Query& one : model->queries)
      if (one.name == name) return one;
    throw std::runtime_error("no query " + name);
  };
  EXPECT_EQ(cli::rows_text(query("tagged").row, Json::parse(R"([
              {"id": "a", "number": 5, "tags": ["x", "y"]},
              {"id": "größer", "number": null, "tags": []},
              {"id": "line\nbreak\u001b[31m\u0085", "number": -100, "tags": []}])")),
            "id                           number  tags\n"
            "a                                 5  [\"x\",\"y\"]\n"
            "größer                            -  []\n"
            "line\\nbreak\\u001b[31m\\u0085    -100  []\n"
            "(3 rows)\n");
  // Too wide for a page: a value a line.
  EXPECT_EQ(cli::rows_text(query("others_of").row,
                           Json{{{"id", "a"}, {"name", std::string(100, 'x')}}, {{"id", "b"}, {"name", nullptr}}}),
            "id    a\nname  " + std::string(100, 'x') + "\n\nid    b\nname  -\n(2 rows)\n");
  // An aggregate alone is its fields.
  Json thing = Json::object();
  for (const std::string& name : query("thing").row.arguments[0].names) thing[name] = nullptr;
  thing["id"] = "a";
  const std::string text = cli::rows_text(query("thing").row, Json{{{"t", thing}}});
  EXPECT_EQ(text.rfind("id       a\nyes      -\n", 0), 0U) << text;
}

TEST(RunOutput, TellsGeneratedKeysAndCounts) {
  // `for` over nothing makes nothing; a bulk change counts.
  EXPECT_EQ(run_noam({"run", types(), "enter", "id=a", "at=2024-01-01T00:00:00Z", "amounts=[]"}).out, "applied\n");
  EXPECT_EQ(run_noam({"run", types(), "close", "below=5"}).out, "applied, 0 changed\n");
}

TEST(RunOutput, HasAnExitCodeForEachKindOfAnswer) {
  const auto code = [](const char* answer) { return cli::exit_code(Json::parse(answer)); };
  EXPECT_EQ(code(R"({"rows": []})"), 0);
  EXPECT_EQ(code(R"({"outcome": "applied", "keys": ["x"]})"), 0);
  EXPECT_EQ(code(R"({"error": {"code": "request", "reason": ""}})"), 2);
  EXPECT_EQ(code(R"({"error": {"code": "store", "reason": ""}})"), 2);
  EXPECT_EQ(code(R"({"error": {"code": "overflow", "reason": ""}})"), 3);
  EXPECT_EQ(code(R"({"outcome": "refused", "code": "absent", "reason": ""})"), 3);
  EXPECT_EQ(code(R"({"outcome": "unknown", "reason": ""})"), 4);
}

TEST(RunOutput, SaysWhenItCantBeWritten) {
  const std::string noam = noam_program();
  const ProgramRun full = run_program({"sh", "-c", noam + " run " + types() + " total > /dev/full"});
  EXPECT_EQ(full.code, 2);
  EXPECT_EQ(full.err.rfind("noam: standard output: cannot be written", 0), 0U) << full.err;
  std::string input;
  for (int i = 0; i < 20'000; ++i) input += "{\"run\": \"total\"}\n";
  // The reader leaves after one answer.
  const ProgramRun gone =
      run_program({"sh", "-c", "(" + noam + " run " + types() + " --batch; echo $? >&2) | head -n 1"}, input);
  EXPECT_EQ(gone.out, "{\"rows\":[{\"total\":0,\"things\":0}]}\n");
  EXPECT_EQ(gone.err, "noam: standard output: cannot be written: Broken pipe\n2\n");
}

// --- Wrong use -------------------------------------------------------------------------------------------------------

TEST(RunCommand, EndsWithOneWhereTheModelIsWrong) {
  const TemporaryFolder folder;
  const std::string wrong = (folder.path() / "wrong.noam").string();
  write_file(wrong, "model shop\nentity Product { sku: text key  price: decimals }\n");
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"run", wrong, "x"}, {"run", wrong, "--batch"}, {"verify", wrong}}) {
    const ProgramRun run = run_noam(arguments);
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find("[unknown-type]"), std::string::npos);
  }
}

TEST(RunCommand, EndsWithTwoWhereItIsUsedWrongly) {
  expect_wrong_use(run_noam({"run"}), "FILE");
  expect_wrong_use(run_noam({"run", "missing.noam", "x"}), "missing.noam");
  expect_wrong_use(run_noam({"run", types()}), "no query or command given; ");
  expect_wrong_use(run_noam({"run", types(), "thign"}), "did you mean `thing`?");
  expect_wrong_use(run_noam({"run", types(), "check"}), "no query or command `check`");
  expect_wrong_use(run_noam({"run", types(), "total", "--batch"}), "--batch");
  expect_wrong_use(run_noam({"run", types(), "--batch", "--params", "{}"}), "--batch");
  expect_wrong_use(run_noam({"run", "-", "--batch"}), "standard input");
  expect_wrong_use(run_noam({"run", types(), "total", "--id", "x"}), "a query takes no `id`");
  expect_wrong_use(run_noam({"run", types(), "make", "id=a", "--id", "x"}), "`id` must be a UUIDv7");
  expect_wrong_use(run_noam({"run", types(), "make", "id=a", "--cursor", "x"}), "a command takes no `cursor`");
  expect_wrong_use(run_noam({"run", types(), "things", "--cursor", "x"}), "the `cursor` is not one of query `things`");
  expect_wrong_use(run_noam({"run", types(), "total", "--jsno"}), "--jsno");
}

TEST(RunCommand, NamesStoresAndStrategies) {
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "rocksdb:missing"}), "noam deploy");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "rocksdb:"}), "has no folder");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "mongodb://a/c"}), "mongodb is not implemented yet");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "cassandra://a,b"}), "it names no keyspace");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "mysql://a"}), "available: `memory:`");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "memory"}), "available: `memory:`");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", "memory:x"}), "nothing can follow `memory:`");
  expect_wrong_use(run_noam({"run", types(), "total", "--store", ""}), "available: `memory:`");
  expect_wrong_use(run_noam({"run", example("game"), "game", "id=1", "--strategy", "figur8"}),
                   "did you mean `figure8`? available: eao, etf, normalized, figure8");
  expect_wrong_use(run_noam({"run", types(), "total", "--strategy", "best"}), "available: eao, etf, normalized");
  expect_wrong_use(run_noam({"run", types(), "total", "--strategy", "advised"}),
                   "is not implemented yet; available: eao");
  EXPECT_EQ(run_noam({"run", types(), "total", "--store", "memory:"}).code, 0);
  for (const char* strategy : {"eao", "etf", "normalized", "figure8", "figure11"})
    EXPECT_EQ(run_noam({"run", example("game"), "game", "id=1", "--strategy", strategy}).out, "(0 rows)\n") << strategy;
}

TEST(RunCommand, ReadsTheModelFromStandardInput) {
  EXPECT_EQ(run_noam({"run", "-", "things"}, read_file(types())).out, "(0 rows)\n");
}

TEST(RunCommand, TeachesByItsHelp) {
  for (const char* command : {"run", "verify"}) {
    const ProgramRun run = run_noam({command, "--help"});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, "");
    for (const char* word : {"Example", "Exit codes", "memory:", "docs/commands/", "eao"})
      EXPECT_NE(run.out.find(word), std::string::npos) << word;
  }
}

TEST(RunParameters, AreShownByExamplesThatAreRight) {
  const auto model = model_of_file(types());
  std::size_t shown = 0;
  const auto check_all = [&](const std::vector<model::Parameter>& parameters) {
    for (const model::Parameter& parameter : parameters) {
      SCOPED_TRACE(parameter.name);
      const std::string example = language::example_of(*model, parameter);
      const ProgramRun typed = run_program({"sh", "-c", "printf %s " + example});
      ASSERT_EQ(typed.out.rfind(parameter.name + "=", 0), 0U) << example;
      const auto json = language::read_argument(*model, parameter.type, typed.out.substr(parameter.name.size() + 1));
      ASSERT_TRUE(json) << example << ": " << json.error().message;
      EXPECT_TRUE(model::read_json(*model, parameter.type, *json)) << example;
      ++shown;
    }
  };
  for (const model::Query& query : model->queries) check_all(query.parameters);
  for (const model::Command& command : model->commands) check_all(command.parameters);
  EXPECT_GT(shown, 50U);
}

TEST(RunParameters, OfAWrongFormAreAnsweredWithAnExample) {
  const auto answer = [&](const std::string& statement, const std::string& argument) {
    std::vector<std::string> arguments{"run", types(), statement, "id=a", argument};
    if (statement == "find") arguments.erase(arguments.begin() + 3);
    const ProgramRun run = run_noam(arguments);
    EXPECT_NE(run.code, 0);
    EXPECT_EQ(lines_of(run.out + run.err).size(), 1U) << run.out << run.err;
    return run.out + run.err;
  };
  const auto put = [&](const std::string& argument) { return answer("put_thing", argument); };
  const auto fill = [&](const std::string& argument) { return answer("fill", argument); };
  EXPECT_EQ(put("at=yesterday"),
            "refused: at: expected timestamp, not \"yesterday\"; for example at=2026-01-31T08:30:00Z [value]\n");
  EXPECT_EQ(put("day=31.1.2026"),
            "refused: day: expected date, not \"31.1.2026\"; for example day=2026-01-31 [value]\n");
  EXPECT_EQ(put("number=abc"), "refused: number: expected int, not \"abc\"; for example number=42 [value]\n");
  EXPECT_EQ(put("ratio=abc"), "refused: ratio: expected float, not \"abc\"; for example ratio=1.5 [value]\n");
  EXPECT_EQ(put("price=1,5"), "refused: price: expected decimal, not \"1,5\"; for example price=9.99 [value]\n");
  EXPECT_EQ(
      put("token=x"),
      "refused: token: expected uuid, not \"x\"; for example token=0198c1f2-7a5e-7000-8000-0123456789ab [value]\n");
  EXPECT_EQ(put("bits=?"), "refused: bits: expected bytes, not \"?\"; for example bits=aGk= [value]\n");
  EXPECT_EQ(put("address=1.2"),
            "refused: address: expected inet, not \"1.2\"; for example address=192.0.2.1 [value]\n");
  EXPECT_EQ(put("yes=yes"), "refused: yes: expected bool, not \"yes\"; for example yes=true [value]\n");
  EXPECT_EQ(put("state=shut"),
            "refused: state: expected \"open\" | \"paid\", not \"shut\"; for example state=open [value]\n");
  EXPECT_EQ(put("point=5"), "refused: point: expected Point, not 5; for example point='{\"x\": 42}' [value]\n");
  EXPECT_EQ(put("place=here"), "noam: place: expected Place as JSON; for example place='[\"text\", 42]'\n");
  EXPECT_EQ(put("number="), "noam: number: missing value: an int cannot be empty; for example number=42\n");
  EXPECT_EQ(put("token="),
            "noam: token: missing value: a uuid cannot be empty; for example "
            "token=0198c1f2-7a5e-7000-8000-0123456789ab\n");
  EXPECT_EQ(fill("tags=a,b"), "noam: tags: expected set<text> as JSON; for example tags='[\"text\"]'\n");
  EXPECT_EQ(fill("numbers="), "noam: numbers: missing value: write [] for an empty list; for example numbers='[42]'\n");
  EXPECT_EQ(fill("prices="),
            "noam: prices: missing value: write {} for an empty map; for example prices='{\"text\": \"9.99\"}'\n");
  EXPECT_EQ(put(R"(point={"x": "a"})"),
            "refused: point.x: expected int, not \"a\"; for example point='{\"x\": 42}' [value]\n");
  EXPECT_EQ(answer("find", "at=now"),
            "noam: at: expected timestamp, not \"now\"; for example at=2026-01-31T08:30:00Z [value]\n");
  // Of the right form, and refused for another reason.
  EXPECT_EQ(put("short=long"), "refused: short: 4 characters, at most 3 fit [value]\n");
}

// --- Batches ---------------------------------------------------------------------------------------------------------

TEST(RunBatch, AnswersEveryTypeAsItWasWritten) {
  const auto all = answers(
      R"({"run":"put_thing","params":{"id":"a","yes":true,"number":-5,"ratio":0.25,"price":"12.50","name":"two words","short":"äöü","state":"open","bits":"AAEC","at":"2024-02-29T23:59:59+01:00","day":"2024-02-29","token":"00000000-0000-4000-8000-00000000000A","event":"00000000-0000-1000-8000-000000000000","address":"::FFFF:10.0.0.1","note":{"b":[1,null],"a":1.50},"other":"b","place":["x",1],"point":{"x":1}}})"
      "\n"
      R"({"run":"fill","params":{"id":"a","numbers":[3,1,1],"points":[{"x":1,"y":2,"label":"l"}],"tags":["b","a","b"],"near":[["y",2],["x",1]],"prices":{"k":"1.0","a":2},"visits":[[["x",1],5]]}})"
      "\n"
      R"({"run":"thing","params":{"id":"a"}})"
      "\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].dump(), R"({"outcome":"applied"})");
  EXPECT_EQ(all[1].dump(), R"({"outcome":"applied"})");
  EXPECT_EQ(
      all[2].dump(),
      R"({"rows":[{"t":{"id":"a","yes":true,"number":-5,"ratio":0.25,"price":"12.5","name":"two words","short":"äöü","state":"open","bits":"AAEC","at":"2024-02-29T22:59:59.000Z","day":"2024-02-29","token":"00000000-0000-4000-8000-00000000000a","event":"00000000-0000-1000-8000-000000000000","address":"::ffff:10.0.0.1","note":{"b":[1,null],"a":1.5},"other":"b","place":["x",1],"point":{"x":1,"y":0.5,"label":null},"numbers":[3,1,1],"points":[{"x":1,"y":2.0,"label":"l"}],"tags":["a","b"],"near":[["x",1],["y",2]],"prices":[["a","2"],["k","1"]],"visits":[[["x",1],5]]}}]})");
}

TEST(RunBatch, GoesOnAfterLinesThatAreNoRequests) {
  const std::string good = R"({"run":"make","params":{"id":"a"}})";
  const std::vector<std::string> wrong = {
      "",
      "   \t",
      "\r",
      "nonsense",
      "{",
      "}",
      "5",
      "[]",
      "null",
      "\"make\"",
      "{}",
      R"({"run":5})",
      R"({"run":null})",
      R"({"run":"nothing"})",
      R"({"params":{}})",
      R"({"run":"make","params":[]})",
      R"({"run":"make","params":{"id":"a"},"more":1})",
      R"({"run":"make","params":{"id":"a"},"id":5})",
      R"({"run":"make","params":{"id":"a"},"id":"0198c1f2-7d00-4000-8000-000000000000"})",
      R"({"run":"make","params":{"id":"a"},"cursor":"x"})",
      R"({"run":"thing","params":{"id":"a"},"id":"0198c1f2-7d00-7000-8000-000000000000"})",
      R"({"run":"thing","params":{"name":"a"}})",
      good + good,
      good + "x",
      R"({"run":"make","params":{"id":"a)",
      "{\"run\":\"make\",\"params\":{\"id\":\"a\xff\"}}",
      "{\"run\":\"make\",\"params\":{\"id\":\"a\xc0\x80\"}}",
      std::string("\0", 1),
      good + std::string("\0", 1),
      std::string(100'000, '['),
      R"({"run":"make","params":{"id":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}}",
      R"({"refresh":"nothing"})",
      R"({"refresh":5})",
      R"({"refresh":"largest","run":"make"})",
      R"({"sweep":false})",
      R"({"sweep":true,"params":{}})",
  };
  std::string input;
  for (const std::string& line : wrong) input += line + "\n";
  input += good + "\n";
  const auto all = answers(input);
  ASSERT_EQ(all.size(), wrong.size() + 1);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_EQ(brief(all[i]), "error request") << wrong[i].substr(0, 200);
    EXPECT_FALSE(all[i]["error"]["reason"].get<std::string>().empty());
  }
  EXPECT_EQ(brief(all.back()), "applied") << "none of the lines before made anything";
}

TEST(RunBatch, RefusesWhatDoesNotFitAndChangesNothing) {
  const std::string long_text(2'000, 'x');
  const std::string huge(1'000'000, 'x');
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"({"run":"make"})", "refused required"},
      {R"({"run":"make","params":{}})", "refused required"},
      {R"({"run":"make","params":{"id":null}})", "refused required"},
      {R"({"run":"make","params":{"id":5}})", "refused value"},
      {R"({"run":"make","params":{"id":["b"]}})", "refused value"},
      {R"({"run":"make","params":{"id":"b","more":1}})", "refused value"},
      {R"({"run":"make","params":{"id":"b\u0000"}})", "refused value"},
      {R"({"run":"make","params":{"id":""}})", "refused key"},
      {R"({"run":"make","params":{"id":"a"}})", "refused exists"},
      {R"({"run":"make","params":{"id":")" + long_text + "\"}}", "refused value"},
      {R"({"run":"make_place","params":{"town":")" + long_text + R"(","number":1}})", "refused key"},
      {R"({"run":"make_place","params":{"town":")" + huge + R"(","number":1}})", "refused key"},
      {R"({"run":"make_place","params":{"town":"","number":1}})", "refused key"},
      {R"({"run":"put_thing","params":{"id":"a","short":"four"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","other":""}})", "refused key"},
      {R"({"run":"put_thing","params":{"id":"a","place":["x",1,2]}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","place":["x",null]}})", "refused required"},
      {R"({"run":"put_thing","params":{"id":"a","place":"x"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","point":{}}})", "refused required"},
      {R"({"run":"put_thing","params":{"id":"a","point":{"x":1,"z":1}}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","point":{"x":1,"label":"longer"}}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","state":"lost"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","number":1.5}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","number":9223372036854775808}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","number":13}})", "refused require"},
      {R"({"run":"put_thing","params":{"id":"a","ratio":"NaN"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","price":1.5}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","price":"1e200"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","bits":"AA"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","at":"2024-02-29T23:59:59.9999Z"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","day":"2023-02-29"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","token":"0"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","event":"00000000-0000-4000-8000-000000000000"}})", "refused value"},
      {R"({"run":"put_thing","params":{"id":"a","address":"10.0.0.1/8"}})", "refused value"},
      {R"({"run":"set_number","params":{"id":"nobody","number":1}})", "refused absent"},
      {R"({"run":"set_position","params":{"id":"a","position":0,"number":1}})", "refused position"},
      {R"({"run":"double","params":{"id":"a"}})", "refused overflow"},
      {R"({"run":"enter","params":{"id":"nobody","at":"2024-01-01T00:00:00Z","amounts":[1]}})", "refused owner"},
      {R"({"run":"drop_some","params":{"tag":"x","n":-1}})", "refused value"},
      {R"({"run":"drop","params":{"id":"a"},"id":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"})", "refused expired"},
      {R"({"run":"first_things","params":{"n":-1}})", "error value"},
      {R"({"run":"first_things","params":{"n":"1"}})", "error value"},
      {R"({"run":"first_things"})", "error required"},
      {R"({"run":"first_things","params":{"n":1,"m":1}})", "error request"},
      {R"({"run":"put_thing","params":{"id":"a","note":[99999999999999999999]}})", "refused value"},
      {R"({"run":"largest","cursor":"x"})", "error request"},
      {R"({"run":"things","cursor":"x"})", "error request"},
      {R"({"run":"things","cursor":""})", "error request"},
      {R"({"run":"thing","params":{"id":"a"},"cursor":"x"})", "error request"},
  };
  std::string input = R"({"run":"put_thing","params":{"id":"a","number":9223372036854775807}})"
                      "\n";
  const std::string state = R"({"run":"thing","params":{"id":"a"}})"
                            "\n"
                            R"({"run":"total"})"
                            "\n";
  input += state;
  for (const auto& [line, expected] : wrong) input += line + "\n";
  input += state;
  const auto all = answers(input);
  ASSERT_EQ(all.size(), wrong.size() + 5);
  for (std::size_t i = 0; i < wrong.size(); ++i)
    EXPECT_EQ(brief(all[i + 3]), wrong[i].second) << wrong[i].first.substr(0, 200) << all[i + 3].dump().substr(0, 200);
  EXPECT_EQ(all[1], all[all.size() - 2]);
  EXPECT_EQ(all[2], all[all.size() - 1]);
  EXPECT_EQ(all[2]["rows"].dump(), R"([{"total":9223372036854775807,"things":1}])");
}

TEST(RunBatch, TakesLinesAsTheyCome) {
  const std::string make = R"({"run":"make","params":{"id":"a"}})";
  EXPECT_EQ(briefs(""), Texts{});
  EXPECT_EQ(briefs(make), Texts{"applied"}) << "the last line needs no line break";
  EXPECT_EQ(briefs(make + "\r\n" + make + "\r\n"), (Texts{"applied", "refused exists"}));
  EXPECT_EQ(briefs("\n\n" + make), (Texts{"error request", "error request", "applied"}));
  EXPECT_EQ(briefs("\xef\xbb\xbf" + make + "\n"), Texts{"applied"}) << "a byte order mark";
  EXPECT_EQ(briefs("  " + make + "  \n"), Texts{"applied"});
  EXPECT_EQ(briefs(R"({"params":{"id":"a"},"run":"make","id":null,"cursor":null})"), Texts{"applied"});
}

TEST(RunBatch, AnswersALineThatIsTooLongAndGoesOn) {
  const std::size_t mebibyte = 1U << 20U;
  const std::string make = R"({"run":"make","params":{"id":"a"}})";
  std::string input = std::string(65 * mebibyte, ' ') + "\n" + make + "\n";
  input += R"({"run":"make_place","params":{"number":1,"town":")" + std::string(60 * mebibyte, 'x') + "\"}}\n";
  input += make + "\n" + std::string(65 * mebibyte, 'x');
  EXPECT_EQ(briefs(input), (Texts{"error request", "applied", "refused key", "refused exists", "error request"}));
}

TEST(RunBatch, KeepsPlacesInPages) {
  std::string input;
  for (const char* id : {"a", "b", "c", "d", "e"})
    input += R"({"run":"make","params":{"id":")" + std::string(id) + "\"}}\n";
  input += R"({"run":"things"})";
  const auto first = answers(input);
  ASSERT_TRUE(first.back().contains("cursor"));
  // A cursor is a position, so it may be taken to another session.
  const auto second = answers(input + "\n" + Json{{"run", "things"}, {"cursor", first.back()["cursor"]}}.dump());
  ASSERT_TRUE(second.back().contains("cursor"));
  const auto third = answers(input + "\n" + Json{{"run", "things"}, {"cursor", second.back()["cursor"]}}.dump());
  EXPECT_FALSE(third.back().contains("cursor"));
  std::string ids;
  for (const auto* page : {&first, &second, &third})
    for (const Json& row : page->back()["rows"]) ids += row["id"].get<std::string>();
  EXPECT_EQ(ids, "abcde");
}

TEST(RunBatch, RefreshesAndSweeps) {
  const auto all = briefs(R"({"run":"largest"}
{"run":"put_thing","params":{"id":"a","number":5}}
{"run":"enter","params":{"id":"a","at":"2020-01-01T00:00:00Z","amounts":[1,2,3]}}
{"refresh":"largest"}
{"run":"set_number","params":{"id":"a","number":6}}
{"run":"largest"}
{"refresh": "largest"}
{"run":"largest"}
{"run":"amounts","params":{"id":"a"}}
{"sweep":true}
{"run":"amounts","params":{"id":"a"}}
{"refresh":"things"}
)");
  const std::string before =
      R"([{"id":"a","largest":{"at":"2020-01-01T00:00:00.000Z","amount":3},"all":[{"amount":1},{"amount":2},{"amount":3}]}])";
  EXPECT_EQ(all, (Texts{"[]", "applied", "applied", "applied", "applied", R"([{"id":"a","number":5}])", "applied",
                        R"([{"id":"a","number":6}])", before, "applied", R"([{"id":"a","largest":null,"all":[]}])",
                        "error request"}));
}

TEST(RunBatch, AnswersTheSameUnderEveryStrategy) {
  const std::string input = R"({"run":"put_thing","params":{"id":"a","number":5,"name":"some words","state":"open"}}
{"run":"put_thing","params":{"id":"b","number":7,"other":"a","name":"more words"}}
{"run":"tag","params":{"id":"a","tag":"x"}}
{"run":"tagged","params":{"tag":"x"}}
{"run":"others_of","params":{"id":"a"}}
{"run":"by_state"}
{"run":"with_words","params":{"words":"WORDS some"}}
{"run":"any_of","params":{"ids":["b","c","a"]}}
{"run":"close","params":{"below":7}}
{"run":"by_state"}
{"run":"drop","params":{"id":"a"}}
{"run":"others_of","params":{"id":"a"}}
{"run":"total"}
)";
  const Texts expected = briefs(input, {"--strategy", "eao"});
  EXPECT_EQ(expected[3], R"([{"id":"a","number":5,"tags":["x"]}])");
  EXPECT_EQ(expected[4], R"([{"id":"b","name":"more words"}])");
  EXPECT_EQ(expected[5], R"([{"state":null,"n":1,"total":7},{"state":"open","n":1,"total":5}])");
  EXPECT_EQ(expected[12], R"([{"total":7,"things":1}])");
  for (const char* strategy : {"etf", "normalized"}) EXPECT_EQ(briefs(input, {"--strategy", strategy}), expected);
}

namespace {

// `noam run --batch` at the other end of two pipes.
class Conversation {
 public:
  Conversation() {
    int in[2] = {};
    int out[2] = {};
    if (::pipe(in) != 0 || ::pipe(out) != 0) throw std::runtime_error("can't make a pipe");
    const std::string model = types();
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (const int end : {in[0], in[1], out[0], out[1]}) ::close(end);
      ::execl(noam_program(), noam_program(), "run", model.c_str(), "--batch", "--store", "memory:", nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    write_ = in[1];
    reader_ = std::make_unique<cli::LineReader>(read_ = out[0]);
  }
  ~Conversation() { end(); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void say(std::string_view text) const {
    ASSERT_EQ(::write(write_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string hear() {
    std::string line;
    EXPECT_EQ(reader_->next(line), cli::LineKind::Line);
    return line;
  }
  bool silent() {
    std::string line;
    return reader_->next(line) == cli::LineKind::End;
  }
  void hang_up() {
    if (write_ >= 0) ::close(write_);
    write_ = -1;
  }
  int end() {
    hang_up();
    if (child_ < 0) return code_;
    ::close(read_);
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  pid_t child_ = -1;
  int write_ = -1;
  int read_ = -1;
  int code_ = -1;
  std::unique_ptr<cli::LineReader> reader_;
};

}  // namespace

TEST(RunBatch, AnswersEachLineBeforeTheNextIsThere) {
  Conversation conversation;
  conversation.say(R"({"run":"make","params":{"id":"a"}})"
                   "\n");
  EXPECT_EQ(conversation.hear(), R"({"outcome":"applied"})");
  conversation.say(R"({"run":"set_num)");
  conversation.say(R"(ber","params":{"id":"a","number":1}})");
  conversation.say("\n{\"run\":");
  EXPECT_EQ(conversation.hear(), R"({"outcome":"applied"})");
  conversation.say("\"total\"}");
  conversation.hang_up();
  EXPECT_EQ(conversation.hear(), R"({"rows":[{"total":1,"things":1}]})");
  EXPECT_TRUE(conversation.silent());
  EXPECT_EQ(conversation.end(), 0);
}

TEST(RunBatch, AnswersALongBatchInOrder) {
  Conversation conversation;
  constexpr int rounds = 60;
  constexpr int lines = 50;  // at once
  conversation.say(R"({"run":"make","params":{"id":"a"}})"
                   "\n");
  EXPECT_EQ(conversation.hear(), R"({"outcome":"applied"})");
  std::int64_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text;
    for (int i = 0; i < lines; ++i)
      text += R"({"run":"set_number","params":{"id":"a","number":)" + std::to_string(100 + number + i) +
              "}}\n{\"run\":\"total\"}\n";
    conversation.say(text);
    for (int i = 0; i < lines; ++i, ++number) {
      ASSERT_EQ(conversation.hear(), R"({"outcome":"applied"})");
      ASSERT_EQ(conversation.hear(), R"({"rows":[{"total":)" + std::to_string(100 + number) + R"(,"things":1}]})");
    }
  }
  conversation.hang_up();
  EXPECT_TRUE(conversation.silent());
  EXPECT_EQ(conversation.end(), 0);
}

TEST(LineReader, CutsWhatItReads) {
  const auto read = [](const std::string& text, std::size_t longest) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    cli::LineReader reader(ends[0], longest);
    Texts seen;
    std::string line;
    for (auto kind = reader.next(line); kind != cli::LineKind::End; kind = reader.next(line))
      seen.push_back(kind == cli::LineKind::Line ? line : "TOO LONG");
    EXPECT_EQ(reader.next(line), cli::LineKind::End);
    ::close(ends[0]);
    return seen;
  };
  EXPECT_EQ(read("", 4), Texts{});
  EXPECT_EQ(read("\n", 4), Texts{""});
  EXPECT_EQ(read("a\nb", 4), (Texts{"a", "b"}));
  EXPECT_EQ(read("abcd\nabcde\nab\n", 4), (Texts{"abcd", "TOO LONG", "ab"}));
  EXPECT_EQ(read("abcde", 4), Texts{"TOO LONG"});
  EXPECT_EQ(read("abcd", 4), Texts{"abcd"});
  EXPECT_EQ(read("a\n\n\nb\n", 4), (Texts{"a", "", "", "b"}));
  EXPECT_EQ(read(std::string("a\0b\n", 4), 4), (Texts{std::string("a\0b", 3)}));
  cli::LineReader closed(-1);
  std::string line;
  EXPECT_EQ(closed.next(line), cli::LineKind::Failed);
}

// --- After a file ----------------------------------------------------------------------------------------------------

TEST(RunAfter, RunsAStatementOnWhatTheRequestsLeft) {
  const std::string things = R"({"run":"put_thing","params":{"id":"a","number":5,"name":"one"}}
{"run":"put_thing","params":{"id":"b","number":-12}}
{"run":"make","params":{"id":"c"}}
)";
  const ProgramRun run = run_noam({"run", types(), "things", "--after", "-"}, things);
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  const auto lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 5U) << run.out;
  EXPECT_EQ(lines[0], "id  number  name");
  EXPECT_EQ(lines[1], "a        5  one");
  EXPECT_EQ(lines[2], "b      -12  -");
  EXPECT_EQ(lines[3], "(2 rows)");
  const std::string more = "more rows: --cursor ";
  ASSERT_EQ(lines[4].rfind(more, 0), 0U);
  const ProgramRun next =
      run_noam({"run", types(), "things", "--after", "-", "--cursor", lines[4].substr(more.size())}, things);
  EXPECT_EQ(next.out, "id  number  name\nc        -  -\n(1 row)\n");
  EXPECT_EQ(run_noam({"run", types(), "drop_some", "tag=x", "n=3", "--after", "-"}, things + R"(
{"run":"tag","params":{"id":"b","tag":"x"}})")
                .code,
            2);
  EXPECT_EQ(run_noam({"run", types(), "drop_some", "tag=x", "n=3", "--after", "-"},
                     things + R"({"run":"tag","params":{"id":"b","tag":"x"}})")
                .out,
            "applied, 1 changed\n");
  const ProgramRun keys =
      run_noam({"run", types(), "enter", "id=a", "at=2024-01-01T00:00:00Z", "amounts=[1, 2]", "--after", "-"}, things);
  EXPECT_EQ(keys.out.rfind("applied, keys ", 0), 0U) << keys.out;
  EXPECT_EQ(keys.out.size(), std::string("applied, keys , \n").size() + 2 * 36);
}

TEST(RunAfter, TellsWhatWasRefusedBefore) {
  const ProgramRun run = run_noam({"run", types(), "things", "--after", "-"}, R"({"run":"make"})");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "(0 rows)\n");
  EXPECT_EQ(run.err, "noam: <stdin>: 1 request: 1 refused\n");
  expect_wrong_use(run_noam({"run", types(), "things", "--after", "-"}, "x\n"),
                   "<stdin>:1: invalid JSON: unexpected input at byte 1");
  expect_wrong_use(run_noam({"run", types(), "things", "--after", "missing"}), "missing");
  expect_wrong_use(run_noam({"run", types(), "--batch", "--after", "missing"}), "--batch");
  expect_wrong_use(run_noam({"run", "-", "things", "--after", "-"}), "standard input");
}

TEST(RunAfter, KnowsACommandThatIsRepeated) {
  // An id of now: a repeat within the hour.
  const auto id = model::make_command_id(runtime::system_time(), 1, 2).text();
  const std::string first = Json{{"run", "make"}, {"params", {{"id", "a"}}}, {"id", id}}.dump();
  EXPECT_EQ(run_noam({"run", types(), "make", "id=a", "--after", "-", "--id", id}, first).out, "applied\n");
  EXPECT_EQ(run_noam({"run", types(), "make", "id=a", "--after", "-"}, first).out,
            "refused: Thing \"a\" already exists [exists]\n");
}

// --- verify ----------------------------------------------------------------------------------------------------------

namespace {

const char* const evening = R"({"run":"register","params":{"username":"ann","id":1}}
{"run":"register","params":{"username":"ben","id":2}}
{"run":"follow","params":{"follower":"ann","followed":"ben"}}
{"run":"post","params":{"id":1,"author":"ben","at":"2026-06-01T00:01:00.000Z","content":"good morning","language":"en"}}
{"run":"like","params":{"username":"ann","tweet":1}}
{"run":"register","params":{"username":"ann","id":3}}
{"run":"newest","params":{"username":"ann"}}
{"refresh":"top_accounts"}
)";

}  // namespace

TEST(VerifyCommand, ComparesWhatTheRequestsLeft) {
  for (const char* strategy : {"eao", "etf", "normalized", "seed003"}) {
    const ProgramRun run = run_noam({"verify", example("microblog"), "--strategy", strategy, "--after", "-"}, evening);
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    const auto lines = lines_of(run.out);
    ASSERT_EQ(lines.size(), 2U) << run.out;
    EXPECT_EQ(lines[0], "8 requests: 6 applied, 1 refused, 1 answered");
    EXPECT_NE(lines[1].find(" entries compared under `" + std::string(strategy) + "`, no differences"),
              std::string::npos)
        << run.out;
  }
  const ProgramRun nothing = run_noam({"verify", types()});
  EXPECT_EQ(nothing.out, "0 entries compared under `eao`, no differences\n");
  EXPECT_EQ(nothing.code, 0);
}

TEST(VerifyCommand, TellsAsJson) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "evening.jsonl").string();
  write_file(file, evening);
  const ProgramRun run = run_noam({"verify", example("microblog"), "--json", "--after", file});
  EXPECT_EQ(run.code, 0);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["strategy"], "eao");
  EXPECT_EQ(json["after"].dump(), R"({"applied":6,"refused":1,"unknown":0,"answered":1,"errors":0})");
  EXPECT_GT(json["entries"], 0);
  EXPECT_EQ(json["differences"], Json::array());
  EXPECT_EQ(json["not_compared"], Json::array());
  EXPECT_TRUE(Json::parse(run_noam({"verify", types(), "--json"}).out)["after"].is_null());
}

TEST(VerifyCommand, SaysWhatCantBeMadeAgain) {
  const ProgramRun run = run_noam({"verify", example("shortener"), "--strategy", "eao"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("not compared: "), std::string::npos) << run.out;
}

TEST(VerifyCommand, EndsWithTwoAtALineThatIsNoRequest) {
  expect_wrong_use(run_noam({"verify", types(), "--after", "-"}, "{\"run\":\"total\"}\n\n"),
                   "<stdin>:2: an empty line is not a request");
  expect_wrong_use(run_noam({"verify", types(), "--after", "-"}, "{\"run\":\"nothing\"}\n"), "<stdin>:1: no query");
  expect_wrong_use(run_noam({"verify", types(), "--after", "missing.jsonl"}), "missing.jsonl: cannot be read");
  expect_wrong_use(run_noam({"verify", types(), "--after", source_dir().string()}), "cannot be read");
  expect_wrong_use(run_noam({"verify", "-", "--after", "-"}), "standard input");
  expect_wrong_use(run_noam({"verify", types(), "--store", "redis://x"}), "redis is not implemented yet");
}

TEST(VerifyCommand, NamesEveryDifference) {
  // Behind the back of the session, an entry goes.
  const auto store = stores::open_memory_store();
  const auto session = open_session(model_of_file(example("microblog")), "eao", *store);
  ASSERT_TRUE(session) << session.error().message;
  for (const std::string& line : lines_of(evening)) cli::answer_request(**session, line);
  const design::Design& design = (*session)->program().design;
  std::size_t gone = 0;
  for (const design::Upkeep& upkeep : (*session)->program().upkeep) {
    const auto page = store->scan(upkeep.family, "", nullptr, stores::no_deadline);
    ASSERT_TRUE(page);
    for (const auto& item : page->items) {
      stores::WriteBatch batch;
      batch.changes.emplace_back(
          stores::Delete{{{design.families[upkeep.family].collection, item.block}, upkeep.family, item.entry.key}});
      const auto outcome = store->commit(batch, stores::no_deadline);
      ASSERT_TRUE(outcome);
      ++gone;
      break;
    }
    if (gone > 0) break;
  }
  ASSERT_EQ(gone, 1U) << "this design keeps no copy";
  const auto found = (*session)->verify();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->differences.size(), 1U);
  const std::string text = cli::verification_text(*found, "eao", std::nullopt);
  EXPECT_EQ(text.rfind(found->differences[0].collection + ": ", 0), 0U) << text;
  EXPECT_NE(text.find("is missing\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" compared under `eao`, 1 difference\n"), std::string::npos) << text;
  const Json json = Json::parse(cli::verification_json(*found, "eao", std::nullopt));
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_EQ(json["differences"][0]["collection"], found->differences[0].collection);
  EXPECT_EQ(cli::verification_exit_code(*found), 3);
}

// --- Documentation and example ---------------------------------------------------------------------------------------

TEST(RunDocumentation, ShowsWhatNoamPrints) {
  const TemporaryFolder folder;
  fs::create_symlink(source_dir() / "examples", folder.path() / "examples");
  expect_story(source_dir() / "docs/json.md", folder.path());
}

TEST(LibraryExample, PrintsWhatItsPageShows) {
  const ProgramRun run = run_program({example_library(), example("game")});
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string page = read_file(source_dir() / "examples/library/README.md");
  const std::size_t begin = page.find("```text\n");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = page.find("```\n", begin + 8);
  EXPECT_EQ(run.out, page.substr(begin + 8, end - begin - 8));
  EXPECT_EQ(run_program({example_library()}).code, 1);
  EXPECT_EQ(run_program({example_library(), "missing.noam"}).code, 1);
}

}  // namespace noam::tests
