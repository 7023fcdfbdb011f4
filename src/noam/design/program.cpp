#include "noam/design/program.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/appends.h"
#include "noam/design/derived_rows.h"
#include "noam/design/layout.h"
#include "noam/design/logical.h"
#include "noam/design/planner.h"
#include "noam/design/shared_reads.h"
#include "noam/design/shown_entries.h"
#include "noam/design/strategies.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::ChangeKind;
using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

namespace {

bool has_column(const Expr& expr) {
  return expr.kind == ExprKind::Select || expr.kind == ExprKind::Fold ||
         std::any_of(expr.operands.begin(), expr.operands.end(), has_column);
}

// Absent where the instance is that it is read from, so that nothing equals it then.
bool is_strict(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Constant:
    case ExprKind::Parameter:
    case ExprKind::Variable:
      return true;
    case ExprKind::Field:
    case ExprKind::Element:
    case ExprKind::Instance:
      break;
    case ExprKind::Call:
      if (expr.function != Function::MapValues && expr.function != Function::MapKey &&
          expr.function != Function::Position)
        return false;
      break;
    default:
      return false;
  }
  return std::all_of(expr.operands.begin(), expr.operands.end(), is_strict);
}

// An access path that would help: an entity, what is known of it, and in which order its instances are wanted.
struct Proposal {
  std::uint32_t node = 0;
  std::optional<std::uint32_t> element;  // a node over a collection of it
  std::optional<Expr> member_of;         // or: the collection whose members are wanted
  std::optional<Expr> words_of;
  std::vector<Expr> block;
  std::vector<std::pair<Expr, bool>> order;  // descending
};

class Builder {
 public:
  Builder(std::shared_ptr<const model::Model> model, Design design) : model_(*model), planner_(*model, design_) {
    program_.model = std::move(model);
    design_ = std::move(design);
    planner_.update(design_);
  }

  Result<Program> build() {
    // Access paths may need access paths of their own to be kept; each round adds what the one before left open.
    for (int round = 0; round < 20; ++round) {
      const std::size_t before = design_.families.size();
      final_ = false;
      plan_all();
      if (!trouble_.empty()) return Error{trouble_};
      final_ = design_.families.size() == before;  // then its plans are of the whole design
      if (final_) break;
    }
    if (!final_) {
      final_ = true;
      plan_all();
      if (!trouble_.empty()) return Error{trouble_};
    }
    program_.design = design_;
    program_.design.layout = describe_layout(design_, *program_.model);
    for (std::uint32_t i = 0; i < design_.families.size(); ++i) program_.logics.push_back(planner_.logic(i));
    find_appends(program_);
    mark_shared_reads(program_);
    mark_shown_entries(program_);
    return std::move(program_);
  }

 private:
  // Plans it; where only whole collections would answer, adds the access paths that would.
  std::optional<Plan> plan(Logical& logical, const Body& body, const std::vector<Atom>& given,
                           const PlannerOptions& options = {}, const std::vector<std::uint32_t>& bound = {}) {
    sees_overflow_ = options.sees_overflow;
    PlannerOptions without_scans = options;
    without_scans.scans = false;
    if (auto found = planner_.plan(logical, body, given, without_scans, bound)) return found;
    if (!final_) {
      const std::size_t families = design_.families.size();
      const std::size_t collections = design_.collections.size();
      std::vector<Proposal> proposals;
      propose(logical, body, bound, proposals);
      for (const Proposal& proposal : proposals) add(logical, proposal);
      if (design_.families.size() > families) {
        planner_.update(design_);
        auto found = planner_.plan(logical, body, given, options, bound);
        // Only what the plan uses stays.
        std::set<std::uint32_t> used;
        if (found) used = families_read(*found);
        keep_only(families, collections, used);
        if (found) {
          // Numbers of families may have moved.
          if (auto again = planner_.plan(logical, body, given, options, bound)) return again;
        }
      }
    }
    if (!options.scans) return std::nullopt;
    PlannerOptions with_scans = options;
    with_scans.lookups_alone = false;  // that was tried
    return planner_.plan(logical, body, given, with_scans, bound);
  }

  void keep_only(std::size_t families, std::size_t collections, const std::set<std::uint32_t>& used) {
    const Design all = design_;
    design_.families.resize(families);
    design_.collections.resize(collections);
    for (std::size_t c = collections; c < all.collections.size(); ++c) {
      bool any = false;
      for (const std::uint32_t f : all.collections[c].families) any = any || used.contains(f);
      if (!any) continue;
      Collection collection = all.collections[c];
      collection.families.clear();
      const auto index = static_cast<std::uint32_t>(design_.collections.size());
      design_.collections.push_back(std::move(collection));
      const std::size_t first = design_.families.size();
      const std::uint32_t base = all.collections[c].families.front();
      for (const std::uint32_t f : all.collections[c].families) {
        Family family = all.families[f];
        family.collection = index;
        if (family.purpose == Purpose::Members)
          family.members_of = static_cast<std::uint32_t>(first + (family.members_of - base));
        design_.collections.back().families.push_back(static_cast<std::uint32_t>(design_.families.size()));
        design_.families.push_back(std::move(family));
      }
    }
    planner_.update(design_);
  }

  [[nodiscard]] std::vector<std::uint32_t> nodes_in(const Logical& logical, const Expr& expr) const {
    std::vector<std::uint32_t> nodes;
    collect_nodes(logical, expr, nodes);
    return nodes;
  }

  // Speaks of this node alone (and of the element), without asking others.
  [[nodiscard]] bool own(const Logical& logical, const Expr& expr, std::uint32_t node,
                         std::optional<std::uint32_t> element) const {
    if (has_column(expr)) return false;
    const bool event = model_.entity(logical.nodes[node].type.entity()).transient;
    if (sees_overflow_ && !event && computes(expr)) return false;
    bool any = false;
    for (const std::uint32_t at : nodes_in(logical, expr)) {
      if (at != node && at != element) return false;
      any = true;
    }
    return any;
  }

