#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

namespace noam::stores {

// How everybody here reads; without a snapshot, what is there now.
rocksdb::ReadOptions reading(const rocksdb::Snapshot* at);

// Walks over the keys of a family. To begin one costs as much as a third of a short one: RocksDB looks at every table
// that could have such keys, and allocates. So a walk over what is there now is kept when it has ended, and the next
// one of this thread is the same, brought up to date.
//
// A walk that is kept holds the tables it went over, and the memory that was written to. So none is kept beyond the
// moment in which others take their place.
class Walks final : public rocksdb::EventListener {
  // What RocksDB's iterator points to, and the iterator.
  struct Kept {
    std::string first;
    std::string last;
    rocksdb::Slice lower;
    rocksdb::Slice upper;
    std::unique_ptr<rocksdb::Iterator> entries;
    std::uint64_t tables = 0;  // how often they had changed when it began
  };

 public:
  // From `first` on, up to `last`. It is kept when it ends, unless it has failed.
  class Walk {
   public:
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    ~Walk();

    rocksdb::Iterator* operator->() const { return kept_->entries.get(); }

   private:
    friend Walks;
    Walk(Walks& walks, std::string first, std::string last, const rocksdb::Snapshot* at);

    Walks& walks_;
    bool of_now_;
    std::unique_ptr<Kept> kept_;
  };

  Walks() = default;
  Walks(const Walks&) = delete;
  Walks& operator=(const Walks&) = delete;
  ~Walks() override { forget(); }

  // Before the first, and while the database is open.
  void are_over(rocksdb::DB& database, rocksdb::ColumnFamilyHandle& family);
  [[nodiscard]] Walk walk(std::string first, std::string last, const rocksdb::Snapshot* at) {
    return {*this, std::move(first), std::move(last), at};
  }
  // None is kept: before the database is closed.
  void forget();
  [[nodiscard]] std::size_t kept() const;

  // By RocksDB, when there are other tables.
  void OnFlushCompleted(rocksdb::DB* database, const rocksdb::FlushJobInfo& flushed) override;
  void OnCompactionCompleted(rocksdb::DB* database, const rocksdb::CompactionJobInfo& compacted) override;
  void OnExternalFileIngested(rocksdb::DB* database, const rocksdb::ExternalFileIngestionInfo& ingested) override;

 private:
  // Threads that share a place begin more walks than they would have to.
  static constexpr std::size_t places = 16;
  static constexpr std::size_t cache_line = 64;
  struct alignas(cache_line) Place {
    std::atomic<Kept*> kept = nullptr;
  };

  Place& place_of_this_thread();
  void tables_changed();

  rocksdb::DB* database_ = nullptr;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
  std::atomic<std::uint64_t> tables_ = 0;
  std::array<Place, places> places_;
};

}  // namespace noam::stores
