#include "tests/property/compare.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace noam::tests::property {

namespace {

bool has_order(const model::Select& select) { return !select.order_by.empty() || select.limit.has_value(); }

// Rows in one order where any is right, in nested selects too.
Json canonical(const model::Select& select, Json rows);

void canonical_row(const model::Select& select, Json& row) {
  if (!row.is_object()) return;
  for (const model::Column& column : select.columns) {
    const auto found = row.find(column.name);
    if (found == row.end() || column.expr.kind != model::ExprKind::Select) continue;
    const model::Select& nested = column.expr.select.front();
    if (nested.shape == model::Shape::Rows) *found = canonical(nested, std::move(*found));
    if (nested.shape == model::Shape::Row) canonical_row(nested, *found);
  }
}

Json canonical(const model::Select& select, Json rows) {
  if (!rows.is_array()) return rows;
  for (Json& row : rows) canonical_row(select, row);
  if (!has_order(select))
    std::sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) { return a.dump() < b.dump(); });
  return rows;
}

const model::Query* find_query(const model::Model& model, const Json& request) {
  if (!request.is_object() || !request.contains("run")) return nullptr;
  for (const model::Query& query : model.queries)
    if (query.name == request["run"]) return &query;
  return nullptr;
}

// What of the answer is the same on every engine.
Json essence(const model::Query* query, const Json& answer) {
  Json out = sorted(answer);  // the order of columns is no part of an answer
  if (!out.is_object()) return out;
  out.erase("reason");
  if (out.contains("error") && out["error"].is_object()) out["error"].erase("reason");
  if (out.contains("cursor")) out["cursor"] = "…";
  if (query != nullptr && out.contains("rows")) out["rows"] = canonical(query->select, std::move(out["rows"]));
  return out;
}

}  // namespace

std::optional<std::string> difference(const model::Model& model, const Json& request, const Json& a, const Json& b) {
  const model::Query* query = find_query(model, request);
  const Json left = essence(query, a);
  const Json right = essence(query, b);
  // As texts, so that 1 and 1.0, or 0.0 and -0.0, are not the same.
  if (left.dump() == right.dump()) return std::nullopt;
  if (!left.is_object() || !right.is_object()) return "no answers";
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name)) return fmt::format("`{}` is missing in the second answer", name);
    if (name == "rows" || right[name].dump() == value.dump()) continue;
    return fmt::format("`{}` differs: {} and {}", name, value.dump(), right[name].dump());
  }
  for (const auto& [name, value] : right.items())
    if (!left.contains(name)) return fmt::format("`{}` is missing in the first answer", name);
  const Json& first = left["rows"];
  const Json& second = right["rows"];
  if (first.size() != second.size()) return fmt::format("{} rows and {} rows", first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].dump() != second[i].dump())
      return fmt::format("row {} differs: {} and {}", i, first[i].dump(), second[i].dump());
  return "the answers differ";
}

}  // namespace noam::tests::property
