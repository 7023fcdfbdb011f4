#include "noam/runtime/base_entries.h"

#include <algorithm>
#include <functional>

#include "noam/base/check.h"

namespace noam::runtime {

using model::Datum;
using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

Datum key_of(const model::Entity& entity, const Datum::List& fields) {
  if (entity.key.size() == 1) return fields[entity.key[0]];
  Datum::List parts;
  for (const std::uint32_t part : entity.key) parts.push_back(fields[part]);
  return parts;
}

BaseEntries::BaseEntries(const design::Program& program)
    : program_(program), families_(program.model->entities.size()) {
  for (std::uint32_t f = 0; f < program.design.families.size(); ++f) {
    const design::Family& family = program.design.families[f];
    if (family.purpose != design::Purpose::Base) continue;
    const design::FamilyLogic& logic = program.logics[f];
    const std::uint32_t instance = logic.body.nodes[0];
    const model::Type& type = logic.logical.nodes[instance].type;
    const model::Entity& entity = program.model->entity(type.entity());
    const auto fields = static_cast<std::uint32_t>(entity.fields.size());
    const auto slot = [](std::uint32_t index, const model::Type& of) {
      Expr expr;
      expr.kind = ExprKind::Slot;
      expr.index = index;
      expr.type = of;
      return expr;
    };
    const std::function<Expr(const Expr&)> over_slots = [&](const Expr& expr) -> Expr {
      const bool of_variable = !expr.operands.empty() && expr.operands[0].kind == ExprKind::Variable;
      if (expr.kind == ExprKind::Field && of_variable && expr.operands[0].index == instance)
        return slot(expr.index, expr.type);
      if (expr.kind == ExprKind::Call && of_variable &&
          (expr.function == Function::Position || expr.function == Function::MapKey))
        return slot(fields + 1, expr.type);
      if (expr.kind == ExprKind::Variable && expr.index == instance) {
        Expr key;
        key.kind = ExprKind::Instance;
        key.type = type;
        for (const std::uint32_t part : entity.key) key.operands.push_back(slot(part, entity.fields[part].type));
        return key;
      }
      if (expr.kind == ExprKind::Variable) return slot(fields, expr.type);
      Expr out = expr;
      for (Expr& operand : out.operands) operand = over_slots(operand);
      return out;
    };
    BaseFamily base;
    base.family = f;
    for (const Expr& part : logic.block) base.block.push_back(over_slots(part));
    for (const Expr& part : logic.key) base.key.push_back(over_slots(part));
    for (const Expr& cell : logic.cells) base.cells.push_back(over_slots(cell));
    families_[static_cast<std::size_t>(type.entity())].push_back(std::move(base));
  }
}

const BaseEntries::BaseFamily& BaseEntries::find(model::EntityId id, std::uint32_t family) const {
  const auto& families = families_[static_cast<std::size_t>(id)];
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const BaseFamily& base) { return base.family == family; });
  check(found != families.end(), "a base family is one of its entity");
  return *found;
}

Row BaseEntries::known_by(model::EntityId id, const Datum& key) const {
  const model::Entity& entity = program_.model->entity(id);
  Row row(entity.fields.size() + 2);
  for (std::size_t i = 0; i < entity.key.size(); ++i)
    row[entity.key[i]] = entity.key.size() == 1 ? key : key.as_list()[i];
  return row;
}

stores::EntryRef BaseEntries::place(const BaseFamily& base, const Row& row) const {
  stores::EntryRef out;
  out.block.collection = program_.design.families[base.family].collection;
  out.family = base.family;
  out.block.key.reserve(base.block.size());
  out.key.reserve(base.key.size());
  Environment environment;
  environment.model = program_.model.get();
  for (const Expr& part : base.block) out.block.key.push_back(evaluate(environment, part, row));
  for (const Expr& part : base.key) out.key.push_back(evaluate(environment, part, row));
  return out;
}

