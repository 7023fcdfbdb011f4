#include "noam/language/suggest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace noam::language {
namespace {

std::string meant(std::string_view word, const std::vector<std::string_view>& candidates) {
  return std::string(closest(word, candidates).value_or("-"));
}

TEST(Closest, FindsASlipOfTheHand) {
  EXPECT_EQ(meant("entitty", {"value", "entity", "query"}), "entity");  // one too many
  EXPECT_EQ(meant("qery", {"value", "entity", "query"}), "query");      // one too few
  EXPECT_EQ(meant("valje", {"value", "entity", "query"}), "value");     // another one
  EXPECT_EQ(meant("form", {"where", "from"}), "from");                  // two swapped
  EXPECT_EQ(meant("usrname", {"first_name", "username"}), "username");
}

TEST(Closest, TakesOtherCaseBeforeAnythingElse) {
  EXPECT_EQ(meant("player", {"players", "Player"}), "Player");
  EXPECT_EQ(meant("GRÖSSE", {"grösse"}), "grösse");
  EXPECT_EQ(meant("N", {"m", "n"}), "n");
}

TEST(Closest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(meant("price", {"stock", "sku"}), "-");
  EXPECT_EQ(meant("a", {"b", "c"}), "-");
  EXPECT_EQ(meant("id", {"ab", "xy"}), "-");
  EXPECT_EQ(meant("", {"a"}), "-");
  EXPECT_EQ(meant("name", {}), "-");
  EXPECT_EQ(meant("name", {"name"}), "-");  // the word itself is no advice
}

TEST(Closest, TakesTheNearestAndOfEqualsTheFirst) {
  EXPECT_EQ(meant("created", {"create", "crested", "created_at"}), "create");
  EXPECT_EQ(meant("lenght", {"weight", "length"}), "length");
}

TEST(Closest, CountsLettersAndNotBytes) {
  EXPECT_EQ(meant("große", {"größe"}), "größe");
  EXPECT_EQ(meant("\xff\xfe", {"\xff"}), "\xff");  // whatever the bytes are, it ends
}

TEST(Closest, DoesNotMindLongOrManyWords) {
  const std::string longer(100'000, 'a');
  EXPECT_EQ(meant(longer, {"a"}), "-");
  EXPECT_EQ(meant("a_field", {longer, "a_feild"}), "a_feild");
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back("field_number_" + std::to_string(i));
  const std::vector<std::string_view> views(names.begin(), names.end());
  EXPECT_EQ(closest("feild_number_777", views), "field_number_777");
}

}  // namespace
}  // namespace noam::language
