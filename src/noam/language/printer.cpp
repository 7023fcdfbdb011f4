#include "noam/language/printer.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/language/diagnostics.h"
#include "noam/language/lexer.h"
#include "noam/language/printer_layout.h"
#include "noam/language/unicode.h"
#include "noam/language/words.h"

// The tree says where lines may break; the words themselves are taken from the tokens, one after the other, so nothing
// can be lost or misspelt. Comments are told at the first place after them where a line may break: a second run finds
// them there again, which is why it changes nothing.
namespace noam::language {

namespace {

constexpr Break one_space = {};
constexpr Break fill = {.fill = true};
constexpr Break after_comma = {.fill = true, .apart = true};
constexpr Break between_members = {.spaces = 2, .blank = Break::Blank::Keep};
constexpr Break between_entries = {.spaces = 2, .fill = true, .blank = Break::Blank::Keep};
constexpr Break between_paragraphs = {.spaces = 2, .blank = Break::Blank::Paragraph};
constexpr Break after_opening = {.opens = true, .blank = Break::Blank::Keep};
constexpr Break before_closing = {.closes = true, .blank = Break::Blank::Keep};
constexpr Break after_parenthesis = {.spaces = 0, .opens = true, .blank = Break::Blank::Keep};
constexpr Break before_parenthesis = {.spaces = 0, .closes = true, .blank = Break::Blank::Keep};
constexpr Break in_nothing = {.spaces = 0, .opens = true, .closes = true, .blank = Break::Blank::Keep};

// How strongly the parts of an expression are held together, weakest first.
enum class Strength { Or, And, Not, Comparison, Coalesce, Sum, Product, Unary, Postfix, Primary };

Strength strength(Operator op) {
  switch (op) {
    case Operator::Or:
      return Strength::Or;
    case Operator::And:
      return Strength::And;
    case Operator::Not:
      return Strength::Not;
    case Operator::Coalesce:
      return Strength::Coalesce;
    case Operator::Add:
    case Operator::Subtract:
      return Strength::Sum;
    case Operator::Multiply:
      return Strength::Product;
    case Operator::Negate:
      return Strength::Unary;
    default:
      return Strength::Comparison;
  }
}

Strength strength(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Unary:
    case ExprKind::Binary:
      return strength(expr.op);
    case ExprKind::Between:
    case ExprKind::IsAbsent:
      return Strength::Comparison;
    case ExprKind::Member:
    case ExprKind::Index:
      return Strength::Postfix;
    default:
      return Strength::Primary;
  }
}

Strength stronger(Strength than) { return static_cast<Strength>(static_cast<int>(than) + 1); }

Strength left_strength(Operator op) {
  const Strength own = strength(op);
  return own == Strength::Comparison || own == Strength::Coalesce ? stronger(own) : own;
}

Strength right_strength(Operator op) { return op == Operator::Coalesce ? Strength::Coalesce : stronger(strength(op)); }

bool is_compound(const Expr& expr) {
  return expr.kind == ExprKind::Unary || expr.kind == ExprKind::Binary || expr.kind == ExprKind::Between ||
         expr.kind == ExprKind::IsAbsent;
}

// A word of the language that stands for a value.
bool is_literal(const Expr& expr) {
  return expr.kind == ExprKind::True || expr.kind == ExprKind::False || expr.kind == ExprKind::Absent;
}

// Chains of these are one group: `a and b and c`.
bool continues_chain(const Expr& left, Operator op) {
  const Strength own = strength(op);
  return left.kind == ExprKind::Binary && !left.parenthesized && strength(left.op) == own &&
         own != Strength::Comparison && own != Strength::Coalesce;
}

// `a[0]`, `[1]` and `{}` in the beginning of a design's column would be nested columns; they stand in parentheses
// there.
bool begins_with_bracket(const Expr& expr) {
  const Expr* left = &expr;
  while (true) {
    switch (left->kind) {
      case ExprKind::List:
      case ExprKind::Braces:
        return true;
      case ExprKind::Index:
        if (left->operands[0].kind == ExprKind::Name) return true;
        [[fallthrough]];
      case ExprKind::Member:
      case ExprKind::Binary:
      case ExprKind::Between:
      case ExprKind::IsAbsent:
        left = &left->operands[0];
        break;
      default:
        return false;
    }
  }
}

// Has its own places to break, so the line is not broken before it.
bool has_brackets(const Expr& expr) {
  return expr.kind == ExprKind::Select || expr.kind == ExprKind::Braces || expr.kind == ExprKind::List;
}

// Controls, and what can't be seen or turns the direction of the text. The joiners of emoji and of some scripts stay.
bool needs_escape(char32_t point) {
  const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
  return point < 0x20 || within(0x7F, 0xA0) || point == 0xAD || point == 0x61C || point == 0x180E ||
         within(0x2000, 0x200B) || within(0x200E, 0x200F) || within(0x2028, 0x202F) || within(0x205F, 0x206F) ||
         point == 0xFEFF || within(0xFFF9, 0xFFFB);
}

std::string text_literal(std::string_view value) {
  std::string out = "\"";
  for (std::size_t at = 0; at < value.size();) {
    const CodePoint point = code_point_at(value, at);
    switch (point.value) {
      case U'"':
        out += "\\\"";
        break;
      case U'\\':
        out += "\\\\";
        break;
      case U'\n':
        out += "\\n";
        break;
      case U'\t':
        out += "\\t";
        break;
      default:
        if (point.valid && needs_escape(point.value)) {
          out += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(point.value));
        } else {
          out += value.substr(at, point.bytes);
        }
    }
    at += point.bytes;
  }
  out += '"';
  return out;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; });
}

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// In the white space that ends there.
std::size_t line_breaks_before(std::string_view text, std::size_t at) {
  std::size_t lines = 0;
  for (; at > 0 && is_white(text[at - 1]); --at) lines += text[at - 1] == '\n' ? 1 : 0;
  return lines;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
  return text;
}

