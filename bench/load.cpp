// Many rows at once: Session::load against loaders that were written by hand (entity Player of examples/game).

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include "bench/examples.h"
#include "bench/floor.h"
#include "bench/noam_database.h"
#include "noam/cli/load_command.h"

namespace noam::bench {
namespace {

using model::Datum;

constexpr std::size_t batch_rows = 1'000;  // of the loaders written by hand
const std::size_t noam_rows = cli::LoadRun().batch_records;

struct Player {
  std::string username;
  std::string first_name;
  std::string last_name;
  std::int64_t score = 0;
};

std::string value_of(const Player& player) {
  std::string value;
  append_text(player.first_name, value);
  append_text(player.last_name, value);
  append_i64(player.score, value);
  append_u32(0, value);  // games
  return value;
}

class NoamLoader {
 public:
  explicit NoamLoader(const std::string& folder)
      : database_(folder, example("game/game.noam"), "eao", {}), player_(database_.query("player")) {}

  Tally load(const std::vector<Player>& players) {
    Tally tally;
    for (std::size_t begin = 0; begin < players.size(); begin += noam_rows) {
      const std::size_t end = std::min(begin + noam_rows, players.size());
      std::vector<Datum::List> rows;
      rows.reserve(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        const Player& player = players[i];
        rows.push_back({player.username, player.first_name, player.last_name, Datum(player.score), Datum::List()});
      }
      tally.done += end - begin - database_.try_to_load("Player", std::move(rows));
    }
    return tally;
  }

  std::uint64_t bytes_of(const std::string& username) { return database_.ask(player_, {Datum(username)}); }

 private:
  NoamDatabase database_;
  Statement player_;
};

// Batches in the order of the rows, or one sorted table that is handed to RocksDB. Both look for each key first.
class FloorLoader {
 public:
  FloorLoader(const std::string& folder, bool ingests) : folder_(folder), database_(folder, {}), ingests_(ingests) {}

  Tally load(const std::vector<Player>& players) { return ingests_ ? ingest(players) : put(players); }

  std::uint64_t bytes_of(const std::string& username) {
    rocksdb::PinnableSlice found;
    if (!database_.read(username, found)) return 0;
    Fields fields(found);
    const std::uint64_t names = fields.text_bytes() + fields.text_bytes();
    return username.size() + names + 8;
  }

 private:
  Tally put(const std::vector<Player>& players) {
    Tally tally;
    rocksdb::PinnableSlice found;
    for (std::size_t begin = 0; begin < players.size(); begin += batch_rows) {
      const std::size_t end = std::min(begin + batch_rows, players.size());
      std::unordered_set<std::string_view> here;
      rocksdb::WriteBatch batch;
      for (std::size_t i = begin; i < end; ++i) {
        if (!here.insert(players[i].username).second || database_.read(players[i].username, found)) continue;
        batch.Put(players[i].username, value_of(players[i]));
        ++tally.done;
      }
      database_.write(batch);
    }
    return tally;
  }

  Tally ingest(const std::vector<Player>& players) {
    Tally tally;
    rocksdb::PinnableSlice found;
    std::vector<const Player*> sorted;
    for (const Player& player : players) sorted.push_back(&player);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Player* a, const Player* b) { return a->username < b->username; });
    const std::string file = folder_ + ".sst";
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), database_->GetOptions());
    must(writer.Open(file));
    const Player* last = nullptr;
    for (const Player* player : sorted) {
      if ((last != nullptr && last->username == player->username) || database_.read(player->username, found)) continue;
      must(writer.Put(player->username, value_of(*player)));
      last = player;
      ++tally.done;
    }
    if (tally.done == 0) return tally;
    must(writer.Finish());
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    must(database_->IngestExternalFile({file}, options));
    return tally;
  }

  std::string folder_;
  FloorDatabase database_;
  bool ingests_;
};

}  // namespace

std::vector<Row> bench_load(const Settings& settings) {
  const Folder folder(settings.folder);
  NoamLoader noam(folder.path() + "/noam");
  FloorLoader floor(folder.path() + "/floor", false);
  FloorLoader ingest(folder.path() + "/ingest", true);
  const std::size_t count = settings.quick ? 3'000 : 100'000;
  std::vector<Player> players;
  std::size_t slices = 0;
  Cell cell;
  cell.benchmark = "load";
  cell.workload = "rows";
  cell.design = "eao";
  cell.size = grouped(count) + " a slice";
  cell.operations = count;
  cell.prepare = [&](std::uint64_t seed) {
    Random random(seed);
    players.clear();
    const std::size_t first = slices++ * count;
    // In no order, each hundredth a second time.
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t number = first + (i % 100 == 99 ? i - 1 : i) * 7'919 % count;
      Random of(number);
      players.push_back({fmt::format("user{:08}", number), some_letters(of, 6), some_letters(of, 10),
                         static_cast<std::int64_t>(random.below(1'000))});
    }
  };
  cell.rivals = {{"noam", [&](unsigned) { return noam.load(players); }, true},
                 {"floor", [&](unsigned) { return floor.load(players); }, true},
                 {"ingest", [&](unsigned) { return ingest.load(players); }, true}};
  std::vector<Row> rows;
  measure_into(rows, cell, settings);
  for (std::size_t i = 0; i < count; i += 97) {
    const std::string& username = players[i].username;
    const std::uint64_t bytes = noam.bytes_of(username);
    if (bytes == 0 || floor.bytes_of(username) != bytes || ingest.bytes_of(username) != bytes)
      throw Failed(fmt::format("load: other players {}", username));
  }
  return rows;
}

}  // namespace noam::bench
