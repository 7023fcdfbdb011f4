#pragma once

#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"
#include "noam/model/model.h"

namespace noam::language {

// What the text means. Reports everything that is wrong, once; what depends on something wrong is left alone. The model
// may be used only where there are no errors.
model::Model analyze(const Tree& tree, const SourceFile& source, Diagnostics& diagnostics);

}  // namespace noam::language
