#include "noam/schemas/cassandra/tables.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/schemas/keys.h"

namespace noam::schemas::cassandra {

using design::Place;
using model::TypeKind;

namespace {

constexpr std::string_view target = "cassandra";

// The column types that a design asks for: name and type, separated by commas.
std::map<std::string, std::string, std::less<>> asked_types(const CollectionOutline& collection) {
  std::map<std::string, std::string, std::less<>> out;
  const std::string text = collection.option(target, "types").value_or("");
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view pair = std::string_view(text).substr(at, end - at);
    const auto trim = [](std::string_view& part) {
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    };
    trim(pair);
    std::string_view name = pair.substr(0, std::min(pair.find(' '), pair.size()));
    std::string_view type = pair.substr(name.size());
    trim(type);
    if (!name.empty()) out.emplace(name, type);
    at = end + 1;
  }
  return out;
}

// Families whose entries can be rows of one table: their keys look the same, and either are the same, or differ in a
// constant.
bool share_rows(const design::Design& design, const FamilyOutline& a, const FamilyOutline& b) {
  if (a.key.size() != b.key.size()) return false;
  bool differ = false;
  bool same = true;
  for (std::size_t i = 0; i < a.key.size(); ++i) {
    const Column& ours = a.key[i];
    const Column& theirs = b.key[i];
    if (ours.name != theirs.name || ours.descending != theirs.descending || !(ours.type == theirs.type)) return false;
    differ = differ || (ours.constant && theirs.constant && *ours.constant != *theirs.constant);
    same = same && model::same(design.families[a.index].key[i].expr, design.families[b.index].key[i].expr);
  }
  return same || differ;
}

class CollectionLayout {
 public:
  CollectionLayout(const Outline& outline, const CollectionOutline& collection, Types& types, Layout& out)
      : outline_(outline),
        collection_(collection),
        types_(types),
        out_(out),
        asked_(asked_types(collection)),
        native_counters_(collection.option(target, "counters") == "native"),
        native_order_(collection.option(target, "order") == "native") {}

  void run(Namer& tables) {
    struct Group {
      std::vector<const FamilyOutline*> families;
      bool counters = false;
    };
    std::vector<Group> keyed;
    Group once;
    Group once_counted{{}, true};
    for (const FamilyOutline& family : collection_.families) {
      const bool counters = is_counted(family);
      if (family.one_a_block()) {
        (counters ? once_counted : once).families.push_back(&family);
        continue;
      }
      const auto fits = std::find_if(keyed.begin(), keyed.end(), [&](const Group& group) {
        return group.counters == counters && share_rows(*outline_.design, *group.families[0], family);
      });
      if (fits == keyed.end())
        keyed.push_back({{&family}, counters});
      else
        fits->families.push_back(&family);
    }
    // What a block has once lies beside the rows of its own aggregate, in one partition.
    const auto home = std::find_if(keyed.begin(), keyed.end(), [&](const Group& group) {
      return !once.families.empty() && group.families[0]->base;
    });
    if (home != keyed.end())
      add(tables, "", once.families, home->families, false);
    else if (!once.families.empty())
      add(tables, "", once.families, {}, false);
    if (!once_counted.families.empty()) add(tables, suffix(*once_counted.families[0]), once_counted.families, {}, true);
    for (auto group = keyed.begin(); group != keyed.end(); ++group)
      if (group != home) add(tables, suffix(*group->families[0]), {}, group->families, group->counters);
    warn_of_unused();
  }

 private:
  [[nodiscard]] bool is_counted(const FamilyOutline& family) const {
    // Of members one must know whether they are new, which a counter does not tell.
    const bool members = outline_.design->families[family.index].counts_members;
    return native_counters_ && !family.base && !members && !family.values.empty() &&
           std::all_of(family.values.begin(), family.values.end(), [](const Column& at) { return at.counts; });
  }

  // What tells its table from the others of the collection.
  [[nodiscard]] std::string suffix(const FamilyOutline& family) const {
    if (named_.empty()) return "";
    return family.path.empty() && family.key.empty() ? "counters" : name_apart(family);
  }

