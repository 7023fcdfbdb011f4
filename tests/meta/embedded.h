#pragma once

#include <vector>

#include "tests/meta/checks.h"

namespace noam::tests::meta {

// What is asked of the embedded store alone.
std::vector<Check> embedded_checks();

}  // namespace noam::tests::meta
