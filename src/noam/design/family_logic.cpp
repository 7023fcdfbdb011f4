#include "noam/design/family_logic.h"

#include <algorithm>
#include <array>
#include <functional>

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

bool alike(const Expr& a, const Expr& b) {
  if (a.kind != b.kind || a.function != b.function || a.fold != b.fold || a.distinct != b.distinct ||
      a.index != b.index || a.operands.size() != b.operands.size())
    return false;
  if (a.kind == ExprKind::Constant && (a.type.kind != b.type.kind || a.constant != b.constant)) return false;
  const auto operands_alike = [&](std::size_t i, std::size_t j) { return alike(a.operands[i], b.operands[j]); };
  if (a.kind == ExprKind::Call && a.function == Function::Equal)
    return (operands_alike(0, 0) && operands_alike(1, 1)) || (operands_alike(0, 1) && operands_alike(1, 0));
  for (std::size_t i = 0; i < a.operands.size(); ++i)
    if (!operands_alike(i, i)) return false;
  return true;
}

bool computes(const Expr& expr) {
  const bool computed =
      expr.kind == ExprKind::Call && (expr.function == Function::Add || expr.function == Function::Subtract ||
                                      expr.function == Function::Multiply || expr.function == Function::Negate);
  return computed || std::any_of(expr.operands.begin(), expr.operands.end(), computes);
}

bool FamilyLogic::always_fits() const {
  const std::array parts = {&block, &key, &body.where};
  return std::none_of(parts.begin(), parts.end(), [](const std::vector<Expr>* exprs) {
    return std::any_of(exprs->begin(), exprs->end(), computes);
  });
}

Expr hidden_marker(Expr instance, std::uint32_t field) {
  Expr expr;
  expr.kind = ExprKind::Element;
  expr.index = field;
  expr.operands.push_back(std::move(instance));
  return expr;
}

std::vector<Expr> identity(const Logical& logical, std::uint32_t node) {
  const Node& at = logical.nodes[node];
  const Expr self = node_expr(logical, node);
  const auto call = [&](Function function, model::Type type) { return call_expr(function, std::move(type), {self}); };
  if (at.kind == NodeKind::Refreshed || at.kind == NodeKind::History) {
    Expr refreshed;
    refreshed.kind = ExprKind::Refreshed;
    refreshed.type = model::scalar(TypeKind::Timestamp);
    refreshed.operands.push_back(self);
    return {refreshed, call(Function::Position, model::scalar(TypeKind::Int))};
  }
  if (at.kind == NodeKind::Element && at.source.type.kind == TypeKind::List)
    return {call(Function::Position, model::scalar(TypeKind::Int))};
  if (at.kind == NodeKind::Element && at.source.type.kind == TypeKind::Map)
    return {call(Function::MapKey, at.source.type.arguments[0])};
  return {self};
}

std::vector<std::uint32_t> undetermined(const model::Model& model, const Logical& logical, const Body& body,
                                        const std::vector<const Expr*>& known) {
  std::vector<bool> determined(logical.nodes.size(), false);
  const auto is_known = [&](const Expr& expr) {
    return std::any_of(known.begin(), known.end(), [&](const Expr* at) { return alike(*at, expr); });
  };
  const std::function<bool(const Expr&)> fixed = [&](const Expr& expr) {
    if (is_known(expr) || expr.kind == ExprKind::Constant) return true;
    if (expr.kind == ExprKind::Variable) {
      if (determined[expr.index]) return true;
      const Node& node = logical.nodes[expr.index];
      return node.kind == NodeKind::Optional && fixed(node.source);
    }
    if (expr.kind == ExprKind::Select || expr.kind == ExprKind::Fold || expr.operands.empty()) return false;
    return std::all_of(expr.operands.begin(), expr.operands.end(), fixed);
  };
  const std::function<bool(const Expr&, int)> reference_fixed = [&](const Expr& reference, int depth) {
    if (fixed(reference)) return true;
    if (reference.type.kind != TypeKind::Reference || depth > 8) return false;
    const auto& key = model.entity(reference.type.entity()).key;
    return std::all_of(key.begin(), key.end(), [&](std::uint32_t part) {
      return reference_fixed(field_expr(model, reference, part), depth + 1);
    });
  };
  const auto by_equality = [&](const Expr& expr) {
    return std::any_of(body.where.begin(), body.where.end(), [&](const Expr& conjunct) {
      if (conjunct.kind != ExprKind::Call || conjunct.function != Function::Equal) return false;
      return (alike(conjunct.operands[0], expr) && fixed(conjunct.operands[1])) ||
             (alike(conjunct.operands[1], expr) && fixed(conjunct.operands[0]));
    });
  };
  const auto determines = [&](std::uint32_t index) {
    const Node& node = logical.nodes[index];
    const Expr self = node_expr(logical, index);
    const auto call_known = [&](Function function) { return is_known(call_expr(function, {}, {self})); };
    switch (node.kind) {
      case NodeKind::Instance: {
        if (is_known(self) || by_equality(self)) return true;
        const auto& key = model.entity(node.type.entity()).key;
        return std::all_of(key.begin(), key.end(), [&](std::uint32_t part) {
          const Expr field = field_expr(model, self, part);
          return reference_fixed(field, 0) || by_equality(field);
        });
      }
      case NodeKind::Element:
        if (!fixed(node.source)) return false;
        if (node.source.type.kind == TypeKind::List) return call_known(Function::Position);
        if (node.source.type.kind == TypeKind::Map) return call_known(Function::MapKey);
        return is_known(self) || by_equality(self) || reference_fixed(self, 0);
      case NodeKind::Word:
        return fixed(node.source) && is_known(self);
      case NodeKind::Refreshed:
        return call_known(Function::Position);
      case NodeKind::History: {
        Expr refreshed;
        refreshed.kind = ExprKind::Refreshed;
        refreshed.operands.push_back(self);
        return is_known(refreshed) && call_known(Function::Position);
      }
      case NodeKind::Optional:
      case NodeKind::Given:
        return true;
    }
    return false;
  };
  for (bool more = true; more;) {
    more = false;
    for (const std::uint32_t node : body.nodes) {
      if (determined[node] || !determines(node)) continue;
      determined[node] = true;
      more = true;
    }
  }
  std::vector<std::uint32_t> left;
  for (const std::uint32_t node : body.nodes)
    if (!determined[node]) left.push_back(node);
  return left;
}

