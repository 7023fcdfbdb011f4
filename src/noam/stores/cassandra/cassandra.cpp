#include "noam/stores/cassandra/cassandra.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/layout.h"
#include "noam/stores/cassandra/keyspace.h"
#include "noam/stores/cassandra/partitions.h"
#include "noam/stores/encoding.h"

namespace noam::stores::cassandra {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr std::size_t most_blocks = 4'096;
constexpr std::int32_t commands_are_kept = 3 * 3'600;  // seconds

class CassandraBlocks final : public blocks::BlockStore {
 public:
  CassandraBlocks(std::shared_ptr<cql::Session> session, const Place& place, bool create)
      : session_(std::move(session)), place_(place), keyspace_(*session_, place.keyspace), create_(create) {
    capabilities_.max_entry_bytes = place.max_entry_bytes;
    capabilities_.max_unit_bytes = mebibyte;
    capabilities_.spreads_own = true;
    capabilities_.max_commit_blocks = most_blocks;
  }

  ~CassandraBlocks() override {
    if (!place_.trace) return;
    const cql::Metrics all = session_->metrics();
    place_.trace(
        fmt::format("{} requests: {} failed, {} conflicts, {} sent again; half within {} µs, 99 % within {} µs",
                    all.requests, all.failures, all.conflicts, all.retries, all.latencies.quantile(0.5).count(),
                    all.latencies.quantile(0.99).count()));
  }
  CassandraBlocks(const CassandraBlocks&) = delete;
  CassandraBlocks& operator=(const CassandraBlocks&) = delete;

  Result<void> find();

  [[nodiscard]] const blocks::BlockCapabilities& capabilities() const override { return capabilities_; }
  Result<void> deploy(const Blueprint& blueprint) override;
  [[nodiscard]] std::optional<Deployment> deployment() const override { return deployment_; }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t family) const override {
    return partitions_->tables().part_of(family);
  }

  [[nodiscard]] bool counts(std::uint32_t part) const override { return partitions_->tables().table(part).counts(); }
  Result<void> add(const std::vector<Add>& adds, Deadline by) override { return partitions_->add(adds, by); }

  Result<void> read(const std::vector<blocks::UnitRead>& units, blocks::Fresh fresh, Deadline by,
                    std::vector<blocks::UnitAnswer>& out) override {
    return partitions_->read(units, fresh, by, out);
  }
  Result<void> write(const std::vector<std::vector<blocks::UnitWrite>>& groups, Deadline by,
                     std::vector<blocks::Written>& out) override;
  Result<void> keep_command(const std::string& id, const Key& columns, Deadline by) override;
  Result<std::optional<Key>> kept_command(const std::string& id, Deadline by) override;
  Result<blocks::UnitPage> scan(std::uint32_t part, blocks::Walk what, const std::string& after, Deadline by) override {
    return partitions_->scan(part, what, after, by);
  }

 private:
  Result<void> make_tables(const Blueprint& blueprint, const DesignTables& tables, Lock& lock);
  [[nodiscard]] Error another_design(const Blueprint& blueprint) const;
  Result<cql::Request> request_of(const std::string& text, cql::Values values);

  const std::shared_ptr<cql::Session> session_;
  const Place place_;
  Keyspace keyspace_;
  const bool create_;
  blocks::BlockCapabilities capabilities_;
  std::optional<Deployment> deployment_;
  std::unique_ptr<Partitions> partitions_;
};

Result<void> CassandraBlocks::find() {
  NOAM_RETURN_IF_ERROR(keyspace_.check_clock());
  NOAM_ASSIGN_OR_RETURN(const bool exists, keyspace_.exists());
  if (!exists && !create_) return Error{fmt::format("there is no keyspace `{}`", keyspace_.name()), "missing"};
  if (!exists) NOAM_RETURN_IF_ERROR(keyspace_.create(place_.replication));
  NOAM_ASSIGN_OR_RETURN(auto record, keyspace_.record());
  if (!record) return {};
  if (record->loading)
    return Error{
        fmt::format("keyspace {} is being loaded, or a load was interrupted; repeat `noam load --bulk` with the same "
                    "files",
                    keyspace_.name()),
        "loading"};
  const auto serial = [](cql::SerialConsistency of) {
    return of == cql::SerialConsistency::Serial ? "serial" : "local_serial";
  };
  if (record->serial != place_.cluster.serial_consistency)
    return Error{
        fmt::format("keyspace {} was deployed with serial={}; with serial={}, sessions would not see each "
                    "other's decisions",
                    keyspace_.name(), serial(record->serial), serial(place_.cluster.serial_consistency))};
  deployment_ = std::move(record->deployment);
  return {};
}

Error CassandraBlocks::another_design(const Blueprint& blueprint) const {
  std::vector<std::string> differences = design::layout_differences(deployment_->layout, blueprint.design.layout);
  if (differences.empty()) differences.emplace_back("its collections or families are in another order");
  return other_design(*deployment_, differences, fmt::format("keyspace {} was deployed with", keyspace_.name()));
}

