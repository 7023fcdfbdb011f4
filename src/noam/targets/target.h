#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/sample.h"
#include "noam/targets/capabilities.h"
#include "noam/targets/outline.h"
#include "noam/targets/statements.h"

// A target is a name and a function from a design to the files that a database needs. It saves nothing.
namespace noam::targets {

struct File {
  std::string path;  // relative, with `/`
  std::string text;
};

struct Generated {
  std::vector<File> files;
  std::vector<Warning> warnings;
};

// What a design may say `with` the target.
struct Option {
  std::string_view name;
  std::string_view about;
};

struct Target {
  std::string_view name;     // `cassandra`
  std::string_view title;    // `Apache Cassandra 5`
  std::string_view summary;  // `CQL tables; a row an entry`
  const Capabilities* capabilities = nullptr;
  std::span<const Option> options;
  // Words that mean something to the database, or to the language of its files: a name that is one is written another
  // way, or stands where it does no harm.
  std::span<const std::string_view> reserved;
  // Without a sample, no data.
  Generated (*generate)(const Outline& outline, const design::Sample* sample) = nullptr;
  std::vector<Measure> (*measure)(const Outline& outline) = nullptr;
  // Every statement of the model, as the files have it.
  std::vector<ListedStatement> (*statements)(const Outline& outline) = nullptr;
};

// In the order in which they are listed.
std::span<const Target> all_targets();
// An error that names what there is.
Result<const Target*> find_target(std::string_view name);

// Where the design goes beyond what the database takes, at the statistics of the model; and options it does not know.
std::vector<Warning> check_design(const Target& target, const Outline& outline);

}  // namespace noam::targets
