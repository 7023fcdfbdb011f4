#include "noam/model/writing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/support.h"

// What noam writes for what it understood is noam again, and means the same.
namespace noam::tests {

namespace {

struct Edit {
  Span span;
  std::string text;
};

std::string written(const model::Model& model, const model::WrittenCollection& collection) {
  const std::vector<model::Parameter> none;
  const model::Scope scope{model, collection.variables, none};
  const std::uint32_t bare = collection.from.at(0);
  std::string text = "collection " + model::written_name(collection.name) + " of " +
                     model::written_sources(scope, collection.from) + " by ";
  for (std::size_t i = 0; i < collection.by.size(); ++i)
    text += (i == 0 ? "" : ", ") + model::written(scope, collection.by[i], bare);
  for (const model::TargetOption& option : collection.options)
    text += " with " + option.target + "(" + model::written_name(option.name) + ": " +
            model::written(scope, option.value) + ")";
  text += " {";
  for (const model::WrittenFamily& family : collection.families)
    for (const std::string& clause : model::written_clauses(scope, family, bare)) text += " " + clause;
  return text + " }";
}

// Every select, every expression of a change and every collection of a design, replaced by what is written for it.
std::string rewritten(const language::SourceFile& source, const Compilation& compilation) {
  const model::Model& model = *compilation.model;
  std::vector<Edit> edits;
  std::size_t queries = 0;
  std::size_t commands = 0;
  std::size_t designs = 0;
  for (const language::Declaration& declaration : compilation.tree.declarations) {
    if (const auto* query = std::get_if<language::QueryDecl>(&declaration)) {
      const model::Query& read = model.queries[queries++];
      const model::Scope scope{model, read.variables, read.parameters};
      edits.push_back({query->select.span, model::written(scope, read.select)});
    } else if (const auto* command = std::get_if<language::CommandDecl>(&declaration)) {
      const model::Command& read = model.commands[commands++];
      const model::Scope scope{model, read.variables, read.parameters};
      for (std::size_t i = 0; i < read.changes.size(); ++i) {
        const language::Change& written = command->changes[i];
        const model::Change& change = read.changes[i];
        using enum model::ChangeKind;
        if (change.kind == Require || change.kind == Append || change.kind == Add)
          edits.push_back({written.argument.span, model::written(scope, change.argument)});
        if (change.where) edits.push_back({written.where->span, model::written(scope, *change.where)});
        if (change.kind != Update && change.kind != UpdateWhere) continue;
        for (std::size_t a = 0; a < change.assignments.size(); ++a) {
          edits.push_back({written.assignments[a].target.span,
                           model::written(scope, change.assignments[a].target, change.variable)});
          edits.push_back({written.assignments[a].value.span, model::written(scope, change.assignments[a].value)});
        }
      }
    } else if (const auto* design = std::get_if<language::DesignDecl>(&declaration)) {
      const model::WrittenDesign& read = model.designs[designs++];
      for (std::size_t i = 0; i < read.collections.size(); ++i)
        edits.push_back({design->collections[i].span, written(model, read.collections[i])});
    }
  }
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.span.begin > b.span.begin; });
  std::string text(source.text());
  for (const Edit& edit : edits) text.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
  return text;
}

// Selects compared without their places.
bool same_select(const model::Select& a, const model::Select& b) {
  model::Expr left;
  model::Expr right;
  left.select = {a};
  right.select = {b};
  return model::same(left, right);
}

// Collections compared without their places.
void forget_places(model::Expr& expr) {
  expr.span = {};
  for (model::Expr& operand : expr.operands) forget_places(operand);
}

void forget_places(std::vector<model::Part>& parts) {
  for (model::Part& part : parts) {
    part.span = {};
    forget_places(part.expr);
  }
}

void forget_places(std::vector<model::Cell>& cells) {
  for (model::Cell& cell : cells) {
    cell.span = {};
    forget_places(cell.expr);
    forget_places(cell.order_by);
    forget_places(cell.cells);
  }
}

model::WrittenCollection without_places(model::WrittenCollection collection) {
  collection.span = {};
  forget_places(collection.by);
  for (model::Variable& variable : collection.variables) {
    variable.span = {};
    forget_places(variable.source);
  }
  for (model::TargetOption& option : collection.options) forget_places(option.value);
  for (model::WrittenFamily& family : collection.families) {
    family.span = {};
    forget_places(family.key);
    forget_places(family.cells);
    if (family.where) forget_places(*family.where);
  }
  return collection;
}

}  // namespace

TEST(Writing, OfWhatWasUnderstoodMeansTheSame) {
  std::vector<std::filesystem::path> files = files_below("examples", ".noam");
  files.push_back(source_dir() / "tests/models/sink.noam");
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    const language::SourceFile source(file.string(), read_file(file));
    const Compilation first = compile(source);
    ASSERT_FALSE(first.diagnostics.has_errors()) << language::render(first.diagnostics, source);
    const language::SourceFile again("again.noam", rewritten(source, first));
    const Compilation second = compile(again);
    ASSERT_FALSE(second.diagnostics.has_errors()) << language::render(second.diagnostics, again);
    ASSERT_EQ(first.model->queries.size(), second.model->queries.size());
    for (std::size_t i = 0; i < first.model->queries.size(); ++i)
      EXPECT_TRUE(same_select(first.model->queries[i].select, second.model->queries[i].select))
          << first.model->queries[i].name;
    for (std::size_t i = 0; i < first.model->commands.size(); ++i) {
      const auto& before = first.model->commands[i].changes;
      const auto& after = second.model->commands[i].changes;
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t c = 0; c < before.size(); ++c) {
        EXPECT_TRUE(model::same(before[c].argument, after[c].argument)) << first.model->commands[i].name;
        ASSERT_EQ(before[c].assignments.size(), after[c].assignments.size());
        for (std::size_t a = 0; a < before[c].assignments.size(); ++a)
          EXPECT_TRUE(model::same(before[c].assignments[a].value, after[c].assignments[a].value))
              << first.model->commands[i].name;
      }
    }
    ASSERT_EQ(first.model->designs.size(), second.model->designs.size());
    for (std::size_t i = 0; i < first.model->designs.size(); ++i) {
      const auto& before = first.model->designs[i].collections;
      const auto& after = second.model->designs[i].collections;
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t c = 0; c < before.size(); ++c)
        EXPECT_TRUE(without_places(before[c]) == without_places(after[c])) << written(*first.model, before[c]);
    }
  }
}

}  // namespace noam::tests
