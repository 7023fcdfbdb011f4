#include "noam/model/writing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "noam/model/scalars.h"

namespace noam::model {

namespace {

// How tightly an expression holds together, as the grammar has it.
enum class Tightness : std::uint8_t { Or, And, Not, Comparison, Coalesce, Sum, Product, Unary, Postfix };

Tightness tighter(Tightness tightness) { return static_cast<Tightness>(static_cast<int>(tightness) + 1); }

const char* word(Function function) {
  switch (function) {
    case Function::And:
      return "and";
    case Function::Or:
      return "or";
    case Function::Not:
      return "not";
    case Function::Equal:
      return "=";
    case Function::Less:
      return "<";
    case Function::LessEqual:
      return "<=";
    case Function::Greater:
      return ">";
    case Function::GreaterEqual:
      return ">=";
    case Function::Between:
      return "between";
    case Function::In:
      return "in";
    case Function::Contains:
      return "contains";
    case Function::ContainsAll:
      return "contains all";
    case Function::ContainsAny:
      return "contains any";
    case Function::StartsWith:
      return "starts with";
    case Function::IsAbsent:
      return "is absent";
    case Function::Coalesce:
      return "??";
    case Function::Add:
      return "+";
    case Function::Subtract:
      return "-";
    case Function::Multiply:
      return "*";
    case Function::Negate:
      return "-";
    case Function::Greatest:
      return "greatest";
    case Function::Least:
      return "least";
    case Function::Minute:
      return "minute";
    case Function::Hour:
      return "hour";
    case Function::Day:
      return "day";
    case Function::Week:
      return "week";
    case Function::Month:
      return "month";
    case Function::Year:
      return "year";
    case Function::Now:
      return "now";
    case Function::MakeUuid:
      return "uuid";
    case Function::RandomText:
      return "random_text";
    case Function::Position:
      return "position";
    case Function::MapKey:
      return "key";
    case Function::Shard:
      return "shard";
    case Function::Union:
      return "union";
    case Function::MapValues:
      return "values";
    case Function::WordsOf:
      return "words";
    case Function::None:
    case Function::ToDecimal:
      break;
  }
  return "?";
}

const char* word(Fold fold) {
  switch (fold) {
    case Fold::Count:
      return "count";
    case Fold::Sum:
      return "sum";
    case Fold::Min:
      return "min";
    case Fold::Max:
      return "max";
    case Fold::Avg:
      return "avg";
    case Fold::None:
      break;
  }
  return "?";
}

bool is_word(std::string_view name) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(name.data());
  const auto length = static_cast<std::int32_t>(name.size());
  for (std::int32_t at = 0; at < length;) {
    const UProperty needed = at == 0 ? UCHAR_XID_START : UCHAR_XID_CONTINUE;
    UChar32 c = 0;
    U8_NEXT(bytes, at, length, c);
    if (c < 0 || (c != '_' && !u_hasBinaryProperty(c, needed))) return false;
  }
  return !name.empty() && name != "_";  // which is ε
}

// A name where an expression begins: some words would be read otherwise there.
std::string leading_name(std::string_view name) {
  constexpr std::array<std::string_view, 13> taken = {
      "absent", "true", "false", "not", "select", "distinct", "and", "or", "in", "between", "contains", "is", "starts"};
  const auto spells = [&](std::string_view word) {  // in lower case or in capitals
    return name == word || std::equal(name.begin(), name.end(), word.begin(), word.end(),
                                      [](char ours, char theirs) { return ours == theirs - 'a' + 'A'; });
  };
  if (std::any_of(taken.begin(), taken.end(), spells)) return fmt::format("`{}`", name);
  return written_name(name);
}

std::string entity_name(const Model& model, std::uint32_t id) {
  return id < model.entities.size() ? written_name(model.entities[id].name) : "unknown";
}

// The fields of an entity or value; none where the type is another or not to be trusted.
const std::vector<Field>* fields_of(const Model& model, const Type& type) {
  if (type.kind == TypeKind::Reference && type.id < model.entities.size()) return &model.entities[type.id].fields;
  if (type.kind == TypeKind::Value && type.id < model.values.size()) return &model.values[type.id].fields;
  return nullptr;
}

std::string member_name(const Model& model, const Expr& expr) {
  if (expr.operands.empty()) return "?";
  const Type& type = expr.operands[0].type;
  if (expr.kind == ExprKind::Inverse) {
    return expr.index < model.roles.size() ? model.roles[expr.index].inverse : "?";
  }
  if (type.kind == TypeKind::Row || type.kind == TypeKind::Rows) {
    return expr.index < type.names.size() ? type.names[expr.index] : "?";
  }
  const auto* fields = fields_of(model, type);
  return fields != nullptr && expr.index < fields->size() ? (*fields)[expr.index].name : "?";
}

// Of a reference, the type of the one part of the target's key; the type itself otherwise.
Type key_type(const Model& model, Type type) {
  for (int depth = 0; depth < 8 && type.kind == TypeKind::Reference; ++depth) {
    if (type.id >= model.entities.size()) return {};
    const Entity& entity = model.entities[type.id];
    if (entity.key.size() != 1 || entity.key[0] >= entity.fields.size()) return {};
    type = entity.fields[entity.key[0]].type;
  }
  return type;
}

std::string positional(double number) {
  // Room for the smallest double: 0.000…, 1074 places.
  std::array<char, 1100> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

std::string written_constant(const Model& model, const Type& type, const Literal& constant) {
  const auto kind = key_type(model, type).kind;
  if (std::holds_alternative<std::monostate>(constant)) return "absent";
  if (const auto* truth = std::get_if<bool>(&constant)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<double>(&constant)) return positional(*number);
  if (const auto* number = std::get_if<std::int64_t>(&constant)) {
    if (kind == TypeKind::Timestamp) return fmt::format("timestamp \"{}\"", print_timestamp(*number));
    if (kind == TypeKind::Date) return fmt::format("date \"{}\"", print_date(*number));
    if (kind == TypeKind::Duration) return written_duration(*number);
    return std::to_string(*number);
  }
  const auto& text = std::get<std::string>(constant);
  if (kind == TypeKind::Decimal) return text;
  if (kind == TypeKind::Bytes) return fmt::format("bytes \"{}\"", print_base64(text));
  if (kind == TypeKind::Json) return "json " + written_text(text);
  if ((kind == TypeKind::Uuid || kind == TypeKind::TimeUuid) && text.size() == 16) {
    return fmt::format("{} \"{}\"", kind_name(kind), print_uuid(text));
  }
  if (kind == TypeKind::Inet && (text.size() == 4 || text.size() == 16)) {
    return fmt::format("inet \"{}\"", print_inet(text));
  }
  return written_text(text);
}

class Writer {
 public:
  Writer(const Scope& scope, std::optional<std::uint32_t> bare, const Select* select)
      : scope_(scope), bare_(bare), select_(select) {}

  std::string at_least(Tightness needed, const Expr& expr) const {
    auto [text, tightness] = loose(expr);
    return tightness < needed ? "(" + text + ")" : text;
  }

  std::string anywhere(const Expr& expr) const { return loose(expr).text; }

 private:
  struct Piece {
    std::string text;
    Tightness tightness = Tightness::Postfix;
  };

  Piece loose(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::Unknown:
        return {"?"};
      case ExprKind::Constant: {
        std::string text = written_constant(scope_.model, expr.type, expr.constant);
        const bool negative = text.front() == '-';
        return {std::move(text), negative ? Tightness::Unary : Tightness::Postfix};
      }
      case ExprKind::Parameter:
        if (expr.index >= scope_.parameters.size()) return {"$?"};
        return {"$" + written_name(scope_.parameters[expr.index].name)};
      case ExprKind::Variable:
        return {variable(expr)};
      case ExprKind::Field:
      case ExprKind::Inverse:
        return {member(expr, member_name(scope_.model, expr))};
      case ExprKind::Refreshed:
        return {member(expr, "refreshed")};
      case ExprKind::Element:
        if (expr.operands.size() != 2) return {"?"};
        return {fmt::format("{}[{}]", at_least(Tightness::Postfix, expr.operands[0]), anywhere(expr.operands[1]))};
      case ExprKind::Instance:
        return {fmt::format("{}[{}]", entity_name(scope_.model, expr.index), key(expr))};
      case ExprKind::Call:
        return call(expr);
      case ExprKind::Fold:
        return {fmt::format("{}({}{})", word(expr.fold), expr.distinct ? "distinct " : "",
                            expr.operands.empty() ? "*" : listed(expr.operands))};
      case ExprKind::CountOf:
        return {fmt::format("count({})", listed(expr.operands))};
      case ExprKind::Select:
        if (expr.select.empty()) return {"?"};
        return {"(" + written(scope_, expr.select[0]) + ")"};
      case ExprKind::List:
        return {expr.operands.empty() ? "{}" : "[" + listed(expr.operands) + "]"};
      case ExprKind::Map:
        return {map(expr)};
      case ExprKind::Record:
        return {record(expr)};
      case ExprKind::Column:
        if (select_ == nullptr || expr.index >= select_->columns.size()) return {"?"};
        return {leading_name(select_->columns[expr.index].name)};
      case ExprKind::Slot:  // has no name in noam
        return {fmt::format("#{}", expr.index)};
    }
    return {"?"};
  }

  std::string listed(const std::vector<Expr>& exprs) const {
    std::vector<std::string> texts;
    for (const auto& expr : exprs) texts.push_back(anywhere(expr));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // A reference where its key is asked for stands as it is: `Game[$id]`, though `$id` is a Game.
  std::string key(const Expr& instance) const {
    if (instance.operands.size() == 1) {
      const Expr& part = instance.operands[0];
      const bool key_of_same = part.kind == ExprKind::Field && part.operands.size() == 1 &&
                               part.operands[0].type.kind == TypeKind::Reference &&
                               part.operands[0].type.id == instance.index;
      if (key_of_same) return anywhere(part.operands[0]);
    }
    return listed(instance.operands);
  }

  std::string variable(const Expr& expr) const {
    if (expr.index >= scope_.variables.size()) return "?";
    const Variable& variable = scope_.variables[expr.index];
    if (variable.name.empty()) return "?";
    return variable.kind == SourceKind::Loop ? "$" + written_name(variable.name) : leading_name(variable.name);
  }

  // The instance that an entity's `require` or an `update` speaks of has no name there.
  bool stands_alone(const Expr& expr) const {
    if (expr.kind != ExprKind::Variable) return false;
    return bare_ == expr.index || expr.index >= scope_.variables.size() || scope_.variables[expr.index].name.empty();
  }

  std::string member(const Expr& expr, const std::string& name) const {
    if (expr.operands.size() != 1) return "?";
    if (stands_alone(expr.operands[0])) return leading_name(name);
    return at_least(Tightness::Postfix, expr.operands[0]) + "." + written_name(name);
  }

  std::string map(const Expr& expr) const {
    if (expr.operands.empty()) return "{}";
    std::vector<std::string> entries;
    for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
      entries.push_back(anywhere(expr.operands[i]) + ": " + anywhere(expr.operands[i + 1]));
    }
    return fmt::format("{{ {} }}", fmt::join(entries, ", "));
  }

  // What has its default, or is absent, need not be written.
  std::string record(const Expr& expr) const {
    const auto* fields = fields_of(scope_.model, expr.type);
    std::vector<std::string> entries;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const Expr& operand = expr.operands[i];
      if (fields == nullptr || i >= fields->size()) {
        entries.push_back("?: " + anywhere(operand));
        continue;
      }
      const Field& field = (*fields)[i];
      const bool absent =
          operand.kind == ExprKind::Constant && std::holds_alternative<std::monostate>(operand.constant);
      const bool initial = field.initial && same(*field.initial, operand);
      const bool empty_collection =
          (operand.kind == ExprKind::List || operand.kind == ExprKind::Map) && operand.operands.empty();
      if (initial || (!field.initial && (absent || empty_collection))) continue;
      entries.push_back(written_name(field.name) + ": " + anywhere(operand));
    }
    return entries.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(entries, ", "));
  }

  Piece call(const Expr& expr) const {
    switch (expr.function) {
      case Function::None:
        return {"?"};
      case Function::And:
        return chain(expr, Tightness::And);
      case Function::Or:
        return chain(expr, Tightness::Or);
      case Function::Not:
        return negation(expr);
      case Function::Equal:
      case Function::Less:
      case Function::LessEqual:
      case Function::Greater:
      case Function::GreaterEqual:
      case Function::In:
      case Function::Contains:
      case Function::ContainsAll:
      case Function::ContainsAny:
      case Function::StartsWith:
        return comparison(expr, word(expr.function));
      case Function::Between:
        if (expr.operands.size() != 3) return {"?"};
        return {fmt::format("{} between {} and {}", at_least(Tightness::Coalesce, expr.operands[0]),
                            at_least(Tightness::Coalesce, expr.operands[1]),
                            at_least(Tightness::Coalesce, expr.operands[2])),
                Tightness::Comparison};
      case Function::IsAbsent:
        return absence(expr, "is absent");
      case Function::Coalesce:
        if (expr.operands.size() != 2) return {"?"};
        return {at_least(Tightness::Sum, expr.operands[0]) + " ?? " + at_least(Tightness::Coalesce, expr.operands[1]),
                Tightness::Coalesce};
      case Function::Add:
      case Function::Subtract:
        return from_the_left(expr, Tightness::Sum);
      case Function::Multiply:
        return from_the_left(expr, Tightness::Product);
      case Function::Negate:
        if (expr.operands.size() != 1) return {"?"};
        return {"-" + at_least(Tightness::Unary, expr.operands[0]), Tightness::Unary};
      case Function::ToDecimal:  // nobody writes it
        return expr.operands.size() == 1 ? loose(expr.operands[0]) : Piece{"?"};
      case Function::Greatest:
      case Function::Least:
      case Function::Minute:
      case Function::Hour:
      case Function::Day:
      case Function::Week:
      case Function::Month:
      case Function::Year:
      case Function::Now:
      case Function::MakeUuid:
      case Function::RandomText:
      case Function::Position:
      case Function::MapKey:
      case Function::Shard:
      case Function::Union:
      case Function::MapValues:
      case Function::WordsOf:
        return {fmt::format("{}({})", word(expr.function), listed(expr.operands))};
    }
    return {"?"};
  }

  // `and` and `or`: it does not matter where the parentheses are.
  Piece chain(const Expr& expr, Tightness tightness) const {
    std::vector<std::string> texts;
    for (const auto& operand : expr.operands) texts.push_back(at_least(tightness, operand));
    return {fmt::format("{}", fmt::join(texts, fmt::format(" {} ", word(expr.function)))), tightness};
  }

  Piece from_the_left(const Expr& expr, Tightness tightness) const {
    std::string text;
    for (const auto& operand : expr.operands) {
      if (text.empty()) {
        text = at_least(tightness, operand);
      } else {
        text += fmt::format(" {} {}", word(expr.function), at_least(tighter(tightness), operand));
      }
    }
    return {text, tightness};
  }

  Piece comparison(const Expr& expr, const char* sign) const {
    if (expr.operands.size() != 2) return {"?"};
    return {fmt::format("{} {} {}", at_least(Tightness::Coalesce, expr.operands[0]), sign,
                        at_least(Tightness::Coalesce, expr.operands[1])),
            Tightness::Comparison};
  }

  Piece absence(const Expr& expr, const char* words) const {
    if (expr.operands.size() != 1) return {"?"};
    return {at_least(Tightness::Coalesce, expr.operands[0]) + " " + words, Tightness::Comparison};
  }

  Piece negation(const Expr& expr) const {
    if (expr.operands.size() != 1) return {"?"};
    const Expr& operand = expr.operands[0];
    if (operand.kind == ExprKind::Call) {
      if (operand.function == Function::Equal) return comparison(operand, "!=");
      if (operand.function == Function::In) return comparison(operand, "not in");
      if (operand.function == Function::IsAbsent) return absence(operand, "is not absent");
    }
    return {"not " + at_least(Tightness::Not, operand), Tightness::Not};
  }

  const Scope& scope_;
  std::optional<std::uint32_t> bare_;
  const Select* select_ = nullptr;
};

