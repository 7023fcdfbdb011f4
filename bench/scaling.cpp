// What an operation costs with 100,000, a million and ten million games, and the memory that their load takes. Games
// are small, two rounds of some twenty bytes each, so that all of them lie in the cache of blocks.

#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/game.h"

namespace noam::bench {
namespace {

struct Sized {
  std::size_t games = 0;
  std::unique_ptr<GameDatabase> database;
};

GameShape small_games(std::size_t games) {
  GameShape shape;
  shape.games = games;
  shape.rounds = 2;
  shape.moves_bytes = 20;
  shape.other_bytes = 0;
  return shape;
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// The memory of this process at each tenth of a load, on standard output too.
Row load(const std::string& name, const GameData& data, GameDatabase& database) {
  const std::size_t games = data.shape().games;
  Row row{"scaling", "load", name, grouped(games), 1, games, {}, {}, {}};
  forget_peak_memory();
  const std::uint64_t before = memory_now();
  const auto begin = std::chrono::steady_clock::now();
  std::size_t tenths = 0;
  fmt::print("\nloading {} games, {}: memory {:.0f} MB", grouped(games), name, megabytes(before));
  database.load(data, [&](std::size_t loaded) {
    for (; tenths < 10 && loaded >= games / 10 * (tenths + 1); ++tenths) {
      const std::uint64_t now = memory_now();
      row.figures.emplace_back(fmt::format("memory_at_{}_tenths", tenths + 1), static_cast<double>(now));
      fmt::print(", {:.0f}", megabytes(now));
    }
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  row.figures.emplace_back("memory_before", static_cast<double>(before));
  row.figures.emplace_back("peak_memory", static_cast<double>(peak_memory()));
  row.figures.emplace_back("seconds", seconds);
  fmt::print("; peak {:.0f} MB, {} games a second\n", megabytes(peak_memory()),
             grouped(static_cast<std::uint64_t>(static_cast<double>(games) / seconds)));
  return row;
}

}  // namespace

std::vector<Row> bench_scaling(const Settings& settings) {
  std::vector<std::size_t> sizes{100'000, 1'000'000, 10'000'000};
  if (settings.quick) sizes = {500, 1'000, 2'000};
  StoreSettings store;
  store.cache_bytes = std::size_t{4} << 30U;
  std::vector<Row> rows;
  struct Kind {
    const char* name;
    std::unique_ptr<GameDatabase> (*make)(const std::string&, GameDesign, const StoreSettings&);
  };
  for (const Kind& kind : {Kind{"noam, EAO", noam_games}, Kind{"floor, EAO", floor_games}}) {
    const std::string name = kind.name;
    const Folder folder(settings.folder);
    std::vector<Sized> all;
    for (const std::size_t games : sizes) {
      Sized one{games, kind.make(fmt::format("{}/{}", folder.path(), games), GameDesign::Eao, store)};
      const GameData data(small_games(games), settings.seed);
      Row loaded = load(name, data, *one.database);
      forget_peak_memory();
      for (std::size_t game = 0; game < games; ++game)
        if (one.database->retrieve(game, 0) == 0) throw Failed(fmt::format("{} lost game {}", name, game));
      loaded.figures.emplace_back("peak_memory_of_reading_all", static_cast<double>(peak_memory()));
      rows.push_back(std::move(loaded));
      all.push_back(std::move(one));
    }

    // The sizes are the rivals: they take turns, and are measured by the smallest.
    const GameData data(small_games(1), settings.seed);
    for (const char* workload : {"retrieve", "mix", "add"}) {
      const bool adds = workload != std::string_view("retrieve");
      const bool retrieves = workload != std::string_view("add");
      Cell cell;
      cell.benchmark = "scaling";
      cell.workload = workload;
      cell.design = name;
      cell.size = "small games";
      cell.operations = settings.quick ? 100 : 20'000;
      cell.base = grouped(sizes[0]);
      std::uint64_t seed = 0;
      cell.prepare = [&](std::uint64_t given) { seed = given; };
      for (const Sized& one : all) {
        cell.rivals.push_back({grouped(one.games),
                               [&, adds, retrieves, operations = cell.operations](unsigned thread) {
                                 Random random(seed);
                                 Tally tally;
                                 for (std::size_t i = 0; i < operations; ++i) {
                                   const std::size_t game = random.below(one.games);
                                   const Round& round = data.rounds()[random.below(data.rounds().size())];
                                   if (adds && (!retrieves || random.below(2) == 0))
                                     tally.done += one.database->add(game, round, 0, thread) ? 1 : 0;
                                   else
                                     tally.done += one.database->retrieve(game, thread) > 0 ? 1 : 0;
                                 }
                                 return tally;
                               },
                               true});
      }
      cell.same_answers = false;
      rows.push_back(measure(cell, settings));
      fmt::print(stderr, "{}", print_table({rows.back()}));
    }
  }
  fmt::print("\n");
  return rows;
}

}  // namespace noam::bench
