#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/suggest.h"
#include "noam/model/scalars.h"

namespace noam::language {

using MKind = model::ExprKind;
using model::TypeKind;

model::Expr constant(model::Type type, model::Literal value, Span span) {
  model::Expr expr;
  expr.kind = MKind::Constant;
  expr.type = std::move(type);
  expr.constant = std::move(value);
  expr.span = span;
  return expr;
}

model::Expr call(model::Function function, model::Type type, std::vector<model::Expr> operands, Span span) {
  model::Expr expr;
  expr.kind = MKind::Call;
  expr.function = function;
  expr.type = std::move(type);
  expr.operands = std::move(operands);
  expr.span = span;
  return expr;
}

model::Expr unknown(Span span) {
  model::Expr expr;
  expr.span = span;
  return expr;
}

model::Expr variable_expr(const Body& body, std::uint32_t variable, Span span) {
  model::Expr expr;
  expr.kind = MKind::Variable;
  expr.index = variable;
  expr.type = body.variables[variable].type;
  expr.span = span;
  return expr;
}

bool holds_fold(const model::Expr& expr) {
  if (expr.kind == MKind::Fold) return true;
  return std::any_of(expr.operands.begin(), expr.operands.end(), holds_fold);
}

model::Type plain(const model::Type& type) {
  model::Type out = type;
  out.optional = false;
  out.max_length = 0;
  for (model::Type& argument : out.arguments) argument = plain(argument);
  return out;
}

namespace {

model::Expr wrap_operand(MKind kind, std::uint32_t index, model::Type type, model::Expr operand) {
  model::Expr expr;
  expr.kind = kind;
  expr.index = index;
  expr.span = operand.span;
  type.optional = operand.type.optional;
  expr.type = std::move(type);
  expr.operands.push_back(std::move(operand));
  return expr;
}

}  // namespace

const model::Type* Analyzer::single_key(const model::Type& reference) const {
  const model::Type* at = &reference;
  while (at->kind == TypeKind::Reference) {
    const model::Entity& entity = model_.entity(at->entity());
    if (entity.key.size() != 1) return nullptr;
    at = &entity.fields[entity.key[0]].type;  // no circles: find_key_cycles has cut them
  }
  return at;
}

std::optional<model::Type> Analyzer::unify(const model::Type& a, const model::Type& b) const {
  if (!a.known()) return b;
  if (!b.known()) return a;
  if (a.kind == b.kind) {
    switch (a.kind) {
      case TypeKind::Reference:
      case TypeKind::Value:
        if (a.id == b.id) return a;
        break;
      case TypeKind::Enumeration:
        if (a.names == b.names) return a;
        return std::nullopt;
      case TypeKind::List:
      case TypeKind::Set:
      case TypeKind::Map: {
        model::Type out = a;
        for (std::size_t i = 0; i < out.arguments.size(); ++i) {
          auto argument = unify(a.arguments[i], b.arguments[i]);
          if (!argument) return std::nullopt;
          out.arguments[i] = std::move(*argument);
        }
        return out;
      }
      default:
        return a;
    }
  }
  if (a.kind == TypeKind::Int && b.kind == TypeKind::Decimal) return a;
  if (a.kind == TypeKind::Decimal && b.kind == TypeKind::Int) return b;
  if (a.kind == TypeKind::Enumeration && b.kind == TypeKind::Text) return a;
  if (a.kind == TypeKind::Text && b.kind == TypeKind::Enumeration) return b;
  if (a.kind == TypeKind::List && b.kind == TypeKind::Set) {
    auto element = unify(a.element(), b.element());
    if (element) return model::collection_of(TypeKind::Set, std::move(*element));
  }
  if (a.kind == TypeKind::Set && b.kind == TypeKind::List) return unify(b, a);
  // A reference is its key: the one that says more wins.
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (one->kind != TypeKind::Reference) continue;
    const model::Entity& entity = model_.entity(one->entity());
    if (entity.key.size() != 1) continue;
    const model::Type& key = entity.fields[entity.key[0]].type;
    if (other->kind == TypeKind::Reference && key.kind != TypeKind::Reference) continue;
    if (unify(plain(key), *other)) return *one;
  }
  return std::nullopt;
}

