#pragma once

#include <optional>
#include <string>

#include "tests/session_engine.h"

namespace noam::tests {

// Harms the copies that the engine keeps, behind its back: of each family an entry goes, another one is changed, and
// one comes that belongs to nobody. Each time `verify` must tell, and `repair` mend. What was not told or not mended.
std::optional<std::string> unseen_damage(SessionEngine& engine);

// Once `verify` has found a copy broken, queries do not read it, and commands go on to write it, until it is mended.
// What is otherwise.
std::optional<std::string> use_of_broken_copy();

}  // namespace noam::tests
