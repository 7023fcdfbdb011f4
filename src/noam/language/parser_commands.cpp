#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

void Parser::command_declaration(CommandDecl& command) {
  command.name = expect_name("a name after `command`");
  parameters(command.parameters, command.has_parentheses);
  const Opener block = open_block("the name of the command", &Parser::at_change);
  changes(command.changes, block);
  command.body_end = close(block);
}

bool Parser::at_change() const {
  const Token& next = ahead();
  switch (now().word) {
    case Word::Then:
      return is_change(next.word);
    case Word::Insert:
    case Word::Update:
    case Word::Delete:
      return is_name(next);
    case Word::Put:
    case Word::Append:
    case Word::Add:
    case Word::Remove:
    case Word::Require:
      return begins_operand(next);
    case Word::For:
      return next.kind == TokenKind::Parameter;
    default:
      return false;
  }
}

void Parser::changes(std::vector<Change>& out, const Opener& block) {
  if (!block.opened) return;
  while (!at_end()) {
    const std::size_t before = pos_;
    if (at(TokenKind::Comma)) {
      say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a change",
               "changes are not separated by commas");
      advance();
    } else if (is_change(now().word) || at(Word::Then) || unknown_change()) {
      change(out.emplace_back());
    }
    if (broken_) {
      if (pos_ == before && !at_end()) skip_one();
      skip_until([&] { return at_change() || (first_on_line(now()) && similar_change() != Word::None); });
    }
    if (pos_ == before && !at_end()) skip_one();
  }
}

Word Parser::similar_change() const {
  static constexpr std::array<std::string_view, 9> words = {"insert", "put",    "update",  "delete", "append",
                                                            "add",    "remove", "require", "then"};
  if (!at(TokenKind::Name) || !begins_operand(ahead())) return Word::None;
  const auto similar = closest(now().text, words);
  return similar ? find_word(*similar) : Word::None;
}

// What stands in place of a change. True where it is one that is misspelt.
bool Parser::unknown_change() {
  struct Known {
    std::string_view word, hint;
  };
  static constexpr std::array known = {
      Known{"set", "write `update Entity[$key] { field: … }`"},
      Known{"upsert", "write `put Entity { … }`"},
      Known{"replace", "write `put Entity { … }`"},
      Known{"merge", "write `put Entity { … }`"},
      Known{"create", "write `insert Entity { … }`"},
      Known{"save", "write `insert Entity { … }` or `put Entity { … }`"},
      Known{"push", "write `append … to …` for a list, `add … to …` for a set"},
      Known{"pull", "write `remove … from …`"},
      Known{"drop", "write `delete Entity[$key]`"},
      Known{"if", "write a condition with `require`"},
      Known{"assert", "write a condition with `require`"},
      Known{"check", "write a condition with `require`"},
      Known{"foreach", "write `for $x in $xs { … }`"},
      Known{"while", "write `for $x in $xs { … }`"},
      Known{"let", "write the value where it is used, or add a parameter"},
      Known{"var", "write the value where it is used, or add a parameter"},
      Known{"begin", "the changes of a command are atomic without it"},
      Known{"commit", "the changes of a command are atomic without it"},
      Known{"return", "a command returns the keys that it generates; use a query to read rows"},
      Known{"select", "use a query to read rows, and `require` for a condition"},
      Known{"increment", "write `update Entity[$key] { field: field + 1 }`"},
  };
  std::string hint =
      "the changes are `insert`, `put`, `update`, `delete`, `append`, `add`, `remove`, `require` and `for`";
  if (at(TokenKind::Name)) {
    std::string text(now().text.substr(0, 20));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const auto* other = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.word == text; });
    if (other != known.end()) {
      hint = other->hint;
    } else if (const Word similar = similar_change(); similar != Word::None && !quiet()) {
      say(DiagnosticCode::Syntax, now().span, fmt::format("expected a change, found {}", found()),
          fmt::format("did you mean `{}`?", spelling(similar)));
      mend(similar);
      return true;
    }
  }
  expected_here("a change", hint);
  return false;
}

