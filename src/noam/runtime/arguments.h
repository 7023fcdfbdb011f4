#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/datum.h"
#include "noam/model/datum_json.h"
#include "noam/model/model.h"

namespace noam::runtime {

// Nothing where the datum is one of the type, as model::Datum describes it, with its ranges, UTF-8, and the order of
// sets and maps; else why it is not: `required` where something required is absent, `value` for everything else.
// Limits of texts and keys are not asked here, but where a value is stored. `name` is what a refusal calls the datum.
std::optional<model::Refusal> mismatch(const model::Model& model, const model::Type& type, const model::Datum& datum,
                                       const std::string& name);

// The parameters that limits are taken from, wherever in a statement these stand.
std::vector<std::uint32_t> limit_parameters(const model::Query& query);
std::vector<std::uint32_t> limit_parameters(const model::Command& command);

}  // namespace noam::runtime
