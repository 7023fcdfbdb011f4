#include "noam/design/narration.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "noam/model/layout.h"
#include "noam/model/writing.h"

namespace noam::design {

using model::Expr;
using model::ExprKind;
using model::Function;
using model::TypeKind;

namespace {

constexpr double unknown_length = 10;
constexpr double unknown_limit = 25;
constexpr double blocks_asked_for = 5;  // of a list of keys, or a range of buckets
constexpr double letters_a_word = 6;
constexpr double few = 0.01;

bool is_variable(const Expr& expr, std::uint32_t index) {
  return expr.kind == ExprKind::Variable && expr.index == index;
}

Expr variable(std::uint32_t index, const model::Type& type) {
  Expr expr;
  expr.kind = ExprKind::Variable;
  expr.index = index;
  expr.type = type;
  return expr;
}

// A nested select that the language can say shortly: `t.liked_by`, `count(t.liked_by)`.
std::optional<Expr> as_inverse(const model::Model& model, const Logical& logical, const Sub& sub) {
  const Body& body = sub.body;
  if (body.nodes.size() != 1 || body.where.size() != 1 || body.columns.size() != 1) return std::nullopt;
  const Node& node = logical.nodes[body.nodes[0]];
  if (!node.is_instance() || !node.name.empty()) return std::nullopt;
  const Expr& condition = body.where[0];
  if (condition.kind != ExprKind::Call || condition.operands.size() != 2) return std::nullopt;
  const Expr* field = &condition.operands[0];
  if (is_call(*field, Function::MapValues)) field = &field->operands[0];
  if (field->kind != ExprKind::Field || !is_variable(field->operands[0], body.nodes[0])) return std::nullopt;
  const auto role = model.entity(node.type.entity()).fields[field->index].role;
  if (!role || model.roles[*role].inverse.empty()) return std::nullopt;
  Expr inverse;
  inverse.kind = ExprKind::Inverse;
  inverse.index = *role;
  inverse.type = model::collection_of(TypeKind::Set, model::reference(model.roles[*role].from));
  inverse.operands.push_back(condition.operands[1]);
  if (!body.folded) return inverse;
  Expr count;
  count.kind = ExprKind::CountOf;
  count.type = model::scalar(TypeKind::Int);
  count.operands.push_back(std::move(inverse));
  return count;
}

// A reference is its key: `User[a.username]` is a, `User[$username].username` and `$user.username` are the parameter.
Expr simplified(const model::Model& model, Expr expr) {
  if (expr.kind == ExprKind::Instance) {
    const auto& key = model.entity(static_cast<model::EntityId>(expr.index)).key;
    bool same_object = !key.empty() && expr.operands.size() == key.size();
    for (std::size_t i = 0; same_object && i < key.size(); ++i) {
      const Expr& part = expr.operands[i];
      same_object = part.kind == ExprKind::Field && part.index == key[i] &&
                    part.operands[0].type.kind == TypeKind::Reference && part.operands[0].type.id == expr.index &&
                    alike(part.operands[0], expr.operands[0].operands[0]);
    }
    if (same_object) return Expr(expr.operands[0].operands[0]);
    if (key.size() == 1 && expr.operands.size() == 1 && expr.operands[0].kind == ExprKind::Parameter) {
      Expr parameter = expr.operands[0];
      parameter.type = expr.type;
      return parameter;
    }
  }
  // What a symmetric role is read as.
  if (is_call(expr, Function::Union) && expr.operands.size() == 2 &&
      (expr.operands[1].kind == ExprKind::Inverse || alike(expr.operands[0], expr.operands[1])))
    return Expr(expr.operands[0]);
  if (expr.kind != ExprKind::Field) return expr;
  const Expr& object = expr.operands[0];
  if (object.kind == ExprKind::Instance) {
    const auto& key = model.entity(static_cast<model::EntityId>(object.index)).key;
    for (std::size_t i = 0; i < key.size() && i < object.operands.size(); ++i)
      if (key[i] == expr.index) return Expr(object.operands[i]);
  }
  if (object.kind == ExprKind::Parameter && object.type.kind == TypeKind::Reference &&
      model.entity(object.type.entity()).key.size() == 1 && is_key_part(model, object.type, expr.index))
    return Expr(object);
  return expr;
}

// Without optional instances and, where that can be, without nested selects: as it would be written.
Expr plain(const model::Model& model, const Logical& logical, const Expr& expr) {
  if (expr.kind == ExprKind::Variable && expr.index < logical.nodes.size() &&
      logical.nodes[expr.index].kind == NodeKind::Optional)
    return plain(model, logical, logical.nodes[expr.index].source);
  if (expr.kind == ExprKind::Select && expr.index < logical.subs.size()) {
    const auto inverse = as_inverse(model, logical, logical.subs[expr.index]);
    return inverse ? plain(model, logical, *inverse) : expr;
  }
  Expr out = expr;
  for (Expr& operand : out.operands) operand = plain(model, logical, operand);
  return simplified(model, std::move(out));
}

Expr with_variables(const Expr& expr, const std::function<std::optional<Expr>(std::uint32_t)>& of, bool& complete) {
  if (expr.kind == ExprKind::Variable) {
    auto made = of(expr.index);
    complete = complete && made.has_value();
    if (!made) return expr;
    return std::move(*made);
  }
  Expr out = expr;
  for (Expr& operand : out.operands) operand = with_variables(operand, of, complete);
  return out;
}

// What the keys of a lookup are compared with.
std::size_t several_blocks(const Step& step) {
  return static_cast<std::size_t>(std::count_if(step.block.begin(), step.block.end(), [](const KeySource& source) {
    return source.kind != KeySource::Kind::Value && source.kind != KeySource::Kind::AllWords;
  }));
}

class Narrator {
 public:
  Narrator(const Program& program, Logical logical, const std::vector<model::Parameter>& parameters)
      : program_(program), model_(*program.model), logical_(std::move(logical)), parameters_(parameters) {
    name_nodes();
  }

  void know(std::uint32_t slot, const Expr& expr) { slots_.emplace(slot, plain(model_, logical_, expr)); }
  void know_instance(std::uint32_t node, bool fields) {
    const Expr self = variable(node, logical_.nodes[node].type);
    know(0, self);
    bound_.insert(node);
    if (!fields) return;
    const auto& all = model_.entity(logical_.nodes[node].type.entity()).fields;
    for (std::uint32_t i = 0; i < all.size(); ++i) know(i + 1, field_expr(model_, self, i));
  }
  // Rows are looked for that are there: what is asked of them holds.
  void is_certain() { certain_ = true; }
  // A loop's variable is written with a $.
  void is_loop(std::uint32_t node) { loops_.insert(node); }

  Narration narrate(const Plan& plan, const Body& body) {
    Narration out;
    out.deeds = narrate(plan, body, 1, out.rows);
    return out;
  }