std::string as_name(const Scope& scope, const Expr& expr, const std::string& name) {
  return name.empty() || name == natural_name(scope, expr) ? "" : " as " + written_name(name);
}

std::string with_optional(std::string text, const Type& type) {
  if (type.optional) text += '?';
  return text;
}

// `about`: how many bytes the text inside has, which is written inside, too.
std::string written_type(const Model& model, const Type& type, std::optional<double> about, int depth) {
  if (depth > 16) return "…";
  const auto argument = [&](std::size_t i) {
    return i < type.arguments.size() ? written_type(model, type.arguments[i],
                                                    i + 1 == type.arguments.size() ? about : std::nullopt, depth + 1)
                                     : std::string("unknown");
  };
  const auto columns = [&] {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      texts.push_back(fmt::format(
          "{}: {}", written_name(type.names[i]),
          i < type.arguments.size() ? written_type(model, type.arguments[i], std::nullopt, depth + 1) : "unknown"));
    }
    return fmt::format("{{ {} }}", fmt::join(texts, ", "));
  };
  switch (type.kind) {
    case TypeKind::Text:
    case TypeKind::Bytes:
    case TypeKind::Json: {
      std::string text = kind_name(type.kind);
      if (type.max_length > 0) {
        text += fmt::format("({})", type.max_length);
      } else if (about) {
        text += fmt::format("(~{})", positional(*about));
      }
      return with_optional(text, type);
    }
    case TypeKind::Enumeration: {
      std::vector<std::string> texts;
      for (const auto& name : type.names) texts.push_back(written_text(name));
      const auto text = fmt::format("{}", fmt::join(texts, " | "));
      return type.optional ? "(" + text + ")?" : text;
    }
    case TypeKind::Reference:
      return with_optional(entity_name(model, type.id), type);
    case TypeKind::Value:
      return with_optional(type.id < model.values.size() ? written_name(model.values[type.id].name) : "unknown", type);
    case TypeKind::List:
    case TypeKind::Set:
      return with_optional(fmt::format("{}<{}>", kind_name(type.kind), argument(0)), type);
    case TypeKind::Map:
      return with_optional(fmt::format("map<{}, {}>", argument(0), argument(1)), type);
    case TypeKind::Row:
      return with_optional(columns(), type);
    case TypeKind::Rows:
      return with_optional(fmt::format("list<{}>", columns()), type);
    case TypeKind::Unknown:
      return "unknown";
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Decimal:
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
    case TypeKind::Inet:
    case TypeKind::Duration:
      return with_optional(kind_name(type.kind), type);
  }
  return "unknown";
}