class Printer {
 public:
  Printer(const Tree& tree, const SourceFile& source);

  std::string file(const Tree& tree);

 private:
  // A clause that may be written in any order, and is printed in one.
  struct Clause {
    std::size_t token;  // its first
    void (Printer::*print)(const Clause&);
    const Expr* expr = nullptr;
    const std::vector<Source>* sources = nullptr;
  };

  // tokens
  [[nodiscard]] const Token& now() const { return tokens_[cursor_]; }
  void skip_to(TokenKind kind);
  void skip_to_name();
  void emit(const Token& token, std::string_view piece);
  void take(TokenKind kind);
  void take_name();
  void word() { take_name(); }  // of the language
  void keyword() {
    word();
    space();
  }
  void open_parenthesis(bool written);
  void close_parenthesis(bool written);
  void close_angle();
  std::string_view piece(const Token& token);
  std::size_t token_at(std::uint32_t offset) const;
  std::size_t word_before(Span span, TokenKind kind) const;
  [[nodiscard]] bool line_breaks_after(std::size_t token) const;
  [[nodiscard]] bool comment_before(std::size_t token) const;
  void tell_comments(const Token& next);

  // layout
  void space() { layout_.space(); }
  void place(const Break& how) { layout_.place(how); }
  void begin_clause(const Break& how) {
    place(how);
    keyword();
  }
  // a, b, c
  template <typename Items, typename Print>
  void with_commas(const Items& items, const Break& after, Print print) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) {
        take(TokenKind::Comma);
        place(after);
      }
      first = false;
      print(item);
    }
  }
  template <typename Items, typename Print>
  void list(const Items& items, Print print) {
    layout_.open();
    layout_.indent(Layout::continuation);
    with_commas(items, after_comma, print);
    layout_.indent(-Layout::continuation);
    layout_.close();
  }
  // (a, b, c) and [a, b, c]
  template <typename Items, typename Print>
  void bracketed(TokenKind left, const Items& items, Print print, TokenKind right) {
    layout_.open();
    take(left);
    layout_.indent(Layout::continuation);
    with_commas(items, after_comma, print);
    layout_.indent(-Layout::continuation);
    take(right);
    layout_.close();
  }
  // { … }: broken if a line break followed the brace, or where it does not fit.
  template <typename Print>
  void block(TokenKind left, bool empty, Print print, TokenKind right) {
    skip_to(left);
    layout_.open(!empty && line_breaks_after(cursor_));
    block_inside(left, empty, print, right);
    layout_.close();
  }
  // The same inside an expression or a list, where it may begin in the middle of a line.
  template <typename Print>
  void block_in_line(TokenKind left, bool empty, Print print, TokenKind right) {
    skip_to(left);
    layout_.open(!empty && line_breaks_after(cursor_));
    layout_.indent_from_line();
    block_inside(left, empty, print, right);
    layout_.restore();
    layout_.close();
  }
  template <typename Print>
  void block_inside(TokenKind left, bool empty, Print print, TokenKind right) {
    const bool parentheses = left == TokenKind::LeftParenthesis;
    take(left);
    if (empty) {
      place(in_nothing);
    } else {
      layout_.indent(Layout::inside);
      place(parentheses ? after_parenthesis : after_opening);
      print();
      layout_.indent(-Layout::inside);
      place(parentheses ? before_parenthesis : before_closing);
    }
    take(right);
  }
  // Of a declaration or collection, which is broken here if it is broken anywhere.
  template <typename Print>
  void body(bool empty, Print print) {
    space();
    skip_to(TokenKind::LeftBrace);
    if (empty) return block(TokenKind::LeftBrace, true, print, TokenKind::RightBrace);
    if (line_breaks_after(cursor_)) layout_.break_open();
    block_inside(TokenKind::LeftBrace, false, print, TokenKind::RightBrace);
  }
  template <typename Members, typename Print>
  void separated(const Members& members, const Break& between, Print print) {
    bool first = true;
    for (const auto& member : members) {
      if (!first) place(between);
      first = false;
      print(member);
    }
  }
  static bool is_earlier(const Clause& a, const Clause& b) { return a.token < b.token; }
  template <typename Between>
  void in_order(std::vector<Clause>& clauses, bool always, Between between);

  // expressions
  void expr(const Expr& expr, Strength least = Strength::Or);
  [[nodiscard]] bool keeps_parentheses(const Expr& expr) const;
  void bare(const Expr& expr);
  void postfix(const Expr& expr);
  void binary(const Expr& expr);
  void op(Operator op);
  void call(const Expr& expr);
  void select_in_parentheses(const Select& select);
  void select(const Select& select);
  void column(const SelectColumn& column);
  void source(const Source& source);
  void direction(Direction direction);
  void as(const Name& name);

  // data
  void type(const TypeExpr& type, bool in_parentheses = false);
  void field(const Field& field);
  void one_word(const Clause&);
  void about(const Clause&);
  void distinct_about(const Clause&);
  void skew(const Clause&);
  void word_and_name(const Clause&);
  void initial(const Clause& clause);
  void add_statistic(const Statistic& statistic, std::vector<Clause>& out) const;
  void duration();

  void declaration(const ValueDecl& value);
  void declaration(const EntityDecl& entity);
  void member(const Field& field) { this->field(field); }
  void member(const KeyClause& key);
  void member(const TtlClause& ttl);
  void member(const RequireClause& require);

  // statements
  void parameters(bool written, const std::vector<ParameterDecl>& parameters);
  void declaration(const QueryDecl& query);
  void declaration(const CommandDecl& command);
  void change(const Change& change);
  void change_head(const Change& change);
  void assignments(const std::vector<Assignment>& assignments);

  // mixes
  void declaration(const GroupDecl& group);
  void declaration(const MixDecl& mix);
  void rate(const Clause&);

  // designs
  void declaration(const DesignDecl& design);
  void collection(const CollectionDecl& collection);
  void family(const FamilyDecl& family);
  void from_clause(const Clause& clause);
  void where_clause(const Clause& clause);
  void limit_clause(const Clause&);
  void cell(const DesignColumn& cell);
  void nested(const Nested& nested);
  void part(const DesignPart& part);
  void target();

  const SourceFile& source_;
  std::vector<Token> tokens_;
  std::vector<Span> comments_;
  std::vector<Remark> remarks_;  // one a comment
  std::size_t cursor_ = 0;
  std::size_t next_comment_ = 0;
  bool after_without_ = false;         // a name in parentheses would go on with the names of `without`
  bool keep_parentheses_ = false;      // all that were written
  std::deque<std::string> rewritten_;  // pieces that are not spelt as in the source
  std::vector<const Expr*> spine_;
  Layout layout_;
};

