#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/source.h"
#include "noam/language/suggest.h"

namespace noam::language {

using model::TypeKind;
using MExpr = model::Expr;
using MKind = model::ExprKind;

namespace {

constexpr std::array<std::string_view, 7> targets = {"cassandra", "mongodb",      "dynamodb", "hbase",
                                                     "redis",     "oracle-nosql", "couchbase"};
constexpr std::array<std::string_view, 4> strategies = {"eao", "etf", "normalized", "advised"};

template <typename Visitor>
void for_each_variable(const MExpr& expr, Visitor visit) {
  if (expr.kind == MKind::Variable) visit(expr);
  for (const MExpr& operand : expr.operands) for_each_variable(operand, visit);
}

// `t.at` of variable t: the field's index.
std::optional<std::uint32_t> own_field(const MExpr& expr, std::uint32_t variable) {
  if (expr.kind != MKind::Field || expr.operands[0].kind != MKind::Variable || expr.operands[0].index != variable)
    return std::nullopt;
  return expr.index;
}

// What the keys of a family tell apart, and so which of its variables they determine.
class Determination {
 public:
  Determination(const model::Model& model, const std::vector<model::Variable>& variables,
                std::vector<std::uint32_t> scope)
      : model_(model), variables_(variables), scope_(std::move(scope)), determined_(variables.size(), false) {}

  void add_known(const MExpr& expr) { known_.push_back(&expr); }

  // A row that a filter lets through has this constant there: `where o.status = "open"`.
  void add_filter(const MExpr& where) {
    if (where.kind != MKind::Call) return;
    if (where.function == model::Function::And)
      for (const MExpr& operand : where.operands) add_filter(operand);
    if (where.function != model::Function::Equal) return;
    if (where.operands[1].kind == MKind::Constant) known_.push_back(&where.operands[0]);
    if (where.operands[0].kind == MKind::Constant) known_.push_back(&where.operands[1]);
  }

  void work_out() {
    for (bool more = true; more;) {
      more = false;
      for (const std::uint32_t variable : scope_) {
        if (determined_[variable] || !determines(variable)) continue;
        determined_[variable] = true;
        more = true;
      }
    }
  }

  [[nodiscard]] bool determined(std::uint32_t variable) const { return determined_[variable]; }

  // What to add to the key so that the variable is determined, as a person would write it.
  [[nodiscard]] std::string missing(std::uint32_t variable) const {
    const model::Variable& v = variables_[variable];
    const TypeKind source = v.source.type.kind;
    if (v.kind == model::SourceKind::Refreshed || v.kind == model::SourceKind::History)
      return fmt::format("`{}.refreshed`, `position({})`", v.name, v.name);
    const bool of_references = v.kind == model::SourceKind::References;
    const bool of_elements = v.kind == model::SourceKind::Path || of_references;
    if (of_elements && source == TypeKind::List) return fmt::format("`position({})`", v.name);
    if (of_elements && source == TypeKind::Map) return fmt::format("`key({})`", v.name);
    if (of_references) return fmt::format("`{}`", v.name);
    if (v.type.kind == TypeKind::Reference) {
      const model::Entity& entity = model_.entity(v.type.entity());
      std::string parts;
      for (const std::uint32_t part : entity.key) {
        if (key_part_known(variable, part)) continue;
        const model::Field& field = entity.fields[part];
        parts += fmt::format("{}`{}`", parts.empty() ? "" : ", ",
                             field.hidden ? v.name : fmt::format("{}.{}", v.name, field.name));
      }
      return parts;
    }
    return fmt::format("`{}`", v.name);
  }

 private:
  [[nodiscard]] bool is_known(const MExpr& expr) const {
    return std::any_of(known_.begin(), known_.end(), [&](const MExpr* known) { return model::same(*known, expr); });
  }

  [[nodiscard]] bool call_known(model::Function function, std::uint32_t variable) const {
    return std::any_of(known_.begin(), known_.end(), [&](const MExpr* known) {
      return known->kind == MKind::Call && known->function == function && known->operands[0].kind == MKind::Variable &&
             known->operands[0].index == variable;
    });
  }

