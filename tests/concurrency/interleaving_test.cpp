#include "tests/concurrency/interleaving.h"

#include <gtest/gtest.h>

namespace noam::tests::concurrency {
namespace {

class Interleavings : public ::testing::TestWithParam<const char*> {};

TEST_P(Interleavings, HaveASerialOrder) {
  const auto model = interleaved_model();
  for (const Interleaving& one : interleavings())
    EXPECT_EQ(disorder(model, one, GetParam()).value_or(""), "") << one.name;
}

INSTANTIATE_TEST_SUITE_P(Designs, Interleavings, ::testing::Values("eao", "etf", "normalized", "kept"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace noam::tests::concurrency
