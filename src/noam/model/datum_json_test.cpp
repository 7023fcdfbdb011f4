#include "noam/model/datum_json.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/model/sample_for_tests.h"

namespace noam::model {
namespace {

using namespace std::string_literals;
using sample::field;
using sample::integer;
using sample::map_of;
using sample::text;
using List = Datum::List;

constexpr std::uint32_t line = 0;
constexpr std::uint32_t remark = 1;
constexpr EntityId product{0};
constexpr EntityId review{1};
constexpr EntityId vote{2};

Type line_type() { return sample::value_type(line); }

// Products and reviews of them, which have a compound key, and votes on those, whose key is a review.
Model shop() {
  Model model;
  Value lines;
  lines.name = "Line";
  lines.fields = {field("product", reference(product)), field("qty", integer()), field("note", optional(text(5))),
                  field("tags", collection_of(TypeKind::Set, text(3)))};
  lines.fields[1].initial = sample::number(1);
  Value remarks;
  remarks.name = "Remark";
  remarks.fields = {field("line", optional(line_type())), field("body", text())};
  model.values = {lines, remarks};

  Entity products;
  products.name = "Product";
  products.fields = {field("sku", text(20)), field("price", scalar(TypeKind::Decimal)),
                     field("stock", optional(integer()))};
  products.key = {0};
  Entity reviews;
  reviews.name = "Review";
  reviews.fields = {field("product", reference(product)), field("at", scalar(TypeKind::Timestamp)),
                    field("body", text()), field("secret", scalar(TypeKind::TimeUuid))};
  reviews.fields[3].hidden = true;
  reviews.key = {0, 1};
  Entity votes;
  votes.name = "Vote";
  votes.fields = {field("review", reference(review)), field("up", scalar(TypeKind::Bool))};
  votes.key = {0};
  model.entities = {products, reviews, votes};
  return model;
}

class DatumJson : public testing::Test {
 protected:
  [[nodiscard]] DatumOrRefusal read(const Type& type, const std::string& json) const {
    return read_json(model, type, Json::parse(json));
  }

  void expect_read(const Type& type, const std::string& json, const Datum& expected) const {
    auto read_datum = read(type, json);
    ASSERT_TRUE(static_cast<bool>(read_datum)) << json << ": " << read_datum.refusal().reason;
    EXPECT_EQ(*read_datum, expected) << json;
  }

  // Reads and writes the same.
  void expect_form(const Type& type, const std::string& json, const Datum& datum) const {
    expect_read(type, json, datum);
    EXPECT_EQ(write_json(model, type, datum).dump(), json);
  }

  void expect_refused(const Type& type, const std::string& json, const Refusal& expected) const {
    const auto read_datum = read(type, json);
    ASSERT_FALSE(static_cast<bool>(read_datum)) << json;
    EXPECT_EQ(read_datum.refusal().code, expected.code) << json;
    EXPECT_EQ(read_datum.refusal().reason, expected.reason) << json;
  }

