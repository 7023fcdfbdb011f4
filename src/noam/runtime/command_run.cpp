#include "noam/runtime/command_run.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/design/appends.h"
#include "noam/model/instance_json.h"
#include "noam/model/packed.h"
#include "noam/runtime/arguments.h"
#include "noam/runtime/executor.h"
#include "noam/runtime/functions.h"
#include "noam/runtime/own_blocks.h"

namespace noam::runtime {

using model::ChangeKind;
using model::Datum;
using model::Expr;
using model::ExprKind;
using model::Refusal;
using model::TypeKind;

namespace {

constexpr std::size_t longest_loop = 1'000;

// A set or the keys of a map, kept in order and each once.
void normalize(TypeKind kind, Datum::List& items) {
  if (kind == TypeKind::List) return;
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

auto find_key(Datum::List& entries, const Datum& key) {
  return std::find_if(entries.begin(), entries.end(), [&](const Datum& at) { return at.as_list()[0] == key; });
}

void put_key(Datum::List& entries, const Datum& key, Datum value) {
  const auto at = find_key(entries, key);
  if (at != entries.end()) {
    at->change_list()[1] = std::move(value);
    return;
  }
  entries.emplace_back(Datum::List{key, std::move(value)});
  std::sort(entries.begin(), entries.end(),
            [](const Datum& a, const Datum& b) { return a.as_list()[0] < b.as_list()[0]; });
}

// Of several faults of one change, the one that decides.
std::optional<Refusal> first_of(const std::optional<Refusal>& a, const std::optional<Refusal>& b) {
  const auto rank = [](const std::optional<Refusal>& refusal) {
    static constexpr std::array order = {"value", "required", "overflow", "position", "key"};
    if (!refusal) return order.size() + 1;
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), refusal->code) - order.begin());
  };
  return rank(b) < rank(a) ? b : a;
}

std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 200;
  return fmt::format("`{}`", model::shortened(text, longest));
}

Refusal overflow_refusal(const std::string& where) {
  return {"overflow", fmt::format("{}: number out of range", where)};
}

// The steps of a path below the instance, outermost first.
std::vector<const Expr*> steps_of(const Expr& path) {
  std::vector<const Expr*> steps;
  for (const Expr* at = &path; at->kind == ExprKind::Field || at->kind == ExprKind::Element; at = &at->operands[0])
    steps.push_back(at);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::optional<std::size_t> position_in(const Datum::List& items, const Datum& at) {
  if (!at.is_int()) return std::nullopt;
  const auto size = static_cast<std::int64_t>(items.size());
  std::int64_t position = at.as_int();
  if (position < 0) position += size;
  if (position < 0 || position >= size) return std::nullopt;
  return static_cast<std::size_t>(position);
}

// How many positions and keys a path takes.
std::size_t indexes_of(const std::vector<const Expr*>& steps) {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [](const Expr* at) { return at->kind == ExprKind::Element; }));
}

Refusal position_refusal(const std::string& path) {
  return {"position", fmt::format("{}: the list position, value or map key does not exist", path)};
}

// The place that the path leads to, all but its last `left` steps; each Element takes an input, from the one given.
// Nothing where a step leads into something that is not there.
Datum* walk(Datum& fields, const std::vector<const Expr*>& steps, std::size_t left, Row::const_iterator input) {
  Datum* at = &fields;
  for (std::size_t i = 0; i + left < steps.size(); ++i) {
    const Expr& step = *steps[i];
    if (step.kind == ExprKind::Field) {
      if (!at->is_list()) return nullptr;
      at = &at->change_list()[step.index];
      continue;
    }
    const Datum key = *input++;
    Datum::List& items = at->change_list();
    if (step.operands[0].type.kind == TypeKind::List) {
      const auto position = position_in(items, key);
      if (!position) return nullptr;
      at = &items[*position];
    } else {
      const auto found = find_key(items, key);
      if (found == items.end()) return nullptr;
      at = &found->change_list()[1];
    }
  }
  return at;
}

}  // namespace

Result<CommandRun::Aggregate*> CommandRun::load(model::EntityId entity, const Datum& key) {
  const Address address{entity, key};
  const auto found = aggregates_.find(address);
  if (found != aggregates_.end()) return &found->second;
  Aggregate aggregate;
  if (!key.absent() && !model_.entity(entity).transient) {
    const design::Plan& plan = program_.entities[static_cast<std::size_t>(entity)].load;
    Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(auto rows, executor.run(plan, {Row{key}}));
    aggregate = aggregate_of(entity, rows[0][0]);
  }
  return &aggregates_.emplace(address, std::move(aggregate)).first->second;
}

CommandRun::Aggregate CommandRun::aggregate_of(model::EntityId entity, const Row& row) const {
  Aggregate out;
  if (row[0].absent()) return out;
  const std::size_t fields = model_.entity(entity).fields.size();
  out.fields = Datum::List(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(fields));
  if (model_.entity(entity).ttl) out.due = row[fields + 1];
  out.settled = out.fields;
  return out;
}

bool CommandRun::is_dirty() const {
  return !transients_.empty() || !refreshes_.empty() ||
         std::any_of(aggregates_.begin(), aggregates_.end(),
                     [](const auto& at) { return at.second.settled != at.second.fields; });
}

// Brings the copies up to date with what was changed so far.
Result<void> CommandRun::settle(bool last) {
  std::vector<AggregateChange> changes = std::move(transients_);
  transients_.clear();
  for (auto& [address, aggregate] : aggregates_) {
    if (aggregate.settled == aggregate.fields) continue;
    if (last) {
      changes.push_back({address.first, address.second, std::move(aggregate.settled), std::move(aggregate.fields)});
      continue;
    }
    changes.push_back({address.first, address.second, aggregate.settled, aggregate.fields});
    aggregate.settled = aggregate.fields;
  }
  if (!changes.empty() || !refreshes_.empty()) {
    const bool command = std::exchange(environment_.command, false);  // a copy is what a query would say
    const auto kept = keep_copies(program_, transaction_, environment_, changes, refreshes_);
    environment_.command = command;
    if (!kept) return kept.error();
  }
  refreshes_.clear();
  transaction_.settle();
  return {};
}

