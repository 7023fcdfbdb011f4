#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/json_literal.h"
#include "noam/language/numbers.h"
#include "noam/language/suggest.h"
#include "noam/model/scalars.h"

namespace noam::language {

using model::Function;
using model::TypeKind;
using MExpr = model::Expr;
using MKind = model::ExprKind;

namespace {

const model::Type bool_type = model::scalar(TypeKind::Bool);
const model::Type int_type = model::scalar(TypeKind::Int);
const model::Type text_type = model::scalar(TypeKind::Text);
const model::Type timestamp_type = model::scalar(TypeKind::Timestamp);

std::vector<MExpr> pack(MExpr a) {
  std::vector<MExpr> out;
  out.push_back(std::move(a));
  return out;
}

std::vector<MExpr> pack(MExpr a, MExpr b) {
  std::vector<MExpr> out;
  out.push_back(std::move(a));
  out.push_back(std::move(b));
  return out;
}

// The variable over references, whatever became of their targets, that a path of key parts starts from.
std::optional<std::uint32_t> reference_variable(const Body& body, const MExpr& path) {
  const MExpr* at = &path;
  while (at->kind == MKind::Field) at = &at->operands[0];
  if (at->kind != MKind::Variable || body.variables[at->index].kind != model::SourceKind::References)
    return std::nullopt;
  return at->index;
}

bool in_key_of(const model::Entity& entity, const MemberRef& member) {
  return !member.inverse && std::find(entity.key.begin(), entity.key.end(), member.index) != entity.key.end();
}

MExpr negation(MExpr of, Span span) { return call(Function::Not, bool_type, pack(std::move(of)), span); }

struct FunctionName {
  std::string_view name;
  Function function;
};

constexpr std::array time_functions = {
    FunctionName{"minute", Function::Minute}, FunctionName{"hour", Function::Hour},
    FunctionName{"day", Function::Day},       FunctionName{"week", Function::Week},
    FunctionName{"month", Function::Month},   FunctionName{"year", Function::Year},
};

constexpr std::array<std::string_view, 22> function_names = {
    "minute",   "hour", "day",   "week", "month", "year", "now", "uuid",  "random_text", "greatest", "least",
    "position", "key",  "count", "sum",  "min",   "max",  "avg", "words", "references",  "shard",    "zipf"};

struct ForeignFunction {
  std::string_view theirs;
  std::string_view hint;
};

constexpr ForeignFunction foreign_functions[] = {
    {"coalesce", "write `a ?? b`"},
    {"ifnull", "write `a ?? b`"},
    {"isnull", "write `x is absent`"},
    {"nvl", "write `a ?? b`"},
    {"length", "the number of elements is `count(x)`; texts have no length function"},
    {"len", "the number of elements is `count(x)`; texts have no length function"},
    {"size", "the number of elements is `count(x)`"},
    {"exists", "write `(select count(*) from …) > 0`"},
    {"current_timestamp", "write `now()`"},
    {"getdate", "write `now()`"},
    {"totimestamp", "write `now()`"},
    {"average", "write `avg`"},
    {"mean", "write `avg`"},
    {"maximum", "write `max`, or `greatest(a, b)` of two values"},
    {"minimum", "write `min`, or `least(a, b)` of two values"},
    {"lower", "noam does not convert texts; `contains all` and `contains any` ignore case"},
    {"upper", "noam does not convert texts; `contains all` and `contains any` ignore case"},
    {"date_trunc", "write `minute`, `hour`, `day`, `week`, `month` or `year`: the start of the period"},
    {"extract", "write `minute`, `hour`, `day`, `week`, `month` or `year`: the start of the period"},
    {"count_distinct", "write `count(distinct x)`"},
    {"gen_random_uuid", "write `uuid()`, or `key auto` for a key"},
    {"index", "the position of a list element's variable is `position(r)`"},
    {"any", "write `x in […]`"},
    {"concat", "noam does not concatenate texts"},
    {"substring", "noam does not extract parts of texts"},
    {"round", "noam does not round"},
};

std::string quoted(const Expr& expr, const SourceFile& source) {
  const std::string_view written = source.text(expr.span);
  if (written.size() > 40 || written.find('\n') != std::string_view::npos) return "this";
  return fmt::format("`{}`", written);
}

}  // namespace

std::optional<std::uint32_t> Analyzer::find_variable(const Body& body, std::string_view name) const {
  for (auto at = body.bindings.rbegin(); at != body.bindings.rend(); ++at)
    if (at->name == name) return at->variable;
  return std::nullopt;
}

const MemberRef* Analyzer::find_member(const model::Type& type, std::string_view name) const {
  if (type.kind != TypeKind::Value && type.kind != TypeKind::Reference) return nullptr;
  const std::uint32_t owner = owner_of(type);
  const auto found = members_.find(MemberKey{owner, name});
  return found == members_.end() ? nullptr : &found->second;
}

void Analyzer::report_unknown_member(const model::Type& type, const Name& name) {
  const bool value = type.kind == TypeKind::Value;
  const std::uint32_t owner = owner_of(type);
  if (name.missing() || broken_owners_.contains(owner) || lost_names_.contains(name.text)) return;
  const std::string& owner_name = value ? model_.value(type.value()).name : model_.entity(type.entity()).name;
  const Span owner_span = value ? model_.value(type.value()).span : model_.entity(type.entity()).span;
  std::vector<std::string_view> candidates;
  for (const model::Field& field : model_.fields(type))
    if (!field.hidden && !field.name.empty()) candidates.push_back(field.name);
  if (!value) {
    const model::Entity& entity = model_.entity(type.entity());
    for (const std::uint32_t role : entity.inverses) candidates.push_back(model_.roles[role].inverse);
  }
  auto report = error(DiagnosticCode::UnknownField, name.span, fmt::format("`{}` has no `{}`", owner_name, name.text));
  report.label(owner_span, "declared here");
  if (const auto near = closest(name.text, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *near));
    return;
  }
  // Perhaps it is the unnamed way back of a role: `u.orders` where Order.customer has no `inverse`.
  if (!value && affordable(model_.roles.size())) {
    for (const model::Role& role : model_.roles) {
      if (role.to != type.entity() || !role.inverse.empty()) continue;
      const model::Entity& from = model_.entity(role.from);
      const std::string field = from.fields[role.field].name;
      std::string small = from.name;
      std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
      if (name.text.substr(0, small.size()) == small) {
        report.hint(fmt::format("if this is the inverse of `{}.{}`, declare it there: `{}: {} inverse {}`", from.name,
                                field, field, text(from.fields[role.field].type), name.text));
        return;
      }
    }
  }
  if (!candidates.empty() && candidates.size() <= 8) {
    std::string list;
    for (const std::string_view candidate : candidates)
      list += fmt::format("{}`{}`", list.empty() ? "" : ", ", candidate);
    report.hint("it has " + list);
  }
}

namespace {

// A fold over the rows of a select, as far as its text tells: `count(o.lines)` may be the length of a list.
bool written_fold(const Expr& expr) {
  if (expr.kind == ExprKind::Select) return false;
  if (expr.kind == ExprKind::Call) {
    const std::string_view name = expr.name.text;
    if (name == "sum" || name == "min" || name == "max" || name == "avg") return true;
    if (name == "count" && (expr.star || expr.distinct)) return true;
  }
  return std::any_of(expr.operands.begin(), expr.operands.end(), written_fold);
}

}  // namespace

std::optional<std::string> Analyzer::alias_hint(const Body& body, const Name& name) const {
  if (body.columns == nullptr) return std::nullopt;
  for (const SelectColumn& column : *body.columns) {
    if (column.as.missing() || column.as.text != name.text) continue;
    const std::string about = fmt::format("`{}` names a result column, which only `order by` can use", name.text);
    const std::string_view written = source_.text(column.expr.span);
    return written_fold(column.expr)
               ? fmt::format("{}; to filter by the fold `{}`, write it in a nested select", about, written)
               : fmt::format("{}; repeat the expression: `{}`", about, written);
  }
  return std::nullopt;
}

void Analyzer::report_unknown_name(Body& body, const Name& name) {
  if (name.missing()) return;
  if (entities_.contains(name.text)) {
    auto report =
        error(DiagnosticCode::EntityMisuse, name.span, fmt::format("`{}` is an entity, not a value", name.text));
    report.hint(fmt::format("write the key of an instance, `{}[…]`, or use a variable of `from`", name.text));
    return;
  }
  if (values_.contains(name.text)) {
    error(DiagnosticCode::EntityMisuse, name.span, fmt::format("`{}` is a type, not a value", name.text))
        .hint("write a value with its fields: `{ street: …, city: … }`");
    return;
  }
  auto report = error(DiagnosticCode::UnknownName, name.span, fmt::format("unknown variable `{}`", name.text));
  if (ParameterState* parameter = find_parameter(body, name.text)) {
    parameter->used = true;
    report.hint(fmt::format("write the parameter as `${}`", name.text));
    return;
  }
  if (const auto alias = alias_hint(body, name)) {
    report.hint(*alias);
    return;
  }
  std::vector<std::string_view> candidates;
  for (const Binding& binding : body.bindings) candidates.push_back(binding.name);
  if (body.self) {
    const model::Type& type = body.variables[*body.self].type;
    if (type.kind == TypeKind::Reference || type.kind == TypeKind::Value)
      for (const model::Field& field : model_.fields(type))
        if (!field.name.empty()) candidates.push_back(field.name);
  }
  if (body.outputs != nullptr)
    for (const model::Column& column : *body.outputs) candidates.push_back(column.name);
  // A field of one of the variables, without the variable in front of it.
  for (auto at = body.bindings.rbegin(); at != body.bindings.rend(); ++at) {
    const model::Type& type = body.variables[at->variable].type;
    if ((type.kind == TypeKind::Reference || type.kind == TypeKind::Value) && find_member(type, name.text) != nullptr) {
      report.hint(fmt::format("did you mean `{}.{}`?", at->name, name.text));
      return;
    }
  }
  if (const auto near = closest(name.text, candidates))
    report.hint(fmt::format("did you mean `{}`?", *near));
  else if (name.text == "null" || name.text == "NULL" || name.text == "nil" || name.text == "none")
    report.hint("write `absent` for a missing value, and test for it with `is absent`");
  else if (body.place == Place::Command)
    report.hint(fmt::format("write a parameter as `${}`, a text as \"{}\", an instance as `Entity[key]`", name.text,
                            name.text));
}

