// What a read answers: which entries, in which order.

#include <algorithm>
#include <random>

#include "tests/contract/store_contract.h"

namespace noam::tests {
namespace {

using model::Datum;
using stores::Answer;
using stores::Bound;
using stores::Change;
using stores::Entry;
using stores::Key;
using stores::Outcome;
using stores::Put;
using stores::ReadRequest;

std::vector<Key> keys_of(const Answer& answer) {
  std::vector<Key> keys;
  for (const Entry& entry : answer.entries) keys.push_back(entry.key);
  return keys;
}

TEST_P(StoreContract, AnswersInTheOrderOfTheKeyWhateverItsType) {
  std::mt19937 random(1);
  for (std::size_t n = 0; n < sample_types().size(); ++n) {
    SCOPED_TRACE(sample_types()[n].name);
    for (const bool descending : {false, true}) {
      const std::uint32_t family = sample::by_type(n, descending);
      std::vector<Key> expected;
      for (const Datum& value : sample_types()[n].ascending) expected.push_back({value});
      if (descending) std::reverse(expected.begin(), expected.end());

      std::vector<Key> shuffled = expected;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      std::vector<Change> changes;
      for (const Key& key : shuffled) changes.emplace_back(Put{entry("b", family, key), {1}});
      ASSERT_EQ(commit(std::move(changes)), Outcome::Applied);
      EXPECT_EQ(keys_of(read(block("b"), family)), expected);

      // Each value bounds what it should.
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ReadRequest request{block("b"), family, {expected[i], true}, {expected[i], true}, false, 0};
        EXPECT_EQ(keys_of(read(request)), std::vector<Key>{expected[i]});
        request.to = {};
        EXPECT_EQ(keys_of(read(request)), std::vector<Key>(expected.begin() + static_cast<long>(i), expected.end()));
        request.to = request.from;
        request.to.inclusive = false;
        request.from = {};
        EXPECT_EQ(keys_of(read(request)), std::vector<Key>(expected.begin(), expected.begin() + static_cast<long>(i)));
      }
    }
  }
}

TEST_P(StoreContract, GivesBackWhatWasPutWhateverItsType) {
  const std::size_t widest = 30;
  for (std::size_t i = 0; i < widest; ++i) {
    Key expected;
    for (const SampleType& type : sample_types()) expected.push_back(type.ascending[i % type.ascending.size()]);
    const stores::EntryRef value = entry("b", sample::values, {static_cast<std::int64_t>(i)});
    ASSERT_EQ(commit({Put{value, expected}}), Outcome::Applied);
    EXPECT_EQ(columns(value), expected);
  }
}

TEST_P(StoreContract, TakesEveryValueAsPartOfABlockKey) {
  std::int64_t n = 0;
  for (const Datum& number : sample_types()[1].ascending) {
    for (const Datum& text : sample_types()[4].ascending) {
      const stores::EntryRef entry{{sample::others, {number, text}}, sample::other_head, {}};
      ASSERT_EQ(commit({Put{entry, {n++}}}), Outcome::Applied);
    }
  }
  n = 0;
  for (const Datum& number : sample_types()[1].ascending) {
    for (const Datum& text : sample_types()[4].ascending) {
      EXPECT_EQ(columns({{sample::others, {number, text}}, sample::other_head, {}}), Key{n++});
    }
  }
  EXPECT_EQ(scan(sample::other_head).size(), static_cast<std::size_t>(n));
}

// Entries of `mixed`, in their order: text, int descending, decimal.
std::vector<Key> mixed_keys() {
  std::vector<Key> keys;
  for (const Datum& text : {Datum(), Datum(""), Datum("a"), Datum("a\x01"), Datum("b")}) {
    for (const Datum& number : {Datum(256), Datum(1), Datum(-1), Datum()}) {
      for (const Datum& amount : {Datum(), decimal("-1.5"), decimal("10")}) keys.push_back({text, number, amount});
    }
  }
  return keys;
}

// Before, among or after the keys that begin with the parts, said anew, for `mixed`.
int place_of(const Key& key, const Key& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (key[i] == parts[i]) continue;
    const bool less = i == 1 ? key[i] > parts[i] : key[i] < parts[i];
    return less ? -1 : 1;
  }
  return 0;
}

