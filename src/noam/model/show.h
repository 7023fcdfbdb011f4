#pragma once

#include <string>

#include "noam/model/model.h"

namespace noam::model {

// The model as it was understood, for a person at a terminal: about 100 columns, ends in a line break.
std::string show_text(const Model& model);

// All statements with the types of their parameters, a line each.
std::string show_signatures(const Model& model);

// What `show_text` says of one statement.
std::string show_statement(const Model& model, const StatementRef& statement);

// The same for programs, complete. docs/json.md describes it.
std::string show_json(const Model& model);

}  // namespace noam::model
