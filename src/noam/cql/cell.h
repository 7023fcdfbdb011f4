#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/result.h"
#include "noam/cql/values.h"

namespace noam::cql {

// One value of a row, or one element of such a value. It points into the response that it is from.
//
// Each reader is for one CQL type. It returns an error if the cell is null or if its size is not one of that type; the
// bytes do not say which type they are of.
class Cell {
 public:
  Cell() = default;                                                       // null
  explicit Cell(std::string_view bytes) : bytes_(bytes), null_(false) {}  // which may be empty

  [[nodiscard]] bool is_null() const { return null_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }  // of null: empty

  [[nodiscard]] Result<std::string_view> text() const;
  [[nodiscard]] Result<std::string_view> blob() const { return text(); }
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::int32_t> integer() const;
  [[nodiscard]] Result<std::int64_t> bigint() const;  // and counter
  [[nodiscard]] Result<double> floating() const;      // the type double
  [[nodiscard]] Result<Milliseconds> timestamp() const;
  [[nodiscard]] Result<std::chrono::sys_days> date() const;
  [[nodiscard]] Result<Uuid> uuid() const;            // and timeuuid
  [[nodiscard]] Result<std::string> decimal() const;  // see decimal_bytes.h
  [[nodiscard]] Result<std::string> inet() const;

  [[nodiscard]] Result<std::vector<Cell>> list() const;   // and set
  [[nodiscard]] Result<std::vector<Cell>> map() const;    // key, value, key, value, …
  [[nodiscard]] Result<std::vector<Cell>> tuple() const;  // and user-defined types; those at the end may be missing

 private:
  [[nodiscard]] Result<std::string_view> of_size(std::size_t size, const char* type) const;
  [[nodiscard]] Result<std::vector<Cell>> collection(std::size_t cells_each) const;

  std::string_view bytes_;
  bool null_ = true;
};

// Takes a cell from the front: a size, and so many bytes. An error if they are cut off.
Result<Cell> take_cell(std::string_view& bytes);

}  // namespace noam::cql
