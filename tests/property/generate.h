#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "tests/property/case.h"

namespace noam::tests::property {

// What a case is drawn from. `without` leaves features out by name, for a runtime that lacks them or to look at one
// alone: "transient", "ttl", "refresh", "nested", "words", "references", "bulk", "loops", "overflow", "symmetric",
// "owners", "wrong" (wrong parameters), "repeat" (commands under the id they had), "reuse" (others under it),
// "copies", "homes" (base under other fields than the key), "elements" (elements in a collection of their own).
struct Options {
  std::set<std::string> without;
  std::size_t least_commands = 10;
  std::size_t most_commands = 60;
  std::string design;  // always this strategy; empty: drawn
};

// The case that the seed names. The same everywhere.
Case generate(std::uint64_t seed, const Options& options = {});

}  // namespace noam::tests::property
