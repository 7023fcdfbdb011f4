// A post of the microblog, to few and to many followers, and the start page (examples/microblog).

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include "bench/examples.h"
#include "bench/floor.h"
#include "bench/noam_database.h"

namespace noam::bench {
namespace {

using model::Datum;

constexpr std::int64_t opening = 1'700'000'000'000;
constexpr std::size_t authors_of_each = 20;

struct Post {
  std::int64_t id = 0;
  std::string author;
  std::int64_t at = 0;
  std::string content;
};
const std::string language = "en";

// Authors with few and many followers, and readers who follow them.
struct Society {
  std::vector<std::size_t> followers;  // how many each class of authors has
  std::size_t readers = 0;

  [[nodiscard]] static std::string author(std::size_t of, std::size_t number) {
    return fmt::format("author{}-{:02}", of, number);
  }
  [[nodiscard]] static std::string reader(std::size_t number) { return fmt::format("reader{:06}", number); }
  // The readers that follow one: others for each author.
  template <typename Take>
  void each_follower(std::size_t of, std::size_t number, const Take& take) const {
    for (std::size_t i = 0; i < followers[of]; ++i) take((number * 97 + i) % readers);
  }
};

class NoamBlog {
 public:
  NoamBlog(const std::string& folder, const Society& society)
      : database_(folder, example("microblog/microblog.noam"), "seed003", {}),
        post_(database_.command("post")),
        newest_(database_.query("newest")) {
    std::vector<std::vector<Datum>> follows(society.readers);
    std::vector<Datum::List> rows;
    std::int64_t id = 0;
    for (std::size_t of = 0; of < society.followers.size(); ++of) {
      for (std::size_t number = 0; number < authors_of_each; ++number) {
        const std::string author = Society::author(of, number);
        rows.push_back({author, Datum(++id), Datum::List(), Datum::List(), Datum::List()});
        society.each_follower(of, number, [&](std::size_t reader) { follows[reader].emplace_back(author); });
      }
    }
    for (std::size_t reader = 0; reader < society.readers; ++reader)
      rows.push_back(
          {Society::reader(reader), Datum(++id), model::make_set(follows[reader]), Datum::List(), Datum::List()});
    while (!rows.empty()) {
      const std::size_t count = std::min<std::size_t>(rows.size(), 200);
      database_.load("User", {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)});
      rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
    }
    database_.reopen();
  }

  void post(const Post& post, Tally& tally) {
    const bool done = database_.run(post_, {Datum(post.id), Datum(post.author), Datum(post.at), Datum(post.content),
                                            Datum(language)});
    tally.done += done ? 1 : 0;
  }
  void newest(const std::string& reader, Tally& tally) {
    std::size_t rows = 0;
    tally.answers += database_.ask(newest_, {Datum(reader)}, rows);
    tally.done += rows;
  }
  std::vector<std::int64_t> newest_ids(const std::string& reader) {
    std::vector<std::int64_t> ids;
    for (const auto& row : database_.rows(newest_, {Datum(reader)}).rows) ids.push_back(row[0].as_int());
    return ids;
  }
  void verify() { database_.verify(); }

 private:
  NoamDatabase database_;
  Statement post_;
  Statement newest_;
};

// By hand: the post under its author, where it lies by its id, itself under each of its words, and in the cache of each
// follower. A cache is cut to 800 when it is read and its counter says that it has grown far beyond: nobody who posts
// waits for that.
class FloorBlog {
 public:
  FloorBlog(const std::string& folder, const Society& society, bool blind) : database_(folder, {}), blind_(blind) {
    rocksdb::WriteBatch batch;
    for (std::size_t of = 0; of < society.followers.size(); ++of)
      for (std::size_t number = 0; number < authors_of_each; ++number)
        society.each_follower(of, number, [&](std::size_t reader) {
          std::string key = "f";
          append_ordered_text(Society::author(of, number), key);
          batch.Put(key + Society::reader(reader), "");
        });
    database_.write(batch);
    database_.reopen();
  }

