#pragma once

#include <cstdint>
#include <string>

#include "noam/base/json.h"

namespace noam::tests {

// Something that answers requests as `noam run --batch` does (docs/json.md): the runtime under some design on some
// store, or the reference evaluator. Whatever the engine, the answers are the same (`same_answer`).
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // {"run": "name", "params": {…}, "id": "…", "cursor": "…"}: a command or a query.
  virtual Json answer(const Json& request) = 0;

  // The clock of the engine, milliseconds since 1970. It stands still between calls of `set_time`.
  virtual void set_time(std::int64_t milliseconds) = 0;

  // Carries out the refreshed query now.
  virtual void refresh(const std::string& query) = 0;

  // Deletes what is due.
  virtual void expire() = 0;
};

}  // namespace noam::tests
