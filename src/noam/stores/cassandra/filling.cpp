#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/stores/cassandra/cassandra.h"
#include "noam/stores/cassandra/keyspace.h"
#include "noam/stores/cassandra/partitions.h"

// Filling a keyspace before anybody opens it: nobody competes, so that plain writes are enough.
namespace noam::stores::cassandra {

namespace {

constexpr std::size_t most_entries = 100;  // of a write, all in one partition
constexpr std::size_t most_bytes = std::size_t{1} << 15U;
constexpr std::size_t most_writes = 256;  // at the same time
constexpr std::chrono::seconds between_beats{2};

class Filling {
 public:
  Filling(Keyspace& keyspace, Partitions& partitions, Lock& lock, const std::function<void(std::uint64_t)>& progress)
      : keyspace_(keyspace), partitions_(partitions), lock_(lock), progress_(progress) {}

  // All entries of a family.
  Result<void> copy(Store& from, std::uint32_t family) {
    const std::uint32_t part = partitions_.tables().part_of(family);
    const bool counts = partitions_.tables().table(part).counts();
    const auto moment = from.snapshot();
    std::string after;
    do {
      NOAM_ASSIGN_OR_RETURN(ScanPage page, from.scan(family, after, moment.get(), no_deadline));
      for (ScanPage::Item& item : page.items) {
        EntryRef entry{
            {partitions_.tables().collection_of(family), std::move(item.block)}, family, std::move(item.entry.key)};
        if (counts)
          adds_.push_back({std::move(entry), std::move(item.entry.columns), 0});
        else
          put(part, {std::move(entry), std::move(item.entry.columns)});
        if (writes_.size() + adds_.size() >= most_writes) NOAM_RETURN_IF_ERROR(send());
      }
      after = std::move(page.next);
    } while (!after.empty());
    return send();
  }

  [[nodiscard]] std::uint64_t entries() const { return entries_; }

 private:
  void put(std::uint32_t part, Put entry) {
    const std::size_t bytes = entry_bytes(entry.entry.key, entry.columns);
    const bool goes_on = !writes_.empty() && writes_.back().unit.part == part &&
                         writes_.back().unit.block == entry.entry.block.key &&
                         writes_.back().changes.size() < most_entries && bytes_ + bytes <= most_bytes;
    if (!goes_on) {
      // Every write of a partition brings the same head.
      blocks::Head head;
      head.version = 1;
      head.sequence = 1;
      writes_.push_back({{part, entry.entry.block.key}, blocks::UnitWrite::Sequence{0}, {}, std::move(head)});
      bytes_ = 0;
    }
    bytes_ += bytes;
    writes_.back().changes.emplace_back(std::move(entry));
    ++entries_;
  }

  Result<void> send() {
    if (!writes_.empty()) NOAM_RETURN_IF_ERROR(partitions_.fill(writes_));
    entries_ += adds_.size();
    if (!adds_.empty()) NOAM_RETURN_IF_ERROR(partitions_.add(adds_, no_deadline));
    writes_.clear();
    adds_.clear();
    if (progress_) progress_(entries_);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_beat_ < between_beats) return {};
    last_beat_ = now;
    return keyspace_.beat(lock_);
  }

  Keyspace& keyspace_;
  Partitions& partitions_;
  Lock& lock_;
  const std::function<void(std::uint64_t)>& progress_;
  std::vector<blocks::UnitWrite> writes_;
  std::vector<Add> adds_;
  std::size_t bytes_ = 0;  // of the last write
  std::uint64_t entries_ = 0;
  std::chrono::steady_clock::time_point last_beat_ = std::chrono::steady_clock::now();
};

Result<std::uint64_t> fill_under_lock(Keyspace& keyspace, cql::Session& session, const Place& place,
                                      const Blueprint& blueprint, Store& from, Lock& lock,
                                      const std::function<void(std::uint64_t)>& progress) {
  auto tables = std::make_unique<const DesignTables>(place.keyspace, blueprint);
  NOAM_ASSIGN_OR_RETURN(const auto before, keyspace.record());
  if (before && !before->loading)
    return Error{fmt::format("keyspace {} was deployed before; load without --bulk", place.keyspace)};
  if (before && before->deployment.layout != blueprint.design.layout)
    return Error{
        fmt::format("keyspace {} was to be loaded under another design, `{}`; load with that, or into another "
                    "keyspace",
                    place.keyspace, before->deployment.design)};
  if (!before) NOAM_RETURN_IF_ERROR(keyspace.check_unused(tables->layout(), true));
  NOAM_RETURN_IF_ERROR(keyspace.run(tables->statements(), lock));
  Record record = record_of(blueprint, tables->layout(), 1, place);
  record.loading = true;
  if (!before) NOAM_RETURN_IF_ERROR(keyspace.write_record(record));
  // What an interrupted load has left.
  if (before) NOAM_RETURN_IF_ERROR(keyspace.truncate(record.tables, lock));
  Partitions partitions(session, std::move(tables), place);
  Filling filling(keyspace, partitions, lock, progress);
  for (std::uint32_t family = 0; family < blueprint.design.families.size(); ++family)
    NOAM_RETURN_IF_ERROR(filling.copy(from, family));
  NOAM_RETURN_IF_ERROR(keyspace.beat(lock));
  record.loading = false;
  NOAM_RETURN_IF_ERROR(keyspace.write_record(record));
  return filling.entries();
}

}  // namespace

Result<std::uint64_t> fill(const Place& place, const Blueprint& blueprint, Store& from,
                           const std::function<void(std::uint64_t)>& progress) {
  NOAM_ASSIGN_OR_RETURN(const std::unique_ptr<cql::Session> session, connect(place));
  Keyspace keyspace(*session, place.keyspace);
  NOAM_RETURN_IF_ERROR(keyspace.check_clock());
  NOAM_ASSIGN_OR_RETURN(const bool exists, keyspace.exists());
  if (!exists) NOAM_RETURN_IF_ERROR(keyspace.create(place.replication));
  NOAM_ASSIGN_OR_RETURN(const auto before, keyspace.record());
  if (!before) {
    const DesignTables tables(place.keyspace, blueprint);
    NOAM_RETURN_IF_ERROR(keyspace.check_unused(tables.layout(), false));
  }
  NOAM_ASSIGN_OR_RETURN(Lock lock, keyspace.lock(lock_patience, place.note));
  auto filled = fill_under_lock(keyspace, *session, place, blueprint, from, lock, progress);
  keyspace.unlock(lock);
  return filled;
}

}  // namespace noam::stores::cassandra
