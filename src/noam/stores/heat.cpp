#include "noam/stores/heat.h"

#include <algorithm>
#include <utility>

#include "noam/base/check.h"
#include "noam/stores/encoding.h"

namespace noam::stores {

namespace {

constexpr std::string_view magic = "heat1";

// Whether this access is one to be noted. The steps between two of them are drawn from 1 to 2n-1, so that no rhythm in
// what a statement reads and writes hides a block from the sample.
bool drawn(std::uint32_t one_in) {
  thread_local std::uint32_t left = 0;
  thread_local std::uint64_t state = 0x9E3779B97F4A7C15U;
  if (one_in <= 1) return true;
  if (left > 0) {
    --left;
    return false;
  }
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  left = static_cast<std::uint32_t>((state >> 32U) % (2 * std::uint64_t{one_in} - 1));
  return true;
}

}  // namespace

std::size_t Heat::BlockHash::operator()(const BlockRef& block) const {
  std::uint64_t hash = block.collection;
  for (const model::Datum& part : block.key) hash = (hash + hash_value(part)) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

Heat::Heat(const HeatOptions& options) : options_(options) {
  check(options.counters > 0 && options.one_in > 0, "there is something to count, and something to count with");
}

void Heat::touch(const BlockRef& block, Access access) {
  if (!drawn(options_.one_in)) return;
  const std::lock_guard lock(lock_);
  ++noted_;
  count(block, access == Access::Read ? 1 : 0, access == Access::Write ? 1 : 0);
}

void Heat::count(const BlockRef& block, std::uint64_t reads, std::uint64_t writes) {
  std::size_t place = 0;
  if (const auto found = places_.find(block); found != places_.end()) {
    place = found->second;
  } else if (counters_.size() < options_.counters) {
    place = counters_.size();
    counters_.push_back({block});
    places_.emplace(block, place);
  } else {
    // The coldest gives way; what it was asked for may have been asked of this one.
    place = coldest();
    places_.erase(counters_[place].block);
    counters_[place] = {block, 0, 0, counters_[place].most()};
    places_.emplace(block, place);
  }
  counters_[place].reads += reads;
  counters_[place].writes += writes;
}

// Counts only grow, and so does the least of them. It is looked for from where it was found last: where all that comes
// is cold, the next one is as cold.
std::size_t Heat::coldest() {
  for (std::size_t turn = 0; turn < counters_.size(); ++turn) {
    const std::size_t place = next_++ % counters_.size();
    if (counters_[place].most() <= least_) return place;
  }
  const auto found = std::min_element(counters_.begin(), counters_.end(),
                                      [](const Counter& a, const Counter& b) { return a.most() < b.most(); });
  least_ = found->most();
  next_ = static_cast<std::size_t>(found - counters_.begin()) + 1;
  return next_ - 1;
}

std::vector<HotBlock> Heat::hottest(std::size_t most) const {
  std::vector<HotBlock> out;
  {
    const std::lock_guard lock(lock_);
    for (const Counter& counter : counters_)
      out.push_back({counter.block, counter.reads * options_.one_in, counter.writes * options_.one_in,
                     static_cast<double>(counter.reads + counter.writes) / static_cast<double>(noted_)});
  }
  std::sort(out.begin(), out.end(), [](const HotBlock& a, const HotBlock& b) {
    return a.reads + a.writes != b.reads + b.writes ? a.reads + a.writes > b.reads + b.writes : a.block < b.block;
  });
  if (out.size() > most) out.resize(most);
  return out;
}

std::uint64_t Heat::accesses() const {
  const std::lock_guard lock(lock_);
  return noted_ * options_.one_in;
}

void Heat::merge(const Heat& other) {
  check(this != &other && options_.one_in == other.options_.one_in, "two that noted alike are merged");
  std::vector<Counter> counters;
  std::uint64_t noted = 0;
  {
    const std::lock_guard lock(other.lock_);
    counters = other.counters_;
    noted = other.noted_;
  }
  const std::lock_guard lock(lock_);
  add(counters, noted);
}

void Heat::clear() {
  const std::lock_guard lock(lock_);
  set({});
  noted_ = 0;
}

// A block that one side does not count may have been asked there as often as the coldest that it counts, where it had
// to let some go.
void Heat::add(const std::vector<Counter>& counters, std::uint64_t noted) {
  const auto unseen = [&](const std::vector<Counter>& side) {
    std::uint64_t least = 0;
    if (side.size() < options_.counters) return least;
    least = side.front().most();
    for (const Counter& counter : side) least = std::min(least, counter.most());
    return least;
  };
  const std::uint64_t unseen_here = unseen(counters_);
  const std::uint64_t unseen_there = unseen(counters);
  std::vector<Counter> all = counters_;
  for (Counter& counter : all) counter.before += unseen_there;
  for (const Counter& counter : counters) {
    const auto found = places_.find(counter.block);
    if (found == places_.end()) {
      all.push_back(counter);
      all.back().before += unseen_here;
    } else {
      Counter& here = all[found->second];
      here.reads += counter.reads;
      here.writes += counter.writes;
      here.before += counter.before;
      here.before -= unseen_there;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Counter& a, const Counter& b) { return a.most() > b.most(); });
  if (all.size() > options_.counters) all.resize(options_.counters);
  set(std::move(all));
  noted_ += noted;
}

void Heat::set(std::vector<Counter> counters) {
  counters_ = std::move(counters);
  places_.clear();
  least_ = 0;
  next_ = 0;
  for (std::size_t i = 0; i < counters_.size(); ++i) places_.emplace(counters_[i].block, i);
}

std::string Heat::to_bytes() const {
  const auto number = [](std::uint64_t count) { return model::Datum(static_cast<std::int64_t>(count)); };
  const std::lock_guard lock(lock_);
  Key all{number(options_.one_in), number(noted_)};
  for (const Counter& counter : counters_)
    all.emplace_back(Key{number(counter.block.collection), model::Datum(counter.block.key), number(counter.reads),
                         number(counter.writes), number(counter.before)});
  return std::string(magic) + write_values(all);
}

Result<void> Heat::merge_bytes(std::string_view bytes) {
  const Error wrong{"not a valid record of hot blocks"};
  Key all;
  if (!bytes.starts_with(magic) || !read_values(bytes.substr(magic.size()), all)) return wrong;
  const auto is_count = [](const model::Datum& datum) { return datum.is_int() && datum.as_int() >= 0; };
  const auto count = [](const model::Datum& datum) { return static_cast<std::uint64_t>(datum.as_int()); };
  if (all.size() < 2 || !is_count(all[0]) || !is_count(all[1]) || count(all[0]) != options_.one_in) return wrong;
  std::vector<Counter> counters;
  for (std::size_t i = 2; i < all.size(); ++i) {
    if (!all[i].is_list() || all[i].as_list().size() != 5) return wrong;
    const Key& of = all[i].as_list();
    if (!is_count(of[0]) || !of[1].is_list() || !is_count(of[2]) || !is_count(of[3]) || !is_count(of[4])) return wrong;
    Counter counter;
    counter.block = {static_cast<std::uint32_t>(count(of[0])), of[1].as_list()};
    counter.reads = count(of[2]);
    counter.writes = count(of[3]);
    counter.before = count(of[4]);
    counters.push_back(std::move(counter));
  }
  const std::lock_guard lock(lock_);
  add(counters, count(all[1]));
  return {};
}

}  // namespace noam::stores
