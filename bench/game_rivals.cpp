#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>
#include <xxhash.h>

#include "bench/floor.h"
#include "bench/game.h"
#include "bench/sqlite.h"

namespace noam::bench {
namespace {

using model::Datum;

constexpr std::size_t load_batch = 500;  // games
constexpr unsigned most_threads = 8;

// Of one text; absent texts have one, too.
std::uint64_t sum_of(std::optional<std::string_view> text, std::uint64_t place) {
  return text ? XXH3_64bits_withSeed(text->data(), text->size(), place) : place;
}

template <typename Text>
std::uint64_t sum_of_round(const Text& moves, const Text& comments, const Text& actions, const Text& spell) {
  const std::array<std::uint64_t, 4> sums{sum_of(moves, 1), sum_of(comments, 2), sum_of(actions, 3), sum_of(spell, 4)};
  return XXH3_64bits(sums.data(), sizeof sums);
}

std::optional<std::string_view> view(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

// --- noam
// ---------------------------------------------------------------------------------------------------------------

Datum datum_of(const Round& round) {
  const auto optional = [](const std::optional<std::string>& text) { return text ? Datum(*text) : Datum(); };
  Datum::List fields;
  fields.reserve(4);
  fields.emplace_back(round.moves);
  fields.push_back(optional(round.comments));
  fields.push_back(optional(round.actions));
  fields.push_back(optional(round.spell));
  return fields;
}

std::optional<std::string_view> text_of(const Datum& datum) {
  return datum.absent() ? std::nullopt : std::optional<std::string_view>(datum.as_string());
}

class NoamGames final : public GameDatabase {
 public:
  NoamGames(const std::string& folder, GameDesign design, const StoreSettings& settings)
      : database_(folder, example("game/game.noam"), std::string(noam_design_of(design)), settings),
        game_(database_.query("game")),
        add_round_(database_.command("add_round")) {}

  void load(const GameData& data, const std::function<void(std::size_t games)>& told) override {
    std::vector<Datum::List> rows;
    for (std::size_t game = 0; game < data.shape().games; ++game) {
      Datum::List rounds;
      for (std::size_t j = 0; j < data.shape().rounds; ++j) rounds.push_back(datum_of(data.round(game, j)));
      rows.push_back(
          {GameData::id(game), GameData::first_player(game), GameData::second_player(game), std::move(rounds)});
      if (rows.size() < load_batch && game + 1 < data.shape().games) continue;
      database_.load("Game", std::move(rows));
      rows.clear();
      told(game + 1);
    }
    database_.reopen();
  }

  std::uint64_t retrieve(std::size_t game, unsigned /*thread*/) override {
    return database_.ask(game_, {Datum(GameData::id(game))});
  }

  bool add(std::size_t game, const Round& round, std::size_t /*position*/, unsigned /*thread*/) override {
    return database_.run(add_round_, {Datum(GameData::id(game)), datum_of(round)});
  }

  std::uint64_t sum_up(std::size_t game) override {
    const runtime::Rows found = database_.rows(game_, {Datum(GameData::id(game))});
    if (found.rows.empty()) return 0;
    const Datum::List& fields = found.rows[0][0].as_list();
    std::uint64_t sum = sum_of(text_of(fields[1]), 5) + sum_of(text_of(fields[2]), 6);
    for (const Datum& round : fields[3].as_list()) {
      const Datum::List& texts = round.as_list();
      sum += sum_of_round(text_of(texts[0]), text_of(texts[1]), text_of(texts[2]), text_of(texts[3]));
    }
    return sum;
  }

 private:
  NoamDatabase database_;
  Statement game_;
  Statement add_round_;
};

// --- By hand on RocksDB
// ---------------------------------------------------------------------------------------------------

void append_round(const Round& round, std::string& out) {
  append_text(round.moves, out);
  append_text(view(round.comments), out);
  append_text(view(round.actions), out);
  append_text(view(round.spell), out);
}

std::uint64_t round_bytes(Fields& fields) {
  std::uint64_t sum = fields.text_bytes();
  sum += fields.text_bytes();
  sum += fields.text_bytes();
  return sum + fields.text_bytes();
}

std::uint64_t sum_of_round(Fields& fields) {
  const auto moves = fields.text();
  const auto comments = fields.text();
  const auto actions = fields.text();
  return sum_of_round(moves, comments, actions, fields.text());
}

// EAO: one value, the number of rounds, the players, the rounds. ROUNDS: the head, and behind it in the order of keys
// each round. Pairs: the same entries, but a round's key does not lead to it from its game.
class FloorGames : public GameDatabase {
 public:
  FloorGames(const std::string& folder, GameDesign design, const StoreSettings& settings)
      : database_(folder, settings), design_(design) {}

  void load(const GameData& data, const std::function<void(std::size_t games)>& told) override {
    rocksdb::WriteBatch batch;
    for (std::size_t game = 0; game < data.shape().games; ++game) {
      std::string head = head_of(game, data.shape().rounds);
      for (std::size_t j = 0; j < data.shape().rounds; ++j) {
        if (design_ == GameDesign::Eao) {
          append_round(data.round(game, j), head);
          continue;
        }
        std::string value;
        append_round(data.round(game, j), value);
        batch.Put(round_key(game, j), value);
      }
      batch.Put(head_key(game), head);
      if (game % load_batch != 0 && game + 1 < data.shape().games) continue;
      database_.write(batch);
      batch.Clear();
      told(game + 1);
    }
    database_.reopen();
  }

  std::uint64_t retrieve(std::size_t game, unsigned /*thread*/) override {
    std::uint64_t sum = 0;
    read(
        game, [&](std::string_view text) { sum += text.size(); }, [&](Fields& round) { sum += round_bytes(round); });
    return sum;
  }

  bool add(std::size_t game, const Round& round, std::size_t /*position*/, unsigned /*thread*/) override {
    const std::string key = head_key(game);
    rocksdb::WriteBatch batch;
    rocksdb::PinnableSlice before;
    const std::lock_guard latch(database_.latch(key));
    if (!database_.read(key, before)) return false;
    const std::uint32_t count = Fields(before).u32();
    std::string head;
    head.reserve(before.size() + 1'024);
    append_u32(count + 1, head);
    head.append(before.data() + head.size(), before.size() - head.size());
    if (design_ == GameDesign::Eao) {
      append_round(round, head);
    } else {
      std::string value;
      value.reserve(1'024);
      append_round(round, value);
      batch.Put(round_key(game, count), value);
    }
    batch.Put(key, head);
    database_.write(batch);
    return true;
  }

  std::uint64_t sum_up(std::size_t game) override {
    std::uint64_t sum = 0;
    std::uint64_t place = 5;
    read(
        game,
        [&](std::string_view player) {
          if (place != 5) sum += sum_of(player, place - 1);  // without the id
          ++place;
        },
        [&](Fields& round) { sum += sum_of_round(round); });
    return sum;
  }

 protected:
  [[nodiscard]] std::string head_key(std::size_t game) const {
    return design_ == GameDesign::Rounds ? "g" + GameData::id(game) + 'h' : "g" + GameData::id(game);
  }
  [[nodiscard]] std::string round_key(std::size_t game, std::size_t position) const {
    std::string key = design_ == GameDesign::Rounds ? "g" + GameData::id(game) + 'r' : "r" + GameData::id(game);
    append_ordered_u32(static_cast<std::uint32_t>(position), key);
    return key;
  }
  static std::string head_of(std::size_t game, std::size_t rounds) {
    std::string head;
    append_u32(static_cast<std::uint32_t>(rounds), head);
    append_text(GameData::first_player(game), head);
    append_text(GameData::second_player(game), head);
    return head;
  }

  FloorDatabase database_;  // NOLINT: its blind rival has the same
  GameDesign design_;       // NOLINT

 private:
  // All of a game as it is at one moment. Nothing where it is not there.
  template <typename OnText, typename OnRound>
  void read(std::size_t game, const OnText& on_text, const OnRound& on_round) {
    const auto read_head = [&](Fields& fields) {
      const std::uint32_t count = fields.u32();
      on_text(GameData::id(game));
      on_text(*fields.text());
      on_text(*fields.text());
      return count;
    };
    rocksdb::PinnableSlice found;
    switch (design_) {
      case GameDesign::Eao: {
        if (!database_.read(head_key(game), found)) return;
        Fields fields(found);
        const std::uint32_t count = read_head(fields);
        for (std::uint32_t i = 0; i < count; ++i) on_round(fields);
        return;
      }
      case GameDesign::Rounds: {
        walk(database_, "g" + GameData::id(game), nullptr, [&](std::string_view key, std::string_view value) {
          Fields fields(value);
          if (key[0] == 'h')
            read_head(fields);
          else
            on_round(fields);
          return true;
        });
        return;
      }
      case GameDesign::Pairs: {
        const HeldSnapshot moment(database_);
        if (!database_.read(head_key(game), found, moment.get())) return;
        Fields fields(found);
        const std::uint32_t count = read_head(fields);
        for (std::uint32_t i = 0; i < count; ++i) {
          if (!database_.read(round_key(game, i), found, moment.get())) throw Failed("a round is missing");
          Fields round(found);
          on_round(round);
        }
        return;
      }
    }
  }
};

class LimitGames final : public FloorGames {
 public:
  using FloorGames::FloorGames;

  void load(const GameData& data, const std::function<void(std::size_t games)>& told) override {
    FloorGames::load(data, told);
    rounds_ = data.shape().rounds;
    // What a game of a round more looks like, for those who put it blindly.
    value_ = head_of(0, rounds_ + 1);
    for (std::size_t j = 0; j <= rounds_; ++j) append_round(data.round(0, j), value_);
  }

  std::uint64_t retrieve(std::size_t game, unsigned /*thread*/) override {
    rocksdb::PinnableSlice found;
    std::uint64_t sum = 0;
    if (design_ == GameDesign::Rounds) {
      walk(database_, "g" + GameData::id(game), nullptr, [&](std::string_view /*key*/, std::string_view value) {
        sum += value.size();
        return true;
      });
      return sum;
    }
    if (database_.read(head_key(game), found)) sum += found.size();
    for (std::size_t i = 0; design_ == GameDesign::Pairs && i < rounds_; ++i)
      if (database_.read(round_key(game, i), found)) sum += found.size();
    return sum;
  }

  bool add(std::size_t game, const Round& round, std::size_t position, unsigned /*thread*/) override {
    rocksdb::WriteBatch batch;
    if (design_ == GameDesign::Eao) {
      batch.Put(head_key(game), value_);
    } else {
      std::string value;
      value.reserve(1'024);
      append_round(round, value);
      batch.Put(round_key(game, position), value);
    }
    database_.write(batch);
    return true;
  }

 private:
  std::size_t rounds_ = 0;
  std::string value_;
};

// --- SQLite
// -------------------------------------------------------------------------------------------------------------

// A JSON array of the four texts. Ours have nothing to escape.
void append_json(const Round& round, std::string& out) {
  const auto append = [&](std::optional<std::string_view> text) {
    if (text)
      ((out += '"') += *text) += '"';
    else
      out += "null";
  };
  out += '[';
  append(round.moves);
  append((out += ',', view(round.comments)));
  append((out += ',', view(round.actions)));
  append((out += ',', view(round.spell)));
  out += ']';
}

// The texts of such JSON, in place and without a parser: in favour of SQLite.
template <typename Take>
void walk_json(std::string_view json, const Take& take) {
  for (std::size_t at = 0; (at = json.find_first_of("\"n", at)) != std::string_view::npos;) {
    if (json[at] == 'n') {
      take(std::nullopt);
      at += 4;
      continue;
    }
    const std::size_t end = json.find('"', at + 1);
    take(std::optional(json.substr(at + 1, end - at - 1)));
    at = end + 1;
  }
}

// What one thread needs.
struct SqliteGameStatements {
  SqliteGameStatements(const std::string& file, bool eao, const StoreSettings& settings)
      : connection(file, settings),
        retrieve(connection, eao ? "select id, first_player, second_player, rounds from game where id = ?1"
                                 : "select g.id, g.first_player, g.second_player, r.moves, r.comments, r.actions, "
                                   "r.spell from game g left join round r on r.game = g.id where g.id = ?1"),
        add(connection, eao ? "update game set rounds = json_insert(rounds, '$[#]', json(?2)) where id = ?1"
                            : "insert into round select id, (select coalesce(max(position) + 1, 0) from round where "
                              "game = ?1), ?2, ?3, ?4, ?5 from game where id = ?1") {}

  SqliteConnection connection;
  SqliteStatement retrieve;
  SqliteStatement add;
};

class SqliteGames final : public GameDatabase {
 public:
  SqliteGames(std::string file, bool eao, const StoreSettings& settings)
      : file_(std::move(file)), eao_(eao), settings_(settings) {}

  void load(const GameData& data, const std::function<void(std::size_t games)>& told) override {
    SqliteConnection connection(file_, settings_);
    connection.run(
        "create table game (id text primary key, first_player text not null, second_player text not null, "
        "rounds text)");
    connection.run(
        "create table round (game text, position integer, moves text not null, comments text, actions text, "
        "spell text, primary key (game, position)) without rowid");
    connection.run("begin");
    SqliteStatement game_row(connection, "insert into game values (?1, ?2, ?3, ?4)");
    SqliteStatement round_row(connection, "insert into round values (?1, ?2, ?3, ?4, ?5, ?6)");
    for (std::size_t game = 0; game < data.shape().games; ++game) {
      const std::string id = GameData::id(game);
      const std::string first = GameData::first_player(game);
      const std::string second = GameData::second_player(game);
      std::string json = "[";
      for (std::size_t j = 0; j < data.shape().rounds; ++j) {
        const Round& round = data.round(game, j);
        if (eao_) {
          if (j > 0) json += ',';
          append_json(round, json);
          continue;
        }
        round_row.bind(1, id).bind(2, static_cast<std::int64_t>(j)).bind(3, round.moves);
        round_row.bind(4, view(round.comments)).bind(5, view(round.actions)).bind(6, view(round.spell)).step();
        round_row.reset();
      }
      json += ']';
      game_row.bind(1, id).bind(2, first).bind(3, second);
      game_row.bind(4, eao_ ? std::optional<std::string_view>(json) : std::nullopt).step();
      game_row.reset();
    }
    connection.run("commit");
    told(data.shape().games);
    connection.run("pragma wal_checkpoint(truncate)");
    for (auto& thread : threads_) thread = std::make_unique<SqliteGameStatements>(file_, eao_, settings_);
  }

  std::uint64_t retrieve(std::size_t game, unsigned thread) override {
    std::uint64_t sum = 0;
    read(
        game, thread, [&](std::string_view text) { sum += text.size(); },
        [&](std::optional<std::string_view> text) { sum += text ? text->size() : 0; });
    return sum;
  }

  bool add(std::size_t game, const Round& round, std::size_t /*position*/, unsigned thread) override {
    SqliteGameStatements& mine = *threads_[thread];
    const std::string id = GameData::id(game);
    std::string json;
    mine.add.bind(1, id);
    if (eao_) {
      append_json(round, json);
      mine.add.bind(2, json);
    } else {
      mine.add.bind(2, round.moves)
          .bind(3, view(round.comments))
          .bind(4, view(round.actions))
          .bind(5, view(round.spell));
    }
    // One writer at a time it has anyway; who waits here does not sleep meanwhile.
    const std::lock_guard writer(writer_);
    mine.add.step();
    mine.add.reset();
    return mine.connection.changes() == 1;
  }

  std::uint64_t sum_up(std::size_t game) override {
    std::uint64_t sum = 0;
    std::uint64_t place = 4;
    std::vector<std::optional<std::string>> round;
    read(
        game, 0,
        [&](std::string_view player) {
          if (place != 4) sum += sum_of(player, place);  // without the id
          ++place;
        },
        [&](std::optional<std::string_view> text) {
          round.push_back(text ? std::optional<std::string>(*text) : std::nullopt);
          if (round.size() < 4) return;
          sum += sum_of_round(view(round[0]), view(round[1]), view(round[2]), view(round[3]));
          round.clear();
        });
    return sum;
  }

 private:
  template <typename OnText, typename OnRoundText>
  void read(std::size_t game, unsigned thread, const OnText& on_text, const OnRoundText& on_round_text) {
    SqliteGameStatements& mine = *threads_[thread];
    const std::string id = GameData::id(game);
    mine.retrieve.bind(1, id);
    for (bool first = true; mine.retrieve.step(); first = false) {
      for (int column = 0; first && column < 3; ++column) on_text(*mine.retrieve.text(column));
      if (eao_)
        walk_json(*mine.retrieve.text(3), on_round_text);
      else
        for (int column = 3; column < 7; ++column) on_round_text(mine.retrieve.text(column));
    }
    mine.retrieve.reset();
  }

  std::string file_;
  bool eao_;
  StoreSettings settings_;
  std::array<std::unique_ptr<SqliteGameStatements>, most_threads> threads_;
  std::mutex writer_;
};

}  // namespace

std::string_view name_of(GameDesign design) {
  switch (design) {
    case GameDesign::Eao:
      return "EAO";
    case GameDesign::Rounds:
      return "ROUNDS";
    case GameDesign::Pairs:
      return "pairs";
  }
  return {};
}

std::string_view noam_design_of(GameDesign design) {
  switch (design) {
    case GameDesign::Eao:
      return "eao";
    case GameDesign::Rounds:
      return "figure11";
    case GameDesign::Pairs:
      return "independent_pairs";
  }
  return {};
}

std::unique_ptr<GameDatabase> noam_games(const std::string& folder, GameDesign design, const StoreSettings& settings) {
  return std::make_unique<NoamGames>(folder, design, settings);
}
std::unique_ptr<GameDatabase> floor_games(const std::string& folder, GameDesign design, const StoreSettings& settings) {
  return std::make_unique<FloorGames>(folder, design, settings);
}
std::unique_ptr<GameDatabase> limit_games(const std::string& folder, GameDesign design, const StoreSettings& settings) {
  return std::make_unique<LimitGames>(folder, design, settings);
}
std::unique_ptr<GameDatabase> sqlite_games(const std::string& folder, GameDesign design,
                                           const StoreSettings& settings) {
  if (design == GameDesign::Pairs) return nullptr;
  std::filesystem::create_directories(folder);
  return std::make_unique<SqliteGames>(folder + "/games.sqlite", design == GameDesign::Eao, settings);
}

}  // namespace noam::bench