  [[nodiscard]] bool variable_known(std::uint32_t variable) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const MExpr* known) { return known->kind == MKind::Variable && known->index == variable; });
  }

  // The reference in `expr`, or all parts of its key, are known.
  [[nodiscard]] bool reference_known(const MExpr& expr, int depth = 0) const {
    if (is_known(expr)) return true;
    if (expr.type.kind != TypeKind::Reference || depth > 64) return false;
    const model::Entity& entity = model_.entity(expr.type.entity());
    return std::all_of(entity.key.begin(), entity.key.end(), [&](std::uint32_t part) {
      MExpr field;
      field.kind = MKind::Field;
      field.index = part;
      field.type = entity.fields[part].type;
      field.operands.push_back(expr);
      return reference_known(field, depth + 1);
    });
  }

  [[nodiscard]] bool key_part_known(std::uint32_t variable, std::uint32_t part) const {
    const model::Variable& v = variables_[variable];
    const model::Entity& entity = model_.entity(v.type.entity());
    MExpr self;
    self.kind = MKind::Variable;
    self.index = variable;
    self.type = v.type;
    MExpr field;
    field.kind = MKind::Field;
    field.index = part;
    field.type = entity.fields[part].type;
    field.operands.push_back(self);
    if (reference_known(field)) return true;
    // v came by the way back of this very field from a determined one, or a determined one came by this field.
    if (v.source.kind == MKind::Inverse && from_determined(v.source)) {
      const model::Role& role = model_.roles[v.source.index];
      if (role.from == v.type.entity() && role.field == part && !role.many) return true;
    }
    for (const std::uint32_t other : scope_)
      if (determined_[other] && own_field(variables_[other].source, variable) == part) return true;
    return false;
  }

  [[nodiscard]] bool key_known(std::uint32_t variable) const {
    const model::Entity& entity = model_.entity(variables_[variable].type.entity());
    return std::all_of(entity.key.begin(), entity.key.end(),
                       [&](std::uint32_t part) { return key_part_known(variable, part); });
  }

  [[nodiscard]] bool from_determined(const MExpr& expr) const {
    bool all = true;
    for_each_variable(expr, [&](const MExpr& at) { all = all && determined_[at.index]; });
    return all;
  }

  [[nodiscard]] bool determines(std::uint32_t variable) const {
    const model::Variable& v = variables_[variable];
    if (!v.type.known()) return true;
    switch (v.kind) {
      case model::SourceKind::Words:
        return variable_known(variable) && from_determined(v.source);
      case model::SourceKind::Refreshed:
      case model::SourceKind::History: {
        const bool time = v.kind == model::SourceKind::Refreshed ||
                          std::any_of(known_.begin(), known_.end(), [&](const MExpr* known) {
                            return known->kind == MKind::Refreshed && known->operands[0].index == variable;
                          });
        return time && (call_known(model::Function::Position, variable) || row_known(variable));
      }
      case model::SourceKind::Instance:
        return from_determined(v.source);
      default:
        break;
    }
    const bool of_references = v.kind == model::SourceKind::References;
    if (v.kind == model::SourceKind::Path || of_references) {
      const TypeKind source = v.source.type.kind;
      if (source == TypeKind::List) return from_determined(v.source) && call_known(model::Function::Position, variable);
      if (source == TypeKind::Map) return from_determined(v.source) && call_known(model::Function::MapKey, variable);
      if (source == TypeKind::Set && v.type.kind != TypeKind::Reference)
        return from_determined(v.source) && variable_known(variable);
      if (of_references) return from_determined(v.source) && (variable_known(variable) || key_known(variable));
      if (source == TypeKind::Reference && from_determined(v.source)) return true;
    }
    if (variable_known(variable) || key_known(variable)) return true;
    // The one side: a determined variable came from here by the way back of a reference to one.
    for (const std::uint32_t other : scope_) {
      if (!determined_[other]) continue;
      const MExpr& source = variables_[other].source;
      if (source.kind == MKind::Inverse && source.operands[0].kind == MKind::Variable &&
          source.operands[0].index == variable && !model_.roles[source.index].many)
        return true;
    }
    return false;
  }

  // The columns of a refreshed query that are known tell its rows apart.
  [[nodiscard]] bool row_known(std::uint32_t variable) const {
    const model::Query& query = model_.queries[variables_[variable].query];
    const auto column_known = [&](const MExpr& expr) {
      for (std::uint32_t i = 0; i < query.select.columns.size(); ++i) {
        if (!model::same(query.select.columns[i].expr, expr)) continue;
        const bool found = std::any_of(known_.begin(), known_.end(),
                                       [&](const MExpr* known) { return own_field(*known, variable) == i; });
        if (found) return true;
      }
      return false;
    };
    if (!query.select.group_by.empty())
      return std::all_of(query.select.group_by.begin(), query.select.group_by.end(), column_known);
    if (query.select.from.size() != 1 || query.select.folded) return false;
    const model::Type& type = query.variables[query.select.from[0]].type;
    if (type.kind != TypeKind::Reference) return false;
    const model::Entity& entity = model_.entity(type.entity());
    return std::all_of(entity.key.begin(), entity.key.end(), [&](std::uint32_t part) {
      MExpr field;
      field.kind = MKind::Field;
      field.index = part;
      field.type = entity.fields[part].type;
      MExpr self;
      self.kind = MKind::Variable;
      self.index = query.select.from[0];
      self.type = type;
      field.operands.push_back(std::move(self));
      return column_known(field);
    });
  }

  const model::Model& model_;
  const std::vector<model::Variable>& variables_;
  std::vector<std::uint32_t> scope_;
  std::vector<const MExpr*> known_;
  std::vector<bool> determined_;
};

// Where `[*]` stands.
Span star_span(const FamilyDecl& family, const SourceFile& source) {
  const std::uint32_t from = std::max(family.word_span.end, family.path_span.end);
  const std::string_view rest = source.text({from, family.span.end});
  const std::size_t open = rest.find('[');
  const std::size_t close = rest.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return family.word_span;
  return {from + static_cast<std::uint32_t>(open), from + static_cast<std::uint32_t>(close) + 1};
}

// A field, an element, or something that belongs to one: what a column may hold beside folds.
bool is_field(const MExpr& expr) {
  switch (expr.kind) {
    case MKind::Field:
    case MKind::Element:
      return is_field(expr.operands[0]) || expr.operands[0].kind == MKind::Variable;
    case MKind::Variable:
    case MKind::CountOf:
    case MKind::Refreshed:
      return true;
    case MKind::Call:
      return expr.function == model::Function::Position || expr.function == model::Function::MapKey;
    default:
      return false;
  }
}

// The variables that must be determined for a cell to have one value.
void needed_variables(const model::Cell& cell, std::vector<std::uint32_t>& needed) {
  if (cell.shape == model::CellShape::Plain) {
    if (holds_fold(cell.expr)) return;
    for_each_variable(cell.expr, [&](const MExpr& at) { needed.push_back(at.index); });
    return;
  }
  if (cell.shape == model::CellShape::List) return;  // holds the rows that share the keys, or those of its own `from`
  for (const model::Cell& inner : cell.cells) needed_variables(inner, needed);
}

