#include "noam/runtime/differences.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/runtime/arguments.h"

namespace noam::runtime {

using model::Datum;

namespace {

// For people: as JSON of its type where it is a value of that, else as it looks. What is damaged may be anything.
Json readable(const model::Model& model, const model::Type* type, const Datum& datum) {
  if (datum.absent()) return nullptr;
  const bool typed = type != nullptr && type->kind != model::TypeKind::Unknown && !mismatch(model, *type, datum, {});
  if (typed) return model::write_json(model, *type, datum);
  if (datum.is_list()) {
    Json list = Json::array();
    for (const Datum& item : datum.as_list()) list.push_back(readable(model, nullptr, item));
    return list;
  }
  if (datum.is_string()) return datum.as_string();
  if (datum.is_double()) return datum.as_double();
  if (datum.is_decimal()) return datum.as_decimal().text();
  if (datum.is_bool()) return datum.as_bool();
  return datum.as_int();
}

std::string text_of(const Json& json) { return json.dump(); }

std::string parts_text(const model::Model& model, const std::vector<model::Part>& parts, const stores::Key& key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i)
    out += (i == 0 ? "" : ", ") + text_of(readable(model, i < parts.size() ? &parts[i].expr.type : nullptr, key[i]));
  return out;
}

// What is wrong in an entry: the columns that differ, as they are and as they should be.
std::string columns_text(const design::Program& program, const design::Family& family, const stores::Key& is,
                         const stores::Key& should) {
  std::string out;
  for (std::size_t i = 0; i < std::max(is.size(), should.size()); ++i) {
    const Datum nothing;
    const Datum& have = i < is.size() ? is[i] : nothing;
    const Datum& want = i < should.size() ? should[i] : nothing;
    if (have == want) continue;
    const model::Cell* cell = i < family.cells.size() ? &family.cells[i] : nullptr;
    const bool plain = cell != nullptr && cell->shape == model::CellShape::Plain;
    const model::Type* type = plain ? &cell->expr.type : nullptr;
    out += fmt::format("{}{} is {}, should be {}", out.empty() ? "" : "; ", cell != nullptr ? cell->name : "a count",
                       text_of(readable(*program.model, type, have)), text_of(readable(*program.model, type, want)));
  }
  return out;
}

}  // namespace

std::string entry_text(const design::Program& program, const design::Family& family, const EntryKey& key) {
  const design::Collection& collection = program.design.collection_of(family);
  std::string out = fmt::format("[{}]", parts_text(*program.model, collection.by, key.first));
  if (!family.name.empty() || key.second.empty()) out += " " + (family.name.empty() ? "ε" : family.name);
  if (!key.second.empty())
    out += fmt::format("{}[{}]", family.name.empty() ? " " : "", parts_text(*program.model, family.key, key.second));
  return out;
}

std::vector<EntryDifference> differences_of(const design::Program& program, const design::Upkeep& upkeep,
                                            const std::vector<Row>& rows,
                                            const std::vector<stores::ScanPage::Item>& stored, std::size_t& compared) {
  const design::Family& family = program.design.families[upkeep.family];
  auto expected = derive_entries(program, upkeep, rows);
  auto behind = cut_entries(program, upkeep, expected);
  std::vector<EntryDifference> out;
  const auto differs = [&](DifferenceKind kind, const EntryKey& key, std::optional<stores::Key> should,
                           const std::string& how) {
    out.push_back({kind, key, std::move(should), entry_text(program, family, key) + " " + how});
  };
  std::set<EntryKey> seen;
  for (const auto& item : stored) {
    const EntryKey key{item.block, item.entry.key};
    seen.insert(key);
    if (const auto more = behind.find(key); more != behind.end()) expected.insert(behind.extract(more));
    const auto wanted = expected.find(key);
    if (wanted == expected.end())
      differs(DifferenceKind::Extra, key, std::nullopt, "should not exist");
    else if (wanted->second != item.entry.columns)
      differs(DifferenceKind::Wrong, key, wanted->second,
              "is wrong: " + columns_text(program, family, item.entry.columns, wanted->second));
  }
  for (const auto& [key, columns] : expected)
    if (!seen.contains(key)) differs(DifferenceKind::Missing, key, columns, "is missing");
  compared += expected.size();
  return out;
}

}  // namespace noam::runtime
