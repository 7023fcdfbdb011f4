#include "noam/design/plan.h"

namespace noam::design {

namespace {

using Slots = std::vector<std::uint32_t>;

void collect_if_there(const std::optional<model::Expr>& expr, Slots& out) {
  if (expr) collect_slots(*expr, out);
}

void collect_of_plan(const Plan& plan, Slots& out);

void collect_of_step(const Step& step, Slots& out) {
  for (const auto* sources : {&step.block, &step.prefix}) {
    for (const KeySource& source : *sources) {
      collect_slots(source.value, out);
      collect_slots(source.high, out);
    }
  }
  collect_if_there(step.range.low, out);
  collect_if_there(step.range.high, out);
  for (const Check& check : step.checks) collect_slots(check.value, out);
  collect_slots(step.found, out);
  collect_slots(step.expr, out);
  for (const Plan& nested : step.nested) collect_of_plan(nested, out);
}

void collect_of_plan(const Plan& plan, Slots& out) {
  for (const auto* steps : {&plan.steps, &plan.late})
    for (const Step& step : *steps) collect_of_step(step, out);
  for (const model::Expr& expr : plan.group_by) collect_slots(expr, out);
  for (const FoldStep& fold : plan.folds) {
    collect_if_there(fold.operand, out);
    for (const auto& slot : {fold.folded_count, fold.folded_value})
      if (slot) out.push_back(*slot);
  }
  for (const model::OrderTerm& term : plan.order_by) collect_slots(term.expr, out);
  collect_if_there(plan.limit, out);
  for (const OutputColumn& column : plan.columns) collect_slots(column.expr, out);
  if (plan.weight) out.push_back(*plan.weight);
  for (const Plan& other : plan.otherwise) collect_of_plan(other, out);
}

}  // namespace

void collect_slots(const model::Expr& expr, Slots& out) {
  if (expr.kind == model::ExprKind::Slot) out.push_back(expr.index);
  for (const model::Expr& operand : expr.operands) collect_slots(operand, out);
}

Slots outer_slots(const Plan& plan) {
  Slots slots;
  collect_of_plan(plan, slots);
  std::erase_if(slots, [&](std::uint32_t slot) { return slot >= plan.first_slot; });
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

std::set<std::uint32_t> families_read(const Plan& plan) {
  std::set<std::uint32_t> out;
  const auto add = [&](const Plan& other) { out.merge(families_read(other)); };
  for (const auto* steps : {&plan.steps, &plan.late}) {
    for (const Step& step : *steps) {
      if (step.kind == StepKind::Lookup || step.kind == StepKind::Scan || step.kind == StepKind::Collect)
        out.insert(step.family);
      for (const Plan& nested : step.nested) add(nested);
    }
  }
  for (const Plan& otherwise : plan.otherwise) add(otherwise);
  return out;
}

}  // namespace noam::design
