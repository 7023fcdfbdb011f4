#pragma once

#include <cstdint>
#include <vector>

#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

namespace noam::runtime {

using Row = std::vector<model::Datum>;

// What an expression may ask for besides its row.
struct Environment {
  const model::Model* model = nullptr;
  std::vector<model::Datum> parameters;
  std::int64_t now = 0;  // milliseconds
  model::CommandId id;   // of a command
  std::uint32_t change = 0;
  bool command = false;             // what does not fit is told; in a query it is absent, and that is all
  mutable bool overflowed = false;  // arithmetic did not fit somewhere
  // Of a command: nested answers in which it did not fit, and which columns of what was computed last that concerns.
  bool tells_overflow = false;
  mutable std::vector<std::uint32_t> overflowed_slots;
  mutable std::vector<char> overflowed_columns;
};

// The value of an expression over slots. Arithmetic that does not fit gives absent, and sets `overflowed`.
model::Datum evaluate(const Environment& environment, const model::Expr& expr, const Row& row);

// A part of the key that a reference is.
model::Datum key_part(const model::Model& model, model::EntityId entity, const model::Datum& reference,
                      std::uint32_t field);

}  // namespace noam::runtime
