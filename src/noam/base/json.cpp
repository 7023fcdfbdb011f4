#include "noam/base/json.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace noam {

namespace {

constexpr auto largest_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

[[noreturn]] void fail(const std::string& what, const Json& json) {
  throw std::logic_error(what + ": " + json.dump().substr(0, 200));
}

// Writes texts that need escapes, and floats, by the library; all else is plain.
class Writer {
 public:
  Writer(int indent, bool strict) : indent_(indent), strict_(strict) {}

  void write(const Json& json, int depth) {
    if (json.is_string())
      write_text(json.text());
    else if (json.is_array())
      write_list(json, depth, '[', ']');
    else if (json.is_object())
      write_list(json, depth, '{', '}');
    else if (json.is_null())
      out_ += "null";
    else if (json.is_boolean())
      out_ += json.get<bool>() ? "true" : "false";
    else if (json.is_number_float())
      out_ += nlohmann::json(json.get<double>()).dump();
    else if (json.is_number_unsigned())
      out_ += std::to_string(json.get<std::uint64_t>());
    else
      out_ += std::to_string(json.get<std::int64_t>());
  }

  std::string take() { return std::move(out_); }

 private:
  void write_list(const Json& json, int depth, char open, char close) {
    out_ += open;
    bool first = true;
    for (auto at = json.begin(); at != json.end(); ++at) {
      if (!first) out_ += ',';
      first = false;
      break_line(depth + 1);
      if (json.is_object()) {
        write_text(at.key());
        out_ += indent_ < 0 ? ":" : ": ";
      }
      write(*at, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += close;
  }

  void break_line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(depth), ' ');
  }

  void write_text(const std::string& text) {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
    if (plain) {
      out_ += '"';
      out_ += text;
      out_ += '"';
      return;
    }
    using Handler = nlohmann::json::error_handler_t;
    out_ += nlohmann::json(text).dump(-1, ' ', false, strict_ ? Handler::strict : Handler::replace);
  }

  int indent_;
  bool strict_;
  std::string out_;
};

// Where the kinds stand in an order of values.
int rank(const Json& json) {
  if (json.is_null()) return 0;
  if (json.is_boolean()) return 1;
  if (json.is_number()) return 2;
  if (json.is_object()) return 3;
  return json.is_array() ? 4 : 5;
}

std::weak_ordering compare_numbers(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) {
    const auto order = a.get<double>() <=> b.get<double>();
    return std::is_lt(order)   ? std::weak_ordering::less
           : std::is_gt(order) ? std::weak_ordering::greater
                               : std::weak_ordering::equivalent;
  }
  if (a.is_number_unsigned() && b.is_number_unsigned()) return a.get<std::uint64_t>() <=> b.get<std::uint64_t>();
  if (a.is_number_unsigned() != b.is_number_unsigned())
    return a.is_number_unsigned() ? std::weak_ordering::greater : std::weak_ordering::less;
  return a.get<std::int64_t>() <=> b.get<std::int64_t>();
}

