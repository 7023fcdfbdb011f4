// The chapter "Commands" of what a program means, sentence by sentence.
#include "tests/reference/session.h"

namespace noam::reference {

namespace {

// 2024-05-01T12:00, the clock of a new session, and the count of an id in its last digits.
std::string id(int count, const std::string& time = "018f3406-9e00") {
  const std::string digits = std::to_string(count);
  return time + "-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

constexpr const char* things =
    "value V { x: int  y: text? }"
    "entity T { id: int key  n: int = 5  t: text?  v: V?  l: list<int>  vs: list<V>  s: set<text>  m: map<text, V>"
    "  c: map<text, int> }"
    "command make($id) { insert T { id: $id } }"
    "query t($id) { select t from T t where t.id = $id } query n($id) { select t.n from T t where t.id = $id }"
    "query l { select t.l from T[1] t } query vs { select t.vs from T[1] t } query s { select t.s from T[1] t }"
    "query m { select t.m from T[1] t } query c { select t.c from T[1] t } query v { select t.v from T[1] t }"
    "query all_ { select t.id, t.n from T t order by t.id }";

class Things : public Session {
 public:
  explicit Things(const std::string& commands) : Session(things + commands) { run("make", R"({"id":1})"); }
};

}  // namespace

// "A command is a list of changes carried out in order, each seeing the ones before, as one: all or none."
TEST(Commands, ChangesSeeTheOnesBefore) {
  Things s(
      "command two { update T[1] { n: n + 1 }  update T[1] { n: n * 10 } }"
      "command make_and_change { insert T { id: 2 } as a  update a { n: a.n + 2 }  append a.n to a.l"
      "  update T[1] { n: T[2].n } }");
  EXPECT_EQ(s.run("two"), "applied");
  EXPECT_EQ(s.rows("n", R"({"id":1})"), R"([{"n":60}])");
  EXPECT_EQ(s.run("make_and_change"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":7},{"id":2,"n":7}])");
}

TEST(Commands, AllOrNone) {
  Things s(
      "command fails { update T[1] { n: 1 }  insert T { id: 2 }  delete T[1]  require 1 = 2 }"
      "command fails_late($id) { insert T { id: 3 }  update T[$id] { n: 1 } }");
  const std::string before = s.dump();
  EXPECT_EQ(s.run("fails"), "require");
  EXPECT_EQ(s.dump(), before);
  EXPECT_EQ(s.run("fails_late", R"({"id":9})"), "absent");
  EXPECT_EQ(s.dump(), before);
}

// The table: "insert | made | refused: exists"
TEST(Commands, InsertMakesWhatIsNotThere) {
  Things s("");
  EXPECT_EQ(s.run("make", R"({"id":1})"), "exists");
  EXPECT_EQ(s.answer("make", R"({"id":2})"), R"({"outcome":"applied"})");  // no keys were generated
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":5},{"id":2,"n":5}])");
}

// "put (the whole aggregate; what it does not name gets its default, else is absent or empty) | made | replaced"
TEST(Commands, PutMakesOrReplacesTheWhole) {
  Things s(
      "command put_($id, $t) { put T { id: $id, t: $t } }"
      "command fill { update T[1] { n: 8, t: \"x\", v: { x: 1 }, l: [1], s: [\"a\"], c: { \"k\": 1 } } }");
  s.run("fill");
  EXPECT_EQ(s.run("put_", R"({"id":1,"t":"y"})"), "applied");
  EXPECT_EQ(s.rows("t", R"({"id":1})"),
            R"([{"t":{"id":1,"n":5,"t":"y","v":null,"l":[],"vs":[],"s":[],"m":[],"c":[]}}])");
  EXPECT_EQ(s.run("put_", R"({"id":2})"), "applied");
  EXPECT_EQ(s.rows("n", R"({"id":2})"), R"([{"n":5}])");
}

// "update, append, add, remove, put into a map | refused: absent | done; adding what is there, removing an element,
// position or key that is not: no change, not an error"
TEST(Commands, ChangesOfWhatIsAbsentAreRefused) {
  Things s(
      "command update_($id) { update T[$id] { n: 1 } } command append_($id) { append 1 to T[$id].l }"
      "command add_($id) { add \"a\" to T[$id].s } command remove_($id) { remove 1 from T[$id].l }"
      "command put_($id) { put \"k\": 1 into T[$id].c } command remove_at($id) { remove T[$id].l[0] }"
      "command remove_key($id) { remove key \"k\" from T[$id].c }"
      "command remove_where($id) { remove e from T[$id].l e where e > 0 }");
  for (const char* name :
       {"update_", "append_", "add_", "remove_", "put_", "remove_at", "remove_key", "remove_where"}) {
    EXPECT_EQ(s.run(name, R"({"id":9})"), "absent") << name;
    EXPECT_EQ(s.run(name, R"({"id":1})"), "applied") << name;
  }
}

TEST(Commands, AddingWhatIsThereAndRemovingWhatIsNotIsNoChange) {
  Things s(
      "command fill { update T[1] { l: [3, 4], s: [\"a\"], c: { \"k\": 1 } } }"
      "command add_ { add \"a\" to T[1].s } command remove_e { remove 9 from T[1].l  remove \"z\" from T[1].s }"
      "command remove_at { remove T[1].l[2]  remove T[1].l[-3] } command remove_key { remove key \"z\" from T[1].c }");
  s.run("fill");
  const std::string before = s.dump();
  for (const char* name : {"add_", "remove_e", "remove_at", "remove_key"}) {
    EXPECT_EQ(s.run(name), "applied") << name;
    EXPECT_EQ(s.dump(), before) << name;
  }
}

// "delete | no change | gone"
TEST(Commands, DeleteForgivesAbsence) {
  Things s("command drop($id) { delete T[$id] }");
  EXPECT_EQ(s.run("drop", R"({"id":9})"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":5}])");
  EXPECT_EQ(s.run("drop", R"({"id":1})"), "applied");
  EXPECT_EQ(s.rows("all_"), "[]");
}

// "update, delete and collection changes after `then` | no change | done (only absence is forgiven)"
TEST(Commands, ThenForgivesAbsenceOnly) {
  Things s(
      "command both($id) { update T[1] { n: n + 1 }  then update T[$id] { n: n + 10 }  then append 1 to T[$id].l"
      "  then delete T[$id] }"
      "command wrong($id, $i) { then update T[$id] { l[$i]: 1 } }"
      "command over($id) { then update T[$id] { n: n + 9223372036854775807 } }");
  EXPECT_EQ(s.run("both", R"({"id":9})"), "applied");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":6}])");
  EXPECT_EQ(s.run("wrong", R"({"id":9,"i":5})"), "applied");
  EXPECT_EQ(s.run("wrong", R"({"id":1,"i":5})"), "position");
  EXPECT_EQ(s.run("over", R"({"id":9})"), "applied");
  EXPECT_EQ(s.run("over", R"({"id":1})"), "overflow");
  EXPECT_EQ(s.run("both", R"({"id":1})"), "applied");
  EXPECT_EQ(s.rows("all_"), "[]");
}

// "The outcome is applied (with generated keys), refused (code, reason; nothing was changed)"
TEST(Commands, AnOutcomeIsAppliedWithItsKeysOrRefusedWithCodeAndReason) {
  Session s(
      "entity A { id: uuid key auto  n: int  require n > 0 }"
      "command make($ns: list<int>) { for $n in $ns { insert A { n: $n } } } query q { select a.n from A a }");
  EXPECT_EQ(s.run("make", R"({"ns":[1,2]})"), "applied");
  EXPECT_EQ(s.keys(), 2U);
  const auto refused = Json::parse(s.answer("make", R"({"ns":[1,0]})"));
  EXPECT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused["outcome"], "refused");
  EXPECT_EQ(refused["code"], "require");
  EXPECT_FALSE(refused["reason"].get<std::string>().empty());
  EXPECT_EQ(Json::parse(s.rows("q")).size(), 2U);
  EXPECT_EQ(s.answer("make", R"({"ns":[]})"), R"({"outcome":"applied"})");
}

// "unknown (repeat with the same command id: it never applies twice; a repeat of an applied command gives its outcome,
// with other parameters it is refused; a refused one is decided anew)"
TEST(Commands, ARepeatNeverAppliesTwice) {
  Things s(
      "entity A { id: uuid key auto } command a { insert A { } } command plus($n) { update T[1] { n: n + $n } }"
      "command need($n) { require T[1].n = $n  update T[1] { n: n + 1 } }"
      "command bulk { update T t where t.n > 0 { n: n + 1 } }");
  EXPECT_EQ(s.run("plus", R"({"n":1})", id(1)), "applied");
  EXPECT_EQ(s.run("plus", R"({"n":1})", id(1)), "applied");
  EXPECT_EQ(s.run("plus", R"({"n":2})", id(1)), "value");
  EXPECT_EQ(s.run("plus", R"({"n":"what"})", id(1)), "value");
  EXPECT_EQ(s.rows("n", R"({"id":1})"), R"([{"n":6}])");
  const std::string outcome = s.answer("a", "{}", id(2));
  EXPECT_EQ(s.answer("a", "{}", id(2)), outcome);
  EXPECT_EQ(s.run("need", R"({"n":7})", id(3)), "require");
  EXPECT_EQ(s.run("plus", R"({"n":1})", id(4)), "applied");
  EXPECT_EQ(s.run("need", R"({"n":7})", id(3)), "applied");  // decided anew
  EXPECT_EQ(s.run("need", R"({"n":7})", id(3)), "applied");
  EXPECT_EQ(s.rows("n", R"({"id":1})"), R"([{"n":8}])");
  EXPECT_EQ(s.answer("bulk", "{}", id(5)), R"({"outcome":"applied","count":1})");
  EXPECT_EQ(s.answer("bulk", "{}", id(5)), R"({"outcome":"applied","count":1})");
  EXPECT_EQ(s.rows("n", R"({"id":1})"), R"([{"n":9}])");
}

// "Codes: […] expired". Ids are remembered for an hour.
TEST(Commands, AnIdOlderThanAnHourIsExpired) {
  Things s("command plus { update T[1] { n: n + 1 } }");
  EXPECT_EQ(s.run("plus", "{}", id(1)), "applied");
  s.at("2024-05-01T13:00:00.000Z");
  EXPECT_EQ(s.run("plus", "{}", id(1)), "applied");
  EXPECT_EQ(s.run("plus", "{}", id(2)), "applied");
  s.at("2024-05-01T13:00:00.001Z");
  EXPECT_EQ(s.run("plus", "{}", id(1)), "expired");
  EXPECT_EQ(s.run("plus", "{}", id(3)), "expired");
  EXPECT_EQ(s.rows("n", R"({"id":1})"), R"([{"n":7}])");
  EXPECT_EQ(s.run("plus", "{}", "0198c1f2-7b1a-4cc0-8a3b-0123456789ab"), "error request");  // no UUIDv7
}

// "Parameters are checked before the first change: a malformed call (wrong type, null for a required parameter, unknown
// enumeration text) is refused: value or required"
TEST(Commands, ParametersAreCheckedBeforeTheFirstChange) {
  Session s(
      "entity E { id: int key  e: \"a\" | \"b\"  t: text? }"
      "command make($id, $e, $t) { require 1 = 2  insert E { id: $id, e: $e, t: $t } }");
  EXPECT_EQ(s.run("make", R"({"id":1,"e":"a","t":"t"})"), "require");
  EXPECT_EQ(s.run("make", R"({"id":"1","e":"a"})"), "value");
  EXPECT_EQ(s.run("make", R"({"id":1,"e":"c"})"), "value");
  EXPECT_EQ(s.run("make", R"({"id":1,"e":null})"), "required");
  EXPECT_EQ(s.run("make", R"({"id":1})"), "required");
  EXPECT_EQ(s.run("make", R"({"id":1,"e":"a","t":5})"), "value");
  EXPECT_EQ(s.run("make", R"({"id":1,"e":"a","x":5})"), "value");  // no such parameter
  EXPECT_EQ(s.run("make", R"({"e":"c"})"), "required");            // in the order in which they are declared
  EXPECT_EQ(s.run("nothing"), "error request");
}

// "of a query it is an error"
TEST(Commands, AMalformedCallOfAQueryIsAnError) {
  Session s(
      "entity E { id: int key  e: \"a\" | \"b\" } query q($id) { select e.e from E e where e.id = $id }"
      "query r($e) { select e.id from E e where e.e = $e }");
  EXPECT_EQ(s.rows("q", R"({"id":"x"})"), "error value");
  EXPECT_EQ(s.rows("q", R"({})"), "error required");
  EXPECT_EQ(s.rows("q", R"({"id":null})"), "error required");
  EXPECT_EQ(s.rows("r", R"({"e":"c"})"), "error value");
  EXPECT_EQ(s.rows("q", R"({"id":1,"x":2})"), "error request");
  EXPECT_EQ(s.rows("nothing"), "error request");
}

// "A parameter is required unless every use stores it in something optional, or it is declared `T?`."
TEST(Commands, AParameterIsRequiredUnlessItIsOnlyStoredInSomethingOptional) {
  Session s(
      "entity E { id: int key  t: text?  u: text? }"
      "command stored($t) { put E { id: 1, t: $t } }"
      "command asked($t) { require $t = \"a\"  put E { id: 1, t: $t } }"
      "command declared($t: text?) { require $t is absent  put E { id: 1, t: $t } }"
      "query q($t: text?) { select e.id from E e where e.t = $t or $t is absent }");
  EXPECT_EQ(s.run("stored"), "applied");
  EXPECT_EQ(s.run("asked"), "required");
  EXPECT_EQ(s.run("declared"), "applied");
  EXPECT_EQ(s.run("declared", R"({"t":"x"})"), "require");
  EXPECT_EQ(s.rows("q"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("q", R"({"t":"x"})"), "[]");
}

// "Then the first change that fails decides"
TEST(Commands, TheFirstChangeThatFailsDecides) {
  Things s(
      "command a { update T[9] { n: 1 }  insert T { id: 1 } } command b { insert T { id: 1 }  update T[9] { n: 1 } }"
      "command third { require T[1].n = 6  insert T { id: 1 } }");
  EXPECT_EQ(s.run("a"), "absent");
  EXPECT_EQ(s.run("b"), "exists");
  EXPECT_EQ(s.run("third"), "require");
}

// "within one: absent; value, required, overflow, position; key; exists; owner; an entity's `require` last"
TEST(Commands, WithinOneChangeTheOrderOfCodesDecides) {
  Session s(
      "entity O { k: text key } value V { x: int }"
      "entity T { k: text(4) key  o: O owner inverse ts  n: int  t: text(2)  v: V?  l: list<int>  r: O?"
      "  require n < 100 }"
      "command o($k) { insert O { k: $k } }"
      "command make($k: text?, $o: O?, $n: int, $t: text?, $r: O?) {"
      "  insert T { k: $k, o: $o, n: $n * 2, t: $t, r: $r } }"
      "command change($k, $n: int, $t: text?, $i, $r: O?, $o: O?) {"
      "  update T[$k] { l[$i]: 1, o: $o, r: $r, n: $n * 2, t: $t } }");
  s.run("o", R"({"k":"o"})");
  const std::string big = "9000000000000000000";
  // insert: each line mends the first fault of the one before
  EXPECT_EQ(s.run("make", R"({"k":"","o":"x","n":)" + big + R"(,"t":"long","r":""})"), "value");
  EXPECT_EQ(s.run("make", R"({"k":"","o":"x","n":)" + big + R"(,"t":null,"r":""})"), "required");
  EXPECT_EQ(s.run("make", R"({"k":"","o":"x","n":)" + big + R"(,"t":"t","r":""})"), "overflow");
  EXPECT_EQ(s.run("make", R"({"k":"","o":"x","n":200,"t":"t"})"), "key");
  EXPECT_EQ(s.run("make", R"({"k":"k","o":"x","n":200,"t":"t","r":""})"), "key");
  EXPECT_EQ(s.run("make", R"({"k":"k","o":"x","n":200,"t":"t"})"), "owner");
  EXPECT_EQ(s.run("make", R"({"k":"k","o":"o","n":200,"t":"t"})"), "require");
  EXPECT_EQ(s.run("make", R"({"k":"k","o":"o","n":20,"t":"t"})"), "applied");
  EXPECT_EQ(s.run("make", R"({"k":"k","o":"x","n":200,"t":"t"})"), "exists");
  // update
  const std::string rest = R"(,"i":0,"r":"","o":"x"})";
  EXPECT_EQ(s.run("change", R"({"k":"z","t":"long","n":)" + big + rest), "absent");
  EXPECT_EQ(s.run("change", R"({"k":"k","t":"long","n":)" + big + rest), "value");
  EXPECT_EQ(s.run("change", R"({"k":"k","t":null,"n":)" + big + rest), "required");
  EXPECT_EQ(s.run("change", R"({"k":"k","t":"t","n":)" + big + rest), "overflow");
  EXPECT_EQ(s.run("change", R"({"k":"k","t":"t","n":200)" + rest), "position");
}

TEST(Commands, InAnUpdateKeysComeAfterPositionsAndBeforeOwners) {
  Session s(
      "entity O { k: text key } entity T { id: int key  o: O owner inverse ts  n: int = 0  r: O?  require n < 100 }"
      "command o($k) { insert O { k: $k } } command make { insert T { id: 1, o: \"o\" } }"
      "command change($r, $o, $n) { update T[1] { o: $o, r: $r, n: $n } }");
  s.run("o", R"({"k":"o"})");
  EXPECT_EQ(s.run("make"), "applied");
  EXPECT_EQ(s.run("change", R"({"r":"","o":"x","n":100})"), "key");
  EXPECT_EQ(s.run("change", R"({"r":"r","o":"x","n":100})"), "owner");
  EXPECT_EQ(s.run("change", R"({"r":"r","o":"o","n":100})"), "require");
  EXPECT_EQ(s.run("change", R"({"r":"r","o":"o","n":99})"), "applied");
}

// "`require` in a command sees the state at that point"
TEST(Commands, RequireSeesTheStateAtItsPoint) {
  Things s(
      "command early { require T[1].n = 6  update T[1] { n: 6 } }"
      "command late { update T[1] { n: 6 }  require T[1].n = 6 }"
      "command count_($n) { insert T { id: 2 }  require (select count(*) from T t) = $n }");
  EXPECT_EQ(s.run("early"), "require");
  EXPECT_EQ(s.run("late"), "applied");
  EXPECT_EQ(s.run("count_", R"({"n":1})"), "require");
  EXPECT_EQ(s.run("count_", R"({"n":2})"), "applied");
}

// "in an entity it reads own fields only and holds after every command that changed the aggregate"
TEST(Commands, ARequireOfAnEntityHoldsAfterTheCommandNotWithinIt) {
  Session s(
      "entity A { id: int key  n: int  s: set<int>  require n >= 0  require count(s) < 2 }"
      "command make($n) { insert A { id: 1, n: $n } } command through { update A[1] { n: -5 }  update A[1] { n: 5 } }"
      "command over($n) { update A[1] { n: n - $n } } command add_($x) { add $x to A[1].s }"
      "command gone { update A[1] { n: -5 }  delete A[1] } command first { update A[1] { n: -1 }  require 1 = 2 }"
      "query n { select a.n from A a }");
  EXPECT_EQ(s.run("make", R"({"n":-1})"), "require");
  EXPECT_EQ(s.run("make", R"({"n":3})"), "applied");
  EXPECT_EQ(s.run("over", R"({"n":4})"), "require");
  EXPECT_EQ(s.rows("n"), R"([{"n":3}])");
  EXPECT_EQ(s.run("through"), "applied");
  EXPECT_EQ(s.rows("n"), R"([{"n":5}])");
  EXPECT_EQ(s.run("add_", R"({"x":1})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"x":2})"), "require");
  EXPECT_EQ(s.run("gone"), "applied");
}

// "A comparison with something absent is false, so refused."
TEST(Commands, AComparisonWithSomethingAbsentRefuses) {
  Session s(
      "entity A { id: int key  n: int?  require n > 0 or id = 7 }"
      "command make($id, $n) { insert A { id: $id, n: $n } }"
      "command need { require A[99].n < 5 } command need_not { require not (A[99].n < 5) }");
  EXPECT_EQ(s.run("make", R"({"id":1})"), "require");
  EXPECT_EQ(s.run("make", R"({"id":1,"n":1})"), "applied");
  EXPECT_EQ(s.run("make", R"({"id":7})"), "applied");
  EXPECT_EQ(s.run("need"), "require");
  EXPECT_EQ(s.run("need_not"), "applied");
}

// "update: all right sides see the state before this change"
TEST(Commands, RightSidesSeeTheStateBefore) {
  Session s(
      "entity A { id: int key  a: int = 1  b: int = 2  l: list<int> }"
      "command make { insert A { id: 1, l: [7, 8] } } command swap { update A[1] { a: b, b: a } }"
      "command turn { update A[1] { l[0]: l[1], l[1]: l[0] } }"
      "command all_ { update A[1] { a: (select count(*) from A x where x.b = 1), b: 1 } }"
      "query q { select a.a, a.b, a.l from A a }");
  s.run("make");
  EXPECT_EQ(s.run("swap"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"a":2,"b":1,"l":[7,8]}])");
  EXPECT_EQ(s.run("turn"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"a":2,"b":1,"l":[8,7]}])");
  EXPECT_EQ(s.run("all_"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"a":1,"b":1,"l":[8,7]}])");
}

