#include "tests/reference/commands.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "noam/base/check.h"
#include "noam/model/scalars.h"

namespace noam::reference {

using model::Change;
using model::ChangeKind;
using model::EntityId;
using model::Expr;
using model::ExprKind;
using model::TypeKind;

namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t day_ms = 86'400'000;
constexpr std::size_t most_rounds = 1'000;
constexpr std::size_t most_key_bytes = 1'024;

// Within one change: which code decides.
constexpr std::array<std::string_view, 8> code_order = {"absent",   "value", "required", "overflow",
                                                        "position", "key",   "exists",   "owner"};

std::size_t rank(std::string_view code) {
  return static_cast<std::size_t>(std::find(code_order.begin(), code_order.end(), code) - code_order.begin());
}

// The steps of a path from the instance down.
std::vector<const Expr*> steps_of(const Expr& path) {
  std::vector<const Expr*> steps;
  for (const Expr* at = &path; at->kind == ExprKind::Field || at->kind == ExprKind::Element; at = &at->operands[0])
    steps.push_back(at);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Where a position is in a list, negative ones from the end; none: not there.
std::optional<std::size_t> position_in(const Datum::List& list, const Datum& at) {
  if (at.absent()) return std::nullopt;
  const auto size = static_cast<std::int64_t>(list.size());
  const std::int64_t index = at.as_int() < 0 ? at.as_int() + size : at.as_int();
  if (index < 0 || index >= size) return std::nullopt;
  return static_cast<std::size_t>(index);
}

Datum* find_entry(Datum::List& map, const Datum& key) {
  for (Datum& entry : map)
    if (entry.as_list()[0] == key) return &entry.change_list()[1];
  return nullptr;
}

void put_entry(Datum::List& map, const Datum& key, Datum value) {
  if (Datum* there = find_entry(map, key)) {
    *there = std::move(value);
    return;
  }
  map.emplace_back(Datum::List{key, std::move(value)});
  std::sort(map.begin(), map.end());
}

}  // namespace

void delete_instance(const model::Model& model, State& state, EntityId entity, const Datum& key) {
  if (state[static_cast<std::size_t>(entity)].erase(key) == 0) return;
  for (const model::Role& role : model.roles) {
    if (!role.owner || role.to != entity) continue;
    for (const Datum& part : referring(model, state, role, key)) delete_instance(model, state, role.from, part);
  }
}

void Execution::Objections::add(const std::string& code, const std::string& reason) {
  if (!first_ || rank(code) < rank(first_->code)) first_ = model::Refusal{code, reason};
}

Execution::Execution(const model::Model& model, State& state, const std::vector<Refreshes>& refreshes,
                     const model::Command& command, std::vector<Datum> parameters, const model::CommandId& id)
    : model_(model),
      state_(state),
      refreshes_(refreshes),
      command_(command),
      id_(id),
      evaluation_(Setting{model, state, refreshes, command.variables, std::move(parameters), id.milliseconds(), id}) {}

std::optional<model::Refusal> Execution::run() {
  if (carry_out(command_.changes)) requirements_hold();
  return refusal_;
}

bool Execution::refuse(std::string code, std::string reason) {
  refusal_ = model::Refusal{std::move(code), std::move(reason)};
  return false;
}

bool Execution::refuse(const Objections& objections) {
  return refuse(objections.first()->code, objections.first()->reason);
}

bool Execution::carry_out(const std::vector<Change>& changes) {
  for (const Change& change : changes)
    if (!carry_out(change)) return false;
  return true;
}

bool Execution::carry_out(const Change& change) {
  evaluation_.set_change(change_++);
  switch (change.kind) {
    case ChangeKind::Insert:
    case ChangeKind::Put:
      return insert(change);
    case ChangeKind::Update:
      return update(change);
    case ChangeKind::Delete:
      return remove_instance(change);
    case ChangeKind::Require: {
      const bool holds = evaluation_.holds(change.argument);
      if (evaluation_.take_overflow()) return refuse("overflow", "a number in a condition does not fit");
      return holds || refuse("require", "a condition of the command does not hold");
    }
    case ChangeKind::For:
      return run_loop(change);
    case ChangeKind::UpdateWhere:
    case ChangeKind::DeleteWhere:
      check(false, "a bulk change stands alone in its command");
      return false;
    default:
      return change_collection(change);
  }
}

Datum Execution::evaluate(const Expr& expr, Objections& objections) {
  Datum value = evaluation_.evaluate(expr);
  if (!evaluation_.take_overflow()) return value;
  objections.add("overflow", "a number does not fit");
  return {};
}

// What may be kept in a place of this type. Objects, but does not stop, so that the order of codes decides.
void Execution::ask_stored(const model::Type& type, const Datum& datum, Objections& objections) const {
  if (datum.absent()) {
    if (!type.optional) objections.add("required", "something required is absent");
    return;
  }
  switch (type.kind) {
    case TypeKind::Text:
      if (type.max_length > 0 && model::code_points(datum.as_string()) > type.max_length)
        objections.add("value", "a text is too long");
      return;
    case TypeKind::Bytes:
      if (type.max_length > 0 && datum.as_string().size() > type.max_length)
        objections.add("value", "bytes are too long");
      return;
    case TypeKind::Enumeration:
      if (std::find(type.names.begin(), type.names.end(), datum.as_string()) == type.names.end())
        objections.add("value", "a text is not in its enumeration");
      return;
    case TypeKind::Reference: {
      const model::Entity& entity = model_.entity(type.entity());
      for (std::size_t i = 0; i < entity.key.size(); ++i)
        ask_stored(entity.fields[entity.key[i]].type, entity.key.size() == 1 ? datum : datum.as_list()[i], objections);
      ask_key(type, datum, objections);
      return;
    }
    case TypeKind::Value: {
      const std::vector<model::Field>& fields = model_.fields(type);
      for (std::size_t i = 0; i < fields.size(); ++i) ask_stored(fields[i].type, datum.as_list()[i], objections);
      return;
    }
    case TypeKind::List:
    case TypeKind::Set:
      for (const Datum& element : datum.as_list()) ask_stored(type.element(), element, objections);
      return;
    case TypeKind::Map:
      for (const Datum& entry : datum.as_list())
        for (std::size_t i = 0; i < 2; ++i) ask_stored(type.arguments[i], entry.as_list()[i], objections);
      return;
    default:
      return;
  }
}

// The rules of keys, which references obey too: nothing empty, and not too long.
void Execution::ask_key(const model::Type& reference, const Datum& key, Objections& objections) const {
  const model::Entity& entity = model_.entity(reference.entity());
  for (std::size_t i = 0; i < entity.key.size(); ++i) {
    const model::Type& type = entity.fields[entity.key[i]].type;
    const Datum& part = entity.key.size() == 1 ? key : key.as_list()[i];
    if (part.absent()) return;  // another objection
    if (type.kind == TypeKind::Reference) ask_key(type, part, objections);
    const bool may_be_empty = type.kind != TypeKind::Text && type.kind != TypeKind::Bytes;
    if (!may_be_empty && part.as_string().empty()) objections.add("key", "a key is empty");
  }
  if (model::key_bytes(model_, reference, key) > most_key_bytes) objections.add("key", "a key is too long");
}

// Owners that are new to the part exist. `before`: what the part was.
void Execution::ask_owners(const model::Entity& entity, const Datum::List& fields, const Datum::List* before,
                           Objections& objections) const {
  for (const std::uint32_t index : entity.owners) {
    const model::Role& role = model_.roles[index];
    const Datum& owner = fields[role.field];
    if (owner.absent() || (before != nullptr && (*before)[role.field] == owner)) continue;
    if (find(state_, role.to, owner) == nullptr)
      objections.add("owner", "no " + model::instance_name(model_, role.to, owner));
  }
}

std::optional<std::int64_t> Execution::due(const model::Entity& entity, const Datum::List& fields) const {
  if (!entity.ttl) return std::nullopt;
  std::int64_t from = id_.milliseconds();
  if (entity.ttl->from) {
    const Datum& time = fields[*entity.ttl->from];
    if (time.absent()) return std::nullopt;
    from = time.as_int();
    if (entity.fields[*entity.ttl->from].type.kind == TypeKind::Date) from *= day_ms;
  }
  return from + entity.ttl->minutes * minute_ms;
}

void Execution::store(EntityId entity, const Datum& key, Datum::List fields) {
  state_[static_cast<std::size_t>(entity)][key].fields = std::move(fields);
  changed_.emplace(entity, key);
}

bool Execution::insert(const Change& change) {
  const model::Entity& entity = model_.entity(change.entity);
  const bool put = change.kind == ChangeKind::Put;
  Objections objections;
  Datum::List fields(entity.fields.size());
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    if (!entity.fields[i].automatic || put) continue;
    const std::uint32_t made = change_ - 1;
    fields[i] = entity.fields[i].type.kind == TypeKind::Uuid ? model::generated_uuid(id_, made, model::key_site(i))
                                                             : model::generated_timeuuid(id_, made, model::key_site(i));
    generated_.emplace_back(entity.fields[i].type, fields[i]);
  }
  std::set<std::uint32_t> overflown;
  for (const model::Assignment& assignment : change.assignments) {
    Objections of_value;
    fields[assignment.target.index] = evaluate(assignment.value, of_value);
    if (of_value.none()) continue;
    objections.add(of_value.first()->code, of_value.first()->reason);
    overflown.insert(assignment.target.index);
  }
  for (std::uint32_t i = 0; i < fields.size(); ++i)
    if (!overflown.contains(i)) ask_stored(entity.fields[i].type, fields[i], objections);
  const Datum key = key_of(entity, fields);
  if (objections.none()) {
    ask_key(model::reference(change.entity), key, objections);
    if (!put && find(state_, change.entity, key) != nullptr)
      objections.add("exists", model::instance_name(model_, change.entity, key) + " is there already");
    ask_owners(entity, fields, nullptr, objections);
  }
  if (!objections.none()) return refuse(objections);
  const auto end = due(entity, fields);
  store(change.entity, key, std::move(fields));
  state_[static_cast<std::size_t>(change.entity)][key].due = end;
  if (change.variable) evaluation_.bind(*change.variable, key);
  return true;
}

