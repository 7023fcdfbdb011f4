#include "noam/targets/dynamodb/layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/names.h"
#include "noam/targets/dynamodb/values.h"

namespace noam::targets::dynamodb {

namespace {

// "Naming rules" in the Developer Guide: 3 to 255 of a-z, A-Z, 0-9, `_`, `-`, `.`.
constexpr NameRules table_rules{.longest = 255, .others = "_-.", .letter_first = false, .reserved = {}};
// Any UTF-8 of 1 to 65,535 bytes, of keys 255. Expressions speak of every attribute by a placeholder, so reserved words
// do no harm.
constexpr NameRules attribute_rules{.longest = 255, .others = "_-.", .letter_first = false, .reserved = {}};

constexpr std::size_t shortest_table_name = 3;

Key make_key(const model::Model& model, const std::vector<Column>& columns, const char* made_name, bool sorted,
             Namer& namer) {
  Key out;
  for (const Column& column : columns) out.parts.push_back({&column, namer.give(column.name)});
  const auto letter = columns.size() == 1 ? key_letter(model, columns[0].type, sorted) : std::optional<char>();
  out.made = !letter;
  out.letter = letter.value_or('B');
  out.attribute = out.made ? namer.give(made_name) : out.parts[0].attribute;
  return out;
}

// A copy with a path of its own is a map; what is added to is not, since ADD takes attributes of the item only.
PlacedFamily place_values(const FamilyOutline& family, Namer& namer) {
  PlacedFamily out;
  out.family = &family;
  if (elements_of_block(family)) {
    out.shape = Shape::Elements;
    out.attribute = namer.give(family.path);
    out.names.assign(family.values.size(), std::string());
    return out;
  }
  const bool own_path = !family.base && family.one_a_block() && !family.path.empty();
  if (own_path && !family.adds) {
    out.shape = Shape::Map;
    out.attribute = namer.give(family.path);
    for (const Column& column : family.values) out.names.push_back(column.same_as ? std::string() : column.name);
    return out;
  }
  const std::string before = own_path ? family.path + "." : std::string();
  if (family.base && family.existence) out.version = namer.give("noam_version");
  for (const Column& column : family.values)
    out.names.push_back(column.same_as ? std::string() : namer.give(before + column.name));
  return out;
}

void tell_presence(PlacedFamily& placed, Namer& namer) {
  const FamilyOutline& family = *placed.family;
  if (!placed.version.empty() || placed.shape == Shape::Map) {
    placed.present = placed.shape == Shape::Map ? placed.attribute : placed.version;
    return;
  }
  for (std::size_t i = 0; i < family.values.size() && placed.present.empty(); ++i)
    if (!placed.names[i].empty() && always_there(family.values[i])) placed.present = placed.names[i];
  // Of a base the head tells.
  if (!placed.present.empty() || family.base) return;
  placed.present = namer.give("noam_entry");
  placed.marked = true;
}

}  // namespace

Layout::Layout(const Outline& outline) : outline_(outline) {
  placed_.resize(outline.program->design.families.size());
  for (const CollectionOutline& collection : outline.collections) place(collection);
  name_tables();
}

// Tables that are called as their collections have the first choice.
void Layout::name_tables() {
  Namer namer(table_rules);
  for (const bool of_collections : {true, false}) {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      if (ends_[i].empty() != of_collections) continue;
      const std::string& collection = tables_[i].collection->name;
      const std::string wanted = of_collections ? collection : fmt::format("{}_{}", collection, ends_[i]);
      tables_[i].name = namer.give(wanted.size() < shortest_table_name ? wanted + "_table" : wanted);
    }
  }
}

void Layout::place(const CollectionOutline& collection) {
  auto [of_block, keyed] = group_families(collection);
  const bool alone = of_block.empty() && keyed.size() == 1;
  if (!of_block.empty()) add_table(collection, {}, std::move(of_block), false);
  for (auto& group : keyed) {
    const FamilyOutline& first = *group.front();
    const std::string end = name_apart(first);
    add_table(collection, alone ? std::string() : end, std::move(group), true);
  }
}

void Layout::add_table(const CollectionOutline& collection, std::string end, std::vector<const FamilyOutline*> families,
                       bool sorted) {
  ends_.push_back(std::move(end));
  Namer namer(attribute_rules);
  Table table;
  table.collection = &collection;
  const model::Model& model = outline_.model();
  table.partition = make_key(model, collection.block, "noam_block", false, namer);
  if (sorted) table.sort = make_key(model, families.front()->key, "noam_key", true, namer);
  for (const FamilyOutline* family : families) {
    PlacedFamily placed = place_values(*family, namer);
    placed.table = static_cast<std::uint32_t>(tables_.size());
    const bool alone = std::none_of(families.begin(), families.end(), [&](const FamilyOutline* other) {
      return other != family && (!sorted || same_constants(*other, *family));
    });
    if (!alone && placed.shape != Shape::Elements) tell_presence(placed, namer);
    placed_[family->index] = std::move(placed);
  }
  table.families = std::move(families);
  tables_.push_back(std::move(table));
}

const PlacedFamily& Layout::placed(const FamilyOutline& family) const {
  check(placed_[family.index].has_value(), "every family has a place");
  return *placed_[family.index];
}

std::vector<const FamilyOutline*> Layout::item_mates(const FamilyOutline& family) const {
  std::vector<const FamilyOutline*> out;
  const Table& at = table(family);
  for (const FamilyOutline* other : at.families)
    if (at.item_a_block() || same_constants(*other, family)) out.push_back(other);
  return out;
}

}  // namespace noam::targets::dynamodb
