#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/design/draw.h"
#include "noam/design/figures.h"
#include "noam/model/layout.h"

namespace noam::design {

using model::display_width;
using model::page_width;

namespace {

using Lines = std::vector<std::string>;

const std::string nothing_drawn = "no collections\n";

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// What a box is drawn with.
struct Pen {
  std::string_view across;              // outside
  std::string_view down;                // outside
  std::array<std::string_view, 3> top;  // corners, and what goes down from there
  std::array<std::string_view, 3> bottom;
  std::array<std::string_view, 3> between;  // a line inside
};
constexpr Pen heavy{"━", "┃", {"┏", "┯", "┓"}, {"┗", "┷", "┛"}, {"┠", "┼", "┨"}};
constexpr Pen light{"╌", "┆", {"┌", "┬", "┐"}, {"└", "┴", "┘"}, {"├", "┼", "┤"}};

std::string ruled(const std::array<std::string_view, 3>& corners, std::string_view across,
                  const std::vector<std::size_t>& widths) {
  std::string out(corners[0]);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    out += repeated(across, widths[i] + 2);
    out += i + 1 < widths.size() ? corners[1] : corners[2];
  }
  return out;
}

std::string row(const Pen& pen, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string out(pen.down);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += " " + model::pad_right(cells[i], widths[i]) + " ";
    out += i + 1 < cells.size() ? "│" : pen.down;
  }
  return out;
}

struct Box {
  Lines lines;
  std::size_t above = 0;  // of these, lines that stand above it
};

