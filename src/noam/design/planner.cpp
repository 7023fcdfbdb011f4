#include "noam/design/planner.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "noam/base/breakage.h"
#include "noam/base/check.h"
#include "noam/model/estimates.h"

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

namespace {

// Costs, in lookups.
constexpr double entry_cost = 0.02;
constexpr double byte_cost = 0.0002;
constexpr double same_block_cost = 0.3;
constexpr double usual_instances = 1'000;
constexpr double usual_length = 10;
constexpr int deepest = 12;
constexpr int usual_tries = 300;
constexpr int most_tries = 20'000;  // where there is no plan yet

Expr slot_expr(std::uint32_t slot, const model::Type& type) {
  Expr expr;
  expr.kind = ExprKind::Slot;
  expr.index = slot;
  expr.type = type;
  return expr;
}

bool is_no_limit(const Expr& limit) {
  const auto* number = std::get_if<std::int64_t>(&limit.constant);
  return limit.kind == ExprKind::Constant && number != nullptr && *number == INT64_MAX;
}

// Units from fine to coarse; a week has no month.
int fineness(Function unit) {
  switch (unit) {
    case Function::Minute:
      return 0;
    case Function::Hour:
      return 1;
    case Function::Day:
      return 2;
    case Function::Week:
      return 3;
    case Function::Month:
      return 4;
    case Function::Year:
      return 5;
    default:
      return -1;
  }
}
bool follows_from(Function coarse, Function fine) {
  const int c = fineness(coarse);
  const int f = fineness(fine);
  return c >= 0 && f >= 0 && f < c && fine != Function::Week;
}

// That the expression reads, of an instance or a value; null where it is something else.
const model::Field* field_of(const model::Model& model, const Expr& expr) {
  if (expr.kind != ExprKind::Field) return nullptr;
  const model::Type& object = expr.operands[0].type;
  if (object.kind != TypeKind::Reference && object.kind != TypeKind::Value) return nullptr;
  const std::vector<model::Field>& fields = model.fields(object);
  return expr.index < fields.size() ? &fields[expr.index] : nullptr;
}

// A family laid over nodes of a query.
struct Match {
  std::uint32_t family = 0;
  std::vector<std::optional<Expr>> to;  // node of the family -> expression of the query
  std::vector<std::optional<Expr>> block;
  std::vector<std::optional<Expr>> key;
  std::vector<std::optional<Expr>> block_word;  // a part that is a word: the text with the words
  std::vector<std::pair<Expr, Place>> atoms;
  std::vector<std::uint32_t> covers;     // nodes of the query
  std::vector<std::uint32_t> binding;    // and those of the family that bind them
  std::vector<std::uint32_t> collapsed;  // of those
  std::vector<Expr> conjuncts;           // of the query, which every row of the family obeys
  std::vector<Expr> members;             // what the query says to be in a collection, and an element is taken for
  std::optional<std::uint32_t> optional_node;
  bool any_word = false;
  bool semi = false;  // duplicates were taken together on purpose
};

// An expression whose value is in a slot. Expressions that are alike are kept once in a search, so they have one
// address.
struct Known {
  const Expr* expr = nullptr;
  std::uint32_t slot = 0;
};

// Copied at every turn of the search: what it holds is shared.
struct State {
  static constexpr char collapsed = 2;

  std::vector<Known> atoms;
  std::vector<char> bound;  // by node: 0 no, 1 yes, or collapsed: as one of the rows that share an entry
  std::vector<char> asked;  // by conjunct
  std::vector<std::shared_ptr<Step>> steps;
  std::uint32_t slots = 0;
  double rows = 1;
  double cost = 0;
  std::optional<std::uint32_t> weight;
  bool scans = false;
  bool needs_words = false;
  std::optional<std::uint32_t> cap;
  int multiplying = 0;  // steps that may give several rows for one
  const Match* last = nullptr;
  std::size_t last_step = 0;
  int last_order = 0;           // 1 as asked, -1 reversed, 0 not
  bool dropped = false;         // a filter came after that step
  bool several_blocks = false;  // of that step, for one row
};

class Search {
 public:
  Search(const Planner& planner, Logical& logical, const Body& body, const std::vector<Expr>& outer_where,
         const PlannerOptions& options)
      : planner_(planner),
        model_(planner.model()),
        logical_(logical),
        body_(body),
        outer_where_(outer_where),
        options_(options) {}

  std::optional<Plan> run(const std::vector<Atom>& given, const std::vector<char>& bound, double rows) {
    State state;
    for (const Atom& atom : given) {
      add_atom(state, atom.expr, atom.slot);
      state.slots = std::max(state.slots, atom.slot + 1);
    }
    first_slot_ = state.slots;
    state.bound = bound;
    state.bound.resize(logical_.nodes.size(), 0);
    state.asked.resize(body_.where.size(), 0);
    state.rows = rows;
    find_matches();
    scanning_ = false;
    if (options_.lookups_alone) search(state);
    if (!best_ && options_.scans) {
      scanning_ = true;
      tries_ = 0;
      search(state);
    }
    return std::move(best_);
  }

 private:
  // --- Laying families over the query -------------------------------------------------------------------------------

  std::optional<Expr> translate(const FamilyLogic& family, const Match& match, const Expr& expr) const {
    if (expr.kind == ExprKind::Variable) {
      if (match.to[expr.index]) return match.to[expr.index];
      const Node& node = family.logical.nodes[expr.index];
      if (node.kind != NodeKind::Optional) return std::nullopt;
      const auto source = translate(family, match, node.source);
      if (!source) return std::nullopt;
      for (std::uint32_t i = 0; i < logical_.nodes.size(); ++i)
        if (logical_.nodes[i].kind == NodeKind::Optional && alike(logical_.nodes[i].source, *source))
          return node_expr(logical_, i);
      return std::nullopt;
    }
    if (expr.kind == ExprKind::Select) {
      for (std::uint32_t i = 0; i < logical_.subs.size(); ++i) {
        if (!same_sub(family, match, family.logical.subs[expr.index], logical_.subs[i])) continue;
        Expr out = expr;
        out.index = i;
        return out;
      }
      return std::nullopt;
    }
    if (is_call(expr, Function::MapKey) && expr.operands[0].kind == ExprKind::Variable) {
      const auto found = std::find_if(map_keys_.begin(), map_keys_.end(),
                                      [&](const auto& at) { return at.first == expr.operands[0].index; });
      if (found != map_keys_.end()) return found->second;
    }
    Expr out = expr;
    for (Expr& operand : out.operands) {
      auto made = translate(family, match, operand);
      if (!made) return std::nullopt;
      operand = std::move(*made);
    }
    return out;
  }

  bool same_sub(const FamilyLogic& family, const Match& match, const Sub& theirs, const Sub& ours) const {
    const Body& a = theirs.body;
    const Body& b = ours.body;
    // A list that is kept lies in an order, also where none is asked for.
    const bool cut = a.limit && !is_no_limit(*a.limit);
    const bool any_order = !b.ordered && !cut;
    if (theirs.as_set != ours.as_set || a.nodes.size() != b.nodes.size() || a.where.size() != b.where.size() ||
        a.columns.size() != b.columns.size() || a.group_by.size() != b.group_by.size() ||
        (!any_order && a.order_by.size() != b.order_by.size()) || cut != b.limit.has_value() ||
        a.distinct != b.distinct || a.folded != b.folded || a.shape != b.shape)
      return false;
    Match inner = match;
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
      const Node& x = family.logical.nodes[a.nodes[i]];
      const Node& y = logical_.nodes[b.nodes[i]];
      if (x.kind != y.kind || x.query != y.query || x.type.kind != y.type.kind || x.type.id != y.type.id) return false;
      inner.to[a.nodes[i]] = node_expr(logical_, b.nodes[i]);
      if (x.kind == NodeKind::Element || x.kind == NodeKind::Word) {
        const auto source = translate(family, inner, x.source);
        if (!source || !alike(*source, y.source)) return false;
      }
    }
    const auto equal = [&](const Expr& x, const Expr& y) {
      const auto made = translate(family, inner, x);
      return made && alike(*made, y);
    };
    for (std::size_t i = 0; i < a.where.size(); ++i)
      if (!equal(a.where[i], b.where[i])) return false;
    for (std::size_t i = 0; i < a.columns.size(); ++i)
      if (!equal(a.columns[i].expr, b.columns[i].expr)) return false;
    for (std::size_t i = 0; i < a.group_by.size(); ++i)
      if (!equal(a.group_by[i], b.group_by[i])) return false;
    for (std::size_t i = 0; i < a.order_by.size() && !any_order; ++i)
      if (a.order_by[i].descending != b.order_by[i].descending || !equal(a.order_by[i].expr, b.order_by[i].expr))
        return false;
    return !cut || equal(*a.limit, *b.limit);
  }

  // The query says so, or it follows.
  [[nodiscard]] bool holds(const Expr& conjunct) const {
    const auto among = [&](const std::vector<Expr>& all) {
      return std::any_of(all.begin(), all.end(), [&](const Expr& at) { return alike(at, conjunct); });
    };
    if (among(body_.where) || among(body_.implied) || among(outer_where_)) return true;
    // `x is not absent` follows from any comparison of x.
    if (is_call(conjunct, Function::Not) && is_call(conjunct.operands[0], Function::IsAbsent)) {
      const Expr& x = conjunct.operands[0].operands[0];
      return std::any_of(body_.where.begin(), body_.where.end(), [&](const Expr& at) {
        if (at.kind != ExprKind::Call) return false;
        switch (at.function) {
          case Function::Equal:
          case Function::Less:
          case Function::LessEqual:
          case Function::Greater:
          case Function::GreaterEqual:
            return alike(at.operands[0], x) || alike(at.operands[1], x);
          case Function::Between:
          case Function::In:
          case Function::StartsWith:
          case Function::ContainsAll:
          case Function::ContainsAny:
            return alike(at.operands[0], x);
          default:
            return false;
        }
      });
    }
    return false;
  }

  // Nested selects are planned again and again; what can be laid over one hangs on what is bound and asked around it.
  using Matches = std::shared_ptr<const std::vector<Match>>;

  void find_matches() {
    lay_families();
    matches_ = std::make_shared<const std::vector<Match>>(std::move(found_));
  }

  void lay_families() {
    for (std::uint32_t family = 0; family < planner_.design().families.size(); ++family) {
      const Family& at = planner_.design().families[family];
      if (options_.instead_of == family) continue;
      // Where a base lies is told by its locator, whoever asks.
      if (at.stratum > options_.max_stratum && at.purpose != Purpose::Locator) continue;
      if (at.purpose == Purpose::Due || at.purpose == Purpose::Refreshed || at.of_noam()) continue;
      if (at.limit && !options_.capped) continue;
      const FamilyLogic& logic = planner_.logic(family);
      if (options_.sees_overflow && !logic.always_fits() && !of_events(logic)) continue;
      Match match;
      match.family = family;
      match.to.resize(logic.logical.nodes.size());
      map_keys_.clear();
      extend(match, logic, 0);
    }
  }

  // What is kept of events is all there is.
  [[nodiscard]] bool of_events(const FamilyLogic& logic) const {
    return std::any_of(logic.logical.nodes.begin(), logic.logical.nodes.end(), [&](const Node& node) {
      return node.is_instance() && model_.entity(node.type.entity()).transient;
    });
  }

