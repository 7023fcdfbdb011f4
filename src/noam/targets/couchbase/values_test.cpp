#include "noam/targets/couchbase/values.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "noam/base/json.h"

namespace noam::targets::couchbase {

namespace {

using model::Datum;
using model::TypeKind;

std::string written(TypeKind type, Datum datum) { return json_of(documents::scalar(type, std::move(datum))).dump(); }

}  // namespace

TEST(CouchbaseValue, IsJson) {
  EXPECT_EQ(written(TypeKind::Bool, true), "true");
  EXPECT_EQ(written(TypeKind::Int, std::int64_t{INT64_MAX}), "9223372036854775807");
  EXPECT_EQ(written(TypeKind::Float, 2.0), "2.0");
  EXPECT_EQ(written(TypeKind::Decimal, *model::Decimal::parse("1.5")), "\"1.5\"");
  EXPECT_EQ(written(TypeKind::Timestamp, std::int64_t{0}), "\"1970-01-01T00:00:00.000Z\"");
  EXPECT_EQ(written(TypeKind::Date, std::int64_t{1}), "\"1970-01-02\"");
  EXPECT_EQ(written(TypeKind::Bytes, std::string("\0\xff", 2)), "\"AP8=\"");
  EXPECT_EQ(written(TypeKind::Json, R"({"b":1,"a":2})"), R"({"b":1,"a":2})");
  EXPECT_EQ(written(TypeKind::Json, R"({"a":1,"a":2})"), R"({"noam_json":"{\"a\":1,\"a\":2}"})");
  EXPECT_EQ(written(TypeKind::Text, Datum()), "null");
}

TEST(CouchbaseOrder, IsNotThatOfTheModelForWhatIsWrittenAsText) {
  const model::Model model;
  for (const TypeKind kind : {TypeKind::Text, TypeKind::Int, TypeKind::Timestamp, TypeKind::Date, TypeKind::Uuid})
    EXPECT_TRUE(sorts(model, model::scalar(kind)));
  for (const TypeKind kind : {TypeKind::Decimal, TypeKind::Bytes, TypeKind::TimeUuid, TypeKind::Inet})
    EXPECT_FALSE(sorts(model, model::scalar(kind)));
}

}  // namespace noam::targets::couchbase