Result<Row> CommandRun::compute(const design::Computation& computation, const Row& seed) {
  if (!computation.there()) return Row{};
  if (computation.reads_copies && is_dirty()) NOAM_RETURN_IF_ERROR(settle());
  Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
  environment_.tells_overflow = true;
  environment_.command = true;
  environment_.overflowed_slots.clear();
  if (Executor::is_plain(computation.plan)) {
    Row row = executor.columns(computation.plan, seed);
    environment_.tells_overflow = false;
    environment_.command = false;
    return row;
  }
  auto rows = executor.run(computation.plan, {seed});
  environment_.tells_overflow = false;
  environment_.command = false;
  if (!rows) return rows.error();
  return std::move((*rows)[0][0]);
}

void CommandRun::write(model::EntityId entity, const Datum& key, Aggregate& aggregate,
                       std::optional<Datum::List> fields, Datum due) {
  std::vector<BaseEntries::Entry> before;
  std::vector<BaseEntries::Entry> after;
  if (aggregate.fields) before = bases_.of(entity, *aggregate.fields, aggregate.due);
  if (fields) after = bases_.of(entity, *fields, due);
  if (!before.empty() && !after.empty()) {
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
  }
  auto old = before.begin();
  for (auto& [place, columns] : after) {
    while (old != before.end() && old->first < place) transaction_.erase(std::move((old++)->first));
    const bool was_there = old != before.end() && old->first == place;
    if (!was_there || old->second != columns) transaction_.put(std::move(place), std::move(columns));
    if (was_there) ++old;
  }
  while (old != before.end()) transaction_.erase(std::move((old++)->first));
  // When it expires stands in an order of its own.
  for (std::uint32_t f = 0; model_.entity(entity).ttl && f < program_.design.families.size(); ++f) {
    const design::Family& family = program_.design.families[f];
    if (family.purpose != design::Purpose::Due || family.members_of != static_cast<std::uint32_t>(entity)) continue;
    const auto entry = [&](const Datum& when) {
      return stores::EntryRef{{family.collection, due_block(transaction_.capabilities(), when, key)}, f, {when, key}};
    };
    const bool was = aggregate.fields && !aggregate.due.absent();
    const bool is = fields && !due.absent();
    if (was && (!is || !(aggregate.due == due))) transaction_.erase(entry(aggregate.due));
    if (is && (!was || !(aggregate.due == due))) transaction_.put(entry(due), {});
  }
  aggregate.fields = std::move(fields);
  aggregate.due = std::move(due);
  aggregate.touched = true;
}

Datum CommandRun::due_of(model::EntityId id, const Datum::List& fields) const {
  const model::Entity& entity = model_.entity(id);
  if (!entity.ttl) return {};
  Datum from = environment_.now;
  if (entity.ttl->from) {
    from = fields[*entity.ttl->from];
    if (from.absent()) return {};
    if (entity.fields[*entity.ttl->from].type.kind == TypeKind::Date) from = from.as_int() * 86'400'000;
  }
  if (broken(Breakage::DueTooLate)) return from.as_int() + (entity.ttl->minutes + 1) * 60'000;
  const std::int64_t due = from.as_int() + entity.ttl->minutes * 60'000;
  // Who sweeps looks at no day again that is over; what is late already is late from now on.
  return transaction_.capabilities().spreads_own ? std::max(due, environment_.now) : due;
}

bool CommandRun::overflowed(std::size_t input) const {
  if (broken(Breakage::OverflowStored)) return false;
  return input < environment_.overflowed_columns.size() && environment_.overflowed_columns[input] != 0;
}

CommandRun::Refused CommandRun::storable(const model::Type& type, const Datum& value, const std::string& name,
                                         std::size_t input) const {
  return overflowed(input) ? overflow_refusal(name) : model::storable(model_, type, value, name);
}

std::string CommandRun::text(const Expr& expr) const {
  return quoted(model::to_string(model_, expr, command_->variables, command_->parameters));
}

Result<CommandRun::Refused> CommandRun::check_owners(model::EntityId id, const Datum::List& fields,
                                                     const Datum::List* before) {
  for (const std::uint32_t index : model_.entity(id).owners) {
    const model::Role& role = model_.roles[index];
    const Datum& owner = fields[role.field];
    if (owner.absent() || (before != nullptr && (*before)[role.field] == owner)) continue;
    NOAM_ASSIGN_OR_RETURN(const Aggregate* found, load(role.to, owner));
    // An instance may own itself only when it is there.
    if (!found->fields && !broken(Breakage::OwnerNotAsked))
      return Refused(Refusal{"owner", fmt::format("no {}", model::instance_name(model_, role.to, owner))});
  }
  return Refused();
}

Result<CommandRun::Refused> CommandRun::insert(const model::Change& change, const Row& inputs) {
  const model::Entity& entity = model_.entity(change.entity);
  Datum::List fields(entity.fields.size());
  std::vector<std::size_t> input(entity.fields.size(), inputs.size());
  for (std::size_t i = 0; i < change.assignments.size(); ++i) {
    const std::uint32_t field = change.assignments[i].target.index;
    fields[field] = inputs[i];
    input[field] = i;
  }
  const bool made = make_keys(entity, fields);
  Refused refused;
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    if (const auto wrong = storable(entity.fields[i].type, fields[i], entity.fields[i].name, input[i]))
      refused = first_of(refused, wrong);
  if (refused) return refused;
  const Datum key = key_of(entity, fields);
  refused = model::storable_key(model_, change.entity, key);
  if (refused) return refused;
  Aggregate* aggregate = nullptr;
  if (!entity.transient) {
    NOAM_ASSIGN_OR_RETURN(aggregate, load(change.entity, key));
  }
  NOAM_ASSIGN_OR_RETURN(refused, check_place(change.entity, key, fields, aggregate, change.kind == ChangeKind::Put));
  if (refused) return refused;
  place(change.entity, key, std::move(fields), aggregate);
  if (made) generated_.emplace_back(change.entity, key);
  if (change.variable) variables_[*change.variable] = key;
  return Refused();
}

