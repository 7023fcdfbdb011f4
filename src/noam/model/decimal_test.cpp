#include "noam/model/decimal.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace noam::model {
namespace {

Decimal decimal(std::string_view text) {
  const auto parsed = Decimal::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Decimal());
}

Decimal exact(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  const std::array<std::uint64_t, 1> mantissa{static_cast<std::uint64_t>(std::ldexp(fraction, 53))};
  return Decimal::from_binary(number < 0, mantissa, exponent - 53);
}

Decimal some_decimal() {
  const auto digits = *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000);
  return decimal(std::to_string(digits) + "e" + std::to_string(*rc::gen::inRange(-20, 20)));
}

TEST(Decimal, IsZeroAtFirst) {
  EXPECT_EQ(Decimal().text(), "0");
  EXPECT_TRUE(Decimal().zero());
  EXPECT_FALSE(Decimal().negative());
}

TEST(Decimal, HasOneTextForEqualNumbers) {
  EXPECT_EQ(decimal("1.50").text(), "1.5");
  EXPECT_EQ(decimal("-0.0"), Decimal());
  EXPECT_EQ(decimal("1e3"), Decimal(1000));
  EXPECT_EQ(Decimal(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_FALSE(Decimal::parse("1.").has_value());
  EXPECT_FALSE(Decimal::parse("12345678901234567890123456789012345").has_value());
}

TEST(Decimal, OrdersAsNumbers) {
  const std::vector<std::string> ascending = {"-1000", "-99.5", "-99.05", "-99", "-1.5", "-1", "-0.01", "0",  "0.009",
                                              "0.01",  "0.1",   "0.11",   "1",   "1.5",  "2",  "10",    "99", "100.1"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(decimal(ascending[i]) <=> decimal(ascending[j]), i <=> j) << ascending[i] << " and " << ascending[j];
    }
  }
}

TEST(Decimal, AddsSubtractsAndMultipliesExactly) {
  EXPECT_EQ((decimal("0.1") + decimal("0.2")).text(), "0.3");
  EXPECT_EQ((decimal("99.5") + decimal("0.5")).text(), "100");
  EXPECT_EQ((decimal("1") - decimal("1.000")).text(), "0");
  EXPECT_EQ((decimal("0.05") - decimal("1")).text(), "-0.95");
  EXPECT_EQ((decimal("-1.5") * decimal("0.02")).text(), "-0.03");
  EXPECT_EQ((decimal("-1.5") * Decimal()).text(), "0");
  EXPECT_EQ((decimal("2.5") * decimal("4")).text(), "10");
  EXPECT_EQ((-decimal("2.5")).text(), "-2.5");
  EXPECT_EQ((-decimal("-2.5")).text(), "2.5");
  EXPECT_EQ((-Decimal()).text(), "0");
  const std::string sum = (decimal("1e100") + decimal("1e-100")).text();
  EXPECT_EQ(sum, "1" + std::string(100, '0') + "." + std::string(99, '0') + "1");
}

TEST(Decimal, ObeysTheLawsOfArithmetic) {
  EXPECT_TRUE(rc::check([] {
    const Decimal a = some_decimal();
    const Decimal b = some_decimal();
    const Decimal c = some_decimal();
    RC_ASSERT(a + b == b + a);
    RC_ASSERT((a + b) + c == a + (b + c));
    RC_ASSERT((a + b) * c == a * c + b * c);
    RC_ASSERT((a + b) - b == a);
    RC_ASSERT((a <=> b) == ((a - b) <=> Decimal()));
    RC_ASSERT(decimal((a * b).text()) == a * b);
  }));
}

TEST(Decimal, FitsWith34DigitsAndExponentsTo100) {
  const std::string nines(34, '9');
  EXPECT_TRUE(Decimal().fits());
  EXPECT_TRUE(decimal(nines + "e100").fits());
  EXPECT_TRUE(decimal(nines + "e-100").fits());
  EXPECT_TRUE(decimal("-1e-100").fits());
  EXPECT_TRUE(decimal("0.1234567890123456789012345678901234").fits());
  EXPECT_TRUE(decimal("123.4567890123456789012345678901234").fits());
  EXPECT_FALSE((decimal("1e33") + decimal("0.1")).fits());
  EXPECT_FALSE((decimal("1e34") + decimal("1")).fits());
  EXPECT_TRUE((decimal("1e33") + decimal("1")).fits());
  EXPECT_FALSE((decimal("1e-100") * decimal("0.1")).fits());
  EXPECT_FALSE((decimal("1e100") * decimal("10")).fits());
  EXPECT_TRUE((decimal("1.1e100") * decimal("10")).fits());
}

TEST(Decimal, IsAnIntWhereItIsWholeAndFits) {
  EXPECT_EQ(decimal("-9223372036854775808").to_int(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(decimal("9223372036854775807").to_int(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(decimal("9223372036854775808").to_int(), std::nullopt);
  EXPECT_EQ(decimal("1.5").to_int(), std::nullopt);
  EXPECT_EQ(decimal("1.0").to_int(), 1);
}

TEST(Decimal, GivesTheNearestDouble) {
  EXPECT_EQ(decimal("0.1").to_double(), 0.1);
  EXPECT_EQ(decimal("-0.1").to_double(), -0.1);
  EXPECT_EQ(Decimal().to_double(), 0.0);
  EXPECT_FALSE(std::signbit(Decimal().to_double()));
  EXPECT_EQ(decimal("9007199254740993").to_double(), 9007199254740992.0);  // ties to even
  EXPECT_EQ(decimal("9007199254740995").to_double(), 9007199254740996.0);
  EXPECT_EQ(decimal("9007199254740993.0000000000000001").to_double(), 9007199254740994.0);
}

TEST(Decimal, GivesTheNearestDoubleAtTheEndsOfTheRange) {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exact(most).to_double(), most);
  const Decimal half_step = exact(std::ldexp(1, 970));
  EXPECT_EQ((exact(most) + half_step - Decimal(1)).to_double(), most);
  EXPECT_EQ((exact(most) + half_step).to_double(), infinity);
  EXPECT_EQ((-exact(most) - half_step).to_double(), -infinity);
  EXPECT_EQ((exact(most) * exact(most)).to_double(), infinity);

  EXPECT_EQ(exact(least).to_double(), least);
  EXPECT_EQ(exact(std::numeric_limits<double>::min()).to_double(), std::numeric_limits<double>::min());
  const Decimal half = Decimal::from_canonical("0.5");
  EXPECT_EQ((exact(least) * half).to_double(), 0.0);  // ties to even
  EXPECT_FALSE(std::signbit((-exact(least) * half).to_double()));
  EXPECT_EQ((exact(least) * Decimal::from_canonical("0.51")).to_double(), least);
  EXPECT_EQ((exact(least) * Decimal::from_canonical("1.5")).to_double(), 2 * least);
}

TEST(Decimal, GivesTheDoubleThatItsTextReadsAs) {
  EXPECT_TRUE(rc::check([] {
    const Decimal number = some_decimal() * some_decimal();
    double read = 0;
    const std::string& text = number.text();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    RC_ASSERT(error == std::errc());
    RC_ASSERT(number.to_double() == read);
  }));
}

TEST(Decimal, HoldsADoubleExactly) {
  EXPECT_EQ(exact(0.1).text(), "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(exact(-0.75).text(), "-0.75");
  EXPECT_EQ(exact(3).text(), "3");
  EXPECT_EQ(Decimal::from_binary(false, std::array<std::uint64_t, 3>{0, 1, 0}, 1).text(), "36893488147419103232");
  EXPECT_EQ(Decimal::from_binary(true, std::array<std::uint64_t, 2>{0, 0}, -5).text(), "0");
  EXPECT_EQ(Decimal::from_binary(false, {}, 0).text(), "0");
  EXPECT_TRUE(rc::check([](std::int64_t mantissa) {
    const double number =
        std::ldexp(static_cast<double>(mantissa % (std::int64_t{1} << 53)), *rc::gen::inRange(-1200, 900));
    RC_ASSERT(exact(number).to_double() == number);
  }));
}

TEST(Decimal, DividesTo34DigitsHalfToEven) {
  EXPECT_EQ(divide(Decimal(1), 3).text(), "0." + std::string(34, '3'));
  EXPECT_EQ(divide(Decimal(2), 3).text(), "0." + std::string(33, '6') + "7");
  EXPECT_EQ(divide(Decimal(-2), 3).text(), "-0." + std::string(33, '6') + "7");
  EXPECT_EQ(divide(Decimal(2), -3).text(), "-0." + std::string(33, '6') + "7");
  EXPECT_EQ(divide(Decimal(-6), -3).text(), "2");
  EXPECT_EQ(divide(decimal("200"), 3).text(), "66." + std::string(31, '6') + "7");
  EXPECT_EQ(divide(decimal("0.002"), 3).text(), "0.000" + std::string(33, '6') + "7");
  EXPECT_EQ(divide(Decimal(1), 8).text(), "0.125");
  EXPECT_EQ(divide(Decimal(), 7).text(), "0");
  EXPECT_EQ(divide(decimal("1e100"), 4).text(), "25" + std::string(98, '0'));
  EXPECT_EQ(divide(Decimal::from_canonical(std::string(34, '1') + "6"), 10).text(), std::string(33, '1') + "2");
}

TEST(Decimal, RoundsTiesToEven) {
  const std::string ones(33, '1');
  const auto halved = [](const std::string& text) { return divide(Decimal::from_canonical(text), 2).text(); };
  const std::string twos(33, '2');
  EXPECT_EQ(halved(twos + "5"), ones + "2");    // …2.5
  EXPECT_EQ(halved(twos + "7"), ones + "4");    // …3.5
  EXPECT_EQ(halved(twos + "47"), ones + "20");  // …23.5, 34 digits of it
  EXPECT_EQ(halved(twos + "5.00002"), ones + "3");
  EXPECT_EQ(halved("-" + twos + "5"), "-" + ones + "2");
  EXPECT_EQ(halved(std::string(34, '9') + "9"), "5" + std::string(34, '0'));  // …9.5, and one digit more
}

TEST(Decimal, GivesNoDigitBelow10ToTheMinus100) {
  EXPECT_EQ(divide(decimal("1e-100"), 3).text(), "0");
  EXPECT_EQ(divide(decimal("2e-100"), 3), decimal("1e-100"));
  EXPECT_EQ(divide(decimal("1e-100"), 2).text(), "0");
  EXPECT_EQ(divide(decimal("3e-100"), -2), decimal("-2e-100"));
  EXPECT_EQ(divide(decimal("1e-99"), 3), decimal("3e-100"));
}

TEST(Decimal, DividesAsWellAsItCan) {
  EXPECT_TRUE(rc::check([] {
    const Decimal dividend = some_decimal();
    const auto divisor = *rc::gen::nonZero<std::int64_t>();
    const Decimal quotient = divide(dividend, divisor);
    RC_ASSERT(quotient.fits());
    // 34 digits: the error is at most 5 in the 35th.
    const Decimal rest = quotient * Decimal(divisor) - dividend;
    const Decimal magnitude = dividend.negative() ? -dividend : dividend;
    const Decimal error = rest.negative() ? -rest : rest;
    RC_ASSERT(error <= magnitude * decimal("5e-34"));
  }));
}

TEST(Decimal, DividesToTheNearestDouble) {
  EXPECT_EQ(divide_to_double(Decimal(1), 3), 1.0 / 3.0);
  EXPECT_EQ(divide_to_double(Decimal(-1), 3), -1.0 / 3.0);
  EXPECT_EQ(divide_to_double(Decimal(1), -3), -1.0 / 3.0);
  EXPECT_EQ(divide_to_double(Decimal(), -3), 0.0);
  // Whole sums beyond 53 bits would be rounded twice.
  EXPECT_EQ(divide_to_double(decimal("9007199254740993"), 3), 3002399751580331.0);
  EXPECT_TRUE(rc::check([](std::int32_t dividend) {
    const auto divisor = *rc::gen::nonZero<std::int32_t>();
    RC_ASSERT(divide_to_double(Decimal(dividend), divisor) ==
              static_cast<double>(dividend) / static_cast<double>(divisor));
  }));
}

}  // namespace
}  // namespace noam::model
