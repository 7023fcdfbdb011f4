#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"
#include "noam/cli/records.h"
#include "noam/runtime/session.h"

// `noam export`: the instances of a store as files that `noam load` reads (docs/commands/load.md).
namespace noam::cli {

struct ExportOptions {
  OpeningOptions opening;
  std::string folder;                 // empty: standard output
  std::vector<std::string> entities;  // none: all
  std::string format = "jsonl";
  bool force = false;
  bool json = false;
};

Command add_export_command(CommandLine& line, ExportOptions& options);
int export_data(const ExportOptions& options);

struct ExportedFile {
  std::string entity;
  std::string file;  // empty: the entity is transient, nothing of it is kept
  std::size_t instances = 0;
};

// A file an entity, all of one moment. They appear when all of them are complete, or not at all; one that is there
// already is an error unless `replace`.
Result<std::vector<ExportedFile>> export_to_folder(runtime::Session& session,
                                                   const std::vector<model::EntityId>& entities, DataFormat format,
                                                   const std::string& folder, bool replace);

std::string export_text(const std::vector<ExportedFile>& files);
std::string export_json(const std::vector<ExportedFile>& files, bool one_moment);

}  // namespace noam::cli
