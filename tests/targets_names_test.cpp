#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "noam/design/program.h"
#include "noam/design/strategies.h"
#include "noam/schemas/cassandra/types.h"
#include "noam/targets/target.h"
#include "tests/compiled.h"
#include "tests/support.h"

// A model may use any name: whatever a database keeps for itself, it gets names that it takes. tests/servers asks the
// databases themselves.
namespace noam::tests {

namespace {

const std::vector<std::string> odd_names = {"Name",        "name",
                                            "NAME",        "a name",
                                            "a_name",      "a-name",
                                            "a.name",      "größe",
                                            "Größe",       "城市",
                                            "Москва",      "1st",
                                            "n1st",        "1",
                                            "_",           "__",
                                            "_name",       "name_",
                                            "it's",        "a:b",
                                            "a/b",         "{x}",
                                            "#{x}",        "$x",
                                            "*/",          "--",
                                            "#",           "key_",
                                            "value",       "value_",
                                            "constructor", std::string(100, 'x'),
                                            "back\\",      "say \"hello\"",
                                            "NumberLong_", "e",
                                            "id",          "db_",
                                            "noam",        std::string(100, 'x') + "y"};

// They can't be the names of entities; what a database tells from them by capitals only can.
const std::set<std::string, std::less<>> types = {"bool",      "int",  "float",    "decimal", "text",     "bytes",
                                                  "timestamp", "date", "duration", "uuid",    "timeuuid", "inet",
                                                  "json",      "list", "set",      "map"};

std::string of_entity(std::string name) {
  if (types.contains(name)) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

// Every word is the name of a field and of a parameter, many are the names of entities, of their keys and of values.
struct NamedModel {
  std::string text;
  std::size_t entities = 0;
};

NamedModel model_of(const targets::Target& target) {
  std::vector<std::string> words(target.reserved.begin(), target.reserved.end());
  words.insert(words.end(), odd_names.begin(), odd_names.end());
  const std::size_t step = words.size() / 80 + 1;
  NamedModel out;
  out.text = fmt::format("model `{}`\n", words.front());
  for (std::size_t at = 0; at < words.size(); at += step, ++out.entities) {
    const std::string name = of_entity(words[at]);
    std::string fields;
    std::string parts;
    std::string parameters;
    std::string given;
    for (std::size_t i = 1; i < step + 4; ++i) {
      const std::string& word = words[(at + i) % words.size()];
      if (word == name) continue;
      fields += fmt::format("  `{}`: text{}\n", word, i == 1 ? " key" : "");
      parts += fmt::format("  `{}`: int\n", word);
      parameters += fmt::format("{}$`{}`", i == 1 ? "" : ", ", word);
      given += fmt::format("{}`{}`: $`{}`", i == 1 ? "" : ", ", word, word);
    }
    const std::string& key = words[(at + 1) % words.size()];
    out.text += fmt::format(
        "value `{0} part` {{\n{1}}}\n"
        "entity `{0}` {{\n{2}  `{0}`: list<`{0} part`>\n}}\n"
        "query `{0}`($`{3}`) {{ select e from `{0}` e where e.`{3}` = $`{3}` }}\n"
        "command `new {0}`({4}) {{ insert `{0}` {{ {5} }} }}\n",
        name, parts, fields, key, parameters, given);
  }
  return out;
}

// How a schema shows the names in it, line by line.
struct Shown {
  std::string target;
  std::string thing;                          // a table or the like: its name is the last group, the others its kind
  std::string part;                           // a column or the like
  bool tells_case = true;                     // `Name` and `name` are two names
  std::span<const std::string_view> refused;  // stand bare, so they are none of these
};

std::vector<Shown> all_shown() {
  const std::span<const std::string_view> oracle = (*targets::find_target("oracle-nosql"))->reserved;
  return {{"cassandra", R"re(^CREATE (TABLE|TYPE) IF NOT EXISTS ([a-z]\w{0,47}) \($)re", R"re(^    ([a-z]\w*) .*)re",
           false, targets::cassandra::name_rules().reserved},
          {"mongodb", R"re(^collection\("([^"$.]+)", \{$)re", R"re(^    ([A-Za-z_]\w*): \{.*)re", true, {}},
          {"dynamodb", R"re(^    "TableName": "([A-Za-z0-9_.-]{3,255})",$)re", "", true, {}},
          {"hbase", R"re(^create '([A-Za-z]\w*:[A-Za-z][A-Za-z0-9_.-]*)',$)re", "", true, {}},
          {"redis", R"re(^  \{name = '(\w+)', family = .*)re", "", false, {}},
          {"oracle-nosql", R"re(^CREATE TABLE IF NOT EXISTS ([A-Za-z][\w.]*) \($)re", R"re(^  ([A-Za-z]\w{0,63}) .*)re",
           false, oracle},
          {"couchbase", R"re(^CREATE COLLECTION `[^`]+`\.`[^`]+`\.`([A-Za-z]\w*)` IF NOT EXISTS;$)re", "", true, {}}};
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class Names {
 public:
  explicit Names(const Shown& shown) : shown_(shown), thing_(shown.thing), part_(shown.part) {}

  void read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (std::regex_match(line, found, thing_)) {
        add(things_, found[found.size() - 1], found[1]);
        parts_.clear();
      } else if (!shown_.part.empty() && line.find("PRIMARY KEY") == std::string::npos &&
                 std::regex_match(line, found, part_)) {
        add(parts_, found[1], "");
        ++parts_seen_;
      }
    }
  }

  [[nodiscard]] std::size_t things() const { return things_.size(); }
  [[nodiscard]] std::size_t parts() const { return parts_seen_; }

 private:
  void add(std::set<std::string>& names, const std::string& name, const std::string& kind) {
    EXPECT_TRUE(names.insert(kind + " " + (shown_.tells_case ? name : lower(name))).second) << "twice: " << name;
    EXPECT_EQ(std::count(shown_.refused.begin(), shown_.refused.end(), lower(name)), 0) << "reserved: " << name;
  }

  const Shown& shown_;
  std::regex thing_;
  std::regex part_;
  std::set<std::string> things_;
  std::set<std::string> parts_;  // of the last thing
  std::size_t parts_seen_ = 0;
};

std::string first_file(const targets::Generated& made) {
  for (const targets::File& file : made.files) EXPECT_FALSE(file.text.empty()) << file.path;
  return made.files.at(0).text;
}

}  // namespace

TEST(TargetNames, EveryTargetTellsTheWordsItKeepsForItself) {
  for (const targets::Target& target : targets::all_targets()) {
    SCOPED_TRACE(std::string(target.name));
    EXPECT_GE(target.reserved.size(), 20U);
    const std::set<std::string_view> words(target.reserved.begin(), target.reserved.end());
    EXPECT_EQ(words.size(), target.reserved.size());
    EXPECT_FALSE(words.contains(""));
  }
}

TEST(TargetNames, AreUnlikeEachOtherAndNotReserved) {
  for (const Shown& shown : all_shown()) {
    SCOPED_TRACE(shown.target);
    const targets::Target& target = **targets::find_target(shown.target);
    const NamedModel named = model_of(target);
    const ModelPointer model = noam::tests::model_of(named.text);
    for (const std::string_view name : design::strategy_names) {
      const std::string strategy(name);
      SCOPED_TRACE(strategy);
      const auto program = compile_program(model, strategy);
      ASSERT_TRUE(program) << program.error().message;
      Names names(shown);
      names.read(first_file(target.generate(targets::outline(*program), nullptr)));
      EXPECT_GE(names.things(), named.entities);
      if (shown.part.empty()) continue;
      EXPECT_GE(names.parts(), target.reserved.size() + odd_names.size());
    }
  }
}

}  // namespace noam::tests
