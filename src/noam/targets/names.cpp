#include "noam/targets/names.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace noam::targets {

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

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string with_end(const NameRules& rules, std::string_view name, std::string_view wanted) {
  const std::string end = fmt::format("_{:08x}", hash_of(wanted));
  return std::string(name.substr(0, rules.longest - std::min(rules.longest, end.size()))) + end;
}

}  // namespace

std::string legal_name(const NameRules& rules, std::string_view wanted) {
  std::string out;
  bool replaced = false;
  for (const char c : wanted) {
    const bool inside = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of a character of several bytes
    if (is_letter(c) || is_digit(c) || rules.others.find(c) != std::string_view::npos) {
      out += rules.lower_case ? small(c) : c;
    } else {
      replaced = true;
      if (!inside) out += '_';
    }
  }
  if (out.empty() || (rules.letter_first && !is_letter(out.front()))) out.insert(0, "n");
  if (std::find(rules.reserved.begin(), rules.reserved.end(), small(out)) != rules.reserved.end()) out += '_';
  // Names that say nothing in these letters still differ.
  if (replaced && std::none_of(wanted.begin(), wanted.end(), is_letter)) return with_end(rules, out, wanted);
  return out.size() > rules.longest ? with_end(rules, out, wanted) : out;
}

std::string Namer::give(std::string_view wanted) {
  const auto key = [&](const std::string& name) { return rules_.tells_case ? name : small(name); };
  std::string name = legal_name(rules_, wanted);
  if (!taken_.insert(key(name)).second) {
    name = with_end(rules_, name, wanted);
    for (int i = 2; !taken_.insert(key(name)).second; ++i)
      name = with_end(rules_, legal_name(rules_, wanted), fmt::format("{}{}", wanted, i));
  }
  return name;
}

}  // namespace noam::targets
