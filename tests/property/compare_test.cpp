#include "tests/property/compare.h"

#include <gtest/gtest.h>

#include "noam/compile/compile.h"

namespace noam::tests::property {

namespace {

class Compare : public testing::Test {
 protected:
  std::optional<std::string> difference_of(const char* query, const Json& a, const Json& b) {
    Json request;
    request["run"] = query;
    return difference(*compiled.model, request, a, b);
  }

  language::SourceFile source{"compare.noam",
                              "model compare\n"
                              "entity User { name: text key   friends: set<User> inverse liked_by }\n"
                              "query bag { select u.name from User u }\n"
                              "query sorted { select u.name from User u order by u.name }\n"
                              "query cut { select u.name from User u limit 2 }  // allow: limit-without-order\n"
                              "query nested { select u.name, (select f.name from u.friends f) as bag,\n"
                              "  (select f.name from u.friends f order by f.name) as sorted from User u }\n"
                              "command add($name) { insert User { name: $name } }\n"};
  Compilation compiled = compile(source);
};

Json rows(const std::vector<Json>& list) {
  Json out;
  out["rows"] = list;
  return out;
}

TEST_F(Compare, TakesRowsWithoutOrderAsABag) {
  const Json a = {{"name", "a"}};
  const Json b = {{"name", "b"}};
  EXPECT_EQ(difference_of("bag", rows({a, b}), rows({b, a})), std::nullopt);
  EXPECT_NE(difference_of("sorted", rows({a, b}), rows({b, a})), std::nullopt);
  EXPECT_NE(difference_of("cut", rows({a, b}), rows({b, a})), std::nullopt);
  EXPECT_NE(difference_of("bag", rows({a, b}), rows({a})), std::nullopt);
  EXPECT_NE(difference_of("bag", rows({a, a, b}), rows({a, b, b})), std::nullopt);
}

TEST_F(Compare, DoesTheSameInNestedRows) {
  const Json a = {{"name", "a"}};
  const Json b = {{"name", "b"}};
  const auto row = [](const Json& bag, const Json& sorted) {
    Json out;
    out["name"] = "u";
    out["bag"] = bag;
    out["sorted"] = sorted;
    return out;
  };
  EXPECT_EQ(difference_of("nested", rows({row({a, b}, {a, b})}), rows({row({b, a}, {a, b})})), std::nullopt);
  EXPECT_NE(difference_of("nested", rows({row({a, b}, {a, b})}), rows({row({a, b}, {b, a})})), std::nullopt);
}

TEST_F(Compare, LeavesOutReasonsAndTheTextsOfCursors) {
  const Json refused = {{"outcome", "refused"}, {"code", "exists"}, {"reason", "one"}};
  Json other = refused;
  other["reason"] = "another";
  EXPECT_EQ(difference_of("add", refused, other), std::nullopt);
  other["code"] = "value";
  EXPECT_NE(difference_of("add", refused, other), std::nullopt);
  Json page = rows({});
  Json further = page;
  further["cursor"] = "x";
  EXPECT_NE(difference_of("sorted", page, further), std::nullopt);
  page["cursor"] = "y";
  EXPECT_EQ(difference_of("sorted", page, further), std::nullopt);
  const Json error = {{"error", {{"code", "overflow"}, {"reason", "one"}}}};
  const Json same = {{"error", {{"code", "overflow"}, {"reason", "two"}}}};
  EXPECT_EQ(difference_of("bag", error, same), std::nullopt);
  EXPECT_NE(difference_of("bag", error, rows({})), std::nullopt);
}

TEST_F(Compare, TellsNumbersApartThatAreOnlyNearlyTheSame) {
  const auto number = [](double value) { return rows({Json{{"n", value}}}); };
  EXPECT_EQ(difference_of("bag", number(0.1), number(0.1)), std::nullopt);
  EXPECT_NE(difference_of("bag", number(0.1), number(0.1 + 1e-17 + 1e-16)), std::nullopt);
  EXPECT_NE(difference_of("bag", number(0.0), number(-0.0)), std::nullopt);
  EXPECT_NE(difference_of("bag", number(1.0), rows({Json{{"n", 1}}})), std::nullopt);
}

TEST_F(Compare, DoesNotAskForTheOrderOfColumns) {
  EXPECT_EQ(difference_of("bag", rows({Json{{"x", 1}, {"y", 2}}}), rows({Json{{"y", 2}, {"x", 1}}})), std::nullopt);
}

}  // namespace

}  // namespace noam::tests::property
