#pragma once

#include "noam/base/json.h"
#include "noam/runtime/session.h"

namespace noam::server {

// The endpoints of a session as an OpenAPI document, version 3.1: parameters, types, answers and errors.
Json describe(const runtime::Session& session);

}  // namespace noam::server
