#include <algorithm>

#include <fmt/format.h>

#include "tests/property/generate_internal.h"

// What the application asks.
namespace noam::tests::property {

namespace {

Fragment plain(std::string text) {
  Fragment out;
  out.before = std::move(text);
  return out;
}

Type without_optional(Type type) {
  type.optional = false;
  type.max_length = 0;
  return type;
}

bool same_kind(const Type& a, const Type& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == TypeKind::Reference || a.kind == TypeKind::Value) return a.id == b.id;
  return a.kind != TypeKind::Enumeration || a.names == b.names;
}

// The period that a time lies in.
const char* time_function(Random& random, TypeKind kind) {
  static const std::vector<const char*> of_timestamp = {"minute", "hour", "day", "week", "month", "year"};
  static const std::vector<const char*> of_date = {"day", "week", "month", "year"};
  return kind == TypeKind::Date ? random.pick(of_date) : random.pick(of_timestamp);
}

bool is_time(const Type& type) { return type.kind == TypeKind::Timestamp || type.kind == TypeKind::Date; }

}  // namespace

std::vector<Path> Generator::only(const std::vector<Path>& from, const std::function<bool(const Path&)>& keep) {
  std::vector<Path> out;
  std::copy_if(from.begin(), from.end(), std::back_inserter(out), keep);
  return out;
}

void Generator::walk(const Path& from, int depth, std::vector<Path>& out) {
  const Type type = from.type;
  const auto go_on = [&](const Path& next) {
    out.push_back(next);
    if (depth > 0) walk(next, depth - 1, out);
  };
  switch (type.kind) {
    case TypeKind::Reference: {
      const EntityPlan& entity = entities_[type.id];
      const bool keys_only = from.key_only || (entity.transient && !from.is_variable);
      for (const FieldPlan& field : entity.fields) {
        if (keys_only && !field.key) continue;
        Path next = from;
        next.text += "." + field.name;
        next.type = field.type;
        next.is_variable = false;
        if (!field.type.is_collection()) next.type.optional |= type.optional || (!from.is_variable && !field.key);
        next.own = from.is_variable || (from.own && field.key);
        go_on(next);
      }
      for (const WayBack& inverse : entity.inverses) {
        if (keys_only) break;
        Path next = from;
        next.text += "." + inverse.name;
        next.type = model::collection_of(TypeKind::Set, model::reference(static_cast<model::EntityId>(inverse.entity)));
        next.own = false;
        next.way_back = true;
        next.is_variable = false;
        next.to_transient = entities_[inverse.entity].transient;
        out.push_back(std::move(next));
      }
      return;
    }
    case TypeKind::Value:
      for (const FieldPlan& field : values_[type.id].fields) {
        Path next = from;
        next.text += "." + field.name;
        next.type = field.type;
        if (!field.type.is_collection()) next.type.optional |= type.optional;
        next.is_variable = false;
        go_on(next);
      }
      return;
    case TypeKind::Row:
      for (std::size_t i = 0; i < type.names.size(); ++i) {
        Path next = from;
        next.text += "." + type.names[i];
        next.type = type.arguments[i];
        next.is_variable = false;
        go_on(next);
      }
      if (from.is_variable) {
        Path next = from;
        next.text += ".refreshed";
        next.type = model::scalar(TypeKind::Timestamp);
        next.is_variable = false;
        out.push_back(std::move(next));
      }
      return;
    case TypeKind::List: {
      if (from.way_back) return;
      Path next = from;
      next.text += random_.chance(50) ? "[0]" : "[-1]";
      next.type = type.element();
      next.type.optional = true;
      next.indexed = true;
      next.is_variable = false;
      go_on(next);
      return;
    }
    case TypeKind::Map: {
      if (!has_literal(type.arguments[0])) return;
      Path next = from;
      next.text += "[" + literal(type.arguments[0]) + "]";
      next.type = type.element();
      next.type.optional = true;
      next.indexed = true;
      next.is_variable = false;
      go_on(next);
      return;
    }
    default:
      return;
  }
}

std::vector<Path> Generator::paths(const Scope& scope) { return paths(scope, random_.chance(25) ? 2 : 1); }

std::vector<Path> Generator::paths(const Scope& scope, int depth) {
  std::vector<Path> out;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    Path start;
    start.text = scope[i].name;
    start.type = scope[i].type;
    start.variable = i;
    start.own = true;
    start.is_variable = true;
    start.of_transient = scope[i].transient;
    start.key_only = scope[i].kind == VariableKind::References;
    if (start.type.kind != TypeKind::Row) out.push_back(start);
    walk(start, depth, out);
    if ((scope[i].kind == VariableKind::Element || scope[i].kind == VariableKind::References) &&
        (scope[i].collection == TypeKind::List || scope[i].collection == TypeKind::Map)) {
      Path key = start;
      const bool list = scope[i].collection == TypeKind::List;
      key.text = fmt::format("{}({})", list ? "position" : "key", scope[i].name);
      key.type = list ? model::scalar(TypeKind::Int) : scope[i].map_key;
      key.is_variable = false;
      out.push_back(key);
      if (!list) walk(key, depth - 1, out);
    }
  }
  return out;
}