bool CommandRun::make_keys(const model::Entity& entity, Datum::List& fields) const {
  bool made = false;
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    const model::Field& field = entity.fields[i];
    if (field.automatic && fields[i].absent()) {
      fields[i] = field.type.kind == TypeKind::TimeUuid
                      ? model::generated_timeuuid(environment_.id, environment_.change, model::key_site(i))
                      : model::generated_uuid(environment_.id, environment_.change, model::key_site(i));
      made = true;
    } else if (fields[i].absent() && field.type.is_collection()) {
      fields[i] = model::nothing(field.type);
    }
  }
  return made;
}

Result<CommandRun::Refused> CommandRun::check_place(model::EntityId id, const Datum& key, const Datum::List& fields,
                                                    const Aggregate* aggregate, bool replaces) {
  const bool is_there = aggregate != nullptr && aggregate->fields;
  if (is_there && !replaces)
    return Refused(Refusal{"exists", fmt::format("{} already exists", model::instance_name(model_, id, key))});
  return check_owners(id, fields, is_there ? &*aggregate->fields : nullptr);
}

void CommandRun::place(model::EntityId id, const Datum& key, Datum::List fields, Aggregate* aggregate) {
  if (aggregate == nullptr) {
    transients_.push_back({id, key, std::nullopt, fields});
    aggregates_[{id, key}] = {fields, fields, {}, true};
    return;
  }
  Datum due = due_of(id, fields);
  write(id, key, *aggregate, std::move(fields), std::move(due));
}

CommandRun::Arrival CommandRun::arrive(model::EntityId id, Datum::List fields) const {
  const model::Entity& entity = model_.entity(id);
  Arrival out;
  out.fields = std::move(fields);
  out.made = make_keys(entity, out.fields);
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    if (!out.fields[i].absent())
      if (auto wrong = mismatch(model_, entity.fields[i].type, out.fields[i], model::member_name(entity, i)))
        out.refused = first_of(out.refused, wrong);
  if (out.refused) return out;
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    if (auto wrong = model::storable(model_, entity.fields[i].type, out.fields[i], model::member_name(entity, i)))
      out.refused = first_of(out.refused, wrong);
  if (out.refused) return out;
  out.key = key_of(entity, out.fields);
  out.refused = model::storable_key(model_, id, out.key);
  return out;
}

// By their keys each comes behind the last: what was touched last, here and in the store, is touched next. But where a
// row can tell whether another is there, the order is part of what was asked.
std::vector<std::size_t> CommandRun::loading_order(model::EntityId id, std::span<const Datum::List> rows) const {
  const model::Entity& entity = model_.entity(id);
  const design::Computation& require = program_.entities[static_cast<std::size_t>(id)].require;
  const bool needs_others =
      entity.transient || (require.there() && !Executor::is_plain(require.plan)) ||
      std::any_of(entity.owners.begin(), entity.owners.end(), [&](auto role) { return model_.roles[role].to == id; });
  std::vector<std::size_t> out(rows.size());
  std::iota(out.begin(), out.end(), 0);
  if (needs_others) return out;
  std::vector<std::pair<Datum, std::size_t>> keys;
  keys.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys.emplace_back(key_of(entity, rows[i]), i);
  if (std::is_sorted(keys.begin(), keys.end())) return out;
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = keys[i].second;
  return out;
}

Result<void> CommandRun::look_up(model::EntityId entity, std::vector<Arrival>& rows) {
  if (model_.entity(entity).transient) return {};
  std::vector<Row> seeds;
  std::vector<Aggregate*> unknown;
  auto next = aggregates_.end();  // where it belongs, if it comes behind the last
  for (Arrival& row : rows) {
    if (row.refused) continue;
    const std::size_t before = aggregates_.size();
    const auto at = aggregates_.try_emplace(next, Address{entity, row.key});
    next = std::next(at);
    row.aggregate = &at->second;
    if (aggregates_.size() == before || row.key.absent()) continue;
    unknown.push_back(row.aggregate);
    seeds.push_back({row.key});
  }
  if (seeds.empty()) return {};
  Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
  NOAM_ASSIGN_OR_RETURN(const auto found,
                        executor.run(program_.entities[static_cast<std::size_t>(entity)].load, seeds));
  for (std::size_t i = 0; i < unknown.size(); ++i) *unknown[i] = aggregate_of(entity, found[i][0]);
  return {};
}

Result<CommandRun::Refused> CommandRun::load_row(model::EntityId id, Arrival& row) {
  if (row.refused) return row.refused;
  NOAM_ASSIGN_OR_RETURN(Refused refused, check_place(id, row.key, row.fields, row.aggregate, false));
  if (refused) return refused;
  NOAM_ASSIGN_OR_RETURN(refused, check_requirements(id, row.key, row.fields));
  if (refused) return refused;
  place(id, row.key, std::move(row.fields), row.aggregate);
  if (row.made) generated_.emplace_back(id, row.key);
  return Refused();
}

