#include "noam/model/show.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/model/estimates.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::model {

namespace {

template <typename T>
std::string joined(const T& texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

// `  label   text`, wrapped under the text.
std::string labelled(std::string_view label, const std::vector<std::string>& items, std::string_view separator = ",") {
  constexpr std::size_t indent = 4;
  constexpr std::size_t width = 9;
  return wrapped(std::string(indent, ' ') + pad_right(label, width), indent + width, items, separator);
}

std::string labelled(std::string_view label, const std::string& text) {
  return labelled(label, std::vector<std::string>{text});
}

std::string statistics(const Statistic& statistic) {
  std::vector<std::string> texts;
  if (statistic.count) texts.push_back("~" + figure(*statistic.count));
  if (statistic.distinct) texts.push_back("distinct ~" + figure(*statistic.distinct));
  if (statistic.zipf) texts.push_back(fmt::format("skew zipf({})", figure(*statistic.zipf)));
  return joined(texts, " ");
}

std::string heading(std::string_view title) { return fmt::format("\n{}\n", title); }

// Data

std::string field_notes(const Model& model, const Field& field, bool key) {
  std::vector<std::string> notes;
  if (key) notes.emplace_back("key");
  if (field.automatic) notes.emplace_back("auto");
  if (field.initial) notes.push_back("= " + to_string(model, *field.initial, {}, {}));
  if (auto statistic = statistics(field.statistic); !statistic.empty()) notes.push_back(std::move(statistic));
  if (field.role && *field.role < model.roles.size()) {
    const Role& role = model.roles[*field.role];
    if (role.owner) notes.emplace_back("owner");
    if (!role.inverse.empty()) notes.push_back("inverse " + written_name(role.inverse));
    if (auto statistic = statistics(role.backward); !statistic.empty()) notes.push_back(std::move(statistic));
  }
  return joined(notes, " ");
}

std::string fields_table(const Model& model, const std::vector<Field>& fields, const std::vector<std::uint32_t>& key) {
  Table table({false, false, true});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const bool is_key = key.size() == 1 && key[0] == i;
    table.add({field.hidden ? "(hidden)" : written_name(field.name), written_type(model, field),
               bytes_figure(average_bytes(model, field)), field_notes(model, field, is_key)});
  }
  return table.print(4);
}

std::string field_name(const std::vector<Field>& fields, std::uint32_t index) {
  return index < fields.size() ? written_name(fields[index].name) : "?";
}

std::string show_entity(const Model& model, EntityId id) {
  const Entity& entity = model.entity(id);
  std::string head = "  " + written_name(entity.name);
  if (entity.transient) head += "  transient";
  const double size = average_bytes(model, entity);
  if (const auto count = instances(model, id)) {
    head += fmt::format("  {} × {}", figure(count), bytes_figure(size));
    if (!entity.transient) head += " = " + bytes_figure(count->value * size);
  } else {
    head += "  " + bytes_figure(size);
  }
  std::string out = head + '\n' + fields_table(model, entity.fields, entity.key);
  if (entity.key.size() > 1) {
    std::vector<std::string> parts;
    for (const auto part : entity.key) parts.push_back(field_name(entity.fields, part));
    out += labelled("key", "(" + joined(parts, ", ") + ")");
  }
  if (entity.ttl) {
    const auto from = entity.ttl->from ? " from " + field_name(entity.fields, *entity.ttl->from) : "";
    out += labelled("ttl", written_duration(entity.ttl->minutes) + from);
  }
  for (const auto& condition : entity.require) out += labelled("require", to_string(model, condition, {}, {}));
  return out;
}

std::string show_data(const Model& model) {
  std::string out;
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    out += (i == 0 ? heading("entities") : "\n") + show_entity(model, static_cast<EntityId>(i));
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    const Value& value = model.values[i];
    double size = 0;
    for (const auto& field : value.fields) size += average_bytes(model, field);
    out += fmt::format("{}  {}  {}\n", i == 0 ? heading("values") : "\n", written_name(value.name), bytes_figure(size));
    out += fields_table(model, value.fields, {});
  }
  return out;
}

