#pragma once

#include <string>
#include <vector>

#include "noam/design/sample.h"
#include "noam/targets/hbase/layout.h"

// Data as cells.
namespace noam::targets::hbase {

struct StoredCell {
  std::string table;
  std::string row;
  std::string column_family;
  std::string qualifier;
  std::string value;  // never empty

  bool operator==(const StoredCell&) const = default;
};

// Table by table, row by row; each once.
std::vector<StoredCell> stored_cells(const Layout& layout, const design::Sample& sample);

}  // namespace noam::targets::hbase
