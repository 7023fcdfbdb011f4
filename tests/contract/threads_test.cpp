// Several threads on one store.

#include <atomic>
#include <latch>
#include <thread>

#include "tests/contract/store_contract.h"

namespace noam::tests {
namespace {

using model::Datum;
using stores::Add;
using stores::Answers;
using stores::EntryRef;
using stores::Key;
using stores::Outcome;
using stores::Put;
using stores::ReadRequest;
using stores::WriteBatch;

constexpr int thread_count = 8;

// All begin at once.
template <typename Work>
void run_in_threads(const Work& work) {
  std::latch all_there(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&work, &all_there, i] {
      all_there.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(StoreContract, LosesNoIncrementByReadAndPut) {
  const int rounds = GetParam().rounds;
  const EntryRef counter = entry("b", sample::head);
  std::atomic<int> conflicts = 0;
  std::atomic<int> errors = 0;
  run_in_threads([&](int) {
    for (int left = rounds; left > 0;) {
      const ReadRequest request{counter.block, counter.family, {}, {}, false, 0};
      Answers answers;
      if (!store->read({&request, 1}, nullptr, stores::no_deadline, answers)) {
        ++errors;
        return;
      }
      const auto& entries = answers.front().entries;
      const std::int64_t number = entries.empty() ? 0 : entries.front().columns[1].as_int();
      if (left % 4 == 0) std::this_thread::yield();  // so that others come between, however few the processors
      const WriteBatch batch{{unchanged(counter.block, answers.front().version)}, {Put{counter, {"x", number + 1}}}};
      const auto outcome = store->commit(batch, stores::no_deadline);
      if (!outcome || (*outcome != Outcome::Applied && *outcome != Outcome::Conflict)) {
        ++errors;
        return;
      }
      if (*outcome == Outcome::Applied) {
        --left;
      } else {
        ++conflicts;
      }
    }
  });
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(columns(counter), (Key{"x", thread_count * rounds}));
  EXPECT_GT(conflicts, 0);
}

TEST_P(StoreContract, LosesNoIncrementByAdd) {
  const int rounds = GetParam().rounds;
  const EntryRef counter = entry("b", sample::counts, {"c"});
  std::atomic<int> errors = 0;
  run_in_threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      // Up by two, down by one.
      for (const int addend : {2, -1}) {
        const Datum half = decimal(addend > 0 ? "1.5" : "-1");
        const WriteBatch batch{{}, {Add{counter, {addend, half, Datum(), Datum()}, 0}}};
        const auto outcome = store->commit(batch, stores::no_deadline);
        if (!outcome || *outcome != Outcome::Applied) ++errors;
      }
    }
  });
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(columns(counter),
            (Key{thread_count * rounds, decimal(std::to_string(thread_count * rounds / 2)), Datum(), Datum()}));
}

// Half of the threads move amounts between blocks, the others look: at any one moment nothing is on its way.
TEST_P(StoreContract, SeesNoCommitByHalf) {
  NOAM_NEEDS_SNAPSHOTS();
  NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS();
  constexpr int accounts = 6;
  const int rounds = GetParam().rounds;
  const auto account = [&](int i) { return entry("account " + std::to_string(i), sample::numbers, {1}); };
  const auto count = [&](int i) { return entry("account " + std::to_string(i), sample::counts, {"c"}); };
  for (int i = 0; i < accounts; ++i) {
    ASSERT_EQ(commit({Put{count(i), {100'000, Datum(), Datum(), Datum()}}}), Outcome::Applied);
  }
  std::atomic<int> wrong = 0;
  std::atomic<int> moving = thread_count / 2;
  run_in_threads([&](int thread) {
    if (thread % 2 == 0) {
      for (int i = 0; i < rounds; ++i) {
        const int from = (thread + i) % accounts;
        const int to = (from + 1 + i % (accounts - 1)) % accounts;
        // An entry of each block also comes and goes.
        const std::string name = std::to_string(i);
        const WriteBatch batch{{},
                               {Add{count(from), {-1, Datum(), Datum(), Datum()}, 0},
                                Add{count(to), {1, Datum(), Datum(), Datum()}, 0}, Put{account(to), {name}},
                                stores::Delete{account(from)}}};
        const auto outcome = store->commit(batch, stores::no_deadline);
        if (!outcome || *outcome != Outcome::Applied) ++wrong;
      }
      --moving;
      return;
    }
    do {
      const auto snapshot = store->snapshot();
      std::int64_t total = 0;
      for (int i = 0; i < accounts; ++i) {
        const ReadRequest request{count(i).block, sample::counts, {}, {}, false, 0};
        Answers answers;
        if (!store->read({&request, 1}, snapshot.get(), stores::no_deadline, answers)) ++wrong;
        for (const auto& entry : answers.front().entries) total += entry.columns[0].as_int();
      }
      if (total != 100'000 * accounts) ++wrong;
      const auto page = store->scan(sample::counts, "", snapshot.get(), stores::no_deadline);
      if (!page) ++wrong;
      for (const auto& item : page->items) total -= item.entry.columns[0].as_int();
      if (total != 0) ++wrong;
    } while (moving > 0);
  });
  EXPECT_EQ(wrong, 0);
}

// Each may take a place if nobody has; nobody writes what another reads, except by this.
TEST_P(StoreContract, GivesAnAbsentBlockToOne) {
  NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS();
  const int places = GetParam().rounds;
  std::atomic<int> taken = 0;
  std::atomic<int> errors = 0;
  run_in_threads([&](int thread) {
    for (int place = 0; place < places; ++place) {
      const auto winner = entry("place " + std::to_string(place), sample::head);
      const auto mine = entry("thread " + std::to_string(thread), sample::numbers, {place});
      for (bool again = true; again;) {
        const ReadRequest request{winner.block, sample::head, {}, {}, false, 0};
        Answers answers;
        if (!store->read({&request, 1}, nullptr, stores::no_deadline, answers)) ++errors;
        if (!answers.front().entries.empty()) break;
        if (place % 4 == 0) std::this_thread::yield();
        const WriteBatch batch{{unchanged(winner.block, answers.front().version)},
                               {Put{winner, {"taken", thread}}, Put{mine, {"won"}}}};
        const auto outcome = store->commit(batch, stores::no_deadline);
        if (!outcome) ++errors;
        again = outcome && *outcome == Outcome::Conflict;
        if (outcome && *outcome == Outcome::Applied) ++taken;
      }
    }
  });
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(taken, places);
  EXPECT_EQ(scan(sample::head).size(), static_cast<std::size_t>(places));
  EXPECT_EQ(scan(sample::numbers).size(), static_cast<std::size_t>(places));
}

}  // namespace
}  // namespace noam::tests
