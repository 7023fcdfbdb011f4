#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "noam/language/analysis_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

using model::TypeKind;
using MExpr = model::Expr;
using MKind = model::ExprKind;

namespace {

model::ChangeKind kind_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Insert:
      return model::ChangeKind::Insert;
    case ChangeKind::Put:
      return model::ChangeKind::Put;
    case ChangeKind::Update:
      return model::ChangeKind::Update;
    case ChangeKind::UpdateWhere:
      return model::ChangeKind::UpdateWhere;
    case ChangeKind::Delete:
      return model::ChangeKind::Delete;
    case ChangeKind::DeleteWhere:
      return model::ChangeKind::DeleteWhere;
    case ChangeKind::Append:
      return model::ChangeKind::Append;
    case ChangeKind::Add:
      return model::ChangeKind::Add;
    case ChangeKind::Remove:
      return model::ChangeKind::Remove;
    case ChangeKind::RemoveKey:
      return model::ChangeKind::RemoveKey;
    case ChangeKind::RemoveAt:
      return model::ChangeKind::RemoveAt;
    case ChangeKind::RemoveWhere:
      return model::ChangeKind::RemoveWhere;
    case ChangeKind::PutInto:
      return model::ChangeKind::PutInto;
    case ChangeKind::For:
      return model::ChangeKind::For;
    case ChangeKind::Require:
    case ChangeKind::Unknown:
      break;
  }
  return model::ChangeKind::Require;
}

bool is_bulk(ChangeKind kind) { return kind == ChangeKind::UpdateWhere || kind == ChangeKind::DeleteWhere; }

MExpr field_of(MExpr base, const model::Field& field, std::uint32_t index) {
  MExpr out;
  out.kind = MKind::Field;
  out.index = index;
  out.type = field.type;
  out.span = base.span;
  out.operands.push_back(std::move(base));
  return out;
}

// The steps of a target from the instance down; the instance itself is left out.
std::vector<const MExpr*> steps_of(const MExpr& target) {
  std::vector<const MExpr*> steps;
  const MExpr* at = &target;
  while (at->kind == MKind::Field || at->kind == MKind::Element) {
    steps.push_back(at);
    at = &at->operands[0];
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Whether one target lies inside the other, or is the other, whatever the indexes turn out to be.
bool overlap(const MExpr& a, const MExpr& b) {
  const auto left = steps_of(a);
  const auto right = steps_of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i]->kind != right[i]->kind) return false;
    if (left[i]->kind == MKind::Field && left[i]->index != right[i]->index) return false;
    if (left[i]->kind == MKind::Element && !model::same(left[i]->operands[1], right[i]->operands[1])) return false;
  }
  return true;
}

using Pointers = std::vector<MExpr*>;

// Finds the calls that make something of the command's id: `uuid()` and `random_text(n)`.
void find_made(MExpr& expr, Pointers& made) {
  const bool makes = expr.function == model::Function::MakeUuid || expr.function == model::Function::RandomText;
  if (expr.kind == MKind::Call && makes) made.push_back(&expr);
  for (MExpr& operand : expr.operands) find_made(operand, made);
  for (model::Select& select : expr.select) {
    for (model::Column& column : select.columns) find_made(column.expr, made);
    if (select.where) find_made(*select.where, made);
    for (MExpr& group : select.group_by) find_made(group, made);
    for (model::OrderTerm& term : select.order_by) find_made(term.expr, made);
    if (select.limit) find_made(*select.limit, made);
  }
}

void find_made(std::vector<model::Change>& changes, Pointers& made) {
  for (model::Change& change : changes) {
    for (MExpr* expr : {&change.target, &change.path, &change.argument, &change.key}) find_made(*expr, made);
    for (model::Assignment& assignment : change.assignments) {
      find_made(assignment.target, made);
      find_made(assignment.value, made);
    }
    if (change.where) find_made(*change.where, made);
    if (change.limit) find_made(*change.limit, made);
    find_made(change.body, made);
  }
}

