#include "noam/language/words.h"

#include <array>
#include <cstddef>

namespace noam::language {

namespace {

constexpr std::size_t word_count = static_cast<std::size_t>(last_word) + 1;

// In the order of the enumeration.
constexpr std::array<std::string_view, word_count> spellings = {
    "",           "model",      "value",    "entity",   "query",    "command",  "group",   "mix",    "design",
    "transient",  "key",        "auto",     "owner",    "inverse",  "distinct", "skew",    "zipf",   "ttl",
    "require",    "list",       "set",      "map",      "refresh",  "every",    "keep",    "select", "from",
    "where",      "by",         "order",    "limit",    "as",       "without",  "history", "asc",    "desc",
    "or",         "and",        "not",      "in",       "contains", "all",      "any",     "starts", "with",
    "between",    "is",         "absent",   "true",     "false",    "minute",   "minutes", "hour",   "hours",
    "day",        "days",       "week",     "weeks",    "insert",   "put",      "update",  "delete", "append",
    "add",        "remove",     "for",      "then",     "into",     "to",       "like",    "at",     "collection",
    "of",         "entry",      "copy",     "rest",     "null",     "nil",      "having",  "union",  "intersect",
    "except",     "join",       "inner",    "left",     "right",    "full",     "outer",   "cross",  "natural",
    "on",         "using",      "offset",   "skip",     "ilike",    "exists",   "case",    "unique", "primary",
    "default",    "references", "nullable", "optional", "required", "index",    "indexed", "values", "ascending",
    "descending", "nulls",      "count",
};
static_assert(spellings.back() == "count", "a spelling for each word");

constexpr std::size_t slots = 512;
constexpr std::size_t longest = 10;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::size_t slot_of(std::string_view word) {
  const auto letter = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(lower(word[at])));
  };
  return (word.size() * 31 + letter(0) * 7 + letter(word.size() / 2) * 67 + letter(word.size() - 1) * 229) % slots;
}

constexpr std::array<Word, slots> table = [] {
  std::array<Word, slots> filled{};
  for (std::size_t i = 1; i < word_count; ++i) {
    std::size_t slot = slot_of(spellings[i]);
    while (filled[slot] != Word::None) slot = (slot + 1) % slots;
    filled[slot] = static_cast<Word>(i);
  }
  return filled;
}();

bool spells(std::string_view name, std::string_view word) {
  if (name == word) return true;
  if (name.size() != word.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < 'A' || name[i] > 'Z' || lower(name[i]) != word[i]) return false;
  }
  return true;
}

}  // namespace

Word find_word(std::string_view name) {
  if (name.size() < 2 || name.size() > longest) return Word::None;
  for (std::size_t slot = slot_of(name); table[slot] != Word::None; slot = (slot + 1) % slots) {
    if (spells(name, spelling(table[slot]))) return table[slot];
  }
  return Word::None;
}

std::string_view spelling(Word word) { return spellings[static_cast<std::size_t>(word)]; }

}  // namespace noam::language
