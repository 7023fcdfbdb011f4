#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "noam/base/check.h"
#include "noam/model/datum.h"
#include "noam/model/packed.h"

namespace noam::model {

// A datum, looked at where it lies: nothing is copied, and lists that are packed stay so. For who goes through a large
// answer once. As long as the datum.
class View {
 public:
  explicit View(const Datum& datum);

  [[nodiscard]] bool absent() const { return at_.kind == Packed::Kind::Absent; }
  [[nodiscard]] bool is_bool() const { return at_.kind == Packed::Kind::Bool; }
  [[nodiscard]] bool is_int() const { return at_.kind == Packed::Kind::Int; }
  [[nodiscard]] bool is_double() const { return at_.kind == Packed::Kind::Double; }
  [[nodiscard]] bool is_decimal() const { return at_.kind == Packed::Kind::Decimal; }
  [[nodiscard]] bool is_string() const { return at_.kind == Packed::Kind::String; }
  [[nodiscard]] bool is_list() const { return at_.kind == Packed::Kind::List; }

  // Each only where it is one.
  [[nodiscard]] bool as_bool() const { return expect(Packed::Kind::Bool).number != 0; }
  [[nodiscard]] std::int64_t as_int() const { return static_cast<std::int64_t>(expect(Packed::Kind::Int).number); }
  [[nodiscard]] double as_double() const { return std::bit_cast<double>(expect(Packed::Kind::Double).number); }
  [[nodiscard]] std::string_view decimal_text() const { return expect(Packed::Kind::Decimal).bytes; }
  [[nodiscard]] std::string_view as_string() const { return expect(Packed::Kind::String).bytes; }
  [[nodiscard]] std::size_t list_size() const { return expect(Packed::Kind::List).number; }

  // The elements of a list, in their order.
  template <typename Take>
  void each(const Take& take) const {
    expect(Packed::Kind::List);
    if (list_ != nullptr) {
      for (const Datum& element : *list_) take(View(element));
      return;
    }
    std::string_view rest = at_.bytes;
    FetchingAhead ahead(rest);
    View element;
    for (std::uint64_t i = 0; i < at_.number; ++i) {
      ahead.come_to(rest.data());
      check(look_at_packed(rest, element.at_), "what has a checksum is what was packed");
      take(element);
    }
  }

 private:
  View() = default;
  const Packed& expect(Packed::Kind kind) const {
    check(at_.kind == kind, "a view is asked for what it is");
    return at_;
  }

  Packed at_;
  const Datum::List* list_ = nullptr;  // one that is not packed
};

}  // namespace noam::model
