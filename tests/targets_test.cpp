#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/compile/compile.h"
#include "noam/design/explanation.h"
#include "noam/design/program.h"
#include "noam/targets/target.h"
#include "tests/compiled.h"
#include "tests/support.h"

// What noam writes for other databases: golden files, and what holds for all of them. tests/servers asks the databases
// themselves.
namespace noam::tests {

namespace {

// Every model of the examples and tests under every design.
void for_each_program(const std::function<void(const design::Program&)>& visit) {
  for (const char* folder : {"examples", "tests/models"}) {
    for (const auto& path : files_below(folder, ".noam")) {
      const auto model = model_of_file(path);
      for (const std::string& name : strategies_of(*model)) {
        SCOPED_TRACE(path.filename().string() + " " + name);
        const auto program = compile_program(model, name);
        ASSERT_TRUE(program) << program.error().message;
        visit(*program);
      }
    }
  }
}

// Steps that ask a database for something.
std::size_t reading_steps(const design::Plan& plan) {
  std::size_t out = 0;
  for (const auto* steps : {&plan.steps, &plan.late}) {
    for (const design::Step& step : *steps) {
      out += step.kind == design::StepKind::Lookup || step.kind == design::StepKind::Scan ||
                     step.kind == design::StepKind::Collect || step.kind == design::StepKind::Refreshed
                 ? 1
                 : 0;
      for (const design::Plan& nested : step.nested) out += reading_steps(nested);
    }
  }
  for (const design::Plan& otherwise : plan.otherwise) out += reading_steps(otherwise);
  return out;
}

class Generate : public testing::Test {
 protected:
  [[nodiscard]] std::string folder(const std::string& name = "out") const { return (folder_.path() / name).string(); }
  [[nodiscard]] static std::string game() { return (source_dir() / "examples/game/game.noam").string(); }

  [[nodiscard]] ProgramRun generate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"generate", game(), "--target", "cassandra"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_noam(arguments);
  }

  [[nodiscard]] std::vector<std::string> names_in(const std::string& path) const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  static void expect_wrong_use(const ProgramRun& run, const std::string& mentions) {
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(mentions), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }

  TemporaryFolder folder_;
};

}  // namespace

TEST(Targets, HaveARequestForEveryStepOrSayWhyNot) {
  for_each_program([](const design::Program& program) {
    const targets::Outline outline = targets::outline(program);
    std::size_t steps = 0;
    for (std::size_t i = 0; i < program.queries.size(); ++i) {
      const design::Plan& plan = program.queries[i];
      // Of a refreshed query the plan of its refresh is told, and not how its rows are asked for.
      steps += reading_steps(plan);
    }
    for (const targets::Target& target : targets::all_targets()) {
      SCOPED_TRACE(std::string(target.name));
      std::size_t asked = 0;
      for (const targets::ListedStatement& statement : target.statements(outline)) {
        std::set<std::uint32_t> written;
        for (const targets::ListedStep& step : statement.steps) {
          if (!step.asks) {
            EXPECT_TRUE(step.requests.empty()) << step.text;
            continue;
          }
          EXPECT_FALSE(step.requests.empty()) << statement.heading << ": " << step.text;
          for (const targets::Native& native : step.requests)
            EXPECT_FALSE(native.text.empty() && native.why_not.empty()) << statement.heading << ": " << step.text;
          if (!statement.statement.command) ++asked;
          for (const targets::Write& write : step.writes) written.insert(write.family->index);
        }
        const design::Explanation explanation = design::Explainer(program).explain(statement.statement);
        std::set<std::uint32_t> wanted;
        for (const design::Written& base : explanation.bases) wanted.insert(base.family);
        for (const design::Following& copy : explanation.copies) wanted.insert(copy.written.family);
        EXPECT_EQ(written, wanted) << statement.heading;
        EXPECT_EQ(statement.together.empty(), wanted.empty()) << statement.heading;
      }
      EXPECT_EQ(asked, steps);
    }
  });
}

TEST(Targets, NameEveryAttributeInTheirReadme) {
  for_each_program([](const design::Program& program) {
    const targets::Outline outline = targets::outline(program);
    for (const targets::Target& target : targets::all_targets()) {
      SCOPED_TRACE(std::string(target.name));
      const targets::Generated made = target.generate(outline, nullptr);
      const auto page = std::find_if(made.files.begin(), made.files.end(),
                                     [](const targets::File& file) { return file.path == "README.md"; });
      ASSERT_NE(page, made.files.end());
      std::set<std::string> paths;
      for (const targets::File& file : made.files) {
        EXPECT_TRUE(paths.insert(file.path).second) << file.path;
        EXPECT_FALSE(file.text.empty()) << file.path;
        EXPECT_EQ(file.text.back(), '\n') << file.path;
      }
      for (const model::Entity& entity : program.model->entities) {
        for (const model::Field& field : entity.fields) {
          if (field.hidden) continue;
          const std::string row = "| `" + entity.name + "." + field.name + "` |";
          const std::size_t at = page->text.find(row);
          ASSERT_NE(at, std::string::npos) << row;
          // Where it lives is the third cell, which is empty only where nothing of an event is kept.
          const std::string line = page->text.substr(at, page->text.find('\n', at) - at);
          EXPECT_EQ(line.find("|  |", row.size() - 1) == std::string::npos || line.find("| `", row.size()) != 0, true)
              << line;
        }
      }
    }
  });
}

