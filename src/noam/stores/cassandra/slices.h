#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "noam/model/datum.h"

// A range of entries as CQL can ask for it: some clustering columns equal, and the next one between bounds. A range
// between two keys of several parts can be several of these.
namespace noam::stores::cassandra {

// A value of a clustering column: how noam orders it, and how the column holds it.
struct KeyCell {
  model::Datum order;
  std::string bytes;

  bool operator==(const KeyCell&) const = default;
};

// The first cells of a key; without any, no bound. Keys that begin with just these belong to the range if inclusive.
struct KeyBound {
  std::vector<KeyCell> cells;
  bool inclusive = true;
};

struct Slice {
  struct End {
    std::string bytes;
    bool inclusive = true;

    bool operator==(const End&) const = default;
  };
  std::vector<std::string> equal;  // of the first columns
  std::optional<End> low;          // of the next column, in the order of its values
  std::optional<End> high;

  bool operator==(const Slice&) const = default;
};

// In the order of the clustering columns, of which `descending` says which count backwards. None: the range is empty.
std::vector<Slice> slices(const KeyBound& from, const KeyBound& to, const std::vector<bool>& descending);

}  // namespace noam::stores::cassandra
