#include "noam/design/strategies.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/family_logic.h"
#include "noam/design/logical.h"

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

namespace {

Expr variable_expr(const std::vector<model::Variable>& variables, std::uint32_t variable) {
  Expr expr;
  expr.kind = ExprKind::Variable;
  expr.index = variable;
  expr.type = variables[variable].type;
  return expr;
}

Expr constant_int(std::int64_t number) {
  Expr expr;
  expr.kind = ExprKind::Constant;
  expr.type = model::scalar(TypeKind::Int);
  expr.constant = number;
  return expr;
}

model::Part part_of(Expr expr, std::string name, bool descending = false) {
  model::Part part;
  part.expr = std::move(expr);
  part.name = std::move(name);
  part.descending = descending;
  return part;
}

model::Cell cell_of(Expr expr, std::string name) {
  model::Cell cell;
  cell.expr = std::move(expr);
  cell.name = std::move(name);
  return cell;
}

std::string unique_name(const Design& design, const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; std::any_of(design.collections.begin(), design.collections.end(),
                              [&](const Collection& at) { return at.name == name; });
       ++n)
    name = fmt::format("{}_{}", wanted, n);
  return name;
}

// The element families of an own collection: `rounds[*]`. Adds the variable over its elements to the collection.
Family element_family(const model::Model& model, Collection& collection, std::uint32_t self, std::uint32_t field) {
  const model::Field& of = model.entity(collection.variables[self].type.entity()).fields[field];
  model::Variable element;
  element.name = fmt::format("{}_element", of.name);
  element.kind = model::SourceKind::Path;
  element.type = of.type.element();
  element.source = field_expr(model, variable_expr(collection.variables, self), field);
  collection.variables.push_back(std::move(element));
  const auto variable = static_cast<std::uint32_t>(collection.variables.size() - 1);
  Family family;
  family.name = of.name;
  family.purpose = Purpose::Base;
  family.elements = field;
  family.from = {self, variable};
  const Expr whole = variable_expr(collection.variables, variable);
  switch (of.type.kind) {
    case TypeKind::List:
      family.key.push_back(part_of(call_expr(Function::Position, model::scalar(TypeKind::Int), {whole}), "position"));
      break;
    case TypeKind::Map:
      family.key.push_back(part_of(call_expr(Function::MapKey, of.type.arguments[0], {whole}), "key"));
      break;
    default:
      family.key.push_back(part_of(whole, of.name));
      break;
  }
  if (of.type.kind != TypeKind::Set) family.cells.push_back(cell_of(whole, "value"));
  return family;
}

// Whether it belongs in an entry of its own under the strategy.
enum class Cut : std::uint8_t { Whole, Fields, Elements };

void place_entity(const model::Model& model, Design& design, model::EntityId id, Cut cut) {
  const model::Entity& entity = model.entity(id);
  Collection collection;
  collection.name = unique_name(design, entity.name);
  collection.added = true;
  model::Variable self;
  self.name = std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(entity.name[0]))));
  self.kind = model::SourceKind::Entity;
  self.type = model::reference(id);
  collection.variables.push_back(std::move(self));
  const Expr variable = variable_expr(collection.variables, 0);
  for (const std::uint32_t part : entity.key) {
    if (entity.fields[part].hidden)
      collection.by.push_back(part_of(variable, "id"));
    else
      collection.by.push_back(part_of(field_expr(model, variable, part), entity.fields[part].name));
  }
  const auto index = static_cast<std::uint32_t>(design.collections.size());
  std::vector<Family> families;
  Family whole;
  whole.from = {0};
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    const model::Field& field = entity.fields[i];
    const bool in_key = std::find(entity.key.begin(), entity.key.end(), i) != entity.key.end();
    if (cut == Cut::Fields && !field.hidden) {
      Family one;
      one.name = field.name;
      one.from = {0};
      one.cells.push_back(cell_of(field_expr(model, variable, i), field.name));
      families.push_back(std::move(one));
    } else if (cut == Cut::Elements && field.type.is_collection()) {
      families.push_back(element_family(model, collection, 0, i));
    } else if (!in_key) {
      whole.cells.push_back(cell_of(field_expr(model, variable, i), field.name));
    }
  }
  if (cut != Cut::Fields) families.insert(families.begin(), std::move(whole));
  design.collections.push_back(std::move(collection));
  for (Family& family : families) {
    family.collection = index;
    add_family(model, design, std::move(family));
  }
}

