#include <atomic>
#include <thread>

#include "tests/cql/server.h"

// Statements, batches, pages, traces.
namespace noam::tests {
namespace {

using cql::Consistency;
using cql::FailureKind;
using cql::Request;
using cql::Values;

class Statements : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    execute("CREATE TABLE KS.game (id text, position int, head int static, move text, PRIMARY KEY (id, position))");
    insert_ = prepare("INSERT INTO KS.game (id, position, move) VALUES (?, ?, ?)");
    select_ = prepare("SELECT position, move FROM KS.game WHERE id = ?");
    begin_ = prepare("UPDATE KS.game SET head = ? WHERE id = ? IF head = null");
    advance_ = prepare("UPDATE KS.game SET head = ? WHERE id = ? IF head = ?");
    delete_ = prepare("DELETE FROM KS.game WHERE id = ? AND position = ?");
  }

  std::string moves(const std::string& id) {
    std::string out;
    const auto response = run(request(select_, Values().text(id)));
    for (std::size_t i = 0; i < response.row_count(); ++i) {
      out += std::to_string(*response.row(i)[0].integer()) + ":" + std::string(*response.row(i)[1].text()) + " ";
    }
    return out;
  }

  cql::Prepared insert_, select_, begin_, advance_, delete_;
};

TEST_F(Statements, ReturnRowsInTheOrderOfTheTable) {
  for (const auto& [position, move] : {std::pair(2, "d4"), {1, "e4"}}) {
    const auto response = run(request(insert_, Values().text("g").integer(position).text(move)));
    EXPECT_EQ(response.row_count(), 0U);
    EXPECT_TRUE(response.applied());
  }
  EXPECT_EQ(moves("g"), "1:e4 2:d4 ");
  const auto response = run(request(select_, Values().text("g")));
  EXPECT_EQ(response.column_name(0), "position");
  EXPECT_EQ(response.column_type(0), "int");
  EXPECT_EQ(response.column_type(1), "text");
  EXPECT_EQ(moves("none"), "");
}

TEST_F(Statements, ReportTheWordsOfTheServer) {
  const auto prepared = session().prepare("SELECT nothing FROM " + keyspace() + ".game");
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, "refused");
  EXPECT_NE(prepared.error().message.find("Undefined column name nothing"), std::string::npos)
      << prepared.error().message;
  const auto response = session().execute("SELEKT 1");
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.failure().kind, FailureKind::Refused);
  EXPECT_EQ(response.failure().code, 0x2000);
  EXPECT_FALSE(response.failure().unknown);
}

TEST_F(Statements, CheckTheNumberOfValues) {
  const auto response = session().run(request(insert_, Values().text("g")));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.failure().kind, FailureKind::Misuse);
  EXPECT_FALSE(response.failure().unknown);
  EXPECT_NE(response.failure().message.find("the statement has 3 values, the request 1"), std::string::npos)
      << response.failure().message;
}

TEST_F(Statements, WithAConditionSayWhetherTheyWereApplied) {
  Request first = request(begin_, Values().integer(1).text("g"));
  first.conditional = true;
  EXPECT_TRUE(run(first).applied());
  const auto second = run(first);
  EXPECT_FALSE(second.applied());
  ASSERT_EQ(second.row_count(), 1U);
  EXPECT_EQ(second.column_name(1), "head");
  EXPECT_EQ(*second.row(0)[1].integer(), 1);
  first.conditional = false;  // which says where it goes and what its failures mean, and not what it is
  EXPECT_FALSE(run(first).applied());
}

// A commit: the head under its condition, rows put and deleted.
Request commit(const cql::Prepared& advance, const cql::Prepared& insert, const cql::Prepared& remove, int from) {
  Request batch;
  batch.conditional = true;
  batch.consistency = Consistency::Quorum;
  batch.serial_consistency = cql::SerialConsistency::Serial;
  batch.statements = {{advance, Values().integer(from + 1).text("g").integer(from)},
                      {insert, Values().text("g").integer(10 + from).text("new")},
                      {remove, Values().text("g").integer(1)}};
  return batch;
}

