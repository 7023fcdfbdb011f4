#include "noam/targets/oracle_nosql/layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/model/ordered.h"
#include "noam/schemas/names.h"
#include "noam/schemas/plain.h"
#include "noam/targets/entry_names.h"
#include "noam/targets/oracle_nosql/types.h"

namespace noam::targets::oracle_nosql {

using model::Datum;
using model::Type;
using model::TypeKind;

namespace {

struct Leaf {
  std::string name;
  Type type;
  std::vector<std::size_t> path;
};

// The scalars that a part of a key is made of: itself, or the parts that it refers by.
void add_leaves(const model::Model& model, const std::string& name, const Type& type, bool optional,
                std::vector<std::size_t> path, std::vector<Leaf>& out) {
  const Type& at = resolved(model, type);
  if (at.kind != TypeKind::Reference) {
    Leaf leaf{name, at, std::move(path)};
    leaf.type.optional = optional;
    out.push_back(std::move(leaf));
    return;
  }
  const model::Entity& entity = model.entity(at.entity());
  for (std::size_t i = 0; i < entity.key.size(); ++i) {
    auto inner = path;
    inner.push_back(i);
    const model::Field& field = entity.fields[entity.key[i]];
    add_leaves(model, fmt::format("{}_{}", name, field.name), field.type, optional, std::move(inner), out);
  }
}

std::vector<Leaf> leaves_of(const model::Model& model, const Column& column) {
  std::vector<Leaf> out;
  add_leaves(model, column.name, column.type, column.type.optional, {}, out);
  return out;
}

// In a primary key.
KeyColumn key_column(const model::Model& model, const Column& column, const Leaf& leaf, Namer& names) {
  KeyColumn out;
  out.name = names.give(leaf.name);
  out.column = &column;
  out.leaf = leaf.path;
  out.leaf_type = leaf.type;
  out.optional = leaf.type.optional;
  out.text = out.optional || !sorts_in_key(model, leaf.type) || leaf.type.kind == TypeKind::Enumeration;
  out.type = out.text ? "STRING" : type_text(model, leaf.type);
  return out;
}

// Beside it.
KeyColumn shown_column(const model::Model& model, const Column& column, const Leaf& leaf, Namer& names) {
  return {names.give(leaf.name), column_type(model, leaf.type), &column, leaf.path, leaf.type, false, false};
}

bool sorts_right(const model::Model& model, const FamilyOutline& family) {
  return std::all_of(family.key.begin(), family.key.end(), [&](const Column& part) {
    const auto leaves = leaves_of(model, part);
    return part.descending == family.key[0].descending &&
           std::all_of(leaves.begin(), leaves.end(),
                       [&](const Leaf& leaf) { return sorts_in_key(model, leaf.type); }) &&
           (leaves.size() == 1 || !part.type.optional);
  });
}

void add_key(const model::Model& model, const FamilyOutline& family, Namer& names, Table& table) {
  const bool right = sorts_right(model, family);
  table.descending = right && family.key[0].descending;
  for (const Column& part : family.key)
    for (const Leaf& leaf : leaves_of(model, part))
      table.key.push_back(right ? key_column(model, part, leaf, names) : shown_column(model, part, leaf, names));
  if (!right) table.encoded = names.give("noam_key");
}

// A sum of ints is kept exactly, also beyond 64 bits.
bool is_sum(const Outline& outline, const FamilyOutline& family, const Column& column) {
  if (column.place.kind != design::Place::Kind::Cell || column.type.kind != TypeKind::Int) return false;
  const model::Cell& cell = outline.program->design.families[family.index].cells[column.place.index];
  return cell.shape == model::CellShape::Plain && cell.expr.kind == model::ExprKind::Fold &&
         cell.expr.fold == model::Fold::Sum;
}

void add_values(const Outline& outline, const FamilyOutline& family, Namer& names, Table& table) {
  const model::Model& model = outline.model();
  const bool prefixed = family.one_a_block() && !family.base && !family.path.empty();
  const auto named = [&](const std::string& name) {
    return names.give(prefixed ? fmt::format("{}_{}", family.path, name) : name);
  };
  bool always = false;
  for (const Column& column : family.values) {
    if (column.same_as) continue;
    const std::string type = is_sum(outline, family, column) ? "NUMBER" : column_type(model, column.type);
    table.values.push_back({named(column.name), type, &family, &column});
    always = always || !column.type.optional;
  }
  if (family.existence) table.version = names.give("noam_version");
  if (!always && !family.base && family.one_a_block()) table.markers.emplace_back(&family, named("noam_here"));
  table.families.push_back(&family);
}

}  // namespace

Layout::Layout(const Outline& outline) : outline_(outline) {
  Namer names(table_rules);
  for (const CollectionOutline& collection : outline.collections) place(collection, names.give(collection.name));
}

void Layout::place(const CollectionOutline& collection, const std::string& name) {
  const model::Model& model = outline_.model();
  Namer root_names(field_rules);
  Table root;
  root.name = name;
  root.collection = &collection;
  for (const Column& part : collection.block)
    for (const Leaf& leaf : leaves_of(model, part)) root.block.push_back(key_column(model, part, leaf, root_names));
  const Namer inherited = root_names;
  std::vector<const FamilyOutline*> keyed;
  for (const FamilyOutline& family : collection.families) {
    if (family.one_a_block())
      add_values(outline_, family, root_names, root);
    else
      keyed.push_back(&family);
  }
  const bool alone = root.families.empty() && keyed.size() == 1;
  if (alone) {
    add_key(model, *keyed[0], root_names, root);
    add_values(outline_, *keyed[0], root_names, root);
  }
  const std::vector<KeyColumn> block = root.block;
  tables_.push_back(std::move(root));
  if (alone) return;
  EntryNames entry_names(model, table_rules);
  for (const FamilyOutline* family : keyed) {
    Namer child_names = inherited;
    Table child;
    child.name = fmt::format("{}.{}", name, entry_names.give(*family));
    child.collection = &collection;
    child.child = true;
    child.block = block;
    add_key(model, *family, child_names, child);
    add_values(outline_, *family, child_names, child);
    tables_.push_back(std::move(child));
  }
}

const Table& Layout::table(const FamilyOutline& family) const {
  for (const Table& table : tables_)
    if (std::any_of(table.families.begin(), table.families.end(),
                    [&](const FamilyOutline* at) { return at->index == family.index; }))
      return table;
  fail_check("every family of the outline has a table");
}

const Table& Layout::root(const FamilyOutline& family) const {
  const Table& own = table(family);
  return *std::find_if(tables_.begin(), tables_.end(),
                       [&](const Table& at) { return at.collection == own.collection && !at.child; });
}

std::optional<std::string> Layout::marker(const FamilyOutline& family) const {
  for (const auto& [of, name] : table(family).markers)
    if (of->index == family.index) return name;
  return std::nullopt;
}

std::string Layout::key_literal(const KeyColumn& column, const Datum& part) const {
  const Datum* at = &part;
  for (const std::size_t i : column.leaf)
    if (!at->absent()) at = &at->as_list()[i];
  if (!column.text) return literal(outline_.model(), column.leaf_type, *at);
  if (at->absent()) return text_literal(never_null(nullptr));
  const std::string text = text_of(outline_.model(), column.leaf_type, *at);
  return text_literal(column.optional ? never_null(&text) : text);
}

std::string Layout::encoded_key(const FamilyOutline& family, const std::vector<Datum>& key) {
  std::string bytes;
  for (std::size_t i = 0; i < key.size(); ++i) model::append_ordered(key[i], family.key[i].descending, bytes);
  return hexadecimal(bytes);
}

}  // namespace noam::targets::oracle_nosql
