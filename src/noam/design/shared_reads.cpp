#include "noam/design/shared_reads.h"

#include <algorithm>

namespace noam::design {

using model::ExprKind;

namespace {

class Marking {
 public:
  explicit Marking(const Program& program) : program_(program) {}

  void mark(Plan& plan) const {
    mark(plan.steps);
    mark(plan.late);
    // A limit may cut the row that the lookup found.
    if (!plan.steps.empty() && !plan.late.empty() && !plan.folded && !plan.limit)
      plan.steps.back().with_next = together(plan.steps.back(), plan.late.front());
    for (Plan& other : plan.otherwise) mark(other);
  }

 private:
  void mark(std::vector<Step>& steps) const {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i + 1 < steps.size()) steps[i].with_next = together(steps[i], steps[i + 1]);
      for (Plan& nested : steps[i].nested) mark(nested);
    }
  }

  [[nodiscard]] bool together(const Step& lookup, const Step& collect) const {
    if (lookup.kind != StepKind::Lookup || collect.kind != StepKind::Collect || collect.spread) return false;
    const Family& one = program_.design.families[lookup.family];
    const Family& many = program_.design.families[collect.family];
    if (one.collection != many.collection || !one.key.empty()) return false;
    // Elements come in the order in which entries lie.
    if (many.key.size() != 1 || many.key[0].descending) return false;
    if (lookup.block.size() != collect.block.size()) return false;
    for (std::size_t i = 0; i < lookup.block.size(); ++i)
      if (!same_part(lookup, collect, i)) return false;
    return true;
  }

  // Whether a part of the block's key is the same in both.
  [[nodiscard]] bool same_part(const Step& lookup, const Step& collect, std::size_t part) const {
    const KeySource& first = lookup.block[part];
    const KeySource& second = collect.block[part];
    if (first.kind != KeySource::Kind::Value || second.kind != KeySource::Kind::Value) return false;
    if (second.value.kind != ExprKind::Slot) return alike(first.value, second.value);
    const std::uint32_t slot = second.value.index;
    if (first.slot == slot) return true;
    // The lookup fills the slot from the key of its block, or from a cell that holds the same.
    const FamilyLogic& logic = program_.logics[lookup.family];
    bool same = first.value.kind == ExprKind::Slot && first.value.index == slot;
    for (const Output& output : lookup.outputs) {
      if (output.slot != slot || !output.place.inside.empty()) continue;
      same = (output.place.kind == Place::Kind::Block && output.place.index == part) ||
             (output.place.kind == Place::Kind::Cell && alike(logic.cells[output.place.index], logic.block[part]));
    }
    return same;
  }

  const Program& program_;
};

}  // namespace

void mark_shared_reads(Program& program) {
  const Marking marking(program);
  for (Plan& plan : program.queries) marking.mark(plan);
  for (EntityPlan& entity : program.entities) marking.mark(entity.load);
}

}  // namespace noam::design
