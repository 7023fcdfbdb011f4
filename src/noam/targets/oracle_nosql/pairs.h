#pragma once

#include <string>

#include "noam/design/sample.h"
#include "noam/targets/outline.h"

// The same design as pairs of keys and values, for the key/value API: the paper's figures 4(a) and 4(b). The major key
// is the collection and the block key, the minor key the path of the entry.
namespace noam::targets::oracle_nosql {

// `/Player/<username>/-/games[<position>]`
std::string pair_pattern(const CollectionOutline& collection, const FamilyOutline& family);

// A line a pair: the key, a tab, the value as JSON.
std::string pairs_of(const Outline& outline, const design::Sample& sample);

}  // namespace noam::targets::oracle_nosql
