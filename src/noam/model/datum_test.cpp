#include "noam/model/datum.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/model/scalars.h"

namespace noam::model {
namespace {

using namespace std::string_literals;
using List = Datum::List;

Datum decimal(const char* text) { return Decimal::parse(text).value(); }

void expect_ascending(const List& ascending) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i] <=> ascending[j], i <=> j) << i << " and " << j;
      EXPECT_EQ(ascending[i] == ascending[j], i == j) << i << " and " << j;
    }
  }
}

TEST(Datum, IsAbsentAtFirst) {
  EXPECT_TRUE(Datum().absent());
  EXPECT_FALSE(Datum(false).absent());
  EXPECT_FALSE(Datum(List{}).absent());
  EXPECT_FALSE(Datum("").absent());
}

TEST(Datum, HoldsAsAPredicate) {
  EXPECT_TRUE(Datum(true).holds());
  EXPECT_FALSE(Datum(false).holds());
  EXPECT_FALSE(Datum().holds());
}

TEST(Datum, HasOneZero) {
  EXPECT_FALSE(std::signbit(Datum(-0.0).as_double()));
  EXPECT_EQ(Datum(-0.0), Datum(0.0));
}

TEST(Datum, OrdersTheValuesOfOneType) {
  expect_ascending({Datum(), false, true});
  expect_ascending({Datum(), INT64_MIN, -1, 0, 1, INT64_MAX});
  expect_ascending({Datum(), -1e300, -0.5, 0.0, 5e-324, 0.5, 1e300});
  expect_ascending({Datum(), decimal("-10"), decimal("-9.5"), decimal("0"), decimal("0.05"), decimal("10")});
  expect_ascending({Datum(), "", "A", "a", "aa", "b", "é", "\U0001F600", "\xFF"s});
  expect_ascending({Datum(), List{}, List{Datum()}, List{1}, List{1, Datum()}, List{1, 1}, List{2}});
  expect_ascending({"", "\0"s, "\0\0"s, "\1"s});
}

TEST(Datum, HashesEqualValuesEqually) {
  const List values = {Datum(),      false,      true,          0,     1,      0.0,          1.0,     decimal("0"),
                       decimal("1"), "",         "0",           "1",   List{}, List{""},     List{0}, List{1},
                       List{0, 1},   List{1, 0}, List{List{0}}, "abc", "\0"s,  List{Datum()}};
  for (const Datum& a : values) {
    for (const Datum& b : values) EXPECT_EQ(hash_value(a) == hash_value(b), a == b);
  }
  EXPECT_EQ(hash_value(-0.0), hash_value(0.0));
}

TEST(Datum, ReadsLiteralsByTheirType) {
  struct Case {
    TypeKind kind;
    Literal literal;
    Datum datum;
  };
  const std::vector<Case> cases = {
      {TypeKind::Int, Literal(), Datum()},
      {TypeKind::Bool, true, true},
      {TypeKind::Int, std::int64_t{7}, 7},
      {TypeKind::Timestamp, std::int64_t{-1}, -1},
      {TypeKind::Float, 1.5, 1.5},
      {TypeKind::Decimal, "1.5"s, decimal("1.5")},
      {TypeKind::Text, "1.5"s, "1.5"},
      {TypeKind::Bytes, "\0\1"s, "\0\1"s},
      {TypeKind::Uuid, "0123456789abcdef"s, "0123456789abcdef"},
      {TypeKind::TimeUuid, "0123456789abcdef"s, "6745012389abcdef"},
      {TypeKind::Inet, "\x7f\0\0\1"s, "\4\x7f\0\0\1"s},
      {TypeKind::Inet, std::string(16, 'x'), "\6" + std::string(16, 'x')},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(from_literal(scalar(one.kind), one.literal), one.datum);
    EXPECT_EQ(to_literal(scalar(one.kind), one.datum), one.literal);
  }
  EXPECT_EQ(from_literal(scalar(TypeKind::Float), std::int64_t{2}), Datum(2.0));
  EXPECT_EQ(from_literal(scalar(TypeKind::Decimal), std::int64_t{2}), decimal("2"));
}

