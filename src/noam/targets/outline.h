#pragma once

#include "noam/design/program.h"
#include "noam/schemas/outline.h"

// A design as targets see it: the outline that schemas are made of, with estimates of sizes and the plans of
// statements.
namespace noam::targets {

using namespace schemas;  // NOLINT(google-build-using-namespace): targets write what schemas describe

struct Outline : schemas::Outline {
  const design::Program* program = nullptr;
};

// The program must outlive it.
Outline outline(const design::Program& program);

}  // namespace noam::targets
