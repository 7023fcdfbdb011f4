#include "noam/targets/cassandra/cassandra.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/design/explanation.h"
#include "noam/model/datum_json.h"
#include "noam/model/ordered.h"
#include "noam/schemas/cassandra/ddl.h"
#include "noam/schemas/cassandra/tables.h"
#include "noam/schemas/keys.h"
#include "noam/schemas/plain.h"
#include "noam/targets/readme.h"

namespace noam::targets::cassandra {

using namespace schemas::cassandra;  // NOLINT(google-build-using-namespace)

using design::Place;
using model::Datum;
using model::TypeKind;

namespace {

constexpr auto limits = std::to_array<Limit>({
    // "Cassandra's hard limit is 2 billion cells per partition" (Apache Cassandra, Data Modeling, Refining); 2^31.
    {LimitKind::PartitionEntries, 2e9, true, "a partition", "add a time bucket to the block key", "cells"},
    // "keep the maximum number of values below 100,000 items and the disk size under 100MB" (DataStax, Calculating
    // partition size).
    {LimitKind::PartitionEntries, 100e3, false, "a partition",
     "add a time bucket or a shard to the block key, or give the family a limit", "cells"},
    {LimitKind::PartitionBytes, 100e6, false, "a partition",
     "add a time bucket or a shard to the block key, or give the family a limit"},
    // "Single column value size: 2 GB (1 MB is recommended)" (DataStax, CQL limits).
    {LimitKind::ValueBytes, 2e9, true, "a column", "store the elements as entries: `entry field[*]`"},
    {LimitKind::ValueBytes, 1e6, false, "a column", "store the elements as entries: `entry field[*]`"},
    // "Key length: 65535", and as much for a clustering column (ibid.).
    {LimitKind::KeyBytes, 65535, true, "a partition key or a clustering column", "choose a shorter key"},
    // "Collections … are meant for storing relatively small amount of data"; 64 K elements were the limit up to
    // protocol 2.
    {LimitKind::ElementsInside, 65535, false, "a list, set or map in a column",
     "store the elements as entries: `entry field[*]`", "elements"},
    // Of noam's own store; each partition of a command with several is a conditional write.
    {LimitKind::TransactionEntries, 4096, true, "a command of noam's store",
     "give the copy a limit, or let its readers look up what it copies", "partitions"},
    // Guardrails of cassandra.yaml (tables_warn_threshold) and common practice: some hundred tables a cluster.
    {LimitKind::Tables, 150, false, "a cluster", "drop copies that no statement needs", "tables"},
});

constexpr auto known_options = std::to_array<Option>({
    {"order", "\"native\": clustering columns of uuids and addresses in the order of Cassandra, not of noam"},
    {"caching", "the table's `caching`, as CQL writes it: \"{'keys': 'ALL', 'rows_per_partition': '10'}\""},
    {"counters", "\"native\": copies that only count are Cassandra's own counters (fast; adding is not idempotent)"},
    {"types", "other types for columns: \"number_of_likes int, ts timeuuid, follower_json text\""},
});

std::string placeholder(const std::string& name) { return ":" + name; }

// A key part in a WHERE: equal to what is given.
void equal(const KeyPart& part, std::vector<std::string>& out, const std::string& end = {}) {
  if (!part.presence.empty()) out.push_back(fmt::format("{} = {}", part.presence, placeholder(part.presence + end)));
  out.push_back(fmt::format("{} = {}", part.name, placeholder(part.name + end)));
}

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  return fmt::format("{}", fmt::join(parts, between));
}

class CqlDialect : public Dialect {
 public:
  CqlDialect(const Outline& outline, Types& types, const Layout& layout)
      : outline_(outline), types_(types), layout_(layout) {}

  [[nodiscard]] Native read(const Read& read) const override {
    const Table& table = layout_.table_of(*read.family);
    const bool only_static = read.family->one_a_block() && !table.clustering.empty();
    std::vector<std::string> columns;
    names(table.partition, columns);
    if (!only_static) {
      names(table.clustering, columns);
      for (const KeyPart& part : table.clustering)
        if (!part.beside.empty()) columns.push_back(part.beside);
    }
    std::vector<const FamilyOutline*> families = {read.family};
    families.insert(families.end(), read.mates.begin(), read.mates.end());
    for (const FamilyOutline* family : families)
      for (const std::string& name : value_names(*family))
        if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    std::string out = fmt::format("SELECT {}{} FROM {}", only_static ? "DISTINCT " : "", joined(columns), table.name);
    std::vector<std::string> where;
    if (!read.scan) {
      for (const KeyPart& part : table.partition) equal(part, where);
      restrict(read, table, where);
    }
    if (!where.empty()) out += " WHERE " + joined(where, " AND ");
    if (read.reverse && !table.clustering.empty()) out += " ORDER BY " + clustering_order(table, true);
    if (read.limited) out += " LIMIT :noam_limit";
    Native native;
    native.text = out;
    return native;
  }

