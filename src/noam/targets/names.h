#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

// Names that a database takes: legal, stable, readable, and no two alike.
namespace noam::targets {

struct NameRules {
  std::size_t longest = 48;  // bytes
  bool lower_case = false;   // capitals become small, `GameInfo` is `game_info`: the database does not tell them apart
  bool tells_case = true;    // `Game` and `game` are two names
  std::string_view others = "_";               // beside ASCII letters and digits
  bool letter_first = true;                    // a digit does not begin a name
  std::span<const std::string_view> reserved;  // in small letters: a name that is one gets a `_` behind it
};

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

}  // namespace noam::targets
