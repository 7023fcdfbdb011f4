#include "noam/stores/cassandra/rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/model/ordered.h"
#include "noam/schemas/cassandra/ddl.h"
#include "noam/schemas/cassandra/types.h"
#include "noam/schemas/keys.h"

namespace noam::stores::cassandra {

using blocks::Head;
using blocks::HeadPart;
using blocks::UnitWrite;
using blocks::Walk;
using design::Place;
using model::Datum;
using schemas::Column;
using schemas::FamilyOutline;
using schemas::cassandra::FamilyPlace;
using schemas::cassandra::KeyPart;
using schemas::cassandra::TableColumn;

namespace {

constexpr char absent_text = '\0';
constexpr char kept_text = '\1';

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  return fmt::format("{}", fmt::join(parts, between));
}

// `a = ? AND b = ?`
std::string equal(const std::vector<std::string>& names, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : " AND ") + names[i] + " = ?";
  return out;
}

std::string holes(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += i == 0 ? "?" : ", ?";
  return out;
}

// The only value that was written, without its size.
std::string only_bytes(const cql::Values& values) {
  constexpr std::size_t size_bytes = 4;
  return values.bytes().substr(size_bytes);
}

Datum without_mark(std::string_view text) {
  if (text.empty() || text[0] != absent_text) return Datum(std::string(text));
  if (text.size() > 1 && text[1] == kept_text) return Datum(std::string(text.substr(2)));
  return {};
}

}  // namespace

TableRows::TableRows(const std::string& keyspace, const schemas::cassandra::Layout& layout, const Table& table,
                     const ColumnValues& values)
    : keyspace_(keyspace), layout_(layout), table_(table), values_(values) {
  for (const TableColumn& column : table.columns) types_[column.name] = column.type;
  partition_names_ = schemas::cassandra::column_names(table.partition);
  clustering_names_ = schemas::cassandra::column_names(table.clustering);
  for (const KeyPart& part : table.clustering) {
    if (!part.presence.empty()) descending_.push_back(part.descending);
    descending_.push_back(part.descending);
  }
  shared_ = std::count_if(table.families.begin(), table.families.end(),
                          [](const FamilyOutline* family) { return !family->one_a_block(); }) > 1;
}

const FamilyOutline& TableRows::family_of(std::uint32_t index) const {
  const auto found = std::find_if(table_.families.begin(), table_.families.end(),
                                  [&](const FamilyOutline* family) { return family->index == index; });
  check(found != table_.families.end(), "a family is asked of its table");
  return **found;
}

const FamilyPlace& TableRows::place_of(const FamilyOutline& family) const { return layout_.families.at(family.index); }

// --- Keys ------------------------------------------------------------------------------------------------------------

bool TableRows::can_be(const KeyPart& part, const Datum& datum) const {
  return !datum.absent() || part.ordered || !part.presence.empty() ||
         schemas::cassandra::is_marked(values_.model(), part.column->type);
}

bool TableRows::can_be(const Key& block) const {
  for (std::size_t i = 0; i < block.size() && i < table_.partition.size(); ++i)
    if (!can_be(table_.partition[i], block[i])) return false;
  return true;
}

// As many cells as there are parts in the key.
Result<std::vector<KeyCell>> TableRows::cells_of(const std::vector<KeyPart>& parts, const Key& key) const {
  std::vector<KeyCell> out;
  for (std::size_t i = 0; i < key.size() && i < parts.size(); ++i) {
    const KeyPart& part = parts[i];
    const Datum& datum = key[i];
    if (!can_be(part, datum)) return Error{fmt::format("`{}` of {} must not be absent", part.name, qualified())};
    if (part.ordered) {
      std::string bytes;
      model::append_ordered(datum, false, bytes);
      out.push_back({datum, std::move(bytes)});
      continue;
    }
    if (!part.presence.empty())
      out.push_back({Datum(!datum.absent()), std::string(1, static_cast<char>(datum.absent() ? 0 : 1))});
    if (schemas::cassandra::is_marked(values_.model(), part.column->type)) {
      if (!datum.absent() && !datum.is_string()) return Error{"a part of a key is neither a text nor bytes"};
      out.push_back({datum, schemas::never_empty(datum, datum.absent() ? std::string_view()
                                                                       : std::string_view(datum.as_string()))});
      continue;
    }
    cql::Values one;
    const Datum given = datum.absent() ? schemas::cassandra::neutral(values_.model(), part.column->type) : datum;
    NOAM_RETURN_IF_ERROR(values_.append(part.column->type, part.type, given, one));
    out.push_back({given, only_bytes(one)});
  }
  return out;
}

