#include "noam/stores/rocksdb.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/base/fair_shared_mutex.h"
#include "noam/base/file_io.h"
#include "noam/base/json.h"
#include "noam/base/kill_point.h"
#include "noam/design/layout.h"
#include "noam/model/packed.h"
#include "noam/stores/appends.h"
#include "noam/stores/chunk.h"
#include "noam/stores/counters.h"
#include "noam/stores/encoding.h"
#include "noam/stores/guarded_logs.h"
#include "noam/stores/heat.h"
#include "noam/stores/in_time.h"
#include "noam/stores/rocksdb_log.h"
#include "noam/stores/row_maker.h"
#include "noam/stores/shared_sync.h"
#include "noam/stores/walks.h"

namespace noam::stores {
namespace {

namespace fs = std::filesystem;
constexpr std::uint32_t this_format = 2;  // of the folder and all in it; docs/storage.md
constexpr const char* head_file = "noam.json";
constexpr const char* database_folder = "db";
constexpr const char* deployment_key = "deployment";
constexpr const char* heat_key = "heat";
constexpr const char* table_key = "table";

// A message of RocksDB, in one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// --- The head file: what can be told of a store before its database is opened
// -----------------------------------------

struct Head {
  std::uint32_t format = this_format;
  bool deployed = false;       // then a database without entries is a loss, not a beginning
  std::uint64_t sequence = 0;  // that the database had when it was last closed: later ones are never smaller
};

std::string sum_of(const Json& json) {
  const std::string text = json.dump();
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string print(const Head& head) {
  Json json{
      {"noam", "rocksdb store"}, {"format", head.format}, {"deployed", head.deployed}, {"sequence", head.sequence}};
  const std::string sum = sum_of(json);
  json["sum"] = sum;
  return json.dump(2) + "\n";
}

Error damaged_head(const std::string& folder) {
  return Error{fmt::format("store `{}`: {} is damaged; restore a backup", folder, head_file)};
}

Result<Head> parse_head(const std::string& folder, const std::string& text) {
  Json json = Json::read(text).value_or(Json());
  if (!json.is_object() || !json.contains("noam") || !json.contains("format") || !json["format"].is_number_unsigned())
    return damaged_head(folder);
  Head head;
  head.format = json["format"].get<std::uint32_t>();
  // What a newer one says, and how it is summed up, is not known here.
  if (head.format > this_format)
    return Error{fmt::format("store `{}` was created by a newer noam: its format is {}, this version supports {}",
                             folder, head.format, this_format)};
  if (head.format != 0 && head.format < this_format)
    return Error{
        fmt::format("store `{}` was created by an older noam: its format is {}, this version supports {}; export "
                    "it with that version, and load the files with this one",
                    folder, head.format, this_format)};
  const Json sum = json.value("sum", Json());
  json.erase("sum");
  if (!sum.is_string() || sum != sum_of(json) || head.format == 0) return damaged_head(folder);
  if (!json.value("deployed", Json()).is_boolean() || !json.value("sequence", Json()).is_number_unsigned())
    return damaged_head(folder);
  head.deployed = json["deployed"].get<bool>();
  head.sequence = json["sequence"].get<std::uint64_t>();
  return head;
}

// What is renamed or made in a folder is there after a loss of power only when the folder itself is on disk.
bool sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::fsync(file) == 0;
  ::close(file);
  return done;
}

// All of a folder and of those in it.
bool sync_files_below(const std::string& folder) {
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->is_directory(failed)) {
      if (!sync_folder(at->path().string())) return false;
      continue;
    }
    const int file = ::open(at->path().c_str(), O_RDONLY | O_CLOEXEC);
    const bool done = file >= 0 && ::fsync(file) == 0;
    if (file >= 0) ::close(file);
    if (!done) return false;
  }
  return !failed && sync_folder(folder);
}

rocksdb::Env& env_of(const RocksdbOptions& options) {
  return options.env != nullptr ? *options.env : *rocksdb::Env::Default();
}

rocksdb::Status write_file(rocksdb::Env& env, const std::string& path, const std::string& text) {
  std::unique_ptr<rocksdb::WritableFile> file;
  rocksdb::Status status = env.NewWritableFile(path, &file, rocksdb::EnvOptions());
  if (status.ok()) status = file->Append(text);
  kill_point(KillPoint::HeadBegun);
  if (status.ok()) status = file->Sync();
  if (file) {
    const rocksdb::Status closed = file->Close();
    if (status.ok()) status = closed;
  }
  return status;
}

Result<void> write_head(rocksdb::Env& env, const std::string& folder, const Head& head) {
  const std::string path = folder + "/" + head_file;
  const std::string temporary = path + ".new";
  rocksdb::Status status = write_file(env, temporary, print(head));
  kill_point(KillPoint::HeadSynced);
  if (status.ok()) status = env.RenameFile(temporary, path);
  if (!status.ok()) (void)env.DeleteFile(temporary);
  kill_point(KillPoint::HeadRenamed);
  std::unique_ptr<rocksdb::Directory> directory;
  if (status.ok()) status = env.NewDirectory(folder, &directory);
  if (status.ok()) status = directory->Fsync();
  if (status.ok()) return {};
  return Error{fmt::format("{}: cannot be written: {}", path, one_line(status.ToString()))};
}

Result<std::string> read_small_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_problem(path, "cannot be read");
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(file, buffer.data(), buffer.size())) > 0 && text.size() < std::size_t{1} << 20U)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  const bool failed = count < 0;
  if (failed) {
    Error error = file_problem(path, "cannot be read");
    ::close(file);
    return error;
  }
  ::close(file);
  return text;
}

// What of a log would pass for its end. Nothing where the log is gone: another process has the store.
Result<std::optional<HiddenDamage>> look_through_log(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<HiddenDamage> found;
  if (file < 0 && errno == ENOENT) return found;
  if (file < 0) return file_problem(path, "cannot be read");
  std::string block(log_block_bytes, '\0');
  std::size_t behind = 0;
  ssize_t count = 0;
  do {
    count = ::pread(file, block.data(), block.size(), static_cast<off_t>(behind));
    if (count <= 0) break;
    const auto bytes = static_cast<std::size_t>(count);
    found = hidden_damage(std::string_view(block).substr(0, bytes), bytes < log_block_bytes);
    if (found) found->at += behind;
    behind += bytes;
  } while (!found && behind % log_block_bytes == 0);
  Error error = file_problem(path, "cannot be read");
  ::close(file);
  if (count < 0) return error;
  return found;
}

// A new folder with what `fill` puts into it, there all at once.
template <typename Fill>
Result<void> make_folder(const std::string& folder, const Fill& fill) {
  fs::path wanted = fs::path(folder).lexically_normal();
  if (!wanted.has_filename()) wanted = wanted.parent_path();
  std::error_code failed;
  if (fs::exists(wanted, failed)) {
    if (!fs::is_directory(wanted, failed)) return Error{fmt::format("{}: already exists and is not a folder", folder)};
    const bool empty = fs::is_empty(wanted, failed);
    if (failed) return Error{fmt::format("{}: cannot be read: {}", folder, failed.message())};
    if (!empty) return Error{fmt::format("{}: already exists and is not empty", folder)};
  }
  // One that a killed process of the same number has left is in nobody's way.
  const std::string temporary = fmt::format("{}.new-{}", wanted.string(), ::getpid());
  fs::remove_all(temporary, failed);
  if (::mkdir(temporary.c_str(), 0777) != 0) return file_problem(folder, "cannot be created");
  kill_point(KillPoint::FolderBegun);
  Result<void> done = fill(temporary);
  kill_point(KillPoint::FolderFilled);
  if (done && (!sync_folder(temporary) || ::rename(temporary.c_str(), wanted.c_str()) != 0))
    done = file_problem(folder, "cannot be created");
  if (!done) {
    fs::remove_all(temporary, failed);
    return done;
  }
  kill_point(KillPoint::FolderRenamed);
  sync_folder(wanted.has_parent_path() ? wanted.parent_path().string() : ".");
  return {};
}

