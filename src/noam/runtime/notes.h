#pragma once

#include <cstdint>
#include <string>

#include "noam/design/design.h"
#include "noam/stores/store.h"

// What noam remembers beside the data: the states of copies, how far a load came, who does the work of all.
namespace noam::runtime {

// The one family of a design that is there for this.
std::uint32_t family_for(const design::Design& design, design::Purpose purpose);
// The entry that holds the note with this name.
stores::EntryRef note_entry(const design::Design& design, const std::string& name);

}  // namespace noam::runtime