  [[nodiscard]] bool in_one_place(const FamilyOutline& a, const FamilyOutline& b) const override {
    return &layout_.table_of(a) == &layout_.table_of(b) && share_row(a, b);
  }

  [[nodiscard]] Native write(const Write& write) const override {
    const Table& table = layout_.table_of(*write.family);
    Native native;
    switch (write.kind) {
      case WriteKind::Insert:
        native.text = insert(table, *write.family, true);
        break;
      case WriteKind::Put:
        // A plain insert would meet the conditional writes that follow on the same row.
        if (write.fresh && versioned(table, *write.family)) return {{}, "in one batch with its insert, below"};
        native.text = table.counters ? add(table, write) : put(table, write);
        break;
      case WriteKind::Append:
        native.text = append(table, write);
        break;
      case WriteKind::Add:
        native.text = add(table, write);
        break;
      case WriteKind::Erase:
        native.text = erase(table, write);
        break;
    }
    if (native.text.empty())
      return {{}, write.kind == WriteKind::Erase ? "it goes with the row" : "nothing to write: the row itself says it"};
    if (native.text.find("_before") != std::string::npos)
      native.why_not = "`…_before` is as it was read, null where it was not there; read again where it is not so";
    return native;
  }

  [[nodiscard]] std::string together(const std::vector<Write>& writes) const override {
    std::set<std::string> bases;
    std::set<std::string> copies;
    for (const Write& write : writes)
      (write.family->base ? bases : copies).insert(layout_.table_of(*write.family).name);
    for (const std::string& base : bases) copies.erase(base);
    const std::string atomic = bases.empty()
                                   ? "Atomic: each request, on its row."
                                   : fmt::format("Atomic: what is written to one partition of {}{}, sent as one batch.",
                                                 joined({bases.begin(), bases.end()}, " or of "),
                                                 bases.size() > 1 ? " (each for itself, one after the other)" : "");
    return atomic + told_followers({copies.begin(), copies.end()});
  }

  [[nodiscard]] std::vector<Native> batches(const std::vector<Write>& writes) const override {
    std::vector<Native> out;
    for (const Table& table : layout_.tables) {
      std::vector<const Write*> of_table;
      for (const Write& write : writes)
        if (&layout_.table_of(*write.family) == &table && versioned(table, *write.family)) of_table.push_back(&write);
      if (of_table.size() > 1) out.push_back(conditional_batch(table, of_table));
    }
    if (const auto counters = counter_batch(writes)) out.push_back(*counters);
    for (const Table* table : heads_elsewhere(writes))
      out.push_back({raise_head(*table), "first of all: the version of the aggregate lies in another table"});
    return out;
  }

  // Tables with versions of aggregates that are written to in other tables only.
  [[nodiscard]] std::vector<const Table*> heads_elsewhere(const std::vector<Write>& writes) const {
    std::vector<const Table*> written;
    for (const Write& write : writes)
      if (const Table& table = layout_.table_of(*write.family); versioned(table, *write.family))
        written.push_back(&table);
    std::vector<const Table*> out;
    const auto among = [](const std::vector<const Table*>& tables, const Table* table) {
      return std::find(tables.begin(), tables.end(), table) != tables.end();
    };
    for (const Write& write : writes) {
      if (!write.family->base || versioned(layout_.table_of(*write.family), *write.family)) continue;
      const Table& head = layout_.table_of(head_of(outline_, *write.family));
      if (head.version_of_block && !among(written, &head) && !among(out, &head)) out.push_back(&head);
    }
    return out;
  }

  // All that is written to a partition, under one condition.
  [[nodiscard]] Native conditional_batch(const Table& table, const std::vector<const Write*>& writes) const {
    std::string inside;
    auto first = std::find_if(writes.begin(), writes.end(), [](const Write* write) {
      return write->kind == WriteKind::Insert || (write->kind == WriteKind::Erase && write->family->existence);
    });
    // The version of a row is written with it, that of a partition by itself.
    if (first == writes.end() && table.version_of_block)
      inside += "  " + raise_head(table) + ";\n";
    else if (first == writes.end())
      inside += "  " + put(table, **(first = writes.begin())) + ";\n";
    else
      inside += "  " +
                ((*first)->kind == WriteKind::Insert ? insert(table, *(*first)->family, true) : erase(table, **first)) +
                ";\n";
    for (const Write* write : writes) {
      if (write->kind == WriteKind::Insert || (first != writes.end() && write == *first)) continue;
      const std::string statement = unconditional(table, *write);
      if (!statement.empty()) inside += "  " + statement + ";\n";
    }
    Native native;
    native.text = "BEGIN BATCH\n" + inside + "APPLY BATCH";
    return native;
  }

