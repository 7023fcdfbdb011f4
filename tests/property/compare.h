#pragma once

#include <optional>
#include <string>

#include "noam/base/json.h"
#include "noam/model/model.h"

namespace noam::tests::property {

// Why two answers to one request are not the same; nothing where they are. Rows of a query, or of a nested select, that
// has neither `order by` nor `limit` are compared as a bag. Reasons and the texts of cursors are left to the engines;
// that there is a cursor is not.
std::optional<std::string> difference(const model::Model& model, const Json& request, const Json& a, const Json& b);

}  // namespace noam::tests::property