std::vector<std::string> Generator::key_of(const VariablePlan& variable) const {
  if (variable.kind == VariableKind::Refreshed || variable.kind == VariableKind::History)
    return {variable.name + ".refreshed", "position(" + variable.name + ")"};
  const bool element = variable.kind == VariableKind::Element || variable.kind == VariableKind::References;
  if (element && variable.collection == TypeKind::List) return {"position(" + variable.name + ")"};
  if (element && variable.collection == TypeKind::Map) return {"key(" + variable.name + ")"};
  if (variable.type.kind != TypeKind::Reference || variable.kind == VariableKind::References) return {variable.name};
  const EntityPlan& entity = entities_[variable.type.id];
  if (entity.hidden_key) return {variable.name};
  std::vector<std::string> out;
  for (const std::size_t part : entity.key) out.push_back(variable.name + "." + entity.fields[part].name);
  return out;
}

std::string Generator::parameter(StatementPlan& statement, const Type& wanted) {
  const Type type = without_optional(wanted);
  for (const ParameterPlan& known : statement.parameters)
    if (known.tuple == 0 && !known.bound && !known.position && known.type == type && known.declared.empty() &&
        random_.chance(12))
      return "$" + known.name;
  ParameterPlan made;
  made.name = name("p");
  made.type = type;
  if (random_.chance(12)) {
    made.declared = type_text(type);
    if (random_.chance(30) && !type.is_collection()) {
      made.declared += "?";
      made.type.optional = true;
    }
  }
  statement.parameters.push_back(made);
  return "$" + made.name;
}

std::string Generator::operand(StatementPlan* statement, const Type& type) {
  if (statement != nullptr && (!has_literal(type) || random_.chance(70))) return parameter(*statement, type);
  return literal(type);
}

std::vector<Parameter> Generator::parameters_of(const StatementPlan& statement) {
  std::vector<Parameter> out;
  for (const ParameterPlan& parameter : statement.parameters) out.push_back({parameter.name, parameter.declared});
  return out;
}

// Parameters for the parts of a key, drawn together.
std::vector<std::string> Generator::tuple(StatementPlan& statement, std::size_t index) {
  const EntityPlan& entity = entities_[index];
  TuplePlan made;
  made.entity = index;
  const auto add = [&](const Type& type) {
    ParameterPlan parameter;
    parameter.name = name("p");
    parameter.type = without_optional(type);
    parameter.tuple = statement.tuples.size() + 1;
    made.parameters.push_back(parameter.name);
    statement.parameters.push_back(std::move(parameter));
  };
  if (entity.key.size() <= 1) add(model::reference(static_cast<model::EntityId>(index)));
  if (entity.key.size() > 1)
    for (const std::size_t part : entity.key) add(entity.fields[part].type);
  statement.tuples.push_back(made);
  return made.parameters;
}

// `E1[$p1, $p2]`: one instance by its key.
std::string Generator::instance(StatementPlan& statement, std::size_t index) {
  std::string parts;
  for (const std::string& part : tuple(statement, index)) parts += (parts.empty() ? "$" : ", $") + part;
  return entities_[index].name + "[" + parts + "]";
}

// One of them, shorter ones more often.
const Path& Generator::shallow(const std::vector<Path>& from) {
  const Path& a = random_.pick(from);
  const Path& b = random_.pick(from);
  return std::count(a.text.begin(), a.text.end(), '.') <= std::count(b.text.begin(), b.text.end(), '.') ? a : b;
}

std::string Generator::direction() {
  switch (random_.weighted({40, 20, 40})) {
    case 0:
      return "";
    case 1:
      return " asc";
    default:
      return " desc";
  }
}

std::optional<Source> Generator::first_source(StatementPlan& statement, Scope& scope, bool transient, bool plain) {
  VariablePlan variable;
  variable.name = name("v");
  std::vector<const QueryPlan*> refreshed;
  for (const QueryPlan& query : query_plans_)
    if (query.refreshed && query.ordered) refreshed.push_back(&query);
  if (!refreshed.empty() && !transient && random_.chance(plain ? 15 : 35)) {
    const QueryPlan& query = *random_.pick(refreshed);
    const bool history = random_.chance(50);
    variable.kind = history ? VariableKind::History : VariableKind::Refreshed;
    variable.type = query.row;
    scope.push_back(variable);
    return Source{query.name + (history ? " history" : ""), variable.name};
  }
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < entities_.size(); ++i)
    if (!entities_[i].transient || transient) candidates.push_back(i);
  std::size_t entity = random_.pick(candidates);
  if (transient && random_.chance(30)) entity = entities_.size() - 1;
  variable.type = model::reference(static_cast<model::EntityId>(entity));
  variable.transient = entities_[entity].transient;
  std::string what = entities_[entity].name;
  if (!plain && !variable.transient && random_.chance(25)) {
    what = instance(statement, entity);
    variable.kind = VariableKind::Instance;
  }
  scope.push_back(variable);
  return Source{what, variable.name};
}