  Model model = shop();
};

TEST_F(DatumJson, HasBoolsAndNumbers) {
  expect_form(scalar(TypeKind::Bool), "true", true);
  expect_form(integer(), "-9223372036854775808", INT64_MIN);
  expect_form(integer(), "9223372036854775807", INT64_MAX);
  expect_form(scalar(TypeKind::Float), "0.5", 0.5);
  expect_form(scalar(TypeKind::Float), "1e+300", 1e300);
  expect_form(scalar(TypeKind::Float), "2.0", 2.0);
  expect_read(scalar(TypeKind::Float), "2", 2.0);
  expect_read(scalar(TypeKind::Float), "-0.0", 0.0);
  expect_read(scalar(TypeKind::Float), "9007199254740993", 9007199254740992.0);
  expect_read(scalar(TypeKind::Float), "18446744073709551615", 18446744073709551616.0);
}

TEST_F(DatumJson, HasDecimalsAsStrings) {
  const Type decimal = scalar(TypeKind::Decimal);
  expect_form(decimal, R"("19.9")", Decimal::parse("19.9").value());
  expect_read(decimal, R"("19.900")", Decimal::parse("19.9").value());
  expect_read(decimal, "-19", Decimal(-19));
  expect_read(decimal, "18446744073709551615", Decimal::parse("18446744073709551615").value());
  expect_refused(decimal, "19.9", {"value", "expected decimal, not 19.9"});
  expect_refused(decimal, R"("1e200")", {"value", R"(expected decimal, not "1e200")"});
}

TEST_F(DatumJson, HasOtherScalarsAsStrings) {
  expect_form(text(), R"("say \"hi\"")", "say \"hi\"");
  expect_form(text(), R"("")", "");
  expect_form(sample::enumeration({"open", "paid"}), R"("paid")", "paid");
  expect_form(scalar(TypeKind::Bytes), R"("AAE=")", "\0\1"s);
  expect_form(scalar(TypeKind::Timestamp), R"("1970-01-01T00:00:01.500Z")", 1500);
  expect_form(scalar(TypeKind::Date), R"("1970-01-11")", 10);
  expect_form(scalar(TypeKind::Uuid), R"("30313233-3435-3637-3839-616263646566")", "0123456789abcdef");
  expect_form(scalar(TypeKind::TimeUuid), R"("30313233-3435-1637-b839-616263646566")",
              "\x16\x37\x34\x35\x30\x31\x32\x33\xb8\x39"s + "abcdef");
  expect_form(scalar(TypeKind::Inet), R"("127.0.0.1")", "\4\x7f\0\0\1"s);
  expect_form(scalar(TypeKind::Inet), R"("::1")", "\6"s + std::string(15, '\0') + '\1');
  expect_read(scalar(TypeKind::Timestamp), R"("1970-01-01T02:00:00+02:00")", 0);
}

TEST_F(DatumJson, KeepsJsonAsItIs) {
  expect_form(scalar(TypeKind::Json), R"({"b":[1,2.5,null],"a":{"c":"é"}})", R"({"b":[1,2.5,null],"a":{"c":"é"}})");
  expect_read(scalar(TypeKind::Json), R"(  "text" )", R"("text")");
  expect_refused(scalar(TypeKind::Json), "null", {"required", "a value is required"});
}

TEST_F(DatumJson, RefusesWhatIsOfAnotherType) {
  expect_refused(scalar(TypeKind::Bool), "1", {"value", "expected bool, not 1"});
  expect_refused(integer(), "1.0", {"value", "expected int, not 1.0"});
  expect_refused(integer(), R"("1")", {"value", R"(expected int, not "1")"});
  expect_refused(integer(), "9223372036854775808", {"value", "expected int, not 9223372036854775808"});
  expect_refused(optional(integer()), "true", {"value", "expected int, not true"});
  expect_refused(scalar(TypeKind::Float), R"("1")", {"value", R"(expected float, not "1")"});
  expect_refused(text(), "5", {"value", "expected text, not 5"});
  expect_refused(text(8), "[]", {"value", "expected text(8), not an array"});
  expect_refused(text(), "\"a\\u0000\"", {"value", "expected text, not \"a\\u0000\""});
  expect_refused(sample::enumeration({"open", "paid"}), R"("gone")",
                 {"value", R"(expected "open" | "paid", not "gone")"});
  expect_refused(scalar(TypeKind::Timestamp), R"("2024-02-30T00:00:00Z")",
                 {"value", R"(expected timestamp, not "2024-02-30T00:00:00Z")"});
  expect_refused(scalar(TypeKind::Date), "0", {"value", "expected date, not 0"});
  expect_refused(scalar(TypeKind::Bytes), R"("A")", {"value", R"(expected bytes, not "A")"});
  expect_refused(scalar(TypeKind::Inet), R"("1.2.3")", {"value", R"(expected inet, not "1.2.3")"});
  expect_refused(scalar(TypeKind::Uuid), "{}", {"value", "expected uuid, not an object"});
  expect_refused(scalar(TypeKind::TimeUuid), R"("30313233-3435-4637-b839-616263646566")",
                 {"value", R"(expected timeuuid, not "30313233-3435-4637-b839-616263646566")"});
}

TEST_F(DatumJson, ShowsOnlyTheBeginningOfSomethingLong) {
  const auto refused = read(integer(), '"' + std::string(58, 'x') + "éé" + std::string(1000, 'x') + '"');
  EXPECT_EQ(refused.refusal().reason, "expected int, not \"" + std::string(58, 'x') + "…");
}

TEST_F(DatumJson, RefusesNumbersThatAreNotFinite) {
  const auto refused = read_json(model, scalar(TypeKind::Float), Json(std::numeric_limits<double>::infinity()));
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_EQ(refused.refusal().code, "value");
}

TEST_F(DatumJson, RefusesBytesThatAreNoText) {
  for (const TypeKind kind : {TypeKind::Text, TypeKind::Json}) {
    const auto refused = read_json(model, scalar(kind), Json("\xFF"));
    ASSERT_FALSE(static_cast<bool>(refused));
    EXPECT_EQ(refused.refusal().code, "value");
  }
}

TEST_F(DatumJson, HasAbsentAsNull) {
  expect_form(optional(integer()), "null", Datum());
  expect_refused(integer(), "null", {"required", "a value is required"});
  expect_refused(collection_of(TypeKind::List, integer()), "null", {"required", "a value is required"});
  EXPECT_EQ(read_json(model, integer(), nullptr, "count").refusal().reason, "count: a value is required");
}

TEST_F(DatumJson, HasReferencesAsKeys) {
  expect_form(reference(product), R"("p1")", "p1");
  expect_form(reference(review), R"(["p1","1970-01-01T00:00:00.007Z"])", List{"p1", 7});
  expect_form(reference(vote), R"(["p1","1970-01-01T00:00:00.007Z"])", List{"p1", 7});
  expect_refused(reference(product), "1", {"value", "expected text(20), not 1"});
  expect_refused(reference(review), R"("p1")", {"value", R"(expected Review, not "p1")"});
  expect_refused(reference(review), R"(["p1"])", {"value", "a key of Review has 2 parts, not 1"});
  expect_refused(reference(review), R"(["p1",null])", {"required", "at: a value is required"});
  expect_refused(reference(vote), R"(["p1",5])", {"value", "at: expected timestamp, not 5"});
}

TEST_F(DatumJson, HasValuesAsObjects) {
  expect_form(line_type(), R"({"product":"p1","qty":3,"note":null,"tags":["a","b"]})",
              List{"p1", 3, Datum(), List{"a", "b"}});
  expect_refused(line_type(), "[]", {"value", "expected Line, not an array"});
  expect_refused(line_type(), R"({"product":"p1","quantity":3})", {"value", "Line has no `quantity`"});
}

TEST_F(DatumJson, GivesMissingMembersTheirDefault) {
  expect_read(line_type(), R"({"product":"p1"})", List{"p1", 1, Datum(), List{}});
  expect_refused(line_type(), R"({"product":"p1","qty":null})", {"required", "qty: a value is required"});
  expect_refused(line_type(), R"({"qty":3})", {"required", "product: a value is required"});
}

TEST_F(DatumJson, NamesThePlaceOfWhatItRefuses) {
  const Type remarks = collection_of(TypeKind::List, sample::value_type(remark));
  const auto refused = [&](const std::string& json) {
    const auto out = read_json(model, remarks, Json::parse(json), "remarks");
    return out ? "" : out.refusal().reason;
  };
  EXPECT_EQ(refused(R"([{"body":""},{"line":{"product":"p1","tags":["a",7]},"body":""}])"),
            "remarks[1].line.tags[1]: expected text(3), not 7");
  EXPECT_EQ(refused(R"([{"line":{"x":1},"body":""}])"), "remarks[0].line: Line has no `x`");
  EXPECT_EQ(refused(R"([{}])"), "remarks[0].body: a value is required");
  EXPECT_EQ(refused("7"), "remarks: expected list<Remark>, not 7");
}

TEST_F(DatumJson, HasListsAndSetsAsArrays) {
  expect_form(collection_of(TypeKind::List, integer()), "[3,1,3]", List{3, 1, 3});
  expect_form(collection_of(TypeKind::Set, integer()), "[1,3]", List{1, 3});
  expect_read(collection_of(TypeKind::Set, integer()), "[3,1,3]", List{1, 3});
  expect_refused(collection_of(TypeKind::Set, integer()), "{}", {"value", "expected set<int>, not an object"});
  expect_refused(collection_of(TypeKind::List, integer()), "[1,null]", {"required", "[1]: a value is required"});
}

TEST_F(DatumJson, HasMapsAsArraysOfPairs) {
  const Type type = map_of(text(), integer());
  expect_form(type, R"([["a",1],["b",2]])", List{List{"a", 1}, List{"b", 2}});
  expect_read(type, R"([["b",2],["a",1],["b",3]])", List{List{"a", 1}, List{"b", 3}});
  expect_read(type, R"({"b":2,"a":1})", List{List{"a", 1}, List{"b", 2}});
  expect_read(type, "[]", List{});
  expect_read(type, "{}", List{});
  expect_read(map_of(reference(product), integer()), R"({"p1":2})", List{List{"p1", 2}});
  expect_read(map_of(scalar(TypeKind::Date), integer()), R"({"1970-01-02":2})", List{List{1, 2}});
  expect_form(map_of(reference(review), line_type()),
              R"([[["p1","1970-01-01T00:00:00.007Z"],{"product":"p2","qty":1,"note":null,"tags":[]}]])",
              List{List{List{"p1", 7}, List{"p2", 1, Datum(), List{}}}});
  expect_refused(type, R"([["a"]])", {"value", "[0]: expected [key, value], not an array"});
  expect_refused(type, R"(["a"])", {"value", R"([0]: expected [key, value], not "a")"});
  expect_refused(type, R"([["a",null]])", {"required", "[0]: a value is required"});
  expect_refused(type, R"({"a":"x"})", {"value", R"(["a"]: expected int, not "x")"});
  expect_refused(type, "7", {"value", "expected map<text, int>, not 7"});
  expect_refused(map_of(integer(), integer()), R"({"1":2})", {"value", R"(["1"]: expected int, not "1")"});
}

TEST_F(DatumJson, HasRowsAsObjects) {
  const Type rows = sample::row(TypeKind::Rows, {"id", "n"}, {text(), optional(integer())});
  const Type row = sample::row(TypeKind::Row, {"id", "last"}, {text(), rows});
  expect_form(rows, R"([{"id":"a","n":1},{"id":"b","n":null}])", List{List{"a", 1}, List{"b", Datum()}});
  expect_form(row, R"({"id":"a","last":[{"id":"b","n":2}]})", List{"a", List{List{"b", 2}}});
  expect_form(optional(row), "null", Datum());
  expect_read(row, R"({"id":"a"})", List{"a", List{}});
  expect_refused(row, R"({"id":"a","m":1})", {"value", "the row has no `m`"});
  expect_refused(rows, R"([{"id":5}])", {"value", "[0].id: expected text, not 5"});
  expect_refused(rows, "{}", {"value", "expected list<{ id: text, n: int? }>, not an object"});
}

TEST_F(DatumJson, WritesAggregatesWithoutTheirHiddenKey) {
  const Datum fields = List{"p1", 7, "good", std::string(16, 'x')};
  EXPECT_EQ(write_aggregate_json(model, model.entity(review), fields, {}).dump(),
            R"({"product":"p1","at":"1970-01-01T00:00:00.007Z","body":"good"})");
  EXPECT_EQ(write_aggregate_json(model, model.entity(review), fields, {1}).dump(), R"({"product":"p1","body":"good"})");
}

TEST(InitialValue, IsTheDefaultElseNothing) {
  Field one = field("n", optional(integer()));
  EXPECT_EQ(initial_value(one), Datum());
  one.initial = sample::number(5);
  EXPECT_EQ(initial_value(one), Datum(5));

  Field set = field("s", collection_of(TypeKind::Set, integer()));
  EXPECT_EQ(initial_value(set), Datum(List{}));
  Expr elements;
  elements.kind = ExprKind::List;
  elements.type = set.type;
  elements.operands = {sample::number(2), sample::number(1), sample::number(2)};
  set.initial = elements;
  EXPECT_EQ(initial_value(set), Datum(List{1, 2}));
  elements.type.kind = TypeKind::List;
  set.initial = elements;
  EXPECT_EQ(initial_value(set), Datum(List{2, 1, 2}));

  Field map = field("m", map_of(text(), integer()));
  Expr entries;
  entries.kind = ExprKind::Map;
  entries.type = map.type;
  entries.operands = {sample::words("b"), sample::number(1), sample::words("a"), sample::number(2)};
  map.initial = entries;
  EXPECT_EQ(initial_value(map), Datum(List{List{"a", 2}, List{"b", 1}}));

  Field value = field("v", sample::value_type(0));
  Expr record;
  record.kind = ExprKind::Record;
  record.operands = {sample::words("x"), entries};
  value.initial = record;
  EXPECT_EQ(initial_value(value), Datum(List{"x", List{List{"a", 2}, List{"b", 1}}}));
  value.initial = sample::instance(product, {sample::words("p1")});
  EXPECT_EQ(initial_value(value), Datum("p1"));
  value.initial = sample::instance(review, {sample::words("p1"), sample::number(7)});
  EXPECT_EQ(initial_value(value), Datum(List{"p1", 7}));
}

class Storable : public testing::Test {
 protected:
  [[nodiscard]] std::string refused(const Type& type, const Datum& datum, const std::string& name = "f") const {
    const auto out = storable(model, type, datum, name);
    return out ? out->code + ", " + out->reason : "";
  }
  [[nodiscard]] std::string key_refused(EntityId entity, const Datum& key) const {
    const auto out = storable_key(model, entity, key);
    return out ? out->code + ", " + out->reason : "";
  }