// --- The store -------------------------------------------------------------------------------------------------------

struct FamilyLayout {
  std::uint32_t collection = 0;  // of the design
  std::uint16_t number = 0;      // in its collection, on disk
  std::size_t width = 0;
  std::vector<bool> descending;
};

// The design in use, and the numbers that its parts have on disk.
struct Layout {
  std::vector<std::uint16_t> collections;
  std::vector<FamilyLayout> families;
};

constexpr std::size_t usual_key_bytes = 64;
constexpr std::size_t usual_batch_bytes = 1'024;
constexpr char end_of_block_key = '\x01';
constexpr char beyond = '\xFF';  // after everything that goes on with a datum

void append_key(const Key& key, const std::vector<bool>& descending, std::string& out) {
  for (std::size_t i = 0; i < key.size(); ++i) append_ordered(key[i], i < descending.size() && descending[i], out);
}

bool take_key(std::string_view bytes, const std::vector<bool>& descending, Key& out) {
  out.reserve(descending.size());
  while (!bytes.empty()) {
    out.emplace_back();
    if (!take_ordered(bytes, out.size() <= descending.size() && descending[out.size() - 1], out.back())) return false;
  }
  return true;
}

std::int64_t system_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// RocksDB keeps a diary beside the data, and where the disk is full it may stop the program because of that alone. What
// is in it that matters comes as an error, too.
class NoDiary final : public rocksdb::Logger {
 public:
  NoDiary() : rocksdb::Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// Bytes that RocksDB holds for us, in its cache where they lie there. They may outlive the store.
class PinnedBytes final : public model::Shared {
 public:
  explicit PinnedBytes(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes() override { slice.Reset(); }

  rocksdb::PinnableSlice slice;

 private:
  const std::shared_ptr<rocksdb::Cache> cache_;  // goes after the slice has let go of it
};

// Holds something shared as long as it is there.
template <typename Held>
class Hold {
 public:
  explicit Hold(Held* made = nullptr) : held_(made) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  Hold(Hold&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Hold& operator=(Hold&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Hold() {
    if (held_ != nullptr) held_->let_go();
  }
  Held* operator->() const { return held_; }
  Held* get() const { return held_; }

 private:
  Held* held_;
};

// The next entry of a block lies right behind this one, and is on its way while this one is taken.
void fetch_behind(std::string_view value) {
  constexpr std::size_t line = 64;
  constexpr std::size_t lines = 8;
  for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(value.data() + value.size() + i * line);
}

// Values that an iterator goes past, kept for who reads them.
class Keeper {
 public:
  bool read(std::string_view value, Key& columns) {
    fetch_behind(value);
    char* to = chunks_.room(value.size());
    std::memcpy(to, value.data(), value.size());
    return read_values({to, value.size()}, columns, &chunks_.chunk());
  }

 private:
  Chunks chunks_;
};

// The first columns of entries that an iterator goes past, as one list.
class Gathering {
 public:
  bool take(std::string_view value) {
    fetch_behind(value);
    if (count_++ == 0) packed_.reserve(usual_bytes);
    return read_first_value(value, packed_);
  }
  void end(Answer& out) { out.entries.push_back({{}, {model::packed_list(std::move(packed_), count_)}}); }

 private:
  static constexpr std::size_t usual_bytes = std::size_t{1} << 14U;

  std::string packed_;
  std::size_t count_ = 0;
};

class RocksdbSnapshot final : public Snapshot {
 public:
  explicit RocksdbSnapshot(rocksdb::DB& database) : database_(database), held_(database.GetSnapshot()) {}
  RocksdbSnapshot(const RocksdbSnapshot&) = delete;
  RocksdbSnapshot& operator=(const RocksdbSnapshot&) = delete;
  ~RocksdbSnapshot() override { database_.ReleaseSnapshot(held_); }

  [[nodiscard]] bool of(const rocksdb::DB& database) const { return &database_ == &database; }
  [[nodiscard]] const rocksdb::Snapshot* held() const { return held_; }

 private:
  rocksdb::DB& database_;
  const rocksdb::Snapshot* held_;
};

// What a batch does, in the order of keys. The bytes are those of the batch.
class SortedBatch final : public rocksdb::WriteBatch::Handler {
 public:
  enum class Part : std::uint8_t { All, Between, Ends };

  // Whether each key is there once, there is something between the ends, and all of it can be written to tables.
  bool read(const rocksdb::WriteBatch& batch) {
    rows_.reserve(batch.Count());
    if (!batch.Iterate(this).ok() || rows_.size() < 3) return false;
    const auto before = [](const Row& a, const Row& b) { return a.key.compare(b.key) < 0; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), before)) std::sort(rows_.begin(), rows_.end(), before);
    return std::adjacent_find(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.key == b.key; }) ==
           rows_.end();
  }

  rocksdb::Status write(rocksdb::SstFileWriter& table, Part part) const {
    for (const Row& row : rows_) {
      const bool is_end = &row == &rows_.front() || &row == &rows_.back();
      if (part != Part::All && is_end != (part == Part::Ends)) continue;
      rocksdb::Status status = row.kind == Kind::Put     ? table.Put(row.key, row.value)
                               : row.kind == Kind::Merge ? table.Merge(row.key, row.value)
                                                         : table.Delete(row.key);
      if (!status.ok()) return status;
    }
    return table.Finish();
  }

  rocksdb::Status PutCF(std::uint32_t /*family*/, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return add(Kind::Put, key, value);
  }
  rocksdb::Status MergeCF(std::uint32_t /*family*/, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return add(Kind::Merge, key, value);
  }
  rocksdb::Status DeleteCF(std::uint32_t /*family*/, const rocksdb::Slice& key) override {
    return add(Kind::Delete, key, {});
  }

 private:
  enum class Kind : std::uint8_t { Put, Merge, Delete };
  struct Row {
    Kind kind;
    rocksdb::Slice key;
    rocksdb::Slice value;
  };

  rocksdb::Status add(Kind kind, const rocksdb::Slice& key, const rocksdb::Slice& value) {
    rows_.push_back({kind, key, value});
    return rocksdb::Status::OK();
  }

  std::vector<Row> rows_;
};

// A table beside the database. Its file goes with it.
class TableFile {
 public:
  TableFile(rocksdb::Env& env, std::string path) : env_(env), path_(std::move(path)) {}
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  ~TableFile() { (void)env_.DeleteFile(path_); }

  // In the folder of a store, of this process.
  static std::string name(std::uint64_t number) { return fmt::format("table-{}.new", number); }
  static bool is_name(std::string_view name) { return name.starts_with("table-") && name.ends_with(".new"); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  rocksdb::Env& env_;
  const std::string path_;
};

class RocksdbStore final : public EmbeddedStore {
 public:
  RocksdbStore(std::string folder, const RocksdbOptions& options, const Head& head);
  RocksdbStore(const RocksdbStore&) = delete;
  RocksdbStore& operator=(const RocksdbStore&) = delete;
  ~RocksdbStore() override;

  Result<void> open();

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Result<void> deploy(const Blueprint& blueprint) override;
  [[nodiscard]] std::optional<Deployment> deployment() const override;
  std::unique_ptr<Snapshot> snapshot(Use /*use*/) override { return std::make_unique<RocksdbSnapshot>(*database_); }
  Result<void> read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) override;
  Result<Committed> commit(const WriteBatch& batch, Deadline by) override;
  Result<ScanPage> scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) override;

  Result<void> back_up(const std::string& folder) override;
  Result<void> sync() override;
  Result<void> check_files() override;
  [[nodiscard]] std::uint64_t bytes_on_disk() const override;
  [[nodiscard]] std::vector<HotBlock> hottest(std::size_t most) const override { return heat_.hottest(most); }

