#include "noam/runtime/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "noam/model/scalars.h"

namespace noam::runtime {
namespace {

using model::Decimal;
using model::Fold;
using model::Function;
using model::TypeKind;
using List = Datum::List;
using Words = std::vector<std::string>;

Datum decimal(const char* text) { return Decimal::parse(text).value(); }
Datum timestamp(const char* text) { return model::parse_timestamp(text).value(); }
Datum date(const char* text) { return model::parse_date(text).value(); }

// The result of an operation, and that it fits.
template <typename Operation>
Datum fits(const Operation& operation) {
  auto overflow = Overflow::No;
  Datum out = operation(overflow);
  EXPECT_EQ(overflow, Overflow::No);
  return out;
}

template <typename Operation>
bool overflows(const Operation& operation) {
  auto overflow = Overflow::No;
  const Datum out = operation(overflow);
  return overflow == Overflow::Yes && out.absent();
}

Datum sum_of(TypeKind kind, const Datum& a, const Datum& b) {
  return fits([&](Overflow& overflow) { return add(kind, a, b, overflow); });
}

Datum difference_of(TypeKind kind, const Datum& a, const Datum& b) {
  return fits([&](Overflow& overflow) { return subtract(kind, a, b, overflow); });
}

Datum product_of(const Datum& a, const Datum& b) {
  return fits([&](Overflow& overflow) { return multiply(a, b, overflow); });
}

bool sum_overflows(TypeKind kind, const Datum& a, const Datum& b) {
  return overflows([&](Overflow& overflow) { return add(kind, a, b, overflow); });
}

bool difference_overflows(TypeKind kind, const Datum& a, const Datum& b) {
  return overflows([&](Overflow& overflow) { return subtract(kind, a, b, overflow); });
}

bool product_overflows(const Datum& a, const Datum& b) {
  return overflows([&](Overflow& overflow) { return multiply(a, b, overflow); });
}

TEST(Arithmetic, AddsSubtractsAndMultiplies) {
  EXPECT_EQ(sum_of(TypeKind::Int, 2, 3), Datum(5));
  EXPECT_EQ(sum_of(TypeKind::Float, 0.5, 0.25), Datum(0.75));
  EXPECT_EQ(sum_of(TypeKind::Decimal, decimal("0.1"), decimal("0.2")), decimal("0.3"));
  EXPECT_EQ(difference_of(TypeKind::Int, 2, 3), Datum(-1));
  EXPECT_EQ(difference_of(TypeKind::Float, 0.5, 0.75), Datum(-0.25));
  EXPECT_EQ(difference_of(TypeKind::Decimal, decimal("1"), decimal("0.9")), decimal("0.1"));
  EXPECT_EQ(product_of(6, 7), Datum(42));
  EXPECT_EQ(product_of(0.5, -4.0), Datum(-2.0));
  EXPECT_FALSE(std::signbit(product_of(0.0, -4.0).as_double()));
  EXPECT_EQ(product_of(decimal("1.5"), decimal("1.5")), decimal("2.25"));
}

TEST(Arithmetic, GivesAbsentWhereAnOperandIs) {
  EXPECT_TRUE(sum_of(TypeKind::Int, Datum(), 3).absent());
  EXPECT_TRUE(sum_of(TypeKind::Timestamp, 3, Datum()).absent());
  EXPECT_TRUE(difference_of(TypeKind::Decimal, decimal("1"), Datum()).absent());
  EXPECT_TRUE(product_of(Datum(), 0.5).absent());
  EXPECT_TRUE(fits([](Overflow& overflow) { return negate(Datum(), overflow); }).absent());
  EXPECT_TRUE(to_decimal(Datum()).absent());
}

TEST(Arithmetic, SaysWhatDoesNotFit) {
  EXPECT_TRUE(sum_overflows(TypeKind::Int, INT64_MAX, 1));
  EXPECT_TRUE(difference_overflows(TypeKind::Int, INT64_MIN, 1));
  EXPECT_TRUE(product_overflows(INT64_MIN, -1));
  EXPECT_TRUE(sum_overflows(TypeKind::Float, 1e308, 1e308));
  EXPECT_TRUE(difference_overflows(TypeKind::Float, -1e308, 1e308));
  EXPECT_TRUE(product_overflows(1e200, 1e200));
  EXPECT_TRUE(sum_overflows(TypeKind::Decimal, decimal("1e34"), decimal("1")));
  EXPECT_TRUE(difference_overflows(TypeKind::Decimal, decimal("1e34"), decimal("0.1")));
  EXPECT_TRUE(product_overflows(decimal("1e-60"), decimal("1e-60")));
  EXPECT_TRUE(overflows([](Overflow& overflow) { return negate(INT64_MIN, overflow); }));
}

TEST(Arithmetic, Negates) {
  const auto negated = [](const Datum& datum) {
    return fits([&](Overflow& overflow) { return negate(datum, overflow); });
  };
  EXPECT_EQ(negated(5), Datum(-5));
  EXPECT_EQ(negated(0.5), Datum(-0.5));
  EXPECT_FALSE(std::signbit(negated(0.0).as_double()));
  EXPECT_EQ(negated(decimal("0.5")), decimal("-0.5"));
}

TEST(Arithmetic, WidensIntsToDecimals) {
  EXPECT_EQ(to_decimal(-7), decimal("-7"));
  EXPECT_EQ(to_decimal(decimal("0.5")), decimal("0.5"));
}

TEST(Arithmetic, MovesTimes) {
  EXPECT_EQ(sum_of(TypeKind::Timestamp, timestamp("2024-02-28T23:59:00.001Z"), 1441),
            timestamp("2024-03-01T00:00:00.001Z"));
  EXPECT_EQ(difference_of(TypeKind::Timestamp, timestamp("1970-01-01T00:00:00Z"), 1),
            timestamp("1969-12-31T23:59:00Z"));
  EXPECT_EQ(sum_of(TypeKind::Date, date("2024-02-28"), 2 * 1440), date("2024-03-01"));
  EXPECT_EQ(difference_of(TypeKind::Date, date("2024-03-01"), 1440), date("2024-02-29"));
  EXPECT_EQ(sum_of(TypeKind::Date, date("2024-03-01"), -1440), date("2024-02-29"));
}

TEST(Arithmetic, KeepsTimesInTheirYears) {
  EXPECT_EQ(sum_of(TypeKind::Date, date("9999-12-30"), 1440), date("9999-12-31"));
  EXPECT_TRUE(sum_overflows(TypeKind::Date, date("9999-12-31"), 1440));
  EXPECT_EQ(difference_of(TypeKind::Date, date("0001-01-02"), 1440), date("0001-01-01"));
  EXPECT_TRUE(difference_overflows(TypeKind::Date, date("0001-01-01"), 1440));
  EXPECT_TRUE(sum_overflows(TypeKind::Date, date("2024-01-01"), 60));
  EXPECT_EQ(sum_of(TypeKind::Timestamp, timestamp("9999-12-31T23:58:59.999Z"), 1),
            timestamp("9999-12-31T23:59:59.999Z"));
  EXPECT_TRUE(sum_overflows(TypeKind::Timestamp, timestamp("9999-12-31T23:59:00Z"), 1));
  EXPECT_EQ(difference_of(TypeKind::Timestamp, timestamp("0001-01-01T00:01:00Z"), 1),
            timestamp("0001-01-01T00:00:00Z"));
  EXPECT_TRUE(difference_overflows(TypeKind::Timestamp, timestamp("0001-01-01T00:00:59.999Z"), 1));
  for (const std::int64_t minutes : {INT64_MAX, INT64_MIN, INT64_MIN + 128}) {
    for (const TypeKind kind : {TypeKind::Timestamp, TypeKind::Date}) {
      EXPECT_TRUE(sum_overflows(kind, 0, minutes));
      EXPECT_TRUE(difference_overflows(kind, 0, minutes));
    }
  }
}

TEST(GreatestAndLeast, AreAbsentWhereOneIs) {
  EXPECT_EQ(greatest({1, 3, 2}), Datum(3));
  EXPECT_EQ(least({2, 1, 3}), Datum(1));
  EXPECT_TRUE(greatest({1, Datum(), 2}).absent());
  EXPECT_TRUE(least({1, Datum(), 2}).absent());
  EXPECT_EQ(greatest({decimal("9"), decimal("10")}), decimal("10"));
}

TEST(Period, StartsAt) {
  const auto start = [](Function unit, const char* time) {
    return model::print_timestamp(period_start(unit, TypeKind::Timestamp, timestamp(time)).as_int());
  };
  EXPECT_EQ(start(Function::Minute, "2024-02-29T23:59:59.999Z"), "2024-02-29T23:59:00.000Z");
  EXPECT_EQ(start(Function::Hour, "2024-02-29T23:59:59.999Z"), "2024-02-29T23:00:00.000Z");
  EXPECT_EQ(start(Function::Day, "2024-02-29T23:59:59.999Z"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(start(Function::Week, "2024-02-29T23:59:59.999Z"), "2024-02-26T00:00:00.000Z");
  EXPECT_EQ(start(Function::Month, "2024-02-29T23:59:59.999Z"), "2024-02-01T00:00:00.000Z");
  EXPECT_EQ(start(Function::Year, "2024-02-29T23:59:59.999Z"), "2024-01-01T00:00:00.000Z");
  EXPECT_EQ(start(Function::Minute, "1969-12-31T23:59:59.999Z"), "1969-12-31T23:59:00.000Z");
  EXPECT_EQ(start(Function::Hour, "1969-12-31T23:00:00.000Z"), "1969-12-31T23:00:00.000Z");
  EXPECT_EQ(start(Function::Week, "1969-12-31T23:00:00.000Z"), "1969-12-29T00:00:00.000Z");
  EXPECT_EQ(start(Function::Week, "1970-01-01T00:00:00Z"), "1969-12-29T00:00:00.000Z");
  for (const Function unit :
       {Function::Minute, Function::Hour, Function::Day, Function::Week, Function::Month, Function::Year}) {
    EXPECT_EQ(start(unit, "0001-01-01T00:00:00Z"), "0001-01-01T00:00:00.000Z");
  }
  EXPECT_TRUE(period_start(Function::Day, TypeKind::Timestamp, Datum()).absent());
}

TEST(Period, StartsAtOfDates) {
  const auto start = [](Function unit, const char* time) {
    return model::print_date(period_start(unit, TypeKind::Date, date(time)).as_int());
  };
  EXPECT_EQ(start(Function::Day, "2024-02-29"), "2024-02-29");
  EXPECT_EQ(start(Function::Week, "2024-02-25"), "2024-02-19");
  EXPECT_EQ(start(Function::Week, "2024-02-26"), "2024-02-26");
  EXPECT_EQ(start(Function::Month, "2024-02-29"), "2024-02-01");
  EXPECT_EQ(start(Function::Year, "1969-02-28"), "1969-01-01");
}

TEST(Period, IsFollowedBy) {
  const auto next = [](Function unit, const char* time) {
    return model::print_timestamp(next_period(unit, TypeKind::Timestamp, timestamp(time)).as_int());
  };
  EXPECT_EQ(next(Function::Minute, "2024-02-29T23:59:00Z"), "2024-03-01T00:00:00.000Z");
  EXPECT_EQ(next(Function::Hour, "2024-02-29T23:00:00Z"), "2024-03-01T00:00:00.000Z");
  EXPECT_EQ(next(Function::Day, "2024-02-28T00:00:00Z"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(next(Function::Week, "2024-02-26T00:00:00Z"), "2024-03-04T00:00:00.000Z");
  EXPECT_EQ(next(Function::Month, "2024-12-01T00:00:00Z"), "2025-01-01T00:00:00.000Z");
  EXPECT_EQ(next(Function::Year, "2024-01-01T00:00:00Z"), "2025-01-01T00:00:00.000Z");
  EXPECT_EQ(next_period(Function::Month, TypeKind::Date, date("2024-02-01")), date("2024-03-01"));
  EXPECT_TRUE(next_period(Function::Year, TypeKind::Timestamp, timestamp("9999-01-01T00:00:00Z")).absent());
  EXPECT_TRUE(next_period(Function::Minute, TypeKind::Timestamp, timestamp("9999-12-31T23:59:00Z")).absent());
  EXPECT_TRUE(next_period(Function::Week, TypeKind::Date, date("9999-12-27")).absent());
  EXPECT_EQ(next_period(Function::Week, TypeKind::Date, date("9999-12-20")), date("9999-12-27"));
  EXPECT_TRUE(next_period(Function::Day, TypeKind::Date, Datum()).absent());
}

TEST(Period, HoldsEveryTimeOnce) {
  EXPECT_TRUE(rc::check([] {
    const auto unit = *rc::gen::element(Function::Minute, Function::Hour, Function::Day, Function::Week,
                                        Function::Month, Function::Year);
    const Datum time = *rc::gen::inRange<std::int64_t>(-62'135'596'800'000, 253'000'000'000'000);
    const Datum start = period_start(unit, TypeKind::Timestamp, time);
    const Datum next = next_period(unit, TypeKind::Timestamp, start);
    RC_ASSERT(start <= time && time < next);
    RC_ASSERT(period_start(unit, TypeKind::Timestamp, start) == start);
    RC_ASSERT(period_start(unit, TypeKind::Timestamp, next) == next);
    RC_ASSERT(period_start(unit, TypeKind::Timestamp, next.as_int() - 1) == start);
  }));
}

TEST(Comparison, IsFalseWhereOneIsAbsent) {
  EXPECT_TRUE(equal(1, 1));
  EXPECT_FALSE(equal(1, 2));
  EXPECT_FALSE(equal(Datum(), Datum()));
  EXPECT_FALSE(equal(1, Datum()));
  EXPECT_TRUE(less(1, 2));
  EXPECT_FALSE(less(2, 2));
  EXPECT_FALSE(less(Datum(), 2));
  EXPECT_TRUE(less_equal(2, 2));
  EXPECT_FALSE(less_equal(3, 2));
  EXPECT_FALSE(less_equal(Datum(), Datum()));
  // Values are equal field by field.
  EXPECT_TRUE(equal(List{1, Datum()}, List{1, Datum()}));
}

TEST(Membership, IsAskedOfElementsAndKeys) {
  EXPECT_TRUE(contains(TypeKind::List, List{3, 1}, 1));
  EXPECT_FALSE(contains(TypeKind::List, List{3, 1}, 2));
  EXPECT_TRUE(contains(TypeKind::Set, List{1, 3}, 3));
  EXPECT_FALSE(contains(TypeKind::Set, List{1, 3}, 2));
  EXPECT_TRUE(contains(TypeKind::Map, List{List{"a", 1}, List{"b", 2}}, "b"));
  EXPECT_FALSE(contains(TypeKind::Map, List{List{"a", 1}, List{"c", 2}}, "b"));
  EXPECT_FALSE(contains(TypeKind::Map, List{List{"a", 1}}, 1));
  EXPECT_FALSE(contains(TypeKind::Set, List{}, 1));
  EXPECT_FALSE(contains(TypeKind::List, List{1}, Datum()));
  EXPECT_FALSE(contains(TypeKind::List, Datum(), 1));
}

TEST(StartsWith, ComparesBytes) {
  EXPECT_TRUE(starts_with("abc", "ab"));
  EXPECT_TRUE(starts_with("abc", ""));
  EXPECT_FALSE(starts_with("abc", "B"));
  EXPECT_FALSE(starts_with("ab", "abc"));
  EXPECT_FALSE(starts_with(Datum(), ""));
  EXPECT_FALSE(starts_with("abc", Datum()));
}

TEST(WordsOfAText, AreRunsOfLettersMarksAndDigits) {
  EXPECT_EQ(words("The quick, brown fox; the lazy-dog 42!"),
            (Words{"42", "brown", "dog", "fox", "lazy", "quick", "the"}));
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(" ,.\U0001F600 "), Words{});
  EXPECT_EQ(words("don't snake_case"), (Words{"case", "don", "snake", "t"}));
  EXPECT_EQ(words("e\u0301te\u0301"), (Words{"e\u0301te\u0301"}));                // marks; no normalisation
  EXPECT_EQ(words("\u0663\u0664 x\u00B2 \u2167"), (Words{"x", "\u0663\u0664"}));  // decimal digits only
  EXPECT_EQ(words("日本語、テスト"), (Words{"テスト", "日本語"}));
  EXPECT_EQ(words("one\xFFtwo"), (Words{"one", "two"}));
}

TEST(WordsOfAText, AreCaseFolded) {
  EXPECT_EQ(words("STRASSE Straße strasse"), (Words{"strasse"}));
  EXPECT_EQ(words("ΣΊΣΥΦΟΣ σίσυφος"), (Words{"σίσυφοσ"}));
  EXPECT_EQ(words("İ"), (Words{"i\u0307"}));
  EXPECT_EQ(words("ÉTÉ été"), (Words{"été"}));
}

TEST(WordsOfAText, AreAskedAllOrAny) {
  EXPECT_TRUE(contains_all("The quick brown fox", "FOX the"));
  EXPECT_FALSE(contains_all("The quick brown fox", "fox dog"));
  EXPECT_TRUE(contains_any("The quick brown fox", "dog, fox!"));
  EXPECT_FALSE(contains_any("The quick brown fox", "dog"));
  EXPECT_FALSE(contains_any("foxes", "fox"));
  EXPECT_TRUE(contains_all("anything", "…"));
  EXPECT_FALSE(contains_any("anything", "…"));
  EXPECT_TRUE(contains_all("", ""));
  EXPECT_FALSE(contains_all(Datum(), ""));
  EXPECT_FALSE(contains_any(Datum(), "fox"));
  EXPECT_FALSE(contains_all("fox", Datum()));
  EXPECT_FALSE(contains_any("fox", Datum()));
}

TEST(Element, IsFoundByPositionOrKey) {
  const Datum list = List{10, 20, 30};
  EXPECT_EQ(element(TypeKind::List, list, 0), Datum(10));
  EXPECT_EQ(element(TypeKind::List, list, 2), Datum(30));
  EXPECT_EQ(element(TypeKind::List, list, -1), Datum(30));
  EXPECT_EQ(element(TypeKind::List, list, -3), Datum(10));
  for (const std::int64_t position : {std::int64_t{3}, std::int64_t{-4}, INT64_MIN, INT64_MAX}) {
    EXPECT_TRUE(element(TypeKind::List, list, position).absent());
  }
  const Datum map = List{List{"a", 1}, List{"c", 2}};
  EXPECT_EQ(element(TypeKind::Map, map, "c"), Datum(2));
  EXPECT_TRUE(element(TypeKind::Map, map, "b").absent());
  EXPECT_TRUE(element(TypeKind::Map, map, "d").absent());
  EXPECT_TRUE(element(TypeKind::Map, Datum(), "d").absent());
  EXPECT_TRUE(element(TypeKind::List, list, Datum()).absent());
}

// Data lies where these say: they never change.
TEST(Shard, IsTheSameForEver) {
  const List values = {Datum(), false, true, 42, 0.5, decimal("1.5"), "", "mary", List{"mary", 42}};
  std::vector<std::int64_t> shards;
  for (const Datum& value : values) shards.push_back(shard(value, 1'000'000));
  EXPECT_EQ(shards,
            (std::vector<std::int64_t>{801883, 404715, 752127, 708021, 461753, 612190, 339089, 651987, 549934}));
}

TEST(Shard, SpreadsEvenly) {
  std::array<int, 16> hits{};
  for (int i = 0; i < 16'000; ++i) {
    const std::int64_t chosen = shard(i, 16);
    ASSERT_GE(chosen, 0);
    ASSERT_LT(chosen, 16);
    ++hits[static_cast<std::size_t>(chosen)];
  }
  for (const int hit : hits) EXPECT_NEAR(hit, 1000, 200);
  EXPECT_EQ(shard("anything", 1), 0);
  EXPECT_NE(shard(List{"ab", "c"}, INT64_MAX), shard(List{"a", "bc"}, INT64_MAX));
}

using Weighted = std::vector<std::pair<Datum, std::int64_t>>;

Folding folding(Fold fold, TypeKind kind, const Weighted& values, bool distinct = false) {
  Folding out(fold, distinct, kind);
  for (const auto& [value, weight] : values) out.take(value, weight);
  return out;
}

Datum fold_of(Fold fold, TypeKind kind, const Weighted& values, bool distinct = false) {
  return fits([&](Overflow& overflow) { return folding(fold, kind, values, distinct).result(overflow); });
}

bool fold_overflows(Fold fold, TypeKind kind, const Weighted& values) {
  return overflows([&](Overflow& overflow) { return folding(fold, kind, values).result(overflow); });
}

TEST(Folds, HaveAResultForNothing) {
  EXPECT_EQ(fold_of(Fold::Count, TypeKind::Text, {}), Datum(0));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Int, {}), Datum(0));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Float, {}), Datum(0.0));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Decimal, {}), decimal("0"));
  for (const Fold fold : {Fold::Min, Fold::Max, Fold::Avg}) {
    EXPECT_TRUE(fold_of(fold, TypeKind::Int, {}).absent());
    EXPECT_TRUE(fold_of(fold, TypeKind::Int, {{Datum(), 1}}).absent());
  }
}