  [[nodiscard]] std::optional<Native> counter_batch(const std::vector<Write>& writes) const {
    std::string inside;
    std::size_t count = 0;
    for (const Write& write : writes) {
      const Table& table = layout_.table_of(*write.family);
      if (write.kind == WriteKind::Erase || !table.counters) continue;
      inside += "  " + add(table, write) + ";\n";
      ++count;
    }
    if (count < 2) return std::nullopt;
    Native native;
    native.text = "BEGIN COUNTER BATCH\n" + inside + "APPLY BATCH";
    return native;
  }

  // What is at `place` of an entry: the name of its column.
  [[nodiscard]] std::string column_name(const FamilyOutline& family, const Column& column) const {
    const Table& table = layout_.table_of(family);
    switch (column.place.kind) {
      case Place::Kind::Block:
        return table.partition[column.place.index].name;
      case Place::Kind::Key: {
        const KeyPart& part = table.clustering[column.place.index];
        return part.beside.empty() ? part.name : part.beside;
      }
      case Place::Kind::Cell:
      case Place::Kind::Hidden:
        break;
    }
    const auto at = static_cast<std::size_t>(&column - family.values.data());
    return layout_.families.at(family.index).values[at];
  }

  // Rows as INSERTs; counters are added to.
  [[nodiscard]] std::string data(const design::Sample& sample) const {
    std::string out;
    for (const Table& table : layout_.tables) {
      std::map<std::vector<Datum>, std::map<std::string, std::string>> rows;
      for (const FamilyOutline* family : table.families)
        for (const design::SampleEntry& entry : sample.families[family->index]) {
          std::vector<Datum> key = entry.block;
          key.insert(key.end(), entry.key.begin(), entry.key.end());
          add_values(table, *family, entry, rows[key]);
        }
      for (const auto& [key, values] : rows) out += row(table, key, values) + ";\n";
    }
    return out;
  }

 private:
  static void names(const std::vector<KeyPart>& parts, std::vector<std::string>& out) {
    for (std::string& name : column_names(parts)) out.push_back(std::move(name));
  }

  // Of the columns that hold its values, without those that a key says.
  [[nodiscard]] std::vector<std::string> value_names(const FamilyOutline& family) const {
    std::vector<std::string> out;
    for (const std::string& name : layout_.families.at(family.index).values)
      if (!name.empty()) out.push_back(name);
    const Table& table = layout_.table_of(family);
    if (family.existence) out.push_back(table.version);
    return out;
  }

  // Which rows of the partition.
  void restrict(const Read& read, const Table& table, std::vector<std::string>& where) const {
    std::size_t at = 0;
    for (; at < read.family->key.size(); ++at) {
      const Column& column = read.family->key[at];
      if (column.constant)
        where.push_back(fmt::format("{} = {}", table.clustering[at].name, constant(table.clustering[at], column)));
      else if (at < read.prefix)
        equal(table.clustering[at], where);
      else
        break;
    }
    if (!read.ranged() || read.prefix != at) return;
    const KeyPart& part = table.clustering[at];
    const auto bound = [&](const char* compare, const char* end) {
      if (part.presence.empty())
        where.push_back(fmt::format("{} {} :{}_{}", part.name, compare, part.name, end));
      else
        where.push_back(fmt::format("({}, {}) {} (:{}_{}, :{}_{})", part.presence, part.name, compare, part.presence,
                                    end, part.name, end));
    };
    if (read.low) bound(read.low_inclusive ? ">=" : ">", "from");
    if (read.high) bound(read.high_inclusive ? "<=" : "<", "to");
  }

  [[nodiscard]] std::string constant(const KeyPart& part, const Column& column) const {
    const Datum datum = model::from_literal(column.type, *column.constant);
    return part.ordered ? ordered_literal(datum) : types_.literal(column.type, datum);
  }

  // Bytes that sort as the value does.
  [[nodiscard]] static std::string ordered_literal(const Datum& datum) {
    std::string bytes;
    model::append_ordered(datum, false, bytes);
    std::string out = "0x";
    for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return out;
  }

