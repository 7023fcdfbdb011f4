#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace noam::tests::property {

// Chance from a seed: the same on every machine and library, so that a seed names a case. (The distributions of the
// standard library are not used, since each library has its own.)
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(engine_() % n); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool chance(unsigned percent) { return engine_() % 100 < percent; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  // An index, each as likely as its weight; the sum of the weights is above 0.
  std::size_t weighted(const std::vector<unsigned>& weights) {
    std::uint64_t sum = 0;
    for (const unsigned weight : weights) sum += weight;
    std::uint64_t at = engine_() % sum;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (at < weights[i]) return i;
      at -= weights[i];
    }
    return weights.size() - 1;
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace noam::tests::property
