#include "noam/model/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace noam::model {

namespace {

// Words and the quoted texts that must stay whole.
std::vector<std::string_view> unbreakable(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ' ' && quote == 0)) {
      if (i > begin) pieces.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (quote == text[i]) {
      quote = 0;
    } else if (quote == 0 && (text[i] == '"' || text[i] == '`')) {
      quote = text[i];
    }
  }
  return pieces;
}

std::string with_underscores(std::string digits) {
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, '_');
  }
  return digits;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto length = static_cast<std::int32_t>(text.size());
  std::size_t width = 0;
  for (std::int32_t at = 0; at < length;) {
    UChar32 c = 0;
    U8_NEXT(bytes, at, length, c);
    if (c >= 0 && (U_GET_GC_MASK(c) & (U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK)) != 0) continue;
    const int kind = c < 0 ? U_EA_NEUTRAL : u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    width += kind == U_EA_WIDE || kind == U_EA_FULLWIDTH ? 2 : 1;
  }
  return width;
}

std::size_t display_width(const std::vector<std::string>& lines) {
  std::size_t out = 0;
  for (const std::string& line : lines) out = std::max(out, display_width(line));
  return out;
}

std::size_t fitting(std::string_view text, std::size_t width) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto length = static_cast<std::int32_t>(text.size());
  std::size_t kept = 0;
  std::size_t taken = 0;
  for (std::int32_t at = 0; at < length; kept = static_cast<std::size_t>(at)) {
    U8_FWD_1(bytes, at, length);
    taken += display_width(text.substr(kept, static_cast<std::size_t>(at) - kept));
    if (taken > width) break;
  }
  return kept;
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  const bool quoted = text.size() > 1 && text.back() == '"' && width > 2;
  const std::string_view end = quoted ? "…\"" : "…";
  const std::size_t room = width - std::min(width, display_width(end));
  return fmt::format("{}{}", text.substr(0, fitting(text, room)), end);
}

std::vector<std::string> folded(std::string_view text, std::size_t width) {
  std::vector<std::string> out(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (!out.back().empty() && display_width(out.back()) + 1 + display_width(word) > width) out.emplace_back();
    if (!out.back().empty()) out.back() += " ";
    out.back() += word;
  }
  for (std::string& line : out) line = cut(line, width);
  return out;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(text) + std::string(taken < width ? width - taken : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(taken < width ? width - taken : 0, ' ') + std::string(text);
}

std::string wrapped(std::string_view first, std::size_t indent, const std::vector<std::string>& items,
                    std::string_view separator) {
  std::string out(first);
  std::size_t column = display_width(first);
  bool line_begins = true;
  const auto fits = [&](std::size_t width) { return line_begins || column + 1 + width <= page_width; };
  const auto break_line = [&] {
    out += '\n' + std::string(indent, ' ');
    column = indent;
    line_begins = true;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = i + 1 < items.size() ? items[i] + std::string(separator) : items[i];
    if (!fits(display_width(item))) break_line();
    for (const auto piece : unbreakable(item)) {
      const std::size_t width = display_width(piece);
      if (!fits(width)) break_line();
      if (!line_begins) {
        out += ' ';
        ++column;
      }
      out += piece;
      column += width;
      line_begins = false;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + '\n';
}

std::string wrapped(std::string_view first, std::size_t indent, const std::string& text) {
  return wrapped(first, indent, std::vector<std::string>{text});
}

std::string Table::print(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = display_width(row[i]);
      if (width <= widest_) widths[i] = std::max(widths[i], width);
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0 && row[i].empty()) continue;  // a column without anything
      if (line.size() > indent) line += "  ";
      line += i < right_.size() && right_[i] ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + '\n';
  }
  return out;
}

std::string figure(double number) {
  if (!std::isfinite(number)) return "?";
  if (number >= 100 || number == std::floor(number)) return with_underscores(fmt::format("{:.0f}", number));
  return fmt::format("{:.3g}", number);
}

std::string figure(const std::optional<Estimate>& estimate) {
  if (!estimate) return "*";
  return (estimate->derived ? "≈" : "~") + figure(estimate->value);
}

std::string bytes_figure(double bytes) {
  constexpr std::array<const char*, 6> units = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 || bytes >= 9.95 ? fmt::format("{:.0f} {}", bytes, units[unit])
                                    : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace noam::model
