#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "tests/support.h"

// `noam design`, as a person or a script meets it.
//
// tests/golden/designs: transcripts (tests/support.h).
namespace noam::tests {

namespace {

const std::string shop =
    "model shop\n"
    "entity Product ~100 { sku: text(20) key  name: text(~30)  tags: set<text> ~4 }\n"
    "entity Sale transient { product: Product owner inverse sales ~50  at: timestamp }\n"
    "query product($sku) { select p from Product p where p.sku = $sku }\n"
    "query tagged($tag) { select p.sku from Product p where p.tags contains $tag }\n"
    "query sold($sku) { select count(*) as n from Product p, p.sales s where p.sku = $sku }\n"
    "command add_product($sku, $name) { insert Product { sku: $sku, name: $name } }\n"
    "command sell($sku, $at) { insert Sale { product: $sku, at: $at } }\n"
    "mix day { product 9  sell 1 }\n"
    "mix night at 2/s { sell 1 }\n"
    "design apart { collection products of Product p by sku { entry ε: name  entry tags[*] } }\n";

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class DesignCommand : public testing::Test {
 protected:
  [[nodiscard]] ProgramRun design(std::vector<std::string> arguments, const std::string& text = shop) const {
    arguments.insert(arguments.begin(), "design");
    std::replace(arguments.begin(), arguments.end(), std::string("FILE"), file(text));
    return run_noam(arguments);
  }

  [[nodiscard]] std::string file(const std::string& text) const {
    const auto path = folder_.path() / "shop.noam";
    write_file(path, text);
    return path.string();
  }

  static void expect_wrong_use(const ProgramRun& run, const std::vector<std::string>& mentions) {
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_EQ(run.err.rfind("noam: ", 0), 0U) << run.err;
    for (const std::string& word : mentions)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << "\n" << run.err;
    EXPECT_EQ(run.out, "");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST(GoldenDesigns, AreWhatTheFilesSay) {
  const auto files = files_below("tests/golden/designs", ".txt");
  ASSERT_GE(files.size(), 5U);
  for (const auto& file : files) expect_transcript(file);
}

// docs/design.md: what follows a command there is what it prints.
TEST(DesignPage, ShowsWhatIsPrinted) {
  const auto page = source_dir() / "docs/design.md";
  const TemporaryFolder folder;
  const auto model = folder.path() / "notes.noam";
  std::istringstream lines_of(read_file(page));
  std::string said;
  std::string text;
  std::size_t commands = 0;
  bool inside = false;
  bool is_model = false;
  bool replaced = false;  // a command's block, whose text is written anew
  for (std::string line; std::getline(lines_of, line);) {
    if (line.rfind("```", 0) == 0) {
      if (inside && is_model) write_file(model, text);
      inside = !inside;
      is_model = line == "```noam";
      replaced = false;
      text.clear();
    } else if (inside) {
      text += line + "\n";
      if (line.rfind("$ noam ", 0) == 0) {
        auto arguments = command_words(line.substr(7));
        std::replace(arguments.begin(), arguments.end(), std::string("notes.noam"), model.string());
        const ProgramRun run = run_noam(arguments);
        EXPECT_EQ(run.code, 0) << line << "\n" << run.err;
        said += line + "\n" + run.out;
        replaced = true;
        ++commands;
        continue;
      }
    }
    if (!replaced) said += line + "\n";
  }
  EXPECT_GE(commands, 5U);
  if (std::getenv("NOAM_UPDATE_GOLDEN") != nullptr)
    write_file(page, said);
  else
    EXPECT_EQ(read_file(page), said);
}

TEST_F(DesignCommand, PrintsADesignThatCanBePasted) {
  const ProgramRun run = design({"FILE"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("design shop_eao {\n", 0), 0U) << run.out;
  EXPECT_NE(run.out.find("  collection Product of Product p by sku { entry ε: name, tags }\n"), std::string::npos);
  EXPECT_NE(run.out.find("  // placed for you\n"), std::string::npos) << run.out;
  const ProgramRun checked = run_noam({"check", "-"}, shop + run.out);
  EXPECT_EQ(checked.code, 0) << checked.out;
  const ProgramRun again = design({"FILE", "--strategy", "shop_eao"}, shop + run.out);
  EXPECT_EQ(again.code, 0) << again.err;
  // Nothing is left to be placed.
  EXPECT_EQ(again.out.find("placed for you"), std::string::npos) << again.out;
}

TEST_F(DesignCommand, TakesEveryStrategyAndDesign) {
  for (const std::string name : {"eao", "etf", "normalized"}) {
    const ProgramRun run = design({"FILE", "--strategy", name});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out.rfind("design shop_" + name, 0), 0U) << run.out;
    EXPECT_NE(run.out.find("rest " + name), std::string::npos) << run.out;
  }
  const ProgramRun run = design({"FILE", "--strategy", "apart"});
  EXPECT_EQ(run.out.rfind("design apart {\n  collection products of", 0), 0U) << run.out;
}

TEST_F(DesignCommand, ExplainsAllOrOne) {
  const ProgramRun all = design({"FILE", "--explain"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(all.out.rfind("design ", 0), 0U);
  for (const char* statement :
       {"\nquery product($sku)", "\nquery tagged($tag)", "\ncommand add_product($sku, $name)", "\nstored\n"})
    EXPECT_NE(all.out.find(statement), std::string::npos) << statement;
  const ProgramRun one = design({"FILE", "--explain", "tagged"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.find("design "), std::string::npos);
  EXPECT_EQ(one.out.find("query product"), std::string::npos);
  EXPECT_NE(one.out.find("look up Product_by_tags [p.tags contains $tag]"), std::string::npos) << one.out;
  EXPECT_EQ(design({"--explain", "FILE"}).out, all.out) << "a file after --explain is the file";
}

TEST_F(DesignCommand, WeighsAMix) {
  const ProgramRun relative = design({"FILE", "--explain", "sell", "--mix", "day"});
  EXPECT_EQ(relative.code, 0) << relative.err;
  EXPECT_NE(relative.out.find("mix day, for one statement of it on average"), std::string::npos) << relative.out;
  EXPECT_NE(relative.out.find("90.00 %"), std::string::npos) << relative.out;
  const ProgramRun absolute = design({"FILE", "--mix", "night"});
  EXPECT_NE(absolute.out.find("mix night, in a second"), std::string::npos) << absolute.out;
}

TEST_F(DesignCommand, GivesJson) {
  const Json plain = Json::parse(design({"FILE", "--json"}).out);
  EXPECT_EQ(plain["schema"], 1);
  EXPECT_EQ(plain["model"], "shop");
  EXPECT_EQ(plain["design"]["name"], "eao");
  EXPECT_FALSE(plain.contains("plans"));
  const Json all = Json::parse(design({"FILE", "--json", "--strategy", "apart", "--explain", "--mix", "day"}).out);
  EXPECT_EQ(all["design"]["written"], true);
  EXPECT_EQ(all["design"]["collections"][0]["name"], "products");
  EXPECT_EQ(all["design"]["collections"][0]["added"], false);
  EXPECT_EQ(all["design"]["collections"][0]["families"][1]["elements"], "tags");
  EXPECT_EQ(all["plans"].size(), 5U);
  EXPECT_EQ(all["mix"]["mix"], "day");
  const Json one = Json::parse(design({"FILE", "--json", "--explain", "sell"}).out);
  EXPECT_FALSE(one.contains("design"));
  ASSERT_EQ(one["plans"].size(), 1U);
  EXPECT_EQ(one["plans"][0]["statement"], "sell");
  EXPECT_EQ(one["plans"][0]["commits"], 1);
}

TEST_F(DesignCommand, SaysWhatIsWrongInALine) {
  expect_wrong_use(design({"FILE", "--strategy", "figure99"}), {"figure99", "eao", "etf", "normalized", "apart"});
  expect_wrong_use(design({"FILE", "--strategy", "normalised"}), {"did you mean `normalized`?"});
  expect_wrong_use(design({"FILE", "--strategy", "advised"}), {"`advised` is not implemented yet"});
  expect_wrong_use(design({"FILE", "--mix", "noon"}), {"no mix `noon`", "day, night"});
  expect_wrong_use(design({"FILE", "--explain", "prodct"}), {"no statement `prodct`; did you mean `product`?"});
  expect_wrong_use(design({"no/such/file.noam"}), {"no/such/file.noam"});
  expect_wrong_use(design({}), {"FILE"});
  expect_wrong_use(design({"FILE", "--colour"}), {"--colour", "noam design --help"});
}

TEST_F(DesignCommand, SaysWhatIsWrongWithTheModel) {
  const ProgramRun run = design({"FILE"}, "model shop\nentity Product { sku: texts key }\n");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("[unknown-type]"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("1 error"), std::string::npos) << run.err;
}

TEST_F(DesignCommand, ReadsStandardInput) {
  const ProgramRun run = run_noam({"design", "-"}, shop);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("design shop_eao", 0), 0U);
}

// An event of which a copy keeps the number; and nothing at all.
TEST_F(DesignCommand, ShowsWhatIsKeptOfEvents) {
  const ProgramRun run = design({"FILE", "--explain", "sell"});
  EXPECT_NE(run.out.find("load the owner, a Product"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("keep Sale_by_product"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("one commit: 1 entry in 1 block"), std::string::npos) << run.out;
  const ProgramRun empty = design({"FILE", "--explain"}, "model empty\n");
  EXPECT_EQ(empty.code, 0) << empty.err;
}

}  // namespace noam::tests
