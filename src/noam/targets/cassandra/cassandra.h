#pragma once

#include <span>

#include "noam/schemas/cassandra/types.h"
#include "noam/targets/target.h"

// CQL. A collection is a table whose partitions are its blocks; what a block has once are static columns, entries are
// rows under clustering columns. See the README that is generated.
namespace noam::targets::cassandra {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
using schemas::cassandra::reserved;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::cassandra
