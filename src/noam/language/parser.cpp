#include "noam/language/parser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"
#include "noam/language/suggest.h"
#include "noam/language/unicode.h"

namespace noam::language {

Tree parse(const SourceFile& source, Diagnostics& diagnostics) { return Parser(source, diagnostics).file(); }

namespace {

constexpr std::array<std::string_view, 7> declarations = {"value", "entity", "query", "command",
                                                          "group", "mix",    "design"};

std::string_view sign(TokenKind kind) {
  switch (kind) {
    case TokenKind::LeftBrace:
      return "{";
    case TokenKind::RightBrace:
      return "}";
    case TokenKind::LeftBracket:
      return "[";
    case TokenKind::RightBracket:
      return "]";
    case TokenKind::LeftParenthesis:
      return "(";
    case TokenKind::RightParenthesis:
      return ")";
    default:
      return "";
  }
}

TokenKind closer_of(TokenKind kind) {
  if (kind == TokenKind::LeftBrace) return TokenKind::RightBrace;
  return kind == TokenKind::LeftBracket ? TokenKind::RightBracket : TokenKind::RightParenthesis;
}

bool is_opener(TokenKind kind) {
  return kind == TokenKind::LeftBrace || kind == TokenKind::LeftBracket || kind == TokenKind::LeftParenthesis;
}

bool is_closer(TokenKind kind) {
  return kind == TokenKind::RightBrace || kind == TokenKind::RightBracket || kind == TokenKind::RightParenthesis;
}

// At most so much of the user's text stands in a message.
std::string shortened(std::string_view text) {
  constexpr std::size_t most = 40;
  if (text.size() <= most) return std::string(text);
  std::size_t end = 0;
  while (end < most) end += code_point_at(text, end).bytes;
  return std::string(text.substr(0, end)) + "…";
}

// What a sign of another language is here.
std::string advice(std::string_view foreign) {
  if (foreign == "==" || foreign == "===") return "write `=` for equality";
  if (foreign == "<>" || foreign == "!==") return "write `!=` for inequality";
  if (foreign == "&&") return "write `and`";
  if (foreign == "||") return "write `or`";
  if (foreign == "!") return "write `not`";
  if (foreign == ":=" || foreign == "=>") return "write `:`";
  if (foreign == "->") return "write `.`";
  if (foreign == "@") return "write parameters as `$name`";
  return {};
}

}  // namespace

Parser::Parser(const SourceFile& source, Diagnostics& diagnostics)
    : source_(source), diagnostics_(diagnostics), mistake_at_(nowhere), glitch_at_(nowhere) {
  Tokens lexed = lex(source, diagnostics);
  tokens_ = std::move(lexed.tokens);
  tree_.comments = std::move(lexed.comments);
  unclosed_ = find_unclosed(tokens_, source.text());
}

// Tokens

bool Parser::at_end() const { return is_closer(now().kind) || at(TokenKind::End); }

bool Parser::first_on_line(const Token& token) const {
  const std::string_view text = source_.text();
  std::size_t before = token.span.begin;
  while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
  return before == 0 || text[before - 1] == '\n';
}

bool Parser::on_new_line() const { return source_.text({last_end_, here()}).find('\n') != std::string_view::npos; }

bool Parser::declaration_begins(std::size_t n) const {
  const Token& token = ahead(n);
  const Token& name = ahead(n + 1);
  if (!is_declaration(token.word)) return false;
  if (looks_like_declaration(tokens_, pos_ + n)) return true;
  const bool named = is_name(name) || name.kind == TokenKind::Text || name.kind == TokenKind::Number ||
                     name.kind == TokenKind::LeftBrace;
  return named && name.word != Word::By && first_on_line(token);
}

bool Parser::begins_operand(const Token& token) {
  switch (token.kind) {
    case TokenKind::Name:
    case TokenKind::QuotedName:
    case TokenKind::Parameter:
    case TokenKind::Number:
    case TokenKind::Text:
    case TokenKind::LeftParenthesis:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      return true;
    default:
      return false;
  }
}

bool Parser::at_unclosed_text() const {
  if (!at(TokenKind::Text)) return false;
  const std::string_view text = source_.text(now().span);
  return text.starts_with('"') && (text.size() == 1 || !text.ends_with('"'));
}

void Parser::advance() {
  last_end_ = now().span.end;
  const bool unclosed_text = at_unclosed_text();
  if (pos_ + 1 < tokens_.size()) ++pos_;
  if (unclosed_text) glitch_at_ = pos_;
  if (at(TokenKind::Unknown) || at(TokenKind::Foreign)) settle();
}

// Steps over what was reported already, over brackets that close nothing, and over semicolons.
void Parser::settle() {
  bool glitch = false;
  bool said = broken_;
  for (;; ++pos_) {
    const Token& token = now();
    if (token.kind == TokenKind::Unknown) {
      glitch = true;
      const bool bracket = token.text == "}" || token.text == ")" || token.text == "]";
      // After another mistake its partner was probably a part of that.
      said = said || diagnostics_.error_count() > declaration_errors_;
      if (bracket && !said) say(DiagnosticCode::Syntax, token.span, fmt::format("unmatched `{}`", token.text));
      said = said || bracket;
    } else if (token.kind == TokenKind::Foreign && token.text == ";") {
      if (!broken_) {
        say_once(Habit::Semicolons, DiagnosticCode::ForeignSyntax, token.span, "unexpected semicolon",
                 "remove the semicolons");
      }
      glitch = glitch || source_.text({token.span.end, ahead().span.begin}).find('\n') == std::string_view::npos;
    } else {
      break;
    }
  }
  if (glitch) glitch_at_ = pos_;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool Parser::accept(Word word) {
  if (!at(word)) return false;
  take(word);
  return true;
}

Span Parser::take(Word word) {
  const Token& token = now();
  if (token.text != spelling(word) && find_word(token.text) == word) {
    say_once(Habit::Capitals, DiagnosticCode::ForeignSyntax, token.span, fmt::format("`{}` in upper case", token.text),
             fmt::format("write keywords in lower case: `{}`", spelling(word)));
  }
  const Span span = token.span;
  advance();
  return span;
}

// Mistakes

std::string Parser::found() const {
  const Token& token = at(TokenKind::End) ? ahead() : now();
  if (token.kind == TokenKind::End) return "the end of the file";
  if (token.kind == TokenKind::QuotedName) return fmt::format("`{}`", shortened(token.text));
  return fmt::format("`{}`", shortened(source_.text(token.span)));
}

std::string Parser::written(Span span) const { return shortened(source_.text(span)); }

Span Parser::place() const { return at(TokenKind::End) || on_new_line() ? after_last() : now().span; }

void Parser::expected(std::string_view what, Span where, const std::string& hint) {
  if (!quiet()) {
    const std::string known = what == operand && at(TokenKind::Foreign) ? advice(now().text) : std::string();
    const DiagnosticCode code = known.empty() ? DiagnosticCode::Syntax : DiagnosticCode::ForeignSyntax;
    diagnostics_.error(code, where, fmt::format("expected {}, found {}", what, found()))
        .hint(known.empty() ? hint : known);
  }
  mistake_at_ = pos_;
  broken_ = true;
}

void Parser::say(DiagnosticCode code, Span span, std::string message, std::string hint) {
  diagnostics_.error(code, span, std::move(message)).hint(std::move(hint));
}

void Parser::say_once(Habit habit, DiagnosticCode code, Span span, std::string message, std::string hint) {
  const std::uint32_t bit = 1U << static_cast<unsigned>(habit);
  if ((said_ & bit) == 0) say(code, span, std::move(message), std::move(hint));
  said_ |= bit;
}

void Parser::duplicate(Span again, Span first, std::string_view what) {
  diagnostics_.error(DiagnosticCode::DuplicateClause, again, fmt::format("{} written twice", what))
      .label(first, "first written here");
}

bool Parser::too_deep(Span span) {
  if (depth_ < deepest_nesting) return false;
  if (!too_deep_said_ && !broken_) {
    say(DiagnosticCode::NestedTooDeep, span, fmt::format("nested more than {} levels deep", deepest_nesting));
  }
  too_deep_said_ = true;
  return true;
}

// Recovery

void Parser::skip_group() {
  skipped_.clear();
  do {
    const TokenKind kind = now().kind;
    if (kind == TokenKind::End) return;
    if (is_opener(kind)) {
      skipped_.push_back(closer_of(kind));
    } else if (is_closer(kind)) {
      while (!skipped_.empty() && skipped_.back() != kind) skipped_.pop_back();
      if (skipped_.empty()) return;  // it closes something outside; what we came from is unclosed
      skipped_.pop_back();
    }
    advance();
  } while (!skipped_.empty());
}

void Parser::skip_one() {
  const bool was_broken = broken_;
  broken_ = true;  // says nothing of what it passes
  if (is_opener(now().kind)) {
    skip_group();
  } else {
    advance();
  }
  broken_ = was_broken;
}

// Brackets

Parser::Opener Parser::open(TokenKind kind) {
  const Opener opener{static_cast<std::uint32_t>(pos_), now().span, closer_of(kind), true, ends_early_};
  ends_early_ = kind != TokenKind::LeftBrace && unclosed(opener);
  advance();
  return opener;
}

// After a header. Where the brace is missing, it is looked for up to the next declaration.
Parser::Opener Parser::open_block(std::string_view after, bool (Parser::*body_begins)() const) {
  if (!broken_ && at(TokenKind::LeftBrace)) {
    const Opener opener = open(TokenKind::LeftBrace);
    if (at(TokenKind::LeftBrace) && (unclosed(opener) || inside_unclosed(opener))) {
      say(DiagnosticCode::Syntax, now().span, "one `{` too many");
      take_out();
    }
    return opener;
  }
  if (!broken_ && at(TokenKind::LeftParenthesis)) {
    say_once(Habit::Parentheses, DiagnosticCode::ForeignSyntax, now().span,
             fmt::format("expected `{{` after {}, found `(`", after), "write the body in braces");
    return open(TokenKind::LeftParenthesis);
  }
  expected(fmt::format("`{{` after {}", after));
  skip_until([&] { return at(TokenKind::LeftBrace) || (this->*body_begins)() || declaration_begins(); });
  if (at(TokenKind::LeftBrace)) return open(TokenKind::LeftBrace);
  if ((this->*body_begins)() && put_in(TokenKind::LeftBrace)) return open(TokenKind::LeftBrace);
  return {};
}

bool Parser::unclosed(const Opener& opener) const {
  return !unclosed_.empty() && std::binary_search(unclosed_.begin(), unclosed_.end(), opener.index);
}

// Whether something around a bracket is never closed: then it may as well be this bracket that lacks its partner.
bool Parser::inside_unclosed(const Opener& opener) const {
  if (unclosed_.empty()) return false;
  const auto next = std::lower_bound(unclosed_.begin(), unclosed_.end(), declaration_at_);
  return next != unclosed_.end() && *next < opener.index;
}

// Puts in the bracket that is missing here.
bool Parser::put_in(TokenKind bracket) {
  const Token token{bracket, Word::None, after_last(), {}};
  if (!pair_anew(&token)) return false;
  mistake_at_ = pos_ + 1;
  return true;
}

// Takes out the bracket that is one too many.
bool Parser::take_out() {
  tokens_[pos_].kind = TokenKind::Unknown;
  tokens_[pos_].text = {};
  const bool done = pair_anew(nullptr);
  settle();
  return done;
}

// Pairs all brackets anew. It walks over the file; so it is not done often in a large one.
bool Parser::pair_anew(const Token* bracket) {
  constexpr std::size_t most_tokens_walked = 20'000'000;
  walked_ += tokens_.size();
  if (walked_ > most_tokens_walked) return false;
  std::vector<Token> rest;
  rest.reserve(tokens_.size() - pos_);
  for (std::size_t i = pos_; i < tokens_.size(); ++i) {
    Token token = tokens_[i];
    if (token.kind == TokenKind::End && i + 1 < tokens_.size()) continue;  // it was put in, too
    if (token.kind == TokenKind::Unknown && token.text == "}") token.kind = TokenKind::RightBrace;
    if (token.kind == TokenKind::Unknown && token.text == ")") token.kind = TokenKind::RightParenthesis;
    if (token.kind == TokenKind::Unknown && token.text == "]") token.kind = TokenKind::RightBracket;
    rest.push_back(token);
  }
  tokens_.resize(pos_);
  if (bracket != nullptr) tokens_.push_back(*bracket);
  tokens_.insert(tokens_.end(), rest.begin(), rest.end());
  unclosed_ = find_unclosed(tokens_, source_.text());
  broken_ = false;
  return true;
}

Span Parser::close(const Opener& opener, std::string_view what) {
  if (!opener.opened) return after_last();
  ends_early_ = opener.outer_ends_early;
  const bool lacks = unclosed(opener);
  const bool likely = !lacks && !broken_ && !at(opener.closer) && inside_unclosed(opener);
  if (lacks || likely) {
    const bool put_in_by_us = opener.span.begin == opener.span.end;
    if (!quiet() && !put_in_by_us) {
      const std::string_view open_sign = source_.text(opener.span);
      diagnostics_
          .error(DiagnosticCode::Unclosed, place(),
                 at(opener.closer) ? fmt::format("expected one more `{}`", sign(opener.closer))
                                   : fmt::format("expected `{}`, found {}", sign(opener.closer), found()))
          .label(opener.span, fmt::format("this `{}` is never closed", open_sign));
    }
    mistake_at_ = pos_;
    if (lacks || !put_in(opener.closer)) return after_last();
  }
  if (!at(opener.closer)) {
    expected(what.empty() ? fmt::format("`{}`", sign(opener.closer))
                          : fmt::format("{} or `{}`", what, sign(opener.closer)));
    skip_until([] { return false; });
  }
  broken_ = false;
  if (!at(opener.closer)) return after_last();
  const Span span = now().span;
  advance();
  return span;
}

bool Parser::another(const Opener& opener, std::string_view element) {
  if (unclosed(opener)) {
    if (broken_ || !at(TokenKind::Comma)) return false;
  } else if (!broken_ && !at(TokenKind::Comma) && inside_unclosed(opener)) {
    return false;
  } else if (broken_) {
    skip_until([&] { return at(TokenKind::Comma); });
  } else if (!at(TokenKind::Comma) && !at_end()) {
    expected(fmt::format("`,` or `{}`", sign(opener.closer)));
    skip_until([&] { return at(TokenKind::Comma); });
  }
  if (!accept(TokenKind::Comma)) return false;
  if (at(opener.closer)) {
    expected(fmt::format("{} after `,`", element), "remove the last comma");
    return false;
  }
  return true;
}

// Names and numbers

Name Parser::take_name() {
  const Token& token = now();
  const Name name{token.text, token.span, token.kind == TokenKind::QuotedName};
  advance();
  return name;
}

Name Parser::expect_name(std::string_view what) {
  if (!broken_) {
    if (at_name() && !(declaration_begins() && first_on_line(now()))) return take_name();
    if (at(TokenKind::Text) && !now().text.empty()) {
      // Of other quotes than these the lexer has spoken.
      if (source_.text(now().span).starts_with('"')) {
        say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("expected {}, found {}", what, found()),
            "write names without quotes, unusual names in backquotes");
      }
      return take_name();
    }
    expected(what);
  }
  return {{}, after_last(), false};
}

Number Parser::take_number() {
  const Number number{now().text, now().span};
  advance();
  return number;
}

Number Parser::expect_number(std::string_view what) {
  if (!broken_ && at(TokenKind::Number)) return take_number();
  if (!broken_) expected(what);
  return {{}, after_last()};
}

Number Parser::expect_integer(std::string_view what) {
  const Number number = expect_number(what);
  if (number.text.find('.') != std::string_view::npos) {
    say(DiagnosticCode::InvalidNumber, number.span, fmt::format("expected {}, found `{}`", what, number.text),
        "write a whole number");
  }
  return number;
}

Duration Parser::duration(std::string_view what) {
  Duration out;
  const std::uint32_t begin = here();
  out.amount = expect_integer(what);
  if (!broken_ && is_duration_unit(now().word)) {
    out.unit = {now().text, now().span, false};
    take(now().word);
  } else if (!broken_) {
    out.unit.span = after_last();
    const bool wrong_unit = at(TokenKind::Name) && !on_new_line() && now().word == Word::None;
    expected(fmt::format("a unit after `{}`", out.amount.text), "the units are `minutes`, `hours`, `days` and `weeks`");
    if (wrong_unit) {
      advance();
      broken_ = false;
    }
  }
  out.span = since(begin);
  return out;
}

// The file

Tree Parser::file() {
  std::size_t likely = 0;
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (is_declaration(tokens_[i].word) && is_name(tokens_[i + 1])) ++likely;
  }
  constexpr std::size_t most_guessed = 100'000;
  tree_.declarations.reserve(std::min(likely, most_guessed));
  declaration_errors_ = diagnostics_.error_count();
  settle();
  model();
  while (!diagnostics_.stopped()) {
    if (at(TokenKind::End)) {
      if (pos_ + 1 == tokens_.size()) break;
      ++pos_;
      continue;
    }
    const std::size_t before = pos_;
    declaration_at_ = pos_;
    declaration_errors_ = diagnostics_.error_count();
    ends_early_ = false;
    said_ = 0;
    depth_ = 0;
    broken_ = false;
    too_deep_said_ = false;
    if (is_closer(now().kind)) {  // only of braces around the file
      advance();
    } else {
      declaration();
    }
    if (pos_ == before) advance();
  }
  return std::move(tree_);
}

