#pragma once

#include <string>

#include "noam/base/json.h"

namespace noam::targets {

// For people: what fits into a line stands in one. Does not end in a line break.
std::string print_json(const Json& json, std::size_t width = 110);

}  // namespace noam::targets