void place_written(const model::Model& model, Design& design, const model::WrittenDesign& written) {
  for (const model::WrittenCollection& from : written.collections) {
    Collection collection;
    collection.name = from.name;
    collection.variables = from.variables;
    collection.by = from.by;
    collection.options = from.options;
    const auto index = static_cast<std::uint32_t>(design.collections.size());
    std::vector<Family> families;
    for (const model::WrittenFamily& at : from.families) {
      Family family;
      if (at.elements) {
        family = element_family(model, collection, from.from[0], *at.field);
      } else {
        family.purpose = at.copy ? Purpose::Written : Purpose::Base;
        family.from = from.from;
        family.from.insert(family.from.end(), at.from.begin(), at.from.end());
        family.key = at.key;
        family.cells = at.cells;
        family.where = at.where;
        family.limit = at.limit;
        for (const std::string& step : at.path) family.name += family.name.empty() ? step : "." + step;
        if (!at.copy && from.from.size() > 1) {  // elements in blocks of their own
          family.elements = from.variables[from.from[1]].source.index;
        }
      }
      families.push_back(std::move(family));
    }
    design.collections.push_back(std::move(collection));
    for (Family& family : families) {
      family.collection = index;
      add_family(model, design, std::move(family));
    }
  }
}

bool hold_the_same_rows(const FamilyLogic& a, const FamilyLogic& b) {
  const auto all_alike = [](const std::vector<Expr>& x, const std::vector<Expr>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), alike);
  };
  const auto same_node = [](const Node& x, const Node& y) {
    return x.kind == y.kind && x.type == y.type && x.query == y.query && alike(x.source, y.source);
  };
  const std::vector<Node>& x = a.logical.nodes;
  const std::vector<Node>& y = b.logical.nodes;
  return a.logical.subs.empty() && b.logical.subs.empty() && a.body.nodes == b.body.nodes &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), same_node) && all_alike(a.body.where, b.body.where) &&
         all_alike(a.block, b.block) && all_alike(a.key, b.key);
}

// A copy that was asked for may hold just the members of a fold. Then these need no family of their own.
void share_members(const model::Model& model, Design& design) {
  const auto in_same_order = [](const Family& a, const Family& b) {
    return std::equal(a.key.begin(), a.key.end(), b.key.begin(), b.key.end(),
                      [](const model::Part& x, const model::Part& y) { return x.descending == y.descending; });
  };
  std::vector<Family> kept;
  std::vector<std::uint32_t> numbers;  // new ones
  std::set<std::uint32_t> gone;
  for (std::uint32_t i = 0; i < design.families.size(); ++i) {
    const Family& members = design.families[i];
    if (members.purpose != Purpose::Members) continue;
    const FamilyLogic logic = take_apart(model, design, members);
    for (Family& copy : design.families) {
      if (copy.purpose != Purpose::Written || !copy.grouped || copy.limit || copy.counts_members) continue;
      if (!in_same_order(copy, members) || !hold_the_same_rows(take_apart(model, design, copy), logic)) continue;
      copy.counts_members = true;
      copy.members_of = members.members_of;
      copy.members_column = members.members_column;
      gone.insert(i);
      break;
    }
  }
  for (std::uint32_t i = 0; i < design.families.size(); ++i) {
    numbers.push_back(static_cast<std::uint32_t>(kept.size()));
    if (!gone.contains(i)) kept.push_back(std::move(design.families[i]));
  }
  for (Family& family : kept)
    if (family.counts_members) family.members_of = numbers[family.members_of];
  design.families = std::move(kept);
  for (Collection& collection : design.collections) {
    std::erase_if(collection.families, [&](std::uint32_t family) { return gone.contains(family); });
    for (std::uint32_t& family : collection.families) family = numbers[family];
  }
}

// The families that hold an entity, but for its elements.
std::vector<std::uint32_t> homes(const Design& design, model::EntityId id) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < design.families.size(); ++i) {
    const Family& family = design.families[i];
    if (family.purpose != Purpose::Base) continue;
    if (design.collection_of(family).variables[family.from[0]].type.entity() == id) found.push_back(i);
  }
  return found;
}

std::optional<std::uint32_t> own_field(const Expr& expr) {
  if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable) return expr.index;
  return std::nullopt;
}