  Model model = shop();
};

TEST_F(Storable, AsksLengths) {
  Type bytes = scalar(TypeKind::Bytes);
  bytes.max_length = 2;
  EXPECT_EQ(refused(text(2), "éé"), "");
  EXPECT_EQ(refused(text(2), "éée"), "value, f: 3 characters, at most 2 fit");
  EXPECT_EQ(refused(bytes, "éé"), "value, f: 4 bytes, at most 2 fit");
  EXPECT_EQ(refused(text(), std::string(10'000, 'x')), "");
  EXPECT_EQ(refused(collection_of(TypeKind::List, text(2)), List{"a", "abc"}),
            "value, f[1]: 3 characters, at most 2 fit");
  EXPECT_EQ(refused(map_of(text(2), text(1)), List{List{"abc", ""}}), "value, f[0]: 3 characters, at most 2 fit");
  EXPECT_EQ(refused(map_of(text(2), text(1)), List{List{"", "ab"}}), "value, f[0]: 2 characters, at most 1 fit");
}

TEST_F(Storable, AsksEnumerations) {
  EXPECT_EQ(refused(sample::enumeration({"open", "paid"}), "paid"), "");
  EXPECT_EQ(refused(optional(sample::enumeration({"open", "paid"})), "x"),
            R"(value, f: expected "open" | "paid", not "x")");
}

TEST_F(Storable, AsksPresence) {
  EXPECT_EQ(refused(optional(text(2)), Datum()), "");
  EXPECT_EQ(refused(text(2), Datum()), "required, f: a value is required");
  EXPECT_EQ(refused(line_type(), List{"p", Datum(), Datum(), List{}}), "required, f.qty: a value is required");
  EXPECT_EQ(refused(line_type(), List{"p", 1, "123456", List{}}), "value, f.note: 6 characters, at most 5 fit");
  EXPECT_EQ(refused(line_type(), List{"p", 1, Datum(), List{"abcd"}}), "value, f.tags[0]: 4 characters, at most 3 fit");
}

TEST_F(Storable, AsksThatReferencesAreKeys) {
  EXPECT_EQ(refused(reference(product), "p"), "");
  EXPECT_EQ(refused(reference(product), ""), "key, f: a key is never empty text");
  EXPECT_EQ(refused(reference(product), std::string(21, 'x')), "value, f: 21 characters, at most 20 fit");
  EXPECT_EQ(refused(reference(vote), List{"", 7}), "key, f.product: a key is never empty text");
  EXPECT_EQ(refused(optional(reference(product)), Datum()), "");
  EXPECT_EQ(refused(collection_of(TypeKind::Set, reference(product)), List{"", "p"}),
            "key, f[0]: a key is never empty text");
  EXPECT_EQ(refused(line_type(), List{"", 1, Datum(), List{}}), "key, f.product: a key is never empty text");
  // Elsewhere texts may be empty.
  EXPECT_EQ(refused(map_of(text(), text()), List{List{"", ""}}), "");
  // Limits before keys.
  EXPECT_EQ(refused(line_type(), List{"", 1, "123456", List{}}), "value, f.note: 6 characters, at most 5 fit");
}

TEST_F(Storable, AsksKeys) {
  EXPECT_EQ(key_refused(product, "p"), "");
  EXPECT_EQ(key_refused(product, ""), "key, sku: a key is never empty text");
  EXPECT_EQ(key_refused(product, std::string(21, 'x')), "value, sku: 21 characters, at most 20 fit");
  EXPECT_EQ(key_refused(review, List{"p", 7}), "");
  EXPECT_EQ(key_refused(review, List{"", 7}), "key, product: a key is never empty text");
  EXPECT_EQ(key_refused(review, List{"p", Datum()}), "required, at: a value is required");

  model.entities[0].fields[0].type = scalar(TypeKind::Bytes);
  EXPECT_EQ(key_refused(product, ""), "key, sku: a key is never empty bytes");
  EXPECT_EQ(key_refused(product, std::string(1024, 'x')), "");
  EXPECT_EQ(key_refused(product, std::string(1025, 'x')), "key, sku: 1025 bytes, a key takes at most 1024");
  EXPECT_EQ(key_refused(review, List{std::string(1016, 'x'), 7}), "");
  EXPECT_EQ(key_refused(review, List{std::string(1017, 'x'), 7}), "key, 1025 bytes, a key takes at most 1024");
}

TEST_F(Storable, CountsTheBytesOfKeys) {
  const auto bytes = [&](TypeKind kind, const Datum& datum) { return key_bytes(model, scalar(kind), datum); };
  EXPECT_EQ(bytes(TypeKind::Bool, true), 1U);
  EXPECT_EQ(bytes(TypeKind::Date, 1), 4U);
  EXPECT_EQ(bytes(TypeKind::Int, 1), 8U);
  EXPECT_EQ(bytes(TypeKind::Timestamp, 1), 8U);
  EXPECT_EQ(bytes(TypeKind::Uuid, std::string(16, 'x')), 16U);
  EXPECT_EQ(bytes(TypeKind::TimeUuid, std::string(16, 'x')), 16U);
  EXPECT_EQ(bytes(TypeKind::Inet, "\4\x7f\0\0\1"s), 17U);
  EXPECT_EQ(bytes(TypeKind::Decimal, Decimal(1)), 20U);
  EXPECT_EQ(bytes(TypeKind::Text, "é"), 2U);
  EXPECT_EQ(bytes(TypeKind::Enumeration, "open"), 4U);
  EXPECT_EQ(bytes(TypeKind::Bytes, "abc"), 3U);
  EXPECT_EQ(key_bytes(model, reference(vote), List{"abc", 7}), 11U);
}

TEST_F(Storable, NamesInstances) {
  EXPECT_EQ(instance_name(model, product, "say \"hi\""), R"(Product "say \"hi\"")");
  EXPECT_EQ(instance_name(model, product, std::string(1'000, 'x')), "Product \"" + std::string(199, 'x') + "…");
  EXPECT_EQ(instance_name(model, vote, List{"p", 7}), R"(Vote ["p","1970-01-01T00:00:00.007Z"])");
}

}  // namespace
}  // namespace noam::model
