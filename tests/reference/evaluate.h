#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/model/model.h"

// The conceptual data, and expressions and selects on it.
namespace noam::reference {

using model::Datum;

struct Aggregate {
  Datum::List fields;               // one a field of the entity, as the aggregate keeps them
  std::optional<std::int64_t> due;  // when its time to live ends
};

using Instances = std::map<Datum, Aggregate>;  // by key
using State = std::vector<Instances>;          // one an entity

// The kept refreshes of a refreshed query by their time: the rows of each, in their order.
using Refreshes = std::map<std::int64_t, Datum::List>;

const Aggregate* find(const State& state, model::EntityId entity, const Datum& key);

// The key of an instance, given its fields: as a reference holds it.
Datum key_of(const model::Entity& entity, const Datum::List& fields);

// The keys of those that refer to the target by this role, ascending, each once.
Datum::List referring(const model::Model& model, const State& state, const model::Role& role, const Datum& target);

// Ascending, each once.
Datum::List as_set(Datum::List elements);

// Where and when a statement is evaluated.
struct Setting {
  const model::Model& model;
  const State& state;                       // may change between two evaluations
  const std::vector<Refreshes>& refreshes;  // one a query of the model
  const std::vector<model::Variable>& variables;
  std::vector<Datum> parameters;
  std::int64_t now = 0;
  std::optional<model::CommandId> command;  // arithmetic that does not fit is an overflow
};

struct Row {
  Datum::List columns;
  Datum::List position;  // the values of the order terms, then what breaks ties
};

class Evaluation {
 public:
  explicit Evaluation(Setting setting) : setting_(std::move(setting)), bound_(setting_.variables.size()) {}

  // The value of an expression. Where something in it overflows, `take_overflow` tells so, and the value means nothing.
  Datum evaluate(const model::Expr& expr);
  bool holds(const model::Expr& expr) { return evaluate(expr).holds(); }
  bool take_overflow() { return std::exchange(overflow_, false); }

  // All rows, in their total order, not cut by the limit.
  std::vector<Row> rows(const model::Select& select);
  // Which parts of Row::position descend.
  static std::vector<bool> directions(const model::Select& select, std::size_t parts);
  static bool before(const Datum::List& a, const Datum::List& b, const std::vector<bool>& descending);
  // None: no limit.
  std::optional<std::int64_t> limit(const std::optional<model::Expr>& expr);

  // What a variable stands for. The key of an element is its position in a list, its key in a map, else itself; of a
  // refreshed row it is the time and the position.
  void bind(std::uint32_t variable, Datum value, Datum key);
  void bind(std::uint32_t variable, const Datum& value) { bind(variable, value, value); }

  // Changes carried out so far, for what a command makes up.
  void set_change(std::uint32_t change) { change_ = change; }
  // Of a condition that reads own fields only: symmetric roles are read as the aggregate keeps them.
  bool own_fields_hold(const model::Expr& expr);

 private:
  struct Bound {
    Datum value;
    Datum key;
  };
  struct Group {
    Datum::List values;                    // of the group expressions
    std::vector<std::vector<Bound>> rows;  // the variables of its select
  };

  Datum evaluate_field(const model::Expr& expr);
  Datum evaluate_inverse(const model::Expr& expr);
  Datum evaluate_element(const model::Expr& expr);
  Datum evaluate_instance(const model::Expr& expr);
  Datum evaluate_call(const model::Expr& expr);
  Datum evaluate_logic(const model::Expr& expr);
  Datum evaluate_arithmetic(const model::Expr& expr);
  Datum evaluate_fold(const model::Expr& expr);
  Datum evaluate_nested(const model::Expr& expr);
  Datum fit(std::optional<Datum> result);

  void each_binding(const model::Select& select, std::size_t at, const std::function<void()>& visit);
  std::vector<Bound> candidates(const model::Variable& variable);
  bool steps_exist(const model::Expr& path);
  Datum column(const model::Column& column);
  Row make_row(const model::Select& select, Datum::List ties);
  std::vector<Bound> snapshot(const model::Select& select) const;
  void restore(const model::Select& select, const std::vector<Bound>& row);
  std::vector<Group> groups(const model::Select& select, std::vector<std::vector<Bound>> kept);

  [[nodiscard]] bool exists(const model::Type& reference, const Datum& key) const {
    return find(setting_.state, reference.entity(), key) != nullptr;
  }
  [[nodiscard]] Datum field_of(model::EntityId entity, const Datum& key, const Aggregate& aggregate,
                               std::uint32_t field) const;

  Setting setting_;
  std::vector<Bound> bound_;  // one a variable of the statement
  const model::Select* folded_ = nullptr;
  const Group* group_ = nullptr;          // what the folds of `folded_` fold
  const Datum::List* columns_ = nullptr;  // of the row whose order terms are evaluated
  std::uint32_t change_ = 0;
  bool overflow_ = false;
  bool own_only_ = false;
};

}  // namespace noam::reference
