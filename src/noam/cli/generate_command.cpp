#include "noam/cli/generate_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/files.h"
#include "noam/cli/opening.h"
#include "noam/cli/program.h"
#include "noam/cli/report.h"
#include "noam/cli/sample.h"
#include "noam/compile/compile.h"
#include "noam/language/suggest.h"
#include "noam/targets/target.h"

namespace noam::cli {

using targets::Target;

namespace {

std::string names_of_targets() {
  std::vector<std::string_view> names;
  for (const Target& target : targets::all_targets()) names.push_back(target.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A design that was written for other targets.
std::optional<targets::Warning> written_for_others(const design::Program& program, const Target& target) {
  for (const model::WrittenDesign& design : program.model->designs) {
    if (design.name != program.design.name || design.targets.empty()) continue;
    if (std::find(design.targets.begin(), design.targets.end(), target.name) != design.targets.end()) continue;
    return targets::Warning{
        "other-target", fmt::format("the design `{}` is written for {}", design.name, fmt::join(design.targets, ", ")),
        fmt::format("add `for {}` to the design if it is meant for this database too", target.name)};
  }
  return std::nullopt;
}

Json as_json(const std::vector<targets::Warning>& warnings) {
  Json out = Json::array();
  for (const targets::Warning& warning : warnings)
    out.push_back({{"code", warning.code}, {"message", warning.message}, {"hint", warning.remedy}});
  return out;
}

std::string in_order(const std::vector<targets::File>& files) {
  std::string out;
  for (const targets::File& file : files)
    out += fmt::format("{}==> {} <==\n{}", out.empty() ? "" : "\n", file.path, file.text);
  return out;
}

Result<void> keep_only(const std::string& name, std::vector<targets::File>& files) {
  std::vector<std::string> names;
  for (const targets::File& file : files) names.push_back(file.path);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return Error{fmt::format("no file `{}`; available: {}", name, fmt::join(names, ", "))};
  files = {files[static_cast<std::size_t>(found - names.begin())]};
  return {};
}

std::string table_of_targets() {
  std::string out;
  for (const Target& target : targets::all_targets())
    out += fmt::format("{:<14}{}: {}\n", target.name, target.title, target.summary);
  return out;
}

std::string details(const Target& target) {
  const targets::Capabilities& can = *target.capabilities;
  std::string out = fmt::format("{}, {}\n\n{}\n\n", target.name, target.title, target.summary);
  const auto line = [&](std::string_view name, std::string_view text) { out += fmt::format("{:<20}{}\n", name, text); };
  line("atomic", can.atomic);
  line("conditional writes", can.conditional);
  line("order", can.order);
  line("counters", can.counters);
  line("expiry", can.expiry);
  out += "\nlimits\n";
  for (const targets::Limit& limit : can.limits)
    out += fmt::format("  {:<20}{}{}\n", targets::shown_amount(limit, limit.value), limit.about,
                       limit.hard ? "" : " (advice)");
  if (!target.options.empty()) out += "\noptions, `with " + std::string(target.name) + "(name: \"…\")` in a design\n";
  for (const targets::Option& option : target.options) out += fmt::format("  {:<12}{}\n", option.name, option.about);
  return out;
}

Json as_json(const Target& target) {
  const targets::Capabilities& can = *target.capabilities;
  Json limits = Json::array();
  for (const targets::Limit& limit : can.limits)
    limits.push_back({{"limit", targets::limit_name(limit.kind)},
                      {"value", limit.value},
                      {"unit", limit.unit.empty() ? "bytes" : limit.unit},
                      {"hard", limit.hard},
                      {"about", limit.about},
                      {"remedy", limit.remedy}});
  Json options = Json::array();
  for (const targets::Option& option : target.options)
    options.push_back({{"name", option.name}, {"about", option.about}});
  return {{"name", target.name},           {"title", target.title},          {"summary", target.summary},
          {"atomic", can.atomic},          {"conditional", can.conditional}, {"order", can.order},
          {"counters", can.counters},      {"expiry", can.expiry},           {"limits", std::move(limits)},
          {"options", std::move(options)}, {"reserved", target.reserved}};
}

}  // namespace

Result<const Target*> find_target(const std::string& name) {
  auto found = targets::find_target(name);
  if (found) return found;
  std::vector<std::string_view> names;
  for (const Target& target : targets::all_targets()) names.push_back(target.name);
  if (const auto near = language::closest(name, names))
    return Error{fmt::format("no target `{}`; did you mean `{}`?", name, *near)};
  return found;
}

std::vector<targets::Warning> warnings_for(const Target& target, const targets::Outline& outline) {
  std::vector<targets::Warning> out = targets::check_design(target, outline);
  if (auto other = written_for_others(*outline.program, target)) out.insert(out.begin(), std::move(*other));
  return out;
}

std::string shown(const targets::Warning& warning) {
  return fmt::format("warning: {} [{}]\n  hint: {}\n", warning.message, warning.code, warning.remedy);
}

Command add_generate_command(CommandLine& line, GenerateOptions& options) {
  Command command = line.add_command("generate", "Generate the schema and requests for a database, and a README");
  command.add_option("FILE", options.path, "Model file; `-` for standard input").required();
  command.add_option("--target", options.target, fmt::format("Database: {}", names_of_targets()))
      .type_name("T")
      .required();
  command
      .add_option("--strategy", options.strategy, "Design to use: `eao`, `etf`, `normalized`, or a design of the model")
      .type_name("S")
      .show_default();
  command.add_option("-o,--output", options.output, "Output folder, created if missing. Default: print the files")
      .type_name("DIR");
  command.add_option("--file", options.file, "Print only this file, for example `schema.cql`")
      .type_name("NAME")
      .excludes("--output");
  command
      .add_option("--with-data", options.data,
                  "Files or folders of instances (formats as for `noam load`) to convert for the database")
      .type_name("DATA");
  command.add_flag("--force", options.force, "Replace existing files");
  command.add_flag("--json", options.json,
                   "Print the result as JSON; without -o, including the files (docs/targets.md)");
  command.footer(
      "Either all files are written or none. Warnings are printed if the design exceeds what the database supports.\n"
      "`noam targets` describes the databases.\n"
      "Examples: noam generate shop.noam --target cassandra --strategy normalized -o shop-cassandra\n"
      "          noam generate shop.noam --target cassandra --file schema.cql | cqlsh");
  return command;
}

int generate_files(const GenerateOptions& options) {
  const auto target = find_target(options.target);
  if (!target) return complain(target.error().message);
  const auto [source, model, code] = read_model(options.path);
  if (!model) return code;
  const auto program = compile_program(model, options.strategy);
  if (!program) return complain(program.error().message);
  std::optional<design::Sample> sample;
  if (!options.data.empty()) {
    auto data = read_sample(*program, options.data);
    if (!data) return complain(data.error().message);
    sample = std::move(*data);
  }
  const targets::Outline outline = targets::outline(*program);
  targets::Generated made = (*target)->generate(outline, sample ? &*sample : nullptr);
  if (!options.file.empty()) {
    if (const auto kept = keep_only(options.file, made.files); !kept) return complain(kept.error().message);
  }
  std::vector<targets::Warning> warnings = warnings_for(**target, outline);
  warnings.insert(warnings.end(), made.warnings.begin(), made.warnings.end());
  if (!options.output.empty()) {
    std::vector<NamedText> files;
    for (const targets::File& file : made.files) files.push_back({file.path, file.text});
    if (const auto written = write_folder(options.output, files, options.force); !written)
      return complain(written.error().message);
  }
  if (!options.json)
    for (const targets::Warning& warning : warnings) fmt::print(stderr, "{}", shown(warning));
  if (!options.json && !options.file.empty()) return deliver(made.files[0].text, exit_fine);
  if (!options.json && options.output.empty()) return deliver(in_order(made.files), exit_fine);
  if (!options.json) {
    std::vector<std::string> names;
    for (const targets::File& file : made.files) names.push_back(file.path);
    return deliver(fmt::format("{}: {}\n", options.output, fmt::join(names, ", ")), exit_fine);
  }
  Json files = Json::array();
  for (const targets::File& file : made.files) {
    Json row{{"path", file.path}, {"bytes", file.text.size()}};
    if (options.output.empty()) row["text"] = file.text;
    files.push_back(std::move(row));
  }
  Json out{{"schema", 1},
           {"model", model->name},
           {"design", program->design.name},
           {"target", (*target)->name},
           {"folder", options.output.empty() ? Json(nullptr) : Json(options.output)},
           {"files", std::move(files)},
           {"warnings", as_json(warnings)}};
  return deliver(dumped(out), exit_fine);
}

Command add_targets_command(CommandLine& line, TargetsOptions& options) {
  Command command = line.add_command("targets", "List the supported databases and what they can do");
  command.add_option("NAME", options.name, "Show the guarantees, limits and options of this database");
  command.add_flag("--json", options.json, "Print JSON");
  command.footer("Example: noam targets dynamodb");
  return command;
}

int show_targets(const TargetsOptions& options) {
  if (!options.name.empty()) {
    const auto target = find_target(options.name);
    if (!target) return complain(target.error().message);
    return deliver(options.json ? dumped(as_json(**target)) : details(**target), exit_fine);
  }
  if (!options.json) return deliver(table_of_targets(), exit_fine);
  Json out = Json::array();
  for (const Target& target : targets::all_targets()) out.push_back(as_json(target));
  return deliver(dumped(out), exit_fine);
}

}  // namespace noam::cli
