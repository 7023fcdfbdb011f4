#include "noam/model/model.h"

#include <algorithm>
#include <unordered_map>

namespace noam::model {

namespace {

bool same(const Select& a, const Select& b);

bool same(const std::optional<Expr>& a, const std::optional<Expr>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

bool same(const Column& a, const Column& b) {
  return a.name == b.name && a.aggregate == b.aggregate && a.without == b.without && same(a.expr, b.expr);
}

bool same(const OrderTerm& a, const OrderTerm& b) { return a.descending == b.descending && same(a.expr, b.expr); }

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}

bool same(const Select& a, const Select& b) {
  return a.distinct == b.distinct && a.folded == b.folded && a.shape == b.shape && a.from == b.from &&
         same(a.columns, b.columns) && same(a.where, b.where) && same(a.group_by, b.group_by) &&
         same(a.order_by, b.order_by) && same(a.limit, b.limit);
}

// What a person did not say: a text of some words, a collection that fits on a page.
constexpr double usual_text = 20;
constexpr double usual_bytes = 100;
constexpr double usual_json = 200;
constexpr double usual_length = 10;

double at_most(double usual, std::uint32_t limit) { return limit == 0 ? usual : std::min<double>(usual, limit); }

// What was worked out already: a value used in many places is summed once. What is being worked out counts as nothing,
// so that circles, which were reported, end.
struct Sizes {
  std::unordered_map<std::uint32_t, double> values;
  std::unordered_map<std::uint32_t, double> keys;
};

double average_bytes(const Model& model, const Type& type, std::optional<double> about, std::optional<double> count,
                     Sizes& sizes);

double average_bytes(const Model& model, const Field& field, Sizes& sizes) {
  return average_bytes(model, field.type, field.about_bytes, field.statistic.count, sizes);
}

// `about` is of the text inside, `count` of the collection.
double average_bytes(const Model& model, const Type& type, std::optional<double> about, std::optional<double> count,
                     Sizes& sizes) {
  switch (type.kind) {
    case TypeKind::Unknown:
      return 0;
    case TypeKind::Bool:
      return 1;
    case TypeKind::Date:
    case TypeKind::Inet:
      return 4;
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Decimal:
    case TypeKind::Timestamp:
    case TypeKind::Duration:
      return 8;
    case TypeKind::Uuid:
    case TypeKind::TimeUuid:
      return 16;
    case TypeKind::Text:
      return about.value_or(at_most(usual_text, type.max_length));
    case TypeKind::Bytes:
      return about.value_or(at_most(usual_bytes, type.max_length));
    case TypeKind::Json:
      return about.value_or(usual_json);
    case TypeKind::Enumeration: {
      double sum = 0;
      for (const auto& name : type.names) sum += static_cast<double>(name.size());
      return type.names.empty() ? 0 : sum / static_cast<double>(type.names.size());
    }
    case TypeKind::Reference: {
      if (type.id >= model.entities.size()) return 0;
      if (!sizes.keys.emplace(type.id, 0).second) return sizes.keys[type.id];
      const Entity& entity = model.entities[type.id];
      double sum = 0;
      for (const auto part : entity.key)
        if (part < entity.fields.size()) sum += average_bytes(model, entity.fields[part], sizes);
      return sizes.keys[type.id] = sum;
    }
    case TypeKind::Value: {
      if (type.id >= model.values.size()) return 0;
      if (!sizes.values.emplace(type.id, 0).second) return sizes.values[type.id];
      double sum = 0;
      for (const auto& field : model.values[type.id].fields) sum += average_bytes(model, field, sizes);
      return sizes.values[type.id] = sum;
    }
    case TypeKind::List:
    case TypeKind::Set:
    case TypeKind::Map:
    case TypeKind::Row:
    case TypeKind::Rows: {
      double sum = 0;
      for (std::size_t i = 0; i < type.arguments.size(); ++i) {
        const bool last = i + 1 == type.arguments.size();
        sum += average_bytes(model, type.arguments[i], last ? about : std::nullopt, std::nullopt, sizes);
      }
      return type.kind == TypeKind::Row ? sum : sum * count.value_or(usual_length);
    }
  }
  return 0;
}

}  // namespace

// Not defaulted: clang 14 dies of a defaulted comparison that meets itself inside a vector.
bool Expr::operator==(const Expr& other) const {
  return kind == other.kind && function == other.function && fold == other.fold && distinct == other.distinct &&
         index == other.index && type == other.type && constant == other.constant && operands == other.operands &&
         select == other.select && span == other.span;
}

bool same(const Expr& a, const Expr& b) {
  return a.kind == b.kind && a.function == b.function && a.fold == b.fold && a.distinct == b.distinct &&
         a.index == b.index && a.type == b.type && a.constant == b.constant && same(a.operands, b.operands) &&
         same(a.select, b.select);
}

double average_bytes(const Model& model, const Field& field) {
  Sizes sizes;
  return average_bytes(model, field, sizes);
}

double average_bytes(const Model& model, const Entity& entity) {
  Sizes sizes;
  double sum = 0;
  for (const auto& field : entity.fields) sum += average_bytes(model, field, sizes);
  return sum;
}

}  // namespace noam::model
