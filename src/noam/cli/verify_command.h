#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/base/json.h"
#include "noam/cli/arguments.h"
#include "noam/cli/lines.h"
#include "noam/cli/opening.h"
#include "noam/runtime/session.h"

// `noam verify`: is every copy what its base says? (docs/commands/verify.md)
namespace noam::cli {

struct VerifyOptions {
  OpeningOptions opening;
  std::string after;  // a file of requests that are run before; `-`: standard input
  bool json = false;
};

Command add_verify_command(CommandLine& line, VerifyOptions& options);
int verify_copies(const VerifyOptions& options);

// A line each, some of each collection.
std::string differences_text(const std::vector<runtime::Difference>& differences);
// What was found, for a person or as JSON.
Json verification_object(const runtime::Verification& found, const std::string& strategy);
std::string verification_text(const runtime::Verification& found, const std::string& strategy,
                              const std::optional<Answered>& before);
std::string verification_json(const runtime::Verification& found, const std::string& strategy,
                              const std::optional<Answered>& before);
int verification_exit_code(const runtime::Verification& found);

}  // namespace noam::cli
