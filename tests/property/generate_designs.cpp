#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "tests/property/generate_internal.h"

// Designs by hand: where the base lies, and copies, some of them made to serve a query.
namespace noam::tests::property {

namespace {

Cell plain_cell(std::string text) {
  Cell out;
  out.text = std::move(text);
  return out;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// `v1.back2`: one step from a variable.
bool is_direct(const std::string& source) { return std::count(source.begin(), source.end(), '.') == 1; }

// The expression of an order term, without its direction.
std::string without_direction(const std::string& term) {
  for (const char* word : {" asc", " desc"})
    if (term.ends_with(word)) return term.substr(0, term.size() - std::string(word).size());
  return term;
}

}  // namespace

std::string Generator::part(const std::string& expr, bool direction) {
  std::string out = expr;
  if (direction) out += this->direction();
  return out + " as " + name("n");
}

std::vector<std::string> Generator::all_keys(const Scope& scope) const {
  std::vector<std::string> out;
  for (const VariablePlan& variable : scope)
    for (std::string& key : key_of(variable))
      if (!contains(out, key)) out.push_back(std::move(key));
  return out;
}

// The owners of transient instances: what is kept of them goes with any of these, and so has all in its key.
std::vector<std::string> Generator::owners_of(const Scope& scope) const {
  std::vector<std::string> out;
  for (const VariablePlan& variable : scope) {
    if (!variable.transient) continue;
    for (const FieldPlan& field : entities_[variable.type.id].fields)
      if (field.owner) out.push_back(variable.name + "." + field.name);
  }
  return out;
}

// Something that a block or an entry may be found by.
std::string Generator::key_part(const Scope& scope, bool block) {
  const bool transient =
      std::any_of(scope.begin(), scope.end(), [](const VariablePlan& variable) { return variable.transient; });
  // What is kept of events has them alone in its key.
  const std::vector<Path> all = only(paths(scope), [&](const Path& path) {
    return path.of_transient ? path.own && !path.indexed && !path.is_variable : !transient;
  });
  const auto fields = only(all, [&](const Path& path) { return ordered(path.type); });
  const auto times = only(fields, [](const Path& path) {
    return path.type.kind == TypeKind::Timestamp || path.type.kind == TypeKind::Date;
  });
  const auto many = only(all, [](const Path& path) { return path.type.is_collection() && !path.of_transient; });
  if (fields.empty()) return "\"all\"";
  switch (random_.weighted(
      {60, times.empty() ? 0U : 15U, block ? 12U : 3U, !transient && block ? 8U : 0U, many.empty() ? 0U : 8U})) {
    case 0:
      return random_.pick(fields).text;
    case 1: {
      static const std::vector<const char*> functions = {"day", "week", "month", "year"};
      return fmt::format("{}({})", random_.pick(functions), random_.pick(times).text);
    }
    case 2:
      return random_.chance(50) ? "\"all\"" : "1";
    case 3:
      return fmt::format("shard({}, {})", random_.pick(fields).text, random_.between(2, 4));
    default:
      return fmt::format("count({})", random_.pick(many).text);
  }
}

std::vector<Cell> Generator::cells(const Scope& scope, bool nest) {
  const std::vector<Path> all =
      only(paths(scope), [](const Path& path) { return !path.of_transient && !path.is_variable; });
  const auto fields = only(all, [](const Path& path) { return !path.way_back; });
  const auto many = only(all, [](const Path& path) { return path.type.is_collection(); });
  const auto bound = only(many, [](const Path& path) { return !path.to_transient; });
  std::vector<Cell> out;
  const std::size_t count = random_.between(1, 3);
  for (std::size_t i = 0; i < count; ++i) {
    switch (random_.weighted(
        {fields.empty() ? 0U : 60U, many.empty() ? 0U : 12U, nest ? 8U : 0U, nest && !bound.empty() ? 12U : 0U, 1})) {
      case 0:
        out.push_back(plain_cell(random_.pick(fields).text + " as " + name("n")));
        break;
      case 1:
        out.push_back(plain_cell(fmt::format("count({}) as {}", random_.pick(many).text, name("n"))));
        break;
      case 2: {
        Cell cell;
        cell.text = name("n");
        cell.open = '{';
        cell.cells = cells(scope, false);
        out.push_back(std::move(cell));
        break;
      }
      case 3: {
        Cell cell;
        cell.text = name("n");
        cell.open = '[';
        const Path& path = random_.pick(bound);
        VariablePlan variable;
        variable.name = name("v");
        variable.kind = VariableKind::Element;
        variable.type = path.type.element();
        variable.collection = path.way_back ? TypeKind::Set : path.type.kind;
        if (path.type.kind == TypeKind::Map) variable.map_key = path.type.arguments[0];
        cell.from.push_back({path.text, variable.name});
        cell.cells = cells({variable}, false);
        const auto sortable = only(paths({variable}, 1), [&](const Path& field) { return ordered(field.type); });
        if (!sortable.empty() && random_.chance(50)) cell.order_by.push_back(random_.pick(sortable).text + direction());
        if (random_.chance(40)) cell.limit = std::to_string(random_.between(1, 3));
        out.push_back(std::move(cell));
        break;
      }
      default: {
        const VariablePlan& variable = random_.pick(scope);
        if (variable.type.kind == TypeKind::Row)
          out.push_back(plain_cell(fmt::format("{}.refreshed as {}", variable.name, name("n"))));
        else
          out.push_back(plain_cell(fmt::format("{} as {}", variable.name, name("n"))));
        break;
      }
    }
  }
  return out;
}

// A copy over the sources; some of its own where asked for.
Family Generator::copy(Scope scope, bool own_sources, bool by_determines) {
  Family family;
  family.copy = true;
  const bool may_be_transient = entities_.back().transient;
  if (own_sources) {
    const std::size_t more = random_.weighted({25, 55, 20});
    for (std::size_t i = 0; i < more && !scope.back().transient; ++i)
      if (auto source = next_source(scope, may_be_transient && by_determines && i == 0 && scope.size() == 1)) {
        if (scope.back().transient && !is_direct(source->what))
          scope.pop_back();
        else
          family.from.push_back(std::move(*source));
      }
  }
  if (random_.chance(30) || own_sources) family.path = random_.chance(60) ? name("n") : "";
  const bool transient =
      std::any_of(scope.begin(), scope.end(), [](const VariablePlan& variable) { return variable.transient; });
  const bool folds = transient || random_.chance(35);
  Scope folded = scope;
  if (transient) std::erase_if(folded, [](const VariablePlan& variable) { return !variable.transient; });
  const auto add_key = [&](const std::string& expr) {
    for (const std::string& one : family.key)
      if (one.starts_with(expr + " ")) return;
    family.key.push_back(part(expr, true));
  };
  const std::size_t extra = random_.weighted({40, 40, 20});
  for (std::size_t i = 0; i < extra; ++i) add_key(key_part(scope, false));
  for (const std::string& owner : owners_of(scope)) add_key(owner);
  if (folds) {
    const std::size_t count = random_.weighted({transient ? 30U : 10U, 60, 30});
    for (std::size_t i = 0; i < count; ++i) {
      Type type;
      const std::string made = fold(folded, type);
      if (made.starts_with("avg(") || (made.starts_with("sum(") && type.kind == TypeKind::Float)) continue;
      family.cells.push_back(plain_cell(made + " as " + name("n")));
    }
    if (family.cells.empty() && family.key.empty()) add_key(key_part(scope, false));
  } else if (random_.chance(12) && !scope.empty() && scope.front().type.kind != TypeKind::Unknown) {
    // The rows that share the keys, as a list.
    Cell cell;
    cell.text = name("n");
    cell.open = '[';
    cell.cells = cells(scope, false);
    const auto sortable = only(paths(scope, 1), [&](const Path& field) { return ordered(field.type); });
    if (!sortable.empty() && random_.chance(60)) cell.order_by.push_back(random_.pick(sortable).text + direction());
    if (random_.chance(30)) cell.limit = std::to_string(random_.between(1, 3));
    family.cells.push_back(std::move(cell));
  } else {
    std::size_t first = 0;
    if (by_determines && random_.chance(50)) first = 1;  // the block's key has it
    for (std::size_t i = first; i < scope.size(); ++i)
      for (const std::string& key : key_of(scope[i])) add_key(key);
    if (!random_.chance(15)) family.cells = cells(scope, true);
    if (family.cells.empty() && family.key.empty()) add_key(key_part(scope, false));
  }
  if (random_.chance(20) && !transient) {
    const std::string made = text(condition(nullptr, scope, nullptr, 1));
    if (made != "true" && made.find("now(") == std::string::npos) family.where.push_back(made);
  }
  if (!family.key.empty() && !transient && random_.chance(15)) family.limit = std::to_string(random_.between(1, 4));
  return family;
}

// With the values that one of its folds is made of, now and then, as a copy of their own.
void Generator::add_copy(Family family, Collection& collection) {
  std::optional<Family> members;
  for (const Cell& cell : family.cells) {
    for (const std::string_view fold : {"count(distinct ", "min(", "max("}) {
      const std::size_t end = cell.text.rfind(") as ");
      if (members || !cell.text.starts_with(fold) || end == std::string::npos || !random_.chance(40)) continue;
      members = family;
      members->path = name("n");
      members->limit.clear();
      members->key.push_back(cell.text.substr(fold.size(), end - fold.size()) +
                             (random_.chance(10) ? " desc as " : " as ") + name("n"));
      members->cells.clear();
      if (random_.chance(40)) members->cells.push_back(plain_cell("count(*) as " + name("n")));
    }
  }
  collection.families.push_back(std::move(family));
  if (members) collection.families.push_back(std::move(*members));
}

void Generator::place(std::size_t index, Design& design) {
  const EntityPlan& entity = entities_[index];
  const std::size_t style = random_.weighted({18, 18, 14, 28, with("homes") ? 22U : 0U});
  if (entity.transient || style == 0) return;
  Collection collection;
  collection.name = name("K");
  const std::string variable = name("v");
  collection.from.push_back({entity.name, variable});
  const auto own = [&](const std::string& field) { return random_.chance(50) ? field : variable + "." + field; };
  const auto keyed = [&](const std::string& field) {
    return own(field) + (random_.chance(40) ? " as " + name("n") : "");
  };
  std::vector<std::string> rest;  // fields that are to be placed
  for (const FieldPlan& field : entity.fields)
    if (!field.key) rest.push_back(field.name);
  const auto field_plan = [&](const std::string& wanted) -> const FieldPlan& {
    return *std::find_if(entity.fields.begin(), entity.fields.end(),
                         [&](const FieldPlan& field) { return field.name == wanted; });
  };
  if (style == 4) {
    // Under other fields than the key; the rest of the key is that of the entry.
    std::vector<std::string> candidates;
    for (const FieldPlan& field : entity.fields)
      if (ordered(field.type) && (field.key || !field.changed)) candidates.push_back(field.name);
    std::vector<std::string> in_key;
    const std::size_t parts = random_.between(1, 2);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t kind = random_.weighted({candidates.empty() ? 0U : 70U, 15, candidates.empty() ? 0U : 15U});
      if (kind == 0) {
        std::string field = random_.pick(candidates);
        const auto time = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& one) {
          return field_plan(one).type.kind == TypeKind::Timestamp || field_plan(one).type.kind == TypeKind::Date;
        });
        if (time != candidates.end() && random_.chance(40)) field = *time;
        const TypeKind type = field_plan(field).type.kind;
        if ((type == TypeKind::Timestamp || type == TypeKind::Date) && random_.chance(60)) {
          static const std::vector<const char*> functions = {"day", "week", "month"};
          collection.by.push_back(fmt::format("{}({}) as {}", random_.pick(functions), own(field), name("n")));
          continue;
        }
        if (contains(in_key, field)) continue;
        in_key.push_back(field);
        collection.by.push_back(keyed(field));
      } else if (kind == 1) {
        collection.by.push_back(fmt::format("\"all\" as {}", name("n")));
      } else {
        collection.by.push_back(fmt::format("shard({}, 3) as {}", own(random_.pick(candidates)), name("n")));
      }
    }
    if (collection.by.empty()) collection.by.push_back(fmt::format("\"all\" as {}", name("n")));
    Family family;
    if (!candidates.empty() && random_.chance(40)) {
      const std::string field = random_.pick(candidates);
      if (!contains(in_key, field)) {
        in_key.push_back(field);
        family.key.push_back(own(field) + direction());
      }
    }
    for (const std::size_t key : entity.key) {
      const std::string& field = entity.fields[key].name;
      if (contains(in_key, field)) continue;
      in_key.push_back(field);
      family.key.push_back(own(field) + direction());
    }
    if (entity.hidden_key) family.key.push_back(variable + direction() + " as " + name("n"));
    std::erase_if(rest, [&](const std::string& field) { return contains(in_key, field); });
    if (random_.chance(50) || rest.empty()) {
      family.cells.push_back(plain_cell("*"));
    } else {
      for (const std::string& field : rest) family.cells.push_back(plain_cell(own(field)));
    }
    collection.families.push_back(std::move(family));
    design.collections.push_back(std::move(collection));
    return;
  }
  if (entity.hidden_key) collection.by.push_back(variable + " as " + name("n"));
  for (const std::size_t key : entity.key) collection.by.push_back(keyed(entity.fields[key].name));
  const auto whole = [&](const std::string& text) {
    Family family;
    family.cells.push_back(plain_cell(text));
    return family;
  };
  const auto alone = [&](const std::string& field) {
    Family family;
    family.path = field;
    family.elements = field_plan(field).type.is_collection() && random_.chance(60);
    return family;
  };
  // The elements of a collection in a collection of their own.
  std::vector<Collection> apart;
  if (with("elements") && random_.chance(30)) {
    for (const FieldPlan& field : entity.fields) {
      if (!field.type.is_collection() || field.type.element().kind == TypeKind::Reference) continue;
      if (field.type.kind == TypeKind::Map && field.type.arguments[0].kind == TypeKind::Reference && random_.chance(50))
        continue;
      Collection elements;
      elements.name = name("K");
      const std::string instance = name("v");
      VariablePlan element;
      element.name = name("v");
      element.kind = VariableKind::Element;
      element.type = field.type.element();
      element.collection = field.type.kind;
      elements.from.push_back({entity.name, instance});
      elements.from.push_back({instance + "." + field.name, element.name});
      if (entity.hidden_key) elements.by.push_back(instance + " as " + name("n"));
      for (const std::size_t key : entity.key)
        elements.by.push_back(fmt::format("{}.{} as {}", instance, entity.fields[key].name, name("n")));
      Family family;
      const std::string key = key_of(element).front() + " as " + name("n");
      if (random_.chance(50))
        elements.by.push_back(key);
      else
        family.key.push_back(key);
      family.cells.push_back(
          plain_cell(element.type.kind == TypeKind::Value ? element.name + ".*" : element.name + " as " + name("n")));
      elements.families.push_back(std::move(family));
      apart.push_back(std::move(elements));
      std::erase(rest, field.name);
      break;
    }
  }
  random_.shuffle(rest);
  if (style == 1) {
    collection.families.push_back(whole("*"));
  } else if (style == 2) {
    for (const std::size_t key : entity.key)
      if (random_.chance(40)) {
        Family family;
        family.path = entity.fields[key].name;
        collection.families.push_back(std::move(family));
      }
    for (const std::string& field : rest) collection.families.push_back(alone(field));
    if (collection.families.empty()) collection.families.push_back(whole("*"));
  } else {
    const std::size_t together = random_.between(0, rest.size());
    const bool star = random_.chance(40);
    Family family;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (i < together) {
        if (!star) family.cells.push_back(plain_cell(own(rest[i])));
      } else if (!random_.chance(12)) {
        collection.families.push_back(alone(rest[i]));  // else the rest of the design places it
      }
    }
    if (star) family.cells.push_back(plain_cell("*"));
    if (!family.cells.empty()) collection.families.insert(collection.families.begin(), std::move(family));
    if (collection.families.empty()) collection.families.push_back(whole("*"));
  }
  // Copies beside the base.
  if (with("copies") && random_.chance(35)) {
    VariablePlan self;
    self.name = variable;
    self.type = model::reference(static_cast<model::EntityId>(index));
    add_copy(copy({self}, true, true), collection);
  }
  design.collections.push_back(std::move(collection));
  for (Collection& elements : apart) design.collections.push_back(std::move(elements));
}