 private:
  // Blocks share counters of when they were last touched, so that absent ones have one too: a block may seem touched
  // because another was, never the other way round. So do entries. Several counters of blocks share a latch.
  static constexpr std::size_t stripes = 1U << 16U;
  static constexpr std::size_t entry_stripes = 1U << 17U;
  static constexpr std::size_t latches = 1U << 10U;
  // A commit that needs more than these takes all at once: that is one lock, where a fan-out would need hundreds.
  static constexpr std::size_t most_latches = 24;
  static constexpr std::size_t many_latches = 8 * most_latches;  // are looked at: perhaps they are the same

  using Moment = rocksdb::SequenceNumber;

  // What a commit writes, relies on and has to hold.
  struct Preparation {
    rocksdb::WriteBatch changes{usual_batch_bytes};            // so that it seldom grows
    std::vector<std::pair<std::string, std::string>> settled;  // Adds that become values: their keys and operands
    bool too_large = false;                                    // one of them
    std::string guard;                                         // its key; empty: the commit has none
    std::vector<std::size_t> written;                          // stripes of the blocks of the changes
    std::vector<std::size_t> written_entries;                  // and of their entries
    std::vector<std::uint32_t> collections;                    // of the changes, each once
    std::vector<std::size_t> expected;               // stripes of the expectations, but for those of a whole collection
    std::vector<std::size_t> latches;                // of all these stripes, each once, ascending
    bool alone = false;                              // instead of the latches: the gate
    std::vector<std::unique_ptr<TableFile>> tables;  // with all changes, where they are many
  };

  // The latches of a commit, as long as it lives.
  class Latched {
   public:
    Latched(RocksdbStore& store, const Preparation& of);
    Latched(const Latched&) = delete;
    Latched& operator=(const Latched&) = delete;
    ~Latched();

   private:
    RocksdbStore& store_;
    const Preparation& of_;
  };

  [[nodiscard]] Error trouble(const rocksdb::Status& status, const char* what) const;
  // From now on nothing is written: what a failed write has left on disk is known only when the store is opened again.
  Error fail(const rocksdb::Status& status);
  [[nodiscard]] Result<void> can_write() const;
  // All that was written before is on disk.
  Result<void> wait_for_sync();
  [[nodiscard]] Error unreadable(std::uint32_t family, std::string_view value = {}) const;
  [[nodiscard]] Error opening_trouble(const rocksdb::Status& status) const;
  // That RocksDB will not take a damaged log for one that ends early.
  Result<void> check_logs() const;
  Result<void> read_deployment();
  Result<void> write_deployment(const design::Design& design);
  [[nodiscard]] Result<Layout> number(const design::Design& design, const std::string& stored) const;
  Result<bool> is_empty();

  [[nodiscard]] Result<void> knows(const BlockRef& block, std::uint32_t family) const;
  [[nodiscard]] const rocksdb::Snapshot* held(const Snapshot* at) const;
  // The collection, the block's key, and its end: what all keys of the block begin with.
  void append_block_prefix(std::uint32_t collection, const Key& block, std::string& out) const;
  [[nodiscard]] std::string family_prefix(const BlockRef& block, std::uint32_t family) const;
  [[nodiscard]] static std::size_t stripe_of(std::string_view block_prefix) {
    return XXH3_64bits(block_prefix.data(), block_prefix.size()) % stripes;
  }
  [[nodiscard]] static std::size_t entry_stripe_of(std::string_view key) {
    return XXH3_64bits(key.data(), key.size()) % entry_stripes;
  }
  Result<void> answer(const ReadRequest& request, const rocksdb::Snapshot* at, Answer& out);
  // Whether the only entry of a family lies right before all entries of another one: then one walk finds both.
  [[nodiscard]] bool lie_together(const ReadRequest& one, const ReadRequest& many) const;
  Result<void> answer_both(const ReadRequest& one, const ReadRequest& many, const rocksdb::Snapshot* at,
                           Answer& out_one, Answer& out_many);
  Result<void> get(const rocksdb::ReadOptions& options, const std::string& key, const Key& entry_key,
                   const ReadRequest& request, Answer& out);
  [[nodiscard]] Result<Preparation> prepare(const WriteBatch& batch) const;
  // Whether nothing that it relies on has changed.
  [[nodiscard]] bool holds(const WriteBatch& batch, const Preparation& prepared) const;
  // What was prepared has changed just now.
  void touch(const Preparation& prepared);
  // Where that can't be, all is as if it had not been tried.
  void write_tables(Preparation& prepared);
  Result<Committed> take_tables(const Preparation& prepared);
  // Tables that a process which was killed was about to add.
  void remove_tables();
  // The columns of a guard that is there.
  Result<std::optional<Key>> kept_under(const Guard& guard, const std::string& key);
  // To the log and to memory, or as tables, in one step that all others see, or a conflict.
  Result<Committed> write(const WriteBatch& batch, Preparation& prepared);

  const std::string folder_;
  const RocksdbOptions options_;
  Head head_;
  Capabilities capabilities_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<GuardedLogs> logs_;
  std::unique_ptr<rocksdb::Env> env_;  // with these logs
  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::ColumnFamilyHandle* about_ = nullptr;  // of the store itself
  rocksdb::ColumnFamilyHandle* data_ = nullptr;
  const std::shared_ptr<Walks> walks_ = std::make_shared<Walks>();  // over data_

  mutable FairSharedMutex mutex_;  // the two that follow change while nobody else is here
  std::optional<Deployment> deployment_;
  Layout layout_;
  std::vector<std::atomic<Moment>> collections_touched_;

  std::uint64_t heat_read_ = 0;  // accesses, when it was opened
  Heat heat_;                    // over all processes that had the store
  std::atomic<bool> failed_ = false;
  mutable std::mutex failure_lock_;
  rocksdb::Status failure_;
  SharedSync shared_sync_;
  std::atomic<std::uint64_t> tables_ = 0;  // that were begun

  // A commit shares the gate and holds the latches of its blocks. One that relies on a whole collection, or has very
  // many blocks, has the gate alone.
  FairSharedMutex gate_;
  std::vector<std::mutex> latches_;
  std::vector<std::atomic<Moment>> touched_;          // by stripe of the block, and
  std::vector<std::atomic<Moment>> entries_touched_;  // by that of the entry
};

RocksdbStore::RocksdbStore(std::string folder, const RocksdbOptions& options, const Head& head)
    : folder_(std::move(folder)),
      options_(options),
      head_(head),
      latches_(latches),
      touched_(stripes),
      entries_touched_(entry_stripes) {
  capabilities_.durable = true;
  capabilities_.max_entry_bytes = options.max_entry_bytes;
  capabilities_.spreads_own = options.spreads_own;
}

Error RocksdbStore::trouble(const rocksdb::Status& status, const char* what) const {
  return Error{fmt::format("store `{}`: {}: {}", folder_, what, one_line(status.ToString()))};
}

constexpr const char* not_written = "cannot be written; fix the cause and open the store again";

Error RocksdbStore::fail(const rocksdb::Status& status) {
  const std::lock_guard lock(failure_lock_);
  if (failure_.ok()) failure_ = status;
  failed_ = true;
  return trouble(status, not_written);
}

Result<void> RocksdbStore::can_write() const {
  if (!failed_) return {};
  const std::lock_guard lock(failure_lock_);
  return trouble(failure_, not_written);
}

Error RocksdbStore::unreadable(std::uint32_t family, std::string_view value) const {
  if (const auto damage = damage_of(value))
    return Error{fmt::format("store `{}`: damaged: an entry of family {}: {}", folder_, family, *damage)};
  return Error{fmt::format("store `{}`: damaged: an entry of family {} cannot be read", folder_, family)};
}

