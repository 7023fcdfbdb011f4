#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/cli/sample.h"
#include "noam/targets/couchbase/couchbase.h"
#include "noam/targets/documents.h"
#include "noam/targets/mongodb/mongodb.h"
#include "tests/outlined.h"
#include "tests/support.h"

// How a design lies in the databases that keep documents.
namespace noam::tests {

namespace {

using targets::documents::Kind;
using targets::documents::Layout;
using targets::documents::Shape;

std::string mongodb_file(const design::Program& program, const std::string& path) {
  return file_of(targets::mongodb::generate(targets::outline(program), nullptr), path);
}

std::string couchbase_file(const design::Program& program, const std::string& path) {
  return file_of(targets::couchbase::generate(targets::outline(program), nullptr), path);
}

// All that stands below the heading of a statement.
std::string statement(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find(heading);
  EXPECT_NE(begin, std::string::npos) << heading;
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find("\n\n", begin) - begin);
}

std::vector<std::string> kind_names(const Layout& layout) {
  std::vector<std::string> out;
  for (const Kind& kind : layout.kinds()) out.push_back(kind.name);
  return out;
}

const Kind& kind(const Layout& layout, const std::string& name) {
  const auto found =
      std::find_if(layout.kinds().begin(), layout.kinds().end(), [&](const Kind& at) { return at.name == name; });
  EXPECT_NE(found, layout.kinds().end()) << name;
  return *found;
}

const std::string visits = R"(
model visits
entity Page { path: text key  title: text?  tags: set<text>  notes: list<text>  links: map<text, int> }
entity Visit transient { page: Page owner inverse visits  at: timestamp  ip: inet  country: text? }
query hours($path, $from) {
  select hour(v.at) as hour, count(*) as n from Page p, p.visits v
  where p.path = $path and hour(v.at) >= $from group by hour(v.at) order by hour desc
}
query page($path) { select p from Page p where p.path = $path }
command visit($path, $at, $ip) { insert Visit { page: $path, at: $at, ip: $ip } }
command create($path) { insert Page { path: $path } }
command note($path, $title, $note) {
  update Page[$path] { title: $title }
  append $note to Page[$path].notes
}
command remove($path) { delete Page[$path] }
)";

std::string with_design(const std::string& options) {
  return visits + "design d { collection pages of Page p by path " + options + R"( {
    entry ε: title
    entry tags[*]
    entry notes[*]
    entry links[*]
    copy hours[hour(v.at) desc as hour]: count(*) as n from p.visits v
    copy ips[v.ip as ip]: count(*) as n from p.visits v
    copy countries[v.country as country]: count(*) as n from p.visits v
  } })";
}

}  // namespace

TEST(DocumentLayout, ABlockIsADocumentAndKeyedEntriesAreDocumentsOfTheirOwn) {
  const design::Program program = program_of(with_design(""), "d");
  const targets::Outline outline = targets::outline(program);
  const Layout layout(outline, targets::mongodb::style);
  EXPECT_EQ(kind_names(layout), (std::vector<std::string>{"pages", "pages_hours", "pages_ips", "pages_countries"}));
  const Kind& pages = kind(layout, "pages");
  EXPECT_TRUE(pages.versioned);
  EXPECT_TRUE(pages.simple());
  EXPECT_EQ(pages.families[0].shape, Shape::Fields);
  EXPECT_EQ(pages.families[1].shape, Shape::Elements);
  const Kind& hours = kind(layout, "pages_hours");
  EXPECT_TRUE(hours.entries);
  EXPECT_FALSE(hours.versioned);
  EXPECT_EQ(hours.id.size(), 2U);
}

TEST(DocumentLayout, FamiliesWithOneKeyShareDocumentsAndThoseWithAConstantACollection) {
  const design::Program program = example_program("microblog", "seed003");
  const targets::Outline outline = targets::outline(program);
  const Layout layout(outline, targets::mongodb::style);
  const Kind& tweets = kind(layout, "tweets_by_authors");
  ASSERT_EQ(tweets.families.size(), 2U);
  EXPECT_TRUE(tweets.versioned);
  EXPECT_EQ(kind(layout, "follower_relations_by_users").families.size(), 2U);
  const Kind& users = kind(layout, "users");
  EXPECT_EQ(users.families.back().shape, Shape::Subdocument);
  EXPECT_EQ(users.families.back().name, "numbers");
}

TEST(DocumentLayout, APartThatSortsOtherwiseHasATextForItsOrder) {
  const design::Program program = program_of(with_design(""), "d");
  const targets::Outline outline = targets::outline(program);
  const Layout mongodb(outline, targets::mongodb::style);
  EXPECT_EQ(kind(mongodb, "pages_ips").id[1].order, "noam_order_of_ip");
  EXPECT_EQ(kind(mongodb, "pages_hours").id[1].order, "");
  EXPECT_EQ(kind(mongodb, "pages_countries").id[1].order, "");
  // Couchbase can't ask for what is absent.
  const Layout couchbase(outline, targets::couchbase::style);
  EXPECT_EQ(kind(couchbase, "pages_countries").id[1].order, "noam_order_of_country");
}

