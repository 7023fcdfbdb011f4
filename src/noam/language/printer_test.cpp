#include "noam/language/printer.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/language/diagnostics.h"
#include "noam/language/lexer.h"
#include "noam/language/parser.h"
#include "noam/language/source.h"

namespace noam::language {
namespace {

struct Read {
  SourceFile source;
  Diagnostics diagnostics;
  Tree tree;

  explicit Read(std::string text) : source("test.noam", std::move(text)) { tree = parse(source, diagnostics); }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;

  [[nodiscard]] bool good() const { return !diagnostics.has_errors(); }
  [[nodiscard]] std::string errors() const { return render(diagnostics, source); }
  [[nodiscard]] std::string printed() const { return print(tree, source); }
  [[nodiscard]] std::vector<std::string> comments() const {
    std::vector<std::string> out;
    for (const Comment& comment : tree.comments) {
      std::string text(comment.text);
      while (!text.empty() && text.back() == ' ') text.pop_back();
      out.push_back(text);
    }
    return out;
  }
};

std::string printed(const std::string& text) {
  const Read read(text);
  EXPECT_TRUE(read.good()) << read.errors();
  return read.good() ? read.printed() : "";
}

// What holds for every text without errors. True where the text was one.
bool keeps_what_is_written(const std::string& text) {
  const Read before(text);
  if (!before.good()) return false;
  const std::string once = before.printed();
  const Read after(once);
  EXPECT_TRUE(after.good()) << text << "\n-- became\n" << once << "\n-- which has\n" << after.errors();
  if (!after.good()) return true;
  EXPECT_EQ(dump(before.tree), dump(after.tree)) << text << "\n-- became\n" << once;
  EXPECT_EQ(before.comments(), after.comments()) << text << "\n-- became\n" << once;
  EXPECT_EQ(once, after.printed()) << "the second run changes\n" << once;
  return true;
}

void prints(const std::string& before, const std::string& after) {
  EXPECT_EQ(printed(before), after);
  EXPECT_TRUE(keeps_what_is_written(before));
  EXPECT_TRUE(keeps_what_is_written(after));
}

// A declaration alone.
void prints_declaration(const std::string& before, const std::string& after) {
  prints("model m\n" + before, "model m\n\n" + after + "\n");
}

void stays(const std::string& declaration) { prints_declaration(declaration, declaration); }

// Declarations as they are printed, one of each form. Every token of them is a place where something can be inserted.
const std::vector<std::string>& samples() {
  static const std::vector<std::string> all = {
      R"(model game

value Round { moves: text(~300)  comments: text(~200)?  actions: text?  spell: text? }
value GameInfo { game: Game  opponent: Player }

entity Player ~1_000_000 {
  username: text key
  first_name: text
  score: int? = 0
  games: list<GameInfo> ~4
}

entity Game ~3_000_000 { id: text key  first_player: Player  rounds: list<Round> ~12 }
)",
      R"(model shop

entity Product ~20_000 transient {
  id: uuid key auto
  tags: set<text> ~4 distinct ~50 skew zipf(0.9)
  prices: map<text, decimal> ~2
  category: Category owner ~3 inverse products ~100 distinct ~7 = absent
  status: "open" | "paid" | "shipped" = "open"
  color: ("red" | "green")?
  `key`: bytes(8)
  key (category, `key`)
  ttl 90 days from at
  require stock >= 0 and not (stock > 9 or -stock + 2 * 3 = 1)
}
)",
      R"(model microblog

query posts_of($author) { select t from Tweet t where t.author = $author order by t.at desc }

query top_accounts refresh every 1 hour keep 1000 {
  select distinct u.username, count(u.followers) as n
  from User u
  group by u.username, hour(u.at)
  order by n desc, u.username
  limit $n
}

query series($from: timestamp, $to: list<Line>?) {
  select a.refreshed, a.n
  from top_accounts history a, User[a.username].follows f
  where a.refreshed between $from and $to
}

query nested() { select c.id, (select m.body from c.messages m limit 1) as last from c.rooms["x"] c, words(c.text) w }
query counted { select count(*), count(distinct v.ip), now(), u without likes, shares from Url u }
)",
      R"(model predicates

query a($x) {
  select a
  from A a
  where a.b in [1, 2] and a.c not in $x or a.d contains all $x and a.e contains any $x and a.f starts with "a\nb"
}

query b($x) { select a from A a where not a.b is absent and a.c is not absent or (a.d ?? 0) + 1 != 3 }
query c($x) { select { a: 1, b: {} } as x, 7 days as y, timestamp "2026" as z from A a where a <= true and b < -1 }
query d { select a from A a where a.b contains 1 and a.c = false }
)",
      R"(model changes

command place($c, $ship, $lines: list<Line>) {
  for $l in $lines { require Product[$l.product].stock >= $l.qty  update Product[$l.product] { stock: stock - $l.qty } }
  insert Order { customer: $c, placed: now(), lines: $lines } as o
  update Customer[$c] { cart: {}, a.b: 1, list[$i].f: absent }
  then append { game: $id, opponent: $b } to Player[$a].games
}

command all($e) {
  put E { a: 1 }
  put $k: $v into Account[$e].prefs
  update E v where v.x = 1 { y: 2 }
  delete E[$e]
  delete E v where v.x = 1 limit 10
  add all $xs to E[$e].tags
  remove $x from E[$e].tags
  remove key $k from E[$e].prefs
  remove E[$e].history[0]
  then remove i from E[$e].games i where i.game = $id
}
)",
      R"(model mixes

group BrowseCategories { q1  q2 }

group ViewItem {
  q3  q4
}

mix bidding at 500/s { ViewItem 14.17  BrowseCategories 7.65 }
mix more like bidding at 1_000/min { ViewItem 1 }
)",
      R"(model designs