Error RocksdbStore::opening_trouble(const rocksdb::Status& status) const {
  const bool of_lock = status.IsIOError() && status.ToString().find("/LOCK:") != std::string::npos;
  if (!of_lock) return trouble(status, "cannot be opened");
  // Who has it, where the system tells.
  std::string who = "another process";
  const int file = ::open((folder_ + "/" + database_folder + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) who = fmt::format("process {}", lock.l_pid);
    ::close(file);
  } else if (errno == EACCES || errno == EROFS || errno == EPERM) {
    return trouble(status, "cannot be opened");
  }
  return Error{fmt::format("store `{}` is in use by {}; only one process at a time can use a store", folder_, who)};
}

Result<void> RocksdbStore::check_logs() const {
  std::error_code failed;
  fs::directory_iterator at(folder_ + "/" + database_folder, failed);
  if (failed) return {};  // there is none yet, or it is told when it is opened
  for (; at != fs::directory_iterator(); at.increment(failed)) {
    const fs::path& path = at->path();
    if (path.extension() != ".log" && !path.filename().string().starts_with("MANIFEST-")) continue;
    NOAM_ASSIGN_OR_RETURN(const auto damage, look_through_log(path.string()));
    if (damage)
      return Error{
          fmt::format("store `{}`: damaged: the record of {}/{} at byte {} has a wrong {}, and RocksDB would drop "
                      "everything after it; "
                      "restore a backup",
                      folder_, database_folder, path.filename().string(), damage->at,
                      damage->of == HiddenDamage::Of::Length ? "length" : "type")};
  }
  return {};
}

Result<void> RocksdbStore::open() {
  NOAM_RETURN_IF_ERROR(check_logs());
  rocksdb::Options options;
  logs_ = std::make_shared<GuardedLogs>(env_of(options_).GetFileSystem());
  env_ = rocksdb::NewCompositeEnv(logs_);
  options.env = env_.get();
  options.create_if_missing = !head_.deployed;
  options.create_missing_column_families = !head_.deployed;
  options.paranoid_checks = true;
  // Only the last record of a log may be incomplete: what was cut off was never told to be applied.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.max_background_jobs = 2;
  options.info_log = std::make_shared<NoDiary>();
  options.manifest_preallocation_size = std::size_t{64} << 10U;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.listeners.push_back(walks_);

  // Of what is only about the store little is written, and that would keep every log since then.
  options.max_total_wal_size = 2 * options_.buffer_bytes;

  // All that grows with the data is in the cache, so that its size is what the store takes.
  rocksdb::BlockBasedTableOptions table;
  cache_ = rocksdb::NewLRUCache(options_.cache_bytes);
  table.block_cache = cache_;
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(0, table.block_cache);
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  // They are asked for in each Get: not to be searched for in the cache each time.
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  // RocksDB asks the system to read ahead from the third block on, whether they lie in the cache or not.
  table.num_file_reads_for_auto_readahead = 16;
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = options_.buffer_bytes;
  family.memtable_whole_key_filtering = true;
  family.memtable_prefix_bloom_size_ratio = 0.02;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const auto compressions = rocksdb::GetSupportedCompressions();
  const bool lz4 = std::find(compressions.begin(), compressions.end(), rocksdb::kLZ4Compression) != compressions.end();
  family.compression = lz4 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;

  rocksdb::ColumnFamilyOptions data = family;
  data.merge_operator = counter_merging();
  data.compaction_filter_factory = counter_clearing();

  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(options, folder_ + "/" + database_folder,
                        {{rocksdb::kDefaultColumnFamilyName, family}, {"data", data}}, &handles, &opened);
  if (!status.ok()) return opening_trouble(status);
  database_.reset(opened);
  about_ = handles[0];
  data_ = handles[1];
  walks_->are_over(*database_, *data_);
  if (database_->GetLatestSequenceNumber() < head_.sequence)
    return Error{
        fmt::format("store `{}`: damaged: it ends at change {}, but had {} when it was last closed; restore a "
                    "backup",
                    folder_, database_->GetLatestSequenceNumber(), head_.sequence)};
  remove_tables();
  return read_deployment();
}

// A list of the folder that can't be had is no trouble: they are in nobody's way.
void RocksdbStore::remove_tables() {
  std::vector<std::string> names;
  if (!env_->GetChildren(folder_, &names).ok()) return;
  for (const std::string& name : names)
    if (TableFile::is_name(name)) (void)env_->DeleteFile(folder_ + "/" + name);
}

RocksdbStore::~RocksdbStore() {
  if (!database_) return;
  // What lies in tables has checksums for every block; of a log the last record could be lost without notice.
  const std::vector<rocksdb::ColumnFamilyHandle*> all{about_, data_};
  // Where a write has failed nothing more is written: what was acknowledged is in the log.
  const bool failed = failed_ || logs_->failed();
  if (!failed && (database_->GetLatestSequenceNumber() != head_.sequence || heat_.accesses() > heat_read_))
    (void)database_->Put(rocksdb::WriteOptions(), about_, heat_key, heat_.to_bytes());
  const bool flushed = !failed && !logs_->failed() && database_->Flush(rocksdb::FlushOptions(), all).ok();
  const Moment sequence = database_->GetLatestSequenceNumber();
  kill_point(KillPoint::CloseFlushed);
  walks_->forget();
  for (rocksdb::ColumnFamilyHandle* handle : all) database_->DestroyColumnFamilyHandle(handle);
  const bool closed = database_->Close().ok();
  database_.reset();
  if (!flushed || !closed || sequence == head_.sequence) return;
  // Where it can't be written, the old one is as right as it was.
  head_.sequence = sequence;
  kill_point(KillPoint::CloseClosed);
  (void)write_head(env_of(options_), folder_, head_);
}

Result<void> RocksdbStore::read_deployment() {
  std::string text;
  const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), about_, deployment_key, &text);
  if (status.IsNotFound()) {
    if (!head_.deployed) return {};
    return Error{fmt::format("store `{}`: damaged: its design is missing; restore a backup", folder_)};
  }
  if (!status.ok()) return trouble(status, "cannot be read");
  const Json json = Json::read(text).value_or(Json());
  if (!json.is_object() || !json.contains("layout") || !json["layout"].is_object())
    return Error{fmt::format("store `{}`: damaged: its design cannot be read; restore a backup", folder_)};
  deployment_ = Deployment{json.value("design", ""), json["layout"].dump(), json.value("version", 1U),
                           json.value("at", std::int64_t{0})};
  // What can't be read of it is no loss.
  std::string heat;
  if (database_->Get(rocksdb::ReadOptions(), about_, heat_key, &heat).ok()) (void)heat_.merge_bytes(heat);
  heat_read_ = heat_.accesses();
  return {};
}

Result<void> RocksdbStore::write_deployment(const design::Design& design) {
  const Deployment made{design.name, design.layout, deployment_ ? deployment_->version + 1 : 1, system_milliseconds()};
  const Json json{
      {"design", made.design}, {"version", made.version}, {"at", made.at}, {"layout", Json::parse(design.layout)}};
  rocksdb::WriteOptions durable;
  durable.sync = true;
  NOAM_RETURN_IF_ERROR(can_write());
  const rocksdb::Status status = database_->Put(durable, about_, deployment_key, json.dump());
  if (!status.ok()) return fail(status);
  deployment_ = made;
  if (head_.deployed) return {};
  head_.deployed = true;
  kill_point(KillPoint::DeploymentWritten);
  return write_head(env_of(options_), folder_, head_);
}

Result<bool> RocksdbStore::is_empty() {
  const std::unique_ptr<rocksdb::Iterator> entries(database_->NewIterator(rocksdb::ReadOptions(), data_));
  entries->SeekToFirst();
  while (entries->Valid() && is_gone(entries->value().ToStringView())) entries->Next();
  if (!entries->status().ok()) return trouble(entries->status(), "cannot be read");
  return !entries->Valid();
}

