#include "noam/language/json_literal.h"

#include "noam/model/json_text.h"

namespace noam::language {

bool is_json(std::string_view text) {
  const auto read = parse_json(text);
  return read && read->rounded.empty();
}

}  // namespace noam::language
