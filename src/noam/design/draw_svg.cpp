#include <algorithm>
#include <cstddef>
#include <cstdint>
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

namespace {

using Lines = std::vector<std::string>;

// Lengths are those of a page 180 mm wide, in pixels of 1/96 inch: a font of 12 is 9 points there.
constexpr int page = 680;
constexpr int margin = 10;
constexpr int inner = page - 2 * margin;
constexpr int font = 12;
constexpr int title_font = 14;
constexpr int line_height = 17;
constexpr int row_padding = 4;   // above and below the lines of a row
constexpr int cell_padding = 7;  // left and right of a cell
constexpr int gap = 18;          // between boxes

// What a text may take, in a monospaced font: none that is in use has wider characters.
constexpr double character = 7.4;
constexpr double title_character = 8.8;
int text_width(std::size_t columns) { return static_cast<int>(static_cast<double>(columns) * character) + 1; }
std::size_t columns_in(int width) { return static_cast<std::size_t>(static_cast<double>(width) / character); }

constexpr const char* ink = "#1a1a1a";
constexpr const char* faint_ink = "#595959";
constexpr const char* query_ink = "#1f4e79";
constexpr const char* outline = "#333333";
constexpr const char* faint_outline = "#8c8c8c";
constexpr const char* inside_line = "#b8b8b8";
constexpr const char* key_fill = "#e6edf5";
constexpr const char* faint_fill = "#f4f4f4";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) < ' ')
          out += "\xEF\xBF\xBD";  // no such character in XML
        else
          out += c;
    }
  }
  return out;
}

// How a text looks.
enum class Face : std::uint8_t { Plain, Bold, Italic, Title };

class Svg {
 public:
  void rectangle(int x, int y, int width, int height, const char* fill, const char* stroke = nullptr,
                 bool dashed = false) {
    body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")", x, y, width, height, fill);
    if (stroke != nullptr) body_ += fmt::format(R"( stroke="{}" stroke-width="1.5")", stroke);
    if (dashed) body_ += R"( stroke-dasharray="5 3")";
    body_ += "/>\n";
  }
  void line(int x1, int y1, int x2, int y2, const char* stroke) {
    body_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}"/>)", x1, y1, x2, y2, stroke) + "\n";
  }
  // The point of an arrow that comes from above.
  void arrow(int x, int y, const char* fill) {
    body_ += fmt::format(R"(<path d="M{} {} l-4 -8 h8 z" fill="{}"/>)", x, y, fill) + "\n";
  }
  // One line; y is that of the top of its row.
  void text(int x, int y, std::string_view text, const char* fill, Face face = Face::Plain) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    static constexpr const char* classes[] = {"", R"( class="b")", R"( class="i")", R"( class="t")"};
    constexpr int baseline = 13;
    if (blanks < text.size())
      body_ += fmt::format(R"(<text x="{}" y="{}" fill="{}"{}>{}</text>)", x + text_width(blanks) - 1, y + baseline,
                           fill, classes[static_cast<std::size_t>(face)], escaped(text.substr(blanks))) +
               "\n";
  }

  [[nodiscard]] std::string document(int height, const std::string& title) const {
    return fmt::format(
               R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
               R"(font-family="'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace" font-size="{2}">)"
               "\n<title>{3}</title>\n"
               "<style>text {{ white-space: pre }} .b {{ font-weight: bold }} .i {{ font-style: italic }} "
               ".t {{ font-weight: bold; font-size: {4}px }}</style>\n"
               R"(<rect width="{0}" height="{1}" fill="#ffffff"/>)",
               page, height, font, escaped(title), title_font) +
           "\n" + body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

int row_height(std::size_t lines) { return static_cast<int>(lines) * line_height + 2 * row_padding; }

void write_lines(Svg& svg, int x, int y, const Lines& lines, const char* fill, Face face = Face::Plain) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    svg.text(x, y + row_padding + static_cast<int>(i) * line_height, lines[i], fill, face);
}

std::string title_of(const Program& program, std::string_view what) {
  return fmt::format("{} of the design {} of {}", what, program.design.name, program.model->name);
}

// --- Blocks ---------------------------------------------------------------------------------------------------------

constexpr std::size_t widest_block_key = 20;
constexpr std::size_t widest_entry_key = 34;

class BlockDrawing {
 public:
  std::string draw(const Program& program, const Sample* sample) {
    const std::vector<FigureCollection> collections = block_figure(program, sample);
    for (const FigureCollection& collection : collections) draw(collection);
    if (collections.empty()) note("no collections");
    return svg_.document(collections.empty() ? y_ + margin : y_ - gap + margin, title_of(program, "Blocks"));
  }

 private:
  struct Entry {
    Lines key;
    Lines value;
    bool own = false;

    [[nodiscard]] int height() const { return row_height(std::max(key.size(), value.size())); }
  };
  struct Block {
    Lines key;
    std::vector<Entry> entries;

    [[nodiscard]] int height() const {
      int out = 0;
      for (const Entry& entry : entries) out += entry.height();
      return std::max(out, row_height(key.size()));
    }
  };
  struct Widths {
    int block = 0;
    int key = 0;
    int value = 0;