// Expressions are not kept in the order in which they are written (an insert has them in that of its fields), and some
// are kept twice; so it is the place in the text that counts.
void number_made(model::Command& command) {
  Pointers made;
  find_made(command.changes, made);
  for (model::Variable& variable : command.variables) find_made(variable.source, made);
  std::sort(made.begin(), made.end(), [](const MExpr* a, const MExpr* b) { return a->span.begin < b->span.begin; });
  for (std::size_t i = 1; i < made.size(); ++i)
    made[i]->index = made[i - 1]->index + (made[i]->span == made[i - 1]->span ? 0 : 1);
}

}  // namespace

void Analyzer::read_commands() {
  for (const CommandDecl* written : command_decls_) {
    if (diagnostics_->stopped()) return;
    model::Command made;
    made.name = written->name.text;
    made.span = written->name.span;
    std::vector<Span> units;
    for (const Change& change : written->changes) units.push_back(change.span);
    with_parameters(
        Place::Command, written->parameters, written->span, units,
        [&](Body& body) {
          made.changes.clear();
          bulk_reported_ = false;
          read_changes(body, written->changes, made.changes, true);
        },
        made.parameters, made.variables);
    made.bulk = made.changes.size() == 1 && (made.changes[0].kind == model::ChangeKind::UpdateWhere ||
                                             made.changes[0].kind == model::ChangeKind::DeleteWhere);
    if (written->changes.empty() && !broken(written->span))
      error(DiagnosticCode::Syntax, written->name.span, fmt::format("command `{}` changes nothing", written->name.text))
          .hint("add a change: `insert`, `put`, `update`, `delete`, `append`, `add`, `remove`, `require`");
    number_made(made);
    model_.commands.push_back(std::move(made));
  }
}

void Analyzer::read_changes(Body& body, const std::vector<Change>& written, std::vector<model::Change>& changes,
                            bool top) {
  const std::size_t bindings = body.bindings.size();
  for (const Change& change : written)
    if (auto made = read_change(body, change, top, written.size() == 1)) changes.push_back(std::move(*made));
  if (!top) body.bindings.resize(bindings);
}

std::optional<model::Change> Analyzer::read_change(Body& body, const Change& written, bool top, bool alone) {
  model::Change change;
  change.kind = kind_of(written.kind);
  change.then = written.then;
  change.all = written.all;
  change.span = written.span;
  if (written.then) {
    const char* why = nullptr;
    if (written.kind == ChangeKind::Insert || written.kind == ChangeKind::Put)
      why = "remove `then`: an insert needs no existing instance";
    if (written.kind == ChangeKind::Require) why = "remove `then`: a condition is always checked";
    if (written.kind == ChangeKind::For) why = "write `then` before the changes inside";
    if (is_bulk(written.kind)) why = "remove `then`: a bulk change finds only existing instances";
    if (why != nullptr)
      error(DiagnosticCode::ThenMisuse, written.then_span,
            "`then` skips a change if the instance does not exist; it cannot be used here")
          .hint(why);
  }
  if (is_bulk(written.kind) && (!top || !alone) && !std::exchange(bulk_reported_, true))
    error(DiagnosticCode::BulkAlone, written.word_span,
          top ? "a bulk change must be the only change of its command" : "a bulk change cannot be inside a `for`")
        .hint("each instance is changed in a step of its own: move the bulk change to a separate command");
  switch (written.kind) {
    case ChangeKind::Unknown:
      return std::nullopt;
    case ChangeKind::Insert:
    case ChangeKind::Put:
      read_insert(body, written, change);
      break;
    case ChangeKind::Update:
      read_update(body, written, change);
      break;
    case ChangeKind::UpdateWhere:
    case ChangeKind::DeleteWhere:
      read_bulk(body, written, change);
      break;
    case ChangeKind::Delete:
      read_delete(body, written, change);
      break;
    case ChangeKind::Append:
    case ChangeKind::Add:
    case ChangeKind::Remove:
    case ChangeKind::RemoveKey:
    case ChangeKind::RemoveAt:
    case ChangeKind::PutInto:
      read_collection_change(body, written, change);
      break;
    case ChangeKind::RemoveWhere:
      read_remove_where(body, written, change);
      break;
    case ChangeKind::Require:
      change.argument = read_predicate(body, written.argument, "require");
      break;
    case ChangeKind::For:
      read_for(body, written, change);
      break;
  }
  return change;
}

