#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"
#include "noam/base/result.h"
#include "noam/model/model.h"

// Statements and their parameters as a person types them.
namespace noam::language {

// A query or a command of a model.
struct Statement {
  std::string_view name;
  const model::Query* query = nullptr;  // none: a command
  const std::vector<model::Parameter>* parameters = nullptr;
};

std::vector<std::string_view> statement_names(const model::Model& model);

// `did you mean …?`, or all of them where they are few, else `otherwise`.
std::string remedy(std::string_view name, const std::vector<std::string_view>& names, std::string_view otherwise);

// The error says what may have been meant, and `otherwise` where they are too many to be listed.
Result<Statement> find_statement(const model::Model& model, std::string_view name, std::string_view otherwise);

// Nothing (null) where it has none of this name.
const model::Parameter* find_parameter(const Statement& statement, std::string_view name);
Error no_parameter(const Statement& statement, std::string_view name);

// What a value on the command line stands for, as JSON of the type: texts are taken as they are, and so are other
// scalars where they are written as in JSON but without quotes; everything else is JSON. What is no value of the type
// is handed on, for the session to refuse; an error where it is not even JSON.
Result<Json> read_argument(const model::Model& model, const model::Type& type, const std::string& text);

// `at=2026-01-31T08:30:00Z`: a value in the right form, quoted as a shell needs it.
std::string example_of(const model::Model& model, const model::Parameter& parameter);

// Adds an example of the right form to the reason of an answer, if it refuses the form of one of these parameters.
void add_example(const model::Model& model, const Statement& statement, const Json& params, Json& answer);

// Adds a parameter to the member `params` of a request. An error where the statement has none of this name, it is there
// already, or the value is not in the form of its type; then with an example of that.
Result<void> add_argument(const model::Model& model, const Statement& statement, const std::string& name,
                          const std::string& text, Json& params);

}  // namespace noam::language
