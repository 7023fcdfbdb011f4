// Small rounds of random statements on few aggregates. What the threads were told has a serial order, and the database
// ends as it does in that order.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/concurrency/history.h"
#include "tests/forwarding_store.h"
#include "tests/property/random.h"
#include "tests/support.h"
#include "tests/temporary_store.h"

namespace noam::tests::concurrency {
namespace {

using property::Random;

struct Workload {
  std::string model;                       // its text
  std::vector<Json> beginning;             // before the threads
  std::function<Json(Random&)> statement;  // one by chance
  std::vector<std::string> whole_state;    // queries without parameters that read all there is
};

const char* const teller = R"(
model teller

entity Bank { name: text key   most: int }
entity Account {
  id: text key
  bank: Bank inverse accounts
  balance: int
  notes: list<text>
  tags: set<text>
  slots: map<text, int>
  require balance >= 0
}
entity Receipt { id: uuid key auto   account: Account owner inverse receipts   amount: int }

command found($name, $most) { insert Bank { name: $name, most: $most } }
command fold($name) { delete Bank[$name] }
command open($id, $bank, $balance) {
  require (select count(*) from Account a where a.bank = $bank) < Bank[$bank].most
  insert Account { id: $id, bank: $bank, balance: $balance }
}
command open_small($id, $bank) {
  require (select count(*) from Account a where a.balance < 5) < 3
  insert Account { id: $id, bank: $bank, balance: 0 }
}
command replace($id, $bank, $balance) { put Account { id: $id, bank: $bank, balance: $balance } }
command close($id) { delete Account[$id] }
command move($id, $bank) {
  require (select count(*) from Bank[$bank] b, b.accounts a) < Bank[$bank].most
  update Account[$id] { bank: $bank }
}
command transfer($from, $to, $amount) {
  update Account[$from] { balance: balance - $amount }
  update Account[$to] { balance: balance + $amount }
  insert Receipt { account: $from, amount: $amount }
}
command level($a, $b) { update Account[$a] { balance: Account[$b].balance + 1 } }
command note($id, $note) { append $note to Account[$id].notes }
command amend($id, $at, $note) { update Account[$id] { notes[$at]: $note } }
command strike($id, $at) { remove Account[$id].notes[$at] }
command tag($id, $tag) {
  require (select count(*) from Account a where a.tags contains $tag) < 2
  add $tag to Account[$id].tags
}
command untag($id, $tag) { remove $tag from Account[$id].tags }
command fill($id, $slot, $n) { put $slot: $n into Account[$id].slots }
command fill_last($id, $slot) {
  require count(Account[$id].slots) < 2
  put $slot: count(Account[$id].notes) into Account[$id].slots
}
command clear($id, $slot) { remove key $slot from Account[$id].slots }

query account($id) { select a, count(a.receipts) as receipts from Account a where a.id = $id }
query of_bank($bank) { select a.id, a.balance from Account a where a.bank = $bank order by a.balance desc }
query richest($bank) {
  select a.id, a.balance from Bank b, b.accounts a where b.name = $bank order by a.balance desc limit 2
}
query banks {
  select b.name, count(b.accounts) as n, (select sum(a.balance) from b.accounts a) as total from Bank b order by b.name
}
query total { select sum(a.balance) as total, count(*) as n from Account a }
query tagged($tag) { select a.id from Account a where a.tags contains $tag order by a.id }
query receipts($id) { select r.id, r.amount from Account a, a.receipts r where a.id = $id }
query all_banks { select b from Bank b }
query all_accounts { select a from Account a }
query all_receipts { select r from Receipt r }

// An account lies in one block, each of its parts in an entry of its own; beside it what queries ask.
design kept {
  collection accounts of Account a by id {
    entry ε: bank, balance
    entry notes[*]
    entry tags[*]
    entry slots[*]
    copy receipts: count(*) as n from a.receipts r
  }
  collection banks of Bank b by name {
    entry ε: most
    copy numbers: count(*) as n, sum(a.balance) as total from b.accounts a
    copy richest[a.balance desc, a.id] from b.accounts a
  }
  collection by_tag of Account a, a.tags t by t as tag { copy [a.id] }
  collection receipts of Receipt r by account { entry [id]: amount }
}

// An account lies in several blocks.
design apart {
  collection accounts of Account a by id { entry ε: bank, balance   entry slots[*] }
  collection notes of Account a, a.notes n by a.id, position(n) { entry ε: n }
  collection tags of Account a by id { entry tags }
  rest normalized
}
)";

Workload teller_workload() {
  Workload out;
  out.model = teller;
  out.beginning = {request("found", {{"name", "north"}, {"most", 2}}),
                   request("found", {{"name", "south"}, {"most", 3}}),
                   request("replace", {{"id", "a"}, {"bank", "north"}, {"balance", 10}}),
                   request("replace", {{"id", "b"}, {"bank", "south"}, {"balance", 3}}),
                   request("replace", {{"id", "c"}, {"bank", "west"}, {"balance", 0}})};
  out.statement = [](Random& random) -> Json {
    static const std::vector<std::string> banks{"north", "south", "west"};
    static const std::vector<std::string> accounts{"a", "b", "c", "d"};
    static const std::vector<std::string> words{"x", "y"};
    const std::string& id = random.pick(accounts);
    const std::string& other = random.pick(accounts);
    const std::string& bank = random.pick(banks);
    const std::string& word = random.pick(words);
    const auto number = static_cast<std::int64_t>(random.below(8));
    switch (random.below(32)) {
      case 0:
        return request("found", {{"name", bank}, {"most", number % 4}});
      case 1:
        return request("fold", {{"name", bank}});
      case 2:
        return request("open", {{"id", id}, {"bank", bank}, {"balance", number}});
      case 3:
        return request("replace", {{"id", id}, {"bank", bank}, {"balance", number - 1}});
      case 4:
        return request("close", {{"id", id}});
      case 5:
      case 6:
        return request("move", {{"id", id}, {"bank", bank}});
      case 7:
      case 8:
      case 9:
      case 10:
        return request("transfer", {{"from", id}, {"to", other}, {"amount", number}});
      case 11:
        return request("level", {{"a", id}, {"b", other}});
      case 12:
      case 13:
        return request("note", {{"id", id}, {"note", word}});
      case 14:
        return request("amend", {{"id", id}, {"at", number % 3 - 1}, {"note", word + word}});
      case 15:
        return request("strike", {{"id", id}, {"at", number % 2}});
      case 16:
      case 17:
        return request("tag", {{"id", id}, {"tag", word}});
      case 18:
        return request("untag", {{"id", id}, {"tag", word}});
      case 19:
        return request("fill", {{"id", id}, {"slot", word}, {"n", number}});
      case 20:
        return request("fill_last", {{"id", id}, {"slot", std::string(1, static_cast<char>('p' + number % 4))}});
      case 21:
        return request("clear", {{"id", id}, {"slot", word}});
      case 22:
      case 23:
        return request("account", {{"id", id}});
      case 24:
        return request("of_bank", {{"bank", bank}});
      case 25:
        return request("richest", {{"bank", bank}});
      case 26:
        return request("banks");
      case 27:
        return request("total");
      case 28:
      case 29:
        return request("open_small", {{"id", id}, {"bank", bank}});
      case 30:
        return request("tagged", {{"tag", word}});
      default:
        return request("receipts", {{"id", id}});
    }
  };
  out.whole_state = {"all_banks", "all_accounts", "all_receipts", "banks", "total"};
  return out;
}

// Of the teller's statements those whose conditions read what others are about to make.
Workload crowded_workload() {
  Workload out = teller_workload();
  out.statement = [](Random& random) -> Json {
    const std::string id(1, static_cast<char>('a' + random.below(12)));
    switch (random.below(6)) {
      case 0:
        return request("close", {{"id", id}});
      case 1:
        return request("tag", {{"id", random.chance(50) ? "a" : "b"}, {"tag", "x"}});
      case 2:
        return request("untag", {{"id", random.chance(50) ? "a" : "b"}, {"tag", "x"}});
      default:
        return request("open_small", {{"id", id}, {"bank", "north"}});
    }
  };
  return out;
}

Workload microblog_workload() {
  Workload out;
  out.model = read_file(source_dir() / "examples/microblog/microblog.noam") + R"(
command leave($username) { delete User[$username] }
query all_users { select u from User u }
query all_tweets { select t from Tweet t }
)";
  for (const char* name : {"ann", "bob", "cy"})
    out.beginning.push_back(request("register", {{"username", name}, {"id", name[0]}}));
  out.beginning.push_back(request("follow", {{"follower", "ann"}, {"followed", "bob"}}));
  out.beginning.push_back(request("post", {{"id", 1},
                                           {"author", "bob"},
                                           {"at", "2024-05-01T12:00:00.000Z"},
                                           {"content", "good morning"},
                                           {"language", "en"}}));
  out.statement = [](Random& random) -> Json {
    static const std::vector<std::string> names{"ann", "bob", "cy"};
    static const std::vector<std::string> contents{"good morning", "good night", "hello, morning"};
    const std::string& name = random.pick(names);
    const std::string& other = random.pick(names);
    const auto tweet = static_cast<std::int64_t>(random.below(4));
    switch (random.below(20)) {
      case 0:
      case 1:
        return request("register", {{"username", name}, {"id", name[0]}});
      case 2:
        return request("leave", {{"username", name}});
      case 3:
      case 4:
      case 5:
        return request("post", {{"id", tweet},
                                {"author", name},
                                {"at", "2024-05-01T12:00:00.00" + std::to_string(random.below(3)) + "Z"},
                                {"content", random.pick(contents)},
                                {"language", "en"}});
      case 6:
        return request("delete_tweet", {{"id", tweet}});
      case 7:
      case 8:
      case 9:
        return request("follow", {{"follower", name}, {"followed", other}});
      case 10:
        return request("unfollow", {{"follower", name}, {"followed", other}});
      case 11:
      case 12:
        return request("like", {{"username", name}, {"tweet", tweet}});
      case 13:
        return request("unlike", {{"username", name}, {"tweet", tweet}});
      case 14:
        return request("share", {{"username", name}, {"tweet", tweet}});
      case 15:
        return request("newest", {{"username", name}});
      case 16:
        return request("most_liked", {{"username", name}});
      case 17:
        return request("numbers", {{"username", name}});
      case 18:
        return request("most_liked_with", {{"words", "morning"}});
      default:
        return request("posts_of", {{"author", name}});
    }
  };
  out.whole_state = {"all_users", "all_tweets"};
  return out;
}