MExpr Analyzer::read(Body& body, const Expr& expr, const model::Type* expected) {
  MExpr out;
  switch (expr.kind) {
    case ExprKind::Unknown:
      return unknown(expr.span);
    case ExprKind::Number:
      out = read_number_literal(expr, false, expected);
      break;
    case ExprKind::Text:
      out = read_text_literal(expr, expected);
      break;
    case ExprKind::True:
    case ExprKind::False:
      out = constant(bool_type, expr.kind == ExprKind::True, expr.span);
      break;
    case ExprKind::Absent:
      error(DiagnosticCode::AbsentMisuse, expr.span, "`absent` cannot be used here")
          .hint("test with `x is absent`; write `absent` only as the new value of an optional field");
      return unknown(expr.span);
    case ExprKind::Typed:
      out = read_typed_literal(expr);
      break;
    case ExprKind::Duration:
      out = read_duration_literal(expr);
      break;
    case ExprKind::Parameter:
      out = read_parameter(body, expr, expected, false);
      break;
    case ExprKind::Name:
      out = read_name(body, expr);
      break;
    case ExprKind::Member:
      out = read_member(body, expr);
      break;
    case ExprKind::Index:
      out = read_index(body, expr);
      break;
    case ExprKind::Call:
      out = read_call(body, expr, expected);
      break;
    case ExprKind::Unary:
      out = read_unary(body, expr, expected);
      break;
    case ExprKind::Binary:
      out = read_binary(body, expr, expected);
      break;
    case ExprKind::Between:
      out = read_between(body, expr);
      break;
    case ExprKind::IsAbsent:
      out = read_is_absent(body, expr);
      break;
    case ExprKind::List:
      out = read_list(body, expr, expected);
      break;
    case ExprKind::Braces:
      out = read_braces(body, expr, expected);
      break;
    case ExprKind::Select: {
      if (body.place == Place::Design) {
        error(DiagnosticCode::DesignExpression, expr.span, "a design cannot contain a nested select")
            .hint("write a nested list: `recent [ o.id from c.orders o order by o.placed desc limit 10 ]`");
        return unknown(expr.span);
      }
      if (body.place == Place::EntityRequire) {
        error(DiagnosticCode::EntityRequire, expr.span, "a `require` of an entity cannot contain a nested select")
            .hint("write a `require` in the commands that change it; the length of a collection is `count(lines)`");
        return unknown(expr.span);
      }
      model::Select select = read_select(body, *expr.select, true);
      out.kind = MKind::Select;
      if (select.shape == model::Shape::Scalar) {
        out.type = select.columns.empty() ? model::Type{} : select.columns[0].expr.type;
      } else {
        out.type = row_type(select);
        out.type.kind = select.shape == model::Shape::Row ? TypeKind::Row : TypeKind::Rows;
        out.type.optional = select.shape == model::Shape::Row;
      }
      out.select.push_back(std::move(select));
      break;
    }
    case ExprKind::Star:
      return unknown(expr.span);
  }
  out.span = expr.span;
  return out;
}

MExpr Analyzer::read_predicate(Body& body, const Expr& expr, const char* where) {
  MExpr out = read(body, expr, &bool_type);
  if (out.type.known() && out.type.kind != TypeKind::Bool) {
    auto report = error(DiagnosticCode::NotPredicate, expr.span,
                        fmt::format("`{}` needs a condition, but {} has the type `{}`", where, quoted(expr, source_),
                                    text(out.type)));
    if (out.type.kind == TypeKind::Reference || out.type.optional)
      report.hint("write a comparison, or `… is not absent`");
    else if (out.type.is_collection())
      report.hint("write `count(…) > 0`, or `… contains x`");
    else
      report.hint("write a comparison");
    return unknown(expr.span);
  }
  return out;
}

MExpr Analyzer::read_stored(Body& body, const Expr& expr, const model::Type& to, const std::string& what) {
  if (expr.kind == ExprKind::Absent) {
    if (to.optional) {
      return constant(to, std::monostate{}, expr.span);
    }
    if (to.is_collection()) {
      error(DiagnosticCode::AbsentMisuse, expr.span, fmt::format("{} is a collection and cannot be absent", what))
          .hint("write `{}` to empty it");
    } else if (to.known() && what.front() == '`') {
      error(DiagnosticCode::AbsentMisuse, expr.span, fmt::format("{} is required and cannot be absent", what))
          .hint("declare it with `?` if it may be absent");
    } else if (to.known()) {
      error(DiagnosticCode::AbsentMisuse, expr.span, fmt::format("{} is never absent", what)).hint("leave it out");
    }
    return unknown(expr.span);
  }
  MExpr out = expr.kind == ExprKind::Parameter ? read_parameter(body, expr, &to, to.optional) : read(body, expr, &to);
  out.span = expr.span;
  if (fit_or_report(out, to, true, what) && to.kind == TypeKind::Reference) refuse_empty_key(out, what);
  return out;
}

// A key, and so a reference, is never an empty text or empty bytes: some databases can't hold it.
void Analyzer::refuse_empty_key(const MExpr& value, const std::string& what) {
  const MExpr* at = &value;
  while (at->kind == MKind::Instance && at->operands.size() == 1) at = &at->operands[0];
  const auto* text_value = std::get_if<std::string>(&at->constant);
  if (at->kind != MKind::Constant || text_value == nullptr || !text_value->empty()) return;
  error(DiagnosticCode::KeyType, value.span, fmt::format("{} is a key and cannot be empty", what))
      .hint("the command would be refused each time");
}

MExpr Analyzer::read_number_literal(const Expr& expr, bool negative, const model::Type* expected) {
  TypeKind wanted = TypeKind::Unknown;
  if (expected != nullptr) {
    const model::Type* at = expected->kind == TypeKind::Reference ? single_key(*expected) : expected;
    if (at != nullptr && at->is_number()) wanted = at->kind;
  }
  const std::string digits = (negative ? "-" : "") + without_underscores(expr.number.text);
  const bool point = digits.find('.') != std::string::npos;
  if (wanted == TypeKind::Unknown) wanted = point ? TypeKind::Decimal : TypeKind::Int;
  if (wanted == TypeKind::Int && point) wanted = TypeKind::Decimal;  // the misfit is told where it is used
  if (wanted == TypeKind::Int) {
    if (const auto value = model::parse_int(digits)) return constant(int_type, *value, expr.span);
    if (!any_inside(parse_errors_, expr.span))
      error(DiagnosticCode::NumberRange, expr.span, fmt::format("{} does not fit `int`, which has 64 bits", digits));
    return unknown(expr.span);
  }
  if (wanted == TypeKind::Float) {
    if (const auto value = model::parse_float(digits))
      return constant(model::scalar(TypeKind::Float), *value, expr.span);
    error(DiagnosticCode::NumberRange, expr.span, "a number that does not fit `float`");
    return unknown(expr.span);
  }
  if (auto value = model::parse_decimal(digits))
    return constant(model::scalar(TypeKind::Decimal), std::move(*value), expr.span);
  if (!any_inside(parse_errors_, expr.span))  // else reported by the lexer
    error(DiagnosticCode::NumberRange, expr.span, "a number that does not fit `decimal`, which has 34 digits");
  return unknown(expr.span);
}

MExpr Analyzer::read_text_literal(const Expr& expr, const model::Type* expected) {
  if (expected != nullptr && expected->kind == TypeKind::Enumeration) {
    if (std::find(expected->names.begin(), expected->names.end(), expr.text) == expected->names.end()) {
      std::vector<std::string_view> candidates(expected->names.begin(), expected->names.end());
      model::Type plain = *expected;
      plain.optional = false;
      auto report = error(DiagnosticCode::EnumerationText, expr.span,
                          fmt::format("\"{}\" is not in `{}`", expr.text, text(plain)));
      if (const auto near = closest(expr.text, candidates)) report.hint(fmt::format("did you mean \"{}\"?", *near));
      return unknown(expr.span);
    }
    model::Type type = *expected;
    type.optional = false;
    return constant(std::move(type), expr.text, expr.span);
  }
  return constant(text_type, expr.text, expr.span);
}

MExpr Analyzer::read_duration_literal(const Expr& expr) {
  Duration duration;
  duration.amount = expr.number;
  duration.unit = expr.name;
  duration.span = expr.span;
  return constant(model::scalar(TypeKind::Duration), read_duration(duration, DiagnosticCode::NumberRange), expr.span);
}

MExpr Analyzer::read_typed_literal(const Expr& expr) {
  const std::string_view type = expr.name.text;
  const std::string& value = expr.text;
  const auto invalid = [&](const std::string& hint) {
    const std::size_t quote = source_.text({expr.name.span.end, expr.span.end}).find('"');
    const Span span{expr.name.span.end + static_cast<std::uint32_t>(quote == std::string_view::npos ? 0 : quote),
                    expr.span.end};
    error(DiagnosticCode::InvalidLiteral, span, fmt::format("invalid {} literal", type)).hint(hint);
    return unknown(expr.span);
  };
  const auto of = [&](TypeKind kind, model::Literal made) {
    return constant(model::scalar(kind), std::move(made), expr.span);
  };
  if (type == "timestamp") {
    if (const auto made = model::parse_timestamp(value)) return of(TypeKind::Timestamp, *made);
    return invalid("write `timestamp \"2026-01-31T23:59:59.999Z\"`: UTC or an offset, at most milliseconds");
  }
  if (type == "date") {
    if (const auto made = model::parse_date(value)) return of(TypeKind::Date, *made);
    return invalid("write `date \"2026-01-31\"`");
  }
  if (type == "uuid" || type == "timeuuid") {
    auto made = model::parse_uuid(value);
    if (made && type == "timeuuid" && !model::is_timeuuid(*made))
      return invalid("a timeuuid is a uuid of version 1: its third group must begin with 1");
    if (made) return of(type == "uuid" ? TypeKind::Uuid : TypeKind::TimeUuid, std::move(*made));
    return invalid("write 32 hexadecimal digits as 8-4-4-4-12");
  }
  if (type == "inet") {
    if (auto made = model::parse_inet(value)) return of(TypeKind::Inet, std::move(*made));
    return invalid("write an IPv4 or IPv6 address, without zone or prefix");
  }
  if (type == "bytes") {
    if (auto made = model::parse_base64(value)) return of(TypeKind::Bytes, std::move(*made));
    return invalid("write the bytes in base64, padded with `=`");
  }
  if (type == "decimal") {
    if (auto made = model::parse_decimal(value)) return of(TypeKind::Decimal, std::move(*made));
    return invalid("write a decimal with at most 34 digits");
  }
  if (type == "float") {
    if (const auto made = model::parse_float(value)) return of(TypeKind::Float, *made);
    return invalid("write a finite number, not NaN or infinity");
  }
  if (type == "int") {
    if (const auto made = model::parse_int(value)) return of(TypeKind::Int, *made);
    return invalid("write a whole number with at most 64 bits");
  }
  if (type == "json") {
    if (is_json(value)) return of(TypeKind::Json, value);
    return invalid("write it as JSON, with its quotes escaped: `json \"{\\\"a\\\": 1}\"`; its integers have 64 bits");
  }
  if (type == "text") return of(TypeKind::Text, value);
  constexpr std::array<std::string_view, 10> types = {"timestamp", "date",  "uuid",    "timeuuid", "inet",
                                                      "bytes",     "float", "decimal", "json",     "text"};
  auto report =
      error(DiagnosticCode::InvalidLiteral, expr.name.span, fmt::format("there are no literals of type `{}`", type));
  if (const auto near = closest(type, types)) report.hint(fmt::format("did you mean `{} \"…\"`?", *near));
  return unknown(expr.span);
}

