#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "noam/cql/session.h"
#include "tests/temporary_folder.h"

// The driver against real servers. `tests/servers/run cassandra` starts one and says where it is.
namespace noam::tests {

// From NOAM_TEST_CASSANDRA=host:port; none if it is not set.
std::optional<cql::ContactPoint> test_server();

// How the tests connect.
cql::Options options_for(const cql::ContactPoint& point);

// A test that needs a server. It is skipped if none is given, and fails if one is given that does not answer. It has a
// keyspace of its own.
class ServerTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] const cql::ContactPoint& server() const { return *server_; }
  cql::Session& session() { return *session_; }
  [[nodiscard]] const std::string& keyspace() const { return keyspace_; }

  // Each fails the test if there is an error. In texts, `KS` stands for the keyspace.
  void execute(std::string text);
  cql::Prepared prepare(std::string text);
  cql::Response run(const cql::Request& request);

 private:
  std::string in_keyspace(std::string text) const;

  std::optional<cql::ContactPoint> server_;
  std::unique_ptr<cql::Session> session_;
  std::string keyspace_;
};

// A request of one statement.
cql::Request request(const cql::Prepared& prepared, cql::Values values = {});

// A node of its own, at ports after those of the test server, for tests that kill it. Started by `tools/servers`.
class Node {
 public:
  explicit Node(int port_base);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  [[nodiscard]] bool started() const { return pid_ > 0; }
  [[nodiscard]] cql::ContactPoint point() const;
  void signal(int number) const;

 private:
  [[nodiscard]] int tool(std::string_view verb) const;

  TemporaryFolder folder_;
  int port_base_;
  int pid_ = 0;
};

}  // namespace noam::tests