std::string show_roles(const Model& model) {
  if (model.roles.empty()) return "";
  Table table({false, false, true, false, false, true}, 48);
  for (const auto& role : model.roles) {
    const Entity& from = model.entity(role.from);
    const Entity& to = model.entity(role.to);
    const std::string forward = !role.many ? (role.optional ? "0..1" : "1") : figure(forward_fan_out(model, role));
    const std::string back =
        role.inverse.empty() ? "(no name)" : written_name(to.name) + "." + written_name(role.inverse);
    std::vector<std::string> notes;
    if (role.owner) notes.emplace_back("owner");
    if (role.symmetric) notes.emplace_back("symmetric");
    if (role.map_key) notes.emplace_back("by map key");
    table.add({written_name(from.name) + "." + field_name(from.fields, role.field), "-> " + written_name(to.name),
               forward, "  " + back, "-> " + written_name(from.name), figure(backward_fan_out(model, role)),
               joined(notes, ", ")});
  }
  return heading("roles") + table.print(2);
}

// Statements

// `name($a: T, $b: U?)`
std::string signature(const Model& model, const std::string& name, const std::vector<Parameter>& parameters) {
  std::string head = "  " + written_name(name);
  if (parameters.empty()) return head + '\n';
  std::vector<std::string> texts;
  for (const auto& parameter : parameters) {
    texts.push_back(fmt::format("${}: {}", written_name(parameter.name), to_string(model, parameter.type)));
  }
  texts.back() += ')';
  const std::size_t indent = display_width(head) + 1;
  return wrapped(head + "(", indent < 40 ? indent : 6, texts);
}

// The variables that an expression names, also in the sources of selects inside it.
void collect_variables(const Scope& scope, const Expr& expr, std::set<std::uint32_t>& out) {
  for_each(expr, [&](const Expr& inside) {
    if (inside.kind == ExprKind::Variable) out.insert(inside.index);
    for (const auto& select : inside.select) {
      for (const auto variable : select.from) {
        if (variable < scope.variables.size()) collect_variables(scope, scope.variables[variable].source, out);
      }
    }
  });
}

bool is_step(const Expr& expr) {
  return expr.kind == ExprKind::Field || expr.kind == ExprKind::Inverse || expr.kind == ExprKind::Refreshed;
}

// Whether it reads variables only through their fields, and holds no select: then it can stand without their names.
bool only_reads_fields(const Expr& expr) {
  if (expr.kind == ExprKind::Variable || expr.kind == ExprKind::Select) return false;
  if (is_step(expr) && expr.operands.size() == 1 && expr.operands[0].kind == ExprKind::Variable) return true;
  return std::all_of(expr.operands.begin(), expr.operands.end(), only_reads_fields);
}

// The variable that a path goes out from.
std::optional<std::uint32_t> root_of(const Expr& expr) {
  if (expr.kind == ExprKind::Variable) return expr.index;
  const bool steps = is_step(expr) || expr.kind == ExprKind::Element;
  return steps && !expr.operands.empty() ? root_of(expr.operands[0]) : std::nullopt;
}

// How a select is told: the way it walks, with what is asked of each variable in brackets after it, and the rest.
class SelectStory {
 public:
  SelectStory(const Scope& scope, const Select& select) : scope_(scope), select_(select) {
    if (select.from.size() == 1) only_ = select.from[0];
    if (select.where) {
      for (const Expr* conjunct : conjuncts(*select.where)) place(*conjunct);
    }
    columns_ = columns();
    groups_ = groups();
    order_ = order();
    for (const Expr* conjunct : elsewhere_) collect_variables(scope_, *conjunct, named_);
  }

  [[nodiscard]] std::string print() const {
    std::string out = labelled("walks", walk());
    if (!elsewhere_.empty()) out += labelled("where", written_conjunction(scope_, elsewhere_));
    out += labelled(select_.distinct ? "distinct" : "gives", columns_);
    if (!groups_.empty()) out += labelled("group", groups_);
    const std::string limit = select_.limit ? written(scope_, *select_.limit) : "";
    if (!order_.empty()) {
      auto order = order_;
      if (select_.limit) order.back() += " limit " + limit;
      out += labelled("order", order);
    } else if (select_.limit) {
      out += labelled("limit", limit);
    }
    return out;
  }

 private:
  void place(const Expr& conjunct) {
    std::set<std::uint32_t> variables;
    collect_variables(scope_, conjunct, variables);
    const bool here = variables.size() == 1 && only_reads_fields(conjunct) &&
                      std::find(select_.from.begin(), select_.from.end(), *variables.begin()) != select_.from.end();
    if (here) {
      conditions_.emplace_back(*variables.begin(), &conjunct);
    } else {
      elsewhere_.push_back(&conjunct);
    }
  }

