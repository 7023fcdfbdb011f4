#include "noam/stores/cassandra/slices.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace noam::stores::cassandra {
namespace {

using model::Datum;
using Numbers = std::vector<int>;

KeyBound bound(const Numbers& numbers, bool inclusive = true) {
  KeyBound out{{}, inclusive};
  for (const int number : numbers) out.cells.push_back({Datum(number), std::to_string(number)});
  return out;
}

std::string text(const std::vector<Slice>& all) {
  std::string out;
  for (const Slice& slice : all) {
    out += out.empty() ? "" : "; ";
    for (const std::string& part : slice.equal) out += "=" + part + " ";
    if (slice.low) out += (slice.low->inclusive ? ">=" : ">") + slice.low->bytes + " ";
    if (slice.high) out += (slice.high->inclusive ? "<=" : "<") + slice.high->bytes + " ";
  }
  return out;
}

TEST(Slices, OfEverythingAreOne) { EXPECT_EQ(slices({}, {}, {false}), std::vector<Slice>(1)); }

TEST(Slices, OfOneColumnAreOne) {
  EXPECT_EQ(text(slices(bound({3}), bound({5}, false), {false})), ">=3 <5 ");
  EXPECT_EQ(text(slices(bound({5}), bound({3}, false), {true})), ">3 <=5 ");
  EXPECT_EQ(text(slices(bound({3}, false), {}, {false})), ">3 ");
  EXPECT_EQ(text(slices(bound({3}, false), {}, {true})), "<3 ");
}

TEST(Slices, BeginWithWhatBothBoundsShare) {
  EXPECT_EQ(text(slices(bound({7, 3}), bound({7, 5}), {false, false})), "=7 >=3 <=5 ");
  EXPECT_EQ(text(slices(bound({7}), bound({7}), {false, false})), "=7 ");
  EXPECT_EQ(text(slices(bound({7}), bound({7, 5}), {false, false})), "=7 <=5 ");
}

TEST(Slices, BehindAKeyOfSeveralPartsAreSeveral) {
  EXPECT_EQ(text(slices(bound({7, 3, 1}, false), {}, {false, false, false})), "=7 =3 >1 ; =7 >3 ; >7 ");
  EXPECT_EQ(text(slices(bound({7, 3}, false), bound({9, 2}), {true, false})), "");
  EXPECT_EQ(text(slices(bound({9, 3}, false), bound({7, 2}), {true, false})), "=9 >3 ; >7 <9 ; =7 <=2 ");
}

TEST(Slices, OfAnEmptyRangeAreNone) {
  EXPECT_TRUE(slices(bound({5}), bound({3}), {false}).empty());
  EXPECT_TRUE(slices(bound({7}, false), bound({7, 5}), {false, false}).empty());
  EXPECT_TRUE(slices(bound({7, 5}), bound({7, 5}, false), {false, false}).empty());
}

// Whatever the bounds: the slices together have the entries of the range, each once, in their order.
TEST(Slices, HaveTheEntriesOfTheRange) {
  std::mt19937 random(20'261);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<bool> descending = {below(2) == 1, below(2) == 1, below(2) == 1};
    const auto compare = [&](const Numbers& a, const Numbers& b) {  // of the parts that both have
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (a[i] != b[i]) return (a[i] < b[i]) != descending[i] ? -1 : 1;
      return 0;
    };
    std::vector<Numbers> entries;
    for (int n = 0; n < 27; ++n) entries.push_back({n / 9, n / 3 % 3, n % 3});
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return compare(a, b) < 0; });
    const auto some = [&] {
      Numbers out;
      for (int i = below(4); i > 0; --i) out.push_back(below(3));
      return out;
    };
    const Numbers from = some();
    const Numbers to = some();
    const bool from_inclusive = below(2) == 1;
    const bool to_inclusive = below(2) == 1;
    std::vector<Numbers> expected;
    for (const Numbers& entry : entries) {
      const int behind = compare(entry, from);
      const int before = compare(entry, to);
      const bool in = (from.empty() || behind > 0 || (behind == 0 && from_inclusive)) &&
                      (to.empty() || before < 0 || (before == 0 && to_inclusive));
      if (in) expected.push_back(entry);
    }
    std::vector<Numbers> found;
    for (const Slice& slice : slices(bound(from, from_inclusive), bound(to, to_inclusive), descending)) {
      for (const Numbers& entry : entries) {
        bool in = true;
        for (std::size_t i = 0; i < slice.equal.size(); ++i) in = in && std::to_string(entry[i]) == slice.equal[i];
        const std::size_t next = slice.equal.size();
        const auto beyond = [&](const std::optional<Slice::End>& end, int sign) {
          if (!end) return false;
          const int at = (entry[next] - std::stoi(end->bytes)) * sign;
          return at < 0 || (at == 0 && !end->inclusive);
        };
        if (in && !beyond(slice.low, 1) && !beyond(slice.high, -1)) found.push_back(entry);
      }
    }
    ASSERT_EQ(found, expected) << testing::PrintToString(from) << testing::PrintToString(to);
  }
}

}  // namespace
}  // namespace noam::stores::cassandra