void Parser::change(Change& out) {
  const std::uint32_t begin = here();
  if (at(Word::Then)) {
    out.then = true;
    out.then_span = take(Word::Then);
  }
  out.word_span = now().span;
  switch (now().word) {
    case Word::Insert:
      insert(out);
      break;
    case Word::Put:
      put(out);
      break;
    case Word::Update:
      update(out);
      break;
    case Word::Delete:
      remove_instance(out);
      break;
    case Word::Append:
    case Word::Add:
      add_to(out);
      break;
    case Word::Remove:
      remove_from(out);
      break;
    case Word::For:
      loop(out);
      break;
    case Word::Require:
      out.kind = ChangeKind::Require;
      take(Word::Require);
      out.argument = expression();
      break;
    default:
      out.word_span = after_last();
      expected("a change after `then`");
      break;
  }
  out.span = since(begin);
}

void Parser::insert(Change& out) {
  out.kind = ChangeKind::Insert;
  take(Word::Insert);
  if (at(Word::Into) && is_name(ahead())) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`into` after `insert`",
        fmt::format("write `insert {} {{ field: … }}`", ahead().text));
    mistake_at_ = pos_ + 2;  // the columns and values of SQL that may follow
    advance();
  }
  out.entity = expect_name("an entity after `insert`");
  assignments(out);
  if (!broken_ && accept(Word::As)) out.variable = expect_name("a name after `as`");
}

void Parser::put(Change& out) {
  take(Word::Put);
  if (is_name(now()) && ahead().kind == TokenKind::LeftBrace) {
    out.kind = ChangeKind::Put;
    out.entity = take_name();
    return assignments(out);
  }
  out.kind = ChangeKind::PutInto;
  out.key = expression();
  if (broken_) return;
  const bool equal = out.key.kind == ExprKind::Binary && out.key.op == Operator::Equal && !out.key.parenthesized;
  if (equal && at(Word::Into)) {
    say(DiagnosticCode::ForeignSyntax, out.key.op_span, "`=` between a key and its value", "write `:`");
    out.argument = std::move(out.key.operands[1]);
    Expr key = std::move(out.key.operands[0]);
    out.key = std::move(key);
  } else if (accept(TokenKind::Colon)) {
    out.argument = expression();
  } else {
    return expected(is_name(tokens_[pos_ - 1]) ? "`{` or `:`" : "`:` and a value",
                    "write `put Entity { … }` or `put key: value into map`");
  }
  expect_word(Word::Into, "`into` and a map");
  if (!broken_) out.target = postfix();
}

void Parser::update(Change& out) {
  out.kind = ChangeKind::Update;
  take(Word::Update);
  out.target = at_name() || at(TokenKind::Parameter) ? postfix() : unknown();
  if (!broken_ && out.target.kind == ExprKind::Unknown) return expected("an entity or a path after `update`");
  if (broken_) return;
  if (at(Word::Set) && ahead().kind != TokenKind::LeftBrace) {
    const std::string_view key = out.target.kind == ExprKind::Name ? "[$key]" : "";
    say(DiagnosticCode::ForeignSyntax, now().span, "`set` after `update`",
        fmt::format("write `update {}{} {{ field: … }}`", written(out.target.span), key));
    mistake_at_ = pos_;
    broken_ = true;
    return;
  }
  if (at_name() && ahead().kind != TokenKind::Colon) {
    out.kind = ChangeKind::UpdateWhere;
    bulk(out);
  }
  assignments(out);
}

void Parser::remove_instance(Change& out) {
  out.kind = ChangeKind::Delete;
  take(Word::Delete);
  if (at(Word::From) && is_name(ahead())) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`from` after `delete`",
        fmt::format("write `delete {}[$key]`", ahead().text));
    advance();
  }
  if (!at_name() && !at(TokenKind::Parameter)) return expected("an entity after `delete`");
  out.target = postfix();
  if (broken_ || !at_name()) return;
  const bool one_name = out.target.kind == ExprKind::Name;
  if (!at(Word::Where) && ahead().word != Word::Where &&
      !(one_name && !at_change() && !at(Word::Then) && !is_change(now().word)))
    return;
  out.kind = ChangeKind::DeleteWhere;
  bulk(out);
  if (!broken_ && accept(Word::Limit)) out.limit = expression();
}

