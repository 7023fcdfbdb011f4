#include "tests/property/generate.h"

#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "noam/compile/compile.h"
#include "tests/property/coverage.h"

namespace noam::tests::property {

namespace {

std::string all_of(const Case& one) {
  std::string out = text(one) + one.design;
  for (const Step& step : one.steps) out += step.name + step.params.dump() + std::to_string(step.id);
  return out;
}

TEST(Generate, GivesTheSameCaseForTheSameSeed) {
  for (const std::uint64_t seed : {1U, 2U, 77U}) EXPECT_EQ(all_of(generate(seed)), all_of(generate(seed)));
  EXPECT_NE(all_of(generate(1)), all_of(generate(2)));
}

// A change here changes what every printed seed means; that is fine, and should be known.
TEST(Generate, MakesModelsThatReachTheWholeLanguage) {
  constexpr std::size_t cases = 1200;
  std::map<std::string, std::size_t> seen;
  std::size_t good = 0;
  std::string rejected;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Case one = generate(seed);
    const language::SourceFile source("random.noam", text(one));
    const Compilation compiled = compile(source);
    if (compiled.diagnostics.has_errors()) {
      rejected += fmt::format("seed {}\n{}", seed, language::render(compiled.diagnostics, source));
      continue;
    }
    ++good;
    for (const std::string& feature : features(one, *compiled.model)) ++seen[feature];
  }
  std::cout << good << " of " << cases << " are models\n";
  EXPECT_GT(good, cases * 95 / 100) << rejected;
  for (const std::string& feature : wanted_features()) EXPECT_GT(seen[feature], 0U) << feature;
}

TEST(Generate, LeavesOutWhatIsNotWanted) {
  Options options;
  options.without = {"transient", "ttl",    "refresh",   "nested", "words",  "references", "bulk",
                     "loops",     "owners", "symmetric", "wrong",  "copies", "homes",      "elements"};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Case one = generate(seed, options);
    const language::SourceFile source("random.noam", text(one));
    const Compilation compiled = compile(source);
    if (compiled.diagnostics.has_errors()) continue;
    for (const std::string& feature : features(one, *compiled.model)) {
      for (const char* unwanted :
           {"entity transient", "entity ttl", "refresh", "nested rows", "nested scalar", "contains all",
            "collection of words", "collection of references", "update where", "change for", "owner", "symmetric",
            "step wrong", "copy ", "base elements apart", "base under entry key"})
        EXPECT_EQ(feature.find(unwanted), std::string::npos) << "seed " << seed << ": " << feature;
    }
  }
}

TEST(Simpler, GivesSmallerCasesOfWhichMostAreModels) {
  std::size_t tried = 0;
  std::size_t good = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Case one = generate(seed);
    const std::vector<Case> candidates = simpler(one);
    EXPECT_GT(candidates.size(), 50U);
    for (std::size_t i = 0; i < candidates.size(); i += 7) {
      ASSERT_LT(size(candidates[i]), size(one));
      const language::SourceFile source("random.noam", text(candidates[i]));
      ++tried;
      if (!compile(source).diagnostics.has_errors()) ++good;
    }
  }
  EXPECT_GT(good, tried * 60 / 100);
}

// Without a field, an entity or a query there is nothing left that speaks of it.
TEST(Simpler, ForgetsAllThatSpeaksOfAName) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Case one = generate(seed);
    for (const Case& candidate : simpler(one)) {
      const std::string written = text(candidate);
      for (const Entity& entity : one.entities) {
        const bool there = std::any_of(candidate.entities.begin(), candidate.entities.end(),
                                       [&](const Entity& other) { return other.name == entity.name; });
        EXPECT_EQ(there, mentions(written, entity.name)) << entity.name << "\n" << written;
      }
      for (const Step& step : candidate.steps)
        EXPECT_TRUE(step.name.empty() || mentions(written, step.name)) << step.name;
    }
  }
}

}  // namespace

}  // namespace noam::tests::property