std::optional<model::EntityId> Analyzer::find_entity_or_report(const Name& name) {
  if (name.missing()) return std::nullopt;
  if (const auto entity = entities_.find(name.text); entity != entities_.end()) return entity->second;
  if (lost_names_.contains(name.text)) return std::nullopt;
  if (values_.contains(name.text)) {
    error(DiagnosticCode::UnknownEntity, name.span, fmt::format("`{}` is a value, not an entity", name.text))
        .hint("append the value to a list, or assign it to a field");
    return std::nullopt;
  }
  std::vector<std::string_view> candidates;
  add_names(entities_, candidates);
  std::sort(candidates.begin(), candidates.end());
  auto report = error(DiagnosticCode::UnknownEntity, name.span, fmt::format("unknown entity `{}`", name.text));
  if (const auto near = closest(name.text, candidates)) report.hint(fmt::format("did you mean `{}`?", *near));
  return std::nullopt;
}

// Reads a value whose place is not known, for the parameters it uses.
void Analyzer::read_alone(Body& body, const Expr& expr) {
  if (expr.kind != ExprKind::Braces && expr.kind != ExprKind::Absent && expr.kind != ExprKind::List) {
    read(body, expr);
    return;
  }
  for (const Expr& operand : expr.operands)
    if (operand.kind != ExprKind::Name) read_alone(body, operand);
}

bool Analyzer::may_change(model::EntityId entity, Span span) {
  const model::Entity& target = model_.entity(entity);
  if (!target.transient) return true;
  error(DiagnosticCode::TransientChange, span,
        fmt::format("instances of the transient entity `{}` can only be inserted", target.name))
      .label(target.span, "declared here")
      .hint("to change or delete instances, remove `transient`");
  return false;
}