void Parser::model() {
  if (at(Word::Model)) {
    take(Word::Model);
    tree_.model = expect_name("a name after `model`");
    if (at(TokenKind::LeftBrace) && (declaration_begins(1) || ahead().kind == TokenKind::RightBrace)) {
      say(DiagnosticCode::ForeignSyntax, now().span, "braces around the model",
          "remove the braces: the declarations follow `model name` directly");
      advance();
    }
    return;
  }
  const std::array<std::string_view, 1> wanted = {"model"};
  if (at(TokenKind::Name) && is_name(ahead()) && closest(now().text, wanted)) {
    say(DiagnosticCode::MissingModel, now().span,
        fmt::format("the file does not begin with `model name` but with `{}`", now().text), "did you mean `model`?");
    advance();
    tree_.model = take_name();
    return;
  }
  if (at(TokenKind::End) && diagnostics_.has_errors()) return;  // nothing of the file could be read
  diagnostics_.error(DiagnosticCode::MissingModel, {here(), here()}, "the file does not begin with `model name`")
      .hint("put `model` and a name on the first line");
  // One remark is enough where there is nothing like a declaration either.
  if (at_name() && !declaration_begins() && declaration_begins(1)) {
    tree_.model = take_name();
  } else if (!is_declaration(now().word) && !is_name(ahead())) {
    mistake_at_ = pos_;
    skip_to_declaration();
  }
}

