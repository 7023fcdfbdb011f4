#pragma once

#include <cstdint>
#include <vector>

#include "noam/model/datum.h"
#include "noam/stores/store.h"

// Where noam keeps what it orders for itself: which instance expires when, and the rows of refreshed queries. Usually
// each of these lies in one block. If a store spreads them (`Capabilities::spreads_own`), because a block there is one
// partition, which one node would have to bear: instances by the day on which they expire and a shard of their key, and
// the rows of each refresh in a block of their own.
namespace noam::runtime {

stores::Key own_block();
stores::Key due_block(const stores::Capabilities& store, const model::Datum& due, const model::Datum& key);
// All of them in which something can be due at these times, the earliest first.
std::vector<stores::Key> due_blocks(const stores::Capabilities& store, std::int64_t from, std::int64_t to);
stores::Key refreshed_block(const stores::Capabilities& store, const model::Datum& time);

}  // namespace noam::runtime