  std::uint32_t add_node(Node node) {
    logical_.nodes.push_back(std::move(node));
    name_nodes();
    return static_cast<std::uint32_t>(logical_.nodes.size() - 1);
  }

 private:
  // --- Names --------------------------------------------------------------------------------------------------------

  void name_nodes() {
    std::set<std::string> taken;
    for (const Node& node : logical_.nodes)
      if (!node.name.empty()) taken.insert(node.name);
    names_.resize(logical_.nodes.size());
    for (const std::string& name : names_) taken.insert(name);
    for (std::uint32_t i = 0; i < logical_.nodes.size(); ++i) {
      const Node& node = logical_.nodes[i];
      if (!names_[i].empty() || node.kind == NodeKind::Optional) continue;
      names_[i] = node.name;
      if (!node.name.empty() || node.kind == NodeKind::Given) continue;
      std::string name = "x";
      if (node.type.kind == TypeKind::Reference) {
        const char first = model_.entity(node.type.entity()).name[0];
        if (first >= 'A' && first <= 'Z') name = static_cast<char>(first - 'A' + 'a');
        if (first >= 'a' && first <= 'z') name = first;
      }
      const std::string letter = name;
      for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}{}", letter, n);
      names_[i] = name;
    }
  }

  // Over nodes, from one over slots.
  [[nodiscard]] Expr shown(const Expr& expr) const {
    if (expr.kind == ExprKind::Slot) {
      const auto found = slots_.find(expr.index);
      return found == slots_.end() ? expr : found->second;
    }
    Expr out = expr;
    for (Expr& operand : out.operands) operand = shown(operand);
    return simplified(model_, std::move(out));
  }

  [[nodiscard]] std::string text(const Expr& expr) const {
    std::vector<model::Variable> variables(logical_.nodes.size() + logical_.subs.size() + 1);
    variables.back().name = "key";
    for (std::uint32_t i = 0; i < logical_.nodes.size(); ++i) {
      variables[i].name = names_[i];
      variables[i].type = logical_.nodes[i].type;
      if (loops_.contains(i)) variables[i].kind = model::SourceKind::Loop;
    }
    for (std::size_t i = 0; i < logical_.subs.size(); ++i) {
      const auto name = sub_names_.find(static_cast<std::uint32_t>(i));
      variables[logical_.nodes.size() + i].name = name == sub_names_.end() ? "nested" : name->second;
    }
    const model::Scope scope{model_, variables, parameters_};
    return written(scope, writable(shown(expr)));
  }

  [[nodiscard]] Expr writable(const Expr& expr) const {
    // An instance without a name: its fields stand alone, itself is a key.
    const auto unnamed = [&](const Expr& at) {
      return at.kind == ExprKind::Variable && at.index < names_.size() && names_[at.index].empty();
    };
    if (unnamed(expr))
      return variable(static_cast<std::uint32_t>(logical_.nodes.size() + logical_.subs.size()), expr.type);
    if (expr.kind == ExprKind::Field && unnamed(expr.operands[0])) return expr;
    if (expr.kind == ExprKind::Select && expr.select.empty())
      return variable(static_cast<std::uint32_t>(logical_.nodes.size() + expr.index), expr.type);
    if (expr.kind == ExprKind::Element && expr.operands.size() == 1 && expr.index != due_marker &&
        expr.operands[0].type.kind == TypeKind::Reference) {
      // What the head holds of elements that lie in blocks of their own.
      Expr count;
      count.kind = ExprKind::CountOf;
      count.operands.push_back(field_expr(model_, expr.operands[0], expr.index));
      return count;
    }
    Expr out = expr;
    for (Expr& operand : out.operands) operand = writable(operand);
    return out;
  }

  void name_subs(const Body& body) {
    for (const OutputColumn& column : body.columns)
      if (column.expr.kind == ExprKind::Select && !column.name.empty())
        sub_names_.emplace(column.expr.index, column.name);
  }

  // --- What is in a slot --------------------------------------------------------------------------------------------

  void unify(const Expr& made, const Expr& meant) {
    if (made.kind == ExprKind::Slot) {
      slots_.emplace(made.index, meant);
      return;
    }
    if (made.kind == ExprKind::Instance && meant.kind != ExprKind::Instance && meant.type.kind == TypeKind::Reference &&
        meant.type.id == made.index) {
      const auto& key = model_.entity(meant.type.entity()).key;
      for (std::size_t i = 0; i < made.operands.size() && i < key.size(); ++i)
        unify(made.operands[i], field_expr(model_, meant, key[i]));
      return;
    }
    if (made.kind != meant.kind || made.function != meant.function || made.operands.size() != meant.operands.size() ||
        (made.kind == ExprKind::Field && made.index != meant.index))
      return;
    for (std::size_t i = 0; i < made.operands.size(); ++i) unify(made.operands[i], meant.operands[i]);
  }

  // The folds of a body, each once, in the order in which the planner finds them.
  static std::vector<const Expr*> folds_of(const Body& body) {
    std::vector<const Expr*> folds;
    const std::function<void(const Expr&)> find = [&](const Expr& expr) {
      if (expr.kind == ExprKind::Fold) {
        if (std::none_of(folds.begin(), folds.end(), [&](const Expr* at) { return alike(*at, expr); }))
          folds.push_back(&expr);
        return;
      }
      for (const Expr& operand : expr.operands) find(operand);
    };
    for (const OutputColumn& column : body.columns) find(column.expr);
    for (const model::OrderTerm& term : body.order_by) find(term.expr);
    return folds;
  }

  void unify(const Plan& plan, const Body& body) {
    const auto meant = [&](const Expr& expr) { return plain(model_, logical_, expr); };
    const auto folds = folds_of(body);
    for (std::size_t i = 0; i < plan.folds.size() && i < folds.size(); ++i) {
      slots_.emplace(plan.folds[i].slot, meant(*folds[i]));
      if (plan.folds[i].operand && !folds[i]->operands.empty())
        unify(*plan.folds[i].operand, meant(folds[i]->operands[0]));
    }
    for (std::size_t i = 0; i < plan.group_by.size() && i < body.group_by.size(); ++i)
      unify(plan.group_by[i], meant(body.group_by[i]));
    for (std::size_t i = 0; i < plan.columns.size() && i < body.columns.size(); ++i)
      unify(plan.columns[i].expr, meant(body.columns[i].expr));
    for (std::size_t i = 0; i < plan.order_by.size() && i < body.order_by.size(); ++i)
      unify(plan.order_by[i].expr, meant(body.order_by[i].expr));
  }

