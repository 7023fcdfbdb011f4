#include "noam/language/rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "noam/language/source.h"
#include "noam/language/suggest.h"

namespace noam::language {

namespace {

using model::TypeKind;
using MExpr = model::Expr;
using MKind = model::ExprKind;

// A transient instance is not kept; what is kept of it is folds, keyed by its own fields, times of them and references.
class TransientUse {
 public:
  TransientUse(const model::Model& model, const std::vector<model::Variable>& variables, Diagnostics& diagnostics)
      : model_(model), variables_(variables), diagnostics_(diagnostics) {}

  void check(const model::Select& select) {
    for (const std::uint32_t variable : select.from) {
      look_inside(variables_[variable].source, true);
      if (is_transient(variables_[variable].type)) check_variable(select, variable);
    }
    for (const model::Column& column : select.columns) look_inside(column.expr, false);
    if (select.where) look_inside(*select.where, false);
    for (const MExpr& group : select.group_by) look_inside(group, false);
    for (const model::OrderTerm& term : select.order_by) look_inside(term.expr, false);
  }

  // Nested selects, and ways back whose members would be needed.
  void look_inside(const MExpr& expr, bool counted) {
    if (expr.kind == MKind::Inverse && !counted) {
      const model::Role& role = model_.roles[expr.index];
      if (model_.entity(role.from).transient)
        refuse(expr.span, model_.entity(role.from), "the instances", "count them, or bind them and fold");
    }
    if (expr.kind == MKind::Field && expr.operands[0].type.kind == TypeKind::Reference &&
        expr.operands[0].kind != MKind::Variable && is_transient(expr.operands[0].type)) {
      const model::Entity& entity = model_.entity(expr.operands[0].type.entity());
      if (std::find(entity.key.begin(), entity.key.end(), expr.index) == entity.key.end())
        refuse(expr.span, entity, "an instance by its key", "remove `transient`");
    }
    for (const MExpr& operand : expr.operands) look_inside(operand, expr.kind == MKind::CountOf);
    for (const model::Select& nested : expr.select) check(nested);
  }

  // A field, a part of a reference's key, or a time function of a field.
  [[nodiscard]] bool simple(const MExpr& expr, std::uint32_t variable) const {
    switch (expr.kind) {
      case MKind::Field:
        if (expr.operands[0].kind == MKind::Variable) return expr.operands[0].index == variable;
        if (expr.operands[0].type.kind == TypeKind::Reference) {
          const model::Entity& entity = model_.entity(expr.operands[0].type.entity());
          return std::find(entity.key.begin(), entity.key.end(), expr.index) != entity.key.end() &&
                 simple(expr.operands[0], variable);
        }
        return expr.operands[0].type.kind == TypeKind::Value && simple(expr.operands[0], variable);
      case MKind::Call:
        switch (expr.function) {
          case model::Function::Minute:
          case model::Function::Hour:
          case model::Function::Day:
          case model::Function::Week:
          case model::Function::Month:
          case model::Function::Year:
          case model::Function::ToDecimal:
            return simple(expr.operands[0], variable);
          default:
            return false;
        }
      default:
        return false;
    }
  }

  [[nodiscard]] bool mentions(const MExpr& expr, std::uint32_t variable) const {
    if (expr.kind == MKind::Variable && expr.index == variable) return true;
    for (const MExpr& operand : expr.operands)
      if (mentions(operand, variable)) return true;
    for (const model::Select& nested : expr.select) {
      for (const model::Column& column : nested.columns)
        if (mentions(column.expr, variable)) return true;
      if (nested.where && mentions(*nested.where, variable)) return true;
      for (const std::uint32_t inner : nested.from)
        if (mentions(variables_[inner].source, variable)) return true;
    }
    return false;
  }

  void check_fold(const MExpr& fold, std::uint32_t variable, const model::Entity& entity) {
    if (fold.operands.empty() || !mentions(fold.operands[0], variable)) return;
    const MExpr& of = fold.operands[0];
    if ((fold.fold == model::Fold::Sum || fold.fold == model::Fold::Avg) && of.type.kind == TypeKind::Float)
      refuse(fold.span, entity, "a sum of floats",
             "a sum of floats cannot be maintained: declare the field as `decimal` or `int`");
    else if (!simple(of, variable) && of.kind != MKind::Variable)
      refuse(of.span, entity, "a fold of a computed value", "fold a field");
  }

  void refuse(Span span, const model::Entity& entity, const std::string& what, const std::string& hint) {
    diagnostics_
        .report(DiagnosticCode::TransientQuery, span,
                fmt::format("this needs {} of the transient entity `{}`", what, entity.name))
        .label(entity.span, "its instances are not stored, only folds over them")
        .hint(hint);
  }

  [[nodiscard]] bool is_transient(const model::Type& type) const {
    return type.kind == TypeKind::Reference && model_.entity(type.entity()).transient;
  }