std::optional<Source> Generator::next_source(Scope& scope, bool transient) {
  // Pairs of events would need the events.
  if (std::any_of(scope.begin(), scope.end(), [](const VariablePlan& one) { return one.transient; })) transient = false;
  VariablePlan variable;
  variable.name = name("v");
  const std::vector<Path> all = paths(scope, 1);
  // By its key, from what is known.
  if (random_.chance(8)) {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const Path& path : all) {
      if (path.of_transient || path.type.kind == TypeKind::Value || path.type.is_collection()) continue;
      for (std::size_t i = 0; i < entities_.size(); ++i) {
        const EntityPlan& entity = entities_[i];
        if (entity.transient || entity.key.size() > 1) continue;
        const bool refers = path.type.kind == TypeKind::Reference && path.type.id == i;
        const bool fits = !entity.hidden_key && path.type.kind != TypeKind::Reference &&
                          same_kind(entity.fields[entity.key[0]].type, path.type);
        if (refers || fits) found.emplace_back(i, path.text);
      }
    }
    if (!found.empty()) {
      const auto& [entity, key] = random_.pick(found);
      variable.kind = VariableKind::Instance;
      variable.type = model::reference(static_cast<model::EntityId>(entity));
      scope.push_back(variable);
      return Source{entities_[entity].name + "[" + key + "]", variable.name};
    }
  }
  const auto usable = only(all, [&](const Path& path) {
    if (path.text.ends_with(")")) return false;  // key(v) is a value
    if (path.is_variable || path.key_only || (path.to_transient && !transient) || path.of_transient) return false;
    return path.type.is_collection() || path.type.kind == TypeKind::Reference;
  });
  auto roles = only(usable, [&](const Path& path) {
    const Type& to = path.type.is_collection() ? path.type.element() : path.type;
    return to.kind == TypeKind::Reference;
  });
  const std::vector<Path>& from = !roles.empty() && random_.chance(60) ? roles : usable;
  if (from.empty()) {
    if (!random_.chance(25) || transient) return std::nullopt;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < entities_.size(); ++i)
      if (!entities_[i].transient) candidates.push_back(i);
    const std::size_t entity = random_.pick(candidates);
    variable.type = model::reference(static_cast<model::EntityId>(entity));
    scope.push_back(variable);
    return Source{entities_[entity].name, variable.name};
  }
  const Path& path = shallow(from);
  variable.kind = VariableKind::Element;
  variable.type = path.type.is_collection() ? path.type.element() : path.type;
  variable.type.optional = false;
  variable.collection = path.way_back ? TypeKind::Set : path.type.kind;
  if (path.type.kind == TypeKind::Map) variable.map_key = path.type.arguments[0];
  variable.transient = path.to_transient;
  scope.push_back(variable);
  return Source{path.text, variable.name};
}

// A comparison of one thing, as it may also stand over a transient variable.
std::string Generator::simple_condition(StatementPlan* statement, const Path& path, QueryPlan* plan) {
  const Type& type = path.type;
  std::string read = path.text;
  Type compared = type;
  if (is_time(type) && random_.chance(25)) {
    read = fmt::format("{}({})", time_function(random_, type.kind), path.text);
    compared = without_optional(type);
  }
  const auto compare = [&](const char* sign) {
    return fmt::format("{} {} {}", read, sign, operand(statement, compared));
  };
  const bool has_order = ordered(type);
  switch (random_.weighted({45, has_order ? 33U : 0U, has_order ? 12U : 0U, 10})) {
    case 0:
      if (plan != nullptr && has_order) plan->equal.push_back(read);
      return compare("=");
    case 1: {
      static const std::vector<const char*> signs = {"<", "<=", ">", ">="};
      if (plan != nullptr) plan->ranges.push_back(read);
      return compare(random_.pick(signs));
    }
    case 2: {
      if (plan != nullptr) plan->ranges.push_back(read);
      const std::string low = operand(statement, compared);
      return fmt::format("{} between {} and {}", read, low, operand(statement, compared));
    }
    default: {
      if (!has_literal(compared) || (statement != nullptr && random_.chance(60))) {
        if (statement == nullptr) return compare("=");
        return fmt::format("{} in {}", read,
                           parameter(*statement, model::collection_of(TypeKind::List, without_optional(compared))));
      }
      const std::string first = sample(compared, true).literal;  // a longer text is refused here
      return fmt::format("{} in [{}, {}]", read, first, sample(compared, true).literal);
    }
  }
}

