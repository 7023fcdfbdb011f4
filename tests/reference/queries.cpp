#include <algorithm>
#include <utility>

#include "noam/base/check.h"
#include "tests/reference/evaluate.h"

// Selects, by nested loops over everything.
namespace noam::reference {

using model::Expr;
using model::ExprKind;
using model::Select;
using model::SourceKind;
using model::TypeKind;

// The steps before the last of a longer path in `from` lead to instances that exist.
bool Evaluation::steps_exist(const Expr& path) {
  if (path.kind != ExprKind::Field && path.kind != ExprKind::Inverse && path.kind != ExprKind::Element) return true;
  const Expr& base = path.operands[0];
  if (base.type.kind == TypeKind::Reference && !exists(base.type, evaluate(base))) return false;
  return steps_exist(base);
}

std::vector<Evaluation::Bound> Evaluation::candidates(const model::Variable& variable) {
  std::vector<Bound> found;
  switch (variable.kind) {
    case SourceKind::Entity:
      for (const auto& [key, aggregate] : setting_.state[variable.type.id]) found.push_back({key, key});
      return found;
    case SourceKind::Instance:
    case SourceKind::Path: {
      if (!steps_exist(variable.source)) return found;
      const Datum value = evaluate(variable.source);
      if (value.absent()) return found;
      const auto see = [&](const Datum& element, const Datum& key) {
        if (variable.type.kind == TypeKind::Reference && !exists(variable.type, element)) return;
        found.push_back({element, key});
      };
      const TypeKind kind = variable.source.type.kind;
      if (kind == TypeKind::Reference) {
        see(value, value);
        return found;
      }
      std::int64_t position = 0;
      for (const Datum& element : value.as_list()) {
        if (kind == TypeKind::Map)
          see(element.as_list()[1], element.as_list()[0]);
        else
          see(element, kind == TypeKind::List ? Datum(position) : element);
        ++position;
      }
      return found;
    }
    case SourceKind::Refreshed:
    case SourceKind::History: {
      const Refreshes& refreshes = setting_.refreshes[variable.query];
      auto at = refreshes.begin();
      if (variable.kind == SourceKind::Refreshed && !refreshes.empty()) at = std::prev(refreshes.end());
      for (; at != refreshes.end(); ++at)
        for (std::size_t i = 0; i < at->second.size(); ++i)
          found.push_back({at->second[i], Datum::List{at->first, static_cast<std::int64_t>(i)}});
      return found;
    }
    default:
      check(false, "a source of a statement's select");
      return found;
  }
}

void Evaluation::each_binding(const Select& select, std::size_t at, const std::function<void()>& visit) {
  if (at == select.from.size()) {
    visit();
    return;
  }
  const std::uint32_t variable = select.from[at];
  check(variable < setting_.variables.size(), "a select's variables belong to its statement");
  for (Bound& candidate : candidates(setting_.variables[variable])) {
    bound_[variable] = std::move(candidate);
    each_binding(select, at + 1, visit);
  }
}

std::vector<Evaluation::Bound> Evaluation::snapshot(const Select& select) const {
  std::vector<Bound> row;
  for (const std::uint32_t variable : select.from) row.push_back(bound_[variable]);
  return row;
}

void Evaluation::restore(const Select& select, const std::vector<Bound>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) bound_[select.from[i]] = row[i];
}

Datum Evaluation::column(const model::Column& column) {
  Datum value = evaluate(column.expr);
  if (!column.aggregate) return value;
  const model::EntityId id = column.expr.type.entity();
  const Aggregate* aggregate = find(setting_.state, id, value);
  if (aggregate == nullptr) return {};
  const model::Entity& entity = setting_.model.entity(id);
  Datum::List fields;
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    const bool left_out = std::find(column.without.begin(), column.without.end(), i) != column.without.end();
    if (!left_out && !entity.fields[i].hidden) fields.push_back(field_of(id, value, *aggregate, i));
  }
  return fields;
}