Result<void> CommandRun::load_rows(model::EntityId id, std::span<const Datum::List> rows, std::uint32_t n,
                                   bool stop_at_refusal, std::vector<Refused>& out) {
  constexpr std::size_t at_once = 256;  // are looked up
  std::vector<std::size_t> order(rows.size());
  if (stop_at_refusal)
    std::iota(order.begin(), order.end(), 0);
  else
    order = loading_order(id, rows);
  const std::size_t before = out.size();
  out.resize(before + rows.size());
  std::vector<Arrival> some;
  for (std::size_t begin = 0; begin < order.size(); begin += at_once) {
    some.clear();
    for (std::size_t i = begin; i < std::min(begin + at_once, order.size()); ++i) {
      environment_.change = n + static_cast<std::uint32_t>(order[i]);
      some.push_back(arrive(id, rows[order[i]]));
      some.back().index = order[i];
    }
    NOAM_RETURN_IF_ERROR(look_up(id, some));
    for (Arrival& row : some) {
      environment_.change = n + static_cast<std::uint32_t>(row.index);
      NOAM_ASSIGN_OR_RETURN(out[before + row.index], load_row(id, row));
      if (!stop_at_refusal || !out[before + row.index]) continue;
      out.resize(before + row.index + 1);
      return {};
    }
  }
  return {};
}

CommandRun::Refused CommandRun::assign(const model::Change& change, const Row& inputs, std::size_t input,
                                       Datum::List& fields) const {
  Datum whole = std::move(fields);
  Refused refused;
  for (const model::Assignment& assignment : change.assignments) {
    const auto steps = steps_of(assignment.target);
    const Expr& last = *steps.back();
    const model::Type& into = last.operands[0].type;
    const std::size_t first = input;
    const std::size_t at_value = first + indexes_of(steps);
    input = at_value + 1;
    const bool element = last.kind == ExprKind::Element;
    const bool entry = element && into.kind == TypeKind::Map;
    const model::Type& type = element ? into.element() : model_.fields(into)[last.index].type;
    Datum value = inputs[at_value];
    if (value.absent() && type.is_collection() && !overflowed(at_value)) value = model::nothing(type);
    const std::string name = model_.fields(steps[0]->operands[0].type)[steps[0]->index].name;
    refused = first_of(refused, storable(type, value, name, at_value));
    if (entry) refused = first_of(refused, storable(into.arguments[0], inputs[at_value - 1], name, at_value - 1));
    bool known = true;
    for (std::size_t i = first; i < at_value; ++i) known = known && !overflowed(i);
    if (!known) {
      refused = first_of(refused, overflow_refusal(text(assignment.target)));
      continue;
    }
    Datum* at = walk(whole, steps, 1, inputs.begin() + static_cast<std::ptrdiff_t>(first));
    if (at == nullptr || !at->is_list()) {
      refused = first_of(refused, position_refusal(text(assignment.target)));
    } else if (!element) {
      at->change_list()[last.index] = std::move(value);
    } else if (entry) {
      put_key(at->change_list(), inputs[at_value - 1], std::move(value));
    } else if (const auto position = position_in(at->as_list(), inputs[at_value - 1])) {
      at->change_list()[*position] = std::move(value);
    } else {
      refused = first_of(refused, position_refusal(text(assignment.target)));
    }
  }
  fields = std::move(whole.change_list());
  return refused;
}

Result<Datum::List> CommandRun::symmetric_members(const model::Role& role, const Datum& key, const Datum::List& own) {
  // Those that keep this one are found by the way the program finds the inverse: every other that this command or the
  // store knows. The plan is the entity's `keepers`.
  Datum::List all = own;
  if (is_dirty()) NOAM_RETURN_IF_ERROR(settle());
  for (const design::PartsPlan& plan : program_.entities[static_cast<std::size_t>(role.to)].keepers) {
    if (plan.field != role.field) continue;
    Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
    NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(plan.plan, {Row{key}}));
    for (const Row& row : rows[0]) all.push_back(row[0]);
  }
  normalize(TypeKind::Set, all);
  return all;
}

Result<void> CommandRun::forget_other_side(const model::Role& role, const Datum& key, const Datum::List& removed) {
  for (const Datum& other : removed) {
    if (broken(Breakage::OneSideForgotten)) continue;
    NOAM_ASSIGN_OR_RETURN(Aggregate * aggregate, load(role.from, other));
    if (!aggregate->fields) continue;
    Datum::List fields = *aggregate->fields;
    Datum::List& kept = fields[role.field].change_list();
    const auto at = std::find(kept.begin(), kept.end(), key);
    if (at == kept.end()) continue;
    kept.erase(at);
    const Datum due = aggregate->due;
    write(role.from, other, *aggregate, std::move(fields), due);
  }
  return {};
}