Printer::Printer(const Tree& tree, const SourceFile& source) : source_(source) {
  Diagnostics ignored;
  tokens_ = lex(source, ignored).tokens;
  check(!tokens_.empty() && tokens_.back().kind == TokenKind::End, "tokens end with End");
  comments_.reserve(tree.comments.size());
  remarks_.reserve(tree.comments.size());
  for (const Comment& comment : tree.comments) {
    const std::size_t lines = line_breaks_before(source.text(), comment.span.begin);
    comments_.push_back(comment.span);
    remarks_.push_back(
        {.text = without_trailing_space(source.text(comment.span)), .own_line = lines > 0, .blank_before = lines > 1});
  }
}

// Tokens

// Only parentheses are ever left out.
void Printer::skip_to(TokenKind kind) {
  while (now().kind != kind &&
         (now().kind == TokenKind::LeftParenthesis || now().kind == TokenKind::RightParenthesis)) {
    ++cursor_;
  }
  check(now().kind == kind, "the printer finds the tokens that the tree tells of");
}

void Printer::skip_to_name() {
  while (now().kind == TokenKind::LeftParenthesis || now().kind == TokenKind::RightParenthesis) ++cursor_;
  check(now().kind == TokenKind::Name || now().kind == TokenKind::QuotedName,
        "the printer finds the names that the tree tells of");
}

void Printer::tell_comments(const Token& next) {
  if (!layout_.at_place()) return;
  const std::size_t first = next_comment_;
  while (next_comment_ < comments_.size() && comments_[next_comment_].begin < next.span.begin) ++next_comment_;
  const bool blank = layout_.keeps_blank() && line_breaks_before(source_.text(), next.span.begin) > 1;
  layout_.tell(first, next_comment_, blank);
}

void Printer::emit(const Token& token, std::string_view piece) {
  tell_comments(token);
  layout_.text(piece);
}

void Printer::take(TokenKind kind) {
  skip_to(kind);
  emit(now(), piece(now()));
  ++cursor_;
}

void Printer::take_name() {
  skip_to_name();
  emit(now(), piece(now()));
  ++cursor_;
}

// One that was written, or a new one.
void Printer::open_parenthesis(bool written) {
  if (written) {
    take(TokenKind::LeftParenthesis);
  } else {
    emit(now(), "(");
  }
}

void Printer::close_parenthesis(bool written) {
  if (written) {
    take(TokenKind::RightParenthesis);
  } else {
    layout_.text(")");
  }
}

// `set<text>= {}` ends in one sign of two characters.
void Printer::close_angle() {
  if (now().kind != TokenKind::GreaterEqual) return take(TokenKind::Greater);
  emit(now(), ">");
  tokens_[cursor_].kind = TokenKind::Equal;
  ++tokens_[cursor_].span.begin;
}

std::string_view Printer::piece(const Token& token) {
  if (token.kind == TokenKind::Text && !is_plain(token.text)) {
    return rewritten_.emplace_back(text_literal(decode_text(token.text)));
  }
  return source_.text(token.span);
}

// The first that does not begin before an offset. Looks near the cursor first: a clause is rarely far away.
std::size_t Printer::token_at(std::uint32_t offset) const {
  std::size_t first = cursor_;
  std::size_t last = first;
  for (std::size_t step = 4; last < tokens_.size() && tokens_[last].span.begin < offset; step *= 2) {
    first = last;
    last = std::min(last + step, tokens_.size());
  }
  const auto found = std::lower_bound(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                                      tokens_.begin() + static_cast<std::ptrdiff_t>(last), offset,
                                      [](const Token& token, std::uint32_t at) { return token.span.begin < at; });
  return static_cast<std::size_t>(found - tokens_.begin());
}

// The sign or word in front of an expression; there may be parentheses between.
std::size_t Printer::word_before(Span span, TokenKind kind) const {
  std::size_t at = token_at(span.begin);
  do {
    check(at > 0, "an expression has a word before it");
    --at;
  } while (tokens_[at].kind == TokenKind::LeftParenthesis);
  check(tokens_[at].kind == kind, "a clause begins with its word");
  return at;
}

bool Printer::line_breaks_after(std::size_t token) const {
  const std::uint32_t begin = tokens_[token].span.end;
  const std::uint32_t end = tokens_[token + 1].span.begin;
  return source_.text({begin, end}).find('\n') != std::string_view::npos;
}

bool Printer::comment_before(std::size_t token) const {
  const auto found = std::lower_bound(comments_.begin(), comments_.end(), tokens_[token - 1].span.end,
                                      [](Span comment, std::uint32_t at) { return comment.begin < at; });
  return found != comments_.end() && found->begin < tokens_[token].span.begin;
}

