#include "noam/cql/response.h"

#include <algorithm>

#include <arpa/inet.h>

#include "noam/base/check.h"
#include "noam/cql/options.h"
#include "noam/cql/response_held.h"

namespace noam::cql {

namespace {

Failure failure_of(const bridge::Outcome& outcome, Nature nature) {
  Failure failure{.kind = static_cast<FailureKind>(outcome.kind), .message = std::string(view(outcome.message))};
  if (outcome.code != -1) failure.code = outcome.code;
  failure.unknown = perhaps_applied(failure.kind, failure.code.has_value(), nature);
  failure.write_type = static_cast<WriteType>(outcome.write_type);
  failure.received = outcome.received;
  failure.required = outcome.required;
  return failure;
}

}  // namespace

Response::Response() = default;
Response::Response(Failure failure) : failure_(std::move(failure)) {}
Response::Response(Response&&) noexcept = default;
Response& Response::operator=(Response&&) noexcept = default;
Response::~Response() = default;

Response::Response(std::unique_ptr<Held> held) : held_(std::move(held)) {
  if (held_->outcome.kind != 0) {
    failure_ = failure_of(held_->outcome, held_->nature);
  } else {
    read_rows();
  }
}

// The driver has checked that the rows are whole, so what is cut off here is its mistake.
void Response::read_rows() {
  const bridge::Outcome& outcome = held_->outcome;
  row_count_ = outcome.row_count;
  column_count_ = outcome.column_count;
  cells_.reserve(row_count_ * column_count_);
  std::string_view rest = view(outcome.rows);
  while (cells_.size() < row_count_ * column_count_) {
    const auto cell = take_cell(rest);
    check(cell.has_value(), "rows are complete");
    cells_.push_back(*cell);
  }
  // Cassandra answers a condition so, and nothing else: no column of a table has this name.
  if (row_count_ > 0 && column_name(0) == "[applied]") {
    const auto applied = cells_.front().boolean();
    applied_ = applied && *applied;
  }
}

const Failure& Response::failure() const {
  check(failure_.has_value(), "a response is asked for its failure only if it has one");
  return *failure_;
}

std::span<const Cell> Response::row(std::size_t index) const {
  check(index < row_count_, "a response has this row");
  return std::span(cells_).subspan(index * column_count_, column_count_);
}

std::string_view Response::column_name(std::size_t index) const {
  check(index < column_count_, "a response has this column");
  return view(bridge::noam_cql_column_name(&held_->outcome, static_cast<std::uint32_t>(index)));
}

std::string_view Response::column_type(std::size_t index) const {
  check(index < column_count_, "a response has this column");
  return view(bridge::noam_cql_column_type(&held_->outcome, static_cast<std::uint32_t>(index)));
}

std::optional<std::string_view> Response::paging_state() const {
  if (!held_ || held_->outcome.has_more == 0) return std::nullopt;
  return view(held_->outcome.paging_state);
}

std::optional<Uuid> Response::trace_id() const {
  if (!held_ || held_->outcome.traced == 0) return std::nullopt;
  return std::to_array(held_->outcome.trace_id);
}

std::string Response::coordinator() const {
  if (!held_ || held_->outcome.node_port == 0) return {};
  const auto& node = held_->outcome.node;
  static constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  const bool is_v4 = std::equal(mapped.begin(), mapped.end(), node);
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? node + mapped.size() : node, text.data(), text.size());
  return show(ContactPoint{text.data(), held_->outcome.node_port});
}

std::chrono::microseconds Response::taken() const {
  return std::chrono::microseconds(held_ ? held_->outcome.microseconds : 0);
}

}  // namespace noam::cql
