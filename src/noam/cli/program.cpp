#include "noam/cli/program.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "noam/base/json.h"
#include "noam/cli/backup_commands.h"
#include "noam/cli/design_command.h"
#include "noam/cli/export_command.h"
#include "noam/cli/files.h"
#include "noam/cli/generate_command.h"
#include "noam/cli/load_command.h"
#include "noam/cli/opening.h"
#include "noam/cli/report.h"
#include "noam/cli/run_command.h"
#include "noam/cli/serve_command.h"
#include "noam/cli/shell_command.h"
#include "noam/cli/stats_command.h"
#include "noam/cli/upkeep_commands.h"
#include "noam/cli/verify_command.h"
#include "noam/compile/compile.h"
#include "noam/language/parser.h"
#include "noam/language/printer.h"
#include "noam/language/suggest.h"
#include "noam/model/diagram.h"
#include "noam/model/show.h"

namespace noam::cli {

namespace {

using language::Diagnostics;
using language::SourceFile;

// On a target, under a strategy: what a design comes to there.
struct CheckedTarget {
  const targets::Target* target = nullptr;  // none: only the text is looked at
  std::string strategy;
};

// One line where the model has no such strategy.
Result<std::vector<targets::Warning>> check_target(const ModelPointer& model, const CheckedTarget& wanted) {
  NOAM_ASSIGN_OR_RETURN(const design::Program program, compile_program(model, wanted.strategy));
  const targets::Outline outline = targets::outline(program);
  std::vector<targets::Warning> out = warnings_for(*wanted.target, outline);
  // Data may bring more warnings; the design alone brings these.
  const targets::Generated made = wanted.target->generate(outline, nullptr);
  out.insert(out.end(), made.warnings.begin(), made.warnings.end());
  return out;
}

int check(const std::vector<std::string>& paths, const CheckedTarget& wanted, bool json) {
  std::vector<SourceFile> sources;
  int code = exit_fine;
  for (const std::string& path : paths) {
    auto source = read_input(path);
    if (source)
      sources.push_back(std::move(*source));
    else
      code = complain(source.error().message);
  }
  std::vector<Compilation> all = compile_all(sources);
  std::string out;
  Json array = Json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Diagnostics& diagnostics = all[i].diagnostics;
    if (diagnostics.has_errors() && code == exit_fine) code = exit_wrong_model;
    if (json) {
      for (auto& one : Json::parse(language::render_json(diagnostics, sources[i]))) array.push_back(std::move(one));
    } else if (!diagnostics.empty()) {
      out += language::render(diagnostics, sources[i], {color_wanted(STDOUT_FILENO)});
      out += fmt::format("{}: {}\n", sources[i].name(), summary(diagnostics));
    }
    // A script sees by the exit code that nothing is wrong.
    const auto fine = [&] {
      if (!json && diagnostics.empty() && ::isatty(STDOUT_FILENO) != 0) out += sources[i].name() + ": ok\n";
    };
    if (wanted.target == nullptr) fine();
    if (wanted.target == nullptr || diagnostics.has_errors()) continue;
    const auto warnings = check_target(all[i].model, wanted);
    if (!warnings) {
      code = complain(fmt::format("{}: {}", sources[i].name(), warnings.error().message));
      continue;
    }
    if (warnings->empty()) fine();
    for (const targets::Warning& warning : *warnings) {
      if (json)
        array.push_back({{"file", sources[i].name()},
                         {"severity", "warning"},
                         {"code", warning.code},
                         {"message", warning.message},
                         {"hint", warning.remedy},
                         {"target", wanted.target->name},
                         {"strategy", wanted.strategy}});
      else
        out += fmt::format("{}: {}", sources[i].name(), shown(warning));
    }
  }
  if (json) out = dumped(array);
  return deliver(out, code);
}

int format(const std::vector<std::string>& paths, bool only_check, bool json) {
  int code = exit_fine;
  const auto raise = [&](int to) { code = std::max(code, to); };
  Json array = Json::array();
  std::string out;
  for (const std::string& path : paths) {
    const auto source = read_input(path);
    if (!source) {
      raise(complain(source.error().message));
      continue;
    }
    Diagnostics diagnostics;
    const language::Tree tree = language::parse(*source, diagnostics);
    diagnostics.sort();
    const bool readable = !diagnostics.has_errors();
    const std::string text = readable ? language::print(tree, *source) : std::string(source->text());
    const bool canonical = readable && text == source->text();
    bool written = false;
    if (!readable) {
      raise(exit_wrong_model);
      if (!json)
        fmt::print(stderr, "{}{}: not formatted, {}\n",
                   language::render(diagnostics, *source, {color_wanted(STDERR_FILENO)}), source->name(),
                   summary(diagnostics));
    } else if (only_check && !canonical) {
      raise(exit_wrong_model);
      if (!json) out += fmt::format("{}: not in the canonical layout; run `noam fmt {}`\n", source->name(), path);
    } else if (!only_check && path == "-") {
      if (!json) out += text;
    } else if (!only_check && !canonical) {
      const auto replaced = replace_file(path, text);
      written = replaced.has_value();
      if (!replaced) raise(complain(replaced.error().message));
    }
    if (!json) continue;
    Json row{{"file", source->name()}, {"canonical", canonical}, {"written", written}};
    if (path == "-" && !only_check && readable) row["text"] = text;
    row["diagnostics"] = Json::parse(language::render_json(diagnostics, *source));
    array.push_back(std::move(row));
  }
  return deliver(json ? dumped(array) : out, code);
}

int show(const std::string& path, bool json, const std::string& diagram) {
  const auto [source, model, code] = read_model(path);
  if (!model) return code;
  if (diagram == "mermaid") return deliver(model::mermaid(*model), exit_fine);
  if (diagram == "dot") return deliver(model::dot(*model), exit_fine);
  return deliver(json ? model::show_json(*model) : model::show_text(*model), exit_fine);
}

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("    {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// A paragraph, broken at 100 columns.
std::string filled(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
    std::size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != '\n') ++end;
    if (end == at) break;
    if (column > 0 && column + 1 + (end - at) > 100) {
      out += '\n';
      column = 0;
    }
    if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end;
  }
  return out + "\n";
}

