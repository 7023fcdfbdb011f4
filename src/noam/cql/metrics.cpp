#include "noam/cql/metrics.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace noam::cql {

// Up to 8, each number has its own bucket. From there, the two bits after the first one choose one of four.
std::size_t Latencies::bucket_of(std::chrono::microseconds taken) {
  const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(taken.count(), 0));
  if (micros < 8) return static_cast<std::size_t>(micros);
  const auto exponent = static_cast<std::size_t>(std::bit_width(micros)) - 1;  // 3 or more
  const auto quarter = static_cast<std::size_t>(micros >> (exponent - 2)) & 3U;
  return std::min(8 + (exponent - 3) * 4 + quarter, size - 1);
}

std::chrono::microseconds Latencies::upper_end(std::size_t bucket) {
  if (bucket < 8) return std::chrono::microseconds(bucket);
  const std::size_t exponent = (bucket - 8) / 4 + 3;
  const std::size_t quarter = (bucket - 8) % 4;
  return std::chrono::microseconds(((quarter + 5) << (exponent - 2)) - 1);
}

std::uint64_t Latencies::total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

std::chrono::microseconds Latencies::quantile(double part) const {
  const std::uint64_t all = total();
  if (all == 0) return {};
  std::uint64_t so_far = 0;
  for (std::size_t bucket = 0; bucket < size; ++bucket) {
    so_far += counts[bucket];
    if (so_far > 0 && static_cast<double>(so_far) >= part * static_cast<double>(all)) return upper_end(bucket);
  }
  return upper_end(size - 1);
}

void Meters::count(std::chrono::microseconds taken, bool failed, bool unknown, bool conflict) {
  const auto add = [](std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); };
  add(latencies_[Latencies::bucket_of(taken)]);
  if (failed) add(failures_);
  if (unknown) add(unknown_);
  if (conflict) add(conflicts_);
}

Metrics Meters::read() const {
  Metrics metrics{.failures = failures_, .unknown = unknown_, .conflicts = conflicts_};
  for (std::size_t i = 0; i < Latencies::size; ++i) metrics.latencies.counts[i] = latencies_[i];
  metrics.requests = metrics.latencies.total();
  return metrics;
}

}  // namespace noam::cql
