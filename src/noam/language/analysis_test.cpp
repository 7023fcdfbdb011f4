#include "noam/language/analysis.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/language/parser.h"
#include "noam/language/rules.h"

namespace noam::language {

namespace {

// What a text means, and what is wrong with it.
struct Read {
  std::unique_ptr<SourceFile> source;
  Tree tree;
  Diagnostics diagnostics;
  model::Model model;

  explicit Read(const std::string& text) : source(std::make_unique<SourceFile>("test.noam", "model test\n" + text)) {
    tree = parse(*source, diagnostics);
    model = analyze(tree, *source, diagnostics);
    diagnostics.sort();
  }

  [[nodiscard]] std::string said() const { return render(diagnostics, *source); }
  [[nodiscard]] std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const Diagnostic& diagnostic : diagnostics.all()) codes.emplace_back(info(diagnostic.code).name);
    return codes;
  }
  [[nodiscard]] std::string parameter(const model::Query& query, std::size_t index) const {
    return model::to_string(model, query.parameters.at(index).type);
  }
  [[nodiscard]] std::string parameter(const model::Command& command, std::size_t index) const {
    return model::to_string(model, command.parameters.at(index).type);
  }
};

using Codes = std::vector<std::string>;

const char* const blog = R"(
entity User ~100 { name: text(20) key  born: date?  follows: set<User> ~5 inverse followers  friends: set<User> inverse friends }
entity Post ~1_000 { id: int key  author: User inverse posts ~10  at: timestamp  words: text  score: decimal = 0  tags: set<text>  state: "draft" | "open" }
)";

}  // namespace

TEST(Analysis, KnowsHowLongTheTextsOfACollectionAre) {
  const Read read("entity E { k: int key  a: text(~80)  b: list<text(~60)> ~5  c: map<text(~10), text(~30)> }");
  ASSERT_EQ(read.said(), "");
  const auto& fields = read.model.entities.at(0).fields;
  EXPECT_EQ(fields.at(1).about_bytes, 80);
  EXPECT_EQ(fields.at(2).about_bytes, 60);
  EXPECT_EQ(fields.at(3).about_bytes, 30);
  EXPECT_EQ(fields.at(0).about_bytes, std::nullopt);
}

TEST(Analysis, ConnectsRolesInBothDirections) {
  const Read read(blog);
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  ASSERT_EQ(read.model.roles.size(), 3U);
  const model::Role& author = read.model.roles[2];
  EXPECT_EQ(author.inverse, "posts");
  EXPECT_FALSE(author.many);
  EXPECT_EQ(author.backward.count, 10.0);
  EXPECT_TRUE(read.model.roles[0].many);
  EXPECT_TRUE(read.model.roles[1].symmetric);
  EXPECT_EQ(read.model.entities[0].inverses, (std::vector<std::uint32_t>{0, 2}));
}

TEST(Analysis, GivesAnEntityWithoutAKeyAHiddenOne) {
  const Read read("entity Event { at: timestamp }");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const model::Entity& event = read.model.entities[0];
  ASSERT_EQ(event.fields.size(), 2U);
  EXPECT_TRUE(event.fields[1].hidden);
  EXPECT_EQ(event.fields[1].type.kind, model::TypeKind::TimeUuid);
  EXPECT_EQ(event.key, (std::vector<std::uint32_t>{1}));
}

