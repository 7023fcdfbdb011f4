#pragma once

#include <cstdint>
#include <string_view>

namespace noam::language {

// The words that may mean something where they stand, ours and those of other languages that people bring along.
// Any of them may be a name elsewhere.
enum class Word : std::uint8_t {
  None,
  // declarations
  Model,
  Value,
  Entity,
  Query,
  Command,
  Group,
  Mix,
  Design,
  // data
  Transient,
  Key,
  Auto,
  Owner,
  Inverse,
  Distinct,
  Skew,
  Zipf,
  Ttl,
  Require,
  List,
  Set,
  Map,
  // queries
  Refresh,
  Every,
  Keep,
  Select,
  From,
  Where,
  By,
  Order,
  Limit,
  As,
  Without,
  History,
  Asc,
  Desc,
  // expressions
  Or,
  And,
  Not,
  In,
  Contains,
  All,
  Any,
  Starts,
  With,
  Between,
  Is,
  Absent,
  True,
  False,
  Minute,
  Minutes,
  Hour,
  Hours,
  Day,
  Days,
  Week,
  Weeks,
  // commands
  Insert,
  Put,
  Update,
  Delete,
  Append,
  Add,
  Remove,
  For,
  Then,
  Into,
  To,
  // mixes, designs
  Like,
  At,
  Collection,
  Of,
  Entry,
  Copy,
  Rest,
  // other languages
  Null,
  Nil,
  Having,
  Union,
  Intersect,
  Except,
  Join,
  Inner,
  Left,
  Right,
  Full,
  Outer,
  Cross,
  Natural,
  On,
  Using,
  Offset,
  Skip,
  Ilike,
  Exists,
  Case,
  Unique,
  Primary,
  Default,
  References,
  Nullable,
  Optional,
  Required,
  Index,
  Indexed,
  Values,
  Ascending,
  Descending,
  Nulls,
  Count,
};

inline constexpr Word last_word = Word::Count;

// The word that a name spells, in lower case or in capitals; `Order` is a name and no word.
Word find_word(std::string_view name);
std::string_view spelling(Word word);

constexpr bool is_declaration(Word word) { return word >= Word::Value && word <= Word::Design; }
constexpr bool is_change(Word word) {
  switch (word) {
    case Word::Insert:
    case Word::Put:
    case Word::Update:
    case Word::Delete:
    case Word::Append:
    case Word::Add:
    case Word::Remove:
    case Word::Require:
    case Word::For:
      return true;
    default:
      return false;
  }
}
constexpr bool is_duration_unit(Word word) { return word >= Word::Minute && word <= Word::Weeks; }

}  // namespace noam::language
