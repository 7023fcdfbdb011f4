// Random batches, reads, scans and snapshots against a store made of std::map that is too simple to be wrong.

#include <algorithm>
#include <map>
#include <random>

#include "tests/contract/store_contract.h"

namespace noam::tests {
namespace {

using model::Datum;
using model::Decimal;
using stores::Add;
using stores::Answer;
using stores::Append;
using stores::BlockRef;
using stores::Bound;
using stores::Change;
using stores::Delete;
using stores::Entry;
using stores::EntryRef;
using stores::Expect;
using stores::Key;
using stores::Outcome;
using stores::Put;
using stores::ReadRequest;
using stores::Version;
using stores::WriteBatch;

using State = std::map<EntryRef, Key>;

class NaiveStore {
 public:
  State state;
  std::map<BlockRef, int> touched;  // at which step
  std::map<std::pair<BlockRef, std::uint32_t>, int> family_touched;
  std::map<EntryRef, int> entries_touched;
  std::map<std::uint32_t, int> collection_touched;

  void apply(const Change& change, int step) {
    const EntryRef& entry = stores::entry_of(change);
    touched[entry.block] = step;
    family_touched[{entry.block, entry.family}] = step;
    entries_touched[entry] = step;
    collection_touched[entry.block.collection] = step;
    if (const auto* put = std::get_if<Put>(&change)) state[entry] = put->columns;
    if (std::holds_alternative<Delete>(change)) state.erase(entry);
    if (const auto* add = std::get_if<Add>(&change)) apply(*add);
    if (const auto* append = std::get_if<Append>(&change)) {
      Datum::List& list = state.at(entry)[0].change_list();
      for (const Datum& element : append->elements[0].as_list()) list.push_back(element);
    }
  }

