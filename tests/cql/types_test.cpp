#include <limits>

#include "tests/cql/server.h"

// Values of every type, to the server and back. What the server makes of the bytes shows as its own text, by casts.
namespace noam::tests {
namespace {

using cql::Cell;
using cql::Response;
using cql::Values;
using namespace std::chrono_literals;

class Types : public ServerTest {
 protected:
  // The value of a column of this type, after it was written.
  Response round_trip(const std::string& type, const Values& value) {
    execute("CREATE TABLE IF NOT EXISTS KS.t" + std::to_string(++tables_) + " (id int PRIMARY KEY, v " + type + ")");
    const std::string table = "KS.t" + std::to_string(tables_);
    auto insert = request(prepare("INSERT INTO " + table + " (v, id) VALUES (?, 1)"), value);
    run(insert);
    Response response = run(request(prepare("SELECT v FROM " + table + " WHERE id = 1")));
    EXPECT_EQ(response.row_count(), 1U);
    return response;
  }

  // As the server shows it.
  std::string shown(const std::string& type, const Values& value) {
    round_trip(type, value);
    const auto response =
        run(request(prepare("SELECT cast(v AS text) FROM KS.t" + std::to_string(tables_) + " WHERE id = 1")));
    return response.row_count() == 1 ? std::string(*response.row(0)[0].text()) : "";
  }

