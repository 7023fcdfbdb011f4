#include "tests/cassandra/bank.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/property/compare.h"
#include "tests/reference/reference.h"

namespace noam::tests::bank {

using concurrency::Event;
using concurrency::History;
using property::Random;

namespace {

const char* const text = R"(
model bank

entity Branch { name: text key  moves: int }
entity Account {
  id: int key
  branch: Branch inverse accounts
  balance: int
  note: int
  moves: int
  require balance >= 0
}
entity Counter { name: text key  branch: Branch inverse counters  kind: text  n: int }
// What a command saw and made: the numbers of the states.
entity Move {
  op: text key
  branch: text
  branch_made: int
  saw: int
  saw_at: int
  one: int
  one_made: int
  two: int
  two_made: int
}

command found($name) { insert Branch { name: $name, moves: 0 } }
command open($id, $branch, $balance) {
  insert Account { id: $id, branch: $branch, balance: $balance, note: 0, moves: 0 }
}
command begin($name, $branch, $kind) { insert Counter { name: $name, branch: $branch, kind: $kind, n: 0 } }

command transfer($branch, $from, $to, $n, $op) {
  update Branch[$branch] { moves: moves + 1 }
  update Account[$from] { balance: balance - $n, moves: moves + 1 }
  update Account[$to] { balance: balance + $n, moves: moves + 1 }
  insert Move {
    op: $op, branch: $branch, branch_made: Branch[$branch].moves, saw: -1, saw_at: 0,
    one: $from, one_made: Account[$from].moves, two: $to, two_made: Account[$to].moves
  }
}
command annotate($id, $other, $op) {
  update Account[$id] { note: Account[$other].balance, moves: moves + 1 }
  insert Move {
    op: $op, branch: "", branch_made: 0, saw: $other, saw_at: Account[$other].moves,
    one: $id, one_made: Account[$id].moves, two: -1, two_made: 0
  }
}
command add($name, $n) { update Counter[$name] { n: n + $n } }

command close($id) { delete Account[$id] }
command deposit($id, $n) { update Account[$id] { balance: balance + $n } }
command shift($from, $to, $n) {
  update Account[$from] { balance: balance - $n }
  update Account[$to] { balance: balance + $n }
}
command level($a, $b) { update Account[$a] { balance: Account[$b].balance + 1 } }
command draw($a, $b, $n) {
  require Account[$a].balance + Account[$b].balance >= $n
  update Account[$a] { balance: 0 }
}
command give($id, $branch) { update Account[$id] { branch: $branch } }

query account($id) { select a from Account a where a.id = $id }
query pair($a, $b) {
  select x.moves as a_at, x.balance, x.note, y.moves as b_at, y.balance as other_balance, y.note as other_note
  from Account x, Account y where x.id = $a and y.id = $b
}
query of_branch($name) { select a.id, a.balance from Account a where a.branch = $name order by a.id }
query branch($name) {
  select b.moves, count(b.accounts) as n, (select sum(a.balance) from b.accounts a) as total
  from Branch b where b.name = $name
}
query counters($name) { select c.name, c.n from Branch b, b.counters c where b.name = $name order by c.name }
query counted($name) { select (select sum(c.n) from b.counters c) as n from Branch b where b.name = $name }
query ranking($kind) { select c.n, c.name from Counter c where c.kind = $kind order by c.n desc, c.name }
query moves() { select m from Move m }

design kept {
  collection branches of Branch b by name {
    entry ε: moves
    copy numbers: count(*) as n, sum(a.balance) as total from b.accounts a
    copy accounts[a.id]: a.balance from b.accounts a
    copy counters[c.name as counter]: c.n from b.counters c
    copy counted: sum(c.n) as total from b.counters c
  }
  collection rankings of Counter c by c.kind as kind { copy [c.n desc, c.name] }
}
)";

constexpr int branches = 4;
constexpr int accounts_of_branch = 4;
constexpr int accounts = branches * accounts_of_branch;
constexpr int counters = 8;
constexpr int kinds = 2;

std::string branch_name(int number) { return fmt::format("branch {}", number); }
std::string counter_name(int number) { return fmt::format("counter {}", number); }
std::string kind_name(int number) { return fmt::format("kind {}", number); }

Json ask(const std::string& name, Json params) { return {{"run", name}, {"params", std::move(params)}}; }

std::string name_of(const Event& event) { return event.request["run"].get<std::string>(); }
bool is_applied(const Event& event) { return event.answer.value("outcome", std::string()) == "applied"; }

int below(Random& random, int limit) { return static_cast<int>(random.below(static_cast<std::size_t>(limit))); }
int another(Random& random, int limit, int than) { return (than + 1 + below(random, limit - 1)) % limit; }

}  // namespace

