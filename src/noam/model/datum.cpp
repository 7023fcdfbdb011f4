#include "noam/model/datum.h"

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include <xxhash.h>

#include "noam/base/check.h"
#include "noam/model/packed.h"

namespace noam::model {

namespace {

std::strong_ordering compare(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  return b < a ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare(const Datum::List& a, const Datum::List& b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const auto order = a[i] <=> b[i]; std::is_neq(order)) return order;
  }
  return a.size() <=> b.size();
}

std::size_t mixed(std::size_t hash, std::size_t with) {
  const std::array<std::uint64_t, 2> both{hash, with};
  return XXH3_64bits(both.data(), sizeof both);
}

// What datums share.

class SharedString final : public Shared {
 public:
  explicit SharedString(std::string&& bytes) : text(std::move(bytes)) {}
  const std::string text;
};

class SharedDecimal final : public Shared {
 public:
  explicit SharedDecimal(Decimal&& value) : number(std::move(value)) {}
  const Decimal number;
};

// A list that is there, or the bytes to make it of when it is asked for.
class SharedList final : public Shared {  // NOLINT(cppcoreguidelines-virtual-class-destructor): end() is its end
 public:
  explicit SharedList(Datum::List&& items) : items_(std::move(items)), state_(State::There) {}
  // The owner is held for it.
  enum class Memory : std::uint8_t { Own, OfOwner };
  SharedList(std::string_view bytes, std::size_t count, const Shared& owner, Memory memory)
      : memory_(memory), owner_(&owner), bytes_(bytes), count_(count) {}
  SharedList(const SharedList&) = delete;
  SharedList& operator=(const SharedList&) = delete;

  [[nodiscard]] const Datum::List& items() const {
    if (state_.load(std::memory_order_acquire) != State::There) unpack();
    return items_;
  }
  [[nodiscard]] std::size_t count() const { return owner_ == nullptr ? items_.size() : count_; }
  [[nodiscard]] std::optional<std::string_view> bytes() const {
    return owner_ == nullptr ? std::nullopt : std::optional(bytes_);
  }
  // Of one that was never packed, and whose only holder asks.
  [[nodiscard]] Datum::List* own() { return owner_ == nullptr ? &items_ : nullptr; }

 protected:
  void end() const override {
    const Shared* owner = owner_;  // may take the memory of this with it
    const std::uint32_t times = owner == nullptr ? 0 : 1 + Datum::abandon(items_, *owner);
    if (memory_ == Memory::Own)
      delete this;
    else
      this->~SharedList();
    if (owner != nullptr) owner->let_go(times);
  }

 private:
  ~SharedList() override = default;

  enum class State : std::uint8_t { Packed, Coming, There };

  void unpack() const {
    Datum::List made(count_);
    std::string_view rest = bytes_;
    check(take_packed(rest, owner_, made), "what has a checksum is what was packed");
    // Where several threads ask at once, the first to be done is heard.
    State before = State::Packed;
    if (state_.compare_exchange_strong(before, State::Coming, std::memory_order_acquire)) {
      items_ = std::move(made);
      state_.store(State::There, std::memory_order_release);
    }
    while (state_.load(std::memory_order_acquire) != State::There) std::this_thread::yield();
  }

  mutable Datum::List items_;
  mutable std::atomic<State> state_{State::Packed};
  Memory memory_ = Memory::Own;
  const Shared* owner_ = nullptr;
  std::string_view bytes_;
  std::size_t count_ = 0;  // packed
};

}  // namespace

void Datum::wrong_kind() { fail_check("a datum is what its type says"); }

