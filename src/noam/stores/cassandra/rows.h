#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cql/cell.h"
#include "noam/cql/values.h"
#include "noam/schemas/cassandra/tables.h"
#include "noam/stores/blocks/block_store.h"
#include "noam/stores/cassandra/slices.h"
#include "noam/stores/cassandra/values.h"

// One table of a design: its statements, and entries and heads as its rows have them. A block of the layer is a
// partition.
namespace noam::stores::cassandra {

// A statement, and the values for its placeholders.
struct Bound {
  std::string text;
  cql::Values values;
  bool counted = false;  // of counters, which conditions do not concern
};

// A row that a statement of a table gave, by the columns that the statement names.
class Row {
 public:
  Row(const std::map<std::string, std::size_t>& places, std::span<const cql::Cell> cells)
      : places_(places), cells_(cells) {}

  // Null if the statement does not name the column.
  [[nodiscard]] cql::Cell operator[](const std::string& column) const {
    const auto found = places_.find(column);
    return found == places_.end() || found->second >= cells_.size() ? cql::Cell() : cells_[found->second];
  }

 private:
  const std::map<std::string, std::size_t>& places_;
  std::span<const cql::Cell> cells_;
};

class TableRows {
 public:
  // All of them must outlive it.
  TableRows(const std::string& keyspace, const schemas::cassandra::Layout& layout,
            const schemas::cassandra::Table& table, const ColumnValues& values);

  [[nodiscard]] const schemas::cassandra::Table& table() const { return table_; }
  // Nothing but native counters, without heads.
  [[nodiscard]] bool counts() const { return table_.counters; }
  [[nodiscard]] bool has_rows() const { return !table_.clustering.empty(); }
  // Whether entries of the family are rows, and not what a partition has once.
  [[nodiscard]] bool in_rows(std::uint32_t family) const { return !family_of(family).one_a_block(); }

  // False: there is never such a block, because a part of its key is absent that always is there.
  [[nodiscard]] bool can_be(const Key& block) const;

  // Reading. Statements name the marks of the head; the first one also what a partition has once, and all of the head.
  [[nodiscard]] Result<Bound> select_once(const Key& block, blocks::HeadPart head) const;
  // The rows of a family between bounds, one statement for each slice.
  [[nodiscard]] Result<std::vector<Bound>> select_rows(const Key& block, const blocks::UnitRange& range) const;
  // All partitions from a token on; `first` is without one. For Walk::Heads, one row of each.
  [[nodiscard]] std::string select_all(blocks::Walk what, bool first) const;
  [[nodiscard]] static const char* token_column() { return "noam_token"; }

  [[nodiscard]] Result<Key> block_of(const Row& row) const;
  [[nodiscard]] Result<blocks::Head> head_of(const Row& row) const;
  // None: the row has no entry of the family.
  [[nodiscard]] Result<std::optional<Entry>> entry_of(std::uint32_t family_index, const Row& row) const;
  // Whether the row has an entry of any family.
  [[nodiscard]] bool has_entry(const Row& row) const;

  // Writing: the statements of one conditional batch, of which the first has the condition.
  [[nodiscard]] Result<std::vector<Bound>> write(const blocks::UnitWrite& write) const;

  // The same without a condition, and older than all that is written with one.
  [[nodiscard]] Result<std::vector<Bound>> fill(const blocks::UnitWrite& write) const;

  // Of a table that counts.
  [[nodiscard]] Result<Bound> add(const Add& add) const;

  [[nodiscard]] std::string qualified() const { return keyspace_ + "." + table_.name; }

 private:
  using Table = schemas::cassandra::Table;
  using KeyPart = schemas::cassandra::KeyPart;
  using Family = schemas::FamilyOutline;

  [[nodiscard]] const Family& family_of(std::uint32_t index) const;
  [[nodiscard]] const schemas::cassandra::FamilyPlace& place_of(const Family& family) const;
  [[nodiscard]] Result<std::vector<KeyCell>> cells_of(const std::vector<KeyPart>& parts, const Key& key) const;
  [[nodiscard]] bool can_be(const KeyPart& part, const model::Datum& datum) const;
  [[nodiscard]] Result<KeyBound> bound_of(const Family& family, const stores::Bound& bound, bool is_from) const;
  [[nodiscard]] Result<Key> key_of(const std::vector<KeyPart>& parts, const Row& row) const;
  Result<void> append_value(const std::string& column, const schemas::Column& about, const model::Datum& datum,
                            cql::Values& out) const;
  enum class Manner : std::uint8_t { Conditional, Plain };
  [[nodiscard]] Result<std::vector<Bound>> write(const blocks::UnitWrite& write, Manner manner) const;
  Result<void> once_changes(const blocks::UnitWrite& write, std::vector<std::string>& set, cql::Values& values) const;
  [[nodiscard]] Result<Bound> put_row(const Put& put, const std::vector<std::string>& partition, Manner manner) const;
  [[nodiscard]] Result<Bound> delete_row(const Delete& gone, const std::vector<std::string>& partition,
                                         bool beside_stays) const;
  Result<void> append_beside(const Key& key, std::vector<std::string>& columns, cql::Values& out) const;

  const std::string& keyspace_;
  const schemas::cassandra::Layout& layout_;
  const Table& table_;
  const ColumnValues& values_;
  std::map<std::string, std::string> types_;  // of columns
  std::vector<std::string> partition_names_;
  std::vector<std::string> clustering_names_;
  std::vector<bool> descending_;  // of clustering columns
  bool shared_ = false;           // rows of several families
};

}  // namespace noam::stores::cassandra