  // Equal, or said to be equal.
  [[nodiscard]] bool agree(const Expr& a, const Expr& b) const {
    if (alike(a, b)) return true;
    for (const Expr& condition : conditions_)
      if (is_call(condition, Function::Equal) &&
          ((alike(condition.operands[0], a) && alike(condition.operands[1], b)) ||
           (alike(condition.operands[0], b) && alike(condition.operands[1], a))))
        return true;
    if (a.kind == ExprKind::Field && b.kind == ExprKind::Field && a.index == b.index &&
        agree(a.operands[0], b.operands[0]))
      return true;
    // A parameter that is a reference is written as its key.
    const auto is_key = [&](const Expr& field, const Expr& parameter) {
      return field.kind == ExprKind::Field && parameter.kind == ExprKind::Parameter &&
             parameter.type.kind == TypeKind::Reference && field.operands[0].type.kind == TypeKind::Reference &&
             field.operands[0].type.id == parameter.type.id && is_key_part(model_, parameter.type, field.index) &&
             agree(field.operands[0], parameter);
    };
    return is_key(a, b) || is_key(b, a);
  }

  // --- Which variables a family stands for --------------------------------------------------------------------------

  using Assignment = std::vector<std::optional<Expr>>;  // node of the family -> expression of the statement

  struct Best {
    Assignment to;
    int score = INT32_MIN;
  };

  [[nodiscard]] std::optional<Expr> translate(const FamilyLogic& logic, const Assignment& to, const Expr& expr) const {
    bool complete = true;
    Expr out = with_variables(
        plain(model_, logic.logical, expr), [&](std::uint32_t node) { return to[node]; }, complete);
    if (!complete) return std::nullopt;
    return shown(out);
  }

  [[nodiscard]] std::vector<Expr> candidates(const FamilyLogic& logic, const Assignment& to, std::uint32_t node) const {
    const Node& theirs = logic.logical.nodes[node];
    std::vector<Expr> out;
    const auto add = [&](const Expr& expr) {
      const auto same = [&](const Expr& at) { return alike(at, expr); };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(expr);
    };
    if (theirs.kind == NodeKind::Word) return out;
    for (std::uint32_t i = 0; i < logical_.nodes.size(); ++i) {
      const Node& ours = logical_.nodes[i];
      const Expr self = variable(i, ours.type);
      if (theirs.kind == NodeKind::Instance) {
        if (ours.type.kind != TypeKind::Reference || ours.type.id != theirs.type.id) continue;
        if (ours.kind == NodeKind::Instance || ours.kind == NodeKind::Given) add(self);
        if (ours.kind == NodeKind::Optional) add(plain(model_, logical_, ours.source));
      } else if (theirs.kind == NodeKind::Element && ours.kind == NodeKind::Element) {
        const auto source = translate(logic, to, theirs.source);
        if (source && alike(*source, plain(model_, logical_, ours.source))) add(self);
      } else if (theirs.kind == ours.kind && theirs.query == ours.query &&
                 (theirs.kind == NodeKind::Refreshed || theirs.kind == NodeKind::History)) {
        add(self);
      }
    }
    if (theirs.kind == NodeKind::Element) {
      const auto source = translate(logic, to, theirs.source);
      for (const Expr& condition : conditions_) {
        if (!source || !is_call(condition, Function::Contains)) continue;
        const Expr& collection = condition.operands[0];
        const bool values = is_call(collection, Function::MapValues) && alike(collection.operands[0], *source);
        if (values || (alike(collection, *source) && source->type.kind != TypeKind::Map)) add(condition.operands[1]);
      }
    }
    return out;
  }

  [[nodiscard]] static const Expr* held_at(const FamilyLogic& logic, const Place& place) {
    for (const Held& held : logic.held)
      if (held.place == place) return &held.expr;
    return nullptr;
  }

  [[nodiscard]] int score(const FamilyLogic& logic, const Step& step, const Assignment& to) const {
    int out = 0;
    for (const std::uint32_t node : logic.body.nodes) {
      if (!to[node]) {
        out -= 3;
      } else if (to[node]->kind == ExprKind::Variable && !step.optional && !bound_.contains(to[node]->index)) {
        out += 1;
      }
    }
    for (const Output& output : step.outputs) {
      const Expr* held = held_at(logic, output.place);
      const auto slot = slots_.find(output.slot);
      if (held == nullptr) continue;
      const auto made = translate(logic, to, *held);
      if (!made) continue;
      if (slot != slots_.end()) {
        out += agree(*made, slot->second) ? 4 : -4;
      } else {
        // What was there before is not taken again.
        for (const auto& known : slots_)
          if (alike(known.second, *made)) {
            out -= 2;
            break;
          }
      }
    }
    const auto compare = [&](const Expr& part, const KeySource& source) {
      if (source.kind != KeySource::Kind::Value) return;
      const auto made = translate(logic, to, part);
      if (made) out += agree(*made, shown(source.value)) ? 3 : -2;
    };
    for (std::size_t i = 0; i < step.block.size() && i < logic.block.size(); ++i)
      compare(logic.block[i], step.block[i]);
    for (std::size_t i = 0; i < step.prefix.size() && i < logic.key.size(); ++i) compare(logic.key[i], step.prefix[i]);
    return out;
  }

  void search(const FamilyLogic& logic, const Step& step, std::size_t position, Assignment& to, Best& best) const {
    if (position == logic.body.nodes.size()) {
      const int reached = score(logic, step, to);
      if (reached > best.score) best = {to, reached};
      return;
    }
    const std::uint32_t node = logic.body.nodes[position];
    for (Expr& expr : candidates(logic, to, node)) {
      const bool taken = std::any_of(to.begin(), to.end(), [&](const auto& at) { return at && alike(*at, expr); });
      if (taken) continue;
      to[node] = std::move(expr);
      search(logic, step, position + 1, to, best);
      to[node].reset();
    }
    search(logic, step, position + 1, to, best);
  }

  // Which variables the step's family stands for; those that nobody named are named after it. Whether it binds one.
  Assignment assign(const FamilyLogic& logic, const Step& step, bool& binds) {
    Best best;
    Assignment to(logic.logical.nodes.size());
    search(logic, step, 0, to, best);
    to = std::move(best.to);
    for (const std::uint32_t node : logic.body.nodes) {
      if (!to[node]) {
        const Node& theirs = logic.logical.nodes[node];
        Node fresh = theirs;
        fresh.source = Expr();
        if (theirs.kind == NodeKind::Element || theirs.kind == NodeKind::Word) {
          if (const auto source = translate(logic, to, theirs.source)) fresh.source = *source;
        }
        for (int n = 2; std::find(names_.begin(), names_.end(), fresh.name) != names_.end(); ++n)
          fresh.name = fmt::format("{}{}", theirs.name, n);
        const std::uint32_t made = add_node(std::move(fresh));
        to[node] = variable(made, logical_.nodes[made].type);
      }
      if (to[node]->kind == ExprKind::Variable) binds = bound_.insert(to[node]->index).second || binds;
    }
    return to;
  }

  // --- Steps --------------------------------------------------------------------------------------------------------

