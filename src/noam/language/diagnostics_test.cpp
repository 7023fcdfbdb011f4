#include "noam/language/diagnostics.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "noam/base/json.h"
#include "noam/language/source.h"

namespace noam::language {
namespace {

Span span_of(const SourceFile& source, std::string_view part, std::size_t from = 0) {
  const auto begin = static_cast<std::uint32_t>(source.text().find(part, from));
  return {begin, begin + static_cast<std::uint32_t>(part.size())};
}

std::string draw(const std::string& text, Span span) {
  const SourceFile source("a.noam", text);
  return render({DiagnosticCode::Syntax, Severity::Error, span, "message", {}, {}}, source);
}

TEST(Diagnostics, AreDrawnWithTheirPlacesLabelsAndHint) {
  const SourceFile source("game.noam", "entity Player { username: text key }\nentity Player { nickname: text }\n");
  Diagnostics diagnostics;
  diagnostics.error(DiagnosticCode::DuplicateEntity, span_of(source, "Player", 37), "`Player` declared twice")
      .label(span_of(source, "Player"), "first declared here")
      .hint("give one of them another name");
  EXPECT_EQ(render(diagnostics, source),
            "error: `Player` declared twice [duplicate-entity]\n"
            "  game.noam:2:8\n"
            "    entity Player { nickname: text }\n"
            "           ^^^^^^\n"
            "  game.noam:1:8\n"
            "    entity Player { username: text key }\n"
            "           ^^^^^^ first declared here\n"
            "  hint: give one of them another name\n");
}

TEST(Diagnostics, HaveTheSeverityOfTheirCode) {
  const SourceFile source("a.noam", "x");
  Diagnostics diagnostics;
  diagnostics.report(DiagnosticCode::LimitWithoutOrder, {0, 1}, "a limit without an order");
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(render(diagnostics, source).substr(0, 6), "lint: ");
  diagnostics.report(DiagnosticCode::Syntax, {0, 1}, "wrong");
  EXPECT_EQ(diagnostics.error_count(), 1U);
}

TEST(Diagnostics, PutTheCaretUnderWhatIsSeenAndNotUnderBytes) {
  EXPECT_EQ(draw("ä = x", {5, 6}), "error: message [syntax]\n  a.noam:1:5\n    ä = x\n        ^\n");
  EXPECT_EQ(draw("東京 x", {7, 8}), "error: message [syntax]\n  a.noam:1:4\n    東京 x\n         ^\n");     // wide
  EXPECT_EQ(draw("e\u0301 x", {4, 5}), "error: message [syntax]\n  a.noam:1:4\n    e\u0301 x\n      ^\n");  // combining
  EXPECT_EQ(draw("東京", {0, 6}), "error: message [syntax]\n  a.noam:1:1\n    東京\n    ^^^^\n");
  EXPECT_EQ(draw("\t\tx", {2, 3}), "error: message [syntax]\n  a.noam:1:3\n      x\n      ^\n");
}

TEST(Diagnostics, DrawACaretWhereSomethingIsMissing) {
  EXPECT_EQ(draw("a\nb", {1, 1}), "error: message [syntax]\n  a.noam:1:2\n    a\n     ^\n");
  EXPECT_EQ(draw("", {0, 0}), "error: message [syntax]\n  a.noam:1:1\n    \n    ^\n");
  EXPECT_EQ(draw("a\n", {2, 2}), "error: message [syntax]\n  a.noam:2:1\n    \n    ^\n");
  EXPECT_EQ(draw("ab", {70, 90}),
            "error: message [syntax]\n  a.noam:1:3\n    ab\n      ^\n");  // past the end is the end
}

TEST(Diagnostics, UnderlineOnlyTheFirstOfSeveralLines) {
  EXPECT_EQ(draw("let it\r\nbe\n", {4, 10}), "error: message [syntax]\n  a.noam:1:5\n    let it\n        ^^\n");
}

TEST(Diagnostics, ShowWhatWouldDisturbTheTerminalAsAPicture) {
  EXPECT_EQ(draw(std::string("a\0\x1b[31m\xff\u202Eb", 12), {11, 12}),
            "error: message [syntax]\n  a.noam:1:10\n    a␀␛[31m\uFFFD\uFFFDb\n             ^\n");
  const SourceFile source("a\nb.noam", "x");
  Diagnostics diagnostics;
  diagnostics.error(DiagnosticCode::Syntax, {0, 1}, "a\x1b[0m").label({0, 1}, "\n").hint("\r");
  EXPECT_EQ(render(diagnostics, source),
            "error: a␛[0m [syntax]\n  a␊b.noam:1:1\n    x\n    ^\n  a␊b.noam:1:1\n    x\n    ^ ␊\n  hint: ␍\n");
}

TEST(Diagnostics, CutLongLinesAroundTheSpan) {
  std::string text(5000, 'a');
  text.replace(2500, 3, "bcd");
  const std::string drawn = draw(text, {2500, 2503});
  const std::string line = "    …" + std::string(60, 'a') + "bcd" + std::string(96, 'a') + "…\n";
  EXPECT_EQ(drawn, "error: message [syntax]\n  a.noam:1:2501\n" + line + std::string(65, ' ') + "^^^\n");

  const std::string begin = draw(text, {0, 1});
  EXPECT_NE(begin.find("    " + std::string(160, 'a') + "…\n    ^\n"), std::string::npos);
  const std::string end = draw(text, {4999, 5000});
  EXPECT_NE(end.find("    …" + std::string(61, 'a') + "\n" + std::string(65, ' ') + "^\n"), std::string::npos);
  const std::string all = draw(text, {0, 5000});
  EXPECT_NE(all.find("\n    " + std::string(160, '^') + "\n"), std::string::npos);
  EXPECT_NE(draw(std::string(160, 'a'), {0, 1}).find("    " + std::string(160, 'a') + "\n"), std::string::npos);
}

TEST(Diagnostics, AreColoredOnlyWhenAsked) {
  const SourceFile source("a.noam", "x");
  Diagnostics diagnostics;
  diagnostics.error(DiagnosticCode::Syntax, {0, 1}, "wrong");
  EXPECT_EQ(render(diagnostics, source).find('\x1b'), std::string::npos);
  EXPECT_EQ(render(diagnostics, source, {.color = true}).substr(0, 12), "\x1b[1;31merror");
}

TEST(Diagnostics, AreSortedByPlaceAndSaidOnce) {
  Diagnostics diagnostics;
  diagnostics.error(DiagnosticCode::Syntax, {9, 10}, "later");
  diagnostics.error(DiagnosticCode::Syntax, {1, 2}, "earlier");
  diagnostics.error(DiagnosticCode::Syntax, {9, 10}, "later");
  diagnostics.sort();
  ASSERT_EQ(diagnostics.all().size(), 2U);
  EXPECT_EQ(diagnostics.all()[0].message, "earlier");
  EXPECT_EQ(diagnostics.error_count(), 2U);
}

TEST(Diagnostics, CanBeAllowedUnlessTheyAreErrors) {
  Diagnostics diagnostics;
  diagnostics.report(DiagnosticCode::LimitWithoutOrder, {5, 10}, "here");
  diagnostics.report(DiagnosticCode::LimitWithoutOrder, {50, 60}, "there");
  diagnostics.report(DiagnosticCode::UnusedValue, {5, 10}, "another");
  diagnostics.report(DiagnosticCode::Syntax, {5, 10}, "wrong");
  diagnostics.allow(DiagnosticCode::LimitWithoutOrder, {0, 20});
  diagnostics.allow(DiagnosticCode::Syntax, {0, 20});
  ASSERT_EQ(diagnostics.all().size(), 3U);
  EXPECT_EQ(diagnostics.all()[0].message, "there");
}

TEST(Diagnostics, StopAtAThousandErrorsAndSaySo) {
  const SourceFile source("a.noam", "x");
  Diagnostics diagnostics;
  for (int i = 0; i < 1500; ++i) diagnostics.report(DiagnosticCode::UnusedValue, {0, 1}, "a lint");
  for (int i = 0; i < 1000; ++i) diagnostics.error(DiagnosticCode::Syntax, {0, 1}, "wrong");
  EXPECT_FALSE(diagnostics.stopped());
  EXPECT_EQ(diagnostics.all().size(), 2000U);
  diagnostics.error(DiagnosticCode::Syntax, {0, 1}, "one more").label({0, 1}, "nowhere").hint("none");
  EXPECT_TRUE(diagnostics.stopped());
  EXPECT_EQ(diagnostics.error_count(), 1000U);
  EXPECT_EQ(diagnostics.all().back().message, "wrong");
  const std::string text = render(diagnostics, source);
  EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1),
            "there are more than 1000 errors; the rest is not shown\n");
}

TEST(Diagnostics, AreAnArrayInJson) {
  const SourceFile source("ö.noam", "ä\nentity \xff");
  Diagnostics diagnostics;
  diagnostics.error(DiagnosticCode::Syntax, {3, 9}, "found `\xff`").label({0, 2}, "here").hint("none");
  const auto all = Json::parse(render_json(diagnostics, source));
  ASSERT_EQ(all.size(), 1U);
  const auto expected = Json::parse(R"({
    "code": "syntax", "severity": "error", "message": "found `�`", "file": "ö.noam",
    "span": {"begin": 3, "end": 9, "start": {"line": 2, "column": 1}, "stop": {"line": 2, "column": 7}},
    "labels": [{"span": {"begin": 0, "end": 2, "start": {"line": 1, "column": 1}, "stop": {"line": 1, "column": 2}}, "text": "here"}],
    "hint": "none"})");
  EXPECT_EQ(all[0], expected);
  EXPECT_EQ(Json::parse(render_json({}, source)), Json::array());
}

}  // namespace
}  // namespace noam::language