Fragment Generator::condition(StatementPlan* statement, const Scope& scope, QueryPlan* plan, int depth) {
  std::vector<Path> all = paths(scope);
  const bool transient =
      std::any_of(scope.begin(), scope.end(), [](const VariablePlan& variable) { return variable.transient; });
  const auto simple = only(all, [&](const Path& path) {
    if (path.of_transient && (!path.own || path.indexed || path.is_variable)) return false;
    return !path.way_back && comparable(path.type) && (!path.of_transient || ordered(path.type)) &&
           (statement != nullptr || has_literal(path.type));
  });
  if (simple.empty()) return plain("true");
  if (transient) return plain(simple_condition(statement, shallow(simple), plan));
  const auto texts = only(all, [](const Path& path) { return path.type.kind == TypeKind::Text; });
  const auto maybe = only(all, [](const Path& path) { return path.type.optional; });
  const auto bools = only(all, [](const Path& path) { return path.type.kind == TypeKind::Bool; });
  const auto many = only(all, [](const Path& path) { return path.type.is_collection() && !path.to_transient; });
  const auto counted = only(all, [](const Path& path) { return path.type.is_collection(); });
  const auto searched = only(many, [&](const Path& path) {
    const Type& element = path.type.kind == TypeKind::Map ? path.type.arguments[0] : path.type.element();
    return comparable(element) && (statement != nullptr || has_literal(element));
  });
  const unsigned deep = depth > 0 ? 1 : 0;
  const bool can_nest = deep != 0 && with("nested") && statement != nullptr && !counted.empty();
  switch (random_.weighted({50, texts.empty() ? 0U : 12U, maybe.empty() ? 0U : 8U, bools.empty() ? 0U : 4U,
                            searched.empty() ? 0U : 12U, counted.empty() ? 0U : 6U, 8, 8 * deep, 5 * deep, 6,
                            can_nest ? 6U : 0U, 4})) {
    case 0:
      return plain(simple_condition(statement, shallow(simple), plan));
    case 1: {
      const Path& path = random_.pick(texts);
      static const std::vector<const char*> words = {"contains all", "contains any", "starts with"};
      const char* word = random_.pick(words);
      if (!with("words") && word != words[2]) word = words[2];
      return plain(fmt::format("{} {} {}", path.text, word, operand(statement, model::scalar(TypeKind::Text))));
    }
    case 2:
      return plain(random_.pick(maybe).text + (random_.chance(50) ? " is absent" : " is not absent"));
    case 3:
      return plain((random_.chance(30) ? "not " : "") + random_.pick(bools).text);
    case 4: {
      const Path& path = random_.pick(searched);
      const Type& element = path.type.kind == TypeKind::Map ? path.type.arguments[0] : path.type.element();
      if (path.type.kind != TypeKind::Map && random_.chance(25)) {
        const auto fitting = only(simple, [&](const Path& other) { return same_kind(other.type, element); });
        if (!fitting.empty())
          return plain(fmt::format("{} {} {}", shallow(fitting).text, random_.chance(70) ? "in" : "not in", path.text));
      }
      return plain(fmt::format("{} contains {}", path.text, operand(statement, element)));
    }
    case 5: {
      static const std::vector<const char*> signs = {"=", ">", "<=", "!="};
      return plain(fmt::format("count({}) {} {}", random_.pick(counted).text, random_.pick(signs), random_.below(3)));
    }
    case 6: {  // two of one kind
      const Path& path = shallow(simple);
      const auto others =
          only(simple, [&](const Path& other) { return other.text != path.text && same_kind(other.type, path.type); });
      if (others.empty()) return plain(simple_condition(statement, path, plan));
      static const std::vector<const char*> signs = {"=", "!=", "<", ">="};
      const char* sign = ordered(path.type) ? random_.pick(signs) : "=";
      return plain(fmt::format("{} {} {}", path.text, sign, random_.pick(others).text));
    }
    case 7: {
      Fragment left = condition(statement, scope, nullptr, 0);
      const Fragment right = condition(statement, scope, nullptr, 0);
      return plain(fmt::format("({} or {})", text(left), text(right)));
    }
    case 8:
      return plain(fmt::format("not ({})", text(condition(statement, scope, nullptr, 0))));
    case 9: {
      const Path made = computed(scope, statement);
      if (!comparable(made.type) || !ordered(made.type) || (statement == nullptr && !has_literal(made.type)))
        return plain(simple_condition(statement, shallow(simple), plan));
      static const std::vector<const char*> signs = {"=", "!=", "<", "<=", ">", ">="};
      return plain(fmt::format("{} {} {}", made.text, random_.pick(signs), operand(statement, made.type)));
    }
    case 10: {
      Fragment out;
      Type type;
      out.select.push_back(nested(statement, scope, true, type));
      static const std::vector<const char*> signs = {"=", ">", "<=", ">="};
      // A sum that does not fit is an error, and whether it is asked at all is left open where another condition fails.
      if (text(out).find("sum(") != std::string::npos || !ordered(type) || !has_literal(type))
        return plain(simple_condition(statement, shallow(simple), plan));
      out.after = fmt::format(" {} {}", random_.pick(signs), literal(type));
      return out;
    }
    default: {
      const Path& path = shallow(simple);
      if (plan != nullptr) return plain(simple_condition(statement, path, plan));
      return plain(fmt::format("{} != {}", path.text, operand(statement, path.type)));
    }
  }
}

