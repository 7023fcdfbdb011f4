#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "noam/model/datum.h"

// Datums as bytes that sort as they do (docs/storage.md has the table): for the keys of stores that order bytes.
namespace noam::model {

// The bytes of two datums of one type compare (unsigned) as the datums do, or the other way round where `descending`.
// No datum's bytes are the beginning of another's. Begins with a byte from 0x02 to 0xFD.
void append_ordered(const Datum& datum, bool descending, std::string& out);
// What is read may be damaged: takes what it understands from the front, and says false where there is no datum.
bool take_ordered(std::string_view& bytes, bool descending, Datum& out);
// Takes an int or a string, which most keys are made of, not to make it but to pack it (packed.h): into so many bytes,
// at most `packed_beyond` more than it took. 0 where it is something else, or nothing.
constexpr std::size_t packed_beyond = 8;
std::size_t pack_ordered(std::string_view& bytes, bool descending, char* out);

}  // namespace noam::model
