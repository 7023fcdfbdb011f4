#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "noam/design/program.h"
#include "tests/compiled.h"
#include "tests/support.h"

// Which of the ways to an answer is taken.
namespace noam::tests {

namespace {

using design::Plan;
using design::Program;
using design::Step;
using design::StepKind;

constexpr const char* data = R"(model plans
entity User {
  name: text key
  age: int
  follows: set<User> ~20 inverse followers
}
entity Post {
  id: uuid key
  author: User inverse posts ~50
  at: timestamp
  text: text(200)
}
)";

Program program(const std::string& statements, const std::string& strategy = "eao") {
  return tests::program_of(data + statements, strategy);
}

std::string name_of(const Program& program, const Step& step) {
  return program.design.collection_of(program.design.families[step.family]).name;
}

// The collections that a plan reads, in order; `!` where it reads all of one.
std::vector<std::string> reads(const Program& program, const Plan& plan) {
  std::vector<std::string> out;
  for (const auto* steps : {&plan.steps, &plan.late}) {
    for (const Step& step : *steps) {
      if (step.kind == StepKind::Lookup || step.kind == StepKind::Collect) out.push_back(name_of(program, step));
      if (step.kind == StepKind::Scan) out.push_back(name_of(program, step) + "!");
      for (const Plan& nested : step.nested)
        for (const std::string& inside : reads(program, nested)) out.push_back(inside);
    }
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST(Plans, LookUpByTheKey) {
  const Program made = program("query one($u) { select u.age from User[$u] u }");
  EXPECT_EQ(reads(made, made.queries[0]), (Names{"User"}));
  EXPECT_FALSE(made.queries[0].scans);
}

TEST(Plans, ReadARangeRatherThanABlock) {
  const Program made = program(
      "query since($u, $t) { select p.id, p.at from Post p where p.author = $u and p.at >= $t order by p.at limit 10 "
      "}\n"
      "design d { collection by_author of Post p by author { copy [at, id] } }",
      "d");
  const Plan& plan = made.queries[0];
  ASSERT_EQ(reads(made, plan), (Names{"by_author"}));
  EXPECT_TRUE(plan.steps[0].range.low.has_value());
  EXPECT_FALSE(plan.steps[0].range.high.has_value());
  EXPECT_TRUE(plan.steps[0].range.low_inclusive);
}

TEST(Plans, ReadNoMoreThanTheLimitWhereEntriesLieInOrder) {
  const std::string design = "design d { collection by_author of Post p by author { copy [at desc, id desc]: text } }";
  const Program newest = program(
      "query newest($u) { select p.id from Post p where p.author = $u order by p.at desc limit 10 }\n" + design, "d");
  EXPECT_TRUE(newest.queries[0].sorted);
  EXPECT_TRUE(newest.queries[0].steps[0].limited);
  EXPECT_FALSE(newest.queries[0].steps[0].reverse);
  const Program oldest = program(
      "query oldest($u) { select p.id from Post p where p.author = $u order by p.at limit 10 }\n" + design, "d");
  EXPECT_TRUE(oldest.queries[0].sorted);
  EXPECT_TRUE(oldest.queries[0].steps[0].reverse);
}

TEST(Plans, CutAfterWhatIsFilteredOnly) {
  const Program made = program(
      "query some($u, $s) { select p.id from Post p where p.author = $u and p.text starts with $s order by p.at desc "
      "limit 10 }\n"
      "design d { collection by_author of Post p by author { copy [at desc, id desc]: text } }",
      "d");
  for (const Step& step : made.queries[0].steps) EXPECT_FALSE(step.limited);
}

TEST(Plans, ReadACopyRatherThanJoin) {
  const std::string query =
      "query timeline($u) { select p.id, p.author.age from User[$u] u, u.follows f, f.posts p order by p.at desc limit "
      "25 }\n";
  const Program joined = program(query);
  EXPECT_GT(reads(joined, joined.queries[0]).size(), 1U);
  const Program copied = program(query +
                                     "design d { collection timelines of User u, u.follows f, f.posts p by u.name "
                                     "{ copy [p.at desc, p.id desc, f.name desc as f]: p.author.age as age } }",
                                 "d");
  EXPECT_EQ(reads(copied, copied.queries[0]), (Names{"timelines"}));
}

TEST(Plans, ReadAListRatherThanItsRows) {
  const std::string design =
      "design d { collection pages of User u by u.name { entry ε: age copy posts: "
      "all [ p.id, p.text from u.posts p order by p.at desc ], "
      "last [ p.id from u.posts p order by p.at desc limit 3 ] } }";
  const auto plan_of = [&](const std::string& nested) {
    const Program made =
        program("query page($u) { select u.age, " + nested + " as posts from User[$u] u }\n" + design, "d");
    return reads(made, made.queries[0]);
  };
  EXPECT_EQ(plan_of("(select p.id, p.text from u.posts p)"), (Names{"pages", "pages"}));
  EXPECT_EQ(plan_of("(select p.id, p.text from u.posts p order by p.at desc)"), (Names{"pages", "pages"}));
  EXPECT_EQ(plan_of("(select p.id from u.posts p order by p.at desc limit 3)"), (Names{"pages", "pages"}));
  // Another order, another limit, other columns are not kept.
  EXPECT_NE(plan_of("(select p.id, p.text from u.posts p order by p.at)"), (Names{"pages", "pages"}));
  EXPECT_NE(plan_of("(select p.id from u.posts p order by p.at desc limit 4)"), (Names{"pages", "pages"}));
  EXPECT_NE(plan_of("(select p.text from u.posts p)"), (Names{"pages", "pages"}));
}

TEST(Plans, ReadACounterRatherThanCount) {
  const std::string query = "query posts_of($u) { select count(*) as n from Post p where p.author = $u }\n";
  const Program counted =
      program(query + "design d { collection counts of Post p by author { copy ε: count(*) as n } }", "d");
  EXPECT_EQ(reads(counted, counted.queries[0]), (Names{"counts"}));
}

TEST(Plans, AddAnAccessPathRatherThanReadAll) {
  for (const std::string strategy : {"eao", "etf", "normalized"}) {
    const Program made = program("query of_age($a) { select u.name from User u where u.age = $a }", strategy);
    EXPECT_FALSE(made.queries[0].scans) << strategy;
    EXPECT_EQ(reads(made, made.queries[0]), (Names{"User_by_age"})) << strategy;
  }
}

TEST(Plans, SayWhenOnlyAllWillDo) {
  const Program made = program("query all { select u.age from User u }");
  EXPECT_TRUE(made.queries[0].scans);
  EXPECT_EQ(reads(made, made.queries[0]), (Names{"User!"}));
}

TEST(Plans, AreThereForEveryStatementOfEveryExampleUnderEveryStrategy) {
  std::size_t statements = 0;
  for (const auto& path : files_below("examples", ".noam")) {
    const auto model = tests::model_of_file(path);
    for (const std::string& name : strategies_of(*model)) {
      const auto made = compile_program(model, name);
      ASSERT_TRUE(made.has_value()) << path << " under " << name << ": " << made.error().message;
      ASSERT_EQ(made->queries.size(), model->queries.size());
      ASSERT_EQ(made->commands.size(), model->commands.size());
      for (const Plan& plan : made->queries) EXPECT_FALSE(plan.columns.empty());
      statements += made->queries.size() + made->commands.size();
    }
  }
  EXPECT_GT(statements, 200U);
}

TEST(Plans, ReadWhatWasCountedRatherThanWhatItWasMadeOf) {
  const Program made = program(R"(
query ages($name) { select count(distinct p.at) as moments from User u, u.posts p where u.name = $name }
query posts($name) { select count(*) as posts from User u, u.posts p where u.name = $name }
design counted {
  collection moments of User u by u.name as name {
    copy ε: count(distinct p.at) as moments from u.posts p
    copy each[p.at as at] from u.posts p
  }
}
)",
                               "counted");
  for (const Plan& plan : made.queries) {
    ASSERT_FALSE(plan.steps.empty());
    const design::Family& family = made.design.families[plan.steps.back().family];
    EXPECT_EQ(made.design.collection_of(family).name, "moments");
    EXPECT_TRUE(family.key.empty()) << family.name;
  }
}

TEST(Plans, ReadDaysWhereDaysAreCountedAndHoursElse) {
  const auto read_with = [](const std::string& days) {
    const Program made = program(R"(
query by_day($name) {
  select day(p.at) as day, count(*) as posts from User u, u.posts p where u.name = $name group by day(p.at)
}
design counted {
  collection hours of User u by u.name as name { copy [hour(p.at) as hour]: count(*) as posts from u.posts p }
)" + days + "}\n",
                                 "counted");
    return reads(made, made.queries[0]).back();
  };
  EXPECT_EQ(read_with(""), "hours");
  EXPECT_EQ(read_with("  collection days of User u by u.name as name "
                      "{ copy [day(p.at) as day]: count(*) as posts from u.posts p }\n"),
            "days");
}

TEST(Plans, DoNotTakeRowsThatShareAnEntryForTheOneThatIsMeant) {
  const Program made = program(R"(
entity Page { number: int key  next: Page?  links: set<Page> inverse linked_by }
query links_to_next { select count(*) as links from Page p, p.next n, n.linked_by l }
design counted {
  collection pages of Page p by "all" as all { copy ε }
}
)",
                               "counted");
  // That there are pages does not say that the next one is there.
  for (const std::string& read : reads(made, made.queries[0])) EXPECT_NE(read, "pages");
}

