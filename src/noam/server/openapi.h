#pragma once

#include "noam/base/json.h"
#include "noam/runtime/session.h"
#include "noam/server/access.h"

namespace noam::server {

// The endpoints of a session that somebody may use, as an OpenAPI document, version 3.1: parameters, types, answers and
// errors.
Json describe(const runtime::Session& session, const Rights& rights);

}  // namespace noam::server
