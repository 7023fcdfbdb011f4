#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

namespace {

// The clauses of a select in their order.
constexpr std::array<Word, 5> clause_order = {Word::From, Word::Where, Word::Group, Word::Order, Word::Limit};

std::string_view clause_name(Word word) {
  if (word == Word::Group) return "group by";
  if (word == Word::Order) return "order by";
  return spelling(word);
}

bool is_join(Word word) { return word >= Word::Join && word <= Word::Natural; }

}  // namespace

std::string variable_for(std::string_view source) {
  const std::size_t dot = source.find_last_of('.');
  const std::string_view name = dot == std::string_view::npos ? source : source.substr(dot + 1);
  const char c = name.empty() ? 'x' : name[0];
  if (c >= 'A' && c <= 'Z') return std::string(1, static_cast<char>(c + 32));
  return std::string(1, c >= 'a' && c <= 'z' ? c : 'x');
}

void Parser::expect_word(Word word, std::string_view what) {
  if (broken_ || accept(word)) return;
  expected(what);
}

// Parameters

void Parser::parameters(std::vector<ParameterDecl>& out, bool& has_parentheses) {
  if (broken_ || !at(TokenKind::LeftParenthesis)) return;
  has_parentheses = true;
  const Opener opener = open(TokenKind::LeftParenthesis);
  if (!at(opener.closer)) {
    do {
      parameter(out.emplace_back());
    } while (another(opener, "a parameter"));
  }
  close(opener, "`,`");
}

void Parser::parameter(ParameterDecl& out) {
  const std::uint32_t begin = here();
  if (is_name(now()) && ahead().kind == TokenKind::Parameter) {
    out.type = type("`(`");
    if (at(TokenKind::Parameter)) {
      say_once(Habit::FieldOrder, DiagnosticCode::ForeignSyntax, {begin, now().span.end},
               "the type before the parameter", fmt::format("write `${}: {}`", now().text, written(out.type->span)));
      out.name = take_name();
    }
    out.span = since(begin);
    return;
  }
  const bool colon = (at(TokenKind::Colon) || at_foreign("@")) && is_name(ahead());
  if (at(TokenKind::Parameter)) {
    out.name = take_name();
  } else if (at_name() || colon) {
    if (colon) advance();
    say_once(Habit::Parameters, DiagnosticCode::ForeignSyntax, {begin, now().span.end}, "a parameter without `$`",
             fmt::format("write `${}`", now().text));
    out.name = take_name();
  } else {
    expected("a parameter", "write parameters as `$name`");
    out.name.span = out.span = after_last();
    return;
  }
  if (accept(TokenKind::Colon)) {
    out.type = type("`:`");
  } else if (at_name() && !on_new_line()) {
    const Name name = out.name;
    out.type = type(fmt::format("`{}`", name.text));
    say_once(Habit::FieldOrder, DiagnosticCode::ForeignSyntax, since(begin), "a parameter and its type without `:`",
             fmt::format("write `${}: {}`", name.text, written(out.type->span)));
  }
  out.span = since(begin);
}

// Queries

void Parser::query_declaration(QueryDecl& query) {
  query.name = expect_name("a name after `query`");
  parameters(query.parameters, query.has_parentheses);
  if (!broken_ && accept(Word::Refresh)) {
    expect_word(Word::Every, "`every` after `refresh`");
    query.refresh = duration("a duration after `every`");
    if (!broken_ && accept(Word::Keep)) query.keep = expect_integer("a number after `keep`");
  }
  const Opener block = open_block(query.refresh ? "`refresh`" : "the name of the query", &Parser::at_select);
  if (!block.opened) return;
  if (at(Word::With) && is_name(ahead())) {
    say(DiagnosticCode::NotInLanguage, now().span, "there is no `with`, and no recursion",
        "write a nested select, or a query with `refresh every` as a source");
    mistake_at_ = pos_;
    skip_until([&] { return at_select(); });
    if (at_end()) mistake_at_ = pos_;
  }
  if (at(Word::Select)) {
    select(query.select);
  } else if (at(Word::From) && is_name(ahead())) {
    say(DiagnosticCode::ClauseOrder, now().span, "`from` before `select`",
        "the order is select, from, where, group by, order by, limit");
    const std::uint32_t begin = here();
    clauses(query.select);
    query.select.span = since(begin);
  } else {
    const Word similar = at(TokenKind::Name) ? similar_clause() : Word::None;
    query.select.span = after_last();
    if (similar == Word::Select) {
      say(DiagnosticCode::Syntax, now().span, fmt::format("expected `select`, found {}", found()),
          "did you mean `select`?");
      select(query.select);
    } else {
      expected(is_change(now().word) ? "`select`" : "`select` and what the query asks for",
               is_change(now().word) ? "changes belong in a command" : "");
    }
  }
  query.body_end = close(block, "a clause");
}

