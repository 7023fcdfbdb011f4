#include "noam/base/json.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace noam {
namespace {

TEST(Json, IsMadeOfWhatIsWrittenInBraces) {
  EXPECT_EQ(Json({{"a", 1}, {"b", Json::array()}}).dump(), R"({"a":1,"b":[]})");
  EXPECT_EQ(Json({1, "two", nullptr, true, 2.5}).dump(), R"([1,"two",null,true,2.5])");
  EXPECT_EQ(Json({{"a", 1}, 2}).dump(), R"([["a",1],2])") << "not every part is a pair";
  EXPECT_EQ(Json({{"a", {}}, {"b", {{"c", {1, 2}}}}}).dump(), R"({"a":{},"b":{"c":[1,2]}})");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json::object({{"a", 1}, {"a", 2}}).dump(), R"({"a":1})");
  EXPECT_EQ(Json(std::vector<std::string>{"x", "y"}).dump(), R"(["x","y"])");
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json::object().dump(), "{}");
}

TEST(Json, KeepsMembersInTheirOrder) {
  Json json;
  json["b"] = 1;
  json["a"]["c"] = 2;
  json["b"] = 3;
  EXPECT_EQ(json.dump(), R"({"b":3,"a":{"c":2}})");
  EXPECT_EQ(sorted(json).dump(), R"({"a":{"c":2},"b":3})");
  EXPECT_NE(json, sorted(json));
  EXPECT_EQ(json.erase("b"), 1U);
  EXPECT_EQ(json.erase("b"), 0U);
  json.update({{"d", 4}, {"a", 5}});
  EXPECT_EQ(json.dump(), R"({"a":5,"d":4})");
  std::string walked;
  for (const auto& [name, value] : json.items()) walked += name + "=" + value.dump() + " ";
  EXPECT_EQ(walked, "a=5 d=4 ");
}

TEST(Json, TakesAPartOfItselfInItsPlace) {
  Json json = {{"inner", {{"x", 1}}}};
  json = std::move(json["inner"]);
  EXPECT_EQ(json.dump(), R"({"x":1})");
  json = Json(json["x"]);
  EXPECT_EQ(json, 1);
}

TEST(Json, ComparesNumbersByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(std::uint64_t{7}), Json(7));
  EXPECT_NE(Json(UINT64_MAX), Json(-1));
  EXPECT_LT(Json(-1), Json(UINT64_MAX));
  EXPECT_LT(Json(INT64_MAX), Json(UINT64_MAX));
  EXPECT_TRUE(Json(5).is_number_unsigned());
  EXPECT_FALSE(Json(-5).is_number_unsigned());
  EXPECT_LT(Json({1, 2}), Json({1, 2, 0}));
  EXPECT_LT(Json(nullptr), Json(false));
}

TEST(Json, WritesTextsAsJsonAsksAndFloatsShortest) {
  EXPECT_EQ(Json("a\"\\\n\x01 \u00e9").dump(), "\"a\\\"\\\\\\n\\u0001 \u00e9\"");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1e100).dump(), "1e+100");
  EXPECT_EQ(Json(2.0).dump(), "2.0");
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  EXPECT_EQ(Json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(Json({{"a", {1, {}}}}).dump(2), "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
}

TEST(Json, ReplacesBytesThatAreNotUtf8OrSaysSo) {
  const Json json = {"a\xff", "b"};
  EXPECT_EQ(json.dump(), "[\"a\uFFFD\",\"b\"]");
  EXPECT_EQ(json.try_dump(), std::nullopt);
  EXPECT_EQ(Json("a").try_dump(), "\"a\"");
}

TEST(Json, ThrowsWhenItIsMisused) {
  const Json json = {{"a", 1}};
  EXPECT_THROW((void)json["b"], std::logic_error);
  EXPECT_THROW((void)json["a"].text(), std::logic_error);
  EXPECT_THROW((void)json[1], std::logic_error);
  EXPECT_THROW((void)Json("1").get<int>(), std::logic_error);
  EXPECT_THROW((void)Json::parse("{"), std::invalid_argument);
  EXPECT_EQ(Json::read("{"), std::nullopt);
  EXPECT_EQ(json.value("b", "other"), "other");
  EXPECT_EQ(json.value("a", 0), 1);
}

}  // namespace
}  // namespace noam