template <class T>
T number(const Json& json, const auto& held) {
  if (const auto* small = std::get_if<std::int64_t>(&held)) return static_cast<T>(*small);
  if (const auto* large = std::get_if<std::uint64_t>(&held)) return static_cast<T>(*large);
  if (const auto* real = std::get_if<double>(&held)) return static_cast<T>(*real);
  fail("not a number", json);
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(Tag /*tag*/, bool value) : held_(value) {}
Json::Json(Tag /*tag*/, std::int64_t value) : held_(value) {}
Json::Json(Tag /*tag*/, std::uint64_t value) {
  if (value > largest_signed)
    held_ = value;
  else
    held_ = static_cast<std::int64_t>(value);
}
Json::Json(Tag /*tag*/, double value) : held_(value) {}
Json::Json(const char* text) : held_(std::string(text)) {}
Json::Json(std::string_view text) : held_(std::string(text)) {}
Json::Json(std::string text) : held_(std::move(text)) {}
Json::Json(Array elements) : held_(std::move(elements)) {}

Json::Json(std::initializer_list<JsonPart> parts) {
  const bool pairs = std::all_of(parts.begin(), parts.end(), [](const JsonPart& part) {
    return part.peek().is_array() && part.peek().size() == 2 && part.peek()[0].is_string();
  });
  *this = pairs ? object(parts) : array(parts);
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : held_(std::move(other.held_)) { other.held_ = std::monostate(); }
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept {
  if (this != &other) {
    // What is moved may be a part of what it replaces.
    auto held = std::move(other.held_);
    other.held_ = std::monostate();
    held_ = std::move(held);
  }
  return *this;
}
Json::~Json() = default;

Json Json::array() { return Json(Array()); }

Json Json::array(std::initializer_list<JsonPart> parts) {
  Array elements;
  elements.reserve(parts.size());
  for (const JsonPart& part : parts) elements.push_back(part.take());
  return Json(std::move(elements));
}

Json Json::object() {
  Json out;
  out.held_ = Object();
  return out;
}

Json Json::object(std::initializer_list<JsonPart> parts) {
  Json out = object();
  std::get<Object>(out.held_).reserve(parts.size());
  for (const JsonPart& part : parts) {
    Json pair = part.take();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) fail("not a pair of a name and a value", pair);
    if (!out.contains(pair[0].text())) out.add(pair[0].text(), std::move(pair[1]));
  }
  return out;
}

bool Json::is_null() const { return std::holds_alternative<std::monostate>(held_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(held_); }
bool Json::is_number() const { return is_number_integer() || is_number_float(); }
bool Json::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(held_) || std::holds_alternative<std::uint64_t>(held_);
}
bool Json::is_number_unsigned() const {
  const auto* small = std::get_if<std::int64_t>(&held_);
  return small != nullptr ? *small >= 0 : std::holds_alternative<std::uint64_t>(held_);
}
bool Json::is_number_float() const { return std::holds_alternative<double>(held_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(held_); }
bool Json::is_array() const { return std::holds_alternative<Array>(held_); }
bool Json::is_object() const { return std::holds_alternative<Object>(held_); }
bool Json::is_structured() const { return is_array() || is_object(); }

template <>
bool Json::get<bool>() const {
  if (!is_boolean()) fail("not a bool", *this);
  return std::get<bool>(held_);
}
template <>
int Json::get<int>() const {
  return number<int>(*this, held_);
}
template <>
std::uint32_t Json::get<std::uint32_t>() const {
  return number<std::uint32_t>(*this, held_);
}
template <>
std::int64_t Json::get<std::int64_t>() const {
  return number<std::int64_t>(*this, held_);
}
template <>
std::uint64_t Json::get<std::uint64_t>() const {
  return number<std::uint64_t>(*this, held_);
}
template <>
double Json::get<double>() const {
  return number<double>(*this, held_);
}
template <>
std::string Json::get<std::string>() const {
  return text();
}
template <>
Json Json::get<Json>() const {
  return *this;
}

const std::string& Json::text() const {
  if (!is_string()) fail("not a text", *this);
  return std::get<std::string>(held_);
}

std::size_t Json::size() const {
  if (const auto* elements = std::get_if<Array>(&held_)) return elements->size();
  if (const auto* members = std::get_if<Object>(&held_)) return members->size();
  return is_null() ? 0 : 1;
}

bool Json::empty() const { return size() == 0; }

void Json::clear() {
  if (auto* elements = std::get_if<Array>(&held_))
    elements->clear();
  else if (auto* members = std::get_if<Object>(&held_))
    members->clear();
  else
    fail("neither an array nor an object", *this);
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) held_ = Object();
  const auto found = find(name);
  return found == end() ? add(std::string(name), Json()) : *found;
}

Json& Json::at(std::string_view name) { return const_cast<Json&>(std::as_const(*this).at(name)); }

const Json& Json::at(std::string_view name) const {
  const auto found = find(name);
  if (found == end()) fail("no member `" + std::string(name) + "`", *this);
  return *found;
}

bool Json::contains(std::string_view name) const { return find(name) != end(); }

Json::iterator Json::find(std::string_view name) { return {this, std::as_const(*this).find(name).index()}; }

Json::const_iterator Json::find(std::string_view name) const {
  const auto* members = std::get_if<Object>(&held_);
  if (members == nullptr) return end();
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const JsonMember& member) { return member.name == name; });
  return {this, static_cast<std::size_t>(found - members->begin())};
}