Result<KeyBound> TableRows::bound_of(const FamilyOutline& family, const stores::Bound& bound, bool is_from) const {
  KeyBound out{{}, bound.inclusive};
  Key parts = bound.parts;
  // What is the same for all entries of the family leaves others of the table out.
  for (std::size_t i = parts.size(); i < schemas::leading_constants(family); ++i) {
    parts.push_back(model::from_literal(family.key[i].type, *family.key[i].constant));
    out.inclusive = true;
  }
  // Absent comes before all values, so where no value is absent it bounds nothing, or leaves nothing.
  for (std::size_t i = 0; i < parts.size() && i < table_.clustering.size(); ++i) {
    if (can_be(table_.clustering[i], parts[i])) continue;
    parts.resize(i);
    out.inclusive = is_from != table_.clustering[i].descending;
  }
  NOAM_ASSIGN_OR_RETURN(out.cells, cells_of(table_.clustering, parts));
  return out;
}

Result<Key> TableRows::key_of(const std::vector<KeyPart>& parts, const Row& row) const {
  Key out;
  for (const KeyPart& part : parts) {
    const cql::Cell cell = row[part.name];
    if (part.ordered) {
      Datum datum;
      std::string_view bytes = cell.bytes();
      if (cell.is_null() || !model::take_ordered(bytes, false, datum) || !bytes.empty())
        return Error{fmt::format("`{}` of {} has bytes that are no key", part.name, qualified())};
      out.push_back(std::move(datum));
      continue;
    }
    if (!part.presence.empty()) {
      NOAM_ASSIGN_OR_RETURN(const bool present, row[part.presence].boolean());
      if (!present) {
        out.emplace_back();
        continue;
      }
    }
    if (schemas::cassandra::is_marked(values_.model(), part.column->type)) {
      NOAM_ASSIGN_OR_RETURN(const std::string_view text, cell.text());
      out.push_back(without_mark(text));
      continue;
    }
    NOAM_ASSIGN_OR_RETURN(Datum datum, values_.read(part.column->type, part.type, cell));
    out.push_back(std::move(datum));
  }
  return out;
}

Result<Key> TableRows::block_of(const Row& row) const { return key_of(table_.partition, row); }

// --- Reading ---------------------------------------------------------------------------------------------------------

