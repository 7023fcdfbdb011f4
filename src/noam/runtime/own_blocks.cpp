#include "noam/runtime/own_blocks.h"

#include <string>

#include <xxhash.h>

#include "noam/model/packed.h"

namespace noam::runtime {

using model::Datum;

namespace {

constexpr std::int64_t shards = 16;
constexpr std::int64_t day = 86'400'000;

std::int64_t day_of(std::int64_t time) { return time >= 0 ? time / day : (time - day + 1) / day; }

}  // namespace

stores::Key own_block() { return {Datum(std::int64_t{0})}; }

stores::Key due_block(const stores::Capabilities& store, const Datum& due, const Datum& key) {
  if (!store.spreads_own) return own_block();
  std::string bytes;
  model::append_packed(key, bytes);
  const auto shard = static_cast<std::int64_t>(XXH3_64bits(bytes.data(), bytes.size()) % shards);
  return {Datum(day_of(due.as_int()) * shards + shard)};
}

std::vector<stores::Key> due_blocks(const stores::Capabilities& store, std::int64_t from, std::int64_t to) {
  if (!store.spreads_own) return {own_block()};
  std::vector<stores::Key> out;
  for (std::int64_t block = day_of(from) * shards; block < (day_of(to) + 1) * shards; ++block)
    out.push_back({Datum(block)});
  return out;
}

stores::Key refreshed_block(const stores::Capabilities& store, const Datum& time) {
  return store.spreads_own ? stores::Key{Datum(time.as_int())} : own_block();
}

}  // namespace noam::runtime
