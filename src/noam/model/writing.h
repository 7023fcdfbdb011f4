#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/model.h"

// Parts of a model as they would be written in noam, for show, diagnostics and diagrams. What is unknown is written
// `unknown` or `?`; nothing here fails.
namespace noam::model {

// What the names in a statement or collection stand for.
struct Scope {
  const Model& model;
  const std::vector<Variable>& variables;
  const std::vector<Parameter>& parameters;
};

// In backquotes where it is not a word.
std::string written_name(std::string_view name);
// The word for a kind of type: `list`, `text`; `reference`, `value`, `row` for those that have no word of their own.
const char* kind_name(TypeKind kind);
// In double quotes, escaped.
std::string written_text(std::string_view text);
// `90 days`, `1 hour`.
std::string written_duration(std::int64_t minutes);
// The type of a field, with the statistic that stands inside it: `text(~80)`.
std::string written_type(const Model& model, const Field& field);

// Fields of the variable `bare`, if there is one, stand without its name. An expression of an `order by` may name
// columns of its select.
std::string written(const Scope& scope, const Expr& expr, std::optional<std::uint32_t> bare = std::nullopt,
                    const Select* select = nullptr);
// All of them, joined by `and`.
std::string written_conjunction(const Scope& scope, const std::vector<const Expr*>& conjuncts,
                                std::optional<std::uint32_t> bare = std::nullopt);
// `select … from …`, without parentheses.
std::string written(const Scope& scope, const Select& select);
// ` as name` only where that is not the one it has anyway.
std::string written(const Scope& scope, const Column& column);
// ` without a, b`; empty where nothing is left out.
std::string written_without(const Scope& scope, const Column& column);
// The name that a column has where none is written; empty where it needs one.
std::string natural_name(const Scope& scope, const Expr& expr);
// A term of the select's `order by`.
std::string written(const Scope& scope, const Select& select, const OrderTerm& term);
// What a variable ranges over: `User`, `u.follows`, `top_accounts history`, `references(u.follows)`.
std::string written_source(const Scope& scope, const Variable& variable);
// `User u, u.follows a`.
std::string written_sources(const Scope& scope, const std::vector<std::uint32_t>& from);

// Of designs; fields of the variable `bare` stand alone.
std::string written(const Scope& scope, const Part& part, std::optional<std::uint32_t> bare);
std::string written(const Scope& scope, const Cell& cell, std::optional<std::uint32_t> bare);
// The pattern of access paths: `ε`, `rounds[*]`, `hours[hour(v.at) desc]`.
std::string written_path(const Scope& scope, const WrittenFamily& family, std::optional<std::uint32_t> bare);
// `copy [t.at desc]: t.content`, `from u.tweets t`, `limit 10`.
std::vector<std::string> written_clauses(const Scope& scope, const WrittenFamily& family,
                                         std::optional<std::uint32_t> bare);

// The operands of `and`, taken apart all the way down; one that is no `and` is alone.
std::vector<const Expr*> conjuncts(const Expr& expr);

// Calls `visit` for the expression and all inside it, nested selects included.
template <typename Visit>
void for_each(const Expr& expr, const Visit& visit);
template <typename Visit>
void for_each(const Select& select, const Visit& visit);

template <typename Visit>
void for_each(const Expr& expr, const Visit& visit) {
  visit(expr);
  for (const auto& operand : expr.operands) for_each(operand, visit);
  for (const auto& select : expr.select) for_each(select, visit);
}

template <typename Visit>
void for_each(const Select& select, const Visit& visit) {
  for (const auto& column : select.columns) for_each(column.expr, visit);
  if (select.where) for_each(*select.where, visit);
  for (const auto& expr : select.group_by) for_each(expr, visit);
  for (const auto& term : select.order_by) for_each(term.expr, visit);
  if (select.limit) for_each(*select.limit, visit);
}

}  // namespace noam::model