  void extend(const Match& match, const FamilyLogic& logic, std::size_t position) {
    if (position == logic.body.nodes.size()) {
      complete(match, logic);
      return;
    }
    const std::uint32_t node = logic.body.nodes[position];
    const Node& theirs = logic.logical.nodes[node];
    const auto used = [&](std::uint32_t q) {
      return std::any_of(match.to.begin(), match.to.end(),
                         [&](const auto& at) { return at && at->kind == ExprKind::Variable && at->index == q; });
    };
    const auto take = [&](std::uint32_t q) {
      Match next = match;
      next.to[node] = node_expr(logical_, q);
      next.covers.push_back(q);
      next.binding.push_back(node);
      extend(next, logic, position + 1);
    };
    for (std::uint32_t q = 0; q < logical_.nodes.size(); ++q) {
      const Node& ours = logical_.nodes[q];
      if (used(q)) continue;
      if (theirs.kind == NodeKind::Instance) {
        if (ours.type.kind != TypeKind::Reference || ours.type.id != theirs.type.id) continue;
        if (ours.kind == NodeKind::Instance && visible(q)) take(q);
        if (ours.kind == NodeKind::Optional) {
          Match next = match;
          next.to[node] = node_expr(logical_, q);
          next.optional_node = q;
          if (!match.optional_node) extend(next, logic, position + 1);
        }
        continue;
      }
      if (theirs.kind != ours.kind || !visible(q)) continue;
      if (theirs.kind == NodeKind::Element) {
        const auto source = translate(logic, match, theirs.source);
        if (source && alike(*source, ours.source)) take(q);
      } else if (theirs.kind == NodeKind::Refreshed || theirs.kind == NodeKind::History) {
        if (theirs.query == ours.query) take(q);
      }
    }
    if (theirs.kind == NodeKind::Element || theirs.kind == NodeKind::Word) {
      const auto source = translate(logic, match, theirs.source);
      if (!source) return;
      const auto try_conjunct = [&](const Expr& conjunct) {
        if (conjunct.kind != ExprKind::Call) return;
        if (theirs.kind == NodeKind::Word) {
          if ((conjunct.function != Function::ContainsAll && conjunct.function != Function::ContainsAny) ||
              !options_.words || !alike(conjunct.operands[0], *source))
            return;
          Match next = match;
          next.any_word = conjunct.function == Function::ContainsAny;
          for (const Expr& part : logic.block) {
            const bool word = part.kind == ExprKind::Variable && part.index == node;
            next.block_word.push_back(word ? std::optional<Expr>(conjunct.operands[1]) : std::nullopt);
          }
          Expr marker;
          marker.kind = ExprKind::Unknown;
          marker.index = node;
          next.to[node] = marker;
          extend(next, logic, position + 1);
          return;
        }
        if (conjunct.function != Function::Contains) return;
        const Expr& collection = conjunct.operands[0];
        const bool values = is_call(collection, Function::MapValues) && alike(collection.operands[0], *source);
        if (!values && !alike(collection, *source)) return;
        Match next = match;
        next.semi = true;
        if (source->type.kind == TypeKind::Map && !values) {
          map_keys_.emplace_back(node, conjunct.operands[1]);
          extend(next, logic, position + 1);
          map_keys_.pop_back();
        } else {
          next.to[node] = conjunct.operands[1];
          extend(next, logic, position + 1);
        }
      };
      for (const Expr& conjunct : body_.where) try_conjunct(conjunct);
      for (const Expr& conjunct : body_.implied) try_conjunct(conjunct);
    }
  }

  // A node that this select binds, or that is bound around it.
  [[nodiscard]] bool visible(std::uint32_t q) const {
    if (std::find(body_.nodes.begin(), body_.nodes.end(), q) != body_.nodes.end()) return true;
    return q < outer_bound_.size() && outer_bound_[q] != 0;
  }

 public:
  void set_outer(std::vector<char> bound) { outer_bound_ = std::move(bound); }

 private:
  void complete(Match match, const FamilyLogic& logic) {
    const Family& family = planner_.design().families[match.family];
    for (const Expr& conjunct : logic.body.where) {
      const auto made = translate(logic, match, conjunct);
      if (!made || !(holds(*made) || broken(Breakage::FilteredCopyTakenForAll))) return;
      match.conjuncts.push_back(*made);
    }
    // What is in a set by itself.
    for (const std::uint32_t node : logic.body.nodes) {
      const Node& theirs = logic.logical.nodes[node];
      if (theirs.kind != NodeKind::Element) continue;
      if (covers(match, node)) continue;
      const auto source = translate(logic, match, theirs.source);
      const auto by_key =
          std::find_if(map_keys_.begin(), map_keys_.end(), [&](const auto& at) { return at.first == node; });
      const Expr* member = by_key != map_keys_.end() ? &by_key->second : match.to[node] ? &*match.to[node] : nullptr;
      if (member != nullptr) match.members.push_back(*member);
      for (const std::vector<Expr>* all : {&body_.where, &body_.implied})
        for (const Expr& at : *all)
          if (is_call(at, Function::Contains) && member != nullptr && alike(at.operands[1], *member) &&
              (alike(at.operands[0], *source) ||
               (is_call(at.operands[0], Function::MapValues) && alike(at.operands[0].operands[0], *source))))
            match.conjuncts.push_back(at);
    }
    if (match.optional_node) {
      // Only what is there for every instance, or what the query ties to it.
      const Expr self = node_expr(logical_, *match.optional_node);
      const bool tied = std::any_of(match.conjuncts.begin(), match.conjuncts.end(), [&](const Expr& at) {
        std::vector<std::uint32_t> nodes;
        collect_nodes(logical_, at, nodes);
        return std::find(nodes.begin(), nodes.end(), *match.optional_node) != nodes.end();
      });
      if (!tied && (logic.body.nodes.size() > 1 && !logic.element_node)) return;
      if (!tied && !logic.body.where.empty()) return;
      if (!tied && !match.covers.empty() && !logic.element_node) return;
    }
    for (const std::uint32_t node : logic.collapsed) {
      if (covers(match, node)) {
        match.collapsed.push_back(match.to[node]->index);
        continue;
      }
      if (broken(Breakage::FoldTakenForKnown)) continue;
      // It stands for something that is known; entries that don't tell it are about others, too.
      const Expr self = node_expr(logic.logical, node);
      const auto tells = [&](const Expr& part) { return alike(part, self); };
      if (std::none_of(logic.block.begin(), logic.block.end(), tells) &&
          std::none_of(logic.key.begin(), logic.key.end(), tells))
        return;
    }
    // An element that was taken for a set's member must be one row a member.
    if (match.semi) {
      for (const std::uint32_t node : logic.body.nodes) {
        const Node& theirs = logic.logical.nodes[node];
        if (theirs.kind != NodeKind::Element || theirs.source.type.kind == TypeKind::Set) continue;
        if (covers(match, node)) continue;
        if (std::find(logic.collapsed.begin(), logic.collapsed.end(), node) == logic.collapsed.end()) {
          if (theirs.source.type.kind == TypeKind::List) return;
          // A map: its keys are each there once.
          if (match.to[node]) return;
        }
      }
    }
    // An optional instance is found by the reference to it.
    const auto located = [&](const Expr& part) {
      auto made = translate(logic, match, part);
      if (made && match.optional_node) made = by_reference(*made, *match.optional_node);
      return made;
    };
    for (const Expr& part : logic.block) match.block.push_back(located(part));
    for (const Expr& part : logic.key) match.key.push_back(located(part));
    // What several words find is told apart by the entry's key; and where it is not the block that tells the word,
    // there is an entry for each word.
    const bool one_word = !match.any_word && std::any_of(match.block_word.begin(), match.block_word.end(),
                                                         [](const auto& word) { return word.has_value(); });
    if (!one_word &&
        std::any_of(match.key.begin(), match.key.end(), [](const auto& part) { return part && has_marker(*part); }))
      return;
    if (match.block_word.empty()) match.block_word.resize(logic.block.size());
    for (const Held& held : logic.held) {
      auto made = translate(logic, match, held.expr);
      if (!made || has_marker(*made)) continue;
      // Where there is no instance there is no entry, but an expression may still have a value.
      if (match.optional_node && !is_path(*made)) continue;
      match.atoms.emplace_back(std::move(*made), held.place);
    }
    if (family.existence) {
      for (std::uint32_t i = 0; i < family.hidden.size(); ++i)
        if (match.to[logic.body.nodes[0]])
          match.atoms.emplace_back(hidden_marker(*match.to[logic.body.nodes[0]],
                                                 family.hidden[i].kind == HiddenKind::Due ? due_marker
                                                                                          : family.hidden[i].of),
                                   Place{Place::Kind::Hidden, i, {}});
    }
    found_.push_back(std::move(match));
  }

  // A node of the query is bound by this node of the family.
  static bool covers(const Match& match, std::uint32_t node) {
    return std::find(match.binding.begin(), match.binding.end(), node) != match.binding.end();
  }

