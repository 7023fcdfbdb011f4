#include "noam/targets/hbase/values.h"

#include <gtest/gtest.h>

#include "noam/model/scalars.h"

namespace noam::targets::hbase {
namespace {

using model::Datum;
using model::scalar;
using model::TypeKind;

std::string bytes(TypeKind kind, const Datum& datum) { return cell_bytes(model::Model{}, scalar(kind), datum); }

TEST(HBaseValues, AreThoseOfItsOwnBytes) {
  EXPECT_EQ(bytes(TypeKind::Bool, Datum(true)), "\xFF");
  EXPECT_EQ(bytes(TypeKind::Bool, Datum(false)), std::string(1, '\0'));
  EXPECT_EQ(bytes(TypeKind::Int, Datum(std::int64_t{258})), std::string("\0\0\0\0\0\0\1\2", 8));
  EXPECT_EQ(bytes(TypeKind::Int, Datum(std::int64_t{-1})), std::string(8, '\xFF'));
  EXPECT_EQ(bytes(TypeKind::Timestamp, Datum(std::int64_t{1})), std::string("\0\0\0\0\0\0\0\1", 8));
  EXPECT_EQ(bytes(TypeKind::Float, Datum(1.0)), std::string("\x3F\xF0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes(TypeKind::Text, Datum(std::string("é"))), "é");
  EXPECT_EQ(bytes(TypeKind::Decimal, Datum(*model::Decimal::parse("1.50"))), "1.5");
  EXPECT_EQ(bytes(TypeKind::Date, Datum(std::int64_t{0})), "1970-01-01");
  EXPECT_EQ(bytes(TypeKind::Inet, Datum(model::to_inet(*model::parse_inet("::1")))), "::1");
}

TEST(HBaseValues, OfTimeuuidsAreInTheirUsualOrder) {
  const std::string raw = *model::parse_uuid("0198c1f2-1122-1344-8566-778899aabbcc");
  EXPECT_EQ(bytes(TypeKind::TimeUuid, Datum(model::to_sortable(raw))), raw);
  EXPECT_EQ(bytes(TypeKind::Uuid, Datum(raw)), raw);
}

TEST(HBaseValues, AreNeverEmpty) {
  EXPECT_EQ(bytes(TypeKind::Text, Datum(std::string())), std::string("\0\1", 2));
  EXPECT_EQ(bytes(TypeKind::Bytes, Datum(std::string())), std::string("\0\1", 2));
  EXPECT_EQ(bytes(TypeKind::Bytes, Datum(std::string("\0\7", 2))), std::string("\0\1\0\7", 4));
  EXPECT_EQ(bytes(TypeKind::Bytes, Datum(std::string("\7\0", 2))), std::string("\7\0", 2));
}

TEST(HBaseValues, OfCollectionsAreJson) {
  const model::Type list = model::collection_of(TypeKind::List, scalar(TypeKind::Int));
  const Datum some(Datum::List{Datum(std::int64_t{1}), Datum(std::int64_t{2})});
  EXPECT_EQ(cell_bytes(model::Model{}, list, some), "[1,2]");
  EXPECT_TRUE(stored(list, some));
  EXPECT_FALSE(stored(list, Datum(Datum::List{})));
  EXPECT_FALSE(stored(model::optional(scalar(TypeKind::Int)), Datum()));
}

TEST(RubyText, IsAsciiAndInterpolatesNothing) {
  EXPECT_EQ(ruby_text("plain"), R"("plain")");
  EXPECT_EQ(ruby_text(std::string("\0\xFF\"\\#{x}", 8)), R"("\x00\xFF\"\\\#{x}")");
}

}  // namespace
}  // namespace noam::targets::hbase
