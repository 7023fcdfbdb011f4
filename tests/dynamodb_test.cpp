#include "noam/targets/dynamodb/dynamodb.h"

#include <string>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/cli/sample.h"
#include "noam/targets/dynamodb/items.h"
#include "noam/targets/dynamodb/layout.h"
#include "noam/targets/dynamodb/requests.h"
#include "tests/outlined.h"

// DynamoDB's tables, items and requests, where they are decided. tests/servers asks emulators of it.
namespace noam::tests {

namespace {

using targets::Read;
using targets::WriteKind;
using targets::dynamodb::Layout;
using targets::dynamodb::Request;
using Laid = Outlined<Layout>;

Laid example(const std::string& name, const std::string& strategy) { return {example_text(name), strategy}; }

std::string key_of(const Laid& laid, const std::string& table) {
  for (const auto& at : laid.layout().tables()) {
    if (at.name != table) continue;
    std::string out = at.partition.attribute + ":" + at.partition.letter;
    if (at.sort) out += " " + at.sort->attribute + ":" + at.sort->letter;
    return out;
  }
  return "no table";
}

TEST(DynamoTables, HaveAnItemABlock) {
  const Laid game = example("game", "figure8");
  ASSERT_EQ(game.layout().tables().size(), 2U);
  EXPECT_EQ(key_of(game, "Player"), "username:S");
  EXPECT_EQ(game.layout().item_mates(game.family("Player.games")).size(), 5U);
}

TEST(DynamoTables, OfKeyedEntriesHaveASortKey) {
  const Laid shortener = example("shortener", "seed000");
  EXPECT_EQ(key_of(shortener, "url"), "short:S");
  EXPECT_EQ(key_of(shortener, "url_hours"), "short:S hour:S");
  EXPECT_EQ(key_of(shortener, "url_countries"), "short:S country:S");
  EXPECT_EQ(key_of(shortener, "url_ips"), "short:S noam_key:B");
}

TEST(DynamoTables, AreSharedByFamiliesWithOneKey) {
  const Laid blog = example("microblog", "seed003");
  const auto& layout = blog.layout();
  const auto& base = blog.family("tweets_by_authors (base)");
  EXPECT_EQ(layout.item_mates(base).size(), 2U);
  EXPECT_EQ(layout.placed(base).present, "noam_version");
  EXPECT_EQ(layout.placed(blog.family("tweets_by_authors (copy)")).present, "number_of_likes");
  // One table, but not one item: a part of the key differs.
  const auto& follows = blog.family("follower_relations_by_users (copy 1)");
  EXPECT_EQ(layout.table(follows).families.size(), 2U);
  EXPECT_EQ(layout.item_mates(follows).size(), 1U);
}

TEST(DynamoTables, HaveNamesOfThreeLettersAtLeast) {
  const Laid laid("model m entity A { id: int key  on: bool } query a($id) { select x from A x where x.id = $id }",
                  "eao");
  EXPECT_EQ(laid.layout().tables()[0].name, "A_table");
  EXPECT_EQ(key_of(laid, "A_table"), "id:N");
}

TEST(DynamoReads, NameEveryAttributeByAPlaceholder) {
  const Laid shortener = example("shortener", "seed000");
  const Request get = read_request(shortener.layout(), shortener.read("url"));
  EXPECT_EQ(get.operation, "GetItem");
  EXPECT_EQ(get.body["Key"].dump(), R"({"short":{"S":":short"}})");
  EXPECT_EQ(get.body["ProjectionExpression"], "#noam_version, #long, #created, #custom");
  EXPECT_EQ(get.body["ExpressionAttributeNames"]["#long"], "long");
}

TEST(DynamoReads, GoBackwardsWhereTheOrderIsDescending) {
  const Laid shortener = example("shortener", "seed000");
  Read read = shortener.read("url.hours");
  EXPECT_EQ(read_request(shortener.layout(), read).body["ScanIndexForward"], false);
  read.reverse = true;
  EXPECT_EQ(read_request(shortener.layout(), read).body["ScanIndexForward"], true);
}

TEST(DynamoReads, HaveBounds) {
  const Laid shortener = example("shortener", "seed000");
  Read read = shortener.read("url.hours");
  read.low = true;
  read.low_inclusive = false;
  EXPECT_EQ(read_request(shortener.layout(), read).body["KeyConditionExpression"],
            "#short = :short AND #hour > :hour_from");
  read.high = true;
  const Request both = read_request(shortener.layout(), read);
  EXPECT_EQ(both.body["KeyConditionExpression"], "#short = :short AND #hour BETWEEN :hour_from AND :hour_to");
  EXPECT_NE(both.note, "");
}

TEST(DynamoReads, TurnBoundsOfDescendingPartsInBytes) {
  const Laid blog = example("microblog", "seed003");
  Read read = blog.read("caches_by_users");
  read.low = true;
  const Json values = read_request(blog.layout(), read).body["ExpressionAttributeValues"];
  EXPECT_EQ(values[":noam_key_from"].dump(), R"({"B":"AA=="})");  // before everything
  EXPECT_EQ(values[":noam_key_to"].dump(), R"({"B":":noam_key(date_time_from)+FF"})");
}

TEST(DynamoReads, HaveALimitAlsoWithAFilter) {
  const Laid blog = example("microblog", "seed003");
  Read read = blog.read("tweets_by_authors (copy)");
  read.limited = true;
  const auto request = read_request(blog.layout(), read);
  EXPECT_TRUE(request.body.contains("FilterExpression"));
  EXPECT_EQ(request.body["Limit"], ":noam_limit");
  expect_part(request.note, "until there is enough");
}

TEST(DynamoReads, OfOneFamilyOfATableAskForIts) {
  const Laid blog = example("microblog", "seed003");
  const Request query = read_request(blog.layout(), blog.read("follower_relations_by_users (copy 2)"));
  EXPECT_EQ(query.body["KeyConditionExpression"], "#username = :username AND begins_with(#noam_key, :noam_key)");
  EXPECT_EQ(query.body["ExpressionAttributeValues"][":noam_key"].dump(), R"x({"B":":noam_key('follower')"})x");
}

TEST(DynamoWrites, OfOneItemAreOneRequest) {
  const Laid game = example("game", "figure8");
  const auto requests = base_requests(game.layout(), {game.write("Player.username", WriteKind::Insert),
                                                      game.write("Player.first_name", WriteKind::Put)});
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].operation, "PutItem");
  EXPECT_EQ(requests[0].body["ConditionExpression"], "attribute_not_exists(#username)");
  EXPECT_EQ(requests[0].body["Item"]["noam_version"].dump(), R"({"N":"1"})");
  EXPECT_EQ(requests[0].body["Item"]["games[:position]"].dump(), R"({"M":":value"})");
}