TEST(Folds, CountValuesThatAreThere) {
  EXPECT_EQ(fold_of(Fold::Count, TypeKind::Text, {{"a", 1}, {Datum(), 5}, {"a", 2}, {"b", 0}}), Datum(3));
  EXPECT_EQ(fold_of(Fold::Count, TypeKind::Text, {{"a", 1}, {Datum(), 5}, {"a", 2}, {"b", 1}}, true), Datum(2));
  Folding rows(Fold::Count, false, TypeKind::Unknown);
  rows.count_row(1);
  rows.count_row(4);
  EXPECT_EQ(fits([&](Overflow& overflow) { return rows.result(overflow); }), Datum(5));
  EXPECT_EQ(rows.counted(), 5);
  EXPECT_TRUE(fold_overflows(Fold::Count, TypeKind::Int, {{1, INT64_MAX}, {1, 1}}));
  EXPECT_TRUE(fold_overflows(Fold::Avg, TypeKind::Int, {{1, INT64_MAX}, {1, 1}}));
}

TEST(Folds, CountDistinctValuesAmongMany) {
  Folding distinct(Fold::Count, true, TypeKind::Int);
  for (int i = 0; i < 20'000; ++i) distinct.take(i % 3000, 1);
  EXPECT_EQ(distinct.counted(), 3000);
  EXPECT_EQ(fits([&](Overflow& overflow) { return distinct.result(overflow); }), Datum(3000));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Int, {{2, 1}, {3, 1}, {2, 7}}, true), Datum(5));
}

