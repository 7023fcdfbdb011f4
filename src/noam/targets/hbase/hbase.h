#pragma once

#include <span>

#include "noam/targets/target.h"

// Apache HBase. A collection is a table, a block a row; what a block has once, and the elements of its lists, are cells
// of one column family, other entries are cells of a family of their own. See the README that is generated.
namespace noam::targets::hbase {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::hbase
