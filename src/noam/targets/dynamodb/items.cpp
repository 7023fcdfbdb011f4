#include "noam/targets/dynamodb/items.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "noam/model/ordered.h"
#include "noam/model/scalars.h"
#include "noam/targets/dynamodb/values.h"

namespace noam::targets::dynamodb {

using model::Datum;
namespace {

// The items of one table, in the order in which they come first.
class Items {
 public:
  Items(const Layout& layout, const Table& table) : layout_(layout), model_(layout.outline().model()), table_(table) {}

  void add(const FamilyOutline& family, const design::SampleEntry& entry) {
    Json& item = find(entry);
    const PlacedFamily& placed = layout_.placed(family);
    if (!placed.version.empty()) item[placed.version] = {{"N", "1"}};
    switch (placed.shape) {
      case Shape::Elements:
        add_element(item, placed, entry);
        break;
      case Shape::Map: {
        Json map = Json::object();
        add_values(map, placed, entry);
        item[placed.attribute] = {{"M", std::move(map)}};
        break;
      }
      case Shape::Plain:
        add_values(item, placed, entry);
        break;
    }
    if (placed.marked) item[placed.present] = {{"BOOL", true}};
  }

  void put(std::vector<Json>& out) {
    for (Json& item : items_) out.push_back({{"TableName", table_.name}, {"Item", std::move(item)}});
  }

 private:
  Json& find(const design::SampleEntry& entry) {
    Json item = Json::object();
    add_key(item, table_.partition, entry.block);
    if (table_.sort) add_key(item, *table_.sort, entry.key);
    const auto [at, made] = known_.try_emplace(item.dump(), items_.size());
    if (made) items_.push_back(std::move(item));
    return items_[at->second];
  }

  void add_key(Json& item, const Key& key, const std::vector<Datum>& values) const {
    if (!key.made) {
      item[key.attribute] = key_value(model_, key.parts[0].column->type, values[0]);
      return;
    }
    std::string bytes;
    for (std::size_t i = 0; i < values.size(); ++i)
      model::append_ordered(values[i], key.parts[i].column->descending, bytes);
    item[key.attribute] = {{"B", model::print_base64(bytes)}};
    for (std::size_t i = 0; i < values.size(); ++i)
      if (auto value = attribute_value(model_, key.parts[i].column->type, values[i]))
        item[key.parts[i].attribute] = *std::move(value);
  }

  void add_values(Json& item, const PlacedFamily& placed, const design::SampleEntry& entry) const {
    for (std::size_t i = 0; i < placed.names.size(); ++i) {
      if (placed.names[i].empty()) continue;
      if (auto value = attribute_value(model_, placed.family->values[i].type, entry.values[i]))
        item[placed.names[i]] = *std::move(value);
    }
  }

  void add_element(Json& item, const PlacedFamily& placed, const design::SampleEntry& entry) const {
    const FamilyOutline& family = *placed.family;
    const bool alone = family.values.empty();
    const Column& shown = alone ? family.key[0] : family.values[0];
    auto value = attribute_value(model_, shown.type, alone ? entry.key[0] : entry.values[0]);
    item[fmt::format("{}[{}]", placed.attribute, name_text(model_, family.key[0].type, entry.key[0]))] =
        value ? *std::move(value) : Json{{"NULL", true}};
  }

  const Layout& layout_;
  const model::Model& model_;
  const Table& table_;
  std::vector<Json> items_;
  std::map<std::string, std::size_t> known_;
};

}  // namespace

std::vector<Json> put_requests(const Layout& layout, const design::Sample& sample) {
  std::vector<Json> out;
  for (const Table& table : layout.tables()) {
    Items items(layout, table);
    for (const FamilyOutline* family : table.families)
      for (const design::SampleEntry& entry : sample.families[family->index]) items.add(*family, entry);
    items.put(out);
  }
  return out;
}

}  // namespace noam::targets::dynamodb
