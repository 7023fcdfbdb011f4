#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"
#include "noam/language/source.h"
#include "noam/model/model.h"
#include "noam/runtime/statistics.h"

// `noam stats`: what a database holds, beside what the model says of it (docs/commands/stats.md).
namespace noam::cli {

struct StatsOptions {
  OpeningOptions opening;
  std::string after;  // a file of requests that are run before; `-`: standard input
  std::size_t top = 5;
  bool json = false;
  bool write = false;
};

Command add_stats_command(CommandLine& line, StatsOptions& options);
int show_statistics(const StatsOptions& options);

// For a person, or as JSON.
std::string statistics_text(const runtime::Statistics& statistics, const design::Program& program);
std::string statistics_json(const runtime::Statistics& statistics, const design::Program& program);

// The text of a model with the figures that were measured.
struct Rewritten {
  std::string text;
  std::vector<std::string> changes;  // `User.follows: ~50 -> ~51`, in the order of the text
};
// An error where the result would not be the same model but for its figures.
Result<Rewritten> with_figures(const language::SourceFile& source, const runtime::Statistics& statistics);

// A figure as it is written after `~`: two digits that count. `3_100`, `51`, `2.5`, `0.21`, `0`.
std::string rounded_figure(double number);

}  // namespace noam::cli
