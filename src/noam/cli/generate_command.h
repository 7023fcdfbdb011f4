#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace noam::cli {

struct GenerateOptions {
  std::string path;
  std::string target;
  std::string strategy = "eao";
  std::string output;
  std::vector<std::string> data;
  bool force = false;
  bool json = false;
};

CLI::App* add_generate_command(CLI::App& app, GenerateOptions& options);
int generate_files(const GenerateOptions& options);

struct TargetsOptions {
  std::string name;
  bool json = false;
};

CLI::App* add_targets_command(CLI::App& app, TargetsOptions& options);
int show_targets(const TargetsOptions& options);

}  // namespace noam::cli
