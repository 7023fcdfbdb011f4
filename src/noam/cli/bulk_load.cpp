#include "noam/cli/bulk_load.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "noam/cli/progress.h"
#include "noam/cli/report.h"
#include "noam/compile/compile.h"
#include "noam/design/print.h"
#include "noam/runtime/whole_collections.h"
#include "noam/stores/rocksdb.h"

namespace noam::cli {

namespace {

constexpr std::size_t most_entry_bytes = std::size_t{1} << 20U;  // of stores on servers

// Goes with all that is in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code failed;
    const auto parent = std::filesystem::temp_directory_path(failed);
    std::string path = (parent / "noam-load-XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr)
      return Error{fmt::format("no temporary folder can be made in `{}`; set TMPDIR to one that can be written",
                               failed ? "TMPDIR" : parent.string())};
    return TemporaryFolder(path);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Before anything is loaded: whether the store can be filled.
Result<void> check_unopened(const std::string& url) {
  auto store = open_store(url);
  if (!store) {
    if (store.error().code == "missing" || store.error().code == "loading") return {};
    return store.error();
  }
  if ((*store)->deployment()) return Error{fmt::format("store `{}` was deployed before; load without --bulk", url)};
  return {};
}

int fill(runtime::Session& session, stores::Store& staged, const std::string& url, bool quiet) {
  const design::Program& program = session.program();
  const std::string text = design::print_design(program);
  const auto began = std::chrono::steady_clock::now();
  ProgressLine line;
  const auto filled =
      fill_store(url, {program.design, *program.model, program.model->text.text, text}, staged,
                 [&](std::uint64_t entries) { line.show(fmt::format("{}: {} entries written", url, entries)); });
  line.clear();
  if (!filled) {
    complain(fmt::format("{}: {}; the store cannot be opened yet: repeat the command", url, filled.error().message));
    return exit_unknown;
  }
  if (quiet) return exit_fine;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return deliver(fmt::format("{}: created under `{}`, {} entries written ({:.1f} s)\n", url, program.design.name,
                             *filled, seconds),
                 exit_fine);
}

}  // namespace

int load_in_bulk(const LoadOptions& options) {
  const auto [source, model, code] = read_model(options.opening.path);
  if (!model) return code;
  const auto url = store_url(options.opening);
  if (!url) return complain(url.error().message);
  const std::string strategy = options.opening.strategy.empty() ? "eao" : options.opening.strategy;
  if (const auto found = find_strategy(*model, strategy); !found) return complain(found.error().message);
  if (!can_be_filled(*url))
    return complain(fmt::format("store `{}`: --bulk is for stores on servers; load without it", *url));
  if (const auto unopened = check_unopened(*url); !unopened) return complain(unopened.error().message);
  auto program = compile_program(model, strategy);
  if (!program) return complain(program.error().message);
  if (const auto relies = runtime::relies_on_no_collection(*program); !relies) return complain(relies.error().message);
  const auto folder = TemporaryFolder::make();
  if (!folder) return complain(folder.error().message);
  stores::RocksdbOptions staging;
  staging.existing = stores::Existing::Allowed;
  staging.sync = false;
  staging.spreads_own = true;
  staging.max_entry_bytes = most_entry_bytes;
  auto staged = stores::open_rocksdb_store(folder->path() + "/store", staging);
  if (!staged) return complain(staged.error().message);
  auto session = runtime::Session::open(std::move(*program), **staged);
  if (!session) return complain(fmt::format("store `{}`: {}", *url, session.error().message));
  return load_all(**session, options, [&] { return fill(**session, **staged, *url, options.json); });
}

}  // namespace noam::cli