// The answers of a nested select.
Cell Generator::list_of(const Select& select) {
  Cell cell;
  cell.text = name("n");
  cell.open = '[';
  cell.from = select.from;
  for (const Column& column : select.columns) cell.cells.push_back(plain_cell(text(column.expr) + " as " + name("n")));
  for (const Fragment& term : select.order_by) {
    const std::string by = text(term);
    for (const Column& column : select.columns)
      if (without_direction(by) == column.as) cell.order_by.push_back(text(column.expr) + by.substr(column.as.size()));
  }
  cell.limit = select.limit;
  return cell;
}

// The copy that answers the query from one block, more or less.
void Generator::derive(const QueryPlan& query, Design& design) {
  Collection collection;
  collection.name = name("K");
  collection.from = query.from;
  Source& first = collection.from.front();
  first.what = first.what.substr(0, first.what.find('['));
  const std::size_t history = first.what.find(" history");
  if (history != std::string::npos && random_.chance(50)) first.what.resize(history);
  for (const Source& source : collection.from)
    if (source.what.find('$') != std::string::npos) return;
  // What is kept of events is about them alone, with at most the one they are a part of before them.
  std::vector<std::string> others;
  const bool events =
      std::any_of(query.scope.begin(), query.scope.end(), [](const VariablePlan& one) { return one.transient; });
  for (const VariablePlan& variable : query.scope)
    if (events && !variable.transient) others.push_back(variable.name);
  const auto foreign = [&](const std::string& expr) {
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) { return mentions(expr, other); });
  };
  if (others.size() > 1 || (!others.empty() && !is_direct(collection.from.back().what))) return;
  std::vector<std::string> taken;
  const auto take = [&](std::vector<std::string>& to, const std::string& expr, bool direct) {
    if (contains(taken, expr) || foreign(expr)) return;
    taken.push_back(expr);
    to.push_back(part(expr, direct));
  };
  for (const std::string& equal : query.equal) take(collection.by, equal, false);
  if (query.scope.front().kind == VariableKind::Instance)
    for (const std::string& key : key_of(query.scope.front())) take(collection.by, key, false);
  Family family;
  family.copy = true;
  if (collection.by.empty()) {
    if (query.folded && !query.groups.empty() && random_.chance(40)) take(collection.by, query.groups.front(), false);
    if (collection.by.empty()) collection.by.push_back(part("\"all\"", false));
  }
  for (const std::string& range : query.ranges)
    if (!query.folded || random_.chance(70)) take(family.key, range, true);
  for (const std::string& group : query.groups) take(family.key, group, false);
  for (const std::string& owner : owners_of(query.scope)) take(family.key, owner, false);
  if (query.folded) {
    for (const std::string& fold : query.folds)
      if (!foreign(fold)) family.cells.push_back(plain_cell(fold + " as " + name("n")));
    if (family.cells.empty() && family.key.empty()) return;
  } else {
    for (const std::string& term : query.order) {
      const std::string expr = without_direction(term);
      if (contains(taken, expr)) continue;
      taken.push_back(expr);
      family.key.push_back(term + " as " + name("n"));
    }
    for (const std::string& key : all_keys(query.scope)) take(family.key, key, true);
    for (const Path& column : query.columns)
      if (!column.way_back && random_.chance(85)) family.cells.push_back(plain_cell(column.text + " as " + name("n")));
  }
  for (const Select& list : query.lists)
    if (!query.folded && !events && random_.chance(85)) family.cells.push_back(list_of(list));
  if (random_.chance(50))
    for (const std::string& fixed : query.fixed)
      if (!foreign(fixed) && fixed.find("now(") == std::string::npos && fixed != "true") family.where.push_back(fixed);
  if (!query.folded && !events && !family.key.empty() && random_.chance(15))
    family.limit = std::to_string(random_.between(2, 5));
  collection.families.push_back(std::move(family));
  design.collections.push_back(std::move(collection));
}

