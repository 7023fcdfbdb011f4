#include "noam/stores/key_bytes.h"

#include <bit>
#include <utility>

namespace noam::stores {

namespace {

using model::Datum;
using model::Decimal;

// Deeper than any key; what is deeper was not written by us.
constexpr unsigned deepest = 100;

void write_string(std::string_view string, std::string& out) {
  write_number(string.size(), out);
  out += string;
}

void write_datum(const Datum& datum, std::string& out) {
  if (datum.absent()) {
    out += 'a';
  } else if (datum.is_bool()) {
    out += datum.as_bool() ? 't' : 'f';
  } else if (datum.is_int()) {
    write_number(static_cast<std::uint64_t>(datum.as_int()), out += 'i');
  } else if (datum.is_double()) {
    write_number(std::bit_cast<std::uint64_t>(datum.as_double()), out += 'd');
  } else if (datum.is_decimal()) {
    write_string(datum.as_decimal().text(), out += 'n');
  } else if (datum.is_string()) {
    write_string(datum.as_string(), out += 's');
  } else {
    write_key(datum.as_list(), out += 'l');
  }
}

}  // namespace

void write_number(std::uint64_t number, std::string& out) {
  for (unsigned bit = 0; bit < 64; bit += 8) out += static_cast<char>((number >> bit) & 0xFFU);
}

void write_key(const Key& key, std::string& out) {
  write_number(key.size(), out);
  for (const Datum& datum : key) write_datum(datum, out);
}

std::string_view KeyReader::bytes(std::uint64_t count) {
  if (failed_ || count > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint64_t KeyReader::number() {
  std::uint64_t result = 0;
  unsigned bit = 0;
  for (const char byte : bytes(sizeof result)) {
    result |= std::uint64_t{static_cast<unsigned char>(byte)} << bit;
    bit += 8;
  }
  return result;
}

Key KeyReader::key() {
  Key result;
  if (++depth_ > deepest) failed_ = true;
  for (std::uint64_t left = number(); left > 0 && !failed_; --left) result.push_back(datum());
  --depth_;
  if (failed_) result.clear();
  return result;
}

Datum KeyReader::datum() {
  const std::string_view kind = bytes(1);
  if (failed_) return {};
  switch (kind.front()) {
    case 'a':
      return {};
    case 't':
      return true;
    case 'f':
      return false;
    case 'i':
      return static_cast<std::int64_t>(number());
    case 'd':
      return std::bit_cast<double>(number());
    case 'n': {
      std::string digits = string();
      if (digits.empty() || digits.find_first_not_of("-.0123456789") != std::string::npos) failed_ = true;
      return failed_ ? Datum() : Decimal::from_canonical(std::move(digits));
    }
    case 's':
      return string();
    case 'l':
      return key();
    default:
      failed_ = true;
      return {};
  }
}

}  // namespace noam::stores