// The numbers are places in the stored layout, so that a model whose declarations moved still fits.
Result<Layout> RocksdbStore::number(const design::Design& design, const std::string& stored) const {
  const std::vector<design::LaidOut> there = design::laid_out(stored);
  const std::vector<design::LaidOut> wanted = design::laid_out(design.layout);
  check(wanted.size() == design.collections.size(), "a layout has the collections of its design");
  Layout out;
  out.collections.resize(wanted.size());
  out.families.resize(design.families.size());
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    const auto at = std::find_if(there.begin(), there.end(),
                                 [&](const design::LaidOut& one) { return one.name == wanted[c].name; });
    check(at != there.end(), "a layout that is the same has the same collections");
    out.collections[c] = static_cast<std::uint16_t>(at - there.begin());
    std::set<std::size_t> taken;  // of several that are alike each is one
    for (std::size_t f = 0; f < wanted[c].families.size(); ++f) {
      std::size_t place = 0;
      while (place < at->families.size() && (at->families[place] != wanted[c].families[f] || taken.contains(place)))
        ++place;
      check(place < at->families.size(), "a layout that is the same has the same families");
      taken.insert(place);
      const std::uint32_t index = design.collections[c].families[f];
      const design::Family& family = design.families[index];
      FamilyLayout& layout = out.families[index];
      layout.collection = static_cast<std::uint32_t>(c);
      layout.number = static_cast<std::uint16_t>(place);
      layout.width = family.width();
      for (const model::Part& part : family.key) layout.descending.push_back(part.descending);
    }
  }
  return out;
}

Result<void> RocksdbStore::deploy(const Blueprint& blueprint) {
  const design::Design& design = blueprint.design;
  const std::unique_lock lock(mutex_);
  bool fresh = !deployment_;
  if (deployment_) {
    const auto differences = design::layout_differences(deployment_->layout, design.layout);
    if (!differences.empty()) {
      NOAM_ASSIGN_OR_RETURN(const bool empty, is_empty());
      if (!empty) return other_design(*deployment_, differences);
      fresh = true;
    }
  }
  constexpr std::size_t most = 0xFFFF;
  if (design.collections.size() > most || design.families.size() > most)
    return Error{fmt::format("a design has at most {} collections and families", most)};
  if (fresh) NOAM_RETURN_IF_ERROR(write_deployment(design));
  NOAM_ASSIGN_OR_RETURN(layout_, number(design, deployment_->layout));
  if (!fresh && collections_touched_.size() == design.collections.size()) return {};
  if (fresh) heat_.clear();
  // What was read under another design is not what is there now.
  const Moment now = database_->GetLatestSequenceNumber();
  if (fresh) {
    for (auto& touched : touched_) touched = now;
    for (auto& touched : entries_touched_) touched = now;
  }
  collections_touched_ = std::vector<std::atomic<Moment>>(design.collections.size());
  for (auto& touched : collections_touched_) touched = now;
  return {};
}

std::optional<Deployment> RocksdbStore::deployment() const {
  const std::shared_lock lock(mutex_);
  return deployment_;
}