bool has_plain(const std::vector<model::Cell>& cells) {
  std::vector<std::uint32_t> needed;
  for (const model::Cell& cell : cells) needed_variables(cell, needed);
  return !needed.empty();
}

}  // namespace

void Analyzer::check_target_name(const Name& name) {
  if (name.missing() || std::find(targets.begin(), targets.end(), name.text) != targets.end()) return;
  auto report = error(DiagnosticCode::UnknownTarget, name.span, fmt::format("unknown target `{}`", name.text));
  if (const auto near = closest(name.text, targets))
    report.hint(fmt::format("did you mean `{}`?", *near));
  else
    report.hint("the targets are cassandra, mongodb, dynamodb, hbase, redis, oracle-nosql and couchbase");
}

void Analyzer::read_designs() {
  std::unordered_map<std::string_view, Span> names;
  for (const Declaration& declaration : tree_.declarations) {
    const auto* design = std::get_if<DesignDecl>(&declaration);
    if (design == nullptr) continue;
    if (diagnostics_->stopped()) return;
    if (!design->name.missing()) {
      if (std::find(strategies.begin(), strategies.end(), design->name.text) != strategies.end())
        error(DiagnosticCode::DuplicateDesign, design->name.span,
              fmt::format("`{}` is a strategy and cannot be the name of a design", design->name.text));
      const auto [at, fresh] = names.emplace(design->name.text, design->name.span);
      if (!fresh)
        error(DiagnosticCode::DuplicateDesign, design->name.span,
              fmt::format("design `{}` declared twice", design->name.text))
            .label(at->second, "first declared here");
    }
    read_design(*design);
  }
}

void Analyzer::read_design(const DesignDecl& written) {
  model::WrittenDesign design;
  design.name = written.name.text;
  design.span = written.name.span;
  design.rest = "eao";
  for (const Name& target : written.targets) {
    check_target_name(target);
    design.targets.emplace_back(target.text);
  }
  if (written.rest && !written.rest->missing()) {
    design.rest = written.rest->text;
    if (std::find(strategies.begin(), strategies.end(), written.rest->text) == strategies.end()) {
      auto report = error(DiagnosticCode::UnknownStrategy, written.rest->span,
                          fmt::format("unknown strategy `{}`", written.rest->text));
      if (const auto near = closest(written.rest->text, strategies))
        report.hint(fmt::format("did you mean `{}`?", *near));
      else
        report.hint("the strategies are eao, etf, normalized and advised");
    }
  }
  std::unordered_map<std::string_view, Span> names;
  Placements placements;
  for (const CollectionDecl& collection : written.collections) {
    if (!collection.name.missing()) {
      const auto [at, fresh] = names.emplace(collection.name.text, collection.name.span);
      if (!fresh)
        error(DiagnosticCode::DuplicateCollection, collection.name.span,
              fmt::format("collection `{}` declared twice in design `{}`", collection.name.text, design.name))
            .label(at->second, "first declared here")
            .hint("write all families of a collection in one declaration");
    }
    Diagnostics found;
    Diagnostics* real = std::exchange(diagnostics_, &found);
    read_collection(collection, design, placements);
    diagnostics_ = real;
    forward(found, {collection.span});
  }
  place_stars(design, placements);
  model_.designs.push_back(std::move(design));
}

void Analyzer::read_collection(const CollectionDecl& written, model::WrittenDesign& design, Placements& placements) {
  model::WrittenCollection out;
  out.name = written.name.text;
  out.span = written.name.span;
  Body body;
  body.place = Place::Design;
  for (const Source& source : written.from) read_source(body, source, out.from);
  if (!out.from.empty()) body.self = out.from[0];
  for (const DesignPart& part : written.by) out.by.push_back(read_part(body, part));
  std::unordered_map<std::string, Span> options;
  for (const TargetOptions& with : written.with) {
    check_target_name(with.target);
    for (const TargetOption& option : with.options) {
      if (option.name.missing()) continue;
      const auto [at, fresh] =
          options.emplace(fmt::format("{} {}", with.target.text, option.name.text), option.name.span);
      if (!fresh)
        error(DiagnosticCode::DuplicateClause, option.name.span,
              fmt::format("option `{}` given twice", option.name.text))
            .label(at->second, "first here");
      model::TargetOption made{std::string(with.target.text), std::string(option.name.text), read(body, option.value)};
      if (made.value.type.known() && made.value.kind != MKind::Constant && made.value.kind != MKind::List)
        error(DiagnosticCode::DesignExpression, option.value.span, "the value of an option must be a literal");
      out.options.push_back(std::move(made));
    }
  }
  for (const FamilyDecl& family : written.families) read_family(body, family, out, design, placements);
  out.variables = std::move(body.variables);
  check_names(written, out);
  design.collections.push_back(std::move(out));
}

model::Part Analyzer::read_part(Body& body, const DesignPart& written) {
  model::Part part;
  part.span = written.span;
  part.descending = written.direction == Direction::Descending;
  part.name = written.as.missing() ? default_name(written.expr) : written.as.text;
  part.expr = read(body, written.expr);
  if (!part.expr.type.known()) return part;
  if (!ordered(part.expr.type)) {
    auto report = error(DiagnosticCode::NotOrdered, written.expr.span,
                        fmt::format("`{}` cannot be part of a key", text(part.expr.type)));
    if (part.expr.type.is_collection())
      report.hint("bind it in `from` and use its elements, or use their number, `count(…)`");
    else if (part.expr.type.kind == TypeKind::Value)
      report.hint("use its fields");
    part.expr = unknown(written.expr.span);
    return part;
  }
  if (part.name.empty())
    error(DiagnosticCode::ColumnName, written.span, "this part of the key needs a name").hint("write `… as name`");
  return part;
}