TEST(Folds, FindTheLeastAndTheGreatest) {
  const Weighted texts = {{"b", 1}, {Datum(), 1}, {"a", 2}, {"c", 1}};
  EXPECT_EQ(fold_of(Fold::Min, TypeKind::Text, texts), Datum("a"));
  EXPECT_EQ(fold_of(Fold::Max, TypeKind::Text, texts), Datum("c"));
  EXPECT_EQ(fold_of(Fold::Max, TypeKind::Decimal, {{decimal("9"), 1}, {decimal("10"), 1}}), decimal("10"));
}

TEST(Folds, SumIntsExactly) {
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Int, {{1, 1}, {2, 3}, {Datum(), 1}}), Datum(7));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Int, {{INT64_MAX, 1}, {INT64_MAX, 1}, {INT64_MIN, 1}, {INT64_MIN, 1}}),
            Datum(-2));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Int, {{INT64_MAX, INT64_MAX}, {-INT64_MAX, INT64_MAX}, {5, 1}}), Datum(5));
  EXPECT_TRUE(fold_overflows(Fold::Sum, TypeKind::Int, {{INT64_MAX, 1}, {1, 1}}));
  EXPECT_TRUE(fold_overflows(Fold::Sum, TypeKind::Int, {{INT64_MAX, 2}}));
  EXPECT_EQ(folding(Fold::Sum, TypeKind::Int, {{INT64_MAX, 2}, {3, 1}}).exact_sum().text(), "18446744073709551617");
}

