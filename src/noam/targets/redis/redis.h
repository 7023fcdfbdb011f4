#pragma once

#include <span>

#include "noam/targets/target.h"

// Redis 7. A block is the keys with its hash tag: a hash with what the block has once and its elements, a hash and a
// sorted set for each family of entries; functions in Lua change it as a whole. See the README that is generated.
namespace noam::targets::redis {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::redis