std::string written_parts(const Scope& scope, const std::vector<Part>& parts, std::optional<std::uint32_t> bare) {
  std::vector<std::string> texts;
  for (const auto& part : parts) texts.push_back(written(scope, part, bare));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string written_cells(const Scope& scope, const std::vector<Cell>& cells, std::optional<std::uint32_t> bare) {
  std::vector<std::string> texts;
  for (const auto& cell : cells) texts.push_back(written(scope, cell, bare));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// The variable over the elements of a collection that an entry holds whole, as `r.*`.
std::optional<std::uint32_t> whole_element(const Scope& scope, const WrittenFamily& family) {
  if (family.copy || family.cells.empty()) return std::nullopt;
  const auto variable_of = [](const Cell& cell) -> const Expr* {
    const bool field = cell.shape == CellShape::Plain && cell.expr.kind == ExprKind::Field;
    const bool of_variable =
        field && cell.expr.operands.size() == 1 && cell.expr.operands[0].kind == ExprKind::Variable;
    return of_variable ? &cell.expr.operands[0] : nullptr;
  };
  const Expr* first = variable_of(family.cells[0]);
  if (first == nullptr || first->type.kind != TypeKind::Value) return std::nullopt;
  const auto* fields = fields_of(scope.model, first->type);
  if (fields == nullptr || fields->size() != family.cells.size()) return std::nullopt;
  for (std::size_t i = 0; i < family.cells.size(); ++i) {
    const Expr* variable = variable_of(family.cells[i]);
    if (variable == nullptr || variable->index != first->index || family.cells[i].expr.index != i) return std::nullopt;
  }
  return first->index;
}

}  // namespace

const char* kind_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool:
      return "bool";
    case TypeKind::Int:
      return "int";
    case TypeKind::Float:
      return "float";
    case TypeKind::Decimal:
      return "decimal";
    case TypeKind::Text:
      return "text";
    case TypeKind::Bytes:
      return "bytes";
    case TypeKind::Timestamp:
      return "timestamp";
    case TypeKind::Date:
      return "date";
    case TypeKind::Uuid:
      return "uuid";
    case TypeKind::TimeUuid:
      return "timeuuid";
    case TypeKind::Inet:
      return "inet";
    case TypeKind::Json:
      return "json";
    case TypeKind::List:
      return "list";
    case TypeKind::Set:
      return "set";
    case TypeKind::Map:
      return "map";
    case TypeKind::Duration:
      return "duration";
    case TypeKind::Enumeration:
      return "enumeration";
    case TypeKind::Reference:
      return "reference";
    case TypeKind::Value:
      return "value";
    case TypeKind::Row:
      return "row";
    case TypeKind::Rows:
      return "rows";
    case TypeKind::Unknown:
      break;
  }
  return "unknown";
}

