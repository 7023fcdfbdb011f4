#include "noam/targets/mongodb/javascript.h"

#include <string>

#include <gtest/gtest.h>

namespace noam::targets::mongodb {

TEST(Js, FitsOnALineWhereItCan) {
  Js object = Js::object();
  object.add("_id", "username").add("noam_version", "noam_version").add("a.b", "1").add("[\"x.\" + i]", "2");
  EXPECT_EQ(object.print(0, 0), R"({ _id: username, noam_version, "a.b": 1, ["x." + i]: 2 })");
  EXPECT_EQ(Js::object().print(0, 0), "{}");
  EXPECT_EQ(Js::array().add("1").add(Js::array()).print(0, 0), "[1, []]");
}

TEST(Js, HasAMemberALineWhereItIsLong) {
  Js inner = Js::array();
  inner.add("\"one\"").add("\"two\"");
  Js object = Js::object();
  object.add("first", inner).add("second", "second");
  EXPECT_EQ(object.print(0, 2, 28), "{\n    first: [\"one\", \"two\"],\n    second\n  }");
}

TEST(Js, QuotesTexts) { EXPECT_EQ(string_literal("a\"b\\\n\x01"), R"("a\"b\\\n\u0001")"); }

TEST(Variable, IsNoReservedWord) {
  EXPECT_EQ(variable("username"), "username");
  EXPECT_EQ(variable("default"), "default_");
  EXPECT_EQ(variable("db"), "db_");
  EXPECT_EQ(variable("db_"), "db__");
  EXPECT_EQ(variable("NumberLong"), "NumberLong_");
  EXPECT_EQ(variable("_"), "_");
}

TEST(Calls, StandBelowEachOtherWhereTheyAreLong) {
  const Js key = Js::object().add("_id", "x");
  EXPECT_EQ(print_calls("a", {{"find", {key}}, {"limit", {Js("n")}}}),
            R"(db.getCollection("a").find({ _id: x }).limit(n))");
  const std::string name(60, 'n');
  EXPECT_EQ(print_calls(name,
                        {{"find", {key}}, {"sort", {Js::object().add("something_else", "1")}}, {"limit", {Js("n")}}}),
            "db.getCollection(\"" + name + "\").find({ _id: x })\n  .sort({ something_else: 1 })\n  .limit(n)");
}

}  // namespace noam::targets::mongodb
