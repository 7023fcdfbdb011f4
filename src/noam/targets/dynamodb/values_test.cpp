#include "noam/targets/dynamodb/values.h"

#include <gtest/gtest.h>

namespace noam::targets::dynamodb {
namespace {

using model::Datum;
using model::scalar;
using model::Type;
using model::TypeKind;
model::Field field(const char* name, Type type) {
  model::Field out;
  out.name = name;
  out.type = std::move(type);
  return out;
}

// A Player by one text, a Place by two parts, a value Point.
model::Model sample() {
  model::Model out;
  model::Entity player;
  player.name = "Player";
  player.fields = {field("username", scalar(TypeKind::Text))};
  player.key = {0};
  model::Entity place;
  place.name = "Place";
  place.fields = {field("town", scalar(TypeKind::Text)), field("number", scalar(TypeKind::Int))};
  place.key = {0, 1};
  model::Value point;
  point.name = "Point";
  point.fields = {field("x", scalar(TypeKind::Int)), field("label", model::optional(scalar(TypeKind::Text)))};
  out.entities = {player, place};
  out.values = {point};
  return out;
}

const model::EntityId player{0};
const model::EntityId place{1};

Type value_type() {
  Type out;
  out.kind = TypeKind::Value;
  return out;
}

std::string shown(const Type& type, const Datum& datum) {
  const model::Model model = sample();
  const auto out = attribute_value(model, type, datum);
  if (!out) return "nothing";
  // The letter is that of the type, whatever the value.
  EXPECT_EQ(out->begin().key(), type_letter(model, type));
  return out->dump();
}

TEST(DynamoValues, AreNative) {
  EXPECT_EQ(shown(scalar(TypeKind::Bool), Datum(true)), R"({"BOOL":true})");
  EXPECT_EQ(shown(scalar(TypeKind::Int), Datum(std::int64_t{-7})), R"({"N":"-7"})");
  EXPECT_EQ(shown(scalar(TypeKind::Float), Datum(0.5)), R"({"N":"0.5"})");
  EXPECT_EQ(shown(scalar(TypeKind::Decimal), Datum(*model::Decimal::parse("12.50"))), R"({"N":"12.5"})");
  EXPECT_EQ(shown(scalar(TypeKind::Text), Datum(std::string("a\"b"))), R"({"S":"a\"b"})");
  EXPECT_EQ(shown(scalar(TypeKind::Bytes), Datum(std::string("\0\1", 2))), R"({"B":"AAE="})");
  EXPECT_EQ(shown(scalar(TypeKind::Timestamp), Datum(std::int64_t{0})), R"({"S":"1970-01-01T00:00:00.000Z"})");
  EXPECT_EQ(shown(scalar(TypeKind::Date), Datum(std::int64_t{1})), R"({"S":"1970-01-02"})");
  EXPECT_EQ(shown(scalar(TypeKind::Json), Datum(std::string(R"({"b": 1})"))), R"({"S":"{\"b\": 1}"})");
}

TEST(DynamoValues, OfReferencesAreKeys) {
  EXPECT_EQ(shown(model::reference(player), Datum(std::string("mary"))), R"({"S":"mary"})");
  EXPECT_EQ(shown(model::reference(place), Datum(Datum::List{Datum(std::string("Rome")), Datum(std::int64_t{4})})),
            R"({"L":[{"S":"Rome"},{"N":"4"}]})");
}

TEST(DynamoValues, LeaveOutWhatIsAbsent) {
  EXPECT_EQ(shown(model::optional(scalar(TypeKind::Int)), Datum()), "nothing");
  EXPECT_EQ(shown(value_type(), Datum(Datum::List{Datum(std::int64_t{1}), Datum()})), R"({"M":{"x":{"N":"1"}}})");
  EXPECT_EQ(shown(model::collection_of(TypeKind::List, model::optional(scalar(TypeKind::Int))),
                  Datum(Datum::List{Datum(), Datum(std::int64_t{1})})),
            R"({"L":[{"NULL":true},{"N":"1"}]})");
}

TEST(DynamoValues, OfSetsAreSetsWhereTheyCan) {
  const Type texts = model::collection_of(TypeKind::Set, model::reference(player));
  EXPECT_EQ(shown(texts, Datum(Datum::List{Datum(std::string("ann")), Datum(std::string("ben"))})),
            R"({"SS":["ann","ben"]})");
  EXPECT_EQ(shown(texts, Datum(Datum::List{})), "nothing");
  EXPECT_EQ(shown(model::collection_of(TypeKind::Set, scalar(TypeKind::Int)),
                  Datum(Datum::List{Datum(std::int64_t{2})})),
            R"({"NS":["2"]})");
  EXPECT_EQ(shown(model::collection_of(TypeKind::Set, scalar(TypeKind::Bool)), Datum(Datum::List{Datum(true)})),
            R"({"L":[{"BOOL":true}]})");
}

TEST(DynamoValues, OfMapsAreMapsWhereKeysAreTexts) {
  Type map = model::collection_of(TypeKind::Map, scalar(TypeKind::Text));
  map.arguments.push_back(scalar(TypeKind::Int));
  const auto pair = [](Datum key, std::int64_t value) { return Datum(Datum::List{std::move(key), Datum(value)}); };
  EXPECT_EQ(shown(map, Datum(Datum::List{pair(Datum(std::string()), 1), pair(Datum(std::string("a")), 2)})),
            R"({"M":{"\u0000\u0001":{"N":"1"},"a":{"N":"2"}}})");
  map.arguments[0] = scalar(TypeKind::Int);
  EXPECT_EQ(shown(map, Datum(Datum::List{pair(Datum(std::int64_t{5}), 2)})), R"({"L":[{"L":[{"N":"5"},{"N":"2"}]}]})");
}

TEST(DynamoKeys, AreNativeWhereTheySortAsTheyShould) {
  const model::Model model = sample();
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Text), true), 'S');
  EXPECT_EQ(key_letter(model, model::optional(scalar(TypeKind::Text)), true), 'S');
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Int), true), 'N');
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Bytes), true), 'B');
  EXPECT_EQ(key_letter(model, model::reference(player), true), 'S');
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Inet), false), 'S');
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Inet), true), std::nullopt);
  EXPECT_EQ(key_letter(model, scalar(TypeKind::TimeUuid), true), std::nullopt);
  EXPECT_EQ(key_letter(model, scalar(TypeKind::Bool), false), std::nullopt);
  EXPECT_EQ(key_letter(model, model::optional(scalar(TypeKind::Int)), false), std::nullopt);
  EXPECT_EQ(key_letter(model, model::reference(place), false), std::nullopt);
}

TEST(DynamoKeys, AreNeverEmpty) {
  const model::Model model = sample();
  const Type text = model::optional(scalar(TypeKind::Text));
  EXPECT_EQ(key_value(model, text, Datum()), (Json{{"S", std::string(1, '\0')}}));
  EXPECT_EQ(key_value(model, text, Datum(std::string())), (Json{{"S", std::string("\0\1", 2)}}));
  EXPECT_EQ(key_value(model, text, Datum(std::string("a"))), (Json{{"S", "a"}}));
  EXPECT_EQ(key_value(model, scalar(TypeKind::Bytes), Datum(std::string("\0", 1))), (Json{{"B", "AAEA"}}));
}

}  // namespace
}  // namespace noam::targets::dynamodb
