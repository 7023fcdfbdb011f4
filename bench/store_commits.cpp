// What a commit of the embedded store costs: two puts, on one block or on many, synced or not, by one thread or
// several; and five counters a commit, as a redirect of the shortener has.
//
//   store_commits [FOLDER [SECONDS [CELL]]]
//
// Each line is one cell. Only ratios inside one run count; on a machine that others use, too, only those of the time
// that the processors were busy, which is of all threads, also those of RocksDB.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "noam/design/layout.h"
#include "noam/stores/rocksdb.h"

namespace {

using namespace noam;
using stores::Change;
using stores::Key;

enum Family : std::uint32_t { Head, Rounds, Counts };
constexpr int counters_of_a_command = 5;
constexpr int many = 20'000;

model::Part part(const std::string& name, model::TypeKind kind) {
  model::Part out;
  out.name = name;
  out.expr.kind = model::ExprKind::Slot;
  out.expr.type = model::scalar(kind);
  return out;
}

model::Cell cell(const std::string& name, model::TypeKind kind) {
  model::Cell out;
  out.name = name;
  out.expr.kind = model::ExprKind::Slot;
  out.expr.type = model::optional(model::scalar(kind));
  return out;
}

design::Design games() {
  design::Design out;
  out.name = "bench";
  out.collections.resize(1);
  out.collections[0].name = "games";
  out.collections[0].by = {part("id", model::TypeKind::Int)};
  const auto add = [&](const std::string& name, std::vector<model::Part> key, std::vector<model::Cell> cells) {
    design::Family family;
    family.name = name;
    family.key = std::move(key);
    family.cells = std::move(cells);
    out.collections[0].families.push_back(static_cast<std::uint32_t>(out.families.size()));
    out.families.push_back(std::move(family));
  };
  add("", {}, {cell("text", model::TypeKind::Text), cell("length", model::TypeKind::Int)});
  add("rounds", {part("position", model::TypeKind::Int)}, {cell("text", model::TypeKind::Text)});
  add("counts", {part("kind", model::TypeKind::Int), part("day", model::TypeKind::Int)},
      {cell("count", model::TypeKind::Int)});
  out.layout = design::describe_layout(out, model::Model{});
  return out;
}

struct Cell {
  const char* name;
  int threads;
  bool one_block;
  bool sync;
  bool counters;
};

stores::WriteBatch batch_of(const Cell& cell, std::mt19937& random, std::int64_t number) {
  const std::int64_t id = cell.one_block ? 0 : static_cast<std::int64_t>(random() % many);
  const stores::BlockRef block{0, {id}};
  stores::WriteBatch out;
  if (cell.counters) {
    for (std::int64_t i = 0; i < counters_of_a_command; ++i)
      out.changes.emplace_back(stores::Add{{block, Counts, {i, number / 1000 % 7}}, {1}, 0});
    return out;
  }
  static const std::string text(100, 'x');
  static const std::string round(700, 'y');
  out.changes.emplace_back(stores::Put{{block, Head, {}}, {text, number}});
  out.changes.emplace_back(stores::Put{{block, Rounds, {number % 12}}, {round}});
  return out;
}

double busy_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Speed {
  double a_second;
  double busy_microseconds;  // of each
};

Speed measure(const Cell& cell, const std::string& folder, double seconds) {
  std::filesystem::remove_all(folder);
  stores::RocksdbOptions options;
  options.existing = stores::Existing::Refused;
  options.sync = cell.sync;
  auto store = stores::open_rocksdb_store(folder, options);
  if (!store || !(*store)->deploy(games())) std::abort();
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> done = 0;
  const auto begin = std::chrono::steady_clock::now();
  const double busy = busy_seconds();
  std::vector<std::thread> threads;
  for (int i = 0; i < cell.threads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      std::int64_t mine = 0;
      for (; !stop; ++mine) {
        const auto outcome = (*store)->commit(batch_of(cell, random, mine), stores::no_deadline);
        if (!outcome || *outcome != stores::Outcome::Applied) std::abort();
      }
      done += mine;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return {static_cast<double>(done) / took.count(), (busy_seconds() - busy) / static_cast<double>(done) * 1e6};
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder =
      count > 1 ? arguments[1]
                : (std::filesystem::temp_directory_path() / fmt::format("store-commits-{}", ::getpid())).string();
  const double seconds = count > 2 ? std::atof(arguments[2]) : 2;
  constexpr Cell cells[] = {
      {"two puts, one block, synced", 1, true, true, false},
      {"two puts, one block, synced", 2, true, true, false},
      {"two puts, one block, synced", 8, true, true, false},
      {"two puts, many blocks, synced", 1, false, true, false},
      {"two puts, many blocks, synced", 2, false, true, false},
      {"two puts, many blocks, synced", 8, false, true, false},
      {"two puts, many blocks", 1, false, false, false},
      {"two puts, many blocks", 8, false, false, false},
      {"five counters, one block", 1, true, false, true},
      {"five counters, many blocks", 1, false, false, true},
      {"five counters, many blocks", 2, false, false, true},
  };
  const int only = count > 3 ? std::atoi(arguments[3]) : -1;
  int number = 0;
  for (const Cell& cell : cells) {
    if (only >= 0 && only != number++) continue;
    const Speed speed = measure(cell, folder, seconds);
    fmt::print("{:32} {} threads {:>9.0f} commits/s {:>8.1f} busy µs each\n", cell.name, cell.threads, speed.a_second,
               speed.busy_microseconds);
  }
  std::filesystem::remove_all(folder);
}