TEST(DocumentLayout, EntriesMayLieInTheDocumentOfTheirBlock) {
  const design::Program program = program_of(with_design("with mongodb(documents: \"blocks\")"), "d");
  const targets::Outline outline = targets::outline(program);
  const Layout layout(outline, targets::mongodb::style);
  EXPECT_EQ(kind_names(layout), std::vector<std::string>{"pages"});
  const std::string statements = mongodb_file(program, "statements.js");
  const std::string visit = statement(statements, "// command visit");
  expect_part(visit, "updateOne({ _id: path, hours: { $elemMatch: { hour } } }, { $inc: { \"hours.$.n\": n } });");
  expect_part(visit, "$push: { hours: { $each: [{ hour, n }], $sort: { hour: -1 } } }");
  expect_part(statement(statements, "// query hours"), "{ $match: { \"hours.hour\": { $gte: hour_from } } }");
}

TEST(DocumentLayout, FamiliesWithOneKeyShareTheEntriesOfAnArray) {
  const design::Program program = program_of(R"(
    model posts
    entity User { name: text key  likes: set<Post> inverse liked_by }
    entity Post { id: int key  author: User inverse posts  text: text }
    design d {
      collection posts of Post p by p.author as author with mongodb(documents: "blocks") {
        entry [p.id as id]: p.text
        copy [p.id as id]: count(p.liked_by) as likes
      }
    })",
                                             "d");
  const TemporaryFolder folder;
  write_file(folder.path() / "User.jsonl", R"({"name": "ann", "likes": [7]})");
  write_file(folder.path() / "Post.jsonl", R"({"id": 7, "author": "ann", "text": "hello"})");
  const auto sample = cli::read_sample(program, {folder.path().string()});
  ASSERT_TRUE(sample) << sample.error().message;
  expect_part(
      file_of(targets::mongodb::generate(targets::outline(program), &*sample), "data.js"),
      "by_id: [{ id: NumberLong(\"7\"), text: \"hello\", noam_version: NumberLong(\"1\"), likes: NumberLong(\"1\") }]");
}

TEST(DocumentLayout, AValueOfAnOptionThatMeansNothingIsToldOf) {
  const design::Program program =
      program_of(with_design("with mongodb(documents: \"inside\") with mongodb(entries: \"flat\")"), "d");
  const auto warnings = targets::mongodb::generate(targets::outline(program), nullptr).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, "unknown-option");
  EXPECT_EQ(warnings[0].message, "`documents` of pages is \"inside\"");
}

TEST(MongoStatements, WhatACommandWritesToADocumentIsOneRequest) {
  const design::Program program = program_of(with_design(""), "d");
  const std::string note = statement(mongodb_file(program, "statements.js"), "// command note");
  expect_part(note,
              "updateOne({ _id: path, noam_version }, {\n"
              "  $set: { title, [\"notes.\" + position]: value, noam_version: noam_next_version }\n});");
  EXPECT_EQ(note.find("updateOne"), note.rfind("updateOne"));
}

TEST(MongoStatements, InsertsAreWholeAndDeletesAskForTheVersion) {
  const std::string statements = mongodb_file(program_of(with_design(""), "d"), "statements.js");
  expect_part(statement(statements, "// command create"),
              "insertOne({ _id: path, path, title, tags, notes, links, "
              "noam_version: NumberLong(\"1\") });");
  expect_part(statement(statements, "// command remove"), "deleteOne({ _id: path, noam_version });");
}

TEST(MongoStatements, CountersAreAddedToAndRangesComeInOrder) {
  const std::string statements = mongodb_file(program_of(with_design(""), "d"), "statements.js");
  const std::string visit = statement(statements, "// command visit");
  expect_part(
      visit,
      "db.getCollection(\"pages_hours\").updateOne({ _id: { path, hour } }, { $inc: { n } }, { upsert: true });");
  expect_part(visit, "$setOnInsert: { noam_order_of_ip }");
  expect_part(statement(statements, "// query hours"),
              "find({ \"_id.path\": path, \"_id.hour\": { $gte: hour_from } })\n  .sort({ \"_id.hour\": -1 })");
}

TEST(MongoStatements, ElementsMayBeFieldsOfTheirOwn) {
  const design::Program program = program_of(with_design("with mongodb(entries: \"flat\")"), "d");
  const std::string note = statement(mongodb_file(program, "statements.js"), "// command note");
  expect_part(note, "[\"notes[\" + position + \"]\"]: value");
  expect_part(mongodb_file(program, "schema.js"), "\"^notes\\\\[\": { bsonType: \"string\" }");
}

TEST(MongoSchema, AsksForNoFieldThatMayBeWithoutAnEntry) {
  // An empty list is an entry of its own that is not there; inside another it is an empty array.
  expect_part(mongodb_file(example_program("game", "etf"), "schema.js"),
              "required: [\"_id\", \"username\", \"noam_version\", \"first_name\", \"last_name\"]");
  expect_part(mongodb_file(example_program("game", "eao"), "schema.js"),
              "required: [\"_id\", \"username\", \"noam_version\", \"first_name\", \"last_name\", \"games\"]");
}

