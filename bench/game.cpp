#include "bench/game.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace noam::bench {
namespace {

// What is asked of all rivals in one slice, by thread.
struct GameRequest {
  std::uint32_t game = 0;
  std::uint32_t round = 0;  // of the pool
  std::uint32_t position = 0;
  bool add = false;
};
using GamePlan = std::vector<std::vector<GameRequest>>;

std::string letters(Random& random, std::size_t count) {
  static constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ+-=0123456";
  std::string text(count, ' ');
  for (char& letter : text) letter = alphabet[random.below(alphabet.size())];
  return text;
}

std::string numbered(char first, std::size_t number) {
  std::string text = "x0000000";
  text[0] = first;
  for (std::size_t at = text.size() - 1; number > 0 && at > 0; --at, number /= 10)
    text[at] = static_cast<char>('0' + number % 10);
  return text;
}

Tally play(GameDatabase& database, const GameData& data, const std::vector<GameRequest>& requests, unsigned thread) {
  Tally tally;
  for (const GameRequest& request : requests) {
    if (request.add) {
      tally.done += database.add(request.game, data.rounds()[request.round], request.position, thread) ? 1 : 0;
      continue;
    }
    const std::uint64_t bytes = database.retrieve(request.game, thread);
    tally.done += bytes > 0 ? 1 : 0;
    tally.answers += bytes;
  }
  return tally;
}

struct NamedDatabase {
  std::string name;
  std::unique_ptr<GameDatabase> database;
  bool promises = true;
};

// The same games in all that keep what they are told: all of them, or a thousand.
void compare(const std::vector<NamedDatabase>& rivals, const GameData& data, const std::string& where) {
  const std::size_t step = std::max<std::size_t>(1, data.shape().games / 1'000);
  for (std::size_t game = 0; game < data.shape().games; game += step) {
    const std::uint64_t expected = rivals[0].database->sum_up(game);
    if (expected == 0) throw Failed(fmt::format("{}: game {} is not there", where, game));
    for (const NamedDatabase& rival : rivals)
      if (rival.promises && rival.database->sum_up(game) != expected)
        throw Failed(fmt::format("{}: {} and {} hold different games {}", where, rivals[0].name, rival.name, game));
  }
}

}  // namespace

GameData::GameData(const GameShape& shape, std::uint64_t seed) : shape_(shape) {
  Random random(seed);
  for (std::size_t i = 0; i < shape.pool; ++i) {
    Round round;
    // Sizes vary by a quarter around what is asked for, and a spell is not cast in each round.
    const auto about = [&](std::size_t bytes) { return bytes - bytes / 4 + random.below(bytes / 2 + 1); };
    round.moves = letters(random, about(shape.moves_bytes));
    if (shape.other_bytes > 0) {
      round.comments = letters(random, about(shape.other_bytes * 3 / 5));
      round.actions = letters(random, about(shape.other_bytes * 8 / 25));
      if (i % 4 != 0) round.spell = letters(random, about(shape.other_bytes * 2 / 25));
    }
    rounds_.push_back(std::move(round));
  }
}

std::string GameData::id(std::size_t game) { return numbered('g', game); }
std::string GameData::first_player(std::size_t game) { return numbered('p', game % 1'000'003); }
std::string GameData::second_player(std::size_t game) { return numbered('q', game % 999'983); }

std::vector<Row> run_games(const std::string& benchmark, const GameRun& run, const Settings& settings) {
  const GameData data(run.shape, settings.seed);
  const Folder folder(settings.folder);
  struct Designed {
    GameDesign design{};
    std::vector<NamedDatabase> rivals;
  };
  std::vector<Designed> designs;
  for (const GameDesign design : run.designs) {
    const std::string place = fmt::format("{}/{}-", folder.path(), name_of(design));
    std::vector<NamedDatabase> rivals;
    rivals.push_back({"noam", noam_games(place + "noam", design, run.store), true});
    rivals.push_back({"floor", floor_games(place + "floor", design, run.store), true});
    rivals.push_back({"limit", limit_games(place + "limit", design, run.store), false});
    if (run.sqlite)
      if (auto sqlite = sqlite_games(place + "sqlite", design, run.store))
        rivals.push_back({"SQLite", std::move(sqlite), true});
    for (const NamedDatabase& rival : rivals) {
      rival.database->load(data, [](std::size_t /*games*/) {});
      // Once over all of it, for the caches.
      for (std::size_t game = 0; game < run.shape.games; ++game)
        if (rival.database->retrieve(game, 0) == 0) throw Failed(fmt::format("{} lost game {}", rival.name, game));
    }
    designs.push_back({design, std::move(rivals)});
  }

  std::vector<Row> rows;
  std::uint32_t slices = 0;  // so far, for those who are told the position
  for (const std::string& workload : run.workloads) {
    for (const unsigned threads : run.threads) {
      const bool retrieves = workload != "add";
      const bool adds = workload != "retrieve";
      const std::size_t each = (adds ? run.additions : run.retrievals) / threads;
      GamePlan plan(threads);
      std::vector<Cell> cells;
      for (const Designed& designed : designs) {
        Cell cell;
        cell.benchmark = benchmark;
        cell.workload = workload;
        cell.design = name_of(designed.design);
        cell.size = grouped(run.shape.games);
        cell.threads = threads;
        cell.operations = each * threads;
        cell.same_answers = threads == 1 || !adds;
        cell.prepare = [&, each, retrieves, adds](std::uint64_t seed) {
          Random random(seed);
          ++slices;
          for (auto& requests : plan) {
            requests.clear();
            for (std::size_t i = 0; i < each; ++i) {
              GameRequest request;
              request.game = static_cast<std::uint32_t>(random.below(run.shape.games));
              request.round = static_cast<std::uint32_t>(random.below(data.rounds().size()));
              request.position = static_cast<std::uint32_t>(run.shape.rounds) + slices;
              request.add = adds && (!retrieves || random.below(2) == 0);
              requests.push_back(request);
            }
          }
        };
        for (const NamedDatabase& rival : designed.rivals)
          cell.rivals.push_back({rival.name,
                                 [&data, &plan, database = rival.database.get()](unsigned thread) {
                                   return play(*database, data, plan[thread], thread);
                                 },
                                 rival.promises});
        cells.push_back(std::move(cell));
      }
      std::vector<Row> measured = measure_together(cells, settings);
      fmt::print(stderr, "{}", print_table(measured));
      std::move(measured.begin(), measured.end(), std::back_inserter(rows));
    }
  }
  for (const Designed& designed : designs)
    compare(designed.rivals, data, fmt::format("{}, {}", benchmark, name_of(designed.design)));
  return rows;
}

std::vector<Row> bench_game(const Settings& settings) {
  GameRun run;
  if (settings.quick) {
    run.shape.games = 300;
    run.retrievals = 200;
    run.additions = 200;
  }
  return run_games("game", run, settings);
}

std::vector<Row> bench_game_sync(const Settings& settings) {
  GameRun run;
  run.store.sync = true;
  run.designs = {GameDesign::Eao, GameDesign::Rounds};
  run.workloads = {"add"};
  run.threads = {1, 2, 8};
  run.shape.games = settings.quick ? 300 : 20'000;
  run.additions = settings.quick ? 80 : 1'600;
  return run_games("game, sync", run, settings);
}

std::vector<Row> bench_experiment(const Settings& settings) {
  struct Size {
    std::size_t games;
    std::size_t cache_bytes;
  };
  // The first two lie in the cache of blocks, the third does not: some 0.8 GB of data, 64 MB of cache. All databases
  // together must lie in the memory of the system, or who has the luck to lie there wins.
  std::vector<Size> sizes{
      {20'000, std::size_t{2} << 30U}, {50'000, std::size_t{2} << 30U}, {100'000, std::size_t{64} << 20U}};
  if (settings.quick) sizes = {{200, std::size_t{8} << 20U}, {400, std::size_t{1} << 20U}};
  std::vector<Row> rows;
  for (const Size& size : sizes) {
    GameRun run;
    run.shape.games = size.games;
    run.store.cache_bytes = size.cache_bytes;
    run.threads = {1};
    if (settings.quick) run.retrievals = run.additions = 100;
    for (Row& row : run_games("experiment", run, settings)) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace noam::bench
