#include "tests/cassandra/three_nodes.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/base/check.h"
#include "noam/cql/session.h"
#include "tests/support.h"

namespace noam::tests {

std::optional<ThreeNodes> ThreeNodes::given() {
  const char* text = std::getenv("NOAM_TEST_CASSANDRA_CLUSTER");
  if (text == nullptr || !cql::available()) return std::nullopt;
  const auto points = cql::parse_contact_points(text);
  check(points && points->size() == 3, "NOAM_TEST_CASSANDRA_CLUSTER is host:port,host:port,host:port");
  const bool loopback = points->front().host.rfind("127.", 0) == 0;
  return ThreeNodes(*points, loopback ? "cassandra-cluster" : "cassandra-network");
}

cql::Options ThreeNodes::options() const {
  // The machine may be busy.
  return {.contact_points = points_, .connect_timeout = std::chrono::seconds(30)};
}

bool ThreeNodes::is_complete() const {
  for (const cql::ContactPoint& point : points_) {
    for (int attempt = 0;; ++attempt) {
      if (attempt == 240) return false;
      cql::Options alone = options();
      alone.contact_points = {point};
      const auto session = cql::Session::connect(alone);
      // Requests go to all nodes in turn, so several are asked.
      bool all_know = session.has_value();
      for (int i = 0; all_know && i < 12; ++i) {
        const auto peers = (*session)->execute("SELECT peer FROM system.peers_v2");
        all_know = peers.ok() && peers.row_count() == 2;
      }
      if (all_know) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  return true;
}

void ThreeNodes::tool(const std::string& verb, const std::vector<int>& nodes) const {
  std::string command = fmt::format("'{}/tools/servers' {} {}", source_dir().string(), verb, name_);
  for (const int node : nodes) command += fmt::format(" node{}", node);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace noam::tests
