#pragma once

#include <string>
#include <vector>

// What this test program does where it is started as `… --role NAME ARGUMENT…`: the children of the tests.
namespace noam::tests::faults {

using RoleArguments = std::vector<std::string>;

// Carries out random commands until it is killed (kill_test.cpp).
int work_until_killed(const RoleArguments& arguments);

// The life of a store, until it ends at a kill point (kill_point_test.cpp).
int live_until_killed(const RoleArguments& arguments);

// Carries out commands and ends without closing the store; tells what a store answers (damage_test.cpp).
int fill_and_die(const RoleArguments& arguments);
int inspect(const RoleArguments& arguments);

}  // namespace noam::tests::faults
