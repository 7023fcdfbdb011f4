#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace noam::tests::meta {

// One thing that the suite asks: a scenario under a design, a random case, two statements at once, a damage to be told.
struct Check {
  std::string name;
  std::function<std::optional<std::string>()> run;  // what is wrong
};

// In the order in which they are asked, those that are quick first.
std::vector<Check> all_checks();

// In a process of its own: a crash, or no end, is wrong, too.
std::optional<std::string> run_isolated(const Check& check);

}  // namespace noam::tests::meta