  [[nodiscard]] std::string where(const Table& table, const Write& write) const {
    const FamilyOutline& family = *write.family;
    std::vector<std::string> out;
    for (const KeyPart& part : table.partition) equal(part, out, write.end_of(*part.column));
    for (std::size_t i = 0; i < family.key.size(); ++i) {
      if (family.key[i].constant)
        out.push_back(fmt::format("{} = {}", table.clustering[i].name, constant(table.clustering[i], family.key[i])));
      else
        equal(table.clustering[i], out, write.end_of(family.key[i]));
    }
    return joined(out, " AND ");
  }

  // Of families of one table: entries of both may be in one row.
  [[nodiscard]] static bool share_row(const FamilyOutline& a, const FamilyOutline& b) {
    return a.one_a_block() == b.one_a_block() && same_constants(a, b);
  }

  [[nodiscard]] std::string insert(const Table& table, const FamilyOutline& family, bool must_be_new) const {
    Write all;
    all.family = &family;
    return insert(table, all, must_be_new);
  }

  [[nodiscard]] std::string insert(const Table& table, const Write& write, bool must_be_new) const {
    const FamilyOutline& family = *write.family;
    std::vector<std::string> columns;
    std::vector<std::string> values;
    const auto give = [&](const std::string& name, std::string value) {
      columns.push_back(name);
      values.push_back(std::move(value));
    };
    const auto give_part = [&](const KeyPart& part) {
      if (!part.presence.empty()) give(part.presence, placeholder(part.presence));
      give(part.name, placeholder(part.name));
    };
    for (const KeyPart& part : table.partition) give_part(part);
    for (std::size_t i = 0; i < family.key.size(); ++i) {
      if (family.key[i].constant)
        give(table.clustering[i].name, constant(table.clustering[i], family.key[i]));
      else
        give_part(table.clustering[i]);
      const std::string& beside = table.clustering[i].beside;
      if (!beside.empty()) give(beside, placeholder(beside));
    }
    for (const std::string& name : written_names(write)) give(name, placeholder(name));
    if (family.existence && must_be_new) give(table.version, "1");
    return fmt::format("INSERT INTO {} ({}) VALUES ({}){}", table.name, joined(columns), joined(values),
                       must_be_new ? " IF NOT EXISTS" : "");
  }

  // The columns of the values that a write gives, without those that a key says.
  [[nodiscard]] std::vector<std::string> written_names(const Write& write) const {
    std::vector<std::string> out;
    const auto& names_of_values = layout_.families.at(write.family->index).values;
    for (std::size_t i = 0; i < names_of_values.size(); ++i)
      if (!names_of_values[i].empty() && write.writes(write.family->values[i])) out.push_back(names_of_values[i]);
    return out;
  }

  // The head of the aggregate is in the same partition or row, so the write can depend on its version.
  [[nodiscard]] static bool versioned(const Table& table, const FamilyOutline& family) {
    if (!family.base || table.version.empty()) return false;
    return table.version_of_block || family.existence || beside_version(table, family);
  }

  // The row that the entry is in has a version.
  [[nodiscard]] static bool beside_version(const Table& table, const FamilyOutline& family) {
    return std::any_of(table.families.begin(), table.families.end(),
                       [&](const FamilyOutline* other) { return other->existence && share_row(*other, family); });
  }

  // The timestamps of conditional writes come from another clock than those of plain ones, so a row has only one kind:
  // conditional ones where it has a version, and where something in it is counted.
  [[nodiscard]] static bool in_conditional_row(const Table& table, const FamilyOutline& family) {
    return !table.counters &&
           std::any_of(table.families.begin(), table.families.end(), [&](const FamilyOutline* other) {
             return share_row(*other, family) && (versioned(table, *other) || (other->adds && !other->base));
           });
  }

  [[nodiscard]] static std::string raise(const Table& table) {
    return fmt::format("{} = :noam_next_version", table.version);
  }
  [[nodiscard]] static std::string as_it_was(const Table& table) {
    return fmt::format(" IF {} = :noam_version", table.version);
  }

  // The version of a block, alone.
  [[nodiscard]] static std::string raise_head(const Table& table) {
    std::vector<std::string> block;
    for (const KeyPart& part : table.partition) equal(part, block);
    return fmt::format("UPDATE {} SET {} WHERE {}{}", table.name, raise(table), joined(block, " AND "),
                       as_it_was(table));
  }

  // Another row of the partition, together with the version of its head.
  [[nodiscard]] static std::string with_head(const Table& table, const std::string& statement) {
    return fmt::format("BEGIN BATCH\n  {};\n  {};\nAPPLY BATCH", raise_head(table), statement);
  }

  // A write whose condition stands elsewhere.
  [[nodiscard]] std::string unconditional(const Table& table, const Write& write) const {
    if (write.kind == WriteKind::Append) return append(table, write, false);
    return write.kind == WriteKind::Erase ? erase(table, write, false) : insert(table, write, false);
  }

