#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "noam/base/span.h"
#include "noam/language/codes.h"

namespace noam::language {

class SourceFile;

// Another place that explains a diagnostic, or what to do about it there.
struct Label {
  Span span;
  std::string text;

  bool operator==(const Label&) const = default;
};

struct Diagnostic {
  DiagnosticCode code{};
  Severity severity = Severity::Error;
  Span span;
  std::string message;        // lower case, no full stop: what was seen
  std::vector<Label> labels;  // the other places
  std::string hint;           // what to do, where we know it; may be empty

  bool operator==(const Diagnostic&) const = default;
};

// Collects what is wrong while the work goes on. Its order is that of the calls; `sort` puts it in the order of the
// text.
class Diagnostics {
 public:
  // So many errors are collected, and as many of the milder ones; nobody reads more.
  static constexpr std::size_t most = 1000;

  // Adds to the diagnostic just made: `diagnostics.error(…).label(…).hint(…)`.
  class Builder {
   public:
    Builder(Diagnostics& all, std::size_t index) : all_(&all), index_(index) {}
    Builder& label(Span span, std::string text);
    Builder& hint(std::string text);

   private:
    Diagnostics* all_;
    std::size_t index_;
  };

  // The severity is the one of the code (codes.h).
  Builder report(DiagnosticCode code, Span span, std::string message);
  // The same as report; reads better where the code is an error.
  Builder error(DiagnosticCode code, Span span, std::string message) { return report(code, span, std::move(message)); }

  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  // There were more errors than are collected; whoever looks for them may stop.
  [[nodiscard]] bool stopped() const { return stopped_; }

  // By place, then code; exact repeats are dropped.
  void sort();
  // Drops lints and warnings of one code that touch the given stretch of the text: `// allow: code`.
  void allow(DiagnosticCode code, Span where);

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
  bool stopped_ = false;
};

struct RenderOptions {
  bool color = false;
};

// For people: code, place, the line with carets under it, the other places, the hint.
std::string render(const Diagnostic& diagnostic, const SourceFile& source, const RenderOptions& options = {});
std::string render(const Diagnostics& diagnostics, const SourceFile& source, const RenderOptions& options = {});

// For programs: an array with byte offsets, lines and columns. docs/json.md describes it.
std::string render_json(const Diagnostics& diagnostics, const SourceFile& source);

}  // namespace noam::language