// Every field has a place, and one family has an entry for each instance.
void complete_base(const model::Model& model, Design& design, model::EntityId id, Cut cut) {
  const model::Entity& entity = model.entity(id);
  if (entity.transient) return;
  std::vector<std::uint32_t> families = homes(design, id);
  if (families.empty()) {
    place_entity(model, design, id, cut);
    families = homes(design, id);
  }
  std::set<std::uint32_t> placed(entity.key.begin(), entity.key.end());
  std::optional<std::uint32_t> existence;
  std::optional<std::uint32_t> named_by_key;
  std::optional<std::uint32_t> home;  // a collection of instances, not of elements
  for (const std::uint32_t f : families) {
    const Family& family = design.families[f];
    if (family.elements) {
      placed.insert(*family.elements);
      if (!design.collection_of(family).by.empty() && family.from.size() > 1 && !home) {
        const auto& by = design.collection_of(family).by;
        const bool by_instance = std::none_of(by.begin(), by.end(), [&](const model::Part& part) {
          bool element = false;
          const std::function<void(const Expr&)> look = [&](const Expr& expr) {
            if (expr.kind == ExprKind::Variable && expr.index == family.from[1]) element = true;
            for (const Expr& operand : expr.operands) look(operand);
          };
          look(part.expr);
          return element;
        });
        if (by_instance) home = family.collection;
      }
      continue;
    }
    home = family.collection;
    if (family.name.empty() && !existence) existence = f;
    for (const model::Cell& cell : family.cells) {
      const auto field = own_field(cell.expr);
      if (!field) continue;
      placed.insert(*field);
      if (std::find(entity.key.begin(), entity.key.end(), *field) != entity.key.end()) named_by_key = f;
    }
    // What is in a key need not be a column.
    for (const auto* parts : {&std::as_const(design.collection_of(family).by), &std::as_const(family.key)})
      for (const model::Part& part : *parts)
        if (const auto field = own_field(part.expr)) placed.insert(*field);
  }
  if (!existence) existence = named_by_key;
  if (!home || (!existence && design.collections[*home].by.empty())) {
    place_entity(model, design, id, Cut::Whole);
    families = homes(design, id);
    // Only what no other family holds.
    for (const std::uint32_t f : families) {
      Family& family = design.families[f];
      if (!design.collection_of(family).added || family.elements) continue;
      family.cells.erase(std::remove_if(family.cells.begin(), family.cells.end(),
                                        [&](const model::Cell& cell) {
                                          const auto field = own_field(cell.expr);
                                          return field && placed.contains(*field);
                                        }),
                         family.cells.end());
      for (const model::Cell& cell : family.cells) placed.insert(*own_field(cell.expr));
      existence = f;
      home = family.collection;
    }
  }
  if (!existence) {
    Family family;
    family.collection = *home;
    family.from = {design.families[design.collections[*home].families[0]].from[0]};
    // Entries of one row lie under one key.
    for (const std::uint32_t f : design.collections[*home].families)
      if (design.families[f].purpose == Purpose::Base && !design.families[f].elements)
        family.key = design.families[f].key;
    existence = add_family(model, design, std::move(family));
  }
  const std::uint32_t self = design.families[*existence].from[0];
  for (std::uint32_t i = 0; i < entity.fields.size(); ++i) {
    if (placed.contains(i)) continue;
    const Expr variable = variable_expr(design.collections[design.families[*existence].collection].variables, self);
    const bool collection = entity.fields[i].type.is_collection();
    if (cut == Cut::Whole || (cut == Cut::Elements && !collection)) {
      design.families[*existence].cells.push_back(cell_of(field_expr(model, variable, i), entity.fields[i].name));
      continue;
    }
    const std::uint32_t where = design.families[*existence].collection;
    Family family;
    if (cut == Cut::Elements && design.families[*existence].key.empty()) {
      family = element_family(model, design.collections[where], self, i);
    } else {
      family.name = entity.fields[i].name;
      family.from = {self};
      family.key = design.families[*existence].key;
      family.cells.push_back(cell_of(field_expr(model, variable, i), entity.fields[i].name));
    }
    family.collection = where;
    add_family(model, design, std::move(family));
  }
  Family& head = design.families[*existence];
  head.existence = true;
  if (entity.ttl) head.hidden.push_back({HiddenKind::Due, 0});
  for (const std::uint32_t f : homes(design, id)) {
    const Family& family = design.families[f];
    if (!family.elements) continue;
    const FamilyLogic logic = take_apart(model, design, family);
    const bool spread = std::any_of(logic.block.begin(), logic.block.end(), [&](const Expr& part) {
      std::vector<std::uint32_t> nodes;
      collect_nodes(logic.logical, part, nodes);
      return std::find(nodes.begin(), nodes.end(), *logic.element_node) != nodes.end();
    });
    // The length of a list is known without reading it.
    const bool list = entity.fields[*family.elements].type.kind == TypeKind::List;
    if (spread || list) design.families[*existence].hidden.push_back({HiddenKind::Elements, *family.elements});
  }
}

