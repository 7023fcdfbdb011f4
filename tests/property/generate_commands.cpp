#include <algorithm>

#include <fmt/format.h>

#include "tests/property/generate_internal.h"

// What the application does.
namespace noam::tests::property {

namespace {

Fragment plain(std::string text) {
  Fragment out;
  out.before = std::move(text);
  return out;
}

Type element_of(const Type& type) { return type.element(); }

}  // namespace

void Generator::note_change(std::size_t entity, const std::string& field) {
  for (FieldPlan& one : entities_[entity].fields)
    if (field.empty() || one.name == field) one.changed = true;
}

void Generator::add_command(StatementPlan statement, std::vector<Change> changes) {
  Command command;
  command.name = statement.name;
  command.changes = std::move(changes);
  Case alone;
  alone.commands.push_back(command);
  const std::string body = text(alone);
  std::erase_if(statement.parameters, [&](const ParameterPlan& one) { return !mentions(body, one.name); });
  command.parameters = parameters_of(statement);
  out_.commands.push_back(std::move(command));
  commands_.push_back(std::move(statement));
}

// What is stored in a field: mostly a parameter.
Fragment Generator::stored(StatementPlan& statement, const FieldPlan& field, const EntityPlan* own) {
  const Type& type = field.type;
  const auto own_fields = [&] {
    std::vector<std::string> out;
    if (own == nullptr) return out;
    for (const FieldPlan& other : own->fields)
      if (other.type.kind == type.kind && other.type.id == type.id && other.type.names == type.names &&
          !type.is_collection())
        out.push_back(other.name);
    return out;
  };
  if (type.optional && random_.chance(10)) return plain("absent");
  switch (random_.weighted({own == nullptr ? 75U : 45U, 10,
                            own == nullptr     ? 0U
                            : type.is_number() ? (overflow_ ? 150U : 50U)
                                               : 25U,
                            8, statement.populates && !type.optional ? 0U : 6U})) {
    case 0: {
      const std::size_t before = statement.parameters.size();
      const std::string given = parameter(statement, type);
      if (statement.parameters.size() > before) {
        statement.parameters.back().type.optional |= type.optional;
        statement.parameters.back().owner = field.owner;
      }
      return plain(given);
    }
    case 1: {
      if (type.is_collection() && random_.chance(40)) return plain("{}");
      const bool references = type.kind == TypeKind::Reference || (type.is_collection() && !has_literal(type));
      if (references || type.kind == TypeKind::Value) return plain(parameter(statement, type));
      return plain(sample(type, true).literal);
    }
    case 2: {
      if (type.is_number()) {
        const std::string self = type.optional ? fmt::format("({} ?? {})", field.name, "0") : field.name;
        static const std::vector<const char*> signs = {"+", "-", "*"};
        if (random_.chance(25))
          return plain(fmt::format("{}({}, {})", random_.chance(50) ? "greatest" : "least", field.name,
                                   operand(&statement, type)));
        const std::string right = operand(&statement, type);
        return plain(
            fmt::format("{} {} {}", self, random_.pick(signs), right.starts_with("-") ? "(" + right + ")" : right));
      }
      if (type.kind == TypeKind::Bool) return plain("not " + field.name);
      if (type.kind == TypeKind::Timestamp && random_.chance(60))
        return plain(field.name + (random_.chance(50) ? " + 1 day" : " - 90 minutes"));
      const auto others = own_fields();
      return plain(others.empty() ? parameter(statement, type) : random_.pick(others));
    }
    case 3:
      if (type.kind == TypeKind::Timestamp) return plain(random_.chance(50) ? "now()" : "now() + 1 hour");
      if (type.kind == TypeKind::Uuid) return plain("uuid()");
      if (type.kind == TypeKind::Text && type.max_length == 0) return plain("random_text(2)");
      return plain(parameter(statement, type));
    default: {
      // From another instance; absent where it is not there.
      std::vector<std::pair<std::size_t, std::string>> found;
      for (std::size_t i = 0; i < entities_.size(); ++i) {
        if (entities_[i].transient) continue;
        for (const FieldPlan& other : entities_[i].fields)
          if (other.type.kind == type.kind && other.type.id == type.id && other.type.names == type.names &&
              other.type.arguments == type.arguments && !other.key)
            found.emplace_back(i, other.name);
      }
      if (found.empty()) return plain(parameter(statement, type));
      const auto& [entity, other] = random_.pick(found);
      if (type.kind == TypeKind::Int && with("nested") && random_.chance(40)) {
        Fragment out;
        Select select;
        const std::string variable = name("v");
        select.from.push_back({entities_[entity].name, variable});
        select.columns.push_back(
            {plain(random_.chance(50) ? "count(*)" : fmt::format("count({}.{})", variable, other)), name("c")});
        if (entities_[entity].fields.empty()) return plain(parameter(statement, type));
        out.select.push_back(std::move(select));
        return out;
      }
      return plain(fmt::format("{}.{}", instance(statement, entity), other));
    }
  }
}

Change Generator::insert(StatementPlan& statement, std::size_t index, bool put,
                         const std::map<std::size_t, std::string>& references) {
  const EntityPlan& entity = entities_[index];
  Change change;
  change.head = (put ? "put " : "insert ") + entity.name;
  TuplePlan made;
  made.entity = index;
  made.made = true;
  std::vector<std::size_t> later;  // assignments that are no part of the key
  for (const FieldPlan& field : entity.fields) {
    if (field.automatic && !put) continue;
    const bool may_lack = field.has_default || field.type.optional || field.type.is_collection();
    if (may_lack && !field.key && random_.chance(35)) continue;
    Assignment assignment;
    assignment.target = field.name;
    const auto bound = field.type.kind == TypeKind::Reference ? references.find(field.type.id) : references.end();
    if (bound != references.end() && random_.chance(75)) {
      assignment.value = plain(bound->second);
      if (field.key) made.parameters.emplace_back();
    } else if (field.key && !put && field.type.kind == TypeKind::Text && random_.chance(6)) {
      assignment.value = plain(fmt::format("random_text({})", random_.between(1, 3)));
      made.parameters.emplace_back();
    } else if (field.key && !put && field.type.kind == TypeKind::Uuid && random_.chance(15)) {
      assignment.value = plain("uuid()");
      made.parameters.emplace_back();
    } else if (field.key) {
      ParameterPlan key;
      key.name = name("p");
      key.type = field.type;
      key.tuple = statement.tuples.size() + 1;
      key.fresh = !put;
      made.parameters.push_back(key.name);
      assignment.value = plain("$" + key.name);
      statement.parameters.push_back(std::move(key));
    } else {
      later.push_back(change.assignments.size());
    }
    change.assignments.push_back(std::move(assignment));
  }
  statement.tuples.push_back(std::move(made));
  for (const std::size_t at : later) {
    const auto field = std::find_if(entity.fields.begin(), entity.fields.end(),
                                    [&](const FieldPlan& one) { return one.name == change.assignments[at].target; });
    change.assignments[at].value = stored(statement, *field, nullptr);
  }
  if (put) note_change(index, "");
  return change;
}

Change Generator::update(StatementPlan& statement, std::size_t index, const std::string& head) {
  const EntityPlan entity = entities_[index];
  Change change;
  change.head = head;
  std::vector<const FieldPlan*> fields;
  for (const FieldPlan& field : entity.fields)
    if (!field.key) fields.push_back(&field);
  random_.shuffle(fields);
  const std::size_t count = std::min<std::size_t>(fields.size(), random_.weighted({0, 60, 30, 10}));
  const auto position = [&] {
    if (random_.chance(50)) return std::string(random_.chance(60) ? "0" : "-1");
    ParameterPlan made;
    made.name = name("p");
    made.type = model::scalar(TypeKind::Int);
    made.position = true;
    statement.parameters.push_back(made);
    return "$" + made.name;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const FieldPlan& field = *fields[i];
    FieldPlan at = field;  // the place that is assigned to
    const auto inner = [&] {
      if (at.type.kind != TypeKind::Value || random_.chance(40)) return;
      const FieldPlan& member = random_.pick(values_[at.type.id].fields);
      at.name += "." + member.name;
      at.type = member.type;
    };
    if (field.type.kind == TypeKind::List && random_.chance(50)) {
      at.name += "[" + position() + "]";
      at.type = element_of(field.type);
      inner();
    } else if (field.type.kind == TypeKind::Map && random_.chance(60)) {
      at.name += "[" + operand(&statement, field.type.arguments[0]) + "]";
      at.type = element_of(field.type);
      inner();
    } else {
      inner();
    }
    Assignment assignment;
    assignment.target = at.name;
    assignment.value = stored(statement, at, at.name == field.name ? &entity : nullptr);
    change.assignments.push_back(std::move(assignment));
    note_change(index, field.name);
  }
  return change;
}

std::optional<Change> Generator::collection_change(StatementPlan& statement, std::size_t index,
                                                   const std::string& head) {
  const EntityPlan& entity = entities_[index];
  std::vector<std::pair<std::string, Type>> collections;
  for (const FieldPlan& field : entity.fields) {
    if (field.type.is_collection()) collections.emplace_back(field.name, field.type);
    if (field.type.kind != TypeKind::Value) continue;
    for (const FieldPlan& inner : values_[field.type.id].fields)
      if (inner.type.is_collection()) collections.emplace_back(field.name + "." + inner.name, inner.type);
  }
  if (collections.empty()) return std::nullopt;
  const std::pair<std::string, Type>& chosen = random_.pick(collections);
  const Type& type = chosen.second;
  const std::string path = head + "." + chosen.first;
  Change change;
  const auto one = [&](const Type& of) {
    if (has_literal(of) && of.kind != TypeKind::Reference && random_.chance(15)) return sample(of, true).literal;
    if (of.kind == TypeKind::Value && random_.chance(30)) {
      const bool plain_value = std::none_of(values_[of.id].fields.begin(), values_[of.id].fields.end(),
                                            [&](const FieldPlan& member) { return !has_literal(member.type); });
      if (plain_value) return sample(of, true).literal;
    }
    return parameter(statement, of);
  };
  const auto several = [&](const Type& of) { return parameter(statement, model::collection_of(TypeKind::List, of)); };
  const auto remove_where = [&] {
    VariablePlan variable;
    variable.name = name("v");
    variable.kind = VariableKind::Element;
    variable.type = type.element();
    variable.collection = type.kind;
    if (type.kind == TypeKind::Map) variable.map_key = type.arguments[0];
    change.head = fmt::format("remove {} from {} {}", variable.name, path, variable.name);
    change.where.push_back(condition(&statement, {variable}, nullptr, 0));
  };
  const Type element = type.element();
  switch (type.kind) {
    case TypeKind::List:
      switch (random_.weighted({45, 12, comparable(element) ? 12U : 0U, comparable(element) ? 5U : 0U, 14, 12})) {
        case 0:
          change.head = fmt::format("append {} to {}", one(element), path);
          break;
        case 1:
          change.head = fmt::format("append all {} to {}", several(element), path);
          break;
        case 2:
          change.head = fmt::format("remove {} from {}", one(element), path);
          break;
        case 3:
          change.head = fmt::format("remove all {} from {}", several(element), path);
          break;
        case 4: {
          ParameterPlan made;
          made.name = name("p");
          made.type = model::scalar(TypeKind::Int);
          made.position = true;
          const bool literal_position = random_.chance(40);
          if (!literal_position) statement.parameters.push_back(made);
          change.head = fmt::format("remove {}[{}]", path, literal_position ? "0" : "$" + made.name);
          break;
        }
        default:
          remove_where();
          break;
      }
      break;
    case TypeKind::Set:
      switch (random_.weighted({45, 15, 18, 10, 12})) {
        case 0:
          change.head = fmt::format("add {} to {}", one(element), path);
          break;
        case 1:
          change.head = fmt::format("add all {} to {}", several(element), path);
          break;
        case 2:
          change.head = fmt::format("remove {} from {}", one(element), path);
          break;
        case 3:
          change.head = fmt::format("remove all {} from {}", several(element), path);
          break;
        default:
          remove_where();
          break;
      }
      break;
    default:
      switch (random_.weighted({55, 25, 20})) {
        case 0: {
          const std::string key = one(type.arguments[0]);
          change.head = fmt::format("put {}: {} into {}", key, one(element), path);
          break;
        }
        case 1: {
          std::string key = one(type.arguments[0]);
          if (key.starts_with("-")) key = "0 + " + key;  // `key -1` is read as a difference
          change.head = fmt::format("remove key {} from {}", key, path);
          break;
        }
        default:
          remove_where();
          break;
      }
      break;
  }
  return change;
}

// A condition of the command. Only one comparison in it may fail by itself (overflow), so none is joined by `and`.
Change Generator::requirement(StatementPlan& statement) {
  Change change;
  change.head = "require";
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < entities_.size(); ++i)
    if (!entities_[i].transient) candidates.push_back(i);
  const std::size_t entity = random_.pick(candidates);
  if (with("nested") && random_.chance(50)) {
    Fragment out;
    Select select;
    VariablePlan variable;
    variable.name = name("v");
    variable.type = model::reference(static_cast<model::EntityId>(entity));
    const std::string what = random_.chance(60) ? instance(statement, entity) : entities_[entity].name;
    if (what.find('[') != std::string::npos) variable.kind = VariableKind::Instance;
    Scope scope = {variable};
    select.from.push_back({what, variable.name});
    if (random_.chance(40))
      if (auto source = next_source(scope, false)) select.from.push_back(std::move(*source));
    if (random_.chance(50)) select.where.push_back(condition(&statement, scope, nullptr, 0));
    select.columns.push_back({plain("count(*)"), name("c")});
    out.select.push_back(std::move(select));
    static const std::vector<const char*> signs = {"<= 2", "<= 3", ">= 1", "= 0", "< 3"};
    out.after = " " + std::string(random_.pick(signs));
    change.where.push_back(std::move(out));
    return change;
  }
  const std::string target = instance(statement, entity);
  std::vector<const FieldPlan*> fields;
  for (const FieldPlan& field : entities_[entity].fields)
    if (comparable(field.type) || field.type.is_collection()) fields.push_back(&field);
  if (fields.empty()) {
    change.where.push_back(plain(fmt::format("{} = {}", target, target)));
    return change;
  }
  const FieldPlan& field = *random_.pick(fields);
  const std::string path = target + "." + field.name;
  if (field.type.is_collection()) {
    change.where.push_back(plain(fmt::format("count({}) <= {}", path, random_.between(1, 3))));
  } else if (random_.chance(30)) {
    change.where.push_back(plain(fmt::format("{} is {}absent", path, random_.chance(50) ? "not " : "")));
  } else if (ordered(field.type) && has_literal(field.type) && random_.chance(70)) {
    change.where.push_back(plain(fmt::format("not {} < {}", path, literal(field.type))));
  } else {
    change.where.push_back(plain(fmt::format("{} = {}", path, parameter(statement, field.type))));
  }
  return change;
}

