#include "noam/language/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace noam::language {
namespace {

// Each token as its kind and text: `n:entity`, `t:abc`, signs as themselves.
std::string kinds(const std::string& text, std::string* mistakes = nullptr) {
  const SourceFile source("a.noam", text);
  Diagnostics diagnostics;
  const Tokens lexed = lex(source, diagnostics);
  std::string out;
  std::uint32_t end = 0;
  for (const Token& token : lexed.tokens) {
    EXPECT_LE(end, token.span.begin) << "tokens don't overlap";
    end = token.span.end;
    const char* kind = "";
    switch (token.kind) {
      case TokenKind::End:
        continue;
      case TokenKind::Name:
        kind = "n:";
        break;
      case TokenKind::QuotedName:
        kind = "q:";
        break;
      case TokenKind::Parameter:
        kind = "p:";
        break;
      case TokenKind::Number:
        kind = "#:";
        break;
      case TokenKind::Text:
        kind = "t:";
        break;
      case TokenKind::Unknown:
        kind = "?:";
        break;
      case TokenKind::Foreign:
        kind = "f:";
        break;
      default:
        break;
    }
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", kind, token.text);
  }
  EXPECT_EQ(lexed.tokens.back().kind, TokenKind::End);
  std::string said;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    said += fmt::format("{}{} {}-{}", said.empty() ? "" : ", ", info(diagnostic.code).name, diagnostic.span.begin,
                        diagnostic.span.end);
  }
  if (mistakes != nullptr) {
    *mistakes = said;
  } else {
    EXPECT_EQ(said, "") << text;
  }
  return out;
}

std::string mistakes(const std::string& text) {
  std::string out;
  kinds(text, &out);
  return out;
}

TEST(Lexer, KnowsNamesOfAnyScript) {
  EXPECT_EQ(kinds("entity größe 名前 ε _ _x x1_y"), "n:entity n:größe n:名前 n:ε n:_ n:_x n:x1_y");
  EXPECT_EQ(kinds("`order by` `ä` $id $größe $`x y`"), "q:order by q:ä p:id p:größe p:x y");
}

TEST(Lexer, KnowsEverySign) {
  EXPECT_EQ(kinds("{}[](),:.~|/= != < <= > >= + - * ? ??"), "{ } [ ] ( ) , : . ~ | / = != < <= > >= + - * ? ??");
  EXPECT_EQ(kinds("a.b[1]?c"), "n:a . n:b [ #:1 ] ? n:c");
  EXPECT_EQ(kinds("set<list<text>>= {}"), "n:set < n:list < n:text > >= { }");
}

TEST(Lexer, LeavesTheSignsOfOtherLanguagesToTheParser) {
  EXPECT_EQ(kinds("== === <> !== && || ! ; @ := => -> %"),
            "f:== f:=== f:<> f:!== f:&& f:|| f:! f:; f:@ f::= f:=> f:-> f:%");
}

TEST(Lexer, KnowsNumbersAndDurations) {
  EXPECT_EQ(kinds("0 007 1_000 0.9 1_0.2_5 -1 7 days"), "#:0 #:007 #:1_000 #:0.9 #:1_0.2_5 - #:1 #:7 n:days");
  EXPECT_EQ(kinds("a.1"), "n:a . #:1");
}

TEST(Lexer, RefusesNumbersThatAreNone) {
  for (const char* wrong :
       {"1__0", "1_", "1.", "1_.5", "1.5_", "0x10", "1e5", "1e-5", "1E+5", "12abc", "1.5x", "1.2.3", "2ä", "20k"}) {
    std::string said;
    const std::string tokens = kinds(wrong, &said);
    EXPECT_EQ(said, fmt::format("invalid-number 0-{}", std::string_view(wrong).size())) << wrong;
    EXPECT_EQ(tokens.substr(0, 2), "#:") << wrong;
    EXPECT_EQ(tokens.find(' '), std::string::npos) << wrong << " is one token";
  }
  std::string said;
  EXPECT_EQ(kinds("7days", &said), "#:7 n:days");
  EXPECT_EQ(said, "invalid-number 0-5");
}

