#include "noam/model/view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace noam::model {
namespace {

class Bytes final : public Shared {
 public:
  std::string bytes;
};

// The same datum, packed as it comes from a store.
Datum packed(const Datum& datum) {
  auto* made = new Bytes;
  append_packed(datum, made->bytes);
  Datum out;
  std::string_view rest = made->bytes;
  EXPECT_TRUE(take_packed(rest, made, out));
  made->let_go();
  return out;
}

std::string shown(const View& view) {
  if (view.absent()) return "-";
  if (view.is_bool()) return view.as_bool() ? "true" : "false";
  if (view.is_int()) return std::to_string(view.as_int());
  if (view.is_double()) return std::to_string(view.as_double());
  if (view.is_decimal()) return std::string(view.decimal_text());
  if (view.is_string()) return "'" + std::string(view.as_string()) + "'";
  std::string out = std::to_string(view.list_size()) + "[";
  view.each([&](const View& element) { out += shown(element) + " "; });
  return out + "]";
}

TEST(View, ShowsWhatIsThere) {
  const Datum all(Datum::List{Datum(), true, false, -7, INT64_MIN, 0.5, *Decimal::parse("-12.50"), "short",
                              std::string(100, 'x'), Datum::List{}, Datum::List{1, Datum::List{"deep"}}});
  const std::string expected = "11[- true false -7 -9223372036854775808 0.500000 -12.5 'short' '" +
                               std::string(100, 'x') + "' 0[] 2[1 1['deep' ] ] ]";
  EXPECT_EQ(shown(View(all)), expected);
  const Datum same = packed(all);
  ASSERT_TRUE(same.packed());
  EXPECT_EQ(shown(View(same)), expected);
  EXPECT_EQ(shown(View(same.as_list()[10])), "2[1 1['deep' ] ]");
  EXPECT_EQ(shown(View(Datum())), "-");
}

TEST(ViewDeathTest, OfSomethingElseIsAskedForNothing) {
  EXPECT_DEATH((void)View(Datum(1)).as_string(), "a view is asked for what it is");
}

}  // namespace
}  // namespace noam::model
