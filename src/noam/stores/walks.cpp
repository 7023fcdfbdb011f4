#include "noam/stores/walks.h"

#include <algorithm>
#include <utility>

namespace noam::stores {

rocksdb::ReadOptions reading(const rocksdb::Snapshot* at) {
  rocksdb::ReadOptions options;
  options.snapshot = at;
  options.ignore_range_deletions = true;  // nobody here deletes ranges
  return options;
}

Walks::Walk::Walk(Walks& walks, std::string first, std::string last, const rocksdb::Snapshot* at)
    : walks_(walks), of_now_(at == nullptr) {
  const std::uint64_t tables = walks.tables_;
  if (of_now_) kept_.reset(walks.place_of_this_thread().kept.exchange(nullptr));
  const bool again = kept_ && kept_->entries->Refresh().ok();
  if (!again) kept_ = std::make_unique<Kept>();
  kept_->tables = tables;
  // RocksDB looks at the bounds anew with every search for a key.
  kept_->first = std::move(first);
  kept_->last = std::move(last);
  kept_->lower = kept_->first;
  kept_->upper = kept_->last;
  if (again) return;
  rocksdb::ReadOptions options = reading(at);
  options.iterate_lower_bound = &kept_->lower;
  options.iterate_upper_bound = &kept_->upper;
  kept_->entries.reset(walks.database_->NewIterator(options, walks.family_));
}

Walks::Walk::~Walk() {
  if (!of_now_ || !kept_->entries->status().ok()) return;
  const std::uint64_t tables = kept_->tables;
  std::atomic<Kept*>& place = walks_.place_of_this_thread().kept;
  const std::unique_ptr<Kept> other(place.exchange(kept_.release()));
  // They may have changed since it began, and whoever forgets walks then did not see this one.
  if (walks_.tables_ != tables) const std::unique_ptr<Kept> old(place.exchange(nullptr));
}

void Walks::are_over(rocksdb::DB& database, rocksdb::ColumnFamilyHandle& family) {
  database_ = &database;
  family_ = &family;
}

void Walks::forget() {
  for (Place& place : places_) const std::unique_ptr<Kept> old(place.kept.exchange(nullptr));
}

std::size_t Walks::kept() const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.kept != nullptr; }));
}

void Walks::OnFlushCompleted(rocksdb::DB* /*database*/, const rocksdb::FlushJobInfo& /*flushed*/) { tables_changed(); }
void Walks::OnCompactionCompleted(rocksdb::DB* /*database*/, const rocksdb::CompactionJobInfo& /*compacted*/) {
  tables_changed();
}
void Walks::OnExternalFileIngested(rocksdb::DB* /*database*/, const rocksdb::ExternalFileIngestionInfo& /*ingested*/) {
  tables_changed();
}

void Walks::tables_changed() {
  ++tables_;
  forget();
}

Walks::Place& Walks::place_of_this_thread() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t number = threads++;
  return places_[number % places];
}

}  // namespace noam::stores