void Analyzer::read_insert(Body& body, const Change& written, model::Change& change) {
  const bool put = written.kind == ChangeKind::Put;
  const auto entity_id = find_entity_or_report(written.entity);
  model::Variable made;
  made.kind = model::SourceKind::Inserted;
  made.name = written.variable.text;
  made.span = written.variable.missing() ? written.entity.span : written.variable.span;
  if (entity_id) made.type = model::reference(*entity_id);
  if (!entity_id) {
    for (const Assignment& assignment : written.assignments) read_alone(body, assignment.value);
  } else {
    change.entity = *entity_id;
    const model::Entity& entity = model_.entity(*entity_id);
    if (put) may_change(*entity_id, written.entity.span);
    std::vector<std::optional<MExpr>> values(entity.fields.size());
    std::vector<Span> places(entity.fields.size());
    bool wrong_name = false;
    for (const Assignment& assignment : written.assignments) {
      const Expr& target = assignment.target;
      if (target.kind == ExprKind::Unknown) {
        wrong_name = true;
        continue;
      }
      if (target.kind != ExprKind::Name) {
        wrong_name = true;
        error(DiagnosticCode::ChangeTarget, target.span,
              fmt::format("`{}` sets only whole fields", put ? "put" : "insert"))
            .hint("write the whole field: `ship_to: { street: …, city: … }`");
        read_alone(body, assignment.value);
        continue;
      }
      const MemberRef* member = find_member(model::reference(*entity_id), target.name.text);
      if (member == nullptr || member->inverse) {
        wrong_name = true;
        if (member == nullptr) {
          report_unknown_member(model::reference(*entity_id), target.name);
        } else {
          const model::Role& role = model_.roles[member->index];
          error(DiagnosticCode::ChangeTarget, target.span,
                fmt::format("`{}` is the inverse of `{}.{}` and cannot be set", target.name.text,
                            model_.entity(role.from).name, model_.entity(role.from).fields[role.field].name))
              .hint("change that field of the referring instance");
        }
        read_alone(body, assignment.value);
        continue;
      }
      const std::uint32_t index = member->index;
      const model::Field& field = entity.fields[index];
      if (values[index]) {
        error(DiagnosticCode::DuplicateField, target.span, fmt::format("`{}` given twice", field.name))
            .label(places[index], "first here");
        read_alone(body, assignment.value);
        continue;
      }
      places[index] = target.span;
      if (field.automatic && !put) {
        error(DiagnosticCode::AutoKey, target.span, fmt::format("`{}` is generated by noam", field.name))
            .label(field.span, "declared `auto`")
            .hint("leave it out: the command returns it; or remove `auto` and give it here");
      }
      values[index] = read_stored(body, assignment.value, field.type, fmt::format("`{}`", field.name));
      if (std::find(entity.key.begin(), entity.key.end(), index) != entity.key.end() &&
          field.type.kind != TypeKind::Reference)
        refuse_empty_key(*values[index], fmt::format("`{}`", field.name));
    }
    const auto instance = static_cast<std::uint32_t>(body.variables.size());
    const MExpr self = [&] {
      MExpr expr;
      expr.kind = MKind::Variable;
      expr.index = instance;
      expr.type = model::reference(*entity_id);
      expr.span = written.entity.span;
      return expr;
    }();
    std::string missing;
    for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
      const model::Field& field = entity.fields[i];
      model::Assignment assignment;
      assignment.target = field_of(self, field, i);
      if (values[i]) {
        assignment.value = std::move(*values[i]);
      } else if (field.automatic && !put) {
        continue;
      } else if (field.initial) {
        assignment.value = *field.initial;
      } else if (field.type.optional) {
        assignment.value = constant(field.type, std::monostate{}, written.entity.span);
      } else if (field.type.is_collection()) {
        assignment.value.kind = field.type.kind == TypeKind::Map ? MKind::Map : MKind::List;
        assignment.value.type = field.type;
      } else if (field.hidden) {
        error(DiagnosticCode::MissingField, written.entity.span,
              fmt::format("`put` needs a key, but `{}` has none", entity.name))
            .label(entity.span, "declared without a key")
            .hint("use `insert`, or declare a key");
        continue;
      } else {
        missing += fmt::format("{}`{}`", missing.empty() ? "" : ", ", field.name);
        continue;
      }
      change.assignments.push_back(std::move(assignment));
    }
    if (!missing.empty() && !wrong_name && !broken_owners_.contains(owner_of(*entity_id)) &&
        !any_inside(parse_errors_, written.span))
      error(DiagnosticCode::MissingField, written.entity.span, fmt::format("`{}` without {}", entity.name, missing))
          .label(entity.span, "declared here")
          .hint("give it here, declare it with `?`, or give it a default");
  }
  const std::uint32_t index = add_variable(body, std::move(made));
  change.variable = index;
  if (!written.variable.missing()) {
    if (const auto before = find_variable(body, written.variable.text))
      error(DiagnosticCode::DuplicateVariable, written.variable.span,
            fmt::format("variable `{}` declared twice", written.variable.text))
          .label(body.variables[*before].span, "first declared here");
    body.bindings.push_back({written.variable.text, index});
  }
}

// Takes `Game[$id].rounds` apart: the instance goes to `target`, the path below it to `path`.
bool Analyzer::split_target(Body& body, MExpr path, const Expr& written, model::Change& change) {
  if (!path.type.known()) return false;
  MExpr* at = &path;
  while (at->kind == MKind::Field || at->kind == MKind::Element || at->kind == MKind::Inverse) {
    if (at->kind == MKind::Inverse) {
      const model::Role& role = model_.roles[at->index];
      const model::Entity& from = model_.entity(role.from);
      error(DiagnosticCode::ChangeTarget, written.span,
            fmt::format("`{}` is the inverse of `{}.{}` and cannot be changed", role.inverse, from.name,
                        from.fields[role.field].name))
          .hint(role.many ? fmt::format("change the referring instance: `add … to {}[…].{}`", from.name,
                                        from.fields[role.field].name)
                          : fmt::format("change the referring instance: `update {}[…] {{ {}: … }}`", from.name,
                                        from.fields[role.field].name));
      return false;
    }
    MExpr& base = at->operands[0];
    if (base.type.kind == TypeKind::Reference && at->kind == MKind::Field &&
        (base.kind == MKind::Field || base.kind == MKind::Element)) {
      error(DiagnosticCode::ChangeTarget, written.span, "a change must name its aggregate by key")
          .hint(fmt::format("write `{}[…]` with the key instead of a path", model_.entity(base.type.entity()).name));
      return false;
    }
    at = &base;
  }
  if (at->type.kind != TypeKind::Reference) {
    error(DiagnosticCode::ChangeTarget, written.span,
          fmt::format("`{}` is not part of an aggregate", source_.text(written.span)))
        .hint("write the instance: `Game[$id].rounds`");
    return false;
  }
  change.entity = at->type.entity();
  change.target = *at;
  if (!may_change(change.entity, written.span)) return false;
  model::Variable instance;
  instance.kind = model::SourceKind::Target;
  instance.type = model::reference(change.entity);
  instance.span = at->span;
  const std::uint32_t index = add_variable(body, std::move(instance));
  const Span span = at->span;
  *at = variable_expr(body, index, span);
  change.variable = index;
  change.path = std::move(path);
  return true;
}