  // What the reference tells, taken from the reference.
  [[nodiscard]] Expr by_reference(const Expr& expr, std::uint32_t optional) const {
    if (expr.kind == ExprKind::Variable && expr.index == optional) return logical_.nodes[optional].source;
    if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable &&
        expr.operands[0].index == optional && !is_key_part(model_, expr.operands[0].type, expr.index))
      return expr;
    Expr out = expr;
    for (Expr& operand : out.operands) operand = by_reference(operand, optional);
    return out;
  }

  // One entry at most lies under the block's key and so many parts of the entry's.
  [[nodiscard]] bool unique_under(const Match& match, std::size_t fixed) const {
    const FamilyLogic& logic = planner_.logic(match.family);
    if (fixed == logic.key.size()) return true;
    if (logic.element_node || !logic.collapsed.empty()) return false;
    std::vector<const Expr*> known;
    for (const Expr& part : logic.block) known.push_back(&part);
    for (std::size_t i = 0; i < fixed; ++i) known.push_back(&logic.key[i]);
    return undetermined(model_, logic.logical, logic.body, known).empty();
  }

  static bool is_path(const Expr& expr) {
    if (expr.kind == ExprKind::Field) return is_path(expr.operands[0]);
    return expr.kind == ExprKind::Variable || (expr.kind == ExprKind::Element && expr.operands.size() == 1);
  }

  static bool has_marker(const Expr& expr) {
    return expr.kind == ExprKind::Unknown || std::any_of(expr.operands.begin(), expr.operands.end(), has_marker);
  }

  // --- What is known ------------------------------------------------------------------------------------------------

  const Expr* kept(const Expr& expr) const {
    for (const Expr& at : *pool_)
      if (alike(at, expr)) return &at;
    return &pool_->emplace_back(expr);
  }

  void add_atom(State& state, const Expr& expr, std::uint32_t slot) const { state.atoms.push_back({kept(expr), slot}); }

  // The expression over slots. `trust`: equalities count that are not asked yet (what is looked up by them obeys them).
  std::optional<Expr> resolve(const State& state, const Expr& expr, bool trust) const {
    std::vector<const Expr*> under_way;
    return resolve(state, expr, trust, under_way);
  }

  std::optional<Expr> resolve(const State& state, const Expr& expr, bool trust,
                              std::vector<const Expr*>& under_way) const {
    if (expr.kind == ExprKind::Constant || expr.kind == ExprKind::Parameter || expr.kind == ExprKind::Slot) return expr;
    if (expr.kind == ExprKind::Unknown) return std::nullopt;
    for (const Known& atom : state.atoms)
      if (alike(*atom.expr, expr)) return slot_expr(atom.slot, expr.type);
    if (under_way.size() > deepest) return std::nullopt;
    for (const Expr* at : under_way)
      if (alike(*at, expr)) return std::nullopt;
    under_way.push_back(&expr);
    auto out = resolve_parts(state, expr, trust, under_way);
    if (!out) out = resolve_equal(state, expr, trust, under_way);
    under_way.pop_back();
    return out;
  }

  // Of rows that share an entry nobody knows which they are: what is looked up later is not looked up for one of them.
  [[nodiscard]] bool of_collapsed(const State& state, const Expr& expr) const {
    if (!state.weight) return false;
    std::vector<std::uint32_t> nodes;
    collect_nodes(logical_, expr, nodes);
    return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) {
      return node < state.bound.size() && state.bound[node] == State::collapsed;
    });
  }

  std::optional<Expr> resolve_equal(const State& state, const Expr& expr, bool trust,
                                    std::vector<const Expr*>& under_way) const {
    const auto by = [&](const Expr& conjunct) -> std::optional<Expr> {
      if (!is_call(conjunct, Function::Equal)) return std::nullopt;
      if (alike(conjunct.operands[0], expr)) return resolve(state, conjunct.operands[1], trust, under_way);
      if (alike(conjunct.operands[1], expr)) return resolve(state, conjunct.operands[0], trust, under_way);
      return std::nullopt;
    };
    const bool trusted = trust && !of_collapsed(state, expr);
    for (std::size_t i = 0; i < body_.where.size(); ++i) {
      if (!trusted && state.asked[i] == 0) continue;
      if (auto out = by(body_.where[i])) return out;
    }
    for (const Expr& conjunct : outer_where_)
      if (auto out = by(conjunct)) return out;
    return std::nullopt;
  }

  std::optional<Expr> resolve_parts(const State& state, const Expr& expr, bool trust,
                                    std::vector<const Expr*>& under_way) const {
    if (expr.kind == ExprKind::Select || expr.kind == ExprKind::Fold || expr.kind == ExprKind::Refreshed)
      return std::nullopt;
    if (expr.kind == ExprKind::Variable) {
      const Node& node = logical_.nodes[expr.index];
      const bool keyed =
          node.kind == NodeKind::Instance || (node.kind == NodeKind::Element && node.type.kind == TypeKind::Reference);
      if (!keyed) return std::nullopt;
      return resolve_reference(state, expr, trust, under_way, true);
    }
    if (expr.kind == ExprKind::Field) {
      const Expr& object = expr.operands[0];
      if (object.type.kind == TypeKind::Reference && !is_key_part(model_, object.type, expr.index)) return std::nullopt;
    }
    if (expr.kind == ExprKind::Call) {
      if (expr.function == Function::Position || expr.function == Function::MapKey) return std::nullopt;
      if (fineness(expr.function) >= 0) {
        for (const Known& atom : state.atoms) {
          if (atom.expr->kind != ExprKind::Call || !follows_from(expr.function, atom.expr->function) ||
              !alike(atom.expr->operands[0], expr.operands[0]))
            continue;
          Expr out = expr;
          out.operands[0] = slot_expr(atom.slot, atom.expr->type);
          return out;
        }
      }
      if (expr.function == Function::Now) return expr;
    }
    if (expr.kind == ExprKind::Element && expr.operands.size() == 1) return std::nullopt;  // the marker
    Expr out = expr;
    for (Expr& operand : out.operands) {
      auto made = resolve(state, operand, trust, under_way);
      if (!made) return std::nullopt;
      operand = std::move(*made);
    }
    return out.kind == ExprKind::Field ? key_part_of(std::move(out)) : out;
  }

  // `E[$a, $b].b` is `$b`.
  [[nodiscard]] Expr key_part_of(Expr field) const {
    const Expr& object = field.operands[0];
    if (object.kind != ExprKind::Instance) return field;
    const auto& key = model_.entity(object.type.entity()).key;
    const auto at = std::find(key.begin(), key.end(), field.index);
    if (at == key.end()) return field;
    return Expr(object.operands[static_cast<std::size_t>(at - key.begin())]);
  }

  // A reference from the parts of its key, and where it may go `deeper`, from the parts of those that are references.
  std::optional<Expr> resolve_reference(const State& state, const Expr& reference, bool trust,
                                        std::vector<const Expr*>& under_way, bool deeper) const {
    Expr instance;
    instance.kind = ExprKind::Instance;
    instance.index = reference.type.id;
    instance.type = reference.type;
    for (const std::uint32_t part : model_.entity(reference.type.entity()).key) {
      const Expr field = field_expr(model_, reference, part);
      // By itself, not from the whole it belongs to.
      std::optional<Expr> made;
      for (const Known& atom : state.atoms)
        if (alike(*atom.expr, field)) made = slot_expr(atom.slot, field.type);
      if (!made) made = resolve_equal(state, field, trust, under_way);
      if (!made && deeper && field.type.kind == TypeKind::Reference)
        made = resolve_reference(state, field, trust, under_way, false);
      if (!made) return std::nullopt;
      instance.operands.push_back(std::move(*made));
    }
    return instance;
  }

  void missing(const State& state, const Expr& expr, bool trust, std::vector<Expr>& leaves) const {
    if (resolve(state, expr, trust)) return;
    const auto leaf = [&] {
      if (std::none_of(leaves.begin(), leaves.end(), [&](const Expr& at) { return alike(at, expr); }))
        leaves.push_back(expr);
    };
    if (expr.operands.empty() || expr.kind == ExprKind::Select || expr.kind == ExprKind::Fold ||
        expr.kind == ExprKind::Refreshed || (expr.kind == ExprKind::Element && expr.operands.size() == 1)) {
      leaf();
      return;
    }
    if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable &&
        expr.operands[0].type.kind == TypeKind::Reference) {
      leaf();
      return;
    }
    if (expr.kind == ExprKind::Call && (expr.function == Function::Position || expr.function == Function::MapKey)) {
      leaf();
      return;
    }
    for (const Expr& operand : expr.operands) missing(state, operand, trust, leaves);
  }

  // --- Steps --------------------------------------------------------------------------------------------------------

  static void add_step(State& state, Step step) { state.steps.push_back(std::make_shared<Step>(std::move(step))); }

  void apply_filters(State& state) const {
    for (std::size_t i = 0; i < body_.where.size(); ++i) {
      if (state.asked[i] != 0) continue;
      if (auto predicate = resolve(state, body_.where[i], false)) {
        Step step;
        step.kind = StepKind::Filter;
        step.expr = std::move(*predicate);
        add_step(state, std::move(step));
        state.asked[i] = 1;
        state.rows *= is_call(body_.where[i], Function::Equal) ? 0.1 : 0.5;
        state.rows = std::max(state.rows, 0.01);
        state.dropped = true;
      }
    }
  }

  // The key of an optional instance, which an entry that may be missing must not tell.
  [[nodiscard]] bool tells_existence(const Match& match, const Expr& expr) const {
    if (!match.optional_node) return false;
    const Expr& of = expr.kind == ExprKind::Field ? expr.operands[0] : expr;
    if (of.kind != ExprKind::Variable || of.index != *match.optional_node) return false;
    return expr.kind == ExprKind::Variable || is_key_part(model_, of.type, expr.index);
  }

  // What is known already is not taken from an entry that adds to a row: it may be missing.
  void add_outputs(const State& before, State& state, const Match& match, Step& step, bool bind,
                   std::vector<Expr>& agree) const {
    for (const auto& [expr, place] : match.atoms) {
      if (expr.kind == ExprKind::Constant || expr.kind == ExprKind::Parameter) continue;
      if (match.semi && bind && is_instance(expr)) {
        // A member that is the instance itself, or a part of it: told twice by the entry, and it must be the same.
        const auto told = resolve(state, expr, false);
        if (told && !resolve(before, expr, false)) {
          step.outputs.push_back({place, state.slots, expr.type});
          agree.push_back(
              call_expr(Function::Equal, model::scalar(TypeKind::Bool), {slot_expr(state.slots, expr.type), *told}));
          ++state.slots;
          continue;
        }
      }
      if (!bind && resolve(state, expr, false)) continue;
      if (tells_existence(match, expr) && !complete_family(match)) continue;
      const bool there = std::any_of(state.atoms.begin(), state.atoms.end(),
                                     [&, &e = expr](const Known& atom) { return alike(*atom.expr, e); });
      if (there) continue;
      step.outputs.push_back({place, state.slots, expr.type});
      add_atom(state, expr, state.slots);
      ++state.slots;
    }
  }

  // The values of the parts of the block's key. False where one is not known.
  bool block_sources(State& state, const Match& match, bool trust, std::vector<KeySource>& out, bool& several) const {
    for (std::size_t i = 0; i < match.block.size(); ++i) {
      KeySource source;
      if (match.block_word[i]) {
        const auto text = resolve(state, *match.block_word[i], true);
        if (!text) return false;
        source.kind = match.any_word ? KeySource::Kind::AnyWord : KeySource::Kind::AllWords;
        source.value = *text;
        state.needs_words = true;
        several = several || match.any_word;
        out.push_back(std::move(source));
        continue;
      }
      if (!match.block[i]) return false;
      const Expr& part = *match.block[i];
      if (auto value = resolve(state, part, trust)) {
        source.value = std::move(*value);
        source.exact = is_exact(state, part);
        out.push_back(std::move(source));
        continue;
      }
      if (!trust) return false;
      if (!each_of(state, part, source) && !buckets(state, part, source)) return false;
      several = true;
      source.slot = state.slots;
      add_atom(state, part, state.slots);
      ++state.slots;
      out.push_back(std::move(source));
    }
    return true;
  }

  // Where the query says that it equals something, nothing equals what is absent. Else absent is a value like others.
  [[nodiscard]] bool is_exact(const State& state, const Expr& part) const {
    if (resolve(state, part, false)) return true;
    const auto is_asked = [&](const Expr& expr) {
      return std::any_of(body_.where.begin(), body_.where.end(), [&](const Expr& conjunct) {
        return is_call(conjunct, Function::Equal) &&
               (alike(conjunct.operands[0], expr) || alike(conjunct.operands[1], expr));
      });
    };
    // A part of a key is there where what it is the key of is.
    const Expr* at = &part;
    while (at->kind == ExprKind::Field && at->operands[0].type.kind == TypeKind::Reference &&
           is_key_part(model_, at->operands[0].type, at->index)) {
      if (is_asked(*at)) return false;
      at = &at->operands[0];
    }
    return !is_asked(*at);
  }

  bool each_of(const State& state, const Expr& part, KeySource& source) const {
    for (const Expr& conjunct : body_.where) {
      const bool in = is_call(conjunct, Function::In) && alike(conjunct.operands[0], part);
      const bool contained = is_call(conjunct, Function::Contains) && alike(conjunct.operands[1], part);
      if (!in && !contained) continue;
      const Expr& among = conjunct.operands[in ? 1 : 0];
      if (among.type.kind == TypeKind::Map) continue;
      const auto collection = resolve(state, among, true);
      if (!collection) continue;
      source.kind = KeySource::Kind::EachOf;
      source.value = *collection;
      return true;
    }
    return false;
  }

  // Bounds that the query sets to the expression.
  void bounds(const State& state, const Expr& expr, KeyRange& range) const {
    const auto low = [&](const Expr& value, bool inclusive) {
      if (range.low) return;
      if (auto made = resolve(state, value, true)) {
        range.low = std::move(*made);
        range.low_inclusive = inclusive;
      }
    };
    const auto high = [&](const Expr& value, bool inclusive) {
      if (range.high) return;
      if (auto made = resolve(state, value, true)) {
        range.high = std::move(*made);
        range.high_inclusive = inclusive;
      }
    };
    for (const Expr& at : body_.where) {
      if (at.kind != ExprKind::Call || at.operands.empty()) continue;
      if (at.function == Function::Between && alike(at.operands[0], expr)) {
        low(at.operands[1], true);
        high(at.operands[2], true);
        continue;
      }
      if (at.function == Function::StartsWith && alike(at.operands[0], expr)) {
        low(at.operands[1], true);
        continue;
      }
      const bool less = at.function == Function::Less || at.function == Function::LessEqual;
      const bool greater = at.function == Function::Greater || at.function == Function::GreaterEqual;
      if (!less && !greater) continue;
      const bool inclusive = at.function == Function::LessEqual || at.function == Function::GreaterEqual;
      if (alike(at.operands[0], expr)) less ? high(at.operands[1], inclusive) : low(at.operands[1], inclusive);
      if (alike(at.operands[1], expr)) less ? low(at.operands[0], inclusive) : high(at.operands[0], inclusive);
    }
  }

  bool buckets(const State& state, const Expr& part, KeySource& source) const {
    if (part.kind != ExprKind::Call || fineness(part.function) < 0) return false;
    KeyRange range;
    bounds(state, part, range);
    if (!range.low || !range.high) bounds(state, part.operands[0], range);
    if (!range.low || !range.high) return false;
    source.kind = KeySource::Kind::Buckets;
    source.unit = part.function;
    source.value = *range.low;
    source.high = *range.high;
    return true;
  }

  // Conjuncts that every row found obeys, because the family holds no others, or because it was looked up by them.
  void mark_asked(State& state, const Match& match, const std::vector<std::pair<Expr, Expr>>& looked_up) const {
    for (std::size_t i = 0; i < body_.where.size(); ++i) {
      if (state.asked[i] != 0) continue;
      const Expr& conjunct = body_.where[i];
      for (const Expr& at : match.conjuncts)
        if (alike(at, conjunct)) state.asked[i] = 1;
      if (!is_call(conjunct, Function::Equal)) continue;
      for (std::size_t side = 0; side < 2; ++side) {
        if (broken(Breakage::EqualityTakenAsAsked))
          for (const auto& part : looked_up)
            if (alike(part.first, conjunct.operands[side])) state.asked[i] = 1;
        const auto other = resolve(state, conjunct.operands[1 - side], false);
        if (other && is_looked_up(looked_up, conjunct.operands[side], *other, 0)) state.asked[i] = 1;
      }
    }
  }

  // The entry was looked up by this value of the expression, or by the parts of the key that it is.
  [[nodiscard]] bool is_looked_up(const std::vector<std::pair<Expr, Expr>>& looked_up, const Expr& expr,
                                  const Expr& value, int depth) const {
    for (const auto& [part, with] : looked_up)
      if (alike(part, expr) && alike(with, value)) return true;
    if (expr.type.kind != TypeKind::Reference || depth > deepest) return false;
    const auto& key = model_.entity(expr.type.entity()).key;
    return std::all_of(key.begin(), key.end(), [&](std::uint32_t part) {
      return is_looked_up(looked_up, field_expr(model_, expr, part), key_part_of(field_expr(model_, value, part)),
                          depth + 1);
    });
  }

  // Which way the entries of a block come in the order that is asked for: 1, -1 (reversed), or 0 for neither.
  int delivered_order(const State& before, const Match& match, std::size_t fixed) const {
    if (!body_.ordered || body_.folded || body_.distinct) return 0;
    const Family& family = planner_.design().families[match.family];
    std::size_t part = fixed;
    int direction = 0;
    for (const model::OrderTerm& term : body_.order_by) {
      if (resolve(before, term.expr, true)) continue;
      bool earlier = false;
      for (std::size_t i = 0; i < part; ++i) earlier = earlier || (match.key[i] && alike(*match.key[i], term.expr));
      for (const auto& at : match.block) earlier = earlier || (at && alike(*at, term.expr));
      if (earlier) continue;
      if (part >= match.key.size()) return direction == 0 ? 1 : direction;  // the key tells all rows apart
      if (broken(Breakage::OrderTakenAsDelivered)) return 1;
      if (!match.key[part] || !alike(*match.key[part], term.expr)) return 0;
      const int way = family.key[part].descending == term.descending ? 1 : -1;
      if (direction == 0) direction = way;
      if (direction != way) return 0;
      ++part;
    }
    return direction == 0 ? 1 : direction;
  }

  // Reads a family: binds what it covers, or adds to what is bound.
  bool read(State& state, const Match& match, bool scan, bool bind) {
    const Family& family = planner_.design().families[match.family];
    const FamilyLogic& logic = planner_.logic(match.family);
    const State before = state;
    Step step;
    step.kind = scan ? StepKind::Scan : StepKind::Lookup;
    step.family = match.family;
    step.optional = match.optional_node.has_value() && !bind;
    std::vector<std::pair<Expr, Expr>> looked_up;
    bool several = false;
    if (!scan) {
      if (!block_sources(state, match, bind, step.block, several)) return false;
      for (std::size_t i = 0; i < step.block.size(); ++i)
        if (step.block[i].kind == KeySource::Kind::Value) looked_up.emplace_back(*match.block[i], step.block[i].value);
    }
    std::size_t fixed = 0;
    if (!scan) {
      while (fixed < match.key.size() && match.key[fixed]) {
        auto value = resolve(before, *match.key[fixed], bind);
        if (!value) break;
        KeySource source;
        source.value = std::move(*value);
        source.exact = is_exact(before, *match.key[fixed]);
        looked_up.emplace_back(*match.key[fixed], source.value);
        step.prefix.push_back(std::move(source));
        ++fixed;
      }
      // What adds to a row is not what the row is chosen by.
      if (bind && fixed < match.key.size() && match.key[fixed]) bounds(before, *match.key[fixed], step.range);
    }
    const bool whole_key = !scan && (fixed == match.key.size() || unique_under(match, fixed));
    // Other parts that are known must agree.
    const auto must_agree = [&](const Expr& theirs, const std::optional<Expr>& part, const Place& place) {
      if (!part || theirs.kind == ExprKind::Constant) return;
      if (auto value = resolve(before, *part, false)) step.checks.push_back({place, std::move(*value)});
    };
    for (std::size_t i = fixed; i < match.key.size(); ++i)
      must_agree(logic.key[i], match.key[i], {Place::Kind::Key, static_cast<std::uint32_t>(i), {}});
    if (scan)
      for (std::size_t i = 0; i < match.block.size(); ++i)
        if (!match.block_word[i])
          must_agree(logic.block[i], match.block[i], {Place::Kind::Block, static_cast<std::uint32_t>(i), {}});
    // What is known of a node must be what the entry says of it.
    for (const std::uint32_t node : match.covers) {
      if (broken(Breakage::KnownNotCompared)) break;
      const auto identities = identity(logical_, node);
      const bool known = std::all_of(identities.begin(), identities.end(),
                                     [&](const Expr& expr) { return resolve(before, expr, false).has_value(); });
      if (!known) {
        if (before.bound[node] != 0) return false;
        continue;
      }
      for (const Expr& expr : identities)
        if (!tells(match, expr, before, step, 0)) return false;
    }
    // A member that is not known yet would be whatever the entry holds, unless it is an instance that is bound later.
    for (const Expr& member : match.members)
      if (!is_instance(member) && !resolve(before, member, false)) return false;
    // An instance at the end of a path is the one that the path leads to.
    if (bind && match.optional_node) {
      const Expr& source = logical_.nodes[*match.optional_node].source;
      if (!resolve(before, source, false) || !tells(match, source, before, step, 0)) return false;
    }
    if (bind) {
      for (const std::uint32_t node : match.collapsed)
        if (state.bound[node] != 0) return false;
      if (family.limit) {
        if (scan || several || !body_.limit) return false;
        const int order = delivered_order(before, match, fixed);
        if (order != 1 || step.range.bounded() || fixed > 0) return false;
      }
    } else if (!whole_key) {
      return false;
    }
    step.reverse = false;
    std::vector<Expr> agree;
    add_outputs(before, state, match, step, bind, agree);
    for (const std::uint32_t node : match.covers)
      if (node < state.bound.size()) state.bound[node] = 1;
    for (const std::uint32_t node : match.collapsed)
      if (node < state.bound.size()) state.bound[node] = State::collapsed;
    if (!match.collapsed.empty()) {
      if (!logic.weight) return false;
      if (!body_.folded && !body_.distinct) return false;
      step.weight = logic.weight;
      step.weight_slot = state.slots++;
      if (state.weight) return false;
      state.weight = step.weight_slot;
    }
    // What it is thought to cost.
    const double all = planner_.entries(match.family);
    double found = all;
    double blocks = 1;
    if (!scan) {
      for (std::size_t i = 0; i < logic.block.size(); ++i)
        found /= planner_.different(logic.logical, logic.block[i], all);
      for (std::size_t i = 0; i < fixed; ++i) found /= planner_.different(logic.logical, logic.key[i], all);
      found = std::min(found, all);
      // Several rows may share an entry, but there is one with the key.
      if (fixed == match.key.size() || (whole_key && match.collapsed.empty())) found = std::min(found, 1.0);
      if (step.range.bounded()) found *= 0.3;
      found = std::max(found, 0.01);
      if (family.limit) found = std::min<double>(found, *family.limit);
      for (const KeySource& source : step.block)
        if (source.kind != KeySource::Kind::Value && source.kind != KeySource::Kind::AllWords) blocks *= 5;
    }
    bool shared = false;
    for (const auto& at : before.steps) {
      const Step& earlier = *at;
      if (earlier.kind != StepKind::Lookup && earlier.kind != StepKind::Collect) continue;
      if (planner_.design().families[earlier.family].collection != family.collection ||
          earlier.block.size() != step.block.size() || scan)
        continue;
      bool equal = true;
      for (std::size_t i = 0; i < step.block.size(); ++i)
        equal =
            equal && earlier.block[i].kind == step.block[i].kind && alike(earlier.block[i].value, step.block[i].value);
      shared = shared || equal;
    }
    step.reads = scan ? all / 100 + 1 : state.rows * blocks;
    step.entries = scan ? state.rows * all : state.rows * blocks * found;
    step.bytes = step.entries * planner_.bytes(match.family);
    state.cost += step.reads * (shared ? same_block_cost : 1.0) + step.entries * entry_cost + step.bytes * byte_cost;
    if (bind) state.rows = std::max(state.rows * blocks * found, 0.01);
    mark_asked(state, match, looked_up);
    if (scan) state.scans = true;
    if (bind) {
      if (!whole_key || several || scan) ++state.multiplying;
      state.last = &match;
      state.last_step = state.steps.size();
      state.last_order = scan ? 0 : delivered_order(before, match, fixed);
      state.several_blocks = several;
      state.dropped = false;
      if (family.limit) state.cap = family.limit;
    }
    add_step(state, std::move(step));
    for (Expr& condition : agree) {
      Step filter;
      filter.kind = StepKind::Filter;
      filter.expr = std::move(condition);
      add_step(state, std::move(filter));
      state.dropped = true;
    }
    return true;
  }

  // An instance that the select binds, or a part of its key.
  [[nodiscard]] bool is_instance(const Expr& expr) const {
    if (expr.kind == ExprKind::Variable) return logical_.nodes[expr.index].kind == NodeKind::Instance;
    return expr.kind == ExprKind::Field && expr.operands[0].type.kind == TypeKind::Reference &&
           is_key_part(model_, expr.operands[0].type, expr.index) && is_instance(expr.operands[0]);
  }

  // The entry tells the expression, itself or by the parts of the key that it is; what its cells tell is compared.
  bool tells(const Match& match, const Expr& expr, const State& before, Step& step, int depth) const {
    const auto is_it = [&](const std::optional<Expr>& part) { return part && alike(*part, expr); };
    if (std::any_of(match.block.begin(), match.block.end(), is_it) ||
        std::any_of(match.key.begin(), match.key.end(), is_it))
      return true;
    for (const auto& [held, place] : match.atoms) {
      if (place.kind != Place::Kind::Cell || !alike(held, expr)) continue;
      auto value = resolve(before, expr, false);
      if (!value) return false;
      step.checks.push_back({place, std::move(*value)});
      return true;
    }
    if (expr.type.kind != TypeKind::Reference || depth > deepest) return false;
    const auto& key = model_.entity(expr.type.entity()).key;
    return std::all_of(key.begin(), key.end(), [&](std::uint32_t part) {
      return tells(match, field_expr(model_, expr, part), before, step, depth + 1);
    });
  }

  // --- Getting what is missing --------------------------------------------------------------------------------------

  bool obtain(State& state, const Expr& expr, bool trust) {
    for (int round = 0; round < 64; ++round) {
      if (resolve(state, expr, trust)) return true;
      std::vector<Expr> leaves;
      missing(state, expr, trust, leaves);
      if (leaves.empty()) return false;
      bool any = false;
      for (const Expr& leaf : leaves) {
        if (resolve(state, leaf, trust)) {
          any = true;
          continue;
        }
        if (!provide(state, leaf)) return false;
        any = true;
      }
      if (!any) return false;
    }
    return false;
  }

  bool provide(State& state, const Expr& leaf) {
    for (const Expr& at : obtaining_)
      if (alike(at, leaf)) return false;
    if (obtaining_.size() > deepest) return false;
    obtaining_.push_back(leaf);
    const bool done = leaf.kind == ExprKind::Select ? provide_sub(state, leaf) : provide_leaf(state, leaf);
    obtaining_.pop_back();
    return done;
  }

  bool provide_leaf(State& state, const Expr& leaf) {
    std::optional<std::uint32_t> node;
    if (leaf.kind == ExprKind::Variable) node = leaf.index;
    if (!leaf.operands.empty() && leaf.operands[0].kind == ExprKind::Variable) node = leaf.operands[0].index;
    const bool optional = node && logical_.nodes[*node].kind == NodeKind::Optional;
    if (optional && !obtain(state, logical_.nodes[*node].source, false)) return false;
    std::optional<State> best;
    const auto consider = [&](State made) {
      if (!best || made.cost < best->cost) best = std::move(made);
    };
    for (const Match& match : *matches_) {
      const Family& family = planner_.design().families[match.family];
      if (family.limit || !match.collapsed.empty() || match.semi) continue;
      const bool gives =
          std::any_of(match.atoms.begin(), match.atoms.end(), [&](const auto& at) { return alike(at.first, leaf); });
      const bool existence = optional && leaf.kind == ExprKind::Variable && match.optional_node == node &&
                             match.covers.empty() && complete_family(match);
      if (!gives && !existence) continue;
      if (!existence && tells_existence(match, leaf) && !complete_family(match)) continue;
      if (match.optional_node && !match.covers.empty()) continue;
      bool bound = true;
      for (const std::uint32_t at : match.covers) bound = bound && at < state.bound.size() && state.bound[at] != 0;
      if (!bound) continue;
      State made = state;
      bool known = true;
      // By what the row itself says: an equality that is still to be asked may not hold.
      for (const auto& part : match.block)
        known = known && part && (resolve(made, *part, false) || obtain(made, *part, false));
      std::size_t fixed = 0;
      while (known && fixed < match.key.size() && match.key[fixed] && resolve(made, *match.key[fixed], false)) ++fixed;
      for (; known && !unique_under(match, fixed); ++fixed)
        known = match.key[fixed] && (resolve(made, *match.key[fixed], false) || obtain(made, *match.key[fixed], false));
      if (!known) continue;
      if (existence) {
        if (!read(made, match, false, false)) continue;
        Step& step = *made.steps.back();
        step.found = *resolve(made, logical_.nodes[*node].source, false);
        step.found_slot = made.slots;
        add_atom(made, leaf, made.slots);
        ++made.slots;
      } else {
        const bool needs_all = !match.optional_node &&
                               planner_.design().families[match.family].purpose == Purpose::Base &&
                               !planner_.design().families[match.family].existence;
        if (!read(made, match, false, false)) continue;
        if (needs_all) made.steps.back()->optional = true;  // an entry with nothing in it is not there
        if (match.optional_node) made.steps.back()->optional = true;
      }
      consider(std::move(made));
    }
    // A collection whose elements are entries of their own.
    if (leaf.kind == ExprKind::Field && node && leaf.type.is_collection() &&
        leaf.operands[0].type.kind == TypeKind::Reference) {
      for (std::uint32_t f = 0; f < planner_.design().families.size(); ++f) {
        const Family& family = planner_.design().families[f];
        if (family.purpose != Purpose::Base || family.elements != leaf.index) continue;
        const FamilyLogic& logic = planner_.logic(f);
        const Node& theirs = logic.logical.nodes[logic.body.nodes[0]];
        if (theirs.type.id != logical_.nodes[*node].type.id) continue;
        State made = state;
        Match match;
        match.family = f;
        match.to.resize(logic.logical.nodes.size());
        match.to[logic.body.nodes[0]] = optional ? logical_.nodes[*node].source : node_expr(logical_, *node);
        Step step;
        step.kind = StepKind::Collect;
        step.family = f;
        step.collection = leaf.type.kind;
        bool known = true;
        for (const Expr& part : logic.block) {
          const auto translated = translate(logic, match, part);
          if (!translated) {
            step.spread = true;
            KeySource each;
            each.kind = KeySource::Kind::EachOf;
            step.block.push_back(std::move(each));
            continue;
          }
          if (!obtain(made, *translated, false)) {
            known = false;
            break;
          }
          KeySource source;
          source.value = *resolve(made, *translated, false);
          source.exact = true;
          step.block.push_back(std::move(source));
        }
        if (!known) continue;
        if (step.spread) {
          const Expr marker = hidden_marker(node_expr(logical_, *node), leaf.index);
          if (!obtain(made, marker, true)) continue;
          step.expr = *resolve(made, marker, true);
        }
        step.slot = made.slots++;
        add_atom(made, leaf, step.slot);
        const double length = planner_.length(leaf);
        step.reads = made.rows * (step.spread ? length : 1);
        step.entries = made.rows * length;
        step.bytes = step.entries * planner_.bytes(f);
        made.cost += step.reads + step.entries * entry_cost + step.bytes * byte_cost;
        add_step(made, std::move(step));
        consider(std::move(made));
      }
    }
    if (!best) return false;
    state = std::move(*best);
    return true;
  }

  // There is an entry for each instance, and for none that does not exist.
  [[nodiscard]] bool complete_family(const Match& match) const {
    const Family& family = planner_.design().families[match.family];
    const FamilyLogic& logic = planner_.logic(match.family);
    if (logic.body.nodes.size() != 1 || !logic.body.where.empty() || family.limit) return false;
    return family.purpose == Purpose::Base ? family.existence : !family.grouped;
  }

  void outer_leaves(const Expr& expr, const std::vector<std::uint32_t>& inside, std::vector<Expr>& out) const {
    if (expr.kind == ExprKind::Select) {
      outer_leaves(logical_.subs[expr.index].body, inside, out);
      return;
    }
    std::vector<std::uint32_t> nodes;
    collect_nodes(logical_, expr, nodes);
    if (nodes.empty()) return;
    const bool outside = std::none_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) {
      return std::find(inside.begin(), inside.end(), node) != inside.end();
    });
    const bool leaf =
        expr.kind == ExprKind::Variable || expr.kind == ExprKind::Refreshed ||
        (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable) ||
        (expr.kind == ExprKind::Call && (expr.function == Function::Position || expr.function == Function::MapKey));
    if (outside && leaf) {
      out.push_back(expr);
      return;
    }
    if (expr.kind == ExprKind::Variable && logical_.nodes[expr.index].kind == NodeKind::Optional) {
      outer_leaves(logical_.nodes[expr.index].source, inside, out);
      return;
    }
    for (const Expr& operand : expr.operands) outer_leaves(operand, inside, out);
  }

  void outer_leaves(const Body& body, std::vector<std::uint32_t> inside, std::vector<Expr>& out) const {
    inside.insert(inside.end(), body.nodes.begin(), body.nodes.end());
    for (const auto& column : body.columns) outer_leaves(column.expr, inside, out);
    for (const Expr& expr : body.where) outer_leaves(expr, inside, out);
    for (const Expr& expr : body.group_by) outer_leaves(expr, inside, out);
    for (const auto& term : body.order_by) outer_leaves(term.expr, inside, out);
    for (const std::uint32_t node : body.nodes) {
      const Node& bound = logical_.nodes[node];
      if (bound.kind == NodeKind::Element || bound.kind == NodeKind::Word) outer_leaves(bound.source, inside, out);
    }
  }

  bool provide_sub(State& state, const Expr& leaf) {
    // An entry may hold it.
    {
      State made = state;
      if (provide_leaf(made, leaf)) {
        state = std::move(made);
        return true;
      }
    }
    const Sub sub = logical_.subs[leaf.index];
    std::vector<Expr> needs;
    outer_leaves(sub.body, {}, needs);
    for (const Expr& need : needs)
      if (!obtain(state, need, true)) {
        // A field that only an element's blocks would tell may still be found from inside.
        if (need.kind != ExprKind::Field) return false;
      }
    std::vector<Expr> outer = outer_where_;
    for (std::size_t i = 0; i < body_.where.size(); ++i)
      if (state.asked[i] != 0) outer.push_back(body_.where[i]);
    Search inner(planner_, logical_, sub.body, outer, options_);
    inner.options_.capped = false;
    inner.options_.lookups_alone = true;
    inner.options_.words = options_.words;
    std::vector<char> bound = state.bound;
    for (std::uint32_t i = 0; i < outer_bound_.size() && i < bound.size(); ++i)
      bound[i] = static_cast<char>(bound[i] != 0 || outer_bound_[i] != 0);
    inner.set_outer(bound);
    inner.nested_ = true;
    inner.fetching_ = fetching_;
    inner.pool_ = pool_;
    std::string key(bound.begin(), bound.end());
    key.append(state.asked.begin(), state.asked.end());
    key += std::to_string(leaf.index);
    const std::vector<const Expr*> atoms = sorted_atoms(state);
    for (const auto& more : without_plan_[key])
      if (std::includes(more.begin(), more.end(), atoms.begin(), atoms.end())) return false;
    Matches& matches = nested_matches_[key];
    auto plan = inner.run_nested(state.atoms, bound, state.slots, matches);
    if (!plan) {
      without_plan_[key].push_back(atoms);
      return false;
    }
    state.bound.resize(logical_.nodes.size(), 0);
    Step step;
    step.kind = StepKind::Nested;
    step.shape = sub.body.shape;
    step.as_set = sub.as_set;
    step.slot = plan->slots;
    state.slots = plan->slots + 1;
    state.cost += state.rows * plan->cost;
    state.scans = state.scans || plan->scans;
    state.needs_words = state.needs_words || plan->needs_words;
    step.reads = 0;
    add_atom(state, leaf, step.slot);
    step.nested.push_back(std::move(*plan));
    add_step(state, std::move(step));
    return true;
  }

  std::optional<Plan> run_nested(const std::vector<Known>& given, const std::vector<char>& bound, std::uint32_t slots,
                                 Matches& matches) {
    State state;
    state.atoms = given;
    state.slots = slots;
    first_slot_ = slots;
    state.bound = bound;
    state.bound.resize(logical_.nodes.size(), 0);
    state.asked.resize(body_.where.size(), 0);
    if (!matches) {
      find_matches();
      matches = matches_;
    }
    matches_ = matches;
    search(state);
    if (!best_ && options_.scans) {
      scanning_ = true;
      tries_ = 0;
      search(state);
    }
    return std::move(best_);
  }

  // --- The search ---------------------------------------------------------------------------------------------------

  void search(State state) {
    if (best_ && state.cost >= best_->cost) return;
    if (++tries_ > (best_ ? usual_tries : most_tries)) return;
    state.bound.resize(logical_.nodes.size(), 0);
    apply_filters(state);
    if (seen_before(state) || hopeless(state)) return;
    std::vector<std::uint32_t> unbound;
    for (const std::uint32_t node : body_.nodes)
      if (state.bound[node] == 0) unbound.push_back(node);
    if (unbound.empty()) {
      finish(std::move(state));
      return;
    }
    if (state.cap) return;  // nothing may be joined to the first entries of a block
    std::vector<State> ways;
    for (const Match& match : *matches_) {
      const bool binds = std::any_of(match.covers.begin(), match.covers.end(),
                                     [&](std::uint32_t node) { return state.bound[node] == 0; });
      if (!binds || !can_bind(match)) continue;
      State next = state;
      for (std::size_t part = 0; part < match.block.size(); ++part) {
        if (match.block_word[part] || !match.block[part] || resolve(next, *match.block[part], true)) continue;
        fetch_for(next, *match.block[part]);  // what hangs on bound instances
      }
      if (read(next, match, false, true)) {
        ways.push_back(std::move(next));
        continue;
      }
      if (!scanning_) continue;
      State scan = state;
      if (read(scan, match, true, true)) ways.push_back(std::move(scan));
    }
    for (const std::uint32_t node : unbound) {
      const Node& bound = logical_.nodes[node];
      State next = state;
      if (bound.kind == NodeKind::Element) {
        if (!obtain(next, bound.source, true)) continue;
        Step step;
        step.kind = StepKind::Unnest;
        step.expr = *resolve(next, bound.source, true);
        step.collection = bound.source.type.kind;
        step.slot = next.slots++;
        add_atom(next, node_expr(logical_, node), step.slot);
        if (step.collection != TypeKind::Set) {
          step.key_slot = next.slots++;
          const Function function = step.collection == TypeKind::List ? Function::Position : Function::MapKey;
          add_atom(next, call_expr(function, {}, {node_expr(logical_, node)}), *step.key_slot);
        }
        next.bound[node] = 1;
        next.rows *= planner_.length(bound.source);
        next.cost += next.rows * 0.001;
        ++next.multiplying;
        next.last = nullptr;
        next.last_order = 0;
        add_step(next, std::move(step));
        ways.push_back(std::move(next));
      } else if (bound.kind == NodeKind::Word) {
        if (!obtain(next, bound.source, true)) continue;
        Step step;
        step.kind = StepKind::Unnest;
        step.expr = call_expr(Function::WordsOf, model::collection_of(TypeKind::Set, model::scalar(TypeKind::Text)),
                              {*resolve(next, bound.source, true)});
        step.collection = TypeKind::Set;
        step.slot = next.slots++;
        add_atom(next, node_expr(logical_, node), step.slot);
        next.bound[node] = 1;
        next.rows *= usual_length;
        ++next.multiplying;
        next.last = nullptr;
        next.last_order = 0;
        add_step(next, std::move(step));
        ways.push_back(std::move(next));
      } else if (bound.kind == NodeKind::Refreshed || bound.kind == NodeKind::History) {
        bind_refreshed(next, node);
        ways.push_back(std::move(next));
      }
    }
    // An instance whose reference stands in a set that is at hand.
    for (const std::uint32_t node : unbound) {
      if (!logical_.nodes[node].is_instance()) continue;
      const Expr self = node_expr(logical_, node);
      if (std::any_of(state.atoms.begin(), state.atoms.end(), [&](const Known& at) { return alike(*at.expr, self); }))
        continue;
      for (std::size_t i = 0; i < body_.where.size() + body_.implied.size(); ++i) {
        const bool asks = i < body_.where.size();
        const Expr& conjunct = asks ? body_.where[i] : body_.implied[i - body_.where.size()];
        const bool member = is_call(conjunct, Function::Contains) && alike(conjunct.operands[1], self) &&
                            conjunct.operands[0].type.kind != TypeKind::Map;
        const bool among = is_call(conjunct, Function::In) && alike(conjunct.operands[0], self) &&
                           conjunct.operands[1].type.kind != TypeKind::Map;
        if ((!member && !among) || (asks && state.asked[i] != 0)) continue;
        const Expr& collection = conjunct.operands[member ? 0 : 1];
        if (!unbound_free(state, collection)) continue;
        State next = state;
        if (!obtain(next, collection, true)) continue;
        Step step;
        step.kind = StepKind::Unnest;
        step.expr = *resolve(next, collection, true);
        step.collection = TypeKind::Set;  // each once
        step.slot = next.slots++;
        add_atom(next, self, step.slot);
        if (asks) next.asked[i] = 1;
        next.rows *= planner_.length(collection);
        next.cost += next.rows * 0.001;
        ++next.multiplying;
        next.last = nullptr;
        next.last_order = 0;
        add_step(next, std::move(step));
        ways.push_back(std::move(next));
      }
    }
    // The cheapest first: what it comes to makes the others end early.
    std::stable_sort(ways.begin(), ways.end(), [](const State& a, const State& b) { return a.cost < b.cost; });
    for (State& way : ways) search(std::move(way));
  }

  // Something that is needed hangs on a node of which no more can be learned: it is bound, and which one it is was not
  // told.
  bool hopeless(const State& state) const {
    const auto lost = [&](const Expr& expr) { return is_lost(state, expr, 0); };
    for (std::size_t i = 0; i < body_.where.size(); ++i)
      if (state.asked[i] == 0 && lost(body_.where[i])) return true;
    if (std::any_of(body_.group_by.begin(), body_.group_by.end(), lost)) return true;
    if (body_.folded) return false;  // what is folded may be in the entries
    for (const model::OrderTerm& term : body_.order_by)
      if (lost(term.expr)) return true;
    return std::any_of(body_.columns.begin(), body_.columns.end(),
                       [&](const OutputColumn& column) { return lost(column.expr); });
  }

  bool is_lost(const State& state, const Expr& expr, int depth) const {
    if (depth > deepest || expr.kind == ExprKind::Constant || expr.kind == ExprKind::Parameter) return false;
    if (resolve(state, expr, true)) return false;
    if (expr.kind == ExprKind::Select) {
      std::vector<Expr> needs;
      outer_leaves(logical_.subs[expr.index].body, {}, needs);
      return std::any_of(needs.begin(), needs.end(), [&](const Expr& at) { return is_lost(state, at, depth + 1); });
    }
    const Expr* of = &expr;
    while (of->kind != ExprKind::Variable && of->operands.size() == 1) of = &of->operands[0];
    if (of->kind == ExprKind::Variable) {
      const std::uint32_t node = of->index;
      if (logical_.nodes[node].kind == NodeKind::Optional)
        return is_lost(state, logical_.nodes[node].source, depth + 1);
      if (state.bound[node] == 0 || std::find(body_.nodes.begin(), body_.nodes.end(), node) == body_.nodes.end())
        return false;
      const auto identities = identity(logical_, node);
      return !std::all_of(identities.begin(), identities.end(),
                          [&](const Expr& at) { return resolve(state, at, true).has_value(); });
    }
    return std::any_of(expr.operands.begin(), expr.operands.end(),
                       [&](const Expr& at) { return is_lost(state, at, depth + 1); });
  }

  static std::vector<const Expr*> sorted_atoms(const State& state) {
    std::vector<const Expr*> atoms;
    atoms.reserve(state.atoms.size());
    for (const Known& atom : state.atoms) atoms.push_back(atom.expr);
    std::sort(atoms.begin(), atoms.end());
    return atoms;
  }

  [[nodiscard]] bool folds_distinct() const {
    const std::function<bool(const Expr&)> distinct = [&](const Expr& expr) {
      return (expr.kind == ExprKind::Fold && expr.distinct) ||
             std::any_of(expr.operands.begin(), expr.operands.end(), distinct);
    };
    return std::any_of(body_.columns.begin(), body_.columns.end(),
                       [&](const OutputColumn& column) { return distinct(column.expr); }) ||
           std::any_of(body_.order_by.begin(), body_.order_by.end(),
                       [&](const model::OrderTerm& term) { return distinct(term.expr); });
  }

  // A state that binds and has asked the same, knows no more and costs no less than an earlier one leads nowhere new.
  bool seen_before(const State& state) {
    std::string key(state.bound.begin(), state.bound.end());
    key.append(state.asked.begin(), state.asked.end());
    key.push_back(static_cast<char>(scanning_));
    key.push_back(static_cast<char>(state.scans));
    key.push_back(static_cast<char>(state.weight.has_value()));
    key.push_back(static_cast<char>(state.needs_words));
    if (state.cap) return false;
    // The step that came last may deliver an order, or one entry a group.
    if ((body_.limit && !body_.folded && !body_.distinct) || (body_.folded && folds_distinct())) {
      key += state.last == nullptr ? "-" : std::to_string(state.last - matches_->data());
      key.push_back(static_cast<char>(state.last_order));
      key.push_back(static_cast<char>(state.dropped));
      key.push_back(static_cast<char>(state.several_blocks));
      key.push_back(static_cast<char>(std::min(state.multiplying, 2)));
    }
    std::vector<const Expr*> atoms = sorted_atoms(state);
    std::vector<Seen>& all = seen_[key];
    for (const Seen& at : all)
      if (at.cost <= state.cost && at.rows <= state.rows &&
          std::includes(at.atoms.begin(), at.atoms.end(), atoms.begin(), atoms.end()))
        return true;
    all.push_back({std::move(atoms), state.cost, state.rows});
    return false;
  }

  [[nodiscard]] bool unbound_free(const State& state, const Expr& expr) const {
    std::vector<std::uint32_t> nodes;
    collect_nodes(logical_, expr, nodes);
    return std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) {
      const NodeKind kind = logical_.nodes[node].kind;
      return kind == NodeKind::Given || kind == NodeKind::Optional ||
             (node < state.bound.size() && state.bound[node] != 0) ||
             std::find(body_.nodes.begin(), body_.nodes.end(), node) == body_.nodes.end();
    });
  }

  // Fields of bound instances, on which a key of another depends.
  void fetch_for(State& state, const Expr& part) {
    // A select that is worked out to find a block may need one for that in turn, but not for ever: where a copy is
    // found by a count, that count may seem to be found in the copy.
    if (fetching_ == deepest_fetch) return;
    ++fetching_;
    fetch_parts(state, part);
    --fetching_;
  }

  void fetch_parts(State& state, const Expr& part) {
    const auto fetch = [&](const Expr& expr) {
      std::vector<std::uint32_t> nodes;
      collect_nodes(logical_, expr, nodes);
      if (nodes.empty() || !unbound_free(state, expr)) return false;
      State made = state;
      if (!obtain(made, expr, true)) return false;
      state = std::move(made);
      return true;
    };
    if (fetch(part)) return;
    std::vector<const Expr*> wanted{&part};
    for (int round = 0; round < 2; ++round) {
      for (const Expr& conjunct : body_.where) {
        if (!is_call(conjunct, Function::Equal)) continue;
        for (std::size_t side = 0; side < 2; ++side)
          for (const Expr* at : wanted)
            if (mentions(*at, conjunct.operands[side]) && fetch(conjunct.operands[1 - side]) &&
                resolve(state, part, true))
              return;
      }
    }
  }

  // The expression, or the reference whose key it is a part of.
  static bool mentions(const Expr& expr, const Expr& what) {
    if (alike(expr, what)) return true;
    return std::any_of(expr.operands.begin(), expr.operands.end(), [&](const Expr& at) { return mentions(at, what); });
  }

  // Every row that counts is there.
  [[nodiscard]] bool can_bind(const Match& match) const {
    const Family& family = planner_.design().families[match.family];
    if (family.purpose != Purpose::Base || broken(Breakage::PartialBaseBinds)) return true;
    return family.existence || family.elements.has_value();
  }

  void bind_refreshed(State& state, std::uint32_t node) const {
    const Node& bound = logical_.nodes[node];
    Step step;
    step.kind = StepKind::Refreshed;
    step.query = bound.query;
    step.history = bound.kind == NodeKind::History;
    const Expr self = node_expr(logical_, node);
    const auto output = [&](const Expr& expr, const Place& place) {
      step.outputs.push_back({place, state.slots, expr.type});
      add_atom(state, expr, state.slots);
      ++state.slots;
    };
    Expr refreshed;
    refreshed.kind = ExprKind::Refreshed;
    refreshed.type = model::scalar(TypeKind::Timestamp);
    refreshed.operands.push_back(self);
    bounds(state, refreshed, step.range);
    output(refreshed, {Place::Kind::Key, 0, {}});
    output(call_expr(Function::Position, model::scalar(TypeKind::Int), {self}), {Place::Kind::Key, 1, {}});
    for (std::uint32_t i = 0; i < bound.type.arguments.size(); ++i)
      output(field_expr(model_, self, i), {Place::Kind::Cell, i, {}});
    state.bound[node] = 1;
    step.reads = 1;
    step.entries = state.rows * (step.history ? 10'000 : 100);
    state.rows *= step.history ? 10'000 : 100;
    state.cost += step.reads + step.entries * entry_cost;
    ++state.multiplying;
    state.last = nullptr;
    state.last_order = 0;
    add_step(state, std::move(step));
  }

  void finish(State state) {
    for (std::size_t i = 0; i < body_.where.size(); ++i) {
      if (state.asked[i] != 0) continue;
      if (state.cap) return;  // the first entries of a block are not those that a filter lets through
      if (!obtain(state, body_.where[i], false)) return;
      apply_filters(state);
      if (state.asked[i] == 0) return;
    }
    Plan plan;
    plan.first_slot = first_slot_;
    plan.distinct = body_.distinct;
    plan.folded = body_.folded;
    plan.ordered = body_.ordered;
    const std::size_t filters_end = state.steps.size();
    if (body_.folded) {
      if (!fold(state, plan)) return;
    } else if (state.weight && !body_.distinct) {
      return;
    }
    // Needed to order and to tell rows apart.
    for (const model::OrderTerm& term : body_.order_by) {
      if (!obtain(state, term.expr, true)) return;
      plan.order_by.push_back({*resolve(state, term.expr, true), term.descending});
    }
    if (body_.limit) {
      if (!obtain(state, *body_.limit, true)) return;
      plan.limit = *resolve(state, *body_.limit, true);
    }
    if (body_.distinct)
      for (const OutputColumn& column : body_.columns)
        if (!obtain(state, column.expr, true)) return;
    if (broken(Breakage::LimitBeforeFilter)) state.dropped = false;
    // A sum that does not fit is an error also in a row that the limit cuts.
    const bool all_count = std::any_of(body_.columns.begin(), body_.columns.end(),
                                       [&](const OutputColumn& column) { return may_overflow(column.expr); });
    if (state.last_order != 0 && plan.limit && !state.dropped && !plan.folded && !plan.distinct && !all_count) {
      const bool after = std::any_of(state.steps.begin() + static_cast<std::ptrdiff_t>(state.last_step) + 1,
                                     state.steps.begin() + static_cast<std::ptrdiff_t>(filters_end),
                                     [](const auto& step) { return step->kind == StepKind::Filter; });
      if ((!after || broken(Breakage::LimitBeforeFilter)) && (!state.several_blocks || !nested_)) {
        auto& shared = state.steps[state.last_step];
        shared = std::make_shared<Step>(*shared);
        Step& last = *shared;
        last.limited = true;
        last.reverse = state.last_order < 0;
        if (last.checks.empty() || broken(Breakage::LimitBeforeCheck)) {
          const bool sole = state.multiplying <= 1 && !state.several_blocks;
          plan.sorted = sole;
        } else {
          last.limited = false;
          last.reverse = false;
        }
      }
    }
    if (state.cap && !plan.sorted) return;
    for (const OutputColumn& column : body_.columns)
      if (may_overflow(column.expr) && !body_.folded && !obtain(state, column.expr, true)) return;
    double late_rows = state.rows;
    if (plan.limit) {
      double limit = 25;
      if (const auto* number = std::get_if<std::int64_t>(&plan.limit->constant)) limit = static_cast<double>(*number);
      late_rows = std::min(late_rows, limit);
    }
    const std::size_t steps = state.steps.size();
    if (!body_.folded && plan.limit) state.rows = late_rows;
    for (const OutputColumn& column : body_.columns) {
      if (!obtain(state, column.expr, true)) return;
      plan.columns.push_back({column.name, *resolve(state, column.expr, true)});
    }
    plan.cost = state.cost + (state.scans ? 1e9 : 0);
    if (best_ && plan.cost >= best_->cost) return;
    const bool late = !body_.folded && !body_.distinct;
    for (std::size_t i = 0; i < state.steps.size(); ++i) {
      auto& part = late && i >= steps ? plan.late : plan.steps;
      part.push_back(*state.steps[i]);
      mark_alone(part.back());
      if (part.back().kind == StepKind::Nested) part.back().looked_at = outer_slots(part.back().nested[0]);
    }
    plan.slots_shown_once = shows_once(plan.columns);
    plan.rows = body_.folded && body_.group_by.empty() ? 1 : late_rows;
    plan.slots = state.slots;
    plan.scans = state.scans;
    plan.needs_words = state.needs_words;
    plan.weight = state.weight;
    plan.cap = state.cap;
    best_ = std::move(plan);
  }

  // Outputs that may take away what they find in the entry.
  static void mark_alone(Step& step) {
    for (Output& output : step.outputs) {
      const auto overlaps = [&](const Place& place) {
        return place.kind == output.place.kind && place.index == output.place.index;
      };
      const auto sharing = std::count_if(step.outputs.begin(), step.outputs.end(),
                                         [&](const Output& other) { return overlaps(other.place); });
      output.alone = sharing == 1 && output.place.kind != Place::Kind::Block && output.place.inside.empty() &&
                     !(step.weight && overlaps(*step.weight));
    }
  }

  static bool shows_once(const std::vector<OutputColumn>& columns) {
    std::vector<std::uint32_t> slots;
    for (const OutputColumn& column : columns) collect_slots(column.expr, slots);
    std::sort(slots.begin(), slots.end());
    return std::adjacent_find(slots.begin(), slots.end()) == slots.end();
  }

  [[nodiscard]] bool may_overflow(const Expr& expr) const {
    if (expr.kind == ExprKind::Fold && expr.fold == model::Fold::Sum) return true;
    if (expr.kind == ExprKind::Select) {
      const Body& body = logical_.subs[expr.index].body;
      const auto overflows = [&](const Expr& at) { return may_overflow(at); };
      if (std::any_of(body.where.begin(), body.where.end(), overflows)) return true;
      for (const OutputColumn& column : body.columns)
        if (may_overflow(column.expr)) return true;
      for (const model::OrderTerm& term : body.order_by)
        if (may_overflow(term.expr)) return true;
    }
    return std::any_of(expr.operands.begin(), expr.operands.end(), [&](const Expr& at) { return may_overflow(at); });
  }

  // Folds become slots, and so atoms; fields of what is grouped by are those of any row of the group.
  bool fold(State& state, Plan& plan) {
    for (const Expr& expr : body_.group_by) {
      if (!obtain(state, expr, true)) return false;
      plan.group_by.push_back(*resolve(state, expr, true));
    }
    std::vector<const Expr*> folds;
    const std::function<void(const Expr&)> find = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Fold) {
        if (std::none_of(folds.begin(), folds.end(), [&](const Expr* at) { return alike(*at, expr); }))
          folds.push_back(&expr);
        return;
      }
      for (const Expr& operand : expr.operands) find(operand);
    };
    for (const OutputColumn& column : body_.columns) find(column.expr);
    for (const model::OrderTerm& term : body_.order_by) find(term.expr);
    // What rows hold must be fetched before they are grouped.
    std::vector<Known> results;
    for (const Expr* expr : folds) {
      FoldStep step;
      step.fold = expr->fold;
      step.distinct = expr->distinct;
      if (!expr->operands.empty()) {
        step.kind = expr->operands[0].type.kind;
        State made = state;
        if (obtain(made, expr->operands[0], true)) {
          state = std::move(made);
          step.operand = *resolve(state, expr->operands[0], true);
        } else if (!folded_parts(state, *expr, step)) {
          return false;
        }
      }
      step.slot = state.slots++;
      results.push_back({kept(*expr), step.slot});
      plan.folds.push_back(std::move(step));
    }
    // Columns and order beside folds: fields that a group determines.
    const std::function<bool(const Expr&)> beside = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Fold) return true;
      if (resolve(state, expr, true)) return true;
      if (expr.operands.empty() || expr.kind == ExprKind::Select) return obtain(state, expr, true);
      if (expr.kind == ExprKind::Field && expr.operands[0].kind == ExprKind::Variable) return obtain(state, expr, true);
      return std::all_of(expr.operands.begin(), expr.operands.end(), beside);
    };
    for (const OutputColumn& column : body_.columns)
      if (!beside(column.expr)) return false;
    for (const model::OrderTerm& term : body_.order_by)
      if (!beside(term.expr)) return false;
    for (const Known& atom : results) {
      // An entry's own fold of the same name must not be taken for the result.
      state.atoms.erase(std::remove_if(state.atoms.begin(), state.atoms.end(),
                                       [&](const Known& at) { return at.expr == atom.expr; }),
                        state.atoms.end());
      state.atoms.push_back(atom);
    }
    return true;
  }

  bool folded_parts(const State& state, const Expr& fold, FoldStep& step) const {
    const auto slot_of = [&](model::Fold kind, bool distinct) -> std::optional<std::uint32_t> {
      Expr wanted = fold;
      wanted.fold = kind;
      wanted.distinct = distinct;
      for (const Known& atom : state.atoms)
        if (alike(*atom.expr, wanted)) return atom.slot;
      return std::nullopt;
    };
    if (fold.distinct) {
      step.folded_value = slot_of(fold.fold, true);
      if (!step.folded_value || state.last == nullptr || state.multiplying > 1) return false;
      // One entry a group.
      const Match& match = *state.last;
      const Step& read = *state.steps[state.last_step];
      // What else there is must not make several rows of it.
      if (match.covers.size() < body_.nodes.size() && state.multiplying > 0) return false;
      for (std::size_t i = 0; i < match.key.size(); ++i) {
        if (i < read.prefix.size()) continue;
        const bool grouped = match.key[i] && std::any_of(body_.group_by.begin(), body_.group_by.end(),
                                                         [&](const Expr& at) { return alike(at, *match.key[i]); });
        if (!grouped) return false;
      }
      for (std::size_t i = 0; i < match.block.size(); ++i) {
        if (i < read.block.size() && read.block[i].kind == KeySource::Kind::Value) continue;
        const bool grouped = match.block[i] && std::any_of(body_.group_by.begin(), body_.group_by.end(),
                                                           [&](const Expr& at) { return alike(at, *match.block[i]); });
        if (!grouped) return false;
      }
      step.result = true;
      return true;
    }
    switch (fold.fold) {
      case model::Fold::Count:
        step.folded_count = slot_of(model::Fold::Count, false);
        return step.folded_count.has_value();
      case model::Fold::Sum:
      case model::Fold::Min:
      case model::Fold::Max:
        step.folded_value = slot_of(fold.fold, false);
        return step.folded_value.has_value();
      case model::Fold::Avg:
        step.folded_value = slot_of(model::Fold::Sum, false);
        step.folded_count = slot_of(model::Fold::Count, false);
        return step.folded_value && step.folded_count;
      default:
        return false;
    }
  }

  struct Seen {
    std::vector<const Expr*> atoms;
    double cost = 0;
    double rows = 0;
  };

  const Planner& planner_;
  const model::Model& model_;
  Logical& logical_;
  const Body& body_;
  std::vector<Expr> outer_where_;
  PlannerOptions options_;
  std::vector<char> outer_bound_;
  std::vector<Match> found_;
  Matches matches_;
  std::map<std::string, Matches> nested_matches_;
  std::map<std::string, std::vector<std::vector<const Expr*>>> without_plan_;  // nested selects, by what was known
  std::vector<std::pair<std::uint32_t, Expr>> map_keys_;
  std::vector<Expr> obtaining_;
  std::shared_ptr<std::deque<Expr>> pool_ = std::make_shared<std::deque<Expr>>();
  std::map<std::string, std::vector<Seen>> seen_;
  std::optional<Plan> best_;
  std::uint32_t first_slot_ = 0;
  int tries_ = 0;
  bool scanning_ = false;
  bool nested_ = false;
  static constexpr int deepest_fetch = 2;
  int fetching_ = 0;  // selects that are being worked out to find a block, around this one
};

}  // namespace