// "A list position that is not there, or a step inside an absent value or map entry, is refused: position; `map[$k]: e`
// and `put` make the key."
TEST(Commands, APlaceThatIsNotThereIsRefused) {
  Things s(
      "command set_($i, $n) { update T[1] { l[$i]: $n } } command inside($y) { update T[1] { v.y: $y } }"
      "command deep($i, $y) { update T[1] { vs[$i].y: $y } } command entry($k, $y) { update T[1] { m[$k].y: $y } }"
      "command make_entry($k, $v: V) { update T[1] { m[$k]: $v } } command put_($k, $v: V) { put $k: $v into T[1].m }"
      "command fill { update T[1] { l: [1, 2], vs: [{ x: 1 }] } } command value_ { update T[1] { v: { x: 1 } } }");
  EXPECT_EQ(s.run("set_", R"({"i":0,"n":9})"), "position");
  s.run("fill");
  EXPECT_EQ(s.run("set_", R"({"i":0,"n":9})"), "applied");
  EXPECT_EQ(s.run("set_", R"({"i":-1,"n":8})"), "applied");
  EXPECT_EQ(s.run("set_", R"({"i":2,"n":9})"), "position");
  EXPECT_EQ(s.run("set_", R"({"i":-3,"n":9})"), "position");
  EXPECT_EQ(s.rows("l"), R"([{"l":[9,8]}])");
  EXPECT_EQ(s.run("inside", R"({"y":"a"})"), "position");
  s.run("value_");
  EXPECT_EQ(s.run("inside", R"({"y":"a"})"), "applied");
  EXPECT_EQ(s.rows("v"), R"([{"v":{"x":1,"y":"a"}}])");
  EXPECT_EQ(s.run("deep", R"({"i":1,"y":"a"})"), "position");
  EXPECT_EQ(s.run("deep", R"({"i":0,"y":"a"})"), "applied");
  EXPECT_EQ(s.rows("vs"), R"([{"vs":[{"x":1,"y":"a"}]}])");
  EXPECT_EQ(s.run("entry", R"({"k":"b","y":"a"})"), "position");
  EXPECT_EQ(s.run("make_entry", R"({"k":"b","v":{"x":1}})"), "applied");
  EXPECT_EQ(s.run("put_", R"({"k":"a","v":{"x":2}})"), "applied");
  EXPECT_EQ(s.run("put_", R"({"k":"b","v":{"x":3}})"), "applied");
  EXPECT_EQ(s.run("entry", R"({"k":"b","y":"c"})"), "applied");
  EXPECT_EQ(s.rows("m"), R"([{"m":[["a",{"x":2,"y":null}],["b",{"x":3,"y":"c"}]]}])");
}