 private:
  void check_variable(const model::Select& select, std::uint32_t variable) {
    const model::Entity& entity = model_.entity(variables_[variable].type.entity());
    if (!select.folded) {
      refuse(variables_[variable].span, entity, "the instances",
             "fold them: `count(*)`, `group by …`; or remove `transient`");
      return;
    }
    for (const MExpr& group : select.group_by)
      if (mentions(group, variable) && !simple(group, variable))
        refuse(group.span, entity, "grouping by something other than a field",
               "group by a field, a time function of it such as `hour(v.at)`, or a reference");
    const std::function<void(const MExpr&)> folds = [&](const MExpr& expr) {
      if (expr.kind == MKind::Fold) {
        check_fold(expr, variable, entity);
        return;
      }
      if (expr.kind == MKind::Select && mentions(expr, variable)) {
        refuse(expr.span, entity, "a nested select for each instance", "fold over one `from`");
        return;
      }
      for (const MExpr& operand : expr.operands) folds(operand);
    };
    for (const model::Column& column : select.columns) folds(column.expr);
    for (const model::OrderTerm& term : select.order_by) folds(term.expr);
    if (select.where) check_filter(*select.where, variable, entity);
  }

  // Equality and ranges on what the folds are keyed by; `and` between them.
  void check_filter(const MExpr& where, std::uint32_t variable, const model::Entity& entity) {
    if (!mentions(where, variable)) return;
    if (where.kind == MKind::Call) {
      switch (where.function) {
        case model::Function::And:
          for (const MExpr& operand : where.operands) check_filter(operand, variable, entity);
          return;
        case model::Function::Equal:
        case model::Function::Less:
        case model::Function::LessEqual:
        case model::Function::Greater:
        case model::Function::GreaterEqual:
        case model::Function::Between:
        case model::Function::In: {
          const auto fine = [&](const MExpr& operand) {
            return !mentions(operand, variable) || simple(operand, variable) || operand.kind == MKind::Variable;
          };
          if (std::all_of(where.operands.begin(), where.operands.end(), fine)) return;
          break;
        }
        default:
          break;
      }
    }
    if (where.kind == MKind::Field && simple(where, variable)) return;  // a bool alone
    refuse(where.span, entity, "a condition on each instance",
           "use only equality and ranges on its fields, on time functions of them, and on references, joined by `and`");
  }

  const model::Model& model_;
  const std::vector<model::Variable>& variables_;
  Diagnostics& diagnostics_;
};

void queries_never_need_transient_instances(const model::Model& model, Diagnostics& diagnostics) {
  const bool any = std::any_of(model.entities.begin(), model.entities.end(),
                               [](const model::Entity& entity) { return entity.transient; });
  if (!any) return;
  for (const model::Query& query : model.queries) TransientUse(model, query.variables, diagnostics).check(query.select);
  for (const model::Command& command : model.commands) {
    TransientUse use(model, command.variables, diagnostics);
    const std::function<void(const std::vector<model::Change>&)> walk = [&](const std::vector<model::Change>& changes) {
      for (const model::Change& change : changes) {
        use.look_inside(change.argument, false);
        if (change.where) use.look_inside(*change.where, false);
        for (const model::Assignment& assignment : change.assignments) use.look_inside(assignment.value, false);
        walk(change.body);
      }
    };
    walk(command.changes);
  }
}

void copies_hold_folds_of_transient_instances(const model::Model& model, Diagnostics& diagnostics) {
  for (const model::WrittenDesign& design : model.designs) {
    for (const model::WrittenCollection& collection : design.collections) {
      TransientUse use(model, collection.variables, diagnostics);
      for (const model::WrittenFamily& family : collection.families) {
        std::vector<std::uint32_t> scope = collection.from;
        scope.insert(scope.end(), family.from.begin(), family.from.end());
        for (const std::uint32_t variable : scope) {
          if (!use.is_transient(collection.variables[variable].type)) continue;
          if (collection.variables[variable].kind == model::SourceKind::References) continue;  // asks no instance
          const model::Entity& entity = model.entity(collection.variables[variable].type.entity());
          const auto key = [&](const model::Part& part) {
            if (use.mentions(part.expr, variable) && !use.simple(part.expr, variable))
              use.refuse(part.span, entity, "a key that is not a field",
                         "use a field, a time function of it such as `hour(v.at)`, or a reference");
          };
          std::for_each(collection.by.begin(), collection.by.end(), key);
          std::for_each(family.key.begin(), family.key.end(), key);
          const std::function<void(const std::vector<model::Cell>&)> walk = [&](const std::vector<model::Cell>& cells) {
            for (const model::Cell& cell : cells) {
              if (cell.shape != model::CellShape::Plain)
                walk(cell.cells);
              else if (cell.expr.kind == MKind::Fold)
                use.check_fold(cell.expr, variable, entity);
              else if (use.mentions(cell.expr, variable))
                use.refuse(cell.span, entity, "a field of each instance", "move it to the key, or fold it");
            }
          };
          walk(family.cells);
        }
      }
    }
  }
}

void values_are_used(const model::Model& model, Diagnostics& diagnostics) {
  std::vector<bool> used(model.values.size(), false);
  const std::function<void(const model::Type&)> mark = [&](const model::Type& type) {
    if (type.kind == TypeKind::Value) used[type.id] = true;
    for (const model::Type& argument : type.arguments) mark(argument);
  };
  for (const model::Entity& entity : model.entities)
    for (const model::Field& field : entity.fields) mark(field.type);
  for (const model::Value& value : model.values)
    for (const model::Field& field : value.fields) mark(field.type);
  for (const model::Query& query : model.queries)
    for (const model::Parameter& parameter : query.parameters) mark(parameter.type);
  for (const model::Command& command : model.commands)
    for (const model::Parameter& parameter : command.parameters) mark(parameter.type);
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      diagnostics
          .report(DiagnosticCode::UnusedValue, model.values[i].span,
                  fmt::format("the value `{}` is never used", model.values[i].name))
          .hint("use it in an entity, or delete it");
}

using Rule = void (*)(const model::Model&, Diagnostics&);

constexpr std::array<Rule, 3> rules = {
    queries_never_need_transient_instances,
    copies_hold_folds_of_transient_instances,
    values_are_used,
};

// The whole declarations and collections of a text, by where they begin and by where they end.
class Extents {
 public:
  explicit Extents(const Tree& tree) {
    for (const Declaration& declaration : tree.declarations) {
      by_begin_.push_back(std::visit([](const auto& one) { return one.span; }, declaration));
      if (const auto* design = std::get_if<DesignDecl>(&declaration))
        for (const CollectionDecl& collection : design->collections) by_begin_.push_back(collection.span);
    }
    by_end_ = by_begin_;
    std::sort(by_begin_.begin(), by_begin_.end(), [](Span a, Span b) { return a.begin < b.begin; });
    std::sort(by_end_.begin(), by_end_.end(), [](Span a, Span b) { return a.end < b.end; });
  }

