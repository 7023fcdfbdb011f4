#include "noam/design/explanation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/design/appends.h"
#include "noam/model/estimates.h"
#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::ChangeKind;
using model::Expr;
using model::ExprKind;
using model::TypeKind;

namespace {

constexpr double unknown_length = 10;
constexpr double unknown_instances = 1'000;
constexpr double rows_an_entry = 10;  // where several share it
constexpr int deepest_parts = 8;

void add_once(std::vector<std::string>& to, const std::string& what) {
  if (std::find(to.begin(), to.end(), what) == to.end()) to.push_back(what);
}

void read_families(const Plan& plan, std::set<std::uint32_t>& out) {
  for (const auto* steps : {&plan.steps, &plan.late}) {
    for (const Step& step : *steps) {
      if (step.kind == StepKind::Lookup || step.kind == StepKind::Scan || step.kind == StepKind::Collect)
        out.insert(step.family);
      for (const Plan& nested : step.nested) read_families(nested, out);
    }
  }
  for (const Plan& otherwise : plan.otherwise) read_families(otherwise, out);
}

void read_families(const std::vector<Deed>& deeds, std::set<std::uint32_t>& out) {
  for (const Deed& deed : deeds) {
    if (deed.family) out.insert(*deed.family);
    read_families(deed.inside, out);
  }
}

bool scans(const std::vector<Deed>& deeds) {
  return std::any_of(deeds.begin(), deeds.end(), [](const Deed& deed) {
    return deed.kind == DeedKind::Scan || (deed.kind != DeedKind::Otherwise && scans(deed.inside));
  });
}

std::vector<Deed> times(std::vector<Deed> deeds, double factor) {
  for (Deed& deed : deeds) {
    deed.work = deed.work * factor;
    deed.inside = times(std::move(deed.inside), factor);
  }
  return deeds;
}

bool is_empty(const Expr& expr) {
  const bool collection = expr.kind == ExprKind::List || expr.kind == ExprKind::Map;
  return expr.kind == ExprKind::Unknown || (collection && expr.operands.empty()) ||
         (expr.kind == ExprKind::Constant && std::holds_alternative<std::monostate>(expr.constant));
}

// The own field that a path begins with.
std::optional<std::uint32_t> top_field(const Expr& path) {
  const Expr* at = &path;
  while ((at->kind == ExprKind::Field || at->kind == ExprKind::Element) && at->operands[0].kind != ExprKind::Variable)
    at = &at->operands[0];
  if (at->kind == ExprKind::Field) return at->index;
  return std::nullopt;
}

bool mentions_slot(const Expr& expr, std::uint32_t slot) {
  if (expr.kind == ExprKind::Slot) return expr.index == slot;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const Expr& at) { return mentions_slot(at, slot); });
}

// A row for each element of what is in the slot.
bool unnests(const Plan& plan, std::uint32_t slot) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [&](const Step& step) { return step.kind == StepKind::Unnest && mentions_slot(step.expr, slot); });
}

// What one change does to the aggregates it names.
struct Touch {
  enum class Kind : std::uint8_t { Make, Change, Remove };
  Kind kind = Kind::Change;
  model::EntityId entity{};
  std::string target;                        // as written; changes of the same one are taken together
  std::set<std::uint32_t> fields;            // Change: those that may differ afterwards
  std::map<std::uint32_t, double> elements;  // Change: how many elements of a collection differ, where not all do
  std::set<std::uint32_t> resized;           // collections that may have become longer or shorter
  std::set<std::uint32_t> appended;          // lists that something is appended to, and that is all
  std::set<std::uint32_t> empty;             // Make: collections without elements
  bool replaces = false;                     // Make: of an instance that may be there already
  double times = 1;
};

// The fields that a change may give other values, and those of them that it sets as a whole.
struct Fields {
  const model::EntityId entity;
  const std::set<std::uint32_t>& any;
  const std::set<std::uint32_t>& whole;
};

// Whether a value hangs on one of the fields; also through what a node is made of, such as the words of a text. What is
// made of elements hangs on all of them only where the collection is set as a whole.
bool hangs_on(const Logical& logical, const Expr& expr, const Fields& fields) {
  const auto hangs = [&](const Expr& at) { return hangs_on(logical, at, fields); };
  if (expr.kind == ExprKind::Field && expr.operands[0].type.kind == TypeKind::Reference &&
      expr.operands[0].type.entity() == fields.entity && fields.any.contains(expr.index))
    return true;
  if (expr.kind == ExprKind::Variable && expr.index < logical.nodes.size()) {
    const Node& node = logical.nodes[expr.index];
    const bool element = node.kind == NodeKind::Element || node.kind == NodeKind::Word;
    return hangs_on(logical, node.source, {fields.entity, element ? fields.whole : fields.any, fields.whole});
  }
  if (expr.kind == ExprKind::Select && expr.index < logical.subs.size()) {
    const Body& body = logical.subs[expr.index].body;
    const auto node_hangs = [&](std::uint32_t node) { return hangs(logical.nodes[node].source); };
    return std::any_of(body.where.begin(), body.where.end(), hangs) ||
           std::any_of(body.nodes.begin(), body.nodes.end(), node_hangs) ||
           std::any_of(body.columns.begin(), body.columns.end(),
                       [&](const OutputColumn& column) { return hangs(column.expr); });
  }
  return std::any_of(expr.operands.begin(), expr.operands.end(), hangs);
}

