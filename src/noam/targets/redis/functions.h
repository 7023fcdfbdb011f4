#pragma once

#include <string>
#include <vector>

#include "noam/targets/redis/layout.h"
#include "noam/targets/statements.h"

// functions.lua: a library of Redis functions that change a block as a whole, and read entries in order.
namespace noam::targets::redis {

// `game_Player_games_put`
std::string function_name(const PlacedFamily& family, WriteKind kind);
std::string reading_function(const PlacedFamily& family);
std::string together_function(const Layout& layout);

// Lists in the entry: what may be appended to.
bool is_list(const Column& column);

std::string functions_file(const Layout& layout);

}  // namespace noam::targets::redis
