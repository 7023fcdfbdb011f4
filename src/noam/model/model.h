#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/span.h"
#include "noam/model/expression.h"
#include "noam/model/type.h"

// What the application knows, asks and does: a checked model, as plain values. Spans point into the text it came from,
// for diagnostics of later steps.
namespace noam::model {

// The figures a person wrote with `~`; where nothing was written there is nothing.
struct Statistic {
  std::optional<double> count;     // instances, length or fan-out
  std::optional<double> distinct;  // different values
  std::optional<double> zipf;      // skew

  bool operator==(const Statistic&) const = default;
};

struct Field {
  std::string name;
  Type type;
  Statistic statistic;
  std::optional<double> about_bytes;  // text(~80)
  std::optional<Expr> initial;        // its default: a constant or an empty collection
  std::optional<std::uint32_t> role;  // into Model::roles, where it is a reference or a collection of them
  bool automatic = false;             // made by noam at insert
  bool hidden = false;                // the key of an entity that declares none
  Span span;                          // of the name

  bool operator==(const Field&) const = default;
};

struct Value {
  std::string name;
  std::vector<Field> fields;
  Span span;  // of the name

  bool operator==(const Value&) const = default;
};

struct Ttl {
  std::int64_t minutes = 0;
  std::optional<std::uint32_t> from;  // a field; none: the command's time

  bool operator==(const Ttl&) const = default;
};

struct Entity {
  std::string name;
  bool transient = false;
  Statistic statistic;
  std::vector<Field> fields;
  std::vector<std::uint32_t> key;       // fields, in order; never empty
  std::vector<std::uint32_t> inverses;  // roles of others (or its own) that name a way back from here
  std::vector<std::uint32_t> owners;    // roles of its own marked `owner`
  std::optional<Ttl> ttl;
  std::vector<Expr> require;  // over variable 0, the instance
  Span span;                  // of the name

  bool operator==(const Entity&) const = default;
};

// One relationship: a field of an entity that holds references, and the way back where it has a name.
struct Role {
  EntityId from{};
  std::uint32_t field = 0;
  EntityId to{};
  std::string inverse;    // empty: no name
  bool many = false;      // list, set or map
  bool optional = false;  // at most one
  bool owner = false;
  bool symmetric = false;
  bool map_key = false;  // the map's keys refer, not its values
  Statistic backward;    // how many refer to one; the forward figures are the field's

  bool operator==(const Role&) const = default;
};

struct Parameter {
  std::string name;  // without the $
  Type type;         // optional: may be left out
  bool declared = false;
  Span span;

  bool operator==(const Parameter&) const = default;
};

struct Refresh {
  std::int64_t every_minutes = 0;
  std::int64_t keep = 1;

  bool operator==(const Refresh&) const = default;
};

struct Query {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Variable> variables;
  Select select;
  std::optional<Refresh> refresh;
  Type row;  // Row: the columns
  Span span;

  bool operator==(const Query&) const = default;
};

enum class ChangeKind : std::uint8_t {
  Insert,  // entity, assignments: one a field in their order (defaults filled in; auto keys absent); variable: `as`
  Put,     // the same
  Update,  // target (a reference), variable (the instance), assignments
  UpdateWhere,  // entity, variable, where, assignments
  Delete,       // target
  DeleteWhere,  // entity, variable, where, limit
  Append,
  Add,
  Remove,       // argument (one element, or a collection of them with `all`), path
  RemoveKey,    // argument, path
  RemoveAt,     // path, an Element
  RemoveWhere,  // path, element, where
  PutInto,      // key, argument, path
  Require,      // argument
  For,          // variable, body
};

struct Assignment {
  Expr target;  // Field and Element steps down from the variable of the instance
  Expr value;

  bool operator==(const Assignment&) const = default;
};

struct Change {
  ChangeKind kind = ChangeKind::Require;
  bool then = false;  // absence of the instance is no refusal
  bool all = false;
  EntityId entity{};
  std::optional<std::uint32_t> variable;  // the instance that is changed or made; of a `for` its element
  std::optional<std::uint32_t> element;   // RemoveWhere: what `where` asks
  Expr target;                            // the instance that is changed, as a reference
  Expr path;  // the collection that is changed, from a variable of kind Target (`variable` of the instance) down
  Expr argument;
  Expr key;
  std::vector<Assignment> assignments;
  std::optional<Expr> where;
  std::optional<Expr> limit;
  std::vector<Change> body;
  Span span;

