#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/cql/server.h"

// Passwords, permissions and TLS, on the server `cassandra-secure`: NOAM_TEST_CASSANDRA_SECURE=host:port, with its
// certificates in the folder NOAM_TEST_CASSANDRA_CERTIFICATES. The certificate of the node is for the address 127.0.0.1
// and the name node1.ring.test.
namespace noam::tests {
namespace {

using cql::Verification;
using namespace std::chrono_literals;

class Security : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("NOAM_TEST_CASSANDRA_SECURE");
    const char* folder = std::getenv("NOAM_TEST_CASSANDRA_CERTIFICATES");
    if (given == nullptr || folder == nullptr) {
      GTEST_SKIP() << "NOAM_TEST_CASSANDRA_SECURE is not set; `tests/servers/run cassandra` sets it";
    }
    if (!cql::available()) GTEST_SKIP() << "this noam was built without the driver";
    const auto point = cql::parse_contact_point(given);
    ASSERT_TRUE(point) << point.error().message;
    options_ = options_for(*point);
    options_.user = options_.password = "cassandra";
    const std::filesystem::path files(folder);
    options_.tls = cql::Tls{
        .ca_file = files / "ca.pem", .certificate_file = files / "client.pem", .key_file = files / "client.key"};
    other_ca_ = files / "other.pem";
    // The node creates its superuser some moments after it answers.
    for (int i = 0; i < 100 && failure([](auto&) {}) == "not allowed"; ++i) std::this_thread::sleep_for(200ms);
  }

  // Connects with options that are changed so. The name of the failure; empty: connected.
  std::string failure(const std::function<void(cql::Options&)>& change) {
    cql::Options options = options_;
    change(options);
    const auto session = cql::Session::connect(options);
    message_ = session ? "" : session.error().message;
    return session ? "" : session.error().code;
  }

  cql::Options options_;
  std::string other_ca_;
  std::string message_;
};

TEST_F(Security, ARightPasswordConnects) {
  EXPECT_EQ(failure([](auto&) {}), "") << message_;
}

TEST_F(Security, AWrongPasswordIsReported) {
  EXPECT_EQ(failure([](auto& options) { options.password = "wrong"; }), "not allowed");
  EXPECT_NE(message_.find("incorrect"), std::string::npos) << message_;
  EXPECT_EQ(failure([](auto& options) { options.user = "nobody"; }), "not allowed") << message_;
  EXPECT_EQ(failure([](auto& options) { options.user = options.password = ""; }), "not allowed");
  EXPECT_NE(message_.find("the server requires a user and a password"), std::string::npos) << message_;
}

TEST_F(Security, MissingPermissionsAreReported) {
  const auto root = cql::Session::connect(options_);
  ASSERT_TRUE(root) << root.error().message;
  const auto done = [&](const char* text) {
    const auto response = (*root)->execute(text);
    EXPECT_TRUE(response.ok()) << response.failure().message;
  };
  done("CREATE KEYSPACE IF NOT EXISTS s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  done("CREATE TABLE IF NOT EXISTS s.t (id int PRIMARY KEY)");
  done("CREATE ROLE IF NOT EXISTS guest WITH PASSWORD = 'guest' AND LOGIN = true");
  done("GRANT SELECT ON KEYSPACE s TO guest");
  cql::Options options = options_;
  options.user = options.password = "guest";
  const auto guest = cql::Session::connect(options);
  ASSERT_TRUE(guest) << guest.error().message;
  EXPECT_TRUE((*guest)->execute("SELECT id FROM s.t").ok());
  const auto refused = (*guest)->execute("INSERT INTO s.t (id) VALUES (1)");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().kind, cql::FailureKind::NotAllowed);
  EXPECT_EQ(refused.failure().code, 0x2100);
  EXPECT_FALSE(refused.failure().unknown);
  EXPECT_NE(refused.failure().message.find("guest has no MODIFY permission"), std::string::npos)
      << refused.failure().message;
}

TEST_F(Security, CertificatesAreVerifiedByAddressOrByName) {
  const auto verified_by = [&](Verification verification, const char* name) {
    return failure([&](auto& options) {
      options.tls->verification = verification;
      options.tls->name = name;
    });
  };
  EXPECT_EQ(verified_by(Verification::Address, ""), "") << message_;
  EXPECT_EQ(verified_by(Verification::Chain, ""), "") << message_;
  EXPECT_EQ(verified_by(Verification::Name, "node1.ring.test"), "") << message_;
  EXPECT_EQ(verified_by(Verification::Name, ".ring.test"), "") << message_;
  EXPECT_EQ(verified_by(Verification::Name, "node2.ring.test"), "tls");
  EXPECT_NE(message_.find("ostname mismatch"), std::string::npos) << message_;
}

TEST_F(Security, ACertificateOfAnotherAuthorityIsRefused) {
  for (const Verification verification : {Verification::Address, Verification::Chain}) {
    EXPECT_EQ(failure([&](auto& options) {
                options.tls->ca_file = other_ca_;
                options.tls->verification = verification;
              }),
              "tls");
    EXPECT_NE(message_.find("certificate was refused: "), std::string::npos) << message_;
  }
  // The authorities of the system have not signed it either.
  EXPECT_EQ(failure([](auto& options) { options.tls->ca_file = ""; }), "tls") << message_;
}

TEST_F(Security, TheAuthoritiesOfTheSystemAreTrustedIfNoneAreGiven) {
  // By this variable OpenSSL takes others for those of the system.
  ASSERT_EQ(::setenv("SSL_CERT_FILE", options_.tls->ca_file.c_str(), 1), 0);
  EXPECT_EQ(failure([](auto& options) { options.tls->ca_file = ""; }), "") << message_;
  // Those of a file are trusted instead of these.
  EXPECT_EQ(failure([&](auto& options) { options.tls->ca_file = other_ca_; }), "tls") << message_;
  ::unsetenv("SSL_CERT_FILE");
}

TEST_F(Security, AFileThatIsMissingIsReported) {
  EXPECT_EQ(failure([](auto& options) { options.tls->ca_file = "missing.pem"; }), "tls");
  EXPECT_NE(message_.find("missing.pem"), std::string::npos) << message_;
  EXPECT_EQ(failure([](auto& options) { options.tls->key_file = "missing.key"; }), "tls");
  EXPECT_NE(message_.find("missing.key"), std::string::npos) << message_;
}

TEST_F(Security, AClientWithoutACertificateIsRefused) {
  EXPECT_NE(failure([](auto& options) { options.tls->certificate_file = options.tls->key_file = ""; }), "");
}

TEST_F(Security, TlsAndPlainConnectionsDoNotMix) {
  EXPECT_NE(failure([](auto& options) {
              options.tls.reset();
              options.connect_timeout = 5s;
            }),
            "");
  EXPECT_NE(message_, "");
  const auto open_one = test_server();
  if (!open_one) GTEST_SKIP() << "NOAM_TEST_CASSANDRA is not set";
  EXPECT_EQ(failure([&](auto& options) {
              options.contact_points = {*open_one};
              options.connect_timeout = 5s;
            }),
            "tls")
      << message_;
}

}  // namespace
}  // namespace noam::tests
