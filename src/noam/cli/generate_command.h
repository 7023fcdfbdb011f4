#pragma once

#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/cli/arguments.h"
#include "noam/targets/target.h"

// `noam generate` and `noam targets`: what other databases need, and what they can do. (docs/targets.md)
namespace noam::cli {

// A target by its name; the error says which is meant, or which there are.
Result<const targets::Target*> find_target(const std::string& name);
// What is to be said of a design on a target: its limits, its options, and whether it was written for it.
std::vector<targets::Warning> warnings_for(const targets::Target& target, const targets::Outline& outline);
// Two lines: what, and what to do about it.
std::string shown(const targets::Warning& warning);

struct GenerateOptions {
  std::string path;
  std::string target;
  std::string strategy = "eao";
  std::string output;
  std::string file;  // the only one that is printed
  std::vector<std::string> data;
  bool force = false;
  bool json = false;
};

Command add_generate_command(CommandLine& line, GenerateOptions& options);
int generate_files(const GenerateOptions& options);

struct TargetsOptions {
  std::string name;
  bool json = false;
};

Command add_targets_command(CommandLine& line, TargetsOptions& options);
int show_targets(const TargetsOptions& options);

}  // namespace noam::cli
