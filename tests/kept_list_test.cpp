#include "tests/kept_list.h"

#include <gtest/gtest.h>

namespace noam::tests {

TEST(KeptList, IsOrderedAsQueriesBreakTies) { EXPECT_EQ(wrong_list().value_or(""), ""); }

}  // namespace noam::tests