namespace {

Expr replaced_variables(const Expr& expr, const std::function<Expr(std::uint32_t)>& node) {
  if (expr.kind == ExprKind::Variable) return node(expr.index);
  Expr out = expr;
  for (Expr& operand : out.operands) operand = replaced_variables(operand, node);
  return out;
}

// A cell as an expression of the collection's variables.
Expr cell_expr(const model::Cell& cell) {
  if (cell.shape == model::CellShape::Plain) return cell.expr;
  Expr row;
  row.kind = ExprKind::Record;
  row.type.kind = TypeKind::Row;
  for (const model::Cell& inner : cell.cells) {
    row.operands.push_back(cell_expr(inner));
    row.type.names.push_back(inner.name);
    row.type.arguments.push_back(row.operands.back().type);
  }
  if (cell.shape == model::CellShape::Object || cell.from.empty()) return row;
  model::Select select;
  select.from = cell.from;
  for (std::size_t i = 0; i < cell.cells.size(); ++i) {
    model::Column column;
    column.name = cell.cells[i].name;
    column.expr = row.operands[i];
    select.columns.push_back(std::move(column));
  }
  for (const model::Part& part : cell.order_by) select.order_by.push_back({part.expr, part.descending});
  // Always in an order, so that the list is the same whoever makes it.
  Expr limit;
  limit.kind = ExprKind::Constant;
  limit.type = model::scalar(TypeKind::Int);
  limit.constant = cell.limit ? static_cast<std::int64_t>(*cell.limit) : INT64_MAX;
  select.limit = std::move(limit);
  Expr out;
  out.kind = ExprKind::Select;
  out.type = row.type;
  out.type.kind = TypeKind::Rows;
  out.select.push_back(std::move(select));
  return out;
}

Expr replaced(const Expr& expr, const Expr& what, const Expr& by) {
  if (alike(expr, what)) return by;
  Expr out = expr;
  for (Expr& operand : out.operands) operand = replaced(operand, what, by);
  return out;
}

bool reads_beyond_key(const model::Model& model, const Expr& expr, std::uint32_t node) {
  if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable && expr.operands[0].index == node &&
      !is_key_part(model, expr.operands[0].type, expr.index))
    return true;
  if (expr.kind == ExprKind::Select) return true;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const Expr& at) { return reads_beyond_key(model, at, node); });
}

// What is kept of transient instances is kept by their references, whether the targets exist or not: nobody could find
// the instances again when a target appears.
void leave_out_targets(const model::Model& model, FamilyLogic& logic) {
  Body& body = logic.body;
  const auto transient = std::find_if(body.nodes.begin(), body.nodes.end(), [&](std::uint32_t node) {
    const Node& at = logic.logical.nodes[node];
    return at.is_instance() && model.entity(at.type.entity()).transient;
  });
  if (transient == body.nodes.end()) return;
  const std::uint32_t event = *transient;
  for (std::size_t i = 0; i < body.where.size();) {
    const Expr conjunct = body.where[i];
    std::optional<std::uint32_t> target;
    Expr field;
    if (conjunct.kind == ExprKind::Call && conjunct.function == Function::Equal) {
      for (std::size_t side = 0; side < 2; ++side) {
        const Expr& a = conjunct.operands[side];
        const Expr& b = conjunct.operands[1 - side];
        if (a.kind == ExprKind::Variable && a.index != event && logic.logical.nodes[a.index].is_instance() &&
            b.kind == ExprKind::Field && b.operands[0].kind == ExprKind::Variable && b.operands[0].index == event) {
          target = a.index;
          field = b;
        }
      }
    }
    bool beyond = !target;
    for (const Held& held : logic.held) beyond = beyond || reads_beyond_key(model, held.expr, *target);
    for (const Expr& at : body.where) beyond = beyond || reads_beyond_key(model, at, *target);
    if (beyond) {
      ++i;
      continue;
    }
    const Expr self = node_expr(logic.logical, *target);
    body.where.erase(body.where.begin() + static_cast<std::ptrdiff_t>(i));
    body.nodes.erase(std::find(body.nodes.begin(), body.nodes.end(), *target));
    for (auto* all : {&logic.block, &logic.key, &logic.cells, &body.where})
      for (Expr& at : *all) at = replaced(at, self, field);
    for (Held& held : logic.held) held.expr = replaced(held.expr, self, field);
    i = 0;
  }
}

}  // namespace

