#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "noam/cql/session.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/cassandra/place.h"
#include "noam/stores/store.h"

// Keyspaces on the Cassandra that NOAM_TEST_CASSANDRA=host:port names. `tests/servers/run cassandra` starts one.
namespace noam::tests {

// None: there is no server, or noam was built without the driver.
std::optional<cql::ContactPoint> test_cassandra();

// A keyspace of its own, which is dropped with the object. The program ends if the server does not answer.
class CassandraKeyspace {
 public:
  CassandraKeyspace();
  CassandraKeyspace(const CassandraKeyspace&) = delete;
  CassandraKeyspace& operator=(const CassandraKeyspace&) = delete;
  ~CassandraKeyspace();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string url() const;
  cql::Session& session() { return *session_; }

  // What the next process would open. The tables are made by its first `deploy`.
  // Of the place only the limits count.
  std::unique_ptr<stores::Store> open(stores::blocks::Surroundings around = stores::blocks::this_machine(),
                                      const stores::cassandra::Place& limits = {});

  // Deletes all rows; the tables stay. No store may be open.
  void clear();
  // Deletes the tables, too, so that another design can be deployed.
  void drop_tables();

  // The rows of a statement, in which `KS` stands for the keyspace; cells as bytes.
  std::vector<std::vector<std::string>> rows(const std::string& text);

 private:
  void execute(const std::string& text);

  std::string name_;
  std::unique_ptr<cql::Session> session_;
};

}  // namespace noam::tests