void Generator::make_bulk(std::size_t index) {
  StatementPlan statement;
  statement.name = name("c");
  VariablePlan variable;
  variable.name = name("v");
  variable.type = model::reference(static_cast<model::EntityId>(index));
  // Own fields only.
  std::vector<Path> own = only(paths({variable}, 1), [&](const Path& path) {
    return path.own && !path.way_back && !path.is_variable && comparable(path.type);
  });
  if (own.empty()) return;
  const bool update_them = random_.chance(50);
  Change change;
  if (update_them) {
    change = update(statement, index, fmt::format("update {} {}", entities_[index].name, variable.name));
    if (change.assignments.empty()) return;
  } else {
    change.head = fmt::format("delete {} {}", entities_[index].name, variable.name);
    if (random_.chance(50)) {
      change.tail = fmt::format("limit {}", random_.between(1, 2));
      if (random_.chance(30)) {
        ParameterPlan made;
        made.name = name("p");
        made.type = model::scalar(TypeKind::Int);
        made.bound = true;
        change.tail = "limit $" + made.name;
        statement.parameters.push_back(std::move(made));
      }
    }
  }
  change.where.push_back(plain(simple_condition(&statement, random_.pick(own), nullptr)));
  if (random_.chance(30)) change.where.push_back(plain(simple_condition(&statement, random_.pick(own), nullptr)));
  statement.weight = update_them ? 3 : 1;
  add_command(std::move(statement), {std::move(change)});
}