TEST(Members, AreThoseThatAWrittenCopyTells) {
  const auto members = [](const char* copy) {
    const Program made = program(R"(
query ages { select count(distinct u.age) as ages from User u }
design written {
  collection ages of User u by "all" as all { copy ε: count(distinct u.age) as ages }
  collection each of User u by "all" as all { )" +
                                     std::string(copy) + " }\n}\n",
                                 "written");
    std::vector<std::string> out;
    for (const design::Family& family : made.design.families)
      if (family.counts_members)
        out.push_back(made.design.collection_of(family).name + " of " +
                      made.design.collection_of(made.design.families[family.members_of]).name);
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(members("copy [u.age as age]"), Names{"each of ages"});
  EXPECT_EQ(members("copy [u.age as age]: count(*) as n"), Names{"each of ages"});
  EXPECT_EQ(members("copy [u.age as age]: min(u.name) as first"), (Names{"each of ages", "each of each"}));
  EXPECT_EQ(members("copy [u.age desc as age]"), Names{"ages of ages"}) << "in another order";
  EXPECT_EQ(members("copy [u.age as age] where u.age > 3"), Names{"ages of ages"}) << "not all of them";
  EXPECT_EQ(members("copy [u.age as age, u.name as name]"), Names{"ages of ages"}) << "told apart by more";
  EXPECT_EQ(members("copy [u.age as age] limit 3"), Names{"ages of ages"}) << "not all of them";
}

}  // namespace noam::tests
