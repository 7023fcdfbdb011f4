#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/design/design.h"
#include "noam/design/family_logic.h"
#include "noam/design/plan.h"
#include "noam/model/model.h"

// A model on a design: a plan for every statement, and for keeping every copy right.
namespace noam::design {

// Values worked out at once, from values that are known: slot v of the seed is variable v of the command.
struct Computation {
  Plan plan;
  bool reads_copies = false;  // so they must have followed what the command changed before

  [[nodiscard]] bool there() const { return !plan.columns.empty(); }
};

struct ChangePlan {
  Computation inputs;        // one column for each of change_inputs()
  Computation target;        // the key of the instance, which the other inputs may ask for fields; else nothing
  Computation where;         // RemoveWhere: of an element; bulk changes: of the instance, asked again
  std::optional<Plan> find;  // bulk changes: the keys of those that match
  std::vector<ChangePlan> body;
};

struct CommandPlan {
  std::vector<ChangePlan> changes;
};

// The expressions that a change works out before it does anything, in a fixed order.
std::vector<const model::Expr*> change_inputs(const model::Command& command, const model::Change& change);

struct PartsPlan {  // what refers to an instance: what goes with its owner, or keeps the other side of a symmetric role
  model::EntityId entity{};
  std::uint32_t field = 0;
  Plan plan;  // seed: the instance; column: what refers to it
};

// What is kept of transient parts of an owner.
struct Forgetting {
  std::uint32_t family = 0;
  // For each part of the block's key and then of the entry's: which expression of the owner (slot 0) it is, if any.
  std::vector<std::optional<model::Expr>> parts;
  // And which field of the event it tells, or which part of the key that a reference is.
  struct Told {
    std::uint32_t field = 0;
    std::optional<std::uint32_t> part;
  };
  model::EntityId event{};
  std::vector<std::optional<Told>> told;
};

// A list which nothing else depends on: to append to it, nobody needs to know what is in it.
struct AppendPlan {
  std::uint32_t field = 0;
  std::uint32_t head = 0;                 // the family whose entry tells that the instance is there, and
  std::uint32_t column = 0;               // in which column the list is, or how long it is where
  std::optional<std::uint32_t> elements;  // elements lie by themselves, in this family
};

struct EntityPlan {
  Plan load;  // seed: the key; columns: the key if it exists, the fields, when it expires (absent where it has no ttl)
  Plan all;   // columns: the key
  Computation require;  // seed: the key, then the fields; columns: the requirements
  std::vector<PartsPlan> parts;
  std::vector<PartsPlan> keepers;  // by symmetric roles
  std::vector<Forgetting> forgets;
  std::vector<AppendPlan> appends;
};

// The rows of a family that one aggregate is part of.
struct DirectPlan {
  model::EntityId entity{};
  std::vector<std::uint32_t> fields;  // that matter
  Plan plan;                          // seed: the key, then its fields
};

// The rows of a family that depend on an aggregate that is not one of them.
struct IndirectPlan {
  model::EntityId entity{};
  std::vector<std::uint32_t> fields;
  bool reference_only = false;  // the seed is the key alone; else the key, then its fields
  Plan plan;                    // columns: identities of the rows
};

struct RefreshPlan {
  std::uint32_t query = 0;
  bool history = false;
  Plan plan;  // seed: time, position, columns
};

// How a copy is kept. A derived row is: the parts of the block's key, of the entry's key, one value a cell (of a fold
// what is folded), and what identifies the row.
struct Upkeep {
  std::uint32_t family = 0;
  std::vector<DirectPlan> direct;
  std::vector<IndirectPlan> indirect;
  std::vector<RefreshPlan> refreshes;
  std::optional<Plan> by_identity;  // seed: an identity
  std::optional<Plan> by_key;       // grouped with lists: the rows of one entry; seed: block and entry key
  std::optional<Plan> by_block;     // capped: the rows of one block; seed: block key
  std::optional<Plan> all;          // from bases alone; none where they do not tell (transient)
  std::uint32_t identity_size = 0;
};

struct Program {
  std::shared_ptr<const model::Model> model;
  Design design;
  std::vector<Plan> queries;
  std::vector<CommandPlan> commands;
  std::vector<EntityPlan> entities;
  std::vector<Upkeep> upkeep;  // in the order in which copies are brought up to date
  std::vector<FamilyLogic> logics;
};

// Adds the access paths that statements and copies need, and plans all. An error where the design can't be kept.
Result<Program> make_program(std::shared_ptr<const model::Model> model, Design design);

}  // namespace noam::design
