#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/program.h"

namespace noam::runtime {

// Where a store cannot watch a whole collection, a command must not rely on one. An error that names the first command
// that does, what it looks through, and what would help. Bulk changes and refreshes may: each instance that they find
// is asked again, and a refresh is of no moment that others could know.
Result<void> relies_on_no_collection(const design::Program& program);

// A query that looks through a whole collection. On such a store, nothing tells whether its rows were so at one moment.
struct ScanningQuery {
  std::string query;
  std::string collection;
};
std::vector<ScanningQuery> scanning_queries(const design::Program& program);

}  // namespace noam::runtime