// `E v where p`: the target has been read as an expression.
void Parser::bulk(Change& out) {
  if (out.target.kind == ExprKind::Name) {
    out.entity = out.target.name;
  } else {
    out.entity.span = out.target.span;
    say(DiagnosticCode::Syntax, out.target.span, fmt::format("`{}` before a variable", written(out.target.span)),
        "to change many instances, write the name of their entity: `update Order o where … { … }`");
  }
  const Span target = out.target.span;
  out.target = Expr();
  if (at(Word::Where) && ahead().word != Word::Where) {
    out.variable.span = after_last();
    if (!quiet()) {
      const std::string text = written(target);
      say(DiagnosticCode::MissingVariable, target, fmt::format("`{}` without a variable", text),
          fmt::format("write `{} {}`", text, variable_for(text)));
    }
  } else {
    out.variable = take_name();
  }
  expect_word(Word::Where, "`where` and a condition");
  if (!broken_) out.where = expression();
}

void Parser::add_to(Change& out) {
  const bool append = at(Word::Append);
  out.kind = append ? ChangeKind::Append : ChangeKind::Add;
  take(now().word);
  if (at(Word::All) && begins_operand(ahead()) && ahead().word != Word::To) {
    out.all = true;
    out.all_span = take(Word::All);
  }
  out.argument = expression();
  if (!broken_ && at(Word::Into)) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`into` after what is added", "write `to`");
    advance();
  } else {
    expect_word(Word::To, append ? "`to` and a list" : "`to` and a set");
  }
  if (!broken_) out.target = postfix();
}

void Parser::remove_from(Change& out) {
  take(Word::Remove);
  const bool follows = begins_operand(ahead()) && ahead().word != Word::From && ahead().kind != TokenKind::LeftBracket;
  if (at(Word::All) && follows) {
    out.kind = ChangeKind::Remove;
    out.all = true;
    out.all_span = take(Word::All);
  } else if (at(Word::Key) && follows) {
    out.kind = ChangeKind::RemoveKey;
    take(Word::Key);
  }
  out.argument = expression();
  if (broken_) return;
  const bool plain = out.kind == ChangeKind::Unknown;
  if (!at(Word::From)) {
    if (!plain) return expected("`from` and a collection");
    out.kind = ChangeKind::RemoveAt;
    out.target = std::move(out.argument);
    out.argument = Expr();
    return;
  }
  take(Word::From);
  if (plain) out.kind = ChangeKind::Remove;
  out.target = postfix();
  if (broken_ || !plain || !at_name()) return;
  const bool variable = ahead().word == Word::Where;
  if (!variable && !at(Word::Where)) return;
  out.kind = ChangeKind::RemoveWhere;
  if (out.argument.kind == ExprKind::Name) {
    out.variable = out.argument.name;
  } else {
    out.variable.span = out.argument.span;
    say(DiagnosticCode::Syntax, out.argument.span, "expected a variable between `remove` and `from`",
        "for example, `remove i from Player[$a].games i where i.game = $id`");
  }
  if (variable) {
    const Name again = take_name();
    if (!out.variable.missing() && again.text != out.variable.text) {
      diagnostics_
          .error(DiagnosticCode::Syntax, again.span,
                 fmt::format("two different variables, `{}` and `{}`", again.text, out.variable.text))
          .label(out.variable.span, "the first is here");
    }
  } else {
    const std::string text = written(out.target.span);
    say(DiagnosticCode::MissingVariable, out.target.span, fmt::format("`{}` without a variable", text),
        fmt::format("write `{} {}`", text, out.variable.missing() ? "x" : out.variable.text));
  }
  out.argument = Expr();
  take(Word::Where);
  out.where = expression();
}

