// Commands over several aggregates keep what is true of all of them together, and queries that run meanwhile see
// nothing but whole states.

#include <atomic>
#include <map>

#include <gtest/gtest.h>

#include "tests/compiled.h"
#include "tests/concurrency/database.h"
#include "tests/property/random.h"

namespace noam::tests::concurrency {
namespace {

using property::Random;

const char* const bank = R"(
model bank

entity Branch { name: text key }
entity Account {
  id: int key
  branch: Branch inverse accounts
  balance: int
  moves: int = 0
  require balance >= 0
}

command found($name) { insert Branch { name: $name } }
command open($id, $branch, $balance) { insert Account { id: $id, branch: $branch, balance: $balance } }
command transfer($from, $to, $amount) {
  require Account[$from].balance >= $amount
  update Account[$from] { balance: balance - $amount, moves: moves + 1 }
  update Account[$to] { balance: balance + $amount, moves: moves + 1 }
}
command share($from, $to: list<Account>) {
  for $t in $to {
    update Account[$from] { balance: balance - 1 }
    update Account[$t] { balance: balance + 1 }
  }
}
command move($id, $branch) { update Account[$id] { branch: $branch } }
command reopen($old, $new) {
  insert Account { id: $new, branch: Account[$old].branch, balance: Account[$old].balance, moves: Account[$old].moves }
  delete Account[$old]
}

query accounts { select a.id, a.balance from Account a }
query total { select sum(a.balance) as total, count(*) as n, min(a.balance) as least from Account a }
query branches {
  select b.name, count(b.accounts) as n, (select sum(a.balance) from b.accounts a) as total from Branch b
}
query by_branch { select a.branch, sum(a.balance) as total, count(*) as n from Account a group by a.branch }
query richest($branch) {
  select a.id, a.balance from Branch b, b.accounts a where b.name = $branch order by a.balance desc
}

design kept {
  collection accounts of Account a by id { entry ε: branch, balance   entry moves }
  collection branches of Branch b by name {
    entry ε: name
    copy numbers: count(*) as n, sum(a.balance) as total from b.accounts a
    copy richest[a.balance desc, a.id] from b.accounts a
  }
  collection whole of Account a by "all" as list {
    copy ε: sum(a.balance) as total, count(*) as n, min(a.balance) as least
  }
  collection of_branches of Account a by "all" as list { copy [a.branch]: sum(a.balance) as total, count(*) as n }
}

// Balance and branch of an account lie in blocks of their own.
design apart {
  collection accounts of Account a by id { entry ε: id }
  collection balances of Account a by id { entry balance   entry moves }
  collection places of Account a by id { entry branch }
  rest normalized
}
)";

constexpr int accounts = 8;
constexpr std::int64_t each = 20;
const std::vector<std::string> branch_names{"north", "south", "west"};

void open_bank(Database& database) {
  for (const std::string& name : branch_names) ASSERT_EQ(database.run("found", {{"name", name}}), "applied");
  for (int i = 0; i < accounts; ++i)
    ASSERT_EQ(database.run("open",
                           {{"id", i}, {"branch", branch_names[static_cast<std::size_t>(i) % 3]}, {"balance", each}}),
              "applied");
}

// What is wrong with an answer: it is not that of a whole state.
std::string wrong_with_bank(const Json& answer) {
  if (!answer.contains("rows")) return "no rows";
  std::int64_t total = 0;
  std::int64_t n = 0;
  for (const Json& row : answer["rows"]) {
    if (row.contains("balance")) {
      total += row["balance"].get<std::int64_t>();
      ++n;
      if (row["balance"] < 0) return "a balance below 0";
    } else {
      total += row["total"].get<std::int64_t>();
      n += row["n"].get<std::int64_t>();
      if (row.contains("least") && row["least"] < 0) return "a balance below 0";
    }
  }
  if (total != accounts * each) return "the total is " + std::to_string(total);
  if (n != accounts) return std::to_string(n) + " accounts";
  return {};
}

class Invariant : public ::testing::TestWithParam<const char*> {};

TEST_P(Invariant, MoneyIsMovedAndNeverMadeOrLost) {
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  Database database(model_of(bank), GetParam());
  open_bank(database);
  ASSERT_FALSE(HasFatalFailure());
  Findings findings;
  std::atomic<int> applied = 0;
  std::atomic<int> refused = 0;
  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    const auto account = [&] { return static_cast<int>(random.below(accounts)); };
    for (int i = 0; i < 150; ++i) {
      if (thread % 4 == 3 || random.chance(15)) {
        static const std::vector<std::string> queries{"accounts", "total", "branches", "by_branch"};
        const std::string& query = random.pick(queries);
        const Json answer = database.answer(request(query));
        if (const std::string wrong = wrong_with_bank(answer); !wrong.empty())
          findings.add(query + ": " + wrong + " in " + answer.dump());
        continue;
      }
      std::string outcome;
      switch (random.below(8)) {
        case 0:
          outcome = database.run("move", {{"id", account()}, {"branch", random.pick(branch_names)}});
          break;
        case 1: {
          const Json to = Json::array({account(), account(), account()});
          outcome = database.run("share", {{"from", account()}, {"to", to}});
          break;
        }
        default:
          outcome = database.run("transfer", {{"from", account()}, {"to", account()}, {"amount", random.below(30)}});
      }
      if (outcome == "applied")
        ++applied;
      else if (outcome == "require")
        ++refused;
      else
        findings.add("a command was " + outcome);
    }
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(applied, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(database.store().conflicts(), 0);
  for (const char* query : {"accounts", "total", "branches", "by_branch"}) {
    const Json answer = database.answer(request(query));
    EXPECT_EQ(wrong_with_bank(answer), "") << query << ": " << answer.dump();
  }
  EXPECT_EQ(database.differences(), "");
}

// Accounts go and come again under other numbers while money moves: a transfer meets them whole, or not at all.
TEST_P(Invariant, AccountsThatAreReopenedKeepTheirMoney) {
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  Database database(model_of(bank), GetParam());
  open_bank(database);
  ASSERT_FALSE(HasFatalFailure());
  Findings findings;
  std::atomic<int> applied = 0;
  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    // The numbers of accounts lie close, so that many are there.
    const auto account = [&] { return static_cast<int>(random.below(accounts * 3 / 2)); };
    for (int i = 0; i < 120; ++i) {
      if (thread == 7) {
        const Json answer = database.answer(request(i % 2 == 0 ? "accounts" : "branches"));
        if (const std::string wrong = wrong_with_bank(answer); !wrong.empty())
          findings.add(wrong + " in " + answer.dump());
        continue;
      }
      const std::string outcome =
          random.chance(40)
              ? database.run("reopen", {{"old", account()}, {"new", account()}})
              : database.run("transfer", {{"from", account()}, {"to", account()}, {"amount", random.below(9)}});
      if (outcome == "applied") ++applied;
      if (outcome != "applied" && outcome != "require" && outcome != "absent" && outcome != "exists" &&
          outcome != "required")
        findings.add("a command was " + outcome);
    }
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(applied, 0);
  const Json answer = database.answer(request("accounts"));
  EXPECT_EQ(wrong_with_bank(answer), "") << answer.dump();
  EXPECT_EQ(database.differences(), "");
}

INSTANTIATE_TEST_SUITE_P(Designs, Invariant, ::testing::Values("eao", "etf", "normalized", "kept", "apart"),
                         [](const auto& tested) { return std::string(tested.param); });

const char* const ring = R"(
model ring

entity Node { id: int key   next: Node inverse previous   moved: int = 0 }

command make($id, $next) { insert Node { id: $id, next: $next } }
// a -> b -> c -> d becomes a -> c -> b -> d.
command exchange($a, $b, $c) {
  require Node[$a].next = $b
  require Node[$b].next = $c
  require $a != $c
  update Node[$b] { next: Node[$c].next, moved: moved + 1 }
  update Node[$c] { next: $b, moved: moved + 1 }
  update Node[$a] { next: $c }
}
// A new node after a.
command link($a, $id) {
  insert Node { id: $id, next: Node[$a].next }
  update Node[$a] { next: $id }
}
// The node after a goes.
command unlink($a, $b) {
  require Node[$a].next = $b
  require $a != $b
  update Node[$a] { next: Node[$b].next }
  delete Node[$b]
}

query nodes { select n.id, n.next, count(n.previous) as before from Node n }
query pairs { select n.id, m.id as next from Node n, n.next m }
query back { select n.id as next, p.id as id from Node n, n.previous p }
query after($id) { select n.id as a, n.next as b, n.next.next as c from Node n where n.id = $id }

design both_ways {
  collection nodes of Node n by id {
    entry ε: next
    entry moved
    copy before[p.id as earlier]: p.next as link from n.previous p
    copy numbers: count(n.previous) as n
  }
  collection all of Node n by "all" as list { copy [n.id]: n.next, n.next.next as second, count(n.previous) as before }
}

design apart {
  collection nodes of Node n by id { entry ε: moved }
  collection links of Node n by id { entry next }
  rest normalized
}
)";

// What is wrong with the ring that an answer shows; every node is in it.
std::string wrong_with_ring(const Json& answer) {
  if (!answer.contains("rows")) return "no rows";
  std::map<std::int64_t, std::int64_t> next;
  for (const Json& row : answer["rows"]) {
    if (!row["next"].is_number()) return "a node without a next one";
    next[row["id"].get<std::int64_t>()] = row["next"].get<std::int64_t>();
    if (row.contains("before") && row["before"] != 1) return "a node with " + row["before"].dump() + " before it";
  }
  if (next.empty()) return "no nodes";
  if (next.size() != answer["rows"].size()) return "a node twice";
  std::int64_t at = next.begin()->first;
  for (std::size_t step = 0; step < next.size(); ++step) {
    const auto found = next.find(at);
    if (found == next.end()) return "a link to nowhere";
    at = found->second;
    if (at == next.begin()->first && step + 1 < next.size()) return "a ring of " + std::to_string(step + 1);
  }
  return at == next.begin()->first ? "" : "no ring";
}

class Ring : public ::testing::TestWithParam<const char*> {};

TEST_P(Ring, StaysOneRing) {
  constexpr std::int64_t nodes = 8;
  const std::uint64_t seed = run_seed();
  SCOPED_TRACE("NOAM_SEED=" + std::to_string(seed));
  Database database(model_of(ring), GetParam());
  for (std::int64_t i = 0; i < nodes; ++i)
    ASSERT_EQ(database.run("make", {{"id", i}, {"next", (i + 1) % nodes}}), "applied");
  Findings findings;
  std::atomic<int> applied = 0;
  in_threads(thread_count, [&](int thread) {
    Random random(seed + static_cast<std::uint64_t>(thread));
    for (int i = 0; i < 120; ++i) {
      if (thread % 4 == 3 || random.chance(10)) {
        static const std::vector<std::string> queries{"nodes", "pairs", "back"};
        const std::string& query = random.pick(queries);
        const Json answer = database.answer(request(query));
        if (const std::string wrong = wrong_with_ring(answer); !wrong.empty())
          findings.add(query + ": " + wrong + " in " + answer.dump());
        continue;
      }
      const auto at = static_cast<std::int64_t>(random.below(nodes + 2));
      const Json after = database.answer(request("after", {{"id", at}}));
      std::string outcome = "absent";
      if (!after.contains("rows")) {
        findings.add(after.dump());
      } else if (!after["rows"].empty()) {
        const Json& seen = after["rows"][0];
        if (seen["c"].is_null()) findings.add("no ring in " + after.dump());
        switch (random.below(4)) {
          case 0:
            outcome = database.run("link", {{"a", at}, {"id", random.below(nodes + 2)}});
            break;
          case 1:
            outcome = database.run("unlink", {{"a", seen["a"]}, {"b", seen["b"]}});
            break;
          default:
            outcome = database.run("exchange", {{"a", seen["a"]}, {"b", seen["b"]}, {"c", seen["c"]}});
        }
      }
      if (outcome == "applied") ++applied;
      // Meanwhile another may have moved what this one saw.
      if (outcome != "applied" && outcome != "require" && outcome != "absent" && outcome != "exists" &&
          outcome != "required")
        findings.add("a command was " + outcome);
    }
  });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(applied, 0);
  EXPECT_GT(database.store().conflicts(), 0);
  for (const char* query : {"nodes", "pairs", "back"}) {
    const Json answer = database.answer(request(query));
    EXPECT_EQ(wrong_with_ring(answer), "") << query << ": " << answer.dump();
  }
  EXPECT_EQ(database.differences(), "");
}

INSTANTIATE_TEST_SUITE_P(Designs, Ring, ::testing::Values("eao", "etf", "normalized", "both_ways", "apart"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
