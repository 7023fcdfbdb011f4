#pragma once

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
// With an owner of the bytes, long strings and lists stay where they are, and lists are looked at when they are asked
// for; without one (null), all is copied, and looked at now.
bool take_packed(std::string_view& bytes, const Shared* owner, Datum& out);
// As many as there is room for, one after the other.
bool take_packed(std::string_view& bytes, const Shared* owner, Datum::List& out);

// The list with more elements behind it: put together from bytes where it is packed.
Datum with_elements(const Datum& list, const Datum::List& more);

// One of them, looked at and not made.
struct Packed {
  enum class Kind : std::uint8_t { Absent, Bool, Int, Double, Decimal, String, List };
  Kind kind = Kind::Absent;
  std::uint64_t number = 0;  // the bits of a bool, int or double; how many elements a list has
  std::string_view bytes;    // a text, also that of a decimal; the elements of a list
};
bool look_at_packed(std::string_view& bytes, Packed& out);

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
bool take_varint(std::string_view& bytes, std::uint64_t& out);

}  // namespace noam::model
