#include "noam/language/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace noam::language {

std::string without_underscores(std::string_view written) {
  std::string out(written);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  return out;
}

std::optional<std::int64_t> integer_value(std::string_view written) {
  const std::string digits = without_underscores(written);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<double> number_value(std::string_view written) {
  const std::string digits = without_underscores(written);
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (problem == std::errc::result_out_of_range) return HUGE_VAL;
  if (problem != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> unit_minutes(std::string_view unit) {
  if (unit == "minute" || unit == "minutes") return 1;
  if (unit == "hour" || unit == "hours") return 60;
  if (unit == "day" || unit == "days") return 24 * 60;
  if (unit == "week" || unit == "weeks") return 7 * 24 * 60;
  return std::nullopt;
}

}  // namespace noam::language