// The clauses are given in the order in which they are to be printed. A comment between two of them keeps the order
// that was written, unless `always`: then comments go to the next place where they may stand.
template <typename Between>
void Printer::in_order(std::vector<Clause>& clauses, bool always, Between between) {
  if (!std::is_sorted(clauses.begin(), clauses.end(), is_earlier)) {
    const std::size_t first = std::min_element(clauses.begin(), clauses.end(), is_earlier)->token;
    const bool as_written = !always && std::any_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
      return clause.token != first && comment_before(clause.token);
    });
    if (as_written) std::sort(clauses.begin(), clauses.end(), is_earlier);
  }
  std::size_t end = cursor_;
  for (const Clause& clause : clauses) {
    between();
    cursor_ = clause.token;
    (this->*clause.print)(clause);
    end = std::max(end, cursor_);
  }
  cursor_ = end;
}

// Expressions

// Around operators, as they were written; around other things only where it would be read otherwise without them.
bool Printer::keeps_parentheses(const Expr& expr) const {
  if (!expr.parenthesized) return false;
  if (is_compound(expr) || keep_parentheses_) return true;
  if (now().kind != TokenKind::LeftParenthesis) return false;
  std::size_t first = cursor_;
  std::size_t depth = 0;
  while (tokens_[first].kind == TokenKind::LeftParenthesis) {
    ++first;
    ++depth;
  }
  if (expr.kind == ExprKind::Number) {  // a number must not become a duration
    std::size_t after = first + 1;
    for (; depth > 0 && tokens_[after].kind == TokenKind::RightParenthesis; --depth) ++after;
    return tokens_[after].kind == TokenKind::Name && is_duration_unit(tokens_[after].word);
  }
  if (after_without_ && (is_literal(expr) || expr.kind == ExprKind::Name)) return true;
  if (tokens_[first].kind == TokenKind::LeftBracket) {  // nor a list after a word the index of a name
    std::size_t before = cursor_ - 1;
    while (tokens_[before].kind == TokenKind::LeftParenthesis) --before;
    return tokens_[before].kind == TokenKind::Name;
  }
  return !is_literal(expr) && expr.kind != ExprKind::Typed && tokens_[first].word != Word::None;
}

void Printer::expr(const Expr& expr, Strength least) {
  if (strength(expr) < least || keeps_parentheses(expr)) {
    open_parenthesis(expr.parenthesized);
    bare(expr);
    close_parenthesis(expr.parenthesized);
  } else {
    bare(expr);
  }
}

void Printer::bare(const Expr& expr) {
  const auto operand = [this](const Expr& each) { this->expr(each); };
  switch (expr.kind) {
    case ExprKind::Unknown:
      check(false, "what is printed was understood");
      break;
    case ExprKind::Number:
      take(TokenKind::Number);
      break;
    case ExprKind::Text:
      take(TokenKind::Text);
      break;
    case ExprKind::True:
    case ExprKind::False:
    case ExprKind::Absent:
      word();
      break;
    case ExprKind::Name:
      take_name();
      break;
    case ExprKind::Typed:
      take_name();
      space();
      take(TokenKind::Text);
      break;
    case ExprKind::Duration:
      duration();
      break;
    case ExprKind::Parameter:
      take(TokenKind::Parameter);
      break;
    case ExprKind::Member:
    case ExprKind::Index:
      postfix(expr);
      break;
    case ExprKind::Call:
      call(expr);
      break;
    case ExprKind::Unary:
      op(expr.op);
      // `--` at the beginning of a line would be taken for a comment of SQL.
      if (expr.op == Operator::Not || (expr.operands[0].op == Operator::Negate && !expr.operands[0].parenthesized))
        space();
      this->expr(expr.operands[0], strength(expr.op));
      break;
    case ExprKind::Binary:
      binary(expr);
      break;
    case ExprKind::Between:
      layout_.open();
      this->expr(expr.operands[0], Strength::Coalesce);
      layout_.indent(Layout::continuation);
      begin_clause(fill);
      this->expr(expr.operands[1], Strength::Coalesce);
      begin_clause(fill);
      this->expr(expr.operands[2], Strength::Coalesce);
      layout_.indent(-Layout::continuation);
      layout_.close();
      break;
    case ExprKind::IsAbsent:
      this->expr(expr.operands[0], Strength::Coalesce);
      for (int words = expr.negated ? 3 : 2; words > 0; --words) {
        space();
        word();
      }
      break;
    case ExprKind::List:
      bracketed(TokenKind::LeftBracket, expr.operands, operand, TokenKind::RightBracket);
      break;
    case ExprKind::Braces: {
      std::vector<std::pair<const Expr*, const Expr*>> pairs;
      for (std::size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
        pairs.emplace_back(&expr.operands[i], &expr.operands[i + 1]);
      }
      const auto pair = [this](const auto& each) {
        const bool keep = keep_parentheses_;
        keep_parentheses_ = keep || is_literal(*each.first);  // without them, a name
        this->expr(*each.first);
        keep_parentheses_ = keep;
        take(TokenKind::Colon);
        space();
        this->expr(*each.second);
      };
      block_in_line(
          TokenKind::LeftBrace, pairs.empty(), [&] { with_commas(pairs, one_space, pair); }, TokenKind::RightBrace);
      break;
    }
    case ExprKind::Select:
      select_in_parentheses(*expr.select);
      break;
    case ExprKind::Star:
      if (!expr.operands.empty()) {
        this->expr(expr.operands[0], Strength::Postfix);
        take(TokenKind::Dot);
      }
      take(TokenKind::Star);
      break;
  }
}