ParameterState* Analyzer::find_parameter(Body& body, std::string_view name) {
  for (auto at = body.loops.rbegin(); at != body.loops.rend(); ++at)
    if (at->name == name) return &*at;
  for (ParameterState& parameter : body.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

void Analyzer::use_parameter(ParameterState& state, const model::Type* expected, Span span, bool stored_as_optional) {
  state.used = true;
  if (!stored_as_optional) state.only_stored_as_optional = false;
  if (expected == nullptr || !expected->known() || state.declared) return;
  if (expected->kind == TypeKind::Row || expected->kind == TypeKind::Rows || expected->kind == TypeKind::Duration)
    return;
  const model::Type wanted = plain(*expected);
  if (!state.type.known()) {
    state.type = wanted;
    state.first_use = span;
    return;
  }
  if (auto both = unify(state.type, wanted)) {
    if (!(*both == state.type) && *both == wanted) state.first_use = span;
    state.type = std::move(*both);
    return;
  }
  if (state.conflict) return;
  state.conflict = true;
  error(DiagnosticCode::ParameterConflict, span, fmt::format("`${}` is used as `{}` here", state.name, text(wanted)))
      .label(state.first_use, fmt::format("and as `{}` here", text(state.type)))
      .hint(fmt::format("use two parameters, or declare the type: `${}: {}`", state.name, text(state.type)));
}

MExpr Analyzer::read_parameter(Body& body, const Expr& expr, const model::Type* expected, bool stored_as_optional) {
  if (expr.name.missing()) return unknown(expr.span);
  ParameterState* state = find_parameter(body, expr.name.text);
  if (state == nullptr) {
    if (body.place == Place::Design || body.place == Place::EntityRequire) {
      error(body.place == Place::Design ? DiagnosticCode::DesignExpression : DiagnosticCode::EntityRequire, expr.span,
            fmt::format("`${}`: {} has no parameters", expr.name.text,
                        body.place == Place::Design ? "a design" : "an entity"));
      return unknown(expr.span);
    }
    std::vector<std::string_view> candidates;
    for (const ParameterState& parameter : body.parameters) candidates.push_back(parameter.name);
    for (const ParameterState& loop : body.loops) candidates.push_back(loop.name);
    auto report =
        error(DiagnosticCode::UnknownParameter, expr.span, fmt::format("`${}` is not declared", expr.name.text));
    if (const auto near = closest(expr.name.text, candidates)) {
      report.hint(fmt::format("did you mean `${}`?", *near));
      if (ParameterState* meant = find_parameter(body, *near)) meant->used = true;
    } else
      report.hint(
          fmt::format("declare it in the parentheses after the name of the statement: `(${})`", expr.name.text));
    // It counts as declared from here on, so that it is reported once.
    ParameterState made;
    made.name = expr.name.text;
    made.span = expr.span;
    made.used = true;
    made.declared = true;
    made.conflict = true;
    body.parameters.push_back(made);
    return unknown(expr.span);
  }
  const bool loop = !body.loops.empty() && state >= body.loops.data() && state < body.loops.data() + body.loops.size();
  use_parameter(*state, expected, expr.span, stored_as_optional);
  MExpr out;
  out.kind = loop ? MKind::Variable : MKind::Parameter;
  out.index = loop ? state->variable : static_cast<std::uint32_t>(state - body.parameters.data());
  if (!state->conflict) out.type = state->type;
  if (loop) body.variables[state->variable].type = state->type;
  out.span = expr.span;
  return out;
}

MExpr Analyzer::read_name(Body& body, const Expr& expr) {
  const Name& name = expr.name;
  if (name.missing()) return unknown(expr.span);
  if (body.outputs != nullptr) {
    for (std::uint32_t i = 0; i < body.outputs->size(); ++i) {
      const model::Column& column = (*body.outputs)[i];
      if (column.name != name.text) continue;
      if (column.aggregate) return column.expr;
      MExpr out;
      out.kind = MKind::Column;
      out.index = i;
      out.type = column.expr.type;
      out.span = expr.span;
      return out;
    }
  }
  if (const auto variable = find_variable(body, name.text)) return variable_expr(body, *variable, expr.span);
  if (body.self) {
    const model::Type& type = body.variables[*body.self].type;
    if (!type.known()) return unknown(expr.span);
    if (find_member(type, name.text) != nullptr)
      return step(body, variable_expr(body, *body.self, name.span), name, expr.span);
    if (type.kind == TypeKind::Row &&
        (name.text == "refreshed" || std::find(type.names.begin(), type.names.end(), name.text) != type.names.end()))
      return step(body, variable_expr(body, *body.self, name.span), name, expr.span);
    bool parameter = std::any_of(body.parameters.begin(), body.parameters.end(),
                                 [&](const ParameterState& state) { return state.name == name.text; });
    if (!parameter && !entities_.contains(name.text) && body.bindings.empty() && type.kind != TypeKind::Row) {
      report_unknown_member(type, name);
      return unknown(expr.span);
    }
    if (type.kind != TypeKind::Row && broken_owners_.contains(owner_of(type))) return unknown(expr.span);
  }
  report_unknown_name(body, name);
  return unknown(expr.span);
}

MExpr Analyzer::read_member(Body& body, const Expr& expr) {
  const Expr& base = expr.operands[0];
  // `Order.placed`: an entity's name in place of a variable.
  if (base.kind == ExprKind::Name && !find_variable(body, base.name.text) && !base.name.missing()) {
    const auto entity = entities_.find(base.name.text);
    const bool own = body.self && body.variables[*body.self].type.known() &&
                     find_member(body.variables[*body.self].type, base.name.text) != nullptr;
    if (entity != entities_.end() && !own) {
      for (const Binding& binding : body.bindings) {
        const model::Type& type = body.variables[binding.variable].type;
        if (type.kind == TypeKind::Reference && type.entity() == entity->second) {
          error(DiagnosticCode::EntityMisuse, base.name.span,
                fmt::format("`{}` is an entity, not a variable", base.name.text))
              .label(body.variables[binding.variable].span, "its variable is declared here")
              .hint(fmt::format("did you mean `{}.{}`?", binding.name, expr.name.text));
          return unknown(expr.span);
        }
      }
    }
  }
  MExpr from = read(body, base);
  if (!from.type.known() || expr.name.missing()) return unknown(expr.span);
  return step(body, std::move(from), expr.name, expr.span);
}

MExpr Analyzer::step(Body& body, MExpr base, const Name& name, Span span) {
  const model::Type type = base.type;
  MExpr out;
  out.span = span;
  switch (type.kind) {
    case TypeKind::Unknown:
      return unknown(span);
    case TypeKind::Reference: {
      const MemberRef* member = find_member(type, name.text);
      if (member == nullptr) {
        report_unknown_member(type, name);
        return unknown(span);
      }
      if (const auto reference = reference_variable(body, base);
          reference && !in_key_of(model_.entity(type.entity()), *member)) {
        const std::string_view held = source_.text(body.variables[*reference].source.span);
        const std::string& variable = body.variables[*reference].name;
        error(DiagnosticCode::PathStep, name.span,
              fmt::format("`{}` is a reference whose target may not exist: only its key can be read", variable))
            .label(body.variables[*reference].span, "declared here")
            .hint(fmt::format("bind existing targets: `{} {}` instead of `references({}) {}`", held, variable, held,
                              variable));
        return unknown(span);
      }
      const bool self = base.kind == MKind::Variable && body.variables[base.index].kind == model::SourceKind::Target;
      if (member->inverse) {
        if (!body.own_only.empty()) {
          error(body.place == Place::BulkPredicate ? DiagnosticCode::BulkPredicate : DiagnosticCode::EntityRequire,
                name.span,
                fmt::format(
                    "`{}` is the inverse of `{}.{}`, but {} can read only own fields", name.text,
                    model_.entity(model_.roles[member->index].from).name,
                    model_.entity(model_.roles[member->index].from).fields[model_.roles[member->index].field].name,
                    body.own_only))
              .hint("write a `require` in the commands that change it");
          return unknown(span);
        }
        out.kind = MKind::Inverse;
        out.index = member->index;
        out.type = model::collection_of(TypeKind::Set, model::reference(model_.roles[member->index].from));
        out.operands.push_back(std::move(base));
        return out;
      }
      const model::Entity& entity = model_.entity(type.entity());
      const bool in_key = std::find(entity.key.begin(), entity.key.end(), member->index) != entity.key.end();
      if (!body.own_only.empty() && !self && !in_key) {
        error(body.place == Place::BulkPredicate ? DiagnosticCode::BulkPredicate : DiagnosticCode::EntityRequire, span,
              fmt::format("`{}` is in another aggregate, a `{}`, but {} can read only own fields", name.text,
                          entity.name, body.own_only))
            .hint("write a `require` in the commands that change it");
        return unknown(span);
      }
      const bool exists = base.kind == MKind::Variable && body.variables[base.index].kind != model::SourceKind::Loop;
      out.kind = MKind::Field;
      out.index = member->index;
      out.type = entity.fields[member->index].type;
      if (!out.type.is_collection()) out.type.optional |= type.optional || (!exists && !in_key);
      out.operands.push_back(std::move(base));
      return out;
    }
    case TypeKind::Value: {
      const MemberRef* member = find_member(type, name.text);
      if (member == nullptr) {
        report_unknown_member(type, name);
        return unknown(span);
      }
      out.kind = MKind::Field;
      out.index = member->index;
      out.type = model_.value(type.value()).fields[member->index].type;
      if (!out.type.is_collection()) out.type.optional |= type.optional;
      out.operands.push_back(std::move(base));
      return out;
    }
    case TypeKind::Row: {
      for (std::uint32_t i = 0; i < type.names.size(); ++i) {
        if (type.names[i] != name.text) continue;
        out.kind = MKind::Field;
        out.index = i;
        out.type = type.arguments[i];
        out.type.optional |= type.optional;
        out.operands.push_back(std::move(base));
        return out;
      }
      const bool refreshed =
          base.kind == MKind::Variable && (body.variables[base.index].kind == model::SourceKind::Refreshed ||
                                           body.variables[base.index].kind == model::SourceKind::History);
      if (refreshed && name.text == "refreshed") {
        out.kind = MKind::Refreshed;
        out.type = timestamp_type;
        out.operands.push_back(std::move(base));
        return out;
      }
      std::vector<std::string_view> candidates(type.names.begin(), type.names.end());
      if (refreshed) candidates.emplace_back("refreshed");
      auto report = error(DiagnosticCode::UnknownField, name.span, fmt::format("unknown column `{}`", name.text));
      if (const auto near = closest(name.text, candidates)) {
        report.hint(fmt::format("did you mean `{}`?", *near));
      } else if (candidates.size() <= 8) {
        std::string list;
        for (const std::string_view one : candidates) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", one);
        report.hint("the columns are " + list);
      }
      return unknown(span);
    }
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Rows: {
      const std::string_view written = source_.text({span.begin, base.span.end});
      auto report = error(DiagnosticCode::PathStep, name.span,
                          fmt::format("`{}` has many elements, so a path cannot continue after it", written));
      if (name.text == "length" || name.text == "size" || name.text == "count")
        report.hint(fmt::format("the number of elements is `count({})`", written));
      else if (type.kind == TypeKind::Rows)
        report.hint("a nested select with `limit 1` is one row");
      else
        report.hint(fmt::format("bind it in `from`: `{} x`, and write `x.{}`", written, name.text));
      return unknown(span);
    }
    default: {
      auto report =
          error(DiagnosticCode::PathStep, name.span,
                fmt::format("`{}` has the type `{}`, which has no fields", source_.text(base.span), text(type)));
      if (type.kind == TypeKind::Json) report.hint("noam does not read inside json: declare a `value`");
      return unknown(span);
    }
  }
}

MExpr Analyzer::read_index(Body& body, const Expr& expr) {
  const Expr& base = expr.operands[0];
  if (base.kind == ExprKind::Name && !find_variable(body, base.name.text)) {
    const bool own = body.self && body.variables[*body.self].type.known() &&
                     find_member(body.variables[*body.self].type, base.name.text) != nullptr;
    const auto entity = entities_.find(base.name.text);
    if (!own && entity != entities_.end()) return read_instance(body, expr, entity->second);
    if (!own && !body.self && !base.name.missing() && body.place != Place::Design &&
        !lost_names_.contains(base.name.text)) {
      std::vector<std::string_view> candidates;
      add_names(entities_, candidates);
      for (const Binding& binding : body.bindings) candidates.push_back(binding.name);
      std::sort(candidates.begin(), candidates.end());
      const bool value = values_.contains(base.name.text);
      const bool query = statements_.contains(base.name.text);
      auto report = error(DiagnosticCode::UnknownEntity, base.name.span,
                          value   ? fmt::format("`{}` is a value, not an entity", base.name.text)
                          : query ? fmt::format("`{}` is a statement, not an entity", base.name.text)
                                  : fmt::format("unknown entity `{}`", base.name.text));
      if (value || query)
        report.hint("write an instance as `Entity[key]`");
      else if (const auto near = closest(base.name.text, candidates))
        report.hint(fmt::format("did you mean `{}`?", *near));
      for (std::size_t i = 1; i < expr.operands.size(); ++i) read(body, expr.operands[i]);
      return unknown(expr.span);
    }
    if (lost_names_.contains(base.name.text)) {
      for (std::size_t i = 1; i < expr.operands.size(); ++i) read(body, expr.operands[i]);
      return unknown(expr.span);
    }
  }
  MExpr from = read(body, base);
  const model::Type type = from.type;
  if (expr.operands.size() < 2 || !type.known()) {
    for (std::size_t i = 1; i < expr.operands.size(); ++i) read(body, expr.operands[i]);
    return unknown(expr.span);
  }
  const Expr& index = expr.operands[1];
  if (expr.operands.size() > 2 && type.is_collection()) {
    error(DiagnosticCode::IndexMisuse, expr.operands[2].span, "expected one index, found several");
    return unknown(expr.span);
  }
  MExpr out;
  out.kind = MKind::Element;
  out.span = expr.span;
  switch (type.kind) {
    case TypeKind::List: {
      MExpr at = read(body, index, &int_type);
      fit_or_report(at, int_type, false, "a position in a list");
      out.type = type.element();
      out.type.optional = true;
      out.operands = pack(std::move(from), std::move(at));
      return out;
    }
    case TypeKind::Map: {
      MExpr at = read(body, index, &type.arguments[0]);
      fit_or_report(at, type.arguments[0], false, "a key of this map");
      out.type = type.element();
      out.type.optional = true;
      out.operands = pack(std::move(from), std::move(at));
      return out;
    }
    default: {
      auto report = error(DiagnosticCode::IndexMisuse, Span{base.span.end, expr.span.end},
                          fmt::format("{} has the type `{}`, which has no `[…]`", quoted(base, source_), text(type)));
      if (type.kind == TypeKind::Set)
        report.hint("a set has no positions; write `… contains x`");
      else if (type.kind == TypeKind::Json)
        report.hint("noam does not read inside json: declare a `value` or a `map`");
      return unknown(expr.span);
    }
  }
}

MExpr Analyzer::read_instance(Body& body, const Expr& expr, model::EntityId id) {
  const model::Entity& entity = model_.entity(id);
  MExpr out;
  out.kind = MKind::Instance;
  out.index = static_cast<std::uint32_t>(id);
  out.type = model::reference(id);
  out.span = expr.span;
  const std::size_t given = expr.operands.size() - 1;
  const bool broken_key = broken_owners_.contains(owner_of(id));
  if (given == 1 && entity.key.size() == 1) {
    // The parameter is the instance's key: say so by its type, `User` and not `text`.
    const model::Type& type = entity.fields[entity.key[0]].type;
    const bool parameter = expr.operands[1].kind == ExprKind::Parameter;
    MExpr part = read(body, expr.operands[1], parameter ? &out.type : &type);
    if (!broken_key) fit_or_report(part, type, false, fmt::format("the key of `{}`", entity.name));
    out.operands.push_back(std::move(part));
    return out;
  }
  if (given != entity.key.size()) {
    // What is a reference to the instance already may stand for a key of several parts.
    MExpr first;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) first = read(body, expr.operands[i]);
    if (broken_key) return out;
    if (given == 1 && first.type.kind == TypeKind::Reference && first.type.id == out.type.id) return first;
    if (given == 1 && !first.type.known() && expr.operands[1].kind != ExprKind::Parameter) return out;
    std::string parts;
    for (const std::uint32_t part : entity.key) parts += (parts.empty() ? "" : ", ") + entity.fields[part].name;
    error(DiagnosticCode::IndexMisuse, {expr.operands[0].span.end, expr.span.end},
          fmt::format("the key of `{}` has {} part{}, {} given", entity.name, entity.key.size(),
                      entity.key.size() == 1 ? "" : "s", given))
        .label(entity.span, "declared here")
        .hint(fmt::format("write `{}[{}]`", entity.name, parts));
    return out;
  }
  for (std::size_t i = 0; i < entity.key.size(); ++i) {
    const model::Field& field = entity.fields[entity.key[i]];
    MExpr part = read(body, expr.operands[i + 1], &field.type);
    fit_or_report(part, field.type, false, fmt::format("`{}` in the key of `{}`", field.name, entity.name));
    out.operands.push_back(std::move(part));
  }
  return out;
}

MExpr Analyzer::read_call(Body& body, const Expr& expr, const model::Type* expected) {
  const std::string_view name = expr.name.text;
  const std::size_t given = expr.operands.size();
  const auto read_all = [&] {
    for (const Expr& operand : expr.operands) read(body, operand);
    return unknown(expr.span);
  };
  const auto wrong_count = [&](const std::string& usage) {
    error(DiagnosticCode::WrongArguments, expr.span,
          fmt::format("`{}` does not take {} argument{}", name, expr.star ? 1 : given, given == 1 ? "" : "s"))
        .hint("write " + usage);
    for (const Expr& operand : expr.operands) read(body, operand);
    return unknown(expr.span);
  };
  if (name == "count" || name == "sum" || name == "min" || name == "max" || name == "avg") return read_fold(body, expr);
  const bool known = std::find(function_names.begin(), function_names.end(), name) != function_names.end();
  if (known && (expr.distinct || expr.star)) {
    error(DiagnosticCode::WrongArguments, expr.span,
          fmt::format("`{}` does not take `{}`", name, expr.star ? "*" : "distinct"))
        .hint("`count(*)` and `count(distinct x)` are folds");
    return read_all();
  }
  for (const FunctionName& function : time_functions) {
    if (function.name != name) continue;
    if (given != 1) return wrong_count(fmt::format("`{}(t.at)`", name));
    const Expr& operand = expr.operands[0];
    const bool parameter = operand.kind == ExprKind::Parameter;
    MExpr of =
        read(body, operand,
             parameter ? (expected != nullptr && expected->kind == TypeKind::Date ? expected : nullptr) : nullptr);
    if (parameter && !of.type.known()) of = read(body, operand, &timestamp_type);
    if (!of.type.known()) return unknown(expr.span);
    const bool date = of.type.kind == TypeKind::Date;
    if (!date && of.type.kind != TypeKind::Timestamp) {
      error(DiagnosticCode::WrongArguments, operand.span,
            fmt::format("`{}` takes a `timestamp` or a `date`, found `{}`", name, text(of.type)));
      return unknown(expr.span);
    }
    if (date && (function.function == Function::Minute || function.function == Function::Hour)) {
      error(DiagnosticCode::WrongArguments, operand.span, fmt::format("a `date` has no {}", name))
          .hint("use `day`, `week`, `month` or `year`, or declare a `timestamp`");
      return unknown(expr.span);
    }
    model::Type type = of.type;
    return call(function.function, std::move(type), pack(std::move(of)), expr.span);
  }
  if (name == "now") {
    if (given != 0) return wrong_count("`now()`");
    if (body.place == Place::Design) {
      error(DiagnosticCode::DesignExpression, expr.span, "stored data cannot depend on the time: no `now()` here")
          .hint("filter by `now()` in the query, and add a bucket such as `day(e.at)` to the key");
      return unknown(expr.span);
    }
    if (body.place == Place::EntityRequire) {
      error(DiagnosticCode::EntityRequire, expr.span, "a `require` of an entity can read only own fields, not the time")
          .hint("write a `require` in the commands that change it");
      return unknown(expr.span);
    }
    return call(Function::Now, timestamp_type, {}, expr.span);
  }
  if (name == "uuid" || name == "random_text") {
    if (body.place != Place::Command) {
      error(DiagnosticCode::FunctionMisplaced, expr.name.span, fmt::format("`{}` can be used only in commands", name))
          .hint("it is computed from the command id, so that a repeated command gives the same result");
      return read_all();
    }
    if (name == "uuid") {
      if (given != 0) return wrong_count("`uuid()`");
      return call(Function::MakeUuid, model::scalar(TypeKind::Uuid), {}, expr.span);
    }
    if (given != 1) return wrong_count("`random_text(8)`");
    MExpr length = read(body, expr.operands[0], &int_type);
    const auto* value = std::get_if<std::int64_t>(&length.constant);
    if (!length.type.known()) return unknown(expr.span);
    if (length.kind != MKind::Constant || value == nullptr || *value < 1 || *value > 1024) {
      error(DiagnosticCode::WrongArguments, expr.operands[0].span,
            "the length of a random text must be a number from 1 to 1024");
      return unknown(expr.span);
    }
    return call(Function::RandomText, text_type, pack(std::move(length)), expr.span);
  }
  if (name == "greatest" || name == "least") {
    if (given < 2) return wrong_count(fmt::format("`{}(a, b)`", name));
    // The first operand that knows its type gives it to the others.
    model::Type type;
    std::vector<MExpr> operands(given);
    for (const bool second_round : {false, true}) {
      for (std::size_t i = 0; i < given; ++i) {
        if (flexible(body, expr.operands[i]) != second_round) continue;
        const model::Type* hint = type.known() ? &type : expected;
        operands[i] = read(body, expr.operands[i], hint);
        if (!type.known() || (type.kind == TypeKind::Int && operands[i].type.kind == TypeKind::Decimal))
          type = operands[i].type;
      }
    }
    bool maybe_absent = false;
    for (MExpr& operand : operands) {
      maybe_absent |= operand.type.optional;
      if (!fit_or_report(operand, type, false, fmt::format("`{}` of `{}`", name, text(type))))
        return unknown(expr.span);
    }
    if (type.known() && !ordered(type)) {
      error(DiagnosticCode::NotOrdered, expr.span, fmt::format("`{}` has no order", text(type)));
      return unknown(expr.span);
    }
    type.optional = maybe_absent;
    type.max_length = 0;
    return call(name == "greatest" ? Function::Greatest : Function::Least, std::move(type), std::move(operands),
                expr.span);
  }
  if (name == "position" || name == "key") {
    if (given != 1) return wrong_count(fmt::format("`{}(x)`, where x is bound in `from`", name));
    MExpr of = read(body, expr.operands[0]);
    if (!of.type.known()) return unknown(expr.span);
    const TypeKind wanted = name == "position" ? TypeKind::List : TypeKind::Map;
    const bool of_variable = of.kind == MKind::Variable;
    const bool of_row = of_variable && name == "position" &&
                        (body.variables[of.index].kind == model::SourceKind::Refreshed ||
                         body.variables[of.index].kind == model::SourceKind::History);
    const bool of_element = of_variable && (body.variables[of.index].kind == model::SourceKind::Path ||
                                            body.variables[of.index].kind == model::SourceKind::References);
    const bool right = of_row || (of_element && body.variables[of.index].source.type.kind == wanted);
    if (!right) {
      error(DiagnosticCode::WrongArguments, expr.operands[0].span,
            name == "position" ? "`position` takes a variable over a list" : "`key` takes a variable over a map")
          .hint(name == "position" ? "bind it in `from`: `g.rounds r`, and write `position(r)`"
                                   : "bind it in `from`: `c.cart line`, and write `key(line)`");
      return unknown(expr.span);
    }
    model::Type type = name == "position" ? int_type : body.variables[of.index].source.type.arguments[0];
    return call(name == "position" ? Function::Position : Function::MapKey, std::move(type), pack(std::move(of)),
                expr.span);
  }
  if (name == "shard") {
    if (body.place != Place::Design) {
      error(DiagnosticCode::FunctionMisplaced, expr.name.span, "`shard` can be used only in designs");
      return read_all();
    }
    if (given != 2) return wrong_count("`shard(e.id, 16)`");
    MExpr of = read(body, expr.operands[0]);
    MExpr count = read(body, expr.operands[1], &int_type);
    if (of.type.known() && !ordered(of.type)) {
      error(DiagnosticCode::NotComparable, expr.operands[0].span,
            fmt::format("`{}` cannot be used for sharding", text(of.type)));
      return unknown(expr.span);
    }
    const auto* value = std::get_if<std::int64_t>(&count.constant);
    if (count.type.known() && (count.kind != MKind::Constant || value == nullptr || *value < 2 || *value > 65536)) {
      error(DiagnosticCode::WrongArguments, expr.operands[1].span,
            "the number of shards must be a number from 2 to 65_536");
      return unknown(expr.span);
    }
    return call(Function::Shard, int_type, pack(std::move(of), std::move(count)), expr.span);
  }
  if (name == "words") {
    error(DiagnosticCode::FunctionMisplaced, expr.name.span,
          "`words` can be used only as a source in the `of` of a design")
        .hint("in a query write `t.content contains all $words`");
    return read_all();
  }
  if (name == "references") {
    error(DiagnosticCode::FunctionMisplaced, expr.name.span,
          "`references` can be used only as a source in the `of` of a design")
        .hint("for the references themselves write the role without a function: `u.follows`");
    return read_all();
  }
  std::string hint;
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const ForeignFunction& foreign : foreign_functions)
    if (foreign.theirs == small) hint = foreign.hint;
  if (hint.empty()) {
    if (const auto near = closest(name, function_names)) hint = fmt::format("did you mean `{}`?", *near);
  }
  if (hint.empty() && entities_.contains(name)) hint = fmt::format("write an instance as `{}[key]`", name);
  auto report = error(DiagnosticCode::UnknownFunction, expr.name.span, fmt::format("unknown function `{}`", name));
  if (!hint.empty()) report.hint(hint);
  return read_all();
}

