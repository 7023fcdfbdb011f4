// A redirect of the shortener: the long URL, and one visit in five statistics (examples/shortener).

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "bench/examples.h"
#include "bench/floor.h"
#include "bench/noam_database.h"

namespace noam::bench {
namespace {

using model::Datum;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;
constexpr std::int64_t opening = 20'000 * day_ms;  // the first visit

struct Url {
  std::string short_url;
  std::string long_url;
};

struct Visit {
  std::uint32_t url = 0;
  std::int64_t at = 0;
  std::optional<std::string> country;
  std::string ip;  // 4 bytes
};

// What is counted: kind, label, number.
using Counts = std::vector<std::tuple<char, std::string, std::int64_t>>;

std::vector<Url> make_urls(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Url> urls;
  for (std::size_t i = 0; i < count; ++i)
    urls.push_back({fmt::format("{:04x}{:04x}", i & 0xFFFFU, random.below(0x10000)),
                    "https://example.org/" + some_letters(random, 60 + random.below(80))});
  return urls;
}

class NoamShortener {
 public:
  NoamShortener(const std::string& folder, const std::string& design, const std::vector<Url>& urls)
      : urls_(urls),
        database_(folder, example("shortener/shortener.noam"), design, {}),
        resolve_(database_.query("resolve")),
        visit_(database_.command("visit")) {
    std::vector<Datum::List> rows;
    for (const Url& url : urls) rows.push_back({url.short_url, url.long_url, Datum(opening), Datum(false)});
    database_.load("Url", std::move(rows));
    database_.reopen();
  }

  void redirect(const Visit& visit, Tally& tally) {
    const std::string& short_url = urls_[visit.url].short_url;
    tally.answers += database_.ask(resolve_, {Datum(short_url)});
    tally.done += database_.run(visit_, {Datum(short_url), Datum(visit.at),
                                         visit.country ? Datum(*visit.country) : Datum(), model::to_inet(visit.ip)})
                      ? 1
                      : 0;
  }

  Counts counts(std::size_t url) {
    Counts out;
    const Datum key(urls_[url].short_url);
    const auto add = [&](char kind, const char* query) {
      for (const auto& row : database_.rows(database_.query(query), {key}).rows)
        out.emplace_back(
            kind, row[0].is_int() ? std::to_string(row[0].as_int()) : (row[0].absent() ? "" : row[0].as_string()),
            row[1].as_int());
    };
    add('h', "visits_by_hour");
    add('d', "visits_by_day");
    add('c', "visits_by_country");
    const std::int64_t visitors = database_.rows(database_.query("unique_visitors"), {key}).rows[0][0].as_int();
    if (visitors > 0) out.emplace_back('n', "", visitors);
    std::sort(out.begin(), out.end());
    return out;
  }

  void verify() { database_.verify(); }

 private:
  const std::vector<Url>& urls_;
  NoamDatabase database_;
  Statement resolve_;
  Statement visit_;
};

// Keys: the short URL, then what it is: the URL itself, an hour, a day, a country, an address, the number of addresses.
class FloorShortener {
 public:
  FloorShortener(const std::string& folder, const std::vector<Url>& urls, bool blind)
      : urls_(urls), database_(folder, {}), blind_(blind) {
    rocksdb::WriteBatch batch;
    for (const Url& url : urls) {
      std::string value;
      append_text(url.long_url, value);
      append_i64(opening, value);
      value += '\0';  // not custom
      batch.Put(url.short_url, value);
    }
    database_.write(batch);
    database_.reopen();
  }

