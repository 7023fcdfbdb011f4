#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "noam/design/design.h"
#include "noam/model/model.h"

// A select, or the source of a family, taken apart into what plans are made of: nodes that are bound, and conjuncts
// that hold. Two that mean the same look the same here, however they were written: `Tweet t where t.author = $a` and
// `User u, u.tweets t where u.username = $a` differ only in that the second asks for u to exist.
namespace noam::design {

enum class NodeKind : std::uint8_t {
  Instance,   // an existing instance of an entity
  Optional,   // the instance that `source` refers to, if there is one; its fields are absent where there is none
  Element,    // an element of the collection `source`
  Word,       // a word of the text `source`
  Refreshed,  // a row of the last refresh of `query`
  History,    // a row of any kept refresh of `query`
  Given,      // a value known from outside: the key of the instance a command changes, an element of its `for`
};

struct Node {
  NodeKind kind = NodeKind::Instance;
  std::string name;
  model::Type type;
  model::Expr source;
  std::uint32_t query = 0;

  [[nodiscard]] bool is_instance() const { return kind == NodeKind::Instance; }
};

struct OutputColumn {
  std::string name;
  model::Expr expr;
};

// Expressions speak of nodes (ExprKind::Variable) and of nested selects (ExprKind::Select, whose index is into
// Logical::subs). A field that is not part of a key hangs on a node, never on another reference.
struct Body {
  std::vector<std::uint32_t> nodes;  // Instance, Element, Refreshed, History, Word: one row a binding of them all
  std::vector<model::Expr> where;    // conjuncts
  std::vector<model::Expr> implied;  // follow from `where`; no need to ask them
  bool distinct = false;
  bool folded = false;
  model::Shape shape = model::Shape::Rows;
  std::vector<OutputColumn> columns;
  std::vector<model::Expr> group_by;
  std::vector<model::OrderTerm> order_by;  // with the keys that break ties, where the order is asked for
  bool ordered = false;
  std::optional<model::Expr> limit;
};

struct Sub {
  Body body;
  bool as_set = false;  // the column's values as a set: an inverse read as a value
  model::Type type;
};

struct Logical {
  std::vector<Node> nodes;
  std::vector<Sub> subs;
};

// One statement, or one family, being taken apart. Variables of the statement become nodes; `optional` nodes are made
// as expressions need them, one for each different reference.
class Normalizer {
 public:
  Normalizer(const model::Model& model, Logical& out, const std::vector<model::Variable>& variables)
      : model_(model), out_(out), variables_(variables), nodes_(variables.size()), elements_(variables.size()) {}

  // A node known from outside for this variable.
  std::uint32_t give(std::uint32_t variable);
  // Binds the variables of a `from`, in their order.
  void bind(const std::vector<std::uint32_t>& from, Body& body);
  // `always_ordered`: also where the select asks for no order, so that its rows have positions.
  Body normalize(const model::Select& select, bool always_ordered = false);
  // From here on, symmetric roles as the instance itself keeps them.
  void read_as_kept() { as_kept_ = true; }
  // For an expression outside a select, or inside one whose variables are bound.
  model::Expr rewrite(const model::Expr& expr);
  void add_condition(const model::Expr& rewritten, Body& body) const;
  [[nodiscard]] std::uint32_t node_of(std::uint32_t variable) const { return *nodes_[variable]; }
  // What orders the rows of a variable: its key, last to first among variables.
  [[nodiscard]] std::vector<model::Expr> order_keys(std::uint32_t variable) const;

 private:
  std::uint32_t add_node(Node node);
  std::uint32_t optional(const model::Expr& reference);
  model::Expr as_instance(const model::Expr& reference);  // a node's variable that stands for the target
  model::Expr read_field(const model::Expr& object, const model::Expr& original);
  std::uint32_t inverse_sub(const model::Expr& target, std::uint32_t role, bool count);
  void bind_variable(std::uint32_t variable, Body& body);
  model::Expr referring(std::uint32_t node, const model::Role& role, const model::Expr& target) const;

  const model::Model& model_;
  Logical& out_;
  const std::vector<model::Variable>& variables_;
  std::vector<std::optional<std::uint32_t>> nodes_;
  std::vector<std::optional<std::uint32_t>> elements_;  // of a variable over a list or map of references
  bool as_kept_ = false;                                // symmetric roles as the instance itself keeps them
};

// Small makers of expressions.
model::Expr node_expr(const Logical& logical, std::uint32_t node);
model::Expr field_expr(const model::Model& model, model::Expr object, std::uint32_t field);
model::Expr call_expr(model::Function function, model::Type type, std::vector<model::Expr> operands);
model::Expr equal_expr(model::Expr a, model::Expr b);
bool is_call(const model::Expr& expr, model::Function function);
bool is_key_part(const model::Model& model, const model::Type& reference, std::uint32_t field);

// An instance by a reference to it, which is node 0: the select that gives its key, where it exists, and its fields.
Body select_instance(const model::Model& model, model::EntityId entity, Logical& logical);
// Nodes that the expression speaks of (through nested selects too, without those bound inside).
void collect_nodes(const Logical& logical, const model::Expr& expr, std::vector<std::uint32_t>& nodes);

}  // namespace noam::design