// Something worked out from the row.
Path Generator::computed(const Scope& scope, StatementPlan* statement) {
  const std::vector<Path> all = only(paths(scope), [](const Path& path) { return !path.of_transient; });
  const auto numbers = only(all, [](const Path& path) { return path.type.is_number(); });
  const auto times = only(all, [](const Path& path) { return is_time(path.type); });
  const auto maybe = only(all, [&](const Path& path) {
    return path.type.optional && path.type.kind != TypeKind::Json && has_literal(path.type) &&
           !path.type.is_collection();
  });
  const auto values = only(all, [&](const Path& path) { return ordered(path.type) && has_literal(path.type); });
  const auto many = only(all, [](const Path& path) { return path.type.is_collection(); });
  Path out;
  out.type = model::scalar(TypeKind::Int);
  switch (random_.weighted({numbers.empty() ? 0U : 40U, times.empty() ? 0U : 20U, maybe.empty() ? 0U : 15U,
                            values.empty() ? 0U : 12U, many.empty() ? 0U : 12U, 1})) {
    case 0: {
      const Path& path = shallow(numbers);
      out.type = without_optional(path.type);
      out.type.optional = true;
      const auto others = only(numbers, [&](const Path& other) { return same_kind(other.type, path.type); });
      static const std::vector<const char*> signs = {"+", "-", "*"};
      const char* sign = random_.pick(signs);
      const std::string right = random_.chance(50) ? random_.pick(others).text : literal(path.type);
      if (random_.chance(12)) {
        out.text = "0 + -" + path.text;  // `select distinct -x` is read as a difference
      } else if (overflow_ && path.type.kind == TypeKind::Int && random_.chance(30)) {
        out.text = fmt::format("{} {} 9223372036854775807", path.text, sign);
      } else if (path.type.kind == TypeKind::Decimal && random_.chance(25)) {
        const auto ints = only(numbers, [](const Path& other) { return other.type.kind == TypeKind::Int; });
        out.text = fmt::format("{} {} {}", path.text, sign, ints.empty() ? right : random_.pick(ints).text);
      } else {
        out.text = fmt::format("{} {} {}", path.text, sign, right);
      }
      if (out.text.find("* -") != std::string::npos || right.starts_with("-"))
        out.text = fmt::format("{} {} ({})", path.text, sign, right);
      return out;
    }
    case 1: {
      const Path& path = random_.pick(times);
      out.type = without_optional(path.type);
      out.type.optional = true;
      if (random_.chance(60)) {
        out.text = fmt::format("{}({})", time_function(random_, path.type.kind), path.text);
      } else {
        static const std::vector<const char*> of_timestamp = {"30 minutes", "1 hour", "1 day", "2 weeks"};
        out.text = fmt::format("{} {} {}", path.text, random_.chance(50) ? "+" : "-",
                               path.type.kind == TypeKind::Date ? "1 day" : random_.pick(of_timestamp));
      }
      return out;
    }
    case 2: {
      const Path& path = random_.pick(maybe);
      out.type = without_optional(path.type);
      out.text = fmt::format("({} ?? {})", path.text, literal(path.type));
      return out;
    }
    case 3: {
      const Path& path = shallow(values);
      out.type = without_optional(path.type);
      out.type.optional = true;
      const auto others = only(values, [&](const Path& other) { return same_kind(other.type, path.type); });
      out.text = fmt::format("{}({}, {})", random_.chance(50) ? "greatest" : "least", path.text,
                             random_.chance(60) ? random_.pick(others).text : literal(path.type));
      return out;
    }
    case 4:
      out.text = fmt::format("count({})", random_.pick(many).text);
      return out;
    default:
      out.type = model::scalar(TypeKind::Timestamp);
      out.text = statement == nullptr ? "timestamp \"2025-12-28T01:00:00Z\"" : "now() - 1 hour";
      return out;
  }
}

std::string Generator::fold(const Scope& scope, Type& type) {
  const std::vector<Path> all = paths(scope);
  const auto simple = only(all, [&](const Path& path) {
    if (path.way_back || path.type.is_collection()) return false;
    return !path.of_transient || (path.own && !path.indexed && !path.is_variable);
  });
  const auto numbers = only(simple, [](const Path& path) {
    return path.type.is_number() && !(path.of_transient && path.type.kind == TypeKind::Float);
  });
  const auto values = only(simple, [&](const Path& path) { return ordered(path.type); });
  const auto countable = only(simple, [&](const Path& path) {
    return path.type.kind != TypeKind::Reference && path.type.kind != TypeKind::Value && !path.is_variable;
  });
  type = model::scalar(TypeKind::Int);
  switch (random_.weighted({35, countable.empty() ? 0U : 8U, values.empty() ? 0U : 15U,
                            numbers.empty() ? 0U : (overflow_ ? 50U : 18U), values.empty() ? 0U : 16U,
                            numbers.empty() ? 0U : 8U})) {
    case 0:
      return "count(*)";
    case 1:
      return fmt::format("count({})", random_.pick(countable).text);
    case 2:
      return fmt::format("count(distinct {})", shallow(values).text);
    case 3: {
      const Path& path = shallow(numbers);
      type = without_optional(path.type);
      if (!path.of_transient && random_.chance(25))
        return fmt::format("sum({} * {})", path.text, path.type.kind == TypeKind::Float ? "0.5" : "2");
      return fmt::format("sum({})", path.text);
    }
    case 4: {
      const Path& path = shallow(values);
      type = without_optional(path.type);
      type.optional = true;
      return fmt::format("{}({})", random_.chance(50) ? "min" : "max", path.text);
    }
    default: {
      const Path& path = shallow(numbers);
      type = without_optional(path.type);
      if (type.kind == TypeKind::Int) type.kind = TypeKind::Float;
      type.optional = true;
      return fmt::format("avg({})", path.text);
    }
  }
}

