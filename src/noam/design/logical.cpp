#include "noam/design/logical.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/design/family_logic.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::SourceKind;
using model::Type;
using model::TypeKind;

Expr node_expr(const Logical& logical, std::uint32_t node) {
  Expr expr;
  expr.kind = ExprKind::Variable;
  expr.index = node;
  expr.type = logical.nodes[node].type;
  return expr;
}

bool is_call(const Expr& expr, Function function) { return expr.kind == ExprKind::Call && expr.function == function; }

Body select_instance(const model::Model& model, model::EntityId entity, Logical& logical) {
  Node given;
  given.kind = NodeKind::Given;
  given.type = model::reference(entity);
  logical.nodes.push_back(given);
  Node target;
  target.kind = NodeKind::Optional;
  target.type = model::reference(entity);
  target.source = node_expr(logical, 0);
  logical.nodes.push_back(target);
  const Expr instance = node_expr(logical, 1);
  Body body;
  body.columns.push_back({"", instance});
  for (std::uint32_t i = 0; i < model.entity(entity).fields.size(); ++i)
    body.columns.push_back({"", field_expr(model, instance, i)});
  return body;
}

bool is_key_part(const model::Model& model, const Type& reference, std::uint32_t field) {
  const auto& key = model.entity(reference.entity()).key;
  return std::find(key.begin(), key.end(), field) != key.end();
}

Expr field_expr(const model::Model& model, Expr object, std::uint32_t field) {
  Expr expr;
  expr.kind = ExprKind::Field;
  expr.index = field;
  expr.type = object.type.kind == TypeKind::Row ? object.type.arguments[field] : model.fields(object.type)[field].type;
  expr.operands.push_back(std::move(object));
  return expr;
}

Expr call_expr(Function function, Type type, std::vector<Expr> operands) {
  Expr expr;
  expr.kind = ExprKind::Call;
  expr.function = function;
  expr.type = std::move(type);
  expr.operands = std::move(operands);
  return expr;
}

Expr equal_expr(Expr a, Expr b) {
  std::vector<Expr> operands;
  operands.push_back(std::move(a));
  operands.push_back(std::move(b));
  return call_expr(Function::Equal, model::scalar(TypeKind::Bool), std::move(operands));
}

namespace {

Expr contains_expr(Expr collection, Expr element) {
  std::vector<Expr> operands;
  operands.push_back(std::move(collection));
  operands.push_back(std::move(element));
  return call_expr(Function::Contains, model::scalar(TypeKind::Bool), std::move(operands));
}

bool is_equality(const Expr& expr) { return expr.kind == ExprKind::Call && expr.function == Function::Equal; }

void collect(const Logical& logical, const Expr& expr, std::vector<std::uint32_t>& nodes);

void collect(const Logical& logical, const Body& body, std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> inside;
  for (const auto& column : body.columns) collect(logical, column.expr, inside);
  for (const Expr& expr : body.where) collect(logical, expr, inside);
  for (const Expr& expr : body.group_by) collect(logical, expr, inside);
  for (const auto& term : body.order_by) collect(logical, term.expr, inside);
  if (body.limit) collect(logical, *body.limit, inside);
  for (const std::uint32_t node : body.nodes) {
    const Node& bound = logical.nodes[node];
    if (bound.kind == NodeKind::Element || bound.kind == NodeKind::Word) collect(logical, bound.source, inside);
  }
  for (const std::uint32_t node : inside) {
    // What hangs on something bound inside is inside, too.
    if (std::find(body.nodes.begin(), body.nodes.end(), node) != body.nodes.end()) continue;
    if (logical.nodes[node].kind == NodeKind::Optional) {
      std::vector<std::uint32_t> below;
      collect(logical, logical.nodes[node].source, below);
      const bool bound_inside = std::any_of(below.begin(), below.end(), [&](std::uint32_t at) {
        return std::find(body.nodes.begin(), body.nodes.end(), at) != body.nodes.end();
      });
      if (bound_inside) {
        for (const std::uint32_t at : below)
          if (std::find(body.nodes.begin(), body.nodes.end(), at) == body.nodes.end()) nodes.push_back(at);
        continue;
      }
    }
    nodes.push_back(node);
  }
}

void collect(const Logical& logical, const Expr& expr, std::vector<std::uint32_t>& nodes) {
  if (expr.kind == ExprKind::Variable) {
    nodes.push_back(expr.index);
    if (logical.nodes[expr.index].kind == NodeKind::Optional) collect(logical, logical.nodes[expr.index].source, nodes);
  }
  if (expr.kind == ExprKind::Select) collect(logical, logical.subs[expr.index].body, nodes);
  for (const Expr& operand : expr.operands) collect(logical, operand, nodes);
}

}  // namespace

