#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace noam::stores {

// The logs of RocksDB, its manifest among them, are records behind each other in blocks: a checksum, a length, a type,
// and that many bytes. Where a record is longer than the file, RocksDB takes it for the one that was being written when
// the machine stopped; where its type is one of those for files that are written again, for what was in the file
// before. It forgets such a record and all behind it, before it looks at the checksum. Where it is only the length or
// the type that is wrong, that loses what was acknowledged.
constexpr std::size_t log_block_bytes = 32768;

struct HiddenDamage {
  enum class Of : std::uint8_t { Length, Type };
  Of of = Of::Length;
  std::size_t at = 0;  // where the record begins

  bool operator==(const HiddenDamage&) const = default;
};

// The first record of a block of a log that would pass for its end, and is none. One that is longer than the last block
// is whole where its checksum is that of some of the bytes that are there; what has a type that noam does not write is
// no end where there is more behind the block, or where the checksum is that of another type.
std::optional<HiddenDamage> hidden_damage(std::string_view block, bool is_last);

}  // namespace noam::stores
