#include "noam/cli/opening.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "noam/cli/compile.h"
#include "noam/cli/files.h"
#include "noam/cli/report.h"
#include "noam/design/strategies.h"
#include "noam/language/suggest.h"
#include "noam/stores/memory.h"

namespace noam::cli {

namespace {

struct StoreKind {
  std::string_view scheme;
  std::string_view form;
  std::unique_ptr<stores::Store> (*open)();  // none: not built into this noam
};

constexpr std::array store_kinds = {
    StoreKind{"memory", "memory:", [] { return stores::open_memory_store(); }},
    StoreKind{"rocksdb", "rocksdb:FOLDER", nullptr},
    StoreKind{"cassandra", "cassandra://HOST,HOST/KEYSPACE", nullptr},
    StoreKind{"mongodb", "mongodb://HOST/DATABASE", nullptr},
    StoreKind{"redis", "redis://HOST", nullptr},
    StoreKind{"dynamodb", "dynamodb://REGION", nullptr},
    StoreKind{"hbase", "hbase://HOST", nullptr},
};

// `memory:`, or those that are not built in.
std::string store_list(bool built_in) {
  std::string list;
  for (const StoreKind& kind : store_kinds)
    if ((kind.open != nullptr) == built_in) list += (list.empty() ? "" : ", ") + fmt::format("`{}`", kind.form);
  return list;
}

std::vector<std::string_view> strategies_of(const model::Model& model) {
  std::vector<std::string_view> names(std::begin(design::strategy_names), std::end(design::strategy_names));
  for (const model::WrittenDesign& design : model.designs) names.push_back(design.name);
  return names;
}

}  // namespace

void add_opening_options(CLI::App& command, OpeningOptions& options) {
  command.add_option("FILE", options.path, "The text of a model; `-` is standard input")->required();
  command.add_option("--store", options.store,
                     "Where the data is, a URL. Today there is `memory:` alone (the default): it begins with nothing "
                     "and is gone when the command ends");
  command.add_option("--strategy", options.strategy,
                     "How the data lies there: eao (the default), etf, normalized, or a design of the model");
}

Result<std::unique_ptr<stores::Store>> open_store(const std::string& url) {
  const std::string_view scheme = std::string_view(url).substr(0, std::min(url.find(':'), url.size()));
  const auto* const kind =
      std::find_if(store_kinds.begin(), store_kinds.end(), [&](const StoreKind& one) { return one.scheme == scheme; });
  if (kind == store_kinds.end() || scheme.size() == url.size())
    return Error{
        fmt::format("no store `{}`; there is {}; not built in yet: {}", url, store_list(true), store_list(false))};
  if (kind->open == nullptr)
    return Error{fmt::format("store `{}`: {} is not built in yet; there is {}", url, kind->scheme, store_list(true))};
  if (url != kind->form) return Error{fmt::format("no store `{}`: nothing follows `{}`", url, kind->form)};
  return kind->open();
}

Result<void> find_strategy(const model::Model& model, const std::string& strategy) {
  const std::vector<std::string_view> names = strategies_of(model);
  if (std::find(names.begin(), names.end(), strategy) != names.end()) return {};
  if (strategy == "advised")
    return Error{fmt::format("the strategy `advised` is not there yet; there are {}", fmt::join(names, ", "))};
  const auto near = language::closest(strategy, names);
  return Error{fmt::format("no strategy or design `{}`; {}there are {}", strategy,
                           near ? fmt::format("did you mean `{}`? ", *near) : "", fmt::join(names, ", "))};
}

Opened open_model(const OpeningOptions& options, runtime::SessionOptions session_options) {
  Opened out;
  const auto source = read_input(options.path);
  if (!source) {
    out.code = complain(source.error().message);
    return out;
  }
  Compilation compilation = compile(*source);
  if (compilation.diagnostics.has_errors()) {
    out.code = complain_of_model(compilation.diagnostics, *source);
    return out;
  }
  const auto model = std::make_shared<const model::Model>(std::move(compilation.model));
  if (const auto found = find_strategy(*model, options.strategy); !found) {
    out.code = complain(found.error().message);
    return out;
  }
  auto store = open_store(options.store);
  if (!store) {
    out.code = complain(store.error().message);
    return out;
  }
  out.store = std::move(*store);
  auto session = runtime::Session::open(model, options.strategy, *out.store, std::move(session_options));
  if (!session) {
    out.code = complain(
        fmt::format("{} can't be run under `{}`: {}", source->name(), options.strategy, session.error().message));
    return out;
  }
  out.session = std::move(*session);
  return out;
}

}  // namespace noam::cli
