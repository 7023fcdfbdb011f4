#include "noam/stores/walks.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_writer.h>

namespace noam::stores {
namespace {

using Keys = std::vector<std::string>;

// A database in memory with walks over it.
class WalksTest : public testing::Test {
 protected:
  WalksTest() {
    rocksdb::Options options;
    options.env = memory.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.listeners.push_back(walks);
    EXPECT_TRUE(rocksdb::DB::Open(options, "/db", &database).ok());
    walks->are_over(*database, *database->DefaultColumnFamily());
  }
  WalksTest(const WalksTest&) = delete;
  WalksTest& operator=(const WalksTest&) = delete;
  ~WalksTest() override {
    walks->forget();
    EXPECT_TRUE(database->Close().ok());
    delete database;
  }

  void put(const std::string& key) { ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), key, "x").ok()); }
  void flush() { ASSERT_TRUE(database->Flush(rocksdb::FlushOptions()).ok()); }
  Keys keys(const std::string& first, const std::string& last, const rocksdb::Snapshot* at = nullptr) {
    Keys found;
    const Walks::Walk entries = walks->walk(first, last, at);
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) found.push_back(entries->key().ToString());
    EXPECT_TRUE(entries->status().ok());
    return found;
  }
  Keys backwards(const std::string& first, const std::string& last) {
    Keys found;
    const Walks::Walk entries = walks->walk(first, last, nullptr);
    for (entries->SeekToLast(); entries->Valid(); entries->Prev()) found.push_back(entries->key().ToString());
    return found;
  }

  const std::unique_ptr<rocksdb::Env> memory{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  const std::shared_ptr<Walks> walks = std::make_shared<Walks>();
  rocksdb::DB* database = nullptr;
};

TEST_F(WalksTest, GoFromTheFirstUpToTheLast) {
  for (const char* key : {"a", "b", "c", "d"}) put(key);
  EXPECT_EQ(keys("b", "d"), (Keys{"b", "c"}));
  EXPECT_EQ(backwards("b", "d"), (Keys{"c", "b"}));
  EXPECT_EQ(keys("e", "f"), Keys());
}

TEST_F(WalksTest, AreKeptAndSeeWhatWasWrittenSince) {
  put("b");
  EXPECT_EQ(walks->kept(), 0U);
  EXPECT_EQ(keys("a", "d"), (Keys{"b"}));
  EXPECT_EQ(walks->kept(), 1U);
  put("c");
  EXPECT_EQ(keys("a", "d"), (Keys{"b", "c"}));
  EXPECT_EQ(walks->kept(), 1U);
  ASSERT_TRUE(database->Delete(rocksdb::WriteOptions(), "b").ok());
  EXPECT_EQ(keys("a", "d"), (Keys{"c"}));
}

// All keys lie in one block of a table, and the bounds come nearer and go away again.
TEST_F(WalksTest, HaveTheirOwnBoundsEachTime) {
  for (char key = 'a'; key <= 'z'; ++key) put(std::string(1, key));
  flush();
  for (char last = 'z'; last > 'a'; --last) {
    for (const char first : {'a', 'k', static_cast<char>(last - 1)}) {
      Keys expected;
      for (char key = first; key < last; ++key) expected.emplace_back(1, key);
      EXPECT_EQ(keys(std::string(1, first), std::string(1, last)), expected);
      EXPECT_EQ(backwards(std::string(1, first), std::string(1, last)), Keys(expected.rbegin(), expected.rend()));
    }
  }
  EXPECT_EQ(keys("a", "zz").size(), 26U);
  EXPECT_EQ(walks->kept(), 1U);
}

TEST_F(WalksTest, OfASnapshotSeeItAndAreNotKept) {
  put("a");
  const rocksdb::Snapshot* before = database->GetSnapshot();
  put("b");
  EXPECT_EQ(keys("a", "z", before), (Keys{"a"}));
  EXPECT_EQ(walks->kept(), 0U);
  EXPECT_EQ(keys("a", "z"), (Keys{"a", "b"}));
  EXPECT_EQ(keys("a", "z", before), (Keys{"a"}));
  EXPECT_EQ(walks->kept(), 1U);
  database->ReleaseSnapshot(before);
}

TEST_F(WalksTest, InsideOfOneAnotherAreDifferent) {
  for (const char* key : {"a", "b", "c"}) put(key);
  const Walks::Walk outer = walks->walk("a", "d", nullptr);
  outer->SeekToFirst();
  EXPECT_EQ(keys("b", "c"), (Keys{"b"}));
  outer->Next();
  outer->Next();
  ASSERT_TRUE(outer->Valid());
  EXPECT_EQ(outer->key().ToString(), "c");
}

// Whoever kept one would hold tables that nobody else needs.
TEST_F(WalksTest, AreForgottenWhenTablesChange) {
  put("a");
  EXPECT_EQ(keys("a", "z"), (Keys{"a"}));
  flush();
  EXPECT_EQ(walks->kept(), 0U);
  put("b");
  flush();
  EXPECT_EQ(keys("a", "z"), (Keys{"a", "b"}));
  EXPECT_EQ(walks->kept(), 1U);

  ASSERT_TRUE(database->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(walks->kept(), 0U);
  EXPECT_EQ(keys("a", "z"), (Keys{"a", "b"}));
  EXPECT_EQ(walks->kept(), 1U);

  const std::string path = "/table";
  rocksdb::SstFileWriter table(rocksdb::EnvOptions(), database->GetOptions());
  ASSERT_TRUE(table.Open(path).ok());
  ASSERT_TRUE(table.Put("c", "x").ok());
  ASSERT_TRUE(table.Finish().ok());
  ASSERT_TRUE(database->IngestExternalFile({path}, rocksdb::IngestExternalFileOptions()).ok());
  EXPECT_EQ(walks->kept(), 0U);
  EXPECT_EQ(keys("a", "z"), (Keys{"a", "b", "c"}));
}

TEST_F(WalksTest, ThatWentOnWhileTablesChangedAreNotKept) {
  put("a");
  {
    const Walks::Walk entries = walks->walk("a", "z", nullptr);
    entries->SeekToFirst();
    flush();
    ASSERT_TRUE(entries->Valid());
    entries->Next();
    EXPECT_FALSE(entries->Valid());
  }
  EXPECT_EQ(walks->kept(), 0U);
}

// One writes and flushes; nobody who looks sees less than was there when the look began.
TEST_F(WalksTest, OfManyThreadsMissNothing) {
  constexpr int written = 6'000;
  constexpr int between_flushes = 150;
  constexpr int readers = 3;
  const auto name = [](int number) {
    std::string key = std::to_string(number);
    return std::string(6 - key.size(), '0') + key;
  };
  std::atomic<int> done = 0;
  std::atomic<int> missed = 0;
  std::atomic<int> looks = 0;
  std::vector<std::thread> running;
  for (int reader = 0; reader < readers; ++reader) {
    running.emplace_back([&] {
      while (done < written) {
        const int there = done;
        const int first = std::max(0, there - 20);
        int seen = 0;
        const Walks::Walk entries = walks->walk(name(first), name(there), nullptr);
        for (entries->SeekToFirst(); entries->Valid(); entries->Next()) ++seen;
        if (seen != there - first) ++missed;
        ++looks;
      }
    });
  }
  for (int number = 0; number < written; ++number) {
    put(name(number));
    done = number + 1;
    if (number % between_flushes == 0) flush();
  }
  for (std::thread& one : running) one.join();
  EXPECT_EQ(missed, 0);
  EXPECT_GT(looks, readers);
}

}  // namespace
}  // namespace noam::stores
