#pragma once

#include <span>

#include "noam/targets/target.h"

// Amazon DynamoDB. What a block has once, and the elements of its lists, are attributes of one item; other entries are
// items under a sort key. See the README that is generated.
namespace noam::targets::dynamodb {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::dynamodb
