#pragma once

#include <optional>
#include <string>

#include "noam/base/json.h"
#include "noam/design/program.h"

// A design and its plans, for people and for programs (docs/design.md).
namespace noam::design {

// As it would be written in the model: what can be said there can be pasted and edited, what noam keeps for itself
// stands in comments. Ends in a line break.
std::string print_design(const Program& program);

// The same, complete.
Json design_json(const Program& program);

// What every statement does, or this one. Estimates are for one execution.
std::string print_plans(const Program& program, const std::optional<model::StatementRef>& only = std::nullopt);
Json plans_json(const Program& program, const std::optional<model::StatementRef>& only = std::nullopt);

// What the statements of a mix read and write together: in a second where the mix has a rate, else for one statement of
// it on average.
std::string print_mix(const Program& program, const model::Mix& mix);
Json mix_json(const Program& program, const model::Mix& mix);

// What each family holds, and who reads it.
std::string print_storage(const Program& program);

}  // namespace noam::design