  void redirect(const Visit& visit, Tally& tally) {
    const std::string& url = urls_[visit.url].short_url;
    rocksdb::PinnableSlice found;
    // The URL may not go meanwhile, and of two first visits of an address one counts.
    std::unique_lock<std::mutex> latch;
    if (!blind_) latch = std::unique_lock(database_.latch(url));
    if (!database_.read(url, found)) return;
    tally.answers += Fields(found).text_bytes();
    std::string key = url;
    rocksdb::WriteBatch batch;
    const auto of = [&](char kind) -> std::string& {
      key.resize(url.size());
      key += kind;
      return key;
    };
    append_descending_i64(visit.at - visit.at % hour_ms, of('h'));
    batch.Merge(key, one_);
    append_descending_i64(visit.at - visit.at % day_ms, of('d'));
    batch.Merge(key, one_);
    of('c') += visit.country.value_or("");
    batch.Merge(key, one_);
    of('i') += visit.ip;
    // Without a look nobody knows whether the address is new, so that visitors can't be counted.
    const bool is_new = blind_ || !database_.read(key, found);
    if (is_new) batch.Put(key, "");
    if (is_new && !blind_) batch.Merge(of('n'), one_);
    database_.write(batch);
    ++tally.done;
  }

  Counts counts(std::size_t url) {
    Counts out;
    walk(database_, urls_[url].short_url, nullptr, [&](std::string_view key, std::string_view value) {
      if (key.empty() || key[0] == 'i') return true;
      const std::string_view label = key.substr(1);
      const bool time = key[0] == 'h' || key[0] == 'd';
      out.emplace_back(key[0], time ? std::to_string(take_descending_i64(label)) : std::string(label), counted(value));
      return true;
    });
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  const std::vector<Url>& urls_;
  FloorDatabase database_;
  bool blind_;
  const std::string one_ = counter(1);
};

}  // namespace

std::vector<Row> bench_shortener(const Settings& settings) {
  const std::size_t count = settings.quick ? 200 : 20'000;
  const std::vector<Url> urls = make_urls(count, settings.seed);
  const Zipf popularity(count, 1.1);
  const Zipf visitors(settings.quick ? 500 : 200'000, 0.8);
  std::vector<Row> rows;
  for (const char* design : {"seed000", "seed001"}) {
    const Folder folder(settings.folder);
    NoamShortener noam(folder.path() + "/noam", design, urls);
    FloorShortener floor(folder.path() + "/floor", urls, false);
    FloorShortener limit(folder.path() + "/limit", urls, true);
    std::int64_t now = opening;
    for (const unsigned threads : {1U, 2U}) {
      auto plan = std::make_shared<Plan<Visit>>(threads);
      Cell cell;
      cell.benchmark = "shortener";
      cell.workload = "redirect";
      cell.design = design;
      cell.size = grouped(count);
      cell.threads = threads;
      cell.operations = settings.quick ? 400 : 10'000;
      cell.prepare = [&, plan, operations = cell.operations](std::uint64_t seed) {
        plan->fill(seed, operations, [&](Random& random) {
          Visit visit;
          visit.url = static_cast<std::uint32_t>(popularity(random));
          visit.at = now += 200;
          if (random.below(20) != 0)
            visit.country = fmt::format("{}{}", static_cast<char>('A' + random.below(15)),
                                        static_cast<char>('A' + random.below(13)));
          const std::size_t address = visitors(random);
          for (unsigned shift = 0; shift < 32; shift += 8)
            visit.ip += static_cast<char>(address * 2'654'435'761U >> shift);
          return visit;
        });
      };
      cell.rivals = {{"noam",
                      [&, plan](unsigned thread) {
                        return plan->run(thread, [&](const Visit& v, Tally& t) { noam.redirect(v, t); });
                      },
                      true},
                     {"floor",
                      [&, plan](unsigned thread) {
                        return plan->run(thread, [&](const Visit& v, Tally& t) { floor.redirect(v, t); });
                      },
                      true},
                     {"limit",
                      [&, plan](unsigned thread) {
                        return plan->run(thread, [&](const Visit& v, Tally& t) { limit.redirect(v, t); });
                      },
                      false}};
      measure_into(rows, cell, settings);
    }
    for (std::size_t url = 0; url < std::min<std::size_t>(count, 200); ++url)
      if (noam.counts(url) != floor.counts(url))
        throw Failed(fmt::format("shortener, {}: other statistics of {}", design, urls[url].short_url));
    if (settings.quick) noam.verify();
  }
  return rows;
}

}  // namespace noam::bench