Result<CommandRun::Refused> CommandRun::change_collection(const model::Change& change, const design::ChangePlan& plan,
                                                          const Row& inputs, std::size_t input, const Datum& key,
                                                          Datum::List& fields) {
  const auto steps = steps_of(change.path);
  Datum whole = fields;
  const bool at_element = change.kind == ChangeKind::RemoveAt;
  const Expr& collection = at_element ? steps.back()->operands[0] : *steps.back();
  const TypeKind kind = collection.type.kind;
  const std::string name = model_.fields(steps[0]->operands[0].type)[steps[0]->index].name;
  const std::size_t first = input;
  input += indexes_of(steps) - (at_element ? 1 : 0);
  Refused refused;
  for (std::size_t i = first; i < input; ++i)
    if (overflowed(i)) refused = overflow_refusal(text(change.path));
  Datum* at = walk(whole, steps, at_element ? 1 : 0, inputs.begin() + static_cast<std::ptrdiff_t>(first));
  Datum nowhere = Datum::List();  // so that what else is wrong is found
  if (at == nullptr || !at->is_list()) {
    if (!refused) refused = position_refusal(text(change.path));
    at = &nowhere;
  }
  Datum::List& items = at->change_list();
  // A symmetric role, changed as a whole: what both sides keep.
  const model::Role* symmetric = nullptr;
  if (steps.size() == 1 && steps[0]->kind == ExprKind::Field) {
    const auto& field = model_.entity(change.entity).fields[steps[0]->index];
    if (field.role && model_.roles[*field.role].symmetric) symmetric = &model_.roles[*field.role];
  }
  Datum::List gone;  // from a symmetric role
  switch (change.kind) {
    case ChangeKind::Append:
    case ChangeKind::Add: {
      const Datum::List added = added_by(change, collection.type, name, inputs, input, refused);
      items.insert(items.end(), added.begin(), added.end());
      if (change.kind == ChangeKind::Add) normalize(TypeKind::Set, items);
      break;
    }
    case ChangeKind::Remove: {
      const Datum& argument = inputs[input];
      if (overflowed(input)) refused = first_of(refused, overflow_refusal(name));
      Datum::List wanted;
      if (change.all && argument.is_list())
        wanted = argument.as_list();
      else if (!change.all)
        wanted.push_back(argument);
      for (const Datum& item : wanted) items.erase(std::remove(items.begin(), items.end(), item), items.end());
      gone = std::move(wanted);
      break;
    }
    case ChangeKind::RemoveKey: {
      if (overflowed(input)) refused = first_of(refused, overflow_refusal(name));
      const auto found = find_key(items, inputs[input]);
      if (found != items.end()) items.erase(found);
      break;
    }
    case ChangeKind::RemoveAt: {
      if (overflowed(input)) refused = first_of(refused, overflow_refusal(name));
      const Datum& where = inputs[input];
      if (kind == TypeKind::List) {
        if (const auto position = position_in(items, where))
          items.erase(items.begin() + static_cast<std::ptrdiff_t>(*position));
      } else {
        const auto found = find_key(items, where);
        if (found != items.end()) items.erase(found);
      }
      break;
    }
    case ChangeKind::PutInto: {
      const auto& types = collection.type.arguments;
      for (std::size_t side = 0; side < 2; ++side)
        refused = first_of(refused, storable(types[side], inputs[input + side], name, input + side));
      put_key(items, inputs[input], inputs[input + 1]);
      break;
    }
    case ChangeKind::RemoveWhere: {
      Datum::List candidates = items;
      if (symmetric != nullptr) {
        NOAM_ASSIGN_OR_RETURN(candidates, symmetric_members(*symmetric, key, items));
      }
      Datum::List kept;
      environment_.overflowed = false;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        Row seed = variables_;
        const bool map = kind == TypeKind::Map;
        seed[*change.element] = map ? candidates[i].as_list()[1] : candidates[i];
        seed.push_back(map ? candidates[i].as_list()[0] : Datum(static_cast<std::int64_t>(i)));
        NOAM_ASSIGN_OR_RETURN(const Row answer, compute(plan.where, seed));
        if (!answer[0].holds())
          kept.push_back(candidates[i]);
        else
          gone.push_back(candidates[i]);
      }
      if (environment_.overflowed) refused = first_of(refused, overflow_refusal(text(*change.where)));
      if (symmetric != nullptr)
        for (const Datum& item : gone) items.erase(std::remove(items.begin(), items.end(), item), items.end());
      else
        items = std::move(kept);
      break;
    }
    default:
      fail_check("a change of a collection");
  }
  if (refused) return refused;
  fields = std::move(whole.change_list());
  if (symmetric != nullptr && !gone.empty()) NOAM_RETURN_IF_ERROR(forget_other_side(*symmetric, key, gone));
  return Refused();
}

Datum::List CommandRun::added_by(const model::Change& change, const model::Type& collection, const std::string& name,
                                 const Row& inputs, std::size_t input, Refused& refused) const {
  const Datum& argument = inputs[input];
  Datum::List added;
  if (!change.all)
    added.push_back(argument);
  else if (argument.is_list())
    added = argument.as_list();
  if (overflowed(input)) refused = first_of(refused, overflow_refusal(name));
  for (const Datum& item : added) refused = first_of(refused, storable(collection.element(), item, name, input));
  return added;
}

CommandRun::Refused CommandRun::absent(const model::Change& change, const Datum& key) const {
  if (change.then) return std::nullopt;
  const std::string what =
      key.absent() ? model_.entity(change.entity).name : model::instance_name(model_, change.entity, key);
  return Refusal{"absent", fmt::format("no {}", what)};
}

Result<CommandRun::Refused> CommandRun::append(const model::Change& change, const design::AppendPlan& plan,
                                               const Row& inputs, std::size_t input, const Datum& key) {
  if (key.absent()) return absent(change, key);
  const stores::EntryRef head = bases_.head_of(change.entity, plan.head, key);
  NOAM_ASSIGN_OR_RETURN(auto found, transaction_.read_entry(head, Transaction::Moment::Now));
  if (!found) return absent(change, key);
  Refused refused;
  const model::Field& field = model_.entity(change.entity).fields[plan.field];
  const Datum::List added = added_by(change, field.type, field.name, inputs, input, refused);
  if (refused) return refused;
  if (added.empty()) return Refused();
  stores::Key& columns = *found;
  if (!plan.elements) {
    append_inside(head, std::move(columns), plan.column, added);
    return Refused();
  }
  std::int64_t length = columns[plan.column].as_int();
  for (const Datum& item : added) {
    auto [entry, cells] = bases_.element_of(change.entity, *plan.elements, key, length++, item);
    transaction_.put(std::move(entry), std::move(cells));
  }
  if (!broken(Breakage::LengthNotKept)) columns[plan.column] = length;
  transaction_.put(head, std::move(columns));
  return Refused();
}

namespace {

// No datum counts for more than so many times the bytes it takes when it is packed.
constexpr std::size_t counts_for = 8;

}  // namespace

