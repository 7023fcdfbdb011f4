#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "noam/base/result.h"
#include "noam/stores/store.h"

namespace noam::stores {

enum class Access : std::uint8_t { Read, Write };

struct HeatOptions {
  std::size_t counters = 256;  // blocks that are counted at a time
  std::uint32_t one_in = 16;   // of so many accesses one is noted, and counts for all of them; 1: each
};

// Which blocks of a store are asked for most, in a bounded space: the space-saving counters of Metwally, Agrawal and El
// Abbadi ("Efficient computation of frequent and top-k elements in data streams", 2005) on a sample of the accesses. A
// block that takes more than one in `counters` of them is always among the counted. Safe to use from several threads;
// an access that is not noted touches no shared memory.
class Heat {
 public:
  explicit Heat(const HeatOptions& options = {});

  void touch(const BlockRef& block, Access access);

  // Those with the most accesses that were certainly theirs, the hottest first.
  [[nodiscard]] std::vector<HotBlock> hottest(std::size_t most) const;
  [[nodiscard]] std::uint64_t accesses() const;  // about

  // As if its accesses had been made here.
  void merge(const Heat& other);
  void clear();

  // For a store that keeps it over restarts. Collections are noted by their numbers, so it belongs to one design.
  [[nodiscard]] std::string to_bytes() const;
  // Adds what was written. An error where these are not such bytes; then nothing has changed.
  Result<void> merge_bytes(std::string_view bytes);

 private:
  struct Counter {
    BlockRef block;
    std::uint64_t reads = 0;  // since it is counted
    std::uint64_t writes = 0;
    std::uint64_t before = 0;  // at most so many were its own before that

    [[nodiscard]] std::uint64_t most() const { return reads + writes + before; }
  };
  struct BlockHash {
    std::size_t operator()(const BlockRef& block) const;
  };

  // Under the lock.
  void count(const BlockRef& block, std::uint64_t reads, std::uint64_t writes);
  std::size_t coldest();  // its place in counters_, of which there are some
  void add(const std::vector<Counter>& counters, std::uint64_t noted);
  void set(std::vector<Counter> counters);

  const HeatOptions options_;
  mutable std::mutex lock_;  // of what follows
  std::vector<Counter> counters_;
  std::unordered_map<BlockRef, std::size_t, BlockHash> places_;  // in counters_
  std::uint64_t noted_ = 0;
  std::uint64_t least_ = 0;  // no counter has less
  std::size_t next_ = 0;     // to be looked at for one that has just that
};

}  // namespace noam::stores