int explain(const std::string& name, bool json) {
  const auto as_json = [](const language::CodeInfo& row) {
    return Json{{"code", row.name},       {"severity", language::severity_name(row.severity)},
                {"summary", row.summary}, {"explanation", row.explanation},
                {"wrong", row.wrong},     {"right", row.right}};
  };
  if (name.empty()) {
    std::string out;
    Json array = Json::array();
    for (const language::CodeInfo& row : language::all_codes()) {
      out += fmt::format("{:<26}{:<9}{}\n", row.name, language::severity_name(row.severity), row.summary);
      array.push_back(as_json(row));
    }
    return deliver(json ? dumped(array) : out, exit_fine);
  }
  const auto code = language::find_code(name);
  if (!code) return complain(fmt::format("no diagnostic with code `{}`; run `noam explain` for the list", name));
  const language::CodeInfo& row = language::info(*code);
  if (json) return deliver(dumped(as_json(row)), exit_fine);
  std::string out = fmt::format("{} ({}): {}\n\n{}", row.name, language::severity_name(row.severity), row.summary,
                                filled(row.explanation));
  if (!row.wrong.empty()) out += fmt::format("\nwrong:\n\n{}", indented(row.wrong));
  if (!row.right.empty()) out += fmt::format("\nright:\n\n{}", indented(row.right));
  return deliver(out, exit_fine);
}

}  // namespace

