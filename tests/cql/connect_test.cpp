#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cql/server.h"

// Connecting, and what is reported if it fails.
namespace noam::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class Connect : public ServerTest {};

Error error_of_connecting(const cql::Options& options) {
  const auto session = cql::Session::connect(options);
  EXPECT_FALSE(session);
  return session ? Error{} : session.error();
}

TEST_F(Connect, AClosedPortIsReportedAtOnce) {
  cql::ContactPoint closed = server();
  closed.port = 1;
  const auto start = steady_clock::now();
  const Error error = error_of_connecting(options_for(closed));
  EXPECT_EQ(error.code, "not connected");
  EXPECT_NE(error.message.find("Connection refused"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(cql::show(closed)), std::string::npos) << error.message;
  EXPECT_LT(steady_clock::now() - start, 5s);
}

TEST_F(Connect, AnUnknownHostIsReported) {
  const Error error = error_of_connecting(options_for({"no-such-host.invalid", 9042}));
  EXPECT_EQ(error.code, "not connected");
  EXPECT_NE(error.message.find("no-such-host.invalid"), std::string::npos) << error.message;
}

TEST_F(Connect, AnUnknownDatacenterIsReportedWithThoseThatExist) {
  cql::Options options = options_for(server());
  options.datacenter = "atlantis";
  const Error error = error_of_connecting(options);
  EXPECT_EQ(error.code, "misuse");
  EXPECT_NE(error.message.find("unknown datacenter `atlantis`; the cluster has: datacenter1"), std::string::npos)
      << error.message;
  options.datacenter = "datacenter1";
  EXPECT_TRUE(cql::Session::connect(options));
}

TEST_F(Connect, OneGoodContactPointIsEnough) {
  cql::Options options = options_for(server());
  options.contact_points = {{"127.0.0.1", 1}, {"no-such-host.invalid", 9042}, server()};
  const auto session = cql::Session::connect(options);
  EXPECT_TRUE(session) << session.error().message;
}

TEST_F(Connect, AServerThatDoesNotAnswerIsReportedAfterTheTimeout) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  cql::Options options = options_for({"127.0.0.1", ntohs(address.sin_port)});
  options.connect_timeout = 300ms;
  const auto start = steady_clock::now();
  EXPECT_EQ(error_of_connecting(options).code, "not connected");
  EXPECT_GE(steady_clock::now() - start, 250ms);
  EXPECT_LT(steady_clock::now() - start, 5s);
  ::close(listener);
}

TEST_F(Connect, CompressionAndSeveralConnectionsWork) {
  cql::Options options = options_for(server());
  options.compression = true;
  options.connections_per_node = 3;
  const auto session = cql::Session::connect(options);
  ASSERT_TRUE(session) << session.error().message;
  execute("CREATE TABLE KS.t (id int PRIMARY KEY, t text)");
  const auto insert = (*session)->prepare("INSERT INTO " + keyspace() + ".t (id, t) VALUES (?, ?)");
  const auto select = (*session)->prepare("SELECT t FROM " + keyspace() + ".t WHERE id = ?");
  ASSERT_TRUE(insert && select);
  const std::string text(100'000, 'x');
  EXPECT_TRUE((*session)->run(request(*insert, cql::Values().integer(1).text(text))).ok());
  const auto response = (*session)->run(request(*select, cql::Values().integer(1)));
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response.row_count(), 1U);
  EXPECT_EQ(*response.row(0)[0].text(), text);
  EXPECT_EQ(response.coordinator(), cql::show(server()));
}

TEST_F(Connect, APreparedStatementMayOutliveItsSession) {
  auto other = cql::Session::connect(options_for(server()));
  ASSERT_TRUE(other) << other.error().message;
  auto prepared = (*other)->prepare("SELECT release_version FROM system.local");
  ASSERT_TRUE(prepared);
  const auto response = (*other)->run(request(*prepared));
  (*other).reset();
  // So does a response.
  ASSERT_EQ(response.row_count(), 1U);
  EXPECT_EQ(response.row(0)[0].text()->substr(0, 2), "5.");
  EXPECT_EQ(response.column_name(0), "release_version");
}

}  // namespace
}  // namespace noam::tests
