#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "noam/base/json_text.h"
#include "noam/model/datum.h"
#include "noam/model/datum_json.h"
#include "noam/model/json_text.h"
#include "noam/model/model.h"

// Whole instances, with their keys, as files of data have them (docs/commands/load.md).
namespace noam::model {

// What a field is called in a file: its name; of a hidden key `_key`, with more underscores where a field is called so.
std::string member_name(const Entity& entity, std::size_t field);

// The fields of an instance in their order, or why they are none.
class FieldsOrRefusal {
 public:
  FieldsOrRefusal(Datum::List fields) : held_(std::move(fields)) {}  // NOLINT: shaped as a Result
  FieldsOrRefusal(Refusal refusal) : held_(std::move(refusal)) {}    // NOLINT
  explicit operator bool() const { return held_.index() == 0; }
  [[nodiscard]] Datum::List& operator*() { return std::get<0>(held_); }
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(held_); }

 private:
  std::variant<Datum::List, Refusal> held_;
};

// An object whose members are fields. What is left out has its default, else is absent or empty; keys that noam makes
// are absent where they are left out or null. `value` where a member is no field or has a wrong value, `required`
// where something required is null or missing.
FieldsOrRefusal read_instance_json(const Model& model, const Entity& entity, const JsonText& text);

// The same object: what is absent is left out, but where a default would take its place it is null.
Json write_instance_json(const Model& model, const Entity& entity, const Datum::List& fields);

}  // namespace noam::model