design documents for mongodb, cassandra {
  collection orders of Order o by id { entry ε: *  copy ε: buyer { o.customer.email } }

  collection hourly of Url u, u.visits v by u.short as short, hour(v.at) desc with cassandra(caching: "x", ttl: 5) {
    copy hours.days[hour(v.at) desc as hour, v.ip]: count(*) as value, r.* from u.visits v where v.x = 1 limit 800
    entry rounds[*]
    copy [a]
    copy ε: recent [ o.id, lines { l.title from o.lines l order by l.at desc, l.id as i limit 3 } from c.orders o ]
    copy ε:
        recent [ o.id, lines { l.title from o.lines l order by l.at desc, l.id as i limit 3 } from c.orders o limit 10 ]
  }

  rest eao
}

design figure9 { rest eao }
)",
  };
  return all;
}

TEST(Printer, LeavesTheSamplesAsTheyAre) {
  for (const std::string& sample : samples()) prints(sample, sample);
}

TEST(Printer, PrintsAnEmptyFileAsAnEmptyFile) {
  EXPECT_EQ(print({}, SourceFile("test.noam", "")), "");
  EXPECT_EQ(print({}, SourceFile("test.noam", "  \n\n ")), "");
}

TEST(Printer, PrintsAModelWithoutDeclarations) {
  prints("  model   game  ", "model game\n");
  prints("\n\n// c\n\n\n// d\nmodel game // e\n\n// f", "// c\n\n// d\nmodel game  // e\n\n// f\n");
}

TEST(Printer, EndsEveryLineWithALineFeed) {
  prints("model m\r\n\r\nvalue A { a: int } // c\r\nvalue B {\r\n\r\n b: int\r\n\r\n\r\n c: int }\r\n",
         "model m\n\nvalue A { a: int }  // c\n\nvalue B {\n  b: int\n\n  c: int\n}\n");
}

// Declarations

TEST(Printer, KeepsOnOneLineWhatWasOnOneLine) {
  prints_declaration("value   Round{moves:text(~300) comments : text( ~ 200 )?\n actions:text ?}",
                     "value Round { moves: text(~300)  comments: text(~200)?  actions: text? }");
}

TEST(Printer, BreaksWhatHadALineBreakAfterItsBrace) {
  prints_declaration("value Round {\nmoves: text comments: text }",
                     "value Round {\n  moves: text\n  comments: text\n}");
  prints_declaration(
      "query q {\nselect a from A a where a.b = 1 group by a.c order by a.d limit 3}",
      "query q {\n  select a\n  from A a\n  where a.b = 1\n  group by a.c\n  order by a.d\n  limit 3\n}");
  prints_declaration("command c {\n insert A {\n a: 1, b: 2 } as x delete A[1]}",
                     "command c {\n  insert A {\n    a: 1,\n    b: 2\n  } as x\n  delete A[1]\n}");
  prints_declaration("design d {\n collection A of A a by id { entry a entry b } rest etf }",
                     "design d {\n  collection A of A a by id { entry a  entry b }\n  rest etf\n}");
}

TEST(Printer, BreaksWhatIsBrokenInside) {
  prints_declaration("command c { insert A {\n a: 1 } }", "command c {\n  insert A {\n    a: 1\n  }\n}");
  prints_declaration("query q { select (\nselect count(*) from A a) as n from B b }",
                     "query q {\n  select (\n    select count(*)\n    from A a\n  ) as n\n  from B b\n}");
}

TEST(Printer, BreaksWhatDoesNotFit) {
  const std::string start = "value Long { ";
  const std::string end = " }";
  const auto field = [&](std::size_t size) { return std::string(size - start.size() - end.size() - 5, 'x') + ": int"; };
  stays(start + field(120) + end);
  prints_declaration(start + field(121) + end, "value Long {\n  " + field(121) + "\n}");
}

TEST(Printer, CountsCodePointsNotBytes) {
  std::string name;
  for (int i = 0; i < 100; ++i) name += "ä";
  stays("value V { " + name + ": int }");
}

TEST(Printer, JoinsWhatWasBrokenElsewhere) {
  prints_declaration("query q($a,\n $b)\n{ select a\nfrom A a\nwhere\na.b = 1 }",
                     "query q($a, $b) { select a from A a where a.b = 1 }");
}

TEST(Printer, SetsEmptyBracesWithoutASpace) {
  prints_declaration("design d {\n\n}", "design d {}");
  prints_declaration("command c { update A[1] { a: { } , b : [ ] } }", "command c { update A[1] { a: {}, b: [] } }");
}

TEST(Printer, PutsTheModifiersOfAFieldInOneOrder) {
  prints_declaration(
      "entity A { a: int = 0 ~5 key b: uuid auto key c: B inverse bs owner d: B ~3 owner inverse ds ~4 }",
      "entity A { a: int key ~5 = 0  b: uuid key auto  c: B owner inverse bs  d: B owner ~3 inverse ds ~4 }");
  prints_declaration("entity A { a: set<B> skew zipf(0.9) distinct ~4 ~3 inverse x skew zipf(1) ~2 = {} owner }",
                     "entity A { a: set<B> owner ~3 distinct ~4 skew zipf(0.9) inverse x ~2 skew zipf(1) = {} }");
}

TEST(Printer, LeavesTheModifiersWithCommentsBetweenThemInTheirOrder) {
  prints_declaration("entity A { a: int ~5 // five\n key // the key\n }",
                     "entity A {\n  a: int ~5  // five\n      key  // the key\n}");
  prints_declaration("entity A { a: int ~5 key // all\n }", "entity A {\n  a: int key ~5  // all\n}");
}

TEST(Printer, DoesNotMakeADurationOfADefaultAndTheNextField) {
  EXPECT_TRUE(keeps_what_is_written("model m entity A { a: int = 5 key days: int }"));
  EXPECT_TRUE(keeps_what_is_written("model m entity A { a: int = (5) days: int }"));
}

TEST(Printer, PutsTheHeadsInOneOrder) {
  prints_declaration("entity A transient ~5 { a: int }", "entity A ~5 transient { a: int }");
  prints_declaration("mix a at 5 / s like b { c 1 }", "mix a like b at 5/s { c 1 }");
}

TEST(Printer, PutsTheClausesOfAFamilyInOneOrder) {
  prints_declaration("design d { collection A of A a by id { copy [x] limit 5 where (a.b) = 1 from a.c c entry y } }",
                     "design d { collection A of A a by id { copy [x] from a.c c where a.b = 1 limit 5  entry y } }");
}