TEST(Folds, SumDecimalsExactly) {
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Decimal, {{decimal("0.1"), 3}, {decimal("-0.2"), 1}}), decimal("0.1"));
  EXPECT_EQ(fold_of(Fold::Sum, TypeKind::Decimal,
                    {{decimal("1e100"), 1}, {decimal("1e-100"), 1}, {decimal("-1e100"), 1}}),
            decimal("1e-100"));
  EXPECT_TRUE(fold_overflows(Fold::Sum, TypeKind::Decimal, {{decimal("1e100"), 1}, {decimal("1e-100"), 1}}));
}

TEST(Folds, SumFloatsToTheNearest) {
  const auto sum = [](const Weighted& values) { return fold_of(Fold::Sum, TypeKind::Float, values); };
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(sum({{0.1, 10}}), Datum(1.0));
  EXPECT_EQ(sum({{0.1, 3}}), Datum(0.30000000000000004));
  EXPECT_EQ(sum({{1e308, 1}, {1e308, 1}, {-1e308, 1}, {-1e308, 1}, {0.5, 1}}), Datum(0.5));
  EXPECT_EQ(sum({{most, INT64_MAX}, {least, 1}, {-most, INT64_MAX}}), Datum(least));
  EXPECT_EQ(sum({{-most, INT64_MAX}, {-least, 3}, {most, INT64_MAX}}), Datum(-3 * least));
  EXPECT_EQ(sum({{9007199254740992.0, 1}, {1.0, 1}}), Datum(9007199254740992.0));  // ties to even
  EXPECT_EQ(sum({{9007199254740992.0, 1}, {1.0, 1}, {least, 1}}), Datum(9007199254740994.0));
  EXPECT_EQ(sum({{9007199254740992.0, 1}, {1.0, 3}}), Datum(9007199254740996.0));
  EXPECT_EQ(sum({{0.5, 1}, {-0.5, 1}}), Datum(0.0));
  EXPECT_EQ(sum({{1.5, 3}, {1.5, -1}}), Datum(3.0));  // what is taken away again
  EXPECT_EQ(sum({{most, 1}, {std::ldexp(1, 969), 1}}), Datum(most));
  EXPECT_TRUE(fold_overflows(Fold::Sum, TypeKind::Float, {{most, 1}, {std::ldexp(1, 970), 1}}));
  EXPECT_TRUE(fold_overflows(Fold::Sum, TypeKind::Float, {{-most, 2}}));
}

