#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

using model::TypeKind;
using MExpr = model::Expr;
using MKind = model::ExprKind;

namespace {

const model::Type int_type = model::scalar(TypeKind::Int);

bool is_instance(const model::Variable& variable) {
  return variable.type.kind == TypeKind::Reference && variable.kind != model::SourceKind::Loop;
}

// Whether this is own data of the entity that a design's collection begins with: a field of it, or of a value inside.
bool kept_by_first(const Body& body, const MExpr& path) {
  const MExpr* at = &path;
  while (true) {
    if (at->kind == MKind::Field && at->operands[0].type.kind == TypeKind::Reference)
      return at->operands[0].kind == MKind::Variable && at->operands[0].index == 0 &&
             body.variables[0].kind == model::SourceKind::Entity;
    if (at->kind == MKind::Field || at->kind == MKind::Element)
      at = &at->operands[0];
    else if (at->kind == MKind::Variable && body.variables[at->index].kind == model::SourceKind::Path)
      at = &body.variables[at->index].source;
    else
      return false;
  }
}

// Which rows of a select are told apart by its groups.
class Groups {
 public:
  Groups(const model::Model& model, const Body& body, const model::Select& select)
      : select_(select), variables_(body.variables) {
    for (const std::uint32_t variable : select.from) {
      const model::Type& type = body.variables[variable].type;
      bool determined = std::any_of(select.group_by.begin(), select.group_by.end(), [&](const MExpr& group) {
        return group.kind == MKind::Variable && group.index == variable;
      });
      if (!determined && type.kind == TypeKind::Reference) {
        const model::Entity& entity = model.entity(type.entity());
        determined = std::all_of(entity.key.begin(), entity.key.end(), [&](std::uint32_t part) {
          return std::any_of(select.group_by.begin(), select.group_by.end(), [&](const MExpr& group) {
            return group.kind == MKind::Field && group.index == part && group.operands[0].kind == MKind::Variable &&
                   group.operands[0].index == variable;
          });
        });
      }
      if (determined) determined_.push_back(variable);
    }
  }

  // The first part of the expression that the groups do not determine; none where they do.
  [[nodiscard]] const MExpr* undetermined(const MExpr& expr) const {
    if (expr.kind == MKind::Fold || expr.kind == MKind::Column) return nullptr;
    for (const MExpr& group : select_.group_by)
      if (model::same(group, expr)) return nullptr;
    if (expr.kind == MKind::Variable) {
      const bool mine = std::find(select_.from.begin(), select_.from.end(), expr.index) != select_.from.end();
      const bool known = std::find(determined_.begin(), determined_.end(), expr.index) != determined_.end();
      return mine && !known ? &expr : nullptr;
    }
    for (const MExpr& operand : expr.operands)
      if (const MExpr* found = undetermined(operand)) return expr.kind == MKind::Field ? &expr : found;
    for (const model::Select& nested : expr.select) {
      for (const std::uint32_t variable : nested.from)
        if (const MExpr* found = undetermined(variables_[variable].source)) return found;
      for (const model::Column& column : nested.columns)
        if (const MExpr* found = undetermined_nested(column.expr)) return found;
      if (nested.where)
        if (const MExpr* found = undetermined_nested(*nested.where)) return found;
    }
    return nullptr;
  }

 private:
  // Inside a nested select, folds are its own.
  [[nodiscard]] const MExpr* undetermined_nested(const MExpr& expr) const {
    if (expr.kind != MKind::Fold) return undetermined(expr);
    for (const MExpr& operand : expr.operands)
      if (const MExpr* found = undetermined(operand)) return found;
    return nullptr;
  }

  const model::Select& select_;
  const std::vector<model::Variable>& variables_;
  std::vector<std::uint32_t> determined_;
};

}  // namespace

std::string_view default_name(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Name:
    case ExprKind::Member:
    case ExprKind::Call:
    case ExprKind::Parameter:
      return expr.name.text;
    case ExprKind::Index:
      return expr.operands[0].kind == ExprKind::Name ? std::string_view() : default_name(expr.operands[0]);
    default:
      return {};
  }
}

