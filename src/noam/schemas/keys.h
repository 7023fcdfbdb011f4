#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/schemas/outline.h"

// What several targets ask of keys and families.
namespace noam::schemas {

// Where a database takes nothing empty: absent is the byte 0; what is empty or begins with it has the bytes 0 and 1
// before it. Ordinary texts stay as they are, and all sort as before.
std::string never_empty(const model::Datum& datum, std::string_view text);

// Its entries are the elements of a field of what the block is, told apart by one part.
bool elements_of_block(const FamilyOutline& family);

// The same names, types and orders.
bool same_key(const FamilyOutline& a, const FamilyOutline& b);
// Parts that are the same for all entries are the same in both.
bool same_constants(const FamilyOutline& a, const FamilyOutline& b);
// How many parts of the key, from the first on, are the same for all entries of the family.
std::size_t leading_constants(const FamilyOutline& family);

// What tells the entries of a family from others of its collection: its path, or `by_refreshed_position`.
std::string name_apart(const FamilyOutline& family);

// The families of a collection by where their entries can lie, each in their order.
struct Groups {
  std::vector<const FamilyOutline*> of_block;            // one a block, or elements of it
  std::vector<std::vector<const FamilyOutline*>> keyed;  // those with the same key together
};
Groups group_families(const CollectionOutline& collection);

// How many bytes these parts of a key take on average, by the model's statistics.
double key_bytes(const model::Model& model, const std::vector<Column>& parts);

// A value that every entry has, and which is not in its key.
bool always_there(const Column& column);

}  // namespace noam::schemas
