#include "noam/model/ordered.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "noam/model/packed.h"

namespace noam::model {

namespace {

constexpr int deepest = 200;  // nobody writes deeper than values nest

// What a datum begins with in a key. Below 0x02 there are the ends of lists and of blocks' keys. The order is that of
// the kinds of Datum.
constexpr unsigned char key_absent = 0x02;
constexpr unsigned char key_false = 0x03;
constexpr unsigned char key_true = 0x04;
constexpr unsigned char key_zero = 0x14;  // an int: so many bytes follow as it is away from this, negative below
constexpr unsigned char key_double = 0x20;
constexpr unsigned char key_negative = 0x28;  // decimals
constexpr unsigned char key_none = 0x29;
constexpr unsigned char key_positive = 0x2A;
constexpr unsigned char key_string = 0x30;
constexpr unsigned char key_list = 0x38;
constexpr char end_of_list = '\x00';

void complement(std::string& bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

void append_big_endian(std::uint64_t number, int bytes, std::string& out) {
  std::array<char, 8> all{};
  for (char& at : all) {
    at = static_cast<char>(number >> 56U);
    number <<= 8U;
  }
  out.append(all.data() + all.size() - bytes, static_cast<std::size_t>(bytes));
}

int bytes_needed(std::uint64_t number) { return (64 - std::countl_zero(number) + 7) / 8; }

void append_ordered_int(std::int64_t number, std::string& out) {
  if (number >= 0) {
    const int bytes = bytes_needed(static_cast<std::uint64_t>(number));
    out += static_cast<char>(key_zero + bytes);
    append_big_endian(static_cast<std::uint64_t>(number), bytes, out);
  } else {
    // The complement of what lies below zero, so that more is smaller.
    const std::uint64_t below = static_cast<std::uint64_t>(-(number + 1)) + 1;
    const int bytes = bytes_needed(below);
    out += static_cast<char>(key_zero - bytes);
    append_big_endian(~below, bytes, out);
  }
}

// As the bits of a double order, but that a negative one has all of them turned.
std::uint64_t ordered_bits(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return (bits >> 63U) != 0 ? ~bits : bits | (std::uint64_t{1} << 63U);
}

double from_ordered_bits(std::uint64_t bits) {
  return std::bit_cast<double>((bits >> 63U) != 0 ? bits & ~(std::uint64_t{1} << 63U) : ~bits);
}

constexpr std::int64_t exponent_bias = std::int64_t{1} << 31U;
constexpr std::int64_t largest_exponent = 100'000;

// 0.digits * 10^exponent; digits neither begin nor end with a zero.
struct Scientific {
  std::string digits;
  std::int64_t exponent = 0;
};

Scientific scientific(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  Scientific out;
  out.digits = std::string(text.substr(0, point));
  out.exponent = static_cast<std::int64_t>(point);
  if (point < text.size()) out.digits += text.substr(point + 1);
  const std::size_t zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, zeros);
  out.exponent -= static_cast<std::int64_t>(zeros);
  out.digits.erase(out.digits.find_last_not_of('0') + 1);
  return out;
}

std::string positional(const Scientific& number) {
  const auto size = static_cast<std::int64_t>(number.digits.size());
  if (number.exponent <= 0) return "0." + std::string(static_cast<std::size_t>(-number.exponent), '0') + number.digits;
  if (number.exponent >= size)
    return number.digits + std::string(static_cast<std::size_t>(number.exponent - size), '0');
  const auto whole = static_cast<std::size_t>(number.exponent);
  return number.digits.substr(0, whole) + "." + number.digits.substr(whole);
}

void append_ordered_decimal(const Decimal& decimal, std::string& out) {
  if (decimal.zero()) {
    out += static_cast<char>(key_none);
    return;
  }
  out += static_cast<char>(decimal.negative() ? key_negative : key_positive);
  const std::size_t from = out.size();
  const Scientific number = scientific(std::string_view(decimal.text()).substr(decimal.negative() ? 1 : 0));
  append_big_endian(static_cast<std::uint64_t>(number.exponent + exponent_bias), 4, out);
  for (std::size_t i = 0; i < number.digits.size(); i += 2) {
    const int tens = number.digits[i] - '0';
    const int ones = i + 1 < number.digits.size() ? number.digits[i + 1] - '0' : 0;
    out += static_cast<char>(10 * tens + ones + 1);
  }
  out += '\x00';
  if (decimal.negative()) complement(out, from);
}

void append_ascending(const Datum& datum, std::string& out) {
  if (datum.absent()) {
    out += static_cast<char>(key_absent);
  } else if (datum.is_bool()) {
    out += static_cast<char>(datum.as_bool() ? key_true : key_false);
  } else if (datum.is_int()) {
    append_ordered_int(datum.as_int(), out);
  } else if (datum.is_double()) {
    out += static_cast<char>(key_double);
    append_big_endian(ordered_bits(datum.as_double()), 8, out);
  } else if (datum.is_decimal()) {
    append_ordered_decimal(datum.as_decimal(), out);
  } else if (datum.is_string()) {
    out += static_cast<char>(key_string);
    // A zero byte stands as 00 FF, the end as 00 01.
    std::string_view text = datum.as_string();
    for (std::size_t zero = 0; (zero = text.find('\x00')) != std::string_view::npos; text.remove_prefix(zero + 1))
      out.append(text, 0, zero + 1) += '\xFF';
    out += text;
    out += std::string_view("\x00\x01", 2);
  } else {
    out += static_cast<char>(key_list);
    for (const Datum& element : datum.as_list()) append_ascending(element, out);
    out += end_of_list;
  }
}

// Reads bytes that may be complemented.
class KeyReader {
 public:
  KeyReader(std::string_view bytes, bool descending) : rest_(bytes), mask_(descending ? 0xFF : 0) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }

  std::size_t pack(char* out) {
    unsigned char tag = 0;
    if (!byte(tag)) return 0;
    if (tag == key_string) {
      Extent extent;
      if (!find_string(extent)) return 0;
      const std::size_t before = write_packed_string(extent.size, out);
      decode(extent, out + before);
      return before + extent.size;
    }
    std::int64_t number = 0;
    if (!is_int(tag) || !read_int(tag, number)) return 0;
    return write_packed_int(number, out);
  }

  bool take(Datum& out, int depth) {
    unsigned char tag = 0;
    if (depth > deepest || !byte(tag)) return false;
    switch (tag) {
      case key_absent:
        out = Datum();
        return true;
      case key_false:
      case key_true:
        out = Datum(tag == key_true);
        return true;
      case key_double:
        return take_double(out);
      case key_none:
        out = Datum(Decimal());
        return true;
      case key_negative:
      case key_positive:
        return take_decimal(tag == key_negative, out);
      case key_string:
        return take_string(out);
      case key_list:
        return take_list(out, depth);
      default:
        return take_int(tag, out);
    }
  }

 private:
  bool byte(unsigned char& out) {
    if (rest_.empty()) return false;
    out = static_cast<unsigned char>(static_cast<unsigned char>(rest_.front()) ^ mask_);
    rest_.remove_prefix(1);
    return true;
  }

  // For eight bytes at once.
  [[nodiscard]] std::uint64_t masks() const { return mask_ == 0 ? 0 : ~std::uint64_t{0}; }

  bool number(std::size_t bytes, std::uint64_t& out) {
    if (rest_.size() < bytes) return false;
    if (bytes != 0 && rest_.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, rest_.data(), 8);
      if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
      const auto others = static_cast<unsigned>(64 - 8 * bytes);
      out = (others == 0 ? 0 : out << (64 - others)) | (word ^ masks()) >> others;
    } else {
      for (std::size_t i = 0; i < bytes; ++i)
        out = out << 8U | static_cast<unsigned char>(static_cast<unsigned char>(rest_[i]) ^ mask_);
    }
    rest_.remove_prefix(bytes);
    return true;
  }

  static bool is_int(unsigned char tag) { return tag >= key_zero - 8 && tag <= key_zero + 8; }
  bool read_int(unsigned char tag, std::int64_t& out) {
    const bool negative = tag < key_zero;
    const auto bytes = static_cast<std::size_t>(negative ? key_zero - tag : tag - key_zero);
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    if (!number(bytes, value)) return false;
    out = negative ? -static_cast<std::int64_t>(~value - 1) - 1 : static_cast<std::int64_t>(value);
    return true;
  }

  bool take_int(unsigned char tag, Datum& out) {
    std::int64_t number = 0;
    if (!is_int(tag) || !read_int(tag, number)) return false;
    out = Datum(number);
    return true;
  }

  bool take_double(Datum& out) {
    std::uint64_t bits = 0;
    if (!number(8, bits)) return false;
    out = Datum(from_ordered_bits(bits));
    return true;
  }