    [[nodiscard]] int whole() const { return block + key + value; }
  };

  void draw(const FigureCollection& collection) {
    svg_.text(margin, y_, model::cut(collection.name, static_cast<std::size_t>(inner / title_character)),
              collection.own ? faint_ink : ink, Face::Title);
    y_ += line_height + row_padding;
    if (!collection.remark.empty()) {
      for (const std::string& line : model::folded(collection.remark, columns_in(inner))) {
        svg_.text(margin, y_, line, faint_ink, Face::Italic);
        y_ += line_height;
      }
      y_ += row_padding;
    }
    Widths widths;
    const std::vector<Block> blocks = lay_out(collection, widths);
    for (std::size_t begin = 0; begin < blocks.size();) {
      int x = margin;
      int height = 0;
      std::size_t end = begin;
      for (; end < blocks.size() && (end == begin || x + widths.whole() <= page - margin); ++end) {
        draw(blocks[end], widths, x, collection.own);
        x += widths.whole() + gap;
        height = std::max(height, blocks[end].height());
      }
      begin = end;
      y_ += height + gap / 2;
    }
    if (blocks.empty()) note("no blocks");
    if (collection.more > 0) note("… " + model::counted(collection.more, "more block", "more blocks"));
    y_ += gap;
  }

  void note(const std::string& text) {
    svg_.text(margin, y_, text, faint_ink, Face::Italic);
    y_ += line_height;
  }

  static std::vector<Block> lay_out(const FigureCollection& collection, Widths& widths) {
    std::vector<Block> out;
    std::size_t block_columns = 1;
    std::size_t key_columns = 1;
    std::size_t value_columns = 1;
    for (const FigureBlock& block : collection.blocks) {
      Block& laid = out.emplace_back();
      laid.key = whole_lines_of(block.key, widest_block_key);
      block_columns = std::max(block_columns, display_width(laid.key));
      for (const FigureEntry& entry : block.entries) {
        laid.entries.push_back({whole_lines_of(entry.key, widest_entry_key), {}, entry.own});
        key_columns = std::max(key_columns, display_width(laid.entries.back().key));
      }
    }
    widths.block = text_width(block_columns) + 2 * cell_padding;
    widths.key = text_width(key_columns) + 2 * cell_padding;
    const std::size_t room = columns_in(inner - widths.block - widths.key - 2 * cell_padding - 1);
    for (std::size_t b = 0; b < out.size(); ++b)
      for (std::size_t e = 0; e < out[b].entries.size(); ++e) {
        Lines& value = out[b].entries[e].value;
        value = lines_of(collection.blocks[b].entries[e].value, room);
        value_columns = std::max(value_columns, display_width(value));
      }
    widths.value = text_width(value_columns) + 2 * cell_padding;
    return out;
  }

  void draw(const Block& block, const Widths& widths, int left, bool own) {
    const int height = block.height();
    const char* frame = own ? faint_outline : outline;
    svg_.rectangle(left, y_, widths.block, height, own ? faint_fill : key_fill);
    write_lines(svg_, left + cell_padding, y_, block.key, own ? faint_ink : ink, Face::Bold);
    int y = y_;
    const int key_x = left + widths.block;
    const int value_x = key_x + widths.key;
    for (const Entry& entry : block.entries) {
      if (y > y_) svg_.line(key_x, y, left + widths.whole(), y, inside_line);
      const char* color = own || entry.own ? faint_ink : ink;
      write_lines(svg_, key_x + cell_padding, y, entry.key, color, Face::Italic);
      write_lines(svg_, value_x + cell_padding, y, entry.value, color);
      y += entry.height();
    }
    svg_.line(key_x, y_, key_x, y_ + height, frame);
    svg_.line(value_x, y_, value_x, y_ + height, inside_line);
    svg_.rectangle(left, y_, widths.whole(), height, "none", frame, own);
  }

  Svg svg_;
  int y_ = margin;
};

// --- Tables ---------------------------------------------------------------------------------------------------------

constexpr std::size_t widest_name = 30;
constexpr std::size_t widest_type = 30;
constexpr std::size_t narrowest_table = 25;  // in columns, so that the names of queries have room above it
constexpr int column_height = line_height + row_padding;
constexpr int arrow_height = 16;

class TableDrawing {
 public:
  std::string draw(const Program& program) {
    std::vector<Table> tables;
    for (const FigureTable& table : table_figure(program)) tables.push_back(lay_out(table));
    int y = margin;
    if (tables.empty()) {
      svg_.text(margin, y, "no collections", faint_ink, Face::Italic);
      y += line_height + gap;
    }
    for (std::size_t begin = 0; begin < tables.size();) {
      int x = margin;
      int above = 0;
      int below = 0;
      std::size_t end = begin;
      for (; end < tables.size() && (end == begin || x + tables[end].width <= page - margin); ++end) {
        x += tables[end].width + gap;
        above = std::max(above, tables[end].above);
        below = std::max(below, tables[end].below);
      }
      x = margin;
      for (std::size_t i = begin; i < end; ++i) {
        draw(tables[i], x, y + above);
        x += tables[i].width + gap;
      }
      begin = end;
      y += above + below + gap;
    }
    return svg_.document(y - gap + margin, title_of(program, "Tables"));
  }