  [[nodiscard]] bool is_head_row(const Table& table, const FamilyOutline& family) const {
    return table.version_of_block ? family.one_a_block() : beside_version(table, family);
  }

  // A copy that is written under the condition that it is as it was read: a count, or beside one in its row.
  [[nodiscard]] static bool compared(const Table& table, const FamilyOutline& family) {
    if (family.base || !in_conditional_row(table, family)) return false;
    return family.adds || !beside_version(table, family) ||
           (!family.values.empty() &&
            std::all_of(family.values.begin(), family.values.end(), [](const Column& at) { return at.counts; }));
  }

  // The condition of a write to a copy; none where all writes to its row are plain.
  [[nodiscard]] std::string condition(const Table& table, const Write& write) const {
    if (!in_conditional_row(table, *write.family)) return {};
    if (write.forgotten) return " IF EXISTS";
    return compared(table, *write.family) ? as_read(write) : fmt::format(" IF {} > 0", table.version);
  }

  [[nodiscard]] std::string update(const Table& table, const Write& write, const std::vector<std::string>& set,
                                   const std::string& condition) const {
    std::vector<std::string> all = set;
    if (!write.family->one_a_block() && !table.counters)
      for (const KeyPart& part : table.clustering)
        if (!part.beside.empty()) all.push_back(fmt::format("{} = {}", part.beside, placeholder(part.beside)));
    return fmt::format("UPDATE {} SET {} WHERE {}{}", table.name, joined(all), where(table, write), condition);
  }

  [[nodiscard]] std::string put(const Table& table, const Write& write) const {
    const FamilyOutline& family = *write.family;
    const std::vector<std::string> written = written_names(write);
    std::vector<std::string> set;
    for (const std::string& name : written) set.push_back(fmt::format("{} = {}", name, placeholder(name)));
    if (versioned(table, family)) {
      if (!is_head_row(table, family)) return with_head(table, insert(table, write, false));
      set.push_back(raise(table));
      return update(table, write, set, as_it_was(table));
    }
    if (!in_conditional_row(table, family)) return insert(table, write, false);
    if (!set.empty()) return update(table, write, set, condition(table, write));
    // Where it is refused, there is such a row.
    return beside_version(table, family) ? std::string() : insert(table, write, false) + " IF NOT EXISTS";
  }

  [[nodiscard]] std::string append(const Table& table, const Write& write, bool conditional = true) const {
    const FamilyOutline& family = *write.family;
    conditional = conditional && versioned(table, family);
    std::vector<std::string> set;
    const auto& names_of_values = layout_.families.at(family.index).values;
    for (std::size_t i = 0; i < family.values.size(); ++i)
      if (family.values[i].type.kind == TypeKind::List && family.values[i].place.kind == Place::Kind::Cell &&
          !names_of_values[i].empty())
        set.push_back(fmt::format("{0} = {0} + :{0}", names_of_values[i]));
    if (conditional) set.push_back(raise(table));
    return update(table, write, set, conditional ? as_it_was(table) : "");
  }

  [[nodiscard]] std::string add(const Table& table, const Write& write) const {
    std::vector<std::string> set;
    for (const std::string& name : value_names(*write.family))
      set.push_back(table.counters ? fmt::format("{0} = {0} + :{0}{1}", name, write.end())
                                   : fmt::format("{0} = :{0}{1}", name, write.end()));
    return update(table, write, set, table.counters ? "" : as_read(write));
  }

  [[nodiscard]] std::string as_read(const Write& write) const {
    std::vector<std::string> before;
    for (const std::string& name : written_names(write))
      before.push_back(fmt::format("{0} = :{0}{1}_before", name, write.end()));
    if (before.empty()) return write.kind == WriteKind::Erase ? " IF EXISTS" : "";
    return " IF " + joined(before, " AND ");
  }

  [[nodiscard]] std::string erase(const Table& table, const Write& write, bool conditional = true) const {
    const FamilyOutline& family = *write.family;
    conditional = conditional && versioned(table, family);
    // A row that is more than this entry stays; a partition with rows goes static column by static column, since a
    // condition may not stand with a delete of all of it.
    const bool with_rows = family.one_a_block() && !table.clustering.empty();
    const bool beside_head = beside_version(table, family) && !family.existence;
    const bool owns_row = family.one_a_block()
                              ? !with_rows && (family.existence || table.families.size() == 1)
                              : family.base || table.families.size() == 1 || first_of_rows(table, family);
    const bool columns = (!owns_row || beside_head) && !value_names(family).empty();
    if (beside_head && (!columns || (family.base && !table.version_of_block))) return {};
    std::string out =
        fmt::format("DELETE {}FROM {} WHERE {}", columns ? joined(value_names(family)) + " " : std::string(),
                    table.name, where(table, write));
    if (!family.base) return out + condition(table, write);
    if (!conditional) return out;
    if (!is_head_row(table, family) || (columns && !family.existence)) return with_head(table, out);
    return out + as_it_was(table);
  }