void Analyzer::read_update(Body& body, const Change& written, model::Change& change) {
  if (written.target.kind == ExprKind::Name && !find_variable(body, written.target.name.text) &&
      entities_.contains(written.target.name.text)) {
    error(DiagnosticCode::EntityMisuse, written.target.span,
          fmt::format("`{}` without a key or a condition", written.target.name.text))
        .hint(
            fmt::format("write `update {}[$id] {{ … }}` for one instance, or `update {} v where … {{ … }}` for several",
                        written.target.name.text, written.target.name.text));
    return;
  }
  MExpr target = read(body, written.target);
  std::uint32_t instance = 0;
  bool good = false;
  if (target.type.known()) {
    if (target.type.kind != TypeKind::Reference || target.kind == MKind::Field || target.kind == MKind::Element) {
      auto report =
          error(DiagnosticCode::ChangeTarget, written.target.span, "`update` takes an instance, such as `Game[$id]`");
      if (target.kind == MKind::Field || target.kind == MKind::Element)
        report.hint("write the fields in the braces: `update Game[$id] { rounds[$i].comments: $c }`");
    } else {
      good = split_target(body, std::move(target), written.target, change);
    }
  }
  if (good) {
    instance = *change.variable;
    change.path = {};
  } else {
    model::Variable lost;
    lost.kind = model::SourceKind::Target;
    lost.span = written.target.span;
    instance = add_variable(body, std::move(lost));
  }
  read_assignments(body, written, change, instance);
}

void Analyzer::read_assignments(Body& body, const Change& written, model::Change& change, std::uint32_t instance) {
  const auto outer = std::exchange(body.self, instance);
  const bool known = body.variables[instance].type.known();
  for (const Assignment& assignment : written.assignments) {
    if (!known) {
      read_alone(body, assignment.value);
      continue;
    }
    MExpr target = read(body, assignment.target);
    const auto read_value_alone = [&] { read_alone(body, assignment.value); };
    if (!target.type.known()) {
      read_value_alone();
      continue;
    }
    const auto refuse = [&](const std::string& message, const std::string& hint) {
      error(DiagnosticCode::ChangeTarget, assignment.target.span, message).hint(hint);
      read_value_alone();
    };
    if (target.kind == MKind::Inverse) {
      const model::Role& role = model_.roles[target.index];
      refuse(fmt::format("`{}` is the inverse of `{}.{}` and cannot be set", role.inverse,
                         model_.entity(role.from).name, model_.entity(role.from).fields[role.field].name),
             "change that field of the referring instance");
      continue;
    }
    const auto steps = steps_of(target);
    const bool rooted = !steps.empty() && steps.front()->operands[0].kind == MKind::Variable &&
                        steps.front()->operands[0].index == instance;
    if (!rooted) {
      refuse(fmt::format("`{}` is not a field of the instance", source_.text(assignment.target.span)),
             "write a field of the instance that is updated");
      continue;
    }
    const bool leaves = std::any_of(steps.begin() + 1, steps.end(), [](const MExpr* at) {
      return at->kind == MKind::Field && at->operands[0].type.kind == TypeKind::Reference;
    });
    const bool through_inverse =
        std::any_of(steps.begin(), steps.end(), [](const MExpr* at) { return at->kind == MKind::Inverse; });
    if (leaves || through_inverse) {
      refuse("this is in another aggregate", "update that aggregate in a separate change");
      continue;
    }
    const model::Entity& entity = model_.entity(change.entity);
    if (std::find(entity.key.begin(), entity.key.end(), steps.front()->index) != entity.key.end()) {
      error(DiagnosticCode::KeyUpdate, assignment.target.span,
            fmt::format("`{}` is in the key of `{}` and cannot be changed", entity.fields[steps.front()->index].name,
                        entity.name))
          .label(entity.fields[steps.front()->index].span, "declared here")
          .hint("delete the instance and insert it again, or use a generated key");
      read_value_alone();
      continue;
    }
    // What may be stored there is what was declared, whatever reading it might give.
    const MExpr& last = *steps.back();
    const model::Type& base = last.operands[0].type;
    const model::Type to = last.kind == MKind::Element ? base.element() : model_.fields(base)[last.index].type;
    model::Assignment made;
    made.value = read_stored(body, assignment.value, to, fmt::format("`{}`", source_.text(assignment.target.span)));
    made.target = std::move(target);
    for (const model::Assignment& other : change.assignments) {
      if (!overlap(other.target, made.target)) continue;
      error(DiagnosticCode::OverlappingTargets, assignment.target.span,
            fmt::format("`{}` overlaps another target of this update", source_.text(assignment.target.span)))
          .label(other.target.span, "the other target")
          .hint("all values are computed from the state before the update; write one target that covers both");
      break;
    }
    change.assignments.push_back(std::move(made));
  }
  if (written.assignments.empty() && !broken(written.span))
    error(DiagnosticCode::Syntax, written.word_span, "`update` without fields").hint("write `{ field: value }`");
  body.self = outer;
}