// Now and then a command is sent by two threads under one id.
constexpr unsigned repeated_percent = 8;
constexpr int statements_of_a_thread = 4;

using MakeStore = std::function<std::unique_ptr<stores::Store>()>;

struct Rounds {
  int run = 0;
  std::size_t conflicts = 0;
  std::optional<std::string> wrong;  // the first thing, with the seed that asks the same again
};

// The statements of each thread, in their order.
std::vector<std::vector<Json>> make_statements(const Workload& workload, const model::Model& model,
                                               std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<Json>> out(thread_count);
  std::vector<Json> earlier;
  std::uint64_t number = 0;
  for (int step = 0; step < statements_of_a_thread; ++step) {
    for (std::vector<Json>& of_thread : out) {
      Json next = workload.statement(random);
      const bool command = std::any_of(model.commands.begin(), model.commands.end(),
                                       [&](const model::Command& at) { return at.name == next["run"]; });
      if (command && !earlier.empty() && random.chance(repeated_percent)) {
        next = random.pick(earlier);
      } else if (command) {
        next["id"] = command_id(seed, ++number);
        earlier.push_back(next);
      }
      of_thread.push_back(std::move(next));
    }
  }
  return out;
}

// Until something is wrong, or that many were right.
Rounds run_rounds(const Workload& workload, const std::string& design, int most, std::uint64_t seed,
                  const MakeStore& make_store) {
  Rounds out;
  const auto model = model_of(workload.model);
  for (; out.run < most && !out.wrong; ++out.run, ++seed) {
    const std::vector<std::vector<Json>> statements = make_statements(workload, *model, seed);
    Database database(model, design, make_store());
    Recorder recorder(database.session(), thread_count);
    for (const Json& statement : workload.beginning) recorder.run(0, statement);
    in_threads(thread_count, [&](int thread) {
      for (const Json& statement : statements[static_cast<std::size_t>(thread)]) recorder.run(thread, statement);
    });
    for (const std::string& query : workload.whole_state) recorder.run(0, request(query));
    out.conflicts += database.store().conflicts();
    out.wrong = not_serialisable(*model, recorder.history(), start_time);
    if (!out.wrong)
      if (const std::string differences = database.differences(); !differences.empty())
        out.wrong = differences + "after\n" + text(recorder.history());
    if (out.wrong) out.wrong = "NOAM_SEED=" + std::to_string(seed) + ", " + design + ": " + *out.wrong;
  }
  return out;
}

