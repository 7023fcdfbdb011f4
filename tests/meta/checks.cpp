#include "tests/meta/checks.h"

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/compile/compile.h"
#include "tests/compiled.h"
#include "tests/concurrency/interleaving.h"
#include "tests/damage.h"
#include "tests/kept_list.h"
#include "tests/meta/embedded.h"
#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/scenario.h"
#include "tests/session_engine.h"
#include "tests/support.h"

namespace noam::tests::meta {

namespace {

constexpr std::uint64_t seeds = 300;
constexpr unsigned most_seconds = 20;  // of one check

struct CompiledScenario {
  std::string name;
  Scenario scenario;
  ModelPointer model;
};

std::vector<std::shared_ptr<const CompiledScenario>> scenarios() {
  std::vector<std::shared_ptr<const CompiledScenario>> out;
  for (const auto& path : files_below("tests/scenarios", ".scenario")) {
    ParsedScenario parsed = parse_scenario(read_file(path));
    ModelPointer model = model_of_file(parsed.scenario.model);
    out.push_back(std::make_shared<CompiledScenario>(
        CompiledScenario{path.stem().string(), std::move(parsed.scenario), std::move(model)}));
  }
  return out;
}

std::optional<std::string> run_under(const CompiledScenario& one, const std::string& design, bool damaged) {
  SessionEngine engine(*one.model, design);
  if (!engine.problem().empty()) return engine.problem();
  const auto failures = run_scenario(one.scenario, engine);
  if (damaged) return unseen_damage(engine);
  if (!failures.empty()) return to_string(one.name, failures.front());
  return engine.verify();
}

property::Engines engines() {
  property::Engines out;
  out.tested = [](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    return std::make_unique<SessionEngine>(model, design);
  };
  out.reference = [](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<reference::Reference>(model);
  };
  out.verify = [](Engine& tested) { return dynamic_cast<SessionEngine&>(tested).verify(); };
  return out;
}

std::optional<std::string> run_random(std::uint64_t seed) {
  const property::Run run = property::run(property::generate(seed), engines());
  if (!run.difference) return std::nullopt;
  return fmt::format("{}\ntested: {}\nreference: {}", *run.difference, run.tested, run.reference);
}

}  // namespace

std::vector<Check> all_checks() {
  std::vector<Check> out;
  const auto all_scenarios = scenarios();
  for (const auto& one : all_scenarios)
    for (const std::string& design : strategies_of(*one->model))
      out.push_back({fmt::format("scenario {} under {}", one->name, design),
                     [one, design] { return run_under(*one, design, false); }});
  const auto model = concurrency::interleaved_model();
  for (const concurrency::Interleaving& one : concurrency::interleavings())
    for (const std::string& design : strategies_of(*model))
      out.push_back({fmt::format("interleaving \"{}\" under {}", one.name, design),
                     [model, &one, design] { return concurrency::disorder(model, one, design); }});
  out.push_back({"lists that are kept", wrong_list});
  out.push_back({"a copy that is broken", use_of_broken_copy});
  for (const Check& one : embedded_checks()) out.push_back(one);
  for (const auto& one : all_scenarios)
    for (const std::string& design : strategies_of(*one->model))
      out.push_back({fmt::format("damage after scenario {} under {}", one->name, design),
                     [one, design] { return run_under(*one, design, true); }});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    out.push_back({fmt::format("random case {}", seed), [seed] { return run_random(seed); }});
  return out;
}

std::optional<std::string> run_isolated(const Check& check) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return check.run();
  std::cout.flush();
  std::cerr.flush();
  const pid_t child = fork();
  if (child == 0) {
    alarm(most_seconds);
    const auto wrong = check.run();
    // More than this a pipe may not take at once, and nobody reads.
    const std::string told = wrong ? "!" + wrong->substr(0, 2000) : "";
    _exit(write(ends[1], told.data(), told.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string told;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
    told.append(buffer.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("no end after {} seconds", most_seconds);
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with status {}", WEXITSTATUS(status));
  if (told.empty()) return std::nullopt;
  return told.substr(1);
}

}  // namespace noam::tests::meta
