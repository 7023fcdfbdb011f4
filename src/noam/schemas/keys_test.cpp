#include "noam/schemas/keys.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace noam::schemas {
namespace {

using model::Datum;

TEST(NeverEmpty, KeepsTheOrderAndOrdinaryTexts) {
  const std::vector<std::string> ordered = {
      never_empty(Datum(), ""),
      never_empty(Datum(std::string()), ""),
      never_empty(Datum(std::string("\0", 1)), std::string("\0", 1)),
      never_empty(Datum(std::string("a")), "a"),
  };
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end()));
  EXPECT_EQ(ordered.back(), "a");
  EXPECT_EQ(ordered.front(), std::string(1, '\0'));
}

Column part(const char* name, std::optional<model::Literal> constant = {}) {
  Column out;
  out.name = name;
  out.type = model::scalar(model::TypeKind::Text);
  out.constant = std::move(constant);
  return out;
}

TEST(Keys, AreTheSameWhateverIsConstant) {
  FamilyOutline follows;
  follows.key = {part("type", model::Literal(std::string("follows"))), part("name")};
  FamilyOutline followers = follows;
  EXPECT_TRUE(same_constants(follows, followers));
  followers.key[0].constant = model::Literal(std::string("follower"));
  EXPECT_TRUE(same_key(follows, followers));
  EXPECT_FALSE(same_constants(follows, followers));
  EXPECT_EQ(leading_constants(follows), 1U);
  followers.key[1].descending = true;
  EXPECT_FALSE(same_key(follows, followers));
}

TEST(Keys, GroupFamilies) {
  CollectionOutline collection;
  collection.families.resize(4);
  collection.families[1].key = {part("day")};
  collection.families[2].key = {part("position")};
  collection.families[2].elements = model::TypeKind::List;
  collection.families[3].key = {part("day")};
  collection.families[3].path = "days";
  const Groups groups = group_families(collection);
  const auto* all = collection.families.data();
  EXPECT_EQ(groups.of_block, (std::vector<const FamilyOutline*>{all, all + 2}));
  ASSERT_EQ(groups.keyed.size(), 1U);
  EXPECT_EQ(groups.keyed[0], (std::vector<const FamilyOutline*>{all + 1, all + 3}));
  EXPECT_EQ(name_apart(collection.families[1]), "by_day");
  EXPECT_EQ(name_apart(collection.families[3]), "days");
}

TEST(Keys, TakeTheBytesOfTheirParts) {
  model::Model model;
  model.entities.emplace_back();
  model::Field field;
  field.name = "name";
  field.type = model::scalar(model::TypeKind::Text);
  field.about_bytes = 300;
  model.entities[0].fields.push_back(field);
  Column name = part("name");
  name.attribute = Attribute{static_cast<model::EntityId>(0), 0};
  Column length = name;  // worked out of the field, and no text
  length.type = model::scalar(model::TypeKind::Int);
  EXPECT_EQ(key_bytes(model, {name}), 300);
  EXPECT_EQ(key_bytes(model, {name, length}), 308);
  EXPECT_EQ(key_bytes(model, {}), 0);
}

}  // namespace
}  // namespace noam::schemas