std::optional<Instance> BaseEntries::instance_of(const stores::EntryRef& entry) const {
  for (std::size_t id = 0; id < families_.size(); ++id) {
    for (const BaseFamily& base : families_[id]) {
      if (base.family != entry.family) continue;
      const model::Entity& entity = program_.model->entities[id];
      Datum::List fields(entity.fields.size());
      std::vector<bool> known(entity.fields.size());
      const auto learn = [&](const std::vector<Expr>& parts, const stores::Key& values) {
        for (std::size_t i = 0; i < parts.size() && i < values.size(); ++i) {
          if (parts[i].kind != ExprKind::Slot || parts[i].index >= fields.size()) continue;
          fields[parts[i].index] = values[i];
          known[parts[i].index] = true;
        }
      };
      learn(base.block, entry.block.key);
      learn(base.key, entry.key);
      if (!std::all_of(entity.key.begin(), entity.key.end(), [&](std::uint32_t part) { return known[part]; }))
        return std::nullopt;
      return Instance{static_cast<model::EntityId>(id), key_of(entity, fields)};
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> BaseEntries::family_by_key(model::EntityId id) const {
  const std::vector<std::uint32_t>& key = program_.model->entity(id).key;
  const std::function<bool(const Expr&)> known = [&](const Expr& expr) {
    if (expr.kind == ExprKind::Slot) return std::find(key.begin(), key.end(), expr.index) != key.end();
    return std::all_of(expr.operands.begin(), expr.operands.end(), known);
  };
  for (const BaseFamily& base : families_[static_cast<std::size_t>(id)])
    if (std::all_of(base.block.begin(), base.block.end(), known)) return base.family;
  return std::nullopt;
}

stores::EntryRef BaseEntries::head_of(model::EntityId id, std::uint32_t family, const Datum& key) const {
  return place(find(id, family), known_by(id, key));
}

BaseEntries::Entry BaseEntries::element_of(model::EntityId id, std::uint32_t family, const Datum& key,
                                           std::int64_t position, const Datum& element) const {
  const BaseFamily& base = find(id, family);
  Row row = known_by(id, key);
  row[row.size() - 2] = element;
  row[row.size() - 1] = position;
  stores::Key columns;
  columns.reserve(base.cells.size());
  Environment environment;
  environment.model = program_.model.get();
  for (const Expr& cell : base.cells) columns.push_back(evaluate(environment, cell, row));
  return {place(base, row), std::move(columns)};
}

std::vector<BaseEntries::Entry> BaseEntries::of(model::EntityId id, const Datum::List& fields, const Datum& due) const {
  std::vector<Entry> out;
  const model::Entity& entity = program_.model->entity(id);
  Environment environment;
  environment.model = program_.model.get();
  for (const BaseFamily& base : families_[static_cast<std::size_t>(id)]) {
    const design::Family& family = program_.design.families[base.family];
    Row row = fields;
    row.resize(fields.size() + 2);
    const auto entry = [&] {
      stores::EntryRef ref = place(base, row);
      stores::Key columns;
      columns.reserve(base.cells.size() + family.hidden.size());
      for (const Expr& cell : base.cells) columns.push_back(evaluate(environment, cell, row));
      return std::pair(std::move(ref), std::move(columns));
    };
    if (!family.elements) {
      auto [ref, columns] = entry();
      for (const design::Hidden& hidden : family.hidden) {
        if (hidden.kind == design::HiddenKind::Due) {
          columns.push_back(due);
          continue;
        }
        const Datum& of = fields[hidden.of];
        if (entity.fields[hidden.of].type.kind == TypeKind::List) {
          columns.emplace_back(static_cast<std::int64_t>(of.as_list().size()));
        } else {
          Datum::List keys;
          for (const Datum& item : of.as_list())
            keys.push_back(entity.fields[hidden.of].type.kind == TypeKind::Map ? item.as_list()[0] : item);
          columns.emplace_back(std::move(keys));
        }
      }
      const bool empty = std::all_of(columns.begin(), columns.end(), [](const Datum& at) {
        return at.absent() || (at.is_list() && at.as_list().empty());
      });
      if (family.existence || !empty) out.emplace_back(std::move(ref), std::move(columns));
      continue;
    }
    const Datum::List& elements = fields[*family.elements].as_list();
    const bool map = entity.fields[*family.elements].type.kind == TypeKind::Map;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      row[fields.size()] = map ? elements[i].as_list()[1] : elements[i];
      row[fields.size() + 1] = map ? elements[i].as_list()[0] : Datum(static_cast<std::int64_t>(i));
      out.push_back(entry());
    }
  }
  return out;
}

}  // namespace noam::runtime
