#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/blocks/simulated_blocks.h"

// Several processes run noam on one simulated database, and everything goes wrong that can: answers are lost, writes
// arrive late or never, reads are old, processes die, sleep and are replaced, clocks differ. What they were told must
// have a serial order; at rest, all is as the reference evaluator has it, and no hold is left.
namespace noam::tests::blocks {

struct SimulationOptions {
  std::string design = "eao";
  bool one_part_a_family = false;
  std::uint32_t units_at_once = 1;
  bool faults = true;
  Fault fault = Fault::None;  // of the database
};

struct SimulationResult {
  std::optional<std::string> wrong;
  std::uint64_t steps = 0;
  std::uint64_t commands = 0;  // that were applied
  std::uint64_t killed = 0;    // processes
  std::uint64_t unknown = 0;   // writes
  std::uint64_t writes = 0;
};

// The same seed does the same.
SimulationResult simulate(std::uint64_t seed, const SimulationOptions& options);
// Options that follow from the seed.
SimulationResult simulate(std::uint64_t seed, Fault fault = Fault::None);

}  // namespace noam::tests::blocks