// A select inside a row: a number, one row, or a list of rows. Its type is Row, Rows, or that of the number.
Select Generator::nested(StatementPlan* statement, const Scope& outer, bool scalar, Type& type) {
  Scope scope = outer;
  Select select;
  const auto usable = only(paths(outer, 1), [&](const Path& path) {
    if (path.is_variable || path.of_transient || (path.to_transient && !scalar)) return false;
    if (path.text.ends_with(")")) return false;
    return path.type.is_collection() || (path.type.kind == TypeKind::Reference && random_.chance(20));
  });
  VariablePlan variable;
  variable.name = name("v");
  if (usable.empty() || random_.chance(8)) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < entities_.size(); ++i)
      if (!entities_[i].transient) candidates.push_back(i);
    const std::size_t entity = random_.pick(candidates);
    variable.type = model::reference(static_cast<model::EntityId>(entity));
    select.from.push_back({entities_[entity].name, variable.name});
  } else {
    const Path& path = shallow(usable);
    variable.kind = VariableKind::Element;
    variable.type = path.type.is_collection() ? path.type.element() : path.type;
    variable.type.optional = false;
    variable.collection = path.way_back ? TypeKind::Set : path.type.kind;
    if (path.type.kind == TypeKind::Map) variable.map_key = path.type.arguments[0];
    variable.transient = path.to_transient;
    select.from.push_back({path.text, variable.name});
  }
  scope.push_back(variable);
  const Scope own = {variable};
  if (random_.chance(45)) select.where.push_back(condition(statement, variable.transient ? own : scope, nullptr, 0));
  if (scalar) {
    select.columns.push_back({plain(fold(own, type)), name("c")});
    return select;
  }
  type = model::scalar(TypeKind::Rows);
  std::vector<std::string> orderable;
  const auto columns = only(paths(own, 1), [&](const Path& path) { return !path.is_variable && !path.to_transient; });
  const std::size_t count = random_.between(1, 2);
  for (std::size_t i = 0; i < count; ++i) {
    Column column;
    column.as = name("c");
    if (columns.empty() || random_.chance(15)) {
      column.expr = plain(variable.name);  // the aggregate, or the element
    } else if (random_.chance(8) && !variable.transient) {
      Type inner;
      column.expr.select.push_back(nested(statement, own, true, inner));
      if (ordered(inner)) orderable.push_back(column.as);
      type.names.push_back(column.as);
      type.arguments.push_back(inner);
    } else {
      const Path& path = random_.pick(columns);
      column.expr = plain(path.text);
      if (ordered(path.type)) orderable.push_back(column.as);
      type.names.push_back(column.as);
      type.arguments.push_back(path.type);
    }
    select.columns.push_back(std::move(column));
  }
  if (!orderable.empty() && random_.chance(60)) select.order_by.push_back(plain(random_.pick(orderable) + direction()));
  if (random_.chance(45)) {
    const bool one = random_.chance(60);
    select.limit = one ? "1" : std::to_string(random_.between(2, 3));
    if (one) type.kind = TypeKind::Row;
  }
  return select;
}

