#include "noam/cli/upkeep_commands.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/progress.h"
#include "noam/cli/report.h"
#include "noam/cli/verify_command.h"
#include "noam/language/suggest.h"
#include "noam/model/layout.h"
#include "noam/runtime/whole_collections.h"

namespace noam::cli {

// --- deploy ----------------------------------------------------------------------------------------------------------

Command add_deploy_command(CommandLine& line, UpkeepOptions& options) {
  Command command = line.add_command("deploy", "Create the store of a model with a design");
  options.opening.make = true;
  add_opening_options(command, options.opening);
  command.add_flag("--json", options.json, "Print the result as JSON");
  command.footer(
      "Does nothing if the store already exists with this design. If the store holds entries of another design, the\n"
      "command fails and prints the differences: continue with the model and strategy of the store, or export with\n"
      "them, deploy the new design to another store, and load the data there.\n"
      "Example: noam deploy shop.noam --strategy normalized\n"
      "More:    docs/commands/deploy.md; `noam design shop.noam` prints the design");
  return command;
}

namespace {

// What else could have been chosen.
std::string other_designs(const model::Model& model, const std::string& taken) {
  std::vector<std::string> others;
  for (const model::WrittenDesign& design : model.designs)
    if (design.name != taken) others.push_back(fmt::format("`{}`", design.name));
  if (others.empty()) return {};
  return fmt::format("; the model also has the design{} {}: choose {} with --strategy", others.size() == 1 ? "" : "s",
                     fmt::join(others, ", "), others.size() == 1 ? "it" : "one");
}

}  // namespace

int deploy_design(const UpkeepOptions& options) {
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  const design::Design& design = opened.session->program().design;
  const auto deployed = opened.store->deployment();
  std::vector<runtime::ScanningQuery> scanning;
  if (!opened.store->capabilities().watches_collections)
    scanning = runtime::scanning_queries(opened.session->program());
  Json not_exact = Json::array();
  for (const runtime::ScanningQuery& one : scanning)
    not_exact.push_back({{"query", one.query}, {"collection", one.collection}});
  if (options.json)
    return deliver(dumped({{"schema", 1},
                           {"store", opened.url},
                           {"strategy", opened.strategy},
                           {"made", opened.fresh},
                           {"version", deployed ? deployed->version : 0},
                           {"collections", design.collections.size()},
                           {"families", design.families.size()},
                           {"not_exact", std::move(not_exact)}}),
                   exit_fine);
  std::string notes;
  for (const runtime::ScanningQuery& one : scanning)
    notes +=
        fmt::format("note: query `{}` looks through all of `{}`; on this store, its rows may be of several moments\n",
                    one.query, one.collection);
  const bool chosen = !options.opening.strategy.empty();
  const bool by_default = opened.fresh && !chosen;
  return deliver(fmt::format("{}: {} `{}`{}, {} with {}{}\n", opened.url,
                             opened.fresh     ? "created under"
                             : opened.changed ? "had no entries, changed to"
                                              : "already exists under",
                             opened.strategy, by_default ? " (default)" : "",
                             model::counted(design.collections.size(), "collection", "collections"),
                             model::counted(design.families.size(), "family", "families"),
                             by_default ? other_designs(opened.session->model(), opened.strategy) : "") +
                     notes,
                 exit_fine);
}

namespace {

int exit_of(const Error& error) { return stores::is_failure(error) ? exit_wrong_use : exit_refused; }

}  // namespace

// --- refresh ---------------------------------------------------------------------------------------------------------

Command add_refresh_command(CommandLine& line, RefreshOptions& options) {
  Command command = line.add_command("refresh", "Run refreshed queries (`refresh every`) now");
  add_opening_options(command, options.opening);
  command.add_option("QUERY", options.queries, "Queries to refresh. Default: all, dependencies first");
  command.add_flag("--json", options.json, "Print the result as JSON");
  command.footer(
      "A refreshed query returns the rows of its last refresh; before the first refresh it returns no rows.\n"
      "Example: noam refresh blog.noam top_accounts\n"
      "More:    docs/commands/refresh.md");
  return command;
}

int refresh_queries(const RefreshOptions& options) {
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  std::vector<std::string_view> names;
  for (const model::Query* query : runtime::in_order_of_refresh(opened.session->model())) names.push_back(query->name);
  std::vector<std::string> wanted = options.queries;
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto near = language::closest(name, names);
    return complain(fmt::format("no refreshed query `{}`; {}", name,
                                near            ? fmt::format("did you mean `{}`?", *near)
                                : names.empty() ? "the model has none"
                                                : fmt::format("available: {}", fmt::join(names, ", "))));
  }
  if (wanted.empty()) wanted.assign(names.begin(), names.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ProgressLine line;
    line.steps("refreshing")(wanted[i], i, wanted.size());
    const auto done = opened.session->refresh(wanted[i]);
    if (!done) {
      complain(fmt::format("{}: {}", wanted[i], done.error().message));
      return exit_of(done.error());
    }
  }
  if (options.json) return deliver(dumped({{"schema", 1}, {"refreshed", wanted}}), exit_fine);
  return deliver(wanted.empty() ? "the model has no refreshed queries\n"
                                : fmt::format("refreshed: {}\n", fmt::join(wanted, ", ")),
                 exit_fine);
}

