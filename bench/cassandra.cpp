// noam on Apache Cassandra, against a program written by hand on the same driver (bench/cassandra.noam).

#include "bench/cassandra.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "bench/examples.h"
#include "bench/harness.h"

namespace noam::bench {
namespace {

using model::Datum;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t opening = 1'700'000'000'000;
constexpr std::int64_t first_balance = 1'000'000'000;
constexpr std::size_t messages_of_each = 50;
constexpr std::size_t page = 25;
constexpr std::size_t load_at_once = 200;

struct Sizes {
  std::int64_t accounts = 2'000;
  std::int64_t rooms = 100;
  std::size_t followers = 100;
};

std::string content_of(Random& random) { return some_letters(random, 120); }

struct Message {
  std::int64_t room = 0;
  std::int64_t number = 0;
  std::string author;
  std::string content;
};

std::vector<Message> messages(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<Message> out;
  for (std::int64_t room = 0; room < sizes.rooms; ++room)
    for (std::size_t i = 0; i < messages_of_each; ++i)
      out.push_back({room, static_cast<std::int64_t>(i), some_letters(random, 10), content_of(random)});
  return out;
}

std::string reader(std::size_t number) { return fmt::format("r{:06}", number); }

void load(NoamDatabase& database, const char* entity, std::vector<Datum::List> rows) {
  for (auto from = rows.begin(); from != rows.end();) {
    const auto count = std::min<std::ptrdiff_t>(rows.end() - from, load_at_once);
    database.load(entity, {std::make_move_iterator(from), std::make_move_iterator(from + count)});
    from += count;
  }
}

// By hand: the tables that a programmer would make, a read, and then a write on the condition that nothing has changed.
class HandTables {
 public:
  HandTables(HandOnCassandra& database, const Sizes& sizes, const std::vector<Message>& all) : database_(database) {
    database_.execute("CREATE TABLE KS.accounts (id bigint PRIMARY KEY, owner text, balance bigint)");
    database_.execute(
        "CREATE TABLE KS.messages (room bigint, number bigint, author text, content text, PRIMARY KEY (room, number)) "
        "WITH CLUSTERING ORDER BY (number DESC)");
    const cql::Prepared account =
        database_.prepare("INSERT INTO KS.accounts (id, owner, balance) VALUES (?, ?, ?) IF NOT EXISTS");
    for (std::int64_t id = 1; id <= sizes.accounts; ++id) {
      cql::Request request;
      request.statements.push_back(
          {account, cql::Values().bigint(id).text(fmt::format("owner{:015}", id)).bigint(first_balance)});
      request.conditional = true;
      database_.run(request);
    }
    const cql::Prepared message =
        database_.prepare("INSERT INTO KS.messages (room, number, author, content) VALUES (?, ?, ?, ?)");
    for (const Message& one : all) {
      cql::Request request;
      request.statements.push_back(
          {message, cql::Values().bigint(one.room).bigint(one.number).text(one.author).text(one.content)});
      database_.run(request);
    }
    read_ = database_.prepare("SELECT owner, balance FROM KS.accounts WHERE id = ?");
    write_ = database_.prepare("UPDATE KS.accounts SET balance = ? WHERE id = ? IF balance = ?");
    page_ = database_.prepare("SELECT number, author, content FROM KS.messages WHERE room = ? LIMIT ?");
  }

  std::int64_t balance(std::int64_t id) {
    cql::Request request;
    request.statements.push_back({read_, cql::Values().bigint(id)});
    request.idempotent = true;
    const cql::Response found = database_.run(request);
    if (found.row_count() == 0) throw Failed("an account is missing");
    return *found.row(0)[1].bigint();
  }

  void withdraw(std::int64_t id, std::int64_t amount, Tally& tally) {
    for (;;) {
      const std::int64_t before = balance(id);
      if (before < amount) return;
      cql::Request request;
      request.statements.push_back({write_, cql::Values().bigint(before - amount).bigint(id).bigint(before)});
      request.conditional = true;
      if (!database_.run(request).applied()) continue;
      ++tally.done;
      return;
    }
  }