  // The line, with all that begins in it.
  [[nodiscard]] Span forward(Span line) const {
    auto at = std::lower_bound(by_begin_.begin(), by_begin_.end(), line.begin,
                               [](Span one, std::uint32_t begin) { return one.begin < begin; });
    Span out = line;
    for (; at != by_begin_.end() && at->begin <= line.end; ++at) out = cover(out, *at);
    return out;
  }

  // The line, with all that ends in it.
  [[nodiscard]] Span backward(Span line) const {
    auto at = std::lower_bound(by_end_.begin(), by_end_.end(), line.begin,
                               [](Span one, std::uint32_t begin) { return one.end < begin; });
    Span out = line;
    for (; at != by_end_.end() && at->end <= line.end; ++at) out = cover(out, *at);
    return out;
  }

 private:
  std::vector<Span> by_begin_;
  std::vector<Span> by_end_;
};

}  // namespace

void check_rules(const model::Model& model, Diagnostics& diagnostics) {
  for (const Rule rule : rules) rule(model, diagnostics);
}

void apply_allowances(const Tree& tree, const SourceFile& source, Diagnostics& diagnostics) {
  std::optional<Extents> extents;  // few texts allow anything
  for (const Comment& comment : tree.comments) {
    std::string_view rest = comment.text;
    const auto skip_blanks = [&] {
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    };
    if (rest.substr(0, 2) != "//") continue;
    rest.remove_prefix(2);
    skip_blanks();
    if (rest.substr(0, 6) != "allow:") continue;
    rest.remove_prefix(6);
    const std::uint32_t line = source.position(comment.span.begin).line;
    const std::string_view before = source.text({source.line_start(line), comment.span.begin});
    const bool alone = before.find_first_not_of(" \t") == std::string_view::npos;
    const std::uint32_t meant = alone ? line + 1 : line;
    Span stretch;
    if (meant <= source.line_count()) {
      stretch.begin = source.line_start(meant);
      stretch.end = stretch.begin + static_cast<std::uint32_t>(source.line(meant).size());
      if (!extents) extents.emplace(tree);
      stretch = alone ? extents->forward(stretch) : extents->backward(stretch);
    }
    while (true) {
      skip_blanks();
      const std::size_t end = std::min(rest.find_first_of(", \t"), rest.size());
      const std::string_view name = rest.substr(0, end);
      if (!name.empty()) {
        const auto begin = static_cast<std::uint32_t>(name.data() - source.text().data());
        const Span span{begin, begin + static_cast<std::uint32_t>(name.size())};
        const auto code = find_code(name);
        if (!code) {
          std::vector<std::string_view> candidates;
          for (const CodeInfo& row : all_codes())
            if (row.severity != Severity::Error) candidates.push_back(row.name);
          auto report =
              diagnostics.report(DiagnosticCode::UnknownAllow, span, fmt::format("unknown diagnostic code `{}`", name));
          if (const auto near = closest(name, candidates)) report.hint(fmt::format("did you mean `{}`?", *near));
        } else if (info(*code).severity == Severity::Error) {
          diagnostics
              .report(DiagnosticCode::UnknownAllow, span, fmt::format("`{}` is an error and cannot be allowed", name))
              .hint("only lints and warnings can be allowed");
        } else if (stretch.end > 0) {
          diagnostics.allow(*code, stretch);
        }
      }
      rest.remove_prefix(end);
      skip_blanks();
      if (rest.empty() || rest.front() != ',') break;
      rest.remove_prefix(1);
    }
  }
}

}  // namespace noam::language
