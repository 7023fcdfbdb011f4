#include "noam/compile/compile.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "noam/design/strategies.h"
#include "noam/language/analysis.h"
#include "noam/language/parser.h"
#include "noam/language/rules.h"
#include "noam/language/suggest.h"

namespace noam {

Compilation compile(const language::SourceFile& source) {
  Compilation out;
  out.tree = language::parse(source, out.diagnostics);
  model::Model model = language::analyze(out.tree, source, out.diagnostics);
  model.text.text = source.text();
  out.model = std::make_shared<const model::Model>(std::move(model));
  language::apply_allowances(out.tree, source, out.diagnostics);
  out.diagnostics.sort();
  return out;
}

std::vector<Compilation> compile_all(const std::vector<language::SourceFile>& sources) {
  std::vector<Compilation> all;
  std::unordered_map<std::string, std::size_t> models;
  for (const language::SourceFile& source : sources) {
    all.push_back(compile(source));
    Compilation& last = all.back();
    if (last.tree.model.missing()) continue;
    const auto [first, fresh] = models.emplace(std::string(last.tree.model.text), all.size() - 1);
    if (fresh) continue;
    last.diagnostics
        .error(language::DiagnosticCode::DuplicateModel, last.tree.model.span,
               fmt::format("model `{}` is also defined in {}", first->first, sources[first->second].name()))
        .hint("a model is one file: merge the files, or rename this model");
    last.diagnostics.sort();
  }
  return all;
}

Result<ModelPointer> compile_model(const language::SourceFile& source) {
  Compilation compilation = compile(source);
  if (compilation.diagnostics.has_errors()) return Error{language::render(compilation.diagnostics, source)};
  return std::move(compilation.model);
}

Result<design::Program> compile_program(ModelPointer model, std::string_view strategy) {
  NOAM_RETURN_IF_ERROR(find_strategy(*model, strategy));
  design::Design design = design::choose_design(*model, strategy);
  return design::make_program(std::move(model), std::move(design));
}

Result<design::Program> compile_program(const language::SourceFile& source, std::string_view strategy) {
  NOAM_ASSIGN_OR_RETURN(ModelPointer model, compile_model(source));
  return compile_program(std::move(model), strategy);
}

std::vector<std::string> strategies_of(const model::Model& model) {
  std::vector<std::string> names(std::begin(design::strategy_names), std::end(design::strategy_names));
  for (const model::WrittenDesign& design : model.designs) names.push_back(design.name);
  return names;
}

Result<void> find_strategy(const model::Model& model, std::string_view strategy) {
  const std::vector<std::string> names = strategies_of(model);
  if (std::find(names.begin(), names.end(), strategy) != names.end()) return {};
  if (strategy == "advised")
    return Error{fmt::format("strategy `advised` is not implemented yet; available: {}", fmt::join(names, ", "))};
  const auto near = language::closest(strategy, std::vector<std::string_view>(names.begin(), names.end()));
  return Error{fmt::format("no strategy or design `{}`; {}available: {}", strategy,
                           near ? fmt::format("did you mean `{}`? ", *near) : "", fmt::join(names, ", "))};
}

}  // namespace noam
