#include "noam/cli/report.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/cli/files.h"
#include "noam/cli/program.h"

namespace noam::cli {

namespace {

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

int complain(const std::string& message) {
  fmt::print(stderr, "noam: {}\n", message);
  return exit_wrong_use;
}

int deliver(const std::string& text, int code) {
  const auto written = write_output(text);
  return written ? code : complain(written.error().message);
}

bool color_wanted(int descriptor) { return ::isatty(descriptor) != 0 && std::getenv("NO_COLOR") == nullptr; }

std::string summary(const language::Diagnostics& diagnostics) {
  using language::Severity;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  std::size_t lints = 0;
  for (const language::Diagnostic& diagnostic : diagnostics.all()) {
    errors += diagnostic.severity == Severity::Error ? 1 : 0;
    warnings += diagnostic.severity == Severity::Warning ? 1 : 0;
    lints += diagnostic.severity == Severity::Lint ? 1 : 0;
  }
  std::string out;
  const auto add = [&](std::size_t count, const char* word) {
    if (count > 0) out += (out.empty() ? "" : ", ") + plural(count, word);
  };
  add(errors, "error");
  add(warnings, "warning");
  add(lints, "lint");
  return out;
}

ReadModel read_model(const std::string& path) {
  auto source = read_input(path);
  if (!source) return {{"", ""}, nullptr, complain(source.error().message)};
  Compilation compilation = compile(*source);
  if (compilation.diagnostics.has_errors()) {
    fmt::print(stderr, "{}{}: {}\n", language::render(compilation.diagnostics, *source, {color_wanted(STDERR_FILENO)}),
               source->name(), summary(compilation.diagnostics));
    return {{"", ""}, nullptr, exit_wrong_model};
  }
  return {std::move(*source), std::move(compilation.model), exit_fine};
}

std::string dumped(const Json& value) { return value.dump(2) + "\n"; }

}  // namespace noam::cli