void place_own(const model::Model& model, Design& design) {
  const auto add = [&](const std::string& name, Purpose purpose, std::uint32_t of, std::vector<model::Part> key,
                       std::vector<model::Cell> cells, std::optional<std::uint32_t> beside) {
    std::uint32_t index = 0;
    if (beside) {
      index = *beside;
    } else {
      Collection collection;
      collection.name = unique_name(design, name);
      collection.added = true;
      collection.by.push_back(part_of(constant_int(0), "all"));
      index = static_cast<std::uint32_t>(design.collections.size());
      design.collections.push_back(std::move(collection));
    }
    Family family;
    family.collection = index;
    family.purpose = purpose;
    family.members_of = of;
    family.key = std::move(key);
    family.cells = std::move(cells);
    design.collections[index].families.push_back(static_cast<std::uint32_t>(design.families.size()));
    design.families.push_back(std::move(family));
    return index;
  };
  const auto typed = [](TypeKind kind) {
    Expr expr;
    expr.kind = ExprKind::Constant;
    expr.type = model::scalar(kind);
    return expr;
  };
  for (std::uint32_t i = 0; i < model.entities.size(); ++i) {
    const model::Entity& entity = model.entities[i];
    if (!entity.ttl) continue;
    Expr reference = typed(TypeKind::Reference);
    reference.type = model::reference(static_cast<model::EntityId>(i));
    add(entity.name + "_due", Purpose::Due, i,
        {part_of(typed(TypeKind::Timestamp), "due"), part_of(std::move(reference), "instance")}, {}, std::nullopt);
  }
  for (std::uint32_t i = 0; i < model.queries.size(); ++i) {
    const model::Query& query = model.queries[i];
    if (!query.refresh) continue;
    Expr times = typed(TypeKind::List);
    times.type = model::collection_of(TypeKind::List, model::scalar(TypeKind::Timestamp));
    const std::uint32_t collection =
        add(query.name, Purpose::Refreshed, i, {},
            {cell_of(typed(TypeKind::Timestamp), "last"), cell_of(std::move(times), "kept")}, std::nullopt);
    std::vector<model::Cell> cells;
    for (std::size_t column = 0; column < query.row.names.size(); ++column) {
      Expr expr = typed(TypeKind::Int);
      expr.type = query.row.arguments[column];
      cells.push_back(cell_of(std::move(expr), query.row.names[column]));
    }
    add(query.name, Purpose::Refreshed, i,
        {part_of(typed(TypeKind::Timestamp), "refreshed", true), part_of(typed(TypeKind::Int), "position")},
        std::move(cells), collection);
  }
  // Commands that were applied under an id that a caller gave.
  const std::uint32_t guards =
      add("commands", Purpose::Guard, 0, {},
          {cell_of(typed(TypeKind::Text), "outcome"), cell_of(typed(TypeKind::Timestamp), "at")}, std::nullopt);
  design.collections[guards].by[0] = part_of(typed(TypeKind::Uuid), "id");
  const std::uint32_t notes =
      add("notes", Purpose::Notes, 0, {}, {cell_of(typed(TypeKind::Text), "text")}, std::nullopt);
  design.collections[notes].by[0] = part_of(typed(TypeKind::Text), "name");
}

}  // namespace

bool Family::added_to() const {
  return copy() && grouped && !limit && !counts_members &&
         std::all_of(hidden.begin(), hidden.end(), [](const Hidden& at) { return at.kind == HiddenKind::Weight; }) &&
         std::all_of(cells.begin(), cells.end(), [](const model::Cell& cell) {
           return cell.shape == model::CellShape::Plain && cell.expr.kind == ExprKind::Fold &&
                  (cell.expr.fold == model::Fold::Count || (cell.expr.fold == model::Fold::Sum && !cell.expr.distinct));
         });
}