std::string natural_name(const Scope& scope, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Field:
    case ExprKind::Inverse:
      return member_name(scope.model, expr);
    case ExprKind::Variable:
      return expr.index < scope.variables.size() ? scope.variables[expr.index].name : "";
    case ExprKind::Parameter:
      return expr.index < scope.parameters.size() ? scope.parameters[expr.index].name : "";
    case ExprKind::Refreshed:
      return "refreshed";
    case ExprKind::Element:
      return expr.operands.empty() ? "" : natural_name(scope, expr.operands[0]);
    case ExprKind::CountOf:
      return "count";
    case ExprKind::Fold:
      return word(expr.fold);
    case ExprKind::Call: {
      if (expr.function == Function::ToDecimal && expr.operands.size() == 1)
        return natural_name(scope, expr.operands[0]);
      const std::string name = word(expr.function);
      return is_word(name) ? name : "";
    }
    case ExprKind::Unknown:
    case ExprKind::Constant:
    case ExprKind::Instance:
    case ExprKind::Select:
    case ExprKind::List:
    case ExprKind::Map:
    case ExprKind::Record:
    case ExprKind::Column:
    case ExprKind::Slot:
      break;
  }
  return "";
}

std::string written_name(std::string_view name) {
  return is_word(name) ? std::string(name) : fmt::format("`{}`", name);
}