  // Where there is one variable its name says nothing; where there are several, those that are named here are shown.
  std::string text(const Expr& expr) {
    if (only_ && only_reads_fields(expr)) return written(scope_, expr, only_, &select_);
    collect_variables(scope_, expr, named_);
    return written(scope_, expr, std::nullopt, &select_);
  }

  std::vector<std::string> columns() {
    std::vector<std::string> texts;
    for (const auto& column : select_.columns) {
      std::string told = written_name(column.name) + ": ";
      const Type& type = column.expr.type;
      if (column.aggregate) {
        told += "whole " + to_string(scope_.model, type) + written_without(scope_, column);
      } else {
        told += to_string(scope_.model, type);
        const bool plain_path = is_step(column.expr) && !column.expr.operands.empty() &&
                                column.expr.operands[0].kind == ExprKind::Variable &&
                                natural_name(scope_, column.expr) == column.name;
        if (!plain_path && column.expr.kind != ExprKind::Variable) {
          told += " = " + text(column.expr);
        }
      }
      texts.push_back(std::move(told));
    }
    return texts;
  }

  // A column by its name, where it is one.
  std::string by_column(const Expr& expr) {
    for (const auto& column : select_.columns) {
      if (same(column.expr, expr)) return written_name(column.name);
    }
    return text(expr);
  }

  std::vector<std::string> groups() {
    std::vector<std::string> texts;
    for (const auto& expr : select_.group_by) texts.push_back(by_column(expr));
    return texts;
  }

  std::vector<std::string> order() {
    std::vector<std::string> texts;
    for (const auto& term : select_.order_by) {
      texts.push_back(by_column(term.expr) + (term.descending ? " desc" : ""));
    }
    return texts;
  }

  // A path that starts from that variable, whose name need not be said.
  static bool continues(const Variable& variable, std::uint32_t before) {
    return variable.kind == SourceKind::Path && root_of(variable.source) == before;
  }

  std::string walk() const {
    auto named = named_;
    for (std::size_t i = 0; i < select_.from.size(); ++i) {
      const Variable* variable = find(select_.from[i]);
      if (variable == nullptr) continue;
      const bool goes_on = i > 0 && continues(*variable, select_.from[i - 1]);
      if (!goes_on) collect_variables(scope_, variable->source, named);
    }
    std::string out;
    for (std::size_t i = 0; i < select_.from.size(); ++i) {
      const auto index = select_.from[i];
      const Variable* variable = find(index);
      if (variable == nullptr) continue;
      std::optional<std::uint32_t> before;
      if (i > 0) before = select_.from[i - 1];
      std::set<std::uint32_t> read;
      collect_variables(scope_, variable->source, read);
      const bool path = variable->kind == SourceKind::Path || variable->kind == SourceKind::Instance;
      const bool goes_on = path && before && read.count(*before) > 0;
      if (i > 0) out += goes_on ? " -> " : ", ";
      const bool drops_name = goes_on && continues(*variable, *before);
      out += drops_name ? written(scope_, variable->source, before) : written_source(scope_, *variable);
      std::vector<const Expr*> conditions;
      for (const auto& [of, condition] : conditions_) {
        if (of == index) conditions.push_back(condition);
      }
      if (!conditions.empty()) out += "[" + written_conjunction(scope_, conditions, index) + "]";
      if (named.count(index) > 0 && !variable->name.empty()) out += " " + written_name(variable->name);
    }
    return out;
  }

  const Variable* find(std::uint32_t index) const {
    return index < scope_.variables.size() ? &scope_.variables[index] : nullptr;
  }

  const Scope& scope_;
  const Select& select_;
  std::optional<std::uint32_t> only_;
  std::vector<std::pair<std::uint32_t, const Expr*>> conditions_;
  std::vector<const Expr*> elsewhere_;
  std::set<std::uint32_t> named_;
  std::vector<std::string> columns_;
  std::vector<std::string> groups_;
  std::vector<std::string> order_;
};

