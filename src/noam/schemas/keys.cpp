#include "noam/schemas/keys.h"

#include <algorithm>

namespace noam::schemas {

using model::TypeKind;

std::string never_empty(const model::Datum& datum, std::string_view text) {
  if (datum.absent()) return std::string(1, '\0');
  if (text.empty() || text.front() == '\0') return std::string("\0\1", 2) + std::string(text);
  return std::string(text);
}

bool elements_of_block(const FamilyOutline& family) {
  return family.elements != TypeKind::Unknown && family.key.size() == 1;
}

bool same_key(const FamilyOutline& a, const FamilyOutline& b) {
  return std::equal(a.key.begin(), a.key.end(), b.key.begin(), b.key.end(), [](const Column& x, const Column& y) {
    return x.name == y.name && x.type == y.type && x.descending == y.descending;
  });
}

bool same_constants(const FamilyOutline& a, const FamilyOutline& b) {
  return std::equal(a.key.begin(), a.key.end(), b.key.begin(), b.key.end(),
                    [](const Column& x, const Column& y) { return x.constant == y.constant; });
}

std::size_t leading_constants(const FamilyOutline& family) {
  const auto end =
      std::find_if(family.key.begin(), family.key.end(), [](const Column& part) { return !part.constant; });
  return static_cast<std::size_t>(end - family.key.begin());
}

std::string name_apart(const FamilyOutline& family) {
  if (!family.path.empty()) return family.path;
  std::string out = "by";
  for (const Column& part : family.key) out += "_" + part.name;
  return out;
}

Groups group_families(const CollectionOutline& collection) {
  Groups out;
  for (const FamilyOutline& family : collection.families) {
    if (family.one_a_block() || elements_of_block(family)) {
      out.of_block.push_back(&family);
      continue;
    }
    const auto alike = std::find_if(out.keyed.begin(), out.keyed.end(),
                                    [&](const auto& group) { return same_key(*group.front(), family); });
    if (alike != out.keyed.end())
      alike->push_back(&family);
    else
      out.keyed.push_back({&family});
  }
  return out;
}

double key_bytes(const model::Model& model, const std::vector<Column>& parts) {
  double sum = 0;
  for (const Column& part : parts) {
    model::Field field;
    if (part.attribute) field = model.entity(part.attribute->entity).fields[part.attribute->field];
    // An element of a collection, or what is worked out of a field, has a type of its own.
    if (field.type.kind != part.type.kind) field.type = part.type;
    sum += model::average_bytes(model, field);
  }
  return sum;
}

bool always_there(const Column& column) {
  return !column.same_as && !column.type.optional && !column.type.is_collection() &&
         column.type.kind != TypeKind::Row && column.type.kind != TypeKind::Rows;
}

}  // namespace noam::schemas