Result<void> RocksdbStore::knows(const BlockRef& block, std::uint32_t family) const {
  if (layout_.families.empty()) return Error{"no design was deployed to the store"};
  if (family >= layout_.families.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  if (layout_.families[family].collection != block.collection)
    return Error{fmt::format("family {} of the store's design is not in collection {}", family, block.collection)};
  return {};
}

const rocksdb::Snapshot* RocksdbStore::held(const Snapshot* at) const {
  if (at == nullptr) return nullptr;
  const auto* snapshot = dynamic_cast<const RocksdbSnapshot*>(at);
  check(snapshot != nullptr && snapshot->of(*database_), "a snapshot is used on the store that made it");
  return snapshot->held();
}

void RocksdbStore::append_block_prefix(std::uint32_t collection, const Key& block, std::string& out) const {
  append_fixed16(layout_.collections[collection], out);
  append_key(block, {}, out);
  out += end_of_block_key;
}

std::string RocksdbStore::family_prefix(const BlockRef& block, std::uint32_t family) const {
  std::string out;
  out.reserve(usual_key_bytes);
  append_block_prefix(block.collection, block.key, out);
  append_fixed16(layout_.families[family].number, out);
  return out;
}

Result<void> RocksdbStore::get(const rocksdb::ReadOptions& options, const std::string& key, const Key& entry_key,
                               const ReadRequest& request, Answer& out) {
  const Hold<PinnedBytes> pinned(new PinnedBytes(cache_));
  const rocksdb::Status status = database_->Get(options, data_, key, &pinned->slice);
  if (status.IsNotFound()) return {};
  if (!status.ok()) return trouble(status, "cannot be read");
  const std::string_view value = pinned->slice.ToStringView();
  if (is_gone(value)) return {};
  Entry entry{entry_key, {}};
  if (!read_values(value, entry.columns, pinned.get())) return unreadable(request.family, value);
  out.entries.push_back(std::move(entry));
  if (request.shown != nullptr) show(request, out);
  return {};
}

Result<void> RocksdbStore::answer(const ReadRequest& request, const rocksdb::Snapshot* at, Answer& out) {
  const FamilyLayout& layout = layout_.families[request.family];
  const rocksdb::ReadOptions options = reading(at);
  const std::string prefix = family_prefix(request.block, request.family);
  // One entry, by its whole key.
  if (layout.descending.empty() && request.from.parts.empty() && request.to.parts.empty())
    return get(options, prefix, {}, request, out);
  if (request.from == request.to && request.from.inclusive && request.from.parts.size() == layout.descending.size()) {
    std::string key = prefix;
    append_key(request.from.parts, layout.descending, key);
    return get(options, key, request.from.parts, request, out);
  }

  const auto end = [&](const Bound& bound, bool last) {
    std::string key = prefix;
    append_key(bound.parts, layout.descending, key);
    const bool whole = bound.parts.empty();
    if (last ? whole || bound.inclusive : !whole && !bound.inclusive) key += beyond;
    return key;
  };
  std::string first = end(request.from, false);
  std::string last = end(request.to, true);
  if (first >= last) return {};
  const Walks::Walk entries = walks_->walk(std::move(first), std::move(last), at);
  if (request.reverse)
    entries->SeekToLast();
  else
    entries->SeekToFirst();
  Keeper keeper;
  std::optional<RowMaker> rows;
  if (request.shown != nullptr) {
    rows.emplace(*request.shown, request.block.key, layout.descending);
    out.rows.reserve(std::min<std::size_t>(request.limit, 1'024));
  }
  for (; entries->Valid(); request.reverse ? entries->Prev() : entries->Next()) {
    const std::string_view value = entries->value().ToStringView();
    if (is_gone(value)) continue;
    if (request.limit != 0 && (rows ? out.rows.size() : out.entries.size()) == request.limit) {
      out.more = true;
      break;
    }
    const std::string_view key = entries->key().ToStringView();
    if (key.size() < prefix.size()) return unreadable(request.family, value);
    const std::string_view entry_key = key.substr(prefix.size());
    if (rows) {
      fetch_behind(value);
      if (!rows->make(entry_key, value, out.rows.emplace_back())) return unreadable(request.family, value);
      if (out.rows.size() != request.limit) continue;
    }
    Entry entry;
    if (!take_key(entry_key, layout.descending, entry.key) || !keeper.read(value, entry.columns))
      return unreadable(request.family, value);
    out.entries.push_back(std::move(entry));
  }
  if (!entries->status().ok()) return trouble(entries->status(), "cannot be read");
  return {};
}

bool RocksdbStore::lie_together(const ReadRequest& one, const ReadRequest& many) const {
  const FamilyLayout& first = layout_.families[one.family];
  const FamilyLayout& second = layout_.families[many.family];
  const auto is_whole = [](const ReadRequest& request) {
    return request.from.parts.empty() && request.to.parts.empty() && !request.reverse && request.limit == 0 &&
           request.shown == nullptr;
  };
  return first.descending.empty() && !second.descending.empty() && second.number == first.number + 1 && is_whole(one) &&
         is_whole(many);
}

Result<void> RocksdbStore::answer_both(const ReadRequest& one, const ReadRequest& many, const rocksdb::Snapshot* at,
                                       Answer& out_one, Answer& out_many) {
  const std::string first = family_prefix(one.block, one.family);
  const std::string second = family_prefix(many.block, many.family);
  const Walks::Walk entries = walks_->walk(first, second + beyond, at);
  Keeper keeper;
  Gathering gathering;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view value = entries->value().ToStringView();
    if (is_gone(value)) continue;
    const std::string_view key = entries->key().ToStringView();
    const bool of_many = key.starts_with(second);
    if (of_many && many.gathered) {
      if (!gathering.take(value)) return unreadable(many.family, value);
      continue;
    }
    Entry entry;
    if ((of_many && !take_key(key.substr(second.size()), layout_.families[many.family].descending, entry.key)) ||
        (!of_many && key != first) || !keeper.read(value, entry.columns))
      return unreadable(of_many ? many.family : one.family, value);
    (of_many ? out_many : out_one).entries.push_back(std::move(entry));
  }
  if (!entries->status().ok()) return trouble(entries->status(), "cannot be read");
  if (one.gathered) gather(out_one);
  if (many.gathered) gathering.end(out_many);
  return {};
}

Result<void> RocksdbStore::read(std::span<const ReadRequest> requests, const Snapshot* at, Deadline by, Answers& out) {
  out.clear();
  NOAM_RETURN_IF_ERROR(in_time(by));
  const std::shared_lock lock(mutex_);
  for (const ReadRequest& request : requests) NOAM_RETURN_IF_ERROR(knows(request.block, request.family));
  const rocksdb::Snapshot* moment = held(at);
  out.resize(requests.size());
  for (std::size_t i = 0; i < requests.size();) {
    heat_.touch(requests[i].block, Access::Read);
    std::size_t end = i + 1;  // of those of this block
    while (end < requests.size() && requests[end].block == requests[i].block) ++end;
    // Without a snapshot, that of the last change before: what is read may be newer, and then counts as changed.
    const Moment version = moment != nullptr ? moment->GetSequenceNumber() : database_->GetLatestSequenceNumber();
    for (std::size_t at_block = i; at_block < end; ++at_block) out[at_block].version.number = version;
    if (end == i + 2 && lie_together(requests[i], requests[i + 1])) {
      NOAM_RETURN_IF_ERROR(answer_both(requests[i], requests[i + 1], moment, out[i], out[i + 1]));
    } else {
      std::optional<RocksdbSnapshot> own;
      if (moment == nullptr && end > i + 1) own.emplace(*database_);
      for (std::size_t at_block = i; at_block < end; ++at_block) {
        NOAM_RETURN_IF_ERROR(answer(requests[at_block], own ? own->held() : moment, out[at_block]));
        if (requests[at_block].gathered) gather(out[at_block]);
      }
    }
    i = end;
  }
  return {};
}

// Of so many Adds to a counter one makes a value of all before it, so that no reader has to go through many more.
constexpr std::uint32_t adds_to_a_value = 32;

// By chance: those that have their turn must not always be the same.
bool one_in_many() {
  thread_local std::minstd_rand random(
      static_cast<std::uint32_t>(std::hash<std::thread::id>()(std::this_thread::get_id())));
  return random() % adds_to_a_value == 0;
}

Result<RocksdbStore::Preparation> RocksdbStore::prepare(const WriteBatch& batch) const {
  Preparation out;
  out.written.reserve(batch.changes.size());
  out.written_entries.reserve(batch.changes.size());
  out.latches.reserve(std::min(batch.changes.size() + batch.expects.size(), many_latches));
  const auto each_once = [](auto& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  };
  // The counters are looked at when the latches are held, and mostly lie far from this processor: they are on their way
  // meanwhile.
  const auto latch = [&](std::size_t stripe) {
    __builtin_prefetch(&touched_[stripe], 1);
    if (out.alone) return;
    __builtin_prefetch(&latches_[stripe % latches], 1);
    out.latches.push_back(stripe % latches);
    if (out.latches.size() < many_latches) return;
    each_once(out.latches);
    out.alone = out.latches.size() > most_latches;
  };
  std::string key;
  std::string value;
  // A place that the commit writes, or may.
  const auto take_place = [&](const EntryRef& entry) -> Result<void> {
    NOAM_RETURN_IF_ERROR(knows(entry.block, entry.family));
    const FamilyLayout& family = layout_.families[entry.family];
    key.clear();
    append_block_prefix(entry.block.collection, entry.block.key, key);
    out.written.push_back(stripe_of(key));
    latch(out.written.back());
    if (out.collections.empty() || out.collections.back() != entry.block.collection)
      out.collections.push_back(entry.block.collection);
    append_fixed16(family.number, key);
    append_key(entry.key, family.descending, key);
    out.written_entries.push_back(entry_stripe_of(key));
    __builtin_prefetch(&entries_touched_[out.written_entries.back()], 1);
    return {};
  };
  const auto put = [&](const EntryRef& entry, const Key& columns) {
    value.clear();
    append_values(columns, value);
    const std::size_t most = options_.max_entry_bytes;
    // Nothing counts for more than eight times the bytes it takes here.
    const bool near = most != 0 && (key.size() + value.size()) * 8 > most;
    if (near && entry_bytes(entry.key, columns) > most) out.too_large = true;
    out.changes.Put(data_, key, value);
  };
  for (const Change& change : batch.changes) {
    const EntryRef& entry = entry_of(change);
    NOAM_RETURN_IF_ERROR(take_place(entry));
    const FamilyLayout& family = layout_.families[entry.family];
    if (const auto* whole = std::get_if<Put>(&change)) {
      put(entry, whole->columns);
    } else if (const auto* add = std::get_if<Add>(&change)) {
      if (one_in_many())
        out.settled.emplace_back(key, write_addends(*add, family.width));
      else
        out.changes.Merge(data_, key, write_addends(*add, family.width));
    } else if (const auto* append = std::get_if<Append>(&change)) {
      out.changes.Merge(data_, key, write_elements(*append));
    } else {
      out.changes.Delete(data_, key);
    }
  }
  if (batch.guard) {
    NOAM_RETURN_IF_ERROR(take_place(batch.guard->entry));
    out.guard = key;
    if (!batch.guard->columns.empty()) put(batch.guard->entry, batch.guard->columns);
  }
  std::string block;
  for (const Expect& expect : batch.expects) {
    if (expect.collection >= layout_.collections.size())
      return Error{fmt::format("the design of the store has no collection {}", expect.collection)};
    if (!expect.block) {
      out.alone = true;
      continue;
    }
    block.clear();
    append_block_prefix(expect.collection, *expect.block, block);
    const std::size_t stripe = stripe_of(block);
    latch(stripe);
    if (!expect.entry) {
      out.expected.push_back(stripe);
      continue;
    }
    NOAM_RETURN_IF_ERROR(knows({expect.collection, *expect.block}, expect.entry->family));
    const FamilyLayout& family = layout_.families[expect.entry->family];
    append_fixed16(family.number, block);
    append_key(expect.entry->key, family.descending, block);
    out.expected.push_back(entry_stripe_of(block));
    __builtin_prefetch(&entries_touched_[out.expected.back()]);
  }
  each_once(out.collections);
  each_once(out.latches);
  if (out.latches.size() > most_latches) out.alone = true;
  return out;
}

// Whoever has it will have written in some microseconds: less than it takes to sleep and be woken.
void lock_soon(std::mutex& latch) {
  constexpr int patience = 50;
  for (int i = 0; i < patience; ++i) {
    if (latch.try_lock()) return;
    std::this_thread::yield();
  }
  latch.lock();
}

// The gate first, then latches in one order everywhere. So nobody waits in a circle.
RocksdbStore::Latched::Latched(RocksdbStore& store, const Preparation& of) : store_(store), of_(of) {
  if (broken(Breakage::LatchForgotten)) return;
  if (of_.alone) {
    store_.gate_.lock();
    return;
  }
  store_.gate_.lock_shared();
  for (const std::size_t latch : of_.latches) lock_soon(store_.latches_[latch]);
}

RocksdbStore::Latched::~Latched() {
  if (broken(Breakage::LatchForgotten)) return;
  if (of_.alone) {
    store_.gate_.unlock();
    return;
  }
  for (auto latch = of_.latches.rbegin(); latch != of_.latches.rend(); ++latch) store_.latches_[*latch].unlock();
  store_.gate_.unlock_shared();
}

bool RocksdbStore::holds(const WriteBatch& batch, const Preparation& prepared) const {
  std::size_t next = 0;
  for (const Expect& expect : batch.expects) {
    const Moment touched = !expect.block  ? collections_touched_[expect.collection].load()
                           : expect.entry ? entries_touched_[prepared.expected[next++]].load()
                                          : touched_[prepared.expected[next++]].load();
    if (touched > expect.version.number) return false;
  }
  return true;
}

void RocksdbStore::touch(const Preparation& prepared) {
  const Moment now = database_->GetLatestSequenceNumber();
  for (const std::size_t stripe : prepared.written) touched_[stripe] = now;
  for (const std::size_t stripe : prepared.written_entries) entries_touched_[stripe] = now;
  for (const std::uint32_t collection : prepared.collections) {
    Moment before = collections_touched_[collection].load();
    while (before < now && !collections_touched_[collection].compare_exchange_weak(before, now)) continue;
  }
}

Result<void> RocksdbStore::wait_for_sync() {
  const rocksdb::Status status =
      shared_sync_.wait([this] { return logs_->sync([this] { return database_->SyncWAL(); }); });
  if (!status.ok()) return fail(status);
  return {};
}

Result<Committed> RocksdbStore::commit(const WriteBatch& batch, Deadline by) {
  NOAM_RETURN_IF_ERROR(in_time(by));
  const std::shared_lock lock(mutex_);
  NOAM_RETURN_IF_ERROR(can_write());
  NOAM_ASSIGN_OR_RETURN(Preparation prepared, prepare(batch));
  const std::size_t bytes =
      prepared.changes.Count() + prepared.settled.size() == 0 ? 0 : prepared.changes.GetDataSize();
  if (options_.table_bytes != 0 && bytes >= options_.table_bytes && !prepared.too_large) write_tables(prepared);
  kill_point(KillPoint::CommitPrepared);
  NOAM_ASSIGN_OR_RETURN(Committed done, write(batch, prepared));
  if (done != Outcome::Applied && done != Outcome::Already) return done;
  // The blocks are free by now. Whoever reads them may see what is not yet on disk; whoever builds on it writes behind
  // it, so that it is never lost alone.
  kill_point(KillPoint::CommitReleased);
  if (options_.sync && prepared.tables.empty() && !broken(Breakage::SyncNotWaitedFor))
    NOAM_RETURN_IF_ERROR(wait_for_sync());
  kill_point(KillPoint::CommitSynced);
  if (done == Outcome::Already) return done;
  for (const Change& change : batch.changes) heat_.touch(entry_of(change).block, Access::Write);
  if (batch.guard && !batch.guard->columns.empty()) heat_.touch(batch.guard->entry.block, Access::Write);
  return done;
}

void RocksdbStore::write_tables(Preparation& prepared) {
  for (const auto& [key, addends] : prepared.settled) prepared.changes.Merge(data_, key, addends);
  prepared.settled.clear();
  SortedBatch sorted;
  if (!sorted.read(prepared.changes)) return;
  // RocksDB puts a table as low as nothing overlaps with it above, and 7.8 looks for that in a version that may be
  // older than the one whose files it counts. Tables that overlap with each other come to lie on top of all.
  using Part = SortedBatch::Part;
  const rocksdb::Options options = database_->GetOptions(data_);
  std::vector<std::unique_ptr<TableFile>> tables;
  for (const Part part :
       broken(Breakage::TableUnnumbered) ? std::vector{Part::All} : std::vector{Part::Between, Part::Ends}) {
    tables.push_back(std::make_unique<TableFile>(*env_, folder_ + "/" + TableFile::name(tables_++)));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options, data_, false);
    rocksdb::Status status = writer.Open(tables.back()->path());
    if (status.ok()) status = sorted.write(writer, part);
    if (!status.ok()) return;
  }
  prepared.tables = std::move(tables);
  prepared.alone = true;
  kill_point(KillPoint::TableWritten);
}

Result<Committed> RocksdbStore::take_tables(const Preparation& prepared) {
  if (logs_->failed()) return fail(rocksdb::Status::IOError("a write to the log has failed"));
  // What is in the log only must not be lost without what builds on it. And RocksDB 7.8 knows tables that may overlap
  // by their numbers: none may have older and newer ones than these.
  const bool flushes = !broken(Breakage::MemoryNotBeforeTable);
  rocksdb::FlushOptions flushing;
  flushing.allow_write_stall = true;
  rocksdb::Status status = flushes ? database_->Flush(flushing, data_) : rocksdb::Status::OK();
  kill_point(KillPoint::TableReady);
  if (status.ok()) {
    std::vector<std::string> paths;
    for (const auto& table : prepared.tables) paths.push_back(table->path());
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    options.write_global_seqno = false;
    options.allow_blocking_flush = !flushes;        // nothing is there to be flushed
    options.verify_checksums_before_ingest = true;  // a block that is damaged is not told later, either
    // Where nobody has a snapshot, RocksDB looks whether a table needs a number of its own, and one with the number 0
    // is seen to come by who takes a snapshot meanwhile. So there is one.
    std::optional<RocksdbSnapshot> before;
    if (!broken(Breakage::TableUnnumbered)) before.emplace(*database_);
    const GuardedLogs::Taking taking(paths);
    status = database_->IngestExternalFile(data_, paths, options);
  }
  kill_point(KillPoint::TableTaken);
  // Who reads without a snapshot may know its number before it can be seen. It takes another one to tell the two
  // apart; whether that is on disk is all the same.
  if (status.ok() && !broken(Breakage::TableUnnumbered))
    status = database_->Put(rocksdb::WriteOptions(), about_, table_key, "");
  touch(prepared);
  if (!status.ok()) return fail(status);
  return Outcome::Applied;
}

Result<std::optional<Key>> RocksdbStore::kept_under(const Guard& guard, const std::string& key) {
  if (broken(Breakage::RepeatAppliedAgain)) return std::optional<Key>();
  ReadRequest request;
  request.family = guard.entry.family;
  Answer found;
  NOAM_RETURN_IF_ERROR(get(reading(nullptr), key, guard.entry.key, request, found));
  if (found.entries.empty()) return std::optional<Key>();
  return std::optional(std::move(found.entries[0].columns));
}

Result<Committed> RocksdbStore::write(const WriteBatch& batch, Preparation& prepared) {
  const Latched latched(*this, prepared);
  if (!prepared.guard.empty()) {
    NOAM_ASSIGN_OR_RETURN(auto kept, kept_under(*batch.guard, prepared.guard));
    if (kept) return Committed{Outcome::Already, std::move(*kept)};
  }
  if (!holds(batch, prepared)) return Outcome::Conflict;
  if (prepared.too_large) return Outcome::TooLarge;
  if (prepared.changes.Count() + prepared.settled.size() == 0) return Outcome::Applied;
  if (!prepared.tables.empty()) return take_tables(prepared);
  // Nobody else changes these.
  for (const auto& [key, addends] : prepared.settled) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status found = database_->Get(rocksdb::ReadOptions(), data_, key, &value);
    if (found.ok() || found.IsNotFound())
      prepared.changes.Put(data_, key,
                           merge_addends(found.ok() ? std::optional(value.ToStringView()) : std::nullopt, addends));
    else
      prepared.changes.Merge(data_, key, addends);
  }
  kill_point(KillPoint::CommitValidated);
  if (broken(Breakage::BumpBeforeWrite)) touch(prepared);
  shared_sync_.write_begins();
  const rocksdb::Status status = database_->Write(rocksdb::WriteOptions(), &prepared.changes);
  shared_sync_.write_ended();
  kill_point(KillPoint::CommitWritten);
  // Only now, and still alone with these blocks: who read before must fail, who reads from here on sees it. Where it
  // failed, nobody knows.
  if (!broken(Breakage::BumpBeforeWrite)) touch(prepared);
  if (!status.ok()) return fail(status);
  return Outcome::Applied;
}

