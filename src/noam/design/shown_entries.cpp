#include "noam/design/shown_entries.h"

#include <optional>
#include <utility>

namespace noam::design {

using model::Expr;
using model::ExprKind;

namespace {

using Part = ShownColumn::Part;

// Each entry of a range of one block is a row, and they come as they are wanted.
bool rows_are_entries(const Plan& plan, const Design& design) {
  if (plan.steps.size() != 1 || !plan.late.empty() || plan.folded || plan.distinct || plan.weight) return false;
  if (!plan.sorted && (plan.ordered || plan.limit)) return false;
  const Step& step = plan.steps[0];
  return step.kind == StepKind::Lookup && step.one_block() &&
         step.prefix.size() < design.families[step.family].key.size() && !step.optional && step.checks.empty() &&
         !step.found_slot && !step.weight_slot;
}

// Where the step takes from what it puts into the slot.
std::optional<Part> part_of(const Step& step, const Expr& slot, std::size_t cells) {
  if (slot.kind != ExprKind::Slot) return std::nullopt;
  for (const Output& output : step.outputs) {
    if (output.slot != slot.index) continue;
    if (!output.place.inside.empty()) return std::nullopt;
    Part part{output.place, output.type.is_collection()};
    if (part.place.kind == Place::Kind::Hidden)
      part.place = {Place::Kind::Cell, static_cast<std::uint32_t>(cells + part.place.index), {}};
    return part;
  }
  for (std::uint32_t i = 0; i < step.block.size(); ++i)
    if (step.block[i].slot == slot.index) return Part{{Place::Kind::Block, i, {}}, false};
  return std::nullopt;
}

void mark(Plan& plan, const Design& design) {
  for (Plan& other : plan.otherwise) mark(other, design);
  if (!rows_are_entries(plan, design)) return;
  const Step& step = plan.steps[0];
  const std::size_t cells = design.families[step.family].cells.size();
  std::vector<ShownColumn> columns;
  for (const OutputColumn& column : plan.columns) {
    ShownColumn shown;
    shown.record = column.expr.kind == ExprKind::Record;
    const std::vector<Expr> alone{column.expr};
    for (const Expr& expr : shown.record ? column.expr.operands : alone) {
      auto part = part_of(step, expr, cells);
      if (!part) return;
      shown.parts.push_back(std::move(*part));
    }
    columns.push_back(std::move(shown));
  }
  plan.shown = std::move(columns);
}

}  // namespace

void mark_shown_entries(Program& program) {
  for (Plan& plan : program.queries) mark(plan, program.design);
}

}  // namespace noam::design
