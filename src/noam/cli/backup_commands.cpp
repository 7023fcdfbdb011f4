#include "noam/cli/backup_commands.h"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "noam/base/json.h"
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
    return Error{fmt::format("store `{}` has no folder to copy; this is for `rocksdb:FOLDER`", url)};
  return *folder;
}

void add_options(CLI::App& command, BackupOptions& options, const char* name, const char* what) {
  command.add_option("FILE", options.opening.path, "The model, whose store is meant where --store names none");
  add_store_option(command, options.opening);
  command.add_option(name, options.folder, what)->required()->type_name("FOLDER");
  command.add_flag("--json", options.json, "What was done, as JSON");
}

int tell(const BackupOptions& options, const char* from, const std::string& source, const std::string& made,
         std::uint64_t bytes) {
  if (options.json)
    return deliver(dumped({{"schema", 1}, {from, source}, {"made", made}, {"bytes", bytes}}), exit_fine);
  return deliver(fmt::format("{}: {}, from {}\n", made, model::bytes_figure(static_cast<double>(bytes)), source),
                 exit_fine);
}

}  // namespace

CLI::App* add_backup_command(CLI::App& app, BackupOptions& options) {
  CLI::App* command = app.add_subcommand("backup", "Copy a store, as it is at one moment, into a new folder");
  add_options(*command, options, "--to", "The folder to make: missing, or empty");
  command->footer(
      "The copy is a store of its own: it can be opened as `--store rocksdb:FOLDER`, or restored. On one file system "
      "it\n"
      "shares the files that never change, so that it takes no room and no time; on another they are copied. Where it\n"
      "fails, nothing is left.\n"
      "Example: noam backup shop.noam --to backups/monday\n"
      "More:    docs/commands/backup.md");
  return command;
}

int back_up(const BackupOptions& options) {
  const auto folder = find_folder(options.opening);
  if (!folder) return complain(folder.error().message);
  const auto store = stores::open_rocksdb_store(*folder);
  if (!store) return complain(store.error().message);
  {
    ProgressLine line;
    line.show("copying");
    if (const auto done = (*store)->back_up(options.folder); !done) return complain(done.error().message);
  }
  return tell(options, "store", *folder, options.folder, (*store)->bytes_on_disk());
}

CLI::App* add_restore_command(CLI::App& app, BackupOptions& options) {
  CLI::App* command = app.add_subcommand("restore", "Make a store from a backup, after every byte of it was checked");
  add_options(*command, options, "--from", "The backup");
  command->footer(
      "The store must not be there yet: a store that is damaged is put aside first (mv shop.data shop.broken). The "
      "backup\n"
      "stays as it is, and shares nothing with the store. Where something in it is damaged, nothing is made.\n"
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