// Whether a fold may stand here; says why not.
bool Analyzer::fold_may_stand(const Body& body, const Expr& expr) {
  const std::string_view name = expr.name.text;
  if (body.inside_fold) {
    error(DiagnosticCode::FoldMisplaced, expr.span, fmt::format("the fold `{}` inside another fold", name))
        .hint(
            "remove one of the folds; only the number of elements of a role or collection, `count(x)`, can be inside a "
            "fold");
    return false;
  }
  if (body.folds_allowed) return true;
  auto report = error(DiagnosticCode::FoldMisplaced, expr.span, fmt::format("the fold `{}` cannot be used here", name));
  if (body.place == Place::Design)
    report.hint(
        "use it as a column of a copy; a key can contain only the number of elements of a role, `count(t.liked_by)`");
  else if (body.place == Place::Query)
    report.hint("use folds in `select` and `order by`; to count other instances write a nested select");
  else if (body.place == Place::EntityRequire)
    report.hint("write a `require` in the commands that change it");
  else
    report.hint("write a nested select: `(select count(*) from … where …)`");
  return false;
}

MExpr Analyzer::read_fold(Body& body, const Expr& expr) {
  const std::string_view name = expr.name.text;
  MExpr out;
  out.span = expr.span;
  out.kind = MKind::Fold;
  out.distinct = expr.distinct;
  if (expr.star && name == "count") {
    if (!fold_may_stand(body, expr)) return unknown(expr.span);
    out.fold = model::Fold::Count;
    out.type = int_type;
    return out;
  }
  if (expr.operands.size() != 1) {
    error(DiagnosticCode::WrongArguments, expr.span, fmt::format("`{}` takes one argument", name))
        .hint(name == "count" ? "write `count(*)` for rows, `count(x)` for elements, `count(distinct x.field)`"
                              : fmt::format("write `{}(x.field)`", name));
    for (const Expr& operand : expr.operands) read(body, operand);
    return unknown(expr.span);
  }
  const Expr& operand = expr.operands[0];
  const bool outer = std::exchange(body.inside_fold, true);
  MExpr of = read(body, operand);
  body.inside_fold = outer;
  if (!of.type.known()) return unknown(expr.span);
  const auto wrong = [&](const std::string& why, const std::string& hint) {
    error(DiagnosticCode::WrongArguments, operand.span, why).hint(hint);
    return unknown(expr.span);
  };
  const bool many = of.type.is_collection() || of.type.kind == TypeKind::Rows;
  if (name == "count" && many) {  // a value of the row, not a fold
    if (expr.distinct)
      return wrong(fmt::format("`distinct` of {}, which has many elements", quoted(operand, source_)),
                   "remove `distinct`, or bind it in `from` and count a field of it");
    out.kind = MKind::CountOf;
    out.type = int_type;
    out.operands = pack(std::move(of));
    return out;
  }
  if (name == "count" && of.type.kind == TypeKind::Reference && of.kind != MKind::Variable && !expr.distinct) {
    error(DiagnosticCode::CountToOne, operand.span, fmt::format("{} is a single reference", quoted(operand, source_)))
        .hint("write `count(*)` for rows, `count(distinct x)` for different values, or test with `is absent`");
    return unknown(expr.span);
  }
  if (!fold_may_stand(body, expr)) return unknown(expr.span);
  if (expr.distinct && name != "count")
    return wrong(fmt::format("`{}` does not take `distinct`", name), "only `count(distinct x)` does");
  if (many)
    return wrong(fmt::format("`{}` folds rows, but {} has many elements in one row", name, quoted(operand, source_)),
                 "bind it in `from`, and fold a field of it");
  if (name == "count") {
    if (expr.distinct && !ordered(of.type)) {
      error(DiagnosticCode::DistinctType, operand.span,
            fmt::format("`distinct` of `{}`, which cannot be compared", text(of.type)))
          .hint("count a scalar or a reference");
      return unknown(expr.span);
    }
    out.fold = model::Fold::Count;
    out.type = int_type;
  } else if (name == "sum" || name == "avg") {
    if (!of.type.is_number())
      return wrong(fmt::format("`{}` takes numbers, found `{}`", name, text(of.type)), "use `min`, `max` or `count`");
    out.fold = name == "sum" ? model::Fold::Sum : model::Fold::Avg;
    out.type = model::scalar(of.type.kind);
    if (name == "avg") {
      if (of.type.kind == TypeKind::Int) out.type = model::scalar(TypeKind::Float);
      out.type.optional = true;
    }
  } else {
    if (!ordered(of.type)) {
      error(DiagnosticCode::NotOrdered, operand.span,
            fmt::format("`{}` of `{}`, which has no order", name, text(of.type)));
      return unknown(expr.span);
    }
    out.fold = name == "min" ? model::Fold::Min : model::Fold::Max;
    out.type = of.type;
    out.type.optional = true;
    out.type.max_length = 0;
  }
  out.operands = pack(std::move(of));
  return out;
}

