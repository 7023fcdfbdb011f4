#include "noam/language/diagnostics.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <unicode/uchar.h>

#include "noam/base/json.h"
#include "noam/language/source.h"
#include "noam/language/unicode.h"

namespace noam::language {

namespace {
constexpr std::size_t dropped = std::numeric_limits<std::size_t>::max();
}

Diagnostics::Builder& Diagnostics::Builder::label(Span span, std::string text) {
  if (index_ != dropped) all_->all_[index_].labels.push_back({span, std::move(text)});
  return *this;
}

Diagnostics::Builder& Diagnostics::Builder::hint(std::string text) {
  if (index_ != dropped) all_->all_[index_].hint = std::move(text);
  return *this;
}

Diagnostics::Builder Diagnostics::report(DiagnosticCode code, Span span, std::string message) {
  const Severity severity = info(code).severity;
  const bool is_error = severity == Severity::Error;
  if ((is_error ? errors_ : all_.size() - errors_) >= most) {
    stopped_ = stopped_ || is_error;
    return {*this, dropped};
  }
  if (is_error) ++errors_;
  all_.push_back({code, severity, span, std::move(message), {}, {}});
  return {*this, all_.size() - 1};
}

void Diagnostics::sort() {
  const auto place = [](const Diagnostic& d) { return std::tuple(d.span.begin, d.span.end, d.code); };
  std::stable_sort(all_.begin(), all_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  errors_ = static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; }));
}

void Diagnostics::allow(DiagnosticCode code, Span where) {
  if (all_.size() == errors_) return;
  std::erase_if(all_, [&](const Diagnostic& d) {
    const bool touches = d.span.begin <= where.end && where.begin <= d.span.end;
    return d.severity != Severity::Error && d.code == code && touches;
  });
}

namespace {

constexpr std::size_t widest_line = 160;

// Escape sequences of terminals, or nothing.
struct Colors {
  std::string_view error, warning, lint, place, other, bold, end;

  explicit Colors(bool wanted) {
    if (!wanted) return;
    error = "\x1b[1;31m";
    warning = "\x1b[1;33m";
    lint = "\x1b[1;36m";
    place = "\x1b[2m";
    other = "\x1b[34m";
    bold = "\x1b[1m";
    end = "\x1b[0m";
  }

  [[nodiscard]] std::string_view of(Severity severity) const {
    return severity == Severity::Error ? error : severity == Severity::Warning ? warning : lint;
  }
};

struct Glyph {  // what is drawn for a code point
  char32_t shown;
  std::size_t width;
};

// What would move the cursor, or be read as a command of the terminal, is drawn as a picture of itself.
Glyph glyph(const CodePoint& point) {
  constexpr char32_t replacement = 0xFFFD;
  if (!point.valid) return {replacement, 1};
  const char32_t c = point.value;
  if (c >= 0x20 && c < 0x7F) return {c, 1};
  if (c == '\t') return {' ', 1};
  if (c < 0x20) return {0x2400 + c, 1};
  if (c == 0x7F) return {0x2421, 1};
  const auto icu = static_cast<UChar32>(c);
  switch (u_charType(icu)) {
    case U_CONTROL_CHAR:
    case U_LINE_SEPARATOR:
    case U_PARAGRAPH_SEPARATOR:
    case U_UNASSIGNED:
      return {replacement, 1};
    case U_FORMAT_CHAR:
      if (u_hasBinaryProperty(icu, UCHAR_BIDI_CONTROL) != 0) return {replacement, 1};
      return {c, 0};
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
      return {c, 0};
    default:
      break;
  }
  const int width = u_getIntPropertyValue(icu, UCHAR_EAST_ASIAN_WIDTH);
  return {c, width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2U : 1U};
}

std::string drawn(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    append_utf8(out, glyph(point).shown);
    i += point.bytes;
  }
  return out;
}

std::size_t previous_code_point(std::string_view text, std::size_t offset) {
  for (std::size_t back = 1; back <= 4 && back <= offset; ++back) {
    if (code_point_at(text, offset - back).bytes == back) return offset - back;
  }
  return offset - 1;
}

struct Underlined {
  std::string line;
  std::size_t indent = 0;
  std::size_t width = 1;
};