void Analyzer::read_bulk(Body& body, const Change& written, model::Change& change) {
  const auto entity = find_entity_or_report(written.entity);
  model::Variable instance;
  instance.kind = model::SourceKind::Target;
  instance.name = written.variable.text;
  instance.span = written.variable.span;
  if (entity) instance.type = model::reference(*entity);
  if (entity) change.entity = *entity;
  if (entity) may_change(*entity, written.entity.span);
  const std::uint32_t index = add_variable(body, std::move(instance));
  change.variable = index;
  const std::size_t bindings = body.bindings.size();
  if (!written.variable.missing()) body.bindings.push_back({written.variable.text, index});
  if (written.where) {
    const Place place = std::exchange(body.place, Place::BulkPredicate);
    body.own_only = "the condition of a bulk change";
    change.where = read_predicate(body, *written.where, "where");
    body.own_only = {};
    body.place = place;
  }
  if (written.limit) change.limit = read_limit(body, *written.limit);
  if (written.kind == ChangeKind::UpdateWhere) read_assignments(body, written, change, index);
  body.bindings.resize(bindings);
}

void Analyzer::read_delete(Body& body, const Change& written, model::Change& change) {
  if (written.target.kind == ExprKind::Name && !find_variable(body, written.target.name.text) &&
      entities_.contains(written.target.name.text)) {
    error(DiagnosticCode::EntityMisuse, written.target.span,
          fmt::format("`{}` without a key or a condition", written.target.name.text))
        .hint(fmt::format("write `delete {}[$id]` for one instance, or `delete {} v where …` for several",
                          written.target.name.text, written.target.name.text));
    return;
  }
  MExpr target = read(body, written.target);
  if (!target.type.known()) return;
  if (target.type.kind != TypeKind::Reference || target.kind == MKind::Field || target.kind == MKind::Element) {
    auto report =
        error(DiagnosticCode::ChangeTarget, written.target.span, "`delete` takes an instance, such as `Game[$id]`");
    if (target.kind == MKind::Element)
      report.hint("to remove an element write `remove Game[$id].rounds[$i]`");
    else if (target.type.is_collection())
      report.hint("to empty a collection write `update … { rounds: {} }`");
    else if (target.kind == MKind::Field)
      report.hint("to clear an optional field write `update … { field: absent }`");
    return;
  }
  split_target(body, std::move(target), written.target, change);
  change.path = {};
}

