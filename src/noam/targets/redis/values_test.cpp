#include "noam/targets/redis/values.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace noam::targets::redis {
namespace {

using model::Datum;
using model::scalar;
using model::TypeKind;

Column column(const char* name, model::Type type, bool descending = false) {
  Column out;
  out.name = name;
  out.type = std::move(type);
  out.descending = descending;
  return out;
}

TEST(RedisValues, JoinsPartsOfAKeyWithoutDoubt) {
  const model::Model model;
  const std::vector<Column> one = {column("word", model::optional(scalar(TypeKind::Text)))};
  EXPECT_EQ(joined_text(model, one, {"mary"}), "mary");
  EXPECT_EQ(joined_text(model, one, {"{a}:50%"}), "%7Ba%7D%3A50%25");
  EXPECT_EQ(joined_text(model, one, {""}), "%=");
  EXPECT_EQ(joined_text(model, one, {Datum()}), "%-");
  EXPECT_EQ(joined_text(model, one, {"%-"}), "%25-");
  const std::vector<Column> two = {column("hour", scalar(TypeKind::Timestamp)),
                                   column("number", scalar(TypeKind::Int))};
  EXPECT_EQ(joined_text(model, two, {0, 7}), "1970-01-01T00%3A00%3A00.000Z:7");
}

TEST(RedisValues, PutsMembersInTheOrderOfTheirKeys) {
  const model::Model model;
  FamilyOutline family;
  family.key = {column("number", scalar(TypeKind::Int), true), column("name", scalar(TypeKind::Text))};
  PlacedFamily placed;
  placed.family = &family;
  placed.shape = Shape::Ordered;
  EXPECT_EQ(member_text(model, placed, {1, "a"}), "eafe30610001:1:a");
  const std::vector<std::vector<Datum>> keys = {{300, "a"}, {7, "a"}, {7, "b"}, {0, ""}, {-1, "z"}, {-300, "a"}};
  std::vector<std::string> members;
  for (const auto& key : keys) members.push_back(member_text(model, placed, key));
  EXPECT_TRUE(std::is_sorted(members.begin(), members.end()));
}

TEST(RedisValues, TakesATextThatSortsRightAsItIs) {
  const model::Model model;
  FamilyOutline family;
  family.key = {column("name", scalar(TypeKind::Text))};
  PlacedFamily placed;
  placed.family = &family;
  placed.shape = Shape::Ordered;
  placed.plain_key = true;
  placed.natural = true;
  EXPECT_EQ(entry_text(model, placed, {"a:b"}), "a:b");
  EXPECT_EQ(member_text(model, placed, {"a:b"}), "a:b");
}

TEST(RedisValues, KeepsScalarsAsTextsAndTheRestAsJson) {
  const model::Model model;
  EXPECT_EQ(value_text(model, scalar(TypeKind::Int), 42), "42");
  EXPECT_EQ(value_text(model, scalar(TypeKind::Text), "it's"), "it's");
  EXPECT_EQ(value_text(model, scalar(TypeKind::Bytes), std::string("\0\xFF", 2)), std::string("\0\xFF", 2));
  EXPECT_EQ(value_text(model, model::collection_of(TypeKind::Set, scalar(TypeKind::Text)), Datum::List{"a", "b"}),
            R"(["a","b"])");
}

TEST(RedisValues, NamesFieldsByTheirEntry) {
  PlacedFamily family;
  EXPECT_EQ(field_of(family, "score", ""), "score");
  family.shape = Shape::Elements;
  EXPECT_EQ(field_of(family, "games", "0"), "games[0]");
  family.shape = Shape::Ordered;
  family.single = true;
  EXPECT_EQ(field_of(family, "visits", "it"), "it");
}

TEST(RedisValues, QuotesAsRedisCliReads) {
  EXPECT_EQ(quoted("game:Player:{mary}"), "game:Player:{mary}");
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("two words"), "\"two words\"");
  EXPECT_EQ(quoted("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(quoted("it's"), "\"it's\"");
  EXPECT_EQ(quoted("größe"), "größe");
  EXPECT_EQ(quoted(std::string_view("\x00\xFF", 2)), R"("\x00\xff")");
}

}  // namespace
}  // namespace noam::targets::redis
