#pragma once

#include <span>

#include "noam/targets/target.h"

// Oracle NoSQL Database: tables whose shard key is the block key, child tables for what a block has several of; and the
// same as pairs of keys and values. See the README that is generated.
namespace noam::targets::oracle_nosql {

extern const Capabilities capabilities;
extern const std::span<const Option> options;
extern const std::span<const std::string_view> reserved;

Generated generate(const Outline& outline, const design::Sample* sample);
std::vector<Measure> measure(const Outline& outline);
std::vector<ListedStatement> statements(const Outline& outline);

}  // namespace noam::targets::oracle_nosql