  std::string key_text(const FamilyLogic& logic, const Assignment& to, const Expr& part, const KeySource& source,
                       const std::string& name) {
    const auto made = translate(logic, to, part);
    std::string left = made ? text(*made) : name;
    switch (source.kind) {
      case KeySource::Kind::Value:
        break;
      case KeySource::Kind::EachOf:
        if (source.value.kind == ExprKind::Unknown) return "each " + left;
        return fmt::format("{} in {}", left, text(source.value));
      case KeySource::Kind::Buckets:
        return fmt::format("{} from {} to {}", left, text(source.value), text(source.high));
      case KeySource::Kind::AnyWord:
        return fmt::format("{} = each word of {}", name, text(source.value));
      case KeySource::Kind::AllWords:
        return fmt::format("{} = the longest word of {}", name, text(source.value));
    }
    const Expr value = shown(source.value);
    if (made) asked_.emplace_back(*made, value);
    // Members of a collection, found by one.
    if (part.kind == ExprKind::Variable && logic.logical.nodes[part.index].kind == NodeKind::Element && made &&
        alike(*made, value)) {
      if (const auto collection = translate(logic, to, logic.logical.nodes[part.index].source))
        return fmt::format("{} contains {}", text(*collection), text(value));
    }
    if (made && alike(*made, value)) return left;
    return fmt::format("{} = {}", left, text(value));
  }

  [[nodiscard]] std::string range_text(const std::string& left, const KeyRange& range) const {
    if (range.low && range.high && range.low_inclusive && range.high_inclusive)
      return fmt::format("{} between {} and {}", left, text(*range.low), text(*range.high));
    std::vector<std::string> bounds;
    if (range.low) bounds.push_back(fmt::format("{} {} {}", left, range.low_inclusive ? ">=" : ">", text(*range.low)));
    if (range.high)
      bounds.push_back(fmt::format("{} {} {}", left, range.high_inclusive ? "<=" : "<", text(*range.high)));
    return fmt::format("{}", fmt::join(bounds, ", "));
  }

  [[nodiscard]] static std::string place_name(const Design& design, const Family& family, const Place& place) {
    switch (place.kind) {
      case Place::Kind::Block:
        return design.collection_of(family).by[place.index].name;
      case Place::Kind::Key:
        return family.key[place.index].name;
      case Place::Kind::Cell:
        return family.cells[place.index].name;
      case Place::Kind::Hidden:
        break;
    }
    return "hidden";
  }

  Deed read(const Step& step, const Plan& plan, bool& binds) {
    const Family& family = program_.design.families[step.family];
    const Collection& collection = program_.design.collection_of(family);
    const FamilyLogic& logic = program_.logics[step.family];
    const Assignment to = assign(logic, step, binds);
    Deed deed;
    deed.kind = step.kind == StepKind::Scan ? DeedKind::Scan : DeedKind::Lookup;
    deed.family = step.family;
    const std::string label = family_label(program_.design, step.family);
    if (step.kind == StepKind::Scan) {
      deed.text = "scan all of " + label;
    } else {
      std::vector<std::string> block;
      for (std::size_t i = 0; i < step.block.size(); ++i)
        block.push_back(key_text(logic, to, logic.block[i], step.block[i], collection.by[i].name));
      deed.text = fmt::format("look up {} [{}]", label, fmt::join(block, ", "));
      std::vector<std::string> key;
      for (std::size_t i = 0; i < step.prefix.size(); ++i)
        key.push_back(key_text(logic, to, logic.key[i], step.prefix[i], family.key[i].name));
      if (step.range.bounded()) {
        const std::size_t part = step.prefix.size();
        const auto made = translate(logic, to, logic.key[part]);
        if (made) ranged_.push_back(*made);
        key.push_back(range_text(made ? text(*made) : family.key[part].name, step.range));
      }
      if (!key.empty()) deed.text += fmt::format(", entries [{}]", fmt::join(key, ", "));
    }
    std::vector<std::string> checks;
    for (const Check& check : step.checks)
      checks.push_back(fmt::format("{} = {}", place_name(program_.design, family, check.place), text(check.value)));
    if (!checks.empty()) deed.text += fmt::format(" where {}", fmt::join(checks, " and "));
    if (step.limited && plan.limit)
      deed.text += fmt::format(", the {} {}", step.reverse ? "last" : "first", text(*plan.limit));
    if (step.optional) deed.text += ", if there";
    for (std::size_t i = 0; i < step.block.size(); ++i) {
      if (!step.block[i].slot) continue;
      if (const auto made = translate(logic, to, logic.block[i])) slots_.emplace(*step.block[i].slot, *made);
    }
    for (const Output& output : step.outputs) {
      const Expr* held = held_at(logic, output.place);
      if (held == nullptr) {
        if (output.place.kind == Place::Kind::Hidden && to[logic.body.nodes[0]]) {
          const Hidden& hidden = family.hidden[output.place.index];
          slots_.emplace(output.slot, hidden_marker(*to[logic.body.nodes[0]],
                                                    hidden.kind == HiddenKind::Due ? due_marker : hidden.of));
        }
        continue;
      }
      if (const auto made = translate(logic, to, *held)) slots_.emplace(output.slot, *made);
    }
    if (step.found_slot) slots_.emplace(*step.found_slot, shown(step.found));
    return deed;
  }

  Deed collect(const Step& step) {
    const Family& family = program_.design.families[step.family];
    const Collection& collection = program_.design.collection_of(family);
    const FamilyLogic& logic = program_.logics[step.family];
    // The instance whose key the block has.
    const std::uint32_t theirs = logic.body.nodes[0];
    Assignment to(logic.logical.nodes.size());
    Best best;
    for (Expr& expr : candidates(logic, to, theirs)) {
      to[theirs] = std::move(expr);
      const int reached = score(logic, step, to);
      if (reached > best.score) best = {to, reached};
    }
    if (!best.to.empty()) to = best.to;
    if (!to[theirs]) {
      const std::uint32_t made = add_node(logic.logical.nodes[theirs]);
      to[theirs] = variable(made, logical_.nodes[made].type);
    }
    const Expr field = field_expr(model_, *to[theirs], *family.elements);
    slots_.emplace(step.slot, field);
    std::vector<std::string> block;
    for (std::size_t i = 0; i < step.block.size(); ++i)
      block.push_back(key_text(logic, to, logic.block[i], step.block[i], collection.by[i].name));
    Deed deed;
    deed.kind = DeedKind::Collect;
    deed.family = step.family;
    deed.text = fmt::format("collect {} from {} [{}]", text(field), family_label(program_.design, step.family),
                            fmt::join(block, ", "));
    return deed;
  }