// Reports what was found, but for what lies in a unit of the text that was not wholly understood.
void Analyzer::forward(const Diagnostics& found, const std::vector<Span>& units) {
  for (const Diagnostic& diagnostic : found.all()) {
    const bool lost = std::any_of(units.begin(), units.end(), [&](Span unit) {
      return unit.begin <= diagnostic.span.begin && diagnostic.span.end <= unit.end && broken(unit);
    });
    if (lost) continue;
    auto report = diagnostics_->report(diagnostic.code, diagnostic.span, diagnostic.message);
    for (const Label& label : diagnostic.labels) report.label(label.span, label.text);
    if (!diagnostic.hint.empty()) report.hint(diagnostic.hint);
  }
}

void Analyzer::with_parameters(Place place, const std::vector<ParameterDecl>& written, Span statement,
                               const std::vector<Span>& units, const std::function<void(Body&)>& read_body,
                               std::vector<model::Parameter>& parameters, std::vector<model::Variable>& variables) {
  std::vector<ParameterState> states;
  std::unordered_map<std::string_view, Span> seen;
  for (const ParameterDecl& parameter : written) {
    if (parameter.name.missing()) continue;
    const auto [at, fresh] = seen.emplace(parameter.name.text, parameter.name.span);
    if (!fresh) {
      error(DiagnosticCode::DuplicateParameter, parameter.name.span,
            fmt::format("`${}` declared twice", parameter.name.text))
          .label(at->second, "first declared here");
      continue;
    }
    ParameterState state;
    state.name = parameter.name.text;
    state.span = parameter.name.span;
    if (parameter.type) {
      state.declared = true;
      state.type = read_type(*parameter.type);
      state.first_use = parameter.type->span;
    }
    states.push_back(std::move(state));
  }
  // The type of a parameter may come from any of its uses, also a later one: the statement is read, in silence, until
  // nothing new is learnt, and then once more for good. `read_body` begins anew each time.
  Diagnostics* real = diagnostics_;
  Diagnostics scratch;
  for (int round = 0; round < 16; ++round) {
    scratch = Diagnostics();
    diagnostics_ = &scratch;
    Body body;
    body.place = place;
    body.parameters = states;
    for (ParameterState& state : body.parameters) {
      state.used = false;
      state.only_stored_as_optional = true;
      state.conflict = false;
    }
    read_body(body);
    bool changed = false;
    bool news = false;
    for (std::size_t i = 0; i < states.size(); ++i) {
      changed |= !(states[i].type == body.parameters[i].type);
      states[i] = body.parameters[i];
    }
    if (!changed) {
      for (ParameterState& state : states) {
        if (!state.type.known() && state.beside_number && !state.declared && !state.conflict) {
          state.type = int_type;
          news = true;
        }
      }
    }
    variables = std::move(body.variables);
    if (!changed && !news) break;
  }
  diagnostics_ = real;
  forward(scratch, units);
  const bool quiet = any_inside(parse_errors_, statement);
  for (const ParameterState& state : states) {
    if (!state.used) {
      if (!quiet)
        error(DiagnosticCode::UnusedParameter, state.span, fmt::format("`${}` is never used", state.name))
            .hint("use it, or remove it");
    } else if (!state.type.known() && !state.declared && !state.conflict && !scratch.has_errors() && !data_errors_ &&
               !quiet) {
      error(DiagnosticCode::ParameterType, state.span,
            fmt::format("the type of `${}` cannot be derived from its uses", state.name))
          .hint(fmt::format("declare it: `${}: text`", state.name));
    }
    model::Parameter made;
    made.name = state.name;
    made.type = state.type;
    made.declared = state.declared;
    made.span = state.span;
    if (!state.declared && state.only_stored_as_optional && state.used) made.type.optional = true;
    parameters.push_back(std::move(made));
  }
}

void Analyzer::read_queries() {
  for (std::uint32_t i = 0; i < query_decls_.size() && !diagnostics_->stopped(); ++i) read_query(i);
}

