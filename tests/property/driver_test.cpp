#include "tests/property/driver.h"

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "tests/reference/reference.h"

namespace noam::tests::property {

namespace {

std::unique_ptr<Engine> reference_engine(const model::Model& model, const std::string& /*design*/) {
  return std::make_unique<reference::Reference>(model);
}

// The reference evaluator with a fault.
class Faulty : public Engine {
 public:
  enum class Fault { ForgetsRemovals, Crashes, Hangs };

  Faulty(const model::Model& model, Fault fault) : model_(model), reference_(model), fault_(fault) {}

  Json answer(const Json& request) override {
    for (const model::Command& command : model_.commands) {
      if (command.name != request["run"]) continue;
      for (const model::Change& change : command.changes) {
        if (change.kind != model::ChangeKind::Delete) continue;
        if (fault_ == Fault::Crashes) std::raise(SIGKILL);
        if (fault_ == Fault::Hangs) std::this_thread::sleep_for(std::chrono::seconds(30));
        if (fault_ == Fault::ForgetsRemovals && command.changes.size() == 1) return {{"outcome", "applied"}};
      }
    }
    return reference_.answer(request);
  }
  void set_time(std::int64_t milliseconds) override { reference_.set_time(milliseconds); }
  void refresh(const std::string& query) override { reference_.refresh(query); }
  void expire() override { reference_.expire(); }

 private:
  const model::Model& model_;
  reference::Reference reference_;
  Fault fault_;
};

Engines with_fault(Faulty::Fault fault) {
  Engines engines;
  engines.tested = [fault](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<Faulty>(model, fault);
  };
  engines.reference = reference_engine;
  return engines;
}

// The first case that shows the fault.
Report first_found(const Engines& engines, const DriverOptions& options) {
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    const Case one = generate(seed);
    Run found = options.isolated ? run_isolated(one, engines, options.seconds) : run(one, engines);
    if (found.difference) return check(one, engines, options);
  }
  return {};
}

TEST(Driver, FindsAFaultAndMakesItSmall) {
  const Report report = first_found(with_fault(Faulty::Fault::ForgetsRemovals), {});
  ASSERT_FALSE(report.good());
  EXPECT_LE(report.smallest.steps.size(), 4U) << text(report);
  EXPECT_EQ(report.smallest.entities.size(), 1U) << text(report);
  EXPECT_LE(report.smallest.queries.size() + report.smallest.commands.size(), 3U) << text(report);
  EXPECT_LT(size(report.smallest) * 5, size(report.original));
  const std::string written = text(report);
  EXPECT_NE(written.find("delete"), std::string::npos) << written;
  EXPECT_NE(written.find("reference: {"), std::string::npos) << written;
}

TEST(Driver, TakesACrashInAProcessOfItsOwnForADifference) {
  DriverOptions options;
  options.isolated = true;
  options.most_tries = 150;
  const Report report = first_found(with_fault(Faulty::Fault::Crashes), options);
  ASSERT_FALSE(report.good());
  EXPECT_EQ(*report.run.difference, "killed by signal 9");
  EXPECT_LE(report.smallest.steps.size(), 3U);
}

TEST(Driver, TakesAHangInAProcessOfItsOwnForADifference) {
  DriverOptions options;
  options.isolated = true;
  options.seconds = 1;
  options.most_tries = 2;
  const Report report = first_found(with_fault(Faulty::Fault::Hangs), options);
  ASSERT_FALSE(report.good());
  EXPECT_EQ(*report.run.difference, "no end after 1 seconds");
}

TEST(Driver, AsksForAVerdictAtTheEnd) {
  Engines engines{reference_engine, reference_engine,
                  [](Engine&) { return std::optional<std::string>("all is lost"); }};
  DriverOptions options;
  options.most_tries = 100;
  const Report report = check(generate(1), engines, options);
  EXPECT_EQ(report.run.difference, "all is lost");
  EXPECT_TRUE(report.smallest.steps.empty());
}

// The cases do something: most commands are applied, about half of the queries find something.
TEST(Driver, RunsCasesThatDoSomething) {
  const Engines engines{reference_engine, reference_engine, {}};
  Suite suite;
  suite.first_seed = 1;
  suite.cases = 150;
  const SuiteReport report = run_suite(suite, engines);
  std::cout << text(report);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  std::size_t refused = 0;
  for (const auto& [code, count] : report.statistics.refused) refused += count;
  EXPECT_GT(report.statistics.commands, 100 * suite.cases / 10);
  EXPECT_LT(refused * 100, report.statistics.commands * 35);
  EXPECT_GT(report.statistics.with_rows * 100, report.statistics.queries * 45);
  EXPECT_GT(report.statistics.pages, 20U);
}

}  // namespace

}  // namespace noam::tests::property