  bool operator==(const Change&) const = default;
};

struct Command {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Variable> variables;
  std::vector<Change> changes;
  bool bulk = false;  // one UpdateWhere or DeleteWhere, alone
  Span span;

  bool operator==(const Command&) const = default;
};

struct StatementRef {
  bool command = false;
  std::uint32_t index = 0;

  bool operator==(const StatementRef&) const = default;
};

struct Group {
  std::string name;
  std::vector<StatementRef> statements;
  Span span;

  bool operator==(const Group&) const = default;
};

struct Weight {
  StatementRef statement;
  double weight = 0;

  bool operator==(const Weight&) const = default;
};

struct Mix {
  std::string name;
  std::string like;                       // empty: none
  std::optional<double> rate_per_second;  // all statements together
  std::vector<Weight> weights;            // groups and `like` worked in; one a statement
  Span span;

  bool operator==(const Mix&) const = default;
};

// Designs as they were written, resolved and checked.

struct Part {
  Expr expr;
  bool descending = false;
  std::string name;
  Span span;

  bool operator==(const Part&) const = default;
};

enum class CellShape : std::uint8_t { Plain, Object, List };

struct Cell {
  CellShape shape = CellShape::Plain;
  std::string name;
  Expr expr;                        // Plain: a field or a fold
  std::vector<Cell> cells;          // Object, List
  std::vector<std::uint32_t> from;  // List: variables of its own; none: the rows that share the keys
  std::vector<Part> order_by;
  std::optional<std::uint32_t> limit;
  Span span;

  bool operator==(const Cell&) const = default;
};

struct WrittenFamily {
  bool copy = false;
  std::vector<std::string> path;       // empty: ε
  bool elements = false;               // [*]: one entry an element of the collection that the path names
  std::optional<std::uint32_t> field;  // entries: the own field that the path names
  std::vector<Part> key;
  std::vector<Cell> cells;          // `*` worked out
  std::vector<std::uint32_t> from;  // variables of its own, after those of the collection
  std::optional<Expr> where;
  std::optional<std::uint32_t> limit;
  Span span;

  bool operator==(const WrittenFamily&) const = default;
};

struct TargetOption {
  std::string target;
  std::string name;
  Expr value;

  bool operator==(const TargetOption&) const = default;
};

struct WrittenCollection {
  std::string name;
  std::vector<Variable> variables;  // of the collection, its families and nested lists
  std::vector<std::uint32_t> from;  // `of`
  std::vector<Part> by;
  std::vector<TargetOption> options;
  std::vector<WrittenFamily> families;
  Span span;

  bool operator==(const WrittenCollection&) const = default;
};

struct WrittenDesign {
  std::string name;
  std::vector<std::string> targets;
  std::vector<WrittenCollection> collections;
  std::string rest;  // the strategy that places what the design leaves out
  Span span;

  bool operator==(const WrittenDesign&) const = default;
};

// What a model was read from. Models that mean the same are equal, however they are written.
struct SourceText {
  std::string text;

  bool operator==(const SourceText& /*other*/) const { return true; }
};

struct Model {
  SourceText text;
  std::string name;
  std::vector<Entity> entities;
  std::vector<Value> values;
  std::vector<Role> roles;
  std::vector<Query> queries;
  std::vector<Command> commands;
  std::vector<Group> groups;
  std::vector<Mix> mixes;
  std::vector<WrittenDesign> designs;

  bool operator==(const Model&) const = default;

  [[nodiscard]] const Entity& entity(EntityId id) const { return entities[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const std::vector<Field>& fields(const Type& type) const {  // of a Reference or a Value
    return type.kind == TypeKind::Reference ? entity(type.entity()).fields : value(type.value()).fields;
  }
};

// The type as it is written: `list<Round>`, `text(8)?`, `"open" | "paid"`, `User`.
std::string to_string(const Model& model, const Type& type);

// The expression as it would be written, with the names of the given variables and parameters.
std::string to_string(const Model& model, const Expr& expr, const std::vector<Variable>& variables,
                      const std::vector<Parameter>& parameters);

// How many bytes an instance's own fields take on average, by its types and statistics.
double average_bytes(const Model& model, const Entity& entity);
double average_bytes(const Model& model, const Field& field);

}  // namespace noam::model