Datum::Datum(double value) : about_{0, Kind::Double, false} {
  held_.words.word = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

Datum::Datum(Decimal value) { share(*new SharedDecimal(std::move(value)), Kind::Decimal); }

Datum::Datum(std::string_view value) : about_{value.size() & largest, Kind::String, false} {
  if (value.size() <= sizeof held_.small) {
    std::copy(value.begin(), value.end(), held_.small);
    return;
  }
  auto* shared = new SharedString(std::string(value));
  share(*shared, Kind::String);
  held_.words.word = std::bit_cast<std::uint64_t>(shared->text.data());
}

Datum::Datum(std::string&& value) : about_{value.size() & largest, Kind::String, false} {
  if (value.size() <= sizeof held_.small) {
    std::copy(value.begin(), value.end(), held_.small);
    return;
  }
  auto* shared = new SharedString(std::move(value));
  share(*shared, Kind::String);
  held_.words.word = std::bit_cast<std::uint64_t>(shared->text.data());
}

// An empty list is held by nobody.
Datum::Datum(List value) : about_{0, Kind::List, false} {
  if (!value.empty()) share(*new SharedList(std::move(value)), Kind::List);
}

Datum Datum::within(std::string_view bytes, const Shared& owner, std::uint32_t& held) {
  Datum out;
  out.about_.size = bytes.size() & largest;
  if (bytes.size() <= sizeof out.held_.small) {
    out.about_.kind = Kind::String;
    std::copy(bytes.begin(), bytes.end(), out.held_.small);
    return out;
  }
  --held;
  out.share(owner, Kind::String);
  out.held_.words.word = std::bit_cast<std::uint64_t>(bytes.data());
  return out;
}

Datum Datum::packed_list(std::string_view elements, std::size_t count, const Shared& owner, std::uint32_t& held) {
  Datum out;
  out.share(*new SharedList(elements, count, owner, SharedList::Memory::Own), Kind::List);
  --held;
  return out;
}

Datum Datum::packed_list_at(char* room, std::string_view elements, std::size_t count, const Shared& owner,
                            std::uint32_t& held) {
  static_assert(sizeof(SharedList) <= packed_list_room && alignof(SharedList) <= alignof(void*));
  Datum out;
  out.share(*new (room) SharedList(elements, count, owner, SharedList::Memory::OfOwner), Kind::List);
  --held;
  return out;
}

std::uint32_t Datum::abandon(List& list, const Shared& owner) {
  std::uint32_t abandoned = 0;
  for (Datum& datum : list) {
    if (!datum.about_.shares || datum.held_.words.owner != &owner) continue;
    datum.leave();
    ++abandoned;
  }
  return abandoned;
}

const Decimal& Datum::as_decimal() const {
  expect(Kind::Decimal);
  return static_cast<const SharedDecimal*>(held_.words.owner)->number;
}

const Datum::List& Datum::as_list() const {
  static const List empty;
  expect(Kind::List);
  if (!about_.shares) return empty;
  return static_cast<const SharedList*>(held_.words.owner)->items();
}

Datum::List& Datum::change_list() {
  expect(Kind::List);
  if (about_.shares) {
    // What datums hold is made by them, not as constants.
    auto* shared = const_cast<SharedList*>(static_cast<const SharedList*>(held_.words.owner));
    if (shared->alone())
      if (List* own = shared->own()) return *own;
  }
  auto* own = new SharedList(List(as_list()));
  drop();
  share(*own, Kind::List);
  return *own->own();
}

std::size_t Datum::list_size() const {
  expect(Kind::List);
  return about_.shares ? static_cast<const SharedList*>(held_.words.owner)->count() : 0;
}

std::optional<std::string_view> Datum::packed() const {
  if (!is_list() || !about_.shares) return std::nullopt;
  return static_cast<const SharedList*>(held_.words.owner)->bytes();
}

bool operator==(const Datum& a, const Datum& b) {
  if (a.about_.kind != b.about_.kind) return false;
  if (a.is_string()) return a.as_string() == b.as_string();
  if (!a.is_list()) return std::is_eq(a <=> b);
  if (a.held_.words.owner == b.held_.words.owner) return true;
  return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(), b.as_list().end());
}

std::strong_ordering operator<=>(const Datum& a, const Datum& b) {
  if (a.about_.kind != b.about_.kind) return a.about_.kind <=> b.about_.kind;
  if (a.is_bool()) return a.as_bool() <=> b.as_bool();
  if (a.is_int()) return a.as_int() <=> b.as_int();
  if (a.is_double()) return compare(a.as_double(), b.as_double());
  if (a.is_decimal()) return a.as_decimal() <=> b.as_decimal();
  if (a.is_string()) return a.as_string().compare(b.as_string()) <=> 0;
  if (a.is_list()) return compare(a.as_list(), b.as_list());
  return std::strong_ordering::equal;
}