Result<ScanPage> RocksdbStore::scan(std::uint32_t family, const std::string& after, const Snapshot* at, Deadline by) {
  NOAM_RETURN_IF_ERROR(in_time(by));
  const std::shared_lock lock(mutex_);
  if (layout_.families.empty()) return Error{"no design was deployed to the store"};
  if (family >= layout_.families.size()) return Error{fmt::format("the design of the store has no family {}", family)};
  const FamilyLayout& layout = layout_.families[family];
  std::string collection;
  append_fixed16(layout_.collections[layout.collection], collection);
  if (!after.empty() && !after.starts_with(collection)) return Error{"invalid scan position"};

  std::optional<RocksdbSnapshot> own;
  if (at == nullptr) own.emplace(*database_);
  rocksdb::ReadOptions options = reading(own ? own->held() : held(at));
  const std::string end = collection + beyond;
  const rocksdb::Slice upper = end;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> entries(database_->NewIterator(options, data_));

  ScanPage page;
  page.version.number = options.snapshot->GetSequenceNumber();
  const std::size_t page_size = std::max<std::size_t>(options_.scan_page, 1);
  std::string last_key;
  Keeper keeper;
  entries->Seek(after.empty() ? collection : after + '\x00');
  while (entries->Valid()) {
    const std::string_view key = entries->key().ToStringView();
    std::string_view rest = key.substr(collection.size());
    ScanPage::Item item;
    while (!rest.empty() && rest.front() != end_of_block_key) {
      item.block.emplace_back();
      if (!take_ordered(rest, false, item.block.back())) return unreadable(family);
    }
    if (rest.empty()) return unreadable(family);
    rest.remove_prefix(1);
    const std::size_t block_size = key.size() - rest.size();
    std::uint16_t number = 0;
    if (!take_fixed16(rest, number)) return unreadable(family);
    if (number != layout.number) {
      // The family in this block, or the next block.
      std::string next(key.substr(0, block_size));
      if (number < layout.number)
        append_fixed16(layout.number, next);
      else
        next.append(2, beyond) += beyond;
      entries->Seek(next);
      continue;
    }
    if (is_gone(entries->value().ToStringView())) {
      entries->Next();
      continue;
    }
    if (page.items.size() == page_size) {
      page.next = std::move(last_key);
      return page;
    }
    if (!take_key(rest, layout.descending, item.entry.key) ||
        !keeper.read(entries->value().ToStringView(), item.entry.columns))
      return unreadable(family, entries->value().ToStringView());
    last_key = std::string(key);
    page.items.push_back(std::move(item));
    entries->Next();
  }
  if (!entries->status().ok()) return trouble(entries->status(), "cannot be read");
  return page;
}

