#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/base/result.h"

// The parts of a URL that statements and their parameters are named by.
namespace noam::server {

struct Target {
  std::vector<std::string> path;                                // its segments, decoded
  std::vector<std::pair<std::string, std::string>> parameters;  // of the query, decoded, in their order
};

// `/q/newest?username=ann`. An error if an escape is wrong.
Result<Target> parse_target(std::string_view text);

// As a value of a query, or as a segment of a path.
std::string escaped(std::string_view text);

}  // namespace noam::server
