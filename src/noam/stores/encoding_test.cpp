#include "noam/stores/encoding.h"

#include <algorithm>
#include <compare>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "noam/model/packed.h"

namespace noam::stores {
namespace {

using model::Datum;
using model::Decimal;

std::string ordered(const Datum& datum, bool descending = false) {
  std::string out;
  append_ordered(datum, descending, out);
  return out;
}

int sign(std::strong_ordering order) { return std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0; }
int sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

rc::Gen<Datum> datum_of(int kind) {
  switch (kind) {
    case 0:
      return rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return Datum(value); });
    case 1:
      return rc::gen::oneOf(
          rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t value) { return Datum(value); }),
          rc::gen::map(rc::gen::inRange<std::int64_t>(-300, 300), [](std::int64_t value) { return Datum(value); }),
          rc::gen::element(Datum(std::numeric_limits<std::int64_t>::min()),
                           Datum(std::numeric_limits<std::int64_t>::max())));
    case 2:
      return rc::gen::map(rc::gen::arbitrary<double>(), [](double value) { return Datum(value); });
    case 3:
      return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange(-40, 40)),
                          [](const std::pair<std::int64_t, int>& of) {
                            Decimal number(of.first);
                            for (int i = 0; i < of.second; ++i) number = number * Decimal(10);
                            for (int i = 0; i > of.second; --i) number = number * *Decimal::parse("0.1");
                            return Datum(number);
                          });
    default:
      return rc::gen::map(rc::gen::container<std::string>(rc::gen::element('\0', '\1', 'a', 'b', '\xFE', '\xFF')),
                          [](std::string value) { return Datum(std::move(value)); });
  }
}

// Absent, a datum of the kind, or lists of such.
rc::Gen<Datum> some_datum(int kind, int depth) {
  const auto one = rc::gen::oneOf(rc::gen::just(Datum()), datum_of(kind), datum_of(kind));
  if (depth == 0) return one;
  return rc::gen::map(rc::gen::container<std::vector<Datum>>(some_datum(kind, depth - 1)),
                      [](std::vector<Datum> list) { return Datum(std::move(list)); });
}

RC_GTEST_PROP(Encoding, OrdersAsDatumsDo, ()) {
  const int kind = *rc::gen::inRange(0, 5);
  const int depth = *rc::gen::inRange(0, 3);
  const Datum a = *some_datum(kind, depth);
  const Datum b = *some_datum(kind, depth);
  RC_ASSERT(sign(ordered(a).compare(ordered(b))) == sign(a <=> b));
  RC_ASSERT(sign(ordered(b, true).compare(ordered(a, true))) == sign(a <=> b));
  if (a != b) RC_ASSERT(!ordered(a).starts_with(ordered(b)) && !ordered(a, true).starts_with(ordered(b, true)));
  for (const bool descending : {false, true}) {
    const auto first = static_cast<unsigned char>(ordered(a, descending).front());
    RC_ASSERT(first >= 0x02 && first <= 0xFD);
  }
}

RC_GTEST_PROP(Encoding, ReadsWhatItWrote, ()) {
  const int kind = *rc::gen::inRange(0, 5);
  const Datum datum = *some_datum(kind, *rc::gen::inRange(0, 3));
  for (const bool descending : {false, true}) {
    const std::string bytes = ordered(datum, descending) + "rest";
    std::string_view rest = bytes;
    Datum read;
    RC_ASSERT(take_ordered(rest, descending, read));
    RC_ASSERT(read == datum);
    RC_ASSERT(rest == "rest");
  }
  std::string bytes;
  model::append_packed(datum, bytes);
  std::string_view rest = bytes;
  Datum read;
  RC_ASSERT(model::take_packed(rest, nullptr, read));
  RC_ASSERT(read == datum);
  RC_ASSERT(rest.empty());
}

// Whatever the bytes, reading ends, and says false or gives something that can be written again.
RC_GTEST_PROP(Encoding, PacksKeysAsTheyWouldBe, ()) {
  const Datum datum = *some_datum(*rc::gen::inRange(0, 5), *rc::gen::inRange(0, 2));
  const bool descending = *rc::gen::arbitrary<bool>();
  const std::string bytes = ordered(datum, descending) + "and what follows";
  std::string_view rest = bytes;
  std::string packed(bytes.size() + model::packed_beyond, '\0');
  packed.resize(model::pack_ordered(rest, descending, packed.data()));
  RC_ASSERT(packed.empty() == !(datum.is_int() || datum.is_string()));
  RC_ASSERT(rest == (packed.empty() ? std::string_view(bytes) : "and what follows"));
  if (packed.empty()) return;
  std::string expected;
  model::append_packed(datum, expected);
  RC_ASSERT(packed == expected);
}

RC_GTEST_PROP(Encoding, SurvivesDamage, ()) {
  std::string bytes = write_values({*some_datum(*rc::gen::inRange(0, 5), 2), *some_datum(*rc::gen::inRange(0, 5), 1)});
  std::string key = ordered(*some_datum(*rc::gen::inRange(0, 5), 2));
  for (std::string* text : {&bytes, &key}) {
    if (text->empty()) continue;
    (*text)[*rc::gen::inRange<std::size_t>(0, text->size())] ^= static_cast<char>(*rc::gen::inRange(1, 256));
    if (*rc::gen::arbitrary<bool>()) text->resize(*rc::gen::inRange<std::size_t>(0, text->size()));
  }
  std::vector<Datum> columns;
  if (read_values(bytes, columns)) {
    std::vector<Datum> again;
    RC_ASSERT(read_values(write_values(columns), again));
  }
  std::string_view rest = key;
  Datum datum;
  (void)take_ordered(rest, *rc::gen::arbitrary<bool>(), datum);
}

TEST(Encoding, KeepsKeysShort) {
  EXPECT_EQ(ordered(0).size(), 1U);
  EXPECT_EQ(ordered(-1).size(), 2U);
  EXPECT_EQ(ordered(std::int64_t{1'790'000'000'000}).size(), 7U);  // a timestamp of our days
  EXPECT_EQ(ordered("ann").size(), 6U);
}

TEST(Encoding, WantsNothingBehindTheColumns) {
  std::vector<Datum> out;
  EXPECT_TRUE(read_values(write_values({1, "a", Datum()}), out));
  EXPECT_EQ(out, (std::vector<Datum>{1, "a", Datum()}));
  EXPECT_FALSE(read_values(write_values({1, "a"}) + "x", out));
  EXPECT_FALSE(read_values("", out));
  EXPECT_FALSE(read_values("\xFF\xFF\xFF\xFF\x7F", out));  // more than there can be
}

}  // namespace
}  // namespace noam::stores
