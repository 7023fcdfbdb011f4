#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/json.h"

// A program of noam and what is done with it, as a structure that can be made smaller piece by piece. Every name in it
// (of an entity, field, way back, statement, collection) is used for one thing only, so that a piece which mentions a
// name is found by looking for the word.
namespace noam::tests::property {

struct Select;

// A stretch of text with at most one nested select in it.
struct Fragment {
  std::string before;
  std::vector<Select> select;
  std::string after;
};

struct Column {
  Fragment expr;
  std::string as;  // empty: its own name
};

struct Source {
  std::string what;  // Entity, v.role, Entity[$p1], query history, words(v.text)
  std::string variable;
};

struct Select {
  bool distinct = false;
  std::vector<Column> columns;
  std::vector<Source> from;
  std::vector<Fragment> where;  // joined by `and`
  std::vector<Fragment> group_by;
  std::vector<Fragment> order_by;  // with their direction
  std::string limit;
};

struct Field {
  std::string name;
  std::string type;
  std::vector<std::string> marks;  // `key`, `auto`, `owner`, `inverse x`, `= 1`
};

struct Value {
  std::string name;
  std::vector<Field> fields;
};

struct Entity {
  std::string name;
  bool transient = false;
  std::vector<Field> fields;
  std::vector<std::string> key;  // of several parts; empty: a field is marked, or there is none
  std::string ttl;
  std::vector<std::string> require;
};

struct Parameter {
  std::string name;  // without the $
  std::string type;  // empty: its uses tell
};

struct Query {
  std::string name;
  std::vector<Parameter> parameters;
  std::string refresh;  // `refresh every 1 hour keep 3`
  Select select;
};

struct Assignment {
  std::string target;
  Fragment value;
};

// One change as the pieces it is written in: head where { assignments } tail { body }.
struct Change {
  bool then = false;
  std::string head;  // `insert E1`, `update E1[$p1]`, `append $p2 to E1[$p1].l4`, `for $x1 in $p1`, `require`
  std::vector<Fragment> where;  // joined by `and`; after `require` without the word
  std::vector<Assignment> assignments;
  std::string tail;  // `as v1`, `limit 2`
  std::vector<Change> body;
};

struct Command {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Change> changes;
};

// A column of a copy: plain text, or a name with an object or a list.
struct Cell {
  std::string text;
  char open = 0;  // 0: plain; `{` or `[`
  std::vector<Cell> cells;
  std::vector<Source> from;
  std::vector<std::string> order_by;
  std::string limit;
};

struct Family {
  bool copy = false;
  std::string path;       // empty: ε
  bool elements = false;  // [*]
  std::vector<std::string> key;
  std::vector<Cell> cells;
  std::vector<Source> from;
  std::vector<std::string> where;
  std::string limit;
};

struct Collection {
  std::string name;
  std::vector<Source> from;
  std::vector<std::string> by;
  std::vector<Family> families;
};

struct Design {
  std::string name;
  std::vector<Collection> collections;
  std::string rest;
};

enum class StepKind : std::uint8_t {
  Run,       // a command or a query
  Continue,  // the next page of the query's last answer, if it had one
  Time,      // the clock moves on
  Refresh,   // of a refreshed query
  Expire,    // what is due
};

// One step of a case. Where a parameter is {"$known": "E1", "n": 2}, it stands for a generated key of that entity that
// an earlier command gave; they are counted round and round.
struct Step {
  StepKind kind = StepKind::Run;
  std::string name;               // of the statement
  Json params;                    // Run
  std::uint64_t id = 0;           // Run of a command: equal numbers are one command id; 0: a query
  std::int64_t milliseconds = 0;  // by how much the clock moves on before the step
  bool wrong = false;             // the parameters are wrong on purpose
};

struct Case {
  std::uint64_t seed = 0;
  std::vector<Value> values;
  std::vector<Entity> entities;
  std::vector<Query> queries;
  std::vector<Command> commands;
  std::vector<Design> designs;  // none or one
  std::string design;           // what the engine is asked for: that one's name, or a strategy
  std::vector<Step> steps;
};

// The clock when a case begins: a Sunday late in December, so that weeks, months and years turn.
inline constexpr std::int64_t first_clock = 1'766'880'000'000;  // 2025-12-28T00:00:00Z

std::string text(const Case& one);
std::string text(const Select& select);
std::string text(const Fragment& fragment);

// Whether the text has the word, as a whole.
bool mentions(std::string_view text, std::string_view word);

// Smaller cases, the largest cuts first. Some of them may be no models: whoever tries them skips those.
std::vector<Case> simpler(const Case& one);

// How large it is; each of `simpler` is smaller.
std::size_t size(const Case& one);

}  // namespace noam::tests::property