MExpr Analyzer::read_unary(Body& body, const Expr& expr, const model::Type* expected) {
  const Expr& operand = expr.operands[0];
  if (expr.op == Operator::Not) {
    MExpr of = read_predicate(body, operand, "not");
    if (!of.type.known()) return unknown(expr.span);
    return negation(std::move(of), expr.span);
  }
  if (operand.kind == ExprKind::Number) return read_number_literal(operand, true, expected);
  MExpr of = read(body, operand, expected);
  if (!of.type.known()) return unknown(expr.span);
  if (!of.type.is_number()) {
    error(DiagnosticCode::TypeMismatch, operand.span, fmt::format("`-` takes a number, found `{}`", text(of.type)));
    return unknown(expr.span);
  }
  model::Type type = of.type;
  return call(Function::Negate, std::move(type), pack(std::move(of)), expr.span);
}

MExpr Analyzer::read_binary(Body& body, const Expr& expr, const model::Type* expected) {
  switch (expr.op) {
    case Operator::And:
    case Operator::Or:
      return read_logic(body, expr);
    case Operator::Equal:
    case Operator::NotEqual:
    case Operator::Less:
    case Operator::LessEqual:
    case Operator::Greater:
    case Operator::GreaterEqual:
      return read_comparison(body, expr);
    case Operator::In:
    case Operator::NotIn:
      return read_in(body, expr);
    case Operator::Contains:
      return read_contains(body, expr);
    case Operator::ContainsAll:
    case Operator::ContainsAny:
      return read_words(body, expr);
    case Operator::StartsWith:
      return read_starts_with(body, expr);
    default:
      return read_arithmetic(body, expr, expected);
  }
}

