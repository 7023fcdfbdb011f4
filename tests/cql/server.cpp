#include "tests/cql/server.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>

#include <fmt/format.h>

namespace noam::tests {

std::optional<cql::ContactPoint> test_server() {
  const char* given = std::getenv("NOAM_TEST_CASSANDRA");
  if (given == nullptr) return std::nullopt;
  const auto point = cql::parse_contact_point(given);
  if (!point) throw std::runtime_error("NOAM_TEST_CASSANDRA: " + point.error().message);
  return *point;
}

cql::Options options_for(const cql::ContactPoint& point) {
  // The machine may be busy.
  return {.contact_points = {point}, .connect_timeout = std::chrono::seconds(20)};
}

void ServerTest::SetUp() {
  server_ = test_server();
  if (!server_) GTEST_SKIP() << "NOAM_TEST_CASSANDRA is not set; `tests/servers/run cassandra` sets it";
  if (!cql::available()) {
    if (std::getenv("CI") != nullptr) FAIL() << "this noam was built without the driver";
    GTEST_SKIP() << "this noam was built without the driver; `tools/setup cassandra` gets what it needs";
  }
  auto session = cql::Session::connect(options_for(*server_));
  ASSERT_TRUE(session) << session.error().message;
  session_ = std::move(*session);
  keyspace_ = fmt::format("noam_{:08x}", std::random_device{}());
  execute("CREATE KEYSPACE KS WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
}

void ServerTest::TearDown() {
  if (session_ && !keyspace_.empty()) execute("DROP KEYSPACE KS");
}

std::string ServerTest::in_keyspace(std::string text) const {
  for (std::size_t at = 0; (at = text.find("KS", at)) != std::string::npos;) text.replace(at, 2, keyspace_);
  return text;
}

void ServerTest::execute(std::string text) {
  const auto response = session_->execute(in_keyspace(std::move(text)));
  ASSERT_TRUE(response.ok()) << response.failure().message;
}

cql::Prepared ServerTest::prepare(std::string text) {
  auto prepared = session_->prepare(in_keyspace(std::move(text)));
  if (!prepared) {
    ADD_FAILURE() << prepared.error().message;
    return {};
  }
  return *prepared;
}

cql::Response ServerTest::run(const cql::Request& request) {
  auto response = session_->run(request);
  if (!response.ok()) ADD_FAILURE() << error_of(response.failure()).message;
  return response;
}

cql::Request request(const cql::Prepared& prepared, cql::Values values) {
  return {.statements = {{prepared, std::move(values)}}};
}

Node::Node(int port_base) : port_base_(port_base) {
  if (tool("start") != 0) return;
  std::ifstream file(folder_.path() / "cassandra" / "server.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The only number with this name.
  const std::size_t at = text.find("\"pid\": ");
  if (at != std::string::npos) pid_ = std::atoi(text.c_str() + at + 7);
}

Node::~Node() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
  (void)tool("stop");
}

cql::ContactPoint Node::point() const { return {"127.0.0.1", static_cast<std::uint16_t>(port_base_)}; }

void Node::signal(int number) const { ASSERT_EQ(::kill(pid_, number), 0); }

int Node::tool(std::string_view verb) const {
  return std::system(fmt::format("NOAM_SERVERS_RUN='{}' NOAM_SERVERS_PORT_BASE={} '{}/tools/servers' {} cassandra",
                                 folder_.path().string(), port_base_, NOAM_SOURCE_DIR, verb)
                         .c_str());
}

}  // namespace noam::tests