// The same on the way to a collection; a position or key to be removed itself may be missing.
TEST(Commands, AStepToACollectionLeadsSomewhere) {
  Session s(
      "value V { l: list<int> } entity A { id: int key  v: V?  vs: list<V> }"
      "command make { insert A { id: 1 } } command fill { update A[1] { v: { l: [1] }, vs: [{ l: [2] }] } }"
      "command append_v { append 5 to A[1].v.l } command append_vs($i) { append 6 to A[1].vs[$i].l }"
      "command remove_v { remove 5 from A[1].v.l } command remove_at($i) { remove A[1].vs[$i].l[7] }"
      "query q { select a.v, a.vs from A a }");
  s.run("make");
  EXPECT_EQ(s.run("append_v"), "position");
  EXPECT_EQ(s.run("remove_v"), "position");
  EXPECT_EQ(s.run("append_vs", R"({"i":0})"), "position");
  EXPECT_EQ(s.run("remove_at", R"({"i":0})"), "position");
  s.run("fill");
  EXPECT_EQ(s.run("append_v"), "applied");
  EXPECT_EQ(s.run("append_vs", R"({"i":-1})"), "applied");
  EXPECT_EQ(s.run("remove_at", R"({"i":0})"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"v":{"l":[1,5]},"vs":[{"l":[2,6]}]}])");
}

