#include "tests/reference/evaluate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "noam/base/check.h"
#include "tests/reference/numbers.h"

namespace noam::reference {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

const Aggregate* find(const State& state, model::EntityId entity, const Datum& key) {
  if (key.absent()) return nullptr;
  const Instances& instances = state[static_cast<std::size_t>(entity)];
  const auto found = instances.find(key);
  return found == instances.end() ? nullptr : &found->second;
}

Datum key_of(const model::Entity& entity, const Datum::List& fields) {
  if (entity.key.size() == 1) return fields[entity.key[0]];
  Datum::List parts;
  for (const std::uint32_t part : entity.key) parts.push_back(fields[part]);
  return parts;
}

Datum::List as_set(Datum::List elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

Datum::List referring(const model::Model& model, const State& state, const model::Role& role, const Datum& target) {
  const model::Type& type = model.entity(role.from).fields[role.field].type;
  Datum::List found;
  for (const auto& [key, aggregate] : state[static_cast<std::size_t>(role.from)]) {
    const Datum& value = aggregate.fields[role.field];
    bool refers = false;
    if (type.kind == TypeKind::Reference) {
      refers = !value.absent() && value == target;
    } else {
      for (const Datum& element : value.as_list())
        refers = refers || (type.kind == TypeKind::Map ? element.as_list()[role.map_key ? 0 : 1] : element) == target;
    }
    if (refers) found.push_back(key);
  }
  return found;
}

namespace {

// What is read where there is nothing to read it from.
Datum nothing_of(const model::Type& type) {
  if (type.is_collection() || type.kind == TypeKind::Rows) return Datum::List();
  return {};
}

bool is_member(const model::Type& type, const Datum& collection, const Datum& element) {
  if (collection.absent() || element.absent()) return false;
  for (const Datum& candidate : collection.as_list())
    if ((type.kind == TypeKind::Map ? candidate.as_list()[0] : candidate) == element) return true;
  return false;
}

bool compare(Function function, const Datum& a, const Datum& b) {
  if (a.absent() || b.absent()) return false;
  switch (function) {
    case Function::Equal:
      return a == b;
    case Function::Less:
      return a < b;
    case Function::LessEqual:
      return a <= b;
    case Function::Greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool contains_words(Function function, const Datum& text, const Datum& asked) {
  if (text.absent() || asked.absent()) return false;
  const std::vector<std::string> there = words(text.as_string());
  const std::vector<std::string> wanted = words(asked.as_string());
  const auto is_there = [&](const std::string& word) {
    return std::find(there.begin(), there.end(), word) != there.end();
  };
  if (function == Function::ContainsAll) return std::all_of(wanted.begin(), wanted.end(), is_there);
  return std::any_of(wanted.begin(), wanted.end(), is_there);
}

}  // namespace

void Evaluation::bind(std::uint32_t variable, Datum value, Datum key) {
  bound_[variable] = {std::move(value), std::move(key)};
}

bool Evaluation::own_fields_hold(const Expr& expr) {
  own_only_ = true;
  const bool value = holds(expr);
  own_only_ = false;
  return value;
}

Datum Evaluation::evaluate(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Constant:
      if (expr.type.kind == TypeKind::Duration) return std::get<std::int64_t>(expr.constant);  // minutes
      return model::from_literal(expr.type, expr.constant);
    case ExprKind::Parameter:
      return setting_.parameters[expr.index];
    case ExprKind::Variable:
      return bound_[expr.index].value;
    case ExprKind::Field:
      return evaluate_field(expr);
    case ExprKind::Inverse:
      return evaluate_inverse(expr);
    case ExprKind::Element:
      return evaluate_element(expr);
    case ExprKind::Instance:
      return evaluate_instance(expr);
    case ExprKind::Call:
      return evaluate_call(expr);
    case ExprKind::Fold:
      return evaluate_fold(expr);
    case ExprKind::CountOf: {
      const Datum of = evaluate(expr.operands[0]);
      return static_cast<std::int64_t>(of.absent() ? 0 : of.as_list().size());
    }
    case ExprKind::Select:
      return evaluate_nested(expr);
    case ExprKind::List: {
      Datum::List elements;
      for (const Expr& operand : expr.operands) elements.push_back(evaluate(operand));
      return expr.type.kind == TypeKind::Set ? as_set(std::move(elements)) : elements;
    }
    case ExprKind::Map: {
      std::map<Datum, Datum> entries;
      for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2)
        entries[evaluate(expr.operands[i])] = evaluate(expr.operands[i + 1]);
      Datum::List list;
      for (const auto& [key, value] : entries) list.push_back(Datum::List{key, value});
      return list;
    }
    case ExprKind::Record: {
      Datum::List fields;
      for (const Expr& operand : expr.operands) fields.push_back(evaluate(operand));
      return fields;
    }
    case ExprKind::Refreshed:
      return bound_[expr.operands[0].index].key.as_list()[0];
    case ExprKind::Column:
      return (*columns_)[expr.index];
    default:  // of designs and plans
      break;
  }
  check(false, "a checked model has values here");
  return {};
}

Datum Evaluation::field_of(model::EntityId entity, const Datum& key, const Aggregate& aggregate,
                           std::uint32_t field) const {
  const auto role = setting_.model.entity(entity).fields[field].role;
  if (!role || !setting_.model.roles[*role].symmetric || own_only_) return aggregate.fields[field];
  Datum::List both = aggregate.fields[field].as_list();
  for (Datum& other : referring(setting_.model, setting_.state, setting_.model.roles[*role], key))
    both.push_back(std::move(other));
  return as_set(std::move(both));
}

Datum Evaluation::evaluate_field(const Expr& expr) {
  const model::Type& base = expr.operands[0].type;
  const Datum of = evaluate(expr.operands[0]);
  if (base.kind == TypeKind::Row)
    return of.absent() ? nothing_of(base.arguments[expr.index]) : of.as_list()[expr.index];
  const model::Type& type = setting_.model.fields(base)[expr.index].type;
  if (of.absent()) return nothing_of(type);
  if (base.kind == TypeKind::Value) return of.as_list()[expr.index];
  // Reading a part of the key is reading the reference.
  const std::vector<std::uint32_t>& key = setting_.model.entity(base.entity()).key;
  const auto part = std::find(key.begin(), key.end(), expr.index);
  if (part != key.end()) return key.size() == 1 ? of : of.as_list()[static_cast<std::size_t>(part - key.begin())];
  const Aggregate* target = find(setting_.state, base.entity(), of);
  return target == nullptr ? nothing_of(type) : field_of(base.entity(), of, *target, expr.index);
}

Datum Evaluation::evaluate_inverse(const Expr& expr) {
  const Datum of = evaluate(expr.operands[0]);
  if (!exists(expr.operands[0].type, of)) return Datum::List();
  return referring(setting_.model, setting_.state, setting_.model.roles[expr.index], of);
}

Datum Evaluation::evaluate_element(const Expr& expr) {
  const Datum collection = evaluate(expr.operands[0]);
  const Datum at = evaluate(expr.operands[1]);
  if (collection.absent() || at.absent()) return {};
  const Datum::List& elements = collection.as_list();
  if (expr.operands[0].type.kind == TypeKind::Map) {
    for (const Datum& entry : elements)
      if (entry.as_list()[0] == at) return entry.as_list()[1];
    return {};
  }
  const auto size = static_cast<std::int64_t>(elements.size());
  const std::int64_t index = at.as_int() < 0 ? at.as_int() + size : at.as_int();
  if (index < 0 || index >= size) return {};
  return elements[static_cast<std::size_t>(index)];
}

Datum Evaluation::evaluate_instance(const Expr& expr) {
  Datum::List parts;
  for (const Expr& operand : expr.operands) parts.push_back(evaluate(operand));
  for (const Datum& part : parts)
    if (part.absent()) return {};
  if (parts.size() == 1) return parts[0];
  return parts;
}

// A condition that is decided without the part that overflows does not overflow, in whatever order it is looked at.
Datum Evaluation::evaluate_logic(const Expr& expr) {
  const bool decides = expr.function == Function::Or;  // what one operand decides the whole by
  const bool outer = take_overflow();
  bool undecided = false;
  for (const Expr& operand : expr.operands) {
    const bool value = holds(operand);
    if (take_overflow()) {
      undecided = true;
    } else if (value == decides) {
      overflow_ = outer;
      return decides;
    }
  }
  overflow_ = outer || undecided;
  return !decides;
}

Datum Evaluation::fit(std::optional<Datum> result) {
  if (result) return std::move(*result);
  if (setting_.command) overflow_ = true;
  return {};
}

Datum Evaluation::evaluate_arithmetic(const Expr& expr) {
  std::vector<Datum> operands;
  for (const Expr& operand : expr.operands) operands.push_back(evaluate(operand));
  for (const Datum& operand : operands)
    if (operand.absent()) return {};
  const TypeKind kind = expr.type.kind;
  switch (expr.function) {
    case Function::Add:
      return fit(add(kind, operands[0], operands[1]));
    case Function::Subtract:
      return fit(subtract(kind, operands[0], operands[1]));
    case Function::Multiply:
      return fit(multiply(kind, operands[0], operands[1]));
    case Function::Negate:
      return fit(negate(kind, operands[0]));
    case Function::ToDecimal:
      return model::Decimal(operands[0].as_int());
    case Function::Greatest:
      return *std::max_element(operands.begin(), operands.end());
    case Function::Least:
      return *std::min_element(operands.begin(), operands.end());
    default:
      return period_start(expr.function, kind, operands[0]);
  }
}

Datum Evaluation::evaluate_call(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return evaluate(expr.operands[i]); };
  switch (expr.function) {
    case Function::And:
    case Function::Or:
      return evaluate_logic(expr);
    case Function::Not:
      return !operand(0).holds();
    case Function::Equal:
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual: {
      const Datum a = operand(0);
      return compare(expr.function, a, operand(1));
    }
    case Function::Between: {
      const Datum of = operand(0);
      const Datum low = operand(1);
      const Datum high = operand(2);
      return compare(Function::LessEqual, low, of) && compare(Function::LessEqual, of, high);
    }
    case Function::In: {
      const Datum element = operand(0);
      return is_member(expr.operands[1].type, operand(1), element);
    }
    case Function::Contains: {
      const Datum collection = operand(0);
      return is_member(expr.operands[0].type, collection, operand(1));
    }
    case Function::ContainsAll:
    case Function::ContainsAny: {
      const Datum text = operand(0);
      return contains_words(expr.function, text, operand(1));
    }
    case Function::StartsWith: {
      const Datum text = operand(0);
      const Datum beginning = operand(1);
      if (text.absent() || beginning.absent()) return false;
      return text.as_string().starts_with(beginning.as_string());
    }
    case Function::IsAbsent:
      return operand(0).absent();
    case Function::Coalesce: {
      Datum left = operand(0);
      return left.absent() ? operand(1) : left;
    }
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply:
    case Function::Negate:
    case Function::ToDecimal:
    case Function::Greatest:
    case Function::Least:
    case Function::Minute:
    case Function::Hour:
    case Function::Day:
    case Function::Week:
    case Function::Month:
    case Function::Year:
      return evaluate_arithmetic(expr);
    case Function::Now:
      return setting_.now;
    case Function::MakeUuid:
      return model::generated_uuid(*setting_.command, change_, expr.index);
    case Function::RandomText:
      return model::generated_text(*setting_.command, change_, expr.index, operand(0).as_int());
    case Function::Position: {
      const Datum& key = bound_[expr.operands[0].index].key;
      return key.is_list() ? key.as_list()[1] : key;  // of a refreshed row, after its time
    }
    case Function::MapKey:
      return bound_[expr.operands[0].index].key;
    default:  // of designs and plans
      break;
  }
  check(false, "a checked statement calls functions of statements");
  return {};
}

Datum Evaluation::evaluate_fold(const Expr& expr) {
  check(group_ != nullptr, "a fold stands in a select that folds");
  const model::Select& select = *folded_;
  const Group& group = *group_;
  if (expr.operands.empty()) return static_cast<std::int64_t>(group.rows.size());
  const Expr& operand = expr.operands[0];
  const std::vector<Bound> outer = snapshot(select);
  std::vector<Datum> values;
  for (const std::vector<Bound>& row : group.rows) {
    restore(select, row);
    Datum value = evaluate(operand);
    if (!value.absent()) values.push_back(std::move(value));
  }
  restore(select, outer);
  switch (expr.fold) {
    case model::Fold::Count:
      return static_cast<std::int64_t>(expr.distinct ? as_set(values).size() : values.size());
    case model::Fold::Sum: {
      auto total = sum(operand.type.kind, values);
      if (!total) overflow_ = true;
      return total ? std::move(*total) : Datum();
    }
    case model::Fold::Min:
      return values.empty() ? Datum() : *std::min_element(values.begin(), values.end());
    case model::Fold::Max:
      return values.empty() ? Datum() : *std::max_element(values.begin(), values.end());
    case model::Fold::Avg:
      return average(operand.type.kind, values);
    case model::Fold::None:
      break;
  }
  check(false, "a fold is one of five");
  return {};
}

}  // namespace noam::reference
