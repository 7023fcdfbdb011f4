#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "noam/base/json.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

// Data as lines of JSON have it (docs/json.md), checked against its type.
namespace noam::model {

// Why something was not done: the code of docs/json.md and one line for a person.
struct Refusal {
  std::string code;
  std::string reason;

  bool operator==(const Refusal&) const = default;
};

// A value, or why it is none. A refusal names the place in the value: `round.moves: …`.
class DatumOrRefusal {
 public:
  DatumOrRefusal(Datum datum) : held_(std::move(datum)) {}        // NOLINT: shaped as a Result
  DatumOrRefusal(Refusal refusal) : held_(std::move(refusal)) {}  // NOLINT
  explicit operator bool() const { return held_.index() == 0; }
  [[nodiscard]] Datum& operator*() { return std::get<0>(held_); }
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(held_); }

 private:
  std::variant<Datum, Refusal> held_;
};

// Reads a value of the type. `value` where it is of another type, is out of range, is an unknown enumeration text, or
// has unknown members; `required` where something required is null or missing. Members of a value that are missing
// have their default, else are absent or empty. Sets and maps may come in any order (the last of equal map keys wins).
// Text limits (`text(8)`) are not checked here but where a value is stored: see `storable`. `name` is what a refusal
// calls the value itself; without one it begins with the place inside, or says the reason alone.
DatumOrRefusal read_json(const Model& model, const Type& type, const Json& json, const std::string& name = {});

Json write_json(const Model& model, const Type& type, const Datum& datum);
// The aggregate of an entity, given its fields in their order: an object without its hidden key.
Json write_aggregate_json(const Model& model, const Entity& entity, const Datum& fields,
                          const std::vector<std::uint32_t>& without);

// What a field has that was not given: its default, else absent or empty.
Datum initial_value(const Field& field);

// What is asked of a value before it is stored in a field of the type: text and bytes limits and enumerations
// (`value`), presence
// (`required`), and of references that they are keys (`key`: no empty text or bytes, at most 1,024 bytes in all). Keys
// are asked last. `name` is what a refusal calls the value.
std::optional<Refusal> storable(const Model& model, const Type& type, const Datum& datum, const std::string& name);
// The same for the key of an instance, given as a reference.
std::optional<Refusal> storable_key(const Model& model, EntityId entity, const Datum& key);

// How many bytes a key takes: texts and bytes by their length, bool 1, date 4, int and timestamp 8, uuid 16, inet 17,
// decimal 20.
std::size_t key_bytes(const Model& model, const Type& type, const Datum& datum);

// `no Game "g1"`: an instance as a reason names it: the entity's name and its key as JSON, shortened.
std::string instance_name(const Model& model, EntityId entity, const Datum& key);

// What somebody gave, as a reason repeats it: in full where it is short.
std::string shortened(std::string_view text, std::size_t longest = 60);

}  // namespace noam::model