void Analyzer::read_family(Body& body, const FamilyDecl& written, model::WrittenCollection& out,
                           const model::WrittenDesign& design, Placements& placements) {
  model::WrittenFamily family;
  family.copy = written.copy;
  family.span = written.span;
  family.elements = written.elements;
  for (const Name& name : written.path) family.path.emplace_back(name.text);
  const std::size_t bindings = body.bindings.size();
  for (const Source& source : written.from) read_source(body, source, family.from);
  for (const DesignPart& part : written.key) family.key.push_back(read_part(body, part));
  if (written.where) {
    family.where = read_predicate(body, *written.where, "where");
  }
  if (written.limit) {
    const auto limit = read_integer(*written.limit, "a limit");
    if (limit && (*limit < 1 || *limit > 1'000'000'000))
      error(DiagnosticCode::LimitValue, written.limit->span, "a family must keep at least 1 entry");
    else if (limit)
      family.limit = static_cast<std::uint32_t>(*limit);
    if (written.key.empty() && written.copy)
      error(DiagnosticCode::FamilyClause, written.limit->span,
            "`limit` keeps the first entries by key, but the entries have no key")
          .hint("add the key that orders them: `copy [t.at desc, t.id]: … limit 800`");
  }
  if (written.copy)
    read_copy(body, written, family, out);
  else
    read_entry(body, written, family, out, design, placements);
  body.bindings.resize(bindings);
  out.families.push_back(std::move(family));
}

void Analyzer::read_copy(Body& body, const FamilyDecl& written, model::WrittenFamily& family,
                         const model::WrittenCollection& out) {
  if (written.elements) {
    error(DiagnosticCode::FamilyElements, star_span(written, source_), "`[*]` can be used only in an `entry`")
        .hint("write the key of the copy: `copy rounds[position(r)]: r.moves from g.rounds r`");
    return;
  }
  for (const DesignColumn& cell : written.columns) read_cell(body, cell, family.cells, true);
  // Keys determine the row, as far as a cell needs one.
  std::vector<std::uint32_t> scope = out.from;
  scope.insert(scope.end(), family.from.begin(), family.from.end());
  for (const std::uint32_t variable : scope)
    if (!body.variables[variable].type.known()) return;
  const auto all_known = [](const std::vector<model::Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const model::Part& part) { return part.expr.type.known(); });
  };
  if (!all_known(out.by) || !all_known(family.key) || broken(written.span)) return;
  std::vector<std::uint32_t> needed;
  for (const model::Cell& cell : family.cells) needed_variables(cell, needed);
  Determination determination(model_, body.variables, scope);
  for (const model::Part& part : out.by) determination.add_known(part.expr);
  for (const model::Part& part : family.key) determination.add_known(part.expr);
  if (family.where) determination.add_filter(*family.where);
  determination.work_out();
  // A plain cell has one value only where every row under these keys is the same row; folds take the rest together.
  if (has_plain(family.cells)) {
    const bool folds = std::any_of(family.cells.begin(), family.cells.end(), [](const model::Cell& cell) {
      return cell.shape == model::CellShape::Plain && holds_fold(cell.expr);
    });
    if (!folds) needed.insert(needed.end(), scope.begin(), scope.end());
  }
  for (const std::uint32_t variable : needed) {
    if (std::find(scope.begin(), scope.end(), variable) == scope.end() || determination.determined(variable)) continue;
    report_undetermined(body, variable, determination.missing(variable), written);
    break;
  }
}

void Analyzer::report_undetermined(const Body& body, std::uint32_t variable, const std::string& missing,
                                   const FamilyDecl& written) {
  const model::Variable& v = body.variables[variable];
  const std::string what = v.name.empty() ? "two rows" : fmt::format("two instances of `{}`", v.name);
  const Span place = !written.key.empty() ? cover(written.key.front().span, written.key.back().span)
                     : written.path_span.end > written.path_span.begin ? written.path_span
                                                                       : written.word_span;
  error(DiagnosticCode::KeysDoNotDetermine, place,
        fmt::format("{} may have the same key here, so one would overwrite the other", what))
      .label(v.span, "declared here")
      .hint(missing.empty() ? "add its key to the key of the family" : fmt::format("add {} to the key", missing));
}

