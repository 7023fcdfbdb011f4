// Benchmarks of noam against hand-written code that keeps the same promises; bench/README.md tells what they measure.

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/examples.h"
#include "bench/game.h"
#include "bench/harness.h"
#include "noam/base/json.h"

namespace {

using noam::bench::Row;
using noam::bench::Settings;

struct Benchmark {
  const char* name;
  const char* about;
  std::vector<Row> (*run)(const Settings&);
  bool usual = true;  // part of `all`
};

const std::vector<Benchmark>& all_benchmarks() {
  static const std::vector<Benchmark> all{
      {"game", "the social game: three designs, three workloads, one and two threads", noam::bench::bench_game},
      {"game_sync", "adding rounds, each on disk before it is acknowledged", noam::bench::bench_game_sync},
      {"shortener", "a redirect with its five statistics", noam::bench::bench_shortener},
      {"microblog", "a post to 1, 100 and 1,000 followers, and the start page", noam::bench::bench_microblog},
      {"eventlog", "an event with its counters, and the newest of an hour", noam::bench::bench_eventlog},
      {"rubis", "the bidding mix on two schemas that people made", noam::bench::bench_rubis},
      {"load", "many rows at once", noam::bench::bench_load},
      {"experiment", "figure 14 of the paper: designs, workloads and sizes", noam::bench::bench_experiment, false},
      {"scaling", "what an operation costs with a hundred times the games, and the memory of a load",
       noam::bench::bench_scaling, false},
      {"cassandra", "commands and queries on the Cassandra that NOAM_BENCH_CASSANDRA=host:port names",
       noam::bench::bench_cassandra_store, false},
      {"cassandra_limits", "how much one write and one commit can hold there", noam::bench::bench_cassandra_limits,
       false},
  };
  return all;
}

int run(int argc, char** argv) {
  CLI::App app{"Benchmarks of noam. Only ratios inside one run count."};
  Settings settings;
  settings.folder = std::filesystem::temp_directory_path().string();
  std::vector<std::string> names;
  std::string json_file;
  std::string choices = "Which of them; without one, all but those in brackets:\n";
  for (const Benchmark& benchmark : all_benchmarks())
    choices += fmt::format("  {}{}{}: {}\n", benchmark.usual ? "" : "[", benchmark.name, benchmark.usual ? "" : "]",
                           benchmark.about);
  app.add_option("benchmark", names, choices);
  app.add_flag("--quick", settings.quick, "Little data: whether all rivals do the same, not how fast they are");
  app.add_option("--repetitions", settings.repetitions, "Slices of each rival in each cell (5)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", settings.seed, "Of data and requests (1)");
  app.add_option("--folder", settings.folder, "Where databases are made, and removed again");
  app.add_option("--json", json_file, "The numbers as JSON into this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  if (settings.quick) settings.repetitions = 1;

  std::vector<const Benchmark*> chosen;
  for (const Benchmark& benchmark : all_benchmarks())
    if (names.empty() ? benchmark.usual : std::find(names.begin(), names.end(), benchmark.name) != names.end())
      chosen.push_back(&benchmark);
  for (const std::string& name : names) {
    const auto known = [&](const Benchmark& benchmark) { return benchmark.name == name; };
    if (std::none_of(all_benchmarks().begin(), all_benchmarks().end(), known)) {
      fmt::print(stderr, "noam_bench: no benchmark `{}`; see --help\n", name);
      return 2;
    }
  }

  std::vector<Row> rows;
  for (const Benchmark* benchmark : chosen)
    for (Row& row : benchmark->run(settings)) rows.push_back(std::move(row));
  fmt::print("{}", print_table(rows));
  if (!json_file.empty()) {
    const noam::Json out{{"machine", noam::bench::machine()},
                         {"quick", settings.quick},
                         {"repetitions", settings.repetitions},
                         {"seed", settings.seed},
                         {"rows", to_json(rows)}};
    std::ofstream file(json_file);
    file << out.dump(1) << "\n";
    if (!file.flush()) throw noam::bench::Failed(fmt::format("{}: can't be written", json_file));
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "noam_bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