class CommandExplainer {
 public:
  CommandExplainer(const Program& program, const Explainer& explainer, const model::Command& command)
      : program_(program), model_(*program.model), explainer_(explainer), command_(command) {}

  Explanation run(const CommandPlan& plan) {
    changes(command_.changes, plan.changes, 1);
    for (const Touch& touch : touches_) write_base(touch);
    for (const Upkeep& upkeep : program_.upkeep) follow(upkeep);
    for (const Touch& touch : touches_)
      if (touch.kind == Touch::Kind::Remove) forget(touch);
    out_.read = total(out_.deeds);
    out_.scans = scans(out_.deeds);
    std::map<std::uint32_t, double> blocks;  // by collection
    const auto count = [&](const Written& written) {
      out_.written += written.entries;
      out_.written_bytes += written.bytes;
      double& most = blocks[program_.design.families[written.family].collection];
      most = std::max(most, written.blocks);
    };
    for (const Written& base : out_.bases) count(base);
    for (const Following& copy : out_.copies) {
      count(copy.written);
      out_.read += total(copy.support);
    }
    for (const auto& at : blocks) out_.blocks += at.second;
    return std::move(out_);
  }

 private:
  // --- What is read first -------------------------------------------------------------------------------------------

  [[nodiscard]] std::string text(const Expr& expr, std::optional<std::uint32_t> bare = std::nullopt) const {
    return written({model_, command_.variables, command_.parameters}, expr, bare);
  }

  [[nodiscard]] std::string name(model::EntityId entity) const {
    return model::written_name(model_.entity(entity).name);
  }

  [[nodiscard]] std::string target_text(const model::Change& change) const {
    if (change.target.kind == ExprKind::Instance) return text(change.target);
    if (change.target.kind != ExprKind::Unknown) return fmt::format("{}[{}]", name(change.entity), text(change.target));
    return "each " + name(change.entity);
  }

  void compute(const std::string& what, Narration narration, double factor) {
    std::vector<Deed>& deeds = narration.deeds;
    deeds.erase(std::remove_if(deeds.begin(), deeds.end(),
                               [](const Deed& deed) { return deed.kind == DeedKind::Project; }),
                deeds.end());
    if (deeds.empty()) return;
    Deed deed;
    deed.kind = DeedKind::Compute;
    deed.text = what;
    deed.inside = times(std::move(deeds), factor);
    out_.deeds.push_back(std::move(deed));
  }

  void load(const std::string& what, model::EntityId entity, double factor, bool there = true) {
    if (model_.entity(entity).transient || (there && !loaded_.insert(what).second)) return;
    Deed deed;
    deed.kind = DeedKind::Load;
    deed.text = what;
    deed.inside = times(narrate_load(program_, entity).deeds, factor);
    if (!there) {
      // Nothing is found, and what depends on it is not asked for.
      const double reads = factor;
      for (Deed& step : deed.inside) step.work = {std::min(step.work.reads, reads), 0, 0};
    }
    out_.deeds.push_back(std::move(deed));
  }

  // Instead of all of it.
  void see_length(const AppendPlan& append, model::EntityId entity, const std::string& target, double factor) {
    if (loaded_.contains("load " + target)) return;
    Deed deed;
    deed.kind = DeedKind::Load;
    deed.text = append.elements
                    ? fmt::format("see how many {} {} has", model_.entity(entity).fields[append.field].name, target)
                    : fmt::format("see that {} is there", target);
    Deed look;
    look.kind = DeedKind::Lookup;
    look.text = fmt::format("look up {}", program_.design.collection_of(program_.design.families[append.head]).name);
    look.family = append.head;
    look.work = {factor, factor, factor * explainer_.bytes(append.head)};
    deed.inside.push_back(std::move(look));
    out_.deeds.push_back(std::move(deed));
  }

  void load_owners(model::EntityId entity, const std::set<std::uint32_t>* fields, double factor) {
    for (const std::uint32_t index : model_.entity(entity).owners) {
      const model::Role& role = model_.roles[index];
      if (fields != nullptr && !fields->contains(role.field)) continue;
      load(fmt::format("load the owner, a {}", name(role.to)), role.to, factor);
    }
  }

  void changes(const std::vector<model::Change>& all, const std::vector<ChangePlan>& plans, double factor) {
    for (std::size_t i = 0; i < all.size(); ++i) change(all[i], plans[i], factor);
  }

  void change(const model::Change& change, const ChangePlan& plan, double factor) {
    const std::string target = target_text(change);
    switch (change.kind) {
      case ChangeKind::Require:
        compute("require " + text(change.argument), narrate_inputs(program_, command_, change, plan), factor);
        return;
      case ChangeKind::For:
        compute("for each of " + text(command_.variables[*change.variable].source),
                narrate_inputs(program_, command_, change, plan), factor);
        changes(change.body, plan.body, factor * unknown_length);
        return;
      case ChangeKind::UpdateWhere:
      case ChangeKind::DeleteWhere: {
        Narration found = narrate_find(program_, command_, change, *plan.find);
        out_.commits = found.rows;
        compute("find every " + name(change.entity) + " that matches", std::move(found), factor);
        factor *= *out_.commits;
        compute("ask each again", narrate_where(program_, command_, change, plan), factor);
        break;
      }
      default:
        break;
    }
    compute("work out what is written", narrate_inputs(program_, command_, change, plan), factor);
    switch (change.kind) {
      case ChangeKind::Insert:
      case ChangeKind::Put:
        make(change, factor);
        return;
      case ChangeKind::Delete:
      case ChangeKind::DeleteWhere:
        remove(change.entity, target, factor, 0);
        return;
      default:
        break;
    }
    if (const AppendPlan* append = append_of(program_, change))
      see_length(*append, change.entity, target, factor);
    else
      load("load " + target, change.entity, factor);
    if (change.kind == ChangeKind::RemoveWhere)
      compute("ask each element", narrate_where(program_, command_, change, plan), factor * unknown_length);
    update(change, target, factor);
  }