Datum Execution::target_of(const Change& change, Objections& objections) {
  Datum key = evaluate(change.target, objections);
  if (!objections.none()) return {};
  if (find(state_, change.entity, key) == nullptr) {
    if (!change.then && change.kind != ChangeKind::Delete)
      objections.add("absent", "no " + model::instance_name(model_, change.entity, key));
    return {};
  }
  if (change.variable) evaluation_.bind(*change.variable, key);
  return key;
}

bool Execution::remove_instance(const Change& change) {
  Objections objections;
  const Datum key = target_of(change, objections);
  if (!objections.none()) return refuse(objections);
  if (!key.absent()) delete_instance(model_, state_, change.entity, key);
  return true;
}

bool Execution::update(const Change& change) {
  Objections objections;
  const Datum key = target_of(change, objections);
  if (!objections.none()) return refuse(objections);
  return key.absent() || update(change, key);
}

bool Execution::update(const Change& change, const Datum& key) {
  const model::Entity& entity = model_.entity(change.entity);
  Objections objections;
  const Datum::List before = find(state_, change.entity, key)->fields;
  Datum aggregate = before;  // right sides are evaluated on the state, which stays as it is until the end
  for (const model::Assignment& assignment : change.assignments) {
    Objections of_value;
    Datum value = evaluate(assignment.value, of_value);
    if (of_value.none()) {
      const Expr& target = assignment.target;
      const model::Type& base = target.operands[0].type;
      ask_stored(target.kind == ExprKind::Element ? base.element() : model_.fields(base)[target.index].type, value,
                 of_value);
    }
    assign(assignment.target, std::move(value), aggregate, of_value);
    if (!of_value.none()) objections.add(of_value.first()->code, of_value.first()->reason);
  }
  ask_owners(entity, aggregate.as_list(), &before, objections);
  if (!objections.none()) return refuse(objections);
  store(change.entity, key, std::move(aggregate.change_list()));
  return true;
}