namespace {

void add_columns(const FamilyPlace& place, std::vector<std::string>& out) {
  for (const std::string& name : place.values)
    if (!name.empty() && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  if (!place.live.empty()) out.push_back(place.live);
}

void add_marks(const schemas::cassandra::HeadColumns& head, std::vector<std::string>& out) {
  if (head.version.empty()) return;
  for (const std::string& name : {head.version, head.sequence, head.holder}) out.push_back(name);
}

}  // namespace

Result<Bound> TableRows::select_once(const Key& block, HeadPart head) const {
  std::vector<std::string> columns = partition_names_;
  for (const FamilyOutline* family : table_.families)
    if (family->one_a_block()) add_columns(place_of(*family), columns);
  if (head == HeadPart::Whole && !counts())
    for (const std::string& name : table_.head.all()) columns.push_back(name);
  else
    add_marks(table_.head, columns);
  Bound out;
  out.counted = counts();
  out.text = fmt::format("SELECT {}{} FROM {} WHERE {}", has_rows() ? "DISTINCT " : "", joined(columns), qualified(),
                         equal(partition_names_, partition_names_.size()));
  NOAM_ASSIGN_OR_RETURN(const auto cells, cells_of(table_.partition, block));
  for (const KeyCell& cell : cells) out.values.blob(cell.bytes);
  return out;
}

Result<std::vector<Bound>> TableRows::select_rows(const Key& block, const blocks::UnitRange& range) const {
  const FamilyOutline& family = family_of(range.family);
  std::vector<std::string> columns = clustering_names_;
  // Values that stand in the key of the block alone.
  const bool tells_block = std::any_of(family.values.begin(), family.values.end(), [](const Column& column) {
    return column.same_as && column.same_as->kind == Place::Kind::Block;
  });
  if (tells_block) columns.insert(columns.begin(), partition_names_.begin(), partition_names_.end());
  add_columns(place_of(family), columns);
  add_marks(table_.head, columns);
  NOAM_ASSIGN_OR_RETURN(const auto partition, cells_of(table_.partition, block));
  NOAM_ASSIGN_OR_RETURN(const KeyBound from, bound_of(family, range.from, true));
  NOAM_ASSIGN_OR_RETURN(const KeyBound to, bound_of(family, range.to, false));
  std::vector<Bound> out;
  for (const Slice& slice : slices(from, to, descending_)) {
    Bound one;
    one.counted = counts();
    for (const KeyCell& cell : partition) one.values.blob(cell.bytes);
    std::string where = equal(partition_names_, partition_names_.size());
    if (!slice.equal.empty()) where += " AND " + equal(clustering_names_, slice.equal.size());
    for (const std::string& bytes : slice.equal) one.values.blob(bytes);
    const auto end = [&](const std::optional<Slice::End>& limit, const char* inclusive, const char* exclusive) {
      if (!limit) return;
      where +=
          fmt::format(" AND {} {} ?", clustering_names_[slice.equal.size()], limit->inclusive ? inclusive : exclusive);
      one.values.blob(limit->bytes);
    };
    end(slice.low, ">=", ">");
    end(slice.high, "<=", "<");
    const std::string order =
        range.reverse ? " ORDER BY " + schemas::cassandra::clustering_order(table_, true) : std::string();
    // One more than is asked for tells whether there are more; entries of other families count, too.
    std::string limit;
    if (range.limit != 0 && !shared_) {
      limit = " LIMIT ?";
      one.values.integer(static_cast<std::int32_t>(std::min<std::size_t>(range.limit, INT32_MAX - 1) + 1));
    }
    one.text = fmt::format("SELECT {} FROM {} WHERE {}{}{}", joined(columns), qualified(), where, order, limit);
    out.push_back(std::move(one));
  }
  if (range.reverse) std::reverse(out.begin(), out.end());
  return out;
}

std::string TableRows::select_all(Walk what, bool first) const {
  const std::string token = fmt::format("token({})", joined(partition_names_));
  std::vector<std::string> columns = {fmt::format("{} AS {}", token, token_column())};
  columns.insert(columns.end(), partition_names_.begin(), partition_names_.end());
  columns.insert(columns.end(), clustering_names_.begin(), clustering_names_.end());
  for (const FamilyOutline* family : table_.families) {
    const FamilyPlace& place = place_of(*family);
    if (what == Walk::Entries)
      add_columns(place, columns);
    else if (!place.live.empty())
      columns.push_back(place.live);
  }
  if (what == Walk::Heads)
    for (const std::string& name : table_.head.all()) columns.push_back(name);
  else
    add_marks(table_.head, columns);
  // Columns that several families share are named once.
  std::vector<std::string> each;
  for (std::string& column : columns)
    if (std::find(each.begin(), each.end(), column) == each.end()) each.push_back(std::move(column));
  return fmt::format("SELECT {} FROM {}{}{}", joined(each), qualified(),
                     first ? "" : fmt::format(" WHERE {} > ?", token),
                     what == Walk::Heads && has_rows() ? " PER PARTITION LIMIT 1" : "");
}

Result<Head> TableRows::head_of(const Row& row) const {
  Head out;
  if (counts()) return out;
  const schemas::cassandra::HeadColumns& names = table_.head;
  const auto number = [&](const std::string& name, std::uint64_t& to) -> Result<void> {
    const cql::Cell cell = row[name];
    if (cell.is_null()) return {};
    NOAM_ASSIGN_OR_RETURN(const std::int64_t value, cell.bigint());
    to = static_cast<std::uint64_t>(value);
    return {};
  };
  NOAM_RETURN_IF_ERROR(number(names.version, out.version));
  NOAM_RETURN_IF_ERROR(number(names.sequence, out.sequence));
  if (const cql::Cell holder = row[names.holder]; !holder.is_null()) {
    NOAM_ASSIGN_OR_RETURN(out.holder, holder.uuid());
  }
  out.hold = std::string(row[names.hold].bytes());
  out.last = std::string(row[names.last].bytes());
  out.done = std::string(row[names.done].bytes());
  out.guards = std::string(row[names.guards].bytes());
  return out;
}

Result<std::optional<Entry>> TableRows::entry_of(std::uint32_t family_index, const Row& row) const {
  const FamilyOutline& family = family_of(family_index);
  const FamilyPlace& place = place_of(family);
  if (!place.live.empty()) {
    const cql::Cell live = row[place.live];
    if (live.is_null()) return std::optional<Entry>();
  }
  Entry out;
  std::optional<Key> block;
  if (in_rows(family_index)) {
    // A partition that has only what it has once is a row without clustering columns.
    if (row[clustering_names_[0]].is_null()) return std::optional<Entry>();
    NOAM_ASSIGN_OR_RETURN(out.key, key_of(table_.clustering, row));
  }
  for (std::size_t i = 0; i < family.values.size(); ++i) {
    const Column& column = family.values[i];
    if (place.values[i].empty()) {
      if (column.same_as->kind == Place::Kind::Key) {
        out.columns.push_back(out.key[column.same_as->index]);
        continue;
      }
      if (!block) {
        NOAM_ASSIGN_OR_RETURN(block, block_of(row));
      }
      out.columns.push_back((*block)[column.same_as->index]);
      continue;
    }
    NOAM_ASSIGN_OR_RETURN(Datum datum, values_.read(column.type, types_.at(place.values[i]), row[place.values[i]]));
    out.columns.push_back(std::move(datum));
  }
  // Counters are never deleted: one that may be used again would be wrong.
  if (counts()) {
    const bool none = family.vanishes
                          ? out.columns[*family.vanishes] == Datum() || out.columns[*family.vanishes] == Datum(0)
                          : std::all_of(out.columns.begin(), out.columns.end(),
                                        [](const Datum& one) { return one.absent() || one == Datum(0); });
    if (none) return std::optional<Entry>();
  }
  return std::optional(std::move(out));
}

bool TableRows::has_entry(const Row& row) const {
  if (counts()) return true;
  if (has_rows() && !row[clustering_names_[0]].is_null()) return true;
  return std::any_of(table_.families.begin(), table_.families.end(), [&](const FamilyOutline* family) {
    return family->one_a_block() && !row[place_of(*family).live].is_null();
  });
}

// --- Writing ---------------------------------------------------------------------------------------------------------

Result<void> TableRows::append_value(const std::string& column, const Column& about, const Datum& datum,
                                     cql::Values& out) const {
  const auto appended = values_.append(about.type, types_.at(column), datum, out);
  if (!appended)
    return Error{fmt::format("column `{}` of {}: {}", column, qualified(), appended.error().message),
                 appended.error().code};
  return {};
}

// What the changes set of what the partition has once.
Result<void> TableRows::once_changes(const UnitWrite& write, std::vector<std::string>& set, cql::Values& values) const {
  for (const Change& change : write.changes) {
    const FamilyOutline& family = family_of(stores::entry_of(change).family);
    if (!family.one_a_block()) continue;
    const FamilyPlace& place = place_of(family);
    const auto* put = std::get_if<Put>(&change);
    for (std::size_t i = 0; i < family.values.size(); ++i) {
      if (place.values[i].empty()) continue;
      set.push_back(place.values[i] + " = ?");
      if (put != nullptr) {
        NOAM_RETURN_IF_ERROR(append_value(place.values[i], family.values[i], put->columns[i], values));
      } else {
        values.null();
      }
    }
    set.push_back(place.live + " = ?");
    if (put != nullptr)
      values.boolean(true);
    else
      values.null();
  }
  return {};
}

// The values that Cassandra orders in its own way, beside the bytes that stand in the key.
Result<void> TableRows::append_beside(const Key& key, std::vector<std::string>& columns, cql::Values& out) const {
  for (std::size_t i = 0; i < table_.clustering.size(); ++i) {
    const KeyPart& part = table_.clustering[i];
    if (part.beside.empty()) continue;
    columns.push_back(part.beside);
    NOAM_RETURN_IF_ERROR(append_value(part.beside, *part.column, key[i], out));
  }
  return {};
}

namespace {

// Conditional writes have the time of the servers.
constexpr const char* oldest = " USING TIMESTAMP 1";

}  // namespace

Result<Bound> TableRows::put_row(const Put& put, const std::vector<std::string>& partition, Manner manner) const {
  const char* const time = manner == Manner::Plain ? oldest : "";
  const FamilyOutline& family = family_of(put.entry.family);
  const FamilyPlace& place = place_of(family);
  check(put.columns.size() == family.values.size(), "an entry has a value for each column");
  std::vector<std::string> columns;
  cql::Values values;
  NOAM_RETURN_IF_ERROR(append_beside(put.entry.key, columns, values));
  for (std::size_t i = 0; i < family.values.size(); ++i) {
    if (place.values[i].empty()) continue;
    columns.push_back(place.values[i]);
    NOAM_RETURN_IF_ERROR(append_value(place.values[i], family.values[i], put.columns[i], values));
  }
  if (!place.live.empty()) {
    columns.push_back(place.live);
    values.boolean(true);
  }
  NOAM_ASSIGN_OR_RETURN(const auto key, cells_of(table_.clustering, put.entry.key));
  std::vector<std::string> names = partition_names_;
  names.insert(names.end(), clustering_names_.begin(), clustering_names_.end());
  Bound out;
  const auto bind_key = [&] {
    for (const std::string& bytes : partition) out.values.blob(bytes);
    for (const KeyCell& cell : key) out.values.blob(cell.bytes);
  };
  if (shared_) {
    // Without the mark that INSERT leaves, the row goes with its last column.
    out.values = std::move(values);
    out.text = fmt::format("UPDATE {}{} SET {} = ? WHERE {}", qualified(), time, joined(columns, " = ?, "),
                           equal(names, names.size()));
    bind_key();
    return out;
  }
  bind_key();
  out.values.append(values);
  std::vector<std::string> all = names;
  all.insert(all.end(), columns.begin(), columns.end());
  out.text = fmt::format("INSERT INTO {} ({}) VALUES ({}){}", qualified(), joined(all), holes(all.size()), time);
  return out;
}

Result<Bound> TableRows::delete_row(const Delete& gone, const std::vector<std::string>& partition,
                                    bool beside_stays) const {
  const FamilyOutline& family = family_of(gone.entry.family);
  const FamilyPlace& place = place_of(family);
  NOAM_ASSIGN_OR_RETURN(const auto key, cells_of(table_.clustering, gone.entry.key));
  std::vector<std::string> names = partition_names_;
  names.insert(names.end(), clustering_names_.begin(), clustering_names_.end());
  Bound out;
  std::vector<std::string> columns;
  if (shared_) {
    add_columns(place, columns);
    for (const KeyPart& part : table_.clustering)
      if (!part.beside.empty() && !beside_stays) columns.push_back(part.beside);
  }
  out.text = fmt::format("DELETE {}FROM {} WHERE {}", columns.empty() ? "" : joined(columns) + " ", qualified(),
                         equal(names, names.size()));
  for (const std::string& bytes : partition) out.values.blob(bytes);
  for (const KeyCell& cell : key) out.values.blob(cell.bytes);
  return out;
}

Result<Bound> TableRows::add(const Add& add) const {
  const FamilyOutline& family = family_of(add.entry.family);
  const FamilyPlace& place = place_of(family);
  Bound out;
  std::string set;
  for (std::size_t i = 0; i < family.values.size() && i < add.addends.size(); ++i) {
    if (place.values[i].empty() || !add.addends[i].is_int()) continue;
    set += fmt::format("{}{} = {} + ?", set.empty() ? "" : ", ", place.values[i], place.values[i]);
    out.values.bigint(add.addends[i].as_int());
  }
  NOAM_ASSIGN_OR_RETURN(const auto partition, cells_of(table_.partition, add.entry.block.key));
  NOAM_ASSIGN_OR_RETURN(const auto clustering, cells_of(table_.clustering, add.entry.key));
  for (const auto* cells : {&partition, &clustering})
    for (const KeyCell& cell : *cells) out.values.blob(cell.bytes);
  std::vector<std::string> names = partition_names_;
  names.insert(names.end(), clustering_names_.begin(), clustering_names_.end());
  if (!set.empty()) out.text = fmt::format("UPDATE {} SET {} WHERE {}", qualified(), set, equal(names, names.size()));
  return out;
}

Result<std::vector<Bound>> TableRows::write(const UnitWrite& write) const {
  return this->write(write, Manner::Conditional);
}

Result<std::vector<Bound>> TableRows::fill(const UnitWrite& write) const { return this->write(write, Manner::Plain); }

Result<std::vector<Bound>> TableRows::write(const UnitWrite& write, Manner manner) const {
  check(write.head.has_value(), "a write of one partition changes its head");
  std::vector<Bound> out(1);
  std::vector<std::string> set;
  cql::Values values;
  const Head& head = *write.head;
  for (const std::string& name : table_.head.all()) set.push_back(name + " = ?");
  if (head.sequence == 0) {
    for (std::size_t i = 0; i < table_.head.all().size(); ++i) values.null();
  } else {
    values.bigint(static_cast<std::int64_t>(head.version)).bigint(static_cast<std::int64_t>(head.sequence));
    values.uuid(head.holder).blob(head.hold).blob(head.last).blob(head.done).blob(head.guards);
  }
  NOAM_RETURN_IF_ERROR(once_changes(write, set, values));
  NOAM_ASSIGN_OR_RETURN(const auto cells, cells_of(table_.partition, write.unit.block));
  std::vector<std::string> partition;
  for (const KeyCell& cell : cells) partition.push_back(cell.bytes);
  for (const std::string& bytes : partition) values.blob(bytes);
  std::string condition;
  const auto* const sequence = std::get_if<UnitWrite::Sequence>(&write.condition);
  if (manner == Manner::Conditional) {
    condition = fmt::format(" IF {} = ?", sequence != nullptr ? table_.head.sequence : table_.head.holder);
    if (sequence == nullptr)
      values.uuid(std::get<UnitWrite::Held>(write.condition).by);
    else if (sequence->is == 0)
      values.null();
    else
      values.bigint(static_cast<std::int64_t>(sequence->is));
  }
  out[0].text = fmt::format("UPDATE {}{} SET {} WHERE {}{}", qualified(), manner == Manner::Plain ? oldest : "",
                            joined(set), equal(partition_names_, partition_names_.size()), condition);
  out[0].values = std::move(values);
  std::set<Key> put;
  for (const Change& change : write.changes)
    if (std::holds_alternative<Put>(change) && in_rows(stores::entry_of(change).family))
      put.insert(stores::entry_of(change).key);
  for (const Change& change : write.changes) {
    if (!in_rows(stores::entry_of(change).family)) continue;
    if (const auto* one = std::get_if<Put>(&change)) {
      NOAM_ASSIGN_OR_RETURN(Bound bound, put_row(*one, partition, manner));
      out.push_back(std::move(bound));
    } else {
      const auto& gone = std::get<Delete>(change);
      NOAM_ASSIGN_OR_RETURN(Bound bound, delete_row(gone, partition, put.contains(gone.entry.key)));
      out.push_back(std::move(bound));
    }
  }
  return out;
}

}  // namespace noam::stores::cassandra
