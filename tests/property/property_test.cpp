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

// NOAM_PROPERTY_CASES=20000 makes it a long run, NOAM_PROPERTY_SEED=… NOAM_PROPERTY_CASES=1 one case again.
TEST(Property, WhateverNoamAnswersUnderAnyDesignIsTheAnswerOfTheReference) {
  Suite suite = suite_from_environment(40);
  // The same cases each time, unless others are asked for.
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr) suite.first_seed = 1;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  DriverOptions options;
  options.isolated = true;
  options.seconds = 120;
  const SuiteReport report = run_suite(suite, engines(), options);
  std::cout << text(report);
  EXPECT_LT(report.rejected * 20, report.cases);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

}  // namespace

}  // namespace noam::tests::property