MExpr Analyzer::read_logic(Body& body, const Expr& expr) {
  const Function function = expr.op == Operator::And ? Function::And : Function::Or;
  const char* word = expr.op == Operator::And ? "and" : "or";
  // `a and b and c` becomes one call: the left-deep chain is walked without recursion.
  std::vector<const Expr*> operands;
  const Expr* at = &expr;
  while (at->kind == ExprKind::Binary && at->op == expr.op) {
    operands.push_back(&at->operands[1]);
    at = &at->operands[0];
  }
  operands.push_back(at);
  std::vector<MExpr> read_operands;
  const bool joined = any_inside(parse_errors_, expr.op_span);  // `a || b`, which may have meant something else
  for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand)
    read_operands.push_back(joined ? read(body, **operand, &bool_type) : read_predicate(body, **operand, word));
  return call(function, bool_type, std::move(read_operands), expr.span);
}

bool Analyzer::flexible(const Body& body, const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::Number:
    case ExprKind::Text:
    case ExprKind::List:
    case ExprKind::Braces:
    case ExprKind::Absent:
      return true;
    case ExprKind::Parameter:
      for (auto at = body.loops.rbegin(); at != body.loops.rend(); ++at)
        if (at->name == expr.name.text) return !at->declared;
      for (const ParameterState& parameter : body.parameters)
        if (parameter.name == expr.name.text) return !parameter.declared;
      return true;
    case ExprKind::Unary:
      return expr.op == Operator::Negate && flexible(body, expr.operands[0]);
    case ExprKind::Binary:
      return (expr.op == Operator::Add || expr.op == Operator::Subtract || expr.op == Operator::Multiply ||
              expr.op == Operator::Coalesce) &&
             flexible(body, expr.operands[0]) && flexible(body, expr.operands[1]);
    default:
      return false;
  }
}

// Reads two operands that are to have one type: the one that knows its type first, and the other to fit it.
void Analyzer::read_pair(Body& body, const Expr& a, const Expr& b, const model::Type* expected, MExpr& left,
                         MExpr& right) {
  const bool a_flexible = flexible(body, a);
  const bool b_flexible = flexible(body, b);
  const auto beside = [&](const Expr& one, const Expr& other) {
    if (one.kind != ExprKind::Parameter || other.kind != ExprKind::Number) return;
    if (ParameterState* state = find_parameter(body, one.name.text)) state->beside_number = true;
  };
  if (a_flexible && !b_flexible) {
    right = read(body, b, expected);
    left = read(body, a, right.type.known() ? &right.type : expected);
    return;
  }
  if (a_flexible && b_flexible) {
    beside(a, b);
    beside(b, a);
    // A parameter takes the type of a text, but not of a number, which may yet become something else.
    const auto gives_type = [](const Expr& one) { return one.kind == ExprKind::Text; };
    if (expected == nullptr && gives_type(b)) {
      right = read(body, b);
      left = read(body, a, &right.type);
      return;
    }
    left = read(body, a, expected);
    const bool number = left.kind == MKind::Constant && left.type.is_number();
    right = read(body, b, left.type.known() && (!number || b.kind != ExprKind::Parameter) ? &left.type : expected);
    if (!left.type.known() && right.type.known() && a.kind == ExprKind::Parameter) left = read(body, a, &right.type);
    if (left.kind == MKind::Constant && left.type.is_number() && right.type.is_number() && a.kind == ExprKind::Number)
      left = read(body, a, &right.type);
    return;
  }
  left = read(body, a, expected);
  right = read(body, b, left.type.known() ? &left.type : expected);
}

bool Analyzer::make_comparable(MExpr& left, MExpr& right, Span op, bool needs_order) {
  if (!left.type.known() || !right.type.known()) return false;
  for (const MExpr* side : {&left, &right}) {
    if (side->type.kind == TypeKind::Duration) {
      error(DiagnosticCode::DurationMisuse, side->span, "a duration cannot be compared")
          .hint("write `t.at > now() - 7 days`");
      return false;
    }
    if (!comparable(side->type)) {
      auto report =
          error(DiagnosticCode::NotComparable, side->span, fmt::format("`{}` cannot be compared", text(side->type)));
      if (side->type.is_collection())
        report.hint("write `… contains x`, `x in …` or `count(…)`");
      else if (side->type.kind == TypeKind::Json)
        report.hint("json is only stored and returned");
      else if (side->type.kind == TypeKind::Value)
        report.hint("it contains json: compare its other fields");
      else if (side->type.kind == TypeKind::Rows || side->type.kind == TypeKind::Row)
        report.hint("a nested select is a value only if it has one column made of folds, such as `count(*)`");
      return false;
    }
  }
  MExpr converted = right;
  if (fit(converted, left.type)) {
    right = std::move(converted);
  } else {
    converted = left;
    if (!fit(converted, right.type)) {
      const bool both_enumerations =
          left.type.kind == TypeKind::Enumeration && right.type.kind == TypeKind::Enumeration;
      if (!both_enumerations) {
        auto report = error(DiagnosticCode::NotComparable, op,
                            fmt::format("cannot compare `{}` with `{}`", text(left.type), text(right.type)));
        report.label(left.span, fmt::format("this has the type `{}`", text(left.type)));
        report.label(right.span, fmt::format("this has the type `{}`", text(right.type)));
        const TypeKind a = left.type.kind;
        const TypeKind b = right.type.kind;
        if (a == TypeKind::Float || b == TypeKind::Float) {
          if (left.type.is_number() && right.type.is_number())
            report.hint("a float can be combined only with literals");
        } else if ((a == TypeKind::Timestamp && b == TypeKind::Text) ||
                   (b == TypeKind::Timestamp && a == TypeKind::Text)) {
          report.hint("write `timestamp \"2026-01-01T00:00:00Z\"`");
        } else if ((a == TypeKind::Date && b == TypeKind::Text) || (b == TypeKind::Date && a == TypeKind::Text)) {
          report.hint("write `date \"2026-01-01\"`");
        } else if (a == TypeKind::Text || b == TypeKind::Text) {
          const TypeKind other = a == TypeKind::Text ? b : a;
          if (other == TypeKind::Uuid || other == TypeKind::TimeUuid || other == TypeKind::Inet ||
              other == TypeKind::Bytes)
            report.hint(fmt::format("write `{} \"…\"`", text(model::scalar(other))));
          else if (other == TypeKind::Int || other == TypeKind::Decimal)
            report.hint("write a number without quotes");
        } else if (a == TypeKind::Reference && b == TypeKind::Reference) {
          report.hint("two references can be compared only if they refer to the same entity");
        } else if (a == TypeKind::Reference || b == TypeKind::Reference) {
          const model::Type& ref = a == TypeKind::Reference ? left.type : right.type;
          const model::Entity& entity = model_.entity(ref.entity());
          std::string parts;
          for (const std::uint32_t part : entity.key) {
            const model::Field& field = entity.fields[part];
            parts += fmt::format("{}{}", parts.empty() ? "" : ", ", field.hidden ? "key" : field.name);
          }
          if (entity.key.size() > 1)
            report.hint(fmt::format("the key of `{}` has several parts: compare with `{}[{}]`", entity.name,
                                    entity.name, parts));
          else if (const model::Type* key = single_key(ref))
            report.hint(
                fmt::format("a reference to `{}` is compared by its key, `{}: {}`", entity.name, parts, text(*key)));
        } else if ((a == TypeKind::Timestamp && b == TypeKind::Date) ||
                   (a == TypeKind::Date && b == TypeKind::Timestamp)) {
          report.hint("declare both with the same type");
        }
        return false;
      }
    } else {
      left = std::move(converted);
    }
  }
  if (needs_order && !ordered(left.type)) {
    error(DiagnosticCode::NotOrdered, op, fmt::format("`{}` has no order", text(left.type)))
        .hint("compare values with `=`, or compare one of their fields");
    return false;
  }
  return true;
}

