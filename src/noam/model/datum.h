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

  void hold(std::uint32_t times = 1) const { holders_.fetch_add(times, std::memory_order_relaxed); }
  void let_go(std::uint32_t times = 1) const {
    // Who is alone needs no other's consent.
    if (holders_.load(std::memory_order_acquire) == times ||
        holders_.fetch_sub(times, std::memory_order_acq_rel) == times)
      end();
  }
  [[nodiscard]] bool alone() const { return holders_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~Shared() = default;
  // Nobody holds it any more.
  virtual void end() const { delete this; }

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
  Datum(bool value) : about_{0, Kind::Bool, false} {  // NOLINT: values as they are written
    held_.words.word = value ? 1 : 0;
  }
  Datum(std::int64_t value) : about_{0, Kind::Int, false} {  // NOLINT
    held_.words.word = static_cast<std::uint64_t>(value);
  }
  Datum(int value) : Datum(static_cast<std::int64_t>(value)) {}        // NOLINT
  Datum(double value);                                                 // NOLINT
  Datum(Decimal value);                                                // NOLINT
  Datum(const std::string& value) : Datum(std::string_view(value)) {}  // NOLINT
  Datum(std::string&& value);                                          // NOLINT
  Datum(std::string_view value);                                       // NOLINT
  Datum(const char* value) : Datum(std::string_view(value)) {}         // NOLINT
  Datum(List value);                                                   // NOLINT
  // A string that lies in the bytes of `owner`, and a list of so many elements that lie packed there. Who makes many of
  // them holds the owner before, often enough for all, and says how often: each takes one of these, or none.
  static Datum within(std::string_view bytes, const Shared& owner, std::uint32_t& held);
  static Datum packed_list(std::string_view elements, std::size_t count, const Shared& owner, std::uint32_t& held);
  // Such a list that needs no memory of its own, but some of the owner's: so many bytes at `room`, aligned for a
  // pointer.
  static constexpr std::size_t packed_list_room = 80;
  static Datum packed_list_at(char* room, std::string_view elements, std::size_t count, const Shared& owner,
                              std::uint32_t& held);

  Datum(const Datum& other) : held_(other.held_), about_(other.about_) {
    if (about_.shares) held_.words.owner->hold();
  }
  Datum(Datum&& other) noexcept : held_(other.held_), about_(other.about_) { other.leave(); }
  // The other one may be an element of what is dropped.
  Datum& operator=(const Datum& other) {
    if (other.about_.shares) other.held_.words.owner->hold();
    become(other.held_, other.about_);
    return *this;
  }
  Datum& operator=(Datum&& other) noexcept {
    const About about = other.about_;
    other.leave();
    become(other.held_, about);
    return *this;
  }
  ~Datum() { drop(); }

  [[nodiscard]] bool absent() const { return about_.kind == Kind::Absent; }
  [[nodiscard]] bool is_bool() const { return about_.kind == Kind::Bool; }
  [[nodiscard]] bool is_int() const { return about_.kind == Kind::Int; }
  [[nodiscard]] bool is_double() const { return about_.kind == Kind::Double; }
  [[nodiscard]] bool is_decimal() const { return about_.kind == Kind::Decimal; }
  [[nodiscard]] bool is_string() const { return about_.kind == Kind::String; }
  [[nodiscard]] bool is_list() const { return about_.kind == Kind::List; }

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
    return {about_.shares ? held_.words.bytes() : held_.small, about_.size};
  }
  [[nodiscard]] const List& as_list() const;
  [[nodiscard]] List& change_list();  // one of its own

  // How many elements a list has, and their bytes where it is packed; without unpacking it.
  [[nodiscard]] std::size_t list_size() const;
  [[nodiscard]] std::optional<std::string_view> packed() const;

  // Drops what lies in the bytes of `owner`, but for letting go of it: that falls to the caller, as often as it says.
  static std::uint32_t abandon(List& list, const Shared& owner);

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

  struct About {                  // a word
    std::uint64_t size : 48 = 0;  // of a string
    Kind kind : 8 = Kind::Absent;
    bool shares : 8 = false;  // what is held has an owner
  };

  static constexpr std::uint64_t largest = (std::uint64_t{1} << 48U) - 1;  // no machine has more memory

  void expect(Kind kind) const {
    if (about_.kind != kind) wrong_kind();
  }
  [[noreturn]] static void wrong_kind();
  void drop() {
    if (about_.shares) held_.words.owner->let_go();
  }
  void leave() {
    about_.kind = Kind::Absent;
    about_.shares = false;
  }
  void become(Held held, About about) {
    const Shared* before = about_.shares ? held_.words.owner : nullptr;
    held_ = held;
    about_ = about;
    if (before != nullptr) before->let_go();
  }
  void share(const Shared& owner, Kind kind) {
    held_.words.owner = &owner;
    about_.kind = kind;
    about_.shares = true;
  }

  Held held_{};
  About about_;
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