TEST(Printer, KeepsTheNameOfADatabaseInOnePiece) {
  prints_declaration("design d for mongodb , oracle-nosql { collection A of A a by id with oracle-nosql ( a : 1 ) {} }",
                     "design d for mongodb, oracle-nosql { collection A of A a by id with oracle-nosql(a: 1) {} }");
  prints_declaration(
      "design d { collection A of A a,references ( a.bs )b by b { copy [a] from references(a . cs) c } }",
      "design d { collection A of A a, references(a.bs) b by b { copy [a] from references(a.cs) c } }");
}

TEST(Printer, PrintsTheEmptyPathAsEpsilon) {
  prints_declaration("design d { collection A of A a by id { entry _ : * copy _[a]: b } }",
                     "design d { collection A of A a by id { entry ε: *  copy ε[a]: b } }");
}

TEST(Printer, SetsAnOptionalEnumerationInParentheses) {
  prints_declaration("value V { a: \"x\"|\"y\"? b: (\"x\"|\"y\") c: (\"x\")? }",
                     "value V { a: (\"x\" | \"y\")?  b: \"x\" | \"y\"  c: \"x\"? }");
}

TEST(Printer, WrapsLongLists) {
  prints_declaration(
      "query q { select t.identifier, t.published_at, t.content, t.language, count(t.liked_by) as likes, "
      "count(t.shared_by) as shares, t.author from Tweet t }",
      "query q {\n"
      "  select t.identifier, t.published_at, t.content, t.language, count(t.liked_by) as likes, count(t.shared_by) as "
      "shares,\n"
      "      t.author\n"
      "  from Tweet t\n"
      "}");
  prints_declaration(
      "command c10($name, $description, $initial, $quantity, $reserve, $buy_now, $start, $end, $seller, $category, "
      "$shipping_to) "
      "{ delete A[1] }",
      "command c10($name, $description, $initial, $quantity, $reserve, $buy_now, $start, $end, $seller, $category,\n"
      "    $shipping_to) {\n"
      "  delete A[1]\n"
      "}");
  prints_declaration(
      "mix bidding { BrowseCategories 7.65 ViewBidHistory 1.54 ViewItem 14.17 SearchItemsByCategory 15.94 ViewUserInfo "
      "2.48 "
      "RegisterItem 0.53 }",
      "mix bidding {\n"
      "  BrowseCategories 7.65  ViewBidHistory 1.54  ViewItem 14.17  SearchItemsByCategory 15.94  ViewUserInfo 2.48\n"
      "  RegisterItem 0.53\n"
      "}");
}

TEST(Printer, WrapsLongConditionsBeforeTheirOperators) {
  prints_declaration(
      "query q { select i from Item i where i.category_of_the_item = $category and i.end_date >= $date and "
      "(i.seller = $seller or i.buyer = $buyer) }",
      "query q {\n"
      "  select i\n"
      "  from Item i\n"
      "  where i.category_of_the_item = $category and i.end_date >= $date and (i.seller = $seller or i.buyer = "
      "$buyer)\n"
      "}");
  prints_declaration(
      "query q { select i from Item i where i.category_of_the_item = $category and i.end_date >= $date and "
      "(i.seller = $seller or i.buyer = $buyer) and not i.ended }",
      "query q {\n"
      "  select i\n"
      "  from Item i\n"
      "  where i.category_of_the_item = $category\n"
      "      and i.end_date >= $date\n"
      "      and (i.seller = $seller or i.buyer = $buyer)\n"
      "      and not i.ended\n"
      "}");
}

TEST(Printer, BreaksANestedSelectLikeAQuery) {
  prints_declaration(
      "command c($id, $round) { require (select count(*) from Game[$id].rounds r where r.spell = $round.spell and "
      "r.comments = $round.comments and true) = 0 }",
      "command c($id, $round) {\n"
      "  require (\n"
      "    select count(*)\n"
      "    from Game[$id].rounds r\n"
      "    where r.spell = $round.spell and r.comments = $round.comments and true\n"
      "  ) = 0\n"
      "}");
}

TEST(Printer, SetsWhatTakesSeveralLinesApartInAList) {
  prints_declaration("query q { select a, ( // c\nselect b from B b) as x, (select d from D d) as y, z from A a }",
                     "query q {\n"
                     "  select a,\n"
                     "      (  // c\n"
                     "        select b\n"
                     "        from B b\n"
                     "      ) as x,\n"
                     "      (select d from D d) as y, z\n"
                     "  from A a\n"
                     "}");
  prints_declaration(
      "design d { collection C of C c by id { copy ε: recent [\no.id, o.at from c.orders o limit 10], z } }",
      "design d {\n"
      "  collection C of C c by id {\n"
      "    copy ε:\n"
      "        recent [\n"
      "          o.id, o.at\n"
      "          from c.orders o\n"
      "          limit 10\n"
      "        ],\n"
      "        z\n"
      "  }\n"
      "}");
}

TEST(Printer, WrapsLongFamilies) {
  prints_declaration(
      "design d { collection caches_by_users of User u by u.username { copy [t.at desc as date_time, t.id desc as "
      "tweet_id]: "
      "a.username as author, t.content, t.language, count(t.liked_by) as number_of_likes from u.follows a, a.tweets t "
      "limit 800 } }",
      "design d {\n"
      "  collection caches_by_users of User u by u.username {\n"
      "    copy [t.at desc as date_time, t.id desc as tweet_id]: a.username as author, t.content, t.language,\n"
      "        count(t.liked_by) as number_of_likes\n"
      "        from u.follows a, a.tweets t limit 800\n"
      "  }\n"
      "}");
}

// Blank lines

TEST(Printer, KeepsOneBlankLineBetweenMembers) {
  prints_declaration("value V {\n\n\na: int\n\n\nb: int\nc: int\n\n}", "value V {\n  a: int\n\n  b: int\n  c: int\n}");
  prints_declaration("mix m {\na 1\n\nb 2\nc 3 }", "mix m {\n  a 1\n\n  b 2  c 3\n}");
}

