#pragma once

#include <string_view>

namespace noam::language {

// Whether the text is JSON as RFC 8259 has it.
bool is_json(std::string_view text);

}  // namespace noam::language