  Deed unnest(const Step& step) {
    Deed deed;
    deed.kind = DeedKind::Unnest;
    const Expr collection = shown(step.expr);
    std::optional<std::uint32_t> element;
    if (const auto known = slots_.find(step.slot); known != slots_.end() && known->second.kind == ExprKind::Variable)
      element = known->second.index;
    for (std::uint32_t i = 0; i < logical_.nodes.size() && !element; ++i) {
      const Node& node = logical_.nodes[i];
      if (node.kind != NodeKind::Element && node.kind != NodeKind::Word) continue;
      const Expr source = plain(model_, logical_, node.source);
      const Expr& wanted = is_call(collection, Function::WordsOf) ? collection.operands[0] : collection;
      if (agree(source, wanted) && !bound_.contains(i)) element = i;
    }
    for (const Expr& condition : conditions_) {
      if (element) break;
      const bool contains = is_call(condition, Function::Contains) && agree(condition.operands[0], collection);
      const bool among = is_call(condition, Function::In) && agree(condition.operands[1], collection);
      if (!contains && !among) continue;
      const Expr& member = condition.operands[contains ? 1 : 0];
      if (member.kind == ExprKind::Variable && !bound_.contains(member.index)) element = member.index;
    }
    if (!element) {
      Node node;
      node.kind = NodeKind::Element;
      node.source = collection;
      node.type = collection.type.arguments.empty() ? model::Type() : collection.type.element();
      element = add_node(std::move(node));
    }
    // An instance found by a reference exists only if its own entry says so.
    if (!logical_.nodes[*element].is_instance()) bound_.insert(*element);
    const Expr self = variable(*element, logical_.nodes[*element].type);
    slots_.emplace(step.slot, self);
    if (step.key_slot) {
      const bool map = step.collection == TypeKind::Map && collection.type.kind == TypeKind::Map;
      slots_.emplace(*step.key_slot, map ? call_expr(Function::MapKey, collection.type.arguments[0], {self})
                                         : call_expr(Function::Position, model::scalar(TypeKind::Int), {self}));
    }
    deed.text = fmt::format("for each {} in {}", text(self), text(collection));
    return deed;
  }

  Deed refreshed(const Step& step) {
    Deed deed;
    deed.kind = DeedKind::Refreshed;
    std::optional<std::uint32_t> node;
    for (std::uint32_t i = 0; i < logical_.nodes.size(); ++i) {
      const Node& at = logical_.nodes[i];
      const bool kind = at.kind == (step.history ? NodeKind::History : NodeKind::Refreshed);
      if (kind && at.query == step.query && !bound_.contains(i) && !node) node = i;
    }
    if (node) {
      bound_.insert(*node);
      const Expr self = variable(*node, logical_.nodes[*node].type);
      for (const Output& output : step.outputs) {
        Expr expr;
        if (output.place.kind == Place::Kind::Cell) {
          expr = field_expr(model_, self, output.place.index);
        } else if (output.place.index == 0) {
          expr.kind = ExprKind::Refreshed;
          expr.type = model::scalar(TypeKind::Timestamp);
          expr.operands.push_back(self);
        } else {
          expr = call_expr(Function::Position, model::scalar(TypeKind::Int), {self});
        }
        if (expr.kind == ExprKind::Refreshed && step.range.bounded()) ranged_.push_back(expr);
        slots_.emplace(output.slot, std::move(expr));
      }
    }
    const std::string query = model::written_name(model_.queries[step.query].name);
    deed.text = fmt::format("read the {} of {}", step.history ? "kept refreshes" : "last refresh", query);
    if (step.range.bounded()) deed.text += fmt::format(", [{}]", range_text("refreshed", step.range));
    return deed;
  }

  // The nested select that ends in this slot.
  [[nodiscard]] std::optional<std::uint32_t> sub_of(const Step& step) const {
    const auto known = slots_.find(step.slot);
    std::optional<std::uint32_t> guess;
    for (std::uint32_t i = 0; i < logical_.subs.size(); ++i) {
      if (done_subs_.contains(i)) continue;
      const Sub& sub = logical_.subs[i];
      Expr select;
      select.kind = ExprKind::Select;
      select.index = i;
      if (known != slots_.end() && alike(plain(model_, logical_, select), known->second)) return i;
      if (!guess && sub.body.shape == step.shape && sub.as_set == step.as_set &&
          sub.body.columns.size() == step.nested[0].columns.size())
        guess = i;
    }
    return known == slots_.end() ? guess : std::nullopt;
  }

  Deed nested(const Step& step, double rows, bool alone) {
    Deed deed;
    deed.kind = DeedKind::Nested;
    Body body;
    const auto sub = sub_of(step);
    Expr select;
    select.kind = ExprKind::Select;
    if (sub) {
      done_subs_.insert(*sub);
      body = logical_.subs[*sub].body;
      select.index = *sub;
      select.type = logical_.subs[*sub].type;
      slots_.emplace(step.slot, plain(model_, logical_, select));
    }
    const auto known = slots_.find(step.slot);
    const bool named =
        known != slots_.end() && (!sub || known->second.kind != ExprKind::Select || sub_names_.contains(*sub));
    deed.text = fmt::format("{}{}:", alone ? "" : "for each row, ", named ? text(known->second) : "the nested select");
    const std::size_t conditions = conditions_.size();
    double inner_rows = 0;
    const bool outer = std::exchange(nested_, true);
    deed.inside = narrate(step.nested[0], body, rows, inner_rows);
    nested_ = outer;
    conditions_.resize(conditions);
    return deed;
  }

  // --- The plan -----------------------------------------------------------------------------------------------------

  // `times`: how often the plan is run. `rows`: how many it gives each time.
  std::vector<Deed> narrate(const Plan& plan, const Body& body, double times, double& rows) {
    name_subs(body);
    unify(plan, body);
    for (const auto* all : {&body.where, &body.implied})
      for (const Expr& condition : *all) conditions_.push_back(plain(model_, logical_, condition));
    std::vector<Deed> deeds;
    rows = 1;
    const auto tell_all = [&](const std::vector<Step>& steps) {
      for (const Step& step : steps) {
        if (step.kind == StepKind::Filter && is_found_by(shown(step.expr)) && !asks_element(step.expr)) continue;
        deeds.push_back(tell(step, plan, rows, times, body.nodes.empty()));
      }
    };
    tell_all(plan.steps);
    if (plan.folded) {
      deeds.push_back(group(plan, body));
      rows = plan.group_by.empty() ? 1 : rows;
    }
    if (plan.distinct) deeds.push_back({DeedKind::Distinct, "each once", {}, {}, {}});
    if (plan.ordered) order(plan, deeds);
    if (plan.limit) {
      deeds.push_back({DeedKind::Limit, "take the first " + text(*plan.limit), {}, {}, {}});
      rows = std::min(rows, limit_of(plan));
    }
    tell_all(plan.late);
    std::vector<std::string> names;
    for (const OutputColumn& column : plan.columns)
      if (!column.name.empty()) names.push_back(model::written_name(column.name));
    if (!names.empty() && tells_columns(body))
      deeds.push_back({DeedKind::Project, fmt::format("give {}", fmt::join(names, ", ")), {}, {}, {}});
    return deeds;
  }

  [[nodiscard]] static double limit_of(const Plan& plan) {
    const auto* number = plan.limit ? std::get_if<std::int64_t>(&plan.limit->constant) : nullptr;
    return number != nullptr ? static_cast<double>(*number) : unknown_limit;
  }