  [[nodiscard]] bool first_of_rows(const Table& table, const FamilyOutline& family) const {
    for (const FamilyOutline* at : table.families)
      if (!at->one_a_block()) return at == &family;
    return false;
  }

  void add_values(const Table& table, const FamilyOutline& family, const design::SampleEntry& entry,
                  std::map<std::string, std::string>& out) const {
    const auto& names_of_values = layout_.families.at(family.index).values;
    for (std::size_t i = 0; i < family.values.size(); ++i)
      if (!names_of_values[i].empty() && !entry.values[i].absent())
        out[names_of_values[i]] = value_literal(table, names_of_values[i], family.values[i].type, entry.values[i]);
    if (family.existence) out[table.version] = "1";
  }

  [[nodiscard]] std::string value_literal(const Table& table, const std::string& name, const model::Type& type,
                                          const Datum& datum) const {
    for (const TableColumn& column : table.columns)
      if (column.name == name) return literal(column.type, type, datum);
    return types_.literal(type, datum);
  }

  // As the column has it, which may be another type than noam would take.
  [[nodiscard]] std::string literal(const std::string& cql_type, const model::Type& type, const Datum& datum) const {
    const bool textual = cql_type == "text" || cql_type == "varchar" || cql_type == "ascii";
    if (textual && !datum.is_string()) {
      const Json json = model::write_json(outline_.model(), type, datum);
      return text_literal(json.is_string() ? json.get<std::string>() : json.dump());
    }
    if (textual && type.kind == TypeKind::Inet)
      return text_literal(model::write_json(outline_.model(), type, datum).get<std::string>());
    if (cql_type == "timeuuid" && type.kind == TypeKind::Timestamp)
      return fmt::format("minTimeuuid({})", types_.literal(type, datum));
    return types_.literal(type, datum);
  }

  // Absent, and what a key may not be.
  [[nodiscard]] std::string key_literal(const KeyPart& part, const Datum& datum) const {
    const model::Type& type = part.column->type;
    if (part.ordered) return ordered_literal(datum);
    if (is_marked(outline_.model(), type)) {
      const std::string marked = never_empty(datum, datum.absent() ? std::string_view() : datum.as_string());
      return is_text(outline_.model(), type) ? text_literal(marked)
                                             : types_.literal(model::scalar(TypeKind::Bytes), Datum(marked));
    }
    return literal(part.type, type, datum.absent() ? neutral(outline_.model(), type) : datum);
  }

  [[nodiscard]] std::string row(const Table& table, const std::vector<Datum>& key,
                                const std::map<std::string, std::string>& values) const {
    std::vector<std::string> columns;
    std::vector<std::string> literals;
    std::vector<std::string> where_parts;
    const auto give = [&](const std::string& name, const std::string& value) {
      columns.push_back(name);
      literals.push_back(value);
      where_parts.push_back(fmt::format("{} = {}", name, value));
    };
    std::size_t at = 0;
    for (const auto* parts : {&table.partition, &table.clustering}) {
      for (const KeyPart& part : *parts) {
        if (at >= key.size()) break;  // what the block has once
        if (!part.presence.empty()) give(part.presence, key[at].absent() ? "false" : "true");
        give(part.name, key_literal(part, key[at]));
        if (!part.beside.empty() && !key[at].absent()) {
          columns.push_back(part.beside);
          literals.push_back(types_.literal(part.column->type, key[at]));
        }
        ++at;
      }
    }
    if (table.counters) {
      std::vector<std::string> set;
      for (const auto& [name, value] : values) set.push_back(fmt::format("{0} = {0} + {1}", name, value));
      return fmt::format("UPDATE {} SET {} WHERE {}", table.name, joined(set), joined(where_parts, " AND "));
    }
    // In the order of the table.
    for (const TableColumn& column : table.columns) {
      const auto found = values.find(column.name);
      if (found == values.end()) continue;
      columns.push_back(column.name);
      literals.push_back(found->second);
    }
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name, joined(columns), joined(literals));
  }

  const Outline& outline_;
  Types& types_;
  const Layout& layout_;
};