bool Analyzer::fit(model::Expr& expr, const model::Type& to) {
  const model::Type& from = expr.type;
  if (!from.known() || !to.known()) return true;
  if (from.kind == to.kind) {
    switch (from.kind) {
      case TypeKind::Value:
        return from.id == to.id;
      case TypeKind::Enumeration:
        return std::all_of(from.names.begin(), from.names.end(), [&](const std::string& name) {
          return std::find(to.names.begin(), to.names.end(), name) != to.names.end();
        });
      case TypeKind::List:
      case TypeKind::Set:
      case TypeKind::Map:
        return std::equal(from.arguments.begin(), from.arguments.end(), to.arguments.begin(), to.arguments.end(),
                          [](const model::Type& a, const model::Type& b) {
                            return !a.known() || !b.known() || plain(a) == plain(b) ||
                                   (a.kind == TypeKind::Enumeration && b.kind == TypeKind::Enumeration &&
                                    a.names == b.names);
                          });
      case TypeKind::Row:
      case TypeKind::Rows:
        return false;
      case TypeKind::Reference:
        if (from.id == to.id) return true;
        break;
      default:
        return true;
    }
  }
  if (from.kind == TypeKind::Int && to.kind == TypeKind::Decimal) {
    if (expr.kind == MKind::Constant) {
      expr.constant = std::to_string(std::get<std::int64_t>(expr.constant));
      expr.type.kind = TypeKind::Decimal;
    } else {
      model::Type type = model::scalar(TypeKind::Decimal);
      type.optional = from.optional;
      const Span span = expr.span;
      std::vector<model::Expr> operands;
      operands.push_back(std::move(expr));
      expr = call(model::Function::ToDecimal, std::move(type), std::move(operands), span);
    }
    return true;
  }
  if (from.kind == TypeKind::Int && to.kind == TypeKind::Float && expr.kind == MKind::Constant) {
    expr.constant = static_cast<double>(std::get<std::int64_t>(expr.constant));
    expr.type.kind = TypeKind::Float;
    return true;
  }
  if (from.kind == TypeKind::Enumeration && to.kind == TypeKind::Text) return true;
  if (from.kind == TypeKind::Text && to.kind == TypeKind::Enumeration) return true;  // asked when it is stored
  if (from.kind == TypeKind::Reference) {
    const model::Entity& entity = model_.entity(from.entity());
    if (entity.key.size() == 1) {
      const model::Type& key = entity.fields[entity.key[0]].type;
      const bool toward = to.kind == TypeKind::Reference ? key.kind == TypeKind::Reference : true;
      if (toward) {
        model::Expr inner = wrap_operand(MKind::Field, entity.key[0], plain(key), expr);
        if (fit(inner, to)) {
          expr = std::move(inner);
          return true;
        }
      }
    }
  }
  if (to.kind == TypeKind::Reference) {
    const model::Entity& entity = model_.entity(to.entity());
    if (entity.key.size() != 1) return false;
    const model::Type& key = entity.fields[entity.key[0]].type;
    if (from.kind == TypeKind::Reference && key.kind != TypeKind::Reference) return false;
    model::Expr inner = expr;
    if (!fit(inner, key)) return false;
    expr = wrap_operand(MKind::Instance, to.id, model::reference(to.entity()), std::move(inner));
    return true;
  }
  return false;
}

void Analyzer::report_mismatch(Span span, const model::Type& found, const model::Type& wanted,
                               const std::string& what) {
  auto report = error(DiagnosticCode::TypeMismatch, span,
                      fmt::format("{} takes `{}`, found `{}`", what, text(plain(wanted)), text(plain(found))));
  if (wanted.kind == TypeKind::Reference && found.kind != TypeKind::Reference &&
      model_.entity(wanted.entity()).key.size() > 1) {
    const model::Entity& entity = model_.entity(wanted.entity());
    std::string parts;
    for (const std::uint32_t part : entity.key) parts += (parts.empty() ? "" : ", ") + entity.fields[part].name;
    report.hint(fmt::format("the key of `{}` has several parts: write `{}[{}]`", entity.name, entity.name, parts));
  } else if (wanted.kind == TypeKind::Float && found.is_number()) {
    report.hint("a float can be combined only with literals: declare both fields with the same type");
  } else if (found.kind == TypeKind::Float && wanted.is_number()) {
    report.hint("a float can be combined only with literals: declare both fields with the same type");
  } else if (wanted.kind == TypeKind::Int && found.kind == TypeKind::Decimal) {
    report.hint("a decimal is not converted to an int: declare both with the same type");
  } else if ((wanted.kind == TypeKind::Timestamp && found.kind == TypeKind::Text)) {
    report.hint("write a typed literal: `timestamp \"2026-01-01T00:00:00Z\"`");
  } else if ((wanted.kind == TypeKind::Date && found.kind == TypeKind::Text)) {
    report.hint("write a typed literal: `date \"2026-01-01\"`");
  } else if (found.kind == TypeKind::Text &&
             (wanted.kind == TypeKind::Uuid || wanted.kind == TypeKind::TimeUuid || wanted.kind == TypeKind::Inet ||
              wanted.kind == TypeKind::Bytes || wanted.kind == TypeKind::Json)) {
    report.hint(fmt::format("write a typed literal: `{} \"…\"`", text(plain(wanted))));
  } else if (wanted.is_collection() && found == plain(wanted.element())) {
    report.hint("write `[…]` for a collection");
  } else if (found.kind == TypeKind::Rows || found.kind == TypeKind::Row) {
    report.hint("a nested select is a value only if it has one column made of folds, such as `count(*)`");
  }
}

bool Analyzer::fit_or_report(model::Expr& expr, const model::Type& to, bool storing, const std::string& what) {
  const model::Type found = expr.type;
  if (!fit(expr, to)) {
    report_mismatch(expr.span, found, to, what);
    expr = unknown(expr.span);
    return false;
  }
  if (storing && to.max_length > 0 && expr.kind == MKind::Constant) {
    const auto* value = std::get_if<std::string>(&expr.constant);
    if (value != nullptr && (to.kind == TypeKind::Text || to.kind == TypeKind::Bytes)) {
      const std::size_t length = to.kind == TypeKind::Text ? model::code_points(*value) : value->size();
      if (length > to.max_length) {
        error(DiagnosticCode::TypeMismatch, expr.span,
              fmt::format("{} takes `{}`, but this has {} {}", what,
                          text(plain(to)) + fmt::format("({})", to.max_length), length,
                          to.kind == TypeKind::Text ? "code points" : "bytes"))
            .hint("the command would be refused each time");
        return false;
      }
    }
  }
  return true;
}

bool Analyzer::holds_json(const model::Type& type) const {
  if (type.kind == TypeKind::Json) return true;
  if (type.is_collection()) return holds_json(type.element());
  return type.kind == TypeKind::Value && value_holds_json_[type.id];
}

bool Analyzer::comparable(const model::Type& type) const {
  switch (type.kind) {
    case TypeKind::Json:
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows:
    case TypeKind::Duration:
      return false;
    case TypeKind::Value:
      return !holds_json(type);
    default:
      return true;
  }
}

bool Analyzer::ordered(const model::Type& type) const { return comparable(type) && type.kind != TypeKind::Value; }

}  // namespace noam::language