// Long chains are trees that lean to the left; they are walked without recursion.
void Printer::postfix(const Expr& expr) {
  const std::size_t bottom = spine_.size();
  const Expr* left = &expr;
  do {
    spine_.push_back(left);
    left = &left->operands[0];
  } while ((left->kind == ExprKind::Member || left->kind == ExprKind::Index) && !left->parenthesized);
  if (left->kind == ExprKind::Number) {  // `7.b` would be one word
    open_parenthesis(left->parenthesized);
    bare(*left);
    close_parenthesis(left->parenthesized);
  } else {
    this->expr(*left, Strength::Postfix);
  }
  while (spine_.size() > bottom) {
    const Expr& step = *spine_.back();
    spine_.pop_back();
    if (step.kind == ExprKind::Member) {
      take(TokenKind::Dot);
      take_name();
    } else {
      std::vector<const Expr*> keys;
      for (std::size_t i = 1; i < step.operands.size(); ++i) keys.push_back(&step.operands[i]);
      bracketed(
          TokenKind::LeftBracket, keys, [this](const Expr* key) { this->expr(*key); }, TokenKind::RightBracket);
    }
  }
}

void Printer::binary(const Expr& expr) {
  const std::size_t bottom = spine_.size();
  const Expr* left = &expr;
  spine_.push_back(left);
  while (continues_chain(left->operands[0], left->op)) {
    left = &left->operands[0];
    spine_.push_back(left);
  }
  layout_.open();
  this->expr(left->operands[0], left_strength(left->op));
  layout_.indent(Layout::continuation);
  while (spine_.size() > bottom) {
    const Expr& step = *spine_.back();
    spine_.pop_back();
    const Expr& right = step.operands[1];
    if (has_brackets(right)) {
      space();
    } else {
      place(step.op == Operator::And || step.op == Operator::Or ? one_space : fill);
    }
    op(step.op);
    space();
    this->expr(right, right_strength(step.op));
  }
  layout_.indent(-Layout::continuation);
  layout_.close();
}

void Printer::op(Operator op) {
  switch (op) {
    case Operator::None:
      check(false, "an operator is written");
      break;
    case Operator::Or:
    case Operator::And:
    case Operator::Not:
    case Operator::In:
    case Operator::Contains:
      word();
      break;
    case Operator::NotIn:
    case Operator::ContainsAll:
    case Operator::ContainsAny:
    case Operator::StartsWith:
      keyword();
      word();
      break;
    case Operator::Equal:
      take(TokenKind::Equal);
      break;
    case Operator::NotEqual:
      take(TokenKind::NotEqual);
      break;
    case Operator::Less:
      take(TokenKind::Less);
      break;
    case Operator::LessEqual:
      take(TokenKind::LessEqual);
      break;
    case Operator::Greater:
      take(TokenKind::Greater);
      break;
    case Operator::GreaterEqual:
      take(TokenKind::GreaterEqual);
      break;
    case Operator::Coalesce:
      take(TokenKind::Coalesce);
      break;
    case Operator::Add:
      take(TokenKind::Plus);
      break;
    case Operator::Subtract:
    case Operator::Negate:
      take(TokenKind::Minus);
      break;
    case Operator::Multiply:
      take(TokenKind::Star);
      break;
  }
}

void Printer::call(const Expr& expr) {
  take_name();
  layout_.open();
  take(TokenKind::LeftParenthesis);
  layout_.indent(Layout::continuation);
  if (expr.star) take(TokenKind::Star);
  if (expr.distinct) keyword();
  with_commas(expr.operands, after_comma, [this](const Expr& each) { this->expr(each); });
  layout_.indent(-Layout::continuation);
  take(TokenKind::RightParenthesis);
  layout_.close();
}

void Printer::select_in_parentheses(const Select& select) {
  while (tokens_[cursor_].kind == TokenKind::LeftParenthesis &&
         tokens_[cursor_ + 1].kind == TokenKind::LeftParenthesis) {
    ++cursor_;
  }
  block_in_line(
      TokenKind::LeftParenthesis, false, [&] { this->select(select); }, TokenKind::RightParenthesis);
}

void Printer::select(const Select& select) {
  keyword();
  if (select.distinct) keyword();
  after_without_ = false;
  list(select.columns, [this](const SelectColumn& each) { column(each); });
  after_without_ = false;
  begin_clause(one_space);
  list(select.from, [this](const Source& each) { source(each); });
  if (select.where) {
    begin_clause(one_space);
    expr(*select.where);
  }
  if (!select.group_by.empty()) {
    begin_clause(one_space);
    keyword();
    list(select.group_by, [this](const Expr& each) { expr(each); });
  }
  if (!select.order_by.empty()) {
    begin_clause(one_space);
    keyword();
    list(select.order_by, [this](const OrderTerm& each) {
      expr(each.expr);
      direction(each.direction);
    });
  }
  if (select.limit) {
    begin_clause(one_space);
    expr(*select.limit);
  }
}

void Printer::column(const SelectColumn& column) {
  expr(column.expr);
  after_without_ = !column.without.empty();
  if (!column.without.empty()) {
    space();
    keyword();
    with_commas(column.without, after_comma, [this](const Name&) { take_name(); });
  }
  as(column.as);
}

void Printer::source(const Source& source) {
  expr(source.what, Strength::Postfix);
  space();
  if (source.history) keyword();
  take_name();
}

void Printer::direction(Direction direction) {
  if (direction == Direction::None) return;
  space();
  word();
}

void Printer::as(const Name& name) {
  if (name.missing()) return;
  space();
  keyword();
  take_name();
}

// Data