// Over values: each is put into a list, or a part of it into a field.
bool Generator::make_loop_of_values() {
  struct Place {
    std::size_t entity;
    std::size_t value;
    std::string target;
    std::string read;  // of the loop's variable
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (entities_[i].transient) continue;
    for (const FieldPlan& field : entities_[i].fields) {
      if (field.key) continue;
      if (field.type.kind == TypeKind::List && field.type.element().kind == TypeKind::Value)
        places.push_back({i, field.type.element().id, field.name, ""});
      for (std::size_t v = 0; v < values_.size(); ++v)
        for (const FieldPlan& member : values_[v].fields)
          if (member.type.kind == field.type.kind && member.type.id == field.type.id &&
              member.type.names == field.type.names && member.type.arguments == field.type.arguments)
            places.push_back({i, v, field.name, "." + member.name});
    }
  }
  if (places.empty()) return false;
  const Place& place = random_.pick(places);
  StatementPlan statement;
  statement.name = name("c");
  const std::string each = name("x");
  ParameterPlan many;
  many.name = name("p");
  Type value = model::scalar(TypeKind::Value);
  value.id = static_cast<std::uint32_t>(place.value);
  many.type = model::collection_of(TypeKind::List, value);
  many.declared = type_text(many.type);
  statement.parameters.push_back(many);
  Change loop;
  loop.head = fmt::format("for ${} in ${}", each, many.name);
  // A member of the value may be the key.
  std::vector<std::string> keys;
  for (const FieldPlan& member : values_[place.value].fields)
    if (member.type.kind == TypeKind::Reference && member.type.id == place.entity &&
        entities_[place.entity].key.size() <= 1)
      keys.push_back(member.name);
  const std::string target = keys.empty() || random_.chance(40)
                                 ? instance(statement, place.entity)
                                 : fmt::format("{}[${}.{}]", entities_[place.entity].name, each, random_.pick(keys));
  Change change;
  if (place.read.empty()) {
    change.head = fmt::format("append ${} to {}.{}", each, target, place.target);
  } else {
    change.head = "update " + target;
    change.assignments.push_back({place.target, plain("$" + each + place.read)});
    note_change(place.entity, place.target);
  }
  change.then = random_.chance(30);
  loop.body.push_back(std::move(change));
  if (random_.chance(25)) loop.body.push_back(requirement(statement));
  statement.weight = 3;
  add_command(std::move(statement), {std::move(loop)});
  return true;
}

