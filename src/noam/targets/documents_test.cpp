#include "noam/targets/documents.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"

namespace noam::targets::documents {

namespace {

using model::Datum;
using model::TypeKind;

Node text(const char* value) { return scalar(TypeKind::Text, Datum(value)); }

}  // namespace

TEST(KeyText, JoinsTheParts) {
  EXPECT_EQ(key_text({text("mary")}), "mary");
  EXPECT_EQ(key_text({scalar(TypeKind::Timestamp, Datum(std::int64_t{1371121200000})), text("click")}),
            "2013-06-13T11:00:00.000Z::click");
  EXPECT_EQ(key_text({scalar(TypeKind::Int, Datum(-7)), scalar(TypeKind::Bool, Datum(true))}), "-7::true");
}

TEST(KeyText, TellsPartsApart) {
  EXPECT_EQ(key_text({text("a:"), text("b")}), "a%3A::b");
  EXPECT_EQ(key_text({text("a"), text(":b")}), "a::%3Ab");
  EXPECT_EQ(key_text({text("a::b")}), "a:%3Ab");
  EXPECT_EQ(key_text({text("100%")}), "100%25");
  EXPECT_EQ(key_text({text(""), scalar(TypeKind::Text, {}), text("%null")}), "%empty::%null::%25null");
}

TEST(KeyText, SpreadsReferencesOfSeveralParts) {
  Node place = object();
  add(place, "town", text("Rome"));
  add(place, "number", scalar(TypeKind::Int, Datum(7)));
  EXPECT_EQ(key_text({place, text("x")}), "Rome::7::x");
}

TEST(OrderText, SortsAsTheValuesDo) {
  const std::vector<Datum> bytes = {Datum(),
                                    Datum(std::string("")),
                                    Datum(std::string("\0", 1)),
                                    Datum(std::string("a")),
                                    Datum(std::string("ab")),
                                    Datum(std::string("b")),
                                    Datum(std::string("\xff"))};
  for (std::size_t i = 1; i < bytes.size(); ++i) EXPECT_LT(order_text(bytes[i - 1]), order_text(bytes[i])) << i;
}

TEST(ScalarText, IsThatOfLinesOfJson) {
  EXPECT_EQ(scalar_text(TypeKind::Date, Datum(std::int64_t{19782})), "2024-02-29");
  EXPECT_EQ(scalar_text(TypeKind::Decimal, Datum(*model::Decimal::parse("1.50"))), "1.5");
  EXPECT_EQ(scalar_text(TypeKind::Bytes, Datum(std::string("\0\xff", 2))), "AP8=");
  EXPECT_EQ(scalar_text(TypeKind::Inet, Datum(model::to_inet(std::string("\x7f\0\0\1", 4)))), "127.0.0.1");
  EXPECT_EQ(scalar_text(TypeKind::Float, Datum(0.5)), "0.5");
}

TEST(KeptJson, IsTheValueWhereNothingIsLost) {
  for (const char* kept : {"{\"b\":1,\"a\":[2.5,null,\"x\"]}", "\"text\"", "12", "[]", "9223372036854775807"}) {
    const auto json = kept_json(Datum(kept));
    ASSERT_TRUE(json) << kept;
    EXPECT_EQ(json->dump(), kept);
  }
}

TEST(KeptJson, IsTextWhereADatabaseWouldChangeIt) {
  for (const char* lost : {"{\"a\":1,\"a\":2}", "{\"a.b\":1}", "{\"x\":[{\"$set\":1}]}", "{\"\":1}",
                           "18446744073709551615", "1e400", "1.0000000000000000000001", "{\"noam_json\":\"x\"}"})
    EXPECT_FALSE(kept_json(Datum(lost))) << lost;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += '[';
  for (int i = 0; i < 100; ++i) deep += ']';
  EXPECT_FALSE(kept_json(Datum(deep)));
}

}  // namespace noam::targets::documents
