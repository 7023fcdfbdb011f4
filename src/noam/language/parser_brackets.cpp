#include <algorithm>

#include "noam/language/parser_internal.h"

namespace noam::language {

namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::LeftBrace || kind == TokenKind::LeftBracket || kind == TokenKind::LeftParenthesis;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::RightBrace || kind == TokenKind::RightBracket || kind == TokenKind::RightParenthesis;
}
TokenKind opener_of(TokenKind closer) {
  if (closer == TokenKind::RightBrace) return TokenKind::LeftBrace;
  return closer == TokenKind::RightBracket ? TokenKind::LeftBracket : TokenKind::LeftParenthesis;
}

bool balanced(const std::vector<Token>& tokens) {
  std::vector<TokenKind> open;
  for (const Token& token : tokens) {
    if (opens(token.kind)) {
      open.push_back(token.kind);
    } else if (closes(token.kind)) {
      if (open.empty() || open.back() != opener_of(token.kind)) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

// Pairs brackets as their writer probably meant them. Braces are the stronger ones: a `}` closes over what is open
// inside its block, and `)` and `]` close nothing outside of theirs.
class Pairing {
 public:
  Pairing(std::vector<Token>& tokens, std::string_view text) : tokens_(tokens), text_(text) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (opens(kind)) {
        push(i);
      } else if (closes(kind)) {
        close(i);
      } else if (kind == TokenKind::End) {
        while (!open_.empty()) pop_unclosed();
      } else if (!open_.empty() && begins_outside(i)) {
        while (!open_.empty()) pop_unclosed();
        boundaries_.push_back(i);
      }
    }
    while (!open_.empty()) pop_unclosed();
    std::sort(unclosed_.begin(), unclosed_.end());
    insert_boundaries();
    return std::move(unclosed_);
  }

 private:
  static constexpr std::size_t unknown = nowhere;

  struct Open {
    std::uint32_t index;
    TokenKind kind;
    std::uint32_t parentheses;  // open in the same block before it
    std::uint32_t brackets;
  };

  void push(std::uint32_t i) {
    const TokenKind kind = tokens_[i].kind;
    open_.push_back({i, kind, parentheses_, brackets_});
    if (kind == TokenKind::LeftBrace) {
      ++braces_;
      parentheses_ = brackets_ = 0;
    } else {
      ++(kind == TokenKind::LeftBracket ? brackets_ : parentheses_);
    }
  }

  void pop() {
    if (open_.back().kind == TokenKind::LeftBrace) --braces_;
    parentheses_ = open_.back().parentheses;
    brackets_ = open_.back().brackets;
    open_.pop_back();
  }

  void pop_unclosed() {
    unclosed_.push_back(open_.back().index);
    pop();
  }

  void close(std::uint32_t i) {
    const TokenKind wanted = opener_of(tokens_[i].kind);
    const std::uint32_t candidates = wanted == TokenKind::LeftBrace     ? braces_
                                     : wanted == TokenKind::LeftBracket ? brackets_
                                                                        : parentheses_;
    if (candidates == 0) {
      tokens_[i].kind = TokenKind::Unknown;
      return;
    }
    while (open_.back().kind != wanted) pop_unclosed();
    if (wanted == TokenKind::LeftBrace) pop_deeper(i);
    pop();
  }

  // A `}` that begins its line belongs to the block whose line is indented as far, if there is one near; then what
  // is open further in is what was forgotten.
  void pop_deeper(std::uint32_t closer) {
    constexpr std::size_t near = 8;
    const std::size_t begin = tokens_[closer].span.begin;
    const std::size_t indent = indent_of(begin);
    if (indent == unknown || !begins_line(begin)) return;
    std::size_t braces = 0;
    for (std::size_t k = open_.size(); k-- > 0 && braces < near;) {
      if (open_[k].kind != TokenKind::LeftBrace) continue;
      ++braces;
      const std::size_t opened = indent_of(tokens_[open_[k].index].span.begin);
      if (opened == unknown || opened < indent) return;
      if (opened > indent) continue;
      while (open_.size() > k + 1) pop_unclosed();
      return;
    }
  }

  [[nodiscard]] bool begins_line(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  // Of the line that holds an offset; of long lines nobody asks.
  [[nodiscard]] std::size_t indent_of(std::size_t at) const {
    constexpr std::size_t longest = 400;
    const std::size_t low = at > longest ? at - longest : 0;
    std::size_t line = at;
    while (line > low && text_[line - 1] != '\n') --line;
    if (line == low && low > 0) return unknown;
    return std::min(text_.find_first_not_of(" \t", line), text_.size()) - line;
  }

  // A declaration that can't be meant to be inside of what is open: indented no further, or on the same line.
  bool begins_outside(std::uint32_t i) {
    if (!looks_like_declaration(tokens_, i)) return false;
    measure_line(tokens_[open_.front().index].span.begin);
    const std::size_t begin = tokens_[i].span.begin;
    if (begins_line(begin)) return indent_of(begin) <= indent_;
    return begin < line_end_;
  }

  // Of the outermost opening bracket. Once a line: there may be many on one.
  void measure_line(std::size_t at) {
    if (at >= line_begin_ && at < line_end_) return;
    const std::size_t before = text_.rfind('\n', at);
    line_begin_ = before == std::string_view::npos ? 0 : before + 1;
    line_end_ = std::min(text_.find('\n', at), text_.size());
    indent_ = text_.find_first_not_of(" \t", line_begin_) - line_begin_;
  }

  void insert_boundaries() {
    if (boundaries_.empty()) return;
    std::vector<Token> all;
    all.reserve(tokens_.size() + boundaries_.size());
    std::size_t next = 0;
    std::size_t shift = 0;
    std::size_t opener = 0;
    for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
      if (next < boundaries_.size() && boundaries_[next] == i) {
        const std::uint32_t end = i == 0 ? 0 : tokens_[i - 1].span.end;
        all.push_back({TokenKind::End, Word::None, {end, end}, {}});
        ++next;
        ++shift;
      }
      if (opener < unclosed_.size() && unclosed_[opener] == i) unclosed_[opener++] += static_cast<std::uint32_t>(shift);
      all.push_back(tokens_[i]);
    }
    tokens_ = std::move(all);
  }

  std::vector<Token>& tokens_;
  std::string_view text_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> unclosed_;
  std::vector<std::uint32_t> boundaries_;
  std::uint32_t braces_ = 0;
  std::uint32_t parentheses_ = 0;
  std::uint32_t brackets_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t line_end_ = 0;
  std::size_t indent_ = 0;
};

}  // namespace

bool looks_like_declaration(const std::vector<Token>& tokens, std::size_t i) {
  const Word word = tokens[i].word;
  if (!is_declaration(word) || i + 2 >= tokens.size()) return false;
  const Token& name = tokens[i + 1];
  if ((name.kind != TokenKind::Name && name.kind != TokenKind::QuotedName) || name.word == Word::By) return false;
  const Token& then = tokens[i + 2];
  if (then.kind == TokenKind::LeftBrace) return true;
  switch (word) {
    case Word::Entity:
      return then.kind == TokenKind::Tilde || then.word == Word::Transient;
    case Word::Query:
      return then.kind == TokenKind::LeftParenthesis || then.word == Word::Refresh;
    case Word::Command:
      return then.kind == TokenKind::LeftParenthesis;
    case Word::Mix:
      return then.word == Word::Like || then.word == Word::At;
    case Word::Design:
      return then.word == Word::For;
    default:
      return false;
  }
}

std::vector<std::uint32_t> find_unclosed(std::vector<Token>& tokens, std::string_view text) {
  if (balanced(tokens)) return {};
  return Pairing(tokens, text).run();
}

}  // namespace noam::language
