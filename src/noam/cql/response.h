#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "noam/cql/cell.h"
#include "noam/cql/failure.h"

namespace noam::cql {

// What became of a request: rows, or a failure. Cells and names point into it.
class Response {
 public:
  struct Held;  // of the driver

  Response();  // without rows
  explicit Response(Failure failure);
  explicit Response(std::unique_ptr<Held> held);
  Response(Response&&) noexcept;
  Response& operator=(Response&&) noexcept;
  ~Response();

  [[nodiscard]] bool ok() const { return !failure_; }
  [[nodiscard]] const Failure& failure() const;  // only if not ok

  // False if a condition did not hold. Then the rows have the values that were found.
  [[nodiscard]] bool applied() const { return applied_; }

  [[nodiscard]] std::size_t row_count() const { return row_count_; }
  [[nodiscard]] std::span<const Cell> row(std::size_t index) const;
  [[nodiscard]] std::size_t column_count() const { return column_count_; }
  [[nodiscard]] std::string_view column_name(std::size_t index) const;
  [[nodiscard]] std::string_view column_type(std::size_t index) const;  // as CQL writes it

  // For Request::paging_state; none: there are no more rows.
  [[nodiscard]] std::optional<std::string_view> paging_state() const;
  [[nodiscard]] std::optional<Uuid> trace_id() const;
  [[nodiscard]] std::string coordinator() const;  // `address:port` of the node that answered; empty: unknown
  [[nodiscard]] std::chrono::microseconds taken() const;

 private:
  void read_rows();

  std::unique_ptr<Held> held_;
  std::optional<Failure> failure_;
  std::vector<Cell> cells_;
  std::size_t row_count_ = 0;
  std::size_t column_count_ = 0;
  bool applied_ = true;
};

}  // namespace noam::cql
