#pragma once

#include "noam/design/program.h"

namespace noam::design {

// Marks queries that show entries of one range and do nothing else with them: then rows are made where they are read.
void mark_shown_entries(Program& program);

}  // namespace noam::design
