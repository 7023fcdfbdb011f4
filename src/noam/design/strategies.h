#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/design/design.h"
#include "noam/model/model.h"

namespace noam::design {

// The strategies that make a design without being told how.
inline constexpr std::string_view strategy_names[] = {"eao", "etf", "normalized"};

// Where everything lives: the bases and copies of a written design, if there is one, and the rest by the strategy
// (`eao`, `etf`, `normalized`). Places for what noam keeps for itself are there too. Access paths are not: see
// complete().
Design place(const model::Model& model, const model::WrittenDesign* written, std::string_view strategy);

// The design under a strategy, or one that the model contains; there has to be such.
Design choose_design(const model::Model& model, std::string_view name);

// Works out what follows from a family's keys and cells (grouped, hidden columns), and appends it. Returns its index.
// The fold columns that need them get families of their members.
std::uint32_t add_family(const model::Model& model, Design& design, Family family);

}  // namespace noam::design
