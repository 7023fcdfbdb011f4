#pragma once

#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/program.h"
#include "noam/design/sample.h"
#include "noam/stores/store.h"

namespace noam::cli {

// The instances of files or folders, such as `noam load` takes, as they lie under the design of the program. Nothing is
// written anywhere. Refreshed queries are refreshed once. It is the same each time: the clock stands still, at the
// first moment of 2025 (only keys that noam makes, where the data has none, differ). The error is one line; the first
// bad line of the data is one.
Result<design::Sample> read_sample(const design::Program& program, const std::vector<std::string>& paths);

// All that a store has under the design of the program.
Result<design::Sample> sample_of(stores::Store& store, const design::Program& program);

}  // namespace noam::cli
