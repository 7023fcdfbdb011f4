#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace noam::targets {

// For people: what fits into a line stands in one. Does not end in a line break.
std::string print_json(const nlohmann::ordered_json& json, std::size_t width = 110);

}  // namespace noam::targets
