// An evening of the social game (../game), from a C++ program: it opens the model with the library, under several
// designs, plays the same game on each, and sees the same.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "noam/compile/compile.h"
#include "noam/language/source.h"
#include "noam/model/command_id.h"
#include "noam/model/datum.h"
#include "noam/runtime/session.h"
#include "noam/stores/memory.h"

namespace {

using noam::model::Datum;
using noam::runtime::Arguments;
using noam::runtime::Outcome;
using noam::runtime::OutcomeKind;
using noam::runtime::Session;

// From a text to a checked model. The error says what is wrong with the text, as `noam check` does.
noam::Result<noam::ModelPointer> read_model(const std::string& path) {
  NOAM_ASSIGN_OR_RETURN(const auto source, noam::language::read_source(path));
  return noam::compile_model(source);
}

// Three outcomes, never two.
std::string told(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::Applied:
      return "applied";
    case OutcomeKind::Refused:
      return fmt::format("refused, {}", outcome.code);
    case OutcomeKind::Unknown:
      return fmt::format("unknown, {}", outcome.reason);
  }
  return {};
}

std::string text_or(const Datum& datum, const char* otherwise) {
  return datum.absent() ? otherwise : std::string(datum.as_string());
}

// A value is the list of its fields: of a Round, moves, comments, actions and spell. A Datum() is absent.
Datum a_round(const char* moves, const Datum& spell = {}) { return Datum::List{moves, Datum(), Datum(), spell}; }

// One evening, as it was seen. An error is one of the store: the model and this program do not change.
noam::Result<std::string> play(Session& session) {
  std::string seen;
  const auto does = [&](std::string_view what, const Outcome& outcome) {
    seen += fmt::format("{:<44}{}\n", what, told(outcome));
  };
  // Parameters have the types that the model gave them: texts here, a Round below.
  const auto player = [&](const char* username, const char* first, const char* last) {
    return session.command("new_player", {{"username", username}, {"first_name", first}, {"last_name", last}});
  };
  const auto adds = [&](const Datum& round) {
    return session.command("add_round_checked", {{"id", "g1"}, {"round", round}});
  };

  does("mary comes", player("mary", "Mary", "Wilson"));
  does("rick comes", player("rick", "Ricky", "Doe"));
  does("a second mary comes", player("mary", "Maria", "Wolff"));
  does("mary challenges rick", session.command("start_game", {{"id", "g1"}, {"first", "mary"}, {"second", "rick"}}));
  does("mary challenges nobody", session.command("start_game", {{"id", "g2"}, {"first", "mary"}, {"second", "tom"}}));
  does("the first round", adds(a_round("e4 e5")));
  does("mary casts lightning", adds(a_round("Nf3 Nc6", "lightning")));
  does("rick casts lightning, too: once a game", adds(a_round("Bb5 a6", "lightning")));
  does("a round in a game that is not there", session.command("add_round", {{"id", "g9"}, {"round", a_round("e4")}}));

  // A command has an id. Whoever does not know what became of it repeats it with the same: it never applies twice.
  const auto id = noam::model::make_command_id(noam::runtime::system_time(), 1, 2);
  does("mary wins a point", session.command("win", {{"username", "mary"}}, id));
  does("the answer was lost, so again, the same id", session.command("win", {{"username", "mary"}}, id));

  // Rows have the columns of the query's `select`, in their order.
  NOAM_ASSIGN_OR_RETURN(const auto mary, session.query("player", {{"username", "mary"}}));
  const Datum::List& fields = mary.rows[0][0].as_list();  // `select p`: username, first_name, last_name, score, games
  seen += fmt::format("\n{} {} has {} point\n", fields[1].as_string(), fields[2].as_string(), fields[3].as_int());
  NOAM_ASSIGN_OR_RETURN(const auto games, session.query("games_of", {{"username", "mary"}}));
  for (const auto& row : games.rows)
    seen += fmt::format("  plays {} against {} ({})\n", row[0].as_string(), row[1].as_string(),
                        text_or(row[2], "who is not there"));
  NOAM_ASSIGN_OR_RETURN(const auto spells, session.query("spells", {{"id", "g1"}}));
  for (const auto& row : spells.rows)
    seen += fmt::format("  in round {} of g1: {}\n", row[0].as_int(), row[1].as_string());
  return seen;
}

int failed(const noam::Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: example_library game.noam\n");
    return EXIT_FAILURE;
  }
  const auto model = read_model(argv[1]);
  if (!model) return failed(model.error());

  std::string first;
  for (const char* design : {"eao", "etf", "figure8", "figure11"}) {
    // The store must outlive the session.
    const auto store = noam::stores::open_memory_store();
    auto program = noam::compile_program(*model, design);
    if (!program) return failed(program.error());
    const auto session = Session::open(std::move(*program), *store);
    if (!session) return failed(session.error());
    const auto seen = play(**session);
    if (!seen) return failed(seen.error());
    if (first.empty()) {
      first = *seen;
      fmt::print("{}\n", first);
    }
    fmt::print("under {:<10}{}\n", design, *seen == first ? "the same evening" : "ANOTHER EVENING:\n" + *seen);
  }
  return EXIT_SUCCESS;
}
