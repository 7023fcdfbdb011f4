#include "noam/language/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <unicode/uchar.h>

#include "noam/language/unicode.h"

namespace noam::language {

namespace {

// More than any model has; what comes after is not read. It bounds the memory that a file of brackets takes.
constexpr std::size_t most_tokens = std::size_t{1} << 24U;

constexpr bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_control(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }
constexpr bool is_hex(unsigned char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

constexpr auto table_of(bool (*holds)(unsigned char)) {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) table[c] = holds(static_cast<unsigned char>(c));
  return table;
}

constexpr auto in_name = table_of([](unsigned char c) { return is_letter(c) || is_digit(c); });
// What a text or a comment runs over without a second look.
constexpr auto plain = table_of([](unsigned char c) { return !is_control(c) && c < 0x80 && c != '"' && c != '\\'; });

bool begins_name(char32_t c) { return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_START) != 0; }
bool continues_name(char32_t c) { return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_CONTINUE) != 0; }

std::string describe(char32_t c) {
  std::string out = "`";
  append_utf8(out, c);
  return out + fmt::format("` (U+{:04X})", static_cast<std::uint32_t>(c));
}

struct Escape {
  char32_t value = 0;
  std::size_t length = 2;  // with the backslash
  bool valid = false;
};

// The escape that begins with the backslash at an offset.
Escape read_escape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return {0, 1, false};
  switch (text[at + 1]) {
    case '"':
      return {'"', 2, true};
    case '\\':
      return {'\\', 2, true};
    case 'n':
      return {'\n', 2, true};
    case 't':
      return {'\t', 2, true};
    case 'u':
      break;
    default:
      return {0, 1 + std::size_t{code_point_at(text, at + 1).bytes}, false};
  }
  std::size_t end = at + 2;
  const auto digit = [&] { return end < text.size() && is_hex(static_cast<unsigned char>(text[end])); };
  if (end >= text.size() || text[end] != '{') {
    while (digit() && end < at + 6) ++end;
    return {0, end - at, false};
  }
  ++end;
  char32_t value = 0;
  bool digits = false;
  for (; digit(); ++end) {
    const auto c = static_cast<unsigned char>(text[end]);
    const unsigned nibble = is_digit(c) ? c - '0' : (c | 0x20U) - 'a' + 10;
    value = std::min<char32_t>(value * 16 + nibble, 0x110000);
    digits = true;
  }
  if (end >= text.size() || text[end] != '}') return {0, end - at, false};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return {value, end + 1 - at, digits && value != 0 && value < 0x110000 && !surrogate};
}

class Lexer {
 public:
  Lexer(const SourceFile& source, Diagnostics& diagnostics) : text_(source.text()), diagnostics_(diagnostics) {}

