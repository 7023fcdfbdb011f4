#pragma once

#include <string>

#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"

// `noam backup` and `noam restore` (docs/store.md).
namespace noam::cli {

struct BackupOptions {
  OpeningOptions opening;
  std::string folder;  // --to, --from
  bool json = false;
};

Command add_backup_command(CommandLine& line, BackupOptions& options);
int back_up(const BackupOptions& options);

Command add_restore_command(CommandLine& line, BackupOptions& options);
int restore(const BackupOptions& options);

}  // namespace noam::cli
