#include "noam/cli/backup_commands.h"

#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/files.h"
#include "noam/cli/progress.h"
#include "noam/cli/report.h"
#include "noam/model/layout.h"
#include "noam/stores/rocksdb.h"

namespace noam::cli {

namespace {

// The folder of the store that is meant.
Result<std::string> find_folder(const OpeningOptions& options) {
  NOAM_ASSIGN_OR_RETURN(const std::string url, store_url(options));
  const auto folder = embedded_folder(url);
  if (!folder || folder->empty())
    return Error{fmt::format("store `{}` has no folder: this command needs `rocksdb:FOLDER`", url)};
  return *folder;
}

void add_options(Command& command, BackupOptions& options, const char* name, const char* what) {
  command.add_option("FILE", options.opening.path, "Model file; its store is used if --store is not given");
  add_store_option(command, options.opening);
  command.add_option(name, options.folder, what).required().type_name("FOLDER");
  command.add_flag("--json", options.json, "Print the result as JSON");
}

int tell(const BackupOptions& options, const char* from, const std::string& source, const std::string& made,
         std::uint64_t bytes) {
  if (options.json)
    return deliver(dumped({{"schema", 1}, {from, source}, {"made", made}, {"bytes", bytes}}), exit_fine);
  return deliver(fmt::format("{}: {}, from {}\n", made, model::bytes_figure(static_cast<double>(bytes)), source),
                 exit_fine);
}

}  // namespace

Command add_backup_command(CommandLine& line, BackupOptions& options) {
  Command command = line.add_command("backup", "Back up a store: a consistent copy in a new folder");
  add_options(command, options, "--to", "Folder for the backup, created if missing; must be empty");
  command.footer(
      "The backup is a store: open it with `--store rocksdb:FOLDER`, or restore it. On the same file system it shares\n"
      "the immutable files of the store, so it takes almost no time and space; otherwise they are copied.\n"
      "If the backup fails, nothing is left behind.\n"
      "Example: noam backup shop.noam --to backups/monday\n"
      "More:    docs/commands/backup.md");
  return command;
}

int back_up(const BackupOptions& options) {
  const auto folder = find_folder(options.opening);
  if (!folder) return complain(folder.error().message);
  const auto store = stores::open_rocksdb_store(*folder);
  if (!store) return complain(store.error().message);
  NewFolders parents;
  {
    ProgressLine line;
    line.show("copying");
    if (const auto created = parents.create(folder_around(options.folder)); !created)
      return complain(created.error().message);
    if (const auto done = (*store)->back_up(options.folder); !done) return complain(done.error().message);
  }
  parents.keep();
  return tell(options, "store", *folder, options.folder, (*store)->bytes_on_disk());
}

Command add_restore_command(CommandLine& line, BackupOptions& options) {
  Command command = line.add_command("restore", "Create a store from a backup, after checking every byte of it");
  add_options(command, options, "--from", "Folder of the backup");
  command.footer(
      "The store must not exist; move a damaged store away first (mv shop.data shop.broken). The backup is not\n"
      "changed and shares no files with the store. If the backup is damaged, no store is created.\n"
      "Example: noam restore shop.noam --from backups/monday\n"
      "More:    docs/commands/restore.md");
  return command;
}

int restore(const BackupOptions& options) {
  const auto folder = find_folder(options.opening);
  if (!folder) return complain(folder.error().message);
  std::uint64_t bytes = 0;
  {
    ProgressLine line;
    line.show("copying and checking");
    const auto done = stores::restore_rocksdb_store(options.folder, *folder);
    if (!done) return complain(done.error().message);
    bytes = *done;
  }
  return tell(options, "backup", options.folder, *folder, bytes);
}

}  // namespace noam::cli
