#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "noam/stores/store.h"

namespace noam::stores {

struct MemoryOptions {
  std::size_t max_entry_bytes = 0;  // larger entries are TooLarge; 0: no limit
  std::size_t scan_page = 1'000;    // entries a page
  std::uint32_t heat_one_in = 16;   // of so many accesses one is noted for `hottest`
};

// Blocks in this process, gone with it. The meaning of the other stores: one commit spans everything, a snapshot is one
// moment, commits are serialisable by their expectations.
std::unique_ptr<Store> open_memory_store(const MemoryOptions& options = {});

// What a memory store keeps. An entry that snapshots saw has several states until the last of them is gone; the commits
// after that clear up.
struct MemoryUse {
  std::size_t blocks = 0;
  std::size_t entries = 0;
  std::size_t states = 0;

  bool operator==(const MemoryUse&) const = default;
};
MemoryUse memory_use(const Store& store);

}  // namespace noam::stores
