#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/model.h"
#include "noam/runtime/session.h"

namespace noam::server {

// What is counted of each statement, as Prometheus reads it. Safe to use from several threads.
class Metrics {
 public:
  explicit Metrics(const model::Model& model);

  // A statement that was answered. The code is empty if it went well.
  void count(std::string_view statement, std::string_view code, std::chrono::steady_clock::duration took);
  // A request that has no statement.
  void count_other(int status);

  // Everything counted so far, and how the store is.
  [[nodiscard]] std::string text(runtime::Session& session) const;

 private:
  static constexpr std::array<double, 14> bounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                    0.1,    0.2,   0.5,   1,     2,    5,    10};  // seconds
  struct OfStatement {
    std::string name;
    bool command = false;
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets{};  // each by itself; the last: longer
    std::atomic<std::uint64_t> microseconds{0};
    std::mutex lock;
    std::map<std::string, std::uint64_t, std::less<>> codes;  // of what did not go well
  };

  [[nodiscard]] OfStatement* find(std::string_view statement) const;

  std::vector<std::unique_ptr<OfStatement>> statements_;  // by name
  mutable std::mutex lock_;
  std::map<int, std::uint64_t> others_;  // by status
};

}  // namespace noam::server
