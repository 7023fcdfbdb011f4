#include "noam/model/json_text.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace noam::model {

namespace {

using nlohmann::ordered_json;

// Builds the value while nlohmann reads the text, and calls these functions by their names.
class JsonBuilder {
 public:
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
  static bool binary(ordered_json::binary_t& /*value*/) { return false; }  // not in texts
  bool start_object(std::size_t /*size*/) { return open(ordered_json::object()); }
  bool start_array(std::size_t /*size*/) { return open(ordered_json::array()); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    level.name = std::move(name);
    level.member = find_member(level);
    if (level.member != nullptr) forget_rounded();
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const ordered_json::exception& error) {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow)
      problem = fmt::format("the number {} is too large", token.substr(0, 60));
    else
      problem = fmt::format("byte {} can't stand there", position);
    return false;
  }

 private:
  // An object or array that is not over yet. Only to the innermost something is added, so pointers stay good.
  struct Level {
    ordered_json* json = nullptr;
    std::string name;                                     // of the member that comes next
    ordered_json* member = nullptr;                       // where it was given before
    std::unordered_map<std::string, std::size_t> places;  // of members; empty while they are few
  };

  // The members of an ordered_json lie in a row: looking through them is slow where they are many.
  static ordered_json* find_member(Level& level) {
    constexpr std::size_t few = 16;
    auto& members = level.json->get_ref<ordered_json::object_t&>();
    if (members.size() <= few) {
      const auto found = members.find(level.name);
      return found == members.end() ? nullptr : &found->second;
    }
    for (std::size_t i = level.places.size(); i < members.size(); ++i) level.places.emplace(members.data()[i].first, i);
    const auto found = level.places.find(level.name);
    return found == level.places.end() ? nullptr : &members.data()[found->second].second;
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

  ordered_json* place(ordered_json value) {
    if (levels_.empty()) return &(made.json = std::move(value));
    Level& level = levels_.back();
    if (level.json->is_array()) {
      level.json->push_back(std::move(value));
      return &level.json->back();
    }
    if (level.member != nullptr) return &(*level.member = std::move(value));
    auto& members = level.json->get_ref<ordered_json::object_t&>();
    return &members.emplace_back(level.name, std::move(value)).second;
  }
  bool add(ordered_json value) {
    place(std::move(value));
    return true;
  }
  bool open(ordered_json value) {
    if (levels_.size() == deepest_json) {
      problem = fmt::format("nested more than {} deep", deepest_json);
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

  std::vector<Level> levels_;
};

std::string place_name(std::string name, JsonPath::const_iterator from, JsonPath::const_iterator to) {
  for (; from != to; ++from) {
    if (const auto* member = std::get_if<std::string>(&*from))
      name += "." + *member;
    else
      name += fmt::format("[{}]", std::get<std::size_t>(*from));
  }
  return name;
}

// Whether the path leads into a json.
bool leads_into_json(const Model& model, const Type& type, JsonPath::const_iterator from, JsonPath::const_iterator to) {
  if (type.kind == TypeKind::Json) return true;
  if (from == to) return false;
  const auto* member = std::get_if<std::string>(&*from);
  switch (type.kind) {
    case TypeKind::Value:
      for (const Field& field : model.fields(type))
        if (member != nullptr && field.name == *member) return leads_into_json(model, field.type, from + 1, to);
      return false;
    case TypeKind::List:
    case TypeKind::Set:
      return leads_into_json(model, type.element(), from + 1, to);
    case TypeKind::Map:  // an object, or an array of [key, value]
      if (member == nullptr && ++from == to) return false;
      return leads_into_json(model, type.arguments[1], from + 1, to);
    default:
      return false;
  }
}

}  // namespace

Result<JsonText> parse_json(std::string_view text) {
  // nlohmann takes a NUL for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return Error{fmt::format("byte {} is NUL", nul + 1)};
  JsonBuilder builder;
  if (!ordered_json::sax_parse(text, &builder)) return Error{builder.problem};
  return std::move(builder.made);
}

std::optional<Refusal> refuse_rounded(const Model& model, const Type& type, const std::vector<RoundedInteger>& rounded,
                                      const JsonPath& outer, const std::string& name) {
  for (const RoundedInteger& one : rounded) {
    if (one.path.size() < outer.size() || !std::equal(outer.begin(), outer.end(), one.path.begin())) continue;
    const auto from = one.path.begin() + static_cast<std::ptrdiff_t>(outer.size());
    if (!leads_into_json(model, type, from, one.path.end())) continue;
    const std::string reason = fmt::format("the integer {} does not fit into 64 bits", one.digits.substr(0, 60));
    return Refusal{"value", name.empty() ? reason : place_name(name, from, one.path.end()) + ": " + reason};
  }
  return std::nullopt;
}

}  // namespace noam::model
