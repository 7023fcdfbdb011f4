#include "tests/reference/numbers.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <gmpxx.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "noam/base/check.h"
#include "noam/model/scalars.h"

namespace noam::reference {

using model::Decimal;
using model::TypeKind;

namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t first_day = -719'162;  // 0001-01-01
constexpr std::int64_t last_day = 2'932'896;  // 9999-12-31

static_assert(sizeof(long) == sizeof(std::int64_t), "GMP speaks of long");

mpz_class whole(std::int64_t number) { return {static_cast<long>(number)}; }

std::optional<Datum> to_int(const mpz_class& number) {
  if (!number.fits_slong_p()) return std::nullopt;
  return Datum(static_cast<std::int64_t>(number.get_si()));
}

mpz_class power_of_ten(unsigned long exponent) {
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, exponent);
  return power;
}

mpq_class exact(const Decimal& decimal) {
  std::string digits = decimal.text();
  const std::size_t point = digits.find('.');
  unsigned long places = 0;
  if (point != std::string::npos) {
    places = static_cast<unsigned long>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  mpq_class number{mpz_class(digits, 10), power_of_ten(places)};
  number.canonicalize();
  return number;
}

// digits * 10^-places, positional and shortest.
std::string positional(const mpz_class& digits, unsigned long places) {
  const bool negative = digits < 0;
  std::string text = mpz_class(abs(digits)).get_str();
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  if (places > 0) {
    text.insert(text.size() - places, 1, '.');
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return (negative ? "-" : "") + text;
}

// A number whose denominator divides a power of ten.
std::optional<Datum> to_decimal(const mpq_class& number) {
  unsigned long places = 0;
  mpz_class scaled = number.get_num();
  mpz_class rest = scaled % number.get_den();
  while (rest != 0) {
    ++places;
    scaled = number.get_num() * power_of_ten(places);
    rest = scaled % number.get_den();
  }
  const auto text = model::parse_decimal(positional(scaled / number.get_den(), places));
  if (!text) return std::nullopt;
  return Datum(Decimal::from_canonical(*text));
}

// What is left over decides; a half goes to the even neighbour. Both are positive.
mpz_class rounded_quotient(const mpz_class& dividend, const mpz_class& divisor) {
  mpz_class quotient = dividend / divisor;
  const mpz_class twice = 2 * (dividend - quotient * divisor);
  if (twice > divisor || (twice == divisor && mpz_odd_p(quotient.get_mpz_t()) != 0)) ++quotient;
  return quotient;
}

// 34 significant digits, half to even.
Datum to_34_digits(const mpq_class& number) {
  if (number == 0) return Decimal();
  const mpz_class dividend = abs(number.get_num());
  const mpz_class& divisor = number.get_den();
  const mpz_class bound = power_of_ten(34);
  // The digit that is rounded to stands for 10^-places: the largest that leaves no more than 34 digits.
  long places = 34 + static_cast<long>(divisor.get_str().size());
  const auto quotient_at = [&](long at) {
    if (at >= 0) return rounded_quotient(dividend * power_of_ten(static_cast<unsigned long>(at)), divisor);
    return rounded_quotient(dividend, divisor * power_of_ten(static_cast<unsigned long>(-at)));
  };
  const auto too_many_at = [&](long at) {  // before rounding: 9.99… may round to one digit more, which is a zero
    if (at >= 0) return dividend * power_of_ten(static_cast<unsigned long>(at)) >= bound * divisor;
    return dividend >= bound * divisor * power_of_ten(static_cast<unsigned long>(-at));
  };
  while (too_many_at(places)) --places;
  mpz_class digits = quotient_at(places);
  if (number < 0) digits = -digits;
  if (places < 0) {
    digits *= power_of_ten(static_cast<unsigned long>(-places));
    places = 0;
  }
  return Decimal::from_canonical(positional(digits, static_cast<unsigned long>(places)));
}

// 2^exponent, also where it is negative.
mpq_class power_of_two(long exponent) {
  mpq_class power = 1;
  if (exponent >= 0)
    mpq_mul_2exp(power.get_mpq_t(), power.get_mpq_t(), static_cast<mp_bitcnt_t>(exponent));
  else
    mpq_div_2exp(power.get_mpq_t(), power.get_mpq_t(), static_cast<mp_bitcnt_t>(-exponent));
  return power;
}

// The nearest double, a half to the even one; infinite where it is too large.
double nearest_double(const mpq_class& number) {
  if (number == 0) return 0;
  const mpq_class size = abs(number);
  long exponent = static_cast<long>(mpz_sizeinbase(size.get_num_mpz_t(), 2)) -
                  static_cast<long>(mpz_sizeinbase(size.get_den_mpz_t(), 2));
  if (size < power_of_two(exponent)) --exponent;      // now 2^exponent <= size < 2^(exponent + 1)
  const long unit = std::max(exponent - 52, -1074L);  // of the last bit
  const mpq_class units = size * power_of_two(-unit);
  const mpz_class bits = rounded_quotient(units.get_num(), units.get_den());
  const double result = std::ldexp(bits.get_d(), static_cast<int>(unit));
  return number < 0 ? -result : result;
}

std::optional<Datum> to_float(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  return Datum(number);
}

// A time moved by minutes.
std::optional<Datum> move(TypeKind kind, const Datum& time, const mpz_class& minutes) {
  if (kind == TypeKind::Timestamp) {
    const mpz_class moved = whole(time.as_int()) + minutes * minute_ms;
    if (moved < whole(first_day) * day_ms || moved >= whole(last_day + 1) * day_ms) return std::nullopt;
    return to_int(moved);
  }
  const mpz_class moved = whole(time.as_int()) + minutes / (24 * 60);
  if (moved < first_day || moved > last_day) return std::nullopt;
  return to_int(moved);
}

}  // namespace

std::optional<Datum> add(TypeKind kind, const Datum& a, const Datum& b) {
  switch (kind) {
    case TypeKind::Int:
      return to_int(whole(a.as_int()) + whole(b.as_int()));
    case TypeKind::Decimal:
      return to_decimal(exact(a.as_decimal()) + exact(b.as_decimal()));
    case TypeKind::Float:
      return to_float(a.as_double() + b.as_double());
    default:
      return move(kind, a, whole(b.as_int()));
  }
}

std::optional<Datum> subtract(TypeKind kind, const Datum& a, const Datum& b) {
  switch (kind) {
    case TypeKind::Int:
      return to_int(whole(a.as_int()) - whole(b.as_int()));
    case TypeKind::Decimal:
      return to_decimal(exact(a.as_decimal()) - exact(b.as_decimal()));
    case TypeKind::Float:
      return to_float(a.as_double() - b.as_double());
    default:
      return move(kind, a, -whole(b.as_int()));
  }
}

std::optional<Datum> multiply(TypeKind kind, const Datum& a, const Datum& b) {
  switch (kind) {
    case TypeKind::Int:
      return to_int(whole(a.as_int()) * whole(b.as_int()));
    case TypeKind::Decimal:
      return to_decimal(exact(a.as_decimal()) * exact(b.as_decimal()));
    default:
      return to_float(a.as_double() * b.as_double());
  }
}

std::optional<Datum> negate(TypeKind kind, const Datum& a) {
  switch (kind) {
    case TypeKind::Int:
      return to_int(-whole(a.as_int()));
    case TypeKind::Decimal:
      return to_decimal(-exact(a.as_decimal()));
    default:
      return to_float(-a.as_double());
  }
}

namespace {

mpq_class exact_sum(TypeKind kind, const std::vector<Datum>& numbers) {
  mpq_class total = 0;
  for (const Datum& number : numbers) {
    if (kind == TypeKind::Int)
      total += whole(number.as_int());
    else if (kind == TypeKind::Decimal)
      total += exact(number.as_decimal());
    else
      total += mpq_class(number.as_double());  // exact: a double is a fraction
  }
  return total;
}

}  // namespace

std::optional<Datum> sum(TypeKind kind, const std::vector<Datum>& numbers) {
  const mpq_class total = exact_sum(kind, numbers);
  if (kind == TypeKind::Int) return to_int(total.get_num());
  if (kind == TypeKind::Decimal) return to_decimal(total);
  return to_float(nearest_double(total));
}

Datum average(TypeKind kind, const std::vector<Datum>& numbers) {
  if (numbers.empty()) return {};
  const mpq_class quotient = exact_sum(kind, numbers) / mpz_class(static_cast<unsigned long>(numbers.size()));
  if (kind == TypeKind::Decimal) return to_34_digits(quotient);
  return nearest_double(quotient);
}

Datum period_start(model::Function unit, TypeKind kind, const Datum& time) {
  const std::int64_t at = time.as_int();
  const auto floor_to = [](std::int64_t value, std::int64_t size) {
    const std::int64_t rest = value % size;
    return value - (rest < 0 ? rest + size : rest);
  };
  if (unit == model::Function::Minute) return floor_to(at, minute_ms);
  if (unit == model::Function::Hour) return floor_to(at, 60 * minute_ms);
  const std::int64_t scale = kind == TypeKind::Timestamp ? day_ms : 1;
  std::int64_t day = floor_to(at, scale) / scale;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const auto days_of = [](std::chrono::year_month_day first) {
    return static_cast<std::int64_t>(std::chrono::sys_days(first).time_since_epoch().count());
  };
  switch (unit) {
    case model::Function::Day:
      break;
    case model::Function::Week:
      day = floor_to(day + 3, 7) - 3;  // 1970-01-01 was a Thursday
      break;
    case model::Function::Month:
      day = days_of(date.year() / date.month() / 1);
      break;
    case model::Function::Year:
      day = days_of(date.year() / 1 / 1);
      break;
    default:
      check(false, "a period is a minute, hour, day, week, month or year");
  }
  return day * scale;
}

std::vector<std::string> words(std::string_view text) {
  const auto unicode =
      icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  std::vector<std::string> found;
  icu::UnicodeString word;
  const auto end_word = [&] {
    if (word.isEmpty()) return;
    std::string folded;
    word.foldCase(U_FOLD_CASE_DEFAULT).toUTF8String(folded);
    found.push_back(std::move(folded));
    word.remove();
  };
  for (std::int32_t i = 0; i < unicode.length(); i = unicode.moveIndex32(i, 1)) {
    const UChar32 character = unicode.char32At(i);
    if ((U_GET_GC_MASK(character) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK)) != 0)
      word.append(character);
    else
      end_word();
  }
  end_word();
  return found;
}

}  // namespace noam::reference