void expect_order(const Workload& workload, const std::string& design, int rounds) {
  const Rounds found = run_rounds(workload, design, rounds_of(rounds), run_seed(), [] { return open_test_store(); });
  EXPECT_FALSE(found.wrong) << *found.wrong;
  // Else the threads did not meet, and this shows nothing.
  EXPECT_GT(found.conflicts, 0);
}

class Serial : public ::testing::TestWithParam<const char*> {};

TEST_P(Serial, StatementsOfATellerHaveAnOrder) { expect_order(teller_workload(), GetParam(), 60); }

TEST_P(Serial, StatementsOfACrowdHaveAnOrder) { expect_order(crowded_workload(), GetParam(), 30); }

INSTANTIATE_TEST_SUITE_P(Designs, Serial, ::testing::Values("eao", "etf", "normalized", "kept", "apart"),
                         [](const auto& tested) { return std::string(tested.param); });

class SerialMicroblog : public ::testing::TestWithParam<const char*> {};

TEST_P(SerialMicroblog, StatementsHaveAnOrder) { expect_order(microblog_workload(), GetParam(), 25); }

INSTANTIATE_TEST_SUITE_P(Designs, SerialMicroblog, ::testing::Values("eao", "etf", "normalized", "seed003"),
                         [](const auto& tested) { return std::string(tested.param); });

