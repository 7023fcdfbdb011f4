#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/language/diagnostics.h"
#include "noam/language/lexer.h"
#include "noam/language/source.h"
#include "noam/language/tree.h"
#include "noam/language/words.h"

// The parser is one class in several files: parser.cpp (tokens, recovery, the file), parser_data.cpp,
// parser_expressions.cpp, parser_queries.cpp, parser_commands.cpp (with mixes), parser_designs.cpp.
namespace noam::language {

// Brackets, blocks, signs and selects inside each other.
inline constexpr unsigned deepest_nesting = 200;
// Nodes of an expression above each other: a chain `a + b + …` is as high as it has operands.
inline constexpr unsigned highest_expression = 1000;

// What is said to be expected where an operand is missing.
inline constexpr std::string_view operand = "an expression";

inline constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

// Which brackets have no partner. Closing ones become Unknown; where a declaration begins inside a block that is never
// closed, an End is put before it, so that End always closes whatever is open. Gives the opening ones, ascending.
std::vector<std::uint32_t> find_unclosed(std::vector<Token>& tokens, std::string_view text);

// `entity A {`, `query q(`, `mix m like`: what can hardly be anything else.
bool looks_like_declaration(const std::vector<Token>& tokens, std::size_t i);

// A variable to suggest: `Order` gives `o`.
std::string variable_for(std::string_view source);

// Mistakes that come in swarms: each is said once a declaration.
enum class Habit : std::uint8_t {
  Semicolons,
  Commas,
  Capitals,
  FieldOrder,
  FieldAssign,
  MissingCommas,
  Defaults,
  NotNull,
  PrimaryKey,
  QuotedKeys,
  Parameters,
  Weights,
  Parentheses,
};

class Parser {
 public:
  Parser(const SourceFile& source, Diagnostics& diagnostics);

  Tree file();

 private:
  // A block or bracket that is being read.
  struct Opener {
    std::uint32_t index = 0;
    Span span;
    TokenKind closer = TokenKind::RightBrace;
    bool opened = false;  // else it was missing, and there is nothing to close
    bool outer_ends_early = false;
  };

  struct Infix {
    Operator op = Operator::None;
    std::uint8_t level = 0;  // how tightly it binds; 0: no operator here
    std::uint8_t tokens = 1;
  };

  // What may follow a source in place of its variable.
  enum class Clauses : std::uint8_t { Select, Collection, Family, Nested };

  // tokens
  [[nodiscard]] const Token& now() const { return tokens_[pos_]; }
  [[nodiscard]] const Token& ahead(std::size_t n = 1) const {
    return tokens_[pos_ + n < tokens_.size() ? pos_ + n : tokens_.size() - 1];
  }
  [[nodiscard]] bool at(TokenKind kind) const { return now().kind == kind; }
  [[nodiscard]] bool at(Word word) const { return now().word == word; }
  [[nodiscard]] bool at_name() const { return is_name(now()); }
  [[nodiscard]] bool at_foreign(std::string_view sign) const { return at(TokenKind::Foreign) && now().text == sign; }
  [[nodiscard]] bool at_end() const;  // of the block or bracket that is being read
  [[nodiscard]] bool first_on_line(const Token& token) const;
  [[nodiscard]] bool on_new_line() const;  // the token is not on the line of the one before
  [[nodiscard]] bool declaration_begins(std::size_t n = 0) const;
  static bool is_name(const Token& token) {
    return token.kind == TokenKind::Name || token.kind == TokenKind::QuotedName;
  }
  static bool begins_operand(const Token& token);
  void mend(Word word) { tokens_[pos_].word = word; }  // the token is misspelt, and said to be
  void advance();
  void settle();
  bool accept(TokenKind kind);
  bool accept(Word word);
  Span take(Word word);  // the word is there; says so where it is in capitals
  [[nodiscard]] Span since(std::uint32_t begin) const { return {begin, last_end_ > begin ? last_end_ : begin}; }
  [[nodiscard]] Span after_last() const { return {last_end_, last_end_}; }
  [[nodiscard]] std::uint32_t here() const { return now().span.begin; }

