#include "noam/model/packed.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace noam::model {
namespace {

class Bytes final : public Shared {
 public:
  explicit Bytes(std::string bytes) : text(std::move(bytes)) {}
  const std::string text;
};

std::string packed(const Datum& datum) {
  std::string out;
  append_packed(datum, out);
  return out;
}

// Scalars of all kinds, short and long, in lists of lists.
rc::Gen<Datum> some_datum(int depth) {
  const auto scalar = rc::gen::oneOf(
      rc::gen::just(Datum()), rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return Datum(value); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t value) { return Datum(value); }),
      rc::gen::map(rc::gen::arbitrary<double>(), [](double value) { return Datum(value); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t value) { return Datum(Decimal(value)); }),
      rc::gen::map(rc::gen::inRange<std::size_t>(0, 300),
                   [](std::size_t size) { return Datum(std::string(size, 'x')); }));
  if (depth == 0) return scalar;
  return rc::gen::oneOf(scalar, rc::gen::map(rc::gen::container<std::vector<Datum>>(some_datum(depth - 1)),
                                             [](std::vector<Datum> list) { return Datum(std::move(list)); }));
}

// In place or copied, it is what it was, also when the reader of the bytes has long let go of them.
RC_GTEST_PROP(Packed, IsReadAsItWasWritten, ()) {
  const Datum datum = *some_datum(3);
  const std::string bytes = packed(datum);
  std::string_view rest = bytes;
  Datum copied;
  RC_ASSERT(take_packed(rest, nullptr, copied));
  RC_ASSERT(rest.empty());
  RC_ASSERT(copied == datum);
  auto* owner = new Bytes(bytes);
  rest = owner->text;
  Datum in_place;
  RC_ASSERT(take_packed(rest, owner, in_place));
  RC_ASSERT(rest.empty());
  owner->let_go();
  RC_ASSERT(packed(in_place) == bytes);  // without unpacking it
  RC_ASSERT(in_place == datum);
  RC_ASSERT(packed(in_place) == bytes);
}

TEST(Packed, IsChangedAfterItWasRead) {
  auto* owner = new Bytes(packed(Datum::List{Datum::List{1, 2}, std::string(40, 'y')}));
  std::string_view rest = owner->text;
  Datum datum;
  ASSERT_TRUE(take_packed(rest, owner, datum));
  owner->let_go();
  const Datum before = datum;
  datum.change_list()[0].change_list().emplace_back(3);
  EXPECT_EQ(datum, Datum(Datum::List{Datum::List{1, 2, 3}, std::string(40, 'y')}));
  EXPECT_EQ(before, Datum(Datum::List{Datum::List{1, 2}, std::string(40, 'y')}));
  EXPECT_EQ(datum.as_list()[0].list_size(), 3U);
  EXPECT_EQ(packed(datum), packed(Datum::List{Datum::List{1, 2, 3}, std::string(40, 'y')}));
  EXPECT_FALSE(datum.packed());
  EXPECT_TRUE(before.packed());
}

TEST(Packed, LiesInTheMemoryOfItsOwner) {
  const std::string bytes = packed(1) + packed(std::string(40, 'y'));
  auto* owner = new Bytes(std::string(Datum::packed_list_room, '\0') + bytes);
  char* room = const_cast<char*>(owner->text.data());
  std::uint32_t held = 1;
  Datum list =
      Datum::packed_list_at(room, std::string_view(owner->text).substr(Datum::packed_list_room), 2, *owner, held);
  EXPECT_EQ(held, 0U);
  const Datum other = list;
  EXPECT_EQ(list.packed(), bytes);
  const Datum text = list.as_list()[1];
  EXPECT_EQ(list, Datum(Datum::List{1, std::string(40, 'y')}));
  list.change_list().emplace_back(3);
  EXPECT_EQ(list.list_size(), 3U);
  list = Datum();
  EXPECT_EQ(other.list_size(), 2U);
  EXPECT_EQ(text, Datum(std::string(40, 'y')));
}

TEST(Packed, IsShort) {
  EXPECT_EQ(packed(1).size(), 2U);
  EXPECT_EQ(packed("ann").size(), 5U);
  EXPECT_EQ(packed(Datum::List{}).size(), 3U);
}

}  // namespace
}  // namespace noam::model