std::string written_text(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto length = static_cast<std::int32_t>(text.size());
  std::string out = "\"";
  for (std::int32_t at = 0; at < length;) {
    const std::int32_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes, at, length, c);
    const bool turns = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);  // the direction of what follows
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", static_cast<char>(c));
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= 0 && (c < 0x20 || (c >= 0x7F && c < 0xA0) || turns)) {
      out += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(c));
    } else {
      out += text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(at - begin));
    }
  }
  return out + '"';
}

std::string written_duration(std::int64_t minutes) {
  const auto units = [](std::int64_t count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  if (minutes != 0 && minutes % (24 * 60) == 0) return units(minutes / (24 * 60), "day");
  if (minutes != 0 && minutes % 60 == 0) return units(minutes / 60, "hour");
  return units(minutes, "minute");
}

std::string written_type(const Model& model, const Field& field) {
  return written_type(model, field.type, field.about_bytes, 0);
}

std::string written(const Scope& scope, const Expr& expr, std::optional<std::uint32_t> bare, const Select* select) {
  return Writer(scope, bare, select).anywhere(expr);
}

std::string written_conjunction(const Scope& scope, const std::vector<const Expr*>& conjuncts,
                                std::optional<std::uint32_t> bare) {
  if (conjuncts.size() == 1) return written(scope, *conjuncts[0], bare);
  const Writer writer(scope, bare, nullptr);
  std::vector<std::string> texts;
  for (const Expr* conjunct : conjuncts) texts.push_back(writer.at_least(Tightness::And, *conjunct));
  return fmt::format("{}", fmt::join(texts, " and "));
}

std::string written_without(const Scope& scope, const Column& column) {
  if (column.without.empty()) return "";
  const auto* fields = fields_of(scope.model, column.expr.type);
  std::vector<std::string> names;
  for (const auto index : column.without) {
    names.push_back(fields != nullptr && index < fields->size() ? written_name((*fields)[index].name) : "?");
  }
  return fmt::format(" without {}", fmt::join(names, ", "));
}

std::string written(const Scope& scope, const Column& column) {
  return written(scope, column.expr) + written_without(scope, column) + as_name(scope, column.expr, column.name);
}

std::string written(const Scope& scope, const Select& select, const OrderTerm& term) {
  return written(scope, term.expr, std::nullopt, &select) + (term.descending ? " desc" : "");
}

std::string written(const Scope& scope, const Select& select) {
  std::vector<std::string> columns;
  for (const auto& column : select.columns) columns.push_back(written(scope, column));
  std::string text = fmt::format("select {}{} from {}", select.distinct ? "distinct " : "", fmt::join(columns, ", "),
                                 written_sources(scope, select.from));
  if (select.where) text += " where " + written(scope, *select.where);
  if (!select.group_by.empty()) {
    std::vector<std::string> groups;
    for (const auto& expr : select.group_by) groups.push_back(written(scope, expr));
    text += fmt::format(" group by {}", fmt::join(groups, ", "));
  }
  if (!select.order_by.empty()) {
    std::vector<std::string> terms;
    for (const auto& term : select.order_by) terms.push_back(written(scope, select, term));
    text += fmt::format(" order by {}", fmt::join(terms, ", "));
  }
  if (select.limit) text += " limit " + written(scope, *select.limit);
  return text;
}

std::string written_source(const Scope& scope, const Variable& variable) {
  const auto query = [&] {
    return variable.query < scope.model.queries.size() ? written_name(scope.model.queries[variable.query].name) : "?";
  };
  switch (variable.kind) {
    case SourceKind::Entity:
      return to_string(scope.model, variable.type);
    case SourceKind::Refreshed:
      return query();
    case SourceKind::History:
      return query() + " history";
    case SourceKind::Words:
      return fmt::format("words({})", written(scope, variable.source));
    case SourceKind::References:
      return fmt::format("references({})", written(scope, variable.source));
    case SourceKind::Instance: {
      std::string key = written(scope, variable.source);
      if (variable.source.kind == ExprKind::Instance) return key;
      return fmt::format("{}[{}]", to_string(scope.model, variable.type), key);
    }
    case SourceKind::Path:
    case SourceKind::Target:
    case SourceKind::Inserted:
    case SourceKind::Loop:
      return written(scope, variable.source);
  }
  return "?";
}

std::string written_sources(const Scope& scope, const std::vector<std::uint32_t>& from) {
  std::vector<std::string> texts;
  for (const auto index : from) {
    if (index >= scope.variables.size()) continue;
    const Variable& variable = scope.variables[index];
    texts.push_back(written_source(scope, variable) + " " + leading_name(variable.name));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string written(const Scope& scope, const Part& part, std::optional<std::uint32_t> bare) {
  return written(scope, part.expr, bare) + (part.descending ? " desc" : "") + as_name(scope, part.expr, part.name);
}

std::string written(const Scope& scope, const Cell& cell, std::optional<std::uint32_t> bare) {
  if (cell.shape == CellShape::Plain) return written(scope, cell.expr, bare) + as_name(scope, cell.expr, cell.name);
  std::string inside = written_cells(scope, cell.cells, bare);
  if (!cell.from.empty()) inside += " from " + written_sources(scope, cell.from);
  if (!cell.order_by.empty()) inside += " order by " + written_parts(scope, cell.order_by, bare);
  if (cell.limit) inside += fmt::format(" limit {}", *cell.limit);
  const auto* brackets = cell.shape == CellShape::Object ? "{} {{ {} }}" : "{} [ {} ]";
  return fmt::format(fmt::runtime(brackets), written_name(cell.name), inside);
}

std::string written_path(const Scope& scope, const WrittenFamily& family, std::optional<std::uint32_t> bare) {
  std::vector<std::string> names;
  for (const auto& name : family.path) names.push_back(written_name(name));
  std::string text = fmt::format("{}", fmt::join(names, "."));
  if (family.elements) {
    text += "[*]";
  } else if (!family.key.empty()) {
    text += "[" + written_parts(scope, family.key, bare) + "]";
  }
  return text.empty() ? "ε" : text;
}

std::vector<std::string> written_clauses(const Scope& scope, const WrittenFamily& family,
                                         std::optional<std::uint32_t> bare) {
  std::string head = (family.copy ? "copy " : "entry ") + written_path(scope, family, bare);
  // `entry rounds[*]` says already what it holds.
  const bool told_by_path = family.field && family.cells.size() == 1 && family.cells[0].expr.kind == ExprKind::Field &&
                            family.cells[0].expr.index == *family.field;
  if (const auto element = whole_element(scope, family); element && *element < scope.variables.size())
    head += fmt::format(": {}.*", leading_name(scope.variables[*element].name));
  else if (!family.cells.empty() && !told_by_path)
    head += ": " + written_cells(scope, family.cells, bare);
  std::vector<std::string> clauses = {head};
  if (!family.from.empty()) clauses.push_back("from " + written_sources(scope, family.from));
  if (family.where) clauses.push_back("where " + written(scope, *family.where, bare));
  if (family.limit) clauses.push_back(fmt::format("limit {}", *family.limit));
  return clauses;
}

std::vector<const Expr*> conjuncts(const Expr& expr) {
  if (expr.kind != ExprKind::Call || expr.function != Function::And) return {&expr};
  std::vector<const Expr*> all;
  for (const auto& operand : expr.operands) {
    const auto inside = conjuncts(operand);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

std::string to_string(const Model& model, const Type& type) { return written_type(model, type, std::nullopt, 0); }

std::string to_string(const Model& model, const Expr& expr, const std::vector<Variable>& variables,
                      const std::vector<Parameter>& parameters) {
  const Scope scope{model, variables, parameters};
  return written(scope, expr);
}

}  // namespace noam::model