// "Targets that turn out equal only at run time: the last wins."
TEST(Commands, OfTargetsThatTurnOutEqualTheLastWins) {
  Things s(
      "command fill { update T[1] { l: [1, 2] } }"
      "command both($i, $j) { update T[1] { l[$i]: 10, l[$j]: 20 } }"
      "command keys($a, $b) { update T[1] { c[$a]: 1, c[$b]: 2 } }"
      "command within($a, $b) { update T[1] { m[$a]: { x: 1 }, m[$b].y: \"y\" } }");
  s.run("fill");
  EXPECT_EQ(s.run("both", R"({"i":1,"j":-1})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[1,20]}])");
  EXPECT_EQ(s.run("keys", R"({"a":"k","b":"k"})"), "applied");
  EXPECT_EQ(s.rows("c"), R"([{"c":[["k",2]]}])");
  // One inside the other: they are carried out in turn.
  EXPECT_EQ(s.run("within", R"({"a":"k","b":"k"})"), "applied");
  EXPECT_EQ(s.rows("m"), R"([{"m":[["k",{"x":1,"y":"y"}]]}])");
}

// "`remove x` from a list removes every equal element. `add` is for sets, `append` for lists."
TEST(Commands, RemoveTakesEveryEqualElementOfAList) {
  Things s(
      "command fill { update T[1] { l: [1, 2, 1, 3], vs: [{ x: 1 }, { x: 1, y: \"a\" }, { x: 1 }], s: [\"a\","
      "  \"b\"] } }"
      "command remove_($x) { remove $x from T[1].l } command remove_v($v: V) { remove $v from T[1].vs }"
      "command remove_all($xs) { remove all $xs from T[1].l } command append_all($xs) { append all $xs to T[1].l }"
      "command add_all($xs: list<text>) { add all $xs to T[1].s }"
      "command remove_s($xs) { remove all $xs from T[1].s }");
  s.run("fill");
  EXPECT_EQ(s.run("remove_", R"({"x":1})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[2,3]}])");
  EXPECT_EQ(s.run("append_all", R"({"xs":[3,2,3]})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[2,3,3,2,3]}])");
  EXPECT_EQ(s.run("remove_all", R"({"xs":[3,9]})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[2,2]}])");
  EXPECT_EQ(s.run("remove_v", R"({"v":{"x":1}})"), "applied");
  EXPECT_EQ(s.rows("vs"), R"([{"vs":[{"x":1,"y":"a"}]}])");
  EXPECT_EQ(s.run("add_all", R"({"xs":["c","a","A"]})"), "applied");
  EXPECT_EQ(s.rows("s"), R"([{"s":["A","a","b","c"]}])");
  EXPECT_EQ(s.run("remove_s", R"({"xs":["a","z"]})"), "applied");
  EXPECT_EQ(s.rows("s"), R"([{"s":["A","b","c"]}])");
}

// `remove v from p v where q` of lists, sets and maps.
TEST(Commands, RemoveWhereTakesTheElementsForWhichItHolds) {
  Things s(
      "command fill { update T[1] { l: [5, 1, 6, 2], s: [\"a\", \"b\"], m: { \"a\": { x: 1 }, \"b\": { x: 2 } } } }"
      "command list_ { remove e from T[1].l e where e > 4 or position(e) = 3 }"
      "command set_ { remove e from T[1].s e where e starts with \"a\" }"
      "command map_($k) { remove e from T[1].m e where key(e) = $k and e.x = 2 }");
  s.run("fill");
  EXPECT_EQ(s.run("list_"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[1]}])");
  EXPECT_EQ(s.run("set_"), "applied");
  EXPECT_EQ(s.rows("s"), R"([{"s":["b"]}])");
  EXPECT_EQ(s.run("map_", R"({"k":"a"})"), "applied");
  EXPECT_EQ(s.run("map_", R"({"k":"b"})"), "applied");
  EXPECT_EQ(s.rows("m"), R"([{"m":[["a",{"x":1,"y":null}]]}])");
}

// "`for` runs over lists, or sets in order, at most 1,000."
TEST(Commands, ForRunsOverListsAndSetsInOrder) {
  Things s(
      "command list_($xs: list<int>) { for $x in $xs { append $x to T[1].l } }"
      "command set_($xs: set<int>) { for $x in $xs { append $x to T[1].l } }"
      "command make_all($ids: list<int>) { for $i in $ids { insert T { id: $i } } }"
      "command empty_ { update T[1] { l: [] } }"
      "command nested($xs: list<int>, $ys: list<int>) { for $x in $xs { for $y in $ys { append $x * $y to T[1].l }"
      "  } }");
  EXPECT_EQ(s.run("list_", R"({"xs":[3,1,3]})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[3,1,3]}])");
  s.run("empty_");
  EXPECT_EQ(s.run("set_", R"({"xs":[3,1,3]})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[1,3]}])");
  EXPECT_EQ(s.run("make_all", R"({"ids":[2,3,2]})"), "exists");  // all or none
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":5}])");
  s.run("empty_");
  EXPECT_EQ(s.run("nested", R"({"xs":[1,2],"ys":[3,4]})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":[3,4,6,8]}])");
}

TEST(Commands, ForRunsOverAThousandAtMost) {
  Things s("command each($xs: list<int>) { for $x in $xs { update T[1] { n: $x } } }");
  const auto list = [](std::size_t count) {
    std::string xs = "1";
    for (std::size_t i = 1; i < count; ++i) xs += ",1";
    return "{\"xs\":[" + xs + "]}";
  };
  EXPECT_EQ(s.run("each", list(1000)), "applied");
  EXPECT_EQ(s.run("each", list(1001)), "limit");
}

// "Two commands on one aggregate are serial, also where they touch different entries of it"
TEST(Commands, TwoCommandsOnOneAggregateLoseNothing) {
  Things s("command a { append 1 to T[1].l } command b { put \"k\": 2 into T[1].c }");
  s.run("a");
  s.run("b");
  s.run("a");
  EXPECT_EQ(s.rows("l"), R"([{"l":[1,1]}])");
  EXPECT_EQ(s.rows("c"), R"([{"c":[["k",2]]}])");
}

// "Bulk changes […] each instance, in key order, is a command of its own with the predicate checked again; a refused
// one is skipped; `limit n` takes the first n that match at the start; the outcome counts those applied."
TEST(Commands, ABulkChangeIsACommandForEachInstance) {
  Session s(
      "entity A { id: int key n: int require n < 10 } command make($id, $n) { insert A { id: $id, n: $n } }"
      "command plus($m) { update A a where a.n >= $m { n: n + 2 } }"
      "command drop($m, $l) { delete A a where a.n < $m limit $l }"
      "query q { select a.id, a.n from A a order by a.id }");
  for (const char* a : {R"({"id":1,"n":8})", R"({"id":2,"n":5})", R"({"id":3,"n":1})", R"({"id":4,"n":7})"})
    s.run("make", a);
  EXPECT_EQ(s.answer("plus", R"({"m":5})"), R"({"outcome":"applied","count":2})");  // 1 would be 10: skipped
  EXPECT_EQ(s.rows("q"), R"([{"id":1,"n":8},{"id":2,"n":7},{"id":3,"n":1},{"id":4,"n":9}])");
  EXPECT_EQ(s.answer("plus", R"({"m":50})"), R"({"outcome":"applied","count":0})");
  EXPECT_EQ(s.answer("drop", R"({"m":9,"l":2})"), R"({"outcome":"applied","count":2})");
  EXPECT_EQ(s.rows("q"), R"([{"id":3,"n":1},{"id":4,"n":9}])");
  EXPECT_EQ(s.answer("drop", R"({"m":99,"l":0})"), R"({"outcome":"applied","count":0})");
  EXPECT_EQ(s.run("drop", R"({"m":99,"l":-1})"), "value");
}

TEST(Commands, ABulkChangeSkipsWhatWentMeanwhile) {
  Session s(
      "entity N { id: int key  up: N? owner inverse downs } command n($id, $up) { insert N { id: $id, up: $up } }"
      "command drop { delete N n where n.id < 4 } query q { select n.id from N n order by n.id }");
  s.run("n", R"({"id":1})");
  s.run("n", R"({"id":2,"up":1})");
  s.run("n", R"({"id":5,"up":2})");
  s.run("n", R"({"id":3})");
  s.run("n", R"({"id":4})");
  EXPECT_EQ(s.answer("drop"), R"({"outcome":"applied","count":2})");  // 2 went with 1
  EXPECT_EQ(s.rows("q"), R"([{"id":4}])");
}

// The limit takes those that match at the start, also where they are then skipped.
TEST(Commands, ABulkLimitTakesTheFirstThatMatchAtTheStart) {
  Session s(
      "entity A { id: int key  n: int  require n < 10 } command make($id, $n) { insert A { id: $id, n: $n } }"
      "command over { update A a where a.n * 5000000000000000000 > 0 { n: 0 } }"
      "entity B { id: int key  up: B? owner inverse downs  n: int = 0 }"
      "command b($id, $up) { insert B { id: $id, up: $up } } command drop { delete B b where b.n = 0 limit 2 }"
      "query q { select b.id from B b order by b.id } query a { select a.n from A a order by a.id }");
  s.run("b", R"({"id":1})");
  s.run("b", R"({"id":2,"up":1})");
  s.run("b", R"({"id":3})");
  EXPECT_EQ(s.answer("drop"), R"({"outcome":"applied","count":1})");
  EXPECT_EQ(s.rows("q"), R"([{"id":3}])");
  // An instance for which the condition can't be worked out does not match.
  s.run("make", R"({"id":1,"n":1})");
  s.run("make", R"({"id":2,"n":5})");
  EXPECT_EQ(s.answer("over"), R"({"outcome":"applied","count":1})");
  EXPECT_EQ(s.rows("a"), R"([{"n":0},{"n":5}])");
}

// "Arithmetic: an absent operand gives absent, also in `greatest` and `least`; absent into a required field is refused:
// required"
TEST(Commands, AnAbsentOperandGivesAbsent) {
  Session s(
      "entity A { id: int key a: int? b: int = 0 c: int? } command make { insert A { id: 1 } }"
      "command optional_ { update A[1] { c: a + 1 } } command required_ { update A[1] { b: a + 1 } }"
      "command greatest_ { update A[1] { c: greatest(5, a) } } command least_ { update A[1] { b: least(a, 5) } }"
      "command negate_ { update A[1] { b: -a } } command default_ { update A[1] { b: (a ?? 4) + 1, c: 9 } }"
      "query q { select a.b, a.c from A a }"
      "query g { select greatest(a.b, a.a) as g, least(a.b, 3, a.c) as l from A a }");
  s.run("make");
  EXPECT_EQ(s.run("required_"), "required");
  EXPECT_EQ(s.run("least_"), "required");
  EXPECT_EQ(s.run("negate_"), "required");
  EXPECT_EQ(s.run("default_"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"b":5,"c":9}])");
  EXPECT_EQ(s.rows("g"), R"([{"g":null,"l":3}])");
  EXPECT_EQ(s.run("greatest_"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"b":5,"c":null}])");
  EXPECT_EQ(s.run("optional_"), "applied");
}

// "int literals widen, a literal with a point takes the type its use asks for; int with decimal is decimal; float mixes
// with literals only."
TEST(Commands, NumbersMeetInTheWiderType) {
  Session s(
      "entity A { id: int key n: int = 3 d: decimal = 0.1 f: float = 0.1 } command make { insert A { id: 1 } }"
      "command d { update A[1] { d: d * n + 2 } } command f { update A[1] { f: f * 3 } }"
      "query q { select a.d, a.f from A a }"
      "query both { select a.n + a.d as s, a.f - 0.5 as t, a.n * 2 as u from A a }"
      "query less { select a.id from A a where a.n > a.d and a.n >= 3 and a.f < 1 }");
  s.run("make");
  EXPECT_EQ(s.rows("both"), R"([{"s":"3.1","t":-0.4,"u":6}])");
  EXPECT_EQ(s.rows("less"), R"([{"id":1}])");
  EXPECT_EQ(s.run("d"), "applied");
  EXPECT_EQ(s.run("f"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"d":"2.3","f":0.30000000000000004}])");
}

