#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/cli/arguments.h"

// `noam design`: how a model lies in a database, and what its statements do there. (docs/design.md)
namespace noam::cli {

struct DesignOptions {
  std::string path;
  std::string strategy = "eao";
  std::string mix;
  std::optional<std::string> explain;  // a statement; empty: all
  bool json = false;
  std::string draw;  // `blocks`, `tables`; empty: no picture
  bool svg = false;
  std::string output;             // a file; empty: standard output
  std::vector<std::string> data;  // files and folders whose instances are drawn
};

Command add_design_command(CommandLine& line, DesignOptions& options);
int show_design(DesignOptions options);

}  // namespace noam::cli
