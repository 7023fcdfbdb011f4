#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/type.h"
#include "tests/property/generate.h"
#include "tests/property/random.h"

namespace noam::tests::property {

using model::Type;
using model::TypeKind;

struct FieldPlan {
  std::string name;
  Type type;
  bool key = false;
  bool automatic = false;
  bool owner = false;
  bool symmetric = false;
  bool has_default = false;
  std::string inverse;   // empty: none
  bool changed = false;  // by an update or a put
};

struct WayBack {
  std::string name;
  std::size_t entity = 0;  // whose field refers
};

struct EntityPlan {
  std::string name;
  bool transient = false;
  bool hidden_key = false;
  std::vector<FieldPlan> fields;
  std::vector<std::size_t> key;  // empty where it is hidden
  std::vector<WayBack> inverses;

  [[nodiscard]] bool made_key() const { return hidden_key || (key.size() == 1 && fields[key[0]].automatic); }
};

struct ValuePlan {
  std::string name;
  std::vector<FieldPlan> fields;
};

enum class VariableKind : std::uint8_t { Entity, Instance, Element, Refreshed, History, Words, References };

struct VariablePlan {
  std::string name;
  VariableKind kind = VariableKind::Entity;
  Type type;                                // Row: of a refreshed query
  TypeKind collection = TypeKind::Unknown;  // Element: what it is an element of; Reference: of a role to one
  Type map_key;                             // Element of a map
  bool transient = false;
};

using Scope = std::vector<VariablePlan>;

// Something an expression can read.
struct Path {
  std::string text;
  Type type;
  std::size_t variable = 0;   // in the scope
  bool own = false;           // lies in the variable's own aggregate
  bool indexed = false;       // goes through `[…]`
  bool way_back = false;      // is an inverse
  bool of_transient = false;  // read from a transient variable
  bool to_transient = false;  // is the way back from a transient entity
  bool is_variable = false;
  bool key_only = false;  // its target need not exist: only the key can be read
};

// A text of the language and the same value in JSON.
struct Sample {
  std::string literal;
  Json json;
};

struct ParameterPlan {
  std::string name;
  Type type;
  std::string declared;
  std::size_t tuple = 0;  // the key it is a part of, counted from 1; 0: none
  bool fresh = false;     // of the key of an instance to be made
  bool bound = false;     // a limit
  bool position = false;  // of a list
  bool owner = false;     // of a part: it is to exist, or be absent
};

// The key of an instance that a statement names: its parts are parameters that are drawn together.
struct TuplePlan {
  std::size_t entity = 0;
  std::vector<std::string> parameters;  // one a part; empty: not a parameter
  bool made = false;                    // an instance is made under it
  bool gone = false;                    // and deleted
};

struct StatementPlan {
  std::string name;
  std::vector<ParameterPlan> parameters;
  std::vector<TuplePlan> tuples;
  unsigned weight = 1;     // how often it is called
  bool populates = false;  // an insert of one instance, to begin with
  std::size_t entity = 0;
};

// What a design by hand can be made of to serve a query.
struct QueryPlan {
  std::string name;
  bool refreshed = false;
  bool folded = false;
  Scope scope;
  std::vector<Source> from;
  std::vector<std::string> equal;   // compared with `=` to a parameter or literal
  std::vector<std::string> ranges;  // compared otherwise
  std::vector<std::string> fixed;   // conditions without parameters
  std::vector<std::string> groups;
  std::vector<std::string> folds;
  std::vector<std::string> order;  // with direction
  std::vector<Path> columns;
  std::vector<Select> lists;  // nested selects that a copy can hold as they are
  Type row;                   // of a refreshed query
  bool ordered = false;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const Options& options);
  Case run();

 private:
  [[nodiscard]] bool with(const char* feature) const { return !options_.without.contains(feature); }
  std::string name(const char* prefix) { return prefix + std::to_string(++names_); }

  // data
  void make_data();
  void make_values();
  void make_fields(std::size_t index);
  void make_key(std::size_t index);
  void make_references(std::size_t index);
  void finish_entity(std::size_t index);
  Type scalar_type(bool key_like);
  Type key_type();
  std::string default_of(const Type& type);
  std::string own_condition(const EntityPlan& entity);

  // values
  Sample sample(const Type& type, bool stored);
  Sample scalar_sample(const Type& type);
  Sample reference_sample(std::size_t index);
  Sample fresh_key(std::size_t index);
  template <typename T>
  const T& skewed(const std::vector<T>& values) {  // the first ones more often
    return values[std::min(random_.below(values.size()), random_.below(values.size()))];
  }
  const Path& shallow(const std::vector<Path>& from);
  Json json_of(const Type& type, bool stored);
  Json wrong_json(const Type& type);
  std::string literal(const Type& type) { return sample(type, false).literal; }
  [[nodiscard]] bool has_literal(const Type& type) const;
  [[nodiscard]] std::string type_text(const Type& type) const;
  [[nodiscard]] bool comparable(const Type& type) const;
  [[nodiscard]] bool ordered(const Type& type) const;