std::string show_query(const Model& model, const Query& query) {
  const Scope scope{model, query.variables, query.parameters};
  std::string out = signature(model, query.name, query.parameters);
  if (query.refresh) {
    out += labelled("refresh", fmt::format("every {}, {} kept", written_duration(query.refresh->every_minutes),
                                           figure(static_cast<double>(query.refresh->keep))));
  }
  return out + SelectStory(scope, query.select).print();
}

class CommandStory {
 public:
  CommandStory(const Model& model, const Command& command)
      : scope_{model, command.variables, command.parameters}, command_(command) {}

  [[nodiscard]] std::string print() const {
    auto all = effects(command_.changes);
    if (all.empty()) all.emplace_back("nothing");
    return labelled("does", all, ";");
  }

 private:
  std::vector<std::string> effects(const std::vector<Change>& changes) const {
    std::vector<std::string> texts;
    std::vector<int> times;
    for (const auto& change : changes) {
      const std::string text = (change.then ? "then " : "") + effect(change);
      if (!texts.empty() && texts.back() == text) {
        ++times.back();
      } else {
        texts.push_back(text);
        times.push_back(1);
      }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (times[i] > 1) texts[i] += times[i] == 2 ? " (twice)" : fmt::format(" ({} times)", times[i]);
    }
    return texts;
  }

  std::string entity(EntityId id) const { return to_string(scope_.model, reference(id)); }

  std::string effect(const Change& change) const {
    switch (change.kind) {
      case ChangeKind::Insert:
        return "inserts " + entity(change.entity) + made_key(change.entity);
      case ChangeKind::Put:
        return "puts " + entity(change.entity);
      case ChangeKind::Update:
        return fmt::format("updates {} ({})", entity(change.entity), targets(change));
      case ChangeKind::UpdateWhere:
        return fmt::format("updates {} ({}) where {}", every(change), targets(change), where(change));
      case ChangeKind::Delete:
        return "deletes " + entity(change.entity) + parts(change.entity);
      case ChangeKind::DeleteWhere:
        return fmt::format("deletes {}{} where {}{}", every(change), parts(change.entity), where(change),
                           change.limit ? ", limit " + written(scope_, *change.limit) : "");
      case ChangeKind::Append:
        return "appends to " + path(change);
      case ChangeKind::Add:
        return "adds to " + path(change);
      case ChangeKind::Remove:
        return "removes from " + path(change);
      case ChangeKind::RemoveKey:
        return "removes a key from " + path(change);
      case ChangeKind::RemoveAt:
        return "removes " + path(change);
      case ChangeKind::RemoveWhere:
        return fmt::format("removes from {} where {}", path(change), where(change));
      case ChangeKind::PutInto:
        return "puts into " + path(change);
      case ChangeKind::Require:
        return "requires " + written(scope_, change.argument);
      case ChangeKind::For:
        return fmt::format("for each of {}: {}", loop_source(change), joined(effects(change.body), ", "));
    }
    return "?";
  }

  std::string every(const Change& change) const { return "every " + entity(change.entity); }

  std::string made_key(EntityId id) const {
    if (static_cast<std::size_t>(id) >= scope_.model.entities.size()) return "";
    const Entity& entity = scope_.model.entity(id);
    for (const auto part : entity.key) {
      if (part < entity.fields.size() && entity.fields[part].automatic && !entity.fields[part].hidden) {
        return fmt::format(" (makes {})", written_name(entity.fields[part].name));
      }
    }
    return "";
  }