void Analyzer::read_entry(Body& body, const FamilyDecl& written, model::WrittenFamily& family,
                          const model::WrittenCollection& out, const model::WrittenDesign& design,
                          Placements& placements) {
  if (out.from.empty()) return;
  const std::uint32_t self = out.from[0];
  const model::Variable first = body.variables[self];
  if (!first.type.known()) return;
  if (first.kind != model::SourceKind::Entity) {
    error(DiagnosticCode::FamilyClause, written.word_span,
          "a refreshed query is derived data and cannot have an `entry`")
        .hint("write a `copy`");
    return;
  }
  const model::EntityId entity_id = first.type.entity();
  const model::Entity& entity = model_.entity(entity_id);
  if (entity.transient) {
    error(DiagnosticCode::TransientEntity, written.word_span,
          fmt::format("the instances of the transient entity `{}` are not stored, so they cannot have an `entry`",
                      entity.name))
        .label(entity.span, "declared here")
        .hint("write a `copy` with the data that queries need");
    return;
  }
  const auto clause = [&](bool there, Span span, const char* what) {
    if (there)
      error(DiagnosticCode::FamilyClause, span,
            fmt::format("an `entry` cannot have a `{}`: it holds the data itself", what))
          .hint("write a `copy` for derived data");
  };
  clause(!written.from.empty(), written.from.empty() ? Span{} : written.from.front().span, "from");
  clause(written.where.has_value(), written.where ? written.where->span : Span{}, "where");
  clause(written.limit.has_value(), written.limit ? written.limit->span : Span{}, "limit");

  // The elements of an own collection, in a collection of their own: `of Game g, g.rounds r by g.id, position(r)`.
  std::optional<std::uint32_t> element;
  std::optional<std::uint32_t> element_field;
  if (out.from.size() > 1) {
    const model::Variable& second = body.variables[out.from[1]];
    element_field = own_field(second.source, self);
    if (out.from.size() > 2 || !element_field || !second.source.type.is_collection() ||
        second.kind == model::SourceKind::References) {
      error(DiagnosticCode::FamilyClause, written.word_span,
            "an `entry` must be in a collection of its own entity, or of the elements of one of its fields")
          .hint("write a `copy` for joined data");
      return;
    }
    element = out.from[1];
  }
  check_base_key(body, out, family, self, entity_id);

  const auto place = [&](std::uint32_t field, Span span) {
    const bool in_entity_key = std::find(entity.key.begin(), entity.key.end(), field) != entity.key.end();
    const auto [at, fresh] = placements.fields.emplace(std::pair(static_cast<std::uint32_t>(entity_id), field), span);
    if (!fresh && !in_entity_key)
      error(DiagnosticCode::PlacedTwice, span,
            fmt::format("`{}.{}` is in two entries", entity.name, entity.fields[field].name))
          .label(at->second, "first here")
          .hint("place a field once; a `copy` can hold it again");
  };
  const auto [home, first_home] =
      placements.homes.emplace(static_cast<std::uint32_t>(entity_id), std::pair(out.name, out.span));
  if (!first_home && home->second.first != out.name)
    error(DiagnosticCode::BaseInSeveralBlocks, out.span,
          fmt::format("the base of `{}` is spread over several blocks: `{}` and `{}`", entity.name, home->second.first,
                      out.name))
        .label(home->second.second, "the other collection")
        .hint(
            "reading or changing a whole aggregate takes several steps; place it in one collection, or write `// "
            "allow: base-in-several-blocks`");
  // What a key holds of the entity need not be written again.
  for (const std::vector<model::Part>* parts : {&std::as_const(out.by), &std::as_const(family.key)})
    for (const model::Part& part : *parts)
      if (const auto field = own_field(part.expr, self))
        placements.in_keys.insert(std::pair(static_cast<std::uint32_t>(entity_id), *field));
      else if (part.expr.kind == MKind::Variable && part.expr.index == self)
        for (const std::uint32_t field_of_key : entity.key)
          placements.in_keys.insert(std::pair(static_cast<std::uint32_t>(entity_id), field_of_key));

  if (!written.path.empty()) {
    const Name& name = written.path.front();
    if (name.missing()) return;
    const MemberRef* member = find_member(first.type, name.text);
    if (member == nullptr) {
      if (written.has_columns)
        error(DiagnosticCode::FamilyPath, name.span, fmt::format("`{}` has no `{}`", entity.name, name.text))
            .hint("for one entry with several fields write the empty path, `ε` or `_`");
      else
        report_unknown_member(first.type, name);
      return;
    }
    if (member->inverse || written.path.size() > 1) {
      error(DiagnosticCode::FamilyPath, member->inverse ? name.span : written.path_span,
            member->inverse ? fmt::format("`{}` is an inverse, not a field of `{}`", name.text, entity.name)
                            : std::string("an `entry` must hold a whole field of the entity"))
          .hint(member->inverse ? fmt::format("write `copy {}[…] from {}.{} x`", name.text, first.name, name.text)
                                : fmt::format("write `entry {}`", name.text));
      return;
    }
    const model::Field& field = entity.fields[member->index];
    family.field = member->index;
    if (written.elements && field.type.known() && !field.type.is_collection()) {
      error(DiagnosticCode::FamilyElements, star_span(written, source_),
            fmt::format("`{}` has the type `{}`, which has no elements", field.name, text(field.type)))
          .label(field.span, "declared here")
          .hint(fmt::format("write `entry {}`", field.name));
      return;
    }
    if (written.has_key && !written.elements) {
      error(DiagnosticCode::FamilyClause, written.path_span, "an `entry` with a path cannot have a key")
          .hint(fmt::format("write `entry {}[*]` for one entry per element; a `copy` can have any key", field.name));
      return;
    }
    if (written.has_columns) {
      error(DiagnosticCode::FamilyClause, written.columns.empty() ? written.path_span : written.columns.front().span,
            fmt::format("`entry {}` holds that field and cannot have columns", field.name))
          .hint("write `entry ε: a, b` for several fields in one entry");
      return;
    }
    place(member->index, written.path_span);
    model::Cell cell;
    cell.name = field.name;
    cell.span = written.path_span;
    cell.expr = step(body, variable_expr(body, self, name.span), name, name.span);
    family.cells.push_back(std::move(cell));
    return;
  }
  if (written.elements) {
    error(DiagnosticCode::FamilyElements, star_span(written, source_), "`[*]` without a collection")
        .hint("write the collection: `entry rounds[*]`");
    return;
  }
  for (const DesignColumn& cell : written.columns) {
    if (cell.shape != ColumnShape::Plain) {
      error(DiagnosticCode::DesignColumn, cell.span, "an `entry` holds only plain fields")
          .hint("write a `copy` for a nested object or list");
      continue;
    }
    if (cell.expr.kind == ExprKind::Star) {
      if (element) {
        place(*element_field, cell.span);
        const std::size_t at = family.cells.size();
        read_cell(body, cell, family.cells, false);
        if (family.cells.size() == at) continue;
      } else if (cell.expr.operands.empty() || (cell.expr.operands[0].kind == ExprKind::Name &&
                                                find_variable(body, cell.expr.operands[0].name.text) == self)) {
        placements.stars.push_back(
            {static_cast<std::uint32_t>(entity_id), design.collections.size(), out.families.size(), self, cell.span});
      } else {
        read_cell(body, cell, family.cells, false);
      }
      continue;
    }
    const std::size_t at = family.cells.size();
    read_cell(body, cell, family.cells, false);
    for (std::size_t i = at; i < family.cells.size(); ++i) {
      const MExpr& expr = family.cells[i].expr;
      if (!expr.type.known()) continue;
      if (const auto field = own_field(expr, self); field && !element) {
        place(*field, cell.span);
      } else if (element && expr.kind == MKind::Variable && expr.index == *element) {
        place(*element_field, cell.span);
      } else if (element && own_field(expr, *element)) {
        error(DiagnosticCode::DesignColumn, cell.span, "an element must be placed as a whole")
            .hint(fmt::format("write `entry ε: {}.*`", body.variables[*element].name));
      } else if (!holds_fold(expr) && expr.kind != MKind::CountOf) {
        error(DiagnosticCode::DesignColumn, cell.span,
              fmt::format("`{}` is not an own field of `{}`", source_.text(cell.span), entity.name))
            .hint("an `entry` holds only own fields; write a `copy` for derived data");
      }
    }
  }
}

