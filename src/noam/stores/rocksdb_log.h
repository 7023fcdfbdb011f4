#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace noam::stores {

// The logs of RocksDB, its manifest among them, are records behind each other in blocks: a checksum, a length, a type,
// and that many bytes. Where a record is longer than the file, RocksDB takes it for the one that was being written when
// the machine stopped, and forgets it and all behind it. Where it is only its length that is wrong, that loses what was
// acknowledged.
constexpr std::size_t log_block_bytes = 32768;

// Of the last block of a log that is not full: where the first record is that is longer than the block, yet whole,
// since its checksum is that of some of the bytes that are there. Nothing: there is none.
std::optional<std::size_t> mistaken_length(std::string_view last_block);

}  // namespace noam::stores