  // mistakes
  [[nodiscard]] bool quiet() const {
    return broken_ || pos_ == mistake_at_ || pos_ == glitch_at_ || diagnostics_.stopped() || at_unclosed_text();
  }
  [[nodiscard]] bool at_unclosed_text() const;  // it has swallowed the rest of its line, and was reported
  [[nodiscard]] std::string found() const;
  [[nodiscard]] std::string written(Span span) const;  // the user's words, cut where they are long
  [[nodiscard]] Span place() const;  // of the token that should not be here, or of what is missing before it
  void expected(std::string_view what, const std::string& hint = {}) { expected(what, place(), hint); }
  void expected(std::string_view what, Span where, const std::string& hint);
  // The same where a new part should begin: the token itself is wrong, wherever it stands.
  void expected_here(std::string_view what, const std::string& hint = {}) {
    expected(what, at(TokenKind::End) ? after_last() : now().span, hint);
  }
  // What can be understood nevertheless: said, and the reading goes on.
  void say(DiagnosticCode code, Span span, std::string message, std::string hint = {});
  // The same, unless a mistake was said here already.
  void remark(DiagnosticCode code, Span span, std::string message, std::string hint = {}) {
    if (!quiet()) say(code, span, std::move(message), std::move(hint));
  }
  void say_once(Habit habit, DiagnosticCode code, Span span, std::string message, std::string hint = {});
  void duplicate(Span again, Span first, std::string_view what);
  bool too_deep(Span span);

  // recovery: over whole groups, never over the end of the block, and the reading is sound again
  void skip_one();
  void skip_group();
  template <typename Stop>
  void skip_until(Stop stop) {
    while (!at_end() && !stop()) skip_one();
    broken_ = false;
  }

  // brackets
  Opener open(TokenKind kind);  // it is there
  Opener open_block(std::string_view after, bool (Parser::*body_begins)() const);
  Span close(const Opener& opener, std::string_view what = {});
  [[nodiscard]] bool unclosed(const Opener& opener) const;
  [[nodiscard]] bool inside_unclosed(const Opener& opener) const;
  bool put_in(TokenKind bracket);
  bool take_out();
  bool pair_anew(const Token* bracket);
  // After an element of a list in brackets: true where another one follows.
  bool another(const Opener& opener, std::string_view element);

  // names and numbers
  Name take_name();
  Name expect_name(std::string_view what);
  Number take_number();
  Number expect_number(std::string_view what);
  Number expect_integer(std::string_view what);
  Duration duration(std::string_view what);

  // the file
  void model();
  void declaration();
  void declare(Word word);
  template <typename Kind>
  void declare_as(void (Parser::*read)(Kind&));
  void unknown_declaration();
  void skip_to_declaration();
  [[nodiscard]] bool declaration_of_another_language() const;

  // data
  void value_declaration(ValueDecl& value);
  void entity_declaration(EntityDecl& entity);
  void members(std::vector<EntityMember>& out, const Opener& block);
  void member(std::vector<EntityMember>& out);
  void field(Field& field);
  void modifiers(Field& field);
  bool foreign_modifier(Field& field);
  bool typed_without_colon(Field& field);
  bool statistic(Statistic& statistic);
  void key_clause(KeyClause& key);
  void ttl_clause(TtlClause& ttl);
  [[nodiscard]] bool at_member() const;
  TypeExpr type(std::string_view after);
  void named_type(TypeExpr& out);
  void foreign_type_end(TypeExpr& out);
  void collection_type(TypeExpr& out, TypeSyntax kind);
  void enumeration(TypeExpr& out);
  void close_angle(Span opening);

  // expressions
  Expr expression();
  Expr operators(unsigned level);
  Expr prefix(unsigned level);
  Expr unary();
  Expr postfix();
  Expr primary();
  Expr name_or_call();
  Expr call();
  Expr parenthesized();
  Expr list();
  Expr braces();
  Expr unknown();
  Expr missing_operand();
  Expr comparison(Expr left, const Infix& infix);
  Expr coalesce(Expr first);
  Expr binary(Expr left, const Infix& infix, Span op_span, Expr right);
  void rest_of_path(Expr& expr);
  void method_call(Expr& expr);
  [[nodiscard]] Infix infix() const;
  Span take_infix(const Infix& infix);
  [[nodiscard]] bool clause_in_operand_position() const;
  [[nodiscard]] bool select_begins(std::size_t n = 0) const;

