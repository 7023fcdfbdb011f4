#include "noam/stores/appends.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/stores/encoding.h"

namespace noam::stores {
namespace {

using model::Datum;
using model::Decimal;

Datum list(std::vector<Datum> elements) { return Datum(Datum::List(std::move(elements))); }

std::string operand(const Key& elements) { return write_elements(Append{{}, elements}); }

std::optional<std::string> appended(const Key& columns, const std::vector<std::string>& operands) {
  const std::vector<std::string_view> all(operands.begin(), operands.end());
  return append_elements(write_values(columns), all);
}

std::optional<std::string> joined(const std::vector<std::string>& operands) {
  return join_elements(std::vector<std::string_view>(operands.begin(), operands.end()));
}

TEST(Appends, AreWhatWritingTheLongerListWouldBe) {
  EXPECT_EQ(appended({list({}), 7}, {operand({list({1})})}), write_values({list({1}), 7}));
  EXPECT_EQ(appended({list({1}), list({"a"})},
                     {operand({list({2, 3})}), operand({Datum(), list({"b"})}), operand({list({4}), list({})})}),
            write_values({list({1, 2, 3, 4}), list({"a", "b"})}));
}

TEST(Appends, AreJoinedToOneThatDoesTheSame) {
  const std::vector<std::string> several{operand({list({2}), Datum()}), operand({Datum(), list({"b"})}),
                                         operand({list({3}), list({"c", Decimal(4)})})};
  const auto one = joined(several);
  ASSERT_TRUE(one);
  EXPECT_TRUE(is_elements(*one));
  const Key columns{list({1}), list({"a"})};
  EXPECT_EQ(appended(columns, {*one}), appended(columns, several));
}

TEST(Appends, GrowBeyondEachLengthOfALength) {
  std::mt19937 random(5);
  Datum::List all;
  std::string value = write_values({list({})});
  for (int i = 0; i < 300; ++i) {
    all.emplace_back(std::string(random() % 200, 'x'));
    const std::string more = operand({list({all.back()})});
    const auto next = append_elements(value, {more});
    ASSERT_TRUE(next);
    value = *next;
    ASSERT_EQ(value, write_values({Datum(all)})) << i;
  }
}

TEST(Appends, ToWhatIsNoListAreNone) {
  EXPECT_FALSE(appended({7}, {operand({list({1})})}));
  EXPECT_FALSE(appended({Datum()}, {operand({list({1})})}));
  EXPECT_FALSE(appended({list({})}, {operand({7})}));
  EXPECT_FALSE(appended({list({})}, {operand({Datum(), list({1})})}));
  EXPECT_FALSE(appended({list({})}, {write_values({1, list({1})})})) << "that is an Add";
  EXPECT_FALSE(joined({write_values({1, list({1})})}));
  EXPECT_FALSE(joined({}));
}

TEST(Appends, OfDamagedBytesAreNoneOrAnother) {
  const std::string value = write_values({list({1, "two"}), "three", Decimal(4), 5.5, true, Datum()});
  const std::string more = operand({list({"seven"})});
  for (std::size_t at = 0; at < value.size(); ++at) {
    for (const char wrong : {'\x00', '\x07', '\x7F', '\xFF'}) {
      std::string damaged = value;
      damaged[at] = wrong;
      (void)append_elements(damaged, {more});  // no more than that it comes back
      (void)append_elements(std::string_view(value).substr(0, at), {more});
    }
  }
  for (std::size_t at = 0; at < more.size(); ++at) {
    EXPECT_FALSE(append_elements(value, {std::string_view(more).substr(0, at)})) << at;
    (void)join_elements({std::string_view(more).substr(0, at), more});
  }
}

}  // namespace
}  // namespace noam::stores
