#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace noam::model {

// A decimal number of any size, exact; kept as its text, positional and shortest, so equal numbers have equal texts.
// What a field holds fits (`fits`); what is on the way (a kept sum) may be larger.
class Decimal {
 public:
  Decimal() = default;                                         // 0
  explicit Decimal(std::int64_t number);                       // exact
  static Decimal from_canonical(std::string text);             // as parse_decimal gives it, or text() of another
  static std::optional<Decimal> parse(std::string_view text);  // as parse_decimal: what fits
  // magnitude * 2^exponent, exact; the least significant word first.
  static Decimal from_binary(bool negative, std::span<const std::uint64_t> magnitude, std::int64_t exponent);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool negative() const { return text_.front() == '-'; }
  [[nodiscard]] bool zero() const { return text_ == "0"; }

  // At most 34 significant digits, and the last one (zeros dropped) with an exponent from -100 to 100.
  [[nodiscard]] bool fits() const;
  // Where it is a whole number of 64 bits.
  [[nodiscard]] std::optional<std::int64_t> to_int() const;
  // The nearest double; ties to even. Infinite where it is too large.
  [[nodiscard]] double to_double() const;

  bool operator==(const Decimal&) const = default;
  std::strong_ordering operator<=>(const Decimal& other) const;  // as numbers

 private:
  std::string text_ = "0";
};

// Exact, whatever the size.
Decimal operator+(const Decimal& a, const Decimal& b);
Decimal operator-(const Decimal& a, const Decimal& b);
Decimal operator*(const Decimal& a, const Decimal& b);
Decimal operator-(const Decimal& a);

// The quotient rounded to 34 significant digits, and to no digit below that of 10^-100, half to even. The divisor is
// not zero.
Decimal divide(const Decimal& dividend, std::int64_t divisor);
// The double nearest to the exact quotient. The divisor is not zero.
double divide_to_double(const Decimal& dividend, std::int64_t divisor);

}  // namespace noam::model
