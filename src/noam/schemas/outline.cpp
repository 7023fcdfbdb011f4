#include "noam/schemas/outline.h"

#include <algorithm>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/design/explanation.h"
#include "noam/model/writing.h"

namespace noam::schemas {

using design::Design;
using design::Family;
using design::Hidden;
using design::HiddenKind;
using design::Place;
using design::Purpose;
using model::Expr;
using model::ExprKind;
using model::TypeKind;

namespace {

const std::vector<model::Parameter> no_parameters;

// Whether there is a value in each row, whatever its type says: an element may be missing, so may the target of a
// reference, and arithmetic may not fit.
bool always_has_value(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Constant:
    case ExprKind::Variable:
    case ExprKind::Slot:
    case ExprKind::Refreshed:
    case ExprKind::CountOf:
      return true;
    case ExprKind::Field:
      return !expr.type.optional && expr.operands[0].kind == ExprKind::Variable;
    case ExprKind::Fold:
      return expr.fold == model::Fold::Count || expr.fold == model::Fold::Sum;
    case ExprKind::Call:
      switch (expr.function) {
        case model::Function::Minute:
        case model::Function::Hour:
        case model::Function::Day:
        case model::Function::Week:
        case model::Function::Month:
        case model::Function::Year:
        case model::Function::Shard:
        case model::Function::MapKey:
        case model::Function::Position:
          return std::all_of(expr.operands.begin(), expr.operands.end(), always_has_value);
        default:
          return false;
      }
    default:
      return false;
  }
}

std::optional<Attribute> attribute_of(const Expr& expr) {
  if (expr.kind != ExprKind::Field || expr.operands[0].type.kind != TypeKind::Reference) return std::nullopt;
  return Attribute{expr.operands[0].type.entity(), expr.index};
}

model::Type cell_type(const model::Cell& cell) {
  if (cell.shape == model::CellShape::Plain) return cell.expr.type;
  model::Type type;
  type.kind = cell.shape == model::CellShape::Object ? TypeKind::Row : TypeKind::Rows;
  for (const model::Cell& inner : cell.cells) {
    type.names.push_back(inner.name);
    type.arguments.push_back(cell_type(inner));
  }
  return type;
}

class Outliner {
 public:
  Outliner(const model::Model& model, const Design& design, Own own) : model_(model), design_(design), own_(own) {}

  Outline run() {
    Outline out;
    out.of = &model_;
    out.design = &design_;
    for (std::uint32_t i = 0; i < design_.collections.size(); ++i) {
      const design::Collection& collection = design_.collections[i];
      if (collection.families.empty() || (own_ == Own::Without && design_.families[collection.families[0]].of_noam()))
        continue;
      out.collections.push_back(collection_outline(i, collection));
    }
    return out;
  }

 private:
  CollectionOutline collection_outline(std::uint32_t index, const design::Collection& collection) {
    CollectionOutline out;
    out.index = index;
    out.name = collection.name;
    out.options = collection.options;
    for (std::uint32_t i = 0; i < collection.by.size(); ++i)
      out.block.push_back(part(collection, collection.by[i], {Place::Kind::Block, i, {}}));
    for (const std::uint32_t f : collection.families) out.families.push_back(family_outline(f, collection));
    return out;
  }

  FamilyOutline family_outline(std::uint32_t index, const design::Collection& collection) {
    const Family& family = design_.families[index];
    FamilyOutline out;
    out.index = index;
    out.label = design::family_label(design_, index);
    out.path = family.name;
    out.base = family.purpose == Purpose::Base;
    out.existence = family.existence;
    out.limit = family.limit;
    if (family.elements) out.elements = owner(collection, family).fields[*family.elements].type.kind;
    for (std::uint32_t i = 0; i < family.key.size(); ++i) {
      Column column = part(collection, family.key[i], {Place::Kind::Key, i, {}});
      if (family.elements && !column.attribute) column.attribute = elements_of(collection, family);
      out.key.push_back(std::move(column));
    }
    for (std::uint32_t i = 0; i < family.cells.size(); ++i) out.values.push_back(cell(collection, family, i));
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i) out.values.push_back(hidden(collection, family, i));
    out.adds = family.added_to();
    for (std::uint32_t i = 0; i < family.cells.size(); ++i) {
      const Expr& expr = family.cells[i].expr;
      if (expr.kind == ExprKind::Fold && expr.fold == model::Fold::Count && expr.operands.empty()) out.vanishes = i;
    }
    for (std::uint32_t i = 0; i < family.hidden.size(); ++i)
      if (family.hidden[i].kind == HiddenKind::Weight)
        out.vanishes = static_cast<std::uint32_t>(family.cells.size()) + i;
    return out;
  }

  const model::Entity& owner(const design::Collection& collection, const Family& family) const {
    return model_.entity(collection.variables[family.from[0]].type.entity());
  }

  Attribute elements_of(const design::Collection& collection, const Family& family) const {
    return {collection.variables[family.from[0]].type.entity(), *family.elements};
  }

  std::string text(const design::Collection& collection, const Expr& expr) const {
    if (expr.kind == ExprKind::Constant && std::holds_alternative<std::monostate>(expr.constant)) return {};
    if (const auto attribute = attribute_of(expr)) {
      const model::Entity& entity = model_.entity(attribute->entity);
      return fmt::format("{}.{}", entity.name, entity.fields[attribute->field].name);
    }
    return model::written({model_, collection.variables, no_parameters}, expr);
  }