void Printer::type(const TypeExpr& type, bool in_parentheses) {
  switch (type.kind) {
    case TypeSyntax::Unknown:
      check(false, "what is printed was understood");
      break;
    case TypeSyntax::Named:
      take_name();
      if (!type.length.missing()) {
        take(TokenKind::LeftParenthesis);
        if (type.about) take(TokenKind::Tilde);
        take(TokenKind::Number);
        take(TokenKind::RightParenthesis);
      }
      break;
    case TypeSyntax::List:
    case TypeSyntax::Set:
    case TypeSyntax::Map: {
      take_name();
      take(TokenKind::Less);
      for (std::size_t i = 0; i < type.arguments.size(); ++i) {
        if (i > 0) {
          take(TokenKind::Comma);
          space();
        }
        // A text after a comma is taken for one more of the enumeration before it.
        const bool text_follows =
            i + 1 < type.arguments.size() && type.arguments[i + 1].kind == TypeSyntax::Enumeration;
        this->type(type.arguments[i], text_follows);
      }
      close_angle();
      break;
    }
    case TypeSyntax::Enumeration: {
      const bool parentheses = in_parentheses || (type.optional && type.texts.size() > 1);
      layout_.open();
      const bool written = now().kind == TokenKind::LeftParenthesis;
      if (parentheses) open_parenthesis(written);
      layout_.indent(Layout::continuation);
      for (std::size_t i = 0; i < type.texts.size(); ++i) {
        if (i > 0) {
          place(fill);
          take(TokenKind::Bar);
          space();
        }
        take(TokenKind::Text);
      }
      layout_.indent(-Layout::continuation);
      if (parentheses) close_parenthesis(written);
      layout_.close();
      break;
    }
  }
  if (type.optional) take(TokenKind::Question);
}

void Printer::one_word(const Clause&) { word(); }

void Printer::about(const Clause&) {
  take(TokenKind::Tilde);
  take(TokenKind::Number);
}

void Printer::distinct_about(const Clause&) {
  keyword();
  take(TokenKind::Tilde);
  take(TokenKind::Number);
}

void Printer::skew(const Clause&) {
  keyword();
  word();
  take(TokenKind::LeftParenthesis);
  take(TokenKind::Number);
  take(TokenKind::RightParenthesis);
}

void Printer::word_and_name(const Clause&) {
  keyword();
  take_name();
}

void Printer::initial(const Clause& clause) {
  take(TokenKind::Equal);
  space();
  expr(*clause.expr);
}

void Printer::add_statistic(const Statistic& statistic, std::vector<Clause>& out) const {
  if (statistic.count) out.push_back({token_at(statistic.count->span.begin) - 1, &Printer::about});
  if (statistic.distinct) out.push_back({token_at(statistic.distinct->span.begin) - 2, &Printer::distinct_about});
  if (statistic.zipf) out.push_back({token_at(statistic.zipf->span.begin) - 3, &Printer::skew});
}

void Printer::field(const Field& field) {
  layout_.open();
  take_name();
  take(TokenKind::Colon);
  space();
  type(field.type);

  std::vector<Clause> clauses;
  if (field.key) clauses.push_back({token_at(field.key_span.begin), &Printer::one_word});
  if (field.automatic) clauses.push_back({token_at(field.auto_span.begin), &Printer::one_word});
  if (field.owner) clauses.push_back({token_at(field.owner_span.begin), &Printer::one_word});
  add_statistic(field.statistic, clauses);
  if (field.inverse) clauses.push_back({token_at(field.inverse_span.begin), &Printer::word_and_name});
  add_statistic(field.inverse_statistic, clauses);
  if (field.initial) {
    const std::size_t equal = word_before(field.initial->span, TokenKind::Equal);
    clauses.push_back({equal, &Printer::initial, &*field.initial});
    // A default that ends in a name that is a word may be read otherwise before the next field.
    if (!is_literal(*field.initial) && field.initial->kind != ExprKind::Duration &&
        tokens_[token_at(field.initial->span.end) - 1].word != Word::None) {
      std::sort(clauses.begin(), clauses.end(), is_earlier);
    }
  }
  layout_.indent(Layout::continuation);
  in_order(clauses, false, [this] { place(fill); });
  layout_.indent(-Layout::continuation);
  layout_.close();
}

void Printer::duration() {
  take(TokenKind::Number);
  space();
  word();
}

void Printer::declaration(const ValueDecl& value) {
  keyword();
  take_name();
  body(value.fields.empty(),
       [&] { separated(value.fields, between_members, [this](const Field& each) { field(each); }); });
}

void Printer::declaration(const EntityDecl& entity) {
  keyword();
  take_name();
  std::vector<Clause> clauses;
  add_statistic(entity.statistic, clauses);
  if (entity.transient) clauses.push_back({token_at(entity.transient_span.begin), &Printer::one_word});
  in_order(clauses, true, [this] { space(); });
  body(entity.members.empty(), [&] {
    separated(entity.members, between_members,
              [this](const EntityMember& each) { std::visit([this](const auto& one) { member(one); }, each); });
  });
}

void Printer::member(const KeyClause& key) {
  keyword();
  bracketed(
      TokenKind::LeftParenthesis, key.parts, [this](const Name&) { take_name(); }, TokenKind::RightParenthesis);
}

void Printer::member(const TtlClause& ttl) {
  keyword();
  duration();
  if (ttl.from) {
    space();
    keyword();
    take_name();
  }
}

void Printer::member(const RequireClause& require) {
  keyword();
  expr(require.condition);
}

// Statements

void Printer::parameters(bool written, const std::vector<ParameterDecl>& parameters) {
  if (!written) return;
  bracketed(
      TokenKind::LeftParenthesis, parameters,
      [this](const ParameterDecl& each) {
        take(TokenKind::Parameter);
        if (!each.type) return;
        take(TokenKind::Colon);
        space();
        type(*each.type);
      },
      TokenKind::RightParenthesis);
}

