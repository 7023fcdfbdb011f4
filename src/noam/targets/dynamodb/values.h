#pragma once

#include <optional>
#include <string>

#include "noam/base/json.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

// Values as DynamoDB has them: `{"S": "mary"}`.
namespace noam::targets::dynamodb {

// What an attribute of the type is: S, N, B, BOOL, M, L, SS, NS or BS.
std::string type_letter(const model::Model& model, const model::Type& type);

// Nothing where there is nothing to store: what is absent, and sets without elements, which DynamoDB does not have.
std::optional<Json> attribute_value(const model::Model& model, const model::Type& type, const model::Datum& datum);

// S, N or B where a key attribute can hold the type as it is; `sorted`: and sorts it as noam does.
std::optional<char> key_letter(const model::Model& model, const model::Type& type, bool sorted);

// A value in a key attribute with that letter, where nothing is ever absent or empty (see never_empty).
Json key_value(const model::Model& model, const model::Type& type, const model::Datum& datum);

// As it stands in the name of an attribute: `likes[17]`.
std::string name_text(const model::Model& model, const model::Type& type, const model::Datum& datum);

}  // namespace noam::targets::dynamodb
