#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "noam/design/family_logic.h"
#include "noam/design/planner.h"
#include "noam/design/program.h"

// The rows that the entries of a copy are made of, as a question to the planner.
namespace noam::design {

struct DerivedRows {
  Logical logical;
  Body body;                        // its columns are those of a derived row, see Upkeep
  std::vector<Atom> given;          // of rows with known values: one slot for each, in their order
  std::uint32_t identity_size = 0;  // how many of the columns identify the row
};

// All of them.
DerivedRows derived_rows(const FamilyLogic& logic);
// Those for which these expressions have values that are known before the plan begins.
DerivedRows derived_rows(const FamilyLogic& logic, const std::vector<model::Expr>& known);

// The rows that one entry of a copy is made of, or those of its block if the copy has a limit, found without looking
// through a collection.
struct EntryRows {
  Plan plan;  // seed: the block key, and the entry key if it is not of the whole block
  bool whole_block = false;
};
// None: there is no such way.
std::optional<EntryRows> plan_entry(const Program& program, const Upkeep& upkeep);

}  // namespace noam::design
