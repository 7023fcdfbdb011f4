#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "noam/cli/export_command.h"
#include "noam/cli/load_command.h"
#include "tests/property/driver.h"
#include "tests/reference/reference.h"
#include "tests/session_engine.h"
#include "tests/support.h"

// Random data of random models: what is exported loads, under another design too, and is exported as it was.
namespace noam::tests::property {

namespace {

using cli::DataFormat;
namespace fs = std::filesystem;

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::directory_iterator(folder))
    out[entry.path().filename().string()] = read_file(entry.path());
  return out;
}

std::optional<std::string> export_all(runtime::Session& session, const fs::path& folder, DataFormat format) {
  std::vector<model::EntityId> entities;
  for (std::uint32_t i = 0; i < session.model().entities.size(); ++i)
    entities.push_back(static_cast<model::EntityId>(i));
  const auto done = cli::export_to_folder(session, entities, format, folder.string(), false);
  return done ? std::nullopt : std::optional(done.error().message);
}

// Updates may make instances that own each other; those can't be loaded.
bool has_own_owners(const model::Model& model) {
  for (const model::Role& role : model.roles)
    if (role.owner && role.from == role.to) return true;
  return false;
}

std::optional<std::string> load_all(runtime::Session& session, const fs::path& folder) {
  cli::LoadOptions options;
  options.sources = {folder.string()};
  const auto sources = cli::find_sources(session.model(), options);
  if (!sources) return sources.error().message;
  for (const cli::DataSource& source : *sources) {
    cli::LoadRun run;
    run.batch_records = 3;
    auto load = cli::FileLoad::open(session, source, run);
    if (!load) return load.error().message;
    const cli::LoadReport report = load->load();
    if (report.end != cli::LoadEnd::Complete) return report.message;
    for (const cli::BadLine& bad : report.errors)
      if (bad.code != "owner" || !has_own_owners(session.model()))
        return report.file + ":" + std::to_string(bad.line) + ": " + bad.reason + " [" + bad.code + "]";
    if (report.bad > 0) return "circle";
  }
  return std::nullopt;
}

// What differs.
std::optional<std::string> there_and_back(runtime::Session& session) {
  for (const DataFormat format : {DataFormat::JsonLines, DataFormat::Csv}) {
    const TemporaryFolder folder;
    if (auto wrong = export_all(session, folder.path() / "first", format)) return wrong;
    const auto first = contents(folder.path() / "first");
    if (first.empty()) return std::nullopt;
    const std::string design = format == DataFormat::Csv ? "etf" : session.program().design.name;
    SessionEngine other(session.model(), design);
    if (!other.problem().empty()) return design + ": " + other.problem();
    auto wrong = load_all(other.session(), folder.path() / "first");
    if (wrong == "circle") return std::nullopt;
    if (wrong) return wrong;
    if (auto differs = other.verify()) return "after the load: " + *differs;
    if (auto failed = export_all(other.session(), folder.path() / "second", format)) return failed;
    const auto second = contents(folder.path() / "second");
    for (const auto& [name, text] : first)
      if (!second.contains(name) || second.at(name) != text)
        return name + "\n" + text + "is after the load\n" + (second.contains(name) ? second.at(name) : "");
  }
  return std::nullopt;
}

}  // namespace

TEST(Property, WhatIsExportedLoadsAndIsExportedAsItWas) {
  Suite suite = suite_from_environment(120);
  if (std::getenv("NOAM_PROPERTY_SEED") == nullptr) suite.first_seed = 100'000;
  std::cout << "NOAM_PROPERTY_SEED=" << suite.first_seed << " NOAM_PROPERTY_CASES=" << suite.cases << std::endl;
  Engines engines;
  engines.tested = [](const model::Model& model, const std::string& design) -> std::unique_ptr<Engine> {
    return std::make_unique<SessionEngine>(model, design);
  };
  engines.reference = [](const model::Model& model, const std::string& /*design*/) -> std::unique_ptr<Engine> {
    return std::make_unique<reference::Reference>(model);
  };
  engines.verify = [](Engine& tested) { return there_and_back(dynamic_cast<SessionEngine&>(tested).session()); };
  DriverOptions options;
  options.isolated = true;
  options.seconds = 120;
  const SuiteReport report = run_suite(suite, engines, options);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

}  // namespace noam::tests::property