Datum* Execution::locate(const Expr& path, Datum& aggregate, Objections& objections) {
  Datum* at = &aggregate;
  for (const Expr* step : steps_of(path)) {
    Datum* next = nullptr;
    if (step->kind == ExprKind::Field) {
      if (!at->absent()) next = &at->change_list()[step->index];
    } else {
      Objections of_index;
      const Datum index = evaluate(step->operands[1], of_index);
      if (!of_index.none()) {
        objections.add(of_index.first()->code, of_index.first()->reason);
        return nullptr;
      }
      if (step->operands[0].type.kind == TypeKind::Map)
        next = find_entry(at->change_list(), index);
      else if (const auto position = position_in(at->as_list(), index))
        next = &at->change_list()[*position];
    }
    if (next == nullptr) {
      objections.add("position", "a step leads nowhere");
      return nullptr;
    }
    at = next;
  }
  return at;
}

void Execution::assign(const Expr& target, Datum value, Datum& aggregate, Objections& objections) {
  const bool entry = target.kind == ExprKind::Element && target.operands[0].type.kind == TypeKind::Map;
  if (!entry) {
    if (Datum* place = locate(target, aggregate, objections)) *place = std::move(value);
    return;
  }
  Objections of_key;
  const Datum key = evaluate(target.operands[1], of_key);
  if (of_key.none()) ask_stored(target.operands[0].type.arguments[0], key, of_key);
  if (!of_key.none()) objections.add(of_key.first()->code, of_key.first()->reason);
  if (Datum* map = locate(target.operands[0], aggregate, objections); map != nullptr && of_key.none())
    put_entry(map->change_list(), key, std::move(value));
}

