#include "noam/model/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "noam/base/check.h"

namespace noam::model {

namespace {

constexpr std::int64_t milliseconds_a_day = 86'400'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a text from the left; after the first thing that did not fit, everything fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Exactly `count` digits.
  int digits(std::size_t count) {
    if (rest_.size() < count ||
        !std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), is_digit)) {
      fits_ = false;
      return 0;
    }
    int number = 0;
    for (const char c : take(count)) number = number * 10 + (c - '0');
    return number;
  }

  std::string_view digits() {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    return take(count);
  }

  bool accept(std::string_view one_of) {
    if (rest_.empty() || one_of.find(rest_.front()) == std::string_view::npos) return false;
    taken_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  void expect(std::string_view one_of) { fits_ = accept(one_of) && fits_; }

  [[nodiscard]] char taken() const { return taken_; }
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] bool fits_wholly() const { return fits_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  char taken_ = 0;
  bool fits_ = true;
};

// Leaves the reader behind `YYYY-MM-DD`.
std::optional<std::int64_t> read_date(Reader& reader) {
  const int year = reader.digits(4);
  reader.expect("-");
  const int month = reader.digits(2);
  reader.expect("-");
  const int day = reader.digits(2);
  if (!reader.fits() || year == 0) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// A fraction of a second in milliseconds.
std::optional<std::int64_t> read_fraction(Reader& reader) {
  std::string digits(reader.digits());
  if (digits.empty()) return std::nullopt;
  while (digits.size() < 3) digits += '0';
  if (digits.find_first_not_of('0', 3) != std::string::npos) return std::nullopt;
  return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

// `[+-]digits[.digits][e[+-]digits]`, taken apart.
struct Numeral {
  bool negative = false;
  std::string digits;         // without zeros at either end; empty: 0
  std::int64_t exponent = 0;  // of the last digit
};

std::optional<Numeral> read_numeral(std::string_view text) {
  Reader reader(text);
  Numeral out;
  if (reader.accept("+-")) out.negative = reader.taken() == '-';
  const auto whole = reader.digits();
  if (whole.empty()) return std::nullopt;
  out.digits = whole;
  if (reader.accept(".")) {
    const auto fraction = reader.digits();
    if (fraction.empty()) return std::nullopt;
    out.digits += fraction;
    out.exponent = -static_cast<std::int64_t>(fraction.size());
  }
  if (reader.accept("eE")) {
    const bool negative = reader.accept("+-") && reader.taken() == '-';
    const auto digits = reader.digits();
    if (digits.empty()) return std::nullopt;
    // Longer ones are far outside every range, and must not overflow here.
    std::int64_t exponent = 1'000'000'000'000'000;
    const auto significant = digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
    if (significant.size() <= 15) {
      exponent = 0;
      for (const char c : significant) exponent = exponent * 10 + (c - '0');
    }
    out.exponent += negative ? -exponent : exponent;
  }
  if (!reader.fits_wholly()) return std::nullopt;

  const auto last = out.digits.find_last_not_of('0');
  if (last == std::string::npos) return Numeral{};
  out.exponent += static_cast<std::int64_t>(out.digits.size() - 1 - last);
  out.digits.resize(last + 1);
  out.digits.erase(0, out.digits.find_first_not_of('0'));
  return out;
}

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Of the sequence that starts at `at`; 0 where it is no valid one.
std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  if (first < 0xC2U) return 0;  // a continuation, or longer than needed
  if (first < 0xE0U) return continues(1) ? 2 : 0;
  if (first < 0xF0U) {
    if (first == 0xE0U && byte(1) < 0xA0U) return 0;   // longer than needed
    if (first == 0xEDU && byte(1) >= 0xA0U) return 0;  // half of a surrogate pair
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first > 0xF4U) return 0;
  if (first == 0xF0U && byte(1) < 0x90U) return 0;   // longer than needed
  if (first == 0xF4U && byte(1) >= 0x90U) return 0;  // beyond U+10FFFF
  return continues(1) && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  Reader reader(text);
  const auto days = read_date(reader);
  if (!days) return std::nullopt;
  reader.expect("Tt");
  const int hour = reader.digits(2);
  reader.expect(":");
  const int minute = reader.digits(2);
  reader.expect(":");
  const int second = reader.digits(2);
  std::int64_t fraction = 0;
  if (reader.fits() && reader.accept(".")) {
    const auto read = read_fraction(reader);
    if (!read) return std::nullopt;
    fraction = *read;
  }
  reader.expect("Zz+-");
  std::int64_t offset = 0;  // in minutes
  if (reader.fits() && (reader.taken() == '+' || reader.taken() == '-')) {
    const int sign = reader.taken() == '-' ? -1 : 1;
    const int hours = reader.digits(2);
    reader.expect(":");
    const int minutes = reader.digits(2);
    if (hours > 23 || minutes > 59) return std::nullopt;
    offset = sign * (hours * 60 + minutes);
  }
  if (!reader.fits_wholly() || hour > 23 || minute > 59 || second > 59) return std::nullopt;

  const std::int64_t since_midnight = (hour * 60 + minute) * 60 + second;
  const std::int64_t at = *days * milliseconds_a_day + since_midnight * 1000 + fraction - offset * 60'000;
  constexpr std::int64_t first = -62'135'596'800'000;  // 0001-01-01T00:00:00.000Z
  constexpr std::int64_t last = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z
  if (at < first || at > last) return std::nullopt;
  return at;
}

std::string print_timestamp(std::int64_t milliseconds) {
  std::int64_t days = milliseconds / milliseconds_a_day;
  std::int64_t rest = milliseconds % milliseconds_a_day;
  if (rest < 0) {
    rest += milliseconds_a_day;
    --days;
  }
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", print_date(days), rest / 3'600'000, rest / 60'000 % 60,
                     rest / 1000 % 60, rest % 1000);
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  Reader reader(text);
  const auto days = read_date(reader);
  return reader.fits_wholly() ? days : std::nullopt;
}

