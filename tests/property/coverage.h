#pragma once

#include <set>
#include <string>

#include "noam/model/model.h"
#include "tests/property/case.h"

namespace noam::tests::property {

// What occurs in a case, by names such as "change append", "source inverse", "function between", "copy fold count".
std::set<std::string> features(const Case& one, const model::Model& model);

// All that a generator should reach in a few thousand cases.
std::set<std::string> wanted_features();

}  // namespace noam::tests::property
