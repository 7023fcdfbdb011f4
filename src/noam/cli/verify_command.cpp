#include "noam/cli/verify_command.h"

#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "noam/base/json.h"
#include "noam/cli/progress.h"
#include "noam/cli/report.h"
#include "noam/model/layout.h"

namespace noam::cli {

namespace {

const char* kind_name(runtime::DifferenceKind kind) {
  switch (kind) {
    case runtime::DifferenceKind::Missing:
      return "missing";
    case runtime::DifferenceKind::Extra:
      return "extra";
    case runtime::DifferenceKind::Wrong:
      return "wrong";
    case runtime::DifferenceKind::Base:
      break;
  }
  return "base";
}

}  // namespace

std::string differences_text(const std::vector<runtime::Difference>& differences) {
  constexpr std::size_t most = 20;  // of a collection; a program asks for JSON
  std::map<std::string, std::size_t> told;
  std::string out;
  for (const runtime::Difference& difference : differences) {
    if (++told[difference.collection] > most) continue;
    out += fmt::format("{}: {}\n", difference.collection, difference.what);
  }
  for (const auto& [collection, count] : told)
    if (count > most) out += fmt::format("{}: and {} more; --json lists all\n", collection, count - most);
  return out;
}

std::string verification_text(const runtime::Verification& found, const std::string& strategy,
                              const std::optional<Answered>& before) {
  std::string out = before ? answered_text(*before) + "\n" : "";
  out += differences_text(found.differences);
  for (const std::string& unknown : found.unknown) out += fmt::format("not compared: {}\n", unknown);
  return out + fmt::format("{} compared under `{}`, {}\n", model::counted(found.entries, "entry", "entries"), strategy,
                           found.differences.empty()
                               ? "all as they should be"
                               : model::counted(found.differences.size(), "difference", "differences"));
}

Json verification_object(const runtime::Verification& found, const std::string& strategy) {
  Json out{{"schema", 1}, {"strategy", strategy}, {"entries", found.entries}, {"differences", Json::array()}};
  for (const runtime::Difference& difference : found.differences)
    out["differences"].push_back(
        {{"kind", kind_name(difference.kind)}, {"collection", difference.collection}, {"what", difference.what}});
  out["not_compared"] = found.unknown;
  return out;
}

std::string verification_json(const runtime::Verification& found, const std::string& strategy,
                              const std::optional<Answered>& before) {
  Json out = verification_object(found, strategy);
  out["after"] = nullptr;
  if (before)
    out["after"] = Json{{"applied", before->applied},
                        {"refused", before->refused},
                        {"unknown", before->unknown},
                        {"answered", before->queries},
                        {"errors", before->errors}};
  return dumped(out);
}

int verification_exit_code(const runtime::Verification& found) {
  return found.differences.empty() ? exit_fine : exit_refused;
}

CLI::App* add_verify_command(CLI::App& app, VerifyOptions& options) {
  CLI::App* command = app.add_subcommand("verify", "Compare every copy with the data it was made from");
  add_opening_options(*command, options.opening);
  command->add_option("--after", options.after,
                      "First run the requests of this file, lines of JSON as `noam run --batch` takes them; `-` is "
                      "standard input");
  command->add_flag("--json", options.json, "What was found as JSON (docs/json.md)");
  command->footer(
      "Prints what differs, what can't be made again (folds of transient instances, which are not kept), and how much\n"
      "was compared; everything at one moment. A copy that differs is not read any more until `noam repair` has made "
      "it\n"
      "again: a wrong answer is worse than none. With --after and no --store, on `memory:`.\n"
      "Exit codes: 0 everything is as it should be; 1 the model is wrong; 2 wrong use: files, arguments, stores, a "
      "line\n"
      "of --after that is no request; 3 something differs.\n"
      "Example: noam verify game.noam --strategy figure11 --after requests.jsonl\n"
      "More:    docs/commands/verify.md");
  return command;
}

int verify_copies(const VerifyOptions& options) {
  if (options.after == "-" && options.opening.path == "-")
    return complain("standard input is the model or the requests, not both");
  OpeningOptions opening = options.opening;
  if (!options.after.empty()) opening.otherwise = "memory:";
  const Opened opened = open_model(opening);
  if (!opened.session) return opened.code;
  std::optional<Answered> before;
  if (!options.after.empty()) {
    auto answered = answer_file(*opened.session, options.after);
    if (!answered) return complain(answered.error().message);
    before = *answered;
  }
  const auto found = [&] {
    ProgressLine line;
    return opened.session->verify(line.steps("verifying"));
  }();
  if (!found) return complain(found.error().message);
  return deliver(options.json ? verification_json(*found, opened.strategy, before)
                              : verification_text(*found, opened.strategy, before),
                 verification_exit_code(*found));
}

}  // namespace noam::cli