const ModelPointer& the_model() {
  static const ModelPointer model = model_of(text);
  return model;
}

bool is_command(const Json& request) {
  const auto& commands = the_model()->commands;
  const std::string name = request["run"].get<std::string>();
  return std::any_of(commands.begin(), commands.end(), [&](const model::Command& one) { return one.name == name; });
}

std::vector<Json> opening() {
  std::vector<Json> out;
  for (int b = 0; b < branches; ++b) out.push_back(ask("found", {{"name", branch_name(b)}}));
  for (int a = 0; a < accounts; ++a)
    out.push_back(ask("open", {{"id", a}, {"branch", branch_name(a / accounts_of_branch)}, {"balance", 1'000'000}}));
  for (int c = 0; c < counters; ++c)
    out.push_back(ask(
        "begin", {{"name", counter_name(c)}, {"branch", branch_name(c % branches)}, {"kind", kind_name(c % kinds)}}));
  return out;
}

Json random_statement(Random& random, const std::string& op) {
  const auto kind = random.below(100);
  const int a = below(random, accounts);
  const int b = another(random, accounts, a);
  if (kind < 30) {
    const int branch = below(random, branches);
    const int from = below(random, accounts_of_branch);
    const int to = another(random, accounts_of_branch, from);
    return ask("transfer", {{"branch", branch_name(branch)},
                            {"from", branch * accounts_of_branch + from},
                            {"to", branch * accounts_of_branch + to},
                            {"n", 1 + below(random, 20)},
                            {"op", op}});
  }
  if (kind < 45) return ask("annotate", {{"id", a}, {"other", b}, {"op", op}});
  if (kind < 70)
    return ask("add", {{"name", counter_name(below(random, counters))}, {"n", 1 + below(random, 1'000'000'000)}});
  if (kind < 80) return ask("pair", {{"a", a}, {"b", b}});
  if (kind < 90) return ask("branch", {{"name", branch_name(below(random, branches))}});
  if (kind < 95) return ask("counters", {{"name", branch_name(below(random, branches))}});
  if (kind < 98) return ask("counted", {{"name", branch_name(below(random, branches))}});
  return ask("ranking", {{"kind", kind_name(below(random, kinds))}});
}

std::vector<Json> closing() {
  std::vector<Json> out;
  for (int a = 0; a < accounts; a += 2) out.push_back(ask("pair", {{"a", a}, {"b", a + 1}}));
  for (int b = 0; b < branches; ++b)
    for (const char* const query : {"branch", "counters", "counted"})
      out.push_back(ask(query, {{"name", branch_name(b)}}));
  for (int k = 0; k < kinds; ++k) out.push_back(ask("ranking", {{"kind", kind_name(k)}}));
  return out;
}

namespace {

constexpr int accounts_of_group = 3;

int account_of_group(std::size_t group, int number) { return 1'000 + static_cast<int>(group) * 10 + number; }
std::string branch_of_group(std::size_t group, int number) { return fmt::format("group {} {}", group, number); }

}  // namespace

Json random_statement_of_group(Random& random, std::size_t group, std::size_t number) {
  const int first = below(random, accounts_of_group);
  const int a = account_of_group(group, first);
  const int b = account_of_group(group, another(random, accounts_of_group, first));
  const std::string branch = branch_of_group(group, below(random, 2));
  const int n = below(random, 4);
  if (number < 2) return ask("found", {{"name", branch_of_group(group, static_cast<int>(number))}});
  if (number < 2 + accounts_of_group)
    return ask("open",
               {{"id", account_of_group(group, static_cast<int>(number) - 2)}, {"branch", branch}, {"balance", 3}});
  switch (random.below(13)) {
    case 0:
      return ask("open", {{"id", a}, {"branch", branch}, {"balance", n}});
    case 1:
      return ask("close", {{"id", a}});
    case 2:
      return ask("deposit", {{"id", a}, {"n", n + 1}});
    case 3:
    case 4:
    case 5:
      return ask("shift", {{"from", a}, {"to", b}, {"n", n}});
    case 6:
      return ask("level", {{"a", a}, {"b", b}});
    case 7:
      return ask("draw", {{"a", a}, {"b", b}, {"n", n + 1}});
    case 8:
      return ask("give", {{"id", a}, {"branch", branch}});
    case 9:
      return ask("account", {{"id", a}});
    case 10:
      return ask("pair", {{"a", a}, {"b", b}});
    case 11:
      return ask("of_branch", {{"name", branch}});
    default:
      return ask("branch", {{"name", branch}});
  }
}

std::vector<Json> closing_of_group(std::size_t group) {
  std::vector<Json> out;
  for (int a = 0; a < accounts_of_group; ++a) out.push_back(ask("account", {{"id", account_of_group(group, a)}}));
  for (int b = 0; b < 2; ++b)
    for (const char* const query : {"of_branch", "branch"})
      out.push_back(ask(query, {{"name", branch_of_group(group, b)}}));
  return out;
}

// --- The order -------------------------------------------------------------------------------------------------------

namespace {

// A branch or an account, whose states have numbers.
struct Counted {
  std::map<std::int64_t, std::size_t> makers;
  std::multimap<std::int64_t, std::size_t> seers;
};

class Order {
 public:
  Order(const History& history, const Json& moves, std::int64_t time) : time_(time) {
    for (const Event& event : history)
      if (takes_part(event)) events_.push_back(&event);
    for (const Json& row : moves) moves_.emplace(row["m"]["op"].get<std::string>(), &row["m"]);
  }

  std::optional<std::string> run() {
    if (auto wrong = find_states()) return wrong;
    if (auto wrong = connect()) return wrong;
    if (auto wrong = sort()) return wrong;
    return replay();
  }

 private:
  static bool takes_part(const Event& event) {
    static const std::set<std::string> names = {"found", "open", "transfer", "annotate", "pair", "branch"};
    return names.contains(name_of(event));
  }
  static std::string shown(const Event& event) { return concurrency::text(History{event}); }

  static std::string account(const Json& id) { return fmt::format("account {}", id.get<std::int64_t>()); }

  // Which states each event made and saw.
  std::optional<std::string> find_states() {
    for (std::size_t at = 0; at < events_.size(); ++at) {
      const Event& event = *events_[at];
      const std::string name = name_of(event);
      const Json& params = event.request["params"];
      std::optional<std::string> wrong;
      const auto make = [&](const std::string& what, const Json& number) {
        const auto [before, fresh] = counted_[what].makers.try_emplace(number.get<std::int64_t>(), at);
        if (!fresh)
          wrong = fmt::format("two commands made state {} of {}:\n{}{}", number.dump(), what,
                              shown(*events_[before->second]), shown(event));
      };
      const auto see = [&](const std::string& what, const Json& number) {
        counted_[what].seers.emplace(number.get<std::int64_t>(), at);
      };
      if (is_command(event.request) && !is_applied(event)) return "a command was not applied:\n" + shown(event);
      if (name == "found") make(params["name"].get<std::string>(), 0);
      if (name == "open") make(account(params["id"]), 0);
      if (name == "transfer" || name == "annotate") {
        const auto found = moves_.find(params["op"].get<std::string>());
        if (found == moves_.end()) return "what was applied is lost:\n" + shown(event);
        const Json& move = *found->second;
        make(account(move["one"]), move["one_made"]);
        if (name == "transfer") make(account(move["two"]), move["two_made"]);
        if (name == "transfer") make(move["branch"].get<std::string>(), move["branch_made"]);
        if (name == "annotate") see(account(move["saw"]), move["saw_at"]);
        moves_.erase(found);
      }
      if (name == "pair" || name == "branch") {
        if (event.answer["rows"].size() != 1) return "a query gave no row:\n" + shown(event);
        const Json& row = event.answer["rows"].at(0);
        if (name == "pair") see(account(params["a"]), row["a_at"]);
        if (name == "pair") see(account(params["b"]), row["b_at"]);
        if (name == "branch") see(params["name"].get<std::string>(), row["moves"]);
      }
      if (wrong) return wrong;
    }
    if (!moves_.empty()) return "nobody was told that this was applied: " + moves_.begin()->second->dump();
    return std::nullopt;
  }

  void before(std::size_t a, std::size_t b) {
    if (a == b) return;
    followers_[a].push_back(b);
    ++waits_for_[b];
  }

  std::optional<std::string> connect() {
    followers_.resize(events_.size());
    waits_for_.resize(events_.size());
    for (const auto& [what, states] : counted_) {
      std::int64_t next = 0;
      for (const auto& [number, maker] : states.makers) {
        if (number != next++) return fmt::format("state {} of {} was lost", next - 1, what);
        if (number > 0) before(states.makers.at(number - 1), maker);
      }
      for (const auto& [number, seer] : states.seers) {
        const auto made = states.makers.find(number);
        if (made == states.makers.end())
          return fmt::format("nobody made state {} of {}:\n{}", number, what, shown(*events_[seer]));
        before(made->second, seer);
        const auto then = states.makers.find(number + 1);
        if (then != states.makers.end()) before(seer, then->second);
      }
    }
    return std::nullopt;
  }

  // An event comes after those that ended before it began.
  std::optional<std::string> sort() {
    using Ready = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;  // by their begin
    std::set<Ready> open;                                                  // by their end
    for (std::size_t at = 0; at < events_.size(); ++at) {
      open.emplace(events_[at]->end, at);
      if (waits_for_[at] == 0) ready.emplace(events_[at]->begin, at);
    }
    while (!open.empty()) {
      if (ready.empty() || ready.top().first > open.begin()->first) {
        std::string out = "there is no order of these and others:\n";
        int shown_events = 0;
        for (const auto& [end, at] : open)
          if (++shown_events <= 20) out += shown(*events_[at]);
        return out;
      }
      const std::size_t at = ready.top().second;
      ready.pop();
      open.erase({events_[at]->end, at});
      order_.push_back(at);
      for (const std::size_t follower : followers_[at])
        if (--waits_for_[follower] == 0) ready.emplace(events_[follower]->begin, follower);
    }
    return std::nullopt;
  }

  // The reference evaluator answers as was answered.
  std::optional<std::string> replay() {
    reference::Reference reference(*the_model());
    reference.set_time(time_);
    for (const std::size_t at : order_) {
      const Event& event = *events_[at];
      const auto difference =
          property::difference(*the_model(), event.request, event.answer, reference.answer(event.request));
      if (difference) return shown(event) + *difference;
    }
    return std::nullopt;
  }

  const std::int64_t time_;
  std::vector<const Event*> events_;
  std::map<std::string, const Json*> moves_;
  std::map<std::string, Counted> counted_;
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> waits_for_;  // how many
  std::vector<std::size_t> order_;
};

}  // namespace

std::optional<std::string> not_in_order(const History& history, const Json& moves, std::int64_t time) {
  return Order(history, moves, time).run();
}

std::optional<std::string> wrong_counters(const History& history) {
  std::map<std::string, std::vector<const Event*>> added;
  for (const Event& event : history)
    if (name_of(event) == "add" && is_applied(event))
      added[event.request["params"]["name"].get<std::string>()].push_back(&event);
  for (const Event& event : history) {
    const std::string name = name_of(event);
    if (name != "counters" && name != "counted" && name != "ranking") continue;
    for (const Json& row : event.answer["rows"]) {
      std::int64_t least = 0;
      std::int64_t most = 0;
      for (int c = 0; c < counters; ++c) {
        const bool counts = name == "counted" ? event.request["params"]["name"] == branch_name(c % branches)
                                              : row["name"] == counter_name(c);
        if (!counts) continue;
        for (const Event* add : added[counter_name(c)]) {
          const std::int64_t n = add->request["params"]["n"].get<std::int64_t>();
          if (add->end < event.begin) least += n;
          if (add->begin < event.end) most += n;
        }
      }
      const std::int64_t seen = row["n"].get<std::int64_t>();
      if (seen < least || seen > most)
        return fmt::format("between {} and {} was added:\n{}", least, most, concurrency::text(History{event}));
    }
  }
  return std::nullopt;
}

}  // namespace noam::tests::bank
