#pragma once

#include <string>
#include <vector>

#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"

// `noam deploy`, `refresh`, `sweep`, `repair` and `drill`: what keeps a store in order (docs/store.md).
namespace noam::cli {

// Of commands that ask for nothing but a store.
struct UpkeepOptions {
  OpeningOptions opening;
  bool json = false;
};

Command add_deploy_command(CommandLine& line, UpkeepOptions& options);
int deploy_design(const UpkeepOptions& options);

struct RefreshOptions {
  OpeningOptions opening;
  std::vector<std::string> queries;  // none: all
  bool json = false;
};
Command add_refresh_command(CommandLine& line, RefreshOptions& options);
int refresh_queries(const RefreshOptions& options);

Command add_sweep_command(CommandLine& line, UpkeepOptions& options);
int sweep_store(const UpkeepOptions& options);

Command add_repair_command(CommandLine& line, UpkeepOptions& options);
int repair_copies(const UpkeepOptions& options);

struct DrillOptions {
  OpeningOptions opening;
  std::string collection;
  bool json = false;
};
Command add_drill_command(CommandLine& line, DrillOptions& options);
int break_copy(const DrillOptions& options);

}  // namespace noam::cli
