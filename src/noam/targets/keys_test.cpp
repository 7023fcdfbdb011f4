#include "noam/targets/keys.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace noam::targets {
namespace {

using model::Datum;

TEST(NeverEmpty, KeepsTheOrderAndOrdinaryTexts) {
  const std::vector<std::string> ordered = {
      never_empty(Datum(), ""),
      never_empty(Datum(std::string()), ""),
      never_empty(Datum(std::string("\0", 1)), std::string("\0", 1)),
      never_empty(Datum(std::string("a")), "a"),
  };
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end()));
  EXPECT_EQ(ordered.back(), "a");
  EXPECT_EQ(ordered.front(), std::string(1, '\0'));
}

Column part(const char* name, std::optional<model::Literal> constant = {}) {
  Column out;
  out.name = name;
  out.type = model::scalar(model::TypeKind::Text);
  out.constant = std::move(constant);
  return out;
}

TEST(Keys, AreTheSameWhateverIsConstant) {
  FamilyOutline follows;
  follows.key = {part("type", model::Literal(std::string("follows"))), part("name")};
  FamilyOutline followers = follows;
  EXPECT_TRUE(same_constants(follows, followers));
  followers.key[0].constant = model::Literal(std::string("follower"));
  EXPECT_TRUE(same_key(follows, followers));
  EXPECT_FALSE(same_constants(follows, followers));
  EXPECT_EQ(leading_constants(follows), 1U);
  followers.key[1].descending = true;
  EXPECT_FALSE(same_key(follows, followers));
}

}  // namespace
}  // namespace noam::targets
