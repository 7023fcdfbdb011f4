#include "noam/language/json_literal.h"

#include <nlohmann/json.hpp>

namespace noam::language {

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

}  // namespace noam::language
