#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/base/json_text.h"
#include "noam/cli/sample.h"
#include "noam/design/draw.h"
#include "noam/targets/target.h"
#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"

// Random data of random models under random designs: every target writes it, and it can be drawn.
namespace noam::tests::property {

namespace {

// A text that a file may hold, if any: UTF-8, ended, and without bytes that nobody sees.
std::optional<std::string> wrong_text(const std::string& name, const std::string& text) {
  if (!text.empty() && text.back() != '\n') return name + " does not end in a line break";
  for (const char c : text)
    if (c >= 0 && c < ' ' && c != '\n' && c != '\t') return fmt::format("{} has the byte {:#x}", name, c);
  if (!Json(text).try_dump()) return name + " is not UTF-8";
  return std::nullopt;
}

bool ends_in(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::optional<std::string> wrong_file(const targets::File& file) {
  if (ends_in(file.path, ".json") && !is_json(file.text)) return file.path + " is no JSON";
  if (ends_in(file.path, ".jsonl")) {
    for (std::size_t at = 0; at < file.text.size();) {
      const std::size_t end = file.text.find('\n', at);
      const std::string line = file.text.substr(at, end - at);
      if (!is_json(line)) return file.path + ": no JSON: " + line;
      at = end + 1;
    }
  }
  return wrong_text(file.path, file.text);
}

std::optional<std::string> write_all(SessionEngine& engine) {
  const design::Program& program = engine.session().program();
  const auto sample = cli::sample_of(engine.store(), program);
  if (!sample)  // a sum that no other database has a type for
    return sample.error().message.find("which is no int") != std::string::npos ? std::nullopt
                                                                               : std::optional(sample.error().message);
  const targets::Outline outline = targets::outline(program);
  for (const targets::Target& target : targets::all_targets()) {
    for (const design::Sample* data : {static_cast<const design::Sample*>(nullptr), &*sample})
      for (const targets::File& file : target.generate(outline, data).files)
        if (const auto wrong = wrong_file(file)) return fmt::format("{}: {}", target.name, *wrong);
    for (const targets::ListedStatement& statement : target.statements(outline))
      for (const targets::ListedStep& step : statement.steps)
        for (const targets::Native& native : step.requests)
          if (native.text.empty() && native.why_not.empty())
            return fmt::format("{}: {}: nothing for {}", target.name, statement.heading, step.text);
    for (const targets::Warning& warning : targets::check_design(target, outline))
      if (warning.message.empty() || warning.remedy.empty()) return fmt::format("{}: {}", target.name, warning.code);
  }
  for (const std::string& picture :
       {design::draw_blocks_text(program, &*sample), design::draw_blocks_svg(program, &*sample),
        design::draw_tables_text(program), design::draw_tables_svg(program)})
    if (const auto wrong = wrong_text("a picture", picture)) return wrong;
  return std::nullopt;
}

}  // namespace

TEST(Property, EveryTargetWritesWhateverThereIs) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t usual_cases = 12;
#else
  constexpr std::uint64_t usual_cases = 60;
#endif
  Suite suite = suite_from_environment(usual_cases);
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr) suite.first_seed = 200'000;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  Engines engines;
  engines.tested = [](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    return std::make_unique<SessionEngine>(model, design);
  };
  engines.reference = [](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<reference::Reference>(model);
  };
  engines.verify = [](Engine& tested) { return write_all(dynamic_cast<SessionEngine&>(tested)); };
  DriverOptions options;
  options.isolated = true;
  options.seconds = 120;
  const SuiteReport report = run_suite(suite, engines, options);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

}  // namespace noam::tests::property
