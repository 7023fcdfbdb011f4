#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "noam/base/result.h"
#include "noam/cli/arguments.h"
#include "noam/cli/program.h"
#include "noam/model/model.h"
#include "noam/runtime/session.h"
#include "noam/stores/store.h"

// What the commands that run a model have in common: they open it, under a design, on a store.
namespace noam::cli {

// Which model, where its data is, and how it lies there.
struct OpeningOptions {
  std::string path;
  std::string store;      // empty: $NOAM_STORE, else `otherwise`, else the folder beside the model
  std::string strategy;   // empty: that of the store, else eao
  std::string otherwise;  // the store where none is named
  bool make = false;      // the store is created if it does not exist
  bool trace = false;     // of a store on servers: what is asked of them, on standard error
};

// FILE, --store, --strategy.
void add_opening_options(Command& command, OpeningOptions& options);
// --store alone.
void add_store_option(Command& command, OpeningOptions& options);

struct Opened {
  std::string url;       // of the store
  std::string strategy;  // that its data lies under
  bool fresh = false;    // nothing was deployed there before
  bool changed = false;  // another design was deployed there before, and it had no entries
  std::unique_ptr<stores::Store> store;
  std::unique_ptr<runtime::Session> session;  // none: what is wrong was said on standard error
  int code = exit_fine;                       // the exit code where there is none
};

Opened open_model(const OpeningOptions& options, runtime::SessionOptions session_options = {});

// The URL of the store that is meant. An error where none is named, and the model has no place of its own.
Result<std::string> store_url(const OpeningOptions& options);

// The folder of an embedded store by its URL; none: it is another kind of store.
std::optional<std::string> embedded_folder(const std::string& url);

// Whether a store is on servers, which take plain writes before anybody opens it.
bool can_be_filled(const std::string& url);
// Creates it with all that another one holds (stores/cassandra/cassandra.h). How many entries.
Result<std::uint64_t> fill_store(const std::string& url, const stores::Blueprint& blueprint, stores::Store& from,
                                 const std::function<void(std::uint64_t)>& progress);

// A store by its URL. The error lists those there are.
Result<std::unique_ptr<stores::Store>> open_store(const std::string& url, bool make = false, bool trace = false);

}  // namespace noam::cli
