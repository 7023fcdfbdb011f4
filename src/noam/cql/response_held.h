#pragma once

#include "noam/cql/bridge.h"
#include "noam/cql/response.h"

namespace noam::cql {

// An outcome of the driver, and what the request said about itself.
struct Response::Held {
  bridge::Outcome outcome{};
  Nature nature;

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { bridge::noam_cql_free(&outcome); }
};

inline std::string_view view(bridge::Slice slice) {
  return {reinterpret_cast<const char*>(slice.data), slice.data == nullptr ? 0 : slice.size};
}

}  // namespace noam::cql
