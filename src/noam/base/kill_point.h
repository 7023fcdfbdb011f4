#pragma once

#include <array>
#include <atomic>
#include <cstdint>

// Moments at which tests/faults ends the process, to see what is left: before and after each step that is to be all or
// nothing. Elsewhere they cost a look at a variable that never changes.
namespace noam {

enum class KillPoint : std::uint8_t {
  // A commit of the embedded store.
  CommitPrepared,   // nothing is held yet
  CommitValidated,  // nothing is written
  CommitWritten,    // in the log, not on disk; nobody was told, and its blocks seem untouched
  CommitReleased,   // others see it, and it is not on disk
  CommitSynced,     // on disk, and not told
  // One that is a table of its own, besides.
  TableWritten,  // under its temporary name; nothing is held yet
  TableReady,    // all before it is on disk
  TableTaken,    // in the database and on disk; nobody was told, and its blocks seem untouched
  // The head file.
  HeadBegun,    // under its temporary name, not on disk
  HeadSynced,   // there is the old one and the new one
  HeadRenamed,  // the folder is not on disk
  // A folder that is made all at once: a new store, a backup, one that is restored.
  FolderBegun,
  FolderFilled,
  FolderRenamed,
  DeploymentWritten,   // the head does not know of it
  CloseFlushed,        // everything is in tables, and the database open
  CloseClosed,         // the head has the number of an earlier change
  BackupCheckpointed,  // without a head
  RestoreCopied,
  RestoreChecked,
  // The session.
  LoadApplied,    // some rows of a load, and more to come
  RepairApplied,  // one family, and more to come
};

inline constexpr std::array kill_point_names = {
    "CommitPrepared", "CommitValidated", "CommitWritten",     "CommitReleased", "CommitSynced", "TableWritten",
    "TableReady",     "TableTaken",      "HeadBegun",         "HeadSynced",     "HeadRenamed",  "FolderBegun",
    "FolderFilled",   "FolderRenamed",   "DeploymentWritten", "CloseFlushed",   "CloseClosed",  "BackupCheckpointed",
    "RestoreCopied",  "RestoreChecked",  "LoadApplied",       "RepairApplied",
};
static_assert(kill_point_names.size() == static_cast<std::size_t>(KillPoint::RepairApplied) + 1, "each has its name");

// What tests do there.
inline std::atomic<void (*)(KillPoint)> at_kill_point = nullptr;

inline void kill_point(KillPoint point) {
  if (const auto act = at_kill_point.load(std::memory_order_relaxed); act != nullptr) [[unlikely]]
    act(point);
}

}  // namespace noam
