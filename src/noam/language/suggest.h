#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace noam::language {

// What the writer of `word` may have meant: the candidate that differs least from it, if it is near enough to be a
// slip of the hand or of the shift key; the first of equals. Never `word` itself.
std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace noam::language
