#pragma once

#include <vector>

#include "noam/model/datum.h"

// Some data as it lies under a design: what a picture or an example of it shows.
namespace noam::design {

struct SampleEntry {
  std::vector<model::Datum> block;
  std::vector<model::Datum> key;
  std::vector<model::Datum> values;  // one a column: cells, then hidden ones

  bool operator==(const SampleEntry&) const = default;
};

struct Sample {
  // In the order of Design::families; each by its blocks, and in a block in the order of its keys. Those that noam
  // keeps for itself (Family::of_noam) are empty.
  std::vector<std::vector<SampleEntry>> families;
};

}  // namespace noam::design
