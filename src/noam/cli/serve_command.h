#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "noam/cli/arguments.h"
#include "noam/cli/opening.h"

// `noam serve`: the statements of a model over HTTP (docs/commands/serve.md).
namespace noam::cli {

struct ServeOptions {
  OpeningOptions opening;
  std::string listen = "127.0.0.1:8080";
  std::string tokens;
  std::vector<std::string> hosts;
  std::string log = "-";
  std::string timeout = "30s";
  std::size_t workers = 64;
  std::size_t max_body = std::size_t{8} << 20U;
  bool no_schedule = false;
};

Command add_serve_command(CommandLine& line, ServeOptions& options);
int serve(const ServeOptions& options);

}  // namespace noam::cli