// --- sweep -----------------------------------------------------------------------------------------------------------

Command add_sweep_command(CommandLine& line, UpkeepOptions& options) {
  Command command = line.add_command("sweep", "Delete instances past their `ttl`, and old command ids");
  add_opening_options(command, options.opening);
  command.add_flag("--json", options.json, "Print the number of deleted instances as JSON");
  command.footer(
      "An expired instance is deleted with its copies, counts and parts. Until then, queries return it.\n"
      "Example: noam sweep log.noam\n"
      "More:    docs/commands/sweep.md");
  return command;
}

int sweep_store(const UpkeepOptions& options) {
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  const auto gone = opened.session->sweep();
  if (!gone) {
    complain(gone.error().message);
    return exit_of(gone.error());
  }
  if (options.json) return deliver(dumped({{"schema", 1}, {"expired", *gone}}), exit_fine);
  return deliver(fmt::format("{} expired\n", model::counted(*gone, "instance", "instances")), exit_fine);
}

// --- repair ----------------------------------------------------------------------------------------------------------

Command add_repair_command(CommandLine& line, UpkeepOptions& options) {
  Command command = line.add_command("repair", "Correct every copy that differs from its base data");
  add_opening_options(command, options.opening);
  command.add_flag("--json", options.json, "Print the repairs as JSON (docs/json.md)");
  command.footer(
      "Each copy is derived again from its base data, by the function that commands use, and compared: missing "
      "entries\n"
      "are added, wrong ones corrected, and unexpected ones deleted. Queries can then read a copy that `noam verify`\n"
      "marked as broken. The base data is never changed.\n"
      "Example: noam repair shop.noam\n"
      "More:    docs/commands/repair.md");
  return command;
}

int repair_copies(const UpkeepOptions& options) {
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  const auto found = [&] {
    ProgressLine line;
    return opened.session->repair(line.steps("repairing"));
  }();
  if (!found) return complain(found.error().message);
  if (options.json) {
    Json json = verification_object(*found, opened.strategy);
    return deliver(dumped(json), exit_fine);
  }
  return deliver(differences_text(found->differences) +
                     fmt::format("{} compared under `{}`, {}\n", model::counted(found->entries, "entry", "entries"),
                                 opened.strategy,
                                 found->differences.empty()
                                     ? "nothing to repair"
                                     : model::counted(found->differences.size(), "entry", "entries") + " repaired"),
                 exit_fine);
}

// --- drill -----------------------------------------------------------------------------------------------------------

Command add_drill_command(CommandLine& line, DrillOptions& options) {
  Command command = line.add_command("drill", "Damage a copy on purpose, to try out `verify` and `repair`");
  add_opening_options(command, options.opening);
  command.add_option("--collection", options.collection, "Collection of the copy. Default: that of the largest copy");
  command.add_flag("--json", options.json, "Print the damage as JSON");
  command.footer(
      "Deletes one entry of a copy, changes one, and adds one that has no base data. No base data is lost: `noam\n"
      "repair` corrects the copy. Until then, queries that read the copy may return wrong rows; after `noam verify`\n"
      "they are refused. Use it for tests only, never on a store that people rely on.\n"
      "Example: noam drill blog.noam && noam verify blog.noam; noam repair blog.noam");
  return command;
}

