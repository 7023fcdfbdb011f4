#include "noam/base/json_text.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace noam {

namespace {

// Builds the value while nlohmann reads the text, and calls these functions by their names.
class JsonBuilder {
 public:
  explicit JsonBuilder(std::size_t deepest) : deepest_(deepest) {}

  JsonText made;
  std::string problem;

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos) made.rounded.push_back({path(), text});
    return add(value);
  }
  bool string(std::string& value) { return add(std::move(value)); }
  static bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // not in texts
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    level.name = std::move(name);
    level.member = find_member(level);
    if (level.member != nullptr) forget_rounded();
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow)
      problem = fmt::format("the number {} is too large", token.substr(0, 60));
    else
      problem = fmt::format("unexpected input at byte {}", position);
    return false;
  }

 private:
  // An object or array that is not over yet. Only to the innermost something is added, so pointers stay good.
  struct Level {
    Json* json = nullptr;
    std::string name;                                     // of the member that comes next
    Json* member = nullptr;                               // where it was given before
    std::unordered_map<std::string, std::size_t> places;  // of members; empty while they are few
  };

  // The members of an object lie in a row: looking through them is slow where they are many.
  static Json* find_member(Level& level) {
    constexpr std::size_t few = 16;
    Json& object = *level.json;
    if (object.size() <= few) {
      const auto found = object.find(level.name);
      return found == object.end() ? nullptr : &*found;
    }
    for (std::size_t i = level.places.size(); i < object.size(); ++i)
      level.places.emplace((object.begin() + static_cast<std::ptrdiff_t>(i)).key(), i);
    const auto found = level.places.find(level.name);
    return found == level.places.end() ? nullptr : &object[found->second];
  }

  // Of what is added next.
  [[nodiscard]] JsonPath path() const {
    JsonPath out;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const bool innermost = i + 1 == levels_.size();
      if (levels_[i].json->is_object())
        out.emplace_back(levels_[i].name);
      else
        out.emplace_back(levels_[i].json->size() - (innermost ? 0 : 1));
    }
    return out;
  }

  // What was in a member that is given again does not count.
  void forget_rounded() {
    if (made.rounded.empty()) return;
    const JsonPath again = path();
    std::erase_if(made.rounded, [&](const RoundedInteger& one) {
      return one.path.size() >= again.size() && std::equal(again.begin(), again.end(), one.path.begin());
    });
  }

  Json* place(Json value) {
    if (levels_.empty()) return &(made.json = std::move(value));
    Level& level = levels_.back();
    if (level.json->is_array()) {
      level.json->push_back(std::move(value));
      return &level.json->back();
    }
    if (level.member != nullptr) return &(*level.member = std::move(value));
    return &level.json->add(level.name, std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (levels_.size() == deepest_) {
      problem = fmt::format("nested more than {} deep", deepest_);
      return false;
    }
    Level level;
    level.json = place(std::move(value));
    levels_.push_back(std::move(level));
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  std::size_t deepest_;
  std::vector<Level> levels_;
};

}  // namespace

Result<JsonText> parse_json(std::string_view text, std::size_t deepest) {
  // nlohmann takes a NUL for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return Error{fmt::format("byte {} is NUL", nul + 1)};
  JsonBuilder builder(deepest);
  if (!nlohmann::json::sax_parse(text, &builder)) return Error{builder.problem};
  return std::move(builder.made);
}

// Of texts that noam wrote itself, which may hold what came from outside some levels down.
constexpr std::size_t deepest_own = 5 * deepest_json;

Json Json::parse(std::string_view text) {
  auto read = parse_json(text, deepest_own);
  if (!read) throw std::invalid_argument(fmt::format("not JSON, {}: {}", read.error().message, text.substr(0, 200)));
  return std::move(read->json);
}

std::optional<Json> Json::read(std::string_view text) {
  auto read = parse_json(text, deepest_own);
  if (!read) return std::nullopt;
  return std::move(read->json);
}

bool is_json(std::string_view text) {
  return text.find('\0') == std::string_view::npos && nlohmann::json::accept(text);
}

}  // namespace noam
