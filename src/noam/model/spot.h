#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace noam::model {

// A place in a value, put into words only where something is wrong there: `rounds[3].moves`. It speaks of the place it
// is in and of names that outlive it.
class Spot {
 public:
  Spot(const std::string& name) : name_(name) {}  // NOLINT: as it is written
  Spot(const Spot& in, const std::string& member) : in_(&in), name_(member) {}
  Spot(const Spot& in, std::size_t position) : in_(&in), position_(position) {}

  [[nodiscard]] std::string text() const {
    std::string out = in_ == nullptr ? std::string() : in_->text();
    if (position_) return out + '[' + std::to_string(*position_) + ']';
    if (!out.empty() && !name_.empty()) out += '.';
    return out.append(name_);
  }

 private:
  const Spot* in_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> position_;
};

}  // namespace noam::model