TEST(Printer, KeepsDeclarationsOfOneLineTogether) {
  prints("model m group A { a } group B { b }\ngroup C { c }\n\n\n\ngroup D { d }",
         "model m\n\ngroup A { a }\ngroup B { b }\ngroup C { c }\n\ngroup D { d }\n");
}

TEST(Printer, SetsABlankLineAroundDeclarationsOfSeveralLines) {
  prints("model m\nvalue A { a: int }\nvalue B {\nb: int }\nvalue C { c: int }",
         "model m\n\nvalue A { a: int }\n\nvalue B {\n  b: int\n}\n\nvalue C { c: int }\n");
  prints("model m\nvalue A {\na: int }  // a\n// b\nvalue B { b: int }",
         "model m\n\nvalue A {\n  a: int\n}  // a\n\n// b\nvalue B { b: int }\n");
  prints("model m\nvalue A {\na: int }\n// end of a\n\nvalue B { b: int }",
         "model m\n\nvalue A {\n  a: int\n}\n// end of a\n\nvalue B { b: int }\n");
}

TEST(Printer, TreatsCollectionsAsDeclarations) {
  prints_declaration(
      "design d {\ncollection A of A a by x { entry a }\ncollection B of B b by x {\nentry b }\nrest eao }",
      "design d {\n  collection A of A a by x { entry a }\n\n  collection B of B b by x {\n    entry b\n  }\n\n  rest "
      "eao\n}");
}

// Words

TEST(Printer, WritesTextsWithTheirShortestEscapes) {
  prints_declaration(R"(value V { a: "\u{41}\u{e4}\"\\\n\t\u{7}\u{200B}\u{1F600}" })",
                     "value V { a: \"Aä\\\"\\\\\\n\\t\\u{7}\\u{200B}\U0001F600\" }");
}

TEST(Printer, KeepsBackquotesAndUnderscores) { stays("entity `order` ~1_000 { `a b`: int  c: int }"); }

TEST(Printer, KeepsParenthesesAroundOperatorsAndDropsThemAroundTheRest) {
  const auto condition = [](const std::string& before, const std::string& after) {
    prints_declaration("entity A { require " + before + " }", "entity A { require " + after + " }");
  };
  condition("(a) = ((1))", "a = 1");
  condition("((a.b)).c = (f((x), (1)))", "a.b.c = f(x, 1)");
  condition("(a = 1) and ((b = 2))", "(a = 1) and (b = 2)");
  condition("a+b*c-d", "a + b * c - d");
  condition("a-(b-c)*-(1)", "a - (b - c) * -1");
  condition("((a and b) or c) and not(d)", "((a and b) or c) and not d");
  condition("(a ?? b) ?? c", "(a ?? b) ?? c");
  condition("(7).b = 7 . b", "(7).b = (7).b");
  condition("a ?? b ?? c", "a ?? b ?? c");
  condition("- - 1 = -(-1)", "- -1 = -(-1)");
  condition("(a between 1 and 2) and (b is absent) = (c in [(1)])",
            "(a between 1 and 2) and (b is absent) = (c in [1])");
}

TEST(Printer, KeepsParenthesesAroundNamesThatAreWords) {
  for (const char* word : {"key", "all", "distinct", "select", "not", "absent", "true", "from", "where"}) {
    SCOPED_TRACE(word);
    const std::string name = word;
    keeps_what_is_written("model m command c { remove (" + name + ") from A[1].b }");
    keeps_what_is_written("model m command c { append (" + name + ") to A[1].b }");
    keeps_what_is_written("model m command c { put (" + name + "): 1 into A[1].b }");
    keeps_what_is_written("model m command c { require (" + name + ") }");
    keeps_what_is_written("model m query q { select (" + name + ") from A a }");
    keeps_what_is_written("model m query q { select count((" + name + ")) from A a where (" + name + ") = 1 limit 3 }");
  }
}

TEST(Printer, KeepsParenthesesThatKeepTheMeaning) {
  stays("query q { select { (true): 1 } from A a }");
  stays("command c { remove all ([1]) from A[1].b }");
  stays("design d { collection A of A a by id { copy ε: (a[0]), ([1]), ({}), a.b[0] } }");
  stays("entity A { a: map<(\"x\" | \"y\"), \"z\"> }");
  stays("design d { collection A of A a by id { copy limit 5 where [1] contains a.b } }");
}

TEST(Printer, DoesNotLetAColumnSlipIntoWithout) {
  EXPECT_TRUE(keeps_what_is_written("model m query q { select u without likes, (a), b from User u, u.as a }"));
}

// Comments

TEST(Printer, KeepsCommentsWhereTheyWere) {
  const std::string text = R"(// first

// second
model shop  // the model

// about the value
value Line {  // after the brace
  // before the field
  product: Product  // after the field

  // a paragraph

  // before the next
  qty: int
  // last
}  // after the value

query q($a) {
  // columns
  select a, b,  // after a column
      // before a column
      c
  // sources
  from A a  // after the sources
  where a = 1  // first
      // second
      and b = 2
  // done
}

command c {
  // only a comment
}

mix m {
  a 1  b 2  // ab
  // c
  c 3
  // end
}

design d {
  // a collection
  collection A of A a by id {
    entry ε: a, b,  // columns
        c
        // where from
        from a.b b
    // last
  }  // after

  // the rest
  rest eao
}

// the end
)";
  prints(text, text);
}