  Tokens run() {
    out_.tokens.reserve(std::min(text_.size() / 3 + 16, most_tokens));  // what is not used is never touched
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
      report(DiagnosticCode::InvalidUtf8, 0, 2, "the file is UTF-16", "save it as UTF-8");
      at_ = text_.size();
    }
    while (at_ < text_.size() && !stopped_) next();
    out_.tokens.push_back({TokenKind::End, Word::None, {offset(at_), offset(at_)}, {}});
    return std::move(out_);
  }

 private:
  static std::uint32_t offset(std::size_t at) { return static_cast<std::uint32_t>(at); }
  [[nodiscard]] unsigned char byte(std::size_t at) const {
    return at < text_.size() ? static_cast<unsigned char>(text_[at]) : 0;
  }
  [[nodiscard]] bool line_ends(std::size_t at) const {
    return at >= text_.size() || text_[at] == '\n' || (text_[at] == '\r' && byte(at + 1) == '\n');
  }
  // Kept, for a long line may hold many texts that ask for it.
  [[nodiscard]] std::size_t line_end(std::size_t from) {
    if (from < line_from_ || from > line_to_) {
      const std::size_t found = text_.find('\n', from);
      line_from_ = from;
      line_to_ = found == std::string_view::npos ? text_.size() : found;
      if (line_to_ > from && line_to_ < text_.size() && text_[line_to_ - 1] == '\r') --line_to_;
    }
    return line_to_;
  }

  void report(DiagnosticCode code, std::size_t begin, std::size_t end, std::string message, std::string hint = {}) {
    diagnostics_.error(code, {offset(begin), offset(end)}, std::move(message)).hint(std::move(hint));
    stopped_ = diagnostics_.stopped();
  }

  void add(TokenKind kind, std::size_t length) { add(kind, length, text_.substr(at_, length)); }
  void add(TokenKind kind, std::size_t length, std::string_view text, Word word = Word::None) {
    if (out_.tokens.size() == most_tokens) {
      report(DiagnosticCode::Syntax, at_, at_,
             "the file is larger than the limit of 16,777,216 tokens; the rest is not read");
      stopped_ = true;
      return;
    }
    out_.tokens.push_back({kind, word, {offset(at_), offset(at_ + length)}, text});
    at_ += length;
  }

  void next() {
    const unsigned char c = byte(at_);
    const unsigned char then = byte(at_ + 1);
    if (is_letter(c)) return name();
    switch (c) {
      case ' ':
      case '\t':
      case '\n':
        ++at_;
        return;
      case '\r':
        if (then == '\n') {
          at_ += 2;
          return;
        }
        return unusual();
      case '{':
        return add(TokenKind::LeftBrace, 1);
      case '}':
        return add(TokenKind::RightBrace, 1);
      case '[':
        return add(TokenKind::LeftBracket, 1);
      case ']':
        return add(TokenKind::RightBracket, 1);
      case '(':
        return add(TokenKind::LeftParenthesis, 1);
      case ')':
        return add(TokenKind::RightParenthesis, 1);
      case ',':
        return add(TokenKind::Comma, 1);
      case '.':
        return add(TokenKind::Dot, 1);
      case '~':
        return add(TokenKind::Tilde, 1);
      case '+':
        return add(TokenKind::Plus, 1);
      case '*':
        return add(TokenKind::Star, 1);
      case ':':
        return then == '=' ? add(TokenKind::Foreign, 2) : add(TokenKind::Colon, 1);
      case '?':
        return then == '?' ? add(TokenKind::Coalesce, 2) : add(TokenKind::Question, 1);
      case '|':
        return then == '|' ? add(TokenKind::Foreign, 2) : add(TokenKind::Bar, 1);
      case '<':
        if (then == '>') return add(TokenKind::Foreign, 2);
        return then == '=' ? add(TokenKind::LessEqual, 2) : add(TokenKind::Less, 1);
      case '>':
        return then == '=' ? add(TokenKind::GreaterEqual, 2) : add(TokenKind::Greater, 1);
      case '=':
        if (then == '=') return add(TokenKind::Foreign, byte(at_ + 2) == '=' ? 3 : 2);
        return then == '>' || then == '<' ? add(TokenKind::Foreign, 2) : add(TokenKind::Equal, 1);
      case '!':
        if (then == '=') return byte(at_ + 2) == '=' ? add(TokenKind::Foreign, 3) : add(TokenKind::NotEqual, 2);
        return add(TokenKind::Foreign, 1);
      case '&':
        if (then == '&') return add(TokenKind::Foreign, 2);
        return unusual();
      case ';':
      case '@':
      case '%':
        return add(TokenKind::Foreign, 1);
      case '-':
        if (then == '>') return add(TokenKind::Foreign, 2);
        if (then == '-' && begins_sql_comment()) return foreign_comment("`--` does not begin a comment");
        return add(TokenKind::Minus, 1);
      case '#':
        return foreign_comment("`#` does not begin a comment");
      case '/':
        if (then == '/') return comment();
        if (then == '*') return block_comment();
        return add(TokenKind::Slash, 1);
      case '"':
        return quoted_text();
      case '\'':
        return single_quoted_text();
      case '`':
        return quoted_name();
      case '$':
        return parameter();
      default:
        if (is_digit(c)) return number();
        return unusual();
    }
  }

  [[nodiscard]] std::size_t name_end(std::size_t at) const {
    while (at < text_.size()) {
      if (in_name[byte(at)]) {
        ++at;
        continue;
      }
      if (byte(at) < 0x80) break;
      const CodePoint point = code_point_at(text_, at);
      if (!point.valid || !continues_name(point.value)) break;
      at += point.bytes;
    }
    return at;
  }

  // Whether a name begins here: a letter or an underscore.
  [[nodiscard]] bool name_begins(std::size_t at) const {
    if (at >= text_.size()) return false;
    if (byte(at) < 0x80) return is_letter(byte(at));
    const CodePoint point = code_point_at(text_, at);
    return point.valid && begins_name(point.value);
  }

  void name() {
    const std::string_view text = text_.substr(at_, name_end(at_) - at_);
    add(TokenKind::Name, text.size(), text, find_word(text));
  }

  void parameter() {
    if (!name_begins(at_ + 1)) {
      if (byte(at_ + 1) == '`') return quoted_parameter();
      const std::size_t end = name_end(at_ + 1);
      const bool numbered = end > at_ + 1;
      report(DiagnosticCode::Syntax, at_, end,
             numbered ? "a parameter has a name, not a number" : "expected a name after `$`",
             numbered ? "parameters are written `$name`" : "");
      return add(TokenKind::Unknown, end - at_);
    }
    const std::size_t end = name_end(at_ + 1);
    add(TokenKind::Parameter, end - at_, text_.substr(at_ + 1, end - at_ - 1));
  }

  // The end of a name in backquotes that begins at `from`: its closing backquote, or where the line ends.
  [[nodiscard]] std::size_t backquote_after(std::size_t from) const {
    while (!line_ends(from) && text_[from] != '`') ++from;
    return from;
  }

  void quoted_parameter() {
    const std::size_t end = backquote_after(at_ + 2);
    if (byte(end) != '`') {
      report(DiagnosticCode::UnclosedName, at_ + 1, at_ + 2, "missing closing backquote of a name");
      return add(TokenKind::Unknown, name_end(at_ + 2) - at_);
    }
    if (end == at_ + 2) {
      report(DiagnosticCode::Syntax, at_, end + 1, "empty name");
      return add(TokenKind::Unknown, end + 1 - at_);
    }
    check_characters(at_ + 2, end);
    add(TokenKind::Parameter, end + 1 - at_, text_.substr(at_ + 2, end - at_ - 2));
  }

  void quoted_name() {
    const std::size_t end = backquote_after(at_ + 1);
    if (byte(end) != '`') {
      // The name probably ends where names end; so the rest of the line is still read.
      const std::size_t guess = name_end(at_ + 1);
      report(DiagnosticCode::UnclosedName, at_, at_ + 1, "missing closing backquote of a name");
      if (guess == at_ + 1) return add(TokenKind::Unknown, 1);
      return add(TokenKind::QuotedName, guess - at_, text_.substr(at_ + 1, guess - at_ - 1));
    }
    if (end == at_ + 1) {
      report(DiagnosticCode::Syntax, at_, end + 1, "empty name");
      return add(TokenKind::Unknown, 2);
    }
    check_characters(at_ + 1, end);
    add(TokenKind::QuotedName, end + 1 - at_, text_.substr(at_ + 1, end - at_ - 1));
  }

  // Says what is wrong with the characters of a comment, a text or a quoted name.
  void check_characters(std::size_t from, std::size_t to) {
    while (from < to && !stopped_) {
      if (plain[byte(from)] || byte(from) == '"' || byte(from) == '\\') {
        ++from;
        continue;
      }
      const CodePoint point = code_point_at(text_, from);
      if (!point.valid) {
        from = report_invalid(from, to);
      } else if (point.value < 0xA0 && (point.value >= 0x7F || is_control(byte(from)))) {
        from = report_controls(from, to);
      } else {
        from += point.bytes;
      }
    }
  }

  std::size_t report_invalid(std::size_t from, std::size_t to) {
    std::size_t end = from;
    while (end < to && !code_point_at(text_, end).valid) ++end;
    report(DiagnosticCode::InvalidUtf8, from, end,
           end - from == 1 ? "a byte that is not valid UTF-8" : "bytes that are not valid UTF-8",
           "save the file as UTF-8");
    return end;
  }

  [[nodiscard]] bool control_at(std::size_t at) const {
    if (line_ends(at)) return false;
    const CodePoint point = code_point_at(text_, at);
    return point.valid && point.value < 0xA0 && (point.value >= 0x7F || is_control(byte(at)));
  }

  std::size_t report_controls(std::size_t from, std::size_t to) {
    std::size_t end = from;
    while (end < to && control_at(end)) end += code_point_at(text_, end).bytes;
    const auto c = static_cast<std::uint32_t>(code_point_at(text_, from).value);
    report(DiagnosticCode::ControlCharacter, from, end, fmt::format("a control character (U+{:04X})", c),
           c == '\r' ? "a line ends with \\n or \\r\\n"
           : c == 0  ? "remove it: a text cannot contain it"
                     : fmt::format("inside a text write `\\u{{{:X}}}`", c));
    return end;
  }

  void comment() {
    const std::size_t end = line_end(at_);
    check_characters(at_, end);
    out_.comments.push_back({{offset(at_), offset(end)}, text_.substr(at_, end - at_)});
    at_ = end;
  }

  // A comment of SQL or the shell is said once a file: who writes one has written many.
  void foreign_comment(const char* message) {
    if (!foreign_comment_seen_) {
      const std::size_t length = text_[at_] == '#' ? 1 : 2;
      report(DiagnosticCode::ForeignSyntax, at_, at_ + length, message,
             "begin the comment with `//`; it ends at the end of the line");
    }
    foreign_comment_seen_ = true;
    const std::size_t end = line_end(at_);
    check_characters(at_, end);
    at_ = end;
  }

  [[nodiscard]] bool begins_sql_comment() const {
    std::size_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    if (before == 0 || text_[before - 1] == '\n') return true;
    const unsigned char after = byte(at_ + 2);
    return before < at_ && (after == ' ' || after == '-' || line_ends(at_ + 2));
  }

  void block_comment() {
    const std::size_t found = text_.find("*/", at_ + 2);
    const std::size_t end = found == std::string_view::npos ? text_.size() : found + 2;
    report(DiagnosticCode::ForeignSyntax, at_, at_ + 2,
           found == std::string_view::npos ? "`/*` does not begin a comment, and there is no `*/`"
                                           : "`/*` does not begin a comment",
           "begin the comment with `//`; it ends at the end of the line");
    check_lines(at_, end);
    at_ = end;
  }

  void check_lines(std::size_t from, std::size_t to) {
    while (from < to) {
      const std::size_t end = std::min(line_end(from), to);
      check_characters(from, end);
      from = end;
      while (from < to && line_ends(from)) ++from;
    }
  }

  void quoted_text() {
    const std::size_t begin = at_ + 1;
    std::size_t at = begin;
    while (!stopped_) {
      while (at < text_.size() && plain[byte(at)]) ++at;
      if (line_ends(at)) return unclosed_text(at);
      const unsigned char c = byte(at);
      if (c == '"') break;
      if (c == '\\') {
        const Escape escape = read_escape(text_.substr(0, line_end(at)), at);
        if (!escape.valid) report_escape(at, escape);
        at += escape.length;
        continue;
      }
      const CodePoint point = code_point_at(text_, at);
      const std::size_t end = at + point.bytes;
      if (!point.valid || point.value < 0xA0) {
        const std::size_t stop = line_end(at);
        at = point.valid ? report_controls(at, stop) : report_invalid(at, stop);
      } else {
        at = end;
      }
    }
    if (stopped_) {
      at_ = at;
      return;
    }
    add(TokenKind::Text, at + 1 - at_, text_.substr(begin, at - begin));
  }

  void report_escape(std::size_t at, const Escape& escape) {
    const std::string_view written = text_.substr(at, escape.length);
    std::string hint = "the escape sequences are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{1F600}`";
    if (written.starts_with("\\u{")) {
      if (written.ends_with("}")) {
        return report(DiagnosticCode::InvalidEscape, at, at + escape.length,
                      fmt::format("invalid escape sequence `{}`: a text cannot contain this character", written),
                      "write a Unicode scalar value other than 0 in hexadecimal between the braces");
      }
    } else if (written.size() == 6) {
      hint = fmt::format("write `\\u{{{}}}`", written.substr(2));
    }
    report(DiagnosticCode::InvalidEscape, at, at + escape.length, fmt::format("invalid escape sequence `{}`", written),
           hint);
  }

  // Closing brackets at the end of the line were hardly meant to be in the text.
  void unclosed_text(std::size_t end) {
    report(DiagnosticCode::UnclosedText, at_, at_ + 1, "missing closing quote of a text",
           "a text must end on the same line");
    while (end > at_ + 1 && std::strchr(" \t})],", text_[end - 1]) != nullptr) --end;
    add(TokenKind::Text, end - at_, text_.substr(at_ + 1, end - at_ - 1));
  }

  void single_quoted_text() {
    std::size_t end = at_ + 1;
    while (!line_ends(end) && (text_[end] != '\'' || byte(end + 1) == '\'')) end += text_[end] == '\'' ? 2 : 1;
    end = std::min(end, text_.size());
    if (byte(end) != '\'') return unclosed_text(end);
    report(DiagnosticCode::ForeignSyntax, at_, end + 1, "a text in single quotes",
           "write texts in double quotes: `\"open\"`");
    check_characters(at_ + 1, end);
    add(TokenKind::Text, end + 1 - at_, text_.substr(at_ + 1, end - at_ - 1));
  }

  void number() {
    const std::size_t begin = at_;
    std::size_t end = digits_end(begin);
    const char* wrong = nullptr;
    std::string hint;
    const std::string_view whole = text_.substr(begin, end - begin);
    if (whole.ends_with('_') || whole.find("__") != std::string_view::npos) {
      wrong = "each underscore must be between two digits";
    }
    if (byte(end) == '.' && is_digit(byte(end + 1))) {
      const std::size_t fraction = end + 1;
      end = digits_end(fraction);
      const std::string_view part = text_.substr(fraction, end - fraction);
      if (part.ends_with('_') || part.find("__") != std::string_view::npos) {
        wrong = "each underscore must be between two digits";
      }
      if (byte(end) == '.' && is_digit(byte(end + 1))) {
        while (byte(end) == '.' && is_digit(byte(end + 1))) end = digits_end(end + 1);
        wrong = "a number has at most one point";
        hint = fmt::format("write an address as `inet \"{}\"`", text_.substr(begin, end - begin));
      }
    } else if (byte(end) == '.' && byte(end + 1) != '.' && byte(end + 1) != '*') {
      ++end;
      wrong = "no digit after the point";
      hint = fmt::format("write `{}` or `{}0`", whole, text_.substr(begin, end - begin));
    }
    const std::string_view value = text_.substr(begin, end - begin);
    const std::size_t glued = name_begins(end) ? name_end(end) : end;
    if (glued > end) return glued_number(value, glued);
    if (wrong != nullptr) {
      report(DiagnosticCode::InvalidNumber, begin, end, fmt::format("invalid number `{}`: {}", value, wrong),
             std::move(hint));
    }
    add(TokenKind::Number, end - begin, value);
  }

  [[nodiscard]] std::size_t digits_end(std::size_t at) const {
    while (is_digit(byte(at)) || byte(at) == '_') ++at;
    return at;
  }

  // `12abc`, `0x10`, `1e5`, `7days`
  void glued_number(std::string_view value, std::size_t end) {
    const std::size_t begin = at_;
    const std::string_view suffix = text_.substr(begin + value.size(), end - begin - value.size());
    const bool exponent =
        (suffix[0] == 'e' || suffix[0] == 'E') &&
        std::all_of(suffix.begin() + 1, suffix.end(), [](char c) { return is_digit(static_cast<unsigned char>(c)); });
    if (is_duration_unit(find_word(suffix))) {
      report(DiagnosticCode::InvalidNumber, begin, end, fmt::format("invalid number `{}{}`", value, suffix),
             fmt::format("put a space between number and unit: `{} {}`", value, suffix));
      add(TokenKind::Number, value.size(), value);
      return add(TokenKind::Name, suffix.size(), suffix, find_word(suffix));
    }
    if (exponent && suffix.size() == 1 && (byte(end) == '-' || byte(end) == '+') && is_digit(byte(end + 1))) {
      end = digits_end(end + 1);
    }
    std::string hint = "a name must begin with a letter";
    if (exponent) {
      hint = "exponents are not supported; write all digits";
    } else if (suffix == "k" || suffix == "K") {
      hint = fmt::format("write `{}_000`", value);
    } else if (suffix == "M" || suffix == "m") {
      hint = fmt::format("write `{}_000_000`", value);
    } else if (value == "0" && (suffix[0] == 'x' || suffix[0] == 'b' || suffix[0] == 'o')) {
      hint = "write the number in decimal";
    }
    report(DiagnosticCode::InvalidNumber, begin, end,
           fmt::format("invalid number `{}`", text_.substr(begin, end - begin)), std::move(hint));
    add(TokenKind::Number, end - begin, value);
  }

  // Whatever is not ASCII, and control characters.
  void unusual() {
    const CodePoint point = code_point_at(text_, at_);
    if (point.valid && begins_name(point.value)) return name();
    if (!point.valid) {
      const std::size_t end = report_invalid(at_, text_.size());
      return add(TokenKind::Unknown, end - at_);
    }
    if (control_at(at_)) {
      at_ = report_controls(at_, text_.size());
      return;
    }
    switch (point.value) {
      case 0xA0:
      case 0x2007:
      case 0x202F:
      case 0x3000:
      case 0xFEFF:
        report(DiagnosticCode::UnexpectedCharacter, at_, at_ + point.bytes,
               fmt::format("unusual space character (U+{:04X})", static_cast<std::uint32_t>(point.value)),
               "write a plain space");
        at_ += point.bytes;
        return;
      case 0x201C:  // “
      case 0x201D:
      case 0x201E:
        return curly_text();
      default:
        break;
    }
    std::size_t end = at_;
    while (end < text_.size() && unexpected_at(end)) end += code_point_at(text_, end).bytes;
    end = std::max(end, at_ + point.bytes);
    report(DiagnosticCode::UnexpectedCharacter, at_, end,
           fmt::format("unexpected character {}", describe(point.value)));
    add(TokenKind::Unknown, end - at_);
  }

  [[nodiscard]] bool unexpected_at(std::size_t at) const {
    const unsigned char c = byte(at);
    if (c < 0x80) return c == '\\' || c == '^' || (c == '&' && byte(at + 1) != '&');
    const CodePoint point = code_point_at(text_, at);
    return point.valid && point.value > 0xA0 && !begins_name(point.value) &&
           (point.value < 0x201C || point.value > 0x201E);
  }

  void curly_text() {
    constexpr std::size_t furthest = 1000;
    std::size_t end = at_ + 3;
    while (!line_ends(end) && end < at_ + furthest && text_.substr(end, 3) != "\u201C" &&
           text_.substr(end, 3) != "\u201D")
      ++end;
    if (text_.substr(end, 3) != "\u201C" && text_.substr(end, 3) != "\u201D") {
      report(DiagnosticCode::UnexpectedCharacter, at_, at_ + 3, "a curly quote",
             "write texts in plain double quotes: `\"open\"`");
      return add(TokenKind::Unknown, 3);
    }
    report(DiagnosticCode::UnexpectedCharacter, at_, end + 3, "a text in curly quotes",
           "write texts in plain double quotes: `\"open\"`");
    check_characters(at_ + 3, end);
    add(TokenKind::Text, end + 3 - at_, text_.substr(at_ + 3, end - at_ - 3));
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  Tokens out_;
  std::size_t at_ = 0;
  std::size_t line_from_ = 1;
  std::size_t line_to_ = 0;
  bool stopped_ = false;
  bool foreign_comment_seen_ = false;
};

}  // namespace

Tokens lex(const SourceFile& source, Diagnostics& diagnostics) { return Lexer(source, diagnostics).run(); }

std::string decode_text(std::string_view inside_quotes) {
  std::size_t next = inside_quotes.find('\\');
  if (next == std::string_view::npos) return std::string(inside_quotes);
  std::string out;
  out.reserve(inside_quotes.size());
  std::size_t at = 0;
  for (; next != std::string_view::npos; next = inside_quotes.find('\\', at)) {
    out += inside_quotes.substr(at, next - at);
    const Escape escape = read_escape(inside_quotes, next);
    if (escape.valid) {
      append_utf8(out, escape.value);
    } else {
      out += inside_quotes.substr(next, escape.length);
    }
    at = next + escape.length;
  }
  out += inside_quotes.substr(at);
  return out;
}

}  // namespace noam::language