  void make(const model::Change& change, double factor) {
    const model::Entity& entity = model_.entity(change.entity);
    Touch touch;
    touch.kind = Touch::Kind::Make;
    touch.entity = change.entity;
    touch.target = fmt::format("a new {}", name(change.entity));
    touch.replaces = change.kind == ChangeKind::Put;
    touch.times = factor;
    for (std::uint32_t i = 0; i < entity.fields.size(); ++i)
      if (entity.fields[i].type.is_collection()) touch.empty.insert(i);
    for (const model::Assignment& assignment : change.assignments)
      if (!is_empty(assignment.value)) touch.empty.erase(assignment.target.index);
    load(change.kind == ChangeKind::Put ? "load the " + name(change.entity) + " of that key, if there is one"
                                        : "see that there is no " + name(change.entity) + " of that key",
         change.entity, factor, false);
    load_owners(change.entity, nullptr, factor);
    add(std::move(touch));
  }

  [[nodiscard]] double length(model::EntityId entity, std::uint32_t field) const {
    return std::max(model_.entity(entity).fields[field].statistic.count.value_or(unknown_length), 1.0);
  }

  void update(const model::Change& change, const std::string& target, double factor) {
    Touch touch;
    touch.entity = change.entity;
    touch.target = target;
    touch.times = factor;
    for (const model::Assignment& assignment : change.assignments) {
      const auto field = top_field(assignment.target);
      if (!field) continue;
      touch.fields.insert(*field);
      if (assignment.target.kind != ExprKind::Field || assignment.target.operands[0].kind != ExprKind::Variable)
        touch.elements[*field] = 1;
      else
        touch.resized.insert(*field);
    }
    if (change.path.kind != ExprKind::Unknown) {
      if (const auto field = top_field(change.path)) {
        touch.fields.insert(*field);
        touch.resized.insert(*field);
        touch.elements[*field] = elements_changed(change, *field);
        if (change.kind == ChangeKind::Append && own_field(change.path)) touch.appended.insert(*field);
        other_side(change, *field, factor);
      }
    }
    load_owners(change.entity, &touch.fields, factor);
    add(std::move(touch));
  }

  // How many elements of the collection are not what, or where, they were.
  [[nodiscard]] double elements_changed(const model::Change& change, std::uint32_t field) const {
    const double all = length(change.entity, field);
    const bool list = model_.entity(change.entity).fields[field].type.kind == TypeKind::List;
    switch (change.kind) {
      case ChangeKind::RemoveAt: {
        // What comes after it moves up.
        const Expr& position = change.path.operands[1];
        const auto* number = std::get_if<std::int64_t>(&position.constant);
        if (!list || (number != nullptr && *number == -1)) return 1;
        return number != nullptr && *number == 0 ? all : std::max(all / 2, 1.0);
      }
      case ChangeKind::Remove:
      case ChangeKind::RemoveWhere:
        return list ? std::max(all / 2, 1.0) : 1;
      default:
        return change.all ? std::min(unknown_length, all) : 1;
    }
  }

  // Of a symmetric role: the one that is removed may keep this one, too.
  void other_side(const model::Change& change, std::uint32_t field, double factor) {
    const auto role = model_.entity(change.entity).fields[field].role;
    const bool removes = change.kind == ChangeKind::Remove || change.kind == ChangeKind::RemoveWhere;
    if (!role || !model_.roles[*role].symmetric || !removes) return;
    const std::string other = "the other " + name(change.entity);
    load("load " + other, change.entity, factor);
    Touch touch;
    touch.entity = change.entity;
    touch.target = other;
    touch.fields.insert(field);
    touch.elements[field] = 1;
    touch.times = factor;
    add(std::move(touch));
  }

  void remove(model::EntityId entity, const std::string& target, double factor, int depth) {
    load("load " + target, entity, factor);
    Touch touch;
    touch.kind = Touch::Kind::Remove;
    touch.entity = entity;
    touch.target = target;
    touch.times = factor;
    add(std::move(touch));
    if (depth > deepest_parts) return;
    for (const PartsPlan& parts : program_.entities[static_cast<std::size_t>(entity)].parts) {
      const std::string whose = fmt::format("every {} of {}", name(parts.entity), target);
      Narration found = narrate_parts(program_, entity, parts);
      const double rows = found.rows;
      compute("find " + whose, std::move(found), factor);
      remove(parts.entity, whose, factor * rows, depth + 1);
    }
  }

