#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

// A JSON value. The library that parses and writes the text is included by json.cpp alone: it is large, and every
// source that includes it compiles three times as long.
namespace noam {

class JsonPart;
struct JsonMember;
template <bool constant>
class JsonIterator;
template <bool constant>
class JsonItems;

// Objects keep the order in which their members were added, and two are equal only in equal order. Misuse (a member
// that is missing, a number taken for a text) throws std::logic_error.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  using iterator = JsonIterator<false>;
  using const_iterator = JsonIterator<true>;
  using value_type = Json;

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  template <std::same_as<bool> T>
  Json(T value) : Json(Tag(), value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value)
      : Json(Tag(), static_cast<std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>(value)) {}
  template <std::floating_point T>
  Json(T value) : Json(Tag(), static_cast<double>(value)) {}
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(Array elements);
  template <std::convertible_to<Json> T>
  requires(!std::same_as<T, Json>) Json(const std::vector<T>& elements)
      : Json(Array(elements.begin(), elements.end())) {}
  template <class T>
  requires std::convertible_to<const T&, Json> Json(std::span<const T> elements)
      : Json(Array(elements.begin(), elements.end())) {}
  // An object if every part is a pair that begins with a text, an array if not.
  Json(std::initializer_list<JsonPart> parts);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json array(std::initializer_list<JsonPart> parts);
  static Json object();
  static Json object(std::initializer_list<JsonPart> parts);
  // Of a text that is known to be JSON; throws std::invalid_argument if it is not.
  static Json parse(std::string_view text);
  // Nothing if the text is not JSON.
  static std::optional<Json> read(std::string_view text);

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_number_integer() const;
  [[nodiscard]] bool is_number_unsigned() const;  // an integer that is not negative
  [[nodiscard]] bool is_number_float() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_structured() const;  // an array or an object

  // Of the types below; numbers are converted.
  template <class T>
  [[nodiscard]] T get() const = delete;
  [[nodiscard]] const std::string& text() const;

  // Of arrays and objects; a null is empty, everything else has one element.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const;
  void clear();

  // A null becomes an object, and a missing member is added as null.
  Json& operator[](std::string_view name);
  const Json& operator[](std::string_view name) const { return at(name); }
  Json& at(std::string_view name);
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }
  [[nodiscard]] iterator find(std::string_view name);
  [[nodiscard]] const_iterator find(std::string_view name) const;
  // The member, or the other if it is missing.
  template <class T>
  [[nodiscard]] T value(std::string_view name, T other) const;
  [[nodiscard]] std::string value(std::string_view name, const char* other) const;
  std::size_t erase(std::string_view name);
  // Sets every member of another object.
  void update(const Json& other);
  // Adds a member that is known to be new.
  Json& add(std::string name, Json value);

  Json& operator[](std::size_t index) { return at(index); }
  const Json& operator[](std::size_t index) const { return at(index); }
  Json& at(std::size_t index);
  [[nodiscard]] const Json& at(std::size_t index) const;
  Json& front() { return at(std::size_t{0}); }
  [[nodiscard]] const Json& front() const { return at(std::size_t{0}); }
  Json& back() { return at(size() - 1); }
  [[nodiscard]] const Json& back() const { return at(size() - 1); }
  // A null becomes an array.
  void push_back(Json element);
  template <class... T>
  Json& emplace_back(T&&... made_from) {
    push_back(Json(std::forward<T>(made_from)...));
    return back();
  }
  void insert(const_iterator before, Json element);
  iterator erase(const_iterator at);
  iterator erase(const_iterator from, const_iterator to);

  // The elements of an array, or the values of an object.
  iterator begin();
  iterator end();
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;
  // The same, with key() and value(); an element's key is empty.
  JsonItems<false> items();
  [[nodiscard]] JsonItems<true> items() const;

  // In one line, or indented by so many spaces. Bytes that are not UTF-8 are replaced (U+FFFD).
  [[nodiscard]] std::string dump(int indent = -1) const;
  // In one line; nothing if a text in it is not UTF-8.
  [[nodiscard]] std::optional<std::string> try_dump() const;

  // Numbers are compared by their value.
  friend bool operator==(const Json& a, const Json& b);
  // Null, bool, numbers, objects, arrays, texts.
  friend std::weak_ordering operator<=>(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  template <bool constant>
  friend class JsonIterator;
  struct Tag {};
  Json(Tag, bool value);
  Json(Tag, std::int64_t value);
  Json(Tag, std::uint64_t value);
  Json(Tag, double value);

  [[nodiscard]] const std::string& key_at(std::size_t index) const;

  // An integer is unsigned only if it is larger than the largest signed one.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> held_;
};

struct JsonMember {
  std::string name;
  Json value;

  bool operator==(const JsonMember&) const = default;
};

