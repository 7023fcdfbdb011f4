#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/model/ordered.h"

// Datums as bytes, as the embedded store keeps them (docs/storage.md has the tables). What is read may be damaged: a
// reader takes what it understands from the front and says false where there is no datum.
namespace noam::stores {

// Of keys: model/ordered.h.
using model::append_ordered;
using model::take_ordered;

// Of columns: some packed datums (model/packed.h), with their number before them. The reader wants nothing behind them.
// With an owner of the bytes, they are read in place.
void append_values(const std::vector<model::Datum>& datums, std::string& out);
std::string write_values(const std::vector<model::Datum>& datums);
bool read_values(std::string_view bytes, std::vector<model::Datum>& out, const model::Shared* owner = nullptr);
// Appends the first of them as it lies there, packed; an absent one where there are none.
bool read_first_value(std::string_view bytes, std::string& out);

// Unsigned, the highest byte first.
void append_fixed16(std::uint16_t number, std::string& out);
bool take_fixed16(std::string_view& bytes, std::uint16_t& out);

}  // namespace noam::stores
