#include "noam/schemas/names.h"

#include <array>

#include <gtest/gtest.h>

namespace noam::schemas {
namespace {

constexpr std::array<std::string_view, 2> words = {"select", "table"};
constexpr NameRules rules{.longest = 12, .lower_case = true, .tells_case = false, .reserved = words};

TEST(Names, StayAsTheyAreWhereTheyMay) {
  EXPECT_EQ(legal_name(rules, "first_name"), "first_name");
  EXPECT_EQ(legal_name(rules, "Game"), "game");
  EXPECT_EQ(legal_name(rules, "GameInfo"), "game_info");
  EXPECT_EQ(legal_name(rules, "HTTPCode2B"), "httpcode2_b");
  EXPECT_EQ(legal_name({.longest = 12, .reserved = {}}, "Game"), "Game");
}

TEST(Names, LoseWhatIsNotAllowed) {
  EXPECT_EQ(legal_name(rules, "a b"), "a_b");
  EXPECT_EQ(legal_name(rules, "größe"), "gr__e");
  EXPECT_EQ(legal_name(rules, "7days"), "n7days");
  EXPECT_EQ(legal_name(rules, "_x"), "n_x");
}

TEST(Names, MayBeginWithADigitOrAnUnderscore) {
  EXPECT_EQ(legal_name({.letter_first = false, .reserved = {}}, "7days"), "7days");
  const NameRules no_digit{.letter_first = false, .digit_first = false, .reserved = {}};
  EXPECT_EQ(legal_name(no_digit, "7days"), "n7days");
  EXPECT_EQ(legal_name(no_digit, "_x"), "_x");
}

TEST(Names, WordsAreBetweenSpaces) {
  constexpr std::string_view text = "select from _id";
  EXPECT_EQ(split_words<word_count(text)>(text), (std::array<std::string_view, 3>{"select", "from", "_id"}));
}

TEST(Names, AreNoReservedWords) {
  EXPECT_EQ(legal_name(rules, "select"), "select_");
  EXPECT_EQ(legal_name(rules, "Table"), "table_");
}

TEST(Names, KeepTheirBeginningWhereTheyAreTooLong) {
  const std::string name = legal_name(rules, "a_very_long_name");
  EXPECT_EQ(name.size(), 12U);
  EXPECT_EQ(name.substr(0, 3), "a_v");
  EXPECT_NE(name, legal_name(rules, "a_very_long_other"));
}

TEST(Names, InOtherScriptsDiffer) { EXPECT_NE(legal_name(rules, "имя"), legal_name(rules, "год")); }

TEST(Names, AreGivenOnce) {
  Namer namer(rules);
  EXPECT_EQ(namer.give("game"), "game");
  const std::string second = namer.give("Game");
  EXPECT_NE(second, "game");
  EXPECT_EQ(second.substr(0, 3), "gam");
  EXPECT_NE(namer.give("Game"), second);
  // What a name becomes does not depend on what others there are.
  Namer other(rules);
  other.give("x");
  other.give("game");
  EXPECT_EQ(other.give("Game"), second);
}

TEST(Names, HaveASecondChoice) {
  Namer namer(rules);
  EXPECT_EQ(namer.give("likes", "own_likes"), "likes");
  EXPECT_EQ(namer.give("likes", "own_likes"), "own_likes");
}

}  // namespace
}  // namespace noam::schemas