Result<void> CassandraBlocks::deploy(const Blueprint& blueprint) {
  auto tables = std::make_unique<const DesignTables>(keyspace_.name(), blueprint);
  if (!deployment_ || deployment_->layout != blueprint.design.layout) {
    if (deployment_ && !create_) return another_design(blueprint);
    // Before anything is made, so that nothing is left of a deployment that is refused.
    if (!deployment_) NOAM_RETURN_IF_ERROR(keyspace_.check_unused(tables->layout(), false));
    NOAM_ASSIGN_OR_RETURN(Lock lock, keyspace_.lock(lock_patience, place_.note));
    auto made = make_tables(blueprint, *tables, lock);
    keyspace_.unlock(lock);
    if (!made) return made;
  }
  NOAM_RETURN_IF_ERROR(keyspace_.check_tables(tables->layout()));
  partitions_ = std::make_unique<Partitions>(*session_, std::move(tables), place_);
  return {};
}

Result<void> CassandraBlocks::make_tables(const Blueprint& blueprint, const DesignTables& tables, Lock& lock) {
  // Somebody else may have been faster.
  NOAM_ASSIGN_OR_RETURN(const auto before, keyspace_.record());
  if (before) {
    deployment_ = before->deployment;
    deployment_->by_another = true;
    if (deployment_->layout == blueprint.design.layout) return {};
    if (!place_.replaces_designs) return another_design(blueprint);
    for (const std::string& table : before->tables) {
      NOAM_ASSIGN_OR_RETURN(const bool has_entries, keyspace_.has_entries(table));
      if (has_entries) return another_design(blueprint);
    }
    NOAM_RETURN_IF_ERROR(keyspace_.drop(*before, lock));
  }
  if (!before) NOAM_RETURN_IF_ERROR(keyspace_.check_unused(tables.layout(), true));
  NOAM_RETURN_IF_ERROR(keyspace_.run(tables.statements(), lock));
  Record made = record_of(blueprint, tables.layout(), before ? before->deployment.version + 1 : 1, place_);
  NOAM_RETURN_IF_ERROR(keyspace_.write_record(made));
  deployment_ = std::move(made.deployment);
  return {};
}

Result<void> CassandraBlocks::write(const std::vector<std::vector<blocks::UnitWrite>>& groups, Deadline by,
                                    std::vector<blocks::Written>& out) {
  std::vector<blocks::UnitWrite> each;
  for (const auto& group : groups) {
    check(group.size() == 1, "a partition is written by itself");
    each.push_back(group[0]);
  }
  return partitions_->write(each, by, out);
}

Result<cql::Request> CassandraBlocks::request_of(const std::string& text, cql::Values values) {
  auto prepared = session_->prepare(text);
  if (!prepared) return without_code(prepared.error());
  cql::Request out;
  out.statements.push_back({std::move(*prepared), std::move(values)});
  out.idempotent = true;
  return out;
}

Result<void> CassandraBlocks::keep_command(const std::string& id, const Key& columns, Deadline by) {
  NOAM_ASSIGN_OR_RETURN(
      const cql::Request request,
      request_of(fmt::format("INSERT INTO {}.noam_commands (id, kept) VALUES (?, ?) USING TTL ?", keyspace_.name()),
                 cql::Values().blob(id).blob(write_values(columns)).integer(commands_are_kept)));
  const cql::Response done = session_->run(request, by);
  if (!done.ok()) return without_code(cql::error_of(done.failure()));
  return {};
}

Result<std::optional<Key>> CassandraBlocks::kept_command(const std::string& id, Deadline by) {
  NOAM_ASSIGN_OR_RETURN(const cql::Request request,
                        request_of(fmt::format("SELECT kept FROM {}.noam_commands WHERE id = ?", keyspace_.name()),
                                   cql::Values().blob(id)));
  const cql::Response found = session_->run(request, by);
  if (!found.ok()) return without_code(cql::error_of(found.failure()));
  if (found.row_count() == 0) return std::optional<Key>();
  Key out;
  if (!read_values(found.row(0)[0].bytes(), out)) return Error{"what was kept of a command cannot be read"};
  return std::optional(std::move(out));
}

}  // namespace

Result<std::unique_ptr<blocks::BlockStore>> open_block_store(const Place& place, bool create) {
  NOAM_ASSIGN_OR_RETURN(std::unique_ptr<cql::Session> session, connect(place));
  return open_block_store(std::shared_ptr<cql::Session>(std::move(session)), place, create);
}

Result<std::unique_ptr<blocks::BlockStore>> open_block_store(std::shared_ptr<cql::Session> session, const Place& place,
                                                             bool create) {
  auto store = std::make_unique<CassandraBlocks>(std::move(session), place, create);
  NOAM_RETURN_IF_ERROR(store->find());
  return std::unique_ptr<blocks::BlockStore>(std::move(store));
}

}  // namespace noam::stores::cassandra
