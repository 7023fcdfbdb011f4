#include "noam/design/print.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/design/explanation.h"
#include "noam/design/strategies.h"
#include "noam/model/sample_for_tests.h"

namespace noam::design {

namespace {

Program program_of(model::Model model, const std::string& strategy) {
  Design design = choose_design(model, strategy);
  auto program = make_program(std::make_shared<const model::Model>(std::move(model)), std::move(design));
  EXPECT_TRUE(program.has_value()) << program.error().message;
  return std::move(*program);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(PrintDesign, NamesADesignAfterModelAndStrategy) {
  EXPECT_EQ(print_design(program_of(model::sample::whole_blog(), "etf")).rfind("design blog_etf {\n", 0), 0U);
  // Another of that name is there already.
  model::Model model = model::sample::whole_blog();
  model.designs[0].name = "blog_etf";
  EXPECT_EQ(print_design(program_of(model, "etf")).rfind("design blog_etf_2 {\n", 0), 0U);
}

TEST(PrintDesign, SetsApartWhatWasPlaced) {
  const std::string printed = print_design(program_of(model::sample::whole_blog(), "eao"));
  const std::size_t placed = printed.find("  // placed for you\n");
  ASSERT_NE(placed, std::string::npos) << printed;
  EXPECT_LT(printed.find("collection User of User u by username"), placed) << printed;
  EXPECT_GT(printed.find("collection Tweet_by_author of Tweet t by author"), placed) << printed;
  EXPECT_TRUE(holds(printed, "  // for newest")) << printed;
  // What the language has no words for.
  EXPECT_TRUE(holds(printed, "//   Tweet_due [due, instance]")) << printed;
  EXPECT_TRUE(holds(printed, "//   Tweet + due")) << printed;
  EXPECT_TRUE(holds(printed, "  rest eao\n}\n")) << printed;
}

// A variable is named after the first byte of its entity, which may be half a letter.
TEST(PrintDesign, WritesNamesThatCanBeRead) {
  model::Model model = model::sample::whole_blog();
  model.entities[0].name = "Über";
  const std::string printed = print_design(program_of(model, "eao"));
  EXPECT_TRUE(holds(printed, "collection Über of Über x by username")) << printed;
}

// A bare name would be the variable.
TEST(PrintDesign, WritesFieldsInFullWhereAVariableHasTheirName) {
  model::Model model = model::sample::whole_blog();
  model.entities[0].fields[model::sample::Username].name = "u";
  const std::string printed = print_design(program_of(model, "eao"));
  EXPECT_TRUE(holds(printed, "collection User of User u by u.u { entry ε: u.follows, u.addresses }")) << printed;
}

TEST(DesignJson, HasEveryFamily) {
  const Program program = program_of(model::sample::whole_blog(), "eao");
  const auto json = design_json(program);
  std::size_t families = 0;
  bool due = false;
  for (const auto& collection : json["collections"]) {
    for (const auto& family : collection["families"]) {
      ++families;
      due = due || (family["purpose"] == "due" && family["of"]["entity"] == "Tweet");
    }
  }
  EXPECT_EQ(families, program.design.families.size());
  EXPECT_TRUE(due);
  EXPECT_EQ(json["name"], "eao");
  EXPECT_EQ(json["written"], false);
}

TEST(PrintPlans, SpeaksOfTheVariablesOfTheQuery) {
  const std::string printed =
      print_plans(program_of(model::sample::whole_blog(), "eao"), model::StatementRef{false, 0});
  EXPECT_TRUE(holds(printed, "query newest($username, $since)")) << printed;
  EXPECT_TRUE(holds(printed, "look up User [u.username = $username]")) << printed;
  EXPECT_TRUE(holds(printed, "for each a in u.follows")) << printed;
  EXPECT_TRUE(holds(printed, "look up Tweet_by_author [t.author = a]")) << printed;
  EXPECT_TRUE(holds(printed, "for each row, count(t.visits):")) << printed;
  EXPECT_TRUE(holds(printed, "take the first 25")) << printed;
  EXPECT_TRUE(holds(printed, "give id, username, n")) << printed;
  EXPECT_FALSE(holds(printed, "command ")) << printed;
}

TEST(Explanation, CountsByTheStatistics) {
  const Program program = program_of(model::sample::whole_blog(), "eao");
  const Explainer explainer(program);
  const Explanation newest = explainer.explain({false, 0});
  EXPECT_FALSE(newest.scans);
  // The user, the 50 whom the user follows, the tweets of each, and the visits of each that is shown.
  EXPECT_GE(newest.read.reads, 101);
  EXPECT_EQ(newest.written, 0);
  const Explanation post = explainer.explain({true, 0});
  // The tweet, when it expires, and the access path.
  EXPECT_EQ(post.bases.size(), 2U);
  ASSERT_EQ(post.copies.size(), 1U);
  EXPECT_EQ(family_label(program.design, post.copies[0].written.family), "Tweet_by_author");
  EXPECT_EQ(post.written, 3);
  EXPECT_EQ(post.blocks, 3);
  const Explanation follow = explainer.explain({true, 1});
  EXPECT_EQ(follow.read.reads, 1);
  EXPECT_EQ(follow.written, 1);
}

TEST(Explanation, KnowsWhoReadsAFamily) {
  const Program program = program_of(model::sample::whole_blog(), "eao");
  const auto uses = Explainer(program).uses();
  ASSERT_EQ(uses.size(), program.design.families.size());
  bool found = false;
  for (std::uint32_t f = 0; f < uses.size(); ++f) {
    if (family_label(program.design, f) != "Tweet_by_author") continue;
    EXPECT_EQ(uses[f].statements, std::vector<std::string>{"newest"});
    EXPECT_TRUE(uses[f].copies.empty());
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(PrintMix, IsForASecondWhereTheMixHasARate) {
  const Program program = program_of(model::sample::whole_blog(), "eao");
  EXPECT_EQ(print_mix(program, program.model->mixes[0]).rfind("mix day, in a second\n", 0), 0U);
  EXPECT_EQ(print_mix(program, program.model->mixes[1]).rfind("mix night, for one statement of it on average\n", 0),
            0U);
  const auto json = mix_json(program, program.model->mixes[0]);
  EXPECT_NEAR(json["total"]["times"].get<double>(), 500, 1e-9);
  // 8 of 100 statements are posts of three entries, 2 follow somebody.
  EXPECT_NEAR(json["total"]["written"]["entries"].get<double>(), 500 * (0.08 * 3 + 0.02), 1e-6);
}

}  // namespace noam::design