  void add(Touch touch) {
    for (Touch& at : touches_) {
      if (at.entity != touch.entity || at.target != touch.target || at.kind != touch.kind ||
          at.kind == Touch::Kind::Make)
        continue;
      for (const std::uint32_t field : touch.fields) {
        if (!touch.appended.contains(field) || (at.fields.contains(field) && !at.appended.contains(field)))
          at.appended.erase(field);
        else
          at.appended.insert(field);
        const auto changed = touch.elements.find(field);
        const auto before = at.elements.find(field);
        const bool whole =
            changed == touch.elements.end() || (at.fields.contains(field) && before == at.elements.end());
        if (whole)
          at.elements.erase(field);
        else
          at.elements[field] += changed->second;
        at.fields.insert(field);
      }
      at.resized.insert(touch.resized.begin(), touch.resized.end());
      return;
    }
    touches_.push_back(std::move(touch));
  }

  // --- What is written ----------------------------------------------------------------------------------------------

  static std::optional<std::uint32_t> own_field(const Expr& expr) {
    if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable) return expr.index;
    return std::nullopt;
  }

  void write_base(const Touch& touch) {
    const Design& design = program_.design;
    for (std::uint32_t f = 0; f < design.families.size(); ++f) {
      const Family& family = design.families[f];
      if (family.purpose == Purpose::Due && family.members_of == static_cast<std::uint32_t>(touch.entity) &&
          touch.kind != Touch::Kind::Change)
        write(written_base(f, touch.times, touch.times), touch.kind);
      if (family.purpose != Purpose::Base) continue;
      if (design.collection_of(family).variables[family.from[0]].type.entity() != touch.entity) continue;
      double entries = 0;
      if (!family.elements) {
        const bool holds = std::any_of(family.cells.begin(), family.cells.end(),
                                       [&](const model::Cell& cell) {
                                         const auto field = own_field(cell.expr);
                                         return field && touch.fields.contains(*field);
                                       }) ||
                           std::any_of(family.hidden.begin(), family.hidden.end(), [&](const Hidden& hidden) {
                             return hidden.kind == HiddenKind::Elements && touch.resized.contains(hidden.of);
                           });
        if (touch.kind != Touch::Kind::Change || holds) entries = 1;
      } else if (touch.kind == Touch::Kind::Change) {
        const auto some = touch.elements.find(*family.elements);
        if (touch.fields.contains(*family.elements))
          entries = some == touch.elements.end() ? length(touch.entity, *family.elements) : some->second;
      } else if (!touch.empty.contains(*family.elements)) {
        entries = length(touch.entity, *family.elements);
      }
      if (entries > 0)
        note_ways(touch, family, written_base(f, entries * touch.times, blocks_of_base(f, entries) * touch.times));
    }
  }

  static void write(Written& written, Touch::Kind kind) {
    written.made = written.made || kind == Touch::Kind::Make;
    written.changed = written.changed || kind == Touch::Kind::Change;
    written.erased = written.erased || kind == Touch::Kind::Remove;
  }

  static void note_ways(const Touch& touch, const Family& family, Written& written) {
    note_values(touch, family, written);
    if (touch.kind != Touch::Kind::Change) return write(written, touch.kind);
    if (family.elements) {
      const bool appended = touch.appended.contains(*family.elements);
      written.made = written.made || appended || touch.resized.contains(*family.elements);
      written.changed = written.changed || !appended;
      written.erased = written.erased || (!appended && touch.resized.contains(*family.elements));
      return;
    }
    bool appended = !touch.appended.empty();
    for (const model::Cell& cell : family.cells) {
      const auto field = own_field(cell.expr);
      appended = appended && (!field || !touch.fields.contains(*field) || touch.appended.contains(*field));
    }
    const bool in_cell = std::any_of(family.cells.begin(), family.cells.end(), [&](const model::Cell& cell) {
      const auto field = own_field(cell.expr);
      return field && touch.appended.contains(*field);
    });
    if (appended && in_cell)
      written.appended = true;
    else
      written.changed = true;
  }

  // The columns of a base that a change gives other values.
  static void note_values(const Touch& touch, const Family& family, Written& written) {
    const auto cells = static_cast<std::uint32_t>(family.cells.size());
    for (std::uint32_t i = 0; i < cells; ++i) {
      const auto field = own_field(family.cells[i].expr);
      if (touch.kind != Touch::Kind::Change || family.elements || !field || touch.fields.contains(*field))
        written.values.insert(i);
    }
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i) {
      const Hidden& hidden = family.hidden[i];
      if (touch.kind != Touch::Kind::Change ||
          (hidden.kind == HiddenKind::Elements && touch.resized.contains(hidden.of)))
        written.values.insert(cells + i);
    }
  }

  // Elements may lie in blocks of their own.
  [[nodiscard]] double blocks_of_base(std::uint32_t f, double entries) const {
    const FamilyLogic& logic = program_.logics[f];
    if (!logic.element_node) return 1;
    for (const Expr& part : logic.block) {
      std::vector<std::uint32_t> nodes;
      collect_nodes(logic.logical, part, nodes);
      if (std::find(nodes.begin(), nodes.end(), *logic.element_node) != nodes.end()) return entries;
    }
    return 1;
  }

  Written& written_base(std::uint32_t family, double entries, double blocks) {
    auto found =
        std::find_if(out_.bases.begin(), out_.bases.end(), [&](const Written& at) { return at.family == family; });
    if (found == out_.bases.end()) {
      found = out_.bases.insert(found, Written());
      found->family = family;
    }
    found->entries += entries;
    found->bytes += entries * explainer_.bytes(family);
    found->blocks += blocks;
    return *found;
  }

  // --- Copies -------------------------------------------------------------------------------------------------------

  static bool matters(const Touch& touch, const std::vector<std::uint32_t>& fields) {
    if (touch.kind != Touch::Kind::Change) return true;
    return std::any_of(fields.begin(), fields.end(), [&](std::uint32_t field) { return touch.fields.contains(field); });
  }

  // No row is there yet, because a row needs an element of something that is empty.
  static bool finds_nothing(const Touch& touch, const Plan& plan) {
    return touch.kind == Touch::Kind::Make && !touch.replaces &&
           std::any_of(touch.empty.begin(), touch.empty.end(),
                       [&](std::uint32_t field) { return unnests(plan, field + 1); });
  }

  // The part of the rows that is not as it was.
  [[nodiscard]] double share(const Touch& touch, const std::vector<std::uint32_t>& fields, const Plan& plan) const {
    if (touch.kind != Touch::Kind::Change) return 1;
    double sum = 0;
    for (const std::uint32_t field : fields) {
      if (!touch.fields.contains(field)) continue;
      const auto some = touch.elements.find(field);
      if (some == touch.elements.end() || !unnests(plan, field + 1)) return 1;
      sum += some->second / length(touch.entity, field);
    }
    return std::min(sum, 1.0);
  }

  // The fields of a change that are set as a whole, and not element by element.
  static std::set<std::uint32_t> whole_fields(const Touch& touch) {
    std::set<std::uint32_t> out;
    for (const std::uint32_t field : touch.fields)
      if (!touch.elements.contains(field)) out.insert(field);
    return out;
  }

  // A change moves entries to another key.
  static bool moves(const FamilyLogic& logic, const std::vector<Expr>& parts, const Touch& touch) {
    if (touch.kind != Touch::Kind::Change) return false;
    const std::set<std::uint32_t> whole = whole_fields(touch);
    return std::any_of(parts.begin(), parts.end(), [&](const Expr& part) {
      return hangs_on(logic.logical, part, {touch.entity, touch.fields, whole});
    });
  }

  // A change makes rows that were not there, or takes away some that were: what they are made of, or which of them
  // count, hangs on its fields.
  static bool come_and_go(const FamilyLogic& logic, const Touch& touch) {
    if (touch.kind != Touch::Kind::Change) return touch.replaces;
    const Fields fields{touch.entity, touch.fields, touch.fields};
    const auto hangs = [&](const Expr& expr) { return hangs_on(logic.logical, expr, fields); };
    return std::any_of(logic.body.where.begin(), logic.body.where.end(), hangs) ||
           std::any_of(logic.body.nodes.begin(), logic.body.nodes.end(),
                       [&](std::uint32_t node) { return hangs(logic.logical.nodes[node].source); });
  }

  // The values of a copy for which the question is answered with yes; all where rows share an entry.
  static void note_values(const FamilyLogic& logic, const Family& family, Written& written,
                          const std::function<bool(const Expr&)>& differs) {
    for (std::uint32_t i = 0; i < logic.cells.size(); ++i)
      if (family.grouped || differs(logic.cells[i])) written.values.insert(i);
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i)
      written.values.insert(static_cast<std::uint32_t>(family.cells.size()) + i);
  }

  static bool reaches_beyond(const FamilyLogic& logic, const Expr& expr) {
    if (expr.kind == ExprKind::Select) return true;
    if (expr.kind == ExprKind::Variable && logic.logical.nodes[expr.index].kind == NodeKind::Optional) return true;
    return std::any_of(expr.operands.begin(), expr.operands.end(),
                       [&](const Expr& at) { return reaches_beyond(logic, at); });
  }

  void follow(const Upkeep& upkeep) {
    const Family& family = program_.design.families[upkeep.family];
    const FamilyLogic& logic = program_.logics[upkeep.family];
    Following out;
    out.written.family = upkeep.family;
    bool follows = false;
    Read read;
    const auto changed = [&](double entries, double blocks, Touch::Kind kind) {
      out.written.entries += entries;
      out.written.blocks += std::min(blocks, entries);
      if (kind == Touch::Kind::Change) read.entries += entries;
      if (kind == Touch::Kind::Remove) read.blocks += std::min(blocks, entries);
      write(out.written, kind);
      follows = true;
    };
    const auto support = [&](const std::string& what, std::vector<Deed> deeds, double factor) {
      Deed all;
      all.kind = DeedKind::Compute;
      all.text = what;
      for (Deed& deed : times(std::move(deeds), factor)) {
        if (deed.kind == DeedKind::Project || deed.kind == DeedKind::Distinct) continue;
        all.inside.push_back(std::move(deed));
      }
      if (!all.inside.empty()) out.support.push_back(std::move(all));
    };
    // The rows as they were and as they are.
    const auto moments = [](const Touch& touch) { return touch.kind == Touch::Kind::Change ? 2.0 : 1.0; };
    std::vector<std::uint32_t> instances;
    for (const std::uint32_t node : logic.body.nodes)
      if (logic.logical.nodes[node].is_instance()) instances.push_back(node);
    for (std::size_t i = 0; i < upkeep.direct.size(); ++i) {
      const DirectPlan& direct = upkeep.direct[i];
      for (const Touch& touch : touches_) {
        if (touch.entity != direct.entity || !matters(touch, direct.fields)) continue;
        if (finds_nothing(touch, direct.plan)) continue;
        const Narration found = narrate_direct(program_, upkeep, i);
        support(fmt::format("the rows of {}:", touch.target), found.deeds, touch.times * moments(touch));
        const double rows = found.rows * share(touch, direct.fields, direct.plan) * touch.times;
        const bool other_block = moves(logic, logic.block, touch);
        const bool other_key = other_block || moves(logic, logic.key, touch);
        bool one_block = true;
        for (const Expr& part : logic.block) {
          std::vector<std::uint32_t> nodes;
          collect_nodes(logic.logical, part, nodes);
          for (const std::uint32_t node : nodes) one_block = one_block && node == instances[i];
        }
        const double entries = rows * (other_key ? 2 : 1);
        changed(entries, one_block ? touch.times * (other_block ? 2 : 1) : entries,
                other_key ? Touch::Kind::Remove : touch.kind);
        const bool both = come_and_go(logic, touch);
        out.written.made = out.written.made || other_key || both;
        out.written.erased = out.written.erased || both;
        out.written.changed = out.written.changed || touch.replaces;
        const Fields fields{touch.entity, touch.fields, touch.fields};
        note_values(logic, family, out.written, [&](const Expr& cell) {
          return touch.kind != Touch::Kind::Change || hangs_on(logic.logical, cell, fields);
        });
      }
    }
    const auto beyond = [&](const Expr& part) { return reaches_beyond(logic, part); };
    const bool key_beyond = std::any_of(logic.block.begin(), logic.block.end(), beyond) ||
                            std::any_of(logic.key.begin(), logic.key.end(), beyond);
    const bool rows_beyond = std::any_of(logic.body.where.begin(), logic.body.where.end(), beyond);
    for (std::size_t i = 0; i < upkeep.indirect.size(); ++i) {
      const IndirectPlan& indirect = upkeep.indirect[i];
      for (const Touch& touch : touches_) {
        if (touch.entity != indirect.entity || !matters(touch, indirect.fields)) continue;
        if (!indirect.reference_only && finds_nothing(touch, indirect.plan)) continue;
        add_once(out.through, model_.entity(indirect.entity).name);
        const Narration narration = narrate_indirect(program_, upkeep, i);
        support(fmt::format("rows that look at {}:", touch.target), narration.deeds, touch.times * moments(touch));
        follows = true;
        // What is new is seldom referred to already.
        if (indirect.reference_only && touch.kind == Touch::Kind::Make) continue;
        const double found = narration.rows * touch.times;
        support("each of those, as it was and as it is:", narrate_by_identity(program_, upkeep).deeds, found * 2);
        const double part = indirect.reference_only ? 1 : share(touch, indirect.fields, indirect.plan);
        const double entries = found * part * (key_beyond ? 2 : 1);
        changed(entries, entries, key_beyond ? Touch::Kind::Remove : Touch::Kind::Change);
        out.written.made = out.written.made || key_beyond || rows_beyond;
        out.written.erased = out.written.erased || rows_beyond;
        note_values(logic, family, out.written, beyond);
      }
    }
    if (!follows) return;
    // Where a row goes, the entry that it shares with others stays.
    if (family.grouped && !family.added_to()) out.written.changed = out.written.changed || out.written.erased;
    read_before(family, upkeep.family, read, out);
    out.written.bytes = out.written.entries * explainer_.bytes(upkeep.family);
    out_.copies.push_back(std::move(out));
  }

  // Of a copy with a limit: entries that are changed, and blocks of which some go.
  struct Read {
    double entries = 0;
    double blocks = 0;
  };

  // Counts and sums are added to; others are read to be written anew.
  void read_before(const Family& family, std::uint32_t index, const Read& read, Following& out) const {
    Deed deed;
    deed.family = index;
    if (family.limit && (family.grouped || read.blocks > 0)) {
      const double blocks = family.grouped ? out.written.blocks : read.blocks;
      deed.text = fmt::format("read its blocks, of about {} entries", *family.limit);
      deed.whole_block = true;
      deed.work.reads = blocks;
      deed.work.entries = blocks * std::min<double>(*family.limit, explainer_.entries(index));
    } else if (family.limit && read.entries > 0) {
      deed.text = "see whether it is there";
      deed.work.reads = read.entries;
      deed.work.entries = read.entries;
    } else if (family.limit) {
      return;  // what is new is written, whatever is there
    } else if (family.grouped && !family.added_to()) {
      deed.text = "read what is there";
      deed.work.reads = out.written.entries;
      deed.work.entries = out.written.entries;
    } else {
      return;
    }
    deed.work.bytes = deed.work.entries * explainer_.bytes(index);
    out.support.push_back(std::move(deed));
  }

  // What was kept of transient parts.
  void forget(const Touch& touch) {
    const auto owners = model::instances(model_, touch.entity);
    for (const Forgetting& forgetting : program_.entities[static_cast<std::size_t>(touch.entity)].forgets) {
      const std::size_t blocks = program_.design.collection_of(program_.design.families[forgetting.family]).by.size();
      bool whole_block = true;
      for (std::size_t i = 0; i < blocks; ++i) whole_block = whole_block && forgetting.parts[i];
      const double all = explainer_.entries(forgetting.family);
      const double share = program_.design.families[forgetting.family].key.empty()
                               ? 1
                               : std::max(all / std::max(owners ? owners->value : unknown_length, 1.0), 1.0);
      const double theirs = share * touch.times;
      Following out;
      out.forgotten = true;
      out.written.family = forgetting.family;
      out.written.entries = theirs;
      out.written.bytes = theirs * explainer_.bytes(forgetting.family);
      out.written.blocks = whole_block ? touch.times : theirs;
      out.written.erased = true;
      Deed deed;
      deed.kind = whole_block ? DeedKind::Lookup : DeedKind::Scan;
      deed.family = forgetting.family;
      const std::string label = family_label(program_.design, forgetting.family);
      deed.text = whole_block ? fmt::format("read its block of {}", label) : "scan all of " + label;
      deed.whole_block = whole_block;
      deed.work.reads = whole_block ? touch.times : all / 100 + 1;
      deed.work.entries = whole_block ? theirs : all;
      deed.work.bytes = deed.work.entries * explainer_.bytes(forgetting.family);
      out_.scans = out_.scans || !whole_block;
      out.support.push_back(std::move(deed));
      out_.copies.push_back(std::move(out));
    }
  }

  const Program& program_;
  const model::Model& model_;
  const Explainer& explainer_;
  const model::Command& command_;
  Explanation out_;
  std::vector<Touch> touches_;
  std::set<std::string> loaded_;
};

