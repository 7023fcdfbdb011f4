// How much one conditional write takes on Apache Cassandra, what happens beyond it, and commits over very many blocks.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/cassandra.h"
#include "bench/examples.h"
#include "bench/harness.h"

namespace noam::bench {
namespace {

using model::Datum;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t opening = 1'700'000'000'000;
constexpr std::size_t kibibyte = 1'024;
constexpr std::size_t readers = 4;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string what_became(const cql::Response& response) {
  if (response.ok()) return response.applied() ? "applied" : "not applied";
  const cql::Failure& failure = response.failure();
  return fmt::format("{}, {}{}: {}", failure.unknown ? "unknown" : "refused", cql::name_of(failure.kind),
                     failure.code ? fmt::format(" (code {:#06x})", *failure.code) : "", failure.message.substr(0, 200));
}

// Conditional writes that grow.
class Writes {
 public:
  explicit Writes(HandOnCassandra& database) : database_(database) {
    database_.execute(
        "CREATE TABLE KS.limits (k bigint, c bigint, s bigint static, hold blob static, v blob, "
        "PRIMARY KEY (k, c))");
    blob_ = database_.prepare("UPDATE KS.limits SET s = 1, hold = ? WHERE k = ? IF s = null");
    head_ = database_.prepare("UPDATE KS.limits SET s = 1 WHERE k = ? IF s = null");
    row_ = database_.prepare("INSERT INTO KS.limits (k, c, v) VALUES (?, ?, ?)");
    found_ = database_.prepare("SELECT s FROM KS.limits WHERE k = ?");
  }

  // One value of so many bytes.
  cql::Response blob(std::size_t bytes) {
    cql::Request request;
    request.statements.push_back({blob_, cql::Values().blob(std::string(bytes, 'x')).bigint(++block_)});
    request.conditional = true;
    return database_.session().run(request);
  }
  // So many rows.
  cql::Response rows(std::size_t count, std::size_t bytes) {
    cql::Request request;
    request.statements.push_back({head_, cql::Values().bigint(++block_)});
    const std::string value(bytes, 'x');
    for (std::size_t i = 0; i < count; ++i)
      request.statements.push_back(
          {row_, cql::Values().bigint(block_).bigint(static_cast<std::int64_t>(i)).blob(value)});
    request.conditional = true;
    return database_.session().run(request);
  }
  // Whether the last write is there.
  bool is_there() {
    cql::Request request;
    request.statements.push_back({found_, cql::Values().bigint(block_)});
    request.idempotent = true;
    request.consistency = cql::Consistency::Serial;
    request.page_size = 1;
    const cql::Response found = database_.session().run(request);
    return found.ok() && found.row_count() > 0 && !found.row(0)[0].is_null();
  }