TEST(DynamoWrites, RaiseTheVersionOfTheirAggregate) {
  const Laid game = example("game", "independent_pairs");
  const auto requests = base_requests(game.layout(), {game.write("GameRound", WriteKind::Put)});
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].body["TableName"], "Game");
  EXPECT_EQ(requests[1].body["UpdateExpression"], "SET #noam_version = :noam_next_version");
  EXPECT_EQ(transaction(requests).body["TransactItems"].size(), 2U);
}

TEST(DynamoWrites, LeaveWhatOthersHaveInTheItem) {
  const Laid shortener = example("shortener", "seed000");
  const auto insert = base_requests(shortener.layout(), {shortener.write("url", WriteKind::Insert)});
  EXPECT_EQ(insert[0].operation, "UpdateItem");
  EXPECT_EQ(insert[0].body["ConditionExpression"], "attribute_not_exists(#noam_version)");
  const Request erase = copy_request(shortener.layout(), shortener.write("url.unique", WriteKind::Erase));
  EXPECT_EQ(erase.body["UpdateExpression"], "REMOVE #unique_visitors, #unique_noam_weight");
  const Request add = copy_request(shortener.layout(), shortener.write("url.hours", WriteKind::Add));
  EXPECT_EQ(add.body["UpdateExpression"], "ADD #visits :visits");
  const Laid blog = example("microblog", "seed003");
  const Request map = copy_request(blog.layout(), blog.write("users.numbers", WriteKind::Erase));
  EXPECT_EQ(map.body["UpdateExpression"], "REMOVE #numbers");
}

TEST(DynamoItems, OfFigure7) {
  const Laid game = example("game", "figure8");
  const auto sample = cli::read_sample(game.program(), {(source_dir() / "examples/game/figure3").string()});
  ASSERT_TRUE(sample) << sample.error().message;
  const auto requests = put_requests(game.layout(), *sample);
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0]["TableName"], "Player");
  EXPECT_EQ(requests[0]["Item"]["games[1]"].dump(), R"({"M":{"game":{"S":"2611"},"opponent":{"S":"ann"}}})");
  EXPECT_FALSE(requests[0]["Item"].contains("score"));
  EXPECT_EQ(requests[2]["Item"]["first_player"].dump(), R"({"S":"mary"})");
}

}  // namespace

}  // namespace noam::tests