std::string schema(const Outline& outline, const Layout& layout) {
  std::string out = fmt::format(
      "-- The tables of {} under the design {}. For Cassandra 5; run with: cqlsh -f schema.cql\n"
      "-- One replica serves for trying; a cluster wants NetworkTopologyStrategy and three.\n"
      "CREATE KEYSPACE IF NOT EXISTS {}\n"
      "    WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': '1'}} AND durable_writes = true;\n\n"
      "USE {};\n",
      outline.model().name, outline.program->design.name, layout.keyspace, layout.keyspace);
  // As `noam deploy` makes them.
  Types types(outline.model());
  const schemas::Outline all = schemas::outline(outline.model(), outline.program->design, schemas::Own::With);
  for (const std::string& statement : create_all(lay_out(all, types))) out += "\n" + statement;
  return out;
}

std::string page(const Outline& outline, const Layout& layout, const CqlDialect& dialect, bool with_data) {
  std::vector<std::vector<std::string>> tables;
  for (const Table& table : layout.tables) {
    std::vector<std::string> labels;
    for (const FamilyOutline* family : table.families) labels.push_back("`" + family->label + "`");
    std::vector<std::string> partition;
    for (const KeyPart& part : table.partition) partition.push_back("`" + part.name + "`");
    std::vector<std::string> clustering;
    for (const KeyPart& part : table.clustering)
      clustering.push_back(fmt::format("`{}`{}", part.name, part.descending ? " descending" : ""));
    tables.push_back({"`" + table.name + "`", joined(partition), joined(clustering), joined(labels)});
  }
  std::vector<Section> first;
  first.push_back(
      {"Files", fmt::format("- `schema.cql`: keyspace, types and tables; run it with `cqlsh -f schema.cql`. "
                            "Running it again does no harm.\n"
                            "- `statements.cql`: what every query and command sends, step by step, to be "
                            "prepared; `:name` is bound.\n{}",
                            with_data ? "- `data.cql`: the data, for `cqlsh -f data.cql` after the schema.\n" : "")});
  first.push_back(
      {"Tables", markdown_table({"table", "partition key", "clustering key", "families of the design"}, tables)});
  std::vector<Section> last;
  last.push_back(
      {"Types",
       markdown_table({"type", "in CQL"},
                      {{"bool, int, float, text", "boolean, bigint, double, text"},
                       {"decimal, timestamp, date, uuid, timeuuid, inet", "the type of that name"},
                       {"bytes", "blob"},
                       {"json, an enumeration", "text"},
                       {"a reference", "the key of its target; of several parts a frozen tuple"},
                       {"a value", "a type of its own, frozen; so are the rows of a list that a query makes"},
                       {"list, set, map",
                        "the type of that name; an empty one is null; addresses in them are blobs, because "
                        "Cassandra takes ::ffff:1.2.3.4 there for 1.2.3.4"}}) +
           "\nA part of a key can't be null. Of a text or bytes that may be absent, absent is the one character "
           "U+0000, and "
           "what is\nempty or begins with U+0000 has U+0000 U+0001 before it (others stand as they are); of "
           "another type, a column\n`has_…` before it says whether it is there.\n\n"
           "Cassandra orders uuids by version first, and addresses by bytes; noam by bytes, IPv4 first. A part of a "
           "clustering key of\nsuch a type is a blob, `…_order`, whose bytes sort as noam orders, and the value stands "
           "beside it: the byte 0x30, the 16\nbytes of a uuid (of a timeuuid those of its time first), or 4 or 6 and "
           "the bytes of an address, each 0x00 followed by 0xFF,\nand at the end 0x00 0x01. "
           "`with cassandra(order: \"native\")` keeps the type and the order of Cassandra.\n"});
  last.push_back(
      {"Writing",
       "The tables are those of noam's own store. A partition has a head, of the columns `noam_version`, "
       "`noam_sequence`,\n`noam_tx`, `noam_hold`, `noam_last`, `noam_done` and `noam_guards`; `noam_live` says whether "
       "what it has once is there.\nThe requests here need only a version, of the partition or of the row "
       "(`noam_row_version`), and leave the rest alone: noam\nrefuses a keyspace with rows that have no head.\n\n"
       "The version counts the changes of an aggregate: 1 when it is made. A write names the one it has read and "
       "makes it one\nhigher, so that of two who change different parts of one aggregate at once, one is refused, "
       "reads "
       "again and decides\nanew. Where an aggregate lies in several tables, write first to the one with its version: "
       "Cassandra makes a batch over\npartitions happen sometime, but neither at once nor under a condition.\n\n"
       "- Conditional and plain writes must not be mixed on one row: their clocks differ, and a plain one may be "
       "lost.\n"
       "- A partition that has static columns and no rows is read as one row whose clustering columns are null.\n"
       "- Counts are columns that are read and written under a condition (`:visits_before` is what was read, null "
       "where "
       "there\n  was nothing), unless the design asks for native counters. These can't be set, have no TTL, and must "
       "not "
       "be used again\n  after a delete; after a timeout nobody knows whether one was added.\n"
       "- Other columns that begin with `noam_` are what copies are kept right by.\n"
       "- Read with QUORUM (or LOCAL_QUORUM) what you have written with it; with SERIAL what is written under a "
       "condition.\n"});
  const PlaceName place = [&](const CollectionOutline&, const FamilyOutline& family, const Column& column) {
    return fmt::format("`{}.{}`", layout.table_of(family).name, dialect.column_name(family, column));
  };
  return readme(outline, fmt::format("{} on Cassandra", outline.model().name), capabilities, first, place, last);
}

}  // namespace

