#pragma once

#include <cstdint>

namespace noam {

// A stretch of a source text, in bytes from its beginning: [begin, end).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const Span&) const = default;
};

// The smallest span that holds both.
constexpr Span cover(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

}  // namespace noam
