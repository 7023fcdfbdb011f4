// The chapter "Data" of what a program means, sentence by sentence.
#include "tests/reference/session.h"

namespace noam::reference {

namespace {

// Values of one type, put in by their number and given back in the order of the type.
class Values {
 public:
  explicit Values(const std::string& type)
      : session_("entity T { n: int key  v: " + type + " }" +
                 "command put_($n, $v) { put T { n: $n, v: $v } }"
                 "query ordered { select t.v from T t order by t.v }"
                 "query equal($v) { select t.n from T t where t.v = $v }") {}

  std::string put(const std::string& value) {
    return session_.run("put_", "{\"n\":" + std::to_string(count_++) + ",\"v\":" + value + "}");
  }
  std::string ordered() { return session_.rows("ordered"); }
  std::string equal(const std::string& value) { return session_.rows("equal", "{\"v\":" + value + "}"); }

 private:
  Session session_;
  int count_ = 0;
};

}  // namespace

// "A database is a set of aggregates, one per entity instance. An aggregate is the entity's own fields and the values
// inside them, nothing else."
TEST(Data, AnAggregateIsItsOwnFieldsAndTheValuesInside) {
  Session s(
      "value P { x: int  y: int? }"
      "entity A { id: int key  p: P  ps: list<P>  b: B inverse a_s } entity B { id: int key  name: text }"
      "command a { insert A { id: 1, p: { x: 2 }, ps: [{ x: 3, y: 4 }], b: 7 } }"
      "command b { insert B { id: 7, name: \"b\" } }"
      "query as_ { select a from A a } query bs { select b from B b }");
  EXPECT_EQ(s.run("a"), "applied");
  EXPECT_EQ(s.run("b"), "applied");
  EXPECT_EQ(s.rows("as_"), R"([{"a":{"id":1,"p":{"x":2,"y":null},"ps":[{"x":3,"y":4}],"b":7}}])");
  EXPECT_EQ(s.rows("bs"), R"([{"b":{"id":7,"name":"b"}}])");
}

// "Aggregates are independent: a command changes only the aggregates it names."
TEST(Data, ACommandChangesOnlyTheAggregatesItNames) {
  Session s(
      "entity A { id: int key  b: B? inverse a_s } entity B { id: int key }"
      "command setup { insert A { id: 1, b: 7 }  insert A { id: 2, b: 7 }  insert B { id: 7 } }"
      "command drop { delete B[7] } command free { update A[1] { b: absent } }");
  s.run("setup");
  EXPECT_EQ(s.run("drop"), "applied");
  EXPECT_EQ(s.dump(), R"({"A":[[1,{"id":1,"b":7}],[2,{"id":2,"b":7}]],"B":[]})");
  EXPECT_EQ(s.run("free"), "applied");
  EXPECT_EQ(s.dump(), R"({"A":[[1,{"id":1,"b":null}],[2,{"id":2,"b":7}]],"B":[]})");
}

// "bool: false < true; a field alone is a predicate, absent is false"
TEST(Data, BoolIsAPredicateAndAbsentIsFalse) {
  Session s(
      "entity A { id: int key  b: bool? }"
      "command add_($id, $b) { insert A { id: $id, b: $b } }"
      "query ordered { select a.id from A a order by a.b } query yes { select a.id from A a where a.b }"
      "query no_ { select a.id from A a where not a.b order by a.id }");
  s.run("add_", R"({"id":1,"b":true})");
  s.run("add_", R"({"id":2,"b":false})");
  s.run("add_", R"({"id":3})");
  EXPECT_EQ(s.rows("ordered"), R"([{"id":3},{"id":2},{"id":1}])");
  EXPECT_EQ(s.rows("yes"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("no_"), R"([{"id":2},{"id":3}])");
}

// "int: signed 64 bits"
TEST(Data, IntHas64Bits) {
  Values v("int");
  EXPECT_EQ(v.put("9223372036854775807"), "applied");
  EXPECT_EQ(v.put("-9223372036854775808"), "applied");
  EXPECT_EQ(v.put("9223372036854775808"), "value");
  EXPECT_EQ(v.put("1.5"), "value");
  EXPECT_EQ(v.put("\"1\""), "value");
  EXPECT_EQ(v.ordered(), R"([{"v":-9223372036854775808},{"v":9223372036854775807}])");
}

// "float: finite doubles; -0 is 0; NaN and infinities are refused"
TEST(Data, FloatIsFiniteAndMinusZeroIsZero) {
  Values v("float");
  EXPECT_EQ(v.put("-0.0"), "applied");
  EXPECT_EQ(v.put("0.1"), "applied");
  EXPECT_EQ(v.put("-1e300"), "applied");
  EXPECT_EQ(v.put("\"NaN\""), "value");
  EXPECT_EQ(v.put("\"Infinity\""), "value");
  EXPECT_EQ(v.equal("0"), R"([{"n":0}])");
  EXPECT_EQ(v.ordered(), R"([{"v":-1e+300},{"v":0.0},{"v":0.1}])");
}

// "decimal: at most 34 significant digits, exponent of the last digit (zeros dropped) from -100 to 100; 1.0 equals
// 1.00; prints positionally, `1`"
TEST(Data, DecimalHas34DigitsAndPrintsPositionally) {
  Values v("decimal");
  EXPECT_EQ(v.put("\"1.0\""), "applied");
  EXPECT_EQ(v.put("\"1234567890123456789012345678901234\""), "applied");
  EXPECT_EQ(v.put("\"12345678901234567890123456789012345\""), "value");
  EXPECT_EQ(v.put("\"12345678901234567890123456789012340\""), "applied");
  EXPECT_EQ(v.put("\"1e-100\""), "applied");
  EXPECT_EQ(v.put("\"1e-101\""), "value");
  EXPECT_EQ(v.put("\"10e-101\""), "applied");
  EXPECT_EQ(v.put("\"1e101\""), "value");
  EXPECT_EQ(v.equal("\"1.00\""), R"([{"n":0}])");
  EXPECT_EQ(v.equal("\"1e-100\""), R"([{"n":4},{"n":6}])");
  const std::string tiny = "0." + std::string(99, '0') + "1";
  EXPECT_EQ(v.ordered(), "[{\"v\":\"" + tiny + "\"},{\"v\":\"" + tiny +
                             "\"},{\"v\":\"1\"},{\"v\":\"1234567890123456789012345678901234\"},"
                             "{\"v\":\"12345678901234567890123456789012340\"}]");
}

// "text: valid UTF-8 without U+0000; compared byte by byte; no normalisation"
TEST(Data, TextIsComparedByteByByteWithoutNormalisation) {
  Values v("text");
  EXPECT_EQ(v.put(R"("a")"), "applied");
  EXPECT_EQ(v.put(R"("Z")"), "applied");
  EXPECT_EQ(v.put(R"("\u00e9")"), "applied");   // é
  EXPECT_EQ(v.put(R"("e\u0301")"), "applied");  // e and a combining accent
  EXPECT_EQ(v.put(R"("")"), "applied");
  EXPECT_EQ(v.put(R"("a\u0000b")"), "value");
  EXPECT_EQ(v.equal(R"("\u00e9")"), R"([{"n":2}])");
  EXPECT_EQ(v.ordered(), "[{\"v\":\"\"},{\"v\":\"Z\"},{\"v\":\"a\"},{\"v\":\"e\xCC\x81\"},{\"v\":\"\xC3\xA9\"}]");
}

// "`text(8)` is asked of what is stored: longer is refused; compared, or in `E[$k]`, a longer text is found nowhere"
TEST(Data, ALengthIsAskedOfWhatIsStored) {
  Session s(
      "entity A { k: text(3) key  t: text(2)?  b: bytes(2)? }"
      "command add_($k, $t, $b) { insert A { k: $k, t: $t, b: $b } }"
      "command drop($k) { delete A[$k] } command touch($k) { update A[$k] { t: \"x\" } }"
      "query find($k) { select a.k from A a where a.k = $k } query one($k) { select a.k from A[$k] a }"
      "query by_t($t) { select a.k from A a where a.t = $t }");
  EXPECT_EQ(s.run("add_", R"({"k":"äöü","t":"éé"})"), "applied");  // code points, not bytes
  EXPECT_EQ(s.run("add_", R"({"k":"abcd"})"), "value");
  EXPECT_EQ(s.run("add_", R"({"k":"abc","t":"abc"})"), "value");
  EXPECT_EQ(s.run("add_", R"({"k":"abc","b":"AAEC"})"), "value");
  EXPECT_EQ(s.run("add_", R"({"k":"abc","b":"AAE="})"), "applied");
  EXPECT_EQ(s.rows("find", R"({"k":"abcd"})"), "[]");
  EXPECT_EQ(s.rows("one", R"({"k":"abcd"})"), "[]");
  EXPECT_EQ(s.rows("by_t", R"({"t":"abc"})"), "[]");
  EXPECT_EQ(s.run("drop", R"({"k":"abcd"})"), "applied");
  EXPECT_EQ(s.run("touch", R"({"k":"abcd"})"), "absent");
}

// The same of a reference: what it holds is a key of its target, stored here.
TEST(Data, AReferenceLongerThanItsKeyIsRefused) {
  Session s(
      "entity A { k: text(3) key } entity B { id: int key  a: A?  all_: set<A> }"
      "command add_($id, $a, $all) { insert B { id: $id, a: $a, all_: $all } }");
  EXPECT_EQ(s.run("add_", R"({"id":1,"a":"abc","all":["xyz"]})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"id":2,"a":"abcd","all":[]})"), "value");
  EXPECT_EQ(s.run("add_", R"({"id":3,"all":["abcd"]})"), "value");
}

// "enumeration: one of its texts, compared as texts; `("open" | "paid")?` where optional; another text is refused"
TEST(Data, AnEnumerationIsOneOfItsTexts) {
  Values v(R"(("paid" | "open" | "Late")?)");
  EXPECT_EQ(v.put(R"("paid")"), "applied");
  EXPECT_EQ(v.put(R"("open")"), "applied");
  EXPECT_EQ(v.put(R"("Late")"), "applied");
  EXPECT_EQ(v.put(R"("late")"), "value");
  EXPECT_EQ(v.put("null"), "applied");
  EXPECT_EQ(v.ordered(), R"([{"v":null},{"v":"Late"},{"v":"open"},{"v":"paid"}])");
  EXPECT_EQ(v.equal(R"("late")"), "error value");  // of a query a malformed call is an error
}

// A text that becomes an enumeration only when the command runs.
TEST(Data, ATextStoredInAnEnumerationIsAskedThen) {
  Session s(
      "entity A { id: int key  t: text  e: \"a\" | \"b\" = \"a\" }"
      "command add_($t) { insert A { id: 1, t: $t } } command copy { update A[1] { e: t } }"
      "query q { select a.e from A a }");
  s.run("add_", R"({"t":"c"})");
  EXPECT_EQ(s.run("copy"), "value");
  EXPECT_EQ(s.rows("q"), R"([{"e":"a"}])");
}

// "bytes: compared byte by byte"
TEST(Data, BytesAreComparedByteByByte) {
  Values v("bytes");
  EXPECT_EQ(v.put(R"("/w==")"), "applied");  // ff
  EXPECT_EQ(v.put(R"("AAE=")"), "applied");  // 00 01
  EXPECT_EQ(v.put(R"("AA==")"), "applied");  // 00
  EXPECT_EQ(v.put(R"("fw==")"), "applied");  // 7f
  EXPECT_EQ(v.put(R"("?")"), "value");
  EXPECT_EQ(v.ordered(), R"([{"v":"AA=="},{"v":"AAE="},{"v":"fw=="},{"v":"/w=="}])");
}

// "timestamp: milliseconds, UTC, years 1 to 9999; finer input is refused, not rounded"
TEST(Data, TimestampsHaveMilliseconds) {
  Values v("timestamp");
  EXPECT_EQ(v.put(R"("2024-02-29T23:59:59.999Z")"), "applied");
  EXPECT_EQ(v.put(R"("2024-02-29T23:59:59.9991Z")"), "value");
  EXPECT_EQ(v.put(R"("0001-01-01T00:00:00Z")"), "applied");
  EXPECT_EQ(v.put(R"("9999-12-31T23:59:59.999Z")"), "applied");
  EXPECT_EQ(v.put(R"("0000-12-31T00:00:00Z")"), "value");
  EXPECT_EQ(v.put(R"("0001-01-01T00:30:00+01:00")"), "value");  // in UTC it is the year 0
  EXPECT_EQ(v.put(R"("2024-03-01T01:00:00+02:00")"), "applied");
  EXPECT_EQ(v.put(R"("2023-02-29T00:00:00Z")"), "value");
  EXPECT_EQ(v.ordered(), R"([{"v":"0001-01-01T00:00:00.000Z"},{"v":"2024-02-29T23:00:00.000Z"},)"
                         R"({"v":"2024-02-29T23:59:59.999Z"},{"v":"9999-12-31T23:59:59.999Z"}])");
}

// "date: days, years 1 to 9999"
TEST(Data, DatesAreDays) {
  Values v("date");
  EXPECT_EQ(v.put(R"("2024-02-29")"), "applied");
  EXPECT_EQ(v.put(R"("0001-01-01")"), "applied");
  EXPECT_EQ(v.put(R"("9999-12-31")"), "applied");
  EXPECT_EQ(v.put(R"("10000-01-01")"), "value");
  EXPECT_EQ(v.put(R"("2024-02-29T00:00:00Z")"), "value");
  EXPECT_EQ(v.ordered(), R"([{"v":"0001-01-01"},{"v":"2024-02-29"},{"v":"9999-12-31"}])");
}

// "uuid, timeuuid: compared as 16 bytes (timeuuid, version 1: by its time, then by bytes)"
TEST(Data, UuidsAreComparedAsBytes) {
  Values v("uuid");
  EXPECT_EQ(v.put(R"("F0000000-0000-1000-8000-000000000000")"), "applied");
  EXPECT_EQ(v.put(R"("0f000000-0000-1fff-8000-000000000000")"), "applied");
  EXPECT_EQ(v.put(R"("0f000000-0000-1fff-8000-00000000000")"), "value");
  EXPECT_EQ(v.ordered(),
            R"([{"v":"0f000000-0000-1fff-8000-000000000000"},{"v":"f0000000-0000-1000-8000-000000000000"}])");
}

TEST(Data, TimeuuidsAreComparedByTheirTimeThenByBytes) {
  Values v("timeuuid");
  // The time is the last three digits of the third group, then the second, then the first.
  EXPECT_EQ(v.put(R"("f0000000-0000-1000-8000-000000000000")"), "applied");
  EXPECT_EQ(v.put(R"("0f000000-0000-1fff-8000-000000000000")"), "applied");
  EXPECT_EQ(v.put(R"("f0000000-0000-1000-8000-000000000001")"), "applied");
  EXPECT_EQ(v.put(R"("00000000-0001-1000-8000-000000000000")"), "applied");
  EXPECT_EQ(v.put(R"("0f000000-0000-4fff-8000-000000000000")"), "value");  // version 4
  EXPECT_EQ(v.ordered(),
            R"([{"v":"f0000000-0000-1000-8000-000000000000"},{"v":"f0000000-0000-1000-8000-000000000001"},)"
            R"({"v":"00000000-0001-1000-8000-000000000000"},{"v":"0f000000-0000-1fff-8000-000000000000"}])");
}

// "inet: an IPv4 or IPv6 address, no zone or prefix; IPv4 first, then bytes; `::ffff:a.b.c.d` is IPv6"
TEST(Data, InetHasIPv4First) {
  Values v("inet");
  EXPECT_EQ(v.put(R"("::1")"), "applied");
  EXPECT_EQ(v.put(R"("255.0.0.1")"), "applied");
  EXPECT_EQ(v.put(R"("9.0.0.1")"), "applied");
  EXPECT_EQ(v.put(R"("::ffff:9.0.0.1")"), "applied");
  EXPECT_EQ(v.put(R"("2001:DB8:0:0::1")"), "applied");
  EXPECT_EQ(v.put(R"("fe80::1%eth0")"), "value");
  EXPECT_EQ(v.put(R"("10.0.0.0/8")"), "value");
  EXPECT_EQ(v.equal(R"("9.0.0.1")"), R"([{"n":2}])");
  EXPECT_EQ(v.ordered(),
            R"([{"v":"9.0.0.1"},{"v":"255.0.0.1"},{"v":"::1"},{"v":"::ffff:9.0.0.1"},{"v":"2001:db8::1"}])");
}

// "json: stored and returned, never looked into"
TEST(Data, JsonIsStoredAndReturned) {
  Session s(
      "entity A { id: int key  j: json? } command add_($id, $j) { insert A { id: $id, j: $j } }"
      "query q { select a.j from A a order by a.id } query none { select a.id from A a where a.j is absent }");
  s.run("add_", R"({"id":1,"j":{"b":[1,null,"x"],"a":{}}})");
  s.run("add_", R"({"id":2,"j":"text"})");
  s.run("add_", R"({"id":3,"j":null})");
  EXPECT_EQ(s.rows("q"), R"([{"j":{"b":[1,null,"x"],"a":{}}},{"j":"text"},{"j":null}])");
  EXPECT_EQ(s.rows("none"), R"([{"id":3}])");
}

// "Absent: `T?` may have no value. There is no null beside that. Collections are never absent, they may be empty"
TEST(Data, CollectionsAreNeverAbsentTheyAreEmpty) {
  Session s(
      "entity A { id: int key  t: text?  l: list<int>  s: set<int>  m: map<int, int> }"
      "command add_($id) { insert A { id: $id } }"
      "command with_($id, $l: list<int>) { insert A { id: $id, l: $l } } query q { select a from A a }");
  EXPECT_EQ(s.run("add_", R"({"id":1})"), "applied");
  EXPECT_EQ(s.run("with_", R"({"id":2,"l":null})"), "required");
  EXPECT_EQ(s.run("with_", R"({"id":2,"l":[null]})"), "required");
  EXPECT_EQ(s.rows("q"), R"([{"a":{"id":1,"t":null,"l":[],"s":[],"m":[]}}])");
}

// "Keys: every part is present, never an empty text or empty bytes"
TEST(Data, AKeyIsPresentAndNeverEmpty) {
  Session s(
      "entity A { t: text  b: bytes  key (t, b) }"
      "command add_($t: text?, $b: bytes?) { insert A { t: $t, b: $b } }"
      "command put_($t, $b) { put A { t: $t, b: $b } }");
  EXPECT_EQ(s.run("add_", R"({"t":"a","b":"AA=="})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"t":"","b":"AA=="})"), "key");
  EXPECT_EQ(s.run("add_", R"({"t":"a","b":""})"), "key");
  EXPECT_EQ(s.run("put_", R"({"t":"a","b":""})"), "key");
  EXPECT_EQ(s.run("add_", R"({"t":"a"})"), "required");
  EXPECT_EQ(s.run("add_", R"({"b":""})"), "required");  // before `key`
}

// "at most 1,024 bytes in all (texts and bytes by their length; bool 1, date 4, int and timestamp 8, uuid 16, inet 17,
// decimal 20)"
TEST(Data, AKeyTakesAtMost1024Bytes) {
  const std::vector<std::pair<std::string, std::pair<std::string, std::size_t>>> parts = {
      {"bool", {"true", 1}},
      {"date", {"\"2024-01-01\"", 4}},
      {"int", {"5", 8}},
      {"timestamp", {"\"2024-01-01T00:00:00Z\"", 8}},
      {"uuid", {"\"0198c1f2-7b1a-7cc0-8a3b-0123456789ab\"", 16}},
      {"timeuuid", {"\"f0000000-0000-1000-8000-000000000000\"", 16}},
      {"inet", {"\"1.2.3.4\"", 17}},
      {"decimal", {"\"1\"", 20}},
      {"bytes", {"\"AAEC\"", 3}},
      {"\"é\" | \"b\"", {"\"é\"", 2}},
  };
  for (const auto& [type, part] : parts) {
    SCOPED_TRACE(type);
    Session s("entity A { t: text  p: " + type + "  key (t, p) } command add_($t, $p) { insert A { t: $t, p: $p } }");
    const auto add = [&, &value = part.first](std::size_t length) {
      return s.run("add_", "{\"t\":\"" + std::string(length, 'x') + "\",\"p\":" + value + "}");
    };
    EXPECT_EQ(add(1024 - part.second), "applied");
    EXPECT_EQ(add(1024 - part.second + 1), "key");
  }
}

// "A reference obeys the same rules." Also inside collections and values, and as the key of a map.
TEST(Data, AReferenceObeysTheRulesOfKeys) {
  Session s(
      "entity K { t: text key } value V { k: K? }"
      "entity A { id: int key  k: K?  l: list<K>  m: map<K, int>  v: V? }"
      "command one($id, $k) { put A { id: $id, k: $k } } command many($l) { put A { id: 1, l: $l } }"
      "command map_($k) { put $k: 1 into A[1].m } command value_($v: V) { put A { id: 1, v: $v } }"
      "command more($k) { append $k to A[1].l }");
  EXPECT_EQ(s.run("one", R"({"id":1,"k":"x"})"), "applied");
  EXPECT_EQ(s.run("one", R"({"id":1,"k":""})"), "key");
  EXPECT_EQ(s.run("many", R"({"l":["a",""]})"), "key");
  EXPECT_EQ(s.run("map_", R"({"k":""})"), "key");
  EXPECT_EQ(s.run("more", R"({"k":""})"), "key");
  EXPECT_EQ(s.run("value_", R"({"v":{"k":""}})"), "key");
  EXPECT_EQ(s.run("one", "{\"id\":1,\"k\":\"" + std::string(1024, 'x') + "\"}"), "applied");
  EXPECT_EQ(s.run("one", "{\"id\":1,\"k\":\"" + std::string(1025, 'x') + "\"}"), "key");
}

// A part of a key may be a reference, whose own parts count.
TEST(Data, AReferenceInAKeyCountsAsItsTargetsKey) {
  Session s(
      "entity K { t: text  n: int  key (t, n) } entity A { k: K  u: text  key (k, u) }"
      "command add_($k, $u) { insert A { k: $k, u: $u } } query q { select a.k, a.k.n, a.u from A a }");
  EXPECT_EQ(s.run("add_", "{\"k\":[\"" + std::string(1000, 'x') + "\",1],\"u\":\"" + std::string(17, 'y') + "\"}"),
            "key");
  EXPECT_EQ(s.run("add_", R"({"k":["x",1],"u":"y"})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"k":["x",1],"u":"y"})"), "exists");
  EXPECT_EQ(s.run("add_", R"({"k":["x",2],"u":"y"})"), "applied");
  EXPECT_EQ(s.run("add_", R"({"k":["",2],"u":"y"})"), "key");
  EXPECT_EQ(s.run("add_", R"({"k":["x"],"u":"y"})"), "value");
  EXPECT_EQ(s.rows("q"), R"([{"k":["x",1],"n":1,"u":"y"},{"k":["x",2],"n":2,"u":"y"}])");
}

// "Generated keys (`auto`): made from the command id, returned by the command in the order of its inserts"
TEST(Data, GeneratedKeysFollowFromTheCommandIdAndAreReturnedInOrder) {
  const std::string text =
      "entity A { id: uuid key auto  n: int } entity B { id: timeuuid key auto  n: int }"
      "command two { insert A { n: 1 }  insert B { n: 2 }  insert A { n: 3 } }"
      "query a($id) { select a.n from A a where a.id = $id } query b($id) { select b.n from B[$id] b }";
  const std::string id = "018f3406-9e00-7000-8000-000000000001";  // 2024-05-01T12:00
  Session s(text);
  EXPECT_EQ(s.run("two", "{}", id), "applied");
  ASSERT_EQ(s.keys(), 3U);
  const std::string first = s.key(0);
  const std::string second = s.key(1);
  const std::string third = s.key(2);
  EXPECT_EQ(s.rows("a", "{\"id\":\"" + first + "\"}"), R"([{"n":1}])");
  EXPECT_EQ(s.rows("b", "{\"id\":\"" + second + "\"}"), R"([{"n":2}])");
  EXPECT_EQ(s.rows("a", "{\"id\":\"" + third + "\"}"), R"([{"n":3}])");
  Session again(text);
  again.run("two", "{}", id);
  EXPECT_EQ(again.key(0), first);
  EXPECT_EQ(again.key(1), second);
  EXPECT_EQ(again.key(2), third);
  again.run("two", "{}", "018f3406-9e00-7000-8000-000000000002");
  EXPECT_NE(again.key(0), first);
}

// "a timeuuid has the id's time, the ordinal decides within it"
TEST(Data, AGeneratedTimeuuidHasTheIdsTimeAndTheOrdinalDecides) {
  Session s(
      "entity B { id: timeuuid key auto n: int }"
      "command two($ns: list<int>) { for $n in $ns { insert B { n: $n } } }"
      "query q { select b.n from B b order by b }");
  s.at("2024-05-01T12:00:00Z");
  s.run("two", R"({"ns":[5,3,9]})", "018f3406-9e01-7000-8000-000000000001");
  s.run("two", R"({"ns":[1,0]})", "018f3406-9e00-7000-8000-000000000001");  // one millisecond earlier
  EXPECT_EQ(s.rows("q"), R"([{"n":1},{"n":0},{"n":5},{"n":3},{"n":9}])");
}

// "An entity without a key has a hidden `timeuuid key auto`: returned, usable in `E[$k]` and references, not in
// `select v`."
TEST(Data, AHiddenKeyIsReturnedAndUsableButNotSelected) {
  Session s(
      "entity A { n: int } entity R { id: int key a: A } command add_($n) { insert A { n: $n } }"
      "command refer($a) { insert R { id: 1, a: $a } } command change($a, $n) { update A[$a] { n: $n } }"
      "query all_ { select a from A a } query n { select r.a.n as n from R r }"
      "query one($a) { select a.n from A[$a] a }");
  EXPECT_EQ(s.run("add_", R"({"n":4})"), "applied");
  const std::string key = "\"" + s.key() + "\"";
  EXPECT_EQ(s.rows("all_"), R"([{"a":{"n":4}}])");
  EXPECT_EQ(s.run("refer", "{\"a\":" + key + "}"), "applied");
  EXPECT_EQ(s.run("change", "{\"a\":" + key + ",\"n\":5}"), "applied");
  EXPECT_EQ(s.rows("n"), R"([{"n":5}])");
  EXPECT_EQ(s.rows("one", "{\"a\":" + key + "}"), R"([{"n":5}])");
}

// "Lists keep order and duplicates; positions from 0, negative ones from the end; removal shifts later ones. […]
// Reading a position or map key that is not there: absent."
TEST(Data, ListsKeepOrderAndPositionsCountFromBothEnds) {
  Session s(
      "entity A { id: int key  l: list<text> }"
      "command add_($l) { insert A { id: 1, l: $l } } command drop($i) { remove A[1].l[$i] }"
      "query l { select a.l from A a } query at($i) { select a.l[$i] as e from A a }");
  s.run("add_", R"({"l":["b","a","b"]})");
  EXPECT_EQ(s.rows("l"), R"([{"l":["b","a","b"]}])");
  EXPECT_EQ(s.rows("at", R"({"i":1})"), R"([{"e":"a"}])");
  EXPECT_EQ(s.rows("at", R"({"i":-3})"), R"([{"e":"b"}])");
  EXPECT_EQ(s.rows("at", R"({"i":3})"), R"([{"e":null}])");
  EXPECT_EQ(s.rows("at", R"({"i":-4})"), R"([{"e":null}])");
  EXPECT_EQ(s.run("drop", R"({"i":0})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":["a","b"]}])");
  EXPECT_EQ(s.run("drop", R"({"i":-1})"), "applied");
  EXPECT_EQ(s.rows("l"), R"([{"l":["a"]}])");
}

// "Sets answer in the order of their elements, maps of their keys."
TEST(Data, SetsAndMapsAnswerInOrder) {
  Session s(
      "entity A { id: int key  s: set<decimal>  m: map<date, int> }"
      "command add_($s, $m) { insert A { id: 1, s: $s, m: $m } } query q { select a.s, a.m from A a }"
      "query at($d) { select a.m[$d] as v from A a }");
  s.run("add_", R"({"s":["10","9.50","9.5","-1"],"m":[["2024-01-02",1],["2023-01-01",2],["2024-01-02",3]]})");
  EXPECT_EQ(s.rows("q"), R"([{"s":["-1","9.5","10"],"m":[["2023-01-01",2],["2024-01-02",3]]}])");
  EXPECT_EQ(s.rows("at", R"({"d":"2024-01-02"})"), R"([{"v":3}])");
  EXPECT_EQ(s.rows("at", R"({"d":"2024-01-03"})"), R"([{"v":null}])");
}

// A map is read as an object, too, where its keys are texts.
TEST(Data, AMapIsReadFromAnObject) {
  Session s(
      "entity A { id: int key  m: map<text, int> } command add_($m) { insert A { id: 1, m: $m } }"
      "query q { select a.m from A a }");
  EXPECT_EQ(s.run("add_", R"({"m":{"b":1,"a":2}})"), "applied");
  EXPECT_EQ(s.rows("q"), R"([{"m":[["a",2],["b",1]]}])");
}

// "Equality of values is field by field."
TEST(Data, ValuesAreEqualFieldByField) {
  Session s(
      "value V { a: int  b: text?  l: list<int> } entity A { id: int key  v: V?  vs: list<V> }"
      "command add_($id, $v, $vs: list<V>) { insert A { id: $id, v: $v, vs: $vs } }"
      "query eq($v) { select a.id from A a where a.v = $v order by a.id }"
      "query has($v) { select a.id from A a where a.vs contains $v order by a.id }");
  s.run("add_", R"({"id":1,"v":{"a":1,"b":"x","l":[1,2]},"vs":[]})");
  s.run("add_", R"({"id":2,"v":{"a":1,"l":[1,2]},"vs":[{"a":1,"b":"x","l":[1,2]}]})");
  s.run("add_", R"({"id":3,"v":{"a":1,"l":[2,1]},"vs":[{"a":1}]})");
  s.run("add_", R"({"id":4,"vs":[]})");
  EXPECT_EQ(s.rows("eq", R"({"v":{"a":1,"b":"x","l":[1,2]}})"), R"([{"id":1}])");
  EXPECT_EQ(s.rows("eq", R"({"v":{"a":1,"b":null,"l":[1,2]}})"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("has", R"({"v":{"a":1,"b":"x","l":[1,2]}})"), R"([{"id":2}])");
  EXPECT_EQ(s.rows("has", R"({"v":{"a":1}})"), R"([{"id":3}])");
}

}  // namespace noam::reference
