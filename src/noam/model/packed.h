#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"

// Datums as bytes that are read where they lie: everything says how long it is, so a reader goes past what it does not
// want (docs/storage.md has the table). What is read may be damaged: a reader takes what it understands from the front
// and says false where there is no datum.
namespace noam::model {

void append_packed(const Datum& datum, std::string& out);
// The same where there is room, at most 11 bytes: how many. Of a string only what comes before its bytes.
inline std::size_t write_packed_int(std::int64_t number, char* out);
inline std::size_t write_packed_string(std::size_t bytes, char* out);
// With an owner of the bytes, long strings and lists stay where they are, and lists are looked at when they are asked
// for; without one (null), all is copied, and looked at now.
bool take_packed(std::string_view& bytes, const Shared* owner, Datum& out);
// With what the caller holds of the owner, once at least: see Datum::within.
bool take_packed(std::string_view& bytes, const Shared& owner, std::uint32_t& held, Datum& out);
// As many as there is room for, one after the other.
bool take_packed(std::string_view& bytes, const Shared* owner, Datum::List& out);

// A list of so many elements, which lie packed in these bytes.
Datum packed_list(std::string elements, std::size_t count);
// The list with more elements behind it: put together from bytes where it is packed.
Datum with_elements(const Datum& list, const Datum::List& more);

// One of them, looked at and not made.
struct Packed {
  enum class Kind : std::uint8_t { Absent, Bool, Int, Double, Decimal, String, List };
  Kind kind = Kind::Absent;
  std::uint64_t number = 0;  // the bits of a bool, int or double; how many elements a list has
  std::string_view bytes;    // a text, also that of a decimal; the elements of a list; of others nothing that matters
};
inline bool look_at_packed(std::string_view& bytes, Packed& out);

// The bytes of one datum, whatever it is.
bool take_datum_bytes(std::string_view& bytes, std::string_view& out);
// Of a list, its elements as they lie there. False where it is none.
struct PackedElements {
  std::uint64_t count = 0;
  std::string_view bytes;
};
bool take_elements(std::string_view& bytes, PackedElements& out);
// A list of all of them, in this order.
void append_packed_list(const std::vector<PackedElements>& pieces, std::string& out);

// Unsigned, 7 bits a byte, the lowest first; the highest bit is set in all bytes but the last.
void append_varint(std::uint64_t number, std::string& out);
inline bool take_varint(std::string_view& bytes, std::uint64_t& out);

// Whoever goes through a large answer does this and little else, so it can be seen by the compiler.

enum class PackedTag : unsigned char { Absent, False, True, Int, Double, Decimal, String, List };  // the first byte

inline std::size_t write_varint(std::uint64_t number, char* out) {
  std::size_t size = 0;
  for (; number >= 0x80; number >>= 7U) out[size++] = static_cast<char>(number | 0x80U);
  out[size++] = static_cast<char>(number);
  return size;
}

// Small numbers of either sign are short.
inline std::uint64_t zigzag(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1U ^ (number < 0 ? ~std::uint64_t{0} : 0);
}

inline std::int64_t from_zigzag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1U ^ ((number & 1U) != 0 ? ~std::uint64_t{0} : 0));
}

inline std::size_t write_packed_int(std::int64_t number, char* out) {
  *out = static_cast<char>(PackedTag::Int);
  return 1 + write_varint(zigzag(number), out + 1);
}

inline std::size_t write_packed_string(std::size_t bytes, char* out) {
  *out = static_cast<char>(PackedTag::String);
  return 1 + write_varint(bytes, out + 1);
}

bool take_long_varint(std::string_view& bytes, std::uint64_t& out);  // whatever its length

[[gnu::always_inline]] inline bool take_varint(std::string_view& bytes, std::uint64_t& out) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  if (!bytes.empty() && byte(0) < 0x80) {
    out = byte(0);
    bytes.remove_prefix(1);
    return true;
  }
  if (bytes.size() >= 2 && byte(1) < 0x80) {
    out = (byte(0) & 0x7FU) | static_cast<std::uint64_t>(byte(1)) << 7U;
    bytes.remove_prefix(2);
    return true;
  }
  std::string_view rest = bytes;  // so that `bytes` need not lie in memory
  const bool taken = take_long_varint(rest, out);
  bytes = rest;
  return taken;
}

// What follows its own length.
[[gnu::always_inline]] inline bool take_sized(std::string_view& bytes, std::string_view& out) {
  std::uint64_t size = 0;
  if (!take_varint(bytes, size) || size > bytes.size()) return false;
  out = {bytes.data(), size};
  bytes.remove_prefix(size);
  return true;
}

// One that is neither absent nor an int, a string or a list, behind its first byte.
bool look_at_packed_number(PackedTag tag, std::string_view& bytes, Packed& out);

[[gnu::always_inline]] inline bool look_at_packed(std::string_view& bytes, Packed& out) {
  if (bytes.empty()) return false;
  const auto tag = static_cast<PackedTag>(bytes.front());
  bytes.remove_prefix(1);
  switch (tag) {
    case PackedTag::Absent:
      out.kind = Packed::Kind::Absent;
      return true;
    case PackedTag::Int:
      out.kind = Packed::Kind::Int;
      if (!take_varint(bytes, out.number)) return false;
      out.number = static_cast<std::uint64_t>(from_zigzag(out.number));
      return true;
    case PackedTag::String:
      out.kind = Packed::Kind::String;
      return take_sized(bytes, out.bytes);
    case PackedTag::List:
      out.kind = Packed::Kind::List;
      return take_sized(bytes, out.bytes) && take_varint(out.bytes, out.number) && out.number <= out.bytes.size();
    default:
      break;
  }
  std::string_view rest = bytes;
  const bool taken = look_at_packed_number(tag, rest, out);
  bytes = rest;
  return taken;
}

// Each element tells where the next one begins, so memory would be waited for at each of them. Who goes through all of
// them has it fetched some way ahead.
class FetchingAhead {
 public:
  explicit FetchingAhead(std::string_view bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  void come_to(const char* at) {
    const char* to = end_ - at > distance ? at + distance : end_;
    for (; next_ < to; next_ += line) __builtin_prefetch(next_);
  }

 private:
  static constexpr std::ptrdiff_t distance = 1'024;
  static constexpr std::ptrdiff_t line = 64;

  const char* next_;
  const char* end_;
};

}  // namespace noam::model
