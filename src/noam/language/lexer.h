#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "noam/base/span.h"
#include "noam/language/diagnostics.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"
#include "noam/language/words.h"

namespace noam::language {

enum class TokenKind : std::uint8_t {
  End,
  Name,        // a word, also every keyword: keywords are contextual
  QuotedName,  // `order`, without the backquotes in `text`
  Parameter,   // $id, without the $ in `text`
  Number,
  Text,     // with its quotes in `span`; `text` is what stands between them, still with its escapes
  Unknown,  // reported already
  Foreign,  // a sign of another language (`==`, `;`, `@`): the parser says what to write instead
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  LeftParenthesis,
  RightParenthesis,
  Comma,
  Colon,
  Dot,
  Question,
  Coalesce,
  Tilde,
  Bar,
  Slash,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Plus,
  Minus,
  Star,
};

struct Token {
  TokenKind kind = TokenKind::End;
  Word word = Word::None;  // of a Name, also in capitals: what it means where a keyword is looked for
  Span span;
  std::string_view text;
};

struct Tokens {
  std::vector<Token> tokens;  // always ends with End
  std::vector<Comment> comments;
};

// Whatever the bytes are, every one of them is in a token, a comment, white space or a reported stretch.
Tokens lex(const SourceFile& source, Diagnostics& diagnostics);

// The text that a Text token stands for. Escapes that are none have been reported by `lex` and are left as written.
std::string decode_text(std::string_view inside_quotes);

}  // namespace noam::language
