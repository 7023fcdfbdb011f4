// Fuzzing of the whole way from a text to a checked model: whatever the bytes, it ends, every diagnostic can be drawn,
// and a model without errors can be shown. Besides libFuzzer's own changes of bytes, texts are changed token by token,
// which keeps most of an example legal and so gets behind the parser.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "noam/compile/compile.h"
#include "noam/language/lexer.h"
#include "noam/model/diagram.h"
#include "noam/model/show.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// One change: a token or a short run of them is dropped, doubled, moved, or replaced by another of the text.
std::string change_tokens(const std::string& text, std::mt19937& random) {
  const noam::language::SourceFile source("fuzz", text);
  noam::language::Diagnostics ignored;
  const noam::language::Tokens lexed = noam::language::lex(source, ignored);
  if (lexed.tokens.size() < 3) return text;
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  const std::size_t count = lexed.tokens.size() - 1;
  const std::size_t from = pick(count);
  const std::size_t length = 1 + pick(std::min<std::size_t>(6, count - from));
  const std::size_t begin = lexed.tokens[from].span.begin;
  const std::size_t end = lexed.tokens[from + length - 1].span.end;
  const std::string run = text.substr(begin, end - begin);
  const std::size_t other = pick(count);
  const std::size_t other_begin = lexed.tokens[other].span.begin;
  const std::size_t other_end = lexed.tokens[other].span.end;
  std::string out = text;
  switch (pick(4)) {
    case 0:
      return out.erase(begin, end - begin);
    case 1:
      return out.insert(end, " " + run + " ");
    case 2:
      return out.replace(other_begin, other_end - other_begin, " " + run + " ");
    default:
      return out.replace(begin, end - begin, " " + text.substr(other_begin, other_end - other_begin) + " ");
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned i = 0; i <= random() % 3; ++i) text = change_tokens(text, random);
  const std::size_t length = std::min(text.size(), max_size);
  std::copy_n(text.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const noam::language::SourceFile source("fuzz.noam", std::string(reinterpret_cast<const char*>(data), size));
  const noam::Compilation compilation = noam::compile(source);
  const std::string text = noam::language::render(compilation.diagnostics, source);
  const std::string json = noam::language::render_json(compilation.diagnostics, source);
  if (!compilation.diagnostics.empty() && (text.empty() || json.size() < 4)) std::abort();
  if (compilation.diagnostics.has_errors()) return 0;
  if (noam::model::show_text(*compilation.model).empty() || noam::model::show_json(*compilation.model).empty())
    std::abort();
  if (noam::model::mermaid(*compilation.model).empty() || noam::model::dot(*compilation.model).empty()) std::abort();
  return 0;
}
