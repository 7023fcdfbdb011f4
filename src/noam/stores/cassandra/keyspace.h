#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "noam/base/result.h"
#include "noam/cql/session.h"
#include "noam/schemas/cassandra/tables.h"
#include "noam/stores/cassandra/place.h"
#include "noam/stores/store.h"

// What lies in a keyspace: which design, and the statements that make its tables.
namespace noam::stores::cassandra {

// The record of a keyspace.
struct Record {
  Deployment deployment;
  std::string model;                // as text
  std::string design;               // as text
  std::vector<std::string> tables;  // of the design
  std::vector<std::string> types;
  // Who decides on conditions. Sessions that differ in this would not see each other's decisions.
  cql::SerialConsistency serial = cql::SerialConsistency::Serial;
  bool loading = false;  // nobody may open it before it is filled
};

// Of what is deployed now.
Record record_of(const Blueprint& blueprint, const schemas::cassandra::Layout& layout, std::uint32_t version,
                 const Place& place);

// After this time without a beat, the holder of a lock is taken for dead.
inline constexpr std::chrono::milliseconds lock_patience{30'000};

// The right to deploy.
struct Lock {
  cql::Uuid by{};
  std::int32_t beat = 0;  // moves while its holder lives
};

// A session with the cluster. The error says which option may be missing.
Result<std::unique_ptr<cql::Session>> connect(const Place& place);

class Keyspace {
 public:
  // The session must outlive it.
  Keyspace(cql::Session& session, std::string name) : session_(session), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }

  Result<bool> exists();
  // Does nothing if it is there. Without `replication`: 1 on one node, else 3.
  Result<void> create(std::optional<unsigned> replication);
  // None: nothing was deployed.
  Result<std::optional<Record>> record();

  // Only one process at a time deploys. If its lock does not move for some time, another one takes it.
  Result<Lock> lock(std::chrono::milliseconds patience, const std::function<void(const std::string&)>& note);
  void unlock(const Lock& lock);

  Result<void> write_record(const Record& record);
  // DDL, of which each statement does nothing if it was run before. An error if the lock was lost.
  Result<void> run(const std::vector<std::string>& statements, Lock& lock);
  // Says that the holder of the lock lives. An error if the lock was lost.
  Result<void> beat(Lock& lock);
  Result<void> truncate(const std::vector<std::string>& tables, Lock& lock);
  // Deletes the tables and types of the record.
  Result<void> drop(const Record& record, Lock& lock);
  // An error that names the first table that is not as the layout has it.
  Result<void> check_tables(const schemas::cassandra::Layout& layout);
  // Whether a table has entries; heads that stand alone do not count.
  Result<bool> has_entries(const std::string& table);
  // Before the first deployment: an error if a table is there that noam did not create, or that has rows. Without the
  // lock, tables of a deployment that has begun are let pass: ask again with it.
  Result<void> check_unused(const schemas::cassandra::Layout& layout, bool locked);
  // An error if the clock of a server is too far from this machine's.
  Result<void> check_clock();

 private:
  using Columns = std::map<std::string, std::string, std::less<>>;  // what each is
  using Tables = std::map<std::string, Columns, std::less<>>;

  Result<Tables> tables();
  [[nodiscard]] Result<void> check_table(const Columns& has, const schemas::cassandra::Table& table) const;
  Result<cql::Response> ask(const std::string& text, const cql::Values& values, bool conditional);
  Result<cql::Response> ask_once(const std::string& text, const cql::Values& values, bool conditional);
  Result<void> execute(const std::string& text);

  cql::Session& session_;
  const std::string name_;
};

}  // namespace noam::stores::cassandra
