#include "noam/cli/verify_command.h"

#include <map>

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
                               ? "no differences"
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

Command add_verify_command(CommandLine& line, VerifyOptions& options) {
  Command command = line.add_command("verify", "Compare every copy with its base data");
  add_opening_options(command, options.opening);
  command.add_option(
      "--after", options.after,
      "First run the requests of this file, JSON lines as for `noam run --batch`; `-` for standard input");
  command.add_flag("--json", options.json, "Print the result as JSON (docs/json.md)");
  command.footer(
      "Prints the differences, the copies that cannot be compared (folds of transient instances, which are not\n"
      "stored), and the number of compared entries, all at one moment. A copy that differs is marked as broken:\n"
      "queries that read it are refused until `noam repair` has corrected it. With --after and no --store, runs on\n"
      "`memory:`.\n"
      "Exit codes: 0 no differences; 1 the model has errors; 2 usage error (files, arguments, stores, invalid\n"
      "requests); 3 differences.\n"
      "Example: noam verify game.noam --strategy figure11 --after requests.jsonl\n"
      "More:    docs/commands/verify.md");
  return command;
}

int verify_copies(const VerifyOptions& options) {
  if (options.after == "-" && options.opening.path == "-")
    return complain("standard input cannot be both the model and the requests");
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
