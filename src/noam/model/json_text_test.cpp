#include "noam/model/json_text.h"

#include <string>

#include <gtest/gtest.h>

#include "noam/model/sample_for_tests.h"

namespace noam::model {
namespace {

// What is read, or why it is not.
std::string read(std::string_view text) {
  const auto read = parse_json(text);
  return read ? read->json.dump() : read.error().message;
}

std::string rounded(std::string_view text) {
  std::string out;
  const auto read = parse_json(text);
  if (!read) return read.error().message;
  for (const RoundedInteger& one : read->rounded) {
    for (const auto& step : one.path)
      out += "/" + (step.index() == 0 ? std::get<0>(step) : std::to_string(std::get<1>(step)));
    out += "=" + one.digits + " ";
  }
  return out;
}

TEST(JsonText, IsReadAsItStands) {
  for (const char* text : {"null", "true", "-5", "18446744073709551615", "0.5", R"("a\n")", "[]", "{}", "[1,[2,{}]]",
                           R"({"b":1,"a":{"c":[null,false]}})"})
    EXPECT_EQ(read(text), text);
  EXPECT_EQ(read(" { \"a\" : 1 } \r"), R"({"a":1})");
  EXPECT_EQ(read(R"({"a":1,"b":2,"a":[3]})"), R"({"a":[3],"b":2})") << "the last one counts";
}

TEST(JsonText, SaysWhatIsWrong) {
  EXPECT_EQ(read(""), "unexpected input at byte 1");
  EXPECT_EQ(read("{"), "unexpected input at byte 2");
  EXPECT_EQ(read("{} x"), "unexpected input at byte 4");
  EXPECT_EQ(read(std::string_view("{}\0", 3)), "byte 3 is NUL");
  EXPECT_EQ(read("\"\xff\""), "unexpected input at byte 2");
  EXPECT_EQ(read(R"("\ud800")"), "unexpected input at byte 8");
  EXPECT_EQ(read("NaN"), "unexpected input at byte 1");
  EXPECT_EQ(read("[1e400]"), "the number 1e400 is too large");
  EXPECT_EQ(read(std::string(200, '[') + std::string(200, ']')), std::string(200, '[') + std::string(200, ']'));
  EXPECT_EQ(read(std::string(201, '[') + std::string(201, ']')), "nested more than 200 deep");
  EXPECT_EQ(read(std::string(100'000, '[')), "nested more than 200 deep");
}

TEST(JsonText, TellsWhichIntegersWereRounded) {
  EXPECT_EQ(rounded("18446744073709551615"), "");
  EXPECT_EQ(rounded("18446744073709551616"), "=18446744073709551616 ");
  EXPECT_EQ(rounded("1e30"), "");
  EXPECT_EQ(rounded("18446744073709551616.0"), "");
  EXPECT_EQ(rounded(R"({"a":[1,{"b":-99999999999999999999}],"c":[[],[99999999999999999999]]})"),
            "/a/1/b=-99999999999999999999 /c/1/0=99999999999999999999 ");
  EXPECT_EQ(rounded(R"({"a":{"b":99999999999999999999},"a":1})"), "") << "what is given again does not count";
}

TEST(JsonText, HasManyMembersInLittleTime) {
  std::string text = "{";
  constexpr int members = 200'000;
  for (int i = 0; i < members; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i % (members / 2)) + "\":1";
  const auto read = parse_json(text + "}");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->json.size(), members / 2);
}

TEST(JsonText, RefusesWhatWasRoundedInAJson) {
  Model model;
  Value value;
  value.name = "Note";
  value.fields = {sample::field("ratio", scalar(TypeKind::Float)), sample::field("data", scalar(TypeKind::Json))};
  model.values.push_back(value);
  const auto refused = [&](const Type& type, const std::string& text) {
    const auto read = parse_json(R"({"params":{"p":)" + text + "}}");
    EXPECT_TRUE(read) << text;
    const auto found = refuse_rounded(model, type, read->rounded, {"params", "p"}, "p");
    return found ? found->code + ": " + found->reason : "";
  };
  const std::string large = "99999999999999999999";
  const Type json = scalar(TypeKind::Json);
  const Type note = sample::value_type(0);
  const Type list = collection_of(TypeKind::List, note);
  const Type map = sample::map_of(scalar(TypeKind::Text), note);
  const std::string fits = "the integer " + large + " does not fit into 64 bits";
  EXPECT_EQ(refused(json, large), "value: p: " + fits);
  EXPECT_EQ(refused(json, "[1," + large + "]"), "value: p[1]: " + fits);
  EXPECT_EQ(refused(scalar(TypeKind::Float), large), "");
  EXPECT_EQ(refused(note, R"({"ratio":)" + large + "}"), "");
  EXPECT_EQ(refused(note, R"({"data":{"x":)" + large + "}}"), "value: p.data.x: " + fits);
  EXPECT_EQ(refused(list, R"([{"data":)" + large + "}]"), "value: p[0].data: " + fits);
  EXPECT_EQ(refused(map, R"({"k":{"data":)" + large + "}}"), "value: p.k.data: " + fits);
  EXPECT_EQ(refused(map, R"([["k",{"data":)" + large + "}]]"), "value: p[0][1].data: " + fits);
  EXPECT_EQ(refused(map, R"([["k",{"ratio":)" + large + "}]]"), "");
}

}  // namespace
}  // namespace noam::model