  void propose(const Logical& logical, const Body& body, const std::vector<std::uint32_t>& bound,
               std::vector<Proposal>& out) const {
    for (const std::uint32_t node : body.nodes) {
      if (!logical.nodes[node].is_instance()) continue;
      if (std::find(bound.begin(), bound.end(), node) != bound.end()) continue;
      const model::Entity& entity = model_.entity(logical.nodes[node].type.entity());
      if (entity.transient)
        propose_folds(logical, body, node, out);
      else
        propose_for(logical, body, node, out);
    }
    // Nested selects find their own way.
    std::set<std::uint32_t> subs;
    const std::function<void(const Expr&)> look = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Select && subs.insert(expr.index).second)
        propose(logical, logical.subs[expr.index].body, bound, out);
      if (expr.kind == ExprKind::Variable && logical.nodes[expr.index].kind == NodeKind::Optional)
        look(logical.nodes[expr.index].source);
      for (const Expr& operand : expr.operands) look(operand);
    };
    for (const Expr& expr : body.where) look(expr);
    for (const OutputColumn& column : body.columns) look(column.expr);
    for (const Expr& expr : body.group_by) look(expr);
    for (const model::OrderTerm& term : body.order_by) look(term.expr);
    for (const std::uint32_t node : body.nodes)
      if (logical.nodes[node].kind == NodeKind::Element) look(logical.nodes[node].source);
  }

  void propose_for(const Logical& logical, const Body& body, std::uint32_t node, std::vector<Proposal>& out) const {
    std::vector<std::pair<Expr, bool>> order;
    for (const model::OrderTerm& term : body.order_by)
      if (own(logical, term.expr, node, std::nullopt)) order.emplace_back(term.expr, term.descending);
    const auto excludes = [&](const Expr& expr, std::optional<std::uint32_t> element) {
      const auto nodes = nodes_in(logical, expr);
      return std::find(nodes.begin(), nodes.end(), node) == nodes.end() &&
             (!element || std::find(nodes.begin(), nodes.end(), *element) == nodes.end());
    };
    std::vector<std::optional<std::uint32_t>> elements{std::nullopt};
    for (const std::uint32_t at : body.nodes)
      if (logical.nodes[at].kind == NodeKind::Element && own(logical, logical.nodes[at].source, node, std::nullopt))
        elements.emplace_back(at);
    for (const auto& element : elements) {
      Proposal together;
      together.node = node;
      together.element = element;
      std::vector<Expr> ranges;
      for (const std::vector<Expr>* all : {&body.where, &body.implied}) {
        for (const Expr& conjunct : *all) {
          if (conjunct.kind != ExprKind::Call) continue;
          const auto known = [&](const Expr& part, const Expr& by) {
            if (!own(logical, part, node, element) || !excludes(by, element)) return;
            if (element) {  // the element itself must be in it
              const auto nodes = nodes_in(logical, part);
              if (std::find(nodes.begin(), nodes.end(), *element) == nodes.end() && together.block.empty() && false)
                return;
            }
            Proposal alone;
            alone.node = node;
            alone.element = element;
            alone.block.push_back(part);
            alone.order = order;
            out.push_back(alone);
            if (nodes_in(logical, by).empty() || all_given(logical, by)) together.block.push_back(part);
          };
          switch (conjunct.function) {
            case Function::Equal:
              known(conjunct.operands[0], conjunct.operands[1]);
              known(conjunct.operands[1], conjunct.operands[0]);
              break;
            case Function::In:
              known(conjunct.operands[0], conjunct.operands[1]);
              break;
            case Function::Contains:
              if (conjunct.operands[0].type.kind != TypeKind::Map) known(conjunct.operands[1], conjunct.operands[0]);
              if (!element && excludes(conjunct.operands[1], std::nullopt)) {
                const bool values = is_call(conjunct.operands[0], Function::MapValues);
                const Expr& collection = values ? conjunct.operands[0].operands[0] : conjunct.operands[0];
                if (!own(logical, collection, node, std::nullopt)) break;
                Proposal member;
                member.node = node;
                member.member_of = conjunct.operands[0];
                member.order = order;
                out.push_back(std::move(member));
              }
              break;
            case Function::ContainsAll:
            case Function::ContainsAny:
              if (!element && own(logical, conjunct.operands[0], node, std::nullopt)) {
                Proposal word;
                word.node = node;
                word.words_of = conjunct.operands[0];
                word.order = order;
                out.push_back(std::move(word));
              }
              break;
            case Function::Less:
            case Function::LessEqual:
            case Function::Greater:
            case Function::GreaterEqual:
              for (std::size_t side = 0; side < 2; ++side)
                if (own(logical, conjunct.operands[side], node, element) &&
                    excludes(conjunct.operands[1 - side], element))
                  ranges.push_back(conjunct.operands[side]);
              break;
            case Function::Between:
            case Function::StartsWith:
              if (own(logical, conjunct.operands[0], node, element)) ranges.push_back(conjunct.operands[0]);
              break;
            default:
              break;
          }
        }
      }
      if (together.block.empty()) continue;
      together.order = order;
      if (order.empty())
        for (const Expr& range : ranges) together.order.emplace_back(range, false);
      out.push_back(std::move(together));
    }
  }

  [[nodiscard]] bool all_given(const Logical& logical, const Expr& expr) const {
    const auto nodes = nodes_in(logical, expr);
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](std::uint32_t at) { return logical.nodes[at].kind == NodeKind::Given; });
  }

  // What is kept of transient instances for this select: how many there are of each combination it tells apart.
  void propose_folds(const Logical& logical, const Body& body, std::uint32_t node, std::vector<Proposal>& out) const {
    Proposal fold;
    fold.node = node;
    std::vector<Expr> fixed;
    std::vector<Expr> free;
    const auto note = [&](std::vector<Expr>& to, const Expr& expr) {
      for (const auto* all : {&fixed, &free})
        for (const Expr& at : *all)
          if (alike(at, expr)) return;
      to.push_back(expr);
    };
    for (const Expr& conjunct : body.where) {
      if (!is_call(conjunct, Function::Equal)) continue;
      for (std::size_t side = 0; side < 2; ++side) {
        const auto others = nodes_in(logical, conjunct.operands[1 - side]);
        if (own(logical, conjunct.operands[side], node, std::nullopt) &&
            std::find(others.begin(), others.end(), node) == others.end())
          note(fixed, conjunct.operands[side]);
      }
    }
    const Expr self = node_expr(logical, node);
    const model::Entity& entity = model_.entity(logical.nodes[node].type.entity());
    for (const std::uint32_t owner : entity.owners) {
      const Expr reference = field_expr(model_, self, model_.roles[owner].field);
      if (fixed.empty())
        note(fixed, reference);
      else
        note(free, reference);
    }
    const std::function<void(const Expr&)> needs = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Variable && expr.index == node) return;
      if (own(logical, expr, node, std::nullopt)) {
        if (expr.kind != ExprKind::Call || !is_predicate(expr)) {
          note(free, expr);
          return;
        }
      }
      for (const Expr& operand : expr.operands) needs(operand);
    };
    for (const Expr& conjunct : body.where) needs(conjunct);
    for (const Expr& expr : body.group_by) needs(expr);
    for (const OutputColumn& column : body.columns) needs(column.expr);
    for (const model::OrderTerm& term : body.order_by) needs(term.expr);
    fold.block = std::move(fixed);
    for (Expr& expr : free) fold.order.emplace_back(std::move(expr), false);
    for (auto& [expr, descending] : fold.order)
      for (const model::OrderTerm& term : body.order_by)
        if (alike(term.expr, expr)) descending = term.descending;
    out.push_back(std::move(fold));
  }

  static bool is_predicate(const Expr& expr) {
    switch (expr.function) {
      case Function::And:
      case Function::Or:
      case Function::Not:
      case Function::Equal:
      case Function::Less:
      case Function::LessEqual:
      case Function::Greater:
      case Function::GreaterEqual:
      case Function::Between:
      case Function::In:
        return true;
      default:
        return false;
    }
  }

  static std::string part_name(const model::Model& model, const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Field:
        return expr.operands[0].type.kind == TypeKind::Row ? expr.operands[0].type.names[expr.index]
                                                           : model.fields(expr.operands[0].type)[expr.index].name;
      case ExprKind::Call:
        if (expr.function == Function::Position) return "position";
        if (expr.function == Function::MapKey) return "key";
        return expr.operands.empty() ? "value" : part_name(model, expr.operands[0]);
      case ExprKind::Variable:
        return "element";
      default:
        return "value";
    }
  }

  void add(const Logical& logical, const Proposal& proposal) {
    const model::Type& type = logical.nodes[proposal.node].type;
    const model::Entity& entity = model_.entity(type.entity());
    Collection collection;
    collection.added = true;
    model::Variable self;
    self.name = std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(entity.name[0]))));
    self.kind = model::SourceKind::Entity;
    self.type = model::reference(type.entity());
    collection.variables.push_back(self);
    const auto variable = [&](std::uint32_t index) {
      Expr expr;
      expr.kind = ExprKind::Variable;
      expr.index = index;
      expr.type = collection.variables[index].type;
      return expr;
    };
    const std::function<Expr(const Expr&)> moved = [&](const Expr& expr) -> Expr {
      if (expr.kind == ExprKind::Variable) return variable(expr.index == proposal.node ? 0 : 1);
      Expr out = expr;
      for (Expr& operand : out.operands) operand = moved(operand);
      return out;
    };
    Family family;
    family.purpose = Purpose::Access;
    family.from = {0};
    std::set<std::string> names;
    const auto part = [&](Expr expr, bool descending) {
      model::Part made;
      std::string name = part_name(model_, expr);
      while (!names.insert(name).second) name += "_";
      made.name = name;
      made.expr = std::move(expr);
      made.descending = descending;
      return made;
    };
    std::string label;
    const auto block = [&](Expr expr) {
      collection.by.push_back(part(std::move(expr), false));
      label += "_" + collection.by.back().name;
    };
    if (proposal.element || proposal.member_of || proposal.words_of) {
      const bool values = proposal.member_of && is_call(*proposal.member_of, Function::MapValues);
      const Expr source = proposal.element    ? logical.nodes[*proposal.element].source
                          : proposal.words_of ? *proposal.words_of
                          : values            ? proposal.member_of->operands[0]
                                              : *proposal.member_of;
      model::Variable element;
      element.name = proposal.words_of ? "word" : "element";
      element.source = moved(source);
      if (proposal.words_of) {
        element.kind = model::SourceKind::Words;
        element.type = model::scalar(TypeKind::Text);
      } else {
        element.type = source.type.element();
        element.kind =
            element.type.kind == TypeKind::Reference ? model::SourceKind::References : model::SourceKind::Path;
      }
      collection.variables.push_back(std::move(element));
      family.from.push_back(1);
      if (proposal.member_of && source.type.kind == TypeKind::Map && !values)
        block(call_expr(Function::MapKey, source.type.arguments[0], {variable(1)}));
      else if (proposal.member_of || proposal.words_of)
        block(variable(1));
      if (proposal.member_of || proposal.words_of) label = "_" + part_name(model_, source);
    }
    for (const Expr& expr : proposal.block) {
      Expr made = moved(expr);
      if (std::none_of(collection.by.begin(), collection.by.end(),
                       [&](const model::Part& at) { return alike(at.expr, made); }))
        block(std::move(made));
    }
    if (collection.by.empty()) {
      if (!entity.transient) return;
      Expr all;
      all.kind = ExprKind::Constant;
      all.type = model::scalar(TypeKind::Int);
      all.constant = std::int64_t{0};
      collection.by.push_back(part(std::move(all), false));
      collection.by.back().name = "all";
      label = "_all";
    }
    std::vector<Expr> known;
    for (const model::Part& at : collection.by) known.push_back(at.expr);
    const auto key = [&](Expr expr, bool descending) {
      if (std::any_of(known.begin(), known.end(), [&](const Expr& at) { return alike(at, expr); })) return;
      known.push_back(expr);
      family.key.push_back(part(std::move(expr), descending));
    };
    for (const auto& [expr, descending] : proposal.order) key(moved(expr), descending);
    if (entity.transient) {
      Expr count;
      count.kind = ExprKind::Fold;
      count.fold = model::Fold::Count;
      count.type = model::scalar(TypeKind::Int);
      model::Cell cell;
      cell.name = "count";
      cell.expr = std::move(count);
      family.cells.push_back(std::move(cell));
    } else {
      for (const std::uint32_t field : entity.key)
        key(entity.fields[field].hidden ? variable(0) : field_expr(model_, variable(0), field),
            !proposal.order.empty() && proposal.order.back().second);
      if (proposal.element) {
        const Expr element = variable(1);
        const TypeKind kind = logical.nodes[*proposal.element].source.type.kind;
        if (kind == TypeKind::List) key(call_expr(Function::Position, model::scalar(TypeKind::Int), {element}), false);
        if (kind == TypeKind::Map)
          key(call_expr(Function::MapKey, logical.nodes[*proposal.element].source.type.arguments[0], {element}), false);
        if (kind == TypeKind::Set) key(element, false);
      }
    }
    // The base itself, or a path that is there already, needs no second one.
    if (!entity.transient && !proposal.element && !proposal.member_of && !proposal.words_of) {
      const bool whole_key = std::all_of(entity.key.begin(), entity.key.end(), [&](std::uint32_t field) {
        return std::any_of(collection.by.begin(), collection.by.end(), [&](const model::Part& at) {
          return alike(at.expr, field_expr(model_, variable(0), field)) || alike(at.expr, variable(0));
        });
      });
      if (whole_key) return;
    }
    for (const Collection& other : design_.collections) {
      if (other.by.size() != collection.by.size() || other.variables.size() != collection.variables.size()) continue;
      bool same = other.added;
      for (std::size_t i = 0; same && i < other.variables.size(); ++i)
        same = other.variables[i].kind == collection.variables[i].kind &&
               other.variables[i].type.id == collection.variables[i].type.id &&
               alike(other.variables[i].source, collection.variables[i].source);
      for (std::size_t i = 0; same && i < other.by.size(); ++i) same = alike(other.by[i].expr, collection.by[i].expr);
      if (!same) continue;
      for (const std::uint32_t f : other.families) {
        const Family& at = design_.families[f];
        bool equal = at.purpose == Purpose::Access && at.key.size() == family.key.size();
        for (std::size_t i = 0; equal && i < at.key.size(); ++i)
          equal = alike(at.key[i].expr, family.key[i].expr) && at.key[i].descending == family.key[i].descending;
        if (equal) return;
      }
    }
    collection.name = entity.name + "_by" + label;
    for (int n = 2; std::any_of(design_.collections.begin(), design_.collections.end(),
                                [&](const Collection& at) { return at.name == collection.name; });
         ++n)
      collection.name = fmt::format("{}_by{}_{}", entity.name, label, n);
    family.collection = static_cast<std::uint32_t>(design_.collections.size());
    design_.collections.push_back(std::move(collection));
    add_family(model_, design_, std::move(family));
  }

  // --- Statements ---------------------------------------------------------------------------------------------------

  void trouble(std::string what) {
    if (trouble_.empty()) trouble_ = std::move(what);
  }

  void plan_all() {
    program_.queries.clear();
    program_.commands.clear();
    program_.entities.clear();
    program_.upkeep.clear();
    for (std::uint32_t i = 0; i < model_.entities.size(); ++i) plan_entity(static_cast<model::EntityId>(i));
    if (!trouble_.empty()) return;
    for (const model::Query& query : model_.queries) {
      Logical logical;
      Normalizer normalizer(model_, logical, query.variables);
      const Body body = normalizer.normalize(query.select, query.refresh.has_value());
      auto found = plan(logical, body, {});
      if (!found) {
        trouble(fmt::format("no plan for query `{}` under design `{}`", query.name, design_.name));
        return;
      }
      program_.queries.push_back(std::move(*found));
    }
    for (const model::Command& command : model_.commands) {
      CommandPlan out;
      for (const model::Change& change : command.changes) out.changes.push_back(plan_change(command, change));
      program_.commands.push_back(std::move(out));
    }
    plan_upkeep();
  }

  // `element`: the variable whose position or key is in the slot after those of the variables.
  Computation compute(const std::string& what, const std::vector<model::Variable>& variables,
                      const std::vector<std::uint32_t>& given, const std::vector<const Expr*>& exprs,
                      std::optional<std::uint32_t> element = std::nullopt, bool as_kept = false) {
    Computation out;
    if (exprs.empty()) return out;
    Logical logical;
    Normalizer normalizer(model_, logical, variables);
    std::vector<Atom> atoms;
    for (const std::uint32_t variable : given) {
      const std::uint32_t node = normalizer.give(variable);
      atoms.push_back({node_expr(logical, node), variable});
      if (variable == element)
        for (const Function function : {Function::Position, Function::MapKey})
          atoms.push_back(
              {call_expr(function, {}, {node_expr(logical, node)}), static_cast<std::uint32_t>(variables.size())});
    }
    Body body;
    if (as_kept) normalizer.read_as_kept();
    for (const Expr* expr : exprs) body.columns.push_back({"", normalizer.rewrite(*expr)});
    // Slots of variables that are not given stay empty.
    if (!variables.empty()) {
      Expr unused;
      unused.kind = ExprKind::Unknown;
      unused.index = UINT32_MAX;
      atoms.push_back({std::move(unused), static_cast<std::uint32_t>(variables.size() - 1)});
    }
    PlannerOptions options;
    options.sees_overflow = true;
    auto found = plan(logical, body, atoms, options);
    if (!found) {
      trouble(fmt::format("no plan for {} under design `{}`", what, design_.name));
      return out;
    }
    out.plan = std::move(*found);
    std::set<std::uint32_t> used;
    used.merge(families_read(out.plan));
    for (const std::uint32_t family : used) out.reads_copies = out.reads_copies || design_.families[family].copy();
    return out;
  }

  static void bound_inside(const Expr& expr, std::set<std::uint32_t>& out) {
    model::for_each(expr, [&](const Expr& at) {
      for (const model::Select& select : at.select) out.insert(select.from.begin(), select.from.end());
    });
  }

  ChangePlan plan_change(const model::Command& command, const model::Change& change) {
    ChangePlan out;
    const auto inputs = change_inputs(command, change);
    std::set<std::uint32_t> inside;
    for (const Expr* expr : inputs) bound_inside(*expr, inside);
    if (change.where) bound_inside(*change.where, inside);
    std::vector<std::uint32_t> given;
    for (std::uint32_t i = 0; i < command.variables.size(); ++i)
      if (!inside.contains(i)) given.push_back(i);
    const std::string what = fmt::format("command `{}`", command.name);
    out.inputs = compute(what, command.variables, given, inputs);
    if (change.variable && change.target.kind != ExprKind::Unknown)
      out.target = compute(what, command.variables, given, {&change.target});
    if (change.where)
      out.where = compute(what, command.variables, given, {&*change.where}, change.element, command.bulk);
    if (change.kind == ChangeKind::UpdateWhere || change.kind == ChangeKind::DeleteWhere) {
      std::vector<model::Variable> variables = command.variables;
      variables[*change.variable].kind = model::SourceKind::Entity;
      variables[*change.variable].type = model::reference(change.entity);
      model::Select select;
      select.from.push_back(*change.variable);
      select.where = change.where;
      model::Column column;
      column.name = "key";
      column.expr.kind = ExprKind::Variable;
      column.expr.index = *change.variable;
      column.expr.type = model::reference(change.entity);
      select.columns.push_back(column);
      select.order_by.push_back({column.expr, false});
      select.limit = change.limit;
      Logical logical;
      Normalizer normalizer(model_, logical, variables);
      normalizer.read_as_kept();
      const Body body = normalizer.normalize(select);
      out.find = plan(logical, body, {});
      if (!out.find) trouble(fmt::format("no plan for {} under design `{}`", what, design_.name));
    }
    for (const model::Change& inner : change.body) out.body.push_back(plan_change(command, inner));
    return out;
  }

  void plan_entity(model::EntityId id) {
    const model::Entity& entity = model_.entity(id);
    EntityPlan out;
    if (!entity.transient) {
      Logical logical;
      Body body = select_instance(model_, id, logical);
      if (entity.ttl) body.columns.push_back({"", hidden_marker(node_expr(logical, 1), due_marker)});
      auto load = plan_locating(logical, body, {{node_expr(logical, 0), 0}}, id);
      if (!load) {
        trouble(fmt::format("no plan to read `{}` by its key under design `{}`", entity.name, design_.name));
        return;
      }
      out.load = std::move(*load);
      Logical scan;
      Node every;
      every.type = model::reference(id);
      scan.nodes.push_back(every);
      Body all;
      all.nodes.push_back(0);
      all.columns.push_back({"", node_expr(scan, 0)});
      PlannerOptions base_only;
      base_only.max_stratum = 0;
      if (auto found = planner_.plan(scan, all, {}, base_only)) out.all = std::move(*found);
    }
    if (!entity.require.empty()) plan_require(id, out);
    for (const model::Role& role : model_.roles) {
      if ((!role.owner && !role.symmetric) || role.to != id || model_.entity(role.from).transient) continue;
      Logical logical;
      Node part;
      part.type = model::reference(role.from);
      logical.nodes.push_back(part);
      Node owner;
      owner.kind = NodeKind::Given;
      owner.type = model::reference(id);
      logical.nodes.push_back(owner);
      Body body;
      body.nodes.push_back(0);
      Expr field = field_expr(model_, node_expr(logical, 0), role.field);
      if (role.symmetric)
        body.where.push_back(
            call_expr(Function::Contains, model::scalar(TypeKind::Bool), {std::move(field), node_expr(logical, 1)}));
      else
        body.where.push_back(equal_expr(std::move(field), node_expr(logical, 1)));
      body.columns.push_back({"", node_expr(logical, 0)});
      auto found = plan(logical, body, {{node_expr(logical, 1), 0}});
      if (!found) {
        trouble(fmt::format("no plan to find the instances that refer to `{}` under design `{}`", entity.name,
                            design_.name));
        return;
      }
      (role.symmetric ? out.keepers : out.parts).push_back({role.from, role.field, std::move(*found)});
    }
    for (const model::Role& role : model_.roles) {
      if (!role.owner || role.to != id || !model_.entity(role.from).transient) continue;
      for (std::uint32_t f = 0; f < design_.families.size(); ++f) plan_forgetting(role, f, out);
    }
    program_.entities.push_back(std::move(out));
  }

  void plan_require(model::EntityId id, EntityPlan& out) {
    std::vector<model::Variable> variables(1);
    variables[0].type = model::reference(id);
    Logical logical;
    Normalizer normalizer(model_, logical, variables);
    Body body;
    normalizer.bind({0}, body);
    normalizer.read_as_kept();
    for (const Expr& expr : model_.entity(id).require) body.columns.push_back({"", normalizer.rewrite(expr)});
    PlannerOptions options;
    options.sees_overflow = true;
    auto found = plan(logical, body, given_instance(logical, 0), options, {0});
    if (!found) {
      trouble(fmt::format("no plan for the `require` of `{}`", model_.entity(id).name));
      return;
    }
    out.require.plan = std::move(*found);
  }

  // Where the base does not lie under the key, a locator tells where.
  std::optional<Plan> plan_locating(Logical& logical, const Body& body, const std::vector<Atom>& given,
                                    model::EntityId id) {
    PlannerOptions options;
    options.scans = false;
    options.max_stratum = 1;
    if (auto found = planner_.plan(logical, body, given, options)) return found;
    const model::Entity& entity = model_.entity(id);
    Collection collection;
    collection.name = entity.name + "_locator";
    collection.added = true;
    model::Variable self;
    self.name = std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(entity.name[0]))));
    self.type = model::reference(id);
    collection.variables.push_back(self);
    Expr variable;
    variable.kind = ExprKind::Variable;
    variable.type = self.type;
    for (const std::uint32_t field : entity.key) {
      model::Part part;
      part.expr = entity.fields[field].hidden ? variable : field_expr(model_, variable, field);
      part.name = entity.fields[field].hidden ? "id" : entity.fields[field].name;
      collection.by.push_back(std::move(part));
    }
    Family family;
    family.purpose = Purpose::Locator;
    family.from = {0};
    std::set<std::uint32_t> fields;
    for (const Family& base : design_.families) {
      if (base.purpose != Purpose::Base) continue;
      const Collection& at = design_.collection_of(base);
      if (at.variables[base.from[0]].type.entity() != id) continue;
      for (const auto* parts : {&at.by, &base.key})
        for (const model::Part& part : *parts)
          model::for_each(part.expr, [&](const Expr& expr) {
            if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable &&
                expr.operands[0].index == base.from[0] && !is_key_part(model_, expr.operands[0].type, expr.index))
              fields.insert(expr.index);
          });
    }
    for (const std::uint32_t field : fields) {
      model::Cell cell;
      cell.expr = field_expr(model_, variable, field);
      cell.name = entity.fields[field].name;
      family.cells.push_back(std::move(cell));
    }
    if (fields.empty() || final_) return std::nullopt;
    family.collection = static_cast<std::uint32_t>(design_.collections.size());
    design_.collections.push_back(std::move(collection));
    add_family(model_, design_, std::move(family));
    planner_.update(design_);
    return planner_.plan(logical, body, given, options);
  }

  [[nodiscard]] std::optional<Forgetting::Told> told_of(const Expr& part, std::uint32_t event) const {
    if (part.kind != ExprKind::Field) return std::nullopt;
    const Expr& of = part.operands[0];
    if (of.kind == ExprKind::Variable && of.index == event) return Forgetting::Told{part.index, std::nullopt};
    if (of.kind != ExprKind::Field || of.operands[0].kind != ExprKind::Variable || of.operands[0].index != event)
      return std::nullopt;
    const auto& key = model_.entity(of.type.entity()).key;
    const auto at = std::find(key.begin(), key.end(), part.index);
    if (at == key.end()) return std::nullopt;
    if (key.size() == 1) return Forgetting::Told{of.index, std::nullopt};
    return Forgetting::Told{of.index, static_cast<std::uint32_t>(at - key.begin())};
  }

  void plan_forgetting(const model::Role& role, std::uint32_t f, EntityPlan& out) {
    const Family& family = design_.families[f];
    if (!family.copy()) return;
    const FamilyLogic& logic = planner_.logic(f);
    std::optional<std::uint32_t> event;
    for (const std::uint32_t node : logic.body.nodes)
      if (logic.logical.nodes[node].is_instance() && logic.logical.nodes[node].type.entity() == role.from) event = node;
    if (!event) return;
    const Expr owner = field_expr(model_, node_expr(logic.logical, *event), role.field);
    Forgetting forgetting;
    forgetting.family = f;
    forgetting.event = role.from;
    Expr slot;
    slot.kind = ExprKind::Slot;
    slot.type = owner.type;
    const auto& key = model_.entity(role.to).key;
    std::set<std::uint32_t> parts_known;
    for (const auto* parts : {&logic.block, &logic.key}) {
      for (const Expr& part : *parts) {
        std::optional<Expr> of_owner;
        if (alike(part, owner)) {
          of_owner = slot;
          parts_known.insert(key.begin(), key.end());
        } else if (part.kind == ExprKind::Field && alike(part.operands[0], owner)) {
          of_owner = part;
          of_owner->operands[0] = slot;
          parts_known.insert(part.index);
        }
        forgetting.parts.push_back(std::move(of_owner));
        forgetting.told.push_back(told_of(part, *event));
      }
    }
    if (parts_known.size() < key.size()) {
      trouble(
          fmt::format("`{}` stores folds over `{}` without their owner, so they cannot be found when a `{}` is "
                      "deleted; add `{}` to its key",
                      design_.collection_of(family).name, model_.entity(role.from).name, model_.entity(role.to).name,
                      model_.entity(role.from).fields[role.field].name));
      return;
    }
    out.forgets.push_back(std::move(forgetting));
  }

  // --- Keeping copies -----------------------------------------------------------------------------------------------

  // The fields of a node that the family looks at.
  std::vector<std::uint32_t> fields_read(const FamilyLogic& logic, std::uint32_t node) const {
    std::set<std::uint32_t> fields;
    const std::function<void(const Expr&)> look = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable && expr.operands[0].index == node)
        fields.insert(expr.index);
      for (const Expr& operand : expr.operands) look(operand);
    };
    const std::function<void(const Body&)> look_body = [&](const Body& body) {
      for (const Expr& expr : body.where) look(expr);
      for (const OutputColumn& column : body.columns) look(column.expr);
      for (const Expr& expr : body.group_by) look(expr);
      for (const model::OrderTerm& term : body.order_by) look(term.expr);
    };
    look_body(logic.body);
    for (const auto* parts : {&logic.block, &logic.key, &logic.cells})
      for (const Expr& part : *parts) look(part);
    for (const Node& at : logic.logical.nodes) look(at.source);
    for (const Sub& sub : logic.logical.subs) look_body(sub.body);
    return {fields.begin(), fields.end()};
  }

  void plan_upkeep() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < design_.families.size(); ++i)
      if (design_.families[i].copy() && design_.families[i].purpose != Purpose::Due) order.push_back(i);
    // Members before what is folded from them, which may be the members of another fold.
    const auto folded_from_it = [&](std::uint32_t f) {
      std::size_t out = 0;
      for (; design_.families[f].counts_members; f = design_.families[f].members_of) ++out;
      return out;
    };
    // Locators, by which bases are found; then strata.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto rank = [&](std::uint32_t f) {
        const Family& family = design_.families[f];
        const bool locator = family.purpose == Purpose::Locator;
        return std::pair(locator ? 0U : family.stratum, locator ? SIZE_MAX : folded_from_it(f));
      };
      const auto [stratum_a, folded_a] = rank(a);
      const auto [stratum_b, folded_b] = rank(b);
      return stratum_a != stratum_b ? stratum_a < stratum_b : folded_a > folded_b;
    });
    for (const std::uint32_t f : order) {
      if (f >= design_.families.size()) continue;
      plan_family(f);
      if (!trouble_.empty()) return;
    }
  }

  void plan_family(std::uint32_t f) {
    const FamilyLogic logic = planner_.logic(f);  // a copy: plans may add families
    const Family family = design_.families[f];
    Upkeep out;
    out.family = f;
    PlannerOptions options;
    options.max_stratum = family.stratum - 1;
    const auto no_way = [&](const std::string& what) {
      trouble(fmt::format("`{}` cannot be maintained when {} changes, under design `{}`",
                          design_.collection_of(family).name, what, design_.name));
    };
    bool transient = false;
    for (const std::uint32_t node : logic.body.nodes) {
      const Node& at = logic.logical.nodes[node];
      if (at.is_instance()) {
        transient = transient || model_.entity(at.type.entity()).transient;
        DerivedRows rows = derived_rows(logic);
        out.identity_size = rows.identity_size;
        DirectPlan direct;
        direct.entity = at.type.entity();
        direct.fields = fields_read(logic, node);
        auto found = plan(rows.logical, rows.body, given_instance(rows.logical, node), options, {node});
        if (!found) {
          no_way(fmt::format("a `{}`", model_.entity(direct.entity).name));
          return;
        }
        direct.plan = std::move(*found);
        out.direct.push_back(std::move(direct));
      } else if (at.kind == NodeKind::Refreshed || at.kind == NodeKind::History) {
        DerivedRows rows = derived_rows(logic);
        out.identity_size = rows.identity_size;
        Logical& logical = rows.logical;
        std::vector<Atom> given;
        for (Expr& expr : identity(logical, node))
          given.push_back({std::move(expr), static_cast<std::uint32_t>(given.size())});
        for (std::uint32_t i = 0; i < at.type.arguments.size(); ++i)
          given.push_back({field_expr(model_, node_expr(logical, node), i), static_cast<std::uint32_t>(given.size())});
        auto found = plan(logical, rows.body, given, options, {node});
        if (!found) {
          no_way(fmt::format("`{}`", model_.queries[at.query].name));
          return;
        }
        out.refreshes.push_back({at.query, at.kind == NodeKind::History, std::move(*found)});
      }
    }
    plan_indirect(logic, options, out, no_way);
    if (!trouble_.empty()) return;
    const auto keyed = [&](const std::vector<Expr>& exprs) -> std::optional<Plan> {
      DerivedRows rows = derived_rows(logic, exprs);
      return plan(rows.logical, rows.body, rows.given, options);
    };
    if (!out.indirect.empty()) {
      std::vector<Expr> exprs;
      for (const std::uint32_t node : logic.body.nodes)
        for (Expr& expr : identity(logic.logical, node)) exprs.push_back(std::move(expr));
      out.by_identity = keyed(exprs);
      if (!out.by_identity) {
        no_way("other data");
        return;
      }
    }
    if (!transient) {
      DerivedRows rows = derived_rows(logic);
      out.identity_size = rows.identity_size;
      PlannerOptions base_only;
      base_only.max_stratum = 0;
      base_only.instead_of = f;  // a locator does not vouch for itself
      out.all = planner_.plan(rows.logical, rows.body, {}, base_only);
      // A written copy may be what tells where a base lies.
      if (!out.all) out.all = planner_.plan(rows.logical, rows.body, {}, options);
      if (!out.all && !counts_transient(logic)) {
        no_way("anything");
        return;
      }
      const bool lists = std::any_of(family.cells.begin(), family.cells.end(), [](const model::Cell& cell) {
        return cell.shape == model::CellShape::List && cell.from.empty();
      });
      if (lists) {
        std::vector<Expr> exprs = logic.block;
        exprs.insert(exprs.end(), logic.key.begin(), logic.key.end());
        out.by_key = keyed(exprs);
      }
      if (family.limit) out.by_block = keyed(logic.block);
    }
    program_.upkeep.push_back(std::move(out));
  }

  // Something of it is folded from instances that are not kept.
  [[nodiscard]] bool counts_transient(const FamilyLogic& logic) const {
    return std::any_of(logic.logical.nodes.begin(), logic.logical.nodes.end(), [&](const Node& node) {
      return node.is_instance() && model_.entity(node.type.entity()).transient;
    });
  }

  // The instance and its fields are known: slot 0 is the key.
  std::vector<Atom> given_instance(const Logical& logical, std::uint32_t node) const {
    const Expr self = node_expr(logical, node);
    std::vector<Atom> given{{self, 0}};
    const auto& fields = model_.entity(logical.nodes[node].type.entity()).fields;
    for (std::uint32_t i = 0; i < fields.size(); ++i) given.push_back({field_expr(model_, self, i), i + 1});
    return given;
  }

  // Rows that depend on an aggregate beyond their own: through a path, or a nested select.
  template <typename NoWay>
  void plan_indirect(const FamilyLogic& logic, const PlannerOptions& options, Upkeep& out, const NoWay& no_way) {
    // Which select a node is bound by.
    const Logical& all = logic.logical;
    std::vector<std::optional<std::uint32_t>> bound_by(all.nodes.size());
    std::vector<std::optional<std::uint32_t>> inside_of(all.subs.size());
    for (std::uint32_t s = 0; s < all.subs.size(); ++s)
      for (const std::uint32_t node : all.subs[s].body.nodes) bound_by[node] = s;
    for (std::uint32_t s = 0; s < all.subs.size(); ++s) {
      const std::function<void(const Expr&)> look = [&](const Expr& expr) {
        if (expr.kind == ExprKind::Select) inside_of[expr.index] = s;
        for (const Expr& operand : expr.operands) look(operand);
      };
      const Body& body = all.subs[s].body;
      for (const Expr& expr : body.where) look(expr);
      for (const OutputColumn& column : body.columns) look(column.expr);
      for (const Expr& expr : body.group_by) look(expr);
      for (const model::OrderTerm& term : body.order_by) look(term.expr);
      for (const std::uint32_t node : body.nodes) look(all.nodes[node].source);
    }
    // What the rows are made of; an access that is only implied tells nothing of them.
    std::set<std::uint32_t> reached;
    const std::function<void(const Expr&)> reach = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Variable && all.nodes[expr.index].kind == NodeKind::Optional &&
          reached.insert(expr.index).second)
        reach(all.nodes[expr.index].source);
      if (expr.kind == ExprKind::Select) {
        const Body& body = all.subs[expr.index].body;
        for (const std::uint32_t node : body.nodes) {
          if (!reached.insert(node).second) return;
          reach(all.nodes[node].source);
        }
        for (const Expr& at : body.where) reach(at);
        for (const OutputColumn& column : body.columns) reach(column.expr);
        for (const Expr& at : body.group_by) reach(at);
        for (const model::OrderTerm& term : body.order_by) reach(term.expr);
      }
      for (const Expr& operand : expr.operands) reach(operand);
    };
    for (const auto* exprs : {&logic.block, &logic.key, &logic.cells, &logic.body.where})
      for (const Expr& expr : *exprs) reach(expr);
    for (const std::uint32_t node : logic.body.nodes) reach(all.nodes[node].source);
    for (std::uint32_t d = 0; d < all.nodes.size(); ++d) {
      const Node& dependency = all.nodes[d];
      const bool in_sub = dependency.is_instance() && bound_by[d].has_value();
      if (!in_sub && dependency.kind != NodeKind::Optional) continue;
      if (!reached.contains(d)) continue;
      Logical logical = all;
      Body body;
      body.nodes = logic.body.nodes;
      body.implied = logic.body.implied;
      std::vector<Expr> wanted = logic.body.where;
      std::set<std::uint32_t> subs;
      // The selects around a node, from the inside out.
      const auto enter = [&](std::uint32_t node) {
        for (auto s = bound_by[node]; s && subs.insert(*s).second; s = inside_of[*s]) {
          const Body& inner = all.subs[*s].body;
          body.nodes.insert(body.nodes.end(), inner.nodes.begin(), inner.nodes.end());
          wanted.insert(wanted.end(), inner.where.begin(), inner.where.end());
          body.implied.insert(body.implied.end(), inner.implied.begin(), inner.implied.end());
        }
      };
      if (in_sub) enter(d);
      std::vector<Atom> given;
      std::vector<std::uint32_t> known;
      IndirectPlan indirect;
      indirect.entity = dependency.type.entity();
      indirect.fields = fields_read(logic, d);
      // An optional instance on the way becomes one that is bound.
      std::vector<std::pair<std::uint32_t, std::uint32_t>> instances;
      const std::function<Expr(const Expr&)> joined = [&](const Expr& expr) -> Expr {
        if (expr.kind == ExprKind::Variable && logical.nodes[expr.index].kind == NodeKind::Optional)
          return joined(Expr(logical.nodes[expr.index].source));
        if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable &&
            logical.nodes[expr.operands[0].index].kind == NodeKind::Optional &&
            !is_key_part(model_, expr.operands[0].type, expr.index)) {
          const std::uint32_t optional = expr.operands[0].index;
          const auto found =
              std::find_if(instances.begin(), instances.end(), [&](const auto& at) { return at.first == optional; });
          std::uint32_t instance = found != instances.end() ? found->second : 0;
          if (found == instances.end()) {
            Node node;
            node.type = logical.nodes[optional].type;
            node.type.optional = false;
            logical.nodes.push_back(node);
            instance = static_cast<std::uint32_t>(logical.nodes.size() - 1);
            instances.emplace_back(optional, instance);
            body.nodes.push_back(instance);
            const Expr source = logical.nodes[optional].source;
            std::vector<std::uint32_t> below;
            collect_nodes(logical, source, below);
            for (const std::uint32_t at : below)
              if (at < bound_by.size()) enter(at);
            const Expr refers = joined(source);
            body.where.push_back(equal_expr(node_expr(logical, instance), refers));
          }
          Expr made = expr;
          made.operands[0] = node_expr(logical, instance);
          return made;
        }
        Expr made = expr;
        for (Expr& operand : made.operands) operand = joined(operand);
        return made;
      };
      if (in_sub) {
        given = given_instance(logical, d);
        known.push_back(d);
      } else {
        std::vector<std::uint32_t> below;
        collect_nodes(logical, dependency.source, below);
        for (const std::uint32_t at : below) enter(at);
        Node node;
        node.kind = NodeKind::Given;
        node.type = dependency.type;
        logical.nodes.push_back(node);
        const auto changed = static_cast<std::uint32_t>(logical.nodes.size() - 1);
        given.push_back({node_expr(logical, changed), 0});
        body.where.push_back(equal_expr(joined(dependency.source), node_expr(logical, changed)));
        indirect.reference_only = true;
      }
      // Joins only: what else is asked can only make the rows fewer.
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Expr conjunct = wanted[i];
        if (!is_call(conjunct, Function::Equal) && !is_call(conjunct, Function::Contains)) continue;
        if (has_column(conjunct) || !std::all_of(conjunct.operands.begin(), conjunct.operands.end(), is_strict))
          continue;
        body.where.push_back(joined(conjunct));
      }
      // Unions of symmetric roles hold a select: either side.
      for (const std::uint32_t node : logic.body.nodes)
        for (Expr& expr : identity(logical, node)) body.columns.push_back({"", std::move(expr)});
      body.distinct = true;
      auto found = plan(logical, body, given, options, known);
      if (!found) {
        no_way(fmt::format("a `{}`", model_.entity(indirect.entity).name));
        return;
      }
      indirect.plan = std::move(*found);
      out.indirect.push_back(std::move(indirect));
    }
  }

  const model::Model& model_;
  Design design_;
  Planner planner_;
  Program program_;
  std::string trouble_;
  bool final_ = false;
  bool sees_overflow_ = false;  // what is planned now
};

}  // namespace

std::vector<const Expr*> change_inputs(const model::Command& command, const model::Change& change) {
  std::vector<const Expr*> out;
  const auto add = [&](const Expr& expr) {
    if (expr.kind != ExprKind::Unknown) out.push_back(&expr);
  };
  // Positions and keys on the way of a path.
  const std::function<void(const Expr&)> steps = [&](const Expr& path) {
    if (path.kind != ExprKind::Field && path.kind != ExprKind::Element) return;
    steps(path.operands[0]);
    if (path.kind == ExprKind::Element) add(path.operands[1]);
  };
  if (change.kind == ChangeKind::For) {
    add(command.variables[*change.variable].source);
    return out;
  }
  add(change.target);
  steps(change.path);
  add(change.key);
  add(change.argument);
  for (const model::Assignment& assignment : change.assignments) {
    steps(assignment.target);
    add(assignment.value);
  }
  return out;
}

Result<Program> make_program(std::shared_ptr<const model::Model> model, Design design) {
  return Builder(std::move(model), std::move(design)).build();
}

}  // namespace noam::design
