#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "noam/language/analysis.h"

// The analysis in several files: data (analysis.cpp), types (analysis_types.cpp), expressions
// (analysis_expressions.cpp), queries (analysis_queries.cpp), commands (analysis_commands.cpp), designs
// (analysis_designs.cpp). What can be asked of the finished model stands in rules.cpp.
namespace noam::language {

// What a name after a dot is: a field, or the way back of a role.
struct MemberRef {
  bool inverse = false;
  std::uint32_t index = 0;
};

struct MemberKey {
  std::uint32_t owner = 0;  // entity, or value with the highest bit
  std::string_view name;

  bool operator==(const MemberKey&) const = default;
};

struct MemberKeyHash {
  std::size_t operator()(const MemberKey& key) const {
    return std::hash<std::string_view>()(key.name) ^ (key.owner * 0x9E3779B97F4A7C15ULL);
  }
};

// A parameter, or the variable of a `for`, while its type is being found out.
struct ParameterState {
  std::string_view name;
  Span span;
  model::Type type;  // what the uses so far ask for
  Span first_use;    // the one that gave the type
  bool declared = false;
  bool used = false;
  bool only_stored_as_optional = true;
  bool conflict = false;       // reported
  bool beside_number = false;  // `$n + 1`: an int, if nothing else is known
  std::uint32_t variable = 0;  // of a loop
};

struct Binding {
  std::string_view name;
  std::uint32_t variable = 0;
};

// Where an expression stands, which decides what it may read.
enum class Place : std::uint8_t { Query, Command, EntityRequire, BulkPredicate, Design };

// What is in reach while the text of one statement, entity or collection is read.
struct Body {
  Place place = Place::Query;
  std::vector<model::Variable> variables;
  std::vector<ParameterState> parameters;
  std::vector<ParameterState> loops;                    // `for`s around, innermost last
  std::vector<Binding> bindings;                        // innermost last
  std::optional<std::uint32_t> self;                    // whose fields may be named without a variable
  const std::vector<model::Column>* outputs = nullptr;  // in `order by`: columns come first
  const std::vector<SelectColumn>* columns = nullptr;   // of the select around, as written: their aliases
  bool folds_allowed = false;
  bool inside_fold = false;
  std::string_view own_only;  // where not empty: only own fields; the word for the message
};

// Where the own fields of entities lie in one design.
struct Placements {
  struct Star {  // `*`, worked out when all else is placed
    std::uint32_t entity = 0;
    std::size_t collection = 0;
    std::size_t family = 0;
    std::uint32_t variable = 0;
    Span span;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Span> fields;  // entity, field
  std::set<std::pair<std::uint32_t, std::uint32_t>> in_keys;
  std::map<std::uint32_t, std::pair<std::string, Span>> homes;  // the first collection of an entity
  std::map<std::uint32_t, Span> starred;
  std::vector<Star> stars;
};

class Analyzer {
 public:
  Analyzer(const Tree& tree, const SourceFile& source, Diagnostics& diagnostics)
      : tree_(tree), source_(source), diagnostics_(&diagnostics), root_diagnostics_(&diagnostics) {}

  model::Model run();

 private:
  // analysis.cpp: names and data
  void note_syntax_errors();
  [[nodiscard]] static bool any_inside(const std::vector<Span>& errors, Span span);
  [[nodiscard]] bool broken(Span span) const;  // text was lost inside, by a syntax error
  void declare_names();
  void declare_data();
  void read_fields(const std::vector<const Field*>& written, bool in_entity, const std::string& owner_name,
                   std::vector<model::Field>& fields, std::uint32_t member_owner);
  void check_statistic(const Field& written, const model::Field& field);
  model::Type read_type(const TypeExpr& type);
  model::Type read_named_type(const TypeExpr& type);
  void check_element(const TypeExpr& written, const model::Type& type, const char* what, bool key_like);
  void read_entity(const EntityDecl& entity, std::uint32_t index);
  void read_keys(const EntityDecl& entity, std::uint32_t index);
  void check_key_type(const Field& field, const model::Field& read, Span span, const std::string& entity);
  void connect_roles();
  void connect_role(std::uint32_t index, const Field& written, std::uint32_t field);
  void find_value_cycles();
  void find_key_cycles();
  void read_defaults_and_requirements();
  void read_default(const Field& written, model::Field& field);
  [[nodiscard]] model::Statistic read_statistic(const Statistic& statistic);
  std::optional<double> read_count(const std::optional<Number>& number, const char* what, bool zero_allowed);
  std::optional<std::int64_t> read_integer(const Number& number, const char* what);
  std::optional<double> read_number(const Number& number);
  std::int64_t read_duration(const Duration& duration, DiagnosticCode code);
  void read_groups_and_mixes();

