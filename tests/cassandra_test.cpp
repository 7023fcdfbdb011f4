#include "noam/targets/cassandra/cassandra.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/outlined.h"

// What Cassandra is given. tests/servers/test_cassandra.py prepares it.
namespace noam::tests {

namespace {

std::string statements(const std::string& name, const std::string& strategy) {
  const design::Program program = example_program(name, strategy);
  return file_of(targets::cassandra::generate(targets::outline(program), nullptr), "statements.cql");
}

}  // namespace

TEST(CassandraTarget, NeverMixesConditionalAndPlainWritesInARow) {
  const std::string text = statements("shortener", "seed000");
  // A copy beside its aggregate, and a count: written as they were read. With their owner they go, whatever they count.
  expect_part(text,
              "\nUPDATE url SET visitors = :visitors, noam_weight = :noam_weight WHERE short = :short IF visitors = "
              ":visitors_before AND noam_weight = :noam_weight_before;\n");
  expect_part(text, "\nDELETE visitors, noam_weight FROM url WHERE short = :short IF EXISTS;\n");
  expect_part(text, "\nDELETE FROM url_hours WHERE short = :short AND hour = :hour IF EXISTS;\n");
}

TEST(CassandraTarget, RaisesTheVersionOfWhatLiesInOtherTables) {
  const std::string text = statements("eventlog", "seed004");
  const std::size_t prefer = text.find("-- command prefer(");
  ASSERT_NE(prefer, std::string::npos);
  expect_part(text.substr(prefer, text.find("\n\n", prefer) - prefer),
              "\nUPDATE accounts SET noam_version = :noam_next_version WHERE email = :email IF noam_version = "
              ":noam_version;\n--   first of all: ");
}

TEST(CassandraTarget, DeletesAnAggregateUnderItsVersion) {
  expect_part(statements("eventlog", "seed004"),
              "BEGIN BATCH\n  DELETE noam_length_of_logins, noam_version FROM accounts WHERE email = :email IF "
              "noam_version = :noam_version;\n  DELETE FROM accounts WHERE email = :email AND tags = :tags;\nAPPLY "
              "BATCH;\n");
}

}  // namespace noam::tests
