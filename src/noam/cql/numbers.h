#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

// Whole numbers as the protocol writes them: the most significant byte first, two's complement.
namespace noam::cql {

template <typename Number>
void append_number(std::string& out, Number number) {
  const auto bits = static_cast<std::make_unsigned_t<Number>>(number);
  for (std::size_t i = sizeof(Number); i-- > 0;) out.push_back(static_cast<char>(bits >> (8 * i) & 0xFFU));
}

// Of exactly as many bytes.
template <typename Number>
Number number_of(std::string_view bytes) {
  std::make_unsigned_t<Number> bits = 0;
  for (const char byte : bytes) bits = static_cast<decltype(bits)>(bits << 8 | static_cast<unsigned char>(byte));
  return static_cast<Number>(bits);
}

}  // namespace noam::cql
