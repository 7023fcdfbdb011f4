#pragma once

#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "noam/cql/session.h"
#include "tests/cassandra_keyspace.h"

namespace noam::tests {

// A test that needs a server, with a keyspace that the tests of a suite share. Skipped if there is none.
class OnCassandra : public testing::Test {
 protected:
  void SetUp() override {
    if (test_cassandra()) return;
    if (std::getenv("NOAM_TEST_CASSANDRA") != nullptr && std::getenv("CI") != nullptr)
      FAIL() << "this noam was built without the driver";
    GTEST_SKIP() << "NOAM_TEST_CASSANDRA is not set; `tests/servers/run cassandra` sets it";
  }
  static void TearDownTestSuite() { shared().reset(); }

  static CassandraKeyspace& keyspace() {
    if (!shared()) shared() = std::make_unique<CassandraKeyspace>();
    return *shared();
  }

 private:
  static std::unique_ptr<CassandraKeyspace>& shared() {
    static std::unique_ptr<CassandraKeyspace> made;
    return made;
  }
};

}  // namespace noam::tests