  void post(const Post& post, Tally& tally) {
    std::string locator = "l";
    append_ordered_i64(post.id, locator);
    std::string numbers = "k";
    append_ordered_i64(post.id, numbers);
    // Who follows the author meanwhile waits, and gets the post; of two posts with one id one is refused.
    std::unique_lock<std::mutex> of_author(database_.latch(post.author), std::defer_lock);
    std::unique_lock<std::mutex> of_post(database_.latch(locator), std::defer_lock);
    if (of_author.mutex() == of_post.mutex())
      of_author.lock();
    else
      std::lock(of_author, of_post);
    rocksdb::PinnableSlice found;
    std::int64_t likes = 0;
    std::int64_t shares = 0;
    if (!blind_) {
      if (database_.read(locator, found)) return;
      // Likes may come before what they like.
      if (database_.read(numbers, found)) {
        Fields fields(found);
        likes = fields.i64();
        shares = fields.i64();
      }
    }
    rocksdb::WriteBatch batch;
    std::string value;
    append_text(post.author, value);
    append_i64(post.at, value);
    batch.Put(locator, value);

    std::string place;  // among posts in the order of time
    append_descending_i64(post.at, place);
    append_descending_i64(post.id, place);
    std::string key = "t";
    append_ordered_text(post.author, key);
    value.clear();
    append_text(post.content, value);
    append_text(language, value);
    batch.Put(key + place, value);

    value.clear();
    append_text(post.author, value);
    append_i64(post.at, value);
    append_text(post.content, value);
    for (const std::string_view word : words_of(post.content)) {
      key = "w";
      append_ordered_text(word, key);
      append_descending_i64(likes, key);
      append_descending_i64(post.id, key);
      batch.Put(key, value);
    }

    value.clear();
    append_text(post.author, value);
    append_text(post.content, value);
    append_text(language, value);
    append_i64(likes, value);
    append_i64(shares, value);
    std::string followers = "f";
    append_ordered_text(post.author, followers);
    walk(database_, followers, nullptr, [&](std::string_view follower, std::string_view /*nothing*/) {
      key = "c";
      append_ordered_text(follower, key);
      key += place;
      batch.Put(key, value);
      if (!blind_) {
        key = "n";
        batch.Merge(key += follower, one_);
      }
      return true;
    });
    database_.write(batch);
    ++tally.done;
  }

  void newest(const std::string& reader, Tally& tally) {
    std::size_t rows = 0;
    each_newest(reader, [&](std::string_view key, std::string_view value) {
      Fields fields(value);
      tally.answers += key.size() + fields.text_bytes();  // at and id, then author, content, language and the numbers
      tally.answers += fields.text_bytes();
      tally.answers += fields.text_bytes();
      for (int number = 0; number < 2; ++number) {
        (void)fields.i64();
        tally.answers += 8;
      }
      return ++rows < 25;
    });
    tally.done += rows;
    rocksdb::PinnableSlice found;
    if (!blind_ && database_.read("n" + reader, found) && counted(found.ToStringView()) > 1'000) shorten(reader);
  }

  std::vector<std::int64_t> newest_ids(const std::string& reader) {
    std::vector<std::int64_t> ids;
    each_newest(reader, [&](std::string_view key, std::string_view /*value*/) {
      ids.push_back(take_descending_i64(key.substr(8)));
      return ids.size() < 25;
    });
    return ids;
  }

 private:
  template <typename Take>
  void each_newest(const std::string& reader, const Take& take) {
    std::string prefix = "c";
    append_ordered_text(reader, prefix);
    walk(database_, prefix, nullptr, take);
  }

  void shorten(const std::string& reader) {
    const std::lock_guard latch(database_.latch(reader));
    rocksdb::WriteBatch batch;
    std::int64_t rows = 0;
    std::int64_t gone = 0;
    each_newest(reader, [&](std::string_view key, std::string_view /*value*/) {
      if (++rows <= 800) return true;
      std::string whole = "c";
      append_ordered_text(reader, whole);
      batch.Delete(whole.append(key));
      ++gone;
      return true;
    });
    batch.Merge("n" + reader, counter(-gone));
    database_.write(batch);
  }

  static std::set<std::string_view> words_of(std::string_view content) {
    std::set<std::string_view> words;
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t end = std::min(content.find(' ', at), content.size());
      if (end > at) words.insert(content.substr(at, end - at));
      at = end + 1;
    }
    return words;
  }

