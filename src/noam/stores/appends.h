#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/stores/store.h"

// Appends in the embedded store: what is to be appended lies beside the entry until somebody reads it, or RocksDB
// merges tables. Then bytes are put together; nothing is unpacked.
namespace noam::stores {

// What is written for an Append, and whether something is that.
std::string write_elements(const Append& append);
bool is_elements(std::string_view operand);

// The columns with all of these behind their lists; nothing where they do not fit together.
std::optional<std::string> append_elements(std::string_view columns, const std::vector<std::string_view>& operands);
// One that does what these do, one after the other.
std::optional<std::string> join_elements(const std::vector<std::string_view>& operands);

}  // namespace noam::stores
