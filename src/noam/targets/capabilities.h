#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/schemas/outline.h"

// What a database can do, and how much of it: as data, with the source of each figure beside it where it is written.
namespace noam::targets {

// What is limited. A target measures its own units: a partition, an item, a document, a row.
enum class LimitKind : std::uint8_t {
  UnitBytes,       // of what is stored and found as one: a document, an item, a row of a wide table
  PartitionBytes,  // of what lies together under one key
  PartitionEntries,
  ColumnFamilies,  // of one table
  Tables,
  KeyBytes,        // of what an entry is found by
  ValueBytes,      // of a single value or column
  ElementsInside,  // of a collection inside a unit
  TransactionEntries,
};
const char* limit_name(LimitKind kind);

struct Limit {
  LimitKind kind = LimitKind::UnitBytes;
  double value = 0;
  bool hard = true;            // the database refuses more; else it gets slow
  std::string_view about;      // `a document`, `a partition`
  std::string_view remedy;     // what to do where a design goes beyond it
  std::string_view unit = {};  // of what is counted: `cells`; empty: bytes
};

struct Capabilities {
  std::string_view atomic;       // what one request changes as a whole
  std::string_view conditional;  // writes that depend on what is there
  std::string_view order;        // of entries under one key
  std::string_view counters;     // and whether adding twice adds twice
  std::string_view expiry;
  std::span<const Limit> limits;
};

// Something that a design comes to under its statistics.
struct Measure {
  LimitKind kind = LimitKind::UnitBytes;
  std::string subject;  // `a document of Game`
  double value = 0;
};

using schemas::Warning;

// Where a measure is beyond a limit of its kind.
std::vector<Warning> beyond(const Capabilities& capabilities, const std::vector<Measure>& measures);

// So much of what the limit is of, as people say it: `16 MB`, `65,535 B`, `2 billion cells`.
std::string shown_amount(const Limit& limit, double value);

}  // namespace noam::targets
