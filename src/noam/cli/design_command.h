#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

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

CLI::App* add_design_command(CLI::App& app, DesignOptions& options);
int show_design(DesignOptions options);

}  // namespace noam::cli
