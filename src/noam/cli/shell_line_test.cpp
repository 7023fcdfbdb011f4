#include "noam/cli/shell_line.h"

#include <gtest/gtest.h>

#include "noam/compile/compile.h"

namespace noam::cli {
namespace {

using Texts = std::vector<std::string>;

model::Model parsed(const char* text) {
  const language::SourceFile source("shop.noam", text);
  const auto model = compile_model(source);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return **model;
}

const model::Model& shop() {
  static const model::Model model = parsed(R"(
model shop
entity Order { id: int key  status: "open" | "paid" | "on its way"  gift: bool  note: text?  tags: list<text> }
query orders($status, $gift) { select o.id from Order o where o.status = $status and o.gift = $gift }
query order($id) { select o from Order o where o.id = $id }
query first refresh every 1 hour { select o.id from Order o order by o.id limit 10 }
command place($id, $status, $gift, $note) { insert Order { id: $id, status: $status, gift: $gift, note: $note } }
)");
  return model;
}

// `name: argument=text …`, or the error.
std::string read(std::string_view line) {
  const auto statement = read_statement(line);
  if (!statement) return "error: " + statement.error().message;
  std::string out = statement->name + ":";
  for (const TypedArgument& argument : statement->arguments) out += " " + argument.name + "=<" + argument.text + ">";
  return out;
}

TEST(ShellLine, IsAStatementAndItsArguments) {
  EXPECT_EQ(read("newest"), "newest:");
  EXPECT_EQ(read("  newest   username=ann\tlimit=5  "), "newest: username=<ann> limit=<5>");
  EXPECT_EQ(read("post content="), "post: content=<>");
  EXPECT_EQ(read("post content=a=b"), "post: content=<a=b>");
  EXPECT_EQ(read(R"(post content=say"what)"), R"(post: content=<say"what>)");
  EXPECT_EQ(read(R"(post path=C:\new)"), R"(post: path=<C:\new>)");
}

TEST(ShellLine, HasTextsInQuotes) {
  EXPECT_EQ(read(R"(post content="two words" id=1)"), "post: content=<two words> id=<1>");
  EXPECT_EQ(read(R"(post content="")"), "post: content=<>");
  EXPECT_EQ(read(R"(post content="a \"b\" \\ \u{1F600}")"), "post: content=<a \"b\" \\ \U0001F600>");
  EXPECT_EQ(read(R"(post content="a\nb\tc")"), "post: content=<a\nb\tc>");
  EXPECT_EQ(read_statement(R"(post content="a b")")->arguments[0].raw, R"("a b")");
}

TEST(ShellLine, HasTextsInSingleQuotesWithoutEscapes) {
  EXPECT_EQ(read(R"(post content='it is "so"' id=1)"), R"(post: content=<it is "so"> id=<1>)");
  EXPECT_EQ(read(R"(post content='a\nb\' id=1)"), R"(post: content=<a\nb\> id=<1>)");
  EXPECT_EQ(read("post content=''"), "post: content=<>");
  EXPECT_EQ(read(R"(post tags='["a", "b"]')"), R"(post: tags=<["a", "b"]>)");
  EXPECT_EQ(read(R"(post 'content=two words' 'tags=["a", "b"]' id=1)"),
            R"(post: content=<two words> tags=<["a", "b"]> id=<1>)");
  // Inside a word and inside JSON it is a letter.
  EXPECT_EQ(read("post content=it's"), "post: content=<it's>");
  EXPECT_EQ(read(R"(post tags=["it's", "a b"])"), R"(post: tags=<["it's", "a b"]>)");
  EXPECT_EQ(read_statement("post note='\"x\"'")->arguments[0].raw, "\"x\"");
  EXPECT_EQ(read("post content='two words"),
            "error: content: `'` is not closed; put a text that starts with it in double quotes");
  EXPECT_EQ(read("post 'content=two words"), "error: `'` is not closed");
  EXPECT_EQ(read("post 'two words' id=1"), "error: `two words` is not `name=value`");
  EXPECT_EQ(read("post content='a'b"), "error: content: missing blank before `b`");
  EXPECT_EQ(read("post 'content=a'b"), "error: missing blank before `b`");
}

TEST(ShellLine, HasJsonInBrackets) {
  EXPECT_EQ(read(R"(post tags=["a", "b ]"] id=1)"), R"(post: tags=<["a", "b ]"]> id=<1>)");
  EXPECT_EQ(read(R"(play round={"moves": [1, {"x": "}"}]} id=1)"),
            R"(play: round=<{"moves": [1, {"x": "}"}]}> id=<1>)");
}