MExpr Analyzer::read_comparison(Body& body, const Expr& expr) {
  for (const Expr& side : expr.operands) {
    if (side.kind != ExprKind::Absent) continue;
    const Expr& other = &side == &expr.operands[0] ? expr.operands[1] : expr.operands[0];
    if (other.kind != ExprKind::Absent) read(body, other);
    error(DiagnosticCode::AbsentMisuse, cover(expr.op_span, side.span),
          expr.op == Operator::NotEqual ? "nothing is equal to `absent`, so this is always true"
                                        : "a comparison with something absent is always false")
        .hint(expr.op == Operator::NotEqual ? "write `is not absent`" : "write `is absent`");
    return unknown(expr.span);
  }
  MExpr left;
  MExpr right;
  read_pair(body, expr.operands[0], expr.operands[1], nullptr, left, right);
  const bool equality = expr.op == Operator::Equal || expr.op == Operator::NotEqual;
  if (!make_comparable(left, right, expr.op_span, !equality)) return unknown(expr.span);
  Function function = Function::Equal;
  if (expr.op == Operator::Less) function = Function::Less;
  if (expr.op == Operator::LessEqual) function = Function::LessEqual;
  if (expr.op == Operator::Greater) function = Function::Greater;
  if (expr.op == Operator::GreaterEqual) function = Function::GreaterEqual;
  MExpr out = call(function, bool_type, pack(std::move(left), std::move(right)), expr.span);
  return expr.op == Operator::NotEqual ? negation(std::move(out), expr.span) : out;
}

MExpr Analyzer::read_in(Body& body, const Expr& expr) {
  const Expr& element = expr.operands[0];
  const Expr& collection = expr.operands[1];
  if (collection.kind == ExprKind::Select) {
    read(body, element);
    read(body, collection);
    error(DiagnosticCode::NestedSelect, collection.span, "`in` takes a list or a set, not a nested select")
        .hint("bind it in `from` and compare, or write `(select count(*) from … where … = x) > 0`");
    return unknown(expr.span);
  }
  MExpr left;
  MExpr right;
  if (flexible(body, collection)) {
    left = read(body, element);
    const model::Type wanted = model::collection_of(TypeKind::List, left.type);
    right = read(body, collection, left.type.known() ? &wanted : nullptr);
  } else {
    right = read(body, collection);
    const bool many = right.type.kind == TypeKind::List || right.type.kind == TypeKind::Set;
    left = read(body, element, many ? &right.type.element() : nullptr);
  }
  if (!left.type.known() || !right.type.known()) return unknown(expr.span);
  if (right.type.kind != TypeKind::List && right.type.kind != TypeKind::Set) {
    auto report = error(DiagnosticCode::TypeMismatch, collection.span,
                        fmt::format("`in` takes a list or a set, found `{}`", text(right.type)));
    if (right.type.kind == TypeKind::Map)
      report.hint("ask `map contains key`");
    else if (right.type.kind == TypeKind::Text)
      report.hint("to search for words write `contains all` or `contains any`");
    else
      report.hint("write `=` for one value, `in [a, b]` for several");
    return unknown(expr.span);
  }
  if (!comparable(left.type)) {
    error(DiagnosticCode::NotComparable, element.span, fmt::format("`{}` cannot be compared", text(left.type)));
    return unknown(expr.span);
  }
  if (!fit_or_report(left, right.type.element(), false, "an element of this collection")) return unknown(expr.span);
  MExpr out = call(Function::In, bool_type, pack(std::move(left), std::move(right)), expr.span);
  return expr.op == Operator::NotIn ? negation(std::move(out), expr.span) : out;
}

MExpr Analyzer::read_contains(Body& body, const Expr& expr) {
  MExpr collection = read(body, expr.operands[0]);
  if (collection.type.kind == TypeKind::Text || collection.type.kind == TypeKind::Enumeration) {
    read(body, expr.operands[1], &text_type);
    error(DiagnosticCode::WordsMisuse, expr.op_span,
          "`contains` searches for an element of a collection, but this is a text")
        .label(expr.operands[0].span, "a text")
        .hint("to search for words write `contains all` or `contains any`, for a beginning `starts with`");
    return unknown(expr.span);
  }
  if (collection.type.known() && !collection.type.is_collection()) {
    read(body, expr.operands[1]);
    error(DiagnosticCode::TypeMismatch, expr.operands[0].span,
          fmt::format("`contains` needs a collection, found `{}`", text(collection.type)));
    return unknown(expr.span);
  }
  const model::Type* wanted = nullptr;
  if (collection.type.known())
    wanted = collection.type.kind == TypeKind::Map ? &collection.type.arguments[0] : &collection.type.element();
  MExpr element = read(body, expr.operands[1], wanted);
  if (wanted == nullptr || !element.type.known()) return unknown(expr.span);
  if (!comparable(*wanted)) {
    error(DiagnosticCode::NotComparable, expr.operands[0].span, fmt::format("`{}` cannot be compared", text(*wanted)));
    return unknown(expr.span);
  }
  const model::Type target = *wanted;
  if (!fit_or_report(element, target, false, "an element of this collection")) return unknown(expr.span);
  return call(Function::Contains, bool_type, pack(std::move(collection), std::move(element)), expr.span);
}

MExpr Analyzer::read_words(Body& body, const Expr& expr) {
  MExpr of = read(body, expr.operands[0]);
  MExpr words = read(body, expr.operands[1], &text_type);
  const char* name = expr.op == Operator::ContainsAll ? "contains all" : "contains any";
  if (of.type.known() && of.type.kind != TypeKind::Text) {
    auto report = error(DiagnosticCode::WordsMisuse, expr.operands[0].span,
                        fmt::format("`{}` searches for words in a text, found `{}`", name, text(of.type)));
    if (of.type.is_collection()) report.hint("test each element: `… contains a and … contains b`");
    return unknown(expr.span);
  }
  if (words.type.known() && words.type.kind != TypeKind::Text) {
    error(DiagnosticCode::WordsMisuse, expr.operands[1].span,
          fmt::format("`{}` needs a text with the words, found `{}`", name, text(words.type)))
        .hint("write the words in one text: \"red shoes\"");
    return unknown(expr.span);
  }
  if (!of.type.known() || !words.type.known()) return unknown(expr.span);
  return call(expr.op == Operator::ContainsAll ? Function::ContainsAll : Function::ContainsAny, bool_type,
              pack(std::move(of), std::move(words)), expr.span);
}

MExpr Analyzer::read_starts_with(Body& body, const Expr& expr) {
  MExpr of = read(body, expr.operands[0], &text_type);
  MExpr prefix = read(body, expr.operands[1], &text_type);
  for (const MExpr* side : {&of, &prefix}) {
    if (side->type.known() && side->type.kind != TypeKind::Text) {
      error(DiagnosticCode::TypeMismatch, side->span,
            fmt::format("`starts with` takes texts, found `{}`", text(side->type)));
      return unknown(expr.span);
    }
  }
  if (!of.type.known() || !prefix.type.known()) return unknown(expr.span);
  return call(Function::StartsWith, bool_type, pack(std::move(of), std::move(prefix)), expr.span);
}

MExpr Analyzer::read_between(Body& body, const Expr& expr) {
  MExpr of;
  MExpr low;
  MExpr high;
  read_pair(body, expr.operands[0], expr.operands[1], nullptr, of, low);
  high = read(body, expr.operands[2], of.type.known() ? &of.type : (low.type.known() ? &low.type : nullptr));
  if (!of.type.known() && high.type.known() && expr.operands[0].kind == ExprKind::Parameter)
    of = read(body, expr.operands[0], &high.type);
  if (!make_comparable(of, low, expr.op_span, true) || !make_comparable(of, high, expr.op_span, true))
    return unknown(expr.span);
  std::vector<MExpr> operands = pack(std::move(of), std::move(low));
  operands.push_back(std::move(high));
  return call(Function::Between, bool_type, std::move(operands), expr.span);
}

MExpr Analyzer::read_is_absent(Body& body, const Expr& expr) {
  const Expr& operand = expr.operands[0];
  MExpr of = read(body, operand);
  if (!of.type.known()) return unknown(expr.span);
  const bool parameter = of.kind == MKind::Parameter;
  if (!of.type.optional && !parameter && !any_inside(parse_errors_, expr.span)) {
    auto report =
        error(DiagnosticCode::NeverAbsent, operand.span, fmt::format("{} is never absent", quoted(operand, source_)));
    if (of.type.is_collection())
      report.hint("write `count(…) = 0` for an empty collection");
    else if (of.kind == MKind::Field)
      report.hint("it is declared without `?`");
  }
  MExpr out = call(Function::IsAbsent, bool_type, pack(std::move(of)), expr.span);
  return expr.negated ? negation(std::move(out), expr.span) : out;
}

