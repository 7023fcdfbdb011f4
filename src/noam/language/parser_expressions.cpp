#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"

namespace noam::language {

namespace {

// How tightly operators bind.
enum Level : unsigned { OrLevel = 1, AndLevel, NotLevel, CompareLevel, CoalesceLevel, SumLevel, ProductLevel };

// Words that stand between operands.
bool is_infix(Word word) {
  switch (word) {
    case Word::Or:
    case Word::And:
    case Word::Not:
    case Word::In:
    case Word::Contains:
    case Word::Starts:
    case Word::Between:
    case Word::Is:
    case Word::Like:
      return true;
    default:
      return false;
  }
}

bool is_clause(Word word) {
  switch (word) {
    case Word::From:
    case Word::Where:
    case Word::Group:
    case Word::Order:
    case Word::Limit:
    case Word::Having:
      return true;
    default:
      return false;
  }
}

bool is_literal(const Expr& expr) { return expr.kind == ExprKind::Number || expr.kind == ExprKind::Text; }

}  // namespace

Expr Parser::expression() {
  Expr out = operators(OrLevel);
  tallest_ = std::max(tallest_, height_);
  return out;
}

Expr Parser::unknown() {
  Expr out;
  out.span = after_last();
  height_ = 1;
  return out;
}

Expr Parser::missing_operand() {
  Expr out = unknown();
  expected(operand);
  return out;
}

Parser::Infix Parser::infix() const {
  const Token& token = now();
  const auto is = [](Operator op, unsigned level, unsigned tokens = 1) {
    return Infix{op, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(tokens)};
  };
  switch (token.kind) {
    case TokenKind::Equal:
      return is(Operator::Equal, CompareLevel);
    case TokenKind::NotEqual:
      return is(Operator::NotEqual, CompareLevel);
    case TokenKind::Less:
      return is(Operator::Less, CompareLevel);
    case TokenKind::LessEqual:
      return is(Operator::LessEqual, CompareLevel);
    case TokenKind::Greater:
      return is(Operator::Greater, CompareLevel);
    case TokenKind::GreaterEqual:
      return is(Operator::GreaterEqual, CompareLevel);
    case TokenKind::Coalesce:
      return is(Operator::Coalesce, CoalesceLevel);
    case TokenKind::Plus:
      return is(Operator::Add, SumLevel);
    case TokenKind::Minus:
      return is(Operator::Subtract, SumLevel);
    case TokenKind::Star:
      return is(Operator::Multiply, ProductLevel);
    case TokenKind::Slash:
      return is(Operator::None, ProductLevel);
    case TokenKind::Foreign:
      if (token.text == "==" || token.text == "===") return is(Operator::Equal, CompareLevel);
      if (token.text == "<>" || token.text == "!==") return is(Operator::NotEqual, CompareLevel);
      if (token.text == "=>") return is(Operator::GreaterEqual, CompareLevel);
      if (token.text == "=<") return is(Operator::LessEqual, CompareLevel);
      if (token.text == "&&") return is(Operator::And, AndLevel);
      if (token.text == "||") return is(Operator::Or, OrLevel);
      if (token.text == "%") return is(Operator::None, ProductLevel);
      return {};
    default:
      break;
  }
  if (token.word == Word::None || (in_members_ && ahead().kind == TokenKind::Colon)) return {};
  switch (token.word) {
    case Word::Or:
      return is(Operator::Or, OrLevel);
    case Word::And:
      return is(Operator::And, AndLevel);
    case Word::In:
      return is(Operator::In, CompareLevel);
    case Word::Not:
      if (ahead().word == Word::In) return is(Operator::NotIn, CompareLevel, 2);
      if (ahead().word == Word::Like) return is(Operator::StartsWith, CompareLevel, 2);
      return {};
    case Word::Contains: {
      const bool words = ahead().word == Word::All || ahead().word == Word::Any;
      // `all` and `any` are names where no operand follows them.
      if (!words || !begins_operand(ahead(2)) || ahead(2).word == Word::And || ahead(2).word == Word::Or) {
        return is(Operator::Contains, CompareLevel);
      }
      return is(ahead().word == Word::All ? Operator::ContainsAll : Operator::ContainsAny, CompareLevel, 2);
    }
    case Word::Starts:
      if (ahead().word == Word::With) return is(Operator::StartsWith, CompareLevel, 2);
      if (begins_operand(ahead())) return is(Operator::StartsWith, CompareLevel, 1);
      return {};
    case Word::Like:
    case Word::Ilike:
      return is(Operator::StartsWith, CompareLevel);
    case Word::Between:
    case Word::Is:
      return is(Operator::None, CompareLevel);
    default:
      return {};
  }
}

// The sign or words of an operator; says so where they are foreign.
Span Parser::take_infix(const Infix& infix) {
  const Span span = infix.tokens == 1 ? now().span : cover(now().span, ahead().span);
  const auto foreign = [&](std::string message, std::string hint) {
    say(DiagnosticCode::ForeignSyntax, span, std::move(message), std::move(hint));
  };
  if (at(TokenKind::Slash)) {
    say(DiagnosticCode::NotInLanguage, span, "there is no division", "divide in the application");
  } else if (at(TokenKind::Foreign)) {
    const std::string_view sign = now().text;
    if (sign == "%") {
      say(DiagnosticCode::NotInLanguage, span, "there is no remainder", "divide in the application");
    } else {
      const std::string_view ours = sign == "&&"                  ? "and"
                                    : sign == "||"                ? "or"
                                    : sign == "=>"                ? ">="
                                    : sign == "=<"                ? "<="
                                    : infix.op == Operator::Equal ? "="
                                                                  : "!=";
      foreign(fmt::format("unknown operator `{}`", sign), fmt::format("write `{}`", ours));
    }
  } else if (at(Word::Like) || at(Word::Ilike) || ahead().word == Word::Like) {
    if (at(Word::Like) || at(Word::Ilike) || at(Word::Not)) {
      foreign(fmt::format("unknown operator `{}`", written(span)),
              "write `starts with`, or `contains all` for words in a text");
    }
  } else if (at(Word::Starts) && infix.tokens == 1) {
    say(DiagnosticCode::Syntax, span, "`starts` without `with`", "write `starts with`");
  }
  for (unsigned i = 0; i < infix.tokens; ++i) {
    if (at(TokenKind::Name) && now().word != Word::None && now().word != Word::Like) {
      take(now().word);
    } else {
      advance();
    }
  }
  return span;
}

Expr Parser::binary(Expr left, const Infix& infix, Span op_span, Expr right) {
  Expr out;
  out.kind = infix.op == Operator::None ? ExprKind::Unknown : ExprKind::Binary;
  out.op = infix.op;
  out.op_span = op_span;
  out.span = cover(left.span, right.span);
  out.operands.reserve(2);
  out.operands.push_back(std::move(left));
  out.operands.push_back(std::move(right));
  return out;
}

Expr Parser::operators(unsigned level) {
  Expr left = prefix(level);
  unsigned height = height_;
  bool compared = false;
  while (!broken_) {
    const Infix next = infix();
    if (next.level < std::max(level, 1U)) break;
    if (next.level == CompareLevel && compared) {
      if (ends_early_) break;
      expected("`and`, `or` or the end of the condition", "comparisons cannot be chained; write `a < b and b < c`");
      break;
    }
    Expr right;
    if (next.level == CoalesceLevel) {
      height_ = height;
      left = coalesce(std::move(left));
      height = height_;
      continue;
    }
    if (next.level == CompareLevel) {
      height_ = height;
      left = comparison(std::move(left), next);
      height = height_;
      compared = true;
      continue;
    }
    const Span op_span = take_infix(next);
    right = operators(next.level + 1);
    const unsigned taller = std::max(height, height_) + 1;
    if (taller > highest_expression) {
      if (!too_deep_said_ && !broken_) {
        say(DiagnosticCode::NestedTooDeep, op_span,
            fmt::format("an expression of more than {} parts", highest_expression));
      }
      too_deep_said_ = true;
      left.span = cover(left.span, right.span);
      continue;
    }
    height = taller;
    left = binary(std::move(left), next, op_span, std::move(right));
  }
  height_ = height;
  return left;
}

// `a ?? b ?? c` from the right, without going down one call an operand.
Expr Parser::coalesce(Expr first) {
  std::vector<Expr> operands;
  std::vector<Span> signs;
  unsigned height = height_;
  operands.push_back(std::move(first));
  while (!broken_ && at(TokenKind::Coalesce)) {
    const Span sign = now().span;
    advance();
    Expr next = operators(SumLevel);
    height = std::max(height, height_);
    if (height + operands.size() + 1 > highest_expression) {
      if (!too_deep_said_ && !broken_) {
        say(DiagnosticCode::NestedTooDeep, sign,
            fmt::format("an expression of more than {} parts", highest_expression));
      }
      too_deep_said_ = true;
      operands.back().span = cover(operands.back().span, next.span);
      continue;
    }
    signs.push_back(sign);
    operands.push_back(std::move(next));
  }
  Expr out = std::move(operands.back());
  for (std::size_t i = signs.size(); i-- > 0;) {
    out = binary(std::move(operands[i]), {Operator::Coalesce, CoalesceLevel, 1}, signs[i], std::move(out));
  }
  height_ = height + static_cast<unsigned>(operands.size());
  return out;
}

Expr Parser::comparison(Expr left, const Infix& infix) {
  const unsigned left_height = height_;
  const Span begin = left.span;
  if (infix.op == Operator::None && at(Word::Between)) {
    Expr out;
    out.kind = ExprKind::Between;
    out.op_span = take(Word::Between);
    out.operands.reserve(3);
    out.operands.push_back(std::move(left));
    out.operands.push_back(operators(CoalesceLevel));
    unsigned height = std::max(left_height, height_);
    if (!broken_ && (at(Word::And) || at_foreign("&&"))) {
      if (at(TokenKind::Foreign))
        say(DiagnosticCode::ForeignSyntax, now().span, "unknown operator `&&`", "write `and`");
      at(Word::And) ? static_cast<void>(take(Word::And)) : advance();
      out.operands.push_back(operators(CoalesceLevel));
      height = std::max(height, height_);
    } else {
      expected("`and` and the upper bound", "write `x between 1 and 10`");
      out.operands.push_back(unknown());
    }
    out.span = cover(begin, since(begin.begin));
    height_ = height + 1;
    return out;
  }
  if (infix.op == Operator::None) {
    Expr out;
    out.kind = ExprKind::IsAbsent;
    const std::uint32_t word = here();
    take(Word::Is);
    out.negated = accept(Word::Not);
    if (at(Word::Absent)) {
      take(Word::Absent);
    } else if (at(Word::Null) || at(Word::Nil)) {
      say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("there is no `{}`", now().text),
          fmt::format("write `is {}absent`", out.negated ? "not " : ""));
      advance();
    } else {
      expected("`absent` after `is`");
    }
    out.op_span = since(word);
    out.operands.push_back(std::move(left));
    out.span = cover(begin, since(begin.begin));
    height_ = left_height + 1;
    return out;
  }
  const Span op_span = take_infix(infix);
  const bool equality = infix.op == Operator::Equal || infix.op == Operator::NotEqual;
  if (equality && (at(Word::Null) || at(Word::Nil)) && ahead().kind != TokenKind::Dot &&
      ahead().kind != TokenKind::LeftParenthesis) {
    const bool negated = infix.op == Operator::NotEqual;
    say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("there is no `{}`", now().text),
        fmt::format("write `is {}absent`", negated ? "not " : ""));
    advance();
    Expr out;
    out.kind = ExprKind::IsAbsent;
    out.negated = negated;
    out.op_span = op_span;
    out.operands.push_back(std::move(left));
    out.span = cover(begin, since(begin.begin));
    height_ = left_height + 1;
    return out;
  }
  const Span right_at = now().span;
  Expr right = operators(CoalesceLevel);
  if ((infix.op == Operator::In || infix.op == Operator::NotIn) && right.parenthesized && is_literal(right)) {
    say(DiagnosticCode::ForeignSyntax, right_at, "a list in parentheses", "write a list in brackets: `in [1, 2]`");
    Expr elements;
    elements.kind = ExprKind::List;
    elements.span = right.span;
    elements.operands.push_back(std::move(right));
    right = std::move(elements);
    ++height_;
  }
  height_ = std::max(left_height, height_) + 1;
  return binary(std::move(left), infix, op_span, std::move(right));
}

