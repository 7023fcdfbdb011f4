#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "noam/design/design.h"
#include "noam/design/family_logic.h"
#include "noam/design/logical.h"
#include "noam/design/plan.h"
#include "noam/model/model.h"

namespace noam::design {

// An expression whose value is in a slot before the plan begins.
struct Atom {
  model::Expr expr;
  std::uint32_t slot = 0;
};

struct PlannerOptions {
  bool scans = true;                        // where nothing else answers
  bool lookups_alone = true;                // is tried first
  bool capped = true;                       // families with a limit, where they cover the question
  bool words = true;                        // families by word
  std::uint32_t max_stratum = UINT32_MAX;   // families above are not read
  std::optional<std::uint32_t> instead_of;  // not this family
  // In commands, where a number that does not fit is an answer: what is computed from an instance is computed again,
  // and not looked up, since a key that does not fit is absent.
  bool sees_overflow = false;
};

// Finds the cheapest plan by simple costs: a lookup, an entry, a byte. Knows the families of a design, taken apart.
class Planner {
 public:
  Planner(const model::Model& model, const Design& design);

  // Adds what was appended to the design since.
  void update(const Design& design);

  // Nothing where no plan is complete. `given` are slots that are filled, `bound` nodes that are known by them.
  std::optional<Plan> plan(Logical& logical, const Body& body, const std::vector<Atom>& given,
                           const PlannerOptions& options = {}, const std::vector<std::uint32_t>& bound = {}) const;

  [[nodiscard]] const FamilyLogic& logic(std::uint32_t family) const { return logics_[family]; }
  [[nodiscard]] const model::Model& model() const { return model_; }
  [[nodiscard]] const Design& design() const { return *design_; }

  // How many entries a family is thought to have, and how many of them share a block.
  [[nodiscard]] double entries(std::uint32_t family) const;
  [[nodiscard]] double bytes(std::uint32_t family) const;  // of an entry
  [[nodiscard]] double length(const model::Expr& collection) const;
  [[nodiscard]] double different(const Logical& logical, const model::Expr& expr, double rows) const;

 private:
  const model::Model& model_;
  const Design* design_;
  std::vector<FamilyLogic> logics_;
};

}  // namespace noam::design