// How often a node is there for each row of the nodes before it.
double times_a_row(const model::Model& model, const FamilyLogic& logic, std::uint32_t node,
                   const std::vector<char>& before, bool first) {
  const Node& at = logic.logical.nodes[node];
  if (at.kind == NodeKind::Word) return usual_length(model, call_expr(model::Function::WordsOf, {}, {at.source}));
  if (at.kind != NodeKind::Instance) return usual_length(model, at.source);
  const auto estimate = model::instances(model, at.type.entity());
  const double all = estimate ? std::max(estimate->value, 1.0) : unknown_instances;
  if (first) return all;
  // By a role from what is there: its fan-out. What an element refers to: one.
  std::optional<double> fan;
  const auto at_most = [&](double value) { fan = std::min(fan.value_or(value), value); };
  for (const Expr& conjunct : logic.body.where) {
    std::vector<std::uint32_t> nodes;
    collect_nodes(logic.logical, conjunct, nodes);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end() || conjunct.operands.size() != 2) continue;
    const auto later = [&](std::uint32_t other) { return other != node && before[other] == 0; };
    if (std::any_of(nodes.begin(), nodes.end(), later)) continue;
    for (const Expr& side : conjunct.operands) {
      if (side.kind == ExprKind::Variable && logic.logical.nodes[side.index].kind == NodeKind::Element) at_most(1);
      if (side.kind != ExprKind::Field || side.operands[0].kind != ExprKind::Variable ||
          side.operands[0].type.kind != TypeKind::Reference)
        continue;
      const model::Field& field = model.entity(side.operands[0].type.entity()).fields[side.index];
      if (!field.role) continue;
      const model::Role& role = model.roles[*field.role];
      const auto found =
          side.operands[0].index == node ? model::backward_fan_out(model, role) : model::forward_fan_out(model, role);
      if (found) at_most(found->value);
    }
  }
  return fan ? std::max(*fan, 0.01) : std::min(all, unknown_length);
}

