#include "noam/targets/hbase/hbase.h"

#include <string>

#include <gtest/gtest.h>

#include "noam/cli/sample.h"
#include "noam/targets/hbase/cells.h"
#include "noam/targets/hbase/layout.h"
#include "noam/targets/hbase/script.h"
#include "tests/outlined.h"

// HBase's tables, cells and commands, where they are decided. tests/servers asks HBase itself.
namespace noam::tests {

namespace {

using targets::Read;
using targets::WriteKind;
using targets::hbase::Layout;
using targets::hbase::ShellDialect;
using targets::hbase::StoredCell;
using Families = std::vector<std::string>;

using Laid = Outlined<Layout>;

Laid example(const std::string& name, const std::string& strategy) { return {example_text(name), strategy}; }

std::string written(const Laid& laid, const std::string& label, WriteKind kind) {
  return ShellDialect(laid.layout()).write(laid.write(label, kind)).text;
}

TEST(HBaseTables, HaveAFamilyForCellsAndOneForEachKey) {
  const Laid shortener = example("shortener", "seed000");
  ASSERT_EQ(shortener.layout().tables().size(), 1U);
  const auto& table = shortener.layout().tables()[0];
  EXPECT_EQ(table.name, "shortener:url");
  EXPECT_EQ(table.column_families, (Families{"e", "hours", "days", "countries", "ips"}));
  EXPECT_TRUE(table.row.plain);
  EXPECT_TRUE(shortener.layout().placed(shortener.family("url.hours")).bare);
}

TEST(HBaseTables, BeyondTheAdviceAreTold) {
  const Laid shortener = example("shortener", "seed000");
  const auto warnings = targets::beyond(targets::hbase::capabilities, targets::hbase::measure(shortener.outline()));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, "beyond-advice");
}

TEST(HBaseTables, ShowThePartsOfKeysBesideThem) {
  const Laid blog = example("microblog", "seed003");
  const auto& tweets = blog.layout().placed(blog.family("tweets_by_authors (base)"));
  EXPECT_EQ(tweets.key.names, (Families{"date_time", "tweet_id"}));
  EXPECT_FALSE(tweets.bare);
  EXPECT_EQ(blog.layout().table(blog.family("Tweet_locator")).row.names, Families{"id"});
  EXPECT_TRUE(blog.layout().placed(blog.family("follower_relations_by_users (copy 1)")).bare);
}

TEST(HBaseReads, AskForEntriesByFilters) {
  const Laid shortener = example("shortener", "seed000");
  const ShellDialect dialect(shortener.layout());
  Read read = shortener.read("url.hours");
  EXPECT_EQ(dialect.read(read).text, "get 'shortener:url', key($short), {COLUMN => 'hours'}");
  read.low = true;
  EXPECT_EQ(
      dialect.read(read).text,
      R"(get 'shortener:url', key($short), {COLUMN => 'hours', FILTER => )"
      R"x("ColumnRangeFilter(#{quoted("\x00")}, true, #{quoted(noam_key(desc($hour_from)) + "\xFF".b)}, false)"})x");
  read.low = false;
  read.limited = true;
  EXPECT_EQ(dialect.read(read).text, R"(get 'shortener:url', key($short), {COLUMN => 'hours', FILTER => )"
                                     R"x("ColumnPaginationFilter(#{$noam_limit}, 0)"})x");
  read.reverse = true;
  EXPECT_NE(dialect.read(read).why_not, "");
}

TEST(HBaseReads, WithALimitAskForTheCellsOfAsManyEntries) {
  const Laid blog = example("microblog", "seed003");
  Read read = blog.read("caches_by_users");
  read.limited = true;
  expect_part(ShellDialect(blog.layout()).read(read).text, "ColumnPaginationFilter(#{7 * $noam_limit}, 0)");
}

TEST(HBaseWrites, OfOneAggregateAreOneCheckedRow) {
  const Laid game = example("game", "figure8");
  targets::Write erased = game.write("Game.rounds", WriteKind::Erase);
  erased.gone = true;
  const auto requests = base_requests(game.layout(), {game.write("Game.id", WriteKind::Put),
                                                      game.write("Game.rounds", WriteKind::Put), erased});
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].text,
            R"(check_and_mutate 'game:Game', key($id), 'e:noam_version', int($noam_version), {
  'e:noam_length_of_rounds' => int($noam_length_of_rounds),
  "e:rounds[#{position($position)}]" => json($value),
  'e:noam_version' => int($noam_next_version)
}, ["e:rounds[#{position($position_gone)}]"])");
}

TEST(HBaseWrites, InOtherRowsFollowTheHead) {
  const Laid game = example("game", "independent_pairs");
  const auto requests = base_requests(game.layout(), {game.write("GameRound", WriteKind::Erase)});
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].text,
            "check_and_mutate 'game:Game', key($id), 'e:noam_version', int($noam_version), "
            "{'e:noam_version' => int($noam_next_version)}");
  EXPECT_EQ(requests[1].text.find("mutate_row 'game:GameRound', noam_key($game, $position), {}, ["), 0U);
}

TEST(HBaseWrites, OfCountersAdd) {
  const Laid shortener = example("shortener", "seed000");
  EXPECT_EQ(written(shortener, "url.countries", WriteKind::Add),
            R"(incr 'shortener:url', key($short), "countries:#{key($country)}", $visits)");
  EXPECT_EQ(written(shortener, "url.ips", WriteKind::Put),
            R"(put 'shortener:url', key($short), "ips:#{noam_key(inet($ip))}", int($noam_weight))");
}

TEST(HBaseWrites, LeaveThePartsOfAKeyThatOthersNeed) {
  const Laid blog = example("microblog", "seed003");
  EXPECT_EQ(written(blog, "tweets_by_authors (copy)", WriteKind::Erase).find("00date_time"), std::string::npos);
  EXPECT_NE(written(blog, "tweets_by_authors (base)", WriteKind::Erase).find("00date_time"), std::string::npos);
  EXPECT_NE(written(blog, "caches_by_users", WriteKind::Erase).find("00date_time"), std::string::npos);
}

TEST(HBaseCells, OfAList) {
  const Laid game = example("game", "figure8");
  const auto sample = cli::read_sample(game.program(), {(source_dir() / "examples/game/figure3").string()});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto cells = stored_cells(game.layout(), *sample);
  EXPECT_EQ(cells[1],
            (StoredCell{"game:Player", "mary", "e", "games[0000000000]", R"({"game":"2345","opponent":"rick"})"}));
  for (const StoredCell& cell : cells) EXPECT_FALSE(cell.value.empty());
}

}  // namespace

}  // namespace noam::tests