// The first line of a span, cut around the span where it is long. Looks at no more of the line than it draws.
Underlined underline(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  const auto width_of = [&](std::size_t& at) {
    const CodePoint point = code_point_at(line, at);
    at += point.bytes;
    return glyph(point).width;
  };

  std::size_t whole = 0;
  for (std::size_t at = 0; at < line.size() && whole <= widest_line;) whole += width_of(at);
  std::size_t from = 0;
  if (whole > widest_line) {
    // Combining marks have no width: the steps are bounded too.
    constexpr std::size_t context = 60;
    from = begin;
    std::size_t columns = 0;
    for (std::size_t steps = 0; from > 0 && columns < context && steps < 4 * context; ++steps) {
      std::size_t at = previous_code_point(line, from);
      from = at;
      columns += width_of(at);
    }
  }

  Underlined out;
  if (from > 0) {
    out.line = "…";
    out.indent = 1;
  }
  out.width = 0;
  std::size_t columns = out.indent;
  std::size_t at = from;
  for (std::size_t steps = 0; at < line.size(); ++steps) {
    if (whole > widest_line && (columns >= widest_line || steps > 4 * widest_line)) {
      out.line += "…";
      break;
    }
    const bool before = at < begin;
    const bool inside = at >= begin && at < end;
    const CodePoint point = code_point_at(line, at);
    const Glyph drawing = glyph(point);
    append_utf8(out.line, drawing.shown);
    columns += drawing.width;
    if (before) out.indent += drawing.width;
    if (inside) out.width += drawing.width;
    at += point.bytes;
  }
  out.width = std::max<std::size_t>(out.width, 1);
  return out;
}

void draw_place(std::string& out, const SourceFile& source, Span span, std::string_view text, std::string_view color,
                const Colors& colors) {
  const Position position = source.position(span.begin);
  const std::uint32_t start = source.line_start(position.line);
  const std::string_view line = source.line(position.line);
  const Underlined drawing =
      underline(line, span.begin - std::min(span.begin, start), span.end - std::min(span.end, start));
  fmt::format_to(std::back_inserter(out), "  {}{}:{}:{}{}\n", colors.place, drawn(source.name()), position.line,
                 position.column, colors.end);
  fmt::format_to(std::back_inserter(out), "    {}\n", drawing.line);
  fmt::format_to(std::back_inserter(out), "    {:{}}{}{:^>{}}", "", drawing.indent, color, "", drawing.width);
  if (!text.empty()) fmt::format_to(std::back_inserter(out), " {}", drawn(text));
  out += colors.end;
  out += '\n';
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceFile& source, const RenderOptions& options) {
  const Colors colors(options.color);
  const std::string_view color = colors.of(diagnostic.severity);
  std::string out = fmt::format("{}{}{}: {}{}{} [{}]\n", color, severity_name(diagnostic.severity), colors.end,
                                colors.bold, drawn(diagnostic.message), colors.end, info(diagnostic.code).name);
  draw_place(out, source, diagnostic.span, "", color, colors);
  for (const Label& label : diagnostic.labels) draw_place(out, source, label.span, label.text, colors.other, colors);
  if (!diagnostic.hint.empty()) {
    fmt::format_to(std::back_inserter(out), "  {}hint:{} {}\n", colors.bold, colors.end, drawn(diagnostic.hint));
  }
  return out;
}

std::string render(const Diagnostics& diagnostics, const SourceFile& source, const RenderOptions& options) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!out.empty()) out += '\n';
    out += render(diagnostic, source, options);
  }
  if (diagnostics.stopped()) {
    fmt::format_to(std::back_inserter(out), "\nthere are more than {} errors; the rest is not shown\n",
                   Diagnostics::most);
  }
  return out;
}

namespace {

Json json_of(Span span, const SourceFile& source) {
  const auto position = [&](std::uint32_t offset) {
    const Position at = source.position(offset);
    return Json{{"line", at.line}, {"column", at.column}};
  };
  return {{"begin", span.begin}, {"end", span.end}, {"start", position(span.begin)}, {"stop", position(span.end)}};
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceFile& source) {
  auto all = Json::array();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    auto labels = Json::array();
    for (const Label& label : diagnostic.labels) {
      labels.push_back({{"span", json_of(label.span, source)}, {"text", label.text}});
    }
    all.push_back({{"code", info(diagnostic.code).name},
                   {"severity", severity_name(diagnostic.severity)},
                   {"message", diagnostic.message},
                   {"file", source.name()},
                   {"span", json_of(diagnostic.span, source)},
                   {"labels", std::move(labels)},
                   {"hint", diagnostic.hint}});
  }
  return all.dump(2) + "\n";
}

}  // namespace noam::language
