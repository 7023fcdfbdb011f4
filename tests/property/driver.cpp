#include "tests/property/driver.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noam/compile/compile.h"
#include "noam/language/source.h"
#include "tests/property/compare.h"

namespace noam::tests::property {

namespace {

constexpr std::size_t most_pages = 4;

// A UUIDv7 with this time; the number tells ids apart.
std::string command_id(std::int64_t milliseconds, std::uint64_t number) {
  const auto time = static_cast<std::uint64_t>(milliseconds);
  return fmt::format("{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}", time >> 16U, time & 0xffffU, (number * 37) & 0xfffU,
                     (number * 11) & 0xfffU, number);
}

// The same on every machine.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

// The entities whose keys the command makes, in the order of its inserts; nothing where a loop mixes several.
std::vector<std::uint32_t> made_by(const model::Model& model, const model::Command& command) {
  std::vector<std::uint32_t> out;
  bool loops = false;
  const std::function<void(const std::vector<model::Change>&, bool)> walk =
      [&](const std::vector<model::Change>& changes, bool inside) {
        for (const model::Change& change : changes) {
          if (change.kind == model::ChangeKind::Insert) {
            const model::Entity& entity = model.entity(change.entity);
            const bool made = std::any_of(entity.key.begin(), entity.key.end(),
                                          [&](std::uint32_t part) { return entity.fields[part].automatic; });
            if (made) out.push_back(static_cast<std::uint32_t>(change.entity));
            loops = loops || (made && inside);
          }
          walk(change.body, true);
        }
      };
  walk(command.changes, false);
  if (loops && std::any_of(out.begin(), out.end(), [&](std::uint32_t one) { return one != out.front(); })) out.clear();
  return out;
}

class Runner {
 public:
  Runner(const Case& one, const model::Model& model, const Engines& engines)
      : one_(one),
        model_(model),
        engines_(engines),
        tested_(engines.tested(model, one.design)),
        reference_(engines.reference(model, one.design)) {}

  Run run() {
    if (!tested_) {
      out_.not_taken = true;
      return std::move(out_);
    }
    move_clock(0);
    for (const Step& step : one_.steps) {
      do_step(step);
      if (out_.difference) return std::move(out_);
    }
    if (engines_.verify) {
      out_.difference = engines_.verify(*tested_);
      if (out_.difference) out_.lines.emplace_back("// verify");
    }
    return std::move(out_);
  }

 private:
  struct Pages {
    Json params;
    std::string tested;
    std::string reference;
  };

  void move_clock(std::int64_t milliseconds) {
    clock_ += milliseconds;
    tested_->set_time(clock_);
    reference_->set_time(clock_);
  }

  void do_step(const Step& step) {
    switch (step.kind) {
      case StepKind::Time:
        move_clock(step.milliseconds);
        out_.lines.push_back(fmt::format("// clock {}", clock_));
        return;
      case StepKind::Expire:
        out_.lines.emplace_back("// expire");
        tested_->expire();
        reference_->expire();
        return;
      case StepKind::Refresh:
        move_clock(std::max<std::int64_t>(step.milliseconds, 1));  // refreshes are told apart by their time
        out_.lines.push_back(fmt::format("// clock {}", clock_));
        out_.lines.push_back(fmt::format("// refresh {}", step.name));
        tested_->refresh(step.name);
        reference_->refresh(step.name);
        return;
      case StepKind::Continue: {
        const auto found = pages_.find(step.name);
        if (found != pages_.end()) next_page(step.name, found->second);
        return;
      }
      case StepKind::Run:
        break;
    }
    Json request;
    request["run"] = step.name;
    request["params"] = step.params;
    resolve(request["params"]);
    if (step.id == 0) {
      ask(step, request);
      return;
    }
    if (step.milliseconds > 0) {
      move_clock(step.milliseconds);
      out_.lines.push_back(fmt::format("// clock {}", clock_));
    }
    const auto [id, fresh] = ids_.emplace(step.id, command_id(clock_, step.id));
    request["id"] = id->second;
    const Json answer = compared(request, request);
    if (out_.difference) return;
    ++out_.statistics.commands;
    if (answer.contains("code")) ++out_.statistics.refused[answer["code"].get<std::string>()];
    if (fresh && answer.contains("keys")) learn(step.name, answer["keys"]);
  }

  // A query, with the pages after the first: at once, or later by a step of its own.
  void ask(const Step& step, const Json& request) {
    Pages pages;
    pages.params = request["params"];
    pages_.erase(step.name);
    if (!page(request, request, pages)) return;
    const bool at_once = hash_of(step.name + pages.params.dump()) % 2 == 0;
    for (std::size_t i = 0; at_once && i < most_pages && !pages.tested.empty(); ++i)
      if (!next_page(step.name, pages)) return;
    if (!pages.tested.empty()) pages_[step.name] = pages;
  }

  bool next_page(const std::string& name, Pages& pages) {
    Json request;
    request["run"] = name;
    request["params"] = pages.params;
    Json other = request;
    request["cursor"] = pages.tested;
    other["cursor"] = pages.reference;
    ++out_.statistics.pages;
    const bool good = page(request, other, pages);
    if (pages.tested.empty()) pages_.erase(name);
    return good;
  }

