#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/design/design.h"
#include "noam/design/plan.h"
#include "noam/model/model.h"

// A design as databases see it: every key and column with a name, a type and what it means. Without plans.
namespace noam::schemas {

// Something of the model that has a place in the database: an entity's field.
struct Attribute {
  model::EntityId entity{};
  std::uint32_t field = 0;

  bool operator==(const Attribute&) const = default;
};

// A part of a key, or a column of an entry.
struct Column {
  std::string name;  // as the design calls it; of what nobody asked for, `noam_…`
  model::Type type;
  design::Place place;  // Block, Key, Cell or Hidden, and its index
  bool descending = false;
  bool counts = false;  // a count or a whole sum: may be kept by adding
  std::string meaning;  // `Game.first_player`, `count(*)`
  std::optional<Attribute> attribute;
  bool identifies = false;                 // the attribute is part of its entity's key
  std::optional<model::Literal> constant;  // a part of a key that is the same for all entries of the family
  std::optional<design::Place> same_as;    // a part of a key of the same entry that has the same value
};

struct FamilyOutline {
  std::uint32_t index = 0;  // in Design::families
  std::string label;        // `users.numbers`: unlike any other of the design
  std::string path;         // `rounds`, `hours`; empty: ε
  std::vector<Column> key;
  std::vector<Column> values;  // cells, then hidden; as stores::Entry and design::Sample have them
  model::TypeKind elements = model::TypeKind::Unknown;  // List, Set, Map: an entry an element of such a field
  bool base = false;
  bool existence = false;                 // there is an entry for each instance
  bool adds = false;                      // kept by adding to its columns, without reading them
  std::optional<std::uint32_t> vanishes;  // of the values: how many rows share the entry, which is there if it is not 0
  std::optional<std::uint32_t> limit;
  double entries = 0;  // that it is estimated to have, and
  double bytes = 0;    // of one of them

  [[nodiscard]] bool one_a_block() const { return key.empty(); }
};

struct CollectionOutline {
  std::uint32_t index = 0;  // in Design::collections
  std::string name;
  std::vector<Column> block;
  std::vector<FamilyOutline> families;
  std::vector<model::TargetOption> options;  // of all targets
  double blocks = 0;                         // that it is estimated to have

  // A text that the design gives for this target, `with cassandra(caching: "…")`.
  [[nodiscard]] std::optional<std::string> option(std::string_view target, std::string_view option_name) const;
};

// A warning about a schema.
struct Warning {
  std::string code;     // `beyond-limit`
  std::string message;  // lower case, no full stop
  std::string remedy;

  bool operator==(const Warning&) const = default;
};

struct Outline {
  const model::Model* of = nullptr;
  const design::Design* design = nullptr;
  std::vector<CollectionOutline> collections;  // in the order of the design

  [[nodiscard]] const model::Model& model() const { return *of; }
  [[nodiscard]] const FamilyOutline& family(std::uint32_t index) const;
  [[nodiscard]] const CollectionOutline& collection_of(std::uint32_t family) const;
};

// What noam keeps for itself alone: which commands were applied, how far a load came. It comes with the runtime, not
// with a schema that others use.
enum class Own : std::uint8_t { Without, With };

// Model and design must outlive it. Without estimates of sizes.
Outline outline(const model::Model& model, const design::Design& design, Own own = Own::Without);

// The key of an entity as its instances are referred to: one type a part.
std::vector<model::Type> key_types(const model::Model& model, const model::Type& reference);

}  // namespace noam::schemas