// A few appends may lie beside the entry, to be put together by who reads it. Then it is written as a whole again: so a
// reader finds at most these few. One that is small is written as a whole each time.
void CommandRun::append_inside(stores::EntryRef entry, stores::Key columns, std::uint32_t column,
                               const Datum::List& added) {
  constexpr std::size_t appends_in_a_row = 8;
  constexpr std::size_t small_bytes = 128;
  Datum& list = columns[column];
  const auto packed = list.packed();
  const std::size_t before = list.is_list() ? list.list_size() : 0;
  // How large it may be is asked of what is written as a whole.
  const std::size_t most = transaction_.max_entry_bytes();
  bool may_be_too_large = false;
  if (most != 0) {
    std::size_t at_most = packed ? packed->size() * counts_for : model::bytes_of(list);
    for (std::uint32_t i = 0; i < columns.size(); ++i) at_most += i == column ? 0 : model::bytes_of(columns[i]);
    may_be_too_large = at_most + stores::entry_bytes(entry.key, added) > most;
  }
  const bool whole = before == 0 || may_be_too_large || (packed && packed->size() < small_bytes) ||
                     before / appends_in_a_row != (before + added.size()) / appends_in_a_row;
  if (whole) {
    list = list.is_list() ? model::with_elements(list, added) : Datum(added);
    transaction_.put(std::move(entry), std::move(columns));
    return;
  }
  stores::Key elements(column + 1);
  elements[column] = added;
  transaction_.append(std::move(entry), std::move(elements));
}

Result<CommandRun::Refused> CommandRun::update(const model::Change& change, const design::ChangePlan& plan,
                                               const Row& inputs) {
  std::size_t input = 0;
  Datum key;
  if (change.target.kind != ExprKind::Unknown)
    key = inputs[input++];
  else
    key = variables_[*change.variable];
  if (input > 0 && overflowed(0)) return Refused(overflow_refusal(text(change.target)));
  if (const design::AppendPlan* short_way = design::append_of(program_, change))
    if (!aggregates_.contains({change.entity, key})) return append(change, *short_way, inputs, input, key);
  NOAM_ASSIGN_OR_RETURN(const Aggregate* found, load(change.entity, key));
  if (!found->fields) return absent(change, key);
  const Datum::List before = *found->fields;
  Datum::List fields = before;
  Refused refused;
  if (change.kind == ChangeKind::Update || change.kind == ChangeKind::UpdateWhere) {
    refused = assign(change, inputs, input, fields);
  } else {
    NOAM_ASSIGN_OR_RETURN(refused, change_collection(change, plan, inputs, input, key, fields));
  }
  if (refused) return refused;
  NOAM_ASSIGN_OR_RETURN(Refused owners, check_owners(change.entity, fields, &before));
  if (owners) return owners;
  Aggregate& aggregate = aggregates_[{change.entity, key}];
  const Datum due = aggregate.due;
  write(change.entity, key, aggregate, std::move(fields), due);
  return Refused();
}

// With its parts, and theirs.
Result<CommandRun::Refused> CommandRun::remove(model::EntityId entity, const Datum& key) {
  NOAM_ASSIGN_OR_RETURN(Aggregate * aggregate, load(entity, key));
  if (!aggregate->fields) return Refused();
  const design::EntityPlan& plan = program_.entities[static_cast<std::size_t>(entity)];
  std::vector<std::pair<model::EntityId, Datum>> parts;
  if (!plan.parts.empty()) {
    if (is_dirty()) NOAM_RETURN_IF_ERROR(settle());
    for (const design::PartsPlan& of : plan.parts) {
      Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
      NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(of.plan, {Row{key}}));
      for (const Row& row : rows[0]) parts.emplace_back(of.entity, row[0]);
    }
  }
  if (broken(Breakage::PartsStay)) parts.clear();
  write(entity, key, aggregates_[{entity, key}], std::nullopt, {});
  for (const auto& [part, part_key] : parts) {
    NOAM_ASSIGN_OR_RETURN(const Refused refused, remove(part, part_key));
    if (refused) return refused;
  }
  NOAM_RETURN_IF_ERROR(forget_transient(entity, key));
  return Refused();
}

// What an entry told of the events it was about.
AggregateChange CommandRun::forgotten(const design::Forgetting& forgetting, const stores::ScanPage::Item& item) const {
  AggregateChange gone;
  gone.entity = forgetting.event;
  gone.before = Datum::List(model_.entity(gone.entity).fields.size());
  gone.forgotten = true;
  for (std::size_t i = 0; i < forgetting.told.size(); ++i) {
    if (!forgetting.told[i]) continue;
    const auto [field, part] = *forgetting.told[i];
    const Datum& value = i < item.block.size() ? item.block[i] : item.entry.key[i - item.block.size()];
    Datum& to = (*gone.before)[field];
    if (!part) {
      to = value;
      continue;
    }
    const auto parts = model_.entity(model_.entity(gone.entity).fields[field].type.entity()).key.size();
    if (!to.is_list()) to = Datum::List(parts);
    to.change_list()[*part] = value;
  }
  return gone;
}

