#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/base/json_text.h"
#include "noam/model/datum_json.h"
#include "noam/model/model.h"

namespace noam::model {

// A json is given back as it came, so what was rounded is refused (`value`) if it lies in a json: in the value of
// this type, which `outer` leads to. `name` is what a refusal calls that value; without one it says the reason alone.
std::optional<Refusal> refuse_rounded(const Model& model, const Type& type, const std::vector<RoundedInteger>& rounded,
                                      const JsonPath& outer, const std::string& name);

}  // namespace noam::model
