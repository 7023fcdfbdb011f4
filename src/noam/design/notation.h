#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "noam/model/datum.h"
#include "noam/model/model.h"

// Keys and values as figures show them: ⟨game: Game:2345, opponent: Player:rick⟩.
namespace noam::design {

// A value that may be broken into lines between its members.
struct Notation {
  std::string text;  // all of it where it has no members; else what stands before them: `games: [`
  std::vector<Notation> members;
  std::string close;  // `]`

  bool operator==(const Notation& other) const;
};

// In one line.
std::string flat(const Notation& notation);
// Lines of at most so many columns. A member that does not fit into a line is broken, too; a scalar is cut, or where
// all of it matters, as in a key, goes on in the next line.
std::vector<std::string> lines_of(const Notation& notation, std::size_t width);
std::vector<std::string> whole_lines_of(const Notation& notation, std::size_t width);

// Values are ⟨…⟩ without what is absent, lists […], sets and maps {…}; texts are quoted.
Notation value_notation(const model::Model& model, const model::Type& type, const model::Datum& datum);
// A value that is not known: … where it is a scalar.
Notation value_placeholder(const model::Model& model, const model::Type& type);

// Part of a key: texts are quoted only where they would be mistaken.
std::string key_notation(const model::Model& model, const model::Type& type, const model::Datum& datum);

// What stands between `open` and `close`; with a name, behind `name: `.
Notation grouped_notation(const std::string& open, std::vector<Notation> members, const std::string& close);
Notation named(const std::string& name, Notation notation);

}  // namespace noam::design