// What was kept of transient parts goes with their owner.
Result<void> CommandRun::forget_transient(model::EntityId owner, const Datum& key) {
  const design::EntityPlan& plan = program_.entities[static_cast<std::size_t>(owner)];
  if (plan.forgets.empty() || broken(Breakage::EventsStay)) return {};
  transients_.erase(std::remove_if(transients_.begin(), transients_.end(),
                                   [&](const AggregateChange& change) {
                                     if (change.forgotten) return false;
                                     for (const std::uint32_t index : model_.entity(change.entity).owners) {
                                       const model::Role& role = model_.roles[index];
                                       if (role.to == owner && (*change.after)[role.field] == key) return true;
                                     }
                                     return false;
                                   }),
                    transients_.end());
  for (const design::Forgetting& forgetting : plan.forgets) {
    const design::Family& family = program_.design.families[forgetting.family];
    const std::size_t blocks = program_.design.collection_of(family).by.size();
    const auto expected = [&](std::size_t part) { return evaluate(environment_, *forgetting.parts[part], {key}); };
    bool whole_block = true;
    for (std::size_t i = 0; i < blocks; ++i) whole_block = whole_block && forgetting.parts[i];
    std::vector<stores::ScanPage::Item> items;
    if (whole_block) {
      stores::ReadRequest request;
      request.block.collection = family.collection;
      for (std::size_t i = 0; i < blocks; ++i) request.block.key.push_back(expected(i));
      request.family = forgetting.family;
      stores::Answers answers;
      NOAM_RETURN_IF_ERROR(transaction_.read({&request, 1}, Transaction::Moment::Now, answers));
      for (stores::Entry& entry : answers[0].entries) items.push_back({request.block.key, std::move(entry)});
    } else {
      NOAM_ASSIGN_OR_RETURN(items, transaction_.scan(forgetting.family, Transaction::Moment::Now));
    }
    for (stores::ScanPage::Item& item : items) {
      bool theirs = true;
      for (std::size_t i = 0; i < forgetting.parts.size(); ++i) {
        if (!forgetting.parts[i]) continue;
        const Datum& part = i < blocks ? item.block[i] : item.entry.key[i - blocks];
        theirs = theirs && part == expected(i);
      }
      if (!theirs) continue;
      transients_.push_back(forgotten(forgetting, item));
      transaction_.erase({{family.collection, std::move(item.block)}, forgetting.family, std::move(item.entry.key)});
    }
  }
  return {};
}

Result<CommandRun::Refused> CommandRun::change(const model::Command& command, const model::Change& change,
                                               const design::ChangePlan& plan) {
  environment_.change = changes_++;
  if (broken(Breakage::KeyMadeTwice)) environment_.change = 0;
  environment_.overflowed = false;
  if (plan.target.there()) {
    // The instance's own variable is its key.
    NOAM_ASSIGN_OR_RETURN(const Row target, compute(plan.target, variables_));
    variables_[*change.variable] = target[0];
    environment_.overflowed = false;
  }
  NOAM_ASSIGN_OR_RETURN(const Row inputs, compute(plan.inputs, variables_));
  switch (change.kind) {
    case ChangeKind::Insert:
    case ChangeKind::Put:
      return insert(change, inputs);
    case ChangeKind::Delete:
      if (overflowed(0)) return Refused(overflow_refusal(text(change.target)));
      return remove(change.entity, inputs[0]);
    case ChangeKind::Require:
      if (environment_.overflowed) return Refused(overflow_refusal(text(change.argument)));
      if (broken(Breakage::RequireNotAsked)) return Refused();
      if (!inputs[0].holds())
        return Refused(Refusal{"require", fmt::format("{} does not hold", text(change.argument))});
      return Refused();
    case ChangeKind::For: {
      const Expr& source = command.variables[*change.variable].source;
      if (overflowed(0)) return Refused(overflow_refusal(text(source)));
      if (!inputs[0].is_list()) return Refused();
      const Datum::List items = inputs[0].as_list();
      if (items.size() > longest_loop)
        return Refused(Refusal{"limit", fmt::format("{} has {} elements; a `for` is limited to {}", text(source),
                                                    items.size(), longest_loop)});
      for (const Datum& item : items) {
        variables_[*change.variable] = item;
        for (std::size_t i = 0; i < change.body.size(); ++i) {
          NOAM_ASSIGN_OR_RETURN(Refused refused, this->change(command, change.body[i], plan.body[i]));
          if (refused) return refused;
        }
      }
      return Refused();
    }
    default:
      return update(change, plan, inputs);
  }
}

Result<CommandRun::Refused> CommandRun::check_requirements() {
  for (const auto& [address, aggregate] : aggregates_) {
    if (!aggregate.touched || !aggregate.fields) continue;
    NOAM_ASSIGN_OR_RETURN(Refused refused, check_requirements(address.first, address.second, *aggregate.fields));
    if (refused) return refused;
  }
  return Refused();
}

Result<CommandRun::Refused> CommandRun::check_requirements(model::EntityId id, const Datum& key,
                                                           const Datum::List& fields) {
  const design::EntityPlan& plan = program_.entities[static_cast<std::size_t>(id)];
  if (!plan.require.there() || broken(Breakage::EntityRequireNotAsked)) return Refused();
  Row seed{key};
  seed.insert(seed.end(), fields.begin(), fields.end());
  environment_.overflowed = false;
  NOAM_ASSIGN_OR_RETURN(const Row answers, compute(plan.require, seed));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto condition = [&] { return quoted(model::to_string(model_, model_.entity(id).require[i], {}, {})); };
    if (overflowed(i)) return Refused(overflow_refusal(condition()));
    if (!answers[i].holds())
      return Refused(Refusal{"require", fmt::format("{} would not hold for {}", condition(),
                                                    model::instance_name(model_, id, key))});
  }
  return Refused();
}

Result<CommandRun::Refused> CommandRun::finish() {
  NOAM_ASSIGN_OR_RETURN(Refused refused, check_requirements());
  if (refused) return refused;
  return complete();
}

Result<CommandRun::Refused> CommandRun::complete() {
  NOAM_RETURN_IF_ERROR(settle(true));
  if (transaction_.changed() > max_fanout_)
    return Refused(Refusal{"limit", fmt::format("the command would change {} entries; the limit is {}",
                                                transaction_.changed(), max_fanout_)});
  return Refused();
}

Result<std::optional<Refusal>> CommandRun::run(const model::Command& command, const design::CommandPlan& plan) {
  command_ = &command;
  variables_.assign(command.variables.size(), {});
  for (std::size_t i = 0; i < command.changes.size(); ++i) {
    NOAM_ASSIGN_OR_RETURN(Refused refused, change(command, command.changes[i], plan.changes[i]));
    if (refused) return refused;
  }
  return finish();
}

Result<std::vector<Datum>> CommandRun::find_bulk(const model::Command& command, const design::CommandPlan& plan) {
  (void)command;
  Executor executor(transaction_, program_.design, environment_, Transaction::Moment::Now);
  NOAM_ASSIGN_OR_RETURN(const auto rows, executor.run(*plan.changes[0].find, {Row{}}));
  std::vector<Datum> keys;
  for (const Row& row : rows[0]) keys.push_back(row[0]);
  return keys;
}

