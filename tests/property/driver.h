#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/model.h"
#include "tests/engine.h"
#include "tests/property/case.h"
#include "tests/property/generate.h"

namespace noam::tests::property {

// Makes an empty engine for the model under the design of this name. The model outlives it. None: the store does not
// take the design.
using Factory = std::function<std::unique_ptr<Engine>(const model::Model& model, const std::string& design)>;

struct Engines {
  Factory tested;
  Factory reference;
  // Asked at the end of a case: what is wrong with what the tested engine keeps. May be empty.
  std::function<std::optional<std::string>(Engine& tested)> verify;
};

struct DriverOptions {
  std::size_t most_tries = 2'000;  // cases run while shrinking
  unsigned shrinking = 120;        // seconds, at most
  bool isolated = false;  // each run in a process of its own: a crash or a hang is then a difference like any other
  unsigned seconds = 20;  // for one run in a process of its own
};

struct Statistics {
  std::size_t commands = 0;
  std::map<std::string, std::size_t> refused;  // by code
  std::size_t queries = 0;                     // with their further pages
  std::size_t with_rows = 0;
  std::size_t pages = 0;  // further ones
  std::size_t errors = 0;

  void add(const Statistics& other);
};

// What became of one run of a case.
struct Run {
  std::vector<std::string> errors;        // if the text is no model: its diagnostics; nothing was run
  bool not_taken = false;                 // by the store; nothing was run
  std::optional<std::string> difference;  // the first one
  std::vector<std::string> lines;         // what was asked until then, as `noam run --batch` reads it
  std::string tested;                     // the two last answers
  std::string reference;
  Statistics statistics;
};

Run run(const Case& one, const Engines& engines);
// The same in a process of its own.
Run run_isolated(const Case& one, const Engines& engines, unsigned seconds);

struct Report {
  Case original;
  Case smallest;  // still with a difference
  Run run;        // of the smallest
  Statistics statistics;
  std::size_t tries = 0;

  [[nodiscard]] bool compiled() const { return run.errors.empty(); }
  [[nodiscard]] bool good() const { return !run.difference; }
};

// Runs the case, and makes it as small as it can where the engines differ.
Report check(const Case& one, const Engines& engines, const DriverOptions& options = {});

// For a person: the seed, the model, the requests, and the answers that differ.
std::string text(const Report& report);

// Many cases, one after the other. What to run is asked of the environment: NOAM_PROPERTY_SEED (the first seed, else
// by chance), NOAM_PROPERTY_CASES (how many), NOAM_PROPERTY_WITHOUT (features to leave out, separated by commas),
// NOAM_PROPERTY_DESIGN (always this strategy).
struct Suite {
  std::uint64_t first_seed = 0;
  std::size_t cases = 0;
  Options options;
};

Suite suite_from_environment(std::size_t cases);

struct SuiteReport {
  std::size_t cases = 0;
  std::size_t rejected = 0;   // texts that are no models
  std::size_t not_taken = 0;  // designs that the store does not take
  Statistics statistics;
  std::vector<std::string> failures;  // as texts, at most `most_failures`
};

SuiteReport run_suite(const Suite& suite, const Engines& engines, const DriverOptions& options = {},
                      std::size_t most_failures = 3);

// The rates of a suite, in a few lines.
std::string text(const SuiteReport& report);

}  // namespace noam::tests::property