bool Execution::change_collection(const Change& change) {
  Objections objections;
  const Datum key = target_of(change, objections);
  if (!objections.none()) return refuse(objections);
  if (key.absent()) return true;
  Datum aggregate = find(state_, change.entity, key)->fields;
  const bool at_position = change.kind == ChangeKind::RemoveAt;
  Datum* collection = locate(at_position ? change.path.operands[0] : change.path, aggregate, objections);
  Datum nowhere = Datum::List();  // so that what else is wrong is found
  change_elements(change, key, collection == nullptr ? nowhere : *collection, objections);
  if (!objections.none()) return refuse(objections);
  // A symmetric role has changed on both sides already.
  const Expr& path = at_position ? change.path.operands[0] : change.path;
  const auto role = path.operands[0].type.kind == TypeKind::Reference
                        ? model_.entity(change.entity).fields[path.index].role
                        : std::nullopt;
  const bool takes_out = change.kind == ChangeKind::Remove || change.kind == ChangeKind::RemoveWhere;
  if (role && model_.roles[*role].symmetric && takes_out) return true;
  store(change.entity, key, std::move(aggregate.change_list()));
  return true;
}

void Execution::change_elements(const Change& change, const Datum& key, Datum& collection, Objections& objections) {
  Datum::List& elements = collection.change_list();
  const model::Type& type = change.kind == ChangeKind::RemoveAt ? change.path.operands[0].type : change.path.type;
  Objections found;
  const auto given = [&] {
    Datum argument = evaluate(change.argument, found);
    if (!change.all) return Datum::List{std::move(argument)};
    return argument.absent() ? Datum::List() : argument.as_list();
  };
  // Of a symmetric role elements are taken out of the union, on both sides.
  const bool own_field =
      change.path.kind == ExprKind::Field && change.path.operands[0].type.kind == TypeKind::Reference;
  const auto role_index =
      own_field ? model_.entity(change.entity).fields[change.path.index].role : std::optional<std::uint32_t>();
  const model::Role* symmetric =
      role_index && model_.roles[*role_index].symmetric ? &model_.roles[*role_index] : nullptr;
  const auto done = [&] {
    if (found.none()) return true;
    objections.add(found.first()->code, found.first()->reason);
    return false;
  };
  switch (change.kind) {
    case ChangeKind::Append:
    case ChangeKind::Add: {
      Datum::List added = given();
      if (found.none())
        for (const Datum& element : added) ask_stored(type.element(), element, found);
      if (!done()) return;
      elements.insert(elements.end(), added.begin(), added.end());
      if (change.kind == ChangeKind::Add) elements = as_set(std::move(elements));
      return;
    }
    case ChangeKind::Remove: {
      const Datum::List removed = given();
      if (!done()) return;
      if (symmetric != nullptr && objections.none()) return take_out_on_both_sides(*symmetric, key, removed);
      std::erase_if(elements, [&](const Datum& element) {
        return std::find(removed.begin(), removed.end(), element) != removed.end();
      });
      return;
    }
    case ChangeKind::RemoveKey: {
      const Datum removed = evaluate(change.argument, found);
      if (!done()) return;
      std::erase_if(elements, [&](const Datum& entry) { return entry.as_list()[0] == removed; });
      return;
    }
    case ChangeKind::RemoveAt: {
      const Datum at = evaluate(change.path.operands[1], found);
      if (!done()) return;
      if (const auto position = position_in(elements, at))
        elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(*position));
      return;
    }
    case ChangeKind::PutInto: {
      const Datum at = evaluate(change.key, found);
      if (found.none()) ask_stored(type.arguments[0], at, found);
      Objections of_value;
      Datum value = evaluate(change.argument, of_value);
      if (of_value.none()) ask_stored(type.arguments[1], value, of_value);
      if (!of_value.none()) found.add(of_value.first()->code, of_value.first()->reason);
      if (done()) put_entry(elements, at, std::move(value));
      return;
    }
    case ChangeKind::RemoveWhere: {
      // All elements, whether what they refer to exists or not; of a symmetric role, those of both sides.
      const Datum::List all = symmetric != nullptr ? evaluation_.evaluate(change.path).as_list() : elements;
      Datum::List kept;
      Datum::List removed;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (type.kind == TypeKind::Map)
          evaluation_.bind(*change.element, all[i].as_list()[1], all[i].as_list()[0]);
        else
          evaluation_.bind(*change.element, all[i],
                           type.kind == TypeKind::List ? Datum(static_cast<std::int64_t>(i)) : all[i]);
        (evaluate(*change.where, found).holds() ? removed : kept).push_back(all[i]);
      }
      if (!done()) return;
      if (symmetric != nullptr && objections.none()) return take_out_on_both_sides(*symmetric, key, removed);
      elements = std::move(kept);
      return;
    }
    default:
      check(false, "a change of a collection");
  }
}