  bool page(const Json& request, const Json& other, Pages& pages) {
    const Json answer = compared(request, other);
    if (out_.difference) return false;
    ++out_.statistics.queries;
    if (answer.contains("error")) ++out_.statistics.errors;
    if (answer.contains("rows") && !answer["rows"].empty()) ++out_.statistics.with_rows;
    pages.tested = answer.contains("cursor") ? answer["cursor"].get<std::string>() : std::string();
    pages.reference = last_.contains("cursor") ? last_["cursor"].get<std::string>() : std::string();
    return true;
  }

  // The answer of the tested engine; `last_` has the other.
  Json compared(const Json& request, const Json& other) {
    out_.lines.push_back(request.dump());
    Json first = tested_->answer(request);
    last_ = reference_->answer(other);
    out_.difference = difference(model_, request, first, last_);
    if (out_.difference) {
      out_.tested = first.dump();
      out_.reference = last_.dump();
    }
    return first;
  }

  void learn(const std::string& name, const Json& keys) {
    const auto command = std::find_if(model_.commands.begin(), model_.commands.end(),
                                      [&](const model::Command& known) { return known.name == name; });
    if (command == model_.commands.end() || !keys.is_array()) return;
    const std::vector<std::uint32_t> entities = made_by(model_, *command);
    if (entities.empty()) return;
    const bool all_one =
        std::all_of(entities.begin(), entities.end(), [&](std::uint32_t one) { return one == entities[0]; });
    if (!all_one && entities.size() != keys.size()) return;
    for (std::size_t i = 0; i < keys.size(); ++i)
      known_[model_.entities[all_one ? entities[0] : entities[i]].name].push_back(keys[i]);
  }

  // Puts keys that noam made in the place of {"$known": "E1", "n": 2}.
  void resolve(Json& json) {
    if (json.is_object() && json.contains("$known")) {
      const std::string entity = json["$known"].get<std::string>();
      const std::vector<Json>& keys = known_[entity];
      if (!keys.empty()) {
        json = keys[json["n"].get<std::size_t>() % keys.size()];
        return;
      }
      json = "00000000-0000-4000-8000-000000000001";
      for (const model::Entity& one : model_.entities)
        if (one.name == entity && one.fields[one.key[0]].type.kind == model::TypeKind::TimeUuid)
          json = "00000001-0001-11f0-8000-000000000001";
      return;
    }
    if (json.is_structured())
      for (Json& inner : json) resolve(inner);
  }