  FloorDatabase database_;
  bool blind_;
  const std::string one_ = counter(1);
};

}  // namespace

std::vector<Row> bench_microblog(const Settings& settings) {
  Society society;
  society.followers = {1, 100, 1'000};
  society.readers = 2'000;
  if (settings.quick) society = {{1, 10, 50}, 100};
  const Folder folder(settings.folder);
  NoamBlog noam(folder.path() + "/noam", society);
  FloorBlog floor(folder.path() + "/floor", society, false);
  FloorBlog limit(folder.path() + "/limit", society, true);

  Random vocabulary_seed(settings.seed);
  std::vector<std::string> vocabulary;
  for (std::size_t i = 0; i < 3'000; ++i) {
    std::string word = fmt::format("{}", i);
    while (word.size() < 4 + i % 6) word += static_cast<char>('a' + vocabulary_seed.below(26));
    vocabulary.push_back(std::move(word));
  }
  const Zipf popular(vocabulary.size(), 0.9);
  std::int64_t last = 0;
  std::vector<Row> rows;
  const auto size = fmt::format("{} accounts", grouped(society.readers + authors_of_each * society.followers.size()));

  for (std::size_t of = 0; of < society.followers.size(); ++of) {
    for (const unsigned threads : {1U, 2U}) {
      auto plan = std::make_shared<Plan<Post>>(threads);
      const auto posts = [&](auto& rival) {
        return [&rival, plan](unsigned thread) {
          return plan->run(thread, [&](const Post& post, Tally& tally) { rival.post(post, tally); });
        };
      };
      Cell cell;
      cell.benchmark = "microblog";
      cell.workload = fmt::format("post to {}", grouped(society.followers[of]));
      cell.design = "seed003";
      cell.size = size;
      cell.threads = threads;
      cell.operations = settings.quick ? 20 : 20'000 / (society.followers[of] + 20);
      cell.prepare = [&, plan, of, count = cell.operations](std::uint64_t seed) {
        plan->fill(seed, count, [&](Random& random) {
          Post post;
          post.id = ++last;
          post.author = Society::author(of, random.below(authors_of_each));
          post.at = opening + last * 1'000;
          while (post.content.size() < 110)
            post.content += (post.content.empty() ? "" : " ") + vocabulary[popular(random)];
          return post;
        });
      };
      cell.rivals = {{"noam", posts(noam), true}, {"floor", posts(floor), true}, {"limit", posts(limit), false}};
      measure_into(rows, cell, settings);
    }
  }

  for (const unsigned threads : {1U, 2U}) {
    auto plan = std::make_shared<Plan<std::string>>(threads);
    const auto reads = [&](auto& rival) {
      return [&rival, plan](unsigned thread) {
        return plan->run(thread, [&](const std::string& reader, Tally& tally) { rival.newest(reader, tally); });
      };
    };
    Cell cell;
    cell.benchmark = "microblog";
    cell.workload = "newest 25";
    cell.design = "seed003";
    cell.size = size;
    cell.threads = threads;
    cell.operations = settings.quick ? 50 : 4'000;
    cell.prepare = [&, plan, count = cell.operations](std::uint64_t seed) {
      plan->fill(seed, count, [&](Random& random) { return Society::reader(random.below(society.readers)); });
    };
    cell.rivals = {{"noam", reads(noam), true}, {"floor", reads(floor), true}, {"limit", reads(limit), false}};
    measure_into(rows, cell, settings);
  }

  for (std::size_t reader = 0; reader < society.readers; reader += 1 + society.readers / 200)
    if (noam.newest_ids(Society::reader(reader)) != floor.newest_ids(Society::reader(reader)))
      throw Failed(fmt::format("microblog: other start pages of {}", Society::reader(reader)));
  if (settings.quick) noam.verify();
  return rows;
}

}  // namespace noam::bench