void Parser::loop(Change& out) {
  out.kind = ChangeKind::For;
  take(Word::For);
  if (at(TokenKind::Name) && now().text == "each") {
    say(DiagnosticCode::ForeignSyntax, now().span, "`each` after `for`", "write `for $x in $xs { … }`");
    advance();
  }
  if (at(TokenKind::Parameter)) {
    out.variable = take_name();
  } else if (at_name() && (ahead().word == Word::In || ahead().word == Word::Of)) {
    say_once(Habit::Parameters, DiagnosticCode::ForeignSyntax, now().span, "a variable without `$`",
             fmt::format("write `for ${} in …`", now().text));
    out.variable = take_name();
  } else {
    expected("a parameter after `for`", "write `for $x in $xs { … }`");
  }
  if (!broken_ && at(Word::Of)) {
    say(DiagnosticCode::ForeignSyntax, now().span, "`of` in `for`", "write `in`");
    advance();
  } else {
    expect_word(Word::In, "`in` and a list");
  }
  if (!broken_) {
    if (at(TokenKind::LeftBrace)) {
      out.argument = unknown();
      expected("a list after `in`");
      broken_ = false;
    } else {
      out.argument = expression();
    }
  }
  if (broken_) skip_until([&] { return at(TokenKind::LeftBrace) || at_change(); });
  if (!at(TokenKind::LeftBrace)) {
    expected("`{` and the changes");
    if (!at_change() || !put_in(TokenKind::LeftBrace)) return;
  }
  if (too_deep(now().span)) return skip_one();
  ++depth_;
  const Opener block = open(TokenKind::LeftBrace);
  changes(out.body, block);
  out.body_end = close(block);
  --depth_;
}

void Parser::assignments(Change& out) {
  if (broken_) return;
  if (!at(TokenKind::LeftBrace)) {
    const bool fields = is_name(now()) && ahead().kind == TokenKind::Colon && !on_new_line();
    expected("`{` and the fields");
    if (!fields || !put_in(TokenKind::LeftBrace)) return;
  }
  const Opener opener = open(TokenKind::LeftBrace);
  while (!at(opener.closer)) {
    assignment(out.assignments.emplace_back());
    // A comma that is missing between two is said once, and the second is read.
    const bool next = is_name(now()) && ahead().kind == TokenKind::Colon;
    if (!broken_ && next && !unclosed(opener) && !inside_unclosed(opener)) {
      if (!quiet())
        say_once(Habit::MissingCommas, DiagnosticCode::Syntax, after_last(),
                 fmt::format("expected `,` before `{}`", now().text));
      continue;
    }
    if (!another(opener, "a field")) break;
  }
  out.body_end = close(opener, "`,`");
}

void Parser::assignment(Assignment& out) {
  const std::uint32_t begin = here();
  const TokenKind next = ahead().kind;
  if ((is_name(now()) || at(TokenKind::Text)) &&
      (next == TokenKind::Colon || next == TokenKind::Equal || next == TokenKind::Foreign)) {
    if (at(TokenKind::Text)) {
      say_once(Habit::QuotedKeys, DiagnosticCode::ForeignSyntax, now().span, "the name of a field in quotes",
               fmt::format("write names without quotes: `{}: …`", now().text));
    }
    out.target.kind = ExprKind::Name;
    out.target.span = now().span;
    out.target.name = take_name();
  } else if (at_name() || at(TokenKind::Parameter)) {
    out.target = postfix();
  } else {
    out.target = unknown();
    expected("a field");
  }
  if (!broken_) {
    const bool compound = (at(TokenKind::Plus) || at(TokenKind::Minus)) && ahead().kind == TokenKind::Equal;
    if (at(TokenKind::Equal) || at_foreign(":=") || at_foreign("=>")) {
      say_once(Habit::FieldAssign, DiagnosticCode::ForeignSyntax, now().span,
               fmt::format("{} after the name of a field", found()),
               fmt::format("write `{}: …`", written(out.target.span)));
      advance();
    } else if (compound) {
      const std::string field = written(out.target.span);
      say(DiagnosticCode::ForeignSyntax, cover(now().span, ahead().span),
          fmt::format("`{}=` after the name of a field", now().text),
          fmt::format("write `{}: {} {} …`", field, field, now().text));
      advance();
      advance();
    } else if (!accept(TokenKind::Colon)) {
      expected("`:` and a value");
    }
  }
  out.value = broken_ ? unknown() : expression();
  out.span = since(begin);
}

// Mixes

