#include "noam/targets/redis/layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/schemas/names.h"
#include "noam/schemas/plain.h"
#include "noam/targets/entry_names.h"

namespace noam::targets::redis {

using model::TypeKind;

namespace {

// Keys and fields may hold any bytes; words read best, and leave `:`, `[` and `.` to us. Names of functions and of
// libraries have letters, digits and underscores only (Redis documentation, "Redis functions").
constexpr NameRules rules{.longest = 120, .lower_case = false, .reserved = {}};

Shape shape_of(const FamilyOutline& family) {
  if (family.one_a_block()) return Shape::Fields;
  return family.elements == TypeKind::Unknown ? Shape::Ordered : Shape::Elements;
}

// Texts that sort, byte by byte, as the values do.
bool sorts_as_text(const model::Model& model, const model::Type& type) {
  switch (resolved(model, type).kind) {
    case TypeKind::Text:
    case TypeKind::Enumeration:
    case TypeKind::Timestamp:
    case TypeKind::Date:
    case TypeKind::Uuid:
    case TypeKind::Bool:
      return !type.optional;
    default:
      return false;
  }
}

// Paths have points between their words.
constexpr NameRules path_rules{.longest = 120, .others = "_.", .reserved = {}};

bool always_there(const PlacedColumn& column) { return !column.column->type.optional; }

}  // namespace

Layout::Layout(const Outline& outline) : outline_(outline), library_(legal_name(rules, outline.model().name)) {
  Namer names(rules);
  for (const CollectionOutline& collection : outline.collections) {
    collections_.push_back(names.give(collection.name));
    place(collection);
  }
  for (PlacedFamily& family : families_) settle_version(family);
  name_functions();
}

std::vector<std::string> Layout::block_arguments(const CollectionOutline& collection) {
  Namer names(rules);
  std::vector<std::string> out;
  for (const Column& part : collection.block) out.push_back(names.give(part.name));
  return out;
}

void Layout::place(const CollectionOutline& collection) {
  EntryNames names(outline_.model(), path_rules);
  Namer fields({.longest = 250, .others = "_.", .reserved = {}});  // of the block's hash
  // What the figures show gets its name first.
  for (const FamilyOutline& family : collection.families) {
    PlacedFamily placed;
    placed.collection = &collection;
    placed.family = &family;
    placed.shape = shape_of(family);
    placed.head = family.existence;
    if (placed.shape == Shape::Ordered) {
      placed.name = names.give(family);
      placed.suffix = ":" + placed.name;
    } else if (!family.path.empty()) {
      placed.name = legal_name(path_rules, family.path);
    }
    Namer arguments(rules);
    for (const Column& part : family.key) placed.key.push_back({&part, arguments.give(part.name), {}});
    const bool alone = std::count_if(family.values.begin(), family.values.end(),
                                     [](const Column& column) { return !column.same_as; }) == 1;
    for (const Column& column : family.values) {
      if (column.same_as) continue;
      PlacedColumn at{&column, arguments.give(column.name), {}};
      if (placed.shape == Shape::Ordered)
        at.field = at.argument;
      else if (placed.shape == Shape::Elements)
        at.field = fields.give(alone ? placed.name : placed.name + "." + at.argument);
      else
        at.field = fields.give(family.base || placed.name.empty() ? at.argument : placed.name + "." + at.argument);
      placed.columns.push_back(std::move(at));
    }
    if (placed.shape == Shape::Elements && placed.columns.empty()) placed.marker = fields.give(placed.name);
    if (placed.shape == Shape::Fields && !family.base &&
        std::none_of(placed.columns.begin(), placed.columns.end(), always_there))
      placed.marker = fields.give(placed.name.empty() ? "noam_here" : placed.name + ".noam_here");
    if (placed.head && placed.shape == Shape::Fields)
      placed.version = VersionPlace{fields.give("noam_version"), 0, {}, {}};
    if (placed.head && placed.shape == Shape::Ordered)
      placed.version = VersionPlace{"noam_version", family.key.size(), false, placed.suffix};
    placed.plain_key =
        family.key.size() == 1 && is_scalar(outline_.model(), family.key[0].type) && !family.key[0].type.optional;
    placed.natural = placed.shape == Shape::Ordered && placed.plain_key && !family.key[0].descending &&
                     sorts_as_text(outline_.model(), family.key[0].type);
    placed.hash = placed.shape != Shape::Ordered || !placed.columns.empty() || placed.version;
    placed.single = placed.shape == Shape::Ordered && placed.columns.size() == 1 && !placed.version;
    families_.push_back(std::move(placed));
  }
}

void Layout::settle_version(PlacedFamily& family) const {
  if (!family.family->base || family.version) return;
  const PlacedFamily& head = placed(head_of(outline_, *family.family));
  const auto same_key = [&] {
    const auto& ours = family.family->key;
    const auto& theirs = head.family->key;
    return theirs.size() <= ours.size() &&
           std::equal(theirs.begin(), theirs.end(), ours.begin(),
                      [](const Column& a, const Column& b) { return a.attribute && a.attribute == b.attribute; });
  };
  if (head.collection != family.collection || !same_key()) {
    family.apart = true;
    return;
  }
  family.version = head.version;
  family.version->other_key = family.shape == Shape::Ordered || head.shape == Shape::Ordered;
}

void Layout::name_functions() {
  // Of two functions whose names differ in capitals only, Redis calls one.
  Namer names({.longest = rules.longest, .tells_case = false, .reserved = {}});
  names.give(library_ + "_together");
  for (PlacedFamily& family : families_)
    family.functions = names.give(fmt::format("{}_{}{}{}", library_, collection_name(*family.collection),
                                              family.name.empty() ? "" : "_", family.name));
}

const PlacedFamily& Layout::placed(const FamilyOutline& family) const {
  const auto found = std::find_if(families_.begin(), families_.end(),
                                  [&](const PlacedFamily& at) { return at.family->index == family.index; });
  check(found != families_.end(), "every family of the outline is placed");
  return *found;
}

const std::string& Layout::collection_name(const CollectionOutline& collection) const {
  for (std::size_t i = 0; i < collections_.size(); ++i)
    if (outline_.collections[i].index == collection.index) return collections_[i];
  fail_check("every collection of the outline has a name");
}

std::string Layout::block_key(const CollectionOutline& collection, const std::string& block) const {
  return fmt::format("{}:{}:{{{}}}", library_, collection_name(collection), block);
}

std::vector<std::string> Layout::keys(const PlacedFamily& family, const std::string& block_key) const {
  if (family.shape != Shape::Ordered) {
    std::vector<std::string> out{block_key};
    if (family.version && family.version->other_key) out.push_back(block_key + family.version->suffix);
    return out;
  }
  std::vector<std::string> out;
  if (family.hash) out.push_back(block_key + family.suffix);
  out.push_back(block_key + family.suffix + ":order");
  if (family.version && family.version->other_key) out.push_back(block_key + family.version->suffix);
  return out;
}

}  // namespace noam::targets::redis