void Parser::select(Select& out) {
  const std::uint32_t begin = here();
  const unsigned outer = tallest_;
  const bool in_members = in_members_;
  in_members_ = false;
  tallest_ = 0;
  const std::size_t outer_select = std::exchange(select_at_, pos_);
  out.select_span = now().span;
  if (at(Word::Select)) {
    take(Word::Select);
  } else {
    advance();  // misspelt
  }
  if (at(Word::Select) && select_begins() && ahead().word != Word::From) {
    duplicate(now().span, out.select_span, "`select`");
    advance();
  }
  columns(out);
  clauses(out);
  out.span = since(begin);
  height_ = tallest_ + 1;
  tallest_ = std::max(outer, height_);
  select_at_ = outer_select;
  in_members_ = in_members;
}

void Parser::columns(Select& out) {
  if (at(Word::Distinct) && (begins_operand(ahead()) || ahead().kind == TokenKind::Star) &&
      !(ahead().word == Word::From && is_name(ahead(2)))) {
    take(Word::Distinct);
    out.distinct = true;
  }
  bool said = false;
  while (true) {
    column(out.columns.emplace_back());
    if (!broken_ && !at(TokenKind::Comma) && !at_end() && !ends_columns()) {
      if (!said) expected("`,` or `from`");
      said = broken_ = true;
    }
    if (broken_) skip_until([&] { return at(TokenKind::Comma) || at_clause(); });
    if (!accept(TokenKind::Comma)) return;
    if (at_clause() || at_end()) {
      expected("a column after `,`", "remove the last comma");
      broken_ = false;
      return;
    }
  }
}

void Parser::column(SelectColumn& out) {
  const std::uint32_t begin = here();
  if (at(TokenKind::Star)) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`*` as a column",
        "select the whole instance by its variable: `select o from Order o`");
    out.expr.span = now().span;
    advance();
  } else if (at(Word::From) && at_clause() && ahead().word != Word::From) {
    out.expr = unknown();
    expected("a column after `select`");
  } else {
    out.expr = expression();
  }
  if (!broken_ && at(Word::Without) && is_name(ahead())) {
    take(Word::Without);
    out.without.push_back(take_name());
    const auto bare = [&] {  // a name alone: whether it is a field or the next column, only the analysis knows
      const Token& then = ahead(2);
      return is_name(ahead()) && (then.kind == TokenKind::Comma || then.word == Word::From || then.word == Word::As);
    };
    while (at(TokenKind::Comma) && bare()) {
      advance();
      out.without.push_back(take_name());
    }
  }
  out.as = alias();
  if (!broken_ && out.as.missing() && at_name() && now().word == Word::None) {
    const Token& then = ahead();
    if (!quiet() && (then.kind == TokenKind::Comma || (then.word == Word::From && similar_clause() == Word::None))) {
      say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("`{}` after a column", now().text),
          fmt::format("write `as {}`", now().text));
      out.as = take_name();
    }
  }
  out.span = since(begin);
}

Name Parser::alias() {
  if (broken_ || !at(Word::As)) return {};
  take(Word::As);
  if (at_clause() && !at(Word::Where)) {
    expected("a name after `as`");
    broken_ = false;
    return {};
  }
  return expect_name("a name after `as`");
}

