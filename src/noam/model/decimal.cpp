#include "noam/model/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include <gmpxx.h>

#include "noam/base/check.h"
#include "noam/model/scalars.h"

namespace noam::model {

namespace {

constexpr std::size_t most_digits = 34;
constexpr std::int64_t least_exponent = -100;
constexpr std::int64_t greatest_exponent = 100;

// coefficient * 10^-scale
struct Scaled {
  mpz_class coefficient;
  std::size_t scale = 0;
};

mpz_class power(unsigned long base, std::size_t exponent) {
  mpz_class out;
  mpz_ui_pow_ui(out.get_mpz_t(), base, exponent);
  return out;
}

mpz_class to_integer(std::int64_t number) {
  static_assert(sizeof(long) == sizeof(std::int64_t));
  return mpz_class(static_cast<long>(number));
}

Scaled to_scaled(const Decimal& number) {
  const std::string& text = number.text();
  const auto point = text.find('.');
  if (point == std::string::npos) return {mpz_class(text, 10), 0};
  std::string digits = text;
  digits.erase(point, 1);
  return {mpz_class(digits, 10), text.size() - point - 1};
}

// coefficient * 10^exponent, positional and shortest.
Decimal to_decimal(const mpz_class& coefficient, std::int64_t exponent) {
  if (coefficient == 0) return {};
  std::string digits = mpz_class(abs(coefficient)).get_str();
  if (exponent >= 0) {
    digits.append(static_cast<std::size_t>(exponent), '0');
  } else {
    const auto places = static_cast<std::size_t>(-exponent);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, 1, '.');
    digits.resize(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  if (coefficient < 0) digits.insert(0, 1, '-');
  return Decimal::from_canonical(std::move(digits));
}

Decimal to_decimal(const Scaled& number) {
  return to_decimal(number.coefficient, -static_cast<std::int64_t>(number.scale));
}

void align(Scaled& a, Scaled& b) {
  Scaled& shorter = a.scale < b.scale ? a : b;
  const std::size_t scale = std::max(a.scale, b.scale);
  shorter.coefficient *= power(10, scale - shorter.scale);
  shorter.scale = scale;
}

// dividend / divisor, both positive, rounded to the nearest whole number, ties to even.
mpz_class rounded_quotient(const mpz_class& dividend, const mpz_class& divisor) {
  mpz_class quotient;
  mpz_class rest;
  mpz_tdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), dividend.get_mpz_t(), divisor.get_mpz_t());
  const int half = cmp(mpz_class(rest * 2), divisor);
  if (half > 0 || (half == 0 && mpz_odd_p(quotient.get_mpz_t()) != 0)) ++quotient;
  return quotient;
}

// The double nearest to dividend / divisor, both positive.
double nearest_double(const mpz_class& dividend, const mpz_class& divisor) {
  constexpr std::int64_t digits = std::numeric_limits<double>::digits;
  constexpr std::int64_t least = std::numeric_limits<double>::min_exponent - digits;  // of the last bit of the least
  const auto bits = [](const mpz_class& number) {
    return static_cast<std::int64_t>(mpz_sizeinbase(number.get_mpz_t(), 2));
  };
  const auto shifted = [](const mpz_class& number, std::int64_t by) {
    return by <= 0 ? number : mpz_class(number << static_cast<mp_bitcnt_t>(by));
  };
  // The quotient lies between 2^(magnitude - 1) and 2^(magnitude + 1): one of these exponents of its last bit it is.
  const std::int64_t magnitude = bits(dividend) - bits(divisor);
  std::int64_t last = magnitude + 1 - digits;
  if (shifted(dividend, -magnitude) < shifted(divisor, magnitude)) --last;
  last = std::max(last, least);
  if (last > std::numeric_limits<double>::max_exponent) return std::numeric_limits<double>::infinity();
  const mpz_class quotient = rounded_quotient(shifted(dividend, -last), shifted(divisor, last));
  return std::ldexp(quotient.get_d(), static_cast<int>(last));
}

}  // namespace

Decimal::Decimal(std::int64_t number) : text_(std::to_string(number)) {}

Decimal Decimal::from_canonical(std::string text) {
  check(!text.empty(), "a decimal has digits");
  Decimal out;
  out.text_ = std::move(text);
  return out;
}

