#pragma once

#include "noam/design/program.h"

namespace noam::design {

// Marks where a step looks up an entry and the next one collects from the same block: then both can be read at once.
void mark_shared_reads(Program& program);

}  // namespace noam::design