FamilyLogic take_apart(const model::Model& model, const Design& design, const Family& family) {
  FamilyLogic out;
  const Collection& collection = design.collection_of(family);
  // What a base holds is the field as it is kept; a copy reads it as a query does.
  const bool base = family.purpose == Purpose::Base;
  std::vector<model::Variable> variables = collection.variables;
  if (base)
    for (model::Variable& variable : variables)
      if (variable.kind == model::SourceKind::Path && variable.source.type.is_collection() &&
          variable.type.kind == TypeKind::Reference)
        variable.kind = model::SourceKind::References;
  Normalizer normalizer(model, out.logical, variables);
  normalizer.bind(family.from, out.body);
  if (family.where) normalizer.add_condition(normalizer.rewrite(*family.where), out.body);
  const auto rewrite = [&](const Expr& expr) -> Expr {
    if (!base) return normalizer.rewrite(expr);
    return replaced_variables(expr, [&](std::uint32_t variable) {
      return node_expr(out.logical, normalizer.node_of(variable));
    });
  };
  for (std::uint32_t i = 0; i < collection.by.size(); ++i) {
    out.block.push_back(rewrite(collection.by[i].expr));
    out.held.push_back({out.block.back(), {Place::Kind::Block, i, {}}});
  }
  for (std::uint32_t i = 0; i < family.key.size(); ++i) {
    out.key.push_back(rewrite(family.key[i].expr));
    out.held.push_back({out.key.back(), {Place::Kind::Key, i, {}}});
  }
  const std::function<void(const model::Cell&, const Place&)> hold = [&](const model::Cell& cell, const Place& place) {
    if (cell.shape == model::CellShape::Plain) out.held.push_back({rewrite(cell.expr), place});
    if (cell.shape == model::CellShape::List && !cell.from.empty())
      out.held.push_back({rewrite(cell_expr(cell)), place});
    if (cell.shape != model::CellShape::Object) return;
    for (std::uint32_t i = 0; i < cell.cells.size(); ++i) {
      Place inner = place;
      inner.inside.push_back(i);
      hold(cell.cells[i], inner);
    }
  };
  for (const model::Cell& cell : family.cells) out.cells.push_back(rewrite(cell_expr(cell)));
  for (std::uint32_t i = 0; i < family.cells.size(); ++i) hold(family.cells[i], {Place::Kind::Cell, i, {}});
  if (family.elements) out.element_node = normalizer.node_of(family.from.back());
  if (!family.copy()) return out;
  leave_out_targets(model, out);
  std::vector<const Expr*> known;
  for (const Expr& part : out.block) known.push_back(&part);
  for (const Expr& part : out.key) known.push_back(&part);
  out.collapsed = undetermined(model, out.logical, out.body, known);
  for (std::uint32_t i = 0; i < family.cells.size(); ++i) {
    const Expr& expr = family.cells[i].expr;
    if (family.cells[i].shape == model::CellShape::Plain && expr.kind == ExprKind::Fold &&
        expr.fold == model::Fold::Count && expr.operands.empty())
      out.weight = Place{Place::Kind::Cell, i, {}};
  }
  for (std::uint32_t i = 0; i < family.hidden.size(); ++i) {
    const Hidden& hidden = family.hidden[i];
    if (hidden.kind == HiddenKind::Sum || hidden.kind == HiddenKind::Counted) {
      Expr fold = rewrite(family.cells[hidden.of].expr);
      fold.fold = hidden.kind == HiddenKind::Sum ? model::Fold::Sum : model::Fold::Count;
      out.held.push_back({std::move(fold), {Place::Kind::Hidden, i, {}}});
    }
  }
  for (std::uint32_t i = 0; i < family.hidden.size(); ++i)
    if (family.hidden[i].kind == HiddenKind::Weight) out.weight = Place{Place::Kind::Hidden, i, {}};
  return out;
}

}  // namespace noam::design