// Boxes from left to right, their tops in line, in as many rows as it takes.
std::string flowing(const std::vector<Box>& boxes, std::string_view between_rows) {
  constexpr std::size_t gap = 3;
  std::string out;
  for (std::size_t begin = 0; begin < boxes.size();) {
    std::vector<std::size_t> widths;
    std::size_t taken = 0;
    std::size_t above = 0;
    std::size_t below = 0;
    for (std::size_t i = begin; i < boxes.size(); ++i) {
      const std::size_t width = display_width(boxes[i].lines);
      if (i > begin && taken + gap + width > page_width) break;
      taken += width + (i > begin ? gap : 0);
      widths.push_back(width);
      above = std::max(above, boxes[i].above);
      below = std::max(below, boxes[i].lines.size() - boxes[i].above);
    }
    if (begin > 0) out += between_rows;
    for (std::size_t y = 0; y < above + below; ++y) {
      std::string line;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const Box& box = boxes[begin + i];
        const std::size_t skipped = above - box.above;
        const bool there = y >= skipped && y - skipped < box.lines.size();
        line += (i > 0 ? std::string(gap, ' ') : "") + model::pad_right(there ? box.lines[y - skipped] : "", widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    begin += widths.size();
  }
  return out;
}

std::string joined(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// --- Blocks ---------------------------------------------------------------------------------------------------------

constexpr std::size_t widest_block_key = 24;
constexpr std::size_t widest_entry_key = 36;
constexpr std::size_t block_frame = 10;  // lines and spaces around three columns

struct DrawnEntry {
  Lines key;
  Lines value;
};
struct DrawnBlock {
  Lines key;
  std::vector<DrawnEntry> entries;
};

Lines draw_block(const DrawnBlock& block, const Pen& pen, const std::vector<std::size_t>& widths) {
  Lines out{ruled(pen.top, pen.across, widths)};
  std::size_t y = 0;
  const auto add = [&](const std::string& key, const std::string& value) {
    out.push_back(row(pen, {y < block.key.size() ? block.key[y] : "", key, value}, widths));
    ++y;
  };
  for (const DrawnEntry& entry : block.entries)
    for (std::size_t i = 0; i < std::max(entry.key.size(), entry.value.size()); ++i)
      add(i < entry.key.size() ? entry.key[i] : "", i < entry.value.size() ? entry.value[i] : "");
  while (y < block.key.size()) add("", "");
  out.push_back(ruled(pen.bottom, pen.across, widths));
  return out;
}

std::string draw_collection(const FigureCollection& collection) {
  std::string out = joined(model::folded(
      collection.remark.empty() ? collection.name : fmt::format("{} ({})", collection.name, collection.remark),
      page_width));
  if (collection.blocks.empty()) return out + "  no blocks\n";
  std::vector<std::size_t> widths(3, 1);
  std::vector<DrawnBlock> blocks;
  for (const FigureBlock& block : collection.blocks) {
    DrawnBlock& drawn = blocks.emplace_back();
    drawn.key = whole_lines_of(block.key, widest_block_key);
    widths[0] = std::max(widths[0], display_width(drawn.key));
    for (const FigureEntry& entry : block.entries) {
      drawn.entries.push_back({whole_lines_of(entry.key, widest_entry_key), {}});
      widths[1] = std::max(widths[1], display_width(drawn.entries.back().key));
    }
  }
  const std::size_t room = page_width - block_frame - widths[0] - widths[1];
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t e = 0; e < blocks[b].entries.size(); ++e) {
      Lines& value = blocks[b].entries[e].value;
      value = lines_of(collection.blocks[b].entries[e].value, room);
      widths[2] = std::max(widths[2], display_width(value));
    }
  std::vector<Box> boxes;
  for (const DrawnBlock& block : blocks) boxes.push_back({draw_block(block, collection.own ? light : heavy, widths)});
  out += flowing(boxes, "");
  if (collection.more > 0) out += fmt::format("… {}\n", model::counted(collection.more, "more block", "more blocks"));
  return out;
}

// --- Tables ---------------------------------------------------------------------------------------------------------

constexpr std::size_t widest_name = 36;
constexpr std::size_t widest_type = 40;
constexpr std::size_t narrowest_table = 26;  // so that names of queries have room above it

Box draw_table(const FigureTable& table) {
  const Pen& pen = table.own ? light : heavy;
  std::vector<std::size_t> widths(3, 1);
  for (const FigureSection& section : table.sections)
    for (const FigureColumn& column : section.columns) {
      widths[0] = std::max(widths[0], std::min(display_width(column.name), widest_name));
      widths[1] = std::max(widths[1], display_width(whole_lines_of(column.type, widest_type)));
      widths[2] = std::max(widths[2], display_width(column.mark));
    }
  const auto inside = [&] { return widths[0] + widths[1] + widths[2] + 6; };
  std::size_t asked = std::max(narrowest_table, display_width(table.name));
  for (const FigureSection& section : table.sections) asked = std::max(asked, display_width(section.path));
  if (inside() < asked) widths[0] += std::min(asked, page_width - 4) - inside();
  const std::size_t whole = inside();
  const auto title = [&](const std::string& text) { return row(pen, {model::cut(text, whole)}, {whole}); };
  Box box;
  Lines& out = box.lines;
  std::string readers = fmt::format("{}", fmt::join(table.queries, ", "));
  if (!table.remark.empty()) readers += (readers.empty() ? "" : "; ") + table.remark;
  if (!readers.empty()) {
    out = model::folded(readers, whole + 4);
    if (!table.queries.empty()) out.emplace_back("↓");
  }
  box.above = out.size();
  out.push_back(ruled(pen.top, pen.across, {whole}));
  out.push_back(title(table.name));
  const std::array<std::string_view, 3> opening{pen.between[0], "┬", pen.between[2]};
  const std::array<std::string_view, 3> closing{pen.between[0], "┴", pen.between[2]};
  for (std::size_t i = 0; i < table.sections.size(); ++i) {
    const FigureSection& section = table.sections[i];
    if (i > 0) out.push_back(ruled(section.path.empty() ? pen.between : closing, "─", widths));
    if (!section.path.empty()) out.push_back(title(section.path));
    if (i == 0 || !section.path.empty()) out.push_back(ruled(opening, "─", widths));
    for (const FigureColumn& column : section.columns) {
      const Lines type = whole_lines_of(column.type, widths[1]);
      for (std::size_t y = 0; y < type.size(); ++y)
        out.push_back(
            row(pen, {y == 0 ? model::cut(column.name, widths[0]) : "", type[y], y == 0 ? column.mark : ""}, widths));
    }
  }
  out.push_back(ruled(pen.bottom, pen.across, widths));
  return box;
}

}  // namespace

std::string draw_blocks_text(const Program& program, const Sample* sample) {
  std::string out;
  for (const FigureCollection& collection : block_figure(program, sample))
    out += (out.empty() ? "" : "\n") + draw_collection(collection);
  return out.empty() ? nothing_drawn : out;
}

std::string draw_tables_text(const Program& program) {
  std::vector<Box> boxes;
  for (const FigureTable& table : table_figure(program)) boxes.push_back(draw_table(table));
  return boxes.empty() ? nothing_drawn : flowing(boxes, "\n");
}

}  // namespace noam::design
