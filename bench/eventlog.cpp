// An event of the log with its two counters, and the newest events of an hour (examples/eventlog).

#include <atomic>
#include <optional>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "bench/examples.h"
#include "bench/floor.h"
#include "bench/noam_database.h"
#include "noam/base/json_text.h"

namespace noam::bench {
namespace {

using model::Datum;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t opening = 500'000 * hour_ms;

struct Event {
  std::int64_t time = 0;
  std::string event_type;
  std::optional<std::string> url;
  std::string data;
};

std::int64_t hour_of(std::int64_t time) { return time - time % hour_ms; }

class NoamLog {
 public:
  explicit NoamLog(const std::string& folder)
      : database_(folder, example("eventlog/eventlog.noam"), "seed004", {}),
        log_(database_.command("log")),
        latest_(database_.query("latest_events")),
        of_type_(database_.query("event_metrics")),
        of_url_(database_.query("url_metrics")) {}

  void log(const Event& event, Tally& tally) {
    const bool done = database_.run(log_, {Datum(event.time), Datum(event.event_type),
                                           event.url ? Datum(*event.url) : Datum(), Datum(event.data)});
    tally.done += done ? 1 : 0;
  }
  void latest(std::int64_t hour, const std::string& event_type, Tally& tally) {
    tally.answers += database_.ask(latest_, {Datum(hour), Datum(event_type)});
    ++tally.done;
  }
  std::int64_t count(std::int64_t hour, const std::string& event_type) {
    return database_.rows(of_type_, {Datum(hour), Datum(event_type)}).rows[0][0].as_int();
  }
  std::int64_t count_of_url(std::int64_t hour, const std::string& url) {
    return database_.rows(of_url_, {Datum(hour), Datum(url)}).rows[0][0].as_int();
  }
  void reopen() { database_.reopen(); }
  void verify() { database_.verify(); }

 private:
  NoamDatabase database_;
  Statement log_;
  Statement latest_;
  Statement of_type_;
  Statement of_url_;
};

// Events lie under their hour first: after ninety days whole hours go by one DeleteRange, so no event needs a due time
// of its own. An id is new, so that nothing is asked before an event is written.
class FloorLog {
 public:
  FloorLog(const std::string& folder, bool blind) : database_(folder, {}), blind_(blind) {}

  void log(const Event& event, Tally& tally) {
    if (!blind_ && !is_json(event.data)) return;
    const std::int64_t hour = hour_of(event.time);
    std::string key = block(hour, event.event_type);
    append_descending_i64(event.time, key);
    append_ordered_i64(static_cast<std::int64_t>(next_.fetch_add(1)), key);
    key.append(8, '\x07');  // an id has 16 bytes
    std::string value;
    append_text(event.url ? std::optional<std::string_view>(*event.url) : std::nullopt, value);
    append_text(event.data, value);
    rocksdb::WriteBatch batch;
    batch.Put(key, value);
    batch.Merge(counter_key('m', hour, event.event_type), one_);
    if (event.url) batch.Merge(counter_key('n', hour, *event.url), one_);
    database_.write(batch);
    ++tally.done;
  }

  void latest(std::int64_t hour, const std::string& event_type, Tally& tally) {
    std::size_t count = 0;
    walk(database_, block(hour, event_type), nullptr, [&](std::string_view key, std::string_view value) {
      Fields fields(value);
      tally.answers += key.size() + event_type.size() + fields.text_bytes();  // time and id, then the rest
      tally.answers += fields.text_bytes();
      return ++count < 100;
    });
    ++tally.done;
  }

  void reopen() { database_.reopen(); }

  std::int64_t count(std::int64_t hour, const std::string& event_type) {
    return number(counter_key('m', hour, event_type));
  }
  std::int64_t count_of_url(std::int64_t hour, const std::string& url) { return number(counter_key('n', hour, url)); }

 private:
  static std::string block(std::int64_t hour, std::string_view event_type) {
    std::string key = "e";
    append_ordered_i64(hour, key);
    append_ordered_text(event_type, key);
    return key;
  }
  static std::string counter_key(char kind, std::int64_t hour, std::string_view label) {
    std::string key(1, kind);
    append_ordered_i64(hour, key);
    return key += label;
  }
  std::int64_t number(const std::string& key) {
    rocksdb::PinnableSlice found;
    return database_.read(key, found) ? counted(found.ToStringView()) : 0;
  }