TEST(Printer, FindsANearbyPlaceForCommentsInOddPlaces) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"entity // c\n A { a: int }", "entity A {  // c\n  a: int\n}"},
      {"entity A // c\n { a: int }", "entity A {  // c\n  a: int\n}"},
      {"entity A\n// c\n{ a: int }", "entity A {\n  // c\n  a: int\n}"},
      {"entity A { a // c\n : int  b: int }", "entity A {\n  a: int  // c\n  b: int\n}"},
      {"entity A { a: int // c\n }", "entity A {\n  a: int  // c\n}"},
      {"entity A { a: int } // c", "entity A { a: int }  // c"},
      {"entity A { // c\n }", "entity A {  // c\n}"},
      {"entity A {\n// c\n }", "entity A {\n  // c\n}"},
      {"entity A { a: list< // c\n int> b: int }", "entity A {\n  a: list<int>  // c\n  b: int\n}"},
      {"entity A { key ( // c\n a, b ) }", "entity A {\n  key (a,  // c\n      b)\n}"},
      {"query q( // c\n) { select a from A a }", "query q() {  // c\n  select a\n  from A a\n}"},
      {"query q($a // c\n, $b) { select a from A a }", "query q($a,  // c\n    $b) {\n  select a\n  from A a\n}"},
      {"query q { select a from A a where ( // c\n a.b ) = 1 }",
       "query q {\n  select a\n  from A a\n  where a.b  // c\n      = 1\n}"},
      {"query q { select count(x // c\n ) as n, b from A a }",
       "query q {\n  select count(x) as n,  // c\n      b\n  from A a\n}"},
      {"command c { update A[1] { a: // c\n 1, b: 2 } }",
       "command c {\n  update A[1] {\n    a: 1,  // c\n    b: 2\n  }\n}"},
      {"entity A ~ // c\n 5 { a: int }", "entity A ~5 {  // c\n  a: int\n}"},
      {"entity A ~5 // c\n transient { a: int }", "entity A ~5 transient {  // c\n  a: int\n}"},
      {"entity A { a: map<text // c\n , int> b: int }", "entity A {\n  a: map<text, int>  // c\n  b: int\n}"},
      {"entity A { a: text( // c\n 5) b: int }", "entity A {\n  a: text(5)  // c\n  b: int\n}"},
      {"entity A { a: \"x\" // c\n | \"y\" b: int }", "entity A {\n  a: \"x\"  // c\n      | \"y\"\n  b: int\n}"},
      {"entity A { a: int = // c\n 5 b: int }", "entity A {\n  a: int = 5  // c\n  b: int\n}"},
      {"entity A { a: int inverse // c\n bs ~5 b: int }",
       "entity A {\n  a: int inverse bs  // c\n      ~5\n  b: int\n}"},
      {"entity A { a: int skew zipf( // c\n 1) b: int }", "entity A {\n  a: int skew zipf(1)  // c\n  b: int\n}"},
      {"entity A { ttl 5 // c\n days from at }", "entity A {\n  ttl 5 days from at  // c\n}"},
      {"entity A { require a // c\n = 1 }", "entity A {\n  require a  // c\n      = 1\n}"},
      {"entity A { require a = // c\n 1 }", "entity A {\n  require a = 1  // c\n}"},
      {"entity A { require not // c\n a }", "entity A {\n  require not a  // c\n}"},
      {"entity A { require a between // c\n 1 and 2 }", "entity A {\n  require a between 1  // c\n      and 2\n}"},
      {"query q refresh // c\n every 1 hour { select a from A a }",
       "query q refresh every 1 hour {  // c\n  select a\n  from A a\n}"},
      {"query q { select // c\n a, b from A a }", "query q {\n  select a,  // c\n      b\n  from A a\n}"},
      {"query q { select a // c\n as b from A a }", "query q {\n  select a as b  // c\n  from A a\n}"},
      {"query q { select a. // c\n b from A a }", "query q {\n  select a.b  // c\n  from A a\n}"},
      {"query q { select a from // c\n A a, a.b b }", "query q {\n  select a\n  from A a,  // c\n      a.b b\n}"},
      {"query q { select a from A // c\n a }", "query q {\n  select a\n  from A a  // c\n}"},
      {"query q { select a from A a order // c\n by a limit 3 }",
       "query q {\n  select a\n  from A a\n  order by a  // c\n  limit 3\n}"},
      {"query q { select a from A a limit 3 // c\n }", "query q {\n  select a\n  from A a\n  limit 3  // c\n}"},
      {"query q { select ( // c\n select b from B b) as x from A a }",
       "query q {\n  select (  // c\n    select b\n    from B b\n  ) as x\n  from A a\n}"},
      {"query q { select (select b from B b // c\n ) as x from A a }",
       "query q {\n  select (\n    select b\n    from B b  // c\n  ) as x\n  from A a\n}"},
      {"query q { select [1, // c\n 2] from A a }", "query q {\n  select [1,  // c\n          2]\n  from A a\n}"},
      {"command c { insert // c\n A { a: 1 } }", "command c {\n  insert A {  // c\n    a: 1\n  }\n}"},
      {"command c { insert A { // c\n a: 1 } as x }", "command c {\n  insert A {  // c\n    a: 1\n  } as x\n}"},
      {"command c { insert A { a: 1 // c\n } as x }", "command c {\n  insert A {\n    a: 1  // c\n  } as x\n}"},
      {"command c { insert A { a: 1 } // c\n as x }", "command c {\n  insert A { a: 1 } as x  // c\n}"},
      {"command c { update A[1] { a: { // c\n } } }", "command c {\n  update A[1] {\n    a: {  // c\n    }\n  }\n}"},
      {"command c { then // c\n delete A[1] }", "command c {\n  then delete A[1]  // c\n}"},
      {"command c { append x // c\n to A[1].b }", "command c {\n  append x  // c\n      to A[1].b\n}"},
      {"command c { for $x // c\n in $xs { delete A[$x] } }",
       "command c {\n  for $x  // c\n      in $xs { delete A[$x] }\n}"},
      {"command c { for $x in $xs { // c\n delete A[$x] } }",
       "command c {\n  for $x in $xs {  // c\n    delete A[$x]\n  }\n}"},
      {"mix m { a // c\n 1 b 2 }", "mix m {\n  a 1  // c\n  b 2\n}"},
      {"mix m at 5 // c\n /s { a 1 }", "mix m at 5/s {  // c\n  a 1\n}"},
      {"group g { a // c\n b }", "group g {\n  a  // c\n  b\n}"},
      {"group g { // c\n }", "group g {  // c\n}"},
      {"design d for // c\n mongodb { rest eao }", "design d for mongodb {  // c\n  rest eao\n}"},
      {"design d { collection A // c\n of A a by id { entry a } }",
       "design d {\n  collection A  // c\n      of A a by id {\n    entry a\n  }\n}"},
      {"design d { collection A of A a by id with x( // c\n a: 1) { entry a } }",
       "design d {\n  collection A of A a by id with x(a: 1) {  // c\n    entry a\n  }\n}"},
      {"design d { collection A of A a by id { entry // c\n a entry b } }",
       "design d {\n  collection A of A a by id {\n    entry a  // c\n    entry b\n  }\n}"},
      {"design d { collection A of A a by id { entry ε // c\n : a, b } }",
       "design d {\n  collection A of A a by id {\n    entry ε:  // c\n        a, b\n  }\n}"},
      {"design d { collection A of A a by id { copy a[ // c\n b]: c } }",
       "design d {\n  collection A of A a by id {\n    copy a[b]:  // c\n        c\n  }\n}"},
      {"design d { collection A of A a by id { copy x: y { // c\n z } } }",
       "design d {\n  collection A of A a by id {\n    copy x: y {  // c\n      z\n    }\n  }\n}"},
      {"design d { rest // c\n eao }", "design d {\n  rest eao  // c\n}"},
  };
  for (const auto& [before, after] : all) prints_declaration(before, after);
}

