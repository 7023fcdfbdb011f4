#include "noam/design/derived_rows.h"

#include <utility>

namespace noam::design {

using model::Expr;
using model::ExprKind;

DerivedRows derived_rows(const FamilyLogic& logic) {
  DerivedRows out{logic.logical, logic.body, {}, 0};
  std::vector<OutputColumn>& columns = out.body.columns;
  columns.clear();
  for (const auto* parts : {&logic.block, &logic.key})
    for (const Expr& part : *parts) columns.push_back({"", part});
  for (const Expr& cell : logic.cells) {
    if (cell.kind != ExprKind::Fold) {
      columns.push_back({"", cell});
    } else if (!cell.operands.empty()) {
      columns.push_back({"", cell.operands[0]});
    } else {
      Expr one;
      one.kind = ExprKind::Constant;
      one.type = model::scalar(model::TypeKind::Int);
      one.constant = std::int64_t{1};
      columns.push_back({"", std::move(one)});
    }
  }
  for (const std::uint32_t node : out.body.nodes) {
    for (Expr& expr : identity(logic.logical, node)) {
      columns.push_back({"", std::move(expr)});
      ++out.identity_size;
    }
  }
  return out;
}

DerivedRows derived_rows(const FamilyLogic& logic, const std::vector<Expr>& known) {
  DerivedRows out = derived_rows(logic);
  for (const Expr& expr : known) {
    Node node;
    node.kind = NodeKind::Given;
    node.type = expr.type;
    out.logical.nodes.push_back(node);
    const auto index = static_cast<std::uint32_t>(out.logical.nodes.size() - 1);
    out.given.push_back({node_expr(out.logical, index), static_cast<std::uint32_t>(out.given.size())});
    out.body.where.push_back(equal_expr(expr, node_expr(out.logical, index)));
  }
  return out;
}

std::optional<EntryRows> plan_entry(const Program& program, const Upkeep& upkeep) {
  const Planner planner(*program.model, program.design);
  const FamilyLogic& logic = program.logics[upkeep.family];
  const Family& family = program.design.families[upkeep.family];
  std::vector<Expr> known = logic.block;
  const bool whole_block = family.limit.has_value();
  if (!whole_block) known.insert(known.end(), logic.key.begin(), logic.key.end());
  PlannerOptions options;
  options.scans = false;
  options.capped = false;
  options.instead_of = upkeep.family;
  // From bases alone, if they tell.
  for (options.max_stratum = 0; options.max_stratum <= family.stratum; ++options.max_stratum) {
    DerivedRows rows = derived_rows(logic, known);
    if (auto plan = planner.plan(rows.logical, rows.body, rows.given, options))
      return EntryRows{std::move(*plan), whole_block};
  }
  return std::nullopt;
}

}  // namespace noam::design