TEST(Datum, SortsTimeuuidsByTheirTime) {
  // Ascending in time, though not in raw bytes.
  const std::vector<std::string> ascending = {
      "ffffffff-0000-1000-8000-000000000000", "00000000-0001-1000-8000-000000000000",
      "00000000-0001-1000-8000-000000000001", "00000000-0001-1000-bfff-000000000000",
      "00000001-0001-1000-8000-000000000000", "00000000-0000-1001-8000-000000000000",
      "00000000-0000-1fff-8000-000000000000"};
  List sortable;
  for (const std::string& text : ascending) {
    const std::string raw = parse_uuid(text).value();
    sortable.push_back(to_sortable(raw));
    EXPECT_EQ(from_sortable(to_sortable(raw)), raw);
  }
  expect_ascending(sortable);
}

TEST(Datum, SortsAddressesOfTheOldFamilyFirst) {
  List sortable;
  for (const auto* text : {"0.0.0.0", "10.0.0.1", "255.255.255.255", "::", "::ffff:1.2.3.4", "2001:db8::1"}) {
    const std::string raw = parse_inet(text).value();
    sortable.push_back(to_inet(raw));
    EXPECT_EQ(from_inet(to_inet(raw)), raw);
  }
  expect_ascending(sortable);
}

TEST(Datum, MakesSetsAndMapsOfAnyOrder) {
  EXPECT_EQ(make_set({3, 1, 2, 3, 1}), Datum(List{1, 2, 3}));
  EXPECT_EQ(make_set({}), Datum(List{}));
  EXPECT_EQ(make_map({List{"b", 1}, List{"a", 2}, List{"b", 3}, List{"b", 4}}),
            Datum(List{List{"a", 2}, List{"b", 4}}));
  EXPECT_EQ(make_map({}), Datum(List{}));
}

TEST(Datum, HasNothingForEachType) {
  EXPECT_TRUE(nothing(scalar(TypeKind::Int)).absent());
  EXPECT_TRUE(nothing(scalar(TypeKind::Value)).absent());
  EXPECT_TRUE(nothing(scalar(TypeKind::Row)).absent());
  for (const TypeKind kind : {TypeKind::List, TypeKind::Set, TypeKind::Map, TypeKind::Rows}) {
    EXPECT_EQ(nothing(scalar(kind)), Datum(List{}));
  }
}

TEST(Datum, TakesAboutSoManyBytes) {
  EXPECT_EQ(bytes_of("abc"), 3U);
  EXPECT_EQ(bytes_of("é"), 2U);
  EXPECT_EQ(bytes_of(1), 8U);
  EXPECT_EQ(bytes_of(1.5), 8U);
  EXPECT_EQ(bytes_of(decimal("1.5")), 8U);
  EXPECT_EQ(bytes_of(List{"abc", List{1, 2}}), 19U);
}

// What is assigned may be part of what it replaces.
TEST(Datum, IsReplacedByItsOwnElement) {
  const std::string bytes = "a text that is too long to lie in a datum";
  Datum datum = Datum::List{Datum::List{bytes, 1}, 2};
  datum = datum.as_list()[0];
  EXPECT_EQ(datum, Datum(Datum::List{bytes, 1}));
  datum = std::move(datum.change_list()[0]);
  EXPECT_EQ(datum, Datum(bytes));
  const Datum& itself = datum;
  datum = itself;
  EXPECT_EQ(datum.as_string(), bytes);
}

TEST(Datum, MayBeAnEmptyList) {
  Datum list = Datum::List();
  EXPECT_TRUE(list.is_list());
  EXPECT_EQ(list.list_size(), 0U);
  EXPECT_TRUE(list.as_list().empty());
  EXPECT_FALSE(list.packed());
  const Datum before = list;
  list.change_list().emplace_back(1);
  EXPECT_EQ(list, Datum(Datum::List{1}));
  EXPECT_EQ(before, Datum(Datum::List()));
  list.change_list().clear();
  EXPECT_EQ(list, before);
  EXPECT_EQ(hash_value(list), hash_value(before));
  EXPECT_LT(before, Datum(Datum::List{Datum()}));
  EXPECT_NE(before, Datum());
}

TEST(Datum, ChangesNothingThatIsShared) {
  Datum one = Datum::List{1, Datum::List{2, 3}};
  const Datum other = one;
  one.change_list()[1].change_list()[0] = 5;
  EXPECT_EQ(one, Datum(Datum::List{1, Datum::List{5, 3}}));
  EXPECT_EQ(other, Datum(Datum::List{1, Datum::List{2, 3}}));
}

}  // namespace
}  // namespace noam::model
