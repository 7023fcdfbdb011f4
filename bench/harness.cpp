#include "bench/harness.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "noam/base/json.h"

namespace noam::bench {
namespace {

using Seconds = std::chrono::duration<double>;

// Instructions of the calling thread in user space. Virtual machines often have no counters.
class Instructions {
 public:
  Instructions() {
    perf_event_attr about{};
    about.type = PERF_TYPE_HARDWARE;
    about.size = sizeof about;
    about.config = PERF_COUNT_HW_INSTRUCTIONS;
    about.exclude_kernel = 1;
    about.exclude_hv = 1;
    file_ = static_cast<int>(::syscall(SYS_perf_event_open, &about, 0, -1, -1, 0));
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;
  ~Instructions() {
    if (file_ >= 0) ::close(file_);
  }

  // Since it was made; nothing where they are not counted.
  [[nodiscard]] std::optional<std::uint64_t> count() const {
    std::uint64_t value = 0;
    if (file_ < 0 || ::read(file_, &value, sizeof value) != sizeof value) return std::nullopt;
    return value;
  }

 private:
  int file_ = -1;
};

struct Slice {
  double seconds = 0;
  Tally tally;
  std::optional<std::uint64_t> instructions;
};

// All threads of a rival begin at once; the slice lasts from the first that begins to the last that is done.
Slice run_slice(const Rival& rival, unsigned threads) {
  using Clock = std::chrono::steady_clock;
  struct Part {
    Clock::time_point begin;
    Clock::time_point end;
    Tally tally;
    std::optional<std::uint64_t> instructions;
    std::exception_ptr failure;
  };
  std::vector<Part> parts(threads);
  std::barrier ready(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  running.reserve(threads);
  for (Part& part : parts) {
    const auto thread = static_cast<unsigned>(&part - parts.data());
    running.emplace_back([&, thread] {
      const Instructions instructions;
      ready.arrive_and_wait();
      const auto before = instructions.count();
      part.begin = Clock::now();
      try {
        part.tally = rival.run(thread);
      } catch (...) {
        part.failure = std::current_exception();
      }
      part.end = Clock::now();
      const auto after = instructions.count();
      if (before && after) part.instructions = *after - *before;
    });
  }
  for (std::thread& thread : running) thread.join();
  Slice all;
  all.instructions = 0;
  Clock::time_point begin = parts[0].begin;
  Clock::time_point end = parts[0].end;
  for (const Part& part : parts) {
    if (part.failure) std::rethrow_exception(part.failure);
    begin = std::min(begin, part.begin);
    end = std::max(end, part.end);
    all.tally.done += part.tally.done;
    all.tally.answers += part.tally.answers;
    if (!part.instructions || !all.instructions)
      all.instructions.reset();
    else
      *all.instructions += *part.instructions;
  }
  all.seconds = Seconds(end - begin).count();
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void same_work(const Cell& cell, const Rival& first, const Tally& expected, const Rival& other, const Tally& found) {
  if (found.done != expected.done || (cell.same_answers && found.answers != expected.answers))
    throw Failed(fmt::format("{}, {}, {}: {} did {} operations and answered {} bytes, {} did {} and answered {} bytes",
                             cell.benchmark, cell.workload, cell.design, first.name, expected.done, expected.answers,
                             other.name, found.done, found.answers));
}

// A cell while it is measured, slice by slice.
class Measuring {
 public:
  explicit Measuring(const Cell& cell) : cell_(cell), instructions_(cell.rivals.size()) {
    row_ = {cell.benchmark, cell.workload, cell.design, cell.size, cell.threads, cell.operations, cell.base, {}, {}};
    for (const Rival& rival : cell.rivals) row_.rivals.push_back({rival.name, rival.promises, {}, 0, {}, {}});
  }

  // One slice of each rival. Another begins each time: what one leaves to the background, compactions above all, would
  // else always meet the same neighbour.
  void run(std::uint64_t seed, std::size_t begin, bool counts) {
    cell_.prepare(seed);
    const Rival* first = nullptr;
    Tally expected;
    for (std::size_t turn = 0; turn < cell_.rivals.size(); ++turn) {
      const std::size_t i = (begin + turn) % cell_.rivals.size();
      const Rival& rival = cell_.rivals[i];
      const Slice slice = run_slice(rival, cell_.threads);
      if (rival.promises && first != nullptr) same_work(cell_, *first, expected, rival, slice.tally);
      if (rival.promises && first == nullptr) {
        first = &rival;
        expected = slice.tally;
      }
      if (!counts) continue;
      row_.rivals[i].seconds.push_back(slice.seconds);
      if (slice.instructions)
        instructions_[i].push_back(static_cast<double>(*slice.instructions) / static_cast<double>(cell_.operations));
    }
  }

  Row result() {
    const auto base = std::find_if(row_.rivals.begin(), row_.rivals.end(),
                                   [&](const Measured& rival) { return rival.name == cell_.base; });
    for (std::size_t i = 0; i < row_.rivals.size(); ++i) {
      Measured& rival = row_.rivals[i];
      rival.per_second = static_cast<double>(cell_.operations) / median(rival.seconds);
      if (!instructions_[i].empty()) rival.instructions = median(instructions_[i]);
      if (base == row_.rivals.end()) continue;
      std::vector<double> ratios;
      for (std::size_t r = 0; r < rival.seconds.size(); ++r) ratios.push_back(rival.seconds[r] / base->seconds[r]);
      rival.to_base = median(ratios);
    }
    return std::move(row_);
  }

 private:
  const Cell& cell_;
  std::vector<std::vector<double>> instructions_;
  Row row_;
};

// `VmHWM:   1234 kB`
std::uint64_t process_figure(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
  return 0;
}

std::string shortened(double number) {
  if (number >= 999.5) return grouped(static_cast<std::uint64_t>(std::llround(number)));
  return fmt::format("{:.{}f}", number, number < 10 ? 2 : (number < 100 ? 1 : 0));
}

// Columns as wide as they must be: the first ones to the left, numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t texts) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
      text += i < texts ? fmt::format("{:<{}}  ", line[i], widths[i]) : fmt::format("{:>{}}  ", line[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace

Row measure(const Cell& cell, const Settings& settings) { return measure_together({cell}, settings)[0]; }

std::vector<Row> measure_together(const std::vector<Cell>& cells, const Settings& settings) {
  std::vector<Measuring> measuring;
  measuring.reserve(cells.size());
  for (const Cell& cell : cells) measuring.emplace_back(cell);
  // The first is not counted.
  const auto repetitions = static_cast<std::size_t>(settings.repetitions) + 1;
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    // Other requests in each repetition, the same in each run and in each cell.
    Random seeds(settings.seed * 1'000'003 + repetition);
    const std::uint64_t seed = seeds.next();
    for (std::size_t turn = 0; turn < measuring.size(); ++turn)
      measuring[(repetition + turn) % measuring.size()].run(seed, repetition, repetition > 0);
  }
  std::vector<Row> rows;
  for (Measuring& one : measuring) rows.push_back(one.result());
  return rows;
}

std::string print_table(const std::vector<Row>& rows) {
  std::string out;
  for (std::size_t begin = 0; begin < rows.size();) {
    // One table a benchmark, with a column for each rival that some row has.
    std::size_t end = begin;
    std::vector<std::string> names;
    bool counted = false;  // instructions
    for (; end < rows.size() && rows[end].benchmark == rows[begin].benchmark; ++end) {
      for (const Measured& rival : rows[end].rivals) {
        if (std::find(names.begin(), names.end(), rival.name) == names.end()) names.push_back(rival.name);
        counted = counted || rival.instructions;
      }
    }
    std::vector<std::vector<std::string>> lines{{"workload", "design", "size", "threads"}};
    for (const std::string& name : names) {
      lines[0].push_back(name + "/s");
      if (name != rows[end - 1].base) lines[0].push_back("x " + rows[end - 1].base);
      if (counted) lines[0].push_back("instructions");
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Row& row = rows[i];
      if (row.rivals.empty()) continue;  // only figures
      std::vector<std::string> line{row.workload, row.design, row.size, fmt::format("{}", row.threads)};
      for (const std::string& name : names) {
        const auto found = std::find_if(row.rivals.begin(), row.rivals.end(),
                                        [&](const Measured& rival) { return rival.name == name; });
        const Measured none;
        const Measured& rival = found == row.rivals.end() ? none : *found;
        line.push_back(found == row.rivals.end() ? "" : shortened(rival.per_second));
        if (name != rows[end - 1].base) line.push_back(rival.to_base ? shortened(*rival.to_base) : "");
        if (counted) line.push_back(rival.instructions ? shortened(*rival.instructions) : "");
      }
      lines.push_back(std::move(line));
    }
    out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", rows[begin].benchmark, aligned(lines, 3));
    begin = end;
  }
  return out;
}

Json to_json(const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) {
    Json rivals = Json::array();
    for (const Measured& rival : row.rivals) {
      Json one{{"name", rival.name}, {"promises", rival.promises}, {"per_second", rival.per_second}};
      if (rival.to_base) one["to_base"] = *rival.to_base;
      if (rival.instructions) one["instructions"] = *rival.instructions;
      one["seconds"] = rival.seconds;
      rivals.push_back(std::move(one));
    }
    out.push_back({{"benchmark", row.benchmark},
                   {"workload", row.workload},
                   {"design", row.design},
                   {"size", row.size},
                   {"threads", row.threads},
                   {"operations", row.operations},
                   {"base", row.base},
                   {"rivals", std::move(rivals)}});
    for (const auto& [name, figure] : std::map<std::string, double>(row.figures.begin(), row.figures.end()))
      out.back()["figures"][name] = figure;
  }
  return out;
}

Json machine() {
  utsname about{};
  ::uname(&about);
  std::string processor = "unknown";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return {{"processor", processor},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes", pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))},
          {"system", fmt::format("{} {}", about.sysname, about.release)}};
}

std::uint64_t peak_memory() { return process_figure("VmHWM"); }
std::uint64_t memory_now() { return process_figure("VmRSS"); }
void forget_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

Folder::Folder(const std::string& where) {
  std::filesystem::create_directories(where);
  path_ = where + "/noam-bench-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) throw Failed(fmt::format("no folder can be made in {}", where));
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Zipf::Zipf(std::size_t count, double skew) {
  double sum = 0;
  sums_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) sums_.push_back(sum += std::pow(static_cast<double>(i + 1), -skew));
}

std::size_t Zipf::operator()(Random& random) const {
  const double wanted = random.unit() * sums_.back();
  return static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, wanted) - sums_.begin());
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace noam::bench