Decimal Decimal::from_binary(bool negative, std::span<const std::uint64_t> magnitude, std::int64_t exponent) {
  mpz_class number;
  mpz_import(number.get_mpz_t(), magnitude.size(), -1, sizeof(std::uint64_t), 0, 0, magnitude.data());
  if (number == 0) return {};
  // Halves that cancel would only make the text longer.
  const mp_bitcnt_t zeros = mpz_scan1(number.get_mpz_t(), 0);
  number >>= zeros;
  exponent += static_cast<std::int64_t>(zeros);
  if (exponent >= 0) {
    number <<= static_cast<mp_bitcnt_t>(exponent);
    exponent = 0;
  } else {
    number *= power(5, static_cast<std::size_t>(-exponent));  // 2^-n is 5^n * 10^-n
  }
  if (negative) number = -number;
  return to_decimal(number, exponent);
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  auto canonical = parse_decimal(text);
  if (!canonical) return std::nullopt;
  return from_canonical(std::move(*canonical));
}

bool Decimal::fits() const {
  const std::string_view text = text_;
  const auto first = text.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const auto last = text.find_last_of("123456789");
  const auto point = text.find('.');
  const bool point_between = point != std::string_view::npos && first < point && point < last;
  const std::size_t digits = last - first + (point_between ? 0 : 1);
  const std::int64_t exponent = point == std::string_view::npos ? static_cast<std::int64_t>(text.size() - 1 - last)
                                                                : -static_cast<std::int64_t>(text.size() - 1 - point);
  return digits <= most_digits && exponent >= least_exponent && exponent <= greatest_exponent;
}

std::optional<std::int64_t> Decimal::to_int() const { return parse_int(text_); }

double Decimal::to_double() const { return divide_to_double(*this, 1); }

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  if (negative() != other.negative()) return negative() ? std::strong_ordering::less : std::strong_ordering::greater;
  // Positional and shortest: the longer whole part is the larger one; then digit by digit.
  const auto compare = [](std::string_view a, std::string_view b) -> std::strong_ordering {
    const auto whole_a = std::min(a.find('.'), a.size());
    const auto whole_b = std::min(b.find('.'), b.size());
    if (whole_a != whole_b) return whole_a <=> whole_b;
    return a.compare(b) <=> 0;
  };
  if (negative()) return compare(std::string_view(other.text_).substr(1), std::string_view(text_).substr(1));
  return compare(text_, other.text_);
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  Scaled left = to_scaled(a);
  Scaled right = to_scaled(b);
  align(left, right);
  left.coefficient += right.coefficient;
  return to_decimal(left);
}

Decimal operator-(const Decimal& a, const Decimal& b) { return a + -b; }

Decimal operator*(const Decimal& a, const Decimal& b) {
  Scaled left = to_scaled(a);
  const Scaled right = to_scaled(b);
  left.coefficient *= right.coefficient;
  left.scale += right.scale;
  return to_decimal(left);
}

Decimal operator-(const Decimal& a) {
  if (a.zero()) return a;
  return Decimal::from_canonical(a.negative() ? a.text().substr(1) : "-" + a.text());
}

Decimal divide(const Decimal& dividend, std::int64_t divisor) {
  check(divisor != 0, "the divisor is not zero");
  if (dividend.zero()) return {};
  const auto [coefficient, scale] = to_scaled(dividend);
  const bool negative = dividend.negative() != (divisor < 0);
  const mpz_class above = abs(coefficient);
  const mpz_class below = abs(to_integer(divisor));

  // The quotient of the coefficients lies between 10^(magnitude - 1) and 10^(magnitude + 1).
  const auto shifted = [](const mpz_class& number, std::int64_t by) {
    return by <= 0 ? number : mpz_class(number * power(10, static_cast<std::size_t>(by)));
  };
  const std::int64_t magnitude =
      static_cast<std::int64_t>(above.get_str().size()) - static_cast<std::int64_t>(below.get_str().size());
  std::int64_t last = magnitude + 1 - static_cast<std::int64_t>(most_digits);
  if (shifted(above, -magnitude) < shifted(below, magnitude)) --last;
  last = std::max(last, least_exponent + static_cast<std::int64_t>(scale));
  mpz_class quotient = rounded_quotient(shifted(above, -last), shifted(below, last));
  if (negative) quotient = -quotient;
  return to_decimal(quotient, last - static_cast<std::int64_t>(scale));
}

double divide_to_double(const Decimal& dividend, std::int64_t divisor) {
  check(divisor != 0, "the divisor is not zero");
  if (dividend.zero()) return 0;
  const auto [coefficient, scale] = to_scaled(dividend);
  const double magnitude = nearest_double(abs(coefficient), abs(to_integer(divisor)) * power(10, scale));
  if (magnitude == 0) return 0;
  return dividend.negative() == (divisor < 0) ? magnitude : -magnitude;
}

}  // namespace noam::model
