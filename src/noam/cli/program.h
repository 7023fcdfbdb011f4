#pragma once

namespace noam::cli {

// Exit codes, stable: what a script may ask for.
inline constexpr int exit_fine = 0;
inline constexpr int exit_wrong_model = 1;
inline constexpr int exit_wrong_use = 2;
inline constexpr int exit_refused = 3;  // a command, or a query that can't be answered; `verify`: something differs
inline constexpr int exit_unknown = 4;  // nobody can tell whether a command was applied

// The program `noam`: reads its arguments, does it, and gives back the exit code.
int run(int argc, const char* const* argv);

}  // namespace noam::cli