TEST(Analysis, FindsTheTypeOfAParameterFromItsUses) {
  const Read read(std::string(blog) + R"(
query by_author($a) { select p.id from Post p where p.author = $a }
query by_key($n) { select u.born from User u where u.name = $n }
query cheap($x, $n) { select p.id from Post p where p.score * 2 > $x order by p.score limit $n }
query tagged($t, $ids) { select p.id from Post p where p.tags contains $t and p.id in $ids }
query since($from) { select p.id from Post p where hour(p.at) >= $from and p.state = "open" }
query in_state($s) { select p.id from Post p where p.state = $s }
command follow($a, $b) { add User[$b] to User[$a].follows }
command vote($id, $n) { update Post[$id] { score: score + $n } }
command drop_all($ids) { for $i in $ids { delete Post[$i] } }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const auto& queries = read.model.queries;
  EXPECT_EQ(read.parameter(queries[0], 0), "User");
  EXPECT_EQ(read.parameter(queries[1], 0), "text");
  EXPECT_EQ(read.parameter(queries[2], 0), "decimal");
  EXPECT_EQ(read.parameter(queries[2], 1), "int");
  EXPECT_EQ(read.parameter(queries[3], 0), "text");
  EXPECT_EQ(read.parameter(queries[3], 1), "list<int>");
  EXPECT_EQ(read.parameter(queries[4], 0), "timestamp");
  EXPECT_EQ(read.parameter(queries[5], 0), "\"draft\" | \"open\"");
  const auto& commands = read.model.commands;
  EXPECT_EQ(read.parameter(commands[0], 0), "User");
  EXPECT_EQ(read.parameter(commands[1], 1), "decimal");
  EXPECT_EQ(read.parameter(commands[2], 0), "list<Post>");
}

TEST(Analysis, LearnsATypeFromALaterUse) {
  const Read read(R"(
value Round { moves: text  spell: text? }
entity Game { id: text key  rounds: list<Round> }
command add_round($id, $round) {
  require (select count(*) from Game[$id].rounds r where r.spell = $round.spell) = 0
  append $round to Game[$id].rounds
}
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_EQ(read.parameter(read.model.commands[0], 1), "Round");
}

TEST(Analysis, TakesAnIntForAParameterThatIsOnlyBesideNumbers) {
  const Read read(std::string(blog) + "query some($page) { select u.name from User u where $page + 1 > 0 }");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_EQ(read.parameter(read.model.queries[0], 0), "int");
}

TEST(Analysis, ShowsBothPlacesWhereUsesDisagree) {
  const Read read(std::string(blog) + "query q($x) { select p.id from Post p where p.at = $x and p.words = $x }");
  ASSERT_EQ(read.codes(), Codes{"parameter-conflict"});
  const Diagnostic& diagnostic = read.diagnostics.all()[0];
  ASSERT_EQ(diagnostic.labels.size(), 1U);
  EXPECT_LT(diagnostic.labels[0].span.begin, diagnostic.span.begin);
  EXPECT_NE(diagnostic.message.find("text"), std::string::npos);
  EXPECT_NE(diagnostic.labels[0].text.find("timestamp"), std::string::npos);
}

TEST(Analysis, MakesAParameterOptionalWhereEveryUseStoresItInSomethingOptional) {
  const Read read(std::string(blog) + R"(
command register($n, $b) { insert User { name: $n, born: $b } }
command register_born($n, $b) { require $b > date "2000-01-01"  insert User { name: $n, born: $b } }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_FALSE(read.model.commands[0].parameters[0].type.optional);
  EXPECT_TRUE(read.model.commands[0].parameters[1].type.optional);
  EXPECT_FALSE(read.model.commands[1].parameters[1].type.optional);
}

TEST(Analysis, FillsInDefaultsAtInsert) {
  const Read read(
      std::string(blog) +
      "command post($id, $a) { insert Post { id: $id, author: $a, at: now(), words: \"\", state: \"draft\" } }");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const model::Change& insert = read.model.commands[0].changes[0];
  ASSERT_EQ(insert.assignments.size(), 7U);
  EXPECT_EQ(insert.assignments[4].value.constant, model::Literal(std::string("0")));
  EXPECT_EQ(insert.assignments[5].value.kind, model::ExprKind::List);
}

TEST(Analysis, TellsARowValueFromAFold) {
  const Read read(std::string(blog) + R"(
query likes { select u.name, count(u.followers) as n from User u }
query all { select count(*) as n, max(p.score) as best from Post p }
query nested { select u.name, (select p.id, p.at from u.posts p order by p.at desc limit 1) as last,
               (select count(*) from u.posts p) as n, (select p.id from u.posts p) as posts from User u order by last.at }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_FALSE(read.model.queries[0].select.folded);
  EXPECT_EQ(read.model.queries[0].select.columns[1].expr.kind, model::ExprKind::CountOf);
  EXPECT_TRUE(read.model.queries[1].select.folded);
  const auto& columns = read.model.queries[2].select.columns;
  EXPECT_EQ(columns[1].expr.type.kind, model::TypeKind::Row);
  EXPECT_TRUE(columns[1].expr.type.optional);
  EXPECT_EQ(columns[2].expr.type.kind, model::TypeKind::Int);
  EXPECT_EQ(columns[3].expr.type.kind, model::TypeKind::Rows);
}

TEST(Analysis, LetsAGroupedVariableDetermineItsFields) {
  const Read by_variable(std::string(blog) +
                         "query q { select u.born, count(*) as n from User u, u.posts p group by u }");
  EXPECT_TRUE(by_variable.diagnostics.empty()) << by_variable.said();
  const Read by_key(std::string(blog) +
                    "query q { select u.born, count(*) as n from User u, u.posts p group by u.name }");
  EXPECT_TRUE(by_key.diagnostics.empty()) << by_key.said();
  const Read by_other(std::string(blog) +
                      "query q { select u.born, count(*) as n from User u, u.posts p group by p.state }");
  EXPECT_EQ(by_other.codes(), Codes{"not-grouped"});
}

TEST(Analysis, ReadsRefreshedQueriesInAnyOrder) {
  const Read read(std::string(blog) + R"(
query fans refresh every 1 hour { select f.name, count(*) as n from top t, User[t.name] u, u.followers f group by f.name order by n desc limit 9 }
query top refresh every 1 hour keep 24 { select u.name, count(u.followers) as n from User u order by n desc limit 9 }
query series($from) { select t.refreshed, t.name from top history t where t.refreshed >= $from }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_EQ(read.model.queries[1].refresh->keep, 24);
  EXPECT_EQ(read.parameter(read.model.queries[2], 0), "timestamp");
}

TEST(Analysis, ReportsAMistakeInARefreshedQueryOnceThoughOthersReadIt) {
  const Read read(std::string(blog) + R"(
query fans($n) { select t.name from top t where t.name = $n }
query top refresh every 1 hour { select u.name, u.nmae from User u }
)");
  EXPECT_EQ(read.codes(), Codes{"unknown-field"});
}

TEST(Analysis, SaysNothingAboutWhatDependsOnAMistake) {
  const Read read(R"(
entity User { name: txt key  follows: set<User> inverse followers }
entity Post { id: int key  author: Usr inverse posts }
query q($n) { select u.name, p.id from User u, u.posts p where u.name = $n and p.author.name = $n }
command c($n) { insert User { name: $n } }
)");
  EXPECT_EQ(read.codes(), (Codes{"unknown-type", "unknown-type"}));
}

TEST(Analysis, SaysNothingInAPartOfTheTextThatWasNotUnderstood) {
  const Read read(std::string(blog) + R"(
query q { select u.nme p.x from User u }
command c($n) { update User[$n] { born }  delete Post[$n].x }
)");
  for (const std::string& code : read.codes()) EXPECT_NE(code, "unknown-name") << read.said();
}

TEST(Analysis, WorksOutMixes) {
  const Read read(std::string(blog) + R"(
query a { select u.name from User u }
query b { select u.name from User u }
command c($n) { delete User[$n] }
group reads { a b }
mix day at 120/min { reads 10  c 1 }
mix night like day { c 5 }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  EXPECT_EQ(read.model.mixes[0].rate_per_second, 2.0);
  ASSERT_EQ(read.model.mixes[1].weights.size(), 3U);
  EXPECT_EQ(read.model.mixes[1].weights[0].weight, 10.0);
  EXPECT_EQ(read.model.mixes[1].weights[2].weight, 5.0);
}

TEST(Analysis, PlacesWhatTheStarStandsFor) {
  const Read read(std::string(blog) + R"(
design d { collection posts of Post p by id { entry [author]: *  entry tags[*]  copy [p.author]: count(p.author.followers) as reach } }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const model::WrittenCollection& posts = read.model.designs[0].collections[0];
  std::vector<std::string> names;
  for (const model::Cell& cell : posts.families[0].cells) names.push_back(cell.name);
  EXPECT_EQ(names, (std::vector<std::string>{"at", "words", "score", "state"}));
  EXPECT_EQ(read.model.designs[0].rest, "eao");
}

TEST(Analysis, AsksThatKeysDetermineTheRow) {
  const auto codes = [](const std::string& collection) {
    return Read(std::string(blog) + "design d { " + collection + " }").codes();
  };
  EXPECT_EQ(codes("collection c of Post p by p.author { copy [p.at]: p.words }"), Codes{"keys-do-not-determine"});
  EXPECT_EQ(codes("collection c of Post p by p.author { copy [p.at, p.id]: p.words }"), Codes{});
  EXPECT_EQ(codes("collection c of Post p by p.author { copy [p.at] }"), Codes{});
  EXPECT_EQ(
      codes("collection c of Post p by p.author { copy [day(p.at) as day]: count(*) as n, max(p.score) as best }"),
      Codes{});
  EXPECT_EQ(
      codes("collection c of User u by u.name { copy [p.at desc, p.id]: a.born, p.words from u.follows a, a.posts p }"),
      Codes{});
  EXPECT_EQ(codes("collection c of User u by u.name { copy [p.at desc]: p.words from u.follows a, a.posts p }"),
            Codes{"keys-do-not-determine"});
  EXPECT_EQ(codes("collection c of User u by u.name { copy [a.name as followed]: a.born from u.follows a }"), Codes{});
  EXPECT_EQ(codes("collection c of Post p, words(p.words) w by w { copy [p.id]: p.words }"), Codes{});
  EXPECT_EQ(codes("collection c of Post p by p.author { copy ε: latest [ p.id, p.words ] }"), Codes{});
}

TEST(Analysis, ReadsTheReferencesThatACollectionHolds) {
  const Read read(std::string(blog) + R"(
value Team { leads: map<text, User>  posts: list<Post> }
entity Club { id: int key  teams: list<Team>  board: Team }
design d {
  collection User_by_follows of User u, references(u.follows) a by a { copy [u.name] }
  collection leads of Club c by c { copy [key(a) as role]: a as person, a.name from references(board.leads) a }
  collection posts of Club c, c.teams t, references(t.posts) p by p.id as post { copy [c, position(t) as team, position(p) as place]: c.id }
}
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const auto& collections = read.model.designs[0].collections;
  const model::WrittenCollection& by_follows = collections[0];
  ASSERT_EQ(by_follows.from, (std::vector<std::uint32_t>{0, 1}));
  const model::Variable& a = by_follows.variables[1];
  EXPECT_EQ(a.kind, model::SourceKind::References);
  EXPECT_EQ(a.type, model::reference(model::EntityId{0}));
  EXPECT_EQ(a.source.kind, model::ExprKind::Field);
  EXPECT_EQ(read.model.entities[0].fields[a.source.index].name, "follows");
  EXPECT_EQ(by_follows.by[0].expr.kind, model::ExprKind::Variable);
  EXPECT_EQ(by_follows.by[0].expr.type, a.type);
  EXPECT_EQ(by_follows.by[0].name, "a");
  const model::WrittenFamily& leads = collections[1].families[0];
  EXPECT_EQ(leads.key[0].expr.function, model::Function::MapKey);
  EXPECT_EQ(leads.cells[0].expr.type, a.type);
  EXPECT_EQ(leads.cells[1].expr.kind, model::ExprKind::Field);
  EXPECT_FALSE(leads.cells[1].expr.type.optional);
  EXPECT_EQ(collections[2].variables[2].type, model::reference(model::EntityId{1}));
  EXPECT_EQ(collections[2].families[0].key[2].expr.function, model::Function::Position);
}

TEST(Analysis, ReadsOnlyTheKeyOfWhatAReferenceNeedNotFind) {
  const std::string model = std::string(blog) + R"(
entity Member { user: User owner inverse memberships  post: Post inverse members  note: text  key (user, post) }
entity Event { at: timestamp }
entity Group { id: int key  seats: set<Member>  events: set<Event> }
)";
  const auto codes = [&](const std::string& collection) {
    return Read(model + "design d { " + collection + " }").codes();
  };
  const std::string seats = "collection c of Group g, references(g.seats) m by g ";
  EXPECT_EQ(codes(seats + "{ copy [m]: m.user, m.user.name, m.post.id as post }"), Codes{});
  EXPECT_EQ(codes(seats + "{ copy [m]: m.note }"), Codes{"path-step"});
  EXPECT_EQ(codes(seats + "{ copy [m]: m.user.born }"), Codes{"path-step"});
  EXPECT_EQ(codes(seats + "{ copy [m]: m.nothing }"), Codes{"unknown-field"});
  EXPECT_EQ(codes(seats + "{ copy [m]: count(m.user.posts) as n }"), Codes{"path-step"});
  EXPECT_EQ(codes(seats + "{ copy [m]: m.* }"), Codes{"design-column"});
  EXPECT_EQ(codes("collection c of Group g, references(g.seats) m, m.user.posts p by m { copy [p] }"),
            Codes{"path-step"});
  EXPECT_EQ(codes("collection c of Group g, references(g.seats) m, m.user u by g { copy [m]: u.born }"), Codes{});
  EXPECT_EQ(codes("collection c of Group g, references(g.seats) m, Member[m] x by g { copy [m]: x.note }"), Codes{});
  EXPECT_EQ(codes("collection c of Group g, references(g.events) e by e { copy [g.id] }"), Codes{});
  EXPECT_EQ(codes("collection c of Group g, references(g.events) e by g { copy [e]: e.at }"), Codes{"path-step"});
}

TEST(Analysis, TakesReferencesOnlyFromWhatTheFirstEntityKeeps) {
  const std::string model = std::string(blog) + R"(
value Line { post: Post  qty: int }
entity Cart { id: int key  lines: list<Line>  counts: map<Post, int>  user: User  posts: list<Post> }
)";
  const auto codes = [&](const std::string& sources) {
    return Read(model + "design d { collection c of " + sources + " x by x { copy ε } }").codes();
  };
  EXPECT_EQ(codes("Cart k, references(k.posts)"), Codes{});
  EXPECT_EQ(codes("User u, references(u.friends)"), Codes{});
  for (const char* wrong :
       {"User u, references(u.followers)", "Cart k, references(k.user)", "Cart k, references(k.id)",
        "Cart k, references(k.lines)", "Cart k, references(k.counts)", "Cart k, references(k.user.follows)",
        "User u, u.follows f, references(f.follows)", "references(User[\"mary\"].follows)", "Cart k, references(k)",
        "Cart k, references()", "Cart k, references(distinct k.posts)", "Cart k, references(k.posts, k.posts)"})
    EXPECT_EQ(codes(wrong), Codes{"wrong-arguments"}) << wrong;
  EXPECT_EQ(codes("Cart k, references(k.nothing)"), Codes{"unknown-field"});
  EXPECT_EQ(Read(model + "query q { select x from Cart k, references(k.posts) x }").codes(),
            Codes{"function-misplaced"});
  EXPECT_EQ(Read(model + "query q { select k.id from Cart k where k.posts = references(k.posts) }").codes(),
            Codes{"function-misplaced"});
  EXPECT_EQ(Read(model + "design d { collection c of Cart k, references(k.posts) x by k, position(x) { entry ε: x } }")
                .codes(),
            Codes{"family-clause"});
}

TEST(Analysis, TellsReferencesApartByThemselvesOrTheirPlace) {
  const std::string model = std::string(blog) + R"(
entity Member { user: User owner inverse memberships  post: Post inverse members  key (user, post) }
entity Group { id: int key  name: text  seats: set<Member>  row: list<User>  named: map<text, User> }
)";
  const auto codes = [&](const std::string& collection) {
    return Read(model + "design d { collection c of Group g, " + collection + " }").codes();
  };
  const Codes lost = {"keys-do-not-determine"};
  EXPECT_EQ(codes("references(g.seats) m by m { copy [g]: g.name }"), Codes{});
  EXPECT_EQ(codes("references(g.seats) m by m.user { copy [g.id, m.post.id as post]: g.name }"), Codes{});
  EXPECT_EQ(codes("references(g.seats) m by m.user { copy [g.id]: g.name }"), lost);
  EXPECT_EQ(codes("references(g.seats) m by m { copy [g.name]: g.id }"), lost);
  EXPECT_EQ(codes("references(g.seats) m by m { copy [g.name] }"), Codes{});
  EXPECT_EQ(codes("references(g.seats) m by m { copy [g.name]: count(*) as n }"), Codes{});
  EXPECT_EQ(codes("references(g.row) u by u { copy [g]: g.name }"), lost);
  EXPECT_EQ(codes("references(g.row) u by g { copy [position(u) as place]: u }"), Codes{});
  EXPECT_EQ(codes("references(g.named) u by u { copy [g]: g.name }"), lost);
  EXPECT_EQ(codes("references(g.named) u by u { copy [key(u) as name, g]: g.id }"), Codes{});
}

TEST(Analysis, LetsReferencesToATransientEntityBeKeys) {
  const std::string model = R"(
entity Page { id: int key  seen: set<Visit> }
entity Visit transient { page: Page owner inverse visits  at: timestamp }
)";
  const auto codes = [&](const std::string& collection) {
    return Read(model + "design d { " + collection + " }").codes();
  };
  EXPECT_EQ(codes("collection c of Page p, references(p.seen) v by v { copy [p.id] }"), Codes{});
  EXPECT_EQ(codes("collection c of Visit v by v { copy ε: count(*) as n }"), Codes{"transient-query"});
}

TEST(Analysis, TakesAVariableAloneAsPartOfAKey) {
  const Read read(std::string(blog) + R"(
entity Event { at: timestamp  who: User inverse events  note: text }
design d {
  collection users of User u by u { entry ε: * }
  collection events of Event e by e.who { entry [e desc]: * }
  collection days of Event e by day(at) as day, shard(e, 8) as shard { copy [e as event]: who, note }
  collection posts of User u, u.posts p by u { copy [p.author, p]: p.words }
}
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const auto& collections = read.model.designs[0].collections;
  const auto is_reference = [&](const model::Part& part, std::uint32_t variable, const char* name) {
    return part.expr.kind == model::ExprKind::Variable && part.expr.index == variable &&
           part.expr.type.kind == model::TypeKind::Reference && part.name == name;
  };
  EXPECT_TRUE(is_reference(collections[0].by[0], 0, "u"));
  EXPECT_TRUE(is_reference(collections[1].families[0].key[0], 0, "e"));
  EXPECT_TRUE(is_reference(collections[2].families[0].key[0], 0, "event"));
  EXPECT_TRUE(is_reference(collections[3].families[0].key[1], 1, "p"));
  EXPECT_EQ(collections[1].by[0].name, "who");
  // What the reference holds already need not lie in the entry once more.
  std::vector<std::string> names;
  for (const model::Cell& cell : collections[0].families[0].cells) names.push_back(cell.name);
  for (const model::Cell& cell : collections[1].families[0].cells) names.push_back(cell.name);
  EXPECT_EQ(names, (std::vector<std::string>{"born", "follows", "friends", "at", "note"}));
}

TEST(Analysis, CountsWhatACommandMakesInTheOrderOfTheText) {
  const Read read(R"(
value Code { text: text  id: uuid }
entity Coupon { number: text key  id: uuid  codes: list<Code>  owner: text }
command issue($n: list<text>, $k) {
  for $x in $n { insert Coupon { id: uuid(), owner: random_text(4), codes: [{ text: $x, id: uuid() }], number: random_text(8) } }
  append { id: uuid(), text: random_text(2) } to Coupon[$k].codes
  update Coupon[$k] { owner: greatest(random_text(3), owner) }
  require (select count(*) from Coupon[random_text(9)] c where c.owner = random_text(5)) = 0
}
command again { insert Coupon { id: uuid(), owner: random_text(4), number: random_text(8) } }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const auto& changes = read.model.commands[0].changes;
  const auto& inserted = changes[0].body[0].assignments;  // in the order of the fields
  EXPECT_EQ(inserted[0].value.index, 3U);
  EXPECT_EQ(inserted[1].value.index, 0U);
  EXPECT_EQ(inserted[2].value.operands[0].operands[1].index, 2U);
  EXPECT_EQ(inserted[3].value.index, 1U);
  EXPECT_EQ(changes[1].argument.operands[0].index, 5U);
  EXPECT_EQ(changes[1].argument.operands[1].index, 4U);
  EXPECT_EQ(changes[2].assignments[0].value.operands[0].index, 6U);
  const model::Select& select = changes[3].argument.operands[0].select[0];
  const model::Variable& found = read.model.commands[0].variables[select.from[0]];
  EXPECT_EQ(found.source.operands[0].index, 7U);
  EXPECT_EQ(select.where->operands[1].index, 8U);
  EXPECT_EQ(read.model.commands[1].changes[0].assignments[1].value.index, 0U);
}

TEST(Analysis, FindsAnInstanceByAReferenceToIt) {
  const Read read(std::string(blog) + R"(
entity Member { user: User owner inverse memberships  post: Post inverse members  key (user, post) }
command c($ms: list<Member>) { for $m in $ms { require (select count(*) from Member[$m] x) = 1 } }
)");
  ASSERT_TRUE(read.diagnostics.empty()) << read.said();
  const model::Command& command = read.model.commands[0];
  const model::Select& select = command.changes[0].body[0].argument.operands[0].select[0];
  EXPECT_EQ(command.variables[select.from[0]].kind, model::SourceKind::Instance);
}

TEST(Analysis, RefusesWhatWouldNeedTheInstancesOfATransientEntity) {
  const std::string model = R"(
entity Url { short: text key  long: text }
entity Visit transient { url: Url owner inverse visits  at: timestamp  ip: inet  cost: float }
)";
  const auto codes = [&](const std::string& query) { return Read(model + query).codes(); };
  EXPECT_EQ(codes("query q($s) { select hour(v.at) as h, count(*) as n from Url u, u.visits v where u.short = $s group "
                  "by hour(v.at) }"),
            Codes{});
  EXPECT_EQ(codes("query q($s) { select count(distinct v.ip) as n from Url u, u.visits v where u.short = $s }"),
            Codes{});
  EXPECT_EQ(codes("query q($s) { select u.long, count(u.visits) as n from Url u where u.short = $s }"), Codes{});
  EXPECT_EQ(codes("query q($s) { select v.ip from Url u, u.visits v where u.short = $s }"), Codes{"transient-query"});
  EXPECT_EQ(codes("query q($s) { select sum(v.cost) as n from Url u, u.visits v where u.short = $s }"),
            Codes{"transient-query"});
  EXPECT_EQ(codes("query q($s) { select count(*) as n from Url u, u.visits v where u.short = $s or v.at > now() }"),
            Codes{"transient-query"});
}

// Reading something twice, at every level of a nest, would double the work with each.
TEST(Analysis, TakesNoLongerForWhatIsDeeplyNested) {
  std::string counts = "0";
  std::string instances = "\"a\"";
  std::string sums = "$u";
  for (int i = 0; i < 60; ++i) {
    counts = "count((select " + counts + " as x from User v" + std::to_string(i) + "))";
    instances = "User[" + instances + "].born";
    sums = "(" + sums + " + $k)";
  }
  const Read read(std::string(blog) + "query a { select " + counts + " as n from User u }\n" + "query b { select " +
                  instances + " as n from User u }\n" + "query c($u, $k) { select p.id from Post p where p.score = " +
                  sums + " and p.words = $u and p.at = $u and p.score = $k }\n");
  EXPECT_TRUE(read.diagnostics.has_errors());
}

}  // namespace noam::language