std::uint32_t add_family(const model::Model& model, Design& design, Family family) {
  const auto index = static_cast<std::uint32_t>(design.families.size());
  const std::uint32_t collection = family.collection;
  design.families.push_back(std::move(family));
  design.collections[collection].families.push_back(index);
  if (!design.families[index].copy()) return index;
  Family& made = design.families[index];
  const auto folds = [](const model::Cell& cell) {
    return cell.shape == model::CellShape::Plain && cell.expr.kind == ExprKind::Fold;
  };
  const FamilyLogic logic = take_apart(model, design, made);
  const bool lists = std::any_of(made.cells.begin(), made.cells.end(), [](const model::Cell& cell) {
    return cell.shape == model::CellShape::List && cell.from.empty();
  });
  made.grouped = !logic.collapsed.empty() || lists || std::any_of(made.cells.begin(), made.cells.end(), folds);
  // With one aggregate a row and nothing beyond it, a change of the aggregate tells all.
  bool alone = logic.body.nodes.size() == 1 || (logic.body.nodes.size() >= 2 && logic.logical.subs.empty());
  std::size_t instances = 0;
  for (const std::uint32_t node : logic.body.nodes) instances += logic.logical.nodes[node].is_instance() ? 1 : 0;
  alone = alone && instances <= 1 && logic.logical.subs.empty();
  for (const Node& node : logic.logical.nodes) alone = alone && node.kind != NodeKind::Optional;
  made.stratum = alone ? 1 : 2;
  if (!made.grouped) return index;
  const bool counted = std::any_of(made.cells.begin(), made.cells.end(), [](const model::Cell& cell) {
    return cell.shape == model::CellShape::Plain && cell.expr.kind == ExprKind::Fold &&
           cell.expr.fold == model::Fold::Count && cell.expr.operands.empty();
  });
  if (!counted) made.hidden.push_back({HiddenKind::Weight, 0});
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < made.cells.size(); ++i) {
    if (!folds(made.cells[i])) continue;
    const Expr& fold = made.cells[i].expr;
    if (fold.fold == model::Fold::Avg) {
      made.hidden.push_back({HiddenKind::Sum, i});
      made.hidden.push_back({HiddenKind::Counted, i});
    }
    if (fold.distinct || fold.fold == model::Fold::Min || fold.fold == model::Fold::Max) members.push_back(i);
  }
  for (const std::uint32_t i : members) {
    Family of = design.families[index];
    const Expr& fold = of.cells[i].expr;
    of.purpose = Purpose::Members;
    of.name = fmt::format("{}{}{}_members", of.name, of.name.empty() ? "" : ".", of.cells[i].name);
    of.key.push_back(part_of(fold.operands[0], "member"));
    of.cells.clear();
    of.hidden = {{HiddenKind::Weight, 0}};
    of.grouped = true;
    of.limit.reset();
    of.counts_members = true;
    of.members_of = index;
    of.members_column = i;
    const auto at = static_cast<std::uint32_t>(design.families.size());
    design.families.push_back(std::move(of));
    design.collections[collection].families.push_back(at);
  }
  return index;
}

Design place(const model::Model& model, const model::WrittenDesign* written, std::string_view strategy) {
  Design design;
  design.name = written != nullptr ? written->name : std::string(strategy);
  design.rest = strategy;
  if (written != nullptr) {
    place_written(model, design, *written);
    share_members(model, design);
  }
  const Cut cut = strategy == "etf" ? Cut::Fields : strategy == "normalized" ? Cut::Elements : Cut::Whole;
  for (std::uint32_t i = 0; i < model.entities.size(); ++i)
    complete_base(model, design, static_cast<model::EntityId>(i), cut);
  place_own(model, design);
  return design;
}

Design choose_design(const model::Model& model, std::string_view name) {
  if (std::find(std::begin(strategy_names), std::end(strategy_names), name) != std::end(strategy_names))
    return place(model, nullptr, name);
  const auto written =
      std::find_if(model.designs.begin(), model.designs.end(), [&](const auto& design) { return design.name == name; });
  check(written != model.designs.end(), "a strategy or a design has that name");
  // The rest of a design is not chosen by cost yet.
  return place(model, &*written, written->rest == "advised" ? "eao" : written->rest);
}

}  // namespace noam::design
