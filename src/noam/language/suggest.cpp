#include "noam/language/suggest.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <unicode/uchar.h>

#include "noam/language/unicode.h"

namespace noam::language {

namespace {

constexpr std::size_t longest = 64;

// The letters of a word without their case; longer words are not guessed at.
struct Letters {
  std::array<char32_t, longest> at;
  std::size_t size = 0;

  bool operator==(const Letters& other) const {
    return std::equal(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(size), other.at.begin(),
                      other.at.begin() + static_cast<std::ptrdiff_t>(other.size));
  }
};

bool fold(std::string_view word, Letters& out) {
  out.size = 0;
  for (std::size_t i = 0; i < word.size();) {
    const CodePoint letter = code_point_at(word, i);
    if (out.size == longest) return false;
    out.at[out.size++] =
        letter.value < 0x80 && (letter.value < 'A' || letter.value > 'Z')
            ? letter.value
            : static_cast<char32_t>(u_foldCase(static_cast<UChar32>(letter.value), U_FOLD_CASE_DEFAULT));
    i += letter.bytes;
  }
  return true;
}

// Insertions, deletions, replacements and swaps of neighbours, counted no further than `bound`.
unsigned distance(const Letters& a, const Letters& b, unsigned bound) {
  const std::size_t difference = a.size > b.size ? a.size - b.size : b.size - a.size;
  if (difference > bound) return bound + 1;
  std::array<std::array<unsigned, longest + 1>, 3> rows;
  unsigned* before = rows[0].data();
  unsigned* previous = rows[1].data();
  unsigned* row = rows[2].data();
  for (std::size_t j = 0; j <= b.size; ++j) previous[j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size; ++i) {
    const std::size_t from = i > bound ? i - bound : 1;
    const std::size_t to = std::min(b.size, i + bound);
    row[from - 1] = from == 1 ? static_cast<unsigned>(i) : bound + 1;
    unsigned least = row[from - 1];
    for (std::size_t j = from; j <= to; ++j) {
      const bool same = a.at[i - 1] == b.at[j - 1];
      unsigned best = previous[j - 1] + (same ? 0 : 1);
      best = std::min(best, row[j - 1] + 1);
      if (j < i + bound) best = std::min(best, previous[j] + 1);
      if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1]) {
        best = std::min(best, before[j - 2] + 1);
      }
      row[j] = best;
      least = std::min(least, best);
    }
    if (least > bound) return bound + 1;
    unsigned* const oldest = before;
    before = previous;
    previous = row;
    row = oldest;
  }
  return previous[b.size];
}

unsigned slips_allowed(std::size_t letters) {
  if (letters <= 1) return 0;
  if (letters <= 4) return 1;
  return letters <= 8 ? 2 : 3;
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> candidates) {
  Letters wanted;
  if (word.empty() || !fold(word, wanted)) return std::nullopt;
  unsigned bound = slips_allowed(wanted.size);
  std::optional<std::string_view> best;
  Letters letters;
  for (const std::string_view candidate : candidates) {
    if (candidate == word || candidate.empty()) continue;
    const std::size_t furthest = 4 * (wanted.size + bound);
    if (candidate.size() > furthest || !fold(candidate, letters)) continue;
    if (letters == wanted) return candidate;
    if (bound == 0) continue;
    // Of two short words that share no letter none was meant.
    const unsigned slips = distance(wanted, letters, bound);
    if (slips > bound || slips >= std::max(wanted.size, letters.size)) continue;
    best = candidate;
    bound = slips - 1;
  }
  if (best || wanted.size < 3) return best;
  // `user` for `username`, `orders_of` for `orders`: one is the beginning of the other, and no second one is.
  for (const std::string_view candidate : candidates) {
    if (candidate.size() < 3 || candidate == word) continue;
    if (candidate.substr(0, word.size()) != word && word.substr(0, candidate.size()) != candidate) continue;
    if (best) return std::nullopt;
    best = candidate;
  }
  return best;
}

}  // namespace noam::language