// Stores that keep less than they promise are found out.
class BrokenStore : public ForwardingStore {
 public:
  BrokenStore() : ForwardingStore(open_test_store()) {}
};

// Whatever was read may have changed.
class Careless : public BrokenStore {
 public:
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    return BrokenStore::commit({{}, batch.changes}, by);
  }
};

// Only what is written must not have changed: snapshot isolation.
class Skewed : public BrokenStore {
 public:
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    stores::WriteBatch kept{{}, batch.changes};
    for (const stores::Expect& expect : batch.expects) {
      const bool written = std::any_of(batch.changes.begin(), batch.changes.end(), [&](const stores::Change& change) {
        const stores::BlockRef& block = stores::entry_of(change).block;
        return expect.block && block.collection == expect.collection && block.key == *expect.block;
      });
      if (written) kept.expects.push_back(expect);
    }
    return BrokenStore::commit(kept, by);
  }
};

// Who reads all of a collection does not notice what is new in it.
class Haunted : public BrokenStore {
 public:
  Result<stores::Committed> commit(const stores::WriteBatch& batch, stores::Deadline by) override {
    stores::WriteBatch kept{{}, batch.changes};
    for (const stores::Expect& expect : batch.expects)
      if (expect.block) kept.expects.push_back(expect);
    return BrokenStore::commit(kept, by);
  }
};

// Each read sees a moment of its own.
class Restless : public BrokenStore {
 public:
  Result<void> read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* /*at*/, stores::Deadline by,
                    stores::Answers& out) override {
    return BrokenStore::read(requests, nullptr, by, out);
  }
  Result<stores::ScanPage> scan(std::uint32_t family, const std::string& after, const stores::Snapshot* /*at*/,
                                stores::Deadline by) override {
    return BrokenStore::scan(family, after, nullptr, by);
  }
};

template <typename Store>
void expect_found_out(const Workload& workload, const char* design) {
  const Rounds found = run_rounds(workload, design, 400, run_seed(), [] { return std::make_unique<Store>(); });
  EXPECT_TRUE(found.wrong) << "not in " << found.run << " rounds";
}

TEST(FoundOut, AStoreThatLetsEverythingThrough) { expect_found_out<Careless>(teller_workload(), "eao"); }
TEST(FoundOut, AStoreThatAllowsWriteSkew) { expect_found_out<Skewed>(crowded_workload(), "etf"); }
TEST(FoundOut, AStoreThatAllowsPhantoms) { expect_found_out<Haunted>(crowded_workload(), "eao"); }
TEST(FoundOut, AStoreWhoseSnapshotsAreNone) { expect_found_out<Restless>(teller_workload(), "normalized"); }

}  // namespace
}  // namespace noam::tests::concurrency
