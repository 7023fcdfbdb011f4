#include "noam/cql/decimal_bytes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gmpxx.h>

#include "noam/cql/numbers.h"

namespace noam::cql {

namespace {

constexpr std::int64_t most_zeros = 10'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As few bytes as hold the sign, too.
std::string twos_complement(const mpz_class& number) {
  const bool negative = sgn(number) < 0;
  const mpz_class magnitude = negative ? mpz_class(-number - 1) : number;
  const std::size_t bits = sgn(magnitude) == 0 ? 0 : mpz_sizeinbase(magnitude.get_mpz_t(), 2);
  const std::size_t size = bits / 8 + 1;
  // Of a negative number, all bits of -n - 1 are turned around.
  std::string bytes(size, '\0');
  std::size_t written = 0;
  std::vector<unsigned char> digits(size);
  mpz_export(digits.data(), &written, 1, 1, 1, 0, magnitude.get_mpz_t());
  for (std::size_t i = 0; i < written; ++i) bytes[size - written + i] = static_cast<char>(digits[i]);
  if (negative) std::ranges::transform(bytes, bytes.begin(), [](char byte) { return static_cast<char>(~byte); });
  return bytes;
}

mpz_class from_twos_complement(std::string_view bytes) {
  mpz_class number;
  mpz_import(number.get_mpz_t(), bytes.size(), 1, 1, 1, 0, bytes.data());
  if ((static_cast<unsigned char>(bytes.front()) & 0x80U) != 0) number -= mpz_class(1) << (8 * bytes.size());
  return number;
}

}  // namespace

Result<std::string> decimal_bytes(std::string_view text) {
  std::string digits(text);
  std::size_t scale = 0;
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    scale = text.size() - point - 1;
    digits.erase(point, 1);
  }
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  const bool ends_in_digits = !text.empty() && is_digit(text.back()) && text.size() > sign && is_digit(text[sign]);
  if (!ends_in_digits || !std::ranges::all_of(std::string_view(digits).substr(sign), is_digit)) {
    return Error{"not a decimal number: `" + std::string(text) + "`", "value"};
  }
  std::string bytes;
  append_number(bytes, static_cast<std::int32_t>(scale));
  return bytes + twos_complement(mpz_class(digits, 10));
}

Result<std::string> decimal_text(std::string_view bytes) {
  if (bytes.size() < 5) return Error{"not the bytes of a decimal", "value"};
  const std::int64_t scale = number_of<std::int32_t>(bytes.substr(0, 4));
  const mpz_class number = from_twos_complement(bytes.substr(4));
  std::string digits = mpz_class(abs(number)).get_str();
  const auto size = static_cast<std::int64_t>(digits.size());
  if (-scale > most_zeros || scale - size > most_zeros) return Error{"a decimal with too many zeros", "value"};
  if (scale <= 0) {
    if (sgn(number) != 0) digits.append(static_cast<std::size_t>(-scale), '0');
  } else {
    if (size <= scale) digits.insert(0, static_cast<std::size_t>(scale - size + 1), '0');
    digits.insert(digits.size() - static_cast<std::size_t>(scale), 1, '.');
  }
  return sgn(number) < 0 ? "-" + digits : digits;
}

}  // namespace noam::cql
