// One moment of the store, and walks over all of it.

#include <map>
#include <set>

#include "tests/contract/store_contract.h"

namespace noam::tests {
namespace {

using model::Datum;
using stores::Add;
using stores::Change;
using stores::Delete;
using stores::Entry;
using stores::EntryRef;
using stores::Key;
using stores::Outcome;
using stores::Put;
using stores::ScanPage;
using stores::Version;

using Contents = std::map<std::pair<Key, Key>, Key>;  // by block and entry key

Contents contents_of(const std::vector<ScanPage::Item>& items) {
  Contents contents;
  for (const ScanPage::Item& item : items) {
    EXPECT_TRUE(contents.emplace(std::pair(item.block, item.entry.key), item.entry.columns).second)
        << "twice: " << testing::PrintToString(item);
  }
  return contents;
}

TEST_P(StoreContract, ReadsOneMomentWhileOthersCommit) {
  NOAM_NEEDS_SNAPSHOTS();
  const EntryRef changed = entry("b", sample::numbers, {1});
  const EntryRef deleted = entry("b", sample::numbers, {2});
  const EntryRef made = entry("b", sample::numbers, {3});
  const EntryRef count = entry("b", sample::counts, {"c"});
  ASSERT_EQ(commit({Put{changed, {"old"}}, Put{deleted, {"there"}}, Put{count, {1, Datum(), Datum(), Datum()}}}),
            Outcome::Applied);
  const auto then = store->snapshot();
  const auto before = read(block("b"), sample::numbers, then.get());

  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(commit({Put{changed, {"new " + std::to_string(i)}}, Delete{deleted}, Put{made, {"made"}},
                      Add{count, {1, Datum(), Datum(), Datum()}, 0}}),
              Outcome::Applied);
    ASSERT_EQ(commit({Put{entry("new block", sample::head), {"x", 1}}}), Outcome::Applied);
    EXPECT_EQ(read(block("b"), sample::numbers, then.get()).entries, before.entries);
    EXPECT_EQ(columns(count, then.get()), (Key{1, Datum(), Datum(), Datum()}));
    EXPECT_EQ(columns(entry("new block", sample::head), then.get()), std::nullopt);
  }
  EXPECT_EQ(read(block("b"), sample::numbers).entries, (std::vector<Entry>{{{1}, {"new 2"}}, {{3}, {"made"}}}));

  // Limits count what the snapshot sees.
  stores::ReadRequest request{block("b"), sample::numbers, {}, {}, false, 2};
  EXPECT_FALSE(read(request, then.get()).more);
  request.limit = 1;
  request.reverse = true;
  const auto last = read(request, then.get());
  EXPECT_EQ(last.entries, (std::vector<Entry>{{{2}, {"there"}}}));
  EXPECT_TRUE(last.more);
}

TEST_P(StoreContract, ReadsABlockThatIsGoneMeanwhile) {
  NOAM_NEEDS_SNAPSHOTS();
  const EntryRef head = entry("b", sample::head);
  ASSERT_EQ(commit({Put{head, {"x", 1}}}), Outcome::Applied);
  const auto with = store->snapshot();
  ASSERT_EQ(commit({Delete{head}}), Outcome::Applied);
  const auto without = store->snapshot();
  ASSERT_EQ(commit({Put{head, {"y", 2}}}), Outcome::Applied);
  EXPECT_EQ(columns(head, with.get()), (Key{"x", 1}));
  EXPECT_EQ(columns(head, without.get()), std::nullopt);
  EXPECT_EQ(columns(head), (Key{"y", 2}));
}

TEST_P(StoreContract, KeepsSeveralMoments) {
  NOAM_NEEDS_SNAPSHOTS();
  const EntryRef head = entry("b", sample::head);
  std::map<int, std::unique_ptr<stores::Snapshot>> moments;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(commit({Put{head, {"x", i}}}), Outcome::Applied);
    moments[i] = store->snapshot();
  }
  // The others see what they saw, in whatever order some are let go.
  for (const int gone : {7, 0, 8, 19, 6, 3}) {
    moments.erase(gone);
    ASSERT_EQ(commit({Put{head, {"later", gone}}}), Outcome::Applied);
    for (const auto& [i, moment] : moments) EXPECT_EQ(columns(head, moment.get()), (Key{"x", i}));
  }
}

TEST_P(StoreContract, ConflictsWithWhatCameAfterTheSnapshot) {
  NOAM_NEEDS_SNAPSHOTS();
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  const auto then = store->snapshot();
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"y", 2}}}), Outcome::Applied);
  ASSERT_EQ(commit({Put{entry("appeared", sample::head), {"z", 3}}}), Outcome::Applied);
  // Read after the commits, but of the moment before them.
  const Version changed = read(block("b"), sample::head, then.get()).version;
  const Version appeared = read(block("appeared"), sample::head, then.get()).version;
  EXPECT_EQ(commit({{unchanged(block("b"), changed)}, {}}), Outcome::Conflict);
  EXPECT_EQ(commit({{unchanged(block("appeared"), appeared)}, {}}), Outcome::Conflict);
  const Version all = store->scan(sample::head, "", then.get(), stores::no_deadline)->version;
  EXPECT_EQ(commit({{unchanged_collection(sample::blocks, all)}, {}}), Outcome::Conflict);

  const auto now = store->snapshot();
  const Version fresh = read(block("b"), sample::head, now.get()).version;
  EXPECT_EQ(commit({{unchanged(block("b"), fresh)}, {Put{entry("b", sample::head), {"w", 4}}}}), Outcome::Applied);
}