MExpr Analyzer::read_arithmetic(Body& body, const Expr& expr, const model::Type* expected) {
  const bool sum = expr.op == Operator::Add || expr.op == Operator::Subtract;
  const model::Type* wanted = expected;
  if (wanted != nullptr && expr.op != Operator::Coalesce && !wanted->is_number() &&
      wanted->kind != TypeKind::Timestamp && wanted->kind != TypeKind::Date)
    wanted = nullptr;
  MExpr left;
  MExpr right;
  const char* sign = expr.op == Operator::Add        ? "+"
                     : expr.op == Operator::Subtract ? "-"
                     : expr.op == Operator::Multiply ? "*"
                                                     : "??";
  if (expr.op == Operator::Coalesce) {
    read_pair(body, expr.operands[0], expr.operands[1], wanted, left, right);
    if (!left.type.known() || !right.type.known()) return unknown(expr.span);
    MExpr converted = right;
    if (fit(converted, left.type)) {
      right = std::move(converted);
    } else {
      converted = left;
      if (!fit(converted, right.type)) {
        error(DiagnosticCode::TypeMismatch, expr.op_span,
              fmt::format("`??` between `{}` and `{}`", text(left.type), text(right.type)));
        return unknown(expr.span);
      }
      left = std::move(converted);
    }
    if (!left.type.optional && left.kind != MKind::Parameter) {
      error(DiagnosticCode::NeverAbsent, expr.operands[0].span,
            fmt::format("{} is never absent, so `??` has no effect", quoted(expr.operands[0], source_)));
    }
    model::Type type = left.type;
    type.optional = right.type.optional;
    return call(Function::Coalesce, std::move(type), pack(std::move(left), std::move(right)), expr.span);
  }
  // time ± duration
  const bool right_duration = expr.operands[1].kind == ExprKind::Duration;
  const bool left_duration = expr.operands[0].kind == ExprKind::Duration;
  if (right_duration || left_duration) {
    if (expr.op == Operator::Multiply) {
      for (const Expr& operand : expr.operands) read(body, operand);
      error(DiagnosticCode::DurationMisuse, expr.operands[right_duration ? 1 : 0].span,
            "a duration cannot be multiplied")
          .hint("write the duration itself, `7 days`, or pass the time as a parameter");
      return unknown(expr.span);
    }
    if (left_duration && !(right_duration) && expr.op == Operator::Add) {
      error(DiagnosticCode::DurationMisuse, expr.operands[0].span, "the time must come first, then the duration")
          .hint("write `t.at + 7 days`");
      return unknown(expr.span);
    }
    left = read(body, expr.operands[0], wanted);
    if (!left.type.known() && expr.operands[0].kind == ExprKind::Parameter)
      left = read(body, expr.operands[0], &timestamp_type);
    right = read(body, expr.operands[1]);
    if (!left.type.known() || !right.type.known()) return unknown(expr.span);
    const bool time = left.type.kind == TypeKind::Timestamp || left.type.kind == TypeKind::Date;
    if (!sum || !time || right.type.kind != TypeKind::Duration) {
      error(DiagnosticCode::DurationMisuse, expr.span,
            fmt::format("a duration can be added to or subtracted from a time, but this has the type `{}`",
                        text(left.type)));
      return unknown(expr.span);
    }
    if (left.type.kind == TypeKind::Date && unit_minutes(expr.operands[1].name.text).value_or(0) < 24 * 60) {
      error(DiagnosticCode::DurationMisuse, expr.operands[1].span,
            "only days and weeks can be added to or subtracted from a date");
      return unknown(expr.span);
    }
    model::Type type = left.type;
    if (body.place == Place::Query) type.optional = true;
    return call(expr.op == Operator::Add ? Function::Add : Function::Subtract, std::move(type),
                pack(std::move(left), std::move(right)), expr.span);
  }
  read_pair(body, expr.operands[0], expr.operands[1], wanted, left, right);
  if (!left.type.known() || !right.type.known()) return unknown(expr.span);
  for (const MExpr* side : {&left, &right}) {
    if (side->type.is_number()) continue;
    auto report = error(DiagnosticCode::TypeMismatch, side->span,
                        fmt::format("`{}` takes numbers, found `{}`", sign, text(side->type)));
    if (side->type.kind == TypeKind::Text) report.hint("noam does not concatenate texts");
    if (side->type.kind == TypeKind::Timestamp || side->type.kind == TypeKind::Date)
      report.hint("add a duration to a time: `t.at + 7 days`");
    if (side->type.is_collection()) report.hint("to add elements write `add x to …` or `append x to …`");
    return unknown(expr.span);
  }
  MExpr converted = right;
  if (fit(converted, left.type)) {
    right = std::move(converted);
  } else {
    converted = left;
    if (!fit(converted, right.type)) {
      error(DiagnosticCode::TypeMismatch, expr.op_span,
            fmt::format("`{}` between `{}` and `{}`", sign, text(left.type), text(right.type)))
          .hint("a float can be combined only with literals");
      return unknown(expr.span);
    }
    left = std::move(converted);
  }
  model::Type type = model::scalar(left.type.kind);
  type.optional = left.type.optional || right.type.optional || body.place == Place::Query;
  const Function function = expr.op == Operator::Add        ? Function::Add
                            : expr.op == Operator::Subtract ? Function::Subtract
                                                            : Function::Multiply;
  return call(function, std::move(type), pack(std::move(left), std::move(right)), expr.span);
}

MExpr Analyzer::read_list(Body& body, const Expr& expr, const model::Type* expected) {
  MExpr out;
  out.kind = MKind::List;
  out.span = expr.span;
  if (expected != nullptr && (expected->kind == TypeKind::List || expected->kind == TypeKind::Set)) {
    out.type = *expected;
    for (const Expr& operand : expr.operands)
      out.operands.push_back(read_stored(body, operand, expected->element(), "an element"));
    return out;
  }
  if (expected != nullptr && expected->kind == TypeKind::Map && expr.operands.empty()) {
    out.kind = MKind::Map;
    out.type = *expected;
    return out;
  }
  model::Type element;
  for (const Expr& operand : expr.operands) {
    MExpr read_operand = read(body, operand, element.known() ? &element : nullptr);
    if (!element.known()) element = read_operand.type;
    element.optional = false;
    fit_or_report(read_operand, element, false, "a list of this");
    out.operands.push_back(std::move(read_operand));
  }
  if (!element.known()) return unknown(expr.span);
  out.type = model::collection_of(TypeKind::List, element);
  return out;
}

MExpr Analyzer::read_braces(Body& body, const Expr& expr, const model::Type* expected) {
  const auto read_values = [&] {
    for (std::size_t i = 1; i < expr.operands.size(); i += 2)
      if (expr.operands[i].kind != ExprKind::Braces && expr.operands[i].kind != ExprKind::Absent)
        read(body, expr.operands[i]);
    return unknown(expr.span);
  };
  if (expected == nullptr || !expected->known()) {
    if (expected == nullptr && body.place != Place::Command) {
      error(DiagnosticCode::TypeMismatch, expr.span, "`{…}` cannot be used here")
          .hint("write a value only in a command, at a place with a known type");
    }
    return read_values();
  }
  MExpr out;
  out.span = expr.span;
  out.type = *expected;
  out.type.optional = false;
  if (expected->kind == TypeKind::Value) return read_record(body, expr, *expected);
  if (expected->kind == TypeKind::Map) {
    out.kind = MKind::Map;
    for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
      const Expr& key = expr.operands[i];
      if (key.kind == ExprKind::Name && !find_variable(body, key.name.text)) {
        error(DiagnosticCode::UnknownName, key.span, fmt::format("`{}` is not a key of a map", key.name.text))
            .hint(fmt::format("write the keys of a map as expressions: `\"{}\": …`", key.name.text));
        continue;
      }
      out.operands.push_back(read_stored(body, key, expected->arguments[0], "a key of this map"));
      out.operands.push_back(read_stored(body, expr.operands[i + 1], expected->arguments[1], "a value of this map"));
    }
    return out;
  }
  if (expr.operands.empty() && expected->is_collection()) {
    out.kind = MKind::List;
    return out;
  }
  auto report = error(DiagnosticCode::TypeMismatch, expr.span,
                      fmt::format("`{{…}}` is a value or a map, but `{}` is expected here", text(*expected)));
  if (expected->is_collection()) report.hint("write `[…]` for a list or a set");
  if (expected->kind == TypeKind::Json) report.hint("pass json as a parameter, or write `json \"…\"`");
  read_values();
  return unknown(expr.span);
}

MExpr Analyzer::read_record(Body& body, const Expr& expr, const model::Type& type) {
  const model::Value& value = model_.value(type.value());
  MExpr out;
  out.kind = MKind::Record;
  out.type = type;
  out.type.optional = false;
  out.span = expr.span;
  out.operands.resize(value.fields.size());
  std::vector<Span> given(value.fields.size());
  std::vector<bool> is_given(value.fields.size(), false);
  bool wrong_name = false;
  for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
    const Expr& key = expr.operands[i];
    if (key.kind != ExprKind::Name) {
      wrong_name = true;
      if (key.kind == ExprKind::Unknown) continue;
      auto report =
          error(DiagnosticCode::UnknownField, key.span, fmt::format("a field of `{}` must be a name", value.name));
      if (key.kind == ExprKind::Text) report.hint(fmt::format("write `{}: …`", key.text));
      continue;
    }
    const MemberRef* member = find_member(type, key.name.text);
    if (member == nullptr) {
      wrong_name = true;
      report_unknown_member(type, key.name);
      const Expr& operand = expr.operands[i + 1];
      if (operand.kind != ExprKind::Braces && operand.kind != ExprKind::Absent) read(body, operand);
      continue;
    }
    if (is_given[member->index]) {
      error(DiagnosticCode::DuplicateField, key.span, fmt::format("`{}` given twice", key.name.text))
          .label(given[member->index], "first here");
      continue;
    }
    is_given[member->index] = true;
    given[member->index] = key.span;
    const model::Field& field = value.fields[member->index];
    out.operands[member->index] = read_stored(body, expr.operands[i + 1], field.type, fmt::format("`{}`", field.name));
  }
  std::string missing;
  for (std::size_t i = 0; i < value.fields.size(); ++i) {
    if (is_given[i]) continue;
    const model::Field& field = value.fields[i];
    if (field.initial) {
      out.operands[i] = *field.initial;
    } else if (field.type.optional) {
      out.operands[i] = constant(field.type, std::monostate{}, expr.span);
    } else if (field.type.is_collection()) {
      out.operands[i].kind = field.type.kind == TypeKind::Map ? MKind::Map : MKind::List;
      out.operands[i].type = field.type;
      out.operands[i].span = expr.span;
    } else {
      missing += fmt::format("{}`{}`", missing.empty() ? "" : ", ", field.name);
    }
  }
  if (!missing.empty() && !wrong_name && !broken_owners_.contains(owner_of(type.value())))
    error(DiagnosticCode::MissingField, expr.span, fmt::format("`{}` without {}", value.name, missing))
        .label(value.span, "declared here")
        .hint("give it, declare it with `?`, or give it a default");
  return out;
}

}  // namespace noam::language
