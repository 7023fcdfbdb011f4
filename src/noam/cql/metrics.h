#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace noam::cql {

// How many requests took how long: four buckets for each doubling, from one microsecond to more than two minutes.
struct Latencies {
  static constexpr std::size_t size = 112;

  std::array<std::uint64_t, size> counts{};

  // Into which bucket a request goes; the last one has no upper end.
  static std::size_t bucket_of(std::chrono::microseconds taken);
  static std::chrono::microseconds upper_end(std::size_t bucket);

  [[nodiscard]] std::uint64_t total() const;
  // The upper end of the bucket that this part (from 0 to 1) of the requests ends in; zero if there are none.
  [[nodiscard]] std::chrono::microseconds quantile(double part) const;

  bool operator==(const Latencies&) const = default;
};

// What a session has done so far.
struct Metrics {
  std::uint64_t requests = 0;   // that ended, statements and batches alike
  std::uint64_t failures = 0;   // of these
  std::uint64_t unknown = 0;    // failures after which the request may have been applied
  std::uint64_t conflicts = 0;  // conditional requests that were not applied
  std::uint64_t retries = 0;    // requests sent again
  std::uint64_t in_flight = 0;  // sent, and not ended yet
  Latencies latencies = {};

  bool operator==(const Metrics&) const = default;
};

// Counts, from several threads.
class Meters {
 public:
  void count(std::chrono::microseconds taken, bool failed, bool unknown, bool conflict);
  [[nodiscard]] Metrics read() const;  // without retries and those in flight, which the driver counts

 private:
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::atomic<std::uint64_t> conflicts_{0};
  std::array<std::atomic<std::uint64_t>, Latencies::size> latencies_{};
};

}  // namespace noam::cql