  void add(Namer& tables, const std::string& suffix, const std::vector<const FamilyOutline*>& once,
           const std::vector<const FamilyOutline*>& rows, bool counters) {
    Table table;
    table.name = tables.give(suffix.empty() ? collection_.name : collection_.name + "_" + suffix);
    named_.push_back(table.name);
    table.collection = &collection_;
    table.counters = counters;
    Namer names(name_rules());
    for (const Column& part : collection_.block) table.partition.push_back(key_part(part, names));
    if (!rows.empty())
      for (const Column& part : rows[0]->key) table.clustering.push_back(key_part(part, names));
    if (!counters) name_head(table, names);
    for (const KeyPart& part : table.clustering)
      if (!part.beside.empty())
        table.columns.push_back({part.beside, type_of(*part.column, false), false, part.column});
    for (const FamilyOutline* family : once) add_values(table, *family, !rows.empty(), names);
    for (const FamilyOutline* family : rows) add_values(table, *family, false, names);
    if (!counters) {
      for (const FamilyOutline* family : once) add_live(table, *family, !rows.empty(), names);
      if (rows.size() > 1)
        for (const FamilyOutline* family : rows) add_live(table, *family, false, names);
      add_head(table, !rows.empty());
    }
    out_.tables.push_back(std::move(table));
  }

  // Before other columns take these names.
  static void name_head(Table& table, Namer& names) {
    table.head = {names.give("noam_version"), names.give("noam_sequence"), names.give("noam_tx"),
                  names.give("noam_hold"),    names.give("noam_last"),     names.give("noam_done"),
                  names.give("noam_guards")};
  }

  static void add_head(Table& table, bool is_static) {
    const HeadColumns& head = table.head;
    table.columns.push_back({head.version, "bigint", is_static, nullptr});
    table.columns.push_back({head.sequence, "bigint", is_static, nullptr});
    table.columns.push_back({head.holder, "uuid", is_static, nullptr});
    for (const std::string& name : {head.hold, head.last, head.done, head.guards})
      table.columns.push_back({name, "blob", is_static, nullptr});
  }

  void add_live(Table& table, const FamilyOutline& family, bool is_static, Namer& names) {
    const bool first = std::none_of(table.columns.begin(), table.columns.end(),
                                    [](const TableColumn& at) { return at.name == "noam_live"; });
    const std::string name = names.give(first ? "noam_live" : "noam_live_" + name_apart(family));
    table.columns.push_back({name, "boolean", is_static, nullptr});
    out_.families.at(family.index).live = name;
  }

  KeyPart key_part(const Column& column, Namer& names) {
    KeyPart out;
    const bool in_partition = column.place.kind == Place::Kind::Block;
    out.descending = !in_partition && column.descending;
    out.column = &column;
    if (!in_partition && !native_order_ && !asked_.contains(column.name) &&
        !is_ordered_alike(outline_.model(), column.type)) {
      out.ordered = true;
      out.name = names.give(column.name + "_order");
      out.type = "blob";
      if (!is_packed(column.type)) out.beside = names.give(column.name);
      return out;
    }
    if (column.type.optional && !is_marked(outline_.model(), column.type))
      out.presence = names.give("has_" + column.name);
    out.name = names.give(column.name);
    out.type = type_of(column, true);
    return out;
  }

  // The type that the design asks for, where it does.
  std::string type_of(const Column& column, bool frozen) {
    const std::string called = fmt::format("{}_{}", collection_.name, column.name);
    const auto found = asked_.find(column.name);
    if (found == asked_.end()) return types_.name(column.type, frozen, called);
    used_.push_back(column.name);
    if (can_hold(found->second, column.type)) return found->second;
    std::string otherwise = types_.name(column.type, frozen, called);
    out_.warnings.push_back(
        {"type-does-not-fit",
         fmt::format("`{}` of {} cannot be {} in CQL", column.name, collection_.name, found->second),
         fmt::format("it remains {}", otherwise)});
    return otherwise;
  }

