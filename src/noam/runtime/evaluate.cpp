#include "noam/runtime/evaluate.h"

#include <algorithm>
#include <utility>

#include "noam/base/check.h"
#include "noam/runtime/functions.h"

namespace noam::runtime {

using model::Datum;
using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

Datum key_part(const model::Model& model, model::EntityId entity, const Datum& reference, std::uint32_t field) {
  if (reference.absent()) return {};
  const auto& key = model.entity(entity).key;
  if (key.size() == 1) return reference;
  const auto at = std::find(key.begin(), key.end(), field);
  check(at != key.end() && reference.is_list(), "only parts of the key are read from a reference");
  return reference.as_list()[static_cast<std::size_t>(at - key.begin())];
}

namespace {

class Evaluation {
 public:
  Evaluation(const Environment& environment, const Row& row) : environment_(environment), row_(row) {}

  Datum value(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::Constant:
        return model::from_literal(expr.type, expr.constant);
      case ExprKind::Parameter:
        return environment_.parameters[expr.index];
      case ExprKind::Slot:
        return row_[expr.index];
      case ExprKind::Field:
        return field(expr);
      case ExprKind::Element: {
        const Datum collection = value(expr.operands[0]);
        const Datum at = value(expr.operands[1]);
        return element(expr.operands[0].type.kind, collection, at);
      }
      case ExprKind::Instance: {
        if (expr.operands.size() == 1) return value(expr.operands[0]);
        Datum::List parts;
        for (const Expr& operand : expr.operands) {
          parts.push_back(value(operand));
          if (parts.back().absent()) return {};
        }
        return parts;
      }
      case ExprKind::CountOf: {
        const Datum collection = value(expr.operands[0]);
        if (!collection.is_list()) return std::int64_t{0};
        return static_cast<std::int64_t>(collection.as_list().size());
      }
      case ExprKind::List:
        return list(expr);
      case ExprKind::Map:
        return map(expr);
      case ExprKind::Record: {
        Datum::List fields;
        for (const Expr& operand : expr.operands) fields.push_back(value(operand));
        return fields;
      }
      case ExprKind::Call:
        return call(expr);
      default:
        fail_check("an expression of a plan speaks of slots and parameters only");
    }
  }

 private:
  Datum field(const Expr& expr) const {
    const Expr& object = expr.operands[0];
    const Datum of = value(object);
    if (object.type.kind == TypeKind::Reference)
      return key_part(*environment_.model, object.type.entity(), of, expr.index);
    if (of.absent()) return model::nothing(expr.type);
    return of.as_list()[expr.index];
  }

  Datum list(const Expr& expr) const {
    Datum::List items;
    for (const Expr& operand : expr.operands) {
      Datum item = value(operand);
      if (expr.type.kind == TypeKind::Set && item.absent()) continue;
      items.push_back(std::move(item));
    }
    if (expr.type.kind == TypeKind::Set) {
      std::sort(items.begin(), items.end());
      items.erase(std::unique(items.begin(), items.end()), items.end());
    }
    return items;
  }

  Datum map(const Expr& expr) const {
    Datum::List entries;
    for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
      Datum key = value(expr.operands[i]);
      Datum held = value(expr.operands[i + 1]);
      const auto at =
          std::find_if(entries.begin(), entries.end(), [&](const Datum& entry) { return entry.as_list()[0] == key; });
      if (at != entries.end())
        at->change_list()[1] = std::move(held);
      else
        entries.emplace_back(Datum::List{std::move(key), std::move(held)});
    }
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  // Whether some operand is `by`. One that is decides, whatever does not fit in the others.
  bool decided(const Expr& expr, bool by) const {
    const bool before = environment_.overflowed;
    bool overflowed = false;
    for (const Expr& operand : expr.operands) {
      environment_.overflowed = false;
      const bool holds = value(operand).holds();
      if (environment_.overflowed) {
        overflowed = true;
        continue;
      }
      if (holds == by) {
        environment_.overflowed = before;
        return true;
      }
    }
    environment_.overflowed = before || overflowed;
    // What does not fit is absent, and so does not hold.
    return overflowed && !by;
  }

  Datum fitted(Datum datum, Overflow overflow) const {
    if (overflow == Overflow::Yes && environment_.command) environment_.overflowed = true;
    return datum;
  }

