#pragma once

#include <string_view>

namespace noam::targets::redis {

// The part of functions.lua that is the same for every model: it reads the table `families`, which stands before it,
// and its last lines register what the table `calls` names.
extern const std::string_view library_code;

}  // namespace noam::targets::redis