void Generator::make_loop() {
  if (random_.chance(35) && make_loop_of_values()) return;
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < entities_.size(); ++i)
    if (!entities_[i].transient && entities_[i].key.size() <= 1) candidates.push_back(i);
  if (candidates.empty()) return;
  const std::size_t index = random_.pick(candidates);
  StatementPlan statement;
  statement.name = name("c");
  const std::string each = name("x");
  ParameterPlan many;
  many.name = name("p");
  const Type reference = model::reference(static_cast<model::EntityId>(index));
  many.type = model::collection_of(random_.chance(50) ? TypeKind::List : TypeKind::Set, reference);
  many.declared = type_text(many.type);
  statement.parameters.push_back(many);
  Change loop;
  loop.head = fmt::format("for ${} in ${}", each, many.name);
  const std::string target = fmt::format("{}[${}]", entities_[index].name, each);
  const std::size_t count = random_.between(1, 2);
  for (std::size_t i = 0; i < count; ++i) {
    Change change;
    const std::size_t kind = random_.weighted({40, 30, 15, entities_[index].made_key() ? 0U : 15U});
    if (kind == 0) {
      change = update(statement, index, "update " + target);
      if (change.assignments.empty()) change.head = "delete " + target;
    } else if (kind == 1) {
      auto made = collection_change(statement, index, target);
      if (made)
        change = std::move(*made);
      else
        change.head = "delete " + target;
    } else if (kind == 2) {
      change.head = "delete " + target;
    } else {
      change = insert(statement, index, true);
      for (Assignment& assignment : change.assignments)
        if (assignment.target == entities_[index].fields[entities_[index].key[0]].name)
          assignment.value = plain("$" + each);
    }
    if (!change.head.starts_with("put ") && random_.chance(40)) change.then = true;
    loop.body.push_back(std::move(change));
  }
  statement.weight = 3;
  add_command(std::move(statement), {std::move(loop)});
}