  FloorDatabase database_;
  bool blind_;
  std::atomic<std::uint64_t> next_ = 0;
  const std::string one_ = counter(1);
};

std::string type_name(std::size_t number) { return fmt::format("type-{:03}", number); }
std::string url_name(std::size_t number) { return fmt::format("https://example.org/a/page/of/many/{:06}", number); }

}  // namespace

std::vector<Row> bench_eventlog(const Settings& settings) {
  const Folder folder(settings.folder);
  NoamLog noam(folder.path() + "/noam");
  FloorLog floor(folder.path() + "/floor", false);
  FloorLog limit(folder.path() + "/limit", true);
  const Zipf types(50, 1);
  const Zipf urls(settings.quick ? 100 : 100'000, 1);
  std::int64_t now = opening;
  std::vector<Row> rows;
  const std::size_t operations = settings.quick ? 400 : 10'000;

  const auto same = [](auto& rival, auto& plan) {
    return [&rival, plan](unsigned thread) {
      return plan->run(thread, [&](const Event& event, Tally& tally) { rival.log(event, tally); });
    };
  };
  for (const unsigned threads : {1U, 2U}) {
    auto plan = std::make_shared<Plan<Event>>(threads);
    Cell cell;
    cell.benchmark = "eventlog";
    cell.workload = "log";
    cell.design = "seed004";
    cell.size = "grows";
    cell.threads = threads;
    cell.operations = operations;
    cell.prepare = [&, plan](std::uint64_t seed) {
      plan->fill(seed, operations, [&](Random& random) {
        Event event;
        event.time = now += 100;
        event.event_type = type_name(types(random));
        if (random.below(10) != 0) event.url = url_name(urls(random));
        event.data = fmt::format(R"({{"user":{},"agent":"{}","ok":true}})", random.below(100'000),
                                 some_letters(random, 120 + random.below(80)));
        return event;
      });
    };
    cell.rivals = {
        {"noam", same(noam, plan), true}, {"floor", same(floor, plan), true}, {"limit", same(limit, plan), false}};
    measure_into(rows, cell, settings);
  }

  // How much is still in memory depends on how much was written beside the events: all read from tables.
  noam.reopen();
  floor.reopen();
  limit.reopen();
  const std::int64_t last_hour = hour_of(now);
  struct Look {
    std::int64_t hour = 0;
    std::string event_type;
  };
  const auto looks = [](auto& rival, auto& plan) {
    return [&rival, plan](unsigned thread) {
      return plan->run(thread,
                       [&](const Look& look, Tally& tally) { rival.latest(look.hour, look.event_type, tally); });
    };
  };
  auto plan = std::make_shared<Plan<Look>>(1);
  Cell cell;
  cell.benchmark = "eventlog";
  cell.workload = "latest 100";
  cell.design = "seed004";
  cell.size = "grows";
  cell.operations = settings.quick ? 50 : 1'000;
  cell.prepare = [&, plan, count = cell.operations](std::uint64_t seed) {
    plan->fill(seed, count, [&](Random& random) {
      const auto hours = static_cast<std::size_t>((last_hour - opening) / hour_ms);
      return Look{opening + hour_ms * static_cast<std::int64_t>(random.below(hours + 1)), type_name(types(random))};
    });
  };
  cell.rivals = {
      {"noam", looks(noam, plan), true}, {"floor", looks(floor, plan), true}, {"limit", looks(limit, plan), false}};
  measure_into(rows, cell, settings);

  for (std::int64_t hour = opening; hour <= last_hour; hour += hour_ms) {
    for (std::size_t i = 0; i < 50; ++i)
      if (noam.count(hour, type_name(i)) != floor.count(hour, type_name(i)) ||
          noam.count_of_url(hour, url_name(i)) != floor.count_of_url(hour, url_name(i)))
        throw Failed("eventlog: other counts");
  }
  if (settings.quick) noam.verify();
  return rows;
}

}  // namespace noam::bench
