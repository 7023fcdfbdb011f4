#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"

namespace noam::tests::property {

namespace {

Engines engines() {
  Engines out;
  out.tested = [](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    return std::make_unique<SessionEngine>(model, design);
  };
  out.reference = [](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<reference::Reference>(model);
  };
  out.verify = [](Engine& tested) { return dynamic_cast<SessionEngine&>(tested).verify(); };
  return out;
}

constexpr std::uint64_t shards = 8;  // so that they can run side by side

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t usual_cases = 64;
#else
constexpr std::uint64_t usual_cases = 480;
#endif

class Property : public testing::TestWithParam<std::uint64_t> {};

// The same cases each time, unless others are asked for: `make property` takes new ones, NOAM_PROPERTY_SEED=… and
// NOAM_PROPERTY_CASES=1 one case again.
TEST_P(Property, WhateverNoamAnswersUnderAnyDesignIsTheAnswerOfTheReference) {
  Suite suite = suite_from_environment(usual_cases);
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr) suite.first_seed = 1;
  const std::uint64_t begin = suite.cases * GetParam() / shards;
  const std::uint64_t end = suite.cases * (GetParam() + 1) / shards;
  suite.first_seed += begin;
  suite.cases = end - begin;
  if (suite.cases == 0) return;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  DriverOptions options;
  options.isolated = true;
  options.seconds = 120;
  const SuiteReport report = run_suite(suite, engines(), options);
  std::cout << text(report);
  EXPECT_LE(report.rejected * 20, report.cases);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Shards, Property, testing::Range<std::uint64_t>(0, shards));

}  // namespace

}  // namespace noam::tests::property
