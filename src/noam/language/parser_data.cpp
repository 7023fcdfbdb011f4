#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "noam/language/parser_internal.h"
#include "noam/language/suggest.h"

namespace noam::language {

namespace {

constexpr std::array<std::string_view, 6> field_modifiers = {"key", "auto", "owner", "inverse", "distinct", "skew"};
constexpr std::array<std::string_view, 3> collections = {"list", "set", "map"};

// The names of scalars here and elsewhere: who writes one where a field begins has the order of other languages in
// mind.
constexpr std::array<std::string_view, 40> scalars = {
    "bool",   "int",      "float",   "decimal",     "text",   "bytes",    "timestamp", "date",     "uuid",  "timeuuid",
    "inet",   "json",     "boolean", "integer",     "bigint", "smallint", "tinyint",   "long",     "short", "double",
    "real",   "number",   "numeric", "string",      "String", "varchar",  "char",      "nvarchar", "clob",  "blob",
    "binary", "datetime", "time",    "timestamptz", "serial", "jsonb",    "guid",      "money",    "int64", "int32",
};

bool is_scalar(std::string_view name) { return std::find(scalars.begin(), scalars.end(), name) != scalars.end(); }

template <typename Clause>
const Clause* find(const std::vector<EntityMember>& members) {
  for (const EntityMember& member : members) {
    if (const auto* clause = std::get_if<Clause>(&member)) return clause;
  }
  return nullptr;
}

}  // namespace

void Parser::value_declaration(ValueDecl& value) {
  value.name = expect_name("a name after `value`");
  const Opener block = open_block("the name of the value", &Parser::at_member);
  std::vector<EntityMember> all;
  members(all, block);
  for (EntityMember& member : all) {
    if (auto* field = std::get_if<Field>(&member)) {
      value.fields.push_back(std::move(*field));
    } else {
      const Span span = std::visit([](const auto& m) { return m.span; }, member);
      say(DiagnosticCode::Syntax, span, "a value has only fields", "keys, `ttl` and `require` belong to entities");
    }
  }
  value.body_end = close(block);
}

void Parser::entity_declaration(EntityDecl& entity) {
  entity.name = expect_name("a name after `entity`");
  while (!broken_) {
    if (at(Word::Transient)) {
      const Span span = take(Word::Transient);
      if (entity.transient) duplicate(span, entity.transient_span, "`transient`");
      if (!entity.transient) entity.transient_span = span;
      entity.transient = true;
    } else if (at(TokenKind::Tilde)) {
      statistic(entity.statistic);
    } else if (at(TokenKind::Number)) {
      say(DiagnosticCode::Syntax, now().span,
          fmt::format("expected `{{` after the name of the entity, found {}", found()),
          fmt::format("write the number of instances as `~{}`", now().text));
      advance();
    } else {
      break;
    }
  }
  if (!broken_ &&
      (at(TokenKind::Colon) || (at(TokenKind::Name) && (now().text == "extends" || now().text == "implements")))) {
    say(DiagnosticCode::NotInLanguage, now().span, "entities have no inheritance",
        "repeat the fields, or move them to a `value` that both use");
    skip_until([&] { return at(TokenKind::LeftBrace) || declaration_begins(); });
  }
  const Opener block = open_block("the name of the entity", &Parser::at_member);
  members(entity.members, block);
  entity.body_end = close(block);
}

void Parser::members(std::vector<EntityMember>& out, const Opener& block) {
  if (!block.opened) return;
  // A field is large; so their number is guessed by the colons.
  constexpr std::size_t most_guessed = 1000;
  std::size_t colons = 0;
  for (std::size_t i = pos_;
       colons < most_guessed && tokens_[i].kind != TokenKind::RightBrace && tokens_[i].kind != TokenKind::End; ++i) {
    if (tokens_[i].kind == TokenKind::Colon) ++colons;
  }
  out.reserve(colons + 1);
  in_members_ = true;
  while (!at_end()) {
    const std::size_t before = pos_;
    member(out);
    if (broken_) {
      if (pos_ == before && !at_end()) skip_one();
      skip_until([&] { return at_member(); });
    }
    if (pos_ == before && !at_end()) skip_one();
    if (diagnostics_.stopped()) skip_until([] { return false; });
  }
  in_members_ = false;
}

bool Parser::at_member() const {
  if (at(TokenKind::Comma)) return false;
  if ((is_name(now()) || at(TokenKind::Text)) && ahead().kind == TokenKind::Colon) return true;
  switch (now().word) {
    case Word::Key:
      return ahead().kind == TokenKind::LeftParenthesis;
    case Word::Ttl:
      return ahead().kind == TokenKind::Number;
    case Word::Require:
      return begins_operand(ahead());
    default:
      return looks_like_declaration(tokens_, pos_);
  }
}

void Parser::member(std::vector<EntityMember>& out) {
  const Token& next = ahead();
  const bool named = is_name(now());
  const bool colon = next.kind == TokenKind::Colon || (next.kind == TokenKind::Foreign && next.text == ":=") ||
                     (next.kind == TokenKind::Question && ahead(2).kind == TokenKind::Colon);
  if ((named || at(TokenKind::Text)) && colon) {
    out.emplace_back(std::in_place_type<Field>);
    return field(std::get<Field>(out.back()));
  }
  if (at(Word::Primary) && next.word == Word::Key && ahead(2).kind == TokenKind::LeftParenthesis) {
    say_once(Habit::PrimaryKey, DiagnosticCode::ForeignSyntax, cover(now().span, next.span), "`primary key`",
             "write `key`");
    advance();
  }
  if (at(Word::Key) && ahead().kind == TokenKind::LeftParenthesis) {
    KeyClause key;
    key_clause(key);
    if (const auto* first = find<KeyClause>(out)) return duplicate(key.span, first->span, "`key (…)`");
    out.emplace_back(std::move(key));
    return;
  }
  if (at(Word::Key)) {
    take(Word::Key);
    return expected("`(` after `key`");
  }
  if (at(Word::Ttl)) {
    TtlClause ttl;
    ttl_clause(ttl);
    if (const auto* first = find<TtlClause>(out)) return duplicate(ttl.span, first->span, "`ttl`");
    out.emplace_back(ttl);
    return;
  }
  if (at(Word::Require)) {
    RequireClause require;
    const std::uint32_t begin = here();
    take(Word::Require);
    require.condition = expression();
    require.span = since(begin);
    out.emplace_back(std::move(require));
    return;
  }
  const bool between =
      ahead(2).kind == TokenKind::Colon || !is_name(next) || first_on_line(next) || next.word == Word::Key;
  if (at(TokenKind::Comma) &&
      (between || next.word == Word::Require || next.word == Word::Ttl || ahead(2).kind == TokenKind::Name)) {
    say_once(Habit::Commas, DiagnosticCode::ForeignSyntax, now().span, "a comma after a field",
             "fields are not separated by commas");
    advance();
    return;
  }
  if (looks_like_declaration(tokens_, pos_)) {
    say(DiagnosticCode::Syntax, cover(now().span, ahead().span),
        fmt::format("`{} {}` inside another declaration", now().text, ahead().text),
        "declarations cannot be nested; is a `}` missing before it?");
    if (too_deep(now().span)) return skip_until([] { return false; });
    ++depth_;
    declare(now().word);
    --depth_;
    in_members_ = true;
    return;
  }
  Field guessed;
  if (typed_without_colon(guessed)) {
    out.emplace_back(std::move(guessed));
    return;
  }
  if (named) {
    guessed.name = take_name();
    guessed.type.span = after_last();
    expected(fmt::format("`:` and a type after `{}`", guessed.name.text));
    guessed.span = guessed.name.span;
    out.emplace_back(std::move(guessed));
    return;
  }
  expected_here("a field");
}

void Parser::field(Field& field) {
  const std::uint32_t begin = here();
  if (at(TokenKind::Text)) {
    say_once(Habit::QuotedKeys, DiagnosticCode::ForeignSyntax, now().span, "the name of a field in quotes",
             fmt::format("write names without quotes: `{}: …`", now().text));
  }
  field.name = take_name();
  bool optional = false;
  if (at(TokenKind::Question)) {
    say_once(Habit::FieldOrder, DiagnosticCode::ForeignSyntax, now().span, "`?` after the name of a field",
             fmt::format("mark the type as optional: `{}: text?`", field.name.text));
    advance();
    optional = true;
  }
  if (at(TokenKind::Foreign)) {
    say_once(Habit::FieldAssign, DiagnosticCode::ForeignSyntax, now().span,
             fmt::format("{} between a field and its type", found()), "write `:`");
  }
  advance();
  field.type = type("`:`");
  field.type.optional = field.type.optional || optional;
  modifiers(field);
  field.span = since(begin);
}

// `int age`, `age int`, `list<text> tags`: the name and the type are there.
bool Parser::typed_without_colon(Field& field) {
  const Token& first = now();
  const Token& second = ahead();
  if (first.kind != TokenKind::Name) return false;
  const std::uint32_t begin = here();
  const bool generic = (first.word == Word::List || first.word == Word::Set || first.word == Word::Map) &&
                       second.kind == TokenKind::Less;
  const bool pair = is_name(second) && ahead(2).kind != TokenKind::Colon;
  if (!generic && !pair) return false;
  const bool type_first = generic || (is_scalar(first.text) && !is_scalar(second.text));
  const bool sql = pair && !type_first && (is_scalar(second.text) || !first_on_line(second));
  if (type_first) {
    field.type = type("the field");
    if (broken_) return true;
    if (!at_name()) {
      expected("a name");
      return true;
    }
    field.name = take_name();
  } else if (sql) {
    field.name = take_name();
    field.type = type("the name");
  } else {
    return false;
  }
  const std::string type_text = written(field.type.span);
  say_once(Habit::FieldOrder, DiagnosticCode::ForeignSyntax, since(begin),
           type_first ? "the type before the name of the field" : "a field without `:`",
           fmt::format("write `{}: {}`", field.name.text, type_text));
  modifiers(field);
  field.span = since(begin);
  return true;
}

void Parser::modifiers(Field& field) {
  Statistic* described = &field.statistic;
  const auto flag = [&](Word word, bool& set, Span& where) {
    const Span span = take(word);
    if (set) return duplicate(span, where, fmt::format("`{}`", spelling(word)));
    set = true;
    where = span;
  };
  Span default_span;
  while (!broken_) {
    if (at(TokenKind::Tilde)) {
      statistic(*described);
      continue;
    }
    if (at(TokenKind::Equal)) {
      const Span span = now().span;
      advance();
      Expr initial = expression();
      if (field.initial) {
        duplicate(span, default_span, "the default");
      } else {
        default_span = span;
        field.initial = std::move(initial);
      }
      continue;
    }
    if (at_foreign("@") && is_name(ahead())) {
      say(DiagnosticCode::ForeignSyntax, cover(now().span, ahead().span),
          fmt::format("`@{}` after a type", ahead().text),
          "write modifiers without `@`: `key`, `auto`, `owner`, `inverse`");
      advance();
      advance();
      if (at(TokenKind::LeftParenthesis)) skip_one();
      continue;
    }
    const TokenKind next = ahead().kind;
    if (!at(TokenKind::Name) || next == TokenKind::Colon || next == TokenKind::Question) return;
    switch (now().word) {
      case Word::Key:
        if (next == TokenKind::LeftParenthesis) return;
        flag(Word::Key, field.key, field.key_span);
        continue;
      case Word::Auto:
        flag(Word::Auto, field.automatic, field.auto_span);
        continue;
      case Word::Owner:
        flag(Word::Owner, field.owner, field.owner_span);
        continue;
      case Word::Distinct:
      case Word::Skew:
        if (!statistic(*described)) return;
        continue;
      case Word::Inverse: {
        const Span span = take(Word::Inverse);
        const Name name = expect_name("a name after `inverse`");
        if (field.inverse) {
          duplicate(cover(span, name.span), field.inverse_span, "`inverse`");
          continue;
        }
        field.inverse = name;
        field.inverse_span = span;
        described = &field.inverse_statistic;
        continue;
      }
      default:
        break;
    }
    if (!foreign_modifier(field)) return;
  }
}

// What SQL and others write after a type. Skips it where it is known; false: the next field begins here.
bool Parser::foreign_modifier(Field& field) {
  const Token& token = now();
  const Span span = token.span;
  switch (token.word) {
    case Word::Unique:
      say(DiagnosticCode::NotInLanguage, span, "only the key is unique",
          fmt::format("make it the key of another entity: `entity Taken {{ {}: … key }}`", field.name.text));
      advance();
      return true;
    case Word::Index:
    case Word::Indexed:
      say(DiagnosticCode::NotInLanguage, span, "indexes are not declared", "noam derives them from the queries");
      advance();
      return true;
    case Word::Not:
      if (ahead().word != Word::Null) return false;
      say_once(Habit::NotNull, DiagnosticCode::ForeignSyntax, cover(span, ahead().span), "`not null` after a type",
               "a field is required unless its type ends with `?`");
      advance();
      advance();
      return true;
    case Word::Required:
      say_once(Habit::NotNull, DiagnosticCode::ForeignSyntax, span, "`required` after a type",
               "a field is required unless its type ends with `?`");
      advance();
      return true;
    case Word::Null:
    case Word::Nullable:
    case Word::Optional:
      say_once(Habit::NotNull, DiagnosticCode::ForeignSyntax, span, fmt::format("`{}` after a type", token.text),
               fmt::format("mark an optional type with `?`: `{}?`", written(field.type.span)));
      field.type.optional = true;
      advance();
      return true;
    case Word::Default:
      say_once(Habit::Defaults, DiagnosticCode::ForeignSyntax, span, "`default` after a type",
               "write a default as `= …`");
      advance();
      if (begins_operand(now()) || at(TokenKind::Minus)) {
        Expr initial = expression();
        if (!field.initial) field.initial = std::move(initial);
      }
      return true;
    case Word::Primary:
      if (ahead().word != Word::Key) return false;
      say_once(Habit::PrimaryKey, DiagnosticCode::ForeignSyntax, cover(span, ahead().span), "`primary key`",
               "write `key`");
      advance();
      return true;
    case Word::References:
      say(DiagnosticCode::ForeignSyntax, span, "`references` after a type",
          fmt::format("write the entity as the type: `{}: Entity`", field.name.text));
      advance();
      if (at_name()) advance();
      if (at(TokenKind::LeftParenthesis)) skip_one();
      return true;
    default:
      break;
  }
  const bool automatic =
      token.text == "auto_increment" || token.text == "autoincrement" || token.text == "AUTO_INCREMENT";
  if (automatic) {
    say(DiagnosticCode::ForeignSyntax, span, "noam does not generate sequential numbers",
        "for a generated key write `id: uuid key auto`");
    advance();
    return true;
  }
  if (on_new_line()) return false;
  const auto similar = closest(token.text, field_modifiers);
  if (!similar) return false;
  say(DiagnosticCode::Syntax, span, fmt::format("unknown field modifier `{}`", token.text),
      fmt::format("did you mean `{}`?", *similar));
  const Word meant = find_word(*similar);
  advance();
  if (meant == Word::Key) field.key = true;
  if (meant == Word::Auto) field.automatic = true;
  if (meant == Word::Owner) field.owner = true;
  if (meant == Word::Inverse && at_name() && ahead().kind != TokenKind::Colon) {
    const Name name = take_name();
    if (!field.inverse) field.inverse = name;
  }
  return true;
}

// `~50`, `distinct ~50`, `skew zipf(0.9)`. False where the word is none of these here.
bool Parser::statistic(Statistic& statistic) {
  const auto set = [&](std::optional<Number>& slot, const Number& number, std::uint32_t begin, std::string_view what) {
    if (slot) return duplicate(since(begin), slot->span, what);
    slot = number;
  };
  const std::uint32_t begin = here();
  if (at(TokenKind::Tilde)) {
    advance();
    const Number number = expect_number("a number after `~`");
    set(statistic.count, number, begin, "the number of elements");
    return true;
  }
  if (at(Word::Distinct)) {
    if (ahead().kind != TokenKind::Tilde && ahead().kind != TokenKind::Number) return false;
    take(Word::Distinct);
    if (!accept(TokenKind::Tilde)) {
      say(DiagnosticCode::Syntax, now().span, fmt::format("expected `~` after `distinct`, found {}", found()),
          fmt::format("write `distinct ~{}`", now().text));
    }
    const Number number = expect_number("a number after `distinct ~`");
    set(statistic.distinct, number, begin, "`distinct`");
    return true;
  }
  if (ahead().word != Word::Zipf) return false;
  take(Word::Skew);
  take(Word::Zipf);
  if (!at(TokenKind::LeftParenthesis)) {
    expected("`(` after `zipf`", "write `skew zipf(0.9)`");
    return true;
  }
  const Opener opener = open(TokenKind::LeftParenthesis);
  const Number number = expect_number("the exponent");
  close(opener);
  set(statistic.zipf, number, begin, "`skew`");
  return true;
}

void Parser::key_clause(KeyClause& key) {
  const std::uint32_t begin = here();
  take(Word::Key);
  const Opener opener = open(TokenKind::LeftParenthesis);
  do {
    const Name name = expect_name("the name of a field");
    if (!name.missing()) key.parts.push_back(name);
  } while (another(opener, "the name of a field"));
  close(opener, "`,`");
  key.span = since(begin);
}

void Parser::ttl_clause(TtlClause& ttl) {
  const std::uint32_t begin = here();
  take(Word::Ttl);
  ttl.period = duration("a duration after `ttl`");
  if (!broken_ && at(Word::From) && ahead().kind != TokenKind::Colon) {
    take(Word::From);
    ttl.from = expect_name("the name of a field after `from`");
  }
  ttl.span = since(begin);
}

// Types

TypeExpr Parser::type(std::string_view after) {
  TypeExpr out;
  const std::uint32_t begin = here();
  const Span wanted = after_last();
  if (too_deep(now().span)) {
    for (int angles = 0; !at_end(); skip_one()) {
      if (at(TokenKind::Less)) ++angles;
      if (at(TokenKind::Greater) && --angles <= 0) break;
      if (angles == 0 && ahead().kind != TokenKind::Less) break;
    }
    if (!at_end()) advance();
    out.span = since(begin);
    return out;
  }
  ++depth_;
  switch (now().kind) {
    case TokenKind::Name:
      if (in_members_ && ahead().kind == TokenKind::Colon) {
        expected(fmt::format("a type after {}", after));
        break;
      }
      if (ahead().kind == TokenKind::Less || (ahead().kind == TokenKind::Foreign && ahead().text == "<>")) {
        switch (now().word) {
          case Word::List:
            collection_type(out, TypeSyntax::List);
            break;
          case Word::Set:
            collection_type(out, TypeSyntax::Set);
            break;
          case Word::Map:
            collection_type(out, TypeSyntax::Map);
            break;
          default: {
            const auto similar = closest(now().text, collections);
            say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("`{}` is not a collection type", now().text),
                similar ? fmt::format("did you mean `{}`?", *similar)
                        : "the collection types are `list<…>`, `set<…>` and `map<…, …>`");
            const Word meant = similar ? find_word(*similar) : Word::List;
            collection_type(out, meant == Word::Map   ? TypeSyntax::Map
                                 : meant == Word::Set ? TypeSyntax::Set
                                                      : TypeSyntax::List);
          }
        }
        break;
      }
      named_type(out);
      break;
    case TokenKind::QuotedName:
      named_type(out);
      break;
    case TokenKind::Text:
      enumeration(out);
      break;
    case TokenKind::LeftParenthesis: {
      const Opener opener = open(TokenKind::LeftParenthesis);
      if (at(TokenKind::Text)) {
        enumeration(out);
      } else {
        expected("the texts of an enumeration after `(`");
      }
      close(opener, "`|`");
      break;
    }
    case TokenKind::LeftBracket: {
      const Opener opener = open(TokenKind::LeftBracket);
      out.kind = TypeSyntax::List;
      out.arguments.push_back(type("`[`"));
      const std::string inner = written(out.arguments[0].span);
      if (!broken_)
        say(DiagnosticCode::ForeignSyntax, opener.span, "a type in brackets", fmt::format("write `list<{}>`", inner));
      close(opener);
      break;
    }
    case TokenKind::LeftBrace:
      say(DiagnosticCode::ForeignSyntax, now().span, "a nested object as a type",
          "declare it as `value Name { … }` and write its name here");
      skip_one();
      break;
    default:
      expected(fmt::format("a type after {}", after));
      break;
  }
  --depth_;
  if (!broken_ && at(TokenKind::LeftBracket) && ahead().kind == TokenKind::RightBracket) {
    say(DiagnosticCode::ForeignSyntax, cover(now().span, ahead().span), "`[]` after a type",
        fmt::format("write `list<{}>`", written(since(begin))));
    TypeExpr element = std::move(out);
    element.span = since(begin);
    out = TypeExpr();
    out.kind = TypeSyntax::List;
    out.arguments.push_back(std::move(element));
    while (at(TokenKind::LeftBracket) && ahead().kind == TokenKind::RightBracket) skip_one();
  }
  if (!broken_ && (at(TokenKind::Foreign) || at(TokenKind::Bar))) foreign_type_end(out);
  if (!broken_ && at(TokenKind::Question)) {
    out.optional = true;
    out.optional_span = now().span;
    advance();
  }
  out.span = broken_ && last_end_ <= begin ? wanted : since(begin);
  return out;
}