// "What does not fit is refused: overflow."
TEST(Commands, WhatDoesNotFitIsRefused) {
  Session s(
      "entity A { id: int key  n: int  d: decimal  f: float  t: timestamp  e: date }"
      "command make($n, $d, $f, $t, $e) { put A { id: 1, n: $n, d: $d, f: $f, t: $t, e: $e } }"
      "command plus { update A[1] { n: n + 1 } } command minus { update A[1] { n: n - 2 } }"
      "command times { update A[1] { n: n * 2 } } command negative { update A[1] { n: -n } }"
      "command d_plus { update A[1] { d: d + 0.1 } } command d_times { update A[1] { d: d * d } }"
      "command f_times { update A[1] { f: f * 10 } }"
      "command later { update A[1] { t: t + 1 minute } } command day { update A[1] { e: e + 1 day } }"
      "command require_ { require A[1].n + 1 > 0 } command either { require A[1].n > 0 or A[1].n + 1 > 0 }"
      "command both { require A[1].n + 1 > 0 and A[1].n < 0 }");
  s.run("make", R"({"n":9223372036854775807,"d":"1234567890123456789012345678901234","f":1e308,)"
                R"("t":"9999-12-31T23:59:59.999Z","e":"9999-12-31"})");
  for (const char* name : {"plus", "times", "d_plus", "d_times", "f_times", "later", "day", "require_"})
    EXPECT_EQ(s.run(name), "overflow") << name;
  EXPECT_EQ(s.run("either"), "applied");  // decided without what does not fit
  EXPECT_EQ(s.run("both"), "require");
  s.run("make", R"({"n":-9223372036854775808,"d":"1e-60","f":1,"t":"0001-01-01T00:00:00Z","e":"0001-01-01"})");
  for (const char* name : {"minus", "negative", "d_times"}) EXPECT_EQ(s.run(name), "overflow") << name;
  EXPECT_EQ(s.run("later"), "applied");
}

