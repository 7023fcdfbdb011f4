#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/design/program.h"
#include "noam/runtime/session.h"
#include "noam/runtime/upkeep.h"
#include "noam/stores/store.h"

// What is stored, compared with what should be.
namespace noam::runtime {

// An entry of a copy that is not what its base data say.
struct EntryDifference {
  DifferenceKind kind = DifferenceKind::Wrong;
  EntryKey key;
  std::optional<stores::Key> should;  // its columns; none: it should not exist
  std::string what;                   // for a person
};

// Of entries of a copy: `rows` are all the derived rows that they can be made of, `stored` is what lies in their place.
// How many entries there should be is added to `compared`.
std::vector<EntryDifference> differences_of(const design::Program& program, const design::Upkeep& upkeep,
                                            const std::vector<Row>& rows,
                                            const std::vector<stores::ScanPage::Item>& stored, std::size_t& compared);

// `["ann"] timeline[2026-06-01T08:17:00.000Z, 104]`: the block's key, and the entry in it.
std::string entry_text(const design::Program& program, const design::Family& family, const EntryKey& key);

}  // namespace noam::runtime
