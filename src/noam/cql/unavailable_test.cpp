#include <gtest/gtest.h>

#include "noam/cql/session.h"

namespace noam::cql {
namespace {

TEST(WithoutTheDriver, ConnectingSaysHowToGetIt) {
  EXPECT_FALSE(available());
  const auto session = Session::connect({.contact_points = {{"localhost", 9042}}});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, "not available");
  EXPECT_NE(session.error().message.find("`tools/setup cassandra`"), std::string::npos);
}

TEST(WithoutTheDriver, OptionsAreCheckedAllTheSame) {
  const auto session = Session::connect({});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "cassandra: missing contact point");
}

}  // namespace
}  // namespace noam::cql
