#include "noam/model/packed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace noam::model {

namespace {

constexpr int deepest = 200;  // nobody writes deeper than values nest

using Tag = PackedTag;

using Varint = std::array<char, 10>;

void append_sized(std::string_view text, std::string& out) {
  append_varint(text.size(), out);
  out += text;
}

// Enough that nobody stumbles over it.
bool is_decimal_text(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos && text.find('.') == text.rfind('.');
}

// Who owns the bytes, and how often it is held for what is made of them.
struct Holding {
  const Shared* owner;
  std::uint32_t& held;

  [[nodiscard]] bool none() const { return owner == nullptr; }
  [[nodiscard]] Datum text(std::string_view bytes) const { return Datum::within(bytes, *owner, held); }
  [[nodiscard]] Datum list(std::string_view elements, std::size_t count) const {
    return Datum::packed_list(elements, count, *owner, held);
  }
};

// Holds an owner, if there is one, as often as may be needed, and lets go of what was not.
class Held {
 public:
  Held(const Shared* owner, std::size_t most) : owner_(owner), held_(static_cast<std::uint32_t>(most)) {
    if (owner_ != nullptr) owner_->hold(held_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (owner_ != nullptr && held_ != 0) owner_->let_go(held_);
  }

  Holding holding() { return {owner_, held_}; }

 private:
  const Shared* owner_;
  std::uint32_t held_;
};

bool take(std::string_view& bytes, const Holding& holding, int depth, Datum& out);

bool take_double_bits(std::string_view& bytes, std::uint64_t& out) {
  if (bytes.size() < 8) return false;
  out = 0;
  for (unsigned i = 0; i < 8; ++i) out = out << 8U | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(8);
  return true;
}

bool take_list(std::string_view& bytes, const Holding& holding, int depth, Datum& out) {
  std::string_view elements;
  std::uint64_t count = 0;
  if (!take_sized(bytes, elements) || !take_varint(elements, count) || count > elements.size()) return false;
  if (count == 0) {
    out = Datum::List();
    return elements.empty();
  }
  if (!holding.none()) {
    out = holding.list(elements, count);
    return true;
  }
  Datum::List made(count);
  for (Datum& element : made)
    if (!take(elements, holding, depth + 1, element)) return false;
  out = Datum(std::move(made));
  return elements.empty();
}

bool take(std::string_view& bytes, const Holding& holding, int depth, Datum& out) {
  if (bytes.empty() || depth > deepest) return false;
  const auto tag = static_cast<Tag>(bytes.front());
  bytes.remove_prefix(1);
  std::uint64_t number = 0;
  std::string_view text;
  switch (tag) {
    case Tag::Absent:
      out = Datum();
      return true;
    case Tag::False:
    case Tag::True:
      out = Datum(tag == Tag::True);
      return true;
    case Tag::Int:
      if (!take_varint(bytes, number)) return false;
      out = Datum(from_zigzag(number));
      return true;
    case Tag::Double:
      if (!take_double_bits(bytes, number)) return false;
      out = Datum(std::bit_cast<double>(number));
      return true;
    case Tag::Decimal:
      if (!take_sized(bytes, text) || !is_decimal_text(text)) return false;
      out = Datum(Decimal::from_canonical(std::string(text)));
      return true;
    case Tag::String:
      if (!take_sized(bytes, text)) return false;
      out = holding.none() ? Datum(text) : holding.text(text);
      return true;
    case Tag::List:
      return take_list(bytes, holding, depth, out);
  }
  return false;
}

}  // namespace

void append_varint(std::uint64_t number, std::string& out) {
  Varint bytes{};
  out.append(bytes.data(), write_varint(number, bytes.data()));
}

bool take_long_varint(std::string_view& bytes, std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto next = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    out |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
    if (next < 0x80) return true;
  }
  return false;
}

