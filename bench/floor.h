#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <rocksdb/db.h>

#include "bench/noam_database.h"

// What a careful programmer writes by hand on RocksDB: the pieces that the floors of all benchmarks share.
namespace noam::bench {

// A database with the options of noam's embedded store, and a merge operator that adds up 64-bit numbers.
class FloorDatabase {
 public:
  FloorDatabase(std::string folder, const StoreSettings& settings);
  ~FloorDatabase();
  FloorDatabase(const FloorDatabase&) = delete;
  FloorDatabase& operator=(const FloorDatabase&) = delete;

  rocksdb::DB* operator->() const { return database_.get(); }
  [[nodiscard]] rocksdb::DB& get() const { return *database_; }

  // Of all keys with the same number; who reads before writing holds it.
  std::mutex& latch(std::string_view key);
  // As durable as the settings ask for. Throws where it fails.
  void write(rocksdb::WriteBatch& batch);
  // False where it is not there.
  bool read(std::string_view key, rocksdb::PinnableSlice& out, const rocksdb::Snapshot* at = nullptr) const;
  // All of it in tables.
  void reopen();

 private:
  void open();

  std::string folder_;
  StoreSettings settings_;
  std::unique_ptr<rocksdb::DB> database_;
  std::array<std::mutex, 1024> latches_;
};

// Throws where the status is not ok.
void must(const rocksdb::Status& status);

// --- Bytes of values: numbers of a fixed width, texts with their length before them
// -----------------------------------

constexpr std::uint32_t absent_length = 0xFFFFFFFFU;

void append_u32(std::uint32_t number, std::string& out);
void append_i64(std::int64_t number, std::string& out);
void append_f64(double number, std::string& out);
// Throws where it is too long for its length.
void append_text(std::optional<std::string_view> text, std::string& out);

// Reads them in place, and never beyond their end.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  explicit Fields(const rocksdb::Slice& bytes) : rest_(bytes.data(), bytes.size()) {}

  std::uint32_t u32() {
    std::uint32_t number = 0;
    copy(&number, sizeof number);
    return number;
  }
  std::int64_t i64() {
    std::int64_t number = 0;
    copy(&number, sizeof number);
    return number;
  }
  double f64() {
    double number = 0;
    copy(&number, sizeof number);
    return number;
  }
  std::optional<std::string_view> text() {
    const std::uint32_t length = u32();
    if (length == absent_length) return std::nullopt;
    if (length > rest_.size()) damaged();
    const std::string_view out = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return out;
  }
  // Its length, 0 where it is absent.
  std::uint64_t text_bytes() {
    const auto found = text();
    return found ? found->size() : 0;
  }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) damaged();
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  [[noreturn]] static void damaged();
  void copy(void* out, std::size_t count) {
    if (count > rest_.size()) damaged();
    rest_.copy(static_cast<char*>(out), count);
    rest_.remove_prefix(count);
  }

  std::string_view rest_;
};

// --- Bytes of keys: they compare as what they stand for
// -----------------------------------------------------------------

void append_ordered_u32(std::uint32_t number, std::string& out);
void append_ordered_i64(std::int64_t number, std::string& out);
// The other way round: the newest first.
void append_descending_i64(std::int64_t number, std::string& out);
std::int64_t take_ordered_i64(std::string_view bytes);
std::int64_t take_descending_i64(std::string_view bytes);
// Ends with a zero byte, which texts do not have.
void append_ordered_text(std::string_view text, std::string& out);

// A counter, as the merge operator has it.
std::string counter(std::int64_t number);
std::int64_t counted(std::string_view bytes);

// The first key after all that begin with the prefix.
std::string after_all(std::string_view prefix);

// Walks all keys that begin with the prefix, in their order, those before prefix and `from` left out, until `take` says
// false. It is given what comes behind the prefix, and the value.
template <typename Take>
void walk(const FloorDatabase& database, std::string_view prefix, const rocksdb::Snapshot* at, const Take& take,
          std::string_view from = {}) {
  const std::string end = after_all(prefix);
  const rocksdb::Slice upper = end;
  rocksdb::ReadOptions options;
  options.snapshot = at;
  options.ignore_range_deletions = true;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> entries(database->NewIterator(options));
  std::string first(prefix);
  first += from;
  for (entries->Seek(first); entries->Valid(); entries->Next())
    if (!take(entries->key().ToStringView().substr(prefix.size()), entries->value().ToStringView())) return;
  must(entries->status());
}

// A snapshot that is let go.
class HeldSnapshot {
 public:
  explicit HeldSnapshot(const FloorDatabase& database) : database_(database.get()), held_(database_.GetSnapshot()) {}
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;
  ~HeldSnapshot() { database_.ReleaseSnapshot(held_); }
  [[nodiscard]] const rocksdb::Snapshot* get() const { return held_; }

 private:
  rocksdb::DB& database_;
  const rocksdb::Snapshot* held_;
};

}  // namespace noam::bench
