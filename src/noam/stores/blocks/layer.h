#pragma once

#include <memory>

#include "noam/stores/blocks/block_store.h"
#include "noam/stores/blocks/protocol.h"
#include "noam/stores/store.h"

namespace noam::stores::blocks {

// The clock, threads and chance of this machine. What is done later is done by a thread that lives as long as this.
Surroundings this_machine();

// A whole store, strictly serialisable over any number of blocks, made of a database that can write one block under a
// condition. Several processes may use the database at the same time.
std::unique_ptr<Store> open_block_layer(std::unique_ptr<BlockStore> behind, Surroundings around = this_machine(),
                                        const ProtocolOptions& options = {});

}  // namespace noam::stores::blocks