  void newest(std::int64_t room, std::optional<cql::Consistency> consistency, Tally& tally) {
    cql::Request request;
    request.statements.push_back({page_, cql::Values().bigint(room).integer(page)});
    request.idempotent = true;
    request.consistency = consistency;
    const cql::Response found = database_.run(request);
    for (std::size_t i = 0; i < found.row_count(); ++i) {
      const auto row = found.row(i);
      if (!row[0].bigint()) throw Failed("a number of a message is missing");
      tally.answers += 8 + row[1].bytes().size() + row[2].bytes().size();
    }
    tally.done += found.row_count();
  }

 private:
  HandOnCassandra& database_;
  cql::Prepared read_;
  cql::Prepared write_;
  cql::Prepared page_;
};

void load_noam(NoamOnCassandra& noam, const Sizes& sizes, const std::vector<Message>& all) {
  std::vector<Datum::List> rows;
  for (std::int64_t id = 1; id <= sizes.accounts; ++id)
    rows.push_back({Datum(id), Datum(fmt::format("owner{:015}", id)), Datum(first_balance)});
  load(*noam, "Account", std::move(rows));
  rows.clear();
  for (std::int64_t room = 0; room < sizes.rooms; ++room) rows.push_back({Datum(room)});
  load(*noam, "Room", std::move(rows));
  rows.clear();
  for (const Message& one : all)
    rows.push_back({Datum(one.room), Datum(one.number), Datum(one.author), Datum(one.content)});
  load(*noam, "Message", std::move(rows));
  rows.clear();
  rows.push_back({Datum("author"), Datum::List()});
  load(*noam, "User", std::move(rows));
  rows.clear();
  for (std::size_t i = 0; i < sizes.followers; ++i)
    rows.push_back({Datum(reader(i)), model::make_set({Datum("author")})});
  load(*noam, "User", std::move(rows));
  noam.wait();
}

struct Withdrawal {
  std::int64_t account = 0;
  std::int64_t amount = 0;
};

Cell cell_of(const std::string& benchmark, const std::string& workload, unsigned threads, std::size_t operations) {
  Cell out;
  out.benchmark = benchmark;
  out.workload = workload;
  out.design = "tables";
  out.threads = threads;
  out.operations = operations;
  out.base = "by hand";
  return out;
}

// A command that takes some time, one after the other, and what it asks of the database.
Row measure_alone(const std::string& workload, const std::string& predicted, std::size_t times, NoamOnCassandra& noam,
                  const std::function<void()>& run) {
  noam.wait();
  const Asked& asked = noam.asked();
  const std::uint64_t serial = asked.serial_reads;
  const std::uint64_t committed = asked.committed_reads;
  const std::uint64_t writes = asked.writes;
  const std::uint64_t requests = noam.metrics().requests;
  Row row;
  row.benchmark = "cassandra, commands on several blocks";
  row.workload = workload;
  row.design = "tables";
  row.operations = times;
  row.base = "answered";
  Measured answered{"answered", true, {}, 0, {}, {}};
  Measured finished{"all done", true, {}, 0, {}, {}};
  for (std::size_t i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    run();
    answered.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    noam.wait();
    finished.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  for (Measured* measured : {&answered, &finished}) {
    std::vector<double> seconds = measured->seconds;
    std::sort(seconds.begin(), seconds.end());
    measured->per_second = 1 / seconds[seconds.size() / 2];
  }
  finished.to_base = answered.per_second / finished.per_second;
  const auto each = [&](std::uint64_t after, std::uint64_t before) {
    return static_cast<double>(after - before) / static_cast<double>(times);
  };
  row.figures = {{"conditional_writes", each(asked.writes, writes)},
                 {"serial_reads", each(asked.serial_reads, serial)},
                 {"committed_reads", each(asked.committed_reads, committed)},
                 {"requests", each(noam.metrics().requests, requests)}};
  fmt::print(
      "{}: answered after {:.1f} ms, all done after {:.1f} ms; {:.1f} conditional writes, {:.1f} blocks read at "
      "SERIAL and {:.1f} at QUORUM, {:.1f} requests ({})\n",
      workload, 1e3 / answered.per_second, 1e3 / finished.per_second, row.figures[0].second, row.figures[1].second,
      row.figures[2].second, row.figures[3].second, predicted);
  row.rivals = {std::move(answered), std::move(finished)};
  return row;
}

// What a head costs that has so many commands in it, and what it costs to add another to so many.
void measure_guards(std::vector<Row>& rows, HandOnCassandra& hand, NoamOnCassandra& noam, const Settings& settings) {
  const Statement withdraw = noam->command("withdraw");
  const auto hot = std::make_shared<Plan<Withdrawal>>(1);
  const auto prepare = [hot](std::size_t count) {
    return [hot, count](std::uint64_t seed) {
      hot->fill(seed, count, [](Random& random) {
        return Withdrawal{0, 1 + static_cast<std::int64_t>(random.below(9))};
      });
    };
  };
  const std::size_t operations = settings.quick ? 10 : 600;
  const auto on_account = [&](NoamOnCassandra& database, std::int64_t account, Ids ids) {
    return [&database, account, ids, withdraw, hot](unsigned thread) {
      return hot->run(thread, [&](const Withdrawal& one, Tally& tally) {
        tally.done += database->run(withdraw, {Datum(account), Datum(one.amount)}, ids) ? 1 : 0;
      });
    };
  };

  Cell carried = cell_of("cassandra, guards in the head", "a command without an id", 1, operations);
  carried.base = "0";
  carried.prepare = prepare(operations);
  std::int64_t account = 1;
  for (const int guards : {0, 8, 16, 32, 64}) {
    for (int i = 0; i < guards; ++i) noam->run(withdraw, {Datum(account), Datum(std::int64_t{1})}, Ids::With);
    carried.rivals.push_back({fmt::format("{}", guards), on_account(noam, account, Ids::Without), true});
    ++account;
  }
  measure_into(rows, carried, settings);

  Cell added = cell_of("cassandra, guards that are added", "a command with an id, on a full head", 1, operations);
  added.base = "no id";
  added.prepare = prepare(operations);
  added.rivals.push_back({"no id", on_account(noam, account++, Ids::Without), true});
  std::vector<std::unique_ptr<NoamOnCassandra>> others;
  for (const std::size_t guards : {8U, 16U, 32U, 64U}) {
    stores::blocks::ProtocolOptions options;
    options.guards_in_head = guards;
    others.push_back(
        std::make_unique<NoamOnCassandra>(hand.options(), hand.noam_keyspace(), runtime::Reads::Exact, options));
    for (std::size_t i = 0; i < guards; ++i)
      (*others.back())->run(withdraw, {Datum(account), Datum(std::int64_t{1})}, Ids::With);
    added.rivals.push_back({fmt::format("{}", guards), on_account(*others.back(), account, Ids::With), true});
    ++account;
  }
  measure_into(rows, added, settings);
}

}  // namespace

std::vector<Row> bench_cassandra_store(const Settings& settings) {
  const auto point = bench_cassandra();
  if (!point) return {};
  Sizes sizes;
  if (settings.quick) sizes = {50, 5, 10};
  HandOnCassandra hand(*point);
  const std::vector<Message> all = messages(sizes, settings.seed);
  HandTables tables(hand, sizes, all);
  NoamOnCassandra exact(hand.options(), hand.noam_keyspace(), runtime::Reads::Exact);
  NoamOnCassandra fast(hand.options(), hand.noam_keyspace(), runtime::Reads::Fast);
  load_noam(exact, sizes, all);
  std::vector<Row> rows;

  for (const unsigned threads : {1U, 8U}) {
    auto plan = std::make_shared<Plan<Withdrawal>>(threads);
    const Statement withdraw = exact->command("withdraw");
    Cell cell =
        cell_of("cassandra", "command on one block", threads, settings.quick ? 40 : 1'000 * (threads > 1 ? 3 : 1));
    cell.size = fmt::format("{} accounts", grouped(static_cast<std::uint64_t>(sizes.accounts)));
    cell.prepare = [&, plan, count = cell.operations](std::uint64_t seed) {
      plan->fill(seed, count, [&](Random& random) {
        return Withdrawal{1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(sizes.accounts))),
                          1 + static_cast<std::int64_t>(random.below(9))};
      });
    };
    cell.rivals = {{"noam",
                    [&, plan](unsigned thread) {
                      return plan->run(thread, [&](const Withdrawal& one, Tally& tally) {
                        tally.done += exact->run(withdraw, {Datum(one.account), Datum(one.amount)}) ? 1 : 0;
                      });
                    },
                    true},
                   {"by hand",
                    [&, plan](unsigned thread) {
                      return plan->run(thread, [&](const Withdrawal& one, Tally& tally) {
                        tables.withdraw(one.account, one.amount, tally);
                      });
                    },
                    true}};
    measure_into(rows, cell, settings);
  }

