#include "tests/kept_list.h"

#include <utility>

#include <fmt/format.h>

#include "noam/compile/compile.h"
#include "tests/session_engine.h"

namespace noam::tests {

namespace {

using model::Datum;

const char* const teams = R"(
model teams

entity Team { id: int key }
entity Player { id: int key   team: Team inverse players   medals: list<text> }

command found($id) { insert Team { id: $id } }
command join($id, $team, $medals) { insert Player { id: $id, team: $team, medals: $medals } }
command leave($id) { delete Player[$id] }
query medals($team) { select p.id, m from Player p, p.medals m where p.team = $team }

design lists {
  collection shelves of Team t, t.players p, p.medals m by t.id as team { copy ε: medals [ p.id, m ] }
}
)";

Datum medal(std::int64_t player, const char* name) { return Datum::List{player, std::string(name)}; }

}  // namespace

std::optional<std::string> wrong_list() {
  const auto model = compile_model(language::SourceFile("teams.noam", teams));
  if (!model) return model.error().message;
  SessionEngine engine(**model, "lists");
  if (!engine.problem().empty()) return engine.problem();
  const auto run = [&](const char* command, Json params) {
    return engine.answer({{"run", command}, {"params", std::move(params)}}).value("outcome", "") == "applied";
  };
  const bool applied = run("found", {{"id", 1}}) &&
                       run("join", {{"id", 3}, {"team", 1}, {"medals", {"gold", "gold", "silver"}}}) &&
                       run("join", {{"id", 1}, {"team", 1}, {"medals", {"silver", "bronze"}}}) &&
                       run("join", {{"id", 2}, {"team", 1}, {"medals", {"gold"}}}) && run("leave", {{"id", 2}});
  if (!applied) return "a command was not applied";
  const design::Design& design = engine.session().program().design;
  for (std::uint32_t f = 0; f < design.families.size(); ++f) {
    if (design.collection_of(design.families[f]).name != "shelves") continue;
    const auto page = engine.store().scan(f, {}, nullptr, stores::no_deadline);
    if (!page) return page.error().message;
    if (page->items.size() != 1) return fmt::format("{} shelves", page->items.size());
    // Ordered as queries break ties: by the medal's position, then by the player.
    const Datum expected =
        Datum::List{medal(1, "silver"), medal(3, "gold"), medal(1, "bronze"), medal(3, "gold"), medal(3, "silver")};
    if (!(page->items[0].entry.columns[0] == expected)) return "the medals are not as they should be";
    return std::nullopt;
  }
  return "no shelves";
}

}  // namespace noam::tests
