#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "noam/base/json.h"

// Rivals that do the same work, measured side by side.
namespace noam::bench {

// A benchmark that can't go on, or rivals that did not do the same work. One line for a person.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was done in a slice, to be compared: the same requests find and change the same.
struct Tally {
  std::uint64_t done = 0;     // operations that did what they were asked
  std::uint64_t answers = 0;  // bytes of all texts that were answered

  bool operator==(const Tally&) const = default;
};

// One of those who are compared.
struct Rival {
  std::string name;
  std::function<Tally(unsigned thread)> run;  // the requests that the cell has prepared for this thread
  bool promises = true;                       // false: it does less than the others, to show what is possible at all
};

// One place of a table: rivals under one load.
struct Cell {
  std::string benchmark;
  std::string workload;
  std::string design;
  std::string size;
  unsigned threads = 1;
  std::size_t operations = 0;                       // of a slice, all threads together
  std::function<void(std::uint64_t seed)> prepare;  // the requests of a slice, the same for all rivals; not measured
  std::vector<Rival> rivals;
  std::string base = "floor";  // the rival that the others are measured by
  bool same_answers = true;    // false: threads read what others write, so that answers depend on who comes first
};

struct Measured {
  std::string name;
  bool promises = true;
  std::vector<double> seconds;         // of each repetition
  double per_second = 0;               // operations, median
  std::optional<double> to_base;       // time for the same work against that of the base, median over the repetitions
  std::optional<double> instructions;  // an operation, user space, where the machine counts them
};

struct Row {
  std::string benchmark;
  std::string workload;
  std::string design;
  std::string size;
  unsigned threads = 1;
  std::size_t operations = 0;
  std::string base;
  std::vector<Measured> rivals;
  std::vector<std::pair<std::string, double>> figures;  // what else was found out
};

struct Settings {
  bool quick = false;      // little data and few repetitions: whether all do the same, not how fast
  int repetitions = 5;     // of each slice, beside one that is not counted
  std::uint64_t seed = 1;  // of data and requests
  std::string folder;      // where databases are made
};

// Measures a cell: one slice of each rival to warm up, then rivals in turns, repetition by repetition, each beginning
// with another. Throws where two of those that promise the same have not done the same.
Row measure(const Cell& cell, const Settings& settings);
// The same for several cells that will be compared with each other: they take turns, too.
std::vector<Row> measure_together(const std::vector<Cell>& cells, const Settings& settings);

// A table a benchmark, and the same for programs.
std::string print_table(const std::vector<Row>& rows);
Json to_json(const std::vector<Row>& rows);
// What the numbers were taken on.
Json machine();

// The highest resident memory since the last call of forget_peak_memory, and what it is now; bytes.
std::uint64_t peak_memory();
std::uint64_t memory_now();
void forget_peak_memory();

// A folder that goes with this.
class Folder {
 public:
  explicit Folder(const std::string& where);
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Small, fast, and the same on every machine: splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  // From 0 to bound - 1.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// Numbers from 0 to count - 1, the first the most frequent, as Zipf's law has it.
class Zipf {
 public:
  Zipf(std::size_t count, double skew);
  [[nodiscard]] std::size_t operator()(Random& random) const;

 private:
  std::vector<double> sums_;
};

// 20,000
std::string grouped(std::uint64_t number);

}  // namespace noam::bench
