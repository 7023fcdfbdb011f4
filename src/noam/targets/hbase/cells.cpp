#include "noam/targets/hbase/cells.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "noam/targets/hbase/values.h"

namespace noam::targets::hbase {

using model::Datum;

namespace {

const std::string there(1, '\x01');

class Cells {
 public:
  explicit Cells(const Layout& layout) : layout_(layout), model_(layout.outline().model()) {}

  void add(const FamilyOutline& family, const design::SampleEntry& entry) {
    const PlacedFamily& placed = layout_.placed(family);
    const Table& table = layout_.table(family);
    const std::vector<Column>& block = table.collection->block;
    row_ = key_bytes(block, table.row, entry.block);
    before_.clear();
    column_family_ = placed.column_family;
    if (placed.shape == Shape::Elements) {
      add_element(placed, entry);
      return;
    }
    if (placed.shape == Shape::Entries) {
      before_ = key_bytes(family.key, placed.key, entry.key);
      if (placed.bare) {
        add_bare(placed, entry);
        return;
      }
      before_ += '\x00';
      add_parts(family.key, placed.key, entry.key);
    } else {
      add_parts(block, table.row, entry.block);
    }
    if (placed.version) put(*placed.version, int_bytes(1));
    if (placed.marker) put(*placed.marker, there);
    for (std::size_t i = 0; i < placed.names.size(); ++i)
      if (!placed.names[i].empty()) put_value(placed.names[i], family.values[i].type, entry.values[i]);
  }

  void take(const std::string& table, std::vector<StoredCell>& out) {
    for (auto& [at, value] : cells_)
      out.push_back({table, std::get<0>(at), std::get<1>(at), std::get<2>(at), std::move(value)});
  }

 private:
  void put(const std::string& name, std::string value) {
    cells_[{row_, column_family_, before_ + name}] = std::move(value);
  }
  void put_value(const std::string& name, const model::Type& type, const Datum& datum) {
    if (stored(type, datum)) put(name, cell_bytes(model_, type, datum));
  }

  void add_parts(const std::vector<Column>& columns, const Key& key, const std::vector<Datum>& values) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!key.names[i].empty()) put_value(key.names[i], columns[i].type, values[i]);
  }

  void add_bare(const PlacedFamily& placed, const design::SampleEntry& entry) {
    std::string value = there;
    for (std::size_t i = 0; i < placed.names.size(); ++i)
      if (!placed.names[i].empty()) value = cell_bytes(model_, placed.family->values[i].type, entry.values[i]);
    put({}, std::move(value));
  }

  void add_element(const PlacedFamily& placed, const design::SampleEntry& entry) {
    const FamilyOutline& family = *placed.family;
    const bool alone = family.values.empty();
    const Datum& shown = alone ? entry.key[0] : entry.values[0];
    const model::Type& type = (alone ? family.key[0] : family.values[0]).type;
    put(fmt::format("{}[{}]", placed.elements, element_text(model_, family, entry.key[0])),
        shown.absent() ? there : cell_bytes(model_, type, shown));
  }

  const Layout& layout_;
  const model::Model& model_;
  std::string row_;
  std::string column_family_;
  std::string before_;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> cells_;
};

}  // namespace

std::vector<StoredCell> stored_cells(const Layout& layout, const design::Sample& sample) {
  std::vector<StoredCell> out;
  for (const Table& table : layout.tables()) {
    Cells cells(layout);
    for (const FamilyOutline* family : table.families)
      for (const design::SampleEntry& entry : sample.families[family->index]) cells.add(*family, entry);
    cells.take(table.name, out);
  }
  return out;
}

}  // namespace noam::targets::hbase