void Printer::declaration(const QueryDecl& query) {
  keyword();
  take_name();
  parameters(query.has_parentheses, query.parameters);
  if (query.refresh) {
    for (int words = 2; words > 0; --words) {
      space();
      word();
    }
    space();
    duration();
  }
  if (query.keep) {
    space();
    keyword();
    take(TokenKind::Number);
  }
  body(false, [&] { select(query.select); });
}

void Printer::declaration(const CommandDecl& command) {
  keyword();
  take_name();
  parameters(command.has_parentheses, command.parameters);
  body(command.changes.empty(),
       [&] { separated(command.changes, between_members, [this](const Change& each) { change(each); }); });
}

void Printer::change(const Change& change) {
  if (change.then) keyword();
  layout_.open();
  change_head(change);
  layout_.close();
  switch (change.kind) {
    case ChangeKind::Insert:
      space();
      assignments(change.assignments);
      as(change.variable);
      break;
    case ChangeKind::Put:
    case ChangeKind::Update:
    case ChangeKind::UpdateWhere:
      space();
      assignments(change.assignments);
      break;
    case ChangeKind::For:
      space();
      block(
          TokenKind::LeftBrace, change.body.empty(),
          [&] { separated(change.body, between_members, [this](const Change& each) { this->change(each); }); },
          TokenKind::RightBrace);
      break;
    default:
      break;
  }
}

// Up to the braces.
void Printer::change_head(const Change& change) {
  const auto clause = [this](const auto& print) {
    layout_.indent(Layout::continuation);
    begin_clause(fill);
    print();
    layout_.indent(-Layout::continuation);
  };
  const auto argument = [&] { expr(change.argument); };
  const auto target = [&] { expr(change.target, Strength::Postfix); };
  const auto where = [&] { expr(*change.where); };

  keyword();
  switch (change.kind) {
    case ChangeKind::Unknown:
      check(false, "what is printed was understood");
      break;
    case ChangeKind::Insert:
    case ChangeKind::Put:
      take_name();
      break;
    case ChangeKind::Update:
    case ChangeKind::Delete:
    case ChangeKind::RemoveAt:
      target();
      break;
    case ChangeKind::UpdateWhere:
    case ChangeKind::DeleteWhere:
      take_name();
      space();
      take_name();
      clause(where);
      if (change.limit) clause([&] { expr(*change.limit); });
      break;
    case ChangeKind::Append:
    case ChangeKind::Add:
    case ChangeKind::Remove:
      if (change.all) keyword();
      argument();
      clause(target);
      break;
    case ChangeKind::RemoveKey:
      keyword();
      argument();
      clause(target);
      break;
    case ChangeKind::RemoveWhere:
      take_name();
      clause([&] {
        target();
        space();
        take_name();
      });
      clause(where);
      break;
    case ChangeKind::PutInto:
      expr(change.key);
      take(TokenKind::Colon);
      space();
      argument();
      clause(target);
      break;
    case ChangeKind::Require:
      argument();
      break;
    case ChangeKind::For:
      take(TokenKind::Parameter);
      clause(argument);
      break;
  }
}

void Printer::assignments(const std::vector<Assignment>& assignments) {
  const auto assignment = [this](const Assignment& each) {
    expr(each.target, Strength::Postfix);
    take(TokenKind::Colon);
    space();
    expr(each.value);
  };
  block(
      TokenKind::LeftBrace, assignments.empty(), [&] { with_commas(assignments, one_space, assignment); },
      TokenKind::RightBrace);
}

// Mixes

void Printer::declaration(const GroupDecl& group) {
  keyword();
  take_name();
  body(group.statements.empty(), [&] {
    layout_.open();
    separated(group.statements, between_entries, [this](const Name&) { take_name(); });
    layout_.close();
  });
}

void Printer::rate(const Clause&) {
  keyword();
  take(TokenKind::Number);
  take(TokenKind::Slash);
  take_name();
}

void Printer::declaration(const MixDecl& mix) {
  keyword();
  take_name();
  std::vector<Clause> clauses;
  if (mix.like) clauses.push_back({token_at(mix.like->span.begin) - 1, &Printer::word_and_name});
  if (mix.rate) clauses.push_back({token_at(mix.rate->span.begin) - 1, &Printer::rate});
  in_order(clauses, true, [this] { space(); });
  body(mix.entries.empty(), [&] {
    layout_.open();
    separated(mix.entries, between_entries, [this](const MixEntry&) {
      take_name();
      space();
      take(TokenKind::Number);
    });
    layout_.close();
  });
}

// Designs

void Printer::target() {
  take_name();
  while (now().kind == TokenKind::Minus) {
    take(TokenKind::Minus);
    take_name();
  }
}

void Printer::declaration(const DesignDecl& design) {
  keyword();
  take_name();
  if (!design.targets.empty()) {
    space();
    keyword();
    list(design.targets, [this](const Name&) { target(); });
  }
  body(design.collections.empty() && !design.rest, [&] {
    separated(design.collections, between_paragraphs, [this](const CollectionDecl& each) {
      layout_.open();
      collection(each);
      layout_.close();
    });
    if (!design.rest) return;
    if (!design.collections.empty()) place(between_paragraphs);
    layout_.open();
    keyword();
    take_name();
    layout_.close();
  });
}

