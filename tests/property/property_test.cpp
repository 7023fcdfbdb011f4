#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"

namespace noam::tests::property {

namespace {

// In a store that is closed and opened again between requests, now and then.
class ReopenedEngine : public SessionEngine {
 public:
  using SessionEngine::SessionEngine;

  Json answer(const Json& request) override {
    if (random_() % 16 == 0) reopen();
    return SessionEngine::answer(request);
  }

 private:
  std::minstd_rand random_;  // the same each time, so that what differs differs again
};

Engines engines(Where where) {
  Engines out;
  out.tested = [where](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    if (where == Where::Memory) return std::make_unique<SessionEngine>(model, design);
    auto engine = std::make_unique<ReopenedEngine>(model, design, where);
    return engine->needs_whole_collections() ? nullptr : std::move(engine);
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
constexpr std::uint64_t usual_cases_reopened = 24;
#else
constexpr std::uint64_t usual_cases = 480;
constexpr std::uint64_t usual_cases_reopened = 160;
#endif

void run_shard(std::uint64_t shard, Where where, std::uint64_t usual) {
  Suite suite = suite_from_environment(usual);
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr)
    suite.first_seed = where == Where::Folder ? 1'001 : where == Where::Blocks ? 2'001 : 1;
  const std::uint64_t begin = suite.cases * shard / shards;
  const std::uint64_t end = suite.cases * (shard + 1) / shards;
  suite.first_seed += begin;
  suite.cases = end - begin;
  if (suite.cases == 0) return;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  // Where a block is found by other parameters, nobody looks for the id of a command that had these.
  if (where == Where::Blocks) suite.options.without.insert("reuse");
  DriverOptions options;
  options.isolated = true;
  options.seconds = 120;
  const SuiteReport report = run_suite(suite, engines(where), options);
  std::cout << text(report);
  EXPECT_LE(report.rejected * 20, report.cases);
  EXPECT_LE(report.not_taken * 2, report.cases);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

class Property : public testing::TestWithParam<std::uint64_t> {};

// The same cases each time, unless others are asked for: `make property` takes new ones, NOAM_PROPERTY_SEED=… and
// NOAM_PROPERTY_CASES=1 one case again.
TEST_P(Property, WhateverNoamAnswersUnderAnyDesignIsTheAnswerOfTheReference) {
  run_shard(GetParam(), Where::Memory, usual_cases);
}

TEST_P(Property, AndSoItIsInAFolderThatIsOpenedAgainAndAgain) {
  run_shard(GetParam(), Where::Folder, usual_cases_reopened);
}

TEST_P(Property, AndSoItIsOnADatabaseThatChangesOneBlockAtATime) {
  run_shard(GetParam(), Where::Blocks, usual_cases_reopened);
}

INSTANTIATE_TEST_SUITE_P(Shards, Property, testing::Range<std::uint64_t>(0, shards));

}  // namespace

}  // namespace noam::tests::property
