#include "noam/stores/store.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/model/packed.h"

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

void gather(Answer& answer) {
  Datum::List list;
  list.reserve(answer.entries.size());
  for (Entry& entry : answer.entries) list.push_back(entry.columns.empty() ? Datum() : std::move(entry.columns[0]));
  answer.entries.clear();
  answer.entries.push_back({{}, {Datum(std::move(list))}});
}

namespace {

Datum shown(const design::ShownColumn::Part& part, const Key& block, const Entry& entry) {
  using Kind = design::Place::Kind;
  const auto& [kind, index, inside] = part.place;
  Datum out;
  if (kind == Kind::Block)
    out = block[index];
  else if (kind == Kind::Key)
    out = entry.key[index];
  else if (index < entry.columns.size())
    out = entry.columns[index];
  return out.absent() && part.collection ? Datum(Datum::List{}) : out;
}

}  // namespace

void show(const ReadRequest& request, Answer& answer) {
  answer.rows.reserve(answer.entries.size());
  for (const Entry& entry : answer.entries) {
    Key row;
    row.reserve(request.shown->size());
    for (const design::ShownColumn& column : *request.shown) {
      Datum::List parts;
      parts.reserve(column.parts.size());
      for (const auto& part : column.parts) parts.push_back(shown(part, request.block.key, entry));
      row.push_back(column.record ? Datum(std::move(parts)) : std::move(parts[0]));
    }
    answer.rows.push_back(std::move(row));
  }
  const bool full = request.limit != 0 && answer.entries.size() == request.limit;
  answer.entries.erase(answer.entries.begin(), full ? answer.entries.end() - 1 : answer.entries.end());
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

Result<void> add_to(std::optional<Key>& columns, const Key& addends, std::uint32_t vanishes, std::size_t width) {
  if (!columns) columns.emplace(width);
  if (columns->size() < addends.size()) columns->resize(addends.size());
  for (std::size_t i = 0; i < addends.size(); ++i) {
    if (addends[i].absent()) continue;
    NOAM_ASSIGN_OR_RETURN((*columns)[i], sum((*columns)[i], addends[i]));
  }
  if (vanishes < columns->size() && zero((*columns)[vanishes])) columns.reset();
  return {};
}

Result<void> append_to(std::optional<Key>& columns, const Key& elements) {
  if (!columns || columns->size() < elements.size()) return Error{"there is no list to append to"};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].absent()) continue;
    if (!(*columns)[i].is_list() || !elements[i].is_list())
      return Error{"only elements of a list can be appended to a list"};
    (*columns)[i] = model::with_elements((*columns)[i], elements[i].as_list());
  }
  return {};
}

Error other_design(const Deployment& deployed, const std::vector<std::string>& differences, std::string_view what) {
  constexpr std::size_t most = 3;
  const std::size_t shown = std::min(most, differences.size());
  std::string list = fmt::format("{}", fmt::join(differences.begin(), differences.begin() + shown, "; "));
  if (differences.size() > shown) list += fmt::format("; and {} more", differences.size() - shown);
  return Error{
      fmt::format(
          "{} another design, `{}`: {}; use the model and strategy it was deployed with, or export with them, deploy "
          "this design to a new store, and load the data there",
          what, deployed.design, list),
      "other-design"};
}

Blueprint::Blueprint(const design::Design& of)  // NOLINT(google-explicit-constructor)
    : Blueprint(of, []() -> const model::Model& {
        static const model::Model nothing;
        return nothing;
      }()) {}

}  // namespace noam::stores
