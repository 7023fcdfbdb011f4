#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"
#include "noam/model/model.h"

// From a text to a program, which is what runs: text, model, design, program. The only place that knows these steps and
// their order.
namespace noam {

using ModelPointer = std::shared_ptr<const model::Model>;

// What became of a text. The tree points into the source, which must outlive it.
struct Compilation {
  language::Tree tree;
  ModelPointer model;  // always there; to be used only if there are no errors
  language::Diagnostics diagnostics;
};

// Text to model.
Compilation compile(const language::SourceFile& source);

// Each text by itself, and then what is wrong between them: two that define the same model.
std::vector<Compilation> compile_all(const std::vector<language::SourceFile>& sources);

// Text to model, for callers that do nothing with diagnostics but show them: they are the error's message, as `noam
// check` prints them.
Result<ModelPointer> compile_model(const language::SourceFile& source);

// Model to design to program, under a strategy (`eao`, `etf`, `normalized`) or a design of the model. The error is one
// line: there is no such strategy, or the design cannot be kept right.
Result<design::Program> compile_program(ModelPointer model, std::string_view strategy);

// All of it.
Result<design::Program> compile_program(const language::SourceFile& source, std::string_view strategy);

// The strategies, and then the designs of the model.
std::vector<std::string> strategies_of(const model::Model& model);

// An error in one line if the model has neither such a strategy nor such a design.
Result<void> find_strategy(const model::Model& model, std::string_view strategy);

}  // namespace noam