int run(int argc, const char* const* argv) {
  CommandLine line(
      "noam",
      "noam: model your queries, not your data.\n"
      "A model file describes the data, queries and commands of an application, and how often they run. noam checks\n"
      "it, designs the database, and runs the queries and commands.\n",
      std::string("noam ") + NOAM_VERSION,
      "Exit codes: 0 success; 1 the model has errors (fmt --check: not in the canonical layout); 2 usage error\n"
      "            (arguments, files, stores); 3 refused (run), bad lines (load) or differences (verify); 4 unknown\n"
      "            outcome (run, load).\n"
      "Example:    noam check examples/game/game.noam\n"
      "More:       noam COMMAND --help; docs/language.md teaches the language");

  std::vector<std::string> paths;
  std::string path;
  std::string diagram;
  std::string name;
  std::string target_name;
  std::string strategy = "eao";
  bool json = false;
  bool only_check = false;
  const char* const input = "Model file; `-` for standard input";

  Command check_command = line.add_command("check", "Check models and report errors, warnings and lints");
  check_command.add_option("FILE", paths, input).required();
  check_command.add_flag("--json", json,
                         "Print diagnostics as a JSON array with byte offsets, lines and columns (docs/json.md)");
  check_command.add_option("--target", target_name, "Also check a design for this database; see `noam targets`")
      .type_name("T");
  check_command
      .add_option("--strategy", strategy, "Design for --target: `eao`, `etf`, `normalized`, or a design of the model")
      .type_name("S")
      .show_default();
  check_command.footer(
      "If nothing is wrong, prints `FILE: ok` on a terminal, and nothing elsewhere. Errors make the exit code 1;\n"
      "warnings and lints alone do not. To silence a lint, write `// allow: code` on its line or alone on the line\n"
      "above. `noam explain CODE` explains a diagnostic. With --target, a warning is printed if the design exceeds "
      "what\n"
      "the database supports, given the statistics of the model.\n"
      "Example: noam check shop.noam --target dynamodb --strategy etf");

  Command format_command = line.add_command("fmt", "Format models in the canonical layout");
  format_command.add_option("FILE", paths, input).required();
  format_command.add_flag("--check", only_check,
                          "Change no file; list the files that are not in the canonical layout, exit code 1 if any");
  format_command.add_flag("--json", json, "Print the result of each file as a JSON array (docs/json.md)");
  format_command.footer(
      "Files are rewritten in place; comments are kept. With `-`, the result goes to standard output.\n"
      "A file with syntax errors is not changed.\n"
      "Example: noam fmt shop.noam");

  Command show_command = line.add_command("show", "Print the entities, roles and statements of a model");
  show_command.add_option("FILE", path, input).required();
  show_command.add_flag("--json", json, "Print JSON (docs/json.md)");
  show_command.add_option("--diagram", diagram, "Print a diagram of entities, values and roles, for `mermaid` or `dot`")
      .one_of({"mermaid", "dot"})
      .excludes("--json");
  show_command.footer(
      "Shows entities with keys and sizes, roles in both directions, and statements with the types of their "
      "parameters.\n"
      "Example: noam show shop.noam --diagram dot | dot -Tsvg > shop.svg");

  Command explain_command = line.add_command("explain", "Explain a diagnostic");
  explain_command.add_option("CODE", name,
                             "Code of the diagnostic, printed after it in brackets. Default: list all codes");
  explain_command.add_flag("--json", json, "Print JSON");
  explain_command.footer("Example: noam explain keys-do-not-determine");

  DesignOptions design_options;
  Command design_command = add_design_command(line, design_options);
  RunOptions run_options;
  Command run_command = add_run_command(line, run_options);
  // What runs each of them.
  std::vector<std::pair<Command, std::function<int()>>> commands = {
      {check_command,
       [&] {
         CheckedTarget wanted{nullptr, strategy};
         if (target_name.empty()) return check(paths, wanted, json);
         const auto target = find_target(target_name);
         if (!target) return complain(target.error().message);
         wanted.target = *target;
         return check(paths, wanted, json);
       }},
      {format_command, [&] { return format(paths, only_check, json); }},
      {show_command, [&] { return show(path, json, diagram); }},
      {explain_command, [&] { return explain(name, json); }},
      {design_command, [&] { return show_design(design_options); }},
      {run_command, [&] { return run_statements(run_options); }},
  };
  GenerateOptions generate_options;
  commands.emplace_back(add_generate_command(line, generate_options), [&] { return generate_files(generate_options); });
  TargetsOptions targets_options;
  commands.emplace_back(add_targets_command(line, targets_options), [&] { return show_targets(targets_options); });
  UpkeepOptions deploy_options;
  commands.emplace_back(add_deploy_command(line, deploy_options), [&] { return deploy_design(deploy_options); });
  LoadOptions load_options;
  commands.emplace_back(add_load_command(line, load_options), [&] { return load_data(load_options); });
  ExportOptions export_options;
  commands.emplace_back(add_export_command(line, export_options), [&] { return export_data(export_options); });
  ServeOptions serve_options;
  commands.emplace_back(add_serve_command(line, serve_options), [&] { return serve(serve_options); });
  ShellOptions shell_options;
  commands.emplace_back(add_shell_command(line, shell_options), [&] { return run_shell(shell_options); });
  StatsOptions stats_options;
  commands.emplace_back(add_stats_command(line, stats_options), [&] { return show_statistics(stats_options); });
  VerifyOptions verify_options;
  commands.emplace_back(add_verify_command(line, verify_options), [&] { return verify_copies(verify_options); });
  UpkeepOptions repair_options;
  commands.emplace_back(add_repair_command(line, repair_options), [&] { return repair_copies(repair_options); });
  RefreshOptions refresh_options;
  commands.emplace_back(add_refresh_command(line, refresh_options), [&] { return refresh_queries(refresh_options); });
  UpkeepOptions sweep_options;
  commands.emplace_back(add_sweep_command(line, sweep_options), [&] { return sweep_store(sweep_options); });
  BackupOptions backup_options;
  commands.emplace_back(add_backup_command(line, backup_options), [&] { return back_up(backup_options); });
  BackupOptions restore_options;
  commands.emplace_back(add_restore_command(line, restore_options), [&] { return restore(restore_options); });
  DrillOptions drill_options;
  commands.emplace_back(add_drill_command(line, drill_options), [&] { return break_copy(drill_options); });

  std::vector<std::string> names;
  for (const auto& [command, run] : commands) names.push_back(command.name());
  if (argc > 1 && argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    const auto near = language::closest(argv[1], std::vector<std::string_view>(names.begin(), names.end()));
    return complain(fmt::format("no command `{}`; {}", argv[1],
                                near ? fmt::format("did you mean `{}`?", *near) : "see `noam --help`"));
  }
  const CommandLine::Parsed parsed = line.parse(argc, argv);
  if (!parsed.print.empty()) return deliver(parsed.print, exit_fine);
  if (!parsed.wrong.empty()) return complain(parsed.wrong);
  for (const auto& [command, run] : commands)
    if (command.name() == parsed.command) return run();
  return exit_wrong_use;
}

}  // namespace noam::cli