bool Analyzer::read_query(std::uint32_t index) {
  if (query_state_[index] == Reading::Now) return false;
  if (query_state_[index] == Reading::Done) return true;
  if (query_depth_ >= 64) {
    error(DiagnosticCode::NestedTooDeep, query_decls_[index]->name.span,
          "refreshed queries nested more than 64 levels deep");
    query_state_[index] = Reading::Done;
    return true;
  }
  query_state_[index] = Reading::Now;
  // It may be met in the middle of another statement, which is read several times and in silence.
  Diagnostics* outer = std::exchange(diagnostics_, root_diagnostics_);
  ++query_depth_;
  const QueryDecl& written = *query_decls_[index];
  model::Query made;
  made.name = written.name.text;
  made.span = written.name.span;
  if (written.refresh) {
    model::Refresh refresh;
    refresh.every_minutes = read_duration(*written.refresh, DiagnosticCode::RefreshPeriod);
    if (written.keep) {
      const auto keep = read_integer(*written.keep, "the number of refreshes to keep");
      if (keep && (*keep < 1 || *keep > 1'000'000'000))
        error(DiagnosticCode::RefreshPeriod, written.keep->span, fmt::format("`keep {}` stores no refresh", *keep))
            .hint("keep at least 1 refresh, the current answer");
      else if (keep)
        refresh.keep = *keep;
    }
    made.refresh = refresh;
    if (!written.parameters.empty())
      error(DiagnosticCode::RefreshParameter, cover(written.parameters.front().span, written.parameters.back().span),
            fmt::format("`{}` is refreshed on a schedule and cannot have parameters", made.name))
          .hint("remove them, and filter in a query over it: `from top_accounts a where a.username = $u`");
  }
  with_parameters(
      Place::Query, written.parameters, written.span, {written.span},
      [&](Body& body) { made.select = read_select(body, written.select, false); }, made.parameters, made.variables);
  made.row = row_type(made.select);
  model_.queries[index] = std::move(made);
  query_state_[index] = Reading::Done;
  --query_depth_;
  diagnostics_ = outer;
  return true;
}

model::Type Analyzer::aggregate_type(const model::Type& reference, const std::vector<std::uint32_t>& without) const {
  model::Type type = model::scalar(TypeKind::Row);
  const model::Entity& entity = model_.entity(reference.entity());
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    if (entity.fields[i].hidden || std::find(without.begin(), without.end(), i) != without.end()) continue;
    type.names.push_back(entity.fields[i].name);
    type.arguments.push_back(entity.fields[i].type);
  }
  return type;
}

model::Type Analyzer::row_type(const model::Select& select) const {
  model::Type type = model::scalar(TypeKind::Row);
  for (const model::Column& column : select.columns) {
    type.names.push_back(column.name);
    type.arguments.push_back(column.aggregate ? aggregate_type(column.expr.type, column.without) : column.expr.type);
  }
  return type;
}

model::Select Analyzer::read_select(Body& body, const Select& written, bool nested) {
  model::Select select;
  select.distinct = written.distinct;
  select.span = written.span;
  const std::size_t bindings = body.bindings.size();
  const bool folds_allowed = std::exchange(body.folds_allowed, false);
  const bool inside_fold = std::exchange(body.inside_fold, false);
  const auto* outputs = std::exchange(body.outputs, nullptr);
  const auto* columns = std::exchange(body.columns, &written.columns);
  for (const Source& source : written.from) read_source(body, source, select.from);
  if (written.where) select.where = read_predicate(body, *written.where, "where");
  for (const Expr& group : written.group_by) {
    MExpr made = read(body, group);
    if (made.type.known() && !ordered(made.type)) {
      error(DiagnosticCode::NotComparable, group.span, fmt::format("cannot group by `{}`", text(made.type)))
          .hint("group by scalars and references");
      made = unknown(group.span);
    }
    select.group_by.push_back(std::move(made));
  }
  body.folds_allowed = true;
  read_columns(body, written, select);
  body.outputs = &select.columns;
  read_order(body, written, select);
  body.outputs = nullptr;
  body.folds_allowed = false;
  if (written.limit) select.limit = read_limit(body, *written.limit);
  select.folded = !select.group_by.empty() ||
                  std::any_of(select.columns.begin(), select.columns.end(),
                              [](const model::Column& column) { return holds_fold(column.expr); }) ||
                  std::any_of(select.order_by.begin(), select.order_by.end(),
                              [](const model::OrderTerm& term) { return holds_fold(term.expr); });
  check_groups(body, written, select);
  const bool one_row = select.folded && select.group_by.empty();
  if (written.limit && written.order_by.empty() && !one_row && !broken(written.span))
    error(DiagnosticCode::LimitWithoutOrder, written.limit_span,
          "`limit` without `order by` takes the first rows by key")
        .hint("add `order by …`, or write `// allow: limit-without-order`");
  if (nested) {
    const bool literal_one = select.limit && select.limit->kind == MKind::Constant &&
                             select.limit->constant == model::Literal(std::int64_t{1});
    if (one_row && select.columns.size() == 1)
      select.shape = model::Shape::Scalar;
    else if (literal_one)
      select.shape = model::Shape::Row;
  }
  body.bindings.resize(bindings);
  body.folds_allowed = folds_allowed;
  body.inside_fold = inside_fold;
  body.outputs = outputs;
  body.columns = columns;
  return select;
}

bool Analyzer::read_source_name(Body& body, const Source& source, model::Variable& variable) {
  const Name& name = source.what.name;
  if (name.missing()) return false;
  const auto not_history = [&] {
    if (!source.history) return;
    error(DiagnosticCode::NotRefreshed, source.what.span, fmt::format("`{}` has no history", name.text))
        .hint("only a refreshed query has a history: `query … refresh every 1 hour keep 1000 { … }`");
  };
  if (const auto entity = entities_.find(name.text); entity != entities_.end()) {
    not_history();
    if (!body.own_only.empty()) {
      error(DiagnosticCode::BulkPredicate, name.span,
            fmt::format("`{}` is another aggregate, but {} can read only own fields", name.text, body.own_only))
          .hint("write a `require` in the commands");
      return false;
    }
    variable.kind = model::SourceKind::Entity;
    variable.type = model::reference(entity->second);
    return true;
  }
  if (const auto statement = statements_.find(name.text);
      statement != statements_.end() && !statement->second.command) {
    const std::uint32_t index = statement->second.index;
    const QueryDecl& query = *query_decls_[index];
    if (!query.refresh) {
      error(DiagnosticCode::NotRefreshed, name.span,
            fmt::format("the query `{}` is not refreshed, so it cannot be a source", name.text))
          .label(query.name.span, "declared here")
          .hint("write its path here, or store its rows: `refresh every 1 hour`");
      return false;
    }
    if (!read_query(index)) {
      error(DiagnosticCode::RefreshCycle, name.span, fmt::format("the refreshed query `{}` reads itself", name.text))
          .label(query.name.span, "this query")
          .hint("refreshed queries cannot read each other in a cycle");
      return false;
    }
    variable.kind = source.history ? model::SourceKind::History : model::SourceKind::Refreshed;
    variable.query = index;
    variable.type = model_.queries[index].row;
    return true;
  }
  if (body.self && find_member(body.variables[*body.self].type, name.text) != nullptr) {
    variable.source = read_name(body, source.what);
    return true;
  }
  if (find_variable(body, name.text)) {
    variable.source = read_name(body, source.what);
    return true;
  }
  if (lost_names_.contains(name.text)) return false;
  std::vector<std::string_view> candidates;
  add_names(entities_, candidates);
  if (affordable(query_decls_.size()))
    for (const QueryDecl* query : query_decls_)
      if (query->refresh) candidates.push_back(query->name.text);
  for (const Binding& binding : body.bindings) candidates.push_back(binding.name);
  std::sort(candidates.begin(), candidates.end());
  auto report =
      values_.contains(name.text)
          ? error(DiagnosticCode::UnknownSource, name.span, fmt::format("`{}` is a value, not an entity", name.text))
          : error(DiagnosticCode::UnknownEntity, name.span, fmt::format("unknown entity `{}`", name.text));
  if (statements_.contains(name.text)) {
    report.hint("it is a command; a source must be an entity, a path or a refreshed query");
    return false;
  }
  if (values_.contains(name.text)) {
    report.hint("use a path to it: `from Order o, o.lines l`");
    return false;
  }
  for (const Binding& binding : body.bindings) {
    const model::Type& type = body.variables[binding.variable].type;
    if ((type.kind == TypeKind::Reference || type.kind == TypeKind::Value) && find_member(type, name.text) != nullptr) {
      report.hint(fmt::format("did you mean `{}.{}`?", binding.name, name.text));
      return false;
    }
  }
  if (const auto near = closest(name.text, candidates)) report.hint(fmt::format("did you mean `{}`?", *near));
  return false;
}

// `references(u.follows)`: false where it is none.
bool Analyzer::read_references(Body& body, const Expr& call, model::Variable& variable) {
  variable.kind = model::SourceKind::References;
  if (body.place != Place::Design) {
    error(DiagnosticCode::FunctionMisplaced, call.span, "`references` can be a source only in designs")
        .hint("in a query write `u.follows a` for the existing targets, or select the role itself: `select u.follows`");
    return false;
  }
  if (call.operands.size() != 1 || call.distinct) {
    error(DiagnosticCode::WrongArguments, call.span, "`references` takes one role to many")
        .hint("write `references(u.follows) a`");
    return false;
  }
  const Expr& role = call.operands[0];
  variable.source = read(body, role);
  const model::Type& type = variable.source.type;
  if (!type.known()) return false;
  const std::string_view written = source_.text(role.span);
  const std::string name = variable.name.empty() ? "x" : variable.name;
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    auto report = error(DiagnosticCode::WrongArguments, role.span, message);
    if (!hint.empty()) report.hint(hint);
    return false;
  };
  if (type.kind == TypeKind::Reference)
    return refuse(fmt::format("`references` takes a role to many, but `{}` is to one", written),
                  "it is already a reference: write it as part of the key");
  if (!type.is_collection())
    return refuse(fmt::format("`references` takes a role to many, found `{}`", text(type)), "");
  if (variable.source.kind == MKind::Inverse)
    return refuse(fmt::format("`{}` is an inverse: it is not stored, and the referring instances exist", written),
                  fmt::format("write `{} {}`", written, name));
  if (type.element().kind != TypeKind::Reference) {
    const bool keys_refer = type.kind == TypeKind::Map && type.arguments[0].kind == TypeKind::Reference;
    if (keys_refer)
      return refuse(fmt::format("only the keys of `{}` are references", written),
                    fmt::format("write `{} {}`, and `key({})`", written, name, name));
    return refuse(fmt::format("`{}` has the type `{}` and holds no references", written, text(type)),
                  type.element().kind == TypeKind::Value
                      ? fmt::format("write `{} {}`, and continue from `{}`", written, name, name)
                      : fmt::format("write `{} {}`", written, name));
  }
  if (!kept_by_first(body, variable.source))
    return refuse(fmt::format("`{}` is not a role of the first entity of the collection", written),
                  "begin with the entity that has it: `of User u, references(u.follows) a`");
  variable.type = type.element();
  variable.type.optional = false;
  return true;
}