 private:
  int tables_ = 0;
};

TEST_F(Types, OfNumbers) {
  EXPECT_EQ(*round_trip("bigint", Values().bigint(std::numeric_limits<std::int64_t>::min())).row(0)[0].bigint(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(shown("bigint", Values().bigint(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(shown("int", Values().integer(-2)), "-2");
  EXPECT_EQ(shown("boolean", Values().boolean(true)), "true");
  EXPECT_EQ(shown("double", Values().floating(-0.1)), "-0.1");
  EXPECT_EQ(*round_trip("double", Values().floating(0.1)).row(0)[0].floating(), 0.1);
  EXPECT_EQ(*round_trip("int", Values().integer(7)).row(0)[0].integer(), 7);
  EXPECT_EQ(*round_trip("boolean", Values().boolean(false)).row(0)[0].boolean(), false);
}

TEST_F(Types, OfDecimals) {
  for (const char* text : {"0", "-1", "12.50", "-0.05", "-128", "-129", "99999999999999999999999999999999.99",
                           "-123456789012345678901234567890.123456789"}) {
    Values value;
    ASSERT_TRUE(value.decimal(text));
    EXPECT_EQ(shown("decimal", value), text);
    EXPECT_EQ(*round_trip("decimal", value).row(0)[0].decimal(), text);
  }
}

TEST_F(Types, OfTimes) {
  using namespace std::chrono;
  EXPECT_EQ(shown("date", Values().date(sys_days(1969y / 12 / 31))), "1969-12-31");
  EXPECT_EQ(shown("date", Values().date(sys_days(2024y / 2 / 29))), "2024-02-29");
  EXPECT_EQ(*round_trip("date", Values().date(sys_days(1066y / 10 / 14))).row(0)[0].date(), sys_days(1066y / 10 / 14));
  EXPECT_EQ(shown("timestamp", Values().timestamp(cql::Milliseconds(-1ms))), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(*round_trip("timestamp", Values().timestamp(cql::Milliseconds(-1ms))).row(0)[0].timestamp(),
            cql::Milliseconds(-1ms));
}

TEST_F(Types, OfIdsAndAddresses) {
  const cql::Uuid id{0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0x1D, 0xEF, 0x81, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(shown("uuid", Values().uuid(id)), "12345678-9abc-1def-8102-030405060708");
  EXPECT_EQ(*round_trip("timeuuid", Values().uuid(id)).row(0)[0].uuid(), id);
  Values v4, v6;
  ASSERT_TRUE(v4.inet("10.0.0.1") && v6.inet("2001:db8::1"));
  EXPECT_EQ(*round_trip("inet", v4).row(0)[0].inet(), "10.0.0.1");
  EXPECT_EQ(*round_trip("inet", v6).row(0)[0].inet(), "2001:db8::1");
}

TEST_F(Types, OfTextsAndBytes) {
  const std::string text = "Grüße, 世界 🎲";
  EXPECT_EQ(*round_trip("text", Values().text(text)).row(0)[0].text(), text);
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(*round_trip("blob", Values().blob(bytes)).row(0)[0].blob(), bytes);
  const auto empty = round_trip("text", Values().text(""));
  EXPECT_FALSE(empty.row(0)[0].is_null());
  EXPECT_EQ(*empty.row(0)[0].text(), "");
  const auto wrong = session().prepare("INSERT INTO " + keyspace() + ".t1 (id, v) VALUES (2, ?)");
  ASSERT_TRUE(wrong);
  const auto refused = session().run(request(*wrong, Values().text("\xff")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().kind, cql::FailureKind::Refused);
}

TEST_F(Types, OfCollections) {
  const auto list = round_trip("list<text>", Values().list(Values().text("b").text("a").text("")));
  const auto elements = list.row(0)[0].list();
  ASSERT_EQ(elements->size(), 3U);
  EXPECT_EQ(*(*elements)[0].text(), "b");
  EXPECT_EQ(*(*elements)[2].text(), "");
  EXPECT_EQ(list.column_type(0), "list<text>");

  const auto set = round_trip("frozen<set<int>>", Values().list(Values().integer(2).integer(1).integer(2)));
  const auto members = set.row(0)[0].list();
  ASSERT_EQ(members->size(), 2U);
  EXPECT_EQ(*(*members)[0].integer(), 1);

  const auto map = round_trip("map<text, bigint>", Values().map(Values().text("k").bigint(-1)));
  const auto pairs = map.row(0)[0].map();
  ASSERT_EQ(pairs->size(), 2U);
  EXPECT_EQ(*(*pairs)[1].bigint(), -1);
}

TEST_F(Types, OfTuplesAndUserDefinedTypes) {
  execute("CREATE TYPE KS.round (number int, moves frozen<list<text>>, note text)");
  const Values round = Values().tuple(Values().integer(3).list(Values().text("e4").text("e5")).null());
  const auto udt = round_trip("frozen<KS.round>", round);
  const auto fields = udt.row(0)[0].tuple();
  ASSERT_EQ(fields->size(), 3U);
  EXPECT_EQ(*(*fields)[0].integer(), 3);
  EXPECT_EQ(*(*(*fields)[1].list())[1].text(), "e5");
  EXPECT_TRUE((*fields)[2].is_null());

  const auto rounds = round_trip("frozen<list<frozen<KS.round>>>", Values().list(Values(round)));
  ASSERT_EQ(rounds.row(0)[0].list()->size(), 1U);
  EXPECT_EQ((*rounds.row(0)[0].list())[0].tuple()->size(), 3U);

  const auto tuple = round_trip("tuple<int, text>", Values().tuple(Values().null().text("x")));
  EXPECT_EQ(*(*tuple.row(0)[0].tuple())[1].text(), "x");
}

TEST_F(Types, OfNothing) {
  for (const char* type : {"int", "text", "decimal", "frozen<list<int>>", "uuid"}) {
    EXPECT_TRUE(round_trip(type, Values().null()).row(0)[0].is_null()) << type;
    EXPECT_TRUE(round_trip(type, Values().unset()).row(0)[0].is_null()) << type;
  }
}

TEST_F(Types, UnsetLeavesAColumnAlone) {
  execute("CREATE TABLE KS.two (id int PRIMARY KEY, a int, b int)");
  const auto insert = prepare("INSERT INTO KS.two (id, a, b) VALUES (1, ?, ?)");
  run(request(insert, Values().integer(1).integer(2)));
  run(request(insert, Values().unset().null()));
  const auto response = run(request(prepare("SELECT a, b FROM KS.two WHERE id = 1")));
  EXPECT_EQ(*response.row(0)[0].integer(), 1);
  EXPECT_TRUE(response.row(0)[1].is_null());
}

}  // namespace
}  // namespace noam::tests