void collect_nodes(const Logical& logical, const Expr& expr, std::vector<std::uint32_t>& nodes) {
  collect(logical, expr, nodes);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

std::uint32_t Normalizer::add_node(Node node) {
  out_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(out_.nodes.size() - 1);
}

std::uint32_t Normalizer::give(std::uint32_t variable) {
  Node node;
  node.kind = NodeKind::Given;
  node.name = variables_[variable].name;
  node.type = variables_[variable].type;
  nodes_[variable] = add_node(std::move(node));
  return *nodes_[variable];
}

std::uint32_t Normalizer::optional(const Expr& reference) {
  for (std::uint32_t i = 0; i < out_.nodes.size(); ++i)
    if (out_.nodes[i].kind == NodeKind::Optional && alike(out_.nodes[i].source, reference)) return i;
  Node node;
  node.kind = NodeKind::Optional;
  node.type = reference.type;
  node.type.optional = true;
  node.source = reference;
  return add_node(std::move(node));
}

Expr Normalizer::as_instance(const Expr& reference) {
  if (reference.kind == ExprKind::Variable) {
    const NodeKind kind = out_.nodes[reference.index].kind;
    if (kind == NodeKind::Instance || kind == NodeKind::Optional) return reference;
  }
  return node_expr(out_, optional(reference));
}

// "f refers to the target by this role": each f once.
Expr Normalizer::referring(std::uint32_t node, const model::Role& role, const Expr& target) const {
  Expr field = field_expr(model_, node_expr(out_, node), role.field);
  if (role.many && field.type.kind == TypeKind::Map && !role.map_key) {
    Type values = model::collection_of(TypeKind::List, field.type.element());
    return contains_expr(call_expr(Function::MapValues, std::move(values), {std::move(field)}), target);
  }
  if (role.many) return contains_expr(std::move(field), target);
  return equal_expr(std::move(field), target);
}

std::uint32_t Normalizer::inverse_sub(const Expr& target, std::uint32_t role_index, bool count) {
  const model::Role& role = model_.roles[role_index];
  Node node;
  node.kind = NodeKind::Instance;
  node.type = model::reference(role.from);
  const std::uint32_t f = add_node(std::move(node));
  Sub sub;
  sub.body.nodes.push_back(f);
  sub.body.where.push_back(referring(f, role, target));
  if (count) {
    Expr fold;
    fold.kind = ExprKind::Fold;
    fold.fold = model::Fold::Count;
    fold.type = model::scalar(TypeKind::Int);
    sub.type = fold.type;
    sub.body.columns.push_back({"count", std::move(fold)});
    sub.body.folded = true;
    sub.body.shape = model::Shape::Scalar;
  } else {
    sub.body.columns.push_back({"key", node_expr(out_, f)});
    sub.as_set = true;
    sub.type = model::collection_of(TypeKind::Set, model::reference(role.from));
  }
  out_.subs.push_back(std::move(sub));
  return static_cast<std::uint32_t>(out_.subs.size() - 1);
}

Expr Normalizer::read_field(const Expr& object, const Expr& original) {
  if (object.type.kind != TypeKind::Reference || is_key_part(model_, object.type, original.index)) {
    Expr expr = original;
    expr.operands.clear();
    expr.operands.push_back(object);
    return expr;
  }
  Expr expr = original;
  expr.operands.clear();
  expr.operands.push_back(as_instance(object));
  const auto& field = model_.entity(object.type.entity()).fields[original.index];
  if (field.role && model_.roles[*field.role].symmetric && !as_kept_) {
    Expr others;
    others.kind = ExprKind::Select;
    others.index = inverse_sub(expr.operands[0], *field.role, false);
    others.type = expr.type;
    std::vector<Expr> both;
    both.push_back(std::move(expr));
    both.push_back(std::move(others));
    const Type type = both[0].type;
    return call_expr(Function::Union, type, std::move(both));
  }
  return expr;
}

Expr Normalizer::rewrite(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Variable: {
      check(nodes_[expr.index].has_value(), "a variable is bound before it is used");
      Expr out = node_expr(out_, *nodes_[expr.index]);
      out.type = expr.type;
      return out;
    }
    case ExprKind::Field:
      return read_field(rewrite(expr.operands[0]), expr);
    case ExprKind::Inverse: {
      Expr out;
      out.kind = ExprKind::Select;
      out.type = expr.type;
      out.index = inverse_sub(as_instance(rewrite(expr.operands[0])), expr.index, false);
      return out;
    }
    case ExprKind::CountOf: {
      if (expr.operands[0].kind == ExprKind::Inverse) {
        Expr out;
        out.kind = ExprKind::Select;
        out.type = expr.type;
        out.index = inverse_sub(as_instance(rewrite(expr.operands[0].operands[0])), expr.operands[0].index, true);
        return out;
      }
      break;
    }
    case ExprKind::Select: {
      Sub sub;
      sub.type = expr.type;
      sub.body = normalize(expr.select[0]);
      out_.subs.push_back(std::move(sub));
      Expr out;
      out.kind = ExprKind::Select;
      out.type = expr.type;
      out.index = static_cast<std::uint32_t>(out_.subs.size() - 1);
      return out;
    }
    case ExprKind::Call:
      if (expr.function == Function::Position || expr.function == Function::MapKey) {
        const std::uint32_t variable = expr.operands[0].index;
        const std::uint32_t node = elements_[variable] ? *elements_[variable] : *nodes_[variable];
        Expr out = expr;
        out.operands[0] = node_expr(out_, node);
        return out;
      }
      break;
    default:
      break;
  }
  Expr out = expr;
  for (Expr& operand : out.operands) operand = rewrite(operand);
  return out;
}