void Analyzer::read_source(Body& body, const Source& source, std::vector<std::uint32_t>& from) {
  model::Variable variable;
  variable.name = source.variable.text;
  variable.span = source.variable.span;
  variable.kind = model::SourceKind::Path;
  bool good = true;
  const Expr& what = source.what;
  if (what.kind == ExprKind::Name) {
    good = read_source_name(body, source, variable);
  } else if (what.kind == ExprKind::Call && what.name.text == "words") {
    variable.kind = model::SourceKind::Words;
    variable.type = model::scalar(TypeKind::Text);
    if (body.place != Place::Design) {
      error(DiagnosticCode::FunctionMisplaced, what.span, "`words` can be a source only in designs")
          .hint("in a query write `where t.content contains all $words`");
      good = false;
    } else if (what.operands.size() != 1 || what.distinct) {
      error(DiagnosticCode::WrongArguments, what.span, "`words` takes one text").hint("write `words(t.content) w`");
      good = false;
    } else {
      variable.source = read(body, what.operands[0]);
      if (variable.source.type.known() && variable.source.type.kind != TypeKind::Text) {
        error(DiagnosticCode::WrongArguments, what.operands[0].span,
              fmt::format("`words` takes a text, found `{}`", text(variable.source.type)));
        good = false;
      }
    }
  } else if (what.kind == ExprKind::Call && what.name.text == "references") {
    good = read_references(body, what, variable);
  } else if (what.kind == ExprKind::Unknown) {
    good = false;
  } else if (what.kind == ExprKind::Member || what.kind == ExprKind::Index) {
    variable.source = read(body, what);
    good = variable.source.type.known();
  } else {
    if (what.kind == ExprKind::Call && statements_.contains(what.name.text)) {
      for (const Expr& operand : what.operands) read(body, operand);
      error(DiagnosticCode::NotInLanguage, what.span,
            fmt::format("`{}` with arguments: a query as a source has no parameters", what.name.text))
          .hint(
              "write its path and its condition here; or store the rows of a query without parameters with `refresh "
              "every …`, and filter them");
      good = false;
    }
    if (good) {
      auto report = error(DiagnosticCode::UnknownSource, what.span, "this is not a source");
      if (what.kind == ExprKind::Select)
        report.hint("store the rows of the inner query with `refresh every …`, or nest it in `select`");
      else if (what.kind == ExprKind::Parameter)
        report.hint("compare a parameter in `where`: `… in $ids`; a command can iterate over it with `for`");
      else
        report.hint("a source is an entity, a path such as `u.follows`, an instance `User[$u]`, or a refreshed query");
    }
    good = false;
  }
  if (good && source.history && what.kind != ExprKind::Name)
    error(DiagnosticCode::NotRefreshed, what.span, "`history` needs a refreshed query");
  if (good && variable.kind == model::SourceKind::Path) {
    const model::Type& type = variable.source.type;
    const auto no_source = [&](const std::string& message, const std::string& hint) {
      error(DiagnosticCode::UnknownSource, what.span, message).hint(hint);
      good = false;
    };
    const std::string_view written = source_.text(what.span);
    if (type.is_collection()) {
      variable.type = type.element();
    } else if (type.kind == TypeKind::Reference && what.kind == ExprKind::Index &&
               variable.source.kind != MKind::Element) {  // E[k], or E[r] of a reference r
      variable.kind = model::SourceKind::Instance;
      variable.type = type;
      variable.type.optional = false;
    } else if (type.kind == TypeKind::Reference) {
      if (variable.source.kind == MKind::Variable)
        no_source(fmt::format("`{}` is already a variable", written), "continue from it with a role or a collection");
      variable.type = type;
      variable.type.optional = false;
    } else if (!type.known()) {
      good = false;
    } else if (type.kind == TypeKind::Value || type.kind == TypeKind::Row) {
      no_source(fmt::format("`{}` is a single value and cannot be a source", written),
                fmt::format("write its fields directly: `{}.…`", written));
    } else if (type.kind == TypeKind::Json) {
      no_source(fmt::format("`{}` is json and cannot be a source", written), "declare a `value` and a list of it");
    } else {
      no_source(fmt::format("`{}` has the type `{}` and cannot be a source", written, text(type)),
                "a source must be an entity, a role, a list, a set or a map");
    }
    if (good && !body.own_only.empty() && variable.type.kind == TypeKind::Reference)
      error(DiagnosticCode::BulkPredicate, what.span,
            fmt::format("a variable over `{}` reads other aggregates, but {} can read only own fields", written,
                        body.own_only));
  }
  if (!good) {
    variable.type = {};
    variable.source = {};
  }
  if (source.variable.missing()) {
    from.push_back(add_variable(body, std::move(variable)));
    return;
  }
  if (const auto before = find_variable(body, source.variable.text)) {
    error(DiagnosticCode::DuplicateVariable, source.variable.span,
          fmt::format("variable `{}` declared twice", source.variable.text))
        .label(body.variables[*before].span, "first declared here")
        .hint("give one of them another name");
  }
  const std::uint32_t index = add_variable(body, std::move(variable));
  body.bindings.push_back({source.variable.text, index});
  from.push_back(index);
}

