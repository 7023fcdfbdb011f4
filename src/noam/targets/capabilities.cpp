#include "noam/targets/capabilities.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace noam::targets {

const char* limit_name(LimitKind kind) {
  switch (kind) {
    case LimitKind::UnitBytes:
      return "unit-bytes";
    case LimitKind::PartitionBytes:
      return "partition-bytes";
    case LimitKind::PartitionEntries:
      return "partition-entries";
    case LimitKind::ColumnFamilies:
      return "column-families";
    case LimitKind::Tables:
      return "tables";
    case LimitKind::KeyBytes:
      return "key-bytes";
    case LimitKind::ValueBytes:
      return "value-bytes";
    case LimitKind::ElementsInside:
      return "elements-inside";
    case LimitKind::TransactionEntries:
      return "transaction-entries";
  }
  return "";
}

std::string shown_amount(LimitKind kind, double value) {
  const bool bytes = kind == LimitKind::UnitBytes || kind == LimitKind::PartitionBytes || kind == LimitKind::KeyBytes ||
                     kind == LimitKind::ValueBytes;
  constexpr std::array byte_units = {" B", " kB", " MB", " GB", " TB", " PB"};
  constexpr std::array number_units = {"", " thousand", " million", " billion", " trillion", " quadrillion"};
  std::size_t unit = 0;
  // Small numbers stay as they are.
  while (value >= (bytes || unit > 0 ? 1000 : 10'000) && unit + 1 < byte_units.size()) {
    value /= 1000;
    ++unit;
  }
  const std::string number =
      value < 10 && value != std::floor(value) ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
  return number + (bytes ? byte_units[unit] : number_units[unit]);
}

std::vector<Warning> beyond(const Capabilities& capabilities, const std::vector<Measure>& measures) {
  std::vector<Warning> out;
  for (const Measure& measure : measures) {
    // The narrowest limit that is broken, hard ones first.
    const Limit* worst = nullptr;
    for (const Limit& limit : capabilities.limits) {
      if (limit.kind != measure.kind || measure.value <= limit.value) continue;
      if (worst == nullptr || (limit.hard && !worst->hard)) worst = &limit;
    }
    if (worst == nullptr) continue;
    const std::string comes = fmt::format("{} comes to {}", measure.subject, shown_amount(measure.kind, measure.value));
    const std::string most = shown_amount(worst->kind, worst->value);
    out.push_back({worst->hard ? "beyond-limit" : "beyond-advice",
                   worst->hard ? fmt::format("{}; {} has at most {}", comes, worst->about, most)
                               : fmt::format("{}; at most {} is advised for {}", comes, most, worst->about),
                   std::string(worst->remedy)});
  }
  return out;
}

}  // namespace noam::targets
