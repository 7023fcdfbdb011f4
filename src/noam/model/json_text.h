#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "noam/base/result.h"
#include "noam/model/datum_json.h"
#include "noam/model/model.h"

// JSON as it comes from outside.
namespace noam::model {

inline constexpr std::size_t deepest_json = 200;

// The names of members and the positions that lead to something, from the outside in.
using JsonPath = std::vector<std::variant<std::string, std::size_t>>;

// An integer beyond 64 bits, which nlohmann holds as the double nearest to it.
struct RoundedInteger {
  JsonPath path;
  std::string digits;
};

struct JsonText {
  nlohmann::ordered_json json;
  std::vector<RoundedInteger> rounded;
};

// One JSON text (RFC 8259) in UTF-8, nested at most `deepest_json` deep. Of a name that an object has twice the last
// one counts. The error says what is wrong with it: `byte 17: …`.
Result<JsonText> parse_json(std::string_view text);

// A json is given back as it came, so what was rounded is refused (`value`) where it lies in a json: in the value of
// this type, which `outer` leads to. `name` is what a refusal calls that value; without one it says the reason alone.
std::optional<Refusal> refuse_rounded(const Model& model, const Type& type, const std::vector<RoundedInteger>& rounded,
                                      const JsonPath& outer, const std::string& name);

}  // namespace noam::model
