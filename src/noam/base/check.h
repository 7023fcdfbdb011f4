#pragma once

namespace noam {

// Stops the program with the message: we have contradicted ourselves. Wrong input never arrives here.
[[noreturn]] void fail_check(const char* what);

inline void check(bool holds, const char* what) {
  if (!holds) fail_check(what);
}

}  // namespace noam
