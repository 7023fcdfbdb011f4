#pragma once

#include <optional>

#include "noam/model/model.h"

// Numbers that follow from the statistics that were written. Nothing where not enough was written.
namespace noam::model {

struct Estimate {
  double value = 0;
  bool derived = false;  // worked out from other figures, not written

  bool operator==(const Estimate&) const = default;
};

// How many there are. Where it was not written: what the instances of another entity have of it, through a role.
std::optional<Estimate> instances(const Model& model, EntityId entity);

// How many references of the role an instance of `from` holds; of a reference to one: 1.
std::optional<Estimate> forward_fan_out(const Model& model, const Role& role);

// How many instances of `from` refer to an instance of `to`.
std::optional<Estimate> backward_fan_out(const Model& model, const Role& role);

}  // namespace noam::model
