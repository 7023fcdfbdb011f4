#pragma once

#include <string>
#include <vector>

#include "noam/targets/redis/layout.h"
#include "noam/targets/statements.h"

// functions.lua: a library of Redis functions that change a block as a whole, and read entries in order.
namespace noam::targets::redis {

// `game_Player_games_put`
std::string function_name(const PlacedFamily& family, WriteKind kind);
// Changes some columns of an entry: `game_Player_change`. Not of what is added to, nor of what is one value.
std::string changing_function(const PlacedFamily& family);
bool has_changing_function(const PlacedFamily& family);
// The names of its functions, without what they begin with: `put`, `change`.
std::vector<std::string> function_kinds(const PlacedFamily& family);
std::string reading_function(const PlacedFamily& family);
std::string together_function(const Layout& layout);

// The function that adds to the entries of the family erases one whose count comes to 0.
bool erases_by_adding(const Layout& layout, const PlacedFamily& family);

// Lists in the entry: what may be appended to.
bool is_list(const Column& column);

std::string functions_file(const Layout& layout);

}  // namespace noam::targets::redis