// Whether a clause begins here, where a name could stand as well.
bool Parser::at_clause() const {
  const Token& next = ahead();
  switch (now().word) {
    case Word::From:
      return is_name(next) || next.kind == TokenKind::LeftParenthesis;
    case Word::Where:
      return begins_operand(next) || next.kind == TokenKind::Minus || next.kind == TokenKind::Foreign;
    case Word::Group:
    case Word::Order:
      return next.word == Word::By;
    case Word::Limit:
      return next.kind == TokenKind::Number || next.kind == TokenKind::Parameter;
    case Word::Having:
      return begins_operand(next);
    case Word::Union:
    case Word::Intersect:
    case Word::Except:
      return next.word == Word::Select || next.word == Word::All || next.kind == TokenKind::LeftParenthesis;
    case Word::Join:
      return is_name(next);
    case Word::Inner:
    case Word::Left:
    case Word::Right:
    case Word::Full:
    case Word::Cross:
    case Word::Natural:
      return next.word == Word::Join || next.word == Word::Outer;
    case Word::Offset:
    case Word::Skip:
      return next.kind == TokenKind::Number || next.kind == TokenKind::Parameter;
    default:
      return false;
  }
}

Word Parser::similar_clause() const {
  static constexpr std::array<std::string_view, 6> words = {"from", "where", "group", "order", "limit", "select"};
  if (!at(TokenKind::Name)) return Word::None;
  const auto similar = closest(now().text, words);
  return similar ? find_word(*similar) : Word::None;
}

// Whatever goes on after the columns, foreign and misspelt clauses too.
bool Parser::ends_columns() const {
  if (at_clause() || at(Word::From) || at(Word::Where) || at(Word::Limit) || source_without_from() || ends_early_)
    return true;
  return similar_clause() != Word::None && begins_operand(ahead());
}

// `select u.name User u`
bool Parser::source_without_from() const {
  if (!at_name() || !is_name(ahead()) || ahead().word != Word::None) return false;
  const Token& then = ahead(2);
  return then.kind == TokenKind::Comma || then.kind == TokenKind::RightBrace ||
         then.kind == TokenKind::RightParenthesis || then.word != Word::None;
}

void Parser::clauses(Select& out) {
  const std::size_t errors = diagnostics_.error_count();
  const bool sound = mistake_at_ == nowhere || mistake_at_ < select_at_;
  const Span from_place = place();
  const std::string instead = at(Word::From) ? std::string() : found();
  std::array<Span, 5> seen{};
  while (true) {
    if (broken_) skip_until([&] { return at_clause(); });
    if (at_end()) break;
    Word word = now().word;
    if (word == Word::Select && out.columns.empty()) {
      out.select_span = take(Word::Select);
      columns(out);
      continue;
    }
    if (std::find(clause_order.begin(), clause_order.end(), word) == clause_order.end()) {
      if (foreign_clause(out)) continue;
      const Word similar = similar_clause();
      if (out.from.empty() && source_without_from()) {
        remark(DiagnosticCode::Syntax, now().span, fmt::format("expected `from` after the columns, found {}", found()));
        seen[0] = now().span;
        sources(out.from, Clauses::Select);
        continue;
      }
      if (similar == Word::None || similar == Word::Select || !begins_operand(ahead())) {
        if (ends_early_) break;
        expected("a clause or the end of the select");
        skip_one();
        continue;
      }
      remark(DiagnosticCode::Syntax, now().span, fmt::format("expected a clause, found {}", found()),
             fmt::format("did you mean `{}`?", spelling(similar)));
      word = similar;
    }
    clause(out, word, seen);
  }
  if (seen[0] == Span{} && sound && diagnostics_.error_count() == errors && !out.columns.empty()) {
    say(DiagnosticCode::Syntax, from_place, fmt::format("expected `from` after the columns, found {}", instead));
    mistake_at_ = pos_;
  }
}