void Generator::rows(StatementPlan* statement, const Scope& scope, Select& select, QueryPlan& plan, bool only_scalars) {
  std::vector<std::pair<std::string, Type>> orderable;
  const std::vector<Path> all = only(paths(scope), [](const Path& path) { return !path.to_transient; });
  const auto fields =
      only(all, [&](const Path& path) { return !path.is_variable && (!only_scalars || ordered(path.type)); });
  select.distinct = random_.chance(only_scalars ? 5 : 12);
  const std::size_t count = random_.between(1, 4);
  std::vector<std::string> bare;
  for (std::size_t i = 0; i < count; ++i) {
    Column column;
    column.as = name("c");
    Type type;
    const bool scalars = select.distinct || only_scalars;
    const bool nest = !scalars && with("nested");
    switch (
        random_.weighted({fields.empty() ? 0U : 60U, scalars ? 0U : 10U, 12, nest ? 10U : 0U, nest ? 10U : 0U, 3})) {
      case 0: {
        const auto fitting = only(fields, [&](const Path& path) { return !scalars || ordered(path.type); });
        if (fitting.empty()) {
          column.expr = plain("1");
          type = model::scalar(TypeKind::Int);
          break;
        }
        const Path& path = shallow(fitting);
        column.expr = plain(path.text);
        type = path.type;
        plan.columns.push_back(path);
        const std::string last = path.text.substr(path.text.rfind('.') + 1);
        if (!path.indexed && path.text.find('.') != std::string::npos && path.text.find('(') == std::string::npos &&
            std::find(bare.begin(), bare.end(), last) == bare.end() && !only_scalars && random_.chance(30)) {
          bare.push_back(last);
          column.as.clear();
        }
        break;
      }
      case 1: {
        const VariablePlan& variable = random_.pick(scope);
        if (variable.type.kind == TypeKind::Row) {
          column.expr = plain(variable.name + ".refreshed");
          break;
        }
        column.expr = plain(variable.name);
        if (variable.type.kind == TypeKind::Reference && random_.chance(30)) {
          const EntityPlan& entity = entities_[variable.type.id];
          const std::size_t first = random_.below(entity.fields.size());
          std::string left_out = entity.fields[first].name;
          if (first + 1 < entity.fields.size() && random_.chance(30)) left_out += ", " + entity.fields[first + 1].name;
          if (entity.fields.size() > 2) column.expr = plain(variable.name + " without " + left_out);
        }
        break;
      }
      case 2: {
        const Path made = computed(scope, statement);
        column.expr = plain(made.text);
        type = made.type;
        break;
      }
      case 3:
      case 4: {
        column.expr.select.push_back(nested(statement, scope, random_.chance(40), type));
        const Select& made = column.expr.select.back();
        const bool plain_columns = std::all_of(made.columns.begin(), made.columns.end(), [](const Column& one) {
          return one.expr.select.empty() && one.expr.before.find('.') != std::string::npos;
        });
        if (type.kind == TypeKind::Rows && made.where.empty() && plain_columns) plan.lists.push_back(made);
        break;
      }
      default: {
        const bool number = random_.chance(50);
        column.expr = plain(number ? "7" : "\"same\"");
        type = model::scalar(number ? TypeKind::Int : TypeKind::Text);
        break;
      }
    }
    if (!column.as.empty()) {
      if (ordered(type)) orderable.emplace_back(column.as, type);
      if (type.kind == TypeKind::Row)
        for (std::size_t c = 0; c < type.names.size(); ++c)
          if (ordered(type.arguments[c])) orderable.emplace_back(column.as + "." + type.names[c], type.arguments[c]);
      plan.row.names.push_back(column.as);
      plan.row.arguments.push_back(type);
    }
    select.columns.push_back(std::move(column));
  }
  order(scope, select, plan, orderable);
}

void Generator::order(const Scope& scope, Select& select, QueryPlan& plan,
                      const std::vector<std::pair<std::string, Type>>& columns) {
  if (!random_.chance(55)) return;
  const auto sortable = only(paths(scope), [&](const Path& path) { return ordered(path.type); });
  const std::size_t count = random_.weighted({0, 65, 35});
  for (std::size_t i = 0; i < count; ++i) {
    if (!columns.empty() && (select.distinct || random_.chance(50))) {
      select.order_by.push_back(plain(random_.pick(columns).first + direction()));
    } else if (!select.distinct && !sortable.empty()) {
      const Path& path = random_.pick(sortable);
      const std::string term = path.text + direction();
      select.order_by.push_back(plain(term));
      plan.order.push_back(term);
    }
  }
}

void Generator::limit(StatementPlan* statement, Select& select) {
  if (statement != nullptr && random_.chance(35)) {
    ParameterPlan made;
    made.name = name("p");
    made.type = model::scalar(TypeKind::Int);
    made.bound = true;
    statement->parameters.push_back(made);
    select.limit = "$" + made.name;
  } else {
    select.limit = std::to_string(random_.chance(2) ? 0 : random_.between(1, 4));
  }
}

