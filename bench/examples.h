#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.h"

// The other examples, each against code that was written by hand for it.
namespace noam::bench {

std::vector<Row> bench_shortener(const Settings& settings);
std::vector<Row> bench_microblog(const Settings& settings);
std::vector<Row> bench_eventlog(const Settings& settings);
std::vector<Row> bench_load(const Settings& settings);
std::vector<Row> bench_rubis(const Settings& settings);
std::vector<Row> bench_cassandra_store(const Settings& settings);
std::vector<Row> bench_cassandra_limits(const Settings& settings);

// What is asked of all rivals in one slice, by thread. Made before the slice, and the same for each.
template <typename Request>
class Plan {
 public:
  explicit Plan(unsigned threads) : requests_(threads) {}

  // `count` requests in all, each made by `make(random)`.
  template <typename Make>
  void fill(std::uint64_t seed, std::size_t count, const Make& make) {
    Random random(seed);
    for (auto& requests : requests_) {
      requests.clear();
      for (std::size_t i = 0; i < count / requests_.size(); ++i) requests.push_back(make(random));
    }
  }

  // All requests of a thread, carried out one by one. `serve` adds to the tally.
  template <typename Serve>
  Tally run(unsigned thread, const Serve& serve) const {
    Tally tally;
    for (const Request& request : requests_[thread]) serve(request, tally);
    return tally;
  }

 private:
  std::vector<std::vector<Request>> requests_;
};

// Words and letters that are the same on every machine.
std::string some_letters(Random& random, std::size_t count);

// Puts the row of a cell to the others, and shows it.
void measure_into(std::vector<Row>& rows, const Cell& cell, const Settings& settings);

}  // namespace noam::bench
