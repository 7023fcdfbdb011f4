#include "noam/model/show.h"

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/layout.h"
#include "noam/model/sample_for_tests.h"

namespace noam::model {
namespace {

using namespace sample;
TEST(ShowText, TellsTheModelAsItWasUnderstood) {
  EXPECT_EQ(show_text(whole_blog()), R"(model blog
3 entities, 1 value, 3 roles, 1 query, 2 commands, 1 group, 2 mixes, 1 design

entities
  User  ~1_000_000 × 1.2 kB = 1.2 GB
    username   text(20)              20 B  key
    follows    set<User>           1.0 kB  ~50 inverse followers
    addresses  map<text, Address>   160 B  ~2

  Tweet  ~50_000_000 × 168 B = 8.4 GB
    id       uuid               16 B  key auto
    author   User               20 B  inverse tweets ~50
    at       timestamp           8 B
    content  text(~120)        120 B
    status   "draft" | "sent"    4 B  = "draft"
    ttl      90 days from at
    require  content != ""

  Visit  transient  ≈150_000_000 × 40 B
    tweet     Tweet      16 B  owner inverse visits ~3
    at        timestamp   8 B
    (hidden)  timeuuid   16 B  key auto

values
  Address  60 B
    street  text      20 B
    city    text(40)  20 B
    zip     text?     20 B

roles
  User.follows  -> User   ~50    User.followers  -> User   ≈50
  Tweet.author  -> User     1    User.tweets     -> Tweet  ~50
  Visit.tweet   -> Tweet    1    Tweet.visits    -> Visit   ~3  owner

queries
  newest($username: text, $since: timestamp?)
    walks    User[username = $username] -> follows -> tweets[at > $since] t
    gives    id: uuid, username: text(20), n: int = count(t.visits)
    order    t.at desc, id limit 25

commands
  post($author: User, $content: text)
    does     inserts Tweet (makes id)

  follow($a: User, $b: User)
    does     adds to User.follows

groups
  Writing  post, follow

mixes
              day  500/s     night
                          like day
  newest  90.00 %  450/s   33.33 %
  post     8.00 %   40/s   66.67 %
  follow   2.00 %   10/s

designs
  `by hand`  for cassandra  rest eao
    collection tweets_by_author of Tweet t by author
      with cassandra(caching: "ALL")
      entry [at desc as date_time, id]: content, status
      copy numbers: count(visits) as visits limit 10
)");
}

TEST(ShowText, IsShortOfAnEmptyModel) {
  Model model;
  model.name = "nothing yet";
  EXPECT_EQ(show_text(model), "model `nothing yet`\nnothing in it\n");
}

// The walk that a query tells.
std::string walk(const Model& model) {
  const std::string text = show_text(model);
  const auto begin = text.find("walks") + 9;
  return text.substr(begin, text.find('\n', begin) - begin);
}

class Walk : public testing::Test {
 protected:
  static Model blog_with_newest() {
    Model made = blog();
    add_newest(made);
    return made;
  }