// Every token of every sample.

void insert_everywhere(const std::string& inserted) {
  SCOPED_TRACE("inserted: " + inserted);
  for (const std::string& sample : samples()) {
    const SourceFile source("sample.noam", sample);
    Diagnostics diagnostics;
    const Tokens tokens = lex(source, diagnostics);
    for (const Token& token : tokens.tokens) {
      std::string changed = sample;
      changed.insert(token.span.begin, inserted);
      ASSERT_TRUE(keeps_what_is_written(changed)) << Read(changed).errors();
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Printer, KeepsACommentAfterAnyToken) { insert_everywhere(" // here\n"); }
TEST(Printer, KeepsACommentBeforeAnyToken) { insert_everywhere("\n// here\n"); }
TEST(Printer, KeepsSeveralCommentsAnywhere) { insert_everywhere(" // a\n\n// b\n// c\n\n"); }
TEST(Printer, TakesALineBreakAnywhere) { insert_everywhere("\n"); }
TEST(Printer, TakesBlankLinesAnywhere) { insert_everywhere("\n\n\n"); }

TEST(Printer, PrintsTheSameTreeHoweverTheTokensAreSpaced) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::string& sample : samples()) {
    const SourceFile source("sample.noam", sample);
    Diagnostics diagnostics;
    const Tokens tokens = lex(source, diagnostics);
    const std::string meaning = dump(Read(sample).tree);
    for (int round = 0; round < 60; ++round) {
      const unsigned comments_in = round % 3 == 0 ? 0 : round % 3 == 1 ? 40 : 4;
      std::string changed;
      for (std::size_t i = 0; i + 1 < tokens.tokens.size(); ++i) {
        const Span span = tokens.tokens[i].span;
        changed += source.text(span);
        const bool apart = tokens.tokens[i + 1].span.begin > span.end;
        const auto pick = random() % 12;
        if (comments_in != 0 && random() % comments_in == 0) changed += " // " + std::to_string(i) + " \n";
        changed += pick < 5 ? (apart ? " " : "") : pick < 8 ? " " : pick < 10 ? "\n" : pick < 11 ? "\t  " : "\n \n\n";
      }
      ASSERT_TRUE(keeps_what_is_written(changed)) << Read(changed).errors();
      ASSERT_EQ(dump(Read(printed(changed)).tree), meaning);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Printer, PrintsAllOnOneLineAsItPrintsTheSample) {
  for (const std::string& sample : samples()) {
    const SourceFile source("sample.noam", sample);
    Diagnostics diagnostics;
    const Tokens tokens = lex(source, diagnostics);
    std::string flat;
    for (const Token& token : tokens.tokens) flat += std::string(source.text(token.span)) + " ";
    ASSERT_TRUE(keeps_what_is_written(flat));
  }
}

// Writes any text of the grammar, with names that are words of it, parentheses, line breaks and comments anywhere. Not
// all of it can be read: a word may mean something where a name was meant.
class AnyModel {
 public:
  explicit AnyModel(unsigned seed) : random_(seed) {
    odd_names_ = chance(2);
    comments_ = static_cast<int>(pick(3)) * 15;
    word("model");
    name();
    for (std::size_t i = pick(3) + 1; i > 0; --i) declaration();
  }

  std::string text;

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  bool chance(std::size_t in) { return pick(in) == 0; }

  void word(const std::string& token) {
    text += token;
    if (comments_ > 0 && chance(static_cast<std::size_t>(comments_))) text += " // " + std::to_string(text.size());
    const auto gap = comments_ == 0 && chance(2) ? 0 : pick(16);
    text += text.ends_with(token) && gap < 13 ? " " : gap == 14 ? "\n\n" : "\n";
  }
  template <typename... More>
  void words(const More&... more) {
    (word(more), ...);
  }
  template <typename Print>
  void many(std::size_t most, const std::string& separator, Print print) {
    for (std::size_t i = 0, count = pick(most) + 1; i < count; ++i) {
      if (i > 0 && !separator.empty()) word(separator);
      print();
    }
  }
  void name() {
    static const std::vector<std::string> plain = {"a", "b",     "Order", "long_name_of_something",
                                                   "ä", "`x y`", "`key`", "n1"};
    static const std::vector<std::string> odd = {
        "key",     "auto",   "owner", "inverse",  "distinct", "select", "from", "where", "group",  "order",
        "by",      "limit",  "as",    "days",     "all",      "any",    "not",  "in",    "is",     "value",
        "entity",  "query",  "mix",   "rest",     "copy",     "entry",  "to",   "into",  "insert", "remove",
        "require", "absent", "true",  "contains", "with",     "list",   "text", "count", "history"};
    word(odd_names_ && chance(12) ? odd[pick(odd.size())] : plain[pick(plain.size())]);
  }
  void number() { word(chance(3) ? "1_000" : chance(3) ? "0.5" : std::to_string(pick(100))); }
  void integer() { word(std::to_string(pick(10'000))); }
  void literal() { word(chance(2) ? "\"a\"" : chance(2) ? "\"\\u{e4}\\n\\\"//\"" : "\"\""); }
  void parameter() { word("$p" + std::to_string(pick(4))); }
  void duration() {
    static const std::vector<std::string> units = {"minute", "hours", "day", "weeks"};
    integer();
    word(units[pick(units.size())]);
  }

  void expr(int depth = 3) {
    static const std::vector<std::string> binary = {"or", "and", "=",        "!=", "<", "<=", ">",
                                                    ">=", "in",  "contains", "??", "+", "-",  "*"};
    if (depth <= 0) return primary(0);
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        expr(depth - 1);
        word(binary[pick(binary.size())]);
        return expr(depth - 1);
      case 4:
        expr(depth - 1);
        words("not", "in");
        return expr(depth - 1);
      case 5:
        expr(depth - 1);
        chance(2) ? words("contains", "all") : words("starts", "with");
        return expr(depth - 1);
      case 6:
        expr(depth - 1);
        word("between");
        primary(0);
        word("and");
        return primary(0);
      case 7:
        expr(depth - 1);
        chance(2) ? words("is", "absent") : words("is", "not", "absent");
        return;
      case 8:
        word(chance(2) ? "not" : "-");
        return expr(depth - 1);
      default:
        return primary(depth);
    }
  }
  void postfix(int depth = 2) {
    name();
    while (chance(2)) {
      if (chance(2)) {
        word(".");
        name();
      } else {
        word("[");
        many(2, ",", [&] { expr(depth - 1); });
        word("]");
      }
    }
  }
  void primary(int depth) {
    switch (pick(depth > 0 ? 15 : 9)) {
      case 0:
        return number();
      case 1:
        return literal();
      case 2:
        return word(chance(2) ? "true" : "absent");
      case 3:
        return parameter();
      case 4:
        return duration();
      case 5:
        word("timestamp");
        return literal();
      case 6:
      case 7:
        return postfix(depth);
      case 8:
        return name();
      case 9:
      case 10:
        word("(");
        expr(depth - 1);
        return word(")");
      case 11:
        word("(");
        select(depth - 1);
        return word(")");
      case 12:
        word("[");
        if (chance(3)) return word("]");
        many(3, ",", [&] { expr(depth - 1); });
        return word("]");
      case 13:
        word("{");
        if (chance(3)) return word("}");
        many(3, ",", [&] {
          chance(2) ? name() : chance(2) ? literal() : expr(1);
          word(":");
          expr(depth - 1);
        });
        return word("}");
      default:
        name();
        word("(");
        if (chance(4)) return words("*", ")");
        if (chance(4)) word("distinct");
        many(3, ",", [&] { expr(depth - 1); });
        return word(")");
    }
  }
  void sources() {
    many(3, ",", [&] {
      postfix(1);
      if (chance(5)) word("history");
      name();
    });
  }
  void select(int depth) {
    word("select");
    if (chance(4)) word("distinct");
    many(4, ",", [&] {
      expr(depth);
      if (chance(5)) {
        word("without");
        many(3, ",", [&] { name(); });
      }
      if (chance(3)) {
        word("as");
        name();
      }
    });
    word("from");
    sources();
    if (chance(2)) {
      word("where");
      expr(depth);
    }
    if (chance(4)) {
      words("group", "by");
      many(2, ",", [&] { expr(1); });
    }
    if (chance(3)) {
      words("order", "by");
      many(2, ",", [&] {
        expr(1);
        if (chance(2)) word(chance(2) ? "asc" : "desc");
      });
    }
    if (chance(3)) {
      word("limit");
      chance(2) ? integer() : parameter();
    }
  }

  void type(int depth = 2) {
    switch (pick(depth > 0 ? 6 : 2)) {
      case 0:
        name();
        break;
      case 1:
        words("text", "(");
        if (chance(2)) word("~");
        integer();
        word(")");
        break;
      case 2:
        words(chance(2) ? "list" : "set", "<");
        type(depth - 1);
        word(">");
        break;
      case 3:
        words("map", "<");
        type(depth - 1);
        word(",");
        type(depth - 1);
        word(">");
        break;
      case 4:
        many(3, "|", [&] { literal(); });
        break;
      default:
        word("(");
        many(3, "|", [&] { literal(); });
        word(")");
        break;
    }
    if (chance(4)) word("?");
  }
  void statistic(std::size_t which) {
    if (which == 1) word("distinct");
    if (which < 2) {
      word("~");
      number();
    } else {
      words("skew", "zipf", "(");
      number();
      word(")");
    }
  }
  void field() {
    name();
    word(":");
    type();
    std::vector<int> modifiers = {0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(modifiers.begin(), modifiers.end(), random_);
    modifiers.resize(pick(4));
    for (const int modifier : modifiers) {
      switch (modifier) {
        case 0:
          word("key");
          break;
        case 1:
          word("auto");
          break;
        case 2:
          word("owner");
          break;
        case 3:
          word("=");
          expr(1);
          break;
        case 4:
          word("inverse");
          name();
          break;
        default:
          statistic(static_cast<std::size_t>(modifier - 5));
          break;
      }
    }
  }
  void members() {
    word("{");
    many(4, "", [&] {
      switch (pick(8)) {
        case 0:
          words("key", "(");
          many(3, ",", [&] { name(); });
          return word(")");
        case 1:
          word("ttl");
          duration();
          word("from");
          return name();
        case 2:
          word("require");
          return expr();
        default:
          return field();
      }
    });
    word("}");
  }
  void parameters() {
    if (chance(3)) return;
    word("(");
    if (!chance(4)) {
      many(3, ",", [&] {
        parameter();
        if (!chance(3)) return;
        word(":");
        type(1);
      });
    }
    word(")");
  }
  void assignments() {
    word("{");
    if (!chance(5)) {
      many(4, ",", [&] {
        postfix(1);
        word(":");
        expr(2);
      });
    }
    word("}");
  }
  void change(int depth) {
    if (chance(5)) word("then");
    switch (pick(13)) {
      case 0:
        word("insert");
        name();
        assignments();
        if (!chance(2)) return;
        word("as");
        return name();
      case 1:
        word("put");
        name();
        return assignments();
      case 2:
        word("update");
        postfix();
        return assignments();
      case 3:
        words("update");
        name();
        name();
        word("where");
        expr(2);
        return assignments();
      case 4:
        word("delete");
        return postfix();
      case 5:
        word("delete");
        name();
        name();
        word("where");
        expr(2);
        if (!chance(2)) return;
        word("limit");
        return integer();
      case 6:
      case 7:
        word(chance(2) ? "append" : "add");
        if (chance(3)) word("all");
        expr(2);
        word("to");
        return postfix();
      case 8:
        word("remove");
        if (chance(3)) word(chance(2) ? "all" : "key");
        expr(2);
        word("from");
        return postfix();
      case 9:
        words("remove", "v", "from");
        postfix();
        words("v", "where");
        return expr(2);
      case 10:
        word("put");
        expr(1);
        word(":");
        expr(2);
        word("into");
        return postfix();
      case 11:
        word("require");
        return expr();
      default:
        word("for");
        parameter();
        word("in");
        expr(1);
        word("{");
        if (depth > 0) many(3, "", [&] { change(depth - 1); });
        return word("}");
    }
  }
  void parts() {
    many(3, ",", [&] {
      expr(1);
      if (chance(3)) word(chance(2) ? "asc" : "desc");
      if (!chance(3)) return;
      word("as");
      name();
    });
  }
  void cells(int depth) {
    many(3, ",", [&] {
      switch (pick(depth > 0 ? 6 : 4)) {
        case 0:
          return word("*");
        case 1:
          name();
          return words(".", "*");
        case 2:
        case 3:
          expr(2);
          if (!chance(3)) return;
          word("as");
          return name();
        default: {
          name();
          const bool object = chance(2);
          word(object ? "{" : "[");
          cells(depth - 1);
          if (chance(3)) {
            word("from");
            sources();
          }
          if (chance(3)) {
            words("order", "by");
            parts();
          }
          if (chance(3)) {
            word("limit");
            integer();
          }
          return word(object ? "}" : "]");
        }
      }
    });
  }
  void family() {
    word(chance(2) ? "entry" : "copy");
    if (chance(3)) {
      word(chance(2) ? "_" : "ε");
    } else if (chance(2)) {
      many(2, ".", [&] { name(); });
    }
    if (chance(2)) {
      word("[");
      chance(4) ? word("*") : parts();
      word("]");
    }
    if (chance(2)) {
      word(":");
      cells(2);
    }
    std::vector<int> clauses = {0, 1, 2};
    std::shuffle(clauses.begin(), clauses.end(), random_);
    clauses.resize(pick(4));
    for (const int clause : clauses) {
      word(clause == 0 ? "from" : clause == 1 ? "where" : "limit");
      if (clause == 0) sources();
      if (clause == 1) expr(2);
      if (clause == 2) integer();
    }
  }
  void design() {
    word("design");
    name();
    if (chance(3)) {
      word("for");
      many(2, ",", [&] { word(chance(2) ? "oracle-nosql" : "mongodb"); });
    }
    word("{");
    if (!chance(5)) {
      many(3, "", [&] {
        word("collection");
        name();
        word("of");
        sources();
        word("by");
        parts();
        while (chance(4)) {
          words("with", chance(2) ? "oracle-nosql" : "cassandra", "(");
          many(2, ",", [&] {
            name();
            word(":");
            expr(1);
          });
          word(")");
        }
        word("{");
        if (!chance(5)) many(4, "", [&] { family(); });
        word("}");
      });
    }
    if (chance(3)) {
      word("rest");
      name();
    }
    word("}");
  }
  void declaration() {
    switch (pick(8)) {
      case 0:
        word("value");
        name();
        word("{");
        if (!chance(5)) many(4, "", [&] { field(); });
        return word("}");
      case 1:
        word("entity");
        name();
        if (chance(3)) word("transient");
        if (chance(3)) statistic(0);
        return members();
      case 2:
      case 3:
        word("query");
        name();
        parameters();
        if (chance(4)) {
          words("refresh", "every");
          duration();
          if (chance(2)) {
            word("keep");
            integer();
          }
        }
        word("{");
        select(3);
        return word("}");
      case 4:
        word("command");
        name();
        parameters();
        word("{");
        if (!chance(6)) many(4, "", [&] { change(2); });
        return word("}");
      case 5:
        word("group");
        name();
        word("{");
        many(40, "", [&] { name(); });
        return word("}");
      case 6:
        word("mix");
        name();
        if (chance(3)) {
          words("at", "500", "/", "s");
        }
        if (chance(3)) {
          word("like");
          name();
        }
        word("{");
        many(20, "", [&] {
          name();
          number();
        });
        return word("}");
      default:
        return design();
    }
  }

  std::mt19937 random_;
  bool odd_names_ = false;
  int comments_ = 0;
};

TEST(Printer, KeepsWhatIsWrittenInAnyModel) {
  const unsigned first = std::random_device{}();
  const int rounds = 1'500;
  int understood = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    SCOPED_TRACE("seed " + std::to_string(first + i));
    if (keeps_what_is_written(AnyModel(first + i).text)) ++understood;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(understood, rounds / 5);
}

// Size

TEST(Printer, PrintsLongChainsAndDeepNestsAndBigFiles) {
  std::string sum = "1";
  for (int i = 0; i < 500; ++i) sum += " + 1";
  EXPECT_TRUE(keeps_what_is_written("model m entity A { require a = " + sum + " }"));
  std::string text = "model m\n";
  for (int i = 0; i < 2'000; ++i) {
    const std::string n = std::to_string(i);
    text += "entity A" + n + " {\n  id: int key // the key\n  b: list<A" + n + "> ~4\n}\n";
    text +=
        "query q" + n + "($x) { select a.id, count(a.b) as n from A" + n + " a where a.id = $x and a.b contains 1 }\n";
  }
  EXPECT_TRUE(keeps_what_is_written(text));
}

}  // namespace
}  // namespace noam::language
