#include "noam/stores/row_maker.h"

#include <algorithm>
#include <cstring>

#include "noam/model/ordered.h"
#include "noam/model/packed.h"

namespace noam::stores {

using design::Place;
using model::Datum;

namespace {

constexpr std::string_view packed_absent("\x00", 1);
constexpr std::string_view packed_empty_list("\x07\x01\x00", 3);

}  // namespace

RowMaker::RowMaker(const std::vector<design::ShownColumn>& columns, const Key& block,
                   const std::vector<bool>& descending)
    : descending_(descending) {
  std::size_t places = 0;
  for (const design::ShownColumn& column : columns) {
    for (const auto& [place, collection] : column.parts) {
      if (place.kind == Place::Kind::Key) key_parts_ = std::max<std::size_t>(key_parts_, place.index + 1);
      if (place.kind == Place::Kind::Cell) cells_ = std::max<std::size_t>(cells_, place.index + 1);
    }
    records_ += column.record ? 1 : 0;
    places += column.parts.size();
  }
  found_.resize(key_parts_ + cells_ + block.size());
  is_collection_.resize(cells_);
  block_.resize(block.size());
  columns_.reserve(columns.size());
  places_.reserve(places);
  for (const design::ShownColumn& column : columns) {
    for (const auto& [place, collection] : column.parts) {
      std::size_t at = place.index;
      if (place.kind == Place::Kind::Cell) {
        is_collection_[at] = static_cast<char>(collection);
        at += key_parts_;
      } else if (place.kind == Place::Kind::Block) {
        std::string& part = block_[at];
        if (part.empty()) model::append_packed(block[at], part);
        at += key_parts_ + cells_;
        found_[at] = part;
      }
      places_.push_back(&found_[at]);
    }
    columns_.push_back({places_.size(), column.record});
  }
}

bool RowMaker::find_key_parts(std::string_view key) {
  const std::size_t most = key.size() + key_parts_ * model::packed_beyond;
  if (key_.size() < most) key_.resize(most);
  char* end = key_.data();
  for (std::size_t i = 0; i < key_parts_; ++i) {
    const std::size_t size = model::pack_ordered(key, descending_[i], end);
    found_[i] = {end, size};
    end += size;
    if (size != 0) continue;
    Datum datum;
    if (!model::take_ordered(key, descending_[i], datum)) return false;
    others_.resize(key_parts_);
    others_[i].clear();
    model::append_packed(datum, others_[i]);
    found_[i] = others_[i];
  }
  return true;
}

bool RowMaker::find_cells(std::string_view value) {
  std::uint64_t count = 0;
  if (!model::take_varint(value, count) || count > value.size()) return false;
  std::string_view* cell = found_.data() + key_parts_;
  model::Packed looked_at;
  for (std::size_t i = 0; i < cells_; ++i, ++cell) {
    *cell = packed_absent;
    if (i < count) {
      const char* begin = value.data();
      if (!model::look_at_packed(value, looked_at)) return false;
      *cell = {begin, static_cast<std::size_t>(value.data() - begin)};
    }
    if (is_collection_[i] != 0 && *cell == packed_absent) *cell = packed_empty_list;
  }
  return true;
}

bool RowMaker::make(std::string_view key, std::string_view value, Key& out) {
  if (!find_key_parts(key) || !find_cells(value)) return false;
  std::size_t bytes = 0;
  for (const std::string_view* part : places_) bytes += part->size();
  char* list = chunks_.room(records_ * Datum::packed_list_room + bytes);
  char* end = list + records_ * Datum::packed_list_room;
  out.reserve(columns_.size());
  std::size_t at = 0;
  for (const Column& column : columns_) {
    const char* begin = end;
    const std::size_t parts = column.end - at;
    for (; at < column.end; ++at) {
      const std::string_view part = *places_[at];
      std::memcpy(end, part.data(), part.size());
      end += part.size();
    }
    std::string_view made(begin, static_cast<std::size_t>(end - begin));
    if (column.record) {
      out.push_back(Datum::packed_list_at(list, made, parts, chunks_.chunk(), chunks_.held()));
      list += Datum::packed_list_room;
    } else if (!model::take_packed(made, chunks_.chunk(), chunks_.held(), out.emplace_back())) {
      return false;
    }
  }
  return true;
}

}  // namespace noam::stores