  // A nested count need not say that it gives a count.
  [[nodiscard]] bool tells_columns(const Body& body) const {
    if (nested_ && body.shape == model::Shape::Scalar) return false;
    return body.nodes.empty() || !logical_.nodes[body.nodes[0]].name.empty();
  }

  // `rows`: those that the step is done for, and then those that it leaves. `alone`: there is no select around it.
  Deed tell(const Step& step, const Plan& plan, double& rows, double times, bool alone) {
    Deed deed;
    bool binds = false;
    const double entry_bytes = step.entries > 0 ? step.bytes / step.entries : 0;
    switch (step.kind) {
      case StepKind::Lookup: {
        deed = read(step, plan, binds);
        deed.work.reads = rows * std::pow(blocks_asked_for, static_cast<double>(several_blocks(step)));
        const Family& family = program_.design.families[step.family];
        double found = step.reads > 0 ? step.entries / step.reads : 1;
        if (!binds || (step.prefix.size() == family.key.size() && !family.grouped)) found = 1;  // by its whole key
        if (step.limited && plan.limit) found = std::min(found, limit_of(plan) + 1);
        deed.work.entries = deed.work.reads * found;
        if (binds && !step.optional) rows = std::max(deed.work.entries, few);
        break;
      }
      case StepKind::Scan:
        deed = read(step, plan, binds);
        deed.work = {step.reads, step.entries, 0};
        rows = step.entries;
        break;
      case StepKind::Collect: {
        deed = collect(step);
        deed.work.entries = rows * usual_length(model_, slots_.at(step.slot));
        deed.work.reads = step.spread ? deed.work.entries : rows;
        break;
      }
      case StepKind::Unnest:
        deed = unnest(step);
        rows *= usual_length(model_, shown(step.expr));
        break;
      case StepKind::Filter:
        deed.kind = DeedKind::Filter;
        if (const auto element = asks_element(step.expr)) {
          const Node& node = logical_.nodes[*element];
          deed.text = fmt::format("keep the {} asked for", names_[*element]);
          rows /= std::max(usual_length(model_, node.kind == NodeKind::Word
                                                    ? call_expr(Function::WordsOf, {}, {node.source})
                                                    : plain(model_, logical_, node.source)),
                           1.0);
        } else {
          deed.text = "keep those where " + text(step.expr);
          const double passes = certain_ ? 1 : is_call(step.expr, Function::Equal) ? 0.1 : 0.5;
          rows = std::max(rows * passes, few);
        }
        break;
      case StepKind::Nested:
        deed = nested(step, rows * times, alone);
        deed.step = &step;
        return deed;
      case StepKind::Refreshed: {
        deed = refreshed(step);
        const model::Query& query = model_.queries[step.query];
        rows *= std::max(program_.queries[step.query].rows, 1.0);
        if (step.history && query.refresh) rows *= static_cast<double>(query.refresh->keep);
        if (step.range.bounded()) rows *= 0.3;
        deed.work = {1, rows, 0};
        break;
      }
    }
    deed.work.bytes = deed.work.entries * entry_bytes;
    deed.work = deed.work * times;
    deed.step = &step;
    return deed;
  }

  // It holds for all rows, since they were found by it.
  [[nodiscard]] bool is_found_by(const Expr& condition) const {
    if (condition.kind != ExprKind::Call || condition.operands.empty()) return false;
    switch (condition.function) {
      case Function::Equal:
        return established(condition.operands[0], condition.operands[1]);
      case Function::Between:
      case Function::Less:
      case Function::LessEqual:
      case Function::Greater:
      case Function::GreaterEqual:
        return std::any_of(ranged_.begin(), ranged_.end(), [&](const Expr& at) {
          return alike(at, condition.operands[0]) ||
                 (condition.function != Function::Between && alike(at, condition.operands[1]));
        });
      default:
        return false;
    }
  }

  // One element of a collection, which was known before: its own name on both sides.
  [[nodiscard]] std::optional<std::uint32_t> asks_element(const Expr& condition) const {
    if (!is_call(condition, Function::Equal)) return std::nullopt;
    const Expr a = shown(condition.operands[0]);
    if (!alike(a, shown(condition.operands[1])) || alike(condition.operands[0], condition.operands[1]))
      return std::nullopt;
    const bool call = is_call(a, Function::Position) || is_call(a, Function::MapKey);
    const Expr& element = call ? a.operands[0] : a;
    if (element.kind != ExprKind::Variable) return std::nullopt;
    const NodeKind kind = logical_.nodes[element.index].kind;
    if (kind != NodeKind::Element && kind != NodeKind::Word) return std::nullopt;
    return element.index;
  }