void Normalizer::bind_variable(std::uint32_t variable, Body& body) {
  const model::Variable& v = variables_[variable];
  const auto bind_instance = [&](const std::string& name, const Type& type) {
    Node node;
    node.kind = NodeKind::Instance;
    node.name = name;
    node.type = type;
    node.type.optional = false;
    const std::uint32_t made = add_node(std::move(node));
    body.nodes.push_back(made);
    return made;
  };
  switch (v.kind) {
    case SourceKind::Entity:
      nodes_[variable] = bind_instance(v.name, v.type);
      return;
    case SourceKind::Refreshed:
    case SourceKind::History: {
      Node node;
      node.kind = v.kind == SourceKind::Refreshed ? NodeKind::Refreshed : NodeKind::History;
      node.name = v.name;
      node.type = v.type;
      node.query = v.query;
      nodes_[variable] = add_node(std::move(node));
      body.nodes.push_back(*nodes_[variable]);
      return;
    }
    case SourceKind::Target:
    case SourceKind::Inserted:
    case SourceKind::Loop:
      check(false, "a variable of a command is given, not bound");
      return;
    default:
      break;
  }
  // A path: every step to one before the last must exist.
  const auto existing = [&](const Expr& reference) -> Expr {
    if (reference.kind == ExprKind::Variable && out_.nodes[reference.index].is_instance()) return reference;
    const std::uint32_t node = bind_instance("", reference.type);
    body.where.push_back(equal_expr(node_expr(out_, node), reference));
    return node_expr(out_, node);
  };
  const std::function<Expr(const Expr&)> walk = [&](const Expr& expr) -> Expr {
    if (expr.kind == ExprKind::Field) {
      Expr object = walk(expr.operands[0]);
      if (object.type.kind == TypeKind::Reference) object = existing(object);
      return read_field(object, expr);
    }
    return rewrite(expr);
  };
  if (v.source.kind == ExprKind::Inverse) {
    const model::Role& role = model_.roles[v.source.index];
    const Expr target = existing(walk(v.source.operands[0]));
    const std::uint32_t node = bind_instance(v.name, v.type);
    body.where.push_back(referring(node, role, target));
    nodes_[variable] = node;
    return;
  }
  const bool before = as_kept_;
  as_kept_ = before || v.kind == SourceKind::References;
  const Expr source = walk(v.source);
  as_kept_ = before;
  if (v.kind == SourceKind::Words) {
    Node node;
    node.kind = NodeKind::Word;
    node.name = v.name;
    node.type = v.type;
    node.source = source;
    nodes_[variable] = add_node(std::move(node));
    body.nodes.push_back(*nodes_[variable]);
    return;
  }
  if (source.type.kind == TypeKind::Reference) {  // E[k], or a reference to one
    const std::uint32_t node = bind_instance(v.name, v.type);
    body.where.push_back(equal_expr(node_expr(out_, node), source));
    nodes_[variable] = node;
    return;
  }
  const bool target_must_exist = v.type.kind == TypeKind::Reference && v.kind != SourceKind::References;
  if (target_must_exist && source.type.kind == TypeKind::Set) {
    const std::uint32_t node = bind_instance(v.name, v.type);
    nodes_[variable] = node;
    const Expr self = node_expr(out_, node);
    if (source.kind == ExprKind::Call && source.function == Function::Union) {
      // Symmetric: either keeps the other. So each leads to the other.
      const Expr& kept = source.operands[0];
      const Expr back = read_field(self, field_expr(model_, self, kept.index));
      body.implied.push_back(contains_expr(source, self));
      body.implied.push_back(contains_expr(back, kept.operands[0]));
      body.where.push_back(call_expr(Function::Or, model::scalar(TypeKind::Bool),
                                     {contains_expr(kept, self), contains_expr(back.operands[0], kept.operands[0])}));
      return;
    }
    body.where.push_back(contains_expr(source, self));
    return;
  }
  Node element;
  element.kind = NodeKind::Element;
  element.name = v.name;
  element.type = v.type;
  element.source = source;
  const std::uint32_t made = add_node(std::move(element));
  body.nodes.push_back(made);
  elements_[variable] = made;
  if (!target_must_exist) {
    nodes_[variable] = made;
    return;
  }
  const std::uint32_t node = bind_instance(v.name, v.type);
  body.where.push_back(equal_expr(node_expr(out_, node), node_expr(out_, made)));
  Expr held = source;
  if (source.type.kind == TypeKind::Map)
    held = call_expr(Function::MapValues, model::collection_of(TypeKind::List, source.type.element()), {source});
  body.implied.push_back(contains_expr(std::move(held), node_expr(out_, node)));
  nodes_[variable] = node;
}