  // NOLINTNEXTLINE(readability-function-size): one line a function of the language
  Datum call(const Expr& expr) const {
    const auto operand = [&](std::size_t i) { return value(expr.operands[i]); };
    Overflow overflow = Overflow::No;
    switch (expr.function) {
      case Function::And:
        return !decided(expr, false);
      case Function::Or:
        return decided(expr, true);
      case Function::Not:
        return !operand(0).holds();
      case Function::Equal:
        return equal(operand(0), operand(1));
      case Function::Less:
        return less(operand(0), operand(1));
      case Function::LessEqual:
        return less_equal(operand(0), operand(1));
      case Function::Greater:
        return less(operand(1), operand(0));
      case Function::GreaterEqual:
        return less_equal(operand(1), operand(0));
      case Function::Between: {
        const Datum of = operand(0);
        return less_equal(operand(1), of) && less_equal(of, operand(2));
      }
      case Function::In:
        return contains(expr.operands[1].type.kind, operand(1), operand(0));
      case Function::Contains:
        return contains(expr.operands[0].type.kind, operand(0), operand(1));
      case Function::ContainsAll:
        return contains_all(operand(0), operand(1));
      case Function::ContainsAny:
        return contains_any(operand(0), operand(1));
      case Function::StartsWith:
        return starts_with(operand(0), operand(1));
      case Function::IsAbsent:
        return operand(0).absent();
      case Function::Coalesce: {
        for (const Expr& at : expr.operands) {
          Datum datum = value(at);
          if (!datum.absent()) return datum;
        }
        return {};
      }
      case Function::Add: {
        Datum out = add(expr.type.kind, operand(0), operand(1), overflow);
        return fitted(std::move(out), overflow);
      }
      case Function::Subtract: {
        Datum out = subtract(expr.type.kind, operand(0), operand(1), overflow);
        return fitted(std::move(out), overflow);
      }
      case Function::Multiply: {
        Datum out = multiply(operand(0), operand(1), overflow);
        return fitted(std::move(out), overflow);
      }
      case Function::Negate: {
        Datum out = negate(operand(0), overflow);
        return fitted(std::move(out), overflow);
      }
      case Function::ToDecimal:
        return to_decimal(operand(0));
      case Function::Greatest:
      case Function::Least: {
        std::vector<Datum> all;
        for (const Expr& at : expr.operands) all.push_back(value(at));
        return expr.function == Function::Greatest ? greatest(all) : least(all);
      }
      case Function::Minute:
      case Function::Hour:
      case Function::Day:
      case Function::Week:
      case Function::Month:
      case Function::Year:
        return period_start(expr.function, expr.operands[0].type.kind, operand(0));
      case Function::Now:
        return environment_.now;
      case Function::MakeUuid:
        return model::generated_uuid(environment_.id, environment_.change, expr.index);
      case Function::RandomText: {
        const Datum length = operand(0);
        return model::generated_text(environment_.id, environment_.change, expr.index, length.as_int());
      }
      case Function::Shard:
        return shard(operand(0), operand(1).as_int());
      case Function::Union: {
        Datum::List both;
        for (std::size_t i = 0; i < 2; ++i) {
          const Datum part = operand(i);
          if (part.is_list()) both.insert(both.end(), part.as_list().begin(), part.as_list().end());
        }
        std::sort(both.begin(), both.end());
        both.erase(std::unique(both.begin(), both.end()), both.end());
        return both;
      }
      case Function::MapValues: {
        Datum::List values;
        const Datum of = operand(0);
        if (of.is_list())
          for (const Datum& entry : of.as_list()) values.push_back(entry.as_list()[1]);
        return values;
      }
      case Function::WordsOf: {
        Datum::List all;
        const Datum of = operand(0);
        if (!of.absent())
          for (std::string& word : words(of.as_string())) all.emplace_back(std::move(word));
        return all;
      }
      case Function::None:
      case Function::Position:
      case Function::MapKey:
        break;
    }
    fail_check("a function of a plan has a value");
  }

  const Environment& environment_;
  const Row& row_;
};

}  // namespace

Datum evaluate(const Environment& environment, const Expr& expr, const Row& row) {
  return Evaluation(environment, row).value(expr);
}

}  // namespace noam::runtime
