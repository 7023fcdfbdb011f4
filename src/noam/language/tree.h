#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "noam/base/span.h"

// What was written, before anything is known about what it means. Views point into the source text, which must
// outlive the tree. What could not be understood stays in the tree as unknown (an empty name, ExprKind::Unknown,
// TypeKind::Unknown): it has been reported, and later steps say nothing more about it.
namespace noam::language {

struct Name {
  std::string_view text;  // without backquotes; empty where it is missing
  Span span;
  bool quoted = false;

  [[nodiscard]] bool missing() const { return text.empty(); }
};

struct Number {  // as written, with its underscores: `1_000`, `0.9`
  std::string_view text;
  Span span;

  [[nodiscard]] bool missing() const { return text.empty(); }
};

struct Text {  // a text literal, decoded
  std::string value;
  Span span;
};

struct Duration {  // `7 days`
  Number amount;
  Name unit;  // minute(s), hour(s), day(s), week(s)
  Span span;
};

// Expressions

enum class ExprKind : std::uint8_t {
  Unknown,
  Number,  // number
  Text,    // text
  True,
  False,
  Absent,
  Typed,      // name is the type, text the literal: timestamp "2026-01-01T00:00:00Z"
  Duration,   // number, name is the unit
  Parameter,  // name without the $
  Name,       // name
  Member,     // operands[0] . name
  Index,      // operands[0] [ operands[1], … ]: a list position, a map key, or an entity's key
  Call,       // name ( operands… ), with `distinct` or `star` for folds
  Unary,      // op operands[0]
  Binary,     // operands[0] op operands[1]
  Between,    // operands[0] between operands[1] and operands[2]
  IsAbsent,   // operands[0] is absent;  `negated`: is not absent
  List,       // [ operands… ]
  Braces,  // { k: v, … }: operands alternate key, value; a value (keys are Name) or a map; empty: an empty collection
  Select,  // ( select … )
  Star,    // `*` or `r.*` (operands[0] is r), as a column of a design only
};

enum class Operator : std::uint8_t {
  None,
  Or,
  And,
  Not,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn,
  Contains,
  ContainsAll,
  ContainsAny,
  StartsWith,
  Coalesce,  // ??
  Add,
  Subtract,
  Multiply,
  Negate,
};

struct Select;

struct Expr {
  ExprKind kind = ExprKind::Unknown;
  Operator op = Operator::None;
  bool distinct = false;       // count(distinct x)
  bool star = false;           // count(*)
  bool negated = false;        // is not absent
  bool parenthesized = false;  // it stood in ( ) that the printer keeps only where they are needed
  Span span;
  Span op_span;  // the operator word or sign
  Name name;
  Number number;
  std::string text;  // decoded
  std::vector<Expr> operands;
  std::unique_ptr<Select> select;
};

struct Source {  // in `from`: Entity v | path v | Entity[key] v | Entity[key].path v | refreshed v | refreshed history
                 // v | words(e) v
  Expr what;
  bool history = false;
  Name variable;
  Span span;
};

enum class Direction : std::uint8_t { None, Ascending, Descending };  // None: not written

struct OrderTerm {
  Expr expr;
  Direction direction = Direction::None;
};

struct SelectColumn {
  Expr expr;
  std::vector<Name> without;  // `u without likes, shares`
  Name as;                    // empty: none
  Span span;
};

struct Select {
  bool distinct = false;
  std::vector<SelectColumn> columns;
  std::vector<Source> from;
  std::optional<Expr> where;
  std::vector<Expr> group_by;
  std::vector<OrderTerm> order_by;
  std::optional<Expr> limit;
  Span select_span;  // the word
  Span limit_span;   // the word; empty span where there is none
  Span span;
};

// Types and data

enum class TypeSyntax : std::uint8_t { Unknown, Named, List, Set, Map, Enumeration };

struct TypeExpr {
  TypeSyntax kind = TypeSyntax::Unknown;
  Name name;           // Named; for collections the word list, set, map
  Number length;       // text(8), text(~80); empty: none
  bool about = false;  // the length has a `~`
  std::vector<TypeExpr> arguments;
  std::vector<Text> texts;  // Enumeration
  bool optional = false;
  Span optional_span;  // the `?`
  Span span;
};

struct Statistic {  // `~50`, `distinct ~50`, `skew zipf(0.9)`: belongs to what it follows
  std::optional<Number> count;
  std::optional<Number> distinct;
  std::optional<Number> zipf;
};

struct Field {
  Name name;
  TypeExpr type;
  bool key = false;
  bool automatic = false;
  bool owner = false;
  Span key_span;
  Span auto_span;
  Span owner_span;
  std::optional<Name> inverse;
  Span inverse_span;            // the word
  Statistic statistic;          // of the field
  Statistic inverse_statistic;  // of the way back: what follows `inverse name`
  std::optional<Expr> initial;  // = default
  Span span;
};

struct ValueDecl {
  Name name;
  std::vector<Field> fields;
  Span span;
  Span body_end;  // the closing brace; empty where it is missing
};

struct KeyClause {
  std::vector<Name> parts;
  Span span;
};  // key (a, b)
struct TtlClause {
  Duration period;
  std::optional<Name> from;
  Span span;
};  // ttl 90 days from at
struct RequireClause {
  Expr condition;
  Span span;
};  // require stock >= 0

using EntityMember = std::variant<Field, KeyClause, TtlClause, RequireClause>;  // in the order written

struct EntityDecl {
  Name name;
  bool transient = false;
  Span transient_span;
  Statistic statistic;
  std::vector<EntityMember> members;
  Span span;
  Span body_end;
};

// Statements

struct ParameterDecl {
  Name name;  // without the $; its span is with it
  std::optional<TypeExpr> type;
  Span span;
};

struct QueryDecl {
  Name name;
  bool has_parentheses = false;
  std::vector<ParameterDecl> parameters;
  std::optional<Duration> refresh;
  std::optional<Number> keep;
  Select select;
  Span span;
  Span body_end;
};

enum class ChangeKind : std::uint8_t {
  Unknown,
  Insert,       // insert E {…} [as v]                 entity, assignments, variable
  Put,          // put E {…}                           entity, assignments
  Update,       // update E[k] {…}                     target, assignments
  UpdateWhere,  // update E v where p {…}              entity, variable, where, assignments
  Delete,       // delete E[k]                         target
  DeleteWhere,  // delete E v where p [limit n]        entity, variable, where, limit
  Append,       // append x | all xs to p              argument, all, target
  Add,          // add x | all xs to p                 argument, all, target
  Remove,       // remove x | all xs from p            argument, all, target
  RemoveKey,    // remove key k from p                 argument, target
  RemoveAt,     // remove p[$i]                        target (an Index)
  RemoveWhere,  // remove v from p v where q           variable, target, where
  PutInto,      // put k: v into p                     key, argument, target
  Require,      // require q                           argument
  For,          // for $x in $xs {…}                   variable (without the $), argument, body
};

struct Assignment {  // path: e
  Expr target;       // Name, Member, Index
  Expr value;
  Span span;
};

struct Change {
  ChangeKind kind = ChangeKind::Unknown;
  bool then = false;
  bool all = false;
  Span then_span;
  Span word_span;  // insert, put, …
  Span all_span;
  Name entity;
  Name variable;
  Expr target;
  Expr argument;
  Expr key;
  std::vector<Assignment> assignments;
  Span body_end;  // the closing brace of assignments or body
  std::optional<Expr> where;
  std::optional<Expr> limit;
  std::vector<Change> body;
  Span span;
};

struct CommandDecl {
  Name name;
  bool has_parentheses = false;
  std::vector<ParameterDecl> parameters;
  std::vector<Change> changes;
  Span span;
  Span body_end;
};

// Mixes

struct GroupDecl {
  Name name;
  std::vector<Name> statements;
  Span span;
  Span body_end;
};

struct MixEntry {
  Name name;
  Number weight;
  Span span;
};

struct MixDecl {
  Name name;
  std::optional<Name> like;
  std::optional<Number> rate;  // at 500/s
  Name rate_unit;              // s, min, hour, day
  std::vector<MixEntry> entries;
  Span span;
  Span body_end;
};

// Designs

struct DesignPart {  // expr [asc|desc] [as name]
  Expr expr;
  Direction direction = Direction::None;
  Name as;
  Span span;
};

struct DesignColumn;

struct Nested {  // inside { } or [ ]
  std::vector<DesignColumn> columns;
  std::vector<Source> from;
  std::vector<DesignPart> order_by;
  std::optional<Number> limit;
};

enum class ColumnShape : std::uint8_t { Plain, Object, List };  // expr | name {…} | name […]

struct DesignColumn {
  ColumnShape shape = ColumnShape::Plain;
  Expr expr;  // Plain; ExprKind::Star for `*` and `r.*`
  Name as;    // Plain: the name after `as`; Object, List: the name in front
  Nested nested;
  Span span;
};

struct FamilyDecl {
  bool copy = false;  // else entry
  Span word_span;
  bool epsilon = false;    // ε or _ was written
  std::vector<Name> path;  // empty: ε
  bool elements = false;   // [*]
  bool has_key = false;    // […] was written
  std::vector<DesignPart> key;
  bool has_columns = false;  // `:` was written
  std::vector<DesignColumn> columns;
  std::vector<Source> from;
  std::optional<Expr> where;
  std::optional<Number> limit;
  Span path_span;
  Span span;
};

struct TargetOption {
  Name name;
  Expr value;
  Span span;
};

struct TargetOptions {  // with cassandra(caching: "…")
  Name target;
  std::vector<TargetOption> options;
  Span span;
};

struct CollectionDecl {
  Name name;
  std::vector<Source> from;  // of
  std::vector<DesignPart> by;
  std::vector<TargetOptions> with;
  std::vector<FamilyDecl> families;
  Span span;
  Span body_end;
};

struct DesignDecl {
  Name name;
  std::vector<Name> targets;  // for; `oracle-nosql` is one name
  std::vector<CollectionDecl> collections;
  std::optional<Name> rest;
  Span span;
  Span body_end;
};

using Declaration = std::variant<ValueDecl, EntityDecl, QueryDecl, CommandDecl, GroupDecl, MixDecl, DesignDecl>;

struct Comment {  // from `//` to the end of the line, without the line break
  Span span;
  std::string_view text;
};

struct Tree {
  Name model;                             // missing where the text has no `model name`
  std::vector<Declaration> declarations;  // in the order written
  std::vector<Comment> comments;          // in the order written
};

}  // namespace noam::language