void Analyzer::read_columns(Body& body, const Select& written, model::Select& select) {
  std::unordered_map<std::string, Span> names;
  for (const SelectColumn& column : written.columns) read_column(body, column, select);
  for (const model::Column& column : select.columns) {
    if (column.name.empty()) continue;
    const auto [at, fresh] = names.emplace(column.name, column.span);
    if (!fresh)
      error(DiagnosticCode::DuplicateColumn, column.span, fmt::format("a second column `{}`", column.name))
          .label(at->second, "the first is here")
          .hint("name one of them with `as`");
  }
  if (!select.distinct) return;
  for (const model::Column& column : select.columns) {
    if (!column.expr.type.known()) continue;
    if (!column.aggregate && ordered(column.expr.type)) continue;
    auto report = error(DiagnosticCode::DistinctType, column.span,
                        column.aggregate ? std::string("`distinct` of whole aggregates")
                                         : fmt::format("`distinct` of `{}`", text(column.expr.type)));
    report.hint("select scalars and references, such as the key");
  }
}

void Analyzer::read_column(Body& body, const SelectColumn& written, model::Select& select) {
  model::Column column;
  column.span = written.span;
  column.name = written.as.missing() ? default_name(written.expr) : written.as.text;
  const bool named = !written.as.missing();
  column.expr = read(body, written.expr);
  column.aggregate = written.expr.kind == ExprKind::Name && column.expr.kind == MKind::Variable &&
                     is_instance(body.variables[column.expr.index]);
  std::vector<const Name*> more;  // names after `without` that are columns of their own
  if (!written.without.empty()) {
    if (!column.aggregate) {
      if (column.expr.type.known())
        error(DiagnosticCode::WithoutMisuse, written.without[0].span,
              fmt::format("`without` removes fields from an aggregate, but `{}` is not one",
                          source_.text(written.expr.span)))
            .hint("write `select u without likes` for a variable `u` over an entity");
    } else {
      const model::Type type = column.expr.type;
      for (const Name& name : written.without) {
        if (name.missing()) continue;
        const MemberRef* member = find_member(type, name.text);
        if (member != nullptr && !member->inverse) {
          if (std::find(column.without.begin(), column.without.end(), member->index) != column.without.end())
            error(DiagnosticCode::DuplicateClause, name.span,
                  fmt::format("`{}` listed twice after `without`", name.text));
          column.without.push_back(member->index);
        } else if (member != nullptr) {
          error(DiagnosticCode::WithoutMisuse, name.span,
                fmt::format("`{}` is an inverse and not part of the aggregate", name.text))
              .hint("remove it here");
        } else if (find_variable(body, name.text)) {
          more.push_back(&name);
        } else {
          report_unknown_member(type, name);
        }
      }
    }
  }
  if (named && !more.empty()) column.name = default_name(written.expr);
  const bool usable = column.expr.type.known();
  if (column.name.empty() && usable)
    error(DiagnosticCode::ColumnName, written.span, "this column needs a name").hint("write `… as name`");
  if (usable && column.expr.type.kind == TypeKind::Duration)
    error(DiagnosticCode::DurationMisuse, written.expr.span, "a duration cannot be a column");
  select.columns.push_back(std::move(column));
  for (const Name* name : more) {
    model::Column next;
    next.span = name->span;
    next.name = named && name == more.back() ? written.as.text : name->text;
    next.expr = variable_expr(body, *find_variable(body, name->text), name->span);
    next.aggregate = is_instance(body.variables[next.expr.index]);
    select.columns.push_back(std::move(next));
  }
}

