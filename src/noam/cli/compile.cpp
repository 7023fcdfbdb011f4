#include "noam/cli/compile.h"

#include <unordered_map>

#include <fmt/format.h>

#include "noam/language/analysis.h"
#include "noam/language/parser.h"
#include "noam/language/rules.h"

namespace noam {

Compilation compile(const language::SourceFile& source) {
  Compilation out;
  out.tree = language::parse(source, out.diagnostics);
  out.model = language::analyze(out.tree, source, out.diagnostics);
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

}  // namespace noam
