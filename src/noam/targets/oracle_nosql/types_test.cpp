#include "noam/targets/oracle_nosql/types.h"

#include <gtest/gtest.h>

namespace noam::targets::oracle_nosql {
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

// A value, and an entity with a key of two parts.
model::Model small_model() {
  model::Model model;
  model::Value round;
  round.name = "Round";
  round.fields = {field("moves", scalar(TypeKind::Text)), field("comment", model::optional(scalar(TypeKind::Text)))};
  model.values = {round};
  model::Entity place;
  place.name = "Place";
  place.fields = {field("town", scalar(TypeKind::Text)), field("number", scalar(TypeKind::Int))};
  place.key = {0, 1};
  model.entities = {place};
  return model;
}

Type enumeration(std::vector<std::string> names) {
  Type out = scalar(TypeKind::Enumeration);
  out.names = std::move(names);
  return out;
}

TEST(OracleTypes, AreNativeThroughout) {
  const model::Model model = small_model();
  const auto text = [&](const Type& type) { return type_text(model, type); };
  EXPECT_EQ(text(scalar(TypeKind::Bool)), "BOOLEAN");
  EXPECT_EQ(text(scalar(TypeKind::Int)), "LONG");
  EXPECT_EQ(text(scalar(TypeKind::Float)), "DOUBLE");
  EXPECT_EQ(text(scalar(TypeKind::Decimal)), "NUMBER");
  EXPECT_EQ(text(scalar(TypeKind::Text)), "STRING");
  EXPECT_EQ(text(scalar(TypeKind::Bytes)), "BINARY");
  EXPECT_EQ(text(scalar(TypeKind::Timestamp)), "TIMESTAMP(3)");
  EXPECT_EQ(text(scalar(TypeKind::Date)), "TIMESTAMP(0)");
  EXPECT_EQ(text(scalar(TypeKind::Json)), "JSON");
  EXPECT_EQ(text(enumeration({"open", "paid"})), "ENUM(open, paid)");
  EXPECT_EQ(text(enumeration({"not yet"})), "STRING");
  EXPECT_EQ(text(enumeration({"default"})), "STRING");
  EXPECT_EQ(text(scalar(TypeKind::Value)), "RECORD(moves STRING, comment_ STRING)");
  EXPECT_EQ(text(model::collection_of(TypeKind::List, scalar(TypeKind::Value))),
            "ARRAY(RECORD(moves STRING, comment_ STRING))");
  Type map = model::collection_of(TypeKind::Map, scalar(TypeKind::Text));
  map.arguments.push_back(scalar(TypeKind::Int));
  EXPECT_EQ(text(map), "MAP(LONG)");
  map.arguments[0] = model::reference(model::EntityId{0});
  EXPECT_EQ(text(map), "ARRAY(RECORD(key_ RECORD(town STRING, number_ LONG), value LONG))");
  EXPECT_EQ(column_type(model, scalar(TypeKind::Uuid)), "STRING AS UUID");
}

TEST(OracleTypes, TellWhatSortsInAKey) {
  const model::Model model;
  EXPECT_TRUE(sorts_in_key(model, scalar(TypeKind::Int)));
  EXPECT_FALSE(sorts_in_key(model, model::optional(scalar(TypeKind::Int))));
  EXPECT_TRUE(sorts_in_key(model, model::optional(scalar(TypeKind::Text))));
  EXPECT_FALSE(sorts_in_key(model, scalar(TypeKind::TimeUuid)));
  EXPECT_FALSE(sorts_in_key(model, scalar(TypeKind::Bytes)));
}

TEST(OracleTypes, WriteValuesAsInsertCastsThem) {
  const model::Model model = small_model();
  EXPECT_EQ(literal(model, scalar(TypeKind::Int), Datum()), "NULL");
  EXPECT_EQ(literal(model, scalar(TypeKind::Int), -3), "-3");
  EXPECT_EQ(literal(model, scalar(TypeKind::Decimal), model::Decimal(7)), "7n");
  EXPECT_EQ(literal(model, scalar(TypeKind::Text), "a\"b\\\n"), R"("a\"b\\\n")");
  EXPECT_EQ(literal(model, scalar(TypeKind::Bytes), std::string("\x01\x02", 2)), R"("AQI=")");
  EXPECT_EQ(literal(model, scalar(TypeKind::Timestamp), 1), R"("1970-01-01T00:00:00.001")");
  EXPECT_EQ(literal(model, scalar(TypeKind::Json), R"({"a":[1,null]})"), R"({"a":[1,null]})");
  EXPECT_EQ(literal(model, scalar(TypeKind::Value), Datum::List{"up", Datum()}), R"({"moves": "up"})");
  EXPECT_EQ(literal(model, scalar(TypeKind::Value), Datum::List{"up", "well"}),
            R"({"moves": "up", "comment_": "well"})");
}

TEST(OracleTypes, LeaveNoNullInAKey) {
  const std::string empty;
  const std::string mary = "mary";
  const std::string odd = "\1x";
  EXPECT_EQ(never_null(&mary), "mary");
  EXPECT_LT(never_null(nullptr), never_null(&empty));
  EXPECT_LT(never_null(&empty), never_null(&odd));
  EXPECT_LT(never_null(&odd), never_null(&mary));
}

}  // namespace
}  // namespace noam::targets::oracle_nosql
