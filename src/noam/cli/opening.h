#pragma once

#include <memory>
#include <string>

#include "noam/base/result.h"
#include "noam/cli/program.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

// What the commands that run a model have in common: they open it, under a design, on a store.
namespace noam::cli {

// Which model, where its data is, and how it lies there.
struct OpeningOptions {
  std::string path;
  std::string store = "memory:";
  std::string strategy = "eao";
};

// FILE, --store, --strategy.
void add_opening_options(CLI::App& command, OpeningOptions& options);

struct Opened {
  std::unique_ptr<stores::Store> store;
  std::unique_ptr<runtime::Session> session;  // none: what is wrong was said on standard error
  int code = exit_fine;                       // the exit code where there is none
};

Opened open_model(const OpeningOptions& options, runtime::SessionOptions session_options = {});

// A store by its URL. The error lists those there are.
Result<std::unique_ptr<stores::Store>> open_store(const std::string& url);

// One line where the model has neither such a strategy nor such a design.
Result<void> find_strategy(const model::Model& model, const std::string& strategy);

}  // namespace noam::cli
