#pragma once

#include <string>
#include <vector>

#include "noam/cli/opening.h"

// `noam deploy`, `refresh`, `sweep`, `repair` and `drill`: what keeps a store in order (docs/store.md).
namespace noam::cli {

// Of commands that ask for nothing but a store.
struct UpkeepOptions {
  OpeningOptions opening;
  bool json = false;
};

CLI::App* add_deploy_command(CLI::App& app, UpkeepOptions& options);
int deploy_design(const UpkeepOptions& options);

struct RefreshOptions {
  OpeningOptions opening;
  std::vector<std::string> queries;  // none: all
  bool json = false;
};
CLI::App* add_refresh_command(CLI::App& app, RefreshOptions& options);
int refresh_queries(const RefreshOptions& options);

CLI::App* add_sweep_command(CLI::App& app, UpkeepOptions& options);
int sweep_store(const UpkeepOptions& options);

CLI::App* add_repair_command(CLI::App& app, UpkeepOptions& options);
int repair_copies(const UpkeepOptions& options);

struct DrillOptions {
  OpeningOptions opening;
  std::string collection;
  bool json = false;
};
CLI::App* add_drill_command(CLI::App& app, DrillOptions& options);
int break_copy(const DrillOptions& options);

}  // namespace noam::cli