TEST(Targets, AreTheSevenThatAreNamedInDesigns) {
  std::vector<std::string> names;
  for (const targets::Target& target : targets::all_targets()) {
    names.emplace_back(target.name);
    EXPECT_FALSE(target.capabilities->limits.empty()) << target.name;
    EXPECT_FALSE(target.capabilities->atomic.empty()) << target.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"cassandra", "mongodb", "dynamodb", "hbase", "redis", "oracle-nosql",
                                             "couchbase"}));
}

TEST(Targets, HaveTheFilesThatTheirPageTells) {
  const auto model = model_of_file(source_dir() / "examples/game/game.noam");
  const auto program = compile_program(model, "eao");
  ASSERT_TRUE(program) << program.error().message;
  const targets::Outline outline = targets::outline(*program);
  design::Sample sample;
  sample.families.resize(program->design.families.size());
  const auto lines = lines_of(read_file(source_dir() / "docs/targets.md"));
  for (const targets::Target& target : targets::all_targets()) {
    SCOPED_TRACE(std::string(target.name));
    // The last two cells: always, and with data.
    const std::string begin = "| `" + std::string(target.name) + "` | ";
    const auto row =
        std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.rfind(begin, 0) == 0; });
    ASSERT_NE(row, lines.end());
    std::set<std::string> always;
    std::set<std::string> with_data;
    for (const targets::File& file : target.generate(outline, nullptr).files) always.insert(file.path);
    for (const targets::File& file : target.generate(outline, &sample).files)
      if (!always.contains(file.path)) with_data.insert(file.path);
    always.erase("README.md");
    const auto told = [](std::string cell) {
      std::set<std::string> out;
      for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
        const std::size_t end = cell.find('`', at + 1);
        out.insert(cell.substr(at + 1, end - at - 1));
        at = end + 1;
      }
      return out;
    };
    const std::size_t last = row->rfind(" | ");
    const std::size_t before = row->rfind(" | ", last - 1);
    EXPECT_EQ(told(row->substr(before, last - before)), always);
    EXPECT_EQ(told(row->substr(last)), with_data);
  }
}

TEST(GoldenTargets, AreWhatTheFilesSay) {
  const auto files = files_below("tests/golden/targets", ".txt");
  ASSERT_GE(files.size(), targets::all_targets().size());
  for (const auto& file : files) expect_transcript(file);
}

TEST_F(Generate, WritesAllFilesIntoANewFolder) {
  const ProgramRun run = generate({"-o", folder()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, folder() + ": schema.cql, statements.cql, README.md\n");
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"README.md", "schema.cql", "statements.cql"}));
  EXPECT_NE(read_file(folder() + "/schema.cql").find("CREATE TABLE"), std::string::npos);
}

TEST_F(Generate, CreatesAFolderWithItsParents) {
  const ProgramRun run = generate({"-o", folder("a/b/c")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(names_in(folder("a/b/c")), (std::vector<std::string>{"README.md", "schema.cql", "statements.cql"}));
  // Where the last of them cannot be created, none stays.
  expect_wrong_use(generate({"-o", folder("new/" + std::string(300, 'a'))}), "cannot be created: File name too long");
  EXPECT_FALSE(std::filesystem::exists(folder("new")));
}

TEST_F(Generate, LeavesWhatIsThereAloneUnlessForced) {
  std::filesystem::create_directory(folder());
  write_file(folder() + "/schema.cql", "mine\n");
  write_file(folder() + "/other.txt", "mine too\n");
  expect_wrong_use(generate({"-o", folder()}), "schema.cql already exists");
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"other.txt", "schema.cql"}));
  EXPECT_EQ(read_file(folder() + "/schema.cql"), "mine\n");
  EXPECT_EQ(generate({"-o", folder(), "--force"}).code, 0);
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"README.md", "other.txt", "schema.cql", "statements.cql"}));
  EXPECT_NE(read_file(folder() + "/schema.cql"), "mine\n");
  EXPECT_EQ(read_file(folder() + "/other.txt"), "mine too\n");
}

TEST_F(Generate, WritesNothingWhereItCannotWriteAll) {
  write_file(folder("file"), "");
  expect_wrong_use(generate({"-o", folder("file")}), "not a folder");
  expect_wrong_use(generate({"-o", folder("file") + "/below"}), "below");
  expect_wrong_use(generate({"-o", folder("file") + "/below/it"}), "below/it: cannot be created");
  // A folder stands where the last file would go: nothing of the others is there afterwards.
  std::filesystem::create_directories(folder() + "/README.md");
  expect_wrong_use(generate({"-o", folder(), "--force"}), "README.md: cannot be written: it is a folder");
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"README.md"}));
  // Nobody writes there, whoever it is.
  expect_wrong_use(generate({"-o", "/proc/noam"}), "/proc/noam");
}

