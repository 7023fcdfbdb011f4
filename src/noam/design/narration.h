#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/design/program.h"

// How a plan works, in words and in numbers. Plans speak of slots; a person knows the variables of the statement.
namespace noam::design {

// What is thought to be read, on average. What a lookup finds is the planner's estimate; how many rows it is done for
// is worked out here, since that needs to be known inside nested selects, too.
struct Work {
  double reads = 0;    // blocks that are asked for
  double entries = 0;  // that come back
  double bytes = 0;    // of those

  Work& operator+=(const Work& other);
  bool operator==(const Work&) const = default;
};
Work operator*(const Work& work, double times);

enum class DeedKind : std::uint8_t {
  Lookup,
  Scan,
  Collect,
  Refreshed,
  Unnest,
  Filter,
  Nested,  // `inside`: for each row
  Group,
  Distinct,
  Sort,
  InOrder,  // the rows come in the order that is asked for
  Limit,
  Project,
  Load,       // commands: an aggregate by its key; `inside`: how
  Compute,    // commands: what a change needs; `inside`: how
  Otherwise,  // `inside`: where the rest can't be used; costs nothing here
};
const char* deed_name(DeedKind kind);

// One line of a plan.
struct Deed {
  DeedKind kind = DeedKind::Lookup;
  std::string text;                     // `look up Tweet_by_author [t.author = $author]`
  std::optional<std::uint32_t> family;  // that is read
  Work work;                            // for one execution of the whole plan, without what is inside
  std::vector<Deed> inside;
  const Step* step = nullptr;  // of the program, where it is one
  bool whole_block = false;    // no step, and reads all entries of a block
};

struct Narration {
  std::vector<Deed> deeds;
  double rows = 0;  // that come out, for one execution
};

// With what is inside; without what is done otherwise.
Work total(const std::vector<Deed>& deeds);

// Steps of a query; of a refreshed one, those of its refresh.
Narration narrate_query(const Program& program, std::uint32_t index);
// Steps that work out what a change needs; `change` is one of the command, or inside a `for` of it.
Narration narrate_inputs(const Program& program, const model::Command& command, const model::Change& change,
                         const ChangePlan& plan);
// The condition of a change, asked of one element or instance.
Narration narrate_where(const Program& program, const model::Command& command, const model::Change& change,
                        const ChangePlan& plan);
// How a bulk change finds the instances.
Narration narrate_find(const Program& program, const model::Command& command, const model::Change& change,
                       const Plan& plan);
// How an instance is read by its key.
Narration narrate_load(const Program& program, model::EntityId entity);
// What goes with an owner, or keeps the other side of a symmetric role.
Narration narrate_parts(const Program& program, model::EntityId owner, const PartsPlan& plan);
// How the rows of a copy are found: `which` counts in Upkeep::direct or ::indirect.
Narration narrate_direct(const Program& program, const Upkeep& upkeep, std::size_t which);
Narration narrate_indirect(const Program& program, const Upkeep& upkeep, std::size_t which);
Narration narrate_by_identity(const Program& program, const Upkeep& upkeep);

// How many elements a collection is thought to have.
double usual_length(const model::Model& model, const model::Expr& collection);

// `caches_by_users`, `users.numbers`: the collection, and the path of the family where it has one.
std::string family_label(const Design& design, std::uint32_t index);

}  // namespace noam::design