TEST(CouchbaseStatements, NameTheKeyAsNoFieldIsNamed) {
  expect_part(couchbase_file(example_program("microblog", "seed003"), "statements.n1ql"),
              "SELECT META(d).id AS noam_key, d.`id`, d.`noam_version`");
}

TEST(MongoSchema, HasAnIndexForTheOrderOfEntries) {
  const std::string schema = mongodb_file(program_of(with_design(""), "d"), "schema.js");
  expect_part(
      schema,
      "db.getCollection(\"pages_hours\").createIndex({ \"_id.path\": 1, \"_id.hour\": -1 }, { name: \"in_order\" });");
  expect_part(
      schema,
      "db.getCollection(\"pages_ips\").createIndex({ \"_id.path\": 1, noam_order_of_ip: 1 }, { name: \"in_order\" });");
  expect_part(schema, "required: [\"_id\", \"path\", \"noam_version\", \"tags\", \"notes\", \"links\"]");
  expect_part(schema, "tags: { bsonType: \"array\", items: { bsonType: \"string\" }, uniqueItems: true }");
  expect_part(schema, "country: { anyOf: [{ bsonType: \"null\" }, { bsonType: \"string\" }] }");
}

TEST(CouchbaseStatements, AreSqlAndCallsOfTheKeyValueService) {
  const std::string statements = couchbase_file(program_of(with_design(""), "d"), "statements.n1ql");
  const std::string visit = statement(statements, "-- command visit");
  expect_part(visit,
              "MERGE INTO `visits`.`d`.`pages_hours` AS d\n"
              "  USING [{\"noam_key\": $noam_key}] AS s ON KEY s.noam_key\n"
              "  WHEN MATCHED THEN UPDATE SET d.`n` = IFMISSINGORNULL(d.`n`, 0) + $n\n"
              "  WHEN NOT MATCHED THEN INSERT {\"path\": $path, \"hour\": $hour, \"n\": $n};");
  expect_part(visit,
              "key-value: pages_hours.mutateIn(noam_key, [upsert(\"path\", path), upsert(\"hour\", hour), "
              "increment(\"n\", n)], { storeSemantics: StoreSemantics.Upsert })");
  expect_part(statement(statements, "-- query hours"),
              "  WHERE d.`path` = $path AND d.`hour` >= $hour_from\n"
              "  ORDER BY d.`path`, d.`hour` DESC;");
  expect_part(statement(statements, "-- command remove"),
              "DELETE FROM `visits`.`d`.`pages` AS d USE KEYS $noam_key WHERE d.`noam_version` = $noam_version;");
}

TEST(CouchbaseSchema, MayBeRunAgain) {
  const std::string schema = couchbase_file(program_of(with_design(""), "d"), "schema.n1ql");
  expect_part(schema, "CREATE SCOPE `visits`.`d` IF NOT EXISTS;\n");
  expect_part(schema, "CREATE COLLECTION `visits`.`d`.`pages_hours` IF NOT EXISTS;\n");
  expect_part(schema, "CREATE INDEX `in_order` IF NOT EXISTS ON `visits`.`d`.`pages_hours` (`path`, `hour` DESC);\n");
}

TEST(CouchbaseData, LiesUnderKeysThatAreTexts) {
  const design::Program program = example_program("game", "independent_pairs");
  const auto sample = cli::read_sample(program, {(source_dir() / "examples/game/figure3").string()});
  ASSERT_TRUE(sample) << sample.error().message;
  const std::string data = file_of(targets::couchbase::generate(targets::outline(program), &*sample), "data.n1ql");
  expect_part(data, "(KEY, VALUE) VALUES (\"mary\", {\"username\":\"mary\",\"first_name\":\"Mary\"");
  expect_part(data, "(KEY, VALUE) VALUES (\"2345::0\", {\"game\":\"2345\",\"position\":0,\"moves\":\"north, east\"");
}

// Every statement of every example has its requests, and whatever a name is, it is one that is taken.
TEST(DocumentTargets, WriteEveryExampleUnderEveryStrategy) {
  for (const char* name : {"game", "microblog", "shortener", "eventlog", "rubis"}) {
    for (const char* strategy : {"eao", "etf", "normalized"}) {
      const design::Program program = example_program(name, strategy);
      const targets::Outline outline = targets::outline(program);
      for (auto* const statements : {targets::mongodb::statements, targets::couchbase::statements}) {
        for (const targets::ListedStatement& listed : statements(outline))
          for (const targets::ListedStep& step : listed.steps) {
            if (!step.asks) continue;
            EXPECT_FALSE(step.requests.empty())
                << name << " " << strategy << " " << listed.heading << ": " << step.text;
            for (const targets::Native& native : step.requests)
              EXPECT_TRUE(!native.text.empty() || native.why_not == "by the request above") << step.text;
          }
      }
    }
  }
}

}  // namespace noam::tests