Planner::Planner(const model::Model& model, const Design& design) : model_(model), design_(&design) { update(design); }

void Planner::update(const Design& design) {
  design_ = &design;
  logics_.clear();
  for (const Family& family : design.families) logics_.push_back(take_apart(model_, design, family));
}

std::optional<Plan> Planner::plan(Logical& logical, const Body& body, const std::vector<Atom>& given,
                                  const PlannerOptions& options, const std::vector<std::uint32_t>& bound) const {
  const auto run = [&](const PlannerOptions& with) {
    Search search(*this, logical, body, {}, with);
    std::vector<char> known(logical.nodes.size(), 0);
    for (const std::uint32_t node : bound) known[node] = 1;
    return search.run(given, known, 1);
  };
  auto plan = run(options);
  if (plan && (plan->cap || plan->needs_words)) {
    PlannerOptions plain = options;
    plain.capped = false;
    if (plan->needs_words) plain.words = false;
    if (auto otherwise = run(plain)) plan->otherwise.push_back(std::move(*otherwise));
    if (plan->otherwise.empty()) return std::nullopt;
    if (plan->cap && !plan->needs_words && plan->otherwise[0].needs_words) {
      // The plan for later pages has one of its own.
      PlannerOptions plainer = plain;
      plainer.words = false;
      if (auto last = run(plainer)) plan->otherwise[0].otherwise.push_back(std::move(*last));
    }
  }
  return plan;
}

