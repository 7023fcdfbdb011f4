// The chapter "Queries" of what a program means, up to nested selects, sentence by sentence.
#include "tests/reference/session.h"

namespace noam::reference {

namespace {

constexpr const char* numbers =
    "entity N { id: int key  g: text?  n: int?  d: decimal?  f: float?  t: timestamp?  e: date?  x: text?"
    "  l: list<int>  s: set<int>  m: map<text, int> }"
    "command n($id, $g, $n, $d, $f) { put N { id: $id, g: $g, n: $n, d: $d, f: $f } }"
    "command lists($id, $l, $s, $m) { put N { id: $id, l: $l, s: $s, m: $m } }"
    "command text_($id, $x) { put N { id: $id, x: $x } }"
    "command time($id, $t, $e) { put N { id: $id, t: $t, e: $e } } command drop($id) { delete N[$id] }";

class Numbers : public Session {
 public:
  explicit Numbers(const std::string& queries) : Session(numbers + queries) {}
  void add(const std::string& params) { EXPECT_EQ(run("n", params), "applied"); }
};

}  // namespace

// "A query's rows are the bag of bindings for which `where` holds, as in SQL inner joins."
TEST(Queries, RowsAreTheBagOfBindings) {
  Numbers s(
      "query join_ { select a.id, b.id as other from N a, N b where a.n = b.n order by a.id, b.id }"
      "query elements { select e from N n, n.l e order by e }"
      "query bag { select n.g from N n where n.n > 1 order by n.id }");
  s.add(R"({"id":1,"n":1,"g":"a"})");
  s.add(R"({"id":2,"n":2,"g":"b"})");
  s.add(R"({"id":3,"n":2,"g":"b"})");
  EXPECT_EQ(s.rows("join_"), R"([{"id":1,"other":1},{"id":2,"other":2},{"id":2,"other":3},{"id":3,"other":2},)"
                             R"({"id":3,"other":3}])");
  EXPECT_EQ(s.rows("bag"), R"([{"g":"b"},{"g":"b"}])");
  s.run("lists", R"({"id":4,"l":[7,7,5],"s":[],"m":[]})");
  EXPECT_EQ(s.rows("elements"), R"([{"e":5},{"e":7},{"e":7}])");
}

// "`or` is a predicate on one row and makes no duplicates."
TEST(Queries, OrMakesNoDuplicates) {
  Numbers s("query q { select n.id from N n where n.n = 1 or n.g = \"a\" or n.id = 1 }");
  s.add(R"({"id":1,"n":1,"g":"a"})");
  s.add(R"({"id":2,"n":2,"g":"b"})");
  EXPECT_EQ(s.rows("q"), R"([{"id":1}])");
}

// "`select distinct` removes them (scalars and references only; ordered by selected columns only); there and in `group
// by` absent equals absent."
TEST(Queries, DistinctAndGroupsTakeAbsentAsEqual) {
  Numbers s(
      "query d { select distinct a.g, a.n from N a order by a.g desc }"
      "query g { select n.g, count(*) as c from N n group by n.g order by n.g }");
  s.add(R"({"id":1,"g":"a","n":1})");
  s.add(R"({"id":2,"g":"a","n":1})");
  s.add(R"({"id":3})");
  s.add(R"({"id":4})");
  s.add(R"({"id":5,"g":"a"})");
  EXPECT_EQ(s.rows("d"), R"([{"g":"a","n":1},{"g":"a","n":null},{"g":null,"n":null}])");
  EXPECT_EQ(s.rows("g"), R"([{"g":null,"c":2},{"g":"a","c":3}])");
}

// "A variable over a map is the value, `key(m)` its key."
TEST(Queries, AVariableOverAMapIsTheValue) {
  Numbers s("query q { select key(m) as k, m as v from N n, n.m m where m > 1 and key(m) != \"c\" order by k }");
  s.run("lists", R"({"id":1,"l":[],"s":[],"m":{"b":2,"a":1,"c":3,"aa":4}})");
  EXPECT_EQ(s.rows("q"), R"([{"k":"aa","v":4},{"k":"b","v":2}])");
}

// "Logic is two-valued. A comparison with something absent is false; `!=` is `not =`; `is absent` asks."
TEST(Queries, LogicIsTwoValued) {
  Numbers s(
      "query eq($n) { select n.id from N n where n.n = $n order by n.id }"
      "query ne($n) { select n.id from N n where n.n != $n order by n.id }"
      "query lt($n) { select n.id from N n where n.n < $n order by n.id }"
      "query not_lt($n) { select n.id from N n where not (n.n < $n) order by n.id }"
      "query both($n) { select n.id from N n where n.n <= $n or not (n.n <= $n) order by n.id }"
      "query same { select n.id from N n where n.n = n.n } query ge($n) { select n.id from N n where n.n >= $n }"
      "query gt($n) { select n.id from N n where n.n > $n } query none { select n.id from N n where n.n is absent }"
      "query some { select n.id from N n where n.n is not absent }");
  s.add(R"({"id":1,"n":1})");
  s.add(R"({"id":2})");
  EXPECT_EQ(s.rows("eq", R"({"n":1})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("ne", R"({"n":1})"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("lt", R"({"n":9})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("not_lt", R"({"n":9})"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("both", R"({"n":9})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("same"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("ge", R"({"n":1})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("gt", R"({"n":1})"), "[]");
  EXPECT_EQ(s.rows("none"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("some"), R"([{"id":1}])");
}

// "`between` is inclusive; reversed bounds: false. `in` an empty collection: false."
TEST(Queries, BetweenIsInclusiveAndInNothingIsFalse) {
  Numbers s(
      "query between_($a, $b) { select n.id from N n where n.n between $a and $b order by n.id }"
      "query in_($xs: list<int>) { select n.id from N n where n.n in $xs order by n.id }"
      "query not_in($xs: list<int>) { select n.id from N n where n.n not in $xs order by n.id }");
  for (const char* n : {R"({"id":1,"n":1})", R"({"id":2,"n":2})", R"({"id":3,"n":3})", R"({"id":4})"}) s.add(n);
  EXPECT_EQ(s.rows("between_", R"({"a":1,"b":2})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("between_", R"({"a":2,"b":1})"), "[]");
  EXPECT_EQ(s.rows("in_", R"({"xs":[3,1,7]})"), R"([{"id":1},{"id":3}])");
  EXPECT_EQ(s.rows("in_", R"({"xs":[]})"), "[]");
  EXPECT_EQ(s.rows("not_in", R"({"xs":[3]})"), R"([{"id":1},{"id":2},{"id":4}])");
}

// "contains alone asks for membership in a set, list or map's keys."
TEST(Queries, ContainsAsksForMembership) {
  Numbers s(
      "query l($x) { select n.id from N n where n.l contains $x }"
      "query s($x) { select n.id from N n where n.s contains $x }"
      "query m($x) { select n.id from N n where n.m contains $x }"
      "query none { select n.id from N n where n.l contains n.n }");
  s.run("lists", R"({"id":1,"l":[3,4],"s":[5],"m":{"k":9}})");
  EXPECT_EQ(s.rows("l", R"({"x":4})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("l", R"({"x":5})"), "[]");
  EXPECT_EQ(s.rows("s", R"({"x":5})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("m", R"({"x":"k"})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("m", R"({"x":"9"})"), "[]");
  EXPECT_EQ(s.rows("none"), "[]");
}

// "`text contains all $words`, `contains any`: words, maximal runs of Unicode letters, marks and decimal digits,
// case-folded; `$words` is text, cut by the same rule; without words: all true, any false; on absent text false."
TEST(Queries, WordsAreRunsOfLettersMarksAndDigitsCaseFolded) {
  Numbers s(
      "query all_($w: text?) { select n.id from N n where n.x contains all $w order by n.id }"
      "query any_($w) { select n.id from N n where n.x contains any $w order by n.id }");
  s.run("text_", R"({"id":1,"x":"Straße-7, fünf_Katzen"})");
  s.run("text_", R"({"id":2,"x":"ΣΊΣΥΦΟΣ 7"})");
  s.run("text_", R"({"id":3,"x":""})");
  s.run("text_", R"({"id":4})");
  s.run("text_", R"({"id":5,"x":"½ e\u0301x"})");  // ½ is a number, but no decimal digit; the accent is a mark
  EXPECT_EQ(s.rows("all_", R"({"w":"STRASSE"})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("all_", R"({"w":"katzen; straße"})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("all_", R"({"w":"katze"})"), "[]");
  EXPECT_EQ(s.rows("all_", R"({"w":"7"})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("any_", R"({"w":"σίσυφος nothing fünf"})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("any_", R"({"w":"7 x"})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("all_", R"({"w":"e\u0301X"})"), R"([{"id":5}])");
  EXPECT_EQ(s.rows("all_", R"({"w":"½"})"), R"([{"id":1},{"id":2},{"id":3},{"id":5}])");  // no words
  EXPECT_EQ(s.rows("all_", R"({"w":" - "})"), R"([{"id":1},{"id":2},{"id":3},{"id":5}])");
  EXPECT_EQ(s.rows("any_", R"({"w":" - "})"), "[]");
  EXPECT_EQ(s.rows("all_"), "[]");  // absent words: false, as comparisons are
}

// `starts with` is byte by byte; absent on either side: false.
TEST(Queries, StartsWithComparesBytes) {
  Numbers s("query q($p: text?) { select n.id from N n where n.x starts with $p order by n.id }");
  s.run("text_", R"({"id":1,"x":"abc"})");
  s.run("text_", R"({"id":2,"x":"Abc"})");
  s.run("text_", R"({"id":3})");
  EXPECT_EQ(s.rows("q", R"({"p":"ab"})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("q", R"({"p":""})"), R"([{"id":1},{"id":2}])");
  EXPECT_EQ(s.rows("q"), "[]");
}

// "Time functions give the start of the period, UTC (a timestamp, or a date for a date […]); weeks start on Monday."
TEST(Queries, TimeFunctionsGiveTheStartOfThePeriod) {
  Numbers s(
      "query t { select minute(n.t) as mi, hour(n.t) as h, day(n.t) as d, week(n.t) as w, month(n.t) as mo,"
      "  year(n.t) as y from N n where n.id = 1 }"
      "query e { select day(n.e) as d, week(n.e) as w, month(n.e) as mo, year(n.e) as y from N n where n.id = 1 }");
  s.run("time", R"({"id":1,"t":"2024-02-29T23:59:59.999Z","e":"2024-03-03"})");  // a Thursday, and a Sunday
  EXPECT_EQ(s.rows("t"),
            R"([{"mi":"2024-02-29T23:59:00.000Z","h":"2024-02-29T23:00:00.000Z","d":"2024-02-29T00:00:00.000Z",)"
            R"("w":"2024-02-26T00:00:00.000Z","mo":"2024-02-01T00:00:00.000Z","y":"2024-01-01T00:00:00.000Z"}])");
  EXPECT_EQ(s.rows("e"), R"([{"d":"2024-03-03","w":"2024-02-26","mo":"2024-03-01","y":"2024-01-01"}])");
  s.run("time", R"({"id":1,"t":"1969-12-31T23:59:59.999Z","e":"1969-12-29"})");  // before 1970; a Monday
  EXPECT_EQ(s.rows("t"),
            R"([{"mi":"1969-12-31T23:59:00.000Z","h":"1969-12-31T23:00:00.000Z","d":"1969-12-31T00:00:00.000Z",)"
            R"("w":"1969-12-29T00:00:00.000Z","mo":"1969-12-01T00:00:00.000Z","y":"1969-01-01T00:00:00.000Z"}])");
  EXPECT_EQ(s.rows("e"), R"([{"d":"1969-12-29","w":"1969-12-29","mo":"1969-12-01","y":"1969-01-01"}])");
  s.run("time", R"({"id":1,"t":"0001-01-01T00:00:00.000Z","e":"0001-01-07"})");
  EXPECT_EQ(s.rows("e"), R"([{"d":"0001-01-07","w":"0001-01-01","mo":"0001-01-01","y":"0001-01-01"}])");
  s.run("time", R"({"id":1})");
  EXPECT_EQ(s.rows("e"), R"([{"d":null,"w":null,"mo":null,"y":null}])");
}

// "Durations are minutes, hours, days, weeks."
TEST(Queries, DurationsAreMinutesHoursDaysAndWeeks) {
  Numbers s(
      "query t { select n.t + 90 minutes as a, n.t - 1 hour as b, n.t + 1 day as c, n.t - 1 week as d from N n }"
      "query e { select n.e + 1 day as a, n.e - 2 weeks as b from N n }");
  s.run("time", R"({"id":1,"t":"2024-02-28T23:00:00Z","e":"2024-02-28"})");
  EXPECT_EQ(s.rows("t"),
            R"([{"a":"2024-02-29T00:30:00.000Z","b":"2024-02-28T22:00:00.000Z","c":"2024-02-29T23:00:00.000Z",)"
            R"("d":"2024-02-21T23:00:00.000Z"}])");
  EXPECT_EQ(s.rows("e"), R"([{"a":"2024-02-29","b":"2024-02-14"}])");
}

// "`now()` is the session's clock when the query starts"
TEST(Queries, NowIsTheClock) {
  Numbers s("query q { select n.id, now() as t from N n where n.t > now() - 1 hour }");
  s.run("time", R"({"id":1,"t":"2024-05-01T11:30:00Z"})");
  EXPECT_EQ(s.rows("q"), R"([{"id":1,"t":"2024-05-01T12:00:00.000Z"}])");
  s.at("2024-05-01T12:30:00Z");
  EXPECT_EQ(s.rows("q"), "[]");
}

// "count(x) of a role to many, list, set, map or nested select is a value of the row; […] of anything else, a fold."
TEST(Queries, CountOfManyIsAValueOfTheRow) {
  Numbers s(
      "query row { select n.id, count(n.l) as l, count(n.s) as s, count(n.m) as m,"
      "  count((select x.id from N x where x.id < n.id)) as before from N n where count(n.l) > 0 order by n.id }"
      "query fold_ { select count(n.n) as n, count(n) as all_, count(*) as rows, count(distinct n.g) as gs from N n }");
  s.run("lists", R"({"id":1,"l":[1,1,2],"s":[1,1,2],"m":{"a":1}})");
  s.run("lists", R"({"id":2,"l":[1],"s":[],"m":{}})");
  s.add(R"({"id":3,"n":1,"g":"a"})");
  s.add(R"({"id":4,"n":1,"g":"a"})");
  EXPECT_EQ(s.rows("row"), R"([{"id":1,"l":3,"s":2,"m":1,"before":0},{"id":2,"l":1,"s":0,"m":0,"before":1}])");
  EXPECT_EQ(s.rows("fold_"), R"([{"n":2,"all_":4,"rows":4,"gs":1}])");
}

// "a fold without `group by` gives one row, always (`limit` applies to it, too)"
TEST(Queries, AFoldWithoutGroupsGivesOneRowAlways) {
  Numbers s(
      "query folds { select count(*) as n, max(n.n) as m from N n where n.n > 5 }"
      "query limited($l) { select count(*) as n from N n limit $l }");
  EXPECT_EQ(s.answer("folds"), R"({"rows":[{"n":0,"m":null}]})");
  EXPECT_EQ(s.answer("limited", R"({"l":1})"), R"({"rows":[{"n":0}]})");
  EXPECT_EQ(s.answer("limited", R"({"l":0})"), R"({"rows":[]})");
}

// "Grouping by a variable, or by all parts of its key, determines its fields, which may be selected."
TEST(Queries, GroupingByAVariableDeterminesItsFields) {
  Session s(
      "entity A { a: int b: int name: text key (a, b) } entity P { id: int key of_: A inverse ps }"
      "command a($a, $b, $n) { insert A { a: $a, b: $b, name: $n } }"
      "command p($id, $of) { insert P { id: $id, of_: $of } }"
      "query v { select a.name, a.b, count(*) as n from A a, a.ps p group by a order by a }"
      "query parts { select a.name, count(*) as n from A a, a.ps p group by a.b, a.a order by n desc }");
  s.run("a", R"({"a":1,"b":2,"n":"x"})");
  s.run("a", R"({"a":2,"b":1,"n":"y"})");
  s.run("a", R"({"a":3,"b":3,"n":"z"})");
  for (const char* p : {R"({"id":1,"of":[1,2]})", R"({"id":2,"of":[2,1]})", R"({"id":3,"of":[1,2]})"}) s.run("p", p);
  EXPECT_EQ(s.rows("v"), R"([{"name":"x","b":2,"n":2},{"name":"y","b":1,"n":1}])");
  EXPECT_EQ(s.rows("parts"), R"([{"name":"x","n":2},{"name":"y","n":1}])");
}

// "Absent values are not folded." "count and sum of nothing are 0; min, max, avg of nothing are absent."
TEST(Queries, AbsentValuesAreNotFolded) {
  Numbers s(
      "query q($id) { select count(n.n) as c, sum(n.n) as s, sum(n.d) as sd, sum(n.f) as sf, min(n.n) as mi,"
      "  max(n.g) as ma, avg(n.n) as a, avg(n.d) as ad, count(distinct n.g) as d from N n where n.id < $id }");
  EXPECT_EQ(s.rows("q", R"({"id":9})"),
            R"([{"c":0,"s":0,"sd":"0","sf":0.0,"mi":null,"ma":null,"a":null,"ad":null,"d":0}])");
  s.add(R"({"id":1})");
  EXPECT_EQ(s.rows("q", R"({"id":9})"),
            R"([{"c":0,"s":0,"sd":"0","sf":0.0,"mi":null,"ma":null,"a":null,"ad":null,"d":0}])");
  s.add(R"({"id":2,"n":4,"d":"0.1","f":0.5,"g":"x"})");
  s.add(R"({"id":3,"n":-1,"d":"0.2","f":0.25,"g":"y"})");
  EXPECT_EQ(s.rows("q", R"({"id":9})"),
            R"([{"c":2,"s":3,"sd":"0.3","sf":0.75,"mi":-1,"ma":"y","a":1.5,"ad":"0.15","d":2}])");
}

// "A sum that does not fit is an error of the query, for any group and any row that `where` keeps, also one that
// `limit` cuts" (kept sums have room on the way)
TEST(Queries, ASumThatDoesNotFitIsAnErrorOfTheQuery) {
  Numbers s(
      "query sum_ { select sum(n.n) as s from N n } query some($id) { select sum(n.n) as s from N n where n.id < $id }"
      "query groups($l) { select n.g, sum(n.n) as s from N n group by n.g order by n.g limit $l }"
      "query nested($l) { select n.g, (select sum(m.n) from N m where m.g = n.g) as s from N n order by n.g limit $l }"
      "query kept { select n.id from N n where n.g = \"b\" and (select sum(m.n) from N m where m.g = n.g) > 0 }"
      "query first { select n.id from N n where (select sum(m.n) from N m where m.g = n.g) > 0 and n.g = \"a\" }"
      "query ordered { select n.g from N n group by n.g order by sum(n.n) limit 1 }");
  s.add(R"({"id":1,"g":"a","n":1})");
  s.add(R"({"id":2,"g":"b","n":9223372036854775807})");
  s.add(R"({"id":3,"g":"b","n":1})");
  s.add(R"({"id":4,"g":"b","n":-1})");
  EXPECT_EQ(s.rows("groups", R"({"l":2})"), R"([{"g":"a","s":1},{"g":"b","s":9223372036854775807}])");
  s.run("drop", R"({"id":4})");
  EXPECT_EQ(s.rows("sum_"), "error overflow");
  EXPECT_EQ(s.rows("some", R"({"id":2})"), R"([{"s":1}])");
  EXPECT_EQ(s.rows("groups", R"({"l":1})"), "error overflow");
  EXPECT_EQ(s.rows("groups", R"({"l":0})"), "error overflow");
  EXPECT_EQ(s.rows("nested", R"({"l":1})"), "error overflow");
  EXPECT_EQ(s.rows("ordered"), "error overflow");
  EXPECT_EQ(s.rows("kept"), "error overflow");
  EXPECT_EQ(s.rows("first"), R"([{"id":1}])");  // decided without it, whatever comes first
}

TEST(Queries, ASumOfDecimalsFitsOrIsAnError) {
  Numbers s("query d { select sum(n.d) as s from N n }");
  s.add(R"({"id":1,"d":"9999999999999999999999999999999999"})");
  EXPECT_EQ(s.rows("d"), R"([{"s":"9999999999999999999999999999999999"}])");
  s.add(R"({"id":2,"d":"1"})");
  EXPECT_EQ(s.rows("d"), R"([{"s":"10000000000000000000000000000000000"}])");  // one digit, and zeros
  s.add(R"({"id":3,"d":"1"})");
  EXPECT_EQ(s.rows("d"), "error overflow");  // 35 digits
}

// "other arithmetic in a query that does not fit is absent"
TEST(Queries, OtherArithmeticThatDoesNotFitIsAbsent) {
  Numbers s(
      "query q { select n.n + 1 as a, n.n * 2 as b, -n.n as c, n.d * n.d as d, n.f * 10 as f from N n where n.id = 1 }"
      "query w { select n.id from N n where n.n + 1 > 0 } query nw { select n.id from N n where not (n.n + 1 > 0) }"
      "query t { select n.t + 1 day as t, n.e - 1 day as e from N n where n.id = 2 }"
      "query fold_ { select sum(n.n + 1) as s, count(n.n + 1) as c from N n }");
  s.add(R"({"id":1,"n":9223372036854775807,"d":"1e60","f":1e308})");
  EXPECT_EQ(s.rows("q"), R"([{"a":null,"b":null,"c":-9223372036854775807,"d":null,"f":null}])");
  EXPECT_EQ(s.rows("w"), "[]");
  EXPECT_EQ(s.rows("nw"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("fold_"), R"([{"s":0,"c":0}])");  // absent, and so not folded
  s.run("time", R"({"id":2,"t":"9999-12-31T00:00:00Z","e":"0001-01-01"})");
  EXPECT_EQ(s.rows("t"), R"([{"t":null,"e":null}])");
}

// "The sum of floats is the double nearest to the exact sum"
TEST(Queries, TheSumOfFloatsIsNearestToTheExactSum) {
  Numbers s("query q { select sum(n.f) as s, avg(n.f) as a from N n }");
  s.add(R"({"id":1,"f":0.1})");
  s.add(R"({"id":2,"f":0.2})");
  s.add(R"({"id":3,"f":0.3})");
  EXPECT_EQ(s.rows("q"), R"([{"s":0.6,"a":0.2}])");  // adding up one by one: 0.6000000000000001
  s.add(R"({"id":1,"f":1e308})");
  s.add(R"({"id":2,"f":1e308})");
  s.add(R"({"id":3,"f":-1e308})");
  EXPECT_EQ(s.rows("q"), R"([{"s":1e+308,"a":3.333333333333333e+307}])");
  s.add(R"({"id":3,"f":1e308})");
  EXPECT_EQ(s.rows("q"), "error overflow");
}

// "avg: float nearest to exact sum / count; for decimals 34 digits, half-even"
TEST(Queries, AverageIsExactBeforeItIsRounded) {
  Numbers s("query q { select avg(n.n) as n, avg(n.d) as d from N n }");
  s.add(R"({"id":1,"n":9223372036854775807,"d":"1"})");
  s.add(R"({"id":2,"n":9223372036854775807,"d":"0"})");
  s.add(R"({"id":3,"n":9223372036854775804,"d":"0"})");
  EXPECT_EQ(s.rows("q"), R"([{"n":9.223372036854776e+18,"d":"0.3333333333333333333333333333333333"}])");
  s.add(R"({"id":2,"n":1,"d":"1"})");
  s.add(R"({"id":1,"n":1,"d":"1"})");
  s.add(R"({"id":3,"n":2,"d":"0"})");
  EXPECT_EQ(s.rows("q"), R"([{"n":1.3333333333333333,"d":"0.6666666666666666666666666666666667"}])");
  s.run("drop", R"({"id":3})");
  s.add(R"({"id":1,"d":"1234567890123456789012345678901234"})");
  s.add(R"({"id":2,"d":"1234567890123456789012345678901235"})");
  EXPECT_EQ(s.rows("q"), R"([{"n":null,"d":"1234567890123456789012345678901234"}])");
  s.add(R"({"id":1,"d":"1234567890123456789012345678901236"})");
  EXPECT_EQ(s.rows("q"), R"([{"n":null,"d":"1234567890123456789012345678901236"}])");
  s.add(R"({"id":1,"d":"-1234567890123456789012345678901234"})");
  s.add(R"({"id":2,"d":"-1234567890123456789012345678901237"})");
  EXPECT_EQ(s.rows("q"), R"([{"n":null,"d":"-1234567890123456789012345678901236"}])");
}

// The 34 digits of an average may be smaller than what a field holds.
TEST(Queries, AnAverageHas34DigitsHoweverSmall) {
  Numbers s("query q { select avg(n.d) as d from N n }");
  s.add(R"({"id":1,"d":"1e-100"})");
  s.add(R"({"id":2,"d":"0"})");
  s.add(R"({"id":3,"d":"0"})");
  EXPECT_EQ(s.rows("q"), "[{\"d\":\"0." + std::string(100, '0') + std::string(34, '3') + "\"}]");
  s.add(R"({"id":1,"d":"1e100"})");
  EXPECT_EQ(s.rows("q"), "[{\"d\":\"" + std::string(34, '3') + std::string(66, '0') + "\"}]");
}

// "With `group by`, a group without rows does not exist: a kept count that falls to 0 vanishes."
TEST(Queries, AGroupWithoutRowsDoesNotExist) {
  Numbers s("query q { select n.g, count(*) as c from N n group by n.g order by n.g }");
  EXPECT_EQ(s.rows("q"), "[]");
  s.add(R"({"id":1,"g":"a"})");
  s.add(R"({"id":2,"g":"b"})");
  EXPECT_EQ(s.rows("q"), R"([{"g":"a","c":1},{"g":"b","c":1}])");
  s.run("drop", R"({"id":1})");
  EXPECT_EQ(s.rows("q"), R"([{"g":"b","c":1}])");
}

namespace {

constexpr const char* mail =
    "entity C { id: int key name: text } entity M { id: int key c: C inverse ms at: int body: text? }"
    "command c($id, $n) { insert C { id: $id, name: $n } }"
    "command m($id, $c, $at, $b) { insert M { id: $id, c: $c, at: $at, body: $b } }";

class Mail : public Session {
 public:
  explicit Mail(const std::string& queries) : Session(mail + queries) {
    for (const char* c : {R"({"id":1,"n":"a"})", R"({"id":2,"n":"b"})", R"({"id":3,"n":"c"})"}) run("c", c);
    for (const char* m :
         {R"({"id":1,"c":1,"at":5,"b":"x"})", R"({"id":2,"c":1,"at":7})", R"({"id":3,"c":2,"at":6,"b":"z"})"})
      run("m", m);
  }
};

}  // namespace

// "Nested select: a list of rows; with the literal `limit 1` a row or absent; one column made of folds: a scalar. It
// may use outer variables."
TEST(Queries, ANestedSelectIsAListARowOrAScalar) {
  Mail s(
      "query q { select c.id, (select m.id, m.body from c.ms m order by m.at desc) as all_, (select m.at from c.ms"
      "  m order by m.at desc limit 1) as last, (select count(*) from c.ms m where m.at > 5) as n, (select"
      "  max(m.at) + 1 as m from M m where m.c = c) as next from C c order by c.id }");
  EXPECT_EQ(s.rows("q"),
            R"([{"id":1,"all_":[{"id":2,"body":null},{"id":1,"body":"x"}],"last":{"at":7},"n":1,"next":8},)"
            R"({"id":2,"all_":[{"id":3,"body":"z"}],"last":{"at":6},"n":1,"next":7},)"
            R"({"id":3,"all_":[],"last":null,"n":0,"next":null}])");
}

TEST(Queries, ARowOfANestedSelectIsReadAsAValue) {
  Mail s(
      "query ordered { select c.id, (select m.at, m.body from c.ms m order by m.at desc limit 1) as last from C c"
      "  order by last.at desc limit 9 }"
      "query idle { select c.id from C c where (select count(*) from c.ms m) = 0 }"
      "query limited($n) { select c.id, (select m.id from c.ms m order by m.id limit $n) as some from C c order by"
      "  c.id }"
      "query whole { select (select m from c.ms m order by m.id limit 1) as m from C[1] c }"
      "query grouped { select c.id, (select m.at, count(*) as n from c.ms m group by m.at order by m.at) as g from"
      "  C[1] c }");
  EXPECT_EQ(s.rows("ordered"), R"([{"id":1,"last":{"at":7,"body":null}},{"id":2,"last":{"at":6,"body":"z"}},)"
                               R"({"id":3,"last":null}])");
  EXPECT_EQ(s.rows("idle"), R"([{"id":3}])");
  // Not the literal 1: a list.
  EXPECT_EQ(s.rows("limited", R"({"n":1})"),
            R"([{"id":1,"some":[{"id":1}]},{"id":2,"some":[{"id":3}]},{"id":3,"some":[]}])");
  EXPECT_EQ(s.rows("limited", R"({"n":0})"), R"([{"id":1,"some":[]},{"id":2,"some":[]},{"id":3,"some":[]}])");
  EXPECT_EQ(s.rows("limited", R"({"n":-1})"), "error value");
  EXPECT_EQ(s.rows("whole"), R"([{"m":{"m":{"id":1,"c":1,"at":5,"body":"x"}}}])");
  EXPECT_EQ(s.rows("grouped"), R"([{"id":1,"g":[{"at":5,"n":1},{"at":7,"n":1}]}])");
}

// A collection is never absent, also where the way to it is.
TEST(Queries, ACollectionReachedThroughSomethingAbsentIsEmpty) {
  Session s(
      "value V { l: list<int> n: int } entity A { id: int key v: V? l: list<int> }"
      "command a($id, $v) { insert A { id: $id, v: $v } }"
      "query value_ { select a.id, a.v.l as l, count(a.v.l) as c, a.v.n as n from A a order by a.id }"
      "query row { select a.id, count((select b.id from A b where b.id = 9)) as n, (select b.l, b.id from A b where"
      "  b.id > a.id order by b.id limit 1) as next from A a order by next.id, a.id }"
      "query bound { select e from A a, a.v.l e order by e }");
  s.run("a", R"({"id":1,"v":{"l":[4,3],"n":2}})");
  s.run("a", R"({"id":2})");
  EXPECT_EQ(s.rows("value_"), R"([{"id":1,"l":[4,3],"c":2,"n":2},{"id":2,"l":[],"c":0,"n":null}])");
  EXPECT_EQ(s.rows("row"), R"([{"id":2,"n":0,"next":null},{"id":1,"n":0,"next":{"l":[],"id":2}}])");
  EXPECT_EQ(s.rows("bound"), R"([{"e":3},{"e":4}])");
}

TEST(Queries, ALimitThatIsAbsentIsNone) {
  Mail s(
      "query q($n: int?) { select m.id from M m order by m.id limit $n }"
      "query scalar($n) { select (select count(*) from c.ms m limit $n) as n from C[1] c }");
  EXPECT_EQ(s.answer("q"), R"({"rows":[{"id":1},{"id":2},{"id":3}]})");
  EXPECT_EQ(s.rows("q", R"({"n":1})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("scalar", R"({"n":1})"), R"([{"n":2}])");
  EXPECT_EQ(s.rows("scalar", R"({"n":0})"), R"([{"n":null}])");  // its one row was cut
}

// "`select v` is the entity's own fields with its collections, no inverses."
TEST(Queries, SelectOfAVariableIsItsOwnFields) {
  Mail s(
      "query whole { select c from C[1] c } query without_ { select m without body, at from M[1] m }"
      "query two { select c, m.id from C[1] c, c.ms m order by m.id }");
  EXPECT_EQ(s.rows("whole"), R"([{"c":{"id":1,"name":"a"}}])");
  EXPECT_EQ(s.rows("without_"), R"([{"m":{"id":1,"c":1}}])");
  EXPECT_EQ(s.rows("two"), R"([{"c":{"id":1,"name":"a"},"id":1},{"c":{"id":1,"name":"a"},"id":2}])");
}

// "An unnamed column takes the last name of its path, else the name of its function or fold"
TEST(Queries, AnUnnamedColumnTakesTheLastNameOfItsPath) {
  Mail s(
      "query path { select m.c.name, m.at, hour(now()), greatest(m.at, 6) from M[1] m }"
      "query folds { select count(*), max(m.at), sum(m.at) from M m }");
  EXPECT_EQ(s.rows("path"), R"([{"name":"a","at":5,"hour":"2024-05-01T12:00:00.000Z","greatest":6}])");
  EXPECT_EQ(s.rows("folds"), R"([{"count":3,"max":7,"sum":18}])");
}

}  // namespace noam::reference