void Printer::collection(const CollectionDecl& collection) {
  layout_.open();
  keyword();
  take_name();
  layout_.indent(Layout::continuation);
  begin_clause(fill);
  list(collection.from, [this](const Source& each) { source(each); });
  begin_clause(fill);
  list(collection.by, [this](const DesignPart& each) { part(each); });
  for (const TargetOptions& options : collection.with) {
    begin_clause(fill);
    target();
    bracketed(
        TokenKind::LeftParenthesis, options.options,
        [this](const TargetOption& each) {
          take_name();
          take(TokenKind::Colon);
          space();
          expr(each.value);
        },
        TokenKind::RightParenthesis);
  }
  layout_.indent(-Layout::continuation);
  layout_.close();
  body(collection.families.empty(),
       [&] { separated(collection.families, between_members, [this](const FamilyDecl& each) { family(each); }); });
}

void Printer::from_clause(const Clause& clause) {
  keyword();
  list(*clause.sources, [this](const Source& each) { source(each); });
}

void Printer::where_clause(const Clause& clause) {
  keyword();
  expr(*clause.expr);
}

void Printer::limit_clause(const Clause&) {
  keyword();
  take(TokenKind::Number);
}

void Printer::family(const FamilyDecl& family) {
  layout_.open();
  word();
  if (family.epsilon) {
    space();
    skip_to_name();
    emit(now(), "ε");
    ++cursor_;
  } else if (!family.path.empty()) {
    space();
    for (std::size_t i = 0; i < family.path.size(); ++i) {
      if (i > 0) take(TokenKind::Dot);
      take_name();
    }
  }
  if (family.has_key || family.elements) {
    if (!family.epsilon && family.path.empty()) space();
    if (family.elements) {
      take(TokenKind::LeftBracket);
      take(TokenKind::Star);
      take(TokenKind::RightBracket);
    } else {
      bracketed(
          TokenKind::LeftBracket, family.key, [this](const DesignPart& each) { part(each); }, TokenKind::RightBracket);
    }
  }
  layout_.indent(Layout::continuation);
  if (family.has_columns) {
    take(TokenKind::Colon);
    layout_.open();
    place(family.columns.size() > 1 ? after_comma : fill);
    with_commas(family.columns, after_comma, [this](const DesignColumn& each) { cell(each); });
    layout_.close();
  }
  std::vector<Clause> clauses;
  if (!family.from.empty()) {
    const std::size_t from = word_before(family.from[0].span, TokenKind::Name);
    clauses.push_back({from, &Printer::from_clause, nullptr, &family.from});
  }
  if (family.where) {
    const std::size_t where = word_before(family.where->span, TokenKind::Name);
    clauses.push_back({where, &Printer::where_clause, &*family.where});
  }
  if (family.limit) clauses.push_back({token_at(family.limit->span.begin) - 1, &Printer::limit_clause});
  // `copy where [1] contains x` would be a family of that name, and a name that is a word may be none elsewhere.
  const bool bare = !family.epsilon && family.path.empty() && !family.has_key && !family.has_columns;
  const auto ends_in_word = [this](std::size_t after) {
    return tokens_[after - 1].word != Word::None || tokens_[after - 2].word == Word::From;
  };
  const bool fixed =
      bare || ends_in_word(token_at(family.span.end)) ||
      std::any_of(clauses.begin(), clauses.end(), [&](const Clause& clause) { return ends_in_word(clause.token); });
  if (fixed) std::sort(clauses.begin(), clauses.end(), is_earlier);
  bool first = true;
  in_order(clauses, false, [&] {
    place(first ? one_space : fill);
    first = false;
  });
  layout_.indent(-Layout::continuation);
  layout_.close();
}

void Printer::part(const DesignPart& part) {
  expr(part.expr);
  direction(part.direction);
  as(part.as);
}

void Printer::cell(const DesignColumn& cell) {
  switch (cell.shape) {
    case ColumnShape::Plain:
      keep_parentheses_ = begins_with_bracket(cell.expr);
      expr(cell.expr);
      keep_parentheses_ = false;
      as(cell.as);
      break;
    case ColumnShape::Object:
      take_name();
      space();
      block_in_line(
          TokenKind::LeftBrace, false, [&] { nested(cell.nested); }, TokenKind::RightBrace);
      break;
    case ColumnShape::List:
      take_name();
      space();
      block_in_line(
          TokenKind::LeftBracket, false, [&] { nested(cell.nested); }, TokenKind::RightBracket);
      break;
  }
}

void Printer::nested(const Nested& nested) {
  list(nested.columns, [this](const DesignColumn& each) { cell(each); });
  if (!nested.from.empty()) {
    begin_clause(one_space);
    list(nested.from, [this](const Source& each) { source(each); });
  }
  if (!nested.order_by.empty()) {
    begin_clause(one_space);
    keyword();
    list(nested.order_by, [this](const DesignPart& each) { part(each); });
  }
  if (nested.limit) {
    begin_clause(one_space);
    take(TokenKind::Number);
  }
}

// The whole

std::string Printer::file(const Tree& tree) {
  std::string out;
  out.reserve(source_.text().size() + source_.text().size() / 8);
  bool first = true;
  if (!tree.model.missing()) {
    place(between_members);
    keyword();
    take_name();
    first = false;
  }
  bool after_model = !first;
  for (const Declaration& each : tree.declarations) {
    place({.spaces = 0, .blank = after_model ? Break::Blank::Always : Break::Blank::Paragraph});
    after_model = false;
    layout_.open();
    std::visit([this](const auto& one) { declaration(one); }, each);
    layout_.close();
    layout_.flush(remarks_, out);
    rewritten_.clear();
  }
  while (now().kind == TokenKind::RightParenthesis) ++cursor_;
  check(now().kind == TokenKind::End, "the printer has printed all tokens");
  place({.spaces = 0, .closes = false, .blank = Break::Blank::Keep});
  layout_.tell(next_comment_, comments_.size(), false);
  layout_.flush(remarks_, out);
  return out;
}

}  // namespace

std::string print(const Tree& tree, const SourceFile& source) { return Printer(tree, source).file(tree); }

}  // namespace noam::language