// `text!`, `text | null`
void Parser::foreign_type_end(TypeExpr& out) {
  if (at_foreign("!")) {
    say_once(Habit::NotNull, DiagnosticCode::ForeignSyntax, now().span, "`!` after a type",
             "a field is required unless its type ends with `?`");
    advance();
  } else if (at(TokenKind::Bar) && (ahead().word == Word::Null || ahead().word == Word::Nil)) {
    say_once(Habit::NotNull, DiagnosticCode::ForeignSyntax, cover(now().span, ahead().span), "`| null` after a type",
             "mark an optional type with `?`");
    advance();
    advance();
    out.optional = true;
  }
}

void Parser::named_type(TypeExpr& out) {
  out.kind = TypeSyntax::Named;
  out.name = take_name();
  if (at(TokenKind::LeftBrace) && (out.name.text == "enum" || out.name.text == "ENUM")) {
    say(DiagnosticCode::ForeignSyntax, out.name.span, "`enum` before an enumeration",
        "write only the texts: `\"open\" | \"paid\"`");
    out.kind = TypeSyntax::Unknown;
    return skip_one();
  }
  if (!at(TokenKind::LeftParenthesis)) return;
  const Opener opener = open(TokenKind::LeftParenthesis);
  if (at(TokenKind::Text)) {
    say(DiagnosticCode::ForeignSyntax, out.name.span, fmt::format("`{}` before an enumeration", out.name.text),
        "write only the texts: `\"open\" | \"paid\"`");
    out.kind = TypeSyntax::Enumeration;
    do {
      if (at(TokenKind::Text)) {
        out.texts.push_back({decode_text(now().text), now().span});
        advance();
      } else {
        expected("a text");
      }
    } while (another(opener, "a text"));
    close(opener);
    return;
  }
  out.about = accept(TokenKind::Tilde);
  out.length = expect_integer("a length");
  if (!broken_ && at(TokenKind::Comma)) {
    say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("`{}` with two numbers", out.name.text),
        "a type takes at most one length; `decimal` takes none");
    skip_until([] { return false; });
  }
  close(opener);
}

