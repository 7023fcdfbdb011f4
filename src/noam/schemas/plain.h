#pragma once

#include <string>
#include <string_view>

#include "noam/base/json.h"
#include "noam/model/datum.h"
#include "noam/schemas/outline.h"

// Values as programs other than noam expect them, for targets that keep texts and JSON.
namespace noam::schemas {

// Of a reference to an entity whose key has one part, the type of that part.
const model::Type& resolved(const model::Model& model, const model::Type& type);

// Whether it is one text: a scalar, or a reference by one part.
bool is_scalar(const model::Model& model, const model::Type& type);

// A scalar that is there, as a text: `42`, `true`, `2024-02-29T23:59:59.999Z`; bytes are hexadecimal.
std::string plain_text(const model::Model& model, const model::Type& type, const model::Datum& datum);

// As lines of JSON have it, but that what is absent in an object is left out, and a map whose keys are scalars is an
// object.
Json plain_json(const model::Model& model, const model::Type& type, const model::Datum& datum);

// The text of a scalar, or the JSON of what is none; of what is there.
std::string text_of(const model::Model& model, const model::Type& type, const model::Datum& datum);

// Two small digits a byte.
std::string hexadecimal(std::string_view bytes);

// The entity that a base holds fields or elements of.
model::EntityId entity_of(const Outline& outline, const FamilyOutline& base);

// The family that tells that an instance is there, of the entity that the base is of.
const FamilyOutline& head_of(const Outline& outline, const FamilyOutline& base);

}  // namespace noam::schemas