TEST_P(StoreContract, ScansAllEntriesBlockByBlock) {
  for (const std::size_t page_size : {std::size_t{1}, std::size_t{7}, std::size_t{1'000}}) {
    reopen({.scan_page = page_size});
    Contents expected;
    for (int b = 0; b < 10; ++b) {
      std::vector<Change> changes = {Put{entry("b" + std::to_string(b), sample::head), {"x", b}}};
      for (int i = 0; i < b; ++i) {
        changes.emplace_back(Put{entry("b" + std::to_string(b), sample::mixed, {"m", i, decimal("0.5")}), {i}});
        expected[{{"b" + std::to_string(b)}, {"m", i, decimal("0.5")}}] = {i};
      }
      ASSERT_EQ(commit(std::move(changes)), Outcome::Applied);
    }
    const auto items = scan(sample::mixed);
    EXPECT_EQ(contents_of(items), expected);
    EXPECT_EQ(scan(sample::head).size(), 10U);
    EXPECT_TRUE(scan(sample::other_head).empty());

    // A block is left once, and within it entries come in their order.
    std::set<Key> left;
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (items[i].block == items[i - 1].block) {
        EXPECT_GT(items[i - 1].entry.key[1], items[i].entry.key[1]);
      } else {
        left.insert(items[i - 1].block);
        EXPECT_EQ(left.count(items[i].block), 0U);
      }
    }
    // The same order again.
    const auto again = scan(sample::mixed);
    ASSERT_EQ(again.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(again[i].block, items[i].block);
      EXPECT_EQ(again[i].entry, items[i].entry);
    }
  }
}

TEST_P(StoreContract, ScansOnFromKeysOfEveryType) {
  reopen({.scan_page = 1});
  for (std::size_t n = 0; n < sample_types().size(); ++n) {
    std::vector<Change> changes;
    for (const Datum& value : sample_types()[n].ascending) {
      changes.emplace_back(Put{entry("b", sample::by_type(n, true), {value}), {1}});
    }
    ASSERT_EQ(commit(std::move(changes)), Outcome::Applied);
    EXPECT_EQ(contents_of(scan(sample::by_type(n, true))).size(), sample_types()[n].ascending.size())
        << sample_types()[n].name;
  }
}

// Writes between the pages, around the place where the scan is.
TEST_P(StoreContract, ScansOneMomentWhileOthersWrite) {
  NOAM_NEEDS_SNAPSHOTS();
  reopen({.scan_page = 3});
  Contents expected;
  const auto at = [&](int b, int i) {
    return EntryRef{other_block(b % 3, "b" + std::to_string(b)), sample::other_numbers, {i}};
  };
  for (int b = 0; b < 8; ++b) {
    for (int i = 0; i < 8; i += 2) {
      ASSERT_EQ(commit({Put{at(b, i), {i}}}), Outcome::Applied);
      expected[{at(b, i).block.key, {i}}] = {i};
    }
  }
  const auto then = store->snapshot();
  std::vector<ScanPage::Item> items;
  std::string after;
  int step = 0;
  do {
    const auto page = store->scan(sample::other_numbers, after, then.get(), stores::no_deadline);
    ASSERT_TRUE(page) << page.error().message;
    items.insert(items.end(), page->items.begin(), page->items.end());
    after = page->next;
    // Over the rounds every entry is deleted, changed or made.
    for (int b = 0; b < 8; ++b) {
      ASSERT_EQ(commit({Delete{at(b, step % 8)}}), Outcome::Applied);
      ASSERT_EQ(commit({Put{at(b, (step + 1) % 8), {-step}}}), Outcome::Applied);
      ASSERT_EQ(commit({Put{at(b + 100, step), {-step}}}), Outcome::Applied);
    }
    ++step;
  } while (!after.empty());
  EXPECT_GE(step, 10);
  EXPECT_EQ(contents_of(items), expected);
  EXPECT_EQ(contents_of(scan(sample::other_numbers, then.get())), expected);
  EXPECT_NE(contents_of(scan(sample::other_numbers)), expected);
}

TEST_P(StoreContract, ScansWithoutASnapshotWhatStaysWhileOthersWrite) {
  reopen({.scan_page = 2});
  std::set<std::pair<Key, Key>> staying;
  for (int b = 0; b < 6; ++b) {
    const std::string name = "b" + std::to_string(b);
    for (int i = 0; i < 6; ++i) {
      ASSERT_EQ(commit({Put{entry(name, sample::numbers, {i}), {"x"}}}), Outcome::Applied);
      if (i % 2 == 0) staying.insert({{name}, {i}});
    }
  }
  std::vector<ScanPage::Item> items;
  std::string after;
  int step = 0;
  do {
    const auto page = store->scan(sample::numbers, after, nullptr, stores::no_deadline);
    ASSERT_TRUE(page) << page.error().message;
    items.insert(items.end(), page->items.begin(), page->items.end());
    after = page->next;
    // Also the entry where the scan stopped, where it is one of these.
    for (int b = 0; b < 6; ++b) {
      ASSERT_EQ(commit({Delete{entry("b" + std::to_string(b), sample::numbers, {2 * (step % 3) + 1})}}),
                Outcome::Applied);
    }
    ASSERT_EQ(commit({Put{entry("new" + std::to_string(step), sample::head), {"x", 1}}}), Outcome::Applied);
    ++step;
  } while (!after.empty());
  for (const auto& [place, columns] : contents_of(items)) staying.erase(place);
  EXPECT_TRUE(staying.empty());
}

}  // namespace
}  // namespace noam::tests