  bool take_decimal(bool negative, Datum& out) {
    const unsigned char before = mask_;
    if (negative) mask_ = static_cast<unsigned char>(~mask_);
    Scientific made;
    const bool good = take_scientific(made);
    mask_ = before;
    if (!good) return false;
    out = Datum(Decimal::from_canonical((negative ? "-" : "") + positional(made)));
    return true;
  }

  bool take_scientific(Scientific& out) {
    std::uint64_t exponent = 0;
    if (!number(4, exponent)) return false;
    out.exponent = static_cast<std::int64_t>(exponent) - exponent_bias;
    if (out.exponent > largest_exponent || out.exponent < -largest_exponent) return false;
    unsigned char pair = 0;
    while (byte(pair) && pair != 0) {
      if (pair > 100) return false;
      out.digits += static_cast<char>('0' + (pair - 1) / 10);
      out.digits += static_cast<char>('0' + (pair - 1) % 10);
    }
    if (pair != 0) return false;
    out.digits.erase(out.digits.find_last_not_of('0') + 1);
    return !out.digits.empty() && out.digits.front() != '0';
  }

  // Of a string, up to what ends it, and without what follows its zeros.
  struct Extent {
    std::size_t end = 0;
    std::size_t size = 0;
  };
  [[nodiscard]] bool find_string(Extent& out) const {
    std::size_t end = 0;
    std::size_t zeros = 0;
    for (;; end += 2, ++zeros) {
      end = rest_.find(static_cast<char>(mask_), end);
      if (end == std::string_view::npos || end + 1 == rest_.size()) return false;
      const auto next = static_cast<unsigned char>(static_cast<unsigned char>(rest_[end + 1]) ^ mask_);
      if (next == 0x01) break;
      if (next != 0xFF) return false;
    }
    out = {end, end - zeros};
    return true;
  }

  // Goes past it, too.
  void decode(const Extent& extent, char* to) {
    const char* from = rest_.data();
    const char* const end = from + extent.end;
    for (std::size_t zeros = extent.end - extent.size; zeros > 0; --zeros) {
      const auto* zero = static_cast<const char*>(std::memchr(from, mask_, static_cast<std::size_t>(end - from)));
      to = unmasked(from, zero, to);
      *to++ = '\x00';
      from = zero + 2;
    }
    unmasked(from, end, to);
    rest_.remove_prefix(extent.end + 2);
  }

  char* unmasked(const char* from, const char* end, char* to) const {
    const std::uint64_t mask = masks();
    for (; end - from >= 8; from += 8, to += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, 8);
      word ^= mask;
      std::memcpy(to, &word, 8);
    }
    for (; from != end; ++from, ++to) *to = static_cast<char>(static_cast<unsigned char>(*from) ^ mask);
    return to;
  }

  bool take_string(Datum& out) {
    Extent extent;
    if (!find_string(extent)) return false;
    std::array<char, 16> few{};
    if (extent.size <= few.size()) {
      decode(extent, few.data());
      out = Datum(std::string_view(few.data(), extent.size));
    } else {
      std::string made(extent.size, '\x00');
      decode(extent, made.data());
      out = Datum(std::move(made));
    }
    return true;
  }

  bool take_list(Datum& out, int depth) {
    Datum::List made;
    while (!rest_.empty()) {
      if ((static_cast<unsigned char>(rest_.front()) ^ mask_) == static_cast<unsigned char>(end_of_list)) {
        rest_.remove_prefix(1);
        out = Datum(std::move(made));
        return true;
      }
      Datum element;
      if (!take(element, depth + 1)) return false;
      made.push_back(std::move(element));
    }
    return false;
  }

  std::string_view rest_;
  unsigned char mask_;
};

}  // namespace

void append_ordered(const Datum& datum, bool descending, std::string& out) {
  const std::size_t from = out.size();
  append_ascending(datum, out);
  if (descending) complement(out, from);
}

bool take_ordered(std::string_view& bytes, bool descending, Datum& out) {
  KeyReader reader(bytes, descending);
  if (!reader.take(out, 0)) return false;
  bytes = reader.rest();
  return true;
}

std::size_t pack_ordered(std::string_view& bytes, bool descending, char* out) {
  KeyReader reader(bytes, descending);
  const std::size_t size = reader.pack(out);
  if (size != 0) bytes = reader.rest();
  return size;
}

}  // namespace noam::model