void Parser::collection_type(TypeExpr& out, TypeSyntax kind) {
  out.kind = kind;
  out.name = take_name();
  if (at(TokenKind::Foreign)) {  // <>
    say(DiagnosticCode::Syntax, now().span, "expected a type between `<` and `>`");
    advance();
    return;
  }
  const Span opening = now().span;
  advance();
  out.arguments.push_back(type("`<`"));
  if (kind == TypeSyntax::Map && !broken_) {
    if (accept(TokenKind::Comma)) {
      out.arguments.push_back(type("`,`"));
    } else {
      expected("`,` and the type of the values", "write `map<text, int>`");
    }
  }
  if (broken_) {
    // The bracket is near, if it is there.
    skip_until([&] {
      return at(TokenKind::Greater) || at(TokenKind::GreaterEqual) || at(TokenKind::Comma) || at_member() ||
             on_new_line();
    });
    broken_ = !at(TokenKind::Greater) && !at(TokenKind::GreaterEqual);
  }
  if (!broken_ && kind != TypeSyntax::Map && at(TokenKind::Comma) && in_members_) {
    say(DiagnosticCode::Syntax, now().span, fmt::format("`{}` with two types", out.name.text),
        "only `map<…, …>` takes two types");
    advance();
    type("`,`");
  }
  if (!broken_) close_angle(opening);
}

