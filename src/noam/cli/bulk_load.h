#pragma once

#include "noam/cli/load_command.h"

namespace noam::cli {

// `noam load --bulk`: into an embedded store in a temporary folder, with all checks, and from there into the store.
int load_in_bulk(const LoadOptions& options);

}  // namespace noam::cli
