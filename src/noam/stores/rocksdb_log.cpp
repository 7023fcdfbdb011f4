#include "noam/stores/rocksdb_log.h"

#include <array>
#include <cstdint>

namespace noam::stores {

namespace {

constexpr std::size_t header_bytes = 7;  // checksum 4, length 2, type 1; the lowest byte first
// 1 to 4: whole records and their parts. Then the same for files that are written again, which noam does not do.
constexpr unsigned char last_type = 4;
constexpr unsigned char last_type_again = 8;

constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
  constexpr std::uint32_t polynomial = 0x82F63B78U;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? polynomial : 0U);
    table[byte] = rest;
  }
  return table;
}();

unsigned char byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

// As it was before it was masked.
std::uint32_t stored_checksum(std::string_view header) {
  std::uint32_t masked = 0;
  for (std::size_t i = 4; i > 0; --i) masked = (masked << 8U) | byte_at(header, i - 1);
  constexpr std::uint32_t mask = 0xA282EAD8U;
  const std::uint32_t rotated = masked - mask;
  return (rotated >> 17U) | (rotated << 15U);
}

std::uint32_t with_byte(std::uint32_t sum, unsigned char byte) {
  return (sum >> 8U) ^ crc32c_table[(sum ^ byte) & 0xFFU];
}

// Whether the checksum is that of the type and some of the bytes that follow.
bool is_whole(std::string_view record) {
  const std::uint32_t wanted = ~stored_checksum(record);
  std::uint32_t sum = ~0U;
  for (std::size_t i = header_bytes - 1; i < record.size(); ++i) {
    sum = with_byte(sum, byte_at(record, i));
    if (sum == wanted) return true;
  }
  return false;
}

// Whether the checksum is that of all its bytes with one of the types that noam writes.
bool has_other_type(std::string_view record) {
  for (unsigned char type = 1; type <= last_type; ++type) {
    std::uint32_t sum = with_byte(~0U, type);
    for (const char byte : record.substr(header_bytes)) sum = with_byte(sum, static_cast<unsigned char>(byte));
    if (sum == ~stored_checksum(record)) return true;
  }
  return false;
}

}  // namespace

std::optional<HiddenDamage> hidden_damage(std::string_view block, bool is_last) {
  std::size_t at = 0;
  while (at + header_bytes <= block.size()) {
    const std::string_view record = block.substr(at);
    const std::size_t length = byte_at(record, 4) + (std::size_t{byte_at(record, 5)} << 8U);
    const unsigned char type = byte_at(record, header_bytes - 1);
    if (type > last_type && type <= last_type_again) {
      if (is_last && !has_other_type(record.substr(0, header_bytes + length))) return std::nullopt;
      return HiddenDamage{HiddenDamage::Of::Type, at};
    }
    if (header_bytes + length > record.size()) {
      if (is_last && type >= 1 && type <= last_type && is_whole(record))
        return HiddenDamage{HiddenDamage::Of::Length, at};
      return std::nullopt;
    }
    at += header_bytes + length;
  }
  return std::nullopt;
}

}  // namespace noam::stores