void Parser::declaration() {
  const Token& next = ahead();
  const bool begins = declaration_begins() || is_name(next) || next.kind == TokenKind::LeftBrace ||
                      next.kind == TokenKind::LeftParenthesis || next.kind == TokenKind::Tilde ||
                      next.kind == TokenKind::Text || next.kind == TokenKind::End;
  if (begins && is_declaration(now().word)) {
    declare(now().word);
  } else if (begins && at(Word::Model)) {
    const Span span = take(Word::Model);
    const Name name = expect_name("a name after `model`");
    duplicate(cover(span, name.span), tree_.model.span, "`model`");
  } else {
    unknown_declaration();
  }
}

void Parser::declare(Word word) {
  said_elsewhere_ = {};
  switch (word) {
    case Word::Value:
      return declare_as(&Parser::value_declaration);
    case Word::Entity:
      return declare_as(&Parser::entity_declaration);
    case Word::Query:
      return declare_as(&Parser::query_declaration);
    case Word::Command:
      return declare_as(&Parser::command_declaration);
    case Word::Group:
      return declare_as(&Parser::group_declaration);
    case Word::Mix:
      return declare_as(&Parser::mix_declaration);
    default:
      return declare_as(&Parser::design_declaration);
  }
}

// The word was looked at by whoever came here; it may be misspelt.
template <typename Kind>
void Parser::declare_as(void (Parser::*read)(Kind&)) {
  Kind declared;
  const std::uint32_t begin = here();
  if (is_declaration(now().word)) {
    take(now().word);
  } else {
    advance();
  }
  (this->*read)(declared);
  declared.span = since(begin);
  broken_ = false;
  tree_.declarations.emplace_back(std::move(declared));
}

