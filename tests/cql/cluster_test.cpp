#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "tests/cql/server.h"

// Which node gets a request. Needs several, whose replication factor can be 3:
//   tools/servers start cassandra-cluster; NOAM_TEST_CASSANDRA_CLUSTER=$(tools/servers address cassandra-cluster)
namespace noam::tests {
namespace {

using cql::Consistency;
using cql::Request;
using cql::Values;

// Whether each node that answers knows the two others, which it does some seconds after its start.
bool is_complete(cql::Session& session) {
  const auto peers = session.prepare("SELECT peer FROM system.peers_v2");
  for (int i = 0; peers && i < 20; ++i) {
    if (session.run(request(*peers)).row_count() != 2) return false;
  }
  return peers.has_value();
}

TEST(Cluster, AllClientsSendTheConditionalRequestsOfAKeyToOneNode) {
  const char* given = std::getenv("NOAM_TEST_CASSANDRA_CLUSTER");
  if (given == nullptr) GTEST_SKIP() << "NOAM_TEST_CASSANDRA_CLUSTER is not set";
  const auto points = cql::parse_contact_points(given);
  ASSERT_TRUE(points) << points.error().message;
  const cql::ContactPoint& point = points->front();
  auto one = cql::Session::connect(options_for(point));
  for (int i = 0; i < 60 && !(one && is_complete(**one)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    one = cql::Session::connect(options_for(point));
  }
  ASSERT_TRUE(one) << one.error().message;
  const auto made = [&](const char* text) {
    const auto response = (*one)->execute(text);
    ASSERT_TRUE(response.ok()) << response.failure().message;
  };
  made("CREATE KEYSPACE IF NOT EXISTS c WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
  made("CREATE TABLE IF NOT EXISTS c.t (id text, part int, v int, PRIMARY KEY ((id, part)))");
  const auto two = cql::Session::connect(options_for(point));
  ASSERT_TRUE(two) << two.error().message;

  std::map<std::string, int> coordinators;
  std::set<std::string> of_plain_reads;
  for (int key = 0; key < 60; ++key) {
    std::set<std::string> seen;
    for (cql::Session* session : {one->get(), two->get()}) {
      const auto update = session->prepare("UPDATE c.t SET v = ? WHERE id = ? AND part = ? IF v != ?");
      const auto select = session->prepare("SELECT v FROM c.t WHERE id = ? AND part = ?");
      ASSERT_TRUE(update && select);
      const Values values = Values().integer(1).text("k").integer(key).integer(2);
      Request single = request(*update, values);
      single.conditional = true;
      Request batch = single;
      batch.statements.push_back(batch.statements.front());
      Request serial = request(*select, Values().text("k").integer(key));
      serial.consistency = Consistency::Serial;
      serial.idempotent = true;
      for (const Request& asked : {single, batch, serial}) {
        const auto response = session->run(asked);
        ASSERT_TRUE(response.ok()) << response.failure().message;
        seen.insert(response.coordinator());
      }
      Request plain = request(*select, Values().text("k").integer(0));
      plain.consistency = Consistency::One;
      of_plain_reads.insert(session->run(plain).coordinator());
    }
    EXPECT_EQ(seen.size(), 1U) << "key " << key;
    ++coordinators[*seen.begin()];
  }
  // Each node has some of the keys, and plain reads of one key go to all of them.
  EXPECT_EQ(coordinators.size(), 3U);
  EXPECT_EQ(of_plain_reads.size(), 3U);
}

}  // namespace
}  // namespace noam::tests
