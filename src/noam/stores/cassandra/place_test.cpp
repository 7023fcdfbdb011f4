#include "noam/stores/cassandra/place.h"

#include <gtest/gtest.h>

namespace noam::stores::cassandra {
namespace {

TEST(CassandraPlace, NamesNodesAndKeyspace) {
  const auto place = parse_place("//10.0.0.1,db2:9043/shop");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->keyspace, "shop");
  EXPECT_EQ(place->cluster.contact_points, (std::vector<cql::ContactPoint>{{"10.0.0.1", 9042}, {"db2", 9043}}));
  EXPECT_EQ(place->cluster.consistency, cql::Consistency::Quorum);
  EXPECT_FALSE(place->cluster.tls);
  EXPECT_EQ(show(*place), "cassandra://10.0.0.1:9042,db2:9043/shop");
}

TEST(CassandraPlace, HasOptions) {
  const auto place = parse_place(
      "//db/shop?datacenter=north%20one&consistency=local_quorum&serial=local_serial&replication=5&tls=name&"
      "tls_name=db.test&ca=ca.pem&compression=lz4&connect_timeout=500ms&request_timeout=3s");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->cluster.datacenter, "north one");
  EXPECT_EQ(place->cluster.consistency, cql::Consistency::LocalQuorum);
  EXPECT_EQ(place->cluster.serial_consistency, cql::SerialConsistency::LocalSerial);
  EXPECT_EQ(place->replication, 5U);
  EXPECT_EQ(place->cluster.tls,
            (cql::Tls{.ca_file = "ca.pem", .verification = cql::Verification::Name, .name = "db.test"}));
  EXPECT_TRUE(place->cluster.compression);
  EXPECT_EQ(place->cluster.connect_timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(place->cluster.request_timeout, std::chrono::seconds(3));
}

TEST(CassandraPlace, SaysWhatIsWrong) {
  const auto problem = [](std::string_view rest) {
    const auto place = parse_place(rest);
    return place ? std::string("fine") : place.error().message;
  };
  EXPECT_EQ(problem("shop"),
            "store `cassandra:shop`: missing `//`; write cassandra://HOST,HOST/KEYSPACE?datacenter=NAME");
  EXPECT_EQ(problem("//db"),
            "store `cassandra://db`: it names no keyspace; write cassandra://HOST,HOST/KEYSPACE?datacenter=NAME");
  EXPECT_EQ(problem("///shop"),
            "store `cassandra:///shop`: it names no host; write cassandra://HOST,HOST/KEYSPACE?datacenter=NAME");
  EXPECT_EQ(problem("//db/Shop"),
            "invalid keyspace `Shop`: a small letter, and then small letters, digits and `_`, at most 48");
  EXPECT_EQ(problem("//db:99999/shop"), "invalid contact point `db:99999`: a port is a number from 1 to 65535");
  EXPECT_EQ(problem("//db/shop?consistency=one"),
            "invalid consistency `one`: one of quorum, local_quorum, each_quorum, all");
  EXPECT_EQ(problem("//db/shop?request_timeout=3"),
            "invalid request_timeout `3`: write a time, for example 12s or 500ms");
  EXPECT_EQ(problem("//db/shop?user"), "option `user` of the store has no value; write user=VALUE");
  EXPECT_EQ(problem("//db/shop?colour=red"),
            "unknown option `colour` in the URL of the store; options: datacenter, user, password_file, consistency, "
            "serial, replication, tls, tls_name, ca, certificate, key, compression, connect_timeout, request_timeout");
  EXPECT_EQ(problem("//db/shop?user=%4x"), "invalid escape `%4x` in the URL of the store");
  EXPECT_EQ(problem("//db/shop?password=secret"),
            "a password does not belong in a URL, which others may see; use password_file=FILE or the environment "
            "variable NOAM_CASSANDRA_PASSWORD");
  EXPECT_EQ(problem("//me:secret@db/shop"),
            "user and password do not belong before the host; use ?user=NAME, and password_file=FILE or the "
            "environment variable NOAM_CASSANDRA_PASSWORD");
}

}  // namespace
}  // namespace noam::stores::cassandra
