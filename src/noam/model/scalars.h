#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// How scalars are written as text, in the language and in lines of JSON, and read back. Reading takes the whole text
// or gives nothing: no blanks around it, nothing rounded, nothing cut. What a print function gives, its parse function
// reads as the same value.
namespace noam::model {

// RFC 3339, as `2024-02-29T23:59:59.999Z` or with an offset as `+02:00`: milliseconds since 1970, UTC. Years 1 to 9999
// (in UTC, too). Nothing for dates that do not exist, leap seconds, and what is finer than a millisecond.
std::optional<std::int64_t> parse_timestamp(std::string_view text);
std::string print_timestamp(std::int64_t milliseconds);  // always three digits and Z

// `2024-02-29`: days since 1970, years 1 to 9999.
std::optional<std::int64_t> parse_date(std::string_view text);
std::string print_date(std::int64_t days);

// 8-4-4-4-12 hexadecimal digits of any case: 16 raw bytes. Printed in lower case.
std::optional<std::string> parse_uuid(std::string_view text);
std::string print_uuid(std::string_view bytes);
bool is_timeuuid(std::string_view bytes);  // of version 1

// An address without zone or prefix: 4 raw bytes, or 16 (`::ffff:1.2.3.4`, too). Printed as RFC 5952 says.
std::optional<std::string> parse_inet(std::string_view text);
std::string print_inet(std::string_view bytes);

// RFC 4648, padded, without line breaks; bits that pad must be zero.
std::optional<std::string> parse_base64(std::string_view text);
std::string print_base64(std::string_view bytes);

// `[+-]digits[.digits][e[+-]digits]`: the same number, positional and shortest (`1.50` is `1.5`, `-0` is `0`). Nothing
// where it has more than 34 significant digits or its last one (zeros dropped) an exponent outside -100 to 100.
std::optional<std::string> parse_decimal(std::string_view text);

// `[-]digits` in 64 bits.
std::optional<std::int64_t> parse_int(std::string_view text);

// `[+-]digits[.digits][e[+-]digits]`: the nearest double; -0 is 0. Nothing where that is infinite.
std::optional<double> parse_float(std::string_view text);
std::string print_float(double number);  // the shortest that reads as the same number, as JSON has it

// Valid UTF-8 without U+0000: what a text may hold.
bool is_utf8_text(std::string_view bytes);

// Of valid UTF-8.
std::size_t code_points(std::string_view text);

}  // namespace noam::model