 private:
  void apply(const Add& add) {
    Key& columns = state.try_emplace(add.entry, Key(add.addends.size())).first->second;
    for (std::size_t i = 0; i < add.addends.size(); ++i) {
      const Datum& addend = add.addends[i];
      if (addend.is_int()) columns[i] = addend.as_int() + (columns[i].is_int() ? columns[i].as_int() : 0);
      if (addend.is_decimal()) {
        columns[i] = addend.as_decimal() + (columns[i].is_decimal() ? columns[i].as_decimal() : Decimal());
      }
    }
    const Datum& deciding = columns[add.vanishes];
    if (deciding == Datum(0) || deciding == Datum(Decimal())) state.erase(add.entry);
  }
};

// In the order of the family, as if by hand: the part that differs first decides.
int compare_parts(const Key& a, const Key& b, std::uint32_t family) {
  const auto& parts = sample_design().families[family].key;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    const bool descending = parts[i].descending;
    return (a[i] < b[i]) != descending ? -1 : 1;
  }
  return 0;
}

std::vector<Entry> entries_within(const State& state, const ReadRequest& request) {
  std::vector<Entry> entries;
  for (const auto& [entry, columns] : state) {
    if (!(entry.block == request.block) || entry.family != request.family) continue;
    const int after = request.from.parts.empty() ? 1 : compare_parts(entry.key, request.from.parts, request.family);
    const int before = request.to.parts.empty() ? -1 : compare_parts(entry.key, request.to.parts, request.family);
    if (after < 0 || (after == 0 && !request.from.inclusive)) continue;
    if (before > 0 || (before == 0 && !request.to.inclusive)) continue;
    entries.push_back({entry.key, columns});
  }
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return compare_parts(a.key, b.key, request.family) < 0; });
  if (request.reverse) std::reverse(entries.begin(), entries.end());
  return entries;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }

  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  Datum text() { return one_of<Datum>({Datum(), "", "a", "a\x01", "b"}); }
  Datum number() { return one_of<Datum>({Datum(), -300, -1, 0, 1, 300}); }
  Datum amount() { return one_of<Datum>({Datum(), decimal("-10.5"), decimal("0"), decimal("0.25"), decimal("7")}); }

  BlockRef block(std::uint32_t collection) {
    if (collection == sample::blocks) return {collection, {text()}};
    return {collection, {number(), text()}};
  }

  std::uint32_t family() {
    return one_of<std::uint32_t>({sample::head, sample::numbers, sample::mixed, sample::counts, sample::other_head,
                                  sample::other_numbers, sample::lists});
  }

  Key entry_key(std::uint32_t family) {
    switch (family) {
      case sample::numbers:
      case sample::other_numbers:
        return {number()};
      case sample::counts:
      case sample::lists:
        return {text()};
      case sample::mixed:
        return {text(), number(), amount()};
      default:
        return {};
    }
  }

  EntryRef entry() {
    const std::uint32_t family = this->family();
    return {block(sample_design().families[family].collection), family, entry_key(family)};
  }

  Change change(const State& now) {
    const EntryRef entry = this->entry();
    if (one_in(3)) return Delete{entry};
    switch (entry.family) {
      case sample::head:
        return Put{entry, {text(), number()}};
      case sample::numbers:
        return Put{entry, {text()}};
      case sample::counts: {
        // Weights near 0, so that they vanish and come back. The text has no number to add.
        const Datum weight = below(5) - 2;
        if (one_in(3)) return Put{entry, {weight, amount(), text(), number()}};
        return Add{entry, {weight, amount(), Datum(), number()}, one_of<std::uint32_t>({0, 0, 1, 3})};
      }
      case sample::lists: {
        Datum::List elements;
        for (int i = below(3); i > 0; --i) elements.push_back(below(1'000));
        if (now.contains(entry) && !one_in(4)) return Append{entry, {Datum(elements)}};
        return Put{entry, {Datum(elements), text(), Datum(), number()}};
      }
      default:
        return Put{entry, {number()}};
    }
  }

  Bound bound(std::uint32_t family) {
    Bound bound{entry_key(family), !one_in(3)};
    bound.parts.resize(static_cast<std::size_t>(below(static_cast<int>(bound.parts.size()) + 1)));
    return bound;
  }

  ReadRequest request() {
    const std::uint32_t family = this->family();
    ReadRequest request{
        block(sample_design().families[family].collection), family, bound(family), bound(family), one_in(2), 0};
    if (one_in(2)) request.limit = one_of<std::size_t>({1, 2, 3, 4});
    request.gathered = one_in(4);
    if (!request.gathered && one_in(2)) {
      shown_.clear();
      for (int left = 1 + below(3); left > 0; --left) shown_.push_back(shown_column(request));
      request.shown = &shown_;
    }
    return request;
  }

 private:
  design::ShownColumn shown_column(const ReadRequest& request) {
    using design::Place;
    design::ShownColumn column;
    column.record = one_in(2);
    for (int left = column.record ? below(4) : 1; left > 0; --left) {
      const Place::Kind kind = one_of<Place::Kind>({Place::Kind::Block, Place::Kind::Key, Place::Kind::Cell});
      const std::size_t key_parts = sample_design().families[request.family].key.size();
      const std::size_t parts = kind == Place::Kind::Block ? request.block.key.size() : key_parts;
      // Also cells that are not there; the second ones are collections where they are not.
      if (kind == Place::Kind::Cell || parts == 0) {
        const auto cell = static_cast<std::uint32_t>(below(5));
        column.parts.push_back({{Place::Kind::Cell, cell, {}}, cell == 1});
      } else {
        column.parts.push_back({{kind, static_cast<std::uint32_t>(below(static_cast<int>(parts))), {}}, false});
      }
    }
    return column;
  }

  std::mt19937 random_;
  std::vector<design::ShownColumn> shown_;  // of the last request
};

Datum shown(const design::ShownColumn::Part& part, const Key& block, const Entry& entry) {
  const std::uint32_t at = part.place.index;
  if (part.place.kind == design::Place::Kind::Block) return block[at];
  if (part.place.kind == design::Place::Kind::Key) return entry.key[at];
  const Datum found = at < entry.columns.size() ? entry.columns[at] : Datum();
  return found.absent() && part.collection ? Datum(Datum::List{}) : found;
}

std::vector<Key> rows_of(const ReadRequest& request, const std::vector<Entry>& entries) {
  std::vector<Key> rows;
  for (const Entry& entry : entries) {
    Key row;
    for (const design::ShownColumn& column : *request.shown) {
      Datum::List parts;
      for (const auto& part : column.parts) parts.push_back(shown(part, request.block.key, entry));
      row.push_back(column.record ? Datum(parts) : parts[0]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What a command saw of a block (or a collection), and when.
struct Seen {
  Expect expect;
  int step = 0;
};

TEST_P(StoreContract, BehavesAsAnOrdinaryMapDoes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  reopen({.scan_page = 5});
  const bool has_snapshots = store->capabilities().snapshots;

  struct Moment {
    std::unique_ptr<stores::Snapshot> snapshot;
    State state;
    int step = 0;
  };
  NaiveStore naive;
  std::vector<Moment> moments;
  std::vector<Seen> seen;
  int applied = 0;
  int conflicts = 0;
  int false_conflicts = 0;

  const int steps = GetParam().rounds < 50 ? 150 : 1'500;  // fewer where a commit takes long
  for (int step = 1; step <= steps; ++step) {
    if (dice.one_in(10) && has_snapshots && moments.size() < 4)
      moments.push_back({store->snapshot(), naive.state, step});
    if (dice.one_in(10) && !moments.empty())
      moments.erase(moments.begin() + dice.below(static_cast<int>(moments.size())));

    // Read something, now or then.
    const Moment* moment = dice.one_in(2) || moments.empty() ? nullptr : &dice.one_of(moments);
    const stores::Snapshot* at = moment == nullptr ? nullptr : moment->snapshot.get();
    const ReadRequest request = dice.request();
    const Answer answer = read(request, at);
    std::vector<Entry> expected = entries_within(moment == nullptr ? naive.state : moment->state, request);
    const bool more = request.limit != 0 && expected.size() > request.limit;
    if (more) expected.resize(request.limit);
    if (request.gathered) {
      Datum::List list;
      for (const Entry& entry : expected) list.push_back(entry.columns[0]);
      expected = {{{}, {Datum(list)}}};
    }
    if (request.shown != nullptr) {
      ASSERT_EQ(answer.rows, rows_of(request, expected));
      const bool full = request.limit != 0 && expected.size() == request.limit;
      expected.erase(expected.begin(), full ? expected.end() - 1 : expected.end());
    }
    ASSERT_EQ(answer.entries, expected);
    ASSERT_EQ(answer.more, more);
    seen.push_back({unchanged(request.block, request.family, answer.version), moment == nullptr ? step : moment->step});

    if (dice.one_in(20)) {
      const std::uint32_t family = dice.family();
      State scanned;
      const std::uint32_t collection = sample_design().families[family].collection;
      for (auto& item : scan(family, at)) {
        const EntryRef entry{{collection, item.block}, family, item.entry.key};
        ASSERT_TRUE(scanned.emplace(entry, item.entry.columns).second);
      }
      State all = moment == nullptr ? naive.state : moment->state;
      std::erase_if(all, [&](const auto& held) { return held.first.family != family; });
      ASSERT_EQ(scanned, all);
      const Version version = store->scan(family, "", at, stores::no_deadline)->version;
      if (store->capabilities().watches_collections)
        seen.push_back({unchanged_collection(collection, version), moment == nullptr ? step : moment->step});
    }

    // Change something, relying on some of what was seen, mostly lately.
    WriteBatch batch;
    for (int left = dice.below(6); left > 0; --left) {
      Change change = dice.change(naive.state);
      const bool twice = std::any_of(batch.changes.begin(), batch.changes.end(), [&](const Change& other) {
        return stores::entry_of(other) == stores::entry_of(change);
      });
      const bool elsewhere = !spans_blocks() && !batch.changes.empty() &&
                             !(stores::entry_of(batch.changes.front()).block == stores::entry_of(change).block);
      if (!twice && !elsewhere) batch.changes.push_back(std::move(change));
    }
    bool must_conflict = false;
    for (int left = spans_blocks() ? dice.below(3) : 0; left > 0; --left) {
      const int back = dice.below(std::min(dice.one_in(4) ? 40 : 3, static_cast<int>(seen.size())));
      const Seen& relied = seen[seen.size() - 1 - static_cast<std::size_t>(back)];
      batch.expects.push_back(relied.expect);
      int touched = naive.collection_touched[relied.expect.collection];
      if (relied.expect.block) {
        const BlockRef block{relied.expect.collection, *relied.expect.block};
        // Some stores keep families apart, others do not mind which one was read.
        touched = store->capabilities().watches_entries ? naive.touched[block]
                                                        : naive.family_touched[{block, *relied.expect.family}];
        // One entry of it is less to rely on.
        const std::uint32_t family = dice.family();
        if (dice.one_in(2) && store->capabilities().watches_entries &&
            sample_design().families[family].collection == block.collection) {
          const EntryRef entry{block, family, dice.entry_key(family)};
          batch.expects.back().entry = {family, entry.key};
          batch.expects.back().family = family;
          touched = naive.entries_touched[entry];
        }
      }
      must_conflict = must_conflict || touched >= relied.step;
    }
    const Outcome outcome = commit(batch);
    if (must_conflict) {
      ASSERT_EQ(outcome, Outcome::Conflict);
      ++conflicts;
    } else if (outcome == Outcome::Conflict) {
      ++false_conflicts;
    } else {
      ASSERT_EQ(outcome, Outcome::Applied);
      for (const Change& change : batch.changes) naive.apply(change, step);
      ++applied;
    }
  }
  EXPECT_GT(applied, steps / 3);
  if (store->capabilities().watches_entries) {
    EXPECT_LT(false_conflicts, steps / 20);
  }
  if (spans_blocks()) {
    EXPECT_GT(conflicts, steps / 50);
  }
}

}  // namespace
}  // namespace noam::tests