void Generator::groups(StatementPlan* statement, const Scope& scope, Select& select, QueryPlan& plan) {
  plan.folded = true;
  std::vector<std::pair<std::string, Type>> orderable;
  const bool grouped = random_.chance(65);
  if (grouped) {
    const auto candidates = only(paths(scope), [&](const Path& path) {
      if (path.way_back || !ordered(path.type)) return false;
      if (path.is_variable && path.of_transient) return false;
      return !path.of_transient || (path.own && !path.indexed);
    });
    const std::size_t count = random_.weighted({0, 65, 30, 5});
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < count && !candidates.empty(); ++i) {
      const Path& path = random_.pick(candidates);
      std::string group = path.text;
      if (is_time(path.type) && random_.chance(50))
        group = fmt::format("{}({})", time_function(random_, path.type.kind), path.text);
      if (std::find(taken.begin(), taken.end(), group) != taken.end()) continue;
      taken.push_back(group);
      select.group_by.push_back(plain(group));
      plan.groups.push_back(group);
      if (path.is_variable && path.type.kind == TypeKind::Reference) {
        // Its fields go with it.
        const Scope own = {scope[path.variable]};
        const auto fields =
            only(paths(own, 1), [](const Path& field) { return !field.is_variable && !field.to_transient; });
        if (!fields.empty()) {
          const Path& field = random_.pick(fields);
          const std::string column = name("c");
          select.columns.push_back({plain(field.text), column});
          if (ordered(field.type)) orderable.emplace_back(column, field.type);
        }
        if (with("nested") && random_.chance(20)) {
          Type type;
          Column column;
          column.as = name("c");
          column.expr.select.push_back(nested(statement, own, true, type));
          select.columns.push_back(std::move(column));
        }
        if (random_.chance(50)) continue;
        // The variable as a column is the whole aggregate.
        select.columns.push_back({plain(group), name("c")});
        continue;
      }
      if (random_.chance(85)) {
        const std::string column = name("c");
        select.columns.push_back({plain(group), column});
        orderable.emplace_back(column, path.type);
        plan.row.names.push_back(column);
        plan.row.arguments.push_back(path.type);
      }
    }
  }
  const std::size_t folds = random_.weighted({0, 60, 30, 10});
  for (std::size_t i = 0; i < folds; ++i) {
    Type type;
    const std::string made = fold(scope, type);
    const std::string column = name("c");
    const bool kept = !made.starts_with("avg(") && !(made.starts_with("sum(") && type.kind == TypeKind::Float);
    if (kept) plan.folds.push_back(made);
    if (type.kind == TypeKind::Int && random_.chance(8))
      select.columns.push_back({plain(made + " + 1"), column});
    else
      select.columns.push_back({plain(made), column});
    orderable.emplace_back(column, type);
    plan.row.names.push_back(column);
    plan.row.arguments.push_back(type);
  }
  if (!select.group_by.empty() && !orderable.empty() && random_.chance(60))
    select.order_by.push_back(plain(random_.pick(orderable).first + direction()));
}

void Generator::make_query(bool refreshed) {
  StatementPlan statement;
  statement.name = name("q");
  QueryPlan plan;
  plan.name = statement.name;
  plan.refreshed = refreshed;
  plan.row = model::scalar(TypeKind::Row);
  Query query;
  query.name = statement.name;
  StatementPlan* parameters = refreshed ? nullptr : &statement;
  const bool folds = random_.chance(35);
  const bool transient = folds && !entities_.empty() && entities_.back().transient && random_.chance(60);
  Scope scope;
  const auto first = first_source(statement, scope, transient, refreshed);
  query.select.from.push_back(*first);
  const std::size_t more = random_.weighted({48, 36, 16});
  for (std::size_t i = 0; i < more; ++i)
    if (auto source = next_source(scope, transient)) query.select.from.push_back(std::move(*source));
  if (refreshed) statement.parameters.clear();
  // By the key, often; else other conditions.
  const VariablePlan& leading = scope.front();
  if (!refreshed && leading.kind == VariableKind::Entity && !leading.transient && random_.chance(40)) {
    const EntityPlan& entity = entities_[leading.type.id];
    const std::vector<std::string> keys = key_of(leading);
    const std::vector<std::string> given = tuple(statement, leading.type.id);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool constant = !entity.hidden_key && random_.chance(10);
      query.select.where.push_back(plain(
          fmt::format("{} = {}", keys[i], constant ? literal(entity.fields[entity.key[i]].type) : "$" + given[i])));
      plan.equal.push_back(keys[i]);
      if (random_.chance(15)) break;
    }
  }
  const bool narrow = !query.select.where.empty() || leading.kind == VariableKind::Instance || scope.size() > 1;
  const std::size_t conditions = narrow ? random_.weighted({62, 33, 4, 1}) : random_.weighted({40, 44, 13, 3});
  for (std::size_t i = 0; i < conditions; ++i) {
    Fragment made = condition(parameters, scope, &plan, 1);
    if (text(made).find('$') == std::string::npos && made.select.empty()) plan.fixed.push_back(text(made));
    query.select.where.push_back(std::move(made));
  }
  if (folds)
    groups(parameters, scope, query.select, plan);
  else
    rows(parameters, scope, query.select, plan, refreshed);
  if (refreshed) {
    query.refresh = random_.chance(50) ? "refresh every 1 hour keep 2" : "refresh every 1 day";
    statement.parameters.clear();
    if (query.select.order_by.empty() && !plan.row.names.empty() && random_.chance(70))
      query.select.order_by.push_back(plain(random_.pick(plan.row.names)));
  }
  if (random_.chance(query.select.order_by.empty() ? 12 : 45)) limit(parameters, query.select);
  plan.ordered = !query.select.order_by.empty() || !query.select.limit.empty();
  plan.scope = scope;
  plan.from = query.select.from;
  const std::string body = text(query.select);
  std::erase_if(statement.parameters, [&](const ParameterPlan& one) { return !mentions(body, one.name); });
  query.parameters = parameters_of(statement);
  out_.queries.push_back(std::move(query));
  query_plans_.push_back(std::move(plan));
  queries_.push_back(std::move(statement));
}

void Generator::make_queries() {
  const std::size_t refreshed = with("refresh") ? random_.weighted({65, 25, 10}) : 0;
  for (std::size_t i = 0; i < refreshed; ++i) make_query(true);
  const std::size_t plain_ones = random_.between(3, 8);
  for (std::size_t i = 0; i < plain_ones; ++i) make_query(false);
}

}  // namespace noam::tests::property
