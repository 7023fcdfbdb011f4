#pragma once

#include <string>

#include "noam/targets/documents.h"
#include "noam/targets/mongodb/javascript.h"

namespace noam::targets::mongodb {

// A script for the shell that makes collections, with what their documents must be like, and indexes.
std::string schema_script(const Outline& outline, const documents::Layout& layout);

// What finds the entries of a block in their order; empty where `_id` does.
Js index_keys(const documents::Kind& kind);

}  // namespace noam::targets::mongodb
