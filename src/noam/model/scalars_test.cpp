#include "noam/model/scalars.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace noam::model {
namespace {

using std::nullopt;
using namespace std::string_literals;

constexpr std::int64_t first_timestamp = -62'135'596'800'000;
constexpr std::int64_t last_timestamp = 253'402'300'799'999;

TEST(Timestamp, IsMillisecondsSince1970) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.001Z"), 1);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59.999Z"), -1);
  EXPECT_EQ(parse_timestamp("2024-02-29T23:59:59.999Z"), 1'709'251'199'999);
  EXPECT_EQ(parse_timestamp("2024-02-29t23:59:59.999z"), 1'709'251'199'999);
}

TEST(Timestamp, HasYears1To9999) {
  EXPECT_EQ(parse_timestamp("0001-01-01T00:00:00Z"), first_timestamp);
  EXPECT_EQ(parse_timestamp("9999-12-31T23:59:59.999Z"), last_timestamp);
  for (const auto* text : {"0000-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "+2024-01-01T00:00:00Z",
                           "-0001-01-01T00:00:00Z", "999-01-01T00:00:00Z"}) {
    EXPECT_EQ(parse_timestamp(text), nullopt) << text;
  }
}

TEST(Timestamp, TakesAnOffset) {
  EXPECT_EQ(parse_timestamp("1970-01-01T02:00:00+02:00"), 0);
  EXPECT_EQ(parse_timestamp("1969-12-31T18:30:00-05:30"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00-00:00"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00+00:00"), 0);
  EXPECT_EQ(parse_timestamp("1970-01-01T23:59:00+23:59"), 0);
  for (const auto* text : {"1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+00:60", "1970-01-01T00:00:00+0200",
                           "1970-01-01T00:00:00+02", "1970-01-01T00:00:00", "1970-01-01T00:00:00+02:00Z"}) {
    EXPECT_EQ(parse_timestamp(text), nullopt) << text;
  }
}

TEST(Timestamp, StaysInItsYearsWithAnOffset) {
  EXPECT_EQ(parse_timestamp("0001-01-01T00:00:00+00:01"), nullopt);
  EXPECT_EQ(parse_timestamp("0001-01-01T00:01:00+00:01"), first_timestamp);
  EXPECT_EQ(parse_timestamp("9999-12-31T23:59:59.999-00:01"), nullopt);
  EXPECT_EQ(parse_timestamp("9999-12-31T23:58:59.999-00:01"), last_timestamp);
}

TEST(Timestamp, IsNotFinerThanAMillisecond) {
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.5Z"), 500);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.05Z"), 50);
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.123000000Z"), 123);
  for (const auto* text : {"1970-01-01T00:00:00.1234Z", "1970-01-01T00:00:00.000000001Z", "1970-01-01T00:00:00.Z",
                           "1970-01-01T00:00:00,5Z"}) {
    EXPECT_EQ(parse_timestamp(text), nullopt) << text;
  }
}

TEST(Timestamp, IsATimeThatExists) {
  EXPECT_TRUE(parse_timestamp("2000-02-29T00:00:00Z"));
  for (const auto* text : {"1900-02-29T00:00:00Z",
                           "2023-02-29T00:00:00Z",
                           "2024-02-30T00:00:00Z",
                           "2024-13-01T00:00:00Z",
                           "2024-00-01T00:00:00Z",
                           "2024-01-00T00:00:00Z",
                           "2024-04-31T00:00:00Z",
                           "2024-01-01T24:00:00Z",
                           "2024-01-01T00:60:00Z",
                           "2016-12-31T23:59:60Z",
                           "2024-01-01 00:00:00Z",
                           "2024-1-1T00:00:00Z",
                           "2024-01-01T0:00:00Z",
                           "2024-01-01T00:00Z",
                           "2024-01-01",
                           " 2024-01-01T00:00:00Z",
                           "2024-01-01T00:00:00Z ",
                           "",
                           "now",
                           "2024-01-01T-1:00:00Z",
                           "20240101T000000Z"}) {
    EXPECT_EQ(parse_timestamp(text), nullopt) << text;
  }
}

