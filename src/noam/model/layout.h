#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/model/estimates.h"

// Text in columns, and figures for people.
namespace noam::model {

constexpr std::size_t page_width = 100;

// Columns it takes on a terminal.
std::size_t display_width(std::string_view text);
std::size_t display_width(const std::vector<std::string>& lines);  // of the widest

// How many bytes of it fit into so many columns; whole characters.
std::size_t fitting(std::string_view text, std::size_t width);
// The first of it, ending in `…`, where it is wider. A closing quote stays.
std::string cut(std::string_view text, std::size_t width);

std::string pad_right(std::string_view text, std::size_t width);  // text first
std::string pad_left(std::string_view text, std::size_t width);

// Lines of at most `page_width` columns, where that can be done without breaking a word or a quoted text, and between
// items rather than inside them: the first begins with `first`, the others are indented by `indent`. Each item but the
// last is followed by the separator. Ends in a line break.
std::string wrapped(std::string_view first, std::size_t indent, const std::vector<std::string>& items,
                    std::string_view separator = ",");
std::string wrapped(std::string_view first, std::size_t indent, const std::string& text);

// Words in lines of at most so many columns. One that is longer is cut.
std::vector<std::string> folded(std::string_view text, std::size_t width);

// Rows whose columns stand under each other; what is empty at the end of a row takes no room. `right[i]`: column i is
// aligned to the right. Columns wider than `widest` do not push the others.
class Table {
 public:
  explicit Table(std::vector<bool> right = {}, std::size_t widest = 40) : right_(std::move(right)), widest_(widest) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string print(std::size_t indent) const;

 private:
  std::vector<bool> right_;
  std::size_t widest_;
  std::vector<std::vector<std::string>> rows_;
};

// `1_000_000`, `0.5`, `2.33`.
std::string figure(double number);
// With `~` where a person wrote it, `≈` where it follows from others; `*` where there is none.
std::string figure(const std::optional<Estimate>& estimate);
// `120 B`, `2.5 kB`.
std::string bytes_figure(double bytes);
// `3 entities`, `1 entity`.
std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace noam::model