void Analyzer::check_groups(const Body& body, const Select& written, const model::Select& select) {
  if (!select.folded || broken(written.span)) return;
  for (const MExpr& group : select.group_by)
    if (!group.type.known()) return;
  const Groups groups(model_, body, select);
  const MExpr* fold = nullptr;
  for (const model::Column& column : select.columns)
    if (fold == nullptr && holds_fold(column.expr)) fold = &column.expr;
  const auto ask = [&](const MExpr& expr, Span span, const char* what) {
    const MExpr* found = groups.undetermined(expr);
    if (found == nullptr) return;
    const std::string_view name = source_.text(found->span.end > found->span.begin ? found->span : span);
    if (select.group_by.empty()) {
      const Span narrow = found->span.begin >= span.begin && found->span.end <= span.end ? found->span : span;
      auto report = error(DiagnosticCode::FoldMix, narrow,
                          fmt::format("`{}` has a value for each row, but there is also a fold over all rows", name));
      if (fold != nullptr) report.label(fold->span, "the fold");
      report.hint(fmt::format("group by it, `group by {}`, or fold in a nested select", name));
    } else {
      const Span group_span = cover(written.group_by.front().span, written.group_by.back().span);
      const Span narrow = found->span.begin >= span.begin && found->span.end <= span.end ? found->span : span;
      auto report =
          error(DiagnosticCode::NotGrouped, narrow, fmt::format("{} `{}` differs within a group", what, name));
      report.label(group_span, "the groups");
      report.hint("add it to `group by`, fold it, or group by its variable");
    }
  };
  for (const model::Column& column : select.columns) ask(column.expr, column.expr.span, "the column");
  for (const model::OrderTerm& term : select.order_by) ask(term.expr, term.expr.span, "the order term");
}