// An element of `{…}`: holds what was written there until the value is made of it.
class JsonPart {
 public:
  template <std::convertible_to<Json> T>
  JsonPart(T&& value)  // NOLINT(bugprone-forwarding-reference-overload): a part is no Json
      : value_(std::forward<T>(value)) {}
  JsonPart(std::initializer_list<JsonPart> parts) : value_(parts) {}

  [[nodiscard]] const Json& peek() const { return value_; }
  [[nodiscard]] Json take() const { return std::move(value_); }

 private:
  mutable Json value_;
};

template <bool constant>
class JsonIterator {
 public:
  using Owner = std::conditional_t<constant, const Json, Json>;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Json;
  using difference_type = std::ptrdiff_t;
  using pointer = Owner*;
  using reference = Owner&;

  JsonIterator() = default;
  JsonIterator(Owner* owner, std::size_t index) : owner_(owner), index_(index) {}
  template <bool other_constant>
  requires(constant && !other_constant) JsonIterator(const JsonIterator<other_constant>& other)
      : owner_(other.owner_), index_(other.index_) {}

  reference operator*() const { return owner_->at(index_); }
  pointer operator->() const { return &owner_->at(index_); }
  reference operator[](difference_type by) const { return *(*this + by); }
  [[nodiscard]] const std::string& key() const { return owner_->key_at(index_); }
  reference value() const { return **this; }
  [[nodiscard]] std::size_t index() const { return index_; }

  JsonIterator& operator++() { return ++index_, *this; }
  JsonIterator operator++(int) { return {owner_, index_++}; }
  JsonIterator& operator--() { return --index_, *this; }
  JsonIterator operator--(int) { return {owner_, index_--}; }
  JsonIterator& operator+=(difference_type by) { return index_ += static_cast<std::size_t>(by), *this; }
  JsonIterator& operator-=(difference_type by) { return index_ -= static_cast<std::size_t>(by), *this; }
  friend JsonIterator operator+(JsonIterator at, difference_type by) { return at += by; }
  friend JsonIterator operator+(difference_type by, JsonIterator at) { return at += by; }
  friend JsonIterator operator-(JsonIterator at, difference_type by) { return at -= by; }
  friend difference_type operator-(const JsonIterator& a, const JsonIterator& b) {
    return static_cast<difference_type>(a.index_) - static_cast<difference_type>(b.index_);
  }
  bool operator==(const JsonIterator& other) const { return index_ == other.index_; }
  auto operator<=>(const JsonIterator& other) const { return index_ <=> other.index_; }

 private:
  template <bool other_constant>
  friend class JsonIterator;
  Owner* owner_ = nullptr;
  std::size_t index_ = 0;
};

// What `for (const auto& [name, value] : json.items())` walks over.
template <bool constant>
class JsonItems {
 public:
  using Owner = std::conditional_t<constant, const Json, Json>;
  struct Item {
    const std::string& name;
    Owner& content;
    [[nodiscard]] const std::string& key() const { return name; }
    [[nodiscard]] Owner& value() const { return content; }
  };
  class Walk {
   public:
    explicit Walk(JsonIterator<constant> at) : at_(at) {}
    Item operator*() const { return {at_.key(), *at_}; }
    Walk& operator++() { return ++at_, *this; }
    bool operator==(const Walk&) const = default;

   private:
    JsonIterator<constant> at_;
  };

  explicit JsonItems(Owner& owner) : owner_(owner) {}
  [[nodiscard]] Walk begin() const { return Walk(owner_.begin()); }
  [[nodiscard]] Walk end() const { return Walk(owner_.end()); }

 private:
  Owner& owner_;
};

inline Json::iterator Json::begin() { return {this, 0}; }
inline Json::iterator Json::end() { return {this, is_structured() ? size() : 0}; }
inline Json::const_iterator Json::begin() const { return {this, 0}; }
inline Json::const_iterator Json::end() const { return {this, is_structured() ? size() : 0}; }
inline JsonItems<false> Json::items() { return JsonItems<false>(*this); }
inline JsonItems<true> Json::items() const { return JsonItems<true>(*this); }

template <>
bool Json::get<bool>() const;
template <>
int Json::get<int>() const;
template <>
std::uint32_t Json::get<std::uint32_t>() const;
template <>
std::int64_t Json::get<std::int64_t>() const;
template <>
std::uint64_t Json::get<std::uint64_t>() const;
template <>
double Json::get<double>() const;
template <>
std::string Json::get<std::string>() const;
template <>
Json Json::get<Json>() const;

template <class T>
T Json::value(std::string_view name, T other) const {
  return contains(name) ? at(name).get<T>() : other;
}

// The same value with the members of every object in the order of their names.
Json sorted(Json json);

}  // namespace noam