void Analyzer::read_collection_change(Body& body, const Change& written, model::Change& change) {
  const std::string_view word = source_.text(written.word_span);
  MExpr path = read(body, written.target);
  const auto read_arguments = [&] {
    for (const Expr* argument : {&written.key, &written.argument}) read_alone(body, *argument);
  };
  if (!path.type.known()) {
    read_arguments();
    return;
  }
  const auto wrong_kind = [&](const std::string& message, const std::string& hint) {
    error(DiagnosticCode::CollectionKind, written.word_span, message)
        .label(written.target.span, fmt::format("this has the type `{}`",
                                                text(written.kind == ChangeKind::RemoveAt && path.kind == MKind::Element
                                                         ? path.operands[0].type
                                                         : path.type)))
        .hint(hint);
    read_arguments();
  };
  if (written.kind == ChangeKind::RemoveAt) {
    if (path.kind != MKind::Element) {
      if (path.type.kind == TypeKind::Reference && path.kind == MKind::Instance)
        wrong_kind("`remove` removes only elements of collections", "to delete an instance write `delete`");
      else if (path.type.is_collection())
        wrong_kind(
            "`remove` without an element",
            "write `remove x from …` or `remove key k from …`, or empty the collection with `update … { field: {} }`");
      else
        wrong_kind("`remove` removes only elements of collections",
                   "to clear an optional field write `update … { field: absent }`");
      return;
    }
    if (path.operands[0].type.kind == TypeKind::Map) {
      wrong_kind("`remove …[…]` needs a position of a list", "to remove a key of a map write `remove key k from …`");
      return;
    }
    split_target(body, std::move(path), written.target, change);
    return;
  }
  const TypeKind kind = path.type.kind;
  if (!path.type.is_collection()) {
    auto report = error(DiagnosticCode::CollectionKind, written.target.span,
                        fmt::format("`{}` changes a collection, but this has the type `{}`", word, text(path.type)));
    report.hint("to change a field write `update … { field: value }`");
    read_arguments();
    return;
  }
  if (path.kind == MKind::Inverse) {
    split_target(body, std::move(path), written.target, change);
    read_arguments();
    return;
  }
  switch (written.kind) {
    case ChangeKind::Append:
      if (kind != TypeKind::List) {
        wrong_kind("`append` is for lists",
                   kind == TypeKind::Set ? "write `add … to …` for a set" : "write `put key: value into …` for a map");
        return;
      }
      break;
    case ChangeKind::Add:
      if (kind != TypeKind::Set) {
        wrong_kind("`add` is for sets", kind == TypeKind::List ? "write `append … to …` for a list"
                                                               : "write `put key: value into …` for a map");
        return;
      }
      break;
    case ChangeKind::Remove:
      if (kind == TypeKind::Map) {
        wrong_kind("`remove x from …` is for lists and sets", "write `remove key k from …` for a map");
        return;
      }
      break;
    case ChangeKind::RemoveKey:
    case ChangeKind::PutInto:
      if (kind != TypeKind::Map) {
        wrong_kind(written.kind == ChangeKind::PutInto ? "`put … into` is for maps" : "`remove key` is for maps",
                   written.kind == ChangeKind::PutInto
                       ? (kind == TypeKind::List ? "write `append … to …` for a list" : "write `add … to …` for a set")
                       : "write `remove x from …`");
        return;
      }
      break;
    default:
      break;
  }
  const model::Type collection = path.type;
  if (written.kind == ChangeKind::RemoveKey) {
    change.argument = read(body, written.argument, &collection.arguments[0]);
    fit_or_report(change.argument, collection.arguments[0], false, "a key of this map");
  } else if (written.kind == ChangeKind::PutInto) {
    change.key = read_stored(body, written.key, collection.arguments[0], "a key of this map");
    change.argument = read_stored(body, written.argument, collection.arguments[1], "a value of this map");
  } else if (written.all) {
    model::Type wanted = collection;
    wanted.kind = TypeKind::List;
    change.argument = read(body, written.argument, &wanted);
    const model::Type found = change.argument.type;
    if (found.known()) {
      if (found.kind != TypeKind::List && found.kind != TypeKind::Set) {
        error(DiagnosticCode::TypeMismatch, written.argument.span,
              fmt::format("`{} all` needs a list or a set, found `{}`", word, text(found)))
            .hint(fmt::format("for one element remove `all`: `{} x …`", word));
      } else {
        MExpr as_list = change.argument;
        as_list.type.kind = TypeKind::List;
        if (!fit(as_list, wanted)) report_mismatch(written.argument.span, found, wanted, fmt::format("`{} all`", word));
      }
    }
  } else {
    change.argument = read_stored(body, written.argument, collection.element(),
                                  fmt::format("an element of `{}`", source_.text(written.target.span)));
  }
  if (written.kind == ChangeKind::Remove && collection.kind == TypeKind::List && !comparable(collection.element()))
    error(DiagnosticCode::NotComparable, written.target.span, "its elements contain json and cannot be compared")
        .hint("remove elements by position, or by a condition: `remove v from … v where …`");
  split_target(body, std::move(path), written.target, change);
}

