#pragma once

#include <string>
#include <utility>
#include <variant>

#include "noam/base/check.h"

namespace noam {

// The outside did not do what was asked: one line for a person, without a full stop.
struct Error {
  std::string message;

  bool operator==(const Error&) const = default;
};

// A value, or the reason why there is none. Shaped as std::expected, which g++ 12 lacks in C++20.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: as std::expected
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: as std::expected

  [[nodiscard]] bool has_value() const { return held_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    check(has_value(), "a result is asked for its value only where it has one");
    return std::get<0>(held_);
  }
  const T& value() const& {
    check(has_value(), "a result is asked for its value only where it has one");
    return std::get<0>(held_);
  }
  T&& value() && {
    check(has_value(), "a result is asked for its value only where it has one");
    return std::get<0>(std::move(held_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    check(!has_value(), "a result is asked for its error only where it has one");
    return std::get<1>(held_);
  }

 private:
  std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT: as std::expected

  [[nodiscard]] bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  [[nodiscard]] const Error& error() const {
    check(failed_, "a result is asked for its error only where it has one");
    return error_;
  }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace noam