// The key of a base is made of its own fields that never change, and holds the entity's key.
void Analyzer::check_base_key(const Body& body, const model::WrittenCollection& out, const model::WrittenFamily& family,
                              std::uint32_t self, model::EntityId entity_id) {
  const model::Entity& entity = model_.entity(entity_id);
  std::vector<std::uint32_t> scope = out.from;
  Determination determination(model_, body.variables, scope);
  for (const std::vector<model::Part>* parts : {&std::as_const(out.by), &std::as_const(family.key)}) {
    for (const model::Part& part : *parts) {
      if (!part.expr.type.known()) return;
      determination.add_known(part.expr);
      // A field, a key inside a reference, or a function of one; nothing that lies in another aggregate.
      const MExpr* at = &part.expr;
      if (at->kind == MKind::Constant) continue;
      bool foreign = at->kind == MKind::CountOf;
      std::optional<std::uint32_t> field;
      while (!foreign && at->kind != MKind::Variable) {
        if (at->kind == MKind::Constant) break;
        if (at->operands.empty() || at->kind == MKind::Inverse || at->kind == MKind::CountOf ||
            at->kind == MKind::Element) {
          foreign = true;
          break;
        }
        if (at->kind == MKind::Field) {
          const model::Type& base = at->operands[0].type;
          const bool direct = at->operands[0].kind == MKind::Variable;
          if (!direct && base.kind == TypeKind::Reference) {
            const model::Entity& other = model_.entity(base.entity());
            foreign |= std::find(other.key.begin(), other.key.end(), at->index) == other.key.end();
          }
          if (direct && at->operands[0].index == self) field = at->index;
        }
        at = &at->operands[0];
      }
      if (foreign) {
        error(DiagnosticCode::BaseKey, part.expr.span,
              fmt::format("`{}` is not an own field, so it cannot be in the key of the base of `{}`",
                          source_.text(part.expr.span), entity.name))
            .hint("use own fields in the key of the `entry`, and add a `copy` with this key");
        return;
      }
      if (!field || std::find(entity.key.begin(), entity.key.end(), *field) != entity.key.end()) continue;
      if (const auto change = find_update(entity_id, *field)) {
        error(DiagnosticCode::BaseKeyUpdated, part.expr.span,
              fmt::format("the base of `{}` has `{}` in its key, which a command changes", entity.name,
                          entity.fields[*field].name))
            .label(change->second, fmt::format("changed by `{}`", change->first))
            .hint("place the `entry` by the key of the entity, and add a `copy` with this field in its key");
      }
    }
  }
  determination.work_out();
  for (const std::uint32_t variable : scope) {
    if (!body.variables[variable].type.known()) return;
    if (determination.determined(variable)) continue;
    const model::Variable& v = body.variables[variable];
    error(DiagnosticCode::KeysDoNotDetermine,
          family.span.begin < family.span.end && !family.key.empty()
              ? cover(family.key.front().span, family.key.back().span)
          : out.by.empty() ? out.span
                           : cover(out.by.front().span, out.by.back().span),
          fmt::format("two instances of `{}` may have the same key here, so one would overwrite the other",
                      v.name.empty() ? entity.name : v.name))
        .label(v.span, "declared here")
        .hint(fmt::format("add {} to the key", determination.missing(variable)));
    break;
  }
}

std::optional<std::pair<std::string, Span>> Analyzer::find_update(model::EntityId entity, std::uint32_t field) {
  if (!updates_ready_) {
    updates_ready_ = true;
    const std::function<void(const model::Command&, const std::vector<model::Change>&)> collect =
        [&](const model::Command& command, const std::vector<model::Change>& changes) {
          for (const model::Change& change : changes) {
            const auto id = static_cast<std::uint32_t>(change.entity);
            const auto note = [&](std::uint32_t changed, Span span) {
              updates_.emplace(std::pair(id, changed), std::pair(command.name, span));
            };
            if (change.kind == model::ChangeKind::Put)
              for (std::uint32_t i = 0; i < model_.entity(change.entity).fields.size(); ++i) note(i, change.span);
            if (change.kind == model::ChangeKind::Update || change.kind == model::ChangeKind::UpdateWhere) {
              for (const model::Assignment& assignment : change.assignments) {
                const MExpr* at = &assignment.target;
                while (!at->operands.empty() && at->operands[0].kind != MKind::Variable) at = &at->operands[0];
                if (at->kind == MKind::Field) note(at->index, assignment.target.span);
              }
            }
            collect(command, change.body);
          }
        };
    for (const model::Command& command : model_.commands) collect(command, command.changes);
  }
  const auto found = updates_.find(std::pair(static_cast<std::uint32_t>(entity), field));
  if (found == updates_.end()) return std::nullopt;
  return found->second;
}

