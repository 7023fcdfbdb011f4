#include "noam/cql/cell.h"

#include <bit>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "noam/cql/decimal_bytes.h"
#include "noam/cql/numbers.h"

namespace noam::cql {

namespace {

Error null_error() { return {"the value is null", "value"}; }

Error size_error(std::size_t size, const char* type) {
  return {fmt::format("{} bytes are not a value of type {}", size, type), "value"};
}

Error cut_off() { return {"a value is cut off", "value"}; }

}  // namespace

Result<Cell> take_cell(std::string_view& bytes) {
  if (bytes.size() < 4) return cut_off();
  const auto size = number_of<std::int32_t>(bytes.substr(0, 4));
  bytes.remove_prefix(4);
  if (size < 0) return Cell();
  if (bytes.size() < static_cast<std::size_t>(size)) return cut_off();
  const Cell cell(bytes.substr(0, static_cast<std::size_t>(size)));
  bytes.remove_prefix(static_cast<std::size_t>(size));
  return cell;
}

Result<std::string_view> Cell::of_size(std::size_t size, const char* type) const {
  if (null_) return null_error();
  if (bytes_.size() != size) return size_error(bytes_.size(), type);
  return bytes_;
}

Result<std::string_view> Cell::text() const {
  if (null_) return null_error();
  return bytes_;
}

Result<bool> Cell::boolean() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(1, "boolean"));
  return bytes.front() != 0;
}

Result<std::int32_t> Cell::integer() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(4, "int"));
  return number_of<std::int32_t>(bytes);
}

Result<std::int64_t> Cell::bigint() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(8, "bigint"));
  return number_of<std::int64_t>(bytes);
}

Result<double> Cell::floating() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(8, "double"));
  return std::bit_cast<double>(number_of<std::int64_t>(bytes));
}

Result<Milliseconds> Cell::timestamp() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(8, "timestamp"));
  return Milliseconds(std::chrono::milliseconds(number_of<std::int64_t>(bytes)));
}

Result<std::chrono::sys_days> Cell::date() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(4, "date"));
  const std::int64_t days = std::int64_t{number_of<std::uint32_t>(bytes)} - (std::int64_t{1} << 31);
  return std::chrono::sys_days(std::chrono::days(static_cast<std::int32_t>(days)));
}

Result<Uuid> Cell::uuid() const {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, of_size(16, "uuid"));
  Uuid id{};
  bytes.copy(reinterpret_cast<char*>(id.data()), id.size());
  return id;
}

Result<std::string> Cell::decimal() const {
  if (null_) return null_error();
  return decimal_text(bytes_);
}

Result<std::string> Cell::inet() const {
  if (null_) return null_error();
  if (bytes_.size() != 4 && bytes_.size() != 16) return size_error(bytes_.size(), "inet");
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(bytes_.size() == 4 ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return std::string(text.data());
}

Result<std::vector<Cell>> Cell::collection(std::size_t cells_each) const {
  if (null_) return null_error();
  if (bytes_.size() < 4) return size_error(bytes_.size(), "collection");
  std::string_view rest = bytes_.substr(4);
  const auto count = number_of<std::int32_t>(bytes_.substr(0, 4));
  // Each cell has at least its size.
  if (count < 0 || static_cast<std::size_t>(count) * cells_each > rest.size() / 4) return cut_off();
  std::vector<Cell> cells;
  cells.reserve(static_cast<std::size_t>(count) * cells_each);
  while (cells.size() < static_cast<std::size_t>(count) * cells_each) {
    NOAM_ASSIGN_OR_RETURN(cells.emplace_back(), take_cell(rest));
  }
  if (!rest.empty()) return size_error(bytes_.size(), "collection");
  return cells;
}

Result<std::vector<Cell>> Cell::list() const { return collection(1); }

Result<std::vector<Cell>> Cell::map() const { return collection(2); }

Result<std::vector<Cell>> Cell::tuple() const {
  if (null_) return null_error();
  std::vector<Cell> cells;
  std::string_view rest = bytes_;
  while (!rest.empty()) {
    NOAM_ASSIGN_OR_RETURN(cells.emplace_back(), take_cell(rest));
  }
  return cells;
}

}  // namespace noam::cql
