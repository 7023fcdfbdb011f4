#include "noam/stores/store.h"

#include <algorithm>

namespace noam::stores {

using model::Datum;

std::strong_ordering BlockRef::operator<=>(const BlockRef& other) const {
  if (const auto order = collection <=> other.collection; std::is_neq(order)) return order;
  return key <=> other.key;
}

std::strong_ordering EntryRef::operator<=>(const EntryRef& other) const {
  if (const auto order = block <=> other.block; std::is_neq(order)) return order;
  if (const auto order = family <=> other.family; std::is_neq(order)) return order;
  return key <=> other.key;
}

const EntryRef& entry_of(const Change& change) {
  return std::visit([](const auto& one) -> const EntryRef& { return one.entry; }, change);
}

std::size_t entry_bytes(const Key& key, const Key& columns) {
  std::size_t bytes = 0;
  for (const Datum& part : key) bytes += bytes_of(part);
  for (const Datum& column : columns) bytes += bytes_of(column);
  return bytes;
}

namespace {

bool zero(const Datum& datum) {
  return (datum.is_int() && datum.as_int() == 0) || (datum.is_decimal() && datum.as_decimal().zero());
}

Result<Datum> sum(const Datum& column, const Datum& addend) {
  if (column.absent() && (addend.is_int() || addend.is_decimal())) return addend;
  if (column.is_int() && addend.is_int()) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(column.as_int(), addend.as_int(), &result)) {
      return Error{"a count does not fit into 64 bits"};
    }
    return Datum(result);
  }
  if (column.is_decimal() && addend.is_decimal()) return Datum(column.as_decimal() + addend.as_decimal());
  return Error{"only an int can be added to an int, and a decimal to a decimal"};
}

}  // namespace

Result<std::optional<Key>> added(const Add& add, const Key* columns, std::size_t width) {
  Key result = columns != nullptr ? *columns : Key(width);
  result.resize(std::max(result.size(), add.addends.size()));
  for (std::size_t i = 0; i < add.addends.size(); ++i) {
    if (add.addends[i].absent()) continue;
    NOAM_ASSIGN_OR_RETURN(result[i], sum(result[i], add.addends[i]));
  }
  std::optional<Key> left;
  if (add.vanishes >= result.size() || !zero(result[add.vanishes])) left = std::move(result);
  return left;
}

namespace {

using model::same;
bool same(const model::Part& a, const model::Part& b);
bool same(const model::Cell& a, const model::Cell& b);
bool same(const model::Variable& a, const model::Variable& b);
bool same(const model::TargetOption& a, const model::TargetOption& b);
bool same(const design::Family& a, const design::Family& b);
bool same(const design::Collection& a, const design::Collection& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}

bool same(const model::Part& a, const model::Part& b) {
  return a.descending == b.descending && a.name == b.name && same(a.expr, b.expr);
}

bool same(const model::Cell& a, const model::Cell& b) {
  return a.shape == b.shape && a.name == b.name && same(a.expr, b.expr) && same(a.cells, b.cells) && a.from == b.from &&
         same(a.order_by, b.order_by) && a.limit == b.limit;
}

bool same(const model::Variable& a, const model::Variable& b) {
  return a.name == b.name && a.kind == b.kind && a.type == b.type && same(a.source, b.source) && a.query == b.query;
}

bool same(const model::TargetOption& a, const model::TargetOption& b) {
  return a.target == b.target && a.name == b.name && same(a.value, b.value);
}

bool same(const std::optional<model::Expr>& a, const std::optional<model::Expr>& b) {
  return a && b ? same(*a, *b) : a.has_value() == b.has_value();
}

// Two families that differ in nothing but what holds expressions.
bool same_but_for_expressions(const design::Family& a, design::Family b) {
  b.key = a.key;
  b.cells = a.cells;
  b.where = a.where;
  return a == b;
}

bool same(const design::Family& a, const design::Family& b) {
  return same(a.key, b.key) && same(a.cells, b.cells) && same(a.where, b.where) && same_but_for_expressions(a, b);
}

bool same(const design::Collection& a, const design::Collection& b) {
  return a.name == b.name && same(a.variables, b.variables) && same(a.by, b.by) && same(a.options, b.options) &&
         a.families == b.families && a.added == b.added;
}

}  // namespace

bool same_layout(const design::Design& a, const design::Design& b) {
  return same(a.collections, b.collections) && same(a.families, b.families);
}

}  // namespace noam::stores