double Planner::different(const Logical& logical, const Expr& expr, double rows) const {
  const auto instances = [&](const model::Type& type) {
    const auto estimate = model::instances(model_, type.entity());
    return estimate ? std::max(estimate->value, 1.0) : usual_instances;
  };
  double out = std::max(rows / 10, 1.0);
  if (expr.kind == ExprKind::Constant) return 1;
  if (expr.type.kind == TypeKind::Reference) out = instances(expr.type);
  if (expr.type.kind == TypeKind::Bool) return 2;
  if (expr.kind == ExprKind::Field && expr.operands[0].type.kind == TypeKind::Reference) {
    const model::Field& field = model_.entity(expr.operands[0].type.entity()).fields[expr.index];
    const auto& key = model_.entity(expr.operands[0].type.entity()).key;
    if (field.statistic.distinct)
      out = *field.statistic.distinct;
    else if (key.size() == 1 && key[0] == expr.index)
      out = instances(expr.operands[0].type);
    else if (field.type.kind == TypeKind::Enumeration)
      out = static_cast<double>(field.type.names.size());
  }
  if (expr.kind == ExprKind::Call && fineness(expr.function) >= 0) out = std::max(rows / 100, 1.0);
  (void)logical;
  return std::clamp(out, 1.0, std::max(rows, 1.0));
}

