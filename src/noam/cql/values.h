#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "noam/base/result.h"

namespace noam::cql {

using Uuid = std::array<std::uint8_t, 16>;
using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

// Values in a row, in the format of the protocol (version 4, section 6). They are the bound values of a statement, or
// the elements of a collection, a tuple or a user-defined type, which is a value again:
//
//   Values round;
//   round.integer(3).text("e4");
//   Values values;
//   values.text("g1").tuple(round).null();
class Values {
 public:
  Values& null();
  Values& unset();  // of a bound value: leaves the column as it is

  Values& text(std::string_view text);  // UTF-8, which the server checks
  Values& blob(std::string_view bytes);
  Values& boolean(bool value);
  Values& integer(std::int32_t value);
  Values& bigint(std::int64_t value);
  Values& floating(double value);  // the type double
  Values& timestamp(Milliseconds moment);
  Values& date(std::chrono::sys_days day);
  Values& uuid(const Uuid& id);                   // and timeuuid
  Result<void> decimal(std::string_view number);  // see decimal_bytes.h; adds nothing if there is an error
  Result<void> inet(std::string_view address);    // likewise; IPv4 or IPv6

  Values& list(const Values& elements);  // and set, whose elements the server sorts
  Values& map(const Values& keys_and_values);
  Values& tuple(const Values& fields);  // and user-defined types; fields may be missing at the end

  // All of the others behind these.
  Values& append(const Values& others);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  void clear();

  bool operator==(const Values&) const = default;

 private:
  Values& add(std::string_view value);
  template <typename Number>
  Values& add_number(Number number);
  Values& add_collection(std::size_t count, const Values& elements);

  std::string bytes_;
  std::size_t count_ = 0;
};

}  // namespace noam::cql