// A sum "inside a command: refused, overflow"; so is all arithmetic of a nested select.
TEST(Commands, ASumInsideACommandThatDoesNotFitIsRefused) {
  Session s(
      "entity A { id: int key  n: int } command make($id, $n) { insert A { id: $id, n: $n } }"
      "command sum_ { require (select sum(a.n) from A a) > 0 }"
      "command inner { require (select count(*) from A a where a.n * 2 > 0) > 0 }"
      "command stored { insert A { id: 9, n: (select sum(a.n) from A a) } }");
  s.run("make", R"({"id":1,"n":9223372036854775807})");
  EXPECT_EQ(s.run("sum_"), "applied");
  EXPECT_EQ(s.run("inner"), "overflow");
  s.run("make", R"({"id":2,"n":1})");
  EXPECT_EQ(s.run("sum_"), "overflow");
  EXPECT_EQ(s.run("stored"), "overflow");
}

// "`now()`, `uuid()` and `random_text(8)` in a command follow from its id, so a repeat gives the same." `now()` is the
// id's time.
TEST(Commands, WhatACommandMakesUpFollowsFromItsId) {
  const std::string text =
      "entity A { id: int key  t: timestamp  u: uuid  v: uuid  r: text  l: list<uuid> }"
      "command make($id) { insert A { id: $id, t: now(), u: uuid(), v: uuid(), r: random_text(12) } }"
      "command each($xs: list<int>) { for $x in $xs { append uuid() to A[$x].l } }"
      "query t { select a.t from A a order by a.id } query rest { select a.u, a.v, a.r, a.l from A a order by a.id }"
      "query same { select a.id from A a where a.u = a.v }";
  Session s(text);
  EXPECT_EQ(s.run("make", R"({"id":1})", id(1, "018f3406-9dff")), "applied");
  EXPECT_EQ(s.rows("t"), R"([{"t":"2024-05-01T11:59:59.999Z"}])");
  EXPECT_EQ(s.run("make", R"({"id":2})"), "applied");  // without an id: the clock
  EXPECT_EQ(s.rows("t"), R"([{"t":"2024-05-01T11:59:59.999Z"},{"t":"2024-05-01T12:00:00.000Z"}])");
  EXPECT_EQ(s.rows("same"), "[]");
  EXPECT_EQ(s.run("each", R"({"xs":[1,1,1]})", id(2)), "applied");
  const auto rows = Json::parse(s.rows("rest"));
  EXPECT_EQ(rows[0]["r"].get<std::string>().size(), 12U);
  std::set<std::string> made;
  for (const Json& one : rows[0]["l"]) made.insert(one.text());
  EXPECT_EQ(made.size(), 3U);  // each round makes another
  Session again(text);
  again.run("make", R"({"id":1})", id(1, "018f3406-9dff"));
  again.run("make", R"({"id":2})", id(3));
  again.run("each", R"({"xs":[1,1,1]})", id(2));
  EXPECT_EQ(Json::parse(again.rows("rest"))[0], rows[0]);
  EXPECT_NE(Json::parse(again.rows("rest"))[1], rows[1]);
}