namespace {

using model::Datum;

struct Copy {
  std::uint32_t family = 0;
  std::string collection;
  std::vector<stores::ScanPage::Item> items;
};

// The copy with the most entries, as far as a page tells.
Result<std::optional<Copy>> find_copy(const Opened& opened, const std::string& collection) {
  std::optional<Copy> best;
  const design::Program& program = opened.session->program();
  for (const design::Upkeep& upkeep : program.upkeep) {
    const design::Family& family = program.design.families[upkeep.family];
    const std::string& name = program.design.collection_of(family).name;
    if (!upkeep.all || (!collection.empty() && name != collection)) continue;
    NOAM_ASSIGN_OR_RETURN(auto page, opened.store->scan(upkeep.family, {}, nullptr, stores::no_deadline));
    if (page.items.empty() || (best && best->items.size() >= page.items.size())) continue;
    best = Copy{upkeep.family, name, std::move(page.items)};
  }
  return best;
}

Datum another(const Datum& datum) {
  if (datum.is_int()) return datum.as_int() < 1'000'000'000 ? datum.as_int() + 41 : datum.as_int() - 41;
  if (datum.is_string()) return std::string(datum.as_string()) + "?";
  if (datum.is_bool()) return !datum.as_bool();
  if (datum.is_double()) return datum.as_double() / 2 + 1;
  if (datum.is_decimal()) return datum.as_decimal() + model::Decimal(41);
  if (datum.is_list()) return Datum(Datum::List{});
  return 41;
}

// At most one of a kind; each of another entry.
stores::WriteBatch harm(const Copy& copy, const design::Family& family, std::vector<std::string>& told) {
  stores::WriteBatch out;
  const auto ref = [&](const stores::ScanPage::Item& item) {
    return stores::EntryRef{{family.collection, item.block}, copy.family, item.entry.key};
  };
  out.changes.emplace_back(stores::Delete{ref(copy.items.front())});
  told.emplace_back("one entry deleted");
  if (copy.items.size() > 1) {
    const auto& item = copy.items[copy.items.size() / 2];
    if (!item.entry.columns.empty()) {
      stores::Key columns = item.entry.columns;
      columns.front() = another(columns.front());
      out.changes.emplace_back(stores::Put{ref(item), std::move(columns)});
      told.emplace_back("one entry changed");
    }
  }
  if (copy.items.size() > 2) {
    const auto& item = copy.items.back();
    stores::EntryRef stray = ref(item);
    stores::Key& key = stray.key.empty() ? stray.block.key : stray.key;
    key.back() = another(key.back());
    if (std::none_of(copy.items.begin(), copy.items.end(), [&](const auto& other) { return ref(other) == stray; })) {
      out.changes.emplace_back(stores::Put{std::move(stray), item.entry.columns});
      told.emplace_back("one entry added without base data");
    }
  }
  return out;
}

}  // namespace

int break_copy(const DrillOptions& options) {
  const Opened opened = open_model(options.opening);
  if (!opened.session) return opened.code;
  const auto copy = find_copy(opened, options.collection);
  if (!copy) return complain(copy.error().message);
  if (!*copy)
    return complain(options.collection.empty()
                        ? fmt::format("design `{}` has no copy with entries", opened.strategy)
                        : fmt::format("collection `{}` has no copy with entries", options.collection));
  std::vector<std::string> told;
  const stores::WriteBatch batch = harm(**copy, opened.session->program().design.families[(*copy)->family], told);
  const auto done = opened.store->commit(batch, stores::no_deadline);
  if (!done) return complain(done.error().message);
  if (options.json)
    return deliver(dumped({{"schema", 1}, {"collection", (*copy)->collection}, {"harm", told}}), exit_fine);
  return deliver(fmt::format("{}: {}\n", (*copy)->collection, fmt::join(told, ", ")), exit_fine);
}

}  // namespace noam::cli