TEST_F(Statements, OfAConditionalBatchAreAllAppliedOrNone) {
  run(request(insert_, Values().text("g").integer(1).text("e4")));
  Request begin = request(begin_, Values().integer(1).text("g"));
  begin.conditional = true;
  ASSERT_TRUE(run(begin).applied());

  const auto conflict = run(commit(advance_, insert_, delete_, 5));
  EXPECT_FALSE(conflict.applied());
  EXPECT_EQ(moves("g"), "1:e4 ");
  ASSERT_GT(conflict.row_count(), 0U);
  EXPECT_EQ(conflict.column_name(0), "[applied]");

  EXPECT_TRUE(run(commit(advance_, insert_, delete_, 1)).applied());
  EXPECT_EQ(moves("g"), "11:new ");
  EXPECT_EQ(session().metrics().conflicts, 1U);
}

TEST_F(Statements, ReadStaticColumnsAtSerial) {
  Request begin = request(begin_, Values().integer(7).text("g"));
  begin.conditional = true;
  ASSERT_TRUE(run(begin).applied());
  Request head = request(prepare("SELECT DISTINCT id, head FROM KS.game WHERE id = ?"), Values().text("g"));
  head.consistency = Consistency::Serial;
  head.idempotent = true;
  const auto response = run(head);
  ASSERT_EQ(response.row_count(), 1U);
  EXPECT_EQ(*response.row(0)[1].integer(), 7);
}

