#include "noam/cql/metrics.h"

#include <gtest/gtest.h>

namespace noam::cql {
namespace {

using namespace std::chrono_literals;

TEST(Latencies, HaveBucketsWithoutGaps) {
  for (std::size_t bucket = 0; bucket + 1 < Latencies::size; ++bucket) {
    const auto end = Latencies::upper_end(bucket);
    EXPECT_EQ(Latencies::bucket_of(end), bucket);
    EXPECT_EQ(Latencies::bucket_of(end + 1us), bucket + 1);
  }
}

TEST(Latencies, AreExactToAQuarter) {
  for (std::chrono::microseconds taken = 1us; taken < 100s; taken = taken * 3 / 2 + 1us) {
    const auto end = Latencies::upper_end(Latencies::bucket_of(taken));
    EXPECT_GE(end, taken);
    EXPECT_LE(end, taken * 5 / 4);
  }
}

TEST(Latencies, KeepWhatIsOutsideOfTheirRange) {
  EXPECT_EQ(Latencies::bucket_of(-1us), 0U);
  EXPECT_EQ(Latencies::bucket_of(1h), Latencies::size - 1);
}

TEST(Latencies, HaveQuantiles) {
  Latencies latencies;
  EXPECT_EQ(latencies.quantile(0.5), 0us);
  latencies.counts[Latencies::bucket_of(5us)] = 98;
  latencies.counts[Latencies::bucket_of(1000us)] = 2;
  EXPECT_EQ(latencies.total(), 100U);
  EXPECT_EQ(latencies.quantile(0), 5us);
  EXPECT_EQ(latencies.quantile(0.98), 5us);
  EXPECT_EQ(latencies.quantile(0.99), 1023us);
  EXPECT_EQ(latencies.quantile(1), 1023us);
}

TEST(Meters, CountWhatBecameOfRequests) {
  Meters meters;
  meters.count(10us, false, false, false);
  meters.count(10us, false, false, true);
  meters.count(10us, true, false, false);
  meters.count(10us, true, true, false);
  const Metrics metrics = meters.read();
  EXPECT_EQ(metrics.requests, 4U);
  EXPECT_EQ(metrics.failures, 2U);
  EXPECT_EQ(metrics.unknown, 1U);
  EXPECT_EQ(metrics.conflicts, 1U);
}

}  // namespace
}  // namespace noam::cql
