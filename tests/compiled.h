#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "noam/base/result.h"
#include "noam/compile/compile.h"
#include "noam/design/program.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"

// Models and programs for tests. A text that is wrong fails the test, with its diagnostics.
namespace noam::tests {

ModelPointer model_of(const std::string& text, const std::string& name = "model.noam");
// A path is meant from the root of the project.
ModelPointer model_of_file(const std::filesystem::path& path);

design::Program program_of(const ModelPointer& model, const std::string& strategy);
design::Program program_of(const std::string& text, const std::string& strategy);

Result<std::unique_ptr<runtime::Session>> open_session(const ModelPointer& model, const std::string& strategy,
                                                       stores::Store& store, runtime::SessionOptions options = {});

}  // namespace noam::tests