  struct Level {
    const char* name;
    NoamOnCassandra& noam;
    std::optional<cql::Consistency> by_hand;
  };
  for (const Level& level :
       {Level{"page of 25, SERIAL", exact, cql::Consistency::Serial}, Level{"page of 25, QUORUM", fast, {}}}) {
    for (const unsigned threads : {1U, 8U}) {
      auto plan = std::make_shared<Plan<std::int64_t>>(threads);
      const Statement newest = level.noam->query("newest");
      Cell cell = cell_of("cassandra", level.name, threads, settings.quick ? 40 : 2'000 * (threads > 1 ? 2 : 1));
      cell.size = fmt::format("{} rooms", grouped(static_cast<std::uint64_t>(sizes.rooms)));
      cell.prepare = [&, plan, count = cell.operations](std::uint64_t seed) {
        plan->fill(seed, count, [&](Random& random) {
          return static_cast<std::int64_t>(random.below(static_cast<std::size_t>(sizes.rooms)));
        });
      };
      cell.rivals = {{"noam",
                      [&, newest, plan](unsigned thread) {
                        return plan->run(thread, [&](const std::int64_t& room, Tally& tally) {
                          std::size_t found = 0;
                          tally.answers += level.noam->ask(newest, {Datum(room)}, found);
                          tally.done += found;
                        });
                      },
                      true},
                     {"by hand",
                      [&, plan](unsigned thread) {
                        return plan->run(thread, [&](const std::int64_t& room, Tally& tally) {
                          tables.newest(room, level.by_hand, tally);
                        });
                      },
                      true}};
      measure_into(rows, cell, settings);
    }
  }

  const Statement account = exact->query("account");
  for (std::int64_t id = 1; id <= sizes.accounts; id += 1 + sizes.accounts / 100)
    if (exact->rows(account, {Datum(id)}).rows.at(0)[1].as_int() != tables.balance(id))
      throw Failed(fmt::format("cassandra: other balances of account {}", id));

  Random random(settings.seed);
  const std::size_t times = settings.quick ? 3 : 30;
  const Statement withdraw = exact->command("withdraw");
  const Statement transfer = exact->command("transfer");
  const Statement post = exact->command("post");
  std::int64_t id = 0;
  const auto post_once = [&] {
    ++id;
    if (!exact->run(post, {Datum(id), Datum("author"), Datum(opening + id * 1'000), Datum(content_of(random))}))
      throw Failed("a post was refused");
  };
  const auto any_account = [&] {
    return 1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(sizes.accounts)));
  };
  rows.push_back(measure_alone("one account", "the protocol needs 1 conditional write", times, exact, [&] {
    exact->run(withdraw, {Datum(any_account()), Datum(std::int64_t{1})});
  }));
  rows.push_back(
      measure_alone("transfer between two accounts",
                    "the protocol needs 2 conditional writes to answer, and 2 after it", times, exact, [&] {
                      const std::int64_t from = any_account();
                      exact->run(transfer, {Datum(from), Datum(1 + from % sizes.accounts), Datum(std::int64_t{1})});
                    }));
  post_once();
  rows.push_back(measure_alone(
      fmt::format("post to {} followers", sizes.followers),
      fmt::format("the protocol needs {} conditional writes and 2 reads at SERIAL to answer, and {} conditional writes "
                  "after it",
                  sizes.followers + 3, sizes.followers + 2),
      times, exact, post_once));

  measure_guards(rows, hand, exact, settings);

  if (settings.quick) exact->verify();
  return rows;
}

}  // namespace noam::bench
