// The chapter "Queries" of what a program means, from the order of rows on, sentence by sentence.
#include "noam/language/codes.h"
#include "tests/reference/session.h"

namespace noam::reference {

namespace {

constexpr const char* shelves =
    "entity S { id: int key  x: int?  bs: list<int>  refs: list<B>  tags: set<text>  m: map<text, int> }"
    "entity B { a: text  b: int  s: S inverse books  y: int?  key (a, b) }"
    "command s($id, $x) { insert S { id: $id, x: $x } }"
    "command b($a, $b, $s, $y) { insert B { a: $a, b: $b, s: $s, y: $y } }"
    "command fill($id, $bs, $refs, $tags, $m) { update S[$id] { bs: $bs, refs: $refs, tags: $tags, m: $m } }";

class Shelves : public Session {
 public:
  explicit Shelves(const std::string& queries) : Session(shelves + queries) {
    for (const char* shelf : {R"({"id":1,"x":5})", R"({"id":2,"x":5})", R"({"id":3})"}) run("s", shelf);
    for (const char* book : {R"({"a":"p","b":2,"s":1,"y":1})", R"({"a":"p","b":1,"s":2,"y":1})",
                             R"({"a":"o","b":9,"s":2,"y":1})", R"({"a":"q","b":0,"s":1})"})
      run("b", book);
  }
};

}  // namespace

// "Order with `order by` or `limit` is total: the terms (an output column's name first, then a variable), absent
// smallest"
TEST(Order, AbsentIsSmallest) {
  Shelves s(
      "query up { select s.id from S s order by s.x, s.id desc }"
      "query down { select s.id from S s order by s.x desc, s.id }");
  EXPECT_EQ(s.rows("up"), R"([{"id":3},{"id":2},{"id":1}])");
  EXPECT_EQ(s.rows("down"), R"([{"id":1},{"id":2},{"id":3}])");
}

TEST(Order, ANameIsAColumnFirstThenAVariable) {
  Shelves s(
      "query column { select s.id, 0 - s.id as s from S s order by s }"
      "query variable { select s.id from S s order by s } query fields { select k.a, k.b from B k order by k }");
  EXPECT_EQ(s.rows("column"), R"([{"id":3,"s":-3},{"id":2,"s":-2},{"id":1,"s":-1}])");
  EXPECT_EQ(s.rows("variable"), R"([{"id":1},{"id":2},{"id":3}])");
  EXPECT_EQ(s.rows("fields"), R"([{"a":"o","b":9},{"a":"p","b":1},{"a":"p","b":2},{"a":"q","b":0}])");
}

// "ties by the keys of the variables from the last to the first, the parts of one key in order, in the direction of the
// last term (ascending without one)"
TEST(Order, TiesAreBrokenByTheKeysFromTheLastVariableToTheFirst) {
  Shelves s(
      "query up { select s.id, b.a, b.b from S s, s.books b order by s.x }"
      "query down { select s.id, b.a, b.b from S s, s.books b order by s.x desc }"
      "query last { select s.id, k.a, k.b from S s, s.books k order by k.y desc, s.x }"
      "query cross { select s.id, t.id as t from S s, S t where s.x = t.x order by s.x }"
      "query none { select s.id, b.a, b.b from S s, s.books b limit 3 }");
  EXPECT_EQ(s.rows("up"),
            R"([{"id":2,"a":"o","b":9},{"id":2,"a":"p","b":1},{"id":1,"a":"p","b":2},{"id":1,"a":"q","b":0}])");
  EXPECT_EQ(s.rows("down"),
            R"([{"id":1,"a":"q","b":0},{"id":1,"a":"p","b":2},{"id":2,"a":"p","b":1},{"id":2,"a":"o","b":9}])");
  // y: three times 1, once absent; the last term ascends
  EXPECT_EQ(s.rows("last"),
            R"([{"id":2,"a":"o","b":9},{"id":2,"a":"p","b":1},{"id":1,"a":"p","b":2},{"id":1,"a":"q","b":0}])");
  EXPECT_EQ(s.rows("cross"), R"([{"id":1,"t":1},{"id":2,"t":1},{"id":1,"t":2},{"id":2,"t":2}])");
  EXPECT_EQ(s.rows("none"), R"([{"id":2,"a":"o","b":9},{"id":2,"a":"p","b":1},{"id":1,"a":"p","b":2}])");
}

// "A list element's key is its position, also for a list of references; a map's is its key"
TEST(Order, TheKeyOfAnElementIsItsPositionOrItsKey) {
  Shelves s(
      "query list_ { select s.id, e from S s, s.bs e order by s.x }"
      "query refs { select r.a, r.b from S s, s.refs r order by s.x desc }"
      "query set_ { select t from S s, s.tags t order by s.x }"
      "query map_ { select v from S s, s.m v order by s.x desc }");
  s.run("fill", R"({"id":1,"bs":[9,1,5],"refs":[["q",0],["o",9],["z",0],["q",0]],"tags":["b","a"],"m":{"k":1,"j":5}})");
  s.run("fill", R"({"id":2,"bs":[7],"refs":[["p",1]],"tags":[],"m":{}})");
  EXPECT_EQ(s.rows("list_"), R"([{"id":1,"e":9},{"id":2,"e":7},{"id":1,"e":1},{"id":1,"e":5}])");
  // Positions 3, 1 and 0: what leads nowhere is not seen, and the positions are those of the list; then 2 before 1.
  EXPECT_EQ(s.rows("refs"), R"([{"a":"q","b":0},{"a":"o","b":9},{"a":"p","b":1},{"a":"q","b":0}])");
  EXPECT_EQ(s.rows("set_"), R"([{"t":"a"},{"t":"b"}])");
  EXPECT_EQ(s.rows("map_"), R"([{"v":1},{"v":5}])");
}

// "group expressions and distinct columns are taken from the last to the first likewise"
TEST(Order, GroupsAndDistinctColumnsAreTakenFromTheLastToTheFirst) {
  Session s(
      "entity A { id: int key  x: int  y: int } command a($id, $x, $y) { insert A { id: $id, x: $x, y: $y } }"
      "query groups { select a.x, a.y, count(*) as n from A a group by a.x, a.y order by n }"
      "query groups_down { select a.x, a.y, count(*) as n from A a group by a.x, a.y order by n desc }"
      "query distinct_ { select distinct a.x, a.y from A a limit 9 }"
      "query distinct_down { select distinct a.id * 0 as z, a.x, a.y from A a order by z desc }");
  for (const char* a : {R"({"id":1,"x":1,"y":2})", R"({"id":2,"x":2,"y":1})", R"({"id":3,"x":1,"y":1})"}) s.run("a", a);
  EXPECT_EQ(s.rows("groups"), R"([{"x":1,"y":1,"n":1},{"x":2,"y":1,"n":1},{"x":1,"y":2,"n":1}])");
  EXPECT_EQ(s.rows("groups_down"), R"([{"x":1,"y":2,"n":1},{"x":2,"y":1,"n":1},{"x":1,"y":1,"n":1}])");
  EXPECT_EQ(s.rows("distinct_"), R"([{"x":1,"y":1},{"x":2,"y":1},{"x":1,"y":2}])");
  EXPECT_EQ(s.rows("distinct_down"), R"([{"z":0,"x":1,"y":2},{"z":0,"x":2,"y":1},{"z":0,"x":1,"y":1}])");
}

// "So limits cut at the same place everywhere, and the many side decides alone." "`limit 0` is nothing, negative is
// refused."
TEST(Order, ALimitCutsTheTotalOrder) {
  Shelves s("query q($n) { select s.id, b.a from S s, s.books b order by s.x desc limit $n }");
  EXPECT_EQ(s.rows("q", R"({"n":1})"), R"([{"id":1,"a":"q"}])");
  EXPECT_EQ(s.rows("q", R"({"n":2})"), R"([{"id":1,"a":"q"},{"id":1,"a":"p"}])");
  EXPECT_EQ(s.answer("q", R"({"n":0})"), R"({"rows":[]})");
  EXPECT_EQ(s.rows("q", R"({"n":-1})"), "error value");
  EXPECT_EQ(Json::parse(s.rows("q", R"({"n":9})")).size(), 4U);
}

namespace {

constexpr const char* pages =
    "entity A { id: int key x: int? g: text } command a($id, $x, $g) { put A { id: $id, x: $x, g: $g } }"
    "command drop($id) { delete A[$id] } query q($n) { select a.id from A a order by a.x desc limit $n }"
    "query other($n) { select a.id from A a order by a.x desc limit $n }"
    "query all_ { select a.id from A a order by a.x }"
    "query groups { select a.g, count(*) as n from A a group by a.g order by n desc limit 1 }"
    "query distinct_ { select distinct a.g from A a order by a.g limit 1 }";

class Pages : public Session {
 public:
  Pages() : Session(pages) {
    for (const char* a : {R"({"id":1,"x":5,"g":"a"})", R"({"id":2,"x":5,"g":"b"})", R"({"id":3,"x":7,"g":"b"})",
                          R"({"id":4,"g":"c"})", R"({"id":5,"x":1,"g":"a"})"})
      run("a", a);
  }
};

}  // namespace

// "Cursors hold a position": {"cursor": …} where there is more, and from there on when asked with it.
TEST(Order, ACursorGoesOnAfterTheLastRow) {
  Pages s;
  EXPECT_EQ(s.rows("q", R"({"n":2})"), R"([{"id":3},{"id":2}])");
  EXPECT_EQ(s.rows("q", R"({"n":2})", s.cursor()), R"([{"id":1},{"id":5}])");
  EXPECT_EQ(s.rows("q", R"({"n":2})", s.cursor()), R"([{"id":4}])");
  EXPECT_EQ(s.cursor(), "");
  EXPECT_EQ(s.rows("q", R"({"n":5})"), R"([{"id":3},{"id":2},{"id":1},{"id":5},{"id":4}])");
  EXPECT_EQ(s.cursor(), "");  // no more
  s.rows("q", R"({"n":0})");
  EXPECT_EQ(s.cursor(), "");
  s.rows("all_");
  EXPECT_EQ(s.cursor(), "");
}

TEST(Order, CursorsOfGroupsAndDistinctRows) {
  Pages s;
  EXPECT_EQ(s.rows("groups"), R"([{"g":"b","n":2}])");
  EXPECT_EQ(s.rows("groups", "{}", s.cursor()), R"([{"g":"a","n":2}])");
  EXPECT_EQ(s.rows("groups", "{}", s.cursor()), R"([{"g":"c","n":1}])");
  EXPECT_EQ(s.cursor(), "");
  EXPECT_EQ(s.rows("distinct_"), R"([{"g":"a"}])");
  EXPECT_EQ(s.rows("distinct_", "{}", s.cursor()), R"([{"g":"b"}])");
}

// "(values, not a count): what is inserted or deleted elsewhere moves nothing; a row whose order value changes
// meanwhile may repeat or be missed"
TEST(Order, ACursorHoldsValuesNotACount) {
  Pages s;
  EXPECT_EQ(s.rows("q", R"({"n":2})"), R"([{"id":3},{"id":2}])");
  const std::string cursor = s.cursor();
  s.run("a", R"({"id":9,"x":9,"g":"z"})");  // before
  s.run("drop", R"({"id":3})");
  s.run("drop", R"({"id":2})");  // the last row itself
  EXPECT_EQ(s.rows("q", R"({"n":2})", cursor), R"([{"id":1},{"id":5}])");
  s.run("a", R"({"id":9,"x":0,"g":"z"})");  // moved behind: it comes again
  EXPECT_EQ(s.rows("q", R"({"n":3})", cursor), R"([{"id":1},{"id":5},{"id":9}])");
  s.run("a", R"({"id":1,"x":8,"g":"a"})");  // moved before: it is missed
  EXPECT_EQ(s.rows("q", R"({"n":3})", cursor), R"([{"id":5},{"id":9},{"id":4}])");
}

TEST(Order, ACursorBelongsToItsQuery) {
  Pages s;
  s.rows("q", R"({"n":2})");
  const std::string cursor = s.cursor();
  EXPECT_EQ(s.rows("other", R"({"n":2})", cursor), "error request");
  EXPECT_EQ(s.rows("q", R"({"n":2})", "nonsense"), "error request");
  EXPECT_EQ(s.rows("q", R"({"n":2})", "AAAA"), "error request");
  EXPECT_EQ(s.rows("all_", "{}", cursor), "error request");  // it has no limit
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    std::string mangled = cursor;
    mangled[i] = mangled[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(s.rows("q", R"({"n":2})", mangled), "error request") << i;
  }
}

// The length of a page may change, nothing else.
TEST(Order, ACursorBelongsToItsParameters) {
  Session s(
      "entity A { id: int key  g: text } command a($id, $g) { put A { id: $id, g: $g } }"
      "query q($g, $n: int) { select a.id from A a where a.g = $g order by a.id limit $n }");
  for (const char* a : {R"({"id":1,"g":"a"})", R"({"id":2,"g":"a"})", R"({"id":3,"g":"b"})"}) s.run("a", a);
  EXPECT_EQ(s.rows("q", R"({"g":"a","n":1})"), R"([{"id":1}])");
  const std::string cursor = s.cursor();
  EXPECT_EQ(s.rows("q", R"({"g":"b","n":1})", cursor), "error request");
  EXPECT_EQ(s.rows("q", R"({"g":"a","n":5})", cursor), R"([{"id":2}])");
}

namespace {

constexpr const char* refreshed =
    "entity A { id: int key n: int } command a($id, $n) { put A { id: $id, n: $n } }"
    "command drop($id) { delete A[$id] }"
    "query top refresh every 1 hour keep 2 { select a.id, a.n from A a order by a.n desc limit 2 }"
    "query total refresh every 1 day { select sum(a.n) as s, now() as t from A a }"
    "query second refresh every 1 hour { select t.id, t.n * 10 as m from top t where t.n > 1 }"
    "query of_top { select t.id, t.n, t.refreshed, position(t) as p, a.n as now_ from top t, A[t.id] a order by t.n"
    "  }"
    "query series { select t.refreshed, position(t) as p, t.id from top history t order by t.refreshed desc }"
    "query bounded($a, $b) { select t.id from top history t where t.refreshed between $a and $b order by t.id }";

}  // namespace

// "refresh every: no parameters; the answer is that of the last refresh (none before the first)"
TEST(Order, ARefreshedQueryAnswersAsOfItsLastRefresh) {
  Session s(refreshed);
  s.run("a", R"({"id":1,"n":1})");
  s.run("a", R"({"id":2,"n":2})");
  EXPECT_EQ(s.answer("top"), R"({"rows":[]})");
  EXPECT_EQ(s.rows("of_top"), "[]");
  s.engine().refresh("top");
  s.run("a", R"({"id":3,"n":3})");
  EXPECT_EQ(s.answer("top"), R"({"rows":[{"id":2,"n":2},{"id":1,"n":1}]})");
  s.run("a", R"({"id":2,"n":20})");
  s.run("drop", R"({"id":1})");
  EXPECT_EQ(s.rows("of_top"), R"([{"id":2,"n":2,"refreshed":"2024-05-01T12:00:00.000Z","p":0,"now_":20}])");
  s.at("2024-05-01T13:00:00Z");
  s.engine().refresh("top");
  EXPECT_EQ(s.answer("top"), R"({"rows":[{"id":2,"n":20},{"id":3,"n":3}]})");  // cut: no cursor, the rest is not kept
}

// "`keep n` keeps the last n readable through `history`." A refreshed row's key is "(refreshed, position)".
TEST(Order, HistoryHasTheLastRefreshes) {
  Session s(refreshed);
  s.run("a", R"({"id":1,"n":1})");
  s.engine().refresh("top");
  s.at("2024-05-01T13:00:00Z");
  s.run("a", R"({"id":2,"n":2})");
  s.engine().refresh("top");
  EXPECT_EQ(
      s.rows("series"),
      R"([{"refreshed":"2024-05-01T13:00:00.000Z","p":1,"id":1},{"refreshed":"2024-05-01T13:00:00.000Z","p":0,"id":2},)"
      R"({"refreshed":"2024-05-01T12:00:00.000Z","p":0,"id":1}])");
  EXPECT_EQ(s.rows("bounded", R"({"a":"2024-05-01T12:00:00Z","b":"2024-05-01T12:59:00Z"})"), R"([{"id":1}])");
  s.at("2024-05-01T14:00:00Z");
  s.run("drop", R"({"id":1})");
  s.engine().refresh("top");
  EXPECT_EQ(
      s.rows("series"),
      R"([{"refreshed":"2024-05-01T14:00:00.000Z","p":0,"id":2},{"refreshed":"2024-05-01T13:00:00.000Z","p":1,"id":1},)"
      R"({"refreshed":"2024-05-01T13:00:00.000Z","p":0,"id":2}])");
}

TEST(Order, RefreshedQueriesReadEachOther) {
  Session s(refreshed);
  s.run("a", R"({"id":1,"n":1})");
  s.run("a", R"({"id":2,"n":2})");
  s.engine().refresh("second");
  EXPECT_EQ(s.rows("second"), "[]");
  s.engine().refresh("top");
  s.engine().refresh("second");
  EXPECT_EQ(s.rows("second"), R"([{"id":2,"m":20}])");
  EXPECT_EQ(s.rows("second", "{}", "AAAA"), "error request");  // no cursors: what was cut is not kept
  // It says no order, and has one all the same: the positions of `top`.
  s.run("a", R"({"id":0,"n":9})");
  s.engine().refresh("top");
  s.engine().refresh("second");
  EXPECT_EQ(s.rows("second"), R"([{"id":0,"m":90},{"id":2,"m":20}])");
}

// A refresh whose sum does not fit changes nothing; one at the same time as the last takes its place.
TEST(Order, ARefreshThatFailsLeavesTheLast) {
  Session s(refreshed);
  s.run("a", R"({"id":1,"n":9223372036854775807})");
  s.engine().refresh("total");
  s.run("a", R"({"id":2,"n":1})");
  s.at("2024-05-01T13:00:00Z");
  s.engine().refresh("total");
  EXPECT_EQ(s.rows("total"), R"([{"s":9223372036854775807,"t":"2024-05-01T12:00:00.000Z"}])");
  s.run("drop", R"({"id":1})");
  s.engine().refresh("top");
  s.run("a", R"({"id":2,"n":5})");
  s.engine().refresh("top");
  EXPECT_EQ(s.rows("series"), R"([{"refreshed":"2024-05-01T13:00:00.000Z","p":0,"id":2}])");
  EXPECT_EQ(s.rows("top"), R"([{"id":2,"n":5}])");
}

// "ttl: due is fixed at insert (`put` counts as one): the field's value (absent: never), or the command's time, plus
// the period. Expiry is a delete that the runtime carries out at or after the due time with everything that follows
// from it; visible until then."
TEST(Order, WhatIsDueIsDeletedWithEverythingThatFollows) {
  Session s(
      "entity A { id: int key at: timestamp? ttl 1 hour from at } entity P { id: int key a: A owner inverse ps }"
      "entity L { id: int key n: int = 0 ttl 90 minutes } entity D { id: int key d: date ttl 1 day from d }"
      "command a($id, $at) { insert A { id: $id, at: $at } } command put_a($id, $at) { put A { id: $id, at: $at } }"
      "command p($id, $a) { insert P { id: $id, a: $a } } command move($id, $at) { update A[$id] { at: $at } }"
      "command l($id) { put L { id: $id } } command touch($id) { update L[$id] { n: 1 } }"
      "command d($id, $d) { insert D { id: $id, d: $d } } query as_ { select a.id from A a order by a.id }"
      "query ps { select p.id from P p order by p.id } query ls { select l.id from L l order by l.id }"
      "query ds { select d.id from D d order by d.id }");
  s.run("a", R"({"id":1,"at":"2024-05-01T11:30:00Z"})");  // due at 12:30
  s.run("a", R"({"id":2})");                              // never
  s.run("a", R"({"id":3,"at":"2024-05-01T11:30:00Z"})");
  s.run("p", R"({"id":7,"a":1})");
  s.run("p", R"({"id":8,"a":2})");
  s.run("l", R"({"id":1})");  // due at 13:30
  s.run("l", R"({"id":2})");
  s.run("d", R"({"id":1,"d":"2024-05-01"})");                 // due at midnight
  s.run("move", R"({"id":1,"at":"2024-05-02T00:00:00Z"})");   // does not move the due time
  s.run("put_a", R"({"id":3,"at":"2024-05-01T11:31:00Z"})");  // does: 12:31
  s.at("2024-05-01T12:29:59.999Z");
  s.engine().expire();
  EXPECT_EQ(s.rows("as_"), R"([{"id":1},{"id":2},{"id":3}])");
  s.at("2024-05-01T12:30:00.000Z");
  EXPECT_EQ(s.rows("as_"), R"([{"id":1},{"id":2},{"id":3}])");  // visible until it is carried out
  s.engine().expire();
  EXPECT_EQ(s.rows("as_"), R"([{"id":2},{"id":3}])");
  EXPECT_EQ(s.rows("ps"), R"([{"id":8}])");
  s.at("2024-05-01T13:00:00Z");
  s.engine().expire();
  EXPECT_EQ(s.rows("as_"), R"([{"id":2}])");
  s.run("touch", R"({"id":1})");
  s.run("l", R"({"id":2})");  // a put counts as an insert: due at 14:30
  s.at("2024-05-01T13:30:00Z");
  s.engine().expire();
  EXPECT_EQ(s.rows("ls"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("ds"), R"([{"id":1}])");
  s.at("2024-05-02T00:00:00Z");
  s.engine().expire();
  EXPECT_EQ(s.rows("ds"), "[]");
  EXPECT_EQ(s.rows("ls"), "[]");
  EXPECT_EQ(s.rows("as_"), R"([{"id":2}])");
}

// "transient: insert-only, no ttl. As real as any other entity in meaning"
TEST(Order, TransientInstancesAreAsRealAsOthers) {
  Session s(
      "entity Url { short: text key }"
      "entity Visit transient { url: Url owner inverse visits at: timestamp c: text? }"
      "command url($k) { insert Url { short: $k } } command drop($k) { delete Url[$k] }"
      "command visit($k, $at, $c) { insert Visit { url: $k, at: $at, c: $c } }"
      "query hours($k) { select hour(v.at) as h, count(*) as n, count(distinct v.c) as c from Url u, u.visits v"
      "  where u.short = $k group by hour(v.at) order by h desc }"
      "query n { select u.short, count(u.visits) as n from Url u order by u }");
  EXPECT_EQ(s.run("visit", R"({"k":"a","at":"2024-05-01T12:00:00Z"})"), "owner");
  s.run("url", R"({"k":"a"})");
  for (const char* at : {"12:00:00Z\",\"c\":\"de", "12:59:59Z\",\"c\":\"de", "13:00:00Z"})
    EXPECT_EQ(s.run("visit", std::string(R"({"k":"a","at":"2024-05-01T)") + at + "\"}"), "applied");
  EXPECT_EQ(s.rows("hours", R"({"k":"a"})"),
            R"([{"h":"2024-05-01T13:00:00.000Z","n":1,"c":0},{"h":"2024-05-01T12:00:00.000Z","n":2,"c":1}])");
  EXPECT_EQ(s.rows("n"), R"([{"short":"a","n":3}])");
  s.run("drop", R"({"k":"a"})");
  s.run("url", R"({"k":"a"})");
  EXPECT_EQ(s.rows("n"), R"([{"short":"a","n":0}])");
}

// What is no request at all.
TEST(Order, ALineThatIsNoRequestIsAnError) {
  Reference engine(model_of("entity A { id: int key } query q { select a.id from A a } command c { delete A[1] }"));
  const auto code = [&](const char* request) {
    const auto answer = engine.answer(Json::parse(request));
    return answer.contains("error") ? answer["error"]["code"].get<std::string>() : answer.dump();
  };
  EXPECT_EQ(code("5"), "request");
  EXPECT_EQ(code("{}"), "request");
  EXPECT_EQ(code(R"({"run":5})"), "request");
  EXPECT_EQ(code(R"({"run":"x"})"), "request");
  EXPECT_EQ(code(R"({"run":"q","params":[]})"), "request");
  EXPECT_EQ(code(R"({"run":"c","id":"x"})"), "request");
  EXPECT_EQ(code(R"({"run":"q","cursor":5})"), "request");
  EXPECT_EQ(code(R"({"run":"q","cursor":""})"), "request");
  EXPECT_EQ(code(R"({"run":"q","id":"0198c1f2-7d00-7000-8000-000000000000"})"), "request");
  EXPECT_EQ(code(R"({"run":"q","more":1})"), "request");
  EXPECT_EQ(code(R"({"run":"c","params":null})"), "request");
  EXPECT_EQ(code(R"({"run":"q"})"), R"({"rows":[]})");
  EXPECT_EQ(code(R"({"run":"c"})"), R"({"outcome":"applied"})");
}

// The sentences that make something an error of the text: found before anything runs.
TEST(Order, WhatIsAnErrorOfTheTextIsFoundBeforeItRuns) {
  const std::string data =
      "value V { x: int } entity A { id: int key  n: int  d: date  j: json?  v: V?  r: A?  rs: set<A> inverse back"
      "  l: list<int>  m: map<text, int> }";
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"entity B { f: float key }", "key-type"},
      {"entity B { id: int key  s: set<float> }", "element-type"},
      {"entity B { id: int key  s: set<int>? }", "optional-collection"},
      {"entity B { id: int? key }", "key-type"},
      {"query q { select a.id from A a where a.j = a.j }", "not-comparable"},
      {"query q { select a.id from A a order by a.j }", "not-ordered"},
      {"query q { select distinct a.j from A a }", "distinct-type"},
      {"query q { select count(*) as n from A a group by a.j }", "not-comparable"},
      {"command c { update A[1] { id: 2 } }", "key-update"},
      {"entity B { id: int key  a: A? owner inverse bs }", "owner-optional"},
      {"command c($v: V) { update A[1] { v: $v, v.x: 1 } }", "overlapping-targets"},
      {"command c { add 1 to A[1].l }", "collection-kind"},
      {"command c { delete A a where a.n = 1  delete A[1] }", "bulk-alone"},
      {"command c { delete A a where a.r.n = 1 }", "bulk-predicate"},
      {"entity B { id: int key  a: A  require a.n > 0 }", "entity-require"},
      {"entity B { id: int key  l: list<int>  require (select sum(x) as n from l x) > 0 }", "entity-require"},
      {"entity B { id: int key  f: float } query q { select b.f * b.id as x from B b }", "type-mismatch"},
      {"query q { select distinct a.n from A a order by a.id }", "order-of-distinct"},
      {"query q { select hour(a.d) as h from A a }", "wrong-arguments"},
      {"query q { select count(a.r) as n from A a }", "count-to-one"},
      {"query q { select a.id, count(*) as n from A a }", "fold-mix"},
      {"query q { select a.n, count(*) as n2 from A a group by a.d }", "not-grouped"},
      {"query q { select a.id from A a where a.r = absent }", "absent-misuse"},
      {"query q refresh every 1 hour { select x.n from q x }", "refresh-cycle"},
      {"query q($n) refresh every 1 hour { select a.id from A a where a.n = $n }", "refresh-parameter"},
      {"entity E transient { n: int } command c($e) { delete E[$e] }", "transient-change"},
      {"entity E transient { n: int } query q { select e.n from E e }", "transient-query"},
      {"entity E transient { n: int  ttl 1 hour }", "transient-entity"},
      {"query q { select a.n + 1 from A a }", "column-name"},
      {"query q { select a.n, a.n from A a }", "duplicate-column"},
      {"query q($x) { select a.n from A a }", "unused-parameter"},
      {"query q { select a.n from A a where a.n = $x }", "unknown-parameter"},
      {"query q { select a.id from A a order by a.n limit -1 }", "limit-value"},
      {"query q { select a.id from A a limit 1 }", "limit-without-order"},
  };
  for (const auto& [text, code] : mistakes) {
    const language::SourceFile source("test.noam", "model test\n" + data + text);
    const Compilation compilation = compile(source);
    bool found = false;
    for (const language::Diagnostic& diagnostic : compilation.diagnostics.all())
      found = found || language::info(diagnostic.code).name == code;
    EXPECT_TRUE(found) << code << ": " << text;
  }
}

}  // namespace noam::reference
