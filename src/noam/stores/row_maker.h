#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/stores/chunk.h"
#include "noam/stores/store.h"

namespace noam::stores {

// Makes rows of entries whose keys and values are bytes (encoding.h), without making the entries: what is not shown is
// not looked at, and a record stays packed.
class RowMaker {
 public:
  // The directions of the entry key's parts must outlive it.
  RowMaker(const std::vector<design::ShownColumn>& columns, const Key& block, const std::vector<bool>& descending);

  // False where the bytes are no entry.
  bool make(std::string_view key, std::string_view value, Key& out);

 private:
  bool find_key_parts(std::string_view key);
  bool find_cells(std::string_view value);

  struct Column {
    std::size_t end = 0;  // of its places
    bool record = false;
  };

  const std::vector<bool>& descending_;
  std::vector<Column> columns_;
  std::size_t records_ = 0;
  std::vector<const std::string_view*> places_;  // in found_, of all columns
  // What an entry consists of, packed, as far as it is shown: the parts of its key, its columns, the block's key.
  std::vector<std::string_view> found_;
  std::size_t key_parts_ = 0;
  std::size_t cells_ = 0;
  std::vector<char> is_collection_;  // each cell: an absent one is empty
  std::string key_;
  std::vector<std::string> others_;  // parts of the key that are neither ints nor strings
  std::vector<std::string> block_;
  Chunks chunks_;
};

}  // namespace noam::stores
