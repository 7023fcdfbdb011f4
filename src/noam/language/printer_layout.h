#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// How the printer breaks lines: pieces of text, places where a line may break, and groups that break together. A piece
// and a place are looked at a constant number of times, so the work is linear (Oppen, "Prettyprinting", 1980).
namespace noam::language {

// What happens at a place where the line is not broken, and where it is.
struct Break {
  enum class Blank : std::uint8_t {
    None,       // no blank line
    Keep,       // a blank line where there was one
    Paragraph,  // besides, a blank line where either neighbour takes several lines
    Always,
  };

  int spaces = 1;       // on an unbroken line
  bool fill = false;    // in a broken group: broken only where what follows does not fit
  bool apart = false;   // with fill: broken also beside what takes several lines
  bool opens = false;   // after an opening brace: no blank line
  bool closes = false;  // before a closing brace: comments stand inside, no blank line
  Blank blank = Blank::None;
};

// A comment between two pieces of text.
struct Remark {
  std::string_view text;
  bool own_line = false;      // nothing stood before it on its line
  bool blank_before = false;  // a blank line stood before it
};

// Number of code points.
inline int columns(std::string_view text) {
  int count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

class Layout {
 public:
  static constexpr int width = 120;
  static constexpr int inside = 2;        // indentation of what stands in braces
  static constexpr int continuation = 4;  // and of the rest of a thing that takes several lines

  // The views must live until `flush`.
  void text(std::string_view piece);
  void space() { space_ = true; }
  void place(const Break& how);
  void open(bool broken = false);
  void close();
  void break_open();  // every open group
  void indent(int by) { add(Kind::Indent, 0).amount = by; }

  // Until `restore`, the indentation is that of the line on which the last text stands.
  void indent_from_line() { add(Kind::FromLine, 0); }
  void restore() { add(Kind::Restore, 0); }

  // True right after `place`: what stood there can be told.
  [[nodiscard]] bool at_place() const { return place_ != none; }
  [[nodiscard]] bool keeps_blank() const { return places_[ops_[place_].more].how.blank != Break::Blank::None; }
  // The remarks are [begin, end) of those given to `flush`. Any of them, and a blank line, breaks the line.
  void tell(std::size_t begin, std::size_t end, bool blank);

  // Writes what was given so far.
  void flush(const std::vector<Remark>& remarks, std::string& out);

 private:
  enum class Kind : std::uint8_t { Text, Place, Open, Close, Indent, FromLine, Restore };
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  // There are several of these a token, so they are kept small.
  struct Op {
    Kind kind = Kind::Text;
    bool broken = false;       // Open, Place: it breaks whatever the width
    bool space = false;        // Text: a space before it, but not at the beginning of a line
    std::uint32_t before = 0;  // columns of all before it, unbroken
    std::uint32_t tail = 0;    // columns from its end to the next place
    std::uint32_t forced = 0;  // how many of those before it break whatever the width
    std::uint32_t more = 0;    // Text: its bytes; Place: in places_; Open: its Close
    union {
      const char* text;         // Text
      std::int64_t amount = 0;  // Indent
    };
  };

  struct Place {
    Break how;
    bool blank = false;         // a blank line stood before what follows
    std::uint32_t next = none;  // the next place of its group, or the Close
    std::size_t remarks_begin = 0;
    std::size_t remarks_end = 0;
  };

  struct Opened {
    std::uint32_t op = 0;
    std::uint32_t last_place = none;  // in places_
  };

  struct Writing {
    bool broken = false;
    std::uint32_t line = 0;  // on which the last place was, or the beginning
  };

  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(ops_.size()); }
  Op& add(Kind kind, int flat);
  void break_around_place();
  void measure();
  [[nodiscard]] bool fits(std::uint32_t from, std::uint32_t to, int column) const;
  [[nodiscard]] bool breaks(std::uint32_t index) const;
  void write(const Op& op, std::string& out);
  void new_line(std::uint32_t index, const std::vector<Remark>& remarks, std::string& out);

  std::vector<Op> ops_;
  std::vector<Place> places_;
  std::vector<Opened> opened_;    // while building
  std::vector<Writing> written_;  // while writing, one a group
  std::uint32_t last_text_ = none;
  std::uint32_t place_ = none;  // the op, if nothing came after it
  bool space_ = false;
  std::uint32_t flat_ = 0;
  int indent_ = 0;
  std::vector<int> indents_;  // to be restored
  std::uint32_t line_ = 0;
  int column_ = 0;  // 0: nothing is on the line yet
  int line_indent_ = 0;
  bool paragraph_broken_ = false;  // the group that was closed last
};

inline Layout::Op& Layout::add(Kind kind, int flat) {
  Op& op = ops_.emplace_back();
  op.kind = kind;
  op.before = flat_;
  flat_ += static_cast<std::uint32_t>(flat);
  return op;
}

inline void Layout::text(std::string_view piece) {
  const bool space = space_ && place_ == none;
  last_text_ = end();
  Op& op = add(Kind::Text, columns(piece) + (space ? 1 : 0));
  op.space = space;
  op.more = static_cast<std::uint32_t>(piece.size());
  op.text = piece.data();
  space_ = false;
  place_ = none;
}

inline void Layout::place(const Break& how) {
  place_ = end();
  const auto own = static_cast<std::uint32_t>(places_.size());
  if (!opened_.empty()) {
    if (opened_.back().last_place != none) places_[opened_.back().last_place].next = place_;
    opened_.back().last_place = own;
  }
  space_ = false;
  places_.push_back({.how = how});
  add(Kind::Place, how.spaces).more = own;
}

inline void Layout::open(bool broken) {
  if (broken) break_open();
  opened_.push_back({.op = end()});
  add(Kind::Open, 0).broken = broken;
}

inline void Layout::break_open() {
  for (auto group = opened_.rbegin(); group != opened_.rend() && !ops_[group->op].broken; ++group) {
    ops_[group->op].broken = true;
  }
}

inline void Layout::close() {
  const Opened group = opened_.back();
  opened_.pop_back();
  ops_[group.op].more = end();
  if (group.last_place != none) places_[group.last_place].next = end();
  add(Kind::Close, 0);
}

// Every group that has a text before the place and will have one after it.
inline void Layout::break_around_place() {
  ops_[place_].broken = true;
  for (auto group = opened_.rbegin(); group != opened_.rend(); ++group) {
    if (last_text_ == none || group->op > last_text_) continue;
    if (ops_[group->op].broken) break;
    ops_[group->op].broken = true;
  }
}

inline void Layout::tell(std::size_t begin, std::size_t end, bool blank) {
  Place& place = places_[ops_[place_].more];
  place.remarks_begin = begin;
  place.remarks_end = end;
  place.blank = blank && place.how.blank != Break::Blank::None && !place.how.opens && !place.how.closes;
  if (begin != end || place.blank) break_around_place();
}

inline void Layout::measure() {
  std::uint32_t tail = 0;
  std::uint32_t after = flat_;
  for (std::uint32_t i = end(); i-- > 0;) {
    ops_[i].tail = tail;
    tail = ops_[i].kind == Kind::Place ? 0 : tail + (after - ops_[i].before);
    after = ops_[i].before;
  }
  std::uint32_t forced = 0;
  for (Op& op : ops_) {
    op.forced = forced;
    forced += op.broken ? 1 : 0;
  }
}

// Whether [from, to) and what follows without a place to break fit.
inline bool Layout::fits(std::uint32_t from, std::uint32_t to, int column) const {
  const std::uint32_t tail = ops_[to].kind == Kind::Close ? ops_[to].tail : 0;
  const std::uint64_t wanted = std::uint64_t{ops_[to].before - ops_[from].before} + tail;
  return static_cast<std::uint64_t>(column) + wanted <= static_cast<std::uint64_t>(width);
}

// Whether the line is broken at a place.
inline bool Layout::breaks(std::uint32_t index) const {
  const Op& op = ops_[index];
  if (op.broken) return true;
  if (!written_.empty() && !written_.back().broken) return false;
  const Place& place = places_[op.more];
  if (!place.how.fill || !fits(index, place.next, column_)) return true;
  return place.how.apart && (ops_[place.next].forced > op.forced || written_.back().line != line_);
}

inline void Layout::new_line(std::uint32_t index, const std::vector<Remark>& remarks, std::string& out) {
  const Place& place = places_[ops_[index].more];
  std::size_t at = place.remarks_begin;
  if (at != place.remarks_end && !remarks[at].own_line && !out.empty()) {
    out += "  ";
    out += remarks[at++].text;
  }

  const bool keep = place.how.blank != Break::Blank::None;
  bool blank_somewhere = place.blank;
  for (std::size_t i = at; keep && i != place.remarks_end; ++i) blank_somewhere |= remarks[i].blank_before;
  bool wanted = place.how.blank == Break::Blank::Always;
  if (place.how.blank == Break::Blank::Paragraph) {
    const std::uint32_t next = index + 1;
    const bool next_broken =
        next < end() && ops_[next].kind == Kind::Open && (ops_[next].broken || !fits(next, ops_[next].more, indent_));
    wanted = paragraph_broken_ || next_broken;
  }
  bool insert = wanted && !blank_somewhere;
  bool first = true;
  const auto begin_line = [&](bool blank) {
    if (!out.empty()) {
      out += '\n';
      if (insert || (blank && keep && !(first && place.how.opens))) out += '\n';
    }
    insert = false;
    first = false;
  };
  for (; at != place.remarks_end; ++at) {
    begin_line(remarks[at].blank_before);
    const int depth = indent_ + (place.how.closes ? inside : 0);
    out.append(static_cast<std::size_t>(depth), ' ');
    out += remarks[at].text;
  }
  begin_line(place.blank);
  column_ = 0;
  ++line_;
  line_indent_ = indent_;  // written with the text, so that no line ends in spaces
}

inline void Layout::write(const Op& op, std::string& out) {
  const std::string_view piece(op.text, op.more);
  if (column_ == 0) {
    out.append(static_cast<std::size_t>(line_indent_), ' ');
    column_ = line_indent_;
  } else if (op.space) {
    out += ' ';
    ++column_;
  }
  out += piece;
  column_ += columns(piece);
}

inline void Layout::flush(const std::vector<Remark>& remarks, std::string& out) {
  measure();
  for (std::uint32_t i = 0; i < end(); ++i) {
    const Op& op = ops_[i];
    switch (op.kind) {
      case Kind::Text:
        write(op, out);
        break;
      case Kind::Place:
        if (breaks(i)) {
          new_line(i, remarks, out);
        } else {
          const int spaces = places_[op.more].how.spaces;
          out.append(static_cast<std::size_t>(spaces), ' ');
          column_ += spaces;
        }
        if (!written_.empty()) written_.back().line = line_;
        break;
      case Kind::Open: {
        const bool may_break = written_.empty() || written_.back().broken;
        const int column = column_ == 0 ? line_indent_ : column_;
        written_.push_back({.broken = op.broken || (may_break && !fits(i, op.more, column)), .line = line_});
        break;
      }
      case Kind::Close:
        paragraph_broken_ = written_.back().broken;
        written_.pop_back();
        break;
      case Kind::Indent:
        indent_ += static_cast<int>(op.amount);
        break;
      case Kind::FromLine:
        indents_.push_back(indent_);
        indent_ = line_indent_;
        break;
      case Kind::Restore:
        indent_ = indents_.back();
        indents_.pop_back();
        break;
    }
  }
  ops_.clear();
  places_.clear();
  flat_ = 0;
  last_text_ = none;
  place_ = none;
}

}  // namespace noam::language