  Model model = blog_with_newest();
  Query& query = model.queries[0];
  Select& select = query.select;
  const Expr u = variable(0, reference(user));
  const Expr a = variable(1, reference(user));
  const Expr t = variable(2, reference(tweet));
};

TEST_F(Walk, NamesAVariableOnlyWhereItIsNamedElsewhere) {
  select.order_by.clear();
  select.columns.pop_back();
  EXPECT_EQ(walk(model), "User[username = $username] -> follows -> tweets[at > $since]");
}

TEST_F(Walk, KeepsWhatJoinsVariablesApart) {
  select.where =
      call(Function::Not, {call(Function::Equal, {field_of(model, u, Username), field_of(model, a, Username)})});
  EXPECT_EQ(walk(model), "User u -> follows a -> tweets t");
  EXPECT_NE(show_text(model).find("    where    u.username != a.username\n"), std::string::npos);
}

TEST_F(Walk, BeginsAnewWhereAVariableDoesNotGoOn) {
  query.variables[2].source = inverse_of(model, u, RoleAuthor);
  EXPECT_EQ(walk(model), "User[username = $username] u -> follows, u.tweets[at > $since] t");
}

TEST_F(Walk, FindsInstancesByWhatWasFoundBefore) {
  query.variables[1].kind = SourceKind::Instance;
  query.variables[1].source = instance(user, {field_of(model, u, Username)});
  EXPECT_EQ(walk(model), "User[username = $username] u -> User[u] -> tweets[at > $since] t");
}

TEST_F(Walk, NamesTheVariableWhoseReferenceFindsAnInstance) {
  query.variables[2] = variable_over("b", SourceKind::Instance, reference(user), variable(1, reference(user)));
  select.columns = {column("username", field_of(model, variable(2, reference(user)), Username))};
  select.where.reset();
  select.order_by.clear();
  EXPECT_EQ(walk(model), "User -> follows a -> User[a]");
}

TEST_F(Walk, NeedsNoNameForOneVariable) {
  select.from = {2};
  query.variables[2] = variable_over("t", SourceKind::Entity, reference(tweet));
  select.columns = {column("n", count_of(inverse_of(model, t, RoleTweet)))};
  select.where = call(Function::Greater, {field_of(model, t, At), parameter(1)});
  EXPECT_EQ(walk(model), "Tweet[at > $since]");
  EXPECT_NE(show_text(model).find("    gives    n: int = count(visits)\n    order    at desc, id limit 25\n"),
            std::string::npos)
      << show_text(model);
}

TEST_F(Walk, TellsWholeAggregatesGroupsAndRefreshes) {
  Column whole = column("a", a);
  whole.aggregate = true;
  whole.without = {Follows};
  select.columns = {whole, column("hour", call(Function::Hour, {field_of(model, t, At)}, scalar(TypeKind::Timestamp)))};
  select.distinct = true;
  select.group_by = {call(Function::Hour, {field_of(model, t, At)}, scalar(TypeKind::Timestamp))};
  select.order_by.clear();
  query.refresh = Refresh{60, 1000};
  const std::string text = show_text(model);
  EXPECT_NE(text.find("    refresh  every 1 hour, 1_000 kept\n"), std::string::npos);
  EXPECT_NE(text.find("    distinct a: whole User without follows, hour: timestamp = hour(t.at)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    group    hour\n    limit    25\n"), std::string::npos) << text;
}

// What a command tells that it does.
std::string deed(Model model, std::vector<Change> changes) {
  Command command;
  command.name = "c";
  command.parameters = {parameter_named("id", text())};
  command.variables = {variable_over("", SourceKind::Target, reference(user)),
                       variable_over("t", SourceKind::Entity, reference(tweet)),
                       variable_over("x", SourceKind::Loop, text(), parameter(0))};
  command.changes = std::move(changes);
  model.commands = {command};
  const std::string shown = show_text(model);
  const auto begin = shown.find("does") + 9;
  return shown.substr(begin, shown.find('\n', begin) - begin);
}

TEST(Deed, IsToldInWords) {
  const Model model = blog();
  const Expr path = field_of(model, variable(0, reference(user)), Follows);
  const auto change = [&](ChangeKind kind, EntityId entity) {
    Change out;
    out.kind = kind;
    out.entity = entity;
    out.path = path;
    return out;
  };
  EXPECT_EQ(deed(model, {}), "nothing");
  EXPECT_EQ(deed(model, {change(ChangeKind::Put, user)}), "puts User");
  EXPECT_EQ(deed(model, {change(ChangeKind::Insert, visit)}), "inserts Visit");
  EXPECT_EQ(deed(model, {change(ChangeKind::Delete, tweet)}), "deletes Tweet with each Visit of it");
  EXPECT_EQ(deed(model, {change(ChangeKind::Append, user), change(ChangeKind::Append, user)}),
            "appends to User.follows (twice)");
  EXPECT_EQ(deed(model, {change(ChangeKind::Remove, user), change(ChangeKind::RemoveKey, user)}),
            "removes from User.follows; removes a key from User.follows");

  Change then = change(ChangeKind::Add, user);
  then.then = true;
  EXPECT_EQ(deed(model, {change(ChangeKind::Insert, tweet), then, then, then}),
            "inserts Tweet (makes id); then adds to User.follows (3 times)");

  Change update = change(ChangeKind::Update, user);
  update.assignments = {{field_of(model, variable(0, reference(user)), Follows), Expr()},
                        {field_of(model, variable(0, reference(user)), Addresses), Expr()}};
  EXPECT_EQ(deed(model, {update}), "updates User (follows, addresses)");

  Change bulk = change(ChangeKind::DeleteWhere, tweet);
  bulk.variable = 1;
  bulk.where = call(Function::Equal, {field_of(model, variable(1, reference(tweet)), Content), parameter(0)});
  bulk.limit = number(10);
  EXPECT_EQ(deed(model, {bulk}), "deletes every Tweet with each Visit of it where content = $id, limit 10");

  Change require = change(ChangeKind::Require, user);
  require.argument = call(Function::Equal, {parameter(0), words("x")});
  Change loop = change(ChangeKind::For, user);
  loop.variable = 2;
  loop.body = {require, change(ChangeKind::Put, user)};
  EXPECT_EQ(deed(model, {loop}), "for each of $id: requires $id = \"x\", puts User");
}

TEST(Shows, SurviveWhatIsUnknown) {
  Model model = whole_blog();
  for (auto& entity : model.entities) {
    for (auto& field : entity.fields) field.type = Type();
    entity.key.clear();
  }
  model.queries[0].select.columns.push_back(column("x", Expr()));
  model.queries[0].select.where = Expr();
  model.queries[0].select.from = {0, 1, 2, 77};
  model.queries[0].variables[1].source = Expr();
  model.commands[0].changes.emplace_back();
  model.mixes[0].weights.push_back({{true, 99}, 1});
  model.groups[0].statements.push_back({false, 99});
  model.mixes.emplace_back();
  EXPECT_FALSE(show_text(model).empty());
  EXPECT_FALSE(Json::parse(show_json(model)).empty());
}

TEST(ShowJson, HasEverything) {
  const Json json = Json::parse(show_json(whole_blog()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["model"], "blog");
  EXPECT_EQ(json["entities"][0]["key"], Json::array({"username"}));
  EXPECT_EQ(json["entities"][0]["fields"][1]["type"]["text"], "set<User>");
  EXPECT_EQ(json["entities"][0]["fields"][1]["type"]["element"]["entity"], "User");
  EXPECT_EQ(json["entities"][1]["ttl"], (Json{{"minutes", 129'600}, {"from", "at"}}));
  EXPECT_EQ(json["entities"][1]["require"][0], "content != \"\"");
  EXPECT_EQ(json["entities"][1]["fields"][4]["default"], "\"draft\"");
  EXPECT_EQ(json["entities"][2]["instances"], (Json{{"value", 150'000'000}, {"derived", true}}));
  EXPECT_TRUE(json["entities"][2]["fields"][2]["name"].is_null());
  EXPECT_EQ(json["roles"][1]["inverse"], "tweets");
  EXPECT_EQ(json["roles"][0]["backward"], (Json{{"value", 50}, {"derived", true}}));
  const Json& query = json["queries"][0];
  EXPECT_EQ(query["parameters"][1]["type"]["text"], "timestamp?");
  EXPECT_EQ(query["select"]["from"][1]["source"], "u.follows");
  EXPECT_EQ(query["select"]["from"][1]["kind"], "path");
  EXPECT_EQ(query["select"]["where"], "u.username = $username and t.at > $since");
  EXPECT_EQ(query["select"]["order_by"][0], (Json{{"expression", "t.at"}, {"descending", true}}));
  EXPECT_EQ(query["select"]["limit"], "25");
  EXPECT_EQ(query["row"]["columns"][2]["name"], "n");
  EXPECT_EQ(json["commands"][0]["changes"][0]["kind"], "insert");
  EXPECT_EQ(json["commands"][0]["changes"][0]["assignments"][1], (Json{{"target", "at"}, {"value", "now()"}}));
  EXPECT_EQ(json["commands"][1]["changes"][0]["target"], "User[$a]");
  EXPECT_EQ(json["commands"][1]["changes"][0]["path"], "follows");
  EXPECT_EQ(json["groups"][0]["statements"], Json::array({"post", "follow"}));
  EXPECT_EQ(json["mixes"][0]["weights"][0], (Json{{"statement", "newest"}, {"weight", 90}, {"share", 0.9}}));
  EXPECT_EQ(json["mixes"][1]["like"], "day");
  const Json& collection = json["designs"][0]["collections"][0];
  EXPECT_EQ(collection["options"][0]["value"], "\"ALL\"");
  EXPECT_EQ(collection["families"][0]["pattern"], "[t.at desc as date_time, t.id]");
  EXPECT_EQ(collection["families"][0]["cells"][0]["expression"], "t.content");
  EXPECT_EQ(collection["families"][1]["limit"], 10);
}

TEST(Show, TellsReferencesFromExistingTargets) {
  Model model = whole_blog();
  WrittenCollection& collection = model.designs[0].collections[0];
  const Expr u = variable(0, reference(user));
  collection.variables = {variable_over("u", SourceKind::Entity, reference(user)),
                          variable_over("a", SourceKind::References, reference(user), field_of(model, u, Follows))};
  collection.name = "User_by_follows";
  collection.from = {0, 1};
  collection.by = {Part{variable(1, reference(user)), false, "a", {}}};
  collection.families.clear();
  EXPECT_NE(show_text(model).find("collection User_by_follows of User u, references(u.follows) a by a\n"),
            std::string::npos);
  const Json json = Json::parse(show_json(model));
  const Json& from = json["designs"][0]["collections"][0]["from"][1];
  EXPECT_EQ(from["variable"], "a");
  EXPECT_EQ(from["kind"], "references");
  EXPECT_EQ(from["source"], "references(u.follows)");
  EXPECT_EQ(from["type"]["kind"], "reference");
}

TEST(ShowJson, TakesAnyBytesInNames) {
  Model model = blog();
  model.entities[0].name = "\xff\"\\\n";
  EXPECT_EQ(Json::parse(show_json(model))["entities"][0]["name"], "\uFFFD\"\\\n");
}

TEST(Layout, CountsTheColumnsOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("é"), 1U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("人物"), 4U);
  EXPECT_EQ(pad_right("人", 4), "人  ");
  EXPECT_EQ(pad_left("≈5", 4), "  ≈5");
}

TEST(Layout, BreaksLinesBetweenItems) {
  const std::string word(30, 'x');
  EXPECT_EQ(wrapped("  ", 4, std::vector<std::string>{word, word, word, "y z"}),
            "  " + word + ", " + word + ", " + word + ",\n    y z\n");
  const std::string quoted = "\"" + std::string(98, ' ') + "\"";
  EXPECT_EQ(wrapped("", 2, "a " + quoted + " b"), "a\n  " + quoted + "\n  b\n");
  EXPECT_EQ(wrapped("a ", 2, std::vector<std::string>{}), "a\n");
}

TEST(Layout, PrintsFiguresForPeople) {
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(figure(999), "999");
  EXPECT_EQ(figure(1000), "1_000");
  EXPECT_EQ(figure(1'234'567), "1_234_567");
  EXPECT_EQ(figure(2.5), "2.5");
  EXPECT_EQ(figure(1.0 / 3), "0.333");
  EXPECT_EQ(figure(1234.5), "1_234");
  EXPECT_EQ(figure(Estimate{50, true}), "≈50");
  EXPECT_EQ(figure(std::optional<Estimate>()), "*");
  EXPECT_EQ(bytes_figure(0), "0 B");
  EXPECT_EQ(bytes_figure(999), "999 B");
  EXPECT_EQ(bytes_figure(999.6), "1.0 kB");
  EXPECT_EQ(bytes_figure(1234), "1.2 kB");
  EXPECT_EQ(bytes_figure(12'345), "12 kB");
  EXPECT_EQ(bytes_figure(9'990'000), "10 MB");
  EXPECT_EQ(bytes_figure(8.4e9), "8.4 GB");
  EXPECT_EQ(bytes_figure(2e18), "2000 PB");
}

}  // namespace
}  // namespace noam::model