TEST(Folds, SumFloatsInAnyOrderToTheSame) {
  EXPECT_TRUE(rc::check([] {
    Weighted values;
    Decimal exact;
    const int count = *rc::gen::inRange(1, 30);
    for (int i = 0; i < count; ++i) {
      const auto mantissa = *rc::gen::arbitrary<std::int32_t>();
      const int exponent = *rc::gen::inRange(-1074, 900);
      const auto weight = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
      values.emplace_back(std::ldexp(static_cast<double>(mantissa), exponent), weight);
      const std::array<std::uint64_t, 1> magnitude{static_cast<std::uint64_t>(std::abs(std::int64_t{mantissa}))};
      exact = exact + Decimal::from_binary(mantissa < 0, magnitude, exponent) * Decimal(weight);
    }
    const Datum sum = fold_of(Fold::Sum, TypeKind::Float, values);
    RC_ASSERT(sum == Datum(exact.to_double()));
    std::reverse(values.begin(), values.end());
    RC_ASSERT(fold_of(Fold::Sum, TypeKind::Float, values) == sum);
  }));
}

TEST(Folds, AverageToTheNearest) {
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Int, {{1, 1}, {2, 1}}), Datum(1.5));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Int, {{1, 2}, {0, 1}, {Datum(), 7}}), Datum(2.0 / 3.0));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Int, {{INT64_MAX, 3}}), Datum(9223372036854775808.0));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Float, {{0.1, 1}, {0.2, 1}, {0.3, 1}}), Datum(0.2));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Float, {{1e308, 5}}), Datum(1e308));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Float, {{1e308, 1}, {-1e308, 1}, {3.0, 1}}), Datum(1.0));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Decimal, {{decimal("1"), 1}, {decimal("0"), 2}}),
            decimal("0.3333333333333333333333333333333333"));
  EXPECT_EQ(fold_of(Fold::Avg, TypeKind::Decimal, {{decimal("1e-100"), 2}, {decimal("0"), 1}}), decimal("1e-100"));
  // 10^133 has no place among decimals, though both of these have.
  EXPECT_TRUE(fold_overflows(Fold::Avg, TypeKind::Decimal,
                             {{decimal("1000000000000000000000000000000001e100"), 1},
                              {decimal("999999999999999999999999999999999e100"), 1}}));
}