std::string print_date(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::optional<std::string> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return std::nullopt;
      ++i;
      continue;
    }
    unsigned byte = 0;
    const char* end = text.data() + i + 2;
    const auto [rest, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc() || rest != end) return std::nullopt;
    bytes += static_cast<char>(byte);
    i += 2;
  }
  return bytes;
}

std::string print_uuid(std::string_view bytes) {
  check(bytes.size() == 16, "a uuid has 16 bytes");
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return out;
}

bool is_timeuuid(std::string_view bytes) {
  check(bytes.size() == 16, "a uuid has 16 bytes");
  return (static_cast<unsigned char>(bytes[6]) >> 4U) == 1U && (static_cast<unsigned char>(bytes[8]) >> 6U) == 2U;
}

std::optional<std::string> parse_inet(std::string_view text) {
  const std::string terminated(text);
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  std::array<char, 16> address{};
  if (inet_pton(AF_INET, terminated.c_str(), address.data()) == 1) return std::string(address.data(), 4);
  if (inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return std::string(address.data(), 16);
  return std::nullopt;
}

// Not inet_ntop: it also writes `::1.2.3.4`, which RFC 5952 keeps for known prefixes.
std::string print_inet(std::string_view bytes) {
  check(bytes.size() == 4 || bytes.size() == 16, "an address has 4 or 16 bytes");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() == 4) return fmt::format("{}.{}.{}.{}", byte(0), byte(1), byte(2), byte(3));

  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = (unsigned{byte(2 * i)} << 8U) | byte(2 * i + 1);
  if (std::all_of(groups.begin(), groups.begin() + 5, [](unsigned group) { return group == 0; }) &&
      groups[5] == 0xffff) {
    return fmt::format("::ffff:{}.{}.{}.{}", byte(12), byte(13), byte(14), byte(15));
  }

  // The first of the longest runs of zeros, if it has at least two.
  std::size_t run_begin = groups.size();
  std::size_t run_length = 1;
  for (std::size_t begin = 0; begin < groups.size(); ++begin) {
    std::size_t end = begin;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - begin > run_length) {
      run_begin = begin;
      run_length = end - begin;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == run_begin) {
      out += "::";
      i += run_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    out += fmt::format("{:x}", groups[i]);
  }
  return out;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.size() - std::min(text.find('='), text.size());
  if (padding > 2 || (padding == 2 && text.back() != '=')) return std::nullopt;
  text.remove_suffix(padding);
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const auto digit = base64_alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count);
      bits &= (1U << count) - 1U;
    }
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

std::string print_base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : std::uint32_t{0};
    };
    const std::uint32_t bits = (byte(i) << 16U) | (byte(i + 1) << 8U) | byte(i + 2);
    for (unsigned digit = 0; digit < 4; ++digit) {
      out += i + digit > bytes.size() ? '=' : base64_alphabet[(bits >> (18U - 6U * digit)) & 63U];
    }
  }
  return out;
}

std::optional<std::string> parse_decimal(std::string_view text) {
  const auto numeral = read_numeral(text);
  if (!numeral) return std::nullopt;
  if (numeral->digits.empty()) return "0";
  if (numeral->digits.size() > 34 || numeral->exponent < -100 || numeral->exponent > 100) return std::nullopt;

  std::string out = numeral->digits;
  if (numeral->exponent > 0) {
    out.append(static_cast<std::size_t>(numeral->exponent), '0');
  } else if (numeral->exponent < 0) {
    const auto places = static_cast<std::size_t>(-numeral->exponent);
    if (out.size() <= places) out.insert(0, places + 1 - out.size(), '0');
    out.insert(out.size() - places, 1, '.');
  }
  return numeral->negative ? "-" + out : out;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_float(std::string_view text) {
  const auto numeral = read_numeral(text);
  if (!numeral) return std::nullopt;
  if (numeral->digits.empty()) return 0.0;
  if (text.front() == '+') text.remove_prefix(1);
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    const auto magnitude = numeral->exponent + static_cast<std::int64_t>(numeral->digits.size());
    return magnitude < 0 ? std::optional(0.0) : std::nullopt;  // too near to zero, or too far from it
  }
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number == 0 ? 0.0 : number;
}

std::string print_float(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number == 0 ? 0.0 : number);
  check(error == std::errc(), "a double fits in 32 characters");
  return {text.data(), end};
}

bool is_utf8_text(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    // Eight bytes at once, as long as they are plain: none is zero, none has its highest bit set.
    if (at + 8 <= bytes.size()) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, bytes.data() + at, sizeof eight);
      constexpr std::uint64_t ones = 0x0101010101010101U;
      constexpr std::uint64_t highest = 0x8080808080808080U;
      if ((((eight - ones) | eight) & highest) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t length = bytes[at] == '\0' ? 0 : utf8_length(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace noam::model