// How many rows a family is made of.
double rows_of(const model::Model& model, const FamilyLogic& logic) {
  double rows = 1;
  std::vector<char> before(logic.logical.nodes.size(), 0);
  bool first = true;
  for (const std::uint32_t node : logic.body.nodes) {
    rows *= times_a_row(model, logic, node, before, first);
    before[node] = 1;
    first = false;
  }
  return std::max(rows, 1.0);
}

}  // namespace

std::string statement_name(const model::Model& model, const model::StatementRef& statement) {
  return statement.command ? model.commands[statement.index].name : model.queries[statement.index].name;
}

std::vector<model::StatementRef> all_statements(const model::Model& model) {
  std::vector<model::StatementRef> all;
  for (std::uint32_t i = 0; i < model.queries.size(); ++i) all.push_back({false, i});
  for (std::uint32_t i = 0; i < model.commands.size(); ++i) all.push_back({true, i});
  return all;
}

Explainer::Explainer(const Program& program) : program_(program), planner_(*program.model, program.design) {}

double Explainer::entries(std::uint32_t family) const {
  const Family& at = program_.design.families[family];
  if (at.purpose == Purpose::Due) {
    const auto all = model::instances(*program_.model, static_cast<model::EntityId>(at.members_of));
    return all ? all->value : 0;
  }
  if (at.purpose == Purpose::Refreshed) {
    const model::Query& query = program_.model->queries[at.members_of];
    const double rows = program_.queries[at.members_of].rows;
    return at.key.empty() ? 1 : rows * static_cast<double>(query.refresh ? query.refresh->keep : 1);
  }
  if (at.of_noam()) return 0;
  const FamilyLogic& logic = program_.logics[family];
  double rows = rows_of(*program_.model, logic);
  if (at.grouped) rows = std::max(rows / rows_an_entry, 1.0);
  for (const std::uint32_t node : logic.body.nodes) {
    const Node& source = logic.logical.nodes[node];
    if (source.kind != NodeKind::Refreshed && source.kind != NodeKind::History) continue;
    // As many as there are refreshes, and their rows where they lie apart.
    const auto& refresh = program_.model->queries[source.query].refresh;
    rows = source.kind == NodeKind::History && refresh ? static_cast<double>(refresh->keep) : 1;
    if (!at.grouped) rows *= std::max(program_.queries[source.query].rows, 1.0);
  }
  if (at.copy() && (at.key.empty() || at.limit)) {  // one a block, or so many
    double blocks = 1;
    for (const Expr& part : logic.block) blocks *= planner_.different(logic.logical, part, rows);
    rows = std::min(rows, blocks * (at.key.empty() ? 1 : static_cast<double>(*at.limit)));
  }
  return std::max(rows, 1.0);
}