void Generator::random_copies(Design& design) {
  Collection collection;
  collection.name = name("K");
  Scope scope;
  StatementPlan none;
  if (auto first = first_source(none, scope, entities_.back().transient && random_.chance(30), true))
    collection.from.push_back(std::move(*first));
  const bool transient = scope.front().transient;
  const std::size_t more = transient ? 0 : random_.weighted({50, 35, 15});
  for (std::size_t i = 0; i < more; ++i) {
    if (auto source = next_source(scope, entities_.back().transient && i == 0)) {
      if (scope.back().transient && !is_direct(source->what)) {
        scope.pop_back();
        continue;
      }
      collection.from.push_back(std::move(*source));
      if (scope.back().transient) break;
    }
  }
  const bool events = scope.back().transient;
  if (with("words") && !events && random_.chance(15)) {
    const auto texts =
        only(paths(scope, 1), [](const Path& path) { return path.type.kind == TypeKind::Text && !path.of_transient; });
    if (!texts.empty()) {
      VariablePlan word;
      word.name = name("v");
      word.kind = VariableKind::Words;
      word.type = model::scalar(TypeKind::Text);
      collection.from.push_back({"words(" + random_.pick(texts).text + ")", word.name});
      scope.push_back(word);
    }
  }
  if (with("references") && !events && random_.chance(15)) {
    const auto roles = only(paths({scope.front()}, 1), [](const Path& path) {
      return path.own && !path.way_back && path.type.is_collection() && !path.is_variable &&
             path.type.element().kind == TypeKind::Reference;
    });
    if (!roles.empty() && scope.front().kind == VariableKind::Entity) {
      const Path& role = random_.pick(roles);
      VariablePlan target;
      target.name = name("v");
      target.kind = VariableKind::References;
      target.type = role.type.element();
      target.collection = role.type.kind;
      if (role.type.kind == TypeKind::Map) target.map_key = role.type.arguments[0];
      collection.from.push_back({"references(" + role.text + ")", target.name});
      scope.push_back(target);
    }
  }
  bool determines = false;
  if (random_.chance(30) && scope.front().type.kind == TypeKind::Reference && !transient) {
    for (const std::string& key : key_of(scope.front())) collection.by.push_back(part(key, false));
    determines = true;
  } else {
    const std::size_t parts = random_.between(1, 2);
    for (std::size_t i = 0; i < parts; ++i) collection.by.push_back(part(key_part(scope, true), false));
  }
  const std::size_t families = random_.weighted({0, 80, 20});
  for (std::size_t i = 0; i < families; ++i)
    add_copy(copy(scope, random_.chance(15) && !scope.back().transient, determines), collection);
  design.collections.push_back(std::move(collection));
}

void Generator::make_design() {
  if (!options_.design.empty()) {
    out_.design = options_.design;
    return;
  }
  static const std::vector<std::string> strategies = {"eao", "etf", "normalized"};
  if (random_.chance(15)) {
    out_.design = random_.pick(strategies);
    return;
  }
  Design design;
  design.name = "drawn";
  out_.design = design.name;
  if (random_.chance(80)) design.rest = random_.pick(strategies);
  for (std::size_t i = 0; i < entities_.size(); ++i) place(i, design);
  const std::size_t copies = with("copies") ? random_.below(5) : 0;
  for (std::size_t i = 0; i < copies; ++i) {
    if (!query_plans_.empty() && random_.chance(60))
      derive(random_.pick(query_plans_), design);
    else
      random_copies(design);
  }
  out_.designs.push_back(std::move(design));
}

}  // namespace noam::tests::property
