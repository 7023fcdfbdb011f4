#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "noam/base/check.h"

namespace noam {

// The outside did not do what was asked: one line for a person, without a full stop.
struct Error {
  std::string message;
  std::string code = {};  // where the reader may act on it: `overflow`, `value`

  bool operator==(const Error&) const = default;
};

// A value, or the reason why there is none. Shaped as std::expected, which g++ 12 lacks in C++20.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: as std::expected
  // What a value can be made of.
  template <typename Other>
  requires(std::is_convertible_v<Other, T> && !std::is_same_v<std::remove_cvref_t<Other>, T> &&
           !std::is_same_v<std::remove_cvref_t<Other>, Error> && !std::is_same_v<std::remove_cvref_t<Other>, Result>)
      Result(Other&& value)  // NOLINT(bugprone-forwarding-reference-overload): never a Result, by what it requires
      : held_(std::in_place_index<0>, std::forward<Other>(value)) {}
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

#define NOAM_JOIN_INNER(a, b) a##b
#define NOAM_JOIN(a, b) NOAM_JOIN_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration can't stand in parentheses
// `NOAM_ASSIGN_OR_RETURN(const auto page, store.scan(…))`: the value, or return with the error.
#define NOAM_ASSIGN_OR_RETURN(target, expression) \
  NOAM_ASSIGN_OR_RETURN_INNER(NOAM_JOIN(noam_result_, __LINE__), target, expression)
#define NOAM_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                   \
  if (!result) return result.error();                           \
  target = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)

#define NOAM_RETURN_IF_ERROR(expression) \
  if (const auto noam_result = (expression); !noam_result) return noam_result.error()