void Analyzer::read_cell(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells, bool copy) {
  if (written.shape == ColumnShape::Plain) {
    if (written.expr.kind == ExprKind::Star)
      read_star(body, written, cells);
    else
      read_plain_cell(body, written, cells, copy);
    return;
  }
  model::Cell cell;
  cell.shape = written.shape == ColumnShape::Object ? model::CellShape::Object : model::CellShape::List;
  cell.name = written.as.text;
  cell.span = written.span;
  const Nested& nested = written.nested;
  const std::size_t bindings = body.bindings.size();
  if (written.shape == ColumnShape::Object && (!nested.from.empty() || !nested.order_by.empty() || nested.limit)) {
    error(DiagnosticCode::FamilyClause, written.span,
          "an object `{…}` is a single row and has no `from`, `order by` or `limit`")
        .hint("write `[…]` for a list");
  }
  for (const Source& source : nested.from) read_source(body, source, cell.from);
  for (const DesignColumn& inner : nested.columns) read_cell(body, inner, cell.cells, copy);
  for (const DesignPart& part : nested.order_by) {
    model::Part made;
    made.expr = read(body, part.expr);
    made.descending = part.direction == Direction::Descending;
    made.span = part.span;
    if (made.expr.type.known() && !ordered(made.expr.type))
      error(DiagnosticCode::NotOrdered, part.span, fmt::format("`{}` has no order", text(made.expr.type)));
    cell.order_by.push_back(std::move(made));
  }
  if (nested.limit) {
    const auto limit = read_integer(*nested.limit, "a limit");
    if (limit && (*limit < 1 || *limit > 1'000'000'000))
      error(DiagnosticCode::LimitValue, nested.limit->span, "a list must keep at least 1 element");
    else if (limit)
      cell.limit = static_cast<std::uint32_t>(*limit);
  }
  body.bindings.resize(bindings);
  cells.push_back(std::move(cell));
}

void Analyzer::read_star(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells) {
  if (!body.self) return;
  std::uint32_t variable = *body.self;
  if (!written.expr.operands.empty()) {
    const MExpr of = read(body, written.expr.operands[0]);
    if (!of.type.known()) return;
    if (of.kind != MKind::Variable) {
      error(DiagnosticCode::DesignColumn, written.span, "`.*` must follow a variable")
          .hint("bind it in `from` or `of`");
      return;
    }
    variable = of.index;
  }
  const model::Type type = body.variables[variable].type;
  if (!type.known()) return;
  if (body.variables[variable].kind == model::SourceKind::References) {
    const std::string& name = body.variables[variable].name;
    error(DiagnosticCode::DesignColumn, written.span,
          fmt::format("`{}` is a reference whose target may not exist: only its key can be read", name))
        .label(body.variables[variable].span, "bound here")
        .hint(fmt::format("write `{}` itself, or bind existing targets: `{} {}`", name,
                          source_.text(body.variables[variable].source.span), name));
    return;
  }
  if (type.kind != TypeKind::Reference && type.kind != TypeKind::Value && type.kind != TypeKind::Row) {
    error(DiagnosticCode::DesignColumn, written.span,
          fmt::format("`{}` has the type `{}`, which has no fields", body.variables[variable].name, text(type)))
        .hint(fmt::format("write `{}` itself", body.variables[variable].name));
    return;
  }
  const auto add = [&](std::uint32_t index, const std::string& name, const model::Type& field) {
    model::Cell cell;
    cell.name = name;
    cell.span = written.span;
    cell.expr.kind = MKind::Field;
    cell.expr.index = index;
    cell.expr.type = field;
    cell.expr.span = written.span;
    cell.expr.operands.push_back(variable_expr(body, variable, written.span));
    cells.push_back(std::move(cell));
  };
  if (type.kind == TypeKind::Row) {
    for (std::uint32_t i = 0; i < type.names.size(); ++i) add(i, type.names[i], type.arguments[i]);
    return;
  }
  const std::vector<model::Field>& fields = model_.fields(type);
  for (std::uint32_t i = 0; i < fields.size(); ++i)
    if (!fields[i].hidden) add(i, fields[i].name, fields[i].type);
}

void Analyzer::read_plain_cell(Body& body, const DesignColumn& written, std::vector<model::Cell>& cells, bool copy) {
  model::Cell cell;
  cell.span = written.span;
  cell.name = written.as.missing() ? default_name(written.expr) : written.as.text;
  body.folds_allowed = true;
  cell.expr = read(body, written.expr);
  body.folds_allowed = false;
  if (!cell.expr.type.known()) {
    cells.push_back(std::move(cell));
    return;
  }
  if (cell.name.empty())
    error(DiagnosticCode::ColumnName, written.span, "this column needs a name").hint("write `… as name`");
  if (holds_fold(cell.expr) || (cell.expr.kind == MKind::CountOf && !copy)) {
    if (!copy) {
      error(DiagnosticCode::FoldInEntry, written.expr.span, "a fold is derived data and cannot be in an `entry`")
          .hint("write a `copy`");
    } else if (cell.expr.kind != MKind::Fold) {
      error(DiagnosticCode::DesignColumn, written.expr.span,
            "a column must be a field or a fold, not a computation with folds")
          .hint("store the folds, and compute in the query");
    } else {
      const bool of_float = !cell.expr.operands.empty() && cell.expr.operands[0].type.kind == TypeKind::Float;
      if (cell.expr.fold == model::Fold::Avg)
        error(DiagnosticCode::FoldNotKept, written.expr.span, "an average cannot be maintained")
            .hint("store `sum(x)` and `count(x)`");
      else if (cell.expr.fold == model::Fold::Sum && of_float)
        error(DiagnosticCode::FoldNotKept, written.expr.span,
              "a sum of floats cannot be maintained: it depends on the exact sum of all values")
            .hint("declare the field as `decimal`, or let the query compute it");
    }
  } else if (cell.expr.kind == MKind::Inverse) {
    error(DiagnosticCode::DesignColumn, written.expr.span,
          fmt::format("`{}` is an inverse, not a field", source_.text(written.expr.span)))
        .hint(fmt::format("write a nested list: `{} [ x.… from {} x ]`, or a count: `count({})`", cell.name,
                          source_.text(written.expr.span), source_.text(written.expr.span)));
  } else if (!is_field(cell.expr)) {
    error(DiagnosticCode::DesignColumn, written.expr.span, "a column must be a field or a fold, not a computation")
        .hint("store the fields, and compute in the query");
  }
  cells.push_back(std::move(cell));
}

// `*` is what no other entry of the design holds.
void Analyzer::place_stars(model::WrittenDesign& design, Placements& placements) {
  for (const Placements::Star& star : placements.stars) {
    const model::Entity& entity = model_.entities[star.entity];
    if (star.collection >= design.collections.size()) continue;
    model::WrittenCollection& collection = design.collections[star.collection];
    if (star.family >= collection.families.size()) continue;
    model::WrittenFamily& family = collection.families[star.family];
    const auto [at, fresh] = placements.starred.emplace(star.entity, star.span);
    if (!fresh) {
      error(DiagnosticCode::PlacedTwice, star.span, fmt::format("a second `*` of `{}`", entity.name))
          .label(at->second, "the first is here");
      continue;
    }
    for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
      const auto field = std::pair(star.entity, i);
      if (entity.fields[i].hidden || placements.fields.contains(field) || placements.in_keys.contains(field)) continue;
      placements.fields.emplace(field, star.span);
      model::Cell cell;
      cell.name = entity.fields[i].name;
      cell.span = star.span;
      cell.expr.kind = MKind::Field;
      cell.expr.index = i;
      cell.expr.type = entity.fields[i].type;
      cell.expr.span = star.span;
      MExpr self;
      self.kind = MKind::Variable;
      self.index = star.variable;
      self.type = model::reference(static_cast<model::EntityId>(star.entity));
      self.span = star.span;
      cell.expr.operands.push_back(std::move(self));
      family.cells.push_back(std::move(cell));
    }
  }
}

// Names of key parts and columns are told apart in what the families become: one native row where their keys are equal.
void Analyzer::check_names(const CollectionDecl& written, const model::WrittenCollection& out) {
  const auto clash = [&](const std::string& name, Span span, Span before) {
    error(DiagnosticCode::DuplicateColumn, span, fmt::format("a second `{}` in `{}`", name, out.name))
        .label(before, "the first is here")
        .hint("name one of them with `as`");
  };
  struct Used {
    Span span;
    const MExpr* expr;
  };
  std::unordered_map<std::string, Used> block;
  for (const model::Part& part : out.by) {
    if (part.name.empty()) continue;
    const auto [at, fresh] = block.emplace(part.name, Used{part.span, &part.expr});
    if (!fresh) clash(part.name, part.span, at->second.span);
  }
  for (std::size_t i = 0; i < out.families.size(); ++i) {
    const model::WrittenFamily& family = out.families[i];
    std::unordered_map<std::string, Used> names = block;
    const auto take = [&](const std::string& name, Span span, const MExpr& expr, bool same_allowed) {
      if (name.empty()) return;
      const auto [at, fresh] = names.emplace(name, Used{span, &expr});
      if (fresh || (same_allowed && model::same(*at->second.expr, expr))) return;
      clash(name, span, at->second.span);
    };
    for (const model::Part& part : family.key) take(part.name, part.span, part.expr, false);
    for (const model::Cell& cell : family.cells) take(cell.name, cell.span, cell.expr, true);
    // Another family with the same path and key is the same native row.
    for (std::size_t j = 0; j < i && j < 64; ++j) {
      const model::WrittenFamily& other = out.families[j];
      const bool same_path = !family.path.empty() && family.path == other.path;
      const bool same_key =
          same_path ||
          (family.path == other.path && family.key.size() == other.key.size() &&
           family.from.empty() == other.from.empty() &&
           std::equal(family.key.begin(), family.key.end(), other.key.begin(),
                      [](const model::Part& a, const model::Part& b) { return model::same(a.expr, b.expr); }));
      if (!same_key) continue;
      const Span place =
          written.families[i].path_span.end > 0 ? written.families[i].path_span : written.families[i].word_span;
      const bool named = !family.path.empty();
      if (!family.copy && !other.copy && named) continue;  // placed twice, and reported so
      if (family.copy == other.copy &&
          (named || (family.cells.empty() && other.cells.empty() && family.from.empty()))) {
        error(DiagnosticCode::DuplicateFamily, place, "duplicate family").label(other.span, "the first is here");
        continue;
      }
      for (const model::Cell& cell : family.cells)
        for (const model::Cell& before : other.cells)
          if (cell.name == before.name && !cell.name.empty() && !(before.span == cell.span))
            clash(cell.name, cell.span, before.span);
    }
  }
}

}  // namespace noam::language
