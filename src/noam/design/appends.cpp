#include "noam/design/appends.h"

#include <algorithm>

namespace noam::design {

using model::Expr;
using model::ExprKind;

namespace {

// What is known of an instance without its fields: its key. Of an element that is new: all.
bool is_known(const model::Entity& entity, const FamilyLogic& logic, const Expr& expr) {
  const std::uint32_t instance = logic.body.nodes[0];
  if (expr.kind == ExprKind::Variable) return expr.index == instance || expr.index == logic.element_node;
  const bool of_instance =
      expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable && expr.operands[0].index == instance;
  if (of_instance) return std::find(entity.key.begin(), entity.key.end(), expr.index) != entity.key.end();
  if (expr.kind == ExprKind::Select || expr.kind == ExprKind::Fold) return false;
  return std::all_of(expr.operands.begin(), expr.operands.end(),
                     [&](const Expr& operand) { return is_known(entity, logic, operand); });
}

bool are_known(const model::Entity& entity, const FamilyLogic& logic, const std::vector<Expr>& exprs) {
  return std::all_of(exprs.begin(), exprs.end(), [&](const Expr& expr) { return is_known(entity, logic, expr); });
}

// A copy follows this field of the entity.
bool is_copied(const Program& program, model::EntityId entity, std::uint32_t field) {
  const auto concerns = [&](const auto& plan) {
    return plan.entity == entity && std::find(plan.fields.begin(), plan.fields.end(), field) != plan.fields.end();
  };
  return std::any_of(program.upkeep.begin(), program.upkeep.end(), [&](const Upkeep& upkeep) {
    return std::any_of(upkeep.direct.begin(), upkeep.direct.end(), concerns) ||
           std::any_of(upkeep.indirect.begin(), upkeep.indirect.end(), concerns);
  });
}

std::optional<AppendPlan> find_append(const Program& program, model::EntityId id, std::uint32_t field) {
  const model::Entity& entity = program.model->entity(id);
  const bool symmetric = entity.fields[field].role && program.model->roles[*entity.fields[field].role].symmetric;
  if (entity.fields[field].type.kind != model::TypeKind::List || symmetric || entity.transient) return std::nullopt;
  if (!entity.require.empty() || is_copied(program, id, field)) return std::nullopt;
  std::optional<std::uint32_t> head;
  std::optional<std::uint32_t> elements;
  AppendPlan out;
  out.field = field;
  for (std::uint32_t f = 0; f < program.design.families.size(); ++f) {
    const Family& family = program.design.families[f];
    if (family.purpose != Purpose::Base) continue;
    const FamilyLogic& logic = program.logics[f];
    if (logic.logical.nodes[logic.body.nodes[0]].type.entity() != id) continue;
    if (family.elements == field) {
      if (elements || !are_known(entity, logic, logic.cells)) return std::nullopt;
      elements = f;
    } else if (family.existence) {
      for (std::uint32_t i = 0; i < family.hidden.size(); ++i) {
        if (family.hidden[i].kind != HiddenKind::Elements || family.hidden[i].of != field) continue;
        head = f;
        out.column = static_cast<std::uint32_t>(family.cells.size()) + i;
      }
    }
    if (family.elements == field || family.existence)
      if (!are_known(entity, logic, logic.block) || !are_known(entity, logic, logic.key)) return std::nullopt;
  }
  if (!head || !elements) return std::nullopt;
  out.head = *head;
  out.elements = *elements;
  return out;
}

}  // namespace

void find_appends(Program& program) {
  for (std::size_t e = 0; e < program.entities.size(); ++e)
    for (std::uint32_t field = 0; field < program.model->entities[e].fields.size(); ++field)
      if (const auto append = find_append(program, static_cast<model::EntityId>(e), field))
        program.entities[e].appends.push_back(*append);
}

const AppendPlan* append_of(const Program& program, const model::Change& change) {
  if (change.kind != model::ChangeKind::Append || change.path.kind != ExprKind::Field) return nullptr;
  const Expr& of = change.path.operands[0];
  if (of.kind == ExprKind::Field || of.kind == ExprKind::Element) return nullptr;
  for (const AppendPlan& append : program.entities[static_cast<std::size_t>(change.entity)].appends)
    if (append.field == change.path.index) return &append;
  return nullptr;
}

}  // namespace noam::design
