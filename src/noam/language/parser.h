#pragma once

#include <string>

#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"

namespace noam::language {

// Never fails: what can't be understood is reported once and stays in the tree as unknown.
// The tree points into the source, which must outlive it.
Tree parse(const SourceFile& source, Diagnostics& diagnostics);

// The tree without its spans and comments, as nested parentheses: equal for texts that mean the same tree.
std::string dump(const Tree& tree);

}  // namespace noam::language
