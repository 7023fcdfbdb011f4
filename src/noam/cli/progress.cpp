#include "noam/cli/progress.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace noam::cli {

namespace {

constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "{}", clear_line);
  shown_ = false;
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "{}{}", clear_line, text);
  std::fflush(stderr);
  shown_ = true;
}

runtime::Progress ProgressLine::steps(std::string doing) {
  return [this, doing = std::move(doing)](const std::string& what, std::size_t done, std::size_t all) {
    show(fmt::format("{}: {} ({} of {})", doing, what, done + 1, all));
  };
}

}  // namespace noam::cli