  void add_values(Table& table, const FamilyOutline& family, bool is_static, Namer& names) {
    FamilyPlace place;
    place.table = out_.tables.size();
    table.families.push_back(&family);
    for (const Column& column : family.values) {
      if (column.same_as) {
        place.values.emplace_back();
        continue;
      }
      TableColumn made;
      made.type = table.counters ? "counter" : type_of(column, false);
      made.is_static = is_static;
      made.column = &column;
      // Rows that a constant tells apart may have a column in common.
      const auto shared = std::find_if(table.columns.begin(), table.columns.end(), [&](const TableColumn& at) {
        return at.column != nullptr && !is_static && !at.is_static && at.column->name == column.name &&
               at.type == made.type && apart(table, family, *at.column);
      });
      // An element is called as what it is one of.
      const bool element = family.elements != TypeKind::Unknown && column.place.kind == Place::Kind::Cell;
      const std::string wanted = element ? family.path : column.name;
      made.name = shared == table.columns.end() ? names.give(wanted, family.path + "_" + column.name) : shared->name;
      place.values.push_back(made.name);
      if (shared == table.columns.end()) table.columns.push_back(std::move(made));
    }
    if (family.existence) {
      table.version_of_block = family.one_a_block();
      table.version = table.version_of_block ? table.head.version : names.give("noam_row_version");
      if (!table.version_of_block) table.columns.push_back({table.version, "bigint", false, nullptr});
    }
    out_.families.emplace(family.index, std::move(place));
  }

  // The column is of another family, whose rows are not this one's.
  [[nodiscard]] bool apart(const Table& table, const FamilyOutline& family, const Column& column) const {
    for (const FamilyOutline* other : table.families) {
      if (other == &family || &column < other->values.data() || &column >= other->values.data() + other->values.size())
        continue;
      for (std::size_t i = 0; i < family.key.size() && i < other->key.size(); ++i)
        if (family.key[i].constant && other->key[i].constant && *family.key[i].constant != *other->key[i].constant)
          return true;
    }
    return false;
  }

  void warn_of_unused() {
    for (const auto& [name, type] : asked_)
      if (std::find(used_.begin(), used_.end(), name) == used_.end())
        out_.warnings.push_back({"unknown-column",
                                 fmt::format("unknown column `{}` in the types of {}", name, collection_.name),
                                 "use the name of a column in the design"});
    const bool any = std::any_of(collection_.families.begin(), collection_.families.end(),
                                 [&](const FamilyOutline& family) { return is_counted(family); });
    if (native_counters_ && !any)
      out_.warnings.push_back({"no-counters", fmt::format("{} has no counters that can be native", collection_.name),
                               "an entry with native counters can have only counters"});
  }

  const Outline& outline_;
  const CollectionOutline& collection_;
  Types& types_;
  Layout& out_;
  std::map<std::string, std::string, std::less<>> asked_;
  std::vector<std::string> used_;
  std::vector<std::string> named_;
  bool native_counters_;
  bool native_order_;
};

}  // namespace

bool can_hold(std::string_view cql_type, const model::Type& type) {
  const auto one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), cql_type) != names.end();
  };
  if (one_of({"text", "varchar"})) return true;
  switch (type.kind) {
    case TypeKind::Int:
      return one_of({"bigint", "int", "smallint", "tinyint", "varint"});
    case TypeKind::Float:
      return one_of({"double", "float"});
    case TypeKind::Text:
    case TypeKind::Enumeration:
      return one_of({"ascii"});
    case TypeKind::Timestamp:
      return one_of({"timestamp", "timeuuid"});
    case TypeKind::TimeUuid:
      return one_of({"timeuuid", "uuid"});
    default:
      return false;
  }
}

std::vector<std::string> Layout::type_names() const {
  constexpr std::string_view begin = "CREATE TYPE IF NOT EXISTS ";
  std::vector<std::string> out;
  for (const std::string& text : created_types) {
    const std::string_view rest = std::string_view(text).substr(begin.size());
    out.emplace_back(rest.substr(0, rest.find(' ')));
  }
  return out;
}

Layout lay_out(const Outline& outline, Types& types) {
  Layout out;
  out.keyspace = legal_name(keyspace_rules(), outline.model().name);
  Namer tables(name_rules());
  for (const CollectionOutline& collection : outline.collections)
    CollectionLayout(outline, collection, types, out).run(tables);
  out.created_types = types.created();
  return out;
}

}  // namespace noam::schemas::cassandra
