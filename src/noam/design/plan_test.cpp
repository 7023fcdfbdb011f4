#include "noam/design/plan.h"

#include <gtest/gtest.h>

namespace noam::design {
namespace {

model::Expr slot(std::uint32_t index) {
  model::Expr out;
  out.kind = model::ExprKind::Slot;
  out.index = index;
  return out;
}

model::Expr both(model::Expr a, model::Expr b) {
  model::Expr out;
  out.kind = model::ExprKind::List;
  out.operands = {std::move(a), std::move(b)};
  return out;
}

using Slots = std::vector<std::uint32_t>;

TEST(OuterSlots, AreThoseBeforeThePlansOwn) {
  Plan plan;
  plan.first_slot = 10;
  plan.slots = 13;
  EXPECT_EQ(outer_slots(plan), Slots());
  plan.columns.push_back({"n", both(slot(3), both(slot(11), slot(3)))});
  EXPECT_EQ(outer_slots(plan), Slots({3}));
}

TEST(OuterSlots, AreFoundWhereverAPlanReadsThem) {
  Plan inner;
  inner.first_slot = 30;
  inner.columns.push_back({"x", slot(0)});
  inner.columns.push_back({"y", slot(25)});  // of the plan around it

  Plan other;
  other.first_slot = 20;
  other.group_by.push_back(slot(1));

  Step step;
  step.kind = StepKind::Lookup;
  step.block.emplace_back().value = slot(2);
  step.block.back().high = slot(3);
  step.block.back().slot = 21;
  step.prefix.emplace_back().value = slot(4);
  step.range.low = slot(5);
  step.range.high = slot(6);
  step.checks.push_back({{}, slot(7)});
  step.found = slot(8);
  step.expr = slot(9);
  step.nested.push_back(inner);

  Plan plan;
  plan.first_slot = 20;
  plan.steps.push_back(step);
  plan.late.emplace_back().expr = slot(10);
  plan.folds.emplace_back().operand = slot(11);
  plan.folds.back().folded_count = 12;
  plan.folds.back().folded_value = 13;
  plan.order_by.push_back({slot(14), false});
  plan.limit = slot(15);
  plan.weight = 16;
  plan.otherwise.push_back(other);
  Slots all(17);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  EXPECT_EQ(outer_slots(plan), all);
}

}  // namespace
}  // namespace noam::design
