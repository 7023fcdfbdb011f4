#include <csignal>
#include <map>
#include <span>
#include <thread>

#include "tests/cql/server.h"

// Timeouts, and a node that dies.
namespace noam::tests {
namespace {

using cql::FailureKind;
using cql::Request;
using cql::Values;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

class Deadlines : public ServerTest {};

TEST_F(Deadlines, WhatIsNotSentInTimeIsNotApplied) {
  execute("CREATE TABLE KS.t (id int PRIMARY KEY)");
  const std::vector<Request> requests(3, request(prepare("INSERT INTO KS.t (id) VALUES (1)")));
  for (const auto& response : session().run(requests, steady_clock::now() - 1s)) {
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.failure().kind, FailureKind::NotSent);
    EXPECT_FALSE(response.failure().unknown);
  }
  EXPECT_EQ(run(request(prepare("SELECT id FROM KS.t"))).row_count(), 0U);
  EXPECT_EQ(session().execute("DROP TABLE " + keyspace() + ".t", steady_clock::now()).failure().kind,
            FailureKind::NotSent);
}

// A node of its own, with a session and a table of some rows.
class OnOwnNode : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    node_ = std::make_unique<Node>(server().port + 10);
    ASSERT_TRUE(node_->started());
    auto session = cql::Session::connect(options_for(node_->point()));
    ASSERT_TRUE(session) << session.error().message;
    own_ = std::move(*session);
    ASSERT_TRUE(
        own_->execute("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .ok());
    ASSERT_TRUE(own_->execute("CREATE TABLE k.t (id int PRIMARY KEY, v int)").ok());
    const auto plain = own_->prepare("INSERT INTO k.t (id, v) VALUES (?, ?)");
    const auto conditional = own_->prepare("INSERT INTO k.t (id, v) VALUES (?, ?) IF NOT EXISTS");
    const auto select = own_->prepare("SELECT v FROM k.t WHERE id = ?");
    ASSERT_TRUE(plain && conditional && select);
    plain_ = *plain;
    conditional_ = *conditional;
    select_ = *select;
    ASSERT_TRUE(own_->run(write(0)).ok());
  }

  Request write(int id) const { return request(plain_, Values().integer(id).integer(1)); }
  Request condition(int id) const {
    Request conditional = request(conditional_, Values().integer(id).integer(1));
    conditional.conditional = true;
    return conditional;
  }
  Request read(int id) const {
    Request idempotent = request(select_, Values().integer(id));
    idempotent.idempotent = true;
    return idempotent;
  }

  std::unique_ptr<Node> node_;
  std::unique_ptr<cql::Session> own_;
  cql::Prepared plain_, conditional_, select_;
};

TEST_F(OnOwnNode, ANodeThatHangsIsATimeoutAndUnknown) {
  node_->signal(SIGSTOP);
  Request short_one = write(1);
  short_one.timeout = 200ms;
  const auto start = steady_clock::now();
  const auto timed_out = own_->run(short_one);
  EXPECT_LT(steady_clock::now() - start, 2s);
  ASSERT_FALSE(timed_out.ok());
  EXPECT_EQ(timed_out.failure().kind, FailureKind::Timeout);
  EXPECT_TRUE(timed_out.failure().unknown);
  EXPECT_EQ(timed_out.failure().message, "no answer within 200 ms");

  // The deadline of the call counts, too.
  const auto late = own_->run(write(2), steady_clock::now() + 300ms);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.failure().kind, FailureKind::Timeout);
  EXPECT_LT(steady_clock::now() - start, 3s);

  node_->signal(SIGCONT);
  EXPECT_TRUE(own_->run(write(3)).ok());
  // It was applied after all, which nobody could know.
  EXPECT_EQ(own_->run(read(1)).row_count(), 1U);
  const auto metrics = own_->metrics();
  EXPECT_EQ(metrics.unknown, 2U);
  EXPECT_EQ(metrics.in_flight, 0U);
}

// Without an answer for ten seconds, the driver gives the connection up, although nobody closed it.
TEST_F(OnOwnNode, AConnectionThatIsSilentIsGivenUp) {
  node_->signal(SIGSTOP);
  const auto start = steady_clock::now();
  std::vector<Request> requests = {write(1), read(1)};
  for (Request& patient : requests) patient.timeout = 60s;
  const auto responses = own_->run(requests);
  const auto taken = steady_clock::now() - start;
  node_->signal(SIGCONT);
  ASSERT_FALSE(responses[0].ok());
  EXPECT_EQ(responses[0].failure().kind, FailureKind::Broken) << responses[0].failure().message;
  EXPECT_TRUE(responses[0].failure().unknown);
  // The read is idempotent, so the driver looked for another node, and found none.
  ASSERT_FALSE(responses[1].ok());
  EXPECT_EQ(responses[1].failure().kind, FailureKind::NotConnected) << responses[1].failure().message;
  EXPECT_TRUE(responses[1].failure().unknown);
  EXPECT_EQ(own_->metrics().retries, 1U);
  EXPECT_LT(taken, 20s);
}

TEST_F(OnOwnNode, ANodeKilledInMidFlightLeavesWhatWasSentUnknown) {
  std::vector<Request> requests;
  for (int i = 1; i <= 40'000; ++i) requests.push_back(i % 2 == 0 ? write(i) : condition(i));
  // The first ones take long on a node that has just started.
  for (const auto& response : own_->run(std::span(requests).subspan(0, 500))) {
    ASSERT_TRUE(response.ok()) << error_of(response.failure()).message;
  }
  std::thread killer([&] {
    std::this_thread::sleep_for(300ms);
    node_->signal(SIGKILL);
  });
  const auto responses = own_->run(requests);
  killer.join();

  std::map<FailureKind, int> kinds;
  int applied = 0;
  for (const auto& response : responses) {
    if (response.ok()) {
      ++applied;
      continue;
    }
    ++kinds[response.failure().kind];
    const bool sent = response.failure().kind != FailureKind::NotConnected;
    EXPECT_EQ(response.failure().unknown, sent) << response.failure().message;
    EXPECT_FALSE(response.failure().message.empty());
  }
  std::string counts = std::to_string(applied) + " applied";
  for (const auto& [kind, count] : kinds) counts += ", " + std::to_string(count) + " " + std::string(name_of(kind));
  SCOPED_TRACE(counts);
  EXPECT_GT(applied, 0);
  EXPECT_GT(kinds[FailureKind::Broken], 0);
  EXPECT_GT(kinds[FailureKind::NotConnected], 0);
  // A busy server may also have timed out.
  kinds.erase(FailureKind::WriteTimeout);
  EXPECT_EQ(kinds.size(), 2U);

  const auto start = steady_clock::now();
  const auto after = own_->run(write(1));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.failure().kind, FailureKind::NotConnected) << after.failure().message;
  EXPECT_FALSE(after.failure().unknown);
  EXPECT_LT(steady_clock::now() - start, 2s);
  const auto read_after = own_->run(read(1));
  EXPECT_FALSE(read_after.ok());
}

}  // namespace
}  // namespace noam::tests
