#pragma once

#include <vector>

#include "noam/base/json.h"
#include "noam/design/sample.h"
#include "noam/targets/dynamodb/layout.h"

// Data as items.
namespace noam::targets::dynamodb {

// A PutItem request an item, table by table.
std::vector<Json> put_requests(const Layout& layout, const design::Sample& sample);

}  // namespace noam::targets::dynamodb
