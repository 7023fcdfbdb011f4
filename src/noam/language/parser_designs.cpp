#include <array>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

void Parser::design_declaration(DesignDecl& design) {
  design.name = expect_name("a name after `design`");
  if (!broken_ && accept(Word::For)) {
    do {
      const Name target = target_name();
      if (!target.missing()) design.targets.push_back(target);
    } while (!broken_ && accept(TokenKind::Comma));
  }
  const Opener block = open_block("the name of the design", &Parser::at_design_part);
  Span rest;
  while (block.opened && !at_end()) {
    const std::size_t before = pos_;
    if (at(Word::Collection)) {
      if (design.rest) {
        diagnostics_.error(DiagnosticCode::ClauseOrder, now().span, "a collection after `rest`")
            .label(rest, "`rest` is here")
            .hint("write `rest` at the end of the design");
      }
      collection(design.collections.emplace_back());
    } else if (at(Word::Rest)) {
      const Span span = take(Word::Rest);
      const Name name = expect_name("a strategy after `rest`");
      if (design.rest) {
        duplicate(cover(span, name.span), rest, "`rest`");
      } else {
        rest = cover(span, name.span);
        design.rest = name;
      }
    } else if (at(TokenKind::Comma)) {
      say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a collection",
               "collections are not separated by commas");
      advance();
    } else {
      static constexpr std::array<std::string_view, 2> words = {"collection", "rest"};
      const auto similar = at(TokenKind::Name) ? closest(now().text, words) : std::nullopt;
      if (similar == "collection" && is_name(ahead())) {
        remark(DiagnosticCode::Syntax, now().span, fmt::format("expected `collection`, found {}", found()),
               "did you mean `collection`?");
        collection(design.collections.emplace_back());
      } else {
        expected_here("a collection or `rest`",
                      at(Word::Entry) || at(Word::Copy) ? "entries and copies must be inside a collection" : "");
      }
    }
    if (broken_) skip_until([&] { return at_design_part(); });
    if (pos_ == before && !at_end()) skip_one();
  }
  design.body_end = close(block);
}

bool Parser::at_design_part() const { return (at(Word::Collection) || at(Word::Rest)) && is_name(ahead()); }

// `oracle-nosql` is one.
Name Parser::target_name() {
  Name name = expect_name("the name of a database");
  while (!broken_ && !name.quoted && at(TokenKind::Minus) && now().span.begin == last_end_ &&
         ahead().kind == TokenKind::Name && ahead().span.begin == now().span.end) {
    advance();
    name.span.end = now().span.end;
    advance();
    name.text = source_.text(name.span);
  }
  return name;
}

void Parser::collection(CollectionDecl& out) {
  const std::uint32_t begin = here();
  at(Word::Collection) ? static_cast<void>(take(Word::Collection)) : advance();
  out.name = expect_name("a name after `collection`");
  expect_word(Word::Of, "`of` and what the collection holds");
  if (!broken_) sources(out.from, Clauses::Collection);
  if (!broken_) {
    if (at(Word::By)) {
      take(Word::By);
      parts(out.by);
    } else {
      expected("`by` and the key of a block");
    }
  }
  while (!broken_ && at(Word::With)) {
    take(Word::With);
    options(out.with.emplace_back());
  }
  const Opener block = open_block("the head of the collection", &Parser::at_family);
  while (block.opened && !at_end() && !at_collection() && !(at(Word::Rest) && at_design_part())) {
    const std::size_t before = pos_;
    const TokenKind next = ahead().kind;
    if (at(Word::Entry) || at(Word::Copy)) {
      family(out.families.emplace_back());
    } else if (at_name() &&
               (next == TokenKind::Colon || next == TokenKind::LeftBracket || now().text == "ε" || now().text == "_")) {
      remark(DiagnosticCode::Syntax, now().span, fmt::format("expected `entry` or `copy`, found {}", found()));
      family(out.families.emplace_back(), false);
    } else if (at(TokenKind::Comma) &&
               (ahead().word == Word::Entry || ahead().word == Word::Copy || next == TokenKind::RightBrace)) {
      say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a family",
               "entries and copies are not separated by commas");
      advance();
    } else {
      static constexpr std::array<std::string_view, 2> words = {"entry", "copy"};
      const auto similar = at(TokenKind::Name) ? closest(now().text, words) : std::nullopt;
      if (similar && !quiet()) {
        say(DiagnosticCode::Syntax, now().span, fmt::format("expected `entry` or `copy`, found {}", found()),
            fmt::format("did you mean `{}`?", *similar));
        mend(find_word(*similar));
        family(out.families.emplace_back());
      } else {
        expected_here("`entry` or `copy`");
      }
    }
    if (broken_) skip_until([&] { return at_family() || at_design_part(); });
    if (pos_ == before && !at_end()) skip_one();
  }
  out.body_end = close(block);
  out.span = since(begin);
}

