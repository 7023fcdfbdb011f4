#pragma once

#include <cstddef>
#include <latch>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// What tests of several threads share.
namespace noam::tests {

// What threads found wrong, each thing once. Safe to use from several.
class Findings {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (found_.size() < most || found_.contains(what)) ++found_[what];
  }
  // Empty: nothing.
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& [what, count] : found_) out += std::to_string(count) + " times: " + what + "\n";
    return out;
  }

 private:
  static constexpr std::size_t most = 20;
  mutable std::mutex mutex_;
  std::map<std::string, int> found_;
};

// Runs the work in this many threads, each with its number from 0; all begin at once.
template <typename Work>
void in_threads(int count, const Work& work) {
  std::latch all_there(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&work, &all_there, i] {
      all_there.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace noam::tests