void Normalizer::bind(const std::vector<std::uint32_t>& from, Body& body) {
  for (const std::uint32_t variable : from) bind_variable(variable, body);
}

std::vector<Expr> Normalizer::order_keys(std::uint32_t variable) const {
  const std::uint32_t node = elements_[variable] ? *elements_[variable] : *nodes_[variable];
  const Node& bound = out_.nodes[node];
  const Expr self = node_expr(out_, node);
  std::vector<Expr> keys;
  if (bound.kind == NodeKind::Refreshed || bound.kind == NodeKind::History) {
    Expr refreshed;
    refreshed.kind = ExprKind::Refreshed;
    refreshed.type = model::scalar(TypeKind::Timestamp);
    refreshed.operands.push_back(self);
    keys.push_back(std::move(refreshed));
    keys.push_back(call_expr(Function::Position, model::scalar(TypeKind::Int), {self}));
  } else if (bound.kind == NodeKind::Element && bound.source.type.kind == TypeKind::List) {
    keys.push_back(call_expr(Function::Position, model::scalar(TypeKind::Int), {self}));
  } else if (bound.kind == NodeKind::Element && bound.source.type.kind == TypeKind::Map) {
    keys.push_back(call_expr(Function::MapKey, bound.source.type.arguments[0], {self}));
  } else if (bound.kind == NodeKind::Instance) {
    for (const std::uint32_t part : model_.entity(bound.type.entity()).key)
      keys.push_back(field_expr(model_, self, part));
  } else {
    keys.push_back(self);
  }
  return keys;
}

