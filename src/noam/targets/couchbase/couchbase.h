#pragma once

#include <span>

#include "noam/targets/documents.h"
#include "noam/targets/target.h"

// JSON documents under keys that are texts, and SQL++ (N1QL) over them. The layout is that of MongoDB. See the README
// that is generated.
namespace noam::targets::couchbase {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;
extern const documents::Style style;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::couchbase
