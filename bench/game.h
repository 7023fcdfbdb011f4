#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.h"
#include "bench/noam_database.h"

// The social game of examples/game, as section 4.4 of its paper measures it.
namespace noam::bench {

struct Round {
  std::string moves;
  std::optional<std::string> comments;
  std::optional<std::string> actions;
  std::optional<std::string> spell;
};

struct GameShape {
  std::size_t games = 20'000;
  std::size_t rounds = 12;        // of each game, in the beginning
  std::size_t moves_bytes = 400;  // of a round
  std::size_t other_bytes = 250;  // its other three texts; 0: they are absent
  std::size_t pool = 1'000;       // different rounds
};

// Games and rounds, the same for all rivals. Nothing of it is kept but some rounds.
class GameData {
 public:
  GameData(const GameShape& shape, std::uint64_t seed);

  [[nodiscard]] const GameShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  // The j-th round of a game in the beginning.
  [[nodiscard]] const Round& round(std::size_t game, std::size_t j) const {
    return rounds_[(game * 7 + j) % rounds_.size()];
  }
  [[nodiscard]] static std::string id(std::size_t game);  // 8 bytes
  [[nodiscard]] static std::string first_player(std::size_t game);
  [[nodiscard]] static std::string second_player(std::size_t game);

 private:
  GameShape shape_;
  std::vector<Round> rounds_;
};

// One rival's database of games. Safe to use from several threads, each with a number of its own.
class GameDatabase {
 public:
  virtual ~GameDatabase() = default;
  // All games of the beginning, then closed and opened again. `told` hears how many there are so far.
  virtual void load(const GameData& data, const std::function<void(std::size_t games)>& told) = 0;
  // The bytes of all texts of the game; 0 where it is not there.
  virtual std::uint64_t retrieve(std::size_t game, unsigned thread) = 0;
  // Whether the game is there. `position` is where the round will be, for those who do not find out by themselves.
  virtual bool add(std::size_t game, const Round& round, std::size_t position, unsigned thread) = 0;
  // A number made of the whole game, whatever the order of its rounds.
  virtual std::uint64_t sum_up(std::size_t game) = 0;
};

enum class GameDesign { Eao, Rounds, Pairs };
constexpr GameDesign game_designs[] = {GameDesign::Eao, GameDesign::Rounds, GameDesign::Pairs};
std::string_view name_of(GameDesign design);         // EAO, ROUNDS, pairs
std::string_view noam_design_of(GameDesign design);  // as examples/game/game.noam has it

std::unique_ptr<GameDatabase> noam_games(const std::string& folder, GameDesign design, const StoreSettings& settings);
// By hand on RocksDB. It knows that a game is there and where its next round goes, and loses no update.
std::unique_ptr<GameDatabase> floor_games(const std::string& folder, GameDesign design, const StoreSettings& settings);
// RocksDB alone: bytes are put where the caller says, and read without a look at them.
std::unique_ptr<GameDatabase> limit_games(const std::string& folder, GameDesign design, const StoreSettings& settings);
// Nothing for pairs, which SQLite has no other table for than ROUNDS.
std::unique_ptr<GameDatabase> sqlite_games(const std::string& folder, GameDesign design, const StoreSettings& settings);

struct GameRun {
  GameShape shape;
  StoreSettings store;
  std::vector<GameDesign> designs{GameDesign::Eao, GameDesign::Rounds, GameDesign::Pairs};
  std::vector<unsigned> threads{1, 2};
  std::vector<std::string> workloads{"retrieve", "mix", "add"};
  std::size_t retrievals = 20'000;  // of a slice
  std::size_t additions = 5'000;
  bool sqlite = true;
};

// All cells of a run. Designs take turns as rivals do, so that they can be compared; each workload is shown as it is
// there.
std::vector<Row> run_games(const std::string& benchmark, const GameRun& run, const Settings& settings);

// What `noam_bench` offers.
std::vector<Row> bench_game(const Settings& settings);
std::vector<Row> bench_game_sync(const Settings& settings);
std::vector<Row> bench_experiment(const Settings& settings);
std::vector<Row> bench_scaling(const Settings& settings);

}  // namespace noam::bench
