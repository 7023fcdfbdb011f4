#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace noam::language {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t bytes = 1;  // how many it takes; 1 where the byte is no part of valid UTF-8
  bool valid = true;
};

// The code point that begins at an offset, which must lie in the text.
inline CodePoint code_point_at(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(offset);
  if (first < 0x80) return {first, 1, true};
  const std::uint32_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || text.size() - offset <= more) return {first, 1, false};
  char32_t value = first & (0x3FU >> more);
  for (std::uint32_t i = 1; i <= more; ++i) {
    if ((byte(offset + i) & 0xC0U) != 0x80U) return {first, 1, false};
    value = value << 6U | (byte(offset + i) & 0x3FU);
  }
  const bool overlong = (more == 2 && value < 0x800) || (more == 3 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {first, 1, false};
  return {value, more + 1, true};
}

inline void append_utf8(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0U | value >> 6U);
    put(0x80U | (value & 0x3FU));
  } else if (value < 0x10000) {
    put(0xE0U | value >> 12U);
    put(0x80U | (value >> 6U & 0x3FU));
    put(0x80U | (value & 0x3FU));
  } else {
    put(0xF0U | value >> 18U);
    put(0x80U | (value >> 12U & 0x3FU));
    put(0x80U | (value >> 6U & 0x3FU));
    put(0x80U | (value & 0x3FU));
  }
}

}  // namespace noam::language