  // queries
  void parameters(std::vector<ParameterDecl>& out, bool& has_parentheses);
  void parameter(ParameterDecl& out);
  void query_declaration(QueryDecl& query);
  void select(Select& out);
  void columns(Select& out);
  void clause(Select& out, Word word, std::array<Span, 5>& seen);
  void column(SelectColumn& out);
  void clauses(Select& out);
  bool foreign_clause(Select& out);
  Word similar_clause() const;
  void join(Select& out);
  void sources(std::vector<Source>& out, Clauses clauses);
  void source(Source& out, Clauses clauses);
  [[nodiscard]] bool at_clause() const;
  [[nodiscard]] bool ends_columns() const;
  [[nodiscard]] bool source_without_from() const;
  [[nodiscard]] bool at_select() const { return at(Word::Select); }
  [[nodiscard]] bool variable_here(Clauses clauses) const;
  Direction direction();
  Name alias();

  // commands
  void command_declaration(CommandDecl& command);
  void changes(std::vector<Change>& out, const Opener& block);
  void change(Change& out);
  bool unknown_change();
  [[nodiscard]] Word similar_change() const;
  [[nodiscard]] bool at_change() const;
  void insert(Change& out);
  void put(Change& out);
  void update(Change& out);
  void remove_instance(Change& out);
  void add_to(Change& out);
  void remove_from(Change& out);
  void loop(Change& out);
  void bulk(Change& out);
  void expect_word(Word word, std::string_view what);
  void assignments(Change& out);
  void assignment(Assignment& out);

  // mixes
  void group_declaration(GroupDecl& group);
  void mix_declaration(MixDecl& mix);
  void mix_entry(MixEntry& entry);
  [[nodiscard]] bool at_statement() const { return at_name() && !declaration_begins(); }
  [[nodiscard]] bool at_weight() const {
    return at_name() && ahead().kind == TokenKind::Number && ahead(2).kind != TokenKind::Slash;
  }

  // designs
  void design_declaration(DesignDecl& design);
  void collection(CollectionDecl& out);
  void family(FamilyDecl& out, bool with_word = true);
  void family_clauses(FamilyDecl& out);
  void design_columns(std::vector<DesignColumn>& out);
  void design_column(DesignColumn& out);
  void nested(DesignColumn& out);
  void parts(std::vector<DesignPart>& out);
  void part(DesignPart& out);
  void options(TargetOptions& out);
  Name target_name();
  [[nodiscard]] bool at_family() const;
  [[nodiscard]] bool at_collection() const;
  [[nodiscard]] bool at_design_part() const;
  [[nodiscard]] bool at_family_clause() const;

  const SourceFile& source_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  Tree tree_;
  std::vector<std::uint32_t> unclosed_;
  std::vector<TokenKind> skipped_;  // what skip_group is inside of
  std::size_t pos_ = 0;
  std::size_t declaration_at_ = 0;      // where the declaration that is being read begins
  std::size_t declaration_errors_ = 0;  // how many there were before it
  std::size_t walked_ = 0;              // by pair_anew
  std::string_view said_elsewhere_;     // of the unknown declaration before
  std::size_t mistake_at_;              // where the last mistake was said: nothing more is said there
  std::size_t glitch_at_;               // before it lies something that was reported already
  std::uint32_t last_end_ = 0;          // where the token before ended
  std::uint32_t said_ = 0;              // habits, in this declaration
  std::size_t select_at_ = 0;           // where the select that is being read begins
  unsigned depth_ = 0;
  unsigned height_ = 0;      // of the expression just read
  unsigned tallest_ = 0;     // expression in the select that is being read
  bool broken_ = false;      // a mistake was said, and no sound place was found since
  bool in_members_ = false;  // a word followed by `:` begins the next field
  bool too_deep_said_ = false;
  bool ends_early_ = false;  // the bracket that is being read is never closed: what is unexpected ends it
};

}  // namespace noam::language
