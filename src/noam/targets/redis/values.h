#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "noam/model/datum.h"
#include "noam/targets/redis/layout.h"

// Keys and values as Redis has them: bytes, which are texts wherever they can be.
namespace noam::targets::redis {

// The parts of a key as one text, joined with `:`. In them `%`, `:`, `{` and `}` are written `%25`, `%3A`, `%7B`,
// `%7D`; an absent part is `%-`, an empty text `%=`. A reference by several parts is these parts.
std::string joined_text(const model::Model& model, const std::vector<Column>& columns,
                        const std::vector<model::Datum>& parts);

// The entry's key as it stands in fields: one text as it is, several joined.
std::string entry_text(const model::Model& model, const PlacedFamily& family, const std::vector<model::Datum>& key);

// The entry's key as a member of its sorted set: the text itself where that sorts right; else the hexadecimal digits
// of bytes that do (model::append_ordered), `:`, and the text.
std::string member_text(const model::Model& model, const PlacedFamily& family, const std::vector<model::Datum>& key);

// A value that is there: scalars as texts, bytes as they are, everything else as JSON.
std::string value_text(const model::Model& model, const model::Type& type, const model::Datum& datum);

// `games[0]`, given what is before the bracket.
std::string bracketed(std::string_view field, std::string_view entry);
// The field of a column of an entry.
std::string field_of(const PlacedFamily& family, std::string_view field, const std::string& entry);

// Where the version is of the instance whose head the entry is.
std::string version_field(const PlacedFamily& head, const std::string& entry);

// An argument as redis-cli reads it: in double quotes, with escapes, where it is not a plain word.
std::string quoted(std::string_view argument);

}  // namespace noam::targets::redis
