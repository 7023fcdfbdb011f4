#include "noam/design/notation.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/model/layout.h"
#include "noam/model/sample_for_tests.h"

namespace noam::design {

namespace {

using model::Datum;
using model::Type;
using model::TypeKind;
using Lines = std::vector<std::string>;

// Values and entities of two fields, and one whose key has two parts.
model::Model made() {
  model::Model out;
  model::Value info;
  info.name = "GameInfo";
  info.fields = {model::sample::field("game", model::reference(model::EntityId{0})),
                 model::sample::field("note", model::optional(model::sample::text()))};
  out.values.push_back(info);
  model::Entity game;
  game.name = "Game";
  game.fields = {model::sample::field("id", model::sample::text())};
  game.key = {0};
  out.entities.push_back(game);
  model::Entity part;
  part.name = "Part";
  part.fields = {model::sample::field("of", model::reference(model::EntityId{0})),
                 model::sample::field("number", model::sample::integer())};
  part.key = {0, 1};
  out.entities.push_back(part);
  return out;
}

std::string value(const Type& type, const Datum& datum) { return flat(value_notation(made(), type, datum)); }
std::string key(const Type& type, const Datum& datum) { return key_notation(made(), type, datum); }

}  // namespace

TEST(Notation, WritesScalarsAsTheLanguageDoes) {
  EXPECT_EQ(value(model::sample::text(), "a \"b\"\n"), R"("a \"b\"\n")");
  EXPECT_EQ(value(model::sample::integer(), 42), "42");
  EXPECT_EQ(value(model::scalar(TypeKind::Bool), true), "true");
  EXPECT_EQ(value(model::scalar(TypeKind::Timestamp), 0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(value(model::scalar(TypeKind::Date), 1), "1970-01-02");
  EXPECT_EQ(value(model::scalar(TypeKind::Inet), std::string("\4\x0A\0\0\1", 5)), "10.0.0.1");
  EXPECT_EQ(value(model::scalar(TypeKind::Uuid), std::string(16, '\0')), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(value(model::scalar(TypeKind::Bytes), std::string("\0\1", 2)), "AAE=");
  EXPECT_EQ(value(model::scalar(TypeKind::Json), "{\"a\":\n1}"), "{\"a\": 1}");
  EXPECT_EQ(value(model::optional(model::sample::text()), Datum()), "absent");
}

TEST(Notation, WritesWhatIsMadeOfOthers) {
  const Type info = model::sample::value_type(0);
  EXPECT_EQ(value(info, Datum::List{"2345", "fine"}), "⟨game: Game:2345, note: \"fine\"⟩");
  EXPECT_EQ(value(info, Datum::List{"2345", Datum()}), "⟨game: Game:2345⟩");
  EXPECT_EQ(value(model::collection_of(TypeKind::List, info), Datum::List{Datum::List{"1", Datum()}}),
            "[⟨game: Game:1⟩]");
  EXPECT_EQ(value(model::collection_of(TypeKind::Set, model::sample::integer()), Datum::List{1, 2}), "{1, 2}");
  EXPECT_EQ(value(model::sample::map_of(model::sample::text(), model::sample::integer()),
                  Datum::List{Datum::List{"x", 1}, Datum::List{"y y", 2}}),
            "{x: 1, \"y y\": 2}");
  EXPECT_EQ(value(model::collection_of(TypeKind::List, model::sample::integer()), Datum::List{}), "[]");
  EXPECT_EQ(value(model::collection_of(TypeKind::List, model::sample::integer()), Datum::List(9, Datum(1))),
            "[1, 1, 1, 1, 1, 1, … 3 more]");
}

TEST(Notation, QuotesTextsInKeysOnlyWhereTheyWouldBeMistaken) {
  EXPECT_EQ(key(model::sample::text(), "mary"), "mary");
  EXPECT_EQ(key(model::sample::text(), "mary ann"), "\"mary ann\"");
  EXPECT_EQ(key(model::sample::text(), "a]"), "\"a]\"");
  EXPECT_EQ(key(model::sample::text(), ""), "\"\"");
  EXPECT_EQ(key(model::sample::text(), "absent"), "\"absent\"");
  EXPECT_EQ(key(model::optional(model::sample::text()), Datum()), "absent");
  EXPECT_EQ(key(model::reference(model::EntityId{0}), "2345"), "Game:2345");
  EXPECT_EQ(key(model::reference(model::EntityId{1}), Datum::List{"2345", 1}), "Part:(Game:2345, 1)");
}

TEST(Notation, ShowsTheFormOfWhatIsNotKnown) {
  const model::Model model = made();
  const auto form = [&](const Type& type) { return flat(value_placeholder(model, type)); };
  EXPECT_EQ(form(model::sample::text()), "…");
  EXPECT_EQ(form(model::reference(model::EntityId{0})), "Game:…");
  EXPECT_EQ(form(model::collection_of(TypeKind::List, model::sample::value_type(0))), "[⟨game: Game:…, note: …⟩, …]");
  EXPECT_EQ(form(model::collection_of(TypeKind::Set, model::sample::text())), "{…}");
  EXPECT_EQ(form(model::sample::map_of(model::sample::text(), model::sample::text())), "{…: …, …}");
}

TEST(Notation, IsBrokenBetweenMembers) {
  const Notation notation =
      grouped_notation("⟨",
                       {named("name", {"\"Mary\"", {}, ""}),
                        named("games", grouped_notation("[", {{"one", {}, ""}, {"two", {}, ""}}, "]"))},
                       "⟩");
  EXPECT_EQ(lines_of(notation, 40), Lines{"⟨name: \"Mary\", games: [one, two]⟩"});
  EXPECT_EQ(lines_of(notation, 25), (Lines{"⟨name: \"Mary\",", " games: [one, two]⟩"}));
  EXPECT_EQ(lines_of(notation, 18), (Lines{"⟨name: \"Mary\",", " games: [", "   one,", "   two]⟩"}));
}

TEST(Notation, NeverTakesMoreThanItsWidth) {
  const Notation inner = grouped_notation("[", {{"\"a long text\"", {}, ""}, {"\"another long text\"", {}, ""}}, "]");
  const Notation notation = grouped_notation("⟨", {named("first_of_them", inner), named("second", inner)}, "⟩");
  for (std::size_t width = 1; width < 70; ++width) {
    for (const std::string& line : lines_of(notation, width)) EXPECT_LE(model::display_width(line), width) << line;
    for (const std::string& line : whole_lines_of(notation, width))
      EXPECT_LE(model::display_width(line), width) << line;
  }
}

TEST(Notation, OfAKeyGoesOnInTheNextLine) {
  const Notation uuid{"95018ebd-91a2-e1a4-de75-987f0901e271", {}, ""};
  EXPECT_EQ(lines_of(uuid, 20), Lines{"95018ebd-91a2-e1a4-…"});
  EXPECT_EQ(whole_lines_of(uuid, 20), (Lines{"95018ebd-91a2-e1a4-", "de75-987f0901e271"}));
  EXPECT_EQ(whole_lines_of({"\"日本語日本語\"", {}, ""}, 7), (Lines{"\"日本語", "日本語\""}));
}

}  // namespace noam::design