void append_packed(const Datum& datum, std::string& out) {
  const auto tag = [&](Tag kind) { out += static_cast<char>(kind); };
  if (datum.absent()) {
    tag(Tag::Absent);
  } else if (datum.is_bool()) {
    tag(datum.as_bool() ? Tag::True : Tag::False);
  } else if (datum.is_int()) {
    tag(Tag::Int);
    append_varint(zigzag(datum.as_int()), out);
  } else if (datum.is_double()) {
    tag(Tag::Double);
    const auto bits = std::bit_cast<std::uint64_t>(datum.as_double());
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(bits >> static_cast<unsigned>(shift));
  } else if (datum.is_decimal()) {
    tag(Tag::Decimal);
    append_sized(datum.as_decimal().text(), out);
  } else if (datum.is_string()) {
    tag(Tag::String);
    append_sized(datum.as_string(), out);
  } else {
    tag(Tag::List);
    const std::size_t from = out.size();
    append_varint(datum.list_size(), out);
    if (const auto packed = datum.packed())
      out += *packed;
    else
      for (const Datum& element : datum.as_list()) append_packed(element, out);
    // How long it is, before it: now that it is known.
    Varint size{};
    out.insert(from, size.data(), write_varint(out.size() - from, size.data()));
  }
}

namespace {

// Packed elements of our own.
class PackedBytes final : public Shared {
 public:
  explicit PackedBytes(std::string&& all) : bytes(std::move(all)) {}
  const std::string bytes;
};

}  // namespace

Datum packed_list(std::string elements, std::size_t count) {
  if (count == 0) return Datum::List();
  const auto* made = new PackedBytes(std::move(elements));
  std::uint32_t held = 1;  // by being made
  return Datum::packed_list(made->bytes, count, *made, held);
}

Datum with_elements(const Datum& list, const Datum::List& more) {
  const auto packed = list.packed();
  if (!packed) {
    Datum::List all = list.as_list();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string elements(*packed);
  for (const Datum& element : more) append_packed(element, elements);
  return packed_list(std::move(elements), list.list_size() + more.size());
}

bool look_at_packed_number(PackedTag tag, std::string_view& bytes, Packed& out) {
  switch (tag) {
    case Tag::False:
    case Tag::True:
      out.kind = Packed::Kind::Bool;
      out.number = tag == Tag::True ? 1 : 0;
      return true;
    case Tag::Double:
      out.kind = Packed::Kind::Double;
      return take_double_bits(bytes, out.number);
    case Tag::Decimal:
      out.kind = Packed::Kind::Decimal;
      return take_sized(bytes, out.bytes);
    default:
      return false;
  }
}

bool take_datum_bytes(std::string_view& bytes, std::string_view& out) {
  const std::string_view all = bytes;
  Packed looked_at;
  if (!look_at_packed(bytes, looked_at)) return false;
  out = all.substr(0, all.size() - bytes.size());
  return true;
}

bool take_elements(std::string_view& bytes, PackedElements& out) {
  Packed list;
  if (!look_at_packed(bytes, list) || list.kind != Packed::Kind::List) return false;
  out = {list.number, list.bytes};
  return true;
}

void append_packed_list(const std::vector<PackedElements>& pieces, std::string& out) {
  std::uint64_t count = 0;
  std::size_t bytes = 0;
  for (const PackedElements& piece : pieces) {
    count += piece.count;
    bytes += piece.bytes.size();
  }
  Varint number{};
  const std::size_t number_bytes = write_varint(count, number.data());
  out += static_cast<char>(Tag::List);
  append_varint(number_bytes + bytes, out);
  out.append(number.data(), number_bytes);
  for (const PackedElements& piece : pieces) out += piece.bytes;
}

bool take_packed(std::string_view& bytes, const Shared* owner, Datum& out) {
  Held held(owner, 1);
  return take(bytes, held.holding(), 0, out);
}

bool take_packed(std::string_view& bytes, const Shared& owner, std::uint32_t& held, Datum& out) {
  return take(bytes, {&owner, held}, 0, out);
}

bool take_packed(std::string_view& bytes, const Shared* owner, Datum::List& out) {
  Held held(owner, out.size());
  const Holding holding = held.holding();
  return std::all_of(out.begin(), out.end(), [&](Datum& datum) { return take(bytes, holding, 0, datum); });
}

}  // namespace noam::model
