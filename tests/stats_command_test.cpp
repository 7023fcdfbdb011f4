#include "noam/cli/stats_command.h"

#include <cstdlib>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/cli/lines.h"
#include "noam/compile/compile.h"
#include "noam/stores/memory.h"
#include "tests/compiled.h"
#include "tests/support.h"

// `noam stats`: what is measured, how it is printed, and what becomes of a model that is told.
namespace noam::tests {

namespace {

std::string example(const std::string& name) { return (source_dir() / "examples" / name / (name + ".noam")).string(); }
std::string morning() { return (source_dir() / "examples/microblog/morning.jsonl").string(); }

// A model, under a strategy, with some requests carried out.
struct Database {
  Database(const std::shared_ptr<const model::Model>& model, const std::string& strategy,
           const std::vector<std::string>& requests) {
    stores::MemoryOptions options;
    options.heat_one_in = 1;
    options.scan_page = 3;  // so that blocks and instances go over the end of a page
    store = stores::open_memory_store(options);
    auto opened = open_session(model, strategy, *store);
    EXPECT_TRUE(opened) << strategy << ": " << opened.error().message;
    session = std::move(*opened);
    for (const std::string& request : requests) {
      const Json answer = Json::parse(cli::answer_request(*session, request));
      EXPECT_TRUE(answer.contains("outcome") && answer["outcome"] == "applied") << request << "\n" << answer;
    }
  }
  [[nodiscard]] runtime::Statistics measure(std::size_t top = 5) const {
    auto measured = runtime::measure(*session, top);
    EXPECT_TRUE(measured) << measured.error().message;
    return std::move(*measured);
  }