namespace {

struct Elsewhere {
  std::string_view word;
  DiagnosticCode code;
  std::string_view message;
  std::string_view hint;
};

constexpr auto no = DiagnosticCode::NotInLanguage;
constexpr auto foreign = DiagnosticCode::ForeignSyntax;

// What people write at the beginning of a declaration.
constexpr std::array elsewhere = {
    Elsewhere{"table", no, "there are no tables", "write `entity Name { field: type … }`; noam chooses the tables"},
    Elsewhere{"view", no, "there are no views",
              "write a query; with `refresh every 1 hour` its rows are stored and other queries can read them"},
    Elsewhere{"materialized", no, "there are no views", "write a query with `refresh every 1 hour`"},
    Elsewhere{"index", no, "indexes are not declared",
              "noam derives the copies from the queries; a `design` declares them by hand"},
    Elsewhere{"trigger", no, "there are no triggers",
              "a command makes all its changes atomically, and noam maintains the copies"},
    Elsewhere{"function", no, "there are no user-defined functions", "write a query or a command"},
    Elsewhere{"procedure", no, "there are no procedures", "write a command"},
    Elsewhere{"create", foreign, "there is no `create`", "write `entity Name { field: type … }`"},
    Elsewhere{"alter", foreign, "there are no statements that change a model", "change the declaration itself"},
    Elsewhere{"drop", foreign, "there are no statements that change a model", "remove the declaration itself"},
    Elsewhere{"with", no, "there is no `with`, and no recursion",
              "write a nested select, or a query with `refresh every` as a source"},
    Elsewhere{"recursive", no, "there is no recursion", "name each step in `from`: `from Category c, c.children d`"},
    Elsewhere{"select", foreign, "a select must be inside a query", "write `query name { select … }`"},
    Elsewhere{"insert", foreign, "a change must be inside a command", "write `command name($x) { insert … }`"},
    Elsewhere{"update", foreign, "a change must be inside a command", "write `command name($x) { update … }`"},
    Elsewhere{"delete", foreign, "a change must be inside a command", "write `command name($x) { delete … }`"},
    Elsewhere{"put", foreign, "a change must be inside a command", "write `command name($x) { put … }`"},
    Elsewhere{"collection", DiagnosticCode::Syntax, "a collection must be inside a design",
              "write `design name { collection … }`"},
    Elsewhere{"type", foreign, "there is no `type`",
              "write `value Name { field: type … }`, or `entity` if it has a key"},
    Elsewhere{"struct", foreign, "there is no `struct`", "write `value Name { field: type … }`"},
    Elsewhere{"record", foreign, "there is no `record`", "write `value Name { field: type … }`"},
    Elsewhere{"class", foreign, "there is no `class`", "write `entity Name { field: type … }`"},
    Elsewhere{"interface", no, "there are no interfaces", "declare the fields in each entity"},
    Elsewhere{"enum", foreign, "there is no `enum`", "write an enumeration as a type: `status: \"open\" | \"paid\"`"},
    Elsewhere{"import", no, "a model must be one file", ""},
    Elsewhere{"include", no, "a model must be one file", ""},
    Elsewhere{"database", foreign, "there is no `database`", "the file begins with `model name`"},
    Elsewhere{"keyspace", foreign, "there is no `keyspace`", "the file begins with `model name`"},
    Elsewhere{"schema", foreign, "there is no `schema`", "the file begins with `model name`"},
};

std::string lower_case(std::string_view text) {
  std::string out(text.substr(0, 40));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

const Elsewhere* find_elsewhere(std::string_view name) {
  const std::string word = lower_case(name);
  const auto* found =
      std::find_if(elsewhere.begin(), elsewhere.end(), [&](const Elsewhere& e) { return e.word == word; });
  return found == elsewhere.end() ? nullptr : found;
}

}  // namespace

void Parser::unknown_declaration() {
  const Elsewhere* known = at(TokenKind::Name) ? find_elsewhere(now().text) : nullptr;
  if (known != nullptr) {
    if (!quiet() && known->message != said_elsewhere_)
      say(known->code, now().span, std::string(known->message), std::string(known->hint));
    said_elsewhere_ = known->message;
    return skip_to_declaration();
  }
  const auto similar = at(TokenKind::Name) && is_name(ahead()) ? closest(now().text, declarations) : std::nullopt;
  if (similar) {
    say(DiagnosticCode::UnknownDeclaration, now().span, fmt::format("unknown declaration `{}`", shortened(now().text)),
        fmt::format("did you mean `{}`?", *similar));
    return declare(find_word(*similar));
  }
  if (!quiet()) {
    const bool field = is_name(now()) && ahead().kind == TokenKind::Colon;
    diagnostics_
        .error(DiagnosticCode::UnknownDeclaration, now().span, fmt::format("expected a declaration, found {}", found()))
        .hint(field ? "a field must be inside an entity or a value; is there an extra `}` before it?"
                    : "the declarations are `value`, `entity`, `query`, `command`, `group`, `mix` and `design`");
  }
  skip_to_declaration();
}

// `entitty Player`, `create table` at the beginning of a line: a mistake of its own.
bool Parser::declaration_of_another_language() const {
  if (!at(TokenKind::Name) || !is_name(ahead()) || !first_on_line(now())) return false;
  return find_elsewhere(now().text) != nullptr || closest(now().text, declarations);
}

void Parser::skip_to_declaration() {
  broken_ = true;
  do {
    if (is_closer(now().kind)) {
      advance();
    } else if (!at(TokenKind::End)) {
      skip_one();
    }
  } while (!at(TokenKind::End) && !declaration_begins() && !declaration_of_another_language());
  broken_ = false;
}

}  // namespace noam::language
