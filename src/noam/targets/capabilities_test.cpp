#include "noam/targets/capabilities.h"

#include <array>

#include <gtest/gtest.h>

namespace noam::targets {
namespace {

constexpr std::array limits = {
    Limit{LimitKind::UnitBytes, 16e6, true, "a document", "cut it"},
    Limit{LimitKind::KeyBytes, 65535, true, "a key", "choose a shorter key"},
    Limit{LimitKind::PartitionEntries, 2e9, true, "a partition", "put a day into the key", "cells"},
    Limit{LimitKind::PartitionEntries, 100e3, false, "a partition", "put a day into the key", "cells"},
};

TEST(Limits, AreToldAsPeopleSayThem) {
  EXPECT_EQ(shown_amount(limits[0], limits[0].value), "16 MB");
  EXPECT_EQ(shown_amount(limits[0], 1.5e9), "1.5 GB");
  EXPECT_EQ(shown_amount(limits[1], limits[1].value), "65,535 B");
  EXPECT_EQ(shown_amount(limits[1], 64), "64 B");
  EXPECT_EQ(shown_amount(limits[1], 63.2), "64 B");
  EXPECT_EQ(shown_amount(limits[2], limits[2].value), "2 billion cells");
  EXPECT_EQ(shown_amount(limits[3], limits[3].value), "100,000 cells");
}

TEST(Limits, AreCompared) {
  Capabilities can;
  can.limits = limits;
  EXPECT_TRUE(beyond(can, {{LimitKind::PartitionEntries, "a partition of log", 100e3}}).empty());
  const auto advice = beyond(can, {{LimitKind::PartitionEntries, "a partition of log", 200e3}});
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].code, "beyond-advice");
  EXPECT_EQ(advice[0].message,
            "a partition of log reaches 200,000 cells; a partition should have at most 100,000 cells");
  // The hard limit hides the advice.
  const auto refused = beyond(can, {{LimitKind::PartitionEntries, "a partition of log", 3e9}});
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].code, "beyond-limit");
  EXPECT_EQ(refused[0].message, "a partition of log reaches 3 billion cells; a partition has at most 2 billion cells");
}

}  // namespace
}  // namespace noam::targets
