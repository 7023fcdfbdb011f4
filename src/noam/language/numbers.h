#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace noam::language {

// Numbers as they are written, underscores allowed.
std::optional<std::int64_t> integer_value(std::string_view written);  // none: a point, or it does not fit
std::optional<double> number_value(std::string_view written);  // infinite: it does not fit; none: it is no number
std::string without_underscores(std::string_view written);

// The minutes in `minute`, `hours`, `days`, `week` …
std::optional<std::int64_t> unit_minutes(std::string_view unit);

}  // namespace noam::language