TEST(Lexer, KnowsTextsAndTheirEscapes) {
  EXPECT_EQ(kinds(R"("" "a b" "\"\\\n\t\u{1F600}" "ä")"), R"(t: t:a b t:\"\\\n\t\u{1F600} t:ä)");
  EXPECT_EQ(decode_text(R"(\"\\\n\t\u{1F600}ä\u{41})"), "\"\\\n\t😀äA");
  EXPECT_EQ(decode_text(R"(\q\u{0}\u{110000}\u12\)"), R"(\q\u{0}\u{110000}\u12\)");
}

TEST(Lexer, RefusesEscapesThatAreNone) {
  EXPECT_EQ(mistakes(R"("a\qb")"), "invalid-escape 2-4");
  EXPECT_EQ(mistakes(R"("\u0041")"), "invalid-escape 1-7");
  for (const char* wrong :
       {R"(\u{0})", R"(\u{110000})", R"(\u{D800})", R"(\u{})", R"(\u{12)", R"(\u{FFFFFFFFFFFFFFFFF})", R"(\ä)"}) {
    EXPECT_EQ(mistakes(fmt::format("\"{}\"", wrong)),
              fmt::format("invalid-escape 1-{}", 1 + std::string_view(wrong).size()))
        << wrong;
  }
}

TEST(Lexer, EndsAnUnclosedTextWithItsLine) {
  std::string said;
  EXPECT_EQ(kinds("x = \"abc\ny", &said), "n:x = t:abc n:y");
  EXPECT_EQ(said, "unclosed-text 4-5");
  EXPECT_EQ(kinds("\"abc\\\r\ny", &said), "t:abc\\ n:y");
  EXPECT_EQ(kinds("{ (\"abc) }\n", &said), "{ ( t:abc ) }");  // brackets at the end were hardly meant
  EXPECT_EQ(kinds("\"", &said), "t:");
}

TEST(Lexer, GuessesWhereAnUnclosedNameEnds) {
  std::string said;
  EXPECT_EQ(kinds("`from: text\ny", &said), "q:from : n:text n:y");
  EXPECT_EQ(said, "unclosed-name 0-1");
  EXPECT_EQ(kinds("``", &said), "?:``");
  EXPECT_EQ(said, "syntax 0-2");
}

TEST(Lexer, CollectsComments) {
  const SourceFile source("a.noam", "// one\r\na // two /* \" \n//");
  Diagnostics diagnostics;
  const Tokens lexed = lex(source, diagnostics);
  ASSERT_EQ(lexed.comments.size(), 3U);
  EXPECT_EQ(lexed.comments[0].text, "// one");
  EXPECT_EQ(lexed.comments[1].text, "// two /* \" ");
  EXPECT_EQ(lexed.comments[2].span, (Span{23, 25}));
  EXPECT_EQ(lexed.tokens.size(), 2U);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Lexer, KnowsTheCommentsOfOthers) {
  std::string said;
  EXPECT_EQ(kinds("# one\n# two\na -- three\n--four\nb", &said), "n:a n:b");
  EXPECT_EQ(said, "foreign-syntax 0-1");  // once a file
  EXPECT_EQ(kinds("a /* b\n c */ d", &said), "n:a n:d");
  EXPECT_EQ(said, "foreign-syntax 2-4");
  EXPECT_EQ(kinds("a /* b", &said), "n:a");
  EXPECT_EQ(kinds("1 - -1 --1 a--1"), "#:1 - - #:1 - - #:1 n:a - - #:1");
}

TEST(Lexer, KnowsTheQuotesOfOthers) {
  std::string said;
  EXPECT_EQ(kinds("'a' 'it''s'", &said), "t:a t:it''s");
  EXPECT_EQ(said, "foreign-syntax 0-3, foreign-syntax 4-11");
  EXPECT_EQ(kinds("“a” x", &said), "t:a n:x");
  EXPECT_EQ(said, "unexpected-character 0-7");
  EXPECT_EQ(kinds("'a\nx", &said), "t:a n:x");
  EXPECT_EQ(said, "unclosed-text 0-1");
}

TEST(Lexer, ReportsEachRunOfBadBytesOnce) {
  EXPECT_EQ(mistakes("a \xff\xfe\xfd b \xc3"), "invalid-utf8 2-5, invalid-utf8 8-9");
  EXPECT_EQ(mistakes("\"a\xff\" // \xff\xff\n`\xff`"), "invalid-utf8 2-3, invalid-utf8 8-10, invalid-utf8 12-13");
  EXPECT_EQ(mistakes("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80"),
            "invalid-utf8 0-2, invalid-utf8 3-6, invalid-utf8 7-11");
}

TEST(Lexer, ReportsControlCharactersAndGoesOn) {
  std::string said;
  EXPECT_EQ(kinds(std::string("a\0\0b\x1b", 5), &said), "n:a n:b");
  EXPECT_EQ(said, "control-character 1-3, control-character 4-5");
  EXPECT_EQ(mistakes("\"a\x01\" // \x02"), "control-character 2-3, control-character 8-9");
  EXPECT_EQ(mistakes("a\rb"), "control-character 1-2");
  EXPECT_EQ(mistakes("a\u0085b"), "control-character 1-3");
  EXPECT_EQ(mistakes("a\tb\r\n"), "");
}

TEST(Lexer, ReportsCharactersThatMeanNothing) {
  std::string said;
  EXPECT_EQ(kinds("a €€ b\u00A0c \\", &said), "n:a ?:€€ n:b n:c ?:\\");
  EXPECT_EQ(said, "unexpected-character 2-8, unexpected-character 10-12, unexpected-character 14-15");
  EXPECT_EQ(mistakes("$ $1 $"), "syntax 0-1, syntax 2-4, syntax 5-6");
}

TEST(Lexer, SkipsTheMarkAtTheBeginning) {
  EXPECT_EQ(kinds("\xEF\xBB\xBFmodel"), "n:model");
  EXPECT_EQ(mistakes("a\xEF\xBB\xBF"), "unexpected-character 1-4");
  EXPECT_EQ(kinds(""), "");
}

TEST(Lexer, MarksWordsInLowerCaseAndInCapitals) {
  const SourceFile source("a.noam", "select SELECT Select selects `select`");
  Diagnostics diagnostics;
  const Tokens lexed = lex(source, diagnostics);
  const auto word = [&](std::size_t i) { return lexed.tokens[i].word; };
  EXPECT_EQ(word(0), Word::Select);
  EXPECT_EQ(word(1), Word::Select);
  EXPECT_EQ(word(2), Word::None);
  EXPECT_EQ(word(3), Word::None);
  EXPECT_EQ(word(4), Word::None);
  for (int i = 1; i <= static_cast<int>(last_word); ++i) {
    EXPECT_EQ(find_word(spelling(static_cast<Word>(i))), static_cast<Word>(i));
  }
}

TEST(Lexer, StopsAfterAThousandMistakes) {
  std::string bytes(5'000'000, '\x01');
  bytes += '\n';
  const SourceFile source("a.noam", bytes);
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "\x01 a ";
  const SourceFile many("b.noam", text);
  Diagnostics one;
  lex(source, one);
  EXPECT_EQ(one.error_count(), 1U);
  Diagnostics diagnostics;
  const Tokens lexed = lex(many, diagnostics);
  EXPECT_TRUE(diagnostics.stopped());
  EXPECT_EQ(lexed.tokens.size(), 1001U);
}

}  // namespace
}  // namespace noam::language
