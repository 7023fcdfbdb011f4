#include "bench/floor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <xxhash.h>

#include "bench/harness.h"

namespace noam::bench {
namespace {

class Addition final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* out, rocksdb::Logger* /*log*/) const override {
    const std::int64_t before = existing == nullptr ? 0 : counted(existing->ToStringView());
    *out = counter(before + counted(value.ToStringView()));
    return true;
  }
  [[nodiscard]] const char* Name() const override { return "addition"; }
};

class NoDiary final : public rocksdb::Logger {
 public:
  NoDiary() : rocksdb::Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

template <typename Unsigned>
void append_big_endian(Unsigned number, std::string& out) {
  for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(number >> static_cast<unsigned>(shift));
}

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;

}  // namespace

void must(const rocksdb::Status& status) {
  if (!status.ok()) throw Failed(fmt::format("RocksDB: {}", status.ToString()));
}

FloorDatabase::FloorDatabase(std::string folder, const StoreSettings& settings)
    : folder_(std::move(folder)), settings_(settings) {
  open();
}

// As src/noam/stores/rocksdb.cpp has them, but that indexes and filters are kept outside of the cache: RocksDB's own
// way, and no slower than holding them there.
void FloorDatabase::open() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.max_background_jobs = 2;
  options.info_log = std::make_shared<NoDiary>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(settings_.cache_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.num_file_reads_for_auto_readahead = 16;
  options.write_buffer_size = settings_.buffer_bytes;
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const auto compressions = rocksdb::GetSupportedCompressions();
  const bool lz4 = std::find(compressions.begin(), compressions.end(), rocksdb::kLZ4Compression) != compressions.end();
  options.compression = lz4 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
  options.merge_operator = std::make_shared<Addition>();
  rocksdb::DB* opened = nullptr;
  must(rocksdb::DB::Open(options, folder_, &opened));
  database_.reset(opened);
}

FloorDatabase::~FloorDatabase() {
  if (database_) (void)database_->Close();
}

void FloorDatabase::reopen() {
  must(database_->Flush(rocksdb::FlushOptions()));
  must(database_->Close());
  database_.reset();
  open();
}

std::mutex& FloorDatabase::latch(std::string_view key) {
  return latches_[XXH3_64bits(key.data(), key.size()) % latches_.size()];
}

void FloorDatabase::write(rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions options;
  options.sync = settings_.sync;
  must(database_->Write(options, &batch));
}

bool FloorDatabase::read(std::string_view key, rocksdb::PinnableSlice& out, const rocksdb::Snapshot* at) const {
  out.Reset();
  rocksdb::ReadOptions options;
  options.snapshot = at;
  options.ignore_range_deletions = true;
  const rocksdb::Status status =
      database_->Get(options, database_->DefaultColumnFamily(), {key.data(), key.size()}, &out);
  if (status.IsNotFound()) return false;
  must(status);
  return true;
}

void append_u32(std::uint32_t number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void append_i64(std::int64_t number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void append_f64(double number, std::string& out) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }

void append_text(std::optional<std::string_view> text, std::string& out) {
  if (!text) return append_u32(absent_length, out);
  if (text->size() >= absent_length) throw Failed("a text is too long");
  append_u32(static_cast<std::uint32_t>(text->size()), out);
  out += *text;
}

void Fields::damaged() { throw Failed("damaged: a value ends before its fields do"); }

void append_ordered_u32(std::uint32_t number, std::string& out) { append_big_endian(number, out); }
void append_ordered_i64(std::int64_t number, std::string& out) {
  append_big_endian(static_cast<std::uint64_t>(number) ^ sign_bit, out);
}
void append_descending_i64(std::int64_t number, std::string& out) { append_ordered_i64(~number, out); }

std::int64_t take_ordered_i64(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int64_t>(number ^ sign_bit);
}
std::int64_t take_descending_i64(std::string_view bytes) { return ~take_ordered_i64(bytes); }

void append_ordered_text(std::string_view text, std::string& out) {
  out += text;
  out += '\0';
}

std::string after_all(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xFF') end.pop_back();
  if (!end.empty()) ++end.back();
  return end;
}

std::string counter(std::int64_t number) {
  std::string out;
  append_i64(number, out);
  return out;
}

std::int64_t counted(std::string_view bytes) { return Fields(bytes).i64(); }

}  // namespace noam::bench
