#include "tests/meta/embedded.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "noam/base/kill_point.h"
#include "noam/design/layout.h"
#include "noam/stores/rocksdb.h"
#include "tests/faults/faulty_files.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_store.h"
#include "tests/threads.h"

namespace noam::tests::meta {

namespace {

using faults::Fault;
using faults::FaultyFiles;
using stores::Key;
using stores::Outcome;

constexpr std::uint32_t values = 0;
constexpr std::uint32_t counts = 1;

// One collection by int; values[int]: int, and counts[int]: int.
design::Design small_design() {
  const auto slot = [](auto part, const char* name) {
    part.name = name;
    part.expr.kind = model::ExprKind::Slot;
    part.expr.type = model::scalar(model::TypeKind::Int);
    return part;
  };
  design::Design out;
  out.name = "small";
  out.collections.resize(1);
  out.collections[0].name = "blocks";
  out.collections[0].by = {slot(model::Part(), "id")};
  for (const char* name : {"values", "counts"}) {
    design::Family family;
    family.name = name;
    family.key = {slot(model::Part(), "key")};
    family.cells = {slot(model::Cell(), "number")};
    out.collections[0].families.push_back(static_cast<std::uint32_t>(out.families.size()));
    out.families.push_back(std::move(family));
  }
  out.layout = design::describe_layout(out, model::Model{});
  return out;
}

stores::EntryRef entry(std::uint32_t family, std::int64_t block, std::int64_t key) {
  return {{0, {block}}, family, {key}};
}

Result<stores::Answer> read(stores::Store& store, const stores::EntryRef& at) {
  const stores::ReadRequest request{at.block, at.family, {at.key}, {at.key}, false, 0};
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(store.read({&request, 1}, nullptr, stores::no_deadline, answers));
  return std::move(answers.front());
}

// Every commit of three changes or more is tables of its own.
stores::RocksdbOptions small_store_of_tables() {
  stores::RocksdbOptions options = small_store();
  options.table_bytes = 1;
  return options;
}

// One reads, another writes, and the first writes what comes after what it read.
std::optional<std::string> late_write(const stores::RocksdbOptions& options) {
  const auto store = make_temporary_store(options);
  if (!store->deploy(small_design())) return "no design";
  const stores::EntryRef at = entry(values, 1, 1);
  const auto before = read(*store, at);
  stores::WriteBatch in_between;
  for (std::int64_t i = 0; i < 3; ++i) in_between.changes.emplace_back(stores::Put{entry(values, 1, i), {i}});
  if (*store->commit(in_between, stores::no_deadline) != Outcome::Applied) return "no commit";
  const stores::WriteBatch late{{{0, at.block.key, before->version}}, {stores::Put{at, {2}}}};
  if (*store->commit(late, stores::no_deadline) == Outcome::Conflict) return std::nullopt;
  return "what was written meanwhile is overwritten";
}

// Whoever is about to write waits a while for another that is, too.
std::atomic<int> about_to_write = 0;
void wait_for_another(KillPoint point) {
  if (point != KillPoint::CommitValidated) return;
  ++about_to_write;
  for (int i = 0; i < 100 && about_to_write < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// Two read a number and, at the same time, write it back, one larger.
std::optional<std::string> lost_update() {
  const auto store = make_temporary_store();
  if (!store->deploy(small_design())) return "no design";
  const stores::EntryRef at = entry(values, 1, 1);
  const auto before = read(*store, at);
  const stores::WriteBatch batch{{{0, at.block.key, before->version}}, {stores::Put{at, {1}}}};
  std::atomic<int> applied = 0;
  at_kill_point = wait_for_another;
  in_threads(2, [&](int) {
    if (*store->commit(batch, stores::no_deadline) == Outcome::Applied) ++applied;
  });
  at_kill_point = nullptr;
  if (applied == 1) return std::nullopt;
  return fmt::format("{} wrote what only one may", applied.load());
}

// Several threads write, the power goes, and what was told to be applied is there.
std::optional<std::string> loss_of_power(int threads) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "store").string();
  property::Random random(1);
  for (int round = 0; round < 10; ++round) {
    const auto files = std::make_shared<FaultyFiles>(Fault{});
    const auto env = rocksdb::NewCompositeEnv(files);
    stores::RocksdbOptions options = small_store();
    options.existing = stores::Existing::Allowed;
    options.sync = true;
    options.env = env.get();
    std::mutex mutex;
    std::vector<stores::EntryRef> told;
    {
      auto store = stores::open_rocksdb_store(path, options);
      if (!store || !(*store)->deploy(small_design())) return "it does not open";
      in_threads(threads, [&](int thread) {
        for (int i = 0;; ++i) {
          const stores::EntryRef at = entry(values, round * threads + thread, i);
          const auto outcome = (*store)->commit({{}, {stores::Put{at, {i}}}}, stores::no_deadline);
          const std::lock_guard lock(mutex);
          if (files->power_is_gone()) return;
          if (!outcome || *outcome != Outcome::Applied) return;
          told.push_back(at);
          if (told.size() > 50) files->let_power_go();
        }
      });
    }
    files->lose(random, true);
    const auto good = rocksdb::NewCompositeEnv(std::make_shared<FaultyFiles>(Fault{}));
    options.env = good.get();
    auto store = stores::open_rocksdb_store(path, options);
    if (!store) return store.error().message;
    if (!(*store)->deploy(small_design())) return "no design";
    for (const stores::EntryRef& at : told) {
      const auto found = read(**store, at);
      if (!found) return found.error().message;
      if (found->entries.empty()) return fmt::format("one of {} that were acknowledged is lost", told.size());
    }
  }
  return std::nullopt;
}

// One commit is in the log, the next a table, and the power goes: the first is not lost alone.
std::optional<std::string> lost_alone() {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "store").string();
  const auto files = std::make_shared<FaultyFiles>(Fault{});
  const auto env = rocksdb::NewCompositeEnv(files);
  stores::RocksdbOptions options = small_store();
  options.existing = stores::Existing::Allowed;
  options.env = env.get();
  options.table_bytes = 1'000;
  const stores::EntryRef first = entry(values, 1, 1);
  {
    auto store = stores::open_rocksdb_store(path, options);
    if (!store || !(*store)->deploy(small_design())) return "it does not open";
    stores::WriteBatch many;
    for (std::int64_t i = 0; i < 1'000; ++i) many.changes.emplace_back(stores::Put{entry(values, 2, i), {i}});
    for (const stores::WriteBatch& batch : {stores::WriteBatch{{}, {stores::Put{first, {1}}}}, many}) {
      const auto outcome = (*store)->commit(batch, stores::no_deadline);
      if (!outcome || *outcome != Outcome::Applied) return "no commit";
    }
    files->let_power_go();
  }
  property::Random random(1);
  files->lose(random, true);
  options.env = nullptr;
  auto store = stores::open_rocksdb_store(path, options);
  if (!store) return store.error().message;
  if (!(*store)->deploy(small_design())) return "no design";
  const auto earlier = read(**store, first);
  const auto later = read(**store, entry(values, 2, 7));
  if (!earlier || !later) return "it can't be read";
  if (later->entries.empty()) return "the table is lost";
  return earlier->entries.empty() ? std::optional<std::string>("what was before the table is lost") : std::nullopt;
}

std::optional<std::string> wrong_count() {
  const auto store = make_temporary_store();
  if (!store->deploy(small_design())) return "no design";
  const stores::EntryRef at = entry(counts, 1, 1);
  std::int64_t count = 0;
  for (const std::int64_t addend : {1, 1, 1, -3, 2, -1, -1, 5}) {
    if (!store->commit({{}, {stores::Add{at, {addend}, 0}}}, stores::no_deadline)) return "no commit";
    count += addend;
    const auto found = read(*store, at);
    if (!found) return found.error().message;
    const std::int64_t seen = found->entries.empty() ? 0 : found->entries[0].columns[0].as_int();
    if (seen != count) return fmt::format("a count of {} is {}", count, seen);
    if (count == 0 && !found->entries.empty()) return "a count of 0 is there";
    const auto page = store->scan(counts, "", nullptr, stores::no_deadline);
    if (!page || page->items.size() != found->entries.size()) return "a scan sees something else";
  }
  return std::nullopt;
}

std::optional<std::string> wrong_list() {
  const auto store = make_temporary_store();
  if (!store->deploy(small_design())) return "no design";
  const stores::EntryRef at = entry(values, 1, 1);
  model::Datum::List expected;
  if (!store->commit({{}, {stores::Put{at, {model::Datum(expected)}}}}, stores::no_deadline)) return "no commit";
  for (int i = 0; i < 5; ++i) {
    const model::Datum::List added{i};
    expected.emplace_back(i);
    if (!store->commit({{}, {stores::Append{at, {model::Datum(added)}}}}, stores::no_deadline)) return "no commit";
    const auto found = read(*store, at);
    if (!found) return found.error().message;
    if (found->entries.size() != 1 || found->entries[0].columns != stores::Key{model::Datum(expected)})
      return "a list is not what was appended to it";
  }
  return std::nullopt;
}

}  // namespace

std::vector<Check> embedded_checks() {
  return {{"embedded store: counts", wrong_count},
          {"embedded store: lists", wrong_list},
          {"embedded store: a write that comes late", [] { return late_write(small_store()); }},
          {"embedded store: a table that comes late", [] { return late_write(small_store_of_tables()); }},
          {"embedded store: loss of power behind a table", lost_alone},
          {"embedded store: two that write at the same time", lost_update},
          {"embedded store: loss of power", [] { return loss_of_power(1); }},
          {"embedded store: loss of power while many write", [] { return loss_of_power(8); }}};
}

}  // namespace noam::tests::meta
