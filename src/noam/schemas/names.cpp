#include "noam/schemas/names.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace noam::schemas {

namespace {

// FNV-1a: short ends for names need no more.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string small(std::string text) {
  for (char& c : text) c = small(c);
  return text;
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_small(c) || is_capital(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string with_end(const NameRules& rules, std::string_view name, std::string_view wanted) {
  const std::string end = fmt::format("_{:08x}", hash_of(wanted));
  return std::string(name.substr(0, rules.longest - std::min(rules.longest, end.size()))) + end;
}

}  // namespace

std::string legal_name(const NameRules& rules, std::string_view wanted) {
  std::string out;
  bool replaced = false;
  char before = '_';
  for (const char c : wanted) {
    const bool inside = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of a character of several bytes
    if (rules.lower_case && is_capital(c) && !out.empty() && (is_small(before) || is_digit(before))) out += '_';
    before = c;
    if (is_letter(c) || is_digit(c) || rules.others.find(c) != std::string_view::npos) {
      out += rules.lower_case ? small(c) : c;
    } else {
      replaced = true;
      if (!inside) out += '_';
    }
  }
  if (out.empty() || (rules.letter_first && !is_letter(out.front())) || (!rules.digit_first && is_digit(out.front())))
    out.insert(0, "n");
  if (std::find(rules.reserved.begin(), rules.reserved.end(), small(out)) != rules.reserved.end()) out += '_';
  // Names that say nothing in these letters still differ.
  if (replaced && std::none_of(wanted.begin(), wanted.end(), is_letter)) return with_end(rules, out, wanted);
  return out.size() > rules.longest ? with_end(rules, out, wanted) : out;
}

std::string Namer::told_apart(std::string name) const { return rules_.tells_case ? name : small(std::move(name)); }

std::string Namer::give(std::string_view wanted) {
  std::string name = legal_name(rules_, wanted);
  if (taken_.insert(told_apart(name)).second) return name;
  const std::string taken = name;
  name = with_end(rules_, taken, wanted);
  for (int i = 2; !taken_.insert(told_apart(name)).second; ++i)
    name = with_end(rules_, taken, fmt::format("{}{}", wanted, i));
  return name;
}

std::string Namer::give(std::string_view wanted, std::string_view otherwise) {
  return give(taken_.contains(told_apart(legal_name(rules_, wanted))) ? otherwise : wanted);
}

}  // namespace noam::schemas