double Explainer::bytes(std::uint32_t family) const { return planner_.bytes(family); }

double Explainer::blocks(std::uint32_t collection) const {
  double most = 1;
  for (const std::uint32_t index : program_.design.collections[collection].families) {
    const Family& family = program_.design.families[index];
    if (family.purpose == Purpose::Due || family.purpose == Purpose::Refreshed || family.of_noam()) continue;
    const double all = entries(index);
    double blocks = 1;
    for (const Expr& part : program_.logics[index].block)
      blocks *= planner_.different(program_.logics[index].logical, part, all);
    most = std::max(most, family.key.empty() ? all : std::min(blocks, all));
  }
  return most;
}

Explanation Explainer::explain(const model::StatementRef& statement) const {
  if (statement.command) {
    const model::Command& command = program_.model->commands[statement.index];
    Explanation out = CommandExplainer(program_, *this, command).run(program_.commands[statement.index]);
    out.statement = statement;
    return out;
  }
  Explanation out;
  out.statement = statement;
  out.deeds = narrate_query(program_, statement.index).deeds;
  out.read = total(out.deeds);
  out.scans = scans(out.deeds);
  if (program_.model->queries[statement.index].refresh) {
    out.refresh = out.read;
    out.read = {};
    for (std::uint32_t f = 0; f < program_.design.families.size(); ++f) {
      const Family& family = program_.design.families[f];
      if (family.purpose != Purpose::Refreshed || family.members_of != statement.index) continue;
      const double rows = family.key.empty() ? 1 : program_.queries[statement.index].rows;
      out.read += Work{1, rows, rows * bytes(f)};
    }
  }
  return out;
}

