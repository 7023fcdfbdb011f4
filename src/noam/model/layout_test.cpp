#include "noam/model/layout.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace noam::model {

TEST(Layout, CutsWhatIsTooWide) {
  EXPECT_EQ(cut("short", 5), "short");
  EXPECT_EQ(cut("longer", 5), "long…");
  EXPECT_EQ(cut("\"longer text\"", 8), "\"longe…\"");
  EXPECT_EQ(cut("日本語", 4), "日…");
  EXPECT_EQ(cut("日本語", 5), "日本…");
  EXPECT_EQ(cut("ab", 1), "…");
}

TEST(Layout, KnowsHowMuchFits) {
  EXPECT_EQ(fitting("abc", 2), 2U);
  EXPECT_EQ(fitting("abc", 9), 3U);
  EXPECT_EQ(fitting("日本", 3), 3U) << "bytes of one character, which takes two columns";
  EXPECT_EQ(fitting("日本", 1), 0U);
}

TEST(Layout, FoldsBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(folded("for newest, most_liked", 12), (Lines{"for newest,", "most_liked"}));
  EXPECT_EQ(folded("unbelievable", 6), Lines{"unbel…"});
  EXPECT_EQ(folded("", 6), Lines{""});
}

}  // namespace noam::model
