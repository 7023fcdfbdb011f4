#include "noam/model/command_id.h"

#include <algorithm>

#include <xxhash.h>

#include "noam/model/scalars.h"

namespace noam::model {

namespace {

// What is made of an id must stay the same for ever: these numbers, their layout and the hash are part of the format.
enum class Purpose : unsigned char { Part = 1, Uuid = 2, TimeUuid = 3, Text = 4, Tick = 5 };

using Bytes = std::array<unsigned char, 16>;

template <std::size_t count>
void append_big_endian(std::string& out, std::uint64_t number) {
  for (std::size_t i = count; i-- > 0;) out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

Bytes hash(const std::string& bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Bytes out;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), out.begin());
  return out;
}

std::string seed(Purpose purpose, const CommandId& id) {
  std::string out(1, static_cast<char>(purpose));
  out.append(id.bytes.begin(), id.bytes.end());
  return out;
}

std::string seed(Purpose purpose, const CommandId& id, std::uint32_t change, std::uint32_t site) {
  std::string out = seed(purpose, id);
  append_big_endian<4>(out, change);
  append_big_endian<4>(out, site);
  return out;
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = (number << 8U) | bytes[at + i];
  return number;
}

void mark_version(Bytes& bytes, unsigned version) {
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | (version << 4U));
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
}

}  // namespace

std::int64_t CommandId::milliseconds() const { return static_cast<std::int64_t>(number_at(bytes, 0) >> 16U); }

std::string CommandId::text() const { return print_uuid(std::string(bytes.begin(), bytes.end())); }

std::optional<CommandId> parse_command_id(std::string_view text) {
  const auto raw = parse_uuid(text);
  if (!raw) return std::nullopt;
  CommandId id;
  std::copy(raw->begin(), raw->end(), id.bytes.begin());
  if (id.bytes[6] >> 4U != 7U || id.bytes[8] >> 6U != 2U) return std::nullopt;
  // `now()` is the time of the id.
  return id.milliseconds() <= last_command_time ? std::optional(id) : std::nullopt;
}

CommandId make_command_id(std::int64_t milliseconds, std::uint64_t random_a, std::uint64_t random_b) {
  CommandId id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(milliseconds) >> (8 * (5 - i)));
  }
  id.bytes[6] = static_cast<unsigned char>(random_a >> 8U);
  id.bytes[7] = static_cast<unsigned char>(random_a);
  for (std::size_t i = 0; i < 8; ++i) id.bytes[8 + i] = static_cast<unsigned char>(random_b >> (8 * (7 - i)));
  mark_version(id.bytes, 7);
  return id;
}

CommandId part_of(const CommandId& id, std::uint64_t n) {
  std::string bytes = seed(Purpose::Part, id);
  append_big_endian<8>(bytes, n);
  const Bytes random = hash(bytes);
  return make_command_id(id.milliseconds(), number_at(random, 0), number_at(random, 8));
}

std::string generated_uuid(const CommandId& id, std::uint32_t change, std::uint32_t site) {
  Bytes bytes = hash(seed(Purpose::Uuid, id, change, site));
  mark_version(bytes, 8);
  return {bytes.begin(), bytes.end()};
}

// The time in steps of 100 nanoseconds since 1582: the id's millisecond, in it a step that the id chooses, so that two
// commands of one millisecond rarely meet, and the high bits of `change`. Then 20 bits of `change` and 42 of a hash.
std::string generated_timeuuid(const CommandId& id, std::uint32_t change, std::uint32_t site) {
  constexpr std::uint64_t from_1582_to_1970 = 0x01B21DD213814000;
  constexpr std::uint64_t steps_a_millisecond = 10'000;
  constexpr unsigned low_bits = 20;
  constexpr std::uint64_t high_steps = std::uint64_t{1} << (32 - low_bits);
  const std::uint64_t chosen = number_at(hash(seed(Purpose::Tick, id)), 0) % (steps_a_millisecond - high_steps);
  const std::uint64_t time = from_1582_to_1970 + static_cast<std::uint64_t>(id.milliseconds()) * steps_a_millisecond +
                             chosen + (change >> low_bits);
  const std::uint64_t low = change & ((1U << low_bits) - 1U);
  const std::uint64_t random = number_at(hash(seed(Purpose::TimeUuid, id, change, site)), 0) >> (64 - 42);

  // Sortable: the version and the time from its highest bit, then the variant and the rest.
  std::string out;
  append_big_endian<8>(out, (std::uint64_t{1} << 60U) | (time & ((std::uint64_t{1} << 60U) - 1)));
  append_big_endian<8>(out, (std::uint64_t{2} << 62U) | (low << 42U) | random);
  return out;
}

std::string generated_text(const CommandId& id, std::uint32_t change, std::uint32_t site, std::int64_t length) {
  constexpr std::string_view alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr unsigned usable = 256 / alphabet.size() * alphabet.size();  // so that each is as likely
  const std::string beginning = seed(Purpose::Text, id, change, site);
  std::string out;
  for (std::uint32_t block = 0; static_cast<std::int64_t>(out.size()) < length; ++block) {
    std::string bytes = beginning;
    append_big_endian<4>(bytes, block);
    for (const unsigned char byte : hash(bytes)) {
      if (byte < usable && static_cast<std::int64_t>(out.size()) < length) out += alphabet[byte % alphabet.size()];
    }
  }
  return out;
}

}  // namespace noam::model