void Analyzer::read_remove_where(Body& body, const Change& written, model::Change& change) {
  MExpr path = read(body, written.target);
  model::Variable element;
  element.kind = model::SourceKind::Path;
  element.name = written.variable.text;
  element.span = written.variable.span;
  if (path.type.known() && !path.type.is_collection()) {
    error(DiagnosticCode::CollectionKind, written.target.span,
          fmt::format("`remove … where` needs a collection, but this has the type `{}`", text(path.type)));
  } else if (path.type.known()) {
    element.type = path.type.element();
    if (split_target(body, std::move(path), written.target, change)) element.source = change.path;
  }
  const auto instance = change.variable;
  if (!instance) element.source = {};
  if (const auto before = find_variable(body, written.variable.text))
    error(DiagnosticCode::DuplicateVariable, written.variable.span,
          fmt::format("variable `{}` declared twice", written.variable.text))
        .label(body.variables[*before].span, "first declared here");
  const std::uint32_t index = add_variable(body, std::move(element));
  body.bindings.push_back({written.variable.text, index});
  if (written.where) change.where = read_predicate(body, *written.where, "where");
  body.bindings.pop_back();
  change.element = index;
}

void Analyzer::read_for(Body& body, const Change& written, model::Change& change) {
  MExpr over = read(body, written.argument);
  model::Variable variable;
  variable.kind = model::SourceKind::Loop;
  variable.name = written.variable.text;
  variable.span = written.variable.span;
  ParameterState loop;
  loop.name = written.variable.text;
  loop.span = written.variable.span;
  const bool open = over.kind == MKind::Parameter && !over.type.known() && !body.parameters[over.index].declared &&
                    !body.parameters[over.index].conflict;
  if (over.type.known()) {
    loop.declared = true;
    if (over.type.kind != TypeKind::List && over.type.kind != TypeKind::Set) {
      auto report = error(DiagnosticCode::LoopSource, written.argument.span,
                          fmt::format("`for` needs a list or a set, found `{}`", text(over.type)));
      if (over.type.kind == TypeKind::Rows) report.hint("pass the list as a parameter");
      loop.conflict = true;
    } else {
      loop.type = over.type.element();
    }
  } else if (!open) {
    loop.declared = true;
    loop.conflict = true;
  }
  variable.type = loop.type;
  variable.source = over;
  loop.variable = add_variable(body, std::move(variable));
  change.variable = loop.variable;
  change.argument = std::move(over);
  if (!written.variable.missing()) {
    if (const ParameterState* before = find_parameter(body, written.variable.text))
      error(DiagnosticCode::DuplicateVariable, written.variable.span,
            fmt::format("`${}` declared twice", written.variable.text))
          .label(before->span, "first declared here")
          .hint("give the variable of the loop another name");
  }
  body.loops.push_back(loop);
  read_changes(body, written.body, change.body, false);
  const ParameterState after = body.loops.back();
  body.loops.pop_back();
  if (open && after.type.known()) {
    const model::Type list = model::collection_of(TypeKind::List, after.type);
    use_parameter(body.parameters[change.argument.index], &list, written.argument.span, false);
  }
  if (!after.used && !written.variable.missing() && !broken(written.span))
    error(DiagnosticCode::UnusedParameter, written.variable.span,
          fmt::format("`${}` is never used", written.variable.text));
}

}  // namespace noam::language
