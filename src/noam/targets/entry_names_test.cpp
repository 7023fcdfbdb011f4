#include "noam/targets/entry_names.h"

#include <gtest/gtest.h>

namespace noam::targets {
namespace {

FamilyOutline family(const char* path) {
  FamilyOutline out;
  out.path = path;
  return out;
}

TEST(EntryNames, ArePathsOrSayWhatIsThere) {
  const model::Model model;
  EntryNames names(model, {.longest = 40, .others = "_.", .reserved = {}});
  EXPECT_EQ(names.give(family("hours")), "hours");
  EXPECT_EQ(names.give(family("unique.members")), "unique.members");
  EXPECT_EQ(names.give(family("")), "entries");
  EXPECT_EQ(names.give(family("")), "copy");
  FamilyOutline follows = family("");
  Column kind;
  kind.name = "rel_type";
  kind.type = model::scalar(model::TypeKind::Text);
  kind.constant = std::string("follows");
  follows.key = {kind};
  EXPECT_EQ(names.give(follows), "follows");
  EXPECT_NE(names.give(family("hours")), "hours");
}

}  // namespace
}  // namespace noam::targets
