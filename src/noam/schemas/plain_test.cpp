#include "noam/schemas/plain.h"

#include <gtest/gtest.h>

#include "noam/base/json.h"

namespace noam::schemas {
namespace {

using model::Datum;
using model::scalar;
using model::Type;
using model::TypeKind;

// An entity with a key of one part, and one with two; a value with a field that may be absent.
model::Model small_model() {
  model::Model model;
  const auto field = [](const char* name, Type type) {
    model::Field out;
    out.name = name;
    out.type = std::move(type);
    return out;
  };
  model::Entity player;
  player.name = "Player";
  player.fields = {field("username", scalar(TypeKind::Text))};
  player.key = {0};
  model::Entity place;
  place.name = "Place";
  place.fields = {field("town", scalar(TypeKind::Text)), field("number", scalar(TypeKind::Int))};
  place.key = {0, 1};
  model.entities = {player, place};
  model::Value point;
  point.name = "Point";
  point.fields = {field("x", scalar(TypeKind::Int)), field("label", model::optional(scalar(TypeKind::Text)))};
  model.values = {point};
  return model;
}

const Type player = model::reference(model::EntityId{0});
const Type place = model::reference(model::EntityId{1});

Type map_of(Type key, Type value) {
  Type out = model::collection_of(TypeKind::Map, std::move(key));
  out.arguments.push_back(std::move(value));
  return out;
}

TEST(Plain, WritesScalarsAsTexts) {
  const model::Model model;
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Bool), true), "true");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Int), -42), "-42");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Float), 1.5), "1.5");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Decimal), model::Decimal(7)), "7");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Text), "a\"b"), "a\"b");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Bytes), std::string("\x01\xFF", 2)), "01ff");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Timestamp), 1), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Date), 59), "1970-03-01");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Inet), model::to_inet("\x7F\x01\x02\x03")), "127.1.2.3");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Json), R"({"a": 1})"), R"({"a": 1})");
}

TEST(Plain, WritesSumsBeyond64Bits) {
  const model::Model model;
  const Datum sum = model::Decimal::from_canonical("18446744073709551616");
  EXPECT_EQ(plain_text(model, scalar(TypeKind::Int), sum), "18446744073709551616");
  EXPECT_EQ(plain_json(model, scalar(TypeKind::Int), sum), "18446744073709551616");
}

TEST(Plain, TakesAReferenceByOnePartAsThatPart) {
  const model::Model model = small_model();
  EXPECT_TRUE(is_scalar(model, player));
  EXPECT_EQ(resolved(model, player).kind, TypeKind::Text);
  EXPECT_EQ(plain_text(model, player, "mary"), "mary");
  EXPECT_FALSE(is_scalar(model, place));
  EXPECT_EQ(plain_json(model, place, Datum::List{"Rome", 3}).dump(), R"(["Rome",3])");
}

TEST(Plain, LeavesOutWhatIsAbsent) {
  const model::Model model = small_model();
  Type point = scalar(TypeKind::Value);
  EXPECT_EQ(plain_json(model, point, Datum::List{1, Datum()}).dump(), R"({"x":1})");
  EXPECT_EQ(plain_json(model, point, Datum::List{1, "here"}).dump(), R"({"x":1,"label":"here"})");
  EXPECT_EQ(plain_json(model, model::collection_of(TypeKind::List, point), Datum::List{Datum::List{2, Datum()}}).dump(),
            R"([{"x":2}])");
}

TEST(Plain, WritesMapsAsObjectsWhereKeysAreTexts) {
  const model::Model model = small_model();
  const Type visits = map_of(player, scalar(TypeKind::Int));
  EXPECT_EQ(plain_json(model, visits, Datum::List{Datum::List{"ann", 1}, Datum::List{"mary", 2}}).dump(),
            R"({"ann":1,"mary":2})");
  const Type places = map_of(place, scalar(TypeKind::Int));
  EXPECT_EQ(plain_json(model, places, Datum::List{Datum::List{Datum::List{"Rome", 3}, 1}}).dump(),
            R"([[["Rome",3],1]])");
}

}  // namespace
}  // namespace noam::schemas