  [[nodiscard]] bool established(const Expr& a, const Expr& b, int depth = 0) const {
    if (alike(a, b)) return true;
    for (const auto& [left, right] : asked_)
      if ((alike(left, a) && alike(right, b)) || (alike(left, b) && alike(right, a))) return true;
    // A reference is its key.
    for (const auto& [instance, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (instance->kind != ExprKind::Instance || other->type.kind != TypeKind::Reference) continue;
      const auto& key = model_.entity(other->type.entity()).key;
      bool all = key.size() == instance->operands.size();
      for (std::size_t i = 0; all && i < key.size(); ++i)
        all = depth <= 4 && established(field_expr(model_, *other, key[i]), instance->operands[i], depth + 1);
      if (all) return true;
    }
    const auto is_reference = [](const Expr& expr) {
      return expr.type.kind == TypeKind::Reference && expr.kind != ExprKind::Instance && expr.kind != ExprKind::Slot;
    };
    if (!is_reference(a) || !is_reference(b) || a.type.id != b.type.id || depth > 4) return false;
    const auto& key = model_.entity(a.type.entity()).key;
    return std::all_of(key.begin(), key.end(), [&](std::uint32_t part) {
      return established(simplified(model_, field_expr(model_, a, part)),
                         simplified(model_, field_expr(model_, b, part)), depth + 1);
    });
  }

  Deed group(const Plan& plan, const Body& body) const {
    std::vector<std::string> by;
    for (const Expr& expr : plan.group_by) by.push_back(text(expr));
    std::vector<std::string> folds;
    const auto meant = folds_of(body);
    for (std::size_t i = 0; i < plan.folds.size(); ++i) {
      const FoldStep& fold = plan.folds[i];
      std::string word = i < meant.size() ? text(plain(model_, logical_, *meant[i])) : "a fold";
      const bool kept = fold.folded_count || fold.folded_value || (plan.weight && !fold.operand);
      if (kept) word += fold.result ? " as it is kept" : " from what is kept";
      folds.push_back(std::move(word));
    }
    Deed deed;
    deed.kind = DeedKind::Group;
    const std::string what = fmt::format("{}", fmt::join(folds, ", "));
    if (by.empty()) {
      deed.text = "fold " + what;
    } else {
      deed.text = fmt::format("group by {}", fmt::join(by, ", "));
      if (!folds.empty()) deed.text += ": " + what;
    }
    return deed;
  }

  static bool has_slot(const Expr& expr) {
    return expr.kind == ExprKind::Slot || std::any_of(expr.operands.begin(), expr.operands.end(), has_slot);
  }

  void order(const Plan& plan, std::vector<Deed>& deeds) const {
    std::vector<std::string> terms;
    std::set<std::string> told;
    for (const model::OrderTerm& term : plan.order_by) {
      if (!has_slot(term.expr)) continue;  // the same in every row
      const std::string word = text(term.expr);
      if (told.insert(word).second) terms.push_back(word + (term.descending ? " desc" : ""));
    }
    if (terms.empty()) return;
    Deed deed;
    deed.kind = plan.sorted ? DeedKind::InOrder : DeedKind::Sort;
    deed.text = fmt::format("{} {}", plan.sorted ? "they come by" : "sort by", fmt::join(terms, ", "));
    deeds.push_back(std::move(deed));
  }

  const Program& program_;
  const model::Model& model_;
  Logical logical_;
  const std::vector<model::Parameter>& parameters_;
  std::vector<std::string> names_;                  // of nodes
  std::map<std::uint32_t, std::string> sub_names_;  // of nested selects that are columns
  std::map<std::uint32_t, Expr> slots_;             // over nodes
  std::set<std::uint32_t> bound_;                   // nodes whose rows are there
  std::set<std::uint32_t> loops_;
  std::set<std::uint32_t> done_subs_;
  std::vector<Expr> conditions_;              // that hold where we are
  std::vector<std::pair<Expr, Expr>> asked_;  // equal, since something was looked up by it
  std::vector<Expr> ranged_;                  // between bounds, for the same reason
  bool nested_ = false;
  bool certain_ = false;
};

// The plan, and what is done where it can't be used.
Narration narrate_all(const Program& program, const Logical& logical, const Body& body,
                      const std::vector<model::Parameter>& parameters, const Plan& plan,
                      const std::function<void(Narrator&)>& prepare) {
  Narrator narrator(program, logical, parameters);
  prepare(narrator);
  Narration out = narrator.narrate(plan, body);
  for (const Plan& otherwise : plan.otherwise) {
    Deed deed;
    deed.kind = DeedKind::Otherwise;
    std::vector<std::string> when;
    if (plan.cap) when.push_back(fmt::format("for next pages, or more than {} rows", model::figure(*plan.cap)));
    if (plan.needs_words) when.emplace_back("for a text without words");
    deed.text = fmt::format("{}:", fmt::join(when, ", and "));
    deed.inside = narrate_all(program, logical, body, parameters, otherwise, prepare).deeds;
    out.deeds.push_back(std::move(deed));
  }
  return out;
}

const std::vector<model::Parameter> no_parameters;

// Exprs of a command, whose variables are in the first slots.
Narration narrate_computed(const Program& program, const model::Command& command, const std::vector<const Expr*>& exprs,
                           const Computation& computation, std::optional<std::uint32_t> element) {
  if (!computation.there()) return {};
  std::set<std::uint32_t> inside;
  for (const Expr* expr : exprs)
    model::for_each(*expr, [&](const Expr& at) {
      for (const model::Select& select : at.select) inside.insert(select.from.begin(), select.from.end());
    });
  Logical logical;
  Normalizer normalizer(*program.model, logical, command.variables);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> given;  // variable, node
  for (std::uint32_t i = 0; i < command.variables.size(); ++i)
    if (!inside.contains(i)) given.emplace_back(i, normalizer.give(i));
  Body body;
  for (const Expr* expr : exprs) body.columns.push_back({"", normalizer.rewrite(*expr)});
  return narrate_all(program, logical, body, command.parameters, computation.plan, [&](Narrator& narrator) {
    for (const auto& [variable_index, node] : given) {
      const Expr self = node_expr(logical, node);
      narrator.know(variable_index, self);
      if (command.variables[variable_index].kind == model::SourceKind::Loop) narrator.is_loop(node);
      if (variable_index == element)
        narrator.know(static_cast<std::uint32_t>(command.variables.size()),
                      call_expr(Function::Position, model::scalar(TypeKind::Int), {self}));
    }
  });
}

// What a derived row of a copy is made of, as columns.
Body derived(const FamilyLogic& logic) {
  Body body = logic.body;
  body.columns.clear();
  for (const auto* parts : {&logic.block, &logic.key, &logic.cells})
    for (const Expr& part : *parts)
      body.columns.push_back({"", part.kind == ExprKind::Fold && !part.operands.empty() ? part.operands[0] : part});
  for (const std::uint32_t node : body.nodes)
    for (Expr& expr : identity(logic.logical, node)) body.columns.push_back({"", std::move(expr)});
  return body;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  reads += other.reads;
  entries += other.entries;
  bytes += other.bytes;
  return *this;
}

Work operator*(const Work& work, double times) {
  return {work.reads * times, work.entries * times, work.bytes * times};
}

const char* deed_name(DeedKind kind) {
  switch (kind) {
    case DeedKind::Lookup:
      return "lookup";
    case DeedKind::Scan:
      return "scan";
    case DeedKind::Collect:
      return "collect";
    case DeedKind::Refreshed:
      return "refreshed";
    case DeedKind::Unnest:
      return "unnest";
    case DeedKind::Filter:
      return "filter";
    case DeedKind::Nested:
      return "nested";
    case DeedKind::Group:
      return "group";
    case DeedKind::Distinct:
      return "distinct";
    case DeedKind::Sort:
      return "sort";
    case DeedKind::InOrder:
      return "in_order";
    case DeedKind::Limit:
      return "limit";
    case DeedKind::Project:
      return "project";
    case DeedKind::Load:
      return "load";
    case DeedKind::Compute:
      return "compute";
    case DeedKind::Otherwise:
      break;
  }
  return "otherwise";
}

Work total(const std::vector<Deed>& deeds) {
  Work sum;
  for (const Deed& deed : deeds) {
    sum += deed.work;
    if (deed.kind != DeedKind::Otherwise) sum += total(deed.inside);
  }
  return sum;
}

Narration narrate_query(const Program& program, std::uint32_t index) {
  const model::Query& query = program.model->queries[index];
  Logical logical;
  Normalizer normalizer(*program.model, logical, query.variables);
  const Body body = normalizer.normalize(query.select);
  return narrate_all(program, logical, body, query.parameters, program.queries[index], [](Narrator&) {});
}

Narration narrate_inputs(const Program& program, const model::Command& command, const model::Change& change,
                         const ChangePlan& plan) {
  return narrate_computed(program, command, change_inputs(command, change), plan.inputs, std::nullopt);
}

Narration narrate_where(const Program& program, const model::Command& command, const model::Change& change,
                        const ChangePlan& plan) {
  if (!change.where) return {};
  return narrate_computed(program, command, {&*change.where}, plan.where, change.element);
}

Narration narrate_find(const Program& program, const model::Command& command, const model::Change& change,
                       const Plan& plan) {
  std::vector<model::Variable> variables = command.variables;
  variables[*change.variable].kind = model::SourceKind::Entity;
  variables[*change.variable].type = model::reference(change.entity);
  model::Select select;
  select.from.push_back(*change.variable);
  select.where = change.where;
  model::Column column;
  column.name = "key";
  column.expr = variable(*change.variable, model::reference(change.entity));
  select.columns.push_back(column);
  select.order_by.push_back({column.expr, false});
  select.limit = change.limit;
  Logical logical;
  Normalizer normalizer(*program.model, logical, variables);
  const Body body = normalizer.normalize(select);
  return narrate_all(program, logical, body, command.parameters, plan, [](Narrator&) {});
}

Narration narrate_load(const Program& program, model::EntityId entity) {
  const EntityPlan& plan = program.entities[static_cast<std::size_t>(entity)];
  if (plan.load.columns.empty()) return {};
  Logical logical;
  const Body body = select_instance(*program.model, entity, logical);
  return narrate_all(program, logical, body, no_parameters, plan.load,
                     [&](Narrator& narrator) { narrator.know(0, node_expr(logical, 0)); });
}

Narration narrate_parts(const Program& program, model::EntityId owner, const PartsPlan& plan) {
  Logical logical;
  Node part;
  part.type = model::reference(plan.entity);
  logical.nodes.push_back(part);
  Node given;
  given.kind = NodeKind::Given;
  given.name = "owner";
  given.type = model::reference(owner);
  logical.nodes.push_back(given);
  Body body;
  body.nodes.push_back(0);
  const Expr field = field_expr(*program.model, node_expr(logical, 0), plan.field);
  body.where.push_back(call_expr(field.type.is_collection() ? Function::Contains : Function::Equal,
                                 model::scalar(TypeKind::Bool), {field, node_expr(logical, 1)}));
  body.columns.push_back({"", node_expr(logical, 0)});
  return narrate_all(program, logical, body, no_parameters, plan.plan,
                     [&](Narrator& narrator) { narrator.know(0, node_expr(logical, 1)); });
}

Narration narrate_direct(const Program& program, const Upkeep& upkeep, std::size_t which) {
  const FamilyLogic& logic = program.logics[upkeep.family];
  std::size_t at = 0;
  std::uint32_t node = 0;
  for (const std::uint32_t each : logic.body.nodes)
    if (logic.logical.nodes[each].is_instance() && at++ == which) node = each;
  return narrate_all(program, logic.logical, derived(logic), no_parameters, upkeep.direct[which].plan,
                     [&](Narrator& narrator) { narrator.know_instance(node, true); });
}

Narration narrate_indirect(const Program& program, const Upkeep& upkeep, std::size_t which) {
  const FamilyLogic& logic = program.logics[upkeep.family];
  const IndirectPlan& indirect = upkeep.indirect[which];
  Logical logical = logic.logical;
  Body body = logic.body;
  body.columns.clear();
  for (const std::uint32_t node : body.nodes)
    for (Expr& expr : identity(logical, node)) body.columns.push_back({"", std::move(expr)});
  // Which node of the family it is that changed: the same one as that of the planner, by its kind.
  std::size_t before = 0;
  for (std::size_t i = 0; i < which; ++i)
    if (upkeep.indirect[i].entity == indirect.entity && upkeep.indirect[i].reference_only == indirect.reference_only)
      ++before;
  std::optional<std::uint32_t> changed;
  for (std::uint32_t i = 0; i < logical.nodes.size() && !changed; ++i) {
    const Node& node = logical.nodes[i];
    const bool kind = indirect.reference_only ? node.kind == NodeKind::Optional
                                              : node.is_instance() && std::find(body.nodes.begin(), body.nodes.end(),
                                                                                i) == body.nodes.end();
    if (!kind || node.type.entity() != indirect.entity) continue;
    if (before == 0) changed = i;
    if (before > 0) --before;
  }
  if (!changed) {
    Node node;
    node.type = model::reference(indirect.entity);
    logical.nodes.push_back(node);
    changed = static_cast<std::uint32_t>(logical.nodes.size() - 1);
  }
  for (const Sub& sub : logical.subs) body.where.insert(body.where.end(), sub.body.where.begin(), sub.body.where.end());
  return narrate_all(program, logical, body, no_parameters, indirect.plan,
                     [&](Narrator& narrator) { narrator.know_instance(*changed, !indirect.reference_only); });
}

Narration narrate_by_identity(const Program& program, const Upkeep& upkeep) {
  if (!upkeep.by_identity) return {};
  const FamilyLogic& logic = program.logics[upkeep.family];
  std::vector<Expr> given;
  for (const std::uint32_t node : logic.body.nodes)
    for (Expr& expr : identity(logic.logical, node)) given.push_back(std::move(expr));
  return narrate_all(program, logic.logical, derived(logic), no_parameters, *upkeep.by_identity,
                     [&](Narrator& narrator) {
                       narrator.is_certain();
                       for (std::uint32_t i = 0; i < given.size(); ++i) narrator.know(i, given[i]);
                     });
}

double usual_length(const model::Model& model, const Expr& collection) {
  if (is_call(collection, Function::WordsOf) && collection.operands[0].kind == ExprKind::Field) {
    const Expr& text = collection.operands[0];
    return std::max(average_bytes(model, model.fields(text.operands[0].type)[text.index]) / letters_a_word, 1.0);
  }
  if (collection.kind == ExprKind::List) return static_cast<double>(collection.operands.size());
  const bool field = collection.kind == ExprKind::Field && (collection.operands[0].type.kind == TypeKind::Reference ||
                                                            collection.operands[0].type.kind == TypeKind::Value);
  if (!field) return unknown_length;
  return model.fields(collection.operands[0].type)[collection.index].statistic.count.value_or(unknown_length);
}

std::string family_label(const Design& design, std::uint32_t index) {
  const Family& family = design.families[index];
  const Collection& collection = design.collection_of(family);
  std::string out = model::written_name(collection.name);
  if (!family.name.empty()) out += "." + family.name;
  // Several of one path are told apart by what they are.
  std::size_t alike_base = 0;
  std::size_t alike_copies = 0;
  std::size_t ordinal = 0;
  for (const std::uint32_t f : collection.families) {
    const Family& other = design.families[f];
    if (other.name != family.name || other.purpose == Purpose::Refreshed) continue;
    ++(other.copy() ? alike_copies : alike_base);
    if (f == index) ordinal = other.copy() ? alike_copies : alike_base;
  }
  if (alike_base + alike_copies <= 1 || ordinal == 0) return out;
  const std::size_t same = family.copy() ? alike_copies : alike_base;
  return fmt::format("{} ({}{})", out, family.copy() ? "copy" : "base", same > 1 ? fmt::format(" {}", ordinal) : "");
}

}  // namespace noam::design
