#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cql/session.h"
#include "noam/schemas/cassandra/tables.h"
#include "noam/schemas/outline.h"
#include "noam/stores/blocks/block_store.h"
#include "noam/stores/cassandra/place.h"
#include "noam/stores/cassandra/rows.h"
#include "noam/stores/cassandra/values.h"

// The partitions of a design's tables: read at one moment, and written under a condition.
namespace noam::stores::cassandra {

// Of a failure while data is read or written. A code would say that a command is refused, but nobody knows what becomes
// of it.
inline Error without_code(Error error) {
  error.code.clear();
  return error;
}

// A design as tables of a keyspace. Has copies of what it is made of.
class DesignTables {
 public:
  DesignTables(std::string keyspace, const Blueprint& blueprint);
  DesignTables(const DesignTables&) = delete;
  DesignTables& operator=(const DesignTables&) = delete;

  [[nodiscard]] const schemas::cassandra::Layout& layout() const { return layout_; }
  [[nodiscard]] const TableRows& table(std::uint32_t part) const { return rows_[part]; }
  [[nodiscard]] std::uint32_t collection_of(std::uint32_t family) const { return design_.families[family].collection; }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t family) const {
    return static_cast<std::uint32_t>(layout_.families.at(family).table);
  }
  // Types, and then tables.
  [[nodiscard]] std::vector<std::string> statements() const;

 private:
  const std::string keyspace_;
  const model::Model model_;
  const design::Design design_;
  const schemas::Outline outline_;
  schemas::cassandra::Types types_;
  const schemas::cassandra::Layout layout_;
  const ColumnValues values_;
  std::vector<TableRows> rows_;
};

// Safe to use from several threads.
class Partitions {
 public:
  // Session and place must outlive it.
  Partitions(cql::Session& session, std::unique_ptr<const DesignTables> tables, const Place& place)
      : session_(session), tables_(std::move(tables)), place_(place) {}

  [[nodiscard]] const DesignTables& tables() const { return *tables_; }

  Result<void> read(const std::vector<blocks::UnitRead>& units, blocks::Fresh fresh, Deadline by,
                    std::vector<blocks::UnitAnswer>& out);
  Result<void> add(const std::vector<Add>& adds, Deadline by);
  Result<void> write(const std::vector<blocks::UnitWrite>& writes, Deadline by, std::vector<blocks::Written>& out);
  // Without conditions, which the writes do not need as long as nobody else knows the tables. May be repeated.
  Result<void> fill(const std::vector<blocks::UnitWrite>& writes);
  Result<blocks::UnitPage> scan(std::uint32_t part, blocks::Walk what, const std::string& after, Deadline by);

 private:
  struct Rows;
  struct Reading;
  enum class Moments : std::uint8_t;

  Result<cql::Statement> prepared(const Bound& bound);
  std::vector<cql::Response> run(std::vector<cql::Request>& requests, Deadline by);
  void tell(const cql::Request& request, const cql::Response& response);
  Result<std::vector<Rows>> select(const std::vector<Bound>& statements, blocks::Fresh fresh, Deadline by);
  template <typename Of, typename Take>
  Result<void> select_for(std::vector<Reading*>& readings, blocks::Fresh fresh, Deadline by, const Of& of,
                          const Take& take);
  static Result<blocks::Head> head_of(const Reading& reading);
  static Result<Moments> answer(Reading& reading);

  cql::Session& session_;
  const std::unique_ptr<const DesignTables> tables_;
  const Place& place_;
  std::mutex lock_;
  std::map<std::string, cql::Prepared> prepared_;  // by text
};

}  // namespace noam::stores::cassandra
