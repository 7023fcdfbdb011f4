#include "noam/targets/oracle_nosql/pairs.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/schemas/plain.h"

namespace noam::targets::oracle_nosql {

using model::Datum;
using model::TypeKind;
namespace {

// As Key.toString() writes it (Java API, oracle.kv.Key): characters that are not allowed in the path of a URI, `/` and
// `%` as %XX, a lone `-` as %2D.
std::string component(std::string_view text) {
  constexpr std::string_view allowed = "-_.~!$&'()*+,;=:@[]";
  if (text == "-") return "%2D";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || byte >= 0x80 ||
                       allowed.find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string part_text(const model::Model& model, const Column& column, const Datum& datum) {
  if (datum.absent()) return "%00";  // no text begins with U+0000
  return component(text_of(model, column.type, datum));
}

// A key, given how its parts are written: those of the block, then those of the entry.
std::string key_text(const CollectionOutline& collection, const FamilyOutline& family,
                     const std::function<std::string(const Column&, bool block, std::size_t index)>& part) {
  std::string out = "/" + component(collection.name);
  for (std::size_t i = 0; i < collection.block.size(); ++i) out += "/" + part(collection.block[i], true, i);
  out += "/-";
  if (!family.path.empty()) out += "/" + component(family.path);
  // `games[0]`, as the figure has it; other keys are components of their own.
  const bool bracket = family.elements != TypeKind::Unknown && family.key.size() == 1;
  for (std::size_t i = 0; i < family.key.size(); ++i) {
    const std::string text = part(family.key[i], false, i);
    out += bracket ? fmt::format("[{}]", text) : "/" + text;
  }
  return out;
}

bool is_cell(const Column& column) { return column.place.kind == design::Place::Kind::Cell; }

// An entry under a path with one cell is that cell; else it is an object of its cells. The entry ε of an instance has
// the key of the instance, too. What noam keeps for itself is not there: the API has versions, and lists their pairs.
Json value_of(const model::Model& model, const CollectionOutline& collection, const FamilyOutline& family,
              const design::SampleEntry& entry) {
  const auto cells = std::count_if(family.values.begin(), family.values.end(), is_cell);
  if (cells == 1 && !family.path.empty()) {
    for (std::size_t i = 0; i < family.values.size(); ++i)
      if (is_cell(family.values[i])) return plain_json(model, family.values[i].type, entry.values[i]);
  }
  Json out = Json::object();
  const auto add = [&](const Column& column, const Datum& datum) {
    if (!datum.absent()) out[column.name] = plain_json(model, column.type, datum);
  };
  if (family.existence && family.path.empty())
    for (std::size_t i = 0; i < collection.block.size(); ++i)
      if (collection.block[i].attribute) add(collection.block[i], entry.block[i]);
  for (std::size_t i = 0; i < family.values.size(); ++i)
    if (is_cell(family.values[i])) add(family.values[i], entry.values[i]);
  return out;
}

}  // namespace

std::string pair_pattern(const CollectionOutline& collection, const FamilyOutline& family) {
  return key_text(collection, family,
                  [](const Column& column, bool, std::size_t) { return fmt::format("<{}>", column.name); });
}

std::string pairs_of(const Outline& outline, const design::Sample& sample) {
  const model::Model& model = outline.model();
  std::string out;
  for (const CollectionOutline& collection : outline.collections) {
    // Block by block, as the figures have them.
    std::map<std::vector<Datum>, std::string> blocks;
    for (const FamilyOutline& family : collection.families) {
      for (const design::SampleEntry& entry : sample.families[family.index]) {
        const Json value = value_of(model, collection, family, entry);
        if (value.is_null()) continue;
        const std::string key = key_text(collection, family, [&](const Column& column, bool block, std::size_t i) {
          return part_text(model, column, block ? entry.block[i] : entry.key[i]);
        });
        blocks[entry.block] += fmt::format("{}\t{}\n", key, value.dump());
      }
    }
    for (const auto& [block, lines] : blocks) out += lines;
  }
  return out;
}

}  // namespace noam::targets::oracle_nosql
