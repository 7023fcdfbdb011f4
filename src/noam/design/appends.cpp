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

// Whether this is the field of the instance, or made of it.
bool reads_field(const FamilyLogic& logic, const Expr& expr, std::uint32_t field) {
  const bool variable = !expr.operands.empty() && expr.operands[0].kind == ExprKind::Variable;
  if (expr.kind == ExprKind::Field && variable && expr.operands[0].index == logic.body.nodes[0])
    return expr.index == field;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const Expr& operand) { return reads_field(logic, operand, field); });
}

// The only place of the field is a cell of the family that tells that the instance is there.
std::optional<AppendPlan> find_inner_append(const Program& program, model::EntityId id, std::uint32_t field) {
  const model::Entity& entity = program.model->entity(id);
  std::optional<AppendPlan> out;
  for (std::uint32_t f = 0; f < program.design.families.size(); ++f) {
    const Family& family = program.design.families[f];
    const FamilyLogic& logic = program.logics[f];
    if (family.purpose != Purpose::Base || logic.logical.nodes[logic.body.nodes[0]].type.entity() != id) continue;
    for (std::uint32_t i = 0; i < logic.cells.size(); ++i) {
      if (!reads_field(logic, logic.cells[i], field)) continue;
      const bool whole = logic.cells[i].kind == ExprKind::Field && family.cells[i].shape == model::CellShape::Plain;
      const bool found = whole && family.existence && !family.elements && are_known(entity, logic, logic.block) &&
                         are_known(entity, logic, logic.key);
      if (out || !found) return std::nullopt;
      out = AppendPlan{field, f, i, std::nullopt};
    }
  }
  return out;
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
  if (!elements) return find_inner_append(program, id, field);
  if (!head) return std::nullopt;
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
