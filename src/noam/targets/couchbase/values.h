#pragma once

#include "noam/base/json.h"
#include "noam/targets/documents.h"

// Values of a model as JSON documents have them.
namespace noam::targets::couchbase {

Json json_of(const documents::Node& node);

// SQL++ orders texts by their bytes, numbers as numbers and objects in a way of its own; what is written as text for
// want of a type sorts as such.
bool sorts(const model::Model& model, const model::Type& declared);

}  // namespace noam::targets::couchbase
