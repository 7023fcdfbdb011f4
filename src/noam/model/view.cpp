#include "noam/model/view.h"

namespace noam::model {

View::View(const Datum& datum) {
  if (datum.is_bool()) {
    at_ = {Packed::Kind::Bool, datum.as_bool() ? std::uint64_t{1} : 0, {}};
  } else if (datum.is_int()) {
    at_ = {Packed::Kind::Int, static_cast<std::uint64_t>(datum.as_int()), {}};
  } else if (datum.is_double()) {
    at_ = {Packed::Kind::Double, std::bit_cast<std::uint64_t>(datum.as_double()), {}};
  } else if (datum.is_decimal()) {
    at_ = {Packed::Kind::Decimal, 0, datum.as_decimal().text()};
  } else if (datum.is_string()) {
    at_ = {Packed::Kind::String, 0, datum.as_string()};
  } else if (datum.is_list()) {
    const auto packed = datum.packed();
    at_ = {Packed::Kind::List, datum.list_size(), packed.value_or(std::string_view())};
    if (!packed) list_ = &datum.as_list();
  }
}

}  // namespace noam::model
