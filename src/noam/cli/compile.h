#pragma once

#include <string>
#include <vector>

#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"
#include "noam/model/model.h"

namespace noam {

// What became of a text. The tree points into the source, which must outlive it.
struct Compilation {
  language::Tree tree;
  model::Model model;  // to be used only where there are no errors
  language::Diagnostics diagnostics;
};

// The steps of the pipeline, in their order; the only place that knows it.
Compilation compile(const language::SourceFile& source);

// Each text by itself, and then what is wrong between them: two that define the same model.
std::vector<Compilation> compile_all(const std::vector<language::SourceFile>& sources);

}  // namespace noam