std::size_t hash_value(const Datum& datum) {
  if (datum.is_bool()) return mixed(1, datum.as_bool() ? 1 : 0);
  if (datum.is_int()) return mixed(2, static_cast<std::size_t>(datum.as_int()));
  if (datum.is_double()) return mixed(3, std::hash<double>()(datum.as_double()));
  if (datum.is_decimal()) {
    const std::string& text = datum.as_decimal().text();
    return XXH3_64bits_withSeed(text.data(), text.size(), 4);
  }
  if (datum.is_string()) return XXH3_64bits(datum.as_string().data(), datum.as_string().size());
  if (datum.is_list()) {
    std::size_t hash = 6;
    for (const Datum& element : datum.as_list()) hash = mixed(hash, hash_value(element));
    return hash;
  }
  return 0;
}

Datum from_literal(const Type& type, const Literal& literal) {
  if (const auto* held = std::get_if<bool>(&literal)) return *held;
  if (const auto* held = std::get_if<std::int64_t>(&literal)) {
    if (type.kind == TypeKind::Float) return static_cast<double>(*held);
    if (type.kind == TypeKind::Decimal) return Decimal(*held);
    return *held;
  }
  if (const auto* held = std::get_if<double>(&literal)) return *held;
  if (const auto* held = std::get_if<std::string>(&literal)) {
    if (type.kind == TypeKind::Decimal) return Decimal::from_canonical(*held);
    if (type.kind == TypeKind::TimeUuid) return to_sortable(*held);
    if (type.kind == TypeKind::Inet) return to_inet(*held);
    return *held;
  }
  return {};
}

Literal to_literal(const Type& type, const Datum& datum) {
  check(!datum.is_list(), "a literal is a scalar");
  if (datum.is_bool()) return datum.as_bool();
  if (datum.is_int()) return datum.as_int();
  if (datum.is_double()) return datum.as_double();
  if (datum.is_decimal()) return datum.as_decimal().text();
  if (datum.is_string()) {
    if (type.kind == TypeKind::TimeUuid) return from_sortable(datum.as_string());
    if (type.kind == TypeKind::Inet) return from_inet(datum.as_string());
    return std::string(datum.as_string());
  }
  return {};
}

// RFC 4122 has the time as its low 4 bytes, its middle 2, its high 2 with the version; then the rest.
std::string to_sortable(std::string_view raw) {
  check(raw.size() == 16, "a timeuuid has 16 bytes");
  std::string out;
  out.reserve(16);
  out.append(raw.substr(6, 2)).append(raw.substr(4, 2)).append(raw.substr(0, 4)).append(raw.substr(8));
  return out;
}

std::string from_sortable(std::string_view sortable) {
  check(sortable.size() == 16, "a timeuuid has 16 bytes");
  std::string out;
  out.reserve(16);
  out.append(sortable.substr(4, 4)).append(sortable.substr(2, 2)).append(sortable.substr(0, 2));
  out.append(sortable.substr(8));
  return out;
}

std::string to_inet(std::string_view raw) {
  check(raw.size() == 4 || raw.size() == 16, "an address has 4 or 16 bytes");
  std::string out(1, raw.size() == 4 ? '\4' : '\6');
  out += raw;
  return out;
}

std::string from_inet(std::string_view inet) {
  check(inet.size() == 5 || inet.size() == 17, "an address has its family and 4 or 16 bytes");
  return std::string(inet.substr(1));
}

Datum make_set(Datum::List elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

Datum make_map(Datum::List entries) {
  const auto key = [](const Datum& entry) -> const Datum& { return entry.as_list().front(); };
  std::stable_sort(entries.begin(), entries.end(), [&](const Datum& a, const Datum& b) { return key(a) < key(b); });
  Datum::List out;
  for (Datum& entry : entries) {
    if (!out.empty() && key(out.back()) == key(entry)) {
      out.back() = std::move(entry);
    } else {
      out.push_back(std::move(entry));
    }
  }
  return out;
}

Datum nothing(const Type& type) {
  if (type.is_collection() || type.kind == TypeKind::Rows) return Datum::List{};
  return {};
}

std::size_t bytes_of(const Datum& datum) {
  if (datum.is_string()) return datum.as_string().size();
  if (datum.is_int() || datum.is_double() || datum.is_decimal()) return 8;
  if (datum.is_list()) {
    std::size_t bytes = 0;
    for (const Datum& element : datum.as_list()) bytes += bytes_of(element);
    return bytes;
  }
  return 1;
}

}  // namespace noam::model
