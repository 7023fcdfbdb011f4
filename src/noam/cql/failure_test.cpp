#include "noam/cql/failure.h"

#include <vector>

#include <gtest/gtest.h>

namespace noam::cql {
namespace {

constexpr Nature plain;
constexpr Nature idempotent{.idempotent = true};
constexpr Nature conditional{.conditional = true};

TEST(Failure, OfWhatWasRefusedIsNeverUnknown) {
  for (const FailureKind kind : {FailureKind::Misuse, FailureKind::Refused, FailureKind::NotAllowed, FailureKind::Tls,
                                 FailureKind::NotSent, FailureKind::NotAvailable}) {
    for (const Nature nature : {plain, idempotent, conditional}) {
      EXPECT_FALSE(perhaps_applied(kind, true, nature)) << name_of(kind);
      EXPECT_FALSE(perhaps_applied(kind, false, nature)) << name_of(kind);
    }
  }
}

TEST(Failure, AfterSendingIsUnknown) {
  for (const FailureKind kind :
       {FailureKind::WriteTimeout, FailureKind::WriteFailure, FailureKind::ReadTimeout, FailureKind::ReadFailure,
        FailureKind::Timeout, FailureKind::Broken, FailureKind::Internal}) {
    for (const Nature nature : {plain, idempotent, conditional}) {
      EXPECT_TRUE(perhaps_applied(kind, true, nature)) << name_of(kind);
      EXPECT_TRUE(perhaps_applied(kind, false, nature)) << name_of(kind);
    }
  }
}

TEST(Failure, WithoutAConnectionIsUnknownOnlyIfItMayHaveBeenSentBefore) {
  EXPECT_FALSE(perhaps_applied(FailureKind::NotConnected, false, plain));
  EXPECT_FALSE(perhaps_applied(FailureKind::NotConnected, false, conditional));
  EXPECT_TRUE(perhaps_applied(FailureKind::NotConnected, false, idempotent));
}

TEST(Failure, UnavailableIsUnknownOfConditionalRequests) {
  EXPECT_FALSE(perhaps_applied(FailureKind::Unavailable, true, plain));
  EXPECT_TRUE(perhaps_applied(FailureKind::Unavailable, true, conditional));
  EXPECT_TRUE(perhaps_applied(FailureKind::Unavailable, true, idempotent));
}

TEST(Failure, OverloadedIsUnknownIfTheServerSaysSo) {
  EXPECT_TRUE(perhaps_applied(FailureKind::Overloaded, true, plain));
  EXPECT_FALSE(perhaps_applied(FailureKind::Overloaded, false, plain));
  EXPECT_TRUE(perhaps_applied(FailureKind::Overloaded, false, idempotent));
}

TEST(Failure, BecomesAnErrorWithTheWordsOfTheServer) {
  const Failure failure{.kind = FailureKind::Refused, .code = 0x2200, .message = "unconfigured table game"};
  EXPECT_EQ(error_of(failure), (Error{"cassandra: refused: unconfigured table game", "refused"}));
}

}  // namespace
}  // namespace noam::cql
