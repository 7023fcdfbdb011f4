#pragma once

#include <atomic>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/model/decimal.h"
#include "noam/model/expression.h"
#include "noam/model/type.h"

namespace noam::model {

// Something that many hold, from several threads, and which goes with the last of them.
class Shared {  // NOLINT(cppcoreguidelines-virtual-class-destructor): let_go() is its end
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  void hold() const { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() const {
    // Who is alone needs no other's consent.
    if (holders_.load(std::memory_order_acquire) == 1 || holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
  [[nodiscard]] bool alone() const { return holders_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~Shared() = default;

 private:
  mutable std::atomic<std::uint32_t> holders_{1};
};

// One value of a database: a scalar, or something made of them. Its type says what it is:
//
//   any optional      absent
//   bool              bool
//   int               int64
//   timestamp, date   int64: milliseconds, days since 1970
//   float             double, finite, never -0
//   decimal           Decimal
//   text, enumeration string, UTF-8
//   json              string, JSON text
//   bytes             string
//   uuid              string of 16 bytes
//   timeuuid          string of 16 bytes, its time first, so that bytes sort as timeuuids do (see to_sortable)
//   inet              string: '\4' and 4 bytes, or '\6' and 16 bytes
//   reference         the key of its target: the part itself where it has one part, else the list of its parts
//   value             the list of its fields
//   list              the list of its elements
//   set               the list of its elements, ascending, each once
//   map               the list of its entries, each a list of key and value, keys ascending, each once
//   row               the list of its columns; rows: a list of them
//
// So the order of values of one type needs no type: absent first, false before true, numbers as numbers, strings as
// unsigned bytes, lists element by element.
//
// A datum is small and cheap to copy: what does not fit is shared, and never changed while it is. A string may lie in
// bytes that somebody else owns (what was read from a store, say), and a list may be packed (packed.h) until it is
// asked for.
class Datum {
 public:
  using List = std::vector<Datum>;

  Datum() = default;  // absent
  // Not from pointers, which would be bools.
  Datum(bool value) : kind_(Kind::Bool) { held_.words.word = value ? 1 : 0; }  // NOLINT: values as they are written
  Datum(std::int64_t value) : kind_(Kind::Int) { held_.words.word = static_cast<std::uint64_t>(value); }  // NOLINT
  Datum(int value) : Datum(static_cast<std::int64_t>(value)) {}                                           // NOLINT
  Datum(double value);                                                                                    // NOLINT
  Datum(Decimal value);                                                                                   // NOLINT
  Datum(const std::string& value) : Datum(std::string_view(value)) {}                                     // NOLINT
  Datum(std::string&& value);                                                                             // NOLINT
  Datum(std::string_view value);                                                                          // NOLINT
  Datum(const char* value) : Datum(std::string_view(value)) {}                                            // NOLINT
  Datum(List value);                                                                                      // NOLINT
  // A string that lies in the bytes of `owner`.
  static Datum within(std::string_view bytes, const Shared& owner);
  // A list of so many elements that lie packed in the bytes of `owner`.
  static Datum packed_list(std::string_view elements, std::size_t count, const Shared& owner);

  Datum(const Datum& other) : held_(other.held_), size_(other.size_), kind_(other.kind_), shares_(other.shares_) {
    if (shares_) held_.words.owner->hold();
  }
  Datum(Datum&& other) noexcept : held_(other.held_), size_(other.size_), kind_(other.kind_), shares_(other.shares_) {
    other.kind_ = Kind::Absent;
    other.shares_ = false;
  }
  // The other one may be an element of what is dropped.
  Datum& operator=(const Datum& other) {
    Datum copy(other);
    swap(copy);
    return *this;
  }
  Datum& operator=(Datum&& other) noexcept {
    Datum taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Datum() { drop(); }

  [[nodiscard]] bool absent() const { return kind_ == Kind::Absent; }
  [[nodiscard]] bool is_bool() const { return kind_ == Kind::Bool; }
  [[nodiscard]] bool is_int() const { return kind_ == Kind::Int; }
  [[nodiscard]] bool is_double() const { return kind_ == Kind::Double; }
  [[nodiscard]] bool is_decimal() const { return kind_ == Kind::Decimal; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::String; }
  [[nodiscard]] bool is_list() const { return kind_ == Kind::List; }

  // Each only where it is one.
  [[nodiscard]] bool as_bool() const {
    expect(Kind::Bool);
    return held_.words.word != 0;
  }
  [[nodiscard]] std::int64_t as_int() const {
    expect(Kind::Int);
    return static_cast<std::int64_t>(held_.words.word);
  }
  [[nodiscard]] double as_double() const {
    expect(Kind::Double);
    return std::bit_cast<double>(held_.words.word);
  }
  [[nodiscard]] const Decimal& as_decimal() const;
  [[nodiscard]] std::string_view as_string() const {  // as long as the datum
    expect(Kind::String);
    return {shares_ ? held_.words.bytes() : held_.small, size_};
  }
  [[nodiscard]] const List& as_list() const;
  [[nodiscard]] List& change_list();  // one of its own

  // How many elements a list has, and their bytes where it is packed; without unpacking it.
  [[nodiscard]] std::size_t list_size() const;
  [[nodiscard]] std::optional<std::string_view> packed() const;

  // A predicate: absent is false.
  [[nodiscard]] bool holds() const { return is_bool() && held_.words.word != 0; }

  friend bool operator==(const Datum& a, const Datum& b);
  friend std::strong_ordering operator<=>(const Datum& a, const Datum& b);

 private:
  enum class Kind : std::uint8_t { Absent, Bool, Int, Double, Decimal, String, List };
  struct Words {
    const Shared* owner;
    std::uint64_t word;

    [[nodiscard]] const char* bytes() const { return std::bit_cast<const char*>(word); }
  };
  union Held {
    Words words;
    char small[16];  // a string without an owner
  };

  static constexpr std::uint64_t largest = (std::uint64_t{1} << 48U) - 1;  // no machine has more memory

  void expect(Kind kind) const {
    if (kind_ != kind) wrong_kind();
  }
  [[noreturn]] static void wrong_kind();
  void drop() {
    if (shares_) held_.words.owner->let_go();
  }
  void swap(Datum& other) noexcept {
    std::swap(held_, other.held_);
    const std::uint64_t size = size_;
    size_ = other.size_;
    other.size_ = size & largest;
    const Kind kind = kind_;
    kind_ = other.kind_;
    other.kind_ = kind;
    const bool shares = shares_;
    shares_ = other.shares_;
    other.shares_ = shares;
  }
  void share(const Shared& owner, Kind kind) {
    held_.words.owner = &owner;
    kind_ = kind;
    shares_ = true;
  }

  Held held_{};
  std::uint64_t size_ : 48 = 0;  // of a string
  Kind kind_ : 8 = Kind::Absent;
  bool shares_ : 8 = false;  // what is held has an owner
};

std::size_t hash_value(const Datum& datum);

// A constant of a checked model, and back (scalars only).
Datum from_literal(const Type& type, const Literal& literal);
Literal to_literal(const Type& type, const Datum& datum);

// The 16 raw bytes of a timeuuid (version 1) with its time first, and back.
std::string to_sortable(std::string_view raw);
std::string from_sortable(std::string_view sortable);
// Raw address bytes with their family before them, and back.
std::string to_inet(std::string_view raw);
std::string from_inet(std::string_view inet);

// A set or a map of elements or entries in any order. Of equal elements one is kept, of equal keys the last.
Datum make_set(Datum::List elements);
Datum make_map(Datum::List entries);

// What a field has that nothing was given for: absent, or an empty collection.
Datum nothing(const Type& type);

// About how many bytes it takes, for figures and limits: strings by their length, numbers 8.
std::size_t bytes_of(const Datum& datum);

}  // namespace noam::model
