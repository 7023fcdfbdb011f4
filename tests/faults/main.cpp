#include <csignal>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/faults/roles.h"

namespace {

namespace faults = noam::tests::faults;

constexpr std::pair<std::string_view, int (*)(const faults::RoleArguments&)> roles[] = {
    {"work", faults::work_until_killed},
    {"live", faults::live_until_killed},
    {"fill", faults::fill_and_die},
    {"inspect", faults::inspect},
};

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 && std::string_view(arguments[1]) == "--role") {
    for (const auto& [name, play] : roles)
      if (name == arguments[2]) return play({std::next(arguments, 3), std::next(arguments, count)});
    fmt::print(stderr, "no role {}\n", arguments[2]);
    return 2;
  }
  ::testing::InitGoogleTest(&count, arguments);
  // Who is written to may have been killed.
  std::signal(SIGPIPE, SIG_IGN);
  return RUN_ALL_TESTS();
}
