#include "noam/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace noam {

void fail_check(const char* what) {
  std::fprintf(stderr, "noam: internal contradiction: %s\n", what);
  std::abort();
}

}  // namespace noam