 private:
  HandOnCassandra& database_;
  cql::Prepared blob_;
  cql::Prepared head_;
  cql::Prepared row_;
  cql::Prepared found_;
  std::int64_t block_ = 0;
};

// The largest size that succeeds, to one part in 64, and what happens beyond it.
template <typename Write>
void find_limit(Row& row, const std::string& name, std::size_t from, std::size_t most, Writes& writes,
                const Write& write) {
  const auto succeeds = [&](std::size_t size) {
    const auto begin = Clock::now();
    const cql::Response response = write(size);
    const double seconds = seconds_since(begin);
    const bool there = writes.is_there();
    fmt::print("  {} of {}: {} after {:.0f} ms{}\n", name, grouped(size), what_became(response), seconds * 1e3,
               response.ok() == there ? ""
               : there                ? ", and it is there"
                                      : ", and it is not there");
    return response.ok() && response.applied();
  };
  if (!succeeds(from)) throw Failed(fmt::format("{} of {} does not succeed", name, from));
  std::size_t good = from;
  std::size_t bad = most;
  while (2 * good < bad && succeeds(2 * good)) good *= 2;
  bad = std::min(bad, 2 * good);
  while (bad - good > std::max<std::size_t>(good / 64, 1)) {
    const std::size_t middle = good + (bad - good) / 2;
    (succeeds(middle) ? good : bad) = middle;
  }
  fmt::print("{}: {} succeed, {} do not\n", name, grouped(good), grouped(bad));
  row.figures.emplace_back(name, static_cast<double>(good));
}

// A post to so many followers, while others read their start pages.
void post_to(Row& row, NoamOnCassandra& noam, std::size_t followers, std::int64_t id) {
  const auto name = fmt::format("author{}", followers);
  const std::size_t blocks = followers + 2;
  const auto begin_of_load = Clock::now();
  noam->load("User", {{Datum(name), Datum::List()}});
  constexpr std::size_t at_once = 200;
  for (std::size_t first = 0; first < followers; first += at_once) {
    std::vector<Datum::List> rows;
    for (std::size_t i = first; i < std::min(followers, first + at_once); ++i)
      rows.push_back({Datum(fmt::format("{}-{:05}", name, i)), model::make_set({Datum(name)})});
    noam->load("User", std::move(rows));
  }
  noam.wait();
  fmt::print("  {} followers loaded in {:.1f} s\n", grouped(followers), seconds_since(begin_of_load));

  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<double> longest = 0;
  std::vector<std::thread> threads;
  const Statement start_page = noam->query("start_page");
  for (std::size_t reader = 0; reader < readers; ++reader)
    threads.emplace_back([&, reader] {
      Random random(reader);
      while (!stop) {
        const auto begin = Clock::now();
        try {
          noam->ask(start_page, {Datum(fmt::format("{}-{:05}", name, random.below(followers)))});
        } catch (const Failed& failed) {
          fmt::print("  a start page: {}\n", failed.what());
        }
        const double seconds = seconds_since(begin);
        double before = longest;
        while (seconds > before && !longest.compare_exchange_weak(before, seconds)) {
        }
        ++reads;
      }
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::uint64_t writes = noam.asked().writes;
  const std::uint64_t unknown = noam.asked().unknown;
  const std::uint64_t reads_before = reads;
  const auto begin = Clock::now();
  const runtime::Outcome outcome =
      noam->outcome(noam->command("post"), {Datum(id), Datum(name), Datum(opening + id), Datum("hello")});
  const double answered = seconds_since(begin);
  noam.wait();
  const double done = seconds_since(begin);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const char* kind = outcome.kind == runtime::OutcomeKind::Applied   ? "applied"
                     : outcome.kind == runtime::OutcomeKind::Refused ? "refused"
                                                                     : "unknown";
  fmt::print(
      "a commit over {} blocks: {} {} {}after {:.1f} s, all done after {:.1f} s; {} conditional writes, {} of "
      "them sent again; {} start pages were read meanwhile, the slowest in {:.1f} s\n",
      grouped(blocks), kind, outcome.code, outcome.reason.empty() ? "" : "(" + outcome.reason + ") ", answered, done,
      grouped(noam.asked().writes - writes), noam.asked().unknown - unknown, grouped(reads - reads_before),
      longest.load());
  row.figures.emplace_back(fmt::format("seconds_of_{}_blocks", blocks), answered);
}

}  // namespace

std::vector<Row> bench_cassandra_limits(const Settings& settings) {
  const auto point = bench_cassandra();
  if (!point) return {};
  HandOnCassandra hand(*point);
  Row row;
  row.benchmark = "cassandra_limits";
  Writes writes(hand);
  const std::size_t mebibyte = kibibyte * kibibyte;
  const std::size_t most = settings.quick ? 4 * kibibyte : 64 * mebibyte;
  find_limit(row, "bytes in one value", settings.quick ? kibibyte : mebibyte, most, writes,
             [&](std::size_t size) { return writes.blob(size); });
  find_limit(row, "rows of 10 kB in a batch", 10, most / (10 * kibibyte) + 20, writes,
             [&](std::size_t size) { return writes.rows(size, 10'000); });
  find_limit(row, "rows of 1 byte in a batch", 1'000, settings.quick ? 2'000 : 100'000, writes,
             [&](std::size_t size) { return writes.rows(size, 1); });

  NoamOnCassandra noam(hand.options(), hand.noam_keyspace(), runtime::Reads::Exact);
  std::int64_t id = 0;
  const std::vector<std::size_t> blocks =
      settings.quick ? std::vector<std::size_t>{12} : std::vector<std::size_t>{1'111, 4'096, 4'097};
  for (const std::size_t count : blocks) post_to(row, noam, count - 2, ++id);
  return {row};
}

}  // namespace noam::bench
