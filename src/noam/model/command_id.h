#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace noam::model {

// The id of one call of a command, a UUIDv7: its time in milliseconds and random bits. Everything a command makes up
// (`now()`, keys, `uuid()`, `random_text`) follows from it, so that a repeat is the same command.
struct CommandId {
  std::array<unsigned char, 16> bytes{};

  bool operator==(const CommandId&) const = default;
  [[nodiscard]] std::int64_t milliseconds() const;  // since 1970
  [[nodiscard]] std::string text() const;           // lower case, with hyphens
};

// The last timestamp there is; the 48 bits of a UUIDv7 go further.
inline constexpr std::int64_t last_command_time = 253'402'300'799'999;

// Nothing where it is no UUIDv7, or its time is no timestamp.
std::optional<CommandId> parse_command_id(std::string_view text);
CommandId make_command_id(std::int64_t milliseconds, std::uint64_t random_a, std::uint64_t random_b);
// The id of the n-th part of a command: each instance that a bulk change changes.
CommandId part_of(const CommandId& id, std::uint64_t n);

// What a command makes up. `change` counts the changes as they are carried out, from 0, each round of a `for` anew, the
// `for` and each `require` too; `site` tells apart what one change makes (see Expr::index of uuid() and random_text).
std::string generated_uuid(const CommandId& id, std::uint32_t change, std::uint32_t site);  // 16 bytes, version 8
// Version 1, sortable as Datum has it: the id's time, then `change` decides.
std::string generated_timeuuid(const CommandId& id, std::uint32_t change, std::uint32_t site);
// Of digits and small letters.
std::string generated_text(const CommandId& id, std::uint32_t change, std::uint32_t site, std::int64_t length);

// The site of a generated key: its field.
constexpr std::uint32_t key_site(std::uint32_t field) { return 0x80000000U + field; }

}  // namespace noam::model