  const Case& one_;
  const model::Model& model_;
  const Engines& engines_;
  std::unique_ptr<Engine> tested_;
  std::unique_ptr<Engine> reference_;
  std::int64_t clock_ = first_clock;
  std::map<std::uint64_t, std::string> ids_;
  std::map<std::string, std::vector<Json>> known_;
  std::map<std::string, Pages> pages_;
  Json last_;
  Run out_;
};

Json to_json(const Run& run) {
  Json out;
  out["errors"] = run.errors;
  out["not_taken"] = run.not_taken;
  if (run.difference) out["difference"] = *run.difference;
  out["lines"] = run.lines;
  out["tested"] = run.tested;
  out["reference"] = run.reference;
  out["statistics"] = {run.statistics.commands, run.statistics.queries, run.statistics.with_rows, run.statistics.pages,
                       run.statistics.errors};
  out["refused"] = Json::object();
  for (const auto& [code, times] : run.statistics.refused) out["refused"].add(code, times);
  return out;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& text : list) out.push_back(text.text());
  return out;
}

Run from_json(const Json& json) {
  Run out;
  out.errors = texts(json["errors"]);
  out.not_taken = json["not_taken"].get<bool>();
  if (json.contains("difference")) out.difference = json["difference"].get<std::string>();
  out.lines = texts(json["lines"]);
  out.tested = json["tested"].get<std::string>();
  out.reference = json["reference"].get<std::string>();
  const Json& statistics = json["statistics"];
  out.statistics.commands = statistics[0].get<std::size_t>();
  out.statistics.queries = statistics[1].get<std::size_t>();
  out.statistics.with_rows = statistics[2].get<std::size_t>();
  out.statistics.pages = statistics[3].get<std::size_t>();
  out.statistics.errors = statistics[4].get<std::size_t>();
  for (const auto& [code, times] : json["refused"].items()) out.statistics.refused[code] = times.get<std::size_t>();
  return out;
}

// All that the child writes until it ends, or nothing where it takes longer.
std::optional<std::string> read_all(int file, unsigned seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::string out;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd ready{file, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 65536> buffer{};
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace

void Statistics::add(const Statistics& other) {
  commands += other.commands;
  for (const auto& [code, count] : other.refused) refused[code] += count;
  queries += other.queries;
  with_rows += other.with_rows;
  pages += other.pages;
  errors += other.errors;
}

Run run(const Case& one, const Engines& engines) {
  const language::SourceFile source("random.noam", text(one));
  const Compilation compiled = compile(source);
  if (compiled.diagnostics.has_errors()) {
    Run out;
    for (const language::Diagnostic& diagnostic : compiled.diagnostics.all())
      if (diagnostic.severity == language::Severity::Error) out.errors.push_back(language::render(diagnostic, source));
    return out;
  }
  return Runner(one, *compiled.model, engines).run();
}

Run run_isolated(const Case& one, const Engines& engines, unsigned seconds) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return run(one, engines);
  std::cout.flush();
  std::cerr.flush();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_all(ends[1], to_json(run(one, engines)).dump());
    close(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  const std::optional<std::string> written = read_all(ends[0], seconds);
  close(ends[0]);
  if (!written) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (const auto parsed = Json::read(written.value_or(""))) return from_json(*parsed);
  Run out;
  if (!written)
    out.difference = fmt::format("no end after {} seconds", seconds);
  else if (WIFSIGNALED(status))
    out.difference = fmt::format("killed by signal {}", WTERMSIG(status));
  else
    out.difference = fmt::format("ended with status {}", WEXITSTATUS(status));
  return out;
}

Report check(const Case& one, const Engines& engines, const DriverOptions& options) {
  const auto try_it = [&](const Case& candidate) {
    return options.isolated ? run_isolated(candidate, engines, options.seconds) : run(candidate, engines);
  };
  Report report;
  report.original = one;
  report.smallest = one;
  report.run = try_it(one);
  report.statistics = report.run.statistics;
  if (!report.run.difference) return report;
  // Each cut that leaves a difference is kept, and the search goes on where it was; it ends when a whole round of cuts
  // leaves none.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.shrinking);
  const auto may_go_on = [&] { return report.tries < options.most_tries && std::chrono::steady_clock::now() < end; };
  for (bool more = true; more && may_go_on();) {
    more = false;
    std::vector<Case> candidates = simpler(report.smallest);
    for (std::size_t i = 0; i < candidates.size() && may_go_on();) {
      ++report.tries;
      Run found = try_it(candidates[i]);
      if (!found.difference) {
        ++i;
        continue;
      }
      report.smallest = candidates[i];
      report.run = std::move(found);
      more = true;
      candidates = simpler(report.smallest);
    }
  }
  return report;
}

std::string text(const Report& report) {
  std::string out = fmt::format("seed {} (smaller by {} of {} tries)\n", report.original.seed,
                                size(report.original) - size(report.smallest), report.tries);
  out += fmt::format("design {}\n\n{}\n", report.smallest.design, text(report.smallest));
  for (const std::string& line : report.run.lines) out += line + "\n";
  for (const std::string& error : report.run.errors) out += error + "\n";
  out += fmt::format("\n{}\ntested:    {}\nreference: {}\n", report.run.difference.value_or("no difference"),
                     report.run.tested, report.run.reference);
  return out;
}

Suite suite_from_environment(std::size_t cases) {
  Suite suite;
  const auto variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
  suite.cases = cases;
  if (const auto count = variable("NOAM_PROPERTY_CASES")) suite.cases = std::stoull(*count);
  suite.first_seed = std::random_device{}();
  if (const auto seed = variable("NOAM_PROPERTY_SEED")) suite.first_seed = std::stoull(*seed);
  if (const auto without = variable("NOAM_PROPERTY_WITHOUT")) {
    std::stringstream list(*without);
    for (std::string feature; std::getline(list, feature, ',');) suite.options.without.insert(feature);
  }
  suite.options.design = variable("NOAM_PROPERTY_DESIGN").value_or("");
  return suite;
}

SuiteReport run_suite(const Suite& suite, const Engines& engines, const DriverOptions& options,
                      std::size_t most_failures) {
  SuiteReport out;
  for (std::uint64_t seed = suite.first_seed; seed < suite.first_seed + suite.cases; ++seed) {
    const Report report = check(generate(seed, suite.options), engines, options);
    ++out.cases;
    out.statistics.add(report.statistics);
    if (!report.compiled()) ++out.rejected;
    if (report.run.not_taken) ++out.not_taken;
    if (report.good()) continue;
    out.failures.push_back(text(report));
    if (out.failures.size() >= most_failures) break;
  }
  return out;
}

std::string text(const SuiteReport& report) {
  const auto percent = [](std::size_t part, std::size_t of) {
    return fmt::format("{:.1f} %", of == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(of));
  };
  std::size_t refused = 0;
  std::string codes;
  for (const auto& [code, count] : report.statistics.refused) {
    refused += count;
    codes += fmt::format(" {} {}", code, count);
  }
  return fmt::format(
      "{} cases, {} no models, {} not taken by the store\n{} commands, {} applied; refused:{}\n{} queries, {} with "
      "rows, {} further pages, {} "
      "errors\n",
      report.cases, percent(report.rejected, report.cases), percent(report.not_taken, report.cases),
      report.statistics.commands, percent(report.statistics.commands - refused, report.statistics.commands), codes,
      report.statistics.queries, percent(report.statistics.with_rows, report.statistics.queries),
      report.statistics.pages, report.statistics.errors);
}

}  // namespace noam::tests::property