void Parser::options(TargetOptions& out) {
  const std::uint32_t begin = here();
  out.target = target_name();
  if (!broken_ && !at(TokenKind::LeftParenthesis))
    expected("`(` and options", "write `with cassandra(caching: \"…\")`");
  if (broken_) return;
  const Opener opener = open(TokenKind::LeftParenthesis);
  do {
    TargetOption& option = out.options.emplace_back();
    const std::uint32_t option_begin = here();
    option.name = expect_name("the name of an option");
    if (!broken_ && (at(TokenKind::Equal) || at_foreign(":="))) {
      say_once(Habit::FieldAssign, DiagnosticCode::ForeignSyntax, now().span,
               fmt::format("{} after the name of an option", found()), "write `:`");
      advance();
    } else if (!broken_ && !accept(TokenKind::Colon)) {
      expected("`:` and a value");
    }
    option.value = broken_ ? unknown() : expression();
    option.span = since(option_begin);
  } while (another(opener, "an option"));
  close(opener, "`,`");
  out.span = since(begin);
}

// Families

bool Parser::at_family() const {
  if (!at(Word::Entry) && !at(Word::Copy)) return false;
  const Token& next = ahead();
  return is_name(next) || next.kind == TokenKind::LeftBracket || next.kind == TokenKind::Colon ||
         next.kind == TokenKind::RightBrace;
}

bool Parser::at_family_clause() const {
  const Token& next = ahead();
  switch (now().word) {
    case Word::From:
      return is_name(next);
    case Word::Where:
      return begins_operand(next) || next.kind == TokenKind::Minus;
    case Word::Limit:
      return next.kind == TokenKind::Number || next.kind == TokenKind::Parameter;
    case Word::Order:
      return next.word == Word::By;
    default:
      return false;
  }
}

bool Parser::at_collection() const { return at(Word::Collection) && is_name(ahead()) && ahead(2).word == Word::Of; }

void Parser::family(FamilyDecl& out, bool with_word) {
  const std::uint32_t begin = here();
  out.copy = at(Word::Copy);
  out.word_span = with_word ? take(now().word) : after_last();
  const TokenKind next = ahead().kind;
  const bool goes_on = next == TokenKind::LeftBracket || next == TokenKind::Colon || next == TokenKind::Dot;
  const bool family_word = at(Word::Entry) || at(Word::Copy);
  const std::uint32_t path_begin = here();
  if (at(TokenKind::Name) && (now().text == "ε" || now().text == "_") && next != TokenKind::Dot) {
    out.epsilon = true;
    out.path_span = now().span;
    advance();
  } else if (at_name() && (goes_on || !(family_word || at_family_clause()))) {
    out.path.push_back(take_name());
    while (!broken_ && accept(TokenKind::Dot)) out.path.push_back(expect_name("a name after `.`"));
    out.path_span = since(path_begin);
  }
  if (!broken_ && at(TokenKind::LeftBracket)) {
    const Opener opener = open(TokenKind::LeftBracket);
    out.has_key = true;
    if (at(TokenKind::Star)) {
      advance();
      out.elements = true;
    } else if (at(opener.closer)) {
      expected("the key of an entry between `[` and `]`", "write `[*]` for the elements of a collection");
    } else {
      do {
        part(out.key.emplace_back());
      } while (another(opener, "a part of the key"));
    }
    close(opener, "`,`");
  }
  if (!broken_ && accept(TokenKind::Colon)) {
    out.has_columns = true;
    design_columns(out.columns);
  }
  if (broken_) skip_until([&] { return at_family() || at_family_clause(); });
  family_clauses(out);
  out.span = since(begin);
}

void Parser::family_clauses(FamilyDecl& out) {
  Span from;
  Span where;
  Span limit;
  const auto first = [&](Span& seen, Word word) {
    const Span span = take(word);
    if (!(seen == Span{})) {
      duplicate(span, seen, fmt::format("`{}`", spelling(word)));
      return false;
    }
    seen = span;
    return true;
  };
  while (!broken_) {
    if (at(Word::From)) {
      first(from, Word::From);
      sources(out.from, Clauses::Family);
    } else if (at(Word::Where)) {
      const bool keep = first(where, Word::Where);
      Expr condition = expression();
      if (keep) out.where = std::move(condition);
    } else if (at(Word::Limit)) {
      const bool keep = first(limit, Word::Limit);
      const Number number = expect_integer("a number after `limit`");
      if (keep) out.limit = number;
    } else if (at(Word::Order) && ahead().word == Word::By) {
      say(DiagnosticCode::Syntax, cover(now().span, ahead().span), "`order by` in a family",
          "entries are in the order of their key: write `copy [t.at desc]`");
      advance();
      advance();
      std::vector<DesignPart> dropped;
      parts(dropped);
    } else {
      return;
    }
    if (broken_) skip_until([&] { return at_family() || at_family_clause(); });
  }
}

