#pragma once

#include "noam/design/program.h"

namespace noam::design {

// Finds the lists that grow without being read (EntityPlan::appends).
void find_appends(Program& program);

// How a change appends to such a list; null where it is another change, or needs more than that.
const AppendPlan* append_of(const Program& program, const model::Change& change);

}  // namespace noam::design
