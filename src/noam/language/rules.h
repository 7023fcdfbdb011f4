#pragma once

#include "noam/language/diagnostics.h"
#include "noam/language/tree.h"
#include "noam/model/model.h"

namespace noam::language {

// What is asked of a model as a whole, once its text is understood. The list is in rules.cpp.
void check_rules(const model::Model& model, Diagnostics& diagnostics);

// Silences lints and warnings where the text says so: `// allow: code, code` alone above a line speaks of that line and
// of the declaration or collection that begins in it; beside a line, of that line and of what ends in it.
void apply_allowances(const Tree& tree, const SourceFile& source, Diagnostics& diagnostics);

}  // namespace noam::language
