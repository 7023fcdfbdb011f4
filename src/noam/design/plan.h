#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "noam/design/logical.h"
#include "noam/model/model.h"

// How a query is answered on a design: steps over rows. A row is a list of values, the slots; each step reads slots
// that were filled before it and fills others. Expressions in plans speak of slots (ExprKind::Slot) and parameters
// only.
namespace noam::design {

// Where one part of a key comes from.
struct KeySource {
  enum class Kind : std::uint8_t {
    Value,     // one value; an absent one finds nothing, unless it is `exact`
    EachOf,    // every element of a collection, each once
    Buckets,   // the start of every period from that of `value` to that of `high`
    AnyWord,   // every word of a text, each once
    AllWords,  // one word of a text (the rest is asked of what it finds)
  };
  Kind kind = Kind::Value;
  model::Expr value;
  model::Expr high;                              // Buckets
  model::Function unit = model::Function::None;  // Buckets
  bool exact = false;                 // Value: read from the row itself, so that absent is looked for as absent
  std::optional<std::uint32_t> slot;  // where the value goes, too
};

// Values of the part of the entry key after the fixed ones. Wider than what is asked does no harm: it is asked again.
struct KeyRange {
  std::optional<model::Expr> low;
  std::optional<model::Expr> high;
  bool low_inclusive = true;
  bool high_inclusive = true;

  [[nodiscard]] bool bounded() const { return low || high; }
};

// Where in an entry a value lies.
struct Place {
  enum class Kind : std::uint8_t { Block, Key, Cell, Hidden };
  Kind kind = Kind::Cell;
  std::uint32_t index = 0;
  std::vector<std::uint32_t> inside;  // of a cell that is an object: the way down

  bool operator==(const Place&) const = default;
};

struct Output {
  Place place;
  std::uint32_t slot = 0;
  model::Type type;    // what an optional lookup that finds nothing puts there: nothing of this type
  bool alone = false;  // nothing else of the step is at the place
};

// The value at the place must equal the expression.
struct Check {
  Place place;
  model::Expr value;
};

enum class StepKind : std::uint8_t {
  Lookup,   // entries of one block (or of several) for each row
  Scan,     // all entries of a family
  Collect,  // all entries of one block become one collection in a slot
  Unnest,   // a row for each element of a collection in the row
  Filter,
  Nested,     // a select of its own for each row
  Refreshed,  // rows of a refreshed query
};

struct Plan;

struct Step {
  StepKind kind = StepKind::Filter;
  std::uint32_t family = 0;       // Lookup, Scan, Collect
  std::vector<KeySource> block;   // Lookup, Collect
  std::vector<KeySource> prefix;  // Lookup: the first parts of the entry key
  KeyRange range;
  bool optional = false;  // a row that finds nothing stays
  std::vector<Output> outputs;
  std::vector<Check> checks;
  std::optional<std::uint32_t> found_slot;  // optional: where `found` goes if something was found, else nothing
  model::Expr found;
  std::optional<std::uint32_t> weight_slot;  // grouped: how many rows an entry stands for, times those of the row
  std::optional<Place> weight;
  bool reverse = false;
  bool limited = false;    // each lookup need not give more than the plan's limit (and one)
  bool with_next = false;  // Lookup of one entry: the next step (after the last, the first late one) collects from its
                           // block, so both are read at once

  // Filter: the predicate. Unnest: the collection. Collect of elements in blocks of their own: their keys, or of a list
  // how many there are.
  model::Expr expr;
  bool spread = false;                                    // Collect: the elements lie in blocks of their own
  model::TypeKind collection = model::TypeKind::Unknown;  // Collect, Unnest: what it is
  std::uint32_t slot = 0;                                 // Collect, Nested: where the value goes; Unnest: the element
  std::optional<std::uint32_t> key_slot;                  // Unnest: position or key

  std::uint32_t query = 0;  // Refreshed
  bool history = false;

  std::vector<Plan> nested;              // Nested: one
  std::vector<std::uint32_t> looked_at;  // Nested: the slots of the row that its answer hangs on
  model::Shape shape = model::Shape::Rows;
  bool as_set = false;

  // What it is thought to cost, for one execution of the plan.
  double reads = 0;
  double entries = 0;
  double bytes = 0;

  // Every part of the block's key is one value: a row looks at one block.
  [[nodiscard]] bool one_block() const {
    return std::all_of(block.begin(), block.end(),
                       [](const KeySource& source) { return source.kind == KeySource::Kind::Value; });
  }
};

// One fold of a grouping. The result goes to a slot.
struct FoldStep {
  model::Fold fold = model::Fold::Count;
  bool distinct = false;
  model::TypeKind kind = model::TypeKind::Int;  // of what is folded
  std::optional<model::Expr> operand;           // none: count(*)
  // Where the rows are entries that hold folded parts:
  std::optional<std::uint32_t> folded_count;
  std::optional<std::uint32_t> folded_value;  // a sum, an extreme, or the result itself
  bool result = false;                        // `folded_value` is the result: one row a group
  std::uint32_t slot = 0;
};

// A column of rows that are entries: what lies at a place of the entry, or a record of what lies at some.
struct ShownColumn {
  struct Part {
    Place place;              // not a hidden one, nor inside of another
    bool collection = false;  // so an absent one is empty
  };
  std::vector<Part> parts;
  bool record = false;
};

struct Plan {
  std::uint32_t first_slot = 0;  // those before come from outside
  std::uint32_t slots = 0;
  std::vector<Step> steps;  // until the rows are known that count

  bool folded = false;
  std::vector<model::Expr> group_by;
  std::vector<FoldStep> folds;
  bool distinct = false;
  bool ordered = false;
  std::vector<model::OrderTerm> order_by;
  bool sorted = false;  // the first step delivers that order already: it is read piece by piece, until there is enough
  std::optional<model::Expr> limit;
  std::vector<Step> late;  // for the rows that are left: what is only shown
  std::vector<OutputColumn> columns;
  bool slots_shown_once = false;   // by the columns, at most
  std::vector<ShownColumn> shown;  // the same columns, where the rows are just the entries of one range, as they come
  std::optional<std::uint32_t> weight;  // slot: a row stands for so many

  bool scans = false;  // reads a whole collection
  std::optional<std::uint32_t>
      cap;                   // reads a family with this limit: for the first page only, and no more rows than that
  bool needs_words = false;  // finds nothing where the text asked for has no words
  double rows = 0;           // it is thought to give
  double cost = 0;
  std::vector<Plan> otherwise;  // none or one: where this one can't be used (next pages, no words)
};

// The slots that an expression reads, the same perhaps several times.
void collect_slots(const model::Expr& expr, std::vector<std::uint32_t>& out);
// Those from outside that a plan reads, ascending, each once: two rows that agree in them have one answer.
std::vector<std::uint32_t> outer_slots(const Plan& plan);

// The families that a plan reads, or may read instead.
std::set<std::uint32_t> families_read(const Plan& plan);

}  // namespace noam::design
