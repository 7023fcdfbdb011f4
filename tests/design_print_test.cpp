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
#include "noam/design/print.h"
#include "noam/design/program.h"
#include "tests/compiled.h"
#include "tests/support.h"

// What is printed for a design is a design: put into the model, it makes the same collections.
namespace noam::tests {

namespace {

struct ModelFile {
  std::string name;
  std::string text;
  std::shared_ptr<const model::Model> model;
};

std::vector<ModelFile> models() {
  std::vector<ModelFile> files;
  for (const char* folder : {"examples", "tests/models"})
    for (const auto& path : files_below(folder, ".noam")) {
      std::string text = read_file(path);
      auto model = model_of(text, path.string());
      files.push_back({path.filename().string(), std::move(text), std::move(model)});
    }
  return files;
}

// The printed design under the name `pasted`.
std::string renamed(const std::string& printed) {
  const std::size_t begin = std::string("design ").size();
  const std::size_t end = printed.find_first_of(" {", printed[begin] == '`' ? printed.find('`', begin + 1) + 1 : begin);
  return "design pasted" + printed.substr(end);
}

// What a design says: for each collection that can be written its block key and families, where access paths and
// locators are copies like others.
std::map<std::string, Json> said(const design::Program& program) {
  std::map<std::string, Json> out;
  const Json design = design::design_json(program);
  for (const Json& collection : design["collections"]) {
    Json families = Json::array();
    for (const Json& family : collection["families"]) {
      if (family["text"].is_null()) continue;
      Json one;
      for (const char* member : {"path", "base", "text", "from", "key", "cells", "hidden", "where", "limit", "elements",
                                 "existence", "grouped", "stratum"})
        one[member] = family[member];
      families.push_back(std::move(one));
    }
    if (families.empty()) continue;
    out[collection["name"].get<std::string>()] = {{"from", collection["from"]},
                                                  {"by", collection["by"]},
                                                  {"options", collection["options"]},
                                                  {"families", std::move(families)}};
  }
  return out;
}

}  // namespace

TEST(PrintedDesign, MakesTheSameCollections) {
  std::size_t compared = 0;
  for (const ModelFile& file : models()) {
    ASSERT_NE(file.model, nullptr);
    for (const std::string& name : strategies_of(*file.model)) {
      SCOPED_TRACE(file.name + " under " + name);
      const auto first = compile_program(file.model, name);
      if (!first) continue;  // not every design can be kept
      const std::string printed = design::print_design(*first);
      const auto model = model_of(file.text + "\n" + renamed(printed), file.name);
      ASSERT_NE(model, nullptr) << printed;
      const auto second = compile_program(model, "pasted");
      ASSERT_TRUE(second.has_value()) << second.error().message << "\n" << printed;
      const auto before = said(*first);
      const auto after = said(*second);
      for (const auto& [collection, form] : before) {
        const auto found = after.find(collection);
        ASSERT_NE(found, after.end()) << collection << "\n" << printed;
        EXPECT_EQ(form.dump(1), found->second.dump(1)) << printed;
      }
      for (const auto& [collection, form] : after)
        EXPECT_TRUE(before.contains(collection)) << collection << " came besides\n" << design::print_design(*second);
      ++compared;
    }
  }
  EXPECT_GT(compared, 25U);
}

// What is placed for you is under that line, and says what for; what is not in the language is a comment.
TEST(PrintedDesign, TellsWhatWasPlaced) {
  const auto path = source_dir() / "examples/microblog/microblog.noam";
  const auto model = model_of_file(path);
  const auto program = compile_program(model, "seed003");
  ASSERT_TRUE(program.has_value());
  const std::string printed = design::print_design(*program);
  const std::size_t line = printed.find("// placed for you\n");
  ASSERT_NE(line, std::string::npos) << printed;
  for (const design::Collection& collection : program->design.collections) {
    const std::size_t at = printed.find("collection " + collection.name + " of");
    if (!collection.added)
      EXPECT_LT(at, line) << collection.name;
    else if (at != std::string::npos)
      EXPECT_GT(at, line) << collection.name;
    else
      EXPECT_NE(printed.find("//   " + collection.name), std::string::npos) << collection.name;
  }
  EXPECT_NE(printed.find("where each Tweet lies, by its key"), std::string::npos);
}

// Plans speak of what the person wrote: nothing is left that has no name.
TEST(PrintedPlans, HaveANameForEverything) {
  for (const ModelFile& file : models()) {
    ASSERT_NE(file.model, nullptr);
    for (const std::string& name : strategies_of(*file.model)) {
      SCOPED_TRACE(file.name + " under " + name);
      const auto program = compile_program(file.model, name);
      if (!program) continue;
      const std::string printed = design::print_plans(*program);
      for (const char* unnamed :
           {"#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "#9", "`?`", "[?", " ?]", " ? "})
        EXPECT_EQ(printed.find(unnamed), std::string::npos) << unnamed << "\n" << printed;
    }
  }
}

// The numbers of a statement are the sums of its lines, in text and JSON alike.
TEST(PrintedPlans, AddUp) {
  const auto path = source_dir() / "examples/microblog/microblog.noam";
  const auto model = model_of_file(path);
  const auto program = compile_program(model, "seed003");
  ASSERT_TRUE(program.has_value());
  const std::function<double(const Json&, const char*)> sum = [&](const Json& steps, const char* what) {
    double out = 0;
    for (const Json& step : steps) {
      if (step["kind"] == "otherwise") continue;
      out += step["work"][what].get<double>() + sum(step["steps"], what);
    }
    return out;
  };
  const Json plans = design::plans_json(*program);
  ASSERT_EQ(plans.size(), model->queries.size() + model->commands.size());
  for (const Json& plan : plans) {
    SCOPED_TRACE(plan["statement"].get<std::string>());
    for (const char* what : {"reads", "entries", "bytes"}) {
      double all = sum(plan["steps"], what);
      for (const Json& copy : plan["copies"]) {
        EXPECT_NEAR(sum(copy["support"], what), copy["read"][what].get<double>(), 1e-6);
        all += copy["read"][what].get<double>();
      }
      const Json& told = plan["refresh"].is_null() ? plan["read"] : plan["refresh"];
      EXPECT_NEAR(all, told[what].get<double>(), all * 1e-9);
    }
    double written = 0;
    for (const char* kind : {"bases", "copies"})
      for (const Json& family : plan[kind]) written += family["entries"].get<double>();
    EXPECT_NEAR(written, plan["written"]["entries"].get<double>(), 1e-9);
  }
}

// A mix is the sum of its statements, each as often as it runs.
// What is stored is counted by what is written of the data, and by what a copy keeps of it.
TEST(PrintedPlans, CountWhatIsStored) {
  const auto model = model_of(R"(
model feeds

value Point { label: text(~50)   at: timestamp }
entity User ~1_000 {
  name: text key
  tags: set<text> ~20
  names: list<text> ~3
  points: list<Point> ~4
  friends: list<User> ~7
  follows: set<User> ~40 inverse followers
}
entity Post ~10_000 { id: int key   author: User inverse posts   at: timestamp   content: text(~600) }

query users { select u.name from User u }
query posts { select p.id from Post p }

design kept {
  collection tags of User u, u.tags t by t as tag { copy [u.name] }
  collection names of User u, u.names n by n as given { copy [u.name, position(n) as at] }
  collection points of User u, u.points p by u.name as name { copy [position(p) as place]: p.label, p.at }
  collection friends of User u, u.friends f by f.name as name { copy [u.name as by, position(f) as at] }
  collection feeds of User u, u.follows a, a.posts p by u.name as name { copy [p.at desc as at, p.id as post] limit 100 }
  collection short of User u, u.posts p by u.name as name { copy [p.at desc as at, p.id as post] limit 100 }
  collection words of Post p, words(p.content) w by w as word { copy [p.id as post] }
}
)");
  ASSERT_NE(model, nullptr);
  const auto stored = [&](const std::string& strategy) {
    const auto program = compile_program(model, strategy);
    EXPECT_TRUE(program) << program.error().message;
    const design::Explainer explainer(*program);
    std::map<std::string, std::pair<double, double>> out;  // entries, and bytes of one
    for (std::uint32_t f = 0; f < program->design.families.size(); ++f)
      out[design::family_label(program->design, f)] = {explainer.entries(f), explainer.bytes(f)};
    return out;
  };
  using Figures = std::pair<double, double>;
  auto kept = stored("kept");
  EXPECT_EQ(kept["tags"], (Figures{20'000, 8 + 20}));
  EXPECT_EQ(kept["names"], (Figures{3'000, 8 + 20 + 8}));
  EXPECT_EQ(kept["points"], (Figures{4'000, 8 + 8 + 50 + 8}));
  EXPECT_EQ(kept["friends"], (Figures{7'000, 8 + 20 + 8}));
  EXPECT_EQ(kept["feeds"].first, 100'000) << "a hundred a block";
  EXPECT_EQ(kept["short"].first, 10'000) << "fewer than the limit";
  EXPECT_EQ(kept["words"].first, 1'000'000);
  auto normalized = stored("normalized");
  EXPECT_EQ(normalized["User.tags"], (Figures{20'000, 8 + 20}));
  EXPECT_EQ(normalized["User.names"], (Figures{3'000, 8 + 8 + 20}));
  EXPECT_EQ(normalized["User.points"], (Figures{4'000, 8 + 8 + 58}));
  EXPECT_EQ(normalized["User.follows"], (Figures{40'000, 8 + 20}));
}

TEST(PrintedPlans, WeighAMix) {
  const auto model = model_of(
      "model counts\n"
      "entity Page ~100 { id: int key  hits: int }\n"
      "query page($id) { select p from Page p where p.id = $id }\n"
      "command hit($id) { update Page[$id] { hits: hits + 1 } }\n"
      "mix relative { page 3  hit 1 }\n"
      "mix absolute at 40/s { page 3  hit 1 }\n");
  const auto program = compile_program(model, "eao");
  ASSERT_TRUE(program.has_value());
  const design::Explainer explainer(*program);
  const auto page = explainer.explain({false, 0});
  const auto hit = explainer.explain({true, 0});
  EXPECT_EQ(page.read.reads, 1);
  EXPECT_EQ(page.written, 0);
  EXPECT_EQ(hit.written, 1);
  EXPECT_EQ(hit.blocks, 1);
  const Json relative = design::mix_json(*program, model->mixes[0]);
  EXPECT_NEAR(relative["total"]["read"]["reads"].get<double>(), 0.75 * page.read.reads + 0.25 * hit.read.reads, 1e-9);
  EXPECT_NEAR(relative["total"]["written"]["entries"].get<double>(), 0.25, 1e-9);
  const Json absolute = design::mix_json(*program, model->mixes[1]);
  EXPECT_NEAR(absolute["total"]["times"].get<double>(), 40, 1e-9);
  EXPECT_NEAR(absolute["total"]["written"]["entries"].get<double>(), 10, 1e-9);
}

}  // namespace noam::tests