void Parser::clause(Select& out, Word word, std::array<Span, 5>& seen) {
  const auto index =
      static_cast<std::size_t>(std::find(clause_order.begin(), clause_order.end(), word) - clause_order.begin());
  const std::uint32_t begin = here();
  const bool known = pos_ == mistake_at_;
  now().word == word ? static_cast<void>(take(word)) : advance();
  const Span word_span = since(begin);
  if (word == Word::Group || word == Word::Order) {
    if (!accept(Word::By)) {
      if (!begins_operand(now())) return expected(fmt::format("`by` after `{}`", spelling(word)));
      remark(DiagnosticCode::Syntax, place(),
             fmt::format("expected `by` after `{}`, found {}", spelling(word), found()));
      mistake_at_ = pos_;
    }
  }
  const Span span = since(begin);
  const bool again = !(seen[index] == Span{});
  if (again && known) {
    // said already, where this was found in place of something else
  } else if (again) {
    duplicate(span, seen[index], fmt::format("`{}`", clause_name(word)));
  } else {
    for (std::size_t later = clause_order.size(); later-- > index + 1;) {
      if (seen[later] == Span{}) continue;
      diagnostics_
          .error(DiagnosticCode::ClauseOrder, span,
                 fmt::format("`{}` after `{}`", clause_name(word), clause_name(clause_order[later])))
          .label(seen[later], fmt::format("`{}` is here", clause_name(clause_order[later])))
          .hint("the order is select, from, where, group by, order by, limit");
      break;
    }
    seen[index] = span;
  }
  switch (word) {
    case Word::From:
      return sources(out.from, Clauses::Select);
    case Word::Where: {
      Expr condition = expression();
      if (!again) out.where = std::move(condition);
      return;
    }
    case Word::Group:
      while (true) {
        out.group_by.push_back(expression());
        if (broken_) skip_until([&] { return at(TokenKind::Comma) || at_clause(); });
        if (!accept(TokenKind::Comma)) return;
      }
    case Word::Order:
      while (true) {
        OrderTerm& term = out.order_by.emplace_back();
        term.expr = expression();
        term.direction = direction();
        if (broken_) skip_until([&] { return at(TokenKind::Comma) || at_clause(); });
        if (!accept(TokenKind::Comma)) return;
      }
    default:
      break;
  }
  Expr limit = expression();
  if (!again) {
    out.limit = std::move(limit);
    out.limit_span = word_span;
  }
  if (!broken_ && at(TokenKind::Comma) && ahead().kind == TokenKind::Number) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`limit` with two numbers",
        "use `limit` with one number; the cursor of a page leads to the next");
    advance();
    advance();
  }
}

Direction Parser::direction() {
  Direction out = Direction::None;
  if (broken_) return out;
  if (accept(Word::Asc)) {
    out = Direction::Ascending;
  } else if (accept(Word::Desc)) {
    out = Direction::Descending;
  } else if (at(Word::Ascending) || at(Word::Descending)) {
    out = at(Word::Ascending) ? Direction::Ascending : Direction::Descending;
    say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("`{}` after an order", now().text),
        out == Direction::Ascending ? "write `asc`" : "write `desc`");
    advance();
  }
  if (at(Word::Nulls) && is_name(ahead())) {
    say(DiagnosticCode::NotInLanguage, cover(now().span, ahead().span),
        "the position of absent values cannot be chosen", "absent sorts before every value");
    advance();
    advance();
  }
  return out;
}

// What SQL has besides. True where it was read over.
bool Parser::foreign_clause(Select& out) {
  const Word word = now().word;
  const Span span = now().span;
  if (word == Word::Having) {
    say(DiagnosticCode::NotInLanguage, span, "there is no `having`",
        "order by the fold and add a `limit`, or filter in the application");
    advance();
    expression();
    return true;
  }
  if (word == Word::Union || word == Word::Intersect || word == Word::Except) {
    say(DiagnosticCode::NotInLanguage, span, fmt::format("there is no `{}`", now().text),
        "join the conditions with `or` and `and`, or write two queries");
    skip_until([] { return false; });
    return true;
  }
  if (is_join(word) && at_clause()) {
    join(out);
    return true;
  }
  if (word == Word::On && begins_operand(ahead())) {
    say(DiagnosticCode::ForeignSyntax, span, "there is no `on`", "write the condition in `where`");
    advance();
    expression();
    return true;
  }
  if (word == Word::Offset || word == Word::Skip) {
    say(DiagnosticCode::NotInLanguage, span, fmt::format("there is no `{}`", now().text),
        "use `limit` with one number; the cursor of a page leads to the next");
    advance();
    expression();
    return true;
  }
  return false;
}