  // analysis_types.cpp
  [[nodiscard]] std::string text(const model::Type& type) const { return model::to_string(model_, type); }
  [[nodiscard]] const model::Type* single_key(
      const model::Type& reference) const;  // the scalar it is, at last; else null
  [[nodiscard]] std::optional<model::Type> unify(const model::Type& a, const model::Type& b) const;
  bool fit(model::Expr& expr, const model::Type& to);  // converts where that is allowed
  bool fit_or_report(model::Expr& expr, const model::Type& to, bool storing, const std::string& what);
  [[nodiscard]] bool comparable(const model::Type& type) const;
  [[nodiscard]] bool ordered(const model::Type& type) const;
  [[nodiscard]] bool holds_json(const model::Type& type) const;
  void report_mismatch(Span span, const model::Type& found, const model::Type& wanted, const std::string& what);

  // analysis_expressions.cpp
  model::Expr read(Body& body, const Expr& expr, const model::Type* expected = nullptr);
  model::Expr read_predicate(Body& body, const Expr& expr, const char* where);
  model::Expr read_stored(Body& body, const Expr& expr, const model::Type& to, const std::string& what);
  void refuse_empty_key(const model::Expr& value, const std::string& what);
  model::Expr read_number_literal(const Expr& expr, bool negative, const model::Type* expected);
  model::Expr read_text_literal(const Expr& expr, const model::Type* expected);
  model::Expr read_typed_literal(const Expr& expr);
  model::Expr read_duration_literal(const Expr& expr);
  model::Expr read_parameter(Body& body, const Expr& expr, const model::Type* expected, bool stored_as_optional);
  void use_parameter(ParameterState& state, const model::Type* expected, Span span, bool stored_as_optional);
  ParameterState* find_parameter(Body& body, std::string_view name);
  model::Expr read_name(Body& body, const Expr& expr);
  model::Expr read_member(Body& body, const Expr& expr);
  model::Expr step(Body& body, model::Expr base, const Name& name, Span span);
  model::Expr read_index(Body& body, const Expr& expr);
  model::Expr read_instance(Body& body, const Expr& expr, model::EntityId id);
  model::Expr read_call(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_fold(Body& body, const Expr& expr);
  bool fold_may_stand(const Body& body, const Expr& expr);
  model::Expr read_unary(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_binary(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_logic(Body& body, const Expr& expr);
  model::Expr read_comparison(Body& body, const Expr& expr);
  model::Expr read_in(Body& body, const Expr& expr);
  model::Expr read_contains(Body& body, const Expr& expr);
  model::Expr read_words(Body& body, const Expr& expr);
  model::Expr read_starts_with(Body& body, const Expr& expr);
  model::Expr read_between(Body& body, const Expr& expr);
  model::Expr read_is_absent(Body& body, const Expr& expr);
  model::Expr read_arithmetic(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_list(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_braces(Body& body, const Expr& expr, const model::Type* expected);
  model::Expr read_record(Body& body, const Expr& expr, const model::Type& type);
  [[nodiscard]] bool flexible(const Body& body, const Expr& expr) const;  // takes the type its use asks for
  void read_pair(Body& body, const Expr& a, const Expr& b, const model::Type* expected, model::Expr& left,
                 model::Expr& right);
  bool make_comparable(model::Expr& left, model::Expr& right, Span op, bool needs_order);
  [[nodiscard]] std::optional<std::uint32_t> find_variable(const Body& body, std::string_view name) const;
  [[nodiscard]] const MemberRef* find_member(const model::Type& type, std::string_view name) const;
  void report_unknown_member(const model::Type& type, const Name& name);
  void report_unknown_name(Body& body, const Name& name);
  // Why `name` cannot be used here, if it is the alias of a column.
  [[nodiscard]] std::optional<std::string> alias_hint(const Body& body, const Name& name) const;

  // analysis_queries.cpp
  void read_queries();
  bool read_query(std::uint32_t index);  // false: it is being read just now, a circle
  void read_commands();
  void forward(const Diagnostics& found, const std::vector<Span>& units);
  void with_parameters(Place place, const std::vector<ParameterDecl>& written, Span statement,
                       const std::vector<Span>& units, const std::function<void(Body&)>& read_body,
                       std::vector<model::Parameter>& parameters, std::vector<model::Variable>& variables);
  model::Select read_select(Body& body, const Select& written, bool nested);
  void read_source(Body& body, const Source& source, std::vector<std::uint32_t>& from);
  bool read_source_name(Body& body, const Source& source, model::Variable& variable);
  bool read_references(Body& body, const Expr& call, model::Variable& variable);
  void read_columns(Body& body, const Select& written, model::Select& select);
  void read_column(Body& body, const SelectColumn& written, model::Select& select);
  void check_groups(const Body& body, const Select& written, const model::Select& select);
  void read_order(Body& body, const Select& written, model::Select& select);
  std::optional<model::Expr> read_limit(Body& body, const Expr& limit);
  model::Type row_type(const model::Select& select) const;
  model::Type aggregate_type(const model::Type& reference, const std::vector<std::uint32_t>& without) const;

  // analysis_commands.cpp
  void read_changes(Body& body, const std::vector<Change>& written, std::vector<model::Change>& changes, bool top);
  std::optional<model::Change> read_change(Body& body, const Change& written, bool top, bool alone);
  void read_insert(Body& body, const Change& written, model::Change& change);
  void read_update(Body& body, const Change& written, model::Change& change);
  void read_bulk(Body& body, const Change& written, model::Change& change);
  void read_delete(Body& body, const Change& written, model::Change& change);
  void read_collection_change(Body& body, const Change& written, model::Change& change);
  void read_remove_where(Body& body, const Change& written, model::Change& change);
  void read_for(Body& body, const Change& written, model::Change& change);
  void read_assignments(Body& body, const Change& written, model::Change& change, std::uint32_t instance);
  bool split_target(Body& body, model::Expr path, const Expr& written, model::Change& change);
  std::optional<model::EntityId> find_entity_or_report(const Name& name);
  void read_alone(Body& body, const Expr& expr);
  bool may_change(model::EntityId entity, Span span);

  // analysis_designs.cpp
  void read_designs();
  void read_design(const DesignDecl& written);
  void check_target_name(const Name& name);
  void read_collection(const CollectionDecl& written, model::WrittenDesign& design, Placements& placements);
  model::Part read_part(Body& body, const DesignPart& written);
  void read_family(Body& body, const FamilyDecl& written, model::WrittenCollection& out,
                   const model::WrittenDesign& design, Placements& placements);
  void read_copy(Body& body, const FamilyDecl& written, model::WrittenFamily& family,
                 const model::WrittenCollection& out);
  void read_entry(Body& body, const FamilyDecl& written, model::WrittenFamily& family,
                  const model::WrittenCollection& out, const model::WrittenDesign& design, Placements& placements);
  void check_base_key(const Body& body, const model::WrittenCollection& out, const model::WrittenFamily& family,
                      std::uint32_t self, model::EntityId entity_id);
  std::optional<std::pair<std::string, Span>> find_update(model::EntityId entity, std::uint32_t field);
  void report_undetermined(const Body& body, std::uint32_t variable, const std::string& missing,
                           const FamilyDecl& written);
  void read_cell(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells, bool copy);
  void read_plain_cell(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells, bool copy);
  void read_star(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells);
  void place_stars(model::WrittenDesign& design, Placements& placements);
  void check_names(const CollectionDecl& written, const model::WrittenCollection& out);

  // Looking through all names for the one that was meant is paid from a budget: a text with many mistakes among very
  // many names is answered in time, at last without suggestions.
  bool affordable(std::size_t names) {
    if (names > suggestion_budget_) return false;
    suggestion_budget_ -= names;
    return true;
  }
  template <typename Map>
  void add_names(const Map& map, std::vector<std::string_view>& candidates) {
    if (!affordable(map.size())) return;
    for (const auto& [name, what] : map) candidates.push_back(name);
  }

  std::uint32_t add_variable(Body& body, model::Variable variable);
  Diagnostics::Builder error(DiagnosticCode code, Span span, std::string message) {
    return diagnostics_->report(code, span, std::move(message));
  }

  const Tree& tree_;
  const SourceFile& source_;
  Diagnostics* diagnostics_;
  model::Model model_;

  std::vector<Span> parse_errors_;                   // sorted by begin
  std::vector<Span> syntax_errors_;                  // those that lose text; sorted by begin
  std::unordered_set<std::string_view> lost_names_;  // of declarations that were not understood
  std::unordered_map<std::string_view, model::EntityId> entities_;
  std::unordered_map<std::string_view, model::ValueId> values_;
  std::unordered_map<std::string_view, model::StatementRef> statements_;
  std::unordered_map<std::string_view, std::uint32_t> groups_;
  std::unordered_map<MemberKey, MemberRef, MemberKeyHash> members_;
  std::unordered_set<std::uint32_t> broken_owners_;  // their fields are not all known
  std::vector<const EntityDecl*> entity_decls_;
  std::vector<const ValueDecl*> value_decls_;
  std::vector<const QueryDecl*> query_decls_;
  std::vector<const CommandDecl*> command_decls_;
  std::vector<const GroupDecl*> group_decls_;
  std::vector<bool> value_holds_json_;  // inside first: filled when the values are sorted out
  enum class Reading : std::uint8_t { Not, Now, Done };
  std::vector<Reading> query_state_;
  bool data_errors_ = false;  // some types are unknown, and parameters may have none through no fault of their own
  std::size_t suggestion_budget_ = 5'000'000;
  std::size_t query_depth_ = 0;
  Diagnostics* root_diagnostics_ = nullptr;  // where a query read on the way reports
  bool bulk_reported_ = false;               // once a command
  bool updates_ready_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::string, Span>>
      updates_;  // entity, field: by which command
};

// A constant expression.
model::Expr constant(model::Type type, model::Literal value, Span span);
model::Expr call(model::Function function, model::Type type, std::vector<model::Expr> operands, Span span);
model::Expr unknown(Span span);
// The type without what is asked only of stored data: lengths, and whether it may be absent.
model::Type plain(const model::Type& type);
// Whether a fold of this select stands in it; those of nested selects are their own.
bool holds_fold(const model::Expr& expr);
// The name that a column or key part has by itself: the last of its path, else its function's; empty: it needs one.
std::string_view default_name(const Expr& expr);
model::Expr variable_expr(const Body& body, std::uint32_t variable, Span span);

constexpr std::uint32_t value_bit = 0x80000000U;
inline std::uint32_t owner_of(model::EntityId id) { return static_cast<std::uint32_t>(id); }
inline std::uint32_t owner_of(model::ValueId id) { return static_cast<std::uint32_t>(id) | value_bit; }
inline std::uint32_t owner_of(const model::Type& type) {  // of a Reference or a Value
  return type.kind == model::TypeKind::Value ? owner_of(type.value()) : owner_of(type.entity());
}

}  // namespace noam::language
