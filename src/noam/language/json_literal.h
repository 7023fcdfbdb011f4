#pragma once

#include <string_view>

namespace noam::language {

// Whether a json can hold the text: JSON as RFC 8259 has it, its integers of 64 bits (see parse_json).
bool is_json(std::string_view text);

}  // namespace noam::language