// Several changes, with conditions between, on instances that were just made.
void Generator::make_several() {
  StatementPlan statement;
  statement.name = name("c");
  std::vector<Change> changes;
  std::map<std::size_t, std::string> made;  // what was inserted, by entity
  const std::size_t count = random_.between(2, 4);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = random_.below(entities_.size());
    const EntityPlan& entity = entities_[index];
    const auto bound = made.find(index);
    const std::string target =
        entity.transient ? ""
                         : (bound != made.end() && random_.chance(60) ? bound->second : instance(statement, index));
    Change change;
    switch (entity.transient ? 1 : random_.weighted({18, 25, 25, 20, 8, 4})) {
      case 0:
        change = requirement(statement);
        break;
      case 1:
        change = insert(statement, index, false, made);
        if (random_.chance(60) && !entity.transient && !made.contains(index)) {
          const std::string variable = name("v");
          change.tail = "as " + variable;
          made[index] = variable;
        }
        break;
      case 2:
        change = update(statement, index, "update " + target);
        if (change.assignments.empty()) change.head = "delete " + target;
        change.then = random_.chance(40);
        break;
      case 3: {
        auto changed = collection_change(statement, index, target);
        if (changed)
          change = std::move(*changed);
        else
          change = requirement(statement);
        change.then = change.head != "require" && random_.chance(40);
        break;
      }
      case 4:
        change.head = "delete " + target;
        change.then = random_.chance(30);
        break;
      default:
        if (entity.hidden_key)
          change = requirement(statement);
        else
          change = insert(statement, index, true, made);
        break;
    }
    changes.push_back(std::move(change));
  }
  statement.weight = 4;
  add_command(std::move(statement), std::move(changes));
}

