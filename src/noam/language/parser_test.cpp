#include "noam/language/parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/language/lexer.h"

namespace noam::language {
namespace {

// The dump of the declarations of a text without mistakes.
std::string parsed(const std::string& declarations) {
  const SourceFile source("a.noam", "model m\n" + declarations);
  Diagnostics diagnostics;
  const Tree tree = parse(source, diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << render(diagnostics, source);
  std::string out = dump(tree);
  EXPECT_TRUE(out.starts_with("(model m)\n")) << out;
  out.erase(0, std::string_view("(model m)\n").size());
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

// An expression, as the column of a query.
std::string expression(const std::string& text) {
  const std::string out = parsed("query q { select " + text + " from A a }");
  const std::string_view before = "(query q (select (column ";
  const std::string_view after = ") (from (source A a))))";
  EXPECT_TRUE(out.starts_with(before) && out.ends_with(after)) << out;
  return out.substr(before.size(), out.size() - before.size() - after.size());
}

std::string field(const std::string& text) {
  const std::string out = parsed("entity E { " + text + " }");
  const std::string_view before = "(entity E ";
  return out.substr(before.size(), out.size() - before.size() - 1);
}

std::string change(const std::string& text) {
  const std::string out = parsed("command c { " + text + " }");
  const std::string_view before = "(command c ";
  return out.substr(before.size(), out.size() - before.size() - 1);
}

std::string design(const std::string& text) {
  const std::string out = parsed("design d { collection c of A a by id { " + text + " } }");
  const std::string_view before = "(design d (collection c (of (source A a)) (by id) ";
  return out.substr(before.size(), out.size() - before.size() - 2);
}

struct Read {
  std::vector<std::string> said;  // `code words`: the words under the carets, or what stands before an empty span and ^
  std::string tree;
};

Read read(const std::string& text, bool with_model = true) {
  const SourceFile source("a.noam", (with_model ? "model m\n" : "") + text);
  Diagnostics diagnostics;
  const Tree tree = parse(source, diagnostics);
  diagnostics.sort();
  Read out;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    std::string words(source.text(diagnostic.span));
    if (words.empty()) {
      const std::uint32_t begin = diagnostic.span.begin > 5 ? diagnostic.span.begin - 5 : 0;
      words = std::string(source.text({begin, diagnostic.span.begin})) + "^";
    }
    out.said.push_back(fmt::format("{} {}", info(diagnostic.code).name, words));
    EXPECT_FALSE(render(diagnostic, source).empty());
  }
  out.tree = dump(tree);
  return out;
}

std::vector<std::string> said(const std::string& text) { return read(text).said; }

using Said = std::vector<std::string>;

// Data

TEST(Parser, ReadsValuesAndEntities) {
  EXPECT_EQ(parsed("value Line { product: Product   qty: int }"),
            "(value Line (field product Product) (field qty int))");
  EXPECT_EQ(parsed("entity Visit transient ~1_000 { url: Url owner inverse visits ~200   at: timestamp }"),
            "(entity Visit #transient (~ 1_000) (field url Url #owner (inverse visits (~ 200))) (field at timestamp))");
  EXPECT_EQ(parsed("entity A {} value B {}"), "(entity A)\n(value B)");
}

TEST(Parser, ReadsTypes) {
  EXPECT_EQ(field("x: text(8)"), "(field x (sized text 8))");
  EXPECT_EQ(field("x: text(~80)?"), "(field x (optional (sized text ~ 80)))");
  EXPECT_EQ(field("x: map<Product, list<Line>>"), "(field x (map Product (list Line)))");
  EXPECT_EQ(field("x: set<text>= {}"), "(field x (set text) (= (braces)))");
  EXPECT_EQ(field("x: map<text, set<list<int>>>= []"), "(field x (map text (set (list int))) (= (list)))");
  EXPECT_EQ(field(R"(status: "open" | "p\"aid")"), R"((field status (one-of "open" "p\"aid")))");
  EXPECT_EQ(field(R"(status: ("open" | "paid")? = "open")"),
            R"((field status (optional (one-of "open" "paid")) (= "open")))");
  EXPECT_EQ(field("x: `my type`"), "(field x `my type`)");
}

TEST(Parser, GivesAStatisticToWhatItFollows) {
  EXPECT_EQ(field("likes: set<Tweet> ~100 inverse liked_by ~2"),
            "(field likes (set Tweet) (~ 100) (inverse liked_by (~ 2)))");
  EXPECT_EQ(field("kind: text distinct ~50 skew zipf(0.9)"), "(field kind text (distinct 50) (zipf 0.9))");
  EXPECT_EQ(field("a: A inverse b skew zipf(1.2) distinct ~3"), "(field a A (inverse b (distinct 3) (zipf 1.2)))");
}

TEST(Parser, ReadsTheClausesOfEntities) {
  EXPECT_EQ(field("key (conversation, user)"), "(key conversation user)");
  EXPECT_EQ(field("ttl 90 days from at"), "(ttl (duration 90 days) at)");
  EXPECT_EQ(field("ttl 1 week x: int"), "(ttl (duration 1 week)) (field x int)");
  EXPECT_EQ(field("require stock >= 0 and not sold x: int"), "(require (and (>= stock 0) (not sold))) (field x int)");
  EXPECT_EQ(field("id: uuid key auto stock: int = -1"), "(field id uuid #key #auto) (field stock int (= (negate 1)))");
}

TEST(Parser, TakesAWordBeforeAColonForAField) {
  EXPECT_EQ(
      field("key: text key date: date from: int limit: int require: bool ttl: int in: int not: int and: int"),
      "(field key text #key) (field date date) (field from int) (field limit int) (field require bool) (field ttl int) "
      "(field in int) (field not int) (field and int)");
  EXPECT_EQ(field("a: int = 7 days: int"), "(field a int (= 7)) (field days int)");
  EXPECT_EQ(field("require a = 7 days hours: int"), "(require (= a (duration 7 days))) (field hours int)");
  EXPECT_EQ(field("ttl 7 days from: int require a in: int"),
            "(ttl (duration 7 days)) (field from int) (require a) (field in int)");
  EXPECT_EQ(field("owner: User owner inverse: int auto: bool"),
            "(field owner User #owner) (field inverse int) (field auto bool)");
}

// Expressions

TEST(Parser, KnowsHowTightlyOperatorsBind) {
  EXPECT_EQ(expression("a or b and not c = d ?? e + f * -g.h"),
            "(or a (and b (not (= c (?? d (+ e (* f (negate (. g h)))))))))");
  EXPECT_EQ(expression("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(expression("a ?? b ?? c"), "(?? a (?? b c))");
  EXPECT_EQ(expression("(a or b) and c"), "(and (or a b) c)");
  EXPECT_EQ(expression("- - 1"), "(negate (negate 1))");
  EXPECT_EQ(expression("not not a"), "(not (not a))");
  EXPECT_EQ(expression("not a and b"), "(and (not a) b)");
}

TEST(Parser, ReadsComparisons) {
  EXPECT_EQ(expression("a = 1 and b != 2 and c < 3 and d <= 4 and e > 5 and f >= 6"),
            "(and (and (and (and (and (= a 1) (!= b 2)) (< c 3)) (<= d 4)) (> e 5)) (>= f 6))");
  EXPECT_EQ(expression("a between 1 and 2 + 3 and b"), "(and (between a 1 (+ 2 3)) b)");
  EXPECT_EQ(expression("a is absent or b is not absent"), "(or (is-absent a) (is-not-absent b))");
  EXPECT_EQ(expression("a in [1, 2] or b not in $xs"), "(or (in a (list 1 2)) (not-in b $xs))");
  EXPECT_EQ(expression("a contains 1 or b contains all $w or c contains any $w"),
            "(or (or (contains a 1) (contains-all b $w)) (contains-any c $w))");
  EXPECT_EQ(expression("a contains all or b contains any and c"), "(or (contains a all) (and (contains b any) c))");
  EXPECT_EQ(expression("a starts with $x"), "(starts-with a $x)");
}

TEST(Parser, ReadsLiterals) {
  EXPECT_EQ(expression(R"([1_000, 0.5, "a\n\"", true, false, absent])"),
            R"((list 1_000 0.5 "a\n\"" #true #false #absent))");
  EXPECT_EQ(expression("now() - 7 days"), "(- (call now) (duration 7 days))");
  EXPECT_EQ(expression(R"(timestamp "2026-01-01T00:00:00Z")"), R"((typed timestamp "2026-01-01T00:00:00Z"))");
  EXPECT_EQ(expression(R"({ street: $s, "k": 1 })"), R"((braces street $s "k" 1))");
  EXPECT_EQ(expression("{ from: 1, select: [] }"), "(braces from 1 select (list))");
  EXPECT_EQ(expression("`true`"), "true");
  EXPECT_EQ(expression("`a b`.`c d`"), "(. `a b` `c d`)");
}

TEST(Parser, ReadsPathsAndCalls) {
  EXPECT_EQ(expression("Member[$c, $u].rounds[-1].spell"), "(. ([] (. ([] Member $c $u) rounds) (negate 1)) spell)");
  EXPECT_EQ(expression("count(*)"), "(call count #star)");
  EXPECT_EQ(expression("count(distinct v.ip)"), "(call count #distinct (. v ip))");
  EXPECT_EQ(expression("greatest(a, b + 1)"), "(call greatest a (+ b 1))");
  EXPECT_EQ(expression("$round.spell"), "(. $round spell)");
}

TEST(Parser, ReadsNestedSelects) {
  EXPECT_EQ(
      expression("(select m.body from c.messages m order by m.at desc limit 1) as last"),
      "(select (column (. m body)) (from (source (. c messages) m)) (order (desc (. m at))) (limit 1)) (as last)");
  EXPECT_EQ(expression("count((select x from X x))"), "(call count (select (column x) (from (source X x))))");
}

// Queries

TEST(Parser, ReadsEveryClauseOfASelect) {
  EXPECT_EQ(parsed("query q($id, $at: timestamp?) { select distinct a.x as y, b from A a, a.bs b where a.x = $id group "
                   "by a.x, b order by y desc, b asc, a limit $n }"),
            "(query q (parameter id) (parameter at (optional timestamp)) (select #distinct (column (. a x) (as y)) "
            "(column b) "
            "(from (source A a) (source (. a bs) b)) (where (= (. a x) $id)) (group (. a x) b) (order (desc y) (asc b) "
            "a) (limit $n)))");
  EXPECT_EQ(parsed("query q() { select a from A a }"), parsed("query q { select a from A a }"));
}

TEST(Parser, ReadsRefreshedQueriesAndTheirHistory) {
  EXPECT_EQ(parsed("query q refresh every 1 hour keep 1000 { select a from User[a.name] a, top history b, history c, d "
                   "history }"),
            "(query q (refresh (duration 1 hour) 1000) (select (column a) (from (source ([] User (. a name)) a) "
            "(history top b) "
            "(source history c) (source d history))))");
}

TEST(Parser, ReadsWithout) {
  EXPECT_EQ(parsed("query q { select u without likes, shares, count(u.x) as n, v without w as z from U u }"),
            "(query q (select (column u (without likes shares)) (column (call count (. u x)) (as n)) (column v "
            "(without w) (as z)) (from (source U u))))");
}

TEST(Parser, TakesKeywordsForNamesWhereTheyCanOnlyBeNames) {
  EXPECT_EQ(
      parsed("query select { select distinct o.from, order.x, (limit) from Order order, order.lines limit, left right "
             "where from = 1 and order.by = 2 order by order.x asc, limit limit 5 }"),
      "(query select (select #distinct (column (. o from)) (column (. order x)) (column limit) "
      "(from (source Order order) (source (. order lines) limit) (source left right)) "
      "(where (and (= from 1) (= (. order by) 2))) (order (asc (. order x)) limit) (limit 5)))");
  EXPECT_EQ(parsed("query from { select from from X from where from.where = where.from }"),
            "(query from (select (column from) (from (source X from)) (where (= (. from where) (. where from)))))");
  EXPECT_EQ(parsed("entity entity { entity: entity } mix mix { mix 1 query 2 } group group { group by }"),
            "(entity entity (field entity entity))\n(mix mix (mix 1) (query 2))\n(group group group by)");
  EXPECT_EQ(parsed("command for { insert insert { all: 1, key: 2 } remove all from x remove key from y add all to z "
                   "append key to w put put: to into into }"),
            "(command for (insert insert (: all 1) (: key 2)) (remove (argument all) (target x)) (remove (argument "
            "key) (target y)) "
            "(add (argument all) (target z)) (append (argument key) (target w)) (put-into (key put) (argument to) "
            "(target into)))");
}

// Commands

TEST(Parser, ReadsEveryChange) {
  EXPECT_EQ(change("insert Order { customer: $c, placed: now() } as o"),
            "(insert Order (variable o) (: customer $c) (: placed (call now)))");
  EXPECT_EQ(change("put E { a: 1 }"), "(put E (: a 1))");
  EXPECT_EQ(change("put $k: $v into Account[$e].prefs"),
            "(put-into (key $k) (argument $v) (target (. ([] Account $e) prefs)))");
  EXPECT_EQ(change("update E[$k] { f: f + 1, a.b: 2, list[$i].f: 3, map[$k]: 4, opt: absent }"),
            "(update (target ([] E $k)) (: f (+ f 1)) (: (. a b) 2) (: (. ([] list $i) f) 3) (: ([] map $k) 4) (: opt "
            "#absent))");
  EXPECT_EQ(change("update v { cart: {} }"), "(update (target v) (: cart (braces)))");
  EXPECT_EQ(change("update E v where v.a = 1 { a: 2 }"), "(update-where E (variable v) (where (= (. v a) 1)) (: a 2))");
  EXPECT_EQ(change("delete E[$a, $b]"), "(delete (target ([] E $a $b)))");
  EXPECT_EQ(change("delete E v where v.a < 1 limit 10"),
            "(delete-where E (variable v) (where (< (. v a) 1)) (limit 10))");
  EXPECT_EQ(change("append { game: $id } to Player[$a].games"),
            "(append (argument (braces game $id)) (target (. ([] Player $a) games)))");
  EXPECT_EQ(change("add all $ts to E[$e].tags"), "(add #all (argument $ts) (target (. ([] E $e) tags)))");
  EXPECT_EQ(change("remove User[$b] from User[$a].follows"),
            "(remove (argument ([] User $b)) (target (. ([] User $a) follows)))");
  EXPECT_EQ(change("remove all $xs from p"), "(remove #all (argument $xs) (target p))");
  EXPECT_EQ(change("remove key $k from E[$e].m"), "(remove-key (argument $k) (target (. ([] E $e) m)))");
  EXPECT_EQ(change("remove E[$e].history[0]"), "(remove-at (target ([] (. ([] E $e) history) 0)))");
  EXPECT_EQ(change("then remove i from Player[$a].games i where i.game = $id"),
            "(remove-where #then (variable i) (target (. ([] Player $a) games)) (where (= (. i game) $id)))");
  EXPECT_EQ(change("require $a > 0"), "(require (argument (> $a 0)))");
  EXPECT_EQ(change("for $l in $lines { require $l.qty > 0 for $x in $l.xs { delete E[$x] } }"),
            "(for (variable l) (argument $lines) (require (argument (> (. $l qty) 0))) (for (variable x) (argument (. "
            "$l xs)) (delete (target ([] E $x)))))");
}

TEST(Parser, ReadsChangesOneAfterAnother) {
  EXPECT_EQ(change("delete A[1] then delete B[2] update A v where v.x { x: false } remove A[1].xs[0] remove x from y "
                   "delete z then add 1 to w"),
            "(delete (target ([] A 1))) (delete #then (target ([] B 2))) (update-where A (variable v) (where (. v x)) "
            "(: x #false)) "
            "(remove-at (target ([] (. ([] A 1) xs) 0))) (remove (argument x) (target y)) (delete (target z)) (add "
            "#then (argument 1) (target w))");
}

// Mixes and designs

TEST(Parser, ReadsGroupsAndMixes) {
  EXPECT_EQ(parsed("group G { a b }\nmix m { a 14.17  G 3 }\nmix n like m at 500/s { a 1_000 }"),
            "(group G a b)\n(mix m (a 14.17) (G 3))\n(mix n (like m) (at 500 s) (a 1_000))");
}

TEST(Parser, ReadsDesigns) {
  EXPECT_EQ(parsed("design d for mongodb, oracle-nosql { collection c of Game g, g.rounds r, words(g.t) w by g.id, "
                   "position(r) desc as p "
                   "with oracle-nosql(a: \"x\", b: 1) with cassandra(c: true) { entry ε: r.* } rest eao }"),
            "(design d (for mongodb oracle-nosql) (collection c (of (source Game g) (source (. g rounds) r) (source "
            "(call words (. g t)) w)) "
            "(by (. g id) (part (desc (call position r)) (as p))) (with oracle-nosql (: a \"x\") (: b 1)) (with "
            "cassandra (: c #true)) "
            "(entry (columns (column (#star r))))) (rest eao))");
  EXPECT_EQ(parsed("design e {} design f { rest etf }"), "(design e)\n(design f (rest etf))");
}

TEST(Parser, ReadsFamilies) {
  EXPECT_EQ(design("entry _: *  entry id  entry a.b[*]  copy"),
            "(entry (columns (column (#star)))) (entry id) (entry a b #elements) (copy)");
  EXPECT_EQ(design("copy hours[hour(v.at) desc as h, \"x\"]: count(*) as n, a from u.visits v where v.x limit 800"),
            "(copy hours (key (part (desc (call hour (. v at))) (as h)) \"x\") (columns (column (call count #star) (as "
            "n)) (column a)) "
            "(from (source (. u visits) v)) (where (. v x)) (limit 800))");
  EXPECT_EQ(design("copy [v.ip] from u.visits v copy unique: x"),
            "(copy (key (. v ip)) (from (source (. u visits) v))) (copy unique (columns (column x)))");
}

TEST(Parser, ReadsNestedCells) {
  EXPECT_EQ(
      design("copy ε: recent [ o.id, lines [ l.qty from o.lines l ], buyer { o.email } from c.orders o order by "
             "o.placed desc, o.id limit 10 ], a.b[\"k\"]"),
      "(copy (columns (list recent (column (. o id)) (list lines (column (. l qty)) (from (source (. o lines) l))) "
      "(object buyer (column (. o email))) "
      "(from (source (. c orders) o)) (order (desc (. o placed)) (. o id)) (limit 10)) (column ([] (. a b) \"k\"))))");
}

TEST(Parser, TakesWordsOfDesignsForPathsWhereTheyCanOnlyBePaths) {
  EXPECT_EQ(design("entry from: x copy limit[a] entry copy: y copy where.b entry entry"),
            "(entry from (columns (column x))) (copy limit (key a)) (entry copy (columns (column y))) (copy where b) "
            "(entry) (entry)");
}

// Spans

TEST(Parser, CoversExactlyTheTokensOfANode) {
  const std::string text =
      "model m // c\nentity A ~5 { x: list< text >? ~3 inverse y ~4 key ( x , z ) }\n"
      "query q ( $a : int ) { select ( a . b + 1 ) * - c [ 2 ] as d , f( x ) from A a , a . bs b where not ( a ) order "
      "by a desc limit 5 }\n"
      "command c { then update A [ 1 ] { x : 1 , y . z : { } } for $x in $y { } }";
  const SourceFile source("a.noam", text);
  Diagnostics diagnostics;
  const Tree tree = parse(source, diagnostics);
  ASSERT_TRUE(diagnostics.empty()) << render(diagnostics, source);
  const auto words = [&](Span span) { return source.text(span); };

  const auto& entity = std::get<EntityDecl>(tree.declarations[0]);
  EXPECT_EQ(words(entity.span), "entity A ~5 { x: list< text >? ~3 inverse y ~4 key ( x , z ) }");
  EXPECT_EQ(words(entity.name.span), "A");
  EXPECT_EQ(words(entity.body_end), "}");
  const auto& x = std::get<Field>(entity.members[0]);
  EXPECT_EQ(words(x.span), "x: list< text >? ~3 inverse y ~4");
  EXPECT_EQ(words(x.type.span), "list< text >?");
  EXPECT_EQ(words(x.type.optional_span), "?");
  EXPECT_EQ(words(x.type.arguments[0].span), "text");
  EXPECT_EQ(words(x.inverse_span), "inverse");
  EXPECT_EQ(words(std::get<KeyClause>(entity.members[1]).span), "key ( x , z )");

  const auto& query = std::get<QueryDecl>(tree.declarations[1]);
  EXPECT_EQ(words(query.parameters[0].span), "$a : int");
  EXPECT_EQ(words(query.parameters[0].name.span), "$a");
  const Select& select = query.select;
  EXPECT_EQ(words(select.span).substr(0, 12), "select ( a .");
  EXPECT_EQ(words(select.span).substr(words(select.span).size() - 7), "limit 5");
  EXPECT_EQ(words(select.select_span), "select");
  EXPECT_EQ(words(select.limit_span), "limit");
  EXPECT_EQ(words(select.columns[0].span), "( a . b + 1 ) * - c [ 2 ] as d");
  const Expr& product = select.columns[0].expr;
  EXPECT_EQ(words(product.span), "( a . b + 1 ) * - c [ 2 ]");
  EXPECT_EQ(words(product.op_span), "*");
  EXPECT_EQ(words(product.operands[0].span), "( a . b + 1 )");
  EXPECT_EQ(words(product.operands[0].operands[0].span), "a . b");
  EXPECT_EQ(words(product.operands[1].span), "- c [ 2 ]");
  EXPECT_EQ(words(product.operands[1].operands[0].span), "c [ 2 ]");
  EXPECT_EQ(words(select.columns[1].expr.span), "f( x )");
  EXPECT_EQ(words(select.from[1].span), "a . bs b");
  EXPECT_EQ(words(select.where->span), "not ( a )");

  const auto& command = std::get<CommandDecl>(tree.declarations[2]);
  const Change& update = command.changes[0];
  EXPECT_EQ(words(update.span), "then update A [ 1 ] { x : 1 , y . z : { } }");
  EXPECT_EQ(words(update.then_span), "then");
  EXPECT_EQ(words(update.word_span), "update");
  EXPECT_EQ(words(update.assignments[1].span), "y . z : { }");
  EXPECT_EQ(words(update.body_end), "}");
  EXPECT_EQ(words(command.changes[1].span), "for $x in $y { }");
  ASSERT_EQ(tree.comments.size(), 1U);
  EXPECT_EQ(tree.comments[0].text, "// c");
}

// Mistakes

TEST(Parser, SaysThatTheModelIsMissing) {
  EXPECT_EQ(read("", false).said, Said{"missing-model ^"});
  EXPECT_EQ(read("// nothing\n", false).said, Said{"missing-model hing\n^"});
  const Read entity = read("entity A { x: int }", false);
  EXPECT_EQ(entity.said, Said{"missing-model ^"});
  EXPECT_EQ(entity.tree, "(model ?)\n(entity A (field x int))\n");
  EXPECT_EQ(read("modle shop entity A { }", false).tree, "(model shop)\n(entity A)\n");
  EXPECT_EQ(read("{ \"json\": [1] }\nentity A { }", false).said, Said{"missing-model ^"});
  EXPECT_EQ(read("model\nentity A { }", false).said, Said{"syntax model^"});
  EXPECT_EQ(said("model again"), Said{"duplicate-clause model again"});
}

TEST(Parser, SaysEachOfSeveralMistakesOnce) {
  const Read all = read(
      "entity A { x: int y: }\n"
      "query q { select a. from A a where a.x = order by a.y }\n"
      "command c { insert { } update A[1] { x: } add 1 }\n"
      "mix m { q }\n"
      "entity B { z: int }");
  EXPECT_EQ(all.said,
            (Said{"syntax }", "syntax from", "syntax order", "syntax {", "syntax }", "syntax }", "syntax }"}));
  EXPECT_NE(all.tree.find("(entity B (field z int))"), std::string::npos);
  EXPECT_NE(all.tree.find("(order (. a y))"), std::string::npos);
}

TEST(Parser, PointsBehindTheLineWhereSomethingIsMissingAtItsEnd) {
  EXPECT_EQ(said("entity A {\n  x:\n  y: int\n}"), Said{"syntax \n  x:^"});
  EXPECT_EQ(said("query q {\n  select a\n}"), Said{"syntax ect a^"});
  EXPECT_EQ(said("command c {\n  delete\n}"), Said{"syntax elete^"});
}

TEST(Parser, FindsTheMissingBraceByTheNextDeclaration) {
  const Read entity = read("entity A {\n  x: int\nentity B { y: int }");
  EXPECT_EQ(entity.said, Said{"unclosed : int^"});
  EXPECT_EQ(entity.tree, "(model m)\n(entity A (field x int))\n(entity B (field y int))\n");
  EXPECT_EQ(read("entity A { x: int\nquery q { select a from A a }").tree,
            "(model m)\n(entity A (field x int))\n(query q (select (column a) (from (source A a))))\n");
  EXPECT_EQ(read("entity A { x: int entity B { y: int }").tree, entity.tree);
  EXPECT_EQ(said("entity A { x: int"), Said{"unclosed : int^"});
  EXPECT_EQ(said("command c { update A[1] { x: 1\nentity A { }"), Said{"unclosed  x: 1^"});
}

TEST(Parser, FindsTheForgottenBraceByTheIndentation) {
  const SourceFile source(
      "a.noam", "model m\ncommand c {\n  for $x in $xs {\n    require a\n  delete A[1]\n}\nentity A { x: int }\n");
  Diagnostics diagnostics;
  parse(source, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, DiagnosticCode::Unclosed);
  EXPECT_EQ(source.position(diagnostics.all()[0].labels.at(0).span.begin), (Position{3, 17}));
}

TEST(Parser, GoesOnBehindAMissingParenthesis) {
  const Read call = read("query q { select count(o.lines as n from Order o }");
  EXPECT_EQ(call.said, Said{"unclosed as"});
  EXPECT_EQ(call.tree,
            "(model m)\n(query q (select (column (call count (. o lines)) (as n)) (from (source Order o))))\n");
  EXPECT_EQ(said("query q { select a from A a where (a.x = 1 }\nquery r { select a from A a where a.x = 1) }"),
            (Said{"unclosed }", "syntax )"}));
  EXPECT_EQ(said("entity A { x: list<text y: int key (x }"), (Said{"unclosed y", "unclosed }"}));
  EXPECT_EQ(said("entity A { x: int } }\nentity B { }"), Said{"syntax }"});
  EXPECT_EQ(said("entity A { x: int } y: text }\nentity B { }"), Said{"unknown-declaration y"});
}

TEST(Parser, PutsInABraceThatIsMissingAndTakesOutOneTooMany) {
  const std::string sound = "command c { insert A { x: 1 } update B[1] { y: 2 } }\nentity A { x: int }";
  const std::string tree = read(sound).tree;
  for (std::size_t brace = sound.find('{'); brace != std::string::npos; brace = sound.find('{', brace + 1)) {
    std::string missing = sound;
    missing.erase(brace, 1);
    EXPECT_EQ(read(missing).said.size(), 1U) << missing;
    EXPECT_EQ(read(missing).tree, tree) << missing;
  }
  EXPECT_EQ(read("command c { { insert A { x: 1 } update B[1] { y: 2 } }\nentity A { x: int }").said, Said{"syntax {"});
  EXPECT_EQ(read("command c { { insert A { x: 1 } update B[1] { y: 2 } }\nentity A { x: int }").tree, tree);

  const Read families =
      read("design d { collection c of A a by id { entry x collection e of B b by id { entry y } rest eao }");
  EXPECT_EQ(families.said, Said{"unclosed collection"});
  EXPECT_EQ(families.tree,
            "(model m)\n(design d (collection c (of (source A a)) (by id) (entry x)) "
            "(collection e (of (source B b)) (by id) (entry y)) (rest eao))\n");
}

TEST(Parser, SaysOneThingWhereOneTokenIsMissing) {
  const std::string sound =
      "model m entity A ~5 { id: uuid key auto xs: map<text, int> ~3 inverse y ~2 require id = 1 key (id, xs) }\n"
      "query q($a: int, $b) { select a.x, count(a.y) as n from A a, a.bs b where a.x = $a and b.y in [1, 2] group by "
      "a.x order by n desc limit 5 }\n"
      "command c($a) { insert A { x: 1, y: $a } as v for $x in $a { require $x > 0 } remove i from A[$a].xs i where "
      "i.x = 1 }\n"
      "mix m like n at 5/s { q 1 c 2 }\n"
      "design d for x { collection c of A a by id { entry ε: x, y copy [a.x desc as z]: count(*) from a.bs b } rest "
      "eao }\n"
      "entity Z { }";
  const SourceFile source("a.noam", sound);
  Diagnostics none;
  const Tokens tokens = lex(source, none);
  for (const Token& token : tokens.tokens) {
    std::string text = sound;
    text.erase(token.span.begin, token.span.end - token.span.begin);
    const Read missing = read(text, false);
    EXPECT_LE(missing.said.size(), 1U) << "without `" << source.text(token.span) << "` at " << token.span.begin << ": "
                                       << testing::PrintToString(missing.said);
  }
}

TEST(Parser, KnowsMisspeltWords) {
  EXPECT_EQ(read("entitty A { x: int }").tree, "(model m)\n(entity A (field x int))\n");
  EXPECT_EQ(said("entitty A { x: int }\nEntity B { }"),
            (Said{"unknown-declaration entitty", "unknown-declaration Entity"}));
  EXPECT_EQ(said("query q { select a form A a wher a.x oder by a.y }"),
            (Said{"syntax form", "syntax wher", "syntax oder"}));
  EXPECT_EQ(said("command c { udpate A[1] { x: 1 } }"), Said{"syntax udpate"});
  EXPECT_EQ(said("design d { colection c of A a by id { entri x } }"), (Said{"syntax colection", "syntax entri"}));
  EXPECT_EQ(said("entity A { x: A onwer inverse y }"), Said{"syntax onwer"});
}

TEST(Parser, TreatsKeywordsInCapitalsAsKeywords) {
  const Read sql = read("query q { SELECT a.x AS y FROM A a WHERE a.x = 1 AND NOT a.y ORDER BY a.x DESC LIMIT 5 }");
  EXPECT_EQ(sql.said, Said{"foreign-syntax SELECT"});  // once a declaration
  EXPECT_EQ(sql.tree,
            "(model m)\n(query q (select (column (. a x) (as y)) (from (source A a)) (where (and (= (. a x) 1) (not (. "
            "a y)))) (order (desc (. a x))) (limit 5)))\n");
}

TEST(Parser, SaysWhatToWriteInsteadOfForeignOperators) {
  const Read read_back = read(
      "query q { select a from A a where !a.b && a.x == 1 || a.y <> null and a.z is not null and a.w like \"x%\" and "
      "a.v in (1, 2) }");
  EXPECT_EQ(read_back.said, (Said{"foreign-syntax !", "foreign-syntax &&", "foreign-syntax ==", "foreign-syntax ||",
                                  "foreign-syntax <>", "foreign-syntax null", "foreign-syntax null",
                                  "foreign-syntax like", "foreign-syntax ("}));
  EXPECT_EQ(said("query q { select a/b, a % b, a->b, a.b.count(), .5, a.* from A a }"),
            (Said{"not-in-language /", "not-in-language %", "foreign-syntax ->", "foreign-syntax count",
                  "invalid-number .5", "foreign-syntax a.*"}));
  EXPECT_EQ(said("query q { select case when a then b end, exists (select b from B b), +a, a < b < c from A a }"),
            (Said{"not-in-language case", "foreign-syntax exists", "syntax +", "syntax <"}));
}

TEST(Parser, SaysWhatToWriteInsteadOfForeignQueries) {
  EXPECT_EQ(said("query q { select *, count(), a.x y from A as a inner join B b on a.x = b.x where a.x = 1 limit 10 "
                 "offset 5 }"),
            (Said{"foreign-syntax *", "foreign-syntax ()", "foreign-syntax y", "foreign-syntax as",
                  "foreign-syntax inner join", "not-in-language offset"}));
  EXPECT_EQ(said("query q { select a from A left outer join B b on a.x = b.x group by a having count(*) > 1 union "
                 "select c from C c }"),
            (Said{"missing-variable A", "not-in-language left outer join", "not-in-language having",
                  "not-in-language union"}));
  EXPECT_EQ(said("query q { select a from (select b from B b) x limit 5, 10 }"),
            (Said{"not-in-language select", "foreign-syntax ,"}));
  EXPECT_EQ(said("query q(id, :b, @c, int $d) { select a from A a where a.x = :b and a.y = ? and a.z = @c }"),
            (Said{"foreign-syntax id", "foreign-syntax int $d", "foreign-syntax ?"}));
  EXPECT_EQ(said("query q { select a from A a where a.x = select b from B b }"), Said{"syntax select"});
}

TEST(Parser, SaysWhatToWriteInsteadOfForeignData) {
  EXPECT_EQ(said("entity A { x: int, y: int, z: int }"), Said{"foreign-syntax ,"});
  EXPECT_EQ(said("entity A { x: int; y: int; }\nentity B { z: int; }"), (Said{"foreign-syntax ;", "foreign-syntax ;"}));
  const Read c = read("entity A {\n  int x\n  String y\n  z uuid primary key not null default 5\n}");
  EXPECT_EQ(c.said, (Said{"foreign-syntax int x", "foreign-syntax primary key", "foreign-syntax not null",
                          "foreign-syntax default"}));
  EXPECT_EQ(c.tree, "(model m)\n(entity A (field x int) (field y String) (field z uuid #key (= 5)))\n");
  EXPECT_EQ(said("entity A { x: text unique y: text[] z: [int] w: { a: int } v: enum(\"a\", \"b\") u: decimal(10, 2) "
                 "t?: int \"s\": int r := int }"),
            (Said{"not-in-language unique", "foreign-syntax []", "foreign-syntax [", "foreign-syntax {",
                  "foreign-syntax enum", "foreign-syntax ,", "foreign-syntax ?", "foreign-syntax \"s\"",
                  "foreign-syntax :="}));
  EXPECT_EQ(said("entity A(x: int)\nentity B extends A { y: int }\nentity C 5 { }"),
            (Said{"foreign-syntax (", "not-in-language extends", "syntax 5"}));
  EXPECT_EQ(said("table t (x int)\ncreate view v\nfunction f() { }\nentity A { }"),
            (Said{"not-in-language table", "foreign-syntax create", "not-in-language function"}));
}

TEST(Parser, SaysWhatToWriteInsteadOfForeignSchemas) {
  const Read graph =
      read("entity A { x: [Post!]! y: int | null z: text @unique @default(now()) w: enum { a, b } v: array<int> }");
  EXPECT_EQ(graph.said, (Said{"foreign-syntax [", "foreign-syntax !", "foreign-syntax @unique",
                              "foreign-syntax @default", "foreign-syntax enum", "foreign-syntax array"}));
  EXPECT_NE(graph.tree.find("(field x (list Post)) (field y (optional int)) (field z text)"), std::string::npos)
      << graph.tree;
  EXPECT_EQ(said("query q { with recursive t as (select a from A a) select b from t b }"),
            Said{"not-in-language with"});
  EXPECT_EQ(said("type User struct {\n  ID int\n}\nCREATE TABLE t (x int);\nINSERT INTO t (x) VALUES (1);"),
            (Said{"foreign-syntax type", "foreign-syntax CREATE", "foreign-syntax INSERT"}));
  EXPECT_EQ(read("model n {\n  entity A { }\n}", false).said, Said{"foreign-syntax {"});
}

TEST(Parser, SaysWhatToWriteInsteadOfForeignChanges) {
  EXPECT_EQ(said("command c {\n  insert into A (x) values (1)\n  update A set x = 1 where y = 2\n  delete from A a "
                 "where a.x\n  upsert A { x: 1 }\n}"),
            (Said{"foreign-syntax into", "foreign-syntax set", "foreign-syntax from", "syntax upsert"}));
  EXPECT_EQ(
      said("command c { update A[1] { x = 1, y := 2 } insert A { \"x\": 1 y: 2 } update A[1] { n += 1 } for x in $xs { "
           "} }"),
      (Said{"foreign-syntax =", "foreign-syntax \"x\"", "syntax x\": 1^", "foreign-syntax +=", "foreign-syntax x"}));
  EXPECT_EQ(said("command c { delete A where x = 1 remove x from p where x.y remove x from p y where y.z }"),
            (Said{"missing-variable A", "missing-variable p", "syntax y"}));
}

TEST(Parser, ReadsClausesInTheWrongOrderNevertheless) {
  const Read order = read("query q { select a from A a order by a.x where a.y limit 1 where a.z }");
  EXPECT_EQ(order.said, (Said{"clause-order where", "duplicate-clause where"}));
  EXPECT_EQ(order.tree,
            "(model m)\n(query q (select (column a) (from (source A a)) (where (. a y)) (order (. a x)) (limit 1)))\n");
  EXPECT_EQ(said("query q { from A a select a }"), Said{"clause-order from"});
  EXPECT_EQ(said("design d { rest eao collection c of A a by id { copy ε: x limit 5 from a.b b limit 6 } rest etf }"),
            (Said{"clause-order collection", "duplicate-clause limit", "duplicate-clause rest etf"}));
  EXPECT_EQ(said("entity A { x: int key key ~1 ~2 inverse a inverse b key (x) key (y) ttl 1 day ttl 2 days }"),
            (Said{"duplicate-clause key", "duplicate-clause ~2", "duplicate-clause inverse b",
                  "duplicate-clause key (y)", "duplicate-clause ttl 2 days"}));
}

TEST(Parser, SaysNothingMoreAboutWhatTheLexerReported) {
  EXPECT_EQ(said("entity A { x: € y: int € key }"), (Said{"unexpected-character €", "unexpected-character €"}));
  EXPECT_EQ(said("entity A { x: int = 12abc y: \"a }\nquery q { select 'a' from A a where a.x = \"b }"),
            (Said{"invalid-number 12abc", "unclosed-text \"", "foreign-syntax 'a'", "unclosed-text \""}));
}

TEST(Parser, DoesNotLetDeclarationsNest) {
  const Read nested = read("entity A { value B { x: int } y: B }");
  EXPECT_EQ(nested.said, Said{"syntax value B"});
  EXPECT_EQ(nested.tree, "(model m)\n(value B (field x int))\n(entity A (field y B))\n");
}

TEST(Parser, KnowsWhatDoesNotBelongToMixes) {
  EXPECT_EQ(said("mix m { q: 5, r: 6, s 10% 20 t }\nmix n at 5/sec { q 1 }\ngroup g { a, b, c 5 }"),
            (Said{"foreign-syntax :", "foreign-syntax ,", "syntax sec", "foreign-syntax ,", "syntax 5"}));
}

// Depth and size

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

std::string query_of(const std::string& column) { return "query q { select " + column + " from A a }\nentity B { }"; }

TEST(Parser, RefusesWhatIsNestedTooDeepOnceAndGoesOn) {
  constexpr std::size_t many = 10'000;
  const std::vector<std::string> texts = {
      query_of(repeated("(", many) + "1" + repeated(")", many)),
      query_of(repeated("[", many) + "1" + repeated("]", many)),
      query_of(repeated("f(", many) + "1" + repeated(")", many)),
      query_of(repeated("{ a: ", many) + "1" + repeated("}", many)),
      query_of(repeated("a[", many) + "1" + repeated("]", many)),
      query_of(repeated("- ", many) + "1"),
      query_of(repeated("not ", many) + "a"),
      query_of(repeated("(select ", many) + "a" + repeated(" from A a)", many)),
      query_of("1" + repeated(" + 1", many)),
      query_of("a" + repeated(" and a = 1", many)),
      query_of("a" + repeated(" ?? a", many)),
      query_of("a" + repeated(".a", many)),
      query_of("a" + repeated("[1]", many)),
      query_of(repeated("(", 150) + "1" + repeated(repeated(" + 1", 100) + ")", 150)),
      "entity A { x: " + repeated("list<", many) + "int" + repeated(">", many) + " }\nentity B { }",
      "command c { " + repeated("for $x in $y { ", many) + repeated("}", many) + " }\nentity B { }",
      "design d { collection c of A a by id { entry ε: " + repeated("x [ ", many) + "y" + repeated("]", many) +
          " } }\nentity B { }",
  };
  for (const std::string& text : texts) {
    const Read deep = read(text);
    ASSERT_EQ(deep.said.size(), 1U) << text.substr(0, 60);
    EXPECT_TRUE(deep.said[0].starts_with("nested-too-deep ")) << deep.said[0];
    EXPECT_TRUE(deep.tree.ends_with("\n(entity B)\n")) << text.substr(0, 60);
  }
}

TEST(Parser, AllowsWhatAPersonMightNest) {
  EXPECT_EQ(said(query_of(repeated("(", 190) + "1" + repeated(")", 190))), Said{});
  EXPECT_EQ(said(query_of("1" + repeated(" + 1", 900))), Said{});
}

TEST(Parser, EndsQuicklyWhateverTheText) {
  constexpr std::size_t many = 100'000;
  for (const std::string_view part :
       {"(",        "{",     "[",        ")",           "}",        "\"",   "'",
        "`",        "a ",    "entity ",  "entity A { ", "query q(", "[(",   "x: ",
        ", ",       "€",     "\xff",     "\\q",         "select ",  "$",    "~",
        "key (a) ", "list<", "// \n",    "/*",          "; ",       "\"\\", "design d { collection c of ",
        "entry ",   "1 ",    "model m ", "insert A { "}) {
    read(repeated(part, many / part.size()));
    read("entity A { " + repeated(part, many / part.size()));
    read("query q { select " + repeated(part, many / part.size()));
    read("command c { " + repeated(part, many / part.size()) + "}");
    read("design d { collection c of A a by b { entry ε: " + repeated(part, many / part.size()) + "} }");
  }
}

// What the codes themselves show

TEST(Parser, FindsWhatTheExamplesOfItsCodesShow) {
  for (const CodeInfo& code : all_codes()) {
    const bool ours = code.code <= DiagnosticCode::DuplicateClause || code.code == DiagnosticCode::MissingVariable;
    for (const std::string_view text : {code.wrong, code.right}) {
      const SourceFile source("a.noam", std::string(text));
      Diagnostics diagnostics;
      parse(source, diagnostics);
      if (ours && text == code.wrong) {
        ASSERT_EQ(diagnostics.all().size(), 1U) << code.name << "\n" << render(diagnostics, source);
        EXPECT_EQ(diagnostics.all()[0].code, code.code) << code.name;
      } else {
        EXPECT_TRUE(diagnostics.empty()) << code.name << "\n" << render(diagnostics, source);
      }
    }
  }
}

}  // namespace
}  // namespace noam::language