Expr Parser::prefix(unsigned level) {
  const bool bang = at_foreign("!");
  const bool word = at(Word::Not) && ahead().kind != TokenKind::Dot && ahead().kind != TokenKind::Colon;
  if (!bang && !word) return unary();
  const std::uint32_t begin = here();
  const Span span = now().span;
  if (bang) {
    say(DiagnosticCode::ForeignSyntax, span, "unknown operator `!`", "write `not`");
    advance();
  } else {
    if (level > NotLevel && !quiet()) {
      say(DiagnosticCode::Syntax, span, "`not` inside a comparison", "write it in parentheses: `(not x)`");
    }
    take(Word::Not);
  }
  if (too_deep(span)) {
    while (at(Word::Not) || at_foreign("!")) advance();
    Expr out = unary();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  Expr out;
  out.kind = ExprKind::Unary;
  out.op = Operator::Not;
  out.op_span = span;
  out.operands.push_back(operators(std::max<unsigned>(level, NotLevel)));
  out.span = since(begin);
  ++height_;
  --depth_;
  return out;
}

Expr Parser::unary() {
  if (at(TokenKind::Plus)) {
    say(DiagnosticCode::Syntax, now().span, "`+` without a left side", "remove the `+`");
    while (at(TokenKind::Plus)) advance();
  }
  if (!at(TokenKind::Minus)) return postfix();
  const std::uint32_t begin = here();
  const Span span = now().span;
  advance();
  if (too_deep(span)) {
    while (at(TokenKind::Minus)) advance();
    Expr out = postfix();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  Expr out;
  out.kind = ExprKind::Unary;
  out.op = Operator::Negate;
  out.op_span = span;
  out.operands.push_back(unary());
  out.span = since(begin);
  ++height_;
  --depth_;
  return out;
}

Expr Parser::postfix() {
  Expr out = primary();
  if (at(TokenKind::Dot) || at(TokenKind::LeftBracket) || at(TokenKind::Foreign)) rest_of_path(out);
  return out;
}

// `.name`, `[key]`
void Parser::rest_of_path(Expr& expr) {
  unsigned height = height_;
  const auto wrap = [&](ExprKind kind, std::size_t operands) -> Expr* {
    if (height + 1 > highest_expression) {
      if (!too_deep_said_ && !broken_) {
        say(DiagnosticCode::NestedTooDeep, now().span, fmt::format("a path of more than {} steps", highest_expression));
      }
      too_deep_said_ = true;
      return nullptr;
    }
    Expr outer;
    outer.kind = kind;
    outer.span = expr.span;
    outer.operands.reserve(operands);
    outer.operands.push_back(std::move(expr));
    expr = std::move(outer);
    ++height;
    return &expr;
  };
  while (!broken_) {
    if (at(TokenKind::Dot) || at_foreign("->")) {
      if (at(TokenKind::Foreign)) say(DiagnosticCode::ForeignSyntax, now().span, "`->` in a path", "write `.`");
      if (ahead().kind == TokenKind::Star && ahead().span.begin == now().span.end) {
        advance();
        if (!quiet()) {
          const std::string path = written(expr.span);
          say(DiagnosticCode::ForeignSyntax, cover(expr.span, now().span),
              fmt::format("`{}.*` cannot be used here", path),
              fmt::format("to select the whole instance write `{}`", path));
        }
        advance();
        expr.span.end = last_end_;
        break;
      }
      Expr* member = wrap(ExprKind::Member, 1);
      advance();
      const std::size_t dot = pos_;
      // `select u. from User u`: the word goes on with the query, and the name is missing.
      const bool clause = (at(Word::From) && is_name(ahead()) && ahead().word == Word::None && is_name(ahead(2))) ||
                          ((at(Word::Order) || at(Word::Group)) && ahead().word == Word::By);
      Name name;
      if (clause) {
        expected("a name after `.`");
        name.span = after_last();
      } else if (at(TokenKind::Number) && dot == pos_) {
        expected("a name after `.`", fmt::format("write an element as `[{}]`", now().text));
        name.span = after_last();
      } else {
        name = expect_name("a name after `.`");
      }
      if (member != nullptr) member->name = name;
      expr.span.end = last_end_;
      if (at(TokenKind::LeftParenthesis) && !broken_ && !name.missing() && !first_on_line(now())) {
        method_call(expr);
        height = std::max(height, height_) + 1;
      }
    } else if (at(TokenKind::LeftBracket)) {
      if (too_deep(now().span)) {
        skip_one();
        break;
      }
      ++depth_;
      Expr* index = wrap(ExprKind::Index, 2);
      const Opener opener = open(TokenKind::LeftBracket);
      if (at(TokenKind::RightBracket)) {
        expected("an expression between `[` and `]`");
      } else {
        do {
          Expr key = expression();
          height = std::max(height, height_ + 1);
          if (index != nullptr) index->operands.push_back(std::move(key));
        } while (another(opener, "an expression"));
      }
      close(opener, "`,`");
      expr.span.end = last_end_;
      --depth_;
    } else {
      break;
    }
  }
  height_ = height;
}

// `u.followers.count()`: what others write for `count(u.followers)`.
void Parser::method_call(Expr& expr) {
  const Name name = expr.name;
  const bool wrapped = expr.kind == ExprKind::Member;
  Expr called;
  called.kind = ExprKind::Call;
  called.name = name;
  called.span = expr.span;
  if (wrapped) {
    Expr object = std::move(expr.operands[0]);
    remark(DiagnosticCode::ForeignSyntax, name.span, fmt::format("`{}` after a dot", name.text),
           fmt::format("write the function before its argument: `{}({})`", name.text, written(object.span)));
    called.operands.push_back(std::move(object));
  }
  if (too_deep(now().span)) {
    skip_one();
  } else {
    ++depth_;
    const Opener opener = open(TokenKind::LeftParenthesis);
    if (!at(TokenKind::RightParenthesis)) {
      do {
        if (at(TokenKind::Star))
          advance();
        else
          called.operands.push_back(expression());
      } while (another(opener, "an argument"));
    }
    close(opener, "`,`");
    --depth_;
  }
  called.span.end = last_end_;
  expr = std::move(called);
}

// Whether a word here goes on with the statement, so that the operand before it is missing.
bool Parser::clause_in_operand_position() const {
  const Token& next = ahead();
  switch (now().word) {
    case Word::Order:
    case Word::Group:
      return next.word == Word::By;
    case Word::And:
    case Word::Or:
    case Word::In:
    case Word::From:
    case Word::Where:
    case Word::Limit:
    case Word::Having:
    case Word::As:
      return begins_operand(next) && !is_infix(next.word) && next.kind != TokenKind::LeftBracket &&
             next.kind != TokenKind::LeftBrace && !is_clause(next.word) && next.word != Word::As &&
             next.word != Word::Asc && next.word != Word::Desc;
    default:
      return false;
  }
}

bool Parser::select_begins(std::size_t n) const {
  if (ahead(n).word != Word::Select) return false;
  const Token& next = ahead(n + 1);
  return begins_operand(next) || next.kind == TokenKind::Star || next.kind == TokenKind::Minus ||
         next.kind == TokenKind::Foreign;
}

Expr Parser::primary() {
  const Token& token = now();
  const std::uint32_t begin = here();
  Expr out;
  height_ = 1;
  switch (token.kind) {
    case TokenKind::Number: {
      out.number = take_number();
      out.kind = ExprKind::Number;
      const bool unit = is_duration_unit(now().word) && !(in_members_ && ahead().kind == TokenKind::Colon);
      if (unit && !broken_) {
        out.kind = ExprKind::Duration;
        out.name = {now().text, now().span, false};
        take(now().word);
      }
      out.span = since(begin);
      return out;
    }
    case TokenKind::Text:
      out.kind = ExprKind::Text;
      out.text = decode_text(token.text);
      out.span = token.span;
      advance();
      return out;
    case TokenKind::Parameter:
      out.kind = ExprKind::Parameter;
      out.name = {token.text, token.span, false};
      out.span = token.span;
      advance();
      return out;
    case TokenKind::Name:
    case TokenKind::QuotedName:
      return name_or_call();
    case TokenKind::LeftParenthesis:
      return parenthesized();
    case TokenKind::LeftBracket:
      return list();
    case TokenKind::LeftBrace:
      return braces();
    case TokenKind::Question:
      if (quiet()) break;
      say(DiagnosticCode::ForeignSyntax, token.span, "`?` for a parameter", "write parameters by name: `$name`");
      advance();
      out.span = token.span;
      return out;
    case TokenKind::Colon:
      if (quiet() || !is_name(ahead()) || ahead().span.begin != token.span.end) break;
      [[fallthrough]];
    case TokenKind::Foreign: {
      const bool at_sign = token.text == "@" || token.text == ":";
      if (quiet() || !at_sign || !is_name(ahead())) break;
      say_once(Habit::Parameters, DiagnosticCode::ForeignSyntax, cover(token.span, ahead().span),
               fmt::format("`{}{}` for a parameter", token.text, ahead().text),
               fmt::format("write `${}`", ahead().text));
      advance();
      out.kind = ExprKind::Parameter;
      out.name = take_name();
      out.span = out.name.span = since(begin);
      return out;
    }
    case TokenKind::Dot:
      if (quiet() || ahead().kind != TokenKind::Number || ahead().span.begin != token.span.end) break;
      say(DiagnosticCode::InvalidNumber, cover(token.span, ahead().span),
          fmt::format("invalid number `.{}`: no digit before the point", ahead().text),
          fmt::format("write `0.{}`", ahead().text));
      advance();
      out.kind = ExprKind::Number;
      out.number = take_number();
      out.span = since(begin);
      return out;
    default:
      break;
  }
  return missing_operand();
}

Expr Parser::name_or_call() {
  const Token& token = now();
  const Token& next = ahead();
  Expr out;
  out.span = token.span;
  const auto literal = [&](ExprKind kind) {
    out.kind = kind;
    take(token.word);
    return std::move(out);
  };
  if (in_members_ && next.kind == TokenKind::Colon) return missing_operand();  // the next field
  if (token.word != Word::None && next.kind != TokenKind::Dot && next.kind != TokenKind::LeftParenthesis) {
    switch (token.word) {
      case Word::True:
        return literal(ExprKind::True);
      case Word::False:
        return literal(ExprKind::False);
      case Word::Absent:
        return literal(ExprKind::Absent);
      case Word::Null:
      case Word::Nil:
        remark(DiagnosticCode::ForeignSyntax, token.span, fmt::format("there is no `{}`", token.text),
               "write `absent`");
        out.kind = ExprKind::Absent;
        advance();
        return out;
      default:
        break;
    }
    if (clause_in_operand_position()) return missing_operand();
  } else if (token.word != Word::None && next.kind == TokenKind::LeftParenthesis && clause_in_operand_position()) {
    return missing_operand();
  }
  if (token.word == Word::Select && select_begins() && next.kind != TokenKind::LeftParenthesis &&
      next.kind != TokenKind::LeftBracket) {
    remark(DiagnosticCode::Syntax, token.span, "a nested select without parentheses", "write `(select …)`");
    if (too_deep(token.span)) return missing_operand();
    ++depth_;
    out.kind = ExprKind::Select;
    out.select = std::make_unique<Select>();
    select(*out.select);
    out.span = out.select->span;
    --depth_;
    ++height_;
    return out;
  }
  if (token.word == Word::Case && is_name(next)) {
    remark(DiagnosticCode::NotInLanguage, token.span, "there is no `case`", "choose in the application");
    mistake_at_ = pos_;
    broken_ = true;
    return out;
  }
  if (token.word == Word::Exists && (next.kind == TokenKind::LeftParenthesis && select_begins(2))) {
    remark(DiagnosticCode::ForeignSyntax, token.span, "there is no `exists`",
           "count the rows: `(select count(*) from …) > 0`");
    advance();
    Expr rows = parenthesized();
    rows.kind = ExprKind::Unknown;
    return rows;
  }
  if (next.kind == TokenKind::LeftParenthesis) return call();
  if (next.kind == TokenKind::Text && token.kind == TokenKind::Name) {
    out.kind = ExprKind::Typed;
    out.name = take_name();
    out.text = decode_text(now().text);
    advance();
    out.span.end = last_end_;
    return out;
  }
  out.kind = ExprKind::Name;
  out.name = take_name();
  return out;
}

Expr Parser::call() {
  Expr out;
  const std::uint32_t begin = here();
  out.kind = ExprKind::Call;
  out.name = take_name();
  if (too_deep(now().span)) {
    skip_one();
    out.kind = ExprKind::Unknown;
    out.span = since(begin);
    return out;
  }
  ++depth_;
  unsigned height = 0;
  const Opener opener = open(TokenKind::LeftParenthesis);
  if (at(opener.closer)) {
    if (find_word(out.name.text) == Word::Count && !out.name.quoted) {
      say(DiagnosticCode::ForeignSyntax, cover(opener.span, now().span), "`count` without an argument",
          "write `count(*)` to count rows");
      out.star = true;
    }
  } else if (at(TokenKind::Star)) {
    advance();
    out.star = true;
  } else {
    if (at(Word::Distinct) && (begins_operand(ahead()) || ahead().kind == TokenKind::Star) &&
        ahead().kind != TokenKind::LeftBracket) {
      take(Word::Distinct);
      out.distinct = true;
    }
    do {
      if (select_begins() && !quiet()) {
        say(DiagnosticCode::Syntax, now().span, "a nested select without parentheses",
            fmt::format("write `{}((select …))`", out.name.text));
        mistake_at_ = pos_;
      }
      out.operands.push_back(expression());
      height = std::max(height, height_);
    } while (another(opener, "an argument"));
  }
  close(opener, "`,`");
  --depth_;
  out.span = since(begin);
  height_ = height + 1;
  return out;
}

Expr Parser::parenthesized() {
  Expr out;
  const std::uint32_t begin = here();
  if (too_deep(now().span)) {
    skip_one();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  const Opener opener = open(TokenKind::LeftParenthesis);
  if (select_begins()) {
    out.kind = ExprKind::Select;
    out.select = std::make_unique<Select>();
    select(*out.select);
    ++height_;
    close(opener);
  } else {
    out = expression();
    if (!broken_ && at(TokenKind::Comma) && !unclosed(opener)) {
      unsigned height = height_;
      Expr elements;
      elements.kind = ExprKind::List;
      elements.operands.push_back(std::move(out));
      while (accept(TokenKind::Comma)) {
        elements.operands.push_back(expression());
        height = std::max(height, height_);
        if (broken_) skip_until([&] { return at(TokenKind::Comma); });
      }
      out = std::move(elements);
      height_ = height + 1;
      if (!at(Word::From)) {
        say(DiagnosticCode::ForeignSyntax, opener.span, "a list in parentheses", "write a list in brackets: `[1, 2]`");
        mistake_at_ = pos_;
      }
    }
    if (!broken_ && at(Word::From) && at_clause() && !unclosed(opener)) {
      remark(DiagnosticCode::Syntax, opener.span, "expected `select` after `(`");
      mistake_at_ = pos_;
    }
    close(opener);
    out.parenthesized = true;
  }
  --depth_;
  out.span = since(begin);
  return out;
}

Expr Parser::list() {
  Expr out;
  const std::uint32_t begin = here();
  if (too_deep(now().span)) {
    skip_one();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  out.kind = ExprKind::List;
  unsigned height = 0;
  const Opener opener = open(TokenKind::LeftBracket);
  if (!at(opener.closer)) {
    do {
      out.operands.push_back(expression());
      height = std::max(height, height_);
    } while (another(opener, "an expression"));
  }
  close(opener, "`,`");
  --depth_;
  out.span = since(begin);
  height_ = height + 1;
  return out;
}

Expr Parser::braces() {
  Expr out;
  const std::uint32_t begin = here();
  if (too_deep(now().span)) {
    skip_one();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  const bool in_members = in_members_;
  in_members_ = false;
  out.kind = ExprKind::Braces;
  unsigned height = 0;
  const Opener opener = open(TokenKind::LeftBrace);
  if (!at(opener.closer)) {
    do {
      const Token& next = ahead();
      if (is_name(now()) &&
          (next.kind == TokenKind::Colon || next.kind == TokenKind::Equal || next.kind == TokenKind::Foreign)) {
        Expr key;
        key.kind = ExprKind::Name;
        key.span = now().span;
        key.name = take_name();
        out.operands.push_back(std::move(key));
      } else {
        out.operands.push_back(expression());
        height = std::max(height, height_);
      }
      if (!broken_ && (at(TokenKind::Equal) || at_foreign(":=") || at_foreign("=>"))) {
        say_once(Habit::FieldAssign, DiagnosticCode::ForeignSyntax, now().span, fmt::format("{} after a name", found()),
                 "write `:`");
        advance();
      } else if (!broken_ && !accept(TokenKind::Colon)) {
        expected("`:` and a value",
                 at(TokenKind::Comma) || at(opener.closer) ? "write a set or list in brackets: `[1, 2]`" : "");
      }
      out.operands.push_back(broken_ ? unknown() : expression());
      height = std::max(height, height_);
    } while (another(opener, "a name"));
  }
  close(opener, "`,`");
  in_members_ = in_members;
  --depth_;
  out.span = since(begin);
  height_ = height + 1;
  return out;
}

}  // namespace noam::language
