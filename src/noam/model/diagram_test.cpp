#include "noam/model/diagram.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "noam/model/sample_for_tests.h"

namespace noam::model {
namespace {

using namespace sample;

TEST(Mermaid, DrawsEntitiesValuesAndRoles) {
  EXPECT_EQ(mermaid(blog()), R"(classDiagram
  direction LR
  class e0["User"] {
    <<#126;1_000_000>>
    username#58; text#40;20#41; key
    follows#58; set#60;User#62;
    addresses#58; map#60;text, Address#62;
  }
  class e1["Tweet"] {
    <<#126;50_000_000>>
    id#58; uuid key
    author#58; User
    at#58; timestamp
    content#58; text#40;#126;120#41;
    status#58; #34;draft#34; | #34;sent#34;
  }
  class e2["Visit"] {
    <<transient ≈150_000_000>>
    tweet#58; Tweet
    at#58; timestamp
    #40;hidden#41;#58; timeuuid key
  }
  class v0["Address"] {
    <<value>>
    street#58; text
    city#58; text#40;40#41;
    zip#58; text?
  }
  e0 "≈50" --> "#126;50" e0 : follows #47; followers
  e1 "#126;50" --> "1" e0 : author #47; tweets
  e2 "#126;3" --* "1" e1 : tweet #47; visits
  e0 *-- "#126;2" v0 : addresses
)");
}

TEST(Mermaid, EscapesEverySignThatCouldMeanSomething) {
  Model model;
  Entity entity;
  entity.name =
      "a\"]{}<>#;:~%%()\\`\n\xff"
      "é人";
  model.entities.push_back(entity);
  EXPECT_EQ(
      mermaid(model),
      "classDiagram\n  direction LR\n"
      "  class e0[\"a#34;#93;#123;#125;#60;#62;#35;#59;#58;#126;#37;#37;#40;#41;#92;#96;\uFFFD\uFFFDé人\"] {\n  }\n");
}

TEST(Dot, DrawsEntitiesValuesAndRoles) {
  const std::string drawn = dot(blog());
  const auto holds = [&](const std::string& part) { return drawn.find(part) != std::string::npos; };
  EXPECT_TRUE(holds("digraph \"blog\" {\n"));
  EXPECT_TRUE(holds("<B>User</B>  <FONT POINT-SIZE=\"9\">~1_000_000</FONT>"));
  EXPECT_TRUE(holds("<U>username</U>"));
  EXPECT_TRUE(holds("set&lt;User&gt; ~50"));
  EXPECT_TRUE(holds("e0:r1:e -> e0:head:e [dir=both, arrowhead=crow, arrowtail=crowodot, label=\"followers ≈50\"];"));
  EXPECT_TRUE(holds("e1:r1 -> e0:head [dir=both, arrowhead=tee, arrowtail=crowodot, label=\"tweets ~50\"];"));
  EXPECT_TRUE(holds("e2:r0 -> e1:head [dir=both, arrowhead=diamond, arrowtail=crowodot, label=\"visits ~3\"];"));
  EXPECT_TRUE(holds("e0:r2 -> v0:head [dir=both, arrowhead=none, arrowtail=diamond];"));
}

TEST(Dot, DrawsWhatLeadsBackFromTheLeft) {
  Model model = blog();
  model.entities[0].fields[Follows].type = collection_of(TypeKind::Set, reference(tweet));
  model.roles[RoleFollows].to = tweet;
  EXPECT_NE(dot(model).find("e0:head -> e1:l1 [dir=both, arrowhead=crowodot, arrowtail=tee, label=\"tweets ~50\"];"),
            std::string::npos);
}

TEST(Dot, EscapesNames) {
  Model model = blog();
  model.name = "a\"b\\c&";
  model.entities[0].name = "<\\N>&[x]\x01";
  model.roles[RoleAuthor].inverse = "\"];\\n";
  const std::string drawn = dot(model);
  const auto holds = [&](const std::string& part) { return drawn.find(part) != std::string::npos; };
  EXPECT_TRUE(holds("digraph \"a\\\"b\\\\c&amp;\" {\n"));
  EXPECT_TRUE(holds("<B>&lt;&#92;N&gt;&amp;&#91;x&#93;\uFFFD</B>"));
  EXPECT_TRUE(holds("label=\"\\\"];\\\\n ~50\"];"));
}

TEST(Diagrams, DrawReferencesInsideValues) {
  Model model = blog();
  model.values[0].fields.push_back(field("owner", reference(user)));
  model.values[0].fields.push_back(field("seen", map_of(reference(tweet), reference(tweet))));
  EXPECT_NE(mermaid(model).find("  v0 ..> \"1\" e0 : owner\n  v0 ..> \"#42;\" e1 : seen\n"), std::string::npos);
  EXPECT_NE(dot(model).find("  e0:head -> v0:l3 [dir=both, arrowhead=none, arrowtail=vee, style=dashed];\n"),
            std::string::npos);
}

TEST(Diagrams, DrawASymmetricRoleOnce) {
  Model model = blog();
  model.roles[RoleFollows].inverse = "follows";
  model.roles[RoleFollows].symmetric = true;
  EXPECT_NE(mermaid(model).find("  e0 \"#126;50\" -- \"#126;50\" e0 : follows\n"), std::string::npos);
}

TEST(Diagrams, SurviveWhatIsUnknown) {
  Model model = blog();
  model.entities[0].fields[Follows].type = Type();
  model.entities[0].fields[Addresses].type = collection_of(TypeKind::List, value_type(99));
  EXPECT_FALSE(mermaid(model).empty());
  EXPECT_FALSE(dot(model).empty());
  EXPECT_EQ(mermaid(Model()), "classDiagram\n  direction LR\n");
}

}  // namespace
}  // namespace noam::model