namespace {

// How many fall together depends on how they lie, which nobody tells. But in a day there are more than in one of its
// hours.
double rows_of_group(const FamilyLogic& logic) {
  int finest = fineness(Function::Year) + 1;
  for (const std::vector<Expr>* parts : {&logic.block, &logic.key})
    for (const Expr& part : *parts)
      if (part.kind == ExprKind::Call && fineness(part.function) >= 0)
        finest = std::min(finest, fineness(part.function));
  double out = 10;
  if (finest > fineness(Function::Year)) return out;
  for (int unit = fineness(Function::Hour); unit < finest; ++unit) out *= 2;
  return out;
}

}  // namespace

double Planner::entries(std::uint32_t family) const {
  const FamilyLogic& logic = logics_[family];
  double rows = 1;
  std::vector<char> seen(logic.logical.nodes.size(), 0);
  bool first = true;
  for (const std::uint32_t node : logic.body.nodes) {
    const Node& at = logic.logical.nodes[node];
    double factor = at.kind == NodeKind::Element ? length(at.source) : usual_length;
    if (at.kind == NodeKind::Instance) {
      const auto estimate = model::instances(model_, at.type.entity());
      const double all = estimate ? std::max(estimate->value, 1.0) : usual_instances;
      factor = first ? all : std::min(all, usual_length);
      if (!first) {
        // By a role from what is there: its fan-out. What an element refers to: one.
        for (const Expr& conjunct : logic.body.where) {
          std::vector<std::uint32_t> nodes;
          collect_nodes(logic.logical, conjunct, nodes);
          if (std::find(nodes.begin(), nodes.end(), node) == nodes.end() || conjunct.operands.size() != 2) continue;
          if (std::any_of(nodes.begin(), nodes.end(),
                          [&](std::uint32_t other) { return other != node && seen[other] == 0; }))
            continue;
          for (const Expr& side : conjunct.operands) {
            if (side.kind == ExprKind::Variable && logic.logical.nodes[side.index].kind == NodeKind::Element)
              factor = 1;
            if (side.kind != ExprKind::Field || side.operands[0].kind != ExprKind::Variable) continue;
            if (side.operands[0].type.kind != TypeKind::Reference) continue;
            const model::Field& field = model_.entity(side.operands[0].type.entity()).fields[side.index];
            if (!field.role) continue;
            const bool backward = side.operands[0].index == node;
            const auto fan = backward ? model::backward_fan_out(model_, model_.roles[*field.role])
                                      : model::forward_fan_out(model_, model_.roles[*field.role]);
            if (fan) factor = std::max(fan->value, 0.01);
          }
        }
      }
    }
    rows *= factor;
    first = false;
    seen[node] = 1;
  }
  const Family& at = design_->families[family];
  if (at.grouped) rows = std::max(rows / rows_of_group(logic), 1.0);
  if (at.limit) {
    double blocks = 1;
    for (const Expr& part : logic.block) blocks *= different(logic.logical, part, rows);
    rows = std::min(rows, std::min(blocks, rows) * static_cast<double>(*at.limit));
  }
  return std::max(rows, 1.0);
}