TEST_F(Statements, CanHaveATimestamp) {
  execute("CREATE TABLE KS.stamped (id int PRIMARY KEY, v int)");
  const auto write = prepare("INSERT INTO KS.stamped (id, v) VALUES (?, ?) USING TIMESTAMP ?");
  run(request(write, Values().integer(1).integer(20).bigint(2'000)));
  run(request(write, Values().integer(1).integer(10).bigint(1'000)));
  const auto response = run(request(prepare("SELECT v, writetime(v) FROM KS.stamped WHERE id = 1")));
  EXPECT_EQ(*response.row(0)[0].integer(), 20);
  EXPECT_EQ(*response.row(0)[1].bigint(), 2'000);
}

TEST_F(Statements, ComeInPages) {
  std::vector<Request> inserts;
  for (int i = 0; i < 95; ++i) inserts.push_back(request(insert_, Values().text("g").integer(i).text("m")));
  for (const auto& response : session().run(inserts)) ASSERT_TRUE(response.ok());
  Request page = request(select_, Values().text("g"));
  page.page_size = 20;
  std::vector<std::size_t> sizes;
  int next = 0;
  while (true) {
    const auto response = run(page);
    sizes.push_back(response.row_count());
    for (std::size_t i = 0; i < response.row_count(); ++i) EXPECT_EQ(*response.row(i)[0].integer(), next++);
    if (!response.paging_state()) break;
    page.paging_state = *response.paging_state();
    ASSERT_LT(sizes.size(), 10U);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{20, 20, 20, 20, 15}));
}

TEST_F(Statements, RunByTheThousandInOneCall) {
  std::vector<Request> requests;
  for (int i = 0; i < 1'000; ++i) {
    requests.push_back(request(insert_, Values().text("g" + std::to_string(i % 100)).integer(i).text("m")));
  }
  const auto responses = session().run(requests);
  ASSERT_EQ(responses.size(), 1'000U);
  for (const auto& response : responses) ASSERT_TRUE(response.ok());
  // Each response is the one of its request.
  requests.clear();
  for (int i = 0; i < 100; ++i) requests.push_back(request(select_, Values().text("g" + std::to_string(i))));
  const auto rows = session().run(requests);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(rows[i].ok());
    ASSERT_EQ(rows[i].row_count(), 10U);
    EXPECT_EQ(*rows[i].row(0)[0].integer(), i);
  }
  const auto metrics = session().metrics();
  EXPECT_EQ(metrics.requests, 1'100U);
  EXPECT_EQ(metrics.failures, 0U);
  EXPECT_EQ(metrics.in_flight, 0U);
  EXPECT_EQ(metrics.latencies.total(), 1'100U);
  EXPECT_GT(metrics.latencies.quantile(0.99), std::chrono::microseconds(0));
}

TEST_F(Statements, RunFromSeveralThreads) {
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string id = "t" + std::to_string(t);
      for (int round = 0; round < 20; ++round) {
        std::vector<Request> requests;
        // One alone takes another way than several.
        for (int i = 0; i <= round % 3; ++i) {
          requests.push_back(request(insert_, Values().text(id).integer(round * 3 + i).text("m")));
        }
        for (const auto& response : session().run(requests)) failed += response.ok() ? 0 : 1;
        const auto rows = session().run(request(select_, Values().text(id)));
        failed += rows.ok() && rows.row_count() > static_cast<std::size_t>(round) ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(session().run(std::vector<Request>{}).empty());
}

TEST_F(Statements, FailWithoutStoppingTheOthers) {
  const std::vector<Request> requests = {request(insert_, Values().text("g").integer(1).text("a")),
                                         request(insert_, Values().text("").integer(2).text("b")),
                                         request(insert_, Values().text("g").integer(3).text("c"))};
  const auto responses = session().run(requests);
  EXPECT_TRUE(responses[0].ok());
  ASSERT_FALSE(responses[1].ok());
  EXPECT_EQ(responses[1].failure().kind, FailureKind::Refused);
  EXPECT_EQ(responses[1].failure().code, 0x2200);
  EXPECT_NE(responses[1].failure().message.find("Key may not be empty"), std::string::npos)
      << responses[1].failure().message;
  EXPECT_TRUE(responses[2].ok());
}

TEST_F(Statements, ArePreparedAgainAfterDdl) {
  run(request(insert_, Values().text("g").integer(1).text("e4")));
  execute("ALTER TABLE KS.game ADD clock int");
  EXPECT_EQ(moves("g"), "1:e4 ");  // the old statement, which the server may have forgotten
  run(request(prepare("INSERT INTO KS.game (id, position, clock) VALUES (?, ?, ?)"),
              Values().text("g").integer(1).integer(90)));
  const auto response = run(request(prepare("SELECT position, clock FROM KS.game WHERE id = ?"), Values().text("g")));
  EXPECT_EQ(*response.row(0)[1].integer(), 90);

  // The same text, another type: the rows say which.
  execute("CREATE TABLE KS.changing (id int PRIMARY KEY, v int)");
  const auto before = prepare("SELECT v FROM KS.changing WHERE id = 1");
  execute("DROP TABLE KS.changing");
  EXPECT_EQ(session().run(request(before)).failure().kind, FailureKind::Refused);
  execute("CREATE TABLE KS.changing (id int PRIMARY KEY, v text)");
  execute("INSERT INTO KS.changing (id, v) VALUES (1, 'x')");
  for (const auto& prepared : {before, prepare("SELECT v FROM KS.changing WHERE id = 1")}) {
    const auto row = run(request(prepared));
    ASSERT_EQ(row.row_count(), 1U);
    EXPECT_EQ(row.column_type(0), "text");
    EXPECT_EQ(*row.row(0)[0].text(), "x");
  }
}

TEST_F(Statements, CanBeTraced) {
  Request traced = request(insert_, Values().text("g").integer(1).text("e4"));
  traced.trace = true;
  const auto response = run(traced);
  ASSERT_TRUE(response.trace_id());
  const auto lines = session().trace(response);
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_GT(lines->size(), 1U);
  EXPECT_NE(lines->front().find("Execute CQL3 prepared query"), std::string::npos) << lines->front();
  std::string all;
  for (const auto& line : *lines) all += line + "\n";
  EXPECT_NE(all.find("Appending to commitlog"), std::string::npos) << all;

  const auto plain = run(request(insert_, Values().text("g").integer(1).text("e4")));
  EXPECT_FALSE(plain.trace_id());
  EXPECT_FALSE(session().trace(plain));
}

// The keyspace is not known to the session, so the policy for conditional requests has to do without its replication.
TEST_F(Statements, ReachAKeyspaceThatAnotherClientHasJustCreated) {
  const auto other = cql::Session::connect(options_for(server()));
  ASSERT_TRUE(other);
  const std::string name = keyspace() + "_other";
  ASSERT_TRUE((*other)
                  ->execute("CREATE KEYSPACE " + name +
                            " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
                  .ok());
  ASSERT_TRUE((*other)->execute("CREATE TABLE " + name + ".t (id int PRIMARY KEY, v int)").ok());
  const auto insert = session().prepare("INSERT INTO " + name + ".t (id, v) VALUES (?, ?) IF NOT EXISTS");
  ASSERT_TRUE(insert);
  Request conditional = request(*insert, Values().integer(1).integer(1));
  conditional.conditional = true;
  EXPECT_TRUE(run(conditional).applied());
  EXPECT_FALSE(run(conditional).applied());
  EXPECT_TRUE((*other)->execute("DROP KEYSPACE " + name).ok());
}

}  // namespace
}  // namespace noam::tests