void Parser::join(Select& out) {
  const std::uint32_t begin = here();
  bool outer = false;
  while (is_join(now().word)) {
    const Word word = now().word;
    outer = outer || word == Word::Left || word == Word::Right || word == Word::Full || word == Word::Outer;
    advance();
    if (word == Word::Join) break;
  }
  if (outer) {
    say(DiagnosticCode::NotInLanguage, since(begin), "there are no outer joins",
        "write a nested select: `select c.name, (select o.id from c.orders o) as orders from Customer c`");
  } else {
    say(DiagnosticCode::ForeignSyntax, since(begin), "there is no `join`",
        "list the sources in `from`, joined by a path: `from Customer c, c.orders o`");
  }
  source(out.from.emplace_back(), Clauses::Select);
  if (broken_) return;
  if (at(Word::On)) {
    advance();
    expression();
  } else if (at(Word::Using) && ahead().kind == TokenKind::LeftParenthesis) {
    advance();
    skip_one();
  }
}

void Parser::sources(std::vector<Source>& out, Clauses clauses) {
  while (true) {
    source(out.emplace_back(), clauses);
    if (broken_) {
      skip_until([&] {
        return at(TokenKind::Comma) || at(TokenKind::LeftBrace) || at_clause() ||
               (clauses != Clauses::Select && (at(Word::By) || at_family()));
      });
    }
    if (!accept(TokenKind::Comma)) return;
  }
}

// A name here that is the variable, and not the beginning of what comes after the sources.
bool Parser::variable_here(Clauses clauses) const {
  if (!at_name()) return false;
  const Token& next = ahead();
  const bool goes_on = next.kind == TokenKind::Comma;
  switch (now().word) {
    case Word::None:
      return true;
    case Word::Where:
    case Word::From:
    case Word::Limit:
    case Word::Having:
      return goes_on || next.word == Word::Where || next.word == Word::Order || next.word == Word::Group;
    case Word::By:
      return clauses != Clauses::Collection || goes_on || next.word == Word::By;
    case Word::Entry:
    case Word::Copy:
      return clauses != Clauses::Family || goes_on;
    case Word::Collection:
    case Word::Rest:
      return clauses != Clauses::Family || goes_on || !is_name(next);
    case Word::On:
      return !begins_operand(next);
    case Word::As:
      return false;
    default:
      return !at_clause();
  }
}

void Parser::source(Source& out, Clauses clauses) {
  const std::uint32_t begin = here();
  if (at(TokenKind::LeftParenthesis) && select_begins(1)) {
    say(DiagnosticCode::NotInLanguage, ahead().span, "a select as a source",
        "make it a query with `refresh every`, or a nested select among the columns");
    out.what.span = now().span;
    skip_one();
    out.what.span.end = last_end_;
    accept(Word::As);
    if (at_name() && variable_here(clauses)) out.variable = take_name();
    out.span = since(begin);
    return;
  }
  const bool dubious = quiet();
  if (!at_name() || (at(Word::Where) && at_clause())) {
    out.what = unknown();
    out.variable.span = out.span = after_last();
    return expected("an entity or a path");
  }
  out.what = postfix();
  tallest_ = std::max(tallest_, height_);
  if (!broken_ && at(Word::History) && is_name(ahead()) && ahead().word == Word::None) {
    take(Word::History);
    out.history = true;
  }
  if (!broken_ && at(Word::As) && is_name(ahead())) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`as` before a variable",
        fmt::format("write `{} {}`", written(out.what.span), ahead().text));
    advance();
  }
  if (!broken_) {
    if (variable_here(clauses)) {
      out.variable = take_name();
    } else {
      const std::string text = written(out.what.span);
      out.variable.span = after_last();
      const bool ends = at_end() || at(TokenKind::Comma) || at(TokenKind::LeftBrace) || at_name() || ends_early_;
      if (!ends) {
        expected(fmt::format("a variable after `{}`", text));
      } else if (!quiet() && !dubious) {
        say(DiagnosticCode::MissingVariable, out.what.span, fmt::format("`{}` without a variable", text),
            fmt::format("write `{} {}`", text, variable_for(text)));
      }
    }
  }
  out.span = since(begin);
}

}  // namespace noam::language
