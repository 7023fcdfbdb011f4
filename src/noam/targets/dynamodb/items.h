#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "noam/design/sample.h"
#include "noam/targets/dynamodb/layout.h"

// Data as items.
namespace noam::targets::dynamodb {

// A PutItem request an item, table by table.
std::vector<nlohmann::ordered_json> put_requests(const Layout& layout, const design::Sample& sample);

}  // namespace noam::targets::dynamodb