bool within(const Key& key, const Bound& from, const Bound& to) {
  const int after = from.parts.empty() ? 1 : place_of(key, from.parts);
  const int before = to.parts.empty() ? -1 : place_of(key, to.parts);
  return (after > 0 || (after == 0 && from.inclusive)) && (before < 0 || (before == 0 && to.inclusive));
}

TEST_P(StoreContract, KeepsMixedDirections) {
  std::vector<Key> shuffled = mixed_keys();
  std::mt19937 random(2);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  std::vector<Change> changes;
  for (const Key& key : shuffled) changes.emplace_back(Put{entry("b", sample::mixed, key), {1}});
  ASSERT_EQ(commit(std::move(changes)), Outcome::Applied);

  EXPECT_EQ(keys_of(read(block("b"), sample::mixed)), mixed_keys());
}

TEST_P(StoreContract, AnswersWhatLiesWithinTheBounds) {
  const std::vector<Key> keys = mixed_keys();
  std::vector<Change> changes;
  for (const Key& key : keys) changes.emplace_back(Put{entry("b", sample::mixed, key), {1}});
  // Neighbours that no bound may reach.
  changes.emplace_back(Put{entry("b", sample::numbers, {1}), {"x"}});
  ASSERT_EQ(commit(std::move(changes)), Outcome::Applied);

  // Prefixes of every length, also some of which there is no entry.
  std::vector<Bound> bounds = {{{}, true}, {{}, false}};
  for (const Key& parts : std::vector<Key>{{Datum()},
                                           {""},
                                           {"a"},
                                           {"aa"},
                                           {"a", 1},
                                           {"a", 0},
                                           {"a", Datum()},
                                           {"a\x01", 256},
                                           {"a", 1, decimal("-1.5")},
                                           {"a", 1, decimal("3")},
                                           {"b", Datum(), decimal("10")},
                                           {"c"}}) {
    bounds.push_back({parts, true});
    bounds.push_back({parts, false});
  }
  const bool slow = GetParam().rounds < 50;
  std::size_t pairs = 0;
  for (const Bound& from : bounds) {
    for (const Bound& to : bounds) {
      if (slow && ++pairs % 7 != 0) continue;
      std::vector<Key> expected;
      std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected),
                   [&](const Key& key) { return within(key, from, to); });
      for (const bool reverse : {false, true}) {
        if (reverse) std::reverse(expected.begin(), expected.end());
        // One after the other, or where that takes long, together.
        const std::vector<std::size_t> limits = {0, 1, 4, expected.size()};
        std::vector<stores::ReadRequest> requests;
        for (const std::size_t limit : limits)
          requests.push_back({block("b"), sample::mixed, from, to, reverse, limit});
        stores::Answers together;
        if (slow) {
          ASSERT_TRUE(store->read(requests, nullptr, stores::no_deadline, together));
        }
        for (std::size_t i = 0; i < limits.size(); ++i) {
          const std::size_t limit = limits[i];
          SCOPED_TRACE(testing::PrintToString(from.parts) + (from.inclusive ? "" : " excluded") + " to " +
                       testing::PrintToString(to.parts) + (to.inclusive ? "" : " excluded") +
                       (reverse ? ", reverse" : "") + ", limit " + std::to_string(limit));
          const Answer answer = together.empty() ? read(requests[i]) : together[i];
          const std::size_t count = limit == 0 ? expected.size() : std::min(limit, expected.size());
          ASSERT_EQ(keys_of(answer), std::vector<Key>(expected.begin(), expected.begin() + static_cast<long>(count)));
          ASSERT_EQ(answer.more, count < expected.size());
        }
      }
    }
  }
}

TEST_P(StoreContract, AnswersAnAbsentBlockWithNothing) {
  const Answer answer = read(block("nowhere"), sample::numbers);
  EXPECT_TRUE(answer.entries.empty());
  EXPECT_FALSE(answer.more);

  ASSERT_EQ(commit({Put{entry("b", sample::head), {"x", 1}}}), Outcome::Applied);
  EXPECT_TRUE(read(block("b"), sample::numbers).entries.empty());
}

