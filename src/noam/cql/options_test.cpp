#include "noam/cql/options.h"

#include <gtest/gtest.h>

namespace noam::cql {
namespace {

TEST(ContactPoint, HasAPortOrTheUsualOne) {
  EXPECT_EQ(*parse_contact_point("db.example"), (ContactPoint{"db.example", 9042}));
  EXPECT_EQ(*parse_contact_point(" 127.0.0.1:9142 "), (ContactPoint{"127.0.0.1", 9142}));
  EXPECT_EQ(*parse_contact_point("[::1]:9142"), (ContactPoint{"::1", 9142}));
  EXPECT_EQ(*parse_contact_point("[::1]"), (ContactPoint{"::1", 9042}));
  EXPECT_EQ(*parse_contact_point("fe80::2:1"), (ContactPoint{"fe80::2:1", 9042}));
}

TEST(ContactPoint, IsShownAsItIsParsed) {
  for (const char* text : {"db.example:9042", "127.0.0.1:1", "[::1]:65535"}) {
    EXPECT_EQ(show(*parse_contact_point(text)), text);
  }
}

TEST(ContactPoint, ReportsWhatIsWrong) {
  for (const char* text : {"", ":9042", "host:", "host:0", "host:65536", "host:9042x", "[::1", "[::1]9042", "a b",
                           "cassandra://host", "user@host"}) {
    EXPECT_FALSE(parse_contact_point(text)) << text;
  }
  EXPECT_EQ(parse_contact_point("host:0").error().message,
            "invalid contact point `host:0`: a port is a number from 1 to 65535");
}

TEST(ContactPoints, AreSeparatedByCommas) {
  EXPECT_EQ(*parse_contact_points("a, b:1"), (std::vector<ContactPoint>{{"a", 9042}, {"b", 1}}));
  EXPECT_FALSE(parse_contact_points("a,,b"));
  EXPECT_FALSE(parse_contact_points("a,"));
}

Options valid() { return {.contact_points = {{"localhost", 9042}}}; }

TEST(Options, OfOneContactPointAreComplete) { EXPECT_TRUE(validate(valid())); }

TEST(Options, ReportWhatCannotWork) {
  const auto refused = [](auto change, const char* message) {
    Options options = valid();
    change(options);
    const auto result = validate(options);
    ASSERT_FALSE(result) << message;
    EXPECT_EQ(result.error().message, message);
  };
  refused([](Options& o) { o.contact_points.clear(); }, "cassandra: missing contact point");
  refused([](Options& o) { o.contact_points = {{"a,b", 9042}}; }, "cassandra: invalid contact point");
  refused([](Options& o) { o.password = "secret"; }, "cassandra: a password is given without a user");
  refused([](Options& o) { o.consistency = Consistency::Serial; },
          "cassandra: the consistency of a session cannot be serial, because writes use it");
  refused([](Options& o) { o.request_timeout = {}; }, "cassandra: a timeout must be positive");
  refused([](Options& o) { o.in_flight = 0; },
          "cassandra: connections, threads and requests in flight must be positive");
  refused([](Options& o) { o.tls = Tls{.certificate_file = "client.pem"}; },
          "cassandra: a client certificate needs both a certificate file and a key file");
  refused([](Options& o) { o.tls = Tls{.verification = Verification::Name}; },
          "cassandra: missing name to verify certificates by");
  refused([](Options& o) { o.tls = Tls{.name = "db"}; },
          "cassandra: a name of certificates is given, but certificates are not verified by name");
}

}  // namespace
}  // namespace noam::cql