 private:
  struct Table {
    FigureTable figure;
    Lines queries;
    Lines remark;
    int name = 0;  // widths
    int type = 0;
    int mark = 0;
    int width = 0;
    int above = 0;  // what stands over it
    int below = 0;  // its own height
  };

  static int height_of(const FigureColumn& column) {
    return static_cast<int>(whole_lines_of(column.type, widest_type).size() - 1) * line_height + column_height;
  }

  static Table lay_out(const FigureTable& figure) {
    Table out;
    out.figure = figure;
    std::size_t name = 1;
    std::size_t type = 1;
    std::size_t mark = 1;
    std::size_t whole = narrowest_table;
    for (const FigureSection& section : figure.sections) {
      whole = std::max(whole, display_width(section.path));
      out.below += section.path.empty() ? 0 : column_height;
      for (const FigureColumn& column : section.columns) {
        name = std::max(name, std::min(display_width(column.name), widest_name));
        type = std::max(type, display_width(whole_lines_of(column.type, widest_type)));
        mark = std::max(mark, display_width(column.mark));
        out.below += height_of(column);
      }
    }
    out.name = text_width(name) + 2 * cell_padding;
    out.type = text_width(type) + 2 * cell_padding;
    out.mark = text_width(mark) + 2 * cell_padding;
    const int title = static_cast<int>(static_cast<double>(display_width(figure.name)) * title_character) + 1;
    const int wanted = std::min(std::max(text_width(whole), title) + 2 * cell_padding, inner);
    out.name += std::max(0, wanted - out.name - out.type - out.mark);
    out.width = out.name + out.type + out.mark;
    const std::size_t columns = columns_in(out.width);
    if (!figure.queries.empty()) {
      out.queries = model::folded(fmt::format("{}", fmt::join(figure.queries, ", ")), columns);
      out.above += static_cast<int>(out.queries.size()) * line_height + arrow_height;
    }
    if (!figure.remark.empty()) {
      out.remark = model::folded(figure.remark, columns);
      out.above += static_cast<int>(out.remark.size()) * line_height + row_padding;
    }
    out.below += column_height + 2 * row_padding + static_cast<int>(figure.sections.size()) * row_padding;
    return out;
  }

  void draw(const Table& table, int left, int top) {
    const FigureTable& figure = table.figure;
    const char* color = figure.own ? faint_ink : ink;
    int y = top - table.above;
    for (const std::string& line : table.remark) {
      svg_.text(left, y, line, faint_ink, Face::Italic);
      y += line_height;
    }
    if (!table.remark.empty()) y += row_padding;
    for (const std::string& line : table.queries) {
      svg_.text(left, y, line, query_ink, Face::Italic);
      y += line_height;
    }
    if (!table.queries.empty()) {
      constexpr int from_left = 14;
      svg_.line(left + from_left, y + 2, left + from_left, top - 8, query_ink);
      svg_.arrow(left + from_left, top - 1, query_ink);
    }
    const int title_height = column_height + 2 * row_padding;
    svg_.rectangle(left, top, table.width, title_height, figure.own ? faint_fill : key_fill);
    svg_.text(left + cell_padding, top + row_padding + 2,
              model::cut(figure.name, static_cast<std::size_t>((table.width - 2 * cell_padding) / title_character)),
              color, Face::Title);
    y = top + title_height;
    svg_.line(left, y, left + table.width, y, figure.own ? faint_outline : outline);
    for (std::size_t i = 0; i < figure.sections.size(); ++i) {
      const FigureSection& section = figure.sections[i];
      const char* section_color = section.own ? faint_ink : ink;
      if (i > 0) svg_.line(left, y, left + table.width, y, inside_line);
      y += row_padding / 2;
      if (!section.path.empty()) {
        svg_.text(left + cell_padding, y + 2, model::cut(section.path, columns_in(table.width - 2 * cell_padding)),
                  section_color, Face::Bold);
        y += column_height;
      }
      for (const FigureColumn& column : section.columns) {
        const bool key = column.mark.rfind('K', 0) == 0 || column.mark.rfind('C', 0) == 0;
        svg_.text(left + cell_padding, y + 2, model::cut(column.name, widest_name), section_color,
                  key ? Face::Bold : Face::Plain);
        write_lines(svg_, left + table.name + cell_padding, y + 2 - row_padding,
                    whole_lines_of(column.type, widest_type), section_color, Face::Italic);
        svg_.text(left + table.name + table.type + cell_padding, y + 2, column.mark, section_color, Face::Bold);
        y += height_of(column);
      }
      y += row_padding / 2;
    }
    svg_.rectangle(left, top, table.width, table.below, "none", figure.own ? faint_outline : outline, figure.own);
  }

  Svg svg_;
};

}  // namespace

std::string draw_blocks_svg(const Program& program, const Sample* sample) {
  return BlockDrawing().draw(program, sample);
}

std::string draw_tables_svg(const Program& program) { return TableDrawing().draw(program); }

}  // namespace noam::design
