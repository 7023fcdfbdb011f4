#pragma once

#include <string_view>

namespace noam::targets {

// A table in Markdown: the bytes that model::append_ordered makes, for pages of targets whose keys have them.
extern const std::string_view ordered_bytes_table;

}  // namespace noam::targets