// Each instance of a bulk change has an id of its own, which follows from the command's.
TEST(Commands, TheInstancesOfABulkChangeMakeUpDifferentThings) {
  const std::string text =
      "entity A { id: int key  u: uuid?  t: timestamp? } command make($id) { insert A { id: $id } }"
      "command bulk { update A a where a.id > 1 { u: uuid(), t: now() } }"
      "query q { select a.u from A a order by a.id } query t { select distinct a.t from A a where a.id > 1 }";
  Session s(text);
  for (const char* a : {R"({"id":1})", R"({"id":2})", R"({"id":3})"}) s.run("make", a);
  EXPECT_EQ(s.answer("bulk", "{}", id(1)), R"({"outcome":"applied","count":2})");
  const auto made = Json::parse(s.rows("q"));
  const auto part = [](std::uint64_t n) {
    return model::print_uuid(model::generated_uuid(model::part_of(*model::parse_command_id(id(1)), n), 0, 0));
  };
  EXPECT_TRUE(made[0]["u"].is_null());
  EXPECT_EQ(made[1]["u"], part(0));
  EXPECT_EQ(made[2]["u"], part(1));
  EXPECT_EQ(s.rows("t"), R"([{"t":"2024-05-01T12:00:00.000Z"}])");
}

// What is made up depends on the number of the change, counted as they are carried out: loops and conditions too.
TEST(Commands, ChangesAreCountedAsTheyAreCarriedOut) {
  Session s(
      "entity A { id: uuid key auto  u: uuid }"
      "command make($xs: list<int>) { require 1 = 1  for $x in $xs { require $x > 0  insert A { u: uuid() } }"
      "  insert A { u: uuid() } } query q($id) { select a.u from A[$id] a }");
  s.run("make", R"({"xs":[1,1]})", id(1));
  ASSERT_EQ(s.keys(), 3U);
  const model::CommandId command = *model::parse_command_id(id(1));
  const std::vector<std::string> keys{s.key(0), s.key(1), s.key(2)};
  const std::vector<std::uint32_t> changes{3, 5, 6};  // require 0, for 1, require 2, insert 3, require 4, insert 5
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(keys[i], model::print_uuid(model::generated_uuid(command, changes[i], model::key_site(0))));
    const std::string made = model::print_uuid(model::generated_uuid(command, changes[i], i < 2 ? 0 : 1));
    EXPECT_EQ(s.rows("q", "{\"id\":\"" + keys[i] + "\"}"), "[{\"u\":\"" + made + "\"}]");
  }
}

