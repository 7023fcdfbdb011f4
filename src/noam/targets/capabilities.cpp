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

std::string shown_amount(const Limit& limit, double value) {
  const bool bytes = limit.unit.empty();
  constexpr std::array byte_units = {" B", " kB", " MB", " GB", " TB", " PB"};
  constexpr std::array number_units = {"", " thousand", " million", " billion", " trillion", " quadrillion"};
  std::string number;
  // What is small is told exactly: many limits are powers of two, less one.
  if (value < (bytes ? 1e5 : 1e6)) {
    number = fmt::format("{:.0f}", std::ceil(value));
    if (number.size() > 3) number.insert(number.size() - 3, ",");
    if (bytes) number += byte_units[0];
  } else {
    std::size_t unit = 0;
    for (; value >= 1000 && unit + 1 < byte_units.size(); ++unit) value /= 1000;
    number = value < 10 && value != std::floor(value) ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
    number += bytes ? byte_units[unit] : number_units[unit];
  }
  return bytes ? number : fmt::format("{} {}", number, limit.unit);
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
    const std::string comes = fmt::format("{} reaches {}", measure.subject, shown_amount(*worst, measure.value));
    const std::string most = shown_amount(*worst, worst->value);
    out.push_back({worst->hard ? "beyond-limit" : "beyond-advice",
                   worst->hard ? fmt::format("{}; {} has at most {}", comes, worst->about, most)
                               : fmt::format("{}; {} should have at most {}", comes, worst->about, most),
                   std::string(worst->remedy)});
  }
  return out;
}

}  // namespace noam::targets
