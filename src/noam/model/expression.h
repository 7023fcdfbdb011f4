#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "noam/base/span.h"
#include "noam/model/type.h"

namespace noam::model {

// A scalar of the language. Its type says how to read it: monostate is absent; int, timestamp (milliseconds) and date
// (days since 1970) are integers; text and enumeration are UTF-8; decimal is positional and shortest ("1.5"); bytes,
// uuid (16 bytes) and inet (4 or 16 bytes) are raw.
using Literal = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

enum class Function : std::uint8_t {
  None,
  // predicates; `!=`, `not in` and `is not absent` are Not of the others
  And,
  Or,
  Not,
  Equal,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Between,
  In,
  Contains,
  ContainsAll,
  ContainsAny,
  StartsWith,
  IsAbsent,
  // values
  Coalesce,
  Add,
  Subtract,
  Multiply,
  Negate,
  ToDecimal,
  Greatest,
  Least,
  Minute,
  Hour,
  Day,
  Week,
  Month,
  Year,
  Now,
  MakeUuid,  // Expr::index counts these two in their command, from 0
  RandomText,
  Position,   // of a list element's variable
  MapKey,     // of a map value's variable
  Shard,      // designs: a bucket of a hash
  Union,      // plans: of two sets
  MapValues,  // plans: of a map, as a list
  WordsOf,    // plans: of a text, as a set
};

enum class Fold : std::uint8_t { None, Count, Sum, Min, Max, Avg };

enum class ExprKind : std::uint8_t {
  Unknown,
  Constant,   // constant
  Parameter,  // index: into the statement's parameters
  Variable,   // index: into the statement's (or collection's) variables; of an entity: the reference to the instance
  Field,      // operands[0] . field `index` of its entity, value or row
  Inverse,    // operands[0] . the way back of role `index`: the set of the references of those that refer
  Element,    // operands[0] [ operands[1] ]: a list position or a map key; absent where it is not there
  Instance,   // E[k, …]: the reference made of the operands; index: the entity
  Call,       // function of the operands
  Fold,       // fold over the rows of its select; no operand: count(*)
  CountOf,    // number of elements of operands[0]: a collection, an inverse, a nested select
  Select,     // select[0]
  List,       // operands; the type says whether it is a list or a set
  Map,        // operands alternate key, value
  Record,     // a value: one operand a field, in their order; what was left out has its default or is absent
  Column,     // in `order by`: the output column `index`
  Refreshed,  // operands[0], a variable over a refreshed query: the time of its refresh
  Slot,       // in plans: the value `index` of the row
};

struct Select;

struct Expr {
  ExprKind kind = ExprKind::Unknown;
  Function function = Function::None;
  Fold fold = Fold::None;
  bool distinct = false;  // count(distinct x)
  std::uint32_t index = 0;
  Type type;
  Literal constant;
  std::vector<Expr> operands;
  std::vector<Select> select;  // none or one
  Span span;

  bool operator==(const Expr&) const;
};

// Equal but for where it was written.
bool same(const Expr& a, const Expr& b);

enum class SourceKind : std::uint8_t {
  Entity,      // every instance of `type`'s entity
  Path,        // the elements of `source`: a collection, an inverse, or a reference to one; existing targets only
  Instance,    // the one that `source` refers to, if it exists
  Refreshed,   // the rows of the last refresh of query `query`
  History,     // the rows of all kept refreshes of query `query`
  Words,       // the words of the text `source` (designs)
  References,  // the references that the collection `source` holds, whether their targets exist or not (designs)
  Target,      // the instance that a change changes
  Inserted,    // the instance that an `insert … as v` made
  Loop,        // an element of `source`, of a `for $x in …`
};

struct Variable {
  std::string name;
  SourceKind kind = SourceKind::Entity;
  Type type;  // Reference for instances, the element's type for elements, Row for refreshed rows
  Expr source;
  std::uint32_t query = 0;
  Span span;

  bool operator==(const Variable&) const = default;
};

struct Column {
  std::string name;
  Expr expr;
  bool aggregate = false;              // the whole aggregate of an entity's variable, not its key
  std::vector<std::uint32_t> without;  // fields left out of it
  Span span;

  bool operator==(const Column&) const = default;
};

struct OrderTerm {
  Expr expr;
  bool descending = false;

  bool operator==(const OrderTerm&) const = default;
};

enum class Shape : std::uint8_t { Rows, Row, Scalar };  // of a nested select: a list, one row or absent, one value

struct Select {
  bool distinct = false;
  bool folded = false;  // has folds or groups
  Shape shape = Shape::Rows;
  std::vector<Column> columns;
  std::vector<std::uint32_t> from;  // variables, in order
  std::optional<Expr> where;
  std::vector<Expr> group_by;
  std::vector<OrderTerm> order_by;
  std::optional<Expr> limit;
  Span span;

  bool operator==(const Select&) const = default;
};

}  // namespace noam::model