TEST(Timestamp, PrintsThreeDigitsAlways) {
  EXPECT_EQ(print_timestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(print_timestamp(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(print_timestamp(1'709'251'199'999), "2024-02-29T23:59:59.999Z");
  EXPECT_EQ(print_timestamp(first_timestamp), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(print_timestamp(last_timestamp), "9999-12-31T23:59:59.999Z");
}

TEST(Timestamp, IsReadBackAsItWasPrinted) {
  EXPECT_TRUE(rc::check([] {
    const auto at = *rc::gen::inRange<std::int64_t>(first_timestamp, last_timestamp + 1);
    RC_ASSERT(parse_timestamp(print_timestamp(at)) == at);
  }));
}

TEST(Date, IsDaysSince1970) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date("1969-12-31"), -1);
  EXPECT_EQ(parse_date("2024-02-29"), 19'782);
  EXPECT_EQ(parse_date("0001-01-01"), -719'162);
  EXPECT_EQ(parse_date("9999-12-31"), 2'932'896);
  EXPECT_EQ(print_date(-719'162), "0001-01-01");
  EXPECT_EQ(print_date(2'932'896), "9999-12-31");
  for (const auto* text : {"0000-01-01", "10000-01-01", "2023-02-29", "2100-02-29", "2024-2-29", "2024-02-29Z",
                           "2024/02/29", "2024-02-29T00:00:00Z", "", "2024-02", "-2024-02-29"}) {
    EXPECT_EQ(parse_date(text), nullopt) << text;
  }
}

TEST(Date, IsReadBackAsItWasPrinted) {
  for (std::int64_t day = -719'162; day <= 2'932'896; day += 97) EXPECT_EQ(parse_date(print_date(day)), day);
}

TEST(Uuid, IsSixteenBytes) {
  const auto bytes = "\x01\x98\xc1\xf2\x00\x00\x7a\xbc\x8d\xef\x01\x23\x45\x67\x89\xab"s;
  EXPECT_EQ(parse_uuid("0198c1f2-0000-7abc-8def-0123456789ab"), bytes);
  EXPECT_EQ(parse_uuid("0198C1F2-0000-7ABC-8def-0123456789AB"), bytes);
  EXPECT_EQ(print_uuid(bytes), "0198c1f2-0000-7abc-8def-0123456789ab");
  EXPECT_EQ(parse_uuid("00000000-0000-0000-0000-000000000000"), std::string(16, '\0'));
  for (const auto* text : {"0198c1f200007abc8def0123456789ab", "{0198c1f2-0000-7abc-8def-0123456789ab}",
                           "0198c1f2-0000-7abc-8def-0123456789a", "0198c1f2-0000-7abc-8def-0123456789abc",
                           "0198c1f2-0000-7abc-8def-0123456789ag", "0198c1f2_0000_7abc_8def_0123456789ab",
                           "0198c1f20-000-7abc-8def-0123456789ab", "+198c1f2-0000-7abc-8def-0123456789ab",
                           "-198c1f2-0000-7abc-8def-0123456789ab", "0x98c1f2-0000-7abc-8def-0123456789ab",
                           " 198c1f2-0000-7abc-8def-0123456789ab", ""}) {
    EXPECT_EQ(parse_uuid(text), nullopt) << text;
  }
}

TEST(Uuid, OfTimeHasVersion1) {
  EXPECT_TRUE(is_timeuuid(parse_uuid("c9f63ea0-0d2b-11ef-8e7f-325096b39f47").value()));
  EXPECT_FALSE(is_timeuuid(parse_uuid("c9f63ea0-0d2b-41ef-8e7f-325096b39f47").value()));
  EXPECT_FALSE(is_timeuuid(parse_uuid("c9f63ea0-0d2b-11ef-ce7f-325096b39f47").value()));
  EXPECT_FALSE(is_timeuuid(std::string(16, '\0')));
}

TEST(Inet, TakesBothVersions) {
  EXPECT_EQ(parse_inet("1.2.3.4"), "\x01\x02\x03\x04"s);
  EXPECT_EQ(parse_inet("255.255.255.255"), "\xff\xff\xff\xff"s);
  EXPECT_EQ(parse_inet("::"), std::string(16, '\0'));
  EXPECT_EQ(parse_inet("::ffff:1.2.3.4"), std::string(10, '\0') + "\xff\xff\x01\x02\x03\x04"s);
  EXPECT_EQ(parse_inet("2001:DB8::1"), "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01"s);
}

TEST(Inet, TakesNothingElse) {
  for (const auto& text : {"1.2.3"s,           "1.2.3.4.5"s, "256.1.1.1"s, "01.2.3.4"s,      "1.2.3.4/24"s,
                           "0x1.2.3.4"s,       " 1.2.3.4"s,  "1.2.3.4 "s,  "fe80::1%eth0"s,  "::/0"s,
                           "[::1]"s,           ":::"s,       "1::2::3"s,   "12345::"s,       ""s,
                           "localhost"s,       "1.2.3.4\0"s, "::1\0x"s,    "1:2:3:4:5:6:7"s, "1:2:3:4:5:6:7:8:9"s,
                           "::ffff:1.2.3.256"s}) {
    EXPECT_EQ(parse_inet(text), nullopt) << text;
  }
}

TEST(Inet, PrintsAsRfc5952) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"192.0.2.1", "192.0.2.1"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"0:0:0:0:0:0:0:1", "::1"},
      {"1:0:0:0:0:0:0:0", "1::"},
      {"2001:0DB8:0:0:0:0:2:1", "2001:db8::2:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},  // one group is not shortened
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},           // the longest
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},     // the first of equals
      {"0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"},
      {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
      {"::ffff:c000:0201", "::ffff:192.0.2.1"},
      {"::1.2.3.4", "::102:304"},
      {"::fffe:1.2.3.4", "::fffe:102:304"},
      {"ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"},
  };
  for (const auto& [text, printed] : cases) EXPECT_EQ(print_inet(parse_inet(text).value()), printed);
}

TEST(Inet, IsReadBackAsItWasPrinted) {
  EXPECT_TRUE(rc::check([] {
    // Zeros are what makes it hard.
    const auto bytes = *rc::gen::container<std::string>(
        16, rc::gen::weightedOneOf<char>({{4, rc::gen::just('\0')}, {1, rc::gen::arbitrary<char>()}}));
    RC_ASSERT(parse_inet(print_inet(bytes)) == bytes);
  }));
}

TEST(Base64, IsStrict) {
  EXPECT_EQ(parse_base64(""), "");
  EXPECT_EQ(parse_base64("Zg=="), "f");
  EXPECT_EQ(parse_base64("Zm8="), "fo");
  EXPECT_EQ(parse_base64("Zm9v"), "foo");
  EXPECT_EQ(parse_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(parse_base64("AP8+"), "\0\xff\x3e"s);
  EXPECT_EQ(parse_base64("+/+/"), "\xfb\xff\xbf"s);
  for (const auto* text : {"Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zh==", "Zm9=", "Zm9v=", "Z=g=", "Zm9v\n",
                           "Zm 9v", "-_-_", "Zg==Zg==", "=Zg="}) {
    EXPECT_EQ(parse_base64(text), nullopt) << text;
  }
}

TEST(Base64, IsReadBackAsItWasPrinted) {
  EXPECT_EQ(print_base64("f"), "Zg==");
  EXPECT_EQ(print_base64("fo"), "Zm8=");
  EXPECT_EQ(print_base64("foo"), "Zm9v");
  EXPECT_TRUE(rc::check([](const std::string& bytes) { RC_ASSERT(parse_base64(print_base64(bytes)) == bytes); }));
}

TEST(Decimal, IsPositionalAndShortest) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"1", "1"},
      {"1.0", "1"},
      {"1.00", "1"},
      {"+1.50", "1.5"},
      {"-1.5", "-1.5"},
      {"0", "0"},
      {"-0", "0"},
      {"-0.00", "0"},
      {"000", "0"},
      {"007", "7"},
      {"100", "100"},
      {"0.5", "0.5"},
      {"0.050", "0.05"},
      {"12.34", "12.34"},
      {"1e2", "100"},
      {"1.5e1", "15"},
      {"1.5E-1", "0.15"},
      {"15e-1", "1.5"},
      {"1e+2", "100"},
      {"0e999999999999999999", "0"},
      {"1e-0", "1"},
      {"120e-1", "12"},
      {"1e000000000000000002", "100"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(parse_decimal(text), canonical) << text;
}

TEST(Decimal, HasAtMost34Digits) {
  const std::string nines(34, '9');
  EXPECT_EQ(parse_decimal(nines), nines);
  EXPECT_EQ(parse_decimal("-" + nines), "-" + nines);
  EXPECT_EQ(parse_decimal(nines + "9"), nullopt);
  EXPECT_EQ(parse_decimal(nines + "0"), nines + "0");
  EXPECT_EQ(parse_decimal(nines + ".0"), nines);
  EXPECT_EQ(parse_decimal(nines + ".1"), nullopt);
  EXPECT_EQ(parse_decimal("0." + nines), "0." + nines);
  EXPECT_EQ(parse_decimal("0." + nines + "9"), nullopt);
  EXPECT_EQ(parse_decimal("0.000" + nines + "000"), "0.000" + nines);
  EXPECT_EQ(parse_decimal("1" + std::string(33, '0') + "1"), nullopt);
}

TEST(Decimal, HasExponentsFromMinus100To100) {
  EXPECT_EQ(parse_decimal("1e100"), "1" + std::string(100, '0'));
  EXPECT_EQ(parse_decimal("1e101"), nullopt);
  EXPECT_EQ(parse_decimal("10e99"), "1" + std::string(100, '0'));
  EXPECT_EQ(parse_decimal("10e100"), nullopt);
  EXPECT_EQ(parse_decimal("1.5e101"), "15" + std::string(100, '0'));
  EXPECT_EQ(parse_decimal(std::string(34, '9') + "e100"), std::string(34, '9') + std::string(100, '0'));
  EXPECT_EQ(parse_decimal("1e-100"), "0." + std::string(99, '0') + "1");
  EXPECT_EQ(parse_decimal("1e-101"), nullopt);
  EXPECT_EQ(parse_decimal("10e-101"), "0." + std::string(99, '0') + "1");
  EXPECT_EQ(parse_decimal("0." + std::string(100, '0') + "1"), nullopt);
  EXPECT_EQ(parse_decimal("1e99999999999999999999999999"), nullopt);
  EXPECT_EQ(parse_decimal("1e-99999999999999999999999999"), nullopt);
}

TEST(Decimal, IsANumeral) {
  for (const auto* text : {"",    "-",     "+",  ".",  ".5",   "5.",    "1.e1", "1e",  "1e+", "e1",    "--1",
                           "1,5", "1_000", " 1", "1 ", "0x10", "1e1.5", "nan",  "inf", "1d",  "1.2.3", "١"}) {
    EXPECT_EQ(parse_decimal(text), nullopt) << text;
  }
}

TEST(Decimal, ReadsItsOwnFormAsItself) {
  EXPECT_TRUE(rc::check([](std::int64_t digits) {
    const auto exponent = *rc::gen::inRange(-80, 81);
    const auto canonical = parse_decimal(std::to_string(digits) + "e" + std::to_string(exponent));
    RC_ASSERT(canonical);
    RC_ASSERT(parse_decimal(*canonical) == canonical);
  }));
}

TEST(Int, Has64Bits) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-0"), 0);
  EXPECT_EQ(parse_int("007"), 7);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const auto* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999", "", "-", "+1", "1.0",
                           "1e3", " 1", "1 ", "1_000", "0x1", "--1"}) {
    EXPECT_EQ(parse_int(text), nullopt) << text;
  }
}

TEST(Float, IsFinite) {
  EXPECT_EQ(parse_float("1"), 1.0);
  EXPECT_EQ(parse_float("+1.5"), 1.5);
  EXPECT_EQ(parse_float("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_float("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(parse_float("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse_float("0.1"), 0.1);
  for (const auto* text : {"1e309", "-1e309", "1.8e308", "1e99999999999999999999", "nan", "inf", "-inf", "infinity", "",
                           "-", ".5", "5.", "1e", " 1", "1 ", "0x1p3", "1_000", "+-1"}) {
    EXPECT_EQ(parse_float(text), nullopt) << text;
  }
}

TEST(Float, HasOneZero) {
  for (const auto* text : {"0", "-0", "-0.0", "-0e5", "-1e-400", "1e-400", "-1e-99999999999999999999", "0e99999"}) {
    const auto number = parse_float(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(*number, 0.0) << text;
    EXPECT_FALSE(std::signbit(*number)) << text;
  }
  EXPECT_EQ(print_float(-0.0), "0");
}

TEST(Float, IsReadBackAsItWasPrinted) {
  EXPECT_EQ(print_float(0.1), "0.1");
  EXPECT_EQ(print_float(1500), "1500");
  EXPECT_EQ(print_float(1e100), "1e+100");
  EXPECT_EQ(parse_float(print_float(std::numeric_limits<double>::max())), std::numeric_limits<double>::max());
  EXPECT_EQ(parse_float(print_float(-std::numeric_limits<double>::max())), -std::numeric_limits<double>::max());
  EXPECT_EQ(parse_float(print_float(std::numeric_limits<double>::denorm_min())),
            std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(rc::check([](double number) {
    RC_PRE(std::isfinite(number));
    RC_ASSERT(parse_float(print_float(number)) == number);
  }));
}

TEST(Text, IsValidUtf8WithoutNul) {
  for (const auto& text :
       {""s, "abc"s, "\x7f"s, "ε"s, "€"s, "😀"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
        "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
    EXPECT_TRUE(is_utf8_text(text)) << text;
  }
  for (const auto& bytes : {"\0"s,
                            "a\0b"s,
                            "\x80"s,
                            "\xbf"s,
                            "\xc0\x80"s,
                            "\xc1\xbf"s,
                            "\xc2"s,
                            "\xc2 "s,
                            "\xe0\x80\x80"s,
                            "\xe0\x9f\xbf"s,
                            "\xe2\x82"s,
                            "\xed\xa0\x80"s,
                            "\xed\xbf\xbf"s,
                            "\xf0\x80\x80\x80"s,
                            "\xf0\x8f\xbf\xbf"s,
                            "\xf0\x9f\x98"s,
                            "\xf4\x90\x80\x80"s,
                            "\xf5\x80\x80\x80"s,
                            "\xff"s,
                            "\xfe"s,
                            "abc\xe2"s,
                            "\xe2\x82\xac\xac"s}) {
    EXPECT_FALSE(is_utf8_text(bytes)) << testing::PrintToString(bytes);
  }
}

TEST(Text, HasCodePoints) {
  EXPECT_EQ(code_points(""), 0U);
  EXPECT_EQ(code_points("abc"), 3U);
  EXPECT_EQ(code_points("ε€😀"), 3U);
  EXPECT_EQ(code_points("e\u0301"), 2U);
}

}  // namespace
}  // namespace noam::model
