#pragma once

#include <optional>
#include <string>
#include <vector>

#include "noam/cql/options.h"
#include "noam/stores/cassandra/place.h"

namespace noam::tests {

// The cluster whose nodes NOAM_TEST_CASSANDRA_CLUSTER=host:port,host:port,host:port names, in their order. Faults are
// made by `tools/servers`, which must have started it in the environment of the test.
class ThreeNodes {
 public:
  static std::optional<ThreeNodes> given();

  [[nodiscard]] cql::Options options() const;
  // Waits until each node knows both others. False: not within two minutes.
  [[nodiscard]] bool is_complete() const;

  // Whether nodes can be cut off: each has a network namespace.
  [[nodiscard]] bool has_network() const { return name_ == "cassandra-network"; }

  // Verbs of `tools/servers`, with the numbers of nodes from 1. A failure of the test if it fails.
  void kill(const std::vector<int>& nodes) const { tool("kill", nodes); }
  void restart(const std::vector<int>& nodes) const { tool("restart", nodes); }
  void pause(const std::vector<int>& nodes) const { tool("pause", nodes); }
  void resume(const std::vector<int>& nodes) const { tool("resume", nodes); }
  void cut(const std::vector<int>& nodes) const { tool("cut", nodes); }
  void mend(const std::vector<int>& nodes) const { tool("mend", nodes); }

 private:
  ThreeNodes(std::vector<cql::ContactPoint> points, std::string name)
      : points_(std::move(points)), name_(std::move(name)) {}
  void tool(const std::string& verb, const std::vector<int>& nodes) const;

  std::vector<cql::ContactPoint> points_;
  std::string name_;  // as `tools/servers` has it
};

}  // namespace noam::tests