void Generator::make_commands() {
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    const bool transient = entities_[i].transient;
    const std::size_t inserts = random_.weighted({0, 75, 25});
    for (std::size_t n = 0; n < inserts; ++n) {
      StatementPlan statement;
      statement.name = name("c");
      statement.populates = true;
      statement.entity = i;
      statement.weight = 5;
      Change change = insert(statement, i, false);
      add_command(std::move(statement), {std::move(change)});
    }
    if (transient) continue;
    const auto one_change = [&](unsigned weight, const std::function<std::optional<Change>(StatementPlan&)>& make) {
      StatementPlan statement;
      statement.name = name("c");
      statement.weight = weight;
      auto change = make(statement);
      if (change) add_command(std::move(statement), {std::move(*change)});
    };
    if (!entities_[i].hidden_key && random_.chance(25))
      one_change(3, [&](StatementPlan& statement) { return insert(statement, i, true); });
    const std::size_t updates = random_.weighted({25, 50, 25});
    for (std::size_t n = 0; n < updates; ++n)
      one_change(5, [&](StatementPlan& statement) -> std::optional<Change> {
        Change change = update(statement, i, "update " + instance(statement, i));
        change.then = random_.chance(15);
        if (change.assignments.empty()) return std::nullopt;
        return change;
      });
    if (random_.chance(70))
      one_change(3, [&](StatementPlan& statement) -> std::optional<Change> {
        Change change;
        change.head = "delete " + instance(statement, i);
        statement.tuples.back().gone = true;
        return change;
      });
    const std::size_t collections = random_.between(1, 3);
    for (std::size_t n = 0; n < collections; ++n)
      one_change(6, [&](StatementPlan& statement) {
        auto change = collection_change(statement, i, instance(statement, i));
        if (change) change->then = random_.chance(15);
        return change;
      });
    if (with("bulk") && random_.chance(25)) make_bulk(i);
  }
  if (with("loops") && random_.chance(30)) make_loop();
  const std::size_t several = random_.weighted({35, 40, 25});
  for (std::size_t i = 0; i < several; ++i) make_several();
}

}  // namespace noam::tests::property
