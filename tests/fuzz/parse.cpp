// Whatever the bytes, parsing ends and every diagnostic can be drawn. What parses without errors can be printed, and
// the print means the same and prints as itself.
#include <cstddef>
#include <cstdint>
#include <string>

#include "noam/base/check.h"
#include "noam/language/diagnostics.h"
#include "noam/language/parser.h"
#include "noam/language/printer.h"
#include "noam/language/source.h"

namespace {

using noam::check;
using noam::language::Diagnostics;
using noam::language::dump;
using noam::language::parse;
using noam::language::print;
using noam::language::render;
using noam::language::render_json;
using noam::language::SourceFile;
using noam::language::Tree;

void check_spans(const Diagnostics& diagnostics, const SourceFile& source) {
  const auto inside = [&](noam::Span span) { return span.begin <= span.end && span.end <= source.text().size(); };
  for (const auto& diagnostic : diagnostics.all()) {
    check(inside(diagnostic.span), "a diagnostic lies in the text");
    for (const auto& label : diagnostic.labels) check(inside(label.span), "a label lies in the text");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SourceFile source("fuzz.noam", std::string(reinterpret_cast<const char*>(data), size));
  Diagnostics diagnostics;
  const Tree tree = parse(source, diagnostics);
  check_spans(diagnostics, source);
  diagnostics.sort();
  render(diagnostics, source);
  render_json(diagnostics, source);
  const std::string meaning = dump(tree);
  if (diagnostics.has_errors()) return 0;

  const SourceFile printed("printed.noam", print(tree, source));
  Diagnostics none;
  const Tree again = parse(printed, none);
  check(!none.has_errors(), "what is printed parses");
  check(dump(again) == meaning, "what is printed means the same");
  check(print(again, printed) == printed.text(), "printing twice changes nothing");
  return 0;
}