void Analyzer::read_order(Body& body, const Select& written, model::Select& select) {
  for (const OrderTerm& term : written.order_by) {
    model::OrderTerm made;
    made.descending = term.direction == Direction::Descending;
    made.expr = read(body, term.expr);
    if (made.expr.type.known() && !ordered(made.expr.type)) {
      auto report =
          error(DiagnosticCode::NotOrdered, term.expr.span, fmt::format("`{}` has no order", text(made.expr.type)));
      if (made.expr.type.is_collection())
        report.hint("order by the number of its elements, `count(…)`");
      else if (made.expr.type.kind == TypeKind::Value || made.expr.type.kind == TypeKind::Row)
        report.hint("order by one of its fields");
      else
        report.hint("order by scalars and references");
      made.expr = unknown(term.expr.span);
    }
    if (select.distinct && made.expr.type.known()) {
      const bool selected = made.expr.kind == MKind::Column ||
                            std::any_of(select.columns.begin(), select.columns.end(), [&](const model::Column& column) {
                              return model::same(column.expr, made.expr);
                            });
      if (!selected)
        error(DiagnosticCode::OrderOfDistinct, term.expr.span, "distinct rows can be ordered only by selected columns")
            .hint("select it too, or remove `distinct`");
    }
    select.order_by.push_back(std::move(made));
  }
}

std::optional<MExpr> Analyzer::read_limit(Body& body, const Expr& limit) {
  const bool negative = limit.kind == ExprKind::Unary && limit.op == Operator::Negate;
  if (!negative && limit.kind != ExprKind::Number && limit.kind != ExprKind::Parameter &&
      limit.kind != ExprKind::Unknown) {
    error(DiagnosticCode::LimitValue, limit.span, "a limit must be a whole number or a parameter");
    return std::nullopt;
  }
  MExpr made = read(body, limit, &int_type);
  if (!made.type.known()) return std::nullopt;
  if (made.type.kind != TypeKind::Int || (made.kind != MKind::Constant && made.kind != MKind::Parameter)) {
    error(DiagnosticCode::LimitValue, limit.span, fmt::format("a limit must be an `int`, found `{}`", text(made.type)));
    return std::nullopt;
  }
  if (negative) {
    error(DiagnosticCode::LimitValue, limit.span, "a negative limit");
    return std::nullopt;
  }
  return made;
}

}  // namespace noam::language
