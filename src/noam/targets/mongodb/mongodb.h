#pragma once

#include <span>

#include "noam/targets/documents.h"
#include "noam/targets/target.h"

// Documents of BSON. A block is a document; what has a key of its own inside a block, and is no element of a field, is
// a document each. See the README that is generated.
namespace noam::targets::mongodb {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;
extern const documents::Style style;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::mongodb
