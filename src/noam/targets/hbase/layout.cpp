#include "noam/targets/hbase/layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/base/json.h"
#include "noam/model/ordered.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/names.h"
#include "noam/schemas/plain.h"
#include "noam/targets/hbase/hbase.h"

namespace noam::targets::hbase {

using model::TypeKind;

namespace {

// Ruby's reserved words, which do no harm behind a `$`; then its global variables, and what HBase keeps for itself:
// namespaces (NamespaceDescriptor.RESERVED_NAMESPACES) and a folder beside the families (HConstants).
constexpr std::string_view word_text =
    "__encoding__ __file__ __line__ alias and begin break case class def defined do else elsif end ensure false for if "
    "in module next nil not or redo rescue retry return self super then true undef unless until when while yield "
    "debug filename load_path loaded_features program_name stderr stdin stdout verbose default hbase recovered.edits";
constexpr auto words = split_words<word_count(word_text)>(word_text);
constexpr auto own_words = std::span(words).last(3);
constexpr auto variable_words = std::span(words).last(12).first(9);

// TableName.isLegalTableQualifierName and isLegalNamespaceName: letters, digits and `_`, in tables `-` and `.` too (not
// first). Names are parts of paths, so they are kept short.
constexpr NameRules table_rules{.longest = 100, .others = "_-.", .reserved = {}};
constexpr NameRules namespace_rules{.longest = 100, .reserved = own_words};
// Families are stored with every cell: printable, no `:` or `/`, no `.` first.
constexpr NameRules family_rules{.longest = 64, .others = "_-.", .reserved = own_words};
// Qualifiers are any bytes; these are read by people.
constexpr NameRules qualifier_rules{.longest = 200, .others = "_-.", .letter_first = false, .reserved = {}};
constexpr NameRules variable_rules{.longest = 200, .reserved = variable_words};

bool is_text(const model::Model& model, const Column& column) {
  const TypeKind kind = resolved(model, column.type).kind;
  return !column.descending && (kind == TypeKind::Text || kind == TypeKind::Enumeration);
}

Key make_key(const model::Model& model, const std::vector<Column>& columns, bool shown, Namer& namer) {
  Key out;
  out.plain = columns.size() == 1 && is_text(model, columns[0]);
  for (const Column& column : columns)
    out.names.push_back(shown && !out.plain ? namer.give(column.name) : std::string());
  return out;
}

void name_values(PlacedFamily& placed, const std::string& before, Namer& namer) {
  const FamilyOutline& family = *placed.family;
  if (family.base && family.existence) placed.version = namer.give("noam_version");
  for (const Column& column : family.values)
    placed.names.push_back(column.same_as ? std::string() : namer.give(before + column.name));
}

bool shows_itself(const PlacedFamily& placed) {
  return placed.version.has_value() || placed.family->base ||
         std::any_of(placed.family->values.begin(), placed.family->values.end(), always_there);
}

// One cell, which is always there.
bool fits_a_cell(const FamilyOutline& family) {
  if (family.base && family.existence) return false;
  std::size_t values = 0;
  for (const Column& column : family.values) values += column.same_as ? 0 : 1;
  return values == 0 || (values == 1 && std::any_of(family.values.begin(), family.values.end(), always_there));
}

}  // namespace

const std::span<const std::string_view> reserved = words;

bool Table::has_cells() const {
  return std::find(column_families.begin(), column_families.end(), cells_family) != column_families.end();
}

Layout::Layout(const Outline& outline) : outline_(outline) {
  namespace_ = legal_name(namespace_rules, outline.model().name);
  placed_.resize(outline.program->design.families.size());
  Namer names(table_rules);
  Namer variables(variable_rules);
  const auto name_variables = [&](const std::vector<Column>& columns) {
    for (const Column& column : columns)
      if (!variables_.contains(column.name)) variables_.emplace(column.name, variables.give(column.name));
  };
  for (const CollectionOutline& collection : outline.collections) {
    name_variables(collection.block);
    for (const FamilyOutline& family : collection.families) {
      name_variables(family.key);
      name_variables(family.values);
    }
    place(collection, fmt::format("{}:{}", namespace_, names.give(collection.name)));
  }
}

void Layout::place(const CollectionOutline& collection, std::string name) {
  Table table;
  table.name = std::move(name);
  table.collection = &collection;
  for (const FamilyOutline& family : collection.families) table.families.push_back(&family);
  const auto [of_row, keyed] = group_families(collection);
  Namer namer(family_rules);
  if (!of_row.empty()) table.column_families.push_back(namer.give(cells_family));
  place_cells(table, of_row);
  for (const auto& group : keyed) {
    const std::string wanted = group.front()->path.empty() ? "k" : group.front()->path;
    table.column_families.push_back(namer.give(wanted));
    place_entries(table.column_families.back(), group);
  }
  tables_.push_back(std::move(table));
}

void Layout::place_cells(Table& table, const std::vector<const FamilyOutline*>& families) {
  Namer namer(qualifier_rules);
  table.row = make_key(outline_.model(), table.collection->block, !families.empty(), namer);
  for (const FamilyOutline* family : families) {
    PlacedFamily placed;
    placed.family = family;
    placed.table = static_cast<std::uint32_t>(tables_.size());
    placed.column_family = cells_family;
    if (elements_of_block(*family)) {
      placed.shape = Shape::Elements;
      placed.elements = namer.give(family->path);
      placed.names.assign(family->values.size(), std::string());
    } else {
      const std::string before = family->base || family->path.empty() ? "" : family->path + ".";
      name_values(placed, before, namer);
      if (!shows_itself(placed)) placed.marker = namer.give(before + "noam_entry");
    }
    placed_[family->index] = std::move(placed);
  }
}

void Layout::place_entries(const std::string& column_family, const std::vector<const FamilyOutline*>& families) {
  Namer namer(qualifier_rules);
  const Key key = make_key(outline_.model(), families.front()->key, true, namer);
  for (const FamilyOutline* family : families) {
    const bool alone = std::none_of(families.begin(), families.end(), [&](const FamilyOutline* other) {
      return other != family && same_constants(*other, *family);
    });
    PlacedFamily placed;
    placed.family = family;
    placed.table = static_cast<std::uint32_t>(tables_.size());
    placed.column_family = column_family;
    placed.shape = Shape::Entries;
    placed.key = key;
    placed.bare = alone && fits_a_cell(*family);
    name_values(placed, {}, namer);
    if (placed.bare)
      std::fill(placed.key.names.begin(), placed.key.names.end(), std::string());
    else if (!shows_itself(placed))
      placed.marker = namer.give("noam_entry");
    placed_[family->index] = std::move(placed);
  }
}

const PlacedFamily& Layout::placed(const FamilyOutline& family) const {
  check(placed_[family.index].has_value(), "every family has a place");
  return *placed_[family.index];
}

std::string key_bytes(const std::vector<Column>& columns, const Key& key, const std::vector<model::Datum>& values) {
  if (key.plain) return never_empty(values[0], values[0].absent() ? std::string_view() : values[0].as_string());
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) model::append_ordered(values[i], columns[i].descending, out);
  return out;
}

std::string element_text(const model::Model& model, const FamilyOutline& family, const model::Datum& key) {
  if (family.elements == TypeKind::List) return fmt::format("{:010}", key.as_int());
  const model::Type& type = resolved(model, family.key[0].type);
  return is_scalar(model, type) ? plain_text(model, type, key) : plain_json(model, type, key).dump();
}

}  // namespace noam::targets::hbase