TEST(Folds, TakeWhatWasFoldedElsewhere) {
  Folding count(Fold::Count, false, TypeKind::Text);
  count.take("a", 2);
  count.take_folded(40, Datum());
  EXPECT_EQ(fits([&](Overflow& overflow) { return count.result(overflow); }), Datum(42));

  Folding average(Fold::Avg, false, TypeKind::Int);
  average.take(7, 1);
  average.take_folded(2, decimal("18446744073709551616"));
  average.take_folded(1, decimal("-18446744073709551616"));
  EXPECT_EQ(fits([&](Overflow& overflow) { return average.result(overflow); }), Datum(1.75));
  EXPECT_EQ(average.exact_sum().text(), "7");

  Folding floats(Fold::Sum, false, TypeKind::Float);
  floats.take(0.5, 1);
  floats.take_folded(2, folding(Fold::Sum, TypeKind::Float, {{0.1, 1}, {0.25, 1}}).exact_sum());
  floats.take(-0.75, 1);
  EXPECT_EQ(fits([&](Overflow& overflow) { return floats.result(overflow); }), Datum(0.1));

  Folding least_one(Fold::Min, false, TypeKind::Int);
  least_one.take(7, 1);
  least_one.take_folded(3, 5);
  least_one.take_folded(3, 6);
  least_one.take_folded(0, Datum());
  EXPECT_EQ(fits([&](Overflow& overflow) { return least_one.result(overflow); }), Datum(5));

  Folding greatest_one(Fold::Max, false, TypeKind::Int);
  greatest_one.take_folded(3, 5);
  greatest_one.take(7, 1);
  greatest_one.take_folded(3, 6);
  EXPECT_EQ(fits([&](Overflow& overflow) { return greatest_one.result(overflow); }), Datum(7));
}

}  // namespace
}  // namespace noam::runtime