void Parser::group_declaration(GroupDecl& group) {
  group.name = expect_name("a name after `group`");
  const Opener block = open_block("the name of the group", &Parser::at_statement);
  while (block.opened && !at_end()) {
    if (at_name()) {
      group.statements.push_back(take_name());
    } else if (at(TokenKind::Comma)) {
      say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a statement",
               "statements are not separated by commas");
      advance();
    } else {
      expected_here("the name of a query or command", at(TokenKind::Number) ? "weights belong in a mix" : "");
      skip_one();
      skip_until([&] { return at_name(); });
    }
  }
  group.body_end = close(block);
}

void Parser::mix_declaration(MixDecl& mix) {
  mix.name = expect_name("a name after `mix`");
  Span like;
  Span rate;
  while (!broken_) {
    if (at(Word::Like)) {
      const Span span = take(Word::Like);
      const Name name = expect_name("the name of a mix after `like`");
      if (mix.like) {
        duplicate(cover(span, name.span), like, "`like`");
        continue;
      }
      like = cover(span, name.span);
      mix.like = name;
    } else if (at(Word::At)) {
      const std::uint32_t begin = here();
      take(Word::At);
      const Number number = expect_number("a rate after `at`");
      const bool whole = source_.text(number.span) == number.text;  // else the lexer has said what `500s` lacks
      if (!broken_ && whole && !accept(TokenKind::Slash)) expected("`/` and a unit", "write `at 500/s`");
      const Name unit = whole ? expect_name("a unit after `/`") : Name();
      if (mix.rate) {
        duplicate(since(begin), rate, "`at`");
        continue;
      }
      rate = since(begin);
      mix.rate = number;
      mix.rate_unit = unit;
      if (!unit.missing() && unit.text != "s" && unit.text != "min" && unit.text != "hour" && unit.text != "day") {
        say(DiagnosticCode::Syntax, unit.span, fmt::format("unknown unit of a rate `{}`", unit.text),
            "the units are `s`, `min`, `hour` and `day`");
      }
    } else {
      break;
    }
  }
  const Opener block = open_block("the name of the mix", &Parser::at_weight);
  // 5 q 3 r
  bool turned_round = at(TokenKind::Number) && is_name(ahead()) && ahead(2).kind == TokenKind::Number &&
                      is_name(ahead(3)) && ahead(4).kind != TokenKind::Number;
  while (block.opened && !at_end()) {
    const std::size_t before = pos_;
    const bool turned =
        at(TokenKind::Number) && is_name(ahead()) && (ahead(2).kind != TokenKind::Number || turned_round);
    turned_round = turned;
    if (at_name() || turned) {
      mix_entry(mix.entries.emplace_back());
    } else if (at(TokenKind::Comma)) {
      say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a weight",
               "weights are not separated by commas");
      advance();
    } else {
      expected_here("the name of a statement and its weight");
      skip_one();
    }
    if (broken_) skip_until([&] { return at_name(); });
    if (pos_ == before && !at_end()) skip_one();
  }
  mix.body_end = close(block);
}

void Parser::mix_entry(MixEntry& entry) {
  const std::uint32_t begin = here();
  if (at(TokenKind::Number) && is_name(ahead())) {
    entry.weight = take_number();
    entry.name = take_name();
    say_once(Habit::Weights, DiagnosticCode::Syntax, since(begin), "the weight before the name",
             fmt::format("write `{} {}`", entry.name.text, entry.weight.text));
    entry.span = since(begin);
    return;
  }
  entry.name = at_name() ? take_name() : expect_name("the name of a statement");
  if (!broken_ && (at(TokenKind::Colon) || at(TokenKind::Equal) || at_foreign(":="))) {
    say_once(Habit::Weights, DiagnosticCode::ForeignSyntax, now().span, fmt::format("{} before a weight", found()),
             fmt::format("write `{} 10`", entry.name.text));
    advance();
  }
  entry.weight = expect_number(fmt::format("a weight after `{}`", entry.name.text));
  if (entry.weight.missing() && at_name()) broken_ = false;
  if (!broken_ && at_foreign("%")) {
    say_once(Habit::Weights, DiagnosticCode::ForeignSyntax, now().span, "`%` after a weight",
             "write a plain number; the weights need not add up to 100");
    advance();
  }
  entry.span = since(begin);
}

}  // namespace noam::language