  std::unique_ptr<stores::Store> store;
  std::unique_ptr<runtime::Session> session;
};

std::string spread_text(const runtime::Spread& spread) {
  return fmt::format("{} of {}, {} {} {}", spread.average(), spread.count(), spread.at(0.5), spread.at(0.99),
                     spread.largest());
}

std::string field_text(const runtime::FieldStatistics& field) {
  return fmt::format("present {} absent {} bytes {} lengths {} distinct {}", field.present, field.absent,
                     spread_text(field.bytes), spread_text(field.lengths),
                     field.counted ? field.values.distinct() : -1);
}

// What does not depend on the design.
std::string data_of(const runtime::Statistics& statistics, const model::Model& model) {
  std::string out;
  for (std::size_t e = 0; e < model.entities.size(); ++e) {
    out += fmt::format("{} {}\n", model.entities[e].name, statistics.entities[e].instances);
    for (std::size_t f = 0; f < model.entities[e].fields.size(); ++f)
      out += fmt::format("  {} {}\n", model.entities[e].fields[f].name, field_text(statistics.entities[e].fields[f]));
  }
  for (std::size_t v = 0; v < model.values.size(); ++v)
    for (std::size_t f = 0; f < model.values[v].fields.size(); ++f)
      out += fmt::format("{}.{} {}\n", model.values[v].name, model.values[v].fields[f].name,
                         field_text(statistics.values[v][f]));
  for (std::size_t r = 0; r < model.roles.size(); ++r)
    if (statistics.roles[r].measured)
      out += fmt::format("role {} {} {}\n", r, statistics.roles[r].average, spread_text(statistics.roles[r].fan_out));
  return out;
}

std::vector<std::string> some_games() {
  std::vector<std::string> out;
  for (const char* name : {"mary", "bob", "zoe"})
    out.push_back(fmt::format(
        R"({{"run": "new_player", "params": {{"username": "{}", "first_name": "First", "last_name": "Last"}}}})",
        name));
  out.emplace_back(R"({"run": "start_game", "params": {"id": "g1", "first": "mary", "second": "bob"}})");
  out.emplace_back(R"({"run": "start_game", "params": {"id": "g2", "first": "mary", "second": "zoe"}})");
  out.emplace_back(R"({"run": "win", "params": {"username": "mary"}})");
  for (int i = 0; i < 5; ++i)
    out.emplace_back(R"({"run": "add_round", "params": {"id": "g1", "round": {"moves": "four", "spell": "fire"}}})");
  out.emplace_back(R"({"run": "add_round", "params": {"id": "g2", "round": {"moves": "sixsix", "comments": "well"}}})");
  return out;
}

}  // namespace

// Three players; mary plays two games, bob and zoe one each. Game g1 has five rounds, g2 has one.
TEST(Statistics, AreTheSameUnderEveryDesign) {
  const auto model = model_of(read_file(example("game")));
  std::size_t compared = 0;
  for (const std::string& strategy : strategies_of(*model)) {
    SCOPED_TRACE(strategy);
    const runtime::Statistics statistics = Database(model, strategy, some_games()).measure();
    EXPECT_EQ(data_of(statistics, *model),
              "Player 3\n"
              "  username present 3 absent 0 bytes 3.3333333333333335 of 3, 3 4 4 lengths 0 of 0, 0 0 0 distinct 3\n"
              "  first_name present 3 absent 0 bytes 5 of 3, 5 5 5 lengths 0 of 0, 0 0 0 distinct 1\n"
              "  last_name present 3 absent 0 bytes 4 of 3, 4 4 4 lengths 0 of 0, 0 0 0 distinct 1\n"
              "  score present 1 absent 2 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 1\n"
              "  games present 3 absent 0 bytes 0 of 0, 0 0 0 lengths 1.3333333333333333 of 3, 1 2 2 distinct -1\n"
              "Game 2\n"
              "  id present 2 absent 0 bytes 2 of 2, 2 2 2 lengths 0 of 0, 0 0 0 distinct 2\n"
              "  first_player present 2 absent 0 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 1\n"
              "  second_player present 2 absent 0 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 2\n"
              "  rounds present 2 absent 0 bytes 0 of 0, 0 0 0 lengths 3 of 2, 1 5 5 distinct -1\n"
              "Round.moves present 6 absent 0 bytes 4.333333333333333 of 6, 4 6 6 lengths 0 of 0, 0 0 0 distinct 2\n"
              "Round.comments present 1 absent 5 bytes 4 of 1, 4 4 4 lengths 0 of 0, 0 0 0 distinct 1\n"
              "Round.actions present 0 absent 6 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 0\n"
              "Round.spell present 5 absent 1 bytes 4 of 5, 4 4 4 lengths 0 of 0, 0 0 0 distinct 1\n"
              "GameInfo.game present 4 absent 0 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 2\n"
              "GameInfo.opponent present 4 absent 0 bytes 0 of 0, 0 0 0 lengths 0 of 0, 0 0 0 distinct 3\n"
              "role 0 0.6666666666666666 0.6666666666666666 of 3, 0 2 2\n"
              "role 1 0.6666666666666666 0.6666666666666666 of 3, 1 1 1\n");
    ++compared;
  }
  EXPECT_GE(compared, 8U);
}

TEST(Statistics, AreTheSameUnderEveryDesignOfTheMicroblog) {
  const auto model = model_of(read_file(example("microblog")));
  std::string first;
  for (const std::string& strategy : strategies_of(*model)) {
    SCOPED_TRACE(strategy);
    const std::string data = data_of(Database(model, strategy, lines_of(read_file(morning()))).measure(), *model);
    if (first.empty()) first = data;
    EXPECT_EQ(data, first);
  }
  EXPECT_NE(first.find("User 4\n"), std::string::npos) << first;
}

TEST(Statistics, CountBlocksOfCollectionsOverTheirFamilies) {
  const auto model = model_of(
      "model notes\n"
      "entity Note { id: text key  words: text  tags: list<text> }\n"
      "query note($id) { select n from Note n where n.id = $id }\n"
      "command write($id, $words, $tags) { insert Note { id: $id, words: $words, tags: $tags } }\n"
      "design apart { collection notes of Note n by id { entry ε: words  entry tags[*] } }\n");
  const Database database(model, "apart",
                          {R"({"run": "write", "params": {"id": "a", "words": "1234567890", "tags": []}})",
                           R"({"run": "write", "params": {"id": "b", "words": "", "tags": ["xy", "xy", "xyz"]}})"});
  const runtime::Statistics statistics = database.measure(1);
  const design::Design& design = database.session->program().design;
  ASSERT_EQ(design.collections[0].name, "notes");
  ASSERT_EQ(design.collections[0].families.size(), 2U);
  const runtime::Stored& heads = statistics.families[design.collections[0].families[0]];
  const runtime::Stored& tags = statistics.families[design.collections[0].families[1]];
  EXPECT_EQ(heads.blocks, 2U);
  EXPECT_EQ(heads.entries, 2U);
  EXPECT_EQ(tags.blocks, 1U);
  EXPECT_EQ(tags.entries, 3U);
  EXPECT_EQ(tags.most_entries, 3U);
  EXPECT_EQ(tags.bytes, 3U * 8 + 7);  // positions and texts
  const runtime::CollectionStatistics& all = statistics.collections[0];
  EXPECT_EQ(all.stored,
            (runtime::Stored{2, 5, heads.bytes + tags.bytes, 4, tags.bytes + heads.bytes - heads.most_bytes}));
  ASSERT_EQ(all.largest.size(), 1U);
  EXPECT_EQ(all.largest[0].key, stores::Key{"b"});
  EXPECT_EQ(all.largest[0].entries, 4U);
  ASSERT_EQ(statistics.hottest.size(), 1U);
  EXPECT_GT(statistics.hottest[0].share, 0.2);
}

TEST(Statistics, ReadingThemIsNoLoad) {
  const auto model = model_of(read_file(example("game")));
  const Database database(model, "etf", some_games());
  const auto before = database.store->hottest(100);
  EXPECT_EQ(database.measure(100).hottest, before);
  EXPECT_EQ(database.store->hottest(100), before);
}

TEST(GoldenStats, IsWhatTheFileSays) {
  const auto model = model_of(read_file(example("microblog")));
  const Database database(model, "seed003", lines_of(read_file(morning())));
  runtime::Statistics statistics = database.measure(2);
  statistics.hottest = {{{0, {"ann"}}, 160, 16, 0.625}, {{0, {"b\x1B"}}, 0, 16, 0.0125}};
  const std::string said = cli::statistics_text(statistics, database.session->program());
  const auto file = source_dir() / "tests/golden/stats/microblog.txt";
  if (std::getenv("NOAM_UPDATE_GOLDEN") != nullptr)
    write_file(file, said);
  else
    EXPECT_EQ(read_file(file), said);
}

TEST(StatsCommand, PrintsJson) {
  const ProgramRun run = run_noam({"stats", example("microblog"), "--after", morning(), "--json", "--top", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["schema"], 1);
  const Json& user = json["entities"][0];
  EXPECT_EQ(user["name"], "User");
  EXPECT_EQ(user["instances"], 4);
  EXPECT_EQ(user["model"]["value"], 1'000'000);
  EXPECT_EQ(user["fields"][2]["elements"]["average"], 1.25);
  EXPECT_EQ(user["fields"][2]["elements"]["model"]["factor"], 0.025);
  EXPECT_EQ(user["inverses"][0]["name"], "followers");
  EXPECT_EQ(user["inverses"][0]["largest"], 3);
  EXPECT_EQ(json["collections"][0]["largest"].size(), 1U);
  EXPECT_EQ(json["collections"][0]["largest"][0]["key"], Json::array({"ann"}));
}

TEST(StatsCommand, RefusesWrongUse) {
  EXPECT_EQ(run_noam({"stats", "-", "--write"}, "model a\n").code, 2);
  EXPECT_EQ(run_noam({"stats", "-", "--after", "-"}, "").code, 2);
  EXPECT_EQ(run_noam({"stats", "/no/such/file"}).code, 2);
  EXPECT_EQ(run_noam({"stats", example("game"), "--top", "some"}).code, 2);
}

// --- Figures in the text ---------------------------------------------------------------------------------------------

TEST(StatsFigures, HaveTwoDigits) {
  for (const auto& [number, text] : std::vector<std::pair<double, std::string>>{{0, "0"},
                                                                                {0.2, "0.2"},
                                                                                {0.213, "0.21"},
                                                                                {0.00567, "0.0057"},
                                                                                {1, "1"},
                                                                                {1.25, "1.3"},
                                                                                {9.94, "9.9"},
                                                                                {9.97, "10"},
                                                                                {12.4, "12"},
                                                                                {99.6, "100"},
                                                                                {123, "120"},
                                                                                {3'141.5, "3_100"},
                                                                                {999, "1_000"},
                                                                                {2.0, "2"},
                                                                                {0.999, "1"},
                                                                                {1e6, "1_000_000"},
                                                                                {123'456'789, "120_000_000"}})
    EXPECT_EQ(cli::rounded_figure(number), text) << number;
  for (double number = 0.001; number < 1e9; number *= 1.37) {
    std::string text = cli::rounded_figure(number);
    std::erase(text, '_');
    EXPECT_EQ(cli::rounded_figure(std::stod(text)), cli::rounded_figure(number)) << "once is enough";
  }
}

TEST(StatsFigures, AreWrittenIntoTheModel) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "microblog.noam";
  const std::string before = read_file(example("microblog"));
  write_file(file, before);
  const ProgramRun run = run_noam({"stats", file.string(), "--after", morning(), "--write"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out,
            "User: ~1_000_000 -> ~4\n"
            "User.username: text(~12) -> text(~4)\n"
            "User.follows: ~50 -> ~1.3\n"
            "User.followers: ~50 -> ~1.3\n"
            "User.likes: ~100 -> ~0.5\n"
            "Tweet.liked_by: ~2 -> ~0.5\n"
            "User.shares: ~10 -> ~0.25\n"
            "Tweet.shared_by: ~0.2 -> ~0.25\n"
            "Tweet: ~50_000_000 -> ~4\n"
            "User.tweets: ~50 -> ~1\n"
            "Tweet.content: text(~120) -> text(~23)\n");
  const std::string after = read_file(file);
  EXPECT_NE(after.find("entity User ~4 {\n"
                       "  username: text(~4) key\n"
                       "  id: int\n"
                       "  follows: set<User> ~1.3 inverse followers ~1.3 skew zipf(0.9)\n"
                       "  likes: set<Tweet> ~0.5 inverse liked_by ~0.5 skew zipf(0.9)\n"),
            std::string::npos)
      << after;
  const std::string rest = "// 1: the posts of an account.";
  EXPECT_EQ(after.substr(after.find(rest)), before.substr(before.find(rest)));
  const ProgramRun again = run_noam({"stats", file.string(), "--after", morning(), "--write"});
  EXPECT_EQ(again.out, "no changes\n");
  EXPECT_EQ(read_file(file), after);
}

TEST(StatsFigures, AreAddedWhereTheyAreMissing) {
  const std::string text =
      "model a // ~5 stays\n"
      "value Part { name: text?  raw: bytes  notes: list<text(8)> }\n"
      "entity Owner { id: text(20) key  parts: map<text, Part>  best: Part? }\n"
      "entity Item { owner: Owner inverse `items`  names: set<text>  data: json?  key (owner) }\n"
      "entity Never ~7 { id: text key  of: Owner inverse nevers }\n"
      "entity Event transient { owner: Owner owner inverse events ~3  at: timestamp }\n"
      "query q($id) { select o from Owner o where o.id = $id }\n"
      "query n($id) { select count(*) as n from Owner o, o.events e where o.id = $id }\n"
      "command put_owner($id, $parts, $best) { put Owner { id: $id, parts: $parts, best: $best } }\n"
      "command put_item($owner, $names) { put Item { owner: $owner, names: $names } }\n";
  const Database database(
      model_of(text), "eao",
      {R"({"run": "put_owner", "params": {"id": "a", "parts": [["k", {"name": "four", "raw": "AAEC", "notes": ["x", "y"]}]], "best": null}})",
       R"({"run": "put_owner", "params": {"id": "b", "parts": [], "best": null}})",
       R"({"run": "put_item", "params": {"owner": "a", "names": ["one", "three"]}})"});
  const auto rewritten = cli::with_figures(language::SourceFile("a.noam", text), database.measure());
  ASSERT_TRUE(rewritten) << rewritten.error().message;
  EXPECT_EQ(rewritten->text,
            "model a // ~5 stays\n"
            "value Part { name: text(~4)?  raw: bytes(~3)  notes: list<text(8)> ~2 }\n"
            "entity Owner ~2 { id: text(20) key  parts: map<text, Part> ~0.5  best: Part? }\n"
            "entity Item ~1 { owner: Owner inverse `items` ~0.5  names: set<text(~4)> ~2  data: json?  key (owner) }\n"
            "entity Never ~7 { id: text key  of: Owner inverse nevers }\n"
            "entity Event transient { owner: Owner owner inverse events ~3  at: timestamp }\n" +
                text.substr(text.find("query q")));
}

// Whatever was measured.
TEST(StatsFigures, ChangeNothingElseInAnyExample) {
  for (const auto& path : files_below("examples", ".noam")) {
    SCOPED_TRACE(path.string());
    const std::string text = read_file(path);
    const auto model = model_of(text);
    runtime::Statistics statistics = Database(model, "eao", {}).measure();
    std::uint64_t number = 7;
    const auto fill = [&](runtime::FieldStatistics& field) {
      field.present = 1;
      field.bytes.add(number += 13);
      field.lengths.add(number += 17);
    };
    for (auto& entity : statistics.entities) {
      entity.instances = number *= 3;
      for (auto& field : entity.fields) fill(field);
    }
    for (auto& value : statistics.values)
      for (auto& field : value) fill(field);
    for (auto& role : statistics.roles) {
      role.measured = true;
      role.average = static_cast<double>(number += 19) / 7;
    }
    const auto rewritten = cli::with_figures(language::SourceFile("model.noam", text), statistics);
    ASSERT_TRUE(rewritten) << rewritten.error().message;
    EXPECT_GE(rewritten->changes.size(), model->entities.size() - 1);
    const std::regex figures(R"(\(~[0-9_.]+\)| ?~[0-9_.]+)");
    EXPECT_EQ(std::regex_replace(rewritten->text, figures, ""), std::regex_replace(text, figures, ""));
    const auto again = cli::with_figures(language::SourceFile("model.noam", rewritten->text), statistics);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->changes, std::vector<std::string>());
    EXPECT_EQ(again->text, rewritten->text);
  }
}

}  // namespace noam::tests
