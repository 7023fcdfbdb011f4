#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/design/explanation.h"
#include "noam/schemas/cassandra/tables.h"
#include "noam/schemas/cassandra/types.h"
#include "noam/targets/target.h"
#include "tests/compiled.h"
#include "tests/outlined.h"
#include "tests/support.h"

// What the requests of a command erase, and what they leave alone. tests/servers runs them on the databases.
namespace noam::tests {

namespace {

using targets::ListedStatement;
using targets::ListedStep;
using targets::Native;
using targets::Write;
using targets::WriteKind;

std::string model_text() { return read_file(source_dir() / "tests/models/erasing.noam"); }

ListedStatement statement(const std::vector<ListedStatement>& all, const std::string& name) {
  for (const ListedStatement& listed : all)
    if (listed.heading.find(" " + name + "(") != std::string::npos) return listed;
  ADD_FAILURE() << "no " << name;
  return {};
}

std::vector<ListedStatement> statements(const design::Program& program, const std::string& target) {
  const auto found = targets::find_target(target);
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  return (*found)->statements(targets::outline(program));
}

// All that is asked for: the requests of the steps and, after them, those for several at once.
std::vector<std::string> texts_of(const ListedStatement& listed) {
  std::vector<std::string> out;
  for (const ListedStep& step : listed.steps)
    for (const Native& native : step.requests) out.push_back(native.text);
  for (const Native& native : listed.batches) out.push_back(native.text);
  return out;
}

// What a command does to each family: `made`, `changed`, `erased`, and how many values a change writes.
std::map<std::string, std::string> ways(const design::Program& program, const std::string& command) {
  std::map<std::string, std::string> out;
  const design::Explainer explainer(program);
  const auto note = [&](const design::Written& written) {
    std::string text;
    if (written.made) text += "made ";
    if (written.changed) text += fmt::format("changed({}) ", written.values.size());
    if (written.erased) text += "erased ";
    out[design::family_label(program.design, written.family)] = text;
  };
  for (const model::StatementRef& reference : design::all_statements(*program.model)) {
    if (design::statement_name(*program.model, reference) != command) continue;
    const design::Explanation explanation = explainer.explain(reference);
    for (const design::Written& base : explanation.bases) note(base);
    for (const design::Following& copy : explanation.copies) note(copy.written);
  }
  return out;
}

using Ways = std::map<std::string, std::string>;

}  // namespace

TEST(Erasing, IsDoneWhereWordsElementsOrFieldsAreNoLongerThere) {
  const design::Program program = program_of(model_text(), "indexed");
  EXPECT_EQ(ways(program, "rename"), (Ways{{"ps", "changed(1) "}, {"words", "made erased "}}));
  EXPECT_EQ(ways(program, "retag"), (Ways{{"ps", "changed(1) "}, {"tags", "made erased "}}));
  EXPECT_EQ(ways(program, "recat"), (Ways{{"ps", "changed(1) "}, {"cats", "made erased "}}));
  EXPECT_EQ(ways(program, "discard"),
            (Ways{{"ps", "erased "}, {"cats", "erased "}, {"words", "erased "}, {"tags", "erased "}}));
  EXPECT_NE(ways(program, "untag").at("tags").find("erased"), std::string::npos);
}

TEST(Erasing, FollowsConditionsAndWhatIsReachedByReferences) {
  const std::string text =
      "model m\n"
      "entity City { name: text key  land: text }\n"
      "entity P { id: int key  open: bool  home: City  n: int }\n"
      "query by_land($l) { select p.id from P p where p.home.land = $l }\n"
      "query open() { select p.id from P p where p.open = true }\n"
      "command shut($id, $o: bool) { update P[$id] { open: $o } }\n"
      "command move($id, $h: City) { update P[$id] { home: $h } }\n"
      "command give($id, $n: int) { update P[$id] { n: $n } }\n"
      "command replace($id, $o: bool, $h: City) { put P { id: $id, open: $o, home: $h, n: 1 } }\n"
      "design d { collection ps of P p by id { entry ε: * }\n"
      " collection lands of P p by p.home.land as land { copy [p.id]: p.n }\n"
      " collection opens of P p by p.n as n { copy [p.id] where p.open = true }\n"
      " collection most of P p by p.home as home { copy ε: max(p.n) as n } }\n";
  const design::Program program = program_of(text, "d");
  EXPECT_NE(ways(program, "move").at("lands").find("erased"), std::string::npos);
  EXPECT_NE(ways(program, "shut").at("opens").find("erased"), std::string::npos);
  EXPECT_EQ(ways(program, "give").at("lands"), "changed(1) ");
  // Others may have the largest value then.
  EXPECT_EQ(ways(program, "move").at("most"), "made changed(2) erased ");
  // What is put may replace an instance, with what was kept of it.
  EXPECT_NE(ways(program, "replace").at("lands").find("erased"), std::string::npos);
}

TEST(Erasing, HasOtherPlaceholdersThanWriting) {
  for (const char* folder : {"examples", "tests/models"}) {
    for (const auto& path : files_below(folder, ".noam")) {
      const auto model = model_of_file(path);
      for (const std::string& name : strategies_of(*model)) {
        SCOPED_TRACE(path.filename().string() + " " + name);
        const auto program = compile_program(model, name);
        ASSERT_TRUE(program) << program.error().message;
        const auto outline = targets::outline(*program);  // the writes point to its families
        for (const targets::Target& target : targets::all_targets()) {
          for (const ListedStatement& listed : target.statements(outline)) {
            for (const ListedStep& step : listed.steps) {
              for (std::size_t i = 0; i < step.writes.size(); ++i) {
                const Write& write = step.writes[i];
                if (write.family->base || write.kind != WriteKind::Erase) continue;
                EXPECT_EQ(write.gone, std::any_of(step.writes.begin(), step.writes.end(),
                                                  [&](const Write& other) {
                                                    return other.kind != WriteKind::Erase &&
                                                           (!other.family->adds || other.gone);
                                                  }))
                    << listed.heading << ": " << step.text;
                const std::string& asked = step.requests[i].text;
                EXPECT_EQ(write.gone, asked.empty() ? write.gone : asked.find("_gone") != std::string::npos) << asked;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Erasing, WritesOnlyWhatAChangeChanges) {
  const design::Program program = program_of(model_text(), "counted");
  for (const auto& [target, begin] : std::map<std::string, std::string>{
           {"cassandra", "UPDATE ps SET name = :name, noam_version = :noam_next_version WHERE"},
           {"mongodb", "{ $set: { name, noam_version: noam_next_version } }"},
           {"dynamodb", "\"SET #name = :name, #noam_version = :noam_next_version\""},
           {"hbase", "{\n  'e:name' => text($name),\n  'e:noam_version' => int($noam_next_version)\n}"},
           {"redis", "FCALL erasing_ps_name_put 1 erasing:ps:{$id} noam_version $noam_version name $name"},
           {"oracle-nosql", "SET name = $name, noam_version = $noam_next_version\n"},
           {"couchbase", "SET d.`name` = $name, d.`noam_version` = $noam_next_version\n"}}) {
    SCOPED_TRACE(target);
    expect_part(fmt::format("{}", fmt::join(texts_of(statement(statements(program, target), "rename")), "\n")), begin);
  }
  const design::Program indexed = program_of(model_text(), "indexed");
  expect_part(fmt::format("{}", fmt::join(texts_of(statement(statements(indexed, "redis"), "retag")), "\n")),
              "FCALL erasing_ps_change 1 erasing:ps:{$id} noam_version $noam_version tags $tags");
}

TEST(Erasing, AsksOnceForWhatLiesInOneRow) {
  const design::Program program = program_of(model_text(), "counted");
  for (const targets::Target& target : targets::all_targets()) {
    SCOPED_TRACE(std::string(target.name));
    const ListedStatement listed = statement(target.statements(targets::outline(program)), "rename");
    const auto step = [&](const std::string& begin) {
      return *std::find_if(listed.steps.begin(), listed.steps.end(),
                           [&](const ListedStep& at) { return at.text.rfind(begin, 0) == 0; });
    };
    const Native first = step("look up ps [").requests.at(0);
    // Databases of documents and items give all there is.
    if (first.text.find("cat") != std::string::npos) {
      expect_part(first.text, "name");
      expect_part(first.text, "tags");
    }
    const Native second = step("look up ps.name").requests.at(0);
    EXPECT_EQ(second.text, "");
    EXPECT_EQ(second.why_not, "by the request above");
  }
}

TEST(Erasing, TellsWhoMayWrite) {
  const design::Program program = program_of(model_text(), "indexed");
  const targets::Outline outline = targets::outline(program);
  for (const targets::Target& target : targets::all_targets()) {
    SCOPED_TRACE(std::string(target.name));
    const std::string page = file_of(target.generate(outline, nullptr), "README.md");
    expect_part(page, "without noam");
    expect_part(page, "noam's own store and these requests must never write to one\nkeyspace or database");
  }
}

namespace {

// Which rows of a table a statement of CQL writes: the table and, of rows with a clustering key, its constants.
std::string rows_written(const targets::cassandra::Layout& layout, const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  const std::size_t at =
      words[0] == "UPDATE"
          ? 1
          : static_cast<std::size_t>(std::find(words.begin(), words.end(), words[0] == "INSERT" ? "INTO" : "FROM") -
                                     words.begin()) +
                1;
  const auto table =
      std::find_if(layout.tables.begin(), layout.tables.end(), [&](const auto& one) { return one.name == words[at]; });
  if (table == layout.tables.end()) {
    ADD_FAILURE() << "no table in " << text;
    return {};
  }
  std::map<std::string, std::string> given;
  if (words[0] == "INSERT") {
    const auto list = [&](std::size_t from) {
      const std::size_t begin = text.find('(', from) + 1;
      std::vector<std::string> out;
      std::istringstream parts(text.substr(begin, text.find(')', begin) - begin));
      for (std::string part; std::getline(parts, part, ',');) out.push_back(part.substr(part.find_first_not_of(' ')));
      return out;
    };
    const auto names = list(0);
    const auto values = list(text.find(" VALUES "));
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) given[names[i]] = values[i];
  } else {
    const std::size_t begin = text.find(" WHERE ");
    std::istringstream parts(text.substr(begin, text.find(" IF ", begin) - begin));
    std::string name;
    for (std::string word; parts >> word; name = word)
      if (word == "=") {
        std::string value;
        parts >> value;
        given[name] = value;
        word = value;
      }
  }
  std::string out = table->name;
  for (const auto& part : table->clustering)
    if (given.contains(part.name)) out += given[part.name][0] == ':' ? " row" : " row " + given[part.name];
  return table->counters ? std::string() : out;
}

}  // namespace

// Their timestamps come from different clocks: a plain write may be lost behind a conditional one.
TEST(Erasing, NeverMixesConditionalAndPlainWritesOfARowOfCassandra) {
  for (const char* folder : {"examples", "tests/models"}) {
    for (const auto& path : files_below(folder, ".noam")) {
      const auto model = model_of_file(path);
      for (const std::string& name : strategies_of(*model)) {
        SCOPED_TRACE(path.filename().string() + " " + name);
        const auto program = compile_program(model, name);
        ASSERT_TRUE(program) << program.error().message;
        const targets::Outline outline = targets::outline(*program);
        targets::cassandra::Types types(*program->model);
        const auto layout = targets::cassandra::lay_out(outline, types);
        std::map<std::string, std::set<bool>> conditional;
        for (const ListedStatement& listed : statements(*program, "cassandra")) {
          for (const std::string& text : texts_of(listed)) {
            if (text.empty() || text.rfind("SELECT", 0) == 0 || text.rfind("BEGIN COUNTER", 0) == 0) continue;
            const bool under_condition = text.find(" IF ") != std::string::npos;
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);) {
              line.erase(0, line.find_first_not_of(' '));
              if (line.rfind("BEGIN", 0) == 0 || line.rfind("APPLY", 0) == 0) continue;
              const std::string rows = rows_written(layout, line);
              if (rows.empty()) continue;
              conditional[rows].insert(under_condition);
              EXPECT_EQ(conditional[rows].size(), 1U) << listed.heading << ": " << text;
            }
          }
        }
        EXPECT_FALSE(conditional.empty());
      }
    }
  }
}

}  // namespace noam::tests