void Execution::take_out_on_both_sides(const model::Role& role, const Datum& key, const Datum::List& others) {
  const auto take_out = [&](const Datum& from, const Datum& what) {
    const Aggregate* aggregate = find(state_, role.from, from);
    if (aggregate == nullptr) return;
    Datum::List fields = aggregate->fields;
    if (std::erase(fields[role.field].change_list(), what) > 0) store(role.from, from, std::move(fields));
  };
  for (const Datum& other : others) {
    take_out(key, other);
    take_out(other, key);
  }
}

bool Execution::run_loop(const Change& change) {
  Objections objections;
  const Datum over = evaluate(change.argument, objections);
  if (!objections.none()) return refuse(objections);
  if (over.absent()) return true;
  if (over.as_list().size() > most_rounds) return refuse("limit", "a loop over more than 1,000 elements");
  const Datum::List& elements = over.as_list();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    evaluation_.bind(*change.variable, elements[i], static_cast<std::int64_t>(i));
    if (!carry_out(change.body)) return false;
  }
  return true;
}

bool Execution::requirements_hold() {
  for (const auto& [id, key] : changed_) {
    const model::Entity& entity = model_.entity(id);
    if (entity.require.empty() || find(state_, id, key) == nullptr) continue;
    model::Variable self;
    self.kind = model::SourceKind::Target;
    self.type = model::reference(id);
    const std::vector<model::Variable> variables{self};
    Evaluation evaluation(Setting{model_, state_, refreshes_, variables, {}, id_.milliseconds(), id_});
    evaluation.bind(0, key);
    for (const Expr& require : entity.require) {
      const bool holds = evaluation.own_fields_hold(require);
      const std::string name = model::instance_name(model_, id, key);
      if (evaluation.take_overflow()) return refuse("overflow", "a number in a condition of " + name + " does not fit");
      if (!holds) return refuse("require", "a condition of " + name + " does not hold");
    }
  }
  return true;
}

std::vector<Datum> Execution::matching(const Change& bulk) {
  std::vector<Datum> found;
  const auto most = evaluation_.limit(bulk.limit);
  for (const auto& [key, aggregate] : state_[static_cast<std::size_t>(bulk.entity)]) {
    if (most && static_cast<std::int64_t>(found.size()) >= *most) break;
    evaluation_.bind(*bulk.variable, key);
    const bool holds = !bulk.where || evaluation_.own_fields_hold(*bulk.where);
    if (!evaluation_.take_overflow() && holds) found.push_back(key);
  }
  return found;
}

bool Execution::run_on(const Change& bulk, const Datum& key) {
  if (find(state_, bulk.entity, key) == nullptr) return false;
  evaluation_.set_change(change_++);
  evaluation_.bind(*bulk.variable, key);
  const bool holds = !bulk.where || evaluation_.own_fields_hold(*bulk.where);
  if (evaluation_.take_overflow() || !holds) return false;
  if (bulk.kind == ChangeKind::DeleteWhere) {
    delete_instance(model_, state_, bulk.entity, key);
    return true;
  }
  return update(bulk, key) && requirements_hold();
}

}  // namespace noam::reference