TEST_F(Generate, SaysWhatIsWrongInOneLine) {
  const auto run = [](std::vector<std::string> arguments) { return run_noam(arguments); };
  expect_wrong_use(run({"generate", game(), "--target", "casandra"}), "did you mean `cassandra`?");
  expect_wrong_use(run({"generate", game(), "--target", "xyz"}), "the targets are cassandra, mongodb");
  expect_wrong_use(run({"generate", game()}), "--target");
  expect_wrong_use(run({"generate", "/no/such.noam", "--target", "redis"}), "/no/such.noam");
  expect_wrong_use(run({"generate", game(), "--target", "redis", "--strategy", "figure12"}), "figure12");
  expect_wrong_use(run({"generate", game(), "--target", "redis", "--with-data", "/no/such"}), "/no/such");
  expect_wrong_use(run({"targets", "cassandar"}), "did you mean `cassandra`?");
  expect_wrong_use(run({"check", game(), "--target", "xyz"}), "no target `xyz`");
}

TEST_F(Generate, PrintsAllFilesOrOne) {
  const ProgramRun all = generate({});
  EXPECT_EQ(all.out.rfind("==> schema.cql <==\n", 0), 0U);
  EXPECT_NE(all.out.find("\n==> README.md <==\n"), std::string::npos);
  const ProgramRun one = generate({"--file", "schema.cql"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(all.out.find(one.out), std::string::npos);
  EXPECT_EQ(one.out.find("==>"), std::string::npos);
  expect_wrong_use(generate({"--file", "schema.sql"}), "available: schema.cql, statements.cql, README.md");
  expect_wrong_use(generate({"--file", "schema.cql", "-o", folder()}), "--file");
}

TEST_F(Generate, TellsOfAWrongModelAsCheckDoes) {
  write_file(folder("wrong.noam"), "model m\nentity A { id: nothing key }\n");
  const ProgramRun run = run_noam({"generate", folder("wrong.noam"), "--target", "redis", "-o", folder()});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("wrong.noam:2:16"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(Generate, SpeaksJson) {
  const ProgramRun printed = generate({"--json"});
  ASSERT_EQ(printed.code, 0);
  const Json out = Json::parse(printed.out);
  EXPECT_EQ(out["target"], "cassandra");
  EXPECT_EQ(out["design"], "eao");
  EXPECT_EQ(out["files"][0]["path"], "schema.cql");
  EXPECT_NE(out["files"][0]["text"].get<std::string>().find("CREATE TABLE"), std::string::npos);
  const ProgramRun written = generate({"--json", "-o", folder()});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_FALSE(Json::parse(written.out)["files"][0].contains("text"));
  const ProgramRun targets = run_noam({"targets", "--json"});
  EXPECT_EQ(Json::parse(targets.out).size(), targets::all_targets().size());
}

TEST_F(Generate, WarnsWhereADesignGoesBeyondADatabase) {
  const std::string path = folder("big.noam");
  write_file(path,
             "model big\n"
             "entity Log ~10 { id: int key  lines: list<text(~1000)> ~1_000_000 }\n"
             "query log($id) { select l from Log l where l.id = $id }\n");
  for (const auto& [target, mentions] : std::map<std::string, std::string>{{"mongodb", "16 MB"},
                                                                           {"dynamodb", "400 kB"},
                                                                           {"cassandra", "should have at most"},
                                                                           {"couchbase", "20 MB"}}) {
    SCOPED_TRACE(target);
    const ProgramRun run = run_noam({"check", path, "--target", target});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("warning: "), std::string::npos) << run.out;
    EXPECT_NE(run.out.find(mentions), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("hint: "), std::string::npos) << run.out;
  }
  const ProgramRun quiet = run_noam({"check", game(), "--target", "mongodb"});
  EXPECT_EQ(quiet.out, "");
  // The wide row of seed 000, and the note that stands there.
  const std::string shortener = (source_dir() / "examples/shortener/shortener.noam").string();
  const ProgramRun families = run_noam({"check", shortener, "--target", "hbase", "--strategy", "seed000"});
  EXPECT_NE(families.out.find("column families"), std::string::npos) << families.out;
  const ProgramRun as_json = run_noam({"check", shortener, "--target", "hbase", "--strategy", "seed000", "--json"});
  EXPECT_EQ(Json::parse(as_json.out)[0]["target"], "hbase");
}

TEST_F(Generate, WarnsOfOptionsThatNobodyKnows) {
  const std::string path = folder("options.noam");
  write_file(
      path,
      "model options\n"
      "entity A ~10 { id: int key  n: int }\n"
      "query a($id) { select a from A a where a.id = $id }\n"
      "design d for mongodb { collection A of A a by id with cassandra(cashing: \"x\", types: \"n uuid, m int\") "
      "{ entry ε: n } }\n");
  const ProgramRun run = run_noam({"check", path, "--target", "cassandra", "--strategy", "d"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("has no option `cashing`"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("`n` of A cannot be uuid"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("`m`"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("is written for mongodb"), std::string::npos) << run.out;
}

}  // namespace noam::tests