const Capabilities capabilities{
    "a partition of one table: a batch there happens as a whole, static columns included",
    "IF NOT EXISTS and IF column = value, by Paxos, within one partition: several round trips between replicas",
    "rows of a partition by clustering columns, each ascending or descending, fixed with the table",
    "counter columns, in tables of their own; adding is not idempotent, so after a timeout they are approximate",
    "TTL for each write (not for counters); not used: what is copied elsewhere must go with the original",
    limits,
};
const std::span<const Option> options = known_options;

Generated generate(const Outline& outline, const design::Sample* sample) {
  Types types(outline.model());
  const Layout layout = lay_out(outline, types);
  const CqlDialect dialect(outline, types, layout);
  Generated out;
  out.files.push_back({"schema.cql", schema(outline, layout)});
  out.files.push_back({"statements.cql", fmt::format("USE {};\n\n{}", layout.keyspace,
                                                     print_statements(list_statements(outline, dialect), "-- ", ";"))});
  if (sample != nullptr)
    out.files.push_back({"data.cql", fmt::format("USE {};\n\n{}", layout.keyspace, dialect.data(*sample))});
  out.files.push_back({"README.md", page(outline, layout, dialect, sample != nullptr)});
  out.warnings = layout.warnings;
  return out;
}

std::vector<Measure> measure(const Outline& outline) {
  Types types(outline.model());
  const Layout layout = lay_out(outline, types);
  std::vector<Measure> out;
  for (const Table& table : layout.tables) {
    double bytes = 0;
    double entries = 0;
    for (const FamilyOutline* family : table.families) {
      const double a_block = family->entries / std::max(table.collection->blocks, 1.0);
      bytes += a_block * family->bytes;
      entries += a_block * static_cast<double>(std::max<std::size_t>(family->values.size(), 1));
    }
    out.push_back({LimitKind::PartitionBytes, fmt::format("a partition of {}", table.name), bytes});
    out.push_back({LimitKind::PartitionEntries, fmt::format("a partition of {}", table.name), entries});
    double key = key_bytes(outline.model(), table.collection->block);
    for (const FamilyOutline* family : table.families)
      for (const Column& part : family->key) key = std::max(key, key_bytes(outline.model(), {part}));
    out.push_back({LimitKind::KeyBytes, fmt::format("a key of {}", table.name), key});
    for (const FamilyOutline* family : table.families)
      for (const Column& column : family->values)
        if (column.type.is_collection() || column.type.kind == TypeKind::Rows)
          out.push_back({LimitKind::ValueBytes, fmt::format("`{}` of {}", column.name, table.name), family->bytes});
  }
  // What a command changes: partitions of each table.
  const design::Explainer explainer(*outline.program);
  for (const model::StatementRef& statement : design::all_statements(outline.model())) {
    if (!statement.command) continue;
    const design::Explanation explanation = explainer.explain(statement);
    if (explanation.commits) continue;  // one an instance
    std::map<const Table*, double> partitions;
    const auto add = [&](const design::Written& written) {
      const Table& table = layout.table_of(outline.family(written.family));
      partitions[&table] = std::max(partitions[&table], written.blocks);
    };
    for (const design::Written& written : explanation.bases) add(written);
    for (const design::Following& copy : explanation.copies) add(copy.written);
    double all = 0;
    for (const auto& [table, count] : partitions) all += count;
    out.push_back({LimitKind::TransactionEntries,
                   fmt::format("the commit of {}", design::statement_name(outline.model(), statement)), all});
  }
  out.push_back({LimitKind::Tables, "the design", static_cast<double>(layout.tables.size())});
  return out;
}

std::vector<ListedStatement> statements(const Outline& outline) {
  Types types(outline.model());
  const Layout layout = lay_out(outline, types);
  return list_statements(outline, CqlDialect(outline, types, layout));
}

}  // namespace noam::targets::cassandra
