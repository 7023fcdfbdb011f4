#pragma once

#include <string>

#include "noam/design/program.h"
#include "noam/design/sample.h"

// Pictures of a design (docs/design.md), for a terminal or as SVG for a page that is 180 mm wide. The same for the same
// program and sample. Each ends in a line break.
namespace noam::design {

// Blocks with their entries, as the figures of the NoAM paper have them: those of the sample, or without one a block a
// collection that shows its form.
std::string draw_blocks_text(const Program& program, const Sample* sample = nullptr);
std::string draw_blocks_svg(const Program& program, const Sample* sample = nullptr);

// Collections as tables, as Chebotko diagrams have them: their columns, what the keys are, and which queries read them.
std::string draw_tables_text(const Program& program);
std::string draw_tables_svg(const Program& program);

}  // namespace noam::design
