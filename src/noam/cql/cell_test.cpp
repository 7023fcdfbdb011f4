#include "noam/cql/cell.h"

#include <limits>

#include <gtest/gtest.h>

namespace noam::cql {
namespace {

// The only value, as it would come back. The writer is tested against bytes that were worked out by hand.
Cell back(const Values& values) {
  std::string_view rest = values.bytes();
  const auto cell = take_cell(rest);
  EXPECT_TRUE(cell && rest.empty());
  return *cell;
}

TEST(Cell, ReadsWhatWasWritten) {
  EXPECT_EQ(*back(Values().text("ä")).text(), "ä");
  EXPECT_EQ(*back(Values().boolean(true)).boolean(), true);
  EXPECT_EQ(*back(Values().boolean(false)).boolean(), false);
  for (const std::int32_t number : {0, -1, std::numeric_limits<std::int32_t>::min()}) {
    const Values values = Values().integer(number);
    EXPECT_EQ(*back(values).integer(), number);
  }
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()}) {
    const Values values = Values().bigint(number);
    EXPECT_EQ(*back(values).bigint(), number);
  }
  const Values tenth = Values().floating(0.1);
  EXPECT_EQ(*back(tenth).floating(), 0.1);
}

TEST(Cell, ReadsTimesBefore1970) {
  const Milliseconds moment(std::chrono::milliseconds(-62'135'596'800'001));
  const Values values = Values().timestamp(moment);
  EXPECT_EQ(*back(values).timestamp(), moment);
  const std::chrono::sys_days day(std::chrono::days(-719'163));
  const Values date = Values().date(day);
  EXPECT_EQ(*back(date).date(), day);
}

TEST(Cell, ReadsIdsAddressesAndDecimals) {
  const Uuid id{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xFF};
  const Values uuid = Values().uuid(id);
  EXPECT_EQ(*back(uuid).uuid(), id);
  for (const char* address : {"127.0.0.1", "::1", "2001:db8::ff"}) {
    Values values;
    ASSERT_TRUE(values.inet(address));
    EXPECT_EQ(*back(values).inet(), address);
  }
  Values values;
  ASSERT_TRUE(values.decimal("-12.50"));
  EXPECT_EQ(*back(values).decimal(), "-12.50");
}

TEST(Cell, DistinguishesNullFromEmpty) {
  const Values null = Values().null();
  EXPECT_TRUE(back(null).is_null());
  EXPECT_FALSE(back(null).text());
  EXPECT_EQ(back(null).bigint().error().message, "the value is null");
  const Values empty = Values().text("");
  EXPECT_FALSE(back(empty).is_null());
  EXPECT_EQ(*back(empty).text(), "");
}

TEST(Cell, ReadsCollections) {
  const Values list = Values().list(Values().integer(7).null());
  const auto elements = back(list).list();
  ASSERT_TRUE(elements);
  ASSERT_EQ(elements->size(), 2U);
  EXPECT_EQ(*elements->front().integer(), 7);
  EXPECT_TRUE(elements->back().is_null());

  const Values map = Values().map(Values().text("a").integer(1).text("b").integer(2));
  const auto pairs = back(map).map();
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 4U);
  EXPECT_EQ(*(*pairs)[2].text(), "b");
  EXPECT_EQ(*(*pairs)[3].integer(), 2);

  const Values nested = Values().tuple(Values().text("x").list(Values().text("y")).null());
  const auto fields = back(nested).tuple();
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 3U);
  EXPECT_EQ(*(*(*fields)[1].list())[0].text(), "y");
}

TEST(Cell, ReportsBytesOfAnotherSize) {
  EXPECT_EQ(Cell("abc").bigint().error().message, "3 bytes are not a value of type bigint");
  EXPECT_FALSE(Cell("abc").integer());
  EXPECT_FALSE(Cell("ab").boolean());
  EXPECT_FALSE(Cell("").floating());
  EXPECT_FALSE(Cell("abc").timestamp());
  EXPECT_FALSE(Cell("abc").date());
  EXPECT_FALSE(Cell("abc").uuid());
  EXPECT_FALSE(Cell("abc").inet());
  EXPECT_FALSE(Cell("abc").decimal());
}

TEST(Cell, ReportsElementsThatAreCutOff) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view bytes :
       {""sv, "\0\0\0\1"sv, "\0\0\0\1\0\0\0\2a"sv, "\xff\xff\xff\xff"sv, "\x7f\xff\xff\xff\0\0\0\0"sv, "\0\0\0\0x"sv}) {
    EXPECT_FALSE(Cell(bytes).list());
    EXPECT_FALSE(Cell(bytes).map());
  }
  EXPECT_FALSE(Cell("\0\0\0\2a"sv).tuple());
  EXPECT_FALSE(Cell("\0\0"sv).tuple());
}

TEST(TakeCell, TakesOneAfterTheOther) {
  const Values values = Values().text("a").null().text("");
  std::string_view rest = values.bytes();
  EXPECT_EQ(*take_cell(rest)->text(), "a");
  EXPECT_TRUE(take_cell(rest)->is_null());
  EXPECT_FALSE(take_cell(rest)->is_null());
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(take_cell(rest));
}

}  // namespace
}  // namespace noam::cql