// An id names one call: another statement with it is refused.
TEST(Commands, AnIdBelongsToOneCall) {
  Things s("command plus { update T[1] { n: n + 1 } } command drop { delete T[1] }");
  EXPECT_EQ(s.run("plus", "{}", id(1)), "applied");
  EXPECT_EQ(s.run("drop", "{}", id(1)), "value");
  EXPECT_EQ(s.rows("all_"), R"([{"id":1,"n":6}])");
}

TEST(Commands, ANumberThatDoesNotFitInATargetOrARequireOfAnEntityIsAnOverflow) {
  Things s(
      "entity R { id: int key  n: int  require n * 2 > 0 } command r($n) { put R { id: 1, n: $n } }"
      "command target($id) { update T[$id + 1] { n: 1 } } command then_($id) { then update T[$id + 1] { n: 1 } }"
      "command drop($id) { delete T[$id + 1] } command index($i) { update T[1] { l[$i * 2]: 1 } }");
  const std::string most = R"({"id":9223372036854775807})";
  EXPECT_EQ(s.run("target", most), "overflow");
  EXPECT_EQ(s.run("then_", most), "overflow");
  EXPECT_EQ(s.run("drop", most), "overflow");
  EXPECT_EQ(s.run("index", R"({"i":9223372036854775807})"), "overflow");
  EXPECT_EQ(s.run("target", R"({"id":0})"), "applied");
  EXPECT_EQ(s.run("r", R"({"n":9223372036854775807})"), "overflow");
  EXPECT_EQ(s.run("r", R"({"n":0})"), "require");
  EXPECT_EQ(s.run("r", R"({"n":1})"), "applied");
}

// Lengths, presence and the rules of keys are asked of elements as of fields.
TEST(Commands, ElementsAreAskedAsFieldsAre) {
  Session s(
      "entity K { k: text key } entity A { id: int key s: set<text(2)> m: map<text(2), text(2)> ks: set<K> }"
      "command make { insert A { id: 1 } } command add_($t: text?) { add $t to A[1].s }"
      "command add_all($ts) { add all $ts to A[1].s } command remove_($t) { remove $t from A[1].s }"
      "command put_($k: text?, $v: text?) { put $k: $v into A[1].m }"
      "command set_($k: text?, $v) { update A[1] { m[$k]: $v } } command key_($k) { add $k to A[1].ks }"
      "command drop_key($k) { remove key $k from A[1].m }");
  s.run("make");
  EXPECT_EQ(s.run("add_", R"({"t":"abc"})"), "value");
  EXPECT_EQ(s.run("add_"), "required");
  EXPECT_EQ(s.run("add_all", R"({"ts":["a","abc"]})"), "value");
  EXPECT_EQ(s.run("remove_", R"({"t":"abc"})"), "applied");  // found nowhere
  EXPECT_EQ(s.run("put_", R"({"k":"abc","v":"a"})"), "value");
  EXPECT_EQ(s.run("put_", R"({"k":"a","v":"abc"})"), "value");
  EXPECT_EQ(s.run("put_", R"({"k":"a"})"), "required");
  EXPECT_EQ(s.run("put_", R"({"v":"a"})"), "required");
  EXPECT_EQ(s.run("set_", R"({"k":"abc","v":"a"})"), "value");
  EXPECT_EQ(s.run("set_", R"({"v":"a"})"), "required");
  EXPECT_EQ(s.run("drop_key", R"({"k":"abc"})"), "applied");
  EXPECT_EQ(s.run("key_", R"({"k":""})"), "key");
}

}  // namespace noam::reference
