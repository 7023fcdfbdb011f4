#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

// Names that a database takes: legal, stable, readable, and no two alike.
namespace noam::schemas {

struct NameRules {
  std::size_t longest = 48;  // bytes
  bool lower_case = false;   // capitals become small, `GameInfo` is `game_info`: the database does not tell them apart
  bool tells_case = true;    // `Game` and `game` are two names
  std::string_view others = "_";               // beside ASCII letters and digits
  bool letter_first = true;                    // nothing else begins a name
  bool digit_first = true;                     // where no letter has to, a digit may
  std::span<const std::string_view> reserved;  // in small letters: a name that is one gets a `_` behind it
};

constexpr std::size_t word_count(std::string_view text) {
  std::size_t out = text.empty() ? 0 : 1;
  for (const char c : text) out += c == ' ' ? 1 : 0;
  return out;
}

// What a text has between its spaces, for lists of many words.
template <std::size_t count>
constexpr std::array<std::string_view, count> split_words(std::string_view text) {
  std::array<std::string_view, count> out;
  for (std::string_view& word : out) {
    word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : text.size());
  }
  return out;
}

// The name without regard to others: what is not allowed becomes `_`; one that is too long keeps its beginning, and
// its end tells it from others.
std::string legal_name(const NameRules& rules, std::string_view wanted);

// A place where each name is given once.
class Namer {
 public:
  explicit Namer(const NameRules& rules) : rules_(rules) {}

  // The first who asks gets the name as it is; who asks later, for one that is taken, one with an end of its own, which
  // depends on what was wanted alone.
  std::string give(std::string_view wanted);
  // A second choice, where the first is taken.
  std::string give(std::string_view wanted, std::string_view otherwise);

 private:
  [[nodiscard]] std::string told_apart(std::string name) const;

  NameRules rules_;
  std::set<std::string> taken_;
};

}  // namespace noam::schemas
