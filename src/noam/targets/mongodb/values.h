#pragma once

#include "noam/targets/documents.h"
#include "noam/targets/mongodb/javascript.h"

// Values and types of a model in MongoDB's: BSON, as the shell writes it and as a validator asks for it.
namespace noam::targets::mongodb {

Js literal(const documents::Node& node);

// A schema in the sense of $jsonSchema.
Js schema_of(const documents::Layout& layout, const model::Type& declared);
// The same for a part of a key, which is null where it is absent.
Js key_schema_of(const documents::Layout& layout, const model::Type& type);
// Of a column: a sum that noam keeps may be longer than a decimal of BSON, and is a string then.
Js schema_of(const documents::Layout& layout, const Column& column);

// BSON orders binary data by its length first, and version 1 UUIDs not by their time; addresses are texts.
bool sorts(const model::Model& model, const model::Type& declared);

}  // namespace noam::targets::mongodb