void Parser::design_columns(std::vector<DesignColumn>& out) {
  while (true) {
    if ((at(Word::Entry) || at(Word::Copy)) && is_name(ahead())) {
      expected("a column");
      broken_ = false;
      return;
    }
    design_column(out.emplace_back());
    if (broken_)
      skip_until([&] { return at(TokenKind::Comma) || at_family() || at_family_clause() || at_collection(); });
    if (accept(TokenKind::Comma)) {
      if (at_end() || at_family()) {
        expected("a column after `,`", "remove the last comma");
        broken_ = false;
        return;
      }
      continue;
    }
    const bool other = at(Word::Rest) || at(Word::Entry) || at(Word::Copy) || at(Word::From) || at(Word::Where) ||
                       at(Word::Limit) || at(Word::Order);
    const bool family = ahead().kind == TokenKind::Colon || now().text == "ε" || now().text == "_";
    if (!at_name() || other || family || at_collection() || quiet() || ends_early_) return;
    if (at(Word::Asc) || at(Word::Desc)) return expected("`,`");
    say_once(Habit::MissingCommas, DiagnosticCode::Syntax, after_last(),
             fmt::format("expected `,` before {}", found()));
  }
}

void Parser::design_column(DesignColumn& out) {
  const std::uint32_t begin = here();
  const TokenKind next = ahead().kind;
  if (at(TokenKind::Star)) {
    out.expr.kind = ExprKind::Star;
    out.expr.span = now().span;
    advance();
  } else if (at_name() && next == TokenKind::Dot && ahead(2).kind == TokenKind::Star) {
    Expr all;
    all.kind = ExprKind::Name;
    all.span = now().span;
    all.name = take_name();
    out.expr.kind = ExprKind::Star;
    out.expr.operands.push_back(std::move(all));
    advance();
    advance();
    out.expr.span = since(begin);
  } else if (at_name() && (next == TokenKind::LeftBrace || next == TokenKind::LeftBracket)) {
    out.shape = next == TokenKind::LeftBrace ? ColumnShape::Object : ColumnShape::List;
    out.as = take_name();
    nested(out);
  } else {
    out.expr = expression();
    out.as = alias();
  }
  out.span = since(begin);
}

void Parser::nested(DesignColumn& out) {
  if (too_deep(now().span)) return skip_one();
  ++depth_;
  const Opener opener = open(now().kind);
  design_columns(out.nested.columns);
  std::array<Span, 3> seen{};
  static constexpr std::array<std::string_view, 3> names = {"from", "order by", "limit"};
  const auto first = [&](std::size_t index, Span span) {
    if (!(seen[index] == Span{})) {
      duplicate(span, seen[index], fmt::format("`{}`", names[index]));
      return false;
    }
    for (std::size_t later = seen.size(); later-- > index + 1;) {
      if (seen[later] == Span{}) continue;
      diagnostics_.error(DiagnosticCode::ClauseOrder, span, fmt::format("`{}` after `{}`", names[index], names[later]))
          .label(seen[later], fmt::format("`{}` is here", names[later]))
          .hint("the order is columns, from, order by, limit");
      break;
    }
    seen[index] = span;
    return true;
  };
  while (!broken_) {
    const std::uint32_t begin = here();
    if (at(Word::From)) {
      first(0, take(Word::From));
      sources(out.nested.from, Clauses::Nested);
    } else if (at(Word::Order)) {
      take(Word::Order);
      expect_word(Word::By, "`by` after `order`");
      if (first(1, since(begin))) {
        if (!broken_) parts(out.nested.order_by);
      } else {
        std::vector<DesignPart> dropped;
        parts(dropped);
      }
    } else if (at(Word::Limit)) {
      const bool keep = first(2, take(Word::Limit));
      const Number number = expect_integer("a number after `limit`");
      if (keep) out.nested.limit = number;
    } else {
      break;
    }
    if (broken_) skip_until([&] { return at_family_clause(); });
  }
  const bool wrong = broken_;
  close(opener, "`,`");
  if (wrong && at(TokenKind::Colon)) mistake_at_ = pos_;  // it was the key of a family
  --depth_;
}

void Parser::parts(std::vector<DesignPart>& out) {
  do {
    part(out.emplace_back());
  } while (!broken_ && accept(TokenKind::Comma));
}

void Parser::part(DesignPart& out) {
  const std::uint32_t begin = here();
  if (at(TokenKind::LeftBrace)) {
    out.expr = unknown();
    out.span = after_last();
    return expected("a part of the key");
  }
  out.expr = expression();
  out.direction = direction();
  out.as = alias();
  out.span = since(begin);
}

}  // namespace noam::language