Row Evaluation::make_row(const Select& select, Datum::List ties) {
  Row row;
  for (const model::Column& made : select.columns) row.columns.push_back(column(made));
  const Datum::List* outer = std::exchange(columns_, &row.columns);
  for (const model::OrderTerm& term : select.order_by) row.position.push_back(evaluate(term.expr));
  columns_ = outer;
  if (select.distinct) ties = Datum::List(row.columns.rbegin(), row.columns.rend());
  row.position.insert(row.position.end(), ties.begin(), ties.end());
  return row;
}

std::vector<Evaluation::Group> Evaluation::groups(const Select& select, std::vector<std::vector<Bound>> kept) {
  std::map<Datum::List, Group> by_values;
  if (select.group_by.empty()) by_values[{}];  // one row, always
  for (std::vector<Bound>& row : kept) {
    restore(select, row);
    Datum::List values;
    for (const Expr& expr : select.group_by) values.push_back(evaluate(expr));
    Group& group = by_values[values];
    group.values = std::move(values);
    group.rows.push_back(std::move(row));
  }
  std::vector<Group> found;
  for (auto& [values, group] : by_values) found.push_back(std::move(group));
  return found;
}

std::vector<bool> Evaluation::directions(const Select& select, std::size_t parts) {
  std::vector<bool> descending;
  for (const model::OrderTerm& term : select.order_by) descending.push_back(term.descending);
  descending.resize(std::max(parts, descending.size()), !descending.empty() && descending.back());
  return descending;
}

bool Evaluation::before(const Datum::List& a, const Datum::List& b, const std::vector<bool>& descending) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!(a[i] == b[i])) return descending[i] ? b[i] < a[i] : a[i] < b[i];
  return false;
}

std::vector<Row> Evaluation::rows(const Select& select) {
  std::vector<std::vector<Bound>> kept;
  each_binding(select, 0, [&] {
    if (!select.where || holds(*select.where)) kept.push_back(snapshot(select));
  });
  std::vector<Row> made;
  if (select.folded) {
    const Select* outer_select = std::exchange(folded_, &select);
    const Group* outer_group = group_;
    for (const Group& group : groups(select, std::move(kept))) {
      group_ = &group;
      if (!group.rows.empty()) restore(select, group.rows.front());
      made.push_back(make_row(select, Datum::List(group.values.rbegin(), group.values.rend())));
    }
    folded_ = outer_select;
    group_ = outer_group;
  } else {
    for (const std::vector<Bound>& row : kept) {
      restore(select, row);
      Datum::List ties;
      for (auto variable = row.rbegin(); variable != row.rend(); ++variable) ties.push_back(variable->key);
      made.push_back(make_row(select, std::move(ties)));
    }
  }
  if (made.empty()) return made;
  const std::vector<bool> descending = directions(select, made.front().position.size());
  std::sort(made.begin(), made.end(),
            [&](const Row& a, const Row& b) { return before(a.position, b.position, descending); });
  if (select.distinct) {  // equal rows have equal positions, and lie side by side
    const auto same = [](const Row& a, const Row& b) { return a.columns == b.columns; };
    made.erase(std::unique(made.begin(), made.end(), same), made.end());
  }
  return made;
}

std::optional<std::int64_t> Evaluation::limit(const std::optional<Expr>& expr) {
  if (!expr) return std::nullopt;
  const Datum value = evaluate(*expr);
  if (value.absent()) return std::nullopt;
  return value.as_int();
}

Datum Evaluation::evaluate_nested(const Expr& expr) {
  const Select& select = expr.select[0];
  std::vector<Row> made = rows(select);
  if (const auto most = limit(select.limit); most && made.size() > static_cast<std::size_t>(*most))
    made.resize(static_cast<std::size_t>(*most));
  switch (select.shape) {
    case model::Shape::Scalar:
      return made.empty() ? Datum() : made.front().columns.front();
    case model::Shape::Row:
      return made.empty() ? Datum() : Datum(made.front().columns);
    case model::Shape::Rows:
      break;
  }
  Datum::List list;
  for (Row& row : made) list.emplace_back(std::move(row.columns));
  return list;
}

}  // namespace noam::reference