// Adds the conjuncts of a predicate. `x = 1 or x = 2` becomes `x in [1, 2]`.
void Normalizer::add_condition(const Expr& rewritten, Body& body) const {
  for (const Expr* conjunct : model::conjuncts(rewritten)) {
    if (conjunct->kind == ExprKind::Constant) {
      if (const bool* holds = std::get_if<bool>(&conjunct->constant); holds != nullptr && *holds) continue;
    }
    if (conjunct->kind == ExprKind::Call && conjunct->function == Function::Or) {
      std::vector<const Expr*> alternatives;
      const std::function<void(const Expr&)> split = [&](const Expr& at) {
        if (at.kind == ExprKind::Call && at.function == Function::Or)
          for (const Expr& operand : at.operands) split(operand);
        else
          alternatives.push_back(&at);
      };
      split(*conjunct);
      const bool equalities = std::all_of(alternatives.begin(), alternatives.end(), [&](const Expr* at) {
        if (!is_equality(*at) || !is_equality(*alternatives[0])) return false;
        std::vector<std::uint32_t> right;
        collect_nodes(out_, at->operands[1], right);
        return right.empty() && model::same(at->operands[0], alternatives[0]->operands[0]);
      });
      if (equalities) {
        Expr list;
        list.kind = ExprKind::List;
        list.type = model::collection_of(TypeKind::Set, alternatives[0]->operands[0].type);
        for (const Expr* at : alternatives) list.operands.push_back(at->operands[1]);
        std::vector<Expr> operands;
        operands.push_back(alternatives[0]->operands[0]);
        operands.push_back(std::move(list));
        body.where.push_back(call_expr(Function::In, model::scalar(TypeKind::Bool), std::move(operands)));
        continue;
      }
    }
    // `x in u.follows` asks what `u.follows contains x` asks.
    if (conjunct->kind == ExprKind::Call && conjunct->function == Function::In &&
        conjunct->operands[1].kind == ExprKind::Field && conjunct->operands[1].type.kind != TypeKind::Map) {
      body.where.push_back(contains_expr(conjunct->operands[1], conjunct->operands[0]));
      continue;
    }
    body.where.push_back(*conjunct);
    // An element that equals something: its collection contains that.
    if (is_equality(*conjunct)) {
      for (int side = 0; side < 2; ++side) {
        const Expr& element = conjunct->operands[static_cast<std::size_t>(side)];
        if (element.kind != ExprKind::Variable || out_.nodes[element.index].kind != NodeKind::Element) continue;
        if (out_.nodes[element.index].source.type.kind == TypeKind::Map) continue;
        body.implied.push_back(
            contains_expr(out_.nodes[element.index].source, conjunct->operands[static_cast<std::size_t>(1 - side)]));
      }
    }
  }
}

Body Normalizer::normalize(const model::Select& select, bool always_ordered) {
  Body body;
  body.distinct = select.distinct;
  body.folded = select.folded;
  body.shape = select.shape;
  bind(select.from, body);
  if (select.where) add_condition(rewrite(*select.where), body);
  for (const model::Column& column : select.columns) {
    Expr expr = rewrite(column.expr);
    if (column.aggregate) {
      const model::Entity& entity = model_.entity(column.expr.type.entity());
      Expr record;
      record.kind = ExprKind::Record;
      record.type.kind = TypeKind::Row;
      for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
        if (entity.fields[i].hidden) continue;
        if (std::find(column.without.begin(), column.without.end(), i) != column.without.end()) continue;
        record.type.names.push_back(entity.fields[i].name);
        record.type.arguments.push_back(entity.fields[i].type);
        record.operands.push_back(read_field(expr, field_expr(model_, expr, i)));
      }
      expr = std::move(record);
    }
    body.columns.push_back({column.name, std::move(expr)});
  }
  for (const Expr& expr : select.group_by) body.group_by.push_back(rewrite(expr));
  const std::function<bool(const Expr&)> names_column = [&](const Expr& at) {
    return at.kind == ExprKind::Column || std::any_of(at.operands.begin(), at.operands.end(), names_column);
  };
  const std::function<Expr(const Expr&)> resolve_columns = [&](const Expr& at) -> Expr {
    if (at.kind == ExprKind::Column) return body.columns[at.index].expr;
    if (!names_column(at)) return rewrite(at);
    if (at.kind == ExprKind::Field) return read_field(resolve_columns(at.operands[0]), at);
    Expr out = at;
    for (Expr& operand : out.operands) operand = resolve_columns(operand);
    return out;
  };
  for (const model::OrderTerm& term : select.order_by)
    body.order_by.push_back({resolve_columns(term.expr), term.descending});
  if (select.limit) body.limit = rewrite(*select.limit);
  body.ordered = always_ordered || !select.order_by.empty() || select.limit.has_value();
  if (body.ordered) {
    const bool descending = !select.order_by.empty() && select.order_by.back().descending;
    const auto tie = [&](Expr expr) { body.order_by.push_back({std::move(expr), descending}); };
    if (select.distinct) {
      for (std::size_t i = body.columns.size(); i-- > 0;) tie(body.columns[i].expr);
    } else if (!body.group_by.empty()) {
      for (std::size_t i = body.group_by.size(); i-- > 0;) tie(body.group_by[i]);
    } else if (!body.folded) {
      for (std::size_t i = select.from.size(); i-- > 0;)
        for (Expr& key : order_keys(select.from[i])) tie(std::move(key));
    }
    if (broken(Breakage::TiesFromTheFirst))
      std::reverse(body.order_by.begin() + static_cast<std::ptrdiff_t>(select.order_by.size()), body.order_by.end());
  }
  return body;
}

}  // namespace noam::design
