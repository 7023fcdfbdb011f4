#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "noam/stores/store.h"

// Keys as bytes that can be read again: a letter for the kind of each datum, and its value, numbers of 8 bytes from the
// lowest. Not in the order of the keys, and not made to be kept for years.
namespace noam::stores {

void write_number(std::uint64_t number, std::string& out);
void write_key(const Key& key, std::string& out);

// Reads what the above wrote, one after the other; where it is something else, `failed`, and everything from there on
// is nothing.
class KeyReader {
 public:
  explicit KeyReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  Key key();

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view bytes(std::uint64_t count);
  std::string string() { return std::string(bytes(number())); }
  model::Datum datum();

  std::string_view rest_;
  bool failed_ = false;
  unsigned depth_ = 0;
};

}  // namespace noam::stores