Result<void> RocksdbStore::sync() {
  NOAM_RETURN_IF_ERROR(can_write());
  return wait_for_sync();
}

Result<void> RocksdbStore::back_up(const std::string& folder) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (!status.ok()) return trouble(status, "cannot be backed up");
  return make_folder(folder, [&](const std::string& temporary) -> Result<void> {
    Head head = head_;
    // Everything in tables: a copy of a log may end within a record.
    status = checkpoint->CreateCheckpoint(temporary + "/" + database_folder, 0, &head.sequence);
    if (!status.ok()) return trouble(status, "cannot be backed up");
    kill_point(KillPoint::BackupCheckpointed);
    return write_head(env_of(options_), temporary, head);
  });
}

Result<void> RocksdbStore::check_files() {
  const rocksdb::Status status = database_->VerifyChecksum();
  if (!status.ok()) return trouble(status, "damaged");
  return {};
}

std::uint64_t RocksdbStore::bytes_on_disk() const {
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder_, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code vanished;  // files come and go
    const std::uintmax_t size = at->is_regular_file(vanished) ? at->file_size(vanished) : 0;
    if (!vanished) bytes += size;
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<EmbeddedStore>> open_rocksdb_store(const std::string& folder, const RocksdbOptions& options) {
  if (folder.empty()) return Error{"the folder of the store is missing: rocksdb:FOLDER"};
  std::error_code failed;
  const fs::file_status there = fs::status(folder, failed);
  if (there.type() == fs::file_type::none) return Error{fmt::format("store `{}`: {}", folder, failed.message())};
  const bool missing = there.type() == fs::file_type::not_found;
  if (!missing && there.type() != fs::file_type::directory)
    return Error{fmt::format("store `{}` is not a folder", folder)};
  const bool has_head = !missing && fs::exists(folder + "/" + head_file, failed);
  if (!missing && !has_head) {
    const bool empty = fs::is_empty(folder, failed);
    if (failed) return Error{fmt::format("store `{}`: cannot be read: {}", folder, failed.message())};
    if (!empty) return Error{fmt::format("`{}` is not a noam store: it has other files, but no {}", folder, head_file)};
  }
  if (has_head && options.existing == Existing::Refused) return Error{fmt::format("store `{}` already exists", folder)};
  if (!has_head) {
    if (options.existing == Existing::Required)
      return Error{fmt::format("store `{}` does not exist", folder), "missing"};
    NOAM_RETURN_IF_ERROR(
        make_folder(folder, [&](const std::string& made) { return write_head(env_of(options), made, Head{}); }));
  }
  NOAM_ASSIGN_OR_RETURN(const std::string text, read_small_file(folder + "/" + head_file));
  NOAM_ASSIGN_OR_RETURN(const Head head, parse_head(folder, text));
  auto store = std::make_unique<RocksdbStore>(folder, options, head);
  NOAM_RETURN_IF_ERROR(store->open());
  return std::unique_ptr<EmbeddedStore>(std::move(store));
}

Result<std::uint64_t> restore_rocksdb_store(const std::string& backup, const std::string& folder) {
  std::error_code failed;
  if (!fs::exists(backup, failed)) return Error{fmt::format("backup `{}` does not exist", backup)};
  if (!fs::exists(backup + "/" + head_file, failed))
    return Error{fmt::format("`{}` is not a backup: it has no {}", backup, head_file)};
  std::uint64_t bytes = 0;
  NOAM_RETURN_IF_ERROR(make_folder(folder, [&](const std::string& made) -> Result<void> {
    fs::copy(backup, made, fs::copy_options::recursive, failed);
    if (failed) return Error{fmt::format("{}: cannot be copied: {}", backup, failed.message())};
    kill_point(KillPoint::RestoreCopied);
    auto store = open_rocksdb_store(made);
    if (!store) return Error{fmt::format("backup `{}` cannot be used: {}", backup, store.error().message)};
    const auto good = (*store)->check_files();
    if (!good) return Error{fmt::format("backup `{}` cannot be used: {}", backup, good.error().message)};
    bytes = (*store)->bytes_on_disk();
    store->reset();
    kill_point(KillPoint::RestoreChecked);
    if (!sync_files_below(made)) return file_problem(folder, "cannot be created");
    return {};
  }));
  return bytes;
}

}  // namespace noam::stores
