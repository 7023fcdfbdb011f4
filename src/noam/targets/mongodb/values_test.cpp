#include "noam/targets/mongodb/values.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace noam::targets::mongodb {

namespace {

using model::Datum;
using model::TypeKind;

std::string written(TypeKind type, Datum datum) {
  return literal(documents::scalar(type, std::move(datum))).print(0, 0);
}

}  // namespace

TEST(MongoLiteral, HasTheTypeOfTheValue) {
  EXPECT_EQ(written(TypeKind::Bool, true), "true");
  EXPECT_EQ(written(TypeKind::Int, std::int64_t{INT64_MIN}), "NumberLong(\"-9223372036854775808\")");
  EXPECT_EQ(written(TypeKind::Float, 0.5), "0.5");
  EXPECT_EQ(written(TypeKind::Text, "it's \"so\""), R"("it's \"so\"")");
  EXPECT_EQ(written(TypeKind::Enumeration, "open"), "\"open\"");
  EXPECT_EQ(written(TypeKind::Timestamp, std::int64_t{0}), "ISODate(\"1970-01-01T00:00:00.000Z\")");
  EXPECT_EQ(written(TypeKind::Date, std::int64_t{1}), "ISODate(\"1970-01-02T00:00:00.000Z\")");
  EXPECT_EQ(written(TypeKind::Bytes, std::string("\0\xff", 2)), "BinData(0, \"AP8=\")");
  EXPECT_EQ(written(TypeKind::Inet, model::to_inet(std::string("\x7f\0\0\1", 4))), "\"127.0.0.1\"");
  EXPECT_EQ(written(TypeKind::Uuid, std::string(16, '\x11')), "UUID(\"11111111-1111-1111-1111-111111111111\")");
  EXPECT_EQ(written(TypeKind::Text, Datum()), "null");
}

TEST(MongoLiteral, IsNoSmallIntegerForAFloat) {
  EXPECT_EQ(written(TypeKind::Float, 2.0), "new Double(2)");
  EXPECT_EQ(written(TypeKind::Float, 1e300), "1e+300");
}

TEST(MongoLiteral, IsAStringForASumThatDoesNotFit) {
  EXPECT_EQ(written(TypeKind::Decimal, *model::Decimal::parse("1.5")), "NumberDecimal(\"1.5\")");
  const std::string digits(35, '7');
  EXPECT_EQ(written(TypeKind::Decimal, model::Decimal::from_canonical(digits)), "\"" + digits + "\"");
}

TEST(MongoLiteral, HasJsonAsItIs) {
  EXPECT_EQ(written(TypeKind::Json, R"({"b":1,"a":[2.5,"x",3.0]})"),
            R"({ b: NumberLong("1"), a: [2.5, "x", new Double(3)] })");
  EXPECT_EQ(written(TypeKind::Json, R"({"$a":1})"), R"({ noam_json: "{\"$a\":1}" })");
}

TEST(MongoOrder, IsNotThatOfTheModelForBytes) {
  const model::Model model;
  for (const TypeKind kind : {TypeKind::Text, TypeKind::Int, TypeKind::Decimal, TypeKind::Timestamp, TypeKind::Date,
                              TypeKind::Uuid, TypeKind::Bool, TypeKind::Enumeration})
    EXPECT_TRUE(sorts(model, model::scalar(kind)));
  for (const TypeKind kind : {TypeKind::Bytes, TypeKind::TimeUuid, TypeKind::Inet})
    EXPECT_FALSE(sorts(model, model::scalar(kind)));
}

}  // namespace noam::targets::mongodb