std::string Json::value(std::string_view name, const char* other) const {
  return contains(name) ? at(name).text() : std::string(other);
}

std::size_t Json::erase(std::string_view name) {
  const auto found = find(name);
  if (found == end()) return 0;
  erase(found);
  return 1;
}

void Json::update(const Json& other) {
  for (const auto& [name, value] : other.items()) (*this)[name] = value;
}

Json& Json::add(std::string name, Json value) {
  if (is_null()) held_ = Object();
  if (!is_object()) fail("not an object", *this);
  Object& members = std::get<Object>(held_);
  members.push_back({std::move(name), std::move(value)});
  return members.back().value;
}

Json& Json::at(std::size_t index) { return const_cast<Json&>(std::as_const(*this).at(index)); }

const Json& Json::at(std::size_t index) const {
  if (!is_structured() || index >= size()) fail("no element " + std::to_string(index), *this);
  const auto* elements = std::get_if<Array>(&held_);
  return elements != nullptr ? (*elements)[index] : std::get<Object>(held_)[index].value;
}

void Json::push_back(Json element) {
  if (is_null()) held_ = Array();
  if (!is_array()) fail("not an array", *this);
  std::get<Array>(held_).push_back(std::move(element));
}

void Json::insert(const_iterator before, Json element) {
  if (!is_array()) fail("not an array", *this);
  auto& elements = std::get<Array>(held_);
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(before.index()), std::move(element));
}

Json::iterator Json::erase(const_iterator at) { return erase(at, at + 1); }

Json::iterator Json::erase(const_iterator from, const_iterator to) {
  const auto first = static_cast<std::ptrdiff_t>(from.index());
  const auto last = static_cast<std::ptrdiff_t>(to.index());
  if (auto* elements = std::get_if<Array>(&held_))
    elements->erase(elements->begin() + first, elements->begin() + last);
  else if (auto* members = std::get_if<Object>(&held_))
    members->erase(members->begin() + first, members->begin() + last);
  else
    fail("neither an array nor an object", *this);
  return {this, from.index()};
}

const std::string& Json::key_at(std::size_t index) const {
  static const std::string none;
  const auto* members = std::get_if<Object>(&held_);
  return members == nullptr ? none : members->at(index).name;
}

std::string Json::dump(int indent) const {
  Writer writer(indent, false);
  writer.write(*this, 0);
  return writer.take();
}

std::optional<std::string> Json::try_dump() const {
  Writer writer(-1, true);
  try {
    writer.write(*this, 0);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return writer.take();
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return std::is_eq(compare_numbers(a, b));
  return a.held_ == b.held_;
}

std::weak_ordering operator<=>(const Json& a, const Json& b) {
  if (const auto order = rank(a) <=> rank(b); std::is_neq(order)) return order;
  if (a.is_number()) return compare_numbers(a, b);
  if (a.is_boolean()) return a.get<bool>() <=> b.get<bool>();
  if (a.is_string()) return a.text() <=> b.text();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a.is_null()) break;
    if (const auto order = a.key_at(i) <=> b.key_at(i); std::is_neq(order)) return order;
    if (const auto order = a[i] <=> b[i]; std::is_neq(order)) return order;
  }
  return a.size() <=> b.size();
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

Json sorted(Json json) {
  for (Json& part : json) part = sorted(std::move(part));
  if (!json.is_object()) return json;
  std::vector<std::pair<std::string, Json>> members;
  for (const auto& [name, value] : json.items()) members.emplace_back(name, std::move(value));
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Json out = Json::object();
  for (auto& [name, value] : members) out.add(std::move(name), std::move(value));
  return out;
}

}  // namespace noam
