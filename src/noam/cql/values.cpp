#include "noam/cql/values.h"

#include <bit>

#include <arpa/inet.h>

#include "noam/base/check.h"
#include "noam/cql/decimal_bytes.h"
#include "noam/cql/numbers.h"

namespace noam::cql {

namespace {

constexpr std::int32_t null_size = -1;
constexpr std::int32_t unset_size = -2;

std::string_view as_text(const void* bytes, std::size_t size) { return {static_cast<const char*>(bytes), size}; }

}  // namespace

Values& Values::null() {
  append_number(bytes_, null_size);
  ++count_;
  return *this;
}

Values& Values::unset() {
  append_number(bytes_, unset_size);
  ++count_;
  return *this;
}

Values& Values::append(const Values& others) {
  bytes_ += others.bytes_;
  count_ += others.count_;
  return *this;
}

Values& Values::add(std::string_view value) {
  append_number(bytes_, static_cast<std::int32_t>(value.size()));
  bytes_.append(value);
  ++count_;
  return *this;
}

template <typename Number>
Values& Values::add_number(Number number) {
  append_number(bytes_, static_cast<std::int32_t>(sizeof(Number)));
  append_number(bytes_, number);
  ++count_;
  return *this;
}

Values& Values::text(std::string_view text) { return add(text); }

Values& Values::blob(std::string_view bytes) { return add(bytes); }

Values& Values::boolean(bool value) { return add_number(static_cast<std::int8_t>(value ? 1 : 0)); }

Values& Values::integer(std::int32_t value) { return add_number(value); }

Values& Values::bigint(std::int64_t value) { return add_number(value); }

Values& Values::floating(double value) { return add_number(std::bit_cast<std::int64_t>(value)); }

Values& Values::timestamp(Milliseconds moment) {
  return add_number(static_cast<std::int64_t>(moment.time_since_epoch().count()));
}

// Days are counted so that 1970-01-01 is in the middle of the range.
Values& Values::date(std::chrono::sys_days day) {
  const auto days = static_cast<std::int64_t>(day.time_since_epoch().count()) + (std::int64_t{1} << 31);
  return add_number(static_cast<std::uint32_t>(days));
}

Values& Values::uuid(const Uuid& id) { return add(as_text(id.data(), id.size())); }

Result<void> Values::decimal(std::string_view number) {
  NOAM_ASSIGN_OR_RETURN(const auto bytes, decimal_bytes(number));
  add(bytes);
  return {};
}

Result<void> Values::inet(std::string_view address) {
  const std::string text(address);
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    add(as_text(bytes.data(), 4));
  } else if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) {
    add(as_text(bytes.data(), 16));
  } else {
    return Error{"not an IP address: `" + text + "`", "value"};
  }
  return {};
}

Values& Values::add_collection(std::size_t count, const Values& elements) {
  append_number(bytes_, static_cast<std::int32_t>(sizeof(std::int32_t) + elements.bytes_.size()));
  append_number(bytes_, static_cast<std::int32_t>(count));
  bytes_.append(elements.bytes_);
  ++count_;
  return *this;
}

Values& Values::list(const Values& elements) { return add_collection(elements.count_, elements); }

Values& Values::map(const Values& keys_and_values) {
  check(keys_and_values.count_ % 2 == 0, "each key of a map has a value");
  return add_collection(keys_and_values.count_ / 2, keys_and_values);
}

Values& Values::tuple(const Values& fields) { return add(fields.bytes_); }

void Values::clear() {
  bytes_.clear();
  count_ = 0;
}

}  // namespace noam::cql