TEST_P(StoreContract, KeepsBlocksFamiliesAndCollectionsApart) {
  NOAM_NEEDS_COMMITS_OF_SEVERAL_BLOCKS();
  const stores::EntryRef other{other_block(1, "b"), sample::other_numbers, {1}};
  const stores::EntryRef other_twin{other_block(1, ""), sample::other_numbers, {1}};
  ASSERT_EQ(commit({Put{entry("b", sample::numbers, {1}), {"numbers of b"}},
                    Put{entry("", sample::numbers, {1}), {"numbers of nothing"}},
                    Put{entry("b", sample::values, {1}), Key(sample_types().size())}, Put{other, {7}},
                    Put{other_twin, {8}}}),
            Outcome::Applied);

  EXPECT_EQ(read(block("b"), sample::numbers).entries, (std::vector<Entry>{{{1}, {"numbers of b"}}}));
  EXPECT_EQ(read(block(""), sample::numbers).entries, (std::vector<Entry>{{{1}, {"numbers of nothing"}}}));
  EXPECT_EQ(read(block("b"), sample::values).entries, (std::vector<Entry>{{{1}, Key(sample_types().size())}}));
  EXPECT_EQ(columns(other), Key{7});
  EXPECT_EQ(columns(other_twin), Key{8});
}

TEST_P(StoreContract, AnswersManyRequestsInTheirOrder) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(commit({Put{entry("b" + std::to_string(i), sample::numbers, {i}), {"x"}}}), Outcome::Applied);
  }
  std::vector<ReadRequest> requests;
  for (const int i : {3, 0, 9, 3, 1}) {
    requests.push_back({block("b" + std::to_string(i)), sample::numbers, {}, {}, false, 0});
  }
  requests.push_back({other_block(1, "x"), sample::other_head, {}, {}, false, 0});
  stores::Answers answers(3);  // what was there before does not stay
  ASSERT_TRUE(store->read(requests, nullptr, stores::no_deadline, answers));
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_EQ(keys_of(answers[0]), std::vector<Key>{{3}});
  EXPECT_EQ(keys_of(answers[1]), std::vector<Key>{{0}});
  EXPECT_TRUE(answers[2].entries.empty());
  EXPECT_EQ(keys_of(answers[3]), std::vector<Key>{{3}});
  EXPECT_EQ(keys_of(answers[4]), std::vector<Key>{{1}});
  EXPECT_TRUE(answers[5].entries.empty());

  ASSERT_TRUE(store->read({}, nullptr, stores::no_deadline, answers));
  EXPECT_TRUE(answers.empty());
}

TEST_P(StoreContract, GathersTheFirstColumnsOfEntries) {
  ASSERT_EQ(commit({Put{entry("b", sample::head), {"a title that is longer than a few bytes", 1}},
                    Put{entry("b", sample::numbers, {2}), {"second"}},
                    Put{entry("b", sample::numbers, {1}), {model::Datum()}},
                    Put{entry("b", sample::numbers, {3}), {"the third, also longer than a few"}}}),
            Outcome::Applied);
  const auto list = [](model::Datum::List items) { return std::vector<Entry>{{{}, {model::Datum(std::move(items))}}}; };
  for (const bool with_head : {false, true}) {
    for (const bool head_gathered : {false, true}) {
      std::vector<ReadRequest> requests;
      if (with_head) requests.push_back({block("b"), sample::head, {}, {}, false, 0, head_gathered});
      requests.push_back({block("b"), sample::numbers, {}, {}, false, 0, true});
      stores::Answers answers;
      ASSERT_TRUE(store->read(requests, nullptr, stores::no_deadline, answers));
      EXPECT_EQ(answers.back().entries, list({model::Datum(), "second", "the third, also longer than a few"}));
      if (!with_head) continue;
      const model::Datum title = "a title that is longer than a few bytes";
      EXPECT_EQ(answers[0].entries, head_gathered ? list({title}) : (std::vector<Entry>{{{}, {title, 1}}}));
    }
  }
  const Answer last = read({block("b"), sample::numbers, {}, {}, true, 1, true});
  EXPECT_EQ(last.entries, list({"the third, also longer than a few"}));
  EXPECT_TRUE(last.more);
  EXPECT_EQ(read({block("b"), sample::numbers, {{2}}, {{2}}, false, 0, true}).entries, list({"second"}));
  EXPECT_EQ(read({block("none"), sample::numbers, {}, {}, false, 0, true}).entries, list({}));
}

}  // namespace
}  // namespace noam::tests
