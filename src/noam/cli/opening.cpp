#include "noam/cli/opening.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "noam/base/check.h"
#include "noam/cli/files.h"
#include "noam/cli/report.h"
#include "noam/compile/compile.h"
#include "noam/stores/blocks/layer.h"
#include "noam/stores/cassandra/cassandra.h"
#include "noam/stores/memory.h"
#include "noam/stores/rocksdb.h"

namespace noam::cli {

namespace {

struct StoreKind {
  std::string_view scheme;
  std::string_view form;
  // `rest` is what follows the colon; `make` creates the store if it is missing; `trace` prints the requests to its
  // servers. Null: this noam cannot open such stores.
  Result<std::unique_ptr<stores::Store>> (*open)(const std::string& rest, bool make, bool trace);
};

Result<std::unique_ptr<stores::Store>> open_memory(const std::string& rest, bool /*make*/, bool /*trace*/) {
  if (!rest.empty()) return Error{fmt::format("no store `memory:{}`: nothing can follow `memory:`", rest)};
  return stores::open_memory_store();
}

Result<std::unique_ptr<stores::Store>> open_embedded(const std::string& folder, bool make, bool /*trace*/) {
  if (folder.empty()) return Error{"store `rocksdb:` has no folder; write rocksdb:FOLDER, for example rocksdb:data"};
  stores::RocksdbOptions options;
  options.existing = make ? stores::Existing::Allowed : stores::Existing::Required;
  NOAM_ASSIGN_OR_RETURN(auto store, stores::open_rocksdb_store(folder, options));
  return std::unique_ptr<stores::Store>(std::move(store));
}

// docs/cassandra.md has the options of the URL.
Result<stores::cassandra::Place> place_of(const std::string& rest) {
  NOAM_ASSIGN_OR_RETURN(stores::cassandra::Place place, stores::cassandra::parse_place(rest));
  place.note = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return place;
}

Result<std::unique_ptr<stores::Store>> open_cassandra(const std::string& rest, bool make, bool trace) {
  NOAM_ASSIGN_OR_RETURN(stores::cassandra::Place place, place_of(rest));
  if (trace) place.trace = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  NOAM_ASSIGN_OR_RETURN(auto behind, stores::cassandra::open_block_store(place, make));
  return stores::blocks::open_block_layer(std::move(behind));
}

constexpr std::array store_kinds = {
    StoreKind{"memory", "memory:", open_memory},
    StoreKind{"rocksdb", "rocksdb:FOLDER", open_embedded},
    StoreKind{"cassandra", "cassandra://HOST,HOST/KEYSPACE", open_cassandra},
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

Result<std::unique_ptr<runtime::Session>> open_session(const ModelPointer& model, const std::string& strategy,
                                                       stores::Store& store, runtime::SessionOptions options) {
  NOAM_ASSIGN_OR_RETURN(design::Program program, compile_program(model, strategy));
  return runtime::Session::open(std::move(program), store, std::move(options));
}

}  // namespace

void add_opening_options(Command& command, OpeningOptions& options) {
  command.add_option("FILE", options.path, "Model file; `-` for standard input").required();
  add_store_option(command, options);
  command.add_option(
      "--strategy", options.strategy,
      "Design of the store: eao, etf, normalized, or a design of the model. Default: the design it was deployed with; "
      "eao for a new store");
}

void add_store_option(Command& command, OpeningOptions& options) {
  command
      .add_option("--store", options.store,
                  "URL of the store: `rocksdb:FOLDER`, `cassandra://HOST,HOST/KEYSPACE`, or `memory:`, an empty store "
                  "that is lost "
                  "when the command ends. "
                  "Default: $NOAM_STORE if set, otherwise a folder beside the model: rocksdb:shop.data for shop.noam")
      .check([](const std::string& url) {
        return url.empty() ? fmt::format("a store is a URL; available: {}", store_list(true)) : std::string();
      });
}

Result<std::unique_ptr<stores::Store>> open_store(const std::string& url, bool make, bool trace) {
  const std::size_t colon = url.find(':');
  const std::string_view scheme = std::string_view(url).substr(0, std::min(colon, url.size()));
  const auto* const kind =
      std::find_if(store_kinds.begin(), store_kinds.end(), [&](const StoreKind& one) { return one.scheme == scheme; });
  if (kind == store_kinds.end() || colon == std::string::npos)
    return Error{fmt::format("unknown store `{}`; available: {}; not implemented yet: {}", url, store_list(true),
                             store_list(false))};
  if (kind->open == nullptr)
    return Error{
        fmt::format("store `{}`: {} is not implemented yet; available: {}", url, kind->scheme, store_list(true))};
  if (trace && kind->open != open_cassandra)
    return Error{fmt::format("store `{}` is not on a server: --trace has nothing to print", url)};
  return kind->open(url.substr(colon + 1), make, trace);
}

std::optional<std::string> embedded_folder(const std::string& url) {
  constexpr std::string_view scheme = "rocksdb:";
  if (!url.starts_with(scheme)) return std::nullopt;
  return url.substr(scheme.size());
}

constexpr std::string_view cassandra_scheme = "cassandra:";

bool can_be_filled(const std::string& url) { return url.starts_with(cassandra_scheme); }

Result<std::uint64_t> fill_store(const std::string& url, const stores::Blueprint& blueprint, stores::Store& from,
                                 const std::function<void(std::uint64_t)>& progress) {
  check(can_be_filled(url), "only stores on servers are filled");
  NOAM_ASSIGN_OR_RETURN(const stores::cassandra::Place place, place_of(url.substr(cassandra_scheme.size())));
  return stores::cassandra::fill(place, blueprint, from, progress);
}

Result<std::string> store_url(const OpeningOptions& options) {
  if (!options.store.empty()) return options.store;
  const char* const wanted = std::getenv("NOAM_STORE");
  if (wanted != nullptr && *wanted != '\0') return std::string(wanted);
  if (!options.otherwise.empty()) return options.otherwise;
  if (options.path.empty() || options.path == "-")
    return Error{"no store given; use --store URL, for example rocksdb:data"};
  return "rocksdb:" + std::filesystem::path(options.path).replace_extension(".data").string();
}

Opened open_model(const OpeningOptions& options, runtime::SessionOptions session_options) {
  Opened out;
  const auto fail = [&](const std::string& message) {
    out.code = complain(message);
    return std::move(out);
  };
  const auto [source, model, code] = read_model(options.path);
  if (!model) {
    out.code = code;
    return out;
  }
  if (!options.strategy.empty())
    if (const auto found = find_strategy(*model, options.strategy); !found) return fail(found.error().message);
  const auto url = store_url(options);
  if (!url) return fail(url.error().message);
  out.url = *url;
  const std::string how_to_make = fmt::format("create it with `noam deploy {}{}`, or use --store memory:", options.path,
                                              options.store.empty() ? "" : " --store " + options.store);
  auto store = open_store(out.url, options.make, options.trace);
  if (!store) {
    return fail(store.error().code == "missing" ? store.error().message + "; " + how_to_make : store.error().message);
  }
  out.store = std::move(*store);
  const auto deployed = out.store->deployment();
  out.fresh = !deployed;
  if (!deployed && out.store->capabilities().durable && !options.make)
    return fail(fmt::format("store `{}` is empty, no design was deployed; {}", out.url, how_to_make));
  out.strategy = !options.strategy.empty() ? options.strategy : deployed ? deployed->design : "eao";
  if (const auto found = find_strategy(*model, out.strategy); !found)
    return fail(fmt::format("store `{}` was deployed under `{}`: {}", out.url, out.strategy, found.error().message));
  auto session = open_session(model, out.strategy, *out.store, std::move(session_options));
  if (!session) {
    const auto there = out.store->deployment();  // perhaps since a moment ago
    const bool other_design = there && session.error().code == "other-design";
    if (!deployed && !other_design)
      return fail(fmt::format("{} cannot be run under `{}`: {}", source.name(), out.strategy, session.error().message));
    if (other_design && there->design != out.strategy)
      return fail(
          fmt::format("store `{}` was deployed under `{}`, not under `{}`; leave out --strategy to use it as it is, or "
                      "deploy `{}` to another store, given by --store",
                      out.url, there->design, out.strategy, out.strategy));
    return fail(fmt::format("store `{}`: {}", out.url, session.error().message));
  }
  const auto now = out.store->deployment();
  out.fresh = out.fresh && !(now && now->by_another);
  out.changed = deployed && now && deployed->version != now->version;
  out.session = std::move(*session);
  return out;
}

}  // namespace noam::cli
