#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "noam/design/design.h"
#include "noam/design/logical.h"
#include "noam/design/plan.h"

namespace noam::design {

// An expression that an entry of a family holds, and where.
struct Held {
  model::Expr expr;  // over the nodes of the family; a Fold where it is one
  Place place;
};

// A family taken apart: the rows it holds, and what of them.
struct FamilyLogic {
  Logical logical;
  Body body;
  std::vector<model::Expr> block;  // parts of the keys, over its nodes
  std::vector<model::Expr> key;
  std::vector<model::Expr> cells;  // one a cell: a Fold where it is one; a row where it is an object, or a list of the
                                   // rows that share the keys; a nested select where it is a list with its own `from`
  std::vector<Held> held;          // keys and cells as a query may ask for them; nested lists left out
  std::vector<std::uint32_t> collapsed;       // grouped: nodes that the keys do not determine
  std::optional<Place> weight;                // grouped: how many rows share the entry
  std::optional<std::uint32_t> element_node;  // base of elements

  // Whether nothing is computed in its keys and conditions that may not fit.
  [[nodiscard]] bool always_fits() const;
};

FamilyLogic take_apart(const model::Model& model, const Design& design, const Family& family);

// Stands for what the head of an instance holds beside fields: the keys of the elements of a field that lie in blocks
// of their own, or when the instance expires.
inline constexpr std::uint32_t due_marker = UINT32_MAX;
model::Expr hidden_marker(model::Expr instance, std::uint32_t field);

// What tells apart the rows of a node: its key, position, or itself.
std::vector<model::Expr> identity(const Logical& logical, std::uint32_t node);

// Whether it computes numbers, of which some may not fit.
bool computes(const model::Expr& expr);

// Equal in what they mean; types aside.
bool alike(const model::Expr& a, const model::Expr& b);

// Which nodes of the body have one value where these expressions do.
std::vector<std::uint32_t> undetermined(const model::Model& model, const Logical& logical, const Body& body,
                                        const std::vector<const model::Expr*>& known);

}  // namespace noam::design