  // What goes with an owner.
  std::string parts(EntityId id) const {
    std::vector<std::string> names;
    for (const auto& role : scope_.model.roles) {
      if (!role.owner || role.to != id) continue;
      auto name = entity(role.from);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names.empty() ? "" : " with each " + joined(names, ", ") + " of it";
  }

  std::string targets(const Change& change) const {
    std::vector<std::string> texts;
    for (const auto& assignment : change.assignments) {
      const auto variable = root_of(assignment.target);
      texts.push_back(written(scope_, assignment.target, variable));
    }
    return joined(texts, ", ");
  }

  std::string where(const Change& change) const {
    const auto asked = change.kind == ChangeKind::RemoveWhere ? change.element : change.variable;
    return change.where ? written(scope_, *change.where, asked) : "?";
  }

  // `Game.rounds`: whose collection it is, without the key.
  std::string path(const Change& change) const {
    const auto root = root_of(change.path);
    if (!root) return written(scope_, change.path);
    std::string owner = entity(change.entity);
    if (*root < scope_.variables.size() && scope_.variables[*root].type.kind == TypeKind::Reference) {
      owner = to_string(scope_.model, reference(scope_.variables[*root].type.entity()));
    }
    return owner + "." + written(scope_, change.path, root);
  }

  std::string loop_source(const Change& change) const {
    if (!change.variable || *change.variable >= scope_.variables.size()) return "?";
    return written(scope_, scope_.variables[*change.variable].source);
  }

  Scope scope_;
  const Command& command_;
};

std::string show_command(const Model& model, const Command& command) {
  return signature(model, command.name, command.parameters) + CommandStory(model, command).print();
}

std::string show_statements(const Model& model) {
  std::string out;
  for (std::size_t i = 0; i < model.queries.size(); ++i) {
    out += (i == 0 ? heading("queries") : "\n") + show_query(model, model.queries[i]);
  }
  for (std::size_t i = 0; i < model.commands.size(); ++i) {
    out += (i == 0 ? heading("commands") : "\n") + show_command(model, model.commands[i]);
  }
  return out;
}

// Groups and mixes

std::string statement_name(const Model& model, const StatementRef& statement) {
  if (statement.command) {
    return statement.index < model.commands.size() ? written_name(model.commands[statement.index].name) : "?";
  }
  return statement.index < model.queries.size() ? written_name(model.queries[statement.index].name) : "?";
}

std::string show_groups(const Model& model) {
  if (model.groups.empty()) return "";
  std::size_t width = 0;
  for (const auto& group : model.groups) width = std::max(width, display_width(written_name(group.name)));
  std::string out = heading("groups");
  for (const auto& group : model.groups) {
    std::vector<std::string> names;
    for (const auto& statement : group.statements) names.push_back(statement_name(model, statement));
    out += wrapped("  " + pad_right(written_name(group.name), width + 2), width + 4, names);
  }
  return out;
}

double weight_sum(const Mix& mix) {
  double sum = 0;
  for (const auto& weight : mix.weights) sum += weight.weight;
  return sum;
}

std::string rate_figure(double per_second) {
  if (per_second >= 0.1) return figure(per_second >= 10 ? std::round(per_second) : per_second) + "/s";
  if (per_second * 60 >= 0.1) return figure(per_second * 60) + "/min";
  if (per_second * 3600 >= 0.1) return figure(per_second * 3600) + "/hour";
  return figure(per_second * 86'400) + "/day";
}

// Statements down, mixes across.
std::string mixes_table(const Model& model, std::size_t first, std::size_t last) {
  std::vector<bool> right(1 + 2 * (last - first), true);
  right[0] = false;
  Table table(std::move(right));
  std::vector<std::string> names = {""};
  std::vector<std::string> notes = {""};
  bool noted = false;
  for (std::size_t i = first; i < last; ++i) {
    const Mix& mix = model.mixes[i];
    names.push_back(written_name(mix.name));
    names.push_back(mix.rate_per_second ? rate_figure(*mix.rate_per_second) : "");
    notes.push_back(mix.like.empty() ? "" : "like " + written_name(mix.like));
    notes.emplace_back("");
    noted = noted || !mix.like.empty();
  }
  table.add(names);
  if (noted) table.add(notes);

  const auto add_row = [&](const StatementRef& statement) {
    std::vector<std::string> row = {statement_name(model, statement)};
    bool any = false;
    for (std::size_t i = first; i < last; ++i) {
      const Mix& mix = model.mixes[i];
      const auto found = std::find_if(mix.weights.begin(), mix.weights.end(),
                                      [&](const Weight& weight) { return weight.statement == statement; });
      const double sum = weight_sum(mix);
      if (found == mix.weights.end() || sum <= 0) {
        row.insert(row.end(), {"", ""});
        continue;
      }
      any = true;
      const double share = found->weight / sum;
      row.push_back(share > 0 && share < 0.00005 ? "<0.01 %" : fmt::format("{:.2f} %", share * 100));
      row.push_back(mix.rate_per_second ? rate_figure(*mix.rate_per_second * share) : "");
    }
    if (any) table.add(row);
  };
  for (std::uint32_t i = 0; i < model.queries.size(); ++i) add_row({false, i});
  for (std::uint32_t i = 0; i < model.commands.size(); ++i) add_row({true, i});
  return table.print(2);
}

std::string show_mixes(const Model& model) {
  if (model.mixes.empty()) return "";
  std::size_t name_width = 0;
  for (const auto& query : model.queries) name_width = std::max(name_width, display_width(written_name(query.name)));
  for (const auto& command : model.commands)
    name_width = std::max(name_width, display_width(written_name(command.name)));
  std::string out = heading("mixes");
  for (std::size_t first = 0; first < model.mixes.size();) {
    std::size_t last = first;
    std::size_t width = 2 + name_width;
    while (last < model.mixes.size()) {
      const Mix& mix = model.mixes[last];
      const std::size_t heads =
          std::max({display_width(mix.name), mix.like.empty() ? 0 : 5 + display_width(mix.like), std::size_t{8}});
      width += 2 + heads + (mix.rate_per_second ? 10 : 0);
      if (last > first && width > page_width) break;
      ++last;
    }
    if (first > 0) out += '\n';
    out += mixes_table(model, first, last);
    first = last;
  }
  return out;
}

// Designs

std::string show_collection(const Model& model, const WrittenCollection& collection) {
  const std::vector<Parameter> none;
  const Scope scope{model, collection.variables, none};
  std::optional<std::uint32_t> bare;
  if (!collection.from.empty()) bare = collection.from[0];
  std::vector<std::string> parts;
  for (const auto& part : collection.by) parts.push_back(written(scope, part, bare));
  std::string head = fmt::format("collection {} of {} by {}", written_name(collection.name),
                                 written_sources(scope, collection.from), joined(parts, ", "));
  std::string out = wrapped("    ", 8, head);
  for (std::size_t i = 0; i < collection.options.size();) {
    const std::string& target = collection.options[i].target;
    std::vector<std::string> options;
    for (; i < collection.options.size() && collection.options[i].target == target; ++i) {
      options.push_back(written_name(collection.options[i].name) + ": " + written(scope, collection.options[i].value));
    }
    options.back() += ')';
    out += wrapped(fmt::format("      with {}(", target), 10, options);
  }
  for (const auto& family : collection.families) {
    out += wrapped("      ", 10, written_clauses(scope, family, bare), "");
  }
  return out;
}

std::string show_designs(const Model& model) {
  std::string out;
  for (std::size_t i = 0; i < model.designs.size(); ++i) {
    const WrittenDesign& design = model.designs[i];
    std::string head = written_name(design.name);
    if (!design.targets.empty()) head += "  for " + joined(design.targets, ", ");
    if (!design.rest.empty()) head += (design.collections.empty() ? "  all " : "  rest ") + design.rest;
    out += fmt::format("{}  {}\n", i == 0 ? heading("designs") : "\n", head);
    for (const auto& collection : design.collections) out += show_collection(model, collection);
  }
  return out;
}

std::string summary(const Model& model) {
  std::vector<std::string> counts;
  const auto add = [&](std::size_t count, std::string_view one, std::string_view many) {
    if (count > 0) counts.push_back(counted(count, one, many));
  };
  add(model.entities.size(), "entity", "entities");
  add(model.values.size(), "value", "values");
  add(model.roles.size(), "role", "roles");
  add(model.queries.size(), "query", "queries");
  add(model.commands.size(), "command", "commands");
  add(model.groups.size(), "group", "groups");
  add(model.mixes.size(), "mix", "mixes");
  add(model.designs.size(), "design", "designs");
  if (counts.empty()) counts.emplace_back("nothing in it");
  return wrapped("", 0, counts);
}

}  // namespace

std::string show_text(const Model& model) {
  return fmt::format("model {}\n{}{}{}{}{}{}{}", written_name(model.name), summary(model), show_data(model),
                     show_roles(model), show_statements(model), show_groups(model), show_mixes(model),
                     show_designs(model));
}

std::string show_signatures(const Model& model) {
  std::string out;
  if (!model.queries.empty()) out += "queries\n";
  for (const Query& query : model.queries) out += signature(model, query.name, query.parameters);
  if (!model.commands.empty()) out += "commands\n";
  for (const Command& command : model.commands) out += signature(model, command.name, command.parameters);
  return out;
}

std::string show_statement(const Model& model, const StatementRef& statement) {
  return statement.command ? show_command(model, model.commands[statement.index])
                           : show_query(model, model.queries[statement.index]);
}

}  // namespace noam::model
