#include "noam/cql/values.h"

#include <limits>

#include <gtest/gtest.h>

#include "noam/cql/decimal_bytes.h"

// The bytes are worked out by hand from version 4 of the protocol: [bytes] of section 3, and section 6.
namespace noam::cql {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

std::string hex(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    out += digits[bits >> 4U];
    out += digits[bits & 15U];
  }
  return out;
}

std::string hex(const Values& values) { return hex(values.bytes()); }

TEST(Values, OfTextHaveTheirSizeBefore) {
  EXPECT_EQ(hex(Values().text("abc")), "00000003616263");
  EXPECT_EQ(hex(Values().text("ä")), "00000002c3a4");
}

TEST(Values, DistinguishNullUnsetAndEmpty) {
  EXPECT_EQ(hex(Values().null()), "ffffffff");
  EXPECT_EQ(hex(Values().unset()), "fffffffe");
  EXPECT_EQ(hex(Values().text("")), "00000000");
  EXPECT_EQ(hex(Values().blob("")), "00000000");
}

TEST(Values, OfWholeNumbersAreTwosComplement) {
  EXPECT_EQ(hex(Values().boolean(true).boolean(false)), "00000001010000000100");
  EXPECT_EQ(hex(Values().integer(1)), "0000000400000001");
  EXPECT_EQ(hex(Values().integer(-2)), "00000004fffffffe");
  EXPECT_EQ(hex(Values().bigint(258)), "000000080000000000000102");
  EXPECT_EQ(hex(Values().bigint(-1)), "00000008ffffffffffffffff");
  EXPECT_EQ(hex(Values().bigint(std::numeric_limits<std::int64_t>::min())), "000000088000000000000000");
  EXPECT_EQ(hex(Values().bigint(std::numeric_limits<std::int64_t>::max())), "000000087fffffffffffffff");
}

TEST(Values, OfDoublesAreIeee) {
  EXPECT_EQ(hex(Values().floating(1.0)), "000000083ff0000000000000");
  EXPECT_EQ(hex(Values().floating(-0.0)), "000000088000000000000000");
  EXPECT_EQ(hex(Values().floating(std::numeric_limits<double>::infinity())), "000000087ff0000000000000");
}

TEST(Values, OfTimestampsAreMilliseconds) {
  EXPECT_EQ(hex(Values().timestamp(Milliseconds(1s))), "0000000800000000000003e8");
  EXPECT_EQ(hex(Values().timestamp(Milliseconds(-1ms))), "00000008ffffffffffffffff");
}

TEST(Values, OfDatesHave1970InTheMiddle) {
  using namespace std::chrono;
  EXPECT_EQ(hex(Values().date(sys_days(1970y / 1 / 1))), "0000000480000000");
  EXPECT_EQ(hex(Values().date(sys_days(1970y / 1 / 2))), "0000000480000001");
  EXPECT_EQ(hex(Values().date(sys_days(1969y / 12 / 31))), "000000047fffffff");
}

TEST(Values, OfUuidsAreTheirBytes) {
  const Uuid id{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xFF};
  EXPECT_EQ(hex(Values().uuid(id)), "00000010000102030405060708090a0b0c0d0eff");
}

std::string decimal_hex(std::string_view text) {
  Values values;
  const auto result = values.decimal(text);
  return result ? hex(values) : result.error().message;
}

TEST(Values, OfDecimalsAreAScaleAndTheShortestTwosComplement) {
  EXPECT_EQ(decimal_hex("0"), "000000050000000000");
  EXPECT_EQ(decimal_hex("1"), "000000050000000001");
  EXPECT_EQ(decimal_hex("-1"), "0000000500000000ff");
  EXPECT_EQ(decimal_hex("127"), "00000005000000007f");
  EXPECT_EQ(decimal_hex("128"), "00000006000000000080");
  EXPECT_EQ(decimal_hex("-128"), "000000050000000080");
  EXPECT_EQ(decimal_hex("-129"), "0000000600000000ff7f");
  EXPECT_EQ(decimal_hex("-256"), "0000000600000000ff00");
  EXPECT_EQ(decimal_hex("12.50"), "000000060000000204e2");
  EXPECT_EQ(decimal_hex("-0.05"), "0000000500000002fb");
  EXPECT_EQ(decimal_hex("18446744073709551616"), "0000000d00000000010000000000000000");
  EXPECT_EQ(decimal_hex("-18446744073709551616"), "0000000d00000000ff0000000000000000");
}

TEST(Values, RefuseWhatIsNotADecimal) {
  for (const char* text : {"", "-", ".", "1.", ".5", "-.5", "1e5", "+1", "1.2.3", " 1", "--1", "0x1", "1-"}) {
    Values values;
    EXPECT_FALSE(values.decimal(text)) << text;
    EXPECT_EQ(values.count(), 0U);
  }
}

TEST(DecimalBytes, BecomeTheTextTheyWere) {
  for (const char* text :
       {"0", "0.00", "1", "-1", "127", "128", "-128", "-129", "255", "256", "-32768", "-32769", "12.50", "-0.05",
        "0.0000000001", "99999999999999999999999999999999.99", "-123456789012345678901234567890123456789"}) {
    EXPECT_EQ(*decimal_text(*decimal_bytes(text)), text);
  }
}

TEST(DecimalBytes, MayHaveANegativeScale) {
  EXPECT_EQ(*decimal_text(std::string_view("\xff\xff\xff\xfe\x05", 5)), "500");
  EXPECT_EQ(*decimal_text(std::string_view("\xff\xff\xff\xfe\x00", 5)), "0");
}

TEST(DecimalBytes, ReportWhatIsNotADecimalOrTooLong) {
  EXPECT_FALSE(decimal_text(""));
  EXPECT_FALSE(decimal_text(std::string_view("\0\0\0\0", 4)));
  EXPECT_FALSE(decimal_text(std::string_view("\x80\0\0\0\x05", 5)));
  EXPECT_FALSE(decimal_text(std::string_view("\x7f\xff\xff\xff\x05", 5)));
}

TEST(Values, OfAddressesAreTheirBytes) {
  Values values;
  EXPECT_TRUE(values.inet("127.0.0.1"));
  EXPECT_TRUE(values.inet("::1"));
  EXPECT_EQ(hex(values),
            "000000047f00000100000010"
            "00000000000000000000000000000001");
  EXPECT_FALSE(values.inet("localhost"));
  EXPECT_EQ(values.count(), 2U);
}

TEST(Values, OfCollectionsAreACountAndTheElements) {
  EXPECT_EQ(hex(Values().list(Values().integer(1).integer(2))),
            "00000014"
            "00000002"
            "0000000400000001"
            "0000000400000002");
  EXPECT_EQ(hex(Values().list(Values())), "0000000400000000");
  EXPECT_EQ(hex(Values().map(Values().text("a").boolean(true))),
            "0000000e"
            "00000001"
            "0000000161"
            "0000000101");
}

TEST(Values, OfTuplesAreTheFields) {
  EXPECT_EQ(hex(Values().tuple(Values().text("a").null())),
            "00000009"
            "0000000161"
            "ffffffff");
  EXPECT_EQ(hex(Values().tuple(Values().list(Values().text("a")))),
            "0000000d"
            "00000009"
            "00000001"
            "0000000161");
}

TEST(Values, CountThemselves) {
  Values values;
  values.text("a").null().list(Values().text("b").text("c"));
  EXPECT_EQ(values.count(), 3U);
  values.clear();
  EXPECT_EQ(values, Values());
}

}  // namespace
}  // namespace noam::cql
