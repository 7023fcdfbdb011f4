#pragma once

#include <string>

#include "noam/cli/opening.h"

// `noam backup` and `noam restore` (docs/store.md).
namespace noam::cli {

struct BackupOptions {
  OpeningOptions opening;
  std::string folder;  // --to, --from
  bool json = false;
};

CLI::App* add_backup_command(CLI::App& app, BackupOptions& options);
int back_up(const BackupOptions& options);

CLI::App* add_restore_command(CLI::App& app, BackupOptions& options);
int restore(const BackupOptions& options);

}  // namespace noam::cli