// `set<text>= {}` ends in one sign of two characters.
void Parser::close_angle(Span opening) {
  if (accept(TokenKind::Greater)) return;
  if (at(TokenKind::GreaterEqual)) {
    Token& token = tokens_[pos_];
    token.kind = TokenKind::Equal;
    token.text.remove_prefix(1);
    ++token.span.begin;
    last_end_ = token.span.begin;
    return;
  }
  if (!quiet()) {
    diagnostics_.error(DiagnosticCode::Unclosed, place(), fmt::format("expected `>`, found {}", found()))
        .label(opening, "this `<` is never closed");
  }
  mistake_at_ = pos_;
}

void Parser::enumeration(TypeExpr& out) {
  out.kind = TypeSyntax::Enumeration;
  while (true) {
    if (!at(TokenKind::Text)) return expected("a text after `|`");
    out.texts.push_back({decode_text(now().text), now().span});
    advance();
    const bool comma = at(TokenKind::Comma) && ahead().kind == TokenKind::Text && ahead(2).kind != TokenKind::Colon;
    if (at_foreign("||") || comma) {
      say(DiagnosticCode::ForeignSyntax, now().span, fmt::format("{} between the texts of an enumeration", found()),
          "write `|`");
    } else if (!at(TokenKind::Bar)) {
      return;
    }
    advance();
  }
}

}  // namespace noam::language