  // paths
  [[nodiscard]] std::vector<Path> paths(const Scope& scope);  // mostly short ones
  [[nodiscard]] std::vector<Path> paths(const Scope& scope, int depth);
  void walk(const Path& from, int depth, std::vector<Path>& out);
  static std::vector<Path> only(const std::vector<Path>& from, const std::function<bool(const Path&)>& keep);
  [[nodiscard]] std::vector<std::string> key_of(const VariablePlan& variable) const;

  // statements
  std::string parameter(StatementPlan& statement, const Type& wanted);
  std::string operand(StatementPlan* statement, const Type& type);  // a parameter or a literal
  std::string instance(StatementPlan& statement, std::size_t index);
  std::vector<std::string> tuple(StatementPlan& statement, std::size_t index);
  static std::vector<Parameter> parameters_of(const StatementPlan& statement);

  // queries
  void make_queries();
  void make_query(bool refreshed);
  std::optional<Source> first_source(StatementPlan& statement, Scope& scope, bool transient, bool plain);
  std::optional<Source> next_source(Scope& scope, bool transient);
  Fragment condition(StatementPlan* statement, const Scope& scope, QueryPlan* plan, int depth);
  std::string simple_condition(StatementPlan* statement, const Path& path, QueryPlan* plan);
  Path computed(const Scope& scope, StatementPlan* statement);
  void rows(StatementPlan* statement, const Scope& scope, Select& select, QueryPlan& plan, bool only_scalars);
  void groups(StatementPlan* statement, const Scope& scope, Select& select, QueryPlan& plan);
  void order(const Scope& scope, Select& select, QueryPlan& plan,
             const std::vector<std::pair<std::string, Type>>& columns);
  void limit(StatementPlan* statement, Select& select);
  std::string fold(const Scope& scope, Type& type);
  Select nested(StatementPlan* statement, const Scope& outer, bool scalar, Type& type);
  std::string direction();

  // commands
  void make_commands();
  void add_command(StatementPlan statement, std::vector<Change> changes);
  Change insert(StatementPlan& statement, std::size_t index, bool put,
                const std::map<std::size_t, std::string>& references = {});
  Change update(StatementPlan& statement, std::size_t index, const std::string& head);
  std::optional<Change> collection_change(StatementPlan& statement, std::size_t index, const std::string& head);
  Change requirement(StatementPlan& statement);
  Fragment stored(StatementPlan& statement, const FieldPlan& field, const EntityPlan* own);
  void make_bulk(std::size_t index);
  void make_loop();
  bool make_loop_of_values();
  void make_several();
  void note_change(std::size_t entity, const std::string& field);

  // designs
  void make_design();
  void place(std::size_t index, Design& design);
  void derive(const QueryPlan& query, Design& design);
  Cell list_of(const Select& select);
  void random_copies(Design& design);
  Family copy(Scope scope, bool own_sources, bool by_determines);
  void add_copy(Family family, Collection& collection);
  std::string part(const std::string& expr, bool direction);
  std::vector<Cell> cells(const Scope& scope, bool nest);
  [[nodiscard]] std::vector<std::string> all_keys(const Scope& scope) const;
  [[nodiscard]] std::vector<std::string> owners_of(const Scope& scope) const;
  std::string key_part(const Scope& scope, bool block);

  // steps
  void make_steps();
  Step call(const StatementPlan& statement);
  Json key_for(const TuplePlan& tuple);
  void note_keys(const StatementPlan& statement, const Step& step);
  void ask(std::vector<StatementPlan>& queries, std::size_t count);

  Options options_;
  Random random_;
  Case out_;
  std::size_t names_ = 0;
  std::uint64_t ids_ = 0;
  std::map<std::size_t, std::vector<Json>> live_;  // keys that probably exist, by entity
  std::map<std::string, std::vector<Json>> seen_;  // values that were given before, by type
  std::map<std::size_t, std::size_t> made_;        // keys that noam made, by entity
  std::vector<ValuePlan> values_;
  std::vector<EntityPlan> entities_;
  std::vector<QueryPlan> query_plans_;
  std::vector<StatementPlan> queries_;
  std::vector<StatementPlan> commands_;
  bool overflow_ = false;  // very large numbers appear
};

}  // namespace noam::tests::property