std::vector<Use> Explainer::uses() const {
  const model::Model& model = *program_.model;
  std::vector<Use> out(program_.design.families.size());
  for (const model::StatementRef& statement : all_statements(model)) {
    std::set<std::uint32_t> read;
    read_families(explain(statement).deeds, read);
    for (const std::uint32_t family : read) add_once(out[family].statements, statement_name(model, statement));
  }
  for (const Upkeep& upkeep : program_.upkeep) {
    std::set<std::uint32_t> read;
    for (const DirectPlan& plan : upkeep.direct) read_families(plan.plan, read);
    for (const IndirectPlan& plan : upkeep.indirect) read_families(plan.plan, read);
    for (const RefreshPlan& plan : upkeep.refreshes) read_families(plan.plan, read);
    for (const auto* plan : {&upkeep.by_identity, &upkeep.by_key, &upkeep.by_block})
      if (*plan) read_families(**plan, read);
    for (const std::uint32_t family : read)
      if (family != upkeep.family) add_once(out[family].copies, family_label(program_.design, upkeep.family));
  }
  for (std::size_t i = 0; i < program_.entities.size(); ++i) {
    const std::string& name = model.entities[i].name;
    const auto note = [&](const Plan& plan, const std::string& what) {
      std::set<std::uint32_t> read;
      read_families(plan, read);
      for (const std::uint32_t family : read)
        if (out[family].statements.empty()) add_once(out[family].others, what);
    };
    for (const PartsPlan& parts : program_.entities[i].parts) note(parts.plan, "deleting a " + name);
    for (const PartsPlan& keepers : program_.entities[i].keepers)
      note(keepers.plan, "changing both sides of a " + name);
    note(program_.entities[i].load, "changing a " + name);
  }
  return out;
}

std::string use_text(const Use& use) {
  std::vector<std::string> parts;
  const std::vector<std::string>& for_whom = use.statements.empty() ? use.others : use.statements;
  if (!for_whom.empty()) parts.push_back(fmt::format("for {}", fmt::join(for_whom, ", ")));
  if (!use.copies.empty()) parts.push_back(fmt::format("keeps {}", fmt::join(use.copies, ", ")));
  if (parts.empty()) return "nothing reads it";
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string own_purpose(const Program& program, std::uint32_t index) {
  const Family& family = program.design.families[index];
  switch (family.purpose) {
    case Purpose::Due:
      return fmt::format("when each {} expires", program.model->entities[family.members_of].name);
    case Purpose::Refreshed: {
      if (family.key.empty()) return "when it was refreshed";
      const auto& refresh = program.model->queries[family.members_of].refresh;
      const std::size_t kept = refresh ? static_cast<std::size_t>(refresh->keep) : 1;
      return fmt::format("the rows of {}", model::counted(kept, "refresh", "refreshes"));
    }
    case Purpose::Guard:
      return "ids of commands that were applied";
    case Purpose::Notes:
      return "the state of copies, how far a load came";
    case Purpose::Members:
      return fmt::format("the values of `{}` in {}, counted",
                         program.design.families[family.members_of].cells[family.members_column].name,
                         family_label(program.design, family.members_of));
    default:
      return "";
  }
}

}  // namespace noam::design
