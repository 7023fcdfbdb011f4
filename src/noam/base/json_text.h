#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/result.h"

// JSON as it comes from outside.
namespace noam {

// Whether the text is JSON, without making a value of it.
bool is_json(std::string_view text);

// The steps to a place in a value: the name of a member, or the index of an element.
using JsonPath = std::vector<std::variant<std::string, std::size_t>>;

// An integer beyond 64 bits, which is held as the double nearest to it.
struct RoundedInteger {
  JsonPath path;
  std::string digits;
};

struct JsonText {
  Json json;
  std::vector<RoundedInteger> rounded;
};

inline constexpr std::size_t deepest_json = 200;

// One JSON text (RFC 8259) in UTF-8, nested at most so deep. If an object has a name twice, the last member counts, in
// the place of the first. The error says what is wrong with it: `byte 17: …`.
Result<JsonText> parse_json(std::string_view text, std::size_t deepest = deepest_json);

}  // namespace noam