TEST(ShellLine, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(read("post content"), "error: `content` is not `name=value`");
  EXPECT_EQ(read("post two words=1"), "error: `two` is not `name=value`");
  EXPECT_EQ(read(R"(post content="two words)"), "error: content: `\"` is not closed");
  EXPECT_EQ(read(R"(post content="two \")"), "error: content: `\"` is not closed");
  EXPECT_EQ(read("post tags=[1, 2"), "error: tags: `[` is not closed; put a text that starts with it in double quotes");
  EXPECT_EQ(read(R"(post tags=["a)"),
            "error: tags: `[` is not closed; put a text that starts with it in double quotes");
  EXPECT_EQ(read(R"(post content="a"b id=1)"), "error: content: missing blank before `b`");
  EXPECT_EQ(read(R"(post content="\x")"),
            R"(error: invalid escape sequence `\x`; use `\"`, `\\`, `\n`, `\t` or `\u{1F600}`)");
  for (const char* wrong : {R"(post content="\u")", R"(post content="\u{}")", R"(post content="\u{0}")",
                            R"(post content="\u{D800}")", R"(post content="\u{110000}")", R"(post content="\u{12")"})
    EXPECT_EQ(read(wrong), R"(error: invalid escape sequence; a character is written `\u{1F600}`)") << wrong;
}

TEST(ShellLine, MayBeADotCommand) {
  EXPECT_EQ(read_dot_command(".quit"), (DotCommand{".quit", ""}));
  EXPECT_EQ(read_dot_command("  .read  my file.txt  "), (DotCommand{".read", "my file.txt"}));
}

TEST(ShellCompletion, BeginsWithStatements) {
  EXPECT_EQ(complete(shop(), ""), (Completion{0, {"first", "order", "orders", "place"}}));
  EXPECT_EQ(complete(shop(), "  or"), (Completion{2, {"order", "orders"}}));
  EXPECT_EQ(complete(shop(), "pl"), (Completion{0, {"place "}}));
  EXPECT_EQ(complete(shop(), "x"), (Completion{0, {}}));
}

TEST(ShellCompletion, GoesOnWithParametersThatAreNotGiven) {
  EXPECT_EQ(complete(shop(), "place "), (Completion{6, {"id=", "status=", "gift=", "note="}}));
  EXPECT_EQ(complete(shop(), "place status=open g"), (Completion{18, {"gift="}}));
  EXPECT_EQ(complete(shop(), R"(place note="a id= b" )").candidates, (Texts{"id=", "status=", "gift="}));
  EXPECT_EQ(complete(shop(), R"(place note='a id= "' )").candidates, (Texts{"id=", "status=", "gift="}));
  EXPECT_EQ(complete(shop(), "place id=1 id").candidates, Texts{});
  EXPECT_EQ(complete(shop(), "plaice ").candidates, Texts{});
}

TEST(ShellCompletion, KnowsValuesOfEnumerationsAndBools) {
  EXPECT_EQ(complete(shop(), "orders status="), (Completion{14, {"open", "paid", R"("on its way")"}}));
  EXPECT_EQ(complete(shop(), "orders status=o"), (Completion{14, {"open "}}));
  EXPECT_EQ(complete(shop(), R"(orders status="o)"), (Completion{14, {R"("open")", R"("on its way")"}}));
  EXPECT_EQ(complete(shop(), "orders gift=").candidates, (Texts{"false", "true"}));
  EXPECT_EQ(complete(shop(), "orders gift=t").candidates, (Texts{"true "}));
  EXPECT_EQ(complete(shop(), "place note=").candidates, Texts{});
  EXPECT_EQ(complete(shop(), R"(place note="two w)").candidates, Texts{});
  EXPECT_EQ(complete(shop(), "place nothing=t").candidates, Texts{});
}

TEST(ShellCompletion, KnowsDotCommands) {
  EXPECT_EQ(complete(shop(), ".s").candidates, (Texts{".show", ".statements", ".sweep"}));
  EXPECT_EQ(complete(shop(), ".st").candidates, Texts{".statements "});
  EXPECT_EQ(complete(shop(), ".timing o"), (Completion{8, {"off", "on"}}));
  EXPECT_EQ(complete(shop(), ".explain or"), (Completion{9, {"order", "orders"}}));
  EXPECT_EQ(complete(shop(), ".refresh ").candidates, Texts{"first"});
  EXPECT_EQ(complete(shop(), ".quit ").candidates, Texts{});
  EXPECT_EQ(complete(shop(), R"({"run": "or)").candidates, Texts{});
}

TEST(ShellCompletion, PutsInWhatAllCandidatesShare) {
  EXPECT_EQ(common_prefix({"order", "orders"}), "order");
  EXPECT_EQ(common_prefix({"a", "b"}), "");
  EXPECT_EQ(common_prefix({}), "");
  // Two letters whose first byte is the same.
  EXPECT_EQ(common_prefix({"x\u00E4", "x\u00F6"}), "x");
  EXPECT_EQ(common_prefix({"x\u00E4", "x\u00E4b"}), "x\u00E4");
}

}  // namespace
}  // namespace noam::cli