  Column part(const design::Collection& collection, const model::Part& part, Place place) const {
    Column out;
    out.name = part.name;
    out.type = part.expr.type;
    out.type.optional = out.type.optional || !always_has_value(part.expr);
    out.place = std::move(place);
    out.descending = part.descending;
    out.meaning = text(collection, part.expr);
    out.attribute = attribute_of(part.expr);
    if (out.attribute) {
      const auto& key = model_.entity(out.attribute->entity).key;
      out.identifies = std::find(key.begin(), key.end(), out.attribute->field) != key.end();
    }
    if (part.expr.kind == ExprKind::Constant && !std::holds_alternative<std::monostate>(part.expr.constant))
      out.constant = part.expr.constant;
    return out;
  }

  Column cell(const design::Collection& collection, const Family& family, std::uint32_t index) const {
    const model::Cell& cell = family.cells[index];
    Column out;
    out.name = cell.name;
    out.type = cell_type(cell);
    out.place = {Place::Kind::Cell, index, {}};
    if (cell.shape != model::CellShape::Plain) {
      std::vector<std::string> inner;
      for (const model::Cell& at : cell.cells) inner.push_back(at.name);
      out.meaning =
          fmt::format("{}: {}", cell.shape == model::CellShape::Object ? "one of" : "rows of", fmt::join(inner, ", "));
      return out;
    }
    out.meaning = text(collection, cell.expr);
    out.attribute = family.elements ? elements_of(collection, family) : attribute_of(cell.expr);
    const TypeKind kind = cell.expr.type.kind;
    out.counts = cell.expr.kind == ExprKind::Fold && kind == TypeKind::Int &&
                 (cell.expr.fold == model::Fold::Count || cell.expr.fold == model::Fold::Sum);
    // noam keeps a sum exactly, however large it is; whether it fits is asked when it is read.
    if (own_ == Own::With && out.counts && cell.expr.fold == model::Fold::Sum) out.type.kind = TypeKind::Decimal;
    const auto same = [&](const std::vector<model::Part>& parts, Place::Kind where) {
      for (std::uint32_t i = 0; i < parts.size() && !out.same_as; ++i)
        if (parts[i].expr.kind != ExprKind::Constant && model::same(parts[i].expr, cell.expr))
          out.same_as = Place{where, i, {}};
    };
    same(collection.by, Place::Kind::Block);
    same(family.key, Place::Kind::Key);
    return out;
  }

  Column hidden(const design::Collection& collection, const Family& family, std::uint32_t index) const {
    const Hidden& hidden = family.hidden[index];
    Column out;
    out.place = {Place::Kind::Hidden, index, {}};
    out.type = model::scalar(TypeKind::Int);
    switch (hidden.kind) {
      case HiddenKind::Weight:
        out.name = "noam_weight";
        out.counts = true;
        out.meaning = "how many rows share the entry; it goes with the last of them";
        break;
      case HiddenKind::Sum:
        out.name = "noam_sum_of_" + family.cells[hidden.of].name;
        out.type = model::scalar(TypeKind::Decimal);
        out.meaning = fmt::format("the exact sum behind {}", family.cells[hidden.of].name);
        break;
      case HiddenKind::Counted:
        out.name = "noam_count_of_" + family.cells[hidden.of].name;
        out.counts = true;
        out.meaning = fmt::format("how many values are in {}", family.cells[hidden.of].name);
        break;
      case HiddenKind::Due:
        out.name = "noam_due";
        out.type = model::optional(model::scalar(TypeKind::Timestamp));
        out.meaning = "when the instance expires";
        break;
      case HiddenKind::Elements: {
        const model::Field& field = owner(collection, family).fields[hidden.of];
        if (field.type.kind == TypeKind::List) {
          out.name = "noam_length_of_" + field.name;
          out.meaning = fmt::format("how long {} is", field.name);
        } else {
          out.name = "noam_keys_of_" + field.name;
          out.type = model::collection_of(TypeKind::List, field.type.arguments[0]);
          out.meaning = fmt::format("the keys of {}, whose elements lie elsewhere", field.name);
        }
        break;
      }
    }
    return out;
  }

  const model::Model& model_;
  const Design& design_;
  const Own own_;
};

}  // namespace

std::optional<std::string> CollectionOutline::option(std::string_view target, std::string_view option_name) const {
  for (const model::TargetOption& option : options)
    if (option.target == target && option.name == option_name)
      if (const auto* text = std::get_if<std::string>(&option.value.constant)) return *text;
  return std::nullopt;
}

const FamilyOutline& Outline::family(std::uint32_t index) const {
  for (const FamilyOutline& family : collection_of(index).families)
    if (family.index == index) return family;
  check(false, "a family is one of its collection");
  return collections[0].families[0];
}

const CollectionOutline& Outline::collection_of(std::uint32_t family) const {
  const std::uint32_t wanted = design->families[family].collection;
  const auto found = std::find_if(collections.begin(), collections.end(),
                                  [&](const CollectionOutline& collection) { return collection.index == wanted; });
  check(found != collections.end(), "a family that a target asks for is outlined");
  return *found;
}

Outline outline(const model::Model& model, const Design& design, Own own) { return Outliner(model, design, own).run(); }

std::vector<model::Type> key_types(const model::Model& model, const model::Type& reference) {
  std::vector<model::Type> out;
  const model::Entity& entity = model.entity(reference.entity());
  for (const std::uint32_t part : entity.key) out.push_back(entity.fields[part].type);
  return out;
}

}  // namespace noam::schemas