double Planner::length(const Expr& collection) const {
  const model::Field* field = field_of(model_, collection);
  if (field == nullptr) return usual_length;
  if (field->role) {
    if (const auto fan = model::forward_fan_out(model_, model_.roles[*field->role])) return std::max(fan->value, 0.01);
  }
  return std::max(field->statistic.count.value_or(usual_length), 0.01);
}

double Planner::bytes(std::uint32_t family) const {
  const Family& of = design_->families[family];
  const auto of_expr = [&](const Expr& expr) {
    if (const model::Field* field = field_of(model_, expr)) return model::average_bytes(model_, *field);
    const auto* text = std::get_if<std::string>(&expr.constant);
    if (expr.kind == ExprKind::Constant && expr.type.kind == TypeKind::Text && text != nullptr)
      return static_cast<double>(text->size());
    model::Field alone;  // only its type is known
    alone.type = expr.type;
    return model::average_bytes(model_, alone);
  };
  const std::function<double(const model::Cell&)> of_cell = [&](const model::Cell& cell) {
    if (cell.shape == model::CellShape::Plain) return of_expr(cell.expr);
    double sum = 0;
    for (const model::Cell& inner : cell.cells) sum += of_cell(inner);
    if (cell.shape == model::CellShape::List)
      sum *= cell.limit ? std::min<double>(*cell.limit, usual_length) : usual_length;
    return sum;
  };
  double sum = 8;
  for (const model::Part& part : of.key) sum += of_expr(part.expr);
  for (const model::Cell& cell : of.cells) sum += of_cell(cell);
  return sum;
}

}  // namespace noam::design