Result<std::optional<Refusal>> CommandRun::run_bulk(const model::Command& command, const design::CommandPlan& plan,
                                                    const Datum& key, bool& applied) {
  applied = false;
  const model::Change& change = command.changes[0];
  command_ = &command;
  variables_.assign(command.variables.size(), {});
  variables_[*change.variable] = key;
  NOAM_ASSIGN_OR_RETURN(const Aggregate* found, load(change.entity, key));
  if (!found->fields) return Refused();
  if (plan.changes[0].where.there() && !broken(Breakage::BulkNotAskedAgain)) {
    NOAM_ASSIGN_OR_RETURN(const Row answer, compute(plan.changes[0].where, variables_));
    if (overflowed(0) || !answer[0].holds()) return Refused();
  }
  environment_.overflowed = false;
  if (change.kind == ChangeKind::DeleteWhere) {
    NOAM_ASSIGN_OR_RETURN(Refused refused, remove(change.entity, key));
    if (refused) return refused;
  } else {
    NOAM_ASSIGN_OR_RETURN(const Row inputs, compute(plan.changes[0].inputs, variables_));
    NOAM_ASSIGN_OR_RETURN(Refused refused, update(change, plan.changes[0], inputs));
    if (refused) return refused;
  }
  NOAM_ASSIGN_OR_RETURN(Refused refused, finish());
  applied = !refused;
  return refused;
}

Result<bool> CommandRun::expire(model::EntityId entity, const Datum& key, std::int64_t now) {
  NOAM_ASSIGN_OR_RETURN(const Aggregate* found, load(entity, key));
  const bool asked = !broken(Breakage::ExpiresUnasked);
  if (!found->fields || found->due.absent() || (found->due.as_int() > now && asked)) return false;
  NOAM_ASSIGN_OR_RETURN(const Refused refused, remove(entity, key));
  check(!refused, "what is due can go");
  NOAM_RETURN_IF_ERROR(settle());
  return true;
}

Result<void> CommandRun::refresh(std::uint32_t query, std::int64_t now, const std::vector<Row>& rows) {
  std::optional<std::uint32_t> head;
  std::optional<std::uint32_t> held;
  for (std::uint32_t i = 0; i < program_.design.families.size(); ++i) {
    const design::Family& family = program_.design.families[i];
    if (family.purpose != design::Purpose::Refreshed || family.members_of != query) continue;
    (family.key.empty() ? head : held) = i;
  }
  const std::uint32_t collection = program_.design.families[*head].collection;
  const stores::BlockRef block{collection, own_block()};
  const auto block_of = [&](const Datum& time) {
    return stores::BlockRef{collection, refreshed_block(transaction_.capabilities(), time)};
  };
  RefreshChange change;
  change.query = query;
  stores::ReadRequest request;
  request.block = block;
  request.family = *head;
  stores::Answers answers;
  NOAM_RETURN_IF_ERROR(transaction_.read({&request, 1}, Transaction::Moment::Now, answers));
  Datum last;
  Datum::List times;
  if (!answers[0].entries.empty()) {
    last = answers[0].entries[0].columns[0];
    times = answers[0].entries[0].columns[1].as_list();
  }
  const auto read_rows = [&](const Datum& time) -> Result<std::vector<Row>> {
    stores::ReadRequest of;
    of.block = block_of(time);
    of.family = *held;
    of.from.parts = {time};
    of.to.parts = {time};
    stores::Answers found;
    NOAM_RETURN_IF_ERROR(transaction_.read({&of, 1}, Transaction::Moment::Now, found));
    std::vector<Row> out;
    for (stores::Entry& entry : found[0].entries) {
      Row row = entry.key;
      row.insert(row.end(), entry.columns.begin(), entry.columns.end());
      out.push_back(std::move(row));
    }
    return out;
  };
  const auto forget = [&](const Datum& time) -> Result<void> {
    NOAM_ASSIGN_OR_RETURN(const auto old, read_rows(time));
    for (const Row& row : old) {
      transaction_.erase({block_of(row[0]), *held, {row[0], row[1]}});
      change.removed.push_back(row);
    }
    return {};
  };
  // The last refresh is the one with the latest time, also where a clock was set back.
  const bool is_last = last.absent() || !(Datum(now) < last);
  if (!last.absent() && is_last) {
    NOAM_ASSIGN_OR_RETURN(change.last_removed, read_rows(last));
  }
  // A refresh of the same moment replaces the one before.
  const auto same = std::find(times.begin(), times.end(), Datum(now));
  if (same != times.end()) {
    NOAM_RETURN_IF_ERROR(forget(*same));
    times.erase(same);
  }
  times.emplace_back(now);
  std::sort(times.begin(), times.end());
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(model_.queries[query].refresh->keep, 1));
  while (times.size() > keep + (broken(Breakage::RefreshKeepsOneMore) ? 1 : 0)) {
    NOAM_RETURN_IF_ERROR(forget(times.front()));
    times.erase(times.begin());
  }
  const bool is_kept = std::find(times.begin(), times.end(), Datum(now)) != times.end();
  for (std::size_t i = 0; is_kept && i < rows.size(); ++i) {
    Row row{Datum(now), Datum(static_cast<std::int64_t>(i))};
    transaction_.put({block_of(row[0]), *held, row}, rows[i]);
    row.insert(row.end(), rows[i].begin(), rows[i].end());
    if (is_last) change.last_added.push_back(row);
    change.added.push_back(std::move(row));
  }
  const Datum latest = times.back();
  transaction_.put({block, *head, {}}, {latest, Datum(std::move(times))});
  refreshes_.push_back(std::move(change));
  return settle();
}

}  // namespace noam::runtime
