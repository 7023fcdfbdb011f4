#include "tests/cassandra_keyspace.h"

#include <cstdlib>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/stores/cassandra/cassandra.h"

namespace noam::tests {

namespace {

cql::Options options_for(const cql::ContactPoint& point) {
  // The machine may be busy.
  return {.contact_points = {point}, .connect_timeout = std::chrono::seconds(20)};
}

}  // namespace

std::optional<cql::ContactPoint> test_cassandra() {
  const char* given = std::getenv("NOAM_TEST_CASSANDRA");
  if (given == nullptr || !cql::available()) return std::nullopt;
  const auto point = cql::parse_contact_point(given);
  check(point.has_value(), "NOAM_TEST_CASSANDRA is host:port");
  return *point;
}

CassandraKeyspace::CassandraKeyspace() : name_(fmt::format("noam_test_{:08x}", std::random_device{}())) {
  auto session = cql::Session::connect(options_for(*test_cassandra()));
  if (!session) fmt::print(stderr, "{}\n", session.error().message);
  check(session.has_value(), "the server that NOAM_TEST_CASSANDRA names answers");
  session_ = std::move(*session);
  drop_tables();
}

CassandraKeyspace::~CassandraKeyspace() { (void)session_->execute("DROP KEYSPACE IF EXISTS " + name_); }

std::string CassandraKeyspace::url() const {
  return fmt::format("cassandra://{}/{}", cql::show(*test_cassandra()), name_);
}

void CassandraKeyspace::execute(const std::string& text) {
  const auto response = session_->execute(text);
  if (!response.ok()) fmt::print(stderr, "{}\n  {}\n", response.failure().message, text);
  check(response.ok(), "a statement of the tests is carried out");
}

void CassandraKeyspace::drop_tables() {
  execute("DROP KEYSPACE IF EXISTS " + name_);
  execute("CREATE KEYSPACE " + name_ + " WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': '1'}");
}

void CassandraKeyspace::clear() {
  for (const auto& row :
       rows(fmt::format("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{}'", name_))) {
    const std::string& table = row[0];
    if (table == "noam_deployment" || rows(fmt::format("SELECT * FROM {}.{} LIMIT 1", name_, table)).empty()) continue;
    execute(fmt::format("TRUNCATE {}.{}", name_, table));
  }
}

std::vector<std::vector<std::string>> CassandraKeyspace::rows(const std::string& text) {
  std::string named = text;
  for (std::size_t at = 0; (at = named.find("KS.", at)) != std::string::npos;) named.replace(at, 2, name_);
  const auto response = session_->execute(named);
  check(response.ok(), "a statement of the tests is carried out");
  std::vector<std::vector<std::string>> out;
  for (std::size_t i = 0; i < response.row_count(); ++i) {
    auto& row = out.emplace_back();
    for (const cql::Cell& cell : response.row(i)) row.emplace_back(cell.bytes());
  }
  return out;
}

std::unique_ptr<stores::Store> CassandraKeyspace::open(stores::blocks::Surroundings around,
                                                       const stores::cassandra::Place& limits) {
  stores::cassandra::Place place = limits;
  place.cluster = options_for(*test_cassandra());
  place.keyspace = name_;
  place.replaces_designs = true;
  if (std::getenv("NOAM_TEST_TRACE") != nullptr)
    place.trace = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  auto behind = stores::cassandra::open_block_store(place, true);
  if (!behind) fmt::print(stderr, "{}\n", behind.error().message);
  check(behind.has_value(), "a keyspace of the tests can be opened");
  return stores::blocks::open_block_layer(std::move(*behind), std::move(around));
}

}  // namespace noam::tests
